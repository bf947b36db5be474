"""The pricing bound of many samples, on their summaries from coarse to fine.

A summary replaces the samples by the corners of a grid. Let sample i be the convex combination sum_v h_iv v of its
cell's corners, and give it the price sum_v h_iv lambda_v - loss_i / 2, loss_i = sum_j (x_ij - low_j)(high_j - x_ij).
For costs c that are concave plus at most half the squares, lambda_i - c_i <= sum_v h_iv (lambda_v - c_v); and if every
sample is divided among the corners of its cell, with weights w_i h_iv, then what a component saves of them is at least
what it saves of the samples, for all parts of a sample may have the same tau. So

    sum_i w_i lambda_i - sum_k G(theta_k)  >=  sum_v w_v lambda_v - sum_i w_i loss_i / 2 - sum_k sup G of the summary,

for the multipliers of a cell at hand, since its costs are those of a relaxed dual, linear in the statistics. Cells that
one summary rules out hold no component of a better solution, whatever the prices: the next, finer one begins with what
is left.

Theory: (P7) of docs/theory/prices.md.
"""

import itertools
import math

import numpy as np

from gopfast.mixtures.learning.learner import Learner
from gopfast.mixtures.pricing.pricing_root import PricingBound
from gopfast.mixtures.pricing.tuning import LEVELS_FEWEST as FEWEST, TINY


def levels_of(data, most, most_points):
    """Return the samples, where they are at most so many, or their summaries of few enough points, coarse to fine."""
    if data.n_samples <= most:
        return [data]
    small = [level for level in data.levels if level.n_samples <= most_points]
    return [level for level in small if level.n_samples >= FEWEST] or small[-1:]


class LevelledBound(Learner):
    """
    Prices of one summary after another, told as `PricingBound` tells its own.

    Parameters
    ----------
    family : Family
        Of K components.
    ones : list of Family
        The same of one component, of summaries from coarse to fine.
    solution : ndarray
        An incumbent, as the primal keeps it.
    limit : float
        Solutions below it are sought.
    threads : int
    """

    def __init__(self, family, ones, solution, limit, threads=1):
        self.family, self.ones, self.solution, self.threads = family, ones, solution, threads
        self.limit, self.lower, self.n_before, self.terms_before = limit, -math.inf, 0, 0
        self.at = self._bound(0)
        self.at.last = len(ones) == 1
        self.cells, self.table_total = None, -math.inf

    def _bound(self, level):
        self.level = level
        return PricingBound(
            self.family, self.ones[level], self.solution, self.limit, threads=self.threads, rounds=False
        )

    @property
    def n_passes(self):
        """Data passes of one component so far."""
        return self.n_before + self.at.n_passes

    @property
    def n_terms(self):
        """Terms so far."""
        return self.terms_before + self.at.n_terms

    def step(self, deadline):
        """Next thing to learn; whether there is more."""
        self.at.limit = self.limit
        more = self.at.step(deadline)
        self.lower = max(self.lower, self.at.lower)
        if self.at.cells is not None:
            self.cells, self.table_total = self.at.cells, self.at.table_total
        if more:
            return True
        if self.at.cells is None or not len(self.at.cells[0]) or self.level + 1 == len(self.ones):
            return False
        self.n_before += self.at.n_passes
        self.terms_before += self.at.n_terms
        coarser, self.at = self.at, self._bound(self.level + 1)
        low, high, _ = coarser.cells
        prices = refined(coarser.one.data.arrays()[0], coarser.prices, self.at.one.data.arrays()[0])
        self.at.begin(prices, coarser.points, low, high)
        self.at.last = self.level + 1 == len(self.ones)
        return True


def refined(corners, prices, points):
    """Return prices (n,) of a finer summary's points (d, n) in the grid whose used corners (d, m) have prices (m,).

    Between corners they are interpolated, less half of what squares lose there: exact of half the squares.
    """
    axes = [np.unique(line) for line in corners]
    shape = [len(axis) for axis in axes]
    flat = np.ravel_multi_index([np.searchsorted(axis, line) for axis, line in zip(axes, corners, strict=True)], shape)
    order = np.argsort(flat)
    flat, prices = flat[order], prices[order]
    at, shares, lost = [], [], np.zeros(points.shape[1])
    for axis, line in zip(axes, points, strict=True):
        i = np.clip(np.searchsorted(axis, line, side="right") - 1, 0, max(len(axis) - 2, 0))
        low, high = axis[i], axis[np.minimum(i + 1, len(axis) - 1)]
        at.append(i)
        shares.append(np.clip((line - low) / np.where(high > low, high - low, 1.0), 0.0, 1.0))
        lost += (line - low) * (high - line)
    total, weight = np.zeros(points.shape[1]), np.zeros(points.shape[1])
    for upper in itertools.product((0, 1), repeat=len(axes)):
        place = [np.minimum(i + up, n - 1) for i, up, n in zip(at, upper, shape, strict=True)]
        key = np.ravel_multi_index(place, shape)
        found = np.minimum(np.searchsorted(flat, key), len(flat) - 1)
        share = np.prod([part if up else 1.0 - part for part, up in zip(shares, upper, strict=True)], axis=0)
        share = np.where(flat[found] == key, share, 0.0)
        total += share * prices[found]
        weight += share
    return total / np.maximum(weight, TINY) - 0.5 * lost
