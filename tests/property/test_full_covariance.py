"""Bounds of Gaussian mixtures with a covariance matrix per component, against an independent brute force."""

import numpy as np
import pytest
from gopfast.mixtures.families.full import FullFamily
from hypothesis import given, strategies as st
from support.audit import ROUNDING, assert_audited, assert_cells_around_a_local_optimum_are_audited, root_of
from support.exhaustive import brute_force_optimum
from support.matrices import cost
from support.problems import make
from support.settings import examples

import gopfast

few = examples(5)
some = examples(60)


def family_of(seed, floor=(0.1, 0.4)):
    """A family with axes that are not orthogonal, and its floor in the core's coordinates."""
    rng = np.random.default_rng(seed)
    axes = rng.normal(size=(2, 2)) + 2.0 * np.eye(2)
    X = rng.normal(size=(12, 2)) * [3.0, 1.0]
    return FullFamily(X, np.ones(12), 2, np.array(floor), axes), axes * floor @ axes.T


def covariance(variance, slope, residual, floor):
    """The covariance of given factors."""
    xy = slope * (variance + 0.1 * floor[0, 0])
    return np.array([[variance, xy], [xy, residual + slope * xy]])


def factors(C, floor):
    slope = C[0, 1] / (C[0, 0] + 0.1 * floor[0, 0])
    return C[0, 0], slope, max(0.0, C[1, 1] - slope * C[0, 1])


def minorant_at(family, low, high, C):
    """Minorant of a cell of factors at a covariance, and its magnitude: of a component of mass 1 and mean 0."""
    ends = np.tile(np.concatenate([[0.0, 0.0], low]), 2), np.tile(np.concatenate([[0.0, 0.0], high]), 2)
    terms = family.subproblem(*ends)["minorant"][0] * [1.0, 0.0, 0.0, C[0, 1], C[0, 0], C[1, 1], 0.0]
    return terms.sum(), np.abs(terms).sum()


@some
@given(seed=st.integers(0, 10**6))
def test_the_minorant_of_a_cell_is_below_the_cost_of_every_covariance_in_it(seed):
    rng = np.random.default_rng(seed)
    family, floor = family_of(seed)
    low, high = (end[2:5] for end in root_of(family))
    for _ in range(rng.integers(12)):  # a descendant of the root, split geometrically near 0
        j = rng.integers(3)
        middle = low[j] + (high[j] - low[j]) * rng.choice([0.01, 0.1, 0.5, 0.9])
        (low if rng.random() < 0.5 else high)[j] = middle
    for _ in range(40):
        share = rng.choice([0.0, 1.0, rng.random()], size=3)
        C = covariance(*(low + share * (high - low)), floor)
        bound, size = minorant_at(family, low, high, C)
        assert bound <= cost(C, floor) + 1e-9 * (1.0 + size)


@some
@given(seed=st.integers(0, 10**6))
def test_minorant_and_facets_hold_for_responsibilities_whose_optimum_is_in_the_box(seed):
    """Boxes of all sizes, with the optimum anywhere in them or on their faces."""
    rng = np.random.default_rng(seed)
    family, floor = family_of(seed)
    columns, _ = family.data.arrays()
    mass = rng.dirichlet(rng.choice([0.05, 1.0]) * np.ones(2), columns.shape[1]).T + 1e-12
    parameters, value = [], 0.0
    for r in mass:
        mean, C = np.average(columns[:2], axis=1, weights=r), np.cov(columns[:2], aweights=r, ddof=0)
        parameters += [*mean, *factors(C, floor)]
        value += r.sum() * cost(C, floor)
    root = np.array(root_of(family))
    point = np.clip(parameters, *root)
    np.testing.assert_allclose(point, parameters, rtol=1e-9, atol=1e-9)
    size = rng.choice([1e-4, 0.01, 0.1, 0.5, 1.0], 10)
    low, high = (point + size * rng.choice([0.0, rng.random(), 1.0], 10) * (end - point) for end in root)
    sub = family.subproblem(low, high)
    centers, minorant, facets = sub["centers"], sub["minorant"], sub["facets"].reshape(-1, 2, 7)
    z = columns[None] - centers[:, :, None]
    terms = np.concatenate([np.ones((2, 1, z.shape[2])), z, np.square(z)], axis=1)
    statistics = np.einsum("ki,kfi->kf", mass, terms)
    assert np.sum(minorant * statistics) <= value + 1e-8 * (1.0 + np.abs(minorant * statistics).sum())
    values, sizes = np.sum(facets * statistics, axis=(1, 2)), np.abs(facets * statistics).sum(axis=(1, 2))
    assert len(values) >= 8
    assert (values >= -1e-10 * sizes).all()


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_the_minorant_closes_quadratically_on_both_sides_of_the_floor(scale):
    family, floor = family_of(1)
    center = np.array([scale * floor[0, 0], 0.2, scale * floor[1, 1]])
    lost = []
    for width in (0.1, 0.01):
        half = width * np.array([floor[0, 0], 0.3, floor[1, 1]])
        C = covariance(*center, floor)
        lost.append(cost(C, floor) - minorant_at(family, center - half, center + half, C)[0])
    assert 0.0 <= lost[1] <= 0.03 * lost[0] + 1e-10


