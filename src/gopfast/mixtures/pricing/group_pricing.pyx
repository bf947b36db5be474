"""What one component can save, cell by cell, at a cost that does not grow with the number of samples.

As `pricing`, but that a cell's passes are over groups of samples (`sample_groups`), of which each is divided only where
it matters, at last into its samples. For y = log s + price - cost over a group of weight w, with mean m, variance V and
range [a, b],

    sum of w_i max(0, y_i)  <=  w min{ (m + sqrt(m^2 + V)) / 2,  (m - a) b / (b - a) },   0 if b <= 0,  w m if a >= 0,

and the sum of w_i min(1, exp(y_i)) is at most w min(1, E exp(y)); with these the tangent of `pricing` bounds G.

Theory: (U1), (U2) and (U3) of docs/theory/groups.md.
"""

from libc.math cimport INFINITY, fabs, isfinite, log, sqrt
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from gopfast.mixtures.pricing.margins cimport SUMS
from gopfast.mixtures.pricing.price_cell cimport Pricing
from gopfast.mixtures.pricing.pricing cimport ComponentPricing
from gopfast.mixtures.pricing.sample_groups cimport GROUPS_LANES, SampleGroups, groups_cut, groups_samples
from gopfast.mixtures.data.passes cimport price_sums
from gopfast.mixtures.pricing.tuning cimport (
    BEARABLE, FIRST_LEVEL, LEAST_LOST, LEAST_SCALE, MANY_OF_A_PASS, MEAN_BESIDE, MOST_ROOT_STEPS, MOST_ROUNDS,
    ROOT_TOLERANCE, SAMPLES_OF_A_GROUP, SAMPLES_OF_ONE, SHARE_LOST, SHARE_LOST_KNOWN, SHARE_OF_ASCENTS, TOLD,
    VARIANCE_BESIDE
)
from gopfast.search.arena cimport Arena
from gopfast.search.rounding cimport ROUND
from gopfast.search.tree cimport Node, divisible, node_high, node_low, node_point, node_warm
from gopfast.search.types cimport index, real

cdef extern from "groups.h" nogil:
    ctypedef struct groups_sums:
        double value
        double mass
        double lost
    void groups_pad(groups_cut *cut)
    double groups_total(const groups_cut *cut)
    void groups_shares(const groups_cut *cut, double s, double *full, double *inner)
    void groups_sum(groups_cut *cut, double s, double log_s, groups_sums *out)
    void groups_moments(const groups_cut *cut, const double *rows, const groups_samples *samples, int d, int F,
                        const double *centers, double s, double *mass, double *saturated, double *inner,
                        double *first, double *inner_first, double *second)


# One thread's groups, and what its cell is compared with.
cdef struct Grouping:
    groups_cut cut
    index n_blocks      # of eight siblings each, that the cut's groups are of; -1 - i: the samples of the i-th node
    index *blocks
    index cost          # of a pass over these, in samples of a pass over them all
    bint is_full        # no more are divided, as that would cost more
    unsigned char *divided      # (n_nodes,) whether a group's children are in the cut in its place
    real cutoff
    real share          # of what the value exceeds the cutoff by that groups may lose
    real lost           # by groups, of the last pass
    real bearable       # that groups may lose where many are evaluated: the cell is divided for its minorant
    index n_groups      # evaluated so far
    bint exact          # the cell at hand takes so many groups that a pass over the samples costs less


