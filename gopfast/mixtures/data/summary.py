"""
Summaries of many samples that keep the bound.

Per sample, the dual integrand -log sum_k pi_k exp(-c_k(x)) is a concave function of x plus sum_j a_j x_j^2, a_j the
largest curvature that any cost has in coordinate j. With x = sum_v h_v v, a convex combination of the corners v of its
grid cell, it is at least sum_v h_v F(v) - sum_j a_j (x_j - low_j)(high_j - x_j). So the corners with summed weights h_v
and one number per coordinate give a lower bound for all multipliers and weights at once.

Theory: (I1) of docs/theory/many.md.
"""

from typing import NamedTuple

import numpy as np

from gopfast.mixtures.data.grid import corners, spread as spread_over_grid
from gopfast.mixtures.data.tuning import (
    COARSEST,
    FEWEST_SAMPLES,
    MOST_CELLS,
    MOST_FEATURES,
    REFINEMENT,
    SMALLEST_SAVING,
    WIDEST_STEP,
)
from gopfast.roundoff import ROUND


class Level(NamedTuple):
    """
    One summary of the samples.

    Points (d, m), weights (m,), what is lost per unit of curvature in each coordinate (d,) (rounded up), a bound of
    the relative rounding error of the weights, and how far the points are from the samples they stand for (d,).
    """

    columns: np.ndarray
    weights: np.ndarray
    curvature_loss: np.ndarray
    rounding: float
    reach: np.ndarray


def summarised(data):
    """Attach its summaries to Samples, where they are many; returns the samples."""
    for level in levels(*data.arrays()):
        data.add_level(*level)
    return data


def levels(columns, weights, source=None):
    """
    Summarise samples on grids from coarse to fine.

    Parameters
    ----------
    columns : ndarray, shape (d, n)
        Samples in units of the noise standard deviation.
    weights : ndarray, shape (n,)
        Positive weights.
    source : Level, optional
        What these are a summary of.

    Returns
    -------
    list of Level
        Coarse to fine, each with fewer points than the next; empty where a summary would save nothing.
    """
    n_features, n_samples = columns.shape
    if n_features > MOST_FEATURES or n_samples < FEWEST_SAMPLES:
        return []
    low = columns.min(axis=1)
    width = columns.max(axis=1) - low
    coarsest = _coarsest(width)
    if coarsest is None:
        return []
    grids = [coarsest]
    # in one dimension nearly every cell is occupied
    most = MOST_CELLS if n_features > 1 else min(MOST_CELLS, n_samples / SMALLEST_SAVING)
    while np.prod(grids[-1] * float(REFINEMENT) + 1) <= most:
        grids.append(grids[-1] * REFINEMENT)
    found = []
    if source is None:
        source = Level(columns, weights, np.zeros(n_features), 0.0, np.zeros(n_features))
    # Fine to coarse: a summary of a summary is one, and the samples are read once.
    for n_cells in reversed(grids):
        source = _summarise(source, low, width, n_cells)
        if len(source.weights) * SMALLEST_SAVING <= n_samples:
            found.append(source)
    return found[::-1]


def _coarsest(width):
    """Return the cells (d,) of the first grid, or None where even the widest step makes too many of them."""
    for step in np.geomspace(COARSEST, WIDEST_STEP, 5):
        cells = np.maximum(1.0, np.ceil(width / step))
        if np.prod(cells + 1.0) <= MOST_CELLS:
            return cells.astype(np.int64)
    return None


def _summarise(source, low, width, n_cells):
    """Spread every point of a level over the corners of its cell."""
    columns, weights, curvature_loss, rounding, reach = source
    total, lost, most = spread_over_grid(np.ascontiguousarray(columns), weights, low, width, n_cells)
    used = np.flatnonzero(total)
    index = np.unravel_index(used, n_cells + 1)
    points = [corners(*axis)[i] for axis, i in zip(zip(low, width, n_cells, strict=True), index, strict=True)]
    return Level(
        np.stack(points),
        total[used],
        curvature_loss + lost * (1.0 + ROUND * (len(weights) + 8)),
        # sums of at most `most` terms, each a product of d shares with an error of 4 ulps
        rounding + ROUND * (most + 4 * len(columns) + 8),
        reach + width / n_cells * (1.0 + 1e-9),
    )
