"""
What a mixture of regressions is in the core's coordinates, and the box of all fits.

A regression on q columns (the constant among them) is known by its values at q samples, the *places*: those are its
coefficients here, and a sample's regressors z are the weights with which the values at the places give that at the
sample. Places are chosen so that no weight is much above 1. The response is in units of the noise, less a regression of
all samples. All of this is computed in fractions, and rounded once.

A weighted least-squares fit is a convex combination of the fits through q samples each, with weights that are products
of the samples' weights and squared determinants (Jacobi). So the values of any component at the places lie in the range
of those of the fits through q samples; of lines it is that of the lines through neighbours.

Theory: (J1) and (J4) of docs/theory/regression.md; (JC1) of docs/theory/counts.md.
"""

import itertools
import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gopfast.errors import InputError
from gopfast.mixtures.families.axes import eliminated, rational
from gopfast.mixtures.families.margins import CERTAIN, DESIGN_SLACK as SLACK
from gopfast.mixtures.families.tuning import CHUNK, GAIN, MOST_EXACT, MOST_EXCHANGES, MOST_FITS
from gopfast.roundoff import ROUND

# Coefficients of a component: the core has room for so many.
MOST_COEFFICIENTS = 8


class Design(NamedTuple):
    """
    Samples of positive weight in the core's coordinates.

    y (n,) and z (q, n), rounded once; their weights (n,); the unit of y; the box (low, high), each (q,), of the
    coefficients of all fits; the largest variance that a component can have; places (q, q) as rows of the user's
    regressors and values (q,) there that y is less of, both exact; whether there is an intercept, the last coefficient.
    """

    y: np.ndarray
    z: np.ndarray
    weights: np.ndarray
    unit: float
    low: np.ndarray
    high: np.ndarray
    largest_variance: float
    places: list
    values: list
    fit_intercept: bool

    def in_core(self, coefficients, intercepts=None):
        """Return values at the places (K, q) in the core's units of coefficients (K, p) and intercepts (K,)."""
        rows = np.asarray(coefficients, dtype=np.float64)
        if self.fit_intercept:
            rows = np.column_stack([rows, np.zeros(len(rows)) if intercepts is None else intercepts])
        unit = Fraction(self.unit)
        return np.array([
            [float((sum(map(_times, place, row)) - value) / unit)
             for place, value in zip(self.places, self.values, strict=True)]
            for row in rational(rows)
        ])  # fmt: skip

    def in_users(self, cells, variances=None, name="variances"):
        """Return coefficients (K, p), intercepts (K,) and variances (K,) by name, of values (K, q) at the places."""
        _, inverse = eliminated(self.places)
        unit = Fraction(self.unit)
        rows = np.array([
            [float(sum(map(_times, line, [unit * x + value for x, value in zip(at, self.values, strict=True)])))
             for line in inverse]
            for at in rational(cells)
        ])  # fmt: skip
        found = {"coefficients": rows[:, :-1], "intercepts": rows[:, -1]} if self.fit_intercept else {
            "coefficients": rows
        }  # fmt: skip
        if variances is not None:
            found[name] = np.maximum(1.0, variances) * self.unit**2
        return found


def design_of(X, y, weights, unit, fit_intercept, away=0.0):
    """
    Make the Design of samples.

    Parameters
    ----------
    X : ndarray, shape (n, p)
        Regressors of the samples of positive weight, of full rank, with a constant if there is an intercept.
    y, weights : ndarray, shape (n,)
    unit : float
        Standard deviation that is 1 in the core.
    fit_intercept : bool
    away : float
        What the responses of which the fits are may differ from y by, in its unit.

    Raises
    ------
    InputError
        If there are too many sets of q samples to bound the fits.
    """
    rows = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    unique, of = np.unique(rows, axis=0, return_inverse=True)
    at = _places(unique, fit_intercept)
    exact = rational(unique)
    places = [exact[i] for i in at]
    _, inverse = eliminated(places)
    q = len(places)
    exact_z = [[sum(row[i] * inverse[i][j] for i in range(q)) for j in range(q)] for row in exact]
    z = np.array([[float(x) for x in row] for row in exact_z])
    root = np.sqrt(weights)
    fitted = np.linalg.lstsq(root[:, np.newaxis] * z[of.ravel()], root * y, rcond=None)[0]
    values = [Fraction(x) for x in fitted.tolist()]
    shift = [sum(map(_times, row, values)) for row in exact_z]
    scale = Fraction(unit)
    response = np.array([float((Fraction(x) - shift[i]) / scale) for x, i in zip(y.tolist(), of.ravel(), strict=True)])
    low, high = np.full(len(unique), np.inf), np.full(len(unique), -np.inf)
    np.minimum.at(low, of.ravel(), response)
    np.maximum.at(high, of.ravel(), response)
    away = away / unit * (1.0 + 4 * ROUND)
    box = hull(z, exact_z, low - 2 * ROUND * np.abs(low) - away, high + 2 * ROUND * np.abs(high) + away)
    largest = 0.5 * np.ptp(response) if fit_intercept else np.abs(response).max()
    return Design(
        response, np.ascontiguousarray(z[of.ravel()].T), np.ascontiguousarray(weights), unit, *box,
        float(largest**2) * (1 + 64 * SLACK) + SLACK, places, values, fit_intercept,
    )  # fmt: skip


