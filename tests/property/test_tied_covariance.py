"""Bounds of Gaussian mixtures with one covariance matrix for all components, against brute force."""

import mpmath
import numpy as np
import pytest
from gopfast.mixtures.families.matrix import FlooredCost
from gopfast.mixtures.families.tied import TiedFamily
from hypothesis import given, strategies as st
from support import datasets
from support.attack import exact, moments
from support.audit import assert_audited, root_of
from support.exhaustive import brute_force_optimum
from support.matrices import cost, floored, packed, unpacked
from support.problems import make
from support.settings import examples

import gopfast
from gopfast.mixtures.families.scatter import least_within

some = examples(60)


def family_of(seed, d, K):
    """A family with axes that are not orthogonal, on data from a line to a ball, and its floor in the core."""
    rng = np.random.default_rng(seed)
    axes = rng.normal(size=(d, d)) + 2.0 * np.eye(d)
    X = rng.normal(size=(14, d)) * rng.choice([0.01, 1.0, 3.0], d) + 4.0 * rng.integers(2, size=(14, 1))
    floor = rng.choice([0.01, 0.3, 2.0], d)
    return TiedFamily(X, rng.choice([0.5, 1.0, 2.0], 14), K, floor, axes), axes * floor @ axes.T


@some
@given(seed=st.integers(0, 10**6), d=st.integers(1, 4))
def test_the_minorant_of_a_box_is_below_the_cost_of_every_covariance_in_it(seed, d):
    rng = np.random.default_rng(seed)
    scale = rng.choice([0.1, 1.0, 10.0])
    root = rng.normal(size=(d, d + 2)) * rng.choice([0.1, 1.0, 3.0], (d, 1))
    whiten = rng.normal(size=(d, d)) / scale + np.eye(d)
    floor = np.linalg.inv(whiten) @ np.linalg.inv(whiten).T
    center = packed(root @ root.T)
    half = rng.choice([0.0, 1e-3, 0.1, 1.0, 3.0]) * rng.random(len(center)) * np.abs(center).max()
    constant, slopes = FlooredCost(whiten).best_minorant(center - half, center + half)
    for _ in range(60):
        C = unpacked(center + rng.choice([-1.0, 1.0, rng.uniform(-1, 1)], len(center)) * half)
        if np.linalg.eigvalsh(C)[0] >= 0:
            value, bound = cost(C, floor), constant + np.sum(unpacked(slopes) * C)
            assert bound <= value + 1e-11 * (1.0 + abs(value) + np.abs(unpacked(slopes) * C).sum())
    C = unpacked(center)
    terms = unpacked(slopes) * C
    assert constant + np.sum(terms) <= cost(C, floor) + 1e-11 * (1.0 + np.abs(terms).sum())


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 6])
def test_the_minorant_closes_quadratically(d):
    rng = np.random.default_rng(d)
    root = rng.normal(size=(d, d + 3))
    center, lost = packed(root @ root.T), []
    whiten = np.eye(d) / np.sqrt(np.linspace(0.01, 3.0, d))
    for width in (1e-2, 1e-3):
        half = width * np.sqrt(np.outer(*2 * [np.diagonal(unpacked(center))]))[np.triu_indices(d)]
        constant, slopes = FlooredCost(whiten).best_minorant(center - half, center + half)
        lost.append(cost(unpacked(center), np.linalg.inv(whiten) ** 2) - constant
                    - np.sum(unpacked(slopes) * unpacked(center)))  # fmt: skip
    assert 0.0 <= lost[1] <= 0.03 * lost[0] + 1e-10


@some
@given(seed=st.integers(0, 10**6))
def test_the_best_matrix_above_the_floor_is_that_of_eigenvalues(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 7))
    root, whiten = rng.normal(size=(d, d)), rng.normal(size=(d, d)) + 2.0 * np.eye(d)
    floor = np.linalg.inv(whiten) @ np.linalg.inv(whiten).T
    C = root @ root.T * rng.choice([0.01, 1.0, 100.0])
    np.testing.assert_allclose(FlooredCost(whiten).best(packed(C)), floored(C, floor), rtol=1e-8, atol=1e-8)


