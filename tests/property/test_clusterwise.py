"""Clusterwise least squares: proved bounds against all classes in exact arithmetic, and what one class can save."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from gopfast.clusterwise.pricing import FitSearch
from gopfast.search.stop import StopSignal

import gopfast
from gopfast.clusterwise.node import Node
from gopfast.clusterwise.solve import Search
from gopfast.options import Options

KINDS = ("plain", "ties", "weights", "offset", "scales", "lines", "near", "no intercept", "three", "two regressors")
# Fits through samples that nearly share their regressors: boxes of a size of 2^30, of which a search takes long.
WITH_STEEP = (*KINDS, "steep")


def make(kind, seed, n=None):
    """A small problem of a kind."""
    rng = np.random.default_rng(seed)
    n, K = n or int(rng.integers(4, 8)), int(rng.integers(2, 4))
    p = 2 if kind == "two regressors" else 1
    if p == 2:  # of fewer samples classes fit all but exactly, which takes many boxes
        n, K = n or 8, 2
    X, y, weights, intercept = rng.normal(size=(n, p)), rng.normal(size=n), None, True
    if kind == "ties":
        X, y = rng.integers(0, 3, (n, p)).astype(float), rng.integers(0, 3, n).astype(float)
        X[:2] = [[0.0], [1.0]]
    elif kind == "weights":
        weights = 10.0 ** rng.uniform(-6, 6, n) * (rng.random(n) < 0.9)
        weights[:2] = 1.0
    elif kind == "offset":
        X, y = X + 2.0**40, y + 3 * 2.0**40
    elif kind == "scales":
        X, y = X * 2.0**200, y * 2.0**-200
    elif kind == "lines":
        y = X[:, 0] * rng.choice([1.0, -2.0], n) + 1.0
    elif kind in ("near", "steep"):
        X[1:3] = X[0] + 2.0 ** (-30 if kind == "steep" else -7) * rng.normal(size=(2, p))
    elif kind == "no intercept":
        X[0] = 0.0
        intercept = False
    elif kind == "three":
        K = 3
    return gopfast.ClusterwiseRegression(X, y, K, intercept, weights)


def determinant(matrix):
    """The sum over all permutations."""
    total = Fraction(0)
    for order in itertools.permutations(range(len(matrix))):
        term = Fraction((-1) ** sum(a > b for a, b in itertools.combinations(order, 2)))
        for i, j in enumerate(order):
            term *= matrix[i][j]
        total += term
    return total


def squares_of(problem, own):
    """The least sum of squares of a class: a quotient of two determinants of Gram, of columns that are independent."""
    rows = [([1] * problem.fit_intercept) + problem.X[i].tolist() + [problem.y[i]] for i in own]
    rows = [[Fraction(x) for x in row] for row in rows]
    weights = [Fraction(problem.sample_weight[i]) for i in own]
    q = problem.n_features + problem.fit_intercept

    def gram(columns):
        return [[sum(w * row[j] * row[k] for row, w in zip(rows, weights, strict=True)) for k in columns]
                for j in columns]  # fmt: skip

    for size in range(q, -1, -1):
        for columns in itertools.combinations(range(q), size):
            below = determinant(gram(columns))
            if below != 0:
                return determinant(gram((*columns, q))) / below
    raise AssertionError


def least_squares(problem):
    """The optimum: over all partitions into K classes, by the costs of all sets of samples."""
    n = problem.n_samples
    costs = [squares_of(problem, [i for i in range(n) if s >> i & 1]) for s in range(1 << n)]
    best = list(costs)
    for _ in range(problem.n_clusters - 1):
        new = list(best)
        for s in range(1 << n):
            part = s
            while part:
                new[s] = min(new[s], costs[part] + best[s ^ part])
                part = (part - 1) & s
        best = new
    return best[-1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_bounds_hold_the_exact_optimum(kind, seed):
    problem = make(kind, seed)
    optimum = least_squares(problem)
    result = gopfast.solve(problem, rel_tol=1e-6, time_limit=5.0, log=False)
    assert Fraction(result.lower_bound) <= optimum <= Fraction(result.objective)
    assert Fraction(result.objective) == Fraction(problem.objective(result.labels))
    assert result.success or kind in ("lines", "offset", "ties", "weights", "two regressors")
    if result.success:
        assert float(Fraction(result.objective) - optimum) <= 1e-6 * result.objective


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6, 12))
def test_no_search_proves_more_than_the_optimum(kind, seed):
    problem = make(kind, seed)
    search = Search(problem, Options.from_arguments(rel_tol=1e-6, max_nodes=40))
    search.rel_tol, search.epsilon = -1e-2, -np.inf  # asks for a bound above the optimum
    result = search.run()
    assert result.status.name != "OPTIMAL" or result.objective == 0.0 or result.relaxation == "closed form"
    assert Fraction(search.lower) <= least_squares(problem)


def core(kind, seed, n):
    """A search in the core's coordinates, with what its pool has found."""
    search = Search(make(kind, seed, n), Options.from_arguments())
    if search.closed_form:
        pytest.skip("needs no search")
    search.pool.fill(lambda: False)
    return search


