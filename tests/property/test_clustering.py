"""k-means: proved bounds against all partitions in exact arithmetic, and what one cluster can save against a grid."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from gopfast.clustering.pricing import CenterSearch
from gopfast.search.stop import StopSignal

import gopfast
from gopfast.clustering import node
from gopfast.clustering.cells import divide
from gopfast.clustering.node import Node
from gopfast.clustering.search import Pool
from gopfast.clustering.solve import Search
from gopfast.options import Options


@cache
def partitions(n, most):
    """All partitions of n items into at most `most` parts, as labels."""
    if n == 0:
        return ((),)
    return tuple(
        (*labels, k) for labels in partitions(n - 1, most) for k in range(min(max(labels, default=-1) + 2, most))
    )


def exact_cluster(X, w, own):
    mass = sum(w[i] for i in own)
    if mass == 0:
        return Fraction(0)
    total = Fraction(0)
    for column in X:
        first = sum(w[i] * column[i] for i in own)
        total += sum(w[i] * column[i] ** 2 for i in own) - first * first / mass
    return total


def least_inertia(problem):
    """The optimum in rational arithmetic."""
    X = [[Fraction(float(x)) for x in column] for column in problem.X.T]
    w = [Fraction(float(x)) for x in problem.sample_weight]
    cost = cache(lambda own: exact_cluster(X, w, own))
    n = problem.n_samples
    return min(
        sum(cost(tuple(i for i in range(n) if labels[i] == k)) for k in set(labels))
        for labels in partitions(n, problem.n_clusters)
    )


KINDS = ("plain", "ties", "constant", "offset", "scales", "weights", "tiny", "huge", "clustered")


def make(kind, seed):
    rng = np.random.default_rng(seed)
    n, d, K = int(rng.integers(2, 8)), int(rng.integers(1, 4)), int(rng.integers(1, 5))
    K = min(n, K)
    X, w = rng.standard_normal((n, d)), None
    if kind == "ties":
        X = rng.integers(3, size=(n, d)).astype(float)
    elif kind == "constant":
        X[:, 0] = 3.7
    elif kind == "offset":
        X += 1e9
    elif kind == "scales":
        X *= 10.0 ** rng.integers(-6, 7, size=d)
    elif kind == "weights":
        w = 10.0 ** rng.uniform(-6, 6, n) * (rng.random(n) < 0.9)
        w[0] = 1.0
    elif kind == "tiny":
        X *= 1e-100
    elif kind == "huge":
        X *= 1e100
    elif kind == "clustered":
        X = 1e4 * rng.integers(2, size=(n, d)) + 1e-4 * X
    return gopfast.KMeans(X, K, sample_weight=w)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_bounds_hold_the_exact_optimum(kind, seed):
    problem = make(kind, seed)
    optimum = least_inertia(problem)
    result = gopfast.solve(problem, rel_tol=1e-6)
    assert result.success or kind in ("offset", "clustered", "weights", "scales")
    assert Fraction(result.lower_bound) <= optimum
    # the objective is a sum of squares found in double precision
    assert optimum <= Fraction(result.objective) * (1 + Fraction(1e-12))
    assert float(Fraction(result.objective) - optimum) <= 2e-6 * result.objective + 1e-9 * float(optimum)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6, 12))
def test_no_search_proves_more_than_the_optimum(kind, seed):
    problem = make(kind, seed)
    search = Search(problem, Options.from_arguments(rel_tol=1e-6, max_nodes=20))
    search.rel_tol, search.epsilon = -1e-2, -np.inf  # asks for a bound above the optimum
    result = search.run()
    assert result.status.name != "OPTIMAL" or result.objective == 0.0
    assert Fraction(search.lower) <= least_inertia(problem)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12, 17))
def test_no_prices_by_cells_prove_more_than_the_optimum(kind, seed, monkeypatch):
    for name, value in {"FEW_PRICED": 0, "MOST_PRICED": 0, "CELLS": (1, 2), "LEAST_IN_CELL": 1, "SAMPLED": 3}.items():
        monkeypatch.setattr(node, name, value)
    monkeypatch.setattr("gopfast.clustering.search.SAMPLED", 3)
    problem = make(kind, seed)
    search = Search(problem, Options.from_arguments(rel_tol=1e-6, max_nodes=20))
    search.rel_tol, search.epsilon = -1e-2, -np.inf
    search.run()
    optimum = least_inertia(problem)
    assert Fraction(search.lower) <= optimum
    if len(search.X) > problem.n_clusters > 1 < problem.n_features and kind == "plain":
        assert search.lower > 0.1 * float(optimum)


@pytest.mark.parametrize("exponent", [3, 9, 20, 60])
@pytest.mark.parametrize("seed", range(10))
def test_one_column_of_weights_of_all_sizes_is_bounded(seed, exponent):
    rng = np.random.default_rng(seed)
    heavy = rng.random(7) < 0.3
    w = np.where(heavy, 10.0**exponent, 10.0**-exponent) * rng.uniform(0.5, 2.0, 7)
    problem = gopfast.KMeans(10.0 ** (seed % 3 - 1) * rng.integers(-50, 50, 7) + 10.0**seed, 3, sample_weight=w)
    optimum = least_inertia(problem)
    result = gopfast.solve(problem)
    assert Fraction(result.lower_bound) <= optimum
    assert result.success or exponent > 3


def matching(search, n, rng, n_pairs):
    partner = np.full(n, -1, dtype=np.int32)
    order = rng.permutation(n)
    for i, j in zip(order[:n_pairs], order[n_pairs : 2 * n_pairs], strict=True):
        partner[i], partner[j] = j, i
    return partner


def saved(X, w, prices, partner, centers):
    """G at centers (m, d)."""
    gain = np.maximum(w * (prices - np.square(centers[:, None] - X).sum(axis=2)), 0.0)
    for i, j in enumerate(partner):
        if i < j:
            gain[:, i], gain[:, j] = np.maximum(gain[:, i], gain[:, j]), 0.0
    return gain.sum(axis=1)


@pytest.mark.parametrize("n_pairs", [0, 3])
@pytest.mark.parametrize("seed", range(12))
def test_what_one_cluster_can_save_is_bounded_and_attained(seed, n_pairs):
    rng = np.random.default_rng(seed)
    n, d = 12, int(rng.integers(1, 4))
    X, w = np.ascontiguousarray(rng.standard_normal((n, d))), rng.uniform(0.1, 3.0, n)
    prices = rng.uniform(0.0, 3.0, n)
    partner = matching(None, n, rng, n_pairs)
    search = CenterSearch(X, w, StopSignal(), partner)
    subsets = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    for i, j in enumerate(partner):
        if i < j:
            subsets = subsets[(subsets[:, i] & subsets[:, j]) == 0]
    # the maximum is at the mean of a subset
    centers = (subsets[1:] * w) @ X / (subsets[1:] @ w)[:, None]
    most = saved(X, w, prices, partner, centers).max()
    grid = rng.uniform(X.min(axis=0), X.max(axis=0), (2000, d))
    assert saved(X, w, prices, partner, grid).max() <= most * (1 + 1e-12)
    sup, found = search.search(prices, most * (1 + 1e-7), 10**6)
    assert most <= sup <= most * (1 + 1e-6) and not len(found)
    sup, found = search.search(prices, 0.999 * most, 10**6)
    assert sup >= most and len(found)
    assert (saved(X, w, prices, partner, found) > 0.999 * most * (1 - 1e-12)).all()
    values, at = search.ascend(prices, X)
    np.testing.assert_allclose(values, saved(X, w, prices, partner, at), rtol=1e-10, atol=1e-12)
    assert values.max() <= most * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(300))
def test_bounds_of_boxes_hold_what_samples_that_are_apart_save(seed):
    rng = np.random.default_rng(seed)
    n, d = 8, int(rng.integers(1, 3))
    X, w = np.ascontiguousarray(rng.standard_normal((n, d))), 10.0 ** rng.uniform(-1, 1, n)
    prices = rng.uniform(0.0, 4.0, n)
    partner = matching(None, n, rng, int(rng.integers(1, 5)))
    subsets = (np.arange(1, 2**n)[:, None] >> np.arange(n)) & 1
    most = saved(X, w, prices, partner, (subsets * w) @ X / (subsets @ w)[:, None]).max()
    search = CenterSearch(X, w, StopSignal(), partner)
    for n_cells in (1, 2, 4, 9, 20, 50, 120, 10**6):
        assert search.search(prices, 0.9 * most, n_cells)[0] >= most
        assert search.search(prices, (1 - 1e-9) * most, n_cells)[0] >= most


@pytest.mark.parametrize("most_cells", [0, 1, 7, 50])
def test_a_search_that_is_cut_short_keeps_a_bound(most_cells):
    rng = np.random.default_rng(0)
    X, w, prices = rng.standard_normal((50, 2)), np.ones(50), rng.uniform(0.0, 2.0, 50)
    search = CenterSearch(X, w, StopSignal())
    most = search.ascend(prices, X)[0].max()
    assert search.search(prices, 0.0, most_cells)[0] >= most


def test_an_interrupt_while_a_node_is_divided_keeps_its_bound(monkeypatch):
    bounds = []

    def interrupted(node, X, weights, children=Node.children):
        bounds.append(node.lower)
        if len(bounds) == 2:
            raise KeyboardInterrupt
        return children(node, X, weights)

    monkeypatch.setattr(Node, "children", interrupted)
    problem = gopfast.KMeans(np.random.default_rng(12).random((40, 2)), 5)
    search = Search(problem, Options.from_arguments(rel_tol=1e-6))
    assert search.run().status.name == "INTERRUPTED" and len(bounds) == 2
    assert 0.0 < search.lower <= bounds[1] * search.scale


@pytest.mark.parametrize("seed", range(16))
def test_nodes_bound_the_clusterings_that_keep_their_pairs(seed):
    rng = np.random.default_rng(seed)
    n, K = 7, 3
    weight = rng.integers(1, 9, n) if seed % 2 else np.ones(n)
    problem = gopfast.KMeans(rng.integers(5, size=(n, 2)) + 0.01 * rng.standard_normal((n, 2)), K, sample_weight=weight)
    search = Search(problem, Options.from_arguments())
    X, w = search.X, search.weights
    pairs = rng.permutation([(i, j) for i in range(n) for j in range(i)])
    together, apart = (tuple(pairs[0]),), (tuple(pairs[1]), tuple(pairs[2]))
    bounded = Node(X, w, K, together, apart)
    exact = [[Fraction(float(x)) for x in column] for column in X.T]
    weight = [Fraction(float(x)) for x in w]
    best = min(
        sum(exact_cluster(exact, weight, [i for i in range(n) if labels[i] == k]) for k in set(labels))
        for labels in partitions(n, K)
        if all(labels[i] == labels[j] for i, j in together) and all(labels[i] != labels[j] for i, j in apart)
    )
    pool = Pool(X, w, K, 0)
    pool.fill(lambda: False)
    bounded.bound(pool, 1e3, 1e-6, StopSignal(), lambda: 60.0, 10**6)
    assert 0.0 < bounded.lower and Fraction(bounded.lower) <= best


@pytest.mark.parametrize("few", [400, 0])
def test_a_node_that_breaks_all_clusters_known_is_bounded(monkeypatch, few):
    monkeypatch.setattr(node, "FEW_PRICED", few)
    X = np.concatenate([np.random.default_rng(0).random((8, 2)), 4.0 + np.random.default_rng(1).random((8, 2))])
    pool = Pool(X, np.ones(16), 2, 0)
    pool.offer(X[[0, 8]])
    assert len(pool.columns) == 2
    bounded = Node(X, np.ones(16), 2, together=((0, 8),))
    assert not list(bounded.columns(pool.columns.values()))
    bounded.bound(pool, 1e3, 1e-6, StopSignal(), lambda: 60.0, 10**6)
    assert pool.inertia < bounded.lower < 1e3


@pytest.mark.parametrize("seed", range(5))
def test_samples_that_are_apart_come_in_pairs(seed):
    rng = np.random.default_rng(seed)
    pairs = [tuple(rng.permutation(9)[:2]) for _ in range(8)]
    bounded = Node(rng.standard_normal((9, 2)), np.ones(9), 3, apart=tuple(pairs))
    partner, paired = bounded.partner, np.flatnonzero(bounded.partner >= 0)
    assert (partner[partner[paired]] == paired).all() and len(paired) >= 2
    assert all({i, partner[i]} in [set(pair) for pair in pairs] for i in paired)


@pytest.mark.parametrize("n_parts", [1, 2, 7, 40, 500])
def test_cells_have_every_sample_once_and_stay_within_their_groups(n_parts):
    rng = np.random.default_rng(n_parts)
    X, labels = rng.standard_normal((100, 3)).round(1), rng.integers(3, size=100)
    groups = [np.flatnonzero(labels == k) for k in range(3)]
    cells = divide(X, groups, n_parts)
    assert sorted(np.concatenate(cells)) == list(range(100))
    assert all(len(set(labels[rows])) == 1 for rows in cells)
    assert abs(len(cells) - min(n_parts, 100)) <= 3
