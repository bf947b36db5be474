"""Proofs of mixture searches, for `gopfast.checker`: the tree, and for every leaf what bounds it.

A leaf needs no more than slopes of affine functions below its components' costs, and weights: the checker finds the
constants itself. Both come from the multipliers that the relaxed dual stopped at, which nodes hand on anyway.
"""

import math

import numpy as np

from gopfast.checker import file, tree, verify
from gopfast.checker.families import FAMILIES

LEAST_WEIGHT = 1e-40
# A leaf is taken up with another node's slopes where its bound lacks more than this part of the gap.
SHORT = 0.1
ROUNDING = 1e-9  # of the objective: the checker's margin


class Recorder:
    """
    What a search tells of its nodes, made into a proof.

    Parameters
    ----------
    problem : MixtureProblem
    family : Family
    relaxation : EntropicRelaxation
        With ``provable=True``.

    Attributes
    ----------
    nodes : list
        For `Search(proof=...)`.
    """

    def __init__(self, problem, family, relaxation):
        self.problem, self.family, self.relaxation = problem, family, relaxation
        self.nodes = []
        self.statement = _Statement(problem, family)

    def write(self, path, result):
        """Write the proof of a result; returns the lower bound that it proves, by the checker's own arithmetic."""
        statement = self.statement
        splits, points, serials = self._tree()
        low, high, empty = statement.leaves(splits, points)
        rows = {row[0]: row for row in self.nodes}
        serials = [serial for serial, gone in zip(serials, empty, strict=True) if not gone]
        slopes, log_weights = statement.blank(len(serials))
        found, short = np.full(len(serials), -math.inf), np.arange(len(serials))
        target = result.lower_bound - SHORT * (result.objective - result.lower_bound)
        while len(short):
            tried = [statement.slopes(self.relaxation.explain(*rows[serials[i]][4:])) for i in short]
            new, constants, logs = (np.array(part) for part in zip(*tried, strict=True))
            # The checker's constants are higher than the core's; with these weights its responsibilities are the same.
            logs += statement.constants(low[short], high[short], new) - constants
            logs -= logs.max(axis=1, keepdims=True)
            value = statement.bounds(low[short], high[short], new, logs)
            better = value > found[short]
            at = short[better]
            slopes[at], log_weights[at], found[at] = new[better], logs[better], value[better]
            # A node that was never bounded itself has its parent's bound, and what proves that.
            short = np.array([i for i in short if found[i] < target and rows[serials[i]][1] in rows], dtype=int)
            for i in short:
                serials[i] = rows[serials[i]][1]
        lower = min(found.min(initial=math.inf), result.objective)
        lower -= ROUNDING * (1 + abs(lower))  # sums of other lengths round in another way
        header = {**statement.header(), "claim": {"lower_bound": lower, **statement.claim(result)}}
        arrays = {"splits": splits, "points": points, "slopes": slopes, "log_weights": log_weights}
        file.write(path, header, arrays)
        return lower

    def _tree(self):
        """Return splits and points of the nodes, each before all below it, and the leaves' serials (None: empty)."""
        rows = {row[0]: row for row in self.nodes}
        children = {serial: [] for serial in rows}
        for serial, parent, *_ in self.nodes:
            if parent in children:
                children[parent].append(serial)
        splits, points, serials = [], [], []
        stack = [self.nodes[0][0]]
        while stack:
            serial = stack.pop()
            own = children[serial] if serial is not None else []
            if not own:
                splits.append(tree.LEAF)
                points.append(0.0)
                serials.append(serial)
                continue
            _, _, branch, at, *_ = rows[serial]
            if branch < 0:
                stack.append(own[0])  # bounded again, not split
                continue
            splits.append(self.statement.variable(branch))
            points.append(self.statement.point(branch, at))
            halves = [None, None]
            for child in own:
                halves[0 if rows[child][5][branch] <= at else 1] = child
            stack += [halves[1], halves[0]]
        return np.array(splits, dtype=np.int32), np.array(points), serials


