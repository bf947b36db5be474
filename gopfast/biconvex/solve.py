"""The global solve of a biconvex problem: bounds of the variables, scaling, search, the result in the user's units."""

import contextlib
import time
from dataclasses import replace

import numpy as np

from gopfast import checks
from gopfast.biconvex import recession, tightening
from gopfast.biconvex.alternating import AlternatingPrimal
from gopfast.biconvex.bilinear import BilinearRelaxation
from gopfast.biconvex.core import Core, checkpoint_header, worker_search
from gopfast.biconvex.interruption import Stopped
from gopfast.biconvex.lifting import Lifting
from gopfast.biconvex.nonlinear import NonlinearProgram
from gopfast.biconvex.problem import FEASIBILITY_TOL, LARGEST_NUMBER
from gopfast.biconvex.result import BiconvexSolution, make
from gopfast.errors import CheckpointError, InputError
from gopfast.result import Status
from gopfast.search.checkpoint import Checkpoint
from gopfast.search.files import Spill
from gopfast.search.memory import Memory
from gopfast.search.spread import Spread
from gopfast.search.stop import StopSignal
from gopfast.search.threads import n_threads

REL_TOL = 1e-6  # default
# Default absolute tolerance, as a share of what the objective's terms can amount to: an optimum of 0 needs one.
EPSILON_SHARE = 1e-8
WITHIN = 1 - 1e-6  # the gap must not exceed the tolerance by rounding
N_RANDOM_STARTS = 20
MOST_SHOWN = 5  # variables in a note
EXACT = 1e-14  # violations that are rounding errors
NOTEWORTHY = 1e-9  # of an objective: what the solution gains by the feasibility tolerance
# Of variables that nothing bounds, in the core's units: boxes to search, while the larger ones hold better points
REACHES = (1e2, 1e4, 1e6, 1e8)
WORTH_GROWING = 1e-6  # gain by a box, relative to the objective
# Where bounds are wider than this, local searches are made near 0 too: tolerances of programs are shares of a box
WIDE = 1e4
NEAR = (0.0, 0.5)  # powers of a bound to search within
N_NEAR_STARTS = 6
MUCH_NARROWER = 8.0  # where the cutoff leaves this part of a variable's range, everything is scaled anew
MOST_NARROWINGS = 4


def solve(problem, options, monitor, start=None, proof=None, stored=None):
    """
    Solve a `BiconvexProblem`; arguments are validated already, see `gopfast.solve`.

    Parameters
    ----------
    problem : BiconvexProblem
    options : Options
    monitor : object with __call__, wanted and finish
        Takes the progress.
    start : array_like, shape (n,), or anything with a solution, optional
    proof : str or True, optional
        Where a proof goes.
    stored : Stored, optional
        A checkpoint of this problem, these options and this start, to go on from.

    Returns
    -------
    BiconvexResult

    Raises
    ------
    InputError
        If an option does not fit.
    """
    started = time.perf_counter()
    start = _start(problem, start)
    preparation = _Preparation(problem, options, start, started)
    found = None
    try:
        if not preparation.tighten():
            found = _Found(Status.INFEASIBLE, np.inf)
        elif preparation.ray is not None:
            found = _Found(Status.UNBOUNDED, -np.inf, preparation.point)
        else:
            preparation.run()
            found = _proved(preparation, monitor) or _search(preparation, options, monitor, stored)
    except Stopped:
        found = preparation.so_far(Status(preparation.stop.stopped))
    except KeyboardInterrupt:  # in Python, where no signal is polled
        found = found or preparation.so_far(Status.INTERRUPTED)
    found.point = preparation.polished(found.point)
    result = _result(problem, preparation, found, options, time.perf_counter() - started)
    monitor.finish(result)
    if proof is not None:
        # Here and not above: few ask for it.
        from gopfast.biconvex.proof import with_proof

        rel_tol = REL_TOL if options.rel_tol is None else options.rel_tol
        tolerance = max(found.epsilon, rel_tol * abs(result.objective))
        # as long again as the search may take
        limit = np.inf if options.time_limit is None else options.time_limit
        result = with_proof(problem, result, tolerance, proof, limit)
    return result


