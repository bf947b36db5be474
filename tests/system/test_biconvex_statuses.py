"""Statuses of problems within wide and infinite bounds: infeasible ones, and tolerances of the objective."""

import itertools

import numpy as np
import pytest

import gopfast
from gopfast import BiconvexProblem, Status
from gopfast.checker import check

PRODUCT = np.array([[0.0, 1.0], [0.0, 0.0]])
APART = {"A": [[1, -1], [-1, 1]], "row_upper": [-1, 0]}  # x - y <= -1, y - x <= 0
# Of no point, but whose rows almost hold relative to their terms wherever these are large enough
INFEASIBLE = {
    "both go down": ([-1, -1], APART),
    "both go up": ([1, 1], APART),
    "one goes up": ([1, 0], APART),
    "one alone": ([1, 0], APART | {"lower": [-np.inf, 0]}),
    "a product, maximised": ([0, 0], APART | {"Q": PRODUCT, "sense": "max"}),
    "a product": ([0, 0], APART | {"Q": PRODUCT}),
    "from 0": ([-1, -1], APART | {"lower": 0}),
    "a wide box": ([-1, -1], APART | {"lower": -1e9, "upper": 1e9}),
    "a very wide box": ([-1, -1], APART | {"lower": -1e15, "upper": 1e15}),
    "by little": ([-1, -1], APART | {"row_upper": [-1e-6, 0]}),
    "by little in a wide box": ([-1, -1], APART | {"row_upper": [-1e-6, 0], "lower": -1e9, "upper": 1e9}),
    "small rows": ([-1, -1], {"A": [[1e-6, -1e-6], [-1e-6, 1e-6]], "row_upper": [-1e-6, 0]}),
    "large rows": ([-1, -1], {"A": [[1e6, -1e6], [-1e6, 1e6]], "row_upper": [-1e6, 0]}),
    "equations": ([-1, -1], {"A": [[1, -1], [1, -1]], "row_lower": [1, 0], "row_upper": [1, 0]}),
    "three rows": ([2, 0, 3], {"A": [[4, -4, -2], [-3, -2, 3], [-3, 8, 0]], "row_upper": [-2, 0, 2]}),
    "products in rows": (
        [-1, -1], {"quadratic_rows": [(PRODUCT, [-1, 0], None, -1), (-PRODUCT, [1, 0], None, 0)], "lower": 0}
    ),
    "squares in rows": (
        [-1, -1],
        {"quadratic_rows": [([[1, 0], [0, 0]], [0, -1], None, -1), ([[-1, 0], [0, 0]], [0, 1], None, 0)], "lower": 0},
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", INFEASIBLE)
def test_no_point_is_far_enough_out_to_be_feasible(kind):
    c, arguments = INFEASIBLE[kind]
    problem = BiconvexProblem(c, **arguments)
    result = gopfast.solve(problem, n_threads=1, max_nodes=200, time_limit=20)
    assert result.status is Status.INFEASIBLE and result.solution is None
    for point in itertools.product([-1e31, -1e12, -1e6, 1e6, 1e12 + 1, 1e31], repeat=len(c)):
        assert problem.violations(point).max() > 1e-8
        assert problem.violations([point[0]] * len(c)).max() > 1e-8


def test_terms_that_cannot_be_smaller_count():
    # x and y of 1e12: y is a multiple of the spacing of doubles there, and the row holds to that
    problem = BiconvexProblem([1, 0], A=[[1, -1 / 3]], row_lower=0, row_upper=0, lower=[1e12, 0], upper=1e13)
    result = gopfast.solve(problem, n_threads=1)
    assert result.status is Status.OPTIMAL and result.objective == pytest.approx(1e12, rel=1e-6)
    assert problem.violations([1e12, 3e12]).max() <= 1e-15
    # but within bounds that let them be smaller they must hold as they are
    free = BiconvexProblem([1, 0], A=[[1, -1]], row_upper=-1)
    assert free.violations([1e12, 1e12])[0] == 1 and free.violations([1e31, 1e31])[0] == 1


def test_rows_are_evaluated_exactly_where_rounding_would_hide_what_is_left():
    # 1 at the point, and 0 where the sum is rounded term by term
    problem = BiconvexProblem([1, 1, 1, 1], A=[[1, 4, -4, -2]], row_upper=0)
    point = [1.0, 2.0**60, 2.0**59, 2.0**60]
    assert problem.row_values(point)[0] == 0 and problem.violations(point)[0] == pytest.approx(0.25)


# Within bounds of y or z so wide that the terms there could amount to far more than the objective differs by
WIDE = {
    "a square": ([1, 0], np.diag([0, 1.0]), [-1, 0], [1, 1e5], -1.0),
    "a wider square": ([1, 0], np.diag([0, 1.0]), [-1, 0], [1, 1e8], -1.0),
    "beside a product": ([1, -2, 0], [[0, 1, 0], [0, 0, 0], [0, 0, 1e-3]], [-1, -1, -1], [2, 2, 1e8], -7.0),
    "a large coefficient": ([1e9, 1], None, [0, -1], [1, 1], -1.0),
    "a large coefficient and a product": ([1e9, 1], PRODUCT, [0, -1], [1, 1], -1.0),
}


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
@pytest.mark.parametrize("kind", WIDE)
def test_the_default_tolerance_does_not_grow_with_the_bounds(kind, unit):
    c, Q, lower, upper, least = WIDE[kind]
    Q = None if Q is None else unit * np.asarray(Q)
    problem = BiconvexProblem(unit * np.array(c, float), Q=Q, lower=lower, upper=upper)
    result = gopfast.solve(problem, n_threads=1)
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(unit * least, rel=2e-6) and result.bound <= unit * least


@pytest.mark.parametrize("rel_tol", [1e-2, 1e-4, 1e-6])
def test_a_relative_tolerance_that_is_given_is_kept(rel_tol):
    Q = np.zeros((3, 3))
    Q[0, 1], Q[1, 2] = 1.0, -1.0
    problem = BiconvexProblem(
        [-1, 1e-3, 0], Q=Q, A=[[1, 1, 1]], row_lower=1.5, lower=[-1, -2, -1], upper=[1e4, 1e4, 1e4],
        quadratic_rows=[(np.eye(3), None, None, 4)],
    )  # fmt: skip
    result = gopfast.solve(problem, n_threads=1, rel_tol=rel_tol)
    assert result.status is Status.OPTIMAL and result.gap <= rel_tol * abs(result.objective)


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
def test_an_optimum_of_0_is_proved_in_any_unit(unit):
    for Q, lower, upper in ((np.eye(2), -1, 1), (PRODUCT, 0, 1e3), ([[1, -2], [0, 1]], -1e3, 1e3)):
        problem = BiconvexProblem([0, 0], Q=unit * np.asarray(Q, float), lower=lower, upper=upper)
        result = gopfast.solve(problem, n_threads=1)
        assert result.status is Status.OPTIMAL and abs(result.objective) <= 1e-7 * unit


@pytest.mark.parametrize("kind", ["a square", "a wider square", "beside a product"])
def test_proofs_are_written_and_accepted_within_wide_bounds(kind, tmp_path):
    c, Q, lower, upper, least = WIDE[kind]
    problem = BiconvexProblem(c, Q=Q, lower=lower, upper=upper)
    path = tmp_path / "proof.gopfast"
    gopfast.solve(problem, n_threads=1, proof=path)
    checked = check(path, problem)
    assert checked.bound <= least <= checked.objective + 1e-12 and checked.gap <= 2e-6 * abs(least)
