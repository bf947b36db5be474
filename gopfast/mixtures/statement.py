"""Statements of families that have more than columns: noise, different columns, posteriors, matrices, regressions.

Theory: (V1) and (V8) of docs/theory/proofs.md, (J5) of docs/theory/regression.md, (JC4) of
docs/theory/counts.md, (VF1), (VF2), (VF5), (VF6) and (VF7) of docs/theory/proof_families.md.
"""

from types import SimpleNamespace

import numpy as np

from gopfast.checker import regressions
from gopfast.checker.problem import COUNTS
from gopfast.checker.verify import Bounds
from gopfast.mixtures.families.replicated import ReplicatedFamily
from gopfast.mixtures.margins import TOUCHING
from gopfast.mixtures.proof import Statement


def statement_of(family, one, problem):
    """Return the statement of a family; arguments as of `Statement`."""
    if problem.family in regressions.FAMILIES:
        return RegressionStatement(family, one, problem)
    if problem.family in COUNTS:
        return CountStatement(family, one, problem)
    if problem.family == "mixed":
        return MixedStatement(family, one, problem)
    if problem.family == "gamma":
        return GammaStatement(family, one, problem)
    if problem.noise is not None:
        return NoisyStatement(family, one, problem)
    if family.frame is not None:
        return MatrixStatement(family, one, problem)
    return (PosteriorStatement if problem.family == "posterior" else Statement)(family, one, problem)


class BlockStatement(Statement):
    """
    The same of some columns, each of which counts several times.

    Parameters
    ----------
    whole : Statement
        Of all columns.
    family : ReplicatedFamily
        The core's, of the columns as they are in the core's units for all.
    columns : ndarray of int
        The core's numbers of the family's columns.
    copies : int

    Attributes
    ----------
    own : ndarray of int
        The user's numbers of the columns, ascending.
    """

    def __init__(self, whole, family, columns, copies):
        users = whole.order[columns]
        self.own = own = np.sort(users)
        data = SimpleNamespace(
            order=np.searchsorted(own, users), scale=whole.scale[own], center=whole.center[own],
            arrays=family.data.arrays,
        )  # fmt: skip
        once = ReplicatedFamily(family.data, 1, family.per_column)
        super().__init__(family, once, whole.problem.part(own), whole.bounds.part(own), data)
        self.whole, self.copies = whole, copies

    def prices(self, prices):
        """Prices (M,) of the checker's samples, which differ in all columns: in some they may be the same."""
        _, dearer = self._dearer(self.bounds.columns)
        return prices[self.whole.rows(self.whole.bounds.columns)] + self.copies * dearer


class NoisyStatement(Statement):
    """The same of components beside which there is one of constant density, the last, of which a box says nothing."""

    def __init__(self, family, one, problem):
        inner = family.inner
        super().__init__(inner, inner.one_component(problem), problem)
        self.is_plain = False  # the core's rounding is not that of the noise

    def boxes(self, values):
        """Corners of the boxes of the components that have parameters."""
        return super().boxes(values[:, : self.n_components * self.n_cell])

    def slopes(self, constants, linear, quadratic, more):
        """Slopes (L, K, n_slopes), and constants (L, K + 1), of which the last is the noise's cost."""
        found, constants = super().slopes(constants, linear, quadratic, more)
        return found[:, : self.n_components], constants

    def constants(self, low, high, slopes):
        """Return the constants of every column, and their sums (L, K + 1), with the noise's."""
        intercepts, total = super().constants(low, high, slopes)
        return intercepts, self.bounds.with_noise(total)[0]


