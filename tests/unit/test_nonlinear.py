"""Nonlinear programs from points of the search: derivatives, all solvers, and incumbents that alternation misses."""

import numpy as np
import pytest
from gopfast.search.stop import StopSignal

import gopfast
from gopfast import BiconvexProblem
from gopfast.biconvex import nonlinear
from gopfast.biconvex.interior import InteriorPoint
from gopfast.biconvex.nonlinear import NonlinearProgram

INF = np.inf


def unit_box(seed, n, m):
    """Dense quadratic functions of both signs: no group of variables that alternation could move alone."""
    rng = np.random.default_rng(seed)

    def form():
        return np.triu(rng.integers(-10, 11, (n, n))).astype(float)

    rows = [(form(), rng.integers(-10, 11, n).astype(float), -INF, float(rng.integers(1, 20))) for _ in range(m)]
    return BiconvexProblem(rng.integers(-10, 11, n).astype(float), Q=form(), quadratic_rows=rows, lower=0, upper=1)


def mixed(seed, sense="min"):
    """Linear and quadratic rows of all kinds, variables of very different sizes."""
    rng = np.random.default_rng(seed)
    n, size = 5, 10.0 ** np.array([-3, 0, 2, 0, 5])
    return BiconvexProblem(
        rng.normal(size=n) / size, Q=rng.normal(size=(n, n)) / np.outer(size, size), A=rng.normal(size=(3, n)) / size,
        row_lower=[0, -INF, -1], row_upper=[0, 1, 1], lower=-size, upper=size, sense=sense, constant=7.0,
        quadratic_rows=[(rng.normal(size=(n, n)) / np.outer(size, size), rng.normal(size=n) / size, -0.5, upper)
                        for upper in (-0.5, 2.0, INF)],
    )  # fmt: skip


def program(problem, scale=None, stop=None):
    scale = np.ones(problem.n_variables) if scale is None else scale
    return NonlinearProgram(problem, problem.lower, problem.upper, scale, StopSignal() if stop is None else stop)



@pytest.mark.parametrize("sense", ["min", "max"])
def test_functions_are_those_of_the_problem_scaled(sense):
    problem = mixed(0, sense)
    scale = problem.upper / 4
    own, rng = program(problem, scale), np.random.default_rng(1)
    sign = 1.0 if sense == "min" else -1.0
    zero = own.values(np.zeros(5))
    assert (zero == 0).all()
    # every function is a multiple of the problem's, the objective a positive one
    x = rng.uniform(-4, 4, (6, 5))
    found = np.array([own.values(row) for row in x])
    wanted = np.array([[sign * (problem.objective(row * scale) - 7.0), *problem.row_values(row * scale)] for row in x])
    factor = found[0] / wanted[0]
    assert (factor > 0).all()
    np.testing.assert_allclose(found, factor * wanted, rtol=1e-12, atol=1e-12)
    lower, upper = problem.row_bounds
    np.testing.assert_allclose(own.lower, factor[1:] * lower, rtol=1e-12)
    np.testing.assert_allclose(own.upper, factor[1:] * upper, rtol=1e-12)


def test_derivatives_agree_with_differences():
    own, rng = program(mixed(2), mixed(2).upper), np.random.default_rng(3)
    x, step, weights = rng.uniform(-1, 1, 5), rng.uniform(-1, 1, 5), rng.normal(size=7)
    # differences of quadratic functions are exact but for rounding
    slope = 0.5 * (own.values(x + step) - own.values(x - step))
    np.testing.assert_allclose(own.jacobian(x) @ step, slope, atol=1e-13)
    second = own.values(x + step) - 2 * own.values(x) + own.values(x - step)
    hessian = nonlinear._hessian(own, x, weights[0], weights[1:]).toarray()
    np.testing.assert_allclose(step @ hessian @ step, weights @ second, atol=1e-12)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-13)
    np.testing.assert_allclose(own.dense_hessian(x, weights[0], weights[1:]), hessian, atol=1e-13)


def test_what_ipopt_is_given_is_the_same():
    own, rng = program(mixed(4)), np.random.default_rng(5)
    given, x, weights = nonlinear._ForIpopt(own), rng.uniform(-1, 1, 5), rng.normal(size=7)
    assert given.objective(x) == own.values(x)[0]
    np.testing.assert_array_equal(given.constraints(x), own.values(x)[1:])
    np.testing.assert_allclose(given.gradient(x), own.jacobian(x)[0])
    dense = np.zeros((6, 5))
    dense[given.jacobianstructure()] = given.jacobian(x)
    np.testing.assert_allclose(dense, own.jacobian(x)[1:])
    rows, columns = given.hessianstructure()
    assert (rows >= columns).all()
    lower = np.zeros((5, 5))
    lower[rows, columns] = given.hessian(x, weights[1:], weights[0])
    np.testing.assert_allclose(lower, np.tril(nonlinear._hessian(own, x, weights[0], weights[1:]).toarray()))


@pytest.mark.parametrize("most_dense", [nonlinear.MOST_DENSE, 0], ids=["quadratic programs", "interior point"])
def test_without_ipopt_the_optimum_of_a_convex_problem_is_found(most_dense, monkeypatch):
    monkeypatch.setattr(nonlinear, "MOST_DENSE", most_dense)
    check_a_convex_problem(nonlinear._own, monkeypatch)


def test_where_quadratic_programs_miss_rows_an_interior_point_goes_on(monkeypatch):
    monkeypatch.setattr(nonlinear, "_by_steps", lambda own, x: np.full(3, 7.0))
    check_a_convex_problem(nonlinear._own, monkeypatch)


