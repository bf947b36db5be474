"""What a biconvex result claims, checked in rational arithmetic on the user's data."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import gopfast
from gopfast import BiconvexProblem, Status
from gopfast.biconvex import outcome

TOLERANCE = Fraction(1, 10**8)  # documented
PRODUCT = np.array([[0.0, 1.0], [0.0, 0.0]])


def terms(linear, Q, z):
    """Exact values of the terms of a'z + z'Qz, each product once."""
    values = [Fraction(a) * x for a, x in zip(linear, z, strict=True)]
    if Q is not None:
        Q = np.triu(Q) + np.tril(Q, -1).T
        n = len(z)
        values += [Fraction(Q[i, j]) * z[i] * z[j] for i in range(n) for j in range(i, n) if Q[i, j]]
    return values


def worst_violation(rows, z):
    """Greatest violation relative to max(1, greatest term), of rows (Q, linear, lower, upper)."""
    z = [Fraction(value) for value in z.tolist()]
    worst = Fraction(0)
    for Q, linear, lower, upper in rows:
        values = terms(linear, Q, z)
        size = max([Fraction(1), *map(abs, values)])
        over = [] if upper is None else [sum(values) - Fraction(upper)]
        under = [] if lower is None else [Fraction(lower) - sum(values)]
        worst = max([worst, *(excess / size for excess in over + under)])
    return worst


@pytest.mark.parametrize("bound", [5e4, 1e5, 1e6, 1e7, 1e9])
@pytest.mark.parametrize("sense", ["==", ">="])
def test_wide_bounds_do_not_loosen_a_product(bound, sense):
    rows = [(PRODUCT, [0, 0], 1, 1 if sense == "==" else None)]
    problem = BiconvexProblem([1, 1], quadratic_rows=rows, lower=0, upper=bound)
    result = gopfast.solve(problem, n_threads=1, time_limit=20)
    assert result.status is Status.OPTIMAL
    assert result.bound <= 2 and result.objective == pytest.approx(2.0, rel=2e-6)
    assert worst_violation(rows, result.solution.z) <= TOLERANCE


def test_wide_bounds_do_not_loosen_a_chain_of_products():
    Q, R = np.zeros((2, 3, 3))
    Q[0, 1] = R[1, 2] = 1.0
    rows = [(Q, [0, 0, 0], 1, None), (R, [0, 0, 0], 1, None)]
    problem = BiconvexProblem([1, 1, 1], quadratic_rows=rows, lower=0, upper=1e5)
    result = gopfast.solve(problem, n_threads=1, time_limit=20)
    # x = z, y = 1 / x: least of 2 x + 1 / x
    assert result.status is Status.OPTIMAL
    assert result.bound <= np.sqrt(8) and result.objective == pytest.approx(np.sqrt(8), rel=2e-6)
    assert worst_violation(rows, result.solution.z) <= TOLERANCE


@pytest.mark.parametrize("coefficient", [1e3, 1e8, 5e11])
def test_a_variable_fixed_at_zero_does_not_loosen_its_rows(coefficient):
    # x + y >= 3, 2 y >= 1 less what the fixed variable's terms are: nothing
    Q = np.zeros((3, 3))
    Q[0, 2] = coefficient
    rows = [(Q, [coefficient, 1, 1], 3, None), (None, [-coefficient, 0, 2], 1, None)]
    problem = BiconvexProblem(
        [0, 1, 1], quadratic_rows=[rows[0]], A=[rows[1][1]], row_lower=1, lower=[0, 0, 0], upper=[0, 10, 10]
    )
    result = gopfast.solve(problem, n_threads=1, time_limit=20)
    assert result.status is Status.OPTIMAL
    assert result.bound <= 3 and result.objective == pytest.approx(3.0, rel=2e-6)
    assert worst_violation(rows, result.solution.z) <= TOLERANCE


def test_a_row_of_variables_fixed_at_zero_alone_shows_that_nothing_is_feasible():
    problem = BiconvexProblem([0, 1], quadratic_rows=[(1e6 * PRODUCT, None, 1, 1)], lower=0, upper=[0, 1])
    assert gopfast.solve(problem, n_threads=1).status is Status.INFEASIBLE


@pytest.mark.parametrize(("low", "high"), [(1e-7, 1e7), (1e-12, 1.0), (1.0, 1e12)])
def test_factors_of_very_different_magnitudes(low, high):
    # x y = 1 at the bounds of x: y is 1 / x
    rows = [(PRODUCT, [0, 0], 1, 1)]
    for c, best in (([1, 0], low), ([0, 1], 1 / high)):
        problem = BiconvexProblem(c, quadratic_rows=rows, lower=[low, 0], upper=[high, 2 / low])
        result = gopfast.solve(problem, n_threads=1, time_limit=20, epsilon=1e-30, max_nodes=2000)
        assert result.bound <= best * (1 + 1e-15)
        if result.solution is not None:
            assert worst_violation(rows, result.solution.z) <= TOLERANCE
            assert result.objective >= best * (1 - 1e-7)
        else:
            assert result.status is not Status.OPTIMAL and result.objective == np.inf


@pytest.mark.parametrize("sense", ["min", "max"])
def test_the_objective_is_the_value_at_the_solution(sense):
    # integer data with copies, equations and free variables: what was changed or priced after it was evaluated
    n = checked = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(2, 5))
        Q = np.triu(rng.integers(-3, 4, (k, k))).astype(float)
        R = np.triu(rng.integers(-2, 3, (k, k))).astype(float)
        row = (R, rng.integers(-3, 4, k), None, float(rng.integers(1, 9)))
        problem = BiconvexProblem(
            rng.integers(-5, 6, k), Q=Q, quadratic_rows=[row], A=[rng.integers(-3, 4, k)], row_lower=-2, row_upper=2,
            lower=-float(rng.integers(1, 4)), upper=float(rng.integers(1, 4)), sense=sense, constant=0.5,
        )  # fmt: skip
        result = gopfast.solve(problem, n_threads=1, max_nodes=10)
        n += 1
        if result.solution is None:
            continue
        checked += 1
        z = [Fraction(x) for x in result.solution.z.tolist()]
        value = Fraction(1, 2) + sum(terms(problem.c, Q, z))
        assert float(abs(value - Fraction(result.objective))) <= 1e-13 * (1 + abs(result.objective))
        assert result.lower_bound <= result.objective <= result.upper_bound
        assert result.history[-1, 2:4].tolist() == [result.lower_bound, result.upper_bound]
    assert checked > n // 2


def test_a_point_that_uses_the_tolerance_is_told_from_a_wrong_bound():
    # feasible at (1, 1) alone; a violation of 1e-9 already allows 1 - 3e-5
    problem = BiconvexProblem(
        [1, 0], A=[[1, 1]], row_upper=2, quadratic_rows=[(PRODUCT, None, 1.0, None)], lower=0, upper=5
    )
    result = gopfast.solve(problem, n_threads=1)
    assert result.bound <= result.objective and result.bound <= 1.0
    # settled to a violation of rounding errors, which gains its square root
    assert 1.0 - result.objective <= 1e-6
    value, feasible = problem.exact([1.0, 1.0])
    assert value == 1 and feasible
    assert not problem.exact([1.0 - 1e-12, 1.0])[1]


def test_violations_are_relative_to_terms_at_the_point_not_to_bounds():
    problem = BiconvexProblem([1, 1], quadratic_rows=[(PRODUCT, None, 1, 1e12)], lower=0, upper=1e6)
    assert problem.violations([0, 0])[0] == 1
    assert problem.violations([1e3, 0.5e-3])[0] == 0.5
    assert problem.violations([-1, 0])[1] == 1
    # absolute, but for rows of small coefficients or small variables
    small = BiconvexProblem([1, 1], A=[[1e-3, 0]], row_lower=1e-3, lower=0, upper=1)
    assert small.violations([0, 0])[0] == pytest.approx(1)
    narrow = BiconvexProblem([1, 1], A=[[1, 0]], row_lower=1e-6, lower=0, upper=1e-6)
    assert narrow.violations([0, 0])[0] == pytest.approx(1)


def test_exact_values_are_those_of_every_kind_of_row():
    for z in itertools.product([0.1, 0.5, 3.0], repeat=2):
        x, y = map(Fraction, z)
        problem = BiconvexProblem(
            [1, 0], Q=PRODUCT, A=[[0.1, 0.2]], row_upper=0.5, quadratic_rows=[(PRODUCT, [0, 0.3], 0.1, None)],
            lower=0, upper=2.5, sense="max", constant=0.25,
        )  # fmt: skip
        value, feasible = problem.exact(z)
        assert value == -(Fraction(1, 4) + x + x * y)
        rows = Fraction(0.1) * x + Fraction(0.2) * y <= Fraction(0.5)
        assert feasible == (rows and x * y + Fraction(0.3) * y >= Fraction(0.1) and max(x, y) <= 2.5)


@pytest.mark.parametrize("seed", range(30))
def test_exact_values_are_those_of_rational_sums(seed):
    rng, n = np.random.default_rng(seed), 5
    c, z = (rng.uniform(1.0, 9.0, n) * 10.0 ** rng.integers(-99, 99, n) for _ in range(2))
    Q = rng.uniform(1.0, 9.0, (n, n)) * 10.0 ** rng.integers(-99, 99, (n, n)) * (rng.random((n, n)) < 0.6)
    Q, z[0], c[1] = Q + Q.T, -0.0, 0.0
    problem = BiconvexProblem(c, Q=Q, lower=np.minimum(z, 0.0), upper=np.maximum(z, 0.0))
    x = [Fraction(value) for value in z.tolist()]
    expected = sum(Fraction(a) * b for a, b in zip(c.tolist(), x, strict=True))
    entries = problem.Q.tocoo()
    for i, j, value in zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True):
        expected += Fraction(value) * x[i] * x[j]
    assert problem.exact(z) == (expected, True)


def test_extreme_magnitudes_do_not_raise_and_claim_nothing_wrong():
    coefficients, bounds = [1e100, -1e100, 1e-100, 1e50, 1e-50, 1e20, 1e-20, 1.0], [1e100, 1e-100, 1e20, 1e-300, 1.0]
    rng = np.random.default_rng(0)
    statuses = set()
    for _ in range(60):
        v, upper = rng.choice(coefficients, 6), rng.choice(bounds, 2)
        lower = rng.choice([0, -1], 2) * upper
        square = np.diag([abs(v[5]), 0]) * (rng.random() < 0.5)
        rows = [(PRODUCT * v[4] + square, [1, 1], rng.choice([-np.inf, 1, 0, 1e100]), rng.choice([np.inf, 1e100]))]
        row_upper = rng.choice(bounds)
        problem = BiconvexProblem(
            v[:2], Q=PRODUCT * v[2], A=[[v[3], 1]], row_upper=row_upper, quadratic_rows=rows, lower=lower, upper=upper
        )
        result = gopfast.solve(problem, n_threads=1, max_nodes=20, start=rng.choice([0, 1e99, -1e99, 1], 2))
        statuses.add(result.status)
        for point in itertools.product(*zip(lower, (lower + upper) / 2, upper, strict=True)):
            value, feasible = problem.exact(point)
            assert not feasible or result.bound <= value
        if result.solution is not None:
            assert problem.violations(result.solution.z).max() <= 1e-8
            assert result.objective == problem.objective(result.solution.z)
    assert {Status.OPTIMAL, Status.INFEASIBLE} <= statuses


def test_a_start_that_cannot_be_computed_with_is_named():
    problem = BiconvexProblem([1, 1], Q=PRODUCT, lower=0, upper=1)
    with pytest.raises(gopfast.InputError, match="^start must have entries"):
        gopfast.solve(problem, start=[1e300, 0])


@pytest.mark.parametrize("slope", [1e-8, 1e-10, 1e-12, 1e-13])
def test_nearly_parallel_rows_are_no_ray_and_what_lies_far_out_counts(slope):
    # z2 = z3, (1 + slope) z2 - z3 <= 5: z2 goes up to 5 / slope
    Q = np.zeros((4, 4))
    Q[0, 1] = 1.0
    problem = BiconvexProblem(
        [0, 0, -1, 0], Q=Q, A=[[0, 0, 1, -1], [0, 0, 1 + slope, -1]], row_lower=[0, -np.inf], row_upper=[0, 5],
        lower=[0, 0, 0, -np.inf], upper=[1, 1, np.inf, np.inf],
    )  # fmt: skip
    lowest = []
    result = gopfast.solve(problem, n_threads=1, max_nodes=50, callback=lambda state: lowest.append(state.lower))
    far = 4.9 / slope
    value, feasible = problem.exact([0.0, 0.0, far, far])
    assert feasible and value == -far
    assert result.status is not Status.UNBOUNDED and result.bound <= -far
    assert max(lowest) <= -far and (result.history[:, 2] <= -far).all()


def test_nothing_is_proved_infeasible_by_a_limit_of_ones_own():
    # feasible where z2 is 1e12 alone: far beyond what the other rows suggest
    Q = np.zeros((3, 3))
    Q[0, 1] = 1.0
    problem = BiconvexProblem(
        [0, 0, 1], Q=Q, A=[[1, 0, 1e-12]], row_lower=2, row_upper=3, lower=[0, 0, -np.inf], upper=[1, 1, np.inf]
    )
    result = gopfast.solve(problem, n_threads=1, max_nodes=50)
    assert problem.exact([1.0, 0.0, 1.5e12])[1]
    assert result.status is not Status.INFEASIBLE and result.bound <= 1.5e12


def test_a_free_variable_without_costs_is_no_obstacle_to_a_proof():
    Q = np.zeros((3, 3))
    Q[0, 1] = 1.0
    problem = BiconvexProblem([0, 0, 0], Q=Q, A=[[1, 0, 1]], row_lower=1, lower=[-1, -1, -np.inf], upper=[1, 1, np.inf])
    result = gopfast.solve(problem, n_threads=1)
    assert result.status is Status.OPTIMAL and result.bound <= -1 and result.objective == pytest.approx(-1, abs=1e-6)


def test_a_bound_above_an_exactly_feasible_point_is_an_error():
    problem = BiconvexProblem([1, 1], quadratic_rows=[(PRODUCT, None, 1, None)], lower=0, upper=4)
    with pytest.raises(RuntimeError, match="exceeds the incumbent"):
        outcome._check_below_bound(problem, np.array([1.0, 1.0]), 2.0 + 1e-12)
    outcome._check_below_bound(problem, np.array([1.0, 1.0 - 1e-12]), 2.0 + 1e-12)
    outcome._check_below_bound(problem, np.array([1.0, 1.0]), 2.0)
