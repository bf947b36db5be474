"""The figures of the paper's experiments; needs matplotlib."""

import matplotlib
import numpy as np
from matplotlib import pyplot

from gopfast.plot import LOWER_COLOUR, UPPER_COLOUR

LEAST_SHOWN = -60.0  # nats; first bounds lie as low as -250,000
N_BINS = 12
COLOURS = ("#4c78a8", "#f58518", "#54a24b")


def restarts(path, ends, proved):
    """Histogram of the objectives where variational EM ended, with the proved interval of the optimum."""
    matplotlib.use("Agg")
    figure, ax = pyplot.subplots(figsize=(7.2, 4.0), layout="constrained")
    low = min(min(values) for values in ends.values())
    high = max(max(values) for values in ends.values())
    margin = 0.12 * (high - low)
    # Bars begin at the mean of their bin, side by side: bins of a plain histogram would lie beside the optimum.
    edges = np.linspace(low, high + 1e-9, N_BINS + 1)
    width = 0.04 * (high - low)
    for place, (colour, (kind, values)) in enumerate(zip(COLOURS, ends.items(), strict=False)):
        bins = np.digitize(values, edges)
        used, counts = np.unique(bins, return_counts=True)
        centres = [np.mean(np.asarray(values)[bins == number]) for number in used]
        # the first begins at its value: none may seem to lie left of the optimum
        bars = ax.bar(
            np.add(centres, place * width), counts, width, align="edge", color=colour,
            label=f"variational EM, {kind} start",
        )  # fmt: skip
        ax.bar_label(bars, fontsize=9, padding=2, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    ax.axvspan(proved.lower_bound, proved.objective, color=UPPER_COLOUR, linewidth=1.5, zorder=0)
    ax.annotate(
        f"global optimum, proved to lie in\n[{proved.lower_bound:.4f}, {proved.objective:.4f}]",
        (proved.objective, 0.5), xytext=(proved.objective + margin, 0.5), textcoords=ax.get_xaxis_transform(),
        xycoords=ax.get_xaxis_transform(), color=UPPER_COLOUR, va="center",
        arrowprops={"arrowstyle": "->", "color": UPPER_COLOUR},
    )  # fmt: skip
    ax.margins(y=0.12)
    ax.set_xlim(low - margin, high + 1.5 * margin)
    ax.set_xlabel("objective where the run ended (nats; less is better)")
    ax.set_ylabel("runs")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="upper center")
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def bounds(path, panels):
    """
    Bounds against time and against work: a row for each relaxed dual, a line style for each start.

    `panels` maps a row's title to (name of the work, [(label of the start, curve)]); a curve has the columns
    seconds, work, LBD, UBD.
    """
    matplotlib.use("Agg")
    figure, axes = pyplot.subplots(len(panels), 2, figsize=(10.0, 3.5 * len(panels)), layout="constrained", sharey=True)
    for row, (title, (work, curves)) in zip(axes, panels.items(), strict=True):
        for ax, column, scale, unit in ((row[0], 0, 1e3, "time (ms)"), (row[1], 1, 1.0, work)):
            for style, (label, curve) in zip(("-", "--"), curves, strict=True):
                x = scale * curve[:, column]
                ax.step(x, curve[:, 3], style, where="post", color=UPPER_COLOUR, label=f"UBD, {label}")
                ax.step(x, curve[:, 2], style, where="post", color=LOWER_COLOUR, label=f"LBD, {label}")
            ax.set_xlim(left=0)
            ax.set_xlabel(unit)
            ax.set_title(title, fontsize=10)
            ax.grid(alpha=0.25, linewidth=0.6)
            ax.spines[["top", "right"]].set_visible(False)
        row[0].set_ylabel("objective (nats)")
    axes[0][0].set_ylim(LEAST_SHOWN, 120)
    axes[0][1].legend(frameon=False, fontsize=9, loc="lower right")
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
