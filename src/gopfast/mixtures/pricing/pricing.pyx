"""What one component can save at given prices of the samples: its supremum over cells, cell by cell.

For prices lambda_i and a component with parameters theta let

    G(theta) = max over tau in [0, 1]^N of  sum_i w_i tau_i (lambda_i - c_i(theta) - log tau_i) + S log(S / W),

less what a prior says of theta. Every mixture of K components costs at least sum_i w_i lambda_i - sum_k G(theta_k),
(P1) of docs/theory/prices.md. `ComponentPricing` keeps the cells of one component as a best-first queue and
drops those that cannot hold a component of any solution below a limit. `price_cell` bounds them, a fixed number at a
time on all threads; results come in order, and do not depend on the number of threads.

Theory: (P1) and (P9) of docs/theory/prices.md; (C1) of docs/theory/cells.md.
"""

import numpy as np

from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY, fabs
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from gopfast.mixtures.pricing.margins cimport SUMMING
from gopfast.mixtures.pricing.price_cell cimport Pricing
from gopfast.mixtures.pricing.tuning cimport ASCEND_EVERY, ASCENT, PRICING_PARALLEL_FROM as PARALLEL_FROM
from gopfast.search.stop cimport clock
from gopfast.search.tree cimport node_high, node_low, node_point, node_warm


