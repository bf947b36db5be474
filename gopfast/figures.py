"""Figures of one result: its bounds against time, the data with the fitted density; needs matplotlib."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gopfast import checks, drawing
from gopfast.annotations import Fit, HasHistory, HasSolution
from gopfast.errors import InputError, InputTypeError
from gopfast.tuning import GRID_POINTS, LEAST_WEIGHT, LOG_TIME_RATIO, MOST_POINTS, SHORT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UPPER_COLOUR = "#c0392b"
LOWER_COLOUR = "#1f5fa8"


def bounds(result: HasHistory, ax: "Axes | None" = None, elbo: bool = False) -> "Axes":
    """
    Draw the lower and the upper bound against time, as figure 1 of the source does.

    Parameters
    ----------
    result : gopfast.result.Result
        The result of a solve, with at least one row of history.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    elbo : bool
        Whether to draw the ELBO (without a prior the log-likelihood), ``elbo_constant - objective``, instead of
        the objective. The proved bound is the upper curve then.

    Returns
    -------
    matplotlib.axes.Axes
        Time in seconds or milliseconds, bounds in nats. Bounds that are far off at the start run out of the
        picture, so that the end can be seen.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    InputError
        If the result has no history, or no ELBO where one is asked for.

    References
    ----------
    Saddiki, Trapp & Flaherty, "A Deterministic Global Optimization Method for Variational Inference",
    figure 1.
    """
    if elbo and result.elbo_constant is None:
        raise InputError("elbo must be False: the objective of this problem is not an ELBO")
    if len(result.history) == 0:
        raise InputError("result must have at least one row of history")
    ax = drawing.axes(ax)

    time, lower, upper, log_time = _curves(result)
    unit = "s"
    if time[-1] < SHORT:
        time, unit = 1e3 * time, "ms"
    incumbent_label, bound_label = "upper bound (best found)", "lower bound (proved)"
    if elbo:
        lower, upper = result.elbo_constant - lower, result.elbo_constant - upper
        incumbent_label, bound_label = "best found", "upper bound (proved)"

    # A bound holds until the next one is reported, hence steps.
    ax.fill_between(time, lower, upper, step="post", color=LOWER_COLOUR, alpha=0.12, linewidth=0)
    ax.step(time, upper, where="post", color=UPPER_COLOUR, linewidth=1.8, label=incumbent_label)
    ax.step(time, lower, where="post", color=LOWER_COLOUR, linewidth=1.8, label=bound_label)
    if log_time:
        ax.set_xscale("log")
        ax.set_xlim(time[0], time[-1])
    else:
        ax.locator_params(axis="x", nbins=6)
        ax.set_xlim(left=0.0)
    limits = _limits(lower, upper)
    if limits is not None:
        ax.set_ylim(limits)
    ax.set_xlabel(f"time ({unit})")
    ax.set_ylabel(f"{result._elbo_name} (nats)" if elbo else result._objective_label)
    ax.grid(alpha=0.25, linewidth=0.6)
    return drawing.finish(ax)


def density(
    fit: Fit | HasSolution,
    ax: "Axes | None" = None,
    columns: int | Sequence[int] | None = None,
    bins: int | None = None,
) -> "Axes":
    """
    Draw the data with the fitted density and its components.

    One column: a histogram with the density and each component's share of it. Two columns: a scatter plot, coloured
    by the responsibilities, with each component's ellipses of one and two standard deviations. Of a mixture of
    regressions: the responses on one regressor, coloured in the same way, with each component's line and a band of one
    standard deviation of its errors.

    Parameters
    ----------
    fit : Result, LocalResult or MixtureSolution
        Of a Gaussian mixture; of a Poisson or an exponential mixture, one column of it; of a mixture of regressions.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    columns : int or pair of int, optional
        Columns to draw, from 0, of data that have more: their marginal density. All by default. Of regressions the one
        regressor of the abscissa: lines are drawn where the others are at their means.
    bins : int, optional
        Bins of the histogram.

    Returns
    -------
    matplotlib.axes.Axes
        At most 20,000 evenly chosen samples are drawn as points.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    InputError
        If an argument is invalid, or there are more than two columns and none are chosen.

    Notes
    -----
    With a Gaussian posterior the means are drawn at their expectations.
    """
    solution = getattr(fit, "solution", fit)
    problem = getattr(solution, "problem", None)
    if getattr(problem, "_draws_lines", False):
        ax = drawing.axes(ax, height=4.4)
        _draw_lines(ax, solution, _check_regressor(columns, problem))
        return drawing.finish(ax)
    if getattr(problem, "_most_columns_drawn", 0) == 0:
        raise InputTypeError(
            "fit must be a fit of a mixture of numbers, such as GaussianMixture, PoissonMixture, ExponentialMixture or "
            "RegressionMixture; "
            f"got one of {type(fit if problem is None else problem).__name__}"
        )
    columns = _check_columns(columns, problem)
    ax = drawing.axes(ax, height=3.6 if len(columns) == 1 else 4.4)
    if len(columns) == 1:
        _draw_curves(ax, solution, columns[0], bins)
    else:
        _draw_ellipses(ax, solution, columns)
    return drawing.finish(ax)


def _check_columns(columns, problem):
    d = problem.n_features
    if columns is None:
        columns = list(range(d))
        if d > 2:
            raise InputError(f"columns must be given, one or two of the {d} of the data")
    else:
        columns = [checks.whole_number("columns", column, 0, d - 1) for column in np.atleast_1d(columns)]
    if len(columns) not in (1, 2) or len(set(columns)) < len(columns):
        raise InputError(f"columns must be one column or two different ones; got {columns}")
    if len(columns) > problem._most_columns_drawn:
        raise InputError(f"columns must be one column of a {type(problem).__name__}")
    return columns


def _draw_curves(ax, solution, column, bins):
    from matplotlib.colors import to_rgb

    problem, counts = solution.problem, solution.problem._counts
    x, weight = problem.X[:, column], problem.sample_weight
    low, high = x.min(), x.max()
    margin = 0.0 if counts else 0.06 * (high - low) or 1.0
    if counts:
        grid = np.arange(max(0.0, low - 1), high + 2)
        edges = np.append(grid, grid[-1] + 1) - 0.5 if bins is None else bins
    else:
        grid = np.linspace(max(problem._least_drawn(high), low - margin), high + margin, GRID_POINTS)
        edges = min(100, max(10, int(2.0 * np.sqrt(len(x))))) if bins is None else bins
    ax.hist(x, edges, weights=weight, density=True, color="#c9ced6", edgecolor="white", linewidth=0.5, label="data")
    shares = _shares(solution, column, grid)
    ax.plot(grid, shares.sum(axis=0), color="black", linewidth=2.0, label="density", marker="o" if counts else "", ms=4)
    # On top and dashed: where one component is all of the density both can be seen.
    for k, share in enumerate(shares):
        if solution.weights[k] > LEAST_WEIGHT:
            label = "components" if k == np.argmax(solution.weights) else None
            hatch, dashes = drawing.of(drawing.HATCHES, k), drawing.of(drawing.DASHES[1:], k)
            colour = to_rgb(drawing.colour(k))
            ax.fill_between(
                grid, share, facecolor=(*colour, 0.15), edgecolor=(*colour, 0.5), hatch=hatch, linewidth=0
            )
            ax.plot(grid, share, color=drawing.colour(k), linewidth=1.6, linestyle=dashes, label=label)
    if counts:
        ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_xlabel(problem.column_names[column])
    ax.set_ylabel("probability" if counts else "density")
    ax.set_ylim(bottom=0.0)


def _shares(solution, column, grid):
    """Each component's weight times its density along one column, (K, m)."""
    logs = solution.problem._column_log_densities(column, grid, **solution.parameters)
    with np.errstate(divide="ignore"):
        return np.exp(logs + np.log(solution.weights)[:, np.newaxis])


