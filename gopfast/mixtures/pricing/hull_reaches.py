"""
How far from the incumbent's components nothing saves more than these do, in any direction.

Around a component cells have two coordinates, the distance from it and the precision's logarithm. Ranges of the latter
are followed outwards, shell by shell, as long as a shell's bound is below what the components are known to save.

Theory: (YN2) of docs/theory/near.md.
"""

import numpy as np

from gopfast.mixtures.pricing.hull_cells import MEAN, HullCells
from gopfast.mixtures.pricing.hull_corners import Corners
from gopfast.mixtures.pricing.hull_drafts import Drafted, DraftedShells, with_draft
from gopfast.mixtures.pricing.hull_shells import Shells
from gopfast.mixtures.pricing.tuning import (
    HULL_PART_OF_THE_WAY as PART_OF_THE_WAY,
    HULL_RAISED as RAISED,
    REACH_NEEDED,
    REACH_RANGE,
    REACH_STEP,
    REACH_THINNEST,
    SKIP_BALLS,
    SKIP_CELLS,
)
from gopfast.roundoff import ROUND


class Reach:
    """
    Of one component: ranges of the precision's logarithm, and how far nothing saves more than is known.

    Parameters
    ----------
    samples : ndarray, shape (d, n)
        In a frame.
    weights, prices : ndarray, shape (n,)
        Prices raised by the rounding of coordinates.
    labels : ndarray of int, shape (n,)
        K where a sample is of no cluster.
    centers, moments : ndarray, shape (K, d) and (K, 10)
        Of the clusters.
    ball : Ball
        Around the component.
    nearest : float
        Distance of the nearest other component.
    least : float
        Logarithm of the least precision; 0 is that of the largest.
    diameter : float
        Of the samples.
    enough : float
        What shells are asked to save at most.
    threads : int

    Attributes
    ----------
    low, high : ndarray, shape (m,)
        Ends of the ranges.
    radii : ndarray, shape (m,)
        Components of that precision within this distance save no more than `enough`, or are within the ball's
        inner radius.
    n_terms : int
    """

    def __init__(self, samples, weights, prices, labels, centers, moments, ball, nearest, least, diameter, enough,
                 threads=1):  # fmt: skip
        d = len(samples)
        self.ball, self.enough, self.n_columns = ball, enough, d
        z = samples - ball.mean[:, None]
        order = np.lexsort((np.square(z).sum(axis=0), labels))
        away = np.linalg.norm(centers - ball.mean, axis=1)[:, None]
        # what differences and distances are off by, of samples and of centers; no precision is above 1
        more = 16 * (d + 8) * ROUND * diameter * diameter
        moments = moments.copy()
        moments[:, MEAN] += more

        def cells(at, some):
            made = HullCells(np.zeros((0, len(at))), z[:, at], some, labels[at], away, d * ball.free,
                             n_threads=threads, skip=SKIP_CELLS)  # fmt: skip
            made.set_prices(prices[at] + more, moments)
            return made

        def shells(at, some):
            return Shells(z[:, at], some, prices[at] + more, n_threads=threads, skip=SKIP_BALLS)

        self.cells = Drafted(*with_draft(cells, order, weights, labels, d))
        self.shells = DraftedShells(*with_draft(shells, order, weights, labels, d))
        self.corners = Corners(self.cells, d, ball.free, enough)
        n = max(1, int(np.ceil(-least / REACH_RANGE)))
        ends = np.linspace(least, 0.0, n + 1)
        self.low, self.high = ends[:-1].copy(), ends[1:].copy()
        size = 1.0 / np.sqrt(ball.precision)
        widest = np.maximum(size, np.exp(-0.5 * self.low))
        self.most = np.minimum(PART_OF_THE_WAY * nearest, REACH_NEEDED * widest)
        self.radii, self.steps, self.todo = np.zeros(n), np.full(n, REACH_STEP * size), np.arange(n)

    @property
    def n_terms(self):
        """Samples that were looked at so far."""
        return self.cells.n_terms + self.shells.n_terms

    def grow(self):
        """Bound one more shell of each range that has not ended; return whether there are more."""
        at = self.todo
        if not len(at):
            return False
        outer = np.minimum(self.radii[at] + self.steps[at], self.most[at])
        low, high = np.column_stack([self.radii[at], self.low[at]]), np.column_stack([outer, self.high[at]])
        closed = self._is_closed(low, high)
        done = at[closed]
        self.radii[done] = outer[closed]
        self.steps[done] *= 1.5
        ended = self.radii[at] >= self.most[at]
        # of others the longer side is halved
        along = (high[:, 0] - low[:, 0]) * np.exp(0.25 * (low[:, 1] + high[:, 1]))
        across = (high[:, 1] - low[:, 1]) * np.sqrt(0.5 * self.n_columns) * self.ball.free
        ended |= ~closed & (np.maximum(along, across) < REACH_THINNEST)
        shorter = at[~closed & (along >= across)]
        self.steps[shorter] = 0.5 * np.minimum(self.steps[shorter], self.most[shorter] - self.radii[shorter])
        halved = at[~closed & (along < across) & ~ended]
        middle = 0.5 * (self.low[halved] + self.high[halved])
        n = len(self.low)
        self.high = np.append(self.high, self.high[halved])
        self.high[halved] = middle
        self.low = np.append(self.low, middle)
        self.most, self.radii, self.steps = (
            np.append(row, row[halved]) for row in (self.most, self.radii, self.steps)
        )  # fmt: skip
        self.todo = np.append(at[~ended], n + np.arange(len(halved)))
        return True

    def _is_closed(self, low, high):
        """Return of cells (m, 2) whether nothing in them saves more than enough."""
        closed = self.ball.holds(high[:, 0], np.exp(low[:, 1]), np.exp(high[:, 1]))
        asked = np.flatnonzero(~closed)
        if len(asked):
            a, b = low[asked], high[asked]
            logs = np.column_stack([a[:, 1], b[:, 1]])
            values, scales = self.cells.bound(a[:, :1], b[:, :1], logs, np.zeros(len(asked)), enough=self.enough)
            raised = self.corners.raises(a, b)
            small = np.flatnonzero((values > self.enough) & (raised.max(axis=1) <= RAISED))
            if len(small):
                told = self.corners.bound(a[small], b[small], raised[small], scales[small])
                values[small] = np.minimum(values[small], told)
            left = np.flatnonzero(values > self.enough)
            if len(left):
                values[left] = np.minimum(values[left], self._by_shells(a[left], b[left], scales[left]))
            closed[asked] = values <= self.enough
        return closed

    def _by_shells(self, low, high, scales):
        """Return bounds of cells (m, 2) by shells at both ends of the precisions' ranges."""
        most = np.full(len(low), -np.inf)
        for logs, more in zip((low[:, 1], high[:, 1]), self._raises(low[:, 1], high[:, 1]), strict=True):
            asked = np.flatnonzero(most <= self.enough)
            values, _ = self.shells.bound(low[asked, 0], high[asked, 0], scales[asked], more[asked], self.enough,
                                          np.exp(logs[asked]))  # fmt: skip
            most[asked] = np.maximum(most[asked], values)
        return np.where(most <= self.enough, most, np.inf)

    def _raises(self, low, high):
        """Return what prices are raised by (2, m) at both ends of ranges of log s, with (d / 2) log s."""
        ends = np.array([low, high])
        if not self.ball.free:
            return np.zeros(ends.shape)
        wide = np.maximum(high - low, 1e-12)
        away = ends - (low + np.log(np.expm1(wide) / wide))
        half = 0.5 * self.n_columns
        more = np.maximum(0.0, np.expm1(away) - away) * (1 + 1e-9) + 1e-12 * (1.0 + np.abs(ends))
        return half * (ends + more)

    def within(self, low, high):
        """Return the radius (m,) for ranges of the precision's logarithm, (m,) each."""
        touched = (self.low < high[:, None]) & (self.high > low[:, None])
        touched |= (self.low <= low[:, None]) & (self.high >= high[:, None])  # ranges of one point
        return np.where(touched.any(axis=1), np.where(touched, self.radii, np.inf).min(axis=1), 0.0)
