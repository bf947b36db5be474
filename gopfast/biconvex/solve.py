"""The global solve of a biconvex problem: prepared, searched, told in the user's units."""

import time
from dataclasses import replace

import numpy as np

from gopfast import checks
from gopfast.biconvex.concave_directions import ConcaveDirections
from gopfast.biconvex.core import METERED, Core, checkpoint_header, worker_search
from gopfast.biconvex.interruption import Stopped
from gopfast.biconvex.mechanisms import NAMES
from gopfast.biconvex.outcome import Found, result_of
from gopfast.biconvex.plan import BiconvexPlan
from gopfast.biconvex.polynomial import PolynomialProblem
from gopfast.biconvex.preparation import Preparation
from gopfast.biconvex.problem import LARGEST_NUMBER, BiconvexProblem
from gopfast.biconvex.squared_forms import SquaredForms
from gopfast.biconvex.symmetry import Symmetry
from gopfast.biconvex.tuning import REACHES, REL_TOL, SAME, WHOLE_NODES, WORTH_GROWING
from gopfast.errors import InputError
from gopfast.profile import Profile
from gopfast.result import Status
from gopfast.search import interrupts
from gopfast.search.session import UNLIMITED, Session, memory_notes

NO_RAY = "what seems to be a ray along which the objective has no bound is none in exact numbers"


def solve(problem, options, start=None, proof=None, stored=None):
    """
    Solve a `BiconvexProblem`; arguments are validated already, see `gopfast.solve`.

    Parameters
    ----------
    problem : BiconvexProblem or PolynomialProblem
    options : Options
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
    session = Session(options)
    formulas = problem if isinstance(problem, PolynomialProblem) and problem.has_atoms else None
    plan = BiconvexPlan(_biconvex(problem), options)
    solved, own_start = _with_forms(plan, _lifted(problem, start))
    meters = [plan.meter(mechanism) for mechanism in METERED]
    preparation = Preparation(solved, session, own_start, started, solve, formulas, meters[:-1])
    preparation.is_steep = isinstance(problem, PolynomialProblem) and problem.is_steep
    session.keep(lambda: checkpoint_header(problem, options, start))
    with session.monitor.watching():
        with session.on_termination():
            found = _found(preparation, plan, meters, stored)
            session.end(None, found.status)
        if found.status not in (Status.TIME_LIMIT, Status.INTERRUPTED):
            preparation.go_on()  # the search's end is no reason to leave its point unpolished
        found.point = preparation.no_worse_than_start(preparation.polished(found.point))
        found.fields["profile"] = Profile(NAMES, [(meter.name, meter.row()) for meter in plan.meters])
        result = result_of(problem, preparation, found, time.perf_counter() - started)
        session.monitor.finish(result)
        if proof is None:
            return result
        return _with_proof(problem, options, found, result, proof)


def _biconvex(problem):
    """Return what is solved for a problem."""
    return problem if isinstance(problem, BiconvexProblem) else problem.lifted


def _lifted(problem, start):
    """Return a start as a point of what is solved; one at which the problem's formulas are not defined is none."""
    if start is None or isinstance(problem, BiconvexProblem):
        return start
    start = problem.completed(np.clip(start, problem.lower, problem.upper))
    return start if (abs(start) <= LARGEST_NUMBER).all() else None


def _with_forms(plan, start):
    """Return what is solved and the start, with variables for linear forms where there are any (XL1), (XL3)."""
    found = SquaredForms.make(plan) if plan.has(SquaredForms) else None
    if found is None and plan.has(ConcaveDirections):
        found = ConcaveDirections.make(plan)
    if found is None:
        return plan.problem, start
    return found, None if start is None else found.completed(start)


def _with_proof(problem, options, found, result, proof):
    """Return the result with its proof, for which a search of its own takes as long again as this one could."""
    # Here and not above: few ask for it.
    from gopfast.biconvex.proof import with_proof

    rel_tol = REL_TOL if options.rel_tol is None else options.rel_tol
    tolerance = max(found.epsilon, rel_tol * abs(result.objective))
    limit = np.inf if options.time_limit is None else options.time_limit
    with interrupts.raised():
        return with_proof(problem, result, tolerance, proof, limit)


