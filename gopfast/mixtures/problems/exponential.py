"""Mixtures of products of exponential distributions, for waiting times."""

import numpy as np
from numpy.typing import ArrayLike

from gopfast import checks
from gopfast.errors import InputError
from gopfast.mixtures.problems.base import MixtureProblem, log_zero
from gopfast.mixtures.problems.gamma import check_gamma_prior, gamma_cost, gamma_cost_size

# One over a smaller number is out of range.
LEAST = 1e-300


class ExponentialMixture(MixtureProblem):
    """
    Mixture of products of exponential distributions.

    The objective is the negative log-likelihood, or with a prior the negative log posterior density, with all
    constants::

        p(x_i | r_k) = prod_j r_kj exp(-r_kj x_ij),    r_kj ~ Gamma(shape, rate)

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
        A `ValueError` naming the argument with a bad value; `InputTypeError` if it is of a wrong kind.

    Notes
    -----
    See `gopfast.models.MixtureProblem` for the other attributes.

    Examples
    --------
    >>> from gopfast.models import ExponentialMixture
    >>> ExponentialMixture([0.1, 0.2, 3.0, 5.5], 2)
    ExponentialMixture(n_samples=4, n_features=1, n_components=2, prior=None)
    """

    parameter_names = ("rates",)
    prior: tuple[float, float] | None

    def __init__(
        self,
        X: ArrayLike,
        n_components: int,
        *,
        prior: tuple[float, float] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        X = checks.at_least("X", checks.data_matrix("X", X), 0.0)
        self._store(X, n_components, sample_weight, prior=check_gamma_prior(prior))
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

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 weights and K d rates."""
        return self.n_components * (1 + self.n_features) - 1

    def _check_values(self, rates):
        return (checks.at_least("rates", self._check_rows("rates", rates), 0.0),)

    def _log_kernel(self, parameters):
        rates = parameters["rates"]
        return log_zero(rates).sum(axis=1) - self.X @ rates.T

    def _penalty(self, parameters):
        return gamma_cost(self.prior, parameters["rates"])

    def _penalty_size(self, parameters):
        return gamma_cost_size(self.prior, parameters["rates"])

    def _m_step(self, mass, weights, former):
        shape, rate = self.prior or (1.0, 0.0)
        return {"rates": (mass.sum(axis=0)[:, np.newaxis] + (shape - 1.0)) / (mass.T @ self.X + rate)}
