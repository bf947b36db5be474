"""The master problem of column generation: prices of the samples for the clusters known.

    min sum_a c_a z_a   s.t.   sum over a with i in a of z_a >= 1 for every sample i,   sum_a z_a <= K,   z >= 0,

c_a the sum of squares of cluster a about its mean. Its dual has a price y_i = w_i lambda_i for every sample and one,
sigma, for a cluster: sum of y over a cluster is at most its cost and sigma. An interior-point method without crossover
returns prices from the middle of all that are optimal, which few new clusters upset. Nothing here is trusted.
"""

import highspy
import numpy as np

SMALL = 1e-5  # fractions that an interior-point method leaves of 0


class Master:
    """
    The linear program, to which clusters are added.

    Parameters
    ----------
    X : ndarray, shape (N, d)
    weights : ndarray, shape (N,)
    n_clusters : int
    unit : float
        Of the costs in the program: about that of a cluster.
    """

    def __init__(self, X, weights, n_clusters, unit):
        self.X, self.weights, self.unit = X, weights, unit
        self.known = set()
        self.columns, self.costs, self.places = [], [], []
        self.first_limit = None
        self.program = highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("threads", 1)
        highs.setOptionValue("solver", "ipm")
        highs.setOptionValue("run_crossover", "off")
        n = len(weights)
        self.infinity = highs.getInfinity()
        lower = np.append(np.ones(n), -self.infinity)
        upper = np.append(np.full(n, self.infinity), float(n_clusters))
        empty = np.zeros(0)
        highs.addRows(n + 1, lower, upper, 0, np.zeros(n + 1, dtype=np.int32), empty.astype(np.int32), empty)

    def confine(self, low, high):
        """Keep prices between (N,) and (N,): a sample may stay outside at its highest price, or count at its lowest."""
        n = len(self.weights)
        self.first_limit = self.program.getNumCol()
        rows, ones = np.arange(n, dtype=np.int32), np.ones(n)
        for cost, sign in ((self.weights * high, 1.0), (-self.weights * low, -1.0)):
            most = np.full(n, self.infinity)
            self.program.addCols(n, cost / self.unit, np.zeros(n), most, n, rows, rows, sign * ones)

    def widen(self, low, high):
        """Set other limits."""
        n = len(self.weights)
        at = np.arange(self.first_limit, self.first_limit + 2 * n, dtype=np.int32)
        self.program.changeColsCost(2 * n, at, np.concatenate([self.weights * high, -self.weights * low]) / self.unit)

    def at_limits(self):
        """Whether the limits keep the value down."""
        n = len(self.weights)
        return max(self.values[self.first_limit : self.first_limit + 2 * n]) > SMALL

    def fractions(self):
        """Return the fraction of every cluster, in the order of `columns`."""
        return np.asarray(self.values)[self.places]

    def add(self, own):
        """Add the cluster of given samples (m,); whether it is new."""
        own = np.sort(own).astype(np.int32)
        if own.tobytes() in self.known:
            return False
        self.known.add(own.tobytes())
        w, x = self.weights[own], self.X[own]
        cost = float(w @ np.square(x - w @ x / w.sum()).sum(axis=1))
        self.columns.append(own)
        self.costs.append(cost)
        rows = np.append(own, len(self.weights)).astype(np.int32)
        self.places.append(self.program.getNumCol())
        self.program.addCol(cost / self.unit, 0.0, self.infinity, len(rows), rows, np.ones(len(rows)))
        return True

    def solve(self, seconds):
        """
        Return prices lambda (N,), or None if there are none.

        Parameters
        ----------
        seconds : float
            Time limit.
        """
        self.program.setOptionValue("time_limit", self.program.getRunTime() + max(seconds, 1e-3))
        self.program.run()
        if self.program.getModelStatus() == highspy.HighsModelStatus.kTimeLimit:
            return None
        solution = self.program.getSolution()
        dual, self.values = np.array(solution.row_dual), list(solution.col_value)
        if len(dual) != len(self.weights) + 1 or not np.isfinite(dual).all():
            return None
        return np.maximum(dual[:-1], 0.0) * self.unit / self.weights

    def largest(self, prices):
        """Return the most that a cluster known saves at given prices."""
        y = prices * self.weights
        return max(0.0, max(y[own].sum() - cost for own, cost in zip(self.columns, self.costs, strict=True)))
