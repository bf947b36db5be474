"""The nodes that are bounded at a time: between the partition of their parents and the tree."""

from gopfast.search.audit cimport Audit
from gopfast.search.domain cimport Cut, Domain
from gopfast.search.relaxation cimport Effort, Relaxation
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node
from gopfast.search.types cimport index, real


cdef class Batch:
    cdef index n, capacity
    cdef Node **nodes           # (capacity,), of which n are owned; NULL where the tree has taken one
    cdef Effort *efforts        # (capacity,): of the last bounding
    cdef index n_parents        # of
    cdef Node **parents         # (capacity,), which are owned until they are partitioned
    cdef Cut *cuts              # (capacity,): of the last cutting
    cdef int *by                # (capacity,): what has emptied a node, see Reduction.emptied
    cdef int n_threads
    # Gives ownership of the i-th node.
    cdef Node *detach(self, index i) noexcept nogil
    cdef Node *detach_parent(self, index i) noexcept nogil
    # IN/OUT: cuts so many nodes, where they were made before node `before`, down to where solutions below the limit can
    # lie. OUT: what is left of each. Returns how many it has looked at.
    cdef index cut(self, Node **nodes, index n, index before, Domain domain, Audit audit) noexcept nogil
    # Raises the bounds of all that lie below the limit. The result does not depend on the number of threads.
    cdef void bound(self, Relaxation relaxation, real limit, StopSignal stop) noexcept nogil
    cdef void bound_one(self, index i, Relaxation relaxation, real limit, int worker) noexcept nogil
    cdef bint cut_one(self, index i, Node *node, Domain domain, Audit audit, int worker) noexcept nogil
    # The node with the least bound; NULL: there is none.
    cdef Node *least(self) noexcept nogil
    # The node whose relaxed solution would be the best, if its objective would be below the limit; NULL: none.
    cdef Node *promising(self, real limit) noexcept nogil
    # IN/OUT: adds the work that the last bounding took.
    cdef void count(self, Effort *total) noexcept nogil
    # On each worker's own thread, after the search.
    cdef void release(self, Relaxation relaxation) noexcept nogil
