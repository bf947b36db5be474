"""The pricing bound of a whole problem: prices, proved suprema, and the cells that are left.

Theory: (P1), (P4), (P6) and (P9) of docs/theory/prices.md; (C1) and (C4) of docs/theory/cells.md.
"""

import enum
import math
import time

import numpy as np

from gopfast.mixtures.learning.learner import Learner, end_of_step
from gopfast.mixtures.pricing.margins import SUMMED
from gopfast.mixtures.pricing.master import Master
from gopfast.mixtures.pricing.price_cell import MOST_CURVED_COSTS
from gopfast.mixtures.pricing.pricing import ComponentPricing
from gopfast.mixtures.pricing.raised_prices import RaisedPrices
from gopfast.mixtures.pricing.tuning import (
    CLIMBED,
    COARSE,
    DRAWS_OF_SMALL,
    FEW_DRAWS,
    FINE_CELLS,
    FINE_FACTOR,
    FINER,
    FINEST,
    FIRST_CELLS,
    HASTY,
    LATER,
    LEAST_FINER,
    LIFT,
    LIFTED,
    LONGEST_WAIT,
    LOOKED_AT_FROM,
    MORE_CELLS,
    MOST_CLIMBED,
    MOST_CONFINED,
    MOST_IMPROVED,
    MOST_LOOKED_AT,
    MOST_OPEN_BYTES,
    MOST_PASSES,
    MOST_SHAVED,
    N_ASCENT,
    N_DRAWS,
    PART_FOR_PRICES,
    QUESTIONS_WAIT,
    ROOT_ALIKE as ALIKE,
    ROOT_IDLE as IDLE,
    ROOT_MOST_ADDED as MOST_ADDED,
    ROOT_MOST_TURNS as MOST_TURNS,
    ROOT_N_ROUNDS as N_ROUNDS,
    ROUGH_ACCURACY,
    ROUGH_DRAWS,
    ROUGH_FINEST,
    SHARE_OF_EXCESS,
    SHARE_OF_GAP,
    SHARE_OF_LOSS,
    SHIFT,
    SMALL,
)
from gopfast.mixtures.primal.rounding import Rounding
from gopfast.search.meter import Meter


def single(problem, family):
    """Return the family of one component of a problem, None where components share parameters."""
    return family.one_component(problem)


class Phase(enum.IntEnum):
    """What is done next."""

    PRICES = 0
    SUPREMA = 1
    CELLS = 2
    CONFINEMENT = 3
    ATOMS = 4
    END = 5


