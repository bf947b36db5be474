"""What one component of equal variances can save, over cells in fewer coordinates than the data have columns.

A frame divides the coordinates of a sample, less an origin, in those *along* some axes, h, and the rest, P. A cell is a
box of the component's coordinates along, a range of its distance rho from the axes, and one of its precision s. For a
component in it and the sample's y = log scale + price + (d / 2) log s - s |x - m|^2 / 2, with c the cosine of the
angle of P and the component's part of the rest,

    y  <=  top - slope (1 - c),    slope = s rho |P| at the least s and rho,

top the largest that y can be in the cell. A quadratic in c that is nowhere below max(0, this) makes of the sum over
samples a quadratic form of a unit vector, and its largest value is bounded by the largest eigenvalue, whatever the
direction. Masses, min(1, exp(y)), have such quadratics, too. Of a cluster of samples the moments give another bound,
which is exact at its own component.

Theory: (Y2), (Y3) and (Y8) of docs/theory/hull.md, (YN5) and (YN6) of docs/theory/near.md.
"""

import numpy as np

from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY, exp, fabs, log, sqrt
from libc.string cimport memset

from gopfast.mixtures.pricing.hull_loops cimport (
    HULL_LANES, hull_add_forms, hull_collect, hull_draw, hull_gain, hull_gains, hull_largest, hull_lines, hull_mass,
    hull_masses, hull_quadratics, hull_ranges, hull_sums, hull_tops
)
from gopfast.mixtures.pricing.tuning cimport (
    FARTHEST_SCALE, HOPELESS, HULL_MOST_TURNS as MOST_TURNS, LEAST_LOG_SCALE, LIGHT, N_HALVINGS, N_PARTS,
    ROOM_CLOSELY, ROOM_LITTLE, ROOM_SAVED, ROOM_SLOPE, ROOM_TURNS, SAME_SCALE, TOO_FAR
)
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport index, real

# Samples of a block, which follow each other in memory: HULL_BLOCK.
cpdef enum:
    LANES = 32
# Columns of `moments`: a cluster's mass, its mean of the prices at its own precision, this precision, the mean of
# |z|^2, the top eigenvalue of the covariance matrix of z, the length of the covariance of z and |z|^2, the variance of
# |z|^2, covariances of the prices with z and |z|^2, and their variance.
cpdef enum:
    MASS = 0
    MEAN = 1
    PRECISION = 2
    SQUARE = 3
    TOP = 4
    SKEW = 5
    VARIANCE_OF_SQUARE = 6
    WITH_Z = 7
    WITH_SQUARE = 8
    VARIANCE = 9
    N_MOMENTS = 10


cdef struct Cell:
    const real *low         # (q + 1,): along, and the distance from the axes
    const real *high
    real s_low, s_high, log_low, log_high   # precision, and d / 2 times its logarithm
    real raised     # of all prices
    const real *saved   # (K, L) of tables, what clusters save at L scales, or NULL,
    const real *mass    # (K, L) and their masses
    hull_lines lines    # the largest is at least (d / 2) log s - s |x - m|^2 / 2 of all its s


cdef struct Sums:
    real *value     # (L,) of every label: samples by quadratics,
    real *plain     # (L,) by ranges,
    real *size      # (L,) and the terms' magnitudes
    real *linear    # (L, p)
    real *square    # (L, p (p + 1) / 2)
    real *all_linear    # (p,) of those labels that are bounded so
    real *all_square
    real mass       # of min(1, exp(y))


