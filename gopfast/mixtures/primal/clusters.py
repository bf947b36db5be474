"""
Clusters of k-means that the first local search starts from where a pass of EM takes long.

Draws are those of k-means++, of several for each center the one that leaves the least sum of squared distances: Arthur
& Vassilvitskii, "k-means++: the advantages of careful seeding" (2007). So are scikit-learn's.

Theory: what they start is (S8) of docs/theory/search.md.
"""

import numpy as np

from gopfast.mixtures.primal.tuning import CLUSTERS_MOST_TURNS as MOST_TURNS, N_TRIES


class Clusterings:
    """
    Runs of k-means on the same samples.

    Parameters
    ----------
    places : ndarray, shape (n, d)
        Samples, in coordinates of which distances are made.
    weights : ndarray, shape (n,)
    n_clusters : int
        K.
    rng : numpy.random.Generator
    """

    def __init__(self, places, weights, n_clusters, rng):
        self.places = places - np.average(places, axis=0, weights=weights)
        self.weights, self.n_clusters, self.rng = weights, n_clusters, rng
        self._known = set()

    def run(self, n_runs, late=lambda: False):
        """
        Run k-means a few times.

        Parameters
        ----------
        n_runs : int
        late : callable () -> bool
            Whether no run is to begin after the first one.

        Returns
        -------
        labels : ndarray, shape (n_found, n)
            Numbers of the samples' clusters, of runs that differ from each other and from those of earlier calls; those
            of the least sum of squared distances first.
        n_alike : ndarray, shape (n_found,)
            How many of the runs ended there.
        """
        found, n_alike = {}, {}
        for _ in range(n_runs):
            if found and late():
                break
            draws = _draws(self.places, self.weights, self.n_clusters, self.rng)
            labels, within = _lloyd(self.places, self.weights, draws)
            if within not in self._known:
                found[within] = labels
                n_alike[within] = n_alike.get(within, 0) + 1
        self._known.update(found)
        order = sorted(found)
        labels = np.array([found[within] for within in order], dtype=np.intp).reshape(-1, len(self.places))
        return labels, np.array([n_alike[within] for within in order], dtype=np.intp)


def _draws(places, weights, n_clusters, rng):
    """Centers (K, d) at samples."""
    away = np.ones(len(places))
    centers = np.empty((n_clusters, places.shape[1]))
    for k in range(n_clusters):
        chances = weights * away
        if not chances.sum() > 0.0:  # fewer distinct samples than clusters
            chances = weights
        drawn = rng.choice(len(places), N_TRIES if k else 1, p=chances / chances.sum())
        left = [np.square(places - places[i]).sum(axis=1) for i in drawn]
        if k:
            left = np.minimum(left, away)
        best = int(np.argmin(left @ weights)) if k else 0
        centers[k], away = places[drawn[best]], left[best]
    return centers


def _lloyd(places, weights, centers):
    """Return numbers of clusters (n,) and the weighted sum of squared distances from their centers."""
    K, former = len(centers), None
    for _ in range(MOST_TURNS):
        score = places @ centers.T - 0.5 * np.square(centers).sum(axis=1)
        labels = score.argmax(axis=1)
        if former is not None and np.array_equal(labels, former):
            break
        mass = weights[:, np.newaxis] * (labels[:, np.newaxis] == np.arange(K))
        total = mass.sum(axis=0)
        used = total > 0.0
        centers[used] = (mass.T @ places)[used] / total[used, np.newaxis]
        former = labels
    return labels, float(weights @ np.square(places - centers[labels]).sum(axis=1))
