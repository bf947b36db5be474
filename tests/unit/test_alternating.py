"""Primal problems: what alternation ends with, neither side can improve alone."""

import numpy as np
import pytest
from gopfast.biconvex.alternating import AlternatingPrimal
from gopfast.biconvex.bilinear import BilinearRelaxation
from gopfast.search.search import Search
from scipy.optimize import minimize

from gopfast import BiconvexProblem
from gopfast.biconvex.lifting import Lifting


def biconvex(seed, n=3, singular=False):
    """Convex quadratic in x and in y, with products; rows in x alone and in y alone, and a disc of y."""
    rng = np.random.default_rng(seed)
    Q = np.zeros((2 * n, 2 * n))
    for side in (slice(0, n), slice(n, 2 * n)):
        G = rng.integers(-2, 3, (n, n - 1 if singular else n)).astype(float)
        Q[side, side] = G @ G.T
    Q[:n, n:] = rng.integers(-4, 5, (n, n))
    A = np.zeros((2, 2 * n))
    A[0, :n], A[1, n:] = rng.integers(1, 4, n), rng.integers(1, 4, n)
    disc = np.diag([0.0] * n + [1.0] * n)
    return BiconvexProblem(
        rng.integers(-9, 10, 2 * n), Q=Q, A=A, row_upper=2, lower=-3, upper=3, x=range(n), y=range(n, 2 * n),
        quadratic_rows=[(disc, None, None, 5.0)],
    )  # fmt: skip


def least_over(problem, z, side):
    """Objective after SciPy has moved the variables of one side alone."""
    def at(part):
        point = z.copy()
        point[side] = part
        return point

    constraints = [{"type": "ineq", "fun": lambda part: 2 - problem.A @ at(part)}]
    constraints.append({"type": "ineq", "fun": lambda part: 5 - (at(part)[len(z) // 2 :] ** 2).sum()})
    answer = minimize(
        lambda part: problem.objective(at(part)), z[side], bounds=[(-3, 3)] * len(z[side]), method="SLSQP",
        constraints=constraints, options={"ftol": 1e-12, "maxiter": 300},
    )  # fmt: skip
    return answer.fun if problem.violations(at(answer.x)).max() <= 1e-7 else np.inf


@pytest.mark.parametrize("singular", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_no_side_of_a_biconvex_quadratic_problem_improves_alone(seed, singular):
    problem = biconvex(seed, singular=singular)
    lifting = Lifting(problem)
    data, scale, objective_scale = lifting.data(lifting.low, lifting.high)
    primal = AlternatingPrimal(data, [np.full(data.n, 0.1)])
    try:
        value, point = primal.run(1e-10)
    finally:
        primal.close()
    z = point[lifting.place] * scale
    value *= objective_scale
    assert problem.violations(z).max() <= 1e-8
    assert problem.objective(z) <= value <= problem.objective(z) + 1e-6
    for side in (slice(0, 3), slice(3, 6)):
        assert least_over(problem, z, side) >= value - 1e-5 * (1 + abs(value))


def run(data, starts, **arguments):
    primal = AlternatingPrimal(data, starts, **arguments)
    try:
        return primal.run(1e-10)
    finally:
        primal.close()


@pytest.mark.parametrize("bound", [10.0, 1e4, 1e7])
def test_a_point_is_settled_in_the_users_units(bound):
    # at the bounds' scale the product's row is 1e-14, far below what linear programs see
    rows = [(np.array([[0, 1.0, 0], [0, 0, 0], [0, 0, 0]]), None, 1, 1), (np.diag([1.0, 0, 0]), [0, 0, -1], 0.5, 0.5)]
    problem = BiconvexProblem([1, 1, 1], quadratic_rows=rows, lower=0, upper=[bound, bound, bound])
    lifting = Lifting(problem)
    data, scale, objective_scale = lifting.data(lifting.low, lifting.high)
    found = 0
    for seed in range(5):
        start = data.box[1] * np.random.default_rng(seed).random(data.n)
        value, point = run(data, [start])
        if not np.isfinite(value):
            continue
        found += 1
        z = (point[lifting.place] * scale)[:3]
        assert abs(z[0] * z[1] - 1) <= 1e-8 and abs(z[0] ** 2 - z[2] - 0.5) <= 1e-8 * max(1.0, z[0] ** 2)
        # no copy, no price, nothing changed afterwards
        assert value * objective_scale == pytest.approx(problem.objective(z), rel=1e-14)
    assert found > 0


def test_a_point_at_the_origin_does_not_pass_for_a_product_of_one():
    problem = BiconvexProblem([1, 1], quadratic_rows=[([[0, 1], [0, 0]], None, 1, None)], lower=0, upper=1e6)
    lifting = Lifting(problem)
    data, _, _ = lifting.data(lifting.low, lifting.high)
    assert data.evaluate([0.0, 0.0])[1] == 1.0
    value, point = run(data, [np.zeros(2)])
    assert value == np.inf or data.evaluate(point)[1] <= 1e-8


def test_a_given_point_is_the_first_incumbent_whatever_the_limits():
    problem = BiconvexProblem([1, 1], quadratic_rows=[([[0, 1], [0, 0]], None, 1, None)], lower=0, upper=4)
    lifting = Lifting(problem)
    data, scale, objective_scale = lifting.data(lifting.low, lifting.high)
    given = (np.array([2.0, 0.5]) / scale)[lifting.order]
    primal = AlternatingPrimal(data, np.empty((0, 2)), given)
    search = Search(BilinearRelaxation(data), primal, 1e-6, time_limit=0.0)
    search.run()
    fields, point = search.summary()
    assert fields["objective"] * objective_scale == pytest.approx(2.5, rel=1e-14)
    np.testing.assert_array_equal(point, given)
    infeasible = AlternatingPrimal(data, np.empty((0, 2)), 0.5 * given)
    assert infeasible.run(1e-9)[0] == np.inf
