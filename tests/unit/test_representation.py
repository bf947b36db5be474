"""Between the user's units and the core's: what is reported is what the returned parameters attain."""

import numpy as np
import pytest

import gopfast
from gopfast.errors import InputError
from gopfast.mixtures import engine
from gopfast.mixtures.representation import RESERVE, Representation
from gopfast.result import Status
from tests.support import definitions

KINDS = ["known", "diag", "spherical", "tied_spherical", "full"]


def two_groups(offset, spread, d=1, n=40, seed=0):
    rng = np.random.default_rng(seed)
    return offset + spread * (rng.normal(size=(n, d)) + 6.0 * rng.integers(0, 2, (n, 1)))


def problem_of(X, covariance, spread, **given):
    if covariance == "known":
        given["noise_variance"] = spread**2
    else:
        given.setdefault("variance_floor", (0.05 * spread) ** 2)  # whatever the resolution of floats there
    return gopfast.GaussianMixture(X, 2, covariance=covariance, **given)


def assert_honest(result, epsilon=0.01):
    attained = definitions.of_solution(result)
    assert result.lower_bound <= attained <= result.objective
    assert result.objective - attained <= 1e-10 * (1.0 + abs(attained))
    if result.status is Status.OPTIMAL:
        assert result.gap <= epsilon
    assert result.history[-1, 2] <= result.lower_bound + 1e-12 * (1.0 + abs(result.lower_bound))
    assert result.history[-1, 3] == pytest.approx(result.objective, rel=1e-12)


@pytest.mark.parametrize("covariance", KINDS)
@pytest.mark.parametrize("offset, spread", [(1e8, 1e-8), (1e8, 1e-7), (1e12, 1e-3), (-1e15, 1.0)])
def test_means_that_floats_cannot_hold_are_not_proved(covariance, offset, spread):
    """The samples are as exact as they are; but the best means lie between two floats."""
    result = gopfast.solve(problem_of(two_groups(offset, spread), covariance, spread), max_nodes=400, n_threads=1)
    assert_honest(result)
    assert result.status is Status.NUMERICAL
    if result.gap > 0.02:
        assert "subtract an offset from X" in result.notes[0]


@pytest.mark.parametrize("covariance", KINDS)
@pytest.mark.parametrize("offset, spread", [(1e8, 1e-4), (1e8, 1.0), (0.0, 1e-140), (0.0, 1e150), (3.0, 1e-6)])
def test_means_that_floats_hold_well_enough_are(covariance, offset, spread):
    result = gopfast.solve(problem_of(two_groups(offset, spread), covariance, spread), max_nodes=2000, n_threads=1)
    assert_honest(result)
    assert result.status is Status.OPTIMAL
    assert "subtract an offset from X" not in str(result.notes)


@pytest.mark.parametrize("prior, posterior", [(1.0, "point"), ("empirical", "point"), (1.0, "gaussian")])
@pytest.mark.parametrize("offset, spread", [(1e8, 1e-8), (1e8, 1.0), (1e12, 1e-3)])
def test_priors_far_from_the_data(prior, posterior, offset, spread):
    problem = problem_of(two_groups(offset, spread), "known", spread, prior=prior, posterior=posterior)
    result = gopfast.solve(problem, max_nodes=200, n_threads=1)
    attained = definitions.of_solution(result)
    assert result.lower_bound <= attained <= result.objective
    assert result.objective - attained <= 1e-10 * abs(attained)


@pytest.mark.parametrize("covariance", ["known", "diag"])
def test_samples_that_the_shift_rounds(covariance):
    """One group near 0 with digits that the shift to the middle of the range takes away."""
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(size=30), 1e12 + rng.normal(size=30)])
    given = {"variance_floor": 0.1} if covariance == "diag" else {}
    problem = gopfast.GaussianMixture(X, 2, covariance=covariance, **given)
    loss = Representation(problem, engine.family(problem))
    assert 1e-6 < loss.distance < 1e-2
    result = gopfast.solve(problem, 0.1, max_nodes=2000)
    attained = definitions.of_solution(result)
    assert result.lower_bound <= attained <= result.objective
    # the best means as mpmath has them: those of either group
    best = definitions.objective(
        problem, [0.5, 0.5], means=[X[:30].mean(), X[30:].mean()],
        **({"covariances": result.solution.covariances} if covariance == "diag" else {}),
    )  # fmt: skip
    assert result.lower_bound <= best


