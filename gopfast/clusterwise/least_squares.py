"""Least squares in rational numbers, of floats as they are.

Theory: (JL7) of docs/theory/clusterwise.md.
"""

from fractions import Fraction
from operator import mul

import numpy as np


def least_squares(X, y, weights, fit_intercept):
    """
    Fit a weighted regression exactly.

    Sums of products are of whole numbers, as the floats of a column are whole multiples of a power of 2; the normal
    equations are solved in Fractions by Gauss's elimination, with the response as one more column: what is left of it
    then is the sum of squares.

    Parameters
    ----------
    X : ndarray, shape (n, p)
    y, weights : ndarray, shape (n,)
        Weights positive.
    fit_intercept : bool

    Returns
    -------
    coefficients : list of Fraction
        The intercept first, if there is one; what samples do not tell is 0.
    squares : Fraction
        Weighted sum of squared residuals.
    rank : int
        How many coefficients samples tell.
    """
    columns = [_whole(column) for column in (*[np.ones(len(y))] * fit_intercept, *X.T, y)]
    weight, of_weight = _whole(weights)
    q = len(columns) - 1
    normal = [[Fraction(0)] * (q + 1) for _ in range(q + 1)]
    for j, (column, _) in enumerate(columns):
        weighted = list(map(mul, weight, column))
        for k in range(j, q + 1):
            normal[j][k] = normal[k][j] = Fraction(sum(map(mul, weighted, columns[k][0])))
    pivots = []
    for j in range(q):
        if normal[j][j] == 0:  # then its whole row is 0
            continue
        pivots.append(j)
        for k in range(q + 1):
            if k != j and normal[k][j] != 0:
                factor = normal[k][j] / normal[j][j]
                normal[k] = [a - factor * b for a, b in zip(normal[k], normal[j], strict=True)]
    of_response = columns[-1][1]
    found = [
        normal[j][q] / normal[j][j] * Fraction(2) ** (columns[j][1] - of_response) if j in pivots else Fraction(0)
        for j in range(q)
    ]
    return found, normal[q][q] / Fraction(2) ** (2 * of_response + of_weight), len(pivots)


def _whole(column):
    """Return whole numbers and e of floats (n,), which are these times 2^-e."""
    ratios = [number.as_integer_ratio() for number in column.tolist()]
    size = max((below.bit_length() for _, below in ratios), default=1)
    return [above << (size - below.bit_length()) for above, below in ratios], size - 1
