"""k-means, by scikit-learn, and the model of its clusters."""

import sys

import numpy as np
import pytest
from support import problems
from support.problems import KINDS

import gopfast
from gopfast import local

cluster = pytest.importorskip("sklearn.cluster")
MINIMAL = [-10.0, -10.0, 5.0, 25.0]


def inertia(X, means, weight=None):
    squares = np.square(X[:, None, :] - means).sum(axis=2).min(axis=1)
    return float(squares.sum() if weight is None else weight @ squares)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_inertia_is_that_of_scikit_learn_from_the_same_start(seed, weighted):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2)) + 4.0 * rng.integers(3, size=(60, 1))
    weight = rng.uniform(0.1, 3.0, 60) if weighted else None
    problem = gopfast.GaussianMixture(X, 4, sample_weight=weight, covariance="known")
    start = X[rng.choice(60, 4, replace=False)]
    fit = local.kmeans(problem, start)
    theirs = cluster.KMeans(4, init=start, n_init=1, tol=0.0).fit(X, sample_weight=weight)
    assert inertia(X, fit.solution.means, weight) == pytest.approx(theirs.inertia_, rel=1e-10)
    order = np.argsort(theirs.cluster_centers_[:, 0])
    np.testing.assert_allclose(fit.solution.means, theirs.cluster_centers_[order], atol=1e-9)
    np.testing.assert_allclose(
        fit.solution.weights, np.bincount(theirs.labels_, weight, 4)[order] / problem.total_weight, rtol=1e-10
    )
    assert fit.converged


def test_distances_are_in_units_of_the_noise():
    rng = np.random.default_rng(0)
    X, v = rng.normal(size=(40, 2)) * [1.0, 10.0], np.array([0.5, 80.0])
    fit = local.kmeans(gopfast.GaussianMixture(X, 3, noise_variance=v, covariance="known"), X[:3])
    theirs = cluster.KMeans(3, init=X[:3] / np.sqrt(v), n_init=1, tol=0.0).fit(X / np.sqrt(v))
    assert inertia(X / np.sqrt(v), fit.solution.means / np.sqrt(v)) == pytest.approx(theirs.inertia_, rel=1e-10)


def test_the_global_optimum_is_found_from_next_to_it():
    """All hard assignments of ten samples to three clusters, by brute force."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(9, 1)) + 3.0 * rng.integers(3, size=(9, 1))
    best = min(
        (inertia(X, means), tuple(means.ravel()))
        for number in range(3**9)
        if len(set(labels := number // 3 ** np.arange(9) % 3)) == 3
        for means in [np.stack([X[labels == k].mean(axis=0) for k in range(3)])]
    )
    fit = local.kmeans(gopfast.GaussianMixture(X, 3, covariance="known"), np.array(best[1])[:, None] + 0.05)
    assert inertia(X, fit.solution.means) == pytest.approx(best[0], rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_solution_is_one_m_step_at_a_hard_assignment(kind):
    problem = problems.make(kind, seed=1, n=20, K=3)
    fit = local.kmeans(problem, random_state=2)
    sizes = 20 * fit.solution.weights
    np.testing.assert_allclose(sizes, np.round(sizes), atol=1e-9)
    attained = problem.elbo(fit.solution.weights, **fit.solution.parameters)
    assert fit.elbo == pytest.approx(attained, abs=1e-9)
    assert fit.trace.shape == (2,) and fit.n_iter >= 1


def test_more_draws_never_give_a_higher_inertia():
    X = np.random.default_rng(5).normal(size=(80, 2))
    values = [
        inertia(
            X, local.kmeans(gopfast.GaussianMixture(X, 8, covariance="known"), n_init=n, random_state=0).solution.means
        )
        for n in (1, 3, 10)
    ]
    assert values[0] >= values[1] >= values[2]
    assert values[0] > values[2]


@pytest.mark.filterwarnings("error")
def test_fewer_distinct_samples_than_components_leave_some_without_any():
    fit = local.kmeans(gopfast.GaussianMixture([1.0, 1.0, 1.0, 4.0], 3, covariance="known"))
    assert (fit.solution.weights == 0.0).any()
    assert inertia(np.array([[1.0], [4.0]]), fit.solution.means) == 0.0
    weighted = gopfast.GaussianMixture([1.0, 2.0, 3.0, 4.0], 3, sample_weight=[1.0, 0.0, 0.0, 1.0], covariance="known")
    assert sorted(local.kmeans(weighted).solution.weights) == [0.0, 0.5, 0.5]


def test_samples_without_weight_move_no_centre():
    X, weight = np.array([0.0, 1.0, 10.0, 11.0, 500.0]), [1.0, 1.0, 1.0, 1.0, 0.0]
    fit = local.kmeans(gopfast.GaussianMixture(X, 2, sample_weight=weight, covariance="known"), random_state=3)
    np.testing.assert_allclose(fit.solution.means.ravel(), [0.5, 10.5])


def test_without_scikit_learn_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.cluster", None)
    problem = gopfast.GaussianMixture(MINIMAL, 2, covariance="known")
    for call in (lambda: local.kmeans(problem), lambda: local.start(problem, "kmeans")):
        with pytest.raises(ImportError, match=r"needs scikit-learn.*pip install 'gopfast\[sklearn\]'"):
            call()


@pytest.mark.parametrize("n_init", [0, 1.5, True, "auto"])
def test_a_bad_number_of_draws_is_named(n_init):
    with pytest.raises(gopfast.InputError, match="^n_init"):
        local.kmeans(gopfast.GaussianMixture(MINIMAL, 2, covariance="known"), n_init=n_init)
