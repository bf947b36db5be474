"""Natural parameters of Gaussian components with a covariance matrix each, around a solution: see `charts`.

With the center's mean m and covariance R R', the standardised sample t = R^-1 (x - m), precision I + T and a = (I + T)
times the mean, both in units of t,

    log f(x | y) = log f(x | 0) + a't - t'Tt / 2 + tr T / 2 - D,
    D = a'(I + T)^-1 a / 2 + (tr T - log det(I + T)) / 2.

The coordinates y are a, T_jj / sqrt 2 and T_jk, their statistics t_j, (1 - t_j^2) / sqrt 2 and -t_j t_k: D has the
Hessian I at 0 and the cubic part -a'Ta / 2 - tr T^3 / 6. With eigenvalues of T in [-s, r], r >= s, |D - |y|^2 / 2| is
at most r / (1 - s) times |a|^2 / 2, and 2/3 of that times half the sum of squares of the others: t - log(1 + t) -
t^2 / 2 is at most |t|^3 / 3 / (1 - s). D is at least its cubic: that differs from it by a'T^2 (I + T)^-1 a / 2 and by a
sum over eigenvalues whose derivative is t^3 / (1 + t) / 2.

A covariance of a cell is R (I + E) R', so that T = -E + E (I + E)^-1 E. The chart is of centers inside the floor, and
of cells that are.

Theory: (W5) and (W6) of docs/theory/fourth_order_weights.md.
"""

import numpy as np

from libc.math cimport INFINITY, exp, fabs, sqrt

from gopfast.mixtures.families.full cimport MEAN, RESIDUAL, SLOPE, VARIANCE, Factors, Matrix
from gopfast.mixtures.families.matrix cimport MOST_COLUMNS, MOST_ENTRIES
from gopfast.mixtures.incumbent.margins cimport MATRIX_OUTWARD as OUTWARD
from gopfast.mixtures.incumbent.tuning cimport LARGEST_BLUR, LARGEST_FALL
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport index

cdef real SQRT2 = 1.4142135623730951


