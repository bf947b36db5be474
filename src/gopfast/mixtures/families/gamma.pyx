"""Gamma components: a shape and a mean for each column, the first family whose log-partition is not elementary.

With statistics S, T = sum w tau x, L = sum w tau log x, mean m = T / S and spread v = log m - L / S >= 0 a column
costs, per unit of mass and at its best parameters,

    L / S + phi(v),    phi(v) = min over 0 < a <= A of log Gamma(a) - a log a + a + a v,

A the largest shape: phi is concave and increasing in v, as the cost of a free variance is (F3). In a cell m in
[m0, m1], v in [v0, v1] let lambda be the chord of log m. Then omega = lambda(m) - L / S <= v is linear in the
statistics, and

    L / S + phi(v0) + s max(0, omega - v0),    s the slope of phi's chord,

is a minorant: two, as of `normal`. Facets: m0 <= m <= m1; omega <= v1; and v >= v0 by tangents of log m at two points.

Connected variables of a component: log m of each column, then v.

Theory: (O1) to (O4) of docs/theory/gamma.md.
"""

import numpy as np

from libc.math cimport exp, fabs, log, sqrt

from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.mixtures.data.samples cimport Samples
from gopfast.mixtures.families.family cimport bound_mean, clear, half_width, middle_of, order_components
from gopfast.mixtures.families.margins cimport DERIVED_SLACK, NEGLIGIBLE_WIDTH, SHAPE_SLACK, UNKNOWN
from gopfast.mixtures.families.shape cimport shape_cost, shape_of, spread_cost, spread_of
from gopfast.mixtures.families.tuning cimport (
    LEAST_MULTIPLIER, NORMAL_NARROW as NARROW, TANGENT_AT, THIN, TYPICAL_MULTIPLIER, TYPICAL_SHARE_OF_CAP, TYPICAL_SLACK
)
from gopfast.mixtures.families.variance cimport split_factor, split_inside
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport clip

# Facets of a spread, in this order, as of a variance (`normal`).
cdef enum:
    OMEGA_MOST = 0
    SECOND_MINORANT = 1
    LOWER_TANGENT = 2
    UPPER_TANGENT = 3
    SPREAD_FACETS = 4


