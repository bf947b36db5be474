"""What rounding can cost in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport real

cdef extern from *:
    # [hitting] Sets that a mean of every good mixture lies in. Lengths are in standard deviations of a component.

    # of the prior's cost | relative to its terms | sums of K terms of a few operations, far above K u (R1)
    real PRIOR_ROUNDING "1e-12"
