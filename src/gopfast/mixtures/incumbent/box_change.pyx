"""How far the derivatives of the objective change in a box around a center, see `neighbourhood`: one pass.

Theory: (Q3) and (Q4) of docs/theory/fourth_order.md; (W3) and (W4) of docs/theory/fourth_order_weights.md.
"""

from libc.math cimport INFINITY, exp, fabs, sqrt
from libc.string cimport memset

from gopfast.mixtures.incumbent.center cimport Center
from gopfast.mixtures.incumbent.charts cimport Chart
from gopfast.mixtures.incumbent.margins cimport BOX_OUTWARD as OUTWARD, BOX_UPWARD as UPWARD
from gopfast.mixtures.incumbent.tuning cimport (
    BOX_FARTHEST as FARTHEST, BOX_N_SHELLS as N_SHELLS, CENTER_POLL_EVERY as POLL_EVERY
)
from gopfast.mixtures.primal.em cimport MixturePrimal
from gopfast.mixtures.data.samples cimport SampleSet
from gopfast.search.arena cimport Arena
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport index, real


cdef class BoxChange(Center):
    """The fourth cumulants of a box, and what the responsibilities become beyond the second order."""

    cdef int reserve(self, MixturePrimal primal, Chart chart) except -1:
        cdef int K = chart.n_components, d = chart.n_columns, p = chart.n_coordinates, m = K * (1 + p)
        cdef Arena arena = Arena()
        Center.reserve(self, primal, chart)
        self.stride = 1
        self.of_box = arena
        while arena.again():
            self.rest, self.fourth, self.third = arena.take(m * m), arena.take(K * K), arena.take(K * K)
            self.skew = arena.take(K * K * 4 * (1 + p) * (1 + p))
            self.down, self.up = arena.take(K * p), arena.take(K * p)
            self.face_need, self.beyond_second = arena.take(K * d), arena.take(K)
            self.log_radius, self.highest, self.lowest = arena.take(K), arena.take(K), arena.take(K)
            self.away, self.fall, self.rise = arena.take(K), arena.take(K), arena.take(K)
            self.most, self.least = arena.take(K), arena.take(K)
            self.counts = <bint *> arena.take_bytes(K * sizeof(bint))
        return 0

    cdef real widest_of(self, int a) noexcept nogil:
        """How far coordinate a of all, no log weight, reaches."""
        cdef int i = a // self.f * self.p + a % self.f - 1
        return max(self.down[i], self.up[i])

    cdef bint spread(self) noexcept nogil:
        """What the box does to the derivatives, one pass. False: it is too wide for the numbers, or interrupted."""
        cdef int K = self.family.n_components, d = self.family.n_columns, f = self.f, m = self.m, a, b
        cdef const SampleSet *data = &self.family.data.core
        cdef index i
        memset(self.rest, 0, m * m * sizeof(real))
        memset(self.skew, 0, 4 * m * m * sizeof(real))
        memset(self.face_need, 0, K * d * sizeof(real))
        memset(self.beyond_second, 0, K * sizeof(real))
        self.lost = 0
        for i in range(data.n_samples // self.stride):
            if i % POLL_EVERY == 0 and self.primal.stop is not None and self.primal.stop.poll(0):
                return False
            self.sample(i * self.stride)
            self.meter.work.terms += (1 + N_SHELLS) * self.family.n_components
            if not self.add_sample(i * self.stride, self.stride * data.samples.weights[i * self.stride]):
                return False
        for a in range(m):
            for b in range(a):
                if b // f < a // f:
                    self.rest[b * m + a] = self.rest[a * m + b]
        self.add_skews()
        return True

    cdef void add_skews(self) noexcept nogil:
        """Adds the most that the pairs' quadratic forms become in the box."""
        cdef int K = self.family.n_components, f = self.f, k, l, a, b
        cdef const real *skew
        cdef real total, far
        for k in range(K):
            for l in range(k):
                skew = self.skew + (k * K + l) * 4 * f * f
                total = 0
                for a in range(2 * f):
                    far = self.reach_of(k if a < f else l, a % f)
                    for b in range(a):
                        total += 2 * fabs(skew[a * 2 * f + b]) * far * self.reach_of(k if b < f else l, b % f)
                    total += skew[a * 2 * f + a] * far * far
                self.beyond_second[k] += total * OUTWARD
                self.beyond_second[l] += total * OUTWARD

    cdef real reach_of(self, int k, int a) noexcept nogil:
        """How far coordinate a of component k reaches, 0: its log weight."""
        return self.log_radius[k] if a == 0 else self.widest_of(k * self.f + a)

    cdef bint add_sample(self, index i, real w) noexcept nogil:
        """Takes sample i of weight w into account, for (Q4), (W3), (W4); False: a score goes too far."""
        cdef int K = self.family.n_components, p = self.p, f = self.f, k, l, a, best = 0, first
        cdef real x, floor, ratio
        for k in range(K):
            self.rise[k] = self.fall[k] = self.log_radius[k] + self.score_error
            self.size[k] = 1
            for a in range(p):
                x = self.u[k * f + 1 + a]
                self.rise[k] += max(x * self.up[k * p + a], -x * self.down[k * p + a])
                self.fall[k] += max(x * self.down[k * p + a], -x * self.up[k * p + a])
                self.size[k] += 1 + fabs(x)
            self.rise[k] *= UPWARD
            self.fall[k] *= UPWARD
            self.size[k] /= sqrt(self.mass[k])
            if self.possible[k] and self.r[k] > self.r[best]:
                best = k
        if not self.possible[best]:
            for k in range(K):
                best = k if self.possible[k] else best
        floor = -INFINITY
        for k in range(K):
            if self.possible[k]:
                floor = max(floor, self.score[k] - self.fall[k])
        for k in range(K):
            if not self.possible[k]:
                x = self.chart.excess(i, k, self.face_need + k * self.family.n_columns, &first)
                # whatever the component's own weight is; without odds there is nothing
                if first < 0 or not x > 0:
                    continue
                ratio = self.score[k] + self.rise[k] - self.log_radius[k] - floor
                self.face_need[k * self.family.n_columns + first] += w * x * exp(min(700.0, ratio)) * OUTWARD
        for k in range(K):
            # whether its responsibility needs to be looked at
            self.counts[k] = self.possible[k] and (
                k == best or self.score[k] + self.rise[k] + self.fall[best] > -45)
            if self.counts[k] and max(self.rise[k], self.fall[k]) > FARTHEST:
                return False
        self.bound_fourth_cumulants(w)
        for k in range(K):
            for l in range(k):
                if self.possible[k] and self.possible[l]:
                    self.add_fourth_of_pair(w, k, l, best)
        return True

    cdef real apart(self, int k, int l) noexcept nogil:
        """The most that the scores of two components may move apart: the largest |zeta_k - zeta_l| of (Q4)."""
        return max(self.rise[k] + self.fall[l], self.fall[k] + self.rise[l])

    cdef void bound_fourth_cumulants(self, real w) noexcept nogil:
        """Pairs' fourth cumulants on the ray, the integral of (Q4); (W3), what is left of the responsibilities.

        On the ray r_k has the derivatives r_k x_k, x_k = zeta_k - mean, and third r_k (x_k^3 - 3 V x_k - C), V and C
        the second and third central moments of zeta. With X_k >= |x_k| (`away`),

            |x_k^2 - 3 V| <= sum_l max(1 - r_k, 3 r_k) r_l (zeta_k - zeta_l)^2 + 3 (V of the pairs without k),
            |C| <= sum_{h<l} r_h r_l (zeta_h - zeta_l)^2 (X_h (1 - r_h) + X_l (1 - r_l)),

        by x_k^2 <= (1 - r_k) sum_l r_l (zeta_k - zeta_l)^2 and V = sum_{h<l} r_h r_l (zeta_h - zeta_l)^2. A pair's part
        in its own components' is summed over the samples as a quadratic form, the others' as a number.
        """
        cdef int K = self.family.n_components, k, l, h, shell
        cdef real s, others_low, others_high, high, low, one, two, factor, before, after, third, far, both, value
        memset(self.fourth, 0, K * K * sizeof(real))
        memset(self.third, 0, K * K * sizeof(real))
        for shell in range(N_SHELLS):
            s = (shell + 1.0) / N_SHELLS
            before, after = 1 - shell * 1.0 / N_SHELLS, 1 - s
            for k in range(K):
                self.most[k] = self.least[k] = 0
                if self.possible[k]:
                    self.most[k] = exp(self.score[k] + s * self.rise[k])
                    self.least[k] = exp(self.score[k] - s * self.fall[k]) if self.counts[k] else 0
            for k in range(K):
                others_low = others_high = 0
                for l in range(K):
                    if l != k:
                        others_low += self.least[l]
                        others_high += self.most[l]
                self.highest[k] = self.most[k] / (self.most[k] + others_low) if self.most[k] > 0 else 0
                self.lowest[k] = self.least[k] / (self.least[k] + others_high) if self.least[k] > 0 else 0
            for k in range(K):  # the most that a score is away from the mean
                value = one = 0
                for l in range(K):
                    if l != k and self.possible[l]:
                        value += self.highest[l] * self.apart(k, l)
                        one = max(one, self.apart(k, l))
                self.away[k] = min(value, one)
            third = w / 6 * (before * before * before - after * after * after) * OUTWARD
            for k in range(K):
                for l in range(k):
                    if not (self.possible[k] and self.possible[l]):
                        continue
                    far = self.apart(k, l)
                    if not (self.counts[k] and self.counts[l]):
                        self.add_third_of_pair(k, l, third * min(self.highest[k], self.highest[l]) * far * far, True)
                        continue
                    others_low = others_high = 0
                    for h in range(K):
                        if h != k and h != l:
                            others_low += self.least[h]
                            others_high += self.most[h]
                    # r_k r_l is concave in both scores: all up, unless one of them then has more than all others
                    one, two = self.most[k], self.most[l]
                    if one > two + others_low:
                        one = max(self.least[k], two + others_low)
                    elif two > one + others_low:
                        two = max(self.least[l], one + others_low)
                    high = share(one, two, others_low)
                    low = min(min(share(self.most[k], self.most[l], others_high),
                                  share(self.least[k], self.least[l], others_high)),
                              min(share(self.most[k], self.least[l], others_high),
                                  share(self.least[k], self.most[l], others_high)))
                    one, two = 1 - self.lowest[k], 1 - self.lowest[l]
                    factor = one * one * one + two * two * two - 3 * low
                    if factor > 0:
                        value = before * before * before * before - after * after * after * after
                        self.fourth[k * K + l] += value * high * factor
                    both = self.away[k] * one + self.away[l] * two
                    one = self.away[k] * max(one, 3 * self.highest[k]) + both * self.highest[k]
                    two = self.away[l] * max(two, 3 * self.highest[l]) + both * self.highest[l]
                    self.third[k * K + l] += third * high * max(one, two)
                    self.add_third_of_pair(k, l, third * high * far * far, False)

    cdef void add_third_of_pair(self, int k, int l, real size, bint own) noexcept nogil:
        """Adds what r_k r_l (zeta_k - zeta_l)^2 <= size does to the other responsibilities; own: to theirs as well."""
        cdef int h
        cdef real both = self.away[k] * (1 - self.lowest[k]) + self.away[l] * (1 - self.lowest[l]), value
        for h in range(self.family.n_components):
            value = self.highest[h] * size * (3 * self.away[h] + both)
            if h == k or h == l:
                if not own:
                    continue
                value = size * (self.away[h] * max(1 - self.lowest[h], 3 * self.highest[h]) + both * self.highest[h])
            self.beyond_second[h] += value

    cdef void add_fourth_of_pair(self, real w, int k, int l, int best) noexcept nogil:
        """Adds what the pair's fourth cumulant may take from the Hessian: h of (Q4), and its part of R."""
        cdef int K = self.family.n_components, f = self.f, m = self.m, a, b, h
        cdef real far = self.apart(k, l), value, part
        cdef const real *u_k = self.u + k * f
        cdef const real *u_l = self.u + l * f
        if not (self.counts[k] and self.counts[l]):
            h = l if self.counts[k] else k
            value = w * (exp(self.score[h] + self.rise[h] + self.fall[best]) * OUTWARD + 1e-300)
            self.lost += value / 6 * far * far * (self.size[k] + self.size[l]) ** 2
            return
        value = OUTWARD * w * self.fourth[k * K + l] * far * far / 12
        self.lost += self.family.data.core.n_samples * ROUND * 4 * value * (self.size[k] + self.size[l]) ** 2
        part = self.rise[k] + self.fall[k] + self.rise[l] + self.fall[l]
        part *= 4 * (self.family.data.core.n_samples * ROUND + self.score_error) * self.third[k * K + l] * part
        self.beyond_second[k] += part
        self.beyond_second[l] += part
        self.add_skew(self.third[k * K + l], k, l)
        for a in range(f):
            part = value * u_k[a]
            for b in range(f):
                self.rest[(k * f + a) * m + k * f + b] += part * u_k[b]
                self.rest[(k * f + a) * m + l * f + b] -= part * u_l[b]
            part = value * u_l[a]
            for b in range(f):
                self.rest[(l * f + a) * m + l * f + b] += part * u_l[b]

    cdef void add_skew(self, real value, int k, int l) noexcept nogil:
        """Adds value (zeta_k - zeta_l)^2 to the pair's quadratic form, below its diagonal and on it."""
        cdef int f = self.f, a, b
        cdef real part
        cdef const real *u_k = self.u + k * f
        cdef const real *u_l = self.u + l * f
        cdef real *skew = self.skew + (k * self.family.n_components + l) * 4 * f * f
        for a in range(f):
            part = value * u_k[a]
            for b in range(a + 1):
                skew[a * 2 * f + b] += part * u_k[b]
        for a in range(f):
            part = value * u_l[a]
            for b in range(f):
                skew[(f + a) * 2 * f + b] -= part * u_k[b]
            for b in range(a + 1):
                skew[(f + a) * 2 * f + f + b] += part * u_l[b]


cdef inline real share(real one, real two, real others) noexcept nogil:
    """one two / (one + two + others)^2, a little more than it."""
    cdef real total = one + two + others
    return one / total * (two / total)
