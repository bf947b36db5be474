"""Proofs of mixture searches, for `gopfast.checker`: the tree, and for every leaf what bounds it.

A leaf needs no more than slopes of affine functions below its components' costs, and weights: the checker finds the
constants itself. Both come from the multipliers that the relaxed dual stopped at, which nodes hand on anyway.
"""

import math

import numpy as np

from gopfast.checker import ProofError, file, tree
from gopfast.checker.problem import Problem
from gopfast.checker.verify import Bounds
from gopfast.errors import InputError

LEAST_LOG_WEIGHT = -100.0
# A leaf is taken up with another node's slopes where its bound lacks more than this part of the gap.
SHORT = 0.1
# By so much, relative to the objective and the total weight, bounds may differ where sums are rounded in another order.
ROUNDING = 1e-11
# What a search keeps back of its tolerance for the checker's margins, and per unit of total weight for weights of 32
# bits, whose relative error of 2^-24 the bound loses; at most LEAST_KEPT is left.
RESERVE, RESERVE_OF_WEIGHT, LEAST_KEPT = 1e-3, 1.1 * 2.0**-24, 0.25
LARGEST_MEAN = 1e99  # of an unused component, in place of infinity


def tolerance_kept(problem, tolerance):
    """Return the part of a tolerance that a search must prove so that its proof meets the tolerance."""
    kept = 1.0 - RESERVE - (RESERVE_OF_WEIGHT * problem.total_weight / tolerance if tolerance > 0 else 0.0)
    return max(LEAST_KEPT, kept)


class Recorder:
    """
    What a search tells of its nodes, made into a proof.

    Parameters
    ----------
    problem : MixtureProblem
    family : Family
        ``family.provable()`` of the problem's.

    Attributes
    ----------
    nodes : list
        For `Search(proof=...)`.

    Raises
    ------
    InputError
        If proofs have no entry for the problem's family.
    """

    def __init__(self, problem, family):
        record, X = problem._record_of_proof(), problem._data_of_proof()
        if family is None or record is None:
            raise InputError(f"proof must be None: proofs have no entry yet for {problem!r}")
        self.problem, self.family, self.nodes = problem, family, []
        try:
            self.statement = _Statement(family, Problem(record, X, problem.sample_weight))
        except ProofError as error:
            raise InputError(f"proof must be None: the checker does not take the problem; {error}") from None

    def pack(self, relaxation, solution, wanted):
        """
        Make the proof of what a search has reached.

        Parameters
        ----------
        relaxation : EntropicRelaxation
            With ``provable=True``.
        solution : MixtureSolution
        wanted : float
            The search's lower bound.

        Returns
        -------
        (float, bytes) or None
            The lower bound that it claims, by the checker's own arithmetic, and the proof. None where that arithmetic
            is not accurate enough to say anything.
        """
        statement = self.statement
        rows = _Rows(self.nodes)
        splits, points, leaves = self._tree(rows)
        low, high, empty = statement.leaves(splits, points)
        low, high, leaves = low[~empty], high[~empty], leaves[~empty]
        try:
            upper = statement.bounds.attained(statement.solution(self.family, solution))
        except ProofError:
            return None
        upper += self._rounding(upper)
        target = wanted - SHORT * (upper - wanted)
        slopes, log_weights, found = self._prove(relaxation, rows, low, high, leaves, target)
        lower = min(found.min(initial=math.inf), upper)
        lower -= self._rounding(lower)
        if not (math.isfinite(lower) and math.isfinite(upper)):
            return None
        claim = {"lower_bound": lower, "objective": upper, "solution": statement.solution(self.family, solution)}
        arrays = {"splits": splits, "points": points, "slopes": slopes, "log_weights": log_weights}
        return lower, file.pack("mixture", {**statement.header(), "claim": claim}, arrays)

    def _rounding(self, value):
        return ROUNDING * (1 + abs(value) + self.problem.total_weight)

    def _prove(self, relaxation, rows, low, high, leaves, target):
        """Slopes and weights of leaves, and what they prove; a leaf may be better off with those of a node above."""
        statement, n = self.statement, len(leaves)
        slopes, log_weights = statement.blank(n)
        found, short = np.full(n, -math.inf), np.arange(n)
        if not self.nodes:
            short = short[:0]
        nodes = leaves.copy()
        while len(short):
            own = nodes[short]
            explained = relaxation.explain(rows.low[own], rows.high[own], rows.warm[own])
            new, constants, logs = statement.slopes(*explained)
            new = statement.unfolded(low[short], high[short], new)
            # The checker's constants are higher than the core's; with these weights its responsibilities are the same.
            logs = logs + statement.constants(low[short], high[short], new) - constants
            logs = np.clip(np.nan_to_num(logs - logs.max(axis=1, keepdims=True)), LEAST_LOG_WEIGHT, 0.0)
            value = statement.bounds.of(low[short], high[short], new, logs, statement.reference)
            better = value > found[short]
            at = short[better]
            slopes[at], log_weights[at], found[at] = new[better], logs[better], value[better]
            # A node that was never bounded itself has its parent's bound, and what proves that.
            short = short[(found[short] < target) & (rows.above[nodes[short]] >= 0)]
            nodes[short] = rows.above[nodes[short]]
        # Stopped before there was a bound: without slopes there is some.
        for i in np.flatnonzero(~np.isfinite(found)):
            slopes[i], log_weights[i], here = 0.0, 0.0, slice(i, i + 1)
            args = low[here], high[here], slopes[here], log_weights[here]
            found[i] = statement.bounds.of(*args, statement.reference)[0]
        return slopes, log_weights, found

    def _tree(self, rows):
        """
        Return splits and points of the nodes, each before all below it, and the rows of the leaves.

        Parameters
        ----------
        rows : _Rows
        """
        statement, (first, last, again) = self.statement, rows.children()
        halves, again = list(zip(first.tolist(), last.tolist(), strict=True)), again.tolist()
        found, stack = [], [0]
        while stack:
            node = stack.pop()
            if node < 0:  # a half that was found empty: to be on the safe side, what proved its parent
                found.append(node)
            elif again[node] >= 0:
                stack.append(again[node])  # bounded again, not split
            elif halves[node] == (-1, -1):
                found.append(~node)
            else:
                found.append(node)
                lower, upper = halves[node]
                stack.append(upper if upper >= 0 else ~node)
                stack.append(lower if lower >= 0 else ~node)
        found = np.array(found)
        is_leaf = found < 0
        row = np.where(is_leaf, 0, found)
        if not len(rows.branch):  # stopped before any
            return np.full(1, tree.LEAF, np.int32), np.zeros(1), np.zeros(1, int)
        branch = np.maximum(rows.branch[row], 0)
        splits = np.where(is_leaf, tree.LEAF, statement.variable(branch)).astype(np.int32)
        points = np.where(is_leaf, 0.0, statement.point(branch, rows.at[row]))
        return splits, points, ~found[is_leaf]


