"""Gaussian components of free variance."""

from gopfast.mixtures.families.family cimport Facet, Family, Subproblem
from gopfast.search.types cimport real


cdef class NormalFamily(Family):
    cdef readonly bint per_column   # each coordinate of a component has a variance of its own
    cdef readonly int n_groups      # variances per component; 0 where all share one
    cdef readonly int group_size    # coordinates that share a variance
    cdef real[::1] low, high        # (d,) range of the samples, in units of the floor's square root
    cdef real[::1] variances        # (d,) of the samples, in units of the floor, as are all below
    cdef real[::1] ceiling          # (n_groups,) or, shared, (1,): largest variances
    # Largest variance of the group of coordinates from g on, of a component k whose mean lies in the box.
    cdef real largest_variance(self, const real *low, const real *high, int k, int g) noexcept nogil
    # What omega is below the variance, (m - l)(u - m), at the mean of statistics mass and moments (K, F).
    cdef real omega_loss(self, const real *low, const real *high, const Subproblem *sub, int k, int j, real mass,
                         const real *moments) noexcept nogil
    # Facets of a variance in [v0, v1], of the group of coordinates from g on of `n_components` components from `first`
    # on; halves (K, d) of the means' intervals.
    cdef Facet *bound_variance(self, Facet *facet, int first, int n_components, int g, real mass, real v0, real v1,
                               const real *halves) noexcept nogil
