"""What comes before the search of a biconvex problem: bounds, scaling, a first bound of the optimum, local searches."""

import time
from dataclasses import replace
from fractions import Fraction

import numpy as np

from gopfast.biconvex import contradiction, convex_dual, hyperbolas, tightening
from gopfast.biconvex.alternating import AlternatingPrimal
from gopfast.biconvex.bilinear import BilinearRelaxation
from gopfast.biconvex.interruption import Stopped
from gopfast.biconvex.lifting import Lifting
from gopfast.biconvex.margins import EXACT, LEAST_WITHIN, ROUNDING_SHARE, WITHIN, WITHIN_AT_ENDS
from gopfast.biconvex.nonlinear import NonlinearProgram
from gopfast.biconvex.outcome import Found
from gopfast.biconvex.outward import below
from gopfast.biconvex.start_kinds import BEST, DRAWS, GIVEN, KINDS, MIDDLE, NEAR_ZERO, RELAXED
from gopfast.biconvex.tuning import (
    ALL_DRAWN,
    EPSILON_SHARE,
    FEASIBILITY_TOL,
    FIRST_DRAWN,
    LEAST_SHARE,
    MANY_PRODUCTS,
    MOST_DENSE,
    MOST_IDLE_TANGENTS,
    MOST_NARROWINGS,
    MUCH_NARROWER,
    N_NEAR_STARTS,
    N_RANDOM_STARTS,
    NEAR,
    NEAR_SHARE,
    REL_TOL,
    TANGENT_ROUNDS,
    WIDE,
    WORTH_A_TANGENT,
)
from gopfast.search.endings import Endings
from gopfast.search.stop import StopSignal


