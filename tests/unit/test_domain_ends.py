"""Solutions at the ends of functions' domains: arguments in rationals, and points that are exactly there."""

import math
from fractions import Fraction

import numpy as np
import pytest

import gopfast
from gopfast import PolynomialProblem
from gopfast.biconvex.domain_ends import DomainEnds

# x - y is 0.25, and 1e-17 more is the same in floats
CANCELLED = np.array([0.75, 0.5, 1e-17])


def problem(text, rows=(), **bounds):
    return PolynomialProblem(text, list(rows), {name: bounds.get(name, (-1, 1)) for name in "xyz"})


def test_arguments_are_evaluated_exactly():
    made = problem("(z + x - y - 0.25)^0.37")
    assert made.completed(CANCELLED)[-1] == 0.0
    assert made.objective(CANCELLED) == pytest.approx(1e-17**0.37, rel=1e-12)
    bounded = problem("x", rows=["(z + x - y - 0.25)^0.37 <= 0"])
    assert bounded.violations(CANCELLED).max() == pytest.approx(1e-17**0.37, rel=1e-12)


def test_values_are_those_in_floats_where_nothing_cancels():
    made = problem("(2 + x*y)^(1/3) + abs(x - z) + (1 + x)^(2/5)*exp(y) - x/(3 + z)", rows=["sqrt(2 + x*y*z) <= 1"])
    rng = np.random.default_rng(4)
    for _ in range(50):
        x, y, z = point = rng.uniform(-1, 1, 3)
        value = np.cbrt(2 + x * y) + abs(x - z) + (1 + x) ** 0.4 * math.exp(y) - x / (3 + z)
        assert made.objective(point) == pytest.approx(value, rel=1e-12, abs=1e-12)
        in_floats = made.completed(point)[: len(made.model.names)]
        np.testing.assert_allclose(DomainEnds(made.model).values(point), in_floats, rtol=1e-12, atol=1e-12)


def test_what_is_not_defined_has_no_values():
    made = PolynomialProblem("log(x) + 1/y", [], {"x": (0, 1), "y": (1, 2)})
    assert DomainEnds(made.model).values(np.array([0.0, 1.0])) is None
    assert math.isinf(made.violations(np.array([0.0, 1.0])).max())


def test_an_argument_of_another_functions_value_is_shifted():
    # exp(1e-17) is 1 in floats, and its excess over 1 counts by what rounding may hide
    made = PolynomialProblem("x", ["(exp(x) - 1)^0.25 <= 0"], {"x": (-1, 1)})
    hidden = (2.0**-51) ** 0.25
    assert made.violations(np.array([1e-17])).max() > hidden / 2
    assert made.violations(np.array([0.0])).max() == 0.0  # e^0 is 1 exactly


def test_points_near_an_end_are_moved_to_it():
    made = problem("x", rows=["(3*x - 2*y - 0.25 + z)^0.37 <= 0"])
    point = np.array([0.1, 0.3, 0.55 + 3e-14])
    assert made.violations(point).max() > 1e-6
    moved = list(made.near_ends(point))
    assert moved
    for near in moved:
        assert np.abs(near - point).max() < 1e-7
        x, y, z = map(Fraction, near.tolist())
        assert 3 * x - 2 * y - Fraction(1, 4) + z == 0
        assert made.violations(near).max() == 0.0
    assert not list(made.near_ends(np.array([0.5, 0.3, 0.2])))  # nothing is near 0 there


def test_bounds_are_kept():
    made = problem("x", rows=["(x - y)^0.37 <= 0"], x=(-1, 0.3), y=(0.1, 1))
    for near in made.near_ends(np.array([0.3, 0.3 + 1e-12, 0.0])):
        assert near[0] == near[1] == 0.3


def test_a_solution_is_inside_the_domain_where_a_double_is():
    for goal in ("2*x - 3*y", "x", "-y"):
        made = PolynomialProblem(goal, ["(2*x - 3*y - 15)^(2/3) <= 1"], {"x": (-3, 3), "y": (-3, 3)})
        result = gopfast.solve(made, n_threads=1)
        x, y = map(Fraction, result.solution.z.tolist())
        assert 2 * x - 3 * y >= 15
        assert made.is_inside(result.solution.z)
        assert not made.is_inside(np.array([3 - 1e-12, -3.0]))


