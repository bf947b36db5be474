"""
Branch and bound over boxes of parts: what a component can save beyond its price, whatever parts of labels it takes.

Theory: (OL5) of docs/theory/shares.md.
"""

import itertools
import math
import time

import numpy as np

from gopfast.mixtures.shares.parts import PARTS
from gopfast.mixtures.shares.tuning import (
    AT_A_TIME,
    CLOSE,
    LEAST_CLOSE,
    MOST_BOXES,
    MOST_LOOKED_AT,
    MOST_TRIED,
    MOVES,
    N_FINER,
    N_LOOKED_AT,
    N_POINTS,
    N_PRICES,
    PRICES,
)


class BoxSearch:
    """
    A search of boxes, in rounds that divide all that are left.

    Parameters
    ----------
    boxes : ShareBoxes
    price : float
        Of all of a label, per unit of the samples' weight.
    close : float
        In nats per unit of weight: boxes end where they are above what is attained by no more.

    Attributes
    ----------
    most : float
        At most what a component saves beyond the price.
    attained : float
        What lists of parts that were looked at do, by the same formulas.
    where : ndarray, shape (1, K)
        The best of them.
    n_boxes : int
    """

    def __init__(self, boxes, price, close):
        self.boxes, self.close = boxes, close
        take_price(boxes, price)
        self.shares, last = boxes.tables.shares, len(PARTS) - 1
        K = len(self.shares)
        self.low, self.high = np.zeros((1, K), dtype=np.intp), np.full((1, K), last)
        self.tree, self.n_boxes = np.zeros(1, dtype=np.intp), 0
        self.where, self.attained = last * np.eye(K, dtype=np.intp), -math.inf
        self._look(self.where)
        self.ended = self.narrowest = -math.inf  # of boxes that have ended, and of those that cannot be divided
        self.most, self.n_known, self.values = math.inf, 0, None

    def run(self, deadline):
        """Go on; whether boxes are left."""
        has_begun = False
        while len(self.low):
            enough = self._enough()
            while self.n_known < len(self.low):
                if has_begun and time.monotonic() > deadline:
                    return True
                self._bound(enough)
                has_begun = True
            values, self.n_known = self.values, 0
            order = np.argsort(-values)[:N_LOOKED_AT]
            self._look((self.low[order] + self.high[order]) // 2)
            is_point = (self.high - self.low <= 1).all(axis=1)
            if is_point.any():
                self.narrowest = max(self.narrowest, float(values[is_point].max()))
            ends = is_point | (values <= self._enough())
            if ends.any():
                self.ended = max(self.ended, float(values[ends].max()))
            rest = float(values[~ends].max()) if not ends.all() else -math.inf
            self.most = min(self.most, max(self.ended, rest))
            self._divide(~ends)
            if self.n_boxes > MOST_BOXES:
                return False
        return False

    def _enough(self):
        """Return what boxes end at."""
        return max(self.attained, self.narrowest) + max(LEAST_CLOSE, self.close + CLOSE * max(self.attained, 0.0))

    def _bound(self, enough):
        """Bound the next boxes of this round."""
        part = slice(self.n_known, self.n_known + AT_A_TIME)
        if not self.n_known:
            self.values = np.empty(len(self.low))
        low, high = self.low[part], self.high[part]
        self.values[part] = self.boxes.most(low, high, enough, self.tree[part], MOST_TRIED)
        self.n_boxes += len(low)
        self.n_known += len(low)

    def _look(self, points):
        """Look at lists of parts."""
        values = _saved(self.boxes, points)
        if values.max() > self.attained:
            self.attained, self.where = float(values.max()), points[values.argmax()][None]

    def _divide(self, chosen):
        """Divide these boxes, and forget the others."""
        low, high, tree = self.low[chosen], self.high[chosen], self.tree[chosen]
        # by roots of masses, as what small ones save is more than in proportion
        width = (np.sqrt(PARTS[high]) - np.sqrt(PARTS[low])) * np.sqrt(self.shares) + 1e-6 * (high - low)
        side, rows = np.where(high - low > 1, width, -1.0).argmax(axis=1), np.arange(len(low))
        middle = (low[rows, side] + high[rows, side]) // 2
        below, above = high.copy(), low.copy()
        below[rows, side] = above[rows, side] = middle
        self.low, self.high = np.concatenate([low, above]), np.concatenate([below, high])
        self.tree = np.concatenate([tree, tree])


def _saved(boxes, points):
    """Return what lists of parts (m, K) save at most, (m,), each by some of the trees."""
    return boxes.most(points, points, n_tried=MOST_LOOKED_AT)


def take_price(boxes, price):
    """Set what all of a label costs, and what a part of one label pays and loses alone, at most, in boxes."""
    parts, lost = boxes.tables.parts, boxes.tables.lost
    each = boxes.tables.shares[:, None] * parts
    with np.errstate(invalid="ignore"):
        alone = np.where(parts > 0.0, price * parts + each * lost, 0.0)
    # between two neighbours: the larger part at the smaller one's loss
    most = np.full(lost.shape, -math.inf)
    most[:, :, :-1] = price * parts[1:] + each[:, 1:] * lost[:, :, :-1]
    levels, step = [most], 1
    while 2 * step < len(parts):
        further = levels[-1].copy()
        np.maximum(further[:, :, :-step], levels[-1][:, :, step:], out=further[:, :, :-step])
        levels.append(further)
        step *= 2
    boxes.take_price(price, np.ascontiguousarray(alone), np.ascontiguousarray(np.stack(levels, axis=2)))


def best_prices(boxes, beside=(), enough=0.0):
    """
    Look for the price at which a component saves least beyond it, about, by some lists of parts.

    Parameters
    ----------
    boxes : ShareBoxes
    beside : sequence of ndarray, shape (m, K)
        Lists that are among them.
    enough : float
        What is saved beyond a price of which no better one is looked for between others, in nats per unit of weight.

    Yields
    ------
    price, excess : float
        In nats per unit of weight; the best so far, after each price that was looked at.
    n_terms : int
        Lists that were looked at, in all.
    """
    lists, (least, most) = Lists(boxes, beside), boxes.tables.shares.min() * np.array(PRICES)
    ratio, excess = (most / least) ** (1.0 / (N_PRICES - 1)), {}
    for price in least * ratio ** np.arange(N_PRICES):
        yield _best(excess, lists, price)
    for _ in range(N_FINER):
        best, ratio = min(excess, key=excess.get), math.sqrt(ratio)
        if excess[best] <= enough:
            return
        yield _best(excess, lists, best / ratio)
        yield _best(excess, lists, best * ratio)


def _best(excess, lists, price):
    """Look at a price more, and return the best one, what is saved beyond it, and how many lists were looked at."""
    excess[price] = lists.excess(price)
    best = min(excess, key=excess.get)
    return best, excess[best], lists.n_terms


class Lists:
    """
    Lists of parts by which prices are compared: those of which more is saved stay, and are moved.

    Parameters
    ----------
    boxes, beside
        As of `best_prices`.
    """

    def __init__(self, boxes, beside):
        self.boxes, self.rng, self.n_terms = boxes, np.random.default_rng(0), 0
        self.K, self.last = len(boxes.tables.shares), len(PARTS) - 1
        whole = [bits for bits in itertools.product((0, 1), repeat=self.K) if any(bits)]  # all of some labels
        self.always = np.concatenate([self.last * np.array(whole, dtype=np.intp), *beside])
        self.points = self._drawn(N_POINTS)

    def _drawn(self, n):
        """Return those that are always there, and n others."""
        return np.concatenate([self.always, self.rng.integers(0, self.last + 1, (n, self.K))])

    def excess(self, price):
        """Return what a component saves beyond a price, about."""
        take_price(self.boxes, price)
        points = self.points
        for reach in MOVES:
            order = np.argsort(-_saved(self.boxes, points))
            moved = np.repeat(points[order[: N_POINTS // 20]], 5, axis=0)
            moved = np.clip(moved + self.rng.integers(-reach, reach + 1, moved.shape), 0, self.last)
            self.n_terms += len(points)
            points = np.concatenate([points[order[: N_POINTS // 2]], moved])
        self.points = np.concatenate([points, self._drawn(N_POINTS // 4)])
        return float(_saved(self.boxes, points).max())
