"""
Normalisers of counts and priors, without cancellation.

log Gamma(x + 1), x log x and x are each of size x log x where the density they make up has a logarithm of size log x.
So they are put together by Stirling's formula, log Gamma(x + 1) = (x + 1/2) log x - x + log(2 pi) / 2 + rest(x), and
what is left of the logarithms is a deviance, computed from the difference of its arguments (Loader, "Fast and accurate
computation of binomial probabilities", 2000).

Every function returns a value and its size, the sum of the magnitudes of its terms: the error is below 16 u of the
size. Tested against mpmath in tests/unit/test_log_gamma.py.

Theory: (R3) of docs/theory/rounding.md.
"""

import math

import numpy as np
from scipy.special import gammaln, xlogy

from gopfast.mixtures.problems.tuning import LARGE, N_TERMS, NEAR

LOG_2_PI = math.log(2.0 * math.pi)
# Bernoulli numbers B_2m / (2 m (2 m - 1)), highest first.
SERIES = (-691.0 / 360360.0, 1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0)


def poisson_cost(x, m):
    """
    Compute the negative logarithm of a Poisson probability, ``m - x log m + log Gamma(x + 1)``.

    Parameters
    ----------
    x : array_like
        Counts, at least 0; need not be whole.
    m : array_like
        Rates, at least 0; at 0 the value of a positive count is infinite.

    Returns
    -------
    value, size : ndarray
    """
    x, m = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(m, dtype=float))
    large = x >= LARGE
    a = np.where(large, x, LARGE)
    departure, rest = deviance(a, np.where(large, m, LARGE)), 0.5 * (LOG_2_PI + np.log(a)) + _rest(a)
    b = np.where(large, 0.0, x)
    factorial, logs = gammaln(b + 1.0), xlogy(b, m)
    value = np.where(large, departure + rest, m - logs + factorial)
    return value, np.where(large, departure + rest, m + np.abs(logs) + np.abs(factorial) + 1.0)


def deviance(x, m):
    """Compute ``x log(x / m) + m - x``, at least 0, to a few ulps; x positive, infinite where m is 0."""
    difference = x - m
    v = difference / (x + m)
    near = np.abs(v) < NEAR
    s = np.where(near, v, 0.0)
    total = np.zeros_like(s)
    for i in range(N_TERMS, 0, -1):
        total = (total + 1.0 / (2 * i + 1)) * s * s
    # x log(x / m) = 2 x (v + v^3 / 3 + v^5 / 5 + ...)
    series = difference * s + 2.0 * x * s * total
    with np.errstate(over="ignore", divide="ignore"):
        ratio = x / m
        # of a ratio beyond the floats' range the logarithm is so large that its two parts do not cancel
        logs = np.where(np.isinf(ratio), np.log(x) - np.log(m), np.log(np.where(np.isinf(ratio), 1.0, ratio)))
    return np.where(near, series, x * logs - difference)


def gamma_prior(shape, rate, at):
    """
    Compute the negative logarithm of a Gamma density at a positive number, ``at``.

    Returns
    -------
    value, size : float
    """
    more, scaled = shape - 1.0, rate * at
    value, size = poisson_cost(more, scaled)
    # the product is rounded, and the value's slope in it is 1 - more / scaled
    return float(value) - math.log(rate), float(size) + abs(math.log(rate)) + abs(scaled - more)


def log_beta(a, b):
    """Compute ``log B(a, b)`` for a and b of at least 1; its size."""
    if max(a, b) < LARGE:
        terms = [math.lgamma(a), math.lgamma(b), -math.lgamma(a + b)]
        return math.fsum(terms), math.fsum(map(abs, terms)) + 1.0
    rests = [_log_gamma_rest(value) for value in (a, b, a + b)]
    terms = [
        -(a - 0.5) * math.log1p(b / a), -(b - 0.5) * math.log1p(a / b), 0.5 * LOG_2_PI, -0.5 * math.log(a + b),
        rests[0][0], rests[1][0], -rests[2][0],
    ]  # fmt: skip
    return math.fsum(terms), math.fsum([*map(abs, terms), *(size for _, size in rests)])


def log_dirichlet(alpha, n):
    """Compute ``n log Gamma(alpha) - log Gamma(n alpha)`` for alpha of at least 1; its size."""
    if n * alpha < LARGE:
        terms = [n * math.lgamma(alpha), -math.lgamma(n * alpha)]
        return math.fsum(terms), math.fsum(map(abs, terms)) + n
    (one, size_one), (all_, size_all) = _log_gamma_rest(alpha), _log_gamma_rest(n * alpha)
    half = 0.5 * (n - 1)
    terms = [-(n * alpha - 0.5) * math.log(n), -half * math.log(alpha), half * LOG_2_PI, n * one, -all_]
    return math.fsum(terms), math.fsum([*map(abs, terms), n * size_one, size_all])


def _log_gamma_rest(x):
    """Return ``log Gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2)`` and its size."""
    if x >= LARGE:
        rest = float(_rest(x))
        return rest, rest
    terms = [math.lgamma(x), -(x - 0.5) * math.log(x), x, -0.5 * LOG_2_PI]
    return math.fsum(terms), math.fsum(map(abs, terms)) + 1.0


def _rest(x):
    """Stirling's series, for large x."""
    square, total = 1.0 / (x * x), 0.0
    for coefficient in SERIES:
        total = total * square + coefficient
    return total / x
