"""
What is proved of a mixture of one covariance matrix by the matrix's eigenvalues alone: boxes of them.

Bounds that are the same for all axes of a matrix P are functions of its eigenvalues p. Of each p the best of them
counts; over a box of sorted eigenvalues each is least at a corner, or at corners one coordinate at a time.

Theory: (TL4) of docs/theory/labels.md.
"""

import math

import numpy as np

from gopfast.mixtures.shared.margins import SUM
from gopfast.mixtures.shared.tuning import SPECTRA_AT_ONCE as AT_ONCE


class Spectra:
    """
    Bounds of all eigenvalues p_1 <= ... <= p_d that there may be, per unit of weight.

    Parameters
    ----------
    low, high : ndarray, shape (d,)
        Between which they lie, one each. Positive.
    """

    def __init__(self, low, high):
        self.low, self.high = np.array(low, dtype=float), np.array(high, dtype=float)
        self.noises = np.zeros((0, 3))  # least, wide, and a bound where all p are 1
        self.sums = np.zeros((0, 3))  # least, and at least what sums of log (p + least) / (1 + least) are

    def add_noise(self, least, wide, value):
        """Add `value` + sum of log (p (1 + v) / (p + v)) / 2, v `least` below 1 and `wide` above."""
        self.noises = np.concatenate([self.noises, [[least, wide, value]]])

    def add_sums(self, least, all_of_them, any_of_them):
        """Add below what the sum of all log (p + least) / (1 + least) is not, nor that of any of them."""
        self.sums = np.concatenate([self.sums, [[least, all_of_them, any_of_them]]])

    def least(self, limit, most):
        """
        Return the least that is proved of any, rounded down; looked for until it is `limit`.

        Parameters
        ----------
        limit : float
        most : int
            Boxes, at most.

        Returns
        -------
        least : float
        n_boxes : int
        """
        low, high = self.low[np.newaxis], self.high[np.newaxis]
        bounds, closed, n_boxes = self._bounds(low, high), math.inf, 1
        while len(bounds) and n_boxes < most and bounds.min() < limit:
            first = np.argsort(bounds)[:AT_ONCE]
            rest = np.ones(len(bounds), dtype=bool)
            rest[first] = False
            halves = _sorted(*_halves(low[first], high[first]))
            found = self._bounds(*halves)
            n_boxes += len(found)
            is_open = found < limit
            closed = min(closed, float(found[~is_open].min(initial=math.inf)))
            low, high = (
                np.concatenate([side[rest], half[is_open]]) for side, half in zip((low, high), halves, strict=True)
            )
            bounds = np.concatenate([bounds[rest], found[is_open]])
        return min(closed, float(bounds.min(initial=math.inf))), n_boxes

    def _bounds(self, low, high):
        """Return what is proved of boxes (m, d), rounded down; infinite where there are no eigenvalues."""
        best, none = np.full(len(low), -math.inf), np.zeros(len(low), dtype=bool)
        size = np.abs(np.log(low)) + np.abs(np.log(high)) + 1.0
        for least, of_all, of_any in self.sums:
            logs, slip = np.log((high + least) / (1.0 + least)), _slip(of_any, size, least)
            none |= logs.sum(axis=1) < of_all - slip
            none |= np.minimum(logs, 0.0).sum(axis=1) < of_any - slip
        for least, wide, value in self.noises:
            v = np.where(low < 1.0, least, wide)
            sums = 0.5 * np.log(low * (1.0 + v) / (low + v)).sum(axis=1)
            best = np.maximum(best, value + sums - _slip(value, size, least))
        return np.where(none, math.inf, best)


def _slip(value, size, least):
    """Return what rounding may add to a value and a sum over eigenvalues of boxes, of logarithms of a size (m, d)."""
    return SUM * (abs(value) + 4.0 * (size + abs(math.log(least))).sum(axis=1))


def _halves(low, high):
    """Return both halves of boxes, in the middle of the widest logarithm."""
    at = np.argmax(high / low, axis=1)
    rows = np.arange(len(low))
    middle = np.clip(np.sqrt(low[rows, at] * high[rows, at]), low[rows, at], high[rows, at])
    below, above = high.copy(), low.copy()
    below[rows, at] = above[rows, at] = middle
    return np.concatenate([low, above]), np.concatenate([below, high])


def _sorted(low, high):
    """Return what boxes have of sorted eigenvalues, where there are any."""
    low = np.maximum.accumulate(low, axis=1)
    high = np.minimum.accumulate(high[:, ::-1], axis=1)[:, ::-1]
    some = (low <= high).all(axis=1)
    return low[some], high[some]
