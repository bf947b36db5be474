"""What prices of the samples prove of mixtures of components of equal variances in all columns, known or one free each.

Lengths are in units of the known deviations or of the floor's, from the header's reference; s is a component's
precision, of 1 at most. An entry has one or two stages: ``hull_prices`` (S, N); ``hull_means`` (S, J, d) and
``hull_precisions`` (S, J), around which most is to be saved, of any use or none; ``hull_limits`` (S,): what no
component saves more than. The balls and cells that show it are found here, none is read.

Of one stage T - K limit, T = sum w price, is below all mixtures. Of two it is that of the second, L, and the first has
a cut, T - (K - 1) limit - L: a mixture with a component that saves no more costs L at least. So what saves more is to
lie in balls around the first stage's means, and the second's limit need hold in these alone.

Rounding: with D the diameter of samples and means together every price is raised by 64 (d + 8)^1.5 u s D^2, s the
largest precision in question, and by 64 (d + 8) u of prices and of logarithms of precisions; beside these samples and
what is computed of them count as exact.

Theory: (VH1), (VH3) and (VH4) of docs/theory/proof_hull.md.
"""

import math

import numpy as np

from .entries import numbers
from .errors import ProofError
from .families import LOG_2_PI
from .hull_bounds import bend_of_precisions, in_a_shell, in_all_directions, is_slow, radius_around
from .hull_cells import saves_at_most
from .leaf import sum_from_below
from .rounding import UNIT, Interval, down, up
from .tuning import HULL_TURNS as TURNS, LEAST_RADIUS, MOST_RADIUS, THINNEST, WIDENED, WIDEST

FAMILIES = "known", "spherical"
ARRAYS = "hull_prices", "hull_means", "hull_precisions", "hull_limits"


class Stage:
    """
    Samples with prices, and components around which these save most.

    Parameters
    ----------
    x : ndarray, shape (N, d)
    weights, prices : ndarray, shape (N,)
        Less the constants of what a component costs.
    means, precisions : ndarray, shape (J, d) and (J,)
    free : bool
        Whether components have other precisions.
    is_over : callable () -> bool
        Whether to give up.

    Attributes
    ----------
    prices : ndarray, shape (N,)
        Raised by what is rounded.
    least : float
        Logarithm of the least precision that there may be; the largest is 0.
    diameter, blur : float
        D, and what samples are rounded by in costs of precision 1.
    nearest : ndarray of int, shape (N,)
        The component that each sample is near.
    """

    def __init__(self, x, weights, prices, means, precisions, free, is_over=bool):
        self.x, self.weights, self.means, self.precisions, self.free = x, weights, means, precisions, free
        self.is_over = is_over
        self.n_columns, self.total_weight = x.shape[1], math.fsum(weights)
        sides = x.max(axis=0) - x.min(axis=0)
        # the variance of an optimal component: a mean over columns, each of a quarter of the range squared at most
        self.least = -math.log(max(1.0, np.square(0.5 * sides).mean() * (1 + 1e-9))) if free else 0.0
        both = np.concatenate([x, means])
        self.diameter = 2.0 * float(np.linalg.norm(both.max(axis=0) - both.min(axis=0)) + np.abs(both).max()) + 1.0
        d, D = self.n_columns, self.diameter
        self.blur = 64 * (d + 8) ** 1.5 * UNIT * D * D
        self.prices = prices + 64 * (d + 8) * UNIT * (np.abs(prices).max() + 1000.0 - d * self.least)
        away = [s * np.square(x - m).sum(axis=1) - d * math.log(s) for m, s in zip(means, precisions, strict=True)]
        self.nearest = np.argmin(away, axis=0)

    def check_time(self):
        """Raise ProofError where it is time to give up."""
        if self.is_over():
            raise ProofError("hull_limits", "were not shown in the time that there is")

    def scale_of(self, k):
        """Return the logarithm of about a component's share of the samples, to begin with."""
        return math.log(max(self.weights[self.nearest == k].sum() / self.total_weight, 1e-9))


