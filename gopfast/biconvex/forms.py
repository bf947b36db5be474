"""Quadratic forms as dicts (i, j), i <= j -> coefficient: their parts, matrices and convexity."""

from collections import defaultdict
from fractions import Fraction

import numpy as np

from gopfast.biconvex.margins import EIGENVALUE_TOL
from gopfast.biconvex.tuning import EXACT_UP_TO


def dense(form):
    """Return the symmetric matrix of a form over its variables in order."""
    index = {i: k for k, i in enumerate(sorted({i for pair in form for i in pair}))}
    matrix = np.zeros((len(index), len(index)))
    for (i, j), value in form.items():
        matrix[index[i], index[j]] = matrix[index[j], index[i]] = value if i == j else 0.5 * value
    return matrix


def components(terms):
    """Split a form {(i, j): value} into forms that share no variable."""
    parent = {i: i for pair in terms for i in pair}

    def root(i):
        while parent[i] != i:
            parent[i] = i = parent[parent[i]]
        return i

    for i, j in terms:
        parent[root(i)] = root(j)
    forms = defaultdict(dict)
    for (i, j), value in terms.items():
        forms[root(i)][i, j] = value
    return list(forms.values())


def is_nonnegative(a, i, j, low, high):
    """Whether the bounds of two variables say that a z_i z_j >= 0."""
    alike = (low[i] >= 0 and low[j] >= 0) or (high[i] <= 0 and high[j] <= 0)
    unlike = (low[i] >= 0 and high[j] <= 0) or (high[i] <= 0 and low[j] >= 0)
    return (a > 0 and alike) or (a < 0 and unlike)


def is_convex(form):
    """Whether z'Qz is convex, up to rounding in eigenvalues that the bounds then allow for."""
    if all(i == j for i, j in form):
        return all(value >= 0 for value in form.values())
    if any(form.get((i, i), 0.0) <= 0 for i in {i for pair in form for i in pair}):
        return False
    return is_nearly_semidefinite(dense(form))


def is_nearly_semidefinite(matrix):
    """Whether a symmetric matrix has no eigenvalue below 0 but for `EIGENVALUE_TOL`; a tenth of the time of those."""
    size = abs(matrix).max(initial=0.0)
    if size == 0:
        return True
    try:
        np.linalg.cholesky(matrix + EIGENVALUE_TOL * size * np.eye(len(matrix)))
    except np.linalg.LinAlgError:
        return False
    return True


def convexity_defect(form):
    """Return d so that Q + d I is proved positive semidefinite; 0 where Q itself is, by exact elimination."""
    if all(i == j for i, j in form):
        return 0.0
    matrix = dense(form)
    if len(matrix) <= EXACT_UP_TO and is_semidefinite([[Fraction(x) for x in row] for row in matrix.tolist()]):
        return 0.0
    size = np.linalg.norm(matrix)
    return max(0.0, -np.linalg.eigvalsh(matrix)[0]) + 1e-14 * len(matrix) * size


def is_semidefinite(rows):
    """Symmetric elimination of a matrix of Fractions, in place: every pivot positive, or 0 with a row of zeros."""
    n = len(rows)
    for k in range(n):
        if rows[k][k] < 0 or (rows[k][k] == 0 and any(rows[k][j] != 0 for j in range(k + 1, n))):
            return False
        if rows[k][k] == 0:
            continue
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            if factor:
                for j in range(k + 1, n):
                    rows[i][j] -= factor * rows[k][j]
    return True
