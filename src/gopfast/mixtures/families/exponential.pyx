"""Components of separable exponential families: Bernoulli, Poisson, exponential, categorical.

A component's cost in one column, at its best parameter, is S h(T / S): h = -A* of the mean m = T / S is concave,

    Bernoulli    h(m) = - m log m - (1 - m) log(1 - m)
    Poisson      h(m) = (m - r) - m log(m / r),  r a reference rate that only moves a constant
    exponential  h(m) = 1 + log m
    label        h(m) = - m log m, a column per label of a categorical variable; its labels' means add up to 1

In a cell [l, u] of the mean the minorant is the chord of h, and the facets are l S <= T <= u S. A conjugate prior adds
constants to S and T: pseudo-observations of weight 1.

Of a *partial* categorical variable some samples have no label, all its columns being 0 there, or several, as rows of
counts have. S is the mass of the labels,

    S_v = sum over its labels of T_l,

linear in the statistics too: chords and facets have it in the place of S, written about the center 0.

Theory: (F7), (F8), (F10) and (F12) of docs/theory/families.md; (C3) of docs/theory/cells.md.
"""

import math

import numpy as np

from libc.math cimport INFINITY, exp, fabs, log, log1p, rint

from gopfast.mixtures.families.tuning import LEAST_VARIANCE

from gopfast.mixtures.families.family cimport bound_mean, half_width, has_width, middle_of, order_components
from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.mixtures.data.samples cimport Samples
from gopfast.mixtures.families.margins cimport LABEL_SLACK, ROOT_SLACK
from gopfast.mixtures.families.tuning cimport (
    EXPONENTIAL_SWEEPS as SWEEPS, FARTHEST, FARTHEST_LOG, LEAST_MULTIPLIER, LEAST_PROBABILITY, NOTHING,
    TYPICAL_MULTIPLIER, TYPICAL_SLACK
)
from gopfast.search.types cimport clip
from gopfast.search.rounding cimport ROUND

KINDS = {"bernoulli": BERNOULLI, "poisson": POISSON, "exponential": EXPONENTIAL, "label": LABEL}


cdef inline real log_ratio(real x, real reference) noexcept nogil:
    """log(x / reference), relative error 4 u, also where the ratio is near 1."""
    cdef real change = (x - reference) / reference
    return log1p(change) if fabs(change) < 0.5 else log(x / reference)


cdef inline real neg_x_log_x(real x) noexcept nogil:
    return -x * log(x) if x > 0 else 0.0


cdef real concave_cost(int kind, real m, real reference, real *size) noexcept nogil:
    """h(m) in nats per unit of mass; OUT size: its error is below 8 u of this."""
    cdef real value, other
    if kind == BERNOULLI:
        value = neg_x_log_x(m) - ((1 - m) * log1p(-m) if m < 1 else 0.0)
        size[0] = value
    elif kind == POISSON:
        value, other = m - reference, m * log_ratio(m, reference) if m > 0 else 0.0
        size[0] = fabs(value) + fabs(other)
        value -= other
    elif kind == EXPONENTIAL:
        other = log(m)
        value = 1 + other
        size[0] = 1 + fabs(other)
    else:
        value = neg_x_log_x(m)
        size[0] = fabs(value)
    return value


