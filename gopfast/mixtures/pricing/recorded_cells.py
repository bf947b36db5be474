"""What cells at given prices prove, and for a proof those that prove the most (VB1)."""

import math

import numpy as np

from gopfast.mixtures.learning.learner import Learner
from gopfast.mixtures.pricing.pricing_root import less


class CellLearner(Learner):
    """
    A bound by prices of the samples and suprema of one component over its cells (P1).

    What it is made of: `family`, `pricing` (ComponentPricing), `limit`, `n_components`, `record` (BlockRecord or None).

    Attributes
    ----------
    of_cells : tuple or None
        Prices (n,) that the cells at hand were made at, and what all samples cost at them less suprema, in nats.
    """

    of_cells = None

    def proved(self, total):
        """Return what the cells at hand prove, at most the limit; `total` is that of their prices."""
        saved = self.n_components * self.pricing.supremum
        if math.isfinite(saved):
            return min(less(total, saved), self.limit)
        return self.limit if saved < 0 else -math.inf

    def keep_cells(self):
        """For a proof: hand the cells at hand over, if they prove more than those before; they are divided no more."""
        if self.record is not None and self.of_cells is not None and self.pricing.covered:
            prices, total = self.of_cells
            # without the constant, so that blocks of all columns and of some are of one unit
            self.record.keep(self.pricing, prices, self.proved(total) - self.family.constant)

    def change_prices(self, prices, total):
        """Keep the cells at hand, and say at which prices (n,) the next ones will be."""
        self.keep_cells()
        self.of_cells = np.array(prices), total
