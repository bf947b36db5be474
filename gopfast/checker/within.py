"""The least variance within K groups of the samples, over all directions, from below.

Along a direction u any K components leave a variance of at least V(u) within them: what the best K groups of the
numbers u.z leave, by dynamic programming over intervals of these. The root of V(u) is the distance, in L2 over the
samples, of u.z from functions of K values. So it moves by at most the root mean square of (u - c).z from c to u, and by
at most half the width of a bin where samples are moved to the middles of bins. Directions are taken on the faces of a
cube, in boxes about c: with r the least (V(c)^(1/2) - ...)^2 / |u|^2, the covariance within components is at least r I.

Theory: (V3) of docs/theory/proofs.md.
"""

import itertools

import numpy as np

from .rounding import UNIT
from .tuning import BOXES, N_BINS, WITHIN_NUMBERS as MOST_NUMBERS


def least_within(z, reach, moments, weights, n_groups):
    """
    Return r, rounded down; 0 where nothing is known.

    Parameters
    ----------
    z, reach : ndarray, shape (N, d) and (d,)
        Samples, each within 4 rounding errors of reach.
    moments : ndarray, shape (d, d)
        At least the magnitudes of their second moments.
    weights : ndarray, shape (N,)
    n_groups : int
        K.
    """
    d, least = z.shape[1], np.inf
    if d not in BOXES:
        return 0.0
    n = BOXES[d]
    middles = (2.0 * np.arange(n) + 1.0) / n - 1.0
    others = np.array(list(itertools.product(middles, repeat=d - 1)))
    step = max(1, min(len(others), MOST_NUMBERS // max(len(z), (N_BINS + 1) ** 2)))
    for face in range(d):
        move = np.insert(np.full(d - 1, 1.0 / n), face, 0.0)
        lost = np.sqrt(move @ moments @ move) * (1 + 1e-9)
        for i in range(0, len(others), step):
            u = np.insert(others[i : i + step], face, 1.0, axis=1)
            rounding = (4 * d + 16) * UNIT * (np.abs(u) @ reach)
            root = _roots(z @ u.T, weights, n_groups) - lost - rounding
            farthest = np.sqrt(np.square(np.abs(u) + move).sum(axis=1))
            least = min(least, float(np.square(np.maximum(root, 0.0) / farthest).min()))
    return least * (1 - 1e-9)


def _roots(x, weights, n_groups):
    """Roots of V of numbers (N, M), rounded down: (M,)."""
    low, M = x.min(axis=0), x.shape[1]
    width = np.maximum((x.max(axis=0) - low) / N_BINS, 1e-300)
    index = np.minimum(((x - low) / width).astype(np.int64), N_BINS - 1)
    shares = np.broadcast_to((weights / weights.sum())[:, np.newaxis], x.shape)
    mass = np.bincount((index + N_BINS * np.arange(M)).ravel(), shares.ravel(), N_BINS * M).reshape(M, N_BINS)
    place = np.arange(N_BINS, dtype=float)
    sums = [np.concatenate([np.zeros((M, 1)), np.cumsum(mass * place**p, axis=1)], axis=1) for p in range(3)]
    zero, one, two = (part[:, np.newaxis, :] - part[:, :, np.newaxis] for part in sums)
    # cost[:, i, j]: bins i, ..., j - 1 as one group
    cost = np.where(zero > 0, np.maximum(two - one * one / np.where(zero > 0, zero, 1.0), 0.0), 0.0)
    cost = np.where(np.tri(N_BINS + 1, k=-1, dtype=bool), np.inf, cost)
    total = cost[:, 0]
    for _ in range(n_groups - 1):
        total = (total[:, :, np.newaxis] + cost).min(axis=1)
    # differences of sums are off by as many rounding errors of the largest as there are samples and bins
    slack = 16 * (len(x) + 4 * N_BINS) * UNIT * N_BINS**2
    return (np.sqrt(np.maximum(total[:, -1] - slack, 0.0)) - 0.5 - 1e-6) * width * (1 - 1e-9)
