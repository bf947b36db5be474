"""
What a search knows of data that need not fit into memory: a summary of them, with what it loses.

Two passes: the range of the data; the summary (`gopfast.mixtures.data.summary`: corners of a grid with weights, and
what they lose at most per unit of curvature), which stands for the samples in every bound. Objectives are those of the
samples, read again (`gopfast.mixtures.bounds.chunked`), and so is the gradient at the incumbent, around which a box
with known variances needs no summary's loss (`gopfast.mixtures.bounds.basin`): beyond that box the objective has risen
by more than what a coarse summary loses.
"""

import math
from typing import NamedTuple

import numpy as np

from gopfast.errors import InputError
from gopfast.mixtures.data import chunks, summary
from gopfast.mixtures.data.grid import corners, spread
from gopfast.mixtures.data.samples import Samples
from gopfast.mixtures.data.summary import Level
from gopfast.mixtures.problems.floors import floors_of
from gopfast.mixtures.representation import moved
from gopfast.roundoff import ROUND

LOSS = 0.1  # of the tolerance, that the summary may lose where so many cells are enough
MOST_CELLS = {1: 2_000_000, 2: 1_000_000, 3: 2_000_000}  # by columns; 16 bytes each, and about 170 where samples lie
FEWEST_CELLS = {1: 1000, 2: 1000, 3: 8000}
# Of free variances: components are taken to be as wide as this share of the column's standard deviation, over K.
TYPICAL_WIDTH = 0.5
PAD = 1e-12  # of the range, by which the grid exceeds it: the rounding of a corner leaves no sample outside
MOST_DISTINCT = 100_000  # values of a column, of which a resolution is looked for


class Seen(NamedTuple):
    """What the first pass has seen: ends, variances, distinct values (none of columns that have many), sizes."""

    low: np.ndarray
    high: np.ndarray
    variances: np.ndarray
    values: tuple
    n_samples: int
    total_weight: float


class ChunkSummary(NamedTuple):
    """
    The samples as the core knows them.

    Columns (d, m) in the core's units and order, weights (m,), loss, rounding and reach as of a `Level`; scale and
    center (d,) and order (d,) that lead to the user's units; the square of the distance by which these units move
    the samples; number and total weight of the samples.
    """

    columns: np.ndarray
    weights: np.ndarray
    curvature_loss: np.ndarray
    rounding: float
    reach: np.ndarray
    scale: np.ndarray
    center: np.ndarray
    order: np.ndarray
    moved: float
    n_samples: int
    total_weight: float

    def in_core(self, rows):
        """Return samples (m, d) in the core's units as columns (d, m)."""
        return np.ascontiguousarray(((rows - self.center) / self.scale).T[self.order])

    def in_users(self):
        """Return the points (m, d) in the user's units."""
        out = np.empty(self.columns.shape[::-1])
        out[:, self.order] = self.columns.T
        return out * self.scale + self.center

    def samples(self, squares):
        """Make the core's Samples, with coarser summaries."""
        level = Level(*(np.array(part) if isinstance(part, np.ndarray) else part for part in self[:5]))
        order = np.array(self.order)
        data = Samples.summarised(level, np.array(self.scale), np.array(self.center), order, squares, self.total_weight)
        for coarser in summary.levels(level.columns, level.weights, level):
            data.add_level(*coarser)
        return data


