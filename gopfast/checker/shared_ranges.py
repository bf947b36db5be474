"""What is proved of a coefficient that regressions share between values of it, and beyond them.

With F(u) the optimum where the coefficient is u, a range of it is proved by what F is at least at its ends, less what
it may lack between them (JS2) and (JS3), or by what blocks of rows cost there (JS4); beyond the values that no
component of an optimal mixture has (JS1) there is nothing to prove. What is of normal errors alone is computed in
fractions, but for roots and logarithms, and for the blocks' squares, which are rounded outward.

Theory: (VF4) of docs/theory/proof_families.md, (VC1) of docs/theory/proof_counts.md.
"""

import itertools
import math
from fractions import Fraction

import numpy as np

from .covariance import determinant
from .errors import ProofError
from .families import LOG_2_PI
from .regressions import designs, enclosed, hull
from .rounding import Interval, down, up
from .tuning import MOST_CONTRASTS


class Ranges:
    """
    Lower bounds of the optimum over ranges of the shared coefficient.

    Parameters
    ----------
    problem : gopfast.checker.shared_coefficients.Problem
    direction : ndarray, shape (q,)
    blocks : ndarray of int, shape (B, K q + 1) or (B, K + 1)

    Attributes
    ----------
    floor : float
        What all rows cost at least.
    """

    def __init__(self, problem, direction, blocks):
        self.problem, mixture = problem, problem.mixture
        self.used = mixture.weights > 0
        columns = mixture.columns[self.used]
        self.rows = designs(mixture, columns.T)
        self.x = [row[problem.place] for row in self.rows]
        self.own = [row[: problem.place] + row[problem.place + 1 :] for row in self.rows]
        self.weights = [Fraction(w) for w in mixture.weights[self.used].tolist()]
        near = [Fraction(d) for d in direction.tolist()]
        left = [x - sum(z * d for z, d in zip(row, near, strict=True)) for x, row in zip(self.x, self.own, strict=True)]
        self._take(columns, left)
        if not self.steepest > 0:
            raise ProofError("problem", "the shared regressor depends on the others")
        self._set_blocks(blocks)

    # What each kind of errors has of its own

    def _take(self, columns, left):
        """
        Take the used rows (n, d), and what the direction leaves of the shared regressor, Fractions.

        Sets `known`, the Fractions that contrasts are of, `floor`, and `steepest`, the loss's slope at 0 in nats per
        squared unit of the coefficient.
        """
        raise NotImplementedError

    def _take_sets(self, sets, contrasts, slopes, values):
        """Take sets of rows, tuples of places, and their contrasts nu, nu'x and nu'known, Fractions."""
        raise NotImplementedError

    def _slope(self, width, slope):
        """Return a slope of the loss between values so far apart that is allowed, and what it takes off: Fractions."""
        raise NotImplementedError

    def _more(self, low, high):
        """Return what rows cost more than the floor where the coefficient is between two numbers, by the blocks."""
        raise NotImplementedError

    def _fitted(self):
        """Return what single rows are fitted best by, an Interval (n,)."""
        raise NotImplementedError

    def lost(self, value, lower):
        """Bound what the rounded data of a known coefficient cost more than the exact ones: a Fraction."""
        raise NotImplementedError

    # What all have

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
            Above 0, of a tangent of the loss; where this is linear any will do.

        Returns
        -------
        Fraction
        """
        a, b = Fraction(a), Fraction(b)
        slope, beyond = self._slope(b - a, Fraction(slope))
        at = (a + b) / 2 + (lower_a - lower_b) / (2 * slope * (b - a))
        at = min(max(at, a), b)
        return min(lower_a - slope * (at - a) ** 2, lower_b - slope * (b - at) ** 2) - beyond

    def _set_blocks(self, blocks):
        """Find the contrasts of q + 1 rows of a block, 0 on each of the components' own regressors."""
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
        sets, contrasts, slopes, values = [], [], [], []
        for some in itertools.chain.from_iterable(itertools.combinations(block, q + 1) for block in blocks.tolist()):
            nu = _contrast([own[i] for i in some])
            largest = max(map(abs, nu)) or Fraction(1)
            nu = [c / largest for c in nu]
            sets.append(some)
            contrasts.append(nu)
            slopes.append(sum(c * self.x[i] for c, i in zip(nu, some, strict=True)))
            values.append(sum(c * self.known[i] for c, i in zip(nu, some, strict=True)))
        self._take_sets(sets, contrasts, slopes, values)

    def far(self, low, high):
        """Bound the optimum where the coefficient is between two numbers, either of which may be infinite: a float."""
        more = self._more(low, high) if self.n_blocks else 0.0
        return float(down(self.floor + max(0.0, down(more)))) if more > 0.0 else self.floor

    def _of_blocks(self, values):
        """Return the least of each block's sets."""
        return np.maximum(values.reshape(self.n_blocks, -1).min(axis=1), 0.0)

    def ends(self):
        """Return numbers between which the coefficient of some optimal mixture lies."""
        low, high = hull(self.rows, self._fitted())
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


