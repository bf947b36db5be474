"""Samples that share a value: components of free variance can sit on them."""

import numpy as np

from gopfast.mixtures.data.tuning import LEAST_EXCESS, MOST_GROUPS, MOST_SAMPLES


def groups(X, sample_weight):
    """
    Find the heaviest groups of samples that are equal in one column, or in all.

    Parameters
    ----------
    X : ndarray, shape (n, d)
    sample_weight : ndarray, shape (n,)
        Samples of weight 0 are left out, and do not count in the indices.

    Returns
    -------
    list of ndarray
        Indices of each group's samples, the heaviest first; empty where the samples are too many to look.
    """
    used = sample_weight > 0.0
    X, weight = X[used], sample_weight[used]
    if len(X) > MOST_SAMPLES:
        return []
    keys = [np.unique(column, return_inverse=True)[1] for column in X.T]
    if X.shape[1] > 1:
        keys.append(np.unique(np.stack(keys, axis=1), axis=0, return_inverse=True)[1])
    found = []
    for key in keys:
        key = key.ravel()
        mass = np.bincount(key, weights=weight)
        tied = np.flatnonzero((np.bincount(key) > 1) & (mass >= LEAST_EXCESS * weight.mean()))
        heaviest = tied[np.argsort(-mass[tied], kind="stable")][:MOST_GROUPS]
        if len(mass) > 1:
            found += [np.flatnonzero(key == value) for value in heaviest]
    return sorted(found, key=lambda group: -weight[group].sum())
