"""A node's bound with every cell divided into parts, its multipliers kept.

In a solution each component lies in one part of its cell. Allow it to be a mixture over the parts: with the cost of a
part, linear by the part's own minorant less the node's facets times their multipliers q >= 0,

    c_iks = minorant_ks . (1, phi_i) - sum_r q_r facet_r . (1, phi_i),

every solution of the node costs at least min over pi of - sum_i w_i log sum_ks pi_ks exp(-c_iks): take the pi that
gives each component's weight to the part it lies in. The parts add up over the components, where the descendants of a
node multiply: one such bound is nearly that of all combinations of parts. Any pi proves, by Jensen's inequality,

    - sum_i w_i log p_i - W log max(1, max_ks D_ks / W),

and its first term plus W (sum pi - 1) is at least the minimum, so that a vain attempt ends at once. A multiplier with a
cap weighs two minorants of the cell; the minorants of a part take the same shares.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, isfinite, log
from libc.stdlib cimport calloc, free

from gopfast.mixtures.families.family cimport Facet, Family
from gopfast.mixtures.data.passes cimport PASS_WEIGHTS, pass_scratch_size, run_pass
from gopfast.search.relaxation cimport Effort
from gopfast.mixtures.data.samples cimport SampleSet, summary_shift, take_costs, take_sums
from gopfast.search.arena cimport Arena
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport index, real
from gopfast.mixtures.bounds.subproblem cimport take_subproblem
from gopfast.mixtures.bounds.weights cimport take_weights, weights_newton, weights_start

cdef int MOST_PASSES = 10        # of one node
cdef real LEAST_START = 1e-6     # weight of a component that its parts begin with at least
# Density ratio whose logarithm is taken where D underflows: a floor only loosens the bound.
cdef real SMALLEST = 1e-300
# Covers the rounding of sum_ks pi_ks D_ks = W, of far fewer than 10^6 terms.
cdef real MEAN_ROUNDING = 1 + 1e-9
# A part is at least this share of its cell in the variable divided.
cdef real SPLIT_MARGIN = 0.1


cdef class Refinement:
    """Bounds of nodes with each component's cell divided in its worst `n_split` connected variables.

    Parameters
    ----------
    family : Family
        Whose minorants and facets each hold one component's statistics only (`divisible_cells`).
    n_split : int
        A cell has up to 2^n_split parts.
    """

    def __init__(self, Family family, int n_split):
        self.family, self.n_split = family, n_split
        self.n_parts = 1 << n_split
        self.n_total = family.n_components * self.n_parts
        self.workers = NULL
        self.arenas = []
        largest = np.zeros(family.n_columns)
        for data in [family.data, *family.data.levels]:
            largest = np.maximum(largest, np.abs(data.arrays()[0]).max(axis=1))
        self.largest = largest

    def __dealloc__(self):
        free(self.workers)

    cdef int prepare(self, int n_workers) except -1:
        cdef int _worker
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
        cdef size_t P = self.n_total, n = self.family.n_connected
        while arena.again():
            take_subproblem(arena, self.family, &at.sub)
            take_costs(arena, &at.costs, P, d)
            take_sums(arena, &at.sums, P, F, PASS_WEIGHTS)
            take_weights(arena, &at.iterate, P)
            at.low, at.high, at.split = arena.take(n), arena.take(n), arena.take(K * self.n_split)
            at.variable = <index *> arena.take_bytes(K * self.n_split * sizeof(index))
            at.size = arena.take(P * (1 + F))
            at.scratch = arena.take(pass_scratch_size(P, F))
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

    cdef void cell(self, Parts *at, const real *low, const real *high, int part) noexcept nogil:
        """OUT low, high: the node's box with part `part` of every cell."""
        cdef index a
        cdef int i
        for a in range(self.family.n_connected):
            at.low[a], at.high[a] = low[a], high[a]
        for i in range(self.family.n_components * self.n_split):
            a = at.variable[i]
            if a < 0:
                continue
            if part >> (i % self.n_split) & 1:
                at.low[a] = max(low[a], at.split[i])
            else:
                at.high[a] = min(high[a], at.split[i])

    cdef void combine(self, Parts *at, const Subproblem *sub, const real *q, int part) noexcept nogil:
        """OUT costs, size: of part `part` of every component, from `at.sub` and the node's facets and multipliers."""
        cdef int K = self.family.n_components, d = self.family.n_columns, F = self.family.n_statistics, k, j, r, s, p
        cdef int inner
        cdef real weight, delta, value
        cdef const Facet *facet
        cdef const real *center
        cdef real *size
        cdef const pass_costs *minorant = &at.sub.minorant
        cdef pass_costs *costs = &at.costs
        for k in range(K):
            p = k * self.n_parts + part
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
            if weight <= 0:
                continue
            k = facet.first // (1 + F)  # of this component only
            p = k * self.n_parts + part
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

    cdef real evaluate(self, Parts *at, const SampleSet *data, real *most) noexcept nogil:
        """One data pass at the weights: the bound that it proves. OUT most: what no weights exceed; residuals."""
        cdef int P = self.n_total, d = self.family.n_columns, F = self.family.n_statistics, p, j
        cdef real W = data.total_weight, worst = -INFINITY, margin = 0, sum_weights = 0, total, x, term, density, shift
        cdef real value
        cdef int n_terms = 3 * (self.family.n_facets // self.family.n_components) + d + 32
        cdef const real *size
        run_pass(&data.samples, P, &at.costs, at.iterate.weights, PASS_WEIGHTS, at.scratch, &at.sums)
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
        cdef int P = self.n_total, p, part, iteration
        cdef real best = -INFINITY, most, lowest
        if self.divide(at, low, high, point, error) == 0:
            return best
        for part in range(self.n_parts):
            self.cell(at, low, high, part)
            self.family.relax(at.low, at.high, &at.sub)
            self.combine(at, sub, q, part)
        for p in range(P):
            at.iterate.weights[p] = max(weights[p // self.n_parts], LEAST_START) / self.n_parts
        for iteration in range(MOST_PASSES):
            lowest = self.evaluate(at, data, &most)
            effort.n_passes += 1
            best = max(best, lowest)
            if best >= cutoff or most < cutoff:
                break
            if iteration == 0:
                weights_start(&at.iterate, data.total_weight)
            weights_newton(&at.iterate, at.sums.gram)
        return best
