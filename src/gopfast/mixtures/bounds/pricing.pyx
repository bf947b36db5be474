"""What one component can save at given prices of the samples: its supremum over cells, cell by cell.

For prices lambda_i and a component with parameters theta let

    G(theta) = max over tau in [0, 1]^N of  sum_i w_i tau_i (lambda_i - c_i(theta) - log tau_i) + S log(S / W),

less what a prior says of theta. Every mixture of K components costs at least sum_i w_i lambda_i - sum_k G(theta_k)
(docs/theory.md, "The pricing bound"). In a cell of one component the family gives a minorant of its costs and facets,
both linear in the statistics; so for any multipliers q >= 0 of the facets

    sup of G over the cell  <=  G at the costs c(q)  less the constants:

one data pass (csrc/price.h), convex in q. The best q is found by a projected Newton method; each of its passes bounds
the cell. `ComponentPricing` keeps the cells of one component as a best-first queue and drops those that cannot hold a
component of any solution below a limit.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, isfinite, log
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from gopfast.mixtures.families.family cimport Facet, Family
from gopfast.mixtures.data.passes cimport PRICE_HESSIAN, PRICE_VALUE, price_scratch_size, run_price
from gopfast.mixtures.bounds.dense cimport dense_backward, dense_factor, dense_forward
from gopfast.mixtures.bounds.subproblem cimport take_subproblem
from gopfast.mixtures.data.samples cimport take_costs
from gopfast.search.arena cimport Arena
from gopfast.search.stop cimport clock
from gopfast.search.tree cimport Node, Tree, divisible, node_high, node_low, node_point, node_warm
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport index, real

# Steps of multipliers are damped so that they exceed typical values by no more than about this factor.
cdef real SUMMING = 1e-13        # rounding error of a sum of suprema, relative to its terms: far above K u
cdef real SETTLED = 1e-10        # what a step must promise, relative to the bound, to be worth a pass
cdef real NO_ERROR = 1e-12       # an error of the minorant below this part of the bound says nothing of where to split
cdef real DAMPED = 1 + 1e-8      # of the Hessian's diagonal, which may be singular
cdef real SMALLEST = 1e-280      # stands for 0 in a divisor
cdef real LONGEST = 30.0
cdef int MOST_RETREATS = 4
# A cell whose bound is not this part nearer to the cutoff than its parent's, after so many passes or when it is stuck,
# begins again without the parent's multipliers.
cdef int AFRESH = 5
cdef real PROGRESS = 0.05
# An ascent from the split point of every so-manieth cell looks for parameters of a larger value.
cdef index ASCEND_EVERY = 8
cdef int ASCENT = 5


cdef class ComponentPricing:
    """Cells of one component, and the suprema of G over them.

    Parameters
    ----------
    family : Family
        Of one component, which stands for any of K: its mass is anything from 0 to W. Without shared parameters.
    max_passes : int
        Data passes that one cell may take.
    patience : float
        A cell is left once Newton's model promises less than this part of what its bound exceeds the cutoff by.
    """

    def __cinit__(self, Family family, int max_passes=40, real patience=0.02):
        cdef size_t n = family.n_connected, n_padded = family.data.core.samples.n_padded
        if family.n_components != 1 or family.n_shared:
            raise ValueError("pricing takes a family of one component without shared parameters")
        self.family, self.max_passes, self.patience = family, max_passes, patience
        self.lay_out()
        self.prices, self.best_point = np.zeros(n_padded), np.zeros(n)
        self.tree = Tree(family.n_connected, family.n_facets + 1)
        low, high = self.root()
        self.widths = np.maximum(high - low, SMALLEST)
        self.attained = -INFINITY

    cdef int lay_out(self) except -1:
        cdef Family family = self.family
        cdef size_t d = family.n_columns, F = family.n_statistics, Q = family.n_facets, n = family.n_connected
        cdef Pricing *at = &self.at
        cdef Arena arena = Arena()
        self.arena = arena
        while arena.again():
            take_subproblem(arena, family, &at.sub)
            take_costs(arena, &at.costs, 1, d)
            take_costs(arena, &at.rounding, 1, d)
            at.sums.first, at.sums.inner_first, at.sums.second = arena.take(F), arena.take(F), arena.take(F * F)
            at.q, at.base, at.rhs, at.gradient = arena.take(Q), arena.take(Q), arena.take(Q), arena.take(Q)
            at.step, at.curvature = arena.take(Q), arena.take(Q * Q)
            at.moments, at.image = arena.take((1 + F) * (1 + F)), arena.take(1 + F)
            at.coefficients, at.size = arena.take(1 + F), arena.take(1 + F)
            at.error, at.point = arena.take(n), arena.take(n)
            self.free = <int *> arena.take_bytes(Q * sizeof(int))
            at.scratch = arena.take(price_scratch_size(family.data.core.samples.n_padded, <int> F))
        return 0

    # One cell

    cdef real evaluate(self, const real *q) noexcept nogil:
        """One data pass at the multipliers: what no component of the cell exceeds, rounding included."""
        cdef int d = self.family.n_columns, F = self.family.n_statistics, r, s, j
        cdef int n_terms = self.family.n_facets + 2 * d + 20
        cdef Pricing *at = &self.at
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
        run_price(&self.family.data.core.samples, self.family.data.core.total_weight, &self.prices[0], &at.costs,
                  &at.rounding, PRICE_HESSIAN, at.scratch, &at.sums)
        self.n_passes += 1
        constant = at.sums.value - constant + 64 * ROUND * (n_terms * size + at.sums.value)
        return constant if isfinite(constant) else INFINITY

    cdef void gradient(self) noexcept nogil:
        """OUT: the facets' values at the column."""
        cdef int r, s
        cdef Pricing *at = &self.at
        cdef const Facet *facet
        cdef real value
        for r in range(self.family.n_facets):
            facet = &at.sub.facets[r]
            value = facet.constant + at.sub.e_low * facet.prior
            for s in range(facet.count):
                value += facet.coefficients[s] * (at.sums.mass if facet.first + s == 0
                                                  else at.sums.first[facet.first + s - 1])
            at.gradient[r] = value

    cdef real direction(self) noexcept nogil:
        """Newton step of the multipliers that may move; returns what its model promises."""
        cdef int F = self.family.n_statistics, n = 1 + F, m = 0, r, o, s, i, j
        cdef Pricing *at = &self.at
        cdef const Facet *facet
        cdef const Facet *other
        cdef real value, promised = 0
        cdef real *M = at.moments
        cdef real *H = at.curvature
        cdef const real *line
        self.gradient()
        for r in range(self.family.n_facets):
            facet = &at.sub.facets[r]
            at.step[r] = 0
            if not facet.active or (at.q[r] <= 0 and at.gradient[r] >= 0) or (
                    at.q[r] >= facet.cap and at.gradient[r] <= 0):
                continue
            self.free[m] = r
            m += 1
        if m == 0:
            return 0
        # d^2 value = inner second moments + (inner first moments)^2 / saturated mass
        value = 1 / at.sums.saturated if at.sums.saturated > 0 else 0
        M[0] = at.sums.inner + value * at.sums.inner * at.sums.inner
        for i in range(F):
            M[1 + i] = at.sums.inner_first[i] * (1 + value * at.sums.inner)
            for j in range(i, F):
                M[(1 + i) * n + 1 + j] = (at.sums.second[i * F + j]
                                          + value * at.sums.inner_first[i] * at.sums.inner_first[j])
        for i in range(n):
            for j in range(i):
                M[i * n + j] = M[j * n + i]
        for i in range(m):
            facet = &at.sub.facets[self.free[i]]
            memset(at.image, 0, n * sizeof(real))
            for s in range(facet.count):
                value = facet.coefficients[s]
                if value == 0:
                    continue
                line = M + (facet.first + s) * n
                for j in range(n):
                    at.image[j] += value * line[j]
            for o in range(i, m):
                other = &at.sub.facets[self.free[o]]
                value = 0
                for s in range(other.count):
                    value += other.coefficients[s] * at.image[other.first + s]
                H[i * m + o] = value
            H[i * m + i] = H[i * m + i] * DAMPED + fabs(at.gradient[self.free[i]]) / (
                LONGEST * max(facet.multiplier, at.q[self.free[i]])) + SMALLEST
        dense_factor(m, H)
        for i in range(m):
            at.rhs[i] = -at.gradient[self.free[i]]
        dense_forward(m, H, 1, at.rhs)
        dense_backward(m, H, at.rhs)
        for i in range(m):
            r = self.free[i]
            at.step[r] = at.rhs[i]
            promised -= 0.5 * at.gradient[r] * at.step[r]
        return promised

    cdef void bound(self, Node *cell, real cutoff) noexcept nogil:
        """Lowers the cell's bound (-cell.lower), chooses where to split; may stop once it is below the cutoff."""
        cdef int Q = self.family.n_facets, turn, r, retreats = 0
        cdef index n = self.family.n_connected
        cdef Pricing *at = &self.at
        cdef float *warm = node_warm(cell, n)
        cdef real value, last = INFINITY, promised, parent = -cell.lower, least = INFINITY
        cdef bint afresh = not isfinite(parent), stuck
        self.n_cells += 1
        self.family.relax(node_low(cell), node_high(cell, n), &at.sub)
        for r in range(Q):
            at.q[r] = 0
            if at.sub.facets[r].active:
                at.q[r] = min(at.sub.facets[r].cap, max(0.0, <real> warm[r]))
        at.sums.scale = 0
        for turn in range(self.max_passes):
            value = self.evaluate(at.q)
            cell.lower = max(cell.lower, -value)
            least = min(least, value)
            if value < cutoff:
                return
            stuck = False
            if value < last:
                retreats, last = 0, value
                self.place(cell)
                promised = self.direction()
                for r in range(Q):
                    at.base[r] = at.q[r]
                    warm[r] = <float> at.q[r]
                if promised < self.patience * (value - cutoff) or promised < SETTLED * (1 + fabs(value)):
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
                at.sums.scale = 0
                for r in range(Q):
                    at.q[r] = at.base[r] = 0
            elif stuck:
                break

    cdef void place(self, Node *cell) noexcept nogil:
        """Where to split: by the largest error of the minorant at the column, or in the widest side of all."""
        cdef index n = self.family.n_connected, a
        cdef Pricing *at = &self.at
        cdef real *low = node_low(cell)
        cdef real *high = node_high(cell, n)
        cdef real most = 0, total = 0, width
        self.family.place(low, high, &at.sub, &at.sums.mass, at.sums.first, at.sub.e_low, node_point(cell, n), at.error)
        cell.branch = -1
        for a in range(n):
            if not divisible(low[a], high[a]):
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
            if divisible(low[a], high[a]) and width > most:
                most = width
                cell.branch = a

    cdef real ascend(self, real *point, int n_steps) noexcept nogil:
        """Alternating ascent of G from parameters, in place; returns the value reached."""
        cdef int d = self.family.n_columns, j, turn
        cdef Pricing *at = &self.at
        cdef real e, prior, value = -INFINITY
        at.rounding.offsets[0] = 0
        for j in range(d):
            at.rounding.linear[j] = at.rounding.quadratic[j] = 0
        at.sums.scale = 0
        for turn in range(n_steps + 1):
            self.family.costs(point, &at.costs)
            prior = self.family.prior_cost(point, &e)
            run_price(&self.family.data.core.samples, self.family.data.core.total_weight, &self.prices[0], &at.costs,
                      &at.rounding, PRICE_HESSIAN, at.scratch, &at.sums)
            self.n_passes += 1
            if at.sums.value - prior > value:
                value = at.sums.value - prior
            elif turn > 1:
                break
            if not at.sums.mass > 0 or turn == n_steps:
                break
            if value > self.attained:
                self.attained = value
                memcpy(&self.best_point[0], point, self.family.n_connected * sizeof(real))
            self.family.maximise(&at.sums.mass, at.sums.first, e, &at.costs, point)
        if value > self.attained:
            self.attained = value
            memcpy(&self.best_point[0], point, self.family.n_connected * sizeof(real))
        return value

    # All cells

    cdef int open(self, const real *low, const real *high) except -1:
        """A cell of unknown bound; nothing where no component fits in."""
        cdef index n = self.family.n_connected
        cdef Node *cell = self.tree.new_node()
        if cell == NULL:
            raise MemoryError
        memcpy(node_low(cell), low, n * sizeof(real))
        memcpy(node_high(cell, n), high, n * sizeof(real))
        memset(node_warm(cell, n), 0, (self.family.n_facets + 1) * sizeof(float))
        cell.lower = -INFINITY
        if not self.family.tighten_alone(node_low(cell), node_high(cell, n)):
            self.tree.free_node(cell)
            return 0
        self.bound(cell, self.attained)
        if self.tree.push(cell) < 0:
            self.tree.free_node(cell)
            raise MemoryError
        return 1

    cdef int divide(self, Node *cell, real cutoff, real threshold) except -1:
        """Bounds the two halves of a cell and keeps those that are not below the threshold; frees the cell."""
        cdef Node *halves[2]
        cdef int made = self.tree.bisect(cell, halves), i
        cdef index n = self.family.n_connected
        cdef bint failed = made < 0
        if made < 0:
            self.tree.push(cell)
            raise MemoryError
        self.tree.free_node(cell)
        for i in range(made):
            if self.family.tighten_alone(node_low(halves[i]), node_high(halves[i], n)):
                self.bound(halves[i], cutoff)
                if not -halves[i].lower < threshold:
                    if self.tree.push(halves[i]) < 0:
                        failed = True
                    else:
                        continue
            self.n_dropped += 1
            self.tree.free_node(halves[i])
        if failed:
            raise MemoryError
        return made

    def root(self):
        """The box of all components, (n,) and (n,)."""
        cdef real[::1] low = np.zeros(self.family.n_connected), high = np.zeros(self.family.n_connected)
        self.family.root(&low[0], &high[0])
        self.family.tighten_alone(&low[0], &high[0])
        return np.asarray(low), np.asarray(high)

    def set_prices(self, prices):
        """New prices (n_samples,); all cells are forgotten."""
        np.asarray(self.prices)[:len(prices)] = prices
        self.tree.clear()
        self.covered = False
        self.attained = -INFINITY

    def take_prices(self, prices):
        """The same, unless they are those at hand: bounds of cells are never read at other prices than their own."""
        if not np.array_equal(np.asarray(self.prices)[:len(prices)], prices):
            self.set_prices(prices)

    def cover(self, low, high):
        """Take boxes (m, n), (m, n) as the cells that all components lie in."""
        cdef real[:, ::1] least = np.array(low, dtype=np.float64), most = np.array(high, dtype=np.float64)
        cdef index i
        for i in range(least.shape[0]):
            self.open(&least[i, 0], &most[i, 0])
        self.covered = True

    def climb(self, points, int n_steps=30):
        """Ascent from parameters (m, n): values (m,) and where they end (m, n)."""
        cdef real[:, ::1] at = np.array(points, dtype=np.float64).reshape(-1, self.family.n_connected)
        cdef real[::1] values = np.empty(at.shape[0])
        cdef index i
        for i in range(at.shape[0]):
            values[i] = self.ascend(&at[i, 0], n_steps)
        return np.asarray(values), np.asarray(at)

    def costs_at(self, point):
        """Costs (n_samples,) of a component with given parameters, and what its prior costs."""
        cdef real[::1] theta = np.array(point, dtype=np.float64).ravel()
        cdef int d = self.family.n_columns
        cdef real e, prior
        self.family.costs(&theta[0], &self.at.costs)
        prior = self.family.prior_cost(&theta[0], &e)
        columns, _ = self.family.data.arrays()
        center = np.array(<real[:d]> self.at.costs.centers)[:, None]
        linear = np.array(<real[:d]> self.at.costs.linear)[:, None]
        quadratic = np.array(<real[:d]> self.at.costs.quadratic)[:, None]
        z = columns - center
        return (z * (linear + quadratic * z)).sum(axis=0) - self.at.costs.offsets[0], prior

    def columns(self, prices, points):
        """The best columns of components, for the master problem; these prices are kept.

        Parameters
        ----------
        prices : ndarray, shape (N,)
        points : ndarray, shape (A, n)

        Returns
        -------
        mass : ndarray, shape (A, N)
            w tau.
        inner : ndarray, shape (A, N)
            w tau where 0 < tau < 1, 0 elsewhere.
        value : ndarray, shape (A,)
            G of every component.
        saturated : ndarray, shape (A,)
            Weight of the samples with tau = 1.
        """
        cdef index N = len(prices), a, i
        cdef real[:, ::1] at = np.ascontiguousarray(points, dtype=np.float64)
        cdef real[:, ::1] mass = np.zeros((at.shape[0], N)), inner = np.zeros((at.shape[0], N))
        cdef real[::1] value = np.empty(at.shape[0]), saturated = np.empty(at.shape[0])
        cdef const real *u = self.at.scratch + self.prices.shape[0]
        cdef const real *w = self.family.data.core.samples.weights
        cdef real s, tau
        self.take_prices(prices)
        for a in range(at.shape[0]):
            value[a] = self.price(&at[a, 0])
            saturated[a], s = self.at.sums.saturated, self.at.sums.scale
            if s > 0:
                for i in range(N):
                    tau = s * u[i]
                    mass[a, i] = w[i] * min(1.0, tau)
                    inner[a, i] = w[i] * tau if tau < 1 else 0
        return np.asarray(mass), np.asarray(inner), np.asarray(value), np.asarray(saturated)

    def values(self, prices, points):
        """G of components (A, n) at prices (N,), which are kept."""
        cdef real[:, ::1] at = np.ascontiguousarray(points, dtype=np.float64)
        cdef real[::1] value = np.empty(at.shape[0])
        cdef index a
        self.take_prices(prices)
        for a in range(at.shape[0]):
            value[a] = self.price(&at[a, 0])
        return np.asarray(value)

    cdef real price(self, const real *point) noexcept nogil:
        """G of a component with given parameters; its column is left in the scratch."""
        cdef int j
        cdef real e, prior
        cdef Pricing *at = &self.at
        at.rounding.offsets[0] = 0
        for j in range(self.family.n_columns):
            at.rounding.linear[j] = at.rounding.quadratic[j] = 0
        self.family.costs(point, &at.costs)
        prior = self.family.prior_cost(point, &e)
        run_price(&self.family.data.core.samples, self.family.data.core.total_weight, &self.prices[0], &at.costs,
                  &at.rounding, PRICE_VALUE, at.scratch, &at.sums)
        return at.sums.value - prior

    def seeded(self, rng, int n):
        """Parameters (n, n_connected) to start an ascent from, around samples that `rng` draws."""
        return np.array([self.family.seeded(rng) for _ in range(n)])

    def bound_cell(self, low, high, real cutoff=-INFINITY, multipliers=None, int n_passes=0):
        """For tests: the bound of one cell; with multipliers (Q,) that of one pass with these."""
        cdef index n = self.family.n_connected, a
        cdef real[::1] least = np.array(low, dtype=np.float64).ravel(), most = np.array(high, dtype=np.float64).ravel()
        cdef real[::1] q
        cdef Node *cell = self.tree.new_node()
        cdef int most_passes = self.max_passes
        cdef real patience = self.patience, found
        if cell == NULL:
            raise MemoryError
        try:
            memcpy(node_low(cell), &least[0], n * sizeof(real))
            memcpy(node_high(cell, n), &most[0], n * sizeof(real))
            memset(node_warm(cell, n), 0, (self.family.n_facets + 1) * sizeof(float))
            cell.lower = -INFINITY
            if multipliers is not None:
                q = np.array(multipliers, dtype=np.float64)
                self.family.relax(&least[0], &most[0], &self.at.sub)
                for a in range(q.shape[0]):
                    q[a] = min(self.at.sub.facets[a].cap, q[a]) if self.at.sub.facets[a].active else 0
                self.at.sums.scale = 0
                return self.evaluate(&q[0])
            if n_passes:
                self.max_passes, self.patience = n_passes, 0
            self.bound(cell, cutoff)
            found = -cell.lower
            return found
        finally:
            self.max_passes, self.patience = most_passes, patience
            self.tree.free_node(cell)

    @property
    def n_open(self):
        """Cells that are left."""
        return self.tree.n_open

    @property
    def supremum(self):
        """What G exceeds in none of the cells that are left; -inf: there are none; inf: no cells were taken."""
        if not self.covered:
            return INFINITY
        return -self.tree.heap[0].lower if self.tree.n_open else -INFINITY

    cdef int need_cells(self) except -1:
        if not self.covered:
            raise ValueError("no cells were taken since the prices changed")
        return 0

    def best(self):
        """Parameters (n,) of the largest value seen."""
        return np.array(self.best_point)

    def search(self, real total, real limit, int K, real tolerance, real stop_at=INFINITY, index max_cells=1 << 62,
               real deadline=INFINITY):
        """Divide the cells of the largest bounds.

        Parameters
        ----------
        total : float
            At most sum_i w_i lambda_i plus the family's constant.
        limit : float
            Only solutions below it matter: cells that hold no component of any are dropped.
        K : int
            Number of components.
        tolerance : float
            How far the supremum may stay above the largest value attained.
        stop_at : float
            Stop once a value above this is attained.

        Returns
        -------
        str : "proved" (no solution lies below the limit), "tight", "attained", "cells" or "time"
        """
        cdef Node *cell
        cdef real sup, threshold
        cdef index end = self.n_cells + max_cells, popped = 0, n = self.family.n_connected
        self.need_cells()
        while self.tree.n_open:
            sup = -self.tree.heap[0].lower
            if sup <= floor_of(total, limit, K, sup):
                return "proved"
            if self.attained > stop_at:
                return "attained"
            if sup <= self.attained + tolerance:
                return "tight"
            if self.n_cells >= end:
                return "cells"
            if popped % 16 == 0 and clock() > deadline:
                return "time"
            cell = self.tree.pop()
            threshold = floor_of(total, limit, K, sup)
            if cell.branch < 0:
                self.tree.push(cell)
                return "cells"
            if popped % ASCEND_EVERY == 0:
                memcpy(self.at.point, node_point(cell, n), n * sizeof(real))
                self.ascend(self.at.point, ASCENT)
            popped += 1
            self.divide(cell, max(threshold, self.attained), threshold)
        return "proved"

    def shave(self, real total, real limit, int K, real share, index max_cells=1 << 62, real deadline=INFINITY):
        """Divide all cells whose minorants lose more than `share` of what they exceed the threshold by.

        Drops those that hold no component of any solution below the limit. Returns whether there is more to do.
        """
        cdef index i, n_held, end = self.n_cells + max_cells, n = self.family.n_connected
        cdef Node **held
        cdef Node *cell
        cdef real threshold, sup
        cdef bint more = True, divided
        self.need_cells()
        while self.tree.n_open:
            sup = -self.tree.heap[0].lower
            threshold = floor_of(total, limit, K, sup)
            n_held = self.tree.n_open
            held = <Node **> calloc(n_held, sizeof(Node *))
            if held == NULL:
                raise MemoryError
            for i in range(n_held):
                held[i] = self.tree.pop()
            divided = False
            for i in range(n_held):
                cell = held[i]
                if -cell.lower < threshold:
                    self.n_dropped += 1
                    self.tree.free_node(cell)
                elif (cell.branch < 0 or node_warm(cell, n)[self.family.n_facets] < share * (-cell.lower - threshold)
                        or self.n_cells >= end or clock() > deadline):
                    self.tree.push(cell)
                else:
                    divided = True
                    self.divide(cell, threshold, threshold)
            free(held)
            if not divided:
                more = self.n_cells >= end or clock() > deadline
                break
        return more and self.tree.n_open > 0

    def cells(self):
        """Boxes (m, n), (m, n), bounds (m,) and split points (m, n) of the cells that are left."""
        cdef index n = self.family.n_connected, i, a
        self.need_cells()
        cdef real[:, ::1] point = np.empty((self.tree.n_open, n))
        cdef real[:, ::1] low = np.empty((self.tree.n_open, n)), high = np.empty((self.tree.n_open, n))
        cdef real[::1] upper = np.empty(self.tree.n_open)
        for i in range(self.tree.n_open):
            for a in range(n):
                low[i, a], high[i, a] = node_low(self.tree.heap[i])[a], node_high(self.tree.heap[i], n)[a]
                point[i, a] = node_point(self.tree.heap[i], n)[a]
            upper[i] = -self.tree.heap[i].lower
        return np.asarray(low), np.asarray(high), np.asarray(upper), np.asarray(point)


cdef real floor_of(real total, real limit, int K, real sup) noexcept nogil:
    """No component of a solution below the limit has a smaller G: total - sum of K values < limit."""
    cdef real value = total - limit - (K - 1) * sup
    return value - SUMMING * (fabs(total) + fabs(limit) + K * fabs(sup))
