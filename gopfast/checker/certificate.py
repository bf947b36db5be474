"""What multipliers prove over a box: sums of products of what is not negative there.

Polynomials of degree two in z are matrices M over (1, z): M(z) = (1 z') M (1 z')', of which only M + M' matters. In a
node of the tree, with bounds l <= z <= u, none of these factors is negative at a point that is feasible and better than
the bound L that is claimed:

    0                       1
    1 ... n                 z_j - l_j                         n + 1 ... 2 n    u_j - z_j
    2 n + 1 ... 2 n + m     the rows' slacks; of an equation 0, so that its multipliers may have either sign
    2 n + m + 1             L - f(z): positive
    2 n + m + 2 ...         v_0 + v'z of the proof's vectors; of either sign, so that only their squares count
    -1 - 2 k, -2 - 2 k      z_v - s z_u - least, most - (z_v - s z_u) of the proof's line k, with slope s beside a
                            function z_v = f(z_u), where f(u) - s u is at least `least` and at most `most` in the box

A certificate is a list of multipliers of products of two of them that are affine, or of one alone. Their sum Z is not
negative, so that by comparing coefficients, with a target polynomial t of ours,

    t(z) = Z(z) + R(z) >= min R over the box  =: m,

for which each monomial takes its least value in the box; those that have none, for variables without ends, are bounded
by squares that are left (`squares`). With t = 0 a positive m, or m >= 0 where L - f has a positive
multiplier, is a contradiction: the node has no such point. With t = s (z_j - v), m >= 0 shows z_j >= v for s > 0 and
z_j <= v for s < 0. All of these are such sums: duals of linear programs, McCormick's rows, rows times bounds, tangents
of convex forms and semidefinite cuts (by squares), tangents and secants of functions, Farkas's rays, reduced costs.

Theory: (V9) of docs/theory/proofs.md; (VL2) of docs/theory/convex_proofs.md; (XF3) of docs/theory/functions.md.
"""

from fractions import Fraction

import numpy as np

from . import squares
from .errors import ProofError
from .rounding import TINY, UNIT, down, up
from .tuning import CERTIFICATE_NUMBERS, TABLE_NUMBERS as MOST_NUMBERS


