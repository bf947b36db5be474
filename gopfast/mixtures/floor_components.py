"""
Components that sit on the floor of the variances: spikes, and components that the floor binds.

Repeated and rounded values, or a few close samples, draw a component onto themselves: the likelihood gains by making it
as narrow as the floor allows. That such a fit is optimal is proved, and says more of the floor than of the data. A
component that rests on many samples is bound by a floor that is too high for the data.
"""

import numpy as np

from gopfast.mixtures.problems.covariance import ON_FLOOR
from gopfast.mixtures.problems.local_fits import MOST_EM, climb, least_rows, n_rows
from gopfast.mixtures.tuning import EQUAL, FLOOR_MOST_TERMS as MOST_TERMS, MOST_SHOWN, MOST_VALUES, SHARE, SMALLER


def floors(problem, covariances):
    """
    Compute the least variance of each component over the directions in which the data vary, in units of the floor.

    Returns
    -------
    ndarray, shape (K,) or ()
    """
    varying = np.setdiff1d(np.arange(problem.n_features), problem._constant_columns())
    return problem.kind.floors(covariances, varying if varying.size else slice(None))


def caution(problem, solution):
    """
    Say which components sit on the floor: spikes and, where the floor is the default one, those that it binds.

    Parameters
    ----------
    problem : GaussianMixture
        Of free variances.
    solution : MixtureSolution

    Returns
    -------
    str
        Half a sentence, empty where there are none.
    """
    low = np.broadcast_to(floors(problem, solution.covariances), problem.n_components)
    suspects = np.flatnonzero(low <= 1.0 + ON_FLOOR)
    if suspects.size == 0:
        return ""
    spikes = _spikes(problem, solution, suspects)
    if not spikes:
        return _bound(problem, solution, suspects) if problem._default_floor else ""
    shown = [f"component {k} sits on variance_floor, on {where}" for k, where in spikes.items()]
    more = len(shown) - MOST_SHOWN
    text = "; ".join(shown[:MOST_SHOWN]) + (f"; so do {more} more" if more > 0 else "")
    what = "a spike" if len(shown) == 1 else "spikes"
    return f"{text}: {what} on repeated, rounded or close values, which a larger variance_floor rules out"


def _spikes(problem, solution, suspects):
    """Return by component on how few values or samples it rests, of those that are spikes."""
    X = problem.X / np.sqrt(problem.variance_floor)
    tau = solution.responsibilities
    mass = problem.sample_weight[:, np.newaxis] * tau
    columns = [_group(column) for column in X.T]
    rows = np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].ravel() if len(columns) > 1 else None
    found = {k: _where(problem, solution.covariances, k, mass[:, k], tau[:, k], columns, rows) for k in suspects}
    return {k: where for k, where in found.items() if where}


def _bound(problem, solution, suspects):
    """Say that the default floor binds components that are no spikes, and what a smaller one would give."""
    if problem.kind.shared:
        who = "the shared covariance sits"
    else:
        several = len(suspects) > 1
        who = f"component{'s' * several} {', '.join(map(str, suspects))} {'sit' if several else 'sits'}"
    if problem.noise is not None:
        return f"{who} on the default variance_floor"
    gain = smaller_floor_gain(problem, solution)
    return f"{who} on the default variance_floor: one {SMALLER} times smaller gives {gain:.3g} nats or more"


def smaller_floor_gain(problem, solution):
    """
    Compute how much a smaller floor gains at least, by EM from a solution.

    Returns
    -------
    float
        Nats, for a floor `SMALLER` times smaller; at least 0.
    """
    kind = type(problem.kind)(problem.n_components, problem.n_features, problem.variance_floor / SMALLER)
    n_steps = min(MOST_EM, 1 + MOST_TERMS // (problem.X.size * problem.n_components))
    weight = problem.sample_weight
    value, *_ = climb(kind, problem.X, weight, weight[:, np.newaxis] * solution.responsibilities, n_steps)
    attained = problem.elbo_constant - problem.objective(solution.weights, **solution.parameters)
    return max(0.0, value - attained)


def _where(problem, covariances, k, mass, tau, columns, rows):
    """Few distinct values of one column, or few distinct rows, that hold the component; empty if there are none."""
    for j in problem.kind.narrow_columns(covariances, k):
        found = _few(columns[j], mass)
        if found is not None:
            shown = ", ".join(f"{value:.6g}" for value in np.sort(problem.X[found, j]))
            where = "" if problem.n_features == 1 else f" of column {j}"
            return f"{_count(len(found), 'distinct value')}{where} ({shown})"
    rows = columns[0] if rows is None else rows
    found = _few(rows, mass) if len(columns) > 1 else None
    if found is not None:
        return _count(len(found), "distinct sample")
    distinct = np.bincount(rows, weights=tau) / np.bincount(rows)
    n = float(n_rows(distinct))
    return _count(round(n), "distinct sample") if n < least_rows(problem.kind) and not problem.kind.shared else ""


def _few(groups, mass):
    """Return one sample of each of the few groups that hold a component's mass, or None; not where they are all."""
    held = np.bincount(groups, weights=mass)
    total = held.sum()
    largest = np.argsort(-held, kind="stable")[: MOST_VALUES + 1]
    n_needed = 1 + int(np.searchsorted(np.cumsum(held[largest]), SHARE * total))
    if not total > 0.0 or n_needed > MOST_VALUES or n_needed >= len(held):
        return None
    return np.array([np.flatnonzero((groups == group) & (mass > 0.0))[0] for group in largest[:n_needed]])


def _group(values):
    """Return the numbers of the values in increasing order; equal ones have the same."""
    order = np.argsort(values, kind="stable")
    new = np.diff(values[order], prepend=values[order[0]]) > EQUAL
    groups = np.empty(len(values), dtype=np.intp)
    groups[order] = np.cumsum(new)
    return groups


def _count(n, what):
    return f"{n} {what}{'s' * (n > 1)}"
