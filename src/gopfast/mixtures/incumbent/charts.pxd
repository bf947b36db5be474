"""Natural parameters of component families around a solution, for `neighbourhood`."""

from gopfast.mixtures.families.exponential cimport ExponentialFamily
from gopfast.mixtures.families.family cimport Family
from gopfast.mixtures.families.gaussian cimport GaussianFamily
from gopfast.mixtures.families.normal cimport NormalFamily
from gopfast.search.types cimport index, real


# What a coordinate's log-partition is.
cdef enum Curve:
    NO_CURVE = 0    # not a variable: a face, or no column
    RATE = 1        # rate (exp(t) - 1 - t)
    LOGIT = 2       # log(1 - p + p exp(t)) - p t
    PRECISION = 3   # n/2 (t - log(1 + t))
    LOCATION = 4    # a^2 / (2 (1 + t)), t of its partner
    PARABOLA = 5    # a^2 / 2

# Columns whose parameter is at the end of its range.
cdef enum Face:
    NO_FACE = 0
    AT_LOW = 1      # values above 0 have no density
    AT_HIGH = 2     # values below 1


cdef class Chart:
    cdef readonly Family family
    cdef readonly int n_components, n_columns, n_coordinates    # K, d, p
    cdef int[::1] curve, partner                    # (K p,)
    cdef real[::1] size                             # (K p,) rate, probability or n
    cdef real[::1] pseudo, pull                     # (K p,) pseudo-observations of a prior, and its gradient
    cdef int[::1] face                              # (K d,)
    cdef real[::1] odds                             # (K d,) of a face's other values, the most in the box
    cdef real[::1] unit                             # (K d,) of their powers
    cdef real width                                 # of the cells on faces
    cdef real blur                                  # relative error of statistics and scores beyond a few ulps
    # OUT: the chart around parameters, which may move onto faces up to `reach` away; False: there is none.
    cdef bint center_at(self, real *point, real reach) noexcept nogil
    # OUT u (p,): the statistics of sample i, centered and scaled; False: it has no density in component k.
    cdef bint statistics(self, index i, int k, real *u) noexcept nogil
    # OUT: the cell of component k with the radius, in standard deviations.
    cdef void cell(self, int k, real radius, real *low, real *high) noexcept nogil
    # IN/OUT low, high: a cell, widened to hold the center. OUT down, up (p,): how far its coordinates reach.
    cdef bint ranges(self, int k, real *low, real *high, real *down, real *up) noexcept nogil
    # Third derivative of D at the center in coordinates a <= b <= c of one component, k p + place.
    cdef real third(self, int a, int b, int c) noexcept nogil
    cdef real bend(self, int a, const real *down, const real *up) noexcept nogil
    cdef real quartic(self, int a, const real *down, const real *up) noexcept nogil
    cdef real slack(self, int k) noexcept nogil
    cdef real beyond(self, int a, real x) noexcept nogil
    cdef real excess(self, index i, int k, const real *need, int *first) noexcept nogil


cdef class GaussianChart(Chart):
    cdef GaussianFamily gaussian
    cdef real[::1] mean


cdef class NormalChart(Chart):
    cdef NormalFamily normal
    cdef real[::1] mean, scale, variance


cdef class ExponentialChart(Chart):
    cdef ExponentialFamily exponential
    cdef real[::1] mean
    cdef real parameter(self, const real *point, int j) noexcept nogil
    cdef real spare(self, int k, int j, const real *high) noexcept nogil
