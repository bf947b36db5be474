"""Checking a proof against the user's own data."""

import math
from dataclasses import dataclass

import numpy as np

from . import file, leaf, objective, tree
from .errors import ProofError
from .families import FAMILIES
from .rounding import UNIT

LEAST_LOG_WEIGHT = -600.0


@dataclass(frozen=True)
class Checked:
    """
    What a proof shows.

    Attributes
    ----------
    lower_bound : float
        No mixture of this problem has a smaller objective.
    objective : float
        The solution's, rounded up.
    n_leaves : int
        Leaves whose bounds were verified.
    """

    lower_bound: float
    objective: float
    n_leaves: int

    @property
    def gap(self) -> float:
        """How far the solution is from the optimum at most."""
        return max(0.0, self.objective - self.lower_bound)

    def __str__(self):
        """One line."""
        return (f"checked: no mixture is below {self.lower_bound:.8g}, the solution attains {self.objective:.8g} "
                f"(gap {self.gap:.3g}; {self.n_leaves} leaves)")  # fmt: skip


def check(proof, X, sample_weight=None) -> Checked:
    """
    Check a proof.

    Parameters
    ----------
    proof : str or path-like
        The file.
    X : array_like, shape (N,) or (N, d)
        The data that the proof is said to be of.
    sample_weight : array_like, shape (N,), optional
        Weights; 1 by default.

    Returns
    -------
    Checked

    Raises
    ------
    ProofError
        If the proof does not hold; the message names the entry.
    """
    header, arrays = file.read(proof)
    problem, claim = header["problem"], header["claim"]
    X = np.asarray(X)
    X = X[:, np.newaxis] if X.ndim == 1 else X
    weights = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    columns, weights = _columns(problem, X, weights)
    if header.get("digest") != file.digest(columns, weights):
        raise ProofError("digest", "the proof is of other data")
    K = problem["n_components"]
    family = FAMILIES[problem["family"]](problem, columns[weights > 0].T)
    reference = np.array(header["reference"], dtype=float)
    low, high, empty = tree.leaves(arrays["splits"], arrays["points"], family, K, header["order"])
    low, high = low[~empty], high[~empty]
    slopes, log_weights = arrays["slopes"], arrays["log_weights"]
    n_slopes = family.n_columns * (1 + family.has_squares)
    if slopes.shape != (len(low), K, n_slopes) or log_weights.shape != (len(low), K):
        raise ProofError("leaves", f"there must be slopes and weights for {len(low)} leaves of {K} components")
    if log_weights.min(initial=0.0) < LEAST_LOG_WEIGHT or log_weights.max(initial=0.0) > -LEAST_LOG_WEIGHT:
        raise ProofError("leaves", "weights are out of range")
    used = weights > 0
    found = leaf_bounds(family, columns[used], weights[used], reference, low, high, slopes, log_weights)
    constant = _constant(problem, columns, weights)
    wanted = float(claim["lower_bound"])
    short = np.flatnonzero(~(found + constant[0] >= wanted))
    if len(short):
        i = short[0]
        raise ProofError(f"leaf {i}", f"its bound is {found[i] + constant[0]:.12g}, the proof claims {wanted:.12g}")
    value = objective.attained(problem, columns, weights, claim["solution"]) + constant[1]
    if not value <= float(claim["objective"]):
        raise ProofError("solution", f"its objective is {value:.12g}, the proof claims {claim['objective']:.12g}")
    return Checked(lower_bound=wanted, objective=value, n_leaves=len(low))


def leaf_bounds(family, columns, weights, reference, low, high, slopes, log_weights):
    """Bound leaves (L, K, p) from below: shape (L,)."""
    intercepts = family.intercepts(low, high, slopes, reference)
    total = intercepts.sum(axis=2) - 4 * family.n_columns * UNIT * np.abs(intercepts).sum(axis=2)
    return leaf.bounds(columns - reference, weights, total, slopes[..., : family.n_columns], family.quadratic(slopes),
                       log_weights)  # fmt: skip


def _columns(problem, X, weights):
    """Return the columns of statistics: labels as zeros and ones."""
    if weights.shape != (len(X),) or not (weights >= 0).all() or not weights.sum() > 0:
        raise ProofError("sample_weight", "must be one number of at least 0 per sample, not all 0")
    if "labels" in problem:
        if len(problem["labels"]) != X.shape[1]:
            raise ProofError("problem", f"has labels of {len(problem['labels'])} columns; the data have {X.shape[1]}")
        columns = []
        for j, labels in enumerate(problem["labels"]):
            column = [value.item() if hasattr(value, "item") else value for value in X[:, j]]
            if any(value not in labels for value in column):
                raise ProofError("problem", f"column {j} has a label that the proof does not know")
            columns += [[float(value == label) for value in column] for label in labels]
        X = np.array(columns).T
    X = np.asarray(X, dtype=float)
    if not np.isfinite(X).all():
        raise ProofError("X", "has entries that are no numbers")
    return X, weights


def _constant(problem, columns, weights):
    """Return what the objective has beside the costs, rounded down and up: of counts sum w log x!."""
    if problem["family"] != "exponential_family":
        return 0.0, 0.0
    values = [[math.lgamma(x + 1.0) for x in column] for kind, column in zip(problem["kinds"], columns.T, strict=True)
              if kind == "poisson"]  # fmt: skip
    total = math.fsum(w * v for column in values for w, v in zip(weights.tolist(), column, strict=True))
    return total * (1 - 1e-14), total * (1 + 1e-14)
