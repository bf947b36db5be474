"""Components that are products of those of two families, of different columns."""

from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.mixtures.families.family cimport Facet, Family, Subproblem
from gopfast.search.types cimport real


# Where a factor's variables, columns and facets lie among those of the product.
cdef struct Place:
    int column      # its first column
    int cell        # its first variable in a component's cell
    int shared      # its first variable of all components, among those
    int facet       # its first facet


# Memory of one call, for a factor's box or parameters, statistics and costs.
cdef struct Scratch:
    real *block     # all of it
    real *low       # (n_connected,) each
    real *high
    real *point
    real *error
    real *mass      # (K,)
    real *moments   # (K, F)
    real *row       # (K (1 + F),)
    Subproblem sub  # of which the costs, see `point_costs`


cdef int open_scratch(Scratch *scratch, Family family) noexcept nogil
cdef void close_scratch(Scratch *scratch) noexcept nogil


cdef class ProductFamily(Family):
    cdef readonly Family first, second
    cdef object decode, encode
    cdef Place places[2]
    # Of a box or parameters (n_connected,): those of a factor.
    cdef void take(self, Family factor, const Place *at, const real *whole, real *own) noexcept nogil
    cdef void put(self, Family factor, const Place *at, const real *own, real *whole) noexcept nogil
    # The same of moments (K, F), and of costs.
    cdef void take_moments(self, Family factor, const Place *at, const real *whole, real *own) noexcept nogil
    cdef void take_costs(self, Family factor, const Place *at, const pass_costs *whole, pass_costs *own) noexcept nogil
    # Adds the offsets, rounded up.
    cdef void put_costs(self, Family factor, const Place *at, const pass_costs *own, pass_costs *whole) noexcept nogil
    # Where a factor's statistic 0 to F lies among those of the product.
    cdef int statistic(self, Family factor, const Place *at, int s) noexcept nogil
    cdef void spread(self, Family factor, const Place *at, Facet *facet, real *row) noexcept nogil
    cdef void relax_factor(self, Family factor, const Place *at, const real *low, const real *high,
                           Subproblem *out) noexcept nogil
    cdef void split_factor(self, Family factor, const Place *at, const real *low, const real *high,
                           const Subproblem *sub, const real *mass, const real *moments, real e, real *point,
                           real *error) noexcept nogil
    cdef bint tighten_factor(self, Family factor, const Place *at, bint alone, real *low, real *high) noexcept nogil
    cdef void root_of(self, Family factor, const Place *at, real *low, real *high) noexcept nogil
    cdef void costs_of(self, Family factor, const Place *at, const real *point, pass_costs *out) noexcept nogil
    cdef void maximise_factor(self, Family factor, const Place *at, const real *mass, const real *moments, real e,
                              const pass_costs *costs, real *point) noexcept nogil
    cdef void seed_factor(self, Family factor, const Place *at, const real *centers, real *point) noexcept nogil
    cdef real size_of(self, Family factor, const Place *at, const real *point) noexcept nogil
