"""Bounds of unbounded variables by rows that grow with them: known ones, and no feasible point outside."""

import math
from fractions import Fraction

import numpy as np
import pytest
from gopfast.search.stop import StopSignal
from hypothesis import given, strategies as st
from support.settings import examples

import gopfast
from gopfast import BiconvexProblem, Status
from gopfast.biconvex import growth
from gopfast.biconvex.lifting import Lifting

INF = math.inf


def grown(problem, **arguments):
    """The box that rows alone give, without propagation."""
    lifting = Lifting(problem, stop=StopSignal())
    low, high = np.array(problem.lower), np.array(problem.upper)
    return growth.tighten(lifting, low, high, lambda low, high: (low, high), **arguments)


def upper(n, *pairs):
    Q = np.zeros((n, n))
    for i, j, a in pairs:
        Q[i, j] = a
    return Q


def test_a_product_with_a_positive_affine_factor():
    # x (2 y + 3 z + 4) = 12: x is at most 3
    rows = [(upper(3, (0, 1, 2), (0, 2, 3)), [4, 0, 0], 12, 12)]
    low, high = grown(BiconvexProblem([1, 1, 1], quadratic_rows=rows, lower=0))
    assert high[0] == 3.0 and high[1] == high[2] == INF


def test_a_quotient_is_between_the_quotients_of_the_coefficients():
    # t (2 y + 3 z + 4) = 5 y - 6 z + 7, y and z at least 0
    rows = [(upper(3, (0, 1, 2), (0, 2, 3)), [4, -5, 6], 7, 7)]
    low, high = grown(BiconvexProblem([1, 0, 0], quadratic_rows=rows, lower=[-INF, 0, 0]))
    assert low[0] == -2.0 and high[0] == 2.5


def test_shares_that_add_up_to_one_bound_an_amount():
    # x (2 y + 3 z) <= 10, y + z >= 1
    rows = [(upper(3, (0, 1, 2), (0, 2, 3)), [0, 0, 0], None, 10)]
    problem = BiconvexProblem([-1, 0, 0], A=[[0, 1, 1]], row_lower=1, quadratic_rows=rows, lower=0)
    assert grown(problem)[1][0] == 5.0
    result = gopfast.solve(problem, n_threads=1, log=False)
    assert result.status is Status.OPTIMAL and result.objective == pytest.approx(-5.0, abs=1e-6)


def test_a_square_bounds_with_a_product_of_unknown_sign_left_out():
    # x^2 + x y - 4 x <= 5 with y at least 0: x is at most 5
    rows = [(upper(2, (0, 0, 1), (0, 1, 1)), [-4, 0], None, 5)]
    high = grown(BiconvexProblem([1, 1], quadratic_rows=rows, lower=0))[1]
    assert 5.0 <= high[0] <= 5.0 * (1 + 1e-15) and high[1] == INF


def test_nothing_is_said_of_what_a_row_lets_go():
    rows = [(upper(2, (0, 1, 1)), [-1, 0], None, 5)]  # x (y - 1) <= 5
    assert (grown(BiconvexProblem([1, 1], quadratic_rows=rows, lower=0))[1] == INF).all()


@examples(400)
@given(st.integers(0, 10**9))
def test_no_feasible_point_is_outside(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    planted = rng.integers(-6, 7, n) / 2.0 * 10.0 ** rng.integers(0, 4, n)
    lower = np.where(rng.random(n) < 0.6, np.minimum(planted, 0.0) - rng.integers(0, 3, n), -INF)
    top = np.where(rng.random(n) < 0.2, planted + rng.integers(0, 3, n), INF)
    rows = []
    for _ in range(int(rng.integers(1, 3))):
        Q = np.triu(rng.integers(-1, 4, (n, n)) * (rng.random((n, n)) < 0.6), int(rng.random() < 0.6)).astype(float)
        a = rng.integers(-2, 4, n).astype(float)
        value = float(a @ planted + planted @ Q @ planted)
        slack = float(rng.choice([0, 0, 1, 10]))
        rows.append((Q, a, value, value) if rng.random() < 0.3 else (Q, a, -INF, value + slack))
    A = rng.integers(-1, 3, (int(rng.integers(0, 3)), n)).astype(float)
    arguments = {"A": A, "row_lower": A @ planted} if len(A) else {}
    problem = BiconvexProblem(rng.integers(-2, 3, n), quadratic_rows=rows, lower=lower, upper=top, **arguments)
    box = grown(problem)
    assert box is not None
    low, high = box
    assert (low <= planted).all() and (planted <= high).all()
    # other points, far out along one variable or two
    for _ in range(30):
        z = planted.copy()
        for i in rng.integers(0, n, 2):
            end = high[i] if rng.random() < 0.5 else low[i]
            z[i] = np.nextafter(end, math.copysign(INF, end)) if np.isfinite(end) else z[i] * 2.0 ** rng.integers(0, 9)
        if (z < low).any() or (z > high).any():
            assert not is_feasible(problem, rows, A, A @ planted, z)


def is_feasible(problem, rows, A, row_lower, point):
    if (point < problem.lower).any() or (point > problem.upper).any():
        return False
    z = [Fraction(x) for x in point.tolist()]
    none = np.zeros_like(rows[0][0])
    for Q, a, low, high in [*rows, *((none, left, b, INF) for left, b in zip(A, row_lower, strict=True))]:
        total = sum((Fraction(a[i]) * z[i] for i in range(len(z))), Fraction(0))
        total += sum((Fraction(Q[i, j]) * z[i] * z[j] for i, j in zip(*np.nonzero(Q), strict=True)), Fraction(0))
        if not low <= total <= high:
            return False
    return True
