"""What the figures share: matplotlib, where it is installed, and colours with patterns that survive black and white."""

import warnings

COLOURS = ("#1f5fa8", "#d9822b", "#2e8b57", "#8e44ad", "#b03060", "#7f7f00", "#16a2b8", "#6b4226")
HATCHES = ("///", "\\\\\\", "...", "xxx", "|||", "---", "++", "oo")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)), (0, (3, 1, 1, 1, 1, 1)))


def pyplot():
    """Return matplotlib's pyplot, or raise an ImportError that says how to install it."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("gopfast.plot needs matplotlib: pip install gopfast[plot]") from error
    return pyplot


def axes(ax, width=5.5, height=3.6):
    """Return given axes, or those of a new figure of so many inches."""
    return pyplot().figure(figsize=(width, height), layout="constrained").add_subplot() if ax is None else ax


def of(choices, k):
    """Return the k-th of colours, hatches, markers or dashes, from the first again after the last."""
    return choices[k % len(choices)]


def colour(k):
    """Return the k-th colour."""
    return of(COLOURS, k)


def finish(ax, legend=True, **options):
    """Take away the frame's upper and right side; add the legend."""
    ax.spines[["top", "right"]].set_visible(False)
    if legend:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "No artists with labels")
            ax.legend(frameon=False, loc="best", **options)
    return ax
