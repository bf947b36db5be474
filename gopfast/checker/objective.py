"""The objective at the parameters that a proof claims, rounded up.

Theory: (V6) of docs/theory/proofs.md.
"""

import math

import numpy as np

from . import counts, gamma, matrices, priors, regressions
from .covariance import eigenvalues
from .entries import numbers
from .errors import ProofError
from .families import cost_of_noise
from .problem import COUNTS, FREE
from .rounding import UNIT
from .tuning import LARGEST_ERROR

LOG_2_PI = math.log(2.0 * math.pi)


def attained(problem, columns, weights, solution):
    """
    Upper bound of the objective, without the constant of the data.

    Parameters
    ----------
    problem : Problem
    columns, weights : ndarray, shape (N, d) and (N,)
        Samples of positive weight.
    solution : dict
        "weights" (K,), with noise (K + 1,), "means" (K, d) of the columns; for free variances
        "variances" (K, d), of columns of different families of the normal ones, for covariance matrices "covariances"
        (K, d, d); with a prior of known variances "prior_variance", with Gaussian posteriors
        "posterior_variances" (K, d); of regressions and Gamma columns no means, see `regressions`,
        `counts` and `gamma`. Weights, and labels' means, are
        divided by their sums.
    """
    K, d = problem.n_components, columns.shape[1]
    p, means = numbers(solution, "weights", "solution", (problem.n_weights,), 0.0), None
    if problem.family not in (*regressions.FAMILIES, *COUNTS, "gamma"):
        means = numbers(solution, "means", "solution", (K, d))
    if not p.sum() > 0:
        raise ProofError("solution", "has no weight")
    p = p / p.sum()
    with np.errstate(all="ignore"):
        if problem.family not in ("known", "posterior", "mixed", "gamma", *FREE, *regressions.FAMILIES, *COUNTS):
            means = _in_range(problem, means)
        cost, size = _costs_of(problem, columns, means, solution)
        if problem.noise is not None:
            worst = np.full((len(cost), 1), cost_of_noise(problem).high)
            cost, size = np.hstack([cost, worst]), np.hstack([size, np.abs(worst)])
        scores = np.log(p) - cost
        top = scores.max(axis=1)
        if not np.isfinite(top).all():
            raise ProofError("solution", "makes a sample impossible")
        log_s = top + np.log(np.exp(scores - top[:, np.newaxis]).sum(axis=1))
        # the error of the likeliest components' costs; that of others is weighed down by their responsibilities
        tau = np.exp(scores - log_s[:, np.newaxis])
        error = 2.0 * (tau * (size + np.where(p > 0, np.abs(np.log(p)), 0.0))).sum(axis=1) * (8 * d + 16) * UNIT
        error += (2 * problem.n_weights + 64) * UNIT * (1 + np.abs(log_s))
        value = math.fsum(weights * (error - log_s)) + 8 * UNIT * math.fsum(weights * (np.abs(log_s) + error))
        value += priors.attained(problem, p, means, solution)
        if not (math.isfinite(value) and error.max() <= LARGEST_ERROR):
            raise ProofError("solution", "its objective has no accurate value")
    return value + 4 * UNIT * abs(value)


def _costs_of(problem, X, means, solution):
    """Return costs (N, K) of the components and sizes of their errors, of parameters that a proof claims."""
    if problem.family in regressions.FAMILIES:
        return regressions.costs(problem, X, solution)
    if problem.family in COUNTS:
        return counts.costs(problem, X, solution)
    if problem.family == "gamma":
        return gamma.costs(problem, X, solution)
    if problem.family in matrices.FAMILIES:
        return _of_matrices(problem, X, means, solution)
    if problem.family == "mixed":
        return _of_parts(problem, X, means, solution)
    if problem.family in FREE:
        return costs(problem, X, means, _variances(problem, solution, means.shape))
    if problem.family in ("known", "posterior"):
        cost, size = costs(problem, X, means)
        if problem.family == "posterior":
            more = numbers(solution, "posterior_variances", "solution", means.shape, 0.0) / problem.noise_variance
            cost, size = cost + 0.5 * more.sum(axis=1), size + more.sum(axis=1)
        return cost, size
    return costs(problem, X, means)


def costs(problem, columns, means, variances=None):
    """
    Negative logarithms of components' densities.

    Parameters
    ----------
    problem : Problem
    columns : ndarray, shape (N, d)
    means, variances : ndarray, shape (K, d)

    Returns
    -------
    costs, sizes : ndarray, shape (N, K)
        Sizes are sums of the terms' magnitudes.
    """
    if problem.family in ("known", "posterior"):
        return _gaussian(columns, means, np.broadcast_to(problem.noise_variance, means.shape), False)
    if variances is not None:
        return _gaussian(columns, means, variances, True)
    return _exponential_family(problem, columns, means)


def _gaussian(X, means, variances, constant):
    squares = np.stack([np.square(X - m) / (2.0 * v) for m, v in zip(means, variances, strict=True)], axis=1)
    logs = 0.5 * (LOG_2_PI + np.log(variances)) if constant else np.zeros_like(variances)
    return (squares + logs).sum(axis=2), (squares + (np.abs(np.log(variances)) + 2 if constant else 0)).sum(axis=2)


