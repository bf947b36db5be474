"""The box around an incumbent on which a mixture's objective is proved to be no lower.

Nodes around the optimum are the last that a search closes: the envelope error S (u - l)^2 / 8 must come below the
tolerance, on the finest data. One test on a box closes them all.

With b = log weights and free total weight, inf over b of

    f(b, nu) = - sum_i w_i log sum_k exp(b_k - |x_i - nu_k|^2 / 2) + W (sum_k exp(b_k) - 1)   [+ prior(nu)]

is the objective at nu. With u_ik = (1, x_i - nu_k) in block k its Hessian is

    diag(W exp(b_k), N_k I) - sum_i w_i sum_{k<l} r_ik r_il (u_ik - u_il)(u_ik - u_il)',     N_k = sum_i w_i r_ik.

On nu* +- radius, b* +- log_radius every r_ik has a range, so every entry has a bound V of its change (`bound_changes`).
At the end of the ray of d from the center, f = f* + d' gradient + 1/2 d' M d, M the mean of the Hessians on the ray
with weight 2 (1 - s) at the part s of the way; so the V of smaller boxes count more than that of the whole (`survey`).
For any p > 0, x' dM x <= sum_a (V p)_a / p_a x_a^2: a Cholesky factorisation of what is left proves M >= LEAST *
scale^2 (`rises`), hence f >= f* - |gradient / scale|^2 / (2 LEAST) in the box. For each nu of the box the best b stays
within log_radius (`enclose`): for a stationary b, A db = - grad_b - G dnu, A, G the blocks of the even mean of H on the
ray. On the way from the center to nu no solution b crosses log_radius, so that their degree stays: there is one for nu,
and f is convex in the weights: it is the best. A summary's points stand for samples at most `reach` away, which widens
the ranges; no bound of the loss of a summary is needed.

Theory: (B1), (B2), (B3), (B4) and (B5) of docs/theory/basin.md.
"""

import numpy as np

from libc.math cimport INFINITY, exp, expm1, fabs, log, sqrt
from libc.string cimport memcpy, memset

from gopfast.mixtures.incumbent.tuning import ROUGH

from gopfast.mixtures.incumbent.margins cimport (
    BASIN_OUTWARD as OUTWARD, BASIN_ROUNDING as ROUNDING, SCORE_ROUNDING, WITHIN
)
from gopfast.mixtures.incumbent.tuning cimport (
    BASIN_FIRST_RADIUS as FIRST_RADIUS, BASIN_LARGEST as LARGEST, BASIN_LEAST as LEAST,
    BASIN_MOST_LOG_RADIUS as MOST_LOG_RADIUS, BASIN_MOST_TRIES as MOST_TRIES, BASIN_NARROWER as NARROWER,
    BASIN_NEGLIGIBLE as NEGLIGIBLE, BASIN_N_SHELLS as N_SHELLS, BASIN_POLL_EVERY as POLL_EVERY,
    BASIN_SMALLEST_WEIGHT as SMALLEST_WEIGHT, FINE, FIRST_LOG_RADIUS, LEAST_VECTOR, MOST_RADIUS
)
from gopfast.mixtures.primal.em cimport MixturePrimal
from gopfast.mixtures.families.gaussian cimport GaussianFamily, GaussianModel
from gopfast.mixtures.data.passes cimport pass_sums
from gopfast.mixtures.dense cimport dense_factor, dense_inverse
from gopfast.search.arena cimport Arena
from gopfast.search.relaxation cimport Basin
from gopfast.mixtures.data.samples cimport Samples, SampleSet
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport index, real


def near(data, reach):
    """The coarsest summary with points nearer than `reach` to their samples, or the samples."""
    for level in data.levels:
        if max((<Samples> level).reach) <= reach:
            return level
    return data


def rough(samples, data):
    """Fewer points, for a guess: a coarser summary, or some of the samples; None where `data` are few."""
    for level in samples.levels:
        if ROUGH * samples.n_columns**3 <= level.n_samples <= data.n_samples // 3:
            return level
    step = data.n_samples // ROUGH
    if step < 2:
        return None
    columns, weights = data.arrays()
    cdef Samples some = Samples.__new__(Samples)
    columns, weights = columns[:, ::step], weights[::step]
    some.fill(columns, weights * (data.total_weight / weights.sum()), False, np.zeros(columns.shape[0]), 0.0)
    return some


