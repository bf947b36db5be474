"""Bounds of unbounded problems by Lagrangians: at most the objective, exact where the problem hides a convex one."""

from fractions import Fraction

import numpy as np
import pytest

import gopfast
from gopfast import BiconvexProblem
from gopfast.biconvex import ellipsoid, lagrangian, tightening
from gopfast.biconvex.lifting import Lifting

INF = np.inf


def untouched(low, high):
    return low, high


def units(n, *pairs):
    """The matrix of sum a z_i z_j over (i, j, a)."""
    Q = np.zeros((n, n))
    for i, j, a in pairs:
        Q[i, j] += a
    return Q


# z^2 + x y >= z^2 + 1 - z >= 3/4 where x y + z >= 1
HYPERBOLA = BiconvexProblem([0, 0, 0], Q=units(3, (0, 1, 1), (2, 2, 1)),
                            quadratic_rows=[(units(3, (0, 1, 1)), [0, 0, 1.0], 1.0, INF)])
# min s - 2 w + x / 2 over w = x^2, s = w^2: x^4 - 2 x^2 + x / 2
QUARTIC = BiconvexProblem(
    [0.5, -2, 1], quadratic_rows=[(units(3, (0, 0, 1)), [0, -1.0, 0], 0, 0), (units(3, (1, 1, 1)), [0, 0, -1.0], 0, 0)]
)
LEAST_QUARTIC = min(x**4 - 2 * x**2 + x / 2 for x in np.roots([4, 0, -4, 0.5]).real)


def factorisation(M):
    """Least |u v' - M|^2, u and v without bounds: no point bounds them."""
    n, m = M.shape
    size = n + m + n * m
    rows = []
    for i in range(n):
        for j in range(m):
            a = np.zeros(size)
            a[n + m + i * m + j] = 1.0
            rows.append((units(size, (i, n + j, -1.0)), a, 0.0, 0.0))
    squares = np.diag(np.repeat([0.0, 1.0], [n + m, n * m]))
    c = np.concatenate([np.zeros(n + m), -2.0 * M.ravel()])
    return BiconvexProblem(c, Q=squares, quadratic_rows=rows, constant=float((M**2).sum()))


def random_problem(seed):
    """Rows of all kinds, met by a planted point, some variables without bounds."""
    rng = np.random.default_rng(seed)
    n = 4
    z = rng.integers(-4, 5, n) / 2.0
    rows = []
    for _ in range(4):
        Q, a = np.triu(rng.integers(-2, 3, (n, n))).astype(float), rng.integers(-3, 4, n).astype(float)
        value = float(z @ Q @ z + a @ z)
        rows.append((Q, a, *((value, INF), (-INF, value), (value, value), (value - 1, value + 2))[rng.integers(4)]))
    lower = np.where(rng.random(n) < 0.5, -INF, z - 1)
    G = rng.integers(-2, 3, (n, n))
    return BiconvexProblem(
        rng.integers(-3, 4, n), Q=G.T @ G, quadratic_rows=rows, lower=lower, constant=2.0,
        upper=np.where(rng.random(n) < 0.5, INF, z + 1),
    ), z  # fmt: skip


def value_at(row, z):
    """Exact value of a Lagrangian."""
    z = [Fraction(x) for x in z]
    total = row.constant + sum(a * z[i] for i, a in row.linear.items())
    return total + sum(a * z[i] * z[j] for (i, j), a in row.products.items())


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("seed", range(20))
def test_lagrangians_are_at_most_the_objective_at_feasible_points(seed, sense):
    problem, z = random_problem(seed)
    if sense == "max":
        problem = BiconvexProblem(
            -problem.c, Q=-problem.Q, quadratic_rows=problem.quadratic_rows, lower=problem.lower, upper=problem.upper,
            constant=-2.0, sense="max",
        )  # fmt: skip
    sign = 1 if sense == "min" else -1
    lifting, rng = Lifting(problem), np.random.default_rng(seed)
    tried = 0
    for point in [z, *rng.normal(size=(5, 4)), np.zeros(4)]:
        for row in lagrangian.at(lifting, point):
            tried += 1
            assert value_at(row, z) <= sign * Fraction(problem.objective(z)) - 2
        bound = tightening.bound_objective(lifting, problem.lower, problem.upper, point)
        assert bound <= sign * problem.objective(z)
    assert tried > 7


