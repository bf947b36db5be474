"""Bounds that need no search, and what a result says when the limit comes before the first node."""

import numpy as np
import pytest

import gopfast
from gopfast import _engine
from gopfast._ceiling import least_objective
from gopfast.result import Status
from tests.support.problems import KINDS, make, nudged, random_state


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_no_state_lies_below_the_least_objective(kind, d, weighted):
    weight = np.random.default_rng(4).choice([0.0, 0.01, 1.0, 7.5], 12) if weighted else None
    problem = make(kind, seed=1, K=2, d=d, sample_weight=weight)
    least = least_objective(problem)
    assert np.isfinite(least)
    rng = np.random.default_rng(2)
    for size in np.repeat([0.0, 0.1, 3.0], 40):
        state = nudged(problem, random_state(problem, rng), rng, size)
        assert problem.objective(**state) >= least


@pytest.mark.parametrize("covariance", ["spherical", "diag", "tied", "full"])
def test_samples_on_components_at_the_floor_attain_it(covariance):
    problem = gopfast.GaussianMixture([[0.0, 1.0]] * 5, 2, covariance=covariance, variance_floor=0.3)
    result = gopfast.solve(problem)
    assert least_objective(problem) <= result.objective
    assert np.isclose(least_objective(problem), result.objective, rtol=1e-9)


def test_impossible_rates_of_a_prior_are_bounded():
    problem = gopfast.ExponentialMixture([0.0, 0.0, 0.0], 2, prior=(1.0, 1e-3))
    result = gopfast.solve(problem)
    assert least_objective(problem) <= result.objective
    assert least_objective(problem) > -100.0


def many(d, covariance="diag"):
    X = np.random.default_rng(5).normal(size=(60_000, d)) * np.linspace(1.0, 2.0, d)
    return gopfast.GaussianMixture(X, 3, covariance=covariance, variance_floor=0.1)


@pytest.mark.parametrize("limit", [0.0, 1e-6, 0.2])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_out_of_time_before_the_root_the_bounds_are_valid(d, limit):
    problem = many(d)
    result = gopfast.solve(problem, time_limit=limit)
    assert result.status is Status.TIME_LIMIT
    assert least_objective(problem) <= result.lower_bound < result.objective
    value = problem.objective(result.solution.weights, **result.solution.parameters)
    assert np.isclose(value, result.objective, rtol=1e-9)
    assert (result.history[:, 2] >= least_objective(problem)).all()


def test_starts_leave_the_root_its_time():
    """EM to convergence alone would take longer."""
    result = gopfast.solve(many(2), time_limit=3.0)
    assert result.n_nodes > 1
    assert result.history[0, 0] < 3.0


def test_starts_on_some_of_the_samples_are_polished_on_all():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(50_000, 4)) + 30.0 * rng.integers(3, size=(50_000, 1))
    problem = gopfast.GaussianMixture(X[np.argsort(X[:, 0])], 3)
    assert not _engine.family(problem).data.levels
    results = [gopfast.solve(problem, n_threads=n, max_nodes=1) for n in (1, 2)]
    assert [result.objective for result in results] == [results[0].objective] * 2
    reference = gopfast.local.em(problem, start=[[m] * 4 for m in (0.0, 30.0, 60.0)])
    assert np.isclose(results[0].objective, reference.objective, rtol=1e-9)
