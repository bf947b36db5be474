"""
The pricing bound of many samples, by groups of them: any number of samples at the cost of some hundred groups.

Prices are found of a part of the samples, evenly spread over space, and carried over to all of them, where they are
changed so that the incumbent's components all save the same. Suprema are of all samples, over groups (`group_pricing`);
so any prices give a bound, however they were found.

Theory: (U1) and (U4) of docs/theory/groups.md.
"""

import math

import numpy as np

from gopfast.mixtures.data.samples import Samples
from gopfast.mixtures.data.summary import Level
from gopfast.mixtures.learning.learner import end_of_step
from gopfast.mixtures.pricing.group_pricing import GroupedPricing
from gopfast.mixtures.pricing.pricing_root import N_ROUNDS, PricingBound, pick, total_of
from gopfast.mixtures.pricing.recorded_cells import CellLearner
from gopfast.mixtures.pricing.sample_groups import SampleGroups
from gopfast.mixtures.pricing.scales import scale_of
from gopfast.mixtures.pricing.tuning import (
    ALIKE_PLACES,
    BEFORE_OTHERS,
    CELLS,
    FIRST_LOOK,
    GOOD_LOOK,
    GROUPED_ALIKE as ALIKE,
    GROUPED_FEWEST as FEWEST,
    GROUPED_MOST_CELLS as MOST_CELLS,
    GROUPED_MOST_TURNS as MOST_TURNS,
    GROUPED_N_STARTS as N_STARTS,
    GROUPS,
    LEAST_TOLERANCE,
    LOOKS,
    MANY,
    MANY_COLUMNS,
    MOST_COLUMNS,
    MOST_GROUPS,
    N_CLIMBS,
    N_EQUAL,
    N_EXACT,
    N_LAST,
    PART_LOST,
    PARTS,
    PATIENCE,
    SAMPLES_OF_A_GROUP,
    SEARCHED,
    SLOW,
    TOLERANCES,
)


