"""Expressions of many operations as polynomials, with variables for quotients, roots and factors that are sums.

A *polynomial* is a dict from monomials, sorted tuples of numbers of variables (with repetition), to coefficients that
are not 0; it is not changed once made. What is multiplied out is of degree two at most; beyond it

- a factor that is a sum gets a variable r of its own with the row ``r = factor``, so that ``(y - x x) ** 2`` is r r;
- a quotient p / q is a variable t with ``t q = p``. Where q = 0 the quotient is not defined, and that row leaves t free
  if p = 0 there, too: within the bounds p or q must keep away from 0;
- a root ``p ** (1 / n)`` is a variable t >= 0 with ``t ** n = p``, which says p >= 0;
- exponentials, x log(x) and powers with other exponents are atoms, functions of one variable; a logarithm is the
  argument of an exponential.

Equal ones are made once. Bounds of these variables are the ranges of what they stand for, in interval arithmetic.

Theory: (XP1) of docs/theory/polynomials.md; (XF2) of docs/theory/functions.md.
"""

import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gopfast.biconvex import atoms, intervals
from gopfast.biconvex.atoms import Atom
from gopfast.biconvex.tuning import MOST_DEGREE, MOST_EXPONENT, MOST_REMEMBERED, MOST_ROOT
from gopfast.errors import InputError

ONE = ()  # the monomial of constants


class Definition(NamedTuple):
    """The value of a variable that was made: ``(numerator / denominator) ** (1 / degree)``."""

    numerator: dict
    denominator: dict
    degree: int


class Applied(NamedTuple):
    """The value of a variable that was made: a function, "log" or one of `atoms.NAMES`, of another variable."""

    function: str
    exponent: float
    argument: int


