"""
Bounds of unbounded variables from quadratic rows that are convex in them: what meets the row lies in an ellipsoid.

A row q(z) <= u, the objective and the best known value among them, is split into its terms of unbounded variables x and
the rest, which is bounded by its least value. Coefficients of x that depend on bounded variables are intervals. Squares
of linear equations are added where they make the quadratic part definite. About any x0, with x = x0 + y,

    q(x) - u >= lambda |D y|^2 - |e| |D y| - w,    D^2 the diagonal of H, lambda <= the least eigenvalue of D^-1 H D^-1,

e what is left of the linear terms, over D, and w the slack; so |D y| is at most the greater root of the right side.
Linear terms and matrices are summed in rationals, and lambda, e and w lose what floating point may have changed.

Theory: (X11) of docs/theory/biconvex.md.
"""

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np

from gopfast.biconvex.forms import EXACT_UP_TO, components, dense, is_nonnegative, is_semidefinite
from gopfast.biconvex.interruption import check
from gopfast.biconvex.margins import EIGENVALUE_ERROR, ELLIPSOID_ROUNDING as ROUNDING
from gopfast.biconvex.outward import above
from gopfast.biconvex.tuning import ELLIPSOID_ROUNDS as MOST_ROUNDS, LEAST_CURVATURE, MOST_FREE, MOST_TERMS, WIDEST


def tighten(lifting, low, high, propagate, upper=math.inf, objectives=None):
    """
    Bound unbounded variables by rows and by the objective, with propagation in between.

    Parameters
    ----------
    lifting : Lifting
    low, high : ndarray, shape (n,)
        The box in the user's units and order.
    propagate : callable
        ``propagate(low, high)`` tightens a box by the rows; None if it is empty.
    upper : float
        Greatest objective of the points to keep, minimised and without its constant, in the user's units.
    objectives : list of Lagrangian, optional
        What is at most the objective, to be used in its place.

    Returns
    -------
    (ndarray, ndarray) or None
        None if the box is empty.

    Raises
    ------
    Stopped
        If the lifting's signal says so.
    """
    rows = lifting.inequalities()
    if objectives is None:
        rows = [(lifting.objective, 1, upper), *rows]
    elif math.isfinite(upper):
        rows = [(row, 1, Fraction(upper) - row.constant) for row in objectives] + rows
    equations = _equations(lifting)
    n_terms = 0
    for _ in range(MOST_ROUNDS):
        if np.isfinite(low).all() and np.isfinite(high).all():
            break
        new_low, new_high = low.copy(), high.copy()
        for row, sign, limit in rows:
            if abs(limit) < math.inf and (row.products or row.forms) and n_terms <= MOST_TERMS:
                n_terms += sum(map(len, (row.products, *row.forms)))
                _intersect(_bounds(row, sign, limit, equations, new_low, new_high, lifting.stop), new_low, new_high)
        if np.array_equal(new_low, low) and np.array_equal(new_high, high):
            break
        if (new_low > new_high).any():
            return None
        box = propagate(new_low, new_high)
        if box is None:
            return None
        low, high = box
    return low, high


def least(lifting, row, low, high):
    """
    Bound a Lagrangian from below over a box.

    Parameters
    ----------
    lifting : Lifting
    row : Lagrangian
    low, high : ndarray, shape (n,)
        The box in the user's units and order.

    Returns
    -------
    Fraction or None
        None: no bound is known.
    """
    n_terms = len(row.products)
    for with_squares in (False, True):
        terms = _Terms(row, 1, 0, low, high, lifting.stop)
        if with_squares:
            equations = [equation for equation in _equations(lifting) if set(row.linear).intersection(equation.linear)]
            if n_terms + sum(len(equation.linear) ** 2 for equation in equations) > MOST_TERMS:
                break
            for equation in equations:
                terms.add_square(equation)
        found = _least(terms)
        if found is not None:
            return row.constant + found
    return None


def _least(terms):
    terms.drop_nonnegative()
    if not terms.settle_linear():
        return None
    total = terms.least
    for pairs in components(terms.quadratic):
        part = _Part(pairs, terms.linear, terms.stop)
        if part.curvature > 0:
            total += part.least
        elif any(terms.linear[i] != [0, 0] for i in part.members) or not part.is_semidefinite():
            return None
    return total


def _equations(lifting):
    return [row for row in lifting.rows if row.lower == row.upper and not row.products and not row.forms]


