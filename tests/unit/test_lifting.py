"""What the core is given: convexity, scaling by powers of two, lifted rows that hold wherever the problem does."""

import numpy as np
import pytest
from gopfast.search.stop import StopSignal

from gopfast import BiconvexProblem
from gopfast.biconvex import tightening
from gopfast.biconvex.lifting import Lifting


def forms(Q, sense="min"):
    """Number of convex forms and the products of an objective."""
    lifting = Lifting(BiconvexProblem(np.zeros(len(Q)), Q=Q, lower=0, upper=1, sense=sense))
    return len(lifting.objective.forms), lifting.products


def test_convex_forms_are_kept_and_others_become_products():
    assert forms([[1, -1], [-1, 1]]) == (1, [])
    assert forms([[1, -1.1], [-1.1, 1]]) == (2, [(0, 1)])
    assert forms([[1, 0], [0, 2]]) == (2, [])
    assert forms([[0, 1], [0, 0]]) == (0, [(0, 1)])
    # the copy of z0 that -z0^2 needs has the same column; maximised it is convex
    assert forms([[-1, 0], [0, 0]]) == (0, [(0, 0)])
    assert forms([[-1, 0], [0, 0]], "max") == (1, [])


def test_a_singular_form_counts_as_convex_exactly():
    a = np.array([1.0, -3.0, 0.5])
    lifting = Lifting(BiconvexProblem(np.zeros(3), Q=np.outer(a, a), lower=0, upper=1))
    data, _, _ = lifting.data(lifting.low, lifting.high)
    assert data.n_blocks == 1 and data.n_products == 0


@pytest.mark.parametrize("bounds", [(0, 4, 1), (1, None, 1), (None, 4, 1), (4, 4, 0)])
def test_a_row_with_two_bounds_has_no_convex_form(bounds):
    low, high, convex_if_upper = bounds
    problem = BiconvexProblem([0.0], quadratic_rows=[([[1.0]], None, low, high)], lower=-3, upper=3)
    (row, *_) = Lifting(problem).rows
    assert bool(row.forms) == (low is None and convex_if_upper == 1)


def test_scales_are_powers_of_two_and_boxes_are_near_one():
    problem = BiconvexProblem(np.ones(3), Q=np.eye(3)[[1, 0, 2]] * [[1], [1], [0]], lower=[0, 1e-7, -3e5],
                              upper=[1e6, 3e-7, 2e5])
    lifting = Lifting(problem)
    data, scale, objective_scale = lifting.data(lifting.low, lifting.high)
    assert all(np.frexp(s)[0] == 0.5 for s in [*scale, objective_scale])
    low, high = data.box
    reach = np.maximum(abs(low), abs(high))
    assert ((reach >= 1) & (reach < 2)).all()
    np.testing.assert_array_equal(high * scale[lifting.order], problem.upper[lifting.order])


def test_the_core_computes_the_same_objective_and_violations_as_the_problem():
    rng = np.random.default_rng(0)
    Q = np.zeros((5, 5))
    Q[:2, 2:] = rng.standard_normal((2, 3))
    Q[4, 4] = 2.0
    problem = BiconvexProblem(
        rng.standard_normal(5), Q=Q, A=rng.standard_normal((2, 5)), row_upper=0.1, constant=3.0, sense="min",
        quadratic_rows=[(Q, rng.standard_normal(5), None, 1.0)], lower=-2, upper=5,
    )  # fmt: skip
    lifting = Lifting(problem)
    data, scale, objective_scale = lifting.data(lifting.low, lifting.high)
    for _ in range(20):
        z = rng.uniform(-2, 5, 5)
        value, violation = data.evaluate((z / scale)[lifting.order])
        assert value * objective_scale == pytest.approx(problem.objective(z), rel=1e-12)
        assert (violation > 0) == (problem.violations(z).max() > 0)


def test_bounds_that_programs_take_for_none_bound_nothing_by_linear_rows():
    # found by the fuzzer (seed 8733): a variable at most -6e23, below nothing, in a row with others
    problem = BiconvexProblem([1.0, 0.0], A=[[1.0, -3.0]], row_lower=-3.0, row_upper=np.inf, lower=[-2.0, -np.inf],
                              upper=[2.0, -6e23])  # fmt: skip
    low, high = tightening.bound_by_linear_rows(Lifting(problem), problem.lower, problem.upper, StopSignal())
    assert low.tolist() == [-2.0, -np.inf]
    assert high.tolist() == [2.0, -6e23]
