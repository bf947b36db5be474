"""The best mixing distribution of the mean on a part of the line, and where it proves that means must lie.

Components have unit variance and no prior. For the density p of any mixing distribution let F = - sum_i w_i log p_i and
D(nu) = sum_i w_i exp(-(x_i - nu)^2 / 2) / p_i, its gradient function. By Jensen's inequality a mixture of means nu_k
and weights pi_k has a value of at least

    F - W log( sum_k pi_k D(nu_k) / W ),

so that one below `limit` has a mean where D > W exp((F - limit) / W) (Lindsay 1983, for the bound). For the best mixing
distribution on U, D <= W on U: if its F is above the limit, every such mixture has a mean outside U, and that set says
where. Weights on a grid of U are found by an interior-point method; points of U where D is too large join them.

D is bounded between points: log D(nu) + nu^2 / 2 = log sum_i a_i exp(x_i nu) is convex, so on [a, b] log D is at most
its chord plus (nu - a)(b - nu) / 2.

Theory: (H1), (H2), (H3) and (H4) of docs/theory/hitting.md.
"""

import numpy as np

from libc.math cimport INFINITY, ceil, fabs, isfinite, log, sqrt
from libc.string cimport memcpy

from gopfast.mixtures.mixing.tuning import BIN, LEAST_VARIANCE, LIGHTEST, MANY, MOST_ATOMS, MOST_POINTS

from gopfast.mixtures.data.passes cimport PASS_VALUE, PASS_WEIGHTS, pass_scratch_size, run_pass
from gopfast.mixtures.data.samples cimport SampleSet, Samples, summary_shift, take_costs, take_sums
from gopfast.mixtures.mixing.tuning cimport (
    ALGEBRA, BESIDE, COMPRESSION, EXCESS, FRESH, GRID, GRID_ATOMS, LOOSER, MIXING_CLOSE as CLOSE,
    MIXING_MOST_STEPS as MOST_STEPS, MIXING_NEAR as NEAR, MOST_ASKED, MOST_DIVISIONS, MOST_GAPS, MOST_ROUNDS,
    MOST_ROUNDS_WHOLE, MOST_TURNS, NEAREST, N_BESIDE, POINT, SMALL, SMALLEST, SPARED_CELL, UNUSED, WIDEST_CELL, WORTHY
)
from gopfast.search.arena cimport Arena
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport clip, index, real
from gopfast.mixtures.mixing.weights cimport take_weights, weights_newton, weights_start


def compressed(samples):
    """Few points with nearly the samples' integrals: in bins of width BIN two that have the same first moments."""
    columns, weights = samples.arrays()
    x = columns[0]
    edges = np.arange(x.min(), x.max() + BIN, BIN)
    if x.size < MANY * edges.size:
        return samples
    cell = np.searchsorted(edges, x, side="right")
    mass = np.bincount(cell, weights)
    used = mass > 0
    mass = mass[used]
    cell = (np.cumsum(used) - 1)[cell]
    mean = np.bincount(cell, weights * x) / mass
    z = x - mean[cell]
    second, third = np.bincount(cell, weights * z**2) / mass, np.bincount(cell, weights * z**3) / mass
    second = np.maximum(second, LEAST_VARIANCE)
    root = np.sqrt((third / second) ** 2 + 4 * second)
    low, high = 0.5 * (third / second - root), 0.5 * (third / second + root)
    cdef Samples few = Samples.__new__(Samples)
    few.fill(np.concatenate([mean + low, mean + high])[np.newaxis],
             np.concatenate([mass * high / root, mass * -low / root]), False, np.zeros(1), 0.0)
    return few


cdef bint inside(real x, const Interval *parts, int n) noexcept nogil:
    """Whether x lies in one of the n intervals."""
    cdef int i
    for i in range(n):
        if parts[i].low <= x <= parts[i].high:
            return True
    return False


