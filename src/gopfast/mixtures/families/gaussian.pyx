"""Gaussian components of known variance, with or without a prior on the means.

For a cell [l, u] of a mean with middle c and half width h, Steiner's identity gives, if nu = T / S lies in the cell,

    1/2 sum_i w_i r_i (x_i - nu)^2 >= 1/2 sum_i w_i r_i [ (x_i - c)^2 - h^2 ],

so the minorant is the squared distance from the middle; its facets are l S <= T <= u S. A prior is a
pseudo-observation of weight e. A Gaussian posterior of the means, of precision S_k, adds (d/2) log S_k to the
objective: a chord on a range of S_k, which is a connected variable too.

Theory: (A3) of docs/theory/problem.md; (E1) and (E5) of docs/theory/entropic.md; (F1) and (F2) of
docs/theory/families.md.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, log, sqrt

from gopfast.mixtures.families.family cimport bound_mean, clear, half_width, has_width, middle_of, order_components
from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.mixtures.data.samples cimport Samples
from gopfast.mixtures.families.margins cimport DERIVED_SLACK, GAUSSIAN_NARROW as NARROW, NEGLIGIBLE_WIDTH, TOTAL_SLACK
from gopfast.mixtures.families.tuning cimport LEAST_MULTIPLIER, TYPICAL_MULTIPLIER, TYPICAL_SLACK
from gopfast.search.types cimport clip
from gopfast.search.rounding cimport ROUND

# Half the second derivative of the cost of a sample by the mean, in units of the noise.
cdef real CURVATURE = 0.5


cdef class GaussianFamily(Family):
    """Components of unit variance in the core's coordinates.

    Connected variables of a component: its mean (d), with a Gaussian posterior then its precisions S_kj in units of
    the noise (one where the noise is the same in all coordinates, else d).

    Parameters
    ----------
    data : Samples
        Scaled by the noise standard deviation.
    n_components : int
    prior_precision : None or (low, high)
        Range of e = 1 / Gamma; equal ends fix it.
    gaussian_posterior : bool
    split_pull, split_pull_most, split_wide : float
        Split points are drawn from m = T / S towards the middle of the cell by this part of the way, at most so many
        standard deviations, and not at all in wider cells than the last (there m sits on a cluster, and the envelope
        is exact at a corner). Chosen by node counts: bench/results/split_point.md.
    """

    def __init__(self, Samples data, int n_components, prior_precision=None, bint gaussian_posterior=False,
                 real split_pull=0.2, real split_pull_most=0.3, real split_wide=12.0):
        cdef int d = data.n_columns
        columns, _ = data.arrays()
        self.data, self.n_components, self.n_columns, self.n_statistics = data, n_components, d, d
        scale = np.ascontiguousarray(np.square(data.scale)[data.order])
        self.n_ranges = 0
        if gaussian_posterior:
            self.n_ranges = 1 if (scale == scale[0]).all() else d
        self.n_cell, self.n_shared = d + self.n_ranges, 0
        self.n_connected = n_components * self.n_cell
        self.n_facets, self.n_more = 2 * n_components * self.n_cell, n_components * self.n_ranges
        self.split_pull, self.split_pull_most, self.split_wide = split_pull, split_pull_most, split_wide
        low, high = columns.min(axis=1), columns.max(axis=1)
        prior_point = (-data.center / data.scale)[data.order]
        self.has_prior = prior_precision is not None
        self.e_power = 0.5 * n_components * d if self.has_prior else 0.0
        self.constant = 0.0
        if gaussian_posterior:  # the posterior's entropy, in the user's units
            terms = [self.e_power * (np.log(2 * np.pi) + 1), *(0.5 * n_components * np.log(scale))]
            self.constant, self.constant_size = -np.sum(terms), np.abs(terms).sum()
        if self.has_prior:
            self.core.e_low, self.core.e_high = prior_precision
            low, high = np.minimum(low, prior_point), np.maximum(high, prior_point)
        elif gaussian_posterior:
            raise ValueError("a Gaussian posterior needs a prior")
        self.prior_point, self.prior_scale = np.ascontiguousarray(prior_point), scale
        self.low, self.high = low, high
        self.core.samples, self.core.n_samples = data.core.samples, data.core.n_samples
        self.core.n_components, self.core.n_features = n_components, d
        self.core.has_prior, self.core.total_weight = self.has_prior, data.core.total_weight
        self.core.prior_point, self.core.prior_scale = &self.prior_point[0], &self.prior_scale[0]
        self.core.low, self.core.high = &self.low[0], &self.high[0]

    cdef void prior_range(self, const real *low, const real *high, real *e_low, real *e_high) noexcept nogil:
        """Where e can be optimal: e = K d / sum(|nu|^2 + 1 / S) for parameters in the cells."""
        cdef const GaussianModel *model = &self.core
        cdef int k, j, a, d = self.n_columns
        cdef real square_low = 0, square_high = 0, below, above, scale  # bounds of the sum
        e_low[0], e_high[0] = model.e_low, model.e_high
        if self.n_ranges == 0 or model.e_low == model.e_high:
            return
        for k in range(self.n_components):
            for j in range(d):
                a, scale = k * self.n_cell + j, model.prior_scale[j]
                below, above = low[a] - model.prior_point[j], high[a] - model.prior_point[j]
                square_high += scale * max(below * below, above * above)
                if below > 0 or above < 0:
                    square_low += scale * min(below * below, above * above)
                if self.n_ranges:
                    a = k * self.n_cell + d + (j if self.n_ranges > 1 else 0)
                    square_low += scale / high[a]
                    square_high += scale / low[a] if low[a] > 0 else INFINITY
        e_low[0] = e_high[0] = model.e_high
        if square_high > 0:
            e_low[0] = clip(2 * self.e_power / square_high * (1 - TOTAL_SLACK), model.e_low, model.e_high)
        if square_low > 0:
            e_high[0] = clip(2 * self.e_power / square_low * (1 + TOTAL_SLACK), model.e_low, model.e_high)

    cdef void root(self, real *low, real *high) noexcept nogil:
        cdef int k, j, a, d = self.n_columns
        for k in range(self.n_components):
            for j in range(d):
                low[k * self.n_cell + j], high[k * self.n_cell + j] = self.core.low[j], self.core.high[j]
            for j in range(self.n_ranges):
                a = k * self.n_cell + d + j
                low[a] = self.core.e_low * self.core.prior_scale[j]
                high[a] = (self.core.total_weight + self.core.e_high * self.core.prior_scale[j]) * (1 + TOTAL_SLACK)

    cdef bint tighten(self, real *low, real *high) noexcept nogil:
        cdef int k, j, a, d = self.n_columns, K = self.n_components
        cdef real e_low, e_high, sum_low, sum_high, scale, W = self.core.total_weight, slack
        if not order_components(K, self.n_cell, low, high):
            return 0
        self.prior_range(low, high, &e_low, &e_high)
        for j in range(self.n_ranges):  # S_k = N_k + e scale, and the masses N_k >= 0 add up to W
            scale = self.core.prior_scale[j]
            slack = DERIVED_SLACK * (W + K * e_high * scale)
            sum_low = sum_high = 0
            for k in range(K):
                a = k * self.n_cell + d + j
                low[a] = max(low[a], e_low * scale)
                high[a] = min(high[a], (W + e_high * scale) * (1 + TOTAL_SLACK))
                sum_low += low[a]
                sum_high += high[a]
            for k in range(K):
                a = k * self.n_cell + d + j
                low[a] = max(low[a], W + K * e_low * scale - (sum_high - high[a]) - slack)
                high[a] = min(high[a], W + K * e_high * scale - (sum_low - low[a]) + slack)
                if low[a] > high[a]:
                    return 0
        return 1

    cdef void relax(self, const real *low, const real *high, Subproblem *out) noexcept nogil:
        cdef const GaussianModel *model = &self.core
        cdef int k, j, a, d = self.n_columns
        cdef real center, half, z, scale, lost
        cdef real mass = model.total_weight / self.n_components
        cdef pass_costs *costs = &out.minorant
        cdef Facet *facet = out.facets
        out.constant = 0.5 * self.n_components * d if self.n_ranges else 0.0
        out.prior = 0
        self.prior_range(low, high, &out.e_low, &out.e_high)
        for k in range(self.n_components):
            costs.offsets[k] = 0
            for j in range(d):
                a = k * self.n_cell + j
                center = middle_of(low[a], high[a])
                half = half_width(low[a], high[a], center)
                costs.centers[k * d + j], costs.linear[k * d + j] = center, 0
                costs.quadratic[k * d + j] = CURVATURE
                costs.offsets[k] += CURVATURE * half * half * (1 + 8 * ROUND)
                scale, z = 0, 0
                if model.has_prior:
                    scale, z = model.prior_scale[j], model.prior_point[j] - center
                    # less the rounding of all squares and of their sum
                    lost = (8 + self.n_connected) * ROUND * (z * z + half * half)
                    out.prior += 0.5 * scale * (z * z - half * half - lost)
                lost = 4 * ROUND * scale * (half + fabs(z))
                bound_mean(facet, has_width(half, low[a], high[a]), k * (1 + d), 1 + d, j, half, mass,
                           TYPICAL_MULTIPLIER * CURVATURE * half)
                facet[0].prior, facet[1].prior = scale * (half + z) + lost, scale * (half - z) + lost
                facet += 2
            for j in range(self.n_ranges):
                a = k * self.n_cell + d + j
                facet = self.bound_precision(facet, out, k, model.prior_scale[j], low[a], high[a])

    cdef Facet *bound_precision(self, Facet *facet, Subproblem *out, int k, real scale, real low,
                                real high) noexcept nogil:
        """Minorant and two facets of a precision S_k + e scale of a posterior in [low, high]; returns the next facet.

        The minorant, added to `out`, is the chord of times * log.
        """
        cdef real times = 0.5 * self.n_columns / self.n_ranges, half = 0.5 * (high - low)
        cdef real slope = self.chord_slope(low, high)
        cdef bint active = high - low > NEGLIGIBLE_WIDTH * high
        cdef int side
        out.minorant.offsets[k] -= slope
        out.prior += scale * slope
        out.constant += times * log(low) - slope * low
        out.constant -= 64 * ROUND * times * (2 + fabs(log(low)) + fabs(log(high)))
        for side in range(2):
            clear(facet, active, k * (1 + self.n_columns), 1)
            facet.paired = side == 0
            facet.constant = -low * (1 - ROUND) if side == 0 else high * (1 + ROUND)
            facet.prior = scale if side == 0 else -scale
            facet.coefficients[0] = 1 if side == 0 else -1
            facet.multiplier = 0
            if active:
                # by how much the chord lies below the logarithm in the middle
                facet.multiplier = TYPICAL_MULTIPLIER * times * (
                    log(low + half) - 0.5 * (log(low) + log(high))) / half
                facet.multiplier = max(facet.multiplier, LEAST_MULTIPLIER * times / high)
            facet.slack = TYPICAL_SLACK * half
            facet += 1
        return facet

    cdef real chord_slope(self, real low, real high) noexcept nogil:
        cdef real times = 0.5 * self.n_columns / self.n_ranges
        return times * log(high / low) / (high - low) if high > low * (1 + NARROW) else times / high

    cdef void more_slopes(self, const real *low, const real *high, const Subproblem *sub, const real *q,
                          real *out) noexcept nogil:
        """Of the posteriors' precisions: chords, and the facets of their ranges."""
        cdef int k, j, a, r, d = self.n_columns
        for k in range(self.n_components):
            for j in range(self.n_ranges):
                a, r = k * self.n_cell + d + j, 2 * (k * self.n_cell + d + j)
                out[0] = self.chord_slope(low[a], high[a])
                if sub.facets[r].active:
                    out[0] += q[r + 1] - q[r]
                out += 1

    cdef void split_points(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                           const real *moments, real e, real *point, real *error) noexcept nogil:
        cdef const GaussianModel *model = &self.core
        cdef int k, j, a, d = self.n_columns
        cdef real m, s, weight, shift, times, slope
        for k in range(self.n_components):
            for j in range(d):
                a, weight = k * self.n_cell + j, e * model.prior_scale[j]
                s, m = mass[k] + weight, sub.minorant.centers[k * d + j]
                if s > 0:
                    m += (moments[k * d + j] + weight * (model.prior_point[j] - m)) / s
                m = clip(m, low[a], high[a])
                error[a] = CURVATURE * s * (m - low[a]) * (high[a] - m)
                if high[a] - low[a] < self.split_wide:
                    shift = self.split_pull * (0.5 * (low[a] + high[a]) - m)
                    m += clip(shift, -self.split_pull_most, self.split_pull_most)
                point[a] = m
            for j in range(self.n_ranges):
                a, times = k * self.n_cell + d + j, 0.5 * d / self.n_ranges
                s = clip(mass[k] + e * model.prior_scale[j], low[a], high[a])
                slope = times * log(high[a] / low[a]) / (high[a] - low[a]) if high[a] > low[a] else 0
                error[a] = max(0.0, times * log(s / low[a]) - slope * (s - low[a]))
                point[a] = sqrt(s * sqrt(low[a] * high[a]))

    cdef void costs(self, const real *point, pass_costs *out) noexcept nogil:
        cdef int k, j, d = self.n_columns
        for k in range(self.n_components):
            out.offsets[k] = 0
            for j in range(d):
                out.centers[k * d + j] = point[k * self.n_cell + j]
                out.linear[k * d + j], out.quadratic[k * d + j] = 0, CURVATURE
            for j in range(self.n_ranges):
                out.offsets[k] -= 0.5 * d / self.n_ranges / point[k * self.n_cell + d + j]

    cdef void maximise(self, const real *mass, const real *moments, real e, const pass_costs *costs,
                       real *point) noexcept nogil:
        cdef const GaussianModel *model = &self.core
        cdef int k, j, a, d = self.n_columns
        cdef real weight
        for k in range(self.n_components):
            for j in range(d):
                a, weight = k * self.n_cell + j, e * model.prior_scale[j]
                if mass[k] + weight > 0:
                    point[a] += (moments[k * d + j] + weight * (model.prior_point[j] - point[a])) / (mass[k] + weight)
            for j in range(self.n_ranges):
                point[k * self.n_cell + d + j] = mass[k] + e * model.prior_scale[j]

    cdef real prior_cost(self, const real *point, real *e) noexcept nogil:
        cdef const GaussianModel *model = &self.core
        cdef int k, j, a, d = self.n_columns
        cdef real cost = 0, rest = 0, z
        if not model.has_prior:
            e[0] = 0
            return 0
        for k in range(self.n_components):
            for j in range(d):
                z = point[k * self.n_cell + j] - model.prior_point[j]
                cost += 0.5 * model.prior_scale[j] * z * z
            for j in range(self.n_ranges):
                a = k * self.n_cell + d + j
                cost += 0.5 * d / self.n_ranges * model.prior_scale[j] / point[a]
                rest += 0.5 * d / self.n_ranges * log(point[a])
        e[0] = clip(self.e_power / cost if cost > 0 else model.e_high, model.e_low, model.e_high)
        return rest + e[0] * cost - self.e_power * log(e[0])

    cdef real prior_size(self, const real *point) noexcept nogil:
        """The costs are positive but for logarithms of precisions and of e."""
        cdef int k, j
        cdef real e, size = fabs(self.prior_cost(point, &e)) + 2 * self.e_power
        if not self.core.has_prior:
            return 0
        size += 2 * self.e_power * fabs(log(e))
        for k in range(self.n_components):
            for j in range(self.n_ranges):
                size += self.n_columns * fabs(log(point[k * self.n_cell + self.n_columns + j])) / self.n_ranges
        return size

    cdef void seed(self, const real *centers, real *point) noexcept nogil:
        cdef int k, j, d = self.n_columns
        for k in range(self.n_components):
            for j in range(d):
                point[k * self.n_cell + j] = centers[k * d + j]
            for j in range(self.n_ranges):
                point[k * self.n_cell + d + j] = max(self.core.total_weight / self.n_components,
                                                     self.core.e_low * self.core.prior_scale[j])

    cdef void vacate(self, int k, real *point) noexcept nogil:
        cdef int j
        for j in range(self.n_columns):
            point[k * self.n_cell + j] = self.core.prior_point[j]

    def metric(self):
        """Distances are in units of the noise."""
        return np.ones(self.n_columns)

    @property
    def shifted(self):
        """Columns are centred, and in units of the noise."""
        return True

    def chart(self):
        """Means."""
        from gopfast.mixtures.incumbent.charts import GaussianChart

        return GaussianChart(self) if GaussianChart.applies(self) else None

    def provable(self):
        """Itself."""
        return self

    def one_component(self, problem, data=None):
        """The same prior; None where it is estimated, or with a Gaussian posterior."""
        if self.n_ranges or self.core.e_low != self.core.e_high:
            return None
        return GaussianFamily(data or self.data, 1, (self.core.e_low, self.core.e_high) if self.has_prior else None)

    @property
    def precision_range(self):
        """Ends of the range of the prior's e = 1 / Gamma."""
        return self.core.e_low, self.core.e_high

    def slices(self):
        """An estimated variance of the prior, of point posteriors."""
        from gopfast.mixtures.shared.slices import PriorSlices

        return None if self.n_ranges or self.core.e_low == self.core.e_high else PriorSlices(self)

    def parameters(self, vector):
        """Means (K, d), with a prior its variance, with a Gaussian posterior its variances (K, d)."""
        vector = np.asarray(vector)
        cells = vector[self.n_components:][:self.n_connected].reshape(self.n_components, self.n_cell)
        found = {"means": self.data.to_user(cells[:, :self.n_columns])}
        if self.has_prior:
            found["prior_variance"] = 1.0 / float(vector[self.n_components + self.n_connected])
        if self.n_ranges:
            variances = np.empty((self.n_components, self.n_columns))
            variances[:, self.data.order] = np.asarray(self.prior_scale) / cells[:, self.n_columns:]
            found["posterior_variances"] = variances
        return found

    def pack(self, means, posterior_variances=None, prior_variance=None):
        """Connected variables (n_connected,) of the user's means and posterior variances."""
        cdef real[::1] centers = self.data.from_user(means).ravel(), point = np.empty(self.n_connected)
        self.seed(&centers[0], &point[0])
        out = np.asarray(point)
        if self.n_ranges and posterior_variances is not None:
            precisions = np.asarray(self.prior_scale) / np.asarray(posterior_variances)[:, self.data.order]
            out.reshape(self.n_components, self.n_cell)[:, self.n_columns:] = precisions[:, :self.n_ranges]
        return out
