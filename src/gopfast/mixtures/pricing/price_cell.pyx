"""The bound of what one component can save in a cell, at given prices of the samples.

In a cell of one component the family gives a minorant of its costs and facets, both linear in the statistics; so for
any multipliers q >= 0 of the facets

    sup of G over the cell  <=  G at the costs c(q)  less the constants:

one data pass (csrc/price.h), convex in q. The best q is found by a projected Newton method; each of its passes bounds
the cell. G is what the head of `pricing` says. A workspace serves one thread at a time; the prices are everyone's.

A categorical variable may be free. At its best probabilities S_a / S, S_a the mass of the samples of level a, its costs
and S log(S / W) add up to sum_a S_a log(S_a / W): G is a sum over the levels, each a pass over its samples, and no cell
is ever divided in that variable.

Theory: (P2), (P5), (P7), (P9) and (P10) of docs/theory/prices.md; (C3) of docs/theory/cells.md; (J6) of
docs/theory/regression.md; (JC2) of docs/theory/counts.md.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, isfinite, log
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from gopfast.mixtures.families.family cimport Facet
from gopfast.mixtures.data.passes cimport (
    PRICE_HESSIAN, PRICE_MOMENTS, PRICE_VALUE, pass_data, price_scratch_size, price_sums, run_price, run_price_moments
)
from gopfast.mixtures.dense cimport dense_backward, dense_factor, dense_forward
from gopfast.mixtures.pricing.tuning cimport (
    AFRESH, BLOCKED_FROM, BLOCKED_TO, CELL_LONGEST as LONGEST, DAMPED, DOUBT, FEWEST_LEVELS, FORESEEN_FROM,
    MOST_BLOCKED, MOST_CURVED, MOST_PATIENT, MOST_RETREATS, NO_ERROR, PROGRESS, SETTLED, SLOWEST, SMALLEST
)
from gopfast.mixtures.relaxations.subproblem cimport take_subproblem
from gopfast.mixtures.data.samples cimport SampleSet, take_costs
from gopfast.search.tree cimport divisible, node_high, node_low, node_point, node_warm
from gopfast.search.rounding cimport ROUND

MOST_CURVED_COSTS = MOST_CURVED  # as Python sees it


cdef class CellPricing:
    """Bounds of cells, and ascents, on any thread.

    Parameters
    ----------
    family : Family
        Of one component, which stands for any of K: its mass is anything from 0 to W. Without shared parameters.
    max_passes : int
        Data passes that one cell may take.
    patience : float
        A cell is left once Newton's model promises less than this part of what its bound exceeds the cutoff by.
    n_threads : int
        Number of workspaces.
    record : None or object
        For a proof: what the cells are told to (`gopfast.search.ledger`).
    """

    def __cinit__(self, Family family, int max_passes=40, real patience=0.02, int n_threads=1, record=None):
        if family.n_components != 1 or family.n_shared:
            raise ValueError("pricing takes a family of one component without shared parameters")
        self.family, self.max_passes, self.patience, self.n_threads = family, max_passes, patience, n_threads
        self.provable = record is not None
        self.n_warm = family.n_facets + 1 + (2 * (1 + family.n_statistics) if self.provable else 0)
        self.spaces = <Pricing *> calloc(n_threads, sizeof(Pricing))
        if self.spaces == NULL:
            raise MemoryError
        # proofs have no entry of free variables
        found = None if self.provable else family.free_variable()
        self.take_levels(None if found is None or found[1].max() + 1 < FEWEST_LEVELS else found)
        self.prices = np.zeros(family.data.core.samples.n_padded)
        low, high = self.root()
        self.widths = np.maximum(high - low, SMALLEST)
        self.leaves_out = (BLOCKED_FROM <= family.data.n_samples <= BLOCKED_TO and family.n_columns <= MOST_BLOCKED
                           and not family.n_each and self.n_levels == 1)

    cdef int take_blocks(self) except -1:
        """Blocks of the samples, and room for those that a cell takes something of."""
        cdef size_t d = self.family.n_columns, n = self.family.data.core.samples.n_padded
        cdef Arena arena = Arena()
        cdef Pricing *at
        cdef int thread
        self.blocks, self.block_arena = SampleBlocks(*self.family.data.arrays()), arena
        while arena.again():
            for thread in range(self.n_threads):
                at = self.spaces + thread
                at.room = arena.take((d + 2) * n)
                at.chosen = <index *> arena.take_bytes(self.blocks.n_blocks * sizeof(index))
        return 0

    def __dealloc__(self):
        free(self.spaces)

    def take_levels(self, found):
        """Samples by their level of a free variable, (coordinates (n_cell,), levels (n,)); None: there is none."""
        chosen, levels = (np.zeros(self.family.n_connected), np.zeros(1, dtype=int)) if found is None else found
        self.free, self.n_levels = np.asarray(chosen, dtype=np.uint8), levels.max() + 1
        self.level_weights = np.zeros((self.n_levels, self.family.data.core.samples.n_padded))
        _, weights = self.family.data.arrays()
        for level, row in enumerate(np.asarray(self.level_weights)):
            row[:len(weights)] = np.where(levels == level, weights, 0.0)
        self.lay_out()

    cdef int lay_out(self) except -1:
        cdef Family family = self.family
        cdef size_t d = family.n_columns, F = family.n_statistics, Q = family.n_facets, n = family.n_connected
        cdef Arena arena = Arena()
        cdef Pricing *at
        cdef real *first
        cdef real *inner
        cdef real *second
        cdef int thread, level
        self.arena = arena
        while arena.again():
            for thread in range(self.n_threads):
                at = self.spaces + thread
                take_subproblem(arena, family, &at.sub)
                take_costs(arena, &at.costs, 1, d, family.n_each)
                take_costs(arena, &at.rounding, 1, d)
                at.sums.first, at.sums.inner_first, at.sums.second = arena.take(F), arena.take(F), arena.take(F * F)
                at.parts = <price_sums *> arena.take_bytes(self.n_levels * sizeof(price_sums))
                for level in range(self.n_levels):
                    first, inner, second = arena.take(F), arena.take(F), arena.take(F * F)
                    if at.parts != NULL:
                        at.parts[level].first, at.parts[level].inner_first = first, inner
                        at.parts[level].second = second
                at.low, at.high = arena.take(n), arena.take(n)
                at.q, at.base, at.rhs, at.gradient = arena.take(Q), arena.take(Q), arena.take(Q), arena.take(Q)
                at.step, at.curvature = arena.take(Q), arena.take(Q * Q)
                at.moments, at.image = arena.take((1 + F) * (1 + F)), arena.take(1 + F)
                at.coefficients, at.size = arena.take(1 + F), arena.take(1 + F)
                at.error, at.best = arena.take(n), arena.take(n)
                at.free = <int *> arena.take_bytes(Q * sizeof(int))
                at.own = arena.take(family.data.core.samples.n_padded)
                at.scratch = arena.take(price_scratch_size(family.data.core.samples.n_padded, <int> F))
        return 0

    def root(self):
        """The box of all components, (n,) and (n,)."""
        cdef real[::1] low = np.zeros(self.family.n_connected), high = np.zeros(self.family.n_connected)
        self.family.root(&low[0], &high[0])
        self.family.tighten_alone(&low[0], &high[0])
        return np.asarray(low), np.asarray(high)

    @property
    def n_passes(self):
        """Data passes of cells and ascents."""
        return self.passes()

    cdef index passes(self) noexcept nogil:
        cdef index total = 0
        cdef int thread
        for thread in range(self.n_threads):
            total += self.spaces[thread].n_passes
        return total

    @property
    def n_terms(self):
        """Costs of samples in a component that cells, ascents and columns have evaluated."""
        return self.terms()

    cdef index terms(self) noexcept nogil:
        cdef index total = 0
        cdef int thread
        for thread in range(self.n_threads):
            total += self.spaces[thread].n_terms
        return total

    cdef void open_cell(self, Pricing *at, const real *low, const real *high) noexcept nogil:
        cdef int j, n = <int> self.family.n_connected
        for j in range(n):
            at.low[j] = 0 if self.free[j] else low[j]
            at.high[j] = 1 if self.free[j] else high[j]
        self.family.relax(at.low, at.high, &at.sub)
        for j in range(n):
            if self.free[j]:  # shares of at least 0 and at most 1: no cost, nothing to multiply
                at.sub.facets[2 * j].active = at.sub.facets[2 * j + 1].active = 0
        self.forget(at)

    cdef void forget(self, Pricing *at) noexcept nogil:
        cdef int level
        for level in range(self.n_levels):
            at.parts[level].scale = 0

    cdef void run(self, Pricing *at) noexcept nogil:
        cdef int level
        cdef bint at_once = self.n_levels > 1   # as one scratch is for all levels
        cdef const real *prices = &self.prices[0]
        at.seen = self.family.data.core.samples
        at.sums.value = 0
        at.n_seen, at.is_part, at.is_weighed = self.family.data.core.n_samples, False, at_once
        if self.blocks is not None:
            at.n_seen = self.blocks.gather(&at.costs, &at.rounding, at.room, at.chosen, &at.seen, &prices)
            at.is_part = at.n_seen < self.family.data.core.samples.n_padded
            at.n_terms += self.blocks.n_blocks
        for level in range(self.n_levels):
            if self.blocks is None:
                at.seen.weights = &self.level_weights[level, 0]
            run_price(&at.seen, self.family.data.core.total_weight, prices, &at.costs, &at.rounding,
                      PRICE_HESSIAN if at_once else PRICE_VALUE, at.scratch, &at.parts[level])
            at.sums.value += at.parts[level].value
        at.sums.value *= 1 + (self.n_levels - 1) * ROUND
        if at.is_part:
            at.sums.value += self.blocks.loss
        at.n_passes += 1
        at.n_terms += self.n_levels * at.n_seen

    cdef void weigh(self, Pricing *at) noexcept nogil:
        cdef int F = self.family.n_statistics, level, f
        if not at.is_weighed:
            run_price_moments(&at.seen, &at.costs, PRICE_HESSIAN, at.scratch, &at.parts[0])
            at.is_weighed = True
        at.sums.mass = 0
        memset(at.sums.first, 0, F * sizeof(real))
        for level in range(self.n_levels):
            at.sums.mass += at.parts[level].mass
            for f in range(F):
                at.sums.first[f] += at.parts[level].first[f]

    cdef void curve(self, Pricing *at) noexcept nogil:
        """Inner second moments + (inner first moments)^2 / saturated mass, of every level."""
        cdef int F = self.family.n_statistics, n = 1 + F, level, i, j
        cdef const price_sums *part
        cdef real *M = at.moments
        cdef real value
        memset(M, 0, n * n * sizeof(real))
        for level in range(self.n_levels):
            part = &at.parts[level]
            value = 1 / part.saturated if part.saturated > 0 else 0
            M[0] += part.inner + value * part.inner * part.inner
            for i in range(F):
                M[1 + i] += part.inner_first[i] * (1 + value * part.inner)
                for j in range(i, F):
                    M[(1 + i) * n + 1 + j] += part.second[i * F + j] + value * part.inner_first[i] * part.inner_first[j]
        for i in range(n):
            for j in range(i):
                M[i * n + j] = M[j * n + i]

    cdef real evaluate(self, Pricing *at, const real *q) noexcept nogil:
        """A data pass for each level, at the multipliers: what no component of the cell exceeds, rounding included."""
        cdef int d = self.family.n_columns, F = self.family.n_statistics, r, s, j
        cdef int n_terms = self.family.n_facets + 2 * d + 20
        cdef const Facet *facet
        cdef real e = at.sub.e_low, added, constant, size
        cdef const pass_costs *minorant = &at.sub.minorant
        at.coefficients[0] = -minorant.offsets[0]
        for j in range(d):
            at.coefficients[1 + j] = minorant.linear[j]
            if F > d:
                at.coefficients[1 + d + j] = minorant.quadratic[j]
        for s in range(1 + F):
            at.size[s] = fabs(at.coefficients[s])
        constant, size = at.sub.constant, fabs(at.sub.constant)
        if self.family.has_prior:
            added = self.family.e_power * log(e) if self.family.e_power > 0 else 0
            constant += e * at.sub.prior - added
            size += fabs(e * at.sub.prior) + fabs(added) + self.family.e_power
        for r in range(self.family.n_facets):
            facet = &at.sub.facets[r]
            if not facet.active or q[r] == 0:
                continue
            for s in range(facet.count):
                added = q[r] * facet.coefficients[s]
                at.coefficients[facet.first + s] -= added
                at.size[facet.first + s] += fabs(added)
            constant -= q[r] * (facet.constant + e * facet.prior)
            size += q[r] * (fabs(facet.constant) + fabs(e * facet.prior))
        # a coefficient is a sum of one term per facet, a cost one of 2 d + 1 products
        at.costs.offsets[0], at.rounding.offsets[0] = -at.coefficients[0], n_terms * ROUND * at.size[0]
        for j in range(d):
            at.costs.centers[j] = minorant.centers[j]
            at.costs.linear[j], at.rounding.linear[j] = at.coefficients[1 + j], n_terms * ROUND * at.size[1 + j]
            at.costs.quadratic[j] = at.coefficients[1 + d + j] if F > d else minorant.quadratic[j]
            at.rounding.quadratic[j] = n_terms * ROUND * (at.size[1 + d + j] if F > d else fabs(minorant.quadratic[j]))
        if self.family.n_each:
            memcpy(at.costs.each, minorant.each, self.family.n_each * sizeof(real))
        self.run(at)
        constant = at.sums.value - constant + 64 * ROUND * (n_terms * size + at.sums.value)
        constant += self.summary_loss(at)
        return constant if isfinite(constant) else INFINITY

    cdef real evaluate_samples(self, Pricing *at, const real *low, const real *high, bint *is_fine) noexcept nogil:
        """A data pass at no costs but what is taken off the prices."""
        cdef index i, n = self.family.data.core.n_samples
        cdef price_sums *part = &at.parts[0]
        cdef pass_data data = self.family.data.core.samples
        is_fine[0] = self.family.least_costs(low, high, at.own)
        for i in range(n):
            at.own[i] = self.prices[i] - at.own[i] + 4 * ROUND * (fabs(self.prices[i]) + fabs(at.own[i]))
        for i in range(n, self.prices.shape[0]):
            at.own[i] = at.own[n - 1]
        at.costs.offsets[0] = at.rounding.offsets[0] = 0
        for i in range(self.family.n_each):
            at.costs.each[i] = 0
        data.n_columns = 0
        run_price(&data, self.family.data.core.total_weight, at.own, &at.costs, &at.rounding, PRICE_VALUE, at.scratch,
                  part)
        at.sums.value = part.value
        at.n_passes += 1
        at.n_terms += n
        return at.sums.value * (1 + 64 * ROUND) if isfinite(at.sums.value) else INFINITY

    cdef real summary_loss(self, const Pricing *at) noexcept nogil:
        """What samples may save more than their summary: by costs more curved than its prices, and by its rounding."""
        cdef const SampleSet *data = &self.family.data.core
        cdef int j
        cdef real loss = data.rounding * (at.sums.value + 4 * data.total_weight)
        for j in range(self.family.n_columns):
            loss += max(0.0, at.costs.quadratic[j] + at.rounding.quadratic[j] - MOST_CURVED) * data.curvature_loss[j]
        return loss * (1 + 64 * ROUND)

    cdef void gradient(self, Pricing *at) noexcept nogil:
        """OUT: the facets' values at the column."""
        cdef int r, s
        cdef const Facet *facet
        cdef real value
        for r in range(self.family.n_facets):
            facet = &at.sub.facets[r]
            value = facet.constant + at.sub.e_low * facet.prior
            for s in range(facet.count):
                value += facet.coefficients[s] * (at.sums.mass if facet.first + s == 0
                                                  else at.sums.first[facet.first + s - 1])
            at.gradient[r] = value

    cdef real direction(self, Pricing *at) noexcept nogil:
        """Newton step of the multipliers that may move; returns what its model promises."""
        cdef int F = self.family.n_statistics, n = 1 + F, m = 0, r, o, s, i, j
        cdef const Facet *facet
        cdef const Facet *other
        cdef real value, promised = 0
        cdef real *M = at.moments
        cdef real *H = at.curvature
        cdef const real *line
        self.gradient(at)
        for r in range(self.family.n_facets):
            facet = &at.sub.facets[r]
            at.step[r] = 0
            if not facet.active or (at.q[r] <= 0 and at.gradient[r] >= 0) or (
                    at.q[r] >= facet.cap and at.gradient[r] <= 0):
                continue
            at.free[m] = r
            m += 1
        if m == 0:
            return 0
        self.curve(at)
        for i in range(m):
            facet = &at.sub.facets[at.free[i]]
            memset(at.image, 0, n * sizeof(real))
            for s in range(facet.count):
                value = facet.coefficients[s]
                if value == 0:
                    continue
                line = M + (facet.first + s) * n
                for j in range(n):
                    at.image[j] += value * line[j]
            for o in range(i, m):
                other = &at.sub.facets[at.free[o]]
                value = 0
                for s in range(other.count):
                    value += other.coefficients[s] * at.image[other.first + s]
                H[i * m + o] = value
            H[i * m + i] = H[i * m + i] * DAMPED + fabs(at.gradient[at.free[i]]) / (
                LONGEST * max(facet.multiplier, at.q[at.free[i]])) + SMALLEST
        dense_factor(m, H)
        for i in range(m):
            at.rhs[i] = -at.gradient[at.free[i]]
        dense_forward(m, H, 1, at.rhs)
        dense_backward(m, H, at.rhs)
        for i in range(m):
            r = at.free[i]
            at.step[r] = at.rhs[i]
            promised -= 0.5 * at.gradient[r] * at.step[r]
        return promised

    cdef void bound(self, Pricing *at, Node *cell, real cutoff) noexcept nogil:
        """Lowers the cell's bound (-cell.lower), chooses where to split; may stop once it is below the cutoff."""
        cdef int Q = self.family.n_facets, turn, r, retreats = 0
        cdef index n = self.family.n_connected
        cdef float *warm = node_warm(cell, n)
        cdef real value, last = INFINITY, promised, parent = -cell.lower, least = INFINITY, patience
        cdef bint afresh = True, stuck, is_fine
        if self.family.has_sample_costs and not self.provable:
            self.forget(at)
            value = self.evaluate_samples(at, node_low(cell), node_high(cell, n), &is_fine)
            cell.lower = max(cell.lower, -value)
            if value < cutoff:
                return
            if not is_fine:
                self.choose_split_by_samples(at, cell)
                return
        self.open_cell(at, node_low(cell), node_high(cell, n))
        for r in range(Q):
            at.q[r] = 0
            if at.sub.facets[r].active:
                at.q[r] = min(at.sub.facets[r].cap, max(0.0, <real> warm[r]))
                afresh = afresh and not at.q[r] > 0
        afresh = afresh or not isfinite(parent)
        for turn in range(self.max_passes):
            value = self.evaluate(at, at.q)
            if self.provable and -value > cell.lower:
                self.keep_proof(at, cell)
            cell.lower = max(cell.lower, -value)
            least = min(least, value)
            if value < cutoff:
                return
            stuck = False
            if value < last:
                retreats, last = 0, value
                self.weigh(at)
                self.choose_split(at, cell)
                promised = self.direction(at)
                for r in range(Q):
                    at.base[r] = at.q[r]
                    warm[r] = <float> at.q[r]
                patience = self.patience
                if not value < parent - PROGRESS * (parent - cutoff):  # else cells are divided that have gained nothing
                    patience = min(patience, MOST_PATIENT)
                if promised < patience * (value - cutoff) or promised < SETTLED * (1 + fabs(value)):
                    stuck = True
                else:
                    for r in range(Q):
                        at.q[r] = min(at.sub.facets[r].cap, max(0.0, at.q[r] + at.step[r]))
            else:
                retreats += 1
                if retreats > MOST_RETREATS or not isfinite(value):
                    stuck = True
                else:
                    for r in range(Q):
                        at.q[r] = at.base[r] + 0.25 * (at.q[r] - at.base[r])
            if not afresh and not least < parent - PROGRESS * (parent - cutoff) and (stuck or turn == AFRESH):
                # the parent's multipliers lead nowhere here
                afresh, retreats, last = True, 0, INFINITY
                self.forget(at)
                for r in range(Q):
                    at.q[r] = at.base[r] = 0
            elif stuck:
                break

    cdef real most_saved(self, const Pricing *at) noexcept nogil:
        """The most that a sample's price exceeds its cost by, in the last pass."""
        cdef real most = -INFINITY
        cdef index i
        for i in range(at.n_seen):
            most = max(most, at.scratch[i])
        return max(most, self.blocks.far) if at.is_part else most

    cdef void keep_proof(self, Pricing *at, Node *cell) noexcept nogil:
        """The scale and costs of the last pass, as functions of the columns; of each sample's what they are made by."""
        cdef int d = self.family.n_columns, F = self.family.n_statistics, j
        cdef float *out = node_warm(cell, self.family.n_connected) + self.family.n_facets + 1
        cdef real value
        if at.parts.scale > 0:
            value = log(at.parts.scale)
        else:  # no column pays: the exponentials, none of which is cut off, add up to less than W
            value = -self.most_saved(at) - 1
        memcpy(out, &value, sizeof(real))
        for j in range(d):
            value = at.costs.linear[j] - 2 * at.costs.quadratic[j] * at.costs.centers[j]
            if self.family.n_each:
                value = at.costs.centers[j]
            memcpy(out + 2 * (1 + j), &value, sizeof(real))
            if F > d:
                memcpy(out + 2 * (1 + d + j), &at.costs.quadratic[j], sizeof(real))

    def explain(self, const float[:, ::1] warm):
        """What proved bounds of cells: logarithms of scales (C,), coefficients (C, d) of the columns and of squares.

        Parameters
        ----------
        warm : array, shape (C, n_warm)
        """
        cdef int d = self.family.n_columns, F = self.family.n_statistics
        cdef real[::1] low, high
        parts = np.ascontiguousarray(np.asarray(warm)[:, self.family.n_facets + 1:]).view(np.float64)
        if F > d:
            return parts[:, 0], parts[:, 1:1 + d], parts[:, 1 + d:]
        low, high = self.root()
        self.family.relax(&low[0], &high[0], &self.spaces.sub)
        squares = np.array(<real[:d]> self.spaces.sub.minorant.quadratic)
        return parts[:, 0], parts[:, 1:], np.broadcast_to(squares, (len(parts), d))

    cdef void choose_split(self, Pricing *at, Node *cell) noexcept nogil:
        """Where to split: by the largest error of the minorant at the column, or in the widest side of all."""
        cdef index n = self.family.n_connected
        if self.family.n_each:
            self.choose_split_by_samples(at, cell)
            return
        self.family.split_points(node_low(cell), node_high(cell, n), &at.sub, &at.sums.mass, at.sums.first,
                                 at.sub.e_low, node_point(cell, n), at.error)
        self.choose_variable(at, cell)

    cdef void choose_split_by_samples(self, Pricing *at, Node *cell) noexcept nogil:
        cdef index n = self.family.n_connected, m = self.family.data.core.samples.n_padded, i
        cdef int f
        cdef const real *column = self.family.data.core.samples.columns
        cdef real a, b, c, d
        at.sums.mass = self.take_column(at, &at.parts[0])
        for f in range(self.family.n_statistics):
            a = b = c = d = 0
            for i in range(0, m, 4):  # padded to a multiple; four sums, as one would wait for itself
                a += at.own[i] * column[i]
                b += at.own[i + 1] * column[i + 1]
                c += at.own[i + 2] * column[i + 2]
                d += at.own[i + 3] * column[i + 3]
            at.sums.first[f] = (a + b) + (c + d) - at.sums.mass * at.sub.minorant.centers[f]
            column += m
        self.family.split_points(node_low(cell), node_high(cell, n), &at.sub, &at.sums.mass, at.sums.first, 0,
                                 node_point(cell, n), at.error)
        self.family.lost_by_samples(node_low(cell), node_high(cell, n), at.own, at.error)
        self.choose_variable(at, cell)

    cdef real take_column(self, Pricing *at, const price_sums *sums) noexcept nogil:
        """Returns its mass; padding has none."""
        cdef index i, n = self.family.data.core.samples.n_padded
        cdef const real *u = at.scratch + n
        cdef const real *w = self.family.data.core.samples.weights
        cdef real mass = 0
        for i in range(n):
            at.own[i] = w[i] * min(1.0, sums.scale * u[i]) if sums.scale > 0 else 0
            mass += at.own[i]
        return mass

    cdef void choose_variable(self, Pricing *at, Node *cell) noexcept nogil:
        cdef index n = self.family.n_connected, a
        cdef real *low = node_low(cell)
        cdef real *high = node_high(cell, n)
        cdef real most = 0, total = 0, width
        cell.branch = -1
        for a in range(n):
            if self.free[a] or not divisible(low[a], high[a]):
                continue
            total += at.error[a]
            if at.error[a] > most:
                most = at.error[a]
                cell.branch = a
        node_warm(cell, n)[self.family.n_facets] = <float> total
        if cell.branch >= 0 and total > NO_ERROR * (1 + fabs(cell.lower)):
            return
        most = 0
        for a in range(n):
            width = (high[a] - low[a]) / self.widths[a]
            node_point(cell, n)[a] = 0.5 * (low[a] + high[a])
            if not self.free[a] and divisible(low[a], high[a]) and width > most:
                most = width
                cell.branch = a

    cdef real pass_of_ascent(self, Pricing *at, bint begins, bint exactly) noexcept nogil:
        if begins:
            at.sums.scale = 0
        run_price(&self.family.data.core.samples, self.family.data.core.total_weight, &self.prices[0], &at.costs,
                  &at.rounding, PRICE_MOMENTS, at.scratch, &at.sums)
        at.n_passes += 1
        at.n_terms += self.family.data.core.n_samples
        return at.sums.value

    cdef real ascend(self, Pricing *at, real *point, int n_steps, bint exactly, real near, real least) noexcept nogil:
        """Alternating ascent of G from parameters, which become the best on the way; returns the value reached."""
        cdef int d = self.family.n_columns, j, turn
        cdef size_t size = self.family.n_connected * sizeof(real)
        cdef real e, prior, reached, value = -INFINITY, gain = 0, last, ratio, rest
        at.rounding.offsets[0] = 0
        for j in range(d):
            at.rounding.linear[j] = at.rounding.quadratic[j] = 0
        memcpy(at.best, point, size)
        for turn in range(n_steps + 1):
            self.family.costs(point, &at.costs)
            prior = self.family.prior_cost(point, &e)
            reached = self.pass_of_ascent(at, turn == 0, exactly) - prior
            last, gain = gain, reached - value
            if reached > value:
                value = reached
                memcpy(at.best, point, size)
            elif turn > 1:
                break
            if not at.sums.mass > 0 or turn == n_steps:
                break
            if turn >= FORESEEN_FROM:
                ratio = min(gain / last, SLOWEST) if last > 0 else SLOWEST
                rest = gain * ratio / (1 - ratio)
                if rest < near or value + DOUBT * rest < least:
                    break
            if self.family.n_each:
                self.take_column(at, &at.sums)
                self.family.maximise_shares(at.own, &at.sums.mass, point)
            else:
                self.family.maximise(&at.sums.mass, at.sums.first, e, &at.costs, point)
        memcpy(point, at.best, size)
        return value

    cdef real price(self, Pricing *at, const real *point) noexcept nogil:
        """G of a component with given parameters; its column is left in the scratch."""
        cdef int j
        cdef real e, prior
        at.sums.scale = at.rounding.offsets[0] = 0
        for j in range(self.family.n_columns):
            at.rounding.linear[j] = at.rounding.quadratic[j] = 0
        self.family.costs(point, &at.costs)
        prior = self.family.prior_cost(point, &e)
        run_price(&self.family.data.core.samples, self.family.data.core.total_weight, &self.prices[0], &at.costs,
                  &at.rounding, PRICE_VALUE, at.scratch, &at.sums)
        at.n_terms += self.family.data.core.n_samples
        return at.sums.value - prior
