"""The most that one cluster can save at given prices, with proof: branch and bound over its center.

With prices lambda (N,) a cluster with center nu saves G(nu) = sum_i w_i (lambda_i - |x_i - nu|^2)+. In a box of centers
a sample that is near enough for all of them adds a concave quadratic, one that is too far for all adds nothing, and of
the rest, where a = lambda - |x - nu|^2 lies in [low, high] with low < 0 < high, the chord high (a - low) / (high - low)
lies above a+ and is concave, too. The sum is separable in the coordinates of nu: its maximum over the box is at hand.
Where no sample is in doubt it is exact, so that boxes do not crowd around the best centers.

Of two samples that must not share a cluster (`partner`) the one that saves more counts.

Rounding: every term is a difference of numbers below 3 (lambda + r^2), r the half diagonal of the box, and is found
to d + 8 roundings; sums of N of them add N. `margin` counts twice as many.

Theory: (K1), (K2), (K3), (K7) and (K9) of docs/theory/kmeans.md.
"""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc

from gopfast.clustering.tuning import MOST_KEPT

from gopfast.clustering.margins cimport OUTWARD
from gopfast.clustering.tuning cimport PRICING_GAINED as GAINED
from gopfast.search.stop cimport StopSignal
from gopfast.search.types cimport index, real

cdef enum:
    MOST_DEPTH = 2000
cdef real UNIT = 2.0 ** -53