class _Found:
    """
    What a search ends with, minimising, in the user's units.

    Parameters
    ----------
    status : Status
    bound : float
        Proved, and not clipped to the objective of `point`.
    point : ndarray, shape (n,), or None
    epsilon : float
        Absolute tolerance that OPTIMAL keeps.
    limits : dict
        Name -> magnitude up to which values were searched, of variables that nothing bounds; `bound` is of all values.
    whole : bool
        Whether all values were searched that are no worse than a known point's.
    fields : dict
        Counts and history.
    """

    def __init__(self, status, bound, point=None, epsilon=np.inf, limits=None, whole=True, **fields):
        self.status, self.bound, self.point, self.epsilon = status, bound, point, epsilon
        self.limits, self.whole, self.fields = limits or {}, whole, fields


class _Preparation:
    """
    All that comes before the search: tightened bounds, a local solution, and scales to go with them.

    Attributes
    ----------
    lifting : Lifting
    data, scale, objective_scale
        As `Lifting.data` returns them.
    starts : ndarray, shape (S, n)
        Points for local searches that have not been made, in the core's units.
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
    box, scaled_box : pair of ndarray
        The tightened bounds, and those that the data are of.
    notes : list of str
        On what became of checkpoints, nodes on disk and workers.
    ray : list of Fraction, or None
        Along which the problem is unbounded from `point`, if that is known.
    """

    def __init__(self, problem, options, start, started):
        self.problem, self.options, self.start, self.started = problem, options, start, started
        self.end = np.inf if options.time_limit is None else time.perf_counter() + options.time_limit
        self.stop = StopSignal(self.left())
        self.lifting = self.data = self.point = self.ray = self.program = None
        self.least, self.value = -np.inf, np.inf
        self.n_lps = 0
        self.unbounded = False
        self.notes = []

    def left(self):
        """Seconds left."""
        return max(0.0, self.end - time.perf_counter())

    def tighten(self):
        """Tighten bounds, and look for a ray where they are missing; False: no point is feasible."""
        self.lifting = Lifting(self.problem, not self.has_one_side(), self.stop)
        self.box = tightening.tighten(self.lifting, self.stop)
        if self.box is None:
            return False
        if tightening.unbounded_factor(self.lifting, *self.box) is not None and not self._has_bound():
            alone = replace(self.options, checkpoint=None, executor=None)
            found = recession.find(self.problem, solve, alone, self.stop)
            if found is not None:
                self.point, self.ray = found
        return True

    def _has_bound(self):
        """Whether the relaxed dual bounds the objective: then there is no ray."""
        data, _, _ = self.lifting.data(*self.box)
        return BilinearRelaxation(data).bound_box(*data.box, signal=self.stop)[0] > -np.inf

    def run(self):
        """Scale, bound and search locally, in the tightened box."""
        box = self.box
        self._scale(box)
        self.options.check_orthants(self.data.n_split)
        lower, relaxed_point = self._relaxed()
        self.least, self.starts = lower * self.objective_scale, relaxed_point[np.newaxis]
        if self.start is None and self._is_optimum(relaxed_point, lower):
            self._take(self.data.evaluate(relaxed_point)[0] * self.objective_scale, self.to_user(relaxed_point))
            return
        self.starts = self._starts(self.data, relaxed_point, N_RANDOM_STARTS)
        if self.start is not None:
            self.starts = np.insert(self.starts, 0, self.to_core(self.start), axis=0)
        self._search_locally()
        if not self.unbounded:
            self._search_near(box)
            if self.lifting.objective.forms:
                self.keep(self.polished(self.point))
            if self.least == -np.inf:
                self.least = max(self.least, self.bound_all())
            self._narrow()

    def _is_optimum(self, point, lower):
        """Whether a point meets all constraints to rounding errors, and the bound (in the core's units) proves it."""
        value, violation = self.data.evaluate(point)
        epsilon, rel_tol = self.tolerances()
        return violation <= EXACT and value - lower <= max(epsilon, rel_tol * abs(value))

    def tolerances(self):
        """Absolute, in the core's units, and relative tolerance of a gap, a trifle below what is promised."""
        given, rel_tol = self.options.epsilon, self.options.rel_tol
        epsilon = EPSILON_SHARE * self.magnitude() if given is None else given / self.objective_scale
        return epsilon * WITHIN, (REL_TOL if rel_tol is None else rel_tol) * WITHIN

    def is_proved(self):
        """Whether what is known before the search is all that is asked for."""
        if not np.isfinite(self.value):
            return False
        epsilon, rel_tol = self.tolerances()
        return self.value - self.least <= max(epsilon * self.objective_scale, rel_tol * abs(self.value))

    def magnitude(self):
        """
        Return what the terms of the objective can amount to, in the core's units: a scale for its tolerance.

        Bounds that are derived of variables without bounds of their own may be far too wide for that: those count with
        their value at the best point, or with 1.
        """
        value = np.ones(len(self.scale)) if self.point is None else np.maximum(1.0, np.abs(self.point))
        given = np.isfinite(self.problem.lower) & np.isfinite(self.problem.upper)
        reach = np.where(given, np.inf, value / self.scale)[self.lifting.order]
        # switches are in no objective
        reach = np.concatenate([np.full(len(self.lifting.switches), np.inf), reach])
        return max(self.data.objective_range(reach), 1e-300)

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
            self._take(value, point)

    def polished(self, point):
        """Return a point or, by Newton's method, a better one near it that is as feasible; in the user's units."""
        if point is None or self.data is None or not self.lifting.in_forms():
            return point
        sign, best = self.lifting.sign, point
        value, allowed = sign * self.problem.objective(point), self.problem.violations(point).max(initial=0.0)
        if not (np.isfinite(value) and allowed <= FEASIBILITY_TOL):
            return point
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                near = self._program(StopSignal()).polish(point)
        except (KeyboardInterrupt, ArithmeticError, np.linalg.LinAlgError):
            return point
        for trial in near:
            trial = np.clip(trial, self.problem.lower, self.problem.upper)
            new = sign * self.problem.objective(trial)
            if new < value and self.problem.violations(trial).max(initial=0.0) <= max(allowed, EXACT):
                best, value = trial, new
        return best

    def so_far(self, status):
        """Return what is known if the solve ends here."""
        point = self.start if self.point is None else self.point
        return _Found(status, self.least, point, n_lps=self.n_lps)

    def has_one_side(self):
        """Whether only the smaller group of variables is split."""
        return self.options.branching == "orthant" or self.options.partition == "paper"

    def _scale(self, box):
        self.scaled_box = box
        self.data, self.scale, self.objective_scale = self.lifting.data(*box, one_side=self.has_one_side())

    def to_core(self, point):
        return self.lifting.to_core(point, self.scale)

    def to_user(self, point):
        return point[self.lifting.place] * self.scale

    def nonlinear(self, point):
        """Return a local solution that a nonlinear solver finds from a point, both in the core's units, or None."""
        if self.program is None or self.program.scale is not self.scale:
            self.program = self._program(self.stop)
        found = self.program.search(self.to_user(point))
        return None if found is None else self.to_core(found)

    def _program(self, stop):
        box = self.lifting.to_user(self.data.box, self.scale)
        return NonlinearProgram(self.problem, *box, self.scale, stop)

    def _relaxed(self):
        """Lower bound and point of the linear relaxed dual on the whole box, in the core's units."""
        lower, _, _, point, _ = BilinearRelaxation(self.data).bound_box(*self.data.box, signal=self.stop)
        return lower, point

    def _starts(self, data, point, n_random):
        """Points for the local search: the relaxed dual's, the middle, and random ones."""
        low, high = data.box
        points = [] if point is None else [point]
        finite_low = np.where(np.isfinite(low), low, np.minimum(high, 0.0) - 1.0)
        finite_low = np.where(np.isfinite(finite_low), finite_low, -1.0)
        finite_high = np.where(np.isfinite(high), high, np.maximum(finite_low, 0.0) + 1.0)
        points.append(0.5 * (finite_low + finite_high))
        rng = np.random.default_rng(self.options.seed)
        points += [finite_low + rng.random(data.n) * (finite_high - finite_low) for _ in range(n_random)]
        return np.array(points)

    def _take(self, value, point):
        """Keep a local solution, in the user's units, if it is the best."""
        if value < self.value:
            self.value, self.point = value, point
            return True
        return False

    def _search_locally(self):
        """Make local searches until one ends at a feasible point."""
        value, point, n_lps, n_used = _local_search(self.data, self.starts, self.stop, self.nonlinear)
        self.unbounded = value == -np.inf
        if self.unbounded:
            return  # the search finds the same
        self.n_lps += n_lps
        self.starts = self.starts[n_used:]
        self._take(value * self.objective_scale, self.to_user(point))

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
            starts = self._starts(data, None, N_NEAR_STARTS)
            value, point, n_lps, _ = _local_search(data, starts, self.stop)
            self.n_lps += n_lps
            if value > -np.inf:
                point = point[self.lifting.place] * scale
                self._take(value * objective_scale, point)

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
            value, point, n_lps, _ = _local_search(self.data, self.to_core(self.point)[np.newaxis], self.stop)
            self.n_lps += n_lps
            if value > -np.inf:
                self._take(value * self.objective_scale, self.to_user(point))
            self.starts = self._starts(self.data, None, N_RANDOM_STARTS)

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


