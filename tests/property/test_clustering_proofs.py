"""Proofs of k-means problems: accepted, with bounds that no clustering is below; changed ones are not."""

import itertools
import math

import numpy as np
import pytest
from support.clustering_proofs import CHANGES

import gopfast
from gopfast.checker import ProofError, check, file
from gopfast.checker.savings import Groups

SEEDS = range(12)


def random_problem(rng, most=9):
    """A few samples; ties and weights of 0 among them."""
    n, d = int(rng.integers(3, most)), int(rng.integers(1, 4))
    X = np.round(rng.normal(size=(n, d)) * 3, rng.integers(0, 3)) + rng.choice([0.0, 1e4])
    weights = None
    if rng.random() < 0.5:
        weights = rng.choice([0.0, 0.5, 1.0, 3.7], n)
        weights[0] = 1.0
    return gopfast.KMeans(X, int(rng.integers(1, 5)), weights)


def least(problem):
    """The least sum of squares, by all labellings."""
    X, w, best = problem.X, problem.sample_weight, math.inf
    for labels in itertools.product(range(problem.n_clusters), repeat=len(X) - 1):
        own, total = np.array([0, *labels]), 0.0
        for k in range(problem.n_clusters):
            part = (own == k) & (w > 0)
            if part.any():
                mean = w[part] @ X[part] / w[part].sum()
                total += w[part] @ np.square(X[part] - mean).sum(axis=1)
        best = min(best, total)
    return best


def proved(problem, **options):
    return gopfast.solve(problem, proof=True, n_threads=1, log=False, **options)


def of_tree():
    """A problem whose bound takes pairs of samples, and its result."""
    problem = gopfast.KMeans(np.random.default_rng(0).normal(size=336)[216:].reshape(60, 2), 8)
    return problem, proved(problem, rel_tol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_clustering_is_below_what_is_proved(seed):
    problem = random_problem(np.random.default_rng(seed), 8)
    result = proved(problem)
    found = check(result.proof, problem.X, problem.sample_weight, problem)
    optimum = least(problem)
    assert found.lower_bound <= optimum + 1e-9 * (1 + optimum)
    assert found.lower_bound == result.lower_bound and found.objective == pytest.approx(result.objective, abs=1e-9)
    assert result.success and found.lower_bound >= optimum * (1 - 1e-4) - 1e-7


def test_what_a_limit_leaves_is_proved():
    X = np.random.default_rng(0).normal(size=(40, 2))
    for limit in ({"max_nodes": 1}, {"time_limit": 0.0}, {"callback": lambda state: True}):
        result = proved(gopfast.KMeans(X, 6), rel_tol=1e-9, **limit)
        found = check(result.proof, X)
        assert found.lower_bound <= result.objective and found.problem == {"n_clusters": 6}


def test_a_tree_of_pairs_is_checked():
    problem, result = of_tree()
    found = check(result.proof, problem.X, problem=problem)
    assert result.success and found.gap <= 2e-6 * result.objective
    assert found.n_leaves > 1
    # without its pairs the same prices prove less
    header, arrays = parts(result)
    for name, kept in (("pairs", [[-1, -1]]), ("prices", arrays["prices"][:1])):
        arrays[name] = np.array(kept, arrays[name].dtype)
    with pytest.raises(ProofError, match="leaf 0"):
        check(file.pack("clustering", header, arrays), problem.X)


def parts(result):
    header, arrays = file.read(result.proof.data)
    return {name: value for name, value in header.items() if name not in ("format", "version", "kind")}, arrays


@pytest.mark.parametrize("name", CHANGES)
def test_changed_proofs_are_refused(name):
    problem, result = of_tree()
    header, arrays = parts(result)
    CHANGES[name](header, arrays)
    with pytest.raises(ProofError):
        check(file.pack("clustering", header, arrays), problem.X, problem=problem)


def test_other_data_are_refused():
    problem, result = of_tree()
    for X, weights, message in [
        (problem.X + 1e-9, None, "digest"), (problem.X[:-1], None, "digest"), (problem.X, np.arange(60.0), "digest"),
        (problem.X, -np.ones(60), "sample_weight"), (problem.X * np.nan, None, "X"),
    ]:  # fmt: skip
        with pytest.raises(ProofError, match=message):
            check(result.proof, X, weights)
    with pytest.raises(ProofError, match="n_clusters"):
        check(result.proof, problem.X, problem=gopfast.KMeans(problem.X, 5))
    with pytest.raises(ProofError, match="family|n_clusters"):
        check(result.proof, problem.X, problem=gopfast.GaussianMixture(problem.X, 8))


@pytest.mark.parametrize("seed", range(20))
def test_no_cluster_saves_more_than_is_shown(seed):
    """All clusters that keep to the pairs, by enumeration; with groups of several samples."""
    rng = np.random.default_rng(seed)
    n, d = 9, int(rng.integers(1, 4))
    X, weights = rng.normal(size=(n, d)) + rng.choice([0.0, 100.0]), rng.choice([0.5, 1.0, 2.0], n)
    group = np.unique(rng.integers(0, 7, n), return_inverse=True)[1]
    m = group.max() + 1
    apart = [(0, 1), (2, 3)][: int(rng.integers(0, 3))]
    prices = rng.exponential(size=n) * weights * rng.choice([0.5, 3.0])
    most = 0.0
    for chosen in itertools.product([False, True], repeat=m):
        if any(chosen[a] and chosen[b] for a, b in apart) or not any(chosen):
            continue
        own = np.array(chosen)[group]
        mean = weights[own] @ X[own] / weights[own].sum()
        most = max(most, prices[own].sum() - weights[own] @ np.square(X[own] - mean).sum(axis=1))
    groups = Groups(X, weights, group, apart)
    assert not groups.save_at_most(prices, most * (1 - 1e-9) - 1e-9)
    assert groups.save_at_most(prices, most + 1e-5)


def test_of_two_apart_neither_is_dropped_before_the_other_surely_saves_more():
    # the first saves more at its own place, the second beside the third
    groups = Groups(np.array([[0.0], [1.0], [1.0]]), np.ones(3), np.arange(3), [(0, 1)])
    prices = np.array([2.0, 1.9, 5.0])
    assert not groups.save_at_most(prices, 6.7)
    assert groups.save_at_most(prices, 6.9 + 1e-9)
