"""The rule of columns of different families, each with entries that may be missing.

Components are products over the columns, so that their costs are sums, and so are affine functions below them: cells,
slopes and constants of the families' rules lie side by side. Where entries of a column are missing, its rule is that of
the samples that have one, o_i = 1, whose costs are

    sum_i w_i tau_i o_i c(x_i)  >=  sum_i w_i tau_i (a o_i + b o_i y_i + q o_i y_i^2) :

the constant a is the slope of the column o, whatever the proof says there, and o_i y_i is 0 without an entry.

Theory: (VF2) of docs/theory/proof_families.md.
"""

import numpy as np

from .families import FAMILIES, Rules


class Mixed(Rules):
    """
    Rules of several families.

    Parameters
    ----------
    problem : Problem
        Of the family "mixed".
    columns, weights : ndarray, shape (d, N) and (N,)
        Not used: parts have samples of their own.
    """

    def __init__(self, problem, columns, weights):
        self.parts, self.n_cell = [], 0
        for part in problem.parts:
            rows, own_weights = part.problem.merged()
            rules = FAMILIES[part.problem.family](part.problem, rows.T, own_weights)
            self.parts.append((rules, part, slice(self.n_cell, self.n_cell + rules.n_cell)))
            self.n_cell += rules.n_cell
        self.n_columns = self.n_features = len(columns)
        self.has_squares = any(rules.has_squares for rules, *_ in self.parts)
        self.n_slopes = self.n_columns * (1 + self.has_squares)
        self.low, self.high = (np.concatenate([getattr(rules, name) for rules, *_ in self.parts])
                               for name in ("low", "high"))  # fmt: skip

    def features(self, columns, reference):
        """Return samples less the reference, 0 where there is no entry."""
        y = columns - reference
        for _, part, _ in self.parts:
            if part.presence is not None:
                y[:, part.columns] *= columns[:, [part.presence]]  # 0 or 1
        return y, np.abs(y).max(axis=0)

    def tightened(self, low, high):
        """Cells (L, K, p), cut by every family."""
        low, high = low.copy(), high.copy()
        for rules, _, own in self.parts:
            low[..., own], high[..., own] = rules.tightened(low[..., own], high[..., own])
        return low, high

    def quadratic(self, slopes):
        """Coefficients of the squares of normal columns."""
        found = np.zeros(slopes.shape[:-1] + (self.n_columns,))
        for rules, part, _ in self.parts:
            if rules.has_squares:
                found[..., part.columns] = rules.quadratic(self.slopes_of(rules, part, slopes))
        return found

    def slopes_of(self, rules, part, slopes):
        """Return what slopes say of a part, as its rules take it."""
        own = [part.columns, self.n_columns + part.columns] if rules.has_squares else [part.columns]
        return slopes[..., np.concatenate(own)]

    def intercepts(self, low, high, slopes, reference):
        """Return a (L, K, d), 0 of columns that say which entries there are."""
        found = np.zeros(slopes.shape[:-1] + (self.n_columns,))
        for rules, part, own in self.parts:
            given = low[..., own], high[..., own], self.slopes_of(rules, part, slopes), reference[part.columns]
            found[..., part.columns] = rules.intercepts(*given)
        return found