cdef class GroupedPricing(ComponentPricing):
    """
    Cells of one component, bounded by groups of samples.

    Parameters are those of `CellPricing`, of a family without a free variable; the groups come by `take_groups`.
    """

    cdef readonly SampleGroups groups
    cdef Grouping *groupings        # (n_threads,)
    cdef Arena group_arena
    cdef public index group_cost    # what a group counts in a cell's pass, in samples of one over them all

    def __cinit__(self):
        self.group_cost = SAMPLES_OF_A_GROUP
        self.groupings = <Grouping *> calloc(self.n_threads, sizeof(Grouping))
        if self.groupings == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.groupings)

    def take_groups(self, SampleGroups groups):
        """Take the groups of the family's samples, before any prices are set."""
        if self.n_levels != 1 or groups.n_samples != self.family.data.core.n_samples:
            raise ValueError("groups of other samples")
        self.groups = groups
        self.lay_out_groups()

    cdef int lay_out_groups(self) except -1:
        cdef Arena arena = Arena()
        cdef size_t n = self.groups.n_nodes + GROUPS_LANES
        cdef size_t m = self.groups.n_samples // (SAMPLES_OF_ONE * GROUPS_LANES) + 1    # blocks of samples
        cdef Grouping *mine
        cdef groups_cut *cut
        cdef int thread
        self.group_arena = arena
        for thread in range(self.n_threads):
            self.groupings[thread].n_blocks = 0
        while arena.again():
            for thread in range(self.n_threads):
                mine = &self.groupings[thread]
                cut = &mine.cut
                mine.blocks = <index *> arena.take_bytes((n // GROUPS_LANES + m) * sizeof(index))
                mine.divided = <unsigned char *> arena.take_bytes(self.groups.n_nodes)
                cut.node = <index *> arena.take_bytes(n * sizeof(index))
                cut.weight, cut.mean, cut.variance = arena.take(n), arena.take(n), arena.take(n)
                cut.low, cut.high, cut.most, cut.lost = arena.take(n), arena.take(n), arena.take(n), arena.take(n)
                cut.least = arena.take(n)
                cut.start = <index *> arena.take_bytes(m * sizeof(index))
                cut.sample_weight, cut.sample_y = arena.take(m * GROUPS_LANES), arena.take(m * GROUPS_LANES)
                cut.sample_u = arena.take(m * GROUPS_LANES)
        return 0

    def set_prices(self, prices, bint at_once=True):
        """New prices (n_samples,); cells are forgotten. Unless `at_once` groups have them by `SampleGroups.price`."""
        super().set_prices(prices)
        self.groups.set_prices(prices, at_once)

    cdef index terms(self) noexcept nogil:
        """Of samples and of groups."""
        return ComponentPricing.terms(self) + self.groups_seen()

    cdef index spent(self) noexcept nogil:
        """In groups."""
        return ComponentPricing.terms(self) // SAMPLES_OF_A_GROUP + self.groups_seen()

    cdef index groups_seen(self) noexcept nogil:
        cdef index total = 0
        cdef int thread
        for thread in range(self.n_threads):
            total += self.groupings[thread].n_groups
        return total

    @property
    def n_groups(self):
        """Groups evaluated so far."""
        return self.groups_seen()

    cdef Grouping *grouping(self, const Pricing *at) noexcept nogil:
        return self.groupings + (at - self.spaces)

    cdef void bound(self, Pricing *at, Node *cell, real cutoff) noexcept nogil:
        cdef Grouping *mine = self.grouping(at)
        cdef bint is_known = self.family.n_connected <= self.family.n_columns
        mine.cutoff, mine.share = cutoff, SHARE_LOST_KNOWN if is_known else SHARE_LOST
        mine.bearable = BEARABLE * node_warm(cell, self.family.n_connected)[self.family.n_facets]
        # a parent's multipliers take more passes than none
        memset(node_warm(cell, self.family.n_connected), 0, self.family.n_facets * sizeof(float))
        ComponentPricing.bound(self, at, cell, cutoff)

    cdef void open_cell(self, Pricing *at, const real *low, const real *high) noexcept nogil:
        ComponentPricing.open_cell(self, at, low, high)
        self.begin(self.grouping(at))

    cdef void choose_split(self, Pricing *at, Node *cell) noexcept nogil:
        """The side of a mean or variance by what the minorant errs at the column and may err elsewhere in the cell.

        Where the error says little of what is missing, the side that is widest for a component, of means in standard
        deviations, of variances by their ratio: the columns of coarse groups are those of no component, and a minorant
        may be exact there.
        """
        cdef Grouping *mine = self.grouping(at)
        cdef int d = self.family.n_columns, size, a
        cdef index n = self.family.n_connected
        cdef real *low = node_low(cell)
        cdef real *high = node_high(cell, n)
        cdef real most = 0, width, variance
        ComponentPricing.choose_split(self, at, cell)
        if n <= d or d % <int> (n - d):     # without variances, or with more of a matrix
            return
        size = d // <int> (n - d)  # columns that share a variance
        if not node_warm(cell, n)[self.family.n_facets] < TOLD * (-cell.lower - mine.cutoff):
            self.choose_side(at, cell, size)
            return
        for a in range(n):
            if a < d:
                variance = high[d + a // size]
                width = (high[a] - low[a]) / sqrt(max(variance, 1.0))
            else:
                width = log(max(high[a], 1.0) / max(low[a], 1.0))
            if width > most and divisible(low[a], high[a]):
                most, cell.branch = width, a
        a = cell.branch
        if most > 0:
            node_point(cell, n)[a] = 0.5 * (low[a] + high[a])
            if a >= d:
                node_point(cell, n)[a] = sqrt(max(low[a], 1.0) * max(high[a], 1.0))

    cdef void choose_side(self, Pricing *at, Node *cell, int size) noexcept nogil:
        """The side with the largest error; one at the column alone is 0 where it has an end of the side for its own."""
        cdef int d = self.family.n_columns, a, j
        cdef real *low = node_low(cell)
        cdef real *high = node_high(cell, self.family.n_connected)
        cdef real most = 0, error, width
        for a in range(<int> self.family.n_connected):
            width = high[a] - low[a]
            j = a if a < d else (a - d) * size
            error = at.sums.mass * at.sub.minorant.quadratic[j] * width
            if a < d:  # at most a quarter of the width squared
                error = at.error[a] + MEAN_BESIDE * 0.25 * error * width
            else:  # about a sixteenth of the logarithm squared
                error *= 0.125 * size * log(max(high[a], 1.0) / max(low[a], 1.0))
                error = at.error[a] + VARIANCE_BESIDE * error
            if error > most and divisible(low[a], high[a]):
                most, cell.branch = error, a

    cdef real most_saved(self, const Pricing *at) noexcept nogil:
        cdef Grouping *mine = self.grouping(at)
        cdef real most = -INFINITY
        cdef index i
        if mine.exact:
            return ComponentPricing.most_saved(self, at)
        for i in range(mine.cut.n):
            most = max(most, mine.cut.high[i])
        for i in range(mine.cut.n_blocks * GROUPS_LANES):
            most = max(most, mine.cut.sample_y[i])
        return most

    cdef void begin(self, Grouping *mine) noexcept nogil:
        """The groups of the first level."""
        cdef int level = min(FIRST_LEVEL, self.groups.n_levels - 1)
        cdef index first = self.groups.begins[level], i
        mine.exact = False
        for i in range(mine.n_blocks):  # those of the cell before: all that were divided are of these
            if mine.blocks[i] >= 0:
                memset(mine.divided + mine.blocks[i], 0, GROUPS_LANES)
        mine.n_blocks = (self.groups.begins[level + 1] - first) // GROUPS_LANES
        mine.cost, mine.is_full = mine.n_blocks * GROUPS_LANES * self.group_cost, False
        for i in range(mine.n_blocks):
            mine.blocks[i] = first + i * GROUPS_LANES

    cdef void add(self, Pricing *at, Grouping *mine, index block) noexcept nogil:
        """Adds the groups of a block to the cut, but for those that were divided; or samples."""
        cdef groups_cut *cut = &mine.cut
        cdef index i, first = cut.n, n = cut.n
        if block < 0:
            self.groups.add_samples(-1 - block, &at.costs, &at.rounding, cut)
            at.n_terms += self.groups.n_blocks_of(-1 - block) * GROUPS_LANES
            return
        self.groups.add(block, &at.costs, &at.rounding, cut)
        mine.n_groups += GROUPS_LANES
        for i in range(first, cut.n):
            if not mine.divided[cut.node[i]]:
                if i != n:
                    self.move(cut, i, n)
                n += 1
        cut.n = n

    cdef void move(self, groups_cut *cut, index i, index to) noexcept nogil:
        cut.node[to], cut.weight[to], cut.mean[to] = cut.node[i], cut.weight[i], cut.mean[i]
        cut.variance[to], cut.low[to], cut.high[to] = cut.variance[i], cut.low[i], cut.high[i]
        cut.most[to], cut.least[to], cut.lost[to] = cut.most[i], cut.least[i], cut.lost[i]

    cdef void run(self, Pricing *at) noexcept nogil:
        """A pass over the groups; these are divided until they lose little, or cost more than all samples."""
        cdef Grouping *mine = self.grouping(at)
        cdef price_sums *part = at.parts
        cdef index i
        cdef real worth
        cdef int _round
        if mine.exact:
            ComponentPricing.run(self, at)
            return
        at.n_passes += 1
        mine.cut.n = mine.cut.n_blocks = 0
        for i in range(mine.n_blocks):
            self.add(at, mine, mine.blocks[i])
        for _round in range(MOST_ROUNDS):
            self.sum_up(part, mine)
            worth = fabs(part.value - mine.cutoff) if isfinite(mine.cutoff) else part.value
            worth = max(mine.share * worth, LEAST_LOST * part.value)
            if part.value < mine.cutoff or mine.lost <= worth:
                break
            if mine.cost > MANY_OF_A_PASS * self.group_cost and mine.lost <= mine.bearable:
                break
            if not self.refine(at, mine, worth) or mine.is_full:
                if mine.share == SHARE_OF_ASCENTS:  # which ends by samples anyway
                    break
                if mine.lost < part.value - mine.cutoff and isfinite(mine.cutoff):  # samples would not close it either
                    break
                mine.exact, mine.lost = True, 0
                ComponentPricing.run(self, at)
                return
        at.sums.value = part.value

    cdef bint refine(self, Pricing *at, Grouping *mine, real most) noexcept nogil:
        """Divides the groups that lose more than their part of what all may; whether there were any.

        Those of the last level into samples, of which nothing is lost.
        """
        cdef groups_cut *cut = &mine.cut
        cdef index i, n = 0, child, n_lossy = 0, before = mine.n_blocks, cost
        cdef real each
        for i in range(cut.n):
            n_lossy += cut.lost[i] > 0
        each = 0.5 * most / max(n_lossy, 1)
        for i in range(cut.n):
            if cut.lost[i] > each and not mine.is_full:
                child = self.groups.children(cut.node[i])
                if child >= 0:
                    cost = GROUPS_LANES * self.group_cost
                else:
                    child = -1 - cut.node[i]
                    cost = self.groups.n_blocks_of(cut.node[i]) * GROUPS_LANES * SAMPLES_OF_ONE
                if mine.cost + cost <= self.groups.n_samples:
                    mine.divided[cut.node[i]] = 1
                    mine.blocks[mine.n_blocks] = child
                    mine.n_blocks += 1
                    mine.cost += cost
                    continue
                mine.is_full = True
            if i != n:
                self.move(cut, i, n)
            n += 1
        cut.n = n
        for i in range(before, mine.n_blocks):
            self.add(at, mine, mine.blocks[i])
        return mine.n_blocks > before

    cdef void sum_up(self, price_sums *part, Grouping *mine) noexcept nogil:
        """OUT: scale and value, with rounding, and what every group loses of it."""
        cdef groups_cut *cut = &mine.cut
        cdef groups_sums sums
        cdef real W = self.family.data.core.total_weight, s, log_s, value, sigma
        cdef real margin = 1 + SUMS * (self.groups.n_samples + 64)
        mine.lost = 0
        groups_pad(cut)
        if groups_total(cut) * margin * margin <= W:
            part.value = part.scale = 0
            memset(cut.lost, 0, cut.n * sizeof(real))
            return
        s = self.root(cut, W, part.scale)
        log_s = log(s)
        log_s += 4 * ROUND * fabs(log_s)
        groups_sum(cut, s, log_s, &sums)
        part.scale, mine.lost = s, sums.lost
        value = sums.value * margin
        sigma = sums.mass * margin * margin / (W * s)
        if sigma > 1:
            value += W * log(sigma) * (1 + 16 * ROUND)
        part.value = value + W * SUMS * 64

    cdef real root(self, const groups_cut *cut, real W, real s) noexcept nogil:
        """s of sum of w min(1, s most) = W s, about, from above, as in csrc/price_kernel.h."""
        cdef real full, inner, rest, following
        cdef int _turn
        if not 0 < s < 1:
            s = 1
        for _turn in range(MOST_ROOT_STEPS):
            groups_shares(cut, s, &full, &inner)
            rest = W - inner
            if not rest > 0:
                if s >= 1:
                    return 1
                s = 1
                continue
            following = min(1.0, full / rest)
            if fabs(following - s) <= ROOT_TOLERANCE * s:
                return max(s, following) if max(s, following) > LEAST_SCALE else 1
            if not following > LEAST_SCALE:
                return s
            s = following
        return s

    cdef void weigh(self, Pricing *at) noexcept nogil:
        """Those at the groups' means: they only say where to go next."""
        cdef Grouping *mine = self.grouping(at)
        cdef price_sums *part = at.parts
        cdef int F = self.family.n_statistics
        cdef groups_samples samples = self.groups.samples()
        if mine.exact:
            ComponentPricing.weigh(self, at)
            return
        if part.scale > 0:
            groups_moments(
                &mine.cut, &self.groups.rows[0], &samples, self.family.n_columns, F, at.costs.centers, part.scale,
                &part.mass, &part.saturated, &part.inner, part.first, part.inner_first, part.second
            )
        else:
            part.mass = part.saturated = part.inner = 0
            memset(part.first, 0, F * sizeof(real))
            memset(part.inner_first, 0, F * sizeof(real))
            memset(part.second, 0, F * F * sizeof(real))
        at.sums.mass = part.mass
        memcpy(at.sums.first, part.first, F * sizeof(real))

    cdef real pass_of_ascent(self, Pricing *at, bint begins, bint exactly) noexcept nogil:
        """Of groups the value lacks about what they lose."""
        cdef Grouping *mine = self.grouping(at)
        if exactly:
            return ComponentPricing.pass_of_ascent(self, at, begins, True)
        if begins:
            self.forget(at)
            mine.cutoff, mine.share, mine.bearable = -INFINITY, SHARE_OF_ASCENTS, INFINITY
            self.begin(mine)
        self.run(at)
        self.weigh(at)
        return at.sums.value - mine.lost
