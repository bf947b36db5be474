"""
What rules out values of a shared coefficient far away, without a search.

Of K q + 1 samples, q the number of coefficients of a component's own, some q + 1 have one component. With nu'Z = 0 the
contrast nu'y - u nu'x of their residuals is what it is whatever the component's own coefficients are, so that they cost
something where the shared coefficient u is off. Blocks of samples add up.

Theory: (JS4) of docs/theory/shared_coefficients.md.
"""

import itertools
import math
from fractions import Fraction

import numpy as np

from gopfast.mixtures.families.axes import determinant, rational
from gopfast.mixtures.shared.coefficients import left_of
from gopfast.mixtures.shared.margins import COEFFICIENT_SLACK as SLACK
from gopfast.mixtures.shared.tuning import MOST_CONTRASTS, MULTIPLIERS
from gopfast.roundoff import ROUND


class FarBound:
    """
    Lower bounds of a mixture over ranges of the shared coefficient.

    Parameters
    ----------
    problem : RegressionMixture
    floor : float
        Lower bound of its objective: the sum of what every row costs at least.

    Attributes
    ----------
    blocks : list of ndarray of int
        Rows of the problem.
    unit : float
        A coefficient that changes predictions by about as much as the responses vary.
    """

    def __init__(self, problem, floor):
        self.problem, self.floor = problem, floor
        self.contrasts, self.unit, self.blocks = None, 1.0, []
        Z, at, rows = problem._design(), problem._shared_at, _rows_of_use(problem)
        if not len(rows):
            return
        x, own = Z[rows, at], np.delete(Z[rows], at, axis=1)
        w = problem._row_weight[rows]
        left = left_of(x, own, w)[0]
        spread = float(np.sqrt(np.square(left).mean()))
        self.unit = (problem._response_spread or 1.0) / spread if spread > 0.0 else 1.0
        own, blocks = _best_blocks(left, own, problem.n_components)
        if not blocks:
            return
        self.blocks = [rows[block] for block in blocks]
        exact_own, exact_x = rational(own), rational(x[:, np.newaxis])
        response = problem.response[rows] if problem.family == "normal" else problem.offsets[rows]
        exact_y = rational(response[:, np.newaxis])
        sets, nus, slopes, values = [], [], [], []
        for block in blocks:
            for some in itertools.combinations(block, own.shape[1] + 1):
                nu = _null([exact_own[i] for i in some])
                sets.append(some)
                nus.append([float(c) for c in nu])
                slopes.append(float(sum(c * exact_x[i][0] for c, i in zip(nu, some, strict=True))))
                values.append(float(sum(c * exact_y[i][0] for c, i in zip(nu, some, strict=True))))
        sets, nus = np.array(sets), np.array(nus)
        slopes, values = np.array(slopes), np.array(values)
        self.n_blocks = len(blocks)
        self.weights = w[sets]
        self.contrasts = slopes, values, nus
        if problem.family != "normal":
            self.lines = self._lines(rows[sets])

    def least(self, low, high):
        """
        Return a lower bound of the objective where the coefficient is between two numbers.

        Parameters
        ----------
        low, high : float
            Either may be infinite.
        """
        if self.contrasts is None:
            return self.floor
        more = self._of_counts(low, high) if self.problem.family != "normal" else self._of_normal(low, high)
        return self.floor + more - SLACK * (abs(self.floor) + more)

    def _of_normal(self, low, high):
        slopes, values, nus = self.contrasts
        problem = self.problem
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            place = values / slopes
            error = 8 * ROUND * np.abs(place)
            above = low - place - error - (8 * ROUND * abs(low) if math.isfinite(low) else 0.0)
            below = place - high - error - (8 * ROUND * abs(high) if math.isfinite(high) else 0.0)
            apart = np.maximum(above, below)
            residual = np.where(slopes == 0.0, np.abs(values), np.abs(slopes) * np.maximum(0.0, apart))
            squares = np.square(residual) / (np.square(nus) / self.weights).sum(axis=1) * (1.0 - SLACK)
        squares = np.where(np.isnan(squares), 0.0, squares)
        if problem.noise_variance is not None:
            return float(0.5 * self._by_block(squares).sum() / problem.noise_variance)
        if problem._is_shared:
            mass = math.fsum(problem._row_weight)
            return mass * float(_raised(self._by_block(squares).sum() / mass / problem.variance_floor))
        mass = self.weights.sum(axis=1)
        return float(self._by_block(mass * _raised(squares / mass / problem.variance_floor)).sum())

    def _by_block(self, values):
        """Return the least of each block's sets."""
        return values.reshape(self.n_blocks, -1).min(axis=1)

    def _lines(self, rows):
        """
        Return lines in the coefficient below what each set costs: their heights at 0 and slopes, (m, sets) each.

        `rows` (sets, q + 1) are the places of the samples in the problem.
        """
        problem, (slopes, values, nus) = self.problem, self.contrasts
        y, n, w = problem._rows.counts[rows], problem.trials[rows], self.weights
        is_poisson = problem.family == "poisson"
        heights, steps = [], []
        for sign in (1.0, -1.0):
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(sign * nus < 0.0, w * y / np.abs(nus), np.inf)
                if not is_poisson:
                    room = np.minimum(room, np.where(sign * nus > 0.0, w * (n - y) / np.abs(nus), np.inf))
            room = room.min(axis=1)
            room = np.where(np.isfinite(room), room, 0.0)
            for part in MULTIPLIERS:
                multiplier = sign * part * room
                means = np.maximum(y + multiplier[:, np.newaxis] * nus / w, 0.0)
                parts = [_entropy(means), -_entropy(y)]
                if is_poisson:
                    parts += [y, -means]
                else:
                    means = np.minimum(means, n)
                    parts += [_entropy(n - means), -_entropy(n - y)]
                cost, size = sum(parts), sum(map(np.abs, parts))
                lost = (w * cost).sum(axis=1)
                off = SLACK * ((w * size).sum(axis=1) + np.abs(multiplier * values))
                heights.append(multiplier * values - lost - off)
                steps.append(multiplier * slopes)
        return np.array(heights), np.array(steps)

    def _of_counts(self, low, high):
        heights, steps = self.lines
        with np.errstate(invalid="ignore"):
            ends = np.where(steps == 0.0, 0.0, np.minimum(steps * low, steps * high))
            ends = ends - SLACK * np.where(np.isfinite(ends), np.abs(ends), 0.0)
        found = np.maximum(0.0, (heights + ends).max(axis=0))
        return float(self._by_block(found).sum())


