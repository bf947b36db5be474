"""Expressions of many operations as polynomials, with variables for quotients, roots and factors that are sums.

A *polynomial* is a dict from monomials, sorted tuples of numbers of variables (with repetition), to coefficients that
are not 0; it is not changed once made. What is multiplied out is of degree two at most; beyond it

- a factor that is a sum gets a variable r of its own with the row ``r = factor``, so that ``(y - x x) ** 2`` is r r;
- a quotient p / q is a variable t with ``t q = p``. Where q = 0 the quotient is not defined, and that row leaves t free
  if p = 0 there, too: within the bounds p or q must keep away from 0;
- a root ``p ** (1 / n)`` is a variable t >= 0 with ``t ** n = p``, which says p >= 0.

Equal ones are made once. Bounds of these variables are the ranges of what they stand for, in interval arithmetic.

Theory: (XP1) of docs/theory/polynomials.md.
"""

import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gopfast.biconvex import intervals
from gopfast.biconvex.tuning import MOST_DEGREE, MOST_ROOT
from gopfast.errors import InputError

ONE = ()  # the monomial of constants


class Definition(NamedTuple):
    """The value of a variable that was made: ``(numerator / denominator) ** (1 / degree)``."""

    numerator: dict
    denominator: dict
    degree: int


class Row(NamedTuple):
    """A constraint ``lower <= polynomial <= upper``; a definition's says what a variable is that was made."""

    polynomial: dict
    lower: float
    upper: float
    is_definition: bool = False


@dataclass
class Model:
    """
    An objective and rows, as polynomials.

    Attributes
    ----------
    names : list of str
        Of all variables: the user's, then those that were made.
    lower, upper : list of float
    objective : dict
    rows : list of Row
        The user's in their order, and those that expressions brought with them.
    definitions : list of Definition
        Of the variables that were made, in their order.
    sense : {"min", "max"}
    name : str
    """

    names: list
    lower: list
    upper: list
    objective: dict
    rows: list
    definitions: list = field(default_factory=list)
    sense: str = "min"
    name: str = ""

    @property
    def n_own(self):
        """How many of the variables are the user's."""
        return len(self.names) - len(self.definitions)

    @property
    def is_quadratic(self):
        """Whether no variable was made, and nothing is of a degree above two."""
        return not self.definitions and all(
            len(monomial) <= 2 for row in (self.objective, *(row.polynomial for row in self.rows)) for monomial in row
        )