class Certificates:
    """
    The rule that checks certificates of a problem.

    Parameters
    ----------
    problem : BiconvexProblem
        Of `gopfast.checker.biconvex`.
    vectors : ndarray, shape (S, n + 1)
        Whose squares are used.
    bound : float or None
        The bound claimed, minimised; None: that no point is feasible.
    lines : (list of int, list of float)
        Functions, by number from 0, and slopes of lines beside them; may grow.
    """

    def __init__(self, problem, vectors, bound, lines=((), ())):
        self.problem, self.bound, self.lines = problem, bound, lines
        if len(lines[0]) != len(lines[1]):
            raise ProofError("line_slopes", "must be as many as lines")
        if not all(0 <= own < len(problem.functions) for own in lines[0]):
            raise ProofError("lines", "there is no such function")
        n, m = self.n, self.m = problem.n, len(problem.is_equation)
        if vectors.shape[1:] != (n + 1,):
            raise ProofError("vectors", f"must have {n + 1} columns")
        self.cutoff, self.first_vector = 2 * n + m + 1, 2 * n + m + 2
        if (self.first_vector + len(vectors)) * (n + 1) > MOST_NUMBERS:
            raise ProofError("vectors", "are too many")
        eye = np.eye(n + 1)
        # constants of the bounds are those of the box
        self.factors = np.vstack([eye[:1], eye[1:], -eye[1:], problem.affine, np.zeros((1, n + 1)), vectors])
        self.is_affine = np.ones(len(self.factors), bool)
        self.is_affine[2 * n + 1 : self.cutoff] = problem.is_affine
        self.is_affine[self.cutoff :] = False
        self.is_equation = np.zeros(len(self.factors), bool)
        self.is_equation[2 * n + 1 : self.cutoff] = problem.is_equation
        # places of the same monomial count at i <= j
        self.above, self.diagonal = np.triu(np.ones((n + 1, n + 1), bool), 1), np.eye(n + 1, dtype=bool)

    @np.errstate(all="ignore")  # no number is never at least 0
    def rest(self, first, second, multipliers, low, high):
        """
        Return -Z over a box, as a `Rest`.

        Parameters
        ----------
        first, second : ndarray of int, shape (T,)
            Numbers of factors; the second may be 0.
        multipliers : ndarray, shape (T,)
        low, high : ndarray, shape (n,)
            The box.

        Raises
        ------
        ValueError
            With what is wrong with the multipliers.
        """
        self._check(first, second, multipliers)
        n, m = self.n, self.m
        if len(first) * (n + 1) > CERTIFICATE_NUMBERS:
            raise ValueError("its multipliers are too many")
        is_single = (second == 0) & (first > 2 * n) & (first <= self.cutoff)
        rows = np.bincount(first[is_single] - 2 * n - 1, multipliers[is_single], m + 1)
        if not np.isfinite(rows).all():
            raise ValueError("its multipliers are too large to add up")
        mu = float(rows[m])
        if mu and self.bound is None:
            raise ValueError("a bound is used where none is claimed")
        forms, at = self.problem.forms, self.problem.monomials  # of the rows, then of the objective
        own = np.append(rows[:m], -mu)
        factor, by = self._values(first[~is_single], low, high), multipliers[~is_single]
        left, right = factor * by[:, np.newaxis], self._values(second[~is_single], low, high)
        total, size = left.T @ right, np.abs(left).T @ np.abs(right)
        # what is 0 for underflow alone counts: by what it is multiplied with, which may be large
        beside = ((factor != 0) & (by != 0)[:, np.newaxis]).T @ np.abs(right)
        total[at], size[at] = total[at] + own @ forms, size[at] + np.abs(own) @ np.abs(forms)
        beside[at] += (own != 0).astype(float) @ (forms != 0)
        if mu:
            total[0, 0], size[0, 0] = total[0, 0] + mu * self.bound, size[0, 0] + abs(mu * self.bound)
            beside[0, 0] += 1.0
        total, size, beside = (part + np.where(self.above, part.T, 0.0) for part in (total, size, beside))
        total, size, beside = (np.where(self.above | self.diagonal, part, 0.0) for part in (total, size, beside))
        rounding = 2.0 * (len(left) + m + 32) * UNIT
        error = np.where(beside != 0, rounding * size + TINY * (1.0 + beside), 0.0)

        def exact(i, j):
            return self._exact(i, j, factor, by, right, own)

        return Rest(-total, error, rounding, self._monomials(low, high), exact, mu)

    def least(self, first, second, multipliers, low, high, target=None):
        """Return m, rounded down, and the multiplier of L - f; see `rest` and `Rest.least`."""
        rest = self.rest(first, second, multipliers, low, high)
        return rest.least(target), rest.mu

    def _check(self, first, second, multipliers):
        last, last_line = len(self.factors), -2 * len(self.lines[0])
        if not ((first != 0) & (first >= last_line) & (first < last) & (second >= last_line) & (second < last)).all():
            raise ValueError("there is no such factor")
        # lines are affine inequalities, as the factor 1 is one
        first, second = np.maximum(first, 0), np.maximum(second, 0)
        is_square = (first >= self.first_vector) & (first == second)
        is_product = self.is_affine[first] & self.is_affine[second]
        is_row = (second == 0) & (first <= self.cutoff)
        if not (is_square | is_product | is_row).all():
            raise ValueError("a product is neither of two affine factors nor a square")
        free = self.is_equation[first] | self.is_equation[second]
        if not (free | (multipliers >= 0)).all():
            raise ValueError("a multiplier is negative")

    def _values(self, factors, low, high):
        """Coefficients (T, n + 1) of factors in a box."""
        n, out = self.n, self.factors[np.maximum(factors, 0)]
        for first, bound in ((1, -low), (n + 1, high)):
            own = (factors >= first) & (factors < first + n)
            out[own, 0] = bound[factors[own] - first]
        for t in np.flatnonzero(factors < 0).tolist():
            out[t] = self._line(-1 - int(factors[t]), low, high)
        if not np.isfinite(out).all():
            raise ValueError("a bound is used that is infinite")
        return out

    def _line(self, code, low, high):
        """Coefficients (n + 1,) of a line's factor, below its function or above it."""
        k, is_above = divmod(code, 2)
        own, slope, out = self.problem.functions[self.lines[0][k]], self.lines[1][k], np.zeros(self.n + 1)
        least, most = own.beside(slope, float(low[own.argument]), float(high[own.argument]))
        sign = -1.0 if is_above else 1.0
        out[[0, 1 + own.argument, 1 + own.value]] = most if is_above else -least, -sign * slope, sign
        return out

    def _monomials(self, low, high):
        """Least and greatest values (n + 1, n + 1) of the monomials (1, z)(1, z)', rounded outward."""
        low, high = np.append(1.0, low), np.append(1.0, high)
        corners = [_product(a[:, np.newaxis], b) for a in (low, high) for b in (low, high)]
        least, most = down(np.minimum.reduce(corners)), up(np.maximum.reduce(corners))
        least[0], most[0] = low, high
        i = np.arange(1, len(low))
        least[i, i] = np.where((low[1:] <= 0) & (high[1:] >= 0), 0.0, np.maximum(least[i, i], 0.0))
        return least, most

    def _exact(self, i, j, factor, by, right, own):
        """Coefficient of a monomial of -Z: where it is unbounded, rounding would be too much."""
        total = Fraction(0)
        for p, q in {(i, j), (j, i)}:
            for t in np.flatnonzero((factor[:, p] != 0) & (by != 0) & (right[:, q] != 0)):
                total -= Fraction(factor[t, p]) * Fraction(by[t]) * Fraction(right[t, q])
            for k in np.flatnonzero((self.problem.monomials[0] == p) & (self.problem.monomials[1] == q)):
                for r in np.flatnonzero((own != 0) & (self.problem.forms[:, k] != 0)):
                    total -= Fraction(own[r]) * Fraction(self.problem.forms[r, k])
        return total


