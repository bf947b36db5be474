"""Components of separable exponential families: Bernoulli, Poisson, exponential, categorical."""

from gopfast.mixtures.families.family cimport Family
from gopfast.search.types cimport real


# What a column holds; a label column says whether a sample has one of the labels of a categorical variable.
cdef enum Kind:
    BERNOULLI = 0
    POISSON = 1
    EXPONENTIAL = 2
    LABEL = 3


cdef class ExponentialFamily(Family):
    # All (n_columns,), in the core's order.
    cdef int[::1] kinds
    cdef int[::1] groups            # categorical variable of a label column
    cdef real[::1] reference        # rate that costs of counts are relative to
    cdef real[::1] prior_mass, prior_moment
    cdef real[::1] low, high        # root cell, in coordinates
    cdef real[::1] average          # of the components' means, weighted by mass
    cdef real[::1] average_at       # its coordinates
    cdef unsigned char[::1] endless # the means have no upper bound
    cdef readonly bint discrete     # samples have probabilities, not densities
    cdef object names, encode, decode, arguments
    cdef real[::1] mean_low, mean_high, mass_low, mass_high     # workspace of tighten
    cdef public real split_pull
    cdef bint fit_labels(self, real *low, real *high) noexcept nogil
    cdef real mean(self, int j, real at) noexcept nogil
    cdef real coordinate(self, int j, real mean) noexcept nogil
    cdef real natural(self, const real *point, int j, real *center, real *slope) noexcept nogil
