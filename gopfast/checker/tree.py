"""The tree of a proof: its leaves cover every mixture.

The root is the box of all parameters that can be the best ones for any responsibilities (`families`). A node is split
at a point into two that share the point, so that nothing is lost whatever the point is. Components have no names: those
of any mixture can be put in the order of one coordinate, so that a node may lose from component k what lies below all
of component k - 1 there, and what lies above all of component k + 1. A leaf of which nothing is left needs no bound.
All that is done to boxes is comparing numbers, which is exact.
"""

import numpy as np

from .errors import ProofError

LEAF = -1
MOST_DEPTH = 100_000


def leaves(splits, points, family, n_components, order):
    """
    Boxes of the leaves.

    Parameters
    ----------
    splits : ndarray of int, shape (M,)
        Nodes, each before all below it, the lower part first: the variable to split, or -1 for a leaf.
    points : ndarray, shape (M,)
        Where.
    family : object
        Its ``low`` and ``high`` (p,) are the root's cell of one component, its ``tightened`` loses what cannot be.
    n_components : int
    order : int
        Coordinate of the cell that the components are ordered by.

    Returns
    -------
    low, high : ndarray, shape (L, K, p)
    is_empty : ndarray of bool, shape (L,)

    Raises
    ------
    ProofError
        If the nodes are no tree.
    """
    K, p = n_components, len(family.low)
    if len(splits) != len(points):
        raise ProofError("points", "must be as many as splits")
    lows, highs = [], []
    stack = [(np.tile(family.low, K), np.tile(family.high, K))]
    splits, points = splits.tolist(), points.tolist()
    for node, (variable, point) in enumerate(zip(splits, points, strict=True)):
        if not stack:
            raise ProofError(f"node {node}", "the tree has ended before")
        low, high = stack.pop()
        if variable == LEAF:
            lows.append(low)
            highs.append(high)
            continue
        if not 0 <= variable < K * p:
            raise ProofError(f"node {node}", f"there is no variable {variable}")
        if len(stack) >= MOST_DEPTH:
            raise ProofError(f"node {node}", "the tree is too deep")
        first, last = high.copy(), low.copy()
        first[variable], last[variable] = min(high[variable], point), max(low[variable], point)
        stack += [(last, high), (low, first)]
    if stack:
        raise ProofError("tree", f"{len(stack)} of its parts are missing")
    low, high = (np.array(sides).reshape(-1, K, p) for sides in (lows, highs))
    low[..., order] = np.maximum.accumulate(low[..., order], axis=1)
    high[..., order] = np.minimum.accumulate(high[:, ::-1, order], axis=1)[:, ::-1]
    low, high = family.tightened(low, high)
    return low, high, (low > high).any(axis=(1, 2))
