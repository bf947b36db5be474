"""The best solution found, and the bound from which on a node cannot hold one that matters.

Theory: (S2) of docs/theory/search.md.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, isfinite
from libc.string cimport memcpy

from gopfast.search.tuning cimport LOCAL_TOLERANCE


cdef class Incumbent:
    """The best solution found.

    Parameters
    ----------
    primal : Primal
    epsilon, rel_tol : float
        What a solution may miss of the optimum, absolutely or relative to |UBD|.
    """

    def __init__(self, Primal primal, real epsilon, real rel_tol):
        self.primal, self.epsilon, self.rel_tol = primal, epsilon, rel_tol
        self.upper = self.cutoff = INFINITY
        self.solution, self.trial = np.full(primal.n_solution, np.nan), np.empty(primal.n_solution)

    cdef real tolerance(self) noexcept nogil:
        # Without an incumbent a relative tolerance would be infinite.
        return max(self.epsilon, self.rel_tol * fabs(self.upper)) if isfinite(self.upper) else self.epsilon

    cdef real limit(self) noexcept nogil:
        return min(self.upper - self.tolerance(), self.cutoff)

    cdef void find(self, Effort *effort) noexcept nogil:
        self.primal.meter.begin()
        self.upper = self.primal.first(LOCAL_TOLERANCE * self.epsilon, &self.solution[0], effort)
        self.primal.meter.end()
        self.is_new = True

    cdef bint improve(self, const real *point, const real *weights, Effort *effort) noexcept nogil:
        cdef real least_gain = LOCAL_TOLERANCE * self.tolerance()
        cdef real found
        self.primal.meter.begin()
        found = self.primal.improve(point, weights, self.upper - least_gain, least_gain, &self.trial[0], effort)
        self.primal.meter.end()
        return self.offer(found)

    cdef void polish(self, Effort *effort) noexcept nogil:
        cdef real found
        if self.polished:
            return
        memcpy(&self.trial[0], &self.solution[0], self.solution.shape[0] * sizeof(real))
        self.primal.meter.begin()
        found = self.primal.polish(&self.trial[0], effort)
        self.primal.meter.end()
        self.offer(found)
        self.polished = True

    cdef bint offer(self, real objective) noexcept nogil:
        """Takes `trial` if its objective is better; whether it is."""
        if not objective < self.upper:
            return False
        if isfinite(self.upper - objective):
            self.primal.finder().gained += self.upper - objective
        self.upper, self.is_new, self.polished = objective, True, False
        memcpy(&self.solution[0], &self.trial[0], self.solution.shape[0] * sizeof(real))
        return True
