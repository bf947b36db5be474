"""
Grids of samples with noise: samples are spread over the corners of their cells, and masses given to neighbours.

Theory: (TL3) of docs/theory/labels.md.
"""

import math
from typing import NamedTuple

import numpy as np

from gopfast.mixtures.shared.margins import SLICES_SLACK as SLACK
from gopfast.mixtures.shared.sample_cells import entropy_of
from gopfast.roundoff import ROUND


def step_of(variance, n_smoothed):
    """Return the step of a grid whose noise is of about a variance, but for that over a step."""
    return math.sqrt(variance / (0.25 + 0.5 * n_smoothed))


class NoiseGrid(NamedTuple):
    """Samples y (d, n) in steps of a grid that begins at `low` (d,) and has `sizes` (d,) corners along every line."""

    y: np.ndarray
    low: np.ndarray
    sizes: np.ndarray
    n_smoothed: int

    @staticmethod
    def of(x, step, n_smoothed):
        """Return that of samples x (d, n)."""
        y = np.ascontiguousarray(x / step)
        low = y.min(axis=1) - (1.0 + n_smoothed)
        return NoiseGrid(y, low, (y.max(axis=1) - low).astype(np.intp) + 3 + n_smoothed, n_smoothed)

    @property
    def n_nodes(self):
        """Its corners, as a float."""
        return float(np.prod(self.sizes.astype(float)))

    @property
    def far(self):
        """How far corners are from the origin at most, along every line (d,), in steps."""
        return np.abs(self.low) + self.sizes

    def entropy(self, weights, total, *costs):
        """
        Return the entropy of masses that samples of weights (n,) have on the corners, rounded down.

        Returns
        -------
        entropy, magnitude : float
            And the sum of its terms' magnitudes.
        squares : ndarray, shape (d,)
        largest : float
            As `entropy_of` returns them, of whose costs there may be some.
        slip : float
            What sums of as many masses may be off by, relative to their magnitudes.
        """
        found, magnitude, squares, largest = entropy_of(
            self.y, weights, self.low, self.sizes, self.n_smoothed, total, *costs
        )
        # of masses, and of the sum of as many terms
        slip = 8.0 * (len(weights) + self.n_nodes + 128.0) * ROUND
        return found - slip * (1.0 + magnitude), magnitude, squares, largest, slip


def places_off(far, step):
    """Return how far samples may be from where a grid has them, no corner of which is beyond `far` (d,) steps."""
    return 8 * ROUND * step * math.sqrt(float(np.square(far).sum())) * (1.0 + SLACK)
