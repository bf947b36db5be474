"""Inequalities of cycles of products: none cuts off a point, and they close what McCormick's rows leave."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from gopfast.biconvex.bilinear import BilinearRelaxation

import gopfast
from gopfast import BiconvexProblem
from gopfast.biconvex import cycles
from gopfast.biconvex.lifting import Lifting


def all_products(n):
    """Core's data of a problem with every product of n variables, and the number of each."""
    Q = np.triu(np.ones((n, n)), 1)
    lifting = Lifting(BiconvexProblem(np.zeros(n), Q=Q, lower=-1, upper=1))
    data, _, _ = lifting.data(lifting.low, lifting.high)
    place = lifting.place.tolist()
    return data, {tuple(sorted((place[i], place[j]))): k for k, (i, j) in enumerate(lifting.products)}


def random_cycle(rng, number, n):
    """Products along a closed walk without repetition, and signs with an odd number of 1."""
    walk = rng.permutation(n)[: rng.integers(3, n + 1)].tolist()
    products = [number[tuple(sorted(pair))] for pair in zip(walk, walk[1:] + walk[:1], strict=True)]
    signs = rng.choice([-1, 1], len(products))
    if (signs == 1).sum() % 2 == 0:
        signs[0] = -signs[0]
    return products, signs.tolist()


def boxes(rng, n):
    """Boxes of all kinds: symmetric, far from 0, narrow, of very different widths."""
    yield -np.ones(n), np.ones(n)
    yield np.zeros(n), 10.0 ** rng.integers(-3, 4, n)
    low = rng.standard_normal(n) * 10.0 ** rng.integers(-4, 7, n)
    yield low, low + 10.0 ** rng.uniform(-5, 3, n) * np.maximum(1e-3, abs(low))
    low = rng.standard_normal(n)
    yield low, low + rng.choice([1e-9, 1e-7, 1e-4, 1.0], n)


@pytest.mark.parametrize("seed", range(40))
def test_no_point_of_a_box_is_cut_off_in_exact_arithmetic(seed):
    rng = np.random.default_rng(seed)
    n = 5
    data, number = all_products(n)
    relaxed = BilinearRelaxation(data)
    n_rows = 0
    for kind, (low, high) in enumerate(boxes(rng, n)):
        products, signs = random_cycle(rng, number, n)
        row, least = relaxed.cycle_row(products, signs, low, high)
        if not row.any():
            assert least == -np.inf
            continue
        n_rows += 1
        assert not row[n + len(number) :].any()  # squares, which other cuts have
        row, least = [Fraction(a) for a in row.tolist()], Fraction(least)
        values = []
        points = [np.where(corner, high, low) for corner in itertools.product((False, True), repeat=n)]
        points += list(low + (high - low) * rng.random((20, n)))
        for point in points:
            z = [Fraction(a) for a in np.clip(point, low, high).tolist()]
            w = [z[i] * z[j] for i, j in number]
            values.append(sum(a * b for a, b in zip(row, z + w, strict=False)) - least)
        assert min(values) >= 0
        # and some corner is on it, up to the margin, which is larger far from 0: a row that is loose says nothing
        assert kind > 1 or min(values) <= Fraction(1, 10**9) * max(values)
    assert n_rows >= 2


def test_narrow_intervals_and_very_different_ones_have_no_row():
    data, number = all_products(3)
    relaxed = BilinearRelaxation(data)
    products = [number[0, 1], number[1, 2], number[0, 2]]
    for low, high in (([0, 0, 1], [1, 1, 1 + 1e-12]), ([0, 0, 0], [1e-6, 1, 1e9]), ([0, 0, -np.inf], [1, 1, 1])):
        row, least = relaxed.cycle_row(products, [1, 1, 1], np.array(low), np.array(high, dtype=float))
        assert not row.any() and least == -np.inf


