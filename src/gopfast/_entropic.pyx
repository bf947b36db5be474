"""Entropic relaxed dual of a Gaussian mixture with known variance.

For a box [l, u] of the means and any centers p, Steiner's identity gives for every nu in the box

    sum_i w_i r_i (x_i - nu)^2 >= sum_i w_i r_i [ (x_i - p)^2 - max((p - l)^2, (u - p)^2) ]    if nu = T / S,

so with c_ik = |x_i - p_k|^2 / 2 - offset_k, offset_k = sum_j max(p_kj - l_kj, u_kj - p_kj)^2 / 2, the problem with
costs c is a relaxed dual subproblem: its minimum over responsibilities and weights bounds the node from below.
p = (l + u)/2 + q_low - q_high, where q are the multipliers of the qualifying constraints l S <= T <= u S.
The best p is found by a primal-dual interior-point method on the complementarity problem

    0 <= pi_k  |  W - D_k >= 0,      0 <= q_low  |  T - l S >= 0,      0 <= q_high  |  u S - T >= 0.

One data pass gives all of it, and its Jacobian, and a valid bound whatever the iterate (section 3.3 of the theory).
"""

import numpy as np

from libc.math cimport INFINITY, fabs, isfinite, log
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from gopfast._mixture cimport Mixture, MixtureData, order_components
from gopfast._relaxation cimport Effort, Relaxation
from gopfast._stop cimport StopSignal
from gopfast._tree cimport Node
from gopfast._types cimport index, real
from gopfast._passes cimport PASS_HESSIAN, PASS_VALUE, pass_scratch_size, run_pass
from gopfast._tree cimport node_high, node_low, node_point

cdef extern from "dense.h" nogil:
    int dense_factor(int n, double *a)
    void dense_solve(int n, const double *factor, double *b)
    void dense_forward(int n, const double *factor, double *b)
    void dense_backward(int n, const double *factor, double *b)

# A node whose envelope error is below this part of its bound's rounding margin is not split any more.
cdef real HOPELESS = 1e-3
cdef real ROUND = 2.0 ** -53


cdef size_t newton_size(int n_components, int n_features) noexcept nogil:
    cdef size_t K = n_components, d = n_features, Q = 2 * K * d, m = K * (1 + d)
    return (7 * K + 6 * Q + 2 * K * d + m * m + K * K + K * Q + Q * Q
            + K + K * d + K * d * d + m * m + pass_scratch_size(K, d))


cdef inline real *take(real **at, size_t n) noexcept nogil:
    cdef real *block = at[0]
    at[0] += n
    return block


cdef void newton_lay_out(Newton *nt, int n_components, int n_features, real *at) noexcept nogil:
    """Cuts one block of newton_size doubles into the workspace's arrays."""
    cdef size_t K = n_components, d = n_features, Q = 2 * K * d, m = K * (1 + d)
    nt.weights, nt.slack, nt.residual = take(&at, K), take(&at, K), take(&at, K)
    nt.step, nt.step_s, nt.rhs, nt.offsets = take(&at, K), take(&at, K), take(&at, K), take(&at, K)
    nt.q, nt.slack_q, nt.residual_q = take(&at, Q), take(&at, Q), take(&at, Q)
    nt.step_q, nt.step_t, nt.rhs_q = take(&at, Q), take(&at, Q), take(&at, Q)
    nt.centers, nt.divisible = take(&at, K * d), take(&at, K * d)
    nt.features = take(&at, m * m)
    nt.A, nt.B, nt.C = take(&at, K * K), take(&at, K * Q), take(&at, Q * Q)
    nt.sums.density, nt.sums.first = take(&at, K), take(&at, K * d)
    nt.sums.second, nt.sums.gram = take(&at, K * d * d), take(&at, m * m)
    nt.scratch = at


