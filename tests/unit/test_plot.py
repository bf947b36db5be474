import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import poisson
from support.datasets import galaxies

import gopfast
from gopfast import Result, Status, plot
from gopfast.errors import InputError


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


def test_without_a_prior_the_values_are_likelihoods(ax):
    gopfast.solve(gopfast.GaussianMixture([0.0, 9.0], 2, covariance="known")).plot(ax=ax, elbo=True)
    assert ax.get_ylabel() == "log-likelihood (nats)"


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


def galaxies_fit(K=3):
    return gopfast.solve(gopfast.GaussianMixture(galaxies(), K, covariance="known"), epsilon=1.0)


def test_density_of_one_column_is_a_density_over_a_histogram_of_the_data(ax):
    fit = galaxies_fit()
    assert fit.plot("density", ax=ax) is ax
    total, *components = (np.array(line.get_data()) for line in ax.get_lines())
    assert total[1].sum() * (total[0, 1] - total[0, 0]) == pytest.approx(1.0, abs=5e-3)
    assert len(components) == 3
    np.testing.assert_allclose(sum(component[1] for component in components), total[1], rtol=1e-12)
    peaks = [component[0][component[1].argmax()] for component in components]
    np.testing.assert_allclose(peaks, fit.solution.means[:, 0], atol=0.1)
    assert sum(bar.get_width() * bar.get_height() for bar in ax.patches) == pytest.approx(1.0)
    ax.figure.canvas.draw()


@pytest.mark.parametrize(
    ("covariance", "value", "axes"),
    [
        ("diag", [[1.0, 4.0], [9.0, 0.25]], [{2.0, 4.0}, {6.0, 1.0}]),
        ("spherical", [1.0, 4.0], [{2.0}, {4.0}]),
        ("tied_spherical", [[4.0, 0.0], [0.0, 4.0]], [{4.0}, {4.0}]),
        ("tied", [[2.5, 1.5], [1.5, 2.5]], [{4.0, 2.0}, {4.0, 2.0}]),
        ("full", [[[2.5, 1.5], [1.5, 2.5]], [[1.0, 0.0], [0.0, 9.0]]], [{4.0, 2.0}, {2.0, 6.0}]),
    ],
)
def test_density_of_two_columns_has_an_ellipse_of_each_covariance(ax, covariance, value, axes):
    X = np.random.default_rng(0).standard_normal((30, 2))
    problem = gopfast.GaussianMixture(X, 2, covariance=covariance, variance_floor=0.1)
    weights, means = np.array([0.5, 0.5]), np.array([[0.0, 1.0], [2.0, 3.0]])
    fit = gopfast.MixtureSolution(problem=problem, weights=weights, means=means, covariances=np.array(value))
    plot.density(fit, ax=ax)
    for ellipse, centre, wanted in zip(ax.patches[::2], means, axes, strict=True):
        np.testing.assert_array_equal(ellipse.get_center(), centre)
        assert {round(ellipse.get_width(), 9), round(ellipse.get_height(), 9)} == wanted
    if covariance == "full":
        assert ax.patches[0].get_angle() % 180.0 == pytest.approx(45.0)
    points = np.concatenate([points.get_offsets() for points in ax.collections])  # one marker for each component
    np.testing.assert_allclose(points[np.lexsort(points.T)], X[np.lexsort(X.T)])
    ax.figure.canvas.draw()


def test_density_of_chosen_columns_is_the_marginal_one(ax):
    X = np.random.default_rng(0).standard_normal((30, 3)) + [0.0, 0.0, 50.0]
    fit = gopfast.solve(gopfast.GaussianMixture(X, 2, covariance="known"), max_nodes=1)
    with pytest.raises(InputError, match="columns"):
        plot.density(fit)
    assert ax.get_lines()[:] == []
    assert plot.density(fit, ax=ax, columns=2).get_xlim()[0] > 40.0
    assert plot.density(fit, columns=[2, 0]).get_xlim()[0] > 40.0