def _local_search(data, starts, stop, nonlinear=None):
    """Search from the starts until one ends at a feasible point: objective, point, programs and starts used."""
    primal = AlternatingPrimal(data, starts, nonlinear=nonlinear)
    try:
        value, point = primal.run(1e-9, stop)
        return value, point, primal.n_lps, primal.next_start
    finally:
        primal.close()


def _proved(preparation, monitor):
    """Return what is found where the bound before the search proves it; None otherwise."""
    if preparation.stop.stopped or not preparation.is_proved():
        return None
    value, least, sign = preparation.value, preparation.least, preparation.lifting.sign
    if monitor.wanted:
        monitor(time.perf_counter() - preparation.started, 1, 0, *sorted((sign * least, sign * value)), True)
    epsilon = preparation.tolerances()[0] / WITHIN * preparation.objective_scale
    return _Found(Status.OPTIMAL, least, preparation.point, epsilon, n_nodes=1, n_lps=1 + preparation.n_lps)


def _search(preparation, options, monitor, stored):
    """Search globally; where nothing bounds what must have bounds, in boxes that grow while that helps."""
    low, high, free = preparation.root_box()
    found = _Found(Status.NUMERICAL, preparation.least, preparation.point)
    if not free:
        return _search_box(preparation, options, monitor, low, high, {}, found, stored)
    if options.checkpoint is not None or options.executor is not None:
        preparation.notes.append("boxes that grow are searched in this process, without checkpoints")
        options = replace(options, checkpoint=None, executor=None)
    for reach in REACHES:
        before = preparation.value
        left = None if options.max_nodes is None else options.max_nodes - found.fields.get("n_nodes", 0)
        if left == 0:
            found.status = Status.NODE_LIMIT
            break
        found = _search_box(
            preparation, replace(options, max_nodes=left), monitor, *preparation.limited(low, high, free, reach), found,
        )  # fmt: skip
        preparation.keep(found.point)
        gained = before - preparation.value
        if found.status not in (Status.OPTIMAL, Status.INFEASIBLE, Status.NUMERICAL):
            return found
        preparation.go_on()
        preparation.least = found.bound = max(found.bound, preparation.bound_all())
        if np.isfinite(preparation.value) and not gained > WORTH_GROWING * abs(preparation.value):
            break
    return found


