"""The most that one cluster can save at given prices.

With a price P_g of every group of samples that stay together (of weight W_g, mean m_g and sum of squares s_g about it)
a cluster S saves P(S) - cost(S), its cost being sum_g s_g + W_g |m_g - y|^2 at its mean y. With p_g = P_g - s_g that is
at most

    G(y) = sum_g max(0, p_g - W_g |m_g - y|^2).

In a box of y, of center c and half sides h, a term lies between low_g (at the farthest corner) and high_g. With
t_g = 1 where low_g >= 0, 0 where high_g <= 0 and else high_g / (high_g - low_g), the chord t_g (. - min(low_g, 0)) is
above the term, so that G is at most a sum of concave parabolas with one maximiser per coordinate. A cluster with its
mean in the box also costs, by Steiner's theorem, at least sum_g s_g + W_g (|m_g - c|^2 - |h|^2). Of two groups that are
apart the one counts that saves more; where it is not known which, the most that either saves. Boxes that are not good
enough are halved.

Rounding: terms are differences of numbers of size |p_g| + W_g far^2, found to d + 8 roundings; sums of n of them add n.

Theory: (V10) of docs/theory/proofs.md.
"""

import numpy as np

from .rounding import UNIT
from .tuning import MOST_BOXES, SAVINGS_NUMBERS as MOST_NUMBERS


