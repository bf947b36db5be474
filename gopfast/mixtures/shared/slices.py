"""
Shared parameters that a mixture can be cut along: what is left is a mixture of known variance (see ``shared``).

Every class has, in the words of ``shared``: ``phi(s)``, rounded down, and its ``slope``; ``breaks`` between which it is
concave; the range ``least`` to ``most`` of s; ``largest_rest``, which R does not exceed; the ``family`` of
alpha with what H is more than its objective (``shift``), and what rounding of its samples may add to it (``loss``);
whether phi is ``exact`` or may be less than the cost; whether it is better than a tree from the first node on
(``at_once``).

Theory: (T1), (T4), (T5) and (T8) of docs/theory/shared.md; (TF1) of docs/theory/factors.md.
"""

import math
import time

import numpy as np

from gopfast.mixtures.data.samples import Samples
from gopfast.mixtures.data.summary import summarised
from gopfast.mixtures.families.axes import log_abs_det
from gopfast.mixtures.families.gaussian import GaussianFamily
from gopfast.mixtures.families.regression import RegressionFamily
from gopfast.mixtures.families.scatter import least_within
from gopfast.mixtures.shared.margins import SLICES_SLACK as SLACK
from gopfast.mixtures.shared.tuning import (
    CLOSER,
    FACTORED_FROM,
    MORE_DIRECTIONS,
    MOST_PARTS,
    MOST_REFINED,
    MOST_SCATTERED,
    PAIRED_FROM,
    REFINING,
    SUMMARISED_FROM,
)
from gopfast.roundoff import ROUND

LOG_2_PI = math.log(2.0 * math.pi)


def rounded_down(terms):
    """Return the sum of terms that are each within a few ulps, less what rounding may have added."""
    return math.fsum(terms) - 64 * ROUND * math.fsum(map(abs, terms))


class Scaled:
    """Mixtures of known variance of some columns times the root of alpha: s is half the squares within components."""

    breaks = ()
    exact, at_once, has_simplices, has_factors = True, False, False, False

    def __init__(self, family, columns, weights, off):
        """`off` (d, n): bounds of the rounding errors of the columns."""
        self.n_components, self.columns, self.weights = family.n_components, columns, weights
        self.total = math.fsum(weights)
        self.constant = [family.constant, -family.constant_error]
        # R is the mutual information of samples and components
        self.largest_rest = self.total * math.log(self.n_components) * (1 + SLACK)
        self.distance = math.sqrt(float((weights * np.square(off)).sum())) * (1 + SLACK)
        self.size = math.sqrt(float((weights * np.square(columns)).sum())) * (1 + SLACK) + self.distance

    def begin(self):
        """Do what takes a while, before anything but ``exact`` and ``at_once`` is asked for."""

    def family(self, alpha):
        """Return the family of known variance 1 / alpha."""
        return self._of_variance_one(math.sqrt(alpha) * self.columns)

    def _of_variance_one(self, columns):
        d = len(columns)
        samples = Samples(columns.T, self.weights, np.ones(d), center=np.zeros(d))
        if samples.n_samples > SUMMARISED_FROM:
            samples = summarised(samples)
        return GaussianFamily(samples, self.n_components)

    def shift(self, alpha):
        """Return 0: the objectives are the same."""
        return 0.0

    def loss(self, alpha):
        """Return a bound by Cauchy and Schwarz, as in ``representation``; the scaling rounds twice."""
        off = math.sqrt(alpha) * (self.distance + 4 * ROUND * self.size)
        return (off * math.sqrt(alpha) * self.size + 0.5 * off * off) * (1 + SLACK)