cdef class GammaFamily(Family):
    """Gamma components, of shapes up to `most`.

    Parameters
    ----------
    data : Samples
        Columns in units of a scale, centre 0; then their logarithms, `late`.
    n_components : int
    most : float
        Largest shape.
    constant, error : float
        What the objective has beside these costs, and what the rounding of the logarithms may change it by.
    """

    def __init__(self, Samples data, int n_components, real most, real constant, real error):
        cdef int j, d = data.n_columns // 2
        cdef real lost
        columns, weights = data.arrays()
        order = np.asarray(data.order)
        self.data, self.n_components, self.d, self.most = data, n_components, d, most
        self.n_columns = self.n_statistics = 2 * d
        self.n_cell, self.n_shared = 2 * d, 0
        self.n_connected = n_components * self.n_cell
        self.n_facets = n_components * d * (2 + SPREAD_FACETS)
        self.has_prior, self.e_power, self.divisible_cells = False, 0.0, True
        self.set_constant(constant, error)
        self.log_at = np.array([np.flatnonzero(order == d + order[j])[0] for j in range(d)], dtype=np.intc)
        self.low, self.high = columns[:d].min(axis=1), columns[:d].max(axis=1)
        logs = columns[np.asarray(self.log_at)]
        self.slack = DERIVED_SLACK * (1 + np.abs(logs).max())
        mean = np.average(columns, axis=1, weights=weights)
        self.spread = np.maximum(np.log(mean[:d]) - mean[np.asarray(self.log_at)], 0.0)
        self.floor = np.array([spread_of(most, &lost)])

    cdef void root(self, real *low, real *high) noexcept nogil:
        cdef int k, j, a, d = self.d
        for k in range(self.n_components):
            for j in range(d):
                a = k * self.n_cell + j
                low[a], high[a] = log(self.low[j]) - self.slack, log(self.high[j]) + self.slack
                low[a + d], high[a + d] = -self.slack, self.largest_spread(j, self.low[j], self.high[j])

    cdef real largest_spread(self, int j, real m0, real m1) noexcept nogil:
        """Concave in m, largest where the chord's slope is 1 / m."""
        cdef real first = self.low[j], last = self.high[j], slope, m
        if not last > first * (1 + NEGLIGIBLE_WIDTH):
            return self.slack
        slope = (log(last) - log(first)) / (last - first)
        m = clip(clip(1 / slope, m0, m1), first, last)
        return (log(m) - log(first) - slope * (m - first)) * (1 + DERIVED_SLACK) + 2 * self.slack

    cdef bint tighten(self, real *low, real *high) noexcept nogil:
        return order_components(self.n_components, self.n_cell, low, high) and self.tighten_alone(low, high)

    cdef bint tighten_alone(self, real *low, real *high) noexcept nogil:
        """Spreads that no samples of such a mean have."""
        cdef int k, j, a, d = self.d
        for k in range(self.n_components):
            for j in range(d):
                a = k * self.n_cell + j
                high[a + d] = min(high[a + d], self.largest_spread(j, exp(low[a]) * (1 - 8 * ROUND),
                                                                   exp(high[a]) * (1 + 8 * ROUND)))
                if low[a + d] > high[a + d]:
                    return 0
        return 1

    cdef void open_cell(self, const real *low, const real *high, int j, GammaCell *cell) noexcept nogil:
        """low, high: of one component's cell."""
        cdef real l0, l1, g1, size
        cell.m0, cell.m1 = exp(low[j]) * (1 - 4 * ROUND), exp(high[j]) * (1 + 4 * ROUND)
        cell.center = middle_of(cell.m0, cell.m1)
        cell.half = half_width(cell.m0, cell.m1, cell.center)
        l0, l1 = log(cell.m0), log(cell.m1)
        cell.slope = (l1 - l0) / (cell.m1 - cell.m0) if cell.m1 > cell.m0 else 1 / cell.m0
        # any slope will do, if the line lies below the logarithm at both ends
        cell.level = min(l0 + cell.slope * (cell.center - cell.m0), l1 - cell.slope * (cell.m1 - cell.center))
        cell.level -= 16 * ROUND * (fabs(l0) + fabs(l1) + cell.slope * cell.half)
        cell.v0, cell.v1 = low[self.d + j], high[self.d + j]
        cell.base, cell.chord = spread_cost(cell.v0, self.most), shape_of(cell.v1, self.most)
        g1 = spread_cost(cell.v1, self.most)
        if cell.v1 > cell.v0 and cell.base > UNKNOWN and g1 > UNKNOWN:
            size = 16 * ROUND * (1 + fabs(cell.base) + fabs(g1))
            cell.chord = max(cell.chord, (g1 - cell.base - size) / (cell.v1 - cell.v0))
        cell.chord *= 1 - SHAPE_SLACK  # a flatter line through its value at v0 is a minorant too

    cdef void relax(self, const real *low, const real *high, Subproblem *out) noexcept nogil:
        cdef int k, j, at, log_at, d = self.d
        cdef real log_center, inner
        cdef pass_costs *costs = &out.minorant
        cdef Facet *facet = out.facets
        cdef GammaCell cell
        out.constant = out.prior = out.e_low = out.e_high = 0
        for k in range(self.n_components):
            costs.offsets[k] = 0
            for j in range(d):
                self.open_cell(low + k * self.n_cell, high + k * self.n_cell, j, &cell)
                at, log_at = k * 2 * d + j, k * 2 * d + self.log_at[j]
                log_center = cell.level - cell.v0  # omega is v0 at both centers, but for rounding
                costs.centers[at], costs.centers[log_at] = cell.center, log_center
                costs.linear[at], costs.linear[log_at] = cell.chord * cell.slope, 1 - cell.chord
                costs.quadratic[at] = costs.quadratic[log_at] = 0
                # base + log_center + chord (level - log_center - v0)
                inner = cell.chord * ROUND * (fabs(cell.level) + fabs(log_center) + fabs(cell.v0))
                costs.offsets[k] -= cell.base + log_center
                costs.offsets[k] += 16 * inner + 16 * ROUND * (1 + fabs(cell.base) + fabs(log_center))
                # the slopes are rounded once each, of a whole that is at most this far from the centers
                costs.offsets[k] += 4 * ROUND * (cell.chord * cell.slope * self.high[j] + (1 + cell.chord) * (
                    fabs(log_center) + fabs(log(self.low[j])) + fabs(log(self.high[j]))))
                facet = self.bound_column(facet, k, j, &cell, log_center)
            costs.offsets[k] += 4 * d * ROUND * fabs(costs.offsets[k])

    cdef Facet *bound_column(self, Facet *facet, int k, int j, const GammaCell *cell, real log_center) noexcept nogil:
        cdef int d = self.d, F = 1 + 2 * d, which, x = 1 + j, y = 1 + self.log_at[j]
        cdef real mass = self.data.core.total_weight / self.n_components, error, half, widest, t, rounding, multiplier
        cdef real top = fabs(cell.level) + fabs(log_center) + fabs(cell.v0) + fabs(cell.v1)
        facet = bound_mean(facet, cell.half > THIN * cell.m1, k * F, F, j, cell.half, mass,
                           TYPICAL_MULTIPLIER * cell.chord * (1 / cell.m0 - cell.slope))
        half, rounding = 0.5 * (cell.v1 - cell.v0), 16 * ROUND * (1 + top)
        widest = log(cell.center) - cell.level
        error = max(0.0, spread_cost(0.5 * (cell.v0 + cell.v1), self.most) - cell.base - cell.chord * half)
        multiplier = max(TYPICAL_MULTIPLIER * error / half if half > 0 else 0.0, LEAST_MULTIPLIER * cell.chord)
        for which in range(SPREAD_FACETS):
            clear(facet, half > THIN * (1 + top), k * F, F)
            facet.multiplier, facet.slack = multiplier, TYPICAL_SLACK * max(half, 1e-12) * mass
            if which == OMEGA_MOST:
                facet.coefficients[0] = cell.v1 - cell.level + log_center + rounding
                facet.coefficients[x], facet.coefficients[y] = -cell.slope, 1
            elif which == SECOND_MINORANT:
                # What the minorant holds: its rounding is in the minorant's.
                facet.active = widest > NARROW * cell.v1
                facet.coefficients[0] = 0
                facet.coefficients[x], facet.coefficients[y] = cell.slope, -1
                facet.cap, facet.multiplier = cell.chord * (1 - 4 * ROUND), TYPICAL_SHARE_OF_CAP * cell.chord
                facet.slack = TYPICAL_SLACK * max(widest, 1e-12) * mass
            else:
                facet.active = facet.active and cell.v0 > 0
                t = cell.center + (TANGENT_AT if which == UPPER_TANGENT else -TANGENT_AT) * cell.half
                facet.multiplier = multiplier / (SPREAD_FACETS - LOWER_TANGENT)
                facet.coefficients[0] = log(t) + (cell.center - t) / t - log_center - cell.v0 + rounding
                facet.coefficients[0] += 16 * ROUND * fabs(log(t))
                facet.coefficients[x], facet.coefficients[y] = 1 / t, -1
            # slopes are rounded: so much more at the largest sample
            facet.coefficients[0] += 4 * ROUND * fabs(facet.coefficients[x]) * self.high[j] if (
                which != SECOND_MINORANT) else 0.0
            facet += 1
        return facet

    cdef void split_points(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                           const real *moments, real e, real *point, real *error) noexcept nogil:
        cdef int k, j, a, b, d = self.d
        cdef real s, m, v, lost, room
        cdef GammaCell cell
        for k in range(self.n_components):
            s = mass[k]
            for j in range(d):
                a, b = k * self.n_cell + j, k * self.n_cell + d + j
                self.open_cell(low + k * self.n_cell, high + k * self.n_cell, j, &cell)
                m = cell.center + (moments[k * 2 * d + j] / s if s > 0 else 0)
                m = clip(m, cell.m0, cell.m1)
                v = log(m) - sub.minorant.centers[k * 2 * d + self.log_at[j]]
                v -= moments[k * 2 * d + self.log_at[j]] / s if s > 0 else 0
                v = clip(v, low[b], high[b])
                error[b] = s * max(0.0, spread_cost(v, self.most) - cell.base - cell.chord * (v - low[b]))
                point[b] = split_factor(v, low[b], high[b], self.floor[0])
                lost = max(0.0, log(m) - cell.level - cell.slope * (m - cell.center))
                # omega is not below v0, by the second minorant
                room = min(1.0, (v - low[b]) / lost) if lost > 0 else 1
                error[a] = s * cell.chord * room * lost
                point[a] = split_inside(clip(log(m), low[a], high[a]), low[a], high[a], sqrt(2 * point[b]))

    cdef void costs(self, const real *point, pass_costs *out) noexcept nogil:
        cdef int k, j, at, log_at, d = self.d
        cdef real m, a, value, error
        for k in range(self.n_components):
            out.offsets[k] = 0
            for j in range(d):
                at, log_at = k * 2 * d + j, k * 2 * d + self.log_at[j]
                m, a = exp(point[k * self.n_cell + j]), shape_of(point[k * self.n_cell + d + j], self.most)
                value = shape_cost(a, &error)
                out.centers[at], out.centers[log_at] = m, log(m)
                out.linear[at], out.linear[log_at] = a / m, 1 - a
                out.quadratic[at] = out.quadratic[log_at] = 0
                out.offsets[k] -= value + log(m) + error + 8 * ROUND * (a + fabs(log(m)))

    cdef void maximise(self, const real *mass, const real *moments, real e, const pass_costs *costs,
                       real *point) noexcept nogil:
        cdef int k, j, at, log_at, d = self.d
        cdef real m, mean_log
        for k in range(self.n_components):
            if not mass[k] > 0:
                continue
            for j in range(d):
                at, log_at = k * 2 * d + j, k * 2 * d + self.log_at[j]
                m = clip(costs.centers[at] + moments[at] / mass[k], self.low[j], self.high[j])
                mean_log = costs.centers[log_at] + moments[log_at] / mass[k]
                point[k * self.n_cell + j] = log(m)
                point[k * self.n_cell + d + j] = max(0.0, log(m) - mean_log)

    cdef void seed(self, const real *centers, real *point) noexcept nogil:
        """Means at the samples, spreads of a K-th of a column's deviation."""
        cdef int k, j, d = self.d, K = self.n_components
        for k in range(K):
            for j in range(d):
                point[k * self.n_cell + j] = log(clip(centers[k * 2 * d + j], self.low[j], self.high[j]))
                point[k * self.n_cell + d + j] = max(self.floor[0], self.spread[j] / (K * K))

    def places(self, columns, weights):
        """Logarithms in units of their deviations."""
        logs = np.asarray(columns)[np.asarray(self.log_at)]
        return np.sqrt(self.metric()[np.asarray(self.log_at)])[:, np.newaxis] * logs

    def provable(self):
        """Itself."""
        return self

    def one_component(self, problem, data=None):
        """The same columns and largest shape."""
        return GammaFamily(data or self.data, 1, self.most, self.constant, self.constant_error)

    def parameters(self, vector):
        """Rates and shapes (K, d)."""
        cdef int d = self.d
        cells = np.asarray(vector)[self.n_components:][:self.n_connected].reshape(self.n_components, self.n_cell)
        order, scale = np.asarray(self.data.order)[:d], np.asarray(self.data.scale)[:d]
        shapes, rates = np.empty((2, self.n_components, d))
        shapes[:, order] = [[shape_of(v, self.most) for v in row] for row in cells[:, d:].tolist()]
        rates[:, order] = np.exp(-cells[:, :d])
        return {"rates": shapes * rates / scale, "shapes": shapes}

    def pack(self, rates, shapes):
        """Connected variables (n_connected,) of the user's rates and shapes."""
        cdef real lost
        order, scale = np.asarray(self.data.order)[:self.d], np.asarray(self.data.scale)[:self.d]
        shapes = np.minimum(np.asarray(shapes, dtype=float), self.most)
        means = np.log(shapes / np.asarray(rates, dtype=float) / scale)[:, order]
        spreads = np.array([[spread_of(a, &lost) for a in row] for row in shapes[:, order].tolist()])
        return np.hstack([means, spreads]).ravel()