class GroupedBound(CellLearner):
    """
    Prices of the samples, suprema of one component by groups of samples; told as `PricingBound` tells its own.

    Parameters
    ----------
    family : Family
        Of K components.
    problem : MixtureProblem
        What it was made from.
    solution : ndarray
        An incumbent, as the primal keeps it: weights (K,), parameters, prior weight.
    limit : float
        Solutions below it are sought.
    threads : int
    followed : bool
        Whether prices of all samples follow, which close what little is left sooner.
    record : gopfast.mixtures.block_record.BlockRecord, optional
        For a proof: what cells are told to, and keeps those that prove the most.

    Attributes
    ----------
    lower : float
        Proved, in nats.
    """

    def __init__(self, family, problem, solution, limit, threads=1, followed=False, record=None):
        self.family, self.problem, self.solution = family, problem, np.array(solution)
        self.limit, self.threads, self.lower = limit, threads, -math.inf
        self.n_components = family.n_components
        self.tolerances = TOLERANCES[:BEFORE_OTHERS] if followed else TOLERANCES
        self.one = family.one_component(problem)
        self.columns, self.weights = family.data.arrays()
        self.total_weight = math.fsum(self.weights)
        self.rng = np.random.default_rng(0)
        self.cells, self.table_total = None, -math.inf
        self.pricing = self.part = self.groups = self.own_prices = self.shares = None
        self.phase, self.level, self.n_turns, self.terms = "groups", 0, 0, 0
        self.is_first = True  # prices are those of a few samples, for a first bound
        self.record = record
        if record is not None:
            record.bound = self

    @property
    def n_passes(self):
        """Passes over all samples and components that would have cost as much."""
        return self.n_terms // (len(self.weights) * self.n_components)

    @property
    def n_terms(self):
        """Groups and samples that were evaluated so far, each in one component."""
        of_part = 0 if self.part is None else self.part.n_terms
        return self.terms + of_part + (0 if self.pricing is None else self.pricing.n_terms)

    @property
    def tolerance(self):
        """Nats that prices may lose in all, at this stage."""
        return max(LEAST_TOLERANCE, self.tolerances[self.level] * self.total_weight)

    def step(self, deadline):
        """Next thing to learn; whether there is more."""
        if self.lower >= self.limit:
            return False
        return getattr(self, f"_step_{self.phase}")(end_of_step(deadline))

    def _step_groups(self, _deadline):
        """Make the groups of one more level, and price a few samples once there are all."""
        if self.groups is None:
            scale = np.maximum(self.columns.std(axis=1), 1e-12 * (1.0 + np.abs(self.columns).max(axis=1)))
            self.groups = SampleGroups(self.columns, self.weights, scale, at_once=False)
        self.terms += len(self.weights)
        if not self.groups.grow():
            self.pricing = GroupedPricing(self.one, n_threads=self.threads, record=self.record)
            self.pricing.take_groups(self.groups)
            self._begin_part(PARTS[0])
            self.n_rounds, self.phase = 0, "prices"
        return True

    def _begin_part(self, most):
        """Take at most so many samples to find prices of, and the atoms that are known."""
        before, self.part = self.part, self._part_of(most)
        self.own_prices, own = self.part.prices, self.own_prices
        if before is not None:
            n, of_each = len(self.weights), (len(before.weights), len(self.part.weights))
            place = np.searchsorted(*(_drawn(n, size) for size in of_each), side="right") - 1
            self.part.begin_at(self.own_prices + (before.prices - own)[place], before.points)
            self.terms += before.n_terms

    def _step_prices(self, _deadline):
        """Find the prices of a few samples, a round of new atoms at a time."""
        self.n_rounds += 1
        if not self.part.improve_prices(self.tolerance, n_rounds=1) or self.n_rounds == N_ROUNDS:
            self.is_first = len(self.part.weights) < len(self.weights)
            self.phase = "whole" if self.is_first else "atoms"
        return True

    def _step_atoms(self, deadline):
        """Find the prices of more samples for the atoms at hand; cut short they are gone on with."""
        if self.part.solve_master(self.tolerance, deadline):
            self.phase = "whole"
        return True

    def _step_whole(self, _deadline):
        """Carry them over to all samples."""
        part = self.part
        if len(part.weights) == len(self.weights):
            self.prices, self.n_equal = part.prices, N_EQUAL
        else:
            self.prices, self.n_equal = self._extended(part), 0
        self.phase = "equal"
        return True

    def _step_equal(self, _deadline):
        """Change them by a multiple of each component's part of the samples, so that all save the same; twice."""
        if self.n_equal < N_EQUAL:
            self.n_equal = self.n_equal + 1 if self._make_equal() else N_EQUAL
        if self.n_equal == N_EQUAL:
            self.shares = None
            self.total = total_of(self.weights, self.prices, self.family.constant) - self.family.constant_error
            self.change_prices(self.prices, self.total)
            self.pricing.set_prices(self.prices, at_once=False)
            self.phase = "moments"
        return True

    def _step_moments(self, _deadline):
        """Find the moments of the groups of one more level, and what the atoms save once there are all."""
        self.terms += len(self.weights)
        if not self.groups.price():
            pricing = self.pricing
            self.sigma = pricing.climb(self.part.points, 0)[0].max()
            self.n_turns += not self.is_first
            pricing.open_boxes(*[side[None] for side in pricing.root()])
            self.n_before, self.begun, self.looked = pricing.n_cells, pricing.n_spent, pricing.n_spent
            self._set_mark(math.inf)
            self.phase = "search" if self.is_first else "ascents"
        return True

    def _step_ascents(self, deadline):
        """Look for atoms that save more than those at hand; the cells' suprema tell when prices are found with them."""
        starts = np.concatenate([self.part.points, self.pricing.seeded(self.rng, N_STARTS)])
        self._add(*self.pricing.climb(starts, N_CLIMBS, deadline, exactly=False), self.tolerance, deadline)
        self.phase = "search"
        return True

    def _add(self, values, points, tolerance, deadline):
        """Take parameters whose values exceed those of the atoms; whether there were any."""
        reached = np.isfinite(values)
        values, points = values[reached], points[reached]
        if not len(values):
            return False
        order = np.argsort(-values)
        low, high = self.pricing.root()
        places = np.round((points[order] - low) / (ALIKE_PLACES * np.maximum(high - low, 1e-300)))
        values = np.round(values[order] / (ALIKE * max(values.max(), 1e-9)))
        _, first = np.unique(np.column_stack([values, places]), axis=0, return_index=True)
        points = points[order[np.sort(first)[:N_EXACT]]]
        values, points = self.pricing.climb(points, N_LAST, deadline)
        new = pick(self.part.pricing, self.part.prices, values, points, self.sigma + tolerance / self.n_components, 12)
        self.part.points = np.concatenate([self.part.points, new])
        return len(new) > 0

    def _part_of(self, most):
        """Return the prices of at most so many samples, whose weights stand for all."""
        n = len(self.weights)
        one, family = self.one, self.family
        if n > most:
            # of the order of the groups: neighbours follow each other, and every part of space has its share
            index = self.pricing.groups.ordered()[_drawn(n, most)]
            weights = self.weights[index] * (self.total_weight / math.fsum(self.weights[index]))
            nothing = np.zeros(len(self.columns))
            level = Level(self.columns[:, index], weights, nothing, 0.0, nothing)
            data = family.data
            squares = self.one.n_statistics > self.one.n_columns
            made = Samples.summarised(level, data.scale, data.center, data.order, squares, math.fsum(weights))
            one = family.one_component(self.problem, made)
        return PricingBound(family, one, self.solution, self.limit, threads=self.threads, hasty=n > most, rounds=False)

    def _extended(self, part):
        """Prices of all samples: what a sample's exceeds the incumbent's by is that of its nearest in the part."""
        n, most = len(self.weights), len(part.weights)
        used = self.solution[: self.n_components] > 0.0
        own = np.asarray(self.solution[self.n_components : -1]).reshape(self.n_components, -1)[used]
        costs = np.array([self._costs(point) for point in own])
        parts = np.log(self.solution[: self.n_components][used])[:, None] - costs
        top = parts.max(axis=0)
        np.exp(parts - top, out=parts)
        total = parts.sum(axis=0)
        parts /= total
        prices = -(top + np.log(total))
        order, drawn = self.pricing.groups.ordered(), _drawn(n, most)
        excess = part.prices - prices[order[drawn]]
        prices[order] += np.repeat(excess, np.diff(np.append(drawn, n)))
        self.shares = costs, parts
        return prices

    def _make_equal(self):
        """Take a Newton step to prices at which the incumbent's components save the same; whether there was one."""
        costs, parts = self.shares  # (K, n) each: of the samples in the components, and their responsibilities
        values, taken = np.empty(len(costs)), np.empty_like(costs)
        for k, row in enumerate(costs):
            gain = self.prices - row
            scale = scale_of(self.weights, gain)
            if not scale > 0.0:
                return False
            gain += math.log(scale)
            values[k] = self.weights @ np.maximum(0.0, gain)
            taken[k] = self.weights * np.exp(np.minimum(0.0, gain))
        change = np.linalg.lstsq(taken @ parts.T, values.mean() - values, rcond=1e-6)[0]
        self.prices = self.prices + np.clip(change, -1.0, 1.0) @ parts
        self.terms += costs.size
        return True

    def _costs(self, point):
        """Return the costs (n,) of the samples in one component."""
        return self.pricing.costs_at(point)[0]

    def _step_search(self, deadline):
        """Divide the cells of the largest bounds: at any prices, as all give a bound, but not for ever."""
        pricing = self.pricing
        tolerance = SEARCHED * self.tolerance / self.n_components
        reason = pricing.search(
            self.total, self.limit, self.n_components, tolerance, self._most_attained(), CELLS, deadline, GROUPS
        )
        self._count()
        if reason == "proved":
            return False
        if self.is_first:
            is_good = pricing.supremum <= GOOD_LOOK * self.sigma
            is_over = reason in ("attained", "tight", "stuck") or pricing.n_spent - self.begun >= FIRST_LOOK
            if is_good or is_over:
                self._begin_part(PARTS[1])
                self.is_first, self.phase = False, "atoms"
            return True
        is_slow = False
        if pricing.n_spent > self.mark[0]:
            missing, before = pricing.supremum - pricing.attained, self.mark[1]
            is_slow = missing > SLOW * before
            self._set_mark(missing)
        if self._loses() and (reason in ("attained", "tight") or is_slow):
            return self._renew(tolerance, deadline)
        if reason == "tight":
            return self._next_level()
        if reason == "stuck" or pricing.n_cells - self.n_before > MOST_CELLS or pricing.n_spent > MOST_GROUPS:
            return False
        if is_slow:
            return self._next_level() and self.phase == "atoms"
        self._look(deadline)
        return True

    def _most_attained(self):
        """Return up to which value cells are divided: beyond it prices lose a good part of what is missing."""
        if self.n_turns >= MOST_TURNS:
            return math.inf
        missing = self.n_components * (self.pricing.supremum - self.sigma)
        return self.sigma + max(SEARCHED * self.tolerance, PART_LOST * missing) / self.n_components

    def _loses(self):
        """Whether a component saves more than the master problem knows, and prices may be found anew."""
        allowed = SEARCHED * self.tolerance / self.n_components
        return self.n_turns < MOST_TURNS and self.pricing.attained > self.sigma + allowed

    def _renew(self, tolerance, deadline):
        """Have new prices next, with what ascents from the best cells come to; cells go on where that is nothing."""
        _, _, upper, points = self.pricing.cells()
        points = np.concatenate([points[np.argsort(-upper)[:N_STARTS]], self.pricing.best()[None]])
        # ascents by groups lack what these lose; what the best saves is known of the samples
        climbed = self.pricing.climb(points, N_CLIMBS, deadline, exactly=False)
        known = np.full(1, self.pricing.attained), points[-1:]
        if self._add(*climbed, tolerance, deadline) or self._add(*known, tolerance, deadline):
            self.phase = "atoms"
        else:
            self.n_turns = MOST_TURNS
        return True

    def _look(self, deadline):
        """Ascend by samples from where the largest bound is, and from the best so far: ascents by groups end nearby."""
        cost = 2 * (N_LAST + 1) * len(self.weights) / SAMPLES_OF_A_GROUP
        if LOOKS * (self.pricing.n_spent - self.looked) > cost:
            _, _, upper, points = self.pricing.cells()
            self.pricing.climb(np.stack([points[np.argmax(upper)], self.pricing.best()]), N_LAST, deadline)
            self.looked = self.pricing.n_spent

    def _set_mark(self, missing):
        """Set until when much of what is missing must be gone: at twice the groups."""
        spent = self.pricing.n_spent
        self.mark = spent + max(PATIENCE, spent - self.begun), missing

    def _next_level(self):
        """Have finer suprema next, and better prices where those at hand lose more than these would."""
        if self.level + 1 == len(self.tolerances):
            return False
        self.level, self.n_turns = self.level + 1, 0
        if self.limit - (self.total - self.n_components * self.pricing.attained) > self.tolerance:
            self.phase = "atoms"
        self._set_mark(math.inf)
        return True

    def _count(self):
        """Raise the lower bound to what the suprema prove."""
        self.lower = max(self.lower, self.proved(self.total))


def is_grouped(family, one):
    """
    Whether the bound is for this family of K components, that of one being `one` or None.

    Of known variances the tree on summaries and prices are sooner done, of any number of samples.
    """
    if one is None or family.data.is_summary or one.has_prior or family.n_components < 2:
        return False
    n = family.data.n_samples
    most = MANY_COLUMNS if n >= MANY else MOST_COLUMNS
    return n >= FEWEST and 2 <= one.n_columns <= most and family.has_blocks


def _drawn(n, most):
    """Return the places (most,), of n in a row, of samples that stand for their neighbours."""
    return np.arange(most) * n // most
