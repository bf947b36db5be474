"""One component in closed form: against the search, SciPy, exact rationals and the problems' own objective."""

import io
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize, stats

import gopfast
from gopfast.mixtures.closed_form.single import optimum
from gopfast.result import Status
from tests.support import definitions
from tests.support.problems import KINDS, make, nudged

WEIGHTS = [0.0, 0.3, 1.0, 7.5]
SMALL = np.array([-10.0, -10.0, 5.0, 25.0])


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_closed_form_agrees_with_the_search(kind, weighted, d):
    weight = np.random.default_rng(4).choice(WEIGHTS, 25) if weighted else None
    problem = make(kind, seed=d, n=25, K=1, d=d, sample_weight=weight)
    result = gopfast.solve(problem)
    searched = gopfast.solve(problem, 1e-5, relaxation="entropic")
    assert (result.status, result.relaxation, result.n_nodes) == (Status.OPTIMAL, "closed form", 0)
    assert searched.success
    assert searched.relaxation == "entropic"
    assert searched.lower_bound <= result.objective
    assert result.lower_bound <= searched.objective
    value = problem.objective(result.solution.weights, **result.solution.parameters)
    assert 0.0 <= result.gap <= 1e-10 * (1.0 + abs(value))
    rounding = 1e-12 * (1.0 + abs(value))
    assert result.lower_bound - rounding <= value <= result.objective + rounding


@pytest.mark.parametrize("kind", KINDS)
def test_no_state_lies_below_the_bound(kind):
    problem = make(kind, n=20, K=1)
    result = gopfast.solve(problem)
    state = {"weights": result.solution.weights, **result.solution.parameters}
    rng = np.random.default_rng(0)
    values = []
    for size in np.repeat([1e-4, 1e-2, 1.0], 60):
        moved = nudged(problem, state, rng, size)
        if problem.prior == "empirical":
            moved["prior_variance"] = float(np.clip(state["prior_variance"] * np.exp(size * rng.normal()), 1e-3, 1e6))
        values.append(problem.objective(**moved))
    assert min(values) >= result.lower_bound
    assert max(values) > result.objective  # the states do move


@pytest.mark.parametrize("offset", [0.0, 0.1, 1e8, -1e15])
@pytest.mark.parametrize("gamma", [None, 3.0, 1e-3])
def test_the_bounds_hold_in_exact_arithmetic(offset, gamma):
    rng = np.random.default_rng(6)
    X, w = offset + rng.normal(size=201), rng.choice(WEIGHTS, 201)
    result = gopfast.solve(gopfast.GaussianMixture(X, 1, prior=gamma, sample_weight=w, covariance="known"))
    x, w = [Fraction(value) for value in X], [Fraction(value) for value in w]
    W, T = sum(w), sum(a * b for a, b in zip(w, x, strict=True))
    e = Fraction(0) if gamma is None else 1 / Fraction(gamma)
    exact = (sum(a * b * b for a, b in zip(w, x, strict=True)) - T * T / (W + e)) / 2
    attained = Fraction(result.solution.means[0, 0])
    attained = sum(a * (b - attained) ** 2 for a, b in zip(w, x, strict=True)) / 2 + e * attained**2 / 2
    if gamma is None:
        assert Fraction(result.lower_bound) <= exact <= attained <= Fraction(result.objective)
    else:
        rest = 0.5 * math.log(gamma)
        assert result.lower_bound - rest <= float(exact) * (1 + 1e-15)
        assert float(attained) * (1 - 1e-15) <= result.objective - rest
        assert result.gap <= 1e-12 * float(attained)


@pytest.mark.parametrize("mean", np.linspace(0.0, 4.0, 9))
@pytest.mark.parametrize("bounds", [(1e-3, 1e6), (0.02, 0.5), (2.0, 3.0)])
@pytest.mark.parametrize("posterior", ["point", "gaussian"])
def test_an_estimated_prior_variance_is_the_best_of_a_grid(mean, bounds, posterior):
    X = mean + np.array([-0.2, 0.1, 0.1])
    problem = gopfast.GaussianMixture(
        X, 1, prior="empirical", posterior=posterior, noise_variance=1.5, prior_variance_bounds=bounds
    )
    result = gopfast.solve(problem)
    assert result.relaxation == "closed form"
    for gamma in np.geomspace(*bounds, 80):
        fixed = gopfast.GaussianMixture(X, 1, prior=gamma, posterior=posterior, noise_variance=1.5)
        assert gopfast.solve(fixed).objective >= result.lower_bound
    fixed = gopfast.GaussianMixture(X, 1, prior=result.solution.prior_variance, posterior=posterior, noise_variance=1.5)
    assert math.isclose(gopfast.solve(fixed).objective, result.objective, rel_tol=1e-12)