@some
@given(seed=st.integers(0, 10**6), d=st.integers(2, 4), K=st.integers(1, 3))
def test_minorant_and_facets_hold_for_responsibilities_whose_optimum_is_in_the_box(seed, d, K):
    """Boxes of all sizes, with the optimum anywhere in them or on their faces."""
    rng = np.random.default_rng(seed)
    family, floor = family_of(seed, d, K)
    columns, weights = family.data.arrays()
    mass = weights * (rng.dirichlet(rng.choice([0.02, 1.0]) * np.ones(K), columns.shape[1]).T + 1e-9)
    mass *= weights / mass.sum(axis=0)
    means = (mass @ columns.T) / mass.sum(axis=1)[:, None]
    order = np.argsort(means[:, 0])
    mass, means = mass[order], means[order]
    total = (weights * columns) @ columns.T / weights.sum()
    C = total - (mass.sum(axis=1)[:, None] * means).T @ means / weights.sum()
    value = weights.sum() * cost(C, floor)
    point = np.concatenate([means.ravel(), packed(C)])
    root = root_of(family)
    slack = 1e-9 * (1.0 + np.abs(point))
    assert (root[0] - slack <= point).all()
    assert (point <= root[1] + slack).all()
    size = rng.choice([1e-4, 0.01, 0.1, 0.5, 1.0], len(point))
    low, high = (
        point + size * rng.choice([0.0, rng.random(), 1.0], len(point)) * (np.where(end == point, point, end) - point)
        for end in root
    )
    sub = family.subproblem(np.minimum(low, point), np.maximum(high, point))
    z = columns[None] - sub["centers"][:, :, None]
    statistics = np.einsum("ki,kfi->kf", mass, np.concatenate([np.ones((K, 1, z.shape[2])), z], axis=1))
    terms = sub["minorant"] * statistics
    assert terms.sum() + sub["minorant_rest"][1] <= value + 1e-10 * (1.0 + np.abs(terms).sum() + abs(value))
    values = sub["facets"] @ statistics.ravel() + sub["facet_rest"][:, 1]
    sizes = np.abs(sub["facets"]) @ np.abs(statistics.ravel()) + np.abs(sub["facet_rest"][:, 1])
    assert len(values) >= d
    assert (values >= -1e-10 * (1.0 + sizes)).all()


@pytest.mark.parametrize("seed, n, K, d, floor", [(0, 30, 2, 2, 0.2), (1, 12, 2, 3, 1.0), (2, 20, 3, 2, 0.2),
                                                  (3, 30, 2, 2, 5.0), (4, 16, 2, 4, 0.5)])  # fmt: skip
def test_no_node_around_the_optimum_has_a_bound_above_it(seed, n, K, d, floor):
    assert_audited(make("tied", seed, n, K, d, variance_floor=floor), 1500, 1500)


@some
@given(seed=st.integers(0, 10**6), d=st.integers(1, 3), K=st.integers(1, 3))
def test_no_grouping_has_less_variance_within_than_the_bound(seed, d, K):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(d, 9)) * rng.choice([0.1, 1.0], (d, 1)) + 3.0 * rng.integers(2, size=9)
    weights = rng.choice([0.5, 1.0, 2.0], 9)
    bound = least_within(columns, weights, K)
    assert bound >= 0.0
    for _ in range(200):
        label = rng.integers(K, size=9)
        # groups along a direction have the least variance there
        if rng.random() < 0.7:
            along = np.argsort(rng.normal(size=d) @ columns)
            label = np.empty(9, dtype=int)
            label[along] = np.sort(rng.integers(K, size=9))
        within = np.zeros((d, d))
        for k in np.unique(label):
            part, w = columns[:, label == k], weights[label == k]
            z = part - np.average(part, axis=1, weights=w)[:, None]
            within += (w * z) @ z.T
        assert bound <= np.linalg.eigvalsh(within / weights.sum())[0] + 1e-12


def test_the_variance_within_is_no_rounding_where_columns_cancel():
    """Columns on a line, but for their rounding; one group's least variance is an eigenvalue."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=6)
        columns = rng.choice([1e-3, 1.0, 1e3]) * rng.normal(size=(2, 2)) @ [z, rng.choice([1.0, 2.0]) * z]
        with mpmath.workdps(60):
            C = moments(exact(columns), exact(np.ones(6)))[1]
            values = mpmath.eigsy(mpmath.matrix([[mpmath.mpf(x.numerator) / x.denominator for x in row] for row in C]),
                                  eigvals_only=True)  # fmt: skip
            assert least_within(columns, np.ones(6), 1) <= max(0, min(values))


@pytest.mark.parametrize("name", ["sum", "constant", "affine", "offset", "three"])
def test_dependent_columns_are_proved(name):
    """Axes along which the data have no spread at all, or only that of rounding."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=30) + 4.0 * rng.integers(2, size=30)
        other = {"sum": 100.0 - z, "constant": 5.1, "affine": 2.0 * z + 1.0, "offset": 100.0 - z, "three": -z}[name]
        X = np.column_stack(np.broadcast_arrays(z, other, *[3.0] * (name == "three")))
        X = X + 2.0**40 * (name == "offset")
        problem = gopfast.GaussianMixture(X, 2, covariance="tied", variance_floor=0.05)
        result = gopfast.solve(problem, max_nodes=20_000)
        assert result.success
        attained = problem.objective(result.solution.weights, **result.solution.parameters)
        # means near 2^40 are rounded in the user's units
        assert result.objective == pytest.approx(attained, rel=1e-6 if name == "offset" else 1e-9)
        assert result.lower_bound <= gopfast.local.em(problem).objective + 1e-9


