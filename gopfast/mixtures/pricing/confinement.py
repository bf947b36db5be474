"""
Where the components of all better solutions lie: one in each cell of a box around the incumbent.

Prices at the root leave cells of one component, in groups that do not touch, most of them around a component of the
incumbent. Without any component in one of these groups a mixture costs more than the limit, as other prices show, so
that each of K groups holds exactly one. With one supremum for each group, prices then show the same of solutions whose
component lies in its group but not in its cell of the incumbent's box (`neighbourhood`): about 2 K questions, each
about one component's cells, whatever the number of ways to put K components into these.

Theory: (C5), (C6) and (C7) of docs/theory/cells.md.
"""

import math
import time

import numpy as np

from gopfast.mixtures.pricing.margins import CONFINEMENT_SUMMING as SUMMING
from gopfast.mixtures.pricing.master import Master
from gopfast.mixtures.pricing.pricing import ComponentPricing
from gopfast.mixtures.pricing.pricing_root import pick
from gopfast.mixtures.pricing.tuning import (
    ALONE,
    CELLS_AT_ONCE,
    CONFINEMENT_IDLE as IDLE,
    CONFINEMENT_MOST_ADDED as MOST_ADDED,
    CONFINEMENT_MOST_CELLS as MOST_CELLS,
    CONFINEMENT_N_ROUNDS as N_ROUNDS,
    FIRST,
    LEAST_LOSS,
    LOSS,
    MOST_GROUPED,
    NEAR,
    NEAR_LOSS,
    PAIRS,
    SHARE,
    WITHIN,
    WORTH,
)
from gopfast.search.meter import Meter


