"""The master problem of the pricing bound: the best prices for some components, its atoms.

For prices lambda (N,) a component with costs c (N,) and prior cost P can save

    G = max over tau in [0, 1]^N of  sum_i w_i tau_i (lambda_i - c_i - log tau_i) + S log(S / W)  -  P,

and sum w lambda - sum_g n_g sup G over group g bounds every mixture with n_g components in group g. The master
problem maximises that over lambda for finitely many atoms a, by a barrier method: for a weight mu that falls, maximise

    w'lambda - sum_g n_g sigma_g + mu sum_a log(sigma_g(a) - E_a(lambda)) - mu/2 |lambda - center|^2_pull.

*The kink.* Where no column pays, sum_i w_i u_i <= W for u_i = exp(lambda_i - c_i), G is 0: its column jumps to 0. So
an atom is two constraints: sigma >= E - P with E = G where a column pays and

    E  =  sum_i w_i u_i / u_max  -  W / u_max        elsewhere,

which goes on from G with the same column, and sigma >= -P of a component without mass, one for each group.

*The levels sigma.* For given prices sum_{a in g} mu / (sigma_g - E_a) = n_g, one equation per group.

*The Newton step in lambda, sigma eliminated.* With m_a = w tau_a the gradient of E_a, I_a = m_a where tau_a < 1 and 0
elsewhere, and A_a the weight of the samples with tau_a = 1, the Hessian of G_a is diag(I_a) + I_a I_a' / A_a. The
multipliers are y_a = mu / gap_a, gap_a = sigma_g - E_a, and, followed by steps of their own as in primal-dual
interior-point methods, z_a; so a change of mu costs few steps. The step solves (D + sum of b b') step = gradient, where

    gradient  =  w - sum_a y_a m_a - mu pull (lambda - center),      D = diag(sum_a z_a I_a + mu pull + ridge),
    b         =  sqrt(z_a / A_a) I_a   and   sqrt(z_a / gap_a) (m_a - mean of the m of its group, weighted by z / gap).

It is an ascent of the barrier function, whose gradient is exact, and the function decides how far to go; z moves by
y_a - z_a + (z_a / gap_a) (slope of E_a - mean slope), and stays positive.

In coordinates scaled by D^(1/2), B the rows b / D^(1/2), (I + B'B)^-1 = I - B' (I + B B')^-1 B: a system of as many
rows as count. Those whose squares add next to nothing to I are left out: atoms that the barrier gives no weight.

The costs of the atoms do not depend on prices, so an evaluation is one exponential per atom and sample: the kernel's
pass over a single column, the costs. Nothing here is trusted: any prices give a bound once the suprema are proved
(`gopfast.mixtures.pricing.pricing`). A master problem is one workspace, of one worker at a time.

Theory: (P6) of docs/theory/prices.md.
"""

import math

import numpy as np

from cython.parallel cimport prange
from libc.math cimport INFINITY, exp, fabs, isfinite, log, sqrt
from libc.string cimport memcpy, memset

from gopfast.mixtures.dense cimport dense_backward, dense_factor, dense_forward, dense_gram
from gopfast.mixtures.data.passes cimport PRICE_VALUE, pass_data, price_scratch_size, price_sums, run_price
from gopfast.mixtures.data.samples cimport take_costs
from gopfast.mixtures.pricing.tuning cimport (
    ARMIJO, AT_LAST, ENOUGH, FARTHEST, LARGEST, LEAST, LEFT_OUT, LEVEL_STEPS,
    MASTER_LARGEST_EXPONENT as LARGEST_EXPONENT, MASTER_LONGEST as LONGEST, MASTER_PARALLEL_FROM as PARALLEL_FROM,
    NEARLY, NO_MASS, N_STEPS, PULL, RIDGE, SHORTER, SHRINK
)
from gopfast.search.stop cimport clock


