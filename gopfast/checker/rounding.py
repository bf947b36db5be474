"""Directed rounding: numbers known to lie between two floats.

Sums, differences, products and quotients of floats are correctly rounded (IEEE 754), so that the exact value lies
between the neighbours of the computed one; underflow included. NumPy's logarithms and exponentials, and the logarithms
of Python's math, are taken to be within `ULPS` units in the last place: NumPy documents at most 4. Matrix products and
sums are taken to be exact up to as many rounding errors as they have terms, in any order, fused or not.

Theory: (V7) of docs/theory/proofs.md.
"""

import math

import numpy as np

UNIT = 2.0**-53  # relative rounding error of one operation
ULPS = 8
TINY = 1e-300  # above what underflow loses in a few operations


def down(value):
    """Return a float below what was rounded to this one."""
    return np.nextafter(value, -np.inf)


def up(value):
    """Return a float above what was rounded to this one."""
    return np.nextafter(value, np.inf)


class Interval:
    """
    Arrays of numbers, each between two floats. What is no number (inf - inf) stays none.

    Parameters
    ----------
    low, high : array_like
        By default `high` is `low`: the floats themselves.
    """

    def __init__(self, low, high=None):
        self.low = np.asarray(low, dtype=float)
        self.high = self.low if high is None else np.asarray(high, dtype=float)

    def __getitem__(self, index):
        """Return some of the numbers."""
        return Interval(self.low[index], self.high[index])

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
        corners = [_product(a, b) for a in self.ends() for b in other.ends()]
        return Interval(down(np.minimum.reduce(corners)), up(np.maximum.reduce(corners)))

    def over(self, divisor):
        """Return the quotient by positive numbers."""
        corners = [a / b for a in self.ends() for b in interval(divisor).ends()]
        return Interval(down(np.minimum.reduce(corners)), up(np.maximum.reduce(corners)))

    def ends(self):
        """Return the ends that differ."""
        return (self.low,) if self.low is self.high else (self.low, self.high)

    def log(self):
        """Return the logarithm of numbers of at least 0; -inf of 0."""
        low, high = np.log(self.low), np.log(self.high)
        return Interval(low - (ULPS + 1) * np.spacing(np.abs(low)), high + (ULPS + 1) * np.spacing(np.abs(high)))

    def least(self, other):
        """Return the smaller of two numbers."""
        return Interval(np.minimum(self.low, other.low), np.minimum(self.high, other.high))

    def sum(self, axis):
        """Return sums along axes; their rounding errors are those of so many additions of the magnitudes."""
        size = np.maximum(np.abs(self.low), np.abs(self.high)).sum(axis=axis)
        size *= 2.0 * (1 + self.low.size // max(1, size.size)) * UNIT
        return Interval(down(self.low.sum(axis=axis) - size), up(self.high.sum(axis=axis) + size))


def averages(y, reach, weights):
    """Return weighted averages (F,) of columns (N, F), whose entries are within 4 rounding errors of reach (F,)."""
    W, products = math.fsum(weights), weights[:, np.newaxis] * y
    total = np.array([math.fsum(column) for column in products.T])
    error = 8 * UNIT * (np.abs(products).sum(axis=0) + W * reach)
    return Interval(down(total - error), up(total + error)).over(Interval(down(W), up(W)))


def interval(value):
    """Numbers as they are, or floats as intervals without width."""
    return value if isinstance(value, Interval) else Interval(value)


def _product(a, b):
    return np.where((a == 0) | (b == 0), 0.0, a * b)
