"""The global solve of a biconvex problem: bounds of the variables, scaling, search, the result in the user's units."""

import time
from functools import partial

import numpy as np

from gopfast import _biconvex_result, _checks, _engine, _tightening
from gopfast._alternating import AlternatingPrimal
from gopfast._bilinear import BilinearRelaxation
from gopfast._lifting import Lifting
from gopfast._search import Search
from gopfast.errors import InputError
from gopfast.result import Status

REL_TOL = 1e-6  # default
# Default absolute tolerance, as a share of what the objective's terms can amount to: an optimum of 0 needs one.
EPSILON_SHARE = 1e-8
WITHIN = 1 - 1e-6  # the gap must not exceed the tolerance by rounding
N_RANDOM_STARTS = 20
LARGEST = 1e8  # of a variable that nothing bounds, in the core's units


def solve(problem, options, monitor, start=None):
    """
    Solve a `BiconvexProblem`; arguments are validated already, see `gopfast.solve`.

    Parameters
    ----------
    problem : BiconvexProblem
    options : Options
    monitor : object with __call__, wanted and finish
        Takes the progress.
    start : array_like, shape (n,), or anything with a solution, optional

    Returns
    -------
    BiconvexResult

    Raises
    ------
    InputError
        If a bilinear variable has no finite bounds and the constraints imply none, or an option does not fit.
    """
    started = time.perf_counter()
    start = _start(problem, start)
    lifting = Lifting(problem)
    box = _tightening.tighten(lifting)
    if box is None:
        return _infeasible(problem, started, monitor)
    _tightening.check_bilinear(lifting, *box)
    one_side = options.branching == "orthant" or options.partition == "paper"
    data, scale, objective_scale = lifting.data(*box, one_side=one_side)
    options.check_orthants(data.n_split)
    units = _Units(problem, lifting, scale, objective_scale)
    starts = _starts(data, units, start, options)
    relaxed, units.notes = _relaxation(lifting, data, scale, starts, options)
    primal = AlternatingPrimal(data, starts)
    rel_tol = REL_TOL if options.rel_tol is None else options.rel_tol
    epsilon = options.epsilon / objective_scale if options.epsilon is not None else EPSILON_SHARE * _magnitude(data)
    left = np.inf if options.time_limit is None else options.time_limit - (time.perf_counter() - started)
    search = Search(
        relaxed,
        primal,
        epsilon * WITHIN,
        rel_tol=rel_tol * WITHIN,
        orthant=options.branching == "orthant",
        n_threads=_engine.n_threads(options.n_threads),
        time_limit=max(left, 0.0),
        max_nodes=2**62 if options.max_nodes is None else options.max_nodes,
        monitor=units.monitor(monitor) if monitor.wanted else None,
    )
    try:
        reason = Status(search.run())
    finally:
        primal.close()
    fields, point = search.summary()
    result = units.result(reason, fields, point, time.perf_counter() - started, options)
    monitor.finish(result)
    return result


def _relaxation(lifting, data, scale, starts, options):
    """Make the relaxation on a box as bounded as can be, and the notes on that."""
    low, high = data.box
    notes = []
    bilinear = range(lifting.n_bilinear)
    free = [j for j in range(data.n) if not (np.isfinite(low[j]) and np.isfinite(high[j]))]
    if free:
        objective, _ = _local_search(data, starts)
        if np.isfinite(objective):
            make = partial(BilinearRelaxation, data)
            _tightening.limit_by_cutoff(make, low, high, [j for j in free if j in bilinear], objective)
            box = data.tighten_box(low, high, objective)
            if box is not None:
                low, high = box
    # What is left is linear, or the factor of a product that another one bounds. A dual that is off by rounding
    # proves nothing along an infinite range.
    for j in range(data.n):
        if not (np.isfinite(low[j]) and np.isfinite(high[j])):
            low[j], high[j] = max(low[j], -LARGEST), min(high[j], LARGEST)
            i = lifting.order[j]
            name = lifting.problem.names[lifting.copies.get(i, i)]
            notes.append(f"the constraints leave {name} unbounded: proved for values up to {LARGEST * scale[i]:.3g}")
    return BilinearRelaxation(data, low, high, milp=options.subproblem == "milp"), notes


