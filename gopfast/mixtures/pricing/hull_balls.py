"""
Balls around a component, of its mean and precision: one coordinate, the distance, and bounds that grow with it.

Costs are linear in a component's precision s and in s m, but for a term of all samples that is convex. In coordinates
in which that is half the squared distance, to second order, a ball is that of a known variance with one column more.

Theory: (Y4) and (Y7) of docs/theory/hull.md, (YN3) of docs/theory/near.md.
"""

import math

import numpy as np

from gopfast.mixtures.pricing.hull_atoms import features
from gopfast.mixtures.pricing.hull_cells import HullCells
from gopfast.mixtures.pricing.hull_frame import moments_of
from gopfast.mixtures.pricing.hull_shells import Shells
from gopfast.mixtures.pricing.tuning import (
    HULL_SAME as SAME,
    HULL_WORTH as WORTH,
    LEAST_RADIUS,
    MOST_RADIUS,
    N_STEPS_OF_BEND,
    OVER,
    SHELLS,
    SKIP_BALLS,
    THINNEST,
    WIDEST,
)
from gopfast.roundoff import ROUND


class Ball:
    """
    Bounds of what components save by their distance from one.

    Parameters
    ----------
    samples : ndarray, shape (d, n)
        In a frame.
    weights, prices : ndarray, shape (n,)
        Prices raised by the rounding of coordinates.
    labels : ndarray of int, shape (n,)
        K where a sample is of no cluster.
    n_clusters : int
        K.
    mean : ndarray, shape (d,)
    precision : float
    free : bool
        Whether precisions other than this one are in the ball.
    enough : float
        What a component is known to save.
    cut : float
        At most that; shells with no more than the cut are not divided.
    log_scale : float
        Where to begin; any is valid.
    threads : int

    Attributes
    ----------
    radii, bounds : ndarray
        Of components that are not further away, once it is grown.
    inner, outer : float
        Components between these radii save no more than `enough`.
    n_terms : int
    """

    def __init__(self, samples, weights, prices, labels, n_clusters, mean, precision, free, enough, cut, log_scale,
                 threads=1):  # fmt: skip
        d = len(samples)
        self.mean, self.precision, self.free, self.enough, self.cut = np.array(mean), precision, free, enough, cut
        z = features(samples - mean[:, None], precision, free)
        square = np.square(z).sum(axis=0)
        own = prices
        if free:
            distance = precision * np.square(samples - mean[:, None]).sum(axis=0)
            own = prices + 0.5 * d * math.log(precision) + 0.5 * (square - distance)
            # of what is computed here and in the kernel, of each sample
            size = np.abs(prices) + d * abs(math.log(precision)) + square + distance + MOST_RADIUS**2 + d
            own = own + 64 * (d + 8) * ROUND * size
        order = np.lexsort((square, labels))
        reach = math.sqrt(square.max()) + MOST_RADIUS
        parts = [labels == j for j in range(n_clusters)]
        made = [moments_of(z[:, at], weights[at], own[at], 1.0, reach) for at in parts]
        centers = np.array([one[0] for one in made])
        z, weights, own = z[:, order], weights[order], own[order]
        self.shells = Shells(z, weights, own, n_threads=threads, skip=SKIP_BALLS)
        away = np.linalg.norm(centers, axis=1)[:, None]
        self.cells = HullCells(np.zeros((0, len(order))), z, weights, labels[order], away, n_threads=threads,
                               skip=SKIP_BALLS)  # fmt: skip
        self.cells.set_prices(own, np.array([one[1] for one in made]))
        self.low, self.high, self.values = [], [], []
        self.reached, self.ratio, self.n_next, self.scale, self.is_closed = 0.0, WIDEST, 1, log_scale, False
        self.inside = enough    # what shells within those of the cut are to save at most

    @property
    def n_terms(self):
        """Samples that were looked at so far."""
        return self.shells.n_terms + self.cells.n_terms

    def grow(self):
        """Bound a few more shells, from the inside; return whether there are more."""
        low, high = self._next()
        values = self._bound(low, high)
        # from where no more than the cut is saved that is asked for, further inside what components save
        closed = np.logical_or.accumulate(values <= self.cut) | self.is_closed
        taken = values <= np.where(closed, self.cut, self.inside)
        n = len(taken) if taken.all() else int(taken.argmin())
        is_thin = self.ratio <= THINNEST or high[0] <= LEAST_RADIUS
        is_last = n == 0 and is_thin and ((self.is_closed and self.cut < self.enough) or values[0] > OVER * self.inside)
        if n == 0 and is_thin:
            n = 1
        self._take(low[:n], high[:n], values[:n])
        if n == len(taken):
            self.ratio, self.n_next = min(self.ratio**2, WIDEST), min(2 * self.n_next, SHELLS)
        elif n == 0:
            self.ratio = max(math.sqrt(self.ratio), THINNEST)
            self.n_next = 1
        else:
            self.n_next = 1
        if is_last or self.reached >= MOST_RADIUS:
            self._finish()
            return False
        return True

    def _next(self):
        """Return the ends of the shells that follow."""
        if self.reached == 0.0:
            return np.zeros(1), np.array([LEAST_RADIUS])
        ends = np.minimum(self.reached * self.ratio ** np.arange(self.n_next + 1), MOST_RADIUS)
        ends = ends[: 1 + int((ends < MOST_RADIUS).sum())]
        return ends[:-1], ends[1:]

    def _bound(self, low, high):
        """Return bounds of shells."""
        raised = bends(high, len(self.mean)) if self.free else np.zeros(len(low))
        values, scales = self.shells.bound(low, high, np.full(len(low), self.scale), raised, self.cut)
        left = np.flatnonzero(values > self.cut)
        if len(left):
            more = raised[left]
            told, _ = self.cells.bound(low[left][:, None], high[left][:, None], np.zeros((len(left), 2)), scales[left],
                                       self.cut, raised=more)  # fmt: skip
            values[left] = np.minimum(values[left], told)
        self.scale = scales[0]
        return values

    def _take(self, low, high, values):
        """Keep shells, which follow those that there are."""
        if not self.low:
            self.inside = max(self.inside, values[0] * (1 + SAME))
        self.low += list(low)
        self.high += list(high)
        self.values += list(values)
        self.is_closed |= bool((values <= self.cut).any())
        if len(high):
            self.reached = high[-1]

    def _finish(self):
        """Have a bound of the ball of each radius."""
        self.low, self.high, self.values = (np.array(row) for row in (self.low, self.high, self.values))
        bounds = np.maximum.accumulate(self.values)
        n = 1 + int((bounds[1:] <= WORTH * self.enough).sum())
        self.radii, self.bounds = self.high[:n], bounds[:n]
        self.confine(self.enough)

    def confine(self, cut):
        """
        Set the radii between which no shell's bound exceeds `cut`, the smallest there are.

        Returns
        -------
        float
            The largest bound within the inner radius; infinite if there are no such radii.
        """
        closed = np.append(self.values <= cut, False)
        self.inner, self.outer = 0.0, -math.inf
        first = int(closed.argmax())
        if not closed[first]:
            return math.inf
        last = first + int(closed[first:].argmin())
        self.inner, self.outer = self.low[first], self.high[last - 1]
        return self.values[:first].max(initial=-math.inf)

    def inner_box(self):
        """Return what holds the ball of the inner radius: a distance of the means, and ends of the precisions."""
        s0, d = self.precision, len(self.mean)
        x = self.free * self.inner * math.sqrt(2.0 / d) * (1 + 1e-12)
        away = self.inner / (math.sqrt(s0) * (1.0 - x)) * (1 + 1e-12) if x < 1.0 else math.inf
        return away, s0 * (1.0 - x) * (1 - 1e-12), s0 * (1.0 + x) * (1 + 1e-12)

    def holds(self, away, s_low, s_high):
        """Return of cells, as in `said_of`, whether they are within the outer radius."""
        return self._radius(away, s_low, s_high) <= self.outer

    def said_of(self, away, s_low, s_high):
        """
        Return what is proved of components in cells.

        Parameters
        ----------
        away : ndarray, shape (m,)
            How far their means are, at most.
        s_low, s_high : ndarray, shape (m,)
            Ranges of their precisions.
        """
        at = np.searchsorted(self.radii, self._radius(away, s_low, s_high))
        return np.append(self.bounds, math.inf)[at]

    def _radius(self, away, s_low, s_high):
        """Return the radius (m,) of a ball that holds each cell."""
        s0, d = self.precision, len(self.mean)
        # convex in s: the larger of both ends
        radius = [np.square(s * away) / s0 + 0.5 * d * np.square(s / s0 - 1.0) * self.free for s in (s_low, s_high)]
        return np.sqrt(np.maximum(*radius)) * (1 + 1e-12) + 1e-13


