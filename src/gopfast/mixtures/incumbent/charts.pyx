"""Natural parameters of component families around a solution: what `neighbourhood` asks of them.

A component's log density is eta'T(x) - A(eta) + h(x). Around a center eta^ the chart has coordinates y, a scaled copy
of eta - eta^, with statistics u(x), those T - grad A(eta^) scaled the other way, so that

    log f(x | y) = log f(x | 0) + u(x)'y - D(y),     D(y) = A(eta) - A(eta^) - grad A(eta^)'(eta - eta^) >= 0,

and the Hessian of D at 0 is the identity. Scaled, the D are sums of a few curves:

    Bernoulli          log(1 - p + p exp(t)) - p t,  t = y / sqrt(p (1 - p)) the change of the logit
    Poisson            r (exp(t) - 1 - t),           t = y / sqrt(r) that of the log rate r
    label              the same, r its probability: D = KL(p^ || p) = sum_l p^_l (exp(t_l) - 1 - t_l) with the changes
                       t_l of log p_l, as sum_l p^_l exp(t_l) = sum_l p_l = 1
    exponential        t - log(1 + t),               1 + t that of the rate
    variance of n      n/2 (t - log(1 + t)),         1 + t that of the precision, t = y / sqrt(n / 2),
    and its means      a^2 / (2 (1 + t)),            y = a the change of mean times precision, in standard deviations
    mean alone         a^2 / 2,                      y = a in standard deviations

(covariance matrices: `matrix_charts`).

A probability or rate at the end of its range has no natural parameter; it is a *face*. There a component's density is
that of the columns left at the samples with the face's value; others have no density at the center.

Theory: (Q1) of docs/theory/fourth_order.md; (W4) of docs/theory/fourth_order_weights.md.
"""

import numpy as np

from libc.math cimport INFINITY, exp, fabs, log, log1p, sqrt

from gopfast.mixtures.families.exponential cimport BERNOULLI, EXPONENTIAL, LABEL, POISSON
from gopfast.mixtures.incumbent.margins cimport CHARTS_OUTWARD as OUTWARD
from gopfast.mixtures.incumbent.tuning cimport FACE_WIDTH, LARGEST_CHANGE, LARGEST_LOG, LARGEST_STEP, TINIEST
from gopfast.search.rounding cimport ROUND