def _search_box(preparation, options, monitor, low, high, limits, past, stored=None):
    """Search a box in the core's units; counts and history go on from those of the past search."""
    objective_scale, n_past = preparation.objective_scale, past.fields.get("n_nodes", 0)
    core = _core(preparation, options, low, high)
    factor = preparation.lifting.sign * objective_scale

    def report(time, n_nodes, n_open, lower, upper, new):
        lower = min(lower, most)
        return monitor(time, n_past + n_nodes, n_open, *sorted((factor * lower, factor * upper)), new)

    spill = None if options.spill is None else Spill(options.spill, preparation.notes.append)
    keeper = None
    if options.checkpoint is not None:
        header = checkpoint_header(preparation.problem, options, preparation.start)
        header["coordinates"] = core.coordinates()
        keeper = Checkpoint(options.checkpoint, options.checkpoint_every, header, preparation.notes.append, spill)
    search, primal = core.search(
        preparation.data,
        preparation.nonlinear,
        n_threads=n_threads(options.n_threads),
        stop=preparation.stop,
        max_nodes=2**62 if options.max_nodes is None else options.max_nodes,
        monitor=report if monitor.wanted else None,
        memory=Memory(options.memory_limit),
        spill=spill,
        keeper=keeper,
    )
    # Nothing is known of what lies beyond the limits but the bound of the whole; nor of what the best point's objective
    # cut off, were that point no incumbent.
    whole = not limits and (core.given is None or primal.has_given)
    most = np.inf if whole else preparation.least / objective_scale
    try:
        if stored is not None:
            _restore(search, core, stored, spill)
        with contextlib.nullcontext() if keeper is None else keeper.on_termination():
            status = Status(_run(search, core, preparation, options, keeper, stored))
        finished = status not in (Status.TIME_LIMIT, Status.NODE_LIMIT, Status.INTERRUPTED, Status.MEMORY_LIMIT)
        if keeper is not None and keeper.begun:
            keeper.write(search, finished)
    finally:
        primal.close()
        if spill is not None:
            spill.close()
    fields, point = search.summary()
    history = fields.pop("history")
    history[:, 2] = np.minimum(history[:, 2], most)
    history[:, 2:4] = np.sort(factor * history[:, 2:4], axis=1)
    history[:, 1] += n_past
    history = np.vstack([past.fields.get("history", np.empty((0, 5))), history])
    del fields["objective"], fields["lower_bound"], fields["time"]
    for name in (name for name in fields if name.startswith("n_")):
        fields[name] += past.fields.get(name, 0)
    return _Found(
        status,
        -np.inf if status is Status.UNBOUNDED else min(search.least_bound, most) * objective_scale,
        preparation.to_user(point) if np.isfinite(point).all() else None,
        core.epsilon / WITHIN * objective_scale,
        limits,
        whole,
        history=history,
        **fields,
    )


