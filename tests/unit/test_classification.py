"""Figures of how a fit divides the samples show what the fit says."""

import numpy as np
import pytest

import gopfast
from gopfast import plot

pyplot = pytest.importorskip("matplotlib.pyplot")

FAITHFUL = gopfast.datasets.load_faithful()


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def fit():
    return gopfast.solve(gopfast.GaussianMixture(FAITHFUL, 2, covariance="diag", variance_floor=0.04), log=False)


def test_pairs_show_every_column_against_every_other(fit):
    axes = plot.pairs(fit)
    axes[0, 0].figure.canvas.draw()
    assert axes.shape == (2, 2)
    shown = np.concatenate([points.get_offsets() for points in axes[1, 0].collections])
    assert sorted(map(tuple, shown)) == sorted(map(tuple, FAITHFUL))
    for k, points in enumerate(axes[1, 0].collections):
        np.testing.assert_array_equal(points.get_offsets(), FAITHFUL[fit.predict() == k])
    heights = sum(patch.get_height() for patch in axes[0, 0].patches)
    assert heights >= len(FAITHFUL)  # stacked


@pytest.mark.parametrize("columns", [[0], [0, 2], list(range(7))])
def test_pairs_take_two_to_six_columns_of_the_data(fit, columns):
    with pytest.raises(gopfast.InputError, match="columns must be 2 to 6 of the 2"):
        plot.pairs(fit, columns)


def test_uncertainty_is_the_probability_of_another_component(fit):
    ax = fit.plot("uncertainty")
    ax.figure.canvas.draw()
    doubt = 1.0 - fit.predict_proba().max(axis=1)
    sizes = np.concatenate([points.get_sizes() for points in ax.collections])
    assert len(sizes) == len(doubt) and np.sort(sizes)[-1] == pytest.approx(94.0)
    assert f"{doubt.max():.2g}" in ax.get_title()
    line = gopfast.solve(gopfast.GaussianMixture(FAITHFUL[:, :1], 2), log=False)
    ax = line.plot("uncertainty")
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), np.sort(1.0 - line.predict_proba().max(axis=1)))


def test_the_entropy_is_that_of_the_summary(fit):
    ax = fit.plot("entropy")
    assert ax.lines[-1].get_ydata().sum() == pytest.approx(fit.summary().entropy)
    assert f"{fit.summary().entropy:.4g} nats" in ax.get_title()


def test_profiles_are_the_probabilities_of_the_classes():
    found = gopfast.solve(gopfast.LatentClass(gopfast.datasets.load_carcinoma(), 2), log=False)
    ax = found.plot("classes")
    ax.figure.canvas.draw()
    for k, line in enumerate(ax.lines):
        expected = [table[k, 1] for table in found.solution.parameters["probabilities"]]
        np.testing.assert_allclose(line.get_ydata(), expected)
    binary = gopfast.solve(gopfast.BernoulliMixture(np.eye(4)[:, :3], 2), log=False)
    ax = binary.plot("classes")
    np.testing.assert_allclose(ax.lines[1].get_ydata(), binary.solution.parameters["probabilities"][1])


def test_profiles_of_more_levels_are_bars_that_add_up_to_one():
    X = np.random.default_rng(0).integers(0, 3, (30, 2))
    found = gopfast.solve(gopfast.LatentClass(X, 2), log=False, time_limit=5.0)
    ax = found.plot("classes")
    ax.figure.canvas.draw()
    heights = np.array([patch.get_height() for patch in ax.patches])
    assert len(heights) == 2 * 2 * 3
    np.testing.assert_allclose(heights.reshape(4, 3).sum(axis=1), 1.0)


def test_a_fit_of_another_model_is_refused(fit):
    with pytest.raises(gopfast.InputError, match="labels or binary items"):
        fit.plot("classes")
    with pytest.raises(gopfast.InputError, match="must be a fit of a mixture"):
        plot.uncertainty(gopfast.solve(gopfast.KMeans([[0.0], [1.0], [5.0]], 2), log=False))
    with pytest.raises(gopfast.InputError, match="kind"):
        fit.plot("pie")
