"""Gamma columns in the checker (VF6): against mpmath, and the best parameters of any responsibilities."""

import mpmath
import numpy as np
import pytest

import gopfast
from gopfast.checker import ProofError, check, gamma, prices
from gopfast.checker.problem import Problem
from gopfast.checker.verify import Bounds
from tests.support import proofs
from tests.support.settings import fewer

mpmath.mp.dps = 40


def shapes(rng):
    return np.concatenate([10.0 ** rng.uniform(-6, 8, 40), [15.999999, 16.0, 16.000001, 400.0]])


@pytest.mark.parametrize("seed", range(3))
def test_costs_and_spreads_of_shapes_lie_in_their_enclosures(seed):
    a = shapes(np.random.default_rng(seed))
    cost, spread = gamma.shape_cost(a), gamma.spread_of(a)
    for i, x in enumerate(map(mpmath.mpf, a)):
        assert cost.low[i] <= mpmath.loggamma(x) - x * mpmath.log(x) + x <= cost.high[i]
        assert spread.low[i] <= mpmath.log(x) - mpmath.digamma(x) <= spread.high[i]
    assert (cost.high - cost.low <= 1e-12 * (1 + np.abs(cost.low))).all()
    assert (spread.high - spread.low <= 1e-12 * spread.low).all()


def least(v, most):
    """Phi at a spread, by bisection of the derivative: 45 times, as what is left of a shape counts by its square."""
    v, ends = mpmath.mpf(v), [mpmath.mpf("1e-8"), mpmath.mpf(most)]
    if mpmath.digamma(ends[1]) - mpmath.log(ends[1]) + v > 0:
        for _ in range(45):
            middle = mpmath.sqrt(ends[0] * ends[1])
            ends[mpmath.digamma(middle) - mpmath.log(middle) + v > 0] = middle
    a = ends[1]
    return mpmath.loggamma(a) - a * mpmath.log(a) + a + a * v


@pytest.mark.parametrize("most", [400.0, 11.1, 0.5, 1e8])
def test_the_least_cost_of_a_spread_is_found_from_below(most):
    v = np.concatenate([[0.0, 0.5 / most], 10.0 ** np.random.default_rng(0).uniform(-9, 2, 30)])
    for x, found in zip(v, gamma.least_cost(v, most), strict=True):
        true = least(x, most)
        assert found <= true <= found + 1e-11 * (1 + abs(true))


def random_bounds(seed):
    rng = np.random.default_rng([seed, 3])
    return rng, proofs.bounds_of(proofs.random_problem(rng, "gamma"), rng)[0]


def responsibilities(rng, bounds):
    """Of a component (N,); of one alone all are 1."""
    return rng.random(len(bounds.columns)) ** (rng.choice([0.2, 1.0, 6.0]) * (bounds.problem.n_components > 1))


def fitted(bounds, tau):
    """Cell (2 d,) and statistics of the responsibilities (N,) of a component."""
    share = bounds.weights * tau / (bounds.weights @ tau)
    m, logs = share @ bounds.columns, share @ np.log(bounds.columns)
    return m, np.maximum(np.log(m) - logs, 0.0), logs


