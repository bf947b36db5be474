"""
The pricing bound of covariance matrices where clusters are apart: prices as high as merging two components allows.

The master problem's prices lie anywhere in a wide range that all prove the same. What a component of the solution saves
at them, v, is what all cells are compared with: the more it is, the coarser they may be, up to where a component on two
clusters saves as much, 2 v less what merging costs.

Theory: (U6) of docs/theory/groups.md.
"""

import itertools
import math
import time

import numpy as np

from gopfast.mixtures.families.full import FullFamily
from gopfast.mixtures.learning.learner import Learner, end_of_step
from gopfast.mixtures.pricing.group_pricing import GroupedPricing
from gopfast.mixtures.pricing.grouped import scale_of
from gopfast.mixtures.pricing.pricing import ComponentPricing
from gopfast.mixtures.pricing.pricing_root import less, total_of
from gopfast.mixtures.pricing.sample_groups import SampleGroups
from gopfast.mixtures.pricing.tuning import (
    RAISED_AMBIGUOUS as AMBIGUOUS,
    RAISED_CELLS as CELLS,
    RAISED_FEWEST as FEWEST,
    RAISED_GROUPED as GROUPED,
    RAISED_GROUPS as GROUPS,
    RAISED_HEIGHTS as HEIGHTS,
    RAISED_LOSS as LOSS,
    RAISED_MERGED as MERGED,
    RAISED_MOST_CELLS as MOST_CELLS,
    RAISED_N_CLIMBS as N_CLIMBS,
    RAISED_N_EQUAL as N_EQUAL,
    RAISED_N_STARTS as N_STARTS,
    RAISED_PATIENCE as PATIENCE,
    RAISED_SLACK as SLACK,
    RAISED_SLOW as SLOW,
    RAISED_TOLERANCES as TOLERANCES,
)


