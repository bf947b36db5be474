"""Settling: a point that meets the user's rows, in the user's units."""

from gopfast.biconvex.convex_programs cimport ConvexPrograms
from gopfast.search.relaxation cimport Effort
from gopfast.search.types cimport real


cdef class Settling(ConvexPrograms):
    cdef real[::1] unit                 # (n,) of a correction of each variable, 0: it stays
    cdef real[::1] point                # (n,) that a step starts from

    cdef real settle(self, real *z, Effort *effort) noexcept nogil
    cdef bint is_settled(self, const real *z, real violation) noexcept nogil
    cdef int load_repair(self, const real *z, real *share) noexcept nogil
    cdef void set_units(self, const real *z) noexcept nogil
    cdef real step(self, real *z, real share, real violation) noexcept nogil