def hull(z, exact, low, high):
    """
    Return the box (q,), (q,) of all fits through q samples, rounded outward.

    Parameters
    ----------
    z : ndarray, shape (m, q)
        Distinct regressors, each rounded once.
    exact : list of list of Fraction
        The same.
    low, high : ndarray, shape (m,)
        Range of the responses of samples that have these.
    """
    blocks = _blocks(z)
    if len(blocks) > 1:  # whose normal equations are their own
        least, most = np.empty(z.shape[1]), np.empty(z.shape[1])
        for block in blocks:
            rows = np.flatnonzero(z[:, block].any(axis=1))
            own = [[exact[i][j] for j in block] for i in rows]
            least[block], most[block] = hull(z[np.ix_(rows, block)], own, low[rows], high[rows])
        return least, most
    m, q = z.shape
    sets, n_sets = _neighbours(exact) if q == 2 else (itertools.combinations(range(m), q), math.comb(m, q))
    if q > MOST_COEFFICIENTS or n_sets > MOST_FITS:
        raise InputError(
            f"X has {m} distinct rows and {q} coefficients, of which {n_sets:.3g} sets of {q} rows bound the "
            f"fits: at most {MOST_FITS:.3g} are tried, and {MOST_COEFFICIENTS} coefficients; round X, or leave out "
            "columns"
        )
    least, most, n_exact = np.full(q, np.inf), np.full(q, -np.inf), 0
    # equal where the exact numbers are
    codes = np.array([np.unique([exact[i][j] for i in range(m)], return_inverse=True)[1] for j in range(q)]).T
    while len(some := np.array(list(itertools.islice(sets, CHUNK)), dtype=np.intp).reshape(-1, q)):
        # rows in which two columns are constant are dependent
        some = some[(np.ptp(codes[some], axis=1) == 0).sum(axis=1) < 2]
        if not len(some):
            continue
        determinant, error = _determinant(z[some])
        certain = np.abs(determinant) > CERTAIN * error
        doubtful = some[~certain]
        n_exact += len(doubtful)
        if n_exact > MOST_EXACT:
            raise InputError(
                f"X has more than {MOST_EXACT} sets of {q} rows that are nearly dependent: the fits through them "
                "cannot be bounded; round X"
            )
        weights = [_weights_exactly([exact[i] for i in rows]) for rows in doubtful]
        kept = [i for i, found in enumerate(weights) if found is not None]
        if kept:
            found = np.array([weights[i] for i in kept])
            _widen(least, most, found, 4 * ROUND * np.abs(found), low[doubtful[kept]], high[doubtful[kept]])
        some, determinant, error = some[certain], determinant[certain], error[certain]
        if len(some):
            _widen(least, most, *_weights(z[some], determinant, error), low[some], high[some])
    size = SLACK * np.maximum(np.abs(least), np.abs(most))
    return least - size, most + size


