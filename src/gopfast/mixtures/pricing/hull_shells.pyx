"""What one component of a known variance can save, over shells around one: by distance, whatever the direction is.

For a component at m, r <= |m| <= R, and the sample z, with v = m / R and l the logarithm of a scale,

    y(v)  =  A - (|m|^2 - r^2) / 2 + R z'v,    A = l + price - (|z|^2 + r^2) / 2.

Samples with y >= 0 all over the shell have their y; of all others max(0, y) + min(1, exp(y)) has a derivative, so that
it is bounded by a quadratic in the cosine of z and v that is right to second order at v = 0. All samples together are
then a form of v. There may be other coordinates, in which components are at one place: they change the prices.

Theory: (Y4) of docs/theory/hull.md, (YN1) and (YN4) of docs/theory/near.md.
"""

import numpy as np

from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY, exp, fabs, log
from libc.string cimport memset

from gopfast.mixtures.pricing.hull_loops cimport (
    HULL_BLOCK, HULL_LANES, hull_add_forms, hull_collect, hull_draw, hull_length, hull_lines, hull_radii, hull_ranges,
    hull_shell, hull_shell_forms, hull_shell_sums, hull_top_closely
)
from gopfast.mixtures.pricing.tuning cimport (
    HOPELESS, HULL_MOST_TURNS as MOST_TURNS, LEAST_LOG_SCALE, MORE_SHIFT, MOST_CHANGE, MOST_SHIFT, SAME_SCALE, SLIGHT
)
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport index, real


cdef struct Sums:
    hull_shell_sums all
    real *linear    # (p,) of gains
    real *square    # (p (p + 1) / 2,)
    real *rise      # (p,) of masses, from above
    real *bend      # (p (p + 1) / 2,)
    real *fall      # (p,) from below
    real *sag       # (p (p + 1) / 2,)
    real *missed    # (p,) of what is not in,
    real *missed_square     # (p (p + 1) / 2,)
    const real *prices  # (blocks, HULL_BLOCK) at the place of the components,
    const real *tops    # (padded blocks,) and the largest of each block


