"""Mixtures of products of Poisson distributions, for counts."""

import math

import numpy as np
from numpy.typing import ArrayLike

from gopfast import checks
from gopfast.annotations import PairPrior
from gopfast.errors import InputError
from gopfast.mixtures.problems import closed_form, log_gamma
from gopfast.mixtures.problems.margins import ERROR
from gopfast.mixtures.problems.priors import GammaPrior
from gopfast.mixtures.problems.separable import RateMixture


class PoissonMixture(RateMixture):
    """
    Mixture of products of Poisson distributions.

    Attributes that are not listed here are those of `gopfast.models.MixtureProblem`.

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
        A `ValueError` naming the argument with a bad value, such as counts that are not whole; `InputTypeError` if it
        is of a wrong kind.

    Examples
    --------
    >>> from gopfast.models import PoissonMixture
    >>> PoissonMixture([0, 2, 11, 9], 2)
    PoissonMixture(n_samples=4, n_features=1, n_components=2, prior=None)
    """

    def __init__(
        self, X: ArrayLike, n_components: int, *, prior: PairPrior = None, sample_weight: ArrayLike | None = None
    ) -> None:
        columns, X = checks.column_names(X), checks.at_least("X", checks.data_matrix("X", X), 0.0)
        broken = X[X != np.floor(X)]
        if broken.size:
            raise InputError(f"X must hold counts, whole numbers of at least 0; got {broken[0]:g}")
        # Beyond this, neighbouring counts are the same float.
        checks.at_least("X", X, 0.0, 2.0**53)
        self._store(X, n_components, sample_weight, prior=GammaPrior.checked(prior), columns=columns)

    _name_in_proofs = "poisson"
    _counts = True

    def _log_kernel(self, parameters):
        return np.stack([-log_gamma.poisson_cost(self.X, r)[0].sum(axis=1) for r in parameters["rates"]], axis=1)

    def _draw(self, rng, components, parameters):
        return rng.poisson(parameters["rates"][components]).astype(float)

    def _rate_statistics(self, mass):
        """Return the counts and the masses."""
        shape, rate = self.prior or (1.0, 0.0)
        return mass.T @ self.X + (shape - 1.0), mass.sum(axis=0)[:, np.newaxis] + rate

    def _log_rates(self, means):
        """Return the logarithms of the means."""
        return np.log(means)

    def _closed_form(self, X, w):
        """Match the mean."""
        shape, rate = self.prior or (1.0, 0.0)
        counts, size = closed_form.totals(w[:, np.newaxis] * X) + (shape - 1.0), math.fsum(w) + rate
        rates = counts / size
        parts = log_gamma.poisson_cost(X, rates)
        terms, sizes = (list(closed_form.totals(w[:, np.newaxis] * part)) for part in parts)
        if self.prior is not None:
            constants = np.array([self._gamma_prior.cost_at(at) for at in rates])
            terms, sizes = [*terms, *constants[:, 0]], [*sizes, *constants[:, 1]]
        # The terms are those at the rounded rates: these miss the optimum by size * (m - m* - m* log(m / m*)).
        sizes.append(ERROR * counts.sum())
        return closed_form.settled({"rates": rates[np.newaxis]}, terms, sizes)

    def _family(self):
        """
        Take counts as they are; costs are relative to those at the average rate, which makes large counts' small.

        The constant is then the cost of the samples, and of the prior, at that rate.
        """
        from gopfast.mixtures.families.columns import family, merged  # compiled, as problems are not

        K, d = self.n_components, self.n_features
        X, w = merged(self.X, self.sample_weight)
        shape, rate = self.prior or (1.0, 0.0)
        W, T = math.fsum(w), np.array([math.fsum(column * w) for column in X.T])
        average = (T + K * (shape - 1.0)) / (W + K * rate)
        reference = np.where(average > 0.0, average, 1.0)
        parts = log_gamma.poisson_cost(X, reference)
        constants = [tuple(math.fsum((w[:, np.newaxis] * part).ravel()) for part in parts)]
        if self.prior is not None:
            pairs = [self._gamma_prior.cost_at(at) for at in reference]
            constants += [(K * value, K * size) for value, size in pairs]
        return family(
            self, X, w, ["poisson"] * d, [rate] * d, [shape - 1.0] * d,
            constants=constants, reference=reference, decode=np.array, encode=np.array,
        )  # fmt: skip
