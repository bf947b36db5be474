"""The box around an incumbent of any family on which the objective is proved to be no lower.

`charts` has coordinates y_k of the components' natural parameters in which a component's log density is that at the
center plus u_ik'y_k - D_k(y_k). With a log weight b_k = log(pi_k / pi^_k) - D_k(y_k) more and free total weight the
objective is, up to its value at the center z = 0 and a prior's terms,

    f(z) = W sum_k pi^_k (exp(b_k + D_k(y_k)) - 1) - sum_i w_i log sum_k r_ik exp(zeta_ik),   zeta_ik = b_k + u_ik'y_k,

r_ik the center's responsibilities: a convex function of one component each, less cumulant functions of linear forms. On
a ray s z the derivatives of the latter are the cumulants of zeta_i under the responsibilities there. So with g, H and T
the first three derivatives of f at the center,

    f(z) >= g'z + 1/2 z'(H + 1/3 sum_a z_a T_a - R - diag(q)) z      in the box, where

- R = sum_i w_i sum_{k<l} h_ikl (u_ik - u_il)(u_ik - u_il)' holds the fourth cumulants, which are at most
  sum_{k<l} r_k r_l ((1 - r_k)^3 + (1 - r_l)^3 - 3 r_k r_l) (zeta_k - zeta_l)^4: E (zeta_k - mean)^4 by Jensen's
  inequality, and the square of the variance sum_{k<l} r_k r_l (zeta_k - zeta_l)^2 counts at least each term's square.
  h is 1/12 of the mean of the factor on the ray, weight 4 (1 - s)^3, at the worst of the box, times the largest
  (zeta_k - zeta_l)^2 (`spread`);
- q is what the convex part may lie below its cubic, from exp(x) >= 1 + x + x^2/2 + x^3/6 (`Chart.bend`, `quartic`).

In any basis Z, the z_a T_a are bounded by entry, and for any p > 0 a symmetric matrix V of bounds by the diagonal
(V p)_a / p_a: a Cholesky factorisation of Z'(H - R - diag(q)) Z less that diagonal proves the bracket >= LEAST times
the components' masses (`rises`). Z is the eigenbasis, where the one or two weak directions of overlapping components
stand apart. A parameter at the end of its range, with a gradient that leads out of it, adds to the curvature instead: a
linear term |g_a z_a| >= |g_a| z_a^2 / radius.

For every y of the box the best b is stationary: b = - A^-1 (g + G y + 1/2 T(z, z) + rest), A and G the blocks of H, the
rest of third order, from the cumulants of a responsibility and three scores (`turn_apart`) and from D. So it stays
within `loose` of - A^-1 G y (`enclose`): no solution crosses that on the way from the center, their degree stays, there
is one; and f is convex in the weights: it is the best. What is proved of the box is proved of these z only: T is taken
along - A^-1 G y, and only the coordinates and the remainder are bounded one by one.

Faces, where a column's probability is 0 at the center: there a component is a mixture of components whose columns on
faces have certain values, a set of columns S the other one, with the component's weight times the product of the odds
o_j, j in S. As f is convex in the weights, it is at least that without the other values plus sum_S prod o_j (W - D_S),
D_S the gradient function of the set S at the best weights without. Each D_S, times the odds of S but one, is charged to
that one: nothing is to be gained in the box if no column is charged more than W (`faces_hold`).
"""

import numpy as np

from libc.math cimport INFINITY, exp, fabs, isfinite, log, sqrt
from libc.string cimport memcpy, memset

from gopfast.mixtures.data.passes cimport pass_costs, pass_sums
from gopfast.mixtures.data.samples cimport SampleSet
from gopfast.mixtures.bounds.dense cimport dense_factor, dense_inverse
from gopfast.search.arena cimport Arena
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport index, real


cdef real FIRST_RADIUS = 0.5    # of a box, in standard deviations
cdef real LEAST_RADIUS = 1e-3
cdef real NARROWER = 0.6
cdef int N_HALVINGS = 4         # of the ratio between a radius that fits and one that does not
cdef index ROUGH = 1000         # samples on which radii are looked for
cdef int N_SHRINKINGS = 8       # on all samples
cdef real SHRINKING = 0.9
cdef int N_WIDENINGS = 5        # attempts for each component
cdef real WIDER = 1.4
cdef int MOST_TRIES = 8         # of the log weights' radius
cdef real MOST_LOG_RADIUS = 1.0
cdef real LEAST = 0.003         # curvature to be proved, relative to that of separate components
cdef real LENT = 0.8            # part of the tolerance that the objective may fall in the box
cdef real OUTWARD = 1 + 1e-9     # covers the rounding of the sums and products that a bound is made of
cdef real UPWARD = 1 + 1e-12     # that of a few operations
cdef real ROUNDING = 1e-7       # of matrix products and the factorisation, beside entries of at most LARGEST
cdef real LARGEST = 10.0
cdef real NEGLIGIBLE = 1e-16    # terms below it are bounded, not computed
cdef real FARTHEST = 150.0      # a score may not go farther than this
cdef real SMALLEST_WEIGHT = 1e-6
cdef int N_SHELLS = 4
cdef int MOST_SWEEPS = 12
cdef int MOST_COORDINATES = 80
cdef index MOST_WORK = 1_000_000_000    # operations of one survey
cdef index POLL_EVERY = 1024    # samples
cdef real FACE_REACH = 1e-3     # of what is taken to be on a face, at first
cdef real WIDEST_FACE = 1.0      # of a probability or rate whose center is 0
cdef real NARROWEST_FACE = 1e-3
cdef int POLISHING = 500        # steps of EM


