"""What a checkpoint of a k-means search holds, as plain arrays, and how a search goes on from it."""

import hashlib
import heapq
import json

import numpy as np

from gopfast.clustering.node import Entry, Node
from gopfast.clustering.problem import LARGEST
from gopfast.clustering.search import KINDS
from gopfast.clustering.tuning import SAME
from gopfast.search import checkpoint, entries
from gopfast.starts import ENDED

COUNTS = ("serial", "n_nodes", "n_cells", "n_programs")
BOUNDS = ("upper", "lower", "closed")
MOST_SECONDS = 1e12  # of all runs


def header(problem, options, start=None):
    """Return what a checkpoint says of a problem, its options and centers to start from, in JSON types."""
    said = {"class": type(problem).__name__, "n_clusters": problem.n_clusters}
    data = hashlib.sha256()
    for array in (problem.X, problem.sample_weight):
        data.update(np.ascontiguousarray(array).tobytes())
    contents = [said, problem.X.shape, data.hexdigest()]
    return checkpoint.header(options, said, contents, start=None if start is None else start.tolist())


def blocks(search):
    """Return the nodes on disk: there are none, as nodes are few."""
    return []


def slabs(search):
    """Return the open nodes beside the state: none, as they are part of it."""
    return []


def state(search, finished=False):
    """Return all that a search needs to go on: its open nodes as pairs, bounds, and the clusters it has met."""
    nodes = [entry.node for entry in search.heap]
    pool, found = search.pool, {}
    # with those of the node at hand, which has found some since it began
    columns = dict(pool.columns)
    for own in search.found_meanwhile():
        columns.setdefault(own.tobytes(), own)
    for name in ("together", "apart"):
        pairs = [getattr(node, name) for node in nodes]
        found |= {f"{name}.lengths": list(map(len, pairs)), name: [pair for some in pairs for pair in some]}
    found |= {
        "node.lower": [node.lower for node in nodes], "node.estimate": [node.estimate for node in nodes],
        "centers": search.centers, "pool.centers": pool.centers, "pool.labels": pool.labels,
        "pool.inertia": pool.inertia, **progress(search, KINDS),
        "columns.lengths": [len(own) for own in columns.values()],
        "columns": np.concatenate([*columns.values(), np.zeros(0, dtype=np.int32)]),
    }  # fmt: skip
    return {name: np.asarray(value) for name, value in found.items()}


def progress(search, kinds):
    """Return what searches for clusters and for classes have alike: numbers, counts, bounds, how descents went."""
    ends = search.pool.ends
    return {
        "node.serial": [entry.serial for entry in search.heap], "history": search.history, "time": search.elapsed(),
        "counts": [getattr(search, name) for name in COUNTS], "bounds": [getattr(search, name) for name in BOUNDS],
        "pool.starts": [(kinds.index(kind), ENDED.index(ending)) for kind, ending, _ in ends],
        "pool.ends": [inertia for *_, inertia in ends],
        "pool.random": np.frombuffer(json.dumps(search.pool.rng.bit_generator.state).encode(), dtype=np.uint8),
    }  # fmt: skip


def counted(arrays):
    """Return the fields of a search that `progress` has told of: counts, bounds, history and time."""
    found = dict(zip(COUNTS, entries.array(arrays, "counts", (len(COUNTS),), "i", 0, entries.LARGEST).tolist(),
                     strict=True))  # fmt: skip
    found |= dict(zip(BOUNDS, entries.array(arrays, "bounds", (len(BOUNDS),)).tolist(), strict=True))
    found["history"] = [tuple(row) for row in entries.array(arrays, "history", (None, 5)).tolist()]
    found["before"] = entries.number(arrays, "time", 0.0, MOST_SECONDS)
    return found


