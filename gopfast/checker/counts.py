"""Components that regress counts on some columns: what every sample costs at least in a cell.

A row with regressors z in coordinates of places (`regressions`), count y and linear predictor eta = base + z'b costs

    l(eta) = A(eta) - y eta - least,      A(eta) = e^eta, or n log(1 + e^eta) of n trials,

least below all that A(eta) - y eta can be, the value at t, where A'(t) = y. In a cell, b in a box m +- h, eta lies
within sum_j h_j |z_j| of eta(m). So a row costs at least the least of l there, at an end or 0; or else, as a
component's fit b solves sum_i w_i tau_i l_i'(eta_i) z_i = 0 and may be charged

    l(eta) + l'(eta) (eta(c) - eta)

for l(eta), the least of these, which is at an end of the strip, too, whatever c is. A sample costs what its rows do
together. So the slopes of a leaf or cell are no slopes: they are c, and which of the two bounds it is.

The root holds all fits: they are those of weighted least squares with t for the counts' linear predictors.

Theory: (JC1), (JC2) and (JC4) of docs/theory/counts.md.
"""

import math
from fractions import Fraction

import numpy as np

from .entries import numbers
from .families import Rules
from .margins import COUNT_TERMS as TERMS, WIDER
from .regressions import at_places, designs, enclosed, hull
from .rounding import UNIT, Interval, down
from .tuning import COUNT_NUMBERS as MOST_NUMBERS, LARGEST_PREDICTOR


