"""Figures of several fits beside each other: the criterion of every model."""

from typing import TYPE_CHECKING

import numpy as np

from gopfast import drawing
from gopfast.candidates import OWN_NAME, Selection

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        that is below; a ring around the chosen one. The least is best.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    ax = drawing.axes(ax)
    kinds = list(dict.fromkeys(one.covariance for one in choice.candidates))
    uppers = np.array([one.upper for one in choice.candidates])
    # A bound that nobody has worked on may be anywhere: it runs out of the picture.
    spread = max(np.ptp(uppers), 1e-3 * (1.0 + abs(uppers.min())))
    for i, kind in enumerate(kinds):
        mine = [one for one in choice.candidates if one.covariance == kind]
        K, upper = [one.n_components for one in mine], np.array([one.upper for one in mine])
        reach = upper - np.array([one.lower for one in mine])
        ax.errorbar(
            K, upper, yerr=[reach, np.zeros_like(reach)], label=kind or OWN_NAME, color=drawing.of(drawing.COLOURS, i),
            marker=drawing.of(drawing.MARKERS, i), linestyle=drawing.of(drawing.DASHES, i), linewidth=1.5, markersize=5,
            capsize=3, elinewidth=1.0,
        )  # fmt: skip
    best = choice.best
    label = f"chosen ({'proved' if choice.status == 'PROVED' else 'best known'})"
    ax.plot(
        best.n_components, best.upper, "o", markersize=13, markerfacecolor="none", markeredgecolor="black", label=label
    )
    ax.set_ylim(uppers.min() - 0.35 * spread, uppers.max() + 0.08 * spread)
    ax.set_xticks(sorted({one.n_components for one in choice.candidates}))
    ax.set_xlabel("number of components")
    ax.set_ylabel(f"{choice.criterion.upper()} (least is best)")
    ax.grid(alpha=0.25, linewidth=0.6)
    return drawing.finish(ax, fontsize="small")
