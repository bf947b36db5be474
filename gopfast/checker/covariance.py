"""The cost of a covariance matrix above a floor, from below.

In coordinates z = A (x - reference), for any invertible A, let F = A diag(floor) A' and, for symmetric C,

    G(C)  =  min over Sigma >= F of  1/2 log det(2 pi Sigma) + 1/2 tr(Sigma^-1 C),

a minimum of linear functions, hence concave, and finite for matrices that are no covariances too. A lower F costs no
more, so that any W with W F W' >= I will do in place of the floor: with l the eigenvalues of W C W',

    G(C)  >=  sum_i g(l_i) - log |det W|,      g(v) = log(2 pi max(v, 1)) / 2 + v / (2 max(v, 1)),   0 < g' <= 1/2.

W is lower triangular, so that its determinant is exact, and W F W' >= I is verified in rational numbers. Eigenvalues
are never trusted: see `eigenvalues`; what they and the entries of C may be off by, summed up, counts half.

Theory: (V3) of docs/theory/proofs.md.
"""

import math
from fractions import Fraction

import numpy as np

from .errors import ProofError
from .rounding import UNIT, Interval
from .tuning import MOST_CORNERS, MOST_TRIES

LOG_2_PI = math.log(2.0 * math.pi)


class Floor:
    """
    The floor in the coordinates of given axes.

    Parameters
    ----------
    axes : ndarray, shape (d, d)
    floor : ndarray, shape (d,)
        Least variances, in squared units of the data.

    Attributes
    ----------
    matrix : ndarray, shape (d, d)
        F, each entry rounded once.
    given_first : float
        Of two columns det F / F_11, and `given_second` det F / F_22: the floors of a coordinate given the other one.
    log_axes : Interval
        log |det A|.
    whiten : ndarray, shape (d, d)
        W, and `log_whiten`: -log det W.
    """

    def __init__(self, axes, floor):
        self.d, rows = len(axes), [[Fraction(x) for x in row] for row in axes.tolist()]
        variances = [Fraction(x) for x in floor.tolist()]
        F = [[sum(a * b * f for a, b, f in zip(one, other, variances, strict=True)) for other in rows] for one in rows]
        det = determinant(rows)
        if det == 0:
            raise ProofError("axes", "have no inverse")
        self.log_axes = log_of(abs(det))
        self.matrix = np.array([[float(x) for x in row] for row in F])
        if self.d == 2:
            least = determinant(F)
            self.given_first, self.given_second = float(least / F[0][0]), float(least / F[1][1])
        self.whiten = _whitening(self.matrix, F)
        self.log_whiten = -float(np.log(np.diagonal(self.whiten)).sum())

    def cost(self, C, off=0):
        """Return a lower bound of G of matrices (..., d, d), whose entries are within `off` rounding errors."""
        W, d = self.whiten, self.d
        values, error = eigenvalues(W @ C @ W.T)
        size = np.sqrt(np.square(np.abs(W) @ np.abs(C) @ np.abs(W.T)).sum(axis=(-2, -1)))
        error = error + (2 * d + 6 + off) * UNIT * math.sqrt(d) * size
        top = np.maximum(values, 1.0)
        terms = 0.5 * (LOG_2_PI + np.log(top) + values / top)
        total = terms.sum(axis=-1) + self.log_whiten
        sizes = (np.abs(terms) + 2.0).sum(axis=-1) + np.abs(np.log(np.diagonal(W))).sum()
        return total - 0.5 * error - (16 + 2 * d) * UNIT * sizes


class UnitFloor(Floor):
    """The floor r I, r rounded down."""

    def __init__(self, d, r):
        self.d, r = d, r * (1 - 8 * UNIT)
        self.matrix, self.whiten = r * np.eye(d), np.eye(d) * (1 + 8 * UNIT) / math.sqrt(r)
        self.log_whiten = -float(np.log(np.diagonal(self.whiten)).sum())


