"""What one component of a chain of regressions can save at given prices of the samples, cell by cell.

In (L, B) of `families.chain` minus the cost of a sample is concave, copies of log L - r^2 / 2 with r linear: below its
tangents, one for log L and one for each square, at any t_i for the square of sample i. At fixed tangents G is convex in
the parameters, so that over a box it is largest at one of the vertices. These are looked through by branch and bound:
with some signs fixed, and every sample's best in all other coordinates, a pass (P3) bounds all vertices that have them.
Before, one pass with every sample's least cost in the cell (N3).

A regression that passes through the mean of its samples has residuals of both signs: cells where they have one are
empty.

Theory: (N2), (N3) and (N4) of docs/theory/chains.md.
"""

from libc.math cimport INFINITY, fabs, isfinite, log, sqrt
from libc.stdlib cimport calloc, free

from gopfast.mixtures.data.passes cimport PRICE_VALUE, pass_costs, pass_data, run_price, run_price_side
from gopfast.mixtures.data.samples cimport take_costs
from gopfast.mixtures.families.chain cimport MOST_COLUMNS, MOST_PLACES, ChainFamily
from gopfast.mixtures.families.family cimport half_width, middle_of
from gopfast.mixtures.pricing.margins cimport CHAIN_COSTS
from gopfast.mixtures.pricing.price_cell cimport Pricing
from gopfast.mixtures.pricing.pricing cimport ComponentPricing
from gopfast.mixtures.pricing.tuning cimport FLAT, MOST_MULTIPLIER, SCALE_FIRST, STRIP
from gopfast.search.arena cimport Arena
from gopfast.search.rounding cimport ROUND
from gopfast.search.tree cimport Node, node_high, node_low, node_point
from gopfast.search.types cimport index, real


cdef extern from *:
    """
    /* 1/2 log 2 pi, rounded down */
    #define LEAST_COST 0.91893853320467260
    """
    real LEAST_COST


# One thread's cell. D parameters, q responses, n padded samples.
cdef struct ChainCell:
    real center[MOST_PLACES]
    real half[MOST_PLACES]
    real multiplier[MOST_COLUMNS]   # (q,) of the mean of squares, which is at least 1 above the floor
    real moved[MOST_COLUMNS]    # (q,) what rounding moves residuals by
    int order[MOST_PLACES]      # parameters, those first whose sign says the most
    real sign[MOST_PLACES]      # that which the column at hand gains by
    real *residual      # (q, n) at the center, and how far it goes in the cell
    real *strip
    real *slopes        # (D, n) half a cell's change of the tangents, in nats
    real *costs         # (D + 1, n) with so many signs fixed


