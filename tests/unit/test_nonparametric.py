"""The nonparametric bound: below every mixture, and attained where the best mixture is the nonparametric one."""

import numpy as np
import pytest
from support.datasets import acidity, enzyme, galaxies

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.mixing.nonparametric import (
    FLOOR_GAP,
    MOST_FREE_SAMPLES,
    free_variance_bound,
    nonparametric_bound,
)


def log_likelihood_cost(x, w, means, proportions):
    density = np.exp(-0.5 * np.square(x[:, None] - means)) @ proportions
    return -float(w @ np.log(density))


def test_the_bound_lies_below_every_mixture():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = int(rng.integers(2, 40))
        x, w = rng.uniform(-6, 6, n), rng.uniform(0.1, 3, n)
        bound = nonparametric_bound(x, w, 1e-3)
        assert np.isfinite(bound)
        for _ in range(30):
            k = int(rng.integers(1, 8))
            means, share = rng.uniform(-7, 7, k), rng.dirichlet(np.ones(k))
            for _ in range(200):  # EM: mixtures close to the optimum test the bound hardest
                r = share * np.exp(-0.5 * np.square(x[:, None] - means))
                r *= (w / r.sum(axis=1))[:, None]
                share = r.sum(axis=0) / w.sum()
                means = (r.T @ x) / np.maximum(r.sum(axis=0), 1e-300)
            assert bound <= log_likelihood_cost(x, w, means, share) + 1e-9


@pytest.mark.parametrize("n_components", [6, 7, 8])
def test_galaxies_beyond_six_components_close(n_components):
    result = gopfast.solve(gopfast.GaussianMixture(galaxies(), n_components, covariance="known"), max_nodes=2000)
    assert result.success
    assert result.objective == pytest.approx(123.9894, abs=2e-3)


def test_it_is_close_to_the_best_mixture():
    """Seven components are the nonparametric optimum of the galaxies."""
    x = galaxies().ravel()
    best = gopfast.solve(gopfast.GaussianMixture(galaxies(), 7, covariance="known"), 1e-4)
    means, weights = best.solution.means.ravel(), best.solution.weights
    value = log_likelihood_cost(x, np.ones(82), means, weights)
    bounds = [nonparametric_bound(x, np.ones(82), gap) for gap in (1.0, 1e-2, 1e-4)]
    assert bounds == sorted(bounds)
    for bound, gap in zip(bounds, (1.0, 1e-2, 1e-4), strict=True):
        assert value - gap - 1e-4 <= bound <= value


def test_a_wide_range_has_room_for_an_atom_at_each_sample():
    n = 300
    x = 3.0 * np.arange(n) - 448.5
    bound = nonparametric_bound(x, np.ones(n), 0.1)
    on_samples = log_likelihood_cost(x, np.ones(n), x, np.full(n, 1 / n))
    assert np.isfinite(bound)
    assert bound <= on_samples


def test_a_sample_of_no_weight_to_speak_of_has_no_bound():
    x, w = np.array([-3.0, 0.0, 40.0]), np.array([1.0, 1.0, 1e-120])
    assert nonparametric_bound(x, w, 0.1) == -np.inf
    assert np.isfinite(nonparametric_bound(x, np.maximum(w, 1e-90), 0.1))


def free_problems(rng):
    """Clusters, even spreads and copies, with weights, as problems of one column and free variances."""
    n = int(rng.integers(2, 40))
    clusters = rng.normal(size=n) + 8 * rng.integers(3, size=n)
    X = rng.choice([rng.uniform(-6, 6, n), clusters, np.round(rng.normal(size=n))])
    weight = rng.uniform(0.1, 3, n)
    return [
        gopfast.GaussianMixture(
            X, min(K, n), covariance=kind, variance_floor=10.0 ** rng.uniform(-2, 1), sample_weight=weight
        )
        for kind in ("diag", "spherical", "tied", "full")
        for K in (1, 2, 5)
    ]


def test_the_bound_of_free_variances_lies_below_every_mixture_above_the_floor():
    rng = np.random.default_rng(0)
    for _ in range(8):
        for problem in free_problems(rng):
            starts = rng.dirichlet(0.3 * np.ones(problem.n_components), (4, problem.n_samples))
            fits = [gopfast.local.em(problem, problem.maximize(tau), tol=1e-9) for tau in starts]
            bound = free_variance_bound(engine.family(problem))
            assert np.isfinite(bound)
            for fit in fits:
                assert bound <= fit.objective + 1e-9 * (1 + abs(fit.objective))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_it_is_attained_by_samples_far_apart(scale):
    """A component on each sample, at the floor, is then the best mixture of any number of components."""
    X = scale * np.array([-60.0, -20.0, 5.0, 50.0])
    problem = gopfast.GaussianMixture(X, 4, covariance="diag", variance_floor=scale**2)
    optimum = -4 * np.log(0.25 / np.sqrt(2 * np.pi * scale**2))
    assert optimum - FLOOR_GAP - 1e-9 <= free_variance_bound(engine.family(problem)) <= optimum + 1e-9


@pytest.mark.parametrize("make", [galaxies, enzyme, acidity])
def test_it_is_that_of_the_known_variance_at_the_floor(make):
    X = make()
    floor = 1e-3 * X.var()
    free = gopfast.GaussianMixture(X, 3, covariance="diag", variance_floor=floor)
    x = X.ravel() / np.sqrt(floor)
    expected = nonparametric_bound(x, np.ones(len(x)), 1e-3) + 0.5 * len(x) * np.log(2 * np.pi * floor)
    assert free_variance_bound(engine.family(free)) == pytest.approx(expected, abs=FLOOR_GAP)


def test_other_families_and_large_data_have_no_such_bound():
    rng = np.random.default_rng(0)
    flat = gopfast.GaussianMixture(rng.normal(size=(9, 2)), 2, covariance="diag")
    known = gopfast.GaussianMixture(rng.normal(size=9), 2, covariance="known")
    wide = gopfast.GaussianMixture([0.0, 1.0, 1e4], 2, covariance="diag", variance_floor=1.0)
    many = gopfast.GaussianMixture(rng.normal(size=MOST_FREE_SAMPLES + 1), 2, covariance="diag")
    for problem in (flat, known, wide, many):
        assert free_variance_bound(engine.family(problem)) == -np.inf


def test_a_sample_of_hardly_any_weight_may_lose_its_atoms():
    """Its density then underflows to a subnormal number, and dividing by it overflowed."""
    X, weight = [-256.2943384523583, -256.2943384523583, -255.26648100651616], [9.163211616596529, 0.1, 7.0e-06]
    for K in 1, 2, 3:
        problem = gopfast.GaussianMixture(X, K, covariance="diag", variance_floor=0.0007091, sample_weight=weight)
        solution = gopfast.solve(problem).solution
        bound = free_variance_bound(engine.family(problem))
        assert np.isfinite(bound) and bound <= problem.objective(solution.weights, **solution.parameters) + 1e-9
