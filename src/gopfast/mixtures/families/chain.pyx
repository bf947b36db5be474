"""Components that are chains of normal regressions: each response on the columns before it.

A block of a chain has p columns that are given and q responses. Response j regresses on all columns before it with a
variance of at least 1: by L = 1 / sigma, and B = the coefficients / sigma of the constant and of coordinates z of those
columns, a sample costs

    1/2 log 2 pi - log L + r^2 / 2,     r = L y - B_0 - B'z,

which is convex in (L, B). These are the parameters of a component; costs count `copies` times, as a part of the
mixture's information (gopfast.mixtures.families.replicated). Coordinates z are uncorrelated, so that boxes of B are in
units of what moves a residual.

*The domain.* Components are those of covariance matrices of at least I, of samples whose response lies within R of 0:
with slopes b of the columns themselves L^2 + |L b|^2 <= 1 and L^2 (1 + R^2) >= 1 + |L b|^2; and the regression passes
through the mean.

Theory: (N1), (N2) and (N4) of docs/theory/chains.md.
"""

import numpy as np

from libc.math cimport M_PI, fabs, log, sqrt

from gopfast.mixtures.families.margins cimport DOMAIN_SLACK as SLACK
from gopfast.mixtures.families.tuning cimport CHAIN_RIDGE as RIDGE, FIT_TURNS, NO_MASS
from gopfast.mixtures.data.passes cimport pass_costs
from gopfast.mixtures.data.samples cimport Samples
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport clip


