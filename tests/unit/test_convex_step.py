"""Convex quadratic programs of a step: optimal where they have a solution, by their conditions; refused where none."""

import numpy as np
import pytest
from gopfast.biconvex.convex_step import ConvexStep
from scipy.optimize import linprog


def program(rng):
    """A program with equations, inequalities of small integers, so that many depend on others, and some bounds."""
    n = int(rng.integers(1, 7))
    n_equal = int(rng.integers(0, min(n, 3) + 1))
    m = n_equal + int(rng.integers(0, 6))
    rows, sides = rng.integers(-2, 3, (m, n)).astype(float), rng.integers(-2, 3, m).astype(float)
    root = rng.normal(size=(n, n))
    hessian = root @ root.T + 0.01 * np.eye(n)
    low = np.where(rng.random(n) < 0.3, -np.inf, -2.0 * rng.random(n))
    high = np.where(rng.random(n) < 0.3, np.inf, 2.0 * rng.random(n))
    return hessian, rng.normal(size=n), rows, sides, n_equal, low, high


def solve(hessian, gradient, rows, sides, n_equal, low, high):
    inverse = np.linalg.inv(np.linalg.cholesky(hessian))
    return ConvexStep(inverse, gradient, rows, sides, n_equal, low, high)


def has_a_point(rows, sides, n_equal, low, high):
    found = linprog(
        np.zeros(len(low)), -rows[n_equal:], -sides[n_equal:], rows[:n_equal], sides[:n_equal],
        bounds=np.column_stack([low, high]),
    )  # fmt: skip
    return found.status != 2


def test_steps_are_optimal_or_there_is_none():
    rng = np.random.default_rng(0)
    n_found = n_none = 0
    for _ in range(400):
        hessian, gradient, rows, sides, n_equal, low, high = case = program(rng)
        found = solve(*case)
        if not found.found:
            n_none += 1
            assert n_none > 60 or not has_a_point(rows, sides, n_equal, low, high)
            continue
        n_found += 1
        step, multipliers = found.step, found.multipliers
        slack = rows @ step - sides
        assert np.abs(slack[:n_equal]).max(initial=0.0) < 1e-8 and slack[n_equal:].min(initial=0.0) > -1e-8
        assert (step >= low - 1e-8).all() and (step <= high + 1e-8).all()
        assert multipliers[n_equal:].min(initial=0.0) >= 0.0
        assert np.abs(multipliers[n_equal:] * slack[n_equal:]).max(initial=0.0) < 1e-6
        # what is left of the gradient holds at a bound, from the right side
        left = hessian @ step + gradient - multipliers @ rows
        distance = np.where(left > 0.0, np.abs(step - low), np.abs(high - step))
        assert (distance[np.abs(left) > 1e-7] < 1e-6).all()
    assert n_found > 100 and n_none > 60


@pytest.mark.parametrize(("side", "found"), [(2.0, True), (2.5, False)])
def test_equations_that_depend_on_others_are_met_or_contradict_them(side, found):
    rows = np.array([[1.0, 1.0], [2.0, 2.0]])
    result = solve(np.eye(2), np.zeros(2), rows, np.array([1.0, side]), 2, np.full(2, -np.inf), np.full(2, np.inf))
    assert result.found is found
    if found:
        np.testing.assert_allclose(result.step, 0.5)
