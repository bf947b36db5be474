"""What a proof says of a mixture: the core's numbers in the user's units, as `gopfast.checker` takes them.

A leaf needs no more than slopes of affine functions below its components' costs, and weights: the checker finds the
constants itself. Both are those of the pass that bounded the node best, which nodes hand on. `recording` writes them.

Theory: (V8) of docs/theory/proofs.md.
"""

import numpy as np

from gopfast.checker import file, objective, tree
from gopfast.checker.problem import FREE, NORMAL
from gopfast.checker.rounding import UNIT
from gopfast.checker.tuning import BLOCK, MOST_SCALE
from gopfast.checker.verify import Bounds
from gopfast.mixtures.margins import TOUCHING
from gopfast.mixtures.pricing.pricing import ComponentPricing
from gopfast.mixtures.tuning import FURTHEST, LARGEST_MEAN, SPREAD


class Statement:
    """
    The problem as the checker takes it, and how the core's numbers read in the user's units.

    Parameters
    ----------
    family : Family
        The core's.
    one : None or Family
        The same of one component; None for known variances whose prior is estimated.
    problem : gopfast.checker.problem.Problem
    bounds : gopfast.checker.verify.Bounds, optional
        The problem's.
    data : object, optional
        The scale, center and order of the problem's columns, and the core's arrays; by default the family's.
    """

    axes = None
    is_iterated = False  # whether a bound by the core's box may be above that by the checker's, which is another

    def __init__(self, family, one, problem, bounds=None, data=None):
        data, d = data or family.data, family.n_columns
        self.data, self.one, self.factor = data, one, family
        self.problem, self.bounds = problem, bounds or Bounds(problem)
        self.order = np.asarray(data.order)
        self.user = np.argsort(self.order)  # place in the core of each of the user's columns
        self.scale = np.broadcast_to(np.asarray(data.scale, dtype=float), (d,))
        self.center = np.broadcast_to(np.asarray(data.center, dtype=float), (d,))
        self.reference = np.median(self.bounds.columns, axis=0)
        for own in problem.partial:
            self.reference[own] = 0.0
        self.n_cell, self.n_components = family.n_cell, family.n_components
        # place in the checker's cell of each of the core's variables: means, and one variance or one per column
        self.per_column = self.n_cell - d + family.n_shared == d
        rest = d + self.order if self.per_column else np.arange(d, self.n_cell)
        self.cell = np.concatenate([self.order, rest[: self.n_cell - d]])
        # the same of those that components share
        self.shared = self.order if self.per_column else np.arange(1)
        self.in_logarithms = problem.family == "exponential"
        # counts cost m - m log m, and in the core so much less reference - m log(reference)
        self.tilt = np.zeros(d)
        if problem.family == "poisson":
            self.tilt[self.order] = np.log(np.asarray(family.reference))
        # in smaller boxes what missing entries cost may prove less: the bounds that count are those of the checker's
        # so may prices of columns of many magnitudes, whose slopes times samples lose digits there, and what a prior of
        # many pseudo-observations costs, which the least that boxes differ by changes
        self.is_iterated = self.is_iterated or bool(problem.partial) or problem.family == "exponential"
        self.is_iterated = self.is_iterated or problem.prior is not None
        # A prior's terms have a constant of every column, missing entries one of every variable, a shared one its own.
        self.is_plain = problem.prior is None and not problem.partial and not family.n_shared
        self.dearer = 0.0  # what components cost more in the user's units, at the reference
        if one is not None:
            first = self.bounds.columns[:1]
            self.dearer = float(self._dearer(first)[1][0] + self.tilt @ (first[0] - self.reference))

    def variable(self, branch):
        """Return the numbers of connected variables in the checker's cells."""
        component, place = np.divmod(branch, self.n_cell)
        shared = branch >= self.n_components * self.n_cell
        first = self.n_components * self.n_cell
        own = component * self.n_cell + self.cell[place]
        return np.where(shared, first + self.shared[np.where(shared, branch - first, 0)], own)

    def point(self, branch, at):
        """Split points in the user's units."""
        d, first = len(self.order), self.n_components * self.n_cell
        shared = self.shared[np.where(branch < first, 0, branch - first)]
        place = np.where(branch < first, self.cell[branch % self.n_cell], d + shared)
        j = np.where(place < d, place, place - d if self.per_column else 0)
        means = self.center[j] + self.scale[j] * (np.exp(at) if self.in_logarithms else at)
        return np.where(place < d, means, at * self.scale[j] ** 2)

    def split(self, branch, at, inner):
        """Variables and points of splits; those that are not `inner` keep their point, which is below all boxes."""
        return self.variable(branch), np.where(inner, self.point(branch, np.where(inner, at, 0.0)), at)

    def slopes(self, constants, linear, quadratic, more):
        """Slopes (L, K, n_slopes) about the reference, and the core's constants (L, K)."""
        linear, quadratic = (part[..., self.user] for part in (linear, quadratic))
        rules, shift = self.bounds.rules, (self.reference - self.center) / self.scale
        slopes = (linear + 2.0 * quadratic * shift) / self.scale - self.tilt
        if rules.has_squares:
            squares = quadratic / self.scale**2
            slopes = np.concatenate([slopes, squares[..., [0] * len(self.order)] if rules.shared else squares], axis=2)
        return slopes, constants + (shift * (linear + quadratic * shift)).sum(axis=2) + self.dearer

    def prices(self, prices):
        """Prices (M,) of the checker's samples: the core's (N,), and by what costs in the user's units are larger."""
        same, dearer = self._dearer(self.bounds.columns)
        return prices[same] + dearer

    def _dearer(self, samples):
        """Return the core's numbers of samples (M, d), and by what every component costs more there."""
        columns, weights = self.data.arrays()
        same = self.rows(samples)
        # any component will do: it costs as much more at every sample as all others do
        point, d = np.full(self.n_cell, SPREAD), len(self.order)
        point[:d] = np.average(columns, axis=1, weights=weights)
        if self.in_logarithms:
            point = np.log(np.where(point > 0, point, 1.0))
        elif self.problem.family == "poisson":
            point = np.maximum(point, 0.5)
        elif self.problem.family in ("bernoulli", "labels", "multinomial"):
            point = np.clip(point, 0.01, 0.99)
            groups = np.array(self.problem.groups)[self.order]
            for group in set(self.problem.groups) - {-1}:
                point[groups == group] /= point[groups == group].sum()
        n = len(samples)
        shifted = self.factor.shifted
        if shifted:  # as much at all samples as at the mean, which rounding moves unless it is one of them
            n, point[:d] = 1, columns[:, same[0]]
        cell = self.boxes(point[np.newaxis])[0]
        if shifted:
            cell[:, :d] = samples[:1]
        variances = np.broadcast_to(cell[:, d:], (1, d)) if self.n_cell > d else None
        costs, _ = objective.costs(self.problem, samples[:n], cell[:, :d], variances)
        dearer = costs[:, 0] - ComponentPricing(self.one).costs_at(point)[0][same[:n]]
        return same, np.broadcast_to(dearer, len(same))

    def scales(self, scales):
        """Logarithms of scales (C,) within the checker's range: one above 0 bounds no better than 0 does."""
        return np.clip(scales, -MOST_SCALE, MOST_SCALE)

    def slack(self):
        """How far apart, in the core's units, cells may be that meet in the user's, by rounding: (n_cell,)."""
        if self.axes is not None:  # they are the same
            return np.zeros(self.n_cell)
        d, scale = len(self.order), self.scale[self.order]
        size = np.abs(self.bounds.columns).max(axis=0) + np.abs(self.center)
        means = TOUCHING * (size[self.order] / scale + np.ptp(self.data.arrays()[0], axis=1))
        if self.in_logarithms:
            means = np.full(d, TOUCHING)
        return np.concatenate([means, np.full(self.n_cell - d, TOUCHING * (means / TOUCHING).max() ** 2)])

    def rows(self, samples):
        """Return which of the core's samples are nearest to the user's (M, d)."""
        columns, _ = self.data.arrays()
        return self._same(((samples - self.center) / self.scale)[:, self.order], columns)

    def _same(self, samples, columns):
        """Return which of the core's columns (d, N) are nearest to samples (M, d)."""
        # Here and not above: it takes a tenth of the time of importing gopfast.
        from scipy.spatial import cKDTree

        return cKDTree(columns.T).query(samples)[1]

    def loss(self, slopes, logs, intercepts):
        """
        Bound what rounding in the checker costs the bounds of leaves (L,).

        Per unit of weight, with e the error of a cost and r that of a logarithm that `gopfast.checker.leaf` takes off:
        10 e and 6 r of margins there, as much at most for what rounding moves itself, and the sums over samples.
        """
        rules = self.bounds.rules
        y = np.abs(self.bounds.columns - self.reference).max(axis=0)
        sizes = np.abs(slopes[..., : rules.n_columns]) @ y + np.abs(rules.quadratic(slopes)) @ np.square(y)
        sizes += np.abs(logs) + np.abs(intercepts).sum(axis=2)
        e, r = 2 * rules.n_columns + 13 + sizes.shape[1], 2 * sizes.shape[1] + 64
        factor = 20 * e + 12 * r + 4 * (min(BLOCK, len(self.bounds.weights)) + len(self.bounds.weights) // BLOCK + 9)
        return factor * UNIT * (1 + sizes.max(axis=1)) * self.bounds.weights.sum()

    def lost_by_units(self):
        """Bound what rounding the ends of cells in the user's units takes from what normal components cost, in nats."""
        return 4 * UNIT * self._at_the_floor(lambda y: np.abs(self.bounds.columns).max(axis=0) * y)

    def lost_by_prices(self):
        """Bound what rounding in the checker adds to what a normal component saves, in nats."""
        return (2 * self.bounds.rules.n_columns + 21) * UNIT * self._at_the_floor(lambda y: 0.5 * np.square(y))

    def _at_the_floor(self, cost):
        """Sum the cost of all samples, by their distances (d,) from the reference, over the least variances."""
        problem = self.problem
        if problem.family not in NORMAL:
            return 0.0
        least = problem.floor if problem.family in FREE else problem.noise_variance
        y = np.abs(self.bounds.columns - self.reference).max(axis=0)
        return float((cost(y) / least).sum() * self.bounds.weights.sum())

    def boxes(self, values):
        """Corners (L, n) of the core's boxes of any number of components, as (L, K, p + q) in the user's units."""
        n = min(values.shape[1], self.n_components * self.n_cell)  # or of one component, which shares nothing
        own, shared = values[:, :n].reshape(len(values), -1, self.n_cell), values[:, np.newaxis, n:]
        out = np.empty(own.shape)
        out[..., self.variable(np.arange(self.n_cell))] = self.point(np.arange(self.n_cell), own)
        shared = self.point(n + np.arange(shared.shape[2]), shared)[..., np.argsort(self.shared[: shared.shape[2]])]
        return np.concatenate([out, np.broadcast_to(shared, (*out.shape[:2], shared.shape[2]))], axis=2)

    def leaves(self, splits, points):
        """Labels and boxes of leaves as the checker finds them, and which are empty."""
        return tree.leaves(splits, points, self.bounds.rules, self.n_components, int(self.order[0]))

    def ordered(self, low, high):
        """Boxes as the checker cuts them, and which are empty."""
        return tree.ordered(low, high, self.bounds.rules, int(self.order[0]))

    def constants(self, low, high, slopes):
        """Return the checker's constants of every column (L, K, d), and their sums (L, K)."""
        intercepts = self.bounds.intercepts(low, high, slopes, self.reference)
        return intercepts, self.bounds.folded(intercepts, slopes)[0]

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
            # where means of labels are known F hardly falls: far out slopes would cancel, and nothing is lost if F > 0
            share = np.where((last >= 0) & (F0 > F1), F0 / np.where(F0 > F1, F0 - F1, 1.0), 0.0)
            share = np.minimum(share, FURTHEST)
            slopes[..., own] = b - (A0 + share * (A1 - A0))[..., np.newaxis]
        return slopes

    def header(self):
        """Return what the file says of the problem."""
        return {
            "digest": file.digest(self.problem.columns, self.problem.weights), "problem": self.problem.record,
            "order": int(self.order[0]), "reference": self.reference.tolist(), "axes": self.axes,
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
            if solution.posterior_variances is not None:
                found["posterior_variances"] = solution.posterior_variances.tolist()
            return found
        given = {name: value for name, value in solution.parameters.items() if value is not None}
        return {**found, "means": self.means(family, given).tolist()}

    def means(self, family, parameters):
        """Means (K, d) of the columns of statistics, of the user's parameters."""
        means = family.pack(**parameters).reshape(self.n_components, -1)[:, self.user]
        return np.minimum(self.scale * (np.exp(means) if self.in_logarithms else means) + self.center, LARGEST_MEAN)
