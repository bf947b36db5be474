"""What one component saves beyond balls around some means: by distances from these, and in cells of their hull.

Around a mean, ranges of log s are followed outward as far as nothing saves more than is asked (`Reach`). Further out
tables have what the samples near each mean save at most, and their masses, for shells of distances, ranges of log s and
some scales. A cell of the coordinates along the hull of the means, the distance from it and log s is done if it lies
in a ball or within reach, or if tables of its distances, its corners or all samples say so; else it is halved.

An orthogonal matrix, of the defect |A A' - 1| <= 1e-13, turns what is rounded by 1e-13 D, D the diameter: distances are
compared with 1e-12 of themselves and of D to spare, which is more.

Theory: (VH4) of docs/theory/proof_hull.md.
"""

import math

import numpy as np

from .errors import ProofError
from .hull_bounds import gains, in_all_directions, mass, most_of_precisions, radius_around, total
from .hull_corners import Corners
from .margins import OUT_MASS, SPARE
from .rounding import UNIT
from .tuning import (
    CALL,
    DRAFTED,
    HOPELESS,
    HULL_BATCH,
    LOG_SCALES,
    MOST_HULL_CELLS,
    MOST_HULL_TERMS,
    OF_DRAFT,
    OUT,
    PART_OF_THE_WAY,
    RANGE,
    SHELLS,
    THIN,
)


class Terms:
    """Counts what is spent, and ends a check that takes too much."""

    def __init__(self, stage):
        self.stage, self.n_terms, self.n_cells = stage, 0, 0

    def add(self, n_cells, n_terms):
        """Count cells, and samples that are looked at."""
        self.n_cells, self.n_terms = self.n_cells + n_cells, self.n_terms + n_terms + (n_terms > 0) * CALL
        self.stage.check_time()
        if self.n_cells > MOST_HULL_CELLS or self.n_terms > MOST_HULL_TERMS:
            raise ProofError("hull_limits", f"{self.n_cells} cells do not show what no component saves more than")

    def add_samples(self, n):
        """Count samples that are looked at."""
        self.add(0, n)


class Places:
    """
    Samples by coordinates along some axes, and by lengths and directions across.

    Parameters
    ----------
    stage : Stage
    along, across : ndarray, shape (n, q) and (n, p)
    step : int
        Every step-th sample stands for all: says whether a cell is worth the while, and proves nothing.
    """

    def __init__(self, stage, along, across, step=1):
        along, across = along[::step], across[::step]
        self.stage, self.along, self.prices = stage, along, stage.prices[::step]
        self.weights = step * stage.weights[::step]
        self.lengths = np.sqrt(np.square(across).sum(axis=1)) * (1 + 4 * (across.shape[1] + 8) * UNIT)
        self.units = across / np.maximum(self.lengths, 1e-300)[:, np.newaxis]

    def tops(self, low, high, some=None, raised=0.0):
        """
        Return samples, the most that their y less the scale may be, and slopes, in a cell of components.

        Parameters
        ----------
        low, high : ndarray, shape (q + 2,)
            Coordinates along, the distance from the axes, and log s.
        some : ndarray of int, optional
            The samples that are asked about.
        raised : float
            What prices are raised by.

        Returns
        -------
        own : ndarray of int, shape (m,)
            Others have y of -`OUT` at most.
        tops, slopes : ndarray, shape (m,)
        """
        stage, q, s0, s1 = self.stage, self.along.shape[1], math.exp(low[-1]), math.exp(high[-1])
        own = np.arange(len(self.prices)) if some is None else some
        lengths = self.lengths[own]
        square = np.square(np.maximum(0.0, np.maximum(low[q] - lengths, lengths - high[q])))
        for j in range(q):
            line = self.along[own, j]
            square += np.square(np.maximum(0.0, np.maximum(low[j] - line, line - high[j])))
        rest = 0.5 * stage.n_columns * high[-1] + s1 * stage.blur + raised + 1e-9
        near = self.prices[own] + rest - 0.5 * s0 * square > -OUT
        own, square = own[near], square[near]
        tops = self.prices[own] + raised + most_of_precisions(square, s0, s1, stage.n_columns) + s1 * stage.blur
        return own, tops, s0 * low[q] * self.lengths[own]

    def bound(self, low, high, scale, enough):
        """Bound what components of a cell save."""
        stage = self.stage
        own, tops, slopes = self.tops(low, high)
        w, W = self.weights[own], stage.total_weight
        return in_all_directions(tops, slopes, self.units[own], w, W, scale, enough, W * OUT_MASS)


