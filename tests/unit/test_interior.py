"""The interior point: local solutions, points of rows that are hard to meet, and searches that find none."""

import numpy as np
import pytest
from gopfast.search.stop import StopSignal

from gopfast import BiconvexProblem
from gopfast.biconvex import interior, nonlinear
from gopfast.biconvex.interior import InteriorPoint
from gopfast.biconvex.nonlinear import NonlinearProgram

INF = np.inf


def program(problem):
    return NonlinearProgram(problem, problem.lower, problem.upper, np.ones(problem.n_variables), StopSignal())


def missed(own, x):
    rows = own.values(x)[1:]
    return np.maximum(own.lower - rows, rows - own.upper).max(initial=0.0)


@pytest.mark.parametrize("most_in_dense", [interior.MOST_IN_DENSE, 0], ids=["dense", "sparse"])
@pytest.mark.parametrize("start", [0.0, 3.0])
def test_the_optimum_of_a_convex_problem(start, most_in_dense, monkeypatch):
    monkeypatch.setattr(interior, "MOST_IN_DENSE", most_in_dense)
    # the nearest point to (3, 4, 5) on the plane z = 2 within the unit disc about 0 of x and y
    problem = BiconvexProblem(
        [-6, -8, -10], Q=np.eye(3), quadratic_rows=[(np.diag([1.0, 1, 0]), None, -INF, 1.0)], A=[[0, 0, 2.0]],
        row_lower=4, row_upper=4,
    )  # fmt: skip
    found = InteriorPoint(program(problem), np.full(3, start)).search()
    np.testing.assert_allclose(found, [0.6, 0.8, 2.0], atol=1e-7)


@pytest.mark.parametrize("seed", range(8))
def test_bilinear_equations_are_met_from_points_far_off(seed):
    rng = np.random.default_rng(seed)
    n = 8
    point = rng.uniform(0.2, 0.8, n)
    rows = []
    for k in range(4):
        form, linear = np.triu(rng.integers(-3, 4, (n, n))).astype(float), rng.integers(-3, 4, n).astype(float)
        value = float(point @ form @ point + linear @ point)
        rows.append((form, linear, value, value if k < 2 else value + 0.1))
    problem = BiconvexProblem(rng.normal(size=n), quadratic_rows=rows, lower=0, upper=1)
    own = program(problem)
    found = [InteriorPoint(own, rng.random(n)).search() for _ in range(4)]
    assert all(((x >= -1e-9) & (x <= 1 + 1e-9)).all() for x in found)
    assert min(missed(own, x) for x in found) <= 1e-7


def test_complementarity_is_met():
    # of z1 and z2, z3 and z4, one of each vanishes; least where z1 and z3 do
    pairs = [np.zeros((4, 4)) for _ in range(2)]
    pairs[0][0, 1] = pairs[1][2, 3] = 1.0
    problem = BiconvexProblem(
        [1.0, -1, 1, -1], quadratic_rows=[(pair, None, 0.0, 0.0) for pair in pairs], lower=0, upper=10
    )
    own = program(problem)
    found = InteriorPoint(own, np.array([5.0, 6, 4, 7])).search()
    assert missed(own, found) <= 1e-7
    assert own.values(found)[0] == pytest.approx(-20.0, rel=1e-4)


def test_equations_that_depend_on_each_other_and_fixed_variables():
    rng = np.random.default_rng(0)
    rows, point = rng.normal(size=(50, 10)), rng.normal(size=10)
    lower, upper = np.full(10, -9.0), np.full(10, 9.0)
    lower[3] = upper[3] = point[3]
    values = rows @ point
    problem = BiconvexProblem(
        np.zeros(10), Q=np.eye(10), A=rows, row_lower=values, row_upper=values, lower=lower, upper=upper
    )
    np.testing.assert_allclose(InteriorPoint(program(problem), np.zeros(10)).search(), point, atol=1e-6)


def test_rows_that_contradict_each_other_end_the_search():
    nothing = BiconvexProblem([0.0], A=[[1.0], [1.0]], row_lower=[0, 5], row_upper=[1, 6], lower=-9, upper=9)
    assert np.isfinite(InteriorPoint(program(nothing), np.zeros(1)).search()).all()


def test_a_search_that_runs_off_finds_nothing(monkeypatch):
    monkeypatch.setattr(nonlinear, "MOST_DENSE", 0)
    # no end of the objective, to minus infinity like a square: found by the fuzzer, points of 1e154 were incumbents
    falling = BiconvexProblem([0.0, 0.0], Q=[[1.0, 0], [0, -1.0]], A=[[1.0, 0.0]], row_lower=-1.0, row_upper=1.0)
    found = program(falling).search(np.array([0.5, -3.0]))
    assert found is None or np.abs(found).max() <= 1e15
