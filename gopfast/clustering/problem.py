"""Minimum-sum-of-squares clustering as a problem of its own."""

import math

import numpy as np
from numpy.typing import ArrayLike

from gopfast import checks
from gopfast.annotations import FloatArray, IntArray
from gopfast.clustering.lloyd import nearest
from gopfast.errors import InputError

LARGEST = 1e150  # squares of numbers above it overflow


class KMeans:
    """
    k-means: centers with the least sum of squared distances to the samples, each to its nearest.

    Minimises the inertia::

        sum_i w_i min_k |x_i - c_k|^2

    over the centers ``c_1, ..., c_K``: minimum-sum-of-squares clustering. `gopfast.solve` proves how far a clustering
    is from the best at most, `gopfast.certify` does so for one that is given. In one column the best clusters are found
    directly, by dynamic programming. In more columns every sample has a price of its own, but where there are more than
    5,000 distinct ones groups of neighbours share theirs: then a gap that prices leave stays open.

    Parameters
    ----------
    X : array_like, shape (n,) or (n, d)
        Samples. Columns count as they are: scale them before, where they have different units.
    n_clusters : int
        Number of clusters K, from 1 to n. Clusters may be empty where there are fewer distinct samples.
    sample_weight : array_like of shape (n,), optional
        Weights of the samples, at least 0 and not all 0; 1 by default.

    Attributes
    ----------
    X : ndarray, shape (n, d)
    n_clusters : int
    sample_weight : ndarray, shape (n,)
    n_samples, n_features : int

    Raises
    ------
    InputError
        If an argument is invalid; the message names it.

    References
    ----------
    du Merle, Hansen, Jaumard & Mladenovic, "An interior point algorithm for minimum sum-of-squares clustering", SIAM
    J. Sci. Comput. 21 (1999); Aloise, Hansen & Liberti, "An improved column generation algorithm for minimum
    sum-of-squares clustering", Math. Program. 131 (2012).

    Examples
    --------
    >>> import gopfast
    >>> result = gopfast.solve(gopfast.KMeans([0.0, 1.0, 9.0, 10.0, 20.0], 3))
    >>> result.inertia, result.labels.tolist()
    (1.0, [0, 0, 1, 1, 2])
    """

    X: FloatArray
    n_clusters: int
    sample_weight: FloatArray
    n_samples: int
    n_features: int

    def __init__(self, X: ArrayLike, n_clusters: int, sample_weight: ArrayLike | None = None) -> None:
        self.X = checks.at_least("X", checks.data_matrix("X", X), -LARGEST, LARGEST)
        self.n_samples, self.n_features = self.X.shape
        self.n_clusters = checks.whole_number("n_clusters", n_clusters, 1, self.n_samples)
        self.sample_weight = checks.sample_weight(sample_weight, self.n_samples, LARGEST)
        spread = 4.0 * self.n_features * float(np.abs(self.X).max()) ** 2
        if not math.isfinite(spread * math.fsum(self.sample_weight)):
            raise InputError("X and sample_weight: weighted sums of squared distances between samples overflow")

    def __repr__(self) -> str:
        """Return the sizes on one line."""
        return f"KMeans(n_samples={self.n_samples}, n_features={self.n_features}, n_clusters={self.n_clusters})"

    def _record_of_proof(self):
        """Return what a proof says of the problem, beside its data."""
        return {"n_clusters": self.n_clusters}

    def assign(self, centers: ArrayLike) -> IntArray:
        """
        Return the nearest center of every sample.

        Parameters
        ----------
        centers : array_like, shape (K, d)

        Returns
        -------
        ndarray of int, shape (n,)
        """
        return nearest(self.X, self.check_centers(centers))[0].astype(np.intp)

    def objective(self, centers: ArrayLike) -> float:
        """
        Return the inertia at given centers, an upper bound of the least one.

        Parameters
        ----------
        centers : array_like, shape (K, d)

        Returns
        -------
        float
        """
        return math.fsum(self.sample_weight * nearest(self.X, self.check_centers(centers))[1])

    def centers_of(self, labels: ArrayLike) -> FloatArray:
        """
        Return the means of clusters, shape (K, d); empty ones are at the mean of all samples.

        Parameters
        ----------
        labels : array_like of int, shape (n,)
            0 to K - 1.
        """
        labels = checks.of_shape("labels", np.asarray(labels), (self.n_samples,))
        if labels.dtype.kind not in "iu":
            raise InputError(f"labels must be integers; got dtype {labels.dtype}")
        checks.at_least("labels", labels, 0, self.n_clusters - 1)
        anchor = self.X[np.argmax(self.sample_weight)]
        shifted = self.X - anchor
        centers = np.tile(self.sample_weight @ shifted / self.sample_weight.sum(), (self.n_clusters, 1))
        for k in np.unique(labels):
            own = (labels == k) & (self.sample_weight > 0.0)
            if own.any():
                centers[k] = self.sample_weight[own] @ shifted[own] / self.sample_weight[own].sum()
        return centers + anchor

    def check_centers(self, centers: ArrayLike, name: str = "centers") -> FloatArray:
        """Return centers as an array (K, d); `InputError` if they are none, which names them `name`."""
        centers = checks.data_matrix(name, centers)
        return checks.at_least(
            name, checks.of_shape(name, centers, (self.n_clusters, self.n_features)), -LARGEST, LARGEST
        )
