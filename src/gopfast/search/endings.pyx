"""Where local searches ended: from what kind of start each began, how it ended, and at which objective.

Theory: (S9) of docs/theory/search.md.
"""

import numpy as np

from gopfast.search import entries

from gopfast.search.tuning cimport MOST_ENDINGS

ENDINGS = ("converged", "out of steps", "given up", "out of time", "failed")


cdef class Endings:
    """The ends of local searches: all are counted, and of the first ones that were not given up the ends are kept.

    Parameters
    ----------
    n_kinds : int
        Number of kinds of starts; the model knows their names.
    """

    def __init__(self, int n_kinds):
        self.n_kinds = n_kinds
        self.counts = np.zeros((n_kinds, N_ENDINGS), np.intp)
        self.kinds, self.endings = np.zeros(MOST_ENDINGS, np.int8), np.zeros(MOST_ENDINGS, np.int8)
        self.values, self.n_kept = np.zeros(MOST_ENDINGS), 0

    cdef void add(self, int kind, int ending, real value) noexcept nogil:
        self.counts[kind, ending] += 1
        if ending >= GIVEN_UP or self.n_kept == MOST_ENDINGS:
            return
        self.kinds[self.n_kept], self.endings[self.n_kept] = kind, ending
        self.values[self.n_kept] = value
        self.n_kept += 1

    def take(self, Endings others, real unit=1.0):
        """Add those of other searches, whose objectives are in this unit."""
        cdef index i, n
        np.asarray(self.counts)[:] += others.counts
        n = min(others.n_kept, MOST_ENDINGS - self.n_kept)
        for i in range(n):
            self.kinds[self.n_kept], self.endings[self.n_kept] = others.kinds[i], others.endings[i]
            self.values[self.n_kept] = unit * others.values[i]
            self.n_kept += 1

    def table(self):
        """Counts, (n_kinds, endings)."""
        return np.array(self.counts, dtype=np.int64)

    def rows(self):
        """Kinds, endings and objectives of the searches that were kept."""
        return (np.array(self.kinds[:self.n_kept]), np.array(self.endings[:self.n_kept]),
                np.array(self.values[:self.n_kept]))

    def state(self):
        """What a checkpoint keeps."""
        kinds, ways, values = self.rows()
        return {"ends_counted": self.table(), "ends_of": kinds, "ends_by": ways, "ends_at": values}

    def restore(self, state):
        """Take what `state` returned."""
        counted = entries.array(state, "ends_counted", (self.n_kinds, N_ENDINGS), "iu", 0, entries.LARGEST)
        kinds = entries.array(state, "ends_of", (None,), "iu", 0, self.n_kinds - 1)
        n = len(kinds)
        if n > MOST_ENDINGS:
            raise entries.EntryError(f"ends_of must have at most {MOST_ENDINGS} entries; it has {n}")
        ways = entries.array(state, "ends_by", (n,), "iu", 0, N_ENDINGS - 1)
        values = entries.array(state, "ends_at", (n,))
        np.asarray(self.counts)[:] = counted
        self.n_kept = n
        np.asarray(self.kinds)[:n], np.asarray(self.endings)[:n] = kinds, ways
        np.asarray(self.values)[:n] = values