class Ball:
    """
    Shells around a component, in coordinates in which costs are half squared distances but for a term of third order.

    Parameters
    ----------
    stage : Stage
    k : int
        The component's number.
    """

    def __init__(self, stage, k):
        s, d, prices = stage.precisions[k], stage.n_columns, stage.prices
        z = math.sqrt(s) * (stage.x - stage.means[k])
        square = lifted = np.square(z).sum(axis=1)
        if stage.free:
            z = np.column_stack([z, (d - square) / math.sqrt(2 * d)])
            lifted = np.square(z).sum(axis=1)
            prices = prices + 0.5 * d * math.log(s) + 0.5 * (lifted - square)
        # of these numbers themselves, of each sample
        size = np.abs(stage.prices) + d * (1.0 - math.log(s)) + square + lifted + MOST_RADIUS**2
        most = s * (1.0 + stage.free * MOST_RADIUS * math.sqrt(2.0 / d))  # of the ball's precisions
        self.prices = prices + 64 * (d + 8) * UNIT * size + most * stage.blur
        self.z, self.lengths = z, np.sqrt(lifted) * (1 + 4 * (d + 8) * UNIT)
        self.units = z / np.maximum(self.lengths, 1e-300)[:, np.newaxis]
        self.stage, self.scale = stage, stage.scale_of(k)

    def bound(self, inner, outer, enough):
        """Bound what components in a shell save; a bound of at most `enough` is not improved."""
        stage, found, scale = self.stage, math.inf, self.scale
        stage.check_time()
        prices = self.prices + (bend_of_precisions(outer, stage.n_columns) if stage.free else 0.0)
        for _ in range(TURNS):
            value, following = in_a_shell(
                self.z, self.lengths, stage.weights, prices, stage.total_weight, inner, outer, scale
            )
            if value <= enough:
                self.scale = scale
                return value
            before = found
            if value < found:
                found, self.scale = value, scale
            if is_slow(before, value, enough):
                break
            scale = following
        away = np.maximum(0.0, np.maximum(inner - self.lengths, self.lengths - outer))
        tops, slopes = prices - 0.5 * np.square(away), inner * self.lengths
        return min(found, in_all_directions(
            tops, slopes, self.units, stage.weights, stage.total_weight, self.scale, enough
        ))  # fmt: skip

    def radii(self, limit, cut, is_first=False):
        """
        Return radii between which nothing saves more than the cut, and within the first no more than the limit.

        Where only the first is wanted the second is anywhere.
        """
        at, ratio, inner = 0.0, WIDEST, None
        while at < MOST_RADIUS:
            outer = min(max(LEAST_RADIUS, at * ratio), MOST_RADIUS)
            value = self.bound(at, outer, cut)
            if value <= cut:
                inner = at if inner is None else inner
                if is_first:
                    break
            elif inner is not None or value > limit:
                if at == 0.0 or ratio <= THINNEST:
                    break
                ratio = max(math.sqrt(ratio), THINNEST)
                continue
            at, ratio = outer, min(ratio**WIDENED, WIDEST)
        return (at if inner is None else inner), at

    def most_within(self, radius):
        """Return at least what components within a radius save."""
        most, at, ratio = self.bound(0.0, LEAST_RADIUS, -math.inf), LEAST_RADIUS, WIDEST
        while at < radius:
            outer = min(at * ratio, radius)
            value = self.bound(at, outer, most)
            if value > most and ratio > THINNEST:
                ratio = max(math.sqrt(ratio), THINNEST)
                continue
            most, at, ratio = max(most, value), outer, min(ratio * ratio, WIDEST)
        return most


