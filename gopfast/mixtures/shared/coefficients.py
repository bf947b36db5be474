"""
What the optimum with a fixed coefficient says of all values between two of them.

F(u) is the optimum of the mixture in which the coefficient that all components share is u. Between a and b, at
u = (1 - s) a + s b,

    F(u) >= (1 - s) F(a) + s F(b) - loss(V),    V = s (1 - s) (b - a)^2,

where the loss is concave in V: with normal errors at most so much for what residuals change by, with counts by the
curvature of their costs.

Theory: (JS1), (JS2), (JS3) and (JS5) of docs/theory/shared_coefficients.md.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gopfast.mixtures.families.axes import rational
from gopfast.mixtures.families.design import hull
from gopfast.mixtures.shared.margins import COEFFICIENT_SLACK as SLACK, SUM
from gopfast.mixtures.shared.tuning import FLATTEST, N_BISECTIONS
from gopfast.roundoff import ROUND


class Between(NamedTuple):
    """
    A lower bound of F between two values of the coefficient, and the share s of the way where it is attained.

    The slope is that of the loss's tangent that it is by; infinite where there is no bound.
    """

    bound: float
    share: float
    slope: float = math.inf


class Loss(NamedTuple):
    """
    What F may lack between two values: the lesser one of quadratic V and linear V / (b - a).

    Beyond `saturation` it grows by its logarithm only.

    Attributes
    ----------
    quadratic : float
        Nats per squared unit of the coefficient.
    linear : float
        Nats per unit of the coefficient; infinite where there is no such bound.
    saturation : float
        Nats; infinite where there is none.
    """

    quadratic: float
    linear: float = math.inf
    saturation: float = math.inf

    @classmethod
    def of(cls, problem):
        """Return that of a problem, rounded up."""
        Z, at = problem._design(), problem._shared_at
        used = problem.sample_weight > 0.0
        w, x, own = weights_of_loss(problem)[used], Z[used, at], np.delete(Z[used], at, axis=1)
        left, error = left_of(x, own, w)
        if problem.family == "normal":
            least = problem.variance_floor if problem.noise_variance is None else problem.noise_variance
            left = np.abs(left) + error
            saturation = math.inf if problem.noise_variance is not None else 0.5 * math.fsum(w) * (1.0 + SLACK)
            return cls(_up(0.5 * math.fsum(w * left * left) / least), saturation=saturation)
        counts = problem._rows.counts[used]
        if problem.family == "poisson":
            total = math.fsum(w * counts)
            spread = float((left + error).max() - (left - error).min())
            return cls(_up(0.125 * total * spread * spread), _up(2.0 * total * spread))
        left = np.abs(left) + error
        return cls(_up(0.125 * math.fsum(w * left * left)), _up(2.0 * math.fsum(w * left)))

    def between(self, a, b, lower_a, lower_b):
        """
        Return what holds between two values at which F is at least so much, rounded down.

        Parameters
        ----------
        a, b : float
            Two values, a < b.
        lower_a, lower_b : float
            Lower bounds of F there.

        Returns
        -------
        Between
        """
        if not min(lower_a, lower_b) > -math.inf:
            return Between(-math.inf, 0.5)
        width = (b - a) * (1.0 + 4 * ROUND)
        slope = steepest = self.steepest(width)
        if self._slope_at(slope, steepest, width, lower_a, lower_b) < slope:
            # the slope of a tangent that touches where the bound is least: any slope holds
            low, high = FLATTEST, 1.0  # as parts of the steepest
            for _ in range(N_BISECTIONS):
                middle = math.sqrt(low * high)
                other = self._slope_at(middle * steepest, steepest, width, lower_a, lower_b)
                low, high = (middle, high) if other > middle * steepest else (low, middle)
            slope = high * steepest
        return self._at(slope, steepest, width, lower_a, lower_b)

    def steepest(self, width):
        """Return the slope of the loss at 0, rounded up, between two values so far apart."""
        steepest = self.quadratic if self.linear == math.inf else min(self.quadratic, self.linear / width)
        return steepest * (1.0 + 4 * ROUND)

    def _at(self, slope, steepest, width, lower_a, lower_b):
        """Return the bound by a tangent of the loss with this slope, from 0 on up to the steepest."""
        rise, spread = lower_b - lower_a, slope * width * width
        if abs(rise) >= spread:
            base, share = min(lower_a, lower_b), 0.0 if rise > 0.0 else 1.0
        else:
            base = 0.5 * (lower_a + lower_b) - 0.25 * spread - 0.25 * rise * (rise / spread)
            share = 0.5 - 0.5 * rise / spread
        beyond = 0.0 if slope == steepest else self.saturation * math.log(steepest / slope)
        size = abs(lower_a) + abs(lower_b) + spread + beyond
        return Between(base - beyond - SUM * size, share, slope)

    def _slope_at(self, slope, steepest, width, lower_a, lower_b):
        """Return the slope of the loss where the bound by a slope is least."""
        share = self._at(slope, steepest, width, lower_a, lower_b).share
        spread = share * (1.0 - share) * width * width
        return steepest if steepest * spread <= self.saturation else self.saturation / spread


def weights_of_loss(problem):
    """Return the weights (n,) of the rows in what F may lack: of binomial counts those of their trials."""
    return problem._row_weight * (problem.trials if problem.family == "binomial" else 1.0)


def left_of(x, own, weights):
    """
    Return what a regression on the components' own columns leaves of the shared regressor, (m,), and bounds of errors.

    Any coefficients would do: those that are used are exact as they are.
    """
    size = np.abs(own).max(axis=0)
    size[size == 0.0] = 1.0  # of rows that are some of all
    root = np.sqrt(weights)
    fitted = np.linalg.lstsq(root[:, np.newaxis] * (own / size), root * x, rcond=None)[0]
    left = x - (own / size) @ fitted
    return left, (own.shape[1] + 8) * ROUND * (np.abs(x) + np.abs(own / size) @ np.abs(fitted))


def _up(value):
    return float(value) * (1.0 + SLACK)


def least_and_most(problem):
    """
    Return numbers between which the shared coefficient of some optimal mixture lies (JS1).

    Parameters
    ----------
    problem : RegressionMixture

    Raises
    ------
    InputError
        Where there are too many sets of rows to bound it.
    """
    used, at = problem.sample_weight > 0.0, problem._shared_at
    rows = problem._design()[used]
    unique, of = np.unique(rows, axis=0, return_inverse=True)
    exact = rational(unique)
    if problem.fit_intercept and at < problem._n_regressors:
        # which no slope depends on
        middle = [Fraction(float(x)) for x in 0.5 * unique.min(axis=0) + 0.5 * unique.max(axis=0)]
        middle[-1] = Fraction(0)
        exact = [[x - c for x, c in zip(row, middle, strict=True)] for row in exact]
    z = np.array([[float(x) for x in row] for row in exact])
    if problem.family == "normal":
        response, away = problem.response[used], 0.0
    else:
        counts = problem._rows.of(used)
        response, away = counts.saturated() - counts.offset, counts.error_of_saturated()
    low, high = np.full(len(unique), np.inf), np.full(len(unique), -np.inf)
    np.minimum.at(low, of.ravel(), response)
    np.maximum.at(high, of.ravel(), response)
    box = hull(z, exact, low - 2 * ROUND * np.abs(low) - away, high + 2 * ROUND * np.abs(high) + away)
    return float(box[0][at]), float(box[1][at])


def rounding_loss(problem, value, lower):
    """
    Bound what the rounded data of the mixture of a fixed coefficient have more than F.

    Parameters
    ----------
    problem : RegressionMixture
    value : float
        Of the coefficient.
    lower : float
        Lower bound of the optimum with the rounded data.

    Returns
    -------
    float
        F is at least `lower` less this.
    """
    part = np.abs(value * problem._design()[:, problem._shared_at])
    w = problem._row_weight
    if problem.family == "normal":
        off = 2.0 * ROUND * (np.abs(problem.response) + 2.0 * part)
        distance, total = math.sqrt(math.fsum(w * off * off)) * (1.0 + SLACK), math.fsum(w)
        if problem.noise_variance is None:
            return distance * math.sqrt(total / problem.variance_floor) * (1.0 + SLACK)
        v = problem.noise_variance
        beyond = max(0.0, lower - 0.5 * total * math.log(2.0 * math.pi * v) + SLACK * total * (2.0 + abs(math.log(v))))
        return (distance * math.sqrt(2.0 * beyond / v) + 0.5 * distance * distance / v) * (1.0 + SLACK)
    off = 2.0 * ROUND * (np.abs(problem.offsets) + 2.0 * part)
    if problem.family == "binomial":
        return math.fsum(w * problem.trials * off) * (1.0 + SLACK)
    most = float(off.max())
    return math.inf if most > 0.5 else 3.0 * most * math.fsum(w * problem._rows.counts)
