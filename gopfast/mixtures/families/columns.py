"""Columns of statistics that the exponential families' compiled core runs on."""

import math

import numpy as np

from gopfast.mixtures.data.samples import Samples
from gopfast.mixtures.families.exponential import ExponentialFamily


def family(problem, X, weights, kinds, prior_mass, prior_moment, *, constants, decode, encode, scale=None,
            reference=None, groups=None):  # fmt: skip
    """
    Make the family of a mixture of products of one-parameter distributions.

    Parameters
    ----------
    problem : SeparableMixture
    X : ndarray, shape (m, d)
        Columns of statistics, `merged`.
    weights : ndarray, shape (m,)
    kinds : list of str
        Of each column; this, `prior_mass`, `prior_moment`, `reference` and `groups` as of `ExponentialFamily`.
    constants : list of (float, float)
        What the objective has beside the core's costs: pairs of a value and its size (see `log_gamma`).
    decode, encode : callable
        From the columns' means (K, d) to the user's parameter and back.
    scale : ndarray of shape (d,), optional
        Unit of each column; 1 by default.

    Returns
    -------
    ExponentialFamily
    """
    d = X.shape[1]
    scale = np.ones(d) if scale is None else scale
    data = Samples(X, weights, scale, np.zeros(d), late=None if groups is None else larger_than_others(groups))
    values, sizes = ([pair[i] for pair in constants] for i in range(2))
    return ExponentialFamily(
        data, problem.n_components, kinds, prior_mass, prior_moment, np.ones(d) if reference is None else reference,
        np.zeros(d, dtype=int) if groups is None else groups, math.fsum(values), math.fsum(sizes),
        problem.parameter_names[0], decode, encode,
    )  # fmt: skip


def larger_than_others(groups):
    """
    Return whether each column is one of the largest group's, if that is the first.

    Boxes need not be divided in the variable of the most labels (`relaxations.crossed`), but must be where the
    components are told apart by their order: in the first column.
    """
    sizes = np.bincount(groups)
    is_first = np.asarray(groups) == groups[0]
    return is_first if sizes.argmax() == groups[0] and (sizes == sizes.max()).sum() == 1 else None


def merged(X, weights):
    """
    Merge equal rows.

    Returns
    -------
    X : ndarray, shape (m, d)
        The different rows.
    weights : ndarray, shape (m,)
        Their summed weights, rounded once.
    """
    rows, index = np.unique(X, axis=0, return_inverse=True)
    if len(rows) == len(X):
        return X, weights
    index = index.reshape(-1)
    groups = np.split(weights[np.argsort(index, kind="stable")], np.cumsum(np.bincount(index))[:-1])
    return rows, np.array([math.fsum(group) for group in groups])