def eigenvalues(matrices):
    """
    Return eigenvalues (..., d) of symmetric matrices, and what all together are off by at most (...,).

    Of two rows by the formula. Of more, for approximate eigenvectors V, with D = V' M V, R = V' V - I: the eigenvalues
    of D are those of M times factors in [1 - |R|, 1 + |R|] (Ostrowski); those of D and its diagonal differ by at most
    sqrt(d) |D - diag D| together (Mirsky), in Frobenius's norm.
    """
    d = matrices.shape[-1]
    if d == 2:
        a, b, c = matrices[..., 0, 0], matrices[..., 0, 1], matrices[..., 1, 1]
        middle, root = 0.5 * (a + c), np.hypot(0.5 * (a - c), b)
        return np.stack([middle - root, middle + root], axis=-1), 64 * UNIT * (np.abs(a) + np.abs(b) + np.abs(c))
    # to be symmetric to the last digit
    M = np.tril(matrices) + np.swapaxes(np.tril(matrices, -1), -1, -2)
    lost = np.abs(matrices - M).sum(axis=(-2, -1))
    V = np.linalg.eigh(np.where(np.isfinite(M), M, 0.0))[1]
    turned = np.swapaxes(V, -1, -2)
    D, size = turned @ M @ V, _norm(M)
    R = _norm(turned @ V - np.eye(d)) + 4 * d * d * UNIT
    values = np.diagonal(D, axis1=-2, axis2=-1)
    rest = _norm(D - values[..., np.newaxis] * np.eye(d)) + 8 * d * (d + 2) * UNIT * size
    error = math.sqrt(d) * (rest + 4.0 * R * size + lost)
    return values, np.where(R <= 0.25, error, np.inf)


def least_below_chord(first, last, sag):
    """
    Return the least value of a parabola between its ends, in whose middle it is `sag` below its chord.

    (1 - t) first + t last - 4 s t (1 - t) is least at t = 1/2 - (last - first) / (8 s), where that is in [0, 1].
    """
    ends, change = np.minimum(first, last), np.abs(last - first)
    with np.errstate(all="ignore"):
        inner = 0.5 * (first + last) - sag - np.square(change) / np.where(sag > 0, 16.0 * sag, np.inf)
    return np.where(change < 4.0 * sag, np.minimum(inner, ends), ends)


def least_bend(low, high, b, P):
    """
    Return a lower bound of -b.m - m'P m for m in boxes [low, high] (..., d), and P (..., d, d) symmetric.

    Where P_jj >= 0 it is concave in m_j: the least is at an end. Where P_jj < 0 it is a parabola in m_j, of which the
    least is known, for one j, whichever does best; of other such j the parabola lies at most -P_jj (width / 2)^2 below
    its chord. Of more than `MOST_CORNERS` columns every term about the middle is bounded by itself.
    """
    d, diagonal = low.shape[-1], np.diagonal(P, axis1=-2, axis2=-1)
    width = high - low
    sag = np.where(diagonal < 0, -0.25 * diagonal * np.square(width) * (1 + 8 * UNIT), 0.0)
    most = np.maximum(np.abs(low), np.abs(high))
    size = (np.abs(b) * most).sum(axis=-1) + np.einsum("...i,...ij,...j->...", most, np.abs(P), most)
    margin = (8 * d * d + 64) * UNIT * size
    if d > MOST_CORNERS:
        middle, half = low + 0.5 * width, 0.5 * width * (1 + 8 * UNIT) + 4 * UNIT * most
        value = -(b * middle).sum(axis=-1) - np.einsum("...i,...ij,...j->...", middle, P, middle)
        value -= (np.abs(b + 2 * np.einsum("...ij,...j->...i", P, middle)) * half).sum(axis=-1)
        P = np.where(np.eye(d, dtype=bool), np.maximum(P, 0.0), np.abs(P))
        return value - np.einsum("...i,...ij,...j->...", half, P, half) - margin
    values = []
    for corner in np.ndindex((2,) * d):
        m = np.where(np.array(corner, dtype=bool), high, low)
        values.append(-(b * m).sum(axis=-1) - np.einsum("...i,...ij,...j->...", m, P, m))
    values, value = np.stack(values).reshape((2,) * d + low.shape[:-1]), -np.inf
    for j in range(d):
        found = least_below_chord(*np.moveaxis(values, j, 0), sag[..., j])
        found = found.min(axis=tuple(range(d - 1))) - (sag.sum(axis=-1) - sag[..., j])
        value = np.maximum(value, found)
    value = value - 16 * UNIT * sag.sum(axis=-1)
    if d == 2:
        value = np.where((diagonal < 0).all(axis=-1), np.fmax(value, _two_parabolas(low, high, b, -P)), value)
    return value - margin


