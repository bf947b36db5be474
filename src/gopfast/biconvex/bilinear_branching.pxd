"""Where a node of a biconvex problem is divided."""

from gopfast.biconvex.bilinear_tightening cimport BilinearTightening
from gopfast.search.relaxation cimport Effort
from gopfast.search.tree cimport Node
from gopfast.search.types cimport index, real


cdef class BilinearBranching(BilinearTightening):
    cdef real[::1] cost                 # (n_split,) what the products of a variable miss
    cdef real[::1] importance           # (n_split,) of splitting a variable, -1: it cannot be split
    cdef int[::1] has_products          # (n_own_rows,) whether a row has any
    cdef real[::1] root_low, root_high  # (n,) the root box
    cdef index n_warm                   # of the nodes

    cdef void choose_split(self, Node *node) noexcept nogil
    cdef void weigh_violated(self) noexcept nogil
    cdef void place_switch(self, Node *node) noexcept nogil
    cdef real side_off(self, int side) noexcept nogil
    cdef void place_middle(self, Node *node) noexcept nogil
    cdef void select(self, Node *node, Effort *effort) noexcept nogil
    cdef void halves(self, int j, real at) noexcept nogil
    cdef void product_halves(self, int k, int j, real at) noexcept nogil
