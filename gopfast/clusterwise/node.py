"""A node of the search: boxes of coefficients with the number of classes in each, and the bound by prices.

Theory: (JL1), (JL5) and (JL6) of docs/theory/clusterwise.md.
"""

import math

import numpy as np

from gopfast.clustering.master import Limits
from gopfast.clusterwise.margins import OF_BOUND
from gopfast.clusterwise.tuning import (
    COARSE,
    COARSEST,
    FINE,
    FINEST,
    INEXACT,
    LEAST,
    MOST_ADDED,
    MOST_HANDED,
    MOST_SHRUNK,
    N_KNOWN,
    N_STARTS,
    WHOLE,
)


class Master(Limits):
    """
    The linear program of a node, with columns of classes in each of its boxes.

    Parameters
    ----------
    Z, y, weights : ndarray
    counts : list of int
        Classes in each box.
    objective : float
    low, high : ndarray, shape (N,)
        As of `gopfast.clustering.master.Limits`.
    """

    def __init__(self, Z, y, weights, counts, objective, low, high):
        super().__init__(weights, objective, low, high, *counts)
        self.Z, self.y, self.n_boxes = Z, y, len(counts)
        self.fits, self.members, self.costs, self.boxes, self.known = [], [], [], [], set()

    def add(self, box, fit, own):
        """Add the class of given samples (m,) with coefficients (q,) in a box; whether it is new."""
        key = (box, own.tobytes())
        if key in self.known or not len(own):
            return False
        self.known.add(key)
        cost = float(self.weights[own] @ np.square(self.y[own] - self.Z[own] @ fit))
        self.fits.append(fit)
        self.members.append(own)
        self.costs.append(cost)
        self.boxes.append(box)
        self.places.append(self.program.add(cost / self.unit, own, np.ones(len(own)), box))
        return True

    def solve(self, seconds, tolerance):
        """Return prices lambda (N,) and what a class known saves at most in each box; None, None if there are none."""
        dual, self.values = self.program.solve(seconds, tolerance)
        if dual is None:
            return None, None
        y = dual * self.unit
        self.saved = np.array([y[own].sum() - cost for own, cost in zip(self.members, self.costs, strict=True)])
        most = np.zeros(self.n_boxes)
        np.maximum.at(most, np.array(self.boxes, dtype=np.intp), self.saved)
        return y / self.weights, most

    def fractions(self):
        """Return the fraction of every class in the last solution: 0 of those that came later."""
        places = np.array(self.places, dtype=np.intp)
        return np.where(places < len(self.values), self.values[np.minimum(places, len(self.values) - 1)], 0.0)

    def useful(self, most):
        """Return coefficients and samples of the classes that miss least at the last prices, and of all new ones."""
        known = len(getattr(self, "saved", ()))
        order = list(range(known, len(self.fits)))
        if known:
            best = np.full(self.n_boxes, -np.inf)
            np.maximum.at(best, np.array(self.boxes[:known]), self.saved)
            order += np.argsort(best[self.boxes[:known]] - self.saved, kind="stable")[:most].tolist()
        return [(self.fits[a], self.members[a]) for a in order]

    def best(self, box, most):
        """Return the coefficients of classes in a box that save most at the last prices."""
        some = [a for a in np.argsort(-self.saved) if self.boxes[a] == box][:most]
        return [self.fits[a] for a in some]


