"""What the samples' average says of the components' masses and means."""

from gopfast.search.types cimport real


# Workspace and result of one box at a time.
cdef class Balance:
    cdef int n_components               # K
    cdef real[::1] mass_low, mass_high  # (K,) bounds of the components' masses S, in units of the weights
    cdef real[::1] mean_low, mean_high  # (K,) bounds of their means of one statistic, in its unit
    # Masses may be anything that adds up to `weight`.
    cdef void free_masses(self, real weight) noexcept nogil
    # Of all samples, of `weight`, whose masses `whole` bounds, if each counts up to `most` times, `part` in all.
    cdef void take_part(self, Balance whole, real weight, real part, real most) noexcept nogil
    # IN/OUT: the bounds. The means average to `average`, each with its mass and the pseudo-count `nu` of a prior, all
    # of which add up to `total`: what cannot is removed; 0: nothing is left.
    cdef bint tighten(self, real total, real nu, real average) noexcept nogil
