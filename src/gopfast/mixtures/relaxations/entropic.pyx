"""Entropic relaxed dual of a mixture, for any component family.

In a node every component has a cell. The family gives a linear minorant of the component costs over the cells and the
cells' facets, both linear in the statistics S_k = sum_i w_i tau_ik, T_k = sum_i w_i tau_ik phi(x_i). With
multipliers q >= 0 of the facets the costs c_ik = theta_k . (1, phi_i), theta = minorant - sum_r q_r facet_r, give a
relaxed dual subproblem whose minimum over responsibilities and weights bounds the node from below. The best q is found
by a primal-dual interior-point method on the complementarity problem

    0 <= pi_k  |  W - D_k >= 0,      0 <= q_r  |  facet_r(S, T) >= 0.

One data pass gives all of it, and its Jacobian, and a valid bound whatever the iterate (E3).

Theory: (E2), (E3), (E4), (E5), (E6), (E7) and (E8) of docs/theory/entropic.md; (I1) of docs/theory/many.md; (V1) of
docs/theory/proofs.md; (R1) of docs/theory/rounding.md.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, isfinite, log, sqrt
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from gopfast.mixtures.families.family cimport Facet, Family
from gopfast.mixtures.data.passes cimport PASS_HESSIAN, PASS_VALUE, pass_costs, pass_scratch_size, run_pass
from gopfast.mixtures.dense cimport (
    dense_backward, dense_factor, dense_forward, dense_gram, dense_times, dense_transposed_times
)
from gopfast.mixtures.relaxations.margins cimport MOST_MOVED, MOST_OF_FACETS
from gopfast.mixtures.relaxations.refinement cimport Refinement
from gopfast.mixtures.relaxations.subproblem cimport take_subproblem
from gopfast.mixtures.mixing.weights cimport (
    central_slack, centering, damped, least_slack, take_weights, weights_center, weights_complementarity,
    weights_complementarity_after, weights_corrector, weights_longest, weights_move, weights_predictor
)
from gopfast.mixtures.relaxations.tuning cimport (
    BACK, EARNED, ENTROPIC_PATIENCE as PATIENCE, ENTROPIC_SMALLEST as SMALLEST, FIRST_SLACK, FIXED, HOPELESS,
    INSIDE_CAP, LOSSES, MOST_FLOATS, MOST_MARGINS, MOST_RETREATS, REFINED_PATIENCE, SOLVED, TIE, WORSE
)
from gopfast.search.arena cimport Arena
from gopfast.search.relaxation cimport Effort, Relaxation
from gopfast.mixtures.data.samples cimport SampleSet, Samples, summary_shift, take_costs, take_sums
from gopfast.search.stop cimport StopSignal
from gopfast.search.tree cimport Node, Tree, divisible, node_high, node_low, node_point, node_warm
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport clip, index, real

# The stage of bounding a node that what is evaluated on summaries counts for; the samples' is the first one.
cdef enum:
    SUMMARISED = 3


cdef int lay_out(Arena arena, Newton *nt, Family family) except -1:
    """OUT: the arrays of a workspace."""
    cdef size_t K = family.n_components, F = family.n_statistics, Q = family.n_facets, m = K * (1 + F)
    while arena.again():
        take_subproblem(arena, family, &nt.sub)
        take_costs(arena, &nt.costs, K, family.n_columns, family.n_each)
        take_sums(arena, &nt.sums, K, F, PASS_HESSIAN)
        take_weights(arena, &nt.iterate, K)
        nt.scale, nt.mass = arena.take(K), arena.take(K)
        nt.q, nt.slack_q, nt.residual_q = arena.take(Q), arena.take(Q), arena.take(Q)
        nt.step_q, nt.step_t, nt.rhs_q = arena.take(Q), arena.take(Q), arena.take(Q)
        nt.push, nt.push_y = arena.take(Q), arena.take(Q)
        nt.excess_q, nt.step_y = arena.take(Q), arena.take(Q)
        nt.minorant, nt.coefficients, nt.size, nt.image = arena.take(m), arena.take(m), arena.take(m), arena.take(m)
        nt.covariance = arena.take(m * m)
        nt.B, nt.C = arena.take(K * Q), arena.take(Q * Q)
        nt.error, nt.more = arena.take(family.n_connected), arena.take(family.n_more)
        nt.scratch = arena.take(pass_scratch_size(K, F))
    return 0


cdef class EntropicRelaxation(Relaxation):
    """Lower bounds of a mixture on boxes of its connected variables.

    Parameters
    ----------
    family : Family
    max_passes : int
        Data passes that one node may take.
    patience : None or float
        A node that cannot be fathomed is left once its bound is known to this fraction of what it lacks.
    warm_mix, warm_least, warm_most : float
        A node starts from its parent's weights, mixed with equal ones by the first part, and from its parent's
        multipliers, kept within the other factors of typical ones. 1, 1, 1 is a cold start.

    n_split : int
        Then its cells are divided in so many of each component's variables, where the family allows it: `refinement`.
    n_again : int
        How often the parts may be divided again.
    refine_from : float
        Only where its bound lacks less than this part of what the minorants lose at the relaxed solution.
    again_below : float
        The same of the parts, where they are to be divided again.

    summaries : bool
        Whether nodes are bounded on summaries of many samples where these are fine enough.
    provable : bool
        Nodes hand on what `explain` reads, and are bounded by nothing else: by all samples, with undivided cells.

    Patience and warm start were chosen by passes: bench/results/warm_start.md.
    """

    def __init__(self, Family family, int max_passes=40, patience=None, real warm_mix=0.01, real warm_least=0.2,
                 real warm_most=5.0, int n_split=2, int n_again=3, real refine_from=0.6,
                 real again_below=0.3, bint summaries=True, bint provable=False):
        cdef int i
        cdef real[::1] low = np.empty(family.n_connected), high = np.empty(family.n_connected)
        self.family = family
        self.max_passes = max_passes
        self.warm_mix, self.warm_least, self.warm_most = warm_mix, warm_least, warm_most
        self.n_connected = family.n_connected
        self.n_warm = family.n_components + family.n_facets
        self.short_warm = self.n_warm > MOST_FLOATS and not provable
        self.provable = provable
        if self.short_warm:
            self.n_warm = (self.n_warm + 1) // 2
        elif provable:
            self.proof_at = self.n_warm
            # doubles: what proved the bound
            self.n_warm += 2 * (family.n_components * (2 + family.n_statistics) + family.n_more)
        self.batch_size, self.parallel_from = 16, 8
        self.workers = NULL
        self.refinement = None
        if family.divisible_cells and n_split and not provable:
            self.refinement = Refinement(family, n_split, n_again, again_below)
        self.refine_from = refine_from
        self.patience = patience if patience is not None else PATIENCE if self.refinement is None else REFINED_PATIENCE
        self.arenas = []
        levels = family.data.levels if summaries and not provable else []
        self.n_levels = 1 + len(levels)
        self.levels = <SampleSet *> calloc(self.n_levels, sizeof(SampleSet))
        self.losses = <real *> calloc(self.n_levels, sizeof(real))
        if self.levels == NULL or self.losses == NULL:
            raise MemoryError
        for i in range(self.n_levels - 1):
            self.levels[i] = (<Samples> levels[i]).core
        self.levels[self.n_levels - 1] = family.data.core
        family.root(&low[0], &high[0])
        self.widths = np.asarray(high) - np.asarray(low)
        columns = family.data.arrays()[0]
        self.first, self.last = columns.min(axis=1), columns.max(axis=1)

    def __dealloc__(self):
        free(self.workers)
        free(self.levels)
        free(self.losses)

    cdef int prepare(self, int n_workers, StopSignal stop) except -1:
        cdef int _worker
        self.stop = stop
        free(self.workers)
        self.workers = <Newton *> calloc(n_workers, sizeof(Newton))
        if self.workers == NULL:
            raise MemoryError
        if self.refinement is not None:
            self.refinement.prepare(n_workers, stop)
        self.arenas = [Arena() for _worker in range(n_workers)]
        for worker in range(n_workers):
            lay_out(self.arenas[worker], &self.workers[worker], self.family)
        return 0

    cdef void calibrate(self, const real *solution) noexcept nogil:
        """A level's loss at a good solution: the objective on the samples less that on the summary."""
        cdef Newton *nt = &self.workers[0]
        cdef int K = self.family.n_components, i
        cdef real value = 0
        if self.n_levels == 1:
            return
        self.family.costs(solution + K, &nt.costs)
        for i in range(self.n_levels - 1, -1, -1):
            run_pass(&self.levels[i].samples, K, &nt.costs, solution, PASS_VALUE, nt.scratch, &nt.sums)
            nt.sums.value += summary_shift(&self.levels[i], K, &nt.costs)
            if i == self.n_levels - 1:
                value = nt.sums.value
            self.losses[i] = max(0.0, value - nt.sums.value)

    def explain(self, const float[:, ::1] warm):
        """The affine functions below the costs that bounded nodes, for proofs.

        Parameters
        ----------
        warm : array, shape (L, n_warm)
            What the nodes hand on.

        Returns
        -------
        log_weights, constants : ndarray, shape (L, K)
        linear, quadratic : ndarray, shape (L, K, d)
            Coefficients of the columns and of their squares, in the core's units and order of columns.
        more : ndarray, shape (L, n_more)
            See `Family.more_slopes`.
        """
        cdef int K = self.family.n_components, d = self.family.n_columns, F = self.family.n_statistics
        cdef real[::1] low = np.empty(self.n_connected), high = np.empty(self.n_connected)
        if not self.provable or warm.shape[1] != self.n_warm:
            raise ValueError("only nodes of a provable relaxation can be explained")
        parts = np.ascontiguousarray(np.asarray(warm)[:, self.proof_at:]).view(np.float64)
        parts, more = parts[:, :K * (2 + F)].reshape(-1, K, 2 + F), parts[:, K * (2 + F):]
        if F > d:
            squares = parts[..., 2 + d:]
        else:  # the model's own
            if self.workers == NULL:
                self.prepare(1, StopSignal(INFINITY))
            self.family.root(&low[0], &high[0])
            self.open_node(&low[0], &high[0], &self.workers[0])
            squares = np.array(<real[:K * d]> self.workers[0].costs.quadratic).reshape(K, d)
            squares = np.broadcast_to(squares, (len(parts), K, d))
        return parts[..., 0], parts[..., 1], parts[..., 2:2 + d], squares, more

    def touching(self, point):
        """What a node of no width at parameters (n_connected,) hands on: `explain` has costs that touch theirs."""
        cdef real[::1] at = np.ascontiguousarray(point, dtype=np.float64)
        cdef real ignored[4]
        cdef index a, n = self.n_connected
        cdef int r
        cdef Tree tree = Tree(n, self.n_warm, self.n_split, self.selects)
        cdef Node *node = tree.new_node()
        if node == NULL:
            raise MemoryError
        if not self.provable or at.shape[0] != n:
            raise ValueError("only parameters of a provable relaxation can be touched")
        if self.workers == NULL:
            self.prepare(1, StopSignal(INFINITY))
        for a in range(n):
            node_low(node)[a] = node_high(node, n)[a] = at[a]
        self.open_node(&at[0], &at[0], &self.workers[0])
        for r in range(self.family.n_facets):
            self.workers[0].q[r] = 0
        self.combine(&self.workers[0], &ignored[0], &ignored[1], &ignored[2], &ignored[3])
        memset(node_warm(node, n), 0, self.n_warm * sizeof(float))
        self.keep_proof(node, &self.workers[0])
        found = np.array(<float[:self.n_warm]> node_warm(node, n))
        tree.free_node(node)
        return found

    def parts(self):
        """For tests: the parts that the cells of the last node were divided into, see `Refinement.parts`."""
        return self.refinement.parts()

    cdef int coarsest(self, real missing) noexcept nogil:
        """Coarsest level whose loss is small beside what the parent's bound misses to the cutoff."""
        cdef int i
        for i in range(self.n_levels - 1):
            if LOSSES * self.losses[i] <= missing:
                return i
        return self.n_levels - 1

    cdef void root(self, Node *node) noexcept nogil:
        cdef index a, n = self.n_connected
        self.family.root(node_low(node), node_high(node, n))
        for a in range(n):
            node_point(node, n)[a] = 0.5 * (node_low(node)[a] + node_high(node, n)[a])

    cdef int tighten(self, Node *node) noexcept nogil:
        return self.family.tighten(node_low(node), node_high(node, self.n_connected))

    cdef void open_node(self, const real *low, const real *high, Newton *nt) noexcept nogil:
        """The node's subproblem; its minorant's coefficients in one row; the iterate to start from."""
        cdef int K = self.family.n_components, d = self.family.n_columns, F = self.family.n_statistics, k, j, r
        cdef real W = self.family.data.core.total_weight
        cdef pass_costs *costs = &nt.sub.minorant
        cdef real *row = nt.minorant
        self.family.relax(low, high, &nt.sub)
        for k in range(K):
            row[0] = -costs.offsets[k]
            for j in range(d):
                row[1 + j] = costs.linear[k * d + j]
                if F > d:
                    row[1 + d + j] = costs.quadratic[k * d + j]
            row += 1 + F
            nt.iterate.weights[k] = 1.0 / K
            nt.iterate.slack[k] = FIRST_SLACK * W
        memcpy(nt.costs.centers, costs.centers, K * d * sizeof(real))
        memcpy(nt.costs.quadratic, costs.quadratic, K * d * sizeof(real))
        if self.family.n_each:
            memcpy(nt.costs.each, costs.each, K * self.family.n_each * sizeof(real))
        for r in range(self.family.n_facets):
            nt.q[r] = nt.sub.facets[r].multiplier if nt.sub.facets[r].active else 0
            nt.slack_q[r] = nt.excess_q[r] = nt.sub.facets[r].slack
        nt.length = 0

    cdef void warm_start(self, Node *node, Newton *nt) noexcept nogil:
        """The iterate to start from, by the parent's last one."""
        cdef int K = self.family.n_components, k
        cdef real usual
        for k in range(K):
            nt.iterate.weights[k] = (1 - self.warm_mix) * self.kept(node, k) + self.warm_mix / K
        for k in range(self.family.n_facets):
            usual = nt.q[k]
            nt.q[k] = max(self.warm_least * usual, min(self.warm_most * usual, self.kept(node, K + k)))
            if nt.sub.facets[k].cap < INFINITY:
                nt.q[k] = clip(nt.q[k], INSIDE_CAP * nt.sub.facets[k].cap, (1 - INSIDE_CAP) * nt.sub.facets[k].cap)

    cdef void keep(self, Node *node, Newton *nt) noexcept nogil:
        """The iterate's weights and multipliers, for the node's children to start from."""
        cdef int K = self.family.n_components, k
        for k in range(K):
            self.put(node, k, nt.iterate.weights[k])
        for k in range(self.family.n_facets):
            self.put(node, K + k, nt.q[k])

    cdef void keep_proof(self, Node *node, Newton *nt) noexcept nogil:
        """The weights and costs of the last pass, as functions of the columns; of each sample's what makes them."""
        cdef int K = self.family.n_components, d = self.family.n_columns, F = self.family.n_statistics, k, j
        cdef float *at = node_warm(node, self.n_connected) + self.proof_at
        cdef pass_costs *costs = &nt.costs
        cdef real constant, center, quadratic, linear
        for k in range(K):
            constant = nt.scale[k] - costs.offsets[k]
            for j in range(d):
                center, quadratic = costs.centers[k * d + j], costs.quadratic[k * d + j]
                linear = costs.linear[k * d + j]
                constant += center * (quadratic * center - linear)
                linear -= 2 * quadratic * center
                if self.family.n_each:
                    linear = center
                memcpy(at + 2 * (2 + j), &linear, sizeof(real))
                if F > d:
                    memcpy(at + 2 * (2 + d + j), &quadratic, sizeof(real))
            # what pairs of facets add to the costs the weights make up for: the responsibilities stay the same
            linear = log(max(nt.iterate.weights[k], SMALLEST)) + nt.scale[k]
            memcpy(at, &linear, sizeof(real))
            memcpy(at + 2, &constant, sizeof(real))
            at += 2 * (2 + F)
        if self.family.n_more:
            self.family.more_slopes(node_low(node), node_high(node, self.n_connected), &nt.sub, nt.q, nt.more)
            memcpy(at, nt.more, self.family.n_more * sizeof(real))

    cdef real kept(self, const Node *node, int i) noexcept nogil:
        """Weight or multiplier i that a node hands on."""
        cdef const float *warm = node_warm(<Node *> node, self.n_connected)
        cdef unsigned int bits
        cdef float value
        if not self.short_warm:
            return warm[i]
        bits = <unsigned int> (<const unsigned short *> warm)[i] << 16
        memcpy(&value, &bits, sizeof(float))
        return value

    cdef void put(self, Node *node, int i, real x) noexcept nogil:
        """Weight or multiplier i for the children."""
        cdef float *warm = node_warm(node, self.n_connected)
        cdef float value = <float> x
        cdef unsigned int bits
        if not self.short_warm:
            warm[i] = value
            return
        # the upper half of a float: 8 bits are enough to start from
        memcpy(&bits, &value, sizeof(float))
        (<unsigned short *> warm)[i] = <unsigned short> (bits >> 16)

    cdef real combine(self, Newton *nt, real *prior, real *constant, real *prior_size,
                      real *newton_prior) noexcept nogil:
        """Costs at the iterate: minorant less the facets times their multipliers; returns the constant's magnitude.

        What a pair of opposite facets has in common is taken out of both multipliers: that only raises the costs by a
        constant per component, so no second pass is needed. p_i stays the same and D_k is scaled.
        """
        cdef int K = self.family.n_components, d = self.family.n_columns, F = self.family.n_statistics, m = K * (1 + F)
        cdef int r, s, k, j
        cdef real q, common, size = fabs(nt.sub.constant), added
        cdef Facet *facet
        cdef real *row = nt.coefficients
        constant[0], prior[0], prior_size[0], newton_prior[0] = nt.sub.constant, nt.sub.prior, fabs(nt.sub.prior), 0
        for s in range(m):
            row[s] = nt.minorant[s]
            nt.size[s] = fabs(nt.minorant[s])
        for k in range(K):
            nt.scale[k] = 0
        for r in range(self.family.n_facets):
            facet, q = &nt.sub.facets[r], nt.q[r]
            if not facet.active:
                continue
            for s in range(facet.count):
                added = q * facet.coefficients[s]
                row[facet.first + s] -= added
                nt.size[facet.first + s] += fabs(added)
            constant[0] -= q * facet.constant
            prior[0] -= q * facet.prior
            size += fabs(q * facet.constant)
            prior_size[0] += fabs(q * facet.prior)
            if facet.paired and facet[1].active:
                common = min(q, nt.q[r + 1])
                constant[0] += common * (facet.constant + facet[1].constant)
                added = common * (facet.prior + facet[1].prior)
                prior[0] += added
                newton_prior[0] -= added
                s = 0
                while s < facet.count:
                    added = facet.coefficients[s] + facet[1].coefficients[s]
                    nt.scale[(facet.first + s) // (1 + F)] -= common * added
                    s += 1 + F
        newton_prior[0] += prior[0]
        for k in range(K):
            nt.costs.offsets[k] = -row[0]
            for j in range(d):
                nt.costs.linear[k * d + j] = row[1 + j]
                if F > d:
                    nt.costs.quadratic[k * d + j] = row[1 + d + j]
            row += 1 + F
        return size

    cdef real margin(self, const SampleSet *data, int k, Newton *nt) noexcept nogil:
        """Bound of the mean rounding error of component k's costs, relative to 1 as D_k sees it."""
        cdef int d = self.family.n_columns, F = self.family.n_statistics, j
        cdef real *size = nt.size + k * (1 + F)
        cdef real total = size[0], square, mass = nt.mass[k]
        for j in range(d):
            square = nt.sums.second[(k * F + j) * F + j] / mass if mass > 0 else 0
            total += size[1 + j] * sqrt(square)
            total += (size[1 + d + j] if F > d else fabs(nt.costs.quadratic[k * d + j])) * square
        return ROUND * (self.n_terms() * total + 16 * fabs(nt.scale[k]) + 1000)

    cdef int n_terms(self) noexcept nogil:
        """A coefficient is the sum of as many terms as facets touch the component; a cost has 2 d + 1 of them."""
        return self.family.n_facets // self.family.n_components + 2 * self.family.n_columns + 18

    cdef real farthest(self, int k, const Newton *nt, bint facets_alone) noexcept nogil:
        """Bound of the rounding error of component k's cost of any sample: of all terms, or those of facets alone."""
        cdef int d = self.family.n_columns, F = self.family.n_statistics, j
        cdef const real *size = nt.size + k * (1 + F)
        cdef const real *own = nt.minorant + k * (1 + F)
        cdef real less = 1 if facets_alone else 0, reach, square
        cdef real total = size[0] - less * fabs(own[0])
        for j in range(d):
            reach = nt.costs.centers[k * d + j]
            reach = max(fabs(self.first[j] - reach), fabs(self.last[j] - reach))
            total += (size[1 + j] - less * fabs(own[1 + j])) * reach
            if F > d:
                square = size[1 + d + j] - less * fabs(own[1 + d + j])
            else:
                square = 0 if facets_alone else fabs(nt.costs.quadratic[k * d + j])
            total += square * reach * reach
        if facets_alone:
            return ROUND * self.n_terms() * total
        return ROUND * (self.n_terms() * total + 16 * fabs(nt.scale[k]) + 1000)

    cdef real run(self, const SampleSet *data, Newton *nt) noexcept nogil:
        """The sums of a pass at the costs; returns what is to be added to their value."""
        cdef int K = self.family.n_components
        run_pass(&data.samples, K, &nt.costs, nt.iterate.weights, PASS_HESSIAN, nt.scratch, &nt.sums)
        return summary_shift(data, K, &nt.costs)

    cdef real evaluate(self, const SampleSet *data, Newton *nt, Effort *effort) noexcept nogil:
        """One data pass at the iterate (weights, q): residuals, and the bound that the pass proves."""
        cdef int K = self.family.n_components, k
        cdef real W = data.total_weight, constant, prior, prior_size, newton_prior, size, shift
        cdef real density, worst = -INFINITY, slack = 0, e, bound, term, moved = 0, farthest = 0
        cdef bint means  # of errors suffice: what the pass computed for a sample is nearly what is true
        cdef bint refused = False
        cdef pass_sums *sums = &nt.sums
        size = self.combine(nt, &prior, &constant, &prior_size, &newton_prior)
        shift = self.run(data, nt)
        effort.n_passes += 1
        effort.stages[0 if data == &self.levels[self.n_levels - 1] else SUMMARISED].terms += data.n_samples * K

        for k in range(K):
            moved = max(moved, self.farthest(k, nt, True))
        means = moved < MOST_MOVED
        nt.margin = 0
        for k in range(K):
            density = sums.density[k]
            nt.mass[k] = nt.iterate.weights[k] * density
            # Relative error of D_k: its costs' and the exponent's, up to 708 u; exponential, division, products and
            # sums below 100 u. 1 / s needs none: v = exp(c_min) / s is what Jensen takes, whatever its last digits.
            term = self.margin(data, k, nt) if means else self.farthest(k, nt, False)
            nt.margin += nt.mass[k] * term  # the same costs in the value
            farthest = max(farthest, term)
            refused = refused or moved > MOST_OF_FACETS * term
            # in logarithms: the tilt of a wide box is beyond the range of exp
            density = log(max(density, SMALLEST) / W)
            term += 8 * ROUND * (1 + fabs(density) + fabs(nt.scale[k]))
            if density + nt.scale[k] + term > worst:
                worst, slack = density + nt.scale[k] + term, term
        if not means:
            nt.margin = W * farthest  # a value moves by no more than its farthest cost, whatever the probabilities
        # Rounding of value: 8 u of |c_min| + |log s| per sample, 40 u from the lanes, 2 u compensated: 64 u covers it.
        nt.margin += (64 * ROUND + data.rounding) * (sums.magnitude - shift)
        nt.margin += (16 * ROUND + data.rounding) * W * (1 + fabs(worst))
        nt.margin += 64 * ROUND * size + self.family.constant_margin()
        # Jensen: sum_i w_i log(p'_i / p_i) <= W log max_k D_k / W for every p' in the simplex
        bound = sums.value + shift - W * worst + constant + self.family.constant - nt.margin
        nt.margin += W * slack
        e = 0
        if self.family.has_prior:
            e = min(nt.sub.e_high, max(nt.sub.e_low, self.family.e_power / prior if prior > 0 else nt.sub.e_high))
            term = e * prior - self.family.e_power * log(e)
            bound += term - 64 * ROUND * (e * prior_size + self.family.e_power * (1 + fabs(log(e))))
            e = self.family.e_power / newton_prior if newton_prior > 0 else nt.sub.e_high
            e = min(nt.sub.e_high, max(nt.sub.e_low, e))
        nt.excess = W * max(worst, 0.0)
        nt.e = e
        nt.curvature = e * e / self.family.e_power if nt.sub.e_low < e < nt.sub.e_high else 0
        for k in range(K):
            nt.iterate.residual[k] = W - sums.density[k]
        self.residuals(nt)
        # what a group's spread adds to a cost is not in the farthest sample's
        refused = not means and (refused or data != &self.levels[self.n_levels - 1])
        return bound if isfinite(bound) and not refused else -INFINITY

    cdef void residuals(self, Newton *nt) noexcept nogil:
        """Values of the facets at the iterate's statistics."""
        cdef int F = self.family.n_statistics, r, s, at
        cdef real value
        cdef Facet *facet
        for r in range(self.family.n_facets):
            facet = &nt.sub.facets[r]
            value = facet.constant + nt.e * facet.prior
            for s in range(facet.count):
                at = facet.first + s
                value += facet.coefficients[s] * (nt.mass[at // (1 + F)] if at % (1 + F) == 0
                                                  else nt.sums.first[at - at // (1 + F) - 1])
            nt.residual_q[r] = value

    cdef void assemble(self, Newton *nt) noexcept nogil:
        """Newton matrix [A, -B; B', C] in (d log weight, d q) from the pass's moments; C: upper triangle."""
        cdef int K = self.family.n_components, F = self.family.n_statistics, Q = self.family.n_facets
        cdef int f = 1 + F, m = K * f
        cdef int k, l, j, i, r, o, row, column
        cdef real value
        cdef pass_sums *sums = &nt.sums
        cdef real *M = nt.covariance
        cdef real *line
        cdef Facet *facet
        cdef Facet *other
        for row in range(m):
            for column in range(row, m):
                M[row * m + column] = -sums.gram[row * m + column]
        for k in range(K):
            for l in range(K):
                row, column = min(k, l) * f, max(k, l) * f
                nt.iterate.A[k * K + l] = sums.gram[row * m + column]
            nt.iterate.A[k * K + k] += nt.iterate.weights[k] * nt.iterate.slack[k]
            row = k * f
            M[row * m + row] += nt.mass[k]
            for j in range(F):
                M[row * m + row + 1 + j] += sums.first[k * F + j]
                for i in range(j, F):
                    M[(row + 1 + j) * m + row + 1 + i] += sums.second[(k * F + j) * F + i]
        for row in range(m):
            for column in range(row):
                M[row * m + column] = M[column * m + row]
        for r in range(Q):
            facet = &nt.sub.facets[r]
            if not facet.active:
                for k in range(K):
                    nt.B[k * Q + r] = 0
                for o in range(r):
                    nt.C[o * Q + r] = 0
                nt.C[r * Q + r] = FIXED
                continue
            for column in range(m):
                nt.image[column] = 0
            for i in range(facet.count):
                value = facet.coefficients[i]
                if value == 0:
                    continue
                line = M + (facet.first + i) * m
                for column in range(m):
                    nt.image[column] += value * line[column]
            for k in range(K):
                nt.B[k * Q + r] = nt.image[k * f]
            for o in range(r + 1):
                other = &nt.sub.facets[o]
                value = nt.curvature * facet.prior * other.prior
                for i in range(other.count):
                    value += other.coefficients[i] * nt.image[other.first + i]
                nt.C[o * Q + r] = value if other.active else 0
            nt.C[r * Q + r] += nt.slack_q[r] / nt.q[r]
            if facet.cap < INFINITY:
                nt.C[r * Q + r] += nt.excess_q[r] / (facet.cap - nt.q[r])

    cdef void factor(self, Newton *nt) noexcept nogil:
        """Block elimination: A = U'U, V = U'^-1 B in place of B, then the Schur complement C + V'V = U'U."""
        cdef int K = self.family.n_components, Q = self.family.n_facets
        dense_factor(K, nt.iterate.A)
        dense_forward(K, nt.iterate.A, Q, nt.B)
        dense_gram(K, Q, nt.B, nt.C)
        dense_factor(Q, nt.C)

    cdef void direction(self, Newton *nt) noexcept nogil:
        """Newton step for the right-hand sides rhs, rhs_q. OUT step (d log weight), step_q."""
        cdef int K = self.family.n_components, Q = self.family.n_facets, row
        memcpy(nt.iterate.step, nt.iterate.rhs, K * sizeof(real))
        dense_forward(K, nt.iterate.A, 1, nt.iterate.step)
        for row in range(Q):
            nt.step_q[row] = nt.rhs_q[row] if nt.sub.facets[row].active else 0
        dense_transposed_times(K, Q, nt.B, -1, nt.iterate.step, nt.step_q)
        dense_forward(Q, nt.C, 1, nt.step_q)
        dense_backward(Q, nt.C, nt.step_q)
        # A^-1 (rhs + B step_q) = U^-1 (U'^-1 rhs + V step_q)
        dense_times(K, Q, nt.B, nt.step_q, nt.iterate.step)
        dense_backward(K, nt.iterate.A, nt.iterate.step)

    cdef real longest(self, Newton *nt) noexcept nogil:
        """Longest step that keeps weights, multipliers and slacks positive; also fills the slack steps."""
        cdef int k
        cdef real most = weights_longest(&nt.iterate), left
        for k in range(self.family.n_facets):
            if not nt.sub.facets[k].active:
                nt.step_t[k] = 0
                continue
            nt.step_t[k] = nt.push[k] - nt.slack_q[k] - nt.slack_q[k] / nt.q[k] * nt.step_q[k]
            left = nt.sub.facets[k].cap - nt.q[k]
            if left < INFINITY:
                nt.step_y[k] = nt.push_y[k] - nt.excess_q[k] + nt.excess_q[k] / left * nt.step_q[k]
                if nt.step_q[k] > 0:
                    most = min(most, left / nt.step_q[k])
                if nt.step_y[k] < 0:
                    most = min(most, -nt.excess_q[k] / nt.step_y[k])
            if nt.step_q[k] < 0:
                most = min(most, -nt.q[k] / nt.step_q[k])
            if nt.step_t[k] < 0:
                most = min(most, -nt.slack_q[k] / nt.step_t[k])
        return most

    cdef void newton(self, Newton *nt, real mu, int n) noexcept nogil:
        """One predictor-corrector step of the interior-point method, as of the weights alone (`weights_newton`)."""
        cdef int Q = self.family.n_facets, k
        cdef real length, affine, target, left
        self.assemble(nt)
        self.factor(nt)
        weights_predictor(&nt.iterate)
        for k in range(Q):
            nt.push[k] = nt.push_y[k] = 0
            nt.rhs_q[k] = -nt.residual_q[k]
        self.direction(nt)
        length = min(1.0, self.longest(nt))
        affine = weights_complementarity_after(&nt.iterate, length)
        for k in range(Q):
            if nt.sub.facets[k].active:
                affine += (nt.q[k] + length * nt.step_q[k]) * (nt.slack_q[k] + length * nt.step_t[k])
                left = nt.sub.facets[k].cap - nt.q[k]
                if left < INFINITY:
                    affine += (left - length * nt.step_q[k]) * (nt.excess_q[k] + length * nt.step_y[k])
        target = centering(affine, mu, n)
        weights_corrector(&nt.iterate, target)
        for k in range(Q):
            if nt.sub.facets[k].active:
                nt.push[k] = (target - nt.step_q[k] * nt.step_t[k]) / nt.q[k]
                left = nt.sub.facets[k].cap - nt.q[k]
                if left < INFINITY:
                    nt.push_y[k] = (target + nt.step_q[k] * nt.step_y[k]) / left
                nt.rhs_q[k] = nt.push[k] - nt.push_y[k] - nt.residual_q[k]
        self.direction(nt)
        length = damped(self.longest(nt))
        weights_move(&nt.iterate, length)
        for k in range(Q):
            if nt.sub.facets[k].active:
                nt.q[k] += length * nt.step_q[k]
                nt.slack_q[k] += length * nt.step_t[k]
                if nt.sub.facets[k].cap < INFINITY:
                    nt.excess_q[k] += length * nt.step_y[k]
        nt.length = length

    cdef real complementarity(self, Newton *nt) noexcept nogil:
        """Sum of all products that are 0 at the solution."""
        cdef int k
        cdef real total = weights_complementarity(&nt.iterate)
        for k in range(self.family.n_facets):
            if nt.sub.facets[k].active:
                total += nt.q[k] * nt.slack_q[k]
                if nt.sub.facets[k].cap < INFINITY:
                    total += (nt.sub.facets[k].cap - nt.q[k]) * nt.excess_q[k]
        return total

    cdef void center_slacks(self, Newton *nt, real mu) noexcept nogil:
        """Slacks follow the residuals, as `central_slack` says; a capped multiplier has one on either side."""
        cdef int k
        weights_center(&nt.iterate, mu)
        for k in range(self.family.n_facets):
            if nt.sub.facets[k].active:
                if nt.sub.facets[k].cap < INFINITY:
                    nt.slack_q[k] = max(nt.residual_q[k], least_slack(mu, nt.q[k]))
                    nt.excess_q[k] = max(-nt.residual_q[k], least_slack(mu, nt.sub.facets[k].cap - nt.q[k]))
                else:
                    nt.slack_q[k] = central_slack(nt.residual_q[k], mu, nt.q[k])

    cdef bint weights(self, Node *node, real *out) noexcept nogil:
        cdef int k
        for k in range(self.family.n_components):
            out[k] = self.kept(node, k)
        return True

    cdef real choose_split(self, Node *node, Newton *nt) noexcept nogil:
        """Where to split every connected variable, and the one with the largest envelope error to branch on.

        Returns what the minorants lose at the iterate, in all variables that can be split.
        """
        cdef index a, n = self.n_connected
        cdef real *low = node_low(node)
        cdef real *high = node_high(node, n)
        cdef real most = -1, total = 0
        self.family.split_points(low, high, &nt.sub, nt.mass, nt.sums.first, nt.e, node_point(node, n), nt.error)
        node.branch = -1
        for a in range(n):
            if not divisible(low[a], high[a]):
                continue
            total += nt.error[a]
            if nt.error[a] > most * (1 - TIE):  # of tied variables the last
                most = nt.error[a]
                node.branch = a
        return total

    cdef void retreat(self, Newton *nt, real keep) noexcept nogil:
        """Goes back along the last step to the part `keep` of it."""
        cdef int K = self.family.n_components, Q = self.family.n_facets, k
        cdef real full = nt.length, part = keep * nt.length
        for k in range(K):
            nt.iterate.weights[k] *= (1 + part * nt.iterate.step[k]) / (1 + full * nt.iterate.step[k])
            nt.iterate.slack[k] -= (full - part) * nt.iterate.step_s[k]
        for k in range(Q):
            if nt.sub.facets[k].active:
                nt.q[k] -= (full - part) * nt.step_q[k]
                nt.slack_q[k] -= (full - part) * nt.step_t[k]
                if nt.sub.facets[k].cap < INFINITY:
                    nt.excess_q[k] -= (full - part) * nt.step_y[k]
        nt.length = part

    cdef void bound(self, Node *node, real cutoff, int worker, Effort *effort) noexcept nogil:
        cdef int Q = self.family.n_facets, k, n, iteration
        cdef int level = self.n_levels - 1 if effort.last else self.coarsest(cutoff - node.lower)
        cdef Newton *nt = &self.workers[worker]
        cdef real bound, mu, gap, least, lost, last_gap = INFINITY
        cdef int retreats = 0
        cdef bint rounded
        effort.n_subproblems += 1
        effort.stages[SUMMARISED].calls += level < self.n_levels - 1
        self.open_node(node_low(node), node_high(node, self.n_connected), nt)
        if node.parent >= 0:
            self.warm_start(node, nt)
        n = self.family.n_components
        for k in range(Q):
            if nt.sub.facets[k].active:
                n += 2 if nt.sub.facets[k].cap < INFINITY else 1
        for iteration in range(self.max_passes):
            bound = self.evaluate(&self.levels[level], nt, effort)
            lost = self.choose_split(node, nt)
            effort.margin = nt.margin
            self.keep(node, nt)
            if self.provable and bound > node.lower:
                self.keep_proof(node, nt)
            node.lower = max(node.lower, bound)
            if node.lower >= cutoff:
                effort.stages[SUMMARISED].closed += level < self.n_levels - 1
                return
            mu = self.complementarity(nt) / n
            self.center_slacks(nt, mu)
            gap = nt.excess
            for k in range(Q):
                if nt.sub.facets[k].active:
                    if nt.sub.facets[k].cap < INFINITY and nt.residual_q[k] < 0:
                        gap += (nt.sub.facets[k].cap - nt.q[k]) * -nt.residual_q[k]
                    else:
                        gap += nt.q[k] * fabs(nt.residual_q[k])
            mu = self.complementarity(nt)
            if iteration > 0 and gap > WORSE * last_gap and retreats < MOST_RETREATS:
                retreats += 1
                self.retreat(nt, BACK)
                continue
            last_gap = gap
            retreats = 0
            if self.stop.poll(worker):
                return
            if not isfinite(gap):
                break
            rounded = lost < HOPELESS * nt.margin and cutoff - bound < MOST_MARGINS * nt.margin
            least = EARNED * nt.margin if effort.last or rounded else self.patience * (cutoff - bound)
            least = max(SOLVED * (1 + fabs(bound)), least)
            if iteration > 0 and bound + gap < cutoff and gap < least:
                # not to be fathomed on this level; on a finer one if its loss is what misses
                if level == self.n_levels - 1 or bound + gap + 2 * self.losses[level] < cutoff:
                    effort.estimate = bound + gap + lost + (self.losses[level] if level < self.n_levels - 1 else 0)
                    if rounded:
                        node.branch = -1
                    elif lost < HOPELESS * nt.margin:
                        self.halve(node)  # the relaxed solution is as good as the bound says, wherever it is split
                    if self.refinement is not None:
                        self.refine(node, cutoff, worker, level, effort)
                    return
                level += 1
                last_gap = INFINITY
            self.newton(nt, mu / n, n)
        for k in range(self.family.n_components):
            self.put(node, k, 1.0 / self.family.n_components)  # not solved: children start from equal weights
        self.halve(node)

    cdef void refine(self, Node *node, real cutoff, int worker, int level, Effort *effort) noexcept nogil:
        """Raises the bound of a node by dividing its cells, where that may fathom it."""
        cdef Newton *nt = &self.workers[worker]
        cdef index a, n = self.n_connected
        cdef real total = 0
        for a in range(n):
            total += nt.error[a]
        if cutoff - node.lower < self.refine_from * total:
            node.lower = max(node.lower, self.refinement.bound(
                worker, &self.levels[level], node_low(node), node_high(node, n), node_point(node, n), nt.error,
                &nt.sub, nt.q, nt.iterate.weights, cutoff, effort))

    cdef void halve(self, Node *node) noexcept nogil:
        """Split of a node whose iterate does not say where: the widest side, in its middle."""
        cdef index n = self.n_connected, a
        cdef real width = 0, side
        for a in range(n):
            side = node_high(node, n)[a] - node_low(node)[a]
            if divisible(node_low(node)[a], node_high(node, n)[a]) and side > width * self.widths[a]:
                width = side / self.widths[a]
                node.branch = a
                node_point(node, n)[a] = node_low(node)[a] + 0.5 * side