def _rows_of_use(problem):
    """Return rows (m,), one of each sample of positive weight, whose counts hold predictions on both sides."""
    used = problem.sample_weight > 0.0
    if problem.family != "normal":
        used = used & ~problem._rows.is_at_end()
    rows = np.flatnonzero(used)
    return rows[np.unique(problem._group_of[rows], return_index=True)[1]]


def _best_blocks(left, own, n_components):
    """
    Return blocks of rows, lists of places, and the columns of their own (m, q) that matter in each.

    Rows with the same entries in all columns of the components' own are as those with a constant there.
    """
    q = own.shape[1]
    general = _blocks(left, np.arange(len(left)), n_components * q + 1, q + 1)
    of = np.unique(own, axis=0, return_inverse=True)[1].ravel()
    alike = [_blocks(left, np.flatnonzero(of == g), n_components + 1, 2) for g in range(of.max() + 1)]
    pairs = list(itertools.chain.from_iterable(alike))
    same = q > 1 and len(pairs) >= len(general)
    return (np.ones((len(own), 1)), pairs) if same else (own, general)


def _blocks(left, places, size, of_set):
    """Return disjoint blocks of so many of the places each, whose regressors differ."""
    order, n_sets = places[np.argsort(left[places], kind="stable")], math.comb(size, of_set)
    n_blocks = len(order) // size
    if n_blocks == 0 or n_sets > MOST_CONTRASTS:
        return []
    every = [order[j::n_blocks][:size].tolist() for j in range(n_blocks)]
    return every[:: max(1, -(-n_blocks * n_sets // MOST_CONTRASTS))]


def _null(rows):
    """Return the contrast (q + 1,) that is 0 on each column of rows (q + 1, q) of Fractions: cofactors; or zeros."""
    q = len(rows[0])
    return [(-1) ** i * _determinant([row for j, row in enumerate(rows) if j != i]) for i in range(q + 1)]


def _determinant(rows):
    """Return the determinant of Fractions (q, q)."""
    if len(rows) == 1:
        return rows[0][0]
    try:
        return determinant(rows)
    except ZeroDivisionError:
        return Fraction(0)


def _raised(v):
    """Return what a variance costs more than the floor, both in units of the floor, per unit of mass; v is Q / S."""
    return np.where(v <= 1.0, 0.5 * v, 0.5 + 0.5 * np.log(np.maximum(v, 1.0)))


def _entropy(x):
    """Return x log x, 0 at 0."""
    return x * np.log(np.where(x > 0.0, x, 1.0))