def _found(preparation, plan, meters, stored):
    """Return what is found within the limits."""
    found = None
    try:
        if not preparation.tighten():
            found = Found(Status.INFEASIBLE, np.inf)
        elif preparation.ray is not None:
            found = Found(Status.UNBOUNDED, -np.inf, preparation.point)
        elif not preparation.run():
            found = Found(Status.INFEASIBLE, np.inf)
        else:
            found = _proved(preparation) or _search(preparation, plan, meters, stored)
    except Stopped:
        found = preparation.so_far(Status(preparation.stop.stopped))
    except KeyboardInterrupt:  # in Python, where no signal is polled
        found = found or preparation.so_far(Status.INTERRUPTED)
    return found


def _proved(preparation):
    """Return what is found where the bound before the search proves it; None otherwise."""
    if preparation.stop.stopped or not preparation.is_proved():
        return None
    value, least, sign = preparation.value, preparation.least, preparation.lifting.sign
    if (report := preparation.session.report) is not None:
        report(time.perf_counter() - preparation.started, 1, 0, *sorted((sign * least, sign * value)), True)
    epsilon, _, within = preparation.tolerances()
    epsilon *= preparation.objective_scale / within
    return Found(Status.OPTIMAL, least, preparation.point, epsilon, n_nodes=1, n_lps=1 + preparation.n_lps)


def _search(preparation, plan, meters, stored):
    """Search globally; where nothing bounds what must have bounds, in boxes that grow while that helps."""
    session, options = preparation.session, preparation.options
    low, high, free = preparation.root_box()
    found = Found(Status.NUMERICAL, preparation.least, preparation.point)
    if not free:
        # lifted equations leave little at the root, which other rows move to where less of them holds
        lifts_equations = preparation.lifting.lifts_equations
        # those of a checkpoint's nodes, which a limit may not take from them
        stop = preparation.stop if stored is None and options.checkpoint is None else None
        if not lifts_equations and plan.has(Symmetry) and (rows := Symmetry.make(plan, stop)):
            preparation.order(rows)
        return _search_box(preparation, session, meters, low, high, {}, found, stored)
    if options.checkpoint is not None or options.executor is not None:
        session.note("boxes that grow are searched in this process, without checkpoints")
        options = replace(options, checkpoint=None, executor=None)
    if preparation.has_bounded_factors(low, high):
        found = _search_whole(preparation, options, meters, low, high, found)
        if found.status not in (Status.NUMERICAL, Status.NODE_LIMIT) or (
                options.max_nodes is not None and found.fields["n_nodes"] >= options.max_nodes):
            return found
    for reach in REACHES:
        before = preparation.value
        left = None if options.max_nodes is None else options.max_nodes - found.fields.get("n_nodes", 0)
        if left == 0:
            found.status = Status.NODE_LIMIT
            break
        within = session.within(replace(options, max_nodes=left))
        found = _search_box(preparation, within, meters, *preparation.limited(low, high, free, reach), found)
        preparation.keep(found.point)
        gained = before - preparation.value
        if found.status not in (Status.OPTIMAL, Status.INFEASIBLE, Status.NUMERICAL):
            return found
        preparation.go_on()
        preparation.least = found.bound = max(found.bound, preparation.bound_all())
        if np.isfinite(preparation.value) and not gained > WORTH_GROWING * abs(preparation.value):
            break
    return found


def _search_whole(preparation, options, meters, low, high, found):
    """
    Search without ends where a factor of every product has some: only such variables are divided.

    It ends soon where it helps: along an infinite range a dual that is off by rounding proves nothing.
    """
    max_nodes = WHOLE_NODES if options.max_nodes is None else min(WHOLE_NODES, options.max_nodes)
    within = preparation.session.within(replace(options, max_nodes=max_nodes))
    found = _search_box(preparation, within, meters, low, high, {}, found)
    if found.status in (Status.NUMERICAL, Status.NODE_LIMIT):
        preparation.keep(found.point)
        preparation.go_on()
        preparation.least = max(preparation.least, found.bound)
    return found


