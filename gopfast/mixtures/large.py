"""
What a search knows of data that need not fit into memory: a summary of them, with what it loses.

Two passes: the range of the data; the summary (`gopfast.mixtures.data.summary`: corners of a grid with weights, and
what they lose at most per unit of curvature), which stands for the samples in every bound. Objectives are those of the
samples, read again (`gopfast.mixtures.primal.chunked`), and so is the gradient at the incumbent, around which a box
with known variances needs no summary's loss (`gopfast.mixtures.incumbent.basin`): beyond that box the objective has
risen by more than what a coarse summary loses.

Theory: (I2) of docs/theory/many.md.
"""

import math
from typing import NamedTuple

import numpy as np

from gopfast.errors import InputError
from gopfast.mixtures.data import chunks, summary
from gopfast.mixtures.data.frame import Frame
from gopfast.mixtures.data.grid import corners, spread
from gopfast.mixtures.data.samples import Samples
from gopfast.mixtures.data.summary import Level
from gopfast.mixtures.margins import PAD
from gopfast.mixtures.problems.floors import floors_of
from gopfast.mixtures.problems.row_sample import RowSample
from gopfast.mixtures.representation import moved
from gopfast.mixtures.tuning import FEWEST_CELLS, LOSS, MOST_CELLS, MOST_DISTINCT, MOST_GRIDS, TYPICAL_WIDTH
from gopfast.roundoff import ROUND


class Seen(NamedTuple):
    """What the first pass has seen: ends, variances, distinct values (none of columns with many), sizes, some rows."""

    low: np.ndarray
    high: np.ndarray
    variances: np.ndarray
    values: tuple
    n_samples: int
    total_weight: float
    sample: RowSample


class Moments(NamedTuple):
    """What the first pass has seen of a part: as `Seen`, with sums of each block about the part's first row."""

    low: np.ndarray
    high: np.ndarray
    n_samples: int
    totals: list
    first: np.ndarray
    sums: list
    squares: list
    values: list
    sample: RowSample


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

    @property
    def frame(self):
        """The core's units."""
        return Frame(self.scale, self.center, self.order)

    def in_users(self):
        """Return the points (m, d) in the user's units."""
        return self.frame.in_users(self.columns)

    def samples(self, squares):
        """Make the core's Samples, with coarser summaries."""
        level = Level(*(np.array(part) if isinstance(part, np.ndarray) else part for part in self[:5]))
        order = np.array(self.order)
        data = Samples.summarised(level, np.array(self.scale), np.array(self.center), order, squares, self.total_weight)
        for coarser in summary.levels(level.columns, level.weights, level):
            data.add_level(*coarser)
        return data


def see(parts, n_components, with_variances):
    """
    Read the data once.

    Parameters
    ----------
    parts : Parts
    n_components : int
    with_variances : bool
        Whether variances and distinct values are wanted.

    Returns
    -------
    Seen
    """
    d = parts.source.n_columns
    low, high, n, total = np.full(d, np.inf), np.full(d, -np.inf), 0, []
    first, sums, squares = None, [], []
    values = [np.empty(0) for _ in range(d)] if with_variances else None
    sample = RowSample(d)
    for part in parts.outcomes(see_part, (d, parts.weights is not None, with_variances)):
        if not part.n_samples:
            continue
        low, high, n = np.minimum(low, part.low), np.maximum(high, part.high), n + part.n_samples
        total += part.totals
        if with_variances:
            first = part.first if first is None else first
            away, weight = part.first - first, np.array(part.totals)[:, np.newaxis]
            own = np.array(part.sums)
            sums += list(own + weight * away)
            squares += list(part.squares + 2.0 * own * away + weight * away * away)
            values = [_distinct(known, *more) for known, *more in zip(values, part.values, strict=True)]
            sample.add(part.sample.rows, part.sample.weight)
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
    return Seen(low, high, np.maximum(variances, 0.0), found, n, weight, sample)


