"""Strictly convex quadratic programs, by the dual active set method of Goldfarb and Idnani (1983).

The unconstrained minimum first, then violated rows one by one, the worst first: each step moves towards the row in the
space that the active ones leave, and drops those whose multiplier would become negative. Dense, without a start; what
`sequential_quadratic` asks for many times, where HiGHS would be set up for each.
"""
import numpy as np

from libc.math cimport INFINITY, fabs, hypot, sqrt

from gopfast.biconvex.tuning cimport DEPENDENT, NEARLY_ACTIVE
from gopfast.search.types cimport real


cdef class ConvexStep:
    """
    The least value of 1/2 d'Bd + g'd with rows d = sides, rows d >= sides and low <= d <= high.

    Parameters
    ----------
    inverse : array (n, n)
        L^-1 of B = LL'. Not kept.
    gradient : array (n,)
    rows : array (m, n)
    sides : array (m,)
    n_equal : int
        The first rows, which are equations.
    low, high : array (n,)

    Attributes
    ----------
    found : bool
        Whether there is a solution; else the other attributes mean nothing.
    step : ndarray (n,)
    multipliers : ndarray (m,)
        Of the rows; of an inequality at least 0.
    """

    cdef readonly bint found
    cdef readonly object step, multipliers
    cdef real[:, ::1] basis, triangle, rows
    cdef real[::1] x, sides, low, high, normal, along, back, pull, move
    cdef int[::1] active
    cdef signed char[::1] is_active
    cdef int n, m, n_equal, n_active, n_kept

    def __init__(self, inverse, gradient, rows, sides, int n_equal, low, high):
        cdef int j, n = len(gradient), m = len(sides)
        self.n, self.m, self.n_equal = n, m, n_equal
        inverse = np.array(inverse, dtype=np.float64, order="C")
        self.step = -inverse.T @ (inverse @ gradient)
        # columns of L'^-1, turned: the first n_active span what active rows hold
        self.basis, self.x = inverse, self.step
        self.rows, self.sides = np.ascontiguousarray(rows, np.float64), np.ascontiguousarray(sides, np.float64)
        self.low, self.high = np.ascontiguousarray(low, np.float64), np.ascontiguousarray(high, np.float64)
        # of rows' lengths, what a violation is measured in
        self.triangle = np.zeros((n, n))
        self.normal, self.along, self.back, self.move = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
        self.pull, self.active = np.zeros(n + 1), np.zeros(n + 1, np.intc)
        self.is_active = np.zeros(m + 2 * n, np.int8)
        self.n_active = self.n_kept = 0
        self.found = bool(np.isfinite(self.step).all()) and self.meet_equations() and self.meet_inequalities()
        multipliers = np.zeros(m)
        for j in range(self.n_active):
            if self.active[j] < m:
                multipliers[self.active[j]] = self.pull[j]
        self.multipliers = multipliers

    cdef bint meet_equations(self):
        """Whether all equations can be met at once."""
        cdef int p, j
        cdef real miss, free, t
        for p in range(self.n_equal):
            miss = self.violation(p)
            free = self.project(p)
            if free == 0.0:
                # it depends on those before
                if fabs(miss) > NEARLY_ACTIVE * self.size(p):
                    return False
                continue
            t = -miss / free
            for j in range(self.n):
                self.x[j] += t * self.move[j]
            for j in range(self.n_active):
                self.pull[j] -= t * self.back[j]
            self.pull[self.n_active] = t
            self.add(p)
            self.n_kept = self.n_active
        return True

    cdef bint meet_inequalities(self):
        """Whether all inequalities can be met; ends at the optimum."""
        cdef int p, j, drop, _step
        cdef real free, full, part, t, multiplier = 0.0
        p = -1
        for _step in range(20 * (self.m + 2 * self.n) + 100):
            if p < 0:
                p = self.worst()
                if p < 0:
                    return True
                multiplier = 0.0
            free = self.project(p)
            full = -self.violation(p) / free if free > 0.0 else INFINITY
            part, drop = INFINITY, -1
            for j in range(self.n_kept, self.n_active):
                if self.back[j] > 0.0 and self.pull[j] < part * self.back[j]:
                    part, drop = self.pull[j] / self.back[j], j
            t = min(full, part)
            if t == INFINITY:
                return False
            if free > 0.0:
                for j in range(self.n):
                    self.x[j] += t * self.move[j]
            for j in range(self.n_active):
                self.pull[j] -= t * self.back[j]
            multiplier += t
            if full <= part:
                self.pull[self.n_active] = multiplier
                self.add(p)
                p = -1
            else:
                self.drop(drop)
        return False

    cdef int worst(self) noexcept:
        """The row or bound that is missed by most, in units of its length; -1: none is."""
        cdef int p, found = -1
        cdef real miss, most = -1.0
        for p in range(self.n_equal, self.m + 2 * self.n):
            if not self.is_active[p]:
                miss = self.violation(p)
                if miss < 0.0:
                    miss /= self.size(p)
                    if miss < -NEARLY_ACTIVE and (found < 0 or miss < most):
                        found, most = p, miss
        return found

    cdef real violation(self, int p) noexcept:
        """What is left to a row's or bound's end, below 0 where it is missed."""
        cdef int j
        cdef real total
        if p >= self.m + self.n:
            return self.high[p - self.m - self.n] - self.x[p - self.m - self.n]
        if p >= self.m:
            return self.x[p - self.m] - self.low[p - self.m]
        total = -self.sides[p]
        for j in range(self.n):
            total += self.rows[p, j] * self.x[j]
        return total

    cdef real size(self, int p) noexcept:
        """Length of a row, or what its terms amount to where that is more."""
        cdef int j
        cdef real total = 0.0, terms
        if p >= self.m:
            return max(1.0, fabs(self.x[(p - self.m) % self.n]))
        terms = fabs(self.sides[p])
        for j in range(self.n):
            total += self.rows[p, j] * self.rows[p, j]
            terms += fabs(self.rows[p, j] * self.x[j])
        return max(sqrt(total), terms, 1e-300)

    cdef real project(self, int p) noexcept:
        """OUT along, back, move: a normal in the basis, by active rows, and what they leave of it; its slope, or 0."""
        cdef int i, j, k, n = self.n, q = self.n_active
        cdef real total, whole = 0.0, free = 0.0
        for k in range(n):
            if p >= self.m + n:
                total = -self.basis[k, p - self.m - n]
            elif p >= self.m:
                total = self.basis[k, p - self.m]
            else:
                total = 0.0
                for j in range(n):
                    total += self.basis[k, j] * self.rows[p, j]
            self.along[k] = total
            whole += total * total
            if k >= q:
                free += total * total
        for i in range(q - 1, -1, -1):
            total = self.along[i]
            for j in range(i + 1, q):
                total -= self.triangle[i, j] * self.back[j]
            self.back[i] = total / self.triangle[i, i]
        if not free > DEPENDENT * whole:
            return 0.0
        for j in range(n):
            self.move[j] = 0.0
        for k in range(q, n):
            for j in range(n):
                self.move[j] += self.along[k] * self.basis[k, j]
        return free

    cdef void add(self, int p) noexcept:
        """Make the row projected last active."""
        cdef int k, q = self.n_active
        for k in range(self.n - 1, q, -1):
            if self.along[k] != 0.0:
                self.turn(k - 1, self.along[k - 1], self.along[k])
                self.along[k - 1] = hypot(self.along[k - 1], self.along[k])
        for k in range(q + 1):
            self.triangle[k, q] = self.along[k]
        self.active[q], self.is_active[p] = p, True
        self.n_active = q + 1

    cdef void drop(self, int place) noexcept:
        """Make a row inactive."""
        cdef int i, j, q = self.n_active
        cdef real c, s, a, b, size
        self.is_active[self.active[place]] = False
        for j in range(place, q - 1):
            self.active[j], self.pull[j] = self.active[j + 1], self.pull[j + 1]
            for i in range(j + 2):
                self.triangle[i, j] = self.triangle[i, j + 1]
        self.n_active = q = q - 1
        for i in range(place, q):
            a, b = self.triangle[i, i], self.triangle[i + 1, i]
            if b == 0.0:
                continue
            self.turn(i, a, b)
            size = hypot(a, b)
            c, s = a / size, b / size
            for j in range(i, q):
                a, b = self.triangle[i, j], self.triangle[i + 1, j]
                self.triangle[i, j], self.triangle[i + 1, j] = c * a + s * b, c * b - s * a

    cdef void turn(self, int k, real a, real b) noexcept:
        """Turn two directions of the basis so that a normal, a along one and b along the other, has none of that."""
        cdef int j
        cdef real size = hypot(a, b), c = a / size, s = b / size, first, second
        for j in range(self.n):
            first, second = self.basis[k, j], self.basis[k + 1, j]
            self.basis[k, j], self.basis[k + 1, j] = c * first + s * second, c * second - s * first
