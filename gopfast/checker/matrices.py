"""Gaussian components with covariance matrices: what affine functions lie below their costs in a cell.

Samples are taken in coordinates z = A (x - reference), which the proof names; any invertible A will do, and what is
rounded in z counts (`features`). Densities in z are those in x over |det A|. A component of mass S, mean m and
covariance C of the samples (or, with one covariance for all, C = sum_i w_i z_i z_i' / W - sum_k (S_k / W) m_k m_k')
costs S G(C) at its best parameters, G of `covariance`. For slopes b and a symmetric P of a leaf

    G(C)  >=  a + b.m + <P, C + m m'>    in the cell, if    a  <=  min (G(C) - <P, C>)  +  min (-b.m - m'P m),

and then sum_i w_i tau_i (a + b.z_i + <P, z_i z_i'>) bounds the component's cost; where all share C, they must share P,
and the sum of all components' is below W G(C). G is concave in C: see `least_cost` of each class. Cells hold the mean
(d), then of C

- "tied", and "full" of three columns and more: the entries on and above the diagonal (`Tied` once, `Entries` for each);
- "full", two columns: v = C_11, s = C_12 / (v + r), u = C_22 - s^2 (v + r), r a small constant, so that cells hold
  few matrices that are no covariances (`Factors`).

Theory: (V3) of docs/theory/proofs.md.
"""

import math

import numpy as np

from .covariance import LOG_2_PI, Floor, UnitFloor, least_below_chord, least_bend
from .errors import ProofError
from .families import Rules
from .margins import WIDER
from .rounding import UNIT, Interval, averages, down, up
from .tuning import CELL_SWEEPS as SWEEPS, MOST_VERTICES, RIDGE
from .within import least_within

FAMILIES = ("full", "tied")


class Matrices(Rules):
    """
    What components with covariance matrices have in common.

    Parameters
    ----------
    problem : Problem
    columns, weights : ndarray, shape (d, N) and (N,)
    axes : ndarray, shape (d, d)
    reference : ndarray, shape (d,)
    """

    shared = False

    def __init__(self, problem, columns, weights, axes, reference):
        self.n_columns, self.floor, self.weights = len(columns), Floor(axes, problem.floor), weights
        d, self.bound = self.n_columns, self.floor
        self.rows, self.others = np.triu_indices(d)
        self.on_diagonal = self.rows == self.others
        self.n_features = self.n_slopes = d + len(self.rows)
        y = columns.T - reference
        self.z, reach = y @ axes.T, (np.abs(y) @ np.abs(axes).T).max(axis=0)
        products = self.z[:, self.rows] * self.z[:, self.others]
        # within 4 u of these are z, whose terms are differences, and products of two
        self.reach = np.concatenate([0.5 * (d + 2) * reach, (d + 3) * reach[self.rows] * reach[self.others]])
        self.y = np.concatenate([self.z, products], axis=1)
        error = 4 * UNIT * self.reach[:d]
        self.first, self.last = self.z.min(axis=0) - error, self.z.max(axis=0) + error
        self.moments = averages(self.y, self.reach, weights)
        W = math.fsum(weights)
        self.constant = -(self.floor.log_axes * Interval(down(W), up(W)))
        means, of = self.moments[: d], self.moments[d:]
        self.covariance = of - means[self.rows] * means[self.others]
        self.one = problem.n_components == 1
        self._root(problem.n_components)

    def features(self, columns, reference):
        """Return z and their products of two (N, F), and numbers (F,) in whose 4 rounding errors each of them is."""
        return self.y, self.reach

    def quadratic(self, slopes):
        """No squares beside the products."""
        return np.zeros(slopes.shape[:-1] + (self.n_features,))

    def symmetric(self, entries):
        """Return matrices (..., d, d) of entries on and above the diagonal (..., n)."""
        out = np.empty(entries.shape[:-1] + (self.n_columns,) * 2)
        out[..., self.rows, self.others] = out[..., self.others, self.rows] = entries
        return out

    def intercepts(self, low, high, slopes, reference):
        """Return a (L, K, 1) for cells (L, K, p) and slopes (L, K, F) of z and of the products."""
        d = self.n_columns
        b, entries = slopes[..., :d], np.where(self.on_diagonal, 1.0, 0.5) * slopes[..., d:]
        if self.shared and (entries != entries[:, :1]).any():
            raise ProofError("slopes", "components of one covariance have one coefficient of each product")
        P = self.symmetric(entries)
        every = slice(0, 1) if self.shared else slice(None)
        a = self.least_cost(low[:, every, d:], high[:, every, d:], P[:, every])
        return down(a + least_bend(low[..., :d], high[..., :d], b, P))[..., np.newaxis]

    def largest_variance(self, low, high):
        """Of samples whose mean lies in a cell (..., d): (m - first)(last - m), by Bhatia and Davis."""
        m = np.clip(0.5 * (self.first + self.last), low, high)
        return (m - self.first) * (self.last - m) * (1 + WIDER)

    def inner(self, P, C):
        """<P, C> of matrices (..., d, d), rounded up."""
        terms = P * C
        return terms.sum(axis=(-2, -1)) + (4 * self.n_columns**2 + 32) * UNIT * np.abs(terms).sum(axis=(-2, -1))


