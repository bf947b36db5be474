"""Gaussian components of free variance: one per component and coordinate, per component, or one for all.

In units of the variance floor, with statistics S, T, Q = sum_i w_i r_i x_i^2, mean m = T / S and variance
v = Q / S - m^2, a coordinate's cost per unit of mass is

    g(v) = 1/2 log(2 pi max(v, 1)) + v / (2 max(v, 1)),

concave and increasing. In a cell m in [l, u], v in [v0, v1] the chord of g at

    omega = Q / S - (l + u) m + l u = v - (m - l)(u - m) <= v

is a minorant, linear in (S, T, Q), and so is the constant g(v0). Their maximum is the convex envelope: the hull of the
cell has as its extreme points those with v = v0, of cost g(v0), and the two with v = v1 and m = l or u; the cost being
concave, the envelope is the lower hull of the extreme points' costs, g(v0) + s max(0, omega - v0), s the chord's slope.
The facet omega >= v0, its multiplier capped by s, turns the first minorant into the second. Facets: l <= m <= u,
omega <= v1, and v >= v0 by tangents of m^2 at (3 l + u)/4 and (l + 3 u)/4. Where coordinates (or, shared by all,
components) have one variance, v and omega are their means.

Theory: (F3), (F4), (F5) and (F6) of docs/theory/families.md.
"""

import numpy as np

from libc.math cimport M_PI, fabs, log, sqrt

from gopfast.mixtures.families.family cimport bound_mean, clear, half_width, has_width, middle_of, order_components
from gopfast.mixtures.families.margins cimport DERIVED_SLACK, NEGLIGIBLE_WIDTH
from gopfast.mixtures.families.tuning cimport (
    LEAST_MULTIPLIER, NORMAL_NARROW as NARROW, TANGENT_AT, TYPICAL_MULTIPLIER, TYPICAL_SHARE_OF_CAP, TYPICAL_SLACK
)
from gopfast.mixtures.families.variance cimport bhatia_davis, line_cost, split_factor, split_inside
from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.mixtures.data.samples cimport Samples
from gopfast.search.types cimport clip
from gopfast.search.rounding cimport ROUND

# Facets of a variance, in this order: omega <= v1; the second minorant, omega >= v0; tangents of m^2 for v >= v0. More
# tangents save no more than a tenth of the nodes.
cdef enum:
    OMEGA_MOST = 0
    SECOND_MINORANT = 1
    LOWER_TANGENT = 2
    UPPER_TANGENT = 3
    VARIANCE_FACETS = 4


cdef inline real cost(real v) noexcept nogil:
    """g(v) in nats per unit of mass."""
    return line_cost(v, 1.0)


cdef inline real chord_slope(real v0, real v1) noexcept nogil:
    """At most the slope of the chord of g: a flatter line through (v0, g(v0)) is a minorant too."""
    cdef real slope = 0.5 / max(v1, 1.0), g0, g1
    if v1 > v0:
        g0, g1 = cost(v0), cost(v1)
        slope = max(slope, (g1 - g0 - 16 * ROUND * (1 + fabs(g0) + fabs(g1))) / (v1 - v0))
    return slope * (1 - 8 * ROUND)