class Reach:
    """
    How far from a component nothing saves more than is asked, for ranges of log s.

    Parameters
    ----------
    stage : Stage
    k : int
        The component's number.
    radius : float
        Of the ball around it in which nothing does.
    cut, most : float
        What is asked, and how far it is followed.
    terms : Terms

    Attributes
    ----------
    radius : float
    places : Places
        Samples from the component on, with no coordinate along.
    """

    def __init__(self, stage, k, radius, cut, most, terms):
        self.stage, self.precision, self.radius = stage, stage.precisions[k], radius
        self.cut, self.most, self.terms, self.scale = cut, most, terms, stage.scale_of(k)
        z = stage.x - stage.means[k]
        self.places = Places(stage, z[:, :0], z)
        self.corners = Corners(self.places, cut, terms.add_samples)
        self.ranges = []
        if stage.free:
            for low, high in ranges_of(stage):
                self._follow(low, high, 0.0, 1.0 / math.sqrt(self.precision))
        else:
            self.ranges.append((0.0, 0.0, radius))
        self.low, self.high, self.radii = np.array(self.ranges).T

    def _follow(self, low, high, at, step):
        """Go outward from `at` in a range of log s, which is halved where thinner shells are of no use."""
        while at < self.most:
            to = min(at + step, self.most)
            if self._is_closed(np.array([at, low]), np.array([to, high])):
                at, step = to, 1.5 * step
                continue
            # in standard deviations of the component's samples
            along = (to - at) * math.exp(0.25 * (low + high))
            across = (high - low) * math.sqrt(0.5 * self.stage.n_columns)
            if max(along, across) < THIN:
                break
            step = 0.5 * (to - at) if along >= across else step
            if along < across:
                middle = 0.5 * (low + high)
                self._follow(low, middle, at, step)
                self._follow(middle, high, at, step)
                return
        self.ranges.append((low, high, at))

    def _is_closed(self, low, high):
        if self.holds(high[0], low[1], high[1]):
            return True
        self.terms.add(1, 0)
        if self.corners.are_near(low, high):
            return self.corners.say(low, high, self.scale)
        self.terms.add(0, len(self.stage.x))
        return self.places.bound(low, high, self.scale, self.cut) <= self.cut

    def holds(self, away, low, high):
        """Return whether the ball holds components so far away, of logarithms of s from low to high."""
        stage = self.stage
        ends = np.exp(low) * (1 - 1e-12), np.exp(high) * (1 + 1e-12)
        return radius_around(away, *ends, self.precision, stage.n_columns, stage.free) <= self.radius

    def within(self, low, high):
        """Return the distances (m,) within which components of ranges of log s are done."""
        if not self.stage.free:
            return np.full(len(low), self.radius)
        touched = (self.low < high[:, np.newaxis]) & (self.high > low[:, np.newaxis])
        return np.where(touched.any(axis=1), np.where(touched, self.radii, math.inf).min(axis=1), 0.0)


def ranges_of(stage):
    """Return ranges of log s that cover all there are."""
    if not stage.free:
        return [(0.0, 0.0)]
    ends = np.linspace(stage.least, 0.0, 1 + max(1, math.ceil(-stage.least / RANGE)))
    return list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))


class Tables:
    """
    What the samples near each component save at most, by distance from it, and their masses.

    Parameters
    ----------
    stage : Stage
    reaches : list of Reach
    """

    def __init__(self, stage, reaches):
        self.total_weight, self.terms, ranges = stage.total_weight, reaches[0].terms, ranges_of(stage)
        shape = len(ranges), len(reaches), sum(SHELLS), len(LOG_SCALES)
        self.saved, self.masses, self.radii = np.full(shape, np.inf), np.full(shape, np.inf), []
        for k, reach in enumerate(reaches):
            near = 8.0 / math.sqrt(stage.precisions[k])
            far = np.geomspace(near, max(2.0 * near, stage.diameter), SHELLS[1] + 1)
            self.radii.append(np.concatenate([np.linspace(0.0, near, SHELLS[0] + 1), far[1:]]))
            own = np.flatnonzero(stage.nearest == k)
            for i, (low, high) in enumerate(ranges):
                # nearer ones are done
                least = float(reach.within(np.array([low]), np.array([high]))[0]) * (1 - SPARE)
                first = max(0, int(np.searchsorted(self.radii[k], least, side="right")) - 1)
                for j in range(first, sum(SHELLS)):
                    self._fill(i, k, j, reach.places, own, low, high)
                for table in (self.saved, self.masses):  # of components that are no nearer
                    table[i, k, first:] = np.maximum.accumulate(table[i, k, first:][::-1], axis=0)[::-1]

    def _fill(self, i, k, j, places, own, low, high):
        """Bound the samples of component k in shell j, for range i of log s."""
        others = places.weights[own].sum() * OUT_MASS
        own, tops, slopes = places.tops(np.array([self.radii[k][j], low]), np.array([self.radii[k][j + 1], high]), own)
        weights, units = places.weights[own], places.units[own]
        self.terms.add(0, len(own))
        for n, scale in enumerate(LOG_SCALES):
            self.saved[i, k, j, n] = gains(tops + scale, slopes, units, weights)
            self.masses[i, k, j, n] = mass(tops + scale, weights) + others

    def bound(self, ranges, away):
        """Return bounds (m,) for ranges of log s (m,) and distances (m, J) from the components, at least."""
        saved = masses = np.zeros((len(away), len(LOG_SCALES)))
        for k, radii in enumerate(self.radii):
            shell = np.clip(np.searchsorted(radii, away[:, k], side="right") - 1, 0, sum(SHELLS) - 1)
            saved, masses = saved + self.saved[ranges, k, shell], masses + self.masses[ranges, k, shell]
        found = total(saved, masses, self.total_weight, np.array(LOG_SCALES)).min(axis=1)
        return np.where(np.isnan(found), math.inf, found) * (1 + 64 * UNIT)


