"""Bounds as high as the linear program that they are of, and incumbents at full precision."""

import numpy as np
import pytest
from gopfast.biconvex.bilinear import BilinearRelaxation
from scipy.optimize import linprog

import gopfast
from gopfast import BiconvexProblem
from gopfast.biconvex.lifting import Lifting

INF = np.inf


def concave(seed, n, m):
    """A separable concave program with large numbers over dense rows, as st_m1 and st_m2 of GLOBALLib."""
    rng = np.random.default_rng(seed)
    A = np.vstack([rng.integers(-20, 90, (m, n)), np.ones(n)]).astype(float)
    upper = np.append(rng.integers(1000, 5000, m), 50.0 * n)
    squares = -rng.integers(1, 100, n) / 2.0
    return squares, rng.integers(-90, 91, n) * 20.0, A, upper


@pytest.mark.parametrize("factor", [1.0, 5.0, 1e-3])
@pytest.mark.parametrize("seed", range(4))
def test_a_root_bound_is_that_of_its_own_linear_program(seed, factor):
    squares, c, A, upper = concave(seed, 30, 21)
    problem = BiconvexProblem(c, Q=np.diag(squares), A=factor * A, row_upper=factor * upper, lower=0, upper=200)
    lifting = Lifting(problem)
    data, scale, unit = lifting.data(problem.lower, problem.upper, lifted=False)
    bound = BilinearRelaxation(data, max_rounds=1).bound_box(*data.box)[0] * unit
    # the program written down apart from it: chords of the squares over the box that the rows leave
    low, high = lifting.to_user(data.tighten_box(*data.box, INF, 10), scale)
    program = linprog(
        c + squares * (low + high), A_ub=A, b_ub=upper, bounds=list(zip(low, high, strict=True)), method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )  # fmt: skip
    least = program.fun - squares @ (low * high)
    assert abs(bound - least) <= 1e-10 * abs(least)


def bilevel(factor=1.0):
    """ex9_2_4: min (y - 2)^2 / 2 + (z - 2)^2 / 2 where (y, z) is least for y^2 / 2 + z over y + z = x, y, z >= 0."""
    # x, y, z, multiplier, and those of y and of z
    rows = [[1.0, -1, -1, 0, 0, 0], [0, 1, 0, 1, -1, 0], [0, 0, 0, 1, 0, -1]]
    complementary = []
    for i, j in ((1, 4), (2, 5)):
        Q = np.zeros((6, 6))
        Q[i, j] = 1.0
        complementary.append((factor * Q, None, 0.0, 0.0))
    return BiconvexProblem(
        [0, -2, -2, 0, 0, 0], Q=np.diag([0, 0.5, 0.5, 0, 0, 0]), A=factor * np.array(rows),
        row_lower=factor * np.array([0, 0, -1.0]), row_upper=factor * np.array([0, 0, -1.0]),
        quadratic_rows=complementary, lower=[0, 0, 0, -INF, 0, 0], constant=4.0,
    )  # fmt: skip


@pytest.mark.parametrize("factor", [1.0, 5.0, 1e-3])
def test_an_incumbent_is_polished_to_the_optimum(factor):
    result = gopfast.solve(bilevel(factor), n_threads=1)
    assert result.status == "OPTIMAL" and result.n_nodes < 20
    assert abs(result.objective - 0.5) <= 1e-12 and result.solution.max_violation <= 1e-12
    np.testing.assert_allclose(result.solution.z[:3], [3, 1, 2], atol=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_objectives_of_complementarity_problems_are_those_of_their_best_case(seed):
    """min |z - t|^2 over pairs of which one vanishes and an equation: each case has a closed form."""
    rng = np.random.default_rng(seed)
    k = 3
    t, a = rng.uniform(-1, 3, 2 * k), rng.uniform(0.5, 2, 2 * k)
    total = float(rng.uniform(1, 3))
    rows = []
    for i in range(k):
        Q = np.zeros((2 * k, 2 * k))
        Q[2 * i, 2 * i + 1] = 1.0
        rows.append((Q, None, 0.0, 0.0))
    problem = BiconvexProblem(
        -2 * t, Q=np.eye(2 * k), A=a[np.newaxis], row_lower=total, row_upper=total, quadratic_rows=rows,
        constant=float(t @ t),
    )  # fmt: skip
    best = INF
    for case in range(2**k):
        kept = np.array([2 * i + (case >> i & 1) for i in range(k)])
        step = (total - a[kept] @ t[kept]) / (a[kept] @ a[kept])
        z = np.zeros(2 * k)
        z[kept] = t[kept] + step * a[kept]
        best = min(best, float((z - t) @ (z - t)))
    result = gopfast.solve(problem, n_threads=1)
    assert result.status == "OPTIMAL" and result.bound <= best * (1 + 1e-14)
    assert abs(result.objective - best) <= 1e-11 * best
