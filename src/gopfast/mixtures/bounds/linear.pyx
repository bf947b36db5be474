"""Linear relaxed dual of a Gaussian mixture with known variance: one linear program per node and round.

A node is a box [l, u] of the connected variables, the means nu, and in the paper's own partition also the weights
pi. Its linear program is over the rest, b = (tau, e) and in the joint partition pi, and has

- the node's qualifying constraints, l S <= T <= u S for a mean, W l <= N <= W u for a weight;
- its Lagrange cuts, linearised at one end of the interval and evaluated at the other, one row per bound combination
  of each connected variable. With Steiner's identity they read, for p = l and p = u,

      theta_kj >= 1/2 sum_i w_i tau_ik [(x_ij - p)^2 - (u - l)^2] + the same of the prior's pseudo-observation;

- tangents of the convex rest: entropy, one epigraph variable omega_i per sample, and -(Kd/2) log e.

tau_iK = 1 - sum of the others is eliminated. Tangents are added in rounds at the solution of the linear program.
Where bound combinations are selected, a mixed-integer program with the cuts of both halves of each interval does so.
Every row is loosened by the rounding error of its own coefficients, so that what is proved about the linear program,
its bound or its infeasibility, holds for the node.
"""

import numpy as np

from libc.math cimport INFINITY, exp, fabs, log
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from gopfast.lp.lp cimport LP_OPTIMAL, LpStatus
from gopfast.lp.program cimport ProgramRelaxation, ProgramWorker
from gopfast.mixtures.families.family cimport order_components
from gopfast.mixtures.families.gaussian cimport GaussianFamily, GaussianModel
from gopfast.search.arena cimport Arena
from gopfast.search.relaxation cimport Effort, no_effort
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node, Tree, divisible, inside, node_choice, node_high, node_low, node_point
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport LP_FAILED, OK, clip, index, real

cdef int N_PRECISION_CUTS = 6       # tangents of -(Kd/2) log e that a node starts with
# Tangents touch at tau / pi within this range: vertical ones and huge coefficients help no simplex method.
cdef real LEAST_RATIO = 1e-8
cdef real GREATEST_RATIO = 1e6
# Below this a weight's Lagrange cut from its lower end has coefficients too large to be of use.
cdef real LEAST_WEIGHT = 1e-6
# A tangent is added where the linear program falls short of a sample's entropy by more than this share of what the
# node lacks to the cutoff, spread over all samples.
cdef real TANGENT_SHARE = 0.01
# Tangents that the pool keeps per sample at least.
cdef int LEAST_ROOM = 4
cdef real OUTWARD = 1e-12               # covers the rounding of the range of e, a quotient of sums of a few squares
cdef real ONE_POINT = 1e-9              # relative width of a range of e that one tangent serves
cdef real SWITCH_ROUNDING = 1 + 1e-9    # of a product of widths, for rows that prove nothing
cdef index MOST_ENTRIES = 2147483647    # of a matrix in HiGHS, whose indices are int


cdef inline real square(real x) noexcept nogil:
    return x * x


cdef inline real touching_ratio(real tau, real weight) noexcept nogil:
    """tau / pi where the tangent touches, within the limits that keep its coefficients finite."""
    return clip(tau / weight if weight > 0 else GREATEST_RATIO, LEAST_RATIO, GREATEST_RATIO)


cdef real tangent_value(int K, const real *tau, const real *weights, bint joint) noexcept nogil:
    """Entropy of a sample, sum_k tau log(tau / pi), as the tangent that touches there (or at the limit) sees it."""
    cdef int k
    cdef real total = 0, weight, ratio
    for k in range(K):
        weight = weights[k] if joint else 1
        ratio = touching_ratio(tau[k], weight)
        total += tau[k] * (log(ratio) + 1) - ratio * weight
    return total