cdef class Chart:
    """Coordinates of every component around a center; subclasses write `center_at`, `statistics`, `cell`, `ranges`."""

    def __init__(self, Family family, int n_coordinates):
        cdef int K = family.n_components
        self.family, self.n_components, self.n_columns = family, K, family.n_columns
        self.n_coordinates = n_coordinates
        self.curve, self.partner = np.zeros((2, K * n_coordinates), dtype=np.intc)
        self.size, self.pseudo, self.pull = np.zeros((3, K * n_coordinates))
        self.face = np.zeros(K * family.n_columns, dtype=np.intc)
        self.odds, self.unit = np.zeros(K * family.n_columns), np.ones(K * family.n_columns)
        self.width = 1

    cdef bint center_at(self, real *point, real reach) noexcept nogil:
        return False

    cdef bint statistics(self, index i, int k, real *u) noexcept nogil:
        return True

    cdef void cell(self, int k, real radius, real *low, real *high) noexcept nogil:
        pass

    cdef bint ranges(self, int k, real *low, real *high, real *down, real *up) noexcept nogil:
        return False

    cdef real third(self, int a, int b, int c) noexcept nogil:
        cdef real size = self.size[a]
        if a != b:
            return 0
        if b != c:  # of a location, twice, and its precision
            return -1 / sqrt(0.5 * self.size[c]) if self.curve[a] == LOCATION and self.partner[a] == c else 0
        if self.curve[a] == RATE:
            return 1 / sqrt(size)
        if self.curve[a] == LOGIT:
            return (1 - 2 * size) / sqrt(size * (1 - size))
        return -2 / sqrt(0.5 * size) if self.curve[a] == PRECISION else 0

    cdef real bend(self, int a, const real *down, const real *up) noexcept nogil:
        """|D - |y|^2 / 2| <= 1/2 sum_a bend_a y_a^2 in the reaches down, up (K p,)."""
        cdef real size = self.size[a], most = max(down[a], up[a]), unit
        if self.curve[a] == RATE or self.curve[a] == LOGIT:
            unit = sqrt(size if self.curve[a] == RATE else size * (1 - size))
            return most / unit * exp(most / unit) / 3
        if self.curve[a] == PRECISION:
            unit = sqrt(0.5 * size)
            return 2.0 / 3 * most / unit / (1 - down[a] / unit)
        if self.curve[a] == LOCATION:
            unit = sqrt(0.5 * self.size[self.partner[a]])
            return max(down[self.partner[a]], up[self.partner[a]]) / unit / (1 - down[self.partner[a]] / unit)
        return 0

    cdef real quartic(self, int a, const real *down, const real *up) noexcept nogil:
        """D is at least its cubic less 1/2 sum_a quartic_a y_a^2; only logits have a negative fourth derivative.

        It is s - 6 s^2, s = p (1 - p): concave in s, so that the ends of its range are enough.
        """
        cdef real p = self.size[a], unit, most, one, two, least, largest
        if self.curve[a] != LOGIT:
            return 0
        unit = sqrt(p * (1 - p))
        most = max(down[a], up[a]) / unit
        one, two = log(p / (1 - p)) - down[a] / unit, log(p / (1 - p)) + up[a] / unit
        largest = 0.25 if one < 0 < two else max(variance(one), variance(two))
        least = min(variance(one), variance(two))
        least = min(least * (1 - 6 * least), largest * (1 - 6 * largest))
        return max(0.0, -least) * most * most / (12 * p * (1 - p)) * (1 + 1e-9)

    cdef real excess(self, index i, int k, const real *need, int *first) noexcept nogil:
        """What sample i's impossible values count for in the box (W4), per odds of one column; OUT first: which.

        The product of their odds, powers for counts, but for one factor of the odds of that column: of those that may
        be 0, the one with the least `need` (d,), so that columns share what there is.
        """
        cdef int j, d = self.n_columns
        cdef index n = self.family.data.core.samples.n_padded
        cdef real x, log_odds = 0
        first[0] = -1
        for j in range(d):
            if self.beyond(k * d + j, self.family.data.core.samples.columns[j * n + i]) > 0:
                if first[0] < 0 or need[j] < need[first[0]]:
                    first[0] = j
        for j in range(d):
            x = self.beyond(k * d + j, self.family.data.core.samples.columns[j * n + i])
            if x > 0:
                log_odds -= x * log(self.unit[k * d + j])
                x -= j == first[0]
                if x > 0:
                    if self.odds[k * d + j] == 0:
                        return 0
                    log_odds += x * log(self.odds[k * d + j])
        return exp(min(700.0, log_odds)) * (1 + 1e-9)

    cdef real beyond(self, int a, real x) noexcept nogil:
        """How far a value of column a = k d + j lies beyond its face, 0: it is on it, or there is none."""
        if not self.face[a]:
            return 0
        return x if self.face[a] == AT_LOW else 1 - x

    cdef real slack(self, int k) noexcept nogil:
        """How far the family's costs of component k at the center may lie above the exact ones, where it rounds up."""
        return 0


cdef inline real variance(real logit) noexcept nogil:
    """p (1 - p)."""
    cdef real e = exp(-fabs(logit))
    return e / ((1 + e) * (1 + e))


cdef inline void outward(real *down, real *up, real scale) noexcept nogil:
    down[0] = max(0.0, down[0])
    up[0] = max(0.0, up[0])
    down[0] += OUTWARD * scale * (down[0] > 0)
    up[0] += OUTWARD * scale * (up[0] > 0)