cdef class MixingDistribution:
    """Best mixing distribution of one-dimensional data in units of the components' standard deviation.

    Parameters
    ----------
    samples : Samples
        Or a summary of them.
    constant : float
        Of the objective.
    most_atoms, most_points : int
        For which there is room: atoms of a distribution, and points at which D is known in a certificate.
    """

    def __cinit__(self, Samples samples, real constant=0.0, int most_atoms=MOST_ATOMS, int most_points=MOST_POINTS):
        cdef int i
        self.most_atoms, self.most_points = most_atoms, most_points
        self.samples, self.few = samples, compressed(samples)
        self.constant = constant
        columns = samples.arrays()[0]
        if columns.shape[0] != 1 or samples.core.samples.squares:
            raise ValueError("a mixing distribution is of one-dimensional data of known variance")
        self.largest = np.abs(columns).max()
        self.lay_out()
        for i in range(most_atoms + MOST_ASKED):
            self.costs.quadratic[i] = 0.5
        self.shift = summary_shift(&samples.core, 1, &self.costs)
        self.part = self.few.core.n_samples / <real> samples.core.n_samples

    cdef int lay_out(self) except -1:
        cdef size_t most = self.most_atoms + MOST_ASKED, points = self.most_points
        cdef Arena arena = Arena()
        self.arena = arena
        while arena.again():
            # Newton steps are of the atoms, passes for D of the atoms and the points asked
            take_weights(arena, &self.iterate, most)
            take_costs(arena, &self.costs, most, 1)
            take_sums(arena, &self.sums, most, 1, PASS_VALUE)
            self.sums.gram = arena.take(<size_t> self.most_atoms * self.most_atoms)
            self.scratch = arena.take(pass_scratch_size(<int> most, 1))
            self.points, self.logs = arena.take(points), arena.take(points)
            self.kept = arena.take(2 * self.most_atoms)
            self.out = <Interval *> arena.take_bytes(points * sizeof(Interval))
            self.cells = <Cell *> arena.take_bytes(points * sizeof(Cell))
            self.before = <int *> arena.take_bytes(points * sizeof(int))
            self.after = <int *> arena.take_bytes(points * sizeof(int))
        return 0

    cdef bint prove(self, const Interval *support, int n_support, const Interval *spared, int n_spared,
                    real limit) noexcept nogil:
        """Whether every mixture below `limit` with its means in `support` and `spared` has one in `spared`.

        Disjoint intervals. OUT out: the part of `spared` where it has one. Without `spared` the distribution is
        kept for later attempts to start from, and optimised whatever its value.
        """
        cdef int _attempt, found
        self.thorough = False
        if n_support == 0:
            return False
        if n_spared == 0 or self.n_kept == 0:
            if not self.place_evenly(support, n_support):
                return False
        else:
            self.resume(support, n_support, spared, n_spared)
        for _attempt in range(MOST_ROUNDS if n_spared else MOST_ROUNDS_WHOLE):
            found = self.optimise(limit, n_spared == 0, 0)
            if n_spared == 0:
                self.keep()
            if not found:
                return False
            found = self.certify_all(support, n_support, spared, n_spared, limit)
            if found >= 0:
                return found
        return False

    cdef bint place_evenly(self, const Interval *support, int n_support) noexcept nogil:
        """Atoms to start from, evenly over the support; False: too many."""
        cdef int i, k, n
        cdef real total = 0, spacing, width
        for i in range(n_support):
            total += support[i].high - support[i].low
        spacing = max(GRID, total / GRID_ATOMS)
        self.n_atoms = 0
        for i in range(n_support):
            width = support[i].high - support[i].low
            n = <int> ceil(width / spacing) if width > POINT else 0
            if self.n_atoms + n + 1 > self.most_atoms:
                return False
            for k in range(n + 1):
                self.costs.centers[self.n_atoms] = support[i].low + (width * k / n if n else 0)
                self.n_atoms += 1
        for i in range(self.n_atoms):
            self.iterate.weights[i] = 1.0 / self.n_atoms
        return self.n_atoms > 0

    cdef bint spread_atoms(self, const real[::1] ascending) noexcept nogil:
        """Atoms to start from, on samples, so that every sample is near one; False: too many."""
        cdef int k
        cdef index i
        self.n_atoms = 0
        for i in range(ascending.shape[0]):
            if self.n_atoms > 0 and ascending[i] <= self.costs.centers[self.n_atoms - 1] + NEAR:
                continue
            if self.n_atoms == self.most_atoms:
                return False
            self.costs.centers[self.n_atoms] = ascending[i]
            self.n_atoms += 1
        for k in range(self.n_atoms):
            self.iterate.weights[k] = 1.0 / self.n_atoms
        return True

    cdef void keep(self) noexcept nogil:
        """OUT kept: the distribution, for `resume`."""
        self.n_kept = self.n_atoms
        memcpy(self.kept, self.costs.centers, self.n_atoms * sizeof(real))
        memcpy(self.kept + self.most_atoms, self.iterate.weights, self.n_atoms * sizeof(real))

    cdef void resume(self, const Interval *support, int n_support, const Interval *spared, int n_spared) noexcept nogil:
        """Atoms to start from: those kept, and some beside what is spared, where weight goes from there."""
        cdef int i, k, side, n
        cdef real at
        self.n_atoms = 0
        for k in range(self.n_kept):
            if inside(self.kept[k], support, n_support):
                self.costs.centers[self.n_atoms] = self.kept[k]
                self.iterate.weights[self.n_atoms] = self.kept[self.most_atoms + k]
                self.n_atoms += 1
        n = self.n_atoms
        for i in range(n_spared):
            for k in range(N_BESIDE):
                for side in range(2):
                    at = spared[i].high + BESIDE * k if side else spared[i].low - BESIDE * k
                    if inside(at, support, n_support) and self.n_atoms < self.most_atoms:
                        self.costs.centers[self.n_atoms] = at
                        self.n_atoms += 1
        if self.n_atoms == 0:
            self.costs.centers[0], self.n_atoms = support[0].low, 1
        self.mix(n)

    cdef void mix(self, int n) noexcept nogil:
        """The first n atoms share most of the weight as before, new ones get the rest."""
        cdef int k
        cdef real total = 0
        for k in range(n):
            total += self.iterate.weights[k]
        for k in range(self.n_atoms):
            self.iterate.weights[k] = (FRESH / self.n_atoms
                                       + ((1 - FRESH) * self.iterate.weights[k] / total if k < n else 0))

    cdef real bound(self, const real[::1] ascending, real gap) noexcept nogil:
        """What no mixture's value is below: that of the best distribution less about `gap` nats, -inf: not found.

        `ascending` (n,): the samples.
        """
        cdef Interval whole = Interval(-self.largest, self.largest)
        cdef real limit
        cdef int _attempt, found
        # means beyond the samples are worse than the nearest sample
        self.thorough = True
        if not self.spread_atoms(ascending):
            return -INFINITY
        for _attempt in range(MOST_ROUNDS_WHOLE):
            if not self.optimise(-INFINITY, True, gap):
                break
            limit = self.estimate - gap
            found = self.certify_all(&whole, 1, NULL, 0, limit)
            if found >= 0:
                return limit if found else -INFINITY
        return -INFINITY

    cdef bint optimise(self, real limit, bint fully, real gap) noexcept nogil:
        """The atoms' best weights, about; False: their value is below the limit, or a stop.

        `gap`: to a part of it, in nats; 0: of what the value is above the limit.
        """
        cdef int P = self.n_atoms, k, step, kept = 0
        cdef real W = self.few.core.total_weight, total, value, worst
        self.iterate.n = P
        for step in range(MOST_STEPS):
            run_pass(&self.few.core.samples, P, &self.costs, self.iterate.weights, PASS_WEIGHTS, self.scratch,
                     &self.sums)
            self.terms += P * self.few.core.n_samples
            self.work += 2 * P * self.part + P * P * P / ALGEBRA / self.samples.core.n_samples
            total, worst = 0, 0
            for k in range(P):
                total += self.iterate.weights[k]
                worst = max(worst, self.sums.density[k] / W)
                self.iterate.residual[k] = W - self.sums.density[k]
            value = self.sums.value + self.shift + self.constant + W * log(total)
            self.estimate = value
            if not (fully or value >= limit) or (self.stop is not None and self.stop.poll(0)):
                return False
            if W * log(worst * total) < CLOSE * (gap if gap > 0 else fabs(value - limit)) + SMALL * (1 + fabs(value)):
                break
            if step == 0:
                weights_start(&self.iterate, W)
            weights_newton(&self.iterate, self.sums.gram)
        for k in range(P):
            if self.iterate.weights[k] > UNUSED * total:
                self.iterate.weights[kept] = self.iterate.weights[k] / total
                self.costs.centers[kept] = self.costs.centers[k]
                kept += 1
        self.n_atoms = kept
        return self.estimate >= limit

    cdef int lay(self, const Interval *parts, int n, bint spared) noexcept nogil:
        """Divides intervals into cells; False: too many."""
        cdef int i, k, m
        cdef real width
        for i in range(n):
            width = parts[i].high - parts[i].low
            m = max(1, <int> min(ceil(width / WIDEST_CELL), <real> self.most_points))
            if self.n_points + m >= self.most_points // 2:
                return False
            for k in range(m):
                self.points[self.n_points + k] = parts[i].low + width * k / m
                self.cells[self.n_cells] = Cell(self.n_points + k, self.n_points + k + 1, spared)
                self.n_cells += 1
            self.points[self.n_points + m] = parts[i].high
            self.n_points += m + 1
        return True

    cdef bint gradient(self, const SampleSet *data, int begin) noexcept nogil:
        """Upper bounds of log(D / W) at the points from `begin` on, and the value's lower bound; False: stopped."""
        cdef int P = self.n_atoms, some, k
        cdef real W = data.total_weight, far = 0, margin, density
        cdef real part = data.n_samples / <real> self.samples.core.n_samples
        cdef real *asked = self.costs.centers + P
        for k in range(P):
            far = max(far, fabs(self.costs.centers[k]))
        while begin < self.n_points:
            some = min(self.n_points - begin, <int> MOST_ASKED)
            for k in range(some):
                asked[k], self.iterate.weights[P + k] = self.points[begin + k], 0
            run_pass(&data.samples, P + some, &self.costs, self.iterate.weights, PASS_VALUE, self.scratch, &self.sums)
            self.terms += (P + some) * data.n_samples
            self.work += (P + some) * part
            margin = W * self.rounding(far) + (64 * ROUND + data.rounding) * (self.sums.magnitude - self.shift)
            margin += 16 * ROUND * W + 64 * ROUND * fabs(self.constant)
            self.value = self.sums.value + self.shift + self.constant - margin
            for k in range(some):
                density = log(max(self.sums.density[P + k], SMALLEST) / W)
                self.logs[begin + k] = (density + self.rounding(fabs(asked[k])) + data.rounding
                                        + 16 * ROUND * (1 + fabs(density)))
            begin += some
            if self.stop is not None and self.stop.poll(0):
                return False
        return isfinite(self.value)

    cdef real rounding(self, real center) noexcept nogil:
        """Of a cost (x - center)^2 / 2 and of the kernel, as in `_refinement`."""
        cdef real size = self.largest + center
        return ROUND * (33 * 0.5 * size * size + 1000)

    cdef real most_in(self, const Cell *cell) noexcept nogil:
        """Upper bound of log(D / W) in a cell."""
        cdef real left = self.logs[cell.left], right = self.logs[cell.right]
        cdef real width = self.points[cell.right] - self.points[cell.left], bend = 0.5 * width * width
        cdef real slope = fabs(right - left), most = max(left, right)
        if slope < bend:  # max over s in [0, 1] of the chord plus bend s (1 - s)
            most = min(left, right) + 0.25 * (bend + slope) * (bend + slope) / bend
        return most + 8 * ROUND * (fabs(left) + fabs(right) + bend)

    cdef int certify_all(self, const Interval *support, int n_support, const Interval *spared, int n_spared,
                         real limit) noexcept nogil:
        """1: proved; 0: not to be proved with these atoms; -1: atoms were added.

        First for the compressed data, whose cells the samples begin with: mostly they need no others.
        """
        cdef int found
        self.n_cells = self.n_points = 0
        if not (self.lay(support, n_support, False) and self.lay(spared, n_spared, True)):
            return 0
        found = self.certify(&self.few.core, limit)
        return self.certify(&self.samples.core, limit) if found == 1 and self.few is not self.samples else found

    cdef int certify(self, const SampleSet *data, real limit) noexcept nogil:
        """What `certify_all` returns, for these data, with the cells that there are."""
        cdef int _turn, begin = 0
        cdef real most
        for _turn in range(MOST_TURNS):
            if not self.gradient(data, begin):
                return 0
            most = min((self.value - limit) / data.total_weight, EXCESS)
            most -= 8 * ROUND * (1 + fabs(most))
            if data == &self.few.core and data != &self.samples.core:
                most -= COMPRESSION
            if not most >= 0:
                return 0
            if self.exceeded(most):
                return -1 if self.extend(most) else 0
            begin = self.n_points
            if not self.divide(most):
                return 0
            if self.n_points == begin:
                self.gather(most)
                return 1
        return 0

    cdef bint exceeded(self, real most) noexcept nogil:
        """Whether D is too large at a point of the support."""
        cdef int i
        for i in range(self.n_cells):
            if not self.cells[i].spared and max(self.logs[self.cells[i].left], self.logs[self.cells[i].right]) > most:
                return True
        return False

    cdef bint extend(self, real most) noexcept nogil:
        """Adds the maxima of D on the support to the atoms; False: no room, or none that is new."""
        cdef int i, at, begin = self.n_atoms
        cdef real place, left, right, up, down
        for i in range(self.n_points):
            self.before[i] = self.after[i] = -1
        for i in range(self.n_cells):
            if not self.cells[i].spared:
                self.before[self.cells[i].right] = self.cells[i].left
                self.after[self.cells[i].left] = self.cells[i].right
        for at in range(self.n_points):
            if self.before[at] < 0 and self.after[at] < 0 or self.logs[at] < WORTHY * most:
                continue
            # the parabola through a maximum and its neighbours
            left = right = up = down = 0
            if self.before[at] >= 0:
                left = self.points[at] - self.points[self.before[at]]
                up = (self.logs[at] - self.logs[self.before[at]]) / left if left > 0 else 0
            if self.after[at] >= 0:
                right = self.points[self.after[at]] - self.points[at]
                down = (self.logs[at] - self.logs[self.after[at]]) / right if right > 0 else 0
            if up < 0 or down < 0:
                continue
            place = self.points[at]
            if left > 0 and right > 0 and up + down > 0:
                place += clip(0.5 * (right * up - left * down) / (up + down), -0.5 * left, 0.5 * right)
            self.add(place)
            # where D bends too much for a parabola, its vertex may be an atom already
            if self.thorough and self.logs[at] > most:
                self.add(self.points[at])
        self.mix(begin)
        return self.n_atoms > begin

    cdef void add(self, real place) noexcept nogil:
        """An atom there, unless there is one or no room."""
        cdef int k
        for k in range(self.n_atoms):
            if fabs(self.costs.centers[k] - place) <= NEAREST:
                return
        if self.n_atoms < self.most_atoms:
            self.costs.centers[self.n_atoms] = place
            self.n_atoms += 1

    cdef bint divide(self, real most) noexcept nogil:
        """Divides the cells that are not certified and may be; False: no room."""
        cdef int i, k, parts, last, right, n = self.n_cells
        cdef Cell *cell
        cdef real low, width, room
        for i in range(n):
            cell = &self.cells[i]
            if self.most_in(cell) <= most:
                continue
            low, width = self.points[cell.left], self.points[cell.right] - self.points[cell.left]
            if cell.spared and (width < SPARED_CELL or min(self.logs[cell.left], self.logs[cell.right]) > most):
                continue
            # a cell so narrow that the bend fits over its higher end is certified
            room = most - max(self.logs[cell.left], self.logs[cell.right])
            parts = MOST_DIVISIONS
            if room > 0 and not cell.spared:
                parts = <int> min(ceil(width / sqrt(8 * room)), <real> MOST_DIVISIONS)
            parts = max(parts, 2)
            if self.n_points + parts > self.most_points or self.n_cells + parts > self.most_points:
                return False
            last = cell.right
            cell.right = self.n_points
            for k in range(1, parts):
                self.points[self.n_points] = low + width * k / parts
                right = self.n_points + 1 if k + 1 < parts else last
                self.cells[self.n_cells] = Cell(self.n_points, right, cell.spared)
                self.n_points += 1
                self.n_cells += 1
        return True

    cdef void gather(self, real most) noexcept nogil:
        """OUT out: the cells that are not certified, in order, neighbours merged."""
        cdef int i, k
        cdef Interval part
        self.n_set = 0
        for i in range(self.n_cells):
            if self.most_in(&self.cells[i]) <= most:
                continue
            part = Interval(self.points[self.cells[i].left], self.points[self.cells[i].right])
            k = self.n_set
            while k > 0 and self.out[k - 1].low > part.low:
                self.out[k] = self.out[k - 1]
                k -= 1
            self.out[k] = part
            self.n_set += 1
        k = 0
        for i in range(1, self.n_set):
            if self.out[i].low <= self.out[k].high:
                self.out[k].high = max(self.out[k].high, self.out[i].high)
            else:
                k += 1
                self.out[k] = self.out[i]
        self.n_set = min(self.n_set, k + 1)

    def find(self, support, spared, real limit):
        """For tests: the set as an array (n, 2), or None. `support`, `spared`: arrays of intervals (n, 2)."""
        cdef real[:, ::1] held = np.ascontiguousarray(support, dtype=np.float64).reshape(-1, 2)
        cdef real[:, ::1] free_ = np.ascontiguousarray(spared, dtype=np.float64).reshape(-1, 2)
        cdef Interval dummy
        if not self.prove(<const Interval *> &held[0, 0] if held.shape[0] else &dummy, <int> held.shape[0],
                          <const Interval *> &free_[0, 0] if free_.shape[0] else &dummy, <int> free_.shape[0], limit):
            return None
        return np.array([(self.out[i].low, self.out[i].high) for i in range(self.n_set)]).reshape(-1, 2)

    def lower_bound(self, real gap):
        """What no mixture of any number of components is below; -inf where it is not found.

        Parameters
        ----------
        gap : float
            How far below the best mixing distribution's value it may be, in nats; positive. Where that is not
            reached, a bound that is looser by orders of magnitude is tried.
        """
        cdef real found = -INFINITY
        cdef int _attempt
        cdef real[::1] ascending = np.sort(self.samples.arrays()[0][0])
        if not self.samples.arrays()[1].min() > LIGHTEST * self.samples.core.total_weight:
            return found
        with nogil:
            for _attempt in range(MOST_GAPS):
                found = self.bound(ascending, gap)
                if found > -INFINITY:
                    break
                gap *= LOOSER
        return found

    def distribution(self):
        """For tests: atoms and weights of the last attempt."""
        return (np.array(<real[:self.n_atoms]> self.costs.centers),
                np.array(<real[:self.n_atoms]> self.iterate.weights))
