"""
The pricing bound of spherical components in many columns: a search in the affine hull of the incumbent's means.

Whatever the number of columns is, the distance of a sample from a component follows from K - 1 coordinates along the
hull, the distances of both from it, and one angle, which `hull_cells` bounds over all angles at once. A free variance
is one coordinate more. Around every component of the incumbent there is a ball, in one coordinate, the distance from
it; cells in a ball have its bound.

Theory: (Y4), (Y5) and (Y7) of docs/theory/hull.md, (YN2) and (YN3) of docs/theory/near.md.
"""

import heapq
import math
import time

import numpy as np

from gopfast.mixtures.families.gaussian import GaussianFamily
from gopfast.mixtures.families.normal import NormalFamily
from gopfast.mixtures.learning.learner import Learner, end_of_step
from gopfast.mixtures.pricing.hull_atoms import Atoms
from gopfast.mixtures.pricing.hull_balls import ball_around
from gopfast.mixtures.pricing.hull_cells import HullCells
from gopfast.mixtures.pricing.hull_confined import Confined
from gopfast.mixtures.pricing.hull_corners import Corners
from gopfast.mixtures.pricing.hull_drafts import Drafted, DraftedShells, with_draft
from gopfast.mixtures.pricing.hull_frame import Frame, moments_of
from gopfast.mixtures.pricing.hull_reaches import Reach
from gopfast.mixtures.pricing.hull_shells import Shells
from gopfast.mixtures.pricing.hull_tables import SCALES, Tables
from gopfast.mixtures.pricing.pricing_root import less, total_of
from gopfast.mixtures.pricing.tuning import (
    FEWEST_COLUMNS,
    HULL_BATCH as BATCH,
    HULL_BATCHES as BATCHES,
    HULL_CONFINING as CONFINING,
    HULL_FEW as FEW,
    HULL_FEW_FREE as FEW_FREE,
    HULL_FEWEST as FEWEST,
    HULL_LOSS as LOSS,
    HULL_LOST as LOST,
    HULL_MANY_COLUMNS as MANY_COLUMNS,
    HULL_MANY_CORNERS as MANY_CORNERS,
    HULL_MOST_CELLS as MOST_CELLS,
    HULL_MOST_COLUMNS as MOST_COLUMNS,
    HULL_MOST_LOST as MOST_LOST,
    HULL_OF_MOMENTS as OF_MOMENTS,
    HULL_OF_PRICES as OF_PRICES,
    HULL_PATIENCE as PATIENCE,
    HULL_RAISED as RAISED,
    HULL_ROOMY as ROOMY,
    HULL_ROOMY_FROM as ROOMY_FROM,
    HULL_ROOT_RANGE as ROOT_RANGE,
    HULL_SLOW as SLOW,
    HULL_TOLERANCE as TOLERANCE,
    MOST_COMPONENTS,
    SKIP_BALLS,
    SKIP_CELLS,
)
from gopfast.roundoff import ROUND


