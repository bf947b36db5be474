"""One linear program on one thread: load, change, solve with HiGHS, and a lower bound that is proved.

Theory: (R2) of docs/theory/rounding.md, (VD1) of docs/theory/half_lines.md.
"""

from libc.math cimport INFINITY, NAN, fabs, fma, isfinite, isinf, isnan, nextafter
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

from gopfast.lp.highs cimport CallbackIn, highs, load_api, run_highs
from gopfast.lp.margins cimport SUM_SLACK, UNDERFLOW, UNDERFLOW_ERROR
from gopfast.lp.tuning cimport (
    FEW_ITERATIONS, HIGHS_TOLERANCE, INSIDE, ITERATIONS_EACH, LEAST_STEP_INSIDE, NEXT_STEP_INSIDE, OUTWARD,
)
from gopfast.search.stop cimport StopSignal, clock
from gopfast.search.types cimport LP_FAILED, NO_MEMORY, OK, index, real

import numpy as np

cdef enum:
    SIMPLEX_INTERRUPT = 1       # kind of callback
    ROW_WISE = 2
    TRIANGULAR = 1
    MINIMISE = 1
    DUAL_SIMPLEX = 1            # values of simplex_strategy
    PRIMAL_SIMPLEX = 4
    NO_SCALING = 0              # value of simplex_scale_strategy
    STATUS_EMPTY = 6            # model status of HiGHS
    STATUS_OPTIMAL = 7
    STATUS_INFEASIBLE = 8
    STATUS_UNBOUNDED = 10
    STATUS_OBJECTIVE_BOUND = 11
    STATUS_TIME_LIMIT = 13
    STATUS_INTERRUPT = 17

cdef real HIGHS_INFINITY = 1e20     # HiGHS takes larger bounds for infinite


