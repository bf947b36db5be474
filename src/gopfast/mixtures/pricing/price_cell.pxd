"""The bound of what one component can save in a cell, at given prices of the samples."""

from gopfast.mixtures.families.family cimport Family, Subproblem
from gopfast.mixtures.data.passes cimport pass_costs, pass_data, price_sums
from gopfast.mixtures.pricing.sample_blocks cimport SampleBlocks
from gopfast.search.arena cimport Arena
from gopfast.search.tree cimport Node
from gopfast.search.types cimport index, real


# Workspace. F statistics, Q facets.
cdef struct Pricing:
    Subproblem sub
    pass_costs costs
    pass_costs rounding
    price_sums sums
    price_sums *parts   # (n_levels,) of each level of the variable that is free, which add up to the sums
    real *low           # (n_cell,) the cell, with the free variable's whole range
    real *high
    real *q             # (Q,) multipliers: the trial, and where the last step began
    real *base
    real *rhs           # (Q,)
    real *gradient      # (Q,) the facets' values
    real *step          # (Q,)
    real *curvature     # (Q, Q) of the free multipliers
    real *moments       # (1+F, 1+F) Hessian in the costs' coefficients
    real *image         # (1+F,)
    real *coefficients  # (1+F,) of the costs, and the magnitude of their terms
    real *size
    real *error         # (n_cell,)
    real *best          # (n_cell,) of an ascent
    int *free           # (Q,) the multipliers that may move
    real *own           # (n_padded,) prices less what the samples cost in a cell
    real *scratch
    real *room          # (d + 2, n_padded) samples of the blocks that the cell takes something of, if there are blocks
    index *chosen       # (n_blocks,) these
    index n_seen        # samples of the last pass
    bint is_part        # whether blocks were left out of it
    pass_data seen      # these, as blocks have them
    bint is_weighed     # whether its moments are known
    index n_passes
    index n_terms


cdef class CellPricing:
    cdef readonly Family family
    cdef Pricing *spaces                # (n_threads,)
    cdef Arena arena                    # of their arrays
    cdef readonly int n_threads
    cdef real[::1] prices, widths
    cdef readonly bint provable         # cells hand on what proved their bound, for proofs
    cdef readonly index n_warm          # numbers that a cell hands on: multipliers, what is lost, and that
    # A variable whose probabilities are free in every cell: samples have one of its levels. 1: there is none.
    cdef readonly int n_levels
    cdef real[:, ::1] level_weights     # (n_levels, n_padded) the samples' weights, 0 where they have another level
    cdef unsigned char[::1] free        # (n_cell,) its coordinates
    cdef public bint leaves_out         # whether passes leave out blocks of samples; to be changed before any prices
    cdef readonly SampleBlocks blocks   # these, once there are prices
    cdef Arena block_arena
    cdef public int max_passes
    cdef public real patience
    cdef int lay_out(self) except -1
    cdef int take_blocks(self) except -1
    cdef index passes(self) noexcept nogil
    cdef index terms(self) noexcept nogil
    # OUT: the family's subproblem of a cell, and every level's scale forgotten.
    cdef void open_cell(self, Pricing *at, const real *low, const real *high) noexcept nogil
    cdef void forget(self, Pricing *at) noexcept nogil
    # A data pass for each level, at the costs; OUT: the value.
    cdef void run(self, Pricing *at) noexcept nogil
    # OUT: masses and moments of it, which a pass that closes its cell does not need.
    cdef void weigh(self, Pricing *at) noexcept nogil
    # OUT: Hessian of the value in the costs' coefficients.
    cdef void curve(self, Pricing *at) noexcept nogil
    # What no component of the cell exceeds at the multipliers q, by a data pass for each level.
    cdef real evaluate(self, Pricing *at, const real *q) noexcept nogil
    cdef real summary_loss(self, const Pricing *at) noexcept nogil
    # The same by the least costs of the samples, each by itself; OUT is_fine: whether multipliers may do better.
    cdef real evaluate_samples(self, Pricing *at, const real *low, const real *high, bint *is_fine) noexcept nogil
    # Where to split, after it.
    cdef void choose_split_by_samples(self, Pricing *at, Node *cell) noexcept nogil
    # OUT own (n_padded,): shares of the samples' weights in the column of the last pass.
    cdef real take_column(self, Pricing *at, const price_sums *sums) noexcept nogil
    # By the errors: the variable with the largest one, or with the widest range.
    cdef void choose_variable(self, Pricing *at, Node *cell) noexcept nogil
    cdef void gradient(self, Pricing *at) noexcept nogil
    cdef real direction(self, Pricing *at) noexcept nogil
    cdef real most_saved(self, const Pricing *at) noexcept nogil
    cdef void keep_proof(self, Pricing *at, Node *cell) noexcept nogil
    # Lowers the cell's bound, which is -cell.lower, and chooses where to split it.
    cdef void bound(self, Pricing *at, Node *cell, real cutoff) noexcept nogil
    cdef void choose_split(self, Pricing *at, Node *cell) noexcept nogil
    # IN/OUT point: parameters of a larger G, which is returned; exactly: of the samples, where there are groups. It
    # ends where the rest, as it is foreseen, is below `near`, or would not lead to `least`.
    cdef real ascend(self, Pricing *at, real *point, int n_steps, bint exactly, real near, real least) noexcept nogil
    # A pass of it at the costs, which leaves its sums. Returns the value but for what the prior costs.
    cdef real pass_of_ascent(self, Pricing *at, bint begins, bint exactly) noexcept nogil
    # G of a component; its column is left in the scratch.
    cdef real price(self, Pricing *at, const real *point) noexcept nogil
