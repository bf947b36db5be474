"""What the entropic relaxed dual and EM ask of a component family."""

from gopfast.mixtures.data.passes cimport pass_costs, pass_sums
from gopfast.mixtures.data.samples cimport Samples, SampleSet
from gopfast.search.types cimport index, real


# A qualifying constraint of a cell, linear in the statistics (S_k, T_k) of the components about the cell's centers:
#     constant + e * prior + sum_s coefficients[s] * statistics[first + s] >= 0.
cdef struct Facet:
    bint active         # 0: the cell has no width here
    bint paired         # opposite of the next facet: the sum of both holds no statistics but masses S_k
    int first, count    # which of the K(1+F) statistics it has
    real constant
    real prior
    real multiplier     # a typical multiplier and a typical slack per unit of mass, to start from
    real slack
    real cap            # largest multiplier; INFINITY: a constraint; finite: another minorant of part of the cost
    real *coefficients

# The relaxed dual subproblem of a node: a linear minorant of the component costs over the cells, and their facets.
# Minorants hold what multiplies the weight e of a prior (fixed or free in [e_low, e_high]) apart.
cdef struct Subproblem:
    pass_costs minorant
    real constant
    real prior
    real e_low
    real e_high
    Facet *facets


cdef class Family:
    cdef readonly Samples data
    cdef readonly int n_components, n_columns, n_statistics     # K, d, F
    cdef readonly int n_cell, n_shared  # connected variables per component, and common to all, at the end
    cdef readonly index n_connected     # K * n_cell + n_shared
    cdef readonly int n_facets
    cdef readonly bint has_prior
    cdef readonly bint divisible_cells  # no prior, no shared variables: each minorant and facet is of one component
    cdef readonly real e_power          # the objective has e C - e_power log e
    cdef readonly real constant         # what every objective and bound of the core lacks
    cdef readonly real constant_size    # sum of the magnitudes of its terms, where they may cancel; 0: its own
    # OUT: the root cells.
    cdef void root(self, real *low, real *high) noexcept nogil
    # IN/OUT: removes label copies and what cannot hold a solution; 0: empty.
    cdef bint tighten(self, real *low, real *high) noexcept nogil
    # The same for a family of one component that is one of any number: what no component can be, whatever its mass.
    cdef bint tighten_alone(self, real *low, real *high) noexcept nogil
    # OUT: all of the subproblem (coefficients are allocated: K(1+F) per facet).
    cdef void relax(self, const real *low, const real *high, Subproblem *out) noexcept nogil
    # OUT point, error: for statistics mass (K,) and moments (K, F) about the centers, the solution's connected
    # variables, where to split each and what the minorant loses by it.
    cdef void place(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                    const real *moments, real e, real *point, real *error) noexcept nogil
    # OUT: costs of the components at parameters `point` (n_connected values).
    cdef void costs(self, const real *point, pass_costs *out) noexcept nogil
    # IN/OUT point: parameters to their optimum for given statistics about the costs' centers (M step).
    cdef void maximise(self, const real *mass, const real *moments, real e, const pass_costs *costs,
                       real *point) noexcept nogil
    # The objective's part that no sample has; OUT e: its optimum.
    cdef real prior_cost(self, const real *point, real *e) noexcept nogil
    # Sum of the magnitudes of its terms: scale of its rounding error.
    cdef real prior_size(self, const real *point) noexcept nogil
    # Bound of the rounding error of the constant.
    cdef real constant_margin(self) noexcept nogil
    # OUT point: parameters to start a local search from, around given samples (K, d).
    cdef void seed(self, const real *centers, real *point) noexcept nogil
    # OUT: a component that takes no part, in a model with a prior.
    cdef void vacate(self, int k, real *point) noexcept nogil

# One of the K! label copies: components ordered by their first connected variable; 0: the box is empty.
cdef bint order_components(int n_components, int n_cell, real *low, real *high) noexcept nogil

# IN/OUT: bounds (K,) of the components' means of one statistic, and of their masses. The means average to the
# samples' (whose total mass counts `nu` per component for a prior): what cannot is removed; 0: nothing is left.
cdef bint balance(int n_components, real total, real nu, real average, real *low, real *high, real *mass_low,
                  real *mass_high) noexcept nogil
