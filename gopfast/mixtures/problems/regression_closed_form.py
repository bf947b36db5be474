"""One regression: weighted least squares in fractions, so that its value is known to the last digits."""

import math
from fractions import Fraction

import numpy as np

from gopfast.mixtures.problems import closed_form


def one_regression(problem, rows, weights):
    """
    Return the Optimum of one component.

    Parameters
    ----------
    problem : RegressionMixture
    rows : ndarray, shape (m, d)
        Rows of positive weight: regressors, groups where they are given, then the response.
    weights : ndarray, shape (m,)
    """
    exact = [[Fraction(x) for x in (*row[: problem._n_regressors], row[-1])] for row in rows.tolist()]
    masses = [Fraction(w) for w in weights.tolist()]
    if problem.fit_intercept:
        exact = [[*row[:-1], Fraction(1), row[-1]] for row in exact]
    q = len(exact[0]) - 1
    sums = [[Fraction(0)] * (q + 1) for _ in range(q + 1)]
    for row, w in zip(exact, masses, strict=True):
        for i in range(q + 1):
            weighted = w * row[i]
            for j in range(i, q + 1):
                sums[i][j] += weighted * row[j]
    M = [[sums[min(i, j)][max(i, j)] for j in range(q)] for i in range(q)]
    fitted = _solved(M, [sums[i][q] for i in range(q)])
    least = sums[q][q] - sum(b * sums[i][q] for i, b in enumerate(fitted))
    rounded = np.array([float(b) for b in fitted])
    away = [Fraction(x) - b for x, b in zip(rounded.tolist(), fitted, strict=True)]
    attained = least + sum(away[i] * M[i][j] * away[j] for i in range(q) for j in range(q))
    W, p = sum(masses), problem._n_regressors
    parameters = {"coefficients": rounded[np.newaxis, :p]}
    if problem.fit_intercept:
        parameters["intercepts"] = rounded[p:]
    if problem.noise_variance is None:
        variance = max(float(attained / W), problem.variance_floor)
        best = max(least / W, Fraction(problem.variance_floor))
        parameters[problem.parameter_names[-1]] = variance if problem.shared_names else np.array([variance])
    else:
        variance = problem.noise_variance
        best = Fraction(variance)
    upper = closed_form.settled(parameters, _terms(W, attained, Fraction(variance)))
    lower = closed_form.settled(parameters, _terms(W, least, best))
    return upper._replace(lower_bound=min(lower.lower_bound, upper.objective))


def _terms(W, squares, variance):
    """Return the terms of the objective of a sum of squares, at a variance."""
    return [
        0.5 * float(W) * math.log(2.0 * math.pi), 0.5 * float(W) * math.log(float(variance)),
        float(squares / (2 * variance)),
    ]  # fmt: skip


def _solved(M, c):
    """Solve a regular system of Fractions by elimination."""
    rows = [[*row, x] for row, x in zip(M, c, strict=True)]
    for i in range(len(rows)):
        at = max(range(i, len(rows)), key=lambda j: abs(rows[j][i]))
        rows[i], rows[at] = rows[at], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for j, row in enumerate(rows):
            if j != i and row[i]:
                rows[j] = [x - row[i] * y for x, y in zip(row, rows[i], strict=True)]
    return [row[-1] for row in rows]
