"""The bound of k-means in many columns by blocks of them."""

import itertools
import math

import numpy as np
import pytest
from gopfast.search.stop import StopSignal

import gopfast
from gopfast.clustering.blocks import least_by_blocks
from gopfast.clustering.node import Node
from gopfast.clustering.search import Pool


def least_inertia(X, weights, K):
    """The optimum, by all assignments."""
    best = math.inf
    for labels in itertools.product(range(K), repeat=len(X) - 1):
        total = 0.0
        for k in range(K):
            own = np.array((0, *labels)) == k
            if weights[own].sum() > 0:
                mean = np.average(X[own], axis=0, weights=weights[own])
                total += weights[own] @ np.square(X[own] - mean).sum(axis=1)
        best = min(best, total)
    return best


def bound_of(X, weights, K):
    return least_by_blocks(X - X[0], weights, K, StopSignal(math.inf), lambda: 100.0, 0)


@pytest.mark.parametrize("seed", range(6))
def test_no_clustering_has_less(seed):
    rng = np.random.default_rng(seed)
    n, d, K = 8, 11 + seed, 2 + seed % 2
    X = rng.standard_normal((n, d)) + 4.0 * (rng.random(d) < 0.5) * rng.integers(K, size=(n, 1))
    weights = rng.choice([0.5, 1.0, 3.0], n)
    found, least = bound_of(X, weights, K), least_inertia(X, weights, K)
    assert 0.1 * least < found <= least


def test_equal_blocks_lose_nothing_but_the_tolerance():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((9, 1))
    X, weights = np.tile(x, (1, 14)), np.ones(9)
    least = 14 * least_inertia(x, weights, 3)
    assert (1 - 2e-3) * least <= bound_of(X, weights, 3) <= least * (1 + 1e-12)


def test_a_search_that_ends_at_once_has_a_bound():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((150, 16)) + 3.0 * rng.integers(3, size=(150, 1)) * (np.arange(16) < 5)
    result = gopfast.solve(gopfast.KMeans(X, 3), callback=lambda *_: True, log=False)
    assert result.n_nodes == 0
    assert 0.5 * result.objective < result.lower_bound < result.objective


def test_a_program_without_time_leaves_nothing_to_branch_on():
    """The last program of a node ends at its time limit, the search's own is far away."""
    rng = np.random.default_rng(3)
    X, weights = rng.standard_normal((60, 3)), np.ones(60)
    pool = Pool(X, weights, 4, 0)
    pool.offer(X[:4])
    node = Node(X, weights, 4)
    assert not node.bound(pool, pool.inertia, 1e-9, StopSignal(math.inf), lambda: 0.0, 1000)
    assert node.pair is None and node.lower <= pool.inertia