class Node:
    """
    Boxes of coefficients and how many classes have theirs in each, with the bound that holds for all of these.

    Parameters
    ----------
    boxes : list of (ndarray, ndarray, int)
        Lower and upper ends (q,) of each box, and its number of classes.
    lower : float
        Bound known before.
    columns : list of (ndarray, ndarray)
        Coefficients (q,) and samples of classes that may be of use.
    """

    master = None  # of nodes that are kept in checkpoints
    prices = suprema = None  # what proved the best bound of the node itself

    def __init__(self, boxes, lower=0.0, columns=(), cap=math.inf):
        self.cap = cap  # boxes have the fits of all solutions below it, no more
        self.boxes, self.lower, self.estimate, self.columns, self.sons = boxes, lower, lower, columns, ()
        self.counts = np.array([count for *_, count in boxes])
        self.feasible = True

    def bound(self, pool, target, tolerance, stop, left, most_cells):
        """
        Raise `lower` to the target, or to what prices prove; otherwise find where to divide a box.

        Parameters
        ----------
        pool : Pool
            Takes better classes that come up.
        target : float
            A bound that is enough.
        tolerance : float
            Differences that do not matter.
        stop : StopSignal
        left : callable
            Seconds left.
        most_cells : int
            Of one proof.

        Returns
        -------
        bool
            Whether there is a box to divide, in `cut`.
        """
        self.cut, self.n_cells, self.n_programs = None, 0, 0
        self.fine = FINE * max(abs(tolerance), LEAST * pool.inertia) / int(self.counts.sum())
        for _ in range(MOST_SHRUNK):
            master = Master(pool.Z, pool.y, pool.weights, self.counts.tolist(), pool.inertia, *pool.residuals())
            for fit, own in self.columns:
                for b in self._boxes_with(fit):
                    master.add(b, fit, own)
            self._generate(master, pool, target, stop, left, most_cells)
            self.columns = master.useful(MOST_HANDED)
            if self.lower >= target or stop.stopped or master.values is None:
                return False
            self._round(master, pool)
            shares = master.fractions()
            used = np.flatnonzero(shares > WHOLE)
            if all(master.boxes[a] in self._boxes_with(master.fits[a]) for a in used):
                break  # none was cut off
        self.cut = self._choose(master, math.sqrt(pool.inertia / pool.weights.sum()))
        return self.cut is not None

    def _boxes_with(self, fit):
        """Yield the boxes that hold coefficients (q,)."""
        for b, (low, high, _) in enumerate(self.boxes):
            if (low <= fit).all() and (fit <= high).all():
                yield b

    def _generate(self, master, pool, target, stop, left, most_cells):
        """Raise `lower` by what prices prove; add the classes that these lack."""
        K, widened, inexact = int(self.counts.sum()), -math.inf, COARSEST
        while not stop.stopped:
            prices, sigma = master.solve(left(), inexact)
            self.n_programs += 1
            if prices is None:
                return
            total = float(pool.weights @ prices)
            reached = total - float(self.counts @ sigma)
            added, most = self._ascend(master, prices, sigma, pool)
            away, short = float(self.counts @ (most - sigma)), target - reached
            # of a bound that falls short in any case, little is won by better prices
            if added and (short <= 0.0 or away > COARSE * short):
                inexact = min(max(INEXACT * away / pool.inertia, FINEST), COARSEST)
                continue
            if short > 0.0 and inexact > max(INEXACT * COARSE * short / pool.inertia, FINEST):
                inexact = max(INEXACT * COARSE * short / pool.inertia, FINEST)
                continue
            if short > 0.0 and reached - widened > COARSE * short and master.limited():
                widened = reached
                master.widen()
                continue
            slack = max(self.fine, abs(short) / K * (COARSE if short > 0.0 else 1.0 - COARSE))
            found = self._prove(prices, most + slack, target, pool, most_cells)
            if self.lower >= target or stop.stopped:
                return
            if not self._add(master, prices, found, most + self.fine, pool)[0]:
                return

    def _ascend(self, master, prices, sigma, pool):
        """Add classes that save more than those known; how many were new, and the most that any saves (B,)."""
        starts = []
        for b, (low, high, _) in enumerate(self.boxes):
            drawn = [pool.draw() for _ in range(N_STARTS)]
            starts.append(np.clip(np.array([*pool.fits, *master.best(b, N_KNOWN), *drawn]), low, high))
        added, most = self._add(master, prices, starts, sigma + self.fine, pool)
        return added, np.maximum(most, sigma)

    def _add(self, master, prices, starts, least, pool):
        """Add the classes where ascents from given coefficients, by box, end, if they save more than `least` there."""
        added, most = 0, np.zeros(len(self.boxes))
        for b, (low, high, _) in enumerate(self.boxes):
            if not len(starts[b]):
                continue
            values, fits = pool.search.ascend(prices, starts[b], low, high)
            most[b], new = values.max(), 0
            for a in np.argsort(-values):
                if values[a] <= least[b] or new >= MOST_ADDED:
                    break
                new += master.add(b, fits[a].copy(), pool.search.members(prices, fits[a]))
            added += new
        return added, most

    def _prove(self, prices, limits, target, pool, most_cells):
        """Raise `lower` by the boxes' suprema, found no finer than the limits; returns what exceeds these, by box."""
        total = float(pool.weights @ prices)
        suprema, found, hulls = limits.copy(), [], []
        # A class saves at least what is left of the target by the others.
        spare = total - target
        for b, (low, high, _) in enumerate(self.boxes):
            others = float(self.counts @ limits) - limits[b]
            keep = spare - others
            keep -= OF_BOUND * (len(prices) + len(limits) + 16) * (total + abs(target) + float(self.counts @ limits))
            suprema[b], some, hull = pool.search.search(prices, low, high, limits[b], min(keep, limits[b]), most_cells)
            self.n_cells += pool.search.cells
            found.append(some)
            hulls.append(hull)
        size = total + float(self.counts @ suprema)
        proved = total - float(self.counts @ suprema) - OF_BOUND * (len(prices) + len(limits) + 16) * size
        if not pool.shrinks and proved > self.lower:
            self.prices, self.suprema = np.array(prices), suprema.copy()
        self.lower = max(self.lower, min(proved, self.cap))
        if pool.shrinks and (suprema <= limits).all():  # each of what the others were taken to save
            self._shrink(hulls, target)
        return found

    def _shrink(self, hulls, target):
        """Take the boxes of all classes that a solution below the target can have."""
        self.cap = min(self.cap, target)
        if any(hull is None for hull in hulls):
            self.lower = max(self.lower, self.cap)
            return
        self.boxes = [(*hull, count) for hull, (*_, count) in zip(hulls, self.boxes, strict=True)]

    def _round(self, master, pool):
        """Descend from the coefficients of the largest fractions."""
        order = np.argsort(-master.fractions())
        taken = [master.fits[a] for b, count in enumerate(self.counts)
                 for a in [a for a in order if master.boxes[a] == b][:count]]  # fmt: skip
        while len(taken) < len(pool.fits):
            taken.append(pool.draw())
        pool.offer(np.array(taken))

    def _choose(self, master, scale):
        """
        Return the box, coefficient and value at which to divide: where the fractions on either side are not whole.

        Where there is none it is the middle of the widest side of a box; None: there is none but of width 0.
        """
        shares, best, cut = master.fractions(), 0.0, None
        fits, boxes = np.reshape(master.fits, (-1, master.Z.shape[1])), np.array(master.boxes)
        for b in range(len(self.boxes)):
            used = np.flatnonzero((boxes == b) & (shares > WHOLE))
            for j in range(fits.shape[1]):
                order = used[np.argsort(fits[used, j], kind="stable")]
                at, mass = fits[order, j], np.cumsum(shares[order])
                gap, part = np.diff(at), np.abs(mass - np.round(mass))[:-1]
                if not len(gap):
                    continue
                low, high = (end[j] for end in self.boxes[b][:2])
                part = np.where((part > WHOLE) & (low <= at[:-1]) & (at[1:] <= high), part, 0.0)
                score = part * gap / (gap + scale)
                a = int(score.argmax())
                middle = at[a] + 0.5 * gap[a]
                if score[a] > best and at[a] < middle < at[a + 1]:
                    best, cut = score[a], (b, j, float(middle))
        if cut is not None:
            return cut
        for b, (low, high, _) in enumerate(self.boxes):
            width = high - low
            j = int(width.argmax())
            middle = float(low[j] + 0.5 * width[j])
            if width[j] > best and low[j] < middle < high[j]:
                best, cut = width[j], (b, j, middle)
        return cut

    def children(self, *_):
        """Return the nodes with 0, 1, ... of the box's classes below the value, and the others above."""
        b, j, value = self.cut
        low, high, count = self.boxes[b]
        below, above = high.copy(), low.copy()
        below[j] = above[j] = value
        others, found = [*self.boxes[:b], *self.boxes[b + 1 :]], []
        for m in range(count + 1):
            halves = [(low, below, m)] * (m > 0) + [(above, high, count - m)] * (m < count)
            found.append(Node([*others, *halves], self.lower, self.columns, self.cap))
        return found