cdef class LpWorker:

    def __cinit__(self):
        load_api()

    def __dealloc__(self):
        # The HiGHS object is not destroyed here: that resets the scheduler of whichever thread collects us,
        # and crashes inside a user's own HiGHS callback. A worker that is not closed leaks it.
        free(self.cost)
        free(self.moved)
        free(self.found)
        free(self.col_lower)
        free(self.col_upper)
        free(self.row_lower)
        free(self.row_upper)
        free(self.row_start)
        free(self.col_index)
        free(self.value)
        free(self.x)
        free(self.row_dual)
        free(self.ray)
        free(self.inside)
        free(self.blend)
        free(self.reduced)
        free(self.reduced_error)

    # Life: open() and close() on the thread that solves

    cdef int open(self) noexcept nogil:
        if self.solver != NULL:
            return LP_FAILED
        self.solver = highs.create()
        if self.solver == NULL:
            return NO_MEMORY
        self.objective_bound, self.limited, self.tolerance = INFINITY, False, HIGHS_TOLERANCE
        if (highs.set_bool(self.solver, b"output_flag", 0) != 0
                or highs.set_bool(self.solver, b"log_to_console", 0) != 0
                or highs.set_string(self.solver, b"presolve", b"off") != 0
                or highs.set_string(self.solver, b"solver", b"simplex") != 0
                or highs.set_int(self.solver, b"simplex_strategy", DUAL_SIMPLEX) != 0
                or highs.set_string(self.solver, b"parallel", b"off") != 0
                or highs.set_int(self.solver, b"threads", 1) != 0
                or self.poll_signal() != OK):
            self.close()
            return LP_FAILED
        return OK

    cdef void close(self) noexcept nogil:
        if self.solver != NULL:
            highs.destroy(self.solver)
        self.solver = NULL
        self.loaded = False

    cdef int watch(self, StopSignal signal, int number) except -1:
        cdef int code = OK
        # HiGHS may not ask for a signal that is gone.
        if self.solver != NULL and signal is None and self.signal is not None:
            code = OK if highs.stop_callback(self.solver, SIMPLEX_INTERRUPT) != -1 else LP_FAILED
        self.signal, self.number = signal, number
        if code == OK and self.solver != NULL:
            code = self.poll_signal()
        return check(code)

    cdef int poll_signal(self) noexcept nogil:
        """HiGHS polls the signal, and not just reads it: alone in a long linear program, nobody else would."""
        if self.signal is None:
            return OK
        if (highs.set_callback(self.solver, answer_interrupt, <void*> self) == -1
                or highs.start_callback(self.solver, SIMPLEX_INTERRUPT) == -1):
            return LP_FAILED
        return OK

    cdef int limit_time(self) noexcept nogil:
        """HiGHS reads a clock of its own in what asks no callback, the active set method among it."""
        cdef bint limited = self.signal is not None and self.signal.deadline < INFINITY
        if not (limited or self.limited):
            return OK
        self.limited = limited
        # HiGHS adds up the time of its runs.
        return OK if highs.set_double(
            self.solver, b"time_limit",
            highs.run_time(self.solver) + max(self.signal.deadline - clock(), 0.0) if limited else INFINITY,
        ) != -1 else LP_FAILED

    # The model: HiGHS first, then our copy, so that a refused change leaves both as they were

    cdef int load(self, int n_cols, int n_rows, const real* cost,
                  const real* col_lower, const real* col_upper, const real* row_lower, const real* row_upper,
                  int nnz, const int* start, const int* col_index, const real* value) noexcept nogil:
        """Replace the model; A by rows, ``start`` of n_rows entries. The next solve is cold."""
        cdef int j
        if self.solver == NULL:
            return LP_FAILED
        # After a refused passLp HiGHS would solve something else.
        self.loaded = False
        if not valid_rows(n_cols, n_rows, row_lower, row_upper, nnz, start, col_index, value):
            return LP_FAILED
        for j in range(n_cols):
            if not isfinite(cost[j]) or isnan(col_lower[j]) or isnan(col_upper[j]):
                return LP_FAILED
        if self.reserve(n_cols, n_rows, nnz) != OK:
            return NO_MEMORY
        if highs.pass_lp(self.solver, n_cols, n_rows, nnz, ROW_WISE, MINIMISE, 0.0, cost,
                         col_lower, col_upper, row_lower, row_upper, start, col_index, value) == -1:
            return LP_FAILED
        self.n_cols = n_cols
        self.n_rows = self.nnz = self.row_start[0] = 0
        memcpy(self.cost, cost, n_cols * sizeof(real))
        memcpy(self.col_lower, col_lower, n_cols * sizeof(real))
        memcpy(self.col_upper, col_upper, n_cols * sizeof(real))
        self.append_rows(n_rows, row_lower, row_upper, nnz, start, col_index, value)
        self.clear_results()
        self.loaded = True
        return OK

    cdef int add_rows(self, int n, const real* lower, const real* upper,
                      int nnz, const int* start, const int* col_index, const real* value) noexcept nogil:
        if not self.loaded or not valid_rows(self.n_cols, n, lower, upper, nnz, start, col_index, value):
            return LP_FAILED
        if self.reserve(self.n_cols, <index> self.n_rows + n, <index> self.nnz + nnz) != OK:
            return NO_MEMORY
        if highs.add_rows(self.solver, n, lower, upper, nnz, start, col_index, value) == -1:
            return LP_FAILED
        self.append_rows(n, lower, upper, nnz, start, col_index, value)
        return OK

    cdef int set_row_bounds(self, int i, real lower, real upper) noexcept nogil:
        if (not self.loaded or i < 0 or i >= self.n_rows or isnan(lower) or isnan(upper)
                or highs.change_row_bounds(self.solver, i, lower, upper) == -1):
            return LP_FAILED
        self.row_lower[i] = lower
        self.row_upper[i] = upper
        return OK

    cdef int set_col_bounds(self, int j, real lower, real upper) noexcept nogil:
        if (not self.loaded or j < 0 or j >= self.n_cols or isnan(lower) or isnan(upper)
                or highs.change_col_bounds(self.solver, j, lower, upper) == -1):
            return LP_FAILED
        self.col_lower[j] = lower
        self.col_upper[j] = upper
        return OK

    cdef int set_cost(self, int j, real cost) noexcept nogil:
        if (not self.loaded or j < 0 or j >= self.n_cols or not isfinite(cost)
                or highs.change_col_cost(self.solver, j, cost) == -1):
            return LP_FAILED
        self.cost[j] = cost
        return OK

    cdef int forget_basis(self) noexcept nogil:
        """Make the next solve cold, so that its result depends on the model alone."""
        if not self.loaded or highs.clear_solver(self.solver) == -1:
            return LP_FAILED
        return OK

    cdef int get_basis(self, int* statuses) noexcept nogil:
        """OUT (n_cols + n_rows,): HiGHS's statuses, 0 to 4, of columns and then rows."""
        if not self.loaded or highs.get_basis(self.solver, statuses, statuses + self.n_cols) == -1:
            return LP_FAILED
        return OK

    cdef int set_basis(self, const int* statuses) noexcept nogil:
        """Start the next solve there. One that does not fit the model is refused, and the next solve is cold."""
        if not self.loaded or highs.set_basis(self.solver, statuses, statuses + self.n_cols) == -1:
            return LP_FAILED
        return OK

    cdef int set_tolerance(self, real tolerance) noexcept nogil:
        """Feasibility tolerance, primal and dual."""
        if (self.solver == NULL or highs.set_double(self.solver, b"primal_feasibility_tolerance", tolerance) == -1
                or highs.set_double(self.solver, b"dual_feasibility_tolerance", tolerance) == -1):
            return LP_FAILED
        self.tolerance = tolerance
        return OK

    cdef int set_primal_simplex(self, bint primal) noexcept nogil:
        """For changes of the costs alone: the last basis stays primal feasible."""
        if self.solver == NULL or highs.set_int(self.solver, b"simplex_strategy",
                                                PRIMAL_SIMPLEX if primal else DUAL_SIMPLEX) == -1:
            return LP_FAILED
        return OK

    cdef int forbid_scaling(self) noexcept nogil:
        """HiGHS's tolerances are then of the rows and columns as they stand."""
        if self.solver == NULL or highs.set_int(self.solver, b"simplex_scale_strategy", NO_SCALING) == -1:
            return LP_FAILED
        return OK

    cdef int limit_iterations(self, int n) noexcept nogil:
        """Simplex iterations of a solve: warm-started from a nearly parallel row it can cycle."""
        if self.solver == NULL or highs.set_int(self.solver, b"simplex_iteration_limit", n) == -1:
            return LP_FAILED
        return OK

    cdef int limit_iterations_by(self, int size) noexcept nogil:
        """The same by the number of rows and columns: more than any program takes that does not cycle."""
        return self.limit_iterations(FEW_ITERATIONS + ITERATIONS_EACH * size)

    cdef int n_iterations(self) noexcept nogil:
        """Simplex iterations of the last solve; HiGHS says -1 where it had no need of the simplex method."""
        return max(0, highs.n_iterations(self.solver)) if self.solver != NULL else 0

    # Solving

    cdef LpStatus solve_or_restart(self, real objective_bound) noexcept nogil:
        """As solve(); from cold once more where that ends without an answer."""
        cdef LpStatus status = self.solve(objective_bound)
        if status == LP_UNKNOWN and self.forget_basis() == OK:
            status = self.solve(objective_bound)
        return status

    cdef bint lacks_proof(self) noexcept nogil:
        """Whether HiGHS calls the program infeasible, after LP_UNKNOWN: it has no ray that proves it."""
        return highs.model_status(self.solver) == STATUS_INFEASIBLE

    cdef int move_ends(self, bint outward) noexcept nogil:
        """Moves finite ends of columns outward in HiGHS by more than its tolerance, or back.

        Nothing else knows: what duals of the wider program prove is evaluated with the own ends.
        """
        cdef real low, high, step = OUTWARD * self.tolerance
        cdef int j
        for j in range(self.n_cols):
            low, high = self.col_lower[j], self.col_upper[j]
            if outward:
                low, high = low - step * max(1.0, fabs(low)), high + step * max(1.0, fabs(high))
            if highs.change_col_bounds(self.solver, j, low, high) == -1:
                self.loaded = False
                return LP_FAILED
        return OK

    cdef void clip(self) noexcept nogil:
        """Moves the last solution into the columns' ends."""
        cdef int j
        for j in range(self.n_cols):
            if self.x[j] < self.col_lower[j]:
                self.x[j] = self.col_lower[j]
            elif self.x[j] > self.col_upper[j]:
                self.x[j] = self.col_upper[j]

    cdef bint unbounded_ray(self) noexcept nogil:
        """OUT x: a ray along which costs fall, after LP_UNBOUNDED. To be checked by whoever uses it."""
        cdef int has_ray = 0
        return highs.get_primal_ray(self.solver, &has_ray, self.x) != -1 and has_ray != 0

    cdef LpStatus solve_quadratic(self, int nnz, const int* start, const int* at, const real* value,
                                  int n_iterations) noexcept nogil:
        """As solve(), with 0.5 x'Hx added to the costs, H convex: its lower triangle by columns, in all n_cols.

        Active set method, which may fail or end at the limit of iterations: then not LP_OPTIMAL. safe_bound() and
        the other methods know nothing of H, which stays until the next load().
        """
        cdef int code
        if not self.loaded:
            return LP_ERROR
        self.clear_results()
        if self.bounds_cross():
            return LP_INFEASIBLE
        if (highs.pass_hessian(self.solver, self.n_cols, nnz, TRIANGULAR, start, at, value) == -1
                or highs.set_string(self.solver, b"solver", b"choose") == -1
                or highs.set_int(self.solver, b"qp_iteration_limit", n_iterations) == -1
                or self.limit_time() != OK):
            return LP_ERROR
        self.n_lps += 1
        code = highs.run(self.solver)
        if highs.set_string(self.solver, b"solver", b"simplex") == -1 or code == -1:
            return LP_ERROR
        if highs.get_solution(self.solver, self.x, NULL, NULL, self.row_dual) == -1:
            return LP_ERROR
        code = highs.model_status(self.solver)
        return LP_OPTIMAL if code == STATUS_OPTIMAL else LP_INTERRUPTED if code == STATUS_TIME_LIMIT else LP_UNKNOWN

    cdef LpStatus solve(self, real objective_bound) noexcept nogil:
        """Warm-started dual simplex; stops once the dual objective passes ``objective_bound``."""
        if not self.loaded or isnan(objective_bound):
            return LP_ERROR
        self.clear_results()
        if self.bounds_cross():
            return LP_INFEASIBLE
        if objective_bound != self.objective_bound:
            if highs.set_double(self.solver, b"objective_bound", objective_bound) == -1:
                return LP_ERROR
            self.objective_bound = objective_bound
        if self.limit_time() != OK:
            return LP_ERROR
        self.n_lps += 1
        if self.run() != OK:
            return LP_ERROR
        return self.verdict(highs.model_status(self.solver))

    cdef int run(self) noexcept nogil:
        """A run of HiGHS and its solution."""
        if (run_highs(self.solver) == -1
                or highs.get_solution(self.solver, self.x, NULL, NULL, self.row_dual) == -1):
            return LP_FAILED
        return OK

    cdef LpStatus solve_inside(self) noexcept nogil:
        """Again where rounding leaves open the signs of reduced costs of columns without an end: costs less for them.

        After solve(). The duals of the program with these costs are those
        of the own costs with reduced costs inside their signs; what they prove is evaluated with the own ones. The
        solution stays what it was: that of the other costs may be far out.
        """
        cdef int j, n_moved = 0
        cdef bint solved
        self.dual_bound(self.row_dual, True)
        for j in range(self.n_cols):
            # the next bound finds them anew
            n_moved += self.is_open(j)
            self.moved[j] = self.is_near(j)
            if self.is_open(j) and isinf(self.col_lower[j]) and isinf(self.col_upper[j]):
                return LP_OPTIMAL
        if n_moved == 0:
            return LP_OPTIMAL
        memcpy(self.found, self.x, self.n_cols * sizeof(real))
        for j in range(self.n_cols):
            if self.moved[j] and highs.change_col_cost(self.solver, j, self.inner_cost(j)) == -1:
                return LP_ERROR
        solved = self.run() == OK and highs.model_status(self.solver) == STATUS_OPTIMAL
        for j in range(self.n_cols):
            if self.moved[j] and highs.change_col_cost(self.solver, j, self.cost[j]) == -1:
                return LP_ERROR
        if not solved and self.run() != OK:
            return LP_ERROR
        memcpy(self.x, self.found, self.n_cols * sizeof(real))
        return LP_OPTIMAL

    cdef bint is_open(self, int j) noexcept nogil:
        """Whether the last bound meets an infinite end of a column: by its reduced cost's sign, or as that may be."""
        cdef real d = self.reduced[j], error = SUM_SLACK * self.reduced_error[j]
        return (isinf(self.col_lower[j]) and d > -error) or (isinf(self.col_upper[j]) and d < error)

    cdef bint is_near(self, int j) noexcept nogil:
        """Whether a column has one end, and other duals may leave the sign of its reduced cost open."""
        cdef real step = fabs(self.cost[j] - self.inner_cost(j))
        if isinf(self.col_lower[j]) == isinf(self.col_upper[j]):
            return False
        return self.reduced[j] < step if isinf(self.col_upper[j]) else self.reduced[j] > -step

    cdef real inner_cost(self, int j) noexcept nogil:
        cdef real step = INSIDE * max(1.0, fabs(self.cost[j]))
        return self.cost[j] - step if isinf(self.col_upper[j]) else self.cost[j] + step

    cdef void clear_results(self) noexcept nogil:
        cdef int j
        for j in range(self.n_cols):
            self.x[j] = NAN
        memset(self.row_dual, 0, self.n_rows * sizeof(real))

    cdef LpStatus verdict(self, int model_status) noexcept nogil:
        if model_status == STATUS_OPTIMAL or model_status == STATUS_EMPTY:
            return LP_OPTIMAL
        if model_status == STATUS_OBJECTIVE_BOUND:
            return LP_BOUND_REACHED
        if model_status == STATUS_INFEASIBLE and self.proved_infeasible():
            return LP_INFEASIBLE
        if model_status == STATUS_UNBOUNDED:
            return LP_UNBOUNDED
        if model_status == STATUS_INTERRUPT or model_status == STATUS_TIME_LIMIT:
            return LP_INTERRUPTED
        return LP_UNKNOWN

    cdef bint bounds_cross(self) noexcept nogil:
        cdef int i, j
        for j in range(self.n_cols):
            if self.col_lower[j] > self.col_upper[j]:
                return True
        for i in range(self.n_rows):
            if self.row_lower[i] > self.row_upper[i]:
                return True
        return False

    cdef bint proved_infeasible(self) noexcept nogil:
        """Farkas: min 0'x over the rows and columns would be 0, so a positive lower bound leaves no x."""
        cdef int has_ray = 0
        if highs.get_dual_ray(self.solver, &has_ray, self.ray) == -1 or not has_ray:
            return False
        return self.dual_bound(self.ray, False) > 0.0 or (self.has_open_ends() and self.proved_by_inner_ray())

    cdef bint has_open_ends(self) noexcept nogil:
        """Whether the last bound meets infinite ends, of columns that have another: then other duals may not."""
        cdef int j, n = 0
        for j in range(self.n_cols):
            if self.is_open(j):
                if isinf(self.col_lower[j]) and isinf(self.col_upper[j]):
                    return False
                n += 1
        return n > 0

    cdef bint proved_by_inner_ray(self) noexcept nogil:
        """Farkas again, of a ray moved by a trifle to where reduced costs of columns without an end have their signs.

        Where the program leaves its columns no ray of points, there are duals with reduced costs of at least 1 of all
        columns without an end. Leaves the solution undefined, and the next solve cold.
        """
        cdef real step, size = 0, inner = 0
        cdef int i
        if self.inner_duals() != OK:
            return False
        for i in range(self.n_rows):
            size, inner = max(size, fabs(self.ray[i])), max(inner, fabs(self.inside[i]))
        if not (size > 0 and inner > 0 and isfinite(size) and isfinite(inner)):
            return False
        step = LEAST_STEP_INSIDE * size / inner
        while step < size / inner:
            for i in range(self.n_rows):
                self.blend[i] = self.ray[i] + step * self.inside[i]
            if self.dual_bound(self.blend, False) > 0.0:
                return True
            step *= NEXT_STEP_INSIDE
        return False

    cdef int inner_duals(self) noexcept nogil:
        """OUT inside: duals with reduced costs of 1 or more inside their signs, of all columns that have one end.

        They are those of the program with 0 for all finite ends, and costs that ask for a ray. The model is put back.
        """
        cdef real objective_bound = self.objective_bound
        cdef int code
        memcpy(self.found, self.x, self.n_cols * sizeof(real))
        memcpy(self.blend, self.row_dual, self.n_rows * sizeof(real))
        code = self.change_ends(True)
        if code == OK and highs.set_double(self.solver, b"objective_bound", INFINITY) == -1:
            code = LP_FAILED
        if code == OK:
            self.n_lps += 1
            code = self.run()
        if code == OK and highs.model_status(self.solver) != STATUS_OPTIMAL:
            code = LP_FAILED
        memcpy(self.inside, self.row_dual, self.n_rows * sizeof(real))
        memcpy(self.x, self.found, self.n_cols * sizeof(real))
        memcpy(self.row_dual, self.blend, self.n_rows * sizeof(real))
        if (self.change_ends(False) != OK or self.forget_basis() != OK
                or highs.set_double(self.solver, b"objective_bound", objective_bound) == -1):
            self.loaded = False
            return LP_FAILED
        return code

    cdef int change_ends(self, bint homogeneous) noexcept nogil:
        """The model in HiGHS with 0 for all finite ends, or as it is."""
        cdef real low, high, cost
        cdef int i, j
        for j in range(self.n_cols):
            low, high, cost = self.col_lower[j], self.col_upper[j], self.cost[j]
            if homogeneous:
                cost = 0.0 if isinf(low) == isinf(high) else -1.0 if isinf(high) else 1.0
                low, high = nought(low), nought(high)
            if (highs.change_col_bounds(self.solver, j, low, high) == -1
                    or highs.change_col_cost(self.solver, j, cost) == -1):
                return LP_FAILED
        for i in range(self.n_rows):
            low, high = self.row_lower[i], self.row_upper[i]
            if homogeneous:
                low, high = nought(low), nought(high)
            if highs.change_row_bounds(self.solver, i, low, high) == -1:
                return LP_FAILED
        return OK

    # Bounds

    cdef real safe_bound(self) noexcept nogil:
        """Proved lower bound on the optimum of the present model, from the row duals of the last solve.

        Where these meet infinite ends, from no duals: the least costs in the columns' bounds.
        """
        cdef real bound = self.dual_bound(self.row_dual, True)
        self.is_endless = bound == -INFINITY
        return self.dual_bound(NULL, True) if self.is_endless else bound

    cdef real dual_bound(self, const real* y, bint with_cost) noexcept nogil:
        """Lower bound on the optimum (on 0'x without costs) for any y, NULL being 0, whatever rounding does.

        sum_i (y_i > 0 ? y_i row_lower_i : y_i row_upper_i) + sum_j min(d_j col_lower_j, d_j col_upper_j),
        d = cost - A'y, less the rounding errors, which are computed and not estimated (Neumaier & Shcherbina
        2004). -inf where an infinite column bound meets a d_j whose sign is not certain.
        """
        cdef real total = 0.0, error = 0.0, side, d, d_error, bound
        cdef int i, j, k
        for j in range(self.n_cols):
            self.reduced[j] = self.cost[j] if with_cost else 0.0
            self.reduced_error[j] = 0.0

        for i in range(self.n_rows if y != NULL else 0):
            side = self.row_lower[i] if y[i] > 0.0 else self.row_upper[i]
            # y_i = 0 is as valid as any, and the better choice against an infinite side or no number.
            if y[i] == 0.0 or not isfinite(y[i]) or fabs(side) >= HIGHS_INFINITY:
                continue
            add_product(y[i], side, &total, &error)
            for k in range(self.row_start[i], self.row_start[i + 1]):
                j = self.col_index[k]
                add_product(-y[i], self.value[k], &self.reduced[j], &self.reduced_error[j])

        for j in range(self.n_cols):
            d = self.reduced[j]
            d_error = SUM_SLACK * self.reduced_error[j]
            if d == 0.0 and d_error == 0.0:
                continue
            bound = self.col_lower[j] if d > 0.0 else self.col_upper[j]
            if isinf(bound):
                return -INFINITY
            add_product(d, bound, &total, &error)
            if d_error == 0.0:
                continue
            # Where the sign of d_j is not certain, the other bound may be the one that counts.
            if fabs(d) <= d_error:
                bound = max(fabs(self.col_lower[j]), fabs(self.col_upper[j]))
                if isinf(bound):
                    return -INFINITY
            error += d_error * fabs(bound) + UNDERFLOW_ERROR

        # Also where the error is no number.
        if error != 0.0:
            total = nextafter(total - SUM_SLACK * error, -INFINITY)
        return total if isfinite(total) else -INFINITY

    # Memory

    cdef int reserve(self, index n_cols, index n_rows, index nnz) noexcept nogil:
        cdef index room
        # Also keeps n_rows + 1 and nnz within int.
        if n_rows >= 2147483647 or nnz > 2147483647:
            return NO_MEMORY
        if n_cols > self.col_room:
            room = 2 * n_cols
            if (grow(<void**> &self.cost, room, sizeof(real)) != OK
                    or grow(<void**> &self.col_lower, room, sizeof(real)) != OK
                    or grow(<void**> &self.col_upper, room, sizeof(real)) != OK
                    or grow(<void**> &self.x, room, sizeof(real)) != OK
                    or grow(<void**> &self.reduced, room, sizeof(real)) != OK
                    or grow(<void**> &self.moved, room, sizeof(int)) != OK
                    or grow(<void**> &self.found, room, sizeof(real)) != OK
                    or grow(<void**> &self.reduced_error, room, sizeof(real)) != OK):
                return NO_MEMORY
            self.col_room = room
        # row_start needs one entry even without a row.
        if n_rows >= self.row_room:
            room = 2 * n_rows + 1
            if (grow(<void**> &self.row_lower, room, sizeof(real)) != OK
                    or grow(<void**> &self.row_upper, room, sizeof(real)) != OK
                    or grow(<void**> &self.row_start, room + 1, sizeof(int)) != OK
                    or grow(<void**> &self.row_dual, room, sizeof(real)) != OK
                    or grow(<void**> &self.ray, room, sizeof(real)) != OK
                    or grow(<void**> &self.inside, room, sizeof(real)) != OK
                    or grow(<void**> &self.blend, room, sizeof(real)) != OK):
                return NO_MEMORY
            self.row_room = room
        if nnz > self.nnz_room:
            room = 2 * nnz
            if (grow(<void**> &self.col_index, room, sizeof(int)) != OK
                    or grow(<void**> &self.value, room, sizeof(real)) != OK):
                return NO_MEMORY
            self.nnz_room = room
        return OK

    cdef void append_rows(self, int n, const real* lower, const real* upper,
                          int nnz, const int* start, const int* col_index, const real* value) noexcept nogil:
        cdef int i
        memcpy(self.row_lower + self.n_rows, lower, n * sizeof(real))
        memcpy(self.row_upper + self.n_rows, upper, n * sizeof(real))
        memset(self.row_dual + self.n_rows, 0, n * sizeof(real))
        for i in range(n):
            self.row_start[self.n_rows + i] = self.nnz + start[i]
        memcpy(self.col_index + self.nnz, col_index, nnz * sizeof(int))
        memcpy(self.value + self.nnz, value, nnz * sizeof(real))
        self.n_rows += n
        self.nnz += nnz
        self.row_start[self.n_rows] = self.nnz