class Groups:
    """
    Groups of samples that stay together.

    Parameters
    ----------
    X, weights : ndarray, shape (N, d) and (N,)
    group : ndarray of int, shape (N,)
        From 0.
    apart : list of (int, int)
        Groups that share no cluster.
    """

    def __init__(self, X, weights, group, apart):
        n = int(group.max()) + 1
        self.sizes = sizes = np.bincount(group, minlength=n)
        first = np.zeros(n, int)
        first[group[::-1]] = np.arange(len(X))[::-1]
        away = X - X[first[group]]
        self.group, self.mass = group, np.bincount(group, weights, n)
        moved = np.stack([np.bincount(group, weights * column, n) for column in away.T], axis=1) / self.mass[:, None]
        self.means = X[first] + moved
        squares = np.square(away - moved[group]).sum(axis=1)
        self.scatter = np.bincount(group, weights * squares, n)
        # how far a mean may be from what was computed, and a sum of squares
        reach = np.sqrt(np.maximum.reduceat(np.square(away).sum(axis=1)[np.argsort(group, kind="stable")],
                                            np.append(0, np.cumsum(sizes)[:-1])))  # fmt: skip
        many = sizes > 1
        self.blur = np.where(many, 4 * (sizes + X.shape[1] + 8) * UNIT * (reach + np.abs(self.means).max(axis=1)), 0.0)
        self.lost = np.where(many, 8 * (sizes + X.shape[1] + 8) * UNIT * self.mass * reach * reach, 0.0)
        self.lost += self.mass * self.blur * (2 * reach + self.blur)
        self.low, self.high = X.min(axis=0), X.max(axis=0)
        self.partner = np.full(n, -1)
        for a, b in apart:
            if self.partner[a] < 0 and self.partner[b] < 0:
                self.partner[a], self.partner[b] = b, a

    def save_at_most(self, prices, limit):
        """
        Whether it is shown that no cluster saves more than a limit.

        Parameters
        ----------
        prices : ndarray, shape (N,)
            Of the samples.
        limit : float
        """
        total = np.bincount(self.group, prices, len(self.mass))
        size = np.bincount(self.group, np.abs(prices), len(self.mass))
        self.p = total - self.scatter + self.lost + 4 * (len(prices) + 8) * UNIT * (size + self.scatter)
        self.limit = limit
        everything = np.arange(len(self.mass))
        stack, n_boxes = [(self.low[None], self.high[None], everything)], 0
        while stack:
            low, high, active = stack.pop()
            n_boxes += len(low)
            if n_boxes > MOST_BOXES:
                return False
            bound, attained, counts = self._bound(low, high, active)
            if (attained > limit).any():
                return False
            open_ = ~(bound <= limit)
            if not open_.any():
                continue
            low, high, counts = low[open_], high[open_], counts[open_]
            widest = (high - low).argmax(axis=1)
            rows = np.arange(len(low))
            middle = 0.5 * (low[rows, widest] + high[rows, widest])
            if not ((low[rows, widest] < middle) & (middle < high[rows, widest])).all():
                return False
            first, last = high.copy(), low.copy()
            first[rows, widest] = last[rows, widest] = middle
            # halves beside each other stay together: few groups count in them
            low, high = (np.stack(pair, axis=1).reshape(-1, low.shape[1]) for pair in ((low, last), (first, high)))
            counts = np.repeat(counts, 2, axis=0)
            step = max(1, MOST_NUMBERS // (len(active) * low.shape[1]))
            for i in range(0, len(low), step):
                here = slice(i, i + step)
                stack.append((low[here], high[here], active[counts[here].any(axis=0)]))
        return True

    def _bound(self, low, high, active):
        """Return bounds of boxes, what is attained there (C,), and which of the active groups count (C, n)."""
        p, mass, blur = self.p[active], self.mass[active], self.blur[active]
        c = 0.5 * (low + high)
        h = np.maximum(high - c, c - low) * (1 + 4 * UNIT)
        away = self.means[active] - c[:, None]
        z, half = np.abs(away), h[:, None]
        middle, far = np.square(z).sum(axis=2), np.square(z + half).sum(axis=2)
        near = np.square(np.maximum(z - half, 0.0)).sum(axis=2)
        error = 8 * (c.shape[1] + 8 + self.sizes[active]) * UNIT * (np.abs(p) + mass * far)
        error += mass * blur * (2 * np.sqrt(far) + blur)
        least, most = p - mass * far - error, p - mass * near + error
        alive = most > 0
        counts = alive.copy()
        fixed = np.zeros(len(c))
        place = np.full(len(self.mass), -1)
        place[active] = np.arange(len(active))
        for a in np.flatnonzero(self.partner[active] >= 0):
            b = place[self.partner[active[a]]]
            if b < a:
                continue  # outside all boxes, or done
            both = counts[:, a] & counts[:, b]
            first, second = both & (least[:, a] > most[:, b]), both & (least[:, b] > most[:, a])
            open_ = both & ~first & ~second
            fixed += np.where(open_, np.maximum(most[:, a], most[:, b]), 0.0)
            counts[:, a] &= ~(second | open_)
            counts[:, b] &= ~(first | open_)
        t = np.where(least >= 0, 1.0, most / np.where(most > least, most - least, 1.0))
        t = np.where(counts, t, 0.0)
        total = (t * (p - mass * middle + error - np.minimum(least, 0.0))).sum(axis=1)
        weight = t * mass
        slope, mass_t = (weight[..., None] * away).sum(axis=1), weight.sum(axis=1)[:, None]
        step = np.clip(np.where(mass_t > 0, slope / np.where(mass_t > 0, mass_t, 1.0), 0.0), -h, h)
        total += ((2 * slope - mass_t * step) * step).sum(axis=1)
        diagonal = np.square(h).sum(axis=1)[:, None]
        steiner = np.where(counts, np.maximum(p - mass * (middle - diagonal) + error, 0.0), 0.0).sum(axis=1)
        margin = 8 * (len(active) + c.shape[1] + 16) * UNIT * np.where(alive, np.abs(p) + mass * far, 0.0).sum(axis=1)
        bound = np.maximum(np.where(fixed > 0, total, np.minimum(total, steiner)), 0.0) + fixed + margin
        attained = np.where(counts, np.maximum(p - mass * middle - error, 0.0), 0.0).sum(axis=1) - margin
        return bound, np.where(fixed > 0, -np.inf, attained), alive
