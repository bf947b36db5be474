"""Figures; needs matplotlib, which ``pip install gopfast[plot]`` brings."""

import numpy as np

from gopfast.errors import InputError

UPPER_COLOUR = "#c0392b"
LOWER_COLOUR = "#1f5fa8"
# From this ratio of last to first time on, a linear axis hides the start.
LOG_TIME_RATIO = 30.0
SHORT = 0.1  # seconds; shorter searches are drawn in milliseconds


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
    if ax is None:
        ax = _pyplot().figure(figsize=(5.5, 3.6), layout="constrained").add_subplot()

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
    ax.set_ylabel("ELBO (nats)" if elbo else "objective (nats)")
    ax.grid(alpha=0.25, linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="best")
    return ax


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


def _pyplot():
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("gopfast.plot needs matplotlib: pip install gopfast[plot]") from error
    return pyplot
