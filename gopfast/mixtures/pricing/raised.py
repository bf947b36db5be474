"""
The pricing bound where clusters are apart: prices as high as merging two components allows.

The master problem's prices lie anywhere in a wide range that all prove the same. What a component of the solution saves
at them, v, is what all cells are compared with: the more it is, the coarser they may be, up to where a component on two
clusters saves as much, 2 v less what merging costs.

Theory: (U6) of docs/theory/groups.md; (I7) of docs/theory/many.md.
"""

import itertools
import math
import time

import numpy as np

from gopfast.mixtures.families.full import FullFamily
from gopfast.mixtures.families.gaussian import GaussianFamily
from gopfast.mixtures.families.normal import NormalFamily
from gopfast.mixtures.learning.learner import end_of_step
from gopfast.mixtures.pricing.group_pricing import GroupedPricing
from gopfast.mixtures.pricing.margins import CONFINEMENT_SUMMING as CONFINED
from gopfast.mixtures.pricing.pricing import ComponentPricing
from gopfast.mixtures.pricing.pricing_root import total_of
from gopfast.mixtures.pricing.raised_prices import RaisedPrices
from gopfast.mixtures.pricing.recorded_cells import CellLearner
from gopfast.mixtures.pricing.sample_groups import SampleGroups
from gopfast.mixtures.pricing.tuning import (
    RAISED_AMBIGUOUS as AMBIGUOUS,
    RAISED_AMBIGUOUS_FULL as AMBIGUOUS_FULL,
    RAISED_ASCEND_EVERY as ASCEND_EVERY,
    RAISED_AT_ONCE as AT_ONCE,
    RAISED_BETTER as BETTER,
    RAISED_CELLS as CELLS,
    RAISED_CONFINED_CELLS as CONFINED_CELLS,
    RAISED_CONFINED_LOSS as CONFINED_LOSS,
    RAISED_CONFINED_WIDTH as CONFINED_WIDTH,
    RAISED_DRAWN as DRAWN,
    RAISED_EXACT_BELOW as EXACT_BELOW,
    RAISED_FEWEST as FEWEST,
    RAISED_FEWEST_KNOWN as FEWEST_KNOWN,
    RAISED_GROUPED as GROUPED,
    RAISED_GROUPED_DIAGONAL as GROUPED_DIAGONAL,
    RAISED_GROUPED_FULL as GROUPED_FULL,
    RAISED_GROUPED_SMALL as GROUPED_SMALL,
    RAISED_GROUPS as GROUPS,
    RAISED_HEIGHTS,
    RAISED_HIGHEST,
    RAISED_LOSS as LOSS,
    RAISED_LOWER as LOWER,
    RAISED_MANY_DIAGONAL as MANY_DIAGONAL,
    RAISED_MANY_PARAMETERS as MANY_PARAMETERS,
    RAISED_MERGED as MERGED,
    RAISED_MERGED_KNOWN as MERGED_KNOWN,
    RAISED_MOST_CELLS as MOST_CELLS,
    RAISED_MOST_DIAGONAL as MOST_DIAGONAL,
    RAISED_MOST_KNOWN as MOST_KNOWN,
    RAISED_MOST_SPHERICAL as MOST_SPHERICAL,
    RAISED_N_CLIMBS as N_CLIMBS,
    RAISED_N_EXACT as N_EXACT,
    RAISED_N_STARTS as N_STARTS,
    RAISED_PATIENCE as PATIENCE,
    RAISED_PATIENCE_KNOWN as PATIENCE_KNOWN,
    RAISED_SLACK as SLACK,
    RAISED_SLOW as SLOW,
    RAISED_SMALL as SMALL,
    RAISED_TOLD as TOLD,
    RAISED_TOLERANCES as TOLERANCES,
)

HEIGHTS = (*RAISED_HIGHEST, *RAISED_HEIGHTS)


