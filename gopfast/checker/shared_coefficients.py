"""Proofs of mixtures of regressions whose components share a coefficient: one proof for each of some of its values.

``problem`` in the header is that of a mixture of regressions, see `problem`, with ``shared_coefficient``, the place of
what is shared among the regressors and the constant after them. ``direction`` (q,): of the q others a combination that
is near the shared regressor x. ``claim`` has ``lower_bound``, ``objective`` and ``solution``, as of regressions.

``values`` (n,) of the coefficient, ascending. ``sizes`` (n,) in bytes of what ``proofs`` has for each of them, one
after the other: a proof of the mixture in which the coefficient is known, that of the response y - x u on the others,
as floats; or nothing, 0. ``slopes`` (n - 1,) of the loss between two values. ``blocks`` (B, K q + 1) of different
samples, by their places among those of positive weight; or (B, K + 1) of such as have the same regressors, x left
aside.

With F(u) the optimum where the coefficient is u, a range of it is proved by what F is at least at its ends, less what
it may lack between them (JS2) and (JS3), or by what the blocks cost there (JS4); beyond the values that no component of
an optimal mixture has (JS1) there is nothing to prove. All of it is computed in fractions, but for roots and
logarithms, and for the blocks' squares, which are rounded outward.

Theory: (VF4) of docs/theory/proof_families.md.
"""

import itertools
import math
from fractions import Fraction

import numpy as np

from . import file, objective, problem as mixtures
from .covariance import determinant
from .entries import item, number, numbers, whole
from .errors import ProofError
from .families import LOG_2_PI
from .regressions import designs, enclosed, hull
from .rounding import Interval, down, up
from .tuning import MOST_CONTRASTS


class Problem:
    """
    A mixture of regressions whose components share a coefficient, and its data.

    Attributes
    ----------
    mixture : gopfast.checker.problem.Problem
        The same where nothing is shared.
    place : int
        Of the shared coefficient.
    """

    def __init__(self, record, X, sample_weight):
        if not isinstance(record, dict) or record.get("family") not in mixtures.LEVELS:
            raise ProofError("problem", "must be a mixture of regressions")
        self.record, own = record, {name: x for name, x in record.items() if name != "shared_coefficient"}
        self.mixture = mixture = mixtures.Problem(own, X, sample_weight)
        self.columns, self.weights, self.n_regressors = mixture.columns, mixture.weights, mixture.n_regressors
        self.n_own = self.n_regressors + mixture.fit_intercept - 1
        self.place = whole(record, "shared_coefficient", "problem", 0, self.n_own)
        if self.n_own < 1:
            raise ProofError("problem", "components have no coefficient of their own")

    def fixed(self, value):
        """Return the record and the data (N, p) of the mixture in which the coefficient has a value."""
        is_slope = self.place < self.n_regressors
        others = np.delete(self.columns[:, :-1], [self.place] * is_slope, axis=1)
        response = self.columns[:, -1] - value * self.shared_regressor()
        record = {**self.mixture.record, "fit_intercept": self.mixture.fit_intercept and is_slope}
        if "groups" in record:  # the last column before the response
            record["groups"] = others.shape[1] - 1
        return record, np.column_stack([others, response])

    def shared_regressor(self):
        """Return x (N,)."""
        return self.columns[:, self.place] if self.place < self.n_regressors else np.ones(len(self.columns))

    def attained(self, solution):
        """Return the objective at a solution, rounded up."""
        name = "coefficients" if self.place < self.n_regressors else "intercepts"
        shape = (self.mixture.n_components, self.n_regressors)[: 2 if self.place < self.n_regressors else 1]
        found = numbers(solution, name, "solution", shape)
        found = found[:, self.place] if found.ndim == 2 else found
        if (found != found[0]).any():
            raise ProofError("solution", "all components have the same shared coefficient")
        value = objective.attained(self.mixture, *self.mixture.merged(), solution)
        return float(up(value + 2.0**-50 * abs(value)))


