"""Samples in groups, each known by the moments and ranges of its coordinates, their squares and its prices.

The groups are the nodes of a tree in which every node has eight children: three cuts of a k-d tree, each at the median
of the widest coordinate. For costs c, linear in the coordinates and their squares, y = price - c is linear in the
statistics (x, x^2, price), so that its mean and variance over a group follow from those of the statistics, and its
range from theirs. Prices are taken apart into a quadratic of each group and a rest, whose range is short: where prices
are smooth, as those of a mixture are, y is known nearly as well as c is.

Theory: (U1), (U3) and (U5) of docs/theory/groups.md.
"""

import numpy as np

from libc.math cimport INFINITY, exp, fabs


from gopfast.search.rounding cimport ROUND

cdef extern from "groups.h" nogil:
    void groups_block(const double *rows, int d, const pass_costs *costs, const pass_costs *rounding, double *mean,
                      double *variance, double *low, double *high)

MOST_LEVELS = 6         # 262,144 groups in the last
FEWEST_OF_A_LEVEL = 0.12  # samples in a group of the last level, at least, so that up to 32,768 are one by one in it
# The regression of prices on a group's statistics: of the diagonal, so that it is never singular.
RIDGE = 1e-9
MOST_COLUMNS = 16       # of the kernel
MOST_SLOPES = 4         # times its coefficients a regression has samples; of fewer the group above has a better one
# Exponents are cut off here; a mean of exp(y) up to so far above its mean is bounded by the variance.
cdef real LARGEST_EXPONENT = 690.0
cdef real NEAR = 2.4


