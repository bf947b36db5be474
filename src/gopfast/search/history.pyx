"""How the bounds went: rows for the result, and who watches the search."""

import numpy as np

from gopfast.search import interrupts
from gopfast.search.tuning import MOST_ROWS

from gopfast.search.stop cimport clock


cdef class History:
    """Rows (time, nodes, lower, upper, open) of all runs of a search.

    Parameters
    ----------
    monitor : None or callable (time, n_nodes, n_open, lower, upper, new_incumbent) -> stop
    """

    def __init__(self, monitor=None):
        self.rows, self.monitor, self.spent = [], monitor, 0

    cdef int resume(self) except -1:
        if self.rows:
            self.spent = max(self.spent, <real> self.rows[len(self.rows) - 1][0])
        return 0

    cdef real now(self, StopSignal stop) noexcept nogil:
        return self.spent + clock() - stop.started

    cdef bint report(self, real now, index n_nodes, index n_open, real lower, real upper, bint is_new) except -1:
        if is_new or not n_open or not self.rows or lower > self.rows[len(self.rows) - 1][2]:
            self.add(now, n_nodes, n_open, lower, upper)
        if self.monitor is None:
            return False
        try:
            return bool(self.monitor(now, n_nodes, n_open, lower, upper, is_new)) or interrupts.asked()
        except KeyboardInterrupt:  # a second Ctrl-C while the log or the user's callback runs
            return True

    cdef int add(self, real now, index n_nodes, index n_open, real lower, real upper) except -1:
        self.rows.append((now, n_nodes, lower, upper, n_open))
        if len(self.rows) > MOST_ROWS:
            # first and last stay, and those of new incumbents with them, at half the resolution
            self.rows = [row for i, row in enumerate(self.rows)
                         if i % 2 == 0 or i + 1 == len(self.rows) or row[3] < self.rows[i - 1][3]]
        return 0

    def table(self):
        """The rows, shape (n, 5)."""
        return np.array(self.rows, dtype=np.float64)
