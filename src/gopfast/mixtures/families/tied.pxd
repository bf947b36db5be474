"""Gaussian components that share one covariance matrix."""

from gopfast.mixtures.families.affine cimport AffineFamily
from gopfast.mixtures.families.family cimport Facet
from gopfast.mixtures.families.matrix cimport MOST_ENTRIES, FlooredCost
from gopfast.search.types cimport real


# Packed matrices as in families.matrix, in the core's coordinates.
cdef class TiedFamily(AffineFamily):
    cdef readonly FlooredCost cost
    cdef readonly object whiten             # (d, d), of the floor
    cdef readonly FlooredCost bound_cost    # the same with the floor `least_within` I where that is higher
    cdef readonly int n_bounded             # entries that have facets: all where columns are few, else none
    cdef readonly real least_within         # the covariance within components is at least this times I
    cdef real moments[MOST_ENTRIES]         # second moments Q of the samples per unit of mass
    cdef real moment_error[MOST_ENTRIES]
    cdef real sizes[MOST_ENTRIES]           # bound of the products of two coordinates of a sample
    cdef real[::1] products                 # (K,) workspace of product_range
    cdef bint cuts                          # whether boxes are cut by all that is known, or only as the checker does
    cdef tuple arguments                    # what it was made of
    # Second moment of coordinate a.
    cdef real second_moment(self, int a) noexcept nogil
    # Least sum_k (S_k / W) m_ka m_kb, a and b of entry e, for means in the box and masses in the bounds of `balance`.
    # OUT: the most.
    cdef real product_range(self, const real *low, const real *high, int e, real *most) noexcept nogil
    # IN/OUT: entries of the covariance, by the boxes of the means and by 0 <= C <= Q; 0: nothing is left.
    cdef bint bound_entries(self, real *low, real *high) noexcept nogil
    # Facets of the entries in [low, high]; centers and halves (K, d) of the means' intervals, P the minorant's slopes.
    cdef Facet *bound_cell(self, Facet *facet, const real *low, const real *high, const real *centers,
                           const real *halves, const real *P) noexcept nogil
    # OUT: the slopes -2 P m (d,) of <P, (x - m)(x - m)'> - <P, x x'>, which is linear in x; size: the sum of the
    # magnitudes of its terms. Returns <P, m m'>, which it is below 0 at m.
    cdef real set_linear(self, const real *mean, const real *P, real *linear, real *size) noexcept nogil
