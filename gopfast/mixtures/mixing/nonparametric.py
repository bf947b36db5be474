"""
The nonparametric bound: the best mixture of any number of components bounds every K at once.

For a mixture without prior, any mixing distribution of the mean is bounded by the gradient function of any other
(Kiefer & Wolfowitz 1956; Lindsay 1983); see ``mixing``, which finds the best one and proves it. For known variance the
search learns the bound itself (``hitting``). Here it is for a choice of the number of components.

It bounds free variances above a floor too: a wider normal density is a mixture of those at the floor.

Theory: (H1) and (H7) of docs/theory/hitting.md.
"""

import math

import numpy as np

from gopfast.mixtures.data.samples import Samples
from gopfast.mixtures.mixing.margins import ROUNDING
from gopfast.mixtures.mixing.mixing import MixingDistribution
from gopfast.mixtures.mixing.tuning import (
    FLOOR_GAP,
    MOST_ATOMS,
    MOST_FREE_SAMPLES,
    MOST_POINTS,
    NONPARAMETRIC_WIDEST as WIDEST,
    POINTS_PER_SAMPLE,
)


def nonparametric_bound(samples, weights, gap):
    """
    Bound one-dimensional Gaussian mixtures of known variance, whatever their number of components.

    Parameters
    ----------
    samples : ndarray, shape (n,)
        Data in units of the noise standard deviation.
    weights : ndarray, shape (n,)
        Positive sample weights.
    gap : float
        How far below the value of the best mixing distribution the bound may be, in nats.

    Returns
    -------
    float
        Lower bound of - sum_i w_i log sum_k pi_k exp(-(x_i - nu_k)^2 / 2); -inf where it is not found.
    """
    # as many atoms as samples at the most, and those that are tried
    data = Samples(samples[:, np.newaxis], weights, [1.0], center=[0.0])
    n = data.n_samples
    return MixingDistribution(data, 0.0, MOST_ATOMS + n, MOST_POINTS + POINTS_PER_SAMPLE * n).lower_bound(gap)


def free_variance_bound(family):
    """
    Bound the objective of one-dimensional mixtures of free variances, whatever their number of components.

    Parameters
    ----------
    family : Family

    Returns
    -------
    float
        -inf for other families, and where the bound would cost too much.
    """
    samples, weights = family.data.arrays()
    if not family.normal_on_a_line or samples.size > MOST_FREE_SAMPLES:
        return -np.inf
    if np.ptp(samples) > WIDEST:
        return -np.inf
    bound = nonparametric_bound(samples[0], weights, FLOOR_GAP)
    constant = 0.5 * float(weights.sum()) * math.log(2 * math.pi)
    size = abs(bound) + constant + max(abs(family.constant), family.constant_size)
    return bound + constant + family.constant - ROUNDING * size