class _Rows:
    """The nodes of a search as arrays: rows of parents, variables and points of splits, boxes, multipliers."""

    def __init__(self, nodes):
        columns = list(zip(*nodes, strict=True)) if nodes else [()] * 7
        serial, parent, self.branch = (np.array(column, dtype=int) for column in columns[:3])
        self.at = np.array(columns[3], dtype=float)
        parts = [np.concatenate(column) if column else np.zeros(0) for column in columns[4:]]
        self.low, self.high, self.warm = (part.reshape(max(1, len(serial)), -1) for part in parts)
        row_of = np.full(serial.max(initial=0) + 1, -1)
        row_of[serial] = np.arange(len(serial))
        known = (parent >= 0) & (parent < len(row_of))
        self.above = np.where(known, row_of[np.where(known, parent, 0)], -1)

    def children(self):
        """Rows of the lower and upper half of every node, and of a node bounded again; -1: none."""
        n = max(1, len(self.branch))
        first, last, again = np.full((3, n), -1)
        own = np.flatnonzero(self.above >= 0)
        parent = self.above[own]
        branch = self.branch[parent]
        same = branch < 0
        again[parent[same][::-1]] = own[same][::-1]
        is_first = ~same & (self.high[own, np.maximum(branch, 0)] <= self.at[parent]) if len(own) else same
        first[parent[is_first]] = own[is_first]
        is_last = ~same & ~is_first
        last[parent[is_last]] = own[is_last]
        return first, last, again