class MixedStatement(Statement):
    """
    The same of columns of different families, side by side in the core as in the checker.

    Attributes
    ----------
    parts : list of (Statement, Part, slice)
        Of every family's columns, with their variables in a cell of the whole.
    """

    is_iterated = True  # leaves that prices have closed, too, are looked at as the checker will

    def __init__(self, family, one, problem):
        self.problem, self.bounds, self.n_components = problem, Bounds(problem), family.n_components
        self.data, self.one, self.is_plain, self.shared = family.data, one, False, np.arange(0)
        self.parts, self.n_cell, self.reference = [], 0, np.zeros(problem.columns.shape[1])
        for inner, part in zip(_factors(family, len(problem.parts)), problem.parts, strict=True):
            own = Statement(inner, inner.one_component(part.problem), part.problem, data=inner.data)
            self.parts.append((own, part, slice(self.n_cell, self.n_cell + own.n_cell)))
            self.n_cell += own.n_cell
            self.reference[part.columns] = own.reference
        self.order = self.parts[0][0].cell[:1]

    def variable(self, branch):
        """Return the numbers of connected variables in the checker's cells."""
        component, place = np.divmod(branch, self.n_cell)
        cell = np.concatenate([own.cell + at.start for own, _, at in self.parts])
        return component * self.n_cell + cell[place]

    def point(self, branch, at):
        """Split points in the user's units."""
        place, found = np.broadcast_to(branch % self.n_cell, np.shape(at)), np.array(at, dtype=float)
        for own, _, cell in self.parts:
            here = (place >= cell.start) & (place < cell.stop)
            found[here] = own.point(place[here] - cell.start, found[here])
        return found

    def slopes(self, constants, linear, quadratic, more):
        """Slopes (L, K, n_slopes) about the reference, and constants of the columns that no sample misses."""
        n_columns, begin = self.bounds.rules.n_columns, 0
        found = np.zeros((*constants.shape, self.bounds.n_slopes))
        for own, part, _ in self.parts:
            here = slice(begin, begin + len(part.columns))
            begin += len(part.columns) + (part.presence is not None)
            slopes, total = own.slopes(np.zeros_like(constants), linear[..., here], quadratic[..., here], more)
            columns = np.concatenate([part.columns, n_columns + part.columns])[: slopes.shape[-1]]
            found[..., columns] = slopes
            if part.presence is None:  # else it is a slope, which the checker finds
                constants = constants + total
        return found, constants

    def unfolded(self, low, high, slopes):
        """Take the constants of variables with missing entries out of their slopes."""
        for own, part, cell in self.parts:
            columns = part.columns
            slopes[..., columns] = own.unfolded(low[..., cell], high[..., cell], slopes[..., columns])
        return slopes

    def prices(self, prices):
        """Prices (M,) of the checker's samples: the core's (N,), and by what costs in the user's units are larger."""
        samples = self.bounds.columns
        columns, dearer = [], np.zeros(len(samples))
        for own, part, _ in self.parts:
            seen = np.ones(len(samples)) if part.presence is None else samples[:, part.presence]
            values = ((samples[:, part.columns] - own.center) / own.scale)[:, own.order]
            columns.append(values * seen[:, np.newaxis])
            if part.presence is not None:
                columns.append(seen[:, np.newaxis])
            here = seen > 0
            dearer[here] += own._dearer(samples[np.ix_(here, part.columns)])[1]
        return prices[self._same(np.hstack(columns), self.data.arrays()[0])] + dearer

    def slack(self):
        """How far apart, in the core's units, cells may be that meet in the user's, by rounding: (n_cell,)."""
        return np.concatenate([own.slack() for own, *_ in self.parts])

    def solution(self, family, solution):
        """Weights, means of the columns of statistics, and variances of the normal ones."""
        mixture, means = solution.problem, np.zeros((self.n_components, len(self.reference)))
        variances = []
        for (own, part, _), whole in zip(self.parts, mixture.parts, strict=True):
            parameters = mixture._own(whole, solution.parameters)
            if "covariances" in parameters:
                means[:, part.columns] = parameters["means"]
                variances.append(parameters["covariances"])
            else:
                means[:, part.columns] = own.means(own.factor, parameters)
        found = {"weights": solution.weights.tolist(), "means": means.tolist()}
        return {**found, "variances": np.hstack(variances).tolist()} if variances else found


def _factors(family, n):
    """Return the families of a product's n groups of columns, of those with missing entries the inner one."""
    found = []
    for _ in range(n - 1):
        found.append(family.first)
        family = family.second
    return [getattr(one, "inner", one) for one in (*found, family)]


