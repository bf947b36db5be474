"""What rounding can cost in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport real

cdef extern from *:
    # [search] The loop over batches.

    # up to which a known solution is that of its responsibilities | relative to 1 + size | an audit's alone: far above
    # what a step of EM rounds (R1), (R6)
    real KNOWN_ROUNDING "1e-9"
    # by which LBD may exceed UBD without an error | relative to UBD | both have their own rounding, in sums of
    # different terms (R1)
    real UPPER_ROUNDING "1e-12"