cdef class EntropicRelaxation(Relaxation):
    """Lower bounds of a Gaussian mixture on boxes of its means.

    Parameters
    ----------
    data : MixtureData
    max_passes : int
        Data passes that one node may take.
    patience : float
        A node that cannot be fathomed is left once its bound is known to this fraction of what it lacks.
    split_pull, split_pull_most, split_wide : float
        Split points are drawn from m = T / S towards the middle of the box by this part of the way, at most so many
        standard deviations, and not at all in wider boxes than the last (there m sits on a cluster, and the envelope
        is exact at a corner). Chosen by node counts: bench/results/split_point.md.
    """

    def __init__(self, MixtureData data, int max_passes=40, real patience=0.2, real split_pull=0.15,
                 real split_pull_most=0.3, real split_wide=16.0):
        cdef int i
        self.data = data
        self.max_passes = max_passes
        self.patience = patience
        self.split_pull, self.split_pull_most, self.split_wide = split_pull, split_pull_most, split_wide
        self.n_connected = data.core.n_components * data.core.n_features
        self.n_warm = 0
        self.batch_size, self.parallel_from = 16, 8
        self.workers = NULL
        self.storage = []
        self.n_levels = 1 + len(data.levels)
        self.levels = <Mixture *> calloc(self.n_levels, sizeof(Mixture))
        self.losses = <real *> calloc(self.n_levels, sizeof(real))
        if self.levels == NULL or self.losses == NULL:
            raise MemoryError
        for i in range(self.n_levels - 1):
            self.levels[i] = (<MixtureData> data.levels[i]).core
        self.levels[self.n_levels - 1] = data.core

    def __dealloc__(self):
        free(self.workers)
        free(self.levels)
        free(self.losses)

    cdef int prepare(self, int n_workers, StopSignal stop) except -1:
        cdef int K = self.data.core.n_components, d = self.data.core.n_features, worker
        cdef real[::1] block
        self.stop = stop
        free(self.workers)
        self.workers = <Newton *> calloc(n_workers, sizeof(Newton))
        if self.workers == NULL:
            raise MemoryError
        self.storage = []
        for worker in range(n_workers):
            block = np.zeros(newton_size(K, d))
            self.storage.append(block)
            newton_lay_out(&self.workers[worker], K, d, &block[0])
        return 0

    cdef void calibrate(self, const real *solution) noexcept nogil:
        """A level's loss at a good solution: the objective on the samples less that on the summary."""
        cdef Newton *nt = &self.workers[0]
        cdef int K = self.data.core.n_components, i, k
        cdef real value = 0
        if self.n_levels == 1:
            return
        for k in range(K):
            nt.offsets[k] = 0
        for i in range(self.n_levels - 1, -1, -1):
            run_pass(&self.levels[i].samples, K, solution + K, nt.offsets, solution, PASS_VALUE, nt.scratch, &nt.sums)
            if i == self.n_levels - 1:
                value = nt.sums.value
            self.losses[i] = max(0.0, value - nt.sums.value - self.levels[i].shift)

    cdef int coarsest(self, real missing) noexcept nogil:
        """Coarsest level whose loss is small beside what the parent's bound misses to the cutoff."""
        cdef int i
        for i in range(self.n_levels - 1):
            if 4 * self.losses[i] <= missing:
                return i
        return self.n_levels - 1

    cdef void root(self, Node *node) noexcept nogil:
        cdef int k, j, d = self.data.core.n_features
        for k in range(self.data.core.n_components):
            for j in range(d):
                node_low(node)[k * d + j] = self.data.core.low[j]
                node_high(node, self.n_connected)[k * d + j] = self.data.core.high[j]
                node_point(node, self.n_connected)[k * d + j] = 0.5 * (self.data.core.low[j] + self.data.core.high[j])

    cdef int tighten(self, Node *node) noexcept nogil:
        return order_components(&self.data.core, node_low(node), node_high(node, self.n_connected))

    cdef real evaluate(self, const Mixture *data, const real *low, const real *high, Newton *nt, Effort *effort) noexcept nogil:
        """One data pass at the iterate (weights, q): residuals, and the bound that the pass proves.

        Bounds with the tight offset max(p - l, u - p)^2 / 2 need no second pass: a change of offset is a
        change of weight, p_i stays the same and D_k is scaled.
        """
        cdef int K = data.n_components, d = data.n_features, k, j, a
        cdef real W = data.total_weight, p, half, ql, qu, z, far, tight, density, worst = -INFINITY, slack = 0, cost = 0
        cdef real newton_cost = 0, scale = 0, quadratic, e, half_kd = 0.5 * K * d, bound, term, s, kept
        cdef pass_sums *sums = &nt.sums
        for k in range(K):
            nt.offsets[k] = nt.rhs[k] = 0
            for j in range(d):
                a = k * d + j
                half = 0.5 * (high[a] - low[a])
                ql = nt.q[2 * a]
                qu = nt.q[2 * a + 1]
                p = low[a] + half + (ql - qu)
                nt.centers[a] = p
                far = max(p - low[a], high[a] - p)
                tight = 0.5 * far * far * (1 + 8 * ROUND)
                kept = max(tight, 0.5 * (half * half + (ql - qu) * (ql - qu)) + half * (ql + qu))
                nt.offsets[k] += kept
                nt.rhs[k] += tight
                if data.has_prior:
                    z = data.prior_point[j] - p
                    cost += data.prior_scale[j] * (0.5 * z * z - tight)
                    newton_cost += data.prior_scale[j] * (0.5 * z * z - kept)
                    scale += data.prior_scale[j] * (0.5 * z * z + kept)
            nt.rhs[k] -= nt.offsets[k]  # logarithm of the scale of D_k
        run_pass(&data.samples, K, nt.centers, nt.offsets, nt.weights, PASS_HESSIAN, nt.scratch, sums)
        effort.n_passes += 1

        for k in range(K):
            density = sums.density[k]
            quadratic = 0
            for j in range(d):
                quadratic += sums.second[(k * d + j) * d + j]
            s = nt.weights[k] * density
            # Relative error of D_k: a cost's, (d + 4) u of its square and 16 u of its offset; the exponent's, up to
            # 708 u; exponential, division, products and sums below 100 u. 1 / s needs none: v = exp(c_min) / s is
            # what Jensen takes, whatever its last digits.
            term = ROUND * ((d + 8) * (quadratic / s if s > 0 else 0) + 16 * (nt.offsets[k] + fabs(nt.rhs[k])) + 1000)
            # in logarithms: the tilt of a wide box is beyond the range of exp; the floor only loosens
            density = log(max(density, 1e-300) / W)
            term += 8 * ROUND * (1 + fabs(density) + fabs(nt.rhs[k]))
            if density + nt.rhs[k] + term > worst:
                worst, slack = density + nt.rhs[k] + term, term
        # Rounding of value: 8 u of |c_min| + |log s| per sample, 24 u from the lanes, 2 u compensated: 64 u covers it.
        nt.margin = (64 * ROUND + data.rounding) * (sums.magnitude - data.shift)
        nt.margin += (16 * ROUND + data.rounding) * W * (1 + fabs(worst))
        # Jensen: sum_i w_i log(p'_i / p_i) <= W log max_k D_k / W for every p' in the simplex
        bound = sums.value + data.shift - W * worst - nt.margin
        nt.margin += W * slack
        e = 0
        if data.has_prior:
            e = min(data.e_high, max(data.e_low, half_kd / cost if cost > 0 else data.e_high))
            term = e * cost - half_kd * log(e)
            bound += term - 64 * ROUND * (e * scale + half_kd * (1 + fabs(log(e))))
            e = min(data.e_high, max(data.e_low, half_kd / newton_cost if newton_cost > 0 else data.e_high))
        nt.excess = W * max(worst, 0.0)
        nt.e = e
        nt.curvature = 2 * e * e / (K * d) if data.e_low < e < data.e_high else 0

        for k in range(K):
            s = nt.weights[k] * sums.density[k]
            nt.residual[k] = W - sums.density[k]
            for j in range(d):
                a = k * d + j
                p = nt.centers[a]
                nt.residual_q[2 * a] = sums.first[a] + (p - low[a]) * s
                nt.residual_q[2 * a + 1] = (high[a] - p) * s - sums.first[a]
                if data.has_prior:
                    nt.residual_q[2 * a] += e * data.prior_scale[j] * (data.prior_point[j] - low[a])
                    nt.residual_q[2 * a + 1] += e * data.prior_scale[j] * (high[a] - data.prior_point[j])
        return bound if isfinite(bound) else -INFINITY

    cdef void assemble(self, const real *low, const real *high, Newton *nt) noexcept nogil:
        """Newton matrix [A, -B; B', C] in (d log weight, d q) from the pass's moments; B is stored by column."""
        cdef const Mixture *data = &self.data.core
        cdef int K = data.n_components, d = data.n_features, f = 1 + d, m = K * f, Q = 2 * K * d
        cdef int k, l, j, i, a, b, row, column, side, other
        cdef real s, value, below, above
        cdef pass_sums *sums = &nt.sums
        cdef real *M = nt.features
        cdef real reach_a[2]
        cdef real reach_b[2]
        for row in range(m):
            for column in range(row, m):
                M[row * m + column] = -sums.gram[row * m + column]
        for k in range(K):
            for l in range(K):
                row, column = min(k, l) * f, max(k, l) * f
                nt.A[k * K + l] = sums.gram[row * m + column]
            nt.A[k * K + k] += nt.weights[k] * nt.slack[k]
            s = nt.weights[k] * sums.density[k]
            row = k * f
            M[row * m + row] += s
            for j in range(d):
                M[row * m + row + 1 + j] += sums.first[k * d + j]
                for i in range(j, d):
                    M[(row + 1 + j) * m + row + 1 + i] += sums.second[(k * d + j) * d + i]
        for row in range(m):
            for column in range(row):
                M[row * m + column] = M[column * m + row]
        # q_low of coordinate a moves the costs by -(reach + z), q_high by -(reach - z)
        for a in range(K * d):
            k, j = a // d, a % d
            reach_a[0], reach_a[1] = nt.centers[a] - low[a], high[a] - nt.centers[a]
            for side in range(2):
                row = 2 * a + side
                for l in range(K):
                    value = M[l * f * m + k * f + 1 + j]
                    nt.B[row * K + l] = reach_a[side] * M[l * f * m + k * f] + (value if side == 0 else -value)
            for b in range(a + 1):
                l, i = b // d, b % d
                reach_b[0], reach_b[1] = nt.centers[b] - low[b], high[b] - nt.centers[b]
                for side in range(2):
                    for other in range(2):
                        above = reach_b[other] * M[(k * f + 1 + j) * m + l * f]
                        below = reach_a[side] * M[k * f * m + l * f + 1 + i]
                        value = reach_a[side] * reach_b[other] * M[k * f * m + l * f]
                        value += above if side == 0 else -above
                        value += below if other == 0 else -below
                        value += M[(k * f + 1 + j) * m + l * f + 1 + i] * (1 if side == other else -1)
                        if data.has_prior and nt.curvature > 0:
                            value += nt.curvature * self.pull(low, high, 2 * a + side) * self.pull(low, high, 2 * b + other)
                        nt.C[(2 * a + side) * Q + 2 * b + other] = value
        for row in range(Q):
            nt.C[row * Q + row] += nt.slack_q[row] / nt.q[row] if nt.divisible[row // 2] else 1e200

    cdef inline real pull(self, const real *low, const real *high, int row) noexcept nogil:
        """Derivative of the prior's cost C with respect to a multiplier, sign reversed."""
        cdef int a = row // 2, j = a % self.data.core.n_features
        cdef real gap = self.data.core.prior_point[j] - low[a] if row % 2 == 0 else high[a] - self.data.core.prior_point[j]
        return self.data.core.prior_scale[j] * gap

    cdef void factor(self, Newton *nt) noexcept nogil:
        """Block elimination: A = L L', then the Schur complement C + B' A^-1 B."""
        cdef int K = self.data.core.n_components, Q = 2 * K * self.data.core.n_features, row, column, k
        cdef real value
        dense_factor(K, nt.A)
        for row in range(Q):
            dense_forward(K, nt.A, nt.B + row * K)
        for row in range(Q):
            for column in range(row + 1):
                value = 0
                for k in range(K):
                    value += nt.B[row * K + k] * nt.B[column * K + k]
                nt.C[row * Q + column] += value
        dense_factor(Q, nt.C)

    cdef void direction(self, Newton *nt) noexcept nogil:
        """Newton step for the right-hand sides rhs, rhs_q. OUT step (d log weight), step_q."""
        cdef int K = self.data.core.n_components, Q = 2 * K * self.data.core.n_features, row, k
        cdef real value
        memcpy(nt.step, nt.rhs, K * sizeof(real))
        dense_forward(K, nt.A, nt.step)
        for row in range(Q):
            value = nt.rhs_q[row]
            for k in range(K):
                value -= nt.B[row * K + k] * nt.step[k]
            nt.step_q[row] = value if nt.divisible[row // 2] else 0
        dense_solve(Q, nt.C, nt.step_q)
        # A^-1 (rhs + B step_q) = L^-T (L^-1 rhs + V step_q)
        for row in range(Q):
            for k in range(K):
                nt.step[k] += nt.B[row * K + k] * nt.step_q[row]
        dense_backward(K, nt.A, nt.step)

    cdef real longest(self, Newton *nt) noexcept nogil:
        """Longest step that keeps weights, multipliers and slacks positive; also fills the slack steps."""
        cdef int K = self.data.core.n_components, Q = 2 * K * self.data.core.n_features, k
        cdef real most = 1e10
        for k in range(K):
            nt.step_s[k] = (nt.rhs[k] + nt.weights[k] * (nt.residual[k] - nt.slack[k])
                            - nt.weights[k] * nt.slack[k] * nt.step[k]) / nt.weights[k]
            if nt.step[k] < 0:
                most = min(most, -1 / nt.step[k])
            if nt.step_s[k] < 0:
                most = min(most, -nt.slack[k] / nt.step_s[k])
        for k in range(Q):
            if not nt.divisible[k // 2]:
                nt.step_t[k] = 0
                continue
            nt.step_t[k] = nt.rhs_q[k] + nt.residual_q[k] - nt.slack_q[k] - nt.slack_q[k] / nt.q[k] * nt.step_q[k]
            if nt.step_q[k] < 0:
                most = min(most, -nt.q[k] / nt.step_q[k])
            if nt.step_t[k] < 0:
                most = min(most, -nt.slack_q[k] / nt.step_t[k])
        return most

    cdef void newton(self, const real *low, const real *high, Newton *nt, real mu, int n) noexcept nogil:
        """One predictor-corrector step of the interior-point method."""
        cdef int K = self.data.core.n_components, Q = 2 * K * self.data.core.n_features, k
        cdef real reach, affine = 0, target
        self.assemble(low, high, nt)
        self.factor(nt)
        for k in range(K):
            nt.rhs[k] = -nt.weights[k] * nt.residual[k]
        for k in range(Q):
            nt.rhs_q[k] = -nt.residual_q[k]
        self.direction(nt)
        reach = min(1.0, self.longest(nt))
        for k in range(K):
            affine += nt.weights[k] * (1 + reach * nt.step[k]) * (nt.slack[k] + reach * nt.step_s[k])
        for k in range(Q):
            if nt.divisible[k // 2]:
                affine += (nt.q[k] + reach * nt.step_q[k]) * (nt.slack_q[k] + reach * nt.step_t[k])
        target = affine / (n * mu)
        target = max(target * target * target, 1e-6) * mu
        for k in range(K):
            nt.rhs[k] = target - nt.weights[k] * nt.residual[k] - nt.weights[k] * nt.step[k] * nt.step_s[k]
        for k in range(Q):
            if nt.divisible[k // 2]:
                nt.rhs_q[k] = (target - nt.step_q[k] * nt.step_t[k]) / nt.q[k] - nt.residual_q[k]
        self.direction(nt)
        reach = min(1.0, 0.99 * self.longest(nt))
        for k in range(K):
            nt.weights[k] *= 1 + reach * nt.step[k]
            nt.slack[k] += reach * nt.step_s[k]
        for k in range(Q):
            if nt.divisible[k // 2]:
                nt.q[k] += reach * nt.step_q[k]
                nt.slack_q[k] += reach * nt.step_t[k]
        nt.reach = reach

    cdef real complementarity(self, Newton *nt) noexcept nogil:
        cdef int K = self.data.core.n_components, Q = 2 * K * self.data.core.n_features, k
        cdef real total = 0
        for k in range(K):
            total += nt.weights[k] * nt.slack[k]
        for k in range(Q):
            if nt.divisible[k // 2]:
                total += nt.q[k] * nt.slack_q[k]
        return total

    cdef void center_slacks(self, Newton *nt, real mu) noexcept nogil:
        """Slacks follow the residuals: equal where positive, comparable where negative, off zero by mu.

        Then no Newton step multiplies a weight or a multiplier by more than a small factor, however far the
        exponentials saturate and the Jacobian vanishes.
        """
        cdef int K = self.data.core.n_components, Q = 2 * K * self.data.core.n_features, k
        for k in range(K):
            nt.slack[k] = max(nt.residual[k], -0.5 * nt.residual[k], 0.1 * mu / nt.weights[k])
        for k in range(Q):
            if nt.divisible[k // 2]:
                nt.slack_q[k] = max(nt.residual_q[k], -0.5 * nt.residual_q[k], 0.1 * mu / nt.q[k])

    cdef void place(self, Node *node, Newton *nt) noexcept nogil:
        """Split point m = T / S of every mean, and the mean with the largest envelope error to branch on."""
        cdef const Mixture *data = &self.data.core
        cdef int K = data.n_components, d = data.n_features, k, j, a
        cdef real *low = node_low(node)
        cdef real *high = node_high(node, self.n_connected)
        cdef real s, m, error, most = -1, total = 0, pull, shift
        node.branch = -1
        for k in range(K):
            for j in range(d):
                a = k * d + j
                pull = nt.e * data.prior_scale[j]
                s = nt.weights[k] * nt.sums.density[k]
                m = (nt.centers[a] * s + nt.sums.first[a] + pull * data.prior_point[j]) / (s + pull) if s + pull > 0 else nt.centers[a]
                m = min(high[a], max(low[a], m))
                if not nt.divisible[a]:
                    node_point(node, self.n_connected)[a] = m
                    continue
                error = (s + pull) * (m - low[a]) * (high[a] - m)
                if high[a] - low[a] < self.split_wide:
                    shift = self.split_pull * (0.5 * (low[a] + high[a]) - m)
                    m += max(-self.split_pull_most, min(self.split_pull_most, shift))
                node_point(node, self.n_connected)[a] = m
                total += error
                if error > most:
                    most = error
                    node.branch = a
        if total < HOPELESS * nt.margin:
            node.branch = -1  # rounding, not the envelope, keeps the gap open: smaller boxes would not help

    cdef void retreat(self, Newton *nt, real keep) noexcept nogil:
        """Goes back along the last step to the part `keep` of it."""
        cdef int K = self.data.core.n_components, Q = 2 * K * self.data.core.n_features, k
        cdef real full = nt.reach, part = keep * nt.reach
        for k in range(K):
            nt.weights[k] *= (1 + part * nt.step[k]) / (1 + full * nt.step[k])
            nt.slack[k] -= (full - part) * nt.step_s[k]
        for k in range(Q):
            if nt.divisible[k // 2]:
                nt.q[k] -= (full - part) * nt.step_q[k]
                nt.slack_q[k] -= (full - part) * nt.step_t[k]
        nt.reach = part

    cdef void bound(self, Node *node, real cutoff, int worker, Effort *effort) noexcept nogil:
        cdef const Mixture *data = &self.data.core
        cdef int K = data.n_components, d = data.n_features, Q = 2 * K * d, k, a, n, iteration, level = self.coarsest(cutoff - node.lower)
        cdef real *low = node_low(node)
        cdef real *high = node_high(node, self.n_connected)
        cdef Newton *nt = &self.workers[worker]
        cdef real W = data.total_weight, bound, mu, gap, last_gap = INFINITY, half
        cdef int retreats = 0
        effort.n_subproblems += 1
        nt.reach = 0
        n = K
        for a in range(K * d):
            half = 0.5 * (high[a] - low[a])
            nt.divisible[a] = 1 if half > 1e-13 * (fabs(low[a]) + fabs(high[a])) else 0
            n += 2 if nt.divisible[a] else 0
            nt.q[2 * a] = nt.q[2 * a + 1] = 0.1 * half if nt.divisible[a] else 0
        for k in range(K):
            nt.weights[k] = 1.0 / K
            nt.slack[k] = 0.1 * W
        for k in range(Q):
            nt.slack_q[k] = nt.q[k] * W / K
        for iteration in range(self.max_passes):
            bound = self.evaluate(&self.levels[level], low, high, nt, effort)
            self.place(node, nt)
            node.lower = max(node.lower, bound)
            if node.lower >= cutoff:
                return
            mu = self.complementarity(nt) / n
            self.center_slacks(nt, mu)
            gap = nt.excess
            for k in range(Q):
                if nt.divisible[k // 2]:
                    gap += nt.q[k] * fabs(nt.residual_q[k])
            mu = self.complementarity(nt)
            if iteration > 0 and gap > 2 * last_gap and retreats < 4:
                retreats += 1
                self.retreat(nt, 0.25)
                continue
            last_gap = gap
            retreats = 0
            if self.stop.poll(worker):
                return
            if not isfinite(gap):
                break
            if gap < max(1e-12 * (1 + fabs(bound)), self.patience * (cutoff - bound)) and bound + gap < cutoff:
                # not to be fathomed on this level; on a finer one if its loss is what misses
                if level == self.n_levels - 1 or bound + gap + 2 * self.losses[level] < cutoff:
                    return
                level += 1
                last_gap = INFINITY
            self.newton(low, high, nt, mu / n, n)
        self.halve(node, nt)

    cdef void halve(self, Node *node, Newton *nt) noexcept nogil:
        """Split of a node that was not solved: its point says nothing, so the widest side is halved."""
        cdef index n = self.n_connected, a
        cdef real width = 0
        for a in range(n):
            if nt.divisible[a] and node_high(node, n)[a] - node_low(node)[a] > width:
                width = node_high(node, n)[a] - node_low(node)[a]
                node.branch = a
                node_point(node, n)[a] = node_low(node)[a] + 0.5 * width