class CountRegressions(Rules):
    """
    The rule of mixtures of regressions of counts.

    Parameters
    ----------
    problem : Problem
    columns : ndarray, shape (d, N)
        Rows: regressors, then what else there is, the counts last.
    weights : ndarray, shape (n,)
        Of the samples.
    axes : ndarray, shape (q, p + 1)
        Places: regressors, then a value.
    """

    has_sample_costs = True

    def __init__(self, problem, columns, weights, axes):
        self.rows, self.begins = Rows(problem, columns.T), problem.begins_of(columns.T)
        exact, fitted = at_places(designs(problem, columns), problem, axes)
        base = enclosed([Fraction(o) + at for o, at in zip(self.rows.offsets.tolist(), fitted, strict=True)])
        self.z, self.base = np.array([[float(x) for x in row] for row in exact]), base.low
        self.low, self.high = hull(exact, self.rows.best - base)
        self.n_columns = self.n_cell = len(axes)
        self.n_features, self.n_slopes = 0, len(axes) + 1
        sizes = np.diff(np.append(self.begins, len(self.base)))
        self.constant = (Interval(np.repeat(weights, sizes)) * Interval(self.rows.least)).sum(axis=0)
        self.n_terms = sizes + 2  # of sums over a sample's rows

    def intercepts(self, low, high, slopes, reference):
        """No affine functions: nothing (L, K, 1) is beside costs of samples."""
        return np.zeros((*low.shape[:-1], 1))

    def costs(self, low, high, slopes):
        """
        Return what samples cost at least in cells, (..., n).

        Parameters
        ----------
        low, high : ndarray, shape (..., q)
        slopes : ndarray, shape (..., q + 1)
            c, in whose place tangents are valued, and a number above 0 where they are the bound.
        """
        q, n = self.n_cell, len(self.begins)
        parts = [part.reshape(-1, part.shape[-1]) for part in (low, high, slopes)]
        out, step = np.empty((len(parts[0]), n)), max(1, MOST_NUMBERS // len(self.base))
        by_tangents = parts[2][:, q] > 0
        for own, bound in ((~by_tangents, self._least), (by_tangents, self._tangents)):
            own = np.flatnonzero(own)
            for i in range(0, len(own), step):
                here = own[i : i + step]
                out[here] = bound(*(part[here] for part in parts))
        return out.reshape(*low.shape[:-1], n)

    def _strip(self, low, high, point):
        """
        Return the ends (C, N) of the linear predictors in cells (C, q), and those at a point (C, q).

        Last how far the point's may be from what is returned: of exact z and base, whose rounding counts too.
        """
        size_z, size_base = np.abs(self.z).T, np.abs(self.base)
        rounding = (4 * self.n_cell + 16) * UNIT
        center = 0.5 * low + 0.5 * high
        half = np.maximum(high - center, center - low)
        width = half @ size_z * (1 + WIDER) + 2 * rounding * ((np.abs(center) + half) @ size_z + size_base)
        middle = center @ self.z.T + self.base
        moved = 2 * rounding * (np.abs(point) @ size_z + size_base)
        return middle - width, middle + width, point @ self.z.T + self.base, moved

    def _least(self, low, high, slopes):
        """By the rows alone."""
        first, last, *_ = self._strip(low, high, low)
        rows = self.rows
        right, left = first >= rows.best.high, last <= rows.best.low
        value, _ = rows.deviance(np.where(right, first, last))
        return self._of_samples(np.where(right | left, np.maximum(value, 0.0), 0.0))

    def _tangents(self, low, high, slopes):
        """By tangents that touch at the ends of the strip, valued at the point."""
        first, last, at, moved = self._strip(low, high, slopes[:, :-1])
        rows, least = self.rows, np.full(first.shape, np.inf)
        for eta in (first, last):
            value, slope = rows.deviance(eta)
            found = value + (slope - rows.counts) * (at - eta)
            found -= (slope + rows.counts) * (TERMS * UNIT * np.abs(at - eta) + moved)
            least = np.minimum(least, found)
        near = rows.is_binomial | (last <= LARGEST_PREDICTOR)  # beyond, slopes are not those of the mean
        return self._of_samples(np.where(near, down(least), -np.inf))

    def _of_samples(self, costs):
        """Sum costs of rows (C, N), all of them from below, over the rows of samples: (C, n)."""
        if len(self.begins) == len(self.base):
            return costs
        total, size = (np.add.reduceat(part, self.begins, axis=1) for part in (costs, np.abs(costs)))
        return total - self.n_terms * UNIT * size


class Rows:
    """
    Counts of the rows (N, d) of a problem.

    Attributes
    ----------
    counts, trials, offsets : ndarray, shape (N,)
        Counts are those of the likelihood, which are not 0, nor all trials.
    best : Interval (N,)
        The linear predictors t whose means they are.
    least : ndarray, shape (N,)
        At most A(eta) - y eta of any eta.
    """

    def __init__(self, problem, X):
        counts, self.trials, self.offsets = problem.counts_of(X)
        self.is_binomial = problem.family == "binomial_regression"
        self.counts = np.maximum(counts, problem.least_count)
        if self.is_binomial:
            self.counts = np.minimum(self.counts, self.trials - problem.least_count)
        y, n = Interval(self.counts), Interval(self.trials)
        if self.is_binomial:
            rest = n - y
            self.best = y.log() - rest.log()
            least = n * n.log() - rest * rest.log() - y * y.log()
        else:
            self.best, least = y.log(), y - y * y.log()
        self.least = down(least.low)

    def cumulant(self, eta):
        """Return A and its slope at linear predictors (..., N), to 40 rounding errors of theirs; cut off far out."""
        if not self.is_binomial:
            value = np.exp(np.minimum(eta, LARGEST_PREDICTOR))
            return value, value
        e = np.exp(-np.abs(eta))
        return self.trials * (np.maximum(eta, 0.0) + np.log1p(e)), self.trials * np.where(eta >= 0, 1.0, e) / (1.0 + e)

    def deviance(self, eta):
        """Return l from below at floats (..., N), and the slope of A."""
        cumulant, slope = self.cumulant(eta)
        linear = self.counts * eta
        size = cumulant + np.abs(linear) + np.abs(self.least)
        return cumulant - linear - self.least - TERMS * UNIT * size, slope


def costs(problem, X, solution):
    """
    Return costs (n, K) of the components of a solution, and sizes of their errors.

    Parameters
    ----------
    problem : Problem
    X : ndarray, shape (N, d)
        Merged rows.
    solution : dict
        "coefficients" (K, p), with an intercept "intercepts" (K,).

    Linear predictors are computed in fractions, and rounded once.
    """
    K, rows, begins = problem.n_components, Rows(problem, X), problem.begins_of(X)
    b = numbers(solution, "coefficients", "solution", (K, problem.n_regressors))
    if problem.fit_intercept:
        b = np.column_stack([b, numbers(solution, "intercepts", "solution", (K,))])
    lines = [list(map(Fraction, line)) for line in b.tolist()]
    eta = np.array([
        [float(Fraction(o) + sum(x * c for x, c in zip(row, line, strict=True))) for line in lines]
        for row, o in zip(designs(problem, X.T), rows.offsets.tolist(), strict=True)
    ])  # fmt: skip
    cumulant, slope = (part.T for part in rows.cumulant(eta.T))
    cumulant = np.where((eta > LARGEST_PREDICTOR) & (not rows.is_binomial), math.inf, cumulant)
    linear = rows.counts[:, np.newaxis] * eta
    sizes = 2.0 * (cumulant + np.abs(linear) + slope * np.abs(eta)) + 1.0
    n = np.diff(np.append(begins, len(X)))[:, np.newaxis]
    cost, sizes = (np.add.reduceat(part, begins, axis=0) for part in (cumulant - linear, sizes))
    return cost, sizes * (1.0 + n / 16)
