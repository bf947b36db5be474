"""Where starts agree the first local search is over; where components may belong elsewhere it is not."""

import numpy as np
import pytest

import gopfast
from gopfast import local

KINDS = ["known", "spherical", "diag", "tied", "tied_spherical", "full"]


def clusters(n_clusters, d, n, seed, apart=8.0):
    rng = np.random.default_rng(seed)
    centers = rng.standard_normal((n_clusters, d))
    distance = np.linalg.norm(centers[:, None] - centers, axis=2)[np.triu_indices(n_clusters, 1)].min()
    labels = rng.integers(n_clusters, size=n)
    return apart / distance * centers[labels] + rng.standard_normal((n, d)), labels


def first_search(problem):
    return gopfast.solve(problem, max_nodes=1, time_limit=20.0, n_threads=1, log=False)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("K", [2, 4])
def test_of_clusters_that_are_told_apart_the_search_goes_no_deeper(kind, K):
    X, labels = clusters(K, 3, 600, K)
    problem = gopfast.GaussianMixture(X, K, covariance=kind)
    found = first_search(problem)
    assert found.starts.n_searches <= 20
    centers = [X[labels == k].mean(axis=0) for k in range(K)]
    best = local.em(problem, centers, tol=1e-6, max_iter=500).objective
    assert found.objective <= best + 1e-3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("K", [2, 3])
def test_of_fewer_components_than_clusters_the_search_goes_deeper(kind, K):
    """Which two of the clusters, all equally far from each other, one component takes together starts do not tell."""
    rng = np.random.default_rng(K)
    X = 6.0 * np.eye(K + 1)[rng.integers(K + 1, size=600)] + rng.standard_normal((600, K + 1))
    assert first_search(gopfast.GaussianMixture(X, K, covariance=kind)).starts.n_searches > 20


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_clusters", "K"), [(3, 2), (4, 3), (6, 4), (4, 5)])
def test_of_another_number_of_clusters_no_start_ends_lower(kind, n_clusters, K):
    X, _ = clusters(n_clusters, 3, 600, n_clusters)
    problem = gopfast.GaussianMixture(X, K, covariance=kind)
    found, rng = first_search(problem).objective, np.random.default_rng(0)
    for _ in range(40):
        other = local.em(problem, X[rng.choice(len(X), K, replace=False)], tol=1e-4, max_iter=200)
        assert found <= other.objective + 0.01


@pytest.mark.parametrize("kind", ["tied", "tied_spherical", "diag"])
def test_what_the_first_search_found_and_when_is_in_the_history(kind):
    X, _ = clusters(3, 2, 400, 7, apart=2.5)
    result = first_search(gopfast.GaussianMixture(X, 3, covariance=kind))
    before_root = result.history[result.history[:, 1] == 0]
    assert len(before_root) >= 2
    assert (np.diff(before_root[:, 3]) < 0).all() and (np.diff(before_root[:, 0]) >= 0).all()
    assert (before_root[:, 3] >= result.objective - 1e-9).all() and before_root[0, 0] >= 0.0
    assert (before_root[:, 2] <= result.lower_bound).all()


def test_a_run_on_all_samples_is_in_the_history_while_it_takes_long():
    """Of samples that are drawn for starts nothing is told, and the run on all is slow where clusters overlap."""
    X, _ = clusters(3, 4, 50_000, 7, apart=1.5)
    result = first_search(gopfast.GaussianMixture(X, 3, covariance="full"))
    before_root = result.history[result.history[:, 1] == 0]
    assert len(before_root) >= 4
    assert (np.diff(before_root[:, 3]) < 0).all() and (np.diff(before_root[:, 0]) > 0).all()
    assert (before_root[:, 3] >= result.objective - 1e-6).all()
