"""Primal problems: what alternation ends with, neither side can improve alone."""

import numpy as np
import pytest
from gopfast._alternating import AlternatingPrimal
from scipy.optimize import minimize

from gopfast import BiconvexProblem
from gopfast._lifting import Lifting


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