def test_the_distance_of_samples_is_that_of_exact_arithmetic():
    from fractions import Fraction

    rng = np.random.default_rng(5)
    for spread in (1.0, 1e5, 1e14):
        X = np.concatenate([rng.normal(size=(20, 2)), spread * rng.normal(size=(20, 2))])
        problem = gopfast.GaussianMixture(X, 2, noise_variance=[1.0, 0.3], covariance="known")
        family = engine.family(problem)
        data, _ = family.data.arrays()
        center, scale, order = family.data.center, family.data.scale, family.data.order
        total = Fraction(0)
        for column, j in zip(data, order, strict=True):
            for x, z in zip(X[:, j], column, strict=True):
                total += ((Fraction(x) - Fraction(center[j])) / Fraction(scale[j]) - Fraction(z)) ** 2
        exact = float(total) ** 0.5
        distance = Representation(problem, family).distance
        assert exact <= distance <= 10.0 * exact + 1e-300


def test_ordinary_data_lose_nothing():
    """Their rounding is within the margins of the bounds: only the reserve for returned means is kept."""
    problem = gopfast.GaussianMixture(two_groups(0.0, 1.0), 2, covariance="known")
    representation = Representation(problem, engine.family(problem))
    result = gopfast.solve(problem)
    assert representation.loss(result.objective) == 0.0
    assert representation.tolerance_kept(0.01) == 1.0 - RESERVE


@pytest.mark.parametrize("covariance", KINDS)
def test_variances_without_digits_are_refused(covariance):
    with pytest.raises(InputError, match="smaller unit|underflows"):
        problem_of(two_groups(0.0, 1e-160), covariance, 1e-160)


@pytest.mark.parametrize("model", ["Bernoulli", "categorical"])
def test_a_probability_of_1_is_not_returned_where_it_is_impossible(model):
    """The best probability lies between the largest float below 1 and 1, and a zero of little weight forbids 1."""
    X, weight = [1, 1, 0], [1e15, 1e15, 1e-6]
    if model == "Bernoulli":
        problem = gopfast.BernoulliMixture(X, 2, sample_weight=weight, prior=(1e8, 1.0 + 1e-9))
    else:
        problem = gopfast.CategoricalMixture(X, 2, sample_weight=weight, prior=1.0)
    for K in (1, 2):
        given = problem if K == 2 else gopfast.BernoulliMixture(X, 1, sample_weight=weight)
        result = gopfast.solve(given, max_nodes=100)
        attained = definitions.of_solution(result)
        assert np.isfinite(float(attained))
        assert result.lower_bound <= attained <= result.objective


def test_a_proved_number_of_components_holds_in_the_users_units():
    """Criteria of samples that the shift rounds by a share of a deviation; and a search at its cutoff ends."""
    X = two_groups(1e12, 1e-3, n=30).ravel()
    for covariance in ("known", "diag"):
        given = {"noise_variance": 1e-6} if covariance == "known" else {"variance_floor": 1e-7}
        selected = gopfast.select(X, [1, 2, 3], covariance=covariance, time_limit=20.0, n_threads=1, **given)
        for one in selected.candidates:
            problem, solution = one.problem, one.result.solution
            attained = definitions.objective(problem, solution.weights, **solution.parameters)
            price = np.log(30.0) * one.n_parameters
            value = 2.0 * (float(attained) - problem.elbo_constant) + price
            assert one.lower <= value + 1e-9 * abs(value)
            assert value <= one.upper + 1e-9 * abs(value)