class RaisedBound(CellLearner):
    """
    Prices in closed form, as high as is of use, and suprema of one component over its cells.

    Parameters
    ----------
    family : Family
        Of K components with a covariance matrix each.
    problem : MixtureProblem
        What it was made from.
    solution : ndarray
        An incumbent, as the primal keeps it: weights (K,), parameters, prior weight.
    limit : float
        Solutions below it are sought.
    threads : int
    record : gopfast.mixtures.block_record.BlockRecord, optional
        For a proof: what cells are told to, and keeps those that prove the most.
    keeps : bool
        Whether all cells at the first prices are kept, which say where components of solutions above the limit lie.
    boxes : tuple of ndarray, optional
        Cells (m, n), (m, n) that hold all components of any solution below the limit, and None; all by default.

    Attributes
    ----------
    lower : float
        Proved, in nats.
    at_work : float
        The same by the prices at hand alone.
    """

    at_work = -math.inf

    def __init__(self, family, problem, solution, limit, threads=1, record=None, keeps=False, boxes=None):
        self.family, self.problem, self.solution = family, problem, np.array(solution)
        self.limit, self.threads, self.lower = limit, threads, -math.inf
        self.n_components, self.record = family.n_components, record
        if record is not None:
            record.bound = self
        self.one = family.one_component(problem)
        self.columns, self.weights = family.data.arrays()
        self.total_weight = math.fsum(self.weights)
        self.rng = np.random.default_rng(0)
        self.terms, self.phase, self.level, self.stage = 0, "begin", 0, 0
        self.heights, self.height = list(HEIGHTS), math.inf  # to be tried, and the one at hand
        self.ambiguous = AMBIGUOUS_FULL if isinstance(family, FullFamily) else AMBIGUOUS
        self.lost = math.inf  # by the prices at hand, foreseen
        self.boxes = boxes  # that hold all components of any solution below the limit, once cells have told
        self.keeps, self.first = keeps, None  # all cells at the first prices, these, and what was proved by them
        self.pricing, self.work = None, self._begin()

    @property
    def n_terms(self):
        """Groups and samples that were evaluated so far, each in one component."""
        return self.terms + (0 if self.pricing is None else self.pricing.n_terms)

    @property
    def n_passes(self):
        """Passes over all samples and components that would have cost as much."""
        return self.n_terms // (len(self.weights) * self.n_components)

    @property
    def tolerance(self):
        """Nats that suprema may lose in all, at this level."""
        return TOLERANCES[self.level] * self.total_weight

    def step(self, deadline):
        """Next thing to learn; whether there is more."""
        if self.lower >= self.limit:
            return False
        return getattr(self, f"_step_{self.phase}")(end_of_step(deadline))

    def _is_done(self, deadline):
        """Go on with the work at hand until the deadline; whether it came to its end."""
        return all(time.monotonic() <= deadline for _ in self.work)

    def _step_begin(self, deadline):
        """Get ready for prices, until the deadline."""
        if self._is_done(deadline):
            self.phase, self.work = "prices", None
        return True

    def _begin(self):
        """Find what prices are made of, clusters and components on two of them, and yield after every part of it."""
        K, n = self.n_components, len(self.weights)
        self.by_groups = n >= (GROUPED_FULL if isinstance(self.family, FullFamily) else min(GROUPED, GROUPED_DIAGONAL))
        is_large = self.one.n_connected >= MANY_PARAMETERS
        is_known = isinstance(self.family, GaussianFamily)
        patience = PATIENCE_KNOWN if is_known else PATIENCE[is_large]
        self.pricing = (GroupedPricing if self.by_groups else ComponentPricing)(
            self.one, patience=patience, n_threads=self.threads, record=self.record)  # fmt: skip
        self.pricing.ascend_every = ASCEND_EVERY
        if self.by_groups:
            if n < EXACT_BELOW[is_large]:
                self.pricing.group_cost = n  # passes are over the first groups and then all samples
            product = isinstance(self.family, FullFamily)
            scale = self.columns.std(axis=1) + 1e-12 * (1.0 + np.abs(self.columns).max(axis=1))
            if product:
                scale[2] = math.inf  # groups are cut by the coordinates, not by their product
            groups = SampleGroups(self.columns, self.weights, scale, product=product, at_once=False)
            while groups.grow():
                self.terms += n
                yield
            self.pricing.take_groups(groups)
        used = self.solution[:K] > 0.0
        self.atoms = np.asarray(self.solution[K:-1]).reshape(K, -1)[used]
        costs = []
        for point in self.atoms:
            costs.append(self.pricing.costs_at(point)[0])
            self.terms += n
            yield
        self.raised = RaisedPrices(np.array(costs), np.log(self.solution[:K][used]), self.weights)
        yield
        places = np.arange(n)
        if n > DRAWN:
            order = self.pricing.groups.ordered() if self.by_groups else places
            places = order[np.arange(DRAWN) * n // DRAWN]
        self.some = self.raised.drawn(places) if n > DRAWN else self.raised
        self.merged, costs = self._merged(used), []
        for point in self.merged:
            costs.append(self.pricing.costs_at(point, None if n <= DRAWN else places)[0])
            self.terms += len(places)
            yield
        self.merged_costs = np.array(costs)  # (m, samples of `some`)

    def _merged(self, used):
        """Return parameters of a component for every two of the solution's, and of one for all."""
        found = self.family.parameters(self.solution)
        means, covariances = found["means"][used], found.get("covariances")
        covariances = None if covariances is None else covariances[used]
        every = [*itertools.combinations(range(len(means)), 2), tuple(range(len(means)))]
        points = []
        for chosen in map(list, every):
            share = self.raised.masses[chosen] / self.raised.masses[chosen].sum()
            mean = share @ means[chosen]
            if covariances is None:
                points.append(self.one.pack(mean[None]))
                continue
            off = means[chosen] - mean
            between = off[:, :, None] * off[:, None, :] if covariances.ndim == 3 else np.square(off)
            between = between.mean(axis=1) if covariances.ndim == 1 else between
            both = np.tensordot(share, covariances[chosen] + between, 1)
            points.append(self.one.pack(mean[None], both[None]))
        return np.array(points)

    def _step_prices(self, deadline):
        """Try prices of the next height, until the deadline; whether there are any that may be of use."""
        if self.work is None:
            if not self.heights:
                return False
            self.height = self.heights.pop(0)
            self.work = self._try(self.height, self.ambiguous[self.stage])
        if self._is_done(deadline):
            self.work = None
        return True

    def _try(self, height, ambiguous):
        """Make prices of this height, begin the search if they are of use, and yield after every part of the work."""
        most = min(LOSS * self.total_weight, BETTER * self.lost)
        found = yield from self._equal(self.some, self.some.first(height), ambiguous)
        _, prices, values = found
        if not self.some.lost(prices, values) < most or not values.max() > 0.0:
            return
        self.terms += self.merged_costs.size
        is_known = isinstance(self.family, GaussianFamily)
        merged = self.some.values(prices, self.merged_costs).max() / values.max()
        if merged > (MERGED_KNOWN if is_known else MERGED):
            if not is_known:  # these are better off with lower heights
                self._insert(height * (2.0 - merged) / (2.0 - MERGED))
            return
        if self.raised is not self.some:
            found = yield from self._equal(self.raised, found[0], ambiguous, few=True)
        _, prices, values = found
        value = values.max()
        self.total = total_of(self.weights, prices, self.family.constant) - self.family.constant_error
        lost = self.limit - (self.total - self.n_components * value)
        if not lost < most:
            return
        self.prices = prices
        self.change_prices(prices, self.total)
        yield from self._set_prices(prices)
        near = TOLERANCES[-1] * self.total_weight / self.n_components
        self.attained = (yield from self._climb(self.atoms, N_CLIMBS, near)).max()
        starts = np.concatenate([self.merged, self.pricing.seeded(self.rng, N_STARTS)])
        above = self.attained + SLACK * value
        values = yield from self._climb(starts, N_CLIMBS, SLACK * value, above)
        if values.max() > above:
            return
        self.lost = lost
        yield from self._begin_search()

    def _insert(self, height):
        """Try next what merging allows, as a component on two clusters saves 2 v less about what that costs."""
        height *= LOWER
        if 0.0 < height < self.height * LOWER and (not self.heights or height * LOWER > self.heights[0]):
            self.heights.insert(0, height)

    def _equal(self, raised, each, ambiguous, few=False):
        """Return `each`, prices and values of the last turn of making these equal, and yield after each."""
        last = None
        for found in raised.equal(each, ambiguous, few):
            last = found
            self.terms += raised.size
            yield
        return last

    def _set_prices(self, prices):
        """Take prices (n,), and yield after the groups of each level have theirs."""
        if not self.by_groups:
            self.pricing.set_prices(prices)
            return
        self.pricing.set_prices(prices, at_once=False)
        yield
        while self.pricing.groups.price():
            self.terms += len(prices)
            yield

    def _climb(self, points, n_steps, near, least=-math.inf):
        """Return what is attained from each of some points, by groups and the best of them exactly, and yield.

        Values are as near to those at maxima, and ascents that would not come to the least are given up.
        """
        if self.by_groups and len(points) > N_EXACT:
            points, values = yield from self._climb_all(points, n_steps, False, near, -math.inf)
            points = points[np.argsort(-values)[:N_EXACT]]
        _, values = yield from self._climb_all(points, n_steps, True, near, least)
        return values

    def _climb_all(self, points, n_steps, exactly, near, least):
        """Return where ascents end, and what is attained there, and yield after as many as there are threads."""
        values, points = [], np.array(points)
        for first in range(0, len(points), self.threads):
            some = slice(first, first + self.threads)
            found, points[some] = self.pricing.climb(points[some], n_steps, math.inf, exactly, near, least)
            values.append(found)
            yield
        return points, np.concatenate(values)

    def _begin_search(self):
        """Begin with the boxes that hold all components, and yield after some of them."""
        yield from self._open()
        self.n_before, self.phase = self.pricing.n_cells, "search"
        self.mark = self.n_before + MOST_CELLS[0], math.inf
        while self.level + 1 < len(TOLERANCES) and self.tolerance > self.limit - self.lower:
            self.level += 1

    def _open(self):
        """Take these boxes as cells, or all components, and yield after some of them."""
        low, high, warm = (*(side[None] for side in self.pricing.root()), None) if self.boxes is None else self.boxes
        for first in range(0, len(low), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            is_last, handed_on = first + AT_ONCE >= len(low), None if warm is None else warm[some]
            self.pricing.open_boxes(low[some], high[some], is_last, handed_on)
            yield

    def _step_search(self, deadline):
        """Divide the cells of the largest bounds."""
        K, pricing = self.n_components, self.pricing
        above = self.attained * (1.0 + SLACK) + self.tolerance / K  # a value that these prices were not to allow
        least = math.inf if self.keeps and self.stage == 0 else self.limit  # then no cell is dropped
        reason = pricing.search(self.total, least, K, self.tolerance / K, above, CELLS, deadline, GROUPS)
        self.at_work = self.proved(self.total)
        self.lower = max(self.lower, self.at_work)
        if reason == "attained":
            return self._other_prices()
        is_last = self.stage + 1 == len(self.ambiguous)
        if not is_last and reason != "proved" and K * (pricing.supremum - self.attained) <= TOLD * self.lost:
            return self._next_stage()
        if reason == "tight":
            self.level += 1
            return self.level < len(TOLERANCES)
        if reason in ("proved", "stuck") or pricing.n_cells - self.n_before > MOST_CELLS[1]:
            return False
        if pricing.n_cells > self.mark[0]:
            missing = pricing.supremum - pricing.attained
            if missing > SLOW * self.mark[1]:
                return False
            self.mark = 2 * pricing.n_cells - self.n_before, missing
        return True

    def tells(self, limit):
        """Return whether cells may tell where components of solutions below a limit lie: prices lose little there."""
        self._keep_first()
        return self.first is not None and self._floor(limit) > (1.0 - CONFINED_LOSS) * self.first[-1]

    def _floor(self, limit):
        """Return what all components of any solution below a limit save at the least, at the first prices."""
        *_, total, supremum = self.first
        size = abs(total) + abs(limit) + self.n_components * abs(supremum)
        return total - limit - (self.n_components - 1) * supremum - CONFINED * size

    def confine(self, limit):
        """
        Find cells (m, n), (m, n) that hold all components of any solution below a limit, and yield after every part.

        It may be above that of the search, which is over.
        """
        low, high, upper, self.prices, self.total, _ = self.first
        floor = self._floor(limit)
        held = upper >= floor
        low, high = low[held], high[held]
        yield from self._set_prices(self.prices)
        found, n_left = [(low[:0], high[:0])], CONFINED_CELLS
        none = np.zeros((AT_ONCE, self.pricing.n_warm), dtype=np.float32)  # those of a parent lead astray too often
        while len(low):
            parts = []
            for first in range(0, len(low), AT_ONCE):
                some = slice(first, first + AT_ONCE)
                m = len(low[some])
                below = np.full(m, floor)
                parts.append(self.pricing.bounds_of(self.prices, low[some], high[some], below, none[:m])[:-1])
                yield
            low, high, upper, branch, point = (np.concatenate(side) for side in zip(*parts, strict=True))
            held = upper >= floor
            n_left -= len(low)
            divided = held & (branch >= 0) & (self._widest(low, high) > CONFINED_WIDTH) & (n_left > 0)
            found.append((low[held & ~divided], high[held & ~divided]))
            low, high = halves(low[divided], high[divided], branch[divided], point[divided])
        self.confined = tuple(np.concatenate(sides) for sides in zip(*found, strict=True))

    def _widest(self, low, high):
        """Return half of the widest side (m,) of cells, in standard deviations of the component next to them."""
        d = self.one.n_columns
        n_each = d // max(1, low.shape[1] - d)  # columns that share a variance
        variances = np.repeat(self.atoms[:, d:], n_each, axis=1)
        middle = 0.5 * (low[:, :d] + high[:, :d])
        away = (np.square(middle[:, None] - self.atoms[:, :d]) / variances).sum(axis=2)
        sides = 0.5 * (high[:, :d] - low[:, :d]) / np.sqrt(variances[away.argmin(axis=1)])
        ratios = np.log(np.maximum(high[:, d:], 1.0) / np.maximum(low[:, d:], 1.0)) / math.sqrt(8.0)
        return np.maximum(sides.max(axis=1), ratios.max(axis=1))

    def _keep_first(self):
        """Keep all cells at the first prices, if all are at hand."""
        if self.keeps and self.first is None and self.stage == 0 and self.phase == "search":
            low, high, upper, _ = self.pricing.cells()
            self.first = low, high, upper, self.prices, self.total, self.pricing.supremum

    def _keep_boxes(self):
        """Keep the cells that a component of a solution below the limit may lie in; a proof has them at one price."""
        self._keep_first()
        if self.record is None:
            low, high, upper, _ = self.pricing.cells()
            may = upper >= self.pricing.floor(self.total, self.limit, self.n_components)
            self.boxes = low[may], high[may], self.pricing.handed_on()[may]

    def _next_stage(self):
        """Have prices next that lose less of samples of several components, no higher than those at hand."""
        self._keep_boxes()
        self.stage += 1
        self.heights.insert(0, self.height)
        return self._other_prices()

    def _other_prices(self):
        """Have other prices next."""
        self.phase, self.at_work = "prices", -math.inf
        return True


def halves(low, high, branch, point):
    """Return the halves of cells (m, n), (m, n), divided at a point in one side, branch (m,)."""
    rows = np.arange(len(low))
    middle, below, above = point[rows, branch], high.copy(), low.copy()
    below[rows, branch] = above[rows, branch] = middle
    return np.concatenate([low, above]), np.concatenate([below, high])


def has_raised_prices(family, n_columns=None, most=MOST_DIAGONAL):
    """
    Return whether the bound is for a family: parameters few enough for cells, and enough samples.

    Parameters
    ----------
    family : Family
    n_columns : int, optional
        Of a block of the family's columns, in place of all.
    most : int
        Columns of diagonal components.
    """
    d = family.n_columns if n_columns is None else n_columns
    if family.data.is_summary or family.has_prior or family.n_components < 2:
        return False
    n = family.data.n_samples
    if isinstance(family, FullFamily):
        return n >= FEWEST
    is_diagonal = isinstance(family, NormalFamily) and family.per_column
    many = is_diagonal and d >= MANY_DIAGONAL[n_columns is None]
    small = isinstance(family, NormalFamily) and n_columns is None and d <= SMALL
    if n < min(GROUPED, GROUPED_DIAGONAL if many else GROUPED_SMALL if small else GROUPED):
        return False
    if isinstance(family, GaussianFamily):  # where the hull of the means has more dimensions
        return FEWEST_KNOWN <= d <= min(MOST_KNOWN, family.n_components - 2)
    if not isinstance(family, NormalFamily) or family.n_shared:
        return False
    most = MOST_SPHERICAL if family.n_cell == family.n_columns + 1 else most
    return 1 < d <= most