cdef class ComponentPricing(CellPricing):
    """Cells of one component, and the suprema of G over them; parameters are those of `CellPricing`."""

    def __init__(self, Family family, int max_passes=40, real patience=0.02, int n_threads=1, record=None):
        self.tree = Tree(family.n_connected, self.n_warm)
        self.ledger = None if record is None else Ledger(family.n_connected, self.n_warm, record)
        self.best_point = np.zeros(family.n_connected)
        self.starts, self.reached = np.zeros((BATCH, family.n_connected)), np.zeros(BATCH)
        self.n_batch = self.n_starts = 0
        self.ascend_every = ASCEND_EVERY
        self.attained = -INFINITY

    def __dealloc__(self):
        cdef int i
        for i in range(self.n_batch):
            free(self.batch[i])

    @property
    def n_spent(self):
        """What cells and ascents have cost so far, in terms of the kind that most are of."""
        return self.spent()

    cdef index spent(self) noexcept nogil:
        return self.terms()

    @property
    def cell_bytes(self):
        """Memory that a cell takes, in bytes."""
        return self.tree.node_bytes

    # All cells

    cdef int open(self, const real *low, const real *high, const float *warm) except -1:
        """A cell of unknown bound in the batch; nothing where no component fits in."""
        cdef index n = self.family.n_connected
        cdef Node *cell = self.tree.new_node()
        if cell == NULL:
            raise MemoryError
        memcpy(node_low(cell), low, n * sizeof(real))
        memcpy(node_high(cell, n), high, n * sizeof(real))
        memcpy(node_warm(cell, n), warm, self.n_warm * sizeof(float))
        cell.lower = -INFINITY
        if self.ledger is not None:
            self.ledger.begin(cell)
        if not self.family.tighten_alone(node_low(cell), node_high(cell, n)):
            self.tree.free_node(cell)
            return 0
        self.n_cells += 1
        self.batch[self.n_batch] = cell
        self.n_batch += 1
        return 1

    cdef int split(self, Node *cell) except -1:
        """Puts the halves of a cell, which is freed, into the batch."""
        cdef Node *halves[2]
        cdef int made = self.tree.bisect(cell, halves), i
        cdef index n = self.family.n_connected
        if made < 0:
            self.tree.push(cell)
            raise MemoryError
        if self.ledger is not None:
            self.ledger.divided(cell, halves, made)
        self.tree.free_node(cell)
        self.n_cells += made
        for i in range(made):
            if self.ledger is not None:
                self.ledger.remember(halves[i])
            if self.family.tighten_alone(node_low(halves[i]), node_high(halves[i], n)):
                self.batch[self.n_batch] = halves[i]
                self.n_batch += 1
            else:
                if self.ledger is not None:
                    self.ledger.emptied(halves[i])
                self.n_dropped += 1
                self.tree.free_node(halves[i])
        return made

    cdef int drop(self, Node *cell) except -1:
        """Frees a cell that holds no component of any solution below the limit."""
        self.n_dropped += 1
        try:
            if self.ledger is not None:
                self.ledger.leaf(cell)
        finally:
            self.tree.free_node(cell)
        return 0

    def tell_open(self):
        """Tell a proof of the cells that are left."""
        cdef index i
        for i in range(self.tree.n_open):
            self.ledger.leaf(self.tree.heap[i])
        self.ledger.flush()

    cdef void task(self, Pricing *at, int i, real cutoff) noexcept nogil:
        """Bounds a cell of the batch or, beyond them, ascends from a start."""
        if i < self.n_batch:
            self.bound(at, self.batch[i], cutoff)
        else:
            i -= self.n_batch
            self.reached[i] = self.ascend(at, &self.starts[i, 0], ASCENT, False, 0, -INFINITY)

    cdef int expand(self, real threshold, real cutoff) except -1:
        """Bounds the cells of the batch, ascends, and keeps the cells that are not below the threshold.

        What a cell's bound is below the cutoff does not matter.
        """
        cdef int i, n_tasks = self.n_batch + self.n_starts
        cdef bint failed = False
        if self.n_threads == 1 or n_tasks * self.family.data.core.n_samples < PARALLEL_FROM:
            with nogil:
                for i in range(n_tasks):
                    self.task(self.spaces, i, cutoff)
        else:
            for i in prange(n_tasks, schedule="dynamic", chunksize=1, num_threads=self.n_threads, nogil=True):
                self.task(self.spaces + threadid(), i, cutoff)
        for i in range(self.n_starts):
            self.offer(self.reached[i], &self.starts[i, 0])
        for i in range(self.n_batch):
            if not failed and not -self.batch[i].lower < threshold:
                failed = self.tree.push(self.batch[i]) < 0
                if not failed:
                    continue
            self.drop(self.batch[i])
        self.n_batch = self.n_starts = 0
        if failed:
            raise MemoryError
        return 0

    cdef void offer(self, real value, const real *point) noexcept nogil:
        """A value of G that is attained."""
        if value > self.attained:
            self.attained = value
            memcpy(&self.best_point[0], point, self.family.n_connected * sizeof(real))

    def set_prices(self, prices):
        """New prices (n_samples,); all cells are forgotten."""
        np.asarray(self.prices)[:len(prices)] = prices
        if self.leaves_out:
            if self.blocks is None:
                self.take_blocks()
            self.blocks.set_prices(prices)
        self.tree.clear()
        self.covered = False
        self.attained = -INFINITY

    def take_prices(self, prices):
        """The same, unless they are those at hand: bounds of cells are never read at other prices than their own."""
        if not np.array_equal(np.asarray(self.prices)[:len(prices)], prices):
            self.set_prices(prices)

    def open_boxes(self, low, high, bint last=True, warm=None):
        """Take boxes (m, n), (m, n) as the cells that all components lie in, or unless `last` as some of them.

        They begin with what other cells have handed on, `warm` (m, n_warm), if there is any.
        """
        cdef real[:, ::1] least = np.array(low, dtype=np.float64), most = np.array(high, dtype=np.float64)
        none = np.zeros((least.shape[0], self.n_warm), dtype=np.float32)
        cdef float[:, ::1] begin = none if warm is None else np.array(warm, dtype=np.float32)
        cdef index i
        if begin.shape[0] != least.shape[0] or begin.shape[1] != self.n_warm:
            raise ValueError("what boxes begin with is not theirs")
        for i in range(least.shape[0]):
            self.open(&least[i, 0], &most[i, 0], &begin[i, 0])
            if self.n_batch == BATCH or i + 1 == least.shape[0]:
                self.expand(-INFINITY, self.attained)
        self.covered = last

    def floor(self, real total, real limit, int K):
        """What every component of any solution below the limit saves at the least; parameters are those of `search`."""
        return floor_of(total, limit, K, self.supremum)

    def climb(self, points, int n_steps=30, real deadline=INFINITY, bint exactly=True, real near=0.0,
              real least=-INFINITY):
        """Ascents from parameters (m, n).

        Parameters
        ----------
        points : ndarray, shape (m, n)
        n_steps : int
            Of each at most.
        deadline : float
            Of the monotonic clock.
        exactly : bool
            By passes over the samples, where there are groups of them.
        near : float
            How near the values are to be to those at the maxima, as the last gains foresee it.
        least : float
            Ascents that would not come to this, as their last gains foresee it, are given up.

        Returns
        -------
        values : ndarray, shape (m,)
            -inf of those past the deadline.
        points : ndarray, shape (m, n)
            The best on the way.
        """
        cdef real[:, ::1] at = np.array(points, dtype=np.float64).reshape(-1, self.family.n_connected)
        cdef real[::1] values = np.full(at.shape[0], -INFINITY)
        cdef index i
        for i in prange(at.shape[0], schedule="dynamic", chunksize=1, num_threads=self.n_threads, nogil=True):
            if not clock() > deadline:
                values[i] = self.ascend(self.spaces + threadid(), &at[i, 0], n_steps, exactly, near, least)
        for i in range(at.shape[0]):
            self.offer(values[i], &at[i, 0])
        return np.asarray(values), np.asarray(at)

    def costs_at(self, point, places=None):
        """Costs (n_samples,) of a component with given parameters, and what its prior costs; or of some samples."""
        cdef real[::1] theta = np.array(point, dtype=np.float64).ravel()
        cdef int d = self.family.n_columns, j
        cdef real e, prior
        self.family.costs(&theta[0], &self.spaces.costs)
        prior = self.family.prior_cost(&theta[0], &e)
        columns, _ = self.family.data.arrays()
        chosen = slice(None) if places is None else places
        total = np.zeros(columns.shape[1] if places is None else len(places))
        if self.family.n_each:
            total += np.array(<real[:self.family.data.core.n_samples]> self.spaces.costs.each)[chosen]
        for j in range(d):
            z = columns[j][chosen] - self.spaces.costs.centers[j]
            slope = self.spaces.costs.quadratic[j] * z
            slope += self.spaces.costs.linear[j]
            slope *= z
            total += slope
        total -= self.spaces.costs.offsets[0]
        return total, prior

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
        cdef index N = len(prices), a
        cdef real[:, ::1] at = np.ascontiguousarray(points, dtype=np.float64)
        cdef real[:, ::1] mass = np.zeros((at.shape[0], N)), inner = np.zeros((at.shape[0], N))
        cdef real[::1] value = np.empty(at.shape[0]), saturated = np.empty(at.shape[0])
        self.take_prices(prices)
        for a in prange(at.shape[0], schedule="dynamic", chunksize=1, num_threads=self.n_threads, nogil=True):
            value[a] = self.column(self.spaces + threadid(), &at[a, 0], &mass[a, 0], &inner[a, 0], &saturated[a])
        return np.asarray(mass), np.asarray(inner), np.asarray(value), np.asarray(saturated)

    cdef real column(self, Pricing *at, const real *point, real *mass, real *inner, real *saturated) noexcept nogil:
        """OUT: a component's column, as `columns` says."""
        cdef index i
        cdef real value = self.price(at, point), s = at.sums.scale, tau
        cdef const real *u = at.scratch + self.prices.shape[0]
        cdef const real *w = self.family.data.core.samples.weights
        saturated[0] = at.sums.saturated
        if s > 0:
            for i in range(self.family.data.core.n_samples):
                tau = s * u[i]
                mass[i] = w[i] * min(1.0, tau)
                inner[i] = w[i] * tau if tau < 1 else 0
        return value

    def values(self, prices, points):
        """G of components (A, n) at prices (N,), which are kept."""
        cdef real[:, ::1] at = np.ascontiguousarray(points, dtype=np.float64)
        cdef real[::1] value = np.empty(at.shape[0])
        cdef index a
        self.take_prices(prices)
        for a in prange(at.shape[0], schedule="dynamic", chunksize=1, num_threads=self.n_threads, nogil=True):
            value[a] = self.price(self.spaces + threadid(), &at[a, 0])
        return np.asarray(value)

    def bounds_of(self, prices, low, high, cutoffs, warm):
        """Bounds of G over cells (m, n), (m, n) at prices (N,), which are kept.

        What a bound is below its cutoff (m,) does not matter. The multipliers `warm` (m, n_warm), of float32, are where
        each begins.

        Returns
        -------
        low, high : ndarray, shape (m, n)
            What is left of the cells once tightened.
        upper : ndarray, shape (m,)
            -inf where no component fits in.
        branch : ndarray of int, shape (m,)
            Where to split a cell, -1: nowhere,
        point : ndarray, shape (m, n)
            and at what.
        warm : ndarray, shape (m, n_warm)
        """
        cdef float[:, ::1] begin = np.array(warm, dtype=np.float32)
        cdef real[:, ::1] least = np.array(low, dtype=np.float64), most = np.array(high, dtype=np.float64)
        cdef real[::1] below = np.ascontiguousarray(cutoffs, dtype=np.float64), upper = np.empty(len(cutoffs))
        cdef index m = below.shape[0], n = self.family.n_connected, i
        cdef int[::1] branch = np.full(m, -1, dtype=np.intc)
        cdef real[:, ::1] point = np.zeros((m, n))
        cdef Node **held = <Node **> calloc(m + 1, sizeof(Node *))
        if held == NULL:
            raise MemoryError
        try:
            self.take_prices(prices)
            for i in range(m):
                held[i] = self.tree.new_node()
                if held[i] == NULL:
                    raise MemoryError
                memcpy(node_low(held[i]), &least[i, 0], n * sizeof(real))
                memcpy(node_high(held[i], n), &most[i, 0], n * sizeof(real))
                memcpy(node_warm(held[i], n), &begin[i, 0], self.n_warm * sizeof(float))
                held[i].lower, held[i].branch = -INFINITY, -1
            for i in prange(m, schedule="dynamic", chunksize=16, num_threads=self.n_threads, nogil=True):
                if self.family.tighten_alone(node_low(held[i]), node_high(held[i], n)):
                    self.bound(self.spaces + threadid(), held[i], below[i])
                else:
                    held[i].lower = INFINITY
            for i in range(m):
                memcpy(&least[i, 0], node_low(held[i]), n * sizeof(real))
                memcpy(&most[i, 0], node_high(held[i], n), n * sizeof(real))
                memcpy(&begin[i, 0], node_warm(held[i], n), self.n_warm * sizeof(float))
                upper[i], branch[i] = -held[i].lower, held[i].branch
                if branch[i] >= 0:
                    memcpy(&point[i, 0], node_point(held[i], n), n * sizeof(real))
        finally:
            for i in range(m):
                if held[i] != NULL:
                    self.tree.free_node(held[i])
            free(held)
        return (np.asarray(least), np.asarray(most), np.asarray(upper), np.asarray(branch), np.asarray(point),
                np.asarray(begin))

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
            memset(node_warm(cell, n), 0, self.n_warm * sizeof(float))
            cell.lower = -INFINITY
            if multipliers is not None:
                q = np.array(multipliers, dtype=np.float64)
                self.open_cell(self.spaces, &least[0], &most[0])
                for a in range(q.shape[0]):
                    q[a] = min(self.spaces.sub.facets[a].cap, q[a]) if self.spaces.sub.facets[a].active else 0
                return self.evaluate(self.spaces, &q[0])
            if n_passes:
                self.max_passes, self.patience = n_passes, 0
            self.bound(self.spaces, cell, cutoff)
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
               real deadline=INFINITY, index max_terms=1 << 62):
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
            How far the supremum may stay above the largest value attained; -inf: values are not looked for.
        stop_at : float
            Stop once a value above this is attained.

        Returns
        -------
        str : "proved" (no solution lies below the limit), "tight", "attained", "cells" (or terms), "time" or "stuck"
            (the cell of the largest bound has no side that can be divided)
        """
        cdef Node *cell
        cdef real sup, threshold
        cdef index end = self.n_cells + max_cells, popped = 0, n = self.family.n_connected
        cdef index last = min(1 << 62, max_terms) + self.spent()
        self.need_cells()
        while self.tree.n_open:
            sup = -self.tree.heap[0].lower
            if sup <= floor_of(total, limit, K, sup):
                return "proved"
            if self.attained > stop_at:
                return "attained"
            if sup <= self.attained + tolerance:
                return "tight"
            if self.tree.heap[0].branch < 0:
                return "stuck"
            if self.n_cells >= end or self.spent() >= last:
                return "cells"
            if clock() > deadline:
                return "time"
            while self.tree.n_open and self.n_batch + 1 < BATCH and self.n_cells < end:
                cell = self.tree.heap[0]
                if -cell.lower <= self.attained + tolerance or cell.branch < 0:
                    break
                cell = self.tree.pop()
                if popped % self.ascend_every == 0 and tolerance > -INFINITY:
                    memcpy(&self.starts[self.n_starts, 0], node_point(cell, n), n * sizeof(real))
                    self.n_starts += 1
                popped += 1
                self.split(cell)
            threshold = floor_of(total, limit, K, sup)
            self.expand(threshold, max(threshold, self.attained) if tolerance > -INFINITY else threshold)
        return "proved"

    def shave(self, real total, real limit, int K, real share, index max_cells=1 << 62, real deadline=INFINITY,
              index max_passes=1 << 62):
        """Divide all cells whose minorants lose more than `share` of what they exceed the threshold by.

        Drops those that hold no component of any solution below the limit. Returns whether there is more to do.
        """
        cdef index i, n_held, end = self.n_cells + max_cells, n = self.family.n_connected
        cdef index last = min(1 << 62, max_passes) + self.passes()
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
                    self.drop(cell)
                elif (cell.branch < 0 or node_warm(cell, n)[self.family.n_facets] < share * (-cell.lower - threshold)
                        or self.n_cells >= end or self.passes() >= last or clock() > deadline):
                    self.tree.push(cell)
                else:
                    divided = True
                    self.split(cell)
                    if self.n_batch + 1 >= BATCH:
                        self.expand(threshold, threshold)
            self.expand(threshold, threshold)
            free(held)
            if not divided:
                more = self.n_cells >= end or self.passes() >= last or clock() > deadline
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

    def handed_on(self):
        """What the cells that are left hand on, (m, n_warm) of float32, in their order in `cells`."""
        cdef index n = self.family.n_connected, i, a
        cdef float[:, ::1] warm = np.empty((self.tree.n_open, self.n_warm), dtype=np.float32)
        for i in range(self.tree.n_open):
            for a in range(self.n_warm):
                warm[i, a] = node_warm(self.tree.heap[i], n)[a]
        return np.asarray(warm)


cdef real floor_of(real total, real limit, int K, real sup) noexcept nogil:
    """No component of a solution below the limit has a smaller G: total - sum of K values < limit."""
    cdef real value = total - limit - (K - 1) * sup
    return value - SUMMING * (fabs(total) + fabs(limit) + K * fabs(sup))
