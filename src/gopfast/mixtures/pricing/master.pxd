"""The master problem of the pricing bound."""

from gopfast.mixtures.pricing.price_cell cimport CellPricing
from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.search.arena cimport Arena
from gopfast.search.types cimport index, real


# All atoms' best columns at some prices, and the barrier function there.
cdef struct Columns:
    real *prices        # (n_padded,)
    real *scratch       # (A, stride): of every atom the exponents, then their exponentials u
    real *scale         # (M,) s: tau = min(1, s u); 0: no component at all
    real *saturated     # (M,) weight of the samples with tau = 1
    real *values        # (M,) G, and below its kink the smooth E
    index *most         # (M,) where no column pays, the sample of the largest exponent,
    real *extra         # and what E grows by in its price more than by its weight
    real *sigma         # (n_groups,)
    real barrier        # the barrier function


cdef class Master:
    cdef CellPricing pricing
    cdef readonly object weights, center
    cdef real[::1] w, drawn_to          # (n_padded,)
    cdef index N, stride, capacity, group_capacity
    cdef real total_weight
    cdef readonly real weight           # of the barrier in the end, and whether a deadline came before
    cdef readonly bint is_cut_short
    cdef public real accuracy           # Newton decrement at which the last weight's problem is solved, of that weight
    cdef readonly index n_steps         # Newton steps, and evaluations of all atoms' columns, so far
    cdef readonly index n_evaluations
    cdef Arena arena
    cdef pass_costs own, identity, nothing
    cdef Columns now, trial
    cdef index A, M, n_groups, rank     # of this call; M: atoms and one of no mass per group; rows that count
    cdef index *group                   # (M,)
    cdef real *count                    # (n_groups,)
    cdef real *costs                    # (A, n_padded) of the atoms, which do not depend on prices
    cdef real *prior                    # (M,) what their priors cost
    cdef real *z                        # (M,) dual multipliers, primal ones mu / gap, and z / gap
    cdef real *primal
    cdef real *ratio
    cdef real *slopes                   # (M,) of G along the step, then changes of z
    cdef real length                    # of the last step, 1: Newton's
    cdef real *means                    # (n_groups, N)
    cdef real *totals                   # (n_groups,)
    cdef real *gradient                 # (N,)
    cdef real *diagonal
    cdef real *root                     # (N,) one over its square root
    cdef real *step
    cdef real *rows                     # (2 M, N), then the same across (N, 2 M)
    cdef real *across
    cdef real *system                   # (min(2 M, N)^2,)
    cdef real *right                    # (2 M,)
    cdef int lay_out(self, index n_atoms, index n_groups) except -1
    cdef void take_atom(self, index a, const real *point) noexcept nogil
    cdef void evaluate(self, Columns *at, real weight) noexcept nogil
    cdef void column(self, Columns *at, index a) noexcept nogil
    cdef void extend(self, Columns *at, index a) noexcept nogil
    cdef real levels(self, Columns *at, real weight) noexcept nogil
    cdef void multiply(self, real weight) noexcept nogil
    cdef real newton(self, real weight) noexcept nogil
    cdef void differentiate(self, real weight) noexcept nogil
    cdef void fill(self, real weight) noexcept nogil
    cdef void keep_row(self, real factor) noexcept nogil
    cdef void solve_low_rank(self) noexcept nogil
    cdef bint search(self, real promised, real weight) noexcept nogil
    cdef void follow(self, real length) noexcept nogil
    cdef void descend(self, real weight, real last, real deadline) noexcept nogil