class Entries(Matrices):
    """One covariance for each component, as its entries."""

    def _root(self, n_components):
        d = self.n_columns
        self.n_cell, self.n_shared = d + len(self.rows), 0
        if n_components == 1:  # all samples', and nothing else
            self.low, self.high = (
                np.concatenate([self.moments.low[:d], self.covariance.low]),
                np.concatenate([self.moments.high[:d], self.covariance.high]),
            )
            return
        most = self.largest_variance(self.first, self.last)
        most = np.sqrt(most[self.rows] * most[self.others]) * (1 + WIDER)
        self.low = np.concatenate([self.first, np.where(self.on_diagonal, 0.0, -most)])
        self.high = np.concatenate([self.last, most])

    def tightened(self, low, high):
        """Cells (L, K, p) without variances that no samples have, and C_ab^2 > C_aa C_bb."""
        if self.one:
            return low, high
        d = self.n_columns
        low, high = low.copy(), high.copy()
        variances = d + np.flatnonzero(self.on_diagonal)
        if not self.shared:
            most = self.largest_variance(low[..., :d], high[..., :d])
            high[..., variances] = np.minimum(high[..., variances], most)
        roots = np.sqrt(np.maximum(high[..., variances], 0.0))
        most = roots[..., self.rows] * roots[..., self.others] * (1 + WIDER)
        beside = d + np.flatnonzero(~self.on_diagonal)
        most = most[..., ~self.on_diagonal]
        low[..., beside], high[..., beside] = np.maximum(low[..., beside], -most), np.minimum(high[..., beside], most)
        return low, high

    def least_cost(self, low, high, P):
        """
        Return a lower bound of G(C) - <P, C> over boxes of entries (..., n).

        The better of two. (1) Of few entries: being concave, it is least at a vertex. Of more, about the middle C0:
        entries of W (C - C0) W' are at most some R, so that eigenvalues change by sqrt(d) |R| together, and G by half
        of that. (2) For covariances, which not all of the box are, log det and trace are sums over the variance of
        coordinate j and those of the others given it, which cost no less than at 0:

            G(C)  >=  g_j(C_jj) + (d - 1) log(2 pi) / 2 + log(det F / F_jj) / 2,   g_j at the floor F_jj.
        """
        floor, d = self.bound, self.n_columns
        if len(self.rows) <= MOST_VERTICES:
            best = np.inf
            for corner in np.ndindex((2,) * len(self.rows)):
                C = self.symmetric(np.where(np.array(corner, dtype=bool), high, low))
                best = np.minimum(best, floor.cost(C) - self.inner(P, C))
        else:
            C, most = self.symmetric(0.5 * low + 0.5 * high), np.maximum(np.abs(low), np.abs(high))
            half = self.symmetric(0.5 * (high - low) * (1 + 8 * UNIT) + 4 * UNIT * most)
            W = np.abs(floor.whiten)
            R = np.sqrt(np.square(W @ half @ W.T).sum(axis=(-2, -1)))
            best = floor.cost(C) - 0.5 * math.sqrt(d) * R * (1 + WIDER)
            best -= self.inner(P, C) + (np.abs(P) * half).sum(axis=(-2, -1)) * (1 + WIDER)
        low, high = self.symmetric(low), self.symmetric(high)
        most = np.maximum(P * low, P * high)
        least_floor = floor.log_whiten
        for j in range(d):
            variance, f = np.stack([low[..., j, j], high[..., j, j]]), floor.matrix[j, j] * (1 - WIDER)
            ends = line_cost(np.maximum(variance, 0.0), f) - P[..., j, j] * variance
            rest = most.sum(axis=(-2, -1)) - most[..., j, j]
            size = np.abs(most).sum(axis=(-2, -1))
            size = size + np.abs(P[..., j, j] * variance).max(axis=0) + np.abs(ends).max(axis=0)
            value = ends.min(axis=0) - rest + 0.5 * (d - 1) * LOG_2_PI + least_floor
            value = value - 0.5 * math.log(floor.matrix[j, j] * (1 + WIDER))
            best = np.fmax(best, value - (8 * d * d + 64) * UNIT * (size + d + abs(least_floor) + abs(math.log(f))))
        return best