cdef inline void add_product(real a, real b, real* total, real* error) noexcept nogil:
    """total += a b, and error += what rounding changed, both found exactly (fma and Knuth's TwoSum)."""
    # fma also for the product itself: a compiler may fuse a plain a * b into the sum below.
    cdef real product = fma(a, b, 0.0)
    cdef real old = total[0]
    cdef real new = old + product
    cdef real part = new - old
    error[0] += fabs(fma(a, b, -product)) + fabs((old - (new - part)) + (product - part))
    if fabs(product) < UNDERFLOW and a != 0.0 and b != 0.0:
        error[0] += UNDERFLOW_ERROR
    total[0] = new


cdef void answer_interrupt(int kind, const char* message, const void* out, CallbackIn* answer,
                           void* worker) noexcept nogil:
    # Written on every call: HiGHS does not clear it.
    if answer != NULL:
        answer.user_interrupt = (<LpWorker> worker).signal.poll((<LpWorker> worker).number)


cdef bint valid_rows(int n_cols, int n, const real* lower, const real* upper,
                     int nnz, const int* start, const int* col_index, const real* value) noexcept nogil:
    """Whether rows are well formed: HiGHS accepts NaN, and may read outside an array for a bad index."""
    cdef int i, k
    if n_cols < 0 or n < 0 or nnz < 0 or (n == 0 and nnz > 0) or (n > 0 and start[0] != 0):
        return False
    for i in range(n):
        if isnan(lower[i]) or isnan(upper[i]) or start[i] > (start[i + 1] if i + 1 < n else nnz):
            return False
    for k in range(nnz):
        if col_index[k] < 0 or col_index[k] >= n_cols or not isfinite(value[k]):
            return False
    return True


