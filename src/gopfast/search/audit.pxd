"""What tests ask of a search: that no bound and no cut contradicts a known solution, and which boxes it bounded."""

from gopfast.search.tree cimport Node
from gopfast.search.types cimport index, real


cdef class Audit:
    cdef index n_connected
    cdef real value             # the known solution's objective, INFINITY: none is known
    cdef real[::1] point        # (n_connected,): its connected variables
    cdef list trace             # of (serial, parent, lower, low, high), or None
    cdef readonly index n_failures
    # Whether the known solution lies in a node's box, of which `lower` is said to be a lower bound, and below it.
    # Faces may lie inside it by `rounding`, relative to 1 + |x|.
    cdef bint contradicts(self, Node *node, real lower, real rounding) noexcept nogil
    # After a cut of a box that held the solution (`held`): whether what is `left` of it does not, which is a failure.
    cdef bint lost(self, bint held, bint left, Node *node, real rounding) noexcept nogil
    # After node.lower was raised: counts a failure if it is contradicted; then takes the node into the trace.
    cdef int check_bound(self, Node *node) except -1