class Ranges:
    """
    Lower bounds of the optimum over ranges of the shared coefficient.

    Parameters
    ----------
    problem : Problem
    direction : ndarray, shape (q,)
    blocks : ndarray of int, shape (B, K q + 1) or (B, K + 1)
    """

    def __init__(self, problem, direction, blocks):
        self.problem, mixture = problem, problem.mixture
        self.used, self.free = mixture.weights > 0, mixture.family != "known_regression"
        columns, self.level = mixture.columns[self.used], Fraction(mixture.least_variance)
        self.rows, self.y = designs(mixture, columns.T), [Fraction(y) for y in columns[:, -1].tolist()]
        self.x = [row[problem.place] for row in self.rows]
        self.own = [row[: problem.place] + row[problem.place + 1 :] for row in self.rows]
        self.weights = [Fraction(w) for w in mixture.weights[self.used].tolist()]
        total = math.fsum(mixture.weights[self.used])
        self.mass = Interval(down(total), up(total))
        near = [Fraction(d) for d in direction.tolist()]
        left = [x - sum(z * d for z, d in zip(row, near, strict=True)) for x, row in zip(self.x, self.own, strict=True)]
        # nats per squared unit of the coefficient
        self.steepest = sum(w * e * e for w, e in zip(self.weights, left, strict=True)) / (2 * self.level)
        if not self.steepest > 0:
            raise ProofError("problem", "the shared regressor depends on the others")
        level = Interval(float(self.level)).log() + LOG_2_PI
        self.floor = float((level * 0.5 * self.mass).low)  # what all samples cost at least
        self._set_blocks(blocks)

    def lost(self, value, lower):
        """Bound what the rounded data of a known coefficient cost more than the exact ones: a Fraction."""
        response = self.problem.fixed(value)[1][self.used, -1].tolist()
        value, squares = Fraction(value), Fraction(0)
        for w, x, y, rounded in zip(self.weights, self.x, self.y, response, strict=True):
            squares += w * (Fraction(rounded) - (y - x * value)) ** 2
        distance = up(math.sqrt(up(float(squares)))) if squares else 0.0
        if self.free:
            root = up(math.sqrt(up(float(self.mass.high) / float(self.level))))
            return Fraction(float(up(distance * root)))
        v = self.level  # what residuals cost is at most what is claimed less the rest, or else nothing is lost
        beyond = max(Fraction(0), Fraction(lower) - Fraction(self.floor))
        root = Fraction(float(up(math.sqrt(up(float(2 * v * beyond))))))
        return (root * Fraction(distance) + Fraction(distance) ** 2 / 2) / v

    def between(self, a, b, lower_a, lower_b, slope):
        """
        Bound the optimum between two values of the coefficient.

        Parameters
        ----------
        a, b : float
            a < b.
        lower_a, lower_b : Fraction
            What it is at least there.
        slope : float
            Above 0, of a tangent of the loss; of a known variance any will do.

        Returns
        -------
        Fraction
        """
        a, b, slope = Fraction(a), Fraction(b), Fraction(slope)
        beyond = Fraction(0)
        if self.free and slope < self.steepest:
            ratio = up(float(self.steepest / slope))
            beyond = Fraction(float(up(0.5 * self.mass.high * Interval(ratio).log().high * (1 + 2.0**-50))))
        else:
            slope = self.steepest
        at = (a + b) / 2 + (lower_a - lower_b) / (2 * slope * (b - a))
        at = min(max(at, a), b)
        return min(lower_a - slope * (at - a) ** 2, lower_b - slope * (b - at) ** 2) - beyond

    def _set_blocks(self, blocks):
        """Find what is left of sets of q + 1 samples of a block whatever the components' own coefficients are."""
        K, q, n_blocks = self.problem.mixture.n_components, self.problem.n_own, len(blocks)
        self.n_blocks, size = n_blocks, blocks.shape[1]
        if not n_blocks:
            return
        if size not in (K * q + 1, K + 1):
            raise ProofError("blocks", f"must have {K * q + 1} or {K + 1} samples each")
        if len(np.unique(blocks)) < blocks.size or blocks.min() < 0 or blocks.max() >= len(self.x):
            raise ProofError("blocks", "must have different samples")
        own = self.own
        if size != K * q + 1:
            if any(own[i] != own[block[0]] for block in blocks for i in block):
                raise ProofError("blocks", "of so few samples must be of such as have the same regressors")
            q, own = 1, [[Fraction(1)]] * len(own)
        if n_blocks * math.comb(size, q + 1) > MOST_CONTRASTS:
            raise ProofError("blocks", f"have more than {MOST_CONTRASTS:,} sets of samples")
        slopes, values, norms, masses = [], [], [], []
        for block in blocks.tolist():
            for some in itertools.combinations(block, q + 1):
                nu = _contrast([own[i] for i in some])
                largest = max(map(abs, nu)) or Fraction(1)
                nu = [c / largest for c in nu]
                slopes.append(sum(c * self.x[i] for c, i in zip(nu, some, strict=True)))
                values.append(sum(c * self.y[i] for c, i in zip(nu, some, strict=True)))
                norms.append(sum(c * c / self.weights[i] for c, i in zip(nu, some, strict=True)) or Fraction(1))
                masses.append(sum(self.weights[i] for i in some))
        self.steep = np.array([s != 0 for s in slopes])
        self.places = enclosed([v / s if s else Fraction(0) for v, s in zip(values, slopes, strict=True)])
        self.slopes, self.values = down(_floats(map(abs, slopes))), down(_floats(map(abs, values)))
        self.norms, self.masses = up(_floats(norms)), enclosed(masses)

    def far(self, low, high):
        """Bound the optimum where the coefficient is between two numbers, either of which may be infinite: a float."""
        if not self.n_blocks:
            return self.floor
        apart = np.maximum(down(low - self.places.high), down(self.places.low - high))
        residuals = np.where(self.steep, down(self.slopes * np.maximum(apart, 0.0)), self.values)
        squares = np.maximum(down(down(np.square(np.maximum(residuals, 0.0))) / self.norms), 0.0)
        level, family = Interval(float(self.level)), self.problem.mixture.family
        if family == "regression":
            mass = self.masses
            costs = (mass * _raised(Interval(squares).over(mass).over(level))).low
            more = math.fsum(self._of_blocks(costs))
        else:
            more = down(math.fsum(self._of_blocks(squares)))
            if family == "known_regression":
                more = float((Interval(more) * 0.5).over(level).low)
            else:
                more = float((self.mass * _raised(Interval(more).over(self.mass).over(level))).low)
        return float(down(self.floor + max(0.0, down(more)))) if not math.isnan(more) else self.floor

    def _of_blocks(self, values):
        """Return the least of each block's sets."""
        return np.maximum(values.reshape(self.n_blocks, -1).min(axis=1), 0.0)

    def ends(self):
        """Return numbers between which the coefficient of some optimal mixture lies."""
        low, high = hull(self.rows, enclosed(self.y))
        return float(low[self.problem.place]), float(high[self.problem.place])

    def bounds(self, values, lowers, slopes):
        """
        Bound the optimum over all ranges between values, and beyond them.

        Parameters
        ----------
        values : list of float
            n of them, ascending.
        lowers : list of Fraction or None
            What is proved at each; None: nothing is.
        slopes : list of float
            n - 1 of them.

        Returns
        -------
        list of Fraction
            Those n - 1 between them, then the two beyond, or one of all where there are no values.
        """
        found = []
        for i, (a, b) in enumerate(itertools.pairwise(values)):
            bound = Fraction(self.far(a, b))
            if lowers[i] is not None and lowers[i + 1] is not None:
                bound = max(bound, self.between(a, b, lowers[i], lowers[i + 1], slopes[i]))
            found.append(bound)
        outer = [(-math.inf, values[0]), (values[-1], math.inf)] if values else [(-math.inf, math.inf)]
        return [*found, *(Fraction(self.far(*ends)) for ends in outer)]