def restore(search, arrays, nodes=(), blocks=()):
    """
    Let a search of the same problem and options go on from what `state` returned.

    Raises
    ------
    EntryError
        If the arrays are not of such a search; the message names the entry.
    """
    pool, (N, d), K = search.pool, search.X.shape, search.problem.n_clusters
    _restore_pool(pool, arrays, N, d, K)
    found = counted(arrays)
    found["centers"] = np.array(entries.array(arrays, "centers", (K, d), "f", -LARGEST, LARGEST))
    if not abs(search.problem.objective(found["centers"]) - found["upper"]) <= SAME * found["upper"]:
        raise entries.EntryError("bounds: the centers do not attain the upper one")
    lower, estimate = (entries.array(arrays, f"node.{name}", (None,)).tolist() for name in ("lower", "estimate"))
    n = len(lower)
    serial = entries.array(arrays, "node.serial", (n,), "i" if n else "if", 0, entries.LARGEST).tolist()
    if len(estimate) != n or len(set(serial)) != n:
        raise entries.EntryError("node.serial must be one number for each node, with one estimate")
    together, apart = (_pairs(arrays, name, n, N) for name in ("together", "apart"))
    heap = []
    for i in range(n):
        node = Node(search.X, search.weights, K, together[i], apart[i], lower[i])
        if not node.feasible:
            raise entries.EntryError(f"apart has samples of node {i} that are together")
        node.estimate = estimate[i]
        heap.append(Entry(lower[i], serial[i], node))
    heapq.heapify(heap)
    vars(search).update(found, heap=heap)  # all at once: Ctrl-C comes before or after, and no node is missing


def _restore_pool(pool, arrays, N, d, K):
    """Take the clusters that were met, the best clustering, and the generator's state."""
    columns = _parts(arrays, "columns", _indices(arrays, "columns", None, N).astype(np.int32))
    for own in columns:
        if not len(own) or not (np.diff(own) > 0).all():
            raise entries.EntryError("columns must be clusters, of samples in their order")
    centers = np.array(entries.array(arrays, "pool.centers", (K, d), "f", -LARGEST, LARGEST))
    labels = _indices(arrays, "pool.labels", N, K)
    restore_descents(pool, arrays, KINDS)
    pool.centers, pool.labels = centers, labels
    pool.inertia = entries.number(arrays, "pool.inertia", 0.0)
    pool.columns = {own.tobytes(): own for own in columns}


def restore_descents(pool, arrays, kinds):
    """Take what each descent started from, how it ended and with which inertia, and the generator's state."""
    starts = entries.array(arrays, "pool.starts", (None, 2), "i", 0, len(kinds) - 1)
    inertias = entries.array(arrays, "pool.ends", (len(starts),), "f", 0.0).tolist()
    if not inertias or (starts[:, 1] >= len(ENDED)).any():
        raise entries.EntryError("pool.starts must be a kind of start and a way to end of at least one descent")
    random = entries.array(arrays, "pool.random", (None,), "u").tobytes()
    try:
        pool.rng.bit_generator.state = json.loads(random)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:  # as JSON and NumPy say so
        raise entries.EntryError(f"pool.random is no state of this generator: {error!r}") from None
    pairs = zip(starts.tolist(), inertias, strict=True)
    pool.ends = [(kinds[kind], ENDED[how], inertia) for (kind, how), inertia in pairs]


def _pairs(arrays, name, n, N):
    """Return the pairs of each of n nodes."""
    flat = _indices(arrays, name, None, N, (None, 2))
    found = _parts(arrays, name, flat)
    if len(found) != n:
        raise entries.EntryError(f"{name}.lengths must be of {n} nodes; they are of {len(found)}")
    return [tuple(map(tuple, some.tolist())) for some in found]


def _indices(arrays, name, length, below, shape=None):
    """Return numbers of samples or clusters, so many and from 0 on."""
    if name in arrays and not np.asarray(arrays[name]).size and length is None:
        return np.zeros((0, 2) if shape else 0, dtype=np.intp)
    return entries.array(arrays, name, shape or (length,), "i", 0, below - 1).astype(np.intp)


def _parts(arrays, name, array):
    """Return parts of so many rows as the entry of their lengths says."""
    lengths = entries.array(arrays, f"{name}.lengths", (None,), "if", 0, len(array))
    if lengths.size and lengths.dtype.kind != "i" or lengths.sum() != len(array):
        raise entries.EntryError(f"{name}.lengths must sum up to {len(array)}")
    return np.split(array, np.cumsum(lengths, dtype=np.intp)[:-1]) if lengths.size else []