cdef inline real nought(real end) noexcept nogil:
    """0 for a finite end."""
    return end if fabs(end) >= HIGHS_INFINITY else 0.0


cdef int grow(void** buffer, index n, size_t item_size) noexcept nogil:
    cdef void* grown = realloc(buffer[0], n * item_size)
    if grown == NULL:
        return NO_MEMORY
    buffer[0] = grown
    return OK


# The face shown to Python, for tests and benchmarks

STATUS_NAMES = {
    LP_ERROR: "error",
    LP_OPTIMAL: "optimal",
    LP_BOUND_REACHED: "bound reached",
    LP_INFEASIBLE: "infeasible",
    LP_UNBOUNDED: "unbounded",
    LP_UNKNOWN: "unknown",
    LP_INTERRUPTED: "interrupted",
}


cdef class Lp:
    """A linear program in CSR form and the worker that solves it, on one thread, as a context manager."""

    cdef readonly LpWorker worker

    def __init__(self, cost, start, col_index, value, row_lower, row_upper, col_lower, col_upper):
        self.worker = LpWorker()
        check(self.worker.open())
        self.load(cost, start, col_index, value, row_lower, row_upper, col_lower, col_upper)

    def load(self, cost, start, col_index, value, row_lower, row_upper, col_lower, col_upper):
        """Replace the model; ``start`` has one entry per row, a final one is ignored."""
        cdef const real[::1] c = reals(cost), cl = reals(col_lower), cu = reals(col_upper)
        cdef const real[::1] rl = reals(row_lower), ru = reals(row_upper), v = reals(value)
        cdef const int[::1] s = ints(start), ix = ints(col_index)
        same_length(c, cl, cu)
        same_length(rl, ru, s[:rl.shape[0]])
        same_length(v, ix)
        check(self.worker.load(<int> c.shape[0], <int> rl.shape[0], first(c), first(cl), first(cu), first(rl),
                               first(ru), <int> v.shape[0], first_int(s), first_int(ix), first(v)))

    def add_rows(self, start, col_index, value, lower, upper):
        """Append rows in CSR form."""
        cdef const real[::1] rl = reals(lower), ru = reals(upper), v = reals(value)
        cdef const int[::1] s = ints(start), ix = ints(col_index)
        same_length(rl, ru, s[:rl.shape[0]])
        same_length(v, ix)
        check(self.worker.add_rows(<int> rl.shape[0], first(rl), first(ru), <int> v.shape[0],
                                   first_int(s), first_int(ix), first(v)))

    def set_row_bounds(self, int i, real lower, real upper):
        """Change one row's bounds."""
        check(self.worker.set_row_bounds(i, lower, upper))

    def set_col_bounds(self, int j, real lower, real upper):
        """Change one column's bounds."""
        check(self.worker.set_col_bounds(j, lower, upper))

    def set_cost(self, int j, real cost):
        """Change one column's cost."""
        check(self.worker.set_cost(j, cost))

    def set_costs(self, cost):
        """Change all costs."""
        cdef const real[::1] c = reals(cost)
        cdef int j
        for j in range(self.worker.n_cols):
            if c[j] != self.worker.cost[j]:
                check(self.worker.set_cost(j, c[j]))

    def forget_basis(self):
        """Make the next solve cold."""
        check(self.worker.forget_basis())

    def set_basis(self, statuses):
        """Start the next solve there, cold where it does not fit; HiGHS's statuses of columns and then rows."""
        cdef const int[::1] own = ints(statuses)
        if own.shape[0] == self.worker.n_cols + self.worker.n_rows:
            self.worker.set_basis(first_int(own))

    def set_tolerance(self, real tolerance):
        """Feasibility tolerance, primal and dual."""
        check(self.worker.set_tolerance(tolerance))

    def watch(self, StopSignal signal):
        """Solves end soon after the signal asks for it; None: no longer."""
        self.worker.watch(signal, 0)

    def solve(self, real objective_bound=INFINITY):
        """Solve without the GIL and return the name of the status."""
        cdef LpStatus status
        with nogil:
            status = self.worker.solve(objective_bound)
        return STATUS_NAMES[status]

    def move_ends(self, bint outward):
        """Give HiGHS ends of columns that are further out by a trifle, or the own ones."""
        check(self.worker.move_ends(outward))

    def solve_inside(self):
        """Find other duals where columns without an end keep the last ones from a bound; the name of the status."""
        return STATUS_NAMES[self.worker.solve_inside()]

    def dual_bound(self, y, bint with_cost=True):
        """Proved lower bound from any row duals."""
        cdef const real[::1] duals = reals(y)
        if duals.shape[0] != self.worker.n_rows:
            raise ValueError("one dual per row")
        return self.worker.dual_bound(first(duals), with_cost)

    @property
    def x(self):
        """Column values of the last solve."""
        return np.array([self.worker.x[j] for j in range(self.worker.n_cols)])

    @property
    def row_dual(self):
        """Row duals of the last solve."""
        return np.array([self.worker.row_dual[i] for i in range(self.worker.n_rows)])

    @property
    def ray(self):
        """After "infeasible": multipliers of the rows that show it."""
        return np.array([self.worker.ray[i] for i in range(self.worker.n_rows)])

    @property
    def basis(self):
        """HiGHS's statuses of columns and then rows."""
        cdef int[::1] own = np.zeros(self.worker.n_cols + self.worker.n_rows, np.intc)
        check(self.worker.get_basis(&own[0]))
        return np.asarray(own)

    @property
    def safe_bound(self):
        """Proved lower bound on the optimum."""
        return self.worker.safe_bound()

    @property
    def n_iterations(self):
        """Simplex iterations of the last solve."""
        return self.worker.n_iterations()

    def close(self):
        """Destroy the HiGHS object; on the thread that made it."""
        self.worker.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def solve_lp(cost, start, col_index, value, row_lower, row_upper, col_lower, col_upper,
             objective_bound=INFINITY):
    """Solve one LP from cold; return the name of the status, x, row duals and the proved lower bound."""
    with Lp(cost, start, col_index, value, row_lower, row_upper, col_lower, col_upper) as lp:
        return lp.solve(objective_bound), lp.x, lp.row_dual, lp.safe_bound