cdef class GaussianChart(Chart):
    """Of `GaussianFamily` with point masses: means, of the variance 1. A prior is of known variance."""

    def __init__(self, GaussianFamily family):
        if not applies(family):
            raise ValueError("the prior's variance is estimated, or the means have a posterior")
        Chart.__init__(self, family, family.n_columns)
        self.gaussian, self.mean = family, np.zeros(family.n_components * family.n_columns)

    @staticmethod
    def applies(GaussianFamily family):
        """Whether a component's log density, and the prior, are quadratic in its mean."""
        return applies(family)

    cdef bint center_at(self, real *point, real reach) noexcept nogil:
        cdef int d = self.n_columns, a, j
        cdef real pseudo = 0
        for a in range(self.n_components * d):
            j = a % d
            if self.gaussian.core.has_prior:
                pseudo = self.gaussian.core.e_low * self.gaussian.core.prior_scale[j]
                self.pull[a] = pseudo * (point[a] - self.gaussian.core.prior_point[j])
            self.mean[a], self.curve[a], self.size[a], self.pseudo[a] = point[a], PARABOLA, 1, pseudo
        return True

    cdef bint statistics(self, index i, int k, real *u) noexcept nogil:
        cdef int d = self.n_columns, j
        cdef const real *columns = self.family.data.core.samples.columns
        cdef index n = self.family.data.core.samples.n_padded
        for j in range(d):
            u[j] = columns[j * n + i] - self.mean[k * d + j]
        return True

    cdef void cell(self, int k, real radius, real *low, real *high) noexcept nogil:
        cdef int d = self.n_columns, j
        for j in range(d):
            low[j], high[j] = self.mean[k * d + j] - radius, self.mean[k * d + j] + radius

    cdef bint ranges(self, int k, real *low, real *high, real *down, real *up) noexcept nogil:
        cdef int d = self.n_columns, j
        cdef real m
        for j in range(d):
            m = self.mean[k * d + j]
            low[j], high[j] = min(low[j], m), max(high[j], m)
            down[j], up[j] = m - low[j], high[j] - m
            outward(&down[j], &up[j], down[j] + up[j])
            if not down[j] <= LARGEST_STEP or not up[j] <= LARGEST_STEP:
                return False
        return True


cdef inline bint applies(GaussianFamily family) noexcept:
    return family.n_ranges == 0 and (not family.core.has_prior or family.core.e_low == family.core.e_high)


