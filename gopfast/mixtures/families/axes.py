"""
Core coordinates of mixtures with covariance matrices, and what their rounding may move a bound by.

The core sees columns z = axes (x - center), a floor F = axes diag(floor) axes' as W with W F W' = I, and the constant
-(total weight) log |det axes|. In floats all three differ from what they stand for, by as much as the axes are
ill-conditioned. The core's bounds are proved for the columns and for W as they are; what the data's own optimum may lie
below that of the core's is bounded here. Determinants, inverses and W F W' are computed exactly, in integers over one
common denominator: fractions would be reduced at every step.

- Columns off by e_i: the cost G of a covariance C changes by at most sqrt(d) r + r^2 / 2, where r^2 is the mean of
  |W e_i|^2, since the best Sigma has tr(Sigma^-1 C) <= d and Sigma >= F. Over components this adds up by Jensen.
- W F W' >= (1 - t) I: the core's floor is at most F / (1 - t), and a floor of F / (1 - t) costs at most -d/2 log(1 - t)
  more than F, as Sigma / (1 - t) is above it if Sigma is above F.

Theory: (R5) of docs/theory/rounding.md.
"""

import math
import operator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gopfast.mixtures.families.margins import AXES_SLACK as SLACK
from gopfast.mixtures.families.tuning import SAFE
from gopfast.roundoff import ROUND


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
    rows, q = _integers(rational(axes))
    (squares,), r = _integers([[Fraction(x) for x in floor.tolist()]])
    scaled = [[a * f for a, f in zip(row, squares, strict=True)] for row in rows]
    return [[Fraction(_dot(one, other), q * q * r) for other in rows] for one in scaled]


def whitening(matrix):
    """Return the inverse Cholesky factor (d, d) of a positive definite matrix of Fractions, within few ulps.

    ZeroDivisionError if it is singular.
    """
    d = len(matrix)
    rows, q = _integers(matrix)
    rows = [row + [int(i == j) for j in range(d)] for i, row in enumerate(rows)]
    found, last = [], 1
    for i in range(d):
        # without fractions row i is what elimination leaves of it, times the leading minor of i rows, which is `last`
        pivot = rows[i][i]
        size = math.sqrt(Fraction(pivot, last * q))
        found.append([x / last / size for x in rows[i][d:]])
        for j in range(i + 1, d):
            rows[j] = _combined(rows[j], rows[i], i, pivot, last)
        last = pivot
    return np.array(found)


def _floor_error(whiten, floor):
    """Bound what the core's floor costs more than the floor, in nats per unit of weight."""
    d, (W, p), (F, q) = len(whiten), _integers(rational(whiten)), _integers(floor)
    one = p * p * q
    half = [[_dot(row, column) for column in F] for row in W]  # F is symmetric
    away = Fraction(max(sum(abs(_dot(half[i], W[j]) - one * (i == j)) for j in range(d)) for i in range(d)), one)
    return math.inf if away >= Fraction(1, 2) else -0.5 * d * math.log1p(-float(away)) * (1.0 + SLACK)


def rational(matrix):
    """Return the rows of a matrix as Fractions."""
    return [[Fraction(x) for x in row] for row in np.asarray(matrix, dtype=np.float64).tolist()]


def _integers(matrix):
    """Return rows of integers and the common denominator of the rows of Fractions that they stand for."""
    q = math.lcm(*(x.denominator for row in matrix for x in row))
    return [[x.numerator * (q // x.denominator) for x in row] for row in matrix], q


def _dot(one, other):
    return sum(map(operator.mul, one, other))


def _combined(row, other, i, pivot, last):
    """Return a row of integers with 0 as entry i, another one's pivot, by Bareiss's division, which leaves no rest."""
    factor = row[i]
    return [(pivot * x - factor * y) // last for x, y in zip(row, other, strict=True)]


def _reduced(rows):
    """
    Reduce integers (d, d) and what stands beside them to a multiple of the unit matrix, without fractions.

    Returns
    -------
    det : int
        The determinant, signed as the order of the rows that is left has it.
    rows : list of list of int
        det times the unit matrix, and beside it det times what was there, solved for.
    """
    d, last, sign = len(rows), 1, 1
    for i in range(d):
        at = max(range(i, d), key=lambda row: abs(rows[row][i]))
        pivot = rows[at][i]
        if pivot == 0:
            raise ZeroDivisionError("singular matrix")
        if at != i:
            rows[i], rows[at], sign = rows[at], rows[i], -sign
        rows = [row if j == i else _combined(row, rows[i], i, pivot, last) for j, row in enumerate(rows)]
        last = pivot
    return sign * last, rows


def eliminated(matrix):
    """Return the determinant and the inverse of a square matrix of Fractions; ZeroDivisionError if it is singular."""
    d, (rows, q) = len(matrix), _integers(matrix)
    det, rows = _reduced([row + [int(i == j) for j in range(d)] for i, row in enumerate(rows)])
    return Fraction(det, q**d), [[Fraction(q * x, row[i]) for x in row[d:]] for i, row in enumerate(rows)]


def determinant(matrix):
    """Return the determinant of a square matrix of Fractions; ZeroDivisionError if it is singular."""
    rows, q = _integers(matrix)
    return Fraction(_reduced(rows)[0], q ** len(rows))


def log_abs_det(matrix):
    """Return log |det| of a matrix of floats, rounded once or twice."""
    return log_abs(determinant(rational(matrix)))


def log_abs(x):
    """Return log |x| of a Fraction of any size."""
    shift = x.numerator.bit_length() - x.denominator.bit_length()
    return math.log(abs(x) / Fraction(2) ** shift) + shift * math.log(2.0)


def floats(matrix):
    """Return an array of the nearest floats of Fractions."""
    return np.array([[float(x) for x in row] for row in matrix])
