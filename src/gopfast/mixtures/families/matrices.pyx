"""Gaussian components with one covariance matrix each, any number of coordinates.

With statistics S, T = sum_i w_i r_i x_i and M = sum_i w_i r_i x_i x_i', mean m = T / S and covariance C = M / S - m m',
a component costs S G(C), G of families.matrix. Cells are boxes in the mean and in the entries of C. A minorant
k + <P, C> over the entries is linear in the statistics up to -S m'Pm, which is bounded over the box of m. Facets: the
box of m, and of the entries, in which m_a m_b lies between planes over the box of m.

Such boxes hold matrices that are no covariances; with two coordinates gopfast.mixtures.families.full does better.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, sqrt

from gopfast.mixtures.families.axes import coordinates
from gopfast.mixtures.families.family cimport Subproblem, balance, order_components
from gopfast.mixtures.families.matrix cimport N_PLANES, entry_plane, fit_minor, within
from gopfast.mixtures.data.samples cimport Samples
from gopfast.search.types cimport clip
from gopfast.search.rounding cimport ROUND

# Sweeps over the coordinates when a box is fitted to the samples' average.
cdef int TURNS = 2
cdef real LOOSE = 1e-12     # relative slack of what tightening derives
# Error bound of a sum of products over the samples (pairwise, so whatever their number), in units of its terms' sizes.
cdef real SUM_ROUNDING = 128 * ROUND


cdef class MatrixFamily(Family):
    """Components with a covariance matrix each, at least the floor in the Loewner order.

    Connected variables of a component: its mean (d), then the entries of its covariance, packed.

    Parameters
    ----------
    X : ndarray, shape (n, d)
    sample_weight : ndarray, shape (n,)
    n_components : int
    floor : ndarray, shape (d,)
        Least variances, in squared units of X.
    axes : ndarray, shape (d, d)
        Core coordinates are ``axes @ (x - center)``. The bounds hold for any; they are best where the components'
        covariances are about diagonal and the first coordinate tells the components apart.
    """

    def __init__(self, X, sample_weight, int n_components, floor, axes):
        cdef Samples data = Samples.__new__(Samples)
        cdef int d = len(axes), e
        used = sample_weight > 0
        X, weights = X[used], np.ascontiguousarray(sample_weight[used])
        self.axes = np.ascontiguousarray(axes, dtype=np.float64)
        self.center = 0.5 * X.min(axis=0) + 0.5 * X.max(axis=0)
        found = coordinates(X, weights, self.center, self.axes, floor)
        self.cost, columns = FlooredCost(found.whiten), found.columns
        rows, others = np.triu_indices(d)
        data.fill(np.vstack([columns, columns[rows] * columns[others]]), weights, False, np.zeros(d + self.cost.n), 0.0)
        self.data, self.n_components, self.d = data, n_components, d
        self.n_columns = self.n_statistics = self.n_cell = d + self.cost.n
        self.n_shared = 0
        self.n_connected = n_components * self.n_cell
        self.n_facets = n_components * (2 * d + N_PLANES * self.cost.n)
        self.has_prior, self.e_power = False, 0.0
        self.set_constant(found.constant, found.error)
        self.low, self.high = columns.min(axis=1), columns.max(axis=1)
        self.average = (weights * columns).sum(axis=1) / data.total_weight
        self.average_error = SUM_ROUNDING * (weights * np.abs(columns)).sum(axis=1) / data.total_weight
        largest = 2 * np.abs(columns).max(axis=1)
        z = columns - np.asarray(self.average)[:, None]
        for e in range(self.cost.n):
            self.spread[e] = (weights * (z[rows[e]] * z[others[e]])).sum() / data.total_weight
            self.sizes[e] = largest[rows[e]] * largest[others[e]]
        self.mass_low, self.mass_high = np.empty(n_components), np.empty(n_components)
        self.mean_low, self.mean_high = np.empty(n_components), np.empty(n_components)

    # Cells

    cdef real largest(self, int j, real low, real high) noexcept nogil:
        """Largest variance of samples in the data's range whose mean lies in [low, high]: (m - min)(max - m)."""
        cdef real m = clip(0.5 * (self.low[j] + self.high[j]), low, high)
        return (m - self.low[j]) * (self.high[j] - m) * (1 + LOOSE)

    cdef void root(self, real *low, real *high) noexcept nogil:
        cdef int k, j, e, a, b, d = self.d
        cdef real most
        for k in range(self.n_components):
            for j in range(d):
                low[k * self.n_cell + j], high[k * self.n_cell + j] = self.low[j], self.high[j]
            for e in range(self.cost.n):
                a, b = self.cost.row[e], self.cost.column[e]
                most = sqrt(self.largest(a, self.low[a], self.high[a]) * self.largest(b, self.low[b], self.high[b]))
                high[k * self.n_cell + d + e] = most * (1 + LOOSE)
                low[k * self.n_cell + d + e] = 0 if a == b else -most * (1 + LOOSE)

    cdef bint tighten(self, real *low, real *high) noexcept nogil:
        cdef int k, j, e, a, b, turn, d = self.d, K = self.n_components
        cdef real W = self.data.core.total_weight
        cdef real *lo
        cdef real *hi
        if not order_components(K, self.n_cell, low, high):
            return 0
        for k in range(K):
            self.mass_low[k], self.mass_high[k] = 0, W * (1 + 1e-13)
        for turn in range(TURNS):
            for j in range(d):
                # widened by its error, the boxes hold means that average to the computed average
                for k in range(K):
                    self.mean_low[k] = low[k * self.n_cell + j] - self.average_error[j]
                    self.mean_high[k] = high[k * self.n_cell + j] + self.average_error[j]
                if not balance(K, W, 0, self.average[j], &self.mean_low[0], &self.mean_high[0], &self.mass_low[0],
                               &self.mass_high[0]):
                    return 0
                for k in range(K):
                    a = k * self.n_cell + j
                    low[a] = max(low[a], self.mean_low[k] - 2 * self.average_error[j])
                    high[a] = min(high[a], self.mean_high[k] + 2 * self.average_error[j])
                    if low[a] > high[a]:
                        return 0
        for k in range(K):
            lo, hi = low + k * self.n_cell + d, high + k * self.n_cell + d
            for j in range(d):
                a = k * self.n_cell + j
                e = self.cost.entry(j, j)
                hi[e] = min(hi[e], self.largest(j, low[a], high[a]))
                if self.mass_low[k] > 0:
                    # S C <= W times the covariance of all, which is no larger than about the computed average
                    hi[e] = min(hi[e], W / self.mass_low[k] * self.spread[e] * (1 + LOOSE))
                if lo[e] > hi[e]:
                    return 0
            for e in range(self.cost.n):
                a = self.cost.entry(self.cost.row[e], self.cost.row[e])
                b = self.cost.entry(self.cost.column[e], self.cost.column[e])
                if a != b and not fit_minor(lo + a, hi + a, lo + b, hi + b, lo + e, hi + e):
                    return 0
        return order_components(K, self.n_cell, low, high)

    cdef void set_costs(self, int k, const real *center, const real *P, real constant, pass_costs *out) noexcept nogil:
        """Costs constant + <P, (x - c)(x - c)'> of a component."""
        cdef int d = self.d, e, a, b
        cdef real *linear = out.linear + k * self.n_columns
        cdef real *centers = out.centers + k * self.n_columns
        cdef real slope
        for a in range(d):
            centers[a], linear[a] = center[a], 0
        for e in range(self.cost.n):
            a, b = self.cost.row[e], self.cost.column[e]
            slope = P[e] if a == b else 2 * P[e]
            # z_a z_b = (x_a x_b - c_a c_b) - c_a z_b - c_b z_a
            centers[d + e], linear[d + e] = center[a] * center[b], slope
            linear[a] -= slope * center[b]
            linear[b] -= slope * center[a]
        for a in range(self.n_columns):
            out.quadratic[k * self.n_columns + a] = 0
        out.offsets[k] = -constant

    cdef real rounding(self, const real *P) noexcept nogil:
        """Error bound of <P, (x - c)(x - c)'> by the rounding of products and coefficients."""
        cdef real total = 0
        cdef int e
        for e in range(self.cost.n):
            total += 2 * fabs(P[e]) * self.sizes[e]
        return 32 * ROUND * total

    cdef void relax(self, const real *low, const real *high, Subproblem *out) noexcept nogil:
        cdef int k, j, side, mark, d = self.d, F = self.n_statistics
        cdef real mass = self.data.core.total_weight / self.n_components, constant
        cdef real P[MOST_ENTRIES]
        cdef real center[MOST_ENTRIES]
        cdef real half[MOST_ENTRIES]
        cdef Facet *facet = out.facets
        cdef const real *lo
        cdef const real *hi
        out.constant = out.prior = out.e_low = out.e_high = 0
        for k in range(self.n_components):
            lo, hi = low + k * self.n_cell, high + k * self.n_cell
            for j in range(d):
                center[j] = lo[j] + 0.5 * (hi[j] - lo[j])
                # rounded up: the minorant and the facets of a wider cell hold for this one too
                half[j] = max(hi[j] - center[j], center[j] - lo[j]) * (1 + 8 * ROUND) + ROUND * fabs(center[j])
            constant = self.cost.minorant(lo + d, hi + d, P) - self.cost.bend(P, half)
            self.set_costs(k, center, P, constant - 8 * ROUND * fabs(constant) - self.rounding(P), &out.minorant)
            for j in range(d):
                for side in range(2):
                    facet.active = half[j] > 1e-13 * (fabs(lo[j]) + fabs(hi[j]))
                    facet.paired = side == 0
                    facet.first, facet.count = k * (1 + F), 1 + F
                    facet.constant = facet.prior = 0
                    facet.cap = INFINITY
                    facet.multiplier = max(0.2 * P[self.cost.entry(j, j)] * half[j], 1e-9)
                    facet.slack = 0.1 * half[j] * mass
                    for mark in range(1, 1 + F):
                        facet.coefficients[mark] = 0
                    facet.coefficients[0] = half[j]
                    facet.coefficients[1 + j] = 1 if side == 0 else -1
                    facet += 1
            facet = self.bound_cell(facet, k, lo + d, hi + d, center, half, P)

    cdef Facet *bound_cell(self, Facet *facet, int k, const real *low, const real *high, const real *center,
                           const real *half, const real *P) noexcept nogil:
        """Facets of the entries of C, with planes above or below m_a m_b; returns the next."""
        cdef int d = self.d, F = self.n_statistics, e, a, b, which, side, mark
        cdef real mass = self.data.core.total_weight / self.n_components, span, end, t, t_a, t_b
        for e in range(self.cost.n):
            a, b = self.cost.row[e], self.cost.column[e]
            span = 0.5 * (high[e] - low[e])
            for which in range(N_PLANES):
                side = entry_plane(a == b, which, half[a], half[b], &t, &t_a, &t_b)
                end = high[e] if side > 0 else low[e]
                facet.active = span > 1e-13 * self.sizes[e] and (a != b or side > 0 or low[e] > 0)
                facet.paired = 0
                facet.first, facet.count = k * (1 + F), 1 + F
                facet.constant = facet.prior = 0
                for mark in range(1 + F):
                    facet.coefficients[mark] = 0
                # side * (S end - S C_ab) >= 0, with M about the center for S (C_ab + z_a z_b)
                facet.coefficients[0] = side * (end + t) + 16 * ROUND * (fabs(end) + fabs(t) + 4 * self.sizes[e])
                facet.coefficients[1 + a] += side * (t_a + center[b])
                facet.coefficients[1 + b] += side * (t_b + center[a])
                facet.coefficients[1 + d + e] = -side
                facet.cap = INFINITY
                facet.multiplier = max(0.2 * span * P[self.cost.entry(a, a)] * P[self.cost.entry(b, b)], 1e-9)
                facet.slack = 0.1 * mass * max(span, 1e-12)
                facet += 1
        return facet

    cdef void moments_of(self, real mass, const real *moments, const real *center, real *mean, real *C) noexcept nogil:
        """OUT: mean, and covariance of statistics about a center (d,)."""
        cdef int d = self.d, e, a, b
        cdef real x, y
        for a in range(d):
            mean[a] = center[a] + moments[a] / mass
        for e in range(self.cost.n):
            a, b = self.cost.row[e], self.cost.column[e]
            x, y = moments[a] / mass, moments[b] / mass
            C[e] = moments[d + e] / mass - center[a] * y - center[b] * x - x * y
            if a == b:
                C[e] = max(C[e], 0.0)

    cdef void place(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                    const real *moments, real e, real *point, real *error) noexcept nogil:
        cdef int k, j, a, d = self.d
        cdef real P[MOST_ENTRIES]
        cdef real Q[MOST_ENTRIES]
        cdef real C[MOST_ENTRIES]
        cdef const real *center
        for k in range(self.n_components):
            a, center = k * self.n_cell, sub.minorant.centers + k * self.n_columns
            if mass[k] > 0:
                self.moments_of(mass[k], moments + k * self.n_statistics, center, point + a, C)
            else:
                for j in range(d):
                    point[a + j] = center[j]
                for j in range(self.cost.n):
                    C[j] = self.cost.floor[j]
            for j in range(d):
                point[a + j] = within(point[a + j], low[a + j], high[a + j])
            self.cost.split(low + a + d, high + a + d, mass[k], C, P, Q, point + a + d, error + a + d)
            self.cost.split_mean(low + a, high + a, mass[k], P, Q, point + a, error + a)

    # EM

    cdef void costs(self, const real *point, pass_costs *out) noexcept nogil:
        cdef int k, a
        cdef real P[MOST_ENTRIES]
        for k in range(self.n_components):
            a = k * self.n_cell
            self.cost.slopes(point + a + self.d, P)
            self.set_costs(k, point + a, P, 0.5 * self.cost.log_det(point + a + self.d) + self.rounding(P), out)

    cdef void maximise(self, const real *mass, const real *moments, real e, const pass_costs *costs,
                       real *point) noexcept nogil:
        cdef int k, a
        for k in range(self.n_components):
            a = k * self.n_cell
            if mass[k] > 0:
                self.moments_of(mass[k], moments + k * self.n_statistics, costs.centers + k * self.n_columns, point + a,
                                point + a + self.d)

    cdef void seed(self, const real *centers, real *point) noexcept nogil:
        cdef int k, j, K = self.n_components
        for k in range(K):
            for j in range(self.d):
                point[k * self.n_cell + j] = centers[k * self.n_columns + j]
            for j in range(self.cost.n):
                point[k * self.n_cell + self.d + j] = self.spread[j] / (K * K)

    def metric(self):
        """Weights of the columns in the squared distance that starts are drawn by; 0 for the products."""
        return np.append(Family.metric(self)[:self.d], np.zeros(self.cost.n))

    # The user's coordinates

    def covariances(self, vector):
        """Covariances (K, d, d) of a solution in the core's coordinates, at or above the floor."""
        cells = np.asarray(vector)[self.n_components:][:self.n_connected].reshape(-1, self.n_cell)
        return np.stack([self.cost.best(cell[self.d:]) for cell in cells])

    def parameters(self, vector):
        """Means (K, d) and covariances (K, d, d)."""
        means = np.asarray(vector)[self.n_components:][:self.n_connected].reshape(-1, self.n_cell)[:, :self.d]
        inverse = np.linalg.inv(self.axes)
        covariances = inverse @ self.covariances(vector) @ inverse.T
        return {"means": means @ inverse.T + self.center,
                "covariances": 0.5 * (covariances + covariances.transpose(0, 2, 1))}

    def pack(self, means, covariances=None):
        """Connected variables (n_connected,) of the user's means and covariances."""
        cdef real[::1] centers, point = np.empty(self.n_connected)
        means = (np.asarray(means, dtype=np.float64) - self.center) @ self.axes.T
        centers = np.hstack([means, np.zeros((len(means), self.cost.n))]).ravel()
        self.seed(&centers[0], &point[0])
        if covariances is not None:
            rows, columns = np.triu_indices(self.d)
            C = self.axes @ np.asarray(covariances, dtype=np.float64) @ self.axes.T
            np.asarray(point).reshape(-1, self.n_cell)[:, self.d:] = C[:, rows, columns]
        return np.asarray(point)
