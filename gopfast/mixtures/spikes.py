"""
Components that sit on the floor of the variances, on few distinct values.

Repeated and rounded values draw a component onto themselves: the likelihood gains by making it as narrow as the floor
allows. That such a fit is optimal is proved, and says more of the floor than of the data.
"""

import numpy as np

from gopfast.mixtures.problems.covariance import ON_FLOOR

MOST_VALUES = 3  # the value of a spike and its neighbours
SHARE = 0.9  # of a component's samples that lie on them
EQUAL = 1e-6  # values that differ by less, in units of the floor's root, are one
MOST_SHOWN = 3


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
    Say which components are spikes.

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
    X = problem.X / np.sqrt(problem.variance_floor)
    mass = problem.sample_weight[:, np.newaxis] * solution.responsibilities
    columns = [_group(column) for column in X.T]
    rows = np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].ravel() if len(columns) > 1 else None
    spikes = []
    for k in suspects:
        where = _where(problem, solution.covariances, k, mass[:, k], columns, rows)
        if where:
            spikes.append(f"component {k} sits on variance_floor, on {where}")
    if not spikes:
        return ""
    more = len(spikes) - MOST_SHOWN
    text = "; ".join(spikes[:MOST_SHOWN]) + (f"; so do {more} more" if more > 0 else "")
    what = "a spike" if len(spikes) == 1 else "spikes"
    return f"{text}: {what} on repeated, rounded or close values, which a larger variance_floor rules out"


def _where(problem, covariances, k, mass, columns, rows):
    """Few distinct values of one column, or few distinct rows, that hold the component; empty if there are none."""
    for j in problem.kind.narrow_columns(covariances, k):
        found = _few(columns[j], mass)
        if found is not None:
            shown = ", ".join(f"{value:.6g}" for value in np.sort(problem.X[found, j]))
            where = "" if problem.n_features == 1 else f" of column {j}"
            return f"{_count(found, 'distinct value')}{where} ({shown})"
    found = None if rows is None else _few(rows, mass)
    return "" if found is None else _count(found, "distinct sample")


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


def _count(found, what):
    return f"{len(found)} {what}{'s' * (len(found) > 1)}"
