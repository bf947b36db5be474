"""What the entropic relaxed dual and EM ask of a component family.

Sizes: K components, d columns, F statistics of a sample (its d coordinates, with squares 2 d), W the samples' total
weight. Coordinates, boxes and parameters are the core's; masses are in units of the samples' weights; costs,
constants, bounds and errors of the objective are in nats.
"""

from gopfast.mixtures.data.passes cimport pass_costs, pass_sums
from gopfast.mixtures.data.samples cimport Samples, SampleSet
from gopfast.search.types cimport index, real

# A qualifying constraint of a cell, linear in the statistics (S_k, T_k) of the components about the cell's centers:
#     constant + e * prior + sum_s coefficients[s] * statistics[first + s] >= 0.
cdef struct Facet:
    bint active         # 0: the cell has no width here
    bint paired         # opposite of the next facet: the sum of both holds no statistics but masses S_k
    int first, count    # which of the K (1 + F) statistics it has
    real constant
    real prior
    real multiplier     # a typical multiplier and a typical slack, to start from; their product is in nats
    real slack
    real cap            # largest multiplier; INFINITY: a constraint; finite: another minorant of part of the cost
    real *coefficients  # (count,)

# The relaxed dual subproblem of a node: a linear minorant of the component costs over the cells, and their facets.
# Minorants hold what multiplies the weight e of a prior (fixed or free in [e_low, e_high]) apart.
cdef struct Subproblem:
    pass_costs minorant
    real constant       # nats
    real prior          # nats per unit of e
    real e_low
    real e_high
    Facet *facets       # (n_facets,)


cdef class Family:
    cdef readonly Samples data
    cdef readonly int n_components, n_columns, n_statistics     # K, d, F
    cdef readonly int n_cell, n_shared  # connected variables per component, and common to all, at the end
    cdef readonly index n_connected     # K * n_cell + n_shared
    cdef readonly int n_facets
    cdef readonly int n_more            # slopes for proofs that the costs of a sample do not show, see more_slopes
    cdef readonly bint has_prior
    cdef readonly bint has_sample_costs  # `least_costs` says something
    cdef readonly index n_each          # costs are of each of so many samples (padded) by itself; 0: affine in columns
    cdef readonly bint divisible_cells  # no prior, no shared variables: each minorant and facet is of one component
    cdef readonly real e_power          # the objective has e C - e_power log e
    cdef readonly real constant         # model constant in nats, added in `MixturePrimal.step` and in `evaluate`
    cdef readonly real constant_size    # sum of the magnitudes of its terms, where they may cancel; 0: its own
    # Boxes (low, high) and parameters `point` are (n_connected,), masses (K,), moments (K, F) about given centers.
    # OUT: the root cells.
    cdef void root(self, real *low, real *high) noexcept nogil
    # IN/OUT: removes label copies and what cannot hold a solution; 0: empty.
    cdef bint tighten(self, real *low, real *high) noexcept nogil
    # The same of components one by one: what none of them can be, whatever its mass and the others.
    cdef bint tighten_alone(self, real *low, real *high) noexcept nogil
    # OUT: all of the subproblem (coefficients are allocated: K (1 + F) per facet).
    cdef void relax(self, const real *low, const real *high, Subproblem *out) noexcept nogil
    # OUT: what a relaxed dual, of multipliers q (n_facets,), is affine in beside the samples' statistics (n_more,).
    cdef void more_slopes(self, const real *low, const real *high, const Subproblem *sub, const real *q,
                          real *out) noexcept nogil
    # OUT point, error: for statistics mass and moments about the minorant's centers, the solution's connected
    # variables, where to split each, and what the minorant loses by it in nats.
    cdef void split_points(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                           const real *moments, real e, real *point, real *error) noexcept nogil
    # OUT (n,): what each sample costs at least in a cell of one component, rounded down, whatever the others are; and
    # whether the minorant and its facets may say more of the cell.
    cdef bint least_costs(self, const real *low, const real *high, real *out) noexcept nogil
    # OUT error: what those costs lose by each variable's range, of samples with shares (n,) of a component's mass.
    cdef void lost_by_samples(self, const real *low, const real *high, const real *shares, real *error) noexcept nogil
    # OUT: costs of the components at parameters `point`.
    cdef void costs(self, const real *point, pass_costs *out) noexcept nogil
    # IN/OUT point: parameters to their optimum for given statistics about the costs' centers (M step).
    cdef void maximise(self, const real *mass, const real *moments, real e, const pass_costs *costs,
                       real *point) noexcept nogil
    # IN/OUT shared (n_shared,): what a sum of several optima's may be, moved to what they can be.
    cdef void keep_shared(self, real *shared) noexcept nogil
    # As `maximise` where costs are of each sample by itself, for shares (K, n_each) of the samples' weights.
    cdef void maximise_shares(self, const real *shares, const real *mass, real *point) noexcept nogil
    # The objective's part that no sample has, in nats; OUT e: its optimum.
    cdef real prior_cost(self, const real *point, real *e) noexcept nogil
    # Sum of the magnitudes of its terms in nats: scale of its rounding error.
    cdef real prior_size(self, const real *point) noexcept nogil
    # Bound of the rounding error of the constant, in nats.
    cdef real constant_margin(self) noexcept nogil
    # OUT point: parameters to start a local search from, around given samples (K, d).
    cdef void seed(self, const real *centers, real *point) noexcept nogil
    # OUT: component k takes no part, in a model with a prior.
    cdef void vacate(self, int k, real *point) noexcept nogil

# One of the K! label copies: components ordered by their first connected variable; 0: the box is empty.
cdef bint order_components(int n_components, int n_cell, real *low, real *high) noexcept nogil

# Half the width of [low, high] about its middle as computed, rounded up.
cdef real half_width(real low, real high, real middle) noexcept nogil

# Whether facets of [low, high], of this half width, are more than rounding.
cdef bint has_width(real half, real low, real high) noexcept nogil

# OUT: `facet`, a constraint of the `count` statistics from `first` on with coefficients 0.
cdef void clear(Facet *facet, bint active, int first, int count) noexcept nogil

# OUT: facets half S + T_j >= 0 and half S - T_j >= 0 of a component's mean in coordinate j, T about the middle of its
# interval. `mass` is a typical S; the other arguments are those of `clear`. Returns the facet after them.
cdef Facet *bound_mean(Facet *facet, bint active, int first, int count, int j, real half, real mass,
                       real multiplier) noexcept nogil


cdef inline real middle_of(real low, real high) noexcept nogil:
    return low + 0.5 * (high - low)
