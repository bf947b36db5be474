"""The most that one class can save at given prices, with proof: branch and bound over its coefficients.

With prices lambda (N,) a class with coefficients b saves G(b) = sum_i w_i (lambda_i - e_i(b)^2)+, e_i(b) = y_i - z_i'b.
In a box of coefficients a residual lies in a strip about that of the middle. A sample whose strip is near enough to
0 adds a concave quadratic, one whose strip is too far adds nothing, and of the rest a concave quadratic that lies
above is added. So their sum is concave, and a tangent plane at a point next to its maximiser bounds it in the box.

Rounding: `FitSearch.strip` says how far a computed residual may be off, for which prices are raised; `FitSearch.bound`
what adding up may cost.

Theory: (JL1), (JL2), (JL3), (JL4) and (JL6) of docs/theory/clusterwise.md.
"""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc

from gopfast.clusterwise.tuning import MOST_KEPT

from gopfast.clusterwise.margins cimport OF_RESIDUAL, OF_SUM, UPWARD
from gopfast.clusterwise.tuning cimport GAINED, ONE_SIDED, SINGULAR, SWEEPS
from gopfast.search.stop cimport StopSignal
from gopfast.search.types cimport index, real

cdef enum:
    MOST_DEPTH = 4000
    MOST_COEFFICIENTS = 8


cdef struct Strip:
    # Of a sample in a box: the residual in the middle, how far it may be from there, what it may be off by rounding,
    # and the root of the price, raised by that.
    real middle, half, off, root


cdef struct Quadratic:
    # level + slope t - bend t^2, above what a sample saves with residual t; bend at least 0
    real level, slope, bend, magnitude
    bint doubtful


cdef struct Sum:
    # level + slope'x - x' bend x, above what all save at x from the box's middle
    real level, magnitude, of_fits, magnitude_of_fits, of_all
    real slope[MOST_COEFFICIENTS]
    real bend[MOST_COEFFICIENTS][MOST_COEFFICIENTS]
    real doubt[MOST_COEFFICIENTS]   # of every coefficient, how much its width keeps in doubt
    index n_terms


cdef Quadratic majorant(Strip s) noexcept nogil:
    """A concave quadratic above (root^2 - t^2)+ for all t in the strip (JL2), (JL3)."""
    cdef Quadratic q
    cdef real price = s.root * s.root, far = fabs(s.middle) + s.half, near = fabs(s.middle) - s.half, width, rise, high
    q.slope, q.bend, q.doubtful = 0, 1, far > s.root
    if not q.doubtful:
        q.level = price
        q.magnitude = price + far * far
        return q
    if near >= 0 and s.half <= ONE_SIDED * s.root:
        # near to far, on one side of the line: the chord between the ends, bent as little as it must be
        width = far - near
        rise = (price - near * near) / width
        q.bend = max(0.0, 1 - (far * far - price) / (width * width))
        q.level = far * (rise - q.bend * near)
        q.slope = q.bend * (near + far) - rise
        q.magnitude = 32 * price + far * fabs(rise) + q.bend * far * far
        if s.middle < 0:
            q.slope = -q.slope
        return q
    high = price - near * near if near > 0 else price
    q.bend = high / (high + (far * far - price))
    q.level = q.bend * far * far
    q.magnitude = 4 * q.level
    return q


