"""The cells of one component, kept for a proof: they are forgotten whenever prices change.

Theory: (V5) of docs/theory/proofs.md, (VF5) of docs/theory/proof_families.md.
"""

import numpy as np

from gopfast.mixtures.tuning import MOST_LOST


class Cells:
    """
    Cells of one component and what they save, as the pricing tells of them.

    Parameters
    ----------
    statement : Statement
    tolerance : float, optional
        Of the search, in nats.

    Attributes
    ----------
    has_entry : bool
        Whether prices may prove something by the checker's arithmetic.
    """

    def __init__(self, statement, tolerance=0.0):
        self.statement = statement
        self.has_entry = statement.lost_by_prices() <= max(tolerance, MOST_LOST)
        self.begin()

    def begin(self):
        """Forget all: cells are made at new prices."""
        self.divided, self.ends = [], []

    def slack(self):
        """How far apart, in the core's units, boxes may be that meet in the user's, by rounding: (n_cell,)."""
        return self.statement.slack()

    def splits(self, splits, points):
        """Cells that were divided."""
        self.divided.append((splits, points))

    def leaves(self, labels, upper, low, high, warm):
        """Cells that were dropped, or are left."""
        self.ends.append((labels, low, high, warm))

    def arrays(self, pricing):
        """
        Return the proof's arrays of prices and cells.

        Parameters
        ----------
        pricing : None or PricingBound
        """
        names = "prices", "cells", "cell_points", "cell_leaves", "cell_slopes", "cell_scales"
        if pricing is None or pricing.cells is None:
            shapes = 0, (0, 4), 0, 0, (0, self.statement.bounds.n_slopes), 0
            return {name: np.zeros(shape) for name, shape in zip(names, shapes, strict=True)}
        return dict(zip(names, self.told(pricing.pricing, pricing.prices), strict=True))

    def told(self, pricing, prices, copies=1):
        """
        Return what the checker takes of the cells that were told, and of those that are left, which end here.

        Parameters
        ----------
        pricing : ComponentPricing
        prices : ndarray, shape (N,)
            At which the cells were bounded.
        copies : int
            How many times the columns' costs count.

        Returns
        -------
        prices : ndarray, shape (M,)
        splits, points : ndarray, shape (S, 4) and (S,)
        labels : ndarray of int, shape (C,)
        slopes, scales : ndarray, shape (C, n_slopes) and (C,)
        """
        statement = self.statement
        pricing.tell_open()
        labels, low, high, warm = (np.concatenate(part) for part in zip(*self.ends, strict=True))
        low, high = statement.boxes(low), statement.boxes(high)
        low, high = statement.bounds.rules.tightened(low, high)
        left = ~(low > high).any(axis=(1, 2))
        scales, linear, quadratic = pricing.explain(np.ascontiguousarray(warm[left]))
        linear, quadratic = (part[:, np.newaxis] / copies for part in (linear, quadratic))
        none = np.zeros((len(scales), 0))
        slopes, _ = statement.slopes(np.zeros((len(scales), 1)), linear, quadratic, none)
        slopes = statement.unfolded(low[left], high[left], slopes)[:, 0]
        splits, points = np.zeros((0, 4), int), np.zeros(0)
        if self.divided:
            splits, points = (np.concatenate(part) for part in zip(*self.divided, strict=True))
            splits[:, 1], points = statement.split(splits[:, 1], points, splits[:, 2] >= 0)
        return statement.prices(prices), splits, points, labels[left], slopes, statement.scales(scales)
