"""Where local searches ended."""

from gopfast.search.types cimport index, real

# How a local search ended, in the order of `endings.ENDINGS`.
cdef enum:
    CONVERGED
    OUT_OF_STEPS
    GIVEN_UP
    OUT_OF_TIME
    FAILED
    N_ENDINGS


cdef class Endings:
    cdef readonly index n_kept
    cdef readonly int n_kinds
    cdef index[:, ::1] counts               # (n_kinds, N_ENDINGS)
    cdef signed char[::1] kinds, endings    # (MOST_ENDINGS,)
    cdef real[::1] values                   # (MOST_ENDINGS,): objectives
    cdef void add(self, int kind, int ending, real value) noexcept nogil
