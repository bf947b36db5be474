"""Where tangents of convex forms touch, and how many a node's children may begin with."""

from gopfast.biconvex.data cimport BiconvexData
from gopfast.search.types cimport real

cdef enum:
    PACKED = 8                          # basis statuses, 3 bits each, in one float


cdef class Tangents:
    cdef int[::1] member_start, member  # variables of each form and atom
    cdef int kept_from, n_kept_floats   # in a node's warm start: where its tangents are, and their room
    cdef int waits_from                 # behind them, where programs for bounds that are put off are
    cdef real[::1] incumbent            # (n,) tangents touch there
    cdef bint has_incumbent

    cdef int find_members(self, BiconvexData data) except -1
    cdef int widest(self) noexcept nogil
    cdef void touch(self, const real *solution) noexcept nogil
