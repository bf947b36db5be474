"""Where tangents of convex forms and of atoms touch, and how many a node's children may begin with.

Theory: (X3) of docs/theory/biconvex.md; (XF1) of docs/theory/functions.md.
"""

import numpy as np

from libc.math cimport isfinite

from gopfast.biconvex.data cimport BiconvexData
from gopfast.biconvex.learnt_rows cimport reals
from gopfast.biconvex.tuning cimport KEPT_EACH, KEPT_PER_VARIABLE, MOST_KEPT_FLOATS
from gopfast.search.types cimport real


cdef class Tangents:
    """What the workers of a relaxed dual share: the forms' variables, the incumbent, and a node's room for points.

    Parameters
    ----------
    data : BiconvexData
    n_rows : int
        The most rows of a node's program without tangents: a basis of so many stands in a node before the points.
    """

    def __init__(self, BiconvexData data, int n_rows):
        self.incumbent = reals(data.n)
        self.kept_from = 2 + (data.n_cols + n_rows) // PACKED
        self.find_members(data)
        self.waits_from = self.kept_from + 1 + self.n_kept_floats

    cdef int find_members(self, BiconvexData data) except -1:
        """Variables of each form, the argument of each atom, which come behind them, and room for tangents."""
        cdef int b, e, n = data.n_blocks, wanted = 0
        members, start = [], [0]
        for b in range(n):
            own = sorted({data.block_i[e] for e in range(data.block_start[b], data.block_start[b + 1])})
            members += own
            start.append(len(members))
            if data.presses(b):
                wanted += max(KEPT_EACH, <int> (KEPT_PER_VARIABLE * len(own))) * (1 + len(own))
        for b in range(data.n_atoms):
            members.append(data.atom_argument[b])
            start.append(len(members))
            wanted += 2 * KEPT_EACH
        self.member = np.array(members + [0], dtype=np.intc)
        self.member_start = np.array(start, dtype=np.intc)
        self.n_kept_floats = min(wanted, MOST_KEPT_FLOATS)
        return 0

    cdef int widest(self) noexcept nogil:
        """Variables of the form that has the most."""
        cdef int b, widest = 0
        for b in range(<int> self.member_start.shape[0] - 1):
            widest = max(widest, self.member_start[b + 1] - self.member_start[b])
        return widest

    cdef void touch(self, const real *solution) noexcept nogil:
        """At a new incumbent, if all of it is finite."""
        cdef int j
        self.has_incumbent = True
        for j in range(<int> self.incumbent.shape[0]):
            self.incumbent[j] = solution[j]
            if not isfinite(solution[j]):
                self.has_incumbent = False
