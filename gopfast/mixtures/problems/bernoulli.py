"""Mixtures of products of Bernoulli distributions, for binary data."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlog1py, xlogy

from gopfast import checks
from gopfast.errors import InputError
from gopfast.mixtures.problems import log_gamma
from gopfast.mixtures.problems.base import MixtureProblem


class BernoulliMixture(MixtureProblem):
    """
    Mixture of products of Bernoulli distributions (latent class model of binary data).

    The objective is the negative log-likelihood, or with a prior the negative log posterior density, with all
    constants::

        p(x_i | p_k) = prod_j p_kj^x_ij (1 - p_kj)^(1 - x_ij),    p_kj ~ Beta(a, b)

    Parameters
    ----------
    X : array_like, shape (n,) or (n, d)
        Data: booleans, or numbers 0 and 1.
    n_components : int
        Number of components K, from 1 to n.
    prior : None or (float, float)
        None: maximum likelihood. (a, b): a Beta prior of every probability, a and b at least 1 (below 1 its
        density is unbounded); the result is the maximum a posteriori estimate.
    sample_weight : array_like of shape (n,), optional
        Weights w_i of the samples, at least 0 and not all 0; 1 by default.

    Attributes
    ----------
    X : ndarray, shape (n, d)
        Read-only, zeros and ones.
    parameter_names : tuple of str
        "probabilities" (K, d), from 0 to 1; both ends are allowed, with ``0 log 0 = 0``.

    Raises
    ------
    InputError
        A `ValueError` naming the argument with a bad value; `InputTypeError` if it is of a wrong kind.

    Notes
    -----
    See `gopfast.models.MixtureProblem` for the other attributes. With few columns (fewer than ``2 K - 1``) the
    parameters need not be unique even up to the components' order: Allman, Matias & Rhodes, "Identifiability of
    parameters in latent structure models with many observed variables" (2009).

    Examples
    --------
    >>> from gopfast.models import BernoulliMixture
    >>> BernoulliMixture([[0, 1], [1, 1], [0, 0]], 2)
    BernoulliMixture(n_samples=3, n_features=2, n_components=2, prior=None)
    """

    parameter_names = ("probabilities",)
    prior: tuple[float, float] | None
    _flat_priors = (None, (1.0, 1.0))

    def __init__(
        self,
        X: ArrayLike,
        n_components: int,
        *,
        prior: tuple[float, float] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        X = checks.data_matrix("X", X, booleans=True)
        other = X[(X != 0.0) & (X != 1.0)]
        if other.size:
            raise InputError(f"X must hold zeros and ones only; got {other[0]:g}")
        if prior is not None:
            prior = tuple(
                checks.number_of_at_least_one(f"prior[{i}]", number)
                for i, number in enumerate(checks.pair("prior", prior, "(a, b) of a Beta density"))
            )
        self._store(X, n_components, sample_weight, prior=prior)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 weights and K d probabilities."""
        return self.n_components * (1 + self.n_features) - 1

    @property
    def _n_columns_to_identify(self):
        return 2 * self.n_components - 1

    def _check_values(self, probabilities):
        array = self._check_rows("probabilities", probabilities)
        return (checks.at_least("probabilities", array, 0.0, 1.0),)

    def _log_kernel(self, parameters):
        return np.stack(
            [(xlogy(self.X, p) + xlog1py(1.0 - self.X, -p)).sum(axis=1) for p in parameters["probabilities"]], axis=1
        )

    def _penalty(self, parameters):
        if self.prior is None:
            return 0.0
        (a, b), p = self.prior, parameters["probabilities"]
        constant, _ = log_gamma.log_beta(a, b)
        return float(constant * p.size - (xlogy(a - 1.0, p) + xlog1py(b - 1.0, -p)).sum())

    def _penalty_size(self, parameters):
        if self.prior is None:
            return 0.0
        (a, b), p = self.prior, parameters["probabilities"]
        _, size = log_gamma.log_beta(a, b)
        return float(size * p.size + (abs(xlogy(a - 1.0, p)) + abs(xlog1py(b - 1.0, -p))).sum())

    def _m_step(self, mass, weights, former):
        a, b = self.prior or (1.0, 1.0)
        ones = mass.T @ self.X + (a - 1.0)
        # Summed apart, so that a column of ones gives exactly 1.
        zeros = mass.T @ (1.0 - self.X) + (b - 1.0)
        return {"probabilities": ones / (ones + zeros)}