def test_density_of_counts_is_their_probability(ax):
    x = np.array([0, 1, 2, 2, 3, 9, 10, 12])
    fit = gopfast.MixtureSolution(
        problem=gopfast.PoissonMixture(x, 2), weights=np.array([0.5, 0.5]), rates=np.array([[2.0], [10.0]])
    )
    grid, total = plot.density(fit, ax=ax).get_lines()[0].get_data()
    np.testing.assert_array_equal(grid, np.arange(14))
    np.testing.assert_allclose(total, 0.5 * poisson.pmf(grid, 2.0) + 0.5 * poisson.pmf(grid, 10.0))
    assert [bar.get_height() for bar in ax.patches[:4]] == pytest.approx([1 / 8, 1 / 8, 2 / 8, 1 / 8])


def test_local_optima_are_counted_beside_the_proved_interval(ax):
    result = make_result(objective=10.0, lower_bound=8.0)
    plot.local_optima({"em": [10.0, 10.0, 20.0], "other": [15.0, np.inf]}, result, ax=ax, bins=10)
    assert sum(bar.get_height() for bar in ax.containers[0]) == 3
    assert ax.containers[0][0].get_height() == 2  # the global optima, in the first bin
    assert min(bar.get_x() for bar in ax.containers[0]) >= 10.0  # no bar reaches below the best
    assert [line.get_xdata()[0] for line in ax.get_lines()] == [8.0, 10.0]
    ax.figure.canvas.draw()


@pytest.mark.filterwarnings("error")
def test_local_optima_that_are_all_the_same_are_drawable(ax):
    plot.local_optima([3.0] * 5, make_result(objective=3.0, lower_bound=3.0), ax=ax)
    assert sum(bar.get_height() for bar in ax.patches) == 5
    plot.local_optima([3.0] * 5, make_result(objective=3.0, lower_bound=-np.inf)).figure.canvas.draw()


@pytest.mark.parametrize(
    ("draw", "named"),
    [
        (lambda: plot.density(3), "fit"),
        (lambda: plot.density(galaxies_fit(1), columns=1), "columns"),
        (lambda: plot.density(galaxies_fit(1), columns=[0, 0]), "columns"),
        (lambda: plot.local_optima([np.inf], make_result()), "objectives"),
        (lambda: plot.local_optima([1.0], make_result(), bins=0), "bins"),
        (lambda: make_result().plot("tree"), "kind"),
    ],
    ids=range(6),
)
def test_a_bad_argument_is_named(draw, named):
    with pytest.raises(InputError, match=named):
        draw()


def test_advice_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install gopfast\[plot\]"):
        plot.bounds(make_result())


@pytest.mark.parametrize(
    "options", [{}, {"variance": "shared"}, {"noise_variance": 4.0, "fit_intercept": False}], ids=str
)
def test_lines_of_regressions_are_drawn_over_the_responses(ax, options):
    gnp, co2 = gopfast.datasets.load_co2data().T
    problem = gopfast.RegressionMixture(gnp, co2, 2, **options)
    fit = gopfast.local.em(problem, random_state=0)
    assert plot.density(fit, ax=ax) is ax
    lines = [line for line in ax.get_lines() if len(line.get_xdata()) == 2]
    state = fit.solution.parameters
    fitted = problem.predict([[gnp.min()], [gnp.max()]], state["coefficients"], state.get("intercepts"))
    np.testing.assert_allclose(np.sort([line.get_ydata() for line in lines], axis=0), np.sort(fitted.T, axis=0))
    points = np.concatenate([one.get_offsets() for one in ax.collections if len(one.get_offsets()) > 1])
    assert len(points) == 28
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")
    ax.figure.canvas.draw()


def test_one_of_many_regressors_is_drawn(ax):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    fit = gopfast.local.em(gopfast.RegressionMixture(X, X[:, 0] + rng.normal(size=20), 2), random_state=0)
    with pytest.raises(InputError, match="columns must be given, one of the 2 regressors"):
        plot.density(fit, ax=ax)
    with pytest.raises(InputError, match="columns must be one regressor"):
        plot.density(fit, ax=ax, columns=[0, 1])
    plot.density(fit, ax=ax, columns=1)
    assert ax.get_xlabel() == "x1"


def test_the_module_is_there_without_an_import_of_its_own(tmp_path):
    code = "import sys, gopfast; assert 'gopfast.plot' not in sys.modules; gopfast.plot.density"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)  # away from the source tree
