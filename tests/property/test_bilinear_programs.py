"""Random small bilinear programs: bounds bracket the optimum of an independent brute force."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.bilinear_brute_force import attained
from support.settings import examples

import gopfast
from gopfast import Status

# Relative gap that is asked for
TOLERANCE = 1.1e-6
FEASIBLE = 1e-6
SELECTION = {"subproblem": "milp", "relaxation": "linear"}


@st.composite
def programs(draw, max_x=2, max_y=3):
    """Bilinear objective and rows, linear rows, all kinds of senses; feasible at a point, or not surely."""
    n_x, n_y = draw(st.integers(1, max_x)), draw(st.integers(1, max_y))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n = n_x + n_y

    def form():
        Q = np.zeros((n, n))
        Q[:n_x, n_x:] = rng.integers(-3, 4, (n_x, n_y)) * (rng.random((n_x, n_y)) < 0.6)
        return Q

    lower = -rng.integers(0, 3, n).astype(float)
    upper = lower + rng.integers(1, 5, n)
    z = lower + (upper - lower) * rng.random(n)
    m = draw(st.integers(0, 3))
    A = rng.integers(-3, 4, (m, n)).astype(float)
    room = draw(st.sampled_from([0.0, 0.5, 2.0, -2.0]))
    row_upper = np.round(4 * (A @ z + room)) / 4
    row_lower = np.full(m, -np.inf)
    if m and draw(st.booleans()):
        row_lower[0] = row_upper[0] - draw(st.sampled_from([0.0, 1.0]))
    rows = []
    for sense in draw(st.lists(st.sampled_from(["<=", ">=", "=="]), max_size=2)):
        Q, a = form(), rng.integers(-2, 3, n).astype(float)
        value = a @ z + z @ Q @ z
        rows.append((Q, a, None if sense == "<=" else value, None if sense == ">=" else value))
    problem = gopfast.BiconvexProblem(
        rng.integers(-4, 5, n), Q=form(), A=A if m else None, row_lower=row_lower if m else None,
        row_upper=row_upper if m else None, quadratic_rows=rows, lower=lower, upper=upper, constant=float(m),
    )  # fmt: skip
    return problem, n_x


@examples(25)
@given(programs())
def test_bounds_bracket_the_brute_force_optimum(program):
    problem, n_x = program
    result = gopfast.solve(problem, n_threads=1, max_nodes=20_000)
    reference = attained(problem, n_x, n_grid=5 if n_x == 2 else 9, n_refinements=4)
    assert result.status in (Status.OPTIMAL, Status.INFEASIBLE)
    scale = 1.0 + abs(reference) if np.isfinite(reference) else 1.0
    assert result.bound <= reference + 1e-9 * scale
    if result.status is Status.INFEASIBLE:
        assert reference == np.inf
        return
    assert result.objective <= reference + TOLERANCE * scale
    assert result.solution.max_violation <= FEASIBLE
    assert result.bound <= result.objective
    assert problem.objective(result.solution.z) == pytest.approx(result.objective, rel=1e-7, abs=1e-7)


@examples(10)
@given(programs(), st.sampled_from([1e-6, 1e6]))
def test_scaling_changes_nothing(program, factor):
    problem, _ = program
    # the variables in other units, or the objective and every row
    base = gopfast.solve(problem, n_threads=1, max_nodes=20_000)
    units = gopfast.BiconvexProblem(
        problem.c / factor, Q=problem.Q / factor**2, A=problem.A / factor, row_lower=problem.row_lower,
        row_upper=problem.row_upper, lower=problem.lower * factor, upper=problem.upper * factor,
        quadratic_rows=[(row.Q / factor**2, row.a / factor, row.lower, row.upper) for row in problem.quadratic_rows],
        constant=problem.constant,
    )  # fmt: skip
    rows = gopfast.BiconvexProblem(
        problem.c * factor, Q=problem.Q * factor, A=problem.A * factor, row_lower=problem.row_lower * factor,
        row_upper=problem.row_upper * factor, lower=problem.lower, upper=problem.upper,
        quadratic_rows=[(row.Q * factor, row.a * factor, row.lower * factor, row.upper * factor)
                        for row in problem.quadratic_rows],
        constant=problem.constant * factor,
    )  # fmt: skip
    for scaled, unit in ((units, 1.0), (rows, factor)):
        result = gopfast.solve(scaled, n_threads=1, max_nodes=20_000)
        assert result.status is base.status
        if base.status is Status.OPTIMAL:
            assert result.objective / unit == pytest.approx(base.objective, rel=2e-6, abs=1e-5)


@pytest.mark.parametrize("options", [{}, SELECTION], ids=["bisect", "milp"])
def test_the_result_does_not_depend_on_the_number_of_threads(options):
    @examples(8)
    @given(programs())
    def check(program):
        problem, _ = program
        one, *others = (gopfast.solve(problem, n_threads=n, max_nodes=2000, **options) for n in (1, 2, 4))
        for other in others:
            for name in ("objective", "bound", "n_nodes", "n_lps", "n_milps"):
                assert getattr(other, name) == getattr(one, name)

    check()


@examples(8)
@given(programs())
def test_maximising_is_minimising_the_negative(program):
    problem, _ = program
    least = gopfast.solve(problem, n_threads=1, max_nodes=20_000)
    negative = gopfast.BiconvexProblem(
        -problem.c, Q=-problem.Q, A=problem.A, row_lower=problem.row_lower, row_upper=problem.row_upper,
        quadratic_rows=problem.quadratic_rows, lower=problem.lower, upper=problem.upper, sense="max",
        constant=-problem.constant,
    )  # fmt: skip
    greatest = gopfast.solve(negative, n_threads=1, max_nodes=20_000)
    assert greatest.status is least.status
    assert greatest.bound == -least.bound and greatest.objective == -least.objective
    assert greatest.gap >= 0


@pytest.mark.parametrize(
    "options", [{"branching": "orthant"}, {"partition": "paper", "relaxation": "linear"}, SELECTION],
    ids=["orthant", "paper", "milp"],
)  # fmt: skip
def test_other_partitions_of_a_node_find_the_same_optimum(options):
    @examples(8)
    @given(programs())
    def check(program):
        problem, n_x = program
        base = gopfast.solve(problem, n_threads=1, max_nodes=20_000)
        other = gopfast.solve(problem, n_threads=1, max_nodes=20_000, **options)
        assert other.status is base.status
        if base.status is Status.OPTIMAL:
            assert other.objective == pytest.approx(base.objective, rel=2e-6, abs=1e-6)
            reference = attained(problem, n_x, n_grid=5 if n_x == 2 else 9, n_refinements=4)
            assert other.bound <= reference + 1e-9 * (1 + abs(reference))

    check()
