"""A quick box around an incumbent, and a wider one where that is not enough."""

from gopfast.search.relaxation cimport Basin


cdef class StagedBasin(Basin):
    cdef Basin quick, wide
    cdef bint hold(self, Basin other) noexcept nogil
