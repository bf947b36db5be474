"""Whether independent starts agree on where a local search ends."""

from gopfast.search.types cimport real


cdef class Agreement:
    cdef readonly int n_starts, n_met   # independent starts so far, and how many of them ended at the least end
    cdef readonly real least            # end of all starts and moves so far
    cdef void forget(self) noexcept nogil
    # A start, or so many that are the same, that ended there. What ends within `slack` of the least end met it.
    cdef void add(self, real end, real slack, int n_starts=*) noexcept nogil
    # What moves led to from an end of starts: what is lower was met by none.
    cdef void lower(self, real end, real slack) noexcept nogil
    cdef bint reached(self) noexcept nogil
