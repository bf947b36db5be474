"""Gaussian components with one covariance matrix each, any number of coordinates.

With statistics S, T = sum_i w_i r_i x_i and M = sum_i w_i r_i x_i x_i', mean m = T / S and covariance C = M / S - m m',
a component costs S G(C), G of families.matrix. Cells are boxes in the mean and in the entries of C. A minorant
k + <P, C> over the entries is linear in the statistics up to -S m'Pm, which is bounded over the box of m. Facets: the
box of m, and of the entries, in which m_a m_b lies between planes over the box of m.

Such boxes hold matrices that are no covariances; with two coordinates gopfast.mixtures.families.full does better. With
more than FEW_COLUMNS boxes of entries have no facets: they would cost more than they bound.

Theory: (M5) of docs/theory/matrices.md.
"""

import numpy as np

from libc.math cimport fabs, sqrt

from gopfast.mixtures.families.family cimport (
    Subproblem, bound_mean, clear, half_width, has_width, middle_of, order_components
)
from gopfast.mixtures.families.margins cimport DERIVED_SLACK, NEGLIGIBLE_WIDTH
from gopfast.mixtures.families.matrix cimport N_PLANES, entry_multiplier, entry_plane, fit_minor
from gopfast.mixtures.families.tuning cimport (
    FEW_COLUMNS, LEAST_MULTIPLIER, LEAST_SPAN, MATRICES_SWEEPS as SWEEPS, TYPICAL_MULTIPLIER, TYPICAL_SLACK
)
from gopfast.mixtures.families.variance cimport within
from gopfast.search.rounding cimport ROUND


