"""The core's units: how samples in the user's become its columns."""

from typing import NamedTuple

import numpy as np


class Frame(NamedTuple):
    """Scale and center (d,) in the user's units, and the order (d,) of the columns."""

    scale: np.ndarray
    center: np.ndarray
    order: np.ndarray

    def in_core(self, rows):
        """Return samples (m, d) as columns (d, m)."""
        return np.ascontiguousarray(((rows - self.center) / self.scale).T[self.order])

    def in_users(self, columns):
        """Return columns (d, m) as points (m, d)."""
        out = np.empty(columns.shape[::-1])
        out[:, self.order] = columns.T
        return out * self.scale + self.center