class NormalRanges(Ranges):
    """The same of normal errors."""

    def _take(self, columns, left):
        mixture = self.problem.mixture
        self.free, self.level = mixture.family != "known_regression", Fraction(mixture.least_variance)
        self.known = [Fraction(y) for y in columns[:, -1].tolist()]
        total = math.fsum(mixture.weights[self.used])
        self.mass = Interval(down(total), up(total))
        self.steepest = sum(w * e * e for w, e in zip(self.weights, left, strict=True)) / (2 * self.level)
        level = Interval(float(self.level)).log() + LOG_2_PI
        self.floor = float((level * 0.5 * self.mass).low)

    def lost(self, value, lower):
        """Bound what the rounded responses of a known coefficient cost more than the exact ones: a Fraction."""
        response = self.problem.fixed(value)[1][self.used, -1].tolist()
        value, squares = Fraction(value), Fraction(0)
        for w, x, y, rounded in zip(self.weights, self.x, self.known, response, strict=True):
            squares += w * (Fraction(rounded) - (y - x * value)) ** 2
        distance = up(math.sqrt(up(float(squares)))) if squares else 0.0
        if self.free:
            root = up(math.sqrt(up(float(self.mass.high) / float(self.level))))
            return Fraction(float(up(distance * root)))
        v = self.level  # what residuals cost is at most what is claimed less the rest, or else nothing is lost
        beyond = max(Fraction(0), Fraction(lower) - Fraction(self.floor))
        root = Fraction(float(up(math.sqrt(up(float(2 * v * beyond))))))
        return (root * Fraction(distance) + Fraction(distance) ** 2 / 2) / v

    def _slope(self, width, slope):
        if not (self.free and slope < self.steepest):
            return self.steepest, 0
        ratio = up(float(self.steepest / slope))
        return slope, Fraction(float(up(0.5 * self.mass.high * Interval(ratio).log().high * (1 + 2.0**-50))))

    def _take_sets(self, sets, contrasts, slopes, values):
        pairs = [list(zip(nu, (self.weights[i] for i in some), strict=True))
                 for nu, some in zip(contrasts, sets, strict=True)]  # fmt: skip
        norms, masses = [sum(c * c / w for c, w in own) for own in pairs], [sum(w for _, w in own) for own in pairs]
        self.steep = np.array([s != 0 for s in slopes])
        self.places = enclosed([v / s if s else Fraction(0) for v, s in zip(values, slopes, strict=True)])
        self.slopes, self.values = down(_floats(map(abs, slopes))), down(_floats(map(abs, values)))
        self.norms, self.masses = up(_floats(norm or Fraction(1) for norm in norms)), enclosed(masses)

    def _more(self, low, high):
        apart = np.maximum(down(low - self.places.high), down(self.places.low - high))
        residuals = np.where(self.steep, down(self.slopes * np.maximum(apart, 0.0)), self.values)
        squares = np.maximum(down(down(np.square(np.maximum(residuals, 0.0))) / self.norms), 0.0)
        level, family = Interval(float(self.level)), self.problem.mixture.family
        if family == "regression":
            costs = (self.masses * _raised(Interval(squares).over(self.masses).over(level))).low
            return math.fsum(self._of_blocks(costs))
        more = Interval(down(math.fsum(self._of_blocks(squares))))
        if family == "known_regression":
            return float((more * 0.5).over(level).low)
        return float((self.mass * _raised(more.over(self.mass).over(level))).low)

    def _fitted(self):
        return enclosed(self.known)


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