def test_of_two_minima_in_the_prior_variance_the_lower_one_is_found():
    found = []
    for mean in np.linspace(1.0, 5.0, 100):
        problem = gopfast.GaussianMixture([mean], 1, prior="empirical", prior_variance_bounds=(0.05, 1e6))
        found.append(gopfast.solve(problem).solution.prior_variance)
    at_bound = np.isclose(found, 0.05)
    assert at_bound[0]
    assert not at_bound[-1]
    assert (np.diff(at_bound.astype(int)) <= 0).all()
    switch = int(np.flatnonzero(~at_bound)[0])
    # EM from the other minimum would stay: it is one already where a q > 4.
    assert np.linspace(1.0, 5.0, 100)[switch] > 2.0 + 0.05


def test_unequal_noise_with_an_estimated_prior_variance_is_searched():
    X = np.random.default_rng(0).normal(size=(12, 2)) + 3.0
    problem = gopfast.GaussianMixture(X, 1, prior="empirical", noise_variance=[1.0, 2.0])
    result = gopfast.solve(problem)
    assert result.success
    assert result.relaxation == "entropic"
    assert result.n_nodes >= 1


def test_scipy_fits_the_same_parameters():
    rng = np.random.default_rng(8)
    x = rng.normal(3.0, 2.0, 50)
    found = gopfast.solve(gopfast.GaussianMixture(x, 1, covariance="diag", variance_floor=1e-3))
    location, scale = stats.norm.fit(x)
    np.testing.assert_allclose(found.solution.means[0, 0], location, rtol=1e-12)
    np.testing.assert_allclose(found.solution.covariances[0, 0], scale**2, rtol=1e-12)
    np.testing.assert_allclose(found.objective, -stats.norm.logpdf(x, location, scale).sum(), rtol=1e-12)

    x = rng.exponential(4.0, 50)
    found = gopfast.solve(gopfast.ExponentialMixture(x, 1))
    np.testing.assert_allclose(found.objective, -stats.expon.logpdf(x, scale=x.mean()).sum(), rtol=1e-12)

    x = rng.poisson(4.0, 50)
    found = gopfast.solve(gopfast.PoissonMixture(x, 1))
    np.testing.assert_allclose(found.objective, -stats.poisson.logpmf(x, x.mean()).sum(), rtol=1e-12)

    x = rng.random(50) < 0.3
    found = gopfast.solve(gopfast.BernoulliMixture(x[:, None], 1, prior=(2.0, 3.0)))
    least = optimize.minimize_scalar(
        lambda p: -(stats.bernoulli.logpmf(x, p).sum() + stats.beta.logpdf(p, 2.0, 3.0)),
        bounds=(1e-6, 1 - 1e-6), method="bounded", options={"xatol": 1e-12},
    )  # fmt: skip
    np.testing.assert_allclose(found.objective, least.fun, rtol=1e-12)
    np.testing.assert_allclose(found.solution.probabilities[0, 0], least.x, rtol=1e-6)


@pytest.mark.parametrize("kind", ["full", "tied"])
def test_covariance_matrices_of_any_number_of_columns(kind):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 8)) @ (np.eye(8) + 0.2 * rng.normal(size=(8, 8)))
    problem = gopfast.GaussianMixture(X, 1, covariance=kind)
    result = gopfast.solve(problem)
    assert result.success
    found = result.solution.covariances[0] if kind == "full" else result.solution.covariances
    np.testing.assert_allclose(found, np.cov(X.T, ddof=0), rtol=1e-10)
    np.testing.assert_allclose(
        result.objective, -stats.multivariate_normal(X.mean(axis=0), np.cov(X.T, ddof=0)).logpdf(X).sum(), rtol=1e-11
    )
    floored = gopfast.GaussianMixture(X, 1, covariance=kind, variance_floor=4.0)
    found = gopfast.solve(floored)
    assert found.success
    one_step = floored.maximize(np.ones((80, 1)))
    assert found.lower_bound <= floored.objective(**one_step) <= found.objective
    with pytest.raises(gopfast.InputError, match="at most 32 columns"):
        gopfast.solve(gopfast.GaussianMixture(rng.normal(size=(80, 33)), 2, covariance=kind))


