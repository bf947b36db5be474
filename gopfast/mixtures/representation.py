"""
What a mixture loses between the user's units and the core's.

The core sees samples of Gaussian mixtures shifted and scaled, z = (x - center) / scale, and both ways are rounded: by
nothing worth a word where the range is some thousand deviations of a component, by more than a deviation where it
exceeds the digits of a float. Moving samples by delta_i (in deviations) changes the objective at given parameters by
at most

    sum_i w_i (|z_i - m| |delta_i| + delta_i^2 / 2) <= A sqrt(2 t) + A^2 / 2,     A^2 = sum_i w_i |delta_i|^2,

(Cauchy and Schwarz), t the squares' part of the objective, which is at most the objective less its least value; moved
means count as moved samples. What the objective attains is therefore evaluated at the parameters that are returned,
and both bounds are moved by the loss. Other families' samples are not rounded.

Theory: (R3) and (R4) of docs/theory/rounding.md; (JS5) of docs/theory/shared_coefficients.md.
"""

import math

import numpy as np

from gopfast.mixtures.closed_form import ceiling
from gopfast.mixtures.data.squares import weighted_squares
from gopfast.mixtures.margins import COUNTED, EVALUATION, LARGEST_LOGARITHM, MOST
from gopfast.mixtures.problems.base import log_sum_exp, log_zero
from gopfast.mixtures.solution import MixtureSolution
from gopfast.mixtures.tuning import BLOCK, DOUBTFUL, MOST_OF_TOLERANCE, REPRESENTATION_RESERVE as RESERVE
from gopfast.roundoff import ROUND


class Representation:
    """
    How exactly the core represents a problem.

    Parameters
    ----------
    problem, family : MixtureProblem, Family
        A problem and the core's copy of it.

    Attributes
    ----------
    distance : float
        A of the samples.
    """

    def __init__(self, problem, family):
        self.problem, self.family = problem, family
        self.least, self.distance = -math.inf, 0.0
        self.shifted = family.shifted
        if self.shifted:
            self.least = ceiling.least_objective(problem)
            self.distance = math.hypot(
                problem._moved(self._distance), self._distance(*problem._pseudo_samples())
            )

    def loss(self, objective, extra=0.0):
        """Bound of the change of an objective, or of a lower bound of at most this, by the rounding of the samples."""
        distance = self.distance + extra
        if not self.shifted or distance == 0.0 or not math.isfinite(objective):
            return 0.0
        squares = max(0.0, objective - self.least)
        loss = distance * math.sqrt(2.0 * squares) + 0.5 * distance**2
        return 0.0 if loss <= COUNTED * (self.problem.total_weight + squares) else loss

    def tolerance_kept(self, tolerance):
        """Part of a tolerance that a search has to prove so that the loss does not exceed it, by the pooled samples."""
        if self.family.returns_rounded:
            return 1.0 - RESERVE  # matrices, or coefficients: the value of the rounded ones is reported
        if self.distance == 0.0:
            return 1.0
        columns, weights = self.family.data.arrays()
        mean = columns @ weights / weights.sum()
        squares = 0.5 * sum(weighted_squares(columns.T, weights, mean).tolist())
        # means are rounded to floats of the samples' size, whose spacing this is in deviations
        spacing = np.spacing(np.abs(self.problem.X).max(axis=0)) / self.family.data.scale
        distance = self.distance + math.sqrt(self.problem.total_weight * float(np.square(spacing).sum()))
        loss = distance * math.sqrt(2.0 * squares) + 0.5 * distance**2
        return max(MOST_OF_TOLERANCE, min(1.0 - RESERVE, 1.0 - 2.0 * loss / tolerance)) if tolerance > 0.0 else 1.0

    def attained(self, solution, primal):
        """
        Evaluate the objective at parameters in the user's units, and mend what makes it infinite.

        Parameters
        ----------
        solution : MixtureSolution
        primal : MixturePrimal
            Of the family.

        Returns
        -------
        solution : MixtureSolution
            With the largest probability below 1 in place of those of 1 that make samples or priors impossible.
        objective : float
            Rounded up.
        """
        solution = self._possible(solution)
        family, parameters = self.family, solution.parameters
        _, trace, _ = primal.em(solution.weights, family.pack(**parameters), math.inf, 0)
        value = float(trace[0])
        extra = 0.0
        if self.shifted:
            extra = self.problem._moved_means(self._distance, solution)
        if self.problem._formula_keeps_digits and primal.margin > DOUBTFUL * (1.0 + abs(value)):
            value = min(value, by_definition(self.problem, solution))
        return solution, value + self.loss(value, extra)

    def _distance(self, points, weights):
        """Return A of points (n, d) in the user's units, of weights (n, 1) or (n, d)."""
        return math.sqrt(moved(points, weights, self.family.data.center, self.family.data.scale)) * (1.0 + 1e-9)

    def _possible(self, solution):
        """Move probabilities of 1 that cannot be."""
        problem = self.problem
        name = problem.parameter_names[0]
        given = getattr(solution, name)
        moved = problem._inside(given, MOST)
        if moved is given or math.isfinite(problem.objective(solution.weights, **solution.parameters)):
            return solution
        return MixtureSolution.canonical(problem, solution.weights, **{**solution.parameters, name: moved})


def moved(points, weights, center, scale):
    """
    Return the square of A of points (n, d) in the user's units, of weights (n, 1) or (n, d).

    What the shift rounds is computed exactly, what the scaling rounds is bounded.
    """
    total, relative = 0.0, np.where(np.frexp(scale)[0] == 0.5, 0.0, ROUND)
    for begin in range(0, len(points), BLOCK):
        some = points[begin : begin + BLOCK]
        shifted = some - center
        back = shifted - some
        delta = np.abs((some - (shifted - back)) - (center + back)) / scale
        if relative.any():
            delta += relative * np.abs(shifted / scale)
        elif not delta.any():
            continue
        total += float((weights[begin : begin + BLOCK] * np.square(delta)).sum())
    return total


def by_definition(problem, solution, away=0.0):
    """
    Evaluate the objective of a problem with the model's own formula, rounded up.

    Of counts, labels or times it puts the logarithms of counts and of their rates together, so that no large terms
    cancel.

    Parameters
    ----------
    problem : MixtureProblem
    solution : MixtureSolution
    away : ndarray, shape (n, K), or 0.0
        What the kernel is off beside the rounding that is relative to it, in nats.
    """
    parameters, used = solution.parameters, problem.sample_weight > 0.0
    kernel = problem._log_kernel(parameters)
    scores = log_zero(solution.weights) + kernel
    cost = -log_sum_exp(scores)
    tau = np.exp(scores + cost[:, np.newaxis])
    size = _mean(tau, np.abs(kernel)) + np.abs(cost)
    size += LARGEST_LOGARITHM * (1 + problem.n_features)
    value = math.fsum(problem.sample_weight[used] * cost[used]) + problem._penalty(parameters)
    error = float(problem.sample_weight[used] @ size[used]) + problem._penalty_size(parameters)
    return value + EVALUATION * error + float(problem.sample_weight[used] @ _mean(tau, away)[used])


def _mean(tau, values):
    """Return means (n,) of values (n, K) over the components, of those alone that have a part of the sample."""
    return np.multiply(tau, values, out=np.zeros_like(tau), where=tau > 0.0).sum(axis=1)