class SphericalSlices(Scaled):
    """
    One variance v >= 1 for all components and columns: alpha = 1 / v, s = W d v / 2.

    Parameters
    ----------
    family : NormalFamily
        With a shared variance.
    """

    def __init__(self, family):
        columns, weights = family.data.arrays()
        super().__init__(family, columns, weights, np.zeros_like(columns))
        self.number = self.total * len(columns)  # W d
        self.least, self.most = 0.0, math.inf

    def first(self, vector):
        """Return alpha of a solution."""
        return 1.0 / max(1.0, vector[-2])

    def phi(self, s):
        """Return W d times the cost of a variance."""
        v = 2.0 * s / self.number
        above = max(v, 1.0)
        return rounded_down(
            [0.5 * self.number * LOG_2_PI, 0.5 * self.number * math.log(above), s / above, *self.constant]
        )

    def slope(self, s):
        """Return 1 / v."""
        return 1.0 / max(1.0, 2.0 * s / self.number)


class RegressionSlices(SphericalSlices):
    """
    One variance v >= 1 for all regressions: alpha = 1 / v, s = W v / 2, W the weight of all rows.

    A fit costs no more than the coefficients 0 do, so that the size of the responses bounds residuals (`Scaled.loss`).

    Parameters
    ----------
    family : RegressionFamily
        With a shared variance.
    """

    def __init__(self, family):
        self.design, self.owner = family.design, family.owner
        y = self.design.y[np.newaxis]
        Scaled.__init__(self, family, y, self.design.weights, np.zeros_like(y))
        self.number = self.total
        self.least, self.most = 0.0, math.inf

    def family(self, alpha):
        """Return the family of responses in units of the standard deviation."""
        root = math.sqrt(alpha)
        low, high = (root * side for side in (self.design.low, self.design.high))
        slack = SLACK * np.maximum(np.abs(low), np.abs(high))
        design = self.design._replace(y=root * self.design.y, unit=1.0, low=low - slack, high=high + slack)
        return RegressionFamily(design, self.n_components, False, owner=self.owner)

    def shift(self, alpha):
        """Return what the constant of densities adds there."""
        return -0.5 * self.number * LOG_2_PI


def rank_between(family):
    """Return how many directions what lies between the components of a `TiedFamily` has at most: the rank of M."""
    return min(family.n_components - 1, family.n_columns)


def is_factored(family):
    """Return whether cells bound a `TiedFamily`, see `factors`: its matrix, or what is between two components."""
    d, n = family.n_columns, family.data.n_samples
    if family.n_components == 2:  # lines lose nothing, but their searches are of a matrix that is narrow all around
        return PAIRED_FROM.get(d, math.inf) <= n
    return d == 3 or d == 2 and n >= FACTORED_FROM