@pytest.mark.parametrize(
    "options", [{"relaxation": "linear"}, {"relaxation": "entropic"}, {"branching": "orthant"}], ids=str
)
def test_who_names_a_method_gets_it(options):
    result = gopfast.solve(gopfast.GaussianMixture(SMALL, 1, prior="empirical"), **options)
    assert result.success
    assert result.n_nodes >= 1


def test_the_result_does_what_every_result_does(tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    problem = gopfast.GaussianMixture(SMALL, 1, covariance="diag")
    log, seen = io.StringIO(), []
    result = gopfast.solve(problem, log=log, callback=seen.append, time_limit=0.0, start=[3.0])
    assert result.success
    assert [state.lower for state in seen] == [result.lower_bound]
    assert "0 nodes" in log.getvalue()
    assert "closed form" in str(result)
    assert result.history.shape == (1, 5)
    axes = result.plot()
    assert axes.get_xlabel().startswith("time")
    result.plot("density")
    assert pickle.loads(pickle.dumps(result)).lower_bound == result.lower_bound
    assert '"relaxation": "closed form"' in result.to_json(tmp_path / "fit.json")
    assert gopfast.certify(problem, result, 1e-6).verdict is gopfast.Verdict.PROVED
    with pytest.raises(gopfast.InputError, match="start"):
        gopfast.solve(problem, start=[1.0, 2.0])


def test_a_tolerance_below_rounding_is_not_claimed():
    result = gopfast.solve(gopfast.GaussianMixture(SMALL, 1, covariance="known"), 1e-300)
    assert result.status is Status.NUMERICAL
    assert result.lower_bound < result.objective


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e100])
def test_extreme_units_give_honest_bounds(size):
    problem = gopfast.ExponentialMixture(size * np.array([1.0, 2.0, 4.0]), 1)
    result = gopfast.solve(problem)
    exact = 3.0 * (1.0 + math.log(7.0 / 3.0) + math.log(size))
    assert result.lower_bound <= exact * (1 + 1e-14 * np.sign(exact))
    assert result.objective >= exact * (1 - 1e-14 * np.sign(exact))
    assert result.success


@pytest.mark.parametrize("light", [1.0, 1e-3, 1e-9, 1e-200])
def test_shares_far_apart_keep_their_digits(light):
    """The light share's entropy is what counts, and the total holds none of its digits."""
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(500):
        a, b = mpmath.mpf(1e6), mpmath.mpf(light)
        exact = -(a * mpmath.log(a / (a + b)) + b * mpmath.log(b / (a + b)))
        for problem in (
            gopfast.BernoulliMixture([[1], [0]], 1, sample_weight=[1e6, light]),
            gopfast.CategoricalMixture(["a", "b"], 1, sample_weight=[1e6, light]),
            gopfast.CategoricalMixture(["b", "a"], 1, categories=[["a", "b", "c"]], sample_weight=[1e6, light]),
        ):
            result = gopfast.solve(problem)
            assert result.relaxation == "closed form"
            assert mpmath.mpf(result.lower_bound) <= exact <= mpmath.mpf(result.objective)
            assert exact - mpmath.mpf(result.lower_bound) <= 1e-12 * exact
            # what the parameters attain: probabilities next to 1 are rounded, each by half an ulp at most
            attained = definitions.of_solution(result)
            assert attained <= mpmath.mpf(result.objective) <= max(exact, attained) * (1 + 1e-12) + 1e6 * 2.0**-52
            assert result.gap <= 1e-12 * float(exact) + 1e6 * 2.0**-52


def test_several_components_have_no_closed_form():
    assert optimum(gopfast.GaussianMixture(SMALL, 2, covariance="known")) is None