def _draw_ellipses(ax, solution, columns):
    from matplotlib.patches import Ellipse

    problem = solution.problem
    _draw_points(ax, solution, columns)
    matrices = problem.kind.matrices(solution.covariances)
    for k, covariance in enumerate(matrices[:, columns][:, :, columns]):
        if solution.weights[k] <= LEAST_WEIGHT:
            continue
        values, vectors = np.linalg.eigh(covariance)
        angle = np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))
        mean = solution.means[k, columns]
        for n_deviations in (1, 2):
            label = "1 and 2 standard deviations" if k == 0 and n_deviations == 1 else None
            ax.add_patch(
                Ellipse(
                    mean, *(2.0 * n_deviations * np.sqrt(values[::-1])), angle=angle, fill=False,
                    edgecolor=drawing.colour(k), linestyle=drawing.of(drawing.DASHES, k),
                    linewidth=1.8 if n_deviations == 1 else 1.0, label=label,
                )
            )  # fmt: skip
        ax.plot(*mean, marker="+", markersize=9, markeredgewidth=1.8, color="black")
    ax.autoscale_view()
    ax.set_xlabel(problem.column_names[columns[0]])
    ax.set_ylabel(problem.column_names[columns[1]])


def _check_regressor(columns, problem):
    """Return the regressor to draw the responses on."""
    p = problem._n_regressors
    if columns is None and p > 1:
        raise InputError(f"columns must be given, one of the {p} regressors")
    found = np.atleast_1d(0 if columns is None else columns)
    if found.size != 1:
        raise InputError(f"columns must be one regressor; got {columns}")
    return checks.whole_number("columns", found[0], 0, p - 1)


