"""Functions of one variable, v = f(u): exponentials, entropies u log(u) and powers, each convex or concave.

What f(u) - s u can be in an interval, for any slope s, and what ranges of u and v leave of each other. Numbers are
decimals of `DIGITS` digits, rounded outward: those of Python's `decimal`, whose documentation has exponentials and
logarithms correctly rounded, on every machine, so that true ones lie between the neighbours.

Theory: (XF3) of docs/theory/functions.md.
"""

import math
from collections import namedtuple
from decimal import (
    MAX_EMAX as LARGEST_EXPONENT,
    MIN_EMIN as LEAST_EXPONENT,
    ROUND_CEILING,
    ROUND_FLOOR,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
)
from functools import lru_cache

from .entries import LARGEST
from .errors import ProofError
from .tuning import DIGITS, REMEMBERED

NAMES = ("exp", "entropy", "power")
DOWN, UP = (
    Context(DIGITS, rounding, LEAST_EXPONENT, LARGEST_EXPONENT, traps=[InvalidOperation, DivisionByZero])
    for rounding in (ROUND_FLOOR, ROUND_CEILING)
)  # fmt: skip
ZERO, ONE, INFINITY = Decimal(0), Decimal(1), Decimal("Infinity")


class Function(namedtuple("Function", "name exponent argument value")):
    """Variable number `value` is the function of variable number `argument`, from 0; of powers with an exponent."""

    @property
    def is_convex(self):
        """Whether it is convex on all of its domain; it is concave otherwise."""
        return self.name != "power" or self.exponent < 0 or self.exponent > 1

    def value_at(self, u):
        """Return an enclosure of f(u), of a number of the domain; where the domain ends the limit."""
        return _value(self.name, self.exponent, Decimal(u))

    def off(self, argument, value):
        """Return how far a value is from that of an argument, rounded up."""
        least, most = self.value_at(argument)
        return above(max(UP.subtract(most, Decimal(value)), UP.subtract(Decimal(value), least)))

    def beside(self, slope, low, high):
        """
        Return the least and the greatest f(u) - slope u over an interval, rounded outward; infinite: there is none.

        Parameters
        ----------
        slope : float
        low, high : float
            Ends, in order; may be infinite.
        """
        return _beside(self.name, self.exponent, self.is_convex, slope, low, high)

    def ranges(self, argument, value):
        """
        Return the ranges (low, high) that are left of argument and value, each by the other's; None where nothing is.

        Parameters
        ----------
        argument, value : (float, float)
            Ranges as they are.
        """
        least, most = self._range_over(*argument)
        value = max(value[0], least), min(value[1], most)
        if value[0] > value[1] or (self.name == "exp" and value[1] <= 0):
            return None
        if self.name != "entropy":
            first, last = self._arguments_of(*value)
            argument = max(argument[0], first), min(argument[1], last)
        return (argument, value) if argument[0] <= argument[1] else None

    def _range_over(self, low, high):
        if self.name == "entropy":
            return self.beside(0.0, low, high)
        ends = [self.value_at(low), self.value_at(high)]
        if self.name == "power" and self.exponent < 0:
            ends.reverse()
        return below(ends[0][0]), above(ends[1][1])

    def _arguments_of(self, low, high):
        low = max(low, 0.0)
        if self.name == "exp":
            return below(_log((Decimal(low), Decimal(low)))[0]), above(_log((Decimal(high), Decimal(high)))[1])
        ends = [_root(self.exponent, Decimal(low)), _root(self.exponent, Decimal(high))]
        if self.exponent < 0:
            ends.reverse()
        return below(ends[0][0]), above(ends[1][1])


def read(records, place, low):
    """
    Return the functions of a problem.

    Parameters
    ----------
    records : list of list
        Name, argument, value and exponent each.
    place : dict
        Name of a variable -> its number, from 1.
    low : ndarray, shape (n,)
        Lower bounds of the variables.
    """
    if not isinstance(records, list):
        raise ProofError("problem", "functions must be a list")
    found = []
    for k, entry in enumerate(records):
        if not (isinstance(entry, list) and len(entry) == 4 and all(isinstance(part, str) for part in entry[:3])):
            raise ProofError(f"function {k}", "must be [name, argument, value, exponent]")
        name, *own, exponent = entry
        if name not in NAMES:
            raise ProofError(f"function {k}", f"{name!r} is none of {', '.join(NAMES)}")
        if not all(variable in place for variable in own) or own[0] == own[1]:
            raise ProofError(f"function {k}", f"{own} must be two variables")
        if isinstance(exponent, bool) or not isinstance(exponent, (int, float)) or not abs(exponent) <= LARGEST:
            raise ProofError(f"function {k}", "its exponent is no number")
        if name == "power" and exponent in (0, 1):
            raise ProofError(f"function {k}", "a power must be neither 0 nor 1")
        argument, value = (place[variable] - 1 for variable in own)
        if name != "exp" and not low[argument] >= 0:
            raise ProofError(f"function {k}", "its argument must have a lower bound of at least 0")
        found.append(Function(name, float(exponent), argument, value))
    return found


