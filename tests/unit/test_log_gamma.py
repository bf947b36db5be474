"""Normalisers without cancellation, against mpmath."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from gopfast.mixtures.problems.log_gamma import deviance, gamma_prior, log_beta, log_dirichlet, poisson_cost

pytestmark = pytest.mark.filterwarnings("error")

U = 2.0**-53
MAGNITUDES = [1e-8, 0.1, 1.0, 3.0, 15.0, 16.0, 17.0, 1e2, 1e6, 1e8, 1e12, 1e15]


@pytest.fixture(autouse=True)
def precision():
    with mpmath.workdps(60):
        yield


def within(value, size, exact, rounds=16):
    assert abs(mpf(float(value)) - exact) <= rounds * U * float(size)


def exact_poisson(x, m):
    x, m = mpf(float(x)), mpf(float(m))
    return m - (x * mpmath.log(m) if x else 0) + mpmath.loggamma(x + 1)


@pytest.mark.parametrize("x", [0.0, *MAGNITUDES])
def test_costs_of_counts_near_and_far_from_their_rate(x):
    rng = np.random.default_rng(0)
    m = max(x, 0.5) * np.exp(rng.normal(size=60) * np.repeat([1e-12, 1e-8, 1e-4, 0.1, 0.3, 3.0], 10))
    m = np.concatenate([m, [max(x, 0.5), 1e-300, 1e300]])
    values, sizes = poisson_cost(x, m)
    for value, size, rate in zip(values, sizes, m, strict=True):
        within(value, size, exact_poisson(x, rate))


def test_large_counts_lose_nothing_to_cancellation():
    rng = np.random.default_rng(1)
    for rate in (1e6, 1e9, 1e12, 1e14):
        x = np.round(rate + np.sqrt(rate) * rng.normal(size=50))
        values, sizes = poisson_cost(x, rate)
        assert (sizes < 60.0).all()
        for value, count in zip(values, x, strict=True):
            assert abs(mpf(float(value)) - exact_poisson(count, rate)) < 1e-14


def test_a_rate_of_0_makes_counts_impossible():
    np.testing.assert_array_equal(poisson_cost([0.0, 1.0, 15.0, 16.0, 1e9], 0.0)[0], [0.0] + [np.inf] * 4)


@pytest.mark.parametrize("x", MAGNITUDES)
def test_deviances_have_full_relative_accuracy(x):
    rng = np.random.default_rng(2)
    for size in (1e-14, 1e-10, 1e-5, 0.01, 0.18, 0.22, 1.0, 5.0):
        m = x * np.exp(size * rng.normal(size=20))
        for value, rate in zip(deviance(np.full(20, x), m), m, strict=True):
            a, b = mpf(x), mpf(float(rate))
            exact = a * mpmath.log(a / b) + b - a
            assert abs(mpf(float(value)) - exact) <= 32 * U * exact


@pytest.mark.parametrize("a", [value for value in MAGNITUDES if value >= 1.0] + [1.0 + 1e-9, 2.5])
@pytest.mark.parametrize("b", [value for value in MAGNITUDES if value >= 1.0] + [1.0 + 1e-9, 2.5])
def test_beta_functions(a, b):
    value, size = log_beta(a, b)
    exact = mpmath.loggamma(mpf(a)) + mpmath.loggamma(mpf(b)) - mpmath.loggamma(mpf(a) + mpf(b))
    within(value, size, exact)
    assert size <= 4 * abs(exact) + 200.0


@pytest.mark.parametrize("alpha", [value for value in MAGNITUDES if value >= 1.0] + [1.0 + 1e-9, 2.5])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 1000])
def test_dirichlet_normalisers(alpha, n):
    value, size = log_dirichlet(alpha, n)
    exact = n * mpmath.loggamma(mpf(alpha)) - mpmath.loggamma(n * mpf(alpha))
    within(value, size, exact)


@pytest.mark.parametrize("shape", [1.0, 1.0 + 1e-9, 1.5, 20.0, 1e8, 1e15])
@pytest.mark.parametrize("rate", [1e-250, 1e-8, 1.0, 3.7, 1e8, 1e200])
def test_gamma_densities(shape, rate):
    for ratio in (1e-3, 1.0 - 1e-9, 1.0, 1.0 + 3e-8, 2.0, 1e3):
        at = ratio * shape / rate
        value, size = gamma_prior(shape, rate, at)
        exact = mpf(rate) * mpf(at) - (mpf(shape) - 1) * mpmath.log(at)
        exact += mpmath.loggamma(mpf(shape)) - mpf(shape) * mpmath.log(rate)
        within(value, size, exact)
