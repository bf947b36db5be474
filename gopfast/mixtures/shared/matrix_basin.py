"""
The basin of a covariance matrix: what searches of known covariances around one prove of all matrices near it.

What a search proves is concave in the precision. So what 2 n precisions around one prove, n the entries of a symmetric
matrix, is proved of all between them but for what the function bends: where clusters are told apart that is little,
as the best responsibilities are the same for all of these precisions.

Theory: (TB1) of docs/theory/matrix_basins.md.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np

from gopfast.mixtures.shared.margins import SLICES_SLACK as SLACK, SUM


class Depth(NamedTuple):
    """What a basin proves, per unit of weight: `least` of all matrices in it.

    Besides the least eigenvalue of the quadratic functions below it, and how far their bottoms are from the center:
    what is proved of a matrix at a distance is more, see `Cells.in_basins`.
    """

    least: float
    steep: float
    off: float


class MatrixBasin:
    """
    Precisions around D D, D diagonal, at which searches prove something of all between them.

    Parameters
    ----------
    roots : ndarray, shape (d,)
        The diagonal of D.
    radius : float
        How far they are from D D: Frobenius norm of X, of D (I + X) D. Below one.

    Attributes
    ----------
    forms : list of ndarray, shape (d, d)
        The precisions, in pairs that are opposite to each other.
    reach : float
        Of matrices P in it, Frobenius norm of (D P D)^-1 - I.
    """

    def __init__(self, roots, radius):
        self.roots, self.radius = np.array(roots, dtype=float), radius
        d = len(self.roots)
        self.units = [_unit(d, i, j) for i in range(d) for j in range(i, d)]
        scale = np.outer(self.roots, self.roots)
        self.forms = [scale * (np.eye(d) + side * radius * unit) for unit in self.units for side in (1.0, -1.0)]
        self.reach = radius / math.sqrt(len(self.units)) * (1.0 - SLACK)

    def depth(self, height, heights):
        """
        Return what the basin proves of the function of (TF1), None if nothing.

        Parameters
        ----------
        height : float
            b of the cut at D D.
        heights : ndarray, shape (2 n,)
            Those of the cuts at `forms`.
        """
        d = len(self.roots)
        slopes = (np.asarray(heights) - height).reshape(-1, 2) / self.radius * (1.0, -1.0)
        sides = np.array(list(itertools.product((0, 1), repeat=len(self.units))))
        chosen = 2.0 * slopes[np.arange(len(self.units)), sides]  # (2^n, n)
        S = np.tensordot(chosen, np.array(self.units), axes=1)
        values = np.linalg.eigvalsh(S)
        steep = float(values.min()) * (1.0 - SLACK)
        if not steep > SLACK * float(values.max()):
            return None
        off = float(np.sqrt(np.square(1.0 / values - 1.0).sum(axis=1)).max())
        logs = np.log(values)
        least = float((0.5 * logs.sum(axis=1) - 0.5 * np.trace(S, axis1=1, axis2=2)).min())
        fixed = float(np.log(self.roots).sum())
        # eigenvalues are off by some u of the largest
        size = abs(height) + float(np.abs(heights).max()) / self.radius + float(np.abs(logs).sum(axis=1).max())
        size += d * float(values.max()) / steep + float(np.abs(np.log(self.roots)).sum())
        return Depth(height - fixed + least - SUM * d * size, steep, off * (1.0 + SLACK) + SLACK)

    def bends(self, height, heights):
        """Return about what the basin lacks of the function, where searches lack nothing, per unit of weight."""
        pairs = np.asarray(heights).reshape(-1, 2).sum(axis=1)
        return float(np.square(np.maximum(0.0, 2.0 * height - pairs) / self.radius).sum())


def _unit(d, i, j):
    """Return a symmetric matrix (d, d) of Frobenius norm one, which has one entry or two."""
    unit = np.zeros((d, d))
    unit[i, j] = unit[j, i] = 1.0 if i == j else math.sqrt(0.5)
    return unit
