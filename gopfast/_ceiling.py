"""
Lower bounds of the objective that need no search.

No sample's density exceeds the largest that its model allows, and no row's probability its share. This is what a
result has to show when a limit comes before the first node is bounded.
"""

import math

import numpy as np
from scipy.special import betaln, xlogy

from gopfast._exponential import ExponentialFamily
from gopfast.models import BernoulliMixture, CategoricalMixture, ExponentialMixture, GaussianMixture, PoissonMixture
from gopfast.models.gaussian import LOG_2_PI

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
            terms = terms(problem)
            value = math.fsum(terms) - ROUNDING * math.fsum(map(abs, terms))
            return value if math.isfinite(value) else -math.inf
    return -math.inf


def saturated_bound(family):
    """
    Bound the objective of discrete data: no model gives rows better probabilities than their shares.

    Parameters
    ----------
    family : Family

    Returns
    -------
    float
        Entropy of the rows, which mixtures attain where their columns are too few to identify them; -inf for other
        families, and with a prior.
    """
    if not (isinstance(family, ExponentialFamily) and family.discrete) or family.has_prior:
        return -math.inf
    _, weights = family.data.arrays()
    total = math.fsum(weights)
    return math.fsum(-weights * np.log(weights / total)) - ENTROPY_ROUNDING * total * (1 + np.log(len(weights)))


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
    a, b = problem.prior or (1.0, 1.0)
    number = problem.n_components * problem.n_features
    return [number * betaln(a, b), *(number * term for term in _modes([a - 1.0, b - 1.0]))]


def _categorical(problem):
    """Take probabilities of 1, and the mode of the prior."""
    if problem.prior is None:
        return [0.0]
    K, alpha = problem.n_components, problem.prior
    terms = []
    for n in problem.n_categories:
        terms += [K * n * math.lgamma(alpha), -K * math.lgamma(n * alpha)]
        terms += [K * term for term in _modes([alpha - 1.0] * n)]
    return terms


def _modes(counts):
    """Terms of ``-sum_l c_l log p_l`` at its least."""
    return [float(xlogy(count, sum(counts)) - xlogy(count, count)) for count in counts]


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
    largest = _gamma(shape + W, rate)[:2] + _gamma(shape, rate)[2:]
    others = _gamma(shape, rate)
    return [d * term for term in largest] + [(K - 1) * d * term for term in others]


def _gamma(shape, rate):
    """Terms of the negative logarithm of a Gamma density at its mode, the two of its normaliser last."""
    more = shape - 1.0
    return [more, -float(xlogy(more, more / rate)), math.lgamma(shape), -shape * math.log(rate)]


_MODELS = {
    GaussianMixture: _gaussian,
    BernoulliMixture: _bernoulli,
    CategoricalMixture: _categorical,
    PoissonMixture: _poisson,
    ExponentialMixture: _exponential,
}
