"""What mixtures of products of one-parameter distributions have in common: counts, times, binary data and labels."""

import numpy as np

from gopfast import checks
from gopfast.annotations import PairPrior
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.problems.priors import GammaPrior


class SeparableMixture(MixtureProblem):
    """
    Base of the mixtures of products of one-parameter distributions, one for each column, with a conjugate prior.

    The one parameter is an array, or a tuple of arrays; `_prior_draws` has a prior for each of them.
    """

    _formula_keeps_digits = True

    @property
    def _prior_draws(self) -> list:
        """The prior of each array of the parameter and how many draws from it that has; empty without a prior."""
        raise NotImplementedError

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 weights, and one for each component and column."""
        return self.n_components * (1 + self.n_features) - 1

    def _rows_like(self, X):
        """Check that they are such data, of as many columns."""
        other = type(self)(X, 1, prior=self.prior)
        return checks.of_columns("X", other.X, self.n_features)

    def _record_of_proof(self):
        """Name the distribution of every column and the prior."""
        prior = None if self.prior is None else list(self.prior)
        return {"family": self._name_in_proofs, "n_components": self.n_components, "prior": prior}

    def _penalty(self, parameters):
        return sum((law.cost(array) for law, array in self._priors_of(parameters)), 0.0)

    def _penalty_size(self, parameters):
        return sum((law.cost_size(array) for law, array in self._priors_of(parameters)), 0.0)

    def _priors_of(self, parameters):
        """Pairs of a prior and the array that is drawn from it."""
        value = parameters[self.parameter_names[0]]
        arrays = value if isinstance(value, tuple) else (value,)
        return [(law, array) for (law, _), array in zip(self._prior_draws, arrays, strict=False)]

    def _prior_constants(self):
        """Normalisers of all draws: pairs of a value and its size."""
        pairs = [(law.normaliser, number) for law, number in self._prior_draws]
        return [(number * value, number * size) for (value, size), number in pairs]

    def _ceiling(self):
        """Take probabilities of 1, and the mode of the prior."""
        terms, total = [0.0], 0.0
        for law, number in self._prior_draws:
            least, size = law.least_cost()
            terms += [number * term for term in least]
            total += number * size
        return terms, total


class RateMixture(SeparableMixture):
    """
    Base of the mixtures of rates with a Gamma prior.

    A component's rates are events over exposure: counts over samples, or samples over times.
    """

    parameter_names = ("rates",)
    prior: PairPrior

    @property
    def _gamma_prior(self) -> GammaPrior | None:
        """The prior of every rate."""
        return None if self.prior is None else GammaPrior(*self.prior)

    @property
    def _prior_draws(self) -> list:
        """The Gamma prior of all rates."""
        return [] if self.prior is None else [(self._gamma_prior, self.n_components * self.n_features)]

    _most_columns_drawn = 1

    def _column_log_densities(self, column, values, rates):
        single = type(self)(values, 1)
        return np.stack([single.log_densities(rates=[[rate]])[:, 0] for rate in rates[:, column]])

    def _check_values(self, rates):
        return (checks.at_least("rates", self._check_rows("rates", rates), 0.0),)

    def _rate_statistics(self, mass):
        """Return events and exposure of each component, (K, d) or (K, 1), the prior's own added."""
        raise NotImplementedError

    def _log_rates(self, means):
        """Return the logarithms of the rates of given means of the data."""
        raise NotImplementedError

    def _m_step(self, mass, weights, former):
        events, exposure = self._rate_statistics(mass)
        return {"rates": events / exposure}

    def _coordinates(self, blocks):
        """Take the logarithms of the rates."""
        mean = self.sample_weight @ self.X / self.total_weight
        return {"rates": blocks.Rates(self, self._log_rates(np.where(mean > 0.0, mean, 1.0)))}