class Composition:
    """
    Operations on polynomials of named variables.

    Parameters
    ----------
    names : sequence of str
    lower, upper : sequence of float
    """

    def __init__(self, names, lower, upper):
        self.names, self.lower, self.upper = list(names), list(lower), list(upper)
        self.taken = set(self.names)
        self.rows, self.definitions, self.made = [], [], {}

    def model(self, objective, rows, sense="min", name=""):
        """Return the whole: rows are (polynomial, lower, upper), bounds of what is without its constant."""
        own = [Row(polynomial, lower, upper) for polynomial, lower, upper in rows]
        return Model(
            self.names, self.lower, self.upper, objective, own + self.rows, self.definitions, sense, name
        )

    def times(self, p, q):
        """Product of two polynomials."""
        if not p or not q:
            return {}
        if degree(p) + degree(q) > 2 and degree(p) and degree(q):
            p, q = self._one_term(p), self._one_term(q)
        found = Counter()
        for left, a in p.items():
            for right, b in q.items():
                found[tuple(sorted(left + right))] += a * b
        return _checked(found)

    def over(self, p, q):
        """Quotient of two polynomials."""
        if degree(q) == 0:
            if not q:
                raise InputError("a division by 0")
            return _checked({monomial: a / q[ONE] for monomial, a in p.items()})
        if not p:
            raise InputError("a quotient of 0, which is not defined where its denominator is 0")
        above, below = self.range(p), self.range(q)
        if above[0] <= 0.0 <= above[1] and below[0] <= 0.0 <= below[1]:
            raise InputError(
                "a quotient whose numerator and denominator may both be 0 within the bounds: give bounds that keep the "
                "denominator away from 0"
            )
        if below == (0.0, 0.0):
            raise InputError("a division by what is 0 within the bounds")
        # c m / q is c times m / q, so that other multiples share it
        factor = next(iter(p.values())) if len(p) == 1 else 1.0
        p = p if len(p) > 1 else dict.fromkeys(p, 1.0)
        if degree(q) > 1:
            q = {(self._variable_for(q),): 1.0}

        def row(t):
            return plus(self.times({(t,): 1.0}, q), scaled(p, -1.0))

        t = self._made(("over", _key(p), _key(q)), "quotient", intervals.over(self.range(p), below),
                       Definition(p, q, 1), row)  # fmt: skip
        return {(t,): factor}

    def power(self, p, exponent):
        """Power of a polynomial, of a number as its exponent."""
        exact = Fraction(exponent).limit_denominator(MOST_ROOT) if math.isfinite(exponent) else Fraction(0)
        if float(exact) != float(exponent):
            raise InputError(
                f"a power of {exponent:g}: exponents must be whole numbers, or fractions with denominators up to "
                f"{MOST_ROOT}"
            )
        if abs(exact.numerator) > MOST_DEGREE:
            raise InputError(f"a power of {exponent:g}: degrees may be up to {MOST_DEGREE}")
        if exact < 0:
            return self.over({ONE: 1.0}, self.power(p, -exact))
        if exact.denominator > 1:
            return self._root(self._with_whole_power(self._nonnegative(p), exact.numerator), exact.denominator)
        return self._with_whole_power(p, exact.numerator)

    def size(self, p):
        """Magnitude of a polynomial: the root of its square."""
        low, high = self.range(p)
        if low >= 0.0:
            return p
        return scaled(p, -1.0) if high <= 0.0 else self._root(self.power(p, 2), 2)

    def range(self, p):
        """Interval that holds the values of a polynomial within the variables' bounds."""
        total = (p.get(ONE, 0.0),) * 2
        for monomial, a in p.items():
            if monomial:
                total = intervals.plus(total, intervals.times((a, a), self._range_of(monomial)))
        return total

    def _range_of(self, monomial):
        found = (1.0, 1.0)
        for i, exponent in Counter(monomial).items():
            found = intervals.times(found, intervals.power((self.lower[i], self.upper[i]), exponent))
        return found

    def _with_whole_power(self, p, exponent):
        if exponent == 0:
            return {ONE: 1.0}
        if exponent == 1 or degree(p) == 0:
            return p if exponent == 1 else constant(_raised(p.get(ONE, 0.0), exponent))
        if exponent > 2 or degree(p) > 1:
            ((monomial, a),) = self._one_term(p).items()
            if len(monomial) * exponent > MOST_DEGREE:
                raise InputError(f"a product of {len(monomial) * exponent} factors: degrees may be up to {MOST_DEGREE}")
            return _checked({tuple(sorted(monomial * exponent)): _raised(a, exponent)})
        return self.times(p, p)

    def _nonnegative(self, p):
        """Return a polynomial that a row, if need be, says to be at least 0: what has an even root."""
        if self.range(p)[1] < 0.0:
            raise InputError("a root of what is negative within the bounds")
        if self.range(p)[0] < 0.0:
            row = Row(p, 0.0, math.inf)
            if row not in self.rows:
                self.rows.append(row)
        return p

    def _root(self, p, degree_of_root):
        """Root of a polynomial that is not negative."""
        if degree(p) == 0:
            return constant(p.get(ONE, 0.0) ** (1.0 / degree_of_root))

        def row(t):
            return plus(self._with_whole_power({(t,): 1.0}, degree_of_root), scaled(p, -1.0))

        t = self._made(("root", _key(p), degree_of_root), "root", intervals.root(self.range(p), degree_of_root),
                       Definition(p, {ONE: 1.0}, degree_of_root), row)  # fmt: skip
        return {(t,): 1.0}

    def _one_term(self, p):
        """Return a polynomial of one term: itself, or a variable that stands for it."""
        return p if len(p) == 1 else {(self._variable_for(p),): 1.0}

    def _variable_for(self, p):
        if len(p) == 1 and next(iter(p.items()))[1] == 1.0 and degree(p) == 1:
            return next(iter(p))[0]
        return self._made(("sum", _key(p)), "factor", self.range(p), Definition(p, {ONE: 1.0}, 1),
                          lambda t: plus({(t,): 1.0}, scaled(p, -1.0)))  # fmt: skip

    def _made(self, key, kind, bounds, definition, row):
        """Return the variable of a definition, made if there is none yet with the row that says what it is."""
        if key not in self.made:
            number = self.made[key] = len(self.names)
            name = f"{kind}{len(self.definitions)}"
            while name in self.taken:
                name += "_"
            self.taken.add(name)
            self.names.append(name)
            self.lower.append(bounds[0])
            self.upper.append(bounds[1])
            self.definitions.append(definition)
            self.rows.append(Row(row(number), 0.0, 0.0, True))
        return self.made[key]


def variable(number):
    """Return the polynomial that is a variable."""
    return {(number,): 1.0}


def constant(value):
    """Return the polynomial that is a number."""
    return _checked({ONE: value})


def plus(*parts):
    """Sum of polynomials."""
    found = Counter()
    for part in parts:
        for monomial, a in part.items():
            found[monomial] += a
    return _checked(found)


def scaled(p, factor):
    """Multiple of a polynomial."""
    return _checked({monomial: a * factor for monomial, a in p.items()})


def degree(p):
    """Greatest number of factors of a monomial."""
    return max(map(len, p), default=0)


def evaluated(p, values):
    """Value of a polynomial, given those of the variables: of Fractions exactly, and otherwise of NumPy's floats."""
    is_exact = bool(values) and isinstance(values[0], Fraction)
    total = Fraction(0) if is_exact else np.float64(0.0)
    for monomial, a in p.items():
        total += math.prod((values[i] for i in monomial), start=Fraction(a) if is_exact else np.float64(a))
    return total


def _checked(p):
    found = {monomial: float(a) for monomial, a in p.items() if a != 0.0}
    if not all(map(math.isfinite, found.values())):
        raise InputError("numbers whose sum, product or power is not finite")
    return found


def _raised(number, exponent):
    try:
        return number**exponent
    except OverflowError:
        return math.inf


def _key(p):
    return tuple(sorted(p.items()))
