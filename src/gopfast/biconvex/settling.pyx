"""Settling: a point that meets the user's rows, in the user's units.

Convex programs keep rows to a tolerance relative to what their terms can be within the bounds. Newton steps, each the
shortest that meets the linearised rows, in units of the point's own coordinates and with the violation for the unit of
the rows, take the violations down to rounding errors.

Theory: (X9) of docs/theory/biconvex.md.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, isfinite
from libc.string cimport memcpy

from gopfast.biconvex.convex_programs cimport ConvexPrograms
from gopfast.biconvex.data cimport BiconvexData
from gopfast.biconvex.margins cimport CANCELLED, SETTLED
from gopfast.biconvex.tuning cimport FEASIBLE, MOST_CORRECTIONS, MOST_HALVINGS, WORTH_A_CORRECTION
from gopfast.lp.lp cimport LP_OPTIMAL
from gopfast.search.relaxation cimport Effort
from gopfast.search.types cimport LP_FAILED, OK, real


cdef class Settling(ConvexPrograms):
    """Corrections of points, in the solver of the programs."""

    cdef int reserve(self, BiconvexData data) except -1:
        ConvexPrograms.reserve(self, data)
        self.unit, self.point = np.zeros(data.n), np.zeros(data.n)
        return 0

    cdef real settle(self, real *z, Effort *effort) noexcept nogil:
        """Corrects a point until the user's rows hold. IN/OUT z; returns its objective, inf: not feasible."""
        cdef real violation, share
        cdef int _step
        self.data.clip(z)
        violation = self.data.violation(z)
        for _step in range(MOST_CORRECTIONS):
            if self.is_settled(z, violation) or not violation < INFINITY or self.stop.poll(0):
                break
            self.set_units(z)
            if self.load_repair(z, &share) != OK:
                break
            if self.run_program(effort) != LP_OPTIMAL:
                break
            share = self.step(z, share, violation)
            if share > WORTH_A_CORRECTION * violation:
                break
            violation = share
        return self.value_of(z)

    cdef bint is_settled(self, const real *z, real violation) noexcept nogil:
        """Whether what is left of violations counts as none and is rounding."""
        return violation == 0 or (violation <= FEASIBLE and self.data.excess_of_terms(z) <= SETTLED)

    cdef void set_units(self, const real *z) noexcept nogil:
        """OUT unit: the size of each coordinate, but at least what it alone needs to mend one of its rows."""
        cdef int row, j
        cdef real excess
        for j in range(self.data.n):
            self.unit[j] = INFINITY
        for row in range(self.n_own_rows):
            excess = self.data.row_excess(row, z)
            if not excess > 0:
                continue
            self.data.add_gradient(row, z, &self.gradient[0])
            for j in range(self.data.n):
                if self.gradient[j] != 0:
                    self.unit[j] = min(self.unit[j], excess / fabs(self.gradient[j]))
                self.gradient[j] = 0
        for j in range(self.data.n):
            if self.unit[j] == INFINITY:
                self.unit[j] = 1 if z[j] == 0 else 0
            self.unit[j] = max(self.unit[j], fabs(z[j]))
            if self.data.low[j] == self.data.high[j] or not isfinite(self.unit[j]):
                self.unit[j] = 0

    cdef int load_repair(self, const real *z, real *share) noexcept nogil:
        """The least sum of corrections, in their units, that meets the rows linearised at z.

        OUT share: the columns' unit, the greatest violation of a row with coefficients scaled to 1.
        """
        cdef int row, j, n = self.data.n, part
        cdef real value, greatest, size, worst = 0
        self.n_rows = self.nnz = 0
        for row in range(self.n_own_rows):
            value = self.data.add_gradient(row, z, &self.gradient[0])
            greatest = 0
            for j in range(n):
                greatest = max(greatest, fabs(self.gradient[j]) * self.unit[j])
            self.start[self.n_rows] = self.nnz
            for j in range(n):
                size = self.gradient[j] * self.unit[j]
                self.gradient[j] = 0
                if fabs(size) <= CANCELLED * greatest:
                    continue
                for part in range(2):
                    self.col_index[self.nnz] = 2 * j + part
                    self.value[self.nnz] = size / greatest if part == 0 else -size / greatest
                    self.nnz += 1
            if self.nnz == self.start[self.n_rows]:
                continue
            self.row_lower[self.n_rows] = (self.data.row_lower[row] - value) / greatest
            self.row_upper[self.n_rows] = (self.data.row_upper[row] - value) / greatest
            worst = max(worst, max(self.row_lower[self.n_rows], -self.row_upper[self.n_rows]))
            self.n_rows += 1
        if not 0 < worst < INFINITY:
            return LP_FAILED
        share[0] = worst = min(worst, 1.0)
        for row in range(self.n_rows):
            self.row_lower[row] /= worst
            self.row_upper[row] /= worst
        for j in range(n):
            for part in range(2):
                self.cost[2 * j + part], self.col_lower[2 * j + part], self.col_upper[2 * j + part] = 1, 0, 0
            if self.unit[j] > 0:
                self.col_upper[2 * j] = (self.data.high[j] - z[j]) / self.unit[j] / worst
                self.col_upper[2 * j + 1] = (z[j] - self.data.low[j]) / self.unit[j] / worst
        return self.lp.load(2 * n, self.n_rows, &self.cost[0], &self.col_lower[0], &self.col_upper[0],
                            &self.row_lower[0], &self.row_upper[0], self.nnz, &self.start[0], &self.col_index[0],
                            &self.value[0])

    cdef real step(self, real *z, real share, real violation) noexcept nogil:
        """Takes the correction, halved while it does not help. IN/OUT z; returns the violation there."""
        cdef real length = 1, now
        cdef int j, _attempt, n = self.data.n
        memcpy(&self.point[0], z, n * sizeof(real))
        for _attempt in range(MOST_HALVINGS):
            for j in range(n):
                z[j] = self.point[j] + length * share * self.unit[j] * (self.lp.x[2 * j] - self.lp.x[2 * j + 1])
            self.data.clip(z)
            now = self.data.violation(z)
            if now < violation:
                return now
            length *= 0.5
        memcpy(z, &self.point[0], n * sizeof(real))
        return violation
