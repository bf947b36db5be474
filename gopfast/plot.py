"""Figures; needs matplotlib, which ``pip install gopfast[plot]`` brings."""

import numpy as np

from gopfast.errors import InputError

UPPER_COLOUR = "#c0392b"
LOWER_COLOUR = "#1f5fa8"
# From this ratio of last to first time on, a linear axis hides the start.
LOG_TIME_RATIO = 30.0


def bounds(result, ax=None, elbo=False):
    """
    Draw the lower and the upper bound against time, as figure 1 of the source does.

    Parameters
    ----------
    result : gopfast.result.Result
        The result of a solve, with at least one row of history.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    elbo : bool
        Whether to draw the ELBO, ``elbo_constant - objective``, instead of the objective. The proved bound is
        the upper curve then.

    Returns
    -------
    matplotlib.axes.Axes
        Time in seconds, bounds in nats.

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
    if ax is None:
        ax = _pyplot().figure(figsize=(5.5, 3.6), layout="constrained").add_subplot()

    time, lower, upper = _curves(result)
    incumbent_label, bound_label = "upper bound (best found)", "lower bound (proved)"
    if elbo:
        lower, upper = result.elbo_constant - lower, result.elbo_constant - upper
        incumbent_label, bound_label = "best found", "upper bound (proved)"

    # A bound holds until the next one is reported, hence steps.
    ax.fill_between(time, lower, upper, step="post", color=LOWER_COLOUR, alpha=0.12, linewidth=0)
    ax.step(time, upper, where="post", color=UPPER_COLOUR, linewidth=1.8, label=incumbent_label)
    ax.step(time, lower, where="post", color=LOWER_COLOUR, linewidth=1.8, label=bound_label)
    if time[-1] > LOG_TIME_RATIO * time[0]:
        ax.set_xscale("log")
    # A single report would give an axis of zero width.
    if time[-1] > time[0]:
        ax.set_xlim(time[0], time[-1])
    ax.set_xlabel("time (s)")
    ax.set_ylabel("ELBO (nats)" if elbo else "objective (nats)")
    ax.grid(alpha=0.25, linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="best")
    return ax


def _curves(result):
    """Return times, all positive, and bounds, NaN where not known yet, ending with the result itself."""
    time, _, lower, upper, _ = result.history.T
    time = np.append(time, max(result.time, time[-1]))
    positive = time[time > 0.0]
    # A log axis has no zero: what is known at time zero is drawn from just before the first report on.
    floor = 0.8 * positive[0] if positive.size else 1e-6
    time = np.maximum(time, floor)
    lower, upper = np.append(lower, result.lower_bound), np.append(upper, result.objective)
    lower, upper = (np.where(np.isfinite(curve), curve, np.nan) for curve in (lower, upper))
    return time, lower, upper


def _pyplot():
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("gopfast.plot needs matplotlib: pip install gopfast[plot]") from error
    return pyplot
