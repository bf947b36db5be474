"""The rows of the linear program of a node, see `linear`.

A row is loosened by the rounding error of its own coefficients: what is proved about the program holds for the node.

Theory: (G7) of docs/theory/gop.md.
"""

from libc.math cimport INFINITY, exp, fabs, log

from gopfast.lp.program cimport ProgramWorker
from gopfast.mixtures.relaxations.cut_pool cimport touching_ratio
from gopfast.mixtures.families.gaussian cimport GaussianModel
from gopfast.mixtures.relaxations.margins cimport OUTWARD
from gopfast.mixtures.relaxations.tuning cimport N_PRECISION_CUTS, ONE_POINT, ROWS_LEAST_WEIGHT as LEAST_WEIGHT
from gopfast.search.arena cimport Arena
from gopfast.search.rounding cimport ROUND
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node, node_high, node_low
from gopfast.search.types cimport LP_FAILED, clip, index, real

cdef index MOST_ENTRIES = 2147483647    # of a matrix in HiGHS, whose indices are int


cdef class LinearRows(ProgramWorker):
    """The rows of one thread's program."""

    cdef int reserve(self, StopSignal stop, int number, bint selects) except -1:
        """Numbers of columns and rows, and memory for them; the data, the pool and what is asked for are there."""
        cdef const GaussianModel *data = &self.data.core
        cdef int N = <int> data.n_samples, K = data.n_components, d = data.n_features, Q = K * d
        cdef int prior = 1 if data.has_prior else 0
        # Entries of a row over all samples, and of the whole matrix
        cdef index dense = N * (<index> K - 1) + 2, n_tangents = N * (2 + <index> self.pool.room)
        cdef index nnz = dense * (5 * Q + 4 * K) + N * <index> K + K + 2 * K * n_tangents + 2 * (N_PRECISION_CUTS + 1)
        cdef index n_switched = 6 * (Q + K) + K * K
        nnz = max(nnz, (dense + 1) * n_switched)
        if nnz >= MOST_ENTRIES:
            raise MemoryError("linear programs of this problem are too large")
        self.N, self.K, self.d, self.n_means = N, K, d, Q
        self.col_tau, self.col_pi = 0, N * (K - 1)
        self.col_theta = self.col_pi + K
        self.col_omega = self.col_theta + Q
        self.col_e = self.col_omega + N
        self.n_cols = self.col_e + 2 * prior
        self.switch_column = -1
        # In the paper's partition the multiplier W of sum_k pi_k = 1 leaves the constant -W.
        self.offset = 0 if self.joint else -data.total_weight
        self.begin(stop, number, <int> max(N + 1 + 5 * Q + 4 * K + n_tangents + N_PRECISION_CUTS + 1, n_switched),
                   <int> nnz, self.n_cols, self.n_connected if selects else -1)
        self.lay_out()

    cdef int lay_out(self) except -1:
        cdef size_t N = self.N, K = self.K, columns = self.n_cols
        cdef Arena arena = Arena()
        self.arena = arena
        while arena.again():
            self.cost = arena.take(columns)
            self.col_lower, self.col_upper = arena.take(columns), arena.take(columns)
            self.coefficient, self.size, self.short_of = arena.take(N), arena.take(N), arena.take(N)
            self.tau, self.soft = arena.take(N * K), arena.take(N * K)
            self.weights, self.counts, self.ratio = arena.take(K), arena.take(K), arena.take(K)
            self.error = arena.take(self.n_connected)
        return 0

    cdef int configure(self) noexcept nogil:
        # Nearly parallel tangents can make a warm-started simplex method cycle.
        return self.lp.limit_iterations_by(self.n_cols)

    cdef real proved(self) noexcept nogil:
        """Lower bound of the node that the program's duals prove, in nats."""
        cdef real W = -self.offset, bound = self.lp.safe_bound()
        return bound - W - 2 * ROUND * (fabs(bound) + 4 * W + fabs(bound - W))

    cdef int load(self, Node *node) noexcept nogil:
        cdef const real *low = node_low(node)
        cdef const real *high = node_high(node, self.n_connected)
        self.set_columns(low, high)
        self.clear_rows()
        self.simplex_rows()
        self.mean_rows(low, high)
        if not self.joint:
            self.weight_rows(low + self.n_means, high + self.n_means)
        self.precision_rows()
        self.pool_rows()
        return self.load_rows(self.n_cols, self.cost, self.col_lower, self.col_upper)

    cdef void set_columns(self, const real *low, const real *high) noexcept nogil:
        """Costs, and finite bounds that hold at every optimum: without them no dual proves anything."""
        cdef const GaussianModel *data = &self.data.core
        cdef int i, k, j, a, column
        cdef real W = data.total_weight, most, far, x
        for column in range(self.n_cols):
            self.cost[column] = self.col_lower[column] = 0
            self.col_upper[column] = 1
        for k in range(self.K):
            if not self.joint:  # W (p - p log p), p in [0, 1]
                self.cost[self.col_pi + k] = 1
                self.col_upper[self.col_pi + k] = W * (1 + 8 * ROUND)
        for i in range(self.N):
            column = self.col_omega + i
            self.cost[column] = data.samples.weights[i]
            if self.joint:  # sum_i w_i omega_i is a mutual information <= W log K
                self.col_upper[column] = W / data.samples.weights[i] * log(<real> self.K) * (1 + 8 * ROUND)
            else:
                self.col_lower[column] = -log(<real> self.K) * (1 + 8 * ROUND)
                self.col_upper[column] = 0
        if data.has_prior:
            self.set_precision(low, high)
        for a in range(self.n_means):
            k, j = a // self.d, a % self.d
            most = 0
            for i in range(self.N):
                x = data.samples.columns[j * data.samples.n_padded + i]
                most = max(most, max(square(x - low[a]), square(high[a] - x)))
            most *= W
            if data.has_prior:
                x = data.prior_point[j]
                far = max(square(x - low[a]), square(high[a] - x))
                most += self.col_upper[self.col_e] * data.prior_scale[j] * far
            self.cost[self.col_theta + a] = 1
            self.col_upper[self.col_theta + a] = most  # twice the greatest value

    cdef void set_precision(self, const real *low, const real *high) noexcept nogil:
        """Range of e = clip(Kd / sum rho (nu - x0)^2), the optimum for given means, over the box; and of its cost."""
        cdef const GaussianModel *data = &self.data.core
        cdef int a, j
        cdef real near = 0, far = 0, x, e_low, e_high, Q = self.n_means
        for a in range(self.n_means):
            j = a % self.d
            x = data.prior_point[j]
            far += data.prior_scale[j] * max(square(x - low[a]), square(high[a] - x))
            near += data.prior_scale[j] * square(max(0.0, max(low[a] - x, x - high[a])))
        e_low = Q / far * (1 - OUTWARD) if far > 0 else data.e_high
        e_high = Q / near * (1 + OUTWARD) if near > 0 else data.e_high
        e_low = clip(e_low, data.e_low, data.e_high)
        e_high = clip(e_high, e_low, data.e_high)
        self.col_lower[self.col_e] = e_low
        self.col_upper[self.col_e] = e_high
        self.cost[self.col_e + 1] = 1
        x = 8 * ROUND * Q * (1 + fabs(log(e_low)) + fabs(log(e_high)))
        self.col_lower[self.col_e + 1] = -0.5 * Q * log(e_high) - x
        self.col_upper[self.col_e + 1] = -0.5 * Q * log(e_low) + x

    cdef void clear_rows(self) noexcept nogil:
        self.n_rows = self.nnz = 0

    cdef void begin_row(self) noexcept nogil:
        self.constant = self.magnitude = 0
        self.start[self.n_rows] = self.nnz

    cdef void term(self, int column, real value, real size) noexcept nogil:
        """Adds value * column to the open row; size: magnitude of the numbers that were rounded in it."""
        cdef real largest = max(fabs(self.col_lower[column]), fabs(self.col_upper[column]))
        self.magnitude += size * largest
        if value != 0:
            self.col_index[self.nnz] = column
            self.value[self.nnz] = value
            self.nnz += 1

    cdef void samples(self, int k, real sign) noexcept nogil:
        """Adds sign * sum_i w_i coefficient_i tau_ik to the open row."""
        cdef const real *w = self.data.core.samples.weights
        cdef int i, c, last = self.K - 1
        for i in range(self.N):
            if k < last:
                self.term(self.col_tau + i * last + k, sign * w[i] * self.coefficient[i], w[i] * self.size[i])
                continue
            self.constant += sign * w[i] * self.coefficient[i]
            self.magnitude += w[i] * self.size[i]
            for c in range(last):
                self.term(self.col_tau + i * last + c, -sign * w[i] * self.coefficient[i], w[i] * self.size[i])

    cdef void end_row(self, real lower, real upper) noexcept nogil:
        """lower <= row <= upper, loosened by its rounding error: (N + 32) u bounds every sum of rounded terms."""
        cdef real error = (self.N + 32) * ROUND * (
            self.magnitude + fabs(self.constant) + max(fabs(lower) if lower > -INFINITY else 0.0,
                                                       fabs(upper) if upper < INFINITY else 0.0))
        cdef real relax = self.switch_relax if lower > -INFINITY else -self.switch_relax
        if self.switch_column >= 0:  # one side is infinite
            self.col_index[self.nnz] = self.switch_column
            self.value[self.nnz] = -relax if self.switch_upper else relax
            self.nnz += 1
            if self.switch_upper:
                lower, upper = lower - relax, upper - relax
        self.row_lower[self.n_rows] = lower - self.constant - error
        self.row_upper[self.n_rows] = upper - self.constant + error
        self.n_rows += 1

    cdef void simplex_rows(self) noexcept nogil:
        """The last component's tau_iK, which is what the others leave of 1, is at least 0; weights sum to 1."""
        cdef int i, k
        if self.K > 2:  # tau_iK >= 0
            for i in range(self.N):
                self.begin_row()
                for k in range(self.K - 1):
                    self.term(self.col_tau + i * (self.K - 1) + k, 1, 0)
                self.end_row(-INFINITY, 1)
        if self.joint:
            self.begin_row()
            for k in range(self.K):
                self.term(self.col_pi + k, 1, 0)
            self.end_row(1, 1)

    cdef void qualifying_row(self, int a, real bound, real sign) noexcept nogil:
        """sign * (T - bound * S) >= 0 for mean a."""
        cdef const GaussianModel *data = &self.data.core
        cdef int i, j = a % self.d
        cdef real x
        self.begin_row()
        for i in range(self.N):
            x = data.samples.columns[j * data.samples.n_padded + i]
            self.coefficient[i] = x - bound
            self.size[i] = fabs(x - bound)
        self.samples(a // self.d, sign)
        if data.has_prior:
            x = data.prior_scale[j] * (data.prior_point[j] - bound)
            self.term(self.col_e, sign * x, fabs(x))
        self.end_row(0, INFINITY)

    cdef void mean_row(self, int a, real center, real offset) noexcept nogil:
        """theta_a >= 1/2 sum_i w_i tau_ik [(x_i - center)^2 - offset], the prior's pseudo-observation included."""
        cdef const GaussianModel *data = &self.data.core
        cdef int i, j = a % self.d
        cdef real z, rho
        self.begin_row()
        self.term(self.col_theta + a, 1, 0)
        for i in range(self.N):
            z = square(data.samples.columns[j * data.samples.n_padded + i] - center)
            self.coefficient[i] = 0.5 * (z - offset)
            self.size[i] = 0.5 * (z + offset)
        self.samples(a // self.d, -1)
        if data.has_prior:
            rho = 0.5 * data.prior_scale[j]
            z = square(data.prior_point[j] - center)
            self.term(self.col_e, -rho * (z - offset), rho * (z + offset))
        self.end_row(0, INFINITY)

    cdef void mean_rows(self, const real *low, const real *high) noexcept nogil:
        """Qualifying constraints and Lagrange cuts of the means."""
        cdef int a
        cdef real width, middle
        for a in range(self.n_means):
            self.qualifying_row(a, low[a], 1)
            self.qualifying_row(a, high[a], -1)
            width = high[a] - low[a]
            self.mean_row(a, high[a], width * width)
            self.mean_row(a, low[a], width * width)
            if self.envelope:
                middle = low[a] + 0.5 * width
                self.mean_row(a, middle, square(max(middle - low[a], high[a] - middle)))

    cdef void weight_row(self, int k, real lower, real upper) noexcept nogil:
        """Qualifying constraints W lower <= N_k <= W upper."""
        cdef real W = self.data.core.total_weight
        cdef int i
        for i in range(self.N):
            self.coefficient[i] = self.size[i] = 1
        self.begin_row()
        self.samples(k, 1)
        self.end_row(W * lower, W * upper)

    cdef void weight_cut(self, int k, real p, real q) noexcept nogil:
        """Lagrange cut of -N log pi + W pi linearised at p > 0 and evaluated at q."""
        cdef real W = self.data.core.total_weight
        cdef int i
        for i in range(self.N):
            self.coefficient[i] = 1 - log(p) - q / p
            self.size[i] = 1 + fabs(log(p)) + q / p
        self.begin_row()
        self.term(self.col_pi + k, 1, 0)
        self.samples(k, -1)
        self.end_row(W * q, INFINITY)

    cdef void weight_chord(self, int k, real low, real high) noexcept nogil:
        """Chord of the concave N - N log(N / W), the envelope of a weight's cost."""
        cdef real W = self.data.core.total_weight
        cdef real at_low = low - low * log(low) if low > 0 else 0.0, at_high = high - high * log(high)
        cdef real slope = (at_high - at_low) / (high - low)
        cdef int i
        # The ends' costs are at most 1: their rounding moves the slope by a few u / (high - low).
        for i in range(self.N):
            self.coefficient[i] = slope
            self.size[i] = 4 / (high - low)
        self.begin_row()
        self.term(self.col_pi + k, 1, 0)
        self.samples(k, -1)
        self.end_row(W * (at_low - slope * low), INFINITY)

    cdef void weight_rows(self, const real *low, const real *high) noexcept nogil:
        """Qualifying constraints and Lagrange cuts of the weights."""
        cdef int k
        for k in range(self.K):
            self.weight_row(k, low[k], high[k])
            if high[k] > 0:
                self.weight_cut(k, high[k], low[k])
            if low[k] > LEAST_WEIGHT:
                self.weight_cut(k, low[k], high[k])
            if self.envelope and high[k] - low[k] > LEAST_WEIGHT:
                self.weight_chord(k, low[k], high[k])

    cdef void precision_cut(self, real at) noexcept nogil:
        """Tangent of -(Kd/2) log e."""
        cdef real half = 0.5 * self.n_means
        self.begin_row()
        self.term(self.col_e + 1, 1, 0)
        self.term(self.col_e, half / at, half / at)
        self.end_row(half * (1 - log(at)) - 8 * ROUND * half * (1 + fabs(log(at))), INFINITY)

    cdef void precision_rows(self) noexcept nogil:
        """Tangents of the prior's precision term over the node's interval of it."""
        cdef real low, high
        cdef int cut
        if not self.data.core.has_prior:
            return
        low, high = self.col_lower[self.col_e], self.col_upper[self.col_e]
        if high <= low * (1 + ONE_POINT):
            self.precision_cut(low)
            return
        for cut in range(N_PRECISION_CUTS):
            self.precision_cut(low * exp(log(high / low) * cut / (N_PRECISION_CUTS - 1)))

    cdef void entropy_row(self, int i, const real *ratio) noexcept nogil:
        """omega_i >= sum_k tau_ik (log ratio_k + 1) - ratio_k pi_k; pi_k = 1 in the paper's partition."""
        cdef int k, last = self.K - 1
        cdef real total = 0, slope_last = log(ratio[last]) + 1, slope
        self.begin_row()
        self.term(self.col_omega + i, 1, 0)
        for k in range(last):
            slope = log(ratio[k]) + 1
            self.term(self.col_tau + i * last + k, slope_last - slope, 2 + fabs(slope) + fabs(slope_last))
        self.magnitude += 1 + fabs(slope_last)
        for k in range(self.K):
            total += ratio[k]
            if self.joint:
                self.term(self.col_pi + k, ratio[k], 0)
        if not self.joint:
            self.magnitude += total
        self.end_row(slope_last if self.joint else slope_last - total, INFINITY)

    cdef void pool_rows(self) noexcept nogil:
        """All tangents of the pool, of every sample."""
        cdef int i, slot
        for i in range(self.N):
            for slot in range(self.pool.size(i)):
                self.entropy_row(i, self.pool.at(i, slot))

    cdef int add_tangents(self, real tolerance) noexcept nogil:
        """Tangents at the solution and at its E-step for the samples that lack one, and of the prior's cost."""
        cdef int i, k, source
        cdef real *tau
        self.clear_rows()
        for source in range(2):
            tau = self.soft if source else self.tau
            for i in range(self.N):
                if self.short_of[i] <= tolerance:
                    continue
                for k in range(self.K):
                    self.ratio[k] = touching_ratio(tau[i * self.K + k], self.weights[k] if self.joint else 1)
                self.entropy_row(i, self.ratio)
        if self.data.core.has_prior and self.e_short > tolerance:
            self.precision_cut(self.e)
        return self.append_rows(0, 0) if self.n_rows > 0 else LP_FAILED
