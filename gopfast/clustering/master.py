"""The master problem of column generation: prices of the samples for the clusters known.

    min sum_a c_a z_a   s.t.   sum over a with i in a of z_a >= 1 for every sample i,   sum_a z_a <= K,   z >= 0,

c_a the sum of squares of cluster a about its mean. Its dual has a price y_i = w_i lambda_i for every sample and one,
sigma, for a cluster: sum of y over a cluster is at most its cost and sigma. An interior-point method without crossover
returns prices from the middle of all that are optimal, which few new clusters upset. Nothing here is trusted.

Theory: (K4) of docs/theory/kmeans.md.
"""

import numpy as np

from gopfast.clustering.program import Program
from gopfast.clustering.tuning import FINEST, MOST_WIDENED, MOST_WORTH, SMALL, WIDER


def sum_of_squares(x, w):
    """Return the weighted sum of squares of samples (m, d) about their mean."""
    return float(w @ np.square(x - w @ x / w.sum()).sum(axis=1))


class Columns:
    """The clusters of a master problem, each once; `saved` is what they save at the last prices."""

    def __init__(self, X, weights):
        self.X, self.weights, self.known = X, weights, set()
        self.columns, self.costs, self.saved = [], [], np.zeros(0)

    def add(self, own):
        """Add the cluster of given samples (m,); whether it is new."""
        own = np.sort(own).astype(np.int32)
        if own.tobytes() in self.known:
            return False
        self.known.add(own.tobytes())
        self.columns.append(own)
        self.enter(own, sum_of_squares(self.X[own], self.weights[own]))
        return True

    def best_centers(self, most):
        """Return the means of clusters that save most at the last prices."""
        best = [self.columns[a] for a in np.argsort(-self.saved)[:most]]
        centers = [self.weights[own] @ self.X[own] / self.weights[own].sum() for own in best]
        return np.reshape(centers, (-1, self.X.shape[1]))


class Limits:
    """
    A linear program with one price for every sample, kept within limits that may be widened.

    Parameters
    ----------
    weights : ndarray, shape (N,)
    inertia : float
        Of the best clustering known.
    low, high : ndarray, shape (N,)
        What samples cost in the nearest of its clusters, and in the next.
    *n_clusters : int
        Their number, of each kind.
    """

    def __init__(self, weights, inertia, low, high, *n_clusters):
        self.weights, self.places, self.n_widened = weights, [], 0
        self.unit = inertia / sum(n_clusters) or 1.0
        self.program = Program(len(weights), *n_clusters)
        # No cluster need be worth more than all is: without this, distances between clusters far apart spoil the scale.
        self.low, self.high = low, np.minimum(high, low + MOST_WORTH * inertia / weights)
        # A sample may stay outside at its highest price, or count at its lowest.
        self.first_limit = self.program.limit(weights * self.high / self.unit, weights * low / self.unit)

    def limited(self):
        """Whether limits that may be widened keep the value down."""
        return self.n_widened < MOST_WIDENED and max(self.values[self._limits()]) > SMALL

    def _limits(self):
        return slice(self.first_limit, self.first_limit + 2 * len(self.weights))

    def widen(self):
        """Set limits farther away where they keep the value down."""
        above, below = np.split(self.values[self._limits()] > SMALL, 2)
        step = WIDER**self.n_widened * np.maximum(self.high - self.low, self.unit / self.weights.sum())
        self.high = np.where(above, self.high + step, self.high)
        self.low = np.where(below, np.maximum(self.low - step, 0.0), self.low)
        self.n_widened += 1
        costs = np.concatenate([self.weights * self.high, -self.weights * self.low]) / self.unit
        places = np.arange(self._limits().start, self._limits().stop, dtype=np.int32)
        self.program.highs.changeColsCost(len(places), places, costs)

    def fractions(self):
        """Return the fraction of every cluster, in the order of `columns`."""
        return self.values[self.places]


class Master(Limits, Columns):
    """
    The linear program, to which clusters are added.

    Parameters
    ----------
    X : ndarray, shape (N, d)
    weights : ndarray, shape (N,)
    n_clusters : int
    inertia : float
        Of the best clustering known.
    low, high : ndarray, shape (N,)
        Squared distances of samples to the nearest of its centers, and to the next.
    """

    def __init__(self, X, weights, n_clusters, inertia, low, high):
        Columns.__init__(self, X, weights)
        Limits.__init__(self, weights, inertia, low, high, n_clusters)

    def enter(self, own, cost):
        """Take a new cluster into the program."""
        self.costs.append(cost)
        self.places.append(self.program.add(cost / self.unit, own, np.ones(len(own))))

    def solve(self, seconds, tolerance=FINEST):
        """
        Return prices lambda (N,) and the most that a cluster known saves at them, or None, None if there are none.

        Parameters
        ----------
        seconds : float
            Time limit.
        tolerance : float
            Of the program, relative.
        """
        dual, self.values = self.program.solve(seconds, tolerance)
        if dual is None:
            return None, None
        y = dual * self.unit
        self.saved = np.array([y[own].sum() - cost for own, cost in zip(self.columns, self.costs, strict=True)])
        return y / self.weights, float(self.saved.max(initial=0.0))