@few
@given(seed=st.integers(0, 10**6), weighted=st.booleans())
def test_bounds_enclose_the_brute_force_optimum(seed, weighted):
    weights = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], 6) if weighted else None
    problem = make("full", seed, 6, 2, 2, sample_weight=weights)
    reference = brute_force_optimum(problem)
    result = gopfast.solve(problem, 0.01, max_nodes=4000)
    tiny = 1.0 + abs(reference)
    assert result.lower_bound <= reference + ROUNDING * tiny
    assert result.objective >= reference - 1e-6 * tiny
    assert result.objective == pytest.approx(
        problem.objective(result.solution.weights, **result.solution.parameters), rel=1e-10, abs=1e-8
    )


@pytest.mark.parametrize("seed, n, K, floor", [(0, 30, 2, 0.2), (1, 8, 2, 1.0), (2, 20, 3, 0.2), (3, 30, 2, 5.0)])
def test_no_node_around_the_optimum_has_a_bound_above_it(seed, n, K, floor):
    assert_audited(make("full", seed, n, K, 2, variance_floor=floor), 2000, 3000)


@pytest.mark.parametrize("seed, floor", [(0, 0.2), (1, 1.0), (2, 4.0)])
def test_no_cell_around_a_local_optimum_has_a_bound_above_it(seed, floor):
    """On both sides of the floor."""
    assert_cells_around_a_local_optimum_are_audited(make("full", seed, 15, 2, 2, variance_floor=floor), seed, 3000)


def test_separated_components_are_proved():
    rng = np.random.default_rng(2)
    label = np.arange(16) % 2
    X = rng.normal(size=(16, 2)) @ [[1.0, 0.4], [0.0, 0.6]] + 12.0 * label[:, None] * [1.0, -1.0]
    problem = gopfast.GaussianMixture(X, 2, covariance="full", variance_floor=0.3)
    result = gopfast.solve(problem, 0.05)
    assert result.success
    assert result.objective <= gopfast.local.em(problem).objective + 0.05
    scaled = gopfast.GaussianMixture(X * [1e-3, 1e3], 2, covariance="full", variance_floor=[0.3e-6, 0.3e6])
    assert gopfast.solve(scaled, 0.05).objective == pytest.approx(result.objective, abs=1e-6)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_scaling_data_and_floor_moves_the_bounds_by_the_jacobian(scale):
    X = make("full", 3, 30, 2, 2).X
    plain, scaled = (
        gopfast.solve(gopfast.GaussianMixture(s * X, 2, covariance="full", variance_floor=s * s * 0.2), max_nodes=500)
        for s in (1.0, scale)
    )
    shift = X.size * np.log(scale)
    assert scaled.objective - shift == pytest.approx(plain.objective, abs=1e-6)
    assert scaled.lower_bound - shift == pytest.approx(plain.lower_bound, abs=1e-3 * (1.0 + plain.gap))


def test_the_number_of_threads_changes_nothing():
    results = [gopfast.solve(make("full", 1, 60, 2, 2), n_threads=n, max_nodes=1000) for n in (1, 2, 4)]
    for result in results[1:]:
        assert (result.n_nodes, result.n_passes, result.objective, result.lower_bound) == (
            results[0].n_nodes, results[0].n_passes, results[0].objective, results[0].lower_bound
        )  # fmt: skip


def test_em_never_gets_worse_and_agrees_with_the_problem():
    problem = make("full", 7, 80, 3, 2)
    fit = gopfast.local.em(problem, random_state=1)
    assert fit.converged
    assert (np.diff(fit.trace) >= -1e-9 * (1.0 + np.abs(fit.elbo))).all()
    assert fit.objective == pytest.approx(
        problem.objective(fit.solution.weights, **fit.solution.parameters), rel=1e-11, abs=1e-9
    )
    again = gopfast.local.em(problem, start=fit.solution, max_iter=1)
    assert again.objective == pytest.approx(fit.objective, abs=1e-6)


def test_one_column_is_solved_as_free_variances_and_33_are_refused():
    X = make("diag", 2, 40, 2, 1).X
    full, diag = (gopfast.GaussianMixture(X, 2, covariance=kind, variance_floor=0.1) for kind in ("full", "diag"))
    full, diag = gopfast.solve(full), gopfast.solve(diag)
    assert full.objective == pytest.approx(diag.objective, abs=1e-9)
    assert full.solution.covariances.shape == (2, 1, 1)
    with pytest.raises(gopfast.errors.InputError, match="at most 32 columns"):
        gopfast.solve(make("full", 2, 40, 2, 33))
