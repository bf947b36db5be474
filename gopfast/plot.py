"""Figures; needs matplotlib, which ``pip install gopfast[plot]`` brings."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from gopfast import checks, drawing
from gopfast.classification import (
    classes as classes,
    entropy as entropy,
    pairs as pairs,
    uncertainty as uncertainty,
)
from gopfast.errors import InputError
from gopfast.figures import LOWER_COLOUR, UPPER_COLOUR, bounds as bounds, density as density
from gopfast.inference.profiles import optima as optima, selection as selection
from gopfast.result import SearchResult
from gopfast.tuning import THIN

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def local_optima(
    objectives: ArrayLike | Mapping[str, ArrayLike], result: SearchResult, ax: "Axes | None" = None, bins: int = 60
) -> "Axes":
    """
    Draw a histogram of the objectives that a local method ended at, with the proved interval.

    Parameters
    ----------
    objectives : array_like of shape (m,), or dict of such
        Where the runs ended, such as `RestartResult.objectives`; by name of the method if there are several.
    result : gopfast.result.Result
        The global search; ``[lower_bound, objective]`` is the interval that holds the global optimum.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    bins : int, default 60

    Returns
    -------
    matplotlib.axes.Axes
        Objectives that are not finite are left out.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    InputError
        If an argument is invalid.
    """
    groups = dict(objectives) if isinstance(objectives, Mapping) else {"local optima": objectives}
    bins = checks.whole_number("bins", bins, 1)
    groups = {name: np.ravel(np.asarray(values, dtype=float)) for name, values in groups.items()}
    groups = {name: values[np.isfinite(values)] for name, values in groups.items()}
    if not any(values.size for values in groups.values()):
        raise InputError("objectives must have a finite entry")
    ax = drawing.axes(ax, height=3.6 + 0.16 * max(0, len(groups) - 4))
    values = np.concatenate(list(groups.values()))
    lower = result.lower_bound if np.isfinite(result.lower_bound) else result.objective
    low, high = min(values.min(), result.objective), max(values.max(), result.objective)
    # Runs that all end at one value still make a bar. No bar begins below the best: it would look like a better run.
    width = max(high - low, 1e-6 * (1.0 + abs(high)))
    edges = np.linspace(low, low + 1.01 * width, bins + 1)
    colours = ["#aab2bf"] if len(groups) == 1 else [drawing.colour(k) for k in range(len(groups))]
    _, _, bars = ax.hist(list(groups.values()), edges, stacked=True, color=colours, label=list(groups))
    for k, patches in enumerate(bars if len(groups) > 1 else ()):
        for patch in patches:
            patch.set(hatch=drawing.of(drawing.HATCHES, k), edgecolor="white", linewidth=0.0)
    # Without a proof the interval is wide, and must not hide the runs.
    ax.set_xlim(max(lower, low - width) - 0.03 * width, edges[-1] + 0.03 * width)
    gap = result.objective - lower
    if gap < THIN * width:
        ax.axvline(lower, color=UPPER_COLOUR, linewidth=1.8, label=f"proved interval, {gap:.2g} wide")
    else:
        ax.axvspan(lower, result.objective, color=LOWER_COLOUR, alpha=0.15, linewidth=0, label="proved interval")
        ax.axvline(lower, color=LOWER_COLOUR, linewidth=1.4)
        ax.axvline(result.objective, color=UPPER_COLOUR, linewidth=1.4)
    ax.set_xlabel(result._objective_label)
    ax.set_ylabel("runs")
    return drawing.finish(ax, fontsize="small")
