"""Clusters that the first local search starts from where a pass takes long, and fits that it knows beforehand."""

import numpy as np
import pytest

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.primal.clusters import Clusterings


def apart(n, d, K, seed, gap=10.0):
    """Clusters of unit covariance about far centers, and their numbers."""
    rng = np.random.default_rng(seed)
    centers = gap * np.eye(K, d) + gap * rng.integers(0, 2, (K, d)) * (np.arange(d) >= K)
    labels = np.arange(n) % K
    return centers[labels] + rng.standard_normal((n, d)), labels


def within(X, weights, labels):
    """Weighted sum of squared distances from the clusters' means."""
    total = 0.0
    for k in np.unique(labels):
        rows, w = X[labels == k], weights[labels == k]
        total += w @ np.square(rows - np.average(rows, axis=0, weights=w)).sum(axis=1)
    return total


def test_the_best_clusters_come_first_and_are_those_of_the_data():
    X, labels = apart(300, 6, 5, 0)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 300)
    found, n_alike = Clusterings(X + 1e6, weights, 5, np.random.default_rng(0)).run(8)
    assert n_alike.sum() == 8 and len(n_alike) == len(found)
    sums = [within(X, weights, one) for one in found]
    assert sums == sorted(sums)
    assert sums[0] == pytest.approx(within(X, weights, labels))
    assert len({tuple(pair) for pair in zip(labels, found[0], strict=True)}) == 5


def test_one_run_is_made_whatever_the_time():
    X, _ = apart(40, 3, 3, 0)
    labels, n_alike = Clusterings(X, np.ones(40), 3, np.random.default_rng(0)).run(8, lambda: True)
    assert len(labels) == 1 and list(n_alike) == [1]


def test_more_runs_find_others_than_the_first_ones():
    X, weights = np.random.default_rng(3).random((200, 2)), np.ones(200)
    runs = Clusterings(X, weights, 6, np.random.default_rng(0))
    first, second = (runs.run(10)[0] for _ in range(2))
    both = [within(X, weights, one) for one in [*first, *second]]
    assert len(first) and len(second) and len(set(np.round(both, 9))) == len(both)


def test_fewer_distinct_samples_than_clusters():
    found, _ = Clusterings(np.repeat([[0.0], [1.0]], 5, axis=0), np.ones(10), 4, np.random.default_rng(0)).run(3)
    assert all(within(np.repeat([[0.0], [1.0]], 5, axis=0), np.ones(10), one) == 0.0 for one in found)


@pytest.mark.parametrize("kind", ["full", "tied"])
def test_distances_of_matrices_are_made_in_the_users_columns(kind):
    X, _ = apart(60, 3, 3, 2)
    X = X * [1.0, 100.0, 0.01] + [5.0, 0.0, -1.0]
    family = engine.family(gopfast.GaussianMixture(X, 3, covariance=kind))
    columns, weights = family.data.arrays()
    places = family.places(columns, weights)
    scaled = ((X - X.mean(axis=0)) / X.std(axis=0)).T
    np.testing.assert_allclose(places - places.mean(axis=1, keepdims=True), scaled, atol=1e-9)
    as_given = family.places(columns, weights, True)
    as_given = (as_given - as_given.mean(axis=1, keepdims=True)) / X.std(axis=0)[:, np.newaxis]
    np.testing.assert_allclose(as_given, scaled, atol=1e-9)


@pytest.mark.parametrize("kind", ["full", "tied"])
def test_the_fit_that_gives_the_axes_is_a_start(kind):
    X, _ = apart(90, 3, 3, 3, gap=3.0)
    problem = gopfast.GaussianMixture(X, 3, covariance=kind)
    family = engine.family(problem)
    known = family.suggested()
    values = family.parameters(np.append(known, 0.0))
    attained = problem.objective(known[:3], **values)
    assert attained < problem.objective(np.full(3, 1 / 3), X[:3], values["covariances"]) - 1.0
    found = gopfast.solve(problem, time_limit=1e-9, n_threads=1, log=False)
    assert found.objective <= attained + 1e-9 * abs(attained)


@pytest.mark.parametrize(("d", "more"), [(3, False), (5, True)])
def test_of_many_parameters_more_clusterings_are_starts(d, more):
    """Where components have 20 parameters forty are compared by a few steps of EM, else ten; and six draws."""
    X, _ = apart(150, d, 4, 5, gap=1.0)
    problem = gopfast.GaussianMixture(X, 4, covariance="full")
    found = gopfast.solve(problem, max_nodes=1, n_threads=1, log=False)
    n_trials = sum(found.starts["trials"].values())  # of those that differ
    assert 30 < n_trials <= 46 if more else n_trials <= 16


def test_a_start_from_clusters_ends_whatever_the_time():
    """So many parameters that a pass takes long: of no time at all every start would be three steps of EM."""
    K, d = 6, 8
    X, labels = apart(4_000, d, K, 4)
    problem = gopfast.GaussianMixture(X, K, covariance="full")
    groups = [X[labels == k] for k in range(K)]
    best = problem.objective(
        np.full(K, 1 / K), [rows.mean(axis=0) for rows in groups], [np.cov(rows.T, bias=True) for rows in groups]
    )
    engine.family(problem)
    found = gopfast.solve(problem, time_limit=1e-9, n_threads=1, log=False)
    assert found.objective <= best + 1.0


def test_starts_are_drawn_from_clusters_in_the_users_columns_too():
    """Axes of matrices are those of a local optimum: clusters along them led back to others 1.6 nats above."""
    X = pytest.importorskip("sklearn.datasets").load_wine().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    found = gopfast.solve(gopfast.GaussianMixture(X, 4, covariance="tied"), max_nodes=1, n_threads=1, log=False)
    assert found.objective < 2385.504509  # scikit-learn's best of ten starts


@pytest.mark.parametrize("seed", [25, 45])
def test_two_components_part_clusters_in_every_way(seed):
    """Of four far clusters k-means with two came to few of the ways to part them: 403 and 315 nats were missed."""
    rng, labels = np.random.default_rng(seed), np.arange(200) % 4
    X = 100.0 * rng.standard_normal((4, 6))[labels] + rng.standard_normal((200, 6))
    problem = gopfast.GaussianMixture(X, 2, covariance="diag")
    found = gopfast.solve(problem, max_nodes=1, n_threads=1, log=False)
    for group in range(1, 8):
        start = problem.maximize(np.eye(2)[(group >> labels) & 1])
        assert found.objective <= gopfast.local.em(problem, start).objective + 1e-6
