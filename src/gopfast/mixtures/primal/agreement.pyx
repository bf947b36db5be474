"""Whether independent starts agree on where a local search ends, so that more of them would tell the same.

Theory: (S8) of docs/theory/search.md.
"""

from libc.math cimport INFINITY

from gopfast.mixtures.primal.tuning cimport AGREED_PART, AGREED_STARTS


cdef class Agreement:
    """How many independent starts there were, and how many of them ended at the least end."""

    def __init__(self):
        self.forget()

    cdef void forget(self) noexcept nogil:
        """Before the first start."""
        self.n_starts, self.n_met, self.least = 0, 0, INFINITY

    cdef void add(self, real end, real slack, int n_starts=1) noexcept nogil:
        self.lower(end, slack)
        self.n_starts += n_starts
        if end <= self.least + slack:
            self.n_met += n_starts

    cdef void lower(self, real end, real slack) noexcept nogil:
        if end < self.least - slack:
            self.n_met = 0
        self.least = min(self.least, end)

    cdef bint reached(self) noexcept nogil:
        """Whether there were enough starts, and enough of them met the least end."""
        return self.n_starts >= AGREED_STARTS and self.n_met >= AGREED_PART * self.n_starts
