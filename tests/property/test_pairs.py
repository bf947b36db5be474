"""The bound of two components of one covariance matrix by cells of the direction between them, against definitions."""

import math

import numpy as np
import pytest
from gopfast.mixtures.shared.pair_cells import PairCells
from scipy.optimize import linprog
from support.tied_bounds import bound_of, in_lines, told

import gopfast
from gopfast.mixtures.shared import factors as factors_module, rough_covariances as rough_module


def cells_of(rng, d, n_directions=0):
    """Random cuts and directions; the cells, the cuts, the directions, the least and the largest eigenvalue."""
    least, top = 10.0 ** rng.uniform(-3, -0.5), 1.0 + 10.0 ** rng.uniform(-12, -2)
    cells, cuts, directions = PairCells(d, least, top), [(np.zeros((d, d)), 0.0)], []
    for _ in range(rng.integers(0, 8)):
        root = rng.standard_normal((d, d))
        A = root @ root.T * 10.0 ** rng.uniform(-1, 1.5) + rng.integers(0, 2) * np.eye(d)
        b = rng.uniform(0, 1) * np.trace(A)
        cells.add(A, b)
        cuts.append((A, b))
    for _ in range(n_directions):
        u = rng.standard_normal(d)
        u, width = u / np.linalg.norm(u), least * 10.0 ** rng.uniform(0, -0.9 * math.log10(least))
        cells.widen(u, width)
        directions.append((u, width))
    return cells, cuts, directions, least, top


def cell_of(rng, d, most):
    """An interval of t, and rays of a wide or narrow cone in an orthant."""
    low, high = np.sort(rng.uniform(0.0, most, 2))
    rays = np.abs(rng.standard_normal(d)) + 10.0 ** rng.uniform(-2, 0.3) * np.abs(rng.standard_normal((d, d)))
    return low, high, rays * rng.choice([-1.0, 1.0], d)


def matrix_of(t, u, top):
    return top * (np.eye(len(u)) - t * np.outer(u, u))


def function(P, cuts):
    """The function that cells bound, but for the logarithm of `top`, which they leave out."""
    return 0.5 * np.linalg.slogdet(P)[1] + max(b - 0.5 * (A * P).sum() for A, b in cuts)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize("seed", range(20))
def test_a_cell_is_below_the_function_at_every_matrix_in_it(seed, d):
    rng = np.random.default_rng(100 * d + seed)
    n_inside = 0
    for turn in range(8):
        cells, cuts, directions, least, top = cells_of(rng, d, turn % 3)
        low, high, rays = cell_of(rng, d, 1.0 - least / top)
        bound = cells.bound_of(low, high, rays)
        for _ in range(100):
            u = rng.dirichlet(np.full(d, 10.0 ** rng.uniform(-1.5, 0.5))) @ rays
            u, t = u / np.linalg.norm(u), rng.choice([low, high, rng.uniform(low, high)])
            P = matrix_of(t, u, top)
            if all(g @ P @ g >= width for g, width in directions):
                n_inside += 1
                exact = function(P, cuts)
                assert bound <= exact + 1e-12 * (1.0 + abs(exact))
                value = cells.value(t, u)
                assert value == pytest.approx(exact - 0.5 * d * math.log(top), abs=1e-9 * (1.0 + abs(exact)))
    assert n_inside > 0


