"""The solution of a node's linear program, see `linear`, and where the node is divided. Nothing here is a proof."""

from libc.math cimport INFINITY, exp, log

from gopfast.mixtures.relaxations.cut_pool cimport tangent_value
from gopfast.mixtures.relaxations.linear_rows cimport LinearRows, square
from gopfast.mixtures.families.gaussian cimport GaussianModel
from gopfast.mixtures.relaxations.margins cimport SWITCH_ROUNDING
from gopfast.mixtures.relaxations.tuning cimport LEAST_RATIO, ROWS_LEAST_WEIGHT as LEAST_WEIGHT
from gopfast.search.relaxation cimport Effort
from gopfast.search.tree cimport Node, divisible, inside, node_choice, node_high, node_low, node_point
from gopfast.search.types cimport clip, real


cdef class LinearBranching(LinearRows):
    """A connected variable and a point, or one combination of halves of all intervals."""

    cdef void read_solution(self) noexcept nogil:
        """Responsibilities, weights and e of the linear program's solution, back inside their ranges."""
        cdef const real *x = self.lp.x
        cdef int i, k, last = self.K - 1
        cdef real rest
        for k in range(self.K):
            self.counts[k] = 0
        for i in range(self.N):
            rest = 1
            for k in range(last):
                self.tau[i * self.K + k] = clip(x[self.col_tau + i * last + k], 0, max(0.0, rest))
                rest -= self.tau[i * self.K + k]
            self.tau[i * self.K + last] = max(0.0, rest)
            for k in range(self.K):
                self.counts[k] += self.data.core.samples.weights[i] * self.tau[i * self.K + k]
        for k in range(self.K):
            self.weights[k] = (clip(x[self.col_pi + k], 0, 1) if self.joint
                               else self.counts[k] / self.data.core.total_weight)
        self.e = 0
        if self.data.core.has_prior:
            self.e = clip(x[self.col_e], self.col_lower[self.col_e], self.col_upper[self.col_e])

    cdef real shortfall(self) noexcept nogil:
        """What tangents miss at the solution: of each sample's entropy, of the prior's cost, and in all."""
        cdef int i
        cdef real total = 0
        for i in range(self.N):
            self.short_of[i] = max(0.0, tangent_value(self.K, self.tau + i * self.K, self.weights, self.joint)
                                   - self.lp.x[self.col_omega + i])
            total += self.data.core.samples.weights[i] * self.short_of[i]
        self.e_short = 0
        if self.data.core.has_prior:
            self.e_short = max(0.0, -0.5 * self.n_means * log(self.e) - self.lp.x[self.col_e + 1])
        return total + self.e_short

    cdef void place_middle(self, Node *node) noexcept nogil:
        """Split point and branching variable of a node without a solution: the widest interval, in its middle."""
        cdef int a
        cdef real *low = node_low(node)
        cdef real *high = node_high(node, self.n_connected)
        cdef real widest = 0
        node.branch = -1
        for a in range(self.n_connected):
            node_point(node, self.n_connected)[a] = low[a] + 0.5 * (high[a] - low[a])
            if divisible(low[a], high[a]) and high[a] - low[a] > widest:
                widest = high[a] - low[a]
                node.branch = a

    cdef real split_mean(self, int a, real low, real high) noexcept nogil:
        """m = T / S of mean a at the solution, and what its Lagrange cuts miss there."""
        cdef const GaussianModel *data = &self.data.core
        cdef int i, k = a // self.d, j = a % self.d
        cdef real s, t, m, pull = 0, value = 0
        cdef const real *column = data.samples.columns + j * data.samples.n_padded
        s, t = self.counts[k], 0
        for i in range(self.N):
            t += data.samples.weights[i] * self.tau[i * self.K + k] * column[i]
        if data.has_prior:
            pull = self.e * data.prior_scale[j]
            s, t = s + pull, t + pull * data.prior_point[j]
        m = clip(t / s, low, high) if s > 0 else low + 0.5 * (high - low)
        for i in range(self.N):
            value += data.samples.weights[i] * self.tau[i * self.K + k] * square(column[i] - m)
        if data.has_prior:
            value += pull * square(data.prior_point[j] - m)
        self.error[a] = max(0.0, 0.5 * value - self.lp.x[self.col_theta + a])
        return m

    cdef real split_weight(self, int k, real low, real high) noexcept nogil:
        """N / W at the solution, and what the weight's Lagrange cuts miss there."""
        cdef real W = self.data.core.total_weight, p = clip(self.counts[k] / W, low, high)
        self.error[self.n_means + k] = max(0.0, W * (p - p * log(p) if p > 0 else 0.0) - self.lp.x[self.col_pi + k])
        return p

    cdef void choose_split(self, Node *node) noexcept nogil:
        """Split point of every connected variable, and the one whose cuts miss most to branch on."""
        cdef real *low = node_low(node)
        cdef real *high = node_high(node, self.n_connected)
        cdef int a
        cdef real most = -1
        for a in range(self.n_connected):
            if a < self.n_means:
                node_point(node, self.n_connected)[a] = self.split_mean(a, low[a], high[a])
            else:
                node_point(node, self.n_connected)[a] = self.split_weight(a - self.n_means, low[a], high[a])
            if divisible(low[a], high[a]) and self.error[a] > most:
                most = self.error[a]
                node.branch = a

    cdef void soften(self, const real *means) noexcept nogil:
        """Responsibilities of an E-step for the means and the weights of the solution."""
        cdef const GaussianModel *data = &self.data.core
        cdef int i, k, j
        cdef real best, total, z
        cdef real *row
        for i in range(self.N):
            row = self.soft + i * self.K
            best = -INFINITY
            for k in range(self.K):
                z = 0
                for j in range(self.d):
                    z += square(data.samples.columns[j * data.samples.n_padded + i] - means[k * self.d + j])
                row[k] = log(max(self.weights[k], LEAST_RATIO)) - 0.5 * z
                best = max(best, row[k])
            total = 0
            for k in range(self.K):
                row[k] = exp(row[k] - best)
                total += row[k]
            for k in range(self.K):
                row[k] /= total

    # The combination of halves with the least bound; only its order of division is used

    cdef void select(self, Node *node, Effort *effort) noexcept nogil:
        """Selects a bound combination by a mixed-integer program; the node is left with none where that fails."""
        cdef const real *low = node_low(node)
        cdef const real *high = node_high(node, self.n_connected)
        cdef const real *point = node_point(node, self.n_connected)
        cdef int a, b, first, second
        self.clear_rows()
        for a in range(self.n_connected):
            if not divisible(low[a], high[a]):
                self.error[a] = -1
            elif a < self.n_means:
                self.mean_halves(a, low[a], inside(low[a], high[a], point[a]), high[a])
            else:
                self.weight_halves(a, low[a], inside(low[a], high[a], point[a]), high[a])
        for first in range(self.K):
            for second in range(first + 1, self.K):
                a, b = first * self.d, second * self.d
                if (self.error[a] >= 0 and self.error[b] >= 0
                        and inside(low[a], high[a], point[a]) > inside(low[b], high[b], point[b])):
                    self.order_row(a, b)
        self.choose(self.error, node_choice(node, self.n_connected, 0), effort)

    cdef void switch(self, int a, bint upper, real relax) noexcept nogil:
        """Rows that follow hold in one half of connected variable a; relaxed so much, they hold in the node."""
        self.switch_column, self.switch_upper, self.switch_relax = self.n_cols + a, upper, relax * SWITCH_ROUNDING

    cdef void mean_halves(self, int a, real low, real at, real high) noexcept nogil:
        """Qualifying constraints and Lagrange cuts of each half, relaxed to what those of the node leave them."""
        cdef const GaussianModel *data = &self.data.core
        cdef real most = data.total_weight, below = at - low, above = high - at  # most: of S
        if data.has_prior:
            most += self.col_upper[self.col_e] * data.prior_scale[a % self.d]
        self.switch(a, False, most * above)
        self.qualifying_row(a, at, -1)
        self.switch(a, False, most * above * (high - low))
        self.mean_row(a, at, below * below)
        self.switch(a, False, most * above * (below + 0.5 * above))
        self.mean_row(a, low, below * below)
        self.switch(a, True, most * below)
        self.qualifying_row(a, at, 1)
        self.switch(a, True, most * below * (high - low))
        self.mean_row(a, at, above * above)
        self.switch(a, True, most * below * (above + 0.5 * below))
        self.mean_row(a, high, above * above)
        self.switch_column = -1

    cdef real weight_excess(self, real p, real q, real low, real high) noexcept nogil:
        """The most that a weight's Lagrange cut comes to for W low <= N <= W high."""
        cdef real slope = 1 - log(p) - q / p
        return self.data.core.total_weight * max(0.0, q + max(slope * low, slope * high))

    cdef void weight_halves(self, int a, real low, real at, real high) noexcept nogil:
        """What the mixed-integer program is told of a weight's two halves, [low, at] and [at, high]."""
        cdef real W = self.data.core.total_weight
        cdef int k = a - self.n_means
        self.switch(a, False, self.weight_excess(at, low, low, high))
        self.weight_cut(k, at, low)
        if low > LEAST_WEIGHT:
            self.switch(a, False, self.weight_excess(low, at, low, high))
            self.weight_cut(k, low, at)
        self.switch(a, True, self.weight_excess(high, at, low, high))
        self.weight_cut(k, high, at)
        if at > LEAST_WEIGHT:
            self.switch(a, True, self.weight_excess(at, high, low, high))
            self.weight_cut(k, at, high)
        self.switch(a, False, W * (high - at))
        self.weight_row(k, -INFINITY, at)
        self.switch(a, True, W * (at - low))
        self.weight_row(k, at, INFINITY)
        self.switch_column = -1

    cdef void order_row(self, int a, int b) noexcept nogil:
        """Not the upper half of mean a with the lower half of mean b: components are in order."""
        self.begin_row()
        self.col_index[self.nnz], self.value[self.nnz] = self.n_cols + a, 1
        self.col_index[self.nnz + 1], self.value[self.nnz + 1] = self.n_cols + b, -1
        self.nnz += 2
        self.end_row(-INFINITY, 0)