def time_solves(Lp lp not None, int n_repeats, bint cold):
    """Solve ``n_repeats`` times inside one call, from cold or after moving row 0's upper bound to and fro."""
    cdef LpWorker worker = lp.worker
    cdef real upper = worker.row_upper[0]
    cdef int repeat
    with nogil:
        for repeat in range(n_repeats):
            if cold:
                worker.forget_basis()
            else:
                worker.set_row_bounds(0, worker.row_lower[0], upper * (1.0 + 0.05 * (repeat & 1)))
            worker.solve(INFINITY)
            worker.safe_bound()
        worker.set_row_bounds(0, worker.row_lower[0], upper)


cdef object reals(values):
    return np.ascontiguousarray(values, dtype=np.float64)


cdef object ints(values):
    return np.ascontiguousarray(values, dtype=np.intc)


cdef const real* first(const real[::1] values) noexcept:
    return &values[0] if values.shape[0] > 0 else NULL


cdef const int* first_int(const int[::1] values) noexcept:
    return &values[0] if values.shape[0] > 0 else NULL


def same_length(*arrays):
    if len({len(array) for array in arrays}) != 1:
        raise ValueError("arrays of an LP disagree in length")


cdef int check(int code) except -1:
    if code == NO_MEMORY:
        raise MemoryError("no memory for an LP")
    if code != OK:
        raise ValueError("HiGHS or gopfast refused the LP or its change")
    return 0
