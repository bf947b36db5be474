"""The best Gaussian mixture of one component, with bounds; see `gopfast.mixtures.closed_form.single`.

Theory: (F11) of docs/theory/families.md.
"""

import math

import numpy as np

from gopfast.mixtures.problems.closed_form import ROUND, Optimum, moments, totals
from gopfast.mixtures.problems.covariance import LOG_2_PI
from gopfast.mixtures.problems.margins import ERROR, SQUARES_ERROR
from gopfast.mixtures.problems.tuning import LOOSEST, LOOSEST_ABOVE


def known_variance(problem, X, w):
    """
    Return the best component of known variance.

    Parameters
    ----------
    problem : GaussianMixture
    X : ndarray, shape (n, d)
    w : ndarray, shape (n,)
        Positive.

    Returns
    -------
    Optimum or None
        None where noise differs between coordinates and the prior variance is estimated: it has no closed form.
    """
    v, d, prior = problem.noise_variance, problem.n_features, problem.prior
    same = bool((v == v[0]).all())
    if prior == "empirical" and not same:
        return None
    scale = np.sqrt(v)
    W, mean, z, shift, error = moments(X, w, scale)
    squares = totals(w[:, np.newaxis] * np.square(z))
    scatter = squares.sum() - W * np.square(shift).sum()
    if prior is None:
        margin = SQUARES_ERROR * squares.sum()
        upper = 0.5 * (scatter + margin + W * np.square(error).sum())
        return Optimum({"means": mean[np.newaxis], "prior_variance": None}, upper, 0.5 * (scatter - margin))

    def value(gamma, square):
        """Least objective at a prior variance, the mean's squares in units of the noise given; its rounding."""
        e = v / gamma
        terms = [0.5 * scatter, *(0.5 * W * e / (W + e) * square), 0.5 * d * math.log(gamma)]
        if problem.posterior == "gaussian":  # its variances are 1 / (W / v + 1 / gamma)
            terms += [*(0.5 * np.log(W / v + 1.0 / gamma)), -0.5 * d * LOG_2_PI]
        return math.fsum(terms), SQUARES_ERROR * squares.sum() + ERROR * (np.abs(terms).sum() + d)

    square = np.square(mean / scale)
    gamma = min(_prior_variances(problem, W, square.mean()), key=lambda gamma: value(gamma, square)[0])
    objective, margin = value(gamma, square)
    # A smaller mean gives a smaller objective at every Gamma; with this much to spare, a rounded stationary point is
    # the exact one of a mean that is still smaller than the true one.
    smaller = np.square(np.maximum(0.0, np.abs(mean / scale) - error)) * (1.0 - ERROR)
    lower = min(
        low - lost
        for low, lost in (value(gamma, smaller) for gamma in _prior_variances(problem, W, smaller.mean()))
    )
    pulled = mean * (W / (W + v / gamma))
    error = error + 8 * ROUND * np.abs(pulled / scale)
    upper = objective + margin + 0.5 * ((W + v / gamma) * np.square(error)).sum()
    found = {"means": pulled[np.newaxis], "prior_variance": gamma}
    if problem.posterior == "gaussian":
        found["posterior_variances"] = 1.0 / (W / v + 1.0 / gamma)[np.newaxis]
    return Optimum(found, upper, lower)


def _prior_variances(problem, W, square):
    """
    Return where the least objective at Gamma can have its minimum; `square` is the mean's mean square, over the noise.

    With one noise variance v, a = W / v, q the mean square of the data's mean and y = a Gamma, the derivative vanishes
    where ``y^2 - (a q - 2) y + 1 = 0`` (point posterior): of the two roots the larger one is a minimum, below the
    smaller one the objective falls towards Gamma = 0. With a Gaussian posterior only ``y = a q - 1`` is left, and the
    objective falls towards it from both sides.
    """
    if problem.prior != "empirical":
        return [problem.prior]
    low, high = problem.prior_variance_bounds
    a, b = W / float(problem.noise_variance[0]), W * square
    if problem.posterior == "gaussian":
        return [min(high, max(low, (b - 1.0) / a))]
    if b <= 4.0:
        return [low]
    y = 0.5 * (b - 2.0 + math.sqrt(b * (b - 4.0)))
    return [low, min(high, max(low, y / a))]


def free_variance(problem, X, w):
    """Return the best component of free variance; parameters and result as of `known_variance`."""
    kind, d = problem.kind, problem.n_features
    floor = np.broadcast_to(problem.variance_floor, d)
    scale = np.sqrt(floor)
    W, mean, z, shift, error = moments(X, w, scale)
    if kind.free_form:
        i, j = np.triu_indices(d)
        M = np.empty((d, d))
        M[i, j] = M[j, i] = totals(w[:, np.newaxis] * z[:, i] * z[:, j]) / W
        size = np.trace(M)
        values, vectors = np.linalg.eigh(M - np.outer(shift, shift))
        # of the entries, of the eigenvalues, and of the matrix that is put together again
        loose = (SQUARES_ERROR + 16 * d * d * ROUND) * size
        if not (loose < LOOSEST or (loose < LOOSEST_ABOVE and values[0] > 2.0)):
            return None
        C = (vectors * np.maximum(values, 1.0)) @ vectors.T
        C = 0.5 * (C + C.T) * np.outer(scale, scale)
        # At eigenvalues that the floor does not raise the derivative is 0.
        errors, rest = np.full(d, loose), W * (np.count_nonzero(values < 1.0 + loose) * loose + d * loose**2)
    else:
        squares = totals(w[:, np.newaxis] * np.square(z)) / W
        values, errors, rest = squares - np.square(shift), SQUARES_ERROR * squares, 0.0
        if not kind.floor_per_column:
            values, errors = np.full(d, values.mean()), np.full(d, errors.mean())
        C = np.diag(np.maximum(values * floor, floor))

    def cost(values):
        """Cost of variances in units of the floor, which grows with them; its rounding."""
        top = np.maximum(values, 1.0)
        terms = [*np.log(floor), *np.log(top), *(values / top)]
        return 0.5 * W * (math.fsum(terms) + d * LOG_2_PI), ERROR * W * (np.abs(terms).sum() + 2 * d)

    high, lost = cost(np.maximum(0.0, values) + errors + np.square(error).sum())
    low, missed = cost(np.maximum(0.0, values - errors))
    found = {"means": mean[np.newaxis], "covariances": kind.from_matrices(C[np.newaxis])}
    return Optimum(found, high + lost + rest, low - missed)
