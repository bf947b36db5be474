"""
Distinct rows of data of any size, at most a few thousand, with their weights.

Which ones are chosen follows from what stands in a row: a number is computed from its values, and the rows with the
least numbers are kept. Neither the order of the samples, nor how often they are repeated, nor the parts in which they
are read changes the choice.
"""

import numpy as np

from gopfast.mixtures.problems.tuning import MOST_ROWS, ROWS_AT_ONCE as BLOCK

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # the constants of SplitMix64 (Steele, Lea & Flood 2014)
MIX = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))
LAST_SHIFT = np.uint64(31)


class RowSample:
    """
    Distinct rows and their weights, in lexicographic order.

    Parameters
    ----------
    n_columns : int

    Attributes
    ----------
    rows : ndarray, shape (m, d)
    weight : ndarray, shape (m,)
        Of all samples that are equal to the row.
    """

    def __init__(self, n_columns):
        self.rows, self.weight = np.empty((0, n_columns)), np.empty(0)
        self._last = np.iinfo(np.uint64).max  # rows with a larger number are not kept

    def add(self, X, weight):
        """Look at rows (n, d) with weights (n,); those of weight 0 do not count."""
        for begin in range(0, len(X), BLOCK):
            part = slice(begin, begin + BLOCK)
            numbers = row_numbers(X[part])
            used = (weight[part] > 0.0) & (numbers <= self._last)
            if used.any():
                self._merge(X[part][used], weight[part][used], numbers[used])
        return self

    def _merge(self, X, weight, numbers):
        X, weight = np.concatenate([self.rows, X]), np.concatenate([self.weight, weight])
        numbers = np.concatenate([row_numbers(self.rows), numbers])
        distinct = np.unique(numbers)  # equal rows have equal numbers
        if len(distinct) > MOST_ROWS:
            self._last = distinct[MOST_ROWS - 1]
            kept = numbers <= self._last
            X, weight = X[kept], weight[kept]
        self.rows, which = np.unique(X + 0.0, axis=0, return_inverse=True)  # 0 and -0 are equal
        self.weight = np.bincount(which.ravel(), weights=weight)


def row_numbers(X):
    """Return a number for each row that looks drawn at random but follows from its values, uint64 of shape (n,)."""
    numbers = np.zeros(len(X), dtype=np.uint64)
    for column in X.T:
        numbers ^= np.ascontiguousarray(column + 0.0).view(np.uint64)
        numbers += GOLDEN
        for shift, factor in MIX:
            numbers = (numbers ^ (numbers >> shift)) * factor
        numbers ^= numbers >> LAST_SHIFT
    return numbers
