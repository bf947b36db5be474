"""
A bound of k-means in many columns: the sum of those of blocks of columns.

A clustering's sum of squares is that of its blocks of columns, each of which is at least the least one of all
clusterings of the block. Boxes of centers in so few columns are soon searched; in all of them that may take longer than
there is.

Theory: (K6) of docs/theory/kmeans.md.
"""

import numpy as np

from gopfast.clustering.node import Node
from gopfast.clustering.search import Pool
from gopfast.clustering.tuning import (
    BLOCKS_MOST_COLUMNS as MOST_COLUMNS,
    BLOCKS_MOST_WORK as MOST_WORK,
    FEWEST_CELLS,
    SHARE_OF_TIME,
    TOLERANCE,
)
from gopfast.roundoff import ROUND


def least_by_blocks(X, weights, n_clusters, stop, left, seed):
    """
    Return a lower bound of the inertia, in units of the samples.

    Parameters
    ----------
    X : ndarray, shape (N, d)
        Differences from one of the samples, as `solve.Search.prepare` makes them.
    weights : ndarray, shape (N,)
    n_clusters : int
    stop : StopSignal
    left : callable
        Seconds left.
    seed : int
    """
    n_blocks = -(-X.shape[1] // MOST_COLUMNS)
    total = 0.0
    for b in range(n_blocks):
        if stop.stopped:
            break
        rows, inverse = np.unique(X[:, b::n_blocks], axis=0, return_inverse=True)
        if len(rows) > n_clusters:
            mass = np.bincount(inverse.reshape(-1), weights, len(rows))
            total += max(0.0, _least(np.ascontiguousarray(rows), mass, n_clusters, stop, left, seed))
    return total * (1.0 - 8 * (n_blocks + len(X)) * ROUND)


def _least(X, weights, n_clusters, stop, left, seed):
    """Return a lower bound of one block."""
    end = left() * (1.0 - SHARE_OF_TIME)
    pool = Pool(X, weights, n_clusters, seed)
    pool.fill(lambda: stop.stopped or left() < end)
    node, tolerance = Node(X, weights, n_clusters), TOLERANCE * pool.inertia
    most_cells = max(FEWEST_CELLS, MOST_WORK // len(X))
    node.bound(pool, pool.inertia - tolerance, tolerance, stop, lambda: left() - end, most_cells)
    return node.lower
