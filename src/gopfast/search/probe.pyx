"""What a search makes of one box: for all optima, box by box, for tests and for fuzzing; no solve calls this."""

import numpy as np

from libc.math cimport INFINITY

from gopfast.search.relaxation cimport Effort, Relaxation, no_effort
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node, Tree, node_high, node_low
from gopfast.search.types cimport index, real


def root_box(Relaxation relaxation):
    """The root's (low, high), shapes (n_connected,)."""
    return probe(relaxation, None, None, 0.0, False)[:2]


def box_bound(Relaxation relaxation, low, high, real cutoff=INFINITY):
    """The bound alone, as `probe`; infinite where tightening leaves nothing."""
    found = probe(relaxation, low, high, cutoff)
    return INFINITY if found is None else found[2]


def probe(Relaxation relaxation, low, high, real cutoff, bint bounded=True):
    """Tighten and bound the box [low, high] of connected variables (None: the root).

    Returns
    -------
    None where tightening leaves nothing; else the tightened (low, high) and the bound, which may stop at `cutoff` and
    is that of a node without a parent. With `bounded` False neither is done.
    """
    cdef index n = relaxation.n_connected, a
    cdef Tree tree = Tree(n, relaxation.n_warm, relaxation.n_split, relaxation.selects)
    cdef real[::1] least, most
    cdef Effort effort = no_effort()
    cdef Node *node = tree.new_node()
    if node == NULL:
        raise MemoryError
    try:
        relaxation.root(node)
        node.lower = -INFINITY
        if low is not None:
            least, most = np.array(low, dtype=np.float64).ravel(), np.array(high, dtype=np.float64).ravel()
            for a in range(n):
                node_low(node)[a], node_high(node, n)[a] = least[a], most[a]
        if bounded:
            if not relaxation.tighten(node):
                return None
            relaxation.prepare(1, StopSignal(INFINITY))
            relaxation.bound(node, cutoff, 0, &effort)
            relaxation.release(0)
        return (np.array([node_low(node)[a] for a in range(n)]),
                np.array([node_high(node, n)[a] for a in range(n)]), node.lower)
    finally:
        tree.free_node(node)