class _Statement:
    """The problem as the checker takes it, and how the core's numbers read in the user's units."""

    def __init__(self, problem, family):
        self.problem, self.data = problem, family.data
        self.order = np.asarray(self.data.order)
        self.scale = np.broadcast_to(np.asarray(self.data.scale, dtype=float), (len(self.order),))
        self.center = np.broadcast_to(np.asarray(self.data.center, dtype=float), (len(self.order),))
        self.columns, self.record = problem.X, {"n_components": problem.n_components}
        covariance = problem.covariance
        self.record["family"] = covariance
        if covariance == "known":
            self.record["noise_variance"] = problem.noise_variance.tolist()
        else:
            self.record["covariance"] = covariance
            self.record["variance_floor"] = np.asarray(problem.variance_floor).tolist()
        self.weights = problem.sample_weight
        used = self.columns[self.weights > 0]
        self.rules = FAMILIES[self.record["family"]](self.record, used.T)
        self.reference = np.median(used, axis=0)
        self.n_cell = family.n_cell

    def _place(self, branch):
        component, place = divmod(branch, self.n_cell)
        d = len(self.order)
        if place < d:
            return component, self.order[place], place
        return component, d + (self.order[place - d] if self.n_cell == 2 * d else place - d), place

    def variable(self, branch):
        """Return the number of a connected variable in the checker's cells."""
        component, place, _ = self._place(branch)
        return component * self.n_cell + int(place)

    def point(self, branch, at):
        """Return the split point in the user's units."""
        _, place, _ = self._place(branch)
        d = len(self.order)
        if place < d:
            return float(self.center[place] + self.scale[place] * at)
        return float(at * self.scale[place - d if self.n_cell == 2 * d else 0] ** 2)

    def slopes(self, explained):
        """Return slopes (K, d or 2 d) about the reference, the core's constants and logarithms of weights (K,)."""
        weights, constants, centers, linear, quadratic = (np.asarray(part) for part in explained)
        user = np.empty_like(self.order)
        user[self.order] = np.arange(len(self.order))
        centers, linear, quadratic = centers[:, user], linear[:, user], quadratic[:, user]
        shift = (self.reference - self.center) / self.scale - centers
        square = quadratic / self.scale**2
        slope = (linear + 2.0 * quadratic * shift) / self.scale
        if self.rules.has_squares:
            if self.rules.shared:
                square = np.repeat(square[:, :1], len(self.order), 1)
            slope = np.hstack([slope, square])
        constants = constants + (shift * (linear + quadratic * shift)).sum(axis=1)
        return slope, constants, np.log(np.maximum(weights, LEAST_WEIGHT))

    def leaves(self, splits, points):
        """Return the boxes of the leaves as the checker finds them."""
        return tree.leaves(splits, points, self.rules, self.problem.n_components, int(self.order[0]))

    def blank(self, n_leaves):
        """Return room for slopes and logarithms of weights."""
        K = self.problem.n_components
        return np.zeros((n_leaves, K, self.rules.n_columns * (1 + self.rules.has_squares))), np.zeros((n_leaves, K))

    def constants(self, low, high, slopes):
        """Return the checker's constants, summed over the columns: (L, K)."""
        return self.rules.intercepts(low, high, slopes, self.reference).sum(axis=2)

    def bounds(self, low, high, slopes, log_weights):
        """Return bounds of leaves, by the checker's arithmetic."""
        used = self.weights > 0
        return verify.leaf_bounds(self.rules, self.columns[used], self.weights[used], self.reference, low, high, slopes,
                                  log_weights)  # fmt: skip

    def header(self):
        """Return what the file says of the problem."""
        return {
            "digest": file.digest(self.columns, self.weights), "problem": self.record, "order": int(self.order[0]),
            "reference": self.reference.tolist(),
        }  # fmt: skip

    def claim(self, result):
        """Return objective and solution; the objective rounded up for the checker's arithmetic."""
        solution = {"weights": result.weights.tolist(), "means": result.means.tolist()}
        if self.rules.has_squares:
            solution["variances"] = self.problem._variances(result.covariances).tolist()
        return {"objective": result.objective + ROUNDING * (1 + abs(result.objective)), "solution": solution}
