"""What rounding can cost in the compiled modules of this room; how an entry reads: ARCHITECTURE.md, "Constants"."""

from gopfast.search.types cimport real

cdef extern from *:
    # [pricing] Centers, best first.

    # of a sum or a few operations | factor | thousands of u (K9), (R1)
    real OUTWARD "(1 + 1e-12)"

    # [lloyd] Differences that rounding may make.

    # a sum that is larger by less may differ by rounding alone | factor | thousands of u; it decides where a local
    # search goes (R4)
    real MORE "(1 + 1e-12)"
    # the same of a sum that is smaller | factor | thousands of u; it decides where a local search goes (R4)
    real LESS "(1 - 1e-12)"