class Row(NamedTuple):
    """
    A constraint ``lower <= polynomial <= upper``.

    A definition's says what a variable is that was made: `defined`, or if that is None the last in it.
    """

    polynomial: dict
    lower: float
    upper: float
    is_definition: bool = False
    defined: int | None = None


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
    definitions : list of Definition or Applied
        Of the variables that were made, in their order.
    atoms : list of gopfast.biconvex.atoms.Atom
        Of variables that are functions of others.
    sense : {"min", "max"}
    name : str
    """

    names: list
    lower: list
    upper: list
    objective: dict
    rows: list
    definitions: list = field(default_factory=list)
    atoms: list = field(default_factory=list)
    sense: str = "min"
    name: str = ""

    @property
    def n_own(self):
        """How many of the variables are the user's."""
        return len(self.names) - len(self.definitions)

    @property
    def is_quadratic(self):
        """Whether no variable was made, and nothing is of a degree above two."""
        return not self.definitions and not self.atoms and all(
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
        self.taken, self.n_own = set(self.names), len(self.names)
        self.rows, self.definitions, self.made, self.atoms = [], [], {}, []
        self.factors = {}  # what was multiplied, of short products by their terms
        self.entropies = {}  # of the variable t = log(u): u, and the variable u log(u)

    def model(self, objective, rows, sense="min", name=""):
        """Return the whole: rows are (polynomial, lower, upper), bounds of what is without its constant."""
        own = [Row(self._with_sums(polynomial), lower, upper) for polynomial, lower, upper in rows]
        model = Model(
            self.names, self.lower, self.upper, self._with_sums(objective), own + self.rows, self.definitions,
            self.atoms, sense, name,
        )  # fmt: skip
        return _without_unused(model) if self.atoms else model

    def times(self, p, q):
        """Product of two polynomials."""
        if not p or not q:
            return {}
        factors = [*self._factors(p), *self._factors(q)]
        if self.entropies and self._pair(factors):
            found = factors[0]
            for factor in factors[1:]:
                found = self._times(found, factor)
        else:
            found = self._times(p, q)
        if len(found) <= MOST_REMEMBERED:
            self.factors[tuple(found.items())] = factors
        return found

    def _factors(self, p):
        """Return what was multiplied to a polynomial, as far as that is remembered."""
        return self.factors.get(tuple(p.items()), [p]) if len(p) <= MOST_REMEMBERED else [p]

    def _times(self, p, q):
        if degree(p) + degree(q) > 2 and degree(p) and degree(q) and not (self._meet(p, q) or self._meet(q, p)):
            p, q = self._one_term(p), self._one_term(q)
        found = Counter()
        for left, a in p.items():
            for right, b in q.items():
                found[tuple(sorted(left + right))] += a * b
        return _checked(self._with_entropies(found) if self.entropies else found)

    def _pair(self, factors):
        """Replace log(u) and a multiple of u, wherever they are among factors, by u log(u); whether there are any."""
        before = len(factors)
        for k in range(before - 1, -1, -1):
            if len(factors[k]) > 1 or degree(factors[k]) != 1:
                continue
            ((t,), a), = factors[k].items()
            if t not in self.entropies:
                continue
            u, h = self.entropies[t]
            for m, other in enumerate(factors):
                multiple = self._multiple(other, u)
                if m != k and multiple is not None:
                    factors[k] = {(h,): a * multiple}
                    del factors[m]
                    return self._pair(factors) or True
        return False

    def _multiple(self, p, u):
        """Return c where a polynomial is c u, as u is or by its definition; None where it is no multiple."""
        made = self.definitions[u - self.n_own] if u >= self.n_own else None
        for unit in ({(u,): 1.0}, made.numerator if _is_sum(made) else {}):
            if p.keys() == unit.keys():
                c = next(iter(p.values())) / next(iter(unit.values()))
                if all(p[monomial] == c * a for monomial, a in unit.items()):
                    return c
        return None

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
        if not abs(exponent) <= MOST_EXPONENT:
            raise InputError(f"a power of {exponent:g}: exponents must be of magnitudes up to {MOST_EXPONENT:g}")
        exact = Fraction(exponent).limit_denominator(MOST_ROOT)
        is_short = float(exact) == float(exponent)
        if is_short and exact.denominator == 1 and abs(exact) > MOST_DEGREE and self.range(p)[0] < 0.0:
            raise InputError(f"a power of {exponent:g}: of what may be negative degrees may be up to {MOST_DEGREE}")
        if not is_short or abs(exact.numerator) > (MOST_DEGREE if exact.denominator == 1 else MOST_ROOT):
            return self._real_power(p, float(exponent))
        if exact < 0:
            return self.over({ONE: 1.0}, self.power(p, -exact))
        if exact.denominator > 1 and exact.numerator > 1:
            return self._real_power(p, float(exponent))
        if exact.denominator > 1:
            return self._root(self._nonnegative(p), exact.denominator)
        return self._with_whole_power(p, exact.numerator)

    def raised(self, p, q):
        """Power of a polynomial by another."""
        if degree(q) == 0:
            return self.power(p, q.get(ONE, 0.0))
        return self.exp(self.times(q, self.log(p)))

    def exp(self, p):
        """Exponential of a polynomial."""
        if degree(p) == 0:
            return constant(_result(math.exp, p.get(ONE, 0.0)))
        monomial, a = next(iter(p.items()))
        if len(p) == len(monomial) == 1 and monomial[0] in self.entropies:
            u, _ = self.entropies[monomial[0]]
            if self.lower[u] >= 0.0:
                # of a multiple of a logarithm
                return self.power(variable(u), a)
        return {(self._applied("exp", 0.0, self._variable_for(p)),): 1.0}

    def log(self, p):
        """Logarithm of a polynomial: sums of those of factors, where these are not negative."""
        if self.range(p)[1] <= 0.0:
            raise InputError("a logarithm of what is not positive within the bounds")
        if degree(p) == 0:
            return constant(math.log(p[ONE]))
        if len(p) > 1:
            return self._log_of(self._variable_for(p))
        ((monomial, a),) = p.items()
        if a < 0.0 or (len(monomial) > 1 and any(self.lower[i] < 0.0 for i in monomial)):
            return self._log_of(self._variable_for(p))
        parts = [scaled(self._log_of(i), float(times)) for i, times in Counter(monomial).items()]
        return plus(constant(math.log(a)), *parts)

    def _log_of(self, u):
        """Logarithm of a variable."""
        made = self.definitions[u - self.n_own] if u >= self.n_own else None
        if isinstance(made, Applied) and made.function == "exp":
            return variable(made.argument)
        if isinstance(made, Definition) and degree(made.denominator) > 0 and made.degree == 1 and (
                self.range(made.numerator)[0] >= 0.0 and self.range(made.denominator)[0] >= 0.0):
            return plus(self.log(made.numerator), scaled(self.log(made.denominator), -1.0))
        own = self._from_0(u)
        t = self._applied("log", 0.0, own)
        self.entropies.setdefault(t, (u, self._applied("entropy", 0.0, own)))
        return variable(t)

    def _from_0(self, u):
        """Return a variable that is one of a value that must not be negative: itself, or one that is bounded by 0."""
        if self.lower[u] >= 0.0:
            return u
        self._nonnegative(variable(u))
        return self._made(("from 0", u), "factor", (0.0, self.upper[u]), Definition(variable(u), {ONE: 1.0}, 1),
                          lambda t: {(t,): 1.0, (u,): -1.0})  # fmt: skip

    def _real_power(self, p, exponent):
        """Power by any number but 0 and 1: an atom of what is not negative."""
        if degree(p) == 0:
            return constant(_result(lambda number: number**exponent, p.get(ONE, 0.0)))
        if self.range(p)[1] < 0.0:
            raise InputError("a power of what is negative within the bounds")
        return variable(self._applied("power", exponent, self._from_0(self._variable_for(p))))

    def _applied(self, function, exponent, u):
        """Return the variable that is a function of a variable, made if there is none yet."""
        key = function, exponent, u
        if key not in self.made:
            low, high = self.lower[u], self.upper[u]
            if function == "log":
                bounds = atoms.arguments(atoms.NAMES.index("exp"), 0.0, low, high)
            else:
                bounds = atoms.range_of(atoms.NAMES.index(function), exponent, low, high)
            t = self._made(key, function, bounds, Applied(*key))
            if function == "log":
                self.atoms.append(Atom(atoms.NAMES.index("exp"), 0.0, t, u))
            else:
                self.atoms.append(Atom(atoms.NAMES.index(function), exponent, u, t))
        return self.made[key]

    def _meet(self, p, q):
        """Whether a product has some u log(u): then it is multiplied out."""
        logs = [t for monomial in q for t in monomial if t in self.entropies]
        return any(self.entropies[t][0] in monomial for t in logs for monomial in p)

    def _with_entropies(self, p):
        """Return a polynomial with u log(u) as variables, for products of a variable and its logarithm."""
        found = Counter()
        for monomial, a in p.items():
            for t in set(monomial) & self.entropies.keys():
                u, h = self.entropies[t]
                if u in monomial:
                    rest = list(monomial)
                    rest.remove(t)
                    rest.remove(u)
                    monomial = tuple(sorted([*rest, h]))
            found[monomial] += a
        return found

    def _with_sums(self, p):
        """Return a polynomial with s log(s) as a variable where it has s log(s) term by term, of a sum s."""
        for t, (u, h) in self.entropies.items():
            if u < self.n_own or not _is_sum(self.definitions[u - self.n_own]):
                continue
            above = self.definitions[u - self.n_own].numerator
            terms = {tuple(sorted((*monomial, t))): a for monomial, a in above.items()}
            (first, a), *_ = terms.items()
            factor = p.get(first, 0.0) / a
            if factor != 0.0 and all(p.get(monomial) == a * factor for monomial, a in terms.items()):
                p = {monomial: a for monomial, a in p.items() if monomial not in terms}
                p = plus(p, {(h,): factor})
        return p

    def size(self, p):
        """Magnitude of a polynomial."""
        low, high = self.range(p)
        if low >= 0.0:
            return p
        return scaled(p, -1.0) if high <= 0.0 else variable(self._parts(p)[0])

    def positive(self, p):
        """Return a polynomial where it is not negative, and 0 elsewhere."""
        low, high = self.range(p)
        if low >= 0.0:
            return p
        return {} if high <= 0.0 else variable(self._parts(p)[1])

    def greatest(self, *polynomials):
        """Return the greatest of polynomials."""
        found = polynomials[0]
        for p in polynomials[1:]:
            found = plus(found, self.positive(plus(p, scaled(found, -1.0))))
        return found

    def _parts(self, p):
        """Return the variables of a magnitude, the sum of two parts, and of the positive one (XP1)."""
        (low, high), r = self.range(p), self._variable_for(p)
        if ("size", r) not in self.made:
            t = self._made(("size", r), "size", (0.0, max(-low, high)), Definition({(r, r): 1.0}, {ONE: 1.0}, 2))
            above, below = (
                self._made(("part", half, r), "part", (0.0, end), Definition({(t,): 0.5, (r,): half}, {ONE: 1.0}, 1))
                for half, end in ((0.5, high), (-0.5, -low))
            )
            for sign, whole in ((1.0, t), (-1.0, r)):
                self.rows.append(Row({(whole,): 1.0, (above,): -1.0, (below,): -sign}, 0.0, 0.0, True, t))
            self.rows.append(Row({(above, below): 1.0}, 0.0, 0.0, True, t))
        return self.made["size", r], self.made["part", 0.5, r]

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

    def _made(self, key, kind, bounds, definition, row=None):
        """Return the variable of a definition, made if there is none yet with the row, if any, that says what it is."""
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
            if row is not None:
                self.rows.append(Row(row(number), 0.0, 0.0, True))
        return self.made[key]


def _is_sum(made):
    """Whether a variable that was made is a polynomial."""
    return isinstance(made, Definition) and made.denominator == {ONE: 1.0} and made.degree == 1


def _without_unused(model):
    """Return a model without the variables that were made and that neither the objective nor a row needs."""
    n, own = model.n_own, {}
    for row in model.rows:
        if row.is_definition:
            last = max(i for monomial in row.polynomial for i in monomial)
            own.setdefault(last if row.defined is None else row.defined, []).append(row)
    needed, waiting = set(range(n)), []

    def ask(*polynomials):
        waiting.extend(i for p in polynomials for monomial in p for i in monomial)

    ask(model.objective, *(row.polynomial for row in model.rows if not row.is_definition))
    while waiting:
        i = waiting.pop()
        if i in needed:
            continue
        needed.add(i)
        made = model.definitions[i - n]
        if isinstance(made, Applied):
            waiting.append(made.argument)
        else:
            ask(made.numerator, made.denominator, *(row.polynomial for row in own.get(i, ())))
    kept = sorted(needed)
    place = {i: k for k, i in enumerate(kept)}

    def moved(p):
        return {tuple(sorted(place[i] for i in monomial)): a for monomial, a in p.items()}

    rows = [
        row._replace(polynomial=moved(row.polynomial), defined=None) for row in model.rows
        if all(i in needed for monomial in row.polynomial for i in monomial)
    ]  # fmt: skip
    definitions = []
    for i in kept[n:]:
        made = model.definitions[i - n]
        if isinstance(made, Applied):
            definitions.append(made._replace(argument=place[made.argument]))
        else:
            definitions.append(Definition(moved(made.numerator), moved(made.denominator), made.degree))
    atoms_left = [
        atom._replace(argument=place[atom.argument], value=place[atom.value]) for atom in model.atoms
        if atom.argument in needed and atom.value in needed
    ]  # fmt: skip
    return Model(
        [model.names[i] for i in kept], [model.lower[i] for i in kept], [model.upper[i] for i in kept],
        moved(model.objective), rows, definitions, atoms_left, model.sense, model.name,
    )  # fmt: skip


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
    return _result(lambda number: number**exponent, number)


def _result(function, number):
    """Return what a function is of a number: infinite where that is too large, `InputError` where there is none."""
    try:
        found = function(number)
    except OverflowError:
        return math.inf
    except (ValueError, ZeroDivisionError):
        raise InputError(f"a function of {number:g} that is not defined") from None
    if isinstance(found, complex):
        raise InputError(f"a power of {number:g} that is not defined")
    return found


def _key(p):
    return tuple(sorted(p.items()))
