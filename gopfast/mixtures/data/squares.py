"""Weighted sums of squares of many samples, a block at a time, so that what is made of them stays in the cache.

Blocks are so small that BLAS does not divide a product among threads: those that wait for the next one keep processors
busy, and others' work slows each of many short products down.
"""

import numpy as np

from gopfast.mixtures.data.tuning import BLOCK


def weighted_squares(X, weights, center=None, variance=None):
    """Return sum_i w_i (x_ij - c_j)^2 / v_j, shape (d,), of rows X (n, d) and weights (n,); c = 0 and v = 1: None."""
    total, rows = np.zeros(X.shape[1]), max(1, BLOCK // X.shape[1])
    for begin in range(0, len(X), rows):
        some = X[begin : begin + rows]
        some = np.square(some if center is None else some - center)
        if variance is not None:
            some /= variance
        total += weights[begin : begin + rows] @ some
    return total
