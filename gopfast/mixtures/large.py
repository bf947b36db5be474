"""
The solve of a mixture whose data need not fit into memory: on a summary so fine that it decides.

Three passes: the range of the data; the summary (`gopfast.mixtures.data.summary`: corners of a grid with weights, and
what they lose at most); the objective of the solution. The summary's lower bound, less what it loses, is one of the
data; the upper bound is evaluated on the data themselves.
"""

import math
import time

import numpy as np

from gopfast.errors import InputError
from gopfast.mixtures.data.grid import corners, spread
from gopfast.mixtures.problems.gaussian import GaussianMixture
from gopfast.mixtures.solution import MixtureSolution
from gopfast.roundoff import ROUND

LOSS = 0.05  # of the tolerance, that the summary may lose
SEARCHED = 0.8  # of the tolerance, to which the summary is solved
MOST_CELLS = 8_000_000  # of 8 to 30 bytes each
FEWEST_CELLS = 1000


class Summary:
    """
    Weighted points in place of the data.

    Parameters
    ----------
    problem : LargeGaussianMixture
    tolerance : float
    note : callable
        Takes a line of text for each pass.

    Attributes
    ----------
    points, weights : ndarray, shape (m,)
    loss : float
        By how much the points' objective exceeds the data's at most, in nats, beside `rounding`.
    rounding : float
        Relative to the objective.
    """

    def __init__(self, problem, tolerance, note):
        note("pass 1 of 3 over the data: their range")
        low, high, n = math.inf, -math.inf, 0
        for chunk in problem.source:
            least, most = float(chunk.min()), float(chunk.max())
            if not (math.isfinite(least) and math.isfinite(most)):
                raise InputError("X must be finite; it has NaN or infinite entries")
            low, high, n = min(low, least), max(high, most), n + len(chunk)
        if n < problem.n_components:
            raise InputError(f"n_components must be at most the number of samples, {n}; got {problem.n_components}")
        problem.counted(n)
        variance = float(problem.noise_variance[0])
        # n step^2 / 12 / (2 variance) is about what is lost
        step = math.sqrt(24.0 * variance * LOSS * tolerance / n)
        cells = int(min(MOST_CELLS, max(FEWEST_CELLS, math.ceil((high - low) / step)))) if high > low else 1
        note(f"pass 2 of 3 over {n:,} samples: a summary on {cells:,} cells")
        total, takers = np.zeros(cells + 1), np.zeros(cells + 1, dtype=np.int32)
        lows, widths, counts = np.array([low]), np.array([high - low]), np.array([cells], dtype=np.int64)
        excess, most, weights = [], 0, np.empty(0)
        for chunk in problem.source:
            if len(weights) < len(chunk):
                weights = np.ones(len(chunk))
            _, lost, most = spread(np.ascontiguousarray(chunk.T), weights[: len(chunk)], lows, widths, counts, total,
                                   takers)
            excess.append(float(lost[0]))
        used = np.flatnonzero(total)
        self.points, self.weights = corners(low, high - low, cells)[used], total[used]
        missing = problem.n_components - len(used)
        if missing > 0:  # a mixture has at least as many samples as components, be they without weight
            self.points = np.append(self.points, np.full(missing, low))
            self.weights = np.append(self.weights, np.zeros(missing))
        self.loss = math.fsum(excess) * (1.0 + ROUND * (n + 8)) / (2.0 * variance) * (1.0 + 4 * ROUND)
        # shares and corners are rounded, as if each sample had moved by some ulps: the slope times that
        self.loss += n * (high - low) / variance * 8 * ROUND * (high - low + max(abs(low), abs(high)))
        self.rounding = ROUND * (most + len(excess) + 16)


def solve(problem, epsilon, note, search):
    """
    Solve a problem of data in chunks.

    Parameters
    ----------
    problem : LargeGaussianMixture
    epsilon : float
        Absolute tolerance, nats.
    note : callable
        Takes a line of text.
    search : callable (problem, epsilon) -> Result
        Solves a problem of data in memory.

    Returns
    -------
    found : Result
        Of the summary.
    fields : dict
        Bounds, solution and notes of the problem itself.
    """
    started = time.perf_counter()
    summary = Summary(problem, epsilon, note)
    points = GaussianMixture(
        summary.points, problem.n_components, noise_variance=problem.noise_variance, sample_weight=summary.weights
    )
    found = search(points, SEARCHED * epsilon)
    note("pass 3 of 3: the solution's objective")
    value, error = problem.evaluated(found.solution.weights, found.solution.means)
    lower = found.lower_bound - summary.rounding * abs(found.lower_bound) - summary.loss
    upper = value + error
    history = found.history.copy()
    history[:, 2] = np.minimum(history[:, 2] - summary.rounding * np.abs(history[:, 2]) - summary.loss, upper)
    history[:, 3] += upper - found.objective
    return found, {
        "objective": upper, "lower_bound": min(lower, upper), "n_passes": found.n_passes + 3, "history": history,
        "time": time.perf_counter() - started,
        "solution": MixtureSolution.canonical(problem, found.solution.weights, **found.solution.parameters),
        "notes": (*found.notes, f"{problem.n_samples:,} samples in {len(summary.points):,} weighted points, which lose "
                  f"{summary.loss:.2g} nats at most; bounds are of the samples"),
    }  # fmt: skip
