"""Gaussian components with one covariance matrix each, two coordinates.

With statistics S, T = sum_i w_i r_i x_i and M = sum_i w_i r_i x_i x_i', mean m = T / S and covariance C = M / S - m m',
the cost per unit of mass at a floor F is

    G(C) = min over Sigma >= F of 1/2 log det(2 pi Sigma) + 1/2 tr(Sigma^-1 C),

concave in C. Cells are boxes in the mean and in the factors of C: with a small constant r,

    variance v = C_xx,   slope b = C_xy / (C_xx + r),   residual u = C_yy - b^2 (C_xx + r) >= 0,

so that log det C is nearly a sum over factors (r keeps b within bounds). They satisfy b^2 (v + r) = C_yy - u, and
C_xy^2 <= C_xx C_yy is C_yy r <= u (v + r). What follows cuts cells down (`tighten`, `root`); no covariance is lost:

- m in [l, h] of samples in [min, max] has v <= (m - min)(max - m), concave in m, and u <= C_yy, bounded likewise by Y;
- C_yy = u + b^2 (v + r) <= u1 + max b^2 (v1 + r), a bound that Y may take, and u <= Y - min b^2 (v0 + r),
  v + r <= (Y - u0) / min b^2;
- b^2 = (C_yy - u) / (v + r) <= (Y - u0) / (v + r), falling in v; b^2 = C_xy^2 / (v + r)^2 <= v Y / (v + r)^2, rising
  up to v = r and falling from there; the first is the smaller from v = r (Y - u0) / u0 on;
- b^2 = (C_yy - u) / (v + r) <= u v / (r (v + r)), rising in u and v.

A minorant k + <P, C> of G over a cell is linear in the statistics up to -m'Pm, which is bounded over the box of m.
Its slopes P are averages between corners of the cell, its constant the least of G - <P, C> over the cell:

- for fixed b, C is affine in (v, u) and G concave, so that corners are enough;
- for fixed (v, u), G - <P, C> is a minimum over Sigma of quadratics in b, with curvature of at most
  (v + r) (1 / (2 s) - P_yy), s the least conditional variance of an optimal Sigma: a chord less what that allows.
  Sigma >= C and Sigma >= F, so s is at least f_2 and C_yy - C_xy^2 / v = u - b^2 (v + r) r / v. What is allowed is
  linear in v, and convex in u where s is the same formula for all u: then corners are enough for all of it.

Where that is loose, G is replaced by sums that do not depend on b, with the costs g of one variance and the floors f_1
of the first coordinate, f_2 of the second given the first, f_1' of the first given the second:

    G(C) >= g_1(C_xx) + g_2(C_yy - C_xy^2 / C_xx),      G(C) >= g_1(C_xx + r) + g_2(u) - r / (2 f_1').

Facets: the box of m; v by its chord and tangents as in families.normal; C_xy between b0 (C_xx + r) and b1 (C_xx + r) by
planes over m_x m_y; u <= u1 by C_yy - (b0 + b1) C_xy + b0 b1 (C_xx + r) <= u, and u >= u0 by u <= C_yy - 2 b C_xy +
b^2 (C_xx + r) for any b, with tangents of the mean of y - b x.
"""

import numpy as np

from libc.math cimport INFINITY, M_PI, fabs, log, sqrt

from gopfast.mixtures.families.axes import coordinates, eliminated, floats, log_abs, safest
from gopfast.mixtures.bounds.em import short_runs
from gopfast.mixtures.families.family cimport order_components
from gopfast.mixtures.families.matrix cimport line_cost, split_factor, split_inside, within
from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.mixtures.data.samples cimport Samples
from gopfast.search.types cimport clip
from gopfast.search.rounding cimport ROUND

cdef int N_FACETS = 18      # per component
cdef int N_CELL = 5         # mean, variance, slope, residual
cdef int N_STATISTICS = 6   # x, y, x y and their squares
cdef real RIDGE = 0.1      # in units of the first coordinate's floor
# A residual's error is worth less than its size: while slopes are wide, a minorant cannot use the residual's range.
cdef real SPLIT_RESIDUAL = 0.3


cdef inline real chord_slope(real v0, real v1, real floor) noexcept nogil:
    """About the slope of the cost's chord."""
    return (line_cost(v1, floor) - line_cost(v0, floor)) / (v1 - v0) if v1 > v0 else 0.5 / max(v1, floor)


cdef inline real product(Matrix P, Matrix C) noexcept nogil:
    return P.xx * C.xx + 2 * P.xy * C.xy + P.yy * C.yy


