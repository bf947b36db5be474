"""A linear program over clusters, in HiGHS: one row for every price, and one for the number of clusters of every kind.

Theory: (K4) of docs/theory/kmeans.md.
"""

import highspy
import numpy as np

from gopfast.clustering.tuning import FINEST


class Program:
    """
    The program min sum_a cost_a z_a with rows sum_a share_ra z_a >= 1 and sum_a z_a <= K, z >= 0; columns are added.

    Where there are kinds of clusters, each has a row of its own for its number.

    An interior-point method without crossover returns duals from the middle of all that are optimal.

    Parameters
    ----------
    n_rows : int
    *n_clusters : int
        The number of each kind.
    """

    def __init__(self, n_rows, *n_clusters):
        self.n_rows, self.highs = n_rows, highspy.Highs()
        self.highs.setOptionValue("output_flag", False)
        self.highs.setOptionValue("threads", 1)
        self.highs.setOptionValue("solver", "ipm")
        self.highs.setOptionValue("run_crossover", "off")
        self.infinity = self.highs.getInfinity()
        n_kinds, empty = len(n_clusters), np.zeros(0)
        lower = np.append(np.ones(n_rows), np.full(n_kinds, -self.infinity))
        upper = np.append(np.full(n_rows, self.infinity), np.array(n_clusters, dtype=np.float64))
        self.highs.addRows(
            n_rows + n_kinds, lower, upper, 0, np.zeros(n_rows + n_kinds, dtype=np.int32), empty.astype(np.int32), empty
        )

    def limit(self, most, least=None):
        """Keep duals of rows at most (n_rows,), and at least: by a column of every row each; the first one's number."""
        n, first = self.n_rows, self.highs.getNumCol()
        rows, ones = np.arange(n, dtype=np.int32), np.ones(n)
        for costs, sign in ((most, 1.0),) if least is None else ((most, 1.0), (-least, -1.0)):
            self.highs.addCols(n, costs, np.zeros(n), np.full(n, self.infinity), n, rows, rows, sign * ones)
        return first

    def add(self, cost, rows, shares, kind=0):
        """Add the column of a cluster, by its rows, its shares of these and its kind; its number."""
        place = self.highs.getNumCol()
        rows = np.append(rows, self.n_rows + kind).astype(np.int32)
        self.highs.addCol(cost, 0.0, self.infinity, len(rows), rows, np.append(shares, 1.0))
        return place

    def solve(self, seconds, tolerance=FINEST):
        """Return the duals of the rows and the values of the columns; (None, None) if there are none in time."""
        self.highs.setOptionValue("ipm_optimality_tolerance", tolerance)
        self.highs.setOptionValue("time_limit", self.highs.getRunTime() + max(seconds, 1e-3))
        self.highs.run()
        if self.highs.getModelStatus() == highspy.HighsModelStatus.kTimeLimit:
            return None, None
        solution = self.highs.getSolution()
        dual = np.array(solution.row_dual)
        if len(dual) <= self.n_rows or not np.isfinite(dual).all():
            return None, None
        return np.maximum(dual[: self.n_rows], 0.0), np.array(solution.col_value)