def _intersect(found, low, high):
    for i, (a, b) in found.items():
        if max(abs(a), abs(b)) < WIDEST:
            low[i], high[i] = max(low[i], a), min(high[i], b)


def _bounds(row, sign, limit, equations, low, high, stop):
    """Return bounds of unbounded variables, by number; of all with a definite quadratic part, or of none."""
    free = ~(np.isfinite(low) & np.isfinite(high))
    curved = _curved(row, sign, free, low, high)
    if not 0 < len(curved) <= MOST_FREE:
        return {}
    found = _of_parts(_Terms(row, sign, limit, low, high, stop))
    equations = [equation for equation in equations if curved.intersection(equation.linear)]
    if found or not equations or sum(len(equation.linear) ** 2 for equation in equations) > MOST_TERMS:
        return found
    squared = _Terms(row, sign, limit, low, high, stop)
    for equation in equations:
        squared.add_square(equation)
    return _of_parts(squared)


def _curved(row, sign, free, low, high):
    """Return the unbounded variables of a row's quadratic part; none where it is plainly not convex in them."""
    diagonal, members = defaultdict(float), set()
    for terms in (row.products, *row.forms):
        for (i, j), a in terms.items():
            if i == j and free[i]:
                diagonal[i] += sign * a
    for terms in (row.products, *row.forms):
        for (i, j), a in terms.items():
            if free[i] and free[j] and not (i != j and is_nonnegative(sign * a, i, j, low, high)):
                members |= {i, j}
    members |= diagonal.keys()
    return members if all(diagonal[i] > 0 for i in members) else set()


class _Terms:
    """
    The terms of ``sign (row) <= limit``.

    Attributes
    ----------
    quadratic : dict
        (i, j), i <= j -> Fraction, of unbounded variables.
    linear : dict
        i -> [low, high], Fractions: the coefficient of an unbounded variable.
    least : Fraction
        Of the rest, less the limit.
    """

    def __init__(self, row, sign, limit, low, high, stop):
        self.low, self.high, self.stop = low, high, stop
        self.quadratic, self.linear = defaultdict(Fraction), defaultdict(lambda: [Fraction(0), Fraction(0)])
        self.least = -Fraction(limit)
        exact = defaultdict(Fraction)
        for terms in (row.products, *row.forms):
            for pair, a in terms.items():
                exact[pair] += sign * Fraction(a)
        for pair, a in exact.items():
            self._add_product(pair, a)
        for i, a in row.linear.items():
            self._add_linear(i, sign * Fraction(a))

    def add_square(self, equation):
        """Add t (a'z - b)^2, which is 0, t making it as large as what is there."""
        sizes = [abs(a) for pair, a in self.quadratic.items() if pair[0] == pair[1]]
        greatest = max(abs(a) for a in equation.linear.values())
        share = Fraction(2.0 ** math.floor(math.log2(float(max(sizes)) / greatest**2))) if sizes else Fraction(1)
        items = [(i, Fraction(a)) for i, a in sorted(equation.linear.items())]
        bound = Fraction(equation.upper)
        for number, (i, a) in enumerate(items):
            self._add_product((i, i), share * a * a)
            self._add_linear(i, -2 * share * a * bound)
            for j, b in items[number + 1 :]:
                self._add_product((i, j), 2 * share * a * b)
        self.least += share * bound * bound

    def _is_free(self, i):
        return not (math.isfinite(self.low[i]) and math.isfinite(self.high[i]))

    def _add_linear(self, i, a):
        if self._is_free(i):
            self.linear[i][0] += a
            self.linear[i][1] += a
        else:
            self.least += min(a * end for end in self._ends(i))

    def _ends(self, i):
        return Fraction(self.low[i]), Fraction(self.high[i])

    def _add_product(self, pair, a):
        i, j = pair
        check(self.stop)  # a pair takes some 10 microseconds
        if self._is_free(i) and self._is_free(j):
            self.quadratic[pair] += a
        elif not (self._is_free(i) or self._is_free(j)):
            first, second = self._ends(i), self._ends(j)
            if i != j:
                ends = [a * p * q for p in first for q in second]
            else:
                ends = [a * p * p for p in first] + [Fraction(0)] * int(self.low[i] < 0 < self.high[i])
            self.least += min(ends)
        else:
            x, b = (i, j) if self._is_free(i) else (j, i)
            ends = sorted(a * end for end in self._ends(b))
            self.linear[x][0] += ends[0]
            self.linear[x][1] += ends[1]

    def drop_nonnegative(self):
        """Leave out products of unbounded variables whose signs make them nonnegative."""
        for (i, j), a in list(self.quadratic.items()):
            if a == 0 or (i != j and is_nonnegative(a, i, j, self.low, self.high)):
                del self.quadratic[i, j]

    def settle_linear(self):
        """Bound the terms of variables without a quadratic part from below; whether that can be done."""
        curved = {i for pair in self.quadratic for i in pair}
        for i, (a, b) in self.linear.items():
            if i in curved or a == b == 0:
                continue
            end = self.low[i] if a >= 0 else self.high[i] if b <= 0 else math.inf
            if not math.isfinite(end):
                return False
            self.least += min(a * Fraction(end), b * Fraction(end))
        return True


