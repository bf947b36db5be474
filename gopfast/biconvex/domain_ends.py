"""Values at the ends of functions' domains, where a rounding of an argument is much of a value; points that are there.

u^(1/3) is 6e-6 where u should be 0 and is 2e-16 by rounding. So what is told of a solution is evaluated with arguments
in rational arithmetic, rounded once, and a point that fails by such an argument alone is moved to a near one at which
the argument is 0 in exact arithmetic, too.

Theory: (XF4) of docs/theory/functions.md.
"""

import math
from collections import Counter
from fractions import Fraction

import numpy as np

from gopfast.biconvex import atoms
from gopfast.biconvex.composition import ONE, Applied
from gopfast.biconvex.margins import ARGUMENT_ROUNDING
from gopfast.biconvex.tuning import BITS_KEPT, LEAST_SIZE, MOST_EXACT_TERMS, NEARLY_AT_END


class DomainEnds:
    """
    The functions of a model whose arguments are sums, and the user's variables in these.

    Parameters
    ----------
    model : gopfast.biconvex.composition.Model
    """

    def __init__(self, model):
        self.model, self.n_own = model, model.n_own
        n_terms = sum(len(made.numerator) + len(made.denominator) for made in model.definitions
                      if not isinstance(made, Applied))  # fmt: skip
        self.matters = bool(model.definitions) and n_terms <= MOST_EXACT_TERMS
        # whether arguments may be made of other functions' values
        self.has_unknown = self.matters and self._has_unknown()

    def values(self, point, shift=0):
        """
        Evaluate all variables of the model: rational functions of the user's variables exactly, rounded once.

        Parameters
        ----------
        point : ndarray, shape (n_own,)
        shift : int
            By how many of their possible rounding errors arguments are shifted that are made of other functions'
            values, and are not known exactly.

        Returns
        -------
        list of float, or None
            None where a formula is not defined, or a value not finite.
        """
        values = [float(x) for x in point]
        try:
            exact = [Fraction(x) for x in values]
            for made in self.model.definitions:
                value, fraction = _applied(made, values, exact) if isinstance(made, Applied) else _quotient(
                    made, values, exact, shift
                )
                values.append(value)
                exact.append(fraction)
        except (ArithmeticError, ValueError):
            return None
        return values

    def _has_unknown(self):
        unknown = set()
        for number, made in enumerate(self.model.definitions, self.n_own):
            is_function = isinstance(made, Applied) or (made.degree > 1 and _root_of_square(made) is None)
            used = _used(made)
            if is_function and used & unknown:
                return True
            if is_function or used & unknown:
                unknown.add(number)
        return False

    def arguments(self, steep=False):
        """Return the arguments of functions whose domain ends at 0, or that are steep there, as polynomials."""
        found = []
        for made in self.model.definitions:
            if isinstance(made, Applied):
                begins = made.function == "power" and made.exponent > 0.0 or made.function == "entropy"
                if begins and (not steep or (made.function == "power" and made.exponent < 1.0)):
                    found.append({(made.argument,): 1.0})
            elif made.degree > 1 and list(made.denominator) == [ONE] and _root_of_square(made) is None:
                found.append(made.numerator)
        return found

    def is_inside(self, point):
        """Whether no argument of a function whose domain ends at 0 is below 0, as far as it is known exactly."""
        values = self.values(point)
        return values is None or all(_exact(p, values) >= 0 for p in self.arguments() if self._in_own(p))

    def _in_own(self, p):
        """Return a polynomial, or that of the variable that it is, if it has the user's variables alone; else {}."""
        while len(p) == 1 and p.keys() == {(number := next(iter(p))[0],)} and number >= self.n_own:
            made = self.model.definitions[number - self.n_own]
            if isinstance(made, Applied) or made.degree > 1 or list(made.denominator) != [ONE]:
                return {}
            p = made.numerator
        return p if all(i < self.n_own for monomial in p for i in monomial) else {}

    def near(self, point):
        """
        Yield points near one at which arguments that are nearly 0 are 0 exactly.

        The variables in these are rounded to fewer bits, so that sums are exact, and one of each argument takes the
        value at which it is 0. Variables that one row alone has meet this row.

        Parameters
        ----------
        point : ndarray, shape (n_own,)

        Yields
        ------
        ndarray, shape (n_own,)
        """
        values = self.values(point)
        ends = [] if values is None else [p for p in self.arguments() if _is_nearly_zero(p, values)]
        if not ends:
            return
        lower, upper = (np.array(side[: self.n_own]) for side in (self.model.lower, self.model.upper))
        involved = sorted(set().union(*map(self._own_in, ends)))
        for bits in BITS_KEPT:
            moved = np.array(point, float)
            for i in involved:
                moved[i] = _rounded(moved[i], bits, lower[i], upper[i])
            taken = set()
            for p in filter(None, map(self._in_own, ends)):
                _make_zero(p, moved, lower, upper, taken)
            yield self._meeting_rows(moved, lower, upper)

    def _own_in(self, p):
        """Return the user's variables that a polynomial's value depends on."""
        found, left = set(), [i for monomial in p for i in monomial]
        while left:
            i = left.pop()
            if i not in found:
                found.add(i)
                left += _used(self.model.definitions[i - self.n_own]) if i >= self.n_own else ()
        return {i for i in found if i < self.n_own}

    def _meeting_rows(self, point, lower, upper):
        """Return a point whose variables that are in one row alone, linearly, have the values that this row needs."""
        own = [row for row in self.model.rows if not row.is_definition]
        counts = Counter(i for p in self._polynomials() for i in {i for monomial in p for i in monomial})
        values = self.values(point)
        if values is None:
            return point
        for row in own:
            free = [i for (i,) in (m for m in row.polynomial if len(m) == 1) if i < self.n_own and counts[i] == 1]
            at = float(_exact(row.polynomial, values)) if free else 0.0
            excess = max(row.lower - at, 0.0) - max(at - row.upper, 0.0)
            if free and excess:
                i = free[0]
                point[i] = min(max(point[i] + excess / row.polynomial[i,], lower[i]), upper[i])
        return point

    def _polynomials(self):
        yield self.model.objective
        for row in self.model.rows:
            if not row.is_definition:
                yield row.polynomial
        for made in self.model.definitions:
            if isinstance(made, Applied):
                yield {(made.argument,): 1.0}
            else:
                yield made.numerator
                yield made.denominator
        for atom in self.model.atoms:
            yield {(atom.argument,): 1.0, (atom.value,): 1.0}