def _two_parabolas(low, high, b, N):
    """
    Return a lower bound of f(m) = m'N m - b.m over boxes (..., 2), N_11 and N_22 > 0, but for the rounding of f.

    Where det N < 0 there is no minimum inside, so that it is on an edge, where f is a parabola. At any m0, with e the
    least eigenvalue of N, f(m) >= f(m0) + f'(m0).(m - m0) + min(e, 0) |m - m0|^2: m0 is the best point known.
    """

    def value(m):
        return np.einsum("...i,...ij,...j->...", m, N, m) - (b * m).sum(axis=-1)

    det = N[..., 0, 0] * N[..., 1, 1] - N[..., 0, 1] ** 2
    size = np.abs(N[..., 0, 0] * N[..., 1, 1]) + N[..., 0, 1] ** 2
    places = []
    for i in range(2):
        for end in (low, high):
            m = end.copy()
            m[..., 1 - i] = np.clip(
                (b[..., 1 - i] - 2 * N[..., 0, 1] * end[..., i]) / (2 * N[..., 1 - i, 1 - i]), low[..., 1 - i],
                high[..., 1 - i])  # fmt: skip
            places.append(m)
    edges = np.min([value(m) for m in places], axis=0)
    inner = np.stack([N[..., 1, 1] * b[..., 0] - N[..., 0, 1] * b[..., 1],
                      N[..., 0, 0] * b[..., 1] - N[..., 0, 1] * b[..., 0]], axis=-1)  # fmt: skip
    with np.errstate(all="ignore"):
        places.append(np.clip(np.nan_to_num(0.5 * inner / det[..., np.newaxis]), low, high))
    places = np.stack(places)
    best = np.argmin([value(m) for m in places], axis=0)
    m0 = np.take_along_axis(places, best[np.newaxis, ..., np.newaxis], 0)[0]
    slope = 2 * np.einsum("...ij,...j->...i", N, m0) - b
    values, error = eigenvalues(N)
    bend = np.minimum(values.min(axis=-1) - error, 0.0) * np.square(high - low).sum(axis=-1) * (1 + 8 * UNIT)
    inside = value(m0) + np.minimum(slope * (low - m0), slope * (high - m0)).sum(axis=-1) + bend
    return np.where(det < -16 * UNIT * size, np.fmax(edges, inside), inside)


def log_of(x):
    """Return the logarithm of a positive Fraction."""
    shift = x.numerator.bit_length() - x.denominator.bit_length()
    value, more = math.log(x / Fraction(2) ** shift), shift * math.log(2.0)
    size = 16 * UNIT * (1.0 + abs(value) + abs(more))
    return Interval(value + more - size, value + more + size)


def determinant(rows):
    """Return the determinant of a matrix of Fractions."""
    rows, det = [list(row) for row in rows], Fraction(1)
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda k: abs(rows[k][i]))
        if rows[pivot][i] == 0:
            return Fraction(0)
        if pivot != i:
            rows[i], rows[pivot], det = rows[pivot], rows[i], -det
        det *= rows[i][i]
        for j in range(i + 1, len(rows)):
            factor = rows[j][i] / rows[i][i]
            rows[j] = [x - factor * y for x, y in zip(rows[j], rows[i], strict=True)]
    return det


def _whitening(rounded, F):
    """Return W, lower triangular of a positive diagonal, with W F W' >= I: diagonally dominant even less I."""
    d = len(F)
    try:
        W = np.linalg.inv(np.linalg.cholesky(rounded))
    except np.linalg.LinAlgError:
        raise ProofError("axes", "are too ill-conditioned") from None
    W, more = np.tril(W), 2.0**-52
    for _ in range(MOST_TRIES):
        rows = [[Fraction(x) for x in row] for row in (W * (1.0 + more)).tolist()]
        half = [[sum(a * b for a, b in zip(row, column, strict=True)) for column in F] for row in rows]
        whole = [[sum(a * b for a, b in zip(row, other, strict=True)) for other in rows] for row in half]
        if all(row[i] - 1 >= sum(abs(x) for j, x in enumerate(row) if j != i) for i, row in enumerate(whole)):
            return W * (1.0 + more)
        more *= 2.0
    raise ProofError("axes", f"are too ill-conditioned for {d} columns")


def _norm(matrices):
    return np.sqrt(np.square(matrices).sum(axis=(-2, -1)))