cdef class NormalChart(Chart):
    """Of `NormalFamily`: locations, then the precision of each group of coordinates. The floor bounds the precision."""

    def __init__(self, NormalFamily family):
        cdef int K = family.n_components, d = family.n_columns, k, j, p
        if family.n_shared:
            raise ValueError("components share a variance")
        Chart.__init__(self, family, d + family.n_groups)
        p = self.n_coordinates
        self.normal = family
        self.mean, self.scale, self.variance = np.zeros(K * d), np.ones(K * d), np.ones(K * family.n_groups)
        for k in range(K):
            for j in range(d):
                self.curve[k * p + j], self.partner[k * p + j] = LOCATION, k * p + d + j // family.group_size
                self.size[k * p + j] = 1
            for j in range(family.n_groups):
                self.curve[k * p + d + j], self.size[k * p + d + j] = PRECISION, family.group_size

    cdef bint center_at(self, real *point, real reach) noexcept nogil:
        cdef int K = self.n_components, d = self.n_columns, n = self.normal.n_cell, G = self.normal.n_groups, k, j, g
        for k in range(K):
            for g in range(G):
                point[k * n + d + g] = max(1.0, point[k * n + d + g])
                self.variance[k * G + g] = point[k * n + d + g]
            for j in range(d):
                self.mean[k * d + j] = point[k * n + j]
                self.scale[k * d + j] = sqrt(self.variance[k * G + j // self.normal.group_size])
        return True

    cdef bint statistics(self, index i, int k, real *u) noexcept nogil:
        cdef int d = self.n_columns, size = self.normal.group_size, j
        cdef const real *columns = self.family.data.core.samples.columns
        cdef index n = self.family.data.core.samples.n_padded
        for j in range(self.normal.n_groups):
            u[d + j] = 0
        for j in range(d):
            u[j] = (columns[j * n + i] - self.mean[k * d + j]) / self.scale[k * d + j]
            u[d + j // size] += (1 - u[j] * u[j]) / sqrt(2.0 * size)
        return True

    cdef void cell(self, int k, real radius, real *low, real *high) noexcept nogil:
        cdef int d = self.n_columns, G = self.normal.n_groups, j
        cdef real v, factor = exp(radius * sqrt(2.0 / self.normal.group_size))
        for j in range(d):
            low[j] = self.mean[k * d + j] - radius * self.scale[k * d + j]
            high[j] = self.mean[k * d + j] + radius * self.scale[k * d + j]
        for j in range(G):
            v = self.variance[k * G + j]
            low[d + j], high[d + j] = v / factor, v * factor

    cdef bint ranges(self, int k, real *low, real *high, real *down, real *up) noexcept nogil:
        cdef int d = self.n_columns, G = self.normal.n_groups, size = self.normal.group_size, j, g
        cdef real v, unit = sqrt(0.5 * size), t
        for g in range(G):
            v = self.variance[k * G + g]
            low[d + g], high[d + g] = min(low[d + g], v), max(high[d + g], v)
            if low[d + g] <= 1:
                low[d + g] = 0  # all of them have the variance of the floor
            down[d + g] = unit * (high[d + g] - v) / max(1.0, high[d + g])
            up[d + g] = unit * (v / max(1.0, low[d + g]) - 1)
            outward(&down[d + g], &up[d + g], unit * (1 + v / max(1.0, low[d + g])))
            if not down[d + g] <= LARGEST_CHANGE * unit or not up[d + g] <= LARGEST_LOG * unit:
                return False
        for j in range(d):
            low[j], high[j] = min(low[j], self.mean[k * d + j]), max(high[j], self.mean[k * d + j])
            t = (1 + up[d + j // size] / unit) / self.scale[k * d + j]
            down[j], up[j] = (self.mean[k * d + j] - low[j]) * t, (high[j] - self.mean[k * d + j]) * t
            outward(&down[j], &up[j], down[j] + up[j])
        return True


cdef class ExponentialChart(Chart):
    """Of `ExponentialFamily`: one coordinate per column."""

    def __init__(self, ExponentialFamily family):
        Chart.__init__(self, family, family.n_columns)
        self.exponential = family
        self.mean = np.zeros(family.n_components * family.n_columns)

    cdef real parameter(self, const real *point, int j) noexcept nogil:
        """Mean of column j, labels' adding up to 1."""
        cdef real total = 0
        cdef int l
        if self.exponential.kinds[j] != LABEL:
            return self.exponential.mean(j, point[j])
        for l in range(self.n_columns):
            if self.exponential.kinds[l] == LABEL and self.exponential.groups[l] == self.exponential.groups[j]:
                total += point[l]
        return point[j] / total if total > 0 else 0

    cdef bint center_at(self, real *point, real reach) noexcept nogil:
        cdef int K = self.n_components, d = self.n_columns, k, j, a, kind
        cdef real m, nu, chi
        if self.exponential.has_partial:  # D is of all columns, whatever a sample lacks
            return False
        for a in range(K * d):
            j, kind = a % d, self.exponential.kinds[a % d]
            nu, chi = self.exponential.prior_mass[j], self.exponential.prior_moment[j]
            m = point[a]
            self.face[a], self.unit[a], self.odds[a] = NO_FACE, 1, 0
            if kind == EXPONENTIAL:
                if self.exponential.endless[j]:
                    return False
                continue
            if chi == 0 and m <= reach:
                point[a], self.face[a] = 0, AT_LOW
                if kind == POISSON:
                    self.unit[a] = self.exponential.reference[j]
            elif kind == BERNOULLI and nu - chi == 0 and m >= 1 - reach:
                point[a], self.face[a] = 1, AT_HIGH
        for a in range(K * d):
            k, j, kind = a // d, a % d, self.exponential.kinds[a % d]
            nu, chi = self.exponential.prior_mass[j], self.exponential.prior_moment[j]
            m = self.parameter(point + k * d, j)
            self.mean[a], self.pseudo[a] = m, nu
            if self.face[a]:
                self.curve[a], self.size[a], self.pseudo[a], self.pull[a] = NO_CURVE, 1, 0, 0
            elif kind == EXPONENTIAL:
                if not TINIEST < m < 1 / TINIEST:
                    return False
                self.curve[a], self.size[a], self.pull[a] = PRECISION, 2, chi / m - nu
            elif kind == BERNOULLI:
                if not TINIEST < m < 1:
                    return False
                self.curve[a], self.size[a], self.pull[a] = LOGIT, m, (nu * m - chi) / sqrt(m * (1 - m))
            else:
                if not m > TINIEST:
                    return False
                self.curve[a], self.size[a], self.pull[a] = RATE, m, (nu * m - chi) / sqrt(m)
        return True

    cdef bint statistics(self, index i, int k, real *u) noexcept nogil:
        cdef int d = self.n_columns, j, a
        cdef const real *columns = self.family.data.core.samples.columns
        cdef index n = self.family.data.core.samples.n_padded
        cdef real x, m
        cdef bint possible = True
        for j in range(d):
            a = k * d + j
            x, m = columns[j * n + i], self.mean[a]
            u[j] = 0
            if self.face[a]:
                possible = possible and (x <= 0 if self.face[a] == AT_LOW else x >= 1)
            elif self.curve[a] == PRECISION:
                u[j] = (m - x) / m
            else:
                u[j] = (x - m) / sqrt(m if self.curve[a] == RATE else m * (1 - m))
        return possible

    cdef real slack(self, int k) noexcept nogil:
        cdef int d = self.n_columns, j
        cdef real total = 0, m, reference
        for j in range(d):
            m, reference = self.mean[k * d + j], self.exponential.reference[j]
            if self.exponential.kinds[j] == POISSON:
                total += fabs(m - reference) + (m + 1) * fabs(log(m / reference) if m > 0 else 0.0)
            elif 0 < m < INFINITY:
                total += 1 + fabs(log(m)) + (fabs(log1p(-m)) if m < 1 else 0.0)
        return 32 * ROUND * total

    cdef void cell(self, int k, real radius, real *low, real *high) noexcept nogil:
        cdef int d = self.n_columns, j, a
        cdef real m, step
        for j in range(d):
            a = k * d + j
            m = self.mean[a]
            if self.face[a] and self.exponential.kinds[j] == LABEL:
                low[j], high[j] = 0, FACE_WIDTH * radius
            elif self.face[a]:
                low[j], high[j] = self.exponential.low[j], self.exponential.high[j]
                if self.face[a] == AT_LOW:
                    high[j] = min(high[j], self.width)
                else:
                    low[j] = max(low[j], 1 - self.width)
            elif self.curve[a] == PRECISION:
                low[j], high[j] = log(m) - radius, log(m) + radius
            elif self.curve[a] == LOGIT:
                step = exp(min(1.0, radius / sqrt(m * (1 - m))))
                low[j], high[j] = m / (m + (1 - m) * step), m / (m + (1 - m) / step)
            else:
                step = exp(min(1.0, radius / sqrt(m)))
                low[j], high[j] = m / step, m * step

    cdef real spare(self, int k, int j, const real *high) noexcept nogil:
        """Least probability that faces of column j's variable leave to its other labels; 1 for other columns.

        The chart's labels are conditional on not being on a face.
        """
        cdef real left = 1
        cdef int l, d = self.n_columns
        if self.exponential.kinds[j] == LABEL:
            for l in range(d):
                if self.exponential.kinds[l] == LABEL and self.exponential.groups[l] == self.exponential.groups[j]:
                    left -= high[l] if self.face[k * d + l] else 0
        return left - 1e-14 * d if left < 1 else 1

    cdef bint ranges(self, int k, real *low, real *high, real *down, real *up) noexcept nogil:
        cdef int d = self.n_columns, j, a
        cdef real m, least, most, unit, left
        for j in range(d):
            a = k * d + j
            m = self.exponential.coordinate(j, self.mean[a])
            low[j], high[j] = min(low[j], m), max(high[j], m)
        for j in range(d):
            a = k * d + j
            m, down[j], up[j] = self.mean[a], 0, 0
            left = self.spare(k, j, high)
            if not left > 0.5:
                return False
            if self.face[a]:
                most = high[j] if self.face[a] == AT_LOW else 1 - low[j]
                if self.exponential.kinds[j] == LABEL:
                    most /= left
                elif self.exponential.kinds[j] == BERNOULLI:
                    most = most / (1 - most) if most < 1 else INFINITY
                self.odds[a] = min(most, 1e100) * (1 + 1e-12) if most < INFINITY else INFINITY
                continue
            if self.curve[a] == PRECISION:
                down[j], up[j] = 1 - exp(log(m) - high[j]), exp(log(m) - low[j]) - 1
                outward(&down[j], &up[j], (1 + up[j]) * (1 + fabs(low[j]) + fabs(high[j]) + fabs(log(m))))
                if not down[j] <= LARGEST_CHANGE or not up[j] <= LARGEST_LOG:
                    return False
                continue
            least, most = low[j], high[j]
            if self.curve[a] == LOGIT:
                if not 0 < least <= most < 1:
                    return False
                unit = sqrt(m * (1 - m))
                down[j] = log(m / least) + log1p(-least) - log1p(-m)
                up[j] = log(most / m) + log1p(-m) - log1p(-most)
            else:
                if not least > 0:
                    return False
                unit = sqrt(m)
                down[j], up[j] = log(m / least), log(most / left / m)
            if not down[j] <= LARGEST_LOG or not up[j] <= LARGEST_LOG:
                return False
            down[j] *= unit
            up[j] *= unit
            outward(&down[j], &up[j], unit * (8 + fabs(log(m)) + (fabs(log1p(-m)) if m < 1 else 0.0)))
        return True