def narrowed(functions, low, high):
    """Return the box that ranges of functions leave, one function after the other; low > high where it is nothing."""
    low, high = low.copy(), high.copy()
    for own in functions:
        u, v = own.argument, own.value
        if low[u] > high[u] or low[v] > high[v]:
            break
        found = own.ranges((float(low[u]), float(high[u])), (float(low[v]), float(high[v])))
        if found is None:
            low[u], high[u] = math.inf, -math.inf
            break
        (low[u], high[u]), (low[v], high[v]) = found
    return low, high


def below(number):
    """Return a float that is at most a decimal."""
    near = float(number)
    return near if Decimal(near) <= number else math.nextafter(near, -math.inf)


def above(number):
    """Return a float that is at least a decimal."""
    near = float(number)
    return near if Decimal(near) >= number else math.nextafter(near, math.inf)


# Enclosures: pairs of decimals

def _exp(x):
    low = ONE if x[0] == 0 else max(ZERO, DOWN.next_minus(DOWN.exp(x[0])))
    return low, ONE if x[1] == 0 else INFINITY if x[1] == INFINITY else UP.next_plus(UP.exp(x[1]))


def _log(x):
    low = ZERO if x[0] == 1 else -INFINITY if x[0] == 0 else DOWN.next_minus(DOWN.ln(x[0]))
    return low, ZERO if x[1] == 1 else -INFINITY if x[1] == 0 else UP.next_plus(UP.ln(x[1]))


def _times(x, y):
    pairs = [(a, b) for a in x for b in y]
    return (min(ZERO if a == 0 or b == 0 else DOWN.multiply(a, b) for a, b in pairs),
            max(ZERO if a == 0 or b == 0 else UP.multiply(a, b) for a, b in pairs))  # fmt: skip


def _over(x, y):
    """Quotient by an enclosure without 0."""
    pairs = [(a, b) for a in x for b in y]
    return min(DOWN.divide(a, b) for a, b in pairs), max(UP.divide(a, b) for a, b in pairs)


def _minus(x, y):
    return DOWN.subtract(x[0], y[1]), UP.subtract(x[1], y[0])


def _same(number):
    return number, number


@lru_cache(REMEMBERED)
def _value(name, exponent, u):
    if name == "exp":
        return _same(ZERO) if u == -INFINITY else _exp(_same(u))
    if u == 0 or u == INFINITY:
        is_0 = (u == 0) == (name == "entropy" or exponent > 0)
        return _same(ZERO if is_0 else INFINITY)
    log = _log(_same(u))
    return _times(_same(u), log) if name == "entropy" else _exp(_times(_same(Decimal(exponent)), log))


def _root(exponent, v):
    """Enclosure of the u >= 0 with u^exponent = v >= 0."""
    if v == 0 or v == INFINITY:
        return _same(ZERO if (v == 0) == (exponent > 0) else INFINITY)
    return _exp(_over(_log(_same(v)), _same(Decimal(exponent))))


@lru_cache(REMEMBERED)
def _beside(name, exponent, is_convex, slope, low, high):
    s, ends = Decimal(slope), (Decimal(low), Decimal(high))
    at_ends = [_less(name, exponent, s, u) for u in ends]
    place, turned = _turn(name, exponent, s)
    # f(u) - s u goes one way before its extreme and the other behind it: a convex one down, then up
    if place[1] <= ends[0]:
        turned = at_ends[0]
    elif place[0] >= ends[1]:
        turned = at_ends[1]
    if is_convex:
        return below(turned[0]), above(max(at_ends[0][1], at_ends[1][1]))
    return below(min(at_ends[0][0], at_ends[1][0])), above(turned[1])


def _less(name, exponent, s, u):
    """Enclosure of f(u) - s u; of u that are infinite all numbers, but for limits where s is 0."""
    value = _value(name, exponent, u)
    if not s:
        return value
    if not (u.is_finite() and value[0].is_finite()):
        return -INFINITY, INFINITY
    return _minus(value, _times(_same(s), _same(u)))


def _turn(name, exponent, s):
    """Enclosures of the u with f'(u) = s, and of f(u) - s u there; infinite, or 0, where there is none."""
    nothing = -INFINITY, INFINITY
    if name == "exp":
        if s <= 0:
            return _same(-INFINITY), nothing
        u = _log(_same(s))
        return u, _times(_same(s), _minus(_same(ONE), u))
    if name == "entropy":
        u = _exp(_minus(_same(s), _same(ONE)))
        return u, (u[1].copy_negate(), u[0].copy_negate())  # no context rounds it
    if s == 0 or (s > 0) != (exponent > 0):
        # powers above 1 rise from slope 0 on; slopes of the others are of the exponent's sign, and go to 0
        return _same(ZERO if exponent > 1 else INFINITY), nothing
    a, rest = _same(Decimal(exponent)), _minus(_same(ONE), _same(Decimal(exponent)))
    u = _exp(_over(_log(_over(a, _same(s))), rest))
    return u, _over(_times(_times(_same(s), u), rest), a)
