"""What was tuned in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport index, real

cdef extern from *:
    # [pricing] Fits, depth first.

    # over the coordinates, that look for the highest point of a box | sweeps | [1, inf) | not measured
    index SWEEPS "12L"
    # half widths of a strip, in roots of the price, above which both sides of a line are taken alike | factor |
    # (0, inf) | argument: what is computed then is at most 25 prices, which rounding can be told of (JL6)
    real ONE_SIDED "2.0"
    # a step that gains less ends an ascent or a descent | factor | [1, 2] | argument: rounding
    real GAINED "(1 + 1e-13)"
    # below which a pivot is none, so that a coefficient stays as it is | relative | (0, 1) | argument: no bound rests
    # on it
    real SINGULAR "1e-12"
