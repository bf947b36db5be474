"""Generalised linear models of counts: densities, and weighted fits by Newton's method.

Theory: (JC3) of docs/theory/counts.md.
"""

import numpy as np
from scipy.special import expit, gammaln

from gopfast.mixtures.problems import log_gamma
from gopfast.mixtures.problems.tuning import (
    COUNT_GAIN as GAIN,
    COUNT_HALVINGS as HALVINGS,
    COUNT_SOLVED as SOLVED,
    COUNT_STEPS as STEPS,
    REGRESSION_RIDGE as RIDGE,
)
from gopfast.roundoff import ROUND


class CountRows:
    """
    Rows of a regression of counts.

    Parameters
    ----------
    family : {"poisson", "binomial"}
    design : ndarray, shape (n, q)
        Regressors, the constant among them.
    response, trials, offset : ndarray, shape (n,)
        Counts, trials (of Poisson counts 1, which nothing depends on) and what is added to linear predictors.
    least_count : float
        What counts of 0 are taken to be, and counts of all trials to be less.

    Attributes
    ----------
    counts : ndarray, shape (n,)
        The responses so.
    """

    def __init__(self, family, design, response, trials, offset, least_count):
        self.family, self.design, self.response, self.trials, self.offset = family, design, response, trials, offset
        self.least_count = least_count
        self.counts = np.maximum(response, least_count)
        if family == "binomial":
            self.counts = np.minimum(self.counts, trials - least_count)

    def of(self, rows):
        """Return some of them."""
        return CountRows(
            self.family, self.design[rows], self.response[rows], self.trials[rows], self.offset[rows], self.least_count
        )

    def repeated(self, times, design):
        """Return them so many times, one copy below the other, with another design."""
        arrays = (self.response, self.trials, self.offset)
        return CountRows(self.family, design, *(np.tile(array, times) for array in arrays), self.least_count)

    def is_at_end(self):
        """Return which counts (n,) are not the responses themselves."""
        return self.counts != self.response

    def saturated(self):
        """Return the linear predictors (n,) whose means are the counts."""
        return _link(self.family, self.counts, self.trials)

    def error_of_saturated(self):
        """Bound what rounding has moved `saturated` less the offsets by, in any row."""
        size = np.abs(self.saturated()) + np.abs(np.log(self.counts)) + np.abs(self.offset) + 1.0
        if self.family == "binomial":  # the difference of trials and counts is rounded, too
            size += np.abs(np.log(self.trials - self.counts)) + self.trials / (self.trials - self.counts)
        return float(8 * ROUND * size.max())

    def working_response(self):
        """Return linear predictors (n,) less offsets that half a count more would have: finite and moderate."""
        return _link(self.family, self.response + 0.5, self.trials + 1.0) - self.offset

    def cumulant(self, eta):
        """Return A (n, ...) at linear predictors."""
        trials = self.trials.reshape(-1, *[1] * (np.ndim(eta) - 1))
        with np.errstate(over="ignore"):
            return np.exp(eta) if self.family == "poisson" else trials * np.logaddexp(0.0, eta)

    def log_densities(self, eta):
        """Return log probabilities (n, K) of the counts at linear predictors (n, K)."""
        return self.counts[:, np.newaxis] * eta - self.cumulant(eta) - self._normalisers()[:, np.newaxis]

    def _normalisers(self):
        """Return minus the logarithm of what a probability has beside its exponential, (n,)."""
        factorial = gammaln(self.response + 1.0)
        if self.family == "poisson":
            return factorial
        return factorial + gammaln(self.trials - self.response + 1.0) - gammaln(self.trials + 1.0)

    def constants(self):
        """Return the costs (n,) at `saturated`, and the sums of the magnitudes of their terms."""
        y, n, best = self.counts, self.trials, self.saturated()
        value, size = log_gamma.poisson_cost(y, y)
        if self.family == "binomial":
            for count, sign in ((n - y, 1.0), (n, -1.0)):
                more, more_size = log_gamma.poisson_cost(count, count)
                value, size = value + sign * more, size + more_size
        cumulant = self.cumulant(best)
        value = np.where(self.is_at_end(), cumulant - y * best, value)
        return value, size + cumulant + np.abs(y * best)

    def fit(self, mass, share, start=None):
        """
        Return the coefficients (q,) of the least weighted deviance, by Newton's method with step halving.

        Parameters
        ----------
        mass : ndarray, shape (n,)
            Weights.
        share : ndarray, shape (n,)
            Of all samples, a little of which is added: coefficients are determined then.
        start : ndarray of shape (q,), optional
        """
        weight = mass + RIDGE * mass.sum() * share
        size = np.abs(self.design).max(axis=0)
        Z = self.design / size
        if start is None:
            root = np.sqrt(weight * self._precision())
            at = np.linalg.lstsq(root[:, np.newaxis] * Z, root * self.working_response(), rcond=None)[0]
        else:
            at = start * size
        value = self._loss(weight, Z, at)
        for _ in range(STEPS):
            eta = Z @ at + self.offset
            mean = np.exp(eta) if self.family == "poisson" else self.trials * expit(eta)
            spread = mean if self.family == "poisson" else mean * expit(-eta)
            gradient = Z.T @ (weight * (mean - self.counts))
            hessian = (Z * (weight * spread)[:, np.newaxis]).T @ Z
            try:
                step = -np.linalg.solve(hessian, gradient)
            except np.linalg.LinAlgError:
                step = -np.linalg.lstsq(hessian, gradient, rcond=None)[0]
            promised = float(gradient @ step)
            if not promised < -SOLVED * mass.sum():
                break
            for half in range(HALVINGS):
                trial = at + 0.5**half * step
                other = self._loss(weight, Z, trial)
                if other <= value + GAIN * 0.5**half * promised:
                    break
            else:
                break
            at, value = trial, other
        return at / size

    def _precision(self):
        """Return about the information (n,) of each count about its linear predictor."""
        more = self.response + 0.5
        return more if self.family == "poisson" else more * (1.0 - more / (self.trials + 1.0))

    def _loss(self, weight, Z, at):
        eta = Z @ at + self.offset
        return float(weight @ (self.cumulant(eta) - self.counts * eta))


def _link(family, counts, trials):
    """Return the linear predictor whose mean is the count."""
    return np.log(counts) if family == "poisson" else np.log(counts) - np.log(trials - counts)
