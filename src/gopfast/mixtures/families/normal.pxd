"""Gaussian components of free variance."""

from gopfast.mixtures.families.family cimport Facet, Family, Subproblem
from gopfast.search.types cimport real


cdef class NormalFamily(Family):
    cdef readonly bint per_column   # each coordinate of a component has a variance of its own
    cdef readonly int n_groups      # variances per component; 0 where components share them
    cdef readonly int group_size    # coordinates that share a variance
    cdef real[::1] low, high        # (d,) range of the samples, in units of the floor's square root
    cdef real[::1] variances        # (d,) of the samples, in units of the floor, as are all below
    cdef real[::1] ceiling          # (n_groups,) or, shared, (n_shared,): largest variances
    # The connected variable that is the variance of column j of component k.
    cdef int variance_at(self, int k, int j) noexcept nogil
    # Largest variance of the group of coordinates from g on, of a component k whose mean lies in the box.
    cdef real largest_variance(self, const real *low, const real *high, int k, int g) noexcept nogil
    # What omega is below the variance, (m - l)(u - m), at the mean of statistics mass and moments (K, F).
    cdef real omega_loss(self, const real *low, const real *high, const Subproblem *sub, int k, int j, real mass,
                         const real *moments) noexcept nogil
    # OUT point, error: of the variance of the group of coordinates from g on, of component k with mass s or shared by
    # all. Returns the part of what means lose, between 0 and 1, that v >= v0 leaves to the minorant.
    cdef real split_own(self, const real *low, const real *high, const Subproblem *sub, int k, int g, real s,
                        const real *moments, real *point, real *error) noexcept nogil
    cdef real split_shared(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                           const real *moments, int g, real *point, real *error) noexcept nogil
    # OUT point, error: of the mean of column j of component k with mass s; `room` is that part.
    cdef void split_mean(self, const real *low, const real *high, const Subproblem *sub, int k, int j, real s,
                         const real *moments, real room, real *point, real *error) noexcept nogil
    # Facets of a variance in [v0, v1], of the group of coordinates from g on of `n_components` components from `first`
    # on; halves (K, d) of the means' intervals.
    cdef Facet *bound_variance(self, Facet *facet, int first, int n_components, int g, real mass, real v0, real v1,
                               const real *halves) noexcept nogil
