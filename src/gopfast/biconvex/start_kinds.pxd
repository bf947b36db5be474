"""Kinds of starts of local searches, in the order of `gopfast.biconvex.start_kinds.KINDS`."""

cdef enum:
    GIVEN
    RELAXED
    MIDDLE
    DRAWS
    NEAR_ZERO
    BEST
    NODES
    N_KINDS