cdef class ChainPricing(ComponentPricing):
    """Cells of one component of a `ChainFamily`; parameters are those of `CellPricing`."""

    cdef ChainFamily chain
    cdef ChainCell *held            # (n_threads,)
    cdef Arena chain_arena
    cdef pass_costs identity, nothing

    def __cinit__(self, family, *args, **others):
        self.held = <ChainCell *> calloc(self.n_threads, sizeof(ChainCell))
        if self.held == NULL:
            raise MemoryError
        self.chain = family
        self.leaves_out = False  # costs of samples are not linear in the columns
        self.lay_out_chain()

    def __dealloc__(self):
        free(self.held)

    cdef int lay_out_chain(self) except -1:
        cdef Arena arena = Arena()
        cdef size_t n = self.chain.data.core.samples.n_padded, D = self.chain.n_cell
        cdef ChainCell *mine
        cdef int thread
        self.chain_arena = arena
        while arena.again():
            take_costs(arena, &self.identity, 1, 1)
            take_costs(arena, &self.nothing, 1, 1)
            for thread in range(self.n_threads):
                mine = &self.held[thread]
                mine.residual = arena.take(self.chain.n_responses * n)
                mine.strip = arena.take(self.chain.n_responses * n)
                mine.slopes, mine.costs = arena.take(D * n), arena.take((D + 1) * n)
        self.identity.linear[0] = 1.0
        return 0

    cdef real evaluate_costs(self, Pricing *at, const real *costs) noexcept nogil:
        """G at costs of the samples (n_padded,), which are its column's; a pass of one column."""
        cdef pass_data data
        data.n_padded, data.n_columns, data.squares = self.chain.data.core.samples.n_padded, 1, 0
        data.columns, data.weights = costs, self.chain.data.core.samples.weights
        run_price(&data, self.chain.data.core.total_weight, &self.prices[0], &self.identity, &self.nothing, PRICE_VALUE,
                  at.scratch, &at.sums)
        at.n_passes += 1
        at.n_terms += self.chain.data.core.n_samples
        return at.sums.value * (1 + 64 * ROUND) if isfinite(at.sums.value) else INFINITY

    cdef bint open_strip(self, ChainCell *mine, const real *low, const real *high) noexcept nogil:
        """OUT: residuals at the center, and how far they go; 0: where no regression passes through a mean."""
        cdef int k, j, D = self.chain.n_cell
        cdef index i, n = self.chain.data.core.samples.n_padded
        cdef real c, h, least, most
        cdef real *r
        cdef real *w
        cdef const real *x
        for j in range(self.chain.n_responses):
            mine.moved[j] = 0
            r, w = mine.residual + j * n, mine.strip + j * n
            for i in range(n):
                r[i] = w[i] = 0
        for k in range(D):
            c = mine.center[k] = middle_of(low[k], high[k])
            h = mine.half[k] = half_width(low[k], high[k], c)
            j = self.chain.row_of[k]
            x, r, w = &self.chain.design[k, 0], mine.residual + j * n, mine.strip + j * n
            mine.moved[j] += (fabs(c) + h) * (self.chain.error[k] + 2 * (D + 4) * ROUND * self.chain.largest[k])
            for i in range(n):
                r[i] += c * x[i]
                w[i] += h * fabs(x[i])
        for j in range(self.chain.n_responses):
            r, w = mine.residual + j * n, mine.strip + j * n
            least, most = INFINITY, -INFINITY
            for i in range(n):
                least, most = min(least, r[i] - w[i]), max(most, r[i] + w[i])
            if least > 2 * mine.moved[j] or most < -2 * mine.moved[j]:
                return 0
        return 1

    cdef real bound_by_samples(self, Pricing *at, ChainCell *mine, const real *low, const real *high,
                               real cutoff) noexcept nogil:
        """By every sample's least cost in the cell, with multipliers where these help; OUT: the column."""
        cdef int j, q = self.chain.n_responses
        cdef index i, n = self.chain.data.core.samples.n_padded
        cdef real away, value, trial
        cdef real *r
        cdef real *w
        cdef real *square
        for j in range(q):
            r, w, square, mine.multiplier[j] = mine.residual + j * n, mine.strip + j * n, mine.slopes + j * n, 0
            for i in range(n):
                away = fabs(r[i]) - w[i] - 2 * mine.moved[j]
                away = max(away, 0.0)
                square[i] = away * away
        value = self.evaluate_squares(at, mine, high)
        if value < cutoff:
            return value
        self.take_column(at, &at.sums)
        if not self.choose_multipliers(at, mine, low, high):
            return value
        trial = self.evaluate_squares(at, mine, high)
        if trial < value:
            self.take_column(at, &at.sums)
            return trial
        for j in range(q):
            mine.multiplier[j] = 0
        return value

    cdef real evaluate_squares(self, Pricing *at, ChainCell *mine, const real *high) noexcept nogil:
        """A pass at the least squares of the samples, and the multipliers."""
        cdef int j
        cdef index i, n = self.chain.data.core.samples.n_padded
        cdef real value = 0, size = 0, part, c = self.chain.copies
        cdef real *costs = mine.costs
        cdef const real *square
        for i in range(n):
            costs[i] = 0
        for j in range(self.chain.n_responses):
            square, part = mine.slopes + j * n, 0.5 - mine.multiplier[j]
            value += LEAST_COST - log(high[self.chain.first[j]]) + mine.multiplier[j]
            size += 2 + fabs(log(high[self.chain.first[j]]))
            for i in range(n):
                costs[i] += part * square[i]
        for i in range(n):
            costs[i] = c * (value + costs[i] * (1 - CHAIN_COSTS) - CHAIN_COSTS * size)
        return self.evaluate_costs(at, costs)

    cdef bint choose_multipliers(self, const Pricing *at, ChainCell *mine, const real *low,
                                 const real *high) noexcept nogil:
        """OUT: by a step of Newton's method, of responses above the floor; whether there are any."""
        cdef int j
        cdef index i, n = self.chain.data.core.samples.n_padded
        cdef real slope, curvature
        cdef const real *square
        cdef bint found = False
        for j in range(self.chain.n_responses):
            if not self.chain.is_above_floor(j, low, high):
                continue
            square, slope, curvature = mine.slopes + j * n, 0, 0
            for i in range(n):
                slope += at.own[i] * (1 - square[i])
                curvature += at.own[i] * (1 - square[i]) * (1 - square[i])
            if slope > 0:
                mine.multiplier[j] = min(MOST_MULTIPLIER, slope / (self.chain.copies * curvature))
                found = True
        return found

    cdef void open_tangents(self, ChainCell *mine) noexcept nogil:
        """OUT: tangents' slopes, and costs[0], with every sample's best in all coordinates."""
        cdef int k, j, D = self.chain.n_cell
        cdef index i, n = self.chain.data.core.samples.n_padded
        cdef real t, size, s, part, f, c = self.chain.copies, L
        cdef real *costs = mine.costs
        cdef real *r
        cdef real *w
        cdef real *g
        cdef const real *x
        t = 0
        for j in range(self.chain.n_responses):
            L = mine.center[self.chain.first[j]]
            t += LEAST_COST - log(L) + mine.multiplier[j]
            t -= CHAIN_COSTS * (3 + fabs(log(L)) + mine.half[self.chain.first[j]] / L)
        for i in range(n):
            costs[i] = c * t
        for j in range(self.chain.n_responses):
            r, w, f = mine.residual + j * n, mine.strip + j * n, c * (1 - 2 * mine.multiplier[j])
            for i in range(n):
                # the tangent of -r^2 / 2 at t: t^2 / 2 - t r; nearer to 0 in wide strips
                s = fabs(r[i])
                part = min(1.0, w[i] * w[i] / STRIP)
                t = max(0.0, s - part * w[i])
                t = t if r[i] >= 0 else -t
                size = fabs(t) * (fabs(t) + s + w[i])
                costs[i] -= f * (0.5 * t * t - t * r[i] + 2 * fabs(t) * mine.moved[j] + CHAIN_COSTS * size)
                r[i] = t
        for k in range(D):
            j = self.chain.row_of[k]
            x, r, g = &self.chain.design[k, 0], mine.residual + j * n, mine.slopes + k * n
            L = c * mine.half[k] / mine.center[k] if self.chain.is_scale[k] else 0
            s = c * (1 - 2 * mine.multiplier[j]) * mine.half[k]
            for i in range(n):
                g[i] = L - s * r[i] * x[i]
                costs[i] -= fabs(g[i])

    cdef void order_parameters(self, const Pricing *at, ChainCell *mine) noexcept nogil:
        """OUT: those first whose sign changes most at the column, with the sign that gains."""
        cdef int k, l, D = self.chain.n_cell
        cdef index i, n = self.chain.data.core.samples.n_padded
        cdef real size[MOST_PLACES]
        cdef real total, weight
        cdef const real *g
        for k in range(D):
            g, total, weight = mine.slopes + k * n, 0, 0
            for i in range(n):
                total += at.own[i] * g[i]
                weight += at.own[i] * fabs(g[i])
            mine.sign[k] = 1 if total >= 0 else -1
            size[k] = weight
            l = k
            while l > 0 and size[mine.order[l - 1]] < weight:
                mine.order[l] = mine.order[l - 1]
                l -= 1
            mine.order[l] = k

    cdef real bound_by_vertices(self, Pricing *at, ChainCell *mine, real cutoff, real most) noexcept nogil:
        """At least G at all vertices; `most` where it exceeds that. What it is below the cutoff does not matter."""
        cdef int D = self.chain.n_cell, depth = 0, k
        cdef index n = self.chain.data.core.samples.n_padded
        cdef int tried[MOST_PLACES]     # signs tried at each depth
        cdef real value, worst = -INFINITY, sign, log_s = log(at.sums.scale) if at.sums.scale > 0 else 0
        cdef const real *w = self.chain.data.core.samples.weights
        cdef const real *g
        cdef const real *above
        cdef real *costs
        tried[0] = 0
        while depth >= 0:
            if tried[depth] == 2:
                depth -= 1
                continue
            k = mine.order[depth]
            sign = mine.sign[k] if tried[depth] == 0 else -mine.sign[k]
            tried[depth] += 1
            g, above, costs = mine.slopes + k * n, mine.costs + depth * n, mine.costs + (depth + 1) * n
            # costs are rounded by less than the part of all terms that CHAIN_COSTS has
            value = run_price_side(
                n, self.chain.data.core.total_weight, w, &self.prices[0], above, g, sign, log_s, costs)
            at.n_passes += 1
            at.n_terms += self.chain.data.core.n_samples
            if value <= max(cutoff, worst):
                worst = max(worst, value)
            elif depth == D - 1:
                value = min(value, self.evaluate_costs(at, costs))
                log_s = log(at.sums.scale) if at.sums.scale > 0 else log_s
                worst = max(worst, value)
                if worst >= most:
                    return most
            else:
                depth += 1
                tried[depth] = 0
        return worst

    cdef void bound(self, Pricing *at, Node *cell, real cutoff) noexcept nogil:
        cdef index n = self.family.n_connected
        cdef ChainCell *mine = self.held + (at - self.spaces)
        cdef real *low = node_low(cell)
        cdef real *high = node_high(cell, n)
        cdef real value, parent = -cell.lower
        if not self.open_strip(mine, low, high):
            cell.lower = INFINITY
            return
        at.sums.scale = 0
        value = self.bound_by_samples(at, mine, low, high, cutoff)
        cell.lower = max(cell.lower, -value)
        if value < cutoff:
            return
        self.choose_side(at, mine, cell)
        value = min(value, parent)
        self.open_tangents(mine)
        self.order_parameters(at, mine)
        value = self.bound_by_vertices(at, mine, cutoff, value)
        cell.lower = max(cell.lower, -value)

    cdef void choose_side(self, Pricing *at, ChainCell *mine, Node *cell) noexcept nogil:
        """By what samples lose, each no more than some nats; a wide range of scales first."""
        cdef int k, D = self.chain.n_cell
        cdef index i, n = self.chain.data.core.samples.n_padded
        cdef real total, h
        cdef const real *x
        cdef real *low = node_low(cell)
        cdef real *high = node_high(cell, D)
        for k in range(D):
            x, h, total = &self.chain.design[k, 0], mine.half[k], 0
            for i in range(n):
                total += at.own[i] * min(FLAT, h * x[i] * h * x[i])
            node_point(cell, D)[k] = mine.center[k]
            if self.chain.is_scale[k]:
                node_point(cell, D)[k] = sqrt(low[k] * high[k])
                if h > SCALE_FIRST * mine.center[k]:
                    total = FLAT * self.chain.data.core.total_weight
            at.error[k] = total
        self.choose_variable(at, cell)