cdef class FitSearch:
    """Search for the best coefficients at given prices.

    Parameters
    ----------
    Z : ndarray, shape (N, q)
        Regressors, at most 8 columns.
    y : ndarray, shape (N,)
    weights : ndarray, shape (N,)
        Positive.
    stop : StopSignal
    """

    cdef const real[:, ::1] Z
    cdef const real[::1] y, w
    cdef real[::1] prices, roots
    cdef StopSignal stop
    cdef index n, n_cells, most_cells
    cdef int q
    cdef real limit, keep, open_bound
    cdef bint ended
    cdef real[:, ::1] kept
    cdef real[::1] hull_low, hull_high
    cdef int n_kept

    def __init__(self, Z, y, weights, StopSignal stop):
        self.Z, self.y, self.w, self.stop = Z, y, weights, stop
        self.n, self.q = Z.shape
        if self.q > MOST_COEFFICIENTS:
            raise ValueError("too many coefficients")
        self.kept = np.zeros((MOST_KEPT, self.q))
        self.hull_low, self.hull_high = np.zeros(self.q), np.zeros(self.q)

    cdef Strip strip(self, index i, const real *center, const real *half) noexcept nogil:
        """Where a sample's residual may be in a box (JL6)."""
        cdef Strip s
        cdef int j
        cdef real size = fabs(self.y[i]), z
        s.middle, s.half = self.y[i], 0
        for j in range(self.q):
            z = self.Z[i, j]
            s.middle -= z * center[j]
            s.half += fabs(z) * half[j]
            size += fabs(z) * (fabs(center[j]) + half[j])
        s.half = (s.half + 4 * 2.0 ** -53 * fabs(s.middle)) * UPWARD
        s.off = OF_RESIDUAL * size
        s.root = (self.roots[i] + s.off) * UPWARD
        return s

    cdef real bound(self, const real *low, const real *high, const int32_t *given, index n_given, int32_t *active,
                    index *n_active, real *best, int *widest) noexcept nogil:
        """At least what a class with its fit in a box saves; OUT active: samples it may gain by; best; widest."""
        cdef Sum total
        cdef Strip s
        cdef Quadratic part
        cdef int q = self.q, j, k
        cdef index a, i, kept = 0
        cdef real center[MOST_COEFFICIENTS]
        cdef real half[MOST_COEFFICIENTS]
        cdef real weight, linear, curved, z, wide, found, margin, most = -1, near
        total.level = total.magnitude = total.of_fits = total.magnitude_of_fits = total.of_all = 0
        for j in range(q):
            center[j] = low[j] + 0.5 * (high[j] - low[j])
            half[j] = max(high[j] - center[j], center[j] - low[j]) * UPWARD
            total.slope[j] = total.doubt[j] = 0
            for k in range(q):
                total.bend[j][k] = 0
        for a in range(n_given):
            i = given[a]
            s = self.strip(i, center, half)
            near = fabs(s.middle) - s.half
            if near >= s.root:
                continue
            active[kept] = <int32_t> i
            kept += 1
            part = majorant(s)
            weight = self.w[i]
            total.level += weight * (part.level + (part.slope - part.bend * s.middle) * s.middle)
            total.magnitude += weight * part.magnitude
            total.of_all += weight * s.root * s.root
            linear, curved = weight * (2 * part.bend * s.middle - part.slope), weight * part.bend
            for j in range(q):
                z = self.Z[i, j]
                total.slope[j] += linear * z
                for k in range(j + 1):
                    total.bend[j][k] += curved * z * self.Z[i, k]
                if part.doubtful:
                    total.doubt[j] += weight * fabs(z) * s.root
            wide = s.root * s.root + (2 * s.off + s.half) * s.half
            if wide > s.middle * s.middle:
                total.of_fits += weight * (wide - s.middle * s.middle)
                total.magnitude_of_fits += weight * wide
        n_active[0] = kept
        total.n_terms = kept
        widest[0] = 0
        for j in range(q):
            for k in range(j):
                total.bend[k][j] = total.bend[j][k]
            found = total.doubt[j] * half[j]
            if found > most:
                most = found
                widest[0] = j
        found = self.highest(&total, half, best)
        for j in range(q):
            best[j] = min(max(center[j] + best[j], low[j]), high[j])
        margin = OF_SUM * (total.n_terms + 100)
        found = min(found + margin * total.magnitude, total.of_fits + margin * total.magnitude_of_fits)
        return max(min(found, total.of_all * (1 + margin)), 0.0)

    cdef real highest(self, Sum *total, const real *half, real *x) noexcept nogil:
        """At least the maximum of a sum over the box; OUT x: about where that is, from the middle (JL4)."""
        cdef int q = self.q, j, k
        cdef index _sweep
        cdef real slope, found, moved, new
        for j in range(q):
            x[j] = 0
        for _sweep in range(SWEEPS):
            moved = 0
            for j in range(q):
                slope = total.slope[j]
                for k in range(q):
                    if k != j:
                        slope -= 2 * total.bend[j][k] * x[k]
                if total.bend[j][j] > 0:
                    new = min(max(0.5 * slope / total.bend[j][j], -half[j]), half[j])
                else:
                    new = half[j] if slope > 0 else -half[j] if slope < 0 else 0.0
                moved = max(moved, fabs(new - x[j]) - 1e-6 * half[j])
                x[j] = new
            if not moved > 0:
                break
        found = total.level
        for j in range(q):
            slope = total.slope[j]
            for k in range(q):
                slope -= 2 * total.bend[j][k] * x[k]
                found -= total.bend[j][k] * x[j] * x[k]
            found += total.slope[j] * x[j]
            found += slope * (half[j] - x[j]) if slope > 0 else -slope * (half[j] + x[j])
        return found

    cdef real value(self, const real *b, const int32_t *active, index n_active) noexcept nogil:
        """G at coefficients, by the samples that count."""
        cdef index a
        cdef real total = 0
        for a in range(n_active):
            total += max(self.saving(active[a], b), 0.0)
        return total

    cdef real saving(self, index i, const real *b) noexcept nogil:
        cdef real e = self.residual(i, b)
        return self.w[i] * (self.prices[i] - e * e)

    cdef real residual(self, index i, const real *b) noexcept nogil:
        cdef int j
        cdef real e = self.y[i]
        for j in range(self.q):
            e -= self.Z[i, j] * b[j]
        return e

    cdef void leave(self, const real *low, const real *high, real upper) noexcept nogil:
        """A box is not divided any more: its bound counts."""
        cdef int j
        self.open_bound = max(self.open_bound, upper)
        if upper > self.keep:
            for j in range(self.q):
                self.hull_low[j] = min(self.hull_low[j], low[j])
                self.hull_high[j] = max(self.hull_high[j], high[j])

    cdef void explore(self, const real *low, const real *high, real upper, const int32_t *given, index n_given,
                      int depth) noexcept nogil:
        """A box, whose bound is at most `upper`: bounded, and if need be in halves."""
        cdef int q = self.q, j, widest = 0
        cdef real *side
        cdef real *best
        cdef index n_active = 0
        cdef int32_t *active
        cdef real found, middle
        if self.ended or self.stop.poll(0) or self.n_cells >= self.most_cells or depth >= MOST_DEPTH:
            self.ended = True
            self.leave(low, high, upper)
            return
        side = <real *> malloc(2 * q * sizeof(real) + max(n_given, 1) * sizeof(int32_t))
        if side == NULL:
            self.ended = True
            self.leave(low, high, upper)
            return
        best, active = side + q, <int32_t *> (side + 2 * q)
        self.n_cells += 1
        found = min(upper, self.bound(low, high, given, n_given, active, &n_active, best, &widest))
        if not found > self.limit:
            self.leave(low, high, found)
        elif self.value(best, active, n_active) > self.limit:
            # prices that are beaten prove nothing of use: no need to look closer
            for j in range(q):
                self.kept[self.n_kept, j] = best[j]
            self.n_kept += 1
            self.leave(low, high, found)
            self.ended = self.n_kept == self.kept.shape[0]
        else:
            middle = low[widest] + 0.5 * (high[widest] - low[widest])
            if not (low[widest] < middle < high[widest]):  # rounding alone keeps it open
                self.leave(low, high, found)
            else:
                for j in range(q):
                    side[j] = high[j]
                side[widest] = middle
                if best[widest] <= middle:  # first where more is saved
                    self.explore(low, side, found, active, n_active, depth + 1)
                for j in range(q):
                    side[j] = low[j]
                side[widest] = middle
                self.explore(side, high, found, active, n_active, depth + 1)
                if best[widest] > middle:
                    for j in range(q):
                        side[j] = high[j]
                    side[widest] = middle
                    self.explore(low, side, found, active, n_active, depth + 1)
        free(side)

    cdef void set_prices(self, prices):
        self.prices = np.ascontiguousarray(np.maximum(prices, 0.0))
        self.roots = np.sqrt(self.prices)

    def search(self, prices, const real[::1] low, const real[::1] high, real limit, real keep, index most_cells):
        """Prove that no class with its fit in a box saves more than a limit, or find coefficients that do.

        Parameters
        ----------
        prices : ndarray, shape (N,)
        low, high : ndarray, shape (q,)
        limit, keep : float
            What is proved not to be exceeded, and what a class saves at least that is looked for.
        most_cells : int

        Returns
        -------
        sup : float
            At least what a class with its fit in the box saves, and at least the limit.
        found : ndarray, shape (m, q)
            Coefficients that save more than the limit.
        hull : tuple of ndarray, shape (q,), (q,), or None
            A box with all fits of classes that save more than `keep`; None: there are none.
        """
        self.set_prices(prices)
        cdef int32_t[::1] every = np.flatnonzero(np.asarray(self.prices) > 0.0).astype(np.int32)
        cdef index n_every = len(every)
        cdef int32_t nothing = 0
        self.limit, self.keep, self.most_cells = limit, keep, most_cells
        self.n_cells, self.n_kept, self.ended, self.open_bound = 0, 0, False, limit
        self.hull_low[:], self.hull_high[:] = INFINITY, -INFINITY
        with nogil:
            self.explore(&low[0], &high[0], INFINITY, &every[0] if n_every else &nothing, n_every, 0)
        hull = None if self.hull_low[0] > self.hull_high[0] else (np.array(self.hull_low), np.array(self.hull_high))
        return self.open_bound, np.array(self.kept[:self.n_kept]), hull

    @property
    def cells(self):
        """Boxes bounded in the last search."""
        return self.n_cells

    cdef void fit(self, real (*bend)[MOST_COEFFICIENTS], const real *slope, const real *low, const real *high,
                  real *b) noexcept nogil:
        """About the least of b' bend b - 2 slope'b within low and high; coefficients that do not matter stay."""
        cdef real work[MOST_COEFFICIENTS][MOST_COEFFICIENTS]
        cdef real x[MOST_COEFFICIENTS]
        cdef int q = self.q, j, k, m
        cdef index _sweep
        cdef real factor, rest
        cdef bint inside = True
        for j in range(q):
            x[j] = slope[j]
            for k in range(q):
                work[j][k] = bend[j][k]
                x[j] -= bend[j][k] * b[k]
        for j in range(q):  # Gauss; without pivots, as the matrix is positive definite
            if not work[j][j] > SINGULAR * bend[j][j]:
                inside = False
                break
            for k in range(j + 1, q):
                factor = work[k][j] / work[j][j]
                for m in range(j, q):
                    work[k][m] -= factor * work[j][m]
                x[k] -= factor * x[j]
        if inside:
            for j in range(q - 1, -1, -1):
                for k in range(j + 1, q):
                    x[j] -= work[j][k] * x[k]
                x[j] /= work[j][j]
            for j in range(q):
                inside = inside and low[j] <= b[j] + x[j] <= high[j]
        if inside:
            for j in range(q):
                b[j] += x[j]
            return
        for _sweep in range(4 * SWEEPS):
            for j in range(q):
                rest = slope[j]
                for k in range(q):
                    if k != j:
                        rest -= bend[j][k] * b[k]
                if bend[j][j] > 0:
                    b[j] = min(max(rest / bend[j][j], low[j]), high[j])

    def members(self, prices, const real[::1] b):
        """Samples that coefficients gain by, ascending."""
        self.set_prices(prices)
        cdef index i, kept = 0
        cdef int32_t[::1] own = np.empty(self.n, dtype=np.int32)
        with nogil:
            for i in range(self.n):
                if self.saving(i, &b[0]) > 0:
                    own[kept] = <int32_t> i
                    kept += 1
        return np.array(own[:kept])

    cdef void gather(self, index i, real (*bend)[MOST_COEFFICIENTS], real *slope) noexcept nogil:
        """Add a sample to normal equations."""
        cdef int j, k
        cdef real weighted
        for j in range(self.q):
            weighted = self.w[i] * self.Z[i, j]
            slope[j] += weighted * self.y[i]
            for k in range(self.q):
                bend[j][k] += weighted * self.Z[i, k]

    def ascend(self, prices, starts, const real[::1] low, const real[::1] high, int max_iter=60):
        """Local maxima of G in a box: alternately the samples that coefficients gain by, and their fit.

        Returns
        -------
        values (m,), coefficients (m, q)
        """
        cdef real bend[MOST_COEFFICIENTS][MOST_COEFFICIENTS]
        cdef real slope[MOST_COEFFICIENTS]
        found = np.clip(np.array(starts, dtype=np.float64, order="C").reshape(-1, self.q), low, high)
        cdef real[:, ::1] at = found
        cdef real[::1] values = np.zeros(len(found))
        cdef index m, i
        cdef int j, k, _turn
        cdef real total, before, own
        self.set_prices(prices)
        with nogil:
            for m in range(at.shape[0]):
                before = -1
                for _turn in range(max_iter):
                    total = 0
                    for j in range(self.q):
                        slope[j] = 0
                        for k in range(self.q):
                            bend[j][k] = 0
                    for i in range(self.n):
                        own = self.saving(i, &at[m, 0])
                        if own > 0:
                            total += own
                            self.gather(i, bend, slope)
                    values[m] = total
                    if not total > before * GAINED:
                        break
                    before = total
                    self.fit(bend, slope, &low[0], &high[0], &at[m, 0])
        return np.asarray(values), found

    def descend(self, start, const real[::1] low, const real[::1] high, int max_iter=300):
        """Alternately the class of every sample, by its least residual, and the fits of the classes.

        Parameters
        ----------
        start : ndarray, shape (K, q)
        low, high : ndarray, shape (q,)
            A box that has all fits.

        Returns
        -------
        labels (N,), coefficients (K, q), sum of squares, and whether it came to rest
        """
        found = np.array(start, dtype=np.float64, order="C")
        cdef real[:, ::1] at = found
        cdef int K = at.shape[0], k, best
        cdef index i
        cdef int _turn
        cdef int32_t[::1] labels = np.full(self.n, -1, dtype=np.int32)
        cdef real[:, ::1] slopes = np.zeros((K, MOST_COEFFICIENTS))
        cdef real[:, :, ::1] bends = np.zeros((K, MOST_COEFFICIENTS, MOST_COEFFICIENTS))
        cdef real total = INFINITY, before, own, least
        cdef bint changed, at_rest = False
        with nogil:
            for _turn in range(max_iter):
                before, total, changed = total, 0, False
                slopes[:] = 0
                bends[:] = 0
                for i in range(self.n):
                    best, least = 0, INFINITY
                    for k in range(K):
                        own = self.residual(i, &at[k, 0])
                        if own * own < least:
                            best, least = k, own * own
                    total += self.w[i] * least
                    changed = changed or labels[i] != best
                    labels[i] = best
                    self.gather(i, <real (*)[MOST_COEFFICIENTS]> &bends[best, 0, 0], &slopes[best, 0])
                if not changed or not total < before:
                    at_rest = True
                    break
                for k in range(K):
                    self.fit(<real (*)[MOST_COEFFICIENTS]> &bends[k, 0, 0], &slopes[k, 0], &low[0], &high[0], &at[k, 0])
        return np.asarray(labels), found, total, at_rest
