"""Rows whose feasible points are convex though their form is not: X Y >= K + squares, of which a side X >= 0 is known.

X and Y are variables less numbers. A tangent of the set is a linear row that all feasible points meet: with a, b >= 0,
by the inequality of the two means and Cauchy's,

    a X + b Y >= 2 sqrt(a b X Y) >= 2 sqrt(a b (K + sum e_k z_k^2)) >= 2 (sum p_k z_k + s)

for all p and s >= 0 with ``sum p_k^2 / e_k + s^2 / K <= a b``. The largest s is computed in rationals and rounded down,
and so is the row's bound; any point gives a valid row, one on the set's boundary the tangent there.

Theory: (X13) of docs/theory/biconvex.md.
"""

import math
from fractions import Fraction
from typing import NamedTuple

from gopfast.biconvex.margins import LOST_BY_CONES
from gopfast.biconvex.outward import below, root_below
from gopfast.biconvex.tuning import FLATTEST, LEAST_TANGENT_VIOLATION


class Hyperbola(NamedTuple):
    """``sign (x - x_shift) * sign (y - y_shift) >= constant + sum e_k z_k^2``, both factors not negative."""

    x: int
    y: int
    x_shift: Fraction
    y_shift: Fraction
    sign: int
    constant: Fraction
    squares: dict

    def violation(self, point):
        """By how much a point violates the root of the row, relative to the greater root."""
        X, Y, rest = self._values(point)
        roots = math.sqrt(max(X, 0.0) * max(Y, 0.0)), math.sqrt(rest)
        return (roots[1] - roots[0]) / max(*roots, 1e-300)

    def tangent(self, point):
        """
        Return the tangent where the ray from the asymptotes' crossing through a point meets the boundary.

        Parameters
        ----------
        point : ndarray, shape (n,)

        Returns
        -------
        (dict, float) or None
            Coefficients and lower bound of a linear row; None where there is none.
        """
        X, Y, rest = self._values(point)
        if not (rest > 0.0 and math.isfinite(rest) and max(X, Y) > 0.0 and math.isfinite(X + Y)):
            return None
        # points on an asymptote have no tangent: one near it
        X, Y = max(X, FLATTEST * Y), max(Y, FLATTEST * X)
        size = math.sqrt(rest / X / Y)
        a, b = Y * size, X * size
        # with K = 0 no room is left for s, and a rounding error would be too much
        shrunk = 1.0 if self.constant else 1.0 - LOST_BY_CONES
        p = {k: shrunk * float(e) * float(point[k]) for k, e in self.squares.items()}
        if not (a > 0.0 and b > 0.0 and all(map(math.isfinite, (a, b, *p.values())))):
            return None
        left = Fraction(a) * Fraction(b) - sum((Fraction(p[k]) ** 2 / e for k, e in self.squares.items()), Fraction(0))
        if left < 0:
            return None
        s = root_below(left * self.constant)
        row = {k: -2.0 * value for k, value in p.items() if value}
        row |= {self.x: self.sign * a, self.y: self.sign * b}
        bound = 2 * Fraction(s) + self.sign * (Fraction(a) * self.x_shift + Fraction(b) * self.y_shift)
        return row, below(bound)

    def _values(self, point):
        """X, Y and what their product is to reach."""
        X = self.sign * (float(point[self.x]) - float(self.x_shift))
        Y = self.sign * (float(point[self.y]) - float(self.y_shift))
        return X, Y, float(self.constant) + sum(float(e) * float(point[k]) ** 2 for k, e in self.squares.items())


def find(lifting, low, high):
    """
    Return the rows of this kind.

    Parameters
    ----------
    lifting : Lifting
    low, high : ndarray, shape (n,)
        Bounds that all feasible points meet.

    Returns
    -------
    list of Hyperbola
    """
    found = [_hyperbola(row, sign, limit, low, high) for row, sign, limit in lifting.inequalities()
             if len(row.products) == 1 and math.isfinite(limit)]  # fmt: skip
    return [one for one in found if one is not None]


def tangents(hyperbolas, point):
    """Tangents, at a point that violates their rows or almost does, as (coefficients, lower bound)."""
    rows = [one.tangent(point) for one in hyperbolas if one.violation(point) > LEAST_TANGENT_VIOLATION]
    return [row for row in rows if row is not None]


def _hyperbola(row, sign, limit, low, high):
    """Of a row whose ``sign (linear + q x y + forms)`` is at most the limit."""
    ((x, y), value), *_ = row.products.items()
    q = -sign * Fraction(value)
    forms = {pair: sign * Fraction(a) for form in row.forms for pair, a in form.items()}
    if x == y or q <= 0 or not set(row.linear) <= {x, y}:
        return None
    if any(i != j or i in (x, y) or a <= 0 for (i, j), a in forms.items()):
        return None
    # q x y - A x - B y >= squares - limit is (x - B / q) (y - A / q) >= (squares - limit) / q + A B / q^2
    y_shift, x_shift = (sign * Fraction(row.linear.get(i, 0.0)) / q for i in (x, y))
    constant = x_shift * y_shift - Fraction(limit) / q
    if constant < 0:
        return None
    # one sign is enough where the product is positive
    enough = any if constant > 0 else all
    for side, is_beyond in ((1, lambda i, at: low[i] >= at), (-1, lambda i, at: high[i] <= at)):
        if enough((is_beyond(x, x_shift), is_beyond(y, y_shift))):
            return Hyperbola(x, y, x_shift, y_shift, side, constant, {i: a / q for (i, _), a in forms.items()})
    return None
