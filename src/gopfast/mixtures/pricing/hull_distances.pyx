"""What a cluster of samples can save at most, by the distance of the component from one point, in any direction.

The samples of a cluster, less its component's mean, are in bins of similar length a, and these in blocks. Of a
component at distance r, with c the cosine of its direction and the sample's,

    y  =  log scale + price + (d / 2) log s - s (a^2 + r^2) / 2 + s r a c  <=  top - slope (1 - c).

A polynomial in c that is nowhere below max(0, this) has a largest sum over a block: of degree two by a matrix of the
bins, of degree four, k (c + g)^4, by a number of the block that is found once. The same holds for min(1, exp(y)).

Theory: (YD1) of docs/theory/distances.md.
"""

import numpy as np

from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY, exp, fabs, sqrt
from libc.string cimport memset

from gopfast.mixtures.pricing.hull_loops cimport (
    HULL_LINES, hull_add_bin, hull_draw, hull_largest, hull_lines
)
from gopfast.mixtures.pricing.tuning cimport LEAST_LOG, NOTHING
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport index, real

cdef enum:
    N_SHIFTS = 8    # at most: size of arrays in C


cdef class DistanceTable:
    """
    Bins of a cluster's samples, and bounds over shells around it.

    Parameters
    ----------
    low, high : ndarray, shape (B,)
        Least and largest length of each bin's samples, rounded outwards.
    prices : ndarray, shape (B,)
        Largest price less precision * length^2 / 2, rounded up.
    weights : ndarray, shape (B,)
    linear : ndarray, shape (B, p)
        Sums of weights times directions, none of which is longer than 1.
    square : ndarray, shape (B, p (p + 1) / 2)
        Of weights times products of directions: lower halves, row by row.
    starts : ndarray of int, shape (blocks + 1,)
        Where each block's bins begin.
    shifts : ndarray, shape (m,)
        The numbers g, at most 8.
    fourth : ndarray, shape (blocks, m)
        At least the sum over the block of weights times (c + g)^4, of every direction.
    precision : float
        Of the component from whose mean lengths are taken.
    n_columns : int
        d, for the precision's logarithm; 0 where precisions are 1.
    n_samples : int
    n_threads : int
    """

    cdef readonly int n_across, n_columns, n_threads, n_shifts
    cdef readonly index n_bins, n_blocks, n_samples, n_terms
    cdef real precision, total_weight
    cdef const real[::1] low, high, prices, weights, shifts
    cdef const real[:, ::1] linear, square, fourth
    cdef const int[::1] starts
    cdef real[:, ::1] work

    def __init__(self, low, high, prices, weights, linear, square, starts, shifts, fourth, real precision,
                 int n_columns, index n_samples, int n_threads=1):
        cdef int p = linear.shape[1]
        self.low, self.high, self.prices, self.weights = low, high, prices, weights
        self.linear, self.square, self.shifts, self.fourth = linear, square, shifts, fourth
        self.starts = np.ascontiguousarray(starts, dtype=np.intc)
        self.n_bins, self.n_blocks, self.n_across, self.n_shifts = len(low), len(starts) - 1, p, len(shifts)
        if self.n_shifts > N_SHIFTS:
            raise ValueError("more than 8 shifts")
        self.precision, self.n_columns, self.n_samples, self.n_threads = precision, n_columns, n_samples, n_threads
        self.total_weight, self.n_terms = np.sum(weights), 0
        self.work = np.zeros((n_threads, 8 * self.n_bins + 2 * p + p * (p + 1) + 64))

    def bound(self, real s_low, real s_high, real log_low, real log_high, radii, log_scales):
        """
        Bounds for components whose precision is in a range, and distance in one of some shells.

        Parameters
        ----------
        s_low, s_high : float
            Precision, rounded outwards.
        log_low, log_high : float
            d / 2 times its logarithm.
        radii : ndarray, shape (m + 1,)
            Ends of the shells, ascending.
        log_scales : ndarray, shape (L,)

        Returns
        -------
        saved, mass : ndarray, shape (m, L)
            At least the sums of w max(0, y) and of w min(1, exp(y)).
        """
        cdef const real[::1] r = np.ascontiguousarray(radii), scales = np.ascontiguousarray(log_scales)
        cdef index m = r.shape[0] - 1, i
        cdef real[:, ::1] saved = np.zeros((m, len(log_scales))), mass = np.zeros((m, len(log_scales)))
        cdef hull_lines lines
        hull_draw(self.n_columns, s_low, s_high, log_low, log_high, &lines)
        for i in prange(m, schedule="dynamic", num_threads=self.n_threads, nogil=True):
            self.of_shell(&lines, r[i], r[i + 1], s_low, &scales[0], scales.shape[0], &self.work[threadid(), 0],
                          &saved[i, 0], &mass[i, 0])
        self.n_terms += m * self.n_bins
        return np.asarray(saved), np.asarray(mass)

    cdef void of_shell(self, const hull_lines *lines, real r_low, real r_high, real s_low, const real *scales, index L,
                       real *work, real *saved, real *mass) noexcept nogil:
        """OUT: bounds of a shell for all scales."""
        cdef index j, l
        cdef real *tops = work
        cdef real *slopes = work + self.n_bins
        for j in range(self.n_bins):
            tops[j] = self.top(lines, j, r_low, r_high)
            slopes[j] = s_low * r_low * self.low[j] * (1 - 8 * ROUND)
        for l in range(L):
            self.add_up(tops, slopes, scales[l], work + 2 * self.n_bins, saved + l, mass + l)

    cdef real top(self, const hull_lines *lines, index j, real r_low, real r_high) noexcept nogil:
        """The largest y of a bin but for log scale: where c = 1."""
        cdef real a[5]
        cdef real found = -INFINITY, value, away, slope, size = 0
        cdef int n, i, k
        for i in range(HULL_LINES):
            slope = -2 * lines.slope[i]
            a[0], a[1] = self.low[j], self.high[j]
            a[2], a[3] = min(max(r_low, a[0]), a[1]), min(max(r_high, a[0]), a[1])
            n = 4
            if slope > self.precision:  # concave beyond the shell: where the derivative is 0
                a[4] = min(max(slope * r_high / (slope - self.precision), a[3]), a[1])
                n = 5
            for k in range(n):
                away = max(0.0, max(a[k] - r_high, r_low - a[k]))
                value = lines.constant[i] - 0.5 * slope * away * away + 0.5 * self.precision * a[k] * a[k]
                found = max(found, value)
                size = max(size, fabs(lines.constant[i]) + slope * away * away + self.precision * a[k] * a[k])
        return found + self.prices[j] + 64 * ROUND * (size + fabs(self.prices[j]) + 1)

    cdef void add_up(self, const real *tops, const real *slopes, real log_scale, real *work, real *saved,
                     real *mass) noexcept nogil:
        """OUT: bounds at one scale, the better of ranges and polynomials."""
        cdef int p = self.n_across, P = p * (p + 1) // 2, q
        cdef index block, j, B = self.n_bins
        cdef real *above = work     # (3, B): constant, linear and square coefficients of what is saved,
        cdef real *below = work + 3 * B     # and of the mass
        cdef real *forms = work + 6 * B     # (2, p + P)
        cdef real fourths[N_SHIFTS]
        cdef real of_mass[N_SHIFTS]
        cdef real rest[N_SHIFTS]
        cdef real plain = 0, value = 0, size = 0, own, best, w, weight, most
        cdef real plain_mass = 0, mass_value = 0, mass_size = 0, own_mass, error = 4 * ROUND * (self.n_samples + 64)
        memset(forms, 0, 2 * (p + P) * sizeof(real))
        for block in range(self.n_blocks):
            memset(fourths, 0, sizeof(fourths))
            memset(of_mass, 0, sizeof(of_mass))
            memset(rest, 0, sizeof(rest))
            own, own_mass, weight = 0, 0, 0
            for j in range(self.starts[block], self.starts[block + 1]):
                w = self.weights[j]
                weight += w
                most = tops[j] + log_scale
                if most < NOTHING:  # nothing is saved, and next to no mass is there
                    most = exp(max(most, LEAST_LOG)) * (1 + 16 * ROUND)
                    above[3 * j] = above[3 * j + 1] = above[3 * j + 2] = 0
                    below[3 * j], below[3 * j + 1], below[3 * j + 2] = most, 0, 0
                    for q in range(self.n_shifts):
                        rest[q] = max(rest[q], most)
                    own_mass += w * most
                    plain_mass += w * most
                    mass_size += w
                    continue
                self.majorants(tops[j] + log_scale, slopes[j], above + 3 * j, below + 3 * j, fourths, of_mass, rest)
                own += w * (above[3 * j] + above[3 * j + 2] / p)
                own_mass += w * (below[3 * j] + below[3 * j + 2] / p)
                plain += w * max(0.0, tops[j] + log_scale)
                plain_mass += w * exp(min(0.0, max(tops[j] + log_scale, LEAST_LOG)))
                size += w * (fabs(tops[j] + log_scale) + slopes[j])
                mass_size += w
            best = INFINITY
            for q in range(self.n_shifts):
                best = min(best, fourths[q] * self.fourth[block, q])
            if best < own:
                value += best
            else:
                for j in range(self.starts[block], self.starts[block + 1]):
                    self.add_form(j, above + 3 * j, &value, forms)
            best = INFINITY
            for q in range(self.n_shifts):
                best = min(best, of_mass[q] * self.fourth[block, q] + weight * rest[q])
            if best < own_mass:
                mass_value += best
            else:
                for j in range(self.starts[block], self.starts[block + 1]):
                    self.add_form(j, below + 3 * j, &mass_value, forms + p + P)
        value += hull_largest(forms, forms + p, p) + 4 * error * size
        mass_value += hull_largest(forms + p + P, forms + 2 * p + P, p) + 4 * error * mass_size
        saved[0] = max(0.0, min(plain * (1 + error) + error * size, value))
        mass[0] = min(plain_mass * (1 + error) + error * mass_size, mass_value)

    cdef void majorants(self, real top, real slope, real *above, real *below, real *fourths, real *of_mass,
                        real *rest) noexcept nogil:
        """OUT: quadratics in c at least max(0, y) and min(1, exp(y)), y = top - slope (1 - c), |c| <= 1.

        RAISED to the largest of the bins: k of k (c + g)^4 for each g; of masses with a constant beside it.
        """
        cdef real p = self.n_across, g = 1 / p, middle = top - slope, e, x, most, touch, least, constant, square
        cdef int q
        # masses: the largest, or the exponential's series, or a square that touches it where c = 1
        most = exp(min(0.0, max(top, LEAST_LOG))) * (1 + 16 * ROUND)
        below[0], below[1], below[2] = most, 0, 0
        if middle < 0 and slope < 3:
            x = exp(max(middle, LEAST_LOG)) * (1 + 16 * ROUND)
            square = x * (max(exp(slope) - 1 - slope, 0.0) + 64 * ROUND * (1 + slope))
            if x + square / p < most:
                below[0], below[1], below[2] = x, x * slope, square
        # where it is 1, or as near to that as it comes
        touch = 1 - max(top, 0.0) / slope if slope > 0 else -INFINITY
        x = slope * (touch + g) * (1 - 16 * ROUND)
        if x > 4:
            constant = 4 * most * exp(max(-x, LEAST_LOG)) * (1 + 16 * ROUND)
            square = most / ((touch + g) * (touch + g)) * (1 + 16 * ROUND)
            if constant + square * (g * g + 1 / p) < below[0] + below[2] / p:
                below[0], below[1], below[2] = constant + square * g * g, 2 * square * g, square
        for q in range(self.n_shifts):
            g = self.shifts[q]
            x = slope * (touch + g) * (1 - 16 * ROUND)
            if not x > 9:
                of_mass[q] = INFINITY
            else:
                least = (touch + g) * (touch + g)
                of_mass[q] = max(of_mass[q], most / (least * least) * (1 + 64 * ROUND))
                rest[q] = max(rest[q], 16 * most * exp(max(-x, LEAST_LOG)) * (1 + 16 * ROUND))
        above[0] = above[1] = above[2] = 0
        if top <= 0:
            return
        top *= 1 + 8 * ROUND
        if middle >= slope:
            above[0], above[1] = middle, slope
        else:
            e = sqrt(middle * middle + slope * slope / p)
            if e <= top:
                e = max(e, 1e-300)
                x = 0.25 / e
                above[0], above[1] = (middle + e) * (middle + e) * x, 2 * (middle + e) * slope * x
                above[2] = slope * slope * x
            else:
                g = 1 / p
                above[2] = top / ((1 + g) * (1 + g))
                above[0], above[1] = above[2] * g * g, 2 * above[2] * g
        for q in range(self.n_shifts):
            g = self.shifts[q]
            if middle >= slope * g:
                fourths[q] = INFINITY
                continue
            touch = (g - 4 * middle / slope) / 3    # where the line's tangent quartic touches it
            if touch < 1:
                x = slope / (4 * (touch + g) * (touch + g) * (touch + g))
            else:
                least = (1 + g) * (1 + g)
                x = top / (least * least)
            fourths[q] = max(fourths[q], x * (1 + 64 * ROUND))

    cdef void add_form(self, index j, const real *three, real *value, real *forms) noexcept nogil:
        """Add a bin's quadratic."""
        value[0] += self.weights[j] * three[0]
        hull_add_bin(&self.linear[j, 0], &self.square[j, 0], self.n_across, three[1], three[2], forms)
