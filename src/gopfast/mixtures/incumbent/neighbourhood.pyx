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

Theory: (Q5), (Q6) and (Q7) of docs/theory/fourth_order.md; (W2), (W4) and (W7) of
docs/theory/fourth_order_weights.md.
"""
import numpy as np

from libc.math cimport INFINITY, exp, fabs, isfinite, sqrt
from libc.string cimport memcpy, memset

from gopfast.mixtures.incumbent.box_change cimport BoxChange
from gopfast.mixtures.incumbent.center cimport conjugate
from gopfast.mixtures.incumbent.charts cimport Chart
from gopfast.mixtures.dense cimport dense_factor
from gopfast.mixtures.incumbent.margins cimport (
    BOX_OUTWARD as OUTWARD, BOX_UPWARD as UPWARD, NEIGHBOURHOOD_ROUNDING as ROUNDING
)
from gopfast.mixtures.incumbent.tuning cimport (
    CENTER_LARGEST as LARGEST, FACE_REACH, LEAST_RADIUS, LENT, MOST_COORDINATES, MOST_WORK, NARROWEST_FACE,
    NEIGHBOURHOOD_FIRST_RADIUS as FIRST_RADIUS, NEIGHBOURHOOD_LEAST as LEAST,
    NEIGHBOURHOOD_MOST_LOG_RADIUS as MOST_LOG_RADIUS, NEIGHBOURHOOD_MOST_TRIES as MOST_TRIES,
    NEIGHBOURHOOD_NARROWER as NARROWER, NEIGHBOURHOOD_ROUGH as ROUGH, N_HALVINGS, N_SHRINKINGS, N_WIDENINGS, POLISHING,
    SHRINKING, WIDER, WIDEST_FACE
)
from gopfast.mixtures.primal.em cimport MixturePrimal
from gopfast.search.arena cimport Arena
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport index, real


cdef class Neighbourhood(BoxChange):
    """Box around an incumbent on which no solution is better.

    Parameters
    ----------
    primal : MixturePrimal
        Its buffers are used.
    chart : Chart
        Of the same family.
    """

    def __init__(self, MixturePrimal primal, Chart chart):
        cdef int K = chart.n_components
        cdef index n = chart.family.n_connected
        cdef Arena arena = Arena()
        self.reserve(primal, chart)
        self.n_connected = n
        self.low, self.high = np.zeros(n), np.zeros(n)
        self.lower = -INFINITY
        self.arena = arena
        while arena.again():
            self.box_low, self.box_high = arena.take(n), arena.take(n)
            self.vector, self.other = arena.take(self.m), arena.take(self.m)
            self.bent_reach, self.reach = arena.take(K), arena.take(K)
            self.radius, self.wider = arena.take(K), arena.take(K)
            self.needed, self.loose = arena.take(K), arena.take(K)

    cdef bint find_box(self, const real *solution, real tolerance) noexcept nogil:
        """Holds a box of equal radii that is about the widest."""
        cdef real lower, reach = FACE_REACH
        cdef int _attempt
        for _attempt in range(2):
            if self.hold_center(solution, tolerance, reach, &lower) and self.widest():
                self.hold(lower)
                return True
            reach = 1e-12
        return False

    cdef bint find_box_over(self, const real *solution, real tolerance, const real *low,
                            const real *high) noexcept nogil:
        """Holds a given box, around the center."""
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
            self.radius[k], self.wider[k] = radius, WIDER
        for _turn in range(N_WIDENINGS):
            for k in range(K):
                self.radius[k] *= self.wider[k]
                if not self.fits_radii():
                    self.radius[k] /= self.wider[k]
                    self.wider[k] = sqrt(self.wider[k])
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
        return self.find_box(&solution[0], tolerance)

    def finds_box_over(self, real[::1] solution, real tolerance, real[::1] low, real[::1] high):
        """Whether the box [low, high] (n_connected,) was taken; for tests."""
        return self.find_box_over(&solution[0], tolerance, &low[0], &high[0])

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
        if not self.arrange(&solution[0]) or not self.chart.center_at(&self.solution[K], reach):
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
        if not self.arrange(&self.solution[n]) or not self.chart.center_at(&self.solution[K], reach):
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
            self.meter.work.terms += self.primal.full.n_samples * self.family.n_components
            if not before - value > tolerance:
                return
            before = value

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
                return self.is_convex()
            for k in range(K):
                self.loose[k] = max(self.loose[k], 1.15 * self.needed[k])
        return False

    cdef bint one_sided(self, int k, int a) noexcept nogil:
        """Whether coordinate a of component k is at an end of its range, and the objective rises from there."""
        cdef int i = k * self.p + a, at = k * self.f + 1 + a
        if self.up[i] == 0 and self.gradient[at] < -self.gradient_error[at]:
            return True
        if self.down[i] == 0 and self.gradient[at] > self.gradient_error[at]:
            return True
        return self.down[i] == 0 and self.up[i] == 0

    cdef bint faces_hold(self) noexcept nogil:
        """Whether the objective is least with no probability beyond the faces (W4)."""
        cdef int k, d = self.family.n_columns
        for k in range(self.family.n_components * d):
            if not self.face_need[k] < 0.999 * self.mass[k // d]:
                self.beyond = True
                return False
        return True

    cdef bint enclose(self) noexcept nogil:
        """Whether in the box the best log weights stay within `loose` of the first order (W2); OUT needed."""
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

    cdef bint is_convex(self) noexcept nogil:
        """Whether the bracket of the module's head, (Q5), is at least LEAST in the scale of the components."""
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
        self.allow_tolerance()
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

    cdef void allow_tolerance(self) noexcept nogil:
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
