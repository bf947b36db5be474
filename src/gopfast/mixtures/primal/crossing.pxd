"""Solutions crossed with each other: components of one beside components of another."""

from gopfast.mixtures.primal.moves cimport Moves
from gopfast.search.types cimport real


cdef class Crossing:
    cdef Moves moves
    cdef int n_kept
    cdef real[:, :, ::1] kept       # (MOST_KEPT, K, 1 + F) masses and moments about 0
    cdef real[::1] values
    cdef int[::1] mate              # (K,) component of the second parent for each of the first
    cdef void keep(self, const real *solution, real value, real tolerance) noexcept nogil
    cdef void match(self, int a, int b) noexcept nogil
    cdef bint cross(self, const real *solution, unsigned long long *seed, real *out) noexcept nogil