def _of_matrices(problem, X, means, solution):
    """
    Return costs (N, K) and sizes of their errors.

    What is evaluated are not the matrices Sigma that the proof names but those of the inverses W'W, W lower triangular,
    about the inverse of Sigma's Cholesky factor: log det is that of W's diagonal, exactly. At least F = diag(floor) is
    such a matrix if no eigenvalue of W F W' is above 1. Where one is, 1 + t, W is divided by (1 + t)^(1/2): squares
    become smaller, and the logarithms larger by d log(1 + t) / 2 < d t / 2.
    """
    K, d = means.shape
    scale = np.sqrt(problem.floor)
    covariances = numbers(solution, "covariances", "solution", (K, d, d))
    if problem.family == "tied" and (covariances != covariances[0]).any():
        raise ProofError("solution", "components have one covariance")
    try:
        W = np.tril(np.linalg.inv(np.linalg.cholesky(covariances / np.outer(scale, scale))))  # in units of the floor
    except np.linalg.LinAlgError:
        raise ProofError("solution", "has a covariance that is none") from None
    values, error = eigenvalues(W @ np.swapaxes(W, 1, 2))
    size = np.abs(W) @ np.abs(np.swapaxes(W, 1, 2))
    excess = values.max(axis=1) - 1.0 + error + 4 * d * UNIT * np.sqrt(np.square(size).sum(axis=(1, 2)))
    if not (excess <= 1e-6).all():
        raise ProofError("solution", "covariances lie below the floor")
    cost, sizes = np.empty((2, len(X), K))
    for k in range(K):
        y, logs = (X - means[k]) / scale, np.log(np.diagonal(W[k]))
        reach = np.square(np.abs(y) @ np.abs(W[k]).T).sum(axis=1)
        cost[:, k] = 0.5 * np.square(y @ W[k].T).sum(axis=1) - logs.sum() + np.log(scale).sum() + 0.5 * d * LOG_2_PI
        cost[:, k] += 0.5 * d * max(0.0, excess[k]) * (1 + 1e-9)
        sizes[:, k] = reach + np.abs(logs).sum() + np.abs(np.log(scale)).sum() + 4 * d
    return cost, sizes


def _of_parts(problem, X, means, solution):
    """Costs, and sizes of their errors, of columns of different families: sums over those that have an entry."""
    cost, size = np.zeros((2, len(X), len(means)))
    normal = [len(part.columns) for part in problem.parts if part.problem.family == "diag"]
    variances = numbers(solution, "variances", "solution", (len(means), sum(normal)), 0.0) if normal else None
    first = 0
    for part in problem.parts:
        own, columns, m = part.problem, X[:, part.columns], means[:, part.columns]
        if own.family == "diag":
            given = {"variances": variances[:, first : first + len(part.columns)]}
            first += len(part.columns)
            more = costs(own, columns, m, _variances(own, given, m.shape))
        else:
            more = costs(own, columns, _in_range(own, m))
        seen = np.ones(len(X), bool) if part.presence is None else X[:, part.presence] > 0
        cost[seen], size[seen] = cost[seen] + more[0][seen], size[seen] + more[1][seen]
    return cost, size


def _variances(problem, solution, shape):
    """Variances; those a rounding error below the floor are raised to it."""
    variances = numbers(solution, "variances", "solution", shape, 0.0)
    if (variances < problem.floor * (1 - 1e-9)).any():
        raise ProofError("solution", "variances lie below the floor")
    if problem.family in ("spherical", "tied_spherical") and (variances != variances[:, :1]).any():
        raise ProofError("solution", "a spherical component has one variance")
    if problem.family in ("tied_diag", "tied_spherical") and (variances != variances[0]).any():
        raise ProofError("solution", "all components have the same variances")
    return np.maximum(variances, problem.floor)


def _in_range(problem, means):
    """Means that are parameters; of labels divided by their sum, which is rounded like a weight."""
    means = means.copy()
    if not (means >= 0).all() or (problem.family in ("bernoulli", "labels", "multinomial") and not (means <= 1).all()):
        raise ProofError("solution", "has means out of range")
    for group in set(problem.groups) - {-1}:
        own = np.array(problem.groups) == group
        means[:, own] /= means[:, own].sum(axis=1, keepdims=True)
    return means


def _exponential_family(problem, X, means):
    cost, size = np.zeros((2, len(X), len(means)))
    for j, kind in enumerate(problem.kinds):
        x, m = X[:, [j]], means[:, j]
        if kind == "exponential":
            terms = [np.broadcast_to(np.log(m), cost.shape), x / m]
        else:
            terms = [np.where(x > 0, -x * np.log(m), 0.0)]
            if kind == "bernoulli":
                terms.append(np.where(x < 1, -(1 - x) * np.log1p(-m), 0.0))
            elif kind == "poisson":
                terms.append(np.broadcast_to(m, cost.shape))
        for term in terms:
            cost, size = cost + term, size + np.abs(np.where(np.isfinite(term), term, 0.0)) + 1.0
    # labels' means are divided by sums of as many
    return cost, size * (1 + len(problem.kinds) / 16)
