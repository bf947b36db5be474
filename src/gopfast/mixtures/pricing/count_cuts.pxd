"""What a search by counts has left, told to the nodes of a tree of boxes of all components."""

from gopfast.mixtures.pricing.cell_tree cimport CellTree
from gopfast.search.types cimport index, real


cdef class CountCuts:
    cdef readonly int n_components, n_leaves
    cdef CellTree forest                # cells of every group, one tree after another
    cdef int[::1] roots, counts         # (n_groups,) of the groups: first box, and how many components lie in it
    cdef int[::1] first                 # (n_leaves + 1,) of the leaves' groups
    cdef real[::1] totals               # (n_leaves,) at most sum w lambda plus the constant, at every leaf's own prices
    # IN/OUT: cuts from a box what holds no solution below the limit; 0: the box is empty. OUT: bound of what is left.
    cdef int fit(self, real *low, real *high, real limit, real *rest) noexcept nogil
    # OUT hull (2 K n,): what of a box lies in a leaf; returns a bound of it, INFINITY: it holds no solution below.
    cdef real meet(self, int leaf, const real *low, const real *high, real limit, real *memory,
                   real *hull) noexcept nogil