class Preparation:
    """
    All that comes before the search: tightened bounds, a local solution, and scales to go with them.

    Attributes
    ----------
    given : BiconvexProblem
        The problem without variables for linear forms (XL1).
    lifting : Lifting
    data, scale, objective_scale
        As `Lifting.data` returns them.
    starts, kinds : ndarray, shape (S, n) and (S,)
        Points for local searches that have not been made, in the core's units; what kind of start each is, of
        `start_kinds`.
    endings : Endings
        Where local searches ended, in the user's units, minimised.
    point : ndarray, shape (n,), or None
        The best point known, in the user's variables.
    least : float
        A lower bound of the objective, minimised, in the user's units.
    n_lps : int
        Linear programs of the local searches.
    started : float
        When the solve began, as `time.perf_counter` has it.
    stop : StopSignal
        Of the search under way, or of what comes before the first.
    tangents : list of (dict, float)
        Linear rows that the lifting has beside the problem's (X13).
    box, scaled_box : pair of ndarray
        The tightened bounds, and those that the data are of.
    session : Session
        Of the solve: its options and its notes.
    ray : list of Fraction, or None
        Along which the problem is unbounded from `point`, if that is known.
    solve : callable
        The solve that asks, for the search of a ray.
    formulas : PolynomialProblem, optional
        What the problem was made of, where that has atoms: its points are completed, and found, by formulas.
    meters : sequence of Meter
        Of what bounds nodes, as of `BilinearRelaxation`.
    is_steep : bool
        Whether functions of the problem are steep at the end of their domain, False until it is set.
    """

    def __init__(self, problem, session, start, started, solve, formulas=None, meters=()):
        self.problem, self.session, self.start, self.started = problem, session, start, started
        self.given = getattr(problem, "given", problem)
        self.solve, self.options, self.formulas, self.meters = solve, session.options, formulas, meters
        self.is_steep = False
        options = session.options
        self.end = np.inf if options.time_limit is None else time.perf_counter() + options.time_limit
        self.stop = StopSignal(self.left())
        self.lifting = self.data = self.point = self.ray = self.program = self.bounded = None
        self.least, self.value = -np.inf, np.inf
        self.n_lps, self.endings = 0, Endings(len(KINDS))
        self.unbounded, self.tangents = False, []
        # what the objective's terms amount to where variables are 1, or as near to it as the user's bounds let them be
        reach = np.minimum(np.maximum(np.abs(problem.lower), np.abs(problem.upper)), 1.0)
        self.given_unit = float(np.abs(problem.c) @ reach + reach @ (abs(problem.Q) @ reach))

    def left(self):
        """Seconds left."""
        return max(0.0, self.end - time.perf_counter())

    def tighten(self):
        """Tighten bounds, and look for a ray where they are missing; False: no point is feasible."""
        self.lifting = Lifting(self.problem, not self.has_one_side(), self.stop, self.options.without)
        self.box = tightening.tighten(self.lifting, self.stop)
        if self.box is None:
            return False
        if not _is_bounded(*self.box) and contradiction.found(self.lifting, *self.box):
            return False
        if tightening.unbounded_factor(self.lifting, *self.box) is not None and not self._has_bound():
            # Here and not above, as below: few first solves of a process need it.
            from gopfast.biconvex import recession

            alone = replace(self.options, checkpoint=None, executor=None)
            found = recession.find(self.problem, self.solve, alone, self.stop)
            if found is not None:
                self.point, self.ray = found
        return True

    def _has_bound(self):
        """Whether the relaxed dual bounds the objective: then there is no ray."""
        made = self._made(self.box)
        self.bounded = made, self._relaxed(made[0])
        return self.bounded[1][0] > -np.inf

    def run(self):
        """Scale, bound and search locally, in the tightened box; False: no point is feasible."""
        box = self.box
        self._scale(box, None if self.bounded is None else self.bounded[0])
        self.options.check_orthants(self.data.n_split)
        lower, relaxed_point = self._relaxed(self.data) if self.bounded is None else self.bounded[1]
        if lower == np.inf:
            return False
        self.least, self.starts, self.kinds = lower * self.objective_scale, relaxed_point[np.newaxis], [RELAXED]
        if self.start is None and self._is_optimum(relaxed_point, lower):
            self._offer(self.data.evaluate(relaxed_point)[0] * self.objective_scale, self.to_user(relaxed_point))
            return True
        self.starts, self.kinds = self._starts(self.data, relaxed_point, N_RANDOM_STARTS)
        if self.start is not None:
            self.starts, self.kinds = np.insert(self.starts, 0, self.to_core(self.start), axis=0), [GIVEN, *self.kinds]
            value, violation = self._value_of_start()
            if violation <= EXACT:
                self._offer(value, self.start)
        self._search_locally()
        if self.point is None and not self.unbounded and _is_bounded(*box) and contradiction.found(self.lifting, *box):
            return False
        if not self.unbounded:
            self._search_near(box)
            self._search_drawn(relaxed_point)
            self._descend()
            if self.lifting.objective.forms:
                self.keep(self.polished(self.point))
            if self.least == -np.inf:
                self.least = max(self.least, self.bound_all())
            self._bound_by_dual()
            self._add_tangents()
            self._narrow()
        return True

    def _descend(self):
        """Search from the best point in all variables at once, where rows have products and the program is small."""
        size = self.given.n_variables + self.given.n_rows
        if self.point is None or not self.given.quadratic_rows or size > MOST_DENSE or self.is_proved():
            return
        # alternation ends where neither side alone is better: with rows like these that need be no local solution
        found = self.nonlinear(self.to_core(self.point))
        if found is not None:
            value = self.lifting.sign * self.problem.objective(self.to_user(found))
            if value < self.value - REL_TOL * abs(self.value):
                self._search_from(found, BEST)

    def _add_tangents(self):
        """Add tangents of hyperbolas at the best point, then at solutions of the relaxed dual while its bound rises."""
        known = hyperbolas.find(self.lifting, *self.box)
        if not known or self.is_proved():
            return
        if self.point is not None and self.least > -np.inf:
            # alternation ends where neither side alone is better, which tangents there do not show to be the best
            self._search_from(self.nonlinear(self.to_core(self.point)), BEST)
        point, idle = self.point, 0
        for _ in range(TANGENT_ROUNDS):
            if point is not None:
                rows = hyperbolas.tangents(known, point)
                if not rows:
                    break
                self._set_tangents(self.tangents + rows)
            before = self.least
            lower, relaxed_point = self._relaxed(self.data)
            if self.stop.stopped or lower == np.inf:
                break
            self.least = max(self.least, lower * self.objective_scale)
            gap = self.value - before
            idle = 0 if point is None or not self.least - before <= WORTH_A_TANGENT * gap else idle + 1
            if idle == MOST_IDLE_TANGENTS or self.is_proved():
                break
            point = self.to_user(relaxed_point)
        if self.least == -np.inf:
            # made at points that may be far out, they bound nothing, and their coefficients are as far apart
            self._set_tangents([])

    def order(self, rows):
        """Take rows that one of the images of each point meets, for the search: the core is made anew, in its box."""
        self.lifting.ordering = tuple(rows)
        self._scale(self.scaled_box)

    def _set_tangents(self, rows):
        """Take these linear rows beside the problem's, and make the core anew."""
        del self.lifting.rows[len(self.lifting.rows) - len(self.tangents) :]
        self.tangents = rows
        self.lifting.add_rows(rows)
        starts = self.to_user(self.starts)
        self._scale(self.scaled_box)
        self.starts = self.to_core(starts)

    def _search_from(self, start, kind, again=True):
        """Search locally, by nonlinear programs again or not, from a point of a kind, in the core's units, or None."""
        if start is None:
            return
        nonlinear = self.nonlinear if again else None
        value, point, _ = self._local_search(self.data, self.objective_scale, [start], [kind], nonlinear)
        if value > -np.inf and self._offer(value * self.objective_scale, self.to_user(point)):
            self.keep(self.polished(self.point))

    def _bound_by_dual(self):
        """Raise the bound by convex Lagrangians, and search from the least point of one."""
        if self.point is None or self.stop.stopped or self.is_proved():
            return
        try:
            bound, near = convex_dual.find(self.lifting, *self.box, self.point)
        except (Stopped, np.linalg.LinAlgError):
            return
        if bound is not None:
            self.least = max(self.least, below(bound + self.lifting.sign * Fraction(self.problem.constant)))
        if near is not None and not self.is_proved():
            self._search_from(self.to_core(np.clip(near, *self.box)), RELAXED)

    def _is_optimum(self, point, lower):
        """Whether a point meets all constraints to rounding errors, and the bound (in the core's units) proves it."""
        value, violation = self.data.evaluate(point)
        epsilon, rel_tol = self._tolerances(value, lower, point)
        within = self._within(value, epsilon, rel_tol)
        exact = violation <= 0.25 * FEASIBILITY_TOL and self.data.relative_to_terms(point) <= EXACT
        return exact and value - lower <= within * max(epsilon, rel_tol * abs(value))

    def tolerances(self):
        """Absolute, in the core's units, and relative tolerance of a gap, and which part of the promised they are."""
        point, value = None if self.point is None else self._unswitched(self.point), self.value / self.objective_scale
        epsilon, rel_tol = self._tolerances(value, self.least / self.objective_scale, point)
        within = self._within(value, epsilon, rel_tol)
        return epsilon * within, rel_tol * within, within

    def _within(self, value, epsilon, rel_tol):
        """Return the part of a tolerance that the search may use: the rest is for rounding, and the problem's loss."""
        loss = getattr(self.problem, "loss", 0.0) / self.objective_scale
        least = max(epsilon, rel_tol * abs(value)) if np.isfinite(value) else epsilon
        # points that are moved to ends of domains are a little worse
        within = WITHIN_AT_ENDS if self.is_steep else WITHIN
        return max(within - 2.0 * loss / least, LEAST_WITHIN) if loss > 0 and least > 0 else within

    def _tolerances(self, value, least, point):
        given, rel_tol = self.options.epsilon, self.options.rel_tol
        rel_tol = REL_TOL if rel_tol is None else rel_tol
        epsilon = self._epsilon(rel_tol, value, least, point) if given is None else given / self.objective_scale
        return epsilon, rel_tol

    def is_proved(self):
        """Whether what is known before the search is all that is asked for."""
        if not np.isfinite(self.value):
            return False
        epsilon, rel_tol, _ = self.tolerances()
        return self.value - self.least <= max(epsilon * self.objective_scale, rel_tol * abs(self.value))

    def _epsilon(self, rel_tol, value, least, point):
        """
        Return the default absolute tolerance, in the core's units.

        Relative to the values that are known, and no share of what terms could amount to: within wide bounds that may
        be more than all good points differ by. But at least of what they amounted to before the box was narrowed, to
        a point perhaps at which the objective is 0.
        """
        unit = max(self.data.objective_range(self._unswitched(np.ones(len(self.scale)))), 1e-300)
        known = [abs(x) for x in (value, least) if np.isfinite(x)]
        floor = LEAST_SHARE * max(unit, self.given_unit / self.objective_scale)
        epsilon = max(min(EPSILON_SHARE * unit, rel_tol * max(known, default=np.inf)), floor)
        return epsilon if point is None else max(epsilon, ROUNDING_SHARE * self.data.objective_range(np.abs(point)))

    def go_on(self):
        """Make a new signal: the last one says how a search ended. Not after a time limit or Ctrl-C."""
        self.stop = self.lifting.stop = StopSignal(self.left())
        self.program = None

    def bound_all(self):
        """Bound the objective by Lagrangians where the constraints leave variables unbounded; in the user's units."""
        if _is_bounded(*self.box) or self.stop.stopped:
            return -np.inf
        try:
            return tightening.bound_objective(self.lifting, *self.box, self.point)
        except Stopped:
            return -np.inf

    def keep(self, point):
        """Take the point of a search, in the user's units; None: there is none."""
        if point is not None:
            value = self.lifting.sign * self.problem.objective(point)
            self._offer(value, point)

    def _value_of_start(self):
        """Return the objective of the start, minimised, within its bounds, and the largest violation of a row."""
        point = np.clip(self.start, self.problem.lower, self.problem.upper)
        return self.lifting.sign * self.problem.objective(point), self.problem.violations(point).max(initial=0.0)

    def no_worse_than_start(self, point):
        """Return a point of the search, or the start if that meets the constraints to the tolerance and is better."""
        if self.start is None or self.lifting is None:
            return point
        value, violation = self._value_of_start()
        if not (violation <= FEASIBILITY_TOL and np.isfinite(value)):
            return point
        if point is not None and not value < self.lifting.sign * self.problem.objective(point):
            return point
        return self.start

    def polished(self, point):
        """Return a point or, by Newton's method, a better one near it that is as feasible; in the user's units."""
        if point is None or self.data is None or self.stop.stopped or not self.lifting.in_forms():
            return point
        sign, best = self.lifting.sign, point
        value, allowed = sign * self.problem.objective(point), self.problem.violations(point).max(initial=0.0)
        if not (np.isfinite(value) and allowed <= FEASIBILITY_TOL):
            return point
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                near = self._program(self.stop).polish(point[: self.given.n_variables])
        except (Stopped, KeyboardInterrupt, ArithmeticError, np.linalg.LinAlgError):
            return point
        for trial in near:
            trial = np.clip(self._with_forms(trial), self.problem.lower, self.problem.upper)
            new = sign * self.problem.objective(trial)
            if new < value and self.problem.violations(trial).max(initial=0.0) <= max(allowed, EXACT):
                best, value = trial, new
        return best

    def so_far(self, status):
        """Return what is known if the solve ends here."""
        point = self.start if self.point is None else self.point
        return Found(status, self.least, point, n_lps=self.n_lps)

    def has_one_side(self):
        """Whether only the smaller group of variables is split."""
        return self.options.branching == "orthant" or self.options.partition == "paper"

    def _scale(self, box, made=None):
        """Go on with the core of a box, if it is made already."""
        self.scaled_box, self.program = box, None
        self.data, self.scale, self.objective_scale = self._made(box) if made is None else made

    def _made(self, box):
        """Return the core of a box, its variables' scale and the objective's."""
        return self.lifting.data(*box, one_side=self.has_one_side())

    def to_core(self, point):
        """Return a point in the core's units."""
        return self.lifting.to_core(point, self.scale)

    def _unswitched(self, point):
        """Return a point in the core's units for its objective, in which switches are not: they are 0."""
        return np.concatenate([np.zeros(len(self.lifting.switches)), (point / self.scale)[self.lifting.order]])

    def to_user(self, point):
        """Return a point of the core, or several, in the user's units."""
        return point[..., self.lifting.place] * self.scale

    def nonlinear(self, point, near=True):
        """
        Return a local solution that a nonlinear solver finds from a point, both in the core's units, or None.

        Where it need not be near the point the solver is the one that fails least.
        """
        if self.program is None:
            self.program = self._program(self.stop)
        user = self.to_user(point)
        found = self._reduced(user)
        if found is None:
            found = self.program.search(user[: self.given.n_variables], near)
            found = None if found is None else self._with_forms(found)
        return None if found is None else self.to_core(found)

    def _reduced(self, point):
        """Return a local solution in the variables that formulas have, completed; None where there are no formulas."""
        if self.formulas is None:
            return None
        from gopfast.biconvex.reduction import Reduction

        n = self.formulas.n_variables
        low, high = (ends[:n] for ends in self.lifting.to_user(self.data.box, self.scale))
        found = Reduction(self.formulas.model, low, high, self.stop).search(point[:n])
        return None if found is None else self._completed(found)

    def _completed(self, own):
        found = self.formulas.completed(own)
        return found if np.isfinite(found).all() else None

    def complete(self, point):
        """Return a point whose variables that formulas made have their values, both in the core's units, or None."""
        found = self._completed(self.to_user(point)[: self.formulas.n_variables])
        return None if found is None else self.to_core(found)

    def _program(self, stop):
        """Return the nonlinear program, which does without variables for linear forms."""
        n, box = self.given.n_variables, self.lifting.to_user(self.data.box, self.scale)
        return NonlinearProgram(self.given, *(ends[:n] for ends in (*box, self.scale)), stop)

    def _with_forms(self, point):
        """Return the point of what is searched that belongs to one of the given problem."""
        return point if self.given is self.problem else self.problem.completed(point)

    def _relaxed(self, data):
        """Lower bound and point of the linear relaxed dual on the whole box, in the core's units."""
        lower, _, _, point, _ = BilinearRelaxation(data, meters=self.meters).bound_box(*data.box, signal=self.stop)
        return lower, point

    def _starts(self, data, point, n_random):
        """Points for the local search, and their kinds: the relaxed dual's, the middle, and random ones."""
        low, high = data.box
        points = [] if point is None else [point]
        finite_low = np.where(np.isfinite(low), low, np.minimum(high, 0.0) - 1.0)
        finite_low = np.where(np.isfinite(finite_low), finite_low, -1.0)
        finite_high = np.where(np.isfinite(high), high, np.maximum(finite_low, 0.0) + 1.0)
        points.append(0.5 * (finite_low + finite_high))
        rng = np.random.default_rng(self.options.seed)
        points += [finite_low + rng.random(data.n) * (finite_high - finite_low) for _ in range(n_random)]
        return np.array(points), [RELAXED] * (point is not None) + [MIDDLE] + [DRAWS] * n_random

    def _offer(self, value, point):
        """Keep a local solution, in the user's units, if it is the best."""
        if value < self.value:
            self.value, self.point = value, point
            return True
        return False

    def _search_locally(self):
        """Make local searches until one ends at a feasible point."""
        before = self.n_lps
        value, point, n_used = self._local_search(
            self.data, self.objective_scale, self.starts, self.kinds, self.nonlinear
        )
        self.unbounded = value == -np.inf
        if self.unbounded:
            self.n_lps = before  # the search finds the same
            return
        self.starts, self.kinds = self.starts[n_used:], self.kinds[n_used:]
        self._offer(value * self.objective_scale, self.to_user(point))

    def _search_near(self, box):
        """Local searches in parts of a wide box, near 0: there tolerances of programs are finer."""
        low, high = box
        largest = np.maximum(abs(low), abs(high))
        wide = np.isfinite(largest) & (largest > WIDE)
        if not wide.any():
            return
        nearest = np.clip(0.0, low, high)
        for power in NEAR:
            within = np.where(wide, np.where(wide, largest, 1.0) ** power, np.inf)
            data, scale, objective_scale = self.lifting.data(
                np.maximum(low, nearest - within), np.minimum(high, nearest + within), lifted=False
            )
            if self.stop.stopped or data.tighten() is None:
                continue
            starts, kinds = self._starts(data, None, N_NEAR_STARTS)
            value, point, _ = self._local_search(data, objective_scale, starts, [NEAR_ZERO] * len(kinds))
            if value > -np.inf:
                point = point[self.lifting.place] * scale
                self._offer(value * objective_scale, point)

    def _search_drawn(self, relaxed_point):
        """Solve nonlinear programs from drawn starts, and from near the relaxed dual's, where the root takes long."""
        if self.formulas is not None or self.data.n_products < MANY_PRODUCTS or not self.given.quadratic_rows:
            return
        drawn = [start for start, kind in zip(self.starts, self.kinds, strict=True) if kind == DRAWS]
        n_starts = min(FIRST_DRAWN, ALL_DRAWN // (self.data.n + self.data.n_own_rows))
        for k, start in enumerate(drawn[:n_starts]):
            if self.stop.stopped or self.is_proved():
                return
            share = 1.0 if k % 2 else NEAR_SHARE
            found = self.nonlinear(relaxed_point + share * (start - relaxed_point), near=False)
            self._search_from(found, RELAXED, again=False)  # alternation will begin at the same draws

    def _narrow(self):
        """Scale anew where the best point's objective leaves little of the box: nothing better lies elsewhere."""
        for _ in range(MOST_NARROWINGS):
            if not np.isfinite(self.value) or self.stop.stopped:
                return
            low, high = self.data.box
            box = self.data.tighten_box(low, high, self.value / self.objective_scale)
            if box is None:
                return
            before, user = (self.lifting.to_user(ends, self.scale) for ends in ((low, high), box))
            if not _is_bounded(*user):
                user = tightening.tighten_by_objective(self.lifting, *user, self.value, self.point)
            if user is None or not _much_narrower(*before, *user):
                return
            point = self.point
            # tightening may cut off a point that has just this objective
            self._scale((np.minimum(user[0], point), np.maximum(user[1], point)))
            value, point, _ = self._local_search(self.data, self.objective_scale, [self.to_core(self.point)], [BEST])
            if value > -np.inf:
                self._offer(value * self.objective_scale, self.to_user(point))
            self.starts, self.kinds = self._starts(self.data, None, N_RANDOM_STARTS)

    def _local_search(self, data, objective_scale, starts, kinds, nonlinear=None):
        """Search from starts until one ends at a feasible point: objective, point, number of starts used."""
        # only the units of the data are those of `complete`
        complete = self.complete if self.formulas is not None and data is self.data else None
        primal = AlternatingPrimal(data, starts, nonlinear=nonlinear, kinds=kinds, complete=complete)
        try:
            value, point = primal.run(1e-9, self.stop)
        finally:
            primal.close()
        self.n_lps += primal.n_lps
        self.endings.take(primal.endings, objective_scale)
        return value, point, primal.next_start

    def root_box(self):
        """
        Return the box to search as tight as can be, and the variables that need bounds but have none.

        A variable that is in linear terms alone may stay unbounded where the relaxed dual has a bound nevertheless.
        """
        low, high = self.data.box
        relaxed = BilinearRelaxation(self.data)
        # What a product needs bounds of: of those that switches decide nothing does.
        factors = sorted(self.lifting.place[i] for i in self.lifting.essential)
        curved = np.array([self.lifting.place[i] for i in self.lifting.in_forms()] + factors, dtype=int)
        for wanted in (factors, [j for j in range(self.data.n) if j not in factors]):
            free = [j for j in wanted if not (np.isfinite(low[j]) and np.isfinite(high[j]))]
            if free and np.isfinite(self.value):
                cutoff = self.value / self.objective_scale
                tightening.limit_by_cutoff(relaxed, low, high, free, cutoff, self.stop)
                box = self.data.tighten_box(low, high, cutoff)
                if box is not None:
                    low, high = box
            if _is_bounded(low, high):
                return low, high, []
            if _is_bounded(low[curved], high[curved]):
                if self.lifting.switches or relaxed.bound_box(low, high, signal=self.stop)[0] > -np.inf:
                    return low, high, []
        self._bound_linear(low, high)
        # What is left is linear, or the factor of a product that another one bounds. A dual that is off by rounding
        # proves nothing along an infinite range.
        return low, high, np.flatnonzero(~(np.isfinite(low) & np.isfinite(high))).tolist()

    def has_bounded_factors(self, low, high):
        """Whether the tree can divide a bounded factor of every product; forms need no bounds of their variables."""
        bounded = (np.isfinite(low) & np.isfinite(high))[self.lifting.place]
        return all(bounded[i] or bounded[j] for i, j in self.lifting.undecided)

    def limited(self, low, high, free, reach):
        """Return a box cut where nothing bounds it, around the best point, and where: name -> magnitude."""
        low, high, limits = low.copy(), high.copy(), {}
        point = None if self.point is None else self.to_core(self.point)
        for j in free:
            ends = [abs(end) for end in (low[j], high[j]) if np.isfinite(end)]
            size = max([reach, *(2.0 * end for end in ends), 0.0 if point is None else 2.0 * abs(point[j])])
            low[j], high[j] = max(low[j], -size), min(high[j], size)
            i = self.lifting.order[j - len(self.lifting.switches)]
            limits[self.problem.names[i]] = size * self.scale[i]
        return low, high, limits

    def _bound_linear(self, low, high):
        """Bound what is left by all linear rows together, in the core's box."""
        user = tightening.bound_by_linear_rows(self.lifting, *self.lifting.to_user((low, high), self.scale), self.stop)
        first = len(self.lifting.switches)
        for own, bound, better in ((low, user[0], np.maximum), (high, user[1], np.minimum)):
            own[first:] = better(own[first:], (bound / self.scale)[self.lifting.order])


def _is_bounded(low, high):
    return bool(np.isfinite(low).all() and np.isfinite(high).all())


def _much_narrower(low, high, new_low, new_high):
    before, now = np.maximum(abs(low), abs(high)), np.maximum(abs(new_low), abs(new_high))
    return bool((MUCH_NARROWER * now < before).any())
