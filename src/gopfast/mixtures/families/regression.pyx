"""Components that regress a response on some columns, with known or free variance of the errors.

The core sees y and q columns z of regressors, in coordinates in which coefficients are values of the regression at q
places (`families.design`), y in units of the noise or of the floor's square root. With squares Q(b) = sum_i w_i r_i
(y_i - z_i'b)^2 and a fit m, which minimises Q, a component of mass S has the variance v = Q(m) / S and costs S g(v), g
linear for known variance and concave and increasing for a free one (`families.variance`).

In a cell, m in the box c +- h and v in [v0, v1], |z_i'(m - c)| <= sum_j h_j |z_ij|, so that

    omega = Q(c) - sum_i w_i r_i (sum_j h_j |z_ij|)^2 <= Q(c) - sum_i w_i r_i (z_i'(m - c))^2 = S v,

and the chord of g at omega is a minorant, linear in the sums of y^2, y z_j, z_j z_l and |z_j z_l|; so is g(v0). Facets:
the normal equations sum_i w_i r_i (y_i - z_i'c) z_ij = sum_i w_i r_i z_ij z_i'(m - c), whose right side is within
sum_l h_l sum_i w_i r_i |z_ij z_il|; omega <= S v1; Q(t) >= S v0 for any t.

A variance that all components share has v = sum_k Q_k(m_k) / W: the minorants of all have one slope, and the facets of
the variance are sums over the components.

Rounding moves a residual by at most delta, in this cell: (y - z'b)^2 lies between (1 - eta) of the computed square less
delta^2 / eta, and (1 + eta) of it plus (1 + 1 / eta) delta^2. A steep regression near two samples that nearly share
their regressors would lose all digits: there the minorant is made flatter, as any smaller slope is valid too.

A sample may be several rows that belong together: its columns are their sums, and one more is their number, so that S
is the mass of rows, sum_i w_i r_i n_i (J7).

Theory: (J2), (J3), (J4), (J6) and (J7) of docs/theory/regression.md.
"""

import math

import numpy as np

from libc.math cimport INFINITY, M_PI, fabs, log, log1p, sqrt

from gopfast.mixtures.families.family cimport Facet, Subproblem, clear, half_width, has_width, middle_of
from gopfast.mixtures.families.margins cimport DERIVED_SLACK, MOVED, NEGLIGIBLE_WIDTH, SQUARES
from gopfast.mixtures.families.tuning cimport (
    LEAST_MULTIPLIER, LEAST_SIZE, FINE, MOST_LOST, MOST_ROUNDING, NO_MASS, REGRESSION_NARROW as NARROW,
    REGRESSION_RIDGE as RIDGE, SATURATED, TANGENT_AT, TYPICAL_MULTIPLIER, TYPICAL_SHARE_OF_CAP, TYPICAL_SLACK, WIDE
)
from gopfast.mixtures.families.variance cimport line_cost, split_factor, within
from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.mixtures.data.samples cimport Samples
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport clip


cdef inline real chord_slope(real v0, real v1) noexcept nogil:
    """At most the slope of the chord of g: a flatter line through (v0, g(v0)) is a minorant too."""
    cdef real slope = 0.5 / max(v1, 1.0), g0, g1
    if v1 > v0:
        g0, g1 = line_cost(v0, 1.0), line_cost(v1, 1.0)
        slope = max(slope, (g1 - g0 - 16 * ROUND * (1 + fabs(g0) + fabs(g1))) / (v1 - v0))
    return slope * (1 - 8 * ROUND)