cdef class CenterSearch:
    """Search for the best center at given prices.

    Parameters
    ----------
    X : ndarray, shape (N, d)
    weights : ndarray, shape (N,)
        Positive.
    stop : StopSignal
    partner : ndarray of int32, shape (N,), optional
        Of every sample the one that it must not share a cluster with, -1: none. It has this one as its own.
    """

    cdef const real[:, ::1] X
    cdef const real[::1] w
    cdef real[::1] prices
    cdef StopSignal stop
    cdef index n, n_cells, most_cells
    cdef int d
    cdef real limit, open_bound, priced, total_weight
    cdef bint ended
    cdef real[:, ::1] kept
    cdef int n_kept
    cdef const int32_t[::1] partner
    cdef real[::1] least, most      # of every active sample, what it saves in the box at hand

    def __init__(self, X, weights, StopSignal stop, partner=None):
        self.X, self.w, self.stop = X, weights, stop
        self.n, self.d = X.shape
        self.partner = np.full(self.n, -1, dtype=np.int32) if partner is None else partner
        self.least, self.most = np.zeros(self.n), np.zeros(self.n)
        self.kept = np.zeros((MOST_KEPT, self.d))

    cdef index retain(self, const real *center, const real *half, const int32_t *given, index n_given,
                      int32_t *active) noexcept nogil:
        """OUT active: the samples that a center in the box may gain by, whose number is returned; least, most."""
        cdef int j, other
        cdef index s, i, kept = 0, last = 0
        cdef real nearest, farthest, z, near, price
        for s in range(n_given):
            i = given[s]
            price = self.prices[i]
            nearest = farthest = 0
            for j in range(self.d):
                z = fabs(self.X[i, j] - center[j])
                farthest += (z + half[j]) * (z + half[j])
                near = max(z - half[j], 0.0)
                nearest += near * near
            self.most[i] = -1
            if nearest > price * (1 + 8 * (self.d + 4) * UNIT):  # also with its rounding
                continue
            self.least[i], self.most[i] = price - farthest, max(price - nearest, 0.0)
            active[kept] = <int32_t> i
            kept += 1
        # Of partners one may save more than the other wherever the center is.
        for s in range(kept):
            i = active[s]
            other = self.partner[i]
            if other >= 0 and self.is_active(other, active, kept) and self.beats(other, i):
                self.most[i] = -1
        for s in range(kept):
            if self.most[active[s]] >= 0:
                active[last] = active[s]
                last += 1
        return last

    cdef bint is_active(self, int i, const int32_t *active, index n_active) noexcept nogil:
        """Whether a sample is among those given, ascending."""
        cdef index low = 0, high = n_active, middle
        while low < high:
            middle = (low + high) // 2
            if active[middle] < i:
                low = middle + 1
            else:
                high = middle
        return low < n_active and active[low] == i and self.most[i] >= 0

    cdef bint beats(self, index i, index other) noexcept nogil:
        return self.w[i] * self.least[i] > self.w[other] * self.most[other] * (1 + 64 * (self.d + 4) * UNIT)

    cdef real bound(self, const real *center, const real *half, const int32_t *active, index n_active, real *first,
                    real *best) noexcept nogil:
        """At least what a cluster with its mean in the box saves, by the samples retained; OUT best: a maximiser."""
        cdef int d = self.d, j, other
        cdef index s, i
        cdef real z, middle, farthest, weight, low, high, price, total = 0, mass = 0, steiner = 0, fixed = 0
        cdef real diagonal = 0, magnitude = 0
        for j in range(d):
            diagonal += half[j] * half[j]
            first[j] = 0
        for s in range(n_active):
            i = active[s]
            price = self.prices[i]
            magnitude += self.w[i] * price
            other = self.partner[i]
            if other >= 0 and self.is_active(other, active, n_active):
                # not known which: the most that either saves, counted once
                high = max(self.w[i] * self.most[i], self.w[other] * self.most[other])
                if high < self.w[i] * (self.least[i] + self.most[i]) / 2 + self.w[other] * (
                        self.least[other] + self.most[other]) / 2 or self.least[i] < 0 or self.least[other] < 0:
                    if i < other:
                        fixed += high
                    continue
            middle = farthest = 0
            for j in range(d):
                z = fabs(self.X[i, j] - center[j])
                middle += z * z
                farthest += (z + half[j]) * (z + half[j])
            if middle < price + diagonal:
                steiner += self.w[i] * (price + diagonal - middle)
            low, high = self.least[i], self.most[i]
            weight = self.w[i]
            if low < 0:
                # the chord, from its value at the box's center
                weight *= high / (high - low) if high > 0 else 0.0
                total += weight * (farthest - middle)
            else:
                total += weight * (price - middle)
            mass += weight
            for j in range(d):
                first[j] += weight * (self.X[i, j] - center[j])
        for j in range(d):
            # 2 first z - mass z^2 within the sides
            z = min(max(first[j] / mass if mass > 0 else 0.0, -half[j]), half[j])
            best[j] = center[j] + z
            total += (2 * first[j] - mass * z) * z
        if not fixed > 0:
            # Where the center is the mean of its cluster, Steiner's theorem about the box's center holds, too.
            total = min(total, steiner)
        return max(total, 0.0) + fixed + self.margin(magnitude, diagonal)

    cdef real margin(self, real magnitude, real diagonal) noexcept nogil:
        return 8 * (self.n + self.d + 16) * UNIT * (magnitude + self.priced * UNIT + self.total_weight * diagonal)

    cdef real value(self, const real *center, const int32_t *active, index n_active) noexcept nogil:
        """G at a center, by the samples that count."""
        cdef int other
        cdef index s
        cdef real total = 0, own
        for s in range(n_active):
            own = self.saving(active[s], center)
            if own > 0:
                other = self.partner[active[s]]
                if other < 0 or not self.yields(active[s], own, self.saving(other, center)):
                    total += own
        return total

    cdef real saving(self, index i, const real *center) noexcept nogil:
        cdef int j
        cdef real distance = 0, z
        for j in range(self.d):
            z = self.X[i, j] - center[j]
            distance += z * z
        return self.w[i] * (self.prices[i] - distance)

    cdef bint yields(self, index i, real own, real others) noexcept nogil:
        """Whether a sample's partner counts in its place."""
        return others > own or (others == own and self.partner[i] < i)

    cdef void give_up(self, real upper) noexcept nogil:
        self.ended = True
        self.open_bound = max(self.open_bound, upper)

    cdef void explore(self, const real *center, const real *half, real upper, const int32_t *given, index n_given,
                      int depth) noexcept nogil:
        """A box, whose bound is at most `upper`: bounded, and if need be in halves."""
        cdef int d = self.d, j, widest = 0
        cdef real *low
        cdef real *side
        cdef real *best
        cdef index n_active
        cdef int32_t *active
        cdef real found
        if self.ended or self.stop.poll(0) or self.n_cells >= self.most_cells or depth >= MOST_DEPTH:
            self.give_up(upper)
            return
        low = <real *> malloc(4 * d * sizeof(real) + max(n_given, 1) * sizeof(int32_t))
        if low == NULL:
            self.give_up(upper)
            return
        side, best, active = low + d, low + 2 * d, <int32_t *> (low + 4 * d)
        self.n_cells += 1
        n_active = self.retain(center, half, given, n_given, active)
        found = min(upper, self.bound(center, half, active, n_active, low + 3 * d, best))
        if found > self.limit:
            if self.value(best, active, n_active) > self.limit:
                for j in range(d):
                    self.kept[self.n_kept, j] = best[j]
                self.n_kept += 1
                # prices that are beaten prove nothing of use: no need to look closer
                self.open_bound = max(self.open_bound, found)
                self.ended = self.n_kept == self.kept.shape[0]
            else:
                for j in range(d):
                    low[j], side[j] = center[j], half[j]
                    if half[j] > half[widest]:
                        widest = j
                # outward, so that the halves cover it
                side[widest] = 0.5 * half[widest] * (1 + 4 * UNIT) + 2 * UNIT * fabs(center[widest])
                low[widest] = center[widest] - 0.5 * half[widest]
                if side[widest] > 0.75 * half[widest]:  # rounding alone keeps it open
                    self.open_bound = max(self.open_bound, found)
                else:
                    self.explore(low, side, found, active, n_active, depth + 1)
                    low[widest] = center[widest] + 0.5 * half[widest]
                    self.explore(low, side, found, active, n_active, depth + 1)
        free(low)

    def search(self, prices, real limit, index most_cells):
        """Prove that no center saves more than a limit, or find some that do.

        Returns
        -------
        sup : float
            At least sup G, and at least the limit.
        centers : ndarray, shape (m, d)
            Some that save more than the limit.
        """
        cdef real[::1] center, half
        cdef int32_t[::1] every = np.arange(self.n, dtype=np.int32)
        X = np.asarray(self.X)
        low, high = X.min(axis=0), X.max(axis=0)
        center = 0.5 * (low + high)
        half = 0.5 * (high - low) * OUTWARD + 4 * UNIT * np.abs(np.asarray(center))
        self.prices = np.ascontiguousarray(np.maximum(prices, 0.0))
        self.total_weight = np.sum(self.w) * OUTWARD
        self.priced = np.asarray(self.w) @ np.asarray(self.prices)
        self.limit, self.most_cells = limit, most_cells
        self.n_cells, self.n_kept, self.ended, self.open_bound = 0, 0, False, limit
        with nogil:
            self.explore(&center[0], &half[0], INFINITY, &every[0], self.n, 0)
        return self.open_bound, np.array(self.kept[:self.n_kept])

    @property
    def cells(self):
        """Boxes bounded in the last search."""
        return self.n_cells

    cdef bint counts(self, index i, const real *center) noexcept nogil:
        """Whether a center gains by a sample."""
        cdef real own = self.saving(i, center)
        cdef int other = self.partner[i]
        return own > 0 and (other < 0 or not self.yields(i, own, self.saving(other, center)))

    def members(self, prices, const real[::1] center):
        """Samples that a center gains by, ascending."""
        cdef index i, kept = 0
        cdef int32_t[::1] own = np.empty(self.n, dtype=np.int32)
        self.prices = np.ascontiguousarray(np.maximum(prices, 0.0))
        with nogil:
            for i in range(self.n):
                if self.counts(i, &center[0]):
                    own[kept] = <int32_t> i
                    kept += 1
        return np.array(own[:kept])

    def ascend(self, prices, starts, int max_iter=100):
        """Local maxima of G: alternately the samples that a center gains by, and their mean.

        Returns
        -------
        values (m,), centers (m, d)
        """
        cdef real[::1] mean = np.zeros(self.d)
        found = np.array(starts, dtype=np.float64, order="C")
        cdef real[:, ::1] at = found
        cdef real[::1] values = np.zeros(len(found))
        cdef index m, i
        cdef int j, _turn
        cdef real mass, total, before
        self.prices = np.ascontiguousarray(np.maximum(prices, 0.0))
        with nogil:
            for m in range(at.shape[0]):
                before = -1
                for _turn in range(max_iter):
                    mass = total = 0
                    mean[:] = 0
                    for i in range(self.n):
                        if self.counts(i, &at[m, 0]):
                            total += self.saving(i, &at[m, 0])
                            mass += self.w[i]
                            for j in range(self.d):
                                mean[j] += self.w[i] * self.X[i, j]
                    values[m] = total
                    if not mass > 0 or not total > before * GAINED:
                        break
                    before = total
                    for j in range(self.d):
                        at[m, j] = mean[j] / mass
        return np.asarray(values), found
