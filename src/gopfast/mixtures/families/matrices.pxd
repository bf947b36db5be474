"""Gaussian components with one covariance matrix each, any number of coordinates."""

from gopfast.mixtures.families.affine cimport AffineFamily
from gopfast.mixtures.families.family cimport Facet
from gopfast.mixtures.families.matrix cimport MOST_ENTRIES, FlooredCost
from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.search.types cimport real


# Packed matrices as in families.matrix; all of a component is in the core's coordinates.
cdef class MatrixFamily(AffineFamily):
    cdef readonly FlooredCost cost
    cdef int n_bounded              # entries that have facets: all or none
    cdef bint cuts                  # whether boxes are cut by all that is known, or only as the checker does
    cdef tuple arguments            # what it was made of
    cdef real data_covariance[MOST_ENTRIES]     # of all samples about their average as computed
    cdef real sizes[MOST_ENTRIES]   # bound of the products of two coordinates of a sample about any center
    # Error bound of <P, (x - c)(x - c)'> by the rounding of products and coefficients, in nats per unit of mass.
    cdef real rounding(self, const real *P) noexcept nogil
    # OUT: costs constant + <P, (x - c)(x - c)'> of component k, center c (d,).
    cdef void set_costs(self, int k, const real *center, const real *P, real constant, pass_costs *out) noexcept nogil
    # OUT: mean (d,) and covariance of statistics, moments (F,) about a center (d,).
    cdef void moments_of(self, real mass, const real *moments, const real *center, real *mean, real *C) noexcept nogil
    # Facets of the entries of component k, in [low, high], with the slopes P of the minorant.
    cdef Facet *bound_cell(self, Facet *facet, int k, const real *low, const real *high, const real *center,
                           const real *half, const real *P) noexcept nogil
