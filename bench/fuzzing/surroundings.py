"""Boxes around a point."""

import numpy as np


def random_box(rng, point, error, low, high):
    """A box around a point within the root: wide, tiny, or with faces on it, each side for itself."""
    n = len(point)
    width = high - low
    style = rng.integers(4)
    reach = {
        0: lambda: np.full(n, 10.0 ** rng.uniform(-8, 0)),
        1: lambda: 10.0 ** rng.uniform(-8, 0, n),
        2: lambda: rng.choice([0.0, 1e-9, 1e-3, 0.1, 1.0], n),
        3: lambda: rng.choice([0.0, 1.0], n),
    }[style]
    below, above = (width * reach() * rng.random(n) ** rng.integers(0, 2) for _ in range(2))
    face = rng.random(n)
    below, above = np.where(face < 0.1, 0.0, below), np.where(face > 0.9, 0.0, above)
    least = np.minimum(np.maximum(low, np.minimum(point - below, point - error)), high)
    most = np.maximum(np.minimum(high, np.maximum(point + above, point + error)), least)
    return least, most
