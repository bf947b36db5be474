"""Where local searches ended."""

from gopfast.search.types cimport index, real

cdef enum:
    N_KINDS = 9
    N_ENDINGS = 5

# Kinds of starts, in the order of `endings.KINDS`.
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

# How a local search ended, in the order of `endings.ENDINGS`.
cdef enum:
    CONVERGED
    OUT_OF_STEPS
    GIVEN_UP
    OUT_OF_TIME
    FAILED


cdef class Endings:
    cdef readonly index n_kept
    cdef index counts[N_KINDS][N_ENDINGS]
    cdef signed char[::1] kinds, endings    # (MOST_ENDINGS,)
    cdef real[::1] values                   # (MOST_ENDINGS,): objectives, in nats
    cdef void add(self, int kind, int ending, real value) noexcept nogil
