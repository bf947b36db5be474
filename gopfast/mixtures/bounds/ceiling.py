"""
Lower bounds of the objective that need no search.

No sample's density exceeds the largest that its model allows, and no row's probability its share. This is what a
result has to show when a limit comes before the first node is bounded.
"""

import math

import numpy as np
from scipy.special import xlogy

from gopfast.mixtures.families.exponential import ExponentialFamily
from gopfast.mixtures.problems import (
    BernoulliMixture,
    CategoricalMixture,
    ExponentialMixture,
    GaussianMixture,
    PoissonMixture,
)
from gopfast.mixtures.problems.gaussian import LOG_2_PI
from gopfast.mixtures.problems.log_gamma import log_beta, log_dirichlet, poisson_cost

# Far above the rounding of sums of this few terms, far below what these bounds miss.
ROUNDING = 1e-12
ENTROPY_ROUNDING = 64 * 2.0**-53


def least_objective(problem):
    """
    Return a lower bound of a mixture's objective.

    Parameters
    ----------
    problem : MixtureProblem

    Returns
    -------
    float
        In nats; -inf where nothing is known.
    """
    for model, terms in _MODELS.items():
        if isinstance(problem, model):
            return _rounded_down(terms(problem))
    return -math.inf


def saturated_bound(problem, family):
    """
    Bound the objective of discrete data: no model gives rows better probabilities than their shares.

    Parameters
    ----------
    problem : MixtureProblem
    family : Family
        The core's copy of it.

    Returns
    -------
    float
        Entropy of the rows, which mixtures attain where their columns are too few to identify them, and with a prior
        what its densities at their modes add; -inf for other families.
    """
    if not (isinstance(family, ExponentialFamily) and family.discrete):
        return -math.inf
    _, weights = family.data.arrays()
    total = math.fsum(weights)
    entropy = math.fsum(-weights * np.log(weights / total))
    entropy -= ENTROPY_ROUNDING * total * (1 + np.log(len(weights)))
    # Their probabilities are at most 1, so that what bounds the objective of any samples bounds the prior's part.
    return _rounded_down([*_MODELS[type(problem)](problem), entropy])


def _rounded_down(terms):
    """Sum of terms, each within half of ROUNDING times its size."""
    value = math.fsum(terms) - ROUNDING * math.fsum(map(abs, terms))
    return value if math.isfinite(value) else -math.inf


def _gaussian(problem):
    """Take the density at the mean of a component on the floor; with known variance, squares and entropies of 0."""
    K, d = problem.n_components, problem.n_features
    if problem.covariance != "known":
        floor = np.broadcast_to(problem.variance_floor, d)
        return [0.5 * problem.total_weight * (LOG_2_PI + math.log(value)) for value in floor]
    if problem.prior is None:
        return [0.0]
    if problem.posterior == "gaussian":
        # log(N / v + e) - log e >= 0 of each precision
        return [-0.5 * K * d * LOG_2_PI]
    least = problem.prior_variance_bounds[0] if problem.prior == "empirical" else problem.prior
    return [0.5 * K * d * math.log(least)]


def _bernoulli(problem):
    """Take probabilities of 1, and the mode of the prior."""
    if problem.prior is None:
        return [0.0]
    a, b = problem.prior
    value, size = log_beta(a, b)
    number = problem.n_components * problem.n_features
    return [number * term for term in (value, *_modes(a - 1.0, b - 1.0), -ROUNDING * size)]


def _categorical(problem):
    """Take probabilities of 1, and the mode of the prior."""
    if problem.prior is None:
        return [0.0]
    K, alpha = problem.n_components, problem.prior
    terms = []
    for n in problem.n_categories:
        value, size = log_dirichlet(alpha, n)
        terms += [K * term for term in (value, n * (alpha - 1.0) * math.log(n), -ROUNDING * size)]
    return terms


def _modes(a, b):
    """Terms of ``-a log p - b log(1 - p)`` at its least."""
    return [a * math.log1p(b / a) if a > 0.0 else 0.0, b * math.log1p(a / b) if b > 0.0 else 0.0]


def _poisson(problem):
    """Take probabilities of 1, and the mode of the prior."""
    number = problem.n_components * problem.n_features
    return [0.0] if problem.prior is None else [number * term for term in _gamma(*problem.prior)]


def _exponential(problem):
    """
    ``r exp(-r x) <= 1 / (e x)``; with a prior ``r exp(-r x) <= r``, r the largest rate of a column.

    The prior density of the largest rate is then multiplied by W of these factors, that of the others is at most its
    mode.
    """
    W, K, d = problem.total_weight, problem.n_components, problem.n_features
    if problem.prior is None:
        used = problem.sample_weight > 0.0
        w = problem.sample_weight[used, np.newaxis]
        logs = w * np.log(problem.X[used])
        return [W * d, math.fsum(logs.ravel()), -ROUNDING * math.fsum(np.abs(logs).ravel())]
    shape, rate = problem.prior
    others, more = _gamma(shape, rate), shape + W - 1.0
    largest = [more, -float(xlogy(more, more / rate)), math.lgamma(shape), -shape * math.log(rate), -ROUNDING]
    return [d * term for term in largest] + [(K - 1) * d * term for term in others]


def _gamma(shape, rate):
    """Terms of the negative logarithm of a Gamma density at its mode, (shape - 1) / rate."""
    value, size = poisson_cost(shape - 1.0, shape - 1.0)
    return [float(value), -math.log(rate), -ROUNDING * float(size)]


_MODELS = {
    GaussianMixture: _gaussian,
    BernoulliMixture: _bernoulli,
    CategoricalMixture: _categorical,
    PoissonMixture: _poisson,
    ExponentialMixture: _exponential,
}
