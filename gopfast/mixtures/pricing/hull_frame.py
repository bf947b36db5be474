"""
Coordinates along the affine hull of some means and across it, and moments of clusters there.

Theory: (Y1) and (Y6) of docs/theory/hull.md.
"""

import math

import numpy as np

from gopfast.mixtures.pricing.hull_cells import LANES, N_MOMENTS
from gopfast.mixtures.pricing.margins import HULL_MARGIN as MARGIN
from gopfast.mixtures.pricing.tuning import HULL_SMALL as SMALL
from gopfast.roundoff import ROUND


class Frame:
    """
    Samples turned so that the means lie along the first coordinates.

    Parameters
    ----------
    columns : ndarray, shape (d, n)
    means : ndarray, shape (K, d)

    Attributes
    ----------
    samples : ndarray, shape (d, n)
    means : ndarray, shape (K, d)
    n_along : int
        How many coordinates are along; d, or at most d - 2.
    """

    def __init__(self, columns, means):
        d = len(columns)
        origin = means.mean(axis=0)
        _, sizes, axes = np.linalg.svd(means - origin)
        along = int((sizes > SMALL * max(sizes.max(), 1e-300)).sum()) if len(sizes) else 0
        along = min(along, len(means) - 1)
        self.n_along = d if d - along < 2 else along
        moved = columns - origin[:, None]
        self.samples, self.means = axes @ moved, (means - origin) @ axes.T
        self.axes, self.origin = axes, origin
        self.defect = np.linalg.norm(axes @ axes.T - np.eye(d)) + 4 * d * d * ROUND
        size = np.sqrt(np.square(moved).sum(axis=0).max())
        self.shift = 8 * d**1.5 * ROUND * size
        sides = self.samples.max(axis=1) - self.samples.min(axis=1)
        self.diameter = 2.0 * np.sqrt(np.square(sides).sum()) + size

    def means_of(self, point):
        """Return the parameters (d,) whose coordinates in the frame are these."""
        return self.origin + point @ self.axes

    def rounding(self, largest, precision):
        """
        Return what prices are raised by, so that coordinates and all that is computed of them count as exact.

        Parameters
        ----------
        largest : float
            Of the prices' magnitudes.
        precision : float
            Of any component, at most.
        """
        d, D = len(self.samples), self.diameter
        moved = precision * (2.0 * self.shift * D + self.defect * D * D + 8 * (d + 8) * ROUND * D * D)
        return moved + 64 * (2 * d + 8) * ROUND * (largest + 1000.0 + d * abs(math.log(max(precision, 1e-300))))

    def raised(self, prices):
        """Return prices (n,) raised by what coordinates are rounded by, for components of precisions up to 1."""
        return prices + self.rounding(np.abs(prices).max(), 1.0)

    def order(self, labels):
        """Return an order of the samples in which those of a label that are near each other follow each other."""
        q = self.n_along
        places = np.vstack([self.samples[:q], np.sqrt(np.square(self.samples[q:]).sum(axis=0))])
        parts = []
        for k in np.unique(labels):
            todo = [np.flatnonzero(labels == k)]
            while todo:
                own = todo.pop()
                if len(own) <= LANES:
                    parts.append(own)
                    continue
                side = places[:, own]
                line = side[np.argmax(side.max(axis=1) - side.min(axis=1))]
                half = LANES * ((len(own) // LANES + 1) // 2)
                cut = np.argpartition(line, half)
                todo += [own[cut[half:]], own[cut[:half]]]
        return np.concatenate(parts)


def moments_of(z, w, prices, precision, reach):
    """
    Return a cluster's center (d,) and the row of its moments, rounded up, for `HullCells`.

    Parameters
    ----------
    z : ndarray, shape (d, n)
    w, prices : ndarray, shape (n,)
    precision : float
        Its own; of components at most 1 more.
    reach : float
        The largest distance of a component from it.
    """
    d, n = z.shape
    if n == 0:
        return np.zeros(d), np.zeros(N_MOMENTS)
    mass = math.fsum(w)
    center = z @ w / mass
    y = z - center[:, None]
    share = w / mass
    square = np.square(y).sum(axis=0)
    own = prices - 0.5 * precision * square
    mean_square, mean = math.fsum(share * square), math.fsum(share * own)
    far = square.max()
    size = np.abs(prices).max() + precision * far
    error = ROUND * (n + 64) * 4
    left = np.linalg.norm(y @ share) + error * math.sqrt(far)  # of the mean
    covariance = (y * share) @ y.T
    top = np.linalg.eigvalsh(covariance)[-1] + (error + MARGIN) * np.trace(covariance)
    of_square, of_own = square - mean_square, own - mean
    row = [
        mass * (1 + 4 * ROUND),
        mean + 16 * ROUND * (d + 8) * size + 4 * left * (precision + 1.0) * (reach + math.sqrt(far)),
        precision,
        mean_square,
        top,
        np.linalg.norm(y @ (share * of_square)) + error * far * math.sqrt(far),
        (share @ np.square(of_square)) * (1 + MARGIN) + error * far * far,
        np.linalg.norm(y @ (share * of_own)) + error * size * math.sqrt(far),
        np.sqrt((share @ np.square(of_square)) * (share @ np.square(of_own))) + error * size * far,
        (share @ np.square(of_own)) * (1 + MARGIN) + error * size * size,
    ]
    return center, np.array(row)
