"""The samples as points in which Euclidean distance makes sense, for starts and k-means."""

import numpy as np


def embedding(problem):
    """
    Return the samples as points.

    Columns are centred, and in units of the noise's standard deviation where it is known, else of the column's own.
    Labels become indicator columns, over the root of 2: the squared distance counts the labels that differ.

    Parameters
    ----------
    problem : MixtureProblem

    Returns
    -------
    ndarray, shape (n, d), or (n, C_1 + ... + C_d) for labels
    """
    return problem._points()


def squared_distances(points, centers):
    """Squared distance of every point to every centre, shapes (n, d) and (K, d) to (n, K)."""
    return np.stack([np.square(points - center).sum(axis=1) for center in centers], axis=1)


def hard_assignment(labels, n_components):
    """Responsibilities (n, K) of 1 for each sample's label."""
    return np.eye(n_components)[labels]


def scattered(points, weight, n_draws, rng):
    """Draw rows of `points` by k-means++, the first by weight, each next by weight times squared distance."""
    rows, nearest = [], np.ones(len(points))
    for _ in range(n_draws):
        share = weight * nearest
        # Fewer distinct points than draws: repeat some.
        share = share if share.sum() > 0.0 else weight
        rows.append(rng.choice(len(points), p=share / share.sum()))
        distance = squared_distances(points, points[rows[-1:]])[:, 0]
        nearest = np.minimum(nearest, distance) if len(rows) > 1 else distance
    return np.array(rows)
