"""Primal problems of a biconvex problem: alternating minimisation, each half a convex program.

With one group of variables fixed the problem is convex (`convex_programs`). Where no point is feasible for the values
fixed, the feasibility problem (least sum of violations) is solved instead and the sides are exchanged. Where that ends,
too, and for variables on both sides, which alternation cannot move, the products are linearised at the point and all
variables move within a trust region. A point counts only if it meets the user's rows in the user's units, so that it
is settled at the end (`settling`); the objective is that of the point settled.

Where that finds no feasible point, now and then where it takes long, and at once where a problem is convex, a solver
for nonlinear programs starts from the same point, and its solution is settled and alternated from. So it is, and before
alternation, where variables are functions of others; what follows others has its value in the end.

Theory: (X9) of docs/theory/biconvex.md.
"""
from functools import partial

import numpy as np

from gopfast.search import entries

from libc.math cimport INFINITY, isfinite
from libc.string cimport memcpy

from gopfast.biconvex.convex_programs cimport FREE
from gopfast.biconvex.data cimport BiconvexData
from gopfast.biconvex.settling cimport Settling
from gopfast.biconvex.start_kinds cimport DRAWS, NODES, N_KINDS
from gopfast.biconvex.tuning cimport (
    DRAWN_EACH, FEW_LPS, FIRST_RADIUS, FIRST_VAIN, FREE_ITERATIONS, HARDLY_LESS, LEAST_RADIUS, MOST_LINEARISATIONS,
    MOST_STEPS, NARROWER, NEARLY_FEASIBLE, NEAR_SHARE, NONLINEAR_EACH, PENALTY, SHARE_OF_ITERATIONS, SHARE_OF_LPS,
    SMALL_NONLINEAR, WIDER,
)
from gopfast.lp.lp cimport LP_OPTIMAL, LP_UNBOUNDED, LpStatus
from gopfast.search.endings cimport CONVERGED, FAILED, GIVEN_UP, OUT_OF_STEPS, OUT_OF_TIME, Endings
from gopfast.search.meter cimport Meter
from gopfast.search.relaxation cimport Effort, no_effort
from gopfast.search.stop cimport StopSignal
from gopfast.search.types cimport OK, index, real

MOST_FINITE = np.finfo(np.float64).max
cdef int MOST_TURNS = 1 << 30       # that a file may say