class Rest:
    """
    A polynomial over a box: -Z, to which a target is added.

    Parameters
    ----------
    coefficients, error : ndarray, shape (n + 1, n + 1)
        Of the monomials i <= j, and what they may be off; 0 of those alone that nothing was added up for.
    rounding : float
        Error of a coefficient, relative to the magnitudes of what is added up.
    ranges : (ndarray, ndarray)
        Of the monomials.
    exact : callable
        Returns the coefficient of a monomial as a Fraction.
    mu : float
        The multiplier of L - f in Z.
    """

    def __init__(self, coefficients, error, rounding, ranges, exact, mu):
        self.coefficients, self.error, self.rounding, self.exact, self.mu = coefficients, error, rounding, exact, mu
        self.ranges, self.fractions = ranges, {}
        self.values, self.lost = self._terms(coefficients, error, *ranges)
        is_endless = (np.isinf(ranges[0]) | np.isinf(ranges[1])) & (error != 0)
        # between two squares that are left coefficients need not cancel exactly: rationals take their time
        has_square = np.diag(coefficients - error) > 0
        has_square &= np.isinf(ranges[0][0]) | np.isinf(ranges[1][0])
        self.is_put_off = is_endless & np.triu(np.outer(has_square, has_square), 1)
        self.values[self.is_put_off] = -np.inf
        self._take_exactly(is_endless & ~self.is_put_off)

    @np.errstate(all="ignore")
    def least(self, target=None):
        """
        Return m, rounded down.

        Parameters
        ----------
        target : (int, float, float), optional
            j, s and v of t = s (z_j - v); 0 by default.
        """
        values, lost, linear = self.values, self.lost, (0, 0.0)
        if target is not None:
            j, s, v = target
            values, lost, linear = values.copy(), lost.copy(), (j + 1, s)
            for place, added in ((0, -s * v), linear):
                ranges = [side[0, place] for side in self.ranges]
                if np.isinf(ranges).any():
                    values[0, place], lost[0, place] = self._endless(0, place, Fraction(added))
                else:
                    values[0, place], lost[0, place] = self._terms(
                        self.coefficients[0, place] + added, self._with(added, 0, place), *ranges
                    )
        if np.isneginf(values).any():
            try:
                values, lost = self._by_squares(values, lost, *linear)
            except ArithmeticError:
                if self.is_put_off.any():
                    self._take_exactly(self.is_put_off)
                    self.is_put_off = np.zeros_like(self.is_put_off)
                    return self.least(target)
        error = lost.sum() * (1 + 1e-9) + (values.size + 16) * 2 * UNIT * np.abs(values).sum()
        return float(down(values.sum() - error))

    def _take_exactly(self, where):
        for i, j in np.argwhere(where).tolist():
            self.values[i, j], self.lost[i, j] = self._endless(i, j, Fraction(0))

    def _by_squares(self, values, lost, place, added):
        """
        Return least values of terms, and their errors, with those that are unbounded in one with squares beside them.

        Raises
        ------
        ArithmeticError
            If the squares are too small, or a term is too large for a double, whose variables have ends.
        """
        is_open = np.isneginf(values)
        least, most = (side[0] for side in self.ranges)
        is_endless = np.isinf(least) | np.isinf(most)
        if (is_open & ~(is_endless[:, np.newaxis] | is_endless)).any():
            raise ArithmeticError
        own = np.flatnonzero(is_endless & (is_open.any(axis=0) | is_open.any(axis=1)))
        coefficients, error = self.coefficients.copy(), self.error.copy()
        coefficients[0, place] += added
        error[0, place] = self._with(added, 0, place)
        far = np.where(is_open, np.abs(coefficients) + error, 0.0) * (1 + 4 * UNIT)
        linear, between = far[0, own], (far + far.T)[own]
        between[:, 0] = 0.0
        reach = np.where(is_endless, 0.0, np.maximum(np.abs(least), np.abs(most)))
        linear = (linear + between @ reach) * (1 + 2 * (len(reach) + 16) * UNIT)
        bound = squares.least(down(coefficients[own, own] - error[own, own]), linear, between[:, own])
        if bound == -np.inf:
            raise ArithmeticError
        values, lost = (np.where(is_open, 0.0, part) for part in (values, lost))
        values[own, own] = lost[own, own] = 0.0
        values[0, 0] += bound
        return values, lost

    def _with(self, added, i, j):
        """Return the error of a monomial's coefficient to which a number is added."""
        return self.error[i, j] + self.rounding * abs(added) + TINY

    def _terms(self, coefficients, error, least, most):
        """Least values of terms, and their errors."""
        far = np.maximum(np.abs(least), np.abs(most))
        values = np.minimum(coefficients * least, coefficients * most)
        # products of what is small may be 0
        return np.where(coefficients == 0, 0.0, values), np.where(error == 0, 0.0, error * far + TINY)

    def _endless(self, i, j, added):
        """Return the least value of the term of an unbounded monomial, and its error."""
        near, error = self.coefficients[i, j] + float(added), self._with(float(added), i, j)
        least, most = (side[i, j] for side in self.ranges)
        if (near > error and np.isneginf(least)) or (near < -error and np.isposinf(most)):
            return -np.inf, 0.0
        if (i, j) not in self.fractions:
            self.fractions[i, j] = self.exact(i, j)
        exact = self.fractions[i, j] + added
        if exact == 0:
            return 0.0, 0.0
        end = float(self.ranges[0 if exact > 0 else 1][i, j])
        try:
            return float(down(float(exact * Fraction(end)))), 0.0
        except OverflowError:  # of an end that is infinite, too
            return -np.inf, 0.0


def _product(a, b):
    return np.where((a == 0) | (b == 0), 0.0, a * b)
