"""Local search for classes: lines through samples, and classes drawn anew, each descended from.

A descent takes alternately every sample's class, by its least residual, and the classes' fits (Spaeth's exchange in
rounds).
"""

from collections import Counter

import numpy as np

from gopfast.clusterwise.tuning import BETTER, MOST_WORK, N_DRAWS, N_MOVES, SAME
from gopfast.starts import ENDED, Starts

# What a descent started from: classes that are given; fits through samples drawn; the best classes, one of which is
# drawn anew; what the linear program of a node prefers.
KINDS = ("given", "draws", "moves", "nodes")


class Pool:
    """
    Local optima of a problem.

    Parameters
    ----------
    search : FitSearch
    Z, y, weights : ndarray
        Samples in the core's coordinates, (N, q), (N,) and (N,).
    box : tuple of ndarray
        Of all fits.
    n_clusters : int
    seed : int

    Attributes
    ----------
    fits, labels, inertia
        The best classes: coefficients (K, q), of every sample, and their sum of squares.
    shrinks : bool
        Whether nodes take their boxes to where classes save enough: for a proof they stay as they were divided.
    ends : list of tuple
        Of each descent: its kind, its ending, of `gopfast.starts.ENDED`, and its sum of squares.
    """

    def __init__(self, search, Z, y, weights, box, n_clusters, seed):
        self.search, self.Z, self.y, self.weights, self.box = search, Z, y, weights, box
        self.n_clusters, self.rng = n_clusters, np.random.default_rng(seed)
        self.inertia, self.ends, self.shrinks = np.inf, [], True

    @property
    def centers(self):
        """The best classes' coefficients, as the loop of k-means calls them."""
        return self.fits

    def offer(self, fits, kind="nodes"):
        """Descend from coefficients (K, q) of a kind of start; whether that is the best so far."""
        labels, fits, inertia, at_rest = self.search.descend(fits, *self.box)
        self.ends.append((kind, ENDED[0 if at_rest else 1], inertia))
        better = inertia < self.inertia * (1.0 - BETTER) or self.inertia == np.inf
        if better:
            self.labels, self.fits, self.inertia = labels, fits, inertia
        return better

    def draw(self, residuals=None):
        """Return the fit through q samples, of which one is the more probable the larger its residual is."""
        (N, q), p = self.Z.shape, self.weights / self.weights.sum()
        if residuals is not None and (w := self.weights * np.square(residuals)).sum() > 0.0:
            first = self.rng.choice(N, p=w / w.sum())
        else:
            first = self.rng.choice(N, p=p)
        rows = np.append(first, self.rng.integers(N, size=q - 1))
        return np.clip(np.linalg.lstsq(self.Z[rows], self.y[rows], rcond=1e-9)[0], *self.box)

    def fill(self, late, start=None):
        """Search until `late()` or the work is done."""
        if start is not None:
            self.offer(start, "given")
        most = max(4, int(MOST_WORK / (self.Z.size * self.n_clusters)))
        for _ in range(min(max(N_DRAWS, N_DRAWS * self.n_clusters), most)):
            self.offer(np.array([self.draw() for _ in range(self.n_clusters)]), "draws")
            if late():
                return
        vain = 0
        while vain < N_MOVES * self.n_clusters and len(self.ends) < 2 * most:
            kept = self.fits.copy()
            k = self.rng.integers(self.n_clusters)
            left = np.delete(kept, k, axis=0)
            residuals = np.abs(self.y[:, np.newaxis] - self.Z @ left.T).min(axis=1) if len(left) else None
            kept[k] = self.draw(residuals)
            vain = 0 if self.offer(kept, "moves") else vain + 1
            if late():
                return

    def residuals(self):
        """Return every sample's squared residuals in the best class and in the next (N,), (N,)."""
        squares = np.sort(np.square(self.y[:, np.newaxis] - self.Z @ self.fits.T), axis=1)
        return squares[:, 0], squares[:, min(1, self.n_clusters - 1)]

    def starts(self, scale) -> Starts:
        """Return where the descents ended, in units of which one of the pool's is `scale`."""
        kinds, endings, values = zip(*self.ends, strict=True)
        above = (np.array(values) - min(values)) * scale
        counted = Counter(zip(kinds, endings, strict=True))
        counts = {kind: {how: counted[kind, how] for how in ENDED} for kind in KINDS}
        return Starts(counts, kinds, endings, above, SAME * min(values) * scale)
