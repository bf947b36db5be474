"""
Prices above -log p of a solution, where its clusters are apart, in closed form.

Theory: (U6) of docs/theory/groups.md.
"""

import math

import numpy as np

from gopfast.mixtures.pricing.scales import scale_of
from gopfast.mixtures.pricing.tuning import (
    RAISED_EQUAL as EQUAL,
    RAISED_LEAST_FREE as LEAST_FREE,
    RAISED_N_EQUAL as N_EQUAL,
    RAISED_N_LAST_EQUAL as N_LAST_EQUAL,
)


class RaisedPrices:
    """
    Samples, the components that they are of, and prices as far above what they cost as is asked for.

    Parameters
    ----------
    costs : ndarray, shape (K, n)
        Of the samples in each component of a solution.
    logs : ndarray, shape (K,)
        Logarithms of the components' weights.
    weights : ndarray, shape (n,)
        Of the samples.
    lift : ndarray, shape (n,), optional
        What is added to -log p before anything else.

    Attributes
    ----------
    own : ndarray, shape (n,)
        -log p of the samples.
    masses : ndarray, shape (K,)
        Of the components.
    """

    def __init__(self, costs, logs, weights, lift=None):
        self.costs, self.weights = costs, weights
        parts = logs[:, None] - costs
        top = parts.max(axis=0)
        np.exp(parts - top, out=parts)
        total = parts.sum(axis=0)
        parts /= total
        self.own = -(top + np.log(total))
        self.labels, self.rest = parts.argmax(axis=0), np.maximum(1.0 - parts.max(axis=0), 1e-300)
        self.masses = parts @ weights
        self.base = self.own if lift is None else self.own + lift

    @property
    def size(self):
        """Terms of one look at all components."""
        return self.costs.size

    def drawn(self, places):
        """Return the same of some samples (m,), whose weights stand for all."""
        some = object.__new__(RaisedPrices)
        some.costs, some.own, some.base = self.costs[:, places], self.own[places], self.base[places]
        some.labels, some.rest, some.masses = self.labels[places], self.rest[places], self.masses
        some.weights = self.weights[places] * (math.fsum(self.weights) / math.fsum(self.weights[places]))
        return some

    def at(self, each, ambiguous):
        """Return prices (n,): `each` (K,) above -log p, less where a sample of several components lost that much."""
        return self.base + np.minimum(each[self.labels], self._most(ambiguous))

    def _most(self, ambiguous):
        """Return up to where prices above -log p (n,) lose no more of a sample."""
        return np.sqrt(2.0 * ambiguous / self.rest)

    def first(self, height):
        """Return what prices are above -log p by (K,), of such a height for the largest component."""
        return np.full(len(self.masses), height) * self.masses.max() / self.masses

    def values(self, prices, costs=None):
        """Return about what components of costs (m, n) save, by default the solution's."""
        costs = self.costs if costs is None else costs
        values = np.empty(len(costs))
        for k, row in enumerate(costs):
            gains = prices - row
            scale = scale_of(self.weights, gains)
            values[k] = self.weights @ np.maximum(0.0, gains + math.log(scale)) if scale > 0.0 else 0.0
        return values

    def lost(self, prices, values):
        """Return by how much the bound at these prices is below the solution, were no component to save more."""
        return self.weights @ (self.own - prices) + len(values) * values.max()

    def equal(self, each, ambiguous, few=False):
        """Raise `each` (K,) until all components save the same, or nearly, and yield what was found after each turn.

        That is `each`, the prices (n,), and what the components save at them (K,).
        """
        for _turn in range(N_LAST_EQUAL if few else N_EQUAL):
            prices = self.at(each, ambiguous)
            values = self.values(prices)
            yield each, prices, values
            below = values.max() - values
            if below.sum() <= EQUAL * values.max():
                return
            free = each[self.labels] <= self._most(ambiguous)  # the others' prices do not follow
            mass = np.bincount(self.labels, self.weights * free, len(each))
            each = each + below / np.maximum(mass, LEAST_FREE * self.masses)
