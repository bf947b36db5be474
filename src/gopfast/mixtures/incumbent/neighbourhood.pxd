"""The box around an incumbent of any family on which the objective is proved to be no lower."""

from gopfast.mixtures.incumbent.box_change cimport BoxChange
from gopfast.search.arena cimport Arena
from gopfast.search.types cimport index, real


cdef class Neighbourhood(BoxChange):
    cdef real tolerance, loss, lent
    cdef bint beyond                # the last box reached too far beyond faces
    cdef Arena arena                # of all that follows
    cdef real *radius               # (K,) of a box
    cdef real *wider                # (K,) by what it is widened next
    cdef real *box_low              # (n_connected,)
    cdef real *box_high
    cdef real *bent_reach           # (K,) the most that D becomes beyond the second order
    cdef real *needed               # (K,) how far the best log weights may go from what they are to first order
    cdef real *loose                # (K,) what is assumed of that
    cdef real *reach                # (K,) the most that D becomes
    cdef real *vector               # (m,)
    cdef real *other                # (m,)

    cdef bint hold_center(self, const real *solution, real tolerance, real reach, real *lower) noexcept nogil
    cdef void polish(self, real *solution, real tolerance) noexcept nogil
    cdef real farthest(self) noexcept nogil
    cdef bint faces_hold(self) noexcept nogil
    cdef bint enclose(self) noexcept nogil
    cdef bint is_convex(self) noexcept nogil
    cdef bint one_sided(self, int k, int a) noexcept nogil
    cdef bint fits(self) noexcept nogil
    cdef bint reaches(self) noexcept nogil
    cdef bint cube(self, real radius) noexcept nogil
    cdef bint fits_radii(self) noexcept nogil
    cdef void allow_tolerance(self) noexcept nogil
    cdef bint widest(self) noexcept nogil
    cdef bint look(self) noexcept nogil
    cdef void hold(self, real lower) noexcept nogil