def _search_box(preparation, session, meters, low, high, limits, past, stored=None):
    """Search a box in the core's units; counts and history go on from those of the past search."""
    objective_scale, n_past = preparation.objective_scale, past.fields.get("n_nodes", 0)
    options, core = session.options, _core(preparation, session.options, low, high)
    factor, epsilon = preparation.lifting.sign * objective_scale, core.epsilon / preparation.tolerances()[2]

    def report(time, n_nodes, n_open, lower, upper, new):
        lower = min(lower, most)
        return session.monitor(time, n_past + n_nodes, n_open, *sorted((factor * lower, factor * upper)), new)

    surroundings = session.surroundings(core.coordinates)
    if session.report is not None:
        surroundings["monitor"] = report
    complete = None if preparation.formulas is None else preparation.complete
    search, primal = core.search(preparation.data, preparation.nonlinear, complete, meters, **surroundings)
    # Nothing is known of what lies beyond the limits but the bound of the whole; nor of what the best point's objective
    # cut off, were that point no incumbent.
    whole = not limits and (core.given is None or primal.has_given)
    most = np.inf if whole else preparation.least / objective_scale
    try:
        if stored is not None:
            session.restore(search, stored, lambda point, upper: _attains(preparation.data, point, upper))
        max_nodes = UNLIMITED if options.max_nodes is None else options.max_nodes
        status = session.run(
            search, lambda: (core.coordinates(), worker_search, (core,)), preparation.left(), max_nodes,
            stop=preparation.stop,
        )  # fmt: skip
        session.end(search, status)
    finally:
        primal.close()
        session.close()
    for text in memory_notes(search):
        if text not in session.notes:
            session.note(text)
    preparation.endings.take(primal.endings, objective_scale)
    fields, point = search.summary()
    ray = primal.ray if status is Status.UNBOUNDED else None
    history = fields.pop("history")
    history[:, 2] = np.minimum(history[:, 2], most)
    history[:, 2:4] = np.sort(factor * history[:, 2:4], axis=1)
    history[:, 1] += n_past
    history = np.vstack([past.fields.get("history", np.empty((0, 5))), history])
    del fields["objective"], fields["lower_bound"], fields["time"]
    for name in (name for name in fields if name.startswith("n_")):
        fields[name] += past.fields.get(name, 0)
    point = preparation.to_user(point) if np.isfinite(point).all() else None
    bound = min(search.least_bound, most) * objective_scale
    if ray is not None:
        status, bound, point = _along(preparation, point, ray)
    return Found(
        status,
        bound,
        point,
        epsilon * objective_scale,
        limits,
        whole,
        history=history,
        **fields,
    )


def _along(preparation, point, ray):
    """Status, bound and point where a program was unbounded along a ray: what holds but for rounding proves nothing."""
    # Here and not above: few problems have a ray.
    from gopfast.biconvex import recession

    found = recession.proved(preparation.problem, point, preparation.to_user(ray))
    if found is None:
        if NO_RAY not in preparation.session.notes:
            preparation.session.note(NO_RAY)
        return Status.NUMERICAL, -np.inf, point
    return Status.UNBOUNDED, -np.inf, found[0]


def _core(preparation, options, low, high):
    """Return what the search is made of."""
    epsilon, rel_tol, _ = preparation.tolerances()
    return Core(
        problem=preparation.problem,
        with_switches=not preparation.has_one_side(),
        one_side=preparation.has_one_side(),
        box=preparation.scaled_box,
        tangents=tuple(preparation.tangents),
        ordering=tuple(preparation.lifting.ordering),
        low=low,
        high=high,
        starts=preparation.starts,
        kinds=preparation.kinds,
        given=None if preparation.point is None else preparation.to_core(preparation.point),
        n_lps=preparation.n_lps,
        epsilon=epsilon,
        rel_tol=rel_tol,
        least=preparation.least / preparation.objective_scale,
        orthant=options.branching == "orthant",
        milp=options.subproblem == "milp",
        without=options.without,
    )


def _attains(data, point, upper):
    """Whether a point in the core's units is feasible, and has an objective."""
    value, violation = data.evaluate(point)
    return value - upper <= SAME * (1.0 + abs(upper)) and violation <= SAME


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