cdef inline real product_size(Matrix P, Matrix C) noexcept nogil:
    return fabs(P.xx * C.xx) + 2 * fabs(P.xy * C.xy) + fabs(P.yy * C.yy)


cdef inline real bend(Matrix P, real x, real y) noexcept nogil:
    """Largest m'Pm over the box |m_x| <= x, |m_y| <= y, for P_yy >= 0; rounded up."""
    if P.xx < 0:
        x = min(x, fabs(P.xy) * y / -P.xx)
    return (P.xx * x * x + 2 * fabs(P.xy) * x * y + P.yy * y * y) + 16 * ROUND * (
        fabs(P.xx) * x * x + 2 * fabs(P.xy) * x * y + P.yy * y * y)


cdef class FullFamily(Family):
    """Components with a covariance matrix each, at least the floor in the Loewner order.

    Connected variables of a component: its mean (2), then variance, slope and residual of its covariance.

    Parameters
    ----------
    X : ndarray, shape (n, 2)
    sample_weight : ndarray, shape (n,)
    n_components : int
    floor : ndarray, shape (2,)
        Least variances, in squared units of X.
    axes : ndarray, shape (2, 2)
        Core coordinates are ``axes @ (x - center)``. The bounds hold for any; they are best where the components'
        covariances are about diagonal and the first coordinate tells the components apart.
    """

    def __init__(self, X, sample_weight, int n_components, floor, axes):
        cdef Samples data = Samples.__new__(Samples)
        used = sample_weight > 0
        X, weights = X[used], np.ascontiguousarray(sample_weight[used])
        self.axes = np.ascontiguousarray(axes, dtype=np.float64)
        self.center = 0.5 * X.min(axis=0) + 0.5 * X.max(axis=0)
        found = coordinates(X, weights, self.center, self.axes, floor)
        columns = found.columns
        data.fill(np.vstack([columns, columns[:1] * columns[1:]]), weights, True, np.zeros(3), 0.0)
        self.data, self.n_components, self.n_columns, self.n_statistics = data, n_components, 3, N_STATISTICS
        self.n_cell, self.n_shared = N_CELL, 0
        self.n_connected = n_components * N_CELL
        self.n_facets = n_components * N_FACETS
        self.has_prior, self.e_power = False, 0.0
        self.set_constant(found.constant, found.error)
        self.low, self.high = columns.min(axis=1), columns.max(axis=1)
        self.size_x, self.size_y = 2 * np.abs(columns).max(axis=1)
        spread = np.atleast_2d(np.cov(columns, aweights=weights, ddof=0))
        self.spread = Matrix(spread[0, 0], spread[0, 1], spread[1, 1])
        # exact, then rounded: the determinant cancels where the axes are ill-conditioned
        F, (det, _) = floats(found.floor), eliminated(found.floor)
        self.floor = Matrix(F[0, 0], F[0, 1], F[1, 1])
        self.whiten_x, self.whiten_xy, self.whiten_y = found.whiten[0, 0], found.whiten[1, 0], found.whiten[1, 1]
        self.conditional_floor = det / found.floor[0][0]
        self.log_floor = log_abs(det)
        self.ridge = RIDGE * self.floor.xx

    # Geometry of covariances

    cdef Matrix matrix(self, real variance, real slope, real residual) noexcept nogil:
        cdef Matrix C
        C.xx, C.xy = variance, slope * (variance + self.ridge)
        C.yy = residual + slope * C.xy
        return C

    cdef void factors(self, Matrix C, real *out) noexcept nogil:
        """OUT: variance, slope, residual."""
        out[0] = max(C.xx, 0.0)
        out[1] = C.xy / (out[0] + self.ridge)
        out[2] = max(0.0, C.yy - out[1] * C.xy)

    cdef real cost(self, Matrix C, real *size) noexcept nogil:
        """G(C). OUT size: the scale of its rounding error."""
        cdef real a = self.whiten_x * self.whiten_x * C.xx, b = self.whiten_x * self.whiten_xy * C.xx
        cdef real c = self.whiten_x * self.whiten_y * C.xy, root, half, value, low, high
        cdef real p = self.whiten_xy * self.whiten_xy * C.xx, q = 2 * self.whiten_xy * self.whiten_y * C.xy
        cdef real r = self.whiten_y * self.whiten_y * C.yy
        half, root = 0.5 * (a + (p + q + r)), 0.5 * (a - (p + q + r))
        root = sqrt(root * root + (b + c) * (b + c))
        low, high = half - root, half + root
        value = line_cost(low, 1.0) + line_cost(high, 1.0) + 0.5 * self.log_floor
        size[0] = 8 + fabs(a) + fabs(b) + fabs(c) + fabs(p) + fabs(q) + fabs(r) + fabs(value) + fabs(self.log_floor)
        return value

    cdef Matrix floored(self, Matrix C) noexcept nogil:
        """The best covariance at or above the floor: in its units, eigenvalues below 1 are raised to 1."""
        cdef real a = self.whiten_x * self.whiten_x * C.xx
        cdef real b = self.whiten_x * (self.whiten_xy * C.xx + self.whiten_y * C.xy)
        cdef real c = (self.whiten_xy * self.whiten_xy * C.xx + 2 * self.whiten_xy * self.whiten_y * C.xy
                       + self.whiten_y * self.whiten_y * C.yy)
        cdef real half = 0.5 * (a + c), root = 0.5 * (a - c), low, high, x, y, norm, l, ll, lo
        cdef Matrix out
        root = sqrt(root * root + b * b)
        low, high = half - root, half + root
        if low >= 1:
            return C
        if high <= 1 or root == 0:
            return self.floor
        # raised along the eigenvector (x, y) of the lower value: the larger of two parallel expressions
        if a > c:
            x, y = b, low - a
        else:
            x, y = low - c, b
        norm = (1 - low) / (x * x + y * y)
        # back from the floor's units: L E L', with L the inverse of the whitening
        l, ll = 1 / self.whiten_x, 1 / self.whiten_y
        lo = -self.whiten_xy * l * ll
        y = lo * x + ll * y
        x = l * x
        out.xx, out.xy, out.yy = C.xx + norm * x * x, C.xy + norm * x * y, C.yy + norm * y * y
        return out

    cdef void moments_of(self, real mass, const real *moments, const real *center, real *mean,
                         Matrix *C) noexcept nogil:
        """OUT: mean, and covariance of statistics about a center."""
        cdef real x = moments[0] / mass, y = moments[1] / mass
        mean[0], mean[1] = center[0] + x, center[1] + y
        C.xx = max(0.0, moments[3] / mass - x * x)
        C.yy = max(0.0, moments[4] / mass - y * y)
        C.xy = (moments[2] / mass - center[0] * y - center[1] * x) + (center[2] - center[0] * center[1]) - x * y

    # Cells

    cdef real largest(self, int j, real low, real high) noexcept nogil:
        """Largest variance of samples in the data's range whose mean lies in [low, high]: (m - min)(max - m)."""
        cdef real m = clip(0.5 * (self.low[j] + self.high[j]), low, high)
        return (m - self.low[j]) * (self.high[j] - m) * (1 + 1e-12)

    cdef real steepest(self, real v0, real v1, real u0, real u1, real most) noexcept nogil:
        """Largest |slope| of covariances with factors v in [v0, v1] and u in [u0, u1], and C_yy at most `most`."""
        cdef real r = self.ridge, room = max(0.0, most - u0), v
        # the two bounds by `most` cross at v = r room / u0; up to there the first rises until v = r, then both fall
        v = clip(min(r, r * room / u0) if u0 > 0 else r, v0, v1)
        room = min(sqrt(room / (v + r)), sqrt(v * most) / (v + r))
        return min(room, sqrt(u1 * v1 / (r * (v1 + r)))) * (1 + 1e-12)

    cdef void root(self, real *low, real *high) noexcept nogil:
        cdef int k, a
        cdef real x = self.largest(0, self.low[0], self.high[0]), y = self.largest(1, self.low[1], self.high[1])
        for k in range(self.n_components):
            a = k * N_CELL
            low[a], high[a], low[a + 1], high[a + 1] = self.low[0], self.high[0], self.low[1], self.high[1]
            low[a + 2], high[a + 2] = 0, x
            high[a + 3] = self.steepest(0, x, 0, y, y)
            low[a + 3] = -high[a + 3]
            low[a + 4], high[a + 4] = 0, y

    cdef bint tighten(self, real *low, real *high) noexcept nogil:
        cdef int k, j, a
        cdef real other, steepest, flattest
        if not order_components(self.n_components, N_CELL, low, high):
            return 0
        for k in range(self.n_components):
            a = k * N_CELL
            other = self.largest(1, low[a + 1], high[a + 1])
            high[a + 2] = min(high[a + 2], self.largest(0, low[a], high[a]))
            high[a + 4] = min(high[a + 4], other)
            if low[a + 2] > high[a + 2]:
                return 0
            steepest = max(low[a + 3] * low[a + 3], high[a + 3] * high[a + 3])
            other = min(other, (high[a + 4] + steepest * (high[a + 2] + self.ridge)) * (1 + 1e-12))
            # C_yy = u + b^2 (v + r) <= other
            flattest = low[a + 3] if low[a + 3] > 0 else min(high[a + 3], 0.0)
            flattest *= flattest
            high[a + 4] = min(high[a + 4], other - flattest * (low[a + 2] + self.ridge) * (1 - 1e-12))
            if flattest > 0:
                high[a + 2] = min(high[a + 2], (other - low[a + 4]) / flattest * (1 + 1e-12) - self.ridge * (1 - 1e-12))
            if low[a + 2] > high[a + 2] or low[a + 4] > high[a + 4]:
                return 0
            steepest = self.steepest(low[a + 2], high[a + 2], low[a + 4], high[a + 4], other)
            low[a + 3], high[a + 3] = max(low[a + 3], -steepest), min(high[a + 3], steepest)
            for j in range(3, N_CELL):
                if low[a + j] > high[a + j]:
                    return 0
        return 1

    cdef bint tighten_alone(self, real *low, real *high) noexcept nogil:
        """Nothing above depends on the other components but their order."""
        return self.tighten(low, high)

    cdef real cell_cost(self, bint exact, real v, real b, real u) noexcept nogil:
        """G, or the sum of the costs of variance and residual that bounds it up to a constant, at factors of C."""
        cdef real size
        if exact:
            return self.cost(self.matrix(v, b, u), &size)
        return line_cost(v + self.ridge, self.floor.xx) + line_cost(u, self.conditional_floor)

    cdef Matrix slopes(self, int kind, const real *low, const real *high) noexcept nogil:
        """Slopes P between the corners (variance, slope, residual) of a cell, averaged.

        Of G for kind 0; of its sum over factors for kind 1, and for kind 2 without the residual's.
        """
        cdef real value[8]
        cdef real b0 = low[1], b1 = high[1], along = 0, across = 0, up = 0, v
        cdef Matrix P
        cdef int i
        for i in range(8):
            v = high[0] if i & 1 else low[0]
            value[i] = self.cell_cost(kind == 0, v, b1 if i & 2 else b0, high[2] if i & 4 else low[2])
        for i in range(8):
            if not i & 1:
                along += 0.25 * (value[i | 1] - value[i])
            if not i & 2:
                across += 0.25 * (value[i | 2] - value[i]) / ((high[0] if i & 1 else low[0]) + self.ridge)
            if not i & 4 and kind < 2:
                up += 0.25 * (value[i | 4] - value[i])
        along, across, up = along / (high[0] - low[0]), across / (b1 - b0), up / (high[2] - low[2])
        P.yy = max(up, 0.0)
        P.xy = 0.5 * (across - P.yy * (b0 + b1))
        P.xx = along - P.xy * (b0 + b1) - 0.5 * P.yy * (b0 * b0 + b1 * b1)
        return P

    cdef real least(self, const real *low, const real *high, Matrix P) noexcept nogil:
        """A lower bound of G - <P, C> over a cell of (variance, slope, residual)."""
        cdef real first = INFINITY, second = INFINITY, third = INFINITY, v, b, u, value, size, most, lost, curvature, s
        cdef real linear
        cdef Matrix C
        cdef int i
        b = max(low[1] * low[1], high[1] * high[1])
        # C_yy - C_xy^2 / C_xx = u - b^2 (v + r) r / v is at least u - lost
        lost = b * (low[0] + self.ridge) * self.ridge / low[0] * (1 + 16 * ROUND) if low[0] > 0 else INFINITY
        for i in range(8):
            v, b, u = (high[0] if i & 1 else low[0]), (high[1] if i & 2 else low[1]), (high[2] if i & 4 else low[2])
            C = self.matrix(v, b, u)
            value = self.cost(C, &size)
            linear = product(P, C) + 64 * ROUND * (size + product_size(P, C))
            # where the floor may act somewhere in the cell, its curvature everywhere: it must be convex in u
            s = u - lost if low[2] - lost > self.conditional_floor else self.conditional_floor
            curvature = max(0.0, 0.5 / (s * (1 - 16 * ROUND)) - P.yy) * (v + self.ridge)
            s = 0.5 * (high[1] - low[1])
            first = min(first, value - linear - curvature * s * s * (1 + 16 * ROUND))
            third = min(third, line_cost(v + self.ridge, self.floor.xx) + line_cost(u, self.conditional_floor) - linear)
            if lost < INFINITY:
                value = line_cost(v, self.floor.xx) + line_cost(u - lost, self.conditional_floor)
                value -= 64 * ROUND * (1 + fabs(value) + (u + lost) / self.conditional_floor)
                second = min(second, value - linear)
        # (Sigma^-1)_xx is at most 1 over the floor of the first coordinate given the second
        s = 0.5 * self.ridge * self.floor.yy / (self.floor.xx * self.conditional_floor) * (1 + 64 * ROUND)
        first = max(first, third - s)
        return max(first, second) if lost < INFINITY else first

    cdef real minorant(self, const real *low, const real *high, Matrix *P) noexcept nogil:
        """The constant of the best minorant of a cell at hand. OUT: its slopes."""
        cdef real best = INFINITY, constant = 0, found, lost, size, v, b, u
        cdef Matrix trial, C
        cdef int kind, i
        for kind in range(3):
            trial = self.slopes(kind, low, high)
            found = self.least(low, high, trial)
            lost = 0
            for i in range(9):
                v, b, u = (high[0] if i & 1 else low[0]), (high[1] if i & 2 else low[1]), (high[2] if i & 4 else low[2])
                if i == 8:
                    v, b, u = 0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0.5 * (low[2] + high[2])
                C = self.matrix(v, b, u)
                lost += (self.cost(C, &size) - product(trial, C) - found)
            if lost < best:
                best, constant, P[0] = lost, found, trial
        return constant

    cdef void relax(self, const real *low, const real *high, Subproblem *out) noexcept nogil:
        cdef int k, j, i, a, side
        cdef real mass = self.data.core.total_weight / self.n_components, constant, bent, size, slope
        cdef real half[2]
        cdef real wide_low[3]
        cdef real wide_high[3]
        cdef real *center
        cdef pass_costs *costs = &out.minorant
        cdef Facet *facet = out.facets
        cdef Matrix P
        out.constant = out.prior = out.e_low = out.e_high = 0
        for k in range(self.n_components):
            a, center = k * N_CELL, costs.centers + 3 * k
            for j in range(2):
                center[j] = low[a + j] + 0.5 * (high[a + j] - low[a + j])
                # rounded up: the minorant and the facets of a wider cell hold for this one too
                half[j] = max(high[a + j] - center[j], center[j] - low[a + j]) * (1 + 8 * ROUND)
                half[j] += ROUND * fabs(center[j])
            center[2] = center[0] * center[1]
            # never of width 0, for slopes
            wide_low[0], wide_low[1], wide_low[2] = low[a + 2], low[a + 3], low[a + 4]
            wide_high[0] = max(high[a + 2], low[a + 2] * (1 + 1e-6) + 1e-6 * self.floor.xx)
            wide_high[2] = max(high[a + 4], low[a + 4] * (1 + 1e-6) + 1e-6 * self.conditional_floor)
            slope = sqrt((wide_high[2] + self.conditional_floor) / (wide_high[0] + self.floor.xx))
            wide_high[1] = max(high[a + 3], low[a + 3] + 1e-6 * (slope + fabs(low[a + 3])))
            constant = self.minorant(wide_low, wide_high, &P)
            bent = bend(P, half[0], half[1])
            size = (fabs(P.xx) * self.size_x * self.size_x + fabs(P.yy) * self.size_y * self.size_y
                    + 4 * fabs(P.xy) * self.size_x * self.size_y)
            costs.quadratic[3 * k], costs.quadratic[3 * k + 1], costs.quadratic[3 * k + 2] = P.xx, P.yy, 0
            costs.linear[3 * k], costs.linear[3 * k + 1] = -2 * P.xy * center[1], -2 * P.xy * center[0]
            costs.linear[3 * k + 2] = 2 * P.xy
            costs.offsets[k] = bent - constant + 64 * ROUND * (fabs(constant) + bent + size)
            for j in range(2):
                for side in range(2):
                    facet.active = half[j] > 1e-13 * (fabs(low[a + j]) + fabs(high[a + j]))
                    facet.paired = side == 0
                    facet.first, facet.count = k * (1 + N_STATISTICS), 1 + N_STATISTICS
                    facet.constant = facet.prior = 0
                    facet.multiplier = 0.2 * max(P.xx if j == 0 else P.yy, 1e-9) * half[j]
                    facet.slack = 0.1 * half[j] * mass
                    facet.cap = INFINITY
                    for i in range(1 + N_STATISTICS):
                        facet.coefficients[i] = 0
                    facet.coefficients[0], facet.coefficients[1 + j] = half[j], 1 if side == 0 else -1
                    facet += 1
            facet = self.bound_cell(facet, k, low + a + 2, high + a + 2, center, half, P)

    cdef Facet *add_facet(self, Facet *facet, int k, const real *center, bint active, real xx, real xy, real yy, real x,
                      real y, real constant) noexcept nogil:
        """Facet constant + x z_x + y z_y + xx z_x^2 + xy z_x z_y + yy z_y^2 >= 0 per unit of mass, loosened."""
        cdef real *to = facet.coefficients
        facet.active, facet.paired = active, 0
        facet.first, facet.count = k * (1 + N_STATISTICS), 1 + N_STATISTICS
        facet.constant = facet.prior = 0
        # z_x z_y = (x y - c_x c_y) - c_x z_y - c_y z_x
        to[0] = constant + 64 * ROUND * (
            fabs(constant) + fabs(x) * self.size_x + fabs(y) * self.size_y + fabs(xx) * self.size_x * self.size_x
            + 2 * fabs(xy) * self.size_x * self.size_y + fabs(yy) * self.size_y * self.size_y)
        to[1], to[2], to[3] = x - xy * center[1], y - xy * center[0], xy
        to[4], to[5], to[6] = xx, yy, 0
        return facet + 1

    cdef Facet *bound_cell(self, Facet *facet, int k, const real *low, const real *high, const real *center,
                           const real *half, Matrix P) noexcept nogil:
        """Facets of variance, slope and residual; returns the next."""
        cdef real v0 = low[0] * (1 - 8 * ROUND), v1 = high[0] * (1 + 8 * ROUND), b0 = low[1], b1 = high[1], b, t
        cdef real u0 = low[2] * (1 - 8 * ROUND), u1 = high[2] * (1 + 8 * ROUND), r = self.ridge
        cdef real x = half[0], y = half[1], mass = self.data.core.total_weight / self.n_components
        cdef real span_v = 0.5 * (v1 - v0), span_b = 0.5 * (b1 - b0), span_u = 0.5 * (u1 - u0)
        cdef real loss[3]
        cdef real span[3]
        cdef bint has_v = span_v > 1e-13 * v1, has_b = span_b > 1e-13 * (fabs(b0) + fabs(b1))
        cdef bint has_u = span_u > 1e-13 * u1
        cdef Facet *at = facet
        cdef int i, side
        # C_xx <= v1; C_xx >= v0
        at = self.add_facet(at, k, center, has_v, -1, 0, 0, 0, 0, v1 + x * x)
        for i in range(-1, 2):
            at = self.add_facet(at, k, center, has_v and v0 > 0, 1, 0, 0, -2 * i * x, 0, i * i * x * x - v0)
        # C_xy <= b1 (C_xx + r), C_xy >= b0 (C_xx + r), with two planes above +-m_x m_y over the box each
        for side in range(-1, 2, 2):
            b = b0 if side < 0 else b1
            for i in range(-1, 2, 2):
                at = self.add_facet(at, k, center, has_b, side * b, -side, 0, -side * i * y, i * x,
                                x * y + max(0.0, -side * b) * x * x + side * b * r)
        # C_yy - (b0 + b1) C_xy + b0 b1 (C_xx + r) <= u <= u1
        at = self.add_facet(at, k, center, has_u, -b0 * b1, b0 + b1, -1, 0, 0,
                        u1 - b0 * b1 * r + y * y + fabs(b0 + b1) * x * y + max(0.0, b0 * b1) * x * x)
        # C_yy - 2 b C_xy + b^2 (C_xx + r) >= u >= u0 for every b
        for i in range(5):
            b = b0 if i == 0 else b1 if i == 1 else 0.5 * (b0 + b1)
            t = 0 if i < 3 else (2 * i - 7) * (y + fabs(b) * x)
            at = self.add_facet(at, k, center, has_u and u0 > 0, b * b, -2 * b, 1, 2 * t * b, -2 * t,
                                t * t + b * b * r - u0)
        # typical multipliers: a part of what the minorant loses, over the facet's range in the cell
        loss[0] = line_cost(v0 + span_v, self.floor.xx) - 0.5 * (
            line_cost(v0, self.floor.xx) + line_cost(v1, self.floor.xx))
        loss[1] = P.yy * span_b * span_b * (v1 + r)
        loss[2] = line_cost(u0 + span_u, self.conditional_floor) - 0.5 * (
            line_cost(u0, self.conditional_floor) + line_cost(u1, self.conditional_floor))
        b = max(fabs(b0), fabs(b1))
        span[0] = span_v + x * x
        span[1] = span_b * (v1 + r) + x * y + b * x * x
        span[2] = span_u + span_b * span_b * (v1 + r) + y * y + b * b * x * x
        for i in range(14):
            side = 0 if i < 4 else 1 if i < 8 else 2
            facet[i].multiplier = clip(0.2 * loss[side], 1e-4, 0.1) / span[side]
            if i != 0 and i != 8:
                facet[i].multiplier /= 3
            facet[i].slack = 0.1 * mass * span[side]
            facet[i].cap = INFINITY
        return at

    cdef void place(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                    const real *moments, real e, real *point, real *error) noexcept nogil:
        cdef int k, j, a
        cdef real s, unit
        cdef real mean[2]
        cdef real factor[3]
        cdef real slope[2]
        cdef Matrix C
        cdef const real *center
        cdef const real *lo
        cdef const real *hi
        for k in range(self.n_components):
            a, s, center = k * N_CELL, mass[k], sub.minorant.centers + 3 * k
            lo, hi = low + a, high + a
            if s > 0:
                self.moments_of(s, moments + k * N_STATISTICS, center, mean, &C)
            else:
                mean[0], mean[1], C = center[0], center[1], self.floor
            self.factors(C, factor)
            for j in range(2):
                mean[j] = within(mean[j], lo[j], hi[j])
            for j in range(3):
                factor[j] = within(factor[j], lo[2 + j], hi[2 + j])
            # what chords lose, as if costs were sums over factors: the minorant in use may have no slope to tell
            slope[0] = chord_slope(lo[2], hi[2], self.floor.xx)
            slope[1] = chord_slope(lo[4], hi[4], self.conditional_floor)
            error[a + 2] = s * max(0.0, line_cost(factor[0], self.floor.xx) - line_cost(lo[2], self.floor.xx)
                                   - slope[0] * (factor[0] - lo[2]))
            error[a + 3] = s * slope[1] * (factor[0] + self.ridge) * (factor[1] - lo[3]) * (hi[3] - factor[1])
            error[a + 4] = SPLIT_RESIDUAL * s * max(
                0.0, line_cost(factor[2], self.conditional_floor) - line_cost(lo[4], self.conditional_floor)
                - slope[1] * (factor[2] - lo[4]))
            slope[0] += slope[1] * factor[1] * factor[1]
            for j in range(2):
                unit = max(0.2 * slope[j], sub.minorant.quadratic[3 * k + j])
                error[a + j] = s * unit * (mean[j] - lo[j]) * (hi[j] - mean[j])
                unit = sqrt(max(self.floor.xx, factor[0])) if j == 0 else sqrt(max(self.floor.yy, C.yy))
                point[a + j] = split_inside(mean[j], lo[j], hi[j], unit)
            point[a + 2] = split_factor(factor[0], lo[2], hi[2], self.floor.xx)
            unit = sqrt(max(self.conditional_floor, factor[2]) / max(self.floor.xx, factor[0]))
            point[a + 3] = split_inside(factor[1], lo[3], hi[3], unit)
            point[a + 4] = split_factor(factor[2], lo[4], hi[4], self.conditional_floor)

    # EM

    cdef void costs(self, const real *point, pass_costs *out) noexcept nogil:
        cdef int k
        cdef real xx, xy, yy, det, size
        cdef const real *at
        cdef Matrix C
        for k in range(self.n_components):
            at = point + k * N_CELL
            C = self.floored(self.matrix(at[2], at[3], at[4]))
            det = C.xx * (C.yy - C.xy / C.xx * C.xy)
            xx, xy, yy = C.yy / det, -C.xy / det, C.xx / det
            out.centers[3 * k], out.centers[3 * k + 1], out.centers[3 * k + 2] = at[0], at[1], at[0] * at[1]
            out.quadratic[3 * k], out.quadratic[3 * k + 1], out.quadratic[3 * k + 2] = 0.5 * xx, 0.5 * yy, 0
            out.linear[3 * k], out.linear[3 * k + 1], out.linear[3 * k + 2] = -xy * at[1], -xy * at[0], xy
            # the products x y are rounded, and so is the determinant
            size = fabs(xy) * self.size_x * self.size_y + C.xx * C.yy / det
            out.offsets[k] = -0.5 * log(4 * M_PI * M_PI * det) - 8 * ROUND * size

    cdef void maximise(self, const real *mass, const real *moments, real e, const pass_costs *costs,
                       real *point) noexcept nogil:
        cdef int k
        cdef Matrix C
        for k in range(self.n_components):
            if mass[k] > 0:
                self.moments_of(mass[k], moments + k * N_STATISTICS, costs.centers + 3 * k, point + k * N_CELL, &C)
                self.factors(C, point + k * N_CELL + 2)

    cdef void seed(self, const real *centers, real *point) noexcept nogil:
        cdef int k, K = self.n_components
        cdef Matrix C
        C.xx, C.xy, C.yy = self.spread.xx / (K * K), self.spread.xy / (K * K), self.spread.yy / (K * K)
        for k in range(K):
            point[k * N_CELL], point[k * N_CELL + 1] = centers[3 * k], centers[3 * k + 1]
            self.factors(C, point + k * N_CELL + 2)

    def metric(self):
        """Weights of the columns in the squared distance that starts are drawn by; 0 for the products."""
        return np.append(Family.metric(self)[:2], 0.0)

    def covariances(self, vector):
        """Covariances (K, 2, 2) of a solution in the core's coordinates."""
        cdef real[::1] point = np.ascontiguousarray(vector)[self.n_components:]
        cdef int k
        cdef Matrix C
        out = []
        for k in range(self.n_components):
            C = self.floored(self.matrix(point[k * N_CELL + 2], point[k * N_CELL + 3], point[k * N_CELL + 4]))
            out.append([[C.xx, C.xy], [C.xy, C.yy]])
        return np.array(out)

    def one_component(self, problem):
        """The same axes."""
        return FullFamily(problem.X, problem.sample_weight, 1, problem.variance_floor, self.axes)

    def parameters(self, vector):
        """Means (K, 2) and covariances (K, 2, 2)."""
        means = np.asarray(vector)[self.n_components:][:self.n_connected].reshape(-1, N_CELL)[:, :2]
        inverse = np.linalg.inv(self.axes)
        covariances = inverse @ self.covariances(vector) @ inverse.T
        return {"means": means @ inverse.T + self.center,
                "covariances": 0.5 * (covariances + covariances.transpose(0, 2, 1))}

    def pack(self, means, covariances=None):
        """Connected variables (n_connected,) of the user's means and covariances."""
        cdef real[::1] centers, point = np.empty(self.n_connected)
        cdef int k
        cdef Matrix C
        means = (np.asarray(means, dtype=np.float64) - self.center) @ self.axes.T
        centers = np.hstack([means, np.zeros((len(means), 1))]).ravel()
        self.seed(&centers[0], &point[0])
        if covariances is not None:
            for k, given in enumerate(self.axes @ np.asarray(covariances, dtype=np.float64) @ self.axes.T):
                C = Matrix(given[0, 0], given[0, 1], given[1, 1])
                self.factors(C, &point[k * N_CELL + 2])
        return np.asarray(point)


