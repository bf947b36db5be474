"""
Every model's objective from its definition, in mpmath: nothing of the package but the attributes of a problem.

One function per model, of the problem's data and parameters in the user's units. Numbers are taken as the floats that
they are, nothing is rounded to a float on the way, and 50 digits leave over 20 where terms of 1e30 cancel. Only what
has to add up to 1, which floats do not do exactly, is divided by its sum: weights, and probabilities of labels.
"""

from functools import lru_cache

import mpmath
import numpy as np
from mpmath import mpf

import gopfast

DIGITS = 50


def objective(problem, weights, **parameters):
    """
    Value of the objective at a state, all constants included.

    Parameters
    ----------
    problem : MixtureProblem
    weights : array_like, shape (K,)
    **parameters
        By the names of ``problem.parameter_names``.

    Returns
    -------
    mpf
        In nats.
    """
    with mpmath.workdps(DIGITS):
        for model, definition in _DEFINITIONS.items():
            if isinstance(problem, model):
                return definition(problem, _simplex(_numbers(weights)), **parameters)
    raise TypeError(f"no definition of {type(problem).__name__}")


def of_solution(result):
    """Value of the objective at the solution of a result."""
    solution = result.solution
    return objective(solution.problem, solution.weights, **solution.parameters)


def gaussian_known(problem, weights, means, prior_variance=None, posterior_variances=None):
    """Equations (24) and (28) and appendix A of the source: no constants of the likelihood and of the prior."""
    noise, means = _numbers(problem.noise_variance), _table(means)
    spread = _table(posterior_variances) if posterior_variances is not None else [[mpf(0)] * len(noise)] * len(means)

    def log_density(row, k):
        return -_total(
            ((x - m) ** 2 + s) / v for x, m, s, v in zip(row, means[k], spread[k], noise, strict=True)
        ) / 2  # fmt: skip

    value = _negative_log_likelihood(problem, weights, log_density)
    if problem.prior is None:
        return value
    # a fixed Gamma is the problem's, whatever rounding the solution's copy of it has
    gamma = mpf(float(prior_variance if problem.prior == "empirical" else problem.prior))
    n = len(means) * len(noise)
    value += _total(m * m for row in means for m in row) / (2 * gamma) + n * mpmath.log(gamma) / 2
    if problem.posterior == "gaussian":
        value += _total(
            s / gamma - mpmath.log(2 * mpmath.pi * mpmath.e * s) for row in spread for s in row
        ) / 2  # fmt: skip
    return value


def gaussian_free(problem, weights, means, covariances):
    """Multivariate normal densities."""
    means, d = _table(means), problem.n_features
    densities = [_normal(_matrix(problem, covariances, k), d) for k in range(len(means))]

    def log_density(row, k):
        return densities[k]([x - m for x, m in zip(row, means[k], strict=True)])

    return _negative_log_likelihood(problem, weights, log_density)


def bernoulli(problem, weights, probabilities):
    """Products of Bernoulli probabilities, Beta priors."""
    p = _table(probabilities)

    def log_density(row, k):
        return _total(_log(q if x else 1 - q) for x, q in zip(row, p[k], strict=True))

    value = _negative_log_likelihood(problem, weights, log_density)
    if problem.prior is not None:
        a, b = _numbers(problem.prior)
        normaliser = mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)
        value += _total(
            normaliser - _times_log(a - 1, q) - _times_log(b - 1, 1 - q) for row in p for q in row
        )  # fmt: skip
    return value


def categorical(problem, weights, probabilities):
    """Products of categorical probabilities of the entries that are not missing (-1), symmetric Dirichlet priors."""
    tables = [[_simplex(row) for row in _table(array)] for array in probabilities]

    def log_density(row, k):
        return _total(_log(table[k][int(x)]) for table, x in zip(tables, row, strict=True) if x >= 0)

    value = _negative_log_likelihood(problem, weights, log_density)
    if problem.prior is not None:
        alpha = mpf(problem.prior)
        for table in tables:
            for row in table:
                value += len(row) * mpmath.loggamma(alpha) - mpmath.loggamma(len(row) * alpha)
                value -= _total(_times_log(alpha - 1, p) for p in row)
    return value


