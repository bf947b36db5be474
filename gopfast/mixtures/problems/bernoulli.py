"""Mixtures of products of Bernoulli distributions, for binary data."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlog1py, xlogy

from gopfast import checks
from gopfast.annotations import PairPrior
from gopfast.errors import InputError
from gopfast.mixtures.problems import closed_form
from gopfast.mixtures.problems.margins import MOST
from gopfast.mixtures.problems.priors import BetaPrior
from gopfast.mixtures.problems.separable import SeparableMixture


class BernoulliMixture(SeparableMixture):
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
        A `ValueError` naming the argument with a bad value, such as data other than zeros and ones; `InputTypeError`
        if it is of a wrong kind.

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
    prior: PairPrior
    _name_in_proofs = "bernoulli"
    _flat_priors = (None, (1.0, 1.0))

    def __init__(
        self, X: ArrayLike, n_components: int, *, prior: PairPrior = None, sample_weight: ArrayLike | None = None
    ) -> None:
        columns, X = checks.column_names(X), checks.data_matrix("X", X, booleans=True)
        other = X[(X != 0.0) & (X != 1.0)]
        if other.size:
            raise InputError(f"X must hold zeros and ones only; got {other[0]:g}")
        self._store(X, n_components, sample_weight, prior=BetaPrior.checked(prior), columns=columns)

    @property
    def _prior_draws(self) -> list:
        """The Beta prior of all probabilities."""
        return [] if self.prior is None else [(BetaPrior(*self.prior), self.n_components * self.n_features)]

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

    def _draw(self, rng, components, parameters):
        return (rng.random((len(components), self.n_features)) < parameters["probabilities"][components]).astype(float)

    def _m_step(self, mass, weights, former):
        ones, zeros = self._binary_statistics(mass)
        return {"probabilities": ones / (ones + zeros)}

    def _binary_statistics(self, mass):
        """Return the masses of ones and of zeros of each component, (K, d), the prior's own added."""
        a, b = self.prior or (1.0, 1.0)
        # Summed apart, so that a column of ones gives exactly 1.
        return mass.T @ self.X + (a - 1.0), mass.T @ (1.0 - self.X) + (b - 1.0)

    def _coordinates(self, blocks):
        """Take the logits."""
        return {"probabilities": blocks.Probabilities(self)}

    def _inside(self, probabilities, most):
        return np.minimum(probabilities, most) if (probabilities == 1.0).any() else probabilities

    def _closed_form(self, X, w):
        """Match the mean."""
        a, b = self.prior or (1.0, 1.0)
        ones = closed_form.totals(w[:, np.newaxis] * X) + (a - 1.0)
        zeros = closed_form.totals(w[:, np.newaxis] * (1.0 - X)) + (b - 1.0)
        constants, sizes = ([pair[i] for pair in self._prior_constants()] for i in range(2))
        # 1 where no zero allows it is impossible, and near 1 the floats are far apart as seen by a zero.
        p = ones / (ones + zeros)
        p = np.where((zeros > 0.0) & (p > MOST), MOST, p)
        terms = [*closed_form.shares(ones, zeros), *closed_form.shares(zeros, ones), *constants]
        found = closed_form.settled({"probabilities": p[np.newaxis]}, terms, sizes)
        return closed_form.at_floats(found, [*-xlogy(ones, p), *-xlog1py(zeros, -p), *constants], sizes)

    def _family(self):
        """Take zeros and ones as they are."""
        from gopfast.mixtures.families.columns import family, merged  # compiled, as problems are not

        d, (a, b) = self.n_features, self.prior or (1.0, 1.0)
        return family(
            self, *merged(self.X, self.sample_weight), ["bernoulli"] * d, [(a - 1.0) + (b - 1.0)] * d,
            [a - 1.0] * d, constants=self._prior_constants(), decode=np.array, encode=np.array,
        )  # fmt: skip
