"""The product of any number of families, of which some have missing entries."""

import numpy as np

from gopfast.mixtures.data.samples import Samples
from gopfast.mixtures.families.partial import PartialFamily
from gopfast.mixtures.families.product import ProductFamily


def product(table, weights, scale, center, families, partial, decode, encode):
    """
    Make the family of components whose columns are independent.

    Parameters
    ----------
    table : ndarray, shape (n, D)
        The families' columns one after the other, in their cores' order; of a partial one its entries, its center where
        there is none, and their presence.
    weights : ndarray, shape (n,)
    scale, center : ndarray, shape (D,)
        Of the columns, those of the families' samples; 1 and 0 of presences.
    families : list of Family
        Each of its own samples, for their range and weight.
    partial : list of bool
        Whether entries are missing; such a family is of one column.
    decode, encode : callable
        From a list of the families' parameters to the user's, a dict, and back.

    Returns
    -------
    Family
    """
    used = weights > 0.0
    table, weights = table[used], weights[used]
    sizes = [2 if is_partial else family.n_columns for family, is_partial in zip(families, partial, strict=True)]
    begins = np.cumsum([0, *sizes])
    has_squares = [family.n_statistics > family.n_columns for family in families]

    def samples(first, last):
        """Return those of the families from `first` to before `last`, in the order of the table."""
        own = slice(begins[first], begins[last])
        late = np.arange(begins[last] - begins[first])
        return Samples(table[:, own], weights, scale[own], center[own], any(has_squares[first:last]), late)

    factors = [
        PartialFamily(samples(i, i + 1), family) if partial[i] else family for i, family in enumerate(families)
    ]
    n, found = len(factors), factors[-1]
    for i in range(n - 2, -1, -1):
        outer = () if i else (lambda pair: decode(_flat(pair, n)), lambda parameters: _nested(encode(parameters)))
        found = ProductFamily(samples(i, n), factors[i], found, *outer)
    return found


def _flat(pair, n):
    """Return n values that lie in pairs of pairs as a list."""
    found = []
    for _ in range(n - 1):
        one, pair = pair
        found.append(one)
    return [*found, pair]


def _nested(values):
    """Return a list as pairs of pairs."""
    *others, found = values
    for value in reversed(others):
        found = (value, found)
    return found
