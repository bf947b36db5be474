"""Kinds of starts of local searches, in the order of `gopfast.mixtures.primal.start_kinds.KINDS`."""

cdef enum:
    GIVEN
    SUGGESTED
    TRIAL
    DRAWS
    CLUSTERS
    TIES
    MOVES
    CROSSINGS
    NODES
    N_KINDS
