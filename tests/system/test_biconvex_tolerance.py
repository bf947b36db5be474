"""Gaps of 1e-9 are met: what the linear programs' own tolerance leaves must be less."""

import numpy as np
import pytest

import gopfast
from gopfast import BiconvexProblem, Status

INF = np.inf


def curved():
    """Three forms that are not convex, one of them an equation, maximised."""
    rows = [
        ([[-3, -3, 1], [0, -1, -1], [0, 0, -3]], [1, -4, -2], -0.1875, INF),
        ([[0, -4, 4], [0, 4, 1], [0, 0, -2]], [-1, 3, -4], -INF, 3.125),
        ([[1, 2, -4], [0, 5, 0], [0, 0, 9]], [2, 1, -1], 6.3125, 6.3125),
    ]
    return BiconvexProblem(
        [0, 5, -3], Q=[[2, 2, 0], [0, 1, 1], [0, 0, -3]], quadratic_rows=rows, lower=[-3, -1, -2], upper=[1, 4, 3],
        sense="max",
    )  # fmt: skip


def test_a_gap_of_1e9_is_met_where_boxes_are_smaller_than_the_programs_tolerance():
    problem = curved()
    result = gopfast.solve(problem, epsilon=1e-9, rel_tol=0.0, n_threads=1, max_nodes=1000, log=False)
    assert result.status is Status.OPTIMAL
    assert 0.0 <= result.bound - result.objective <= 1e-9
    assert result.solution.max_violation <= 1e-8


def test_programs_that_only_just_have_no_point_do_not_stop_a_tree():
    """An indefinite form over rows: near its optimum HiGHS has rays of infeasible programs that prove nothing."""
    rng, n, m = np.random.default_rng(1), 20, 10
    U = np.triu(rng.integers(-50, 51, (n, n)) * (rng.random((n, n)) < 1.0)).astype(float)
    A, most = rng.integers(-3, 8, (m, n)).astype(float), rng.integers(2, 6, m) * n / 4
    c = rng.integers(-50, 51, n).astype(float)
    problem = BiconvexProblem(c, Q=U, A=A, row_upper=most, lower=np.zeros(n), upper=np.ones(n))
    # 477; 7,509 where such nodes keep their parent's bound and are halved
    result = gopfast.solve(problem, rel_tol=1e-6, n_threads=1, log=False, max_nodes=2_000)
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(-442.397869, abs=1e-5) and result.bound <= -442.397868
