"""A quick box around an incumbent, and a wider one where that is not enough.

Bounds of the Hessian by entry take a few milliseconds (`basin`), those to the fourth order up to a hundred times as
long (`neighbourhood`), and reach up to six times as far: small searches are done before these pay.

Theory: (B6) of docs/theory/basin.md.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.string cimport memcpy

from gopfast.search.relaxation cimport Basin
from gopfast.search.types cimport index, real


cdef class StagedBasin(Basin):
    """Holds the box that one of two basins has found.

    Parameters
    ----------
    quick, wide : Basin
        Of the same problem.
    """

    def __init__(self, Basin quick, Basin wide):
        self.quick, self.wide = quick, wide
        self.n_connected = quick.n_connected
        self.low, self.high = np.zeros(quick.n_connected), np.zeros(quick.n_connected)
        self.lower = -INFINITY

    cdef bint settle(self, const real *solution, real tolerance) noexcept nogil:
        return self.quick.settle(solution, tolerance) and self.hold(self.quick)

    cdef bint widen(self, const real *solution, real tolerance) noexcept nogil:
        cdef real width = 0
        cdef index j
        if not self.wide.settle(solution, tolerance):
            return False
        for j in range(self.n_connected):
            width += self.wide.high[j] - self.wide.low[j] - (self.high[j] - self.low[j])
        return (width > 0 or self.lower == -INFINITY) and self.hold(self.wide)

    cdef bint cover(self, const real *solution, real tolerance, const real *low, const real *high) noexcept nogil:
        if self.quick.cover(solution, tolerance, low, high):
            return self.hold(self.quick)
        return self.wide.cover(solution, tolerance, low, high) and self.hold(self.wide)

    cdef bint hold(self, Basin other) noexcept nogil:
        """Takes another's box; True."""
        memcpy(&self.low[0], &other.low[0], self.n_connected * sizeof(real))
        memcpy(&self.high[0], &other.high[0], self.n_connected * sizeof(real))
        self.lower = other.lower
        with gil:
            self.meter = other.meter
        return True

    def report(self):
        """For tests: low, high (n_connected,), lower."""
        return dict(low=np.array(self.low), high=np.array(self.high), lower=self.lower)

    def find(self, real[::1] solution, real tolerance, bint wide=False):
        """Whether a box was found around a solution, the wider one; for tests."""
        return self.widen(&solution[0], tolerance) if wide else self.settle(&solution[0], tolerance)

    def covers(self, real[::1] solution, real tolerance, real[::1] low, real[::1] high):
        """Whether the box [low, high] was taken; for tests."""
        return self.cover(&solution[0], tolerance, &low[0], &high[0])
