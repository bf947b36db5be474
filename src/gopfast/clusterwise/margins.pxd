"""What rounding can cost in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.rounding cimport ROUND  # its text in C
from gopfast.search.types cimport real

cdef extern from *:
    # [pricing] Fits, depth first.

    # of a residual, and of what its columns were rounded by | |y| and |z b| added up | One rounding of each column, and
    # those of a sum of at most nine products: 12 u (JL6)
    real OF_RESIDUAL "(16 * GOPFAST_ROUND)"
    # of a sum or a few operations | factor | Sixteen and more roundings: 16 u (JL6)
    real UPWARD "(1 + 64 * GOPFAST_ROUND)"
    # of a sum of quadratics, for each of its terms and 100 more | magnitudes of their parts | Every coefficient to some
    # ten roundings, added up, and taken at a point (JL6)
    real OF_SUM "(32 * GOPFAST_ROUND)"
