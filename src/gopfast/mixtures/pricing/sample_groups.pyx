"""Samples in groups, each known by the moments and ranges of its coordinates, their squares and its prices.

The groups are the nodes of a tree in which every node has eight children: three cuts of a k-d tree, each at the median
of the widest coordinate. For costs c, linear in the coordinates and their squares, y = price - c is linear in the
statistics (x, x^2, price), so that its mean and variance over a group follow from those of the statistics, and its
range from theirs. Prices are taken apart into a quadratic of each group and a rest, whose range is short: where prices
are smooth, as those of a mixture are, y is known nearly as well as c is. A product of two coordinates is known as that
of what they differ from the group's center by, so that its slopes and theirs cancel where they do in the costs.

Theory: (U1), (U3) and (U5) of docs/theory/groups.md.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.string cimport memcpy

from gopfast.mixtures.pricing.tuning import FEWEST_OF_A_LEVEL, GROUPS_RIDGE as RIDGE, MOST_LEVELS, MOST_SLOPES

from gopfast.mixtures.pricing.tuning cimport (
    GROUPS_LARGEST_EXPONENT as LARGEST_EXPONENT, GROUPS_LEAST_EXPONENT as LEAST_EXPONENT, GROUPS_NEAR as NEAR
)
from gopfast.search.rounding cimport ROUND

cdef extern from "groups.h" nogil:
    ctypedef struct groups_known:
        double *mean    # (GROUPS_LANES,) each
        double *variance
        double *low
        double *high
        double *most
        double *least
    ctypedef struct groups_limits:
        double least_exponent
        double largest_exponent
        double near
    void groups_add_samples(const groups_samples *samples, index first, index last, int d, const pass_costs *costs,
                            const pass_costs *rounding, const groups_limits *limits, groups_cut *cut)
    ctypedef struct groups_range:
        double low
        double high
        double size
    void groups_measure(const groups_samples *samples, index first, index last, int d, int product,
                        const double *center, const double *slopes, double *sums, groups_range *range)
    void groups_block(const double *rows, int d, int product, const pass_costs *costs, const pass_costs *rounding,
                      const groups_limits *limits, groups_known *out)

MOST_COLUMNS = 16       # of the kernel


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


cdef void cut_widest(const real[:, ::1] points, index *order, index first, index last, index middle) noexcept nogil:
    """Sorts samples from the first up to the last so far that the middle one parts them in their widest coordinate."""
    cdef int j, widest = 0
    cdef index k
    cdef real least, most, width = -1
    for j in range(points.shape[1]):
        least, most = INFINITY, -INFINITY
        for k in range(first, last):
            least, most = min(least, points[order[k], j]), max(most, points[order[k], j])
        if most - least > width:
            width, widest = most - least, j
    if width > 0:
        select(points, widest, order, first, last - 1, middle)


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
    at_once : bool
        Whether all levels are made; else `grow` makes one at a time.
    product : bool
        Whether there are three columns, the third the product of the first two, and no cost has a square of it: a group
        then knows the product of what its samples differ from its center by.
    """

    def __init__(self, columns, weights, scale, bint at_once=True, bint product=False):
        cdef index n
        if product and len(columns) != 3:
            raise ValueError("a product is the third of three columns")
        self.product = product
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
        self.points = np.ascontiguousarray((columns / np.asarray(scale)[:, None]).T)
        self.ordered_columns = np.zeros((self.n_columns, self.n_samples + GROUPS_LANES))
        self.ordered_weights = np.zeros(self.n_samples + GROUPS_LANES)
        np.asarray(self.ordered_columns)[:, :self.n_samples] = columns
        np.asarray(self.ordered_weights)[:self.n_samples] = weights
        self.n_made = 0
        while at_once and self.grow():
            pass

    def grow(self):
        """Make the groups of the next level; whether there are more."""
        if self.n_made < self.n_levels:
            self.sort()
            self.measure(self.n_made, self.ordered_columns, self.ordered_weights)
            self.n_made += 1
        if self.n_made == self.n_levels:
            self.points = None
        return self.n_made < self.n_levels

    cdef int sort(self) except -1:
        """Moves samples so that those of every group of the next level follow each other."""
        moved = np.arange(self.n_samples, dtype=np.intp)
        self.divide(self.points, moved)
        # all are moved, level by level: neighbours are near in memory, too
        self.points, self.order = self.points[moved], np.asarray(self.order)[moved]
        for row in (*np.asarray(self.ordered_columns), np.asarray(self.ordered_weights)):
            row[:self.n_samples] = row[moved]
        return 0

    cdef int divide(self, const real[:, ::1] points, index[::1] order) except -1:
        """OUT: places of samples, in the order of the next level's groups, cut by cut."""
        cdef index parts = <index> 1 << (3 * self.n_made), i, n = self.n_samples
        cdef int _cut
        with nogil:
            for _cut in range(3):
                for i in range(parts):
                    cut_widest(points, &order[0], i * n // parts, (i + 1) * n // parts, (2 * i + 1) * n // (2 * parts))
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

    cdef real *row_of(self, int level, index g) noexcept nogil:
        """Where a level's g-th group has its first row; the others are GROUPS_LANES apart."""
        cdef index node = self.begins[level] + g
        return &self.rows[(node - node % GROUPS_LANES) * self.n_rows] + node % GROUPS_LANES

    cdef void measure(self, int level, const real[:, ::1] columns, const real[::1] weights) noexcept nogil:
        """Fills in what does not depend on prices: weights, centers, ranges of the coordinates."""
        cdef int d = self.n_columns, j
        cdef index n = self.begins[level + 1] - self.begins[level], g, i, first, end = 0
        cdef real *at
        cdef real weight, low, high, center
        for g in range(n):
            at, first = self.row_of(level, g), end
            end = (g + 1) * self.n_samples // n
            at[GROUPS_KAPPA * GROUPS_LANES] = 4.0 * ROUND * (end - first + 64 + (2 * d + 1) ** 2)
            if first == end:
                continue
            weight = 0
            for i in range(first, end):
                weight += weights[i]
            at[GROUPS_WEIGHT * GROUPS_LANES] = weight
            for j in range(d):
                low, high, center = INFINITY, -INFINITY, 0
                for i in range(first, end):
                    low, high = min(low, columns[j, i]), max(high, columns[j, i])
                    center += weights[i] * columns[j, i]
                center = min(max(center / weight, low), high)
                at[(GROUPS_CENTER + j) * GROUPS_LANES] = center
                at[(GROUPS_CENTER + 5 * d + j) * GROUPS_LANES] = low - center
                at[(GROUPS_CENTER + 6 * d + j) * GROUPS_LANES] = high - center
            if self.product:
                at[(GROUPS_CENTER + 2) * GROUPS_LANES] = (
                    at[GROUPS_CENTER * GROUPS_LANES] * at[(GROUPS_CENTER + 1) * GROUPS_LANES])
                low, high = INFINITY, -INFINITY
                for i in range(first, end):
                    center = self.from_center(at, columns, 2, i)
                    low, high = min(low, center), max(high, center)
                at[(GROUPS_CENTER + 5 * d + 2) * GROUPS_LANES] = low
                at[(GROUPS_CENTER + 6 * d + 2) * GROUPS_LANES] = high

    cdef real from_center(self, const real *at, const real[:, ::1] columns, int j, index i) noexcept nogil:
        """What a sample's column differs from its group's center by; of a product, the product of these."""
        if self.product and j == 2:
            return self.from_center(at, columns, 0, i) * self.from_center(at, columns, 1, i)
        return columns[j, i] - at[(GROUPS_CENTER + j) * GROUPS_LANES]

    def set_prices(self, prices, bint at_once=True):
        """
        Take prices apart, and find all moments.

        Parameters
        ----------
        prices : ndarray, shape (n,)
        at_once : bool
            Of all levels; else `price` does it for one at a time.
        """
        found = np.zeros(self.n_samples + GROUPS_LANES)
        found[:self.n_samples] = np.asarray(prices, dtype=np.float64)[self.order]
        self.ordered_prices = found
        self.n_priced = 0
        while at_once and self.price():
            pass

    def price(self):
        """Find the moments of the next level at the prices that were set; whether there are more."""
        if self.n_priced < self.n_levels:
            self._moments(self.n_priced)
            self.n_priced += 1
        return self.n_priced < self.n_levels

    def _moments(self, int level):
        cdef int d = self.n_columns, D = 2 * d + 1, C = GROUPS_CENTER, L = GROUPS_LANES, j, a, b
        cdef int M = 1 + D + D * (D + 1) // 2
        cdef index n = self.begins[level + 1] - self.begins[level], g, first, end = 0
        cdef real[::1] sums = np.zeros(M), slopes = np.zeros(1 + 2 * d), center = np.zeros(d)
        cdef real *at
        cdef real *out = &sums[0]
        cdef groups_samples samples = self.samples()
        cdef groups_range extent
        # the price at the center, and its slopes: by regression, of groups of a few samples those of the group above
        few = level > 0 and self.n_samples < MOST_SLOPES * (2 * d + 1) * n
        cdef bint inherits = few
        cdef real[:, ::1] fitted = np.zeros((1, 1)) if few else self._regression(level)
        with nogil:
            for g in range(n):
                first = end
                end = (g + 1) * self.n_samples // n
                if first == end:
                    continue
                at = self.row_of(level, g)
                if inherits:
                    self.inherit(level, g, &slopes[0])
                else:
                    memcpy(&slopes[0], &fitted[g, 0], (1 + 2 * d) * sizeof(real))
                for j in range(d):
                    center[j] = at[(C + j) * L]
                groups_measure(&samples, first, end, d, self.product, &center[0], &slopes[0], out, &extent)
                at[GROUPS_LOW_E * L], at[GROUPS_HIGH_E * L] = extent.low, extent.high
                at[GROUPS_ALPHA * L], at[GROUPS_SIZE * L] = slopes[0], (d + 1) * extent.size
                for a in range(1, M):
                    out[a] /= out[0]
                for j in range(d):
                    at[(C + d + j) * L], at[(C + 2 * d + j) * L] = out[1 + j], out[1 + d + j]
                    at[(C + 3 * d + j) * L], at[(C + 4 * d + j) * L] = slopes[1 + j], slopes[1 + d + j]
                at[GROUPS_MEAN_E * L] = out[D]
                b = 0
                for a in range(D):
                    for j in range(a + 1):
                        at[(C + 7 * d + b) * L] = out[1 + D + b] - out[1 + a] * out[1 + j]
                        b += 1

    cdef void inherit(self, int level, index g, real *out) noexcept nogil:
        """OUT: coefficients (1 + 2 d) about a group's center, those of the group above."""
        cdef int d = self.n_columns, C = GROUPS_CENTER, L = GROUPS_LANES, j
        cdef const real *at = self.row_of(level, g)
        cdef const real *above = self.row_of(level - 1, g // L)
        cdef real moved, slope, curvature
        out[0] = above[GROUPS_ALPHA * L]
        for j in range(d):
            moved = at[(C + j) * L] - above[(C + j) * L]
            slope, curvature = above[(C + 3 * d + j) * L], above[(C + 4 * d + j) * L]
            out[0] += moved * (slope + curvature * moved)
            out[1 + j], out[1 + d + j] = slope + 2 * curvature * moved, curvature
        if self.product:  # (xi_x + x)(xi_y + y) in place of xi_x xi_y
            slope, curvature = at[C * L] - above[C * L], at[(C + 1) * L] - above[(C + 1) * L]
            moved = at[(C + 2) * L] - above[(C + 2) * L]
            out[0] += out[3] * (slope * curvature - moved)
            out[1] += out[3] * curvature
            out[2] += out[3] * slope

    def _regression(self, int level):
        """Coefficients (n, 1 + 2 d) of quadratics about the centers that are near the prices: any are valid."""
        cdef int d = self.n_columns, D = 2 * d, j, a, b
        cdef int M = 1 + (D + 1) + (D + 1) * (D + 2) // 2
        cdef index n = self.begins[level + 1] - self.begins[level], g, first, end = 0
        cdef const real *at
        cdef real[:, ::1] widths = np.ones((n, d))
        cdef real[:, :, ::1] gram = np.zeros((n, 1 + D, 1 + D))
        cdef real[:, ::1] right = np.zeros((n, 1 + D))
        cdef real[::1] sums = np.zeros(M), nothing = np.zeros(1 + D), center = np.zeros(d), unit = np.ones(1 + D)
        cdef real widest, weight
        cdef real *out = &sums[0]
        cdef real *square
        cdef groups_samples samples = self.samples()
        cdef groups_range extent
        with nogil:
            for g in range(n):
                first = end
                end = (g + 1) * self.n_samples // n
                if first == end:
                    continue
                at = self.row_of(level, g)
                weight = at[GROUPS_WEIGHT * GROUPS_LANES]
                for j in range(d):
                    widest = max(at[(GROUPS_CENTER + 6 * d + j) * GROUPS_LANES],
                                 -at[(GROUPS_CENTER + 5 * d + j) * GROUPS_LANES])
                    if widest > 0:
                        widths[g, j] = widest
                    center[j] = at[(GROUPS_CENTER + j) * GROUPS_LANES]
                    unit[1 + j] = 1 / widths[g, j]
                    unit[1 + d + j] = unit[1 + j] * unit[1 + j]  # which may be inf: slopes are 0 then
                if self.product:
                    unit[D] = 0
                groups_measure(&samples, first, end, d, self.product, &center[0], &nothing[0], out, &extent)
                # sums of 1, xi and xi^2 by each other and by the price, which stands last
                gram[g, 0, 0], right[g, 0] = 1, out[1 + D] / weight
                square = out + 2 + D
                for a in range(D):
                    gram[g, 0, 1 + a] = gram[g, 1 + a, 0] = out[1 + a] * unit[1 + a] / weight
                    for b in range(a + 1):
                        gram[g, 1 + a, 1 + b] = gram[g, 1 + b, 1 + a] = square[b] * unit[1 + a] * unit[1 + b] / weight
                    square += a + 1
                for a in range(D):
                    right[g, 1 + a] = square[a] * unit[1 + a] / weight
        matrices = np.asarray(gram) + RIDGE * np.eye(1 + D)
        found = np.linalg.solve(matrices, np.asarray(right)[:, :, None])[:, :, 0]
        found[:, 1:1 + d] /= np.asarray(widths)
        found[:, 1 + d:] /= np.square(np.asarray(widths))
        if self.product:  # the kernel takes no square of it
            found[:, D] = 0.0
        return np.ascontiguousarray(np.where(np.isfinite(found), found, 0.0))

    cdef void add(
        self, index node, const pass_costs *costs, const pass_costs *rounding, groups_cut *cut
    ) noexcept nogil:
        cdef const real *rows = &self.rows[node * self.n_rows]
        cdef groups_known known
        cdef groups_limits limits
        cdef index n = cut.n
        cdef int lane
        limits.least_exponent, limits.largest_exponent, limits.near = LEAST_EXPONENT, LARGEST_EXPONENT, NEAR
        groups_block(rows, self.n_columns, self.product, costs, rounding, &limits, &known)
        for lane in range(GROUPS_LANES):
            if not rows[GROUPS_WEIGHT * GROUPS_LANES + lane] > 0:
                continue
            cut.node[n] = node + lane
            cut.weight[n] = rows[GROUPS_WEIGHT * GROUPS_LANES + lane]
            cut.mean[n], cut.variance[n] = known.mean[lane], known.variance[lane]
            cut.low[n], cut.high[n] = known.low[lane], known.high[lane]
            cut.least[n], cut.most[n] = known.least[lane], known.most[lane]
            n += 1
        cut.n = n

    cdef groups_samples samples(self) noexcept nogil:
        cdef groups_samples found
        found.columns, found.stride = &self.ordered_columns[0, 0], self.ordered_columns.shape[1]
        found.weights, found.prices = &self.ordered_weights[0], &self.ordered_prices[0]
        return found

    cdef index n_blocks_of(self, index node) noexcept nogil:
        cdef int last = self.n_levels - 1
        cdef index i = node - self.begins[last]
        return (self.end_of(last, i) - self.end_of(last, i - 1) + GROUPS_LANES - 1) // GROUPS_LANES

    cdef void add_samples(
        self, index node, const pass_costs *costs, const pass_costs *rounding, groups_cut *cut
    ) noexcept nogil:
        cdef int last = self.n_levels - 1
        cdef index i = node - self.begins[last]
        cdef groups_limits limits
        cdef groups_samples samples = self.samples()
        limits.least_exponent, limits.largest_exponent, limits.near = LEAST_EXPONENT, LARGEST_EXPONENT, NEAR
        groups_add_samples(&samples, self.end_of(last, i - 1), self.end_of(last, i), self.n_columns, costs, rounding,
                           &limits, cut)

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
        cdef index[::1] nodes = np.zeros(n, dtype=np.intp)
        cdef groups_cut cut
        at.centers, at.linear, at.quadratic, at.offsets = &values[0, 0], &values[1, 0], &values[2, 0], &values[3, 0]
        moved.centers, moved.linear, moved.quadratic = &errors[0, 0], &errors[1, 0], &errors[2, 0]
        moved.offsets = &errors[3, 0]
        cut.n_blocks = 0
        cut.n, cut.node, cut.weight, cut.mean, cut.variance = 0, &nodes[0], &out[0, 0], &out[1, 0], &out[2, 0]
        cut.low, cut.high, cut.most, cut.lost, cut.least = &out[3, 0], &out[4, 0], &out[5, 0], &out[6, 0], &out[7, 0]
        for i in range(0, n, 8):
            self.add(self.begins[level] + i, &at, &moved, &cut)
        order = np.asarray(self.order)
        samples = [order[g * self.n_samples // n:(g + 1) * self.n_samples // n] for g in range(n)]
        return [part for part in samples if len(part)], *np.asarray(out)[:6, :cut.n]
