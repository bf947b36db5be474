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

Theory: (M6), (M7) and (M8) of docs/theory/matrices.md.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, log, sqrt

from gopfast.mixtures.families.scatter import least_within
from gopfast.mixtures.families.tuning import MOST_WORK_OF_FAMILY

from gopfast.mixtures.families.family cimport (
    Subproblem, bound_mean, clear, half_width, has_width, middle_of, order_components
)
from gopfast.mixtures.families.margins cimport DERIVED_SLACK, NEGLIGIBLE_WIDTH, SUM_ROUNDING
from gopfast.mixtures.families.matrix cimport N_PLANES, entry_multiplier, entry_plane, fit_minor
from gopfast.mixtures.families.tuning cimport (
    FEW_COLUMNS, LEAST_MULTIPLIER, LEAST_SPAN, TIED_SWEEPS as SWEEPS, TYPICAL_MULTIPLIER, TYPICAL_SLACK
)
from gopfast.mixtures.families.variance cimport within
from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.search.rounding cimport ROUND


cdef real least_product(real x0, real x1, real y0, real y1) noexcept nogil:
    """Least x y in a box."""
    return min(min(x0 * y0, x0 * y1), min(x1 * y0, x1 * y1))


cdef real most_product(real x0, real x1, real y0, real y1) noexcept nogil:
    return -least_product(-x1, -x0, y0, y1)