class RaisedBound(Learner):
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

    Attributes
    ----------
    lower : float
        Proved, in nats.
    """

    def __init__(self, family, problem, solution, limit, threads=1):
        self.family, self.problem, self.solution = family, problem, np.array(solution)
        self.limit, self.threads, self.lower = limit, threads, -math.inf
        self.one = family.one_component(problem)
        self.weights = family.data.arrays()[1]
        self.total_weight = math.fsum(self.weights)
        self.rng = np.random.default_rng(0)
        self.terms, self.phase, self.height, self.level = 0, "begin", 0, 0
        self.pricing, self.work = None, self._begin()

    @property
    def n_terms(self):
        """Groups and samples that were evaluated so far, each in one component."""
        return self.terms + (0 if self.pricing is None else self.pricing.n_terms)

    @property
    def n_passes(self):
        """Passes over all samples and components that would have cost as much."""
        return self.n_terms // (len(self.weights) * self.family.n_components)

    @property
    def tolerance(self):
        """Nats that suprema may lose in all, at this stage."""
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
        K = self.family.n_components
        many = len(self.weights) >= GROUPED
        self.pricing = (GroupedPricing if many else ComponentPricing)(
            self.one, patience=PATIENCE, n_threads=self.threads)  # fmt: skip
        if many:
            columns = self.family.data.arrays()[0]
            scale = columns.std(axis=1) + 1e-12 * (1.0 + np.abs(columns).max(axis=1))
            scale[2] = math.inf  # groups are cut by the coordinates, not by their product
            self.pricing.take_groups(SampleGroups(columns, self.weights, scale, product=True))
            yield
        used = self.solution[:K] > 0.0
        self.atoms = np.asarray(self.solution[K:-1]).reshape(K, -1)[used]
        costs = []
        for point in self.atoms:
            costs.append(self.pricing.costs_at(point)[0])
            self.terms += len(self.weights)
            yield
        logs = np.log(self.solution[:K][used])[:, None] - np.array(costs)
        top = logs.max(axis=0)
        shares = np.exp(logs - top)
        total = shares.sum(axis=0)
        yield
        self.own, shares = -(top + np.log(total)), shares / total
        self.labels, rest = shares.argmax(axis=0), 1.0 - shares.max(axis=0)
        self.most = np.sqrt(2.0 * AMBIGUOUS / np.maximum(rest, 1e-300))
        self.masses = shares @ self.weights
        self.merged = self._merged(used)

    def _merged(self, used):
        """Return parameters of a component for every two of the solution's, and of one for all."""
        found = self.family.parameters(self.solution)
        means, covariances = found["means"][used], found["covariances"][used]
        every = [*itertools.combinations(range(len(means)), 2), tuple(range(len(means)))]
        points = []
        for chosen in map(list, every):
            share = self.masses[chosen] / self.masses[chosen].sum()
            mean = share @ means[chosen]
            off = means[chosen] - mean
            both = np.tensordot(share, covariances[chosen] + off[:, :, None] * off[:, None, :], 1)
            points.append(self.one.pack(mean[None], both[None]))
        return np.array(points)

    def _step_prices(self, deadline):
        """Try prices of the next height, until the deadline; whether there are any that may be of use."""
        if self.work is None:
            if self.height == len(HEIGHTS):
                return False
            self.work = self._try(HEIGHTS[self.height])
            self.height += 1
        if self._is_done(deadline):
            self.work = None
        return True

    def _try(self, height):
        """Make prices of this height, begin the search if they are of use, and yield after every part of the work."""
        each = np.full(len(self.masses), height) * self.masses.max() / self.masses
        pricing = self.pricing
        for _turn in range(N_EQUAL):
            values = yield from self._values(self.own + np.minimum(each[self.labels], self.most))
            each = each + (values.max() - values) / self.masses
        prices = self.own + np.minimum(each[self.labels], self.most)
        value = (yield from self._values(prices)).max()
        self.total = total_of(self.weights, prices, self.family.constant) - self.family.constant_error
        lost = self.limit - (self.total - self.family.n_components * value)
        if not lost < LOSS * self.total_weight:
            return
        self.prices = prices
        pricing.set_prices(prices)
        yield
        others = yield from self._climb(self.merged, 0)
        if others.max() > MERGED * value:
            return
        starts = np.concatenate([self.merged, pricing.seeded(self.rng, N_STARTS)])
        values = yield from self._climb(starts, N_CLIMBS)
        self.attained = (yield from self._climb(self.atoms, N_CLIMBS)).max()
        if values.max() > self.attained + SLACK * value:
            return
        self._begin_search()

    def _climb(self, points, n_steps):
        """Return what is attained from each of some points, and yield after as many as there are threads."""
        values = []
        for first in range(0, len(points), self.threads):
            values.append(self.pricing.climb(points[first : first + self.threads], n_steps)[0])
            yield
        return np.concatenate(values)

    def _values(self, prices):
        """Return about what the incumbent's components save, and yield after each."""
        values = []
        for point in self.atoms:
            gains = prices - self.pricing.costs_at(point)[0]
            scale = scale_of(self.weights, gains)
            values.append(self.weights @ np.maximum(0.0, gains + math.log(scale)) if scale > 0.0 else 0.0)
            self.terms += len(gains)
            yield
        return np.array(values)

    def _begin_search(self):
        """Begin with the box of all components."""
        self.pricing.open_boxes(*[side[None] for side in self.pricing.root()])
        self.n_before, self.phase = self.pricing.n_cells, "search"
        self.mark = self.n_before + MOST_CELLS[0], math.inf

    def _step_search(self, deadline):
        """Divide the cells of the largest bounds."""
        K, pricing = self.family.n_components, self.pricing
        above = self.attained * (1.0 + SLACK) + self.tolerance / K  # a value that these prices were not to allow
        reason = pricing.search(self.total, self.limit, K, self.tolerance / K, above, CELLS, deadline, GROUPS)
        saved = K * pricing.supremum
        if math.isfinite(saved):
            self.lower = max(self.lower, min(less(self.total, saved), self.limit))
        elif saved < 0:
            self.lower = self.limit
        if reason == "attained":
            self.phase = "prices"
            return True
        if reason == "tight":
            self.level += 1
            return self.level < len(TOLERANCES)
        if reason == "proved" or pricing.n_cells - self.n_before > MOST_CELLS[1]:
            return False
        if pricing.n_cells > self.mark[0]:
            missing = pricing.supremum - pricing.attained
            if missing > SLOW * self.mark[1]:
                return False
            self.mark = 2 * pricing.n_cells - self.n_before, missing
        return True


def has_raised_prices(family):
    """Whether the bound is for this family: a matrix each, of two columns, and enough samples."""
    if not isinstance(family, FullFamily) or family.data.is_summary or family.has_prior:
        return False
    return family.n_components > 1 and family.data.n_samples >= FEWEST