class GammaStatement(Statement):
    """The same of Gamma columns: amounts in units of their own, and their logarithms, which have none."""

    is_iterated = True

    def __init__(self, family, one, problem):
        data, d = family.data, problem.columns.shape[1]
        self.data, self.one, self.factor, self.problem, self.bounds = data, one, family, problem, Bounds(problem)
        places = np.argsort(np.asarray(data.order))
        self.user, self.user_logs = places[:d], places[d:]  # of the user's columns in the core
        self.order, self.shared = np.asarray(data.order)[:d], np.arange(0)
        self.scale = np.asarray(data.scale, dtype=float)[:d]
        self.reference = np.median(self.bounds.columns, axis=0)
        self.n_cell, self.n_components, self.is_plain = family.n_cell, family.n_components, False

    def variable(self, branch):
        """Return the numbers of connected variables in the checker's cells: means, then spreads."""
        component, place = np.divmod(branch, self.n_cell)
        return component * self.n_cell + np.concatenate([self.order, len(self.order) + self.order])[place]

    def point(self, branch, at):
        """Split points: means in the user's units, spreads as they are."""
        place, d = branch % self.n_cell, len(self.order)
        scale = self.scale[self.order[np.where(place < d, place, 0)]]
        return np.where(place < d, scale * np.exp(np.where(place < d, at, 0.0)), at)

    def slopes(self, constants, linear, quadratic, more):
        """Slopes (L, K, 2 d) of amounts about the reference and of their logarithms, and constants (L, K)."""
        amounts, logs = linear[..., self.user] / self.scale, linear[..., self.user_logs]
        return np.concatenate([amounts, logs], axis=2), constants + amounts @ self.reference - logs @ np.log(self.scale)

    def slack(self):
        """How far apart cells may be that meet in the user's units, by rounding: (n_cell,)."""
        return np.full(self.n_cell, TOUCHING)

    def rows(self, samples):
        """Return which of the core's samples are nearest to the user's (M, d)."""
        columns, _ = self.data.arrays()
        return self._same((samples / self.scale)[:, self.order], columns[: len(self.order)])

    def _dearer(self, samples):
        """Return the core's numbers of samples (M, d), and by what every component costs more there: the units."""
        return self.rows(samples), np.full(len(samples), np.log(self.scale).sum())

    def solution(self, family, solution):
        """Weights, rates and shapes."""
        return {"weights": solution.weights.tolist(), **{
            name: solution.parameters[name].tolist() for name in ("rates", "shapes")
        }}  # fmt: skip


class PosteriorStatement(Statement):
    """The same of Gaussian posteriors, whose precisions are in the same units for both."""

    is_iterated = True

    def point(self, branch, at):
        """Split points in the user's units."""
        place = branch % self.n_cell
        return np.where(place < len(self.order), super().point(branch, at), at)

    def slopes(self, constants, linear, quadratic, more):
        """Slopes (L, K, 2 d), of the columns and of each one's part of the precisions' logarithms."""
        found, constants = super().slopes(constants, linear, quadratic, more)
        d, more = len(self.order), more.reshape(len(found), self.n_components, -1)
        more = more[..., self.user] if more.shape[2] == d else more[..., [0] * d] / d
        return np.concatenate([found, more], axis=2), constants


class MatrixStatement(Statement):
    """The same of covariance matrices: the checker is handed the core's coordinates."""

    is_iterated = True

    def __init__(self, family, one, problem):
        d = family.d
        self.data, self.one, self.problem = family.data, one, problem
        self.reference, axes = np.asarray(family.center), np.asarray(family.frame)
        self.bounds, self.axes = Bounds(problem, self.reference, axes), axes.tolist()
        self.order, self.n_cell, self.n_components = np.arange(d), family.n_cell, family.n_components
        self.shared = np.arange(family.n_shared)
        self.is_plain, self.has_factors = False, d == 2 and not self.bounds.rules.shared
        if self.bounds.rules.shared:
            family.use_least_within(self.bounds.rules.least_within)

    def variable(self, branch):
        """Return numbers of connected variables, which are the checker's."""
        return branch

    def point(self, branch, at):
        """Split points, which are the checker's."""
        return at

    def slopes(self, constants, linear, quadratic, more):
        """Slopes (L, K, F) of the coordinates and of their products."""
        d = len(self.order)
        if self.bounds.rules.shared:  # no statistics of the core
            products = np.broadcast_to(more[:, np.newaxis], linear.shape[:2] + more.shape[1:])
        elif self.has_factors:  # squares, and one product
            products = np.stack([quadratic[..., 0], linear[..., 2], quadratic[..., 1]], axis=-1)
        else:
            products = linear[..., d:]
        return np.concatenate([linear[..., :d], products], axis=2), constants

    def prices(self, prices):
        """Prices (M,) of the checker's samples: the core's (N,), whose costs are the same."""
        return prices[self._same(self.bounds.rules.z, self.data.arrays()[0][: len(self.order)])]

    def solution(self, family, solution):
        """Weights, means and matrices (K, d, d)."""
        matrices = solution.problem.kind.matrices(solution.covariances)
        return {
            "weights": solution.weights.tolist(), "means": solution.means.tolist(), "covariances": matrices.tolist()
        }  # fmt: skip