def _core(preparation, options, low, high):
    """Return what the search is made of."""
    epsilon, rel_tol = preparation.tolerances()
    return Core(
        problem=preparation.problem,
        with_switches=not preparation.has_one_side(),
        one_side=preparation.has_one_side(),
        box=preparation.scaled_box,
        low=low,
        high=high,
        starts=preparation.starts,
        given=None if preparation.point is None else preparation.to_core(preparation.point),
        n_lps=preparation.n_lps,
        epsilon=epsilon,
        rel_tol=rel_tol,
        least=preparation.least / preparation.objective_scale,
        orthant=options.branching == "orthant",
        milp=options.subproblem == "milp",
    )


def _restore(search, core, stored, spill):
    """Take the state of a checkpoint."""
    if stored.header["coordinates"] != core.coordinates():
        raise CheckpointError(
            f"{stored.path}: written on a machine whose arithmetic gives other coordinates of the boxes, or the time "
            "limit came while these were made"
        )
    stored.restore(search)
    if spill is not None:
        spill.hold([name for _, _, _, name in stored.header["blocks"]])


def _run(search, core, preparation, options, keeper, stored):
    """Start the search, or go on with it, here or on the executor; return why it ended."""
    max_nodes = 2**62 if options.max_nodes is None else options.max_nodes
    if options.executor is None:
        return search.run() if stored is None else search.resume(preparation.left(), max_nodes)
    coordinates = core.coordinates()
    setup = worker_search, (core,), coordinates
    spread = Spread(search, options.executor, coordinates, setup, keeper, preparation.notes.append)
    if keeper is not None:
        keeper.elsewhere = spread.outstanding
    return spread.run(preparation.left(), max_nodes)


def _start(problem, start):
    if start is None:
        return None
    start = getattr(start, "solution", start)
    point = checks.real_array("start", getattr(start, "z", start))
    if point.shape != (problem.n_variables,):
        raise InputError(f"start must have shape ({problem.n_variables},); got {point.shape}")
    if (abs(point) > LARGEST_NUMBER).any():
        raise InputError(f"start must have entries of magnitudes up to {LARGEST_NUMBER:g}; got {abs(point).max():g}")
    return point