cdef class HullCells:
    """
    The samples in a frame, and bounds over its cells.

    Parameters
    ----------
    along : ndarray, shape (q, n)
    across : ndarray, shape (p, n)
        All other coordinates; p = 1 is not allowed: let that be one of `along`.
    weights : ndarray, shape (n,)
    labels : ndarray of int, shape (n,)
        From 0 to K - 1 of samples in clusters that have moments, K of all others. Sorted.
    centers : ndarray, shape (K, q + 1)
        Of the clusters: coordinates along, and the distance of the center from the axes.
    n_columns : int
        d, for the precision's logarithm; 0 where precisions are 1.
    n_threads : int
    skip : float
        Blocks of which no sample has y above minus this are not looked into.
    has_close_masses : bool
        Whether bounds of cells have masses of all directions; rooms do, where there is little.
    """

    cdef readonly int n_along, n_across, n_labels, n_columns, n_threads
    cdef readonly index n_samples, n_blocks, n_terms
    cdef real total_weight, skip
    cdef bint has_close_masses
    cdef const real[:, :, ::1] places       # (blocks, q + 1, LANES): along, and the distance from the axes
    cdef const real[:, :, ::1] across       # of unit length
    cdef const real[:, ::1] weight
    cdef real[:, ::1] price
    cdef const real[:, ::1] low             # ranges (q + 1, padded blocks)
    cdef const real[:, ::1] high
    cdef real[::1] range_price              # (padded blocks,)
    cdef const real[::1] block_weight
    cdef const int[::1] block_label
    cdef const real[:, ::1] centers
    cdef real[:, ::1] moments
    cdef const real[::1] table_scales
    cdef index n_sums, n_bound, n_work
    cdef real[:, ::1] work                  # (threads, n_work)
    cdef object _source

    def __init__(self, along, across, weights, labels, centers, int n_columns=0, int n_threads=1, real skip=14.0,
                 bint has_close_masses=False):
        cdef int q = along.shape[0], p = across.shape[0], K = centers.shape[0]
        if p == 1:
            raise ValueError("one coordinate across")
        self.n_along, self.n_across, self.n_labels, self.n_samples = q, p, K + 1, along.shape[1]
        self.n_columns, self.n_threads, self.skip, self.n_terms = n_columns, n_threads, skip, 0
        self.has_close_masses = has_close_masses
        self.total_weight = np.sum(weights)
        at, used, starts = _in_blocks(np.asarray(labels), K + 1)
        self.n_blocks = len(starts)
        shape = (self.n_blocks, LANES)
        # lengths rounded up, so that no cosine is above 1
        norms = np.sqrt(np.square(across).sum(axis=0)) * (1 + (p + 8) * ROUND)
        unit = across / np.maximum(norms, 1e-300)
        self.across = np.ascontiguousarray(unit[:, at].reshape(p, *shape).transpose(1, 0, 2))
        self.weight = np.ascontiguousarray(np.where(used, np.asarray(weights)[at], 0.0).reshape(shape))
        both = np.vstack([along, norms[None]])[:, at].reshape(q + 1, *shape)
        self.places = np.ascontiguousarray(both.transpose(1, 0, 2))
        more = np.zeros((q + 1, (8 - self.n_blocks % 8) % 8))
        self.low = np.ascontiguousarray(np.hstack([both.min(axis=2), more]))
        self.high = np.ascontiguousarray(np.hstack([both.max(axis=2), more]))
        self.range_price = np.full(self.n_blocks + more.shape[1], -1e300)
        self.block_weight = np.ascontiguousarray(np.asarray(self.weight).sum(axis=1) * (1 + LANES * ROUND))
        self.block_label = np.ascontiguousarray(starts, dtype=np.intc)
        self.centers = np.ascontiguousarray(centers, dtype=np.float64)
        self.price = np.zeros(shape)
        self.moments = np.zeros((K, N_MOMENTS))
        # sums by quadratics, those of the blocks of one label and of masses by lanes, and the blocks' tops
        self.n_sums = self.n_labels * (3 + p + p * (p + 1) // 2) + p + p * (p + 1) // 2
        self.n_bound = self.n_sums + 2 * HULL_LANES * (p + p * (p + 1) // 2) + len(self.range_price)
        # tops and weights of the samples that are looked at by ranges, and where labels begin
        self.n_work = self.n_bound + self.n_labels + 1 + 2 * LANES * self.n_blocks + len(self.range_price)
        self.work = np.zeros((n_threads, self.n_work + 64))
        self._source = at, used

    def set_prices(self, prices, moments):
        """
        Take prices, raised by all that coordinates were rounded by, and the clusters' moments at them.

        Parameters
        ----------
        prices : ndarray, shape (n,)
        moments : ndarray, shape (K, 10)
            See the head of this module.
        """
        at, used = self._source
        found = np.where(used, np.asarray(prices)[at], -1e300).reshape(self.n_blocks, LANES)
        self.price, np.asarray(self.range_price)[:self.n_blocks] = np.ascontiguousarray(found), found.max(axis=1)
        self.moments = np.ascontiguousarray(moments, dtype=np.float64)

    def bound(self, low, high, log_precision, log_scale, real enough=-INFINITY, tables=None, raised=None):
        """
        Bounds of what a component saves in cells.

        Parameters
        ----------
        low, high : ndarray, shape (m, q + 1)
        log_precision : ndarray, shape (m, 2)
        log_scale : ndarray, shape (m,)
            Where to begin; any is valid.
        enough : float
            A bound below this is not improved any more.
        tables : tuple of ndarrays (L,), (m, K, L) and (m, K, L), optional
            Logarithms of scales, ascending; at these what the clusters save in each cell, and their masses, at most.

        raised : ndarray, shape (m,), optional
            By so much all prices are to be larger, in each cell; not with tables, which are of the prices as they are.

        Returns
        -------
        values, log_scale : ndarray, shape (m,)
        """
        if tables is not None and raised is not None:
            raise ValueError("raised: tables are of the prices as they are")
        cdef const real[:, ::1] lows = np.ascontiguousarray(low), highs = np.ascontiguousarray(high)
        cdef const real[:, ::1] logs = np.ascontiguousarray(log_precision)
        cdef real[::1] scales = np.array(log_scale, dtype=np.float64), values = np.zeros(len(low))
        cdef index m = lows.shape[0], i, terms = 0
        cdef real[:, ::1] s = np.exp(logs)
        cdef const real[::1] more = np.zeros(len(low)) if raised is None else np.ascontiguousarray(raised)
        cdef real half = 0.5 * self.n_columns
        cdef const real[:, :, ::1] saved = np.zeros((1, 1, 1)) if tables is None else np.ascontiguousarray(tables[1])
        cdef const real[:, :, ::1] mass = saved if tables is None else np.ascontiguousarray(tables[2])
        cdef index each = 0 if tables is None else 1
        self.table_scales = np.zeros(0) if tables is None else np.ascontiguousarray(tables[0])
        for i in prange(m, schedule="dynamic", chunksize=1, num_threads=self.n_threads, nogil=True):
            terms += self.bound_one(
                &lows[i, 0], &highs[i, 0], s[i, 0], s[i, 1], half * logs[i, 0], half * logs[i, 1], more[i], enough,
                &saved[each * i, 0, 0], &mass[each * i, 0, 0],
                &self.work[threadid(), 0], &values[i], &scales[i],
            )
        self.n_terms += terms
        return np.asarray(values), np.asarray(scales)

    cdef index bound_one(self, const real *low, const real *high, real s_low, real s_high, real log_low, real log_high,
                         real raised, real enough, const real *saved, const real *mass, real *work, real *value,
                         real *log_scale) noexcept nogil:
        cdef Cell cell
        cdef Sums sums
        cdef real *forms
        cdef bint closely
        cdef int turn
        cdef index terms = 0
        cdef real found, following, scale
        self.begin(&cell, &sums, low, high, s_low, s_high, log_low, log_high, work)
        cell.saved, cell.mass, cell.raised = saved, mass, raised
        value[0] = INFINITY
        terms = self.bound_by_ranges(&cell, enough, work + self.n_bound, value, log_scale)
        if self.n_across == 0 or value[0] < enough or value[0] > TOO_FAR * enough > 0:
            return terms
        scale = log_scale[0]
        forms = work + self.n_sums
        for turn in range(MOST_TURNS):
            closely = self.has_close_masses and turn > 0 and value[0] <= HOPELESS * enough
            memset(work, 0, self.n_sums * sizeof(real))
            terms += self.add_up(&cell, scale + raised, closely, forms, &sums)
            found = self.total(&cell, scale, &sums)
            if found < value[0]:
                value[0], log_scale[0] = found, scale
            elif turn:
                break
            following = min(0.0, log(max(sums.mass / self.total_weight, 1e-300)))
            if value[0] < enough or (turn and value[0] > HOPELESS * enough > 0):
                break
            if fabs(following - scale) < SAME_SCALE or following < LEAST_LOG_SCALE:
                break
            scale = following
        return terms

    def rooms(self, points, log_precision, log_scale, real enough, real most):
        """
        By how much all prices may be raised until a component saves more than `enough`, at least.

        Parameters
        ----------
        points : ndarray, shape (m, q + 1)
        log_precision, log_scale : ndarray, shape (m,)
            The second is where to begin: what prices and scale add to y.
        enough : float
        most : float
            Room that is of no more use, in nats.

        Returns
        -------
        rooms : ndarray, shape (m,)
            In nats; -inf where it saves more at prices as they are.
        log_scale : ndarray, shape (m,)
            Where most of `enough` is saved, about.
        """
        cdef const real[:, ::1] at = np.ascontiguousarray(points)
        cdef const real[::1] logs = np.ascontiguousarray(log_precision)
        cdef real[::1] scales = np.array(log_scale, dtype=np.float64), found = np.zeros(len(points)), s = np.exp(logs)
        cdef index m = at.shape[0], i, terms = 0
        cdef real half = 0.5 * self.n_columns
        for i in prange(m, schedule="dynamic", chunksize=1, num_threads=self.n_threads, nogil=True):
            terms += self.room_one(&at[i, 0], s[i], half * logs[i], enough, most, &self.work[threadid(), 0], &found[i],
                                   &scales[i])
        self.n_terms += terms
        return np.asarray(found), np.asarray(scales)

    cdef void begin(self, Cell *cell, Sums *sums, const real *low, const real *high, real s_low, real s_high,
                    real log_low, real log_high, real *work) noexcept nogil:
        """OUT: a cell, and where sums over its samples are."""
        cdef int p = self.n_across, L = self.n_labels
        cell.low, cell.high, cell.raised = low, high, 0
        cell.s_low, cell.s_high = s_low * (1 - 4 * ROUND), s_high * (1 + 4 * ROUND)
        cell.log_low, cell.log_high, cell.saved, cell.mass = log_low, log_high, NULL, NULL
        if self.n_columns == 0:
            cell.s_low = cell.s_high = 1.0
        hull_draw(self.n_columns, cell.s_low, cell.s_high, log_low, log_high, &cell.lines)
        sums.value, sums.plain, sums.size, sums.linear = work, work + L, work + 2 * L, work + 3 * L
        sums.square = sums.linear + L * p
        sums.all_linear = sums.square + L * (p * (p + 1) // 2)
        sums.all_square = sums.all_linear + p

    cdef index room_one(self, const real *point, real s, real log_s, real enough, real most, real *work, real *room,
                        real *log_scale) noexcept nogil:
        """At the largest log scale t at which no more than `enough` is saved, the room is t less that of its mass."""
        cdef Cell cell
        cdef Sums sums
        cdef index terms = 0
        cdef int _turn
        cdef bint closely = self.n_across == 0 or not point[self.n_along] > 0   # the same then
        cdef real t = log_scale[0], found, low = -INFINITY, high = INFINITY, low_value = 0, high_value = 0, rise, wanted
        self.begin(&cell, &sums, point, point, s, s, log_s, log_s, work)
        room[0] = -INFINITY
        for _turn in range(ROOM_TURNS):
            memset(work, 0, self.n_sums * sizeof(real))
            terms += self.add_up(&cell, t, closely, work + self.n_sums, &sums)
            found = self.sum_up(&cell, t, &sums) * (1 + 16 * ROUND)
            rise = t - log(sums.mass / self.total_weight) - 16 * ROUND * (1 + fabs(t))
            # little room is found closely
            wanted = ROOM_SAVED if rise > ROOM_LITTLE else ROOM_CLOSELY
            if found <= enough:
                low, low_value, room[0] = t, found, max(room[0], rise)
                log_scale[0] = t + (log(wanted * enough / found) / ROOM_SLOPE if found > 0.1 * enough else 1.0)
                if rise >= most or found > wanted * wanted * enough:
                    if closely or rise > ROOM_LITTLE:
                        break
                    closely = True
                    continue
            else:
                high, high_value = t, found
                if rise < 0:
                    if closely:
                        break
                    closely = True
                    continue
            if high == INFINITY and found > sums.mass:
                t += (wanted * enough - found) / sums.mass  # most are in
            elif high == INFINITY:
                t += 3.0 if found <= 0.05 * enough else log(wanted * enough / found) / ROOM_SLOPE
            elif low == -INFINITY:
                t -= max(0.05, log(found / (wanted * enough)))
            elif high - low < 0.01:
                break
            elif low_value > 0.02 * enough:
                t = low + (high - low) * log(wanted * enough / low_value) / log(high_value / low_value)
            else:
                t = 0.5 * (low + high)
        return terms

    cdef index bound_by_ranges(self, const Cell *cell, real enough, real *work, real *value,
                               real *log_scale) noexcept nogil:
        """As `bound_one`, but for directions across: the largest y of samples are found once, for all scales."""
        cdef int L = self.n_labels, k, turn
        cdef index terms = 0, at, end
        cdef real begin = log_scale[0], scale = begin, total = 0, found, following, mass, own
        cdef real error = 4 * ROUND * (self.n_samples + 64), far
        cdef real *start = work     # (L + 1,)
        cdef real *tops = work + L + 1
        cdef real *weights = tops + self.n_blocks * LANES
        cdef real above, some
        value[0] = INFINITY
        for turn in range(2 * MOST_TURNS):
            if turn == 0 or fabs(scale - begin) > FARTHEST_SCALE:
                begin = scale
                total = self.find_tops(cell, begin + cell.raised, start, tops, weights)
                terms += <index> start[L]
            # of blocks that were not looked at
            far = total * exp(scale - begin)
            mass, found = far, 0
            for k in range(L):
                at, end = <index> start[k], <index> start[k + 1]
                if at == end:
                    continue
                hull_sums(tops + at, weights + at, end - at, scale + cell.raised, &above, &some)
                own = above * (1 + error)
                if k < L - 1 and own > 0:
                    own = min(own, self.of_moments(k, cell, scale + cell.raised, own))
                if k < L - 1 and self.table_scales.shape[0]:
                    self.by_tables(k, cell, scale, &own, &some)
                mass += some
                found += own
            mass = mass * (1 + error) + self.total_weight * 1e-300
            following = log(mass / self.total_weight)
            if following - scale > -1e-9:
                found += self.total_weight * (max(0.0, following - scale) + 16 * ROUND * (1 + fabs(scale)))
            found *= 1 + 16 * ROUND
            following = min(0.0, following)
            if found < value[0]:
                value[0] = found
                log_scale[0] = scale
            elif turn:
                break
            if value[0] < enough:
                break
            if turn and value[0] > HOPELESS * enough > 0:
                log_scale[0] = following
                break
            if fabs(following - scale) < SAME_SCALE or following < LEAST_LOG_SCALE:
                break
            scale = following
        return terms

    cdef void by_tables(self, int k, const Cell *cell, real scale, real *saved, real *mass) noexcept nogil:
        """IN/OUT: what cluster k saves and its mass, if tables know it better; between two scales, as what is saved
        is convex in log scale, and the logarithm of the mass has a slope of at most 1."""
        cdef index L = self.table_scales.shape[0], l = 0
        cdef const real *own = cell.saved + k * L
        cdef const real *masses = cell.mass + k * L
        cdef real part
        while l < L and self.table_scales[l] < scale:
            l += 1
        if l == L:
            return
        if l == 0:
            saved[0], mass[0] = min(saved[0], own[0]), min(mass[0], masses[0])
            return
        part = (scale - self.table_scales[l - 1]) / (self.table_scales[l] - self.table_scales[l - 1])
        saved[0] = min(saved[0], (own[l - 1] + part * (own[l] - own[l - 1])) * (1 + 16 * ROUND))
        part = masses[l - 1] * exp(scale - self.table_scales[l - 1]) * (1 + 16 * ROUND)
        mass[0] = min(mass[0], min(masses[l], part))

    cdef real find_tops(self, const Cell *cell, real log_scale, real *start, real *tops, real *weights) noexcept nogil:
        """OUT: the largest y but for log scale of samples, their weights, and where each label's begin.

        Returns the mass of blocks that are left out.
        """
        cdef int rows = self.n_along + (self.n_across > 0), label = 0, lane
        cdef index block, at = 0
        cdef real most, total = 0
        cdef real *mosts = weights + self.n_blocks * LANES
        cdef const real *row
        hull_ranges(cell.low, cell.high, rows, &self.low[0, 0], &self.high[0, 0], &self.range_price[0],
                    self.range_price.shape[0], &cell.lines, mosts)
        start[0] = 0
        for block in range(self.n_blocks):
            while label < self.block_label[block]:
                label += 1
                start[label] = <real> at
            most = mosts[block] + log_scale
            if most < -self.skip:
                total += self.block_weight[block] * exp(most)
                continue
            hull_tops(cell.low, cell.high, rows, &self.places[block, 0, 0], &self.price[block, 0], &cell.lines,
                      tops + at)
            row = &self.weight[block, 0]
            for lane in range(LANES):
                weights[at + lane] = row[lane]
            at += LANES
        while label < self.n_labels:
            label += 1
            start[label] = <real> at
        return total

    cdef index add_up(self, const Cell *cell, real log_scale, bint closely, real *forms, Sums *sums) noexcept nogil:
        """Add all samples, masses of all directions if `closely`; return how many were looked at."""
        cdef int q = self.n_along, p = self.n_across, label = -1, lane
        cdef index block, terms = 0
        cdef real most, total = 0, above, some
        cdef real slope = cell.s_low * cell.low[q]
        cdef real[LANES] tops, slopes
        cdef int P = p * (p + 1) // 2
        cdef real *mass_forms = forms + HULL_LANES * (p + P)
        cdef real *mosts = mass_forms + HULL_LANES * (p + P)
        cdef const real *lengths
        cdef const real *weights
        cdef hull_quadratics each
        cdef hull_gain found
        cdef hull_mass known
        cdef real constant = 0, size = 0
        closely = closely and slope > 0 and p > 0
        sums.mass = 0
        hull_ranges(cell.low, cell.high, q + 1, &self.low[0, 0], &self.high[0, 0], &self.range_price[0],
                    self.range_price.shape[0], &cell.lines, mosts)
        for block in range(self.n_blocks):
            most = mosts[block] + log_scale
            if most < -self.skip:
                total += self.block_weight[block] * exp(most)
                continue
            terms += LANES
            lengths, weights = &self.places[block, q, 0], &self.weight[block, 0]
            hull_tops(cell.low, cell.high, q + 1, &self.places[block, 0, 0], &self.price[block, 0], &cell.lines, tops)
            for lane in range(LANES):
                tops[lane] += log_scale
                slopes[lane] = slope * lengths[lane]
            if label != self.block_label[block]:
                self.collect(label, forms, sums)
                label = self.block_label[block]
            hull_sums(tops, weights, LANES, 0.0, &above, &some)
            sums.mass += some
            if closely and some > LIGHT * self.block_weight[block]:
                hull_masses(tops, slopes, weights, p, &each, &known)
                constant += known.value
                size += known.size
                hull_add_forms(&self.across[block, 0, 0], p, each.linear, each.square, mass_forms)
            else:
                constant += some
            if not above > 0:
                continue
            hull_gains(tops, slopes, weights, p, &each, &found)
            sums.plain[label] += found.plain
            sums.value[label] += found.value
            sums.size[label] += found.size
            hull_add_forms(&self.across[block, 0, 0], p, each.linear, each.square, forms)
        self.collect(label, forms, sums)
        if closely:
            # of all directions, where that is less; the sums of all labels begin anew after it
            hull_collect(mass_forms, p + P, sums.all_linear)
            constant += hull_largest(sums.all_linear, sums.all_square, p) + 4 * ROUND * (self.n_samples + 64) * size
            sums.mass = min(sums.mass, constant)
        sums.mass = (sums.mass + total) * (1 + 4 * ROUND * (self.n_samples + 64)) + self.total_weight * 1e-300
        return terms

    cdef void collect(self, int label, real *forms, Sums *sums) noexcept nogil:
        """Add the forms of the blocks of a label, which follow each other, and set them 0."""
        cdef int p = self.n_across, P = p * (p + 1) // 2
        if label < 0:
            return
        hull_collect(forms, p, sums.linear + label * p)
        hull_collect(forms + HULL_LANES * p, P, sums.square + label * P)

    cdef real total(self, const Cell *cell, real log_scale, Sums *sums) noexcept nogil:
        """The bound: the best of what is known."""
        cdef real found = self.sum_up(cell, log_scale + cell.raised, sums), log_ratio
        log_ratio = log(sums.mass / self.total_weight) - log_scale
        if log_ratio > -1e-9:
            found += self.total_weight * (max(0.0, log_ratio) + 16 * ROUND * (1 + fabs(log_scale)))
        return found * (1 + 16 * ROUND)

    cdef real sum_up(self, const Cell *cell, real log_scale, Sums *sums) noexcept nogil:
        """Of every cluster the best of ranges, moments and quadratics."""
        cdef int p = self.n_across, L = self.n_labels, P = p * (p + 1) // 2, k, j
        cdef real value = 0, own, guess, size = 0, error = 4 * ROUND * (self.n_samples + 64)
        cdef real *b = sums.all_linear
        cdef real *M = sums.all_square
        cdef bint any_square = False
        memset(b, 0, p * sizeof(real))
        memset(M, 0, P * sizeof(real))
        for k in range(L):
            own = sums.plain[k] * (1 + error)
            guess = INFINITY
            if p:
                guess = hull_largest(sums.linear + k * p, sums.square + k * P, p) + sums.value[k] + error * sums.size[k]
            if k < L - 1:
                own = min(own, self.of_moments(k, cell, log_scale, min(own, guess)))
            if not guess < own:
                value += own
                continue
            any_square = True
            value += sums.value[k]
            size += sums.size[k]
            for j in range(p):
                b[j] += sums.linear[k * p + j]
            for j in range(P):
                M[j] += sums.square[k * P + j]
        if any_square:
            value += hull_largest(b, M, p) + error * size
        return value

    cdef real of_moments(self, int k, const Cell *cell, real log_scale, real least) noexcept nogil:
        """What cluster k saves, by its moments; INFINITY where that is more than `least`."""
        cdef int q = self.n_along, j, part, n = N_PARTS if cell.s_high > cell.s_low * (1 + 1e-12) else 1
        cdef real square = 0, t, r, s0, s1, s, own, a, v, c, far, ratio, found = 0, d = self.n_columns
        cdef const real *at = &self.moments[k, 0]
        if not at[MASS] > 0:
            return 0
        for j in range(q + 1):
            t = max(0.0, max(cell.low[j] - self.centers[k, j], self.centers[k, j] - cell.high[j]))
            square += t * t
        r = sqrt(square) * (1 - 16 * ROUND * (q + 4))
        ratio = exp(log(cell.s_high / cell.s_low) / n) if n > 1 else 1
        s0 = cell.s_low
        own = at[PRECISION]
        for part in range(n):
            s1 = cell.s_high if part == n - 1 else min(cell.s_high, s0 * ratio)
            a = at[MEAN] + log_scale
            if self.n_columns:
                s = min(max(d / max(at[SQUARE], 1e-300), s0), s1)
                a += 0.5 * d * log(s) - 0.5 * (s - own) * at[SQUARE] + 16 * ROUND * (fabs(a) + d + s * at[SQUARE])
            far = max(fabs(s0 - own), fabs(s1 - own))
            c = s1 * (at[WITH_Z] + 0.5 * far * at[SKEW])
            v = at[VARIANCE] + far * (at[WITH_SQUARE] + 0.25 * far * at[VARIANCE_OF_SQUARE])
            found = max(found, at[MASS] * _scarf(a, s0, s1 * s1 * at[TOP], c, v, r, least / at[MASS]))
            if not found < least:
                return INFINITY
            s0 = s1
        return found

    def by_moments(self, int k, low, high, log_precision, real log_scale):
        """For tests: what cluster k's moments say of a cell."""
        cdef Cell cell
        cdef const real[::1] lows = np.ascontiguousarray(low), highs = np.ascontiguousarray(high)
        cdef real[::1] s = np.exp(log_precision)
        cell.raised = 0
        cell.low, cell.high, cell.s_low, cell.s_high = &lows[0], &highs[0], s[0], s[1]
        return self.of_moments(k, &cell, log_scale, INFINITY)


def mass_form(real top, real slope, int p):
    """For tests: constant, linear and square of what is at least min(1, exp(top - slope (1 - c)))."""
    cdef real[LANES] tops, slopes, weights
    cdef hull_quadratics each
    cdef hull_mass known
    cdef int lane
    for lane in range(LANES):
        tops[lane], slopes[lane], weights[lane] = top, slope, 1.0
    hull_masses(tops, slopes, weights, p, &each, &known)
    return each.constant[0], each.linear[0], each.square[0]


cdef bint _holds(real f, real a, real s, real top, real c, real v, real r) noexcept nogil:
    """Whether V = top t^2 + 2 c t + v is at most 4 f (f - a + s t^2 / 2) for all t >= r."""
    cdef real lead = 2 * f * s - top, at
    if not lead > 0:
        return False
    at = max(r, c / lead)
    return (lead * at - 2 * c) * at + 4 * f * (f - a) - v >= 1e-13 * (lead * at * at + 4 * f * (f + fabs(a)) + v)


cdef real _scarf(real a, real s, real top, real c, real v, real r, real most) noexcept nogil:
    """At least (m + sqrt(m^2 + V)) / 2 for m = a - s t^2 / 2 and V as above, all t >= r; INFINITY above `most`."""
    cdef real low = 0, high = 1, middle
    cdef int _turn
    if most < INFINITY:
        if not _holds(most, a, s, top, c, v, r):
            return INFINITY
        high = most
    else:
        while not _holds(high, a, s, top, c, v, r):
            high *= 2
            if high > 1e200:
                return INFINITY
    for _turn in range(N_HALVINGS):
        middle = 0.5 * (low + high)
        if _holds(middle, a, s, top, c, v, r):
            high = middle
        else:
            low = middle
    return high


def _in_blocks(labels, n):
    """Places of samples in blocks of one label each, whether they are the first of a sample, and the blocks' labels."""
    places, used, starts = [], [], []
    for k in range(n):
        own = np.flatnonzero(labels == k)
        blocks = (len(own) + LANES - 1) // LANES
        places.append(own[np.minimum(np.arange(blocks * LANES), len(own) - 1)])
        used.append(np.arange(blocks * LANES) < len(own))
        starts.append(np.full(blocks, k))
    return np.concatenate(places).astype(np.intp), np.concatenate(used), np.concatenate(starts)
