"""What is known of the objective around an incumbent, see `neighbourhood`: its first three derivatives there.

Theory: (Q2), (Q5) and (Q6) of docs/theory/fourth_order.md; (W1), (W2) and (W7) of
docs/theory/fourth_order_weights.md.
"""

import numpy as np

from libc.math cimport INFINITY, exp, fabs, isfinite, log, sqrt
from libc.string cimport memcpy, memset

from gopfast.mixtures.incumbent.charts cimport Chart
from gopfast.mixtures.dense cimport dense_factor, dense_inverse
from gopfast.mixtures.incumbent.tuning cimport (
    CENTER_LARGEST as LARGEST, CENTER_NEGLIGIBLE as NEGLIGIBLE, CENTER_POLL_EVERY as POLL_EVERY,
    CENTER_SMALLEST_WEIGHT as SMALLEST_WEIGHT, MOST_COORDINATES, MOST_SWEEPS
)
from gopfast.mixtures.primal.em cimport MixturePrimal
from gopfast.mixtures.data.passes cimport pass_costs, pass_sums
from gopfast.mixtures.data.samples cimport SampleSet
from gopfast.search.arena cimport Arena
from gopfast.search.relaxation cimport Basin
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport index, real


cdef class Center(Basin):
    """A solution, and the derivatives of the objective in the log weights and the chart's coordinates there."""

    cdef int reserve(self, MixturePrimal primal, Chart chart) except -1:
        """Memory for any center."""
        cdef int K = chart.n_components, p = chart.n_coordinates, f = 1 + p, m = K * f
        cdef Arena arena = Arena()
        self.family, self.primal, self.chart = chart.family, primal, chart
        self.p, self.f, self.m = p, f, m
        self.solution = np.zeros(2 * primal.n_solution)
        self.cubes = np.zeros(2 * m * m * m if m <= MOST_COORDINATES else 1)
        self.of_center = arena
        while arena.again():
            self.hessian, self.matrix = arena.take(m * m), arena.take(m * m)
            self.basis, self.turned, self.change = arena.take(m * m), arena.take(m * m), arena.take(m * m)
            self.squares, self.slopes, self.inverse = arena.take(K * m * m), arena.take(K * m), arena.take(K * K)
            self.gradient, self.gradient_error, self.u = arena.take(m), arena.take(m), arena.take(m)
            self.log_weight, self.mass, self.size = arena.take(K), arena.take(K), arena.take(K)
            self.score, self.r, self.others = arena.take(K), arena.take(K), arena.take(K)
            self.possible = <bint *> arena.take_bytes(K * sizeof(bint))
        self.cubic = &self.cubes[0]
        self.bent = self.cubic + (m * m * m if m <= MOST_COORDINATES else 0)
        return 0

    cdef bint arrange(self, const real *solution) noexcept nogil:
        """Makes the center the copy of the solution that has the order of the nodes; False: a component is unused."""
        cdef int K = self.family.n_components, n = self.family.n_cell, k, i, rank
        cdef const real *point = solution + K
        cdef real *center = &self.solution[0]
        for i in range(K):
            rank = 0
            for k in range(K):
                rank += point[k * n] < point[i * n] or (point[k * n] == point[i * n] and k < i)
            if not solution[i] > SMALLEST_WEIGHT:
                return False
            center[rank] = solution[i]
            memcpy(center + K + rank * n, point + i * n, n * sizeof(real))
        center[self.primal.n_solution - 1] = solution[self.primal.n_solution - 1]
        return True

    cdef real expand(self) noexcept nogil:
        """f at the center, rounded down, of free total weight; leaves the family's costs in the primal's buffer."""
        cdef int K = self.family.n_components, k, a
        cdef index n = self.primal.n_solution
        cdef real *center = &self.solution[0]
        cdef real *trial = center + n
        cdef pass_sums *sums = &self.primal.buffer.sums
        cdef real value, weight = 0, W = self.family.data.core.total_weight, slack = 0, pseudo = 0
        for k in range(K):
            self.log_weight[k], self.mass[k] = log(center[k]), W * center[k]
            weight += center[k]
        memcpy(trial, center, n * sizeof(real))
        value = self.primal.step(&self.primal.full, trial)
        self.meter.work.terms += self.primal.full.n_samples * K
        # `step` rounds up by its margin, and some families their costs
        value -= 3 * self.primal.margin + 256 * ROUND * (sums.magnitude + fabs(value) + W)
        for k in range(K):
            slack = max(slack, self.chart.slack(k))
            for a in range(k * self.p, (k + 1) * self.p):
                pseudo += self.chart.pseudo[a]
        value -= slack * (W + pseudo)
        return value + W * (weight - 1)

    cdef void sample(self, index i) noexcept nogil:
        """Statistics, scores and responsibilities of sample i at the center."""
        cdef const SampleSet *data = &self.family.data.core
        cdef const pass_costs *costs = &self.primal.buffer.costs
        cdef int K = self.family.n_components, d = self.family.n_columns, f = self.f, k, l, j, a
        cdef real x, term, size, most = -INFINITY, total = 0
        self.score_error = 0
        for k in range(K):
            self.u[k * f] = 1
            self.possible[k] = self.chart.statistics(i, k, self.u + k * f + 1)
            self.score[k] = self.log_weight[k] + costs.offsets[k]
            size = 1 + fabs(self.log_weight[k]) + fabs(costs.offsets[k])
            for j in range(d):
                a = k * d + j
                if self.chart.face[a]:
                    continue
                x = data.samples.columns[j * data.samples.n_padded + i] - costs.centers[a]
                term = costs.linear[a] * x
                self.score[k] -= term
                size += fabs(term)
                term = costs.quadratic[a] * x * x
                self.score[k] -= term
                size += fabs(term)
            x = 1
            for a in range(k * f + 1, (k + 1) * f):
                x += fabs(self.u[a])
            self.score_error = max(self.score_error, (16 + 2 * d) * ROUND * size + self.chart.blur * x)
            if self.possible[k]:
                most = max(most, self.score[k])
        for k in range(K):
            self.score[k] -= most
            self.r[k] = exp(self.score[k]) if self.possible[k] else 0
            total += self.r[k]
        for k in range(K):
            self.r[k] /= total
        for k in range(K):
            self.others[k] = 0
            for l in range(K):  # one by one: a difference would cancel
                if l != k:
                    self.others[k] += self.r[l]

    cdef bint survey(self) noexcept nogil:
        """Gradient, Hessian and third derivatives at the center. False: interrupted."""
        cdef int m = self.m
        cdef const SampleSet *data = &self.family.data.core
        cdef index i
        memset(self.gradient, 0, m * sizeof(real))
        memset(self.gradient_error, 0, m * sizeof(real))
        memset(self.hessian, 0, m * m * sizeof(real))
        memset(self.cubic, 0, <size_t> m * m * m * sizeof(real))
        self.rough = 0
        for i in range(data.n_samples):
            if i % POLL_EVERY == 0 and self.primal.stop is not None and self.primal.stop.poll(0):
                return False
            self.sample(i)
            self.meter.work.terms += self.family.n_components
            self.cumulate(data.samples.weights[i])
        self.finish_survey()
        return True

    cdef void cumulate(self, real w) noexcept nogil:
        """Takes the cumulants of a sample of weight w from the derivatives."""
        cdef int K = self.family.n_components, f = self.f, m = self.m, k, l, h, a, b, c
        cdef real error = (self.family.data.core.n_samples + 128) * ROUND + 16 * self.score_error
        cdef real value, part, mean = 0, q = 0
        cdef real *u = self.u
        for k in range(K):
            self.size[k] = 1
            for a in range(1, f):
                self.size[k] += 1 + fabs(u[k * f + a])
            self.size[k] /= sqrt(self.mass[k])
            mean += self.r[k] * self.size[k]
        for k in range(K):
            q = mean + self.size[k]
            # rounding, and the terms that are left out below
            self.rough += w * error * self.r[k] * (q * q + q * q * q)
            if self.possible[k] and self.r[k] < 4 * NEGLIGIBLE:
                self.rough += w * NEGLIGIBLE * 16 * K * K * (q * q + q * q * q)
            for a in range(f):
                part = w * self.r[k] * u[k * f + a]
                self.gradient[k * f + a] -= part
                self.gradient_error[k * f + a] += error * w * self.r[k] * (1 + fabs(u[k * f + a]))
        for k in range(K):
            if self.r[k] < NEGLIGIBLE:
                continue
            for l in range(k + 1):
                if self.r[l] < NEGLIGIBLE:
                    continue
                value = w * (self.r[k] * self.others[k] if k == l else -self.r[k] * self.r[l])
                if fabs(value) < w * NEGLIGIBLE:
                    q = self.size[k] + self.size[l] + 2 * mean
                    self.rough += w * NEGLIGIBLE * 16 * K * (q * q + q * q * q)
                    continue
                for a in range(f):
                    part = value * u[k * f + a]
                    for b in range(f):
                        self.hessian[(k * f + a) * m + l * f + b] -= part * u[l * f + b]
                for h in range(l + 1):
                    if self.r[h] < NEGLIGIBLE:
                        continue
                    if k == l and l == h:
                        value = self.r[k] * self.others[k] * (self.others[k] - self.r[k])
                    elif k == l:
                        value = -self.r[k] * self.r[h] * (self.others[k] - self.r[k])
                    elif l == h:
                        value = -self.r[k] * self.r[h] * (self.others[h] - self.r[h])
                    else:
                        value = 2 * self.r[k] * self.r[l] * self.r[h]
                    for a in range(f):
                        for b in range(f):
                            part = w * value * u[k * f + a] * u[l * f + b]
                            for c in range(f):
                                self.cubic[((k * f + a) * m + l * f + b) * m + h * f + c] -= part * u[h * f + c]

    cdef void finish_survey(self) noexcept nogil:
        """Adds the convex part and the prior, and makes both symmetric."""
        cdef int K = self.family.n_components, p = self.p, f = self.f, m = self.m, k, l, h, a, b, c, i, j
        cdef real N, value, nu
        for k in range(K):
            N, b = self.mass[k], k * f
            self.gradient[b] += N
            self.gradient_error[b] += 8 * ROUND * N
            self.hessian[b * m + b] += N
            self.cubic[(b * m + b) * m + b] += N
            for j in range(p):
                i, a = k * p + j, b + 1 + j
                nu = self.chart.pseudo[i]
                self.gradient[a] += self.chart.pull[i]
                value = nu * (1 + fabs(self.chart.third(i, i, i)))
                self.gradient_error[a] += 64 * ROUND * (fabs(self.chart.pull[i])
                                                        + value * (1 + self.chart.size[i] + 1 / self.chart.size[i]))
                self.hessian[a * m + a] += N + nu
                self.add_cubic(b, a, a, N)
                self.cubic[(a * m + a) * m + a] += nu * self.chart.third(i, i, i)
                for l in range(j, p):
                    for h in range(l, p):
                        value = N * self.chart.third(i, k * p + l, k * p + h)
                        if value != 0:
                            self.add_cubic(a, b + 1 + l, b + 1 + h, value)
        # `cumulate` has filled the blocks k >= l >= h
        for k in range(K):
            for l in range(k):
                for a in range(k * f, (k + 1) * f):
                    for b in range(l * f, (l + 1) * f):
                        self.hessian[b * m + a] = self.hessian[a * m + b]
        for k in range(K):
            for l in range(k + 1):
                for h in range(l + 1):
                    if k == h:
                        continue
                    for a in range(k * f, (k + 1) * f):
                        for b in range(l * f, (l + 1) * f):
                            for c in range(h * f, (h + 1) * f):
                                value = self.cubic[(a * m + b) * m + c]
                                self.cubic[(a * m + c) * m + b] = self.cubic[(b * m + a) * m + c] = value
                                self.cubic[(b * m + c) * m + a] = self.cubic[(c * m + a) * m + b] = value
                                self.cubic[(c * m + b) * m + a] = value

    cdef void add_cubic(self, int a, int b, int c, real value) noexcept nogil:
        """Adds to the derivative in a, b and c, and to its copies."""
        cdef int m = self.m
        self.cubic[(a * m + b) * m + c] += value
        if a == b == c:
            return
        self.cubic[(b * m + c) * m + a] += value
        self.cubic[(c * m + a) * m + b] += value
        if a == b or b == c or a == c:
            return
        self.cubic[(a * m + c) * m + b] += value
        self.cubic[(b * m + a) * m + c] += value
        self.cubic[(c * m + b) * m + a] += value

    cdef bint weights_follow(self) noexcept nogil:
        """How the best log weights follow the coordinates to first order (W1); takes their part out of `cubic`."""
        cdef int K = self.family.n_components, f = self.f, m = self.m, k, l, a, b, c
        cdef real *Y = self.inverse
        cdef real value, share
        for k in range(K):
            for l in range(k, K):
                self.matrix[k * K + l] = self.hessian[k * f * m + l * f]
        if dense_factor(K, self.matrix):
            return False
        dense_inverse(K, self.matrix, Y)
        for k in range(K):
            for a in range(m):
                value = 0
                if a % f:
                    for l in range(K):
                        value += Y[k * K + l] * self.hessian[l * f * m + a]
                self.slopes[k * m + a] = value
        self.follow_squares()
        for a in range(m):
            if a % f == 0:
                continue
            for k in range(K):
                share = self.slopes[k * m + a]
                for b in range(m):
                    for c in range(m):
                        self.cubic[(a * m + b) * m + c] -= share * self.cubic[(k * f * m + b) * m + c]
        return self.turn()

    cdef void follow_squares(self) noexcept nogil:
        """Second derivatives of what the best log weights are beyond the first order, in the coordinates and that."""
        cdef int K = self.family.n_components, f = self.f, m = self.m, k, l, a, b
        cdef real *square
        for k in range(K):
            square = self.squares + k * m * m
            memset(square, 0, m * m * sizeof(real))
            for l in range(K):
                for a in range(m * m):
                    square[a] += self.inverse[k * K + l] * self.cubic[<size_t> l * f * m * m + a]
            for a in range(m):      # columns, then rows: a log weight is - slopes times the coordinates, and the rest
                for b in range(m):
                    if b % f:
                        for l in range(K):
                            square[a * m + b] -= square[a * m + l * f] * self.slopes[l * m + b]
            for a in range(m):
                if a % f:
                    for l in range(K):
                        for b in range(m):
                            square[a * m + b] -= self.slopes[l * m + a] * square[l * f * m + b]

    cdef bint turn(self) noexcept nogil:
        """Makes the eigenvectors of the center's Hessian the basis, and takes the third derivatives to it."""
        cdef int f = self.f, m = self.m, a, b, c
        cdef real value, scale
        cdef real *slice
        cdef real *out
        for a in range(m):
            for b in range(m):
                self.matrix[a * m + b] = self.hessian[a * m + b] / sqrt(self.mass[a // f] * self.mass[b // f])
            if not fabs(self.matrix[a * m + a]) < LARGEST:
                return False
        eigenvectors(m, self.matrix, self.basis)
        self.turning = 0
        for a in range(m):
            slice, out = self.cubic + <size_t> a * m * m, self.bent + <size_t> a * m * m
            scale = sqrt(self.mass[a // f])
            value = 0
            for b in range(m):
                for c in range(m):
                    self.change[b * m + c] = slice[b * m + c] / (scale * sqrt(self.mass[b // f] * self.mass[c // f]))
                    value = max(value, fabs(self.change[b * m + c]))
            self.turning = max(self.turning, value)
            conjugate(m, self.change, self.basis, self.turned, out)
        return isfinite(self.turning)


cdef void conjugate(int m, const real *A, const real *Z, real *work, real *out) noexcept nogil:
    """out = Z A Z', the rows of Z being the basis."""
    cdef int a, b, c
    cdef real value
    for a in range(m):
        memset(work + a * m, 0, m * sizeof(real))
        for b in range(m):
            value = Z[a * m + b]
            for c in range(m):
                work[a * m + c] += value * A[b * m + c]
    for a in range(m):
        for b in range(a + 1):
            value = 0
            for c in range(m):
                value += work[a * m + c] * Z[b * m + c]
            out[a * m + b] = out[b * m + a] = value


cdef void eigenvectors(int m, real *A, real *Z) noexcept nogil:
    """Jacobi's method: the rows of Z are about the eigenvectors of A, which is used up; diagonal parts stay."""
    cdef int a, b, c, _sweep
    cdef real off, theta, t, cosine, sine, x, y
    for a in range(m):
        for b in range(m):
            Z[a * m + b] = 1 if a == b else 0
    for _sweep in range(MOST_SWEEPS):
        off = 0
        for a in range(m):
            for b in range(a):
                x = A[a * m + b]
                if fabs(x) < 1e-9:
                    continue
                off = max(off, fabs(x))
                theta = 0.5 * (A[a * m + a] - A[b * m + b]) / x
                t = 1 / (fabs(theta) + sqrt(1 + theta * theta))
                t = t if theta >= 0 else -t
                cosine = 1 / sqrt(1 + t * t)
                sine = t * cosine
                for c in range(m):
                    x, y = A[c * m + a], A[c * m + b]
                    A[c * m + a], A[c * m + b] = cosine * x + sine * y, cosine * y - sine * x
                for c in range(m):
                    x, y = A[a * m + c], A[b * m + c]
                    A[a * m + c], A[b * m + c] = cosine * x + sine * y, cosine * y - sine * x
                for c in range(m):
                    x, y = Z[a * m + c], Z[b * m + c]
                    Z[a * m + c], Z[b * m + c] = cosine * x + sine * y, cosine * y - sine * x
        if off < 1e-9:
            return