cdef class ExponentialFamily(Family):
    """Components that are products of one-parameter exponential families.

    Connected variables of a component: a coordinate of each column's mean: the mean, or in exponential columns its
    logarithm.

    Parameters
    ----------
    data : Samples
        Of scale 1 except in exponential columns, centre 0.
    n_components : int
    kinds : sequence of str
        "bernoulli", "poisson", "exponential" or "label", of each column. All per column arguments are in the order
        of the user.
    prior_mass, prior_moment : array_like, shape (n_columns,)
        What the prior adds to S and T.
    reference : array_like, shape (n_columns,)
        Positive rate that costs of counts are relative to.
    groups : array_like of int, shape (n_columns,)
        Categorical variable of each label column.
    constant, constant_size : float
        What the objective has beside these costs, and the sum of the magnitudes of its terms.
    name : str
        The user's parameter.
    decode, encode : callable
        From the means (K, n_columns) to the user's parameter and back.
    split_pull : float
        Split points are drawn from the mean towards the middle of the cell by this part of the way.
    cuts : bool
        Whether boxes lose what contradicts the samples' average or labels that add up to 1, besides label copies.
    """

    def __init__(self, Samples data, int n_components, kinds, prior_mass, prior_moment, reference, groups,
                 real constant, real constant_size, name, decode, encode, real split_pull=0.4,
                 bint cuts=True):
        cdef int j, d = data.n_columns
        columns, weights = data.arrays()
        order = np.asarray(data.order)
        self.data, self.n_components, self.n_columns, self.n_statistics = data, n_components, d, d
        self.n_cell, self.n_shared = d, 0
        self.n_connected = n_components * d
        self.n_facets = 2 * n_components * d
        self.kinds = np.array([KINDS[kind] for kind in kinds], dtype=np.intc)[order]
        self.groups = np.asarray(groups, dtype=np.intc)[order]
        self.reference = np.asarray(reference, dtype=float)[order]
        nu, chi = (np.asarray(prior, dtype=float)[order] for prior in (prior_mass, prior_moment))
        self.prior_mass, self.prior_moment = nu, chi
        self.has_prior = bool(nu.any() or chi.any())
        self.e_power, self.constant, self.constant_size = 0.0, constant, constant_size
        self.names, self.decode, self.encode = name, decode, encode
        self.discrete = EXPONENTIAL not in np.asarray(self.kinds)
        trials = self.find_trials(columns)
        self.partial = np.array([(row != 1).any() for row in trials], dtype=np.uint8)
        self.has_partial, self.has_many_trials = bool(np.asarray(self.partial).any()), bool((trials > 1).any())
        self.most_trials = trials.max(axis=1)
        self.split_pull = split_pull
        self.arguments = (
            data, kinds, prior_mass, prior_moment, reference, groups, constant, constant_size, name, decode, encode,
        )
        self.balance, self.own_balance, self.cuts = Balance(n_components), Balance(n_components), cuts
        # m = (T + chi) / (S + nu) is monotone in S from 0 to W
        W = np.array([math.fsum(row * weights) for row in trials])
        means = np.where(trials > 1, columns / np.maximum(trials, 1), columns)
        low = np.where(trials > 0, means, INFINITY).min(axis=1)
        high = np.where(trials > 0, means, -INFINITY).max(axis=1)
        if self.has_many_trials:  # shares are rounded
            many = np.asarray(self.most_trials) > 1
            low, high = low - ROOT_SLACK * many * low, high + ROOT_SLACK * many * high
        self.observed_weight = np.where(self.partial, W, data.total_weight)
        endless = (nu == 0) & (chi > 0)
        pulled = (nu > 0) | endless
        empty = np.where(endless, (high * W + chi) / W + FARTHEST * chi / W, chi / np.where(nu > 0, nu, 1.0))
        low = np.where(pulled, np.minimum((low * W + chi) / (W + nu), empty) * (1 - ROOT_SLACK), low)
        high = np.where(pulled, np.maximum((high * W + chi) / (W + nu), empty) * (1 + ROOT_SLACK), high)
        probability = np.isin(self.kinds, (BERNOULLI, LABEL))
        high[probability] = np.minimum(high[probability], 1.0)
        moment = np.array([math.fsum(column * weights) for column in columns])
        self.average = (moment + n_components * chi) / (W + n_components * nu)
        self.endless = endless.astype(np.uint8)
        self.low, self.high, self.average_at = np.empty(d), np.empty(d), np.empty(d)
        for j in range(d):
            self.low[j], self.high[j] = self.coordinate(j, low[j]), self.coordinate(j, high[j])
            if self.kinds[j] == EXPONENTIAL and low[j] < high[j]:
                self.low[j] -= ROOT_SLACK * (1 + fabs(self.low[j]))
                self.high[j] += ROOT_SLACK * (1 + fabs(self.high[j]))
            self.average_at[j] = clip(self.coordinate(j, self.average[j]), self.low[j], self.high[j])

    cdef object find_trials(self, columns):
        """How many labels each sample has of a column's variable, (n_columns, n); 1 of other columns."""
        trials = np.ones(columns.shape)
        kinds, groups = np.asarray(self.kinds), np.asarray(self.groups)
        for group in np.unique(groups[kinds == LABEL]):
            own = (kinds == LABEL) & (groups == group)
            trials[own] = columns[own].sum(axis=0)
            if not trials[own].any(axis=1).all():
                raise ValueError("a variable without any label has no columns")
        return trials

    def missing_patterns(self):
        """Number (n,) of the pattern of the samples' numbers of labels; None where every sample has one of each."""
        if not self.has_partial:
            return None
        columns, _ = self.data.arrays()
        return np.unique(self.find_trials(columns), axis=1, return_inverse=True)[1].ravel()

    def places(self, columns, weights):
        """Where samples have several labels, take shares: numbers of labels tell no clusters apart."""
        if not self.has_many_trials:
            return Family.places(self, columns, weights)
        shares = columns / np.maximum(self.find_trials(columns), 1)
        about = shares - np.average(shares, axis=1, weights=weights)[:, np.newaxis]
        variance = np.average(np.square(about), axis=1, weights=weights)
        return shares / np.sqrt(np.maximum(variance, LEAST_VARIANCE))[:, np.newaxis]

    cdef inline bint same_variable(self, int j, int l) noexcept nogil:
        return self.kinds[l] == LABEL and self.groups[l] == self.groups[j]

    cdef real observed_mass(self, int j, real mass, const real *moments) noexcept nogil:
        """S of column j of a component, of moments (n_columns,): of partial variables about 0."""
        cdef real total = 0
        cdef int l
        if not self.partial[j]:
            return mass
        for l in range(self.n_columns):
            if self.same_variable(j, l):
                total += moments[l]
        return total

    cdef inline real mean(self, int j, real at) noexcept nogil:
        return exp(at) if self.kinds[j] == EXPONENTIAL else at

    cdef inline real coordinate(self, int j, real mean) noexcept nogil:
        return log(mean) if self.kinds[j] == EXPONENTIAL else mean

    cdef void root(self, real *low, real *high) noexcept nogil:
        cdef int k, j, d = self.n_columns
        for k in range(self.n_components):
            for j in range(d):
                low[k * d + j], high[k * d + j] = self.low[j], self.high[j]

    cdef bint tighten(self, real *low, real *high) noexcept nogil:
        """Besides label copies: means that do not average to the samples', labels that do not add up to 1."""
        cdef int j, d = self.n_columns, K = self.n_components, _sweep
        if not order_components(K, d, low, high):
            return 0
        if not self.cuts:
            return 1
        self.balance.free_masses(self.data.core.total_weight)
        for _sweep in range(SWEEPS):
            for j in range(d):
                if self.partial[j]:
                    self.own_balance.take_part(self.balance, self.data.core.total_weight, self.observed_weight[j],
                                               self.most_trials[j])
                    if not self.balance_column(self.own_balance, j, low, high):
                        return 0
                elif not self.balance_column(self.balance, j, low, high):
                    return 0
        return order_components(K, d, low, high) and self.fit_labels(low, high)

    cdef bint balance_column(self, Balance balance, int j, real *low, real *high) noexcept nogil:
        cdef int k, a, d = self.n_columns, K = self.n_components
        cdef real nu = self.prior_mass[j]
        for k in range(K):
            a = k * d + j
            balance.mean_low[k] = self.mean(j, low[a])
            balance.mean_high[k] = self.mean(j, high[a])
            if self.endless[j] and high[a] >= self.high[j]:
                balance.mean_high[k] = INFINITY
        if not balance.tighten(self.observed_weight[j] + K * nu, nu, self.average[j]):
            return 0
        for k in range(K):
            a = k * d + j
            low[a] = max(low[a], self.coordinate(j, max(0.0, balance.mean_low[k])))
            high[a] = min(high[a], self.coordinate(j, max(0.0, balance.mean_high[k])))
            if low[a] > high[a]:
                return 0
        return 1

    cdef bint tighten_alone(self, real *low, real *high) noexcept nogil:
        return not self.cuts or self.fit_labels(low, high)

    cdef bint fit_labels(self, real *low, real *high) noexcept nogil:
        """A label's mean is 1 less those of its variable's other labels."""
        cdef int k, j, l, a, d = self.n_columns
        cdef real left_low, left_high
        for k in range(self.n_components):
            for j in range(d):
                if self.kinds[j] != LABEL:
                    continue
                a = k * d + j
                left_low = left_high = 1.0
                for l in range(d):
                    if l != j and self.same_variable(j, l):
                        left_low -= high[k * d + l]
                        left_high -= low[k * d + l]
                low[a] = max(low[a], left_low - LABEL_SLACK * d)
                high[a] = min(high[a], left_high + LABEL_SLACK * d)
                if low[a] > high[a]:
                    return 0
        return 1

    cdef void relax(self, const real *low, const real *high, Subproblem *out) noexcept nogil:
        cdef int k, j, a, d = self.n_columns
        cdef Facet *facet = out.facets
        cdef Sums sums
        out.constant, out.prior, out.e_low, out.e_high = 0, 0, 1, 1
        sums.prior = 0
        for k in range(self.n_components):
            out.minorant.offsets[k] = sums.level = 0
            for j in range(d):
                a = k * d + j
                facet = self.bound_column(facet, out, k, j, low[a], high[a], &sums)
            if self.has_partial:
                self.spread_levels(&out.minorant.centers[k * d], &out.minorant.linear[k * d])
            out.minorant.offsets[k] += 2 * (d + 1) * ROUND * sums.level  # of the sum
        out.prior -= (2 * self.n_connected + 16) * ROUND * sums.prior

    cdef void spread_levels(self, real *centers, real *linear) noexcept nogil:
        """Minorants slope_l T_l + level_l S_v of partial variables, as coefficients of the T_l about 0."""
        cdef int j, l, d = self.n_columns
        cdef real total, size
        for j in range(d):
            if not self.partial[j]:
                continue
            total = size = 0
            for l in range(d):
                if self.same_variable(j, l):
                    if l < j:
                        break  # done with its first label
                    total += centers[l]
                    size += fabs(centers[l])
            else:
                for l in range(j, d):
                    if self.same_variable(j, l):
                        # T_l >= 0: rounded down
                        linear[l] += total - 2 * (d + 1) * ROUND * (size + fabs(linear[l]))
                        centers[l] = 0

    cdef void bound_partial(self, Facet *facet, int j, real low, real high, real half) noexcept nogil:
        """Facets T_j - low S_v >= 0 and high S_v - T_j >= 0 of a partial variable's mean; statistics are at least 0."""
        cdef int l, d = self.n_columns
        for l in range(d):
            if self.same_variable(j, l):
                facet[0].coefficients[1 + l] = -low
                facet[1].coefficients[1 + l] = high
        facet[0].coefficients[0] = facet[1].coefficients[0] = 0
        facet[0].coefficients[1 + j] = (1 - low) * (1 + 2 * ROUND)
        facet[1].coefficients[1 + j] = min(0.0, high - 1) * (1 - 2 * ROUND)
        facet[0].paired = 0
        facet[0].slack = facet[1].slack = TYPICAL_SLACK * half * self.observed_weight[j] / self.n_components

    cdef Facet *bound_column(self, Facet *facet, Subproblem *out, int k, int j, real low, real high,
                             Sums *sums) noexcept nogil:
        """Returns the next facet."""
        cdef int kind = self.kinds[j], d = self.n_columns, a = k * d + j
        cdef real nu = self.prior_mass[j], chi = self.prior_moment[j]
        cdef real mass = self.data.core.total_weight / self.n_components
        cdef real m0 = self.mean(j, low), m1 = self.mean(j, high), h0, h1, size, other
        cdef real center, half, slope, level, pull, error, loss, multiplier = 0
        cdef bint endless = self.endless[j] and high >= self.high[j], active
        if kind == EXPONENTIAL:  # the cell is that of the coordinates
            m0, m1 = m0 * (1 - 4 * ROUND), m1 * (1 + 4 * ROUND)
        h0 = concave_cost(kind, m0, self.reference[j], &size)
        if endless:  # h rises
            center, half, slope, level = m0, 0, 0, h0
        else:
            center = middle_of(m0, m1)
            half = half_width(m0, m1, center)
            h1 = concave_cost(kind, m1, self.reference[j], &other)
            slope = (h1 - h0) / (m1 - m0) if m1 > m0 else 0
            # any slope will do, if the line lies below h at both ends
            level = min(h0 + slope * (center - m0), h1 - slope * (m1 - center))
            size += other + fabs(slope) * half
        level -= 16 * ROUND * size
        out.minorant.centers[a], out.minorant.linear[a], out.minorant.quadratic[a] = center, slope, 0
        if self.partial[j]:  # where the chord starts, for spread_levels
            other = slope * center
            out.minorant.centers[a] = level - other - 4 * ROUND * (fabs(level) + fabs(other))
        else:
            out.minorant.offsets[k] -= level
            sums.level += fabs(level)
        pull = chi - nu * center
        out.prior += nu * level + slope * pull
        sums.prior += nu * fabs(level) + fabs(slope) * (chi + nu * fabs(center))
        error = 16 * ROUND * (nu * (half + fabs(center)) + chi)
        active = endless or has_width(half, m0, m1)
        if active:
            # by how much the chord lies below h in the middle, over half the range; of an endless cell a guess
            loss = 1 if endless else max(0.0, concave_cost(kind, center, self.reference[j], &other) - level)
            multiplier = max(TYPICAL_MULTIPLIER * loss, LEAST_MULTIPLIER * (1 + fabs(level))) / (
                center if endless else half)
        bound_mean(facet, active, k * (1 + d), 1 + d, j, half, mass, multiplier)
        if self.partial[j]:
            self.bound_partial(facet, j, m0, m1, half)
        facet[0].prior, facet[1].prior = nu * half + pull + error, nu * half - pull + error
        if endless:  # only from below
            facet[0].paired, facet[1].active = 0, 0
            facet[0].slack = TYPICAL_SLACK * center * mass
        return facet + 2

    cdef void split_points(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                           const real *moments, real e, real *point, real *error) noexcept nogil:
        cdef int k, j, a, d = self.n_columns
        cdef real m, s, center, level, size, at
        for k in range(self.n_components):
            for j in range(d):
                a, s = k * d + j, self.observed_mass(j, mass[k], moments + k * d) + self.prior_mass[j]
                center = sub.minorant.centers[a]
                m = middle_of(low[a], high[a]) if self.partial[j] else center
                if s > 0:
                    m = center + (moments[a] + self.prior_moment[j] - self.prior_mass[j] * center) / s
                m = clip(m, self.mean(j, low[a]), self.mean(j, high[a]))
                # the minorant's level at the centre is not kept by column: the chord, from the left end
                level = concave_cost(self.kinds[j], self.mean(j, low[a]), self.reference[j], &size)
                if not self.partial[j]:
                    level += sub.minorant.linear[a] * (m - self.mean(j, low[a]))
                elif high[a] > low[a]:
                    level += (concave_cost(LABEL, high[a], 1, &size) - level) / (high[a] - low[a]) * (m - low[a])
                error[a] = max(0.0, s * (concave_cost(self.kinds[j], m, self.reference[j], &size) - level))
                at = self.coordinate(j, m)
                point[a] = at + self.split_pull * (0.5 * (low[a] + high[a]) - at)

    cdef real natural(self, const real *point, int j, real *center, real *slope) noexcept nogil:
        """Centres are whole where the samples are, so that the mean of equal samples comes out exactly."""
        cdef int kind = self.kinds[j], l
        cdef real m = self.mean(j, point[j]), total, value
        if kind == EXPONENTIAL:
            center[0], slope[0] = m, 1 / m
            value = log(m)
            return 1 + value + 4 * ROUND * (1 + fabs(value))
        if kind == POISSON:
            value = max(m, LEAST_PROBABILITY)
            slope[0] = -log_ratio(value, self.reference[j])
            center[0] = rint(m)
            value -= self.reference[j]
            total = center[0] * slope[0]
            return value + total + 8 * ROUND * (fabs(value) + fabs(total))
        if kind == LABEL:
            total = 0
            for l in range(self.n_columns):
                if self.same_variable(j, l):
                    total += point[l]
            m = m / total if total > 0 else 0
            center[0] = 0 if self.partial[j] else rint(m)
            slope[0] = -log(max(m, LEAST_PROBABILITY))
            return center[0] * slope[0]
        center[0] = rint(m)
        value = -log1p(-m) if m < 1 else -log(LEAST_PROBABILITY)  # of a 0
        total = -log(max(m, LEAST_PROBABILITY))                   # of a 1
        slope[0] = total - value
        return total if center[0] > 0 else value

    cdef void costs(self, const real *point, pass_costs *out) noexcept nogil:
        cdef int k, j, a, d = self.n_columns
        for k in range(self.n_components):
            out.offsets[k] = 0
            for j in range(d):
                a = k * d + j
                out.quadratic[a] = 0
                out.offsets[k] -= self.natural(point + k * d, j, &out.centers[a], &out.linear[a])

    cdef void maximise(self, const real *mass, const real *moments, real e, const pass_costs *costs,
                       real *point) noexcept nogil:
        cdef int k, j, a, d = self.n_columns
        cdef real s, center
        for k in range(self.n_components):
            for j in range(d):
                a, s = k * d + j, self.observed_mass(j, mass[k], moments + k * d) + self.prior_mass[j]
                center = costs.centers[a]
                if s > 0:
                    center += (moments[a] + self.prior_moment[j] - self.prior_mass[j] * center) / s
                    if self.kinds[j] != EXPONENTIAL and center < NOTHING:
                        center = 0
                    # a prior makes 1 impossible, however near to it the mode is
                    if self.kinds[j] == BERNOULLI and self.prior_mass[j] > self.prior_moment[j]:
                        center = min(center, 1 - ROUND)
                    point[a] = clip(self.coordinate(j, max(center, 0.0)), self.low[j], self.high[j])
                elif self.endless[j]:
                    point[a] = self.high[j]

    cdef real prior_cost(self, const real *point, real *e) noexcept nogil:
        cdef int k, j, d = self.n_columns
        cdef real cost = 0, center, slope, value
        e[0] = 1 if self.has_prior else 0
        if not self.has_prior:
            return 0
        for k in range(self.n_components):
            for j in range(d):
                value = self.natural(point + k * d, j, &center, &slope)
                cost += self.prior_mass[j] * value + slope * (self.prior_moment[j] - self.prior_mass[j] * center)
        return cost

    cdef real prior_size(self, const real *point) noexcept nogil:
        cdef int k, j, d = self.n_columns
        cdef real size = 0, center, slope, value
        if not self.has_prior:
            return 0
        for k in range(self.n_components):
            for j in range(d):
                value = self.natural(point + k * d, j, &center, &slope)
                size += self.prior_mass[j] * fabs(value)
                size += fabs(slope) * (self.prior_moment[j] + self.prior_mass[j] * fabs(center))
        return size

    cdef void seed(self, const real *centers, real *point) noexcept nogil:
        """Half way to the average: EM never leaves a saturated parameter."""
        cdef int k, j, a, d = self.n_columns
        cdef real at
        for k in range(self.n_components):
            for j in range(d):
                a, at = k * d + j, centers[k * d + j]
                if self.most_trials[j] > 1:
                    at /= max(1.0, self.observed_mass(j, 1, centers + k * d))
                point[a] = clip(self.coordinate(j, at), self.low[j], self.high[j])
                point[a] += 0.5 * (self.average_at[j] - point[a])

    cdef void vacate(self, int k, real *point) noexcept nogil:
        """The prior's mode."""
        cdef int j, d = self.n_columns
        for j in range(d):
            if self.endless[j]:
                point[k * d + j] = self.high[j]
            elif self.prior_mass[j] > 0:
                point[k * d + j] = clip(self.coordinate(j, self.prior_moment[j] / self.prior_mass[j]), self.low[j],
                                        self.high[j])

    def chart(self):
        """Logits, log rates and rates."""
        from gopfast.mixtures.incumbent.charts import ExponentialChart

        return ExponentialChart(self)

    def provable(self):
        """The same without cuts: the relaxed dual bounds what they would have cut off."""
        data, *others = self.arguments
        return ExponentialFamily(data, self.n_components, *others, cuts=False)

    @property
    def has_ends(self):
        """Probabilities and rates of 0."""
        return True

    def one_component(self, problem, data=None):
        """The same columns and prior."""
        data, *others = self.arguments
        return ExponentialFamily(data, 1, *others, cuts=self.cuts)

    def free_variable(self):
        """The last variable of the most labels that no sample misses; a column of zeros and ones has two."""
        kinds, groups, columns = np.asarray(self.kinds), np.asarray(self.groups), self.data.arrays()[0]
        best, most = None, 2
        for j in range(self.n_columns):
            own = (kinds == LABEL) & (groups == groups[j]) if kinds[j] == LABEL else np.arange(self.n_columns) == j
            if self.has_prior or kinds[j] not in (BERNOULLI, LABEL) or self.partial[j]:
                continue
            levels = np.unique(columns[own], axis=1, return_inverse=True)[1].ravel()
            if levels.max() + 1 >= most:
                best, most = (own, levels), levels.max() + 1
        # what is left must tell the samples apart
        return best if self.n_columns > 1 and best is not None and not best[0].all() else None

    def parameters(self, vector):
        """The user's parameter of every component."""
        cdef int j
        cells = np.array(vector[self.n_components:][:self.n_connected]).reshape(self.n_components, self.n_columns)
        kinds, groups = np.asarray(self.kinds), np.asarray(self.groups)
        for j in range(self.n_columns):
            if kinds[j] == EXPONENTIAL:
                cells[:, j] = np.exp(cells[:, j])
                if self.endless[j]:  # an unused component's best rate is 0
                    cells[np.asarray(vector[:self.n_components]) == 0, j] = np.inf
        for group in np.unique(groups[kinds == LABEL]):
            own = (kinds == LABEL) & (groups == group)
            cells[:, own] /= cells[:, own].sum(axis=1, keepdims=True)
        return {self.names: self.decode(self.data.to_user(cells))}

    def pack(self, **parameters):
        """Coordinates (n_connected,) of the user's parameter."""
        cdef int j
        means = self.data.from_user(self.encode(parameters[self.names]))
        for j in range(self.n_columns):
            if self.kinds[j] == EXPONENTIAL:
                with np.errstate(divide="ignore"):
                    means[:, j] = np.log(means[:, j])
                means[:, j] = np.clip(means[:, j], min(self.low[j], -FARTHEST_LOG), max(self.high[j], FARTHEST_LOG))
        return means.ravel()
