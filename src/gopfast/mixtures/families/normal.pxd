"""Gaussian components of free variance."""

from gopfast.mixtures.families.family cimport Facet, Family, Subproblem
from gopfast.search.types cimport real


cdef class NormalFamily(Family):
    cdef readonly str covariance
    cdef readonly int n_groups      # variances per component; 0 where all share one
    cdef readonly int group_size    # coordinates that share a variance
    cdef real[::1] low, high, spread, ceiling
    cdef real largest(self, const real *low, const real *high, int k, int g) noexcept nogil
    cdef real bulge(self, const real *low, const real *high, const Subproblem *sub, int k, int j, real mass,
                    const real *moments) noexcept nogil
    cdef Facet *bound_variance(self, Facet *facet, int first, int n_components, int g, real mass, real least,
                               real most, const real *halves) noexcept nogil
