"""What a biconvex search ends with, and the result made of it in the user's sense and units.

Theory: (XF4) of docs/theory/functions.md.
"""

import numpy as np

from gopfast.biconvex.polynomial import PolynomialProblem
from gopfast.biconvex.result import BiconvexSolution, make
from gopfast.biconvex.start_kinds import KINDS
from gopfast.biconvex.tuning import FEASIBILITY_TOL, MOST_SHOWN, NOTEWORTHY, REL_TOL, SAME_END
from gopfast.result import Status
from gopfast.search.endings import ENDINGS
from gopfast.starts import Starts


class Found:
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


def result_of(problem, preparation, found, seconds):
    """
    Make the result; what it claims is checked with the problem's own formulas, apart from the core's.

    The variables of a `PolynomialProblem` are the first of those that are searched.
    """
    status, sign, options = found.status, -1.0 if problem.sense == "max" else 1.0, preparation.options
    notes = [*_copied(preparation.lifting), *preparation.session.notes]
    if preparation.ray is not None:
        notes = [_along(problem.names, preparation.ray[: problem.n_variables])]
    solution, value = None, np.inf  # minimised
    if found.point is not None and status is not Status.INFEASIBLE:
        z = np.clip(found.point[: problem.n_variables], problem.lower, problem.upper)
        z, violations = _at_ends(problem, z, sign)
        solution = BiconvexSolution(z=z, names=problem.names, violations=violations)
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
    elif status in (Status.OPTIMAL, Status.NODE_LIMIT, Status.TIME_LIMIT):
        rel_tol = REL_TOL if options.rel_tol is None else options.rel_tol
        epsilon = found.epsilon if np.isfinite(found.epsilon) or status is Status.OPTIMAL else 0.0
        is_proved = solution is not None and value - bound <= max(epsilon, rel_tol * abs(value))
        if is_proved:
            status = Status.OPTIMAL  # also where a limit came before the point was polished
        elif status is Status.OPTIMAL:
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
        subproblem=options.subproblem, starts=_starts(preparation.endings, value, found.epsilon), **found.fields,
    )  # fmt: skip


def _at_ends(problem, z, sign):
    """Return a point and its violations, or a better one near it, at the ends of functions' domains exactly (XF4)."""
    found = [(z, problem.violations(z))]
    if isinstance(problem, PolynomialProblem):
        found += [(near, problem.violations(near)) for near in problem.near_ends(z)]
    if len(found) == 1:
        return found[0]
    feasible = [pair for pair in found if pair[1].max(initial=0.0) <= FEASIBILITY_TOL]
    # where a power is defined to the tolerance alone, the user's own formula has no value
    inside = [pair for pair in feasible if problem.is_inside(pair[0])]
    return min(inside or feasible, key=lambda pair: sign * problem.objective(pair[0]), default=found[0])


def _starts(endings, value, epsilon):
    """Return the local searches, of which the best objective, minimised, is at most `value`; None: there were none."""
    counts, (kinds, ways, values) = endings.table(), endings.rows()
    if not counts.any():
        return None
    best = min(values.min(initial=np.inf), value if np.isfinite(value) else np.inf)
    # what polishing and the feasibility tolerance gain makes no other optimum
    tolerance = max(SAME_END * (1.0 + abs(best)), epsilon if np.isfinite(epsilon) else 0.0)
    return Starts(
        {kind: dict(zip(ENDINGS, row, strict=True)) for kind, row in zip(KINDS, counts.tolist(), strict=True)},
        [KINDS[kind] for kind in kinds], [ENDINGS[way] for way in ways], values - best, tolerance,
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
