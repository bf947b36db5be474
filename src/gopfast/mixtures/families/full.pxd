"""Gaussian components with one covariance matrix each."""

from gopfast.mixtures.families.family cimport Facet, Family, Subproblem
from gopfast.mixtures.families.normal cimport NormalFamily
from gopfast.mixtures.data.samples cimport Samples
from gopfast.search.types cimport real


# A symmetric matrix of order 2.
cdef struct Matrix:
    real xx, xy, yy


cdef class FullFamily(Family):
    cdef readonly object axes, center   # core coordinates: axes @ (x - center)
    cdef real[::1] low, high
    cdef Matrix floor, spread           # covariances of the data and the floor, in the core's coordinates
    cdef real conditional_floor         # of the second coordinate given the first
    cdef real log_floor                 # log det of the floor
    cdef real whiten_x, whiten_xy, whiten_y
    cdef readonly real ridge            # added to the first variance in the regression coefficient
    cdef real size_x, size_y            # of the centred samples about a center: rounding errors
    cdef real largest(self, int j, real low, real high) noexcept nogil
    cdef real steepest(self, real v0, real v1, real u0, real u1, real most) noexcept nogil
    cdef Matrix matrix(self, real variance, real slope, real residual) noexcept nogil
    cdef void factors(self, Matrix C, real *out) noexcept nogil
    cdef real cost(self, Matrix C, real *size) noexcept nogil
    cdef Matrix floored(self, Matrix C) noexcept nogil
    cdef real cell_cost(self, bint exact, real v, real b, real u) noexcept nogil
    cdef Matrix slopes(self, int kind, const real *low, const real *high) noexcept nogil
    cdef real least(self, const real *low, const real *high, Matrix P) noexcept nogil
    cdef real minorant(self, const real *low, const real *high, Matrix *P) noexcept nogil
    cdef void moments_of(self, real mass, const real *moments, const real *center, real *mean, Matrix *C) noexcept nogil
    cdef Facet *add_facet(self, Facet *facet, int k, const real *center, bint active, real xx, real xy, real yy, real x,
                      real y, real constant) noexcept nogil
    cdef Facet *bound_cell(self, Facet *facet, int k, const real *low, const real *high, const real *center,
                           const real *half, Matrix P) noexcept nogil


cdef class LineFamily(NormalFamily):
    pass
