"""Local search for good clusterings: k-means++ draws and centers moved elsewhere, each descended from.

Theory: (S9) of docs/theory/search.md.
"""

from collections import Counter

import numpy as np

from gopfast.clustering.line import best_stretches, rounding
from gopfast.clustering.lloyd import descend, draw
from gopfast.clustering.tuning import (
    BETTER,
    N_DRAWS,
    N_FULL,
    N_KICKS,
    SAME,
    SEARCH_MOST_WORK as MOST_WORK,
    SEARCH_SAMPLED as SAMPLED,
)
from gopfast.starts import ENDED, Starts

# What a descent started from: centers that are given; draws of k-means++; the best of a search on some of the samples;
# the best clustering, one center of it drawn anew; what the linear program of a node prefers.
KINDS = ("given", "draws", "clusters", "moves", "nodes")


class Pool:
    """
    Local optima of a k-means problem.

    Parameters
    ----------
    X, weights, n_clusters
        As of `gopfast.clustering.node.Node`.
    seed : int

    Attributes
    ----------
    centers, labels, inertia
        The best clustering.
    columns : dict
        Clusters met, as indices of samples, by their bytes.
    ends : list of tuple
        Of each descent: its kind, its ending, of `gopfast.starts.ENDED`, and its inertia.
    """

    def __init__(self, X, weights, n_clusters, seed):
        self.X, self.weights, self.n_clusters = X, weights, n_clusters
        self.rng = np.random.default_rng(seed)
        self.inertia, self.columns, self.ends = np.inf, {}, []

    def offer(self, centers, kind="nodes"):
        """Descend from centers of a kind of start; whether that is the best so far."""
        labels, centers, inertia, at_rest = descend(self.X, self.weights, centers)
        self.ends.append((kind, ENDED[0 if at_rest else 1], inertia))
        better = inertia < self.inertia * (1.0 - BETTER) or self.inertia == np.inf
        if better:
            self.labels, self.centers, self.inertia = labels, centers, inertia
        order = np.argsort(labels, kind="stable")
        for own in np.split(order.astype(np.int32), np.cumsum(np.bincount(labels, minlength=len(centers)))[:-1]):
            if len(own):
                self.columns.setdefault(own.tobytes(), own)
        return better

    def fill(self, late, start=None):
        """Search until `late()` or the work is done."""
        if start is not None:
            self.offer(start, "given")
        if len(self.X) > SAMPLED:
            self._fill_by_some(late)
            return
        most = max(2, int(MOST_WORK / (self.X.size * self.n_clusters)))
        for _ in range(min(N_DRAWS, most)):
            self.offer(draw(self.X, self.weights, self.n_clusters, self.rng), "draws")
            if late():
                return
        vain = 0
        while vain < N_KICKS + 5 * self.n_clusters and len(self.ends) < most:
            kept = np.delete(self.centers, self.rng.integers(self.n_clusters), axis=0)
            better = self.offer(draw(self.X, self.weights, self.n_clusters, self.rng, kept), "moves")
            vain = 0 if better else vain + 1
            if late():
                return

    def starts(self, scale) -> Starts:
        """Return where the descents ended, in units of which one of the pool's is `scale`."""
        kinds, endings, values = zip(*self.ends, strict=True)
        above = (np.array(values) - min(values)) * scale
        counted = Counter(zip(kinds, endings, strict=True))
        counts = {kind: {how: counted[kind, how] for how in ENDED} for kind in KINDS}
        return Starts(counts, kinds, endings, above, SAME * min(values) * scale)

    def _fill_by_some(self, late):
        """Descend on all samples from the best on some of them, a few times anew."""
        for _ in range(N_FULL):
            rows = np.sort(self.rng.choice(len(self.X), SAMPLED, replace=False))
            seed = self.rng.integers(2**31)
            some = Pool(np.ascontiguousarray(self.X[rows]), self.weights[rows], self.n_clusters, seed)
            some.fill(late)
            self.offer(some.centers, "clusters")
            if late():
                return


def best_line(x, weights, n_clusters):
    """
    Return the best clusters of one column, and what rounding may cost.

    Parameters
    ----------
    x : ndarray, shape (N,)
        Distinct.
    weights : ndarray, shape (N,)
    n_clusters : int
        Fewer than N.

    Returns
    -------
    labels : ndarray of int, shape (N,)
    error : float
        The inertia is at most this far from the least.
    """
    order = np.argsort(x, kind="stable")
    begins = best_stretches(x[order], weights[order], n_clusters)
    labels = np.zeros(len(x), dtype=np.intp)
    labels[order] = np.searchsorted(begins, np.arange(len(x)), side="right") - 1
    # its means are those of double precision, each a sum of N terms
    means = float(np.square(8.0 * len(x) * np.finfo(float).eps) * (weights @ np.square(x)))
    return labels, rounding(x, weights, n_clusters) + means
