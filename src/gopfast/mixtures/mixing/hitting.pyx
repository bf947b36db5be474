"""Sets that a mean of every good mixture lies in: the nonparametric bound, told to the nodes.

Take part of the line away. If even the best mixing distribution on what is left has a value above the limit, every
mixture below the limit has a mean in a part of what was taken (`mixing`): a *hitting set*. This holds whatever box a
node is. One set that no component of a node can hit closes the node; one that a single component can hit cuts its
interval down to the set; disjoint sets, being hit by different components, are hit in their order. So two attempts per
component, around its mean and then at each end of its interval, come close to a box around the incumbent before the
tree does: where clusters are apart, in time linear in K, not exponential.

Theory: (H4), (H5) and (H6) of docs/theory/hitting.md.
"""

import numpy as np

from gopfast.mixtures.mixing.tuning import (
    HITTING_MOST_SAMPLES as MOST_SAMPLES, HITTING_WIDEST as WIDEST, LIGHTEST, SMALL_LOSS
)
from gopfast.search import entries

from libc.math cimport INFINITY, ceil, fabs, isfinite, log, sqrt
from libc.stdlib cimport calloc, free

from gopfast.mixtures.families.family cimport order_components
from gopfast.mixtures.families.gaussian cimport GaussianFamily, GaussianModel
from gopfast.mixtures.mixing.margins cimport PRIOR_ROUNDING
from gopfast.mixtures.mixing.mixing cimport Interval, MixingDistribution
from gopfast.mixtures.mixing.tuning cimport (
    ALL_BUT, FIRST_CAUTION, FIRST_RADIUS, GROWN, LEAST_CAUTION, LEAST_STEP, LEAST_WEIGHT, LESS, MORE, MOST_FITS,
    MOST_RADIUS, MOST_TRIALS, SMALLER, WIDER
)
from gopfast.search.relaxation cimport Effort, Reduction
from gopfast.search.stop cimport StopSignal
from gopfast.search.types cimport clip, index, real


def summary(data):
    """The coarsest summary of the data that loses little, or the finest that is small; None where none is."""
    best = None
    for level in [*data.levels, data]:
        if level.n_samples <= MOST_SAMPLES:
            best = level
            if 0.5 * np.sum(level.loss) <= SMALL_LOSS * level.total_weight:
                break
    return best


cdef bint hits(const HittingSet *held, real low, real high) noexcept nogil:
    """Whether the set meets [low, high]."""
    cdef int i
    for i in range(held.n_parts):
        if held.parts[i].low <= high and held.parts[i].high >= low:
            return True
    return False


cdef bint narrow(const HittingSet *held, real *low, real *high) noexcept nogil:
    """Cuts [low, high] down to where it meets the set; True: it changed."""
    cdef real least = INFINITY, most = -INFINITY
    cdef int i
    cdef bint changed
    for i in range(held.n_parts):
        if held.parts[i].low <= high[0] and held.parts[i].high >= low[0]:
            least, most = min(least, held.parts[i].low), max(most, held.parts[i].high)
    changed = least > low[0] or most < high[0]
    low[0], high[0] = max(low[0], least), min(high[0], most)
    return changed


cdef bint within(const HittingSet *inner, const HittingSet *outer) noexcept nogil:
    """Whether every part of `inner` lies in a part of `outer`."""
    cdef int i, k
    cdef bint inside
    for i in range(inner.n_parts):
        inside = False
        for k in range(outer.n_parts):
            inside |= outer.parts[k].low <= inner.parts[i].low and inner.parts[i].high <= outer.parts[k].high
        if not inside:
            return False
    return True


cdef real width(const HittingSet *held) noexcept nogil:
    """From the first part's lower to the last part's upper end."""
    return held.parts[held.n_parts - 1].high - held.parts[0].low if held.n_parts else 0


