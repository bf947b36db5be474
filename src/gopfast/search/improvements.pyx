"""When a local search found what: rows of a history before the search has its first solution back."""

from gopfast.search.stop cimport clock


cdef class Improvements:
    """Objectives in the order that a local search attained them, each with its time."""

    cdef void note(self, real value) noexcept nogil:
        """An objective that is attained by a solution at hand, kept if it is the least so far."""
        cdef index at = min(self.n, <index> MOST_IMPROVEMENTS - 1)
        if self.n and not value < self.values[min(self.n, <index> MOST_IMPROVEMENTS) - 1]:
            return
        self.times[at], self.values[at] = clock(), value
        self.n = at + 1

    def rows(self):
        """Pairs of time and objective."""
        cdef index i
        return [(self.times[i], self.values[i]) for i in range(self.n)]
