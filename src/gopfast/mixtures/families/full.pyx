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

Theory: (M2), (M3) and (M4) of docs/theory/matrices.md.
"""

import numpy as np

from libc.math cimport INFINITY, M_PI, fabs, log, sqrt

from gopfast.mixtures.families.axes import eliminated, floats, log_abs

from gopfast.mixtures.families.family cimport bound_mean, clear, half_width, has_width, middle_of, order_components
from gopfast.mixtures.families.margins cimport DERIVED_SLACK, NEGLIGIBLE_WIDTH
from gopfast.mixtures.families.tuning cimport (
    LEAST_CURVATURE, LEAST_LOSS, LEAST_MULTIPLIER, LEAST_WIDTH, MOST_LOSS, RIDGE, SMALLEST_RANGE, SPLIT_RESIDUAL,
    TYPICAL_MULTIPLIER, TYPICAL_SLACK, UNTOLD
)
from gopfast.mixtures.families.variance cimport line_cost, split_factor, split_inside, within
from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.search.types cimport clip
from gopfast.search.rounding cimport ROUND


cdef inline real chord_slope(real v0, real v1, real floor) noexcept nogil:
    """About the slope of the cost's chord over [v0, v1], in nats per unit of mass and of v."""
    return (line_cost(v1, floor) - line_cost(v0, floor)) / (v1 - v0) if v1 > v0 else 0.5 / max(v1, floor)


cdef inline Factors corner(Factors low, Factors high, int i) noexcept nogil:
    """Corner number i of 8 of a cell: bit 0, 1, 2 for the upper end of variance, slope, residual."""
    cdef Factors at
    at.v, at.b, at.u = high.v if i & 1 else low.v, high.b if i & 2 else low.b, high.u if i & 4 else low.u
    return at


cdef inline Factors factors_at(const real *variables) noexcept nogil:
    """The factors among a component's connected variables."""
    cdef Factors at
    at.v, at.b, at.u = variables[VARIANCE], variables[SLOPE], variables[RESIDUAL]
    return at


cdef inline real typical(real loss, real range_of) noexcept nogil:
    """A typical multiplier of a facet of this range, where the minorant loses so many nats per unit of mass."""
    return clip(TYPICAL_MULTIPLIER * loss, LEAST_LOSS, MOST_LOSS) / range_of


cdef inline void set_typical(Facet *facets, int n, real multiplier, real slack) noexcept nogil:
    cdef int i
    for i in range(n):
        facets[i].multiplier, facets[i].slack = multiplier, slack


cdef inline real product(Matrix P, Matrix C) noexcept nogil:
    """<P, C>."""
    return P.xx * C.xx + 2 * P.xy * C.xy + P.yy * C.yy


cdef inline real product_size(Matrix P, Matrix C) noexcept nogil:
    """Sum of the magnitudes of its terms."""
    return fabs(P.xx * C.xx) + 2 * fabs(P.xy * C.xy) + fabs(P.yy * C.yy)


cdef inline real bend(Matrix P, real x, real y) noexcept nogil:
    """Largest m'Pm over the box |m_x| <= x, |m_y| <= y, for P_yy >= 0; rounded up."""
    if P.xx < 0:
        x = min(x, fabs(P.xy) * y / -P.xx)
    return (P.xx * x * x + 2 * fabs(P.xy) * x * y + P.yy * y * y) + 16 * ROUND * (
        fabs(P.xx) * x * x + 2 * fabs(P.xy) * x * y + P.yy * y * y)


