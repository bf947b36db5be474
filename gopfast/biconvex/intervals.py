"""Intervals as pairs (low, high) of floats: results are computed in rationals, and their ends rounded outward.

Ends may be infinite; 0 times an infinite end is 0, for no value is infinite.

Theory: (XP1) of docs/theory/polynomials.md.
"""

import math
from fractions import Fraction

ALL = (-math.inf, math.inf)


def plus(a, b):
    """Sum of two intervals."""
    return _outward([_exact(a[0], b[0], Fraction.__add__)], [_exact(a[1], b[1], Fraction.__add__)])


def times(a, b):
    """Product of two intervals, of values that do not depend on each other."""
    ends = [_product(x, y) for x in a for y in b]
    return _outward(ends, ends)


def square(a):
    """Square of an interval."""
    ends = [_product(x, x) for x in a]
    return _outward([*ends, *([Fraction(0)] if a[0] <= 0.0 <= a[1] else [])], ends)


def power(a, exponent):
    """Power of an interval, of a whole exponent from 1."""
    if exponent == 1:
        return a
    if exponent % 2 == 0:
        return power(square(a), exponent // 2)
    low, high = (times((end, end), square(power((end, end), exponent // 2))) for end in a)
    return low[0], high[1]


def over(a, b):
    """Quotient of two intervals; where b holds 0, of those of its values that are not 0."""
    if b[0] > 0.0 or b[1] < 0.0:
        ends = [_quotient(x, y) for x in a for y in b]
        return _outward(ends, ends)
    if b[0] < 0.0 < b[1]:
        return ALL
    if b[0] < 0.0:
        a, b = (-a[1], -a[0]), (-b[1], -b[0])
    # the denominator is positive, and arbitrarily small
    low, high = [_quotient(a[0], b[1])], [_quotient(a[1], b[1])]
    return _outward(low if a[0] >= 0.0 else [-math.inf], high if a[1] <= 0.0 else [math.inf])


def root(a, degree):
    """Root of those values of an interval that are not negative; of a whole degree from 2."""
    low, high = (max(end, 0.0) for end in a)
    least, most = (end ** (1.0 / degree) for end in (low, high))
    while least > 0.0 and Fraction(least) ** degree > low:
        least = math.nextafter(least, 0.0)
    while math.isfinite(most) and Fraction(most) ** degree < high:
        most = math.nextafter(most, math.inf)
    return least, most


def _outward(low, high):
    """Least and greatest of exact numbers, rounded down and up."""
    return _rounded(min(low), -math.inf), _rounded(max(high), math.inf)


def _rounded(exact, towards):
    """Round a Fraction, or what is infinite, in a direction."""
    try:
        near = float(exact)
    except OverflowError:
        near = math.inf if exact > 0 else -math.inf
    is_beyond = near <= exact if towards < 0.0 else near >= exact
    return near if is_beyond else math.nextafter(near, towards)


def _exact(x, y, operation):
    if math.isinf(x) or math.isinf(y):
        return x + y
    return operation(Fraction(x), Fraction(y))


def _product(x, y):
    if x == 0.0 or y == 0.0:
        return Fraction(0)
    return x * y if math.isinf(x) or math.isinf(y) else Fraction(x) * Fraction(y)


def _quotient(x, y):
    """Quotient of ends, y not 0; that of infinite ends by an infinite one is a limit that a finite end attains."""
    if x == 0.0 or math.isinf(y):
        return Fraction(0)
    return math.copysign(math.inf, x) * math.copysign(1.0, y) if math.isinf(x) else Fraction(x) / Fraction(y)
