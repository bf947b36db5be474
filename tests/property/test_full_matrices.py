"""Bounds of Gaussian mixtures with a covariance matrix per component and any number of columns."""

import numpy as np
import pytest
from gopfast.mixtures.families.matrices import MatrixFamily
from hypothesis import given, strategies as st
from support.audit import assert_audited, assert_cells_around_a_local_optimum_are_audited, root_of
from support.matrices import cost, packed
from support.problems import make, random_state
from support.settings import examples

import gopfast

few = examples(8)
some = examples(60)


@some
@given(seed=st.integers(0, 10**6), d=st.integers(2, 4))
def test_minorant_and_facets_hold_for_responsibilities_whose_optimum_is_in_the_box(seed, d):
    """Boxes of all sizes, with the optimum anywhere in them or on their faces."""
    rng = np.random.default_rng(seed)
    axes = rng.normal(size=(d, d)) + 2.0 * np.eye(d)
    X = rng.normal(size=(14, d)) * rng.choice([0.01, 1.0, 3.0], d) + 4.0 * rng.integers(2, size=(14, 1))
    floor = rng.choice([0.01, 0.3, 2.0], d)
    family = MatrixFamily(X, np.ones(14), 2, floor, axes)
    columns = family.data.arrays()[0]
    x = columns[:d]
    mass = rng.dirichlet(rng.choice([0.02, 1.0]) * np.ones(2), 14).T + 1e-9
    mass /= mass.sum(axis=0)
    cells, value = [], 0.0
    for r in mass:
        C = np.cov(x, aweights=r, ddof=0)
        cells.append((np.average(x, axis=1, weights=r), C, r))
        value += r.sum() * cost(C, axes * floor @ axes.T)
    cells.sort(key=lambda cell: cell[0][0])
    mass = np.array([cell[2] for cell in cells])
    point = np.concatenate([np.concatenate([mean, packed(C)]) for mean, C, _ in cells])
    root = root_of(family)
    slack = 1e-9 * (1.0 + np.abs(point))
    assert (root[0] - slack <= point).all()
    assert (point <= root[1] + slack).all()
    size = rng.choice([1e-4, 0.01, 0.1, 0.5, 1.0], len(point))
    low, high = (point + size * rng.choice([0.0, rng.random(), 1.0], len(point)) * (end - point) for end in root)
    sub = family.subproblem(np.minimum(low, point), np.maximum(high, point))
    z = columns[None] - sub["centers"][:, :, None]
    statistics = np.einsum("ki,kfi->kf", mass, np.concatenate([np.ones((2, 1, 14)), z], axis=1))
    terms = sub["minorant"] * statistics
    assert terms.sum() <= value + 1e-10 * (1.0 + np.abs(terms).sum() + abs(value))
    values = sub["facets"] @ statistics.ravel()
    sizes = np.abs(sub["facets"]) @ np.abs(statistics.ravel())
    assert len(values) >= d
    assert (values >= -1e-10 * (1.0 + sizes)).all()


@few
@given(seed=st.integers(0, 10**6), d=st.integers(3, 5))
def test_no_parameters_are_better_than_the_bound(seed, d):
    problem = make("full", seed, 10, 2, d, variance_floor=0.3)
    result = gopfast.solve(problem, 0.01, max_nodes=400)
    assert np.isfinite(result.lower_bound)
    assert result.lower_bound <= result.objective
    assert result.objective == pytest.approx(
        problem.objective(result.solution.weights, **result.solution.parameters), rel=1e-10, abs=1e-8
    )
    rng = np.random.default_rng(seed)
    for _ in range(30):
        state = random_state(problem, rng)
        for _ in range(30):
            state = problem.maximize(problem.responsibilities(**state), **state)
        assert result.lower_bound <= problem.objective(**state) + 1e-9


def test_bounds_close_where_the_floor_leaves_little_to_choose():
    X = np.random.default_rng(0).normal(size=(12, 3)) * 0.3 + [3.0, 0.0, 0.0] * (np.arange(12)[:, None] % 2)
    problem = gopfast.GaussianMixture(X, 2, covariance="full", variance_floor=4.0)
    known = gopfast.solve(gopfast.GaussianMixture(X, 2, noise_variance=4.0), 1e-3)
    result = gopfast.solve(problem, 0.05, max_nodes=20_000)
    assert result.success
    assert result.lower_bound <= -known.elbo + 1e-9
    assert result.objective == pytest.approx(-known.elbo, abs=0.06)
    told = "on variance_floor: the variances of components 0, 1; one 16 times smaller gives"
    assert any(note.startswith(told) for note in result.notes)


@pytest.mark.parametrize("seed, n, K, d, floor", [(0, 30, 2, 3, 0.2), (1, 8, 2, 4, 1.0), (2, 20, 3, 3, 3.0)])
def test_no_node_around_a_known_solution_has_a_bound_above_it(seed, n, K, d, floor):
    assert_audited(make("full", seed, n, K, d, variance_floor=floor), 200, 600)


@pytest.mark.parametrize("seed, floor", [(0, 0.2), (1, 1.0), (2, 4.0)])
def test_no_cell_around_a_local_optimum_has_a_bound_above_it(seed, floor):
    """On both sides of the floor."""
    assert_cells_around_a_local_optimum_are_audited(make("full", seed, 15, 2, 3, variance_floor=floor), seed, 1000)


def test_the_number_of_threads_changes_nothing():
    problem = make("full", 1, 20, 2, 3)
    results = [gopfast.solve(problem, n_threads=n, max_nodes=500) for n in (1, 2)]
    assert results[0].n_passes == results[1].n_passes
    assert results[0].lower_bound == results[1].lower_bound
    assert any("more than two columns" in note for note in results[0].notes)
