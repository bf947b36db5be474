"""The nonparametric bound: below every mixture, and attained where the best mixture is the nonparametric one."""

import numpy as np
import pytest
from support.datasets import acidity, enzyme, galaxies

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.bounds.nonparametric import FLOOR_GAP, MOST_FREE_SAMPLES, NonparametricBound, free_variance_bound


def log_likelihood_cost(x, w, means, proportions):
    density = np.exp(-0.5 * np.square(x[:, None] - means)) @ proportions
    return -float(w @ np.log(density))


def test_the_bound_lies_below_every_mixture():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = int(rng.integers(2, 40))
        x, w = rng.uniform(-6, 6, n), rng.uniform(0.1, 3, n)
        start = np.array([x.mean(), x.max()])
        bound = NonparametricBound(x, w).solve(start, np.array([0.5, 0.5]), 1e-3)
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


def test_any_inverse_density_gives_a_valid_supremum():
    rng = np.random.default_rng(1)
    x, w = rng.uniform(-5, 5, 30), np.ones(30)
    bound = NonparametricBound(x, w)
    for _ in range(10):
        log_inverse = rng.uniform(-3, 3, 30)
        grid = np.linspace(x.min(), x.max(), 101)
        top = bound.supremum(grid, bound.excess(grid, log_inverse), log_inverse, 0.0)
        fine = bound.excess(np.linspace(x.min(), x.max(), 200_001), log_inverse).max()
        assert fine <= top <= fine * (1 + 1e-2)


@pytest.mark.parametrize("n_components", [6, 7, 8])
def test_galaxies_beyond_six_components_close(n_components):
    result = gopfast.solve(gopfast.GaussianMixture(galaxies(), n_components), max_nodes=2000)
    assert result.success
    assert result.objective == pytest.approx(123.9894, abs=2e-3)


def test_a_hopeless_bound_is_given_up():
    x = galaxies().ravel()
    bound = NonparametricBound(x, np.ones(len(x))).solve(np.array([10.0, 21.0, 31.0]), np.full(3, 1 / 3), 1e-3, 200.0)
    assert bound < 200.0


def free_bound(problem, state):
    return free_variance_bound(engine.family(problem), **state)


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
            bound = free_bound(problem, problem.maximize(starts[0]))
            assert np.isfinite(bound)
            for fit in fits:
                assert bound <= fit.objective + 1e-9 * (1 + abs(fit.objective))


def test_it_does_not_depend_much_on_where_it_starts():
    X = acidity()
    problem = gopfast.GaussianMixture(X, 2, covariance="diag", variance_floor=0.01)
    rng = np.random.default_rng(1)
    states = [problem.maximize(rng.dirichlet(np.full(2, 0.1), len(X))) for _ in range(5)]
    assert np.ptp([free_bound(problem, state) for state in states]) <= FLOOR_GAP


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_it_is_attained_by_samples_far_apart(scale):
    """A component on each sample, at the floor, is then the best mixture of any number of components."""
    X = scale * np.array([-60.0, -20.0, 5.0, 50.0])
    problem = gopfast.GaussianMixture(X, 4, covariance="diag", variance_floor=scale**2)
    optimum = -4 * np.log(0.25 / np.sqrt(2 * np.pi * scale**2))
    state = problem.maximize(np.full((4, 4), 0.25))
    assert optimum - FLOOR_GAP <= free_bound(problem, state) <= optimum + 1e-9


@pytest.mark.parametrize("make", [galaxies, enzyme, acidity])
def test_it_is_that_of_the_known_variance_at_the_floor(make):
    X = make()
    floor = 1e-3 * X.var()
    free = gopfast.GaussianMixture(X, 3, covariance="diag", variance_floor=floor)
    x = X.ravel() / np.sqrt(floor)
    known = NonparametricBound(x, np.ones(len(x)))
    even = np.linspace(x.min(), x.max(), 100)
    expected = known.solve(even, np.full(100, 0.01), FLOOR_GAP) + 0.5 * len(x) * np.log(2 * np.pi * floor)
    state = gopfast.local.em(free).solution
    found = free_bound(free, {"weights": state.weights, **state.parameters})
    assert found == pytest.approx(expected, abs=FLOOR_GAP)


def test_other_families_and_large_data_have_no_such_bound():
    rng = np.random.default_rng(0)
    flat = gopfast.GaussianMixture(rng.normal(size=(9, 2)), 2, covariance="diag")
    known = gopfast.GaussianMixture(rng.normal(size=9), 2)
    wide = gopfast.GaussianMixture([0.0, 1.0, 1e4], 2, covariance="diag", variance_floor=1.0)
    many = gopfast.GaussianMixture(rng.normal(size=MOST_FREE_SAMPLES + 1), 2, covariance="diag")
    for problem in (flat, known, wide, many):
        state = problem.maximize(rng.dirichlet(np.ones(2), problem.n_samples))
        assert free_bound(problem, state) == -np.inf


def test_a_sample_of_hardly_any_weight_may_lose_its_atoms():
    """Its density then underflows to a subnormal number, and dividing by it overflowed."""
    X, weight = [-256.2943384523583, -256.2943384523583, -255.26648100651616], [9.163211616596529, 0.1, 7.0e-06]
    for K in 1, 2, 3:
        problem = gopfast.GaussianMixture(X, K, covariance="diag", variance_floor=0.0007091, sample_weight=weight)
        solution = gopfast.solve(problem).solution
        bound = free_bound(problem, {"weights": solution.weights, **solution.parameters})
        assert np.isfinite(bound) and bound <= problem.objective(solution.weights, **solution.parameters) + 1e-9