class Tied(Entries):
    """
    One covariance for all components: r I <= C <= Q, the samples' second moments, whatever the components.

    For C >= r I, G is at least what it is without a floor, which is what it is with the floor r I: the better of both
    floors is taken.
    """

    shared = True

    def _root(self, n_components):
        super()._root(n_components)
        d = self.n_columns
        self.n_cell, self.n_shared, self.least_within = d, len(self.rows), 0.0
        if n_components == 1:
            return
        size = np.abs(self.symmetric(np.maximum(np.abs(self.moments.low[d:]), np.abs(self.moments.high[d:]))))
        self.least_within = least_within(self.z, self.reach[:d], size, self.weights, n_components)
        if self.least_within > 0 and d * math.log(self.least_within) > 2 * self.floor.log_whiten:
            self.bound = UnitFloor(d, self.least_within)
        # u'Y v with |u|^2 = Q_aa, |v|^2 = Q_bb, u'v = Q_ab and 0 <= Y <= 1 lies in (Q_ab -+ |u| |v|) / 2
        Q = self.moments[d:]
        roots = np.sqrt(np.maximum(Q.high[self.on_diagonal], 0.0))
        size = roots[self.rows] * roots[self.others]
        self.low[d:] = np.where(self.on_diagonal, self.least_within, 0.5 * (Q.low - size) - WIDER * size)
        self.high[d:] = 0.5 * (Q.high + size) + WIDER * size

    def tightened(self, low, high):
        """
        Cells without what Q - C = sum_k (S_k / W) m_k m_k' leaves out: each entry lies between those of the m_k m_k'.

        Of two components, of masses p and 1 - p, and q the samples' average, the means are q + (1 - p) D and q - p D:
        the sum's entry is q_a q_b - (m_1a - q_a)(m_2b - q_b), and the same with a and b exchanged.
        """
        if self.one:
            return low, high
        for _ in range(SWEEPS):
            low, high = self._tightened(*super().tightened(low, high))
        return low, high

    def _tightened(self, low, high):
        d, a, b = self.n_columns, self.rows, self.others
        means = Interval(low[..., :d], high[..., :d])
        products = means[..., a] * means[..., b]
        crossing = (means.low <= 0) & (means.high >= 0)
        nearest = np.square(np.minimum(np.abs(means.low), np.abs(means.high)))
        nearest = np.where(crossing, 0.0, nearest * (1 - 4 * UNIT))
        least = np.where(self.on_diagonal, nearest[..., a], products.low)
        least, most = least.min(axis=1), products.high.max(axis=1)
        if low.shape[1] == 2:
            q = self.moments[:d]
            for i, j in ((a, b), (b, a)):
                found = q[i] * q[j] - (means[:, 0, i] - q[i]) * (means[:, 1, j] - q[j])
                least, most = np.maximum(least, found.low), np.minimum(most, found.high)
        rest = self.moments[d:] - Interval(least, most)
        low[..., d:] = np.maximum(low[..., d:], rest.low[:, np.newaxis])
        high[..., d:] = np.minimum(high[..., d:], rest.high[:, np.newaxis])
        for e in np.flatnonzero(~self.on_diagonal):
            self._by_minors(low[..., d:], high[..., d:], e)
        return low, high

    def _by_minors(self, low, high, e):
        """Cut boxes of entries in place, by z^2 <= x y for the minor x, y, z of C - r I, and of Q - C, of entry e."""
        places = np.flatnonzero(self.on_diagonal)
        a, b, r = places[self.rows[e]], places[self.others[e]], self.least_within
        Q = self.moments[self.n_columns :]
        slack = WIDER * (Q.high[[a, b]] + np.abs(Q.low[[a, b]]))
        slack = np.array([*slack, math.sqrt(slack[0] * slack[1])])
        for sign, origin in ((1.0, Interval(np.array([r, r, 0.0]))), (-1.0, Q[[a, b, e]])):
            own = Interval(low[..., [a, b, e]], high[..., [a, b, e]])
            rest = own - origin if sign > 0 else origin - own
            least, most = (np.moveaxis(side, -1, 0) for side in (rest.low - slack, rest.high + slack))
            limit = np.sqrt(np.maximum(most[0], 0.0) * np.maximum(most[1], 0.0)) * (1 + WIDER)
            z0, z1 = np.maximum(least[2], -limit), np.minimum(most[2], limit)
            square = np.square(np.maximum(np.maximum(z0, -z1), 0.0)) * (1 - WIDER)
            with np.errstate(all="ignore"):
                x0, y0 = (np.where(square > 0, np.fmax(least[i], square / most[1 - i]), least[i]) for i in range(2))
            cut = np.stack([x0, y0, z0], axis=-1), np.stack([most[0], most[1], z1], axis=-1)
            found = Interval(cut[0] - slack, cut[1] + slack)
            found = found + origin if sign > 0 else origin - found
            low[..., [a, b, e]] = np.maximum(low[..., [a, b, e]], found.low)
            high[..., [a, b, e]] = np.minimum(high[..., [a, b, e]], found.high)