cdef class CutPool:
    """Tangents of the entropy, valid on every node. Workers read it; it changes only between batches.

    Parameters
    ----------
    n_samples, n_components : int
    room : int
        Tangents kept per sample; the oldest makes place for a new one.
    joint : bool
        Weights are variables of the linear program (joint partition).
    """

    def __init__(self, int n_samples, int n_components, int room, bint joint):
        self.n_samples, self.n_components, self.room, self.joint = n_samples, n_components, room, joint
        self.n_added = np.zeros(n_samples, dtype=np.intp)
        self.ratios = np.zeros(n_samples * room * n_components)

    cdef int size(self, int i) noexcept nogil:
        """Number of tangents of sample i."""
        return <int> min(self.n_added[i], <index> self.room)

    cdef const real *at(self, int i, int slot) noexcept nogil:
        """The ratios tau_k / pi_k (K,) at which tangent `slot` of sample i touches."""
        return &self.ratios[(<index> i * self.room + slot) * self.n_components]

    cdef real value(self, int i, const real *tau, const real *weights) noexcept nogil:
        """What the pool knows about the entropy of sample i at a point."""
        cdef real best = 0 if self.joint else -INFINITY
        cdef real tangent
        cdef const real *ratio
        cdef int slot, k
        for slot in range(self.size(i)):
            ratio = self.at(i, slot)
            tangent = 0
            for k in range(self.n_components):
                tangent += tau[k] * (log(ratio[k]) + 1) - ratio[k] * (weights[k] if self.joint else 1)
            best = max(best, tangent)
        return best

    cdef void add(self, int i, const real *tau, const real *weights) noexcept nogil:
        """Takes the tangent of sample i that touches at a point, in place of the oldest where there is no room."""
        cdef int k
        cdef real *ratio = &self.ratios[(<index> i * self.room + self.n_added[i] % self.room) * self.n_components]
        for k in range(self.n_components):
            ratio[k] = touching_ratio(tau[k], weights[k] if self.joint else 1)
        self.n_added[i] += 1


cdef class LinearWorker(ProgramWorker):
    """The linear programs of one thread, and the tangent points that they found in this batch."""

    def __cinit__(self):
        self.found = NULL

    def __dealloc__(self):
        free(self.found)

    def __init__(self, LinearRelaxation relaxation, StopSignal stop, int number):
        cdef const GaussianModel *data = &relaxation.data.core
        cdef int N = <int> data.n_samples, K = data.n_components, d = data.n_features, Q = K * d
        cdef int prior = 1 if data.has_prior else 0
        # Entries of a row over all samples, and of the whole matrix
        cdef index dense = N * (<index> K - 1) + 2, n_tangents = N * (2 + <index> relaxation.pool.room)
        cdef index nnz = dense * (5 * Q + 4 * K) + N * <index> K + K + 2 * K * n_tangents + 2 * (N_PRECISION_CUTS + 1)
        cdef index n_switched = 6 * (Q + K) + K * K
        nnz = max(nnz, (dense + 1) * n_switched)
        if nnz >= MOST_ENTRIES:
            raise MemoryError("linear programs of this problem are too large")
        self.data, self.pool = relaxation.data, relaxation.pool
        self.N, self.K, self.d, self.n_means = N, K, d, Q
        self.n_connected = <int> relaxation.n_connected
        self.joint, self.envelope = not relaxation.paper_partition, relaxation.envelope
        self.max_rounds, self.patience = relaxation.max_rounds, relaxation.patience
        self.col_tau, self.col_pi = 0, N * (K - 1)
        self.col_theta = self.col_pi + K
        self.col_omega = self.col_theta + Q
        self.col_e = self.col_omega + N
        self.n_cols = self.col_e + 2 * prior
        self.switch_column = -1
        # In the paper's partition the multiplier W of sum_k pi_k = 1 leaves the constant -W.
        self.offset = 0 if self.joint else -data.total_weight
        self.begin(stop, number, <int> max(N + 1 + 5 * Q + 4 * K + n_tangents + N_PRECISION_CUTS + 1, n_switched),
                   <int> nnz, self.n_cols, self.n_connected if relaxation.selects else -1)
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

    # A node

    cdef void bound(self, Node *node, real cutoff, Effort *effort) noexcept nogil:
        """Linear programs of a node until it is fathomed, or tangents are no longer what keeps it open."""
        cdef real missing, short_of, tolerance = 0
        cdef LpStatus status
        cdef int attempt
        effort.n_subproblems += 1
        if self.milp is not None:
            node_choice(node, self.n_connected, 0)[0] = 0
        self.place_middle(node)
        if self.open() != OK or self.load(node) != OK:
            return
        for attempt in range(self.max_rounds):
            status = self.solve(node, cutoff, effort)
            if node.lower >= cutoff or status != LP_OPTIMAL:
                return
            self.read_solution()
            short_of = self.shortfall()
            self.place(node)
            missing = cutoff - node.lower
            tolerance = TANGENT_SHARE * missing / self.data.core.total_weight
            # With exact tangents the bound would stay below lower + short_of.
            if ((short_of < missing and short_of < self.patience * missing)
                    or attempt + 1 == self.max_rounds or self.stop.poll(self.number)):
                break
            self.soften(node_point(node, self.n_connected))
            if self.add_tangents(tolerance) != OK:
                break
        self.soften(node_point(node, self.n_connected))
        self.note(node, tolerance, self.tau)
        self.note(node, tolerance, self.soft)
        if self.milp is not None and node.branch >= 0:
            self.select(node, effort)

    cdef real proved(self) noexcept nogil:
        """Lower bound of the node that the program's duals prove, in nats."""
        cdef real W = -self.offset, bound = self.lp.safe_bound()
        return bound - W - 2 * ROUND * (fabs(bound) + 4 * W + fabs(bound - W))

    # The linear program of a node

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

    # The combination of halves with the least bound. Only its order of division is used, so nothing here is a proof.

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

    # Its solution

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

    cdef void place(self, Node *node) noexcept nogil:
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

    # Tangent points for the pool

    cdef index stride(self) noexcept nogil:
        """Doubles of a tangent point."""
        return 2 + self.N * self.K + self.K

    cdef void note(self, Node *node, real tolerance, const real *tau) noexcept nogil:
        """A tangent point for the pool: responsibilities (N, K), with the weights of the solution."""
        cdef index stride = self.stride()
        cdef real *grown
        if self.n_found == self.found_room:
            grown = <real *> realloc(self.found, 2 * (self.found_room + 8) * stride * sizeof(real))
            if grown == NULL:
                return
            self.found = grown
            self.found_room = 2 * (self.found_room + 8)
        grown = self.found + self.n_found * stride
        grown[0], grown[1] = node.serial, tolerance
        memcpy(grown + 2, tau, self.N * self.K * sizeof(real))
        memcpy(grown + 2 + self.N * self.K, self.weights, self.K * sizeof(real))
        self.n_found += 1