def saves_at_most(stage, radii, cut):
    """
    Check that components outside balls save no more than a cut, and return how many cells show it.

    Parameters
    ----------
    stage : Stage
    radii : sequence of float
        Of balls around its components, in which no check is needed.
    cut : float

    Raises
    ------
    ProofError
        If it is not shown.
    """
    d, J, terms = stage.n_columns, len(radii), Terms(stage)
    origin = stage.means.mean(axis=0)
    axes = np.linalg.svd(stage.means - origin)[2]
    if not np.linalg.norm(axes @ axes.T - np.eye(d)) <= 1e-13 * d:
        raise ProofError("hull_means", "have no axes")
    q = J - 1 if d - J + 1 >= 2 else d
    turned, means = (stage.x - origin) @ axes.T, (stage.means - origin) @ axes.T
    places = Places(stage, turned[:, :q], turned[:, q:])
    step = len(turned) // OF_DRAFT
    draft = Places(stage, turned[:, :q], turned[:, q:], step) if step > 1 else None
    means = np.column_stack([means[:, :q], np.linalg.norm(means[:, q:], axis=1)])
    apart = np.linalg.norm(stage.means[:, np.newaxis] - stage.means, axis=2)
    most = PART_OF_THE_WAY * (apart + stage.diameter * np.eye(J)).min(axis=1)
    reaches = [Reach(stage, k, radii[k], cut, most[k], terms) for k in range(J)]
    tables, scale = Tables(stage, reaches), float(np.mean([reach.scale for reach in reaches]))
    corners = Corners(places, cut, terms.add_samples)
    spare, along = SPARE * stage.diameter, turned[:, :q]
    ends, ranges = np.array(ranges_of(stage)).T, np.arange(len(ranges_of(stage)))
    low = np.append(along.min(axis=0) - spare, 0.0), ends[0]
    high = np.append(along.max(axis=0), places.lengths.max()) + spare, ends[1]
    low, high = (np.column_stack([np.tile(side, (len(at), 1)), at]) for side, at in (low, high))
    stack = [(low, high, ranges)]
    while stack:
        low, high, own = stack.pop()
        terms.add(len(low), 0)
        away, is_done = np.zeros((len(low), J)), np.zeros(len(low), bool)
        for k, reach in enumerate(reaches):
            a, b, mean, within = low[:, :-1], high[:, :-1], means[k], reach.within(low[:, -1], high[:, -1])
            near = np.sqrt(np.square(np.maximum(0.0, np.maximum(a - mean, mean - b))).sum(axis=1)) * (1 - SPARE) - spare
            far = np.maximum(np.abs(a - mean), np.abs(b - mean))
            far[:, q] = b[:, q] + mean[q]  # on the other side of the hull
            far = np.sqrt(np.square(far).sum(axis=1)) * (1 + SPARE) + spare
            is_done |= (far <= within) | reach.holds(far, low[:, -1], high[:, -1])
            away[:, k] = np.maximum(near, within * (1 - SPARE))
        found = np.where(is_done, -math.inf, tables.bound(own, away))
        for i in np.flatnonzero(found > cut):
            if corners.are_near(low[i], high[i]):
                found[i] = cut if corners.say(low[i], high[i], scale) else math.inf
            elif found[i] <= HOPELESS * cut:
                if draft is not None:
                    terms.add_samples(len(draft.prices))
                    if not draft.bound(low[i], high[i], scale, cut) <= DRAFTED * cut:
                        continue
                terms.add_samples(len(stage.x))
                found[i] = places.bound(low[i], high[i], scale, cut)
        left = np.flatnonzero(~(found <= cut))
        halves = _halved(low[left], high[left], own[left], d)
        parts = (slice(i, i + HULL_BATCH) for i in range(0, len(halves[0]), HULL_BATCH))
        stack += [tuple(side[part] for side in halves) for part in parts]
    return terms.n_cells


def _halved(low, high, own, n_columns):
    """Return both halves of cells, divided in what is widest in deviations of a component's samples."""
    sides = (high - low) * math.sqrt(0.5 * n_columns)
    sides[:, :-1] = (high - low)[:, :-1] * np.exp(0.25 * (low[:, -1:] + high[:, -1:]))
    at, rows = sides.argmax(axis=1), np.arange(len(low))
    middle = 0.5 * (low[rows, at] + high[rows, at])
    first, last = high.copy(), low.copy()
    first[rows, at] = last[rows, at] = middle
    return np.concatenate([low, last]), np.concatenate([first, high]), np.concatenate([own, own])
