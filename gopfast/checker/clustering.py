"""Proofs of minimum-sum-of-squares clustering (k-means).

``problem`` in the header has ``n_clusters``; ``claim`` has ``lower_bound``, ``objective`` and ``solution``, the centers
(K, d). Samples are the N distinct ones of positive weight, in lexicographic order. ``pairs`` (M, 2): nodes, each before
all below it: two samples, which share a cluster in the first part and do not in the second, or (-1, -1) for a leaf.
``prices`` (L, N): of the samples, in every leaf whose pairs do not contradict each other.

With prices P_i, clusters S_1, ..., S_K that hold all samples cost

    sum_k cost(S_k)  =  sum_i P_i  -  sum_k (P(S_k) - cost(S_k))  >=  sum_i P_i - K sigma,

where no cluster that keeps to the leaf's pairs saves more than sigma >= 0 (`savings`). Samples of the same place share
a cluster without loss.

Theory: (V10) of docs/theory/proofs.md.
"""

import math

import numpy as np

from .entries import item, number, numbers, reals
from .errors import ProofError
from .rounding import UNIT, down
from .samples import Samples
from .savings import Groups
from .tuning import CLUSTERING_DEPTH as MOST_DEPTH


class Problem(Samples):
    """Distinct samples of positive weight, and the number of clusters."""

    def __init__(self, record, X, sample_weight):
        if not isinstance(record, dict) or record.keys() != {"n_clusters"}:
            raise ProofError("problem", "must have n_clusters")
        X = reals(X, "X")
        X = X[:, np.newaxis] if X.ndim == 1 else X
        if X.ndim != 2 or not X.size:
            raise ProofError("X", "must have shape (N, d)")
        super().__init__(record, X, sample_weight)

    def attained(self, centers):
        """Return the sum of squares at centers, rounded up."""
        nearest = np.full(len(self.X), np.inf)
        for center in centers:
            nearest = np.minimum(nearest, np.square(self.X - center).sum(axis=1))
        return math.fsum(self.mass * nearest * (1 + 4 * (self.X.shape[1] + 8) * UNIT))


def verify(header, arrays, problem):
    """Check a proof; return the lower bound, the objective, the number of leaves and the solution."""
    claim = item(header, "claim", "header")
    lower = number(claim, "lower_bound", "claim")
    centers = numbers(claim, "solution", "claim", (problem.n_clusters, problem.X.shape[1]))
    value = problem.attained(centers)
    if not value <= number(claim, "objective", "claim"):
        raise ProofError("solution", f"its objective is {value:.12g}, the proof claims {claim['objective']:.12g}")
    prices = arrays["prices"]
    if prices.shape[1:] != (len(problem.X),):
        raise ProofError("prices", f"must be of {len(problem.X)} distinct samples")
    n_leaves = 0
    for group, apart in _leaves(arrays["pairs"], len(problem.X)):
        if lower <= 0 or any(group[i] == group[j] for i, j in apart):
            continue
        if n_leaves == len(prices):
            raise ProofError("prices", "there are too few")
        own = prices[n_leaves]
        limit = float(down(down(down(math.fsum(own)) - lower) / problem.n_clusters))  # sum P - K limit >= lower
        groups = Groups(problem.X, problem.mass, group, [(group[i], group[j]) for i, j in apart])
        if not (limit >= 0 and groups.save_at_most(own, limit)):
            raise ProofError(f"leaf {n_leaves}", f"its prices do not prove the bound {lower:.12g}")
        n_leaves += 1
    if n_leaves != len(prices):
        raise ProofError("prices", f"there are {len(prices)} for {n_leaves} leaves")
    return lower, value, n_leaves, {"centers": centers.tolist()}


def _leaves(pairs, n):
    """Yield group numbers (n,) and pairs apart of every leaf."""
    if pairs.shape[1:] != (2,):
        raise ProofError("pairs", "must be pairs")
    stack = [((), ())]
    for node, (i, j) in enumerate(pairs.tolist()):
        if not stack:
            raise ProofError(f"node {node}", "the tree has ended before")
        together, apart = stack.pop()
        if i == j == -1:
            yield _groups(n, together), apart
        elif not (0 <= i < n and 0 <= j < n and i != j):
            raise ProofError(f"node {node}", f"there is no pair {i}, {j}")
        elif len(stack) >= MOST_DEPTH:
            raise ProofError(f"node {node}", "the tree is too deep")
        else:
            stack += [(together, (*apart, (i, j))), ((*together, (i, j)), apart)]
    if stack:
        raise ProofError("tree", f"{len(stack)} of its parts are missing")


def _groups(n, together):
    group = np.arange(n)
    for i, j in together:
        group[group == group[i]] = group[j]
    return np.unique(group, return_inverse=True)[1].reshape(-1)
