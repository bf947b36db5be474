"""Squares of linear forms: variables for the forms of concave terms, such as (x - y)^2 >= r.

A part c (v'z)^2 of an expression that is not convex has k (k + 1) / 2 products of k variables, each bounded by itself
over the box. With d = v'z, one more variable and one equation, it has the square of d alone, whose chord is its
envelope; and dividing the interval of x - y says which of both is the greater.

Theory: (XL1) of docs/theory/linear_forms.md.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy import sparse

from gopfast.biconvex.forms import components, is_convex
from gopfast.biconvex.outward import above, below
from gopfast.biconvex.problem import LARGEST_NUMBER, BiconvexProblem, QuadraticRow, terms_of
from gopfast.biconvex.tuning import LONGEST_NAME, MOST_SQUARED
from gopfast.search.mechanism import Mechanism


class Expression(NamedTuple):
    """
    The products of an expression, and from which sides it matters.

    Attributes
    ----------
    terms : dict
        (i, j), i <= j -> Fraction.
    falls, rises : bool
        Whether smaller values than the terms have would be to its good, and greater ones.
    """

    terms: dict
    falls: bool
    rises: bool


class Place(NamedTuple):
    """Where a square stands: ``factor`` times that of a form, in an expression."""

    expression: int
    form: int
    factor: float


class SquaredForms(Mechanism):
    """Variables for linear forms whose squares are concave terms."""

    name, theory = "squared_forms", "(XL1)"
    what = "gives linear forms of biconvex problems, whose squares are concave terms, a variable each"
    hands_over, back_off = ("bounds of nodes",), "once"
    # a proof is written by a search of its own, of the problem as it is
    in_proofs = True

    @staticmethod
    def applies(plan):
        """Where the groups of variables are the search's to choose, and none is a function of another."""
        return plan.is_free and plan.problem.x is None and plan.problem.y is None

    @staticmethod
    def make(plan):
        """Return the problem with such variables, or None where it has no such forms."""
        with plan.meter(SquaredForms):
            return SquaredProblem.of(plan.problem)


class SquaredProblem(BiconvexProblem):
    """
    A problem whose first variables are those of another, and then those of linear forms.

    Attributes
    ----------
    given : BiconvexProblem
        The other.
    forms : dict
        Variable of a form -> (variable -> coefficient).
    loss : float
        By how much at most the objective, minimised, lies below the other's in the box.
    """

    @classmethod
    def of(cls, problem):
        """Return the problem with variables for its forms, or None where it has none."""
        expressions = expressions_of(problem)
        forms, places = find(expressions, problem.lower, problem.upper)
        return _with_variables(problem, expressions, forms, places) if forms else None

    def completed(self, point):
        """Return the point that belongs to one (n,) of the other problem."""
        added = [math.fsum(a * point[i] for i, a in form.items()) for form in self.forms.values()]
        return np.append(point, added)


def expressions_of(problem):
    """Return the objective and the quadratic rows of a problem as expressions."""
    sign = -1 if problem.sense == "max" else 1
    expressions = [Expression(_terms(problem.Q), sign > 0, sign < 0)]
    return expressions + [
        Expression(_terms(row.Q), row.upper < math.inf, row.lower > -math.inf) for row in problem.quadratic_rows
    ]


def find(expressions, low, high):
    """
    Return the linear forms whose squares stand in expressions where they are not convex.

    Their variables are in no other products: what rows share says more than squares that have nothing in common.

    Parameters
    ----------
    expressions : list of Expression
    low, high : ndarray, shape (n,)

    Returns
    -------
    forms : list of dict
        Variable -> whole number, without a common divisor.
    places : list of Place
    """
    bounded = np.isfinite(low) & np.isfinite(high)
    squares, rest = [], set()
    for number, expression in enumerate(expressions):
        for part in components(expression.terms):
            if expression.falls != expression.rises:
                sign = 1 if expression.falls else -1
                if is_convex({pair: sign * float(a) for pair, a in part.items()}):
                    continue
            members = {i for pair in part for i in pair}
            found = squared(part) if len(members) > 1 and all(bounded[i] for i in members) else None
            if found is None:
                rest |= members
            else:
                squares.append((number, members, *found))
    while True:
        # whatever shares a variable with other products stays with them
        left = [square for square in squares if not square[1] & rest]
        if len(left) == len(squares):
            break
        rest.update(*(square[1] for square in squares if square[1] & rest))
        squares = left
    numbers, places = {}, []
    for number, _, form, factor in squares:
        key = tuple(sorted(form.items()))
        if key not in numbers and len(numbers) == MOST_SQUARED:
            return [], []
        places.append(Place(number, numbers.setdefault(key, len(numbers)), factor))
    return [dict(key) for key in numbers], places


