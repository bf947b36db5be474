"""What a proof needs to know of a tree's nodes, told in blocks as they are split and closed.

Nothing of a closed node is kept here, so that a search for a proof takes memory for its open nodes alone.

Theory: (V1) of docs/theory/proofs.md.
"""

import numpy as np

from libc.math cimport NAN
from libc.string cimport memcpy

from gopfast.search.tree cimport node_high, node_low, node_warm
from gopfast.search.tuning cimport BLOCK

# Below all boxes: what is split there has nothing in its lower part.
cdef real NOWHERE = -1e300


cdef class Ledger:
    """Splits and leaves of one tree.

    Parameters
    ----------
    n_connected : int
        Dimension of the boxes.
    n_warm : int
        Numbers that a node hands on.
    sink : object
        Its ``begin()`` forgets all that it was told, ``splits(splits, points)`` takes arrays (m, 4) and (m,), and
        ``leaves(labels, lower, low, high, warm)`` takes arrays of leaves, as they are described in ledger.pxd.
    """

    def __init__(self, index n_connected, index n_warm, sink):
        self.n_connected, self.n_warm, self.sink = n_connected, n_warm, sink
        self.splits, self.points = np.empty((BLOCK, 4), dtype=np.intc), np.empty(BLOCK)
        self.labels, self.lower = np.empty(BLOCK, dtype=np.intc), np.empty(BLOCK)
        self.boxes, self.warm = np.empty((BLOCK, 2 * n_connected)), np.empty((BLOCK, n_warm), dtype=np.float32)
        self.before = np.empty(2 * n_connected)

    cdef int begin(self, const Node *root) except -1:
        self.root = root.serial
        self.n_splits = self.n_leaves = 0
        self.sink.begin()
        return 0

    cdef int divided(self, Node *parent, Node **children, int n_children) except -1:
        cdef int *row
        if self.n_splits == BLOCK:
            self.flush()
        row = &self.splits[self.n_splits, 0]
        row[0] = <int> (parent.serial - self.root)
        if n_children == 1:
            row[1], row[2], row[3] = 0, -1, <int> (children[0].serial - self.root)
            self.points[self.n_splits] = NOWHERE
        else:
            row[1] = parent.branch
            row[2], row[3] = <int> (children[0].serial - self.root), <int> (children[1].serial - self.root)
            self.points[self.n_splits] = node_high(children[0], self.n_connected)[parent.branch]
        self.n_splits += 1
        return 0

    cdef void remember(self, Node *node) noexcept nogil:
        memcpy(&self.before[0], node_low(node), 2 * self.n_connected * sizeof(real))

    cdef int emptied(self, Node *node) except -1:
        return self.add(node, &self.before[0], NAN)

    cdef int leaf(self, Node *node) except -1:
        return self.add(node, node_low(node), node.lower)

    cdef int add(self, Node *node, const real *box, real lower) except -1:
        if self.n_leaves == BLOCK:
            self.flush()
        self.labels[self.n_leaves] = <int> (node.serial - self.root)
        self.lower[self.n_leaves] = lower
        memcpy(&self.boxes[self.n_leaves, 0], box, 2 * self.n_connected * sizeof(real))
        memcpy(&self.warm[self.n_leaves, 0], node_warm(node, self.n_connected), self.n_warm * sizeof(float))
        self.n_leaves += 1
        return 0

    cdef int flush(self) except -1:
        cdef index n = self.n_connected, m = self.n_splits, l = self.n_leaves
        self.n_splits = self.n_leaves = 0
        if m:
            self.sink.splits(np.array(self.splits[:m]), np.array(self.points[:m]))
        if l:
            self.sink.leaves(np.array(self.labels[:l]), np.array(self.lower[:l]), np.array(self.boxes[:l, :n]),
                             np.array(self.boxes[:l, n:]), np.array(self.warm[:l]))
        return 0