def test_the_bound_of_the_variance_within_is_tight_in_one_column():
    columns = np.array([[0.0, 1.0, 10.0, 11.0]])
    assert 0.2 < least_within(columns, np.ones(4), 2) <= 0.25
    assert least_within(columns, np.ones(4), 4) <= 1e-9


@pytest.mark.parametrize("name, K, reference", [("faithful", 2, 799.4352), ("petals", 2, 387.7596)])
def test_reference_optima(name, K, reference):
    """The values are those of scikit-learn's best of 20 starts without a floor, which does not bind."""
    if name == "faithful":
        X = datasets.faithful() * np.array([2.0, 1.0 / 7.0])
    else:
        X = pytest.importorskip("sklearn.datasets").load_iris().data[:, 2:]
        X = 2.0 * X / X.std(axis=0)
    result = gopfast.solve(gopfast.GaussianMixture(X, K, covariance="tied", variance_floor=0.04))
    assert result.success
    assert result.objective == pytest.approx(reference, abs=1e-4)


def test_a_fit_of_scikit_learn_is_proved():
    mixture = pytest.importorskip("sklearn.mixture")
    X = datasets.faithful() * np.array([2.0, 1.0 / 7.0])
    fit = mixture.GaussianMixture(2, covariance_type="tied", random_state=0, tol=1e-9, max_iter=1000).fit(X)
    problem = gopfast.GaussianMixture(X, 2, covariance="tied", variance_floor=0.04)
    found = gopfast.certify(problem, fit)
    assert found.verdict is gopfast.Verdict.PROVED
    assert -found.objective / len(X) == pytest.approx(fit.score(X), rel=1e-9)


def test_a_matrix_on_the_floor_is_noted_and_proved():
    rng = np.random.default_rng(0)
    X = np.outer(rng.normal(size=40) + 6.0 * (np.arange(40) % 2), [1.0, 2.0]) + 1e-3 * rng.normal(size=(40, 2))
    result = gopfast.solve(gopfast.GaussianMixture(X, 2, covariance="tied", variance_floor=0.05))
    assert result.success
    told = "the shared covariance sits on variance_floor; one 16 times smaller gives"
    assert any(note.startswith(told) for note in result.notes)


def test_in_one_column_both_shared_kinds_agree():
    X = make("diag", 2, 40, 2, 1).X
    values = [
        gopfast.solve(gopfast.GaussianMixture(X, 2, covariance=kind, variance_floor=0.1)).objective
        for kind in ("tied", "tied_spherical")
    ]
    assert values[0] == values[1]


def test_more_columns_than_the_core_takes_are_refused():
    X = np.random.default_rng(0).normal(size=(40, 33))
    with pytest.raises(gopfast.InputError, match="at most 32 columns"):
        gopfast.solve(gopfast.GaussianMixture(X, 2, covariance="tied"))


@pytest.mark.parametrize("d", [7, 9, 13])
def test_eigenvalues_of_many_columns_are_within_their_stated_rounding(d):
    rng = np.random.default_rng(d)
    root = rng.normal(size=(d, d + 2)) * 10.0 ** rng.uniform(-1, 1, (d, 1))
    whiten = np.diag(10.0 ** rng.uniform(-1, 1, d))
    C = packed(root @ root.T)
    constant, slopes = FlooredCost(whiten).best_minorant(C, C)
    with mpmath.workdps(60):
        W = mpmath.matrix(whiten.tolist())
        values = mpmath.eigsy(W * mpmath.matrix(unpacked(C).tolist()) * W.T, eigvals_only=True)
        wanted = sum((mpmath.log(2 * mpmath.pi * max(v, 1)) + v / max(v, 1)) / 2 for v in values)
        wanted -= mpmath.log(abs(mpmath.det(W)))
        product = mpmath.mpf(constant)
        for P, x in zip(unpacked(slopes).ravel(), unpacked(C).ravel(), strict=True):
            product += mpmath.mpf(float(P)) * mpmath.mpf(float(x))
        assert product <= wanted
        assert product >= wanted - 1e-6 * (1 + abs(wanted))


@pytest.mark.parametrize("n_components", [2, 3])
def test_many_columns_have_a_valid_bound(n_components):
    problem = make("tied", 1, 8, n_components, 8)
    reference = brute_force_optimum(problem)
    result = gopfast.solve(problem, n_threads=1, max_nodes=12)
    assert np.isfinite(result.lower_bound) and result.lower_bound <= reference + 1e-9
    assert_audited(problem, 2, 10)
