"""The first local search of a solve against what ten restarts from k-means++ draws reach."""

import warnings

import numpy as np
import pytest
from gopfast.clustering.line import best_stretches

import gopfast
from gopfast import local
from gopfast.datasets import load

N_RESTARTS = 10
SLACK = 0.02  # nats, for where both stop before the end of the same descent


def reached(problem):
    """Objective of the first local search: the search ends with the root, but for models that it leaves to the tree."""
    few = getattr(problem, "covariance", None) == "known" and problem.n_components * problem.n_features < 5
    return gopfast.solve(problem, 1e-3, n_threads=1, max_nodes=None if few else 1, log=False).objective


def restarts(problem):
    return min(
        local.em(problem, local.start(problem, "kmeans_plus_plus", seed), tol=1e-3, max_iter=300).objective
        for seed in range(N_RESTARTS)
    )


def grid(n_components, d, seed, n_each=25):
    """Clusters 5 standard deviations apart, drawn from a grid: some of them fall together."""
    rng = np.random.default_rng(seed)
    side = max(2, round(n_components ** (1.0 / d)) + 1)
    centers = 5.0 * rng.integers(side if d > 1 else 2 * n_components, size=(n_components, d))
    return centers[rng.integers(n_components, size=n_each * n_components)] + rng.standard_normal(
        (n_each * n_components, d)
    )


def gaussian(covariance, d):
    def make(n_components):
        return gopfast.GaussianMixture(grid(n_components, d, n_components), n_components, covariance=covariance)

    return make


def bernoulli(n_components):
    rng = np.random.default_rng(n_components)
    p = np.where(rng.random((n_components, 12)) < 0.5, 0.1, 0.9)[rng.integers(n_components, size=25 * n_components)]
    return gopfast.BernoulliMixture((rng.random(p.shape) < p).astype(int), n_components)


def labels(n_components):
    rng = np.random.default_rng(n_components)
    X = rng.integers(4, size=(n_components, 6))[rng.integers(n_components, size=25 * n_components)]
    noisy = rng.random(X.shape) < 0.2
    return gopfast.CategoricalMixture(np.where(noisy, rng.integers(4, size=X.shape), X), n_components)


def poisson(n_components):
    rng = np.random.default_rng(n_components)
    rates = np.exp(rng.uniform(0.0, 5.0, (n_components, 2)))[rng.integers(n_components, size=25 * n_components)]
    return gopfast.PoissonMixture(rng.poisson(rates), n_components)


def waiting(n_components):
    rng = np.random.default_rng(n_components)
    rates = np.exp(rng.uniform(-6.0, 6.0, (n_components, 2)))[rng.integers(n_components, size=25 * n_components)]
    return gopfast.ExponentialMixture(rng.exponential(1.0 / rates), n_components)


MODELS = {
    "known, 1 column": gaussian("known", 1), "known": gaussian("known", 2), "diag, 1 column": gaussian("diag", 1),
    "diag": gaussian("diag", 2), "spherical": gaussian("spherical", 2), "tied": gaussian("tied", 2),
    "tied_spherical": gaussian("tied_spherical", 2), "full": gaussian("full", 2), "bernoulli": bernoulli,
    "labels": labels, "poisson": poisson, "exponential": waiting,
}  # fmt: skip


@pytest.mark.parametrize("n_components", [2, 4, 7, 12])
@pytest.mark.parametrize("model", MODELS)
def test_never_worse_than_ten_restarts(model, n_components):
    problem = MODELS[model](n_components)
    assert reached(problem) <= restarts(problem) + SLACK


@pytest.mark.parametrize("n_components", [20, 30])
@pytest.mark.parametrize("model", ["known, 1 column", "known", "diag, 1 column", "tied_spherical", "poisson"])
def test_never_worse_than_ten_restarts_with_many_components(model, n_components):
    problem = MODELS[model](n_components)
    assert reached(problem) <= restarts(problem) + SLACK