def _draw_lines(ax, solution, column):
    """Responses on a regressor, and each component's regression where the others are at their means."""
    problem, parameters = solution.problem, solution.parameters
    _draw_points(ax, solution, [column, problem.n_features - 1])
    rows = np.tile(np.average(problem.regressors, axis=0, weights=problem.sample_weight), (2, 1))
    rows[:, column] = problem.regressors[:, column].min(), problem.regressors[:, column].max()
    fitted = problem.predict(rows, parameters["coefficients"], parameters.get("intercepts"))
    deviations = np.sqrt(problem._variances_of(parameters))
    for k in range(problem.n_components):
        if solution.weights[k] <= LEAST_WEIGHT:
            continue
        first = k == np.argmax(solution.weights)
        ax.plot(
            rows[:, column], fitted[:, k], color=drawing.colour(k), linestyle=drawing.of(drawing.DASHES, k),
            linewidth=1.8, label="regressions" if first else None,
        )  # fmt: skip
        ax.fill_between(
            rows[:, column], fitted[:, k] - deviations[k], fitted[:, k] + deviations[k], color=drawing.colour(k),
            alpha=0.12, linewidth=0, label="1 standard deviation" if first else None,
        )  # fmt: skip
    ax.set_xlabel(problem.column_names[column])
    ax.set_ylabel(problem.column_names[-1])


def _draw_points(ax, solution, columns):
    """Draw samples in two columns, coloured by the responsibilities, a marker for each component."""
    from matplotlib.colors import to_rgb

    problem = solution.problem
    step = -(-problem.n_samples // MOST_POINTS)
    points = problem.X[::step][:, columns]
    colours = np.array([to_rgb(drawing.colour(k)) for k in range(problem.n_weights)])
    mixed = np.clip(solution.responsibilities[::step] @ colours, 0.0, 1.0)
    size = float(np.clip(4000.0 / len(points), 1.5, 16.0))
    component = solution.predict()[::step]
    for k in np.unique(component):
        mine = component == k
        ax.scatter(
            *points[mine].T, s=size, c=mixed[mine], alpha=0.55, linewidth=0, marker=drawing.of(drawing.MARKERS, k)
        )


def _curves(result):
    """Return times, bounds (NaN where unknown), the result itself last, and whether to use a log axis."""
    time, _, lower, upper, _ = result.history.T
    time = np.append(time, max(result.time, time[-1]))
    positive = time[time > 0.0]
    log_time = positive.size > 0 and time[-1] > LOG_TIME_RATIO * positive[0]
    if log_time:
        # A log axis has no zero: what is known then is drawn from just before the first report on.
        time = np.maximum(time, 0.8 * positive[0])
    lower, upper = np.append(lower, result.lower_bound), np.append(upper, result.objective)
    lower, upper = (np.where(np.isfinite(curve), curve, np.nan) for curve in (lower, upper))
    return time, lower, upper, log_time


def _limits(lower, upper):
    """Return limits of the bounds' axis that leave out values far off at the start, or None to show all."""
    best, gaps = upper[-1], np.abs(upper - lower)
    gaps = np.sort(gaps[np.isfinite(gaps)])
    values = np.concatenate([lower, upper])
    values = values[np.isfinite(values)]
    if gaps.size == 0 or not np.isfinite(best):
        return None
    near = max(4.0 * gaps[(gaps.size - 1) // 2], 0.25 * abs(best))
    if near == 0.0 or np.abs(values - best).max() <= 2.0 * near:
        return None
    low, high = max(values.min(), best - near), min(values.max(), best + near)
    margin = 0.05 * (high - low)
    return low - margin, high + margin
