"""Tightening the box of a node by what its linear program proves."""

from gopfast.biconvex.bilinear_rounds cimport BilinearRounds
from gopfast.biconvex.data cimport BiconvexData
from gopfast.search.relaxation cimport Effort
from gopfast.search.tree cimport Node
from gopfast.search.types cimport real


cdef bint are_worth_programs(BiconvexData data)


cdef class BilinearTightening(BilinearRounds):
    cdef bint bounds_in_nodes           # whether nodes have programs for bounds of a few variables
    cdef real[::1] old_low, old_high    # (n,) the box before it was tightened
    cdef int[::1] seen                  # (n, 2) bounds on which a solution of the sweep lay
    cdef int[::1] ranked                # (n_ranked,) variables whose bounds are worth programs, the worst first
    cdef int n_ranked
    cdef real work                      # iterations times rows, of programs for bounds
    cdef int[::1] wanted                # (n,) variables of products: their bounds are worth programs

    cdef bint propagate(self, Node *node, real cutoff) noexcept nogil
    cdef bint has_shrunk(self, Node *node) noexcept nogil
    cdef int tighten_by_costs(self, Node *node, real cutoff) noexcept nogil
    cdef int tighten_by_programs(self, Node *node, real cutoff, int n_sweeps, Effort *effort) noexcept nogil
    cdef int tighten_in_node(self, Node *node, real cutoff, Effort *effort) noexcept nogil
    cdef void rank(self) noexcept nogil
    cdef float *waits(self, Node *node, int j, int side) noexcept nogil
    cdef bint puts_off(self, Node *node, int j, int side) noexcept nogil
    cdef int sweep(self, Node *node, real cutoff, Effort *effort) noexcept nogil
    cdef void mark_seen(self, const real *low, const real *high) noexcept nogil
    cdef void note_needed(self) noexcept nogil
    cdef void remember(self, Node *node) noexcept nogil
