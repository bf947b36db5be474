"""
A bound of mixtures with many-column covariance matrices: that of their marginal in two directions.

In units of the floor every covariance is at least the unit matrix. For orthonormal directions B (d, 2) and the rest Z,

    log p(x) = log p(B'x) + log p(z | B'x),     p(z | B'x) <= (2 pi)^(-(d - 2) / 2),

as components' conditional covariances, Schur complements of matrices of at least I, are at least I. The marginal is a
mixture of as many components in two columns, with floor I: its optimum, bounded by prices of samples, and a constant
bound the objective. What clusters look like in the other directions is left out, so that this is no proof, but far
above the bound that knows only the largest density.

Theory: (I5) of docs/theory/many.md.
"""

import math
from typing import NamedTuple

import numpy as np

from gopfast.errors import InputError
from gopfast.mixtures import engine
from gopfast.mixtures.learning.learner import Learner
from gopfast.mixtures.margins import ROOM, SUMMED
from gopfast.mixtures.pricing.blocks import work_of_pass
from gopfast.mixtures.pricing.pricing_root import PricingBound
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.tuning import EM_STEPS, EM_TERMS, EM_TOLERANCE, N_DIRECTIONS
from gopfast.roundoff import ROUND


class MarginalBound(Learner):
    """
    A lower bound of a mixture by its marginal in two directions, told as `PricingBound` tells its own.

    Parameters
    ----------
    problem : MixtureProblem
        Of covariance matrices and three columns or more.
    family : Family
        The core's copy of it.
    solution : ndarray
        An incumbent, as the primal keeps it: weights (K,), parameters, prior weight. Directions are taken from it.
    limit : float
        Solutions below it are sought.

    Attributes
    ----------
    lower : float
        Proved, in nats.
    """

    def __init__(self, problem, family, solution, limit):
        self.limit, self.lower, self.marginal = limit, -math.inf, None
        floored = in_floors(problem, family, solution)
        found = [self._marginal(problem, solution, floored, within) for within in (True, False)]
        found = [one for one in found if one is not None]
        if found:
            self.marginal = max(found, key=lambda one: one.limit)
            self.constant = constant_beside(problem, self.marginal.rows)
            self.share = work_of_pass(self.marginal.family) / work_of_pass(family)

    @property
    def n_passes(self):
        """Passes over the marginal so far, as many as of all columns would have taken the time."""
        return int(self.share * self.marginal.n_passes) if self.marginal is not None else 0

    @property
    def n_terms(self):
        """Terms so far, but for finding the directions."""
        return self.marginal.n_terms if self.marginal is not None else 0

    def step(self, deadline):
        """Next thing to learn; whether there is more."""
        if self.marginal is None:
            return False
        more = self.marginal.step(deadline) and not self.marginal.has_suprema  # its cells cut nothing
        self.lower = max(self.lower, self.marginal.lower + self.constant)
        return more

    def _marginal(self, problem, solution, floored, within):
        """Return the bound of the marginal along the widest directions of components, or of all samples."""
        K, (X, weights, means, matrices) = problem.n_components, floored
        spread = np.einsum("k,kab->ab", solution[:K], matrices) if within else np.cov(X.T, aweights=weights)
        B = np.linalg.eigh(spread)[1][:, -N_DIRECTIONS:]
        rows = X @ B
        try:
            other = type(problem)(
                rows, K, covariance=problem.covariance, variance_floor=1.0 - ROOM, sample_weight=weights
            )
            two = engine.family(other)
        except InputError:  # too wide a range for the floor
            return None
        point = two.pack(means=means @ B, covariances=B.T @ matrices @ B)
        n_steps = min(EM_STEPS, 1 + EM_TERMS // (len(rows) * K))
        found, trace, _ = MixturePrimal(two).em(solution[:K], point, EM_TOLERANCE, n_steps)
        # solutions of the marginal are none of the mixture
        bound = PricingBound(two, two.one_component(other), found, trace[-1])
        bound.rows = X
        return bound


class Floored(NamedTuple):
    """Rows (n, d) of positive weights (n,), about a center, and a solution's means (K, d) and covariances (K, d, d)."""

    rows: np.ndarray
    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray


def in_floors(problem, family, solution):
    """Return samples and a solution in units of the roots of the columns' floors, in which the floor is I."""
    scale, used = np.sqrt(problem.variance_floor), problem.sample_weight > 0
    center = problem.X[used].mean(axis=0)  # any will do
    state = family.parameters(solution)
    return Floored(
        (problem.X[used] - center) / scale, problem.sample_weight[used], (state["means"] - center) / scale,
        state["covariances"] / np.outer(scale, scale),
    )  # fmt: skip


def constant_beside(problem, rows, n_directions=N_DIRECTIONS):
    """At most what a mixture costs more than its marginal in so many directions; rows (n, d) in units of the floor."""
    d, weights = problem.n_features, problem.sample_weight[problem.sample_weight > 0]
    W = math.fsum(weights)
    scales = 0.5 * np.log(problem.variance_floor)
    terms = [*scales, 0.5 * (d - n_directions) * math.log(2 * math.pi)]
    constant = W * math.fsum(terms)
    # The rows of the marginal are off by as much as their sums round: as `families.axes` has it.
    off = (d + 8) * ROUND * np.abs(rows).sum(axis=1)
    root = math.sqrt(n_directions * float(weights @ np.square(off)) / W)
    error = W * (math.sqrt(n_directions) * root + root**2) * (1 + 1e-6)
    return constant - error - SUMMED * W * (math.fsum(np.abs(terms)) + d)