def _neighbours(rows):
    """Return pairs of rows of two Fractions whose directions are neighbours on the circle of all, and their number."""
    by_direction = {}
    for i, (x, y) in enumerate(rows):
        if x or y:
            by_direction.setdefault((0, x / y) if y else (1, 0), []).append(i)
    turn = [by_direction[direction] for direction in sorted(by_direction)]
    pairs = list(zip(turn, turn[1:] + turn[:1], strict=True))[: len(turn) if len(turn) > 2 else 1]
    n_pairs = sum(len(one) * len(other) for one, other in pairs)
    return (pair for own in pairs for pair in itertools.product(*own)), n_pairs


def _blocks(z):
    """Return the columns of z (m, q) in blocks: no row has entries beside 0 in two of them."""
    used, left, blocks = z != 0.0, set(range(z.shape[1])), []
    while left:
        block = {min(left)}
        while more := {int(j) for j in np.flatnonzero(used[used[:, sorted(block)].any(axis=1)].any(axis=0))} - block:
            block |= more
        blocks.append(sorted(block))
        left -= block
    return blocks


def _places(rows, fit_intercept):
    """Choose q of the rows (m, q) whose determinant no exchange of one of them enlarges much."""
    q = rows.shape[1]
    middle = 0.5 * rows.min(axis=0) + 0.5 * rows.max(axis=0)
    if fit_intercept:  # the last column is constant: what is taken off the others changes no determinant
        middle[-1] = 0.0
        rows = rows - middle
    scaled = rows / np.abs(rows).max(axis=0)
    at, left = [], scaled.copy()
    for _ in range(q):
        at.append(int(np.square(left).sum(axis=1).argmax()))
        direction = left[at[-1]] / np.linalg.norm(left[at[-1]])
        left = left - np.outer(left @ direction, direction)
    for _ in range(MOST_EXCHANGES):
        weights = np.abs(np.linalg.solve(scaled[at].T, scaled.T))
        j, i = np.unravel_index(weights.argmax(), weights.shape)
        if weights[j, i] <= GAIN:
            break
        at[j] = int(i)
    return at


def _determinant(matrices):
    """Return determinants of matrices (c, q, q) of numbers that are rounded once, and bounds of their errors."""
    c, _, q = matrices.shape
    total, size = np.zeros(c), np.zeros(c)
    for order in itertools.permutations(range(q)):
        term = np.ones(c)
        for i, j in enumerate(order):
            term = term * matrices[:, i, j]
        total += _sign(order) * term
        size += np.abs(term)
    return total, (2 * q + math.factorial(q) + 4) * ROUND * size


def _weights(matrices, determinant, error):
    """Return inverses' entries (c, q, q), row i and coefficient j, and bounds of their errors."""
    c, _, q = matrices.shape
    found, away = np.empty((c, q, q)), np.empty((c, q, q))
    room = np.abs(determinant) - error
    for i, j in np.ndindex(q, q):
        rows, columns = [a for a in range(q) if a != i], [a for a in range(q) if a != j]
        minor, off = _determinant(matrices[:, rows][:, :, columns])
        found[:, i, j] = (-1.0) ** (i + j) * minor / determinant
        away[:, i, j] = (off + np.abs(found[:, i, j]) * error) / room * (1 + 64 * ROUND)
    return found, away + 4 * ROUND * np.abs(found)


def _weights_exactly(rows):
    """Return the same (q, q) of rows of Fractions, rounded once; None where they are dependent."""
    try:
        _, inverse = eliminated(rows)
    except ZeroDivisionError:
        return None
    return [[float(inverse[j][i]) for j in range(len(rows))] for i in range(len(rows))]


def _widen(least, most, weights, away, low, high):
    """Let the box (least, most), (q,) each, hold the sums over i of weights (c, q, q) times numbers in [low, high]."""
    low, high = low[:, :, np.newaxis], high[:, :, np.newaxis]
    size = np.maximum(np.abs(low), np.abs(high))
    error = ((away + 8 * len(least) * ROUND * np.abs(weights)) * size).sum(axis=1) * (1 + 64 * ROUND)
    np.minimum(least, (np.minimum(weights * low, weights * high).sum(axis=1) - error).min(axis=0), out=least)
    np.maximum(most, (np.maximum(weights * low, weights * high).sum(axis=1) + error).max(axis=0), out=most)


def _sign(order):
    """Return the sign of a permutation."""
    return 1 if sum(a > b for a, b in itertools.combinations(order, 2)) % 2 == 0 else -1


def _times(a, b):
    return a * b
