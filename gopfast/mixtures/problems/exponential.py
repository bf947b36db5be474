"""Mixtures of products of exponential distributions, for waiting times."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from gopfast import checks
from gopfast.annotations import PairPrior
from gopfast.errors import InputError
from gopfast.mixtures.problems import closed_form
from gopfast.mixtures.problems.base import log_zero
from gopfast.mixtures.problems.margins import LEAST_SUM
from gopfast.mixtures.problems.priors import GammaPrior
from gopfast.mixtures.problems.separable import RateMixture
from gopfast.mixtures.problems.tuning import LEAST, LEAST_DRAWN, MOST_DECADES


class ExponentialMixture(RateMixture):
    """
    Mixture of products of exponential distributions.

    The objective is the negative log-likelihood, or with a prior the negative log posterior density, with all
    constants::

        p(x_i | r_k) = prod_j r_kj exp(-r_kj x_ij),    r_kj ~ Gamma(shape, rate)

    `gopfast.models.MixtureProblem` has the attributes that are not listed here.

    Parameters
    ----------
    X : array_like, shape (n,) or (n, d)
        Data, at least 0; without a prior greater than 0 (at least 1e-300): on samples at exactly 0 a component's
        rate could grow without end, and with it the likelihood.
    n_components : int
        Number of components K, from 1 to n.
    prior : None or (float, float)
        None: maximum likelihood. (shape, rate): a Gamma prior of every rate, shape at least 1 (below 1 its
        density is unbounded) and rate positive, in units of X; the result is the maximum a posteriori estimate.
    sample_weight : array_like of shape (n,), optional
        Weights w_i of the samples, at least 0 and not all 0; 1 by default.

    Attributes
    ----------
    X : ndarray, shape (n, d)
        Read-only.
    parameter_names : tuple of str
        "rates" (K, d), one over the means, at least 0. A rate of 0 stands for a density that is 0 everywhere;
        with a prior of shape 1 it is the best that an unused component can have.

    Raises
    ------
    InputError
        A `ValueError` naming the argument with a bad value, such as times below 0, or at 0 without a prior;
        `InputTypeError` if it is of a wrong kind.

    Examples
    --------
    >>> from gopfast.models import ExponentialMixture
    >>> ExponentialMixture([0.1, 0.2, 3.0, 5.5], 2)
    ExponentialMixture(n_samples=4, n_features=1, n_components=2, prior=None)
    """

    def __init__(
        self, X: ArrayLike, n_components: int, *, prior: PairPrior = None, sample_weight: ArrayLike | None = None
    ) -> None:
        columns, X = checks.column_names(X), checks.at_least("X", checks.data_matrix("X", X), 0.0)
        self._store(X, n_components, sample_weight, prior=GammaPrior.checked(prior), columns=columns)
        least = self.X[self.sample_weight > 0.0].min(axis=0)
        tiny = np.flatnonzero(least < LEAST)
        if self.prior is None and tiny.size:
            raise InputError(
                f"X must be at least {LEAST:g} without a prior, but column {tiny[0]} has {least[tiny[0]]:g}: a "
                "component on samples at 0 has an unbounded likelihood; give prior=(shape, rate)"
            )
        with np.errstate(over="ignore"):
            if not np.isfinite((self.sample_weight @ self.X).sum()):
                raise InputError("X is too large: the sum of sample_weight * X overflows")

    _name_in_proofs = "exponential"

    def _least_drawn(self, largest):
        return LEAST_DRAWN * largest  # waiting times are positive

    def _log_kernel(self, parameters):
        rates = parameters["rates"]
        return log_zero(rates).sum(axis=1) - self.X @ rates.T

    def _draw(self, rng, components, parameters):
        rates = parameters["rates"][components]
        if (rates == 0.0).any():
            raise InputError("a component with a rate of 0 has no samples: its times are infinite")
        return rng.exponential(1.0 / rates)

    def _rate_statistics(self, mass):
        """Return the masses and the times."""
        shape, rate = self.prior or (1.0, 0.0)
        return mass.sum(axis=0)[:, np.newaxis] + (shape - 1.0), mass.T @ self.X + rate

    def _log_rates(self, means):
        """Return the logarithms of one over the means."""
        return -np.log(means)

    def _closed_form(self, X, w):
        """Match the mean."""
        shape, rate = self.prior or (1.0, 0.0)
        times, size = closed_form.totals(w[:, np.newaxis] * X) + rate, math.fsum(w) + (shape - 1.0)
        if not times.min() > LEAST_SUM:
            return None
        d = self.n_features
        terms, sizes = [size * d, *(size * np.log(times / size))], []
        if self.prior is not None:
            terms += [d * term for term in self._gamma_prior.normaliser_terms]
            sizes = [d]
        return closed_form.settled({"rates": (size / times)[np.newaxis]}, terms, sizes)

    def _ceiling(self):
        """
        ``r exp(-r x) <= 1 / (e x)``; with a prior ``r exp(-r x) <= r``, r the largest rate of a column.

        The prior density of the largest rate is then multiplied by W of these factors, that of the others is at most
        its mode.
        """
        W, K, d = self.total_weight, self.n_components, self.n_features
        if self.prior is None:
            used = self.sample_weight > 0.0
            w = self.sample_weight[used, np.newaxis]
            logs = w * np.log(self.X[used])
            return [W * d, math.fsum(logs.ravel())], math.fsum(np.abs(logs).ravel())
        (shape, rate), law = self.prior, self._gamma_prior
        more = shape + W - 1.0
        largest = [more, -float(xlogy(more, more / rate)), *law.normaliser_terms]
        others, size = law.least_cost()
        terms = [d * term for term in largest] + [(K - 1) * d * term for term in others]
        return terms, d * (1.0 + (K - 1) * size)

    def _family(self):
        """Take waiting times in units near their average, powers of 2: nothing is rounded."""
        from gopfast.mixtures.families.columns import family, merged  # compiled, as problems are not

        X, w, K, d = self.X, self.sample_weight, self.n_components, self.n_features
        shape, rate = self.prior or (1.0, 0.0)
        W = math.fsum(w)
        average = np.array([math.fsum(column * w / W) for column in X.T])
        scale = 2.0 ** np.floor(np.log2(np.where(average > 0.0, average, 1.0)))
        for j, column in enumerate((X / scale)[w > 0.0].T):
            least = column[column > 0.0].min(initial=1.0)
            if max(column.max(initial=1.0), 1.0 / least, rate / scale[j]) > 10.0**MOST_DECADES:
                raise InputError(f"X spans more than {MOST_DECADES} decades in column {j}")
        constants = [(term, abs(term)) for term in (W + K * (shape - 1.0)) * np.log(scale)]
        return family(
            self, *merged(X, w), ["exponential"] * d, [shape - 1.0] * d, rate / scale, scale=scale,
            constants=constants + self._prior_constants(), decode=_inverse, encode=_inverse,
        )  # fmt: skip


def _inverse(values):
    with np.errstate(divide="ignore"):
        return 1.0 / np.asarray(values, dtype=float)