def fit_of(search, own):
    """The fit of a class and its sum of squares, in exact arithmetic of the core's rounded columns."""
    q = search.Z.shape[1]
    rows = [[Fraction(x) for x in (*search.Z[i].tolist(), search.y[i])] for i in own]
    w = [Fraction(search.weights[i]) for i in own]
    normal = [[sum(a * row[j] * row[k] for row, a in zip(rows, w, strict=True)) for k in range(q + 1)]
              for j in range(q)]  # fmt: skip
    below = determinant([row[:q] for row in normal])
    if below == 0:
        return None
    found = [determinant([[*row[:j], row[q], *row[j + 1 : q]] for row in normal]) / below for j in range(q)]
    squares = sum(a * (row[q] - sum(map(lambda x, b: x * b, row[:q], found))) ** 2
                  for row, a in zip(rows, w, strict=True))  # fmt: skip
    return found, squares


@pytest.mark.parametrize("kind", WITH_STEEP)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("most_cells", [1, 30, 3000])
def test_what_one_class_can_save_is_bounded(kind, seed, most_cells):
    search = core(kind, seed, 7)
    rng, n = np.random.default_rng(seed), len(search.y)
    fits = FitSearch(search.Z, search.y, search.weights, StopSignal(np.inf))
    classes = [own for size in range(1, n + 1) for own in itertools.combinations(range(n), size)]
    known = [(own, found) for own in classes if (found := fit_of(search, own)) is not None]
    low, high = search.box
    for _ in range(6):
        scale = np.quantile(np.square(search.y), rng.random()) * 10.0 ** rng.uniform(-2, 1)
        prices = scale * rng.exponential(size=n)
        ends = np.sort(rng.uniform(low, high, (2, len(low))), axis=0)
        if rng.random() < 0.6:  # around a fit
            at, width = np.array(known[rng.integers(len(known))][1][0], float), 10.0 ** rng.uniform(-8, 1)
            ends = at - width * rng.random(len(at)), at + width * rng.random(len(at))
        ends = tuple(np.ascontiguousarray(end) for end in ends)
        sup, found, hull = fits.search(prices, *ends, 0.0, 0.0, most_cells)
        sides = [end.tolist() for end in ends]
        inside = [(own, fit, squares) for own, (fit, squares) in known
                  if all(a <= x <= b for a, x, b in zip(sides[0], fit, sides[1], strict=True))]  # fmt: skip
        for own, fit, squares in inside:
            saved = sum(Fraction(search.weights[i]) * Fraction(prices[i]) for i in own) - squares
            assert saved <= Fraction(sup)
            if saved > 0:
                assert all(a <= x <= b for a, x, b in zip(hull[0].tolist(), fit, hull[1].tolist(), strict=True))
        # what is found is attained
        for b in found:
            assert search.weights @ np.maximum(prices - np.square(search.y - search.Z @ b), 0.0) > -1e-9


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["plain", "two regressors", "three"])
def test_the_supremum_is_found_where_boxes_are_small(kind, seed):
    search = core(kind, seed, 12)
    rng = np.random.default_rng(seed)
    fits = FitSearch(search.Z, search.y, search.weights, StopSignal(np.inf))
    prices = np.var(search.y) * rng.exponential(size=len(search.y))
    starts = [search.pool.draw() for _ in range(300)]
    values, _ = fits.ascend(prices, starts, *search.box)
    sup, found, _ = fits.search(prices, *search.box, values.max() * (1 + 1e-3), 0.0, 10**6)
    better, _ = fits.ascend(prices, found, *search.box)
    assert sup <= max([values.max(), *better]) * (1 + 2e-3) or len(found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12, 16))
def test_boxes_keep_the_best_classes_and_children_cover_them(kind, seed):
    search = core(kind, seed, 8)
    problem, pool = search.problem, search.pool
    K, n = problem.n_clusters, len(search.y)
    if not pool.inertia > 1e-16:
        pytest.skip("classes fit all samples, of which a search makes no nodes")
    fits = {
        own: fit_of(search, own) for size in range(1, n + 1) for own in itertools.combinations(range(n), size)
    }
    best = min(
        (
            (sum(found[1] for found in parts), parts)
            for labels in itertools.product(range(K), repeat=n)
            if len(set(labels)) == K
            and all(parts := [fits[tuple(i for i in range(n) if labels[i] == k)] for k in range(K)])
        ),
        key=lambda pair: pair[0],
        default=None,
    )
    if best is None:
        pytest.skip("no classes that all have one fit")
    squares, parts = best
    node = Node([(*search.box, K)])
    for _ in range(4):
        target = float(squares) * 1.05 + 1e-12
        found = node.bound(pool, target, 0.01 * target, StopSignal(np.inf), lambda: 1e3, 10**5)
        assert Fraction(node.lower) <= squares
        if not found:
            break
        holding = [node, *node.children()]
        assert holds(node, parts)
        holding = [child for child in holding[1:] if holds(child, parts)]
        assert holding
        node = holding[0]


def holds(node, parts):
    """Whether classes can be dealt to the boxes of a node, as many to each as it says."""
    places = [b for b, (*_, count) in enumerate(node.boxes) for _ in range(count)]
    return any(
        all(
            all(a <= x <= c for a, x, c in zip(node.boxes[b][0].tolist(), fit, node.boxes[b][1].tolist(), strict=True))
            for b, (fit, _) in zip(order, parts, strict=True)
        )
        for order in itertools.permutations(places)
    )
