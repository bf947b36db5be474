"""Gaussian components with one covariance matrix each, any number of coordinates."""

from gopfast.mixtures.families.family cimport Facet, Family
from gopfast.mixtures.families.matrix cimport MOST_ENTRIES, FlooredCost
from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.search.types cimport real


cdef class MatrixFamily(Family):
    cdef readonly object axes, center       # core coordinates: axes @ (x - center)
    cdef readonly FlooredCost cost
    cdef readonly int d                     # coordinates; their products are columns too
    cdef real[::1] low, high, average, average_error
    cdef real[::1] mass_low, mass_high, mean_low, mean_high
    cdef real spread[MOST_ENTRIES]          # covariance of the samples, packed
    cdef real sizes[MOST_ENTRIES]           # of the products of two coordinates of a sample
    cdef real largest(self, int j, real low, real high) noexcept nogil
    cdef real rounding(self, const real *P) noexcept nogil
    cdef void set_costs(self, int k, const real *center, const real *P, real constant, pass_costs *out) noexcept nogil
    cdef void moments_of(self, real mass, const real *moments, const real *center, real *mean, real *C) noexcept nogil
    cdef Facet *bound_cell(self, Facet *facet, int k, const real *low, const real *high, const real *center,
                           const real *half, const real *P) noexcept nogil
