"""Tangents of rows whose feasible points are convex though their form is not: X Y >= K + squares, X >= 0 known.

X and Y are variables less numbers, or both their negatives. An affine function ``t_0 + t'z`` is not negative where such
a row holds if, with a and b its slopes in X and Y, -2 p those in the variables of the squares and -2 s what is left of
its constant,

    a, b >= 0,    sum p_k^2 / e_k + max(s, 0)^2 / K <= a b:

the inequality of the two means and Cauchy's. Everything here is in rational numbers. What is accepted is a row of the
problem like those that its user wrote: certificates (`certificate`) use it, and cuts.

Theory: (V11) of docs/theory/proofs.md.
"""

from collections import namedtuple
from fractions import Fraction

from .errors import ProofError
from .tuning import MOST_TANGENTS, TABLE_NUMBERS as MOST_NUMBERS


class Hyperbola(namedtuple("Hyperbola", "x y x_shift y_shift sign constant squares")):
    """
    What a row says: ``sign (x - x_shift) * sign (y - y_shift) >= constant + sum e_k z_k^2``, neither factor negative.

    Attributes
    ----------
    x, y : int
        Numbers of variables, from 0.
    x_shift, y_shift, constant : Fraction
    sign : int
        1 or -1.
    squares : dict
        Variable -> e_k, positive.
    """

    def check(self, vector):
        """
        Check that an affine function is not negative where the row holds.

        Parameters
        ----------
        vector : ndarray, shape (n + 1,)
            Its constant and its coefficients.

        Raises
        ------
        ValueError
            With what is wrong.
        """
        constant, *slopes = map(Fraction, vector.tolist())
        a, b = self.sign * slopes[self.x], self.sign * slopes[self.y]
        if a < 0 or b < 0:
            raise ValueError("a slope has the wrong sign")
        used = {k for k, slope in enumerate(slopes) if slope} - {self.x, self.y}
        if not used <= self.squares.keys():
            raise ValueError("has a variable that the row has no square of")
        needed = sum((slopes[k] ** 2 / (4 * self.squares[k]) for k in used), Fraction(0))
        # of t_0 = -2 s - sign (a x_shift + b y_shift)
        s = -(constant + self.sign * (a * self.x_shift + b * self.y_shift)) / 2
        if s > 0 and not self.constant:
            raise ValueError("its constant is too small for a cone")
        if s > 0:
            needed += s**2 / self.constant
        if needed > a * b:
            raise ValueError("cuts off points that the row allows")


def hyperbola(problem, row):
    """
    Return what a row says, or None where it is no hyperbola whose sign the bounds of the variables show.

    Parameters
    ----------
    problem : gopfast.checker.biconvex.BiconvexProblem
    row : int
    """
    first, second = (side.tolist() for side in problem.monomials)
    terms = {(i, j): Fraction(a) for i, j, a in zip(first, second, problem.forms[row].tolist(), strict=True) if a}
    products = [(pair, a) for pair, a in terms.items() if 0 < pair[0] < pair[1]]
    if len(products) != 1:
        return None
    (x, y), q = products[0]
    if q < 0 and problem.is_equation[row]:
        terms, q = {pair: -a for pair, a in terms.items()}, -q
    squares = {i: -a / q for (i, j), a in terms.items() if 0 < i == j}
    linear = {j: a / q for (i, j), a in terms.items() if i == 0 < j}
    if q < 0 or x in squares or y in squares or any(e < 0 for e in squares.values()) or not linear.keys() <= {x, y}:
        return None
    # x y + A x + B y + C >= squares, all over q, is (x + B) (y + A) >= squares + A B - C
    x_shift, y_shift = -linear.get(y, Fraction(0)), -linear.get(x, Fraction(0))
    constant = x_shift * y_shift - terms.get((0, 0), Fraction(0)) / q
    if constant < 0:
        return None
    low, high = problem.low.tolist(), problem.high.tolist()
    # where the product is positive one sign is enough
    enough = any if constant > 0 else all
    for sign, known in ((1, (low[x - 1] >= x_shift, low[y - 1] >= y_shift)),
                        (-1, (high[x - 1] <= x_shift, high[y - 1] <= y_shift))):  # fmt: skip
        if enough(known):
            return Hyperbola(x - 1, y - 1, x_shift, y_shift, sign, constant, {i - 1: e for i, e in squares.items()})
    return None


def with_tangents(problem, rows, vectors):
    """
    Return a problem that has tangents beside its rows, each checked.

    Parameters
    ----------
    problem : gopfast.checker.biconvex.BiconvexProblem
    rows : ndarray of int, shape (T,)
        Whose tangents they are.
    vectors : ndarray, shape (T, n + 1)
        Affine functions: constants and coefficients.

    Returns
    -------
    BiconvexProblem
        Its last rows are the tangents; the problem itself where there are none.

    Raises
    ------
    ProofError
        If a row has no tangents, or an affine function is none.
    """
    m, n = len(problem.is_equation), problem.n
    if vectors.shape != (len(rows), n + 1):
        raise ProofError("tangents", f"must have {n + 1} columns, and a row of the problem each")
    if len(rows) > MOST_TANGENTS or (m + len(rows)) * (len(problem.monomials[0]) + n + 1) > MOST_NUMBERS:
        raise ProofError("tangents", "are too many")
    if not len(rows):
        return problem
    known, polynomials = {}, []
    for k, (row, vector) in enumerate(zip(rows.tolist(), vectors, strict=True)):
        if row not in known:
            known[row] = hyperbola(problem, row) if 0 <= row < m else None
        if known[row] is None:
            raise ProofError(f"tangent {k}", f"row {row} has none")
        try:
            known[row].check(vector)
        except ValueError as error:
            raise ProofError(f"tangent {k}", str(error)) from None
        polynomials.append({(0, j): Fraction(a) for j, a in enumerate(vector.tolist()) if a or not j})
    return problem.extended(polynomials)
