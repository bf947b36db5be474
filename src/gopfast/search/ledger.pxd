"""What a proof needs to know of a tree's nodes, told in blocks as they are split and closed."""

from gopfast.search.tree cimport Node
from gopfast.search.types cimport index, real


cdef class Ledger:
    cdef index n_connected, n_warm
    cdef object sink
    cdef index root                 # its serial: labels are relative to it
    cdef index n_splits, n_leaves   # in the block at hand
    cdef int[:, ::1] splits         # (BLOCK, 4) label, variable, labels of the lower and upper part; -1: none
    cdef real[::1] points           # (BLOCK,)
    cdef int[::1] labels            # (BLOCK,) of the leaves
    cdef real[::1] lower            # (BLOCK,) their bounds; NaN: found empty, with the parent's box and warm start
    cdef real[:, ::1] boxes         # (BLOCK, 2 n_connected)
    cdef float[:, ::1] warm         # (BLOCK, n_warm)
    cdef real[::1] before           # (2 n_connected,) box of a new node before it is tightened
    # A tree begins, again or for the first time.
    cdef int begin(self, const Node *root) except -1
    # A node has become two, or is bounded again as its only child.
    cdef int divided(self, Node *parent, Node **children, int n_children) except -1
    # Before a child is tightened, and where nothing was left of it.
    cdef void remember(self, Node *node) noexcept nogil
    cdef int emptied(self, Node *node) except -1
    cdef int leaf(self, Node *node) except -1
    cdef int add(self, Node *node, const real *box, real lower) except -1
    cdef int flush(self) except -1
