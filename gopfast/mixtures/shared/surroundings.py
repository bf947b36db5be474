"""
Precisions around one, at which searches are made for what they say together of all in between.

What a search proves of a mixture of known covariance is concave in the precision. So what is proved at 2 n precisions
around one, n the entries of a symmetric matrix, holds of all between them but for what the function bends: where
clusters are told apart that is little, as the best responsibilities are the same for all of these precisions.

Theory: (TF3) of docs/theory/factors.md.
"""

import math

import numpy as np


class Surroundings:
    """
    Precisions around D D, D diagonal.

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
    """

    def __init__(self, roots, radius):
        d, self.radius = len(roots), radius
        scale = np.outer(roots, roots)
        self.forms = [scale * (np.eye(d) + side * radius * unit) for unit in _units(d) for side in (1.0, -1.0)]

    def lacks(self, height, heights):
        """
        Return about what cuts of all of them lack in between, where searches lack nothing.

        That is the sum over pairs of the square of what they are below the center's tangent, over the radius.

        Parameters
        ----------
        height : float
            The optimum at D D, per unit of weight.
        heights : array_like, shape (2 n,)
            Those at `forms`.
        """
        pairs = np.asarray(heights).reshape(-1, 2).sum(axis=1)
        return float(np.square(np.maximum(0.0, 2.0 * height - pairs) / self.radius).sum())


def _units(d):
    """Return symmetric matrices (d, d) of Frobenius norm one, orthogonal, each of which has one entry or two."""
    units = []
    for i in range(d):
        for j in range(i, d):
            unit = np.zeros((d, d))
            unit[i, j] = unit[j, i] = 1.0 if i == j else math.sqrt(0.5)
            units.append(unit)
    return units
