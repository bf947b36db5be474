"""When to stop: time limit, Ctrl-C, and who asked."""

from gopfast.search.types cimport real

cdef real clock() noexcept nogil     # seconds, monotonic

cdef class StopSignal:
    cdef volatile int reason         # a StopReason; written once, read by every worker
    cdef real started, deadline, last_poll
    cdef object exception            # what a signal handler raised other than KeyboardInterrupt
    cdef bint poll(self, int worker) noexcept nogil
    cdef void request(self, int reason) noexcept nogil
    cdef void check_signals(self) noexcept
    cdef void look(self) noexcept