class PricingBound(Learner):
    """
    Prices of the samples and the cells of one component that they leave.

    Parameters
    ----------
    family : Family
        Of K components.
    one : Family
        The same of one component, see `single`.
    solution : ndarray
        An incumbent, as the primal keeps it: weights (K,), parameters, prior weight.
    limit : float
        Solutions below it are sought.
    seed, threads : int
    record : None or object
        For a proof: what cells are told to. The prices of the first cells that nodes look up are the last then.
    hasty : bool
        Whether a bound is wanted soon rather than good.
    rough : float
        Nats that the bound may lose; then nothing follows it, neither better prices nor cells for the tree. 0: as
        little as `hasty` says.
    rounds : bool
        Whether solutions are looked for among the atoms; not of two components, whose optimum other searches find.
    rounding : Meter, optional
        Where to count what that takes.
    confine : callable (bound, solution) -> Confinement, optional
        What is asked of prices once there are cells.
    patience : callable (terms) -> int, optional
        Batches of nodes in which the tree has so many terms: so long questions and solutions wait, see `Learner.rest`.
    kind : type
        Of cells: `ComponentPricing`, or another with its methods.
    lift : ndarray, shape (N,), optional
        Prices to begin with, less -log p of the solution; they are left where they lose much.

    Attributes
    ----------
    is_recorded : bool
    found : ndarray or None
        A better solution than the limit, to start a local search from.
    lower : float
        What is proved of all solutions below the limit; recorded, at the prices at hand.
    """

    def __init__(
        self,
        family,
        one,
        solution,
        limit,
        seed=0,
        threads=1,
        record=None,
        hasty=False,
        rough=0.0,
        rounds=True,
        rounding=None,
        confine=None,
        patience=lambda terms: 0,
        kind=ComponentPricing,
        lift=None,
    ):
        self.family, self.one, self.limit, self.threads = family, one, limit, threads
        self.n_components = family.n_components
        self.pricing, self.is_recorded = kind(one, n_threads=threads, record=record), record is not None
        self.weights = one.data.arrays()[1]
        self.curved = MOST_CURVED_COSTS * math.fsum(one.data.loss) * (1 + 1e-12)
        self.looks = not hasty and not self.is_recorded and len(self.weights) >= LOOKED_AT_FROM
        # what a summary loses need not be known more exactly
        coarse, self.n_draws = (HASTY, FEW_DRAWS) if hasty else (COARSE, N_DRAWS)
        self.is_rough, coarse = rough > 0.0, rough or coarse
        self.is_small = one.n_connected <= SMALL  # cells find what draws have missed, for less
        if self.is_small:
            self.n_draws = DRAWS_OF_SMALL
        self.coarse, self.finest = (max(least, SHARE_OF_LOSS * self.curved) for least in (coarse, FINEST))
        self.finest = max(self.finest, ROUGH_FINEST * rough)
        self.tolerance = self.aim = self.first = self.coarse
        self.rng = np.random.default_rng(seed)
        used = solution[: self.n_components] > 0.0
        self.points = np.asarray(solution[self.n_components : -1]).reshape(self.n_components, -1)[used]
        costs = np.array([self.pricing.costs_at(point)[0] for point in self.points])
        with np.errstate(divide="ignore"):
            logs = np.log(solution[: self.n_components][used])[:, None] - costs
        top = logs.max(axis=0)
        self.prices = self.own = -(top + np.log(np.exp(logs - top).sum(axis=0)))
        self.totalled = None, 0.0  # the last prices whose total was asked for, and it
        self.master = Master(self.weights, self.prices + SHIFT, self.pricing)
        if self.is_rough:
            self.master.accuracy, self.n_draws = ROUGH_ACCURACY, min(self.n_draws, ROUGH_DRAWS)
        self.sigma, self.draws, self.is_cut_short = 0.0, True, False
        self.equal = None  # of every sample the number of those that are equal, and how many these are
        self.is_near = False  # prices are as good as the master problem's of the solution's components
        self.lower = -math.inf
        self.root = [side[None] for side in self.pricing.root()]
        self.cells, self.table_total, self.phase = None, -math.inf, Phase.PRICES
        self.begun, self.tight, self.n_turns, self.halfway = False, False, 0, math.inf
        self.n_proved = self.n_coarse = 0
        self.most_open = MOST_OPEN_BYTES // self.pricing.cell_bytes  # cells that may be left
        self.n_rounds, self.prices_until = 0, math.inf  # of prices at one tolerance
        self.n_shaved = self.n_shaving = 0  # cells and passes to drop cells
        self.solution, self.confine, self.confinement = np.array(solution), confine, None
        self.rounds, self.rounding = rounds and family.n_components > 2, rounding or Meter()
        self.found, self.rounding_passes = None, 0
        self.apart_passes = self.apart_terms = 0  # of columns at other prices than a proof's cells
        self.patience, self.rest = patience, 0
        self.atoms = None  # prices, parameters and multipliers: without atoms that were added after these
        self.last = True  # of the summaries; cells of others are divided as long as that is cheap
        if lift is not None:
            self._begin_lifted(RaisedPrices(costs, np.log(solution[: self.n_components][used]), self.weights, lift))

    @property
    def total(self):
        """At most sum w lambda plus the family's constant, of the samples."""
        if self.totalled[0] is not self.prices:
            self.totalled = self.prices, self.total_at(self.prices)
        return self.totalled[1]

    def total_at(self, prices):
        """Return the same at other prices (N,)."""
        total = total_of(self.weights, prices, self.family.constant) - self.family.constant_error
        # a sample in a summary's cell has the corners' price less what the most curved costs lose there
        return total - self.curved - 2 * self.one.data.rounding * (self.weights @ np.abs(prices))

    @property
    def n_passes(self):
        """Data passes of one component so far."""
        confining = 0 if self.confinement is None else self.confinement.n_passes
        return self.pricing.n_passes + self.apart_passes + self.rounding_passes + confining

    @property
    def n_terms(self):
        """Terms so far."""
        return self.pricing.n_terms + self.apart_terms

    @property
    def has_suprema(self):
        """Whether the suprema are known as well as they will be, but for those of divided cells."""
        return self.phase >= Phase.CELLS

    @property
    def has_cells(self):
        """Whether the cells are known, and no more is asked but for where components are confined to."""
        return self.phase >= Phase.CONFINEMENT

    def step(self, deadline):
        """Next thing to learn; whether there is more."""
        self.rest, end = 0, end_of_step(deadline)
        if self.phase is Phase.PRICES:
            if self.n_rounds == 0:
                # whatever the prices, time must be left to prove something with them
                now = time.monotonic()
                self.prices_until = now + PART_FOR_PRICES * (deadline - now)
            more = True
            while more:
                more = self._add_round(self.aim, self.prices_until)
                self._look(end)
                if more and time.monotonic() > end:
                    return True
            self.n_rounds = 0
            if self.aim_higher():
                return True
            self.atoms = self.prices, self.points[: len(self.multipliers)], self.multipliers
            excess = self.total - self.n_components * self.sigma - self.limit
            if self.is_small and excess > 0.0:
                self.tolerance = self.first = max(self.aim, min(self.coarse, SHARE_OF_EXCESS * excess))
        elif self.phase is Phase.SUPREMA:
            before = self.pricing.n_cells
            reason = self.prove(self.tolerance, MORE_CELLS, deadline, end)
            self.n_proved += self.pricing.n_cells - before
            if reason == "time" and time.monotonic() < deadline:
                return True
            self.tight = reason == "tight"
            first = self.tolerance == self.first
            if first:
                self.n_coarse = self.n_proved
            few = self.n_proved < FINE_CELLS + (0.0 if first else FINE_FACTOR * self.n_coarse) or (first and self.last)
            has_room = self.pricing.n_open < self.most_open
            if reason == "cells" and (few or self.is_rough) and has_room:
                return True
        elif self.phase is Phase.CELLS:
            if self.eliminate(deadline=end) and time.monotonic() < deadline:
                return True
            self.n_shaved = self.n_shaving = 0
            if self.tight and self.tolerance > self.aim:
                # what is left of the cells is divided at the same prices
                self.tolerance, self.phase = max(self.aim, FINER * self.tolerance), Phase.SUPREMA
                return True
        elif self.phase is Phase.CONFINEMENT and self._can_confine() and self._confine(deadline):
            return True
        elif self.phase is Phase.ATOMS and self._can_round():
            self._round()
        return self._go_on()

    def _go_on(self):
        """Have the next phase next; whether there is anything to do in it or later ones. The tree may close before."""
        self.phase = Phase(min(self.phase + 1, Phase.END))
        if self.is_rough and self.phase > Phase.SUPREMA:
            return False
        if self.phase is Phase.CONFINEMENT:
            if self._can_confine():
                self.rest = self.patience(min(LONGEST_WAIT, QUESTIONS_WAIT * self.n_terms))
                return True
            self.phase = Phase.ATOMS
        if self.phase is Phase.ATOMS:
            if not self._can_round():
                self.phase = Phase.END
                return False
            self.rest = self.patience(Rounding.terms_of(self.family))
        return self.phase < Phase.END

    def _can_confine(self):
        """Whether more can be asked of prices, for little."""
        few = len(self.weights) <= MOST_CONFINED and not self.curved
        return self.confine is not None and few and self.lower < self.limit and len(self.cells[2]) > 0

    def _confine(self, deadline):
        """Ask where the components of better solutions lie; whether there are more questions."""
        if self.confinement is None:
            self.confinement = self.confine(self, self.solution)
        more = self.confinement.step(deadline)
        self.lower = max(self.lower, self.confinement.lower)
        if self.confinement.cells is not None:
            self.cells = self.confinement.cells
        return more

    def _look(self, deadline):
        """Have a first bound of many samples by the prices at hand, as any give one, before better ones are found."""
        if not self.looks or math.isfinite(self.lower):
            return
        self.pricing.open_boxes(*self.root)
        self.pricing.search(
            self.total, self.limit, self.n_components, self.tolerance / self.n_components, math.inf, FIRST_CELLS,
            deadline,
        )  # fmt: skip
        self._count()

    def aim_higher(self):
        """Whether prices should be found again, nearer to the best: what they lose would decide.

        So would it where they are barely a proof: suprema may lose what the bound by them is above the limit.
        """
        missing = self.limit - (self.total - self.n_components * self.sigma)
        if self.is_rough and missing <= self.tolerance:
            return False
        before, wanted = self.aim, 0.0 if self.is_rough else SHARE_OF_GAP * abs(missing)
        self.aim = min(before, max(self.finest, wanted, LEAST_FINER * before))
        self.draws = missing > 0.0  # what else exceeds prices that are a proof, cells find as they are divided
        return self.aim < FINER * before

    def improve_prices(self, tolerance, deadline=math.inf, n_rounds=N_ROUNDS):
        """
        Column generation with ascents anywhere: prices that are about the best before any cell is known.

        Returns whether there was something to add in the last of the rounds.
        """
        return all(self._improve_once(tolerance, deadline) for _ in range(n_rounds))

    def _add_round(self, tolerance, deadline):
        """Take one more of the rounds; whether there are more."""
        self.n_rounds += 1
        return self._improve_once(tolerance, deadline) and self.n_rounds < N_ROUNDS and time.monotonic() <= deadline

    def _improve_once(self, tolerance, deadline):
        """Find prices for the atoms at hand, and more atoms; whether there were any."""
        if not self.is_near:
            self.solve_master(tolerance, deadline)
        self.is_near = False
        self.pricing.set_prices(self.prices)
        if time.monotonic() > deadline:
            return True
        starts = np.concatenate([self.points, self._draw(self.n_draws)]) if self.draws else self.points
        found = self._add(*self._climb(starts, tolerance), tolerance)
        if not found and self.draws and not self.is_small:
            found = self._add(*self._climb_from_above(starts, tolerance), tolerance)
        return found

    def _climb_from_above(self, starts, tolerance):
        """Climb after an ascent at higher prices: where no column pays G is flat, and nothing leads elsewhere."""
        self.pricing.set_prices(self.prices + LIFT)
        _, points = self.pricing.climb(starts, N_ASCENT, near=CLIMBED * tolerance / self.n_components)
        self.pricing.set_prices(self.prices)
        return self._climb(points, tolerance)

    def _climb(self, starts, tolerance):
        """Return values and parameters that ascents come to; those that exceed the master's too little are given up."""
        share = tolerance / self.n_components
        return self.pricing.climb(starts, N_ASCENT, near=CLIMBED * share, least=self.sigma + share)

    def solve_master(self, tolerance, deadline=math.inf):
        """Prices for the atoms at hand; atoms that play no part go. Whether that was done before the deadline."""
        first, last = not self.begun, tolerance / 3 / len(self.points)
        begin = self.master.weight if self.is_cut_short else 1.0 if first else LATER
        self.prices, sigma, z = self.master.solve(
            self.master.center if first else self.prices, self.points, np.zeros(len(self.points), dtype=int),
            np.array([float(self.n_components)]), last, max(last, begin), deadline,
        )  # fmt: skip
        if self.is_recorded and not self.one.n_each:  # a proof has one price of equal samples
            self.prices = self._even(self.prices)
        self.begun, self.sigma, self.multipliers, self.is_cut_short = True, sigma[0], z, self.master.is_cut_short
        used = z > IDLE * self.n_components
        if used.any() and not self.is_cut_short:
            self.points, self.multipliers = self.points[used], z[used]
        return not self.is_cut_short

    def _even(self, prices):
        """
        Average prices (N,) over equal samples: as good a bound or better.

        What is saved at most is convex in the prices and does not change where those of equal samples change places.
        Where columns hardly pay the master problem draws at the sample that gains most, and of equal ones at one alone.
        """
        if self.equal is None:
            _, index, count = np.unique(self.one.data.arrays()[0].T, axis=0, return_inverse=True, return_counts=True)
            self.equal = index.reshape(-1), count
        index, count = self.equal
        if len(count) == len(prices):
            return prices
        averages = np.bincount(index, self.weights * prices) / np.bincount(index, self.weights)
        return np.where(count[index] > 1, averages[index], prices)

    def _add(self, values, points, tolerance):
        """Take the points of the largest values as atoms, if they exceed the master's; whether there were any."""
        new = self._pick(values, points, self.sigma + tolerance / self.n_components)
        self.points = np.concatenate([self.points, new])
        return len(new) > 0

    def _round(self):
        """Look for a better solution around components that the master problem has in part."""
        prices, points, multipliers = self.atoms
        pricing = self.pricing
        if self.is_recorded:  # its cells are the proof's, which other prices would forget
            pricing = type(pricing)(self.one, n_threads=self.threads)
        mass = pricing.columns(prices, points)[0]
        if pricing is not self.pricing:
            self.apart_passes += pricing.n_passes
            self.apart_terms += pricing.n_terms
        with self.rounding:
            rounding = Rounding(self.family, self.weights, points, mass, multipliers, self.rng)
            self.found = rounding.best(self.limit)
        self.rounding.count(terms=rounding.n_terms)
        self.rounding_passes = rounding.n_passes

    def _can_round(self):
        """Whether there are atoms to draw from, and anything below the limit."""
        return self.atoms is not None and self.rounds and not self.curved and self.lower < self.limit

    def _draw(self, n):
        """Parameters to start ascents from."""
        return self.pricing.seeded(self.rng, n)

    def _pick(self, values, points, least):
        """Of given parameters those of the largest values whose columns differ."""
        return pick(self.pricing, self.prices, values, points, least, MOST_ADDED)

    def prove(self, tolerance, max_cells=100_000, deadline=math.inf, end=math.inf):
        """
        Bound the suprema over the cells that are left; prices improve where they exceed the master's.

        Goes on where it stopped, at the `end` of a step or at the deadline of the search.

        Returns
        -------
        str
            As `ComponentPricing.search`, but for "attained".
        """
        K = self.n_components
        if not self.n_turns:
            self.halfway = 0.5 * (time.monotonic() + deadline)
            self._open_root(tolerance)
        while True:
            last = self.n_turns >= MOST_TURNS or time.monotonic() > self.halfway
            last |= self.is_recorded and self.cells is not None
            reason = self.pricing.search(
                self.total, self.limit, K, tolerance / K, math.inf if last else self.sigma + tolerance / K, max_cells,
                min(end, deadline),
            )  # fmt: skip
            self._count()
            # the cells that are left are those of the prices that are left
            if reason != "attained":
                return reason
            _, _, upper, points = self.pricing.cells()
            points = points[np.argsort(-upper)[:MOST_LOOKED_AT]]
            # neighbouring cells lead to the same maximum
            values = self.pricing.values(self.prices, points)
            points = pick(self.pricing, self.prices, values, points, -math.inf, MOST_CLIMBED)
            values, points = self._climb(np.concatenate([points, self.pricing.best()[None]]), tolerance)
            if self._add(values, points, tolerance):
                self._follow(points, tolerance, min(end, deadline))
                self._open_root(tolerance)
            else:
                self.n_turns = MOST_TURNS
            if time.monotonic() > end:
                return "time"

    def _open_root(self, tolerance):
        """Begin with the root's cell at the prices at hand."""
        self.n_turns += 1
        if self.is_recorded:
            self.lower = -math.inf
        self.pricing.set_prices(self.prices)
        self.pricing.climb(self.points, N_ASCENT, near=CLIMBED * tolerance / self.n_components)
        self.pricing.open_boxes(*self.root)

    def _follow(self, starts, tolerance, deadline):
        """Column generation with ascents from given parameters, before cells are divided again."""
        for _ in range(N_ROUNDS):
            self.solve_master(tolerance, deadline)
            self.pricing.set_prices(self.prices)
            if time.monotonic() > deadline:
                return
            if not self._add(*self._climb(np.concatenate([self.points, starts]), tolerance), tolerance):
                return

    def _count(self):
        """Raise the lower bound to what the suprema prove of all solutions below the limit, at most to the limit."""
        total, saved = self.total, self.n_components * self.pricing.supremum
        proved = less(total, saved) if math.isfinite(saved) else -saved
        self.lower = max(self.lower, min(proved, self.limit))

    def eliminate(self, share=0.25, deadline=math.inf):
        """Drop cells; what is left is what nodes of the tree look up. Whether the deadline is why no more were."""
        pricing = self.pricing
        cells, passes, most, most_passes = pricing.n_cells, pricing.n_passes, MOST_SHAVED, MOST_PASSES
        pricing.shave(self.total, self.limit, self.n_components, share, most - self.n_shaved, deadline,
                      most_passes - self.n_shaving)  # fmt: skip
        self.n_shaved += pricing.n_cells - cells
        self.n_shaving += pricing.n_passes - passes
        self._count()
        low, high, upper, _ = pricing.cells()
        self.cells, self.table_total = (low, high, upper), self.total
        return time.monotonic() > deadline and self.n_shaved < most and self.n_shaving < most_passes

    def begin_at(self, prices, points):
        """Begin with prices (N,) that are nearly the best, and with the atoms (A, n) that they are for."""
        self.prices, self.points, self.begun = prices, points, True

    @property
    def lift(self):
        """What the prices (N,) are above -log p of the solution."""
        return self.prices - self.own

    def _begin_lifted(self, raised):
        """Begin with these prices, made such that all components of the solution save the same, if they lose little."""
        for _, prices, values in raised.equal(np.zeros(len(self.points)), math.inf, few=True):
            near, sigma = prices, values.max()
        self.totalled = near, self.total_at(near)
        if self.limit - (self.totalled[1] - self.n_components * sigma) < LIFTED * self.tolerance:
            self.prices, self.sigma, self.is_near = near, sigma, True
            self.multipliers = np.ones(len(self.points))

    def begin(self, prices, points, low, high):
        """Begin with known prices, atoms, and cells (m, n), (m, n): no solution below the limit lies elsewhere."""
        self.prices, self.points, self.root, self.begun = prices, points, [low, high], True
        if len(prices) > MOST_IMPROVED:
            self.sigma = float(self.pricing.values(prices, points).max())
            self.phase, self.n_turns = Phase.SUPREMA, MOST_TURNS
            self.pricing.open_boxes(*self.root)


def pick(pricing, prices, values, points, least, most):
    """Return at most `most` parameters of values above `least`, the largest ones whose columns differ."""
    order = np.argsort(-values)
    order = order[values[order] > least][:MOST_LOOKED_AT]
    if not len(order):
        return points[:0]
    return points[order[unlike(pricing.columns(prices, points[order])[0], most)]]


def unlike(mass, most):
    """Return indices of at most `most` columns, the first ones whose masses (A, N) differ by more than ALIKE."""
    size, chosen = mass.sum(axis=1), []
    for i in range(len(mass)):
        if all(np.abs(mass[i] - mass[j]).sum() > ALIKE * min(size[i], size[j]) for j in chosen):
            chosen.append(i)
            if len(chosen) == most:
                break
    return chosen


def less(total, saved):
    """Return a total less what all components save, rounded down: a lower bound (P1)."""
    return total - saved - SUMMED * (abs(total) + abs(saved))


def total_of(weights, prices, constant):
    """At most sum w lambda plus a constant."""
    terms = weights * prices
    size = float(np.abs(terms).sum()) + abs(constant)
    return math.fsum([*terms, constant]) - 4e-16 * size