cdef class Master:
    """
    Prices for given atoms.

    Parameters
    ----------
    weights : ndarray, shape (N,)
    center : ndarray, shape (N,)
        Prices are drawn to it, ever more weakly: atoms may be too few for any optimum, and where clusters are apart
        the level of all prices is arbitrary, down to where every G has a kink at 0.
    pricing : CellPricing
        Of the family whose components the atoms are.
    """

    def __init__(self, weights, center, CellPricing pricing):
        self.weights, self.center, self.pricing = weights, center, pricing
        self.N = len(weights)
        cdef index padded = pricing.family.data.core.samples.n_padded
        if len(center) != self.N or self.N != pricing.family.data.core.n_samples:
            raise ValueError(f"weights and center must have {pricing.family.data.core.n_samples} entries")
        self.w, self.drawn_to = np.zeros(padded), np.zeros(padded)
        np.asarray(self.w)[:self.N], np.asarray(self.drawn_to)[:self.N] = weights, center
        self.total_weight = math.fsum(weights)
        self.stride = price_scratch_size(padded, 1)
        self.capacity = self.group_capacity = 0
        self.n_steps = self.n_evaluations = 0
        self.accuracy = AT_LAST

    cdef int lay_out(self, index n_atoms, index n_groups) except -1:
        cdef size_t N = self.N, P = self.w.shape[0], A = n_atoms, G = n_groups, M = A + G, R = 2 * M
        cdef Arena arena = Arena()
        cdef Columns *at
        cdef int i
        self.arena, self.capacity = arena, 0
        while arena.again():
            take_costs(arena, &self.own, 1, self.pricing.family.n_columns, self.pricing.family.n_each)
            take_costs(arena, &self.identity, 1, 1)
            take_costs(arena, &self.nothing, 1, 1)
            for i in range(2):
                at = &self.now if i == 0 else &self.trial
                at.prices, at.scratch = arena.take(P), arena.take(A * self.stride)
                at.scale, at.saturated, at.values, at.extra = arena.take(M), arena.take(M), arena.take(M), arena.take(M)
                at.most = <index *> arena.take_bytes(M * sizeof(index))
                at.sigma = arena.take(G)
            self.group = <index *> arena.take_bytes(M * sizeof(index))
            self.count, self.costs, self.prior = arena.take(G), arena.take(A * P), arena.take(M)
            self.z, self.primal, self.ratio, self.slopes = arena.take(M), arena.take(M), arena.take(M), arena.take(M)
            self.means, self.totals = arena.take(G * N), arena.take(G)
            self.gradient, self.diagonal, self.root, self.step = (
                arena.take(N), arena.take(N), arena.take(N), arena.take(N))
            self.rows, self.across, self.right = arena.take(R * N), arena.take(R * N), arena.take(R)
            self.system = arena.take(min(R, N) * min(R, N))
        self.identity.linear[0] = 1.0
        self.capacity, self.group_capacity = n_atoms, n_groups
        return 0

    def solve(self, prices, points, groups, counts, real last, real first=1.0, real deadline=INFINITY):
        """
        Maximise sum w lambda - sum_g n_g max over group g of G.

        Parameters
        ----------
        prices : ndarray, shape (N,)
            To start from.
        points : ndarray, shape (A, n)
            Parameters of the atoms.
        groups : ndarray of int, shape (A,)
        counts : ndarray, shape (G,)
        last, first : float
            Weights of the barrier, nats, positive.
        deadline : float
            Of the monotonic clock; prices are then what they are, `is_cut_short` is set, and `weight` is the barrier's
            to go on with.

        Returns
        -------
        prices : ndarray, shape (N,)
        sigma : ndarray, shape (G,)
            Largest G of every group, -inf where it has no atoms.
        z : ndarray, shape (A,)
            Multipliers of the atoms: the fractional numbers of components like them.
        """
        cdef const real[:, ::1] at = np.ascontiguousarray(points, dtype=np.float64)
        cdef const real[::1] start = np.ascontiguousarray(prices, dtype=np.float64)
        cdef const real[::1] number = np.ascontiguousarray(counts, dtype=np.float64)
        cdef const long long[::1] group = np.ascontiguousarray(groups, dtype=np.longlong)
        cdef index A = at.shape[0], G = number.shape[0], a, g
        if start.shape[0] != self.N or group.shape[0] != A or (A and at.shape[1] != self.pricing.family.n_connected):
            raise ValueError("prices, points and groups must have one entry per sample, atom and atom")
        if A and not 0 <= min(group) <= max(group) < G:
            raise ValueError(f"groups must lie in 0 to {G - 1}")
        if not (last > 0 and first > 0):
            raise ValueError("the barrier's weights must be positive")
        if A > self.capacity or G > self.group_capacity:
            self.lay_out(max(A, self.capacity + self.capacity // 2), max(G, self.group_capacity))
        self.A, self.M, self.n_groups = A, A + G, G
        memcpy(self.now.prices, &start[0], self.N * sizeof(real))
        for g in range(G):
            self.count[g] = number[g]
        with nogil:
            for a in range(A):
                self.group[a] = group[a]
                self.take_atom(a, &at[a, 0])
            for g in range(G):  # no component at all
                self.group[A + g], self.prior[A + g], self.z[A + g] = g, 0, 0
            for a in range(A):
                g = A + group[a]
                self.prior[g] = self.prior[a] if self.prior[g] == 0 else min(self.prior[g], self.prior[a])
            if A:
                self.descend(first, last, deadline)
        sigma = np.full(G, -np.inf)
        np.maximum.at(sigma, np.asarray(group), np.array([max(self.now.values[a], -self.prior[a]) for a in range(A)]))
        return (np.array(<real[:self.N]> self.now.prices), sigma,
                np.array(<real[:A]> self.z) if A else np.zeros(0))

    cdef void take_atom(self, index a, const real *point) noexcept nogil:
        """Costs of an atom, of all samples."""
        cdef const pass_data *data = &self.pricing.family.data.core.samples
        cdef real *c = self.costs + a * data.n_padded
        cdef const real *x
        cdef real e, z, center, linear, quadratic
        cdef index i
        cdef int j
        self.pricing.family.costs(point, &self.own)
        self.prior[a] = self.pricing.family.prior_cost(point, &e)
        for i in range(self.N):
            c[i] = -self.own.offsets[0]
            if self.own.each != NULL:
                c[i] += self.own.each[i]
        for j in range(data.n_columns):
            x = data.columns + j * data.n_padded
            center, linear, quadratic = self.own.centers[j], self.own.linear[j], self.own.quadratic[j]
            for i in range(self.N):
                z = x[i] - center
                c[i] += z * (linear + quadratic * z)
        self.z[a] = 0

    cdef void descend(self, real weight, real last, real deadline) noexcept nogil:
        """The barrier method, from the prices at hand; its weight falls after every step that is not short."""
        cdef index a
        cdef int _turn
        cdef real promised
        cdef bint final, moved
        self.is_cut_short = False
        self.evaluate(&self.now, weight)
        self.multiply(weight)
        for _turn in range(N_STEPS):
            final = weight <= last
            promised = self.newton(weight)
            if final and not promised > self.accuracy * weight:
                break
            moved = promised > self.accuracy * weight and self.search(promised, weight)
            if final and not moved:
                break
            if clock() > deadline:
                self.is_cut_short = True
                break
            if not moved or promised < ENOUGH * weight or self.length > 0.9:
                weight = max(last, SHRINK * weight)
                self.now.barrier = self.levels(&self.now, weight)
            self.multiply(weight)
        self.weight = weight
        for a in range(self.A):
            self.z[a] = self.primal[a]

    cdef void evaluate(self, Columns *at, real weight) noexcept nogil:
        """Every atom's column and the barrier function at the prices."""
        cdef index a
        cdef int n_threads = self.pricing.n_threads
        self.n_evaluations += 1
        if n_threads == 1 or self.A * self.N < PARALLEL_FROM:
            for a in range(self.A):
                self.column(at, a)
        else:
            for a in prange(self.A, schedule="dynamic", chunksize=1, num_threads=n_threads):
                self.column(at, a)
        for a in range(self.A, self.M):
            at.values[a], at.scale[a], at.saturated[a], at.extra[a] = -self.prior[a], 0, 0, 0
        at.barrier = self.levels(at, weight)

    cdef void column(self, Columns *at, index a) noexcept nogil:
        """A pass over one column of data, which are the atom's costs; it leaves the exponentials in the scratch."""
        cdef pass_data data
        cdef price_sums sums
        data.n_padded, data.n_columns, data.squares = self.w.shape[0], 1, 0
        data.columns, data.weights = self.costs + a * data.n_padded, &self.w[0]
        # whatever the other columns were: the root is found from the same start
        sums.scale = 0
        run_price(&data, self.total_weight, at.prices, &self.identity, &self.nothing, PRICE_VALUE,
                  at.scratch + a * self.stride, &sums)
        at.scale[a], at.saturated[a], at.values[a] = sums.scale, sums.saturated, sums.value - self.prior[a]
        at.most[a], at.extra[a] = 0, 0
        if not sums.scale > 0:
            self.extend(at, a)

    cdef void extend(self, Columns *at, index a) noexcept nogil:
        """Below the kink: E = sum_i w_i u_i / u_max - W / u_max, whose column is that of the kink but for u_max."""
        cdef const real *t = at.scratch + a * self.stride
        cdef const real *u = t + self.w.shape[0]
        cdef real total = 0, lacking
        cdef index i, most = 0
        for i in range(self.N):
            total += self.w[i] * u[i]
            if t[i] > t[most]:
                most = i
        at.most[a], at.scale[a], at.saturated[a] = most, exp(min(-t[most], LARGEST_EXPONENT)), self.w[most]
        lacking = max(0.0, self.total_weight - total) * at.scale[a]
        at.extra[a] = lacking
        at.values[a] = -lacking - self.prior[a]

    cdef real levels(self, Columns *at, real weight) noexcept nogil:
        """OUT sigma: sum over a group's atoms of weight / (sigma - G) = n. Returns the barrier function."""
        cdef index g, a, i
        cdef real top, gap, total, slope, part, value = 0, drawn = 0
        cdef int _turn
        for i in range(self.N):
            value += self.w[i] * at.prices[i]
            drawn += self.w[i] * (at.prices[i] - self.drawn_to[i]) * (at.prices[i] - self.drawn_to[i])
        value -= weight * 0.5 * PULL * drawn / self.total_weight
        for g in range(self.n_groups):
            top = -INFINITY
            for a in range(self.M):
                if self.group[a] == g:
                    top = max(top, at.values[a])
            if not self.count[g] > 0 or not isfinite(top):
                at.sigma[g] = INFINITY
                continue
            gap = weight / self.count[g]
            for _turn in range(LEVEL_STEPS):  # Newton from the left: the sum is convex and falls
                total = slope = 0
                for a in range(self.M):
                    if self.group[a] == g:
                        part = weight / (gap + (top - at.values[a]))
                        total += part
                        slope += part * part
                part = (total - self.count[g]) * weight / slope
                gap += part
                if not part > 1e-13 * gap:
                    break
            at.sigma[g] = top + gap
            value -= self.count[g] * at.sigma[g]
            for a in range(self.M):
                if self.group[a] == g:
                    value += weight * log(gap + (top - at.values[a]))
        return value

    cdef void multiply(self, real weight) noexcept nogil:
        """OUT: the primal multipliers, 0 in groups of no components; the dual ones are kept near to them."""
        cdef index a
        cdef real gap
        for a in range(self.M):
            gap = max(self.now.sigma[self.group[a]] - self.now.values[a], 1e-300)
            self.primal[a] = weight / gap
            if not self.z[a] > 0:  # not known yet
                self.z[a] = self.primal[a]
            self.z[a] = min(max(self.z[a], self.primal[a] / FARTHEST), self.primal[a] * FARTHEST)
            self.ratio[a] = self.z[a] / gap

    cdef real newton(self, real weight) noexcept nogil:
        """OUT: the step; returns what it promises, nats."""
        cdef index i
        cdef real promised = 0
        self.n_steps += 1
        self.differentiate(weight)
        self.fill(weight)
        self.solve_low_rank()
        for i in range(self.N):
            promised += self.gradient[i] * self.step[i]
        if promised > 0 and isfinite(promised):
            return promised
        promised = 0
        for i in range(self.N):
            self.step[i] = self.gradient[i] / self.diagonal[i]
            promised += self.gradient[i] * self.step[i]
        return promised if isfinite(promised) else 0

    cdef void differentiate(self, real weight) noexcept nogil:
        """OUT: gradient, diagonal, and the groups' mean columns."""
        cdef index a, i
        cdef real pull, tau, z, primal, s, square
        cdef const real *u
        cdef real *mean
        memset(self.means, 0, self.n_groups * self.N * sizeof(real))
        memset(self.totals, 0, self.n_groups * sizeof(real))
        for i in range(self.N):
            pull = weight * PULL * self.w[i] / self.total_weight
            self.gradient[i] = self.w[i] - pull * (self.now.prices[i] - self.drawn_to[i])
            self.diagonal[i] = pull + RIDGE * self.w[i]
        for a in range(self.M):
            z, primal, square, s = self.z[a], self.primal[a], self.ratio[a], self.now.scale[a]
            if not z > 0:
                continue
            self.totals[self.group[a]] += square
            if not s > 0:
                continue
            u, mean = self.now.scratch + a * self.stride + self.w.shape[0], self.means + self.group[a] * self.N
            for i in range(self.N):
                tau = s * u[i]
                self.diagonal[i] += z * self.w[i] * (tau if tau < 1 else 0.0)
                tau = self.w[i] * (tau if tau < 1 else 1.0)
                self.gradient[i] -= primal * tau
                mean[i] += square * tau
            self.gradient[self.now.most[a]] -= primal * self.now.extra[a]
        for i in range(self.N):
            self.root[i] = 1 / sqrt(self.diagonal[i]) if self.diagonal[i] > 0 else 0

    cdef void fill(self, real weight) noexcept nogil:
        """OUT: the rows of the low rank that count, in coordinates scaled by the diagonal's root."""
        cdef index a, i
        cdef real s, tau, total
        cdef const real *u
        cdef const real *mean
        cdef real *row
        self.rank = 0
        for a in range(self.M):
            s, total = self.now.scale[a], self.totals[self.group[a]]
            if not self.z[a] > 0:
                continue
            u, mean = self.now.scratch + a * self.stride + self.w.shape[0], self.means + self.group[a] * self.N
            if s > 0 and self.now.saturated[a] > NO_MASS * self.total_weight:
                row = self.rows + self.rank * self.N
                for i in range(self.N):
                    tau = s * u[i]
                    row[i] = self.root[i] * self.w[i] * (tau if tau < 1 else 0.0)
                self.keep_row(sqrt(self.z[a] / self.now.saturated[a]))
            row = self.rows + self.rank * self.N
            total = 1 / total if total > 0 else 0
            for i in range(self.N):
                tau = s * u[i] if s > 0 else 0.0
                row[i] = self.root[i] * (self.w[i] * (tau if tau < 1 else 1.0) - mean[i] * total)
            self.keep_row(sqrt(self.ratio[a]))

    cdef void keep_row(self, real factor) noexcept nogil:
        """Takes the last row, times a factor, unless it counts for nothing."""
        cdef real *row = self.rows + self.rank * self.N
        cdef real size = 0
        cdef index i
        for i in range(self.N):
            row[i] *= factor
            size += row[i] * row[i]
        if size > LEFT_OUT / (2 * self.M):
            self.rank += 1

    cdef void solve_low_rank(self) noexcept nogil:
        """OUT: the step."""
        cdef index R = self.rank, N = self.N, n = min(R, N), i, r
        cdef real total
        for i in range(N):
            self.step[i] = self.gradient[i] * self.root[i]
        memset(self.system, 0, n * n * sizeof(real))
        for r in range(n):
            self.system[r * n + r] = 1
        if 0 < R < N:
            for i in range(N):
                for r in range(R):
                    self.across[i * R + r] = self.rows[r * N + i]
            memset(self.right, 0, R * sizeof(real))
            for i in range(N):
                for r in range(R):
                    self.right[r] += self.across[i * R + r] * self.step[i]
            dense_gram(<int> N, <int> R, self.across, self.system)
            dense_factor(<int> R, self.system)
            dense_forward(<int> R, self.system, 1, self.right)
            dense_backward(<int> R, self.system, self.right)
            for r in range(R):
                total = self.right[r]
                for i in range(N):
                    self.step[i] -= self.rows[r * N + i] * total
        elif R:
            dense_gram(<int> R, <int> N, self.rows, self.system)
            dense_factor(<int> N, self.system)
            dense_forward(<int> N, self.system, 1, self.step)
            dense_backward(<int> N, self.system, self.step)
        for i in range(N):
            self.step[i] *= self.root[i]

    cdef bint search(self, real promised, real weight) noexcept nogil:
        """Backtracking; the columns become those of the better prices. Whether there were any."""
        cdef real length, least, largest = 0
        cdef index i
        cdef Columns kept
        for i in range(self.N):
            largest = max(largest, fabs(self.step[i]))
        if not largest < LARGEST:
            return False
        length = min(1.0, LONGEST / max(largest, 1e-300))
        least = LEAST * length
        while length > least:
            for i in range(self.N):
                self.trial.prices[i] = self.now.prices[i] + length * self.step[i]
            self.evaluate(&self.trial, weight)
            if self.trial.barrier > self.now.barrier + ARMIJO * length * promised:
                self.follow(length)
                self.length = length
                kept = self.now
                self.now = self.trial
                self.trial = kept
                return True
            length *= SHORTER
        return False

    cdef void follow(self, real length) noexcept nogil:
        """The dual multipliers go with a step of this length in the prices, but stay positive."""
        cdef index a, g, i
        cdef real s, tau, slope, change, part = length
        cdef const real *u
        for a in range(self.M):
            s, slope = self.now.scale[a], 0
            u = self.now.scratch + a * self.stride + self.w.shape[0]
            if s > 0:
                for i in range(self.N):
                    tau = s * u[i]
                    slope += self.step[i] * self.w[i] * (tau if tau < 1 else 1.0)
                slope += self.step[self.now.most[a]] * self.now.extra[a]
            self.slopes[a] = slope
        for g in range(self.n_groups):
            slope = 0
            for a in range(self.M):
                if self.group[a] == g:
                    slope += self.ratio[a] * self.slopes[a]
            slope = slope / self.totals[g] if self.totals[g] > 0 else 0
            for a in range(self.M):
                if self.group[a] == g:
                    change = self.primal[a] - self.z[a] - self.ratio[a] * (slope - self.slopes[a])
                    self.slopes[a] = change
        for a in range(self.M):
            if self.z[a] + part * self.slopes[a] < (1 - NEARLY) * self.z[a]:
                part = -NEARLY * self.z[a] / self.slopes[a]
        for a in range(self.M):
            self.z[a] += part * self.slopes[a]
