"""What multipliers prove over a box: sums of products of what is not negative there.

Polynomials of degree two in z are matrices M over (1, z): M(z) = (1 z') M (1 z')', of which only M + M' matters. In a
node of the tree, with bounds l <= z <= u, none of these factors is negative at a point that is feasible and better than
the bound L that is claimed:

    0                       1
    1 ... n                 z_j - l_j                         n + 1 ... 2 n    u_j - z_j
    2 n + 1 ... 2 n + m     the rows' slacks; of an equation 0, so that its multipliers may have either sign
    2 n + m + 1             L - f(z): positive
    2 n + m + 2 ...         v_0 + v'z of the proof's vectors; of either sign, so that only their squares count

A certificate is a list of multipliers of products of two of them that are affine, or of one alone. Their sum Z is not
negative, so that by comparing coefficients, with a target polynomial t of ours,

    t(z) = Z(z) + R(z) >= min R over the box  =: m,

for which each monomial takes its least value in the box. With t = 0 a positive m, or m >= 0 where L - f has a positive
multiplier, is a contradiction: the node has no such point. With t = s (z_j - v), m >= 0 shows z_j >= v for s > 0 and
z_j <= v for s < 0. All of these are such sums: duals of linear programs, McCormick's rows, rows times bounds, tangents
of convex forms and semidefinite cuts (by squares), Farkas's rays, reduced costs.
"""

from fractions import Fraction

import numpy as np

from .errors import ProofError
from .rounding import UNIT, down, up

MOST_NUMBERS = 2**26  # of a table of factors


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
    """

    def __init__(self, problem, vectors, bound):
        self.problem, self.bound = problem, bound
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

    @np.errstate(all="ignore")  # no number is never at least 0
    def least(self, first, second, multipliers, low, high, target=None):
        """
        Return m, rounded down, and the multiplier of L - f.

        Parameters
        ----------
        first, second : ndarray of int, shape (T,)
            Numbers of factors; the second may be 0.
        multipliers : ndarray, shape (T,)
        low, high : ndarray, shape (n,)
            The box.
        target : (int, float, float), optional
            j, s and v of t = s (z_j - v); 0 by default.

        Raises
        ------
        ValueError
            With what is wrong with the multipliers.
        """
        self._check(first, second, multipliers)
        n, m = self.n, self.m
        is_single = (second == 0) & (first > 2 * n) & (first <= self.cutoff)
        rows = np.bincount(first[is_single] - 2 * n - 1, multipliers[is_single], m + 1)
        mu = float(rows[m])
        if mu and self.bound is None:
            raise ValueError("a bound is used where none is claimed")
        forms, at = self.problem.forms, self.problem.monomials  # of the rows, then of the objective
        own = np.append(rows[:m], -mu)
        factor, by = self._values(first[~is_single], low, high), multipliers[~is_single]
        left, right = factor * by[:, np.newaxis], self._values(second[~is_single], low, high)
        total, size = left.T @ right, np.abs(left).T @ np.abs(right)
        total[at], size[at] = total[at] + own @ forms, size[at] + np.abs(own) @ np.abs(forms)
        constant = [] if not mu else [mu * self.bound]
        moved = []
        if target is not None:
            j, s, v = target
            constant.append(s * v)
            moved = [(j + 1, s)]
        for value in constant:
            total[0, 0], size[0, 0] = total[0, 0] + value, size[0, 0] + abs(value)
        for column, s in moved:
            total[0, column], size[0, column] = total[0, column] - s, size[0, column] + abs(s)
        rest = -np.triu(total + np.tril(total, -1).T)
        size = np.triu(size + np.tril(size, -1).T)
        error = 2.0 * (len(left) + m + 32) * UNIT * size + np.where(size > 0, 1e-300, 0.0)
        least, most = self._monomials(low, high)
        endless = np.isinf(least) | np.isinf(most)
        for i, j in np.argwhere(endless & (size > 0)).tolist():
            exact = float(self._exact(i, j, factor, by, right, own, moved))
            rest[i, j], error[i, j] = exact, 2.0 * UNIT * abs(exact)
        used = (rest != 0) | (error != 0)
        values = np.minimum(rest * least, rest * most)[used]
        open_end = (error > 0) & endless & (rest == 0)
        lost = (error * np.where(rest > 0, np.abs(least), np.abs(most)))[used & endless].sum()
        lost += (error * np.maximum(np.abs(least), np.abs(most)))[used & ~endless].sum()
        if open_end.any():
            return -np.inf, mu
        lost = lost * (1 + 1e-9) + (len(values) + 16) * 2 * UNIT * np.abs(values).sum()
        return float(down(values.sum() - lost)), mu

    def _check(self, first, second, multipliers):
        last = len(self.factors)
        if not ((first > 0) & (first < last) & (second >= 0) & (second < last)).all():
            raise ValueError("there is no such factor")
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
        n, out = self.n, self.factors[factors]
        for first, bound in ((1, -low), (n + 1, high)):
            own = (factors >= first) & (factors < first + n)
            out[own, 0] = bound[factors[own] - first]
        if not np.isfinite(out).all():
            raise ValueError("a bound is used that is infinite")
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

    def _exact(self, i, j, factor, by, right, own, moved):
        """Coefficient of a monomial of the rest: where it is unbounded, rounding would be too much."""
        total = Fraction(0)
        for p, q in {(i, j), (j, i)}:
            for t in np.flatnonzero((factor[:, p] != 0) & (by != 0) & (right[:, q] != 0)):
                total -= Fraction(factor[t, p]) * Fraction(by[t]) * Fraction(right[t, q])
            for k in np.flatnonzero((self.problem.monomials[0] == p) & (self.problem.monomials[1] == q)):
                for r in np.flatnonzero((own != 0) & (self.problem.forms[:, k] != 0)):
                    total -= Fraction(own[r]) * Fraction(self.problem.forms[r, k])
            total += sum(Fraction(s) for column, s in moved if (p, q) == (0, column))
        return total


def _product(a, b):
    return np.where((a == 0) | (b == 0), 0.0, a * b)
