"""How the bounds went: rows for the result, and who watches the search."""

from gopfast.search.stop cimport StopSignal
from gopfast.search.types cimport index, real


cdef class History:
    cdef list rows              # (seconds of all runs, nodes, LBD, UBD, open nodes)
    cdef object monitor
    cdef real spent             # seconds of the runs before this one
    # A run begins.
    cdef int resume(self) except -1
    # Seconds of all runs, this one's by its stop signal's clock.
    cdef real now(self, StopSignal stop) noexcept nogil
    # After a batch: takes a row where something changed and tells the monitor; whether that asks the search to stop.
    cdef bint report(self, real now, index n_nodes, index n_open, real lower, real upper, bint is_new) except -1
    cdef int add(self, real now, index n_nodes, index n_open, real lower, real upper) except -1