def _result(problem, preparation, found, options, seconds):
    """Make the result; what it claims is checked with the problem's own formulas, apart from the core's."""
    status, sign = found.status, -1.0 if problem.sense == "max" else 1.0
    notes = [*_copied(preparation.lifting), *preparation.notes]
    if preparation.ray is not None:
        notes = [_along(problem.names, preparation.ray)]
    solution, value = None, np.inf  # minimised
    if found.point is not None and status is not Status.INFEASIBLE:
        z = np.clip(found.point, problem.lower, problem.upper)
        solution = BiconvexSolution(z=z, names=problem.names, violations=problem.violations(z))
        value = sign * problem.objective(z)
        if not (solution.max_violation <= FEASIBILITY_TOL and np.isfinite(value)):
            solution, value = None, np.inf
            notes.append("no point was found that meets the constraints to the tolerance")
    bound = found.bound
    if solution is not None and bound > value:
        _check_below_bound(problem, solution.z, bound)
        if bound - value > NOTEWORTHY * abs(value):
            notes.append(
                "the solution uses the feasibility tolerance: no point that meets the constraints exactly is as good"
            )
    bound = min(bound, value)
    if status is Status.UNBOUNDED:
        if solution is None:
            status = Status.NUMERICAL
        else:
            value = -np.inf
        bound = -np.inf
    elif status is Status.OPTIMAL:
        rel_tol = REL_TOL if options.rel_tol is None else options.rel_tol
        if not value - bound <= max(found.epsilon, rel_tol * abs(value)):
            status = Status.NUMERICAL
    if status is Status.INFEASIBLE and not found.whole and bound < np.inf:
        status = Status.NUMERICAL
    if status is not Status.UNBOUNDED:
        proved = "the bound is of all values" if bound > -np.inf else "no bound is proved of all values"
        notes += [f"{_limits(found.limits)}, {proved}"] if found.limits else []
    last = [seconds, found.fields.get("n_nodes", 0), *sorted((sign * bound, sign * value)), 0]
    history = found.fields.pop("history", np.empty((0, 5)))
    if len(history):
        last[4] = history[-1, 4]
    return make(
        problem, status=status, objective=sign * value, bound=sign * bound, solution=solution, time=seconds,
        history=np.vstack([history[:-1], last]), notes=notes, branching=options.branching or "bisect",
        subproblem=options.subproblem, **found.fields,
    )  # fmt: skip


def _check_below_bound(problem, z, bound):
    """
    Check a point whose objective lies below what is proved of all points that meet the constraints.

    Raises
    ------
    RuntimeError
        If it meets them itself, in exact arithmetic: the bound is wrong.
    """
    value, feasible = problem.exact(z)
    if feasible and value < bound:
        raise RuntimeError("gopfast: a lower bound exceeds the incumbent; please report this problem")


def _along(names, ray):
    steps = [(name, step) for name, step in zip(names, ray, strict=True) if step]
    moved = [f"{name} {'+' if step > 0 else '-'} {float(abs(step)):.6g} t" for name, step in steps]
    return f"unbounded as t grows along {', '.join(moved[:MOST_SHOWN])}{', ...' * (len(moved) > MOST_SHOWN)}"


def _limits(limits):
    names, sizes = list(limits), [f"{size:.3g}" for size in (min(limits.values()), max(limits.values()))]
    shown = ", ".join(names[:MOST_SHOWN]) + ", ..." * (len(names) > MOST_SHOWN)
    return f"the constraints leave {shown} unbounded: searched up to {' to '.join(dict.fromkeys(sizes))}"


def _copied(lifting):
    if lifting is None or not lifting.copies:
        return ()
    names, copies = lifting.problem.names, lifting.copies
    shown = ", ".join(names[i] for i in list(copies.values())[:5]) + (", ..." if len(copies) > 5 else "")
    return (f"no partition into x and y: solved with {len(copies)} copies of variables ({shown})",)
