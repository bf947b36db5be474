"""Univariate functions, convex or concave on all of their domain: values, slopes, ranges, tangents and secants.

An *atom* is a variable that is such a function of another one, v = f(u). What is computed here is rounded outward by
`FUNCTION_ROUNDING`, which covers the error of the C library's exp, log and pow, and the few operations around them.

Theory: (XF1) of docs/theory/functions.md.
"""

from collections import namedtuple

from libc.math cimport INFINITY, NAN, exp, fabs, isfinite, log, pow

from gopfast.biconvex.margins cimport FUNCTION_ROUNDING as OFF, TINY, UNDERFLOW
from gopfast.search.rounding cimport ROUND
from gopfast.search.types cimport real

# Names of the functions, in the order of their numbers
NAMES = ("exp", "entropy", "power")
# Variable number `value` is the function, by its number, of variable number `argument`; the exponent is that of a power
Atom = namedtuple("Atom", "function exponent argument value", module="gopfast.biconvex.atoms")


cdef bint is_convex(int function, real exponent) noexcept nogil:
    """Whether it is convex; it is concave otherwise."""
    return function != POWER or exponent < 0 or exponent > 1


cdef inline real inside(int function, real u) noexcept nogil:
    """The nearest point of the domain's closure."""
    return u if function == EXPONENTIAL or not u < 0 else 0


cdef real value_at(int function, real exponent, real u) noexcept nogil:
    """f(u), at the nearest point of the domain; but for `FUNCTION_ROUNDING`, and for underflow."""
    u = inside(function, u)
    if function == EXPONENTIAL:
        return exp(u)
    if function == ENTROPY:
        return u * log(u) if u > 0 else u
    return pow(u, exponent)


cdef real slope_at(int function, real exponent, real u) noexcept nogil:
    """f'(u), but for rounding: relative to 1 + |log u| where that is added up; infinite or NaN where there is none."""
    u = inside(function, u)
    if function == EXPONENTIAL:
        return exp(u)
    if function == ENTROPY:
        return 1 + log(u)
    if u == 0:
        return 0 if exponent > 1 else INFINITY
    # pow of a rounded exponent would be off by its rounding times log u
    return exponent * (pow(u, exponent) / u)


cdef real curvature_at(int function, real exponent, real u) noexcept nogil:
    """f''(u), for local searches alone."""
    u = inside(function, u)
    if function == EXPONENTIAL:
        return exp(u)
    if function == ENTROPY:
        return 1 / u if u > 0 else INFINITY
    return exponent * (exponent - 1) * pow(u, exponent - 2)


cdef inline real absolute(real x) noexcept nogil:
    """What rounding can cost of a small result beside `FUNCTION_ROUNDING`; 0 is exact, but where its caller says."""
    return UNDERFLOW if 0 < x < TINY or 0 > x > -TINY else 0


cdef inline real lower(real x) noexcept nogil:
    """x, a value but for its rounding, moved down by that."""
    # what has overflowed is at least as large
    return x - OFF * fabs(x) - absolute(x) if isfinite(x) else min(x, 1 / UNDERFLOW)


cdef inline real upper(real x) noexcept nogil:
    return x + OFF * fabs(x) + absolute(x) if isfinite(x) else x


cdef void range_over(int function, real exponent, real low, real high, real *least, real *most) noexcept nogil:
    """OUT: an interval that holds the values over one of arguments, of which ends may be infinite."""
    cdef real a = value_at(function, exponent, low), b = value_at(function, exponent, high), at = exp(-1.0)
    # u log(u) at infinity
    if isnan(a) or isnan(b):
        a, b = -INFINITY, INFINITY
    least[0], most[0] = lower(min(a, b)), upper(max(a, b))
    if most[0] == 0 and function != ENTROPY and not (function == POWER and high <= 0):
        # none of these values is 0
        most[0] = UNDERFLOW
    if function == ENTROPY and inside(function, low) <= at * (1 + OFF) and high >= at * (1 - OFF):
        # where u log(u) is least, -1 / e
        least[0] = lower(-at)
    if function != ENTROPY:
        least[0] = max(least[0], 0.0)


cdef int arguments_of(int function, real exponent, real least, real most, real *low, real *high) noexcept nogil:
    """IN/OUT: an interval that holds the arguments whose values lie in an interval. 0: there are none."""
    cdef real a, b
    if function == ENTROPY:
        return 1
    if most < 0 or (most <= 0 and function == EXPONENTIAL):
        return 0
    least = max(least, 0.0)
    if function == EXPONENTIAL:
        a, b = log(least) if least > 0 else -INFINITY, log(most)
        low[0], high[0] = max(low[0], lower(a)), min(high[0], upper(b))
        return low[0] <= high[0]
    a, b = inverse_power(exponent, least, -1), inverse_power(exponent, most, 1)
    if exponent < 0:
        a, b = inverse_power(exponent, most, -1), inverse_power(exponent, least, 1)
    low[0], high[0] = max(low[0], max(a, 0.0)), min(high[0], b)
    return low[0] <= high[0]