cdef class AlternatingPrimal(Settling):
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
        ``nonlinear(point, near=True)``: a local solution that a nonlinear solver finds from there, (n,), or None; it
        need not be near the point where `near` is False.
    kinds : array of int (S,), optional
        What kind of start each is, as a number of `start_kinds.KINDS`; draws by default.
    complete : callable, optional
        ``complete(point)``: the point, (n,), whose variables that follow others have their values, or None.
    budget : Meter, optional
        Counts local searches that are left out as others have taken their share; None: none is.
    """

    def __init__(self, BiconvexData data, starts, given=None, int n_lps=0, nonlinear=None, kinds=None, complete=None,
                 Meter budget=None):
        cdef int k
        self.n_solution, self.has_tolerance = data.n, True
        self.reserve(data)
        self.starts = np.ascontiguousarray(starts, dtype=np.float64).reshape(-1, data.n)
        self.kinds = np.full(self.starts.shape[0], DRAWS, np.int8) if kinds is None else np.array(kinds, np.int8)
        self.drawn = np.flatnonzero(np.asarray(self.kinds) == DRAWS)
        self.endings = Endings(N_KINDS)
        self.given = np.full(data.n, np.nan) if given is None else np.array(given, dtype=np.float64)
        self.n_lps, self.budget = n_lps, budget
        self.trial, self.nonlinear_point = np.zeros(data.n), np.zeros(data.n)
        self.direction = np.zeros(data.n)
        # variables on both sides cannot be moved by alternation
        self.divided = not any(data.fixed[0, k] and data.fixed[1, k] for k in range(data.n))
        self.complete = complete
        self.drawn_each = DRAWN_EACH * max(1.0, ((data.n + data.n_own_rows) / SMALL_NONLINEAR)**2)
        self.anywhere = None if nonlinear is None else partial(nonlinear, near=False)
        self.nonlinear, self.next_nonlinear = nonlinear, NONLINEAR_EACH if self.divided else 0
        self.has_linear_rows = all(data.row_index[k] < data.n for k in range(data.row_start[data.n_own_rows]))
        self.is_polyhedral = self.divided and self.has_linear_rows
        self.is_convex = data.n_products == data.n_atoms == 0 and any(self.has_form(k) for k in range(data.n_own_rows))

    cdef int prepare(self, int n_workers, StopSignal stop) except -1:
        self.stop = stop
        self.lp.watch(stop, 0)
        return 0

    def state(self):
        """How far starts are used, the share of programs, the points of tangents, and the ray if there is one."""
        return {
            "turns": np.array([self.next_start, self.n_drawn, self.n_improving, self.n_iterations, self.n_kept]),
            "unbounded": self.unbounded, "ray": np.array(self.direction),
            "kept": np.array(self.kept), "kept_form": np.array(self.kept_form), **self.endings.state(),
        }

    def restore(self, state):
        """Take what `state` returned."""
        cdef int n_blocks = self.data.n_blocks
        self.next_start, self.n_drawn, self.n_improving, self.n_iterations, self.n_kept = entries.array(
            state, "turns", (5,), "i", 0, MOST_TURNS).tolist()
        if self.next_start > self.starts.shape[0] or self.n_drawn > self.drawn.shape[0]:
            raise entries.EntryError(f"turns must be of {self.starts.shape[0]} starts; they are {self.next_start}")
        self.unbounded = entries.flag(state, "unbounded")
        np.asarray(self.direction)[:] = entries.array(state, "ray", (self.data.n,), "f", -MOST_FINITE, MOST_FINITE)
        np.asarray(self.kept)[:] = entries.array(state, "kept", np.shape(self.kept))
        np.asarray(self.kept_form)[:] = entries.array(
            state, "kept_form", np.shape(self.kept_form), "i", 0, max(0, n_blocks - 1))
        if self.n_kept > 0 and n_blocks == 0:
            raise entries.EntryError("turns must be of no tangents: the problem has no forms")
        self.endings.restore(state)

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
            best = self.search_next(tolerance, solution, effort)
        return best

    cdef real improve(self, const real *point, const real *weights, real target, real tolerance, real *solution,
                      Effort *effort) noexcept nogil:
        """From the point; if that is no better than the target, from the next start.

        Not while local searches have taken more than their share of all programs or of their iterations; without an
        incumbent always.
        """
        cdef real value
        cdef index n_lps = effort.n_lps, n_iterations = effort.n_iterations
        if n_lps < self.n_seen:  # a part of a tree, whose counts begin at 0
            self.n_improving = self.n_iterations = 0
        self.n_seen = n_lps
        if self.wants_drawn(target, n_iterations):
            value = self.search_drawn(point, tolerance, solution, effort)
            self.n_improving += effort.n_lps - n_lps
            self.n_iterations += effort.n_iterations - n_iterations
            if value < target:
                return value
            n_lps, n_iterations = effort.n_lps, effort.n_iterations
        if self.budget is not None and isfinite(target) and (
                self.n_improving > FEW_LPS + SHARE_OF_LPS * (n_lps - self.n_improving)
                or self.n_iterations > FREE_ITERATIONS + SHARE_OF_ITERATIONS * (n_iterations - self.n_iterations)):
            self.budget.begin()
            self.budget.end()
            return INFINITY
        value = self.search(point, NODES, tolerance, solution, effort)
        if not value < target and self.next_start < self.starts.shape[0]:
            value = self.search_next(tolerance, solution, effort)
        self.n_improving += effort.n_lps - n_lps
        self.n_iterations += effort.n_iterations - n_iterations
        return value

    cdef real polish(self, real *solution, Effort *effort) noexcept nogil:
        """The convex problems of the incumbent once more; search() leaves nothing to do but that."""
        if not isfinite(solution[0]):
            return INFINITY
        if self.open() != OK:
            return INFINITY
        self.alternate(solution, 0, 0, effort)
        return -INFINITY if self.unbounded else self.settle(solution, effort)

    cdef bint wants_drawn(self, real target, index n_iterations) noexcept nogil:
        """Whether the tree has taken long enough for a nonlinear program from the next drawn start."""
        if self.nonlinear is None or self.has_linear_rows or self.complete is not None or not isfinite(target):
            return False
        if self.n_drawn == self.drawn.shape[0]:
            return False
        return n_iterations - self.n_iterations >= self.drawn_each * (self.n_drawn + 1)

    cdef real search_drawn(self, const real *point, real tolerance, real *solution, Effort *effort) noexcept nogil:
        """The solution of a nonlinear program from the next drawn start, or from near the point, alternated from.

        As search(). By turns: rows are met near a node's solution, where other solutions are is not known.
        """
        cdef int j
        cdef index i = self.drawn[self.n_drawn]
        cdef real value, share = 1.0 if self.n_drawn % 2 else NEAR_SHARE
        self.n_drawn += 1
        if self.open() != OK:
            return INFINITY
        self.is_cut = False
        self.forget_bases()
        for j in range(self.data.n):
            self.trial[j] = point[j] + share * (self.starts[i, j] - point[j])
        value = self.search_nonlinear(&self.trial[0], False, tolerance, solution, effort)
        self.count(NODES, value)  # alternation has begun at the same points, or will: they are no further draws
        return value

    cdef real search_next(self, real tolerance, real *solution, Effort *effort) noexcept nogil:
        """Local search from the next start; as search()."""
        cdef index i = self.next_start
        self.next_start += 1
        return self.search(&self.starts[i, 0], self.kinds[i], tolerance, solution, effort)

    cdef real search(self, const real *point, int kind, real tolerance, real *solution, Effort *effort) noexcept nogil:
        """Local search from a point of a kind, which is counted; OUT solution, its objective, inf: no feasible one."""
        cdef real value, completed
        self.is_cut = False
        self.forget_bases()
        value = self.search_from(point, tolerance, solution, effort)
        if self.complete is not None and value > -INFINITY:
            # what follows others has its value, so that the objective is that of the formulas
            if value < INFINITY:
                completed = self.complete_point(solution)
                if completed < INFINITY:
                    value = completed
                    memcpy(solution, &self.nonlinear_point[0], self.data.n * sizeof(real))
            completed = self.complete_point(point)
            if completed < value:
                value = completed
                memcpy(solution, &self.nonlinear_point[0], self.data.n * sizeof(real))
        self.count(kind, value)
        return value

    cdef void count(self, int kind, real value) noexcept nogil:
        """Count how a local search from a kind of start ended."""
        if isfinite(value):
            self.endings.add(kind, OUT_OF_STEPS if self.is_cut else CONVERGED, value)
        elif value < 0:
            self.endings.add(kind, GIVEN_UP, value)  # along a ray there is no end
        else:
            self.endings.add(kind, OUT_OF_TIME if self.stop.poll(0) else FAILED, value)

    cdef real search_from(self, const real *point, real tolerance, real *solution, Effort *effort) noexcept nogil:
        """Local search from a point, either side fixed first, then all free; OUT solution, its objective or inf."""
        cdef real best = INFINITY, value
        cdef int stage, n = self.data.n
        if self.open() != OK:
            return INFINITY
        if self.nonlinear is not None and (
                self.is_convex or (self.complete is not None and self.work >= self.next_nonlinear)):
            if self.complete is not None:
                self.next_nonlinear = self.work + max(NONLINEAR_EACH, self.work // 2)
            best = self.search_nonlinear(point, True, tolerance, solution, effort)
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
                value = self.search_nonlinear(solution if stage == 1 else point, True, tolerance, &self.trial[0],
                                              effort)
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
        # over a polyhedron linearised steps, too, end at a local solution
        if self.is_polyhedral or self.work < self.next_nonlinear:
            return False
        self.next_nonlinear = 2 * self.work
        return True

    cdef real search_nonlinear(self, const real *point, bint near, real tolerance, real *solution,
                               Effort *effort) noexcept nogil:
        """A local solution, near the point or anywhere, settled and alternated from.

        OUT solution (not the trial's place), its objective or inf.
        """
        cdef real best, value
        cdef int side, n = self.data.n
        with gil:
            if not self.find_by(self.nonlinear if near else self.anywhere, point):
                return INFINITY
        best = self.settle(&self.nonlinear_point[0], effort)
        memcpy(solution, &self.nonlinear_point[0], n * sizeof(real))
        if self.is_convex or self.complete is not None:
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

    cdef real complete_point(self, const real *point) noexcept nogil:
        """OUT nonlinear_point: the point completed; its objective, inf: it is not feasible."""
        with gil:
            if not self.find_by(self.complete, point):
                return INFINITY
        self.data.clip(&self.nonlinear_point[0])
        return self.value_of(&self.nonlinear_point[0])

    cdef bint find_by(self, function, const real *point) noexcept:
        """OUT nonlinear_point: what a function finds; whether there is one. What it raises ends the search."""
        cdef int j, n = self.data.n
        cdef real[::1] x
        try:
            found = function(np.array([point[j] for j in range(n)]))
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
                memcpy(&self.direction[0], self.lp.x, self.data.n * sizeof(real))
                if self.solve(side, z, PENALTY, INFINITY, effort) == LP_OPTIMAL:
                    self.read_point(z)
                    self.unbounded = self.settle(z, effort) < INFINITY
            if self.unbounded:
                return -INFINITY
            if status == LP_OPTIMAL:
                self.read_point(z)
                # what programs leave of violations is settled at the end
                value = self.data.objective(z) if self.data.violation(z) <= NEARLY_FEASIBLE else INFINITY
                idle = 0 if value < best - tolerance else idle + 1
                best = min(best, value)
            elif best == INFINITY:
                # What both sides hold would never move: Newton's steps move all
                if self.solve(side if self.divided else FREE, z, PENALTY, INFINITY, effort) != LP_OPTIMAL:
                    break
                self.read_point(z)
                last, violation = violation, self.merit(z, 1)
                idle = 0 if violation < HARDLY_LESS * last else idle + 1
            else:
                break
            # Both sides have been tried in vain
            if idle >= 2:
                break
            side = 1 - side
        else:
            self.is_cut = True
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
            self.read_point(z)
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
    def ray(self):
        """Along which the last program was unbounded, (n,), in the core's units: its rows hold but for rounding."""
        return np.array(self.direction)

    @property
    def has_given(self):
        """Whether the point given is feasible: only then is it the first incumbent."""
        return self.value_of(&self.given[0]) < INFINITY

    def close(self):
        """Release HiGHS; on the thread that ran the search."""
        self.lp.close()
