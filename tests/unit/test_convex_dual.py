"""Bounds by convex Lagrangians: exact where a problem is convex or in a ball, and below every feasible point."""

import math
from fractions import Fraction

import numpy as np
import pytest
from gopfast.search.stop import StopSignal
from hypothesis import given, strategies as st
from support.settings import examples

import gopfast
from gopfast import BiconvexProblem, Status
from gopfast.biconvex import convex_dual
from gopfast.biconvex.lifting import Lifting

INF = math.inf


def triangle(P):
    return np.triu(P) + np.triu(P, 1)


def convex(seed, n, width, rank=None):
    rng = np.random.default_rng(seed)
    G = rng.integers(-3, 4, (rank or n, n)).astype(float)
    return BiconvexProblem(
        rng.integers(-9, 10, n), Q=triangle(G.T @ G), A=rng.integers(-3, 4, (6, n)), row_upper=rng.integers(1, 20, 6),
        lower=-width, upper=width,
    )  # fmt: skip


def ball(seed, n, radius):
    rng = np.random.default_rng(seed)
    form = np.triu(rng.integers(-9, 10, (n, n))).astype(float)
    rows = [(np.eye(n), np.zeros(n), None, radius)]
    return BiconvexProblem(rng.integers(-9, 10, n), Q=form, quadratic_rows=rows, lower=-100, upper=100)


@pytest.mark.parametrize(("seed", "n", "rank"), [(0, 16, 16), (1, 16, 16), (2, 16, 16), (3, 20, 16), (4, 12, 8)])
def test_a_convex_program_within_wide_bounds_is_proved_at_the_root(seed, n, rank):
    """Definite ones and singular ones."""
    result = gopfast.solve(convex(seed, n, 1000.0, rank), epsilon=1e-6, rel_tol=1e-9, n_threads=1, log=False)
    assert result.status is Status.OPTIMAL and result.n_nodes == 1


@pytest.mark.parametrize(("seed", "n"), [(0, 6), (1, 12), (2, 20)])
def test_an_indefinite_form_in_a_ball_is_proved_at_the_root(seed, n):
    problem = ball(seed, n, 50.0)
    result = gopfast.solve(problem, epsilon=1e-6, rel_tol=1e-7, n_threads=1, log=False)
    assert result.status is Status.OPTIMAL and result.n_nodes == 1
    # no point of the ball is better
    rng = np.random.default_rng(seed)
    for _ in range(200):
        z = rng.normal(size=n)
        z *= math.sqrt(50.0) / np.linalg.norm(z)
        for trial in (z, result.solution.z + 1e-3 * z):
            trial = trial * min(1.0, math.sqrt(50.0) / np.linalg.norm(trial))
            assert problem.objective(trial) >= result.bound - 1e-9


@examples(300)
@given(st.integers(0, 10**9))
def test_no_feasible_point_is_below(seed):
    """Data are integers, and bounds and points dyadic, so that the values of points are exact."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    G = rng.integers(-2, 3, (int(rng.integers(1, n + 2)), n)).astype(float)
    Q = triangle(G.T @ G) if rng.random() < 0.5 else np.triu(rng.integers(-4, 5, (n, n))).astype(float)
    c = rng.integers(-5, 6, n).astype(float)
    planted = rng.integers(-8, 9, n) / 4.0
    rows = []
    for _ in range(int(rng.integers(0, 3))):
        F = rng.integers(-2, 3, (n, n)).astype(float)
        P, a = F.T @ F + rng.integers(0, 2) * np.eye(n), rng.integers(-3, 4, n).astype(float)
        rows.append((triangle(P), a, -INF, float(planted @ P @ planted + a @ planted + rng.integers(0, 5))))
    lower = np.where(rng.random(n) < 0.7, planted - rng.integers(0, 9, n), -INF)
    upper = np.where(rng.random(n) < 0.7, planted + rng.integers(0, 9, n), INF)
    problem = BiconvexProblem(c, Q=Q, quadratic_rows=rows, lower=lower, upper=upper)
    lifting = Lifting(problem, stop=StopSignal())
    # any point will do: multipliers and minimisers are what they are there
    for point in (planted, planted + rng.normal(size=n), 10.0 * rng.normal(size=n)):
        bound, _ = convex_dual.find(lifting, problem.lower, problem.upper, np.clip(point, lower, upper))
        if bound is None:
            continue
        trials = [planted, *(planted + rng.integers(-16, 17, (20, n)) / 8.0)]
        for z in np.clip(trials, lower, upper):
            if all(exact(P, a, z) <= high for P, a, _, high in rows):
                assert exact(Q, c, z) >= bound


def exact(Q, a, point):
    z = [Fraction(x) for x in point.tolist()]
    total = sum((Fraction(v) * x for v, x in zip(np.asarray(a, float).tolist(), z, strict=True)), Fraction(0))
    return total + sum((Fraction(Q[i, j]) * z[i] * z[j] for i, j in zip(*np.nonzero(Q), strict=True)), Fraction(0))


@examples(300)
@given(st.integers(-20, 20), st.integers(0, 9), st.integers(-9, 9), st.integers(0, 9), st.integers(0, 9))
def test_the_least_value_along_a_variable_is_no_more_than_any(slope, share, centre, below, above):
    slope, share, centre = Fraction(slope), Fraction(share), Fraction(centre)
    low, high = float(centre - below), float(centre + above)
    least = convex_dual._least_along(slope, share, centre, low, high)
    steps = [Fraction(k, 8) for k in range(-8 * below, 8 * above + 1)]
    values = [slope * d + share * d * d for d in steps]
    assert least <= min(values) and (min(values) - least <= share * Fraction(1, 64))
    for ends in ((-INF, high), (low, INF), (-INF, INF)):
        open_ended = convex_dual._least_along(slope, share, centre, *ends)
        assert open_ended is None or open_ended <= least
