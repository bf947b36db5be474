"""What was tuned in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport real

cdef extern from *:
    # [pricing] Centers, best first.

    # a step that gains less ends an ascent | factor | [1, 2] | argument: rounding
    real PRICING_GAINED "(1 + 1e-13)"