cdef class NormalFamily(Family):
    """Components of free variance, at least 1 in the core's coordinates.

    Connected variables of a component: its mean (d), then its variances (d or 1); those that all components share are
    at the end.

    Parameters
    ----------
    data : Samples
        Scaled by the square root of the floor, with squares as statistics.
    n_components : int
    per_column : bool
        Whether each coordinate has a variance of its own, not one for all of them.
    shared : bool
        Whether all components have the same variances.
    """

    def __init__(self, Samples data, int n_components, bint per_column=False, bint shared=False):
        cdef int d = data.n_columns
        columns, weights = data.arrays()
        self.data, self.n_components, self.n_columns, self.n_statistics = data, n_components, d, 2 * d
        self.per_column = per_column
        self.n_groups = 0 if shared else d if per_column else 1
        self.group_size = 1 if per_column else d
        self.n_cell, self.n_shared = d + self.n_groups, (d if per_column else 1) if shared else 0
        self.n_connected = n_components * self.n_cell + self.n_shared
        self.n_facets = 2 * n_components * d + VARIANCE_FACETS * (n_components * self.n_groups + self.n_shared)
        self.has_prior, self.e_power = False, 0.0
        self.divisible_cells = not self.n_shared
        logs = data.total_weight * np.log(data.scale)
        self.constant, self.constant_size = logs.sum(), np.abs(logs).sum()
        self.low, self.high = columns.min(axis=1), columns.max(axis=1)
        mean = np.average(columns, axis=1, weights=weights)
        self.variances = np.average(np.square(columns - mean[:, None]), axis=1, weights=weights)
        # no larger variance can be optimal: half the range squared; for a shared one the variance of all data
        ceiling = np.square(0.5 * (np.asarray(self.high) - np.asarray(self.low)))
        if not (per_column or shared):
            ceiling = np.array([ceiling.mean()])
        elif shared:
            ceiling = np.array(self.variances) if per_column else np.array([np.mean(self.variances)])
        self.ceiling = np.ascontiguousarray(ceiling * (1 + DERIVED_SLACK))

    cdef void root(self, real *low, real *high) noexcept nogil:
        cdef int k, j, a, d = self.n_columns
        for k in range(self.n_components):
            for j in range(d):
                low[k * self.n_cell + j], high[k * self.n_cell + j] = self.low[j], self.high[j]
            for j in range(self.n_groups):
                a = k * self.n_cell + d + j
                low[a], high[a] = 0, self.ceiling[j]
        for j in range(self.n_shared):
            a = self.n_components * self.n_cell + j
            low[a], high[a] = 0, self.ceiling[j]

    cdef int variance_at(self, int k, int j) noexcept nogil:
        """The connected variable that is the variance of column j of component k."""
        cdef int g = j // self.group_size
        return (k * self.n_cell + self.n_columns if self.n_groups else self.n_components * self.n_cell) + g

    cdef real largest_variance(self, const real *low, const real *high, int k, int g) noexcept nogil:
        cdef int i, j, a
        cdef real total = 0
        for i in range(self.group_size):
            j = g + i
            a = k * self.n_cell + j
            total += bhatia_davis(self.low[j], self.high[j], low[a], high[a])
        return total / self.group_size * (1 + DERIVED_SLACK)

    cdef bint tighten(self, real *low, real *high) noexcept nogil:
        return order_components(self.n_components, self.n_cell, low, high) and self.tighten_alone(low, high)

    cdef bint tighten_alone(self, real *low, real *high) noexcept nogil:
        """Variances that no samples of such a mean have."""
        cdef int k, g, a, d = self.n_columns
        for k in range(self.n_components):
            for g in range(self.n_groups):
                a = k * self.n_cell + d + g
                high[a] = min(high[a], self.largest_variance(low, high, k, g))
                if low[a] > high[a]:
                    return 0
        return 1

    cdef void relax(self, const real *low, const real *high, Subproblem *out) noexcept nogil:
        cdef int k, j, g, a, b, d = self.n_columns, K = self.n_components
        cdef real center, half, slope, v0, v1, mass = self.data.core.total_weight / K, inner
        cdef pass_costs *costs = &out.minorant
        cdef Facet *facet = out.facets
        cdef real *halves = costs.linear  # filled with the half widths until the end
        out.constant = out.prior = out.e_low = out.e_high = 0
        for k in range(K):
            costs.offsets[k] = 0
            for j in range(d):
                a = k * self.n_cell + j
                center = middle_of(low[a], high[a])
                half = half_width(low[a], high[a], center)
                b = self.variance_at(k, j)
                v0, v1 = low[b], high[b]
                slope = chord_slope(v0, v1)
                costs.centers[k * d + j], costs.quadratic[k * d + j] = center, slope
                halves[k * d + j] = half
                inner = slope * (v0 + half * half)
                costs.offsets[k] += inner - cost(v0) + 32 * ROUND * (1 + inner + fabs(cost(v0)))
                facet = bound_mean(facet, has_width(half, low[a], high[a]), k * (1 + 2 * d), 1 + d, j, half, mass,
                                   TYPICAL_MULTIPLIER * slope * half)
            for g in range(self.n_groups):
                a = k * self.n_cell + d + g
                facet = self.bound_variance(facet, k, 1, g, mass, low[a], high[a], halves)
        for g in range(self.n_shared):
            a = K * self.n_cell + g
            facet = self.bound_variance(facet, 0, K, g, self.data.core.total_weight, low[a], high[a], halves)
        for k in range(K * d):
            costs.linear[k] = 0

    cdef Facet *bound_variance(self, Facet *facet, int first, int n_components, int g, real mass, real v0, real v1,
                               const real *halves) noexcept nogil:
        """OUT: facets in the order of OMEGA_MOST and so on; returns the next."""
        cdef int d = self.n_columns, F = 1 + 2 * d, n = self.group_size, which, k, i, j, at
        cdef real middle = 0.5 * (v0 + v1), slope = chord_slope(v0, v1), error, half, widest = 0, t, level, multiplier
        cdef bint active
        error = max(0.0, cost(middle) - 0.5 * (cost(v0) + cost(v1)))
        half = 0.5 * (v1 - v0)
        for k in range(n_components):
            for i in range(n):
                widest = max(widest, halves[(first + k) * d + g + i])
        widest *= widest
        active = half > NEGLIGIBLE_WIDTH * v1
        multiplier = max(TYPICAL_MULTIPLIER * error / half if half > 0 else 0.0, LEAST_MULTIPLIER / max(v1, 1.0))
        for which in range(VARIANCE_FACETS):
            clear(facet, active and (which == OMEGA_MOST or v0 > 0), first * F, n_components * F)
            facet.multiplier, facet.slack = multiplier, TYPICAL_SLACK * n * half * mass
            if which == OMEGA_MOST:
                level = v1 * (1 + 8 * ROUND)
            elif which == SECOND_MINORANT:
                # Exactly what the minorant holds: rounding up to the cap is in the minorant's margin.
                facet.active, level = widest > NARROW * v1, -v0
                facet.cap, facet.multiplier = slope * (1 - 4 * ROUND), TYPICAL_SHARE_OF_CAP * slope
                facet.slack = TYPICAL_SLACK * n * widest * mass
            else:
                facet.multiplier, level = multiplier / (VARIANCE_FACETS - LOWER_TANGENT), -v0 * (1 - 8 * ROUND)
            for k in range(n_components):
                for i in range(n):
                    j = g + i
                    t = halves[(first + k) * d + j]
                    at = k * F
                    if which == OMEGA_MOST:
                        facet.coefficients[at] += t * t * (1 + 8 * ROUND)
                        facet.coefficients[at + 1 + d + j] = -1
                    elif which == SECOND_MINORANT:
                        facet.coefficients[at] -= t * t
                        facet.coefficients[at + 1 + d + j] = 1
                    else:
                        t *= TANGENT_AT if which == UPPER_TANGENT else -TANGENT_AT
                        facet.coefficients[at] += t * t
                        facet.coefficients[at + 1 + j] = -2 * t
                        facet.coefficients[at + 1 + d + j] = 1
                if n_components == 1:
                    facet.coefficients[0] += n * level
            if n_components > 1:
                facet.constant = n * mass * level
            facet += 1
        return facet

    cdef void split_points(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                           const real *moments, real e, real *point, real *error) noexcept nogil:
        cdef int k, j, g
        cdef real room
        for g in range(self.n_shared):
            room = self.split_shared(low, high, sub, mass, moments, g, point, error)
            for k in range(self.n_components):
                for j in range(g, g + self.group_size):
                    self.split_mean(low, high, sub, k, j, mass[k], moments, room, point, error)
        for k in range(self.n_components):
            for g in range(self.n_groups):
                room = self.split_own(low, high, sub, k, g, mass[k], moments, point, error)
                for j in range(g, g + self.group_size):
                    self.split_mean(low, high, sub, k, j, mass[k], moments, room, point, error)

    cdef real split_shared(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                           const real *moments, int g, real *point, real *error) noexcept nogil:
        cdef int k, j, d = self.n_columns, n = self.group_size, b = self.n_components * self.n_cell + g
        cdef real v = 0, total = 0, lost = 0, z, slope = chord_slope(low[b], high[b])
        for k in range(self.n_components):
            for j in range(g, g + n):
                z = moments[k * 2 * d + j]
                v += moments[k * 2 * d + d + j] - (z * z / mass[k] if mass[k] > 0 else 0)
                lost += mass[k] * self.omega_loss(low, high, sub, k, j, mass[k], moments)
            total += mass[k]
        v = clip(v / (n * total) if total > 0 else 0, low[b], high[b])
        error[b] = n * total * max(0.0, cost(v) - cost(low[b]) - slope * (v - low[b]))
        point[b] = split_factor(v, low[b], high[b], 1.0)
        return min(1.0, n * total * (v - low[b]) / lost) if lost > 0 else 1

    cdef real split_own(self, const real *low, const real *high, const Subproblem *sub, int k, int g, real s,
                        const real *moments, real *point, real *error) noexcept nogil:
        cdef int j, d = self.n_columns, n = self.group_size, b = k * self.n_cell + d + g
        cdef real v = 0, lost = 0, z, slope = chord_slope(low[b], high[b])
        for j in range(g, g + n):
            z = moments[k * 2 * d + j] / s if s > 0 else 0
            v += (moments[k * 2 * d + d + j] / s - z * z) if s > 0 else 1.0
            lost += self.omega_loss(low, high, sub, k, j, s, moments)
        v = clip(v / n, low[b], high[b])
        error[b] = s * n * max(0.0, cost(v) - cost(low[b]) - slope * (v - low[b]))
        point[b] = split_factor(v, low[b], high[b], 1.0)
        # omega is not below v0, by the second minorant
        return min(1.0, n * (v - low[b]) / lost) if lost > 0 else 1

    cdef void split_mean(self, const real *low, const real *high, const Subproblem *sub, int k, int j, real s,
                         const real *moments, real room, real *point, real *error) noexcept nogil:
        cdef int a = k * self.n_cell + j, d = self.n_columns
        cdef real m = sub.minorant.centers[k * d + j] + (moments[k * 2 * d + j] / s if s > 0 else 0)
        error[a] = s * sub.minorant.quadratic[k * d + j] * room * self.omega_loss(low, high, sub, k, j, s, moments)
        m = clip(m, low[a], high[a])
        point[a] = split_inside(m, low[a], high[a], sqrt(max(1.0, point[self.variance_at(k, j)])))

    cdef real omega_loss(self, const real *low, const real *high, const Subproblem *sub, int k, int j, real mass,
                         const real *moments) noexcept nogil:
        cdef int a = k * self.n_cell + j, d = self.n_columns
        cdef real m = sub.minorant.centers[k * d + j] + (moments[k * 2 * d + j] / mass if mass > 0 else 0)
        m = clip(m, low[a], high[a])
        return (m - low[a]) * (high[a] - m)

    cdef void costs(self, const real *point, pass_costs *out) noexcept nogil:
        cdef int k, j, d = self.n_columns
        cdef real v
        for k in range(self.n_components):
            out.offsets[k] = 0
            for j in range(d):
                v = max(1.0, point[self.variance_at(k, j)])
                out.centers[k * d + j], out.linear[k * d + j] = point[k * self.n_cell + j], 0
                out.quadratic[k * d + j] = 0.5 / v
                out.offsets[k] -= 0.5 * log(2 * M_PI * v)

    cdef void maximise(self, const real *mass, const real *moments, real e, const pass_costs *costs,
                       real *point) noexcept nogil:
        cdef int k, j, g, d = self.n_columns
        cdef int n_variances = self.n_shared if self.n_shared else self.n_groups  # of a component
        cdef real v, z
        cdef real *shared = point + self.n_components * self.n_cell
        for g in range(self.n_shared):
            shared[g] = 0
        for k in range(self.n_components):
            if not mass[k] > 0:
                continue
            for g in range(n_variances):
                v = 0
                for j in range(g, g + self.group_size):
                    z = moments[k * 2 * d + j] / mass[k]
                    v += moments[k * 2 * d + d + j] / mass[k] - z * z
                if self.n_shared:
                    shared[g] += mass[k] * v
                else:
                    point[k * self.n_cell + d + g] = max(1.0, v / self.group_size)
            for j in range(d):
                point[k * self.n_cell + j] += moments[k * 2 * d + j] / mass[k]
        for g in range(self.n_shared):
            shared[g] /= self.group_size * self.data.core.total_weight
        self.keep_shared(shared)

    cdef void keep_shared(self, real *shared) noexcept nogil:
        """Variances are at least the floor."""
        cdef int g
        for g in range(self.n_shared):
            shared[g] = max(1.0, shared[g])

    cdef void seed(self, const real *centers, real *point) noexcept nogil:
        cdef int k, j, g, d = self.n_columns, K = self.n_components
        cdef real v
        for k in range(K):
            for j in range(d):
                point[k * self.n_cell + j] = centers[k * d + j]
            for g in range(self.n_groups):
                v = 0
                for j in range(g, g + self.group_size):
                    v += self.variances[j] / self.group_size
                point[k * self.n_cell + d + g] = max(1.0, v / (K * K))
        for g in range(self.n_shared):
            point[K * self.n_cell + g] = max(1.0, self.ceiling[g] / (K * K))

    def chart(self):
        """Locations and precisions; None where components share variances."""
        from gopfast.mixtures.incumbent.charts import NormalChart

        return None if self.n_shared else NormalChart(self)

    def provable(self):
        """Itself."""
        return self

    @property
    def shifted(self):
        """Columns are centred, and in units of the floor."""
        return True

    def one_component(self, problem, data=None):
        """The same kind of variances; None where components share them."""
        return None if self.n_shared else type(self)(data or self.data, 1, self.per_column)

    def slices(self):
        """One shared variance."""
        from gopfast.mixtures.shared.slices import SphericalSlices

        return SphericalSlices(self) if self.n_shared == 1 else None

    @property
    def has_blocks(self):
        """Unless components share variances."""
        return not self.n_shared

    @property
    def normal_on_a_line(self):
        """In one column."""
        return self.n_columns == 1

    def parameters(self, vector):
        """Means (K, d) and covariances in scikit-learn's shapes."""
        K, d = self.n_components, self.n_columns
        vector = np.asarray(vector)[K:K + self.n_connected]
        cells = vector[:K * self.n_cell].reshape(K, self.n_cell)
        scale = np.square(self.data.scale)
        found = {"means": self.data.to_user(cells[:, :d])}
        if self.per_column:
            variances = np.empty((1, d) if self.n_shared else (K, d))
            variances[:, self.data.order] = vector[np.newaxis, K * self.n_cell:] if self.n_shared else cells[:, d:]
            variances = np.maximum(1.0, variances) * scale
            found["covariances"] = np.diag(variances[0]) if self.n_shared else variances
        elif self.n_shared:
            found["covariances"] = max(1.0, vector[K * self.n_cell]) * scale[0] * np.eye(d)
        else:
            found["covariances"] = np.maximum(1.0, cells[:, d]) * scale[0]
        return found

    def pack(self, means, covariances=None):
        """Connected variables (n_connected,) of the user's means and covariances."""
        cdef real[::1] centers = self.data.from_user(means).ravel(), point = np.empty(self.n_connected)
        cdef int K = self.n_components, d = self.n_columns
        self.seed(&centers[0], &point[0])
        out = np.asarray(point)
        if covariances is not None:
            scale = np.square(self.data.scale)
            covariances = np.asarray(covariances, dtype=np.float64)
            cells = out[:K * self.n_cell].reshape(K, self.n_cell)
            if self.n_shared and self.per_column:
                out[K * self.n_cell:] = (np.diagonal(covariances) / scale)[self.data.order]
            elif self.n_shared:
                out[K * self.n_cell] = np.trace(np.atleast_2d(covariances)) / d / scale[0]
            elif not self.per_column:
                cells[:, d] = covariances / scale[0]
            else:
                cells[:, d:] = (covariances / scale)[:, self.data.order]
        return out