def overlapping(covariance, d, n_components, seed, distance):
    rng = np.random.default_rng(seed)
    side = max(2, round(n_components ** (1.0 / d)) + 1) if d > 1 else 2 * n_components
    centers = distance * rng.integers(side, size=(n_components, d))
    X = centers[rng.integers(n_components, size=25 * n_components)] + rng.standard_normal((25 * n_components, d))
    return gopfast.GaussianMixture(X, n_components, covariance=covariance)


# Cases in which the local search without crossings ended 0.03 to 4.4 nats above.
OVERLAPPING = [("known", 2, 10, 1010, 3.0), ("diag", 1, 20, 20, 1.5), ("tied", 2, 20, 3020, 1.0)]


@pytest.mark.parametrize("case", OVERLAPPING, ids=lambda case: f"{case[0]}-{case[2]}")
def test_never_worse_than_ten_restarts_where_components_overlap(case):
    problem = overlapping(*case)
    assert reached(problem) <= restarts(problem) + SLACK


def test_never_worse_than_scikit_learn():
    mixture = pytest.importorskip("sklearn.mixture")
    X = grid(6, 2, 5)
    problem = gopfast.GaussianMixture(X, 6, covariance="full")
    with warnings.catch_warnings(), pytest.importorskip("threadpoolctl").threadpool_limits(1):
        warnings.simplefilter("ignore")
        model = mixture.GaussianMixture(
            6, covariance_type=problem.covariance, n_init=10, random_state=0, reg_covar=problem.variance_floor.max()
        ).fit(X)
    fit = gopfast.mixtures.fits.solution_of(problem, model)
    assert reached(problem) <= problem.objective(fit.weights, **fit.parameters) + SLACK


def test_the_example_whose_multistart_once_ended_142_nats_above():
    x = 4.0 * np.random.default_rng(1).integers(20, size=2000) + np.random.default_rng(2).standard_normal(2000)
    assert reached(gopfast.GaussianMixture(x, 20, covariance="known")) <= 6744.40


def test_equal_for_every_number_of_threads():
    problem = MODELS["diag"](7)
    one, two = (gopfast.solve(problem, n_threads=n, max_nodes=1, log=False).objective for n in (1, 2))
    assert one == two


def test_a_time_limit_ends_the_first_local_search():
    rng = np.random.default_rng(0)
    problem = gopfast.CategoricalMixture(rng.integers(4, size=(20_000, 8)), 20)
    result = gopfast.solve(problem, n_threads=1, time_limit=0.05, max_nodes=1, log=False)
    assert result.n_passes < 200  # without a limit thousands


@pytest.mark.parametrize("n_samples", [1, 2, 5, 40])
def test_stretches_of_one_column_are_the_best_by_plain_dynamic_programming(n_samples):
    rng = np.random.default_rng(n_samples)
    x = np.sort(np.round(rng.standard_normal(n_samples), 1))
    w = rng.integers(1, 4, n_samples).astype(float)

    def cost(i, j):
        return w[i:j] @ np.square(x[i:j] - np.average(x[i:j], weights=w[i:j]))

    best = {(0, 0): 0.0}
    for k in range(1, n_samples + 1):
        for j in range(k, n_samples + 1):
            best[k, j] = min(best[k - 1, i] + cost(i, j) for i in range(k - 1, j) if (k - 1, i) in best)
        begins = best_stretches(x, w, k)
        ends = [*begins[1:], n_samples]
        assert begins[0] == 0 and (np.diff(begins) > 0).all()
        assert sum(map(cost, begins, ends)) == pytest.approx(best[k, n_samples], abs=1e-9)


def test_a_narrow_component_among_wide_ones_is_found():
    """Of 900 random starts of EM one ends there, and no split and merger of what the others reach leads to it."""
    X = np.asarray(load("acidity"))
    problem = gopfast.GaussianMixture((X - X.mean()) / X.std(), 5)
    found = []

    def stop(progress):
        found.append(progress.upper)
        return found[-1] < 166.45

    gopfast.solve(problem, n_threads=1, max_nodes=100_000, log=False, callback=stop)
    assert min(found) < 166.45
