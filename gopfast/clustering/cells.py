"""Prices of many samples by few numbers: one for every cell, a group of neighbours in one cluster.

The bound holds for any prices. Those of the best have lambda_i between the squared distances d_i of sample i to the
nearest of the best centers and d_i + g_i to the next. A cell s sets them all by one number u_s in [0, 1],

    lambda_i = d_i + u_s g_i   for all samples i of s,

so that the master problem has a row for every cell: sum_a G_sa z_a >= G_s, G_sa the sum of w_i g_i of the samples that
cell s and cluster a share and G_s that of all of s, and the cost of a cluster is c_a less the sum of its w_i d_i.

Theory: (K5) of docs/theory/kmeans.md.
"""

import numpy as np

from gopfast.clustering.master import Columns
from gopfast.clustering.program import Program
from gopfast.clustering.tuning import FINEST, MOST_WORTH


def divide(X, groups, n_parts):
    """
    Divide groups of rows into about n_parts, by halves of the widest column.

    Parameters
    ----------
    X : ndarray, shape (N, d)
    groups : list of ndarray of int
        Rows of every group, not empty.
    n_parts : int

    Returns
    -------
    list of ndarray of int
    """
    total = sum(map(len, groups))
    open_groups = [(rows, max(1, round(n_parts * len(rows) / total))) for rows in groups]
    done = []
    while open_groups:
        rows, parts = open_groups.pop()
        if parts < 2 or len(rows) < 2:
            done.append(rows)
            continue
        column = X[rows, np.ptp(X[rows], axis=0).argmax()]
        middle = min(max(len(rows) * (parts // 2) // parts, 1), len(rows) - 1)
        order = rows[np.argpartition(column, middle)]
        open_groups += [(order[:middle], parts // 2), (order[middle:], parts - parts // 2)]
    return done


class CellMaster(Columns):
    """
    The linear program of cells; as `gopfast.clustering.master.Master`, but for the number of cells.

    Parameters
    ----------
    X, weights, n_clusters, inertia, low, high
        As of `Master`.
    labels : ndarray of int, shape (N,)
        Nearest center of every sample.
    n_cells : int
    """

    def __init__(self, X, weights, n_clusters, inertia, low, high, labels, n_cells):
        super().__init__(X, weights)
        self.low, self.unit, self.shares = low, inertia / n_clusters, []
        self.reach = np.minimum(high - low, MOST_WORTH * inertia / weights)
        cells = divide(X, [np.flatnonzero(labels == k) for k in np.unique(labels)], n_cells)
        self.cell = np.empty(len(X), dtype=np.intp)
        for s, rows in enumerate(cells):
            self.cell[rows] = s
        self.n_cells = len(cells)
        # of samples that are as far from the next center as from their own nothing is to be priced
        self.most = np.maximum(np.bincount(self.cell, weights * self.reach, self.n_cells), 1e-12 * self.unit)
        self.program = Program(self.n_cells, n_clusters)
        self.program.limit(self.most / self.unit)

    def limited(self):
        """Whether limits that may be widened keep the value down: these may not."""
        return False

    def enter(self, own, cost):
        """Take a new cluster into the program."""
        w = self.weights[own]
        shares = np.bincount(self.cell[own], w * self.reach[own], self.n_cells) / self.most
        self.costs.append(cost - float(w @ self.low[own]))
        self.shares.append(shares)
        rows = np.flatnonzero(shares)
        self.program.add(self.costs[-1] / self.unit, rows, shares[rows])

    def solve(self, seconds, tolerance=FINEST):
        """As of `Master`."""
        dual, _ = self.program.solve(seconds, tolerance)
        if dual is None:
            return None, None
        dual = np.minimum(dual * self.unit, self.most)
        self.saved = np.reshape(self.shares, (-1, self.n_cells)) @ dual - self.costs
        return self.low + (dual / self.most)[self.cell] * self.reach, float(self.saved.max(initial=0.0))