class HullBound(Learner):
    """
    Prices of the samples, suprema of one component over balls and cells of the hull.

    Parameters
    ----------
    family : Family
        Of K components, of known variance or with one free variance each.
    solution : ndarray
        An incumbent, as the primal keeps it: weights (K,), parameters, prior weight.
    limit : float
        Solutions below it are sought.
    threads : int
    record : HullRecord or None
        For a proof.
    is_picky : bool
        There are cells only of clusters that are apart, or of many columns.

    Attributes
    ----------
    lower : float
        Proved, in nats.
    """

    def __init__(self, family, solution, limit, threads=1, record=None, is_picky=False):
        self.family, self.limit, self.threads, self.lower, self.record = family, limit, threads, -math.inf, record
        self.is_picky = is_picky
        K = family.n_components
        self.n_components, self.solution = K, np.array(solution)
        self.free = isinstance(family, NormalFamily)
        self.columns, self.weights = family.data.arrays()
        self.total_weight = math.fsum(self.weights)
        self.n_columns = len(self.columns)
        self.phase, self.balls, self.reaches = "begin", [], []
        self.atoms = self.cells_at = self.across = self.tables = self.confined = None
        self.n_terms_before, self.work = 0, self._begin((LOST, 0.0))

    @property
    def n_terms(self):
        """Samples that were looked at so far, each in one component."""
        parts = (self.atoms, self.cells_at, self.across, self.tables, self.confined, *self.balls, *self.reaches)
        return self.n_terms_before + sum(part.n_terms for part in parts if part is not None)

    def _forget(self):
        """Begin again, with other prices."""
        self.n_terms_before = self.n_terms
        self.balls, self.reaches = [], []
        self.atoms = self.cells_at = self.across = self.tables = self.confined = None

    @property
    def n_passes(self):
        """Passes of the tree that would have cost as much: these are over all samples, and take second moments."""
        K, F = self.n_components, self.family.n_statistics
        return int(self.n_terms / (len(self.weights) * K * (1.0 + K * F * F / OF_MOMENTS)))

    def step(self, deadline):
        """Next thing to learn; whether there is more."""
        if self.lower >= self.limit:
            return False
        return getattr(self, f"_step_{self.phase}")(end_of_step(deadline))

    def _step_begin(self, deadline):
        """Get ready for cells, until the deadline."""
        for _ in self.work:
            if time.monotonic() > deadline:
                return True
        self.phase = "cells"
        return self.cells_at is not None

    def _is_worth_it(self):
        """Return whether cells may say more than prices of all samples, which are soon found where these are few."""
        if not self.is_picky or self.is_confining:
            return True
        return self.n_columns >= MANY_COLUMNS and self.atoms.lost <= MOST_LOST * self.total_weight

    def _begin(self, parts):
        """
        Find the frame, prices and balls, and yield after every part of the work.

        Parameters
        ----------
        parts : sequence of float
            Of what a component saves, that prices may lose: the next if no ball is confined, 0 for the least.
        """
        K, w, d = self.n_components, self.weights, self.n_columns
        used = self.solution[:K] > 0.0
        cells = self.solution[K:-1].reshape(K, -1)[used]
        precisions = 1.0 / np.maximum(1.0, cells[:, d]) if self.free else np.ones(len(cells))
        self.frame = Frame(self.columns, cells[:, :d])
        for part in parts:
            self._forget()
            self.atoms = Atoms(self.frame.samples, w, self.solution[:K][used], self.frame.means, precisions, self.free)
            yield
            yield from self.atoms.price_well(part)
            self.is_last = part == parts[-1] or self.atoms.is_tight
            yield from self._begin_balls()
            # where cells will not say where a better solution is, what prices lose is lost
            if self.is_confining or self.is_last:
                break
        if self._is_worth_it():
            yield from self._begin_cells()

    def _begin_balls(self):
        """Find balls at the prices that there are, if not the last only confined ones, and yield after every part."""
        atoms = self.atoms
        self.prices, self.labels, self.attained = atoms.prices, atoms.labels, atoms.values.max()
        self.total = self._total_of(self.prices)
        self.raised = self.frame.raised(self.prices)
        yield
        enough = self.attained + TOLERANCE * self.total_weight
        cut = self._cut(enough)
        self.balls = []
        for k in range(len(atoms.means)):
            self.balls.append(ball_around(atoms, k, self.raised, enough, cut, self.threads))
            yield
            while self.balls[k].grow():
                yield
            if not self.is_last and not self.balls[k].confine(cut) < math.inf:
                self.is_confining = False
                return
        self.target = max(ball.bounds[0] for ball in self.balls)
        self._confine()

    def _total_of(self, prices):
        """Return the sum of prices and constants, rounded down."""
        total = total_of(self.weights, prices, self.family.constant) - self.family.constant_error
        if not self.free:
            return total
        each = 0.5 * self.n_columns * math.log(2 * math.pi) * self.total_weight
        return less(total, -each * (1 - 16 * ROUND))

    def _cut(self, most):
        """Return less than each component of a better solution saves if none saves more than `most`; or `most`."""
        K = self.n_components
        lost = self.limit - less(self.total, K * most)
        if not 0.0 < lost <= CONFINING * most:
            return most
        return most - 1.01 * lost - TOLERANCE * self.total_weight

    def _begin_cells(self):
        """Begin with the box of all samples."""
        frame, atoms, w = self.frame, self.atoms, self.weights
        q, z, reach = frame.n_along, frame.samples, frame.diameter
        made = []
        for k, precision in enumerate(atoms.precisions):
            own = self.labels == k
            made.append(moments_of(z[:, own], w[own], self.raised[own], precision, reach))
            yield
        centers, moments = (np.array(part) for part in zip(*made, strict=True))
        order = frame.order(self.labels)
        yield

        def cells(at, weights):
            made = HullCells(z[:q][:, at], z[q:][:, at], weights, self.labels[at], self._places(centers),
                             self.n_columns * self.free, n_threads=self.threads, skip=SKIP_CELLS,
                             has_close_masses=True)  # fmt: skip
            made.set_prices(self.raised[at], moments)
            return made

        self.cells_at = Drafted(*with_draft(cells, order, w, self.labels, len(z)))
        across = z[q:]

        def shells(at, weights):
            return Shells(across[:, at], weights, self.raised[at], n_threads=self.threads, skip=SKIP_BALLS,
                          along=z[:q, at])  # fmt: skip

        self.across = DraftedShells(*with_draft(shells, order, w, self.labels, len(z))) if len(across) else None
        self.place = self._places(atoms.means)
        # where cells have many corners it takes more to look at these than to divide them
        self.roomy = ROOMY if 2 ** (q + 1 + self.free) <= MANY_CORNERS else RAISED
        self.corners = Corners(self.cells_at, self.n_columns, self.free, self.enough, self.across)
        yield
        self.tables = Tables(z, w, self.raised, self.labels, atoms.nearest, atoms.means, atoms.precisions, self.place,
                             self.free, reach, self.threads)  # fmt: skip
        yield
        # of precisions by their logarithm: none is above the floor's, and no variance above half the range squared
        sides = 0.5 * (self.columns.max(axis=1) - self.columns.min(axis=1))
        least = -math.log(max(1.0, np.square(sides).mean() * (1 + 1e-9))) if self.free else 0.0
        self.heap, self.n_cells = [], 0
        self.mark = PATIENCE, math.inf
        yield from self._begin_reaches(centers, moments, least)
        far = np.sqrt(np.square(across).sum(axis=0)).max() * (1 + 1e-12) if len(across) else 0.0
        low, high = np.append(z[:q].min(axis=1), 0.0), np.append(z[:q].max(axis=1), far)
        ends = np.linspace(least, 0.0, 1 + max(1, math.ceil(-least / ROOT_RANGE)))
        roots = [np.column_stack([np.repeat(side[None], len(at), axis=0), at]) for side, at in
                 ((low, ends[:-1]), (high, ends[1:]))]  # fmt: skip
        self._take(*roots, np.zeros(len(roots[0])), np.full(len(roots[0]), -1))  # no table yet

    def _begin_reaches(self, centers, moments, least):
        """Find how far from each component nothing saves more than is known, and yield after every few shells."""
        means = self.atoms.means
        for k, ball in enumerate(self.balls):
            apart = np.delete(np.linalg.norm(means - means[k], axis=1), k)
            reach = Reach(self.frame.samples, self.weights, self.raised, self.labels, centers, moments, ball,
                          apart.min(initial=self.frame.diameter), least, self.frame.diameter, self.enough,
                          self.threads)  # fmt: skip
            self.reaches.append(reach)
            while reach.grow():
                yield

    def _confine(self):
        """Decide what cells are asked to save at most, and whether they then say where a better solution is."""
        most = self.target + TOLERANCE * self.total_weight
        for _ in range(2):
            cut = self._cut(most)
            inner = max(ball.confine(cut) for ball in self.balls)  # what components of a better solution save at most
            self.is_confining = cut < most and inner <= most
            if self.is_confining or not inner < math.inf:
                break
            most = max(most, inner)
        if not self.is_confining:
            cut = most = self.target + TOLERANCE * self.total_weight
            for ball in self.balls:
                ball.confine(cut)
        self.enough, self.closed = cut, most

    def _places(self, points):
        """Return coordinates (m, q + 1) of points (m, d): along, and the distance from the axes."""
        q = self.frame.n_along
        return np.column_stack([points[:, :q], np.linalg.norm(points[:, q:], axis=1)])

    def _known_near(self, low, high):
        """Return what balls and reaches say of cells (m,), and how far (m, K) what is not known is from components."""
        found, q = np.full(len(low), math.inf), low.shape[1] - 2
        s_low, s_high = np.exp(low[:, q + 1]), np.exp(high[:, q + 1])
        within = np.array([reach.within(low[:, q + 1], high[:, q + 1]) for reach in self.reaches]).T
        for k, (place, ball) in enumerate(zip(self.place, self.balls, strict=True)):
            away = np.maximum(np.abs(low[:, : q + 1] - place), np.abs(high[:, : q + 1] - place))
            away[:, q] = high[:, q] + place[q]
            # places are of coordinates that may be long beside their differences
            away = np.sqrt(np.square(away).sum(axis=1)) * (1 + 1e-12) + 16 * ROUND * self.frame.diameter
            found = np.minimum(found, ball.said_of(away, s_low, s_high))
            near = (away <= within[:, k]) | ball.holds(away, s_low, s_high)
            found = np.where(near, np.minimum(found, self.enough), found)
        return found, within * (1 - 1e-12)

    def _take(self, low, high, scales, which, parents=math.inf):
        """Bound cells by what is near, by tables, and what is then left sample by sample; keep them."""
        bounds, within = self._known_near(low, high)
        bounds = np.minimum(parents, bounds)
        asked = np.flatnonzero(bounds > self.enough)
        if len(asked):
            a, b = low[asked], high[asked]
            for i in asked:
                which[i] = self.tables.of_range(low[i, -1], high[i, -1], which[i] if which[i] >= 0 else None)
            values, *known = self.tables.bound(a[:, :-1], b[:, :-1], which[asked], within[asked])
            bounds[asked] = values = np.minimum(bounds[asked], values)
            left = np.flatnonzero(values > self.enough)
            bounds[asked[left]] = np.minimum(bounds[asked[left]], self._by_samples(
                a[left], b[left], scales, asked[left], bounds[asked[left]], [one[left] for one in known],
            ))  # fmt: skip
        for i in range(len(low)):
            heapq.heappush(self.heap, (-bounds[i], self.n_cells, low[i], high[i], scales[i], which[i]))
            self.n_cells += 1

    def _by_samples(self, low, high, scales, at, bounds, known):
        """
        Return bounds (m,) of cells, small ones by their corners and others by all samples.

        Parameters
        ----------
        low, high : ndarray, shape (m, q + 2)
        scales : ndarray, shape (n,)
            IN/OUT. Logarithms of scales of all cells, of which these are those at `at` (m,).
        bounds : ndarray, shape (m,)
            That are known.
        known : sequence of ndarrays (m, K, L)
            What tables say of clusters.
        """
        values = np.full(len(low), math.inf)
        raised = self.corners.raises(low, high)
        most = raised.max(axis=1)
        rest = np.flatnonzero(most > RAISED)
        if len(rest):
            values[rest], scales[at[rest]] = self.cells_at.bound(
                low[rest, :-1], high[rest, :-1], np.column_stack([low[rest, -1], high[rest, -1]]), scales[at[rest]],
                enough=self.enough, tables=(SCALES, *(one[rest] for one in known)), known=bounds[rest],
            )  # fmt: skip
        left = np.flatnonzero((values > self.enough) & (most <= self.roomy))
        if len(left) and self.n_cells >= ROOMY_FROM:
            values[left[self.corners.close(low[left], high[left])]] = self.enough
        small = np.flatnonzero((values > self.enough) & (most <= RAISED))
        if len(small):
            values[small] = self.corners.bound(low[small], high[small], raised[small], scales[at[small]])
        return values

    def _side(self, low, high):
        """Return which side of a cell to divide: the widest, for a component's samples."""
        sides = high - low
        sides[:-1] *= math.exp(0.25 * (low[-1] + high[-1]))
        sides[-1] *= math.sqrt(0.5 * self.n_columns)
        return np.argmax(sides)

    def _step_cells(self, deadline):
        """Divide the cells of the largest bounds."""
        for _ in range(BATCHES):
            low, high, scales, which, parents = [], [], [], [], []
            while self.heap and len(low) < BATCH and -self.heap[0][0] > self.enough:
                bound, _, a, b, scale, table = heapq.heappop(self.heap)
                j = self._side(a, b)
                middle = 0.5 * (a[j] + b[j])
                if not a[j] < middle < b[j]:
                    self.closed, self.is_confining = max(self.closed, -bound), False
                    continue
                left, right = b.copy(), a.copy()
                left[j] = right[j] = middle
                low += [a, right]
                high += [left, b]
                scales += [scale, scale]
                which += [table, table]
                parents += [-bound, -bound]
            if low:
                # children of a cell are in it
                self._take(np.array(low), np.array(high), np.array(scales), np.array(which), np.array(parents))
            self._count()
            if not low and self.is_confining and self.lower < self.limit:
                self.phase, self.work = "confined", self._prices_of_confined()
                return True
            if not low or self.n_cells > MOST_CELLS or self.lower >= self.limit or self._is_at_prices():
                return False
            if self.n_cells > self.mark[0]:
                missing = self.supremum - self.target
                if missing > SLOW * self.mark[1]:
                    return False
                self.mark = 2 * self.n_cells, missing
            if time.monotonic() > deadline:
                break
        return True

    def _is_at_prices(self):
        """Return whether these prices leave most of what is open, however small cells become."""
        if self.is_confining:
            return False
        K = self.n_components
        lost = self.limit - self.total + K * self.target
        return math.isfinite(lost) and K * (self.supremum - self.target) < OF_PRICES * lost

    def _count(self):
        """Raise the lower bound to what the suprema prove."""
        self.supremum = max(self.closed, -self.heap[0][0] if self.heap else -math.inf)
        self._prove(self.total, self.supremum)

    def _prove(self, total, supremum, confined=None):
        """Raise the lower bound to what prices of that sum prove, those of confined components or of the cells."""
        lower = less(total, self.n_components * max(0.0, supremum))
        if self.record is not None and lower > self.record.lower:
            first = self._stage(self.prices, *zip(*((ball.mean, ball.precision) for ball in self.balls), strict=True))
            second = () if confined is None else (self._stage(confined, self.atoms.means, self.atoms.precisions),)
            self.record.keep(lower, supremum, first, *second)
        self.lower = max(self.lower, min(lower, self.limit))

    def _stage(self, prices, means, precisions):
        """Return, for a proof, prices, means and precisions as the family has them."""
        each = 0.5 * self.n_columns * math.log(2 * math.pi) * self.free
        return prices + each, self.frame.means_of(np.array(means)), np.array(precisions)

    def _prices_of_confined(self):
        """Go on with prices that lose less, as every component of a better solution is in a ball, and yield often."""
        self.confined = Confined(self.frame, self.atoms, self.balls, self.threads)
        for found in self.confined.prices():
            if found is not None:
                prices, supremum = found
                self._prove(self._total_of(prices), supremum, prices)
            yield

    def _step_confined(self, deadline):
        """Go through prices that lose less, until the deadline."""
        for _ in self.work:
            if self.lower >= self.limit:
                return False
            if time.monotonic() > deadline:
                return True
        if self.is_last or self.limit - self.lower <= LOSS * self.total_weight:
            return False
        # balls were too small: what these prices lose would be lost
        self.phase, self.work = "begin", self._begin((0.0,))
        return True


def has_few(family):
    """Return whether there are so few samples that prices of all of them are as soon found as cells."""
    return family.data.n_samples < (FEW_FREE if isinstance(family, NormalFamily) else FEW)


def has_hull(family):
    """Whether the bound is for this family: spherical components of known or free variance, without a prior."""
    if isinstance(family, NormalFamily):
        known = family.n_groups == 1 and family.n_columns > 1 and not family.per_column
    else:
        known = isinstance(family, GaussianFamily) and not family.n_ranges and not family.has_prior
    if not known or family.data.is_summary or not 2 <= family.n_components <= MOST_COMPONENTS:
        return False
    if has_few(family) and 2 * (family.n_components - 1) > family.n_columns:  # cells of all columns are no worse
        return False
    return family.data.n_samples >= FEWEST and FEWEST_COLUMNS <= family.n_columns <= MOST_COLUMNS