cdef class HittingSets(Reduction):
    """Hitting sets of a one-dimensional Gaussian mixture of known variance, with point masses for the means.

    Parameters
    ----------
    family : GaussianFamily
    """

    def __cinit__(self, GaussianFamily family):
        cdef int K = family.n_components
        if not HittingSets.applies(family):
            raise ValueError("hitting sets are for one column and point masses")
        self.family = family
        self.n_connected = K
        self.lower = self.limit = INFINITY
        self.sets = <HittingSet *> calloc(MOST_SETS, sizeof(HittingSet))
        self.attempts = <Attempt *> calloc(K, sizeof(Attempt))
        self.support = <Interval *> calloc(3 * (K + 2), sizeof(Interval))
        if self.sets == NULL or self.attempts == NULL or self.support == NULL:
            raise MemoryError
        self.spared, self.union_ = self.support + K + 2, self.support + 2 * (K + 2)
        self.low, self.high, self.center = np.zeros(K), np.zeros(K), np.zeros(K)
        family.root(&self.low[0], &self.high[0])

    @staticmethod
    def applies(family):
        """Whether the model is of the kind, and its data neither too many nor too wide."""
        cdef GaussianFamily one = family
        if one.n_columns != 1 or one.n_ranges or one.core.high[0] - one.core.low[0] > WIDEST:
            return False
        data = summary(one.data)
        return data is not None and data.arrays()[1].min() > LIGHTEST * one.core.total_weight

    def __dealloc__(self):
        free(self.sets)
        free(self.attempts)
        free(self.support)

    cdef int prepare(self, StopSignal stop) except -1:
        if self.mixing is None:
            self.mixing = MixingDistribution(summary(self.family.data), self.family.constant)
        self.mixing.stop = stop
        return 0

    cdef bint work(self, const real *solution, real limit, Effort *effort) noexcept nogil:
        cdef int K = self.family.n_components
        cdef real spent = self.mixing.work
        cdef index terms = self.mixing.terms
        if not isfinite(limit):
            return False
        if limit < self.limit:
            self.begin(solution, limit)
        if not self.idle:
            self.meter.work.calls += 1
            self.next()
        self.meter.work.terms += self.mixing.terms - terms
        effort.n_passes += <index> ceil((self.mixing.work - spent) / K)
        return not self.idle

    cdef void begin(self, const real *solution, real limit) noexcept nogil:
        """Starts on a new incumbent."""
        cdef int K = self.family.n_components, k, i
        cdef real mean, weight
        for k in range(K):  # by insertion: K is small
            mean, weight = solution[K + k], solution[k]
            i = k
            while i > 0 and self.center[i - 1] > mean:
                self.center[i] = self.center[i - 1]
                self.attempts[i].weight = self.attempts[i - 1].weight
                i -= 1
            self.center[i], self.attempts[i].weight = mean, weight
        for k in range(K):
            self.attempts[k].radius, self.attempts[k].caution = FIRST_RADIUS, FIRST_CAUTION
            self.attempts[k].found = self.attempts[k].done = False
        self.limit = limit
        self.idle = self.grown = False
        self.turn = -1

    cdef void next(self) noexcept nogil:
        """One attempt: at the whole first, then around each mean or at the ends of its interval."""
        cdef int K = self.family.n_components, k, side
        if self.turn == 2 * K:
            if not self.grown:
                self.idle = True
                return
            self.turn, self.grown = -1, False
        if self.turn < 0:
            self.turn = 0
            if self.attempt(1, 0):  # nothing is spared
                self.idle = True
            self.missing = max(0.0, self.limit - self.prior_bound() - self.mixing.estimate)
            return
        k, side = self.turn // 2, self.turn % 2
        if not self.own(k):
            self.turn += 2
            self.around(k)
        else:
            self.turn += 1
            self.at_end(k, side)

    cdef bint own(self, int k) noexcept nogil:
        """Whether no other component's interval meets that of component k."""
        return ((k == 0 or self.high[k - 1] < self.low[k])
                and (k + 1 == self.family.n_components or self.high[k] < self.low[k + 1]))

    cdef void around(self, int k) noexcept nogil:
        """Tries intervals about mean k, wider and wider, until one is proved to hit; begins narrower next time."""
        cdef Attempt *at = &self.attempts[k]
        cdef real center = clip(self.center[k], self.low[k], self.high[k])
        while not at.done and not self.mixing.stop.poll(0):
            if self.attempt(center - at.radius, center + at.radius):
                at.found = True
                at.radius *= SMALLER
                return
            at.radius *= WIDER
            at.done = at.found or at.radius > MOST_RADIUS

    cdef void at_end(self, int k, int side) noexcept nogil:
        """Moves one end of a component's interval towards its mean, by about what the missing value allows."""
        cdef real low = self.low[k], high = self.high[k], center = clip(self.center[k], low, high)
        cdef real edge = high if side else low, distance = fabs(edge - center)
        cdef Attempt *at = &self.attempts[k]
        cdef real weight = max(at.weight, LEAST_WEIGHT) * self.family.core.total_weight
        cdef real step
        cdef int _trial
        cdef bint found
        for _trial in range(MOST_TRIALS):
            step = at.caution * sqrt(2 * self.missing / weight)
            if distance - step < LEAST_STEP:
                if at.caution == LEAST_CAUTION:
                    return
                step = ALL_BUT * distance
            found = self.attempt(low, center + step) if side else self.attempt(center - step, high)
            if found:
                at.caution = max(LEAST_CAUTION, at.caution * LESS)
                return
            at.caution *= MORE
            if step == ALL_BUT * distance:
                return

    cdef bint attempt(self, real low, real high) noexcept nogil:
        """Takes [low, high] away from where means may lie; True: a set was found."""
        cdef int K = self.family.n_components, k, n = 0, n_support = 0, n_spared = 0
        cdef Interval part
        for k in range(K):  # the root's intervals, their lower ends ascending, merged
            if n and self.low[k] <= self.union_[n - 1].high:
                self.union_[n - 1].high = max(self.union_[n - 1].high, self.high[k])
            else:
                self.union_[n] = Interval(self.low[k], self.high[k])
                n += 1
        for k in range(n):
            part = self.union_[k]
            if low > high or high < part.low or low > part.high:
                self.support[n_support] = part
                n_support += 1
                continue
            self.spared[n_spared] = Interval(max(low, part.low), min(high, part.high))
            n_spared += 1
            if part.low < low:
                self.support[n_support] = Interval(part.low, low)
                n_support += 1
            if high < part.high:
                self.support[n_support] = Interval(high, part.high)
                n_support += 1
        if not self.mixing.prove(self.support, n_support, self.spared, n_spared,
                                 self.limit - self.prior_bound()):
            return False
        self.add()
        return True

    cdef real prior_bound(self) noexcept nogil:
        """What the prior costs at least of the solutions below the limit: min over e of e C - K/2 log e.

        C is at its least in the box where their means lie: the smaller that is, the better.
        """
        cdef const GaussianModel *model = &self.family.core
        cdef int k
        cdef real C = 0, e, z, P = self.family.e_power
        if not self.family.has_prior:
            return 0
        for k in range(self.family.n_components):
            z = max(0.0, max(self.low[k] - model.prior_point[0], model.prior_point[0] - self.high[k]))
            C += 0.5 * model.prior_scale[0] * z * z
        e = clip(P / C, model.e_low, model.e_high) if C > 0 else model.e_high
        return e * C - P * log(e) - PRIOR_ROUNDING * (1 + e * C + P * fabs(log(e)))

    cdef void add(self) noexcept nogil:
        """Takes the set that was proved; what it makes superfluous goes."""
        cdef HittingSet made
        cdef int i, kept = 0, widest
        cdef real before, after, rest
        made = self.proved()
        for i in range(self.n_sets):
            if not within(&made, &self.sets[i]):
                self.sets[kept] = self.sets[i]
                kept += 1
        if kept == MOST_SETS:
            widest = 0
            for i in range(1, kept):
                if width(&self.sets[i]) > width(&self.sets[widest]):
                    widest = i
            kept -= 1
            self.sets[widest] = self.sets[kept]
        self.sets[kept] = made
        self.n_sets = kept + 1
        self.lower = min(self.lower, self.limit)
        self.version += 1
        self.link()
        before = self.total()
        if not self.contract(&self.low[0], &self.high[0], &rest):
            self.n_sets, self.n_chain, self.sets[0].n_parts = 1, 0, 0  # nothing lies below the limit
            self.idle = True
            return
        after = self.total()
        self.grown |= after < (1 - GROWN) * before

    cdef real total(self) noexcept nogil:
        """Sum of the widths of the components' intervals."""
        cdef int k
        cdef real value = 0
        for k in range(self.family.n_components):
            value += self.high[k] - self.low[k]
        return value

    cdef HittingSet proved(self) noexcept nogil:
        """The set that was proved, or one interval that holds it."""
        cdef HittingSet made
        cdef const Interval *parts = self.mixing.out
        cdef int n = self.mixing.n_set, i
        made.n_parts = n
        for i in range(min(n, <int> MOST_PARTS)):
            made.parts[i] = parts[i]
        if n > MOST_PARTS:
            made.n_parts, made.parts[0].high = 1, parts[n - 1].high
        return made

    cdef void link(self) noexcept nogil:
        """A largest choice of disjoint sets: by upper ends, each that begins after the last one."""
        cdef int i, best
        cdef real last = -INFINITY, end
        self.n_chain = 0
        while True:
            best, end = -1, INFINITY
            for i in range(self.n_sets):
                if self.sets[i].n_parts and self.sets[i].parts[0].low > last:
                    if self.sets[i].parts[self.sets[i].n_parts - 1].high < end:
                        best, end = i, self.sets[i].parts[self.sets[i].n_parts - 1].high
            if best < 0:
                return
            self.chain[self.n_chain] = best
            self.n_chain += 1
            last = end

    cdef int contract(self, real *low, real *high, real *rest) noexcept nogil:
        cdef int K = self.family.n_components, i, k, first, last, _turn
        cdef const HittingSet *held
        cdef bint changed
        rest[0] = -INFINITY
        for _turn in range(MOST_FITS):
            changed = False
            if not order_components(K, 1, low, high):
                return 0
            for i in range(self.n_sets):
                first = last = -1
                for k in range(K):
                    if hits(&self.sets[i], low[k], high[k]):
                        first = k if first < 0 else first
                        last = k
                if first < 0:
                    return 0
                if first == last:
                    changed |= narrow(&self.sets[i], low + first, high + first)
            # disjoint sets are hit by different components, in their order
            first = -1
            for i in range(self.n_chain):
                first += 1
                while first < K and not hits(&self.sets[self.chain[i]], low[first], high[first]):
                    first += 1
                if first == K:
                    return 0
                held = &self.sets[self.chain[i]]
                if held.parts[held.n_parts - 1].high < high[first]:
                    high[first], changed = held.parts[held.n_parts - 1].high, True
            last = K
            for i in range(self.n_chain - 1, -1, -1):
                last -= 1
                while last >= 0 and not hits(&self.sets[self.chain[i]], low[last], high[last]):
                    last -= 1
                if last < 0:
                    return 0
                held = &self.sets[self.chain[i]]
                if held.parts[0].low > low[last]:
                    low[last], changed = held.parts[0].low, True
            if not changed:
                break
        return order_components(K, 1, low, high)

    def state(self, bint learning=True):
        """The sets, the box that they leave, and where the attempts stand."""
        cdef int K = self.family.n_components, i, k
        sets = np.full((self.n_sets, <int> MOST_PARTS, 2), np.nan)
        for i in range(self.n_sets):
            for k in range(self.sets[i].n_parts):
                sets[i, k] = self.sets[i].parts[k].low, self.sets[i].parts[k].high
        found = {
            "sets": sets, "low": np.array(self.low), "high": np.array(self.high), "center": np.array(self.center),
            "bounds": np.array([self.lower, self.limit, self.missing]),
            "turns": np.array([self.turn, self.idle, self.grown]),
            "attempts": np.array([(self.attempts[k].weight, self.attempts[k].radius, self.attempts[k].caution,
                                   self.attempts[k].found, self.attempts[k].done) for k in range(K)]),
        }
        if learning and self.mixing is not None:
            n, most = self.mixing.n_kept, self.mixing.most_atoms
            found["kept"] = np.array([(self.mixing.kept[k], self.mixing.kept[most + k]) for k in range(n)])
        return found

    def restore(self, state):
        """Take what `state` returned."""
        cdef int k
        cdef int K = self.family.n_components
        sets = entries.array(state, "sets", (None, MOST_PARTS, 2), nan=True)
        there = ~np.isnan(sets)
        if len(sets) > MOST_SETS or (there[..., 0] != there[..., 1]).any():
            raise entries.EntryError(f"sets must be at most {MOST_SETS} sets of parts")
        entries.ordered("sets", sets[there[..., 0]][:, 0], sets[there[..., 0]][:, 1])
        attempts = entries.array(state, "attempts", (K, 5))
        for name, own in (("low", self.low), ("high", self.high), ("center", self.center)):
            np.asarray(own)[:] = entries.array(state, name, np.shape(own))
        self.know([parts[~np.isnan(parts[:, 0])] for parts in sets])
        self.lower, self.limit, self.missing = entries.array(state, "bounds", (3,)).tolist()
        self.turn, self.idle, self.grown = entries.array(state, "turns", (3,), "i", -1, 2 * K).tolist()
        for k in range(K):
            weight, radius, caution, found, done = attempts[k].tolist()
            self.attempts[k] = Attempt(weight, radius, caution, found != 0, done != 0)
        if "kept" in state:
            kept = entries.array(state, "kept", (None, 2)) if np.size(state["kept"]) else ()
            self.prepare(StopSignal(INFINITY))
            self.mixing.n_kept = min(<int> len(kept), self.mixing.most_atoms)
            for k in range(self.mixing.n_kept):
                self.mixing.kept[k], self.mixing.kept[self.mixing.most_atoms + k] = kept[k].tolist()

    def report(self):
        """For tests: the sets (a list of (n, 2) arrays), and the root box (K,), (K,) that they leave."""
        sets = [[(self.sets[i].parts[k].low, self.sets[i].parts[k].high) for k in range(self.sets[i].n_parts)]
                for i in range(self.n_sets)]
        return [np.array(parts).reshape(-1, 2) for parts in sets], np.array(self.low), np.array(self.high)

    def learn(self, real[::1] solution, real limit, index n_passes):
        """For tests: works until so many passes are spent."""
        cdef Effort effort
        effort.n_passes = 0
        self.prepare(StopSignal(INFINITY))
        while effort.n_passes < n_passes and self.work(&solution[0], limit, &effort):
            pass
        return effort.n_passes

    def know(self, sets):
        """These sets, arrays (n, 2), whatever they are."""
        cdef int i, k
        self.n_sets = len(sets)
        for i in range(self.n_sets):
            self.sets[i].n_parts = len(sets[i])
            for k in range(self.sets[i].n_parts):
                self.sets[i].parts[k] = Interval(sets[i][k][0], sets[i][k][1])
        self.link()

    def cut(self, low, high):
        """For tests: what is left of a box, or None."""
        cdef real[::1] least = np.array(low, dtype=np.float64), most = np.array(high, dtype=np.float64)
        cdef real rest
        return (np.asarray(least), np.asarray(most)) if self.contract(&least[0], &most[0], &rest) else None
