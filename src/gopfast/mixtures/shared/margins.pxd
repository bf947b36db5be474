"""What rounding can cost in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport real

cdef extern from *:
    # [factor_cells, pair_cells] Cells of a covariance matrix.

    # error of a cell's bound | relative to the sum of its terms' magnitudes | thousands of u: sums have up to some
    # hundred terms (R1), (TF2)
    real CELL_SUMS "1e-12"
    # by which the box of all factors is wider | relative | far above the rounding of a root (R1), (TF2)
    real OUTSIDE "1e-12"
