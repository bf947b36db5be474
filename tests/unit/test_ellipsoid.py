"""Bounds from rows that are convex in unbounded variables: no feasible point is cut off, and ellipsoids are bounded."""

import math

import numpy as np
import pytest

import gopfast
from gopfast import BiconvexProblem
from gopfast.biconvex import ellipsoid, tightening
from gopfast.biconvex.lifting import Lifting

INF = np.inf


def untouched(low, high):
    return low, high


def draw(seed, n=4):
    """A row that is convex in unbounded variables and has products with bounded ones, its arrays and its limit."""
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(n, n))
    Q = G.T @ G + 0.1 * np.eye(n)
    low, high = np.full(n, -INF), np.full(n, INF)
    bounded = rng.random(n) < 0.4
    low[bounded], high[bounded] = rng.normal(size=bounded.sum()) - 1, rng.normal(size=bounded.sum()) + 2
    bounded &= low < high
    low, high = np.where(bounded, low, -INF), np.where(bounded, high, INF)
    # indefinite in the bounded ones
    Q[np.ix_(bounded, bounded)] -= 3 * np.diag(rng.random(n))[np.ix_(bounded, bounded)]
    unit = 10.0 ** rng.integers(-3, 4, n) if seed % 2 else np.ones(n)
    return Q / np.outer(unit, unit), rng.normal(size=n) / unit, float(rng.normal() + 5), low * unit, high * unit


def farthest(Q, a, limit, low, high, i, sign, rng):
    """A point of the row with an extreme z_i, for many values of the bounded variables: exact but for those."""
    free = ~np.isfinite(low)
    best = -INF
    for _ in range(300):
        z = np.where(free, 0.0, np.where(rng.random(len(a)) < 0.5, low, high))
        if rng.random() < 0.3:
            z[~free] = low[~free] + rng.random((~free).sum()) * (high - low)[~free]
        H, d = Q[np.ix_(free, free)], a[free] + 2 * Q[np.ix_(free, ~free)] @ z[~free]
        centre = -0.5 * np.linalg.solve(H, d)
        slack = limit - (z[~free] @ Q[np.ix_(~free, ~free)] @ z[~free] + a[~free] @ z[~free] + 0.5 * d @ centre)
        if slack >= 0:
            k = int(np.flatnonzero(np.flatnonzero(free) == i)[0])
            best = max(best, sign * centre[k] + math.sqrt(slack * np.linalg.inv(H)[k, k]))
    return best


@pytest.mark.parametrize("seed", range(30))
def test_bounds_hold_and_are_near_the_ellipsoids_ends(seed):
    Q, a, limit, low, high = draw(seed)
    rng = np.random.default_rng(seed)
    problem = BiconvexProblem(np.zeros(4), quadratic_rows=[(Q, a, -INF, limit)], lower=low, upper=high)
    new_low, new_high = ellipsoid.tighten(Lifting(problem), low, high, untouched)
    for i in np.flatnonzero(~np.isfinite(low)):
        most, least = (farthest(Q, a, limit, low, high, i, sign, rng) for sign in (1, -1))
        assert math.isfinite(new_low[i]) and math.isfinite(new_high[i])
        assert new_high[i] >= most - 1e-9 * abs(most) and -new_low[i] >= least - 1e-9 * abs(least)
        if most > -INF and np.isfinite(low).sum() == 0:
            H = Q / np.outer(*[np.sqrt(np.diag(Q))] * 2)
            width = (most + least) / 2
            assert new_high[i] - new_low[i] <= 2.001 * width / math.sqrt(np.linalg.eigvalsh(H)[0])


@pytest.mark.parametrize("seed", range(10))
def test_equations_make_a_semidefinite_row_an_ellipsoid(seed):
    rng = np.random.default_rng(seed)
    n = 4
    G, A = rng.integers(-3, 4, (2, n)).astype(float), rng.integers(-3, 4, (2, n)).astype(float)
    if np.linalg.matrix_rank(np.vstack([G, A])) < n:
        pytest.skip("not definite on the equations")
    centre = rng.normal(size=n)
    g = G @ centre
    # |G z - g|^2 <= 4 on A z = A centre
    problem = BiconvexProblem(
        np.zeros(n), A=A, row_lower=A @ centre, row_upper=A @ centre,
        quadratic_rows=[(G.T @ G, -2 * G.T @ g, -INF, 4.0 - g @ g)],
    )  # fmt: skip
    everywhere = np.full(n, -INF), np.full(n, INF)
    low, high = ellipsoid.tighten(Lifting(problem), *everywhere, untouched)
    assert np.isfinite(low).all() and np.isfinite(high).all()
    null = np.linalg.svd(A)[2][2:].T
    reach = 2 * np.sqrt(np.diag(null @ np.linalg.inv(null.T @ G.T @ G @ null) @ null.T))
    assert (high >= centre + reach - 1e-9).all() and (low <= centre - reach + 1e-9).all()


