"""
The pricing bound of spherical components in many columns: a search in the affine hull of the incumbent's means.

Whatever the number of columns is, the distance of a sample from a component follows from K - 1 coordinates along the
hull, the distances of both from it, and one angle, which `hull_cells` bounds over all angles at once. A free variance
is one coordinate more. Around every component of the incumbent there is a ball, in one coordinate, the distance from
it; cells in a ball have its bound.

Theory: (Y4), (Y5) and (Y7) of docs/theory/hull.md.
"""

import heapq
import math
import time

import numpy as np

from gopfast.mixtures.families.gaussian import GaussianFamily
from gopfast.mixtures.families.normal import NormalFamily
from gopfast.mixtures.learning.learner import Learner, end_of_step
from gopfast.mixtures.pricing.hull_atoms import Atoms
from gopfast.mixtures.pricing.hull_balls import Ball
from gopfast.mixtures.pricing.hull_cells import HullCells
from gopfast.mixtures.pricing.hull_frame import Frame, moments_of
from gopfast.mixtures.pricing.hull_tables import SCALES, Tables
from gopfast.mixtures.pricing.pricing_root import less, total_of
from gopfast.mixtures.pricing.tuning import (
    FEWEST_COLUMNS,
    FEWEST_FREE,
    HULL_BATCH as BATCH,
    HULL_BATCHES as BATCHES,
    HULL_FEWEST as FEWEST,
    HULL_MOST_CELLS as MOST_CELLS,
    HULL_MOST_COLUMNS as MOST_COLUMNS,
    HULL_OF_MOMENTS as OF_MOMENTS,
    HULL_OF_PRICES as OF_PRICES,
    HULL_PATIENCE as PATIENCE,
    HULL_SLOW as SLOW,
    HULL_TOLERANCE as TOLERANCE,
    MOST_COMPONENTS,
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

    Attributes
    ----------
    lower : float
        Proved, in nats.
    """

    def __init__(self, family, solution, limit, threads=1):
        self.family, self.limit, self.threads, self.lower = family, limit, threads, -math.inf
        K = family.n_components
        self.n_components, self.solution = K, np.array(solution)
        self.free = isinstance(family, NormalFamily)
        self.columns, self.weights = family.data.arrays()
        self.total_weight = math.fsum(self.weights)
        self.n_columns = len(self.columns)
        self.phase, self.balls, self.atoms, self.cells_at, self.tables = "begin", [], None, None, None
        self.work = self._begin()

    @property
    def n_terms(self):
        """Samples that were looked at so far, each in one component."""
        parts = [part for part in (self.atoms, self.cells_at, self.tables, *self.balls) if part is not None]
        return sum(part.n_terms for part in parts)

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
        return True

    def _begin(self):
        """Find the frame, prices and balls, and yield after every part of the work."""
        K, w, d = self.n_components, self.weights, self.n_columns
        used = self.solution[:K] > 0.0
        cells = self.solution[K:-1].reshape(K, -1)[used]
        precisions = 1.0 / np.maximum(1.0, cells[:, d]) if self.free else np.ones(len(cells))
        self.frame = frame = Frame(self.columns, cells[:, :d])
        self.atoms = atoms = Atoms(frame.samples, w, self.solution[:K][used], frame.means, precisions, self.free)
        yield
        yield from atoms.price_well()
        self.prices, self.labels, self.attained = atoms.prices, atoms.labels, atoms.values.max()
        self.total = total_of(w, self.prices, self.family.constant) - self.family.constant_error
        if self.free:
            each = 0.5 * d * math.log(2 * math.pi) * self.total_weight
            self.total = less(self.total, -each * (1 - 16 * ROUND))
        self.raised = self.prices + frame.rounding(np.abs(self.prices).max(), 1.0)
        yield
        for k in range(len(atoms.means)):
            enough = self.attained + TOLERANCE * self.total_weight
            ball = Ball(frame.samples, w, self.raised, self.labels, len(atoms.means), atoms.means[k],
                        atoms.precisions[k], self.free, enough, math.log(atoms.masses[k] / self.total_weight),
                        self.threads)  # fmt: skip
            self.balls.append(ball)
            yield
            while ball.grow():
                yield
        yield from self._begin_cells()

    def _begin_cells(self):
        """Begin with the box of all samples."""
        frame, atoms, w = self.frame, self.atoms, self.weights
        q, z, reach = frame.n_along, frame.samples, frame.diameter
        made = []
        for k, precision in enumerate(atoms.precisions):
            own = self.labels == k
            made.append(moments_of(z[:, own], w[own], self.raised[own], precision, reach))
            yield
        centers = np.array([one[0] for one in made])
        order = frame.order(self.labels)
        yield
        along, across = z[:q][:, order], z[q:][:, order]
        self.cells_at = HullCells(along, across, w[order], self.labels[order], self._places(centers),
                                  self.n_columns * self.free, n_threads=self.threads, skip=SKIP_CELLS)  # fmt: skip
        self.cells_at.set_prices(self.raised[order], np.array([one[1] for one in made]))
        self.place = self._places(atoms.means)
        yield
        self.tables = Tables(z, w, self.raised, self.labels, atoms.nearest, atoms.means, atoms.precisions, self.place,
                             self.free, reach, self.threads)  # fmt: skip
        yield
        far = np.sqrt(np.square(across).sum(axis=0)).max() * (1 + 1e-12) if len(across) else 0.0
        low, high = np.append(along.min(axis=1), 0.0), np.append(along.max(axis=1), far)
        # of precisions by their logarithm: none is above the floor's, and no variance above half the range squared
        sides = 0.5 * (self.columns.max(axis=1) - self.columns.min(axis=1))
        least = -math.log(max(1.0, np.square(sides).mean() * (1 + 1e-9))) if self.free else 0.0
        low, high = np.append(low, least), np.append(high, 0.0)
        self.heap, self.n_cells, self.closed = [], 0, -math.inf
        self.target, self.mark = max(ball.bounds[0] for ball in self.balls), (PATIENCE, math.inf)
        self._take(low[None], high[None], np.zeros(1), np.zeros(1, int))

    def _places(self, points):
        """Return coordinates (m, q + 1) of points (m, d): along, and the distance from the axes."""
        q = self.frame.n_along
        return np.column_stack([points[:, :q], np.linalg.norm(points[:, q:], axis=1)])

    def _ball_bounds(self, low, high):
        """Return what balls say of cells."""
        found = np.full(len(low), math.inf)
        q = low.shape[1] - 2
        s_low, s_high = np.exp(low[:, q + 1]), np.exp(high[:, q + 1])
        for place, ball in zip(self.place, self.balls, strict=True):
            away = np.maximum(np.abs(low[:, : q + 1] - place), np.abs(high[:, : q + 1] - place))
            away[:, q] = high[:, q] + place[q]
            away = np.sqrt(np.square(away).sum(axis=1)) * (1 + 1e-12)
            found = np.minimum(found, ball.said_of(away, s_low, s_high))
        return found

    def _take(self, low, high, scales, which):
        """Bound cells by balls, by tables, and what is then left sample by sample; keep them."""
        bounds = self._ball_bounds(low, high)
        asked = np.flatnonzero(bounds > self.target)
        if len(asked):
            a, b = low[asked], high[asked]
            for i in asked:
                which[i] = self.tables.of_range(low[i, -1], high[i, -1], which[i])
            values, *known = self.tables.bound(a[:, :-1], b[:, :-1], which[asked])
            bounds[asked] = values = np.minimum(bounds[asked], values)
            left = values > self.target
            asked, a, b = asked[left], a[left], b[left]
        if len(asked):
            logs = np.column_stack([a[:, -1], b[:, -1]])
            values, scales[asked] = self.cells_at.bound(a[:, :-1], b[:, :-1], logs, scales[asked], enough=self.target,
                                                        tables=(SCALES, *(one[left] for one in known)))  # fmt: skip
            bounds[asked] = np.minimum(bounds[asked], values)
        for i in range(len(low)):
            heapq.heappush(self.heap, (-bounds[i], self.n_cells, low[i], high[i], scales[i], which[i]))
            self.n_cells += 1

    def _side(self, low, high):
        """Return which side of a cell to divide: the widest, for a component's samples."""
        sides = high - low
        sides[:-1] *= math.exp(0.25 * (low[-1] + high[-1]))
        sides[-1] *= math.sqrt(0.5 * self.n_columns)
        return np.argmax(sides)

    def _step_cells(self, deadline):
        """Divide the cells of the largest bounds."""
        for _ in range(BATCHES):
            tolerance = TOLERANCE * self.total_weight
            low, high, scales, which = [], [], [], []
            while self.heap and len(low) < BATCH and -self.heap[0][0] > self.target + tolerance:
                bound, _, a, b, scale, table = heapq.heappop(self.heap)
                j = self._side(a, b)
                middle = 0.5 * (a[j] + b[j])
                if not a[j] < middle < b[j]:
                    self.closed = max(self.closed, -bound)
                    continue
                left, right = b.copy(), a.copy()
                left[j] = right[j] = middle
                low += [a, right]
                high += [left, b]
                scales += [scale, scale]
                which += [table, table]
            if low:
                # children of a cell are in it
                self._take(np.array(low), np.array(high), np.array(scales), np.array(which))
            self._count()
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
        K = self.n_components
        lost = self.limit - self.total + K * self.target
        return math.isfinite(lost) and K * (self.supremum - self.target) < OF_PRICES * lost

    def _count(self):
        """Raise the lower bound to what the suprema prove."""
        self.supremum = max(self.closed, -self.heap[0][0] if self.heap else -math.inf)
        savings = self.n_components * max(0.0, self.supremum)
        self.lower = max(self.lower, min(less(self.total, savings), self.limit))


def has_hull(family):
    """Whether the bound is for this family: spherical components of known or free variance, without a prior."""
    if isinstance(family, NormalFamily):
        known, fewest = family.n_groups == 1 and family.n_columns > 1 and not family.per_column, FEWEST_FREE
    else:
        known = isinstance(family, GaussianFamily) and not family.n_ranges and not family.has_prior
        fewest = FEWEST
    if not known or family.data.is_summary or not 2 <= family.n_components <= MOST_COMPONENTS:
        return False
    return family.data.n_samples >= fewest and FEWEST_COLUMNS <= family.n_columns <= MOST_COLUMNS
