import sys

import numpy as np
import pytest

from gopfast import plot
from gopfast.errors import InputError
from gopfast.result import Result, Status


def make_result(n_rows=30, end=10.0, **changes):
    time = np.geomspace(1e-3, end, n_rows)
    share = np.linspace(0.0, 1.0, n_rows)
    history = np.column_stack([time, np.arange(n_rows), -30.0 * (1 - share) ** 2, 5.0 - 5 * share, share])
    arguments = {
        "status": Status.OPTIMAL, "objective": 0.0, "lower_bound": 0.0, "solution": None,
        "elbo_constant": -2.0, "time": end, "history": history,
    }  # fmt: skip
    return Result(**{**arguments, **changes})


@pytest.fixture
def ax():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, ax = pyplot.subplots()
    yield ax
    pyplot.close("all")


def test_bounds_are_drawn_on_the_given_axes(ax):
    result = make_result()
    assert plot.bounds(result, ax=ax) is ax
    upper, lower = (line.get_ydata() for line in ax.get_lines())
    np.testing.assert_array_equal(upper, [*result.history[:, 3], result.objective])
    np.testing.assert_array_equal(lower, [*result.history[:, 2], result.lower_bound])
    assert ax.get_xlabel() == "time (s)"
    ax.figure.canvas.draw()


def test_new_figure_by_default(ax):
    new = make_result().plot()
    assert new is not ax
    new.figure.canvas.draw()


def test_elbo_turns_the_bounds_over(ax):
    result = make_result()
    result.plot(ax=ax, elbo=True)
    best, bound = (line.get_ydata() for line in ax.get_lines())
    assert (bound >= best).all()
    assert best[-1] == result.elbo
    assert "ELBO" in ax.get_ylabel()


@pytest.mark.parametrize(("end", "scale"), [(10.0, "log"), (0.002, "linear")])
def test_time_axis_is_logarithmic_when_its_range_is_large(ax, end, scale):
    assert plot.bounds(make_result(end=end), ax=ax).get_xscale() == scale


@pytest.mark.parametrize("elbo", [False, True])
def test_first_bounds_far_off_do_not_hide_the_end(ax, elbo):
    history = make_result().history.copy()
    history[0, 2] = -1e6
    low, high = plot.bounds(make_result(history=history), ax=ax, elbo=elbo).get_ylim()
    assert 30.0 < high - low < 200.0


def test_short_searches_are_drawn_in_milliseconds(ax):
    plot.bounds(make_result(end=0.05), ax=ax)
    assert ax.get_xlabel() == "time (ms)"
    assert ax.get_xlim()[1] == pytest.approx(50.0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "history", [[[0.0, 1, -np.inf, np.inf, 1]], [[0.0, 1, -np.inf, 9.0, 1], [0.5, 2, 1.0, 8.0, 1]]]
)
def test_unknown_bounds_and_time_zero_are_drawable(ax, history):
    plot.bounds(make_result(history=history, time=history[-1][0]), ax=ax).figure.canvas.draw()


def test_bad_results_are_refused():
    with pytest.raises(InputError, match="history"):
        plot.bounds(make_result(history=[]))
    with pytest.raises(InputError, match="elbo"):
        plot.bounds(make_result(elbo_constant=None), elbo=True)


def test_advice_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install gopfast\[plot\]"):
        plot.bounds(make_result())
