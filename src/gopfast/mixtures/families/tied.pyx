"""Gaussian components that share one covariance matrix of any shape.

With the samples' second moments Q = sum_i w_i x_i x_i' / W, which no responsibility changes, and means m_k = T_k / S_k,
the covariance within components and the cost of all components are

    C = Q - sum_k (S_k / W) m_k m_k',      W G(C),

G of families.matrix. Cells are boxes in the means, and one box in the entries of C that all share. A minorant
k + <P, C> of G over that box is linear in the statistics up to -sum_k S_k m_k'P m_k, bounded over the boxes of the
means. So products of coordinates need not be statistics. The data rule out small C: C >= r I (families.scatter), so
r I may be the floor of the minorants where it exceeds F, and without it nearly singular C would keep their low cost.
Facets: the boxes of the means, and those of the entries, in which S_k m_ka m_kb lies between planes over the box of
m_k.

With two components, of masses p and 1 - p, and q the samples' average, the means lie at q + (1 - p) D and q - p D, so
that sum_k (S_k / W) m_ka m_kb = q_a q_b - (m_1a - q_a)(m_2b - q_b). In floats q is the average of the columns as they
are, known to `average_error`: axes along which the data have no spread are as short as that.

A component's log density is linear in x up to a term that all components share, the same for every responsibility.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, log, sqrt

from gopfast.mixtures.families.axes import coordinates, safest
from gopfast.mixtures.bounds.em import short_runs
from gopfast.mixtures.families.scatter import least_within
from gopfast.mixtures.families.family cimport Subproblem, balance, order_components
from gopfast.mixtures.families.matrix cimport N_PLANES, entry_plane, fit_minor, within
from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.mixtures.data.samples cimport Samples
from gopfast.search.rounding cimport ROUND

# Sweeps over the columns when a box is fitted to the samples' average.
cdef int TURNS = 2
cdef real LOOSE = 1e-12     # relative slack of what tightening derives
# Error bound of a sum of products over the samples (pairwise, so whatever their number), in units of its terms' sizes.
cdef real SUM_ROUNDING = 128 * ROUND


cdef real least_product(real x0, real x1, real y0, real y1) noexcept nogil:
    """Least x y in a box."""
    return min(min(x0 * y0, x0 * y1), min(x1 * y0, x1 * y1))


cdef real most_product(real x0, real x1, real y0, real y1) noexcept nogil:
    return -least_product(-x1, -x0, y0, y1)


cdef class TiedFamily(Family):
    """Components with one covariance matrix, at least the floor in the Loewner order.

    Connected variables: the mean (d) of each component; the entries of the covariance, packed, at the end.

    Parameters
    ----------
    X : ndarray, shape (n, d)
    sample_weight : ndarray, shape (n,)
    n_components : int
    floor : ndarray, shape (d,)
        Least variances, in squared units of X.
    axes : ndarray, shape (d, d)
        Core coordinates are ``axes @ (x - center)``. The bounds hold for any; they are best where the covariance is
        about the unit matrix and the first coordinate tells the components apart.
    """

    def __init__(self, X, sample_weight, int n_components, floor, axes):
        cdef Samples data = Samples.__new__(Samples)
        cdef int d = len(axes), e, a, b
        used = sample_weight > 0
        X, weights = X[used], np.ascontiguousarray(sample_weight[used])
        self.axes = np.ascontiguousarray(axes, dtype=np.float64)
        # about the average; a constant column is 0 everywhere
        self.center = np.clip(np.average(X, axis=0, weights=weights), X.min(axis=0), X.max(axis=0))
        found = coordinates(X, weights, self.center, self.axes, floor)
        columns = found.columns
        data.fill(columns, weights, False, np.zeros(d), 0.0)
        self.data, self.n_components, self.n_columns, self.n_statistics = data, n_components, d, d
        self.cost = FlooredCost(found.whiten)
        self.least = least_within(columns, weights, n_components)
        self.bound_cost = self.cost
        if self.least > 0 and d * log(self.least) > self.cost.log_floor:
            self.bound_cost = FlooredCost(np.eye(d) / np.sqrt(self.least))
        self.n_cell, self.n_shared = d, self.cost.n
        self.n_connected = n_components * d + self.cost.n
        self.n_facets = 2 * n_components * d + N_PLANES * self.cost.n
        self.has_prior, self.e_power = False, 0.0
        self.set_constant(found.constant, found.error)
        self.low, self.high = columns.min(axis=1), columns.max(axis=1)
        self.average = (weights * columns).sum(axis=1) / data.total_weight
        self.average_error = SUM_ROUNDING * (weights * np.abs(columns)).sum(axis=1) / data.total_weight
        largest = np.abs(columns).max(axis=1)
        for e in range(self.cost.n):
            a, b = self.cost.row[e], self.cost.column[e]
            products = weights * (columns[a] * columns[b])
            self.moments[e] = products.sum() / data.total_weight
            self.moment_error[e] = SUM_ROUNDING * np.abs(products).sum() / data.total_weight
            self.sizes[e] = largest[a] * largest[b]
        self.mass_low, self.mass_high = np.empty(n_components), np.empty(n_components)
        self.mean_low, self.mean_high = np.empty(n_components), np.empty(n_components)

    # Cells

    cdef void root(self, real *low, real *high) noexcept nogil:
        cdef int k, j, e, d = self.n_columns, K = self.n_components
        cdef real size
        for k in range(K):
            for j in range(d):
                low[k * d + j], high[k * d + j] = self.low[j], self.high[j]
        for e in range(self.cost.n):
            # 0 <= C <= Q in the Loewner order: C_ab is u'Yv with |u|^2 = Q_aa, |v|^2 = Q_bb, u'v = Q_ab, 0 <= Y <= 1
            size = sqrt(self.variance(self.cost.row[e]) * self.variance(self.cost.column[e]))
            low[K * d + e] = 0.5 * (self.moments[e] - size) - LOOSE * size
            high[K * d + e] = 0.5 * (self.moments[e] + size) + LOOSE * size
            if self.cost.row[e] == self.cost.column[e]:
                low[K * d + e] = self.least

    cdef real variance(self, int a) noexcept nogil:
        return self.moments[self.cost.entry(a, a)]

    cdef real product_range(self, const real *low, const real *high, int e, real *most) noexcept nogil:
        """Least sum_k (S_k / W) m_ka m_kb for means in the box and masses in their bounds. OUT: the most."""
        cdef int k, l, side, a = self.cost.row[e], b = self.cost.column[e], d = self.n_columns, K = self.n_components
        cdef real W = self.data.core.total_weight, total, left, part, best, value, least = 0
        cdef real x0, x1, y0, y1, p0, p1, q0, q1
        cdef int chosen, i, j
        for side in range(2):
            total, left = 0, W
            for k in range(K):
                # the products' extremes, in mean_low (a sign makes the most a least)
                x0, x1, y0, y1 = low[k * d + a], high[k * d + a], low[k * d + b], high[k * d + b]
                if side == 0:
                    value = least_product(x0, x1, y0, y1)
                    if a == b:
                        value = 0 if x0 <= 0 <= x1 else min(x0 * x0, x1 * x1)
                else:
                    value = -most_product(x0, x1, y0, y1)
                self.mean_low[k] = value
                total += self.mass_low[k] * value
                left -= self.mass_low[k]
            for l in range(K):
                # what is left goes to the components in the order of their products
                best, chosen = INFINITY, -1
                for k in range(K):
                    if self.mean_low[k] < best:
                        best, chosen = self.mean_low[k], k
                if chosen < 0 or left <= 0:
                    break
                part = min(left, max(0.0, self.mass_high[chosen] - self.mass_low[chosen]))
                total += part * best
                left -= part
                self.mean_low[chosen] = INFINITY
            if side == 0:
                least = total / W
            else:
                most[0] = -total / W
        if K == 2:
            # with q the samples' average, which is that of the means, the sum is q_a q_b - (m_1a - q_a)(m_2b - q_b),
            # and the same with a and b exchanged
            for side in range(2):
                i, j = (a, b) if side == 0 else (b, a)
                p0, p1 = self.average[i] - self.average_error[i], self.average[i] + self.average_error[i]
                q0, q1 = self.average[j] - self.average_error[j], self.average[j] + self.average_error[j]
                x0, x1, y0, y1 = low[i] - p1, high[i] - p0, low[d + j] - q1, high[d + j] - q0
                least = max(least, least_product(p0, p1, q0, q1) - most_product(x0, x1, y0, y1))
                most[0] = min(most[0], most_product(p0, p1, q0, q1) - least_product(x0, x1, y0, y1))
        most[0] += LOOSE * self.sizes[e]
        return least - LOOSE * self.sizes[e]

    cdef bint bound_entries(self, real *low, real *high) noexcept nogil:
        """Entries of the covariance by the boxes of the means, and by 0 <= C <= Q; 0: nothing is left."""
        cdef int e, a, b, K = self.n_components, d = self.n_columns
        cdef real least, most, x0, x1, y0, y1, z0, z1, loose_a, loose_b, loose_e
        cdef real *lo = low + K * d
        cdef real *hi = high + K * d
        for e in range(self.cost.n):
            least = self.product_range(low, high, e, &most)
            lo[e] = max(lo[e], self.moments[e] - most - LOOSE * self.sizes[e])
            hi[e] = min(hi[e], self.moments[e] - least + LOOSE * self.sizes[e])
            if lo[e] > hi[e]:
                return 0
        for e in range(self.cost.n):
            a = self.cost.entry(self.cost.row[e], self.cost.row[e])
            b = self.cost.entry(self.cost.column[e], self.cost.column[e])
            if a == b:
                continue
            # C - r I and Q - C are positive semidefinite; each entry's slack is in its own unit
            loose_a, loose_b, loose_e = LOOSE * self.sizes[a], LOOSE * self.sizes[b], LOOSE * self.sizes[e]
            x0, x1 = lo[a] - self.least - loose_a, hi[a] - self.least + loose_a
            y0, y1 = lo[b] - self.least - loose_b, hi[b] - self.least + loose_b
            if not fit_minor(&x0, &x1, &y0, &y1, lo + e, hi + e):
                return 0
            lo[a], lo[b] = max(lo[a], x0 + self.least - loose_a), max(lo[b], y0 + self.least - loose_b)
            x0, x1 = self.moments[a] - hi[a] - loose_a, self.moments[a] - lo[a] + loose_a
            y0, y1 = self.moments[b] - hi[b] - loose_b, self.moments[b] - lo[b] + loose_b
            z0, z1 = self.moments[e] - hi[e] - loose_e, self.moments[e] - lo[e] + loose_e
            if not fit_minor(&x0, &x1, &y0, &y1, &z0, &z1):
                return 0
            lo[a], hi[a] = max(lo[a], self.moments[a] - x1 - loose_a), min(hi[a], self.moments[a] - x0 + loose_a)
            lo[b], hi[b] = max(lo[b], self.moments[b] - y1 - loose_b), min(hi[b], self.moments[b] - y0 + loose_b)
            lo[e], hi[e] = max(lo[e], self.moments[e] - z1 - loose_e), min(hi[e], self.moments[e] - z0 + loose_e)
            if lo[e] > hi[e] or lo[a] > hi[a] or lo[b] > hi[b]:
                return 0
        return 1

    cdef bint tighten(self, real *low, real *high) noexcept nogil:
        cdef int k, j, a, turn, d = self.n_columns, K = self.n_components
        cdef real W = self.data.core.total_weight, most
        if not order_components(K, d, low, high):
            return 0
        for k in range(K):
            self.mass_low[k], self.mass_high[k] = 0, W * (1 + 1e-13)
        for turn in range(TURNS):
            for j in range(d):
                # widened by its error, the boxes hold means that average to the computed average
                for k in range(K):
                    self.mean_low[k] = low[k * d + j] - self.average_error[j]
                    self.mean_high[k] = high[k * d + j] + self.average_error[j]
                if not balance(K, W, 0, self.average[j], &self.mean_low[0], &self.mean_high[0], &self.mass_low[0],
                               &self.mass_high[0]):
                    return 0
                # sum_k (S_k / W) m_k^2 = Q - C
                most = max(0.0, self.variance(j) * (1 + LOOSE) - low[K * d + self.cost.entry(j, j)])
                for k in range(K):
                    a = k * d + j
                    low[a] = max(low[a], self.mean_low[k] - 2 * self.average_error[j])
                    high[a] = min(high[a], self.mean_high[k] + 2 * self.average_error[j])
                    if self.mass_low[k] > 0:
                        low[a] = max(low[a], -sqrt(most * W / self.mass_low[k]) * (1 + LOOSE))
                        high[a] = min(high[a], sqrt(most * W / self.mass_low[k]) * (1 + LOOSE))
                    if low[a] > high[a]:
                        return 0
            if not self.bound_entries(low, high):
                return 0
        return order_components(K, d, low, high)

    cdef void relax(self, const real *low, const real *high, Subproblem *out) noexcept nogil:
        cdef int k, j, a, e, side, mark, d = self.n_columns, K = self.n_components
        cdef real W = self.data.core.total_weight, mass = W / K, x, size, inner, half
        cdef real P[MOST_ENTRIES]
        cdef real error
        cdef pass_costs *costs = &out.minorant
        cdef Facet *facet = out.facets
        cdef real *halves = costs.quadratic     # filled with the half widths until the end
        cdef const real *center
        out.prior = out.e_low = out.e_high = 0
        for a in range(K * d):
            costs.centers[a] = low[a] + 0.5 * (high[a] - low[a])
            # rounded up: the minorant and the facets of a wider cell hold for this one too
            halves[a] = max(high[a] - costs.centers[a], costs.centers[a] - low[a]) * (1 + 8 * ROUND) + ROUND * fabs(
                costs.centers[a])
        x = self.bound_cost.minorant(low + K * d, high + K * d, P)
        inner = self.cost.product(P, self.moments, &size)
        error = 64 * ROUND * (fabs(x) + size)
        for e in range(self.cost.n):
            error += 2 * fabs(P[e]) * self.moment_error[e]
        out.constant = W * (x + inner - error)
        for k in range(K):
            center = costs.centers + k * d
            x = size = 0
            for j in range(d):
                costs.linear[k * d + j] = 0
            for e in range(self.cost.n):
                a, j = self.cost.row[e], self.cost.column[e]
                costs.linear[k * d + a] -= 2 * P[e] * center[j]
                if a != j:
                    costs.linear[k * d + j] -= 2 * P[e] * center[a]
                inner = P[e] * center[a] * center[j] * (1 if a == j else 2)
                x += inner
                # the coefficients' rounding too, at the samples farthest out
                size += fabs(inner) + 4 * fabs(P[e]) * self.sizes[e]
            costs.offsets[k] = x + self.cost.bend(P, halves + k * d) + 32 * ROUND * size
            for j in range(d):
                a = k * d + j
                half = halves[a]
                for side in range(2):
                    facet.active = half > 1e-13 * (fabs(low[a]) + fabs(high[a]))
                    facet.paired = side == 0
                    facet.first, facet.count = k * (1 + d), 1 + d
                    facet.constant = facet.prior = 0
                    facet.cap = INFINITY
                    facet.multiplier = max(0.2 * P[self.cost.entry(j, j)] * half, 1e-9)
                    facet.slack = 0.1 * half * mass
                    for mark in range(1, 1 + d):
                        facet.coefficients[mark] = 0
                    facet.coefficients[0] = half
                    facet.coefficients[1 + j] = 1 if side == 0 else -1
                    facet += 1
        facet = self.bound_cell(facet, low + K * d, high + K * d, costs.centers, halves, P)
        for a in range(K * d):
            costs.quadratic[a] = 0

    cdef Facet *bound_cell(self, Facet *facet, const real *low, const real *high, const real *centers,
                           const real *halves, const real *P) noexcept nogil:
        """Facets of the entries of C, with planes above or below S_k m_ka m_kb for all components; returns the next."""
        cdef int d = self.n_columns, K = self.n_components, e, a, b, j, k, which, side
        cdef real W = self.data.core.total_weight, half, x, y, end, t, t_a, t_b, margin
        cdef real *row
        for e in range(self.cost.n):
            a, b = self.cost.row[e], self.cost.column[e]
            half = 0.5 * (high[e] - low[e])
            for which in range(N_PLANES):
                side = entry_plane(a == b, which, 0, 0, &t, &t_a, &t_b)
                end = high[e] if side > 0 else low[e]
                facet.active = half > 1e-13 * self.sizes[e]
                if a == b and which > 0 and low[e] <= 0:
                    facet.active = 0
                facet.paired = 0
                facet.first, facet.count = 0, K * (1 + d)
                facet.prior = 0
                # side * (sum_k S_k m_ka m_kb - W (Q_ab - end)) >= 0
                facet.constant = -side * W * (self.moments[e] - end)
                margin = W * (2 * self.moment_error[e] + 8 * ROUND * fabs(end))
                for k in range(K):
                    x, y = centers[k * d + a], centers[k * d + b]
                    entry_plane(a == b, which, halves[k * d + a], halves[k * d + b], &t, &t_a, &t_b)
                    row = facet.coefficients + k * (1 + d)
                    for j in range(1 + d):
                        row[j] = 0
                    row[0] = side * (x * y + t)
                    row[1 + a] += side * (y + t_a)
                    row[1 + b] += side * (x + t_b)
                    margin += 16 * ROUND * W * (fabs(x * y) + fabs(t) + 2 * self.sizes[e])
                facet.constant += margin
                facet.cap = INFINITY
                facet.multiplier = max(0.2 * half * P[self.cost.entry(a, a)] * P[self.cost.entry(b, b)], 1e-9)
                facet.slack = 0.1 * W * max(half, 1e-12)
                facet += 1
        return facet

    cdef void place(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                    const real *moments, real e, real *point, real *error) noexcept nogil:
        cdef int k, j, n, d = self.n_columns, K = self.n_components
        cdef real W = self.data.core.total_weight, m, s
        cdef real P[MOST_ENTRIES]
        cdef real C[MOST_ENTRIES]
        cdef real Q[MOST_ENTRIES]
        for n in range(self.cost.n):
            C[n] = self.moments[n]
        for k in range(K):
            s = mass[k]
            for j in range(d):
                m = sub.minorant.centers[k * d + j] + (moments[k * d + j] / s if s > 0 else 0)
                point[k * d + j] = within(m, low[k * d + j], high[k * d + j])
            for n in range(self.cost.n):
                C[n] -= s / W * point[k * d + self.cost.row[n]] * point[k * d + self.cost.column[n]]
        self.bound_cost.split(low + K * d, high + K * d, W, C, P, Q, point + K * d, error + K * d)
        for k in range(K):
            self.bound_cost.split_mean(low + k * d, high + k * d, mass[k], P, Q, point + k * d, error + k * d)

    # EM

    cdef void costs(self, const real *point, pass_costs *out) noexcept nogil:
        cdef int k, n, i, j, d = self.n_columns, K = self.n_components
        cdef real P[MOST_ENTRIES]
        cdef real half = 0.5 * self.cost.log_det(point + K * d), x, size = 0
        cdef const real *m
        self.cost.slopes(point + K * d, P)
        for n in range(self.cost.n):
            size += 2 * fabs(P[n]) * self.sizes[n]
        for k in range(K):
            m = point + k * d
            x = 0
            for j in range(d):
                out.centers[k * d + j], out.linear[k * d + j], out.quadratic[k * d + j] = m[j], 0, 0
            for n in range(self.cost.n):
                i, j = self.cost.row[n], self.cost.column[n]
                out.linear[k * d + i] -= 2 * P[n] * m[j]
                if i != j:
                    out.linear[k * d + j] -= 2 * P[n] * m[i]
                x += P[n] * m[i] * m[j] * (1 if i == j else 2)
            # the inverse is rounded
            out.offsets[k] = x - half - 16 * ROUND * size

    cdef real prior_cost(self, const real *point, real *e) noexcept nogil:
        """1/2 <Sigma^-1, W Q>: what the samples cost whatever their component."""
        cdef real P[MOST_ENTRIES]
        cdef real size, total
        cdef int n
        e[0] = 0
        self.cost.slopes(point + self.n_components * self.n_columns, P)
        total = self.cost.product(P, self.moments, &size) + 64 * ROUND * size
        for n in range(self.cost.n):
            total += 2 * fabs(P[n]) * self.moment_error[n]
        return self.data.core.total_weight * total

    cdef void maximise(self, const real *mass, const real *moments, real e, const pass_costs *costs,
                       real *point) noexcept nogil:
        cdef int k, n, j, d = self.n_columns, K = self.n_components
        cdef real *C = point + K * d
        for n in range(self.cost.n):
            C[n] = self.moments[n]
        for k in range(K):
            if not mass[k] > 0:
                continue
            for j in range(d):
                point[k * d + j] = costs.centers[k * d + j] + moments[k * d + j] / mass[k]
            for n in range(self.cost.n):
                C[n] -= mass[k] / self.data.core.total_weight * (
                    point[k * d + self.cost.row[n]] * point[k * d + self.cost.column[n]])
        for j in range(d):
            C[self.cost.entry(j, j)] = max(0.0, C[self.cost.entry(j, j)])

    cdef void seed(self, const real *centers, real *point) noexcept nogil:
        cdef int i, d = self.n_columns, K = self.n_components
        for i in range(K * d):
            point[i] = centers[i]
        for i in range(self.cost.n):
            point[K * d + i] = self.moments[i] / (K * K)

    # The user's coordinates

    def covariance(self, vector):
        """The covariance (d, d) of a solution in the core's coordinates, at or above the floor."""
        first = self.n_components * (1 + self.n_columns)  # after the weights and the means
        cdef real[::1] C = np.ascontiguousarray(vector)[first:first + self.cost.n]
        return self.cost.best(C)

    def parameters(self, vector):
        """Means (K, d) and the covariance (d, d)."""
        K, d = self.n_components, self.n_columns
        means = np.asarray(vector)[K:K + K * d].reshape(K, d)
        inverse = np.linalg.inv(self.axes)
        covariance = inverse @ self.covariance(vector) @ inverse.T
        return {"means": means @ inverse.T + self.center, "covariances": 0.5 * (covariance + covariance.T)}

    def pack(self, means, covariances=None):
        """Connected variables (n_connected,) of the user's means and covariance."""
        cdef real[::1] centers, point = np.empty(self.n_connected)
        centers = np.ascontiguousarray(((np.asarray(means, dtype=np.float64) - self.center) @ self.axes.T).ravel())
        self.seed(&centers[0], &point[0])
        if covariances is not None:
            C = self.axes @ np.asarray(covariances, dtype=np.float64) @ self.axes.T
            np.asarray(point)[self.n_components * self.n_columns:] = C[np.triu_indices(self.n_columns)]
        return np.asarray(point)


def canonical_axes(X, sample_weight, int n_components, floor):
    """Canonical variates (d, d) of a good local optimum: the covariance is the unit matrix there, and so uncorrelated
    are the means; the coordinate that tells the components apart most comes first. Principal axes of the covariance
    instead, where rounding costs too much in those."""
    family, vector = short_runs(
        lambda X, weight: TiedFamily(X, weight, n_components, floor, np.diag(1 / np.sqrt(floor))), X, sample_weight
    )
    K, d = n_components, X.shape[1]
    means = vector[K:K + K * d].reshape(K, d)
    covariance = family.covariance(vector)
    whiten = np.linalg.inv(np.linalg.cholesky(covariance))
    between = (vector[:K, None] * means).T @ means
    canonical = np.linalg.eigh(whiten @ between @ whiten.T)[1].T[::-1] @ whiten
    values, vectors = np.linalg.eigh(covariance)
    principal = (vectors / np.sqrt(values)).T
    principal = principal[np.argsort(-np.sum(principal @ between * principal, axis=1), kind="stable")]
    candidates = [np.ascontiguousarray(axes @ family.axes) for axes in (canonical, principal, np.eye(d))]
    return safest(candidates, X, sample_weight, family.center, floor)
