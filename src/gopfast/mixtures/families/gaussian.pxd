"""Gaussian components of known variance, with or without a prior on the means."""

from gopfast.mixtures.families.family cimport Facet, Family, Subproblem
from gopfast.mixtures.data.passes cimport pass_data
from gopfast.search.types cimport index, real


# The model with unit variance in the core's coordinates, which are in units of the noise standard deviation.
# Prior: a pseudo-observation at prior_point with weight e * prior_scale per component, e in [e_low, e_high].
cdef struct GaussianModel:
    pass_data samples
    index n_samples         # of positive weight
    int n_components
    int n_features
    bint has_prior
    real total_weight
    real e_low
    real e_high
    const real *prior_point  # (d,)
    const real *prior_scale  # (d,) noise variances in the user's units, squared
    const real *low          # (d,) root box of a mean
    const real *high


cdef class GaussianFamily(Family):
    cdef GaussianModel core
    cdef real[::1] prior_point, prior_scale, low, high
    cdef readonly int n_ranges      # posterior precisions per component: 0 for point masses
    cdef public real split_pull, split_pull_most, split_wide
    # OUT: the range of e that is optimal for parameters in the box (n_connected,).
    cdef void prior_range(self, const real *low, const real *high, real *e_low, real *e_high) noexcept nogil
    # Minorant and facets of a precision of component k in [low, high], in units of the samples' weights.
    # Of the chord of the logarithm that a posterior's precision in [low, high] costs.
    cdef real chord_slope(self, real low, real high) noexcept nogil
    cdef Facet *bound_precision(self, Facet *facet, Subproblem *out, int k, real scale, real low,
                                real high) noexcept nogil
