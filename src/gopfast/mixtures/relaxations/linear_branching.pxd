"""The solution of a node's linear program, and where the node is divided."""

from gopfast.mixtures.relaxations.linear_rows cimport LinearRows
from gopfast.search.relaxation cimport Effort
from gopfast.search.tree cimport Node
from gopfast.search.types cimport real


cdef class LinearBranching(LinearRows):
    cdef void read_solution(self) noexcept nogil
    cdef real shortfall(self) noexcept nogil
    cdef void choose_split(self, Node *node) noexcept nogil
    cdef void place_middle(self, Node *node) noexcept nogil
    cdef real split_mean(self, int a, real low, real high) noexcept nogil
    cdef real split_weight(self, int k, real low, real high) noexcept nogil
    cdef void soften(self, const real *means) noexcept nogil

    cdef void select(self, Node *node, Effort *effort) noexcept nogil
    cdef void switch(self, int a, bint upper, real relax) noexcept nogil
    cdef void mean_halves(self, int a, real low, real at, real high) noexcept nogil
    cdef void weight_halves(self, int a, real low, real at, real high) noexcept nogil
    cdef real weight_excess(self, real p, real q, real low, real high) noexcept nogil
    cdef void order_row(self, int a, int b) noexcept nogil