def see(source, weights, n_components, with_variances):
    """
    Read the data once.

    Parameters
    ----------
    source, weights : Chunks, Chunks or None
    n_components : int
    with_variances : bool
        Whether variances and distinct values are wanted.

    Returns
    -------
    Seen
    """
    d = source.n_columns
    low, high, n, total = np.full(d, np.inf), np.full(d, -np.inf), 0, []
    first, sums, squares = None, [], []
    values = [np.empty(0) for _ in range(d)] if with_variances else None
    for rows, weight in chunks.weighted(source, weights):
        least, most = rows.min(axis=0), rows.max(axis=0)
        if not (np.isfinite(least).all() and np.isfinite(most).all()):
            raise InputError("X must be finite; it has NaN or infinite entries")
        low, high, n = np.minimum(low, least), np.maximum(high, most), n + len(rows)
        total.append(math.fsum(weight) if weights is not None else float(len(rows)))
        if with_variances:
            first = rows[0].copy() if first is None else first
            away = rows - first
            sums.append(weight @ away)
            squares.append(weight @ np.square(away))
            for j, known in enumerate(values):
                if known is not None:
                    known = np.unique(np.concatenate([known, rows[:, j]]))
                    values[j] = known if len(known) <= MOST_DISTINCT else None
    if n == 0:
        raise InputError("X must have at least one row of positive weight; it has none")
    if n < n_components:
        raise InputError(f"n_components must be at most the number of samples, {n}; got {n_components}")
    weight = math.fsum(total)
    if not math.isfinite(weight):
        raise InputError("sample_weight is too large: the sum overflows")
    variances = np.zeros(d)
    if with_variances:
        mean = np.array([math.fsum(column) for column in np.transpose(sums)]) / weight
        variances = np.array([math.fsum(column) for column in np.transpose(squares)]) / weight - np.square(mean)
    found = tuple(np.empty(0) if known is None else known for known in values or [None] * d)
    return Seen(low, high, np.maximum(variances, 0.0), found, n, weight)


def floor_of(seen):
    """Return the default floors of free variances (d,)."""
    return floors_of(seen.variances, seen.low, seen.high, seen.values)


def summarise(source, weights, seen, scale, unit, tolerance):
    """
    Read the data once more, for a summary.

    Parameters
    ----------
    source, weights, seen
        As of `see`, and what it returned.
    scale, unit : ndarray, shape (d,)
        The core's units, and the typical widths of components, in the user's units.
    tolerance : float
        That the search is to reach, nats.

    Returns
    -------
    ChunkSummary
    """
    d = len(scale)
    center = 0.5 * seen.low + 0.5 * seen.high
    order = np.argsort(seen.low / scale - seen.high / scale, kind="stable")
    low, high = (((end - center) / scale)[order] for end in (seen.low, seen.high))
    pad = PAD * (high - low)
    low, width = low - pad, high - low + 2.0 * pad
    cells = n_cells(width, (unit / scale)[order], seen.total_weight, tolerance)
    total, carry = np.zeros(np.prod(cells + 1)), np.zeros(np.prod(cells + 1))
    frame = ChunkSummary(None, None, None, 0.0, None, scale, center, order, 0.0, seen.n_samples, seen.total_weight)
    excess, distances, n = [], [], 0
    for rows, weight in chunks.weighted(source, weights):
        _, lost, _ = spread(frame.in_core(rows), np.ascontiguousarray(weight), low, width, cells, total, carry)
        excess.append(lost)
        distances.append(moved(rows, weight[:, np.newaxis], center, scale))
        n += len(rows)
    if n != seen.n_samples:
        raise InputError(f"X must have the same rows each time; it had {seen.n_samples:,} and then {n:,}")
    total += carry
    used = np.flatnonzero(total > 0.0)
    index = np.unravel_index(used, cells + 1)
    points = [corners(*axis)[i] for axis, i in zip(zip(low, width, cells, strict=True), index, strict=True)]
    loss = np.array([math.fsum(column) for column in np.transpose(excess)]) * (1.0 + ROUND * (chunks.ROWS + 8))
    return frame._replace(
        columns=np.stack(points), weights=total[used], curvature_loss=loss,
        rounding=ROUND * (4 * d + 16) + n * ROUND**2, reach=width / cells * (1.0 + 1e-9), moved=math.fsum(distances),
    )  # fmt: skip


def n_cells(width, unit, weight, tolerance):
    """Return the cells (d,) of a grid, fine enough for the tolerance or else as fine as can be."""
    d = len(width)
    # on average (x - left)(right - x) is step^2 / 6, and the curvature of a cost 1 / (2 unit^2)
    step = unit * math.sqrt(12.0 * LOSS * tolerance / (weight * d))
    ratio = np.maximum(width / step, 1.0)
    for most, sign in ((MOST_CELLS[d], -1.0), (FEWEST_CELLS[d], 1.0)):
        # columns of few steps keep at least one
        for _ in range(d):
            factor = (most / np.prod(ratio)) ** (1.0 / max(1, np.count_nonzero(ratio > 1.0)))
            if sign * (factor - 1.0) > 0.0:
                ratio = np.where(ratio > 1.0, np.maximum(ratio * factor, 1.0), 1.0)
    return np.maximum(np.ceil(ratio), 1.0).astype(np.int64)
