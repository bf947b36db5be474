"""What a checkpoint of a k-means search holds, as plain arrays, and how a search goes on from it."""

import hashlib
import json

import numpy as np

from gopfast import version
from gopfast.clustering.node import Node
from gopfast.search import checkpoint

KEPT = ("epsilon", "rel_tol", "relaxation", "partition", "branching", "subproblem")
COUNTS = ("serial", "n_nodes", "n_cells", "n_programs")
BOUNDS = ("upper", "lower", "closed")


class Checkpoint(checkpoint.Checkpoint):
    """Writes the state of a k-means search; as `gopfast.search.checkpoint.Checkpoint`."""

    def _blocks(self, search):
        return []  # nodes are few: none are on disk

    def _parts(self, search, finished):
        yield "state.", state(search)


def header(problem, options):
    """Return what a checkpoint says of a problem and its options, in JSON types."""
    kept = {name: getattr(options, name) for name in KEPT} | {"random_state": options.seed}
    said = {"class": type(problem).__name__, "n_clusters": problem.n_clusters}
    found = hashlib.sha256(json.dumps([said, kept, problem.X.shape], sort_keys=True).encode())
    for array in (problem.X, problem.sample_weight):
        found.update(np.ascontiguousarray(array).tobytes())
    return {"gopfast": version.VERSION, "problem": said, "options": kept, "digest": found.hexdigest()}


def state(search):
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
        "node.serial": [entry.serial for entry in search.heap], "history": search.history, "time": search.elapsed(),
        "centers": search.centers, "counts": [getattr(search, name) for name in COUNTS],
        "bounds": [getattr(search, name) for name in BOUNDS], "pool.centers": pool.centers,
        "pool.labels": pool.labels, "pool.inertia": pool.inertia, "pool.descents": pool.n_descents,
        "pool.random": np.frombuffer(json.dumps(pool.rng.bit_generator.state).encode(), dtype=np.uint8),
        "columns.lengths": [len(own) for own in columns.values()],
        "columns": np.concatenate([*columns.values(), np.zeros(0, dtype=np.int32)]),
    }  # fmt: skip
    return {name: np.asarray(value) for name, value in found.items()}


def restore(search, arrays):
    """
    Let a search of the same problem and options go on from what `state` returned.

    Raises
    ------
    KeyError, TypeError, ValueError, IndexError
        If the arrays are not of such a search.
    """
    pool, (N, d), K = search.pool, search.X.shape, search.problem.n_clusters
    pool.rng.bit_generator.state = json.loads(arrays["pool.random"].tobytes())
    pool.centers, pool.labels = np.reshape(arrays["pool.centers"], (K, d)), _indices(arrays["pool.labels"], N, K)
    pool.inertia, pool.n_descents = float(arrays["pool.inertia"]), int(arrays["pool.descents"])
    for own in _divided(_indices(arrays["columns"], None, N).astype(np.int32), arrays["columns.lengths"]):
        pool.columns[own.tobytes()] = own
    for name, value in zip(COUNTS, arrays["counts"], strict=True):
        setattr(search, name, int(value))
    for name, value in zip(BOUNDS, arrays["bounds"], strict=True):
        setattr(search, name, float(value))
    search.centers = np.reshape(arrays["centers"], (K, d))
    search.history = [tuple(row) for row in np.reshape(arrays["history"], (-1, 5)).tolist()]
    search.before = float(arrays["time"])
    pairs = [
        [tuple(map(tuple, some.tolist())) for some in
         _divided(_indices(arrays[name], None, N).reshape(-1, 2), arrays[f"{name}.lengths"])]
        for name in ("together", "apart")
    ]  # fmt: skip
    rows = zip(*pairs, *(arrays[f"node.{name}"].tolist() for name in ("lower", "estimate", "serial")), strict=True)
    for together, apart, lower, estimate, serial in rows:
        node = Node(search.X, search.weights, K, together, apart, lower)
        node.estimate = estimate
        search.open(node, serial)


def _indices(array, length, below):
    """Check that these are so many numbers from 0 on."""
    if array.dtype.kind != "i" and array.size or array.size and not (0 <= array.min() and array.max() < below):
        raise ValueError("numbers of samples or clusters that do not exist")
    if length is not None and array.shape != (length,):
        raise ValueError(f"{array.shape} numbers in place of {length}")
    return array.astype(np.intp)


def _divided(array, lengths):
    """Return parts of so many rows."""
    if lengths.sum() != len(array) or (lengths.size and lengths.min() < 0):
        raise ValueError("parts of other lengths")
    return np.split(array, np.cumsum(lengths, dtype=np.intp)[:-1]) if lengths.size else []
