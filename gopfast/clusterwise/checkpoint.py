"""What a checkpoint of a search for classes of regressions holds, as plain arrays, and how a search goes on from it.

Classes that nodes have met are not part of it: they are found again.
"""

import hashlib
import heapq

import numpy as np

from gopfast.clustering.checkpoint import blocks, counted, progress, restore_descents, slabs
from gopfast.clustering.node import Entry
from gopfast.clusterwise.node import Node
from gopfast.clusterwise.pool import KINDS
from gopfast.search import checkpoint, entries

__all__ = ["blocks", "header", "restore", "slabs", "state"]  # of nodes there are none beside the state, as of k-means


def header(problem, options, start=None):
    """Return what a checkpoint says of a problem, its options and labels to start from, in JSON types."""
    said = {
        "class": type(problem).__name__, "n_clusters": problem.n_clusters, "fit_intercept": problem.fit_intercept,
    }  # fmt: skip
    data = hashlib.sha256()
    for array in (problem.X, problem.y, problem.sample_weight):
        data.update(np.ascontiguousarray(array).tobytes())
    contents = [said, problem.X.shape, data.hexdigest()]
    return checkpoint.header(options, said, contents, start=None if start is None else start.tolist())


def state(search, finished=False):
    """Return all that a search needs to go on: open nodes as boxes with numbers of classes, bounds, and the best."""
    nodes = [entry.node for entry in search.heap]
    boxes = [box for node in nodes for box in node.boxes]
    q = search.Z.shape[1]
    found = {
        "node.lower": [node.lower for node in nodes], "node.estimate": [node.estimate for node in nodes],
        "node.cap": [node.cap for node in nodes], "node.boxes": [len(node.boxes) for node in nodes],
        "box.classes": [count for *_, count in boxes],
        "box.low": np.reshape([low for low, *_ in boxes], (-1, q)),
        "box.high": np.reshape([high for _, high, _ in boxes], (-1, q)),
        "labels": search.labels, "pool.fits": search.pool.fits, **progress(search, KINDS),
    }  # fmt: skip
    return {name: np.asarray(value) for name, value in found.items()}


def restore(search, arrays, nodes=(), blocks=()):
    """
    Let a search of the same problem and options go on from what `state` returned.

    Raises
    ------
    EntryError
        If the arrays are not of such a search; the message names the entry.
    """
    problem = search.problem
    _restore_pool(search.pool, arrays, search.Z.shape[1], problem.n_clusters)
    found = counted(arrays)
    labels = entries.array(arrays, "labels", (problem.n_samples,), "i", 0, problem.n_clusters - 1).astype(np.intp)
    if problem.objective(labels) != found["upper"]:
        raise entries.EntryError("bounds: the labels do not attain the upper one")
    found["labels"] = found["centers"] = labels
    # all at once: Ctrl-C comes before or after, and no node is missing
    vars(search).update(found, heap=_heap(search, arrays))


def _heap(search, arrays):
    """Return the open nodes."""
    lower, estimate, cap = (entries.array(arrays, f"node.{name}", (None,)).tolist()
                            for name in ("lower", "estimate", "cap"))  # fmt: skip
    n, q, K = len(lower), search.Z.shape[1], search.problem.n_clusters
    kinds = "i" if n else "if"
    serial = entries.array(arrays, "node.serial", (n,), kinds, 0, entries.LARGEST).tolist()
    sizes = entries.array(arrays, "node.boxes", (n,), kinds, 1, K).astype(int).tolist()
    if not n == len(estimate) == len(cap) == len(set(serial)):
        raise entries.EntryError("node.serial must be one number for each node, with one estimate and cap")
    counts = entries.array(arrays, "box.classes", (sum(sizes),), kinds, 1, K).astype(int).tolist()
    low, high = (np.array(entries.array(arrays, f"box.{side}", (sum(sizes), q))) for side in ("low", "high"))
    if not ((search.box[0] <= low) & (low <= high) & (high <= search.box[1])).all():
        raise entries.EntryError("box.low must be within the box of all fits, and below box.high")
    heap, first = [], 0
    for i, size in enumerate(sizes):
        own = slice(first, first + size)
        first += size
        if sum(counts[own]) != K:
            raise entries.EntryError(f"box.classes must be {K} in all boxes of a node")
        node = Node(list(zip(low[own], high[own], counts[own], strict=True)), lower[i], cap=cap[i])
        node.estimate = estimate[i]
        heap.append(Entry(lower[i], serial[i], node))
    heapq.heapify(heap)
    return heap


def _restore_pool(pool, arrays, q, K):
    """Take the best classes, what descents have come to, and the generator's state."""
    fits = np.clip(entries.array(arrays, "pool.fits", (K, q)), *pool.box)
    pool.offer(fits)
    restore_descents(pool, arrays, KINDS)
