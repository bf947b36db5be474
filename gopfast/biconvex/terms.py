"""The terms of all rows of a problem in flat arrays: their values and sizes at a point without a loop over rows."""

import numpy as np

from gopfast.roundoff import ROUND


class Terms:
    """
    Linear terms and products of the rows of a problem, the linear rows first.

    Parameters
    ----------
    A : csr_array, shape (m, n)
        Linear rows.
    forms : list of (ndarray, (ndarray, ndarray, ndarray))
        Of each quadratic row the linear coefficients (n,), and i, j and the coefficient of its products.
    """

    def __init__(self, A, forms):
        m = A.shape[0]
        self.n_rows = m + len(forms)
        rows, columns, values = [np.repeat(np.arange(m), np.diff(A.indptr))], [A.indices], [A.data]
        product_rows, products = [], []
        for row, (a, (i, j, coefficient)) in enumerate(forms, m):
            used = np.flatnonzero(a)
            rows.append(np.full(len(used), row))
            columns.append(used)
            values.append(a[used])
            product_rows.append(np.full(len(i), row))
            products.append((i, j, coefficient))
        self.row, self.column = np.concatenate(rows), np.concatenate(columns)
        self.value = np.concatenate(values)
        self.has_products = bool(forms)
        if forms:
            self.product_row = np.concatenate(product_rows)
            self.first, self.second, self.coefficient = (np.concatenate(part) for part in zip(*products, strict=True))

    def values(self, z):
        """Value of every row at a point (n,)."""
        total = np.zeros(self.n_rows)
        total += np.bincount(self.row, self.value * z[self.column], self.n_rows)
        if self.has_products:
            terms = self.coefficient * z[self.first] * z[self.second]
            total += np.bincount(self.product_row, terms, self.n_rows)
        return total

    def rounding(self, size):
        """Bound the rounding errors of `values` where the variables have these magnitudes (n,)."""
        total = np.zeros(self.n_rows)
        total += np.bincount(self.row, np.abs(self.value) * size[self.column], self.n_rows)
        count = np.bincount(self.row, minlength=self.n_rows)
        if self.has_products:
            terms = np.abs(self.coefficient) * size[self.first] * size[self.second]
            total += np.bincount(self.product_row, terms, self.n_rows)
            count = count + np.bincount(self.product_row, minlength=self.n_rows)
        return (count + 8) * ROUND * total

    def greatest(self, size):
        """Greatest magnitude of a term of every row where the variables have these magnitudes (n,)."""
        greatest = np.zeros(self.n_rows)
        np.maximum.at(greatest, self.row, np.abs(self.value) * size[self.column])
        if self.has_products:
            # where a variable may be infinite another may be 0
            first, second = size[self.first], size[self.second]
            either = (first == 0) | (second == 0)
            products = np.where(either, 0.0, first) * np.where(either, 0.0, second) * np.abs(self.coefficient)
            np.maximum.at(greatest, self.product_row, products)
        return greatest