def _infeasible(problem, started, monitor):
    worst = np.inf if problem.sense == "min" else -np.inf
    result = _biconvex_result.make(
        problem, status=Status.INFEASIBLE, objective=worst, bound=worst, solution=None, branching="bisect",
        time=time.perf_counter() - started, history=[(0.0, 0, worst, worst, 0)],
    )  # fmt: skip
    monitor.finish(result)
    return result


def _start(problem, start):
    if start is None:
        return None
    start = getattr(start, "solution", start)
    point = _checks.real_array("start", getattr(start, "z", start))
    if point.shape != (problem.n_variables,):
        raise InputError(f"start must have shape ({problem.n_variables},); got {point.shape}")
    return point


def _starts(data, units, start, options):
    """Points for the local search: the user's, the relaxed dual's, the middle, and random ones."""
    low, high = data.box
    _, _, _, point, _ = BilinearRelaxation(data).bound_box(low, high)
    points = [point]
    if start is not None:
        points.insert(0, units.to_core(start))
    finite_low = np.where(np.isfinite(low), low, np.minimum(high, 0.0) - 1.0)
    finite_low = np.where(np.isfinite(finite_low), finite_low, -1.0)
    finite_high = np.where(np.isfinite(high), high, np.maximum(finite_low, 0.0) + 1.0)
    points.append(0.5 * (finite_low + finite_high))
    rng = np.random.default_rng(options.seed)
    points += [finite_low + rng.random(data.n) * (finite_high - finite_low) for _ in range(N_RANDOM_STARTS)]
    return np.array(points)


def _local_search(data, starts):
    """Best of the primal's first search: objective and point, in the core's units."""
    primal = AlternatingPrimal(data, starts)
    try:
        return primal.run(1e-9)
    finally:
        primal.close()


def _magnitude(data):
    """Return what the terms of the objective can amount to, in the core's units: a scale for its tolerance."""
    return max(data.objective_range(), 1e-300)


class _Units:
    """Between the core's variables and objective and the user's."""

    def __init__(self, problem, lifting, scale, objective_scale):
        self.problem, self.lifting, self.scale = problem, lifting, scale
        self.factor = lifting.sign * objective_scale
        self.notes = []

    def to_core(self, point):
        copied = np.concatenate([point, [point[i] for i in self.lifting.copies.values()]])
        return (copied / self.scale)[self.lifting.order]

    def bounds(self, lower, upper):
        """Lower and upper bound of the user's optimum; a power of two rounds nothing."""
        lower, upper = self.factor * lower, self.factor * upper
        return (lower, upper) if self.factor > 0 else (upper, lower)

    def monitor(self, monitor):
        return lambda time, n_nodes, n_open, lower, upper, new: monitor(
            time, n_nodes, n_open, *self.bounds(lower, upper), new
        )

    def result(self, status, fields, point, seconds, options):
        problem = self.problem
        solution = None
        if np.isfinite(point).all() and status is not Status.INFEASIBLE:
            z = (point[self.lifting.place] * self.scale)[: problem.n_variables]
            z = np.clip(z, problem.lower, problem.upper)
            solution = _biconvex_result.BiconvexSolution(
                z=z, names=problem.names, violations=problem.violations(z)
            )
        history = fields.pop("history")
        history[:, 2:4] = [self.bounds(*row) for row in history[:, 2:4]]
        fields["time"] = seconds
        notes = [*self.copied(), *(self.notes if status is not Status.UNBOUNDED else ())]
        return _biconvex_result.make(
            problem, status=status, objective=self.factor * fields.pop("objective"),
            bound=self.factor * fields.pop("lower_bound"), solution=solution, history=history,
            branching=options.branching or "bisect", subproblem=options.subproblem, notes=notes, **fields,
        )  # fmt: skip

    def copied(self):
        names, copies = self.problem.names, self.lifting.copies
        if not copies:
            return ()
        shown = ", ".join(names[i] for i in list(copies.values())[:5]) + (", ..." if len(copies) > 5 else "")
        return (f"no partition into x and y: solved with {len(copies)} copies of variables ({shown})",)