class RegressionStatement(MatrixStatement):
    """The same of regressions: the checker is handed the places, and hands back the box of all fits."""

    def __init__(self, family, one, problem):
        design, d, p = family.design, problem.columns.shape[1], problem.n_regressors
        self.data, self.one, self.problem = family.data, one, problem
        places = [[*place[:p], value] for place, value in zip(design.places, design.values, strict=True)]
        self.is_grouped = problem.place_of_groups is not None
        self.is_iterated = self.is_grouped  # both know of a component no more than its box, but rows' costs add up
        self.reference, axes = np.zeros(d), np.array([[float(x) for x in row] for row in places])
        self.bounds, self.axes = Bounds(problem, self.reference, axes), axes.tolist()
        self.order, self.n_cell, self.n_components = np.arange(d), family.n_cell, family.n_components
        self.shared = np.arange(family.n_shared)
        self.is_plain = False
        self._hand_back(family)

    def _hand_back(self, family):
        """Let the core take the checker's box, which that of one component is too small for."""
        rules = self.bounds.rules
        if self.n_components > 1:
            family.use_box(rules.low[: rules.q], rules.high[: rules.q], rules.most)

    def slopes(self, constants, linear, quadratic, more):
        """Slopes (L, K, F) of the squares and products, which are the core's columns."""
        if self.bounds.rules.tied:  # in the core they differ by what is taken off for rounding
            linear = np.array(linear)
            linear[..., 0] = linear[..., 0].min(axis=1, keepdims=True)
        if self.is_grouped:  # the last column is the rows' number, whose slope the checker finds
            return linear[..., :-1], np.zeros(linear.shape[:2])
        return linear, constants

    def prices(self, prices):
        """Prices (M,) of the checker's samples: averages of those of equal ones, in the core (N,)."""
        if self.is_grouped:  # groups are the core's samples
            return prices
        problem, weights = self.problem, self.data.arrays()[1]
        rows, index = np.unique(problem.columns[problem.weights > 0], axis=0, return_inverse=True)
        if len(rows) == len(prices):
            return prices
        index = index.reshape(-1)
        return np.bincount(index, weights * prices) / np.bincount(index, weights)

    def solution(self, family, solution):
        """Weights, coefficients, intercepts and variances."""
        found = {name: value.tolist() for name, value in solution.parameters.items() if name != "variance"}
        if solution.variance is not None:  # of one component, or of all
            found["variances"] = [solution.variance] * self.n_components
        return {"weights": solution.weights.tolist(), **found}


class CountStatement(RegressionStatement):
    """The same of regressions of counts, whose costs the checker finds for every sample."""

    def __init__(self, family, one, problem):
        super().__init__(family, one, problem)
        self.is_iterated = True  # in smaller boxes tangents may prove less

    def _hand_back(self, family):
        family.use_box(self.bounds.rules.low, self.bounds.rules.high)

    def slopes(self, constants, linear, quadratic, more):
        """Points that tangents are valued at, and whether they are, (L, K, q + 1); no constants."""
        return linear[..., : self.bounds.n_slopes], np.zeros(linear.shape[:2])

    def solution(self, family, solution):
        """Weights, coefficients and intercepts."""
        found = {name: value.tolist() for name, value in solution.parameters.items()}
        return {"weights": solution.weights.tolist(), **found}
