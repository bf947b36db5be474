"""Components of separable exponential families: Bernoulli, Poisson, exponential, categorical."""

from gopfast.mixtures.families.balance cimport Balance
from gopfast.mixtures.families.family cimport Facet, Family, Subproblem
from gopfast.search.types cimport real


# What the relaxation of a cell adds up over its columns.
cdef struct Sums:
    real level      # of |minorant| at the cells' centers, in nats per unit of mass
    real prior      # of the magnitudes of the prior's terms, in nats

# What a column holds; a label column says whether a sample has one of the labels of a categorical variable.
cdef enum Kind:
    BERNOULLI = 0
    POISSON = 1
    EXPONENTIAL = 2
    LABEL = 3


cdef class ExponentialFamily(Family):
    # All (n_columns,), in the core's order; means and moments in units of the samples' scale.
    cdef int[::1] kinds
    cdef int[::1] groups            # categorical variable of a label column
    cdef readonly real[::1] reference        # rate that costs of counts are relative to
    cdef real[::1] prior_mass, prior_moment     # what the prior adds to S and T
    cdef real[::1] low, high        # root cell, in coordinates
    cdef real[::1] average          # of the components' means, weighted by mass
    cdef real[::1] average_at       # its coordinates
    cdef unsigned char[::1] endless  # the means have no upper bound
    cdef unsigned char[::1] partial  # label columns of a variable that some samples have no entry of, or several
    cdef readonly bint has_partial, has_many_trials
    cdef real[::1] most_trials      # the largest number of labels that a sample has
    cdef real[::1] observed_weight  # of the samples that have a value, each as often as it has one; W where all have
    cdef readonly bint discrete     # samples have probabilities, not densities
    cdef object names, encode, decode, arguments
    cdef Balance balance, own_balance   # workspaces of tighten; the second for one partial column at a time
    cdef bint cuts                  # boxes lose what the samples' average and sums of labels leave out
    cdef public real split_pull
    cdef object find_trials(self, columns)
    # Whether l is a label of the same variable as label column j.
    cdef bint same_variable(self, int j, int l) noexcept nogil
    cdef real observed_mass(self, int j, real mass, const real *moments) noexcept nogil
    # IN/OUT: a box, to means of column j that average to the samples'; 0: nothing is left.
    cdef bint balance_column(self, Balance balance, int j, real *low, real *high) noexcept nogil
    # IN/OUT: of one component (n_columns,) each; OUT: its facets in column j, of `bound_mean` before.
    cdef void spread_levels(self, real *centers, real *linear) noexcept nogil
    cdef void bound_partial(self, Facet *facet, int j, real low, real high, real half) noexcept nogil
    # IN/OUT: a box, to labels that add up to 1; 0: nothing is left.
    cdef bint fit_labels(self, real *low, real *high) noexcept nogil
    # The mean of column j at a coordinate, and the other way.
    cdef real mean(self, int j, real at) noexcept nogil
    cdef real coordinate(self, int j, real mean) noexcept nogil
    # Minorant and facets of the mean of component k in column j, coordinates in [low, high]; adds to `sums`.
    cdef Facet *bound_column(self, Facet *facet, Subproblem *out, int k, int j, real low, real high,
                             Sums *sums) noexcept nogil
    # Cost of column j at a component's parameters (n_columns,): its value at OUT `center`, rounded up, in nats per unit
    # of mass, and OUT its slope.
    cdef real natural(self, const real *point, int j, real *center, real *slope) noexcept nogil