class _Statement:
    """The problem as the checker takes it, and how the core's numbers read in the user's units."""

    def __init__(self, family, problem):
        data, d = family.data, family.n_columns
        self.problem, self.bounds = problem, Bounds(problem)
        self.order = np.asarray(data.order)
        self.user = np.argsort(self.order)  # place in the core of each of the user's columns
        self.scale = np.broadcast_to(np.asarray(data.scale, dtype=float), (d,))
        self.center = np.broadcast_to(np.asarray(data.center, dtype=float), (d,))
        self.reference = np.median(self.bounds.columns, axis=0)
        for own in problem.partial:
            self.reference[own] = 0.0
        self.n_cell, self.n_components = family.n_cell, family.n_components
        # place in the checker's cell of each of the core's variables: means, and one variance or one per column
        rest = d + self.order if self.n_cell == 2 * d else np.arange(d, self.n_cell)
        self.cell = np.concatenate([self.order, rest[: self.n_cell - d]])
        self.in_logarithms = problem.family == "exponential"
        # counts cost m - m log m, and in the core so much less reference - m log(reference)
        self.tilt = np.zeros(d)
        if problem.family == "poisson":
            self.tilt[self.order] = np.log(np.asarray(family.reference))

    def variable(self, branch):
        """Return the numbers of connected variables in the checker's cells."""
        component, place = np.divmod(branch, self.n_cell)
        return component * self.n_cell + self.cell[place]

    def point(self, branch, at):
        """Split points in the user's units."""
        d, place = len(self.order), self.cell[branch % self.n_cell]
        j = np.where(place < d, place, place - d if self.n_cell == 2 * d else 0)
        means = self.center[j] + self.scale[j] * (np.exp(at) if self.in_logarithms else at)
        return np.where(place < d, means, at * self.scale[j] ** 2)

    def slopes(self, weights, constants, centers, linear, quadratic):
        """Slopes (L, K, d or 2 d) about the reference, the core's constants and logarithms of weights (L, K)."""
        centers, linear, quadratic = (part[..., self.user] for part in (centers, linear, quadratic))
        rules, shift = self.bounds.rules, (self.reference - self.center) / self.scale - centers
        slopes = (linear + 2.0 * quadratic * shift) / self.scale - self.tilt
        if rules.has_squares:
            squares = quadratic / self.scale**2
            slopes = np.concatenate([slopes, squares[..., [0] * len(self.order)] if rules.shared else squares], axis=2)
        constants = constants + (shift * (linear + quadratic * shift)).sum(axis=2)
        return slopes, constants, np.log(np.maximum(weights, math.exp(LEAST_LOG_WEIGHT)))

    def leaves(self, splits, points):
        """Boxes of the leaves as the checker finds them."""
        return tree.leaves(splits, points, self.bounds.rules, self.n_components, int(self.order[0]))

    def blank(self, n_leaves):
        """Room for slopes and logarithms of weights."""
        rules, K = self.bounds.rules, self.n_components
        return np.zeros((n_leaves, K, rules.n_columns * (1 + rules.has_squares))), np.zeros((n_leaves, K))

    def constants(self, low, high, slopes):
        """Return the checker's constants, summed over the columns: (L, K)."""
        return self.bounds.folded(self.bounds.intercepts(low, high, slopes, self.reference), slopes)[0]

    def unfolded(self, low, high, slopes):
        """
        Take what the constants of partial variables add to their slopes out again, so that the checker adds the same.

        With b - A in the place of slopes b the checker's are b + F(A), F(A) = sum_l a_l(b - A) - A, which is concave in
        A and linear between the places where a label's cost is the same at both ends of its cell: it is 0 beyond the
        last of these where it is not negative, if there is one.
        """
        for own in self.problem.partial:
            b, ends = slopes[..., own], [side[..., own] for side in (low, high)]
            costs = [np.where(m > 0, -m * np.log(np.where(m > 0, m, 1.0)), 0.0) for m in ends]
            width = ends[1] - ends[0]
            chord = np.where(width > 0, (costs[1] - costs[0]) / np.where(width > 0, width, 1.0), 0.0)
            # and one place beyond them all
            places = np.sort(b - chord, axis=2)
            places = np.concatenate([places, places[..., -1:] + 1.0], axis=2)
            tilted = b[..., np.newaxis] - places[..., np.newaxis, :]
            found = [cost[..., np.newaxis] - tilted * m[..., np.newaxis] for cost, m in zip(costs, ends, strict=True)]
            F = np.minimum(*found).sum(axis=2) - places
            last = np.where(F >= 0, np.arange(F.shape[2]), -1).max(axis=2)
            at = np.clip(np.where(last >= 0, last, F.argmax(axis=2)), 0, F.shape[2] - 2)[..., np.newaxis]
            pairs = ([np.take_along_axis(part, at + i, 2)[..., 0] for i in range(2)] for part in (F, places))
            (F0, F1), (A0, A1) = pairs
            share = np.where((last >= 0) & (F0 > F1), F0 / np.where(F0 > F1, F0 - F1, 1.0), 0.0)
            slopes[..., own] = b - (A0 + share * (A1 - A0))[..., np.newaxis]
        return slopes

    def header(self):
        """Return what the file says of the problem."""
        return {
            "digest": file.digest(self.problem.columns, self.problem.weights), "problem": self.problem.record,
            "order": int(self.order[0]), "reference": self.reference.tolist(),
        }  # fmt: skip

    def solution(self, family, solution):
        """Weights, and means of the columns of statistics."""
        found = {"weights": solution.weights.tolist()}
        if "means" in solution.parameters:
            found["means"] = solution.means.tolist()
            if self.bounds.rules.has_squares:
                found["variances"] = solution.problem.kind.variances(solution.covariances).tolist()
            elif solution.prior_variance is not None:
                found["prior_variance"] = solution.prior_variance
            return found
        given = {name: value for name, value in solution.parameters.items() if value is not None}
        means = family.pack(**given).reshape(self.n_components, -1)[:, self.user]
        means = self.scale * (np.exp(means) if self.in_logarithms else means) + self.center
        return {**found, "means": np.minimum(means, LARGEST_MEAN).tolist()}
