"""Several things learnt beside a tree: a quick one and, where it has no more to learn and the tree goes on, the next.

Theory: (H8) of docs/theory/hitting.md.
"""

import numpy as np

from gopfast.search import entries

from libc.math cimport INFINITY

from gopfast.search.meter cimport Meter
from gopfast.search.stop cimport StopSignal


cdef class HandoverReduction(Reduction):
    """What one knows is known; boxes are cut down by all.

    Parameters
    ----------
    reductions : sequence of Reduction
        Two or more of the same problem, in the order in which they begin. What follows the first is another, `second`.
    wait : int
        How often the tree asks one in vain, once for every batch of nodes, until the next begins.
    """

    def __init__(self, reductions, index wait=0):
        cdef Reduction first = reductions[0], second
        second = reductions[1] if len(reductions) == 2 else HandoverReduction(reductions[1:], wait)
        self.first, self.second, self.wait, self.waited = first, second, wait, 0
        self.n_connected = first.n_connected
        self.cutter, self.finder = first.cutter, second.finder
        self.low, self.high = np.array(first.low), np.array(first.high)

    cdef int prepare(self, StopSignal stop) except -1:
        self.first.prepare(stop)
        self.second.prepare(stop)
        return 0

    cdef bint work(self, const real *solution, real limit, Effort *effort) noexcept nogil:
        cdef bint more = self.first.work(solution, limit, effort)
        self.by_second = False
        if not more and self.waited < self.wait:
            self.waited += 1
        elif not more and self.first.floor < limit:  # else there is nothing left to learn
            self.by_second = True
            more = self.second.work(solution, limit, effort)
        self.gather()
        return more

    cdef Meter worker(self):
        self.cutter = self.second.cutter if self.second.lower < INFINITY else self.first.cutter
        return self.second.worker() if self.by_second else self.first.worker()

    cdef Meter emptied(self, int by):
        return self.first.emptied(by // 2) if by % 2 == 0 else self.second.emptied((by + 1) // 2)

    cdef void gather(self) noexcept nogil:
        """What is known of all solutions below the limit."""
        cdef index j
        self.lower = min(self.first.lower, self.second.lower)
        self.floor = max(self.first.floor, self.second.floor)
        self.version = self.first.version + self.second.version
        for j in range(self.n_connected):
            self.low[j] = max(self.first.low[j], self.second.low[j])
            # nothing may be left
            self.high[j] = max(self.low[j], min(self.first.high[j], self.second.high[j]))

    cdef int contract(self, real *low, real *high, real *rest) noexcept nogil:
        cdef real other
        cdef int left
        rest[0] = -INFINITY
        if self.first.lower < INFINITY:
            left = self.first.contract(low, high, rest)
            if left <= 0:
                return 2 * left         # even by the first, odd by the second: `emptied` tells by what of theirs
        if self.second.lower < INFINITY:
            left = self.second.contract(low, high, &other)
            if left <= 0:
                return 2 * left - 1
            rest[0] = max(rest[0], other)
        return 1

    cdef bint start(self, real *point, real *weights) noexcept nogil:
        return self.first.start(point, weights) or self.second.start(point, weights)

    @property
    def learnt(self):
        """The bound of what is being learnt, -inf before its first one; None: nothing is."""
        return self.second.learnt if self.first.learnt is None else self.first.learnt

    def state(self, bint learning=True):
        """What all know."""
        found = {"waited": self.waited}
        for name, one in (("first", self.first), ("second", self.second)):
            found |= {f"{name}_{key}": value for key, value in one.state(learning).items()}
        return found

    def restore(self, state):
        """Take what `state` returned."""
        self.waited = entries.count(state, "waited")
        for name, one in (("first_", self.first), ("second_", self.second)):
            with entries.owner(name):
                one.restore({key[len(name):]: value for key, value in state.items() if key.startswith(name)})
        self.gather()
