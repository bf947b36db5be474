"""
The least variance within K groups, over all directions of the data.

Whatever the responsibilities, the variance within components along a direction u is at least V(u), the optimum of
k-means in one dimension for the samples u'x. Its root is the distance, in L2 over the samples, of u'x from the
functions of K values, so that it moves by at most the root mean square of (u - v)'x from u to v. That bounds
V(u) / |u|^2 from below over boxes of directions on the faces of a cube, which are split best first.

Theory: (M8) of docs/theory/matrices.md, (TF1) of docs/theory/factors.md.
"""

import heapq
import itertools
import math
import time

import numpy as np

from gopfast.mixtures.families.margins import BIN_ROUNDING, SCATTER_ROUNDING as ROUNDING
from gopfast.mixtures.families.stretches import within_groups
from gopfast.mixtures.families.tuning import CLOSE, MOST_DIRECTIONS, MOST_WORK, N_BINS
from gopfast.roundoff import ROUND


def least_within(
    columns, weights, n_groups, close=CLOSE, most_directions=MOST_DIRECTIONS, deadline=math.inf, most_work=MOST_WORK
):
    """
    Compute a number r such that the covariance within any `n_groups` components is at least r I.

    Parameters
    ----------
    columns : ndarray, shape (d, n)
        Samples.
    weights : ndarray, shape (n,)
        Positive weights.
    n_groups : int
        Number of components K.
    close : float
        Splitting ends at this share of the ratio of a direction that was found.
    most_directions : int
        Splits per column at most.
    deadline : float
        Of the monotonic clock: splitting ends then, too.
    most_work : int
        Samples times splits at most.

    Returns
    -------
    float
        At least 0, rounded down, in squared units of the columns.
    """
    d, n = columns.shape
    share = weights / weights.sum()
    moments = (share * columns) @ columns.T
    largest = np.abs(columns).max(axis=1)
    serial = itertools.count()
    heap, best = [], np.inf
    sizes = np.sqrt(np.diagonal(moments))  # root mean squares of the columns
    magnitudes = np.abs(moments)

    def push(face, direction, move):
        nonlocal best
        magnitude = np.abs(direction)
        root = _root_along(direction, columns, share, n_groups, largest)
        best = min(best, root * root / float(direction @ direction))
        # what the root may lose up to the corners, for the worst signs of the correlations
        corner = magnitude + move
        lost = math.sqrt(move @ magnitudes @ move) * (1.0 + ROUNDING)
        left = max(0.0, root - lost)
        ratio = left * left / float(corner @ corner)
        heapq.heappush(heap, (ratio, next(serial), face, direction, move))

    axes = np.eye(d)
    for face in range(d):
        push(face, axes[face], 1.0 - axes[face])
    for _ in range(min(most_directions * d, most_work // n)):
        if d == 1 or heap[0][0] >= close * best or time.monotonic() > deadline:
            break
        _, _, face, direction, move = heapq.heappop(heap)
        widths = move * sizes
        widths[face] = -1.0  # of no width: the face is where its entry is 1
        j = int(widths.argmax())
        half = move.copy()
        half[j] *= 0.5
        for sign in (-1.0, 1.0):
            middle = direction.copy()
            middle[j] += sign * half[j]
            push(face, middle, half)
    return heap[0][0] * (1.0 - ROUNDING)


def least_along(direction, columns, share, n_groups, largest, off):
    """
    Return the least variance within groups along one direction, rounded down, in squared units of the columns.

    Parameters
    ----------
    direction : ndarray, shape (d,)
    columns : ndarray, shape (d, n)
        Samples.
    share : ndarray, shape (n,)
        Their shares of the total weight.
    n_groups : int
        Number of components K.
    largest, off : ndarray, shape (d,)
        Magnitudes of the columns' entries, and how far off these may be.
    """
    lost = (1.0 + ROUNDING) * float(np.abs(direction) @ off)
    root = max(0.0, _root_along(direction, columns, share, n_groups, largest) - lost)
    return root * root * (1.0 - ROUNDING)


def _root_along(direction, columns, share, n_groups, largest):
    """Return the root of the least variance within groups of u'x, rounded down; `largest` (d,) of the columns."""
    # where the columns cancel, the sum may be nothing but rounding
    lost = (len(columns) + 2) * ROUND * float(np.abs(direction) @ largest)
    return max(0.0, _root(direction @ columns, share, n_groups) - lost)


def _root(x, share, n_groups):
    """
    Root of the least variance within groups in one dimension; rounded down.

    Parameters
    ----------
    x : ndarray, shape (n,)
        Samples, in any unit: the root is in the same.
    share : ndarray, shape (n,)
        Their shares of the total weight.
    n_groups : int
    """
    low = float(x.min())
    width = float(x.max()) - low
    if not width > 0.0:
        return 0.0
    least, lost = within_groups(x, share, low, width, n_groups, N_BINS)
    lost = math.sqrt(lost)  # what moving samples to the means of their bins changes the root by
    rounding = ROUNDING + BIN_ROUNDING * len(x)
    variance = max(0.0, least - rounding * width * width)
    return max(0.0, math.sqrt(variance) * (1.0 - rounding) - lost * (1.0 + rounding))
