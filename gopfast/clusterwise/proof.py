"""Proofs of searches for classes of regressions, for `gopfast.checker`: the tree of boxes, and prices of its leaves.

Theory: (VF3) of docs/theory/proof_families.md.
"""

import dataclasses

import numpy as np

from gopfast.checker import ProofError, clusterwise, file
from gopfast.clustering.proof import is_priced
from gopfast.clusterwise.margins import CHECKED_RESIDUAL, PROOF_ROUNDING as ROUNDING
from gopfast.proof import keep
from gopfast.result import Status

SMALLEST = np.finfo(float).tiny / ROUNDING  # of a bound: below, prices are rounded by more than that


def with_proof(search, result):
    """
    Return a result with a proof of its bound, or with a note that says why there is none.

    Parameters
    ----------
    search : Search
        With `root`, and its nodes' `prices`, `suprema` and `sons`.
    result : ClusterwiseResult
    """
    problem = search.problem
    try:
        own = clusterwise.Problem(problem._record_of_proof(), problem._data_of_proof(), problem.sample_weight)
        attained = own.attained(result.coefficients, result.intercepts)
    except (ProofError, OverflowError) as error:
        return dataclasses.replace(result, notes=[*result.notes, f"no proof was written: {error}"])
    lower = min(result.lower_bound - ROUNDING * result.objective, attained)
    lower = lower if lower >= SMALLEST and search.root is not None else 0.0
    tree = _Tree(search.problem.n_clusters)
    if lower > 0:
        tree.add(search.root)
        lost = _lost(search, tree.prices)
        lower -= tree.n_clusters * lost * search.scale
        tree.limits = [limit + lost for limit in tree.limits]
        if lower < SMALLEST:
            lower, tree = 0.0, _Tree(search.problem.n_clusters)
    solution = {"coefficients": result.coefficients.tolist(), "intercepts": result.intercepts.tolist()}
    header = {
        "digest": file.digest(own.columns, own.weights), "problem": own.record, "axes": _axes(search, lower),
        "unit": search.unit, "claim": {"lower_bound": lower, "objective": attained, "solution": solution},
    }  # fmt: skip
    prices = np.zeros((len(tree.prices), len(own.X)))  # a price of 0 holds for what the search left out
    if tree.prices:
        rows, index = np.unique(own.columns[own.weights > 0], axis=0, return_inverse=True)
        of = np.full(problem.n_samples, -1)
        of[search.of] = search.row_of
        known = of[own.weights > 0]
        place = np.full(len(rows), -1)
        place[index.reshape(-1)[known >= 0]] = known[known >= 0]
        prices[:, place >= 0] = np.array(tree.prices)[:, place[place >= 0]]
    arrays = {
        "splits": np.reshape(tree.splits or [(-1, -1)], (-1, 2)), "points": np.array(tree.points or [0.0]),
        "prices": prices, "limits": np.array(tree.limits) * search.mass,
    }  # fmt: skip
    data = file.pack("clusterwise", header, arrays)
    fields = {"lower_bound": lower, "proof": keep(data, search.proof)}
    if result.status is Status.OPTIMAL and result.objective - lower > search.tolerance:
        fields["status"] = Status.NUMERICAL
    return dataclasses.replace(result, **fields)


def _axes(search, lower):
    """Return the places and their values; none where 0 is the bound."""
    if not lower > 0:
        return []
    design, p = search.design, search.problem.n_features
    pairs = zip(design.places, design.values, strict=True)
    return [[float(x) for x in (*place[:p], value)] for place, value in pairs]


def _lost(search, prices):
    """Return what the checker's residuals may add to what a class saves, at the fits found: much where all fit well."""
    size = np.abs(search.y) + (np.abs(search.pool.fits) @ np.abs(search.Z).T).max(axis=0)
    delta = CHECKED_RESIDUAL * size
    return max(float(search.weights @ ((2.0 * np.sqrt(own) + delta) * delta)) for own in prices)


class _Tree:
    """The nodes of a search, each before all below it."""

    def __init__(self, n_clusters):
        self.n_clusters = n_clusters
        self.splits, self.points, self.prices, self.limits = [], [], [], []

    def add(self, root):
        """Add a node and all below it; prices and limits of the node above hold for it as well."""
        stack = [(root, None, None)]
        while stack:
            node, prices, suprema = stack.pop()
            if node.prices is not None:
                prices, suprema = node.prices, node.suprema
            if not any(is_priced(son) for son in node.sons):
                self.splits.append((-1, -1))
                self.points.append(0.0)
                self.prices.append(prices)
                self.limits += suprema.tolist()
                continue
            b, j, at = node.cut
            self.splits.append((b, j))
            self.points.append(at)
            for m, son in reversed(list(enumerate(node.sons))):
                own = None
                if suprema is not None:  # halves save no more than the whole
                    halves = (m > 0) + (m < node.boxes[b][2])
                    own = np.concatenate([np.delete(suprema, b), np.repeat(suprema[b], halves)])
                stack.append((son, prices, own))
