"""Core coordinates of matrix covariances: what rounding costs in them is bounded, and small."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from gopfast.mixtures.families.full import FullFamily
from gopfast.mixtures.families.matrices import MatrixFamily
from gopfast.mixtures.families.matrix import FlooredCost
from gopfast.mixtures.families.tied import TiedFamily
from hypothesis import given, strategies as st
from support.attack import exact, matrix_cost
from support.matrices import packed
from support.settings import examples

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.families.axes import (
    coordinates,
    determinant,
    eliminated,
    floats,
    log_abs_det,
    rational,
    whitening,
)

MARGIN = 64 * 2.0**-53  # of a constant, in units of its size

some = examples(40)


def steep_axes(rng, d, condition):
    """Axes with a given condition number, and rows of different sizes."""
    left, right = (np.linalg.qr(rng.normal(size=(d, d)))[0] for _ in range(2))
    return 10.0 ** rng.uniform(-3.0, 3.0, (d, 1)) * (left * np.geomspace(1.0, 1.0 / condition, d)) @ right


@some
@given(seed=st.integers(0, 10**6), d=st.integers(1, 6), power=st.integers(0, 12))
def test_determinant_inverse_and_whitening_are_those_of_the_floats(seed, d, power):
    rng = np.random.default_rng(seed)
    axes, floor = steep_axes(rng, d, 10.0**power), 10.0 ** rng.uniform(-12.0, 3.0, d)
    with mpmath.workdps(80):
        matrix = mpmath.matrix(axes.tolist())
        det = mpmath.log(abs(mpmath.det(matrix)))
        inverse = np.array((matrix**-1).tolist(), dtype=float)
    assert abs(log_abs_det(axes) - det) <= 4e-16 * (2 + abs(det))
    np.testing.assert_allclose(floats(eliminated(rational(axes))[1]), inverse, rtol=1e-15)
    found = coordinates(np.zeros((1, d)), np.ones(1), np.zeros(d), axes, floor)
    W, A = exact(found.whiten) @ exact(axes), exact(floor)
    away = np.abs((W * A) @ W.T - exact(np.eye(d))).sum(axis=1).max()
    rows = axes * np.sqrt(floor)
    condition = np.linalg.cond(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    assert float(away) * 0.5 * d <= found.error
    assert found.error <= 1e-14 * condition**2 or condition > 1e6


@some
@given(seed=st.integers(0, 10**6), d=st.integers(1, 4), power=st.integers(0, 9))
def test_the_error_bounds_what_rounding_changes_in_the_cost(seed, d, power):
    """The cost of all samples in one component, of the data and of what the core sees."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, d)) * 10.0 ** rng.uniform(-3.0, 3.0, d) + rng.choice([0.0, 1e6], d)
    floor, axes = (10.0 ** rng.uniform(-4.0, 0.0, d) * X.std(axis=0)) ** 2, steep_axes(rng, d, 10.0**power)
    found = coordinates(X, np.ones(12), X.mean(axis=0), axes, floor)
    with mpmath.workdps(60):
        value = matrix_cost(_covariance(exact(X.T)), exact(floor))
        # in units of the core's floor
        z = exact(found.whiten) @ exact(found.columns)
        core = matrix_cost(_covariance(z), [Fraction(1)] * d) - mpmath.log(
            abs(mpmath.det(mpmath.matrix(found.whiten.tolist())))
        )
        assert abs(12 * (core - value) + found.constant) <= found.error + 1e-15 * abs(found.constant)


def _covariance(columns):
    n = columns.shape[1]
    z = columns - (columns.sum(axis=1) / n)[:, None]
    return z @ z.T / n


@pytest.mark.parametrize("power", [0, 4, 8])
@pytest.mark.parametrize("kind, d", [(FullFamily, 2), (MatrixFamily, 3), (TiedFamily, 2), (TiedFamily, 5)])
def test_the_constant_is_within_its_margin(kind, d, power):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        axes = steep_axes(rng, d, 10.0**power)
        family = kind(rng.normal(size=(9, d)), np.ones(9), 2, np.ones(d), axes)
        with mpmath.workdps(60):
            constant = -9 * mpmath.log(abs(mpmath.det(mpmath.matrix(axes.tolist()))))
            assert abs(family.constant - constant) <= MARGIN * max(abs(family.constant), family.constant_size)


@some
@given(seed=st.integers(0, 10**6), d=st.integers(1, 5), power=st.integers(0, 6))
def test_minorants_are_below_the_cost_to_the_last_digit(seed, d, power):
    """The cost in extended precision, of covariances far above the floor and below it, however it is turned."""
    rng = np.random.default_rng(seed)
    whiten = np.linalg.inv(steep_axes(rng, d, 10.0**power))
    cost = FlooredCost(whiten)
    root = rng.normal(size=(d, d + 2)) * 10.0 ** rng.uniform(-3.0, 3.0, (d, 1))
    center = packed(np.round(root @ root.T * 2.0**20) / 2.0**20)
    scale = np.sqrt(np.diagonal(root @ root.T))
    half = rng.choice([0.0, 1e-9, 1e-3, 0.3]) * rng.random(len(center)) * packed(np.outer(scale, scale))
    constant, slopes = cost.best_minorant(center - half, center + half)
    rows, columns = np.triu_indices(d)
    with mpmath.workdps(60):
        log_det = mpmath.log(abs(mpmath.det(mpmath.matrix(whiten.tolist()))))
        for share in [0.0, *rng.uniform(-1.0, 1.0, (4, len(center)))]:
            entries = np.clip(center + share * half, center - half, center + half)
            C = np.empty((d, d))
            C[rows, columns] = C[columns, rows] = entries
            exact_C = exact(C)
            if min(mpmath.eigsy(mpmath.matrix(C.tolist()), eigvals_only=True)) < 0:
                continue
            value = matrix_cost(exact(whiten) @ exact_C @ exact(whiten).T, [Fraction(1)] * d) - log_det
            times = [1 + (a != b) for a, b in zip(rows, columns, strict=True)]
            terms = [n * Fraction(p) * Fraction(c) for n, p, c in zip(times, slopes, entries, strict=True)]
            bound = Fraction(constant) + sum(terms)
            assert bound.numerator / mpmath.mpf(bound.denominator) <= value


@pytest.mark.parametrize("covariance", ["tied", "full"])
@pytest.mark.parametrize("share", [1e-2, 1e-4, 5e-6])
def test_axes_are_such_that_rounding_costs_next_to_nothing(covariance, share):
    """Two columns that differ by little, above floors of down to a millionth of their range."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=40) + 4.0 * rng.integers(2, size=40)
    X = np.column_stack([z, 100.0 - z + share * rng.normal(size=40)])
    problem = gopfast.GaussianMixture(X, 2, covariance=covariance, variance_floor=(share * np.std(z)) ** 2)
    family = engine.family(problem)
    assert MARGIN * family.constant_size <= 1e-7


@pytest.mark.parametrize(
    "matrix", [[[0.0]], [[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [2.0, 1.0, 2.0]]]
)
def test_a_singular_matrix_has_no_inverse(matrix):
    for function in (determinant, eliminated, whitening):
        with pytest.raises(ZeroDivisionError):
            function(rational(matrix))


def test_elimination_exchanges_rows_and_keeps_the_sign():
    matrix = rational([[0.0, 2.0, 0.0], [0.0, 0.0, 0.125], [4.0, 1.0, 1e-300]])
    det, inverse = eliminated(matrix)
    assert det == determinant(matrix) == 1
    assert (exact(matrix) @ exact(inverse) == exact(np.eye(3))).all()