def test_an_optimum_of_zero_in_a_box_that_rows_narrow_to_nothing_is_proved():
    rows = ["(-z0 - 3*z1 - 1)^(1/3) + z0 <= 0.125", "(-2*z1)^0.5 <= 1"]
    result = gopfast.solve(PolynomialProblem("-2*z1", rows, {"z0": (-1, 3), "z1": (-1, 1)}), n_threads=1)
    assert (result.status, result.objective) == (gopfast.Status.OPTIMAL, 0.0)


def test_a_search_keeps_some_of_the_tolerance_for_points_that_are_moved():
    rows = ["0.5*(2.75*z0 + 1.5*z1 + 1.8125)^0.37 <= 0"]
    made = PolynomialProblem("-0.25*z0 - 0.25*z1", rows, {"z0": (-2.5, 2), "z1": (-0.75, 3)})
    assert made.is_steep and not PolynomialProblem("abs(z0)", [], {"z0": (-1, 1)}).is_steep
    result = gopfast.solve(made, n_threads=1)
    assert result.status is gopfast.Status.OPTIMAL and result.solution.max_violation <= 1e-8


def test_rows_are_met_by_variables_of_their_own():
    made = PolynomialProblem("x", ["(x - y)^0.37 + 8*y + s == 3"], {"x": (0, 1), "y": (0, 1), "s": (-9, 9)})
    point = np.array([0.25 + 1e-12, 0.25, 0.0])
    for near in made.near_ends(point):
        assert near[2] == 1.0
        assert made.violations(near).max() == 0.0


def test_the_problem_of_the_fuzz_that_failed_is_solved_within_the_tolerance():
    rows = ["1.75*(-z0 - z2)*(z0 - 0.5*z1 - z2 + 2.75)^0.37 <= 0", "-z1 - z0 <= 0.25"]
    bounds = {"z0": (-2, 1), "z1": (-1, 3), "z2": (-1, 1)}
    for goal in ("z0 + z2", "z0 - z2", "z1 + 3*z0", "z2 - z1"):
        result = gopfast.solve(PolynomialProblem(goal, rows, bounds), n_threads=1)
        assert result.status is gopfast.Status.OPTIMAL
        z0, z1, z2 = map(Fraction, result.solution.z.tolist())
        base = z0 - z1 / 2 - z2 + Fraction(11, 4)
        assert 1.75 * float(-z0 - z2) * float(max(base, 0)) ** 0.37 <= 1.01e-8


@pytest.mark.parametrize("sense", ["min", "max"])
def test_magnitudes_are_those_of_a_grid(sense):
    text, rows = "abs(x - 0.3*y) - 2*abs(y - x*z) + abs(z)*x", ["abs(x + y) + abs(z) <= 1.5"]
    made = PolynomialProblem(text, rows, {name: (-1, 1) for name in "xyz"}, sense=sense)
    result = gopfast.solve(made, n_threads=1)
    axis = np.linspace(-1, 1, 81)
    x, y, z = (part.ravel() for part in np.meshgrid(axis, axis, axis))
    values = (np.abs(x - 0.3 * y) - 2 * np.abs(y - x * z) + np.abs(z) * x)[np.abs(x + y) + np.abs(z) <= 1.5 + 1e-12]
    best, sign = (values.min(), 1) if sense == "min" else (values.max(), -1)
    assert result.status is gopfast.Status.OPTIMAL
    assert sign * result.bound <= sign * best + 1e-9
    assert sign * result.objective >= sign * best - 0.2  # the grid is coarse


def test_fractions_are_functions_with_their_convex_hull():
    made = PolynomialProblem("y - x^(2/3)", [], {"x": (0, 8), "y": (0, 1)})
    assert [name.rstrip("0123456789") for name in made.model.names[2:]] == ["power"]
    result = gopfast.solve(made, n_threads=1)
    assert (result.status, result.n_nodes) == (gopfast.Status.OPTIMAL, 1)
    assert result.objective == pytest.approx(-4)


@pytest.mark.parametrize(
    "rows", [["30*(-0.25*x)^1.5 <= 1"], ["0.5*x^0.2 + x - y <= 0", "x <= 0"], ["(-x)*log(-x) <= 1"]]
)
def test_a_solution_is_inside_every_domain_where_a_double_is(rows):
    for goal in ("-1.5*x", "x", "x - y"):
        made = PolynomialProblem(goal, rows, {"x": (-1.25, 1.5), "y": (0, 1)})
        result = gopfast.solve(made, n_threads=1)
        assert result.status is gopfast.Status.OPTIMAL and made.is_inside(result.solution.z)
