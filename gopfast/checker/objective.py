"""The objective at the parameters that a proof claims, rounded up."""

import math

import numpy as np

from .errors import ProofError
from .rounding import UNIT

LOG_2_PI = math.log(2.0 * math.pi)


def attained(record, X, weights, solution):
    """
    Bound ``-sum_i w_i log sum_k p_k f(x_i | k)`` from above, less the constant that models of known variance leave out.

    Parameters
    ----------
    record : dict
        The problem.
    X : ndarray, shape (N, d)
        Columns of statistics.
    weights : ndarray, shape (N,)
    solution : dict
        "weights" (K,), "means" (K, d) and, for free variances, "variances" (K, d).
    """
    p, means = (np.array(solution[name], dtype=float) for name in ("weights", "means"))
    K = record["n_components"]
    if p.shape != (K,) or means.shape != (K, X.shape[1]) or not ((p >= 0).all() and p.sum() > 0):
        raise ProofError("solution", "weights and means have wrong shapes or signs")
    p = p / p.sum()
    cost, size = _COSTS[record["family"]](record, X, means, solution)
    with np.errstate(divide="ignore"):
        scores = np.log(p) - cost
    top = scores.max(axis=1)
    if not np.isfinite(top).all():
        raise ProofError("solution", "makes a sample impossible")
    log_s = top + np.log(np.exp(scores - top[:, np.newaxis]).sum(axis=1))
    # the error of the likeliest components' costs; that of others is weighed down by their responsibilities
    tau = np.exp(scores - log_s[:, np.newaxis])
    error = 2.0 * (tau * size).sum(axis=1) * (8 * X.shape[1] + 16) * UNIT + (2 * K + 64) * UNIT * (1 + np.abs(log_s))
    return math.fsum(weights * (-log_s + error)) * (1 + 4 * UNIT) + 8 * UNIT * math.fsum(weights * np.abs(log_s))


def _gaussian(X, means, variances, constant):
    squares = np.stack([np.square(X - m) / (2.0 * v) for m, v in zip(means, variances, strict=True)], axis=1)
    logs = 0.5 * (LOG_2_PI + np.log(variances)) if constant else np.zeros_like(variances)
    terms = squares + logs
    return terms.sum(axis=2), (squares + np.abs(logs)).sum(axis=2)


def _known(record, X, means, solution):
    variances = np.broadcast_to(np.array(record["noise_variance"], dtype=float), means.shape)
    return _gaussian(X, means, variances, constant=False)


def _diagonal(record, X, means, solution):
    variances = np.array(solution["variances"], dtype=float)
    floor = np.broadcast_to(np.array(record["variance_floor"], dtype=float), means.shape)
    if variances.shape != means.shape or (variances < floor * (1 - 1e-12)).any():
        raise ProofError("solution", "variances have a wrong shape or lie below the floor")
    if record["family"] == "spherical" and (variances != variances[:, :1]).any():
        raise ProofError("solution", "a spherical component has one variance")
    return _gaussian(X, means, variances, constant=True)


def _exponential_family(record, X, means, solution):
    cost, size = np.zeros((2, len(X), len(means)))
    for j, kind in enumerate(record["kinds"]):
        x, m = X[:, [j]], means[:, j]
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = [np.where(x > 0, -x * np.log(m), 0.0)]
            if kind == "bernoulli":
                terms.append(np.where(x < 1, -(1 - x) * np.log1p(-m), 0.0))
            elif kind == "poisson":
                terms.append(np.broadcast_to(m, cost.shape))
            elif kind == "exponential":
                terms = [np.broadcast_to(np.log(m), cost.shape), x / m]
        for term in terms:
            cost, size = cost + term, size + np.abs(np.where(np.isfinite(term), term, 0.0))
    return cost, size


_COSTS = {"known": _known, "diag": _diagonal, "spherical": _diagonal, "exponential_family": _exponential_family}