@pytest.mark.parametrize("limit", [-1000.0, 1000.0])
def test_a_level_set_is_that_of_the_lagrangian_with_its_constant(limit):
    # x^2 + 2 y^2 - x y + (x y - limit) / -2 <= 1 + limit / 2, whose quadratic part is at most 1
    Q = units(2, (0, 0, 1.0), (0, 1, -1.0), (1, 1, 2.0))
    lifting = Lifting(BiconvexProblem([0.0, 0], Q=Q, quadratic_rows=[(units(2, (0, 1, 1.0)), None, limit, INF)]))
    row = lagrangian.Lagrangian(lifting, {0: Fraction(-1, 2)})
    assert row.constant == Fraction(limit) / 2
    H = np.array([[row.products[0, 0], row.products[0, 1] / 2], [row.products[0, 1] / 2, row.products[1, 1]]], float)
    everywhere = np.full(2, -INF), np.full(2, INF)
    low, high = ellipsoid.tighten(lifting, *everywhere, untouched, limit / 2 + 1, [row])
    ends = np.sqrt(np.diag(np.linalg.inv(H)))
    assert (high >= ends).all() and (low <= -ends).all() and (high - low < 4 * ends).all()


@pytest.mark.parametrize("number", [0, 1])
def test_multipliers_have_the_sign_of_their_row(number):
    row = (units(2, (0, 1, 1)), None, *((4.0, INF), (-INF, -4.0))[number])
    point = np.array([2.0, 2.0 * (1 - 2 * number)])
    lifting = Lifting(BiconvexProblem([1, 1 - 2 * number], quadratic_rows=[row]))
    # a row with a lower bound alone is kept with the other sign
    assert lifting.rows[0].upper == -4.0
    assert lagrangian._multipliers(lifting, point) == {0: Fraction(-1, 2)}
    # the reverse row is met strictly nowhere near: a gradient of its sign has no multiplier
    wrong = Lifting(BiconvexProblem([-1, 2 * number - 1], quadratic_rows=[row]))
    assert lagrangian._multipliers(wrong, point) == {}


def test_hidden_convexity_is_found():
    for problem, point, least in ((HYPERBOLA, [0.5, 1.0, 0.5], 0.75), (QUARTIC, None, LEAST_QUARTIC)):
        if point is None:
            x = -1.0574539
            point = [x, x**2, x**4]
        bound = tightening.bound_objective(Lifting(problem), problem.lower, problem.upper, np.array(point))
        assert least - 1e-6 < bound <= least


def test_objectives_that_are_convex_bound_without_multipliers():
    M = np.array([[1.0, 2], [3, -1]])
    problem = factorisation(M)
    assert tightening.bound_objective(Lifting(problem), problem.lower, problem.upper) == pytest.approx(0.0, abs=1e-9)
    assert tightening.bound_objective(Lifting(problem), problem.lower, problem.upper) <= 0.0
    # linear in what is unbounded: nothing is known
    line = BiconvexProblem([1.0, 0], Q=units(2, (1, 1, 1)))
    assert tightening.bound_objective(Lifting(line), line.lower, line.upper) == -INF


def test_least_uses_equations():
    # (x - y)^2 + x on x + y = 1 is definite there: 4 x^2 - 3 x + 1
    problem = BiconvexProblem(
        [1.0, 0], Q=[[1, -2], [0, 1]], A=[[1, 1]], row_lower=1, row_upper=1
    )
    lifting = Lifting(problem)
    (row,) = lagrangian.at(lifting, None)
    found = ellipsoid.least(lifting, row, problem.lower, problem.upper)
    assert found is not None and 7 / 16 - 0.5 < found <= Fraction(7, 16)


