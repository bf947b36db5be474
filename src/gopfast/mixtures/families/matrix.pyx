"""Costs of covariance matrices at or above a floor, and their minorants over boxes of matrix entries.

The cost per unit of mass of a covariance C at a floor F is

    G(C) = min over Sigma >= F of 1/2 log det(2 pi Sigma) + 1/2 tr(Sigma^-1 C),

a minimum of linear functions, so concave; finite for indefinite C too. In units of the floor (F = I) the best Sigma is
C with its eigenvalues l raised to 1, and G a sum over them of 1/2 log(2 pi max(l, 1)) + l / (2 max(l, 1)).

A minorant k + <P, C> over a box of entries, the best of

- any slopes P with the least of G - <P, C> over the box's vertices, where these are few (three columns at most);
- the gradient P at the center C0, less what the curvature allows. Along E the second derivative is at least
  -1/2 tr(M^-1 E M^-1 E) for any M <= Sigma(C). With R the bound |L^-1| |E| |L^-1|' of E in units of C0 = L L' and q >=
  its spectral radius, M = (1 - t q) C0 at C0 + t E, which loses 1/2 |R|^2 (-log(1 - q) - q) / q^2; or M = F: 1/4 |R|^2.
- for covariances, the chain rule: 1/2 log det and trace are sums over the variance of one coordinate and the residual
  variances of the others, of which the latter cost no less than at 0: a chord of the cost of one variance.

Theory: (M1), (M5) and (M6) of docs/theory/matrices.md.
"""

import numpy as np

from libc.math cimport INFINITY, M_PI, fabs, log, log1p, sqrt

from gopfast.mixtures.families.axes import eliminated, floats, log_abs, rational
from gopfast.mixtures.families.margins cimport CHORD_SLACK, CURVATURE_SLACK, EIGEN_ROUNDING, LEAST_PIVOT, RADIUS_SLACK
from gopfast.mixtures.families.tuning cimport (
    CONVERGED, FEW_COLUMNS, GAP_SHARE, LEAST_CURVATURE, LEAST_MULTIPLIER, MATRIX_NARROW as NARROW,
    MATRIX_SWEEPS as SWEEPS, MOST_GAP, MOST_RADIUS, SMALL_RADIUS, TYPICAL_MULTIPLIER
)
from gopfast.mixtures.families.variance cimport line_cost, split_factor, split_inside, within
from gopfast.search.rounding cimport ROUND

# Boxes of at most so many entries are bounded at their vertices.
cdef enum:
    MOST_SPLIT = 6
    MOST_VERTICES = 64      # 2^MOST_SPLIT


cdef int entry_plane(bint diagonal, int which, real a, real b, real *t, real *t_a, real *t_b) noexcept nogil:
    """McCormick's planes of z_a z_b, two above and two below; of z_a^2 the chord, then tangents at -a, 0, a."""
    cdef int side = 1 if which == 0 or (which == 1 and not diagonal) else -1, sign = 1 if which % 2 == 0 else -1
    if not diagonal:
        t[0], t_a[0], t_b[0] = side * a * b, sign * b, -side * sign * a
    elif side > 0:
        t[0], t_a[0], t_b[0] = a * a, 0, 0
    else:
        t_a[0] = t_b[0] = (which - 2) * a
        t[0] = -t_a[0] * t_a[0]
    return side


cdef real entry_multiplier(real half, real P_aa, real P_bb) noexcept nogil:
    """The second derivative of the cost along the entry is at most about 2 P_aa P_bb."""
    return max(TYPICAL_MULTIPLIER * half * P_aa * P_bb, LEAST_MULTIPLIER)


cdef bint fit_minor(real *x0, real *x1, real *y0, real *y1, real *z0, real *z1) noexcept nogil:
    """By z^2 <= x y."""
    cdef real most, square  # bounds of |z| and of z^2
    if x1[0] < 0 or y1[0] < 0:
        return 0
    most = sqrt(x1[0]) * sqrt(y1[0]) * (1 + 8 * ROUND)
    z0[0], z1[0] = max(z0[0], -most), min(z1[0], most)
    if z0[0] > z1[0]:
        return 0
    square = max(max(z0[0], -z1[0]), 0.0)
    square *= square * (1 - 8 * ROUND)
    if square > 0:
        # so x1 and y1 are positive
        x0[0], y0[0] = max(x0[0], square / y1[0] * (1 - 8 * ROUND)), max(y0[0], square / x1[0] * (1 - 8 * ROUND))
    return x0[0] <= x1[0] and y0[0] <= y1[0]


