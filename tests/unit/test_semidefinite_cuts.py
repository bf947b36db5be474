"""Semidefinite cuts of quadratic programs over boxes: tighter, never above the optimum, which faces give exactly."""

import itertools

import numpy as np
import pytest
from gopfast.biconvex.alternating import AlternatingPrimal
from gopfast.biconvex.bilinear import BilinearRelaxation
from gopfast.search.search import Search

import gopfast
from gopfast import BiconvexProblem
from gopfast.biconvex.lifting import Lifting


def draw(seed, n=5):
    """An indefinite Q, a linear term and bounds off 0, some of them of other magnitudes."""
    rng = np.random.default_rng(seed)
    Q = np.triu(rng.integers(-9, 10, (n, n))).astype(float)
    Q[0, 0] = -5.0
    lower = rng.integers(-3, 2, n).astype(float)
    unit = 2.0 ** rng.integers(-8, 9, n) if seed % 2 else np.ones(n)
    upper = lower + rng.integers(1, 4, n)
    return Q / np.outer(unit, unit), rng.integers(-9, 10, n) / unit, lower * unit, upper * unit


def optimum(Q, c, lower, upper):
    """The least stationary point of all faces of the box: value and point."""
    n, best = len(c), (np.inf, None)
    for sides in itertools.product((0, 1, 2), repeat=n):
        z = np.where(np.array(sides) == 0, lower, upper)
        free = [i for i in range(n) if sides[i] == 2]
        if free:
            z[free] = 0.0
            H = Q + Q.T
            step = np.linalg.lstsq(H[np.ix_(free, free)], -(c + H @ z)[free], rcond=None)[0]
            z[free] = np.clip(step, lower[free], upper[free])
        best = min(best, (c @ z + z @ Q @ z, z), key=lambda entry: entry[0])
    return best


def core(problem):
    lifting = Lifting(problem)
    return lifting, *lifting.data(lifting.low, lifting.high)


@pytest.mark.parametrize("seed", range(12))
def test_the_root_bound_rises_and_stays_below_the_optimum(seed):
    Q, c, lower, upper = draw(seed)
    value, _ = optimum(Q, c, lower, upper)
    _, data, _, unit = core(BiconvexProblem(c, Q=Q, lower=lower, upper=upper))
    assert data.n_moments == 1
    # the first of these has no cuts; no cutoff, so that neither is clipped
    without, cut = (BilinearRelaxation(data).bound_box(*data.box, root_sweeps=sweeps)[0] * unit for sweeps in (0, 1))
    assert without <= cut <= value + 1e-12 * abs(value)


def test_cuts_close_most_of_the_gap_of_a_dense_program():
    rng = np.random.default_rng(0)
    Q = np.triu(rng.integers(-50, 51, (12, 12))).astype(float)
    problem = BiconvexProblem(rng.integers(-50, 51, 12), Q=Q, lower=0, upper=1)
    _, data, _, unit = core(problem)
    without, cut = (BilinearRelaxation(data).bound_box(*data.box, root_sweeps=sweeps)[0] * unit for sweeps in (0, 1))
    value = gopfast.solve(problem, n_threads=1).objective
    assert value - cut < 0.25 * (value - without)


@pytest.mark.parametrize("seed", range(6))
def test_no_node_with_the_roots_cuts_is_bounded_above_the_optimum(seed):
    Q, c, lower, upper = draw(seed)
    value, point = optimum(Q, c, lower, upper)
    lifting, data, scale, unit = core(BiconvexProblem(c, Q=Q, lower=lower, upper=upper))
    best = (point / scale)[lifting.order]
    limit = value / unit + 1e-12 * abs(value / unit)
    search = Search(
        BilinearRelaxation(data), AlternatingPrimal(data, [best], best), -0.01 * (1 + abs(limit)), rel_tol=-1e9,
        max_nodes=200, known=(best, limit),
    )  # fmt: skip
    search.run()
    assert search.n_nodes > 20 and search.n_audit_failures == 0 and search.least_bound <= limit


@pytest.mark.parametrize("seed", range(8))
def test_dense_programs_are_solved_to_the_optimum_of_their_faces(seed):
    Q, c, lower, upper = draw(seed, 4)
    value, _ = optimum(Q, c, lower, upper)
    for options in ({}, {"branching": "orthant"}, {"relaxation": "linear", "subproblem": "milp"}):
        result = gopfast.solve(BiconvexProblem(c, Q=Q, lower=lower, upper=upper), n_threads=1, **options)
        assert result.success and result.objective == pytest.approx(value, rel=1e-5, abs=1e-5)


def test_variables_in_two_groups_have_no_moments():
    Q = np.zeros((6, 6))
    Q[:3, 3:] = 1.0
    assert core(BiconvexProblem(np.ones(6), Q=Q, lower=0, upper=1))[1].n_moments == 0