cdef real inverse_power(real exponent, real v, int side) noexcept nogil:
    """A number below (side -1) or above (1) the u >= 0 with u^exponent = v >= 0."""
    cdef real b = 1 / exponent, u, off
    if v == 0 or isinf(v):
        return INFINITY if (v == 0) == (exponent < 0) else 0
    u = pow(v, b)
    # 1 / exponent is rounded: the logarithm of u is off by as much of itself
    off = u * (OFF + 4 * ROUND * fabs(b * log(v))) + (UNDERFLOW if u < TINY else 0)
    if not isfinite(u):
        return u if side > 0 else 1 / UNDERFLOW
    return u + side * off


cdef bint tangent_at(int function, real exponent, real u, real *slope, real *constant, real *slope_error,
                     real *error) noexcept nogil:
    """OUT: s and c of a line near the tangent at u, for which f(x) >= s x + c - error - slope_error |x| on the domain
    where f is convex, f(x) <= s x + c + error + slope_error |x| where it is concave; whether there is one.

    exp(x) - s x is least, s (1 - log s), where exp(x) = s, and x log(x) - s x, -exp(s - 1), where 1 + log(x) = s: these
    are true for the slope as it is rounded.
    """
    cdef real f, s
    u = inside(function, u)
    f, s = value_at(function, exponent, u), slope_at(function, exponent, u)
    if not (isfinite(f) and isfinite(s)):
        return False
    slope[0], slope_error[0] = s, 0
    if function == EXPONENTIAL:
        f = log(s) if s > 0 else 0
        constant[0] = s * (1 - f)
        error[0] = OFF * s * (1 + fabs(f))
    elif function == ENTROPY:
        f = exp(s - 1)
        constant[0] = -f
        # s - 1 is rounded
        error[0] = OFF * f * (1 + fabs(s))
    else:
        if u > 0 and f < TINY:
            # its slope would be that of a rounded number
            return False
        constant[0], slope_error[0] = f - s * u, OFF * fabs(s) + absolute(s)
        error[0] = OFF * (fabs(f) + fabs(s * u)) + slope_error[0] * u + absolute(s * u)
    error[0] += absolute(constant[0])
    return True


cdef bint secant_over(int function, real exponent, real low, real high, real *slope, real *constant,
                      real *error) noexcept nogil:
    """OUT: s and c with f(x) <= s x + c + error on [low, high] for f convex, >= ... - error for f concave; whether
    there are such.

    Whatever s is: c is chosen so that the line holds at both ends, and then it does between them.
    """
    cdef real a, b, s, at_low, at_high
    low = inside(function, low)
    if not (isfinite(low) and isfinite(high) and low <= high):
        return False
    a, b = value_at(function, exponent, low), value_at(function, exponent, high)
    if not (isfinite(a) and isfinite(b)):
        return False
    s = (b - a) / (high - low) if high > low else 0
    if not isfinite(s):
        return False
    at_low, at_high = a - s * low, b - s * high
    slope[0] = s
    constant[0] = max(at_low, at_high) if is_convex(function, exponent) else min(at_low, at_high)
    error[0] = OFF * (max(fabs(a), fabs(b)) + fabs(s) * max(fabs(low), fabs(high))) + absolute(s * low)
    error[0] += absolute(s * high) + absolute(a) + absolute(b)
    if function != ENTROPY and ((a == 0 and not (function == POWER and low == 0)) or (b == 0 and high > 0)):
        error[0] += UNDERFLOW
    return True


cdef inline bint isnan(real x) noexcept nogil:
    return x != x


cdef inline bint isinf(real x) noexcept nogil:
    return x == INFINITY or x == -INFINITY


# For Python

def convex(int function, real exponent):
    """Whether a function is convex."""
    return is_convex(function, exponent)


def value(int function, real exponent, real u):
    """Value at a number; NaN outside of the domain."""
    if function != EXPONENTIAL and not u >= 0:
        return NAN
    return value_at(function, exponent, u)


def derivatives(int function, real exponent, real u):
    """Value, first and second derivative at the nearest point of the domain, for local searches."""
    return value_at(function, exponent, u), slope_at(function, exponent, u), curvature_at(function, exponent, u)


def range_of(int function, real exponent, real low, real high):
    """Interval that holds the values over an interval of arguments."""
    cdef real least, most
    range_over(function, exponent, low, high, &least, &most)
    return least, most


def arguments(int function, real exponent, real least, real most):
    """Interval that holds the arguments of values in an interval, None if there are none."""
    cdef real low = -INFINITY if function == EXPONENTIAL else 0.0, high = INFINITY
    return (low, high) if arguments_of(function, exponent, least, most, &low, &high) else None


def tangent(int function, real exponent, real u):
    """Tangent (slope, constant, error of the slope, error) as the relaxed dual takes it, None if there is none."""
    cdef real slope, constant, slope_error, error
    if not tangent_at(function, exponent, u, &slope, &constant, &slope_error, &error):
        return None
    return slope, constant, slope_error, error


def secant(int function, real exponent, real low, real high):
    """Secant (slope, constant, error) as the relaxed dual takes it, None if there is none."""
    cdef real slope, constant, error
    if not secant_over(function, exponent, low, high, &slope, &constant, &error):
        return None
    return slope, constant, error