class Confinement:
    """
    Questions to prices, one after the other.

    Parameters
    ----------
    bound : PricingBound
        All components of solutions below its limit lie in its cells.
    solution : ndarray
        The incumbent, as the primal keeps it.
    box : callable (Meter) -> object or None
        The incumbent's box: `low` and `high`, (K n,) each, and `lower`, a bound of the objective there. What looking
        for it takes is counted by the meter.
    meter : Meter, optional
        Where to count what the questions take.

    Attributes
    ----------
    lower : float
        What is proved of all solutions below the limit; -inf until the last component is confined.
    cells : tuple of ndarray or None
        As of `Learner`: what is left of the bound's, once no more is asked.
    """

    def __init__(self, bound, solution, box, meter=None):
        self.meter, self.cells = Meter() if meter is None else meter, None
        self.bound, self.K, self.make_box, self.lower = bound, bound.n_components, box, -math.inf
        self.groups, self.needed, self.free = None, 0, []
        points = np.reshape(solution[self.K : -1], (self.K, -1))
        cells = bound.cells
        if len(cells[2]) > MOST_GROUPED:
            return
        of = touching(*cells[:2])
        own = [home(point, of, *cells[:2]) for point in points]
        if None in own or len(set(own)) < self.K:
            return
        self.groups = [tuple(side[of == group] for side in cells) for group in own]
        self.others = tuple(side[~np.isin(of, own)] for side in cells)
        self.pricing = ComponentPricing(bound.one, n_threads=bound.threads)
        self.root = bound.prices
        self.master = Master(bound.weights, self.root, self.pricing)

    @property
    def n_passes(self):
        """Data passes of one component."""
        return 0 if self.groups is None else self.pricing.n_passes

    def step(self, deadline):
        """Ask the next question; whether there are more. One that time was too short for is asked again."""
        if self.groups is None:
            return False
        before, terms = (self.needed, list(self.free)), self.pricing.n_terms
        with self.meter:
            more = self._ask(deadline)
        self.meter.count(terms=self.pricing.n_terms - terms)
        if not more and self.lower == -math.inf and time.monotonic() > deadline:
            self.needed, self.free = before
            return True
        return more

    def _ask(self, deadline):
        if self.needed < self.K:
            self.needed += 1
            return self._needs(self.needed - 1, deadline) and (self.needed < self.K or self._begin())
        k, whole = self.free.pop(0)
        if not whole and len(self.free) >= WORTH * self.K:
            self.free.append((k, False))
            return self._end(False)
        clipped = self._clip(k, whole, deadline)
        if not self._is_confined(k):
            self.free.append((k, False))
        self.vain = 0 if clipped else self.vain + 1
        if self.vain > len(self.free):  # twice the same questions
            return self._end(False)
        return bool(self.free) or self._end(True)

    def _begin(self):
        """No group is empty: whether there is a box to confine their components to."""
        box = self.make_box(self.meter)
        if box is None:
            return self._end(False)
        low, high = (np.reshape(side, (self.K, -1)) for side in (box.low, box.high))
        # the box has the order of the tree's components
        at = [np.flatnonzero([meets(low[i], high[i], *group[:2]) for i in range(self.K)]) for group in self.groups]
        if any(len(found) != 1 for found in at) or len({int(found[0]) for found in at}) < self.K:
            return self._end(False)
        self.box, self.of_box = [(low[found[0]], high[found[0]]) for found in at], box.lower
        self.free, self.vain = [(k, True) for k in range(self.K)], 0
        return True

    def _end(self, confined):
        """Leave the cells in which all components of solutions below the limit lie; no more questions."""
        if confined:
            self.lower = min(self.bound.limit, self.of_box)
        closed = self.lower >= self.bound.limit  # then there are no such solutions
        left = [tuple(side[:0] for side in group) for group in self.groups] if closed else self.groups
        self.cells = tuple(np.concatenate(sides) for sides in zip(*left, strict=True))
        return False

    def _needs(self, k, deadline):
        """Whether no solution below the limit does without a component in group k."""
        left = [group for j, group in enumerate(self.groups) if j != k] + [self.others]
        cells = tuple(np.concatenate(sides) for sides in zip(*left, strict=True))
        return self._closed([cells], [self.K], deadline)

    def _is_confined(self, k):
        """Whether group k lies in the box."""
        low, high, _ = self.groups[k]
        return bool((low >= self.box[k][0]).all() and (high <= self.box[k][1]).all())

    def _clip(self, k, whole, deadline):
        """Whether parts of group k outside the box are closed: all at once, or side by side; they are cut off."""
        least, most = self.box[k]
        if whole:
            sides = [(least, most)]
        else:
            ends = np.full(least.shape, -math.inf), np.full(most.shape, math.inf)
            sides = [moved(ends, end, j, (least, most)[end][j]) for j in range(len(least)) for end in range(2)]
        clipped = False
        for side in sides:
            outside = without(*self.groups[k], *side)
            if not len(outside[0]) and not whole:
                continue
            classes = [outside if j == k else group for j, group in enumerate(self.groups)]
            if self._closed(classes, [1] * self.K, deadline):
                self.groups[k], clipped = within(*self.groups[k], *side), True
        return clipped

    def _closed(self, classes, counts, deadline):
        """Whether mixtures of so many components in each of the classes of cells cost at least the limit."""
        if any(not len(cells[0]) for cells in classes):
            return True
        near, counts = len(classes) > 1, np.array(counts, dtype=float)
        points, of = self._atoms(classes, near)
        loss, weight = (NEAR_LOSS, NEAR) if near else (LOSS, FIRST)
        for _ in range(N_ROUNDS):
            last = loss / 3 / len(points)
            prices, sigma, z = self.master.solve(self.root, points, of, counts, last, max(last, weight), deadline)
            spare = self._spare(prices, counts, sigma)
            if not spare > 0.0:
                return False
            new, their = self._exceeding(prices, classes, sigma + loss / self.K)
            if not len(new) or loss < 0.5 * spare:
                proved, more, of_class = self._prove(prices, classes, counts, sigma, spare, deadline)
                if proved:
                    return True
                new, their = np.concatenate([new, more]), np.concatenate([their, of_class])
                if not len(new):
                    return False
            used = z > IDLE
            points, of = np.concatenate([points[used], new]), np.concatenate([of[used], their])
            loss = max(LEAST_LOSS, min(loss, SHARE * spare))
        return False

    def _spare(self, prices, counts, suprema):
        """How far above the limit suprema of the classes leave mixtures, rounded down."""
        total, limit = self.bound.total_at(prices), self.bound.limit
        return total - limit - counts @ suprema - SUMMING * (abs(total) + abs(limit) + counts @ np.abs(suprema))

    def _atoms(self, classes, near):
        """Atoms of the root's prices in the classes and, near these prices, the best middles of cells."""
        points, of = [], []
        for j, (low, high, _) in enumerate(classes):
            held = self.bound.points[[home(point, np.zeros(len(low)), low, high) == 0 for point in self.bound.points]]
            held = held if len(held) else 0.5 * (low[:1] + high[:1])
            if near:
                best = self.pricing.values(self.root, held).max()
                held = np.concatenate([held, self._pick(self.root, 0.5 * (low + high), best - ALONE)])
            points.append(held)
            of.append(np.full(len(held), j))
        return np.concatenate(points), np.concatenate(of)

    def _pick(self, prices, points, least):
        """Of given parameters those of values above `least` whose columns differ."""
        return pick(self.pricing, prices, self.pricing.values(prices, points), points, least, MOST_ADDED)

    def _exceeding(self, prices, classes, levels):
        """Middles of cells that save more than their class's level, the most unlike ones, and their classes."""
        found = [self._pick(prices, 0.5 * (c[0] + c[1]), level) for c, level in zip(classes, levels, strict=True)]
        return np.concatenate(found), np.repeat(np.arange(len(classes)), [len(points) for points in found])

    def _prove(self, prices, classes, counts, sigma, spare, deadline):
        """Bound the suprema; whether they are low enough, else points that save more than was thought, if any."""
        targets, found, proved = sigma + WITHIN * spare / self.K, [], True
        for j, (low, high, _) in enumerate(classes):
            self.pricing.set_prices(prices)
            self.pricing.open_boxes(low, high)
            end, at_once, reason, new = self.pricing.n_cells + MOST_CELLS, CELLS_AT_ONCE + len(low), "cells", low[:0]
            while reason == "cells" and not len(new) and self.pricing.n_cells < end:
                # at a limit of 0 and one component: down to the target
                reason = self.pricing.search(targets[j], 0.0, 1, -math.inf, math.inf, at_once, deadline)
                if reason != "proved":
                    new = self._pick(prices, self.pricing.cells()[3], sigma[j] + SHARE * spare / self.K)
            proved = proved and reason == "proved"
            found.append(new)
        of = np.repeat(np.arange(len(classes)), [len(points) for points in found])
        return proved and self._spare(prices, counts, targets) >= 0.0, np.concatenate(found), of