cdef class Neighbourhood(Basin):
    """Box around an incumbent on which no solution is better.

    Parameters
    ----------
    primal : MixturePrimal
        Its buffers are used.
    chart : Chart
        Of the same family.
    """

    def __init__(self, MixturePrimal primal, Chart chart):
        cdef int K = chart.n_components, d = chart.n_columns, p = chart.n_coordinates, f = 1 + p, m = K * f
        cdef index n = chart.family.n_connected
        cdef Arena arena
        self.family, self.primal, self.chart = chart.family, primal, chart
        self.p, self.f, self.m = p, f, m
        self.n_connected = n
        self.low, self.high = np.zeros(n), np.zeros(n)
        self.lower, self.stride = -INFINITY, 1
        self.solution = np.zeros(2 * primal.n_solution)
        self.cubes = np.zeros(2 * m * m * m if m <= MOST_COORDINATES else 1)
        arena = Arena()
        self.arena = arena
        while arena.again():
            self.hessian, self.rest, self.matrix = arena.take(m * m), arena.take(m * m), arena.take(m * m)
            self.basis, self.turned, self.change = arena.take(m * m), arena.take(m * m), arena.take(m * m)
            self.squares, self.slopes = arena.take(K * m * m), arena.take(K * m)
            self.inverse, self.fourth = arena.take(K * K), arena.take(K * K)
            self.box_low, self.box_high = arena.take(n), arena.take(n)
            self.down, self.up = arena.take(K * p), arena.take(K * p)
            self.face_need = arena.take(K * d)
            self.gradient, self.gradient_error = arena.take(m), arena.take(m)
            self.vector, self.other, self.u = arena.take(m), arena.take(m), arena.take(m)
            self.log_weight, self.mass, self.beyond_second = arena.take(K), arena.take(K), arena.take(K)
            self.bent_reach, self.highest = arena.take(K), arena.take(K)
            self.lowest, self.away = arena.take(K), arena.take(K)
            self.log_radius, self.needed, self.loose = arena.take(K), arena.take(K), arena.take(K)
            self.radius = arena.take(K)
            self.reach, self.score, self.r, self.others = arena.take(K), arena.take(K), arena.take(K), arena.take(K)
            self.fall, self.rise, self.most = arena.take(K), arena.take(K), arena.take(K)
            self.least, self.size = arena.take(K), arena.take(K)
            self.possible = <bint *> arena.take_bytes(K * sizeof(bint))
            self.counts = <bint *> arena.take_bytes(K * sizeof(bint))
        self.cubic = &self.cubes[0]
        self.bent = self.cubic + (m * m * m if m <= MOST_COORDINATES else 0)

    cdef bint settle(self, const real *solution, real tolerance) noexcept nogil:
        """Holds a box of equal radii that is about the widest."""
        cdef real lower, reach = FACE_REACH
        cdef int _attempt
        for _attempt in range(2):
            if self.hold_center(solution, tolerance, reach, &lower) and self.widest():
                self.hold(lower)
                return True
            reach = 1e-12
        return False

    cdef bint cover(self, const real *solution, real tolerance, const real *low, const real *high) noexcept nogil:
        cdef real lower
        self.stride = 1
        if not self.hold_center(solution, tolerance, FACE_REACH, &lower):
            return False
        memcpy(self.box_low, low, self.n_connected * sizeof(real))
        memcpy(self.box_high, high, self.n_connected * sizeof(real))
        if not self.reaches() or not self.fits():
            return False
        self.hold(lower)
        return True

    cdef bint widest(self) noexcept nogil:
        """Whether there is a box; leaves the widest found in box_low and box_high.

        Of many samples, radii are looked for on some and then tested on all.
        """
        cdef int K = self.family.n_components, _turn, k
        cdef bint found
        self.stride = max(1, self.family.data.core.n_samples // ROUGH)
        found = self.look()
        if self.stride == 1 or not found:
            return found
        self.stride = 1
        for _turn in range(N_SHRINKINGS):
            if self.fits_radii():
                return True
            for k in range(K):
                self.radius[k] *= SHRINKING
        return False

    cdef bint look(self) noexcept nogil:
        """Finds radii that are about the widest, on the samples of the stride; False: there are none."""
        cdef real radius = FIRST_RADIUS, above, middle
        cdef int K = self.family.n_components, _turn, k
        while not self.cube(radius):
            if self.primal.stop is not None and self.primal.stop.poll(0):
                return False
            radius *= NARROWER
            if radius < LEAST_RADIUS:
                return False
        above = radius / NARROWER
        for _turn in range(N_HALVINGS):
            middle = sqrt(radius * above)
            if self.cube(middle):
                radius = middle
            else:
                above = middle
        for k in range(K):
            self.radius[k] = radius
        for _turn in range(N_WIDENINGS):
            for k in range(K):
                self.radius[k] *= WIDER
                if not self.fits_radii():
                    self.radius[k] /= WIDER
        return self.fits_radii()

    cdef bint cube(self, real radius) noexcept nogil:
        """Whether the box of one radius fits."""
        cdef int k
        for k in range(self.family.n_components):
            self.radius[k] = radius
        return self.fits_radii()

    cdef bint fits_radii(self) noexcept nogil:
        """Whether the box of the components' radii fits, its faces as wide as they may be."""
        cdef int k, n = self.family.n_cell
        self.chart.width = WIDEST_FACE
        while self.chart.width > NARROWEST_FACE:
            for k in range(self.family.n_components):
                self.chart.cell(k, self.radius[k], self.box_low + k * n, self.box_high + k * n)
            self.beyond = False
            if not self.reaches():
                return False
            if self.fits():
                return True
            if not self.beyond:
                return False
            self.chart.width *= 0.5
        return False

    cdef bint reaches(self) noexcept nogil:
        """Whether the chart reaches as far as the box; and how far that is."""
        cdef int k, a, n = self.family.n_cell, p = self.p
        cdef real half
        for k in range(self.family.n_components):
            if not self.chart.ranges(k, self.box_low + k * n, self.box_high + k * n, self.down + k * p,
                                     self.up + k * p):
                return False
        for k in range(self.family.n_components):
            self.reach[k] = self.bent_reach[k] = 0
            for a in range(k * p, (k + 1) * p):
                half = 0.5 * max(self.down[a], self.up[a]) ** 2 * UPWARD
                self.bent_reach[k] += half * self.chart.bend(a, self.down, self.up)
                self.reach[k] += half
            self.reach[k] += self.bent_reach[k]
        return True

    cdef void hold(self, real lower) noexcept nogil:
        memcpy(&self.low[0], self.box_low, self.n_connected * sizeof(real))
        memcpy(&self.high[0], self.box_high, self.n_connected * sizeof(real))
        self.lower = lower - self.loss - self.lent

    def find(self, real[::1] solution, real tolerance):
        """Whether a box was found around a solution (weights, parameters, e of the core); for tests."""
        return self.settle(&solution[0], tolerance)

    def covers(self, real[::1] solution, real tolerance, real[::1] low, real[::1] high):
        """Whether the box [low, high] (n_connected,) was taken; for tests."""
        return self.cover(&solution[0], tolerance, &low[0], &high[0])

    def report(self):
        """For tests: low, high (n_connected,), lower, the center, how far coordinates and log weights go."""
        cdef int K = self.family.n_components, p = self.p
        return dict(low=np.array(self.low), high=np.array(self.high), lower=self.lower,
                    center=np.array(self.solution[:self.primal.n_solution]),
                    down=np.array(<real[:K, :p]> self.down), up=np.array(<real[:K, :p]> self.up),
                    log_radius=np.array(<real[:K]> self.log_radius))

    def examine(self, real[::1] solution, real[::1] low, real[::1] high, real tolerance=1e300, real reach=0.0):
        """Everything that is claimed of a box around a center that need not be a solution; for tests.

        Returns
        -------
        None where the chart does not reach so far, or dict with `fits`, `derivatives` (gradient (m,), Hessian (m, m),
        third derivatives (m, m, m)), `rest` and `basis` (m, m), `bend` and `quartic` (K, p), `slopes` (K, m), `loose`,
        `log_radius`, `beyond_second` (K,), `down` and `up` (K, p), `value` (f at the center) and `least`, what the
        bracket is proved to be, but for `lent` nats in all.
        """
        cdef int K = self.family.n_components, m = self.m, p = self.p, i
        self.tolerance, self.stride = tolerance, 1
        if not self.arrange(&solution[0]) or not self.chart.place(&self.solution[K], reach):
            raise ValueError("there is no center")
        value = self.expand()
        if not self.survey():
            raise ValueError("interrupted")
        memcpy(self.box_low, &low[0], self.n_connected * sizeof(real))
        memcpy(self.box_high, &high[0], self.n_connected * sizeof(real))
        third = np.array(<real[:m, :m, :m]> self.cubic)
        hessian = np.array(<real[:m, :m]> self.hessian)
        if not self.reaches():
            return None
        fits = self.weights_follow() and self.fits()
        if not fits:
            for i in range(K):
                self.log_radius[i] = min(self.log_radius[i], 0.5) if self.log_radius[i] > 0 else 0.05
        if not self.spread():
            return None
        return dict(
            fits=fits, derivatives=(np.array(<real[:m]> self.gradient), hessian, third), value=value, least=LEAST,
            rest=np.array(<real[:m, :m]> self.rest), slopes=np.array(<real[:K, :m]> self.slopes),
            lent=self.lent, basis=np.array(<real[:m, :m]> self.basis),
            bend=np.reshape([self.chart.bend(i, self.down, self.up) for i in range(K * p)], (K, p)),
            quartic=np.reshape([self.chart.quartic(i, self.down, self.up) for i in range(K * p)], (K, p)),
            loose=np.array(<real[:K]> self.loose), log_radius=np.array(<real[:K]> self.log_radius),
            down=np.array(<real[:K, :p]> self.down), up=np.array(<real[:K, :p]> self.up),
            center=np.array(self.solution[:self.primal.n_solution]),
            beyond_second=np.array(<real[:K]> self.beyond_second),
        )

    cdef bint hold_center(self, const real *solution, real tolerance, real reach, real *lower) noexcept nogil:
        """Takes a solution as the center, after some EM; False: there is no box around it.

        OUT lower: the bound of a box on which the objective rises.
        """
        cdef int K = self.family.n_components
        cdef index n = self.primal.n_solution, N = self.family.data.core.n_samples
        if self.m > MOST_COORDINATES or N * self.m * self.m * self.m > MOST_WORK or K == 1:
            return False
        memcpy(&self.solution[n], solution, n * sizeof(real))
        self.polish(&self.solution[n], 1e-7 * tolerance)
        if not self.arrange(&self.solution[n]) or not self.chart.place(&self.solution[K], reach):
            return False
        self.tolerance = tolerance
        lower[0] = self.expand()
        if not isfinite(lower[0]) or not self.survey():
            return False
        return self.weights_follow()

    cdef void polish(self, real *solution, real tolerance) noexcept nogil:
        """EM until a step gains less than the tolerance."""
        cdef real before = INFINITY, value
        cdef int _turn
        for _turn in range(POLISHING):
            if self.primal.stop is not None and self.primal.stop.poll(0):
                return
            value = self.primal.step(&self.primal.full, solution)
            if not before - value > tolerance:
                return
            before = value

    cdef bint arrange(self, const real *solution) noexcept nogil:
        """Makes the center the copy of the solution that has the order of the nodes; False: a component is unused."""
        cdef int K = self.family.n_components, n = self.family.n_cell, k, i, rank
        cdef const real *point = solution + K
        cdef real *center = &self.solution[0]
        for i in range(K):
            rank = 0
            for k in range(K):
                rank += point[k * n] < point[i * n] or (point[k * n] == point[i * n] and k < i)
            if not solution[i] > SMALLEST_WEIGHT:
                return False
            center[rank] = solution[i]
            memcpy(center + K + rank * n, point + i * n, n * sizeof(real))
        center[self.primal.n_solution - 1] = solution[self.primal.n_solution - 1]
        return True

    cdef real expand(self) noexcept nogil:
        """f at the center, rounded down, of free total weight; leaves the family's costs in the primal's buffer."""
        cdef int K = self.family.n_components, k, a
        cdef index n = self.primal.n_solution
        cdef real *center = &self.solution[0]
        cdef real *trial = center + n
        cdef pass_sums *sums = &self.primal.buffer.sums
        cdef real value, weight = 0, W = self.family.data.core.total_weight, slack = 0, pseudo = 0
        for k in range(K):
            self.log_weight[k], self.mass[k] = log(center[k]), W * center[k]
            weight += center[k]
        memcpy(trial, center, n * sizeof(real))
        value = self.primal.step(&self.primal.full, trial)
        # `step` rounds up by its margin, and some families their costs
        value -= 3 * self.primal.margin + 256 * ROUND * (sums.magnitude + fabs(value) + W)
        for k in range(K):
            slack = max(slack, self.chart.slack(k))
            for a in range(k * self.p, (k + 1) * self.p):
                pseudo += self.chart.pseudo[a]
        value -= slack * (W + pseudo)
        return value + W * (weight - 1)

    cdef void sample(self, index i) noexcept nogil:
        """Statistics, scores and responsibilities of sample i at the center."""
        cdef const SampleSet *data = &self.family.data.core
        cdef const pass_costs *costs = &self.primal.buffer.costs
        cdef int K = self.family.n_components, d = self.family.n_columns, f = self.f, k, l, j, a
        cdef real x, term, size, most = -INFINITY, total = 0
        self.score_error = 0
        for k in range(K):
            self.u[k * f] = 1
            self.possible[k] = self.chart.statistics(i, k, self.u + k * f + 1)
            self.score[k] = self.log_weight[k] + costs.offsets[k]
            size = 1 + fabs(self.log_weight[k]) + fabs(costs.offsets[k])
            for j in range(d):
                a = k * d + j
                if self.chart.face[a]:
                    continue
                x = data.samples.columns[j * data.samples.n_padded + i] - costs.centers[a]
                term = costs.linear[a] * x
                self.score[k] -= term
                size += fabs(term)
                term = costs.quadratic[a] * x * x
                self.score[k] -= term
                size += fabs(term)
            x = 1
            for a in range(k * f + 1, (k + 1) * f):
                x += fabs(self.u[a])
            self.score_error = max(self.score_error, (16 + 2 * d) * ROUND * size + self.chart.blur * x)
            if self.possible[k]:
                most = max(most, self.score[k])
        for k in range(K):
            self.score[k] -= most
            self.r[k] = exp(self.score[k]) if self.possible[k] else 0
            total += self.r[k]
        for k in range(K):
            self.r[k] /= total
        for k in range(K):
            self.others[k] = 0
            for l in range(K):  # one by one: a difference would cancel
                if l != k:
                    self.others[k] += self.r[l]

    cdef bint survey(self) noexcept nogil:
        """Gradient, Hessian and third derivatives at the center. False: interrupted."""
        cdef int m = self.m
        cdef const SampleSet *data = &self.family.data.core
        cdef index i
        memset(self.gradient, 0, m * sizeof(real))
        memset(self.gradient_error, 0, m * sizeof(real))
        memset(self.hessian, 0, m * m * sizeof(real))
        memset(self.cubic, 0, <size_t> m * m * m * sizeof(real))
        self.rough = 0
        for i in range(data.n_samples):
            if i % POLL_EVERY == 0 and self.primal.stop is not None and self.primal.stop.poll(0):
                return False
            self.sample(i)
            self.cumulate(data.samples.weights[i])
        self.finish_survey()
        return True

    cdef void cumulate(self, real w) noexcept nogil:
        """Takes the cumulants of a sample of weight w from the derivatives."""
        cdef int K = self.family.n_components, f = self.f, m = self.m, k, l, h, a, b, c
        cdef real error = (self.family.data.core.n_samples + 128) * ROUND + 16 * self.score_error
        cdef real value, part, mean = 0, q = 0
        cdef real *u = self.u
        for k in range(K):
            self.size[k] = 1
            for a in range(1, f):
                self.size[k] += 1 + fabs(u[k * f + a])
            self.size[k] /= sqrt(self.mass[k])
            mean += self.r[k] * self.size[k]
        for k in range(K):
            q = mean + self.size[k]
            # rounding, and the terms that are left out below
            self.rough += w * error * self.r[k] * (q * q + q * q * q)
            if self.possible[k] and self.r[k] < 4 * NEGLIGIBLE:
                self.rough += w * NEGLIGIBLE * 16 * K * K * (q * q + q * q * q)
            for a in range(f):
                part = w * self.r[k] * u[k * f + a]
                self.gradient[k * f + a] -= part
                self.gradient_error[k * f + a] += error * w * self.r[k] * (1 + fabs(u[k * f + a]))
        for k in range(K):
            if self.r[k] < NEGLIGIBLE:
                continue
            for l in range(k + 1):
                if self.r[l] < NEGLIGIBLE:
                    continue
                value = w * (self.r[k] * self.others[k] if k == l else -self.r[k] * self.r[l])
                if fabs(value) < w * NEGLIGIBLE:
                    q = self.size[k] + self.size[l] + 2 * mean
                    self.rough += w * NEGLIGIBLE * 16 * K * (q * q + q * q * q)
                    continue
                for a in range(f):
                    part = value * u[k * f + a]
                    for b in range(f):
                        self.hessian[(k * f + a) * m + l * f + b] -= part * u[l * f + b]
                for h in range(l + 1):
                    if self.r[h] < NEGLIGIBLE:
                        continue
                    if k == l and l == h:
                        value = self.r[k] * self.others[k] * (self.others[k] - self.r[k])
                    elif k == l:
                        value = -self.r[k] * self.r[h] * (self.others[k] - self.r[k])
                    elif l == h:
                        value = -self.r[k] * self.r[h] * (self.others[h] - self.r[h])
                    else:
                        value = 2 * self.r[k] * self.r[l] * self.r[h]
                    for a in range(f):
                        for b in range(f):
                            part = w * value * u[k * f + a] * u[l * f + b]
                            for c in range(f):
                                self.cubic[((k * f + a) * m + l * f + b) * m + h * f + c] -= part * u[h * f + c]

    cdef void finish_survey(self) noexcept nogil:
        """Adds the convex part and the prior, and makes both symmetric."""
        cdef int K = self.family.n_components, p = self.p, f = self.f, m = self.m, k, l, h, a, b, c, i, j
        cdef real N, value, nu
        for k in range(K):
            N, b = self.mass[k], k * f
            self.gradient[b] += N
            self.gradient_error[b] += 8 * ROUND * N
            self.hessian[b * m + b] += N
            self.cubic[(b * m + b) * m + b] += N
            for j in range(p):
                i, a = k * p + j, b + 1 + j
                nu = self.chart.pseudo[i]
                self.gradient[a] += self.chart.pull[i]
                value = nu * (1 + fabs(self.chart.third(i, i, i)))
                self.gradient_error[a] += 64 * ROUND * (fabs(self.chart.pull[i])
                                                        + value * (1 + self.chart.size[i] + 1 / self.chart.size[i]))
                self.hessian[a * m + a] += N + nu
                self.add_cubic(b, a, a, N)
                self.cubic[(a * m + a) * m + a] += nu * self.chart.third(i, i, i)
                for l in range(j, p):
                    for h in range(l, p):
                        value = N * self.chart.third(i, k * p + l, k * p + h)
                        if value != 0:
                            self.add_cubic(a, b + 1 + l, b + 1 + h, value)
        # `cumulate` has filled the blocks k >= l >= h
        for k in range(K):
            for l in range(k):
                for a in range(k * f, (k + 1) * f):
                    for b in range(l * f, (l + 1) * f):
                        self.hessian[b * m + a] = self.hessian[a * m + b]
        for k in range(K):
            for l in range(k + 1):
                for h in range(l + 1):
                    if k == h:
                        continue
                    for a in range(k * f, (k + 1) * f):
                        for b in range(l * f, (l + 1) * f):
                            for c in range(h * f, (h + 1) * f):
                                value = self.cubic[(a * m + b) * m + c]
                                self.cubic[(a * m + c) * m + b] = self.cubic[(b * m + a) * m + c] = value
                                self.cubic[(b * m + c) * m + a] = self.cubic[(c * m + a) * m + b] = value
                                self.cubic[(c * m + b) * m + a] = value

    cdef void add_cubic(self, int a, int b, int c, real value) noexcept nogil:
        """Adds to the derivative in a, b and c, and to its copies."""
        cdef int m = self.m
        self.cubic[(a * m + b) * m + c] += value
        if a == b == c:
            return
        self.cubic[(b * m + c) * m + a] += value
        self.cubic[(c * m + a) * m + b] += value
        if a == b or b == c or a == c:
            return
        self.cubic[(a * m + c) * m + b] += value
        self.cubic[(b * m + a) * m + c] += value
        self.cubic[(c * m + b) * m + a] += value

    cdef bint weights_follow(self) noexcept nogil:
        """How the best log weights follow the coordinates to first order; takes their part out of `cubic`."""
        cdef int K = self.family.n_components, f = self.f, m = self.m, k, l, a, b, c
        cdef real *Y = self.inverse
        cdef real value, share
        for k in range(K):
            for l in range(k, K):
                self.matrix[k * K + l] = self.hessian[k * f * m + l * f]
        if dense_factor(K, self.matrix):
            return False
        dense_inverse(K, self.matrix, Y)
        for k in range(K):
            for a in range(m):
                value = 0
                if a % f:
                    for l in range(K):
                        value += Y[k * K + l] * self.hessian[l * f * m + a]
                self.slopes[k * m + a] = value
        self.follow_squares()
        for a in range(m):
            if a % f == 0:
                continue
            for k in range(K):
                share = self.slopes[k * m + a]
                for b in range(m):
                    for c in range(m):
                        self.cubic[(a * m + b) * m + c] -= share * self.cubic[(k * f * m + b) * m + c]
        return self.turn()

    cdef void follow_squares(self) noexcept nogil:
        """Second derivatives of what the best log weights are beyond the first order, in the coordinates and that."""
        cdef int K = self.family.n_components, f = self.f, m = self.m, k, l, a, b
        cdef real *square
        for k in range(K):
            square = self.squares + k * m * m
            memset(square, 0, m * m * sizeof(real))
            for l in range(K):
                for a in range(m * m):
                    square[a] += self.inverse[k * K + l] * self.cubic[<size_t> l * f * m * m + a]
            for a in range(m):      # columns, then rows: a log weight is - slopes times the coordinates, and the rest
                for b in range(m):
                    if b % f:
                        for l in range(K):
                            square[a * m + b] -= square[a * m + l * f] * self.slopes[l * m + b]
            for a in range(m):
                if a % f:
                    for l in range(K):
                        for b in range(m):
                            square[a * m + b] -= self.slopes[l * m + a] * square[l * f * m + b]

    cdef bint turn(self) noexcept nogil:
        """Makes the eigenvectors of the center's Hessian the basis, and takes the third derivatives to it."""
        cdef int f = self.f, m = self.m, a, b, c
        cdef real value, scale
        cdef real *slice
        cdef real *out
        for a in range(m):
            for b in range(m):
                self.matrix[a * m + b] = self.hessian[a * m + b] / sqrt(self.mass[a // f] * self.mass[b // f])
            if not fabs(self.matrix[a * m + a]) < LARGEST:
                return False
        eigenvectors(m, self.matrix, self.basis)
        self.turning = 0
        for a in range(m):
            slice, out = self.cubic + <size_t> a * m * m, self.bent + <size_t> a * m * m
            scale = sqrt(self.mass[a // f])
            value = 0
            for b in range(m):
                for c in range(m):
                    self.change[b * m + c] = slice[b * m + c] / (scale * sqrt(self.mass[b // f] * self.mass[c // f]))
                    value = max(value, fabs(self.change[b * m + c]))
            self.turning = max(self.turning, value)
            conjugate(m, self.change, self.basis, self.turned, out)
        return isfinite(self.turning)

    cdef bint fits(self) noexcept nogil:
        """Whether the objective is no lower in the box: finds how far the weights go there."""
        cdef int K = self.family.n_components, f = self.f, m = self.m, k, a, _attempt
        cdef real step
        self.loss = 0
        for k in range(K):
            for a in range(f):
                if a == 0 or not self.one_sided(k, a - 1):
                    step = fabs(self.gradient[k * f + a]) + self.gradient_error[k * f + a]
                    self.loss += step * step / self.mass[k]
        self.loss *= OUTWARD / (2 * LEAST)
        if not self.loss < 0.1 * self.tolerance:
            return False
        self.lent = 0
        for k in range(K):
            self.loose[k] = 1e-3
        for _attempt in range(MOST_TRIES):
            for k in range(K):
                self.log_radius[k] = self.loose[k] + 1e-12
                for a in range(m):
                    if a % f:
                        self.log_radius[k] += fabs(self.slopes[k * m + a]) * self.widest_of(a)
                if not self.log_radius[k] < MOST_LOG_RADIUS:
                    return False
            if not self.spread() or not self.faces_hold():
                return False
            if self.enclose():
                return self.rises()
            for k in range(K):
                self.loose[k] = max(self.loose[k], 1.15 * self.needed[k])
        return False

    cdef real widest_of(self, int a) noexcept nogil:
        """How far coordinate a of all, no log weight, reaches."""
        cdef int i = a // self.f * self.p + a % self.f - 1
        return max(self.down[i], self.up[i])

    cdef bint one_sided(self, int k, int a) noexcept nogil:
        """Whether coordinate a of component k is at an end of its range, and the objective rises from there."""
        cdef int i = k * self.p + a, at = k * self.f + 1 + a
        if self.up[i] == 0 and self.gradient[at] < -self.gradient_error[at]:
            return True
        if self.down[i] == 0 and self.gradient[at] > self.gradient_error[at]:
            return True
        return self.down[i] == 0 and self.up[i] == 0

    cdef bint spread(self) noexcept nogil:
        """What the box does to the derivatives, one pass. False: it is too wide for the numbers, or interrupted."""
        cdef int K = self.family.n_components, d = self.family.n_columns, f = self.f, m = self.m, a, b
        cdef const SampleSet *data = &self.family.data.core
        cdef index i
        memset(self.rest, 0, m * m * sizeof(real))
        memset(self.face_need, 0, K * d * sizeof(real))
        memset(self.beyond_second, 0, K * sizeof(real))
        self.lost = 0
        for i in range(data.n_samples // self.stride):
            if i % POLL_EVERY == 0 and self.primal.stop is not None and self.primal.stop.poll(0):
                return False
            self.sample(i * self.stride)
            if not self.move(i * self.stride, self.stride * data.samples.weights[i * self.stride]):
                return False
        for a in range(m):
            for b in range(a):
                if b // f < a // f:
                    self.rest[b * m + a] = self.rest[a * m + b]
        return True

    cdef bint move(self, index i, real w) noexcept nogil:
        """Takes sample i of weight w into account; False: a score goes too far."""
        cdef int K = self.family.n_components, p = self.p, f = self.f, k, l, a, best = 0, first
        cdef real x, floor, ratio
        for k in range(K):
            self.rise[k] = self.fall[k] = self.log_radius[k] + self.score_error
            self.size[k] = 1
            for a in range(p):
                x = self.u[k * f + 1 + a]
                self.rise[k] += max(x * self.up[k * p + a], -x * self.down[k * p + a])
                self.fall[k] += max(x * self.down[k * p + a], -x * self.up[k * p + a])
                self.size[k] += 1 + fabs(x)
            self.rise[k] *= UPWARD
            self.fall[k] *= UPWARD
            self.size[k] /= sqrt(self.mass[k])
            if self.possible[k] and self.r[k] > self.r[best]:
                best = k
        if not self.possible[best]:
            for k in range(K):
                best = k if self.possible[k] else best
        floor = -INFINITY
        for k in range(K):
            if self.possible[k]:
                floor = max(floor, self.score[k] - self.fall[k])
        for k in range(K):
            if not self.possible[k]:
                x = self.chart.excess(i, k, self.face_need + k * self.family.n_columns, &first)
                # whatever the component's own weight is; without odds there is nothing
                if first < 0 or not x > 0:
                    continue
                ratio = self.score[k] + self.rise[k] - self.log_radius[k] - floor
                self.face_need[k * self.family.n_columns + first] += w * x * exp(min(700.0, ratio)) * OUTWARD
        for k in range(K):
            # whether its responsibility needs to be looked at
            self.counts[k] = self.possible[k] and (
                k == best or self.score[k] + self.rise[k] + self.fall[best] > -45)
            if self.counts[k] and max(self.rise[k], self.fall[k]) > FARTHEST:
                return False
        self.turn_apart(w)
        for k in range(K):
            for l in range(k):
                if self.possible[k] and self.possible[l]:
                    self.pair(w, k, l, best)
        return True

    cdef real apart(self, int k, int l) noexcept nogil:
        """The most that the scores of two components may move apart."""
        return max(self.rise[k] + self.fall[l], self.fall[k] + self.rise[l])

    cdef void turn_apart(self, real w) noexcept nogil:
        """Pairs' fourth cumulants on the ray, and what is left of the responsibilities beyond the second order."""
        cdef int K = self.family.n_components, k, l, h, shell
        cdef real s, others_low, others_high, high, low, one, two, factor, before, after, variance, cube, value
        memset(self.fourth, 0, K * K * sizeof(real))
        for shell in range(N_SHELLS):
            s = (shell + 1.0) / N_SHELLS
            before, after = 1 - shell * 1.0 / N_SHELLS, 1 - s
            for k in range(K):
                self.most[k] = self.least[k] = 0
                if self.possible[k]:
                    self.most[k] = exp(self.score[k] + s * self.rise[k])
                    self.least[k] = exp(self.score[k] - s * self.fall[k]) if self.counts[k] else 0
            for k in range(K):
                others_low = others_high = 0
                for l in range(K):
                    if l != k:
                        others_low += self.least[l]
                        others_high += self.most[l]
                self.highest[k] = self.most[k] / (self.most[k] + others_low) if self.most[k] > 0 else 0
                self.lowest[k] = self.least[k] / (self.least[k] + others_high) if self.least[k] > 0 else 0
            variance = cube = 0
            for k in range(K):
                for l in range(k):
                    if not (self.counts[k] and self.counts[l]):
                        value = self.apart(k, l)
                        variance += min(self.highest[k], self.highest[l]) * value * value
                        continue
                    others_low = others_high = 0
                    for h in range(K):
                        if h != k and h != l:
                            others_low += self.least[h]
                            others_high += self.most[h]
                    # r_k r_l is concave in both scores: all up, unless one of them then has more than all others
                    one, two = self.most[k], self.most[l]
                    if one > two + others_low:
                        one = max(self.least[k], two + others_low)
                    elif two > one + others_low:
                        two = max(self.least[l], one + others_low)
                    high = share(one, two, others_low)
                    low = min(min(share(self.most[k], self.most[l], others_high),
                                  share(self.least[k], self.least[l], others_high)),
                              min(share(self.most[k], self.least[l], others_high),
                                  share(self.least[k], self.most[l], others_high)))
                    one, two = 1 - self.lowest[k], 1 - self.lowest[l]
                    factor = one * one * one + two * two * two - 3 * low
                    if factor > 0:
                        value = before * before * before * before - after * after * after * after
                        self.fourth[k * K + l] += value * high * factor
                    value = self.apart(k, l)
                    variance += high * value * value
            for k in range(K):  # the most that a score is away from the mean
                value = one = 0
                for l in range(K):
                    if l != k and self.possible[l]:
                        value += self.highest[l] * self.apart(k, l)
                        one = max(one, self.apart(k, l))
                self.away[k] = min(value, one)
                cube += self.highest[k] * self.away[k] * self.away[k] * self.away[k]
            value = w / 6 * (before * before * before - after * after * after) * OUTWARD
            for k in range(K):
                one = self.away[k]
                self.beyond_second[k] += value * self.highest[k] * (one * one * one + cube + 3 * one * variance)

    cdef void pair(self, real w, int k, int l, int best) noexcept nogil:
        """Adds what the pair's fourth cumulant may take from the Hessian."""
        cdef int K = self.family.n_components, f = self.f, m = self.m, a, b, h
        cdef real far = self.apart(k, l), value, part
        cdef const real *u_k = self.u + k * f
        cdef const real *u_l = self.u + l * f
        if not (self.counts[k] and self.counts[l]):
            h = l if self.counts[k] else k
            value = w * (exp(self.score[h] + self.rise[h] + self.fall[best]) * OUTWARD + 1e-300)
            self.lost += value / 6 * far * far * (self.size[k] + self.size[l]) ** 2
            return
        value = OUTWARD * w * self.fourth[k * K + l] * far * far / 12
        self.lost += self.family.data.core.n_samples * ROUND * 4 * value * (self.size[k] + self.size[l]) ** 2
        for a in range(f):
            part = value * u_k[a]
            for b in range(f):
                self.rest[(k * f + a) * m + k * f + b] += part * u_k[b]
                self.rest[(k * f + a) * m + l * f + b] -= part * u_l[b]
            part = value * u_l[a]
            for b in range(f):
                self.rest[(l * f + a) * m + l * f + b] += part * u_l[b]

    cdef bint faces_hold(self) noexcept nogil:
        """Whether the objective is least with no probability beyond the faces."""
        cdef int k, d = self.family.n_columns
        for k in range(self.family.n_components * d):
            if not self.face_need[k] < 0.999 * self.mass[k // d]:
                self.beyond = True
                return False
        return True

    cdef bint enclose(self) noexcept nogil:
        """Whether in the box the best log weights stay within `loose` of what they are to first order; OUT needed."""
        cdef int K = self.family.n_components, f = self.f, m = self.m, k, l, h, a, b
        cdef const real *Y = self.inverse
        cdef const real *square
        cdef real total, most, value, far, farthest = self.farthest()
        cdef bint inside = True
        for l in range(K):
            most = self.log_radius[l] + self.reach[l]
            total = most * most * most / 6 * exp(most) + self.log_radius[l] * self.reach[l]
            total = self.mass[l] * (total + 0.5 * self.reach[l] * self.reach[l] + self.bent_reach[l])
            total += fabs(self.gradient[l * f]) + self.gradient_error[l * f] + self.beyond_second[l]
            total += sqrt(self.mass[l]) * self.rough * farthest * (1 + farthest)
            self.vector[l] = total * OUTWARD
        for a in range(m):
            self.other[a] = self.widest_of(a) if a % f else self.loose[a // f]
        for k in range(K):
            total = 0
            for l in range(K):
                total += fabs(Y[k * K + l]) * self.vector[l]
                value = 1 if k == l else 0
                for h in range(K):
                    value -= Y[k * K + h] * self.hessian[h * f * m + l * f]
                total += (fabs(value) + 1e-10) * self.log_radius[l]
            square = self.squares + k * m * m
            for a in range(m):
                far = 0
                for b in range(m):
                    far += fabs(square[a * m + b]) * self.other[b]
                total += 0.5 * far * self.other[a] * OUTWARD
            self.needed[k] = total
            if not total < 0.99 * self.loose[k]:
                inside = False
        return inside

    cdef real farthest(self) noexcept nogil:
        """The most that a coordinate reaches, in the scale of the components."""
        cdef int m = self.m, f = self.f, k, a
        cdef real most = 0, value
        for k in range(self.family.n_components):
            value = self.log_radius[k]
            for a in range(m):
                if a % f:
                    value += fabs(self.slopes[k * m + a]) * self.widest_of(a)
                    if a // f == k:
                        most = max(most, sqrt(self.mass[k]) * self.widest_of(a))
            most = max(most, sqrt(self.mass[k]) * value)
        return most

    cdef bint rises(self) noexcept nogil:
        """Whether the bracket of the module's head is at least LEAST in the scale of the components."""
        cdef int p = self.p, f = self.f, m = self.m, k, a, b, i, turn
        cdef real N, value, most, sum_reach = 0
        cdef real *V = self.change
        cdef real *q = self.vector
        cdef real *g = self.other
        cdef const real *slice
        for a in range(m):
            k = a // f
            N = self.mass[k]
            for b in range(m):
                self.matrix[a * m + b] = (self.hessian[a * m + b] - self.rest[a * m + b]) / sqrt(N * self.mass[b // f])
            value = LEAST + ROUNDING + self.rough * (1 + self.farthest()) + self.lost
            if a % f:
                i = k * p + a % f - 1
                value += self.chart.quartic(i, self.down, self.up) * (1 + self.chart.pseudo[i] / N)
                value += self.log_radius[k] * self.chart.bend(i, self.down, self.up)
                if self.one_sided(k, a % f - 1):
                    most = max(self.down[i], self.up[i])
                    value -= min(0.5 * LARGEST, 2 * max(0.0, fabs(self.gradient[a]) - self.gradient_error[a])
                                 / (N * most) if most > 0 else INFINITY)
            self.matrix[a * m + a] -= value * UPWARD
            if not fabs(self.matrix[a * m + a]) < LARGEST:
                return False
        memset(V, 0, m * m * sizeof(real))
        for a in range(m):
            value = self.widest_of(a) if a % f else self.loose[a // f]
            value *= sqrt(self.mass[a // f]) / 3 * OUTWARD
            sum_reach += value
            if value > 0:
                slice = self.bent + <size_t> a * m * m
                for b in range(m * m):
                    V[b] += value * fabs(slice[b])
        conjugate(m, self.matrix, self.basis, self.turned, self.rest)  # `rest` is used up
        self.lend()
        for a in range(m):
            if not self.rest[a * m + a] > 0:
                return False
            q[a] = 1 / sqrt(self.rest[a * m + a])
        for turn in range(8):
            most = 0
            for a in range(m):
                value = 0
                for b in range(m):
                    value += V[a * m + b] * q[b]
                g[a] = value
                most = max(most, value / self.rest[a * m + a])
            if turn == 7 or not 0 < most < INFINITY:
                break
            for a in range(m):
                q[a] = max(g[a] / self.rest[a * m + a] / most, 1e-4)
        value = 2.0 * m * m * m * ROUND * self.turning * sum_reach
        for a in range(m):
            self.rest[a * m + a] -= g[a] / q[a] * OUTWARD + value
        return dense_factor(m, self.rest) == 0

    cdef void lend(self) noexcept nogil:
        """Adds to the least entry of the bracket's diagonal what the tolerance allows the objective to fall there."""
        cdef int K = self.family.n_components, f = self.f, m = self.m, a, k, weak = 0
        cdef real part, far = 0, size = 0
        cdef const real *direction
        for a in range(m):
            if self.rest[a * m + a] < self.rest[weak * m + weak]:
                weak = a
        direction = self.basis + weak * m
        for a in range(m):
            part = direction[a] * sqrt(self.mass[a // f])
            size += sqrt(self.mass[a // f]) * (self.widest_of(a) if a % f else self.log_radius[a // f])
            if a % f == 0:
                far += fabs(part) * self.loose[a // f]
                continue
            for k in range(K):
                part -= direction[k * f] * sqrt(self.mass[k]) * self.slopes[k * m + a]
            far += fabs(part) * self.widest_of(a)
        far += 1e-8 * size  # the basis is orthogonal but for rounding
        self.lent = LENT * self.tolerance if far > 0 else 0
        if far > 0:
            self.rest[weak * m + weak] += min(LARGEST, 2 * self.lent / (far * far)) * (1 - 1e-9)


cdef inline real share(real one, real two, real others) noexcept nogil:
    """one two / (one + two + others)^2, a little more than it."""
    cdef real total = one + two + others
    return one / total * (two / total)


cdef void conjugate(int m, const real *A, const real *Z, real *work, real *out) noexcept nogil:
    """out = Z A Z', the rows of Z being the basis."""
    cdef int a, b, c
    cdef real value
    for a in range(m):
        memset(work + a * m, 0, m * sizeof(real))
        for b in range(m):
            value = Z[a * m + b]
            for c in range(m):
                work[a * m + c] += value * A[b * m + c]
    for a in range(m):
        for b in range(a + 1):
            value = 0
            for c in range(m):
                value += work[a * m + c] * Z[b * m + c]
            out[a * m + b] = out[b * m + a] = value


cdef void eigenvectors(int m, real *A, real *Z) noexcept nogil:
    """Jacobi's method: the rows of Z are about the eigenvectors of A, which is used up; diagonal parts stay."""
    cdef int a, b, c, _sweep
    cdef real off, theta, t, cosine, sine, x, y
    for a in range(m):
        for b in range(m):
            Z[a * m + b] = 1 if a == b else 0
    for _sweep in range(MOST_SWEEPS):
        off = 0
        for a in range(m):
            for b in range(a):
                x = A[a * m + b]
                if fabs(x) < 1e-9:
                    continue
                off = max(off, fabs(x))
                theta = 0.5 * (A[a * m + a] - A[b * m + b]) / x
                t = 1 / (fabs(theta) + sqrt(1 + theta * theta))
                t = t if theta >= 0 else -t
                cosine = 1 / sqrt(1 + t * t)
                sine = t * cosine
                for c in range(m):
                    x, y = A[c * m + a], A[c * m + b]
                    A[c * m + a], A[c * m + b] = cosine * x + sine * y, cosine * y - sine * x
                for c in range(m):
                    x, y = A[a * m + c], A[b * m + c]
                    A[a * m + c], A[b * m + c] = cosine * x + sine * y, cosine * y - sine * x
                for c in range(m):
                    x, y = Z[a * m + c], Z[b * m + c]
                    Z[a * m + c], Z[b * m + c] = cosine * x + sine * y, cosine * y - sine * x
        if off < 1e-9:
            return