def component_axes(kind, X, sample_weight, int n_components, floor):
    """Axes (d, d) along which the components of a good local optimum have about diagonal covariances.

    Their average is the unit matrix there, and that of the component that differs most from it is diagonal; with two
    components both are. The coordinate in which the data are widest comes first. Principal axes of the average instead,
    where rounding costs too much in those.
    """
    family, vector = short_runs(
        lambda X, weight: kind(X, weight, n_components, floor, np.diag(1 / np.sqrt(floor))), X, sample_weight
    )
    weights, covariances = vector[:n_components], family.covariances(vector)
    average = np.tensordot(weights, covariances, 1)
    whiten = np.linalg.inv(np.linalg.cholesky(average))
    covariances = whiten @ covariances @ whiten.T
    odd = np.argmax(weights * np.square(covariances - np.eye(len(floor))).sum(axis=(1, 2)))
    values, vectors = np.linalg.eigh(average)
    candidates = []
    for axes in (np.linalg.eigh(covariances[odd])[1].T @ whiten, (vectors / np.sqrt(values)).T, np.eye(len(floor))):
        axes = axes @ family.axes
        candidates.append(axes[np.argsort(-np.ptp(axes @ (X - family.center).T, axis=1), kind="stable")])
    return safest(candidates, X, sample_weight, family.center, floor)


cdef class LineFamily(NormalFamily):
    """Covariance matrices of one coordinate: variances in another shape."""

    def parameters(self, vector):
        """Means (K, 1) and covariances (K, 1, 1)."""
        found = NormalFamily.parameters(self, vector)
        found["covariances"] = found["covariances"][:, :, None]
        return found

    def pack(self, means, covariances=None):
        """Connected variables (n_connected,) of the user's means and covariances."""
        if covariances is not None:
            covariances = np.asarray(covariances)[:, :, 0]
        return NormalFamily.pack(self, means, covariances)
