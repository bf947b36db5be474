"""The data sets of bench/data, each as an array of shape (n, d)."""

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent / "data"


def load(name):
    """Read one CSV file, a header line first."""
    return np.loadtxt(FOLDER / f"{name}.csv", delimiter=",", skiprows=1, ndmin=2)


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
