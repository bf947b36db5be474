"""Whatever users call a clustering: a result, an estimator, centers or labels."""

import math

import numpy as np

from gopfast.clustering.result import Clustering
from gopfast.errors import InputError


def read_centers(problem, fit, name="fit"):
    """
    Return the centers (K, d) of what users call a clustering, and its labels (n,) if it is given by them, or None.

    Parameters
    ----------
    problem : KMeans
    fit : ClusteringResult, Clustering, estimator with `cluster_centers_`, labels of shape (n,) or centers (K, d)
    name : str
        For the message.
    """
    for attribute in ("centers", "cluster_centers_"):
        found = getattr(fit, attribute, None)
        if found is not None and not callable(found):
            return problem.check_centers(found, name), None
    try:
        array = np.asarray(fit)
    except (ValueError, TypeError):
        array = None
    if array is not None and array.dtype.kind in "iu" and array.shape == (problem.n_samples,):
        if array.shape != (problem.n_clusters,) or problem.n_features > 1:
            if array.min() < 0 or array.max() >= problem.n_clusters:
                raise InputError(f"{name}: labels must be from 0 to {problem.n_clusters - 1}")
            return problem.centers_of(array), array
    return problem.check_centers(fit, name), None


def clustering_of(problem, fit):
    """Return what users call a clustering as a `Clustering`; labels keep their own sum of squares."""
    centers, labels = read_centers(problem, fit)
    if labels is None:
        return Clustering(centers, problem.assign(centers), problem.objective(centers))
    spread = np.square(problem.X - centers[labels]).sum(axis=1)
    return Clustering(centers, labels.astype(np.intp), math.fsum(problem.sample_weight * spread))