@pytest.mark.parametrize("seed", range(10))
def test_products_as_they_are_violate_nothing(seed):
    rng = np.random.default_rng(seed)
    n = 7
    first, second = np.array(list(itertools.combinations(range(n), 2))).T
    low = rng.standard_normal(n)
    high = low + rng.random(n)
    z = low + (high - low) * rng.choice([0.0, 0.5, 1.0], n)
    assert cycles.violated(first, second, low, high, z, z[first] * z[second], set()) == []


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_a_cycle_that_mccormicks_rows_allow_is_found(n):
    """All variables 0 in [-1, 1]; products -1 along a cycle but one, 1: allowed by McCormick, by no point."""
    first, second = np.arange(n), (np.arange(n) + 1) % n
    w = -np.ones(n)
    w[0] = 1.0 if n % 2 == 0 else -1.0
    known = set()
    ((products, signs),) = cycles.violated(first, second, -np.ones(n), np.ones(n), np.zeros(n), w, known)
    assert products == tuple(range(n))
    assert sum((1 + x) if sign == 1 else (1 - x) for x, sign in zip(w, signs, strict=True)) == 0.0
    # once only; and not where a product is missing
    assert cycles.violated(first, second, -np.ones(n), np.ones(n), np.zeros(n), w, known) == []
    w[1] = np.nan
    assert cycles.violated(first, second, -np.ones(n), np.ones(n), np.zeros(n), w, set()) == []


def test_which_products_have_cycles():
    assert not cycles.has_any([(0, 1), (1, 2), (2, 2), (3, 4)])
    assert cycles.has_any([(0, 1), (1, 2), (0, 2)]) and cycles.has_any([(0, 2), (0, 3), (1, 2), (1, 3)])


def box_problem(seed, n=12, share=0.6):
    """A quadratic program over a box whose optimum is at a vertex, and that optimum by enumeration."""
    rng = np.random.default_rng(seed)
    Q = np.triu(rng.integers(-50, 51, (n, n)), 1) * (rng.random((n, n)) < share)
    c = rng.integers(-10, 11, n)
    low, high = rng.integers(-2, 1, n), rng.integers(1, 4, n)
    corners = np.where(np.array(list(itertools.product((0, 1), repeat=n))), high, low)
    values = corners @ c + np.einsum("si,ij,sj->s", corners, Q, corners)
    return BiconvexProblem(c, Q=Q, lower=low, upper=high), values.min()


@pytest.mark.parametrize("seed", range(12))
def test_the_roots_bound_rises_and_stays_below_the_optimum(seed):
    problem, best = box_problem(seed)
    lifting = Lifting(problem)
    data, _, unit = lifting.data(lifting.low, lifting.high)
    relaxed = BilinearRelaxation(data)
    plain = BilinearRelaxation(data).bound_box(*data.box)[0] * unit
    # without a cutoff, so that the bound is what is proved and nothing is clipped to the optimum
    bound = relaxed.bound_box(*data.box, root_sweeps=1)[0] * unit
    assert plain - 1e-9 * abs(plain) <= bound <= best + 1e-9 * abs(best)
    if best - plain > 1e-6 * abs(best):  # 11 of the 12
        assert relaxed.n_cycles > 0 and best - bound <= 0.3 * (best - plain)
    result = gopfast.solve(problem, n_threads=1)
    assert result.objective == pytest.approx(best, abs=1e-5) and result.n_nodes < 30


def test_bounds_of_small_boxes_hold_too():
    """Rows kept from the root are made anew in each box: no box's bound is above its best vertex."""
    rng = np.random.default_rng(0)
    for seed in range(6):
        problem, _ = box_problem(seed, n=8, share=0.7)
        lifting = Lifting(problem)
        data, scale, unit = lifting.data(lifting.low, lifting.high)
        low, high = data.box
        for _ in range(10):
            ends = np.sort(low + (high - low) * rng.random((2, len(low))), axis=0)
            bound = BilinearRelaxation(data).bound_box(*ends, root_sweeps=1)[0] * unit
            corners = np.where(np.array(list(itertools.product((0, 1), repeat=len(low)))), ends[1], ends[0])
            z = corners[:, lifting.place] * scale
            values = z @ problem.c + np.einsum("si,ij,sj->s", z, problem.Q.toarray(), z)
            assert bound <= values.min() + 1e-9 * abs(values.min())


def test_variables_without_ends_are_in_no_cycle_and_warn_of_nothing():
    first, second = np.array([0, 1, 0]), np.array([1, 2, 2])
    low, high = np.array([-np.inf, -1.0, 0.0]), np.array([np.inf, 1.0, np.inf])
    with np.errstate(all="raise"):
        assert cycles.violated(first, second, low, high, np.zeros(3), np.array([-1.0, -1.0, 1.0]), set()) == []