cdef class LinearRelaxation(ProgramRelaxation):
    """Lower bounds of a Gaussian mixture by linear programs: the paper's relaxed dual.

    Parameters
    ----------
    data : GaussianFamily
        With point masses as posterior.
    paper_partition : bool
        Connected variables are means and weights, as in the paper; otherwise the means alone.
    envelope : bool
        Adds the envelope of each connected variable's cost, which the paper does not have.
    batch_size : int
        Nodes partitioned between two exchanges of tangents.
    max_rounds : int
        Linear programs that one node may take.
    patience : float
        A node that tangents cannot fathom is left once they miss less than this fraction of what it lacks.
    max_cuts : int
        Tangents that the pool keeps.
    milp : bool
        Selects one bound combination for each node by a mixed-integer program, for a partition into orthants.
    """

    def __init__(self, GaussianFamily data, bint paper_partition=False, bint envelope=False, int batch_size=4,
                 int max_rounds=20, real patience=0.5, int max_cuts=1000, bint milp=False):
        cdef int K = data.core.n_components
        self.data = data
        self.paper_partition, self.envelope, self.selects = paper_partition, envelope, milp
        self.parallel_from = 2
        self.batch_size, self.max_rounds, self.patience, self.max_cuts = batch_size, max_rounds, patience, max_cuts
        self.n_connected = K * data.core.n_features + (K if paper_partition else 0)
        self.n_warm = 0
        self.workspaces = []

    cdef int prepare(self, int n_workers, StopSignal stop) except -1:
        cdef int N = <int> self.data.core.n_samples
        self.pool = CutPool(N, self.data.core.n_components, max(LEAST_ROOM, self.max_cuts // N),
                            not self.paper_partition)
        return ProgramRelaxation.prepare(self, n_workers, stop)

    cdef ProgramWorker worker(self, StopSignal stop, int number):
        return LinearWorker(self, stop, number)

    cdef void root(self, Node *node) noexcept nogil:
        cdef const GaussianModel *data = &self.data.core
        cdef int a, n_means = data.n_components * data.n_features
        cdef real *low = node_low(node)
        cdef real *high = node_high(node, self.n_connected)
        for a in range(self.n_connected):
            low[a] = data.low[a % data.n_features] if a < n_means else 0
            high[a] = data.high[a % data.n_features] if a < n_means else 1
            node_point(node, self.n_connected)[a] = low[a] + 0.5 * (high[a] - low[a])

    cdef int tighten(self, Node *node) noexcept nogil:
        """Components in order; weights within what the others leave them."""
        cdef int n_means = self.data.core.n_components * self.data.core.n_features
        cdef real *low = node_low(node)
        cdef real *high = node_high(node, self.n_connected)
        if not order_components(self.data.core.n_components, self.data.core.n_features, low, high):
            return 0
        return tighten_simplex(self.data.core.n_components, low + n_means, high + n_means) \
            if self.paper_partition else 1

    cdef void merged(self) noexcept nogil:
        """Takes the batch's tangent points into the pool, in node order, where the pool falls short of them."""
        cdef int worker, owner
        cdef index entry, at
        cdef real serial, last = -1
        while True:
            # A worker's points of one node stand together: one node at a time, oldest first.
            owner, at, serial = -1, 0, INFINITY
            for worker in range(self.n_workers):
                for entry in range((<LinearWorker> self.workers[worker]).n_found):
                    if last < self.serial(worker, entry) < serial:
                        owner, at, serial = worker, entry, self.serial(worker, entry)
            if owner < 0:
                break
            last = serial
            while at < (<LinearWorker> self.workers[owner]).n_found and self.serial(owner, at) == serial:
                self.take_in(owner, at)
                at += 1
        for worker in range(self.n_workers):
            (<LinearWorker> self.workers[worker]).n_found = 0

    def bound_box(self, low, high, real cutoff):
        """Lower bound, split point and branching variable of one box from cold, for tests."""
        cdef Tree tree = Tree(self.n_connected, self.n_warm, 0, self.selects)
        cdef Node *node = tree.new_node()
        cdef Effort effort = no_effort()
        cdef int a
        if node == NULL:
            raise MemoryError
        try:
            self.bound_alone(tree, node, low, high, cutoff, StopSignal(), &effort)
            return node.lower, [node_point(node, self.n_connected)[a] for a in range(self.n_connected)], node.branch
        finally:
            tree.free_node(node)

    cdef real serial(self, int worker, index entry) noexcept nogil:
        """Of the node that a worker's tangent point comes from."""
        return (<LinearWorker> self.workers[worker]).found[entry * (<LinearWorker> self.workers[worker]).stride()]

    cdef void take_in(self, int worker, index entry) noexcept nogil:
        """One tangent point, the tangents of those samples for which the pool falls short by its tolerance."""
        cdef int i, K = self.data.core.n_components, N = <int> self.data.core.n_samples
        cdef const real *point = (<LinearWorker> self.workers[worker]).found + entry * (
            <LinearWorker> self.workers[worker]).stride()
        cdef const real *tau = point + 2
        cdef const real *weights = tau + N * K
        cdef bint joint = not self.paper_partition
        for i in range(N):
            if tangent_value(K, tau + i * K, weights, joint) - self.pool.value(i, tau + i * K, weights) > point[1]:
                self.pool.add(i, tau + i * K, weights)


cdef bint tighten_simplex(int K, real *low, real *high) noexcept nogil:
    """Weights sum to 1: cuts each interval to what the others leave, rounded outward; 0: nothing is left."""
    cdef int k
    cdef real all_low = 0, all_high = 0, least, most, margin = 4 * (K + 2) * ROUND
    for k in range(K):
        all_low += low[k]
        all_high += high[k]
    if all_low > 1 + margin or all_high < 1 - margin:
        return 0
    for k in range(K):
        least = 1 - (all_high - high[k]) - margin * (1 + all_high)
        most = 1 - (all_low - low[k]) + margin * (1 + all_low)
        low[k], high[k] = max(low[k], least), min(high[k], most)
        if low[k] > high[k]:
            return 0
    return 1
