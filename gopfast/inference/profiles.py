"""Figures of several fits beside each other: the criterion of every model, the landscape of all optima."""

from typing import TYPE_CHECKING

import numpy as np

from gopfast import drawing
from gopfast.inference.candidates import OWN_NAME, Selection
from gopfast.inference.landscape import Optima, in_users_units, profile
from gopfast.inference.tuning import APART, AROUND, BEST_SHOWN, CONTOURS, GRID

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Of the surviving boxes of a landscape, by whether an optimum was found in their region.
BOXES = {
    True: {"edgecolor": drawing.COLOURS[0], "label": "boxes: no optimum below the limit lies elsewhere"},
    False: {"edgecolor": "#7f8792", "linestyle": "--", "label": "boxes not excluded, in which none was found"},
}


def selection(choice: Selection, ax: "Axes | None" = None) -> "Axes":
    """
    Draw the criterion of every model against its number of components.

    Parameters
    ----------
    choice : Selection
        What `gopfast.select` returns.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        One line for each kind of covariance through the criteria of the best fits known; a bar down to the bound where
        that is below; a ring around the chosen one. The least is best; the axis is that of the best five. Of those
        above it only bars are drawn that reach below the best: what is not yet proved to lose.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    ax = drawing.axes(ax)
    kinds = list(dict.fromkeys(one.covariance for one in choice.candidates))
    uppers = np.array([one.upper for one in choice.candidates])
    # The axis is that of the best few: others, and bounds that nobody has worked on, may be anywhere and run out of it.
    shown = np.sort(uppers)[:BEST_SHOWN]
    spread = max(np.ptp(shown), 1e-3 * (1.0 + abs(uppers.min())))
    top = shown.max() + 0.08 * spread
    for i, kind in enumerate(kinds):
        mine = [one for one in choice.candidates if one.covariance == kind]
        K, upper = [one.n_components for one in mine], np.array([one.upper for one in mine])
        reach = upper - np.array([one.lower for one in mine])
        reach[(upper > top) & [choice.loses(one) for one in mine]] = 0.0  # their bars would only cross the picture
        beside = APART * (i - 0.5 * (len(kinds) - 1))  # bars of one number of components do not hide each other
        ax.errorbar(
            np.add(K, beside), upper, yerr=[reach, np.zeros_like(reach)], label=kind or OWN_NAME,
            color=drawing.of(drawing.COLOURS, i), marker=drawing.of(drawing.MARKERS, i),
            linestyle=drawing.of(drawing.DASHES, i), linewidth=1.5, markersize=5, capsize=3, elinewidth=1.0,
        )  # fmt: skip
    best = choice.best
    label = f"chosen ({'proved' if choice.status == 'PROVED' else 'best known'})"
    beside = APART * (kinds.index(best.covariance) - 0.5 * (len(kinds) - 1))
    ax.plot(
        best.n_components + beside, best.upper, "o", markersize=13, markerfacecolor="none", markeredgecolor="black",
        label=label,
    )  # fmt: skip
    ax.set_ylim(uppers.min() - 0.35 * spread, top)
    ax.set_xticks(sorted({one.n_components for one in choice.candidates}))
    ax.set_xlabel("number of components")
    ax.set_ylabel(f"{choice.criterion.upper()} (least is best)")
    ax.grid(alpha=0.25, linewidth=0.6)
    drawing.finish(ax, legend=False)
    # beside the picture: bars may be anywhere in it
    ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def optima(found: Optima, ax: "Axes | None" = None) -> "Axes":
    """
    Draw the landscape of a mixture: the objective, best in the weights, and what is proved of it.

    Two parameters beside the weights: contours over both, the surviving boxes and the optima. More: along the straight
    path from the best optimum to each other one, or through the best alone along each parameter.

    Parameters
    ----------
    found : Optima
        What `gopfast.optima` returns.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    ax = drawing.axes(ax, height=4.2)
    if found.low.shape[1] == 2:
        return _draw_plane(found, ax)
    return _draw_paths(found, ax)


