"""
What the optimum of a mixture of known covariance is about, by a local search of some of the samples.

A bound of one covariance matrix chooses by it at which precision a search is made, and how coarse groups of samples may
be (`gathered`). Nothing that is proved rests on it.

Theory: (TF3) of docs/theory/factors.md.
"""

import math
from typing import NamedTuple

import numpy as np

from gopfast.mixtures.data.samples import Samples
from gopfast.mixtures.families.gaussian import GaussianFamily
from gopfast.mixtures.shared.shared import FixedSearch
from gopfast.mixtures.shared.slices import root
from gopfast.mixtures.shared.tuning import ESTIMATED_BY, N_STARTS, REFITS


class Estimate(NamedTuple):
    """A mixture that some of the samples are fitted by, in coordinates in which the known covariance is I.

    The matrix to these coordinates (d, d), the samples (d, m) and their weights, which sum to those of all; means
    (K, d) and shares of the components; the objective, less the constant of their densities.
    """

    B: np.ndarray
    columns: np.ndarray
    weights: np.ndarray
    means: np.ndarray
    shares: np.ndarray
    value: float


class Estimates:
    """
    What makes them.

    Parameters
    ----------
    slices : MatrixSlices
    epsilon : float
    plan : callable (family) -> MixturePlan
        As of `FixedSearch`.

    Attributes
    ----------
    n_terms : int
        Costs of samples in components so far.
    """

    def __init__(self, slices, epsilon, plan):
        self.slices, self.epsilon, self.plan, self.n_terms = slices, epsilon, plan, 0
        self.some = slice(None, None, max(1, len(slices.weights) // ESTIMATED_BY))
        weights = slices.weights[self.some]
        self.weights = weights * (slices.total / float(weights.sum()))

    def at(self, A, start):
        """Return the estimate of a precision (d, d), by means (K, d) near it in the coordinates z."""
        B = root(A)[::-1]  # the widest first, as samples have it
        columns = B @ self.slices.columns[:, self.some]
        family = family_of(columns, self.weights, self.slices.n_components)
        search = FixedSearch(
            1.0, family, 0.0, self.epsilon, self.plan, 0, False,
            n_starts=N_STARTS, start=(start @ B.T)[:, family.data.order], thorough=False,
        )  # fmt: skip
        search.go_on(math.inf)
        K, d = start.shape
        self.n_terms += search.n_terms + REFITS * columns.shape[1] * K
        means = search.solution[K : K + K * d].reshape(K, d)[:, np.argsort(family.data.order)]
        value, means, shares = refit(columns, self.weights, means, search.solution[:K], REFITS)
        return Estimate(B, columns, self.weights, means, shares, value)


def family_of(columns, weights, n_components):
    """Return the family of a mixture of known covariance I, of samples (d, m)."""
    d = len(columns)
    return GaussianFamily(Samples(columns.T, weights, np.ones(d), center=np.zeros(d)), n_components)


def posterior(columns, means, shares):
    """Return the mean (d, n) of the component that a sample (d, n) is of, components of variance one."""
    logs = means @ columns + (np.log(np.maximum(shares, 1e-300)) - 0.5 * np.square(means).sum(axis=1))[:, None]
    parts = np.exp(logs - logs.max(axis=0))
    return means.T @ (parts / parts.sum(axis=0))


def refit(columns, weights, means, shares, n_steps):
    """Return the objective, means (K, d) and shares after some steps of EM, components of variance one."""
    total, squares = float(weights.sum()), 0.5 * np.square(columns).sum(axis=0)
    for _ in range(n_steps):
        logs = means @ columns + (np.log(np.maximum(shares, 1e-300)) - 0.5 * np.square(means).sum(axis=1))[:, None]
        top = logs.max(axis=0)
        parts = np.exp(logs - top)
        sums = parts.sum(axis=0)
        value = float(weights @ (squares - top - np.log(sums)))
        parts *= weights / sums
        mass = parts.sum(axis=1)
        means, shares = (parts @ columns.T) / np.maximum(mass, 1e-300)[:, None], mass / total
    return value, means, shares
