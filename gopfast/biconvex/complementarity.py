"""
Complementarity in the rows of a biconvex problem: x (a'z + b) = 0 says that x = 0 or a'z + b = 0.

Neither needs a bound: the search branches on which of the two vanishes. The core has a variable in [-1, 1] for each
pair, a switch: where it is at most 0 the first side vanishes, where it is at least 0 the second does. So every feasible
point has a value of the switch, and the halves of its interval are the two cases.

Theory: (X10) of docs/theory/biconvex.md.
"""

from typing import NamedTuple

from gopfast.biconvex.forms import is_nonnegative


class Side(NamedTuple):
    """
    What vanishes: ``sum of linear + constant``.

    Attributes
    ----------
    linear : dict
        Variable -> coefficient.
    constant : float
    """

    linear: dict
    constant: float

    @property
    def variable(self):
        """The variable that vanishes, None where it is a sum."""
        return next(iter(self.linear)) if len(self.linear) == 1 and self.constant == 0 else None


def find(rows, low, high):
    """
    Find pairs of which one vanishes at every feasible point.

    Parameters
    ----------
    rows : list of Row
        With products, in pairs (i, j), i <= j.
    low, high : ndarray, shape (n,)
        Bounds of the variables.

    Returns
    -------
    pairs : list of (Side, Side)
    implied : set of int
        Numbers of the rows that hold wherever one side of each of their pairs vanishes.
    """
    pairs, implied = [], set()
    for number, row in enumerate(rows):
        found = [] if row.forms or not row.products else _factors(row) or _signed_products(row, low, high)
        if found:
            implied.add(number)
            pairs += [pair for pair in found if pair not in pairs]
    return pairs, implied


def _factors(row):
    """Return the pair of a row x (a'z + b) = 0."""
    if not row.lower == row.upper == 0:
        return []
    common = set.intersection(*(set(pair) for pair in row.products))
    for x in sorted(common):
        if set(row.linear) <= {x}:
            other = {i if j == x else j: a for (i, j), a in row.products.items()}
            return [(Side({x: 1.0}, 0.0), Side(other, row.linear.get(x, 0.0)))]
    return []


def _signed_products(row, low, high):
    """Return the pairs of a sum of products that are all nonnegative, and at most 0; or the reverse."""
    for sign in (1, -1):
        limit = row.upper if sign == 1 else -row.lower
        other = -row.lower if sign == 1 else row.upper
        if limit == 0 and other >= 0 and not row.linear and all(
            is_nonnegative(sign * a, i, j, low, high) for (i, j), a in row.products.items()
        ):
            return [(Side({i: 1.0}, 0.0), Side({j: 1.0}, 0.0)) for i, j in row.products]
    return []