cdef class Shells:
    """
    Samples around a component, and bounds over shells.

    Parameters
    ----------
    samples : ndarray, shape (p, n)
        Less the component's mean, in units of its standard deviation; p >= 2.
    weights, prices : ndarray, shape (n,)
        Prices raised by all that samples were rounded by. Samples with near prices and lengths are to follow each
        other.
    n_threads : int
    skip : float
        Blocks of which no sample has y above minus this are counted as a whole.
    along : ndarray, shape (q, n), optional
        Other coordinates of the samples, in which components are at given places.
    """

    cdef readonly int n_across, n_along, n_threads
    cdef readonly index n_samples, n_blocks, n_terms
    cdef real total_weight, skip
    cdef const real[:, :, ::1] unit     # (blocks, p, HULL_BLOCK), samples of unit length,
    cdef const real[:, ::1] length      # and their lengths
    cdef const real[:, :, ::1] along    # (blocks, q, HULL_BLOCK)
    cdef const real[:, ::1] weight
    cdef const real[:, ::1] price
    cdef const real[::1] least          # (padded blocks,): ranges of the lengths,
    cdef const real[::1] most
    cdef const real[::1] top            # and the largest prices
    cdef const real[::1] block_weight
    cdef index n_forms, n_work
    cdef real[:, ::1] work              # (threads, n_work)

    def __init__(self, samples, weights, prices, int n_threads=1, real skip=14.0, along=None):
        cdef int p = samples.shape[0], q = 0 if along is None else along.shape[0]
        self.n_across, self.n_along, self.n_threads, self.skip, self.n_terms = p, q, n_threads, skip, 0
        self.n_samples = len(weights)
        self.total_weight = np.sum(weights)
        self.n_blocks = (self.n_samples + HULL_BLOCK - 1) // HULL_BLOCK
        n, shape = self.n_blocks * HULL_BLOCK - self.n_samples, (self.n_blocks, HULL_BLOCK)
        # lengths rounded up, so that no cosine is above 1
        lengths = np.sqrt(np.square(samples).sum(axis=0)) * (1 + (p + 8) * ROUND)
        unit = samples / np.maximum(lengths, 1e-300)
        unit = np.pad(unit, ((0, 0), (0, n))).reshape(p, *shape).transpose(1, 0, 2)
        self.unit = np.ascontiguousarray(unit)
        places = np.pad(along, ((0, 0), (0, n))) if q else np.empty((0, shape[0] * shape[1]))
        self.along = np.ascontiguousarray(places.reshape(q, *shape).transpose(1, 0, 2))
        both = np.pad(lengths, (0, n), mode="edge").reshape(shape)
        self.length = both
        self.weight = np.ascontiguousarray(np.pad(weights, (0, n)).reshape(shape))
        found = np.pad(prices, (0, n), constant_values=-1e300).reshape(shape)
        self.price = np.ascontiguousarray(found)
        more = (0, (HULL_LANES - self.n_blocks % HULL_LANES) % HULL_LANES)
        self.least, self.most = np.pad(both.min(axis=1), more), np.pad(both.max(axis=1), more)
        self.top = np.pad(found.max(axis=1), more, constant_values=-1e300)
        self.block_weight = np.asarray(self.weight).sum(axis=1) * (1 + HULL_BLOCK * ROUND)
        self.n_forms = p + p * (p + 1) // 2
        # forms of gains and of masses, their sums, the largest y of each block, and prices at a place
        self.n_work = (HULL_LANES + 1) * 4 * self.n_forms + len(self.top)
        if q:
            self.n_work += len(self.top) + self.n_blocks * HULL_BLOCK
        self.work = np.zeros((n_threads, self.n_work + 64))

    def bound(self, low, high, log_scale, raised, real enough=-INFINITY, precision=None, places=None):
        """
        Bounds of what a component saves in shells.

        Parameters
        ----------
        low, high : ndarray, shape (m,)
            Least and largest distances; high is above 0.
        log_scale : ndarray, shape (m,)
            Where to begin; any is valid.
        raised : ndarray, shape (m,)
            By so much all prices are to be larger, in each shell.
        enough : float
            A bound below this is not improved any more.
        precision : ndarray, shape (m,), optional
            Of the components in each shell, 1 if not given; with d / 2 times its logarithm among what is raised.
        places : ndarray, shape (m, q), optional
            Of the components, in the coordinates along.

        Returns
        -------
        values, log_scale : ndarray, shape (m,)
        """
        if self.n_along and np.shape(places) != (len(low), self.n_along):
            raise ValueError(f"places: {self.n_along} coordinates of each of {len(low)} shells")
        cdef const real[::1] lows = np.ascontiguousarray(low), highs = np.ascontiguousarray(high)
        cdef const real[::1] more = np.ascontiguousarray(raised)
        cdef const real[::1] roots = np.sqrt(np.ones(len(low)) if precision is None else precision)
        cdef real[::1] scales = np.array(log_scale, dtype=np.float64), values = np.zeros(len(low))
        cdef const real[:, ::1] at = np.zeros((len(low), 1)) if places is None else np.ascontiguousarray(places)
        cdef index m = lows.shape[0], i, terms = 0
        for i in prange(m, schedule="dynamic", chunksize=1, num_threads=self.n_threads, nogil=True):
            terms += self.bound_one(
                &at[i, 0], roots[i], lows[i], highs[i], more[i], enough, &self.work[threadid(), 0], &values[i],
                &scales[i]
            )
        self.n_terms += terms
        return np.asarray(values), np.asarray(scales)

    cdef void take_prices(self, const real *place, real precision, real *prices, real *tops) noexcept nogil:
        """OUT: prices less what the distance along costs, and their largest of each block; rounded up."""
        cdef int j, l
        cdef index block
        cdef real away, cost, slack = 8 * (self.n_along + 4) * ROUND
        cdef const real *from_
        memset(prices, 0, self.n_blocks * HULL_BLOCK * sizeof(real))
        for block in range(self.n_blocks):
            for j in range(self.n_along):
                from_ = &self.along[block, j, 0]
                for l in range(HULL_BLOCK):
                    away = from_[l] - place[j]
                    prices[l] += away * away
            tops[block] = -1e300
            for l in range(HULL_BLOCK):
                cost = 0.5 * precision * prices[l]
                prices[l] = self.price[block, l] - cost + slack * (fabs(self.price[block, l]) + cost)
                tops[block] = max(tops[block], prices[l])
            prices += HULL_BLOCK
        for block in range(self.n_blocks, <index> self.top.shape[0]):
            tops[block] = -1e300

    cdef index bound_one(self, const real *place, real root, real low, real high, real raised, real enough,
                         real *work, real *value, real *log_scale) noexcept nogil:
        cdef hull_radii radii
        cdef Sums sums
        cdef int p = self.n_across, turn
        cdef index terms = 0
        cdef real found, scale = log_scale[0], following, shift = MOST_SHIFT, more = 0, less = 0, within = 0
        cdef real *own_tops
        radii.root, radii.least, radii.most = root, root * low, root * high
        radii.further = 0.5 * (radii.most * radii.most - radii.least * radii.least) * (1 + 8 * ROUND)
        sums.linear = work + HULL_LANES * 4 * self.n_forms
        sums.square = sums.linear + p
        sums.rise = sums.linear + self.n_forms
        sums.bend = sums.rise + p
        sums.missed = sums.rise + self.n_forms
        sums.missed_square = sums.missed + p
        sums.fall = sums.missed + self.n_forms
        sums.sag = sums.fall + p
        sums.prices, sums.tops = &self.price[0, 0], &self.top[0]
        if self.n_along:
            own_tops = sums.fall + self.n_forms + self.top.shape[0]
            self.take_prices(place, root * root, own_tops + self.top.shape[0], own_tops)
            terms += self.n_samples
            sums.prices, sums.tops = own_tops + self.top.shape[0], own_tops
        value[0] = INFINITY
        for turn in range(MOST_TURNS):
            memset(sums.linear, 0, 4 * self.n_forms * sizeof(real))
            terms += self.add_up(low, high, &radii, scale + raised, shift, work, &sums)
            found = self.total(&radii, scale, raised, shift, &sums, &more, &less, &within)
            if found < value[0]:
                value[0], log_scale[0] = found, scale
            elif turn:
                break
            if value[0] < enough or (turn and value[0] > HOPELESS * enough > 0):
                break
            # in the middle of what masses may be
            following = exp(scale) + 0.5 * (more - less) / self.total_weight
            following = min(0.0, log(max(following, 1e-300)))
            if fabs(following - scale) < SAME_SCALE or following < LEAST_LOG_SCALE:
                break
            scale = following
            # samples nearer to 0 than that are what the bound loses
            shift = min(MOST_SHIFT, MORE_SHIFT * max(less, 0.0) / max(within, 1e-300))
        return terms

    cdef index add_up(self, real low, real high, const hull_radii *radii, real log_scale, real shift, real *work,
                      Sums *sums) noexcept nogil:
        """Add all samples; return how many were looked at."""
        cdef int p = self.n_across
        cdef index block, terms = 0
        cdef bint is_bent
        cdef real total = 0, most
        cdef real *mass_forms = work + HULL_LANES * self.n_forms
        cdef real *missed_forms = mass_forms + HULL_LANES * self.n_forms
        cdef real *fall_forms = missed_forms + HULL_LANES * self.n_forms
        cdef real *mosts = sums.fall + self.n_forms
        cdef hull_lines lines
        cdef hull_shell_sums each
        cdef hull_shell_forms forms
        hull_draw(0, radii.root * radii.root, radii.root * radii.root, 0.0, 0.0, &lines)
        hull_ranges(&low, &high, 1, &self.least[0], &self.most[0], sums.tops, self.top.shape[0],
                    &lines, mosts)
        memset(&sums.all, 0, sizeof(hull_shell_sums))
        for block in range(self.n_blocks):
            most = mosts[block] + log_scale
            if most < -self.skip:
                total += self.block_weight[block] * exp(most)
                continue
            terms += HULL_BLOCK
            hull_shell(&self.length[block, 0], sums.prices + block * HULL_BLOCK, &self.weight[block, 0], p, radii,
                       log_scale, shift, &forms, &each)
            sums.all.surely += each.surely
            sums.all.value += each.value
            sums.all.size += each.size
            sums.all.bent += each.bent
            sums.all.mass += each.mass
            sums.all.amount += each.amount
            sums.all.more += each.more
            sums.all.less += each.less
            sums.all.well += each.well
            sums.all.often += each.often
            sums.all.seldom += each.seldom
            hull_add_forms(&self.unit[block, 0, 0], p, forms.linear, forms.square if each.mass > 0 else NULL, work)
            if each.mass > 0:
                # little of a block's weight counts with its worst direction
                is_bent = forms.bent > SLIGHT * self.block_weight[block]
                if not is_bent:
                    sums.all.more += forms.bent
                hull_add_forms(&self.unit[block, 0, 0], p, forms.rise, forms.bend if is_bent else NULL, mass_forms)
                hull_add_forms(&self.unit[block, 0, 0], p, forms.fall, forms.sag if forms.sunk > 0 else NULL,
                               fall_forms)
            if each.often > 0:
                hull_add_forms(&self.unit[block, 0, 0], p, forms.missed, forms.missed_square, missed_forms)
        total *= 1 + 8 * ROUND
        sums.all.value += total
        sums.all.size += total
        sums.all.more += total
        hull_collect(work, p, sums.linear)
        hull_collect(work + HULL_LANES * p, self.n_forms - p, sums.square)
        hull_collect(mass_forms, p, sums.rise)
        hull_collect(mass_forms + HULL_LANES * p, self.n_forms - p, sums.bend)
        hull_collect(missed_forms, p, sums.missed)
        hull_collect(missed_forms + HULL_LANES * p, self.n_forms - p, sums.missed_square)
        hull_collect(fall_forms, p, sums.fall)
        hull_collect(fall_forms + HULL_LANES * p, self.n_forms - p, sums.sag)
        return terms

    def forms_of_first(self, real low, real high, real log_scale, real shift):
        """For tests: what the first block's samples come to, and their forms where there is only one sample."""
        cdef hull_radii radii
        cdef hull_shell_sums each
        cdef hull_shell_forms forms
        radii.root, radii.least, radii.most = 1.0, low, high
        radii.further = 0.5 * (high * high - low * low) * (1 + 8 * ROUND)
        hull_shell(&self.length[0, 0], &self.price[0, 0], &self.weight[0, 0], self.n_across, &radii, log_scale, shift,
                   &forms, &each)
        return each, {"linear": forms.linear[0], "square": forms.square[0], "rise": forms.rise[0],
                      "fall": forms.fall[0], "bend": forms.bend[0], "sag": forms.sag[0],
                      "missed": forms.missed[0], "missed_square": forms.missed_square[0]}

    cdef real total(self, const hull_radii *radii, real log_scale, real raised, real shift, const Sums *sums,
                    real *more, real *less, real *within) noexcept nogil:
        """The bound; OUT by what masses may be more than W e^l, and less, and the least weight with y >= shift."""
        cdef int p = self.n_across
        cdef const hull_shell_sums *all = &sums.all
        cdef real error = 4 * ROUND * (self.n_samples + 64), S = all.surely, W = self.total_weight
        cdef real wanted = W * exp(log_scale), rounding, found, length, square
        # of all masses, of the exponential, and of the least that is told from 0
        rounding = (error + 2.0**-40) * (S + all.amount + all.more + fabs(all.less) + wanted) + error * all.size
        rounding += 2.0**-50 * W
        more[0] = S + all.mass - wanted + all.more + hull_length(sums.rise, p) + rounding
        more[0] += hull_top_closely(sums.bend, p)
        less[0] = wanted - S - all.mass + all.less + hull_length(sums.fall, p) + rounding
        less[0] += hull_top_closely(sums.sag, p)
        # what has y >= shift, whatever the direction is
        found = all.well * (1 - error) + all.often * (1 - 4 * (p + 2) * error) - all.seldom
        found -= hull_length(sums.missed, p) + hull_top_closely(sums.missed_square, p)
        within[0] = max(found, 0.0)
        if not more[0] < MOST_CHANGE * within[0]:
            return INFINITY
        found = max(max(more[0], less[0]), 0.0)
        found = 0.5 * found * found / (within[0] - max(more[0], 0.0)) * (1 + 64 * ROUND)
        found += max(less[0] - shift * within[0], 0.0) + rounding + all.value + S - wanted
        length, square = hull_length(sums.linear, p), hull_top_closely(sums.square, p)
        found += _most_within(radii, length, square, (S + all.bent) * (1 - error))
        return found + 16 * ROUND * fabs(found)


cdef real _most_within(const hull_radii *radii, real length, real square, real bent) noexcept nogil:
    """At least length t + square t^2 - bent (|m|^2 - r^2) / 2 for |m| = t R, r the least."""
    cdef real r = radii.least, R = radii.most, first = r / R, curve = square - 0.5 * bent * R * R, best
    best = max(length + square - bent * radii.further * (1 - 32 * ROUND), (length + square * first) * first)
    if curve < 0 and -2 * curve * first < length < -2 * curve:
        best = max(best, 0.5 * bent * r * r - 0.25 * length * length / curve)
    return best + 64 * ROUND * (length + square + bent * R * R)
