"""Where local searches ended: from what kind of start each began, how it ended, and at which objective.

Theory: (S9) of docs/theory/search.md.
"""

import numpy as np

from gopfast.search import entries

from gopfast.mixtures.primal.tuning cimport MOST_ENDINGS

# Names of the kinds of starts: handed in; known to the family; short runs that the first long one is chosen from;
# draws of k-means++ and clusters of k-means, independent of each other; samples that are tied; components split,
# merged and moved; solutions crossed; nodes of the tree and what was learnt beside it.
KINDS = ("given", "suggested", "trials", "draws", "clusters", "ties", "moves", "crossings", "nodes")
ENDINGS = ("converged", "out of steps", "given up", "out of time", "failed")


cdef class Endings:
    """The ends of local searches: all are counted, and of the first ones that were not given up the ends are kept."""

    def __init__(self):
        self.kinds, self.endings = np.zeros(MOST_ENDINGS, np.int8), np.zeros(MOST_ENDINGS, np.int8)
        self.values, self.n_kept = np.zeros(MOST_ENDINGS), 0

    cdef void add(self, int kind, int ending, real value) noexcept nogil:
        self.counts[kind][ending] += 1
        if ending >= GIVEN_UP or self.n_kept == MOST_ENDINGS:
            return
        self.kinds[self.n_kept], self.endings[self.n_kept] = kind, ending
        self.values[self.n_kept] = value
        self.n_kept += 1

    def table(self):
        """Counts, (kinds, endings)."""
        return np.array([[self.counts[k][e] for e in range(N_ENDINGS)] for k in range(N_KINDS)], dtype=np.int64)

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
        cdef int k, e
        counted = entries.array(state, "ends_counted", (N_KINDS, N_ENDINGS), "iu", 0, entries.LARGEST)
        kinds = entries.array(state, "ends_of", (None,), "iu", 0, N_KINDS - 1)
        n = len(kinds)
        if n > MOST_ENDINGS:
            raise entries.EntryError(f"ends_of must have at most {MOST_ENDINGS} entries; it has {n}")
        ways = entries.array(state, "ends_by", (n,), "iu", 0, N_ENDINGS - 1)
        values = entries.array(state, "ends_at", (n,))
        for k in range(N_KINDS):
            for e in range(N_ENDINGS):
                self.counts[k][e] = counted[k, e]
        self.n_kept = n
        np.asarray(self.kinds)[:n], np.asarray(self.endings)[:n] = kinds, ways
        np.asarray(self.values)[:n] = values