class MatrixSlices(Scaled):
    """
    One covariance matrix for all components, by the trace of what lies between them.

    In coordinates z in which the samples have the covariance I (where the floor is wider, as wide as that), the
    covariance within components is I - M, M of rank K - 1. Its cost is a sum over the eigenvalues of M; of a given
    trace it is least where all but one of them are 0 or the largest possible. With two components nothing is lost:
    M has one eigenvalue.

    Parameters
    ----------
    family : TiedFamily
    """

    def __init__(self, family):
        core, weights = family.data.arrays()
        whiten, (d, n) = np.asarray(family.whiten), core.shape
        total = math.fsum(weights)
        centred = core - (core @ weights / total)[:, None]
        Q = (weights * centred) @ centred.T / total
        values, vectors = np.linalg.eigh(whiten @ Q @ whiten.T)
        wide = np.maximum(values, 1.0)
        L = (vectors / np.sqrt(wide)).T @ whiten
        self.axes, self.average = L, core @ weights / total
        columns, self.off = L @ core, (d + 4) * ROUND * (np.abs(L) @ np.abs(core))
        super().__init__(family, columns, weights, self.off)
        # the floor's part of the covariance that stands for I, in the coordinates z
        self.added = added = np.maximum(0.0, 1.0 - values)
        pooled = L @ Q @ L.T
        # bounds of the rounding of Q, and of centring, in the coordinates z
        reach = np.abs(L) @ np.sqrt((weights * np.square(core)).sum(axis=1) / total)
        error = (2 * n + 64) * ROUND * np.outer(reach, reach)
        self.eta = float((np.abs(pooled + np.diag(added) - np.eye(d)) + error).sum(axis=1).max()) * (1 + SLACK)
        self.within_one = float(np.trace(pooled) + np.trace(error)) * (1 + SLACK)  # at least tr L Q L'
        self.trace = float(np.trace(pooled) - np.trace(error)) * (1 - SLACK)       # at most that
        self.largest = float(wide.max()) * (1 + SLACK)  # no precision is larger in the coordinates z
        self.rank = rank_between(family)
        self.exact = self.rank == 1
        self.at_once = d > 2
        self.has_simplices = self.rank > 1 and d == 2
        self.has_factors = is_factored(family)
        self.refined = False
        self.products = None  # sums over the samples of products of the columns' errors, and magnitudes
        free = [0.5 * d * LOG_2_PI, -log_abs_det(L), -0.5 * float(added.sum()) * (1 + SLACK)]
        self.fixed = [*(total * x for x in free), *self.constant]
        self.rest = d - self.rank
        self.confine(0.0)

    def begin(self):
        """Look for the least variance within components in any direction, which matters where M has several."""
        if self.has_simplices:
            self.refine(math.inf)

    def refine(self, deadline):
        """Look for it in a part of the time until a deadline: most of what phi is too low is due to it."""
        if (self.rank > 1 or self.has_factors) and len(self.columns) <= MOST_SCATTERED and not self.refined:
            now = time.monotonic()
            deadline = now + REFINING * (deadline - now)
            n, within = len(self.weights), []
            n_parts = -(-n // MOST_REFINED)
            n_tried = min(n_parts, MOST_PARTS)
            # parts of the samples, of which each has means of its own: the squares within all are at least their sum,
            # and those of other samples only add to it
            for part in range(n_tried):
                now = time.monotonic()
                if part and now >= deadline:
                    break
                end = now + (deadline - now) / (n_tried - part) if math.isfinite(deadline) else math.inf
                columns, weights = np.ascontiguousarray(self.columns[:, part::n_parts]), self.weights[part::n_parts]
                share = math.fsum(weights) / self.total * (1.0 - SLACK)
                within.append(
                    share * least_within(columns, weights, self.n_components, CLOSER, MORE_DIRECTIONS, end)
                )
            self.confine(math.fsum(within) * (1.0 - SLACK))
            self.refined = True

    def confine(self, within):
        """Take a least variance within components, in any direction of the coordinates z."""
        self.cap = 1.0 + self.eta - within
        # s = W (tr L Q L' - t) / 2, t the trace of M
        self.least = max(0.0, 0.5 * self.total * (self.trace - self.rank * self.cap) * (1 - SLACK))
        self.most = 0.5 * self.total * self.within_one * (1 + SLACK)
        self.breaks = [self._s_of(j * self.cap) for j in range(1, self.rank)]

    def _s_of(self, t):
        return 0.5 * self.total * (self.within_one - t)

    def first(self, vector):
        """Return alpha where s is that of a solution."""
        means = self.means_of(vector)
        return self.slope(self._s_of(float(vector[: len(means)] @ np.square(means).sum(axis=1))))

    def precisions(self):
        """Return numbers between which the eigenvalues of the best precisions lie, in the coordinates z."""
        return (1.0 - SLACK) / (1.0 + self.eta), self._precision(self.cap) * (1 + SLACK)

    def within_range(self):
        """Return numbers between which the eigenvalues of S / W + N lie, those far below the floor raised (TF1)."""
        least = max(1.0 / (math.e * self.largest), 1.0 - self.eta - self.cap)
        return least * (1 - SLACK), (1.0 + self.eta) * (1 + SLACK)

    def means_of(self, solution):
        """Return the means (K, d) of a solution in the coordinates z."""
        K, d = self.n_components, len(self.columns)
        return (solution[K : K + K * d].reshape(K, d) - self.average) @ self.axes.T

    def precision_of(self, solution):
        """Return a precision in the coordinates z, about that of a solution."""
        means = self.means_of(solution)
        values, vectors = np.linalg.eigh((solution[: len(means), None] * means).T @ means)
        return (vectors / np.maximum(1.0 - values, 1.0 / self.precisions()[1])) @ vectors.T

    def known(self, A):
        """Return the family of known precision A, and the matrix to its coordinates; see `known_loss`."""
        B = root(A)
        family = self._of_variance_one(B @ self.columns)
        return family, B[family.data.order]

    def known_loss(self, A, most):
        """Return a bound of what rounding adds to the optimum of `known`; `most` is what S / 2 is at most."""
        B = root(A)
        # rounding of B B', and of the roots; the columns' errors as in `loss`
        apart = np.abs(B.T @ B - A).sum() + 4 * len(A) ** 2 * ROUND * (np.abs(B).T @ np.abs(B)).sum()
        if self.products is None:
            size = np.abs(self.columns)
            off = self.off + (len(A) + 4) * ROUND * size
            self.products = tuple((self.weights * one) @ one.T for one in (off, size))
        off, size = (
            math.sqrt(float(((np.abs(B) @ one) * np.abs(B)).sum())) * (1 + SLACK) for one in self.products
        )  # fmt: skip
        return (off * (size + off) + 0.5 * off * off + most * float(apart)) * (1 + SLACK)

    def _eigenvalues(self, s):
        """Return how many eigenvalues of M are the largest possible, and the one that is neither that nor 0."""
        t = max(0.0, self.within_one - 2.0 * s / self.total)
        full = min(int(t / self.cap), self.rank - 1)
        return full, min(t - full * self.cap, self.cap)

    def _precision(self, delta):
        return min(self.largest, 1.0 / max(1.0 - self.eta - delta, 1e-300))

    def _cost(self, delta):
        """Return the least of (b (1 - eta - delta) - log b) / 2 over b up to the largest precision."""
        b = self._precision(delta)
        return 0.5 * (b * (1.0 - self.eta - delta) - math.log(b))

    def phi(self, s):
        """Return W times the cost of the eigenvalues."""
        full, delta = self._eigenvalues(s)
        free = self.rank - 1 - full + self.rest
        costs = [full * self._cost(self.cap), self._cost(delta), free * self._cost(0.0)]
        # the trace's rounding, times the slope; near a break that of its other side
        steep = self._precision(self.cap if min(delta, self.cap - delta) < SLACK else delta)
        slip = 8 * ROUND * steep * (self.within_one + self.cap * self.rank)
        return rounded_down([*(self.total * x for x in costs), -self.total * slip, *self.fixed])

    def slope(self, s):
        """Return the precision of the eigenvalue that is neither 0 nor the largest possible."""
        return self._precision(self._eigenvalues(s)[1])


def root(A):
    """Return B with B'B = A, about."""
    values, vectors = np.linalg.eigh(A)
    return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T


class PriorSlices:
    """
    An estimated variance 1 / e of the prior of the means: alpha = e, s half the means' squares.

    Parameters
    ----------
    family : GaussianFamily
        With a prior, of point posteriors.
    """

    breaks = ()
    exact, at_once, has_simplices, has_factors = True, False, False, False
    least, most = 0.0, math.inf

    def __init__(self, family):
        self.source, self.power = family, family.e_power
        self.low, self.high = family.precision_range
        self.largest_rest = math.inf
        self.constant = [family.constant, -family.constant_error]

    def begin(self):
        """Do nothing: all is known."""

    def first(self, vector):
        """Return e of a solution."""
        return float(vector[-1])

    def family(self, alpha):
        """Return the family of a fixed prior."""
        return GaussianFamily(self.source.data, self.source.n_components, (alpha, alpha))

    def shift(self, alpha):
        """Return p log e: the fixed family counts - p log e too."""
        return self.power * math.log(alpha)

    def loss(self, alpha):
        """Return what the shift's logarithm rounds; nothing else is rounded anew."""
        return 8 * ROUND * abs(self.shift(alpha))

    def slope(self, s):
        """Return the best e."""
        return min(self.high, max(self.low, self.power / s if s > 0.0 else math.inf))

    def phi(self, s):
        """Return the least of e s - p log e over the range of e."""
        e = self.slope(s)
        return rounded_down([e * s, -self.power * math.log(e), *self.constant])
