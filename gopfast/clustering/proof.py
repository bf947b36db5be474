"""Proofs of k-means searches, for `gopfast.checker`: the tree of pairs, and the prices of its leaves."""

import dataclasses

import numpy as np

from gopfast.checker import ProofError, clustering, file
from gopfast.clustering.margins import PROOF_ROUNDING as ROUNDING
from gopfast.proof import keep
from gopfast.result import Status

SMALLEST = np.finfo(float).tiny / ROUNDING  # of a bound: below, prices are rounded by more than that
LEAF = (-1, -1)


def with_proof(search, result):
    """
    Return a result with a proof of its bound, or with a note that says why there is none.

    Parameters
    ----------
    search : Search
        With `root`, and its nodes' `prices` and `sons`.
    result : ClusteringResult
    """
    problem = search.problem
    try:
        own = clustering.Problem(problem._record_of_proof(), problem.X, problem.sample_weight)
    except ProofError as error:
        return dataclasses.replace(result, notes=[*result.notes, f"no proof was written: {error}"])
    lower = result.lower_bound - ROUNDING * result.objective
    lower = lower if lower >= SMALLEST else 0.0
    tree = _Tree(search)
    if search.root is not None:
        tree.add(search.root, np.zeros(len(search.X)))
    pairs, prices = (tree.pairs, tree.prices) if lower > 0 else ([LEAF], [])
    claim = {"lower_bound": lower, "objective": own.attained(result.centers), "solution": result.centers.tolist()}
    header = {"digest": file.digest(own.columns, own.weights), "problem": own.record, "claim": claim}
    of_all = np.zeros((len(prices), len(own.X)))  # a price of 0 holds for what the search left out
    of_all[:, search.heavy] = np.reshape(prices, (-1, len(search.X)))
    arrays = {"pairs": pairs, "prices": of_all}
    data = file.pack("clustering", header, arrays)
    # the search's own bound holds as well, but what is claimed is what can be checked
    fields = {"lower_bound": lower, "proof": keep(data, search.proof)}
    if result.status is Status.OPTIMAL and result.objective - lower > search.tolerance:
        fields["status"] = Status.NUMERICAL
    return dataclasses.replace(result, message="", **fields)


class _Tree:
    def __init__(self, search):
        self.scale, self.weights = search.scale, search.weights
        self.X, self.pairs, self.prices = search.X, [], []

    def add(self, node, inherited):
        """Add a node and all below it; prices (N,) of the node above hold for it as well."""
        stack = [(node, inherited)]
        while stack:
            node, inherited = stack.pop()
            if node is None:  # pairs that contradict each other need no prices
                self.pairs.append(LEAF)
                continue
            own = inherited if node.prices is None else self._of_samples(node)
            if not any(is_priced(son) for son in node.sons):
                self.pairs.append(LEAF)
                self.prices.append(own)
                continue
            self.pairs.append(node.pair)
            together = [son for son in node.sons if len(son.together) > len(node.together)]
            apart = [son for son in node.sons if len(son.apart) > len(node.apart)]
            stack += [((apart or [None])[0], own), ((together or [None])[0], own)]

    def _of_samples(self, node):
        """Prices (N,) of the samples, in the user's unit: of a group what it scatters comes on top."""
        mass = np.bincount(node.group, self.weights)
        mean = np.stack([np.bincount(node.group, self.weights * column) for column in self.X.T], axis=1) / mass[:, None]
        scatter = np.bincount(node.group, self.weights * np.square(self.X - mean[node.group]).sum(axis=1)) / mass
        return (node.prices + scatter)[node.group] * self.weights * self.scale


def is_priced(node):
    """Whether a node, or one below it, has prices of its own."""
    stack = [node]
    while stack:
        node = stack.pop()
        if node.prices is not None:
            return True
        stack += node.sons
    return False
