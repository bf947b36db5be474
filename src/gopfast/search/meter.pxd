"""What one mechanism of a search has done: calls, terms, nodes closed, gap closed, seconds."""

from gopfast.search.types cimport index, real

# A term is the cost of one sample (or of one point of a summary in its place) in one component (or one part of its
# cell), evaluated once: a pass over n samples with K components has n K terms, and a pass that evaluates them at
# several places, such as the shells of a box, so many times as many. What is done with a term besides is not counted:
# seconds tell.
cdef struct Work:
    index calls
    index terms
    index closed    # nodes
    real gained     # of the gap UBD - LBD, in the objective's unit
    real seconds

cdef void add_work(Work *to, const Work *other) noexcept nogil


cdef class Meter:
    cdef readonly str name
    cdef Meter parent           # whose seconds run while this mechanism is at work inside it, or None
    cdef Work work
    cdef real begun
    # On the caller's thread: a call begins, and ends. Not while one is under way.
    cdef void begin(self) noexcept nogil
    cdef void end(self) noexcept nogil
    # The same of several calls, or of none.
    cdef void resume(self) noexcept nogil
