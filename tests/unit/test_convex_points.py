"""Least points of convex forms in nodes: optimal by their conditions; trees of few directions."""

import numpy as np
import pytest

import gopfast
from gopfast.biconvex.convex_points import ConvexPoints
from tests.support.settings import some


def program(rng, n, m, n_equations):
    """A form of rank at most n, rows and equations that a point meets, and bounds of which some are infinite."""
    G = rng.normal(size=(int(rng.integers(1, n + 1)), n))
    Q, cost = G.T @ G, np.append(rng.normal(size=n), 2.0)
    inside = rng.uniform(-1, 1, n)
    A = np.column_stack([rng.normal(size=(m + n_equations, n)), np.zeros(m + n_equations)])
    values = A[:, :n] @ inside
    lower, upper = np.full(m + n_equations, -np.inf), values + rng.uniform(0, 1, m + n_equations)
    lower[m:] = upper[m:] = values[m:]
    low = np.append(np.where(rng.random(n) < 0.8, inside - rng.uniform(0, 2, n), -3.0), -np.inf)
    high = np.append(np.where(rng.random(n) < 0.8, inside + rng.uniform(0, 2, n), 3.0), np.inf)
    # the program's own row of the form, which does not count, and a row without ends
    A = np.vstack([A, np.append(np.zeros(n), 1.0), np.append(np.ones(n), 0.0)])
    return Q, cost, A, np.append(lower, [0.0, -np.inf]), np.append(upper, [1.0, np.inf]), low, high


def least(Q, cost, A, lower, upper, low, high):
    n = len(Q)
    blocks = [(n, [(i, j, Q[i, j]) for i in range(n) for j in range(n)])]
    rows, columns = np.nonzero(A)
    start = np.searchsorted(rows, np.arange(len(A) + 1))
    return ConvexPoints(cost, blocks).least(start, columns, A[rows, columns], lower, upper, low, high)


@pytest.mark.parametrize("seed", some(range(40)))
def test_no_point_of_the_region_is_better(seed):
    """Frank and Wolfe's bound: the slope at the point, over the vertices that a linear program finds."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 9)), int(rng.integers(0, 6))
    data = program(rng, n, m, int(rng.integers(0, 2)) if n > 1 else 0)
    Q, cost, A, lower, upper, low, high = data
    point, value = least(*data)
    x, rows = point[:n], A[:-2, :n]
    assert point[n] == 0.0 and value == pytest.approx(cost[:n] @ x + 2.0 * x @ Q @ x, rel=1e-9, abs=1e-9)
    assert (x >= low[:n]).all() and (x <= high[:n]).all()
    assert (rows @ x <= upper[:-2] + 1e-7).all() and (rows @ x >= lower[:-2] - 1e-7).all()
    slope = cost[:n] + 4.0 * Q @ x
    A_ub, b_ub = rows[np.isinf(lower[:-2])], upper[:-2][np.isinf(lower[:-2])]
    A_eq, b_eq = rows[np.isfinite(lower[:-2])], upper[:-2][np.isfinite(lower[:-2])]
    vertex = linprog(slope, A_ub if len(A_ub) else None, b_ub if len(A_ub) else None, A_eq if len(A_eq) else None,
                     b_eq if len(A_eq) else None, np.column_stack([low, high])[:n])  # fmt: skip
    assert vertex.fun >= slope @ x - 1e-5 * (1 + abs(value))


def test_where_no_point_is_there_is_none():
    Q, cost, A, lower, upper, low, high = program(np.random.default_rng(0), 4, 3, 0)
    A = np.vstack([A, [1.0, 0, 0, 0, 0]])
    assert least(Q, cost, A, np.append(lower, 1e3), np.append(upper, np.inf), low, high) is None


def few_concave(seed, n, m, k):
    """As of bench/biconvex_heldin.py: x'Qx + c'x over rows, Q with k negative eigenvalues."""
    rng = np.random.default_rng(seed)
    V, _ = np.linalg.qr(rng.standard_normal((n, n)))
    values = np.concatenate([-rng.uniform(20, 100, k), rng.uniform(0, 100, n - k)])
    Q = np.round(4 * (V * values) @ V.T) / 4
    return gopfast.BiconvexProblem(
        rng.integers(-50, 51, n), Q=np.triu(Q) + np.triu(Q, 1),
        A=rng.integers(-3, 8, (m, n)), row_upper=rng.integers(2, 6, m) * n / 4, lower=0, upper=1,
    )  # fmt: skip


def solved(problem, **options):
    return gopfast.solve(problem, epsilon=1e-6, rel_tol=1e-6, log=False, time_limit=60, **options)


@pytest.mark.parametrize(("n", "m", "k"), [(50, 25, 1), (70, 35, 2)])
def test_trees_of_few_directions_are_small(n, m, k):
    """With tangents at solutions of programs alone their bounds stood still for thousands of nodes."""
    problem = few_concave(10, n, m, k)
    result = solved(problem, n_threads=1)
    assert result.status is gopfast.Status.OPTIMAL and result.n_nodes < 200
    # no point is below the bound
    rng = np.random.default_rng(1)
    for _ in range(300):
        z = np.clip(result.solution.z + rng.normal(size=n) * 10.0 ** rng.integers(-4, 0), 0, 1)
        value, is_feasible = problem.exact(z)
        assert not is_feasible or value >= result.bound


def test_results_are_equal_for_every_thread_count():
    found = [solved(few_concave(3, 20, 10, 3), n_threads=threads) for threads in (1, 2)]
    assert found[0].n_nodes == found[1].n_nodes > 10
    assert found[0].bound == found[1].bound and found[0].objective == found[1].objective


@pytest.mark.parametrize("seed", some(range(12)))
def test_no_feasible_point_is_below_the_bound(seed):
    """Of trees that a limit of nodes ends, which nothing has cut off at the best value."""
    rng = np.random.default_rng([seed, 9])
    n = int(rng.integers(8, 24))
    problem = few_concave(100 + seed, n, int(rng.integers(2, 6)), int(rng.integers(1, max(2, n // 6))))
    best = gopfast.solve(problem, epsilon=1e-9, rel_tol=1e-9, log=False, n_threads=1, time_limit=10)
    for most in (1, 3, 7, 20, 60):
        found = gopfast.solve(problem, epsilon=1e-9, rel_tol=1e-9, log=False, n_threads=1, max_nodes=most)
        for z in (best.solution.z, *rng.uniform(0, 1, (100, n)) ** rng.choice([1, 3])):
            value, is_feasible = problem.exact(z)
            assert not is_feasible or value >= found.bound
        assert found.bound <= best.objective + 1e-12 * abs(best.objective)
