"""The Gamma prior of a rate, which the Poisson and the exponential family share."""

import math

from scipy.special import xlogy

from gopfast import checks


def check_gamma_prior(prior):
    """Turn None or a pair (shape, rate), shape at least 1 and rate positive, into None or a tuple of floats."""
    if prior is None:
        return None
    shape, rate = checks.pair("prior", prior, "(shape, rate) of a Gamma density")
    # Below 1 the density is unbounded at rate 0.
    return checks.number_of_at_least_one("prior[0]", shape), checks.positive_number("prior[1]", rate)


def gamma_cost(prior, rates):
    """Return the negative log density of the rates under the prior, 0 without one; infinite where it is 0."""
    if prior is None:
        return 0.0
    return math.fsum(_terms(prior, rates))


def gamma_cost_size(prior, rates):
    """Return the sum of the magnitudes of the terms of `gamma_cost`: scale of its rounding error."""
    return 0.0 if prior is None else math.fsum(map(abs, _terms(prior, rates)))


def _terms(prior, rates):
    shape, rate = prior
    rates = rates.ravel()
    constants = [rates.size * math.lgamma(shape), -rates.size * shape * math.log(rate)]
    return [*constants, *(rate * rates), *-xlogy(shape - 1.0, rates)]
