"""The bound of mixtures whose components share a parameter (`gopfast.mixtures.shared.shared`), told to the search."""

import numpy as np

from gopfast.search import entries

from libc.math cimport INFINITY

from gopfast.mixtures.learning.stepwise cimport StepwiseReduction
from gopfast.search.types cimport real


cdef class SharedReduction(StepwiseReduction):
    """A bound of all solutions, of what `SharedBound` learns; once it reaches the limit no box is left."""

    cdef readonly bint closed

    cdef bint adopt(self, real limit) except -1:
        if self.floor >= limit:
            self.closed, self.lower = True, self.floor
            self.version += 1
            self.high[:] = self.low
        return True

    cdef int contract(self, real *low, real *high, real *rest) noexcept nogil:
        rest[0] = -INFINITY
        return not self.closed

    def known(self):
        """The bound."""
        return {"closed": self.closed, "bounds": np.array([self.lower, self.floor])}

    def take_known(self, state):
        """Take what `known` returned."""
        self.lower, self.floor = entries.array(state, "bounds", (2,)).tolist()
        self.closed = entries.flag(state, "closed")
        if self.closed:
            self.high[:] = self.low
