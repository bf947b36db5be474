"""The best solution found, and the bound from which on a node cannot hold one that matters."""

from gopfast.search.relaxation cimport Effort, Primal
from gopfast.search.types cimport real


cdef class Incumbent:
    cdef Primal primal
    cdef real epsilon, rel_tol
    cdef real cutoff            # solutions of at least this objective do not matter; INFINITY: none is asked for
    cdef real upper             # UBD, the objective of `solution`; INFINITY: there is none; -INFINITY: unbounded
    cdef real[::1] solution     # (n_solution,), NaN before there is one
    cdef real[::1] trial        # (n_solution,): of the local search that runs
    cdef bint is_new            # since it was last reported
    cdef bint polished          # what is proved stays as it is: a search that is resumed at its end does nothing
    # The gap UBD - LBD at which the search stops: max(epsilon, rel_tol * |UBD|).
    cdef real tolerance(self) noexcept nogil
    # Nodes with at least this bound are fathomed.
    cdef real limit(self) noexcept nogil
    # The first one, from multi-start.
    cdef void find(self, Effort *effort) noexcept nogil
    # Local search from a point (n_connected,) with weights of the components, or NULL; whether it ends in a better one.
    cdef bint improve(self, const real *point, const real *weights, Effort *effort) noexcept nogil
    # Brings it to high accuracy.
    cdef void polish(self, Effort *effort) noexcept nogil
    cdef bint offer(self, real objective) noexcept nogil
