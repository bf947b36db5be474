"""The tree of a proof: its leaves cover every mixture.

The root is the box of all parameters that can be the best ones for any responsibilities (`families`). A node is split
at a point into two that share the point, so that nothing is lost whatever the point is. Components have no names: those
of any mixture can be put in the order of one coordinate, so that a node may lose from component k what lies below all
of component k - 1 there, and what lies above all of component k + 1. A leaf of which nothing is left needs no bound.
All that is done to boxes is comparing numbers, which is exact.

Theory: (V2) of docs/theory/proofs.md.
"""

import numpy as np

from .errors import ProofError

ROOT, NONE = 0, -1


def boxes(splits, points, low, high):
    """
    Boxes of the leaves below a root's box.

    Parameters
    ----------
    splits : ndarray of int, shape (M, 4)
        In any order: a node's label, the variable to split, and the labels of the lower and of the upper part. The
        root's label is 0. A label may stand for several parts, of which each has what is said of the label.
    points : ndarray, shape (M,)
        Where.
    low, high : ndarray, shape (n,)
        The root's box.

    Returns
    -------
    labels : ndarray, shape (L,)
        Neighbours in the tree are neighbours here.
    low, high : ndarray, shape (L, n)

    Raises
    ------
    ProofError
        If the splits are no tree.
    """
    if splits.shape != (len(points), 4):
        raise ProofError("splits", "must be four numbers for each of the points")
    order = np.argsort(splits[:, 0], kind="stable")
    nodes, n_done = splits[order, 0], 0
    twice = np.flatnonzero(nodes[1:] == nodes[:-1])
    if len(twice):
        raise ProofError(f"node {nodes[twice[0]]}", "is split twice")
    wrong = np.flatnonzero((splits[:, 1] < 0) | (splits[:, 1] >= len(low)))
    if len(wrong):
        raise ProofError(f"node {splits[wrong[0], 0]}", f"there is no variable {splits[wrong[0], 1]}")
    labels, low, high, place, width = np.array([ROOT]), low[np.newaxis], high[np.newaxis], np.zeros(1), 0.5
    found = []
    while len(labels):
        at = np.minimum(np.searchsorted(nodes, labels), max(0, len(nodes) - 1))
        inner = nodes[at] == labels if len(nodes) else np.zeros(len(labels), bool)
        found.append((labels[~inner], low[~inner], high[~inner], place[~inner]))
        own, low, high, place = order[at[inner]] if len(nodes) else at[:0], low[inner], high[inner], place[inner]
        n_done += len(own)
        if n_done > len(splits):
            raise ProofError("splits", "a node lies below itself")
        rows, (variable, first, last) = np.arange(len(own)), splits[own, 1:].T
        upper, lower = high.copy(), low.copy()
        upper[rows, variable] = np.minimum(high[rows, variable], points[own])
        lower[rows, variable] = np.maximum(low[rows, variable], points[own])
        labels, low, high = np.concatenate([first, last]), np.concatenate([low, lower]), np.concatenate([upper, high])
        place, width = np.concatenate([place, place + width]), 0.5 * width
    labels, low, high, place = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(place, kind="stable")
    return labels[order], low[order], high[order]


def leaves(splits, points, family, n_components, order):
    """
    Boxes of the leaves of all components.

    Parameters
    ----------
    splits, points : ndarray
        See `boxes`.
    family : object
        Its ``low`` and ``high`` (p + q,) are the root's cell of one component, p = ``n_cell`` of its own variables and
        q = ``n_shared`` that all have in common, which are the last ones of a box; its ``tightened`` loses what cannot
        be.
    n_components : int
    order : int
        Coordinate of the cell that the components are ordered by.

    Returns
    -------
    labels : ndarray, shape (L,)
    low, high : ndarray, shape (L, K, p + q)
    is_empty : ndarray of bool, shape (L,)
    """
    K, p = n_components, family.n_cell
    root = (np.concatenate([np.tile(side[:p], K), side[p:]]) for side in (family.low, family.high))
    labels, low, high = boxes(splits, points, *root)
    return labels, *ordered(cells(low, K, p), cells(high, K, p), family, order)


def cells(sides, n_components, p):
    """Return sides of boxes (L, K p + q) as those of cells (L, K, p + q)."""
    own, shared = sides[:, : n_components * p], sides[:, np.newaxis, n_components * p :]
    shared = np.broadcast_to(shared, (len(sides), n_components, shared.shape[2]))
    return np.concatenate([own.reshape(len(sides), n_components, p), shared], axis=2)


def ordered(low, high, family, order):
    """Boxes (L, K, p) without what the order of the components and the family rule out, and which are empty."""
    low, high = low.copy(), high.copy()
    low[..., order] = np.maximum.accumulate(low[..., order], axis=1)
    high[..., order] = np.minimum.accumulate(high[:, ::-1, order], axis=1)[:, ::-1]
    low, high = family.tightened(low, high)
    return low, high, (low > high).any(axis=(1, 2))


def entries(labels, wanted, name):
    """
    Find the entries of leaves.

    Parameters
    ----------
    labels : ndarray of int, shape (E,)
        Leaves that have one.
    wanted : ndarray of int, shape (L,)
    name : str

    Returns
    -------
    ndarray of int, shape (L,)
        The entry's number, or -1.
    """
    order = np.argsort(labels, kind="stable")
    known = labels[order]
    twice = np.flatnonzero(known[1:] == known[:-1])
    if len(twice):
        raise ProofError(f"{name} {known[twice[0]]}", "has two entries")
    if not len(known):
        return np.full(len(wanted), NONE)
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[at] == wanted, order[at], NONE)