def multinomial(problem, weights, probabilities):
    """Multinomial probabilities given the rows' totals, symmetric Dirichlet priors."""
    table = [_simplex(row) for row in _table(probabilities)]

    def log_density(row, k):
        ways = _log_factorial(_total(row)) - _total(_log_factorial(x) for x in row)
        return ways + _total(_times_log(x, p) for x, p in zip(row, table[k], strict=True))

    value = _negative_log_likelihood(problem, weights, log_density)
    if problem.prior is not None:
        alpha = mpf(problem.prior)
        for row in table:
            value += len(row) * mpmath.loggamma(alpha) - mpmath.loggamma(len(row) * alpha)
            value -= _total(_times_log(alpha - 1, p) for p in row)
    return value


def poisson(problem, weights, rates):
    """Products of Poisson probabilities, Gamma priors."""
    rates = _table(rates)

    def log_density(row, k):
        return _total(_times_log(x, r) - r - _log_factorial(x) for x, r in zip(row, rates[k], strict=True))

    return _negative_log_likelihood(problem, weights, log_density) + _gamma_prior(problem, rates)


def exponential(problem, weights, rates):
    """Products of exponential densities, Gamma priors."""
    rates = _table(rates)

    def log_density(row, k):
        return _total(_log(r) - r * x for x, r in zip(row, rates[k], strict=True))

    return _negative_log_likelihood(problem, weights, log_density) + _gamma_prior(problem, rates)


def _gaussian(problem, weights, **parameters):
    definition = gaussian_known if problem.covariance == "known" else gaussian_free
    return definition(problem, weights, **parameters)


_DEFINITIONS = {
    gopfast.GaussianMixture: _gaussian,
    gopfast.BernoulliMixture: bernoulli,
    gopfast.CategoricalMixture: categorical,
    gopfast.MultinomialMixture: multinomial,
    gopfast.PoissonMixture: poisson,
    gopfast.ExponentialMixture: exponential,
}


def _negative_log_likelihood(problem, weights, log_density):
    """``-sum_i w_i log sum_k pi_k p(x_i | k)``; samples without weight do not count."""
    value, known = mpf(0), {}
    for row, w in zip(problem.X.tolist(), problem.sample_weight.tolist(), strict=True):
        if w == 0:
            continue
        key = tuple(row)
        if key not in known:
            scores = [
                mpmath.log(weight) + log_density([mpf(x) for x in row], k) for k, weight in enumerate(weights) if weight
            ]
            top = max(scores)
            known[key] = top if mpmath.isinf(top) else top + mpmath.log(_total(mpmath.exp(s - top) for s in scores))
        value -= mpf(w) * known[key]
    return value


def _gamma_prior(problem, rates):
    """Negative logarithms of the Gamma densities of the rates."""
    if problem.prior is None:
        return mpf(0)
    shape, rate = _numbers(problem.prior)
    normaliser = mpmath.loggamma(shape) - shape * mpmath.log(rate)
    return _total(normaliser + rate * r - _times_log(shape - 1, r) for row in rates for r in row)


def _normal(C, d):
    """Log density of N(0, C)."""
    constant = (d * mpmath.log(2 * mpmath.pi) + mpmath.log(mpmath.det(C))) / 2
    inverse = C**-1

    def log_density(z):
        return -constant - (mpmath.matrix(z).T * inverse * mpmath.matrix(z))[0] / 2

    return log_density


def _matrix(problem, covariances, k):
    """Covariance matrix of component k, from scikit-learn's shapes."""
    d, kind, value = problem.n_features, problem.covariance, np.asarray(covariances, dtype=float)
    if kind == "spherical":
        return mpmath.diag([mpf(float(value[k]))] * d)
    if kind == "diag":
        return mpmath.diag(_numbers(value[k]))
    return mpmath.matrix(_table(value[k] if kind == "full" else value))


@lru_cache(maxsize=100_000)
def _log_factorial(x):
    return mpmath.loggamma(x + 1)


def _log(x):
    return mpmath.log(x) if x > 0 else -mpmath.inf


def _times_log(x, y):
    """``x log y``, 0 where x is 0."""
    return x * _log(y) if x else mpf(0)


def _total(terms):
    return mpmath.fsum(terms)


def _numbers(values):
    return [mpf(float(value)) for value in np.ravel(np.asarray(values, dtype=float))]


def _simplex(numbers):
    total = _total(numbers)
    return [number / total for number in numbers]


def _table(values):
    """A list of rows."""
    array = np.asarray(values, dtype=float)
    return [_numbers(row) for row in array.reshape(len(array), -1)]