def ball_around(atoms, k, prices, enough, cut, threads=1):
    """
    Return the ball around a component, whose shells are still to be bounded.

    Parameters
    ----------
    atoms : Atoms
        That samples have been shared out among.
    k : int
        Its number.
    prices : ndarray, shape (n,)
        Raised by the rounding of coordinates.
    enough, cut : float
        See `Ball`.
    threads : int
    """
    scale = math.log(atoms.masses[k] / math.fsum(atoms.weights))
    return Ball(atoms.samples, atoms.weights, prices, atoms.labels, len(atoms.means), atoms.means[k],
                atoms.precisions[k], atoms.free, enough, cut, scale, threads)  # fmt: skip


def bends(radii, d):
    """
    Return at least what half the squared distance exceeds the convex term by, within each radius.

    With V = (v, x sqrt(d / 2)), x the relative change of the precision, that is at most, for |V| = R and x >= 0,
    (R^2 - d x^2 / 2) x / (2 (1 + x)) + (d / 2) (x^2 / 2 - x + log(1 + x)), where the last bracket is at most x^3 / 3.
    """
    x = np.linspace(0.0, 1.0, N_STEPS_OF_BEND + 1) * math.sqrt(2.0 / d) * radii[:, None]
    low, high = x[:, :-1], x[:, 1:] * (1 + 1e-12)
    first = 0.5 * (np.square(radii)[:, None] - 0.5 * d * np.square(low)) * high / (1.0 + high)
    second = 0.5 * d * np.minimum(high**3 / 3.0, 0.5 * high * high - high + np.log1p(high) + 1e-14 * (high + high**2))
    return (first + second).max(axis=1) * (1 + 1e-12)
