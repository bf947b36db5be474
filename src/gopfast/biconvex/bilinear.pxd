"""Linear relaxed dual of a biconvex problem: one linear program per node and round."""

from gopfast.biconvex.data cimport BiconvexData
from gopfast.lp.lp cimport LpStatus
from gopfast.lp.program cimport ProgramRelaxation, ProgramWorker
from gopfast.search.relaxation cimport Effort
from gopfast.search.tree cimport Node
from gopfast.search.types cimport real


cdef class BilinearWorker(ProgramWorker):
    """The linear program of one thread."""

    cdef BiconvexData data
    cdef BilinearRelaxation owner
    cdef int n_base                     # rows that every node's program has: what a stored basis covers
    cdef real slack                     # by which the open row is loosened
    cdef real[::1] col_lower, col_upper     # (n_cols,) of the node's program
    cdef real[::1] old_low, old_high    # (n,) the box before it was tightened
    cdef int n_tangents, n_new          # in the program; those of its rounds
    cdef int most_tangents, most_new
    cdef int[::1] lifted_row_of         # (n_lifted,) in the last program
    cdef int[::1] cut_row_of            # (MOST_CUTS,) in the last program
    cdef int[::1] cycle_row_of          # (most_cycles,) in the last program
    cdef int[::1] tangent_row_of, tangent_block     # (most_tangents,) row and form
    cdef float[:, ::1] tangents         # (most_tangents, variables of a form) the point where each touches
    cdef real[::1] at                   # (n,) such a point
    cdef real[::1] gradient             # (n,) of a form; 0 between its uses
    cdef real[::1] weights              # (n_cols - n,) what products and forms cost in the Lagrangian
    cdef real[::1] cost                 # (n_split,) what the products of a variable miss
    cdef real[::1] importance           # (n_split,) of splitting a variable, -1: it cannot be split
    cdef int[::1] basis                 # (n_cols + max_rows,) HiGHS's statuses
    cdef int[::1] seen                  # (n, 2) bounds on which a solution of the sweep lay
    cdef int[::1] ranked                # (n_ranked,) variables whose bounds are worth programs, the worst first
    cdef int n_ranked
    cdef real work                      # iterations times rows, of programs for bounds

    cdef int limit_iterations(self) noexcept nogil
    cdef LpStatus solve_with_tangents(self, Node *node, real cutoff, Effort *effort) noexcept nogil
    cdef int load(self, Node *node, bint warm, bint with_cuts) noexcept nogil
    cdef void begin_row(self) noexcept nogil
    cdef void term(self, int column, real value, real rounded) noexcept nogil
    cdef void end_row(self, real lower, real upper) noexcept nogil
    cdef void fixed_rows(self) noexcept nogil
    cdef void product_rows(self) noexcept nogil
    cdef void lifted_rows(self) noexcept nogil
    cdef void lifted_row(self, int t) noexcept nogil
    cdef real lifted_excess(self, int t) noexcept nogil
    cdef int take_violated(self) noexcept nogil
    cdef LpStatus lift(self, Node *node, real cutoff, Effort *effort) noexcept nogil
    cdef void cut_row(self, int t) noexcept nogil
    cdef LpStatus separate(self, Node *node, real cutoff, Effort *effort, bint of_cycles) noexcept nogil
    cdef void find(self, bint of_cycles) noexcept
    cdef void note_cuts(self) noexcept nogil
    cdef void cycle_row(self, int t) noexcept nogil
    cdef real center_of(self, int j) noexcept nogil
    cdef real half_width(self, int j) noexcept nogil
    cdef bint cycle_terms(self, int t, real *size) noexcept nogil
    cdef LpStatus separate_cycles(self, Node *node, real cutoff, Effort *effort) noexcept nogil
    cdef void note_cycles(self) noexcept nogil
    cdef void tangent_rows(self, Node *node) noexcept nogil
    cdef void tangent(self, int block, const real *at) noexcept nogil
    cdef void tangent_at(self, int block, int variable, real value) noexcept nogil
    cdef void kept_rows(self, Node *node) noexcept nogil
    cdef bint keep_tangents(self, Node *node) noexcept nogil
    cdef void weigh(self) noexcept nogil
    cdef bint forms_miss_more(self) noexcept nogil
    cdef void square_row(self, int block, real at) noexcept nogil
    cdef void tangent_row(self, int block, const real *at) noexcept nogil
    cdef int add_tangents(self, real tolerance) noexcept nogil
    cdef void store_basis(self, Node *node) noexcept nogil
    cdef int restore_basis(self, Node *node) noexcept nogil
    cdef int tighten_by_costs(self, Node *node, real cutoff) noexcept nogil
    cdef int tighten_by_programs(self, Node *node, real cutoff, int n_sweeps, Effort *effort) noexcept nogil
    cdef void rank(self) noexcept nogil
    cdef int sweep(self, Node *node, real cutoff, Effort *effort) noexcept nogil
    cdef void mark_seen(self, const real *low, const real *high) noexcept nogil
    cdef void note_needed(self) noexcept nogil
    cdef void select(self, Node *node, Effort *effort) noexcept nogil
    cdef void halves(self, int j, real at) noexcept nogil
    cdef void product_halves(self, int k, int j, real at) noexcept nogil
    cdef void remember(self, Node *node) noexcept nogil
    cdef real shrunk(self, Node *node) noexcept nogil
    cdef void place(self, Node *node) noexcept nogil
    cdef void place_switch(self, Node *node) noexcept nogil
    cdef real side_off(self, int side) noexcept nogil
    cdef void vanish(self, int side) noexcept nogil
    cdef void place_middle(self, Node *node) noexcept nogil


cdef class BilinearRelaxation(ProgramRelaxation):
    cdef readonly BiconvexData data
    cdef int[::1] kept                  # (n_lifted,) lifted rows in use: those that the root's programs needed
    cdef int[::1] needed                # (n_lifted,) found at the root
    cdef void forget_rows(self) noexcept nogil
    cdef bint chosen                    # whether `kept` is final
    cdef int n_cuts                     # semidefinite cuts in use
    cdef int[::1] cut_moment, cut_needed    # (MOST_CUTS,) the set of variables; whether the root's program needed it
    cdef real[:, ::1] cut_vector        # (MOST_CUTS, 1 + members)
    cdef int find_cuts(self, const real *x) except -1
    cdef void keep_cuts(self) noexcept nogil
    cdef readonly int n_cycles, most_cycles
    cdef int[::1] cycle_start, cycle_product, cycle_sign    # products of each cycle; 1: of D, see `cycles`; -1
    cdef int[::1] cycle_needed          # (most_cycles,) whether the root's program needed it
    cdef object known_cycles            # set of those found
    cdef bint cycles_pay                # whether they raised the root's bound by enough
    cdef int find_cycles(self, const real *x, const real *low, const real *high) except -1
    cdef int add_cycle(self, products, signs) except -1
    cdef void keep_cycles(self) noexcept nogil
    cdef int[::1] member_start, member  # variables of each form
    cdef int kept_from, n_kept_floats   # in a node's warm start: where its tangents are, and their room
    cdef int find_members(self) except -1
    cdef int widest_block(self) noexcept nogil
    cdef int[::1] wanted                # (n,) variables of products: their bounds are worth programs
    cdef readonly int max_rounds, root_sweeps
    cdef real[::1] low, high            # (n,) the root box
    cdef real[::1] incumbent            # (n,) tangents touch there
    cdef bint has_incumbent