cdef class ChainFamily(Family):
    """
    Responses that regress on the columns before them, with free variances of at least 1.

    Connected variables of a component: for each response L, the intercept's B, then those of the slopes. The statistics
    are the columns about their middles, and their products.

    Parameters
    ----------
    columns : ndarray, shape (m, n)
        Samples in units of the floor: first what is given, then the responses.
    weights : ndarray, shape (n,)
        Positive.
    n_given : int
    n_components : int
    copies : float
        At least 1: how many times costs count.
    """

    def __init__(self, columns, weights, int n_given, int n_components, real copies=1.0):
        cdef int m = len(columns), a, b, j, at
        cdef Samples data = Samples.__new__(Samples)
        self.n_given, self.n_used, self.n_responses = n_given, m, m - n_given
        self.n_components, self.copies, self.largest_scale = n_components, copies, 1 + SLACK
        n_places = sum(2 + j for j in range(n_given, m))
        if m > MOST_COLUMNS or n_places > MOST_PLACES:
            raise ValueError(f"a block has at most {MOST_COLUMNS} columns and {MOST_PLACES} parameters")
        self.base, self.data_weights = np.array(columns), np.array(weights)
        u = columns - 0.5 * (columns.min(axis=1) + columns.max(axis=1))[:, None]
        rows, others = np.triu_indices(m)
        for at in range(len(rows)):
            a, b = rows[at], others[at]
            self.pair[a][b] = self.pair[b][a] = m + at
        stacked = np.vstack([u, u[rows] * u[others]])
        data.fill(stacked, weights, False, np.zeros(len(stacked)), 0.0)
        self.data, self.n_columns, self.n_statistics = data, len(stacked), len(stacked)
        self.n_cell, self.n_shared, self.n_connected, self.n_facets = n_places, 0, n_components * n_places, 0
        self.has_prior, self.e_power, self.divisible_cells, self.has_sample_costs = False, 0.0, False, False
        self.set_constant(0.0, 0.0)
        self.pooled = (stacked * weights).sum(axis=1) / data.total_weight
        self.middle = (u * weights).sum(axis=1) / data.total_weight
        self.lay_rows(u, weights)

    def lay_rows(self, u, weights):
        """Coordinates, and what parameters are multiplied with."""
        cdef int j, g, k, at = 0, m = self.n_used
        n_padded = self.data.core.samples.n_padded
        design, error = np.empty((self.n_cell, n_padded)), np.zeros(self.n_cell)
        self.axes, self.inverse = np.zeros((self.n_responses, m, m)), np.zeros((self.n_responses, m, m))
        self.norms, self.reach = np.zeros((self.n_responses, m)), np.zeros(self.n_responses)
        z = u - np.asarray(self.middle)[:, None]
        cov = (z * weights) @ z.T / self.data.total_weight
        for j in range(self.n_responses):
            g = self.n_given + j
            self.first[j], self.reach[j] = at, np.abs(u[g]).max() * (1 + SLACK)
            self.row_of[at] = self.row_of[at + 1] = j
            self.is_scale[at], self.is_scale[at + 1] = 1, 0
            # columns were moved once, by a number: the intercept has what is exact of it
            rows, off = [u[g], -np.ones(u.shape[1])], [ROUND * self.reach[j], 0.0]
            if g:
                spread = cov[:g, :g] + np.diag(1e-12 * np.diag(cov)[:g] + 1e-300)
                T = np.linalg.inv(np.linalg.cholesky(spread))
                inverse = np.linalg.inv(T)
                np.asarray(self.axes)[j, :g, :g], np.asarray(self.inverse)[j, :g, :g] = T, inverse
                rows += list(-(T @ z[:g]))
                # what the product, the two shifts and the inverse axes are rounded by, of all terms
                size = np.abs(T) @ (np.abs(u[:g]) + np.abs(self.middle[:g])[:, None])
                off += list((g + 8) * ROUND * size.max(axis=1))
                np.asarray(self.norms)[j, :g] = inverse_norms(T, inverse)
            for k in range(2, 2 + g):
                self.row_of[at + k], self.is_scale[at + k] = j, 0
            for k in range(2 + g):
                design[at + k, :u.shape[1]] = rows[k]
                design[at + k, u.shape[1]:] = rows[k][u.shape[1] - 1]
                error[at + k] = off[k]
            at += 2 + g
        self.design, self.error, self.largest = design, error, np.abs(design).max(axis=1)

    # Cells

    cdef void root(self, real *low, real *high) noexcept nogil:
        cdef int k, j, a, l
        cdef real most, R
        for k in range(self.n_components):
            for j in range(self.n_responses):
                a, R = k * self.n_cell + self.first[j], self.reach[j]
                low[a], high[a] = (1 - SLACK) / sqrt(1 + R * R), self.largest_scale
                most = R
                for l in range(self.n_given + j):
                    high[a + 2 + l] = self.norms[j, l] * (1 + SLACK)
                    low[a + 2 + l] = -high[a + 2 + l]
                    most += high[a + 2 + l] * self.largest[self.first[j] + 2 + l]
                high[a + 1] = most * (1 + SLACK)
                low[a + 1] = -high[a + 1]

    cdef real slopes_within(self, int j, const real *low, const real *high, real *most) noexcept nogil:
        """At most |L b|^2 in a cell of response j, whose B begin at low[2] and high[2]; OUT: at least that."""
        cdef int k, l, g = self.n_given + j
        cdef real least, largest, size, x, y, total = 0
        most[0] = 0
        for l in range(g):  # L b = T'B
            least = largest = size = 0
            for k in range(g):
                x, y = self.axes[j, k, l] * low[2 + k], self.axes[j, k, l] * high[2 + k]
                least += min(x, y)
                largest += max(x, y)
                size += max(fabs(x), fabs(y))
            x = max(0.0, max(least, -largest) - SLACK * size)
            y = max(fabs(least), fabs(largest)) + SLACK * size
            total += x * x
            most[0] += y * y
        return total * (1 - SLACK)

    cdef bint is_above_floor(self, int j, const real *low, const real *high) noexcept nogil:
        cdef real most
        low += self.first[j]
        high += self.first[j]
        self.slopes_within(j, low, high, &most)
        return high[0] * high[0] + most < 1 - SLACK

    cdef bint tighten_alone(self, real *low, real *high) noexcept nogil:
        """By the domain: (L, L b) lies in the unit ball, and variances are no larger than the data allow."""
        cdef int j, l, g
        cdef real R, square, most, size
        for j in range(self.n_responses):
            g, R = self.n_given + j, self.reach[j]
            square = self.slopes_within(j, low, high, &most)
            if low[0] * low[0] + square > 1 + 4 * SLACK:
                return 0
            high[0] = min(high[0], sqrt(max(0.0, 1 - square)) + 4 * SLACK)
            low[0] = max(low[0], sqrt((1 + square) / (1 + R * R)) * (1 - SLACK))
            if low[0] > high[0]:
                return 0
            square = min(1 - low[0] * low[0], high[0] * high[0] * (1 + R * R) - 1) + 4 * SLACK * (1 + R * R)
            size = sqrt(max(0.0, square)) * (1 + SLACK)
            for l in range(g):
                low[2 + l] = max(low[2 + l], -size * self.norms[j, l])
                high[2 + l] = min(high[2 + l], size * self.norms[j, l])
                if low[2 + l] > high[2 + l]:
                    return 0
            low += 2 + g
            high += 2 + g
        return 1

    # Fits

    cdef void residual_of(self, int j, const real *point, real *rho) noexcept nogil:
        cdef int g = self.n_given + j, k, l
        point += self.first[j]
        rho[0] = -point[1]
        for l in range(self.n_used):
            rho[1 + l] = 0
        rho[1 + g] = point[0]
        for l in range(g):
            for k in range(g):
                rho[1 + l] -= point[2 + k] * self.axes[j, k, l]
            rho[0] -= rho[1 + l] * self.middle[l]

    cdef void costs(self, const real *point, pass_costs *out) noexcept nogil:
        cdef int k, j, a, b, s, F = self.n_statistics, m = self.n_used
        cdef real rho[1 + MOST_COLUMNS]
        cdef real c = self.copies
        cdef real *linear
        for k in range(self.n_components):
            linear = out.linear + k * F
            for s in range(F):
                out.centers[k * F + s] = out.quadratic[k * F + s] = linear[s] = 0
            out.offsets[k] = 0
            for j in range(self.n_responses):
                self.residual_of(j, point + k * self.n_cell, rho)
                out.offsets[k] -= c * (0.5 * log(2 * M_PI) - log(point[k * self.n_cell + self.first[j]])
                                       + 0.5 * rho[0] * rho[0])
                for a in range(m):
                    linear[a] += c * rho[0] * rho[1 + a]
                    for b in range(a, m):
                        linear[self.pair[a][b]] += c * (0.5 if a == b else 1.0) * rho[1 + a] * rho[1 + b]

    cdef void maximise(self, const real *mass, const real *moments, real e, const pass_costs *costs,
                       real *point) noexcept nogil:
        cdef int k, a, b, m = self.n_used
        cdef real mean[MOST_COLUMNS]
        cdef real C[MOST_COLUMNS][MOST_COLUMNS]
        cdef const real *of
        for k in range(self.n_components):
            if not mass[k] > NO_MASS:
                continue
            of = moments + k * self.n_statistics
            for a in range(m):
                mean[a] = of[a] / mass[k]
            for a in range(m):
                for b in range(a, m):
                    C[a][b] = C[b][a] = of[self.pair[a][b]] / mass[k] - mean[a] * mean[b]
            self.fit(mean, C, point + k * self.n_cell)

    cdef void fit(self, const real *mean, const real[MOST_COLUMNS][MOST_COLUMNS] C, real *point) noexcept nogil:
        """By Cholesky's factors of the sums of products; a little of all samples' keeps them definite.

        On the border of the domain, v = 1 + |b|^2, slopes solve (C_xx + (1 - q / v) I) b = C_xy, q the mean square.
        """
        cdef real G[MOST_COLUMNS][MOST_COLUMNS]
        cdef real b[MOST_COLUMNS]
        cdef int j, g, k, l, i, _turn
        cdef real x, v, R, square, ridge
        for j in range(self.n_responses):
            g, R, ridge = self.n_given + j, self.reach[j], 0
            for _turn in range(FIT_TURNS):
                for k in range(g):
                    b[k] = C[k][g]
                    for l in range(k + 1):
                        x = C[k][l] + (RIDGE * self.pooled[self.pair[k][k]] + ridge if k == l else 0)
                        for i in range(l):
                            x -= G[k][i] * G[l][i]
                        if l < k:
                            G[k][l] = x / G[l][l]
                        else:
                            # of a column that is constant the slope is 0, whatever this is
                            G[k][k] = sqrt(max(x, RIDGE * RIDGE * self.pooled[self.pair[k][k]], NO_MASS))
                for k in range(g):
                    for i in range(k):
                        b[k] -= G[k][i] * b[i]
                    b[k] /= G[k][k]
                for k in range(g - 1, -1, -1):
                    for i in range(k + 1, g):
                        b[k] -= G[i][k] * b[i]
                    b[k] /= G[k][k]
                v, square = C[g][g], 0
                for k in range(g):
                    square += b[k] * b[k]
                    v -= 2 * b[k] * C[k][g]
                    for l in range(g):
                        v += b[k] * b[l] * C[k][l]
                if v >= 1 + square and ridge == 0:
                    break
                x = max(0.0, 1 - v / (1 + square))
                if fabs(x - ridge) < 1e-6:
                    break
                ridge = x
            v = clip(v, 1 + square, max(1 + square, 1 + R * R - square))
            point[0] = 1 / sqrt(v)
            point[1] = mean[g]
            for k in range(g):
                point[1] -= b[k] * (mean[k] - self.middle[k])
                point[2 + k] = 0
                for l in range(g):
                    point[2 + k] += b[l] * self.inverse[j, l, k]
                point[2 + k] *= point[0]
            point[1] *= point[0]
            point += 2 + g

    cdef void seed(self, const real *centers, real *point) noexcept nogil:
        """Shifted copies of the chain of all samples, through one sample each."""
        cdef int k, a, b, m = self.n_used
        cdef real K = self.n_components
        cdef real C[MOST_COLUMNS][MOST_COLUMNS]
        for a in range(m):
            for b in range(a, m):
                C[a][b] = (self.pooled[self.pair[a][b]] - self.pooled[a] * self.pooled[b]) / (K * K)
                C[b][a] = C[a][b]
        for k in range(self.n_components):
            self.fit(centers + k * self.n_statistics, C, point + k * self.n_cell)

    def fitted(self, mass):
        """Parameters (n_connected,) of components whose samples have these masses, (K, n)."""
        cdef real[:, ::1] moments = np.ascontiguousarray(mass @ self.data.arrays()[0].T)
        cdef real[::1] total = np.ascontiguousarray(mass.sum(axis=1)), point = np.zeros(self.n_connected)
        self.maximise(&total[0], &moments[0, 0], 0, NULL, &point[0])
        return np.asarray(point)

    def masses(self, solution, weights):
        """Masses (K, n) of the samples, of these weights, in the components of a solution."""
        cdef real[::1] point = np.ascontiguousarray(solution[self.n_components:self.n_components + self.n_connected])
        cdef real[::1] rho = np.zeros(1 + MOST_COLUMNS)
        u, logs = self.data.arrays()[0][:self.n_used], []
        for k in range(self.n_components):
            costs = 0.0
            for j in range(self.n_responses):
                self.residual_of(j, &point[k * self.n_cell], &rho[0])
                costs = costs + 0.5 * np.square(rho[0] + np.asarray(rho)[1:1 + self.n_used] @ u) - np.log(
                    point[k * self.n_cell + self.first[j]])
            logs.append(np.log(max(solution[k], 1e-300)) - self.copies * costs)
        mass = np.exp(np.array(logs) - np.max(logs, axis=0))
        return mass * (weights / mass.sum(axis=0))

    def norms_of(self, point):
        """Squares L^2 + |L b|^2 (q,) of a component; at 1 its variances are the least that its slopes allow."""
        cdef real[::1] at = np.ascontiguousarray(point)
        cdef real most
        cdef int j
        found = []
        for j in range(self.n_responses):
            self.slopes_within(j, &at[self.first[j]], &at[self.first[j]], &most)
            found.append(at[self.first[j]] * at[self.first[j]] + most)
        return np.array(found)

    def seeded(self, rng):
        """Parameters (n_connected,) of components of some samples near one, or through as few as there are columns."""
        columns, weights = self.data.arrays()
        n, m = columns.shape[1], self.n_used
        squares = np.asarray(self.pooled)[[self.pair[a][a] for a in range(m)]]
        u = columns[:m] / np.sqrt(np.maximum(squares, 1e-300))[:, None]
        mass = np.zeros((self.n_components, n))
        for k in range(self.n_components):
            if rng.random() < 0.5:
                some = rng.choice(n, min(n, m + 1), replace=False)
            else:
                away = rng.exponential(1.0, m) @ np.square(u - u[:, rng.integers(n), None])
                some = np.argsort(away)[:rng.integers(min(n, m + 1), n + 1)]
            mass[k, some] = weights[some]
        return self.fitted(mass)

    def one_component(self, problem, data=None):
        """The same of one component."""
        return ChainFamily(self.base, self.data_weights, self.n_given, 1, self.copies)


def inverse_norms(T, inverse):
    """At least the norms (g,) of the columns of the inverse of T (g, g), which `inverse` is up to rounding."""
    g = len(T)
    away = np.linalg.norm(T @ inverse - np.eye(g)) + (g + 4) * ROUND * (np.abs(T) @ np.abs(inverse)).sum()
    if not away < 0.25:
        raise ValueError("columns that are given depend on each other")
    # inverse (T inverse)^-1, whose last factor is within away / (1 - away) of the unit matrix
    return (np.linalg.norm(inverse, axis=0) + 2 * away * np.linalg.norm(inverse)) * (1 + SLACK)
