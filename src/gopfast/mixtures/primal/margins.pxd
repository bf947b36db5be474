"""What rounding can cost in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.rounding cimport ROUND  # its text in C
from gopfast.search.types cimport real

cdef extern from *:
    # [em] The first local search, where it goes deeper.

    # of an objective value | relative to its terms, the costs and W | 64 u of their magnitudes (R4)
    real OBJECTIVE_ROUNDING "(64 * GOPFAST_ROUND)"
