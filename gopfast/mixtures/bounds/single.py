"""
One component: the best fit in closed form, with bounds.

With K = 1 all responsibilities and the weight are 1, so that one M step is all of EM. It ends in the global optimum:

- Exponential families (Bernoulli, Poisson, exponential, categorical): min over theta of -S log-density terms is linear
  in the sums (A, B) of the samples and the prior's pseudo-observations, and convex in the natural parameter; its one
  stationary point matches the moments.
- Gaussian, known variance: for a given prior variance a convex quadratic of the mean. What is left with
  ``prior="empirical"`` is a function of Gamma alone that may have two minima, see `_prior_variances`: EM can end in
  the worse one, here both are compared.
- Gaussian, free variance above a floor: whatever the covariance the best mean is the samples', and what is left,
  log det C + tr(C^-1 M), is convex in C^-1; in units of the floor the eigenvalues of M below 1 are raised to 1.

Where noise differs between coordinates and the prior variance is estimated, Gamma has no closed form: the search runs.

Sums are taken about a point near the mean, in blocks, and the blocks exactly. ERROR bounds the relative error of a sum
of terms of one sign and of the few operations before and after it.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import xlog1py, xlogy

from gopfast.mixtures.problems import (
    BernoulliMixture,
    CategoricalMixture,
    ExponentialMixture,
    GaussianMixture,
    PoissonMixture,
)
from gopfast.mixtures.problems.gaussian import LOG_2_PI, MATRICES
from gopfast.mixtures.problems.log_gamma import gamma_prior, log_beta, log_dirichlet, poisson_cost

BLOCK = 64
ROUND = 2.0**-53
ERROR = (BLOCK + 32) * ROUND
# Of a sum of squares about the mean, relative to that about the point near it, which Cauchy and Schwarz compare.
SQUARES_ERROR = 4 * ERROR
# Sums of products below this may have lost digits to underflow.
LEAST = 1e-280
# The largest probability below 1.
MOST = 1.0 - ROUND
# Eigenvalues less exact than this, in units of the floor, may leave a covariance below it.
LOOSEST = 5e-10


class Optimum(NamedTuple):
    """Parameters by name, their objective rounded up, and a lower bound of every objective."""

    parameters: dict
    objective: float
    lower_bound: float


def optimum(problem):
    """
    Return the Optimum of a mixture of one component, or None where it has no closed form.

    Parameters
    ----------
    problem : MixtureProblem

    Returns
    -------
    Optimum or None
        None also where the numbers come near the ends of the floats' range.
    """
    if problem.n_components > 1:
        return None
    used = problem.sample_weight > 0.0
    X, w = (problem.X, problem.sample_weight) if used.all() else (problem.X[used], problem.sample_weight[used])
    for model, solve in _MODELS.items():
        if isinstance(problem, model):
            with np.errstate(all="ignore"):
                found = solve(problem, X, w)
            # Comparisons that NaN fails.
            if found and -math.inf < found.lower_bound <= found.objective < math.inf:
                return Optimum(found.parameters, float(found.objective), float(found.lower_bound))
    return None


def _totals(terms):
    """Sum over the rows; each entry within ERROR of the sum of the absolute values."""
    n = len(terms)
    whole = n // BLOCK * BLOCK
    blocks = terms[:whole].reshape(-1, BLOCK, terms.shape[1]).sum(axis=1)
    return np.array([math.fsum([*a, *b]) for a, b in zip(blocks.T.tolist(), terms[whole:].T.tolist(), strict=True)])


def _moments(X, w, scale):
    """
    Return what a Gaussian family needs of the samples, in units of `scale`.

    Returns
    -------
    W : float
        Sum of the weights.
    mean : ndarray, shape (d,)
        In the units of X.
    z : ndarray, shape (n, d)
        Samples about a point near the mean.
    shift : ndarray, shape (d,)
        From that point to the mean.
    error : ndarray, shape (d,)
        Bound of the error of `mean`, and of its rounding.
    """
    W = math.fsum(w)
    center = _totals(w[:, np.newaxis] * X) / W
    z = (X - center) / scale
    weighted = w[:, np.newaxis] * z
    shift = _totals(weighted) / W
    mean = center + scale * shift
    error = ERROR * _totals(np.abs(weighted)) / W + 8 * ROUND * np.abs(mean / scale)
    return W, mean, z, shift, error


def _gaussian(problem, X, w):
    return _known(problem, X, w) if problem.covariance == "known" else _free(problem, X, w)


def _known(problem, X, w):
    v, d, prior = problem.noise_variance, problem.n_features, problem.prior
    same = bool((v == v[0]).all())
    if prior == "empirical" and not same:
        return None
    scale = np.sqrt(v)
    W, mean, z, shift, error = _moments(X, w, scale)
    squares = _totals(w[:, np.newaxis] * np.square(z))
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


def _free(problem, X, w):
    kind, d = problem.covariance, problem.n_features
    floor = np.broadcast_to(problem.variance_floor, d)
    scale = np.sqrt(floor)
    W, mean, z, shift, error = _moments(X, w, scale)
    if kind in MATRICES:
        i, j = np.triu_indices(d)
        M = np.empty((d, d))
        M[i, j] = M[j, i] = _totals(w[:, np.newaxis] * z[:, i] * z[:, j]) / W
        size = np.trace(M)
        values, vectors = np.linalg.eigh(M - np.outer(shift, shift))
        # of the entries, of the eigenvalues, and of the matrix that is put together again
        loose = (SQUARES_ERROR + 16 * d * d * ROUND) * size
        if not (loose < LOOSEST or (loose < 1e-3 and values[0] > 2.0)):
            return None
        C = (vectors * np.maximum(values, 1.0)) @ vectors.T
        covariances = 0.5 * (C + C.T) * np.outer(scale, scale)
        if kind == "full":
            covariances = covariances[np.newaxis]
        # At eigenvalues that the floor does not raise the derivative is 0.
        errors, rest = np.full(d, loose), W * (np.count_nonzero(values < 1.0 + loose) * loose + d * loose**2)
    else:
        squares = _totals(w[:, np.newaxis] * np.square(z)) / W
        values, errors, rest = squares - np.square(shift), SQUARES_ERROR * squares, 0.0
        if kind != "diag":
            values, errors = np.full(d, values.mean()), np.full(d, errors.mean())
        covariances = np.maximum(values * floor, floor)
        covariances = {
            "diag": covariances[np.newaxis], "spherical": covariances[:1],
            "tied_spherical": covariances[0] * np.eye(d),
        }[kind]  # fmt: skip

    def cost(values):
        """Cost of variances in units of the floor, which grows with them; its rounding."""
        top = np.maximum(values, 1.0)
        terms = [*np.log(floor), *np.log(top), *(values / top)]
        return 0.5 * W * (math.fsum(terms) + d * LOG_2_PI), ERROR * W * (np.abs(terms).sum() + 2 * d)

    high, lost = cost(np.maximum(0.0, values) + errors + np.square(error).sum())
    low, missed = cost(np.maximum(0.0, values - errors))
    return Optimum({"means": mean[np.newaxis], "covariances": covariances}, high + lost + rest, low - missed)


def _bernoulli(problem, X, w):
    d, (a, b) = problem.n_features, problem.prior or (1.0, 1.0)
    ones = _totals(w[:, np.newaxis] * X) + (a - 1.0)
    zeros = _totals(w[:, np.newaxis] * (1.0 - X)) + (b - 1.0)
    constant, size = log_beta(a, b) if problem.prior else (0.0, 0.0)
    # 1 where no zero allows it is impossible, and near 1 the floats are far apart as seen by a zero.
    p = ones / (ones + zeros)
    p = np.where((zeros > 0.0) & (p > MOST), MOST, p)
    found = _settled(
        {"probabilities": p[np.newaxis]}, [*_shares(ones, zeros), *_shares(zeros, ones), d * constant], [d * size]
    )
    return _at_floats(found, [*-xlogy(ones, p), *-xlog1py(zeros, -p), d * constant], [d * size])


def _at_floats(found, terms, sizes):
    """Raise the objective to that of the probabilities returned, from its terms: those next to 1 are rounded most."""
    return found._replace(objective=max(found.objective, _settled(None, terms, sizes).objective))


def _categorical(problem, X, w):
    alpha = problem.prior or 1.0
    probabilities, terms, attained, sizes = [], [], [], []
    for codes, n in zip(X.T, problem.n_categories, strict=True):
        ends = np.cumsum(np.bincount(codes, minlength=n))[:-1]
        groups = np.split(w[np.argsort(codes, kind="stable")], ends)
        counts = np.array([math.fsum(group) for group in groups]) + (alpha - 1.0)
        total = math.fsum(counts)
        probabilities.append((counts / total)[np.newaxis])
        constant, size = (0.0, 0.0) if problem.prior is None else log_dirichlet(alpha, n)
        # All but the largest are at most half of the total: nothing cancels.
        largest = counts.argmax()
        others = total - counts
        others[largest] = math.fsum(np.delete(counts, largest))
        terms += [*_shares(counts, others), constant]
        attained += [*-xlogy(counts, counts / total), constant]
        sizes.append(size)
    return _at_floats(_settled({"probabilities": tuple(probabilities)}, terms, sizes), attained, sizes)


def _shares(part, others):
    """``-part log(part / (part + others))``, exact to a few ulps also where the part is nearly all; 0 for no part."""
    share = np.where(part > 0.0, part, 1.0)
    return np.where(part > 0.0, share * np.log1p(others / share), 0.0)


def _poisson(problem, X, w):
    shape, rate = problem.prior or (1.0, 0.0)
    counts, size = _totals(w[:, np.newaxis] * X) + (shape - 1.0), math.fsum(w) + rate
    rates = counts / size
    terms, sizes = (list(_totals(w[:, np.newaxis] * part)) for part in poisson_cost(X, rates))
    if problem.prior is not None:
        constants = np.array([gamma_prior(shape, rate, at) for at in rates])
        terms, sizes = [*terms, *constants[:, 0]], [*sizes, *constants[:, 1]]
    # The terms are those at the rounded rates: these miss the optimum by size * (m - m* - m* log(m / m*)).
    return _settled({"rates": rates[np.newaxis]}, terms, [*sizes, ERROR * counts.sum()])


def _exponential(problem, X, w):
    shape, rate = problem.prior or (1.0, 0.0)
    times, size = _totals(w[:, np.newaxis] * X) + rate, math.fsum(w) + (shape - 1.0)
    if not times.min() > LEAST:
        return None
    d = problem.n_features
    terms = [size * d, *(size * np.log(times / size))]
    sizes = []
    if problem.prior is not None:
        terms += [d * math.lgamma(shape), -d * shape * math.log(rate)]
        sizes = [d]
    return _settled({"rates": (size / times)[np.newaxis]}, terms, sizes)


def _settled(parameters, terms, sizes=()):
    """
    Make the Optimum of an exponential family from the terms of its objective at the best parameters.

    The objective is linear in the sums of the samples, so that at the true optimum and at the one computed, relative
    errors of the sums are at most such errors of the terms; twice, as either may be the smaller.
    """
    value = math.fsum(terms)
    margin = 4.0 * ERROR * (np.abs(terms).sum() + np.abs(sizes).sum())
    return Optimum(parameters, value + margin, value - margin)


_MODELS = {
    GaussianMixture: _gaussian,
    BernoulliMixture: _bernoulli,
    CategoricalMixture: _categorical,
    PoissonMixture: _poisson,
    ExponentialMixture: _exponential,
}
