"""
Core coordinates of mixtures with covariance matrices, and what their rounding may move a bound by.

The core sees columns z = axes (x - center), a floor F = axes diag(floor) axes' as W with W F W' = I, and the constant
-(total weight) log |det axes|. In floats all three differ from what they stand for, by as much as the axes are
ill-conditioned. The core's bounds are proved for the columns and for W as they are; what the data's own optimum may lie
below that of the core's is bounded here. Determinants, inverses and W F W' are computed in rational arithmetic.

- Columns off by e_i: the cost G of a covariance C changes by at most sqrt(d) r + r^2 / 2, where r^2 is the mean of
  |W e_i|^2, since the best Sigma has tr(Sigma^-1 C) <= d and Sigma >= F. Over components this adds up by Jensen.
- W F W' >= (1 - t) I: the core's floor is at most F / (1 - t), and a floor of F / (1 - t) costs at most -d/2 log(1 - t)
  more than F, as Sigma / (1 - t) is above it if Sigma is above F.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gopfast.roundoff import ROUND

# What a coordinate system may cost per unit of weight before a safer one is tried, in nats.
SAFE = 1e-9
# Relative slack of error bounds: far above their own rounding, which a few operations leave.
SLACK = 1e-6


class Coordinates(NamedTuple):
    """
    Samples in the core's coordinates.

    Columns (d, n), the floor F (d, d) as exact Fractions and its whitening W (d, d) with W F W' = I, lower triangular,
    the constant of the objective, and a bound of what rounding of all of them may add to a bound, in nats.
    """

    columns: np.ndarray
    whiten: np.ndarray
    floor: list
    constant: float
    error: float


def coordinates(X, weights, center, axes, floor):
    """
    Transform samples.

    Parameters
    ----------
    X : ndarray, shape (n, d)
    weights : ndarray, shape (n,)
        Positive.
    center : ndarray, shape (d,)
    floor : ndarray, shape (d,)
        Least variances, in squared units of X.
    axes : ndarray, shape (d, d)

    Returns
    -------
    Coordinates
    """
    d, total = len(axes), math.fsum(weights)
    centred = X - center
    exact_floor = _floor(axes, floor)
    whiten = whitening(exact_floor)
    error = _column_error(centred, weights / total, axes, whiten) + _floor_error(whiten, exact_floor)
    constant = -total * log_abs_det(axes) if np.isfinite(error) else 0.0
    return Coordinates(axes @ centred.T, whiten, exact_floor, constant, total * error + 8 * ROUND * d * total)


def safest(candidates, X, weights, center, floor):
    """Return the first of several axes (d, d) whose rounding is negligible, or else those that lose the least."""
    losses = []
    for axes in candidates:
        try:
            loss = coordinates(X, weights, center, axes, floor).error / math.fsum(weights)
        except (ZeroDivisionError, ValueError, OverflowError):  # singular, or not finite
            loss = math.inf
        if loss <= SAFE:
            return axes
        losses.append(loss)
    return candidates[int(np.argmin(losses))]


def _column_error(centred, shares, axes, whiten):
    """Bound the change of the cost in nats per unit of weight by the rounding of the columns; centred (n, d)."""
    d = len(axes)
    # a difference, and a sum of d products: each within d + 3 ulps of its terms' magnitudes
    off = (np.abs(whiten) @ np.abs(axes)) @ np.abs(centred.T)
    mean = float(shares @ np.square(off).sum(axis=0))
    root = (d + 3) * ROUND * math.sqrt(mean) * (1.0 + SLACK)
    return math.sqrt(d) * root + 0.5 * root * root


def _floor(axes, floor):
    """Exact axes diag(floor) axes'."""
    rows, floor = rational(axes), [Fraction(x) for x in floor.tolist()]
    return [[sum(a * b * f for a, b, f in zip(one, other, floor, strict=True)) for other in rows] for one in rows]


def whitening(matrix):
    """Return the inverse Cholesky factor (d, d) of a positive definite matrix of Fractions, within few ulps.

    ZeroDivisionError if it is singular.
    """
    d = len(matrix)
    rows = [list(row) + [Fraction(i == j) for j in range(d)] for i, row in enumerate(matrix)]
    for i in range(d):
        for j in range(i + 1, d):
            factor = rows[j][i] / rows[i][i]
            rows[j] = [x - factor * y for x, y in zip(rows[j], rows[i], strict=True)]
    return np.array([[float(x) / math.sqrt(row[i]) for x in row[d:]] for i, row in enumerate(rows)])


def _floor_error(whiten, floor):
    """Bound what the core's floor costs more than the floor, in nats per unit of weight."""
    W, d = rational(whiten), len(whiten)
    half = [[sum(a * b for a, b in zip(row, column, strict=True)) for column in floor] for row in W]
    away = max(
        sum(abs(sum(a * b for a, b in zip(half[i], W[j], strict=True)) - (i == j)) for j in range(d)) for i in range(d)
    )
    return math.inf if away >= Fraction(1, 2) else -0.5 * d * math.log1p(-float(away)) * (1.0 + SLACK)


def rational(matrix):
    """Return the rows of a matrix as Fractions."""
    return [[Fraction(x) for x in row] for row in np.asarray(matrix, dtype=np.float64).tolist()]


def eliminated(matrix):
    """Return the determinant and the inverse of a square matrix of Fractions; ZeroDivisionError if it is singular."""
    d, det = len(matrix), Fraction(1)
    rows = [list(row) + [Fraction(i == j) for j in range(d)] for i, row in enumerate(matrix)]
    for i in range(d):
        pivot = max(range(i, d), key=lambda row: abs(rows[row][i]))
        if pivot != i:
            rows[i], rows[pivot], det = rows[pivot], rows[i], -det
        det *= rows[i][i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for j in range(d):
            if j != i and rows[j][i]:
                rows[j] = [x - rows[j][i] * y for x, y in zip(rows[j], rows[i], strict=True)]
    return det, [row[d:] for row in rows]


def log_abs_det(matrix):
    """Return log |det| of a matrix of floats, rounded once or twice."""
    return log_abs(eliminated(rational(matrix))[0])


def log_abs(x):
    """Return log |x| of a Fraction of any size."""
    shift = x.numerator.bit_length() - x.denominator.bit_length()
    return math.log(abs(x) / Fraction(2) ** shift) + shift * math.log(2.0)


def floats(matrix):
    """Return an array of the nearest floats of Fractions."""
    return np.array([[float(x) for x in row] for row in matrix])
