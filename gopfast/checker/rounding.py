"""Directed rounding: numbers known to lie between two floats.

Sums, differences, products and quotients of floats are correctly rounded (IEEE 754), so that the exact value lies
between the neighbours of the computed one. NumPy's logarithms and exponentials are taken to be within `ULPS` units in
the last place; NumPy documents at most 4.
"""

import numpy as np

UNIT = 2.0**-53  # relative rounding error of one operation
ULPS = 8


def down(value):
    """Return a float below what was rounded to this one."""
    return np.nextafter(value, -np.inf)


def up(value):
    """Return a float above what was rounded to this one."""
    return np.nextafter(value, np.inf)


class Interval:
    """
    Arrays of numbers, each between two floats.

    Parameters
    ----------
    low, high : array_like
        By default `high` is `low`: the floats themselves.
    """

    def __init__(self, low, high=None):
        self.low = np.asarray(low, dtype=float)
        self.high = self.low if high is None else np.asarray(high, dtype=float)

    def __add__(self, other):
        """Return the sum."""
        other = interval(other)
        return Interval(down(self.low + other.low), up(self.high + other.high))

    def __neg__(self):
        """Return the negative; exact."""
        return Interval(-self.high, -self.low)

    def __sub__(self, other):
        """Return the difference."""
        return self + -interval(other)

    def __mul__(self, other):
        """Return the product; 0 times infinity counts as 0."""
        other = interval(other)
        with np.errstate(invalid="ignore"):
            corners = [np.nan_to_num(a * b, nan=0.0, posinf=np.inf, neginf=-np.inf)
                       for a in (self.low, self.high) for b in (other.low, other.high)]  # fmt: skip
        return Interval(down(np.minimum.reduce(corners)), up(np.maximum.reduce(corners)))

    def over(self, divisor):
        """Return the quotient by positive numbers."""
        divisor = interval(divisor)
        corners = [a / b for a in (self.low, self.high) for b in (divisor.low, divisor.high)]
        return Interval(down(np.minimum.reduce(corners)), up(np.maximum.reduce(corners)))

    def log(self):
        """Return the logarithm of positive numbers; -inf of 0."""
        with np.errstate(divide="ignore"):
            low, high = np.log(self.low), np.log(self.high)
        return Interval(low - ULPS * np.spacing(np.abs(low)), high + ULPS * np.spacing(np.abs(high)))

    def least(self, other):
        """Return the smaller of two numbers."""
        return Interval(np.minimum(self.low, other.low), np.minimum(self.high, other.high))

    def sum(self, axis):
        """Return sums along an axis; their rounding errors are those of so many additions of the magnitudes."""
        n = self.low.shape[axis]
        size = 2.0 * n * UNIT * np.maximum(np.abs(self.low), np.abs(self.high)).sum(axis=axis)
        return Interval(down(self.low.sum(axis=axis) - size), up(self.high.sum(axis=axis) + size))


def interval(value):
    """Numbers as they are, or floats as intervals without width."""
    return value if isinstance(value, Interval) else Interval(value)
