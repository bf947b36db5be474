"""Rows that contradict each other, by planted multipliers; and rows with a planted point, which never do."""

import numpy as np
import pytest

from gopfast import BiconvexProblem
from gopfast.biconvex import contradiction
from gopfast.biconvex.lifting import Lifting


def drawn(rng, n, m):
    """Parts (Q, a) of rows, and multipliers that make their sum 0."""
    y = rng.integers(1, 4, m - 1).astype(float)
    parts = [(np.triu(rng.integers(-3, 4, (n, n)), 1).astype(float), rng.integers(-4, 5, n).astype(float))
             for _ in range(m - 1)]
    last = tuple(-sum(k * part[side] for k, part in zip(y, parts, strict=True)) for side in range(2))
    return [*parts, last], np.append(y, 1.0)


def found(problem):
    lifting = Lifting(problem)
    return contradiction.found(lifting, problem.lower, problem.upper)


@pytest.mark.parametrize("reach", [np.inf, 1e9, 1e3])
@pytest.mark.parametrize("gap", [1.0, 1e-3, 1e-6])
def test_planted_multipliers_are_found_however_small_the_gap_and_wide_the_box(gap, reach):
    rng = np.random.default_rng(int(-np.log10(gap)))
    for _ in range(10):
        n, m = int(rng.integers(2, 6)), int(rng.integers(2, 5))
        parts, y = drawn(rng, n, m)
        b = rng.integers(-4, 5, m).astype(float)
        b[-1] = -(y[:-1] @ b[:-1])
        b[-1] -= gap
        rows = [(*part, None, x) for part, x in zip(parts, b, strict=True)]
        assert found(BiconvexProblem(np.ones(n), quadratic_rows=rows, lower=-reach, upper=reach))


def test_a_feasible_problem_has_none():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 6))
        point = rng.integers(-3, 4, n).astype(float)
        lower, upper = point - rng.choice([0.0, 1.0, 1e9, np.inf], n), point + rng.choice([0.0, 1.0, 1e9, np.inf], n)
        rows = []
        for _ in range(int(rng.integers(1, 5))):
            Q, a = np.triu(rng.integers(-3, 4, (n, n))).astype(float), rng.integers(-4, 5, n).astype(float)
            value = float(a @ point + point @ Q @ point)
            rows.append((Q, a, *[(None, value), (value, None), (value, value)][int(rng.integers(3))]))
        assert not found(BiconvexProblem(np.ones(n), quadratic_rows=rows, lower=lower, upper=upper))


def test_squares_and_bounds_take_part():
    square, none = np.array([[1.0, -2.0], [0.0, 1.0]]), np.zeros((2, 2))
    # (x - y)^2 <= -1; (x - y - 1)^2 <= -1e-6; x y >= 7 in a box; x^2 + x <= -1
    cases = [
        ([(square, None, None, -1)], {}), ([(square, [-2, 2], None, -1 - 1e-6)], {}),
        ([(np.array([[0.0, 1], [0, 0]]), None, 7, None)], {"lower": -1, "upper": [2, 3]}),
        ([(np.diag([1.0, 0]), [1, 0], None, -1)], {}),
    ]  # fmt: skip
    for rows, bounds in cases:
        assert found(BiconvexProblem([1, 1], quadratic_rows=rows, **bounds))
    assert not found(BiconvexProblem([1, 1], quadratic_rows=[(square, [-2, 2], None, -1)]))
    assert not found(BiconvexProblem([1, 1], quadratic_rows=[(none, [1, 1], None, -1e12)]))