cdef class FullFamily(AffineFamily):
    """Components with a covariance matrix each, at least the floor in the Loewner order, in two coordinates.

    Connected variables of a component: its mean (2), then variance, slope and residual of its covariance. The columns
    are the coordinates and their product. For the parameters see AffineFamily.
    """

    def __init__(self, X, sample_weight, int n_components, floor, axes):
        found, weights = self.set_up(X, sample_weight, n_components, floor, axes, False)
        columns = found.columns
        self.fill(np.vstack([columns, columns[:1] * columns[1:]]), weights, True)
        self.n_cell, self.n_shared = N_CELL, 0
        self.n_connected = n_components * N_CELL
        self.n_facets = n_components * N_FACETS
        self.size_x, self.size_y = 2 * np.abs(columns).max(axis=1)
        covariance = np.atleast_2d(np.cov(columns, aweights=weights, ddof=0))
        self.data_covariance = Matrix(covariance[0, 0], covariance[0, 1], covariance[1, 1])
        # exact, then rounded: the determinant cancels where the axes are ill-conditioned
        F, (det, _) = floats(found.floor), eliminated(found.floor)
        self.floor = Matrix(F[0, 0], F[0, 1], F[1, 1])
        self.whiten_x, self.whiten_xy, self.whiten_y = found.whiten[0, 0], found.whiten[1, 0], found.whiten[1, 1]
        self.conditional_floor = det / found.floor[0][0]
        self.log_floor = log_abs(det)
        self.ridge = RIDGE * self.floor.xx

    # Geometry of covariances

    cdef Matrix matrix(self, Factors f) noexcept nogil:
        cdef Matrix C
        C.xx, C.xy = f.v, f.b * (f.v + self.ridge)
        C.yy = f.u + f.b * C.xy
        return C

    cdef Factors factors(self, Matrix C) noexcept nogil:
        cdef Factors f
        f.v = max(C.xx, 0.0)
        f.b = C.xy / (f.v + self.ridge)
        f.u = max(0.0, C.yy - f.b * C.xy)
        return f

    cdef real cost(self, Matrix C, real *size) noexcept nogil:
        """By the eigenvalues of C in units of the floor."""
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
        """In units of the floor, eigenvalues below 1 are raised to 1."""
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
        cdef real x = moments[OF_X - 1] / mass, y = moments[OF_Y - 1] / mass
        mean[0], mean[1] = center[0] + x, center[1] + y
        C.xx = max(0.0, moments[OF_XX - 1] / mass - x * x)
        C.yy = max(0.0, moments[OF_YY - 1] / mass - y * y)
        C.xy = (moments[OF_XY - 1] / mass - center[0] * y - center[1] * x) + (
            center[2] - center[0] * center[1]) - x * y

    # Cells

    cdef real steepest(self, real v0, real v1, real u0, real u1, real most) noexcept nogil:
        """The module's head has the bounds; room: of b^2 (v + r)."""
        cdef real r = self.ridge, room = max(0.0, most - u0), v
        # the two bounds by `most` cross at v = r room / u0; up to there the first rises until v = r, then both fall
        v = clip(min(r, r * room / u0) if u0 > 0 else r, v0, v1)
        room = min(sqrt(room / (v + r)), sqrt(v * most) / (v + r))
        return min(room, sqrt(u1 * v1 / (r * (v1 + r)))) * (1 + DERIVED_SLACK)

    cdef void root(self, real *low, real *high) noexcept nogil:
        cdef int _k, j
        cdef real x = self.largest_variance(0, self.low[0], self.high[0])
        cdef real y = self.largest_variance(1, self.low[1], self.high[1])
        cdef real *lo = low
        cdef real *hi = high
        for _k in range(self.n_components):
            for j in range(2):
                lo[MEAN + j], hi[MEAN + j] = self.low[j], self.high[j]
            lo[VARIANCE], hi[VARIANCE] = 0, x
            hi[SLOPE] = self.steepest(0, x, 0, y, y)
            lo[SLOPE] = -hi[SLOPE]
            lo[RESIDUAL], hi[RESIDUAL] = 0, y
            lo, hi = lo + N_CELL, hi + N_CELL

    cdef bint tighten(self, real *low, real *high) noexcept nogil:
        cdef int _k
        cdef real most_yy, steepest, flattest, r = self.ridge   # most_yy of C_yy, then squares of slopes
        cdef real *lo = low
        cdef real *hi = high
        if not order_components(self.n_components, N_CELL, low, high):
            return 0
        for _k in range(self.n_components):
            most_yy = self.largest_variance(1, lo[MEAN + 1], hi[MEAN + 1])
            hi[VARIANCE] = min(hi[VARIANCE], self.largest_variance(0, lo[MEAN], hi[MEAN]))
            hi[RESIDUAL] = min(hi[RESIDUAL], most_yy)
            if lo[VARIANCE] > hi[VARIANCE]:
                return 0
            steepest = max(lo[SLOPE] * lo[SLOPE], hi[SLOPE] * hi[SLOPE])
            most_yy = min(most_yy, (hi[RESIDUAL] + steepest * (hi[VARIANCE] + r)) * (1 + DERIVED_SLACK))
            # C_yy = u + b^2 (v + r) <= most_yy
            flattest = lo[SLOPE] if lo[SLOPE] > 0 else min(hi[SLOPE], 0.0)
            flattest *= flattest
            hi[RESIDUAL] = min(hi[RESIDUAL], most_yy - flattest * (lo[VARIANCE] + r) * (1 - DERIVED_SLACK))
            if flattest > 0:
                hi[VARIANCE] = min(hi[VARIANCE], (most_yy - lo[RESIDUAL]) / flattest * (1 + DERIVED_SLACK)
                                   - r * (1 - DERIVED_SLACK))
            if lo[VARIANCE] > hi[VARIANCE] or lo[RESIDUAL] > hi[RESIDUAL]:
                return 0
            steepest = self.steepest(lo[VARIANCE], hi[VARIANCE], lo[RESIDUAL], hi[RESIDUAL], most_yy)
            lo[SLOPE], hi[SLOPE] = max(lo[SLOPE], -steepest), min(hi[SLOPE], steepest)
            if lo[SLOPE] > hi[SLOPE]:
                return 0
            lo, hi = lo + N_CELL, hi + N_CELL
        return 1

    cdef bint tighten_alone(self, real *low, real *high) noexcept nogil:
        """Nothing above depends on the other components but their order."""
        return self.tighten(low, high)

    cdef real cell_cost(self, bint exact, Factors f) noexcept nogil:
        cdef real size
        if exact:
            return self.cost(self.matrix(f), &size)
        return line_cost(f.v + self.ridge, self.floor.xx) + line_cost(f.u, self.conditional_floor)

    cdef Matrix slopes(self, int kind, Factors low, Factors high) noexcept nogil:
        """Between the corners of the cell, averaged."""
        cdef real value[8]
        cdef real along = 0, across = 0, up = 0     # by variance, by C_xy, by residual
        cdef Matrix P
        cdef int i
        for i in range(8):
            value[i] = self.cell_cost(kind == 0, corner(low, high, i))
        for i in range(8):
            if not i & 1:
                along += 0.25 * (value[i | 1] - value[i])
            if not i & 2:
                across += 0.25 * (value[i | 2] - value[i]) / (corner(low, high, i).v + self.ridge)
            if not i & 4 and kind < 2:
                up += 0.25 * (value[i | 4] - value[i])
        along, across, up = along / (high.v - low.v), across / (high.b - low.b), up / (high.u - low.u)
        P.yy = max(up, 0.0)
        P.xy = 0.5 * (across - P.yy * (low.b + high.b))
        P.xx = along - P.xy * (low.b + high.b) - 0.5 * P.yy * (low.b * low.b + high.b * high.b)
        return P

    cdef real constant_at(self, Factors low, Factors high, Matrix P) noexcept nogil:
        """The best of the three bounds of the module's head: by the curvature in b; by each sum that has no b in it."""
        cdef real first = INFINITY, second = INFINITY, third = INFINITY, b, value, size, lost, curvature, s
        cdef real linear
        cdef Factors f
        cdef Matrix C
        cdef int i
        b = max(low.b * low.b, high.b * high.b)
        # C_yy - C_xy^2 / C_xx = u - b^2 (v + r) r / v is at least u - lost
        lost = b * (low.v + self.ridge) * self.ridge / low.v * (1 + 16 * ROUND) if low.v > 0 else INFINITY
        for i in range(8):
            f = corner(low, high, i)
            C = self.matrix(f)
            value = self.cost(C, &size)
            linear = product(P, C) + 64 * ROUND * (size + product_size(P, C))
            # where the floor may act somewhere in the cell, its curvature everywhere: it must be convex in u
            s = f.u - lost if low.u - lost > self.conditional_floor else self.conditional_floor
            curvature = max(0.0, 0.5 / (s * (1 - 16 * ROUND)) - P.yy) * (f.v + self.ridge)
            s = 0.5 * (high.b - low.b)
            first = min(first, value - linear - curvature * s * s * (1 + 16 * ROUND))
            third = min(third, self.cell_cost(False, f) - linear)
            if lost < INFINITY:
                value = line_cost(f.v, self.floor.xx) + line_cost(f.u - lost, self.conditional_floor)
                value -= 64 * ROUND * (1 + fabs(value) + (f.u + lost) / self.conditional_floor)
                second = min(second, value - linear)
        # (Sigma^-1)_xx is at most 1 over the floor of the first coordinate given the second
        s = 0.5 * self.ridge * self.floor.yy / (self.floor.xx * self.conditional_floor) * (1 + 64 * ROUND)
        first = max(first, third - s)
        return max(first, second) if lost < INFINITY else first

    cdef real minorant(self, Factors low, Factors high, Matrix *P) noexcept nogil:
        """The best is the one that is the nearest to G at the corners and the middle, summed."""
        cdef real best = INFINITY, constant = 0, found, lost, size
        cdef Matrix trial, C
        cdef Factors f
        cdef int kind, i
        for kind in range(3):
            trial = self.slopes(kind, low, high)
            found = self.constant_at(low, high, trial)
            lost = 0
            for i in range(9):
                f = corner(low, high, i)
                if i == 8:
                    f.v, f.b, f.u = 0.5 * (low.v + high.v), 0.5 * (low.b + high.b), 0.5 * (low.u + high.u)
                C = self.matrix(f)
                lost += (self.cost(C, &size) - product(trial, C) - found)
            if lost < best:
                best, constant, P[0] = lost, found, trial
        return constant

    cdef void relax(self, const real *low, const real *high, Subproblem *out) noexcept nogil:
        cdef int k, j
        cdef real mass = self.data.core.total_weight / self.n_components, constant, bent, size, slope
        cdef real half[2]
        cdef Factors least, most, wide
        cdef const real *lo = low
        cdef const real *hi = high
        cdef real *center
        cdef real *linear
        cdef real *quadratic
        cdef pass_costs *costs = &out.minorant
        cdef Facet *facets = out.facets
        cdef Matrix P
        out.constant = out.prior = out.e_low = out.e_high = 0
        for k in range(self.n_components):
            center, linear = costs.centers + N_COLUMNS * k, costs.linear + N_COLUMNS * k
            quadratic = costs.quadratic + N_COLUMNS * k
            for j in range(2):
                center[j] = middle_of(lo[MEAN + j], hi[MEAN + j])
                half[j] = half_width(lo[MEAN + j], hi[MEAN + j], center[j])
            center[2] = center[0] * center[1]
            least, most = factors_at(lo), factors_at(hi)
            # never of width 0, for slopes
            wide.v = max(most.v, least.v * (1 + LEAST_WIDTH) + LEAST_WIDTH * self.floor.xx)
            wide.u = max(most.u, least.u * (1 + LEAST_WIDTH) + LEAST_WIDTH * self.conditional_floor)
            slope = sqrt((wide.u + self.conditional_floor) / (wide.v + self.floor.xx))
            wide.b = max(most.b, least.b + LEAST_WIDTH * (slope + fabs(least.b)))
            constant = self.minorant(least, wide, &P)
            bent = bend(P, half[0], half[1])
            size = (fabs(P.xx) * self.size_x * self.size_x + fabs(P.yy) * self.size_y * self.size_y
                    + 4 * fabs(P.xy) * self.size_x * self.size_y)
            quadratic[0], quadratic[1], quadratic[2] = P.xx, P.yy, 0
            linear[0], linear[1], linear[2] = -2 * P.xy * center[1], -2 * P.xy * center[0], 2 * P.xy
            costs.offsets[k] = bent - constant + 64 * ROUND * (fabs(constant) + bent + size)
            for j in range(2):
                bound_mean(facets + MEAN_BOX + 2 * j, has_width(half[j], lo[MEAN + j], hi[MEAN + j]),
                           k * (1 + N_STATISTICS), 1 + N_STATISTICS, j, half[j], mass,
                           TYPICAL_MULTIPLIER * max(P.xx if j == 0 else P.yy, LEAST_MULTIPLIER) * half[j])
            self.bound_cell(facets, k, least, most, center, half, P)
            lo, hi, facets = lo + N_CELL, hi + N_CELL, facets + N_FACETS

    cdef void set_facet(self, Facet *facet, int k, const real *center, bint active, real xx, real xy, real yy, real x,
                        real y, real constant) noexcept nogil:
        cdef real *to = facet.coefficients
        clear(facet, active, k * (1 + N_STATISTICS), 1 + N_STATISTICS)
        # z_x z_y = (x y - c_x c_y) - c_x z_y - c_y z_x
        to[OF_MASS] = constant + 64 * ROUND * (
            fabs(constant) + fabs(x) * self.size_x + fabs(y) * self.size_y + fabs(xx) * self.size_x * self.size_x
            + 2 * fabs(xy) * self.size_x * self.size_y + fabs(yy) * self.size_y * self.size_y)
        to[OF_X], to[OF_Y], to[OF_XY] = x - xy * center[1], y - xy * center[0], xy
        to[OF_XX], to[OF_YY] = xx, yy

    cdef void bound_cell(self, Facet *facets, int k, Factors low, Factors high, const real *center, const real *half,
                         Matrix P) noexcept nogil:
        cdef real v0 = low.v * (1 - 8 * ROUND), v1 = high.v * (1 + 8 * ROUND), b0 = low.b, b1 = high.b, b, t
        cdef real u0 = low.u * (1 - 8 * ROUND), u1 = high.u * (1 + 8 * ROUND), r = self.ridge
        cdef real x = half[0], y = half[1], mass = self.data.core.total_weight / self.n_components
        cdef real half_v = 0.5 * (v1 - v0), half_b = 0.5 * (b1 - b0), half_u = 0.5 * (u1 - u0), range_of, multiplier
        cdef bint has_v = half_v > NEGLIGIBLE_WIDTH * v1, has_b = has_width(half_b, b0, b1)
        cdef bint has_u = half_u > NEGLIGIBLE_WIDTH * u1
        cdef int i, side, at
        # C_xx <= v1; C_xx >= v0
        self.set_facet(facets + VARIANCE_MOST, k, center, has_v, -1, 0, 0, 0, 0, v1 + x * x)
        for i in range(3):
            t = (i - 1) * x     # where the tangent of z_x^2 is taken
            self.set_facet(facets + VARIANCE_LEAST + i, k, center, has_v and v0 > 0, 1, 0, 0, -2 * t, 0, t * t - v0)
        # C_xy <= b1 (C_xx + r), C_xy >= b0 (C_xx + r), with two planes above +-m_x m_y over the box each
        for side in range(-1, 2, 2):
            b, at = b0 if side < 0 else b1, SLOPE_LEAST if side < 0 else SLOPE_MOST
            for i in range(2):
                t = 2 * i - 1
                self.set_facet(facets + at + i, k, center, has_b, side * b, -side, 0, -side * t * y, t * x,
                               x * y + max(0.0, -side * b) * x * x + side * b * r)
        # C_yy - (b0 + b1) C_xy + b0 b1 (C_xx + r) <= u <= u1
        self.set_facet(facets + RESIDUAL_MOST, k, center, has_u, -b0 * b1, b0 + b1, -1, 0, 0,
                       u1 - b0 * b1 * r + y * y + fabs(b0 + b1) * x * y + max(0.0, b0 * b1) * x * x)
        # C_yy - 2 b C_xy + b^2 (C_xx + r) >= u >= u0 for every b
        for i in range(5):
            b = b0 if i == 0 else b1 if i == 1 else 0.5 * (b0 + b1)
            t = 0 if i < 3 else (2 * i - 7) * (y + fabs(b) * x)     # where the tangent of (z_y - b z_x)^2 is taken
            self.set_facet(facets + RESIDUAL_LEAST + i, k, center, has_u and u0 > 0, b * b, -2 * b, 1, 2 * t * b,
                           -2 * t, t * t + b * b * r - u0)
        # typical multipliers: a part of what the minorant loses, over the facet's range in the cell; that of bounds
        # from below and of slopes, of which there are several, is a third of it
        range_of = half_v + x * x
        multiplier = typical(line_cost(v0 + half_v, self.floor.xx) - 0.5 * (
            line_cost(v0, self.floor.xx) + line_cost(v1, self.floor.xx)), range_of)
        set_typical(facets + VARIANCE_MOST, 1, multiplier, TYPICAL_SLACK * mass * range_of)
        set_typical(facets + VARIANCE_LEAST, 3, multiplier / 3, TYPICAL_SLACK * mass * range_of)
        b = max(fabs(b0), fabs(b1))
        range_of = half_b * (v1 + r) + x * y + b * x * x
        multiplier = typical(P.yy * half_b * half_b * (v1 + r), range_of)
        set_typical(facets + SLOPE_LEAST, 2, multiplier / 3, TYPICAL_SLACK * mass * range_of)
        set_typical(facets + SLOPE_MOST, 2, multiplier / 3, TYPICAL_SLACK * mass * range_of)
        range_of = half_u + half_b * half_b * (v1 + r) + y * y + b * b * x * x
        multiplier = typical(line_cost(u0 + half_u, self.conditional_floor) - 0.5 * (
            line_cost(u0, self.conditional_floor) + line_cost(u1, self.conditional_floor)), range_of)
        set_typical(facets + RESIDUAL_MOST, 1, multiplier, TYPICAL_SLACK * mass * range_of)
        set_typical(facets + RESIDUAL_LEAST, 5, multiplier / 3, TYPICAL_SLACK * mass * range_of)

    cdef real lost_at(self, const Subproblem *sub, int k, const real *low, const real *high, Factors f) noexcept nogil:
        """What the minorant of component k lacks at factors of the cell, in nats per unit of mass."""
        cdef const pass_costs *costs = &sub.minorant
        cdef const real *center = costs.centers + N_COLUMNS * k
        cdef Matrix P, C = self.matrix(f)
        cdef real size
        P.xx, P.yy = costs.quadratic[N_COLUMNS * k], costs.quadratic[N_COLUMNS * k + 1]
        P.xy = 0.5 * costs.linear[N_COLUMNS * k + 2]
        return self.cost(C, &size) - product(P, C) + costs.offsets[k] - bend(
            P, half_width(low[MEAN], high[MEAN], center[0]), half_width(low[MEAN + 1], high[MEAN + 1], center[1]))

    cdef void split_points(self, const real *low, const real *high, const Subproblem *sub, const real *mass,
                           const real *moments, real e, real *point, real *error) noexcept nogil:
        cdef int k, j, a
        cdef real s, unit, slope_v, slope_u, rest, told
        cdef real mean[2]
        cdef real slope[2]
        cdef real range_of[3]
        cdef Factors f
        cdef Matrix C
        cdef const real *center
        cdef const real *lo
        cdef const real *hi
        for k in range(self.n_components):
            a, s, center = k * N_CELL, mass[k], sub.minorant.centers + N_COLUMNS * k
            lo, hi = low + a, high + a
            if s > 0:
                self.moments_of(s, moments + k * N_STATISTICS, center, mean, &C)
            else:
                mean[0], mean[1], C = center[0], center[1], self.floor
            f = self.factors(C)
            for j in range(2):
                mean[j] = within(mean[j], lo[MEAN + j], hi[MEAN + j])
            f.v = within(f.v, lo[VARIANCE], hi[VARIANCE])
            f.b = within(f.b, lo[SLOPE], hi[SLOPE])
            f.u = within(f.u, lo[RESIDUAL], hi[RESIDUAL])
            # what chords lose, as if costs were sums over factors: the minorant in use may have no slope to tell
            slope_v = chord_slope(lo[VARIANCE], hi[VARIANCE], self.floor.xx)
            slope_u = chord_slope(lo[RESIDUAL], hi[RESIDUAL], self.conditional_floor)
            error[a + VARIANCE] = s * max(0.0, line_cost(f.v, self.floor.xx) - line_cost(lo[VARIANCE], self.floor.xx)
                                          - slope_v * (f.v - lo[VARIANCE]))
            error[a + SLOPE] = s * slope_u * (f.v + self.ridge) * (f.b - lo[SLOPE]) * (hi[SLOPE] - f.b)
            error[a + RESIDUAL] = SPLIT_RESIDUAL * s * max(
                0.0, line_cost(f.u, self.conditional_floor) - line_cost(lo[RESIDUAL], self.conditional_floor)
                - slope_u * (f.u - lo[RESIDUAL]))
            slope[0], slope[1] = slope_v + slope_u * f.b * f.b, slope_u
            for j in range(2):
                unit = max(LEAST_CURVATURE * slope[j], sub.minorant.quadratic[N_COLUMNS * k + j])
                error[a + MEAN + j] = s * unit * (mean[j] - lo[MEAN + j]) * (hi[MEAN + j] - mean[j])
                unit = sqrt(max(self.floor.xx, f.v)) if j == 0 else sqrt(max(self.floor.yy, C.yy))
                point[a + MEAN + j] = split_inside(mean[j], lo[MEAN + j], hi[MEAN + j], unit)
            # costs are no such sums, least of all at a corner: where errors do not tell what is lost, it is shared out
            rest, told = s * self.lost_at(sub, k, lo, hi, f), 0
            for j in range(N_CELL):
                told += error[a + j]
            if rest > UNTOLD * told:
                range_of[0] = slope_v * (hi[VARIANCE] - lo[VARIANCE])
                range_of[1] = 0.25 * slope_u * (f.v + self.ridge) * (hi[SLOPE] - lo[SLOPE]) * (hi[SLOPE] - lo[SLOPE])
                range_of[2] = slope_u * (hi[RESIDUAL] - lo[RESIDUAL])
                rest /= max(range_of[0] + range_of[1] + range_of[2], SMALLEST_RANGE)
                for j in range(3):
                    error[a + VARIANCE + j] += rest * range_of[j]
            point[a + VARIANCE] = split_factor(f.v, lo[VARIANCE], hi[VARIANCE], self.floor.xx)
            unit = sqrt(max(self.conditional_floor, f.u) / max(self.floor.xx, f.v))
            point[a + SLOPE] = split_inside(f.b, lo[SLOPE], hi[SLOPE], unit)
            point[a + RESIDUAL] = split_factor(f.u, lo[RESIDUAL], hi[RESIDUAL], self.conditional_floor)

    # EM

    cdef void costs(self, const real *point, pass_costs *out) noexcept nogil:
        cdef int k, i
        cdef real xx, xy, yy, det, size     # entries of the inverse
        cdef const real *at
        cdef Matrix C
        for k in range(self.n_components):
            at, i = point + k * N_CELL, k * N_COLUMNS
            C = self.floored(self.matrix(factors_at(at)))
            det = C.xx * (C.yy - C.xy / C.xx * C.xy)
            xx, xy, yy = C.yy / det, -C.xy / det, C.xx / det
            out.centers[i], out.centers[i + 1], out.centers[i + 2] = at[MEAN], at[MEAN + 1], at[MEAN] * at[MEAN + 1]
            out.quadratic[i], out.quadratic[i + 1], out.quadratic[i + 2] = 0.5 * xx, 0.5 * yy, 0
            out.linear[i], out.linear[i + 1], out.linear[i + 2] = -xy * at[MEAN + 1], -xy * at[MEAN], xy
            # the products x y are rounded, and so is the determinant
            size = fabs(xy) * self.size_x * self.size_y + C.xx * C.yy / det
            out.offsets[k] = -0.5 * log(4 * M_PI * M_PI * det) - 8 * ROUND * size

    cdef void put(self, Matrix C, real *variables) noexcept nogil:
        cdef Factors f = self.factors(C)
        variables[VARIANCE], variables[SLOPE], variables[RESIDUAL] = f.v, f.b, f.u

    cdef void maximise(self, const real *mass, const real *moments, real e, const pass_costs *costs,
                       real *point) noexcept nogil:
        cdef int k
        cdef Matrix C
        for k in range(self.n_components):
            if mass[k] > 0:
                self.moments_of(mass[k], moments + k * N_STATISTICS, costs.centers + N_COLUMNS * k,
                                point + k * N_CELL + MEAN, &C)
                self.put(C, point + k * N_CELL)

    cdef void seed(self, const real *centers, real *point) noexcept nogil:
        cdef int k, j, K = self.n_components
        cdef Matrix C = self.data_covariance
        C.xx, C.xy, C.yy = C.xx / (K * K), C.xy / (K * K), C.yy / (K * K)
        for k in range(K):
            for j in range(2):
                point[k * N_CELL + MEAN + j] = centers[N_COLUMNS * k + j]
            self.put(C, point + k * N_CELL)

    # The user's coordinates

    def covariances(self, vector):
        """Covariances (K, 2, 2) of a solution."""
        cdef real[::1] point = np.ascontiguousarray(vector)[self.n_components:]
        cdef int k
        cdef Matrix C
        out = []
        for k in range(self.n_components):
            C = self.floored(self.matrix(factors_at(&point[k * N_CELL])))
            out.append([[C.xx, C.xy], [C.xy, C.yy]])
        return np.array(out)

    def chart(self):
        """Means and precisions."""
        from gopfast.mixtures.incumbent.matrix_charts import FactorsChart

        return FactorsChart(self)

    def provable(self):
        """Itself."""
        return self

    def one_component(self, problem, data=None):
        """The same axes."""
        return FullFamily(problem.X, problem.sample_weight, 1, problem.variance_floor, self.axes)

    def pack_covariances(self, covariances, point):
        """Write covariances (K, 2, 2) into parameters."""
        cdef real[::1] to = point
        cdef int k
        for k in range(self.n_components):
            C = covariances[k]
            self.put(Matrix(C[0, 0], C[0, 1], C[1, 1]), &to[k * N_CELL])


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
