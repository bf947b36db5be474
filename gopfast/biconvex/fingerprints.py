"""
Fingerprints of a problem's literals, which no symmetry changes: where all differ there is none.

A literal's is made of those of the terms that it is in, in rounds, as classes in `symmetry` are, but in arrays and with
sums of 64-bit hashes for sorted tuples. Two literals with one fingerprint may differ; alike literals never do. Left out
are rows with products, and costs of variables that are in products, which depend on middles of intervals.

Theory: (XL2) of docs/theory/linear_forms.md.
"""

import numpy as np

from gopfast.biconvex.problem import terms_of

_ODD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def all_differ(problem):
    """
    Whether fingerprints tell all literals of a problem apart, so that it has no symmetries.

    Parameters
    ----------
    problem : BiconvexProblem
        With finite bounds.

    Returns
    -------
    bool
    """
    if any(not row.Q.nnz for row in problem.quadratic_rows):
        return False  # a linear row among those that are left out
    n, rows = problem.n_variables, problem.A.tocoo()
    # of both sides of each row: the number of the inequality, the variable, the coefficient
    sides = [(sign, np.isfinite(ends)) for sign, ends in ((1.0, problem.row_lower), (-1.0, problem.row_upper))]
    slack = np.concatenate([2 * rows.row[has[rows.row]] + (sign < 0) for sign, has in sides])
    column = np.concatenate([rows.col[has[rows.row]] for _, has in sides])
    a = np.concatenate([sign * rows.data[has[rows.row]] for sign, has in sides])
    i, j, value = (np.asarray(part) for part in terms_of(problem.Q))
    costs = problem.c.copy()
    costs[np.concatenate([i, j])] = 0.0
    seen = np.repeat(_mixed(_bits(problem.upper - problem.lower)), 2)
    seen[0::2] += _mixed(_bits(costs))
    seen[1::2] += _mixed(_bits(-costs))
    n_classes = 0
    while (found := len(np.unique(seen))) > n_classes:
        if found == 2 * n:
            return True
        n_classes = found
        seen = _next(seen, (slack, column, a), (i, j, value), 2 * problem.A.shape[0])
    return False


def _next(seen, linear, products, n_slacks):
    """Return the fingerprints (2 n,) of the next round."""
    slack, column, a = linear
    i, j, value = products
    new = _mixed(seen) + _ODD * seen.reshape(-1, 2)[:, ::-1].ravel()
    # a z_i is |a| times the literal of its sign
    own = _mixed(seen[2 * column + (a < 0)] ^ _mixed(_bits(np.abs(a))))
    slacks = np.zeros(n_slacks, np.uint64)
    np.add.at(slacks, slack, own)
    for sign, of in ((1.0, 0), (-1.0, 1)):
        np.add.at(new, 2 * column + of, _mixed(_mixed(slacks)[slack] ^ _bits(sign * a)))
    for one, other in ((i, j), (j, i)):
        for of in range(2):
            for sign in range(2):  # of the literal beside it
                size = _bits(value if of == sign else -value)
                np.add.at(new, 2 * one + of, _mixed(seen[2 * other + sign] ^ _mixed(size)))
    return _mixed(new)


def _bits(values):
    """Return floats as they are stored, -0.0 as 0.0."""
    return (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)


def _mixed(values):
    """Return hashes of 64-bit numbers."""
    mixed = (values ^ (values >> _SHIFT)) * _ODD
    return (mixed ^ (mixed >> _SHIFT)) * _ODD
