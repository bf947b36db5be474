"""Searches of problems with functions of one variable against dense grids of their variables, and boxes of theirs."""

import functools
import math

import numpy as np
import pytest
from gopfast.biconvex.bilinear import BilinearRelaxation

import gopfast
from gopfast import PolynomialProblem
from gopfast.biconvex.lifting import Lifting

# Objective, constraints f <= 0 and box
PROBLEMS = [
    ("exp(-x)*x^2 - log(x)", [], {"x": (0.1, 8)}),
    ("x*log(x)*exp(x/2) - 3*x", [], {"x": (0, 3)}),
    ("x^2.7 - 4*x^1.3 + x^0.2", ["log(x) - 1/x - 0.5"], {"x": (0.2, 4)}),
    ("exp(x*y) - x^3*y", ["x^2 + exp(y) - 4"], {"x": (-2, 2), "y": (-2, 2)}),
    ("x*log(x/(x + y)) + y*log(y/(x + y)) + 1.9*x*y/(x + y)", ["0.3 - x", "x + y - 1.2"],
     {"x": (0.1, 1), "y": (0.1, 1)}),
    ("(x + y)*log(x + y)*(x - y)", ["exp(x) - 3*y - 1"], {"x": (0, 2), "y": (0, 2)}),
    ("x**y - y**x", ["x*y - 4"], {"x": (0.5, 3), "y": (0.5, 3)}),
    ("abs(x - y)^1.5*log(1 + x) - 2**x", [], {"x": (0, 3), "y": (0, 3)}),
    ("z*exp(-x) - x*y*log(z)", ["x*y*z - 2", "0.5 - log(x + y + z)"], {"x": (0, 2), "y": (0.5, 2), "z": (0.25, 2)}),
    ("max(x, y^2, 1 - x) - min(x*y, 0.5, x - y)", ["abs(x - y) - 1"], {"x": (-1, 2), "y": (-1, 1)}),
    ("min(x, exp(-x*y))*max(y, 0.25)", ["max(x, 2*y) - 2.5"], {"x": (-1, 2), "y": (-1, 2)}),
    ("x^0.6*y^0.3*z^(-0.9) + exp(z - x)", ["1 - x^0.5 - y*z"], {"x": (0.1, 3), "y": (0.1, 3), "z": (0.2, 2)}),
]
POINTS = {1: 20001, 2: 401, 3: 61}


def on_grid(text, points):
    """Values on a grid; x log x is 0 at 0."""
    names = points | {"log": np.log, "exp": np.exp, "abs": np.abs}
    names |= {"max": lambda *all_of: functools.reduce(np.maximum, all_of),
              "min": lambda *all_of: functools.reduce(np.minimum, all_of)}  # fmt: skip
    with np.errstate(all="ignore"):
        values = eval(text.replace("^", "**"), {}, names) + 0.0 * next(iter(points.values()))
        nudged = {name: axis + 1e-15 for name, axis in points.items()}
        again = eval(text.replace("^", "**"), {}, names | nudged) + 0.0 * next(iter(points.values()))
    return np.where(np.isnan(values), again, values)


def feasible(problem):
    """Grid points that meet the constraints, and their objectives."""
    objective, rows, box = problem
    axes = [np.linspace(low, high, POINTS[len(box)]) for low, high in box.values()]
    points = dict(zip(box, (axis.ravel() for axis in np.meshgrid(*axes)), strict=True))
    inside = np.ones(next(iter(points.values())).shape, bool)
    for row in rows:
        inside &= on_grid(row, points) <= 0
    values = on_grid(objective, points)
    inside &= np.isfinite(values)
    return np.column_stack([axis[inside] for axis in points.values()]), values[inside]


def made(problem, sense="min"):
    objective, rows, box = problem
    return PolynomialProblem(objective, [f"{row} <= 0" for row in rows], box, sense=sense)


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("problem", PROBLEMS, ids=[text for text, *_ in PROBLEMS])
def test_no_bound_is_beyond_the_best_of_a_grid(problem, sense):
    points, values = feasible(problem)
    sign = 1.0 if sense == "min" else -1.0
    best = (sign * values).min()
    result = gopfast.solve(made(problem, sense), n_threads=1)
    rounding = 1e-12 * (1.0 + abs(best))
    assert sign * result.bound <= best + rounding
    assert result.success and result.solution.max_violation <= 1e-8
    assert sign * result.objective <= best + 1e-6 * (1.0 + abs(best))
    # and a grid is dense: what is found is not far below it
    assert sign * result.objective >= best - 0.1 * (1.0 + abs(best))


@pytest.mark.parametrize("problem", PROBLEMS, ids=[text for text, *_ in PROBLEMS])
@pytest.mark.parametrize("seed", range(3))
def test_no_box_is_bounded_above_its_points(problem, seed):
    """Bounds of boxes before they are clipped; tightened boxes keep all feasible points, but for their rounding."""
    rng = np.random.default_rng(seed)
    points, values = feasible(problem)
    own = made(problem)
    lifting = Lifting(own.lifted)
    data, scale, unit = lifting.data(lifting.low, lifting.high)
    relaxed = BilinearRelaxation(data)
    for _ in range(25):
        center, width = points[rng.integers(len(points))], 10.0 ** rng.uniform(-6, 0)
        near = np.argsort(np.abs(points - center).max(axis=1))[:3]
        chosen = [k for k in near if np.abs(points[k] - center).max() <= width]
        core = np.array([lifting.to_core(own.completed(points[k]), scale) for k in chosen])
        if not np.isfinite(core).all():
            continue
        low, high = data.box
        margin = rng.uniform(0, width)
        low, high = np.maximum(low, core.min(axis=0) - margin), np.minimum(high, core.max(axis=0) + margin)
        bound, tight_low, tight_high, _, _ = relaxed.bound_box(low, high)
        least = min(values[k] for k in chosen) / unit
        # values of what formulas made are rounded
        assert bound <= least + 1e-11 * (1.0 + np.abs(core).max() + abs(least)), (chosen, width)
        off = 1e-11 * (1.0 + np.abs(core))
        assert (tight_low <= core + off).all() and (core - off <= tight_high).all()


def test_a_grid_tells_a_wrong_bound():
    points, values = feasible(PROBLEMS[0])
    result = gopfast.solve(made(PROBLEMS[0]))
    assert result.bound <= values.min() < result.bound + 1e-4 and math.isfinite(result.bound)