def see_part(blocks, d, with_weights, with_variances):
    """Return the Moments of some blocks of rows (m, d) and weights (m,)."""
    low, high, n, total = np.full(d, np.inf), np.full(d, -np.inf), 0, []
    first, sums, squares = None, [], []
    values, sample = [np.empty(0) for _ in range(d)], RowSample(d)
    for rows, weight in blocks:
        least, most = rows.min(axis=0), rows.max(axis=0)
        if not (np.isfinite(least).all() and np.isfinite(most).all()):
            raise InputError("X must be finite; it has NaN or infinite entries")
        low, high, n = np.minimum(low, least), np.maximum(high, most), n + len(rows)
        total.append(math.fsum(weight) if with_weights else float(len(rows)))
        if with_variances:
            first = rows[0].copy() if first is None else first
            away = rows - first
            sums.append(weight @ away)
            squares.append(weight @ np.square(away))
            values = [_distinct(known, rows[:, j]) for j, known in enumerate(values)]
            sample.add(rows, np.broadcast_to(weight, len(rows)))
    return Moments(low, high, n, total, first, sums, squares, values, sample)


def _distinct(known, more):
    """Return the distinct values of both; None where they are many."""
    if known is None or more is None:
        return None
    known = np.unique(np.concatenate([known, more]))
    return known if len(known) <= MOST_DISTINCT else None


def floor_of(seen, make_kind):
    """Return the default floor of free variances, of the kind of covariance that is made."""
    floors = floors_of(seen.variances, seen.low, seen.high, seen.values, seen.sample, make_kind)
    return make_kind(floors, seen.high - seen.low).least


def typical_widths(seen, scale, n_components):
    """Return about how wide components of free variance are, (d,): no less than `scale`."""
    return np.maximum(scale, TYPICAL_WIDTH * np.sqrt(seen.variances) / n_components)


def summarise(parts, seen, scale, unit, tolerance):
    """
    Read the data once more, for a summary.

    Parameters
    ----------
    parts, seen
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
    frame = Frame(scale, center, order)
    low, high = (((end - center) / scale)[order] for end in (seen.low, seen.high))
    pad = PAD * (high - low)
    low, width = low - pad, high - low + 2.0 * pad
    cells = n_cells(width, (unit / scale)[order], seen.total_weight, tolerance)
    total, carry = np.zeros(np.prod(cells + 1)), np.zeros(np.prod(cells + 1))
    excess, distances, n = [], [], 0
    for own, lost, away, count in parts.outcomes(spread_part, (frame, low, width, cells), MOST_GRIDS):
        add(total, carry, own)
        excess += lost
        distances += away
        n += count
    if n != seen.n_samples:
        raise InputError(f"X must have the same rows each time; it had {seen.n_samples:,} and then {n:,}")
    total += carry
    used = np.flatnonzero(total > 0.0)
    index = np.unravel_index(used, cells + 1)
    points = [corners(*axis)[i] for axis, i in zip(zip(low, width, cells, strict=True), index, strict=True)]
    loss = np.array([math.fsum(column) for column in np.transpose(excess)]) * (1.0 + ROUND * (chunks.ROWS + 8))
    return ChunkSummary(
        columns=np.stack(points), weights=total[used], curvature_loss=loss,
        rounding=ROUND * (4 * d + 20) + n * ROUND**2, reach=width / cells * (1.0 + 1e-9), scale=scale, center=center,
        order=order, moved=math.fsum(distances), n_samples=seen.n_samples, total_weight=seen.total_weight,
    )  # fmt: skip


def spread_part(blocks, frame, low, width, cells):
    """Spread some blocks over the grid: its weights, what each block loses and is moved by, and the samples."""
    total, carry = np.zeros(np.prod(cells + 1)), np.zeros(np.prod(cells + 1))
    excess, distances, n = [], [], 0
    for rows, weight in blocks:
        _, lost, _ = spread(frame.in_core(rows), np.ascontiguousarray(weight), low, width, cells, total, carry)
        excess.append(lost)
        distances.append(moved(rows, weight[:, np.newaxis], frame.center, frame.scale))
        n += len(rows)
    return total + carry, excess, distances, n


def add(total, carry, more):
    """Add to sums in place, and what their rounding loses to `carry`: as `spread` does for samples."""
    before = total.copy()
    total += more
    kept = total - before
    carry += (before - (total - kept)) + (more - kept)


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