def moved(box, end, j, value):
    """Return a copy of a box with one side moved."""
    sides = [side.copy() for side in box]
    sides[end][j] = value
    return tuple(sides)


def touching(low, high):
    """Return for cells (m, n), (m, n) the number of the group that they belong to, of cells that touch (m,)."""
    # Here and not above: few searches ask, and the first solve of a process should not wait for it.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    m = len(low)
    # along one column only the next ones in its order can touch a cell: the column that leaves fewest
    orders = np.argsort(low, axis=0, kind="stable")
    ends = [np.searchsorted(low[order, j], high[order, j], side="right") for j, order in enumerate(orders.T)]
    column = int(np.argmin([end.sum() for end in ends]))
    order, end = orders[:, column], ends[column]
    low, high, of = low[order], high[order], np.arange(m)
    number_of_next = end - np.arange(m)
    parts = np.searchsorted(np.cumsum(number_of_next), np.arange(0, number_of_next.sum() + PAIRS, PAIRS), side="right")
    for begin, stop in zip(parts[:-1], parts[1:], strict=True):
        each = number_of_next[begin:stop]
        one = np.repeat(np.arange(begin, stop), each)
        other = one + np.arange(len(one)) - np.repeat(np.cumsum(each) - each, each)
        for j in range(low.shape[1]):
            near = (low[other, j] <= high[one, j]) & (high[other, j] >= low[one, j])
            one, other = one[near], other[near]
        edges = np.append(np.arange(m), one), np.append(of, other)
        _, part = connected_components(coo_array((np.ones(len(edges[0]), bool), edges), (m, m)), directed=False)
        of = np.unique(part, return_index=True)[1][part]  # a cell of each part
    found = np.empty(m, dtype=int)
    found[order] = of
    # numbered by their first cells
    _, first, number = np.unique(found, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[number]


def home(point, of, low, high):
    """Return the group of the cells (m, n), (m, n) that hold a point, or None."""
    held = ((low <= point) & (point <= high)).all(axis=1)
    return of[np.argmax(held)] if held.any() else None


def meets(least, most, low, high):
    """Whether a box (n,), (n,) meets any of the cells (m, n), (m, n)."""
    return bool(((low <= most) & (high >= least)).all(axis=1).any())


def within(low, high, upper, least, most):
    """Return the parts of cells (m, n), (m, n) with bounds (m,) within a box (n,), (n,)."""
    low, high = np.maximum(low, least), np.minimum(high, most)
    held = (low <= high).all(axis=1)
    return low[held], high[held], upper[held]


def without(low, high, upper, least, most):
    """Return the parts outside it, as closed cells."""
    found = []
    for j in range(low.shape[1]):
        below, above = low[:, j] < least[j], high[:, j] > most[j]
        cut = high[below].copy()
        cut[:, j] = np.minimum(cut[:, j], least[j])
        found.append((low[below], cut, upper[below]))
        cut = low[above].copy()
        cut[:, j] = np.maximum(cut[:, j], most[j])
        found.append((cut, high[above], upper[above]))
        low, high = low.copy(), high.copy()
        low[:, j], high[:, j] = np.maximum(low[:, j], least[j]), np.minimum(high[:, j], most[j])
        held = low[:, j] <= high[:, j]
        low, high, upper = low[held], high[held], upper[held]
    return tuple(np.concatenate(sides) for sides in zip(*found, strict=True))
