"""Mixtures of products of Poisson distributions, for counts."""

import numpy as np
from numpy.typing import ArrayLike

from gopfast import checks
from gopfast.errors import InputError
from gopfast.mixtures.problems import log_gamma
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.problems.gamma import check_gamma_prior, gamma_cost, gamma_cost_size


class PoissonMixture(MixtureProblem):
    """
    Mixture of products of Poisson distributions.

    The objective is the negative log-likelihood, or with a prior the negative log posterior density, with all
    constants::

        p(x_i | r_k) = prod_j r_kj^x_ij exp(-r_kj) / x_ij!,    r_kj ~ Gamma(shape, rate)

    Parameters
    ----------
    X : array_like, shape (n,) or (n, d)
        Counts: whole numbers of at least 0, as integers or floats.
    n_components : int
        Number of components K, from 1 to n.
    prior : None or (float, float)
        None: maximum likelihood. (shape, rate): a Gamma prior of every rate, shape at least 1 (below 1 its
        density is unbounded) and rate positive; the result is the maximum a posteriori estimate.
    sample_weight : array_like of shape (n,), optional
        Weights w_i of the samples, at least 0 and not all 0; 1 by default.

    Attributes
    ----------
    X : ndarray, shape (n, d)
        Read-only counts.
    parameter_names : tuple of str
        "rates" (K, d), the means, at least 0; a rate of 0 gives the count 0 the probability 1.

    Raises
    ------
    InputError
        A `ValueError` naming the argument with a bad value; `InputTypeError` if it is of a wrong kind.

    Notes
    -----
    See `gopfast.models.MixtureProblem` for the other attributes.

    Examples
    --------
    >>> from gopfast.models import PoissonMixture
    >>> PoissonMixture([0, 2, 11, 9], 2)
    PoissonMixture(n_samples=4, n_features=1, n_components=2, prior=None)
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
        broken = X[X != np.floor(X)]
        if broken.size:
            raise InputError(f"X must hold counts, whole numbers of at least 0; got {broken[0]:g}")
        # Beyond this, neighbouring counts are the same float.
        checks.at_least("X", X, 0.0, 2.0**53)
        self._store(X, n_components, sample_weight, prior=check_gamma_prior(prior))

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 weights and K d rates."""
        return self.n_components * (1 + self.n_features) - 1

    def _check_values(self, rates):
        return (checks.at_least("rates", self._check_rows("rates", rates), 0.0),)

    def _log_kernel(self, parameters):
        return np.stack([-log_gamma.poisson_cost(self.X, r)[0].sum(axis=1) for r in parameters["rates"]], axis=1)

    def _penalty(self, parameters):
        return gamma_cost(self.prior, parameters["rates"])

    def _penalty_size(self, parameters):
        return gamma_cost_size(self.prior, parameters["rates"])

    def _m_step(self, mass, weights, former):
        shape, rate = self.prior or (1.0, 0.0)
        return {"rates": (mass.T @ self.X + (shape - 1.0)) / (mass.sum(axis=0)[:, np.newaxis] + rate)}
