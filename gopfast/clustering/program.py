"""A linear program over clusters, in HiGHS: one row for every price, and one for the number of clusters.

Theory: (K4) of docs/theory/kmeans.md.
"""

import highspy
import numpy as np

from gopfast.clustering.tuning import FINEST


class Program:
    """
    The program min sum_a cost_a z_a with rows sum_a share_ra z_a >= 1 and sum_a z_a <= K, z >= 0; columns are added.

    An interior-point method without crossover returns duals from the middle of all that are optimal.

    Parameters
    ----------
    n_rows, n_clusters : int
    """

    def __init__(self, n_rows, n_clusters):
        self.n_rows, self.highs = n_rows, highspy.Highs()
        self.highs.setOptionValue("output_flag", False)
        self.highs.setOptionValue("threads", 1)
        self.highs.setOptionValue("solver", "ipm")
        self.highs.setOptionValue("run_crossover", "off")
        self.infinity = self.highs.getInfinity()
        lower = np.append(np.ones(n_rows), -self.infinity)
        upper = np.append(np.full(n_rows, self.infinity), float(n_clusters))
        empty = np.zeros(0)
        self.highs.addRows(
            n_rows + 1, lower, upper, 0, np.zeros(n_rows + 1, dtype=np.int32), empty.astype(np.int32), empty
        )

    def limit(self, most, least=None):
        """Keep duals of rows at most (n_rows,), and at least: by a column of every row each; the first one's number."""
        n, first = self.n_rows, self.highs.getNumCol()
        rows, ones = np.arange(n, dtype=np.int32), np.ones(n)
        for costs, sign in ((most, 1.0),) if least is None else ((most, 1.0), (-least, -1.0)):
            self.highs.addCols(n, costs, np.zeros(n), np.full(n, self.infinity), n, rows, rows, sign * ones)
        return first

    def add(self, cost, rows, shares):
        """Add the column of a cluster, by its rows and its shares of these; its number."""
        place = self.highs.getNumCol()
        rows = np.append(rows, self.n_rows).astype(np.int32)
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
        if len(dual) != self.n_rows + 1 or not np.isfinite(dual).all():
            return None, None
        return np.maximum(dual[:-1], 0.0), np.array(solution.col_value)
