"""When a local search found what."""

from gopfast.search.tuning cimport MOST_IMPROVEMENTS
from gopfast.search.types cimport index, real


cdef class Improvements:
    cdef readonly index n
    cdef real times[MOST_IMPROVEMENTS]      # of the clock of `stop`, seconds
    cdef real values[MOST_IMPROVEMENTS]     # objectives, which fall
    cdef void note(self, real value) noexcept nogil
