"""Primal problems of a biconvex problem: alternating minimisation, each half a convex program.

With one group of variables fixed the problem is convex: linear but for convex forms. Those of the objective make it a
quadratic program for HiGHS; where its active set method fails, and for those of rows, tangents at the solutions
approach them in rounds. Where no point is feasible for the values fixed, the feasibility problem (least sum of
violations) is solved instead and the sides are exchanged. Where that ends, too, and for variables on both sides, which
alternation cannot move, the products are linearised at the point and all variables move within a trust region.

Those programs keep rows to a tolerance relative to what their terms can be within the bounds. A point counts only if it
meets the user's rows in the user's units, see `FEASIBLE`: so it is settled at the end. Newton steps, each the shortest
that meets the linearised rows, in units of the point's own coordinates and with the violation for the unit of the rows,
take the violations down to rounding errors. The objective is that of the point settled.

Where that finds no feasible point, now and then where it takes long, and at once where a problem is convex, a solver
for nonlinear programs starts from the same point, and its solution is settled and alternated from.
"""

import numpy as np

from libc.math cimport INFINITY, exp2, fabs, floor, isfinite, log2
from libc.string cimport memcpy

from gopfast.biconvex.data cimport BiconvexData
from gopfast.lp.lp cimport LP_ERROR, LP_OPTIMAL, LP_UNBOUNDED, LP_UNKNOWN, LpStatus, LpWorker
from gopfast.search.relaxation cimport Effort, Primal, no_effort
from gopfast.search.stop cimport StopSignal
from gopfast.search.types cimport LP_FAILED, OK, index, real

cdef real LP_TOLERANCE = 1e-10      # HiGHS takes no smaller one
# Greatest violation of a point that counts as feasible, relative as in `BiconvexProblem.violations`; a fourth of what
# the documents promise, as sizes of terms are rounded here
cdef real FEASIBLE = 0.25e-8
cdef real NEARLY_FEASIBLE = 1e-6    # before a point is settled
cdef real SETTLED = 1e-14           # violations that are rounding errors
cdef real TANGENT_TOLERANCE = 1e-9
cdef real LEFT_BY_TANGENTS = 5e-9   # violations of a row with forms
cdef real CANCELLED = 1e-13         # of the terms' size
cdef int FEW_LPS = 300               # linear programs that improve() may take in any case, and as a share of the others
cdef real SHARE_OF_LPS = 0.5
cdef int MOST_STEPS = 40             # of alternation
cdef int MOST_LINEARISATIONS = 40
cdef int MOST_ROUNDS = 60           # of tangents in one convex problem
cdef int N_TANGENTS = 400
cdef real RAY_ROUNDING = 1e-11      # entries of a ray that are rounding errors of the factorisation
cdef real ROUNDING = 1e-14          # of sums of a few terms
cdef enum:
    N_KEPT = 50                     # tangents from one problem to the next
cdef int MOST_REPAIRS = 5           # of a solution that is not as feasible as asked for
cdef int MOST_CORRECTIONS = 40      # Newton steps; where rows are tangent to each other they converge linearly
cdef real WORTH_A_CORRECTION = 0.7  # share of the violation that a step must not leave
cdef real HARDLY_LESS = 0.999       # share of the violations that alternation must not leave
cdef real FIRST_RADIUS = 0.25       # of the trust region, in the core's units
cdef real LEAST_RADIUS = 1e-11
cdef real WIDER = 2.0               # radius after a step that helped, over the one before,
cdef real NARROWER = 0.25           # and after one that did not
cdef int MOST_HALVINGS = 5          # of a correction that does not help
cdef real ON_BOUND = 1e-10          # distance from a bound, relative to it where that is above 1, that is none
cdef real FALLING = 1e-9            # least fall of the costs along a ray, relative to its terms
cdef int FREE = 2                   # no side is fixed
cdef real PENALTY = 1e3             # of a violation, per unit of the (scaled) objective
cdef index NONLINEAR_EACH = 10_000  # entries of programs that a nonlinear one follows on; more where it has not helped
cdef int FIRST_VAIN = 4             # searches without a feasible point, each followed by a nonlinear program; then 2^k


