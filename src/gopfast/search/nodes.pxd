"""Nodes as plain arrays: to keep, to hand to others, to put on disk."""

from gopfast.search.tree cimport Node, Tree
from gopfast.search.types cimport index

# Arrays by name, each with one row for a node.
cdef dict nodes_to_arrays(Tree tree, Node **nodes, index n)
# Takes nodes into the tree; `anew`: with new serial numbers. ValueError: they are none of this tree's kind.
cdef int push_arrays(Tree tree, arrays, bint anew) except -1