cdef class MixtureBasin(Basin):
    """Box around an incumbent of a Gaussian mixture on which no solution is better.

    Parameters
    ----------
    family : GaussianFamily
        Of known variance, with point masses for the means.
    primal : MixturePrimal
        Of the same family; its buffers are used.
    fine : float
        A summary with points nearer than this to its samples is as good as they are, in standard deviations.
    """

    def __init__(self, GaussianFamily family, MixturePrimal primal, real fine=FINE):
        cdef int K = family.n_components, d = family.n_columns
        if family.n_ranges:
            raise ValueError("this test is for point masses")
        self.family, self.primal = family, primal
        self.n_connected = K * d
        self.low, self.high = np.zeros(K * d), np.zeros(K * d)
        self.lower = -INFINITY
        data = near(family.data, fine)
        self.fine, self.reach, self.none = (<Samples> data).core, (<Samples> data).reach, np.zeros(d)
        self.some = rough(family.data, data)
        self.look_at(False)
        self.solution = np.zeros(2 * primal.n_solution)
        self.lay_out()

    cdef int lay_out(self) except -1:
        cdef size_t K = self.family.n_components, m = K * (1 + self.family.n_columns)
        cdef Arena arena = Arena()
        self.arena = arena
        while arena.again():
            self.hessian, self.variation, self.mean = arena.take(m * m), arena.take(m * m), arena.take(m * m)
            self.even, self.matrix, self.inverse = arena.take(m * m), arena.take(m * m), arena.take(K * K)
            self.radius, self.gradient, self.scale = arena.take(m), arena.take(m), arena.take(m)
            self.vector, self.domination, self.moments = arena.take(m), arena.take(m), arena.take(m)
            self.u, self.u_most = arena.take(m), arena.take(m)
            self.log_radius, self.log_weight, self.held = arena.take(K), arena.take(K), arena.take(K)
            self.r, self.r_low, self.r_high = arena.take(K), arena.take(K), arena.take(K)
            self.others, self.others_low, self.others_high = arena.take(K), arena.take(K), arena.take(K)
            self.up, self.down = arena.take(K), arena.take(K)
        return 0

    cdef bint find_box(self, const real *solution, real tolerance) noexcept nogil:
        """Holds a cube that is about the widest; of many samples, one found on some of them and then tested."""
        cdef real lower, radius
        if not self.stationary(solution, tolerance, &lower):
            return False
        self.begin()
        radius = FIRST_RADIUS
        if self.some is not None:
            self.look_at(True)
            radius = NARROWER * self.shrunk(radius, tolerance)
            self.look_at(False)
        if self.shrunk(radius, tolerance) == 0:
            return False
        self.hold(lower)
        return True

    cdef bint find_box_over(self, const real *solution, real tolerance, const real *low,
                            const real *high) noexcept nogil:
        """Holds a box around the center that holds a given one."""
        cdef int i
        cdef real *center = &self.solution[self.family.n_components]
        cdef real lower
        if not self.stationary(solution, tolerance, &lower):
            return False
        for i in range(<int> self.n_connected):
            self.radius[i] = OUTWARD * max(fabs(low[i] - center[i]), fabs(high[i] - center[i]))
            if self.radius[i] > MOST_RADIUS:
                return False
        self.begin()
        if not self.fits():
            return False
        self.hold(lower)
        return True

    cdef void look_at(self, bint rough) noexcept nogil:
        """Which points bounds are taken over: some samples, or those that prove and how far samples are from them."""
        if rough:
            self.samples, self.way = self.some.core, &self.none[0]
        else:
            self.samples, self.way = self.fine, &self.reach[0]

    cdef void begin(self) noexcept nogil:
        """First radius of every log weight."""
        cdef int k
        for k in range(self.family.n_components):
            self.log_radius[k] = FIRST_LOG_RADIUS

    cdef real shrunk(self, real radius, real tolerance) noexcept nogil:
        """Radius of a cube that fits, from the given one down; 0: none."""
        cdef int _attempt, i
        for _attempt in range(MOST_TRIES):
            # a box on whose faces the objective has not risen by the tolerance spares no nodes
            if 0.5 * radius * radius * self.scale[0] * self.scale[0] < tolerance:
                return 0
            for i in range(<int> self.n_connected):
                self.radius[i] = radius
            if self.fits():
                return radius
            radius *= self.share()
        return 0

    cdef bint fits(self) noexcept nogil:
        """Whether the objective is no lower in the box of the radii: finds how far the weights go there."""
        cdef int K = self.family.n_components, k, _attempt
        cdef real *needed = self.vector
        cdef bint inside, spare
        for _attempt in range(MOST_TRIES):
            if not self.survey():
                return False
            self.dominate()
            inside = self.enclose(needed)
            self.rising = self.is_convex(1)
            if inside and self.rising:
                return True
            spare = False
            for k in range(K):
                spare = spare or self.log_radius[k] > 1.2 * needed[k]
                if not needed[k] < MOST_LOG_RADIUS:
                    return False
            if not self.rising and not (inside and spare):
                return False
            for k in range(K):
                self.log_radius[k] = 1.05 * needed[k]
        return False

    cdef real share(self) noexcept nogil:
        """What part of the radii to try next, after a box that does not fit."""
        cdef int _i
        cdef real part = 0, above = 1, step
        if self.rising:
            return 0.75
        for _i in range(6):
            step = 0.5 * (part + above)
            if self.is_convex(step):
                part = step
            else:
                above = step
        return min(0.85, max(0.4, sqrt(part)))

    cdef bint stationary(self, const real *solution, real tolerance, real *lower) noexcept nogil:
        """Whether all components are used and the gradient is small at a solution, which becomes the center.

        OUT lower: the bound of a box around it on which the objective rises.
        """
        cdef real loss
        if not self.arrange(solution):
            return False
        lower[0] = self.expand(&loss)
        lower[0] -= loss
        return loss < 0.1 * tolerance

    cdef void hold(self, real lower) noexcept nogil:
        """Takes the box of the radii around the center."""
        cdef int K = self.family.n_components, i
        for i in range(K * self.family.n_columns):
            self.low[i], self.high[i] = self.solution[K + i] - self.radius[i], self.solution[K + i] + self.radius[i]
        memcpy(self.held, self.log_radius, K * sizeof(real))
        self.lower = lower

    cdef bint arrange(self, const real *solution) noexcept nogil:
        """Makes the center the copy of the solution that has the order of the nodes; False: a component is unused."""
        cdef int K = self.family.n_components, d = self.family.n_columns, k, i, best
        cdef real *center = &self.solution[0]
        memset(center, 0, self.primal.n_solution * sizeof(real))
        for k in range(K):
            best = 0
            for i in range(1, K):
                if self.rank(solution, i) == k:
                    best = i
            if not solution[best] > SMALLEST_WEIGHT:
                return False
            center[k] = solution[best]
            self.log_weight[k] = log(center[k])
            memcpy(center + K + k * d, solution + K + best * d, d * sizeof(real))
        return True

    cdef real expand(self, real *loss) noexcept nogil:
        """f at the center, rounded down; its gradient and scale; OUT loss: what the gradient allows f to fall."""
        cdef const GaussianModel *data = &self.family.core
        cdef int K = data.n_components, d = data.n_features, f = 1 + d, k, j, i
        cdef index n = self.primal.n_solution
        cdef real *center = &self.solution[0]
        cdef real *trial = center + n
        cdef pass_sums *sums = &self.primal.buffer.sums
        cdef real value, e, pull, step, weight = 0
        memcpy(trial, center, n * sizeof(real))
        value = self.primal.step(self.primal.truth, trial)
        self.meter.work.terms += self.primal.truth.n_samples * K
        e = trial[n - 1]
        # `step` rounds up by 64 u of the magnitude
        value -= 256 * ROUND * (sums.magnitude + fabs(value) + data.total_weight
                                + K * d * (1 + (fabs(log(e)) if e > 0 else 0)))
        loss[0] = 0
        for k in range(K):
            weight += center[k]
            self.gradient[k * f] = center[k] * (data.total_weight - sums.density[k])
            for j in range(d):
                pull = e * data.prior_scale[j]
                self.gradient[k * f + 1 + j] = (pull * (center[K + k * d + j] - data.prior_point[j])
                                                - sums.first[k * d + j])
            for i in range(k * f, (k + 1) * f):
                self.scale[i] = sqrt(data.total_weight * center[k])
                step = self.gradient[i] / self.scale[i]
                loss[0] += step * step
        loss[0] *= (1 + ROUNDING) / (2 * LEAST)
        return value + data.total_weight * (weight - 1)  # the sum of the weights is part of f

    cdef int rank(self, const real *solution, int i) noexcept nogil:
        """Place of component i in the order of the first coordinate."""
        cdef int K = self.family.n_components, d = self.family.n_columns, k, rank = 0
        cdef real x = solution[K + i * d]
        for k in range(K):
            rank += solution[K + k * d] < x or (solution[K + k * d] == x and k < i)
        return rank

    cdef bint survey(self) noexcept nogil:
        """Variation in the box, and its mean on rays from the center, by shells. False: interrupted."""
        cdef int m = self.family.n_components * (1 + self.family.n_columns), a, shell
        cdef real weight
        memset(self.mean, 0, m * m * sizeof(real))
        memset(self.even, 0, m * m * sizeof(real))
        for shell in range(N_SHELLS):
            self.part = (shell + 1.0) / N_SHELLS  # the last one is the box
            if not self.bound_changes():
                return False
            weight = 2.0 / N_SHELLS - (2.0 * shell + 1) / (N_SHELLS * N_SHELLS)
            for a in range(m * m):
                self.mean[a] += weight * self.variation[a]
                self.even[a] += self.variation[a] / N_SHELLS
        return True

    cdef bint bound_changes(self) noexcept nogil:
        """Hessian at the center and the bound of its variation in a part of the box; one pass. False: interrupted."""
        cdef const SampleSet *data = &self.samples
        cdef int K = self.family.n_components, f = 1 + self.family.n_columns, m = K * f, k, a, b
        cdef index i
        cdef real W = self.family.core.total_weight, value
        # of sums over n_samples terms, each with the few roundings of `responsibilities`
        cdef real rounding = 2 * ROUND * (data.n_samples + 64 * (f + K))
        cdef real *H = self.hessian
        cdef real *V = self.variation
        memset(H, 0, m * m * sizeof(real))
        memset(V, 0, m * m * sizeof(real))
        memset(self.moments, 0, m * sizeof(real))
        self.rest = 0
        for i in range(data.n_samples):
            if i % POLL_EVERY == 0 and self.primal.stop is not None and self.primal.stop.poll(0):
                return False
            self.responsibilities(i)
            self.accumulate(data.samples.weights[i])
        self.meter.work.terms += data.n_samples * K
        value = self.prior_curvature()
        for k in range(K):
            H[k * f * m + k * f] += W * self.solution[k]
            V[k * f * m + k * f] += W * self.solution[k] * expm1(self.part * self.log_radius[k])
            for a in range(1, f):
                V[(k * f + a) * m + k * f + a] += value
        for a in range(m):
            for b in range(a + 1):
                V[a * m + b] += self.rest + rounding * (V[a * m + b] + sqrt(self.moments[a] * self.moments[b]))
                H[b * m + a] = H[a * m + b]
                V[b * m + a] = V[a * m + b]
        return True

    cdef void responsibilities(self, index i) noexcept nogil:
        """Of point i at the center, and how they range over the box and over the samples that it stands for."""
        cdef const SampleSet *data = &self.samples
        cdef int K = self.family.n_components, d = self.family.n_columns, f = 1 + d, k, l, j
        cdef const real *means = &self.solution[K]
        cdef real x, total = 0, most = -INFINITY, least = 0, change, middle, high, low
        cdef real *u = self.u
        for k in range(K):
            u[k * f] = self.u_most[k * f] = 1
            self.r[k] = self.log_weight[k]
            for j in range(d):
                x = data.samples.columns[j * data.samples.n_padded + i] - means[k * d + j]
                u[k * f + 1 + j] = x
                self.u_most[k * f + 1 + j] = fabs(x) + self.part * self.radius[k * d + j] + self.way[j]
                self.r[k] -= 0.5 * x * x
            most = max(most, self.r[k])
            least = min(least, self.r[k])
        for k in range(K):
            self.r[k] = exp(max(self.r[k] - most, -700.0))
            total += self.r[k]
        for k in range(K):
            self.r[k] /= total
            self.up[k] = self.part * self.log_radius[k] + SCORE_ROUNDING * (d + 2) * fabs(least)
        # A score changes by at most log(up). Where a sample lies in its cell moves all scores alike but for
        # the distance of the means, here from their middle as the sample sees it.
        for j in range(1, f):
            middle = 0
            for k in range(K):
                middle += self.r[k] * u[k * f + j]
            for k in range(K):
                x = self.part * self.radius[k * d + j - 1]
                change = (fabs(u[k * f + j]) + 0.5 * x + self.way[j - 1]) * x
                self.up[k] += change + fabs(u[k * f + j] - middle) * self.way[j - 1]
        for k in range(K):
            self.up[k] = exp(min(self.up[k], 700.0))
            self.down[k] = self.r[k] / self.up[k]
            self.up[k] *= self.r[k]
        for k in range(K):
            high = low = 0
            self.others[k] = 0
            for l in range(K):  # summed one by one: differences would cancel
                if l != k:
                    self.others[k] += self.r[l]
                    high += self.up[l]
                    low += self.down[l]
            self.r_high[k], self.others_low[k] = self.up[k] / (self.up[k] + low), low / (self.up[k] + low)
            self.r_low[k], self.others_high[k] = self.down[k] / (self.down[k] + high), high / (self.down[k] + high)

    cdef void accumulate(self, real w) noexcept nogil:
        """Adds a point of weight w to the Hessian, to the bound of its variation and to the moments."""
        cdef int K = self.family.n_components, f = 1 + self.family.n_columns, m = K * f, k, l, a, b
        cdef real overlap, high, low, change, value, most, sign
        cdef real *u = self.u
        cdef real *u_most = self.u_most
        for k in range(K):
            self.moments[k * f] += w * self.r[k]
            change = w * max(self.r_high[k] - self.r[k], self.r[k] - self.r_low[k])
            for a in range(1, f):
                self.moments[k * f + a] += w * self.r[k] * (1 + u_most[k * f + a] * u_most[k * f + a])
                self.hessian[(k * f + a) * m + k * f + a] += w * self.r[k]
                self.variation[(k * f + a) * m + k * f + a] += change
        for k in range(K):
            for l in range(k + 1):
                if k == l:
                    # sum over the others of r_k r_l; r (1 - r) rises to r = 1/2 and falls
                    sign = -1
                    overlap = self.r[k] * self.others[k]
                    low, high = self.r_low[k] * self.others_high[k], self.r_high[k] * self.others_low[k]
                    if low > high:
                        low, high = high, low
                    if self.r_low[k] < 0.5 < self.r_high[k]:
                        high = 0.25
                else:
                    sign = 1
                    overlap = self.r[k] * self.r[l]
                    low, high = self.r_low[k] * self.r_low[l], min(self.r_high[k] * self.r_high[l], 0.25)
                if high < NEGLIGIBLE:
                    most = 1
                    for a in range(f):
                        most = max(most, max(u_most[k * f + a], u_most[l * f + a]))
                    self.rest += 2 * w * high * most * most
                    continue
                change = w * max(high - overlap, overlap - low)
                overlap *= w
                for a in range(f):
                    for b in range(f):
                        value = u[k * f + a] * u[l * f + b]
                        most = u_most[k * f + a] * u_most[l * f + b]
                        self.hessian[(k * f + a) * m + l * f + b] += sign * overlap * value
                        self.variation[(k * f + a) * m + l * f + b] += change * most + overlap * (most - fabs(value))

    cdef real prior_curvature(self) noexcept nogil:
        """Bound of the prior's negative curvature: g(C(nu)), g(C) = min_e (e C - Kd/2 log e), g'' >= -Kd/2 / C^2."""
        cdef const GaussianModel *data = &self.family.core
        cdef int K = data.n_components, d = data.n_features, k, j
        cdef real cost = 0, z, most = 0
        if not data.has_prior or data.e_low == data.e_high:
            return 0
        for k in range(K):
            for j in range(d):
                z = fabs(self.solution[K + k * d + j] - data.prior_point[j])
                z = max(0.0, z - self.part * self.radius[k * d + j])
                cost += 0.5 * data.prior_scale[j] * z * z
                most = max(most, data.prior_scale[j])
        return K * d * most / cost if cost > 0 else INFINITY

    cdef void dominate(self) noexcept nogil:
        """A diagonal that dominates the mean variation, in the scale of the components.

        (V p)_a / p_a, p by the power method near the eigenvector that makes the largest of them least.
        """
        cdef int m = self.family.n_components * (1 + self.family.n_columns), a, b, turn
        cdef real value, most
        cdef real *p = self.vector
        for a in range(m):
            p[a] = 1
        for turn in range(6):
            most = 0
            for a in range(m):
                value = 0
                for b in range(m):
                    value += self.mean[a * m + b] / (self.scale[a] * self.scale[b]) * p[b]
                self.domination[a] = value / p[a]
                self.matrix[a] = value
                most = max(most, value)
            if turn == 5 or not 0 < most < INFINITY:
                return
            for a in range(m):
                p[a] = max(self.matrix[a] / most, LEAST_VECTOR)

    cdef bint is_convex(self, real part) noexcept nogil:
        """Whether H - part * domination >= LEAST in the scale of the components, H that of the center."""
        cdef int m = self.family.n_components * (1 + self.family.n_columns), a, b
        for a in range(m):
            if not self.domination[a] < INFINITY:
                return False
            for b in range(a + 1):
                self.matrix[b * m + a] = self.hessian[b * m + a] / (self.scale[a] * self.scale[b])
                if not fabs(self.matrix[b * m + a]) < LARGEST:
                    return False
            self.matrix[a * m + a] -= part * self.domination[a] + LEAST + ROUNDING
        return dense_factor(m, self.matrix) == 0

    cdef bint enclose(self, real *needed) noexcept nogil:
        """Whether the best log weights stay within log_radius for all means of the box.

        OUT needed (K,): how far they may go.
        With Y near A^-1: |db| <= |Y grad_b| + (|Y G| + |Y| V_G) radius + |Y| V_A |db|, V the even mean.
        """
        cdef int K = self.family.n_components, d = self.family.n_columns, f = 1 + d, m = K * f, k, l, p, j
        cdef real *Y = self.inverse
        cdef real value, change
        cdef bint inside = True
        for k in range(K):
            for l in range(k, K):
                self.matrix[k * K + l] = self.hessian[k * f * m + l * f]
        if dense_factor(K, self.matrix):
            for k in range(K):
                needed[k] = self.log_radius[k]
            return False
        dense_inverse(K, self.matrix, Y)
        for k in range(K):
            change = 0
            for l in range(K):
                change += fabs(Y[k * K + l]) * fabs(self.gradient[l * f])
                for p in range(K):
                    change += fabs(Y[k * K + l]) * self.even[l * f * m + p * f] * self.log_radius[p]
            for p in range(K):
                for j in range(d):
                    value = 0
                    for l in range(K):
                        value += Y[k * K + l] * self.hessian[l * f * m + p * f + 1 + j]
                    value = fabs(value)
                    for l in range(K):
                        value += fabs(Y[k * K + l]) * self.even[l * f * m + p * f + 1 + j]
                    change += value * self.radius[p * d + j]
            needed[k] = change
            if not change < WITHIN * self.log_radius[k]:
                inside = False
        return inside

    def find(self, real[::1] solution, real tolerance):
        """Whether a box was found around a solution (weights, means, e of the core); for tests."""
        return self.find_box(&solution[0], tolerance)

    def finds_box_over(self, real[::1] solution, real tolerance, real[::1] low, real[::1] high):
        """Whether the box [low, high] (K d,) was taken; for tests."""
        return self.find_box_over(&solution[0], tolerance, &low[0], &high[0])

    def examine(self, real[::1] solution, real[::1] radius, real[::1] log_radius):
        """Everything that is claimed of the box of these radii (K d,), (K,) around a solution; for tests."""
        cdef int K = self.family.n_components, m = K * (1 + self.family.n_columns), i
        cdef real loss = 0
        if not self.arrange(&solution[0]):
            raise ValueError("a component has no weight")
        self.expand(&loss)
        for i in range(len(radius)):
            self.radius[i] = radius[i]
        for i in range(K):
            self.log_radius[i] = log_radius[i]
        self.survey()
        self.dominate()
        found = dict(self.report(), rises=self.is_convex(1), prior_curvature=self.prior_curvature(),
                     domination=np.array(<real[:m]> self.domination), scale=np.array(<real[:m]> self.scale))
        enclosed = self.enclose(self.vector)
        return dict(found, enclosed=enclosed, needed=np.array(<real[:K]> self.vector))

    def report(self):
        """The box and its bound, for tests.

        low, high (K d,), lower, log_radius (K,), gradient (m,), hessian, variation, mean (m, m).
        """
        cdef int K = self.family.n_components, m = K * (1 + self.family.n_columns), i
        if self.lower > -INFINITY:  # a wider box may have been tried since
            for i in range(<int> self.n_connected):
                self.radius[i] = 0.5 * (self.high[i] - self.low[i])
            memcpy(self.log_radius, self.held, K * sizeof(real))
            self.survey()
        return dict(
            low=np.array(self.low), high=np.array(self.high), lower=self.lower,
            log_radius=np.array(<real[:K]> self.log_radius), gradient=np.array(<real[:m]> self.gradient),
            hessian=np.array(<real[:m, :m]> self.hessian), variation=np.array(<real[:m, :m]> self.variation),
            mean=np.array(<real[:m, :m]> self.mean),
        )