@pytest.mark.parametrize("seed", range(12))
def test_affine_functions_lie_below_the_costs_and_touch_them(seed):
    """For any slopes; in cells of one point with the slopes of the cost itself they are the cost."""
    rng, bounds = random_bounds(seed)
    rules, most, d = bounds.rules, bounds.problem.largest_shape, bounds.columns.shape[1]
    reference = np.median(bounds.columns, axis=0)
    for _ in range(fewer(30)):
        m, v, logs = fitted(bounds, responsibilities(rng, bounds))
        cell = np.concatenate([m, v])
        assert (rules.low <= cell * (1 + 1e-9) + 1e-9).all() and (cell <= rules.high * (1 + 1e-9) + 1e-9).all()
        width = rng.choice([0.0, 0.1, 1.0]) * (rules.high - rules.low)
        low = np.minimum(np.maximum(cell - width * rng.random(2 * d), rules.low), cell)
        high = np.maximum(np.minimum(cell + width * rng.random(2 * d), rules.high), cell)
        _, cut = rules.tightened(low[np.newaxis, np.newaxis], high[np.newaxis, np.newaxis])
        assert (cell <= cut[0, 0] * (1 + 1e-9) + 1e-9).all()
        cost = np.array([float(logs[j] + least(v[j], most)) for j in range(d)])
        slopes = rng.normal(size=2 * d) * rng.choice([0.03, 1.0, 30.0])
        a = rules.intercepts(low[np.newaxis, np.newaxis], high[np.newaxis, np.newaxis], slopes[np.newaxis, np.newaxis],
                             reference)[0, 0]  # fmt: skip
        affine = a + slopes[:d] * (m - reference) + slopes[d:] * (np.log(m) - v)
        assert (affine <= cost + 1e-9 * (1 + np.abs(cost) + np.abs(slopes).max() * (1 + np.abs(cell).max()))).all()
        shape = gopfast.mixtures.problems.gamma.shape_of(v, most)
        slopes, point = np.concatenate([shape / m, 1.0 - shape]), cell[np.newaxis, np.newaxis]
        a = rules.intercepts(point, point, slopes[np.newaxis, np.newaxis], reference)[0, 0]
        affine = a + slopes[:d] * (m - reference) + slopes[d:] * (np.log(m) - v)
        assert affine == pytest.approx(cost, abs=1e-8 * (1 + np.abs(slopes).max()))


@pytest.mark.parametrize("seed", range(9))
def test_no_component_saves_more_than_its_cell(seed):
    """Any prices, slopes and scales; of cells around parameters that are the best ones for some responsibilities."""
    rng, bounds = random_bounds(seed)
    rules, most, d = bounds.rules, bounds.problem.largest_shape, bounds.columns.shape[1]
    reference = np.median(bounds.columns, axis=0)
    for _ in range(fewer(40)):
        tau = responsibilities(rng, bounds)
        m, v, logs = fitted(bounds, tau)
        cell, w = np.concatenate([m, v]), bounds.weights * tau
        cost = sum(float(logs[j] + least(v[j], most)) for j in range(d))
        lam = rng.normal(size=len(tau)) * rng.choice([1.0, 5.0])
        value = w @ (lam - np.log(tau)) + w.sum() * (np.log(w.sum() / bounds.weights.sum()) - cost)
        width = rng.choice([0.0, 0.1, 1.0]) * (rules.high - rules.low)
        low = np.minimum(np.maximum(cell - width, rules.low), cell)
        high = np.maximum(np.minimum(cell + width, rules.high), cell)
        for slopes in (rng.normal(size=2 * d), np.concatenate([np.ones(d) / m, np.zeros(d)])):
            found = prices.savings(bounds, lam, low[np.newaxis], high[np.newaxis], slopes[np.newaxis],
                                   -rng.exponential(size=1), reference)[0]  # fmt: skip
            assert found >= value - 1e-9 * (1 + abs(value))


def test_a_proof_is_of_its_largest_shape(tmp_path):
    """Of a larger one another objective can be had; a solution has no larger shape than its problem."""
    X = np.random.default_rng(1).gamma(9.0, 1.0, 25)
    problem = gopfast.GammaMixture(X, 2)
    result = gopfast.solve(problem, proof=tmp_path / "p", n_threads=1, log=False)
    found = check(tmp_path / "p", X, problem=problem)
    assert result.success and found.gap <= 0.01
    with pytest.raises(ProofError, match="largest_shape is 399.99"):
        check(tmp_path / "p", X, problem=gopfast.GammaMixture(X, 2, cv_floor=0.1))
    with pytest.raises(ProofError, match="above the largest"):
        solution = {"weights": [0.5, 0.5], "rates": [[1.0], [1.0]], "shapes": [[9.0], [401.0]]}
        Bounds(Problem(problem._record_of_proof(), X, None)).attained(solution)
    with pytest.raises(ProofError, match="at least 1e-300"):
        Problem(problem._record_of_proof(), X - X.min(), None)
