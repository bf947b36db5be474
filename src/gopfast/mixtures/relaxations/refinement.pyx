"""A node's bound with every cell divided into parts, its multipliers kept.

In a solution each component lies in one part of its cell. Allow it to be a mixture over the parts: with the cost of a
part, linear by the part's own minorant less the node's facets times their multipliers q >= 0,

    c_iks = minorant_ks . (1, phi_i) - sum_r q_r facet_r . (1, phi_i),

every solution of the node costs at least min over pi of - sum_i w_i log sum_ks pi_ks exp(-c_iks): take the pi that
gives each component's weight to the part it lies in. The parts add up over the components, where the descendants of a
node multiply: one such bound is nearly that of all combinations of parts. Any pi proves, by Jensen's inequality,

    - sum_i w_i log p_i - W log max_ks D_ks / W,

and its first term plus W (sum pi - 1) is at least the minimum, so that a vain attempt ends at once. A multiplier with a
cap weighs two minorants of the cell; the minorants of a part take the same shares.

Where that fails by less than what the parts' minorants lose at these pi, the parts that lose most are divided in two,
each in the variable and at the point that suit it, and so on. Any part of a part's cell is one of the component's cell:
what was said of the parts holds for their parts. The smaller they are, the less the facets have to tell, so that each
division keeps only a part of the multipliers, which may be any.

Theory: (D1), (D2), (D3), (D4) and (D5) of docs/theory/divided_cells.md.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, isfinite, log
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from gopfast.mixtures.families.family cimport Facet, Family
from gopfast.mixtures.data.passes cimport (
    PASS_AGAIN, PASS_KEEP, PASS_MOMENTS, PASS_WEIGHTS, pass_kept_size, pass_level, pass_scratch_size, run_pass
)
from gopfast.mixtures.relaxations.margins cimport MEAN_ROUNDING
from gopfast.mixtures.relaxations.tuning cimport (
    HOPE, KEPT, LEAST_START, MOST_DIVIDED, MOST_KEPT, MOST_PARTS, MOST_PASSES, REFINEMENT_LEAST_SHARE as LEAST_SHARE,
    REFINEMENT_SMALLEST as SMALLEST, SPLIT_MARGIN
)
from gopfast.search.meter cimport Work
from gopfast.search.relaxation cimport Effort
from gopfast.mixtures.data.samples cimport SampleSet, Samples, summary_shift, take_costs, take_sums
from gopfast.search.arena cimport Arena
from gopfast.search.rounding cimport ROUND
from gopfast.search.stop cimport StopSignal, clock
from gopfast.search.tree cimport divisible
from gopfast.search.types cimport index, real
from gopfast.mixtures.relaxations.subproblem cimport take_subproblem
from gopfast.mixtures.mixing.weights cimport take_weights, weights_newton, weights_start

# Stages of bounding a node: its cells divided, and their parts divided again.
cdef enum:
    DIVIDED = 1
    DIVIDED_AGAIN = 2


cdef class Refinement:
    """Bounds of nodes with each component's cell divided in its worst `n_split` connected variables.

    Parameters
    ----------
    family : Family
        Whose minorants and facets each hold one component's statistics only (`divisible_cells`).
    n_split : int
        A cell has up to 2^n_split parts.
    n_again : int
        How often parts may be divided again.
    again_below : float
        If what the bound misses is at most this part of what the parts' minorants lose at their weights.
    """

    def __init__(self, Family family, int n_split, int n_again, real again_below):
        self.family, self.n_split, self.n_again, self.again_below = family, n_split, n_again, again_below
        self.n_parts = 1 << n_split
        self.most_parts = family.n_components * self.n_parts
        if n_again and self.most_parts < MOST_PARTS:
            self.most_parts = min(MOST_PARTS, MOST_DIVIDED * self.most_parts)
        self.workers = NULL
        self.arenas = []
        cdef Py_ssize_t n_padded
        largest = np.zeros(family.n_columns)
        self.most_kept = 0
        for data in [family.data, *family.data.levels]:
            n_padded = (<Samples> data).core.samples.n_padded
            if n_padded <= MOST_KEPT:
                self.most_kept = max(self.most_kept, n_padded)
            largest = np.maximum(largest, np.abs(data.arrays()[0]).max(axis=1))
        self.largest = largest

    def __dealloc__(self):
        free(self.workers)

    cdef int prepare(self, int n_workers, StopSignal stop) except -1:
        cdef int _worker
        self.stop = stop
        free(self.workers)
        self.workers = <Parts *> calloc(n_workers, sizeof(Parts))
        if self.workers == NULL:
            raise MemoryError
        self.arenas = [Arena() for _worker in range(n_workers)]
        for worker in range(n_workers):
            self.lay_out(self.arenas[worker], &self.workers[worker])
        return 0

    cdef int lay_out(self, Arena arena, Parts *at) except -1:
        """OUT: the arrays of a workspace."""
        cdef size_t K = self.family.n_components, d = self.family.n_columns, F = self.family.n_statistics
        cdef size_t P = self.most_parts, n = self.family.n_connected, n_cell = self.family.n_cell
        while arena.again():
            take_subproblem(arena, self.family, &at.sub)
            take_costs(arena, &at.costs, P, d)
            take_sums(arena, &at.sums, P, F, PASS_WEIGHTS)
            at.sums.first, at.sums.second = arena.take(P * F), arena.take(P * F * F)
            take_weights(arena, &at.iterate, P)
            at.low, at.high, at.split = arena.take(n), arena.take(n), arena.take(K * self.n_split)
            at.variable = <index *> arena.take_bytes(K * self.n_split * sizeof(index))
            at.first = <int *> arena.take_bytes((K + 1) * sizeof(int))
            at.cells, at.divided = arena.take(2 * P * n_cell), arena.take(2 * P * n_cell)
            at.mass, at.moments, at.weights = arena.take(K), arena.take(K * F), arena.take(P)
            at.point, at.error = arena.take(n), arena.take(n)
            at.place, at.loss = arena.take(P), arena.take(P)
            at.side = <int *> arena.take_bytes(P * sizeof(int))
            at.size = arena.take(P * (1 + F))
            at.scratch = arena.take(pass_scratch_size(P, F) + pass_kept_size(self.most_kept, P))
        return 0

    cdef int divide(self, Parts *at, const real *low, const real *high, const real *point,
                    const real *error) noexcept nogil:
        """OUT: variable and split of every component, by the largest errors; returns how many there are."""
        cdef int k, i, j, found = 0, n = self.family.n_cell
        cdef index a, best
        cdef real margin
        cdef bint used
        for k in range(self.family.n_components):
            for i in range(self.n_split):
                best = -1
                for a in range(k * n, (k + 1) * n):
                    used = False
                    for j in range(i):
                        used = used or at.variable[k * self.n_split + j] == a
                    if not used and error[a] > 0 and (best < 0 or error[a] > error[best]):
                        best = a
                at.variable[k * self.n_split + i] = best
                if best >= 0:
                    margin = SPLIT_MARGIN * (high[best] - low[best])
                    at.split[k * self.n_split + i] = min(high[best] - margin, max(low[best] + margin, point[best]))
                    found += 1
        return found

    cdef void begin(self, Parts *at, const real *low, const real *high, const real *weights) noexcept nogil:
        """OUT: the parts of all cells by `divide`, and weights to start from."""
        cdef int K = self.family.n_components, n = self.family.n_cell, k, part, i, made = 0, n_parts
        cdef index a
        cdef real *cell = at.cells
        at.first[0] = 0
        for k in range(K):
            n_parts = 1
            for i in range(self.n_split):
                if at.variable[k * self.n_split + i] >= 0:
                    n_parts *= 2
            for part in range(n_parts):  # variables that are not divided come last
                memcpy(cell, low + k * n, n * sizeof(real))
                memcpy(cell + n, high + k * n, n * sizeof(real))
                for i in range(self.n_split):
                    a = at.variable[k * self.n_split + i] - k * n
                    if a < 0:
                        break
                    if part >> i & 1:
                        cell[a] = max(cell[a], at.split[k * self.n_split + i])
                    else:
                        cell[n + a] = min(cell[n + a], at.split[k * self.n_split + i])
                at.iterate.weights[made] = max(weights[k], LEAST_START) / n_parts
                made += 1
                cell += 2 * n
            at.first[k + 1] = made
        at.iterate.n = made

    cdef bint choose(self, Parts *at, int number) noexcept nogil:
        """OUT low, high: a box of part `number` of every component, its last one where it has fewer; False: all do."""
        cdef int n = self.family.n_cell, k, p
        cdef bint found = False
        for k in range(self.family.n_components):
            p = at.first[k] + number
            if p < at.first[k + 1]:
                found = True
            else:
                p = at.first[k + 1] - 1
            memcpy(at.low + k * n, at.cells + 2 * n * p, n * sizeof(real))
            memcpy(at.high + k * n, at.cells + 2 * n * p + n, n * sizeof(real))
        return found

    cdef real examine(self, Parts *at, const SampleSet *data) noexcept nogil:
        """OUT side, place, loss: in which variable of its cell and where to divide every part, and what its minorant
        loses in that at the weights. Returns what all lose in all variables.
        """
        cdef int K = self.family.n_components, F = self.family.n_statistics, n = self.family.n_cell, number = 0, k, p, a
        cdef real total = 0, margin
        run_pass(&data.samples, at.iterate.n, &at.costs, at.iterate.weights,
                 <pass_level> (PASS_MOMENTS | self.kept_of(data, False)), at.scratch, &at.sums)
        while self.choose(at, number):
            self.family.relax(at.low, at.high, &at.sub)
            for k in range(K):
                p = min(at.first[k] + number, at.first[k + 1] - 1)
                at.mass[k] = at.iterate.weights[p] * at.sums.density[p]
                memcpy(at.moments + k * F, at.sums.first + p * F, F * sizeof(real))
            self.family.split_points(at.low, at.high, &at.sub, at.mass, at.moments, 0.0, at.point, at.error)
            for k in range(K):
                p = at.first[k] + number
                if p >= at.first[k + 1]:
                    continue
                at.side[p], at.loss[p] = -1, 0
                for a in range(k * n, (k + 1) * n):
                    if not divisible(at.low[a], at.high[a]):
                        continue
                    total += at.error[a]
                    if at.error[a] > at.loss[p]:
                        margin = SPLIT_MARGIN * (at.high[a] - at.low[a])
                        at.side[p], at.loss[p] = a - k * n, at.error[a]
                        at.place[p] = min(at.high[a] - margin, max(at.low[a] + margin, at.point[a]))
            number += 1
        return total

    cdef bint divide_again(self, Parts *at, real least) noexcept nogil:
        """Divides the parts that lose more than `least` in two; False: there are none, or too many."""
        cdef int K = self.family.n_components, n = self.family.n_cell, k, p, made = 0, end, a
        cdef real *cell = at.divided
        for p in range(at.iterate.n):
            made += 2 if at.loss[p] > least else 1
        if made == at.iterate.n or made > self.most_parts:
            return False
        made = p = 0
        for k in range(K):
            end = at.first[k + 1]
            while p < end:
                memcpy(cell, at.cells + 2 * n * p, 2 * n * sizeof(real))
                at.weights[made] = at.iterate.weights[p]
                if at.loss[p] > least:
                    a = at.side[p]
                    memcpy(cell + 2 * n, cell, 2 * n * sizeof(real))
                    cell[n + a] = cell[2 * n + a] = at.place[p]
                    at.weights[made] *= 0.5
                    at.weights[made + 1] = at.weights[made]
                    made += 1
                    cell += 2 * n
                made += 1
                cell += 2 * n
                p += 1
            at.first[k + 1] = made
        memcpy(at.cells, at.divided, 2 * n * made * sizeof(real))
        memcpy(at.iterate.weights, at.weights, made * sizeof(real))
        at.iterate.n = made
        return True

    def parts(self):
        """For tests: the parts of the last node's cells, an array (n, 2, n_cell) of their corners per component."""
        cdef Parts *at = &self.workers[0]
        cells = np.array(<real[:2 * self.family.n_cell * at.iterate.n]> at.cells).reshape(-1, 2, self.family.n_cell)
        return [cells[at.first[k]:at.first[k + 1]] for k in range(self.family.n_components)]

    cdef void load(self, Parts *at, const Subproblem *sub, const real *q, real kept) noexcept nogil:
        """OUT costs, size: of all parts."""
        cdef int number = 0
        while self.choose(at, number):
            self.family.relax(at.low, at.high, &at.sub)
            self.combine(at, sub, q, kept, number)
            number += 1

    cdef void combine(self, Parts *at, const Subproblem *sub, const real *q, real kept, int number) noexcept nogil:
        """OUT costs, size: of part `number` of every component that has one, from `at.sub` and the node's facets and
        multipliers, of which so much is kept.
        """
        cdef int K = self.family.n_components, d = self.family.n_columns, F = self.family.n_statistics, k, j, r, s, p
        cdef int inner
        cdef real weight, delta, value
        cdef const Facet *facet
        cdef const real *center
        cdef real *size
        cdef const pass_costs *minorant = &at.sub.minorant
        cdef pass_costs *costs = &at.costs
        for k in range(K):
            p = at.first[k] + number
            if p >= at.first[k + 1]:
                continue
            size = at.size + p * (1 + F)
            costs.offsets[p] = minorant.offsets[k]
            size[0] = fabs(minorant.offsets[k])
            for j in range(d):
                costs.centers[p * d + j] = minorant.centers[k * d + j]
                costs.linear[p * d + j] = minorant.linear[k * d + j]
                costs.quadratic[p * d + j] = minorant.quadratic[k * d + j]
                size[1 + j] = fabs(minorant.linear[k * d + j])
                if F > d:
                    size[1 + d + j] = fabs(minorant.quadratic[k * d + j])
        for r in range(self.family.n_facets):
            # what a pair has in common only lowers the costs
            weight = q[r]
            facet, center = &sub.facets[r], sub.minorant.centers
            if not facet.active:
                continue
            if facet.cap < INFINITY:
                weight = min(1.0, weight / facet.cap)
                facet, center = &at.sub.facets[r], minorant.centers
                if not facet.active:
                    continue
                weight *= facet.cap
            elif facet.paired and sub.facets[r + 1].active:
                weight -= min(weight, q[r + 1])
            elif r > 0 and sub.facets[r - 1].paired and sub.facets[r - 1].active:
                weight -= min(weight, q[r - 1])
            if facet.cap == INFINITY:
                weight *= kept
            if weight <= 0:
                continue
            k = facet.first // (1 + F)  # of this component only
            p = at.first[k] + number
            if p >= at.first[k + 1]:
                continue
            size = at.size + p * (1 + F)
            for s in range(facet.count):
                inner, value = s % (1 + F), weight * facet.coefficients[s]
                if value == 0:
                    continue
                if inner == 0:
                    costs.offsets[p] += value
                    size[0] += fabs(value)
                elif inner <= d:
                    # (x - center) = (x - center of the part) + delta
                    j = inner - 1
                    delta = minorant.centers[k * d + j] - center[k * d + j]
                    costs.linear[p * d + j] -= value
                    costs.offsets[p] += value * delta
                    size[1 + j] += fabs(value)
                    size[0] += fabs(value) * (fabs(minorant.centers[k * d + j]) + fabs(center[k * d + j]))
                else:
                    j = inner - 1 - d
                    delta = minorant.centers[k * d + j] - center[k * d + j]
                    costs.quadratic[p * d + j] -= value
                    costs.linear[p * d + j] -= 2 * value * delta
                    costs.offsets[p] += value * delta * delta
                    delta = fabs(minorant.centers[k * d + j]) + fabs(center[k * d + j])
                    size[1 + d + j] += fabs(value)
                    size[1 + j] += 2 * fabs(value) * delta
                    size[0] += fabs(value) * delta * delta

    cdef int kept_of(self, const SampleSet *data, bint first) noexcept nogil:
        """What is added to the level of a pass, the first of its costs or another."""
        if data.samples.n_padded > self.most_kept:
            return 0
        return PASS_KEEP if first else PASS_AGAIN

    cdef real evaluate(self, Parts *at, const SampleSet *data, bint first, real *most) noexcept nogil:
        """One data pass at the weights, the first of these costs or another: the bound that it proves.

        OUT most: what no weights exceed; residuals.
        """
        cdef int P = at.iterate.n, d = self.family.n_columns, F = self.family.n_statistics, p, j
        cdef real W = data.total_weight, worst = -INFINITY, margin = 0, sum_weights = 0, total, x, term, density, shift
        cdef real value
        cdef int n_terms = 3 * (self.family.n_facets // self.family.n_components) + d + 32
        cdef const real *size
        run_pass(&data.samples, P, &at.costs, at.iterate.weights,
                 <pass_level> (PASS_WEIGHTS | self.kept_of(data, first)), at.scratch, &at.sums)
        shift = summary_shift(data, P, &at.costs)
        for p in range(P):
            size, density = at.size + p * (1 + F), at.sums.density[p]
            # rounding of a cost, as in EntropicRelaxation.margin, but for the farthest sample
            total = size[0]
            for j in range(d):
                x = self.largest[j] + fabs(at.costs.centers[p * d + j])
                total += size[1 + j] * x + (size[1 + d + j] if F > d else fabs(at.costs.quadratic[p * d + j])) * x * x
            term = ROUND * (n_terms * total + 1000)
            margin = max(margin, term)
            at.iterate.residual[p] = W - density
            sum_weights += at.iterate.weights[p]
            density = log(max(density, SMALLEST) / W)
            worst = max(worst, density + term + 8 * ROUND * (1 + fabs(density)))
        # the weighted mean of the terms is at most the largest times sum_ks pi_ks D_ks = W
        margin = margin * W * MEAN_ROUNDING
        margin += (64 * ROUND + data.rounding) * (at.sums.magnitude - shift)
        margin += (16 * ROUND + data.rounding) * W * (1 + fabs(worst))
        margin += self.family.constant_margin()
        value = at.sums.value + shift + self.family.constant
        most[0] = value + W * (sum_weights - 1)
        # sum_i w_i log(p'_i / p_i) <= W log max D / W for every p' in the simplex
        value -= W * worst + margin
        return value if isfinite(value) else -INFINITY

    cdef real bound(self, int worker, const SampleSet *data, const real *low, const real *high, const real *point,
                    const real *error, const Subproblem *sub, const real *q, const real *weights, real cutoff,
                    Effort *effort) noexcept nogil:
        """A bound of the node, for its subproblem, multipliers, weights (K,) and the errors of its variables."""
        cdef Parts *at = &self.workers[worker]
        cdef int turn
        cdef real best = -INFINITY, most, before = -INFINITY, lost, kept = KEPT, begun = clock(), now
        cdef Work *stage = &effort.stages[DIVIDED]
        if self.divide(at, low, high, point, error) == 0:
            return best
        stage.calls += 1
        self.begin(at, low, high, weights)
        for turn in range(1 + self.n_again):
            self.load(at, sub, q, kept)
            best = max(best, self.weigh(worker, data, cutoff, &most, effort, stage))
            now = clock()
            stage.seconds, begun = stage.seconds + now - begun, now
            if best >= cutoff or turn == self.n_again or self.stop.poll(worker):
                break
            if turn > 0 and cutoff - most > HOPE * (most - before):
                break
            stage = &effort.stages[DIVIDED_AGAIN]
            stage.calls += 1
            stage.terms += data.n_samples * at.iterate.n
            lost = self.examine(at, data)
            effort.n_passes += 1
            if cutoff - most > self.again_below * lost or not self.divide_again(at, LEAST_SHARE * lost / at.iterate.n):
                break
            before = most
            kept *= KEPT
        stage.seconds += clock() - begun
        stage.closed += best >= cutoff
        return best

    cdef real weigh(self, int worker, const SampleSet *data, real cutoff, real *most, Effort *effort,
                    Work *stage) noexcept nogil:
        """The best bound for the parts' costs, looking for good weights; OUT most: what no weights exceed."""
        cdef Parts *at = &self.workers[worker]
        cdef real best = -INFINITY
        cdef int iteration
        for iteration in range(MOST_PASSES):
            best = max(best, self.evaluate(at, data, iteration == 0, most))
            effort.n_passes += 1
            stage.terms += data.n_samples * at.iterate.n
            if best >= cutoff or most[0] < cutoff or self.stop.poll(worker):
                break
            if iteration == 0:
                weights_start(&at.iterate, data.total_weight)
            weights_newton(&at.iterate, at.sums.gram)
        return best
