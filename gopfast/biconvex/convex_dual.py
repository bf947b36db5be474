"""
Bounds of the objective by Lagrangians that are convex, exact where the problem is, or a ball makes it so.

With multipliers of a local solution, L = f - sum_r y_r (g_r - b_r) is at most f at feasible points. Where its matrix H
less a diagonal one with entries k_j >= 0 is positive semidefinite, about any x0

    L(z) >= L(x0) + sum_j min over [l_j, u_j] of  d_j (z_j - x0_j) + k_j (z_j - x0_j)^2,    d the gradient at x0,

which is exact where x0 minimises L over the box. L(x0), d and the minima are rational. That H is semidefinite is shown
by the least eigenvalue of a matrix with ones on its diagonal, less what floating point may have changed (`ellipsoid`),
or, if that is 0, by elimination in rationals.

Where the Lagrangian of a local solution is not convex, that of each convex row alone is tried, with the multiplier for
which its dual is greatest: with one such row, x'x <= r, this is the trust region's dual, which has no gap.

Theory: (X12) of docs/theory/biconvex.md.
"""

import math
from fractions import Fraction

import numpy as np

from gopfast.biconvex import lagrangian
from gopfast.biconvex.forms import is_semidefinite
from gopfast.biconvex.interruption import check
from gopfast.biconvex.lagrangian import Lagrangian
from gopfast.biconvex.margins import EIGENVALUE_ERROR
from gopfast.biconvex.tuning import (
    DUAL_STEPS,
    LEAST_CURVATURE,
    MOST_DUAL_TERMS as MOST_TERMS,
    MOST_EXACT,
    PROJECTED_STEPS,
    SECULAR_STEPS,
)


def find(lifting, low, high, point):
    """
    Bound the objective over a box.

    Parameters
    ----------
    lifting : Lifting
    low, high : ndarray, shape (n,)
        A box that holds all points of interest, in the user's units and order; ends may be infinite.
    point : ndarray, shape (n,)
        A local solution, in the user's units.

    Returns
    -------
    Fraction or None, ndarray or None
        The objective is at least this, minimised and without its constant; a minimiser of the Lagrangian of one convex
        row, to search from.

    Raises
    ------
    Stopped
        If the lifting's signal says so.
    """
    if not may_be_convex(lifting):
        return None, None
    tried = candidates(lifting, point)
    bound = _least(*next(tried), low, high, lifting.stop)
    if bound is not None:
        return bound, None
    bounds, near = [], None
    for raised, near in tried:
        bounds.append(_least(raised, near, low, high, lifting.stop))
    return max((bound for bound in bounds if bound is not None), default=None), near


def candidates(lifting, point):
    """Yield Lagrangians and points near their minimisers: of a local solution, then of each convex row alone."""
    yield lagrangian.at(lifting, point, simple=False)[0], point
    for number, row in enumerate(lifting.rows):
        if row.forms and math.isfinite(row.upper):
            multiplier, at = _multiplier(lifting, number, point)
            if multiplier is not None:
                yield Lagrangian(lifting, {number: -Fraction(multiplier)}), at


def may_be_convex(lifting):
    """Whether every variable of a product has a square in some convex form, and there are not too many terms."""
    rows = [lifting.objective, *lifting.rows]
    squares = {i for row in rows for form in row.forms for i, j in form if i == j}
    terms = sum(len(row.products) + sum(map(len, row.forms)) for row in rows)
    curved = {i for pair in lifting.objective.products for i in pair}
    return bool(squares) and terms <= MOST_TERMS and curved <= squares


def dense(terms, members):
    """Matrix of quadratic terms over some variables."""
    place = {i: k for k, i in enumerate(members)}
    matrix = np.zeros((len(members), len(members)))
    for (i, j), a in terms.items():
        matrix[place[i], place[j]] += 0.5 * float(a)
        matrix[place[j], place[i]] += 0.5 * float(a)
    return matrix


def _curvature(matrix, terms, members):
    """Return lambda so that H less lambda times its diagonal is proved positive semidefinite, or None."""
    diagonal = np.diag(matrix)
    if not (np.isfinite(matrix).all() and (diagonal > 0).all()):
        return None
    root = np.sqrt(diagonal)
    least = np.linalg.eigvalsh(matrix / np.outer(root, root))[0] - EIGENVALUE_ERROR * len(members)
    if least > LEAST_CURVATURE:
        return least
    if len(members) > MOST_EXACT or least < -LEAST_CURVATURE:
        return None
    rows = [
        [terms.get((min(i, j), max(i, j)), Fraction(0)) / (1 if i == j else 2) for j in members] for i in members
    ]
    return 0.0 if is_semidefinite(rows) else None


