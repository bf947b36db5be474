"""
Mixtures of products of Gamma distributions, for waiting times, claims and other positive amounts.

Theory: (O1) of docs/theory/gamma.md.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaln, polygamma

from gopfast import checks
from gopfast.annotations import FloatArray
from gopfast.errors import InputError
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.problems.tuning import CV_FLOOR, LEAST, MOST_DECADES, NEWTON_STEPS, ON_FLOOR
from gopfast.roundoff import ROUND


class GammaMixture(MixtureProblem):
    """
    Mixture of products of Gamma distributions, of a shape and a rate in each column.

    The objective is the negative log-likelihood with all constants::

        p(x_i | a_k, r_k) = prod_j r_kj^a_kj x_ij^(a_kj - 1) exp(-r_kj x_ij) / Gamma(a_kj),    a_kj <= 1 / cv_floor^2

    `gopfast.models.MixtureProblem` has the attributes that are not listed here.

    Parameters
    ----------
    X : array_like, shape (n,) or (n, d)
        Positive numbers (at least 1e-300).
    n_components : int
        Number of components K, from 1 to n.
    cv_floor : float, default 0.05
        Least coefficient of variation of a component in a column, its standard deviation over its mean: 1 over the root
        of the shape. On equal samples a shape could grow without end, and with it the likelihood; the floor is part of
        the model.
    sample_weight : array_like of shape (n,), optional
        Weights w_i of the samples, at least 0 and not all 0; 1 by default.

    Attributes
    ----------
    X : ndarray, shape (n, d)
        Read-only.
    largest_shape : float
        1 over the square of `cv_floor`.
    parameter_names : tuple of str
        "rates" (K, d), in units of 1 over X, and "shapes" (K, d); the means are shapes over rates.

    Raises
    ------
    InputError
        A `ValueError` naming the argument with a bad value, such as amounts that are not positive; `InputTypeError` if
        it is of a wrong kind.

    Examples
    --------
    >>> from gopfast.models import GammaMixture
    >>> GammaMixture([0.1, 0.2, 3.0, 5.5], 2)
    GammaMixture(n_samples=4, n_features=1, n_components=2, cv_floor=0.05)
    """

    parameter_names = ("rates", "shapes")
    prior = None
    cv_floor: float
    _formula_keeps_digits = True
    _most_columns_drawn = 1

    def __init__(
        self, X: ArrayLike, n_components: int, *, cv_floor: float = CV_FLOOR, sample_weight: ArrayLike | None = None
    ) -> None:
        columns, X = checks.column_names(X), checks.at_least("X", checks.data_matrix("X", X), LEAST)
        floor = checks.positive_number("cv_floor", cv_floor)
        if not 1e-4 <= floor <= 1e4:
            raise InputError(f"cv_floor must lie within 1e-4 and 1e4; got {floor:g}")
        spans = np.log10(X.max(axis=0)) - np.log10(X.min(axis=0))
        if spans.max() > MOST_DECADES:
            raise InputError(f"X spans more than {MOST_DECADES} decades in column {int(spans.argmax())}")
        self._store(X, n_components, sample_weight, prior=None, cv_floor=floor, columns=columns)

    def _model_names(self):
        return ("cv_floor",)

    @property
    def largest_shape(self) -> float:
        """The shape of the least coefficient of variation."""
        return 1.0 / self.cv_floor**2

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 weights, and two for each component and column."""
        return self.n_components * (1 + 2 * self.n_features) - 1

    def _notes(self, solution, proved):
        """Name components whose shape is the largest."""
        on = np.flatnonzero((solution.shapes >= self.largest_shape * (1.0 - ON_FLOOR)).any(axis=1))
        if not on.size:
            return []
        which = f"component{'s' * (on.size > 1)} {', '.join(map(str, on))}"
        return [f"on cv_floor: a shape of {which} is the largest, {self.largest_shape:g}"]

    def _rows_like(self, X):
        """Check that they are positive, of as many columns."""
        rows = checks.at_least("X", checks.data_matrix("X", X), LEAST)
        return checks.of_columns("X", rows, self.n_features)

    def _least_drawn(self, largest):
        return 1e-3 * largest

    def _column_log_densities(self, column, values, rates, shapes):
        a, r = (part[:, column, np.newaxis] for part in (shapes, rates))
        return a * np.log(r) + (a - 1.0) * np.log(values) - r * values - gammaln(a)

    def _draw(self, rng, components, parameters):
        return rng.gamma(parameters["shapes"][components], 1.0 / parameters["rates"][components])

    def _check_values(self, rates, shapes):
        rates = checks.positive_array("rates", self._check_rows("rates", rates))
        shapes = checks.positive_array("shapes", self._check_rows("shapes", shapes))
        return rates, checks.at_least("shapes", shapes, 0.0, self.largest_shape * (1.0 + 1e-9))

    def _log_kernel(self, parameters):
        """Return log densities, about the means, so that large shapes keep digits."""
        rows = []
        for a, r in zip(parameters["shapes"], parameters["rates"], strict=True):
            ratio = self.X * (r / a)
            logs = np.log(ratio)
            rows.append(((a - 1.0) * logs - a * (ratio - 1.0) + np.log(r / a) - shape_cost(a)).sum(axis=1))
        return np.stack(rows, axis=1)

    def _m_step(self, mass, weights, former):
        """Match the mean, and the mean logarithm up to the largest shape."""
        size = mass.sum(axis=0)[:, np.newaxis]
        means = mass.T @ self.X / size
        # about the means: a spread is a small difference
        logs = np.stack([m @ np.log(self.X / mean) for m, mean in zip(mass.T, means, strict=True)]) / size
        shapes = shape_of(np.maximum(-logs, 0.0), self.largest_shape)
        return {"rates": shapes / means, "shapes": shapes}

    def _points(self):
        """Take logarithms, centred and in units of their standard deviation."""
        share = self.sample_weight / self.total_weight
        logs = np.log(self.X)
        logs -= share @ logs
        variance = share @ np.square(logs)
        return logs / np.sqrt(np.where(variance > 0.0, variance, 1.0))

    def _ceiling(self):
        """Take the largest density at x, ``max over a of a^a x^-1 e^-a / Gamma(a)``: that of the largest shape."""
        used = self.sample_weight > 0.0
        w, X = self.sample_weight[used, np.newaxis], self.X[used]
        peak = float(shape_cost(np.array(self.largest_shape)))
        logs = (w * np.log(X)).ravel()
        total = self.n_features * self.total_weight
        return [math.fsum(logs), peak * total], math.fsum(np.abs(logs)) + total * (1.0 + abs(peak))

    def _family(self):
        """Take amounts in units near their average, powers of 2, and logarithms, whose rounding the constant bears."""
        from gopfast.mixtures.data.samples import Samples  # compiled, as problems are not
        from gopfast.mixtures.families.columns import merged
        from gopfast.mixtures.families.gamma import GammaFamily

        used, d = self.sample_weight > 0.0, self.n_features
        X, w = merged(self.X[used], self.sample_weight[used])
        W = math.fsum(w)
        average = np.array([math.fsum(column * (w / W)) for column in X.T])
        scale = 2.0 ** np.floor(np.log2(average))
        logs = np.log(X / scale)
        table = np.hstack([X, logs])
        data = Samples(
            table, w, np.concatenate([scale, np.ones(d)]), np.zeros(2 * d), late=np.repeat([False, True], d)
        )
        error = 4.0 * ROUND * (1.0 + self.largest_shape) * math.fsum((w[:, np.newaxis] * np.abs(logs)).ravel())
        terms = W * np.log(scale)
        # the constant's own rounding, and that of the logarithms
        size = 64.0 * ROUND * float(np.abs(terms).sum())
        return GammaFamily(data, self.n_components, self.largest_shape, math.fsum(terms), error + size)

    def _record_of_proof(self):
        """Name the largest shape."""
        return {"family": "gamma", "n_components": self.n_components, "largest_shape": self.largest_shape}


