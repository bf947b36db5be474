"""What is learnt beside a tree in steps of Python: begun once, interrupted between, learnt again from its log."""

import numpy as np

from gopfast.search import entries, interrupts

from libc.math cimport INFINITY, isfinite
from libc.string cimport memcpy

from gopfast.search.learning_log import LearningLog


cdef class StepwiseReduction(Reduction):
    """A reduction that a bound in Python learns. Subclasses say what its steps mean for boxes, and what they keep.

    Parameters
    ----------
    family : Family
        Of K components.
    make : callable (solution, limit) -> object
        What learns, a `gopfast.mixtures.learning.learner.Learner`.
    """

    def __init__(self, Family family, make):
        cdef index n = family.n_connected
        self.family, self.make = family, make
        self.n_connected, self.passes_of_one = n, 1
        self.learning_log = LearningLog()
        self.low, self.high, self.found = np.empty(n), np.empty(n), np.empty(family.n_components + n)
        family.root(&self.low[0], &self.high[0])

    cdef int prepare(self, StopSignal stop) except -1:
        self.stop = stop
        return 0

    cdef bint work(self, const real *solution, real limit, Effort *effort) noexcept nogil:
        cdef bint more = False
        if not isfinite(limit):
            return False
        with gil:
            try:
                interrupts.check()
                with interrupts.raised():
                    more = self.learn(solution, limit, effort) > 0
            except BaseException as error:
                self.stop.caught(error)
        return more

    cdef int learn(self, const real *solution, real limit, Effort *effort) except -1:
        """One step."""
        cdef index n_solution = self.n_connected + self.family.n_components + 1, before
        if self.bound is None and not self.idle:
            self.learning_log.begin(np.array(<real[:n_solution]> <real *> solution))
            self.bound = self.make(self.learning_log.first, limit)
        self.take_limit(limit)
        if self.idle:
            return 0
        if self.resting > 0:
            self.resting -= 1
            return 0
        self.learning_log.count(limit)
        before, terms = self.bound.n_passes, self.bound.n_terms
        more = self.bound.step(self.stop.deadline)
        effort.n_passes += (self.bound.n_passes - before) // self.passes_of_one
        self.meter.count(terms=self.bound.n_terms - terms, calls=1)
        self.floor = max(self.floor, self.proved())
        found = self.bound.found
        if found is not None:
            np.asarray(self.found)[:], self.bound.found, self.has_start = found[:-1], None, True
        self.resting = self.bound.rest
        more = self.adopt(limit) and more
        self.idle = not more
        return 1 if more and not self.resting else 0

    cdef int take_limit(self, real limit) except -1:
        if self.bound is not None:
            self.bound.limit = min(<real> self.bound.limit, limit)
        return 0

    cdef real proved(self) except? -1.0:
        return self.bound.lower

    cdef bint adopt(self, real limit) except -1:
        raise NotImplementedError

    cdef bint start(self, real *point, real *weights) noexcept nogil:
        if not self.has_start:
            return False
        self.has_start = False
        memcpy(weights, &self.found[0], self.family.n_components * sizeof(real))
        memcpy(point, &self.found[self.family.n_components], self.n_connected * sizeof(real))
        return True

    @property
    def learnt(self):
        """The bound of what is being learnt, -inf before its first one; None: nothing is."""
        return None if self.idle or self.bound is None else self.bound.at_work

    def known(self):
        """What was learnt, as arrays by name."""
        raise NotImplementedError

    def take_known(self, state):
        """Take what `known` returned."""
        raise NotImplementedError

    def state(self, bint learning=True):
        """What is known; while more is to be learnt what is needed to learn it again.

        That takes its time, but what is in the making is large. With `learning` False it is what others need who learn
        nothing.
        """
        if learning and not self.idle and self.learning_log.steps:
            return {**self.learning_log.state(), "resting": self.resting}
        return {"idle": not learning or self.idle, **self.known()}

    def restore(self, state):
        """Take what `state` returned; what was being learnt is learnt again, in the same steps."""
        cdef Effort effort
        cdef real[::1] first
        effort.n_passes = 0
        if "learning_log" in state:
            self.prepare(StopSignal(INFINITY))
            first, limits = LearningLog.again(state, self.n_connected + self.family.n_components + 1)
            interrupts.check()  # all is in the file still, and half of what was learnt is nothing
            with interrupts.raised():
                for limit in limits:
                    self.resting = 0
                    self.learn(&first[0], limit, &effort)
            self.has_start = False  # it was taken then
            self.resting = entries.count(state, "resting")
            return
        self.idle, self.bound = entries.flag(state, "idle"), None
        self.take_known(state)

    def learn_all(self, real[::1] solution, real limit):
        """For tests: all that there is to learn."""
        cdef Effort effort
        effort.n_passes = 0
        self.prepare(StopSignal(INFINITY))
        while self.work(&solution[0], limit, &effort) or self.resting:
            self.resting = 0
        return effort.n_passes
