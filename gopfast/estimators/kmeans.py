"""k-means with a proof as a scikit-learn estimator; needs scikit-learn: ``pip install gopfast[sklearn]``."""


import numpy as np
from numpy.typing import ArrayLike, NDArray

from gopfast.annotations import FloatArray, IntArray, Seed
from gopfast.clustering.lloyd import nearest
from gopfast.clustering.problem import KMeans
from gopfast.clustering.result import ClusteringResult

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

    from gopfast.estimators.drop_in import OF_LLOYD, centers_of, check_without_effect
    from gopfast.estimators.partition import ProvedPartition
except ImportError as error:
    raise ImportError("gopfast.GlobalKMeans needs scikit-learn 1.6 or later: pip install 'gopfast[sklearn]'") from error


class GlobalKMeans(ProvedPartition, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """
    k-means clustering whose inertia is proved to be the least, with the interface of scikit-learn.

    Like `sklearn.cluster.KMeans`, but `fit` does not stop at a local optimum: it ends with the best clustering there
    is, within `rel_tol`, or at `time_limit` with a bound of what any clustering could reach.

    Parameters
    ----------
    n_clusters : int, default 8
        Number of clusters K.
    rel_tol : float, default 1e-4
        Tolerance, in units of the inertia.
    time_limit : float or None, default 60
        Seconds; None for no limit. A fit that it stops warns with `ConvergenceWarning`.
    random_state : None, int or RandomState
        For the starts of the local search.
    verbose : {0, 1, 2, "bar"}, optional
        0: silence; 1: a line every 5 seconds; 2: a table; "bar": a bar of tqdm. By default a long fit says so
        on one line of standard error after 5 seconds, and each time that the time has doubled.
    init : {"k-means++", "random"} or array_like of shape (K, d), optional
        Centers to start from, beside the search's own draws; the fit is at least as good. Names have no effect.
    n_init, max_iter, tol, algorithm, copy_x : optional
        Scikit-learn's, of Lloyd's algorithm and its restarts: checked, and without effect. The search makes its own
        starts, and ends with `rel_tol` or `time_limit`.

    Attributes
    ----------
    cluster_centers_ : ndarray, shape (K, d)
        Centers, by first coordinate.
    labels_ : ndarray of int, shape (n,)
        Cluster of every sample.
    inertia_ : float
        Weighted sum of squared distances to the nearest centers.
    inertia_bound_ : float
        Proved: no clustering has a smaller inertia.
    converged_ : bool
        Whether the inertia is proved to be the least within `rel_tol`.
    n_iter_ : int
        Nodes of the search, at least 1 as scikit-learn has it.
    result_ : gopfast.ClusteringResult
        The search's result.
    n_features_in_, feature_names_in_
        The number of features, and where X has names theirs, as in every estimator.

    Raises
    ------
    ValueError
        By `fit`: the message names the parameter, or the data, that cannot be.

    Examples
    --------
    >>> from gopfast import GlobalKMeans
    >>> model = GlobalKMeans(2).fit([[0.0, 0.0], [0.0, 1.0], [8.0, 0.0], [9.0, 0.0]])
    >>> model.inertia_, model.labels_.tolist(), model.converged_
    (1.0, [0, 0, 1, 1], True)
    """

    cluster_centers_: FloatArray
    labels_: IntArray
    inertia_: float
    inertia_bound_: float
    converged_: bool
    n_iter_: int
    result_: ClusteringResult
    n_features_in_: int
    feature_names_in_: "NDArray[np.str_]"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        rel_tol: float = 1e-4,
        time_limit: float | None = 60.0,
        random_state: Seed = None,
        verbose: bool | int | str | None = None,
        init: str | ArrayLike | None = None,
        n_init: int | str | None = None,
        max_iter: int | None = None,
        tol: float | None = None,
        algorithm: str | None = None,
        copy_x: bool | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.rel_tol = rel_tol
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.algorithm = algorithm
        self.copy_x = copy_x

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> "GlobalKMeans":
        """
        Find the best clusters, with proof.

        Parameters
        ----------
        X, y, sample_weight
            As of `sklearn.cluster.KMeans.fit`; weights are at least 0, and not all 0.

        Returns
        -------
        GlobalKMeans
            Itself.
        """
        check_without_effect(self, OF_LLOYD)
        X = validate_data(self, X, dtype=np.float64)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        problem = KMeans(X, self.n_clusters, sample_weight=sample_weight)
        self._solve(problem, centers_of(self.init, (problem.n_clusters, X.shape[1])))
        return self

    def _set_fitted(self, problem, result):
        self.cluster_centers_ = result.centers
        self.inertia_, self.inertia_bound_ = result.inertia, result.lower_bound

    def fit_predict(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> IntArray:
        """Fit, and return the cluster of every sample; arguments as `fit`."""
        return self.fit(X, y, sample_weight=sample_weight).labels_

    def fit_transform(
        self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> FloatArray:
        """Fit, and return the distances to the centers; arguments as `fit`."""
        return self.fit(X, y, sample_weight=sample_weight).transform(X)

    def predict(self, X: ArrayLike) -> IntArray:
        """Return the nearest center of every sample, shape (m,); X of shape (m, d)."""
        return nearest(np.ascontiguousarray(self._checked(X)), self.cluster_centers_)[0].astype(np.int32)

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return the distances to the centers, shape (m, K); X of shape (m, d)."""
        X = self._checked(X)
        return np.sqrt(np.stack([np.square(X - center).sum(axis=1) for center in self.cluster_centers_], axis=1))

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the inertia of samples (m, d) at the centers."""
        least = nearest(np.ascontiguousarray(self._checked(X)), self.cluster_centers_)[1]
        return -float(least.sum() if sample_weight is None else np.asarray(sample_weight) @ least)

    @property
    def _n_features_out(self):
        return len(self.cluster_centers_)

    def _checked(self, X):
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False)