def _draw_plane(found, ax):
    """Contours over the two coordinates of the core, in the user's units, boxes and optima."""
    from matplotlib.patches import Rectangle

    low, high = found.low.min(axis=0), found.high.max(axis=0)
    margin = 0.15 * (high - low)
    axes = [np.linspace(low[j] - margin[j], high[j] + margin[j], GRID) for j in range(2)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    values = profile(found, points).reshape(GRID, GRID)
    name, units = _plane_units(found, axes)
    depth = found.limit - found.best.objective
    levels = found.best.objective + depth * np.geomspace(0.05, 20.0, CONTOURS)
    ax.contour(units[0], units[1], values.T, levels, colors="#9aa3af", linewidths=0.7)
    with_optimum, labelled = {one.region for one in found.optima}, set()
    corners = [_plane_units(found, [side[:, 0], side[:, 1]])[1] for side in (found.low, found.high)]
    for i in range(len(found.low)):
        at, end = ([corner[j][i] for j in range(2)] for corner in corners)
        sides = end[0] - at[0], end[1] - at[1]
        style = BOXES[bool(found.regions[i] in with_optimum)]
        if style["label"] in labelled:
            style = {**style, "label": None}
        labelled.add(style["label"])
        ax.add_patch(Rectangle(at, *sides, facecolor="none", linewidth=0.8, **style))
    for i, one in enumerate(found.optima):
        at = np.sort(np.ravel(one.solution.parameters[name]))
        ax.plot(*at, drawing.of(drawing.MARKERS, i), color=drawing.COLOURS[1], label=_place(one))
    ax.set_xlabel(f"{name}, component 0")
    ax.set_ylabel(f"{name}, component 1")
    drawing.finish(ax, legend=False)
    # beside the picture: boxes and contours may be anywhere in it
    ax.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.17))
    return ax


def _place(optimum):
    """Say how far an optimum is above the best."""
    return f"{optimum.excess:.3g} nats above" if optimum.excess > 0.0 else "the best"


def _plane_units(found, axes):
    """Return the parameter's name and two lists of coordinates in the user's units; all are monotone in the core's."""
    given = [in_users_units(found, np.column_stack([axis, axis])) for axis in axes]
    name = found.problem.parameter_names[0]
    return name, [np.array([np.ravel(one[name])[j] for one in values]) for j, values in enumerate(given)]


def _draw_paths(found, ax):
    """Draw the objective along straight paths in the core's coordinates."""
    best, *others = found.optima
    # Close to the optima, which may be narrow, and in between.
    near = np.geomspace(1e-4, AROUND, GRID)
    steps = np.sort(np.concatenate([-near, near, 1.0 - near, 1.0 + near, np.linspace(AROUND, 1.0 - AROUND, GRID)]))
    start = found.point(best)
    for i, other in enumerate(others):
        points = start + np.outer(steps, found.point(other) - start)
        label = f"to the one {other.excess:.3g} nats above"
        _draw_path(found, ax, steps, points, i, label)
    if not others:
        low, high = found.low.min(axis=0), found.high.max(axis=0)
        for j in range(len(start)):
            points = np.tile(start, (GRID, 1))
            points[:, j] = np.linspace(low[j], high[j], GRID)
            _draw_path(found, ax, np.linspace(0.0, 1.0, GRID), points, j, f"coordinate {j}")
    depth = found.limit - found.best.objective
    ax.axhline(0.0, color="black", linewidth=0.8)
    ax.axhline(depth, color="#c0392b", linewidth=1.0, linestyle="--", label="limit")
    ax.set_yscale("symlog", linthresh=depth)  # walls between optima may be high
    ax.set_ylim(bottom=-0.2 * depth)
    ax.set_xlabel("along the path from the best (0) to the other (1)" if others else "along the region of the best")
    ax.set_ylabel("objective above the best (nats)")
    return drawing.finish(ax, fontsize="small")


def _draw_path(found, ax, steps, points, i, label):
    values = profile(found, points) - found.best.objective
    ax.plot(
        steps, values, color=drawing.of(drawing.COLOURS, i), linestyle=drawing.of(drawing.DASHES, i), linewidth=1.6,
        label=label,
    )  # fmt: skip