cdef real jacobi(int d, real *A, real *V) noexcept nogil:
    """IN/OUT A (d, d), symmetric: eigenvalues on its diagonal. OUT V (d, d): eigenvectors in its columns.

    Returns what is left beside the diagonal, the root of the sum of squares.
    """
    cdef int _sweep, p, q, i
    cdef real left = 0, total, t, c, s, x, y
    for i in range(d * d):
        V[i] = 0
    for i in range(d):
        V[i * d + i] = 1
    for _sweep in range(SWEEPS):
        left, total = 0, 0
        for p in range(d):
            total += A[p * d + p] * A[p * d + p]
            for q in range(p + 1, d):
                left += A[p * d + q] * A[p * d + q]
        if left <= CONVERGED * total:
            break
        for p in range(d):
            for q in range(p + 1, d):
                if A[p * d + q] == 0:
                    continue
                x = 0.5 * (A[q * d + q] - A[p * d + p]) / A[p * d + q]
                t = 1 / (fabs(x) + sqrt(x * x + 1))
                if x < 0:
                    t = -t
                c = 1 / sqrt(t * t + 1)
                s = t * c
                x = t * A[p * d + q]
                A[p * d + p] -= x
                A[q * d + q] += x
                A[p * d + q] = A[q * d + p] = 0
                for i in range(d):
                    if i != p and i != q:
                        x, y = A[i * d + p], A[i * d + q]
                        A[i * d + p] = A[p * d + i] = c * x - s * y
                        A[i * d + q] = A[q * d + i] = s * x + c * y
                    x, y = V[i * d + p], V[i * d + q]
                    V[i * d + p], V[i * d + q] = c * x - s * y, s * x + c * y
    return sqrt(left)