def squared(terms):
    """
    Return v and c if terms are c (v'z)^2 exactly, or None.

    Parameters
    ----------
    terms : dict
        (i, j), i <= j -> Fraction, not 0.

    Returns
    -------
    (dict, float) or None
        Variable -> whole number as a float, the first of them positive; c.
    """
    members = sorted({i for pair in terms for i in pair})
    first = members[0]
    if len(terms) != len(members) * (len(members) + 1) // 2 or not terms.get((first, first)):
        return None
    c = Fraction(terms[first, first])
    v = {first: Fraction(1)} | {i: Fraction(terms[first, i]) / (2 * c) for i in members[1:]}
    if any(c * v[i] * v[j] * (1 if i == j else 2) != a for (i, j), a in terms.items()):
        return None
    unit = math.lcm(*(value.denominator for value in v.values()))
    form, factor = {i: float(value * unit) for i, value in v.items()}, c / unit**2
    exact = all(Fraction(form[i]) == v[i] * unit for i in members) and Fraction(float(factor)) == factor
    return (form, float(factor)) if exact and unit <= LARGEST_NUMBER else None


def ranges(forms, low, high):
    """Return what values forms can have in a box, rounded outward: arrays (D,)."""
    ends = []
    for form in forms:
        for sign in (1, -1):
            least = sum(
                (sign * Fraction(a) * Fraction(float((low if sign * a > 0 else high)[i])) for i, a in form.items()),
                Fraction(0),
            )
            near = float(least)
            ends.append(sign * (near if near <= least else math.nextafter(near, -math.inf)))
    return np.array(ends[::2]), np.array(ends[1::2])


def _terms(Q):
    i, j, values = (part.tolist() for part in terms_of(Q))
    return {pair: Fraction(a) for pair, a in zip(zip(i, j, strict=True), values, strict=True) if a}


def _with_variables(problem, expressions, forms, places):
    """Return the problem with variables for forms, and their squares in place of its products."""
    n = problem.n_variables
    terms = [dict(expression.terms) for expression in expressions]
    for place in places:
        form = forms[place.form]
        own = terms[place.expression]
        for pair in [(i, j) for i in form for j in form if i <= j]:
            del own[pair]
        own[n + place.form, n + place.form] = Fraction(place.factor)
    return with_variables(problem, terms, forms)


def with_variables(problem, terms, forms, losses=None):
    """
    Return a problem with a variable and an equation for each form.

    Parameters
    ----------
    problem : BiconvexProblem
    terms : list of dict
        Of the objective and the quadratic rows, in its variables and those of the forms, which come behind them.
    forms : list of dict
        Variable -> coefficient.
    losses : list of Fraction, optional
        By how much at most the terms are off what they stand for: each expression is loosened by it.

    Returns
    -------
    SquaredProblem
    """
    n, size = problem.n_variables, problem.n_variables + len(forms)
    losses = losses or [Fraction(0)] * len(terms)
    sign = -1 if problem.sense == "max" else 1
    constant = sign * below(sign * Fraction(problem.constant) - losses[0])
    matrices = [_matrix(own, size) for own in terms]
    least, most = ranges(forms, problem.lower, problem.upper)
    entries = [(k, i, a) for k, form in enumerate(forms) for i, a in form.items()]
    entries += [(k, n + k, -1.0) for k in range(len(forms))]
    rows, columns, values = zip(*entries, strict=True)
    equations = sparse.csr_array((values, (rows, columns)), shape=(len(forms), size))
    own_rows = sparse.hstack([problem.A, sparse.csr_array((problem.A.shape[0], len(forms)))], format="csr")
    zeros = np.zeros(len(forms))
    found = SquaredProblem(
        np.append(problem.c, zeros),
        Q=matrices[0],
        A=sparse.vstack([own_rows, equations], format="csr"),
        row_lower=np.append(problem.row_lower, zeros),
        row_upper=np.append(problem.row_upper, zeros),
        quadratic_rows=[
            QuadraticRow(matrix, np.append(row.a, zeros), -_loosened(-row.lower, loss), _loosened(row.upper, loss))
            for matrix, row, loss in zip(matrices[1:], problem.quadratic_rows, losses[1:], strict=True)
        ],
        lower=np.append(problem.lower, least),
        upper=np.append(problem.upper, most),
        sense=problem.sense,
        constant=constant,
        names=_names(problem.names, forms),
        name=problem.name,
    )
    found.given, found.forms = problem, dict(enumerate(forms, n))
    # the terms may be off to either side, and the constant is lower by as much
    found.loss = above(Fraction(sign) * (Fraction(problem.constant) - Fraction(constant)) + losses[0])
    return found


def _loosened(upper, loss):
    return upper if math.isinf(upper) else above(Fraction(upper) + loss)


def _matrix(terms, n):
    """Matrix of terms, of which a product of two stands above the diagonal."""
    if not terms:
        return None
    values = [float(a) for a in terms.values()]
    return sparse.coo_array((values, tuple(zip(*terms, strict=True))), shape=(n, n))


def _names(names, forms):
    found = list(names)
    known = set(found)
    for form in forms:
        parts = [f"{'-' if a < 0 else '+'} {'' if abs(a) == 1 else f'{abs(a):g} '}{names[i]}" for i, a in form.items()]
        name = " ".join(parts).removeprefix("+ ")
        name = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 3] + "..."
        while name in known:
            name += "_"
        found.append(name)
        known.add(name)
    return found