def test_what_a_row_leaves_unbounded_stays_so():
    Q = np.array([[1.0, -1.0], [-1.0, 1.0]])  # (z0 - z1)^2
    everywhere = np.full(2, -INF), np.full(2, INF)
    for a in ([0.0, 0.0], [1.0, 1.0]):
        problem = BiconvexProblem(np.zeros(2), quadratic_rows=[(Q, a, -INF, 1.0)])
        low, high = ellipsoid.tighten(Lifting(problem), *everywhere, untouched)
        assert (low == -INF).all() and (high == INF).all()
    # a hyperbola, and a paraboloid: z1 is a linear term that nothing bounds
    for row in ((np.diag([1.0, -1.0]), None), (np.diag([1.0, 0.0]), [0.0, -1.0])):
        problem = BiconvexProblem(np.zeros(2), quadratic_rows=[(*row, -INF, 1.0)])
        assert not np.isfinite(ellipsoid.tighten(Lifting(problem), *everywhere, untouched)).any()


ROWS = {
    # z0^2 + z2^2 <= 4, z2 from -1 to 2
    "a square of a bounded variable": (np.diag([1.0, 0, 1]), None, [-INF, 0, -1], [INF, 0, 2], (-2.0, 2.0)),
    # z0^2 + z1 z2 <= 4, z1 >= 0 and z2 of either sign: nothing follows
    "a linear term of any sign": ([[1.0, 0, 0], [0, 0, 1], [0, 0, 0]], None, [-INF, 0, -1], [INF, INF, 1], (-INF, INF)),
    # z0^2 + (z2 - 10) z0 <= 4
    "a coefficient in an interval": ([[1.0, 0, 1], [0, 0, 0], [0, 0, 0]], [-10.0, 0, 0], [-INF, 0, -1], [INF, 0, 1],
                                     (4.5 - math.sqrt(24.25), 5.5 + math.sqrt(34.25))),
    # (z1 - z2)^2 + z1 + z2 falls for ever
    "a part that falls": ([[1.0, 0, 0], [0, 1, -2], [0, 0, 1]], [0.0, 1, 1], [-INF] * 3, [INF] * 3, (-INF, INF)),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("sign", [1, -1])
def test_bounds_of_rows_by_hand(name, sign):
    Q, a, lower, upper, (least, most) = ROWS[name]
    a = None if a is None else sign * np.array(a)
    # a second limit, out of reach, keeps the row's sign
    row = (sign * np.array(Q), a, *sorted((sign * 4.0, -sign * 1e9)))
    problem = BiconvexProblem(np.zeros(3), quadratic_rows=[row], lower=lower, upper=upper)
    low, high = ellipsoid.tighten(Lifting(problem), problem.lower, problem.upper, untouched)
    assert low[0] <= least and high[0] >= most
    assert math.isfinite(high[0]) == math.isfinite(most) and math.isfinite(low[0]) == math.isfinite(least)


def test_products_of_variables_of_one_sign_are_left_out():
    # z0^2 + z1^2 + 10 z0 z1 <= 4 is indefinite, but z >= 0
    Q = np.array([[1.0, 10.0], [0.0, 1.0]])
    problem = BiconvexProblem(np.zeros(2), quadratic_rows=[(Q, None, -INF, 4.0)], lower=0)
    low, high = ellipsoid.tighten(Lifting(problem), problem.lower, problem.upper, untouched)
    assert (high >= 2.0).all() and (high <= 2.001).all() and (low <= 0).all()


def test_the_objective_bounds_what_is_no_worse_than_a_point():
    problem = BiconvexProblem([0.0, -4.0], Q=np.eye(2), constant=7.0, sense="min")
    low, high = tightening.tighten_by_objective(Lifting(problem), problem.lower, problem.upper, 7.0)
    # z0^2 + (z1 - 2)^2 <= 4
    assert low == pytest.approx([-2, 0], abs=1e-6) and high == pytest.approx([2, 4], abs=1e-6)
    assert (low <= [-2, 0]).all() and (high >= [2, 4]).all()
    mirrored = BiconvexProblem([0.0, 4.0], Q=-np.eye(2), constant=-7.0, sense="max")
    box = tightening.tighten_by_objective(Lifting(mirrored), mirrored.lower, mirrored.upper, 7.0)
    assert np.array_equal(box, (low, high))


def hock_schittkowski():
    """Problems of Hock and Schittkowski (1981) without bounds of variables, by their numbers, and their optima."""
    eye = np.eye
    yield "10", BiconvexProblem([1, -1], quadratic_rows=[([[-3, 2], [0, -1]], None, -1, INF)]), -1.0
    yield "11", BiconvexProblem(
        [-10, 0], Q=eye(2), quadratic_rows=[([[-1, 0], [0, 0]], [0, 1], 0, INF)]
    ), -8.49846422316
    yield "28", BiconvexProblem(
        np.zeros(3), Q=[[1, 2, 0], [0, 2, 2], [0, 0, 1]], A=[[1, 2, 3]], row_lower=1, row_upper=1
    ), 0.0
    yield "42", BiconvexProblem(
        [-4, -6, -8], Q=eye(3), constant=30, quadratic_rows=[(np.diag([0, 1, 1]), None, 2, 2)]
    ), 28 - 10 * math.sqrt(2)
    yield "43", BiconvexProblem(
        [-5, -5, -21, 7], Q=np.diag([1, 1, 2, 1]), quadratic_rows=[
            (eye(4), [1, -1, 1, -1], -INF, 8), (np.diag([1, 2, 1, 2]), [-1, 0, 0, -1], -INF, 10),
            (np.diag([2, 1, 1, 0]), [2, -1, 0, -1], -INF, 5),
        ],
    ), -44.0  # fmt: skip
    rows = [[1, 1, 1, 1, 1], [0, 0, 1, -2, -2]]
    form = np.diag([1.0, 1, 1, 1, 1])
    form[1, 2] = form[3, 4] = -2
    yield "48", BiconvexProblem([-2, 0, 0, 0, 0], Q=form, A=rows, row_lower=[5, -3], row_upper=[5, -3], constant=1), 0.0
    form = np.diag([16.0, 2, 1, 1, 1])
    form[0, 1], form[1, 2] = -8, 2
    rows = [[1, 3, 0, 0, 0], [0, 0, 1, 1, -2], [0, 1, 0, 0, -1]]
    yield "52", BiconvexProblem(
        [0, -4, -4, -2, -2], Q=form, A=rows, row_lower=0, row_upper=0, constant=6
    ), 1859 / 349
    yield "61", BiconvexProblem(
        [-33, 16, -24], Q=np.diag([4, 2, 2]),
        quadratic_rows=[(np.diag([0, -2, 0]), [3, 0, 0], 7, 7), (np.diag([0, 0, -1]), [4, 0, 0], 11, 11)],
    ), -143.646142201  # fmt: skip


CLASSICS = {name: (problem, optimum) for name, problem, optimum in hock_schittkowski()}


@pytest.mark.parametrize("name", CLASSICS)
def test_problems_without_bounds_of_variables_are_proved(name):
    problem, optimum = CLASSICS[name]
    result = gopfast.solve(problem, n_threads=1)
    assert result.status == "OPTIMAL" and not any("unbounded" in note for note in result.notes)
    assert result.bound <= optimum + 1e-9 * abs(optimum) and result.objective == pytest.approx(optimum, abs=1e-4)


def test_linear_rows_bound_what_only_linear_terms_have():
    # one point, of which a dual that is off by rounding proves nothing without bounds
    rows = [[2.0, -3.0], [3.0, -3.0]]
    problem = BiconvexProblem([-2, 4], A=rows, row_lower=[-6, -9], row_upper=[-6, -9], constant=1000)
    result = gopfast.solve(problem, n_threads=1)
    assert result.status == "OPTIMAL" and result.objective == pytest.approx(1006) and not result.notes
