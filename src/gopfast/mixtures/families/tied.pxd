"""Gaussian components that share one covariance matrix."""

from gopfast.mixtures.families.family cimport Facet, Family
from gopfast.mixtures.families.matrix cimport MOST_ENTRIES, FlooredCost
from gopfast.search.types cimport real


cdef class TiedFamily(Family):
    cdef readonly object axes, center       # core coordinates: axes @ (x - center)
    cdef readonly FlooredCost cost
    cdef readonly FlooredCost bound_cost    # the same for all that the data allow
    cdef readonly real least                # no covariance within components is below this
    cdef real[::1] low, high, average, average_error
    cdef real[::1] mass_low, mass_high, mean_low, mean_high
    cdef real moments[MOST_ENTRIES]         # second moments of the samples per unit of mass, packed
    cdef real moment_error[MOST_ENTRIES]
    cdef real sizes[MOST_ENTRIES]           # of the products of two coordinates of a sample
    cdef real variance(self, int a) noexcept nogil
    cdef real product_range(self, const real *low, const real *high, int e, real *most) noexcept nogil
    cdef bint bound_entries(self, real *low, real *high) noexcept nogil
    cdef Facet *bound_cell(self, Facet *facet, const real *low, const real *high, const real *centers,
                           const real *halves, const real *P) noexcept nogil
