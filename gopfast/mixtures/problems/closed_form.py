"""
Sums of samples with bounds of their error, and the optimum of one component that they give.

Sums are taken about a point near the mean, in blocks, and the blocks exactly. ERROR bounds the relative error of a sum
of terms of one sign and of the few operations before and after it.
"""

import math
from typing import NamedTuple

import numpy as np

from gopfast.mixtures.problems.margins import ERROR
from gopfast.mixtures.problems.tuning import BLOCK
from gopfast.roundoff import ROUND


class Optimum(NamedTuple):
    """Parameters by name, their objective rounded up, and a lower bound of every objective."""

    parameters: dict
    objective: float
    lower_bound: float


def totals(terms):
    """Sum over the rows; each entry within ERROR of the sum of the absolute values."""
    n = len(terms)
    whole = n // BLOCK * BLOCK
    blocks = terms[:whole].reshape(-1, BLOCK, terms.shape[1]).sum(axis=1)
    return np.array([math.fsum([*a, *b]) for a, b in zip(blocks.T.tolist(), terms[whole:].T.tolist(), strict=True)])


def moments(X, w, scale):
    """
    Return what a Gaussian family needs of the samples, in units of `scale`.

    Returns
    -------
    W : float
        Sum of the weights.
    mean : ndarray, shape (d,)
        In the units of X.
    z : ndarray, shape (n, d)
        Samples about a point near the mean.
    shift : ndarray, shape (d,)
        From that point to the mean.
    error : ndarray, shape (d,)
        Bound of the error of `mean`, and of its rounding.
    """
    W = math.fsum(w)
    center = totals(w[:, np.newaxis] * X) / W
    z = (X - center) / scale
    weighted = w[:, np.newaxis] * z
    shift = totals(weighted) / W
    mean = center + scale * shift
    # What rounding the mean moves it by is known: floats so near to each other have an exact difference.
    moved = (mean - center) / scale
    error = ERROR * totals(np.abs(weighted)) / W + np.abs(moved - shift) + 4 * ROUND * np.abs(moved)
    return W, mean, z, shift, error


def shares(part, others):
    """``-part log(part / (part + others))``, exact to a few ulps also where the part is nearly all; 0 for no part."""
    share = np.where(part > 0.0, part, 1.0)
    return np.where(part > 0.0, share * np.log1p(others / share), 0.0)


def settled(parameters, terms, sizes=()):
    """
    Make the Optimum of an exponential family from the terms of its objective at the best parameters.

    The objective is linear in the sums of the samples, so that at the true optimum and at the one computed, relative
    errors of the sums are at most such errors of the terms; twice, as either may be the smaller. `sizes`: magnitudes
    of what has cancelled within the terms.
    """
    value = math.fsum(terms)
    margin = 4.0 * ERROR * (np.abs(terms).sum() + np.abs(sizes).sum())
    return Optimum(parameters, value + margin, value - margin)


def at_floats(found, terms, sizes):
    """Raise the objective to that of the probabilities returned, from its terms: those next to 1 are rounded most."""
    return found._replace(objective=max(found.objective, settled(None, terms, sizes).objective))