cdef class MatrixChart(Chart):
    """Coordinates of every component; subclasses write `covariance`, `deviations` and `cell`."""

    def __init__(self, AffineFamily family, whiten):
        cdef int K = family.n_components, d = family.d
        cdef int n = d * (d + 1) // 2
        Chart.__init__(self, family, d + n)
        self.affine, self.d, self.n = family, d, n
        self.cost = FlooredCost(whiten)
        self.mean, self.packed = np.zeros(K * d), np.zeros(K * n)
        self.root, self.whiten, self.least = np.zeros(K * d * d), np.zeros(K * d * d), np.zeros(K)
        np.asarray(self.size)[:] = 1

    cdef void covariance(self, const real *point, real *out) noexcept nogil:
        pass

    cdef void deviations(self, int k, const real *low, const real *high, real *least, real *most) noexcept nogil:
        pass

    cdef bint center_at(self, real *point, real reach) noexcept nogil:
        cdef int k, j
        self.blur = 0
        for k in range(self.n_components):
            self.covariance(point + k * self.family.n_cell, &self.packed[k * self.n])
            for j in range(self.d):
                self.mean[k * self.d + j] = point[k * self.family.n_cell + j]
            if not self.factorise(k):
                return False
        return self.blur < LARGEST_BLUR

    cdef bint factorise(self, int k) noexcept nogil:
        """Cholesky factor of the covariance, its inverse, and what the rounding of both may do; False: on the floor."""
        cdef real values[MOST_COLUMNS]
        cdef real vectors[MOST_COLUMNS * MOST_COLUMNS]
        cdef int d = self.d, i, j, a
        cdef real *R = &self.root[k * d * d]
        cdef real *Q = &self.whiten[k * d * d]
        cdef real x, size = self.cost.eigen(&self.packed[k * self.n], values, vectors), least = INFINITY, most = 0
        for i in range(d):
            least = min(least, values[i])
        self.least[k] = least - 512 * ROUND * size
        if not self.least[k] > 1:
            return False
        for i in range(d):
            for j in range(d):
                R[i * d + j] = Q[i * d + j] = 0
        for j in range(d):
            for i in range(j, d):
                x = self.packed[k * self.n + self.cost.entry(i, j)]
                for a in range(j):
                    x -= R[i * d + a] * R[j * d + a]
                if i > j:
                    R[i * d + j] = x / R[j * d + j]
                elif x > 0:
                    R[j * d + j] = sqrt(x)
                else:
                    return False
        for j in range(d):
            for i in range(j, d):
                x = 1 if i == j else 0
                for a in range(j, i):
                    x -= R[i * d + a] * Q[a * d + j]
                Q[i * d + j] = x / R[i * d + i]
        for i in range(d):
            x = 0
            for j in range(d):
                for a in range(d):
                    x += fabs(Q[i * d + a] * R[a * d + j])
            most = max(most, x)
        # The center's covariance is taken to be the inverse of Q'Q: by the rounding of R and Q it is 1 + O(kappa^2 u)
        # times that of the family, kappa the norm of |Q| |R|. The family's costs may be off by kappa^2 u in |Q|'|Q| and
        # by the rounding of eigenvalues, in units of the least of them.
        most *= most
        self.blur = max(self.blur, ROUND * (d + 2) * (1024 * size / self.least[k] + 64 * most * (d * d + most)))
        return True

    cdef bint statistics(self, index i, int k, real *u) noexcept nogil:
        cdef int d = self.d, a, b, e
        cdef const real *columns = self.family.data.core.samples.columns
        cdef index n = self.family.data.core.samples.n_padded
        for a in range(d):
            u[a] = 0
            for b in range(a + 1):
                u[a] += self.whiten[(k * d + a) * d + b] * (columns[b * n + i] - self.mean[k * d + b])
        for e in range(self.n):
            a, b = self.cost.row[e], self.cost.column[e]
            u[d + e] = (1 - u[a] * u[a]) / SQRT2 if a == b else -u[a] * u[b]
        return True

    cdef real slack(self, int k) noexcept nogil:
        """Costs are rounded up by products of the samples' coordinates, and by as much as scores move."""
        cdef int d = self.d, a, b, c
        cdef real total = 0, x
        for a in range(d):
            for b in range(d):
                x = 0
                for c in range(d):
                    x += fabs(self.whiten[(k * d + c) * d + a] * self.whiten[(k * d + c) * d + b])
                total += (x * max(fabs(self.affine.low[a]), fabs(self.affine.high[a]))
                          * max(fabs(self.affine.low[b]), fabs(self.affine.high[b])))
        return 512 * ROUND * total + 8 * (d + 1) * self.blur

    cdef real third(self, int a, int b, int c) noexcept nogil:
        """- e_a'E_c e_b of two of a, - tr(E_a E_b E_c) of three of T; E_c is the derivative of T in coordinate c."""
        cdef int d = self.d, p = self.n_coordinates, i, j, x, y
        cdef int of[3]
        cdef real total = 0, factor = 1
        a, b, c = a % p, b % p, c % p
        if c < d or (a < d and b >= d):
            return 0
        if a < d:
            i, j = self.cost.row[c - d], self.cost.column[c - d]
            if i == j:
                return -SQRT2 if a == i and b == i else 0
            return -1 if (a == i and b == j) or (a == j and b == i) else 0
        of[0], of[1], of[2] = a - d, b - d, c - d
        for i in range(3):
            factor *= SQRT2 if self.cost.row[of[i]] == self.cost.column[of[i]] else 1
        for i in range(d):
            for j in range(d):
                for x in range(d):
                    y = self.cost.entry(i, j) == of[0] and self.cost.entry(j, x) == of[1]
                    total += 1 if y and self.cost.entry(x, i) == of[2] else 0
        return -factor * total

    cdef real falls(self, int k, const real *down, const real *up, real *most) noexcept nogil:
        """At most what eigenvalues of T fall to below 0; OUT most: and how far they are from 0. By row sums."""
        cdef int d = self.d, at = k * self.n_coordinates + d, i, j, e
        cdef real fall, rise, worst = 0
        most[0] = 0
        for i in range(d):
            fall = rise = 0
            for j in range(d):
                e = at + self.cost.entry(i, j)
                fall += SQRT2 * down[e] if i == j else max(down[e], up[e])
                rise += SQRT2 * up[e] if i == j else max(down[e], up[e])
            worst = max(worst, fall)
            most[0] = max(most[0], max(fall, rise))
        return worst

    cdef real bend(self, int a, const real *down, const real *up) noexcept nogil:
        cdef real most, fall = self.falls(a // self.n_coordinates, down, up, &most)
        if not fall < 1:
            return INFINITY
        most *= (1 + OUTWARD) / (1 - fall)
        return most if a % self.n_coordinates < self.d else 2.0 / 3 * most

    cdef bint ranges(self, int k, real *low, real *high, real *down, real *up) noexcept nogil:
        cdef real least[MOST_ENTRIES]
        cdef real most[MOST_ENTRIES]
        cdef real row[MOST_COLUMNS]
        cdef real far[MOST_COLUMNS]     # of the mean, in units of t
        cdef int d = self.d, a, b, e
        cdef real fall = 0, x, y, size, room = 4 * self.blur
        self.deviations(k, low, high, least, most)
        for a in range(d):
            x = room - least[self.cost.entry(a, a)]
            row[a] = 0
            for b in range(d):
                e = self.cost.entry(a, b)
                y = max(fabs(least[e]), fabs(most[e])) + room
                x += y if a != b else 0
                row[a] += y * y
            row[a] = sqrt(row[a])
            fall = max(fall, x)
        # every covariance is at least (1 - fall) times the center's
        if not fall < LARGEST_FALL or not self.least[k] * (1 - fall) * (1 - OUTWARD) >= 1:
            return False
        for e in range(self.n):
            a, b = self.cost.row[e], self.cost.column[e]
            x = row[a] * row[b] / (1 - fall) * (1 + OUTWARD)
            size = 1 / SQRT2 if a == b else 1
            down[d + e] = size * max(0.0, most[e] + room + (0 if a == b else x)) * (1 + OUTWARD)
            up[d + e] = size * max(0.0, x + room - least[e]) * (1 + OUTWARD)
        for a in range(d):
            down[a] = up[a] = size = 0
            for b in range(a + 1):
                x = self.whiten[(k * d + a) * d + b]
                y = self.mean[k * d + b]
                low[b], high[b] = min(low[b], y), max(high[b], y)
                down[a] += max(x * (y - low[b]), x * (y - high[b]))
                up[a] += max(x * (low[b] - y), x * (high[b] - y))
                size += fabs(x) * (high[b] - low[b])
            size *= OUTWARD
            down[a], up[a] = max(0.0, down[a]) + size, max(0.0, up[a]) + size
            far[a] = max(down[a], up[a])
        for a in range(d):
            x = 0
            for b in range(d):
                e = d + self.cost.entry(a, b)
                x += (SQRT2 if a == b else 1) * max(down[e], up[e]) * far[b]
            down[a] += x * (1 + OUTWARD)
            up[a] += x * (1 + OUTWARD)
        fall = 0
        for a in range(d):
            x = 0
            for b in range(d):
                e = d + self.cost.entry(a, b)
                x += SQRT2 * down[e] if a == b else max(down[e], up[e])
            fall = max(fall, x)
        return fall < LARGEST_FALL


cdef class FactorsChart(MatrixChart):
    """Of `FullFamily`: two coordinates, cells in variance, slope and residual."""

    def __init__(self, FullFamily family):
        MatrixChart.__init__(self, family, np.array([[family.whiten_x, 0.0], [family.whiten_xy, family.whiten_y]]))
        self.full = family

    cdef void covariance(self, const real *point, real *out) noexcept nogil:
        cdef Factors f
        cdef Matrix C
        f.v, f.b, f.u = point[VARIANCE], point[SLOPE], point[RESIDUAL]
        C = self.full.matrix(f)
        out[0], out[1], out[2] = C.xx, C.xy, C.yy

    cdef void deviations(self, int k, const real *low, const real *high, real *least, real *most) noexcept nogil:
        """With beta the center's slope of y on x, that of y - beta x is u + (b - beta)^2 (v + r) - beta^2 r."""
        cdef real sigma = self.root[4 * k], s = self.root[4 * k + 3], beta = self.root[4 * k + 2] / sigma
        cdef real r = self.full.ridge, v0 = low[VARIANCE], v1 = high[VARIANCE], b0 = low[SLOPE], b1 = high[SLOPE]
        cdef real x, y, size
        cdef int i
        size = 64 * ROUND * (1 + v1 / (sigma * sigma))
        least[0], most[0] = v0 / (sigma * sigma) - 1 - size, v1 / (sigma * sigma) - 1 + size
        least[1], most[1] = INFINITY, -INFINITY
        size = 64 * ROUND * (max(fabs(b0), fabs(b1)) * (v1 + r) + fabs(beta) * v1) / (sigma * s)
        for i in range(4):
            x, y = v1 if i & 1 else v0, b1 if i & 2 else b0
            x = (y * (x + r) - beta * x) / (sigma * s)
            least[1], most[1] = min(least[1], x - size), max(most[1], x + size)
        x, y = b0 - beta, b1 - beta
        size = max(x * x, y * y)
        least[2] = low[RESIDUAL] - beta * beta * r + (min(x * x, y * y) * (v0 + r) if x > 0 or y < 0 else 0)
        most[2] = high[RESIDUAL] - beta * beta * r + size * (v1 + r)
        x = max(fabs(b0), fabs(b1)) + fabs(beta)
        size = 64 * ROUND * (1 + (high[RESIDUAL] + x * x * (v1 + 2 * r)) / (s * s))
        least[2], most[2] = least[2] / (s * s) - 1 - size, most[2] / (s * s) - 1 + size

    cdef bint ranges(self, int k, real *low, real *high, real *down, real *up) noexcept nogil:
        cdef real *C = &self.packed[3 * k]
        cdef real b = C[1] / (C[0] + self.full.ridge), u = max(0.0, C[2] - b * C[1])
        low[VARIANCE], high[VARIANCE] = min(low[VARIANCE], C[0]), max(high[VARIANCE], C[0])
        low[SLOPE], high[SLOPE] = min(low[SLOPE], b), max(high[SLOPE], b)
        low[RESIDUAL], high[RESIDUAL] = min(low[RESIDUAL], u), max(high[RESIDUAL], u)
        return MatrixChart.ranges(self, k, low, high, down, up)

    cdef void cell(self, int k, real radius, real *low, real *high) noexcept nogil:
        cdef real sigma = self.root[4 * k], s = self.root[4 * k + 3], beta = self.root[4 * k + 2] / sigma
        cdef real *C = &self.packed[3 * k]
        cdef real b = C[1] / (C[0] + self.full.ridge), factor = exp(SQRT2 * radius), half
        half = radius / (1 / sigma + fabs(beta) / s)
        low[MEAN], high[MEAN] = self.mean[2 * k] - half, self.mean[2 * k] + half
        low[MEAN + 1], high[MEAN + 1] = self.mean[2 * k + 1] - radius * s, self.mean[2 * k + 1] + radius * s
        low[VARIANCE], high[VARIANCE] = C[0] / factor, C[0] * factor
        low[SLOPE], high[SLOPE] = b - radius * s / sigma, b + radius * s / sigma
        half = C[2] - b * C[1]
        low[RESIDUAL], high[RESIDUAL] = half / factor, half * factor


cdef class EntriesChart(MatrixChart):
    """Of `MatrixFamily`: cells in the entries of the covariance."""

    def __init__(self, MatrixFamily family):
        MatrixChart.__init__(self, family, np.array(<real[:family.d, :family.d]> &family.cost.whiten[0]))
        self.matrices = family

    cdef void covariance(self, const real *point, real *out) noexcept nogil:
        cdef int e
        for e in range(self.n):
            out[e] = point[self.d + e]

    cdef void deviations(self, int k, const real *low, const real *high, real *least, real *most) noexcept nogil:
        cdef int d = self.d, e, f, a, b, i, j
        cdef const real *Q = &self.whiten[k * d * d]
        cdef real x, down, up, size
        for e in range(self.n):
            a, b = self.cost.row[e], self.cost.column[e]
            least[e] = most[e] = size = 0
            for f in range(self.n):
                i, j = self.cost.row[f], self.cost.column[f]
                x = Q[a * d + i] * Q[b * d + j] + (Q[a * d + j] * Q[b * d + i] if i != j else 0)
                down, up = low[d + f] - self.packed[k * self.n + f], high[d + f] - self.packed[k * self.n + f]
                least[e] += min(x * down, x * up)
                most[e] += max(x * down, x * up)
                size += (fabs(Q[a * d + i] * Q[b * d + j]) + fabs(Q[a * d + j] * Q[b * d + i])) * (
                    fabs(low[d + f]) + fabs(high[d + f]) + fabs(self.packed[k * self.n + f]))
            size *= 4 * (8 + self.n) * ROUND
            least[e] -= size
            most[e] += size

    cdef bint ranges(self, int k, real *low, real *high, real *down, real *up) noexcept nogil:
        cdef int e
        cdef real x
        for e in range(self.n):
            x = self.packed[k * self.n + e]
            low[self.d + e], high[self.d + e] = min(low[self.d + e], x), max(high[self.d + e], x)
        return MatrixChart.ranges(self, k, low, high, down, up)

    cdef void cell(self, int k, real radius, real *low, real *high) noexcept nogil:
        cdef real sums[MOST_COLUMNS]
        cdef int d = self.d, e, a, b
        cdef real half
        for b in range(d):
            sums[b] = 0
            for a in range(d):
                sums[b] += fabs(self.whiten[(k * d + a) * d + b])
            half = radius / sums[b]
            low[b], high[b] = self.mean[k * d + b] - half, self.mean[k * d + b] + half
        for e in range(self.n):
            a, b = self.cost.row[e], self.cost.column[e]
            half = (SQRT2 if a == b else 1.0) * radius / (sums[a] * sums[b])
            low[d + e], high[d + e] = self.packed[k * self.n + e] - half, self.packed[k * self.n + e] + half
