"""Floats on a side of a rational number."""

import math
from fractions import Fraction

from gopfast.biconvex.tuning import LARGEST_OBJECTIVE as LARGEST_BOUND


def above(number):
    """Return a float that is at least the Fraction."""
    try:
        near = float(number)
    except OverflowError:
        return math.inf if number > 0 else -1e308
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)


def below(number):
    """Return a float that is at most the Fraction."""
    try:
        near = float(number)
    except OverflowError:
        return -math.inf if number < 0 else LARGEST_BOUND
    return near if Fraction(near) <= number else math.nextafter(near, -math.inf)


def root_below(number):
    """Return a float at or below the root of a Fraction that is not negative."""
    try:
        near = math.sqrt(number)
    except OverflowError:
        return 0.0
    while near > 0.0 and Fraction(near) ** 2 > number:
        near = math.nextafter(near, 0.0)
    return near
