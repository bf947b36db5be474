"""Things learnt beside a tree, one after the other."""

from gopfast.search.relaxation cimport Effort, Reduction
from gopfast.search.types cimport index, real


cdef class HandoverReduction(Reduction):
    cdef readonly Reduction first, second
    cdef readonly index wait, waited    # asked in vain: how often before the second begins, and so far
    cdef bint by_second                 # the last step was the second's
    cdef void gather(self) noexcept nogil
