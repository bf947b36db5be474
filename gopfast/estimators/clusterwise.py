"""Clusterwise least squares as a scikit-learn regressor: ``pip install gopfast[sklearn]``."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gopfast.annotations import FloatArray, IntArray, Seed
from gopfast.clusterwise.problem import ClusterwiseRegression
from gopfast.clusterwise.result import ClusterwiseResult

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.utils.validation import check_is_fitted, validate_data

    from gopfast.estimators.partition import ProvedPartition
except ImportError as error:
    raise ImportError("gopfast's estimators need scikit-learn 1.6 or later: pip install 'gopfast[sklearn]'") from error


class GlobalClusterwiseRegression(ProvedPartition, RegressorMixin, BaseEstimator):
    """
    Classes of linear regressions whose sum of squared residuals is proved to be the least, as a scikit-learn regressor.

    See `gopfast.ClusterwiseRegression` for the problem; `GlobalRegressionMixture` has classes that overlap, with
    variances of their own.

    Parameters
    ----------
    n_clusters : int, default 1
        Number of classes K.
    fit_intercept : bool, default True
        Whether regressions have an intercept.
    rel_tol : float, default 1e-4
        Tolerance, in units of the sum of squares.
    time_limit : float or None, default 60
        Seconds; None for no limit. A fit that it stops warns with `ConvergenceWarning`.
    random_state : None, int or RandomState
        For the starts of the local search. The proved optimum does not depend on it.
    verbose : {0, 1, 2, "bar"}, optional
        0: silence; 1: a line every 5 seconds; 2: a table; "bar": a bar of tqdm. By default a long fit says so
        on one line of standard error after 5 seconds, and each time that the time has doubled.

    Attributes
    ----------
    coefficients_ : ndarray, shape (K, p)
        Classes by their intercepts, then coefficients.
    intercepts_ : ndarray, shape (K,)
        0 without an intercept.
    weights_ : ndarray, shape (K,)
        Shares of the classes in the weight of the samples; 0 of a class that no sample needs.
    labels_ : ndarray of int, shape (n,)
        Class of every sample.
    sum_of_squares_ : float
        Weighted sum of squared residuals.
    sum_of_squares_bound_ : float
        Proved: no classes have a smaller one.
    converged_ : bool
        Whether the sum of squares is proved to be the least within `rel_tol`.
    n_iter_ : int
        Nodes of the search, at least 1 as scikit-learn has it.
    result_ : gopfast.ClusterwiseResult
        The search's result.
    n_features_in_ : int
        Number of regressors p.
    feature_names_in_ : ndarray of str
        Names of the regressors, where X has names.

    Raises
    ------
    ValueError
        By `fit`: the message names the parameter, or the data, that cannot be, such as regressors that depend on each
        other.

    Examples
    --------
    >>> from gopfast import GlobalClusterwiseRegression
    >>> X = [[0.0], [1.0], [2.0], [3.0], [0.0], [1.0], [2.0], [3.0]]
    >>> model = GlobalClusterwiseRegression(2).fit(X, [0.0, 1.0, 2.0, 3.0, 5.0, 4.0, 3.0, 2.5])
    >>> model.labels_.tolist(), round(model.sum_of_squares_, 6), model.converged_
    ([0, 0, 0, 0, 1, 1, 1, 1], 0.075, True)
    """

    coefficients_: FloatArray
    intercepts_: FloatArray
    weights_: FloatArray
    labels_: IntArray
    sum_of_squares_: float
    sum_of_squares_bound_: float
    converged_: bool
    n_iter_: int
    result_: ClusterwiseResult
    n_features_in_: int
    feature_names_in_: "NDArray[np.str_]"

    def __init__(
        self,
        n_clusters: int = 1,
        *,
        fit_intercept: bool = True,
        rel_tol: float = 1e-4,
        time_limit: float | None = 60.0,
        random_state: Seed = None,
        verbose: bool | int | str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.fit_intercept = fit_intercept
        self.rel_tol = rel_tol
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "GlobalClusterwiseRegression":
        """
        Find the best classes, with proof.

        Parameters
        ----------
        X : array_like, shape (n, p)
        y : array_like, shape (n,)
        sample_weight : array_like of shape (n,), optional
            Weights, at least 0 and not all 0.

        Returns
        -------
        GlobalClusterwiseRegression
            The estimator itself.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        self._solve(ClusterwiseRegression(X, y, self.n_clusters, self.fit_intercept, sample_weight))
        return self

    def _set_fitted(self, problem, result):
        self.coefficients_, self.intercepts_ = result.coefficients, result.intercepts
        self.weights_ = np.bincount(result.labels, problem.sample_weight, len(result.intercepts))
        self.weights_ /= self.weights_.sum()
        self.sum_of_squares_, self.sum_of_squares_bound_ = result.objective, result.lower_bound

    def predict_component(self, X: ArrayLike) -> FloatArray:
        """Return the regression of each class, shape (m, K); X of shape (m, p)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return X @ self.coefficients_.T + self.intercepts_

    def predict(self, X: ArrayLike) -> FloatArray:
        """
        Return the mean of the classes' regressions, weighted by their shares, shape (m,); X of shape (m, p).

        It is what can be said of a response without knowing its class; `predict_component` has the regressions.
        """
        return self.predict_component(X) @ self.weights_

    def classify(self, X: ArrayLike, y: ArrayLike) -> IntArray:
        """Return the class of samples with known responses, shape (m,): that of the least residual."""
        check_is_fitted(self)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, reset=False)
        away = np.abs(np.reshape(y, (-1, 1)) - self.predict_component(X))
        away[:, self.weights_ == 0.0] = np.inf  # classes that no sample needs have no regression
        return away.argmin(axis=1).astype(np.int32)
