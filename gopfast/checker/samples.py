"""Distinct samples of positive weight, of what is divided into classes: k-means, clusterwise least squares.

Theory: (V10) of docs/theory/proofs.md, (VF3) of docs/theory/proof_families.md.
"""

import math

import numpy as np

from .entries import weights_of, whole


class Samples:
    """
    The data of a problem that divides them into `n_clusters` classes.

    Parameters
    ----------
    record : dict
        The header's "problem".
    X : ndarray, shape (N, d)
    sample_weight : array_like, shape (N,), or None

    Attributes
    ----------
    columns, weights : ndarray
        What was given.
    X, mass : ndarray
        The distinct rows of positive weight in lexicographic order, and their weights.
    """

    def __init__(self, record, X, sample_weight):
        weights = weights_of(sample_weight, len(X))
        self.record, self.columns, self.weights = record, X, weights
        self.n_clusters = whole(record, "n_clusters", "problem", 1, 2**31)
        used = weights > 0
        self.X, index = np.unique(X[used], axis=0, return_inverse=True)
        parts = np.split(weights[used][np.argsort(index.reshape(-1), kind="stable")],
                         np.cumsum(np.bincount(index.reshape(-1)))[:-1])  # fmt: skip
        self.mass = np.array([math.fsum(part) for part in parts])