def shape_cost(shapes):
    """Compute ``log Gamma(a) - a log a + a`` of shapes without cancellation."""
    shapes = np.asarray(shapes, dtype=float)
    y = 1.0 / np.maximum(shapes, 16.0)
    z = y * y
    series = y * (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z / 1188))))
    small = np.minimum(shapes, 16.0)
    near = gammaln(small) - small * np.log(small) + small
    return np.where(shapes >= 16.0, 0.5 * np.log(2.0 * math.pi * y) + series, near)


def shape_of(spreads, most) -> FloatArray:
    """Compute the shapes with ``log a - psi(a)`` equal to spreads, at most `most`."""
    spreads = np.asarray(spreads, dtype=float)
    least = 0.5 / most
    v = np.maximum(spreads, least)
    a = np.clip((3.0 - v + np.sqrt(np.square(v - 3.0) + 24.0 * v)) / (12.0 * v), 0.5 / v, 1.0 / v)
    for _step in range(NEWTON_STEPS):
        change = (np.log(a) - digamma(a) - v) / (polygamma(1, a) - 1.0 / a)
        a = np.clip(a + change, 0.5 / v, 1.0 / v)
        if (np.abs(change) <= 1e-14 * a).all():
            break
    return np.where(spreads > least, np.minimum(a, most), most)
