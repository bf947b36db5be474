"""The data sets of the package and a simulated one, as the tables use them: arrays of shape (n, d)."""

import numpy as np

from gopfast.datasets import load


def minimal():
    """The paper's minimal data set: -10, -10, 5, 25."""
    return load("minimal")


def galaxies():
    """82 galaxy velocities in 1000 km/s."""
    return load("galaxies") / 1000.0


def acidity():
    """Log acid-neutralising capacity of 155 lakes."""
    return load("acidity")


def enzyme():
    """Enzymatic activity in the blood of 245 people."""
    return load("enzyme")


def clusters():
    """300 samples of seven overlapping clusters, simulated."""
    rng = np.random.default_rng(1)
    return (4 * rng.integers(7, size=300) + rng.standard_normal(300))[:, np.newaxis]


def faithful():
    """272 eruptions of Old Faithful: length and waiting time in minutes."""
    return load("faithful")
