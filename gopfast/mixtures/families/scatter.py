"""
The least variance within K groups, over all directions of the data.

Whatever the responsibilities, the variance within components along a direction u is at least V(u), the optimum of
k-means in one dimension for the samples u'x. Its root is the distance, in L2 over the samples, of u'x from the
functions of K values, so that it moves by at most the root mean square of (u - v)'x from u to v. That bounds
V(u) / |u|^2 from below over boxes of directions on the faces of a cube, which are split best first.
"""

import heapq
import itertools
import math
import time

import numpy as np

from gopfast.roundoff import ROUND

# Samples along a direction are gathered in so many bins: what that loses is subtracted.
N_BINS = 128
# Splitting ends at this share of the ratio of a direction that was found: more would hardly raise the floor.
CLOSE = 0.8
# Directions per column, and samples times directions, that are tried at most: some seconds at the worst.
MOST_DIRECTIONS = 400
MOST_WORK = 10_000_000
# Rounding of sums of squares, in units of the range squared, and of what is made of them: far above it.
ROUNDING = 1e-9
# Bins are summed sample after sample: their rounding in the same unit, times the number of samples.
BIN_ROUNDING = 16.0 * ROUND


def least_within(columns, weights, n_groups, close=CLOSE, most_directions=MOST_DIRECTIONS, deadline=math.inf):
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

    def push(face, center, half):
        nonlocal best
        direction = np.insert(center, face, 1.0)
        # where the columns cancel, the sum may be nothing but rounding
        root = max(0.0, _root(direction @ columns, share, n_groups) - (d + 2) * ROUND * (np.abs(direction) @ largest))
        best = min(best, (root / np.linalg.norm(direction)) ** 2)
        # what the root may lose up to the corners, for the worst signs of the correlations
        move = np.insert(half, face, 0.0)
        farthest = np.linalg.norm(np.abs(direction) + move)
        lost = np.sqrt(move @ np.abs(moments) @ move) * (1.0 + ROUNDING)
        ratio = max(0.0, (root - lost) / farthest) ** 2
        heapq.heappush(heap, (ratio, next(serial), face, center, half))

    for face in range(d):
        push(face, np.zeros(d - 1), np.ones(d - 1))
    sizes = np.sqrt(np.diagonal(moments))  # root mean squares of the columns
    for _ in range(min(most_directions * d, MOST_WORK // n)):
        if d == 1 or heap[0][0] >= close * best or time.monotonic() > deadline:
            break
        _, _, face, center, half = heapq.heappop(heap)
        j = np.argmax(half * np.delete(sizes, face))
        for sign in (-1.0, 1.0):
            middle, smaller = center.copy(), half.copy()
            smaller[j] *= 0.5
            middle[j] += sign * smaller[j]
            push(face, middle, smaller)
    return heap[0][0] * (1.0 - ROUNDING)


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
    low, width = x.min(), np.ptp(x)
    if not width > 0.0:
        return 0.0
    index = np.minimum(((x - low) * (N_BINS / width)).astype(np.int64), N_BINS - 1)
    mass = np.bincount(index, share, N_BINS)
    used = mass > 0.0
    center = np.bincount(index, share * (x - low), N_BINS)[used] / mass[used]
    mass = mass[used]
    # what moving samples to the means of their bins changes the root by
    lost = np.sqrt(share @ np.square((x - low) - center[np.cumsum(used)[index] - 1]))
    sums = np.stack([np.concatenate([[0.0], np.cumsum(mass * center**p)]) for p in range(3)])
    # cost[i, j]: bins i, ..., j - 1 as one group
    zero, one, two = sums[:, None, :] - sums[:, :, None]
    upper = zero > 0.0
    cost = np.where(upper, two - np.divide(one * one, zero, out=np.zeros_like(one), where=upper), np.inf)
    np.fill_diagonal(cost, 0.0)
    total = cost[0]
    for _ in range(n_groups - 1):
        total = np.min(total[:, None] + cost, axis=0)
    rounding = ROUNDING + BIN_ROUNDING * len(x)
    variance = max(0.0, total[-1] - rounding * width * width)
    return max(0.0, np.sqrt(variance) * (1.0 - rounding) - lost * (1.0 + rounding))