def stages_of(problem, columns, weights, arrays, reference, is_over=bool):
    """Return the stages of an entry, the sums of their prices, rounded down, and their limits."""
    S, J, N = *arrays["hull_means"].shape[:2], len(columns)
    if problem.family not in FAMILIES or problem.prior is not None or problem.noise is not None:
        raise ProofError("hull_prices", f"are of {' and '.join(FAMILIES)} components without prior and noise")
    free = problem.family == "spherical"
    prices = numbers(arrays, "hull_prices", "file", (S, N))
    means = numbers(arrays, "hull_means", "file", (S, J, columns.shape[1]))
    precisions = numbers(arrays, "hull_precisions", "file", (S, J), 1e-100)
    limits = numbers(arrays, "hull_limits", "file", (S,), 0.0)
    if S > 2 or J < 1 or not (precisions <= 1.0).all() or not (free or (precisions == 1.0).all()):
        raise ProofError("hull_precisions", "must be at most 1 and, of known variances, 1, of one or two stages")
    variances = problem.floor if free else problem.noise_variance
    x = (columns - reference) / np.sqrt(variances)
    constant = 0.0
    if free:
        constant = float(((LOG_2_PI + Interval(variances).log()) * 0.5).sum(axis=0).low)
        constant -= 4 * UNIT * abs(constant)
    made = [Stage(x, weights, up(prices[i] - constant), means[i], precisions[i], free, is_over) for i in range(S)]
    return made, sum_from_below(weights, prices.T), limits


def bound(problem, columns, weights, arrays, reference, is_over=bool):
    """
    Bound all mixtures from below.

    Parameters
    ----------
    problem : Problem
    columns, weights : ndarray, shape (N, d) and (N,)
        Its different samples.
    arrays : dict
        Of the proof.
    reference : ndarray, shape (d,)
    is_over : callable () -> bool
        Whether to give up, for who writes a proof within a time limit; `bool` says that it is not.

    Returns
    -------
    lower : float
        The objective of none is below; -inf where there is no entry.
    n_cells : int
        That show it, and shells.

    Raises
    ------
    ProofError
        If it is not shown.
    """
    if not len(arrays["hull_limits"]) and not arrays["hull_prices"].size:
        return -math.inf, 0
    stages, totals, limits = stages_of(problem, columns, weights, arrays, reference, is_over)
    K = problem.n_components
    lower = left(totals[-1], K * limits[-1])
    cut = limits[0] if len(stages) == 1 else left(totals[0], (K - 1) * limits[0], lower)
    if not 0.0 <= cut <= limits[0]:
        raise ProofError("hull_limits", "the first stage has no cut below its limit")
    first = stages[0]
    radii = [Ball(first, k).radii(limits[0], cut) for k in range(len(first.means))]
    n_cells = saves_at_most(first, [outer for _, outer in radii], cut)
    for stage in stages[1:]:
        n_cells += _check_confined(first, stage, radii, limits[1])
    return lower, n_cells


def left(total, *parts):
    """Return a sum less others, rounded down."""
    return float(down(total - math.fsum(parts) - 4 * UNIT * (abs(total) + sum(map(abs, parts)))))


def _check_confined(first, second, radii, limit):
    """Check that what is within the first radii around the first stage's components saves no more than a limit."""
    for k in range(len(first.means)):
        needed = needed_radius(first, second, k, radii[k][0])
        # the ball has one radius: within it nothing saves more than the limit
        if not needed < math.inf or Ball(second, k).radii(limit, limit)[1] < needed:
            raise ProofError("hull_limits", f"components near mean {k} may save more than {limit:.12g}")
    return len(radii)


def needed_radius(first, second, k, radius):
    """Return the radius around the second stage's component of what holds the ball around the first stage's."""
    d, s = first.n_columns, first.precisions[k]
    x = first.free * radius * math.sqrt(2.0 / d) * (1 + 1e-12)
    if not x < 1.0:
        return math.inf
    away = radius / (math.sqrt(s) * (1.0 - x)) + np.linalg.norm(first.means[k] - second.means[k])
    away = away * (1 + 1e-12) + 1e-14 * first.diameter
    low, high = s * (1.0 - x) * (1 - 1e-12), s * (1.0 + x) * (1 + 1e-12)
    return float(radius_around(away, low, high, second.precisions[k], d, first.free))