def verify(header, arrays, problem, check):
    """
    Check a proof.

    Parameters
    ----------
    header, arrays : dict
    problem : Problem
    check : callable
        Checks a proof of a mixture: of header, arrays, data, weights and problem.

    Returns
    -------
    lower : float
        The lower bound,
    value : float
        the objective,
    n_leaves : int
        leaves of all proofs and ranges of the coefficient,
    solution : dict
    """
    claim = item(header, "claim", "header")
    lower, solution = number(claim, "lower_bound", "claim"), item(claim, "solution", "claim")
    value = problem.attained(solution)
    if not value <= number(claim, "objective", "claim"):
        raise ProofError("solution", f"its objective is {value:.12g}, the proof claims {claim['objective']:.12g}")
    ranges = Ranges(problem, numbers(header, "direction", "header", (problem.n_own,)), arrays["blocks"])
    values, sizes, slopes = arrays["values"], arrays["sizes"], arrays["slopes"]
    if not (np.diff(values) > 0).all():
        raise ProofError("values", "must ascend")
    if len(sizes) != len(values) or (sizes < 0).any() or sizes.sum(dtype=np.int64) != len(arrays["proofs"]):
        raise ProofError("sizes", "must be those of the proofs, one of each value")
    if len(slopes) != max(0, len(values) - 1) or not (slopes > 0).all():
        raise ProofError("slopes", "must be above 0, one between each two values")
    lowers, n_leaves, begin = [], 0, 0
    for at, size in zip(values.tolist(), sizes.tolist(), strict=True):
        data, begin = arrays["proofs"][begin : begin + size].tobytes(), begin + size
        found = _proved(problem, at, data, check) if size else None
        lowers.append(None if found is None else Fraction(found.lower_bound) - ranges.lost(at, found.lower_bound))
        n_leaves += 0 if found is None else found.n_leaves
    bounds = ranges.bounds(values.tolist(), lowers, slopes.tolist())
    short = [i for i, bound in enumerate(bounds) if not bound >= Fraction(lower)]
    outer = max(0, len(values) - 1)
    if len(values) and any(i >= outer for i in short):
        ends = ranges.ends()
        beyond = (values[0] <= ends[0], values[-1] >= ends[1])
        short = [i for i in short if i < outer or not beyond[i - outer]]
    if short:
        found = float(bounds[short[0]])
        raise ProofError(f"range {short[0]}", f"its bound is {found:.12g}, the proof claims {lower:.12g}")
    return lower, value, n_leaves + len(bounds), solution


def _proved(problem, value, data, check):
    """Check the proof of a known coefficient."""
    record, X = problem.fixed(value)
    header, arrays = file.read(data)
    if header["kind"] != "mixture":
        raise ProofError("proofs", "must be of mixtures")
    try:
        return check(header, arrays, X, problem.weights, record)
    except ProofError as error:
        raise ProofError(f"proof of {value:g}", str(error)) from None


def _contrast(rows):
    """Return what is 0 on each column of rows (q + 1, q) of Fractions: cofactors."""
    return [(-1) ** i * determinant(rows[:i] + rows[i + 1 :]) for i in range(len(rows))]


def _raised(v):
    """Return what variances cost more than the floor, in units of it, per unit of mass: v / 2 up to 1, then logs."""
    beyond = (Interval(np.maximum(v.low, 1.0), np.maximum(v.high, 1.0)).log() + 1.0) * 0.5
    half = v * 0.5
    return Interval(np.where(v.low <= 1.0, half.low, beyond.low), np.where(v.high <= 1.0, half.high, beyond.high))


def _floats(fractions):
    """Return Fractions as the nearest floats."""
    return np.array([float(x) for x in fractions])