cdef class RegressionFamily(Family):
    """Regressions with errors of known variance, 1 in the core's units, or of free variances of at least 1.

    Connected variables of a component: its coefficients (q), then with free variances its variance; or one variance for
    all at the end. The columns are
    y^2, y z_j, z_j z_l for j <= l, and |z_j z_l| where the sign of that product varies.

    Parameters
    ----------
    design : gopfast.mixtures.families.design.Design
    n_components : int
    free_variance : bool
    shared : bool
        Whether all components have one free variance.
    owner : ndarray of int, shape (m,), optional
        The sample that each row of the design belongs to, 0 to n - 1, none skipped and in order; weights are one number
        for all rows of a sample. By default each row is a sample.
    """

    def __init__(self, design, int n_components, bint free_variance, bint shared=False, owner=None):
        cdef int q = design.z.shape[0], j, l, at
        cdef Samples data = Samples.__new__(Samples)
        y, z = design.y, design.z
        self.design, self.n_components, self.n_coefficients, self.free_variance = design, n_components, q, free_variance
        columns = [y * y, *(y * z)]
        at = 1 + q
        for j in range(q):
            for l in range(j, q):
                self.pair[j][l] = self.pair[l][j] = self.size[j][l] = self.size[l][j] = at
                self.sign[j][l] = self.sign[l][j] = 1
                columns.append(z[j] * z[l])
                at += 1
        for j in range(q):
            for l in range(j + 1, q):
                product = columns[self.pair[j][l]]
                if product.max() <= 0:
                    self.sign[j][l] = self.sign[l][j] = -1
                elif product.min() < 0:
                    self.size[j][l] = self.size[l][j] = at
                    columns.append(np.abs(product))
                    at += 1
        columns, weights = np.vstack(columns), design.weights
        self.begins = np.arange(columns.shape[1] + 1, dtype=np.intp)
        self.place_of_mass = 0
        if owner is not None:
            number = np.bincount(owner)
            self.begins = np.concatenate([[0], np.cumsum(number)]).astype(np.intp)
            columns, weights = _sums_of_samples(columns, self.begins), weights[np.asarray(self.begins)[:-1]]
            columns = np.vstack([columns, number])
            at += 1
            self.place_of_mass = at
        data.fill(columns, weights, False, np.zeros(at), 0.0)
        self.mass_of_rows = math.fsum(design.weights)
        self.data, self.n_columns, self.n_statistics = data, at, at
        self.n_shared = shared and n_components > 1
        self.is_one_variance = shared and n_components == 1
        self.n_cell = q + (free_variance and not self.n_shared)
        self.n_connected = n_components * self.n_cell + self.n_shared
        # two of each coefficient, the second minorant; of a variance its largest, two tangents of each coefficient
        self.n_facets = 2 * n_components * q + (1 if self.n_shared else n_components) * (
            1 + (1 + 2 * q if free_variance else 0)
        )
        self.has_prior, self.e_power, self.divisible_cells = False, 0.0, not self.n_shared
        self.set_constant(self.mass_of_rows * log(design.unit), 4 * ROUND * self.mass_of_rows)
        self.low, self.high = np.array(design.low), np.array(design.high)
        self.largest, self.largest_response = np.abs(z).max(axis=1), np.abs(y).max()
        self.has_sample_costs = n_components == 1
        self.response, self.regressors = np.array(y), np.array(z, order="C")
        self.sizes = np.ascontiguousarray(np.abs(np.unique(z, axis=1)))
        self.ceiling = design.largest_variance
        self.pooled = (columns * weights).sum(axis=1) / self.mass_of_rows
        if self.n_shared:  # that of one regression, about which y is
            self.ceiling = max(1.0, min(self.ceiling, self.pooled[0] * (1 + DERIVED_SLACK)))
        self.suggestion = None
        self.most_lost = MOST_LOST if n_components == 1 else INFINITY

    # Cells

    cdef void root(self, real *low, real *high) noexcept nogil:
        cdef int k, j, a
        for k in range(self.n_components):
            for j in range(self.n_coefficients):
                a = k * self.n_cell + j
                low[a], high[a] = self.low[j], self.high[j]
            if self.free_variance:
                a = self.place_of_variance(k)
                low[a], high[a] = 0, self.ceiling

    cdef int place_of_variance(self, int k) noexcept nogil:
        return self.n_components * self.n_cell if self.n_shared else k * self.n_cell + self.n_coefficients

    cdef bint tighten_alone(self, real *low, real *high) noexcept nogil:
        """Nothing is known of one component but its box."""
        return 1

    cdef void open_cell(self, int k, const real *low, const real *high, RegressionCell *cell) noexcept nogil:
        cdef int j, q = self.n_coefficients, of = self.place_of_variance(k)
        cdef real slope, v0 = low[of] if self.free_variance else 0, v1 = high[of] if self.free_variance else INFINITY
        low += k * self.n_cell
        high += k * self.n_cell
        cell.size = self.largest_response
        for j in range(q):
            cell.center[j] = middle_of(low[j], high[j])
            cell.half[j] = half_width(low[j], high[j], cell.center[j])
            cell.size += self.largest[j] * (max(fabs(low[j]), fabs(high[j])) + cell.half[j])
        cell.size = cell.size * (1 + 32 * ROUND) + LEAST_SIZE
        cell.moved = MOVED * cell.size
        cell.part = min(0.5, cell.moved)
        cell.rest = cell.moved * cell.moved / cell.part
        cell.rounding = SQUARES * cell.size * cell.size
        cell.least, cell.most, cell.value = v0, v1, line_cost(v0, 1.0)
        slope = chord_slope(v0, v1) if self.free_variance else 0.5
        cell.full = cell.slope = min(slope, MOST_ROUNDING / cell.rounding)

    cdef void flatten(self, RegressionCell *cell) noexcept nogil:
        """OUT: how far regressions of the cell lie apart, and so the slope of the minorant in use."""
        cell.reach = self.farthest(cell.half)
        cell.reach *= cell.reach
        if cell.reach * cell.slope > self.most_lost:
            cell.slope = self.most_lost / cell.reach

    cdef real farthest(self, const real *half) noexcept nogil:
        """At most sum_j h_j |z_j| over the samples, about."""
        return strip_farthest(<int> self.sizes.shape[1], self.n_coefficients, &self.sizes[0, 0], half)

    cdef void add_squares(self, real times, const real *b, real *to) noexcept nogil:
        cdef int j, l, q = self.n_coefficients
        to[1] += times
        for j in range(q):
            to[2 + j] -= 2 * times * b[j]
            for l in range(j, q):
                to[1 + self.pair[j][l]] += (times if l == j else 2 * times) * b[j] * b[l]

    cdef void add_reach(self, real times, const real *half, real *to) noexcept nogil:
        cdef int j, l, q = self.n_coefficients
        for j in range(q):
            for l in range(j, q):
                to[1 + self.size[j][l]] += self.sign[j][l] * (times if l == j else 2 * times) * half[j] * half[l]

    cdef void relax(self, const real *low, const real *high, Subproblem *out) noexcept nogil:
        cdef int k, s, F = self.n_statistics
        cdef real mass = self.mass_of_rows / self.n_components
        cdef pass_costs *costs = &out.minorant
        cdef RegressionCell cell
        cdef Facet *facet = out.facets
        cdef real *linear
        cdef real slope = INFINITY
        out.constant = out.prior = out.e_low = out.e_high = 0
        if self.n_shared:
            slope = self.least_slope(low, high)
        for k in range(self.n_components):
            self.open_cell(k, low, high, &cell)
            self.flatten(&cell)
            cell.slope = min(slope, cell.slope)
            linear = costs.linear + k * F
            for s in range(F):
                costs.centers[k * F + s] = costs.quadratic[k * F + s] = linear[s] = 0
            # the coefficient of the mass comes first where these write
            self.add_squares(cell.slope * (1 - cell.part), cell.center, linear - 1)
            self.add_reach(-cell.slope * (1 + 8 * ROUND), cell.half, linear - 1)
            costs.offsets[k] = cell.slope * (cell.least + cell.rest + cell.rounding) - cell.value
            costs.offsets[k] += 32 * ROUND * (1 + fabs(cell.value) + cell.slope * (cell.least + cell.rest))
            self.charge_rows(costs, k)
            facet = self.bound_coefficients(facet, k, &cell, mass)
            if not self.n_shared:
                facet = self.bound_variance(facet, k, 1, low, high, cell.slope, mass)
        if self.n_shared:
            facet = self.bound_variance(facet, 0, self.n_components, low, high, slope, self.mass_of_rows)

    cdef void charge_rows(self, pass_costs *costs, int k) noexcept nogil:
        """The offset as it stands, which is for each row, becomes a slope of their number where that is a column."""
        if self.place_of_mass:
            costs.linear[k * self.n_statistics + self.place_of_mass - 1] = -costs.offsets[k]
            costs.offsets[k] = 0

    cdef real rows_of(self, real mass, const real *moments) noexcept nogil:
        """The mass of a component's rows."""
        return moments[self.place_of_mass - 1] if self.place_of_mass else mass

    cdef real least_slope(self, const real *low, const real *high) noexcept nogil:
        """Of all components' minorants: one slope for those that share a variance."""
        cdef int k
        cdef real slope = INFINITY
        cdef RegressionCell cell
        for k in range(self.n_components):
            self.open_cell(k, low, high, &cell)
            self.flatten(&cell)
            slope = min(slope, cell.slope)
        return slope

    cdef Facet *bound_coefficients(self, Facet *facet, int k, const RegressionCell *cell, real mass) noexcept nogil:
        """OUT: two facets for each coefficient, by the normal equations; returns the next."""
        cdef int j, l, side, q = self.n_coefficients, F = self.n_statistics
        cdef real *to
        for j in range(q):
            for side in range(-1, 2, 2):
                clear(facet, has_width(cell.half[j], cell.center[j] - cell.half[j], cell.center[j] + cell.half[j]),
                      k * (1 + F), 1 + F)
                to = facet.coefficients
                to[self.place_of_mass] = (4 * cell.moved + SQUARES * cell.size) * self.largest[j]
                to[2 + j] += side
                for l in range(q):
                    to[1 + self.pair[j][l]] -= side * cell.center[l]
                    to[1 + self.size[j][l]] += self.sign[j][l] * cell.half[l] * (1 + 8 * ROUND)
                facet.multiplier = max(TYPICAL_MULTIPLIER * cell.slope * cell.half[j], LEAST_MULTIPLIER)
                facet.slack = TYPICAL_SLACK * mass * cell.half[j]
                facet += 1
        return facet

    cdef Facet *bound_variance(self, Facet *facet, int first, int n, const real *low, const real *high, real slope,
                               real mass) noexcept nogil:
        """OUT: the second minorant, and the facets of a free variance of n components; returns the next."""
        cdef int j, k, l, side, q = self.n_coefficients, F = self.n_statistics
        cdef real b[MOST_COEFFICIENTS]
        cdef real *to
        cdef real half, multiplier, middle, reach = 0
        cdef bint active
        cdef RegressionCell cell
        clear(facet, True, first * (1 + F), n * (1 + F))
        for k in range(n):
            self.open_cell(first + k, low, high, &cell)
            self.flatten(&cell)
            reach = max(reach, cell.reach)
            to = facet.coefficients + k * (1 + F)
            # exactly what the minorant holds: rounding up to the cap is in the minorant's margin
            self.add_squares(1 - cell.part, cell.center, to)
            self.add_reach(-1, cell.half, to)
            to[self.place_of_mass] = -cell.least
        facet.active = reach > NARROW * (cell.most if self.free_variance else 1.0)
        facet.cap, facet.multiplier = slope * (1 - 8 * ROUND), TYPICAL_SHARE_OF_CAP * slope
        facet.slack = TYPICAL_SLACK * reach * mass
        facet += 1
        if not self.free_variance:
            return facet
        half, middle = 0.5 * (cell.most - cell.least), 0.5 * (cell.least + cell.most)
        active = half > NEGLIGIBLE_WIDTH * cell.most
        multiplier = max(0.0, line_cost(middle, 1.0) - 0.5 * (line_cost(cell.least, 1.0) + line_cost(cell.most, 1.0)))
        multiplier = max(TYPICAL_MULTIPLIER * multiplier / half if half > 0 else 0.0,
                         LEAST_MULTIPLIER / max(cell.most, 1.0))
        clear(facet, active, first * (1 + F), n * (1 + F))
        for k in range(n):
            self.open_cell(first + k, low, high, &cell)
            to = facet.coefficients + k * (1 + F)
            self.add_squares(-(1 - cell.part), cell.center, to)
            self.add_reach(1 + 8 * ROUND, cell.half, to)
            to[self.place_of_mass] = cell.most * (1 + 8 * ROUND) + cell.rest + cell.rounding
        facet.multiplier, facet.slack = multiplier, TYPICAL_SLACK * half * mass
        facet += 1
        for j in range(q):
            for side in range(-1, 2, 2):
                clear(facet, active and cell.least > 0, first * (1 + F), n * (1 + F))
                for k in range(n):
                    self.open_cell(first + k, low, high, &cell)
                    for l in range(q):
                        b[l] = cell.center[l]
                    b[j] += side * TANGENT_AT * cell.half[j]
                    to = facet.coefficients + k * (1 + F)
                    self.add_squares(1 + cell.part, b, to)
                    to[self.place_of_mass] = (
                        cell.rest + cell.moved * cell.moved + 2 * cell.rounding - cell.least * (1 - 8 * ROUND))
                facet.multiplier, facet.slack = multiplier / (2 * q), TYPICAL_SLACK * half * mass
                facet += 1
        return facet

    # Fits

    cdef void least_squares(self, real mass, const real *moments, real *b) noexcept nogil:
        """By Cholesky's factors of the sums of products; a little of all samples' keeps them definite."""
        cdef real L[MOST_COEFFICIENTS][MOST_COEFFICIENTS]
        cdef int j, l, i, q = self.n_coefficients
        cdef real x
        for j in range(q):
            b[j] = moments[1 + j] / mass + RIDGE * self.pooled[1 + j]
            for l in range(j + 1):
                x = moments[self.pair[j][l]] / mass + RIDGE * self.pooled[self.pair[j][l]]
                for i in range(l):
                    x -= L[j][i] * L[l][i]
                if l < j:
                    L[j][l] = x / L[l][l]
                else:
                    L[j][j] = sqrt(max(x, RIDGE * RIDGE * self.pooled[self.pair[j][j]]))
        for j in range(q):
            for i in range(j):
                b[j] -= L[j][i] * b[i]
            b[j] /= L[j][j]
        for j in range(q - 1, -1, -1):
            for i in range(j + 1, q):
                b[j] -= L[i][j] * b[i]
            b[j] /= L[j][j]

    cdef real squares(self, real mass, const real *moments, const real *b) noexcept nogil:
        cdef int j, q = self.n_coefficients
        cdef real total = moments[0]
        for j in range(q):
            total += b[j] * (self.row(moments, j, b, False) - 2 * moments[1 + j])
        return max(0.0, total / mass)

    cdef real row(self, const real *moments, int j, const real *h, bint sizes) noexcept nogil:
        cdef int l
        cdef real total = 0
        for l in range(self.n_coefficients):
            if sizes:
                total += self.sign[j][l] * moments[self.size[j][l]] * h[l]
            else:
                total += moments[self.pair[j][l]] * h[l]
        return total

    cdef void split_points(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                           const real *moments, real e, real *point, real *error) noexcept nogil:
        cdef int k, j, a, q = self.n_coefficients
        cdef RegressionCell cell
        cdef real b[MOST_COEFFICIENTS]
        cdef real away[MOST_COEFFICIENTS]
        cdef real v = 1, s, lost, room = 1, unit = 1, lost_by_all = 0, within_all = 0, total = 0
        cdef const real *of
        for k in range(self.n_components):
            a, of = k * self.n_cell, moments + k * self.n_statistics
            s = self.rows_of(mass[k], of) if mass[k] > NO_MASS else 0
            self.open_cell(k, low, high, &cell)
            if s > 0:
                self.least_squares(s, of, b)
            for j in range(q):
                b[j] = clip(b[j], low[a + j], high[a + j]) if s > 0 else cell.center[j]
                away[j] = within(b[j], low[a + j], high[a + j]) - cell.center[j]
            # away: facets are loose in wide boxes, and a fit on a face is no reason not to split there
            lost = 0
            for j in range(q):
                error[a + j] = 0
                if s > 0:
                    error[a + j] = max(0.0, cell.half[j] * self.row(of, j, cell.half, True)
                                       - away[j] * self.row(of, j, away, False))
                lost += error[a + j]
                point[a + j] = b[j]
            if s > 0:
                v = self.squares(s, of, b) if self.free_variance else 1
                within_all += s * v
                lost_by_all += lost
                total += s
            if self.free_variance and not self.n_shared:
                self.split_variance(a + q, v if s > 0 else 1.0, s, lost, low, high, point, error, &room, &unit)
            if not self.n_shared:
                self.split_coefficients(&cell, k, s, room, unit, point, error)
        if self.n_shared:
            v = within_all / total if total > 0 else 1.0
            self.split_variance(self.n_components * self.n_cell, v, total, lost_by_all, low, high, point, error, &room,
                                &unit)
            for k in range(self.n_components):
                self.open_cell(k, low, high, &cell)
                s = self.rows_of(mass[k], moments + k * self.n_statistics) if mass[k] > NO_MASS else 0
                self.split_coefficients(&cell, k, s, room, unit, point, error)

    cdef void split_variance(self, int at, real v, real mass, real lost, const real *low, const real *high, real *point,
                             real *error, real *room, real *unit) noexcept nogil:
        cdef real v0 = low[at], v1 = high[at]
        v = clip(v, v0, v1)
        error[at] = mass * max(0.0, line_cost(v, 1.0) - line_cost(v0, 1.0) - chord_slope(v0, v1) * (v - v0))
        point[at] = split_factor(v, v0, v1, 1.0)
        unit[0] = sqrt(max(1.0, point[at]))
        room[0] = min(1.0, mass * (v - v0) / lost) if lost > 0 else 1.0

    cdef void split_coefficients(self, const RegressionCell *cell, int k, real mass, real room, real unit, real *point,
                                 real *error) noexcept nogil:
        cdef int j, a
        cdef real middle
        for j in range(self.n_coefficients):
            a = k * self.n_cell + j
            if mass > 0:
                error[a] = mass * SATURATED * log1p(cell.full * room * error[a] / (SATURATED * mass))
            # in wide boxes, in which the fit may lie anywhere, a part around it that is far narrower
            middle = cell.center[j] - point[a]
            if cell.half[j] > WIDE * unit:
                point[a] += (1 if middle >= 0 else -1) * sqrt(WIDE * unit * cell.half[j])
            else:
                point[a] += clip(0.3 * middle, -unit, unit)

    cdef int strips(self, index first, index end, const RegressionCell *cell, real *residual,
                    real *reach) noexcept nogil:
        """Residuals of the next rows at the middle of a cell, and half the widths of their strips; how many."""
        cdef int n = <int> min(end - first, STRIP_ROWS)
        strip_rows(n, self.n_coefficients, self.response.shape[0], &self.response[first], &self.regressors[0, first],
                   cell.center, cell.half, residual, reach)
        return n

    cdef bint least_costs(self, const real *low, const real *high, real *out) noexcept nogil:
        """By the rows' own distances from the strip that regressions of the cell run through (J6)."""
        cdef RegressionCell cell
        cdef index s = 0, m = self.response.shape[0], first = 0
        cdef int at, n
        cdef real residual[STRIP_ROWS]
        cdef real reach[STRIP_ROWS]
        cdef real square[STRIP_ROWS]
        cdef real least, most, low_log, high_log, number, farthest = 0, total = 0
        self.open_cell(0, low, high, &cell)
        least = max(1.0, cell.least) if self.free_variance else 1
        most = max(1.0, cell.most) if self.free_variance else 1
        low_log, high_log = 0.5 * log(2 * M_PI * least), 0.5 * log(2 * M_PI * most)
        while first < m:
            n = self.strips(first, m, &cell, residual, reach)
            farthest = max(farthest, strip_squares(n, residual, reach, 4 * cell.moved, square))
            if not self.place_of_mass:
                strip_costs(n, square, least, most, low_log, high_log, out + first)
            for at in range(n if self.place_of_mass else 0):
                total += square[at]
                if first + at + 1 < self.begins[s + 1]:
                    continue
                number = self.begins[s + 1] - self.begins[s]
                total /= number
                strip_costs(1, &total, least, most, low_log, high_log, out + s)
                out[s] = number * (out[s] - (number - 1) * ROUND * (1 + fabs(out[s])))
                total = 0
                s += 1
            first += n
        return farthest * farthest <= FINE * least

    cdef void lost_by_samples(self, const real *low, const real *high, const real *shares, real *error) noexcept nogil:
        """Saturated row by row: who is far from all regressions of the cell loses nothing worth a split."""
        cdef RegressionCell cell
        cdef index s = 0, m = self.response.shape[0], first = 0
        cdef int at, n, j, q = self.n_coefficients
        cdef real residual[STRIP_ROWS]
        cdef real reach[STRIP_ROWS]
        cdef real share[STRIP_ROWS]
        cdef real least, most, v, mass = 0
        self.open_cell(0, low, high, &cell)
        least = max(1.0, cell.least) if self.free_variance else 1
        most = max(1.0, cell.most) if self.free_variance else 1
        v = sqrt(least * most)
        for j in range(q):
            error[j] = 0
        while first < m:
            n = self.strips(first, m, &cell, residual, reach)
            for at in range(n):
                while first + at >= self.begins[s + 1]:
                    s += 1
                share[at] = shares[s]
                mass += share[at]
                residual[at] = min(fabs(residual[at]), reach[at]) + 0.5 * reach[at]
            for j in range(q):
                error[j] += SATURATED * strip_saturated(n, &self.regressors[j, first], residual, share,
                                                        cell.half[j] / (v * SATURATED))
            first += n
        if self.free_variance:
            error[q] = 0.5 * mass * log(most / least)

    # EM

    cdef void costs(self, const real *point, pass_costs *out) noexcept nogil:
        cdef int k, s, F = self.n_statistics
        cdef RegressionCell cell
        cdef real v = 1
        cdef const real *at
        for k in range(self.n_components):
            at = point + k * self.n_cell
            self.open_cell(k, point, point, &cell)
            v = max(1.0, point[self.place_of_variance(k)]) if self.free_variance else 1
            for s in range(F):
                out.centers[k * F + s] = out.linear[k * F + s] = out.quadratic[k * F + s] = 0
            self.add_squares(0.5 / v * (1 + cell.part), at, out.linear + k * F - 1)
            out.offsets[k] = -0.5 * (log(2 * M_PI * v) + (cell.rest + cell.moved * cell.moved + cell.rounding) / v)
            self.charge_rows(out, k)

    cdef void maximise(self, const real *mass, const real *moments, real e, const pass_costs *costs,
                       real *point) noexcept nogil:
        cdef int k, j, q = self.n_coefficients
        cdef real v, s, squares = 0, of_all = 0
        cdef real *at
        cdef const real *of
        for k in range(self.n_components):
            if not mass[k] > NO_MASS:
                continue
            at, of = point + k * self.n_cell, moments + k * self.n_statistics
            s = self.rows_of(mass[k], of)
            self.least_squares(s, of, at)
            for j in range(q):
                at[j] = clip(at[j], self.low[j], self.high[j])
            if self.free_variance:
                v = self.squares(s, of, at)
                squares += s * v
                of_all += s
                if not self.n_shared:
                    at[q] = max(1.0, v)
        if self.n_shared and of_all > 0:
            point[self.n_components * self.n_cell] = max(1.0, squares / of_all)

    cdef void seed(self, const real *centers, real *point) noexcept nogil:
        """Shifted copies of the regression of all, through one sample each."""
        cdef int k, j, q = self.n_coefficients, F = self.n_statistics
        cdef real weight, K = self.n_components
        cdef const real *of
        for k in range(self.n_components):
            of = centers + k * F
            weight = 0
            for j in range(q):
                weight += of[self.pair[j][j]]
            for j in range(q):
                # the least change of all coefficients, as y^2 and y z_j tell of the sample
                point[k * self.n_cell + j] = clip(of[1 + j] / weight if weight > 0 else 0.0, self.low[j], self.high[j])
            if self.free_variance:
                point[self.place_of_variance(k)] = max(1.0, self.pooled[0] / (K * K))

    @property
    def returns_rounded(self):
        """Coefficients are those of other coordinates."""
        return True

    def metric(self):
        """Weights (F,) of the columns in the squared distance that starts are drawn by: those of y z_j."""
        weights = Family.metric(self)
        weights[:1] = weights[1 + self.n_coefficients:] = 0.0
        return weights

    def suggest(self, weights, **parameters):
        """Take a fit in the user's units that local searches may start from; returns the family."""
        self.suggestion = np.concatenate([weights, self.pack(**parameters)])
        return self

    def suggested(self):
        """Weights (K,) and parameters (n_connected,) of a fit that is known, in one array, or None."""
        return self.suggestion

    def provable(self):
        """Itself."""
        return self

    @property
    def owner(self):
        """The sample (m,) that each row belongs to; None where each is one."""
        return np.repeat(np.arange(len(self.begins) - 1), np.diff(self.begins)) if self.place_of_mass else None

    def slices(self):
        """A shared variance."""
        from gopfast.mixtures.shared.slices import RegressionSlices

        return RegressionSlices(self) if self.n_shared else None

    def use_box(self, low, high, real largest_variance):
        """Take another box (q,), (q,) that holds all fits, and another bound of variances, of which proofs speak."""
        self.design = self.design._replace(low=low, high=high, largest_variance=largest_variance)
        self.low, self.high, self.ceiling = np.array(low), np.array(high), largest_variance

    def one_component(self, problem, data=None):
        """The same of the same samples, which have no summaries; None where all share one variance."""
        return None if self.n_shared else RegressionFamily(
            self.design, 1, self.free_variance, owner=self.owner
        )

    # The user's units

    def parameters(self, vector):
        """Coefficients (K, p), intercepts (K,) and variances (K,)."""
        K, q = self.n_components, self.n_coefficients
        vector = np.asarray(vector)[K:K + self.n_connected]
        cells = vector[:K * self.n_cell].reshape(K, self.n_cell)
        if self.n_shared:
            return self.design.in_users(cells[:, :q], vector[K * self.n_cell], "variance")
        if self.is_one_variance:  # of one component
            return self.design.in_users(cells[:, :q], cells[0, q], "variance")
        return self.design.in_users(cells[:, :q], cells[:, q] if self.free_variance else None)

    def pack(self, coefficients, intercepts=None, variances=None, variance=None):
        """Connected variables (n_connected,) of the user's parameters."""
        K, q = self.n_components, self.n_coefficients
        if variance is not None and not self.n_shared:  # of one component
            variances = [variance]
        cells = np.empty((K, self.n_cell))
        cells[:, :q] = self.design.in_core(coefficients, intercepts)
        if self.n_shared:
            return np.append(cells.ravel(), 1.0 if variance is None else variance / self.design.unit**2)
        if self.free_variance:
            cells[:, q] = 1.0 if variances is None else np.asarray(variances) / self.design.unit**2
        return cells.ravel()


def _sums_of_samples(columns, begins):
    """Sums (F, n) of columns (F, m) over the rows of each sample, rounded once."""
    return np.array([
        [math.fsum(row[i:j]) for i, j in zip(begins[:-1], begins[1:], strict=True)] for row in columns.tolist()
    ])