cdef void select(const real[:, ::1] points, int j, index *order, index first, index last, index middle) noexcept nogil:
    """Sorts so far that coordinate j of no sample before the middle one exceeds that of any from there on (Hoare)."""
    cdef index low, high, held
    cdef real pivot
    while first < last:
        low, high, pivot = first, last, points[order[(first + last) // 2], j]
        while low <= high:
            while points[order[low], j] < pivot:
                low += 1
            while points[order[high], j] > pivot:
                high -= 1
            if low <= high:
                held = order[low]
                order[low] = order[high]
                order[high] = held
                low, high = low + 1, high - 1
        if middle <= high:
            last = high
        elif middle >= low:
            first = low
        else:
            return


cdef class SampleGroups:
    """
    A tree of groups of samples.

    Parameters
    ----------
    columns : ndarray, shape (d, n)
    weights : ndarray, shape (n,)
        Positive.
    scale : ndarray, shape (d,)
        Units in which coordinates are compared, where a group is cut.
    """

    def __init__(self, columns, weights, scale):
        cdef index n, i
        self.columns, self.weights = np.ascontiguousarray(columns), np.ascontiguousarray(weights)
        self.n_columns, self.n_samples = columns.shape
        if self.n_columns > MOST_COLUMNS:
            raise ValueError(f"at most {MOST_COLUMNS} columns")
        self.n_levels, n = 1, 8
        while self.n_levels < MOST_LEVELS and 8 * n * FEWEST_OF_A_LEVEL <= self.n_samples:
            self.n_levels, n = self.n_levels + 1, 8 * n
        self.begins = np.concatenate([[0], np.cumsum(8 ** np.arange(1, self.n_levels + 1))]).astype(np.intp)
        self.n_nodes, self.n_rows = self.begins[self.n_levels], groups_n_rows(self.n_columns)
        self.rows = np.zeros(self.n_nodes * self.n_rows)
        self.order = np.arange(self.n_samples, dtype=np.intp)
        self.divide(np.ascontiguousarray((columns / np.asarray(scale)[:, None]).T))
        for i in range(self.n_levels):
            self._measure(i)

    cdef int divide(self, const real[:, ::1] points) except -1:
        """Sorts samples so that those of every group follow each other, cut by cut."""
        cdef index parts = 1, i, k, first, last, n = self.n_samples
        cdef int j, d = self.n_columns, widest, _cut
        cdef real least, most, width
        cdef index[::1] order = self.order
        with nogil:
            for _cut in range(3 * self.n_levels):
                for i in range(parts):
                    first, last = i * n // parts, (i + 1) * n // parts
                    widest, width = 0, -1
                    for j in range(d):
                        least, most = INFINITY, -INFINITY
                        for k in range(first, last):
                            least, most = min(least, points[order[k], j]), max(most, points[order[k], j])
                        if most - least > width:
                            width, widest = most - least, j
                    if width > 0:
                        select(points, widest, &order[0], first, last - 1, (2 * i + 1) * n // (2 * parts))
                parts *= 2
        return 0

    cdef index first_of(self, int level) noexcept nogil:
        return self.begins[level]

    cdef index end_of(self, int level, index i) noexcept nogil:
        """First sample, in order, that is not of the i-th group of a level, nor of one before it."""
        cdef index parts = self.begins[level + 1] - self.begins[level]
        return (i + 1) * self.n_samples // parts

    cdef int level_of(self, index node) noexcept nogil:
        cdef int level = 0
        while node >= self.begins[level + 1]:
            level += 1
        return level

    cdef index children(self, index node) noexcept nogil:
        cdef int level = self.level_of(node)
        if level + 1 >= self.n_levels:
            return -1
        return self.begins[level + 1] + 8 * (node - self.begins[level])

    def _block_rows(self, int level):
        """The rows of a level's groups, as (groups, rows)."""
        first, last = self.begins[level] * self.n_rows, self.begins[level + 1] * self.n_rows
        return np.asarray(self.rows)[first:last].reshape(-1, self.n_rows, GROUPS_LANES)

    def _measure(self, int level):
        """Fill in what does not depend on prices: weights, centers, ranges of the coordinates."""
        blocks = self._block_rows(level)
        n = 8 * len(blocks)
        d = self.n_columns
        ends = np.arange(n + 1) * self.n_samples // n
        first, size = ends[:n], np.diff(ends)
        used = size > 0
        columns, weights = np.asarray(self.columns)[:, self.order], np.asarray(self.weights)[self.order]
        found = np.zeros((n, self.n_rows))
        found[used, GROUPS_WEIGHT] = np.add.reduceat(weights, first[used])
        found[:, GROUPS_KAPPA] = 4.0 * ROUND * (size + 64 + (2 * d + 1) ** 2)
        for j in range(d):
            low, high = np.minimum.reduceat(columns[j], first[used]), np.maximum.reduceat(columns[j], first[used])
            center = np.add.reduceat(weights * columns[j], first[used]) / found[used, GROUPS_WEIGHT]
            center = np.clip(center, low, high)
            found[used, GROUPS_CENTER + j] = center
            found[used, GROUPS_CENTER + 5 * d + j], found[used, GROUPS_CENTER + 6 * d + j] = low - center, high - center
        blocks[:] = found.reshape(-1, GROUPS_LANES, self.n_rows).swapaxes(1, 2)

    def set_prices(self, prices):
        """
        Take prices apart, and find all moments.

        Parameters
        ----------
        prices : ndarray, shape (n,)
        """
        cdef int level
        ordered = np.ascontiguousarray(np.asarray(prices, dtype=np.float64)[self.order])
        columns = np.ascontiguousarray(np.asarray(self.columns)[:, self.order])
        weights = np.ascontiguousarray(np.asarray(self.weights)[self.order])
        for level in range(self.n_levels):
            self._moments(level, columns, weights, ordered)

    def _moments(self, int level, const real[:, ::1] columns, const real[::1] weights, const real[::1] prices):
        cdef int d = self.n_columns, D = 2 * d + 1, j, a, b, M = 1 + D + D * (D + 1) // 2
        cdef index n = self.begins[level + 1] - self.begins[level], g, i, end
        cdef real[:, ::1] sums = np.zeros((n, M))
        cdef real[::1] f = np.zeros(D)
        cdef real w, e, x, size
        cdef real *out
        blocks = self._block_rows(level)
        rows = blocks.swapaxes(1, 2).reshape(n, self.n_rows)
        cdef real[:, ::1] table = np.ascontiguousarray(rows)
        # the price at the center, and its slopes, by regression
        few = level > 0 and self.n_samples < MOST_SLOPES * (2 * d + 1) * n
        cdef real[:, ::1] fitted = (
            self._inherited(level, np.asarray(table)) if few else self._regression(table, columns, weights, prices)
        )
        with nogil:
            i = 0
            for g in range(n):
                end = (g + 1) * self.n_samples // n
                table[g, GROUPS_LOW_E], table[g, GROUPS_HIGH_E] = INFINITY, -INFINITY
                size = 0
                out = &sums[g, 0]
                while i < end:
                    w = weights[i]
                    e = prices[i] - fitted[g, 0]
                    for j in range(d):
                        x = columns[j, i] - table[g, GROUPS_CENTER + j]
                        f[j], f[d + j] = x, x * x
                        e -= fitted[g, 1 + j] * x + fitted[g, 1 + d + j] * x * x
                        size = max(size, fabs(fitted[g, 1 + j] * x) + fabs(fitted[g, 1 + d + j]) * x * x)
                    f[D - 1] = e
                    size = max(size, fabs(prices[i]))
                    table[g, GROUPS_LOW_E] = min(table[g, GROUPS_LOW_E], e)
                    table[g, GROUPS_HIGH_E] = max(table[g, GROUPS_HIGH_E], e)
                    out[0] += w
                    b = 1 + D
                    for a in range(D):
                        out[1 + a] += w * f[a]
                        for j in range(a + 1):
                            out[b] += w * f[a] * f[j]
                            b += 1
                    i += 1
                table[g, GROUPS_ALPHA], table[g, GROUPS_SIZE] = fitted[g, 0], (d + 1) * size
                if not out[0] > 0:
                    table[g, GROUPS_LOW_E] = table[g, GROUPS_HIGH_E] = 0
                    continue
                for a in range(1, M):
                    out[a] /= out[0]
                for j in range(d):
                    table[g, GROUPS_CENTER + d + j], table[g, GROUPS_CENTER + 2 * d + j] = out[1 + j], out[1 + d + j]
                    table[g, GROUPS_CENTER + 3 * d + j] = fitted[g, 1 + j]
                    table[g, GROUPS_CENTER + 4 * d + j] = fitted[g, 1 + d + j]
                table[g, GROUPS_MEAN_E] = out[D]
                b = 0
                for a in range(D):
                    for j in range(a + 1):
                        table[g, GROUPS_CENTER + 7 * d + b] = out[1 + D + b] - out[1 + a] * out[1 + j]
                        b += 1
        blocks[:] = np.asarray(table).reshape(-1, GROUPS_LANES, self.n_rows).swapaxes(1, 2)

    def _inherited(self, int level, table):
        """The parents' coefficients about the children's centers, (n, 1 + 2 d): of groups of a few samples."""
        d, at = self.n_columns, GROUPS_CENTER
        above = self._block_rows(level - 1)
        above = np.repeat(above.swapaxes(1, 2).reshape(-1, self.n_rows), GROUPS_LANES, axis=0)
        moved = table[:, at:at + d] - above[:, at:at + d]
        slopes, curvature = above[:, at + 3 * d:at + 4 * d], above[:, at + 4 * d:at + 5 * d]
        found = np.empty((len(table), 1 + 2 * d))
        found[:, 0] = above[:, GROUPS_ALPHA] + (moved * (slopes + curvature * moved)).sum(axis=1)
        found[:, 1:1 + d], found[:, 1 + d:] = slopes + 2 * curvature * moved, curvature
        return found

    def _regression(self, const real[:, ::1] table, const real[:, ::1] columns, const real[::1] weights,
                    const real[::1] prices):
        """Coefficients (n, 1 + 2 d) of quadratics about the centers that are near the prices: any are valid."""
        cdef int d = self.n_columns, D = 2 * d, j, a, b
        cdef index n = table.shape[0], g, i = 0, end
        cdef real[:, :, ::1] gram = np.zeros((n, 1 + D, 1 + D))
        cdef real[:, ::1] right = np.zeros((n, 1 + D))
        cdef real[::1] f = np.ones(1 + D)
        cdef real widest, w
        with nogil:
            for g in range(n):
                end = (g + 1) * self.n_samples // n
                while i < end:
                    for j in range(d):
                        widest = max(table[g, GROUPS_CENTER + 6 * d + j], -table[g, GROUPS_CENTER + 5 * d + j])
                        f[1 + j] = (columns[j, i] - table[g, GROUPS_CENTER + j]) / widest if widest > 0 else 0
                        f[1 + d + j] = f[1 + j] * f[1 + j]
                    w = weights[i] / table[g, GROUPS_WEIGHT]
                    for a in range(1 + D):
                        right[g, a] += w * f[a] * prices[i]
                        for b in range(1 + D):
                            gram[g, a, b] += w * f[a] * f[b]
                    i += 1
        matrices = np.asarray(gram) + RIDGE * np.eye(1 + D)
        found = np.linalg.solve(matrices, np.asarray(right)[:, :, None])[:, :, 0]
        rows = np.asarray(table)
        widths = np.maximum(rows[:, GROUPS_CENTER + 6 * d:GROUPS_CENTER + 7 * d],
                            -rows[:, GROUPS_CENTER + 5 * d:GROUPS_CENTER + 6 * d])
        widths = np.where(widths > 0, widths, 1.0)
        found[:, 1:1 + d] /= widths
        found[:, 1 + d:] /= np.square(widths)
        return np.ascontiguousarray(np.where(np.isfinite(found), found, 0.0))

    cdef void add(self, index node, const pass_costs *costs, const pass_costs *rounding, Cut *cut) noexcept nogil:
        cdef const real *rows = &self.rows[node * self.n_rows]
        cdef real *mean = cut.block
        cdef real *variance = mean + GROUPS_LANES
        cdef real *low = variance + GROUPS_LANES
        cdef real *high = low + GROUPS_LANES
        cdef index n = cut.n
        cdef int lane
        cdef real above, least, most
        groups_block(rows, self.n_columns, costs, rounding, mean, variance, low, high)
        for lane in range(GROUPS_LANES):
            if not rows[GROUPS_WEIGHT * GROUPS_LANES + lane] > 0:
                continue
            cut.node[n] = node + lane
            cut.weight[n] = rows[GROUPS_WEIGHT * GROUPS_LANES + lane]
            cut.mean[n], cut.variance[n] = mean[lane], variance[lane]
            cut.low[n], cut.high[n] = low[lane], high[lane]
            # E exp(y) <= exp(mean) (1 + V / (2 (1 - above / 3))) where no y is further above, by Bernstein's series
            above = max(0.0, high[lane] - mean[lane])
            least, most = exp(min(mean[lane], LARGEST_EXPONENT)), INFINITY
            if above < NEAR:
                most = least * (1 + variance[lane] / (2 - above * (2.0 / 3))) * (1 + 64 * ROUND)
            if not most < 1.5 * least:
                most = min(most, exp(min(high[lane], LARGEST_EXPONENT)) * (1 + 64 * ROUND))
            cut.least[n] = least
            cut.most[n] = most
            n += 1
        cut.n = n

    def ordered(self):
        """The samples (n,) in the order of the groups: neighbours follow each other."""
        return np.asarray(self.order)

    def moments(self, int level, costs, rounding=None):
        """For tests: what is known of y over a level's groups, at costs (4, d): centers, linear, quadratic, offset.

        Returns
        -------
        samples : list of ndarray
            Of each group, and of each that has any:
        weight, mean, variance, low, high : ndarray
        """
        cdef pass_costs at, moved
        cdef int d = self.n_columns
        cdef real[:, ::1] values = np.ascontiguousarray(costs, dtype=np.float64)
        cdef real[:, ::1] errors = np.zeros((4, d)) if rounding is None else np.ascontiguousarray(rounding)
        cdef index n = self.begins[level + 1] - self.begins[level], i
        cdef real[:, ::1] out = np.zeros((8, n))
        cdef real[::1] block = np.zeros(4 * GROUPS_LANES)
        cdef index[::1] nodes = np.zeros(n, dtype=np.intp)
        cdef Cut cut
        at.centers, at.linear, at.quadratic, at.offsets = &values[0, 0], &values[1, 0], &values[2, 0], &values[3, 0]
        moved.centers, moved.linear, moved.quadratic = &errors[0, 0], &errors[1, 0], &errors[2, 0]
        moved.offsets = &errors[3, 0]
        cut.n, cut.node, cut.weight, cut.mean, cut.variance = 0, &nodes[0], &out[0, 0], &out[1, 0], &out[2, 0]
        cut.low, cut.high, cut.most, cut.lost, cut.block = &out[3, 0], &out[4, 0], &out[5, 0], &out[6, 0], &block[0]
        cut.least = &out[7, 0]
        for i in range(0, n, 8):
            self.add(self.begins[level] + i, &at, &moved, &cut)
        order = np.asarray(self.order)
        samples = [order[g * self.n_samples // n:(g + 1) * self.n_samples // n] for g in range(n)]
        return [part for part in samples if len(part)], *np.asarray(out)[:6, :cut.n]
