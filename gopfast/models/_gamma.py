"""The Gamma prior of a rate, which the Poisson and the exponential family share."""

import math

from scipy.special import xlogy

from gopfast import _checks


def check_gamma_prior(prior):
    """Turn None or a pair (shape, rate), shape at least 1 and rate positive, into None or a tuple of floats."""
    if prior is None:
        return None
    shape, rate = _checks.pair("prior", prior, "(shape, rate) of a Gamma density")
    # Below 1 the density is unbounded at rate 0.
    return _checks.number_of_at_least_one("prior[0]", shape), _checks.positive_number("prior[1]", rate)


def gamma_cost(prior, rates):
    """Return the negative log density of the rates under the prior, 0 without one; infinite where it is 0."""
    if prior is None:
        return 0.0
    shape, rate = prior
    constant = math.lgamma(shape) - shape * math.log(rate)
    return float(constant * rates.size + (rate * rates - xlogy(shape - 1.0, rates)).sum())
