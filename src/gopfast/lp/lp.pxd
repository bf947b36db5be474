"""One linear program on one thread: load, change, solve with HiGHS, and a lower bound that is proved.

    min cost'x   s.t.  row_lower <= A x <= row_upper,  col_lower <= x <= col_upper
"""

from gopfast.lp.highs cimport CallbackIn
from gopfast.search.stop cimport StopSignal
from gopfast.search.types cimport index, real

# Append only. What the numbers then mean is said at each.
cdef enum LpStatus:
    LP_ERROR = -1           # HiGHS failed or nothing is loaded: x and row_dual mean nothing
    LP_OPTIMAL = 0          # x and row_dual are optimal within HiGHS's tolerances
    LP_BOUND_REACHED = 1    # stopped at the objective bound; row_dual is dual feasible, x no solution
    LP_INFEASIBLE = 2       # proved: bounds cross, or the dual ray passed our own rounding-safe check
    LP_UNBOUNDED = 3        # HiGHS says so; nothing is proved
    LP_UNKNOWN = 4          # anything else, including infeasibility that we could not prove
    LP_INTERRUPTED = 5      # the stop signal asked for it

cdef class LpWorker:
    """Used by exactly one thread. Methods that can fail return OK, NO_MEMORY or LP_FAILED of ``_types``."""

    cdef void* solver
    cdef StopSignal signal                  # polled while HiGHS runs; None: nothing interrupts it
    cdef int number                         # of the thread, for the signal
    cdef bint loaded, limited               # limited: HiGHS has a time limit
    cdef bint is_endless                    # whether the duals of the last safe_bound() met infinite ends
    cdef real objective_bound
    cdef real tolerance                     # of HiGHS, of ends and of reduced costs
    cdef readonly index n_lps               # calls of Highs_run, a repeat after a thread mismatch not counted

    # Our own copy of the model, as HiGHS rounds small entries away; A by rows, row_start[n_rows] = nnz.
    cdef readonly int n_cols, n_rows, nnz
    cdef index col_room, row_room, nnz_room
    cdef real* cost
    cdef real* col_lower
    cdef real* col_upper
    cdef real* row_lower
    cdef real* row_upper
    cdef int* row_start
    cdef int* col_index
    cdef real* value

    # Results of the last solve(); row_dual stays a proof of safe_bound() after changes of the model.
    cdef real* x
    cdef real* row_dual
    cdef real* ray
    cdef real* inside                       # scratch of proved_by_inner_ray(): of rows
    cdef real* blend
    cdef real* reduced                      # scratch of dual_bound(): d and the bound on its rounding error
    cdef real* reduced_error
    cdef int* moved                         # scratch of solve_inside(): whether a column's cost is another for once,
    cdef real* found                        # and the solution before

    cdef int open(self) noexcept nogil
    cdef void close(self) noexcept nogil
    # GIL held: interrupts solve() soon after the signal; None: no longer. Before open() or on its thread.
    cdef int watch(self, StopSignal signal, int number) except -1
    cdef int poll_signal(self) noexcept nogil
    cdef int limit_time(self) noexcept nogil

    cdef int load(self, int n_cols, int n_rows, const real* cost,
                  const real* col_lower, const real* col_upper, const real* row_lower, const real* row_upper,
                  int nnz, const int* start, const int* col_index, const real* value) noexcept nogil
    cdef int add_rows(self, int n, const real* lower, const real* upper,
                      int nnz, const int* start, const int* col_index, const real* value) noexcept nogil
    cdef int set_row_bounds(self, int i, real lower, real upper) noexcept nogil
    cdef int set_col_bounds(self, int j, real lower, real upper) noexcept nogil
    cdef int set_cost(self, int j, real cost) noexcept nogil
    cdef int forget_basis(self) noexcept nogil
    cdef int run(self) noexcept nogil
    cdef LpStatus solve_inside(self) noexcept nogil
    # After LP_UNKNOWN: whether HiGHS says infeasible. Its model with other ends of columns than the own, or with these.
    cdef bint lacks_proof(self) noexcept nogil
    cdef int move_ends(self, bint outward) noexcept nogil
    cdef void clip(self) noexcept nogil
    cdef bint is_open(self, int j) noexcept nogil
    cdef bint is_near(self, int j) noexcept nogil
    cdef real inner_cost(self, int j) noexcept nogil
    cdef LpStatus solve_quadratic(self, int nnz, const int* start, const int* at, const real* value,
                                  int n_iterations) noexcept nogil
    cdef int get_basis(self, int* statuses) noexcept nogil
    cdef int set_basis(self, const int* statuses) noexcept nogil
    cdef int set_tolerance(self, real tolerance) noexcept nogil
    cdef int set_primal_simplex(self, bint primal) noexcept nogil
    cdef int forbid_scaling(self) noexcept nogil
    cdef int limit_iterations(self, int n) noexcept nogil
    cdef int limit_iterations_by(self, int size) noexcept nogil
    cdef int n_iterations(self) noexcept nogil

    cdef LpStatus solve(self, real objective_bound) noexcept nogil
    cdef LpStatus solve_or_restart(self, real objective_bound) noexcept nogil
    cdef bint unbounded_ray(self) noexcept nogil
    cdef real safe_bound(self) noexcept nogil
    cdef real dual_bound(self, const real* y, bint with_cost) noexcept nogil

    cdef void clear_results(self) noexcept nogil
    cdef LpStatus verdict(self, int model_status) noexcept nogil
    cdef bint proved_infeasible(self) noexcept nogil
    cdef bint has_open_ends(self) noexcept nogil
    cdef bint proved_by_inner_ray(self) noexcept nogil
    cdef int inner_duals(self) noexcept nogil
    cdef int change_ends(self, bint homogeneous) noexcept nogil
    cdef bint bounds_cross(self) noexcept nogil
    cdef int reserve(self, index n_cols, index n_rows, index nnz) noexcept nogil
    cdef void append_rows(self, int n, const real* lower, const real* upper,
                          int nnz, const int* start, const int* col_index, const real* value) noexcept nogil

# HiGHS's callback of an LpWorker, and of a solver that stops with it.
cdef void answer_interrupt(int kind, const char* message, const void* out, CallbackIn* answer,
                           void* worker) noexcept nogil