def test_more_equations_than_variables_do_not_end_the_interpreter(monkeypatch):
    # SLSQP, with inequalities beside them, wrote past the end of its arrays: "double free or corruption"
    monkeypatch.setattr(nonlinear, "_solver", lambda: nonlinear._own)
    rng = np.random.default_rng(0)
    rows, point = rng.normal(size=(50, 10)), rng.normal(size=10)
    values = rows @ point
    problem = BiconvexProblem(
        np.zeros(10), Q=np.eye(10), A=rows, row_lower=np.append(values[:30], np.full(20, -INF)),
        row_upper=np.append(values[:30], values[30:] + 1.0), lower=-9, upper=9,
    )  # fmt: skip
    np.testing.assert_allclose(program(problem).search(np.zeros(10)), point, atol=1e-4)


def test_ipopt_finds_the_optimum_of_a_convex_problem(monkeypatch):
    pytest.importorskip("cyipopt")
    check_a_convex_problem(nonlinear._by_ipopt, monkeypatch)


def check_a_convex_problem(solver, monkeypatch):
    monkeypatch.setattr(nonlinear, "_solver", lambda: solver)
    # the nearest point to (3, 4, 5) on the plane z = 2 within the unit disc about 0 of x and y
    problem = BiconvexProblem(
        [-6, -8, -10], Q=np.eye(3), quadratic_rows=[(np.diag([1.0, 1, 0]), None, -INF, 1.0)], A=[[0, 0, 2.0]],
        row_lower=4, row_upper=4, constant=50,
    )  # fmt: skip
    found = program(problem).search(np.zeros(3))
    np.testing.assert_allclose(found, [0.6, 0.8, 2.0], atol=1e-4)


def test_without_rows_and_with_bounds_alone():
    problem = BiconvexProblem([1.0, -1.0], Q=[[0, 1], [0, 0]], lower=[0, -2], upper=[3, 2])
    np.testing.assert_allclose(program(problem).search(np.array([2.0, -1.0])), [3, -2], atol=1e-9)


def test_a_search_ends_with_its_signal_and_where_nothing_can_be_computed():
    problem = mixed(6)
    assert program(problem, stop=StopSignal(0.0)).search(np.zeros(5)) is None
    huge = BiconvexProblem([0.0, 0], Q=np.full((2, 2), 1e90), lower=-1e99, upper=1e99)
    with np.errstate(all="ignore"):
        found = program(huge).search(np.full(2, 1e99))
    assert found is None or np.isfinite(found).all()


# of alternation alone -11.0 and -1.3
@pytest.mark.parametrize(("seed", "good"), [(0, -15.0), (1, -8.3)])
def test_first_incumbents_of_dense_problems_are_good(seed, good):
    result = gopfast.solve(unit_box(seed, 10, 5), n_threads=1, max_nodes=1)
    assert result.solution.max_violation <= 1e-8
    assert result.objective <= good


@pytest.mark.parametrize("seed", [4, 5])
def test_first_incumbents_of_power_flows_are_better_than_those_of_alternation(seed, monkeypatch):
    result = gopfast.solve(voltages(seed), n_threads=1, max_nodes=1)
    assert result.solution.max_violation <= 1e-8
    monkeypatch.setattr(NonlinearProgram, "search", lambda *_: None)
    without = gopfast.solve(voltages(seed), n_threads=1, max_nodes=1)
    assert result.objective < without.objective - 0.01


def voltages(seed, n=5):
    """Power flow in rectangular voltages: quadratic equations, one generator in three buses, a ring."""
    rng = np.random.default_rng(seed)
    G, B = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        j = (i + 1) % n
        for matrix, weight in ((G, rng.uniform(1, 4)), (B, -rng.uniform(5, 15))):
            matrix[[i, j], [i, j]] += weight
            matrix[[i, j], [j, i]] -= weight
    n_generators = len(range(0, n, 3))
    # e, f, then active and reactive powers
    size = 2 * n + 2 * n_generators
    rows = []
    for i in range(n):
        active, reactive = np.zeros((size, size)), np.zeros((size, size))
        active[i, :n], active[i, n : 2 * n] = G[i], -B[i]
        active[n + i, n : 2 * n], active[n + i, :n] = G[i], B[i]
        reactive[n + i, :n], reactive[n + i, n : 2 * n] = G[i], -B[i]
        reactive[i, n : 2 * n], reactive[i, :n] = -G[i], -B[i]
        for number, (Q, load) in enumerate(((active, rng.uniform(0.3, 1)), (reactive, rng.uniform(0.1, 0.3)))):
            a = np.zeros(size)
            if i % 3 == 0:
                a[2 * n + number * n_generators + i // 3] = -1.0
            rows.append((Q, a, -load, -load))
        rows.append((np.diag((np.arange(size) % n == i) * (np.arange(size) < 2 * n) * 1.0), None, 0.81, 1.21))
    cost = np.zeros(size)
    cost[2 * n : 2 * n + n_generators] = rng.integers(1, 6, n_generators)
    lower, upper = np.full(size, -1.1), np.full(size, 1.1)
    lower[2 * n :], upper[2 * n :] = [0.0] * n_generators + [-3.0] * n_generators, 4.0
    lower[0] = lower[n] = upper[n] = 0.0
    return BiconvexProblem(cost, quadratic_rows=rows, lower=lower, upper=upper)


def test_an_interior_point_polls_the_signal(monkeypatch):
    monkeypatch.setattr(nonlinear, "MOST_DENSE", 0)
    stop = StopSignal()
    one = program(mixed(3), stop=stop)
    found = InteriorPoint(one, np.zeros(one.n))
    stop.caught(KeyboardInterrupt())
    with pytest.raises(nonlinear.Stopped):
        found.search()
