"""Costs of covariance matrices above a floor, in plain NumPy."""

import numpy as np


def packed(C):
    """Entries on and above the diagonal, row by row."""
    return C[np.triu_indices(len(C))]


def unpacked(entries):
    d = int(np.sqrt(2 * len(entries)))
    C = np.empty((d, d))
    rows, columns = np.triu_indices(d)
    C[rows, columns] = C[columns, rows] = entries
    return C


def floored(C, floor):
    """The best S >= floor of `cost`."""
    lower = np.linalg.cholesky(floor)
    inverse = np.linalg.inv(lower)
    values, vectors = np.linalg.eigh(inverse @ C @ inverse.T)
    along = lower @ vectors
    return (along * np.maximum(values, 1.0)) @ along.T


def cost(C, floor):
    """The least 1/2 log det(2 pi S) + 1/2 tr(S^-1 C) over S >= floor, by eigenvalues in units of the floor."""
    inverse = np.linalg.inv(np.linalg.cholesky(floor))
    values = np.linalg.eigvalsh(inverse @ C @ inverse.T)
    top = np.maximum(values, 1.0)
    return 0.5 * np.sum(np.log(2.0 * np.pi * top) + values / top) + 0.5 * np.linalg.slogdet(floor)[1]