@pytest.mark.parametrize(("problem", "optimum"), [(HYPERBOLA, 0.75), (QUARTIC, LEAST_QUARTIC)], ids=["row", "quartic"])
def test_what_had_no_bound_is_proved(problem, optimum):
    result = gopfast.solve(problem, n_threads=1)
    assert result.status == "OPTIMAL" and result.bound <= optimum + 1e-12
    assert result.objective == pytest.approx(optimum, abs=1e-6) and result.bound > optimum - 1e-5


def test_a_bound_of_all_values_and_a_search_of_some():
    M = np.array([[1.0, -2, 0.5], [2, -4, 1], [-1, 2, -0.5]])  # of rank one
    result = gopfast.solve(factorisation(M), n_threads=1, max_nodes=200)
    assert result.status == "OPTIMAL" and -1e-6 <= result.bound <= result.objective <= 1e-6
    M[0, 0] = 3.0
    result = gopfast.solve(factorisation(M), n_threads=1, max_nodes=200)
    assert result.status == "NODE_LIMIT" and -1e-6 <= result.bound <= 0
    least = np.square(np.linalg.svd(M)[1][1:]).sum()
    assert least - 1e-6 <= result.objective <= least * 1.001
    (note,) = result.notes
    assert "searched up to 100," in note and note.endswith("the bound is of all values")


def test_boxes_grow_while_that_helps_and_search_from_the_smallest():
    # x y = 1 and x >= 0: x - y falls for ever along no ray
    falling = BiconvexProblem([1, -1], quadratic_rows=[(units(2, (0, 1, 1)), None, 1.0, 1.0)], lower=0)
    result = gopfast.solve(falling, n_threads=1)
    assert result.status == "NUMERICAL" and result.bound == -INF and result.objective < -1e7
    assert np.isfinite(result.history[:, 0]).all() and (np.diff(result.history[:, 1]) >= 0).all()
    assert result.history[-1, 1] == result.n_nodes > 1
    # each node limit is of all boxes together
    few = gopfast.solve(falling, n_threads=1, max_nodes=1)
    assert few.n_nodes <= 1 and few.status in ("NODE_LIMIT", "NUMERICAL")


def test_a_tolerance_is_not_that_of_derived_bounds():
    # the ellipsoid of a nearly singular form is wide, and what the objective could be there no scale
    rng = np.random.default_rng(1)
    G = rng.normal(size=(30, 30)) * (rng.random((30, 30)) < 0.2)
    values, vectors = np.linalg.eigh(G.T @ G / 30)
    Q = vectors @ np.diag(np.maximum(values, 1e-7)) @ vectors.T
    c = rng.normal(size=30)
    result = gopfast.solve(BiconvexProblem(c, Q=Q), n_threads=1)
    assert result.status != "OPTIMAL" or result.gap <= 2e-6 * abs(result.objective)
    # an optimum of 0, of terms that are all 0, has a tolerance nevertheless
    assert gopfast.solve(BiconvexProblem([0.0, 0], Q=[[1, 1], [0, 1]]), n_threads=1).status == "OPTIMAL"


def test_a_box_around_a_far_bound_is_not_empty():
    # z >= 1e9 without an upper bound, in a product with one that has none
    problem = BiconvexProblem([0.0, 1e-9], Q=units(2, (0, 1, 1e-9)), lower=[0, 1e9])
    result = gopfast.solve(problem, n_threads=1)
    assert result.solution is not None and result.objective == pytest.approx(1.0)


def test_a_multiplier_too_large_for_a_double_is_none():
    # at the point the row's slope is 1e-250, the objective's 1e100
    row = ([[0.0, 1e-100], [0.0, 0.0]], np.zeros(2), 0.0, None)
    problem = BiconvexProblem([1e100, 0.0], quadratic_rows=[row], lower=-1.0, upper=1.0)
    with np.errstate(over="ignore"):
        found = lagrangian.at(Lifting(problem), np.array([0.0, 1e-150]))
    assert all(isinstance(a, Fraction) for row in found for a in row.linear.values())