def _of_parts(terms):
    """Bounds from all parts of the quadratic part that share no variable."""
    terms.drop_nonnegative()
    if not terms.settle_linear():
        return {}
    parts, slack = [], -terms.least
    for pairs in components(terms.quadratic):
        part = _Part(pairs, terms.linear, terms.stop)
        if part.curvature > 0:
            parts.append(part)
            slack -= part.least
        elif any(terms.linear[i] != [0, 0] for i in part.members) or not part.is_semidefinite():
            return {}
    slack = above(slack)
    return {i: ends for part in parts for i, ends in part.bounds(slack).items()} if math.isfinite(slack) else {}


class _Part:
    """
    A connected part x'H x + d'x of a row, d in intervals.

    Attributes
    ----------
    curvature : float
        lambda, or 0 where H is not definite enough.
    least : Fraction
        Of the part, at most.
    """

    def __init__(self, pairs, linear, stop):
        self.stop = stop
        self.pairs, self.members = pairs, sorted({i for pair in pairs for i in pair})
        self.curvature = 0.0
        matrix, k = dense(pairs), len(self.members)
        diagonal = np.diag(matrix)
        if not (np.isfinite(matrix).all() and (diagonal > 0).all()):
            return
        self.root = np.sqrt(diagonal)
        curvature = np.linalg.eigvalsh(matrix / np.outer(self.root, self.root))[0] - EIGENVALUE_ERROR * k
        if not curvature > LEAST_CURVATURE:
            return
        middle = [sum(linear[i]) / 2 for i in self.members]
        spread = [(linear[i][1] - linear[i][0]) / 2 for i in self.members]
        self.centre = -0.5 * np.linalg.solve(matrix, np.array([float(d) for d in middle]))
        if not np.isfinite(self.centre).all():
            return
        value, gradient = self._at([Fraction(x) for x in self.centre.tolist()], middle)
        # coefficients may be off their middle, at x0 and along y
        value -= sum((s * abs(Fraction(x)) for s, x in zip(spread, self.centre.tolist(), strict=True)), Fraction(0))
        off = np.array([above(abs(g) + s) for g, s in zip(gradient, spread, strict=True)])
        self.tilt = float(np.linalg.norm(off / self.root)) * (1 + (k + 8) * ROUNDING)
        if math.isfinite(self.tilt):
            self.curvature = curvature
            self.least = value - Fraction(self.tilt) ** 2 / (4 * Fraction(curvature))

    def _at(self, x, linear):
        """Value and gradient of the part at a point, exactly."""
        place, gradient, value = {i: p for p, i in enumerate(self.members)}, list(linear), Fraction(0)
        for (i, j), a in self.pairs.items():
            check(self.stop)
            p, q = place[i], place[j]
            value += a * x[p] * x[q]
            gradient[p] += a * x[q]
            gradient[q] += a * x[p]
        return value + sum((d * c for d, c in zip(linear, x, strict=True)), Fraction(0)), gradient

    def is_semidefinite(self):
        if len(self.members) > EXACT_UP_TO:
            return False
        half = {(i, j): a if i == j else a / 2 for (i, j), a in self.pairs.items()}
        return is_semidefinite([[half.get((min(i, j), max(i, j)), Fraction(0)) for j in self.members]
                                for i in self.members])

    def bounds(self, slack):
        """Bounds where the part may exceed its least value by the slack."""
        reach = 0.5 * self.tilt / self.curvature + math.sqrt(max(0.0, slack) / self.curvature)
        reach *= 1 + 16 * ROUNDING
        ends = {}
        for i, centre, root in zip(self.members, self.centre.tolist(), self.root.tolist(), strict=True):
            width = reach / root * (1 + 4 * ROUNDING) + 4 * ROUNDING * abs(centre)
            ends[i] = (centre - width, centre + width)
        return ends
