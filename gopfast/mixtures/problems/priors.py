"""
Conjugate priors of the parameters of counts, times and labels: what one draw costs, and at least.

A prior's normaliser is put together without cancellation, see `log_gamma`; a size bounds the error of a value by 16 u
times itself.
"""

import math

import numpy as np
from scipy.special import xlog1py, xlogy

from gopfast import checks
from gopfast.mixtures.problems import log_gamma


class GammaPrior:
    """
    Gamma prior of rates.

    Parameters
    ----------
    shape : float
        At least 1: below, the density is unbounded at rate 0.
    rate : float
        Positive, in units of the data.
    """

    def __init__(self, shape, rate):
        self.shape, self.rate = shape, rate

    @staticmethod
    def checked(prior):
        """Turn None or a pair (shape, rate) into None or a tuple of floats; `InputError` for others."""
        if prior is None:
            return None
        shape, rate = checks.pair("prior", prior, "(shape, rate) of a Gamma density")
        return checks.number_of_at_least_one("prior[0]", shape), checks.positive_number("prior[1]", rate)

    @property
    def normaliser_terms(self) -> list[float]:
        """Terms of ``log Gamma(shape) - shape log(rate)``."""
        return [math.lgamma(self.shape), -self.shape * math.log(self.rate)]

    @property
    def normaliser(self) -> tuple[float, float]:
        """Negative logarithm of the density's constant factor, and its size."""
        terms = self.normaliser_terms
        return math.fsum(terms), math.fsum(map(abs, terms)) + 1.0

    def _terms(self, rates):
        rates = rates.ravel()
        constants = [rates.size * term for term in self.normaliser_terms]
        return [*constants, *(self.rate * rates), *-xlogy(self.shape - 1.0, rates)]

    def cost(self, rates):
        """Return the negative log density of all rates, in nats; infinite where it is 0."""
        return math.fsum(self._terms(rates))

    def cost_size(self, rates):
        """Return the sum of the magnitudes of the terms of `cost`."""
        return math.fsum(map(abs, self._terms(rates)))

    def cost_at(self, rate):
        """Return the negative log density of a positive rate without cancellation, and its size."""
        return log_gamma.gamma_prior(self.shape, self.rate, rate)

    def least_cost(self):
        """Return the terms of the cost of the mode, (shape - 1) / rate, and their size."""
        value, size = log_gamma.poisson_cost(self.shape - 1.0, self.shape - 1.0)
        return [float(value), -math.log(self.rate)], float(size)


class BetaPrior:
    """
    Beta prior of probabilities.

    Parameters
    ----------
    a, b : float
        At least 1: below, the density is unbounded at 0 or 1.
    """

    def __init__(self, a, b):
        self.a, self.b = a, b

    @staticmethod
    def checked(prior):
        """Turn None or a pair (a, b) into None or a tuple of floats; `InputError` for others."""
        if prior is None:
            return None
        pair = checks.pair("prior", prior, "(a, b) of a Beta density")
        return tuple(checks.number_of_at_least_one(f"prior[{i}]", number) for i, number in enumerate(pair))

    @property
    def normaliser(self) -> tuple[float, float]:
        """Negative logarithm of the density's constant factor, and its size."""
        return log_gamma.log_beta(self.a, self.b)

    def cost(self, p):
        """Return the negative log density of all probabilities, in nats."""
        return float(self.normaliser[0] * p.size - (xlogy(self.a - 1.0, p) + xlog1py(self.b - 1.0, -p)).sum())

    def cost_size(self, p):
        """Return the sum of the magnitudes of the terms of `cost`."""
        logs = np.abs(xlogy(self.a - 1.0, p)) + np.abs(xlog1py(self.b - 1.0, -p))
        return float(self.normaliser[1] * p.size + logs.sum())

    def least_cost(self):
        """Return the terms of the cost of the mode, and their size."""
        value, size = self.normaliser
        a, b = self.a - 1.0, self.b - 1.0
        # -a log p - b log(1 - p) at its least
        ones, zeros = a * math.log1p(b / a) if a > 0.0 else 0.0, b * math.log1p(a / b) if b > 0.0 else 0.0
        return [value, ones, zeros], size


class DirichletPrior:
    """
    Symmetric Dirichlet prior of the probabilities of a variable's labels.

    Parameters
    ----------
    alpha : float
        At least 1: below, the density is unbounded where a probability is 0.
    n_labels : int
    """

    def __init__(self, alpha, n_labels):
        self.alpha, self.n_labels = alpha, n_labels

    @staticmethod
    def checked(prior):
        """Turn None or alpha into None or a float; `InputError` for others."""
        return None if prior is None else checks.number_of_at_least_one("prior", prior)

    @property
    def normaliser(self) -> tuple[float, float]:
        """Negative logarithm of the density's constant factor, and its size."""
        return log_gamma.log_dirichlet(self.alpha, self.n_labels)

    def cost(self, p):
        """Return the negative log density of distributions, rows of (K, n_labels), in nats."""
        return len(p) * self.normaliser[0] - float(xlogy(self.alpha - 1.0, p).sum())

    def cost_size(self, p):
        """Return the sum of the magnitudes of the terms of `cost`."""
        return len(p) * self.normaliser[1] + float(np.abs(xlogy(self.alpha - 1.0, p)).sum())

    def least_cost(self):
        """Return the terms of the cost of the mode, the even distribution, and their size."""
        value, size = self.normaliser
        return [value, self.n_labels * (self.alpha - 1.0) * math.log(self.n_labels)], size
