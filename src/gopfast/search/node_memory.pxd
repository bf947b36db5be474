"""Memory for the open nodes: what happens when it runs out."""

from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Tree
from gopfast.search.types cimport index, real


cdef class NodeMemory:
    cdef Tree tree
    cdef object memory          # None: without a limit
    cdef object spill           # None: nothing goes to disk
    cdef readonly list blocks   # of (lower, serial, number of nodes, name): what is on disk, best bound first
    cdef readonly real lower    # least bound of what is on disk, INFINITY: nothing
    cdef readonly index n_spilled
    cdef readonly index n_dives, n_blocks   # begun, and written, since the start
    cdef index turn, spill_from     # batches so far, and from which on the disk is tried (again)
    cdef size_t unasked         # bytes of the open nodes up to which nobody asks; 0: from now on always
    cdef readonly size_t most   # bytes that the open nodes may take, when it was last asked
    # Before a batch of so many parents at most, with so many children each: how many of them fit, 0: none.
    cdef index make(self, index n_parents, index n_children, StopSignal stop) except -1
    # Brings back from disk what comes before the next open node.
    cdef int fetch(self, StopSignal stop) except -1
    cdef int clear(self, StopSignal stop) except -1
    cdef int follow(self) except -1
    cdef bint spill_worst(self, StopSignal stop) except -1
    cdef bint write_worst(self) except -1
    cdef int read_next(self) except -1
    cdef index nodes_in(self, size_t room) noexcept nogil