class Factors(Matrices):
    """Two columns, one covariance for each component, as factors v, s, u."""

    def _root(self, n_components):
        self.n_cell, self.n_shared, self.ridge = 5, 0, RIDGE * self.floor.matrix[0, 0]
        x, y = self.largest_variance(self.first, self.last)
        zero = np.zeros(1)
        steepest = self._steepest(zero, x, zero, y, y)[0]
        self.low = np.array([*self.first, 0.0, -steepest, 0.0])
        self.high = np.array([*self.last, x, steepest, y])

    def _steepest(self, v0, v1, u0, u1, most):
        """
        Return the largest |s|, where C_22 is at most `most`.

        s^2 (v + r) = C_22 - u <= most - u0;  s^2 = C_12^2 / (v + r)^2 <= v most / (v + r)^2; and C_12^2 <= v C_22 says
        that C_22 r <= u (v + r), s^2 <= u v / (r (v + r)). The first falls in v; the second rises up to v = r and falls
        from there, and is the smaller of both up to v = r (most - u0) / u0; the third rises.
        """
        r, room = self.ridge, np.maximum(0.0, most - u0)
        place = np.minimum(r, np.where(u0 > 0, r * room / np.where(u0 > 0, u0, 1.0), r))
        v = np.clip(place, v0, v1)
        square = np.minimum(room / (v + r), v * np.maximum(most, 0.0) / np.square(v + r))
        return np.sqrt(np.minimum(square, np.maximum(u1 * v1, 0.0) / (r * (v1 + r)))) * (1 + WIDER)

    def tightened(self, low, high):
        """
        Cells (L, K, 5) without what no samples have; steps repeated, as each uses the others'.

        v and C_22 are variances of samples of a mean in the cell; C_22 = u + s^2 (v + r).
        """
        v0, s0, u0 = (low[..., i].copy() for i in range(2, 5))
        v1, s1, u1 = (high[..., i].copy() for i in range(2, 5))
        least, r = self.largest_variance(low[..., :2], high[..., :2]), self.ridge
        for _ in range(SWEEPS):
            v1 = np.minimum(v1, least[..., 0])
            most = np.minimum(least[..., 1], (u1 + np.maximum(s0 * s0, s1 * s1) * (v1 + r)) * (1 + WIDER))
            flattest = np.where(s0 > 0, s0, np.minimum(s1, 0.0)) ** 2
            u1 = np.minimum(np.minimum(u1, most), most - flattest * (v0 + r) * (1 - WIDER))
            with np.errstate(all="ignore"):
                widest = (most - u0) / flattest * (1 + WIDER) - r * (1 - WIDER)
            v1 = np.where(flattest > 0, np.fmin(v1, widest), v1)
            steepest = self._steepest(v0, np.maximum(v1, v0), u0, u1, most)
            s0, s1 = np.maximum(s0, -steepest), np.minimum(s1, steepest)
        sides = (low[..., :2], v0, s0, u0), (high[..., :2], v1, s1, u1)
        return tuple(np.concatenate([m, np.stack(rest, axis=-1)], axis=-1) for m, *rest in sides)

    def least_cost(self, low, high, P):
        """
        Return a lower bound of G(C) - <P, C> over cells of v, s, u (..., 3): the best of three.

        For a fixed s, C is affine in (v, u), and G concave. For fixed (v, u) it is a minimum over Sigma of parabolas in
        s of second derivative (v + r) (1 / t - 2 P_22), t the variance of the second coordinate given the first in
        Sigma: at least f, its floor, and C_22 - C_12^2 / v = u - s^2 (v + r) r / v >= u - lost. So it lies above the
        parabola through its ends s0, s1 that is below its chord by

            (1)  max(0, 1 / (2 t) - P_22) (v + r) ((s1 - s0) / 2)^2

        in the middle: convex in v, and in u where t is the same formula for all u, so that the least for each s, and
        hence for all, is at a corner of (v, u). Or G is replaced by sums without s, of costs g of one variance, with
        Sigma's log det = that of the first coordinate + that of the second given the first:

            (2)  G(C) >= g_1(v) + g_2(u - lost)            (3)  G(C) >= g_1(v + r) + g_2(u) - r / (2 f')

        at the floors F_11 and f, where r added to C_11 costs at most r / (2 f'), f' that of the first given the second;
        the parabola is below its chord by max(0, -P_22) (v + r) ((s1 - s0) / 2)^2 then.
        """
        floor, r, found = self.floor, self.ridge, []
        first_floor, f = floor.matrix[0, 0] * (1 - WIDER), floor.given_first * (1 - WIDER)
        lost = np.maximum(low[..., 1] ** 2, high[..., 1] ** 2) * (low[..., 0] + r) * r
        has_lost = low[..., 0] > 0
        lost = np.where(has_lost, lost / np.where(has_lost, low[..., 0], 1.0) * (1 + WIDER), 0.0)
        half = 0.5 * (high[..., 1] - low[..., 1])
        by_u = has_lost & (low[..., 2] - lost > f)
        for v in (low[..., 0], high[..., 0]):
            for u in (low[..., 2], high[..., 2]):
                ends = [self._at(v, s, u, lost, first_floor, f, P) for s in (low[..., 1], high[..., 1])]
                square = (v + r) * half * half * (1 + WIDER)
                t = np.where(by_u, u - lost, f) * (1 - WIDER)
                sags = [np.maximum(0.0, bend - P[..., 1, 1]) * square for bend in (0.5 / t, 0.0, 0.0)]
                found.append([least_below_chord(*parts) for parts in zip(*ends, sags, strict=True)])
        first, second, third = np.min(found, axis=0)
        third = third - 0.5 * r / floor.given_second * (1 + WIDER)
        return np.maximum(np.maximum(first, np.where(has_lost, second, -np.inf)), third)

    def _at(self, v, s, u, lost, first_floor, f, P):
        """Return G(C) - <P, C> at factors, and the same with G replaced by (2) and by (3)."""
        slope = s * (v + self.ridge)
        C = np.stack([v, slope, slope, u + s * slope], axis=-1).reshape(v.shape + (2, 2))
        linear = self.inner(P, C)
        slack = WIDER * (1 + (u + lost) / f)
        return (self.floor.cost(C, 16) - linear, line_cost(v, first_floor) + line_cost(u - lost, f) - slack - linear,
                line_cost(v + self.ridge, first_floor) + line_cost(u, f) - linear)  # fmt: skip


def line_cost(v, floor):
    """Return a lower bound of the cost log(2 pi max(v, f)) / 2 + v / (2 max(v, f)) of variances at a floor."""
    top = np.maximum(v, floor)
    value = 0.5 * (LOG_2_PI + np.log(top) + v / top)
    return value - 32 * UNIT * (2.0 + np.abs(np.log(top)) + np.abs(v / top))


def rules(problem, columns, weights, axes, reference):
    """Return the rule of a problem's family."""
    if problem.family == "tied":
        return Tied(problem, columns, weights, axes, reference)
    kind = Factors if len(columns) == 2 and problem.n_components > 1 else Entries
    return kind(problem, columns, weights, axes, reference)