@pytest.mark.parametrize("seed", range(40))
def test_a_cell_has_the_value_of_its_linear_program(seed):
    """That of tangents at the middle of the cone, or more."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    cells, cuts, _, least, top = cells_of(rng, d)
    low, high, rays = cell_of(rng, d, 1.0 - least / top)
    rays /= np.linalg.norm(rays, axis=1)[:, None]
    z = rays.sum(axis=0) / np.linalg.norm(rays.sum(axis=0))
    near = (rays @ z).min()
    corners = [(t, t * stretch * ray) for t in (low, high) for stretch in (1.0, 1.0 / near) for ray in rays]
    rows = []
    for A, b in cuts:
        kappa = top * np.linalg.eigvalsh(A)[0]
        B = top * A - kappa * np.eye(d)
        said = b - 0.5 * top * np.trace(A)
        rows.append([said + 0.5 * t * (kappa - z @ B @ z) + z @ B @ x for t, x in corners] + [-1.0])
    cost = [0.5 * math.log1p(-t) for t, _ in corners] + [1.0]
    limits = [(0.0, None)] * len(corners) + [(None, None)]
    found = linprog(cost, rows, np.zeros(len(cuts)), [[1.0] * len(corners) + [0.0]], [1.0], limits)
    assert cells.bound_of(low, high, rays) >= found.fun - 1e-7 * (1.0 + abs(found.fun))


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(4))
def test_cells_cover_all_directions(seed, d):
    """A matrix with a value below the limit lies in an open cell, also where directions are told on the way."""
    rng = np.random.default_rng(seed)
    cells, cuts, _, least, top = cells_of(rng, d)
    directions = []
    for limit in (math.inf, 0.0, -0.5):
        before = cells.lower
        cells.search(limit, 300, 1.0, True)
        assert cells.lower >= min(before, limit)
        u = rng.standard_normal(d)
        directions.append((u / np.linalg.norm(u), 1.5 * least))
        cells.widen(*directions[-1])
    cells.search(-0.5, 300, 1.0, True)
    ends, rays = cells.cones()
    n_below = 0
    for _ in range(400):
        u, t = rng.standard_normal(d), 1.0 - math.exp(rng.uniform(math.log(least / top), 0.0))
        u /= np.linalg.norm(u)
        P = matrix_of(t, u, top)
        if not all(g @ P @ g >= width for g, width in directions):
            continue
        value = function(P, cuts) - 0.5 * d * math.log(top)
        assert cells.lower <= value + 1e-9
        if value < -0.5 - 1e-9:
            n_below += 1
            parts = np.array([np.linalg.solve(cone.T, u) for cone in rays])
            inside = (parts >= -1e-9).all(axis=1) | (parts <= 1e-9).all(axis=1)
            assert (inside & (ends[:, 0] <= t + 1e-12) & (t - 1e-12 <= ends[:, 1])).any()
    assert n_below > 0 or cells.lower > -0.5 - 1e-9


@pytest.mark.parametrize("is_rough", [False, True])
@pytest.mark.parametrize("d", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(12))
def test_no_bound_of_two_components_exceeds_an_objective_attained(seed, d, is_rough, monkeypatch):
    """It is told to prove more than is true."""
    monkeypatch.setattr(rough_module, "LEAST_ROUGH", 0.0)
    monkeypatch.setattr(factors_module, "MOST_PAIRED", 5)
    rng = np.random.default_rng(1000 * d + seed)
    problem = in_lines(rng, int(rng.integers(8, 40)), d, 2, seed % 6)
    bound, best = bound_of(problem, 1e-3 * problem.total_weight, -1.0 if seed % 2 else 1e-4, is_rough=is_rough)
    found = told(bound, 60)
    assert isinstance(bound.cells, PairCells)
    assert -math.inf < max(found) <= best + 1e-12 * abs(best)


@pytest.mark.parametrize("seed", range(8))
def test_lines_are_cuts_of_the_cells(seed, monkeypatch):
    """In five columns; their searches end by prices, so that there are cells soon."""
    monkeypatch.setattr(rough_module, "LEAST_ROUGH", 0.0)
    monkeypatch.setattr(factors_module, "MOST_PAIRED", 1)
    problem = in_lines(np.random.default_rng(seed), 60, 3, 2, seed % 6)
    bound, best = bound_of(problem, 1e-3 * problem.total_weight, 1e-2 * problem.total_weight, is_rough=True)
    monkeypatch.setattr(bound.lines, "step", lambda deadline, step=bound.lines.step: step(deadline) and False)
    found = told(bound, 40)
    assert bound.drawn
    assert bound.cells.n_cuts > len(bound.drawn)
    assert -math.inf < max(found) <= best + 1e-12 * abs(best)


def test_what_lines_prove_is_kept(monkeypatch):
    """Where they prove all that is asked for there are no cells."""
    monkeypatch.setattr(factors_module, "MOST_PAIRED", 1)
    X = np.random.default_rng(0).standard_normal((60, 2)) + 8.0 * np.arange(60)[:, None] // 30 * [1.0, 0.0]
    bound, best = bound_of(gopfast.GaussianMixture(X, 2, covariance="tied"), -1.0, 0.1)
    told(bound, 400)
    assert bound.cells is None
    assert best - 1.0 <= bound.lower <= best


@pytest.mark.parametrize("d", [3, 4])
def test_two_components_in_four_columns_are_proved(d):
    rng = np.random.default_rng(d)
    X = rng.standard_normal((400, d)) + 6.0 * rng.integers(0, 2, (400, 1)) * np.eye(d)[0]
    bound, best = bound_of(gopfast.GaussianMixture(X, 2, covariance="tied"), -0.1, 0.05, is_rough=True)
    told(bound, 3000)
    assert best - 0.1 <= bound.lower <= best
    assert bound.cells.n_cells > 0


@pytest.mark.parametrize(("d", "least", "top"), [(0, 0.1, 1.0), (9, 0.1, 1.0), (2, 0.0, 1.0), (2, 1.0, 1.0)])
def test_what_cells_cannot_be_of_is_refused(d, least, top):
    with pytest.raises(ValueError, match="d must be|least must be"):
        PairCells(d, least, top)
