"""The linear relaxed dual of a biconvex problem on single boxes: bounds and tightened boxes lose no feasible point."""

import numpy as np
import pytest
from gopfast.biconvex.bilinear import BilinearRelaxation

from gopfast import BiconvexProblem
from gopfast.biconvex.lifting import Lifting


def make(seed):
    """A random problem with every kind of term, and the points of a cloud that are feasible for it."""
    rng = np.random.default_rng(seed)
    n = 4
    Q = np.zeros((n, n))
    Q[:2, 2:] = rng.integers(-3, 4, (2, 2))
    Q[0, 0] = rng.integers(-2, 3)
    R = np.zeros((n, n))
    R[:2, 2:] = rng.integers(-2, 3, (2, 2))
    R[3, 3] = 1.0
    center = rng.uniform(-1, 1, n)
    A = rng.integers(-2, 3, (2, n)).astype(float)
    a = rng.integers(-2, 3, n).astype(float)
    problem = BiconvexProblem(
        rng.integers(-3, 4, n), Q=Q, A=A, row_upper=A @ center + 0.5,
        quadratic_rows=[(R, a, None, a @ center + center @ R @ center + 0.5)], lower=-2, upper=1.5,
    )  # fmt: skip
    cloud = np.clip(center + rng.uniform(-0.7, 0.7, (500, n)), -2, 1.5)
    return problem, cloud[[problem.violations(z).max() == 0 for z in cloud]]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("sweeps", [0, 2])
def test_no_feasible_point_of_a_box_is_below_its_bound_or_outside_the_tightened_box(seed, sweeps):
    problem, cloud = make(seed)
    assert len(cloud) > 5
    lifting = Lifting(problem)
    data, scale, objective_scale = lifting.data(lifting.low, lifting.high)
    points = lifting.to_core(cloud, scale)
    values = np.array([problem.objective(z) for z in cloud]) / objective_scale
    relaxation = BilinearRelaxation(data)
    rng = np.random.default_rng(seed)
    low, high = data.box
    for cutoff in (np.inf, np.quantile(values, 0.3)):
        a, b = low.copy(), high.copy()
        for _ in range(4):
            lower, tight_low, tight_high, point, _ = relaxation.bound_box(a, b, cutoff, sweeps)
            inside = ((points >= a) & (points <= b)).all(axis=1) & (values < cutoff)
            if inside.any():
                assert lower <= values[inside].min()
                assert (points[inside] >= tight_low).all() and (points[inside] <= tight_high).all()
            j = rng.integers(len(a))
            middle = 0.5 * (a[j] + b[j])
            (a if rng.random() < 0.5 else b)[j] = middle


def test_reduced_costs_keep_points_as_good_as_the_cutoff():
    # z0 + z1 + z0 z1 over [0, 10]^2: a variable at 3 costs just 3
    problem = BiconvexProblem([1, 1], Q=[[0, 1], [0, 0]], lower=0, upper=10)
    data, scale, unit = Lifting(problem).data(problem.lower, problem.upper)
    _, low, high, _, _ = BilinearRelaxation(data).bound_box(*data.box, 3.0 / unit)
    assert (high * scale >= 3.0).all() and (high * scale <= 3.0 + 1e-6).all() and (low <= 0).all()


def test_squares_that_underflow_cut_nothing_off():
    # the lifted row has squares, of numbers whose squares are no doubles
    tiny = 1e-300
    problem = BiconvexProblem(
        [1e50, -1e100], Q=[[0, 1], [0, 0]], A=[[1e-50, 1]], row_upper=1e20, lower=-tiny, upper=tiny,
        quadratic_rows=[([[0, 1e-20], [0, 0]], [1, 1], 0, 1e100)],
    )  # fmt: skip
    lifting = Lifting(problem)
    data, scale, unit = lifting.data(problem.lower, problem.upper)
    low, high = lifting.to_user(data.tighten(), scale)
    assert (low <= -tiny).all() and (high >= tiny).all()
    assert BilinearRelaxation(data).bound_box(*data.box)[0] * unit <= -1e-200


def test_an_empty_box_has_an_infinite_bound_or_the_cutoff():
    problem = BiconvexProblem([1, 1], quadratic_rows=[([[0, 1], [0, 0]], None, 10, None)], lower=0, upper=2)
    lifting = Lifting(problem)
    data, _, _ = lifting.data(lifting.low, lifting.high)
    assert BilinearRelaxation(data).bound_box(*data.box)[0] == np.inf
    assert BilinearRelaxation(data).bound_box(*data.box, cutoff=5.0)[0] == 5.0


def test_a_product_is_exact_where_one_factor_is_fixed():
    problem = BiconvexProblem([0, 0], Q=[[0, 1], [0, 0]], lower=[0.5, -1], upper=[0.5, 3])
    lifting = Lifting(problem)
    data, _, objective_scale = lifting.data(lifting.low, lifting.high)
    assert BilinearRelaxation(data).bound_box(*data.box)[0] * objective_scale == pytest.approx(-0.5, abs=1e-9)


def test_mccormick_bound_of_a_product_over_a_box():
    problem = BiconvexProblem([0, 0], Q=[[0, 1], [0, 0]], A=[[1, -1]], row_lower=0, row_upper=0, lower=-1, upper=1)
    lifting = Lifting(problem)
    data, _, objective_scale = lifting.data(lifting.low, lifting.high, lifted=False)
    # w >= -x - y - 1, w >= x + y - 1, x = y: -1 at the middle
    assert BilinearRelaxation(data).bound_box(*data.box)[0] * objective_scale == pytest.approx(-1.0, abs=1e-9)