cdef class TiedFamily(AffineFamily):
    """Components with one covariance matrix, at least the floor in the Loewner order.

    Connected variables: the mean (d) of each component; the entries of the covariance, packed, at the end. For the
    parameters see AffineFamily.

    cuts : bool
        Whether boxes are cut by all that is known of them, or only as `gopfast.checker` does, which also says what to
        tell `use_least_within`.
    """

    def __init__(self, X, sample_weight, int n_components, floor, axes, bint cuts=True):
        cdef int e, a, b, d
        self.cuts, self.arguments = cuts, (X, sample_weight, n_components, floor, axes)
        found, weights = self.set_up(X, sample_weight, n_components, floor, axes, True)
        columns, d = found.columns, self.d
        self.fill(columns, weights, False)
        self.cost, self.whiten = FlooredCost(found.whiten), found.whiten
        # directions of many columns are too many to be searched
        few = d <= FEW_COLUMNS
        searched = few and cuts
        least = least_within(columns, weights, n_components, most_work=MOST_WORK_OF_FAMILY) if searched else 0.0
        self.use_least_within(least)
        self.n_cell, self.n_shared = d, self.cost.n
        self.n_connected = n_components * d + self.cost.n
        self.n_bounded = self.cost.n if few else 0
        self.n_facets = 2 * n_components * d + N_PLANES * self.n_bounded
        self.n_more = self.cost.n
        self.products = np.empty(n_components)
        largest = np.abs(columns).max(axis=1)
        for e in range(self.cost.n):
            a, b = self.cost.row[e], self.cost.column[e]
            products = weights * (columns[a] * columns[b])
            self.moments[e] = products.sum() / self.data.total_weight
            self.moment_error[e] = SUM_ROUNDING * np.abs(products).sum() / self.data.total_weight
            self.sizes[e] = largest[a] * largest[b]

    def use_least_within(self, least):
        """Take a number r such that the covariance within any K components is at least r I."""
        self.least_within, self.bound_cost = least, self.cost
        if least > 0 and self.d * log(least) > self.cost.log_floor:
            self.bound_cost = FlooredCost(np.eye(self.d) / np.sqrt(least))

    # Cells

    cdef void root(self, real *low, real *high) noexcept nogil:
        cdef int k, j, e, d = self.n_columns, K = self.n_components
        cdef real size
        for k in range(K):
            for j in range(d):
                low[k * d + j], high[k * d + j] = self.low[j], self.high[j]
        for e in range(self.cost.n):
            # 0 <= C <= Q in the Loewner order: C_ab is u'Yv with |u|^2 = Q_aa, |v|^2 = Q_bb, u'v = Q_ab, 0 <= Y <= 1
            size = sqrt(self.second_moment(self.cost.row[e]) * self.second_moment(self.cost.column[e]))
            low[K * d + e] = 0.5 * (self.moments[e] - size) - DERIVED_SLACK * size
            high[K * d + e] = 0.5 * (self.moments[e] + size) + DERIVED_SLACK * size
            if self.cost.row[e] == self.cost.column[e]:
                low[K * d + e] = self.least_within

    cdef real second_moment(self, int a) noexcept nogil:
        return self.moments[self.cost.entry(a, a)]

    cdef real product_range(self, const real *low, const real *high, int e, real *most) noexcept nogil:
        """By a linear program in the masses; with two components also by the module's head."""
        cdef int k, _l, side, a = self.cost.row[e], b = self.cost.column[e], d = self.n_columns, K = self.n_components
        cdef real W = self.data.core.total_weight, total, left, part, best, value, least = 0
        cdef real x0, x1, y0, y1, p0, p1, q0, q1
        cdef int chosen, i, j
        for side in range(2):
            total, left = 0, W
            for k in range(K):
                # the products' least values (a sign makes the most a least)
                x0, x1, y0, y1 = low[k * d + a], high[k * d + a], low[k * d + b], high[k * d + b]
                if side == 0:
                    value = least_product(x0, x1, y0, y1)
                    if a == b:
                        value = 0 if x0 <= 0 <= x1 else min(x0 * x0, x1 * x1)
                else:
                    value = -most_product(x0, x1, y0, y1)
                self.products[k] = value
                total += self.balance.mass_low[k] * value
                left -= self.balance.mass_low[k]
            for _l in range(K):
                # what is left goes to the components in the order of their products
                best, chosen = INFINITY, -1
                for k in range(K):
                    if self.products[k] < best:
                        best, chosen = self.products[k], k
                if chosen < 0 or left <= 0:
                    break
                part = min(left, max(0.0, self.balance.mass_high[chosen] - self.balance.mass_low[chosen]))
                total += part * best
                left -= part
                self.products[chosen] = INFINITY
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
        most[0] += DERIVED_SLACK * self.sizes[e]
        return least - DERIVED_SLACK * self.sizes[e]

    cdef bint bound_entries(self, real *low, real *high) noexcept nogil:
        """By the range of sum_k (S_k / W) m_k m_k', then by 2 by 2 minors of C - r I and Q - C."""
        cdef int e, a, b, K = self.n_components, d = self.n_columns
        cdef real least, most, x0, x1, y0, y1, z0, z1, slack_a, slack_b, slack_e
        cdef real *lo = low + K * d
        cdef real *hi = high + K * d
        for e in range(self.cost.n):
            least = self.product_range(low, high, e, &most)
            lo[e] = max(lo[e], self.moments[e] - most - DERIVED_SLACK * self.sizes[e])
            hi[e] = min(hi[e], self.moments[e] - least + DERIVED_SLACK * self.sizes[e])
            if lo[e] > hi[e]:
                return 0
        for e in range(self.cost.n):
            a = self.cost.entry(self.cost.row[e], self.cost.row[e])
            b = self.cost.entry(self.cost.column[e], self.cost.column[e])
            if a == b:
                continue
            # C - r I and Q - C are positive semidefinite; each entry's slack is in its own unit
            slack_a, slack_b = DERIVED_SLACK * self.sizes[a], DERIVED_SLACK * self.sizes[b]
            slack_e = DERIVED_SLACK * self.sizes[e]
            x0, x1 = lo[a] - self.least_within - slack_a, hi[a] - self.least_within + slack_a
            y0, y1 = lo[b] - self.least_within - slack_b, hi[b] - self.least_within + slack_b
            if not fit_minor(&x0, &x1, &y0, &y1, lo + e, hi + e):
                return 0
            lo[a], lo[b] = max(lo[a], x0 + self.least_within - slack_a), max(lo[b], y0 + self.least_within - slack_b)
            x0, x1 = self.moments[a] - hi[a] - slack_a, self.moments[a] - lo[a] + slack_a
            y0, y1 = self.moments[b] - hi[b] - slack_b, self.moments[b] - lo[b] + slack_b
            z0, z1 = self.moments[e] - hi[e] - slack_e, self.moments[e] - lo[e] + slack_e
            if not fit_minor(&x0, &x1, &y0, &y1, &z0, &z1):
                return 0
            lo[a], hi[a] = max(lo[a], self.moments[a] - x1 - slack_a), min(hi[a], self.moments[a] - x0 + slack_a)
            lo[b], hi[b] = max(lo[b], self.moments[b] - y1 - slack_b), min(hi[b], self.moments[b] - y0 + slack_b)
            lo[e], hi[e] = max(lo[e], self.moments[e] - z1 - slack_e), min(hi[e], self.moments[e] - z0 + slack_e)
            if lo[e] > hi[e] or lo[a] > hi[a] or lo[b] > hi[b]:
                return 0
        return 1

    cdef bint tighten(self, real *low, real *high) noexcept nogil:
        cdef int k, j, a, _sweep, d = self.n_columns, K = self.n_components
        cdef real W = self.data.core.total_weight, most, farthest
        if not order_components(K, d, low, high):
            return 0
        self.balance.free_masses(W)
        if not self.cuts:
            return self.bound_entries(low, high)
        for _sweep in range(SWEEPS):
            for j in range(d):
                if not self.balance_means(j, low, high):
                    return 0
                # sum_k (S_k / W) m_k^2 = Q - C
                most = max(0.0, self.second_moment(j) * (1 + DERIVED_SLACK) - low[K * d + self.cost.entry(j, j)])
                for k in range(K):
                    if self.balance.mass_low[k] > 0:
                        a, farthest = k * d + j, sqrt(most * W / self.balance.mass_low[k]) * (1 + DERIVED_SLACK)
                        low[a], high[a] = max(low[a], -farthest), min(high[a], farthest)
                        if low[a] > high[a]:
                            return 0
            if not self.bound_entries(low, high):
                return 0
        return order_components(K, d, low, high)

    cdef void relax(self, const real *low, const real *high, Subproblem *out) noexcept nogil:
        cdef int k, j, a, e, d = self.n_columns, K = self.n_components
        cdef real W = self.data.core.total_weight, mass = W / K, x, size, inner
        cdef real P[MOST_ENTRIES]
        cdef real error
        cdef pass_costs *costs = &out.minorant
        cdef Facet *facet = out.facets
        cdef real *halves = costs.quadratic     # filled with the half widths until the end
        out.prior = out.e_low = out.e_high = 0
        for a in range(K * d):
            costs.centers[a] = middle_of(low[a], high[a])
            halves[a] = half_width(low[a], high[a], costs.centers[a])
        x = self.bound_cost.minorant(low + K * d, high + K * d, P)
        inner = self.cost.product(P, self.moments, &size)
        error = 64 * ROUND * (fabs(x) + size)
        for e in range(self.cost.n):
            error += 2 * fabs(P[e]) * self.moment_error[e]
        out.constant = W * (x + inner - error)
        for k in range(K):
            x = self.set_linear(costs.centers + k * d, P, costs.linear + k * d, &size)
            costs.offsets[k] = x + self.cost.bend(P, halves + k * d) + 32 * ROUND * size
            for j in range(d):
                a = k * d + j
                facet = bound_mean(
                    facet, has_width(halves[a], low[a], high[a]), k * (1 + d), 1 + d, j, halves[a], mass,
                    max(TYPICAL_MULTIPLIER * P[self.cost.entry(j, j)] * halves[a], LEAST_MULTIPLIER))
        facet = self.bound_cell(facet, low + K * d, high + K * d, costs.centers, halves, P)
        for a in range(K * d):
            costs.quadratic[a] = 0

    cdef real set_linear(self, const real *mean, const real *P, real *linear, real *size) noexcept nogil:
        cdef int e, a, b
        cdef real total = 0, term
        size[0] = 0
        for a in range(self.d):
            linear[a] = 0
        for e in range(self.cost.n):
            a, b = self.cost.row[e], self.cost.column[e]
            linear[a] -= 2 * P[e] * mean[b]
            if a != b:
                linear[b] -= 2 * P[e] * mean[a]
            term = P[e] * mean[a] * mean[b] * (1 if a == b else 2)
            total += term
            # the coefficients' rounding too, at the samples farthest out
            size[0] += fabs(term) + 4 * fabs(P[e]) * self.sizes[e]
        return total

    cdef Facet *bound_cell(self, Facet *facet, const real *low, const real *high, const real *centers,
                           const real *halves, const real *P) noexcept nogil:
        """With planes above or below S_k m_ka m_kb for all components. Returns the next facet."""
        cdef int d = self.n_columns, K = self.n_components, e, a, b, k, which, side
        cdef real W = self.data.core.total_weight, half, x, y, end, t, t_a, t_b, margin
        cdef real *row
        for e in range(self.n_bounded):
            a, b = self.cost.row[e], self.cost.column[e]
            half = 0.5 * (high[e] - low[e])
            for which in range(N_PLANES):
                side = entry_plane(a == b, which, 0, 0, &t, &t_a, &t_b)
                end = high[e] if side > 0 else low[e]
                # a variance is at least 0 in every cell
                clear(facet, half > NEGLIGIBLE_WIDTH * self.sizes[e] and (a != b or side > 0 or low[e] > 0),
                      0, K * (1 + d))
                # side * (sum_k S_k m_ka m_kb - W (Q_ab - end)) >= 0
                facet.constant = -side * W * (self.moments[e] - end)
                margin = W * (2 * self.moment_error[e] + 8 * ROUND * fabs(end))
                for k in range(K):
                    x, y = centers[k * d + a], centers[k * d + b]
                    entry_plane(a == b, which, halves[k * d + a], halves[k * d + b], &t, &t_a, &t_b)
                    row = facet.coefficients + k * (1 + d)
                    row[0] = side * (x * y + t)
                    row[1 + a] += side * (y + t_a)
                    row[1 + b] += side * (x + t_b)
                    margin += 16 * ROUND * W * (fabs(x * y) + fabs(t) + 2 * self.sizes[e])
                facet.constant += margin
                facet.multiplier = entry_multiplier(half, P[self.cost.entry(a, a)], P[self.cost.entry(b, b)])
                facet.slack = TYPICAL_SLACK * W * max(half, LEAST_SPAN)
                facet += 1
        return facet

    cdef void more_slopes(self, const real *low, const real *high, const Subproblem *sub, const real *q,
                          real *out) noexcept nogil:
        """Of the entries of C: the minorant's, twice beside the diagonal, and the facets of their ranges."""
        cdef int e, which, side, first = self.n_components * self.n_columns
        cdef const Facet *facet = sub.facets + 2 * first
        cdef real t, t_a, t_b
        q += 2 * first
        self.bound_cost.minorant(low + first, high + first, out)
        for e in range(self.cost.n):
            if self.cost.row[e] != self.cost.column[e]:
                out[e] *= 2
        for e in range(self.n_bounded):
            for which in range(N_PLANES):
                side = entry_plane(self.cost.row[e] == self.cost.column[e], which, 0, 0, &t, &t_a, &t_b)
                if facet.active:
                    out[e] += side * q[0]
                facet, q = facet + 1, q + 1

    cdef void split_points(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
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
        cdef int k, n, j, d = self.n_columns, K = self.n_components
        cdef real P[MOST_ENTRIES]
        cdef real half_log_det = 0.5 * self.cost.log_det(point + K * d), x, size = 0, other
        cdef const real *m
        self.cost.slopes(point + K * d, P)
        for n in range(self.cost.n):
            size += 2 * fabs(P[n]) * self.sizes[n]
        for k in range(K):
            m = point + k * d
            for j in range(d):
                out.centers[k * d + j], out.quadratic[k * d + j] = m[j], 0
            x = self.set_linear(m, P, out.linear + k * d, &other)
            # the inverse is rounded
            out.offsets[k] = x - half_log_det - 16 * ROUND * size

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
        self.keep_shared(C)

    cdef void keep_shared(self, real *shared) noexcept nogil:
        """Variances are at least 0."""
        cdef int j
        for j in range(self.n_columns):
            shared[self.cost.entry(j, j)] = max(0.0, shared[self.cost.entry(j, j)])

    cdef void seed(self, const real *centers, real *point) noexcept nogil:
        cdef int i, d = self.n_columns, K = self.n_components
        for i in range(K * d):
            point[i] = centers[i]
        for i in range(self.cost.n):
            point[K * d + i] = self.moments[i] / (K * K)

    def slices(self):
        """The trace of the covariance between components."""
        from gopfast.mixtures.shared.slices import MatrixSlices

        return MatrixSlices(self)

    def provable(self):
        """The same without cuts that the checker does not make."""
        return TiedFamily(*self.arguments, cuts=False)

    # The user's coordinates

    def covariances(self, vector):
        """The covariance (d, d) of a solution."""
        first = self.n_components * (1 + self.d)  # after the weights and the means
        cdef real[::1] C = np.ascontiguousarray(vector)[first:first + self.cost.n]
        return self.cost.best(C)

    def pack_covariances(self, covariances, point):
        """Write the covariance (d, d) into parameters."""
        np.asarray(point)[self.n_components * self.d:] = covariances[np.triu_indices(self.d)]