cdef class MatrixFamily(AffineFamily):
    """Components with a covariance matrix each, at least the floor in the Loewner order.

    Connected variables of a component: its mean (d), then the entries of its covariance, packed. The columns are the
    coordinates, then their products, packed. For the parameters see AffineFamily.

    cuts : bool
        Whether boxes are cut by all that is known of them, or only as `gopfast.checker` does.
    """

    def __init__(self, X, sample_weight, int n_components, floor, axes, bint cuts=True):
        cdef int e
        self.cuts, self.arguments = cuts, (X, sample_weight, n_components, floor, axes)
        found, weights = self.set_up(X, sample_weight, n_components, floor, axes, False)
        columns, (rows, others) = found.columns, np.triu_indices(self.d)
        self.cost = FlooredCost(found.whiten)
        self.fill(np.vstack([columns, columns[rows] * columns[others]]), weights, False)
        self.n_cell, self.n_shared = self.n_columns, 0
        self.n_connected = n_components * self.n_cell
        self.n_bounded = self.cost.n if self.d <= FEW_COLUMNS else 0
        self.n_facets = n_components * (2 * self.d + N_PLANES * self.n_bounded)
        largest = 2 * np.abs(columns).max(axis=1)
        z = columns - np.asarray(self.average)[:, None]
        for e in range(self.cost.n):
            product = weights * (z[rows[e]] * z[others[e]])
            self.data_covariance[e] = product.sum() / self.data.total_weight
            self.sizes[e] = largest[rows[e]] * largest[others[e]]

    # Cells

    cdef void root(self, real *low, real *high) noexcept nogil:
        cdef int k, j, e, a, b, d = self.d
        cdef real most
        for k in range(self.n_components):
            for j in range(d):
                low[k * self.n_cell + j], high[k * self.n_cell + j] = self.low[j], self.high[j]
            for e in range(self.cost.n):
                a, b = self.cost.row[e], self.cost.column[e]
                most = sqrt(self.largest_variance(a, self.low[a], self.high[a])
                            * self.largest_variance(b, self.low[b], self.high[b]))
                high[k * self.n_cell + d + e] = most * (1 + DERIVED_SLACK)
                low[k * self.n_cell + d + e] = 0 if a == b else -most * (1 + DERIVED_SLACK)

    cdef bint tighten(self, real *low, real *high) noexcept nogil:
        cdef int k, j, e, a, b, _sweep, d = self.d, K = self.n_components
        cdef real W = self.data.core.total_weight, most
        cdef real *lo
        cdef real *hi
        if not order_components(K, self.n_cell, low, high):
            return 0
        self.balance.free_masses(W)
        for _sweep in range(SWEEPS if self.cuts else 0):
            for j in range(d):
                if not self.balance_means(j, low, high):
                    return 0
        for k in range(K):
            lo, hi = low + k * self.n_cell + d, high + k * self.n_cell + d
            for j in range(d):
                a = k * self.n_cell + j
                e = self.cost.entry(j, j)
                hi[e] = min(hi[e], self.largest_variance(j, low[a], high[a]))
                if self.cuts and self.balance.mass_low[k] > 0:
                    # S C <= W times the covariance of all, which is no larger than about the computed average
                    hi[e] = min(hi[e], W / self.balance.mass_low[k] * self.data_covariance[e] * (1 + DERIVED_SLACK))
                if lo[e] > hi[e]:
                    return 0
            for e in range(self.cost.n):
                a = self.cost.entry(self.cost.row[e], self.cost.row[e])
                b = self.cost.entry(self.cost.column[e], self.cost.column[e])
                if not self.cuts:
                    most = sqrt(max(0.0, hi[a])) * sqrt(max(0.0, hi[b])) * (1 + DERIVED_SLACK)
                    if a != b:
                        lo[e], hi[e] = max(lo[e], -most), min(hi[e], most)
                    if lo[e] > hi[e]:
                        return 0
                elif a != b and not fit_minor(lo + a, hi + a, lo + b, hi + b, lo + e, hi + e):
                    return 0
        return order_components(K, self.n_cell, low, high)

    cdef void set_costs(self, int k, const real *center, const real *P, real constant, pass_costs *out) noexcept nogil:
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
        cdef real total = 0
        cdef int e
        for e in range(self.cost.n):
            total += 2 * fabs(P[e]) * self.sizes[e]
        return 32 * ROUND * total

    cdef void relax(self, const real *low, const real *high, Subproblem *out) noexcept nogil:
        cdef int k, j, d = self.d, F = self.n_statistics
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
                center[j] = middle_of(lo[j], hi[j])
                half[j] = half_width(lo[j], hi[j], center[j])
            constant = self.cost.minorant(lo + d, hi + d, P) - self.cost.bend(P, half)
            self.set_costs(k, center, P, constant - 8 * ROUND * fabs(constant) - self.rounding(P), &out.minorant)
            for j in range(d):
                facet = bound_mean(
                    facet, has_width(half[j], lo[j], hi[j]), k * (1 + F), 1 + F, j, half[j], mass,
                    max(TYPICAL_MULTIPLIER * P[self.cost.entry(j, j)] * half[j], LEAST_MULTIPLIER))
            facet = self.bound_cell(facet, k, lo + d, hi + d, center, half, P)

    cdef Facet *bound_cell(self, Facet *facet, int k, const real *low, const real *high, const real *center,
                           const real *half, const real *P) noexcept nogil:
        """Facets of the entries of C, with planes above or below m_a m_b; returns the next."""
        cdef int d = self.d, F = self.n_statistics, e, a, b, which, side
        cdef real mass = self.data.core.total_weight / self.n_components, span, end, t, t_a, t_b
        for e in range(self.n_bounded):
            a, b = self.cost.row[e], self.cost.column[e]
            span = 0.5 * (high[e] - low[e])
            for which in range(N_PLANES):
                side = entry_plane(a == b, which, half[a], half[b], &t, &t_a, &t_b)
                end = high[e] if side > 0 else low[e]
                # a variance is at least 0 in every cell
                clear(facet, span > NEGLIGIBLE_WIDTH * self.sizes[e] and (a != b or side > 0 or low[e] > 0),
                      k * (1 + F), 1 + F)
                # side * (S end - S C_ab) >= 0, with M about the center for S (C_ab + z_a z_b)
                facet.coefficients[0] = side * (end + t) + 16 * ROUND * (fabs(end) + fabs(t) + 4 * self.sizes[e])
                facet.coefficients[1 + a] += side * (t_a + center[b])
                facet.coefficients[1 + b] += side * (t_b + center[a])
                facet.coefficients[1 + d + e] = -side
                facet.multiplier = entry_multiplier(span, P[self.cost.entry(a, a)], P[self.cost.entry(b, b)])
                facet.slack = TYPICAL_SLACK * mass * max(span, LEAST_SPAN)
                facet += 1
        return facet

    cdef void moments_of(self, real mass, const real *moments, const real *center, real *mean, real *C) noexcept nogil:
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

    cdef void split_points(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
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
                point[k * self.n_cell + self.d + j] = self.data_covariance[j] / (K * K)

    def chart(self):
        """Means and precisions; None: they are too many."""
        from gopfast.mixtures.incumbent.matrix_charts import EntriesChart

        return EntriesChart(self) if self.d <= FEW_COLUMNS else None

    @property
    def has_marginals(self):
        """Of matrices of two columns each."""
        return True

    def provable(self):
        """The same without cuts that the checker does not make."""
        return MatrixFamily(*self.arguments, cuts=False)

    # The user's coordinates

    def covariances(self, vector):
        """Covariances (K, d, d) of a solution."""
        cells = np.asarray(vector)[self.n_components:][:self.n_connected].reshape(-1, self.n_cell)
        return np.stack([self.cost.best(cell[self.d:]) for cell in cells])

    def pack_covariances(self, covariances, point):
        """Write covariances (K, d, d) into parameters."""
        rows, columns = np.triu_indices(self.d)
        np.asarray(point).reshape(-1, self.n_cell)[:, self.d:] = covariances[:, rows, columns]