def _root_of_square(made):
    """Return the variable whose magnitude a definition is; None if it is none."""
    if made.degree == 2 and made.denominator == {ONE: 1.0} and len(made.numerator) == 1:
        (pair, a), = made.numerator.items()
        if a == 1.0 and len(pair) == 2 and pair[0] == pair[1]:
            return pair[0]
    return None


def _used(made):
    """Return the variables that a definition's value is made of."""
    if isinstance(made, Applied):
        return {made.argument}
    return {i for p in (made.numerator, made.denominator) for monomial in p for i in monomial}


def _is_nearly_zero(p, values):
    terms = [a * math.prod(values[i] for i in monomial) for monomial, a in p.items()]
    return abs(math.fsum(terms)) <= NEARLY_AT_END * max(1.0, *map(abs, terms))


def _exact(p, values):
    """Value of a polynomial at floats or Fractions, exactly."""
    return sum((math.prod((Fraction(values[i]) for i in m), start=Fraction(a)) for m, a in p.items()), Fraction(0))


def _applied(made, values, exact):
    """Value of a function, and the same as a Fraction where it is known exactly."""
    u = values[made.argument]
    value = applied(made, u)
    is_known = exact[made.argument] is not None and (
        u in (0.0, 1.0) and made.function in ("power", "entropy")
        or u == 0.0 and made.function == "exp" or u == 1.0 and made.function == "log"
    )  # fmt: skip
    if not math.isfinite(value):
        raise ArithmeticError
    return value, Fraction(value) if is_known else None


def applied(made, u):
    """
    Value of a function; of what is below its domain that at 0, for a row tells of it.

    Parameters
    ----------
    made : gopfast.biconvex.composition.Applied
    u : float

    Returns
    -------
    float
    """
    if made.function == "log":
        return math.log(u) if u > 0.0 else -math.inf
    domain = u if made.function == "exp" else max(u, 0.0)
    return float(atoms.value(atoms.NAMES.index(made.function), made.exponent, domain))


def _quotient(made, values, exact, shift):
    """Value of a quotient, or its root, and the same as a Fraction where it is known exactly."""
    magnitude = _root_of_square(made)
    if magnitude is not None:
        fraction = exact[magnitude]
        return abs(values[magnitude]), None if fraction is None else abs(fraction)
    used = _used(made)
    is_known = all(exact[i] is not None for i in used)
    at = {i: Fraction(values[i]) if exact[i] is None else exact[i] for i in used}
    above, below = _exact(made.numerator, at), _exact(made.denominator, at)
    if not is_known and shift:
        sizes = {monomial: abs(a) for monomial, a in made.numerator.items()}
        above += shift * Fraction(ARGUMENT_ROUNDING) * _exact(sizes, {i: abs(x) for i, x in at.items()})
    fraction = above / below
    if made.degree == 1:
        return float(fraction), fraction if is_known else None
    value = max(float(fraction), 0.0) ** (1.0 / made.degree)
    return value, Fraction(value) if is_known and fraction in (0, 1) else None


def _rounded(x, bits, low, high):
    """Round a number to so many bits, or if less to those of LEAST_SIZE, or to a bound that is as near."""
    unit = math.ldexp(1.0, math.frexp(max(abs(x), LEAST_SIZE))[1] - bits)
    for bound in (low, high):
        if abs(x - bound) <= unit:
            return bound
    return min(max(round(x / unit) * unit, low), high)


def _make_zero(p, point, lower, upper, taken):
    """Make a polynomial 0 exactly, if it can be, by a variable that is linear in it and in no argument before."""
    linear = [i for (i,) in (monomial for monomial in p if len(monomial) == 1)
              if i not in taken and sum(i in monomial for monomial in p) == 1]  # fmt: skip
    inside = {i: lower[i] < point[i] < upper[i] for i in linear}
    for i in sorted(linear, key=lambda i: (not inside[i], math.frexp(abs(p[i,]))[0] != 0.5)):
        rest = {monomial: a for monomial, a in p.items() if monomial != (i,)}
        wanted = -_exact(rest, point.tolist()) / Fraction(p[i,])
        x = float(wanted)
        if Fraction(x) == wanted and lower[i] <= x <= upper[i]:
            point[i] = x
            taken.update(j for monomial in p for j in monomial)
            return
