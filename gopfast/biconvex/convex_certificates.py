"""
Certificates of convex Lagrangians: the bound at a proof's root, where the problem is convex or a ball makes it so.

With multipliers y of rows, L = f - y's, s the rows' slacks, and x0 near where L is least,

    f(z) - bound = y's + |V (z - x0)|^2 + what is left,    V'V the matrix of L:

multipliers of the rows, of L - f and of squares, with nothing left but what rounding leaves and where x0 is on its
bounds. So the checker needs no rule for it, and what it makes of such a certificate decides.

Theory: (VL1) of docs/theory/convex_proofs.md.
"""

import numpy as np

from gopfast.biconvex import convex_dual
from gopfast.biconvex.forms import is_convex
from gopfast.biconvex.lifting import Row
from gopfast.biconvex.tuning import LEAST_CURVATURE


class Stated:
    """
    The checker's problem as rows g(z) <= b and an objective, of which Lagrangians can be made.

    Parameters
    ----------
    problem : gopfast.checker.biconvex.BiconvexProblem
    stop : StopSignal
    """

    def __init__(self, problem, stop):
        self.low, self.high, self.stop = problem.low, problem.high, stop
        *slacks, objective = ({pair: float(a) for pair, a in terms.items()} for terms in problem.polynomials)
        self.rows = [_row(terms, is_equation, -1.0) for terms, is_equation in
                     zip(slacks, problem.is_equation.tolist(), strict=True)]  # fmt: skip
        self.objective = _row(objective, False, 1.0)


def _row(terms, is_equation, sign):
    """Return the row sign terms <= 0, or of an equation == 0; places of terms are those in (1, z)."""
    upper = -sign * terms.get((0, 0), 0.0)
    row = Row({}, upper if is_equation else -np.inf, upper)
    quadratic = {}
    for (i, j), a in terms.items():
        if j > 0 and a != 0:
            (quadratic if i > 0 else row.linear)[(i - 1, j - 1) if i > 0 else j - 1] = sign * a
    if quadratic and not is_equation and is_convex(quadratic):
        row.forms.append(quadratic)
    else:
        row.products.update(quadratic)
    return row


def certificates(problem, point, stop):
    """
    Yield certificates that may prove the best value at the root.

    Parameters
    ----------
    problem : gopfast.checker.biconvex.BiconvexProblem
    point : ndarray, shape (n,)
        The best that is known.
    stop : StopSignal

    Yields
    ------
    rows : ndarray of int
    multipliers : ndarray
        Of these rows' slacks; that of L - f is 1.
    vectors : ndarray, shape (S, n + 1)
        Whose squares are added, each once.

    Raises
    ------
    Stopped
    """
    stated = Stated(problem, stop)
    if not convex_dual.may_be_convex(stated):
        return
    for raised, near in convex_dual.candidates(stated, point):
        vectors = _roots(raised, stated, near)
        if vectors is not None:
            rows = np.array(sorted(raised.multipliers), int)
            yield rows, np.array([-float(raised.multipliers[row]) for row in rows.tolist()]), vectors


def _roots(raised, stated, near):
    """Return V and -V x0 in front, (S, n + 1), of a Lagrangian; None where it is not convex."""
    members = sorted({i for pair in raised.products for i in pair})
    vectors = np.zeros((len(members), 1 + len(stated.low)))
    if not members:
        return vectors
    matrix = convex_dual.dense(raised.products, members)
    if not (np.isfinite(matrix).all() and (np.diag(matrix) > 0).all()):
        return None
    root = np.sqrt(np.diag(matrix))
    unit = matrix / np.outer(root, root)
    # squares that are left bound what rounding leaves of variables without ends
    is_endless = ~np.isfinite(stated.high - stated.low)[members]
    values, axes = np.linalg.eigh(unit - np.diag(np.where(is_endless, LEAST_CURVATURE, 0.0)))
    if values[0] < -LEAST_CURVATURE:
        return None
    x = convex_dual.minimiser(raised, members, stated.low, stated.high, near)
    own = np.sqrt(np.maximum(values, 0.0))[:, np.newaxis] * axes.T * root
    vectors[:, [1 + i for i in members]], vectors[:, 0] = own, -own @ x
    return vectors