cdef class AlternatingPrimal(Primal):
    """Multi-start alternating minimisation.

    Parameters
    ----------
    data : BiconvexData
    starts : array (S, n)
        Points to start from, in the core's units.
    given : (n,) array, optional
        A feasible point that is known: the first incumbent, whatever the limits.
    n_lps : int
        Linear programs that it took to find it.
    nonlinear : callable, optional
        ``nonlinear(point)``: a local solution that a nonlinear solver finds from there, (n,), or None.
    """

    def __init__(self, BiconvexData data, starts, given=None, int n_lps=0, nonlinear=None):
        cdef int k, m = data.n_own_rows, n_forms = data.n_cols - data.n - data.n_products
        self.data, self.n_solution, self.has_tolerance = data, data.n, True
        self.divided = True
        self.lp = LpWorker()
        self.starts = np.ascontiguousarray(starts, dtype=np.float64).reshape(-1, data.n)
        self.n_forms, self.n_own_rows = n_forms, m
        self.fixed = np.zeros((3, data.n), np.intc)
        for k in range(data.n):
            self.fixed[0, k], self.fixed[1, k] = data.fixed[0, k], data.fixed[1, k]
            if data.fixed[0, k] and data.fixed[1, k]:
                self.divided = False
        self.n_cols = data.n + n_forms + 2 * m
        self.max_rows = rows = m + n_forms + N_KEPT + N_TANGENTS
        self.given = np.full(data.n, np.nan) if given is None else np.array(given, dtype=np.float64)
        self.n_lps = n_lps
        nnz = 2 * data.row_start[data.n_rows] + 2 * m + (n_forms + N_KEPT + N_TANGENTS) * (data.n + 1)
        nnz = max(nnz, 2 * sum_of_supports(data))
        self.start, self.col_index = np.zeros(rows + 1, np.intc), np.zeros(nnz, np.intc)
        self.value, self.row_lower, self.row_upper = np.zeros(nnz), np.zeros(rows), np.zeros(rows)
        wide = max(self.n_cols, 2 * data.n)
        self.cost, self.col_lower, self.col_upper = np.zeros(wide), np.zeros(wide), np.zeros(wide)
        self.unit = np.zeros(data.n)
        self.coefficient, self.term_size = np.zeros(data.n + n_forms), np.zeros(data.n + n_forms)
        self.gradient = np.zeros(data.n)
        self.lp_row, self.lp_scale = np.zeros(m + 1, np.intc), np.zeros(m + 1)
        self.point, self.trial, self.nonlinear_point = np.zeros(data.n), np.zeros(data.n), np.zeros(data.n)
        self.kept, self.kept_form = np.zeros((N_KEPT, data.n)), np.zeros(N_KEPT, np.intc)
        start, rows, value, blocks = data.objective_hessian(self.n_cols)
        self.n_quadratic = <int> len(value)
        self.quadratic_start, self.quadratic_index, self.quadratic_value = start, rows, value
        self.in_objective = blocks
        # variables on both sides cannot be moved by alternation
        self.nonlinear, self.next_nonlinear = nonlinear, NONLINEAR_EACH if self.divided else 0
        self.is_convex = data.n_products == 0 and any(self.has_form(k) for k in range(m))

    cdef int prepare(self, int n_workers, StopSignal stop) except -1:
        self.stop = stop
        self.lp.watch(stop, 0)
        return 0

    def state(self):
        """How far the starts are used, the share of programs, and the points of tangents."""
        return {
            "turns": np.array([self.next_start, self.n_improving, self.n_kept]), "unbounded": self.unbounded,
            "kept": np.array(self.kept), "kept_form": np.array(self.kept_form),
        }

    def restore(self, state):
        """Take what `state` returned."""
        self.next_start, self.n_improving, self.n_kept = state["turns"].tolist()
        self.unbounded = bool(state["unbounded"])
        np.asarray(self.kept)[:], np.asarray(self.kept_form)[:] = state["kept"], state["kept_form"]

    cdef int open(self) noexcept nogil:
        if self.lp.solver != NULL:
            return OK
        # Unscaled, so that rows hold to the tolerance as they stand
        if (self.lp.open() != OK or self.lp.set_tolerance(LP_TOLERANCE) != OK or self.lp.forbid_scaling() != OK
                or self.lp.limit_iterations_by(self.n_cols + self.max_rows) != OK):
            self.lp.close()
            return LP_FAILED
        return OK

    # What the search asks for

    cdef real first(self, real tolerance, real *solution, Effort *effort) noexcept nogil:
        """Starts until a point is feasible; improve() takes the others, as the root may not need them."""
        cdef real best = self.value_of(&self.given[0])
        if best < INFINITY:
            memcpy(solution, &self.given[0], self.data.n * sizeof(real))
            effort.n_lps += self.n_lps
        while self.next_start < self.starts.shape[0] and not isfinite(best) and not self.unbounded:
            if self.stop.poll(0):
                break
            best = self.search(&self.starts[self.next_start, 0], tolerance, solution, effort)
            self.next_start += 1
        return best

    cdef real improve(self, const real *point, const real *weights, real target, real tolerance, real *solution,
                      Effort *effort) noexcept nogil:
        """From the point; if that is no better than the target, from the next start.

        Not while local searches have taken more than their share of all programs; without an incumbent always.
        """
        cdef real value
        cdef index before = effort.n_lps
        if before < self.n_seen:  # a part of a tree, whose counts begin at 0
            self.n_improving = 0
        self.n_seen = before
        if isfinite(target) and self.n_improving > FEW_LPS + SHARE_OF_LPS * (before - self.n_improving):
            return INFINITY
        value = self.search(point, tolerance, solution, effort)
        if not value < target and self.next_start < self.starts.shape[0]:
            value = self.search(&self.starts[self.next_start, 0], tolerance, solution, effort)
            self.next_start += 1
        self.n_improving += effort.n_lps - before
        return value

    cdef real polish(self, real *solution, Effort *effort) noexcept nogil:
        """The convex problems of the incumbent once more; search() leaves nothing to do but that."""
        if not isfinite(solution[0]):
            return INFINITY
        if self.open() != OK:
            return INFINITY
        self.alternate(solution, 0, 0, effort)
        return -INFINITY if self.unbounded else self.settle(solution, effort)

    cdef real search(self, const real *point, real tolerance, real *solution, Effort *effort) noexcept nogil:
        """Local search from a point, either side fixed first, then all free; OUT solution, its objective or inf."""
        cdef real best = INFINITY, value
        cdef int stage, n = self.data.n
        if self.open() != OK:
            return INFINITY
        if self.is_convex and self.nonlinear is not None:
            best = self.search_nonlinear(point, tolerance, solution, effort)
            if best < INFINITY:
                return best
        for stage in range(3):
            if self.stop.poll(0):
                break
            memcpy(&self.trial[0], solution if stage == FREE and best < INFINITY else point, n * sizeof(real))
            if stage == FREE:
                # Alternation stops wherever neither side can improve alone
                self.linearise(&self.trial[0], tolerance, effort)
            self.alternate(&self.trial[0], stage % 2, tolerance, effort)
            if self.unbounded:
                memcpy(solution, &self.trial[0], n * sizeof(real))
                return -INFINITY
            value = self.settle(&self.trial[0], effort)
            if value < best:
                best = value
                memcpy(solution, &self.trial[0], n * sizeof(real))
        if self.wants_nonlinear(best < INFINITY):
            for stage in range(2):
                # from the point, and where that does not help from what alternation found and could not move
                if stage == 1 and (self.divided or not best < INFINITY):
                    break
                value = self.search_nonlinear(solution if stage == 1 else point, tolerance, &self.trial[0], effort)
                if value == -INFINITY or value < best - tolerance:
                    # it may help again
                    self.next_nonlinear = self.work + max(NONLINEAR_EACH, self.work // 2)
                    memcpy(solution, &self.trial[0], n * sizeof(real))
                    return value
        return best

    # A solver for nonlinear programs, in Python

    cdef bint wants_nonlinear(self, bint found) noexcept nogil:
        """Whether it is its turn after a search that found a feasible point, or none."""
        if self.nonlinear is None or self.stop.poll(0):
            return False
        if not found:
            self.n_vain += 1
            if self.n_vain <= FIRST_VAIN or self.n_vain & (self.n_vain - 1) == 0:
                return True
        if self.work < self.next_nonlinear:
            return False
        self.next_nonlinear = 2 * self.work
        return True

    cdef real search_nonlinear(self, const real *point, real tolerance, real *solution, Effort *effort) noexcept nogil:
        """A local solution, settled and alternated from. OUT solution (not the trial's place), its objective or inf."""
        cdef real best, value
        cdef int side, n = self.data.n
        with gil:
            if not self.find_nonlinear(point):
                return INFINITY
        best = self.settle(&self.nonlinear_point[0], effort)
        memcpy(solution, &self.nonlinear_point[0], n * sizeof(real))
        if self.is_convex:
            return best
        for side in range(2):
            memcpy(&self.nonlinear_point[0], solution, n * sizeof(real))
            self.alternate(&self.nonlinear_point[0], side, tolerance, effort)
            if self.unbounded:
                memcpy(solution, &self.nonlinear_point[0], n * sizeof(real))
                return -INFINITY
            value = self.settle(&self.nonlinear_point[0], effort)
            if value < best:
                best = value
                memcpy(solution, &self.nonlinear_point[0], n * sizeof(real))
        return best

    cdef bint find_nonlinear(self, const real *point) noexcept:
        """OUT nonlinear_point: the solver's; whether there is one. What it raises ends the search."""
        cdef int j, n = self.data.n
        cdef real[::1] x
        try:
            found = self.nonlinear(np.array([point[j] for j in range(n)]))
            if found is None:
                return False
            x = found
            for j in range(n):
                self.nonlinear_point[j] = x[j]
            return True
        except BaseException as error:
            self.stop.caught(error)
        return False

    # Local searches

    cdef real alternate(self, real *z, int first, real tolerance, Effort *effort) noexcept nogil:
        """Fix one side and solve for the rest, back and forth. IN/OUT z; returns its objective, inf: not feasible."""
        cdef real best = INFINITY, value = INFINITY, violation = INFINITY, last
        cdef int _step, side = first, idle = 0
        cdef LpStatus status
        for _step in range(MOST_STEPS):
            if self.stop.poll(0):
                break
            status = self.solve(side, z, 0, INFINITY, effort)
            if status == LP_UNBOUNDED and self.ray_is_proof():
                # A ray of a problem that has a feasible point
                if self.solve(side, z, PENALTY, INFINITY, effort) == LP_OPTIMAL:
                    self.take(z)
                    self.unbounded = self.settle(z, effort) < INFINITY
            if self.unbounded:
                return -INFINITY
            if status == LP_OPTIMAL:
                self.take(z)
                # what programs leave of violations is settled at the end
                value = self.data.objective(z) if self.data.violation(z) <= NEARLY_FEASIBLE else INFINITY
                idle = 0 if value < best - tolerance else idle + 1
                best = min(best, value)
            elif best == INFINITY:
                # What both sides hold would never move: Newton's steps move all
                if self.solve(side if self.divided else FREE, z, PENALTY, INFINITY, effort) != LP_OPTIMAL:
                    break
                self.take(z)
                last, violation = violation, self.merit(z, 1)
                idle = 0 if violation < HARDLY_LESS * last else idle + 1
            else:
                break
            # Both sides have been tried in vain
            if idle >= 2:
                break
            side = 1 - side
        return value

    cdef real linearise(self, real *z, real tolerance, Effort *effort) noexcept nogil:
        """Sequential linear programming with an exact penalty and a trust region. IN/OUT z; as alternate()."""
        cdef real radius = FIRST_RADIUS, now = self.merit(z, PENALTY), then
        cdef int _step, n = self.data.n
        for _step in range(MOST_LINEARISATIONS):
            if radius < LEAST_RADIUS or self.stop.poll(0):
                break
            if self.solve(FREE, z, PENALTY, radius, effort) != LP_OPTIMAL or self.foreseen(z, now) <= tolerance:
                break
            memcpy(&self.point[0], z, n * sizeof(real))
            self.take(z)
            then = self.merit(z, PENALTY)
            if then < now:
                radius *= WIDER
                if now - then <= tolerance and self.data.violation(z) <= NEARLY_FEASIBLE:
                    break
                now = then
            else:
                memcpy(z, &self.point[0], n * sizeof(real))
                radius *= NARROWER
        return self.value_of(z)

    cdef real foreseen(self, const real *z, real merit) noexcept nogil:
        """By how much the linearised problem's solution is better than z."""
        cdef int j
        cdef real total = merit - self.data.objective(z)
        for j in range(self.n_cols):
            if j < self.data.n:
                total -= self.cost[j] * (self.lp.x[j] - z[j])
            elif j < self.data.n + self.n_forms:
                total -= self.cost[j] * (self.lp.x[j] - self.data.block_at(j - self.data.n, z))
            else:
                total -= self.cost[j] * self.lp.x[j]
        return total

    cdef real merit(self, const real *z, real penalty) noexcept nogil:
        """Objective and penalised violations; violations alone for penalty 1."""
        cdef real total = 0
        cdef int row
        for row in range(self.n_own_rows):
            total += self.data.row_excess(row, z)
        return total if penalty == 1 else self.data.objective(z) + penalty * total

    cdef real value_of(self, const real *z) noexcept nogil:
        """Objective of a feasible point, rounded up."""
        if not self.data.violation(z) <= FEASIBLE:
            return INFINITY
        return self.data.objective(z) + self.data.objective_error(z)

    # Settling: a point that meets the user's rows

    cdef real settle(self, real *z, Effort *effort) noexcept nogil:
        """Corrects a point until the user's rows hold. IN/OUT z; returns its objective, inf: not feasible."""
        cdef real violation, share
        cdef int _step
        self.data.clip(z)
        violation = self.data.violation(z)
        for _step in range(MOST_CORRECTIONS):
            if not SETTLED < violation < INFINITY or self.stop.poll(0):
                break
            self.set_units(z)
            if self.load_repair(z, &share) != OK:
                break
            effort.n_lps += 1
            if self.lp.solve_or_restart(INFINITY) != LP_OPTIMAL:
                break
            share = self.step(z, share, violation)
            if share > WORTH_A_CORRECTION * violation:
                break
            violation = share
        return self.value_of(z)

    cdef void set_units(self, const real *z) noexcept nogil:
        """OUT unit: the size of each coordinate, but at least what it alone needs to mend one of its rows."""
        cdef int row, j
        cdef real excess
        for j in range(self.data.n):
            self.unit[j] = INFINITY
        for row in range(self.n_own_rows):
            excess = self.data.row_excess(row, z)
            if not excess > 0:
                continue
            self.data.add_gradient(row, z, &self.gradient[0])
            for j in range(self.data.n):
                if self.gradient[j] != 0:
                    self.unit[j] = min(self.unit[j], excess / fabs(self.gradient[j]))
                self.gradient[j] = 0
        for j in range(self.data.n):
            if self.unit[j] == INFINITY:
                self.unit[j] = 1 if z[j] == 0 else 0
            self.unit[j] = max(self.unit[j], fabs(z[j]))
            if self.data.low[j] == self.data.high[j] or not isfinite(self.unit[j]):
                self.unit[j] = 0

    cdef int load_repair(self, const real *z, real *share) noexcept nogil:
        """The least sum of corrections, in their units, that meets the rows linearised at z.

        OUT share: the columns' unit, the greatest violation of a row with coefficients scaled to 1.
        """
        cdef int row, j, n = self.data.n, part
        cdef real value, greatest, size, worst = 0
        self.n_rows = self.nnz = 0
        for row in range(self.n_own_rows):
            value = self.data.add_gradient(row, z, &self.gradient[0])
            greatest = 0
            for j in range(n):
                greatest = max(greatest, fabs(self.gradient[j]) * self.unit[j])
            self.start[self.n_rows] = self.nnz
            for j in range(n):
                size = self.gradient[j] * self.unit[j]
                self.gradient[j] = 0
                if fabs(size) <= CANCELLED * greatest:
                    continue
                for part in range(2):
                    self.col_index[self.nnz] = 2 * j + part
                    self.value[self.nnz] = size / greatest if part == 0 else -size / greatest
                    self.nnz += 1
            if self.nnz == self.start[self.n_rows]:
                continue
            self.row_lower[self.n_rows] = (self.data.row_lower[row] - value) / greatest
            self.row_upper[self.n_rows] = (self.data.row_upper[row] - value) / greatest
            worst = max(worst, max(self.row_lower[self.n_rows], -self.row_upper[self.n_rows]))
            self.n_rows += 1
        if not 0 < worst < INFINITY:
            return LP_FAILED
        share[0] = worst = min(worst, 1.0)
        for row in range(self.n_rows):
            self.row_lower[row] /= worst
            self.row_upper[row] /= worst
        for j in range(n):
            for part in range(2):
                self.cost[2 * j + part], self.col_lower[2 * j + part], self.col_upper[2 * j + part] = 1, 0, 0
            if self.unit[j] > 0:
                self.col_upper[2 * j] = (self.data.high[j] - z[j]) / self.unit[j] / worst
                self.col_upper[2 * j + 1] = (z[j] - self.data.low[j]) / self.unit[j] / worst
        return self.lp.load(2 * n, self.n_rows, &self.cost[0], &self.col_lower[0], &self.col_upper[0],
                            &self.row_lower[0], &self.row_upper[0], self.nnz, &self.start[0], &self.col_index[0],
                            &self.value[0])

    cdef real step(self, real *z, real share, real violation) noexcept nogil:
        """Takes the correction, halved while it does not help. IN/OUT z; returns the violation there."""
        cdef real length = 1, now
        cdef int j, _attempt, n = self.data.n
        memcpy(&self.point[0], z, n * sizeof(real))
        for _attempt in range(MOST_HALVINGS):
            for j in range(n):
                z[j] = self.point[j] + length * share * self.unit[j] * (self.lp.x[2 * j] - self.lp.x[2 * j + 1])
            self.data.clip(z)
            now = self.data.violation(z)
            if now < violation:
                return now
            length *= 0.5
        memcpy(z, &self.point[0], n * sizeof(real))
        return violation

    cdef void take(self, real *z) noexcept nogil:
        """The solution of the last program, on a bound where it is as good as there."""
        cdef int j
        cdef real low, high, x
        for j in range(self.data.n):
            low, high, x = self.data.low[j], self.data.high[j], self.lp.x[j]
            if x < low + ON_BOUND * max(1.0, fabs(low)):
                x = low
            if x > high - ON_BOUND * max(1.0, fabs(high)):
                x = high
            z[j] = self.lp.x[j] = x

    # Convex problems

    cdef LpStatus solve(self, int side, const real *z, real penalty, real radius, Effort *effort) noexcept nogil:
        """One side fixed at z (or products linearised there); penalty > 0 lets rows be violated for it.

        Without a radius the penalised problem is that of feasibility, which has no other costs.
        """
        cdef LpStatus status
        cdef int _attempt
        if self.load(side, z, penalty, radius) != OK:
            return LP_ERROR
        self.work += self.nnz
        if self.n_quadratic > 0 and side != FREE and penalty == 0:
            status = self.solve_quadratic(effort)
            if status == LP_OPTIMAL:
                return status
            if self.load(side, z, penalty, radius) != OK:
                return LP_ERROR
        status = self.lp.solve_or_restart(INFINITY)
        effort.n_lps += 1
        # Linearised, the forms are, too: by their tangents at z.
        if side != FREE and self.n_forms > 0:
            for _attempt in range(MOST_ROUNDS):
                if status != LP_OPTIMAL or self.add_tangents() == 0 or self.stop.poll(0):
                    break
                status = self.lp.solve_or_restart(INFINITY)
                effort.n_lps += 1
        if side != FREE and penalty == 0:
            for _attempt in range(MOST_REPAIRS):
                if status != LP_OPTIMAL or self.step_back() == 0:
                    break
                status = self.lp.solve_or_restart(INFINITY)
                effort.n_lps += 1
        return status

    cdef LpStatus solve_quadratic(self, Effort *effort) noexcept nogil:
        """The loaded problem with the objective's forms as they are; other than LP_OPTIMAL: tangents must do.

        HiGHS's active set method can fail on a singular form, and need not keep to rows as closely as is asked for.
        """
        cdef LpStatus status
        cdef int b, _attempt, i
        for b in range(self.n_forms):
            if self.in_objective[b]:
                self.lp.set_cost(self.data.n + b, 0)
                # its tangents say nothing then
                self.lp.set_col_bounds(self.data.n + b, -INFINITY, INFINITY)
        for _attempt in range(MOST_ROUNDS):
            status = self.lp.solve_quadratic(
                self.n_quadratic, &self.quadratic_start[0], &self.quadratic_index[0], &self.quadratic_value[0],
                100 + 5 * (self.n_cols + self.n_rows))
            effort.n_lps += 1
            if status != LP_OPTIMAL:
                return status
            for b in range(self.n_forms):
                if self.in_objective[b]:
                    self.lp.x[self.data.n + b] = self.data.block_at(b, self.lp.x)
            if self.add_tangents() == 0 or self.stop.poll(0):
                break
        for i in range(self.n_rows):
            if fabs(self.excess(i)) > 2 * LP_TOLERANCE:
                return LP_UNKNOWN
        return LP_OPTIMAL

    cdef int step_back(self) noexcept nogil:
        """Moves the bounds of rows that HiGHS's solution violates, beyond its tolerance at times; how many."""
        cdef int i, moved = 0
        cdef real over
        for i in range(self.n_rows):
            over = self.excess(i)
            if fabs(over) <= 2 * LP_TOLERANCE:
                continue
            moved += 1
            if self.row_lower[i] == self.row_upper[i]:
                self.lp.set_row_bounds(i, self.lp.row_lower[i] - over, self.lp.row_upper[i] - over)
            elif over > 0:
                self.lp.set_row_bounds(i, min(self.lp.row_lower[i], self.lp.row_upper[i] - 2 * over),
                                       self.lp.row_upper[i] - 2 * over)
            else:
                self.lp.set_row_bounds(i, self.lp.row_lower[i] - 2 * over,
                                       max(self.lp.row_upper[i], self.lp.row_lower[i] - 2 * over))
        return moved

    cdef real excess(self, int row) noexcept nogil:
        """By how much the solution is above a row's upper bound (below its lower: negative), 0 within."""
        cdef real activity = 0
        cdef int k
        for k in range(self.start[row], self.start[row + 1]):
            activity += self.value[k] * self.lp.x[self.col_index[k]]
        return max(0.0, activity - self.row_upper[row]) - max(0.0, self.row_lower[row] - activity)

    cdef int load(self, int side, const real *z, real penalty, real radius) noexcept nogil:
        cdef int row, t
        cdef real constant, size
        self.n_rows = self.nnz = 0
        self.set_columns(side, z, penalty, radius)
        for row in range(self.n_own_rows):
            constant = self.add_row(row, side, z, False)
            self.lp_row[row], self.lp_scale[row] = self.n_rows, self.row_scale
            if self.nnz == self.start[self.n_rows]:
                # nothing of the row is left: it holds or not whatever this problem does
                size = FEASIBLE * self.data.row_size(row, z)
                if penalty == 0 and (self.data.row_lower[row] > constant + size
                                     or self.data.row_upper[row] < constant - size):
                    return LP_FAILED
                self.lp_row[row] = -1
                continue
            # What tangents left of the last solution's violation must not make this problem infeasible
            size = self.data.row_excess(row, z) if penalty == 0 and self.has_form(row) else 0
            if not size <= LEFT_BY_TANGENTS:
                size = 0
            self.row_lower[self.n_rows] = (self.data.row_lower[row] - constant - size) * self.row_scale
            self.row_upper[self.n_rows] = (self.data.row_upper[row] - constant + size) * self.row_scale
            if penalty > 0:
                for t in range(2):
                    self.col_index[self.nnz] = self.data.n + self.n_forms + 2 * row + t
                    self.value[self.nnz] = self.row_scale if t == 0 else -self.row_scale
                    self.nnz += 1
            self.n_rows += 1
        if penalty == 0 or radius < INFINITY:
            self.add_row(self.data.n_rows - 1, side, z, True)
        for t in range(self.n_forms):
            self.add_tangent(t, z)
        if side != FREE:
            for t in range(min(self.n_kept, <int> N_KEPT)):
                self.add_tangent(self.kept_form[t], &self.kept[t, 0])
        self.start[self.n_rows] = self.nnz
        return self.lp.load(self.n_cols, self.n_rows, &self.cost[0], &self.col_lower[0], &self.col_upper[0],
                            &self.row_lower[0], &self.row_upper[0], self.nnz, &self.start[0], &self.col_index[0],
                            &self.value[0])

    cdef bint has_form(self, int row) noexcept nogil:
        cdef int e
        for e in range(self.data.row_start[row], self.data.row_start[row + 1]):
            if self.data.row_index[e] >= self.data.n + self.data.n_products:
                return True
        return False

    cdef void set_columns(self, int side, const real *z, real penalty, real radius) noexcept nogil:
        cdef int j
        for j in range(self.n_cols):
            self.cost[j] = self.col_lower[j] = 0
            self.col_upper[j] = INFINITY
        for j in range(self.data.n):
            self.col_lower[j], self.col_upper[j] = self.data.low[j], self.data.high[j]
            if self.fixed[side, j]:
                self.col_lower[j] = self.col_upper[j] = min(self.data.high[j], max(self.data.low[j], z[j]))
            elif radius < INFINITY:
                self.col_lower[j] = min(self.data.high[j], max(self.data.low[j], z[j] - radius))
                self.col_upper[j] = max(self.data.low[j], min(self.data.high[j], z[j] + radius))
        for j in range(2 * self.n_own_rows):
            if penalty > 0:
                self.cost[self.data.n + self.n_forms + j] = penalty if radius < INFINITY else 1
            else:
                self.col_upper[self.data.n + self.n_forms + j] = 0

    cdef real add_row(self, int row, int side, const real *z, bint is_cost) noexcept nogil:
        """Adds a row with products evaluated; returns its constant. Scaled anew: what is left may be tiny."""
        cdef int e, column, i, j
        cdef real a, constant = 0, greatest = 0, x
        for e in range(self.data.row_start[row], self.data.row_start[row + 1]):
            column, a = self.data.row_index[e], self.data.row_value[e]
            if column < self.data.n:
                self.add_term(column, a)
            elif column >= self.data.n + self.data.n_products:
                self.add_term(column - self.data.n_products, a)
            else:
                i, j = self.data.first[column - self.data.n], self.data.second[column - self.data.n]
                if self.fixed[side, i]:
                    self.add_term(j, a * self.col_lower[i])
                elif self.fixed[side, j]:
                    self.add_term(i, a * self.col_lower[j])
                else:
                    self.add_term(i, a * z[j])
                    self.add_term(j, a * z[i])
                    constant -= a * z[i] * z[j]
        # Entries in the order of the row: each column once, as its coefficient is taken away
        self.start[self.n_rows] = self.nnz
        for e in range(self.data.row_start[row], self.data.row_start[row + 1]):
            column = self.data.row_index[e]
            if self.data.n <= column < self.data.n + self.data.n_products:
                i, j = self.data.first[column - self.data.n], self.data.second[column - self.data.n]
            else:
                i = j = column if column < self.data.n else column - self.data.n_products
            for column in range(2):
                if column == 1:
                    if i == j:
                        break
                    i = j
                x = self.coefficient[i]
                # what terms leave that cancel is rounding, and would fill the row once scaled
                if fabs(x) <= CANCELLED * self.term_size[i]:
                    x = 0
                self.coefficient[i] = self.term_size[i] = 0
                if x == 0:
                    continue
                if is_cost:
                    self.cost[i] += x
                elif self.col_lower[i] == self.col_upper[i]:
                    constant += x * self.col_lower[i]
                else:
                    self.col_index[self.nnz], self.value[self.nnz] = i, x
                    self.nnz += 1
                    greatest = max(greatest, fabs(x))
        self.row_scale = exp2(-floor(log2(greatest))) if greatest > 0 else 1
        for e in range(self.start[self.n_rows], self.nnz):
            self.value[e] *= self.row_scale
        return constant

    cdef inline void add_term(self, int column, real value) noexcept nogil:
        self.coefficient[column] += value
        self.term_size[column] += fabs(value)

    cdef void add_tangent(self, int block, const real *at) noexcept nogil:
        cdef int k, i
        self.data.block_gradient(block, at, &self.gradient[0])
        self.start[self.n_rows] = self.nnz
        self.col_index[self.nnz], self.value[self.nnz] = self.data.n + block, 1
        self.nnz += 1
        for k in range(self.data.block_start[block], self.data.block_start[block + 1]):
            i = self.data.block_i[k]
            if self.gradient[i] != 0:
                self.col_index[self.nnz], self.value[self.nnz] = i, -self.gradient[i]
                self.nnz += 1
                self.gradient[i] = 0
        self.row_lower[self.n_rows], self.row_upper[self.n_rows] = -self.data.block_at(block, at), INFINITY
        self.n_rows += 1

    cdef int add_tangents(self) noexcept nogil:
        """Adds a tangent at the solution to every form that it undercuts; how many."""
        cdef int b, i, first = self.n_rows, first_entry = self.nnz, n
        for b in range(self.n_forms):
            if self.n_rows == self.max_rows:
                break
            if self.data.block_at(b, self.lp.x) - self.lp.x[self.data.n + b] > TANGENT_TOLERANCE:
                self.add_tangent(b, self.lp.x)
                # The next problems differ little: they start with the latest
                self.kept_form[self.n_kept % N_KEPT] = b
                memcpy(&self.kept[self.n_kept % N_KEPT, 0], self.lp.x, self.data.n * sizeof(real))
                self.n_kept += 1
        n = self.n_rows - first
        if n == 0:
            return 0
        for i in range(n):
            self.start[first + i] -= first_entry
        i = self.lp.add_rows(n, &self.row_lower[first], &self.row_upper[first], self.nnz - first_entry,
                             &self.start[first], &self.col_index[first_entry], &self.value[first_entry])
        for i in range(first, self.n_rows):
            self.start[i] += first_entry
        self.start[self.n_rows] = self.nnz
        self.work += self.nnz
        return n

    cdef bint ray_is_proof(self) noexcept nogil:
        """Whether the last program's ray, or one along an axis, is one of the problem: rows hold and costs fall."""
        cdef int j, k
        cdef real *ray = self.lp.x
        if self.lp.unbounded_ray():
            return self.is_ray(ray)
        # HiGHS gives no ray where there are no rows
        for j in range(self.data.n):
            if self.cost[j] == 0:
                continue
            for k in range(self.n_cols):
                ray[k] = 0
            ray[j] = -1 if self.cost[j] > 0 else 1
            if self.is_ray(ray):
                return True
        return False

    cdef bint is_ray(self, real *ray) noexcept nogil:
        """Whether rows hold along a ray, but for rounding, and costs fall. IN/OUT ray: what is rounding becomes 0."""
        cdef int i, k, j
        cdef real along, size, fall = 0, magnitude = 0, greatest = 0
        for j in range(self.n_cols):
            greatest = max(greatest, fabs(ray[j]))
        for j in range(self.n_cols):
            if fabs(ray[j]) <= RAY_ROUNDING * greatest:
                ray[j] = 0
            # forms and violations must not grow: then the tangents' rows say nothing about the forms
            if j >= self.data.n and ray[j] != 0:
                return False
            if (ray[j] < 0 and isfinite(self.col_lower[j])) or (ray[j] > 0 and isfinite(self.col_upper[j])):
                return False
            fall += self.cost[j] * ray[j]
            magnitude += fabs(self.cost[j] * ray[j])
        for j in range(self.n_forms):
            if fabs(self.data.block_at(j, ray)) > ROUNDING * self.data.block_size(j, ray):
                return False
        for i in range(self.n_rows):
            along = size = 0
            for k in range(self.start[i], self.start[i + 1]):
                along += self.value[k] * ray[self.col_index[k]]
                size += fabs(self.value[k] * ray[self.col_index[k]])
            if ((along > ROUNDING * size and isfinite(self.row_upper[i]))
                    or (along < -ROUNDING * size and isfinite(self.row_lower[i]))):
                return False
        return fall < -FALLING * magnitude

    def run(self, real tolerance, StopSignal stop=None):
        """first(), outside a search: value (inf: nothing found, -inf: unbounded), point; `n_lps` counts programs."""
        cdef real[::1] solution = np.full(self.data.n, np.nan)
        cdef Effort effort = no_effort()
        cdef real value
        self.prepare(1, StopSignal() if stop is None else stop)
        with nogil:
            value = self.first(tolerance, &solution[0], &effort)
        self.stop.reraise()
        self.n_lps = effort.n_lps
        return value, np.array(solution)

    @property
    def has_given(self):
        """Whether the point given is feasible: only then is it the first incumbent."""
        return self.value_of(&self.given[0]) < INFINITY

    def close(self):
        """Release HiGHS; on the thread that ran the search."""
        self.lp.close()


cdef int sum_of_supports(BiconvexData data):
    """At least the number of entries of all rows' gradients."""
    cdef int row, e, b, total = 0
    for row in range(data.n_own_rows):
        for e in range(data.row_start[row], data.row_start[row + 1]):
            total += 2
            if data.row_index[e] >= data.n + data.n_products:
                b = data.own_block(data.row_index[e])
                total += data.block_start[b + 1] - data.block_start[b]
    return total