def _least(row, point, low, high, stop):
    """Bound a Lagrangian from below over a box; None where it is not convex, or nothing bounds it."""
    members = sorted({i for pair in row.products for i in pair})
    check(stop)
    curvature = _curvature(dense(row.products, members), row.products, members) if members else 0.0
    if curvature is None:
        return None
    check(stop)
    at = minimiser(row, members, low, high, point)
    x = {i: Fraction(value) for i, value in zip(members, at.tolist(), strict=True)}
    total, slopes = row.constant, {i: row.linear.get(i, Fraction(0)) for i in members}
    for (i, j), a in row.products.items():
        total += a * x[i] * x[j]
        slopes[i] += a * x[j]
        slopes[j] += a * x[i]
    check(stop)
    for i, a in row.linear.items():
        total += a * (x[i] if i in x else 0)
    for i in sorted({*members, *row.linear}):
        slope, centre = slopes.get(i, row.linear.get(i, Fraction(0))), x.get(i, Fraction(0))
        share = Fraction(curvature) * row.products[i, i] if i in x else Fraction(0)
        least = _least_along(slope, share, centre, low[i], high[i])
        if least is None:
            return None
        total += least
    return total


def _least_along(slope, share, centre, low, high):
    """Least value of slope d + share d^2 for centre + d within bounds, or None."""
    if slope == 0:
        return Fraction(0)
    end = low if slope > 0 else high
    if math.isfinite(end):
        step = Fraction(end) - centre
        if share == 0 or abs(slope) >= 2 * share * abs(step) and step * slope <= 0:
            return slope * step + share * step * step
        if step * slope > 0:
            # x0 is beyond the bound that it would leave: the least value is at this bound, or further in
            return slope * step
    elif share == 0:
        return None
    return -slope * slope / (4 * share)


def minimiser(row, members, low, high, point):
    """Return nearly the least point of a Lagrangian over the box, in floating point: where a bound is computed from."""
    low, high, x = low[members], high[members], np.clip(point[members], low[members], high[members])
    matrix = dense(row.products, members)
    linear = np.array([float(row.linear.get(i, 0)) for i in members])
    for _ in range(PROJECTED_STEPS):
        gradient = 2.0 * (matrix @ x) + linear
        free = ~(((x <= low) & (gradient > 0)) | ((x >= high) & (gradient < 0)))
        if not free.any():
            break
        step = np.linalg.lstsq(2.0 * matrix[np.ix_(free, free)], -gradient[free], rcond=None)[0]
        new = x.copy()
        new[free] += step
        new = np.clip(new, low, high)
        if not np.isfinite(new).all() or np.array_equal(new, x):
            break
        x = new
    return x


def _multiplier(lifting, number, point):
    """Return the multiplier of a convex row, the others' being 0, whose dual is greatest, and a minimiser; or None."""
    objective, row = Lagrangian(lifting, {}), lifting.rows[number]
    terms = {}
    for part in (row.products, *row.forms):
        for pair, a in part.items():
            terms[pair] = terms.get(pair, 0.0) + a
    members = sorted({i for pair in (*objective.products, *terms) for i in pair})
    if not members or any(i not in members for i in (*objective.linear, *row.linear)):
        return None, None
    H, B = dense(objective.products, members), dense(terms, members)
    c = np.array([float(objective.linear.get(i, 0)) for i in members])
    a = np.array([row.linear.get(i, 0.0) for i in members])
    try:
        root = np.linalg.cholesky(B)
    except np.linalg.LinAlgError:
        return None, None
    # H + y B = root (M + y I) root'
    M = np.linalg.solve(root, np.linalg.solve(root, H).T)
    check(lifting.stop)
    values, vectors = np.linalg.eigh(0.5 * (M + M.T))
    first, second = vectors.T @ np.linalg.solve(root, c), vectors.T @ np.linalg.solve(root, a)

    def nearest(y):
        return -0.5 * (first + y * second) / (values + y)

    def excess(y):
        s = nearest(y)
        return s @ s + second @ s - row.upper

    least = max(0.0, -values[0])
    spread = max(1.0, abs(values[-1] - values[0]), least)
    near = least + LEAST_CURVATURE * spread
    if least == 0.0 and values[0] > 0 and excess(0.0) <= 0:
        near = far = 0.0
    else:
        far = near + spread
        for _ in range(DUAL_STEPS):
            if excess(far) <= 0:
                break
            far = near + 4.0 * (far - near)
    for _ in range(SECULAR_STEPS):
        middle = 0.5 * (near + far)
        if excess(middle) > 0:
            near = middle
        else:
            far = middle
    x = np.array(point)
    x[members] = np.linalg.solve(root.T, vectors @ nearest(far))
    return (float(far), x) if math.isfinite(far) and np.isfinite(x).all() else (None, None)