cdef class FlooredCost:
    """G for a floor.

    Parameters
    ----------
    whiten : ndarray, shape (d, d)
        ``whiten @ floor @ whiten.T`` is the unit matrix; d is at most `MOST_COLUMNS`.
    """

    def __init__(self, whiten):
        cdef int a, b
        self.d, self.n = len(whiten), 0
        # exact, then rounded: what follows may cancel where the axes are ill-conditioned
        det, exact = eliminated(rational(whiten))
        inverse = floats(exact)
        floor = floats([[sum(x * y for x, y in zip(one, other)) for other in exact] for one in exact])
        for a in range(self.d):
            self.whiten_sum[a] = np.abs(whiten[:, a]).sum()
            for b in range(self.d):
                self.whiten[a * self.d + b], self.unwhiten[a * self.d + b] = whiten[a, b], inverse[a, b]
                if a <= b:
                    self.row[self.n], self.column[self.n], self.floor[self.n] = a, b, floor[a, b]
                    self.n += 1
        self.log_floor = -2 * log_abs(det)

    cdef real eigen(self, const real *C, real *values, real *vectors) noexcept nogil:
        cdef real A[MOST_COLUMNS * MOST_COLUMNS]
        cdef real full[MOST_COLUMNS * MOST_COLUMNS]
        cdef real half[MOST_COLUMNS * MOST_COLUMNS]
        cdef real size = 0, x
        cdef int d = self.d, e, i, j, a
        for e in range(self.n):
            i, j = self.row[e], self.column[e]
            full[i * d + j] = full[j * d + i] = C[e]
            size += (1 if i == j else 2) * fabs(C[e]) * self.whiten_sum[i] * self.whiten_sum[j]
        for i in range(d):
            for j in range(d):
                x = 0
                for a in range(d):
                    x += self.whiten[i * d + a] * full[a * d + j]
                half[i * d + j] = x
        for i in range(d):
            for j in range(i, d):
                x = 0
                for a in range(d):
                    x += half[i * d + a] * self.whiten[j * d + a]
                A[i * d + j] = A[j * d + i] = x
        # EIGEN_ROUNDING is counted out for few columns; rotations and their terms grow with d each
        size = size * max(1.0, <real> (d * d) / (FEW_COLUMNS * FEW_COLUMNS)) + jacobi(d, A, vectors) / ROUND
        for i in range(d):
            values[i] = A[i * d + i]
        return size

    cdef real value(self, const real *C, real *size) noexcept nogil:
        cdef real values[MOST_COLUMNS]
        cdef real vectors[MOST_COLUMNS * MOST_COLUMNS]
        cdef real total = 0.5 * self.log_floor, term
        cdef int i
        size[0] = self.eigen(C, values, vectors) + fabs(self.log_floor)
        for i in range(self.d):
            term = line_cost(values[i], 1.0)
            total += term
            size[0] += 2 + fabs(term)
        return total

    cdef real log_det(self, const real *C) noexcept nogil:
        cdef real values[MOST_COLUMNS]
        cdef real vectors[MOST_COLUMNS * MOST_COLUMNS]
        cdef real total = self.log_floor
        cdef int i
        self.eigen(C, values, vectors)
        for i in range(self.d):
            total += log(2 * M_PI * max(values[i], 1.0))
        return total

    cdef real slopes(self, const real *C, real *P) noexcept nogil:
        cdef real values[MOST_COLUMNS]
        cdef real vectors[MOST_COLUMNS * MOST_COLUMNS]
        cdef real along[MOST_COLUMNS * MOST_COLUMNS]
        cdef real x, size = self.eigen(C, values, vectors)
        cdef int d = self.d, e, i, j
        for i in range(d):
            for j in range(d):
                x = 0
                for e in range(d):
                    x += vectors[e * d + i] * self.whiten[e * d + j]
                along[i * d + j] = x
        for e in range(self.n):
            x = 0
            for i in range(d):
                x += 0.5 * along[i * d + self.row[e]] * along[i * d + self.column[e]] / max(values[i], 1.0)
            P[e] = x
        return 1 + size

    cdef void floored(self, const real *C, real *out) noexcept nogil:
        cdef real values[MOST_COLUMNS]
        cdef real vectors[MOST_COLUMNS * MOST_COLUMNS]
        cdef real along[MOST_COLUMNS]
        cdef int d = self.d, e, i, j
        self.eigen(C, values, vectors)
        for e in range(self.n):
            out[e] = C[e]
        for i in range(d):
            if values[i] >= 1:
                continue
            for j in range(d):
                along[j] = 0
                for e in range(d):
                    along[j] += self.unwhiten[j * d + e] * vectors[e * d + i]
            for e in range(self.n):
                out[e] += (1 - values[i]) * along[self.row[e]] * along[self.column[e]]

    cdef real product(self, const real *P, const real *C, real *size) noexcept nogil:
        cdef real total = 0, term
        cdef int e
        size[0] = 0
        for e in range(self.n):
            term = P[e] * C[e] * (1 if self.row[e] == self.column[e] else 2)
            total += term
            size[0] += fabs(term)
        return total

    cdef real bend(self, const real *P, const real *half) noexcept nogil:
        cdef real total = 0
        cdef int e, a, b
        for e in range(self.n):
            a, b = self.row[e], self.column[e]
            total += max(P[e], 0.0) * half[a] * half[a] if a == b else 2 * fabs(P[e]) * half[a] * half[b]
        return total * (1 + 64 * ROUND)

    cdef real curvature_loss(self, const real *center, const real *half) noexcept nogil:
        """The module's head has the bound: the better of M = (1 - t q) C0 and M = F."""
        cdef real L[MOST_COLUMNS * MOST_COLUMNS]
        cdef real inverse[MOST_COLUMNS * MOST_COLUMNS]
        cdef real x, square = 0, radius, total, best
        cdef int d = self.d, e, i, j, a, b
        # in units of the floor
        for i in range(d):
            for j in range(d):
                x = 0
                for e in range(self.n):
                    a, b = self.row[e], self.column[e]
                    total = fabs(self.whiten[i * d + a] * self.whiten[j * d + b])
                    if a != b:
                        total += fabs(self.whiten[i * d + b] * self.whiten[j * d + a])
                    x += total * half[e]
                square += x * x
        best = 0.25 * square
        # Cholesky factor of the center, then its inverse
        for e in range(self.n):
            i, j = self.row[e], self.column[e]
            L[j * d + i] = center[e]
        for j in range(d):
            for i in range(j, d):
                x = L[i * d + j]
                for a in range(j):
                    x -= L[i * d + a] * L[j * d + a]
                if i == j:
                    # where a pivot is mostly rounding the other bound is in use
                    if not x > LEAST_PIVOT * L[j * d + j]:
                        return best * (1 + RADIUS_SLACK)
                    L[j * d + j] = sqrt(x)
                else:
                    L[i * d + j] = x / L[j * d + j]
        for j in range(d):
            for i in range(d):
                x = 1 if i == j else 0
                for a in range(j, i):
                    x -= L[i * d + a] * inverse[a * d + j]
                inverse[i * d + j] = x / L[i * d + i] if i >= j else 0
        square, radius = 0, 0
        for i in range(d):
            total = 0
            for j in range(d):
                x = 0
                for e in range(self.n):
                    a, b = self.row[e], self.column[e]
                    x += half[e] * fabs(inverse[i * d + a] * inverse[j * d + b])
                    if a != b:
                        x += half[e] * fabs(inverse[i * d + b] * inverse[j * d + a])
                square += x * x
                total += x
            radius = max(radius, total)
        radius *= 1 + RADIUS_SLACK
        if radius < MOST_RADIUS:
            # the series' rest, of 1/5 radius^3 and so on, is below radius^3
            x = 0.5 + radius / 3 + radius * radius / 4 + radius * radius * radius if radius < SMALL_RADIUS else (
                -log1p(-radius) - radius) / (radius * radius)
            best = min(best, 0.5 * square * x)
        return best * (1 + CURVATURE_SLACK)

    cdef real minorant(self, const real *low, const real *high, real *P) noexcept nogil:
        """The best at the box's center of those that the module's head names."""
        cdef real values[MOST_VERTICES]
        cdef real center[MOST_ENTRIES]
        cdef real half[MOST_ENTRIES]
        cdef real corner[MOST_ENTRIES]
        cdef real trial[MOST_ENTRIES]
        cdef real constant = -INFINITY, best = -INFINITY, found, x, y, size, scale, v0, v1, cost0, cost1
        cdef int d = self.d, e, v, kind, n_vertices = 1 << self.n if self.n <= MOST_SPLIT else 0
        for e in range(self.n):
            center[e] = low[e] + 0.5 * (high[e] - low[e])
            half[e] = max(high[e] - center[e], center[e] - low[e]) * (1 + 8 * ROUND)
        for v in range(n_vertices):
            for e in range(self.n):
                corner[e] = high[e] if v >> e & 1 else low[e]
            values[v] = self.value(corner, &size)
            values[v] -= EIGEN_ROUNDING * ROUND * size
        scale = self.slopes(center, trial)
        for kind in range(2 if n_vertices else 1):
            if kind == 1:
                for e in range(self.n):
                    x = 0
                    for v in range(n_vertices):
                        x += values[v] if v >> e & 1 else -values[v]
                    x /= n_vertices * (half[e] if self.row[e] == self.column[e] else 2 * half[e])
                    trial[e] = x if half[e] > NARROW * (fabs(low[e]) + fabs(high[e])) else trial[e]
            found = INFINITY
            for v in range(n_vertices):
                for e in range(self.n):
                    corner[e] = high[e] if v >> e & 1 else low[e]
                x = self.product(trial, corner, &size)
                found = min(found, values[v] - x - 64 * ROUND * size)
            if kind == 0:
                # errors of the gradient: of eigenvalues and vectors, then of the products with the whitening
                y = 0
                for e in range(self.n):
                    y += 2 * half[e] * self.whiten_sum[self.row[e]] * self.whiten_sum[self.column[e]]
                x = self.value(center, &size) - EIGEN_ROUNDING * ROUND * (size + scale * y)
                x -= self.product(trial, center, &size) + 64 * ROUND * size
                x -= self.curvature_loss(center, half)
                found = max(found, x) if n_vertices else x
            x = found + self.product(trial, center, &size)
            if x > best:
                best, constant = x, found
                for e in range(self.n):
                    P[e] = trial[e]
        # the chain rule
        v = 0
        for e in range(self.n):
            if self.row[e] != self.column[e]:
                continue
            v0, v1 = max(low[e], 0.0), max(high[e], 0.0)
            cost0, cost1 = line_cost(v0, self.floor[e]), line_cost(v1, self.floor[e])
            y = (cost1 - cost0) / (v1 - v0) if v1 > v0 else 0.0
            x = 0.5 * ((d - 1) * log(2 * M_PI) + self.log_floor - log(self.floor[e]))
            size = d + fabs(cost0) + fabs(cost1) + fabs(self.log_floor) + fabs(y * v1)
            found = x + min(cost0 - y * v0, cost1 - y * v1) - 64 * ROUND * size - CHORD_SLACK
            x = found + y * center[e]
            if x > best:
                best, constant = x, found
                for v in range(self.n):
                    P[v] = y if v == e else 0
        return constant

    cdef int entry(self, int a, int b) noexcept nogil:
        cdef int i = min(a, b), j = max(a, b)
        return i * self.d - i * (i - 1) // 2 + j - i

    cdef void split(self, const real *low, const real *high, real mass, real *C, real *P, real *Q, real *point,
                    real *error) noexcept nogil:
        """What the minorant loses is shared out by the second derivatives of G along the entries."""
        cdef int e, i, j
        cdef real gap = self.minorant(low, high, P), total = 0, x, y, size
        for e in range(self.n):
            C[e] = within(C[e], low[e], high[e])
        gap = self.value(C, &size) - gap - self.product(P, C, &size)
        self.slopes(C, Q)
        for e in range(self.n):
            i, j = self.row[e], self.column[e]
            x, y = Q[self.entry(i, i)], Q[self.entry(j, j)]
            # second derivatives of G
            error[e] = (x * y if i == j else 2 * x * y + 2 * Q[e] * Q[e]) * (C[e] - low[e]) * (high[e] - C[e])
            total += error[e]
            point[e] = split_factor(C[e], low[e], high[e], self.floor[e]) if i == j else split_inside(
                C[e], low[e], high[e], 0.5 / sqrt(x * y))
        gap = max(gap, min(GAP_SHARE * total, MOST_GAP)) * mass
        for e in range(self.n):
            error[e] *= gap / total if total > 0 else 0

    cdef void split_mean(self, const real *low, const real *high, real mass, const real *P, const real *Q, real *point,
                         real *error) noexcept nogil:
        """The loss of -m'Pm bounded over the box, a quarter of its width times the slope beside the diagonal."""
        cdef int j, i
        cdef real m, x, y
        for j in range(self.d):
            m, x = point[j], 0
            for i in range(self.d):
                if i != j:
                    x += fabs(P[self.entry(i, j)]) * (high[i] - low[i])
            y = 0.25 * x * (high[j] - low[j])
            x = max(P[self.entry(j, j)], LEAST_CURVATURE * Q[self.entry(j, j)])
            error[j] = mass * (x * (m - low[j]) * (high[j] - m) + y)
            point[j] = split_inside(m, low[j], high[j], sqrt(0.5 / Q[self.entry(j, j)]))

    def best(self, packed):
        """The best Sigma (d, d) for a packed covariance (n,)."""
        cdef real[::1] C = np.ascontiguousarray(packed), out = np.empty(self.n)
        self.floored(&C[0], &out[0])
        found = np.empty((self.d, self.d))
        rows, columns = np.triu_indices(self.d)
        found[rows, columns] = found[columns, rows] = out
        return found

    def best_minorant(self, low, high):
        """Constant and packed slopes (n,) of the minorant over a box of entries (n,)."""
        cdef real[::1] lo = np.array(low, dtype=np.float64), hi = np.array(high, dtype=np.float64), P = np.empty(self.n)
        cdef real constant = self.minorant(&lo[0], &hi[0], &P[0])
        return constant, np.asarray(P)
