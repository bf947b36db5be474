"""Precisions around one: their distances, and what cuts of them lack of a function that is concave."""

import numpy as np
import pytest

from gopfast.mixtures.shared.surroundings import Surroundings


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_pairs_are_opposite_and_as_far_as_is_said(d):
    roots = np.random.default_rng(d).uniform(0.3, 3.0, d)
    around = Surroundings(roots, 0.6)
    assert len(around.forms) == d * (d + 1)
    apart = [form / np.outer(roots, roots) - np.eye(d) for form in around.forms]
    for one, other in zip(apart[::2], apart[1::2], strict=True):
        assert np.linalg.norm(one) == pytest.approx(0.6)
        assert np.abs(one + other).max() < 1e-12
    products = np.array([one.ravel() for one in apart[::2]])
    assert np.abs(products @ products.T - 0.36 * np.eye(len(products))).max() < 1e-12
    assert all(np.linalg.eigvalsh(form)[0] > 0.0 for form in around.forms)


@pytest.mark.parametrize("d", [2, 3])
def test_what_cuts_lack_is_about_what_is_estimated(d):
    """Of half the inner product with I less a small square: the least of what cuts say, and of the function."""
    bend, around = 1e-3, Surroundings(np.ones(d), 0.5)

    def optimum(A):
        return 0.5 * np.trace(A) - bend * np.square(A - np.eye(d)).sum()

    heights = [optimum(form) for form in around.forms]
    lacks = around.lacks(optimum(np.eye(d)), heights)
    # cuts fall short by c r of the tangent, per unit of distance, and half the logarithm bends by a quarter
    slopes = np.full(len(heights) // 2, bend * 0.5)
    assert lacks == pytest.approx(4.0 * np.square(slopes).sum())
