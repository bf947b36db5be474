"""The bound of mixtures whose components share a parameter (`gopfast.mixtures.bounds.shared`), told to the search."""

import numpy as np

from libc.math cimport INFINITY, isfinite

from gopfast.mixtures.families.family cimport Family
from gopfast.search.lessons import Lessons
from gopfast.search.relaxation cimport Effort, Reduction
from gopfast.search.stop cimport StopSignal
from gopfast.search.types cimport STOP_INTERRUPTED, index, real


cdef class SharedReduction(Reduction):
    """A bound of all solutions; once it reaches the limit no box is left.

    Parameters
    ----------
    family : Family
        Of K components.
    make : callable (solution, limit) -> SharedBound
    """

    cdef Family family
    cdef object make
    cdef StopSignal stop
    cdef readonly object bound          # SharedBound
    cdef object lessons                 # Lessons
    cdef readonly bint idle, closed

    def __init__(self, Family family, make):
        cdef index n = family.n_connected
        self.family, self.make = family, make
        self.n_connected, self.lessons = n, Lessons()
        self.low, self.high = np.empty(n), np.empty(n)
        family.root(&self.low[0], &self.high[0])

    cdef int prepare(self, StopSignal stop) except -1:
        self.stop = stop
        return 0

    cdef bint work(self, const real *solution, real limit, Effort *effort) noexcept nogil:
        cdef bint more = False
        if self.idle or not isfinite(limit):
            return False
        with gil:
            try:
                more = self.learn(solution, limit, effort) > 0
            except KeyboardInterrupt:
                self.stop.request(STOP_INTERRUPTED)
            except BaseException as error:
                self.stop.exception = error
                self.stop.request(STOP_INTERRUPTED)
        return more

    cdef int learn(self, const real *solution, real limit, Effort *effort) except -1:
        cdef index n_solution = self.n_connected + self.family.n_components + 1
        cdef index before
        if self.bound is None:
            self.lessons.begin(np.array(<real[:n_solution]> <real *> solution))
            self.bound = self.make(self.lessons.first, limit)
        self.lessons.count(limit)
        self.bound.limit = min(self.bound.limit, limit)
        before = self.bound.n_passes
        self.idle = not self.bound.step(self.stop.deadline)
        effort.n_passes += self.bound.n_passes - before
        self.floor = max(self.floor, self.bound.lower)
        if self.floor >= limit:
            self.closed, self.lower = True, self.floor
            self.high[:] = self.low
        return 0 if self.idle else 1

    cdef int fit(self, real *low, real *high) noexcept nogil:
        return not self.closed

    def state(self, bint learning=True):
        """The bound that is known; while more is to be learnt what is needed to learn it again."""
        if learning and not self.idle and self.lessons.steps:
            return self.lessons.state()
        return {"idle": not learning or self.idle, "closed": self.closed, "bounds": np.array([self.lower, self.floor])}

    def restore(self, state):
        """Take what `state` returned; what was being learnt is learnt again, in the same steps."""
        cdef Effort effort
        cdef real[::1] first
        effort.n_passes = 0
        if "lessons" in state:
            self.prepare(StopSignal(INFINITY))
            first, limits = Lessons.again(state, self.n_connected + self.family.n_components + 1)
            for limit in limits:
                self.learn(&first[0], limit, &effort)
            return
        self.lower, self.floor = state["bounds"].tolist()
        self.idle, self.closed = bool(state["idle"]), bool(state["closed"])
        if self.closed:
            self.high[:] = self.low
