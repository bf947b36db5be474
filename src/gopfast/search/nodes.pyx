"""Nodes as plain arrays: to keep, to hand to others, to put on disk."""

import numpy as np

from gopfast.search import entries

from libc.string cimport memcpy

from gopfast.search.tree cimport node_choice, node_low, node_warm
from gopfast.search.types cimport NO_MEMORY, real


def layout(Tree tree):
    """Name of each array, its columns and its type."""
    return {
        "lower": (None, np.float64), "serial": (None, np.int64), "parent": (None, np.int64),
        "depth": (None, np.intc), "branch": (None, np.intc), "box": (3 * tree.n_connected, np.float64),
        "warm": (tree.n_warm, np.float32), "choice": (tree.n_split if tree.selects else 0, np.intc),
    }


cdef dict nodes_to_arrays(Tree tree, Node **nodes, index n):
    cdef dict arrays = {name: np.empty(n if m is None else (n, m), dtype=kind)
                        for name, (m, kind) in layout(tree).items()}
    cdef real[::1] lower = arrays["lower"]
    cdef long long[::1] serial = arrays["serial"], parent = arrays["parent"]
    cdef int[::1] depth = arrays["depth"], branch = arrays["branch"]
    cdef real[:, ::1] box = arrays["box"]
    cdef float[:, ::1] warm = arrays["warm"]
    cdef int[:, ::1] choice = arrays["choice"]
    cdef index i
    cdef Node *node
    for i in range(n):
        node = nodes[i]
        lower[i], serial[i], parent[i] = node.lower, node.serial, node.parent
        depth[i], branch[i] = node.depth, node.branch
        memcpy(&box[i, 0], node_low(node), 3 * tree.n_connected * sizeof(real))
        if tree.n_warm:
            memcpy(&warm[i, 0], node_warm(node, tree.n_connected), tree.n_warm * sizeof(float))
        if tree.selects:
            memcpy(&choice[i, 0], node_choice(node, tree.n_connected, tree.n_warm), tree.n_split * sizeof(int))
    return arrays


def checked(Tree tree, arrays):
    """The arrays in this tree's form, as many rows in each, with indices in range; EntryError where they are not."""
    found = {}
    for name, (m, kind) in layout(tree).items():
        value = entries.array(arrays, name, (None,) if m is None else (None, m), np.dtype(kind).kind, nan=True)
        if value.dtype != kind:
            raise entries.EntryError(f"{name} must have dtype {np.dtype(kind)}; it has {value.dtype}")
        found[name] = np.ascontiguousarray(value)
    if len({len(value) for value in found.values()}) != 1:
        raise entries.EntryError("arrays differ in length")
    low, high, _ = np.split(found["box"], 3, axis=1)
    entries.ordered("box", low, high)
    if np.isnan(found["lower"]).any():
        raise entries.EntryError("lower must be numbers")
    for name, least, most in (
        ("serial", 0, entries.LARGEST), ("parent", -1, entries.LARGEST), ("depth", 0, 1 << 30),
        ("branch", -1, tree.n_connected - 1), ("choice", -tree.n_split, tree.n_split),
    ):
        entries.array(found, name, None, "i", least, most)
    return found


cdef int push_arrays(Tree tree, arrays, bint anew) except -1:
    cdef dict found = checked(tree, arrays)
    cdef const real[::1] lower = found["lower"]
    cdef const long long[::1] serial = found["serial"], parent = found["parent"]
    cdef const int[::1] depth = found["depth"], branch = found["branch"]
    cdef const real[:, ::1] box = found["box"]
    cdef const float[:, ::1] warm = found["warm"]
    cdef const int[:, ::1] choice = found["choice"]
    cdef index i, n_created
    cdef Node *node
    for i in range(lower.shape[0]):
        n_created = tree.n_created
        node = tree.new_node()
        if node == NULL:
            raise MemoryError("out of memory for open nodes")
        if not anew:
            node.serial, tree.n_created = serial[i], max(n_created, serial[i] + 1)
        node.lower, node.parent, node.depth, node.branch = lower[i], parent[i], depth[i], branch[i]
        memcpy(node_low(node), &box[i, 0], 3 * tree.n_connected * sizeof(real))
        if tree.n_warm:
            memcpy(node_warm(node, tree.n_connected), &warm[i, 0], tree.n_warm * sizeof(float))
        if tree.selects:
            memcpy(node_choice(node, tree.n_connected, tree.n_warm), &choice[i, 0], tree.n_split * sizeof(int))
        if tree.push(node) == NO_MEMORY:
            tree.free_node(node)
            raise MemoryError("out of memory for open nodes")
    return 0
