"""Clusterwise least squares as a problem of its own.

Theory: (JL7) of docs/theory/clusterwise.md.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from gopfast import checks
from gopfast.annotations import FloatArray, IntArray
from gopfast.clusterwise.least_squares import least_squares
from gopfast.errors import InputError, InputTypeError

LARGEST = 1e100  # squares of numbers above it, times weights, overflow


class ClusterwiseRegression:
    """
    Clusterwise linear regression (Spaeth's problem): classes of samples with the least sum of squared residuals.

    Minimises::

        sum_i w_i min_k (y_i - x_i'beta_k - a_k)^2

    over the coefficients ``beta_k`` and intercepts ``a_k`` of K classes, each sample in that of its least residual.
    `gopfast.solve` proves how far classes are from the best at most. It differs from a `gopfast.RegressionMixture` in
    that classes are hard and residuals of all classes are measured alike.

    Parameters
    ----------
    X : array_like, shape (n,) or (n, p)
        Regressors. Columns must not depend on each other, nor on the intercept.
    y : array_like of shape (n,)
        Responses.
    n_clusters : int
        Number of classes K, from 1 to n. Classes may be empty where fewer fit all samples.
    fit_intercept : bool
        Whether regressions have an intercept.
    sample_weight : array_like of shape (n,), optional
        Weights of the samples, at least 0 and not all 0; 1 by default.

    Attributes
    ----------
    X : ndarray, shape (n, p)
    y : ndarray, shape (n,)
    n_clusters : int
    fit_intercept : bool
    sample_weight : ndarray, shape (n,)
    n_samples, n_features : int

    Raises
    ------
    InputError
        If an argument is invalid; the message names it.

    References
    ----------
    Spaeth, "Clusterwise linear regression", Computing 22 (1979); Carbonneau, Caporossi & Hansen, "Globally optimal
    clusterwise regression by column generation enhanced with heuristics, sequencing and ending subset optimization",
    Journal of Classification 31 (2014).

    Examples
    --------
    >>> import gopfast
    >>> problem = gopfast.ClusterwiseRegression([0, 1, 2, 3, 0, 1, 2, 3], [0, 1, 2, 3, 5, 4, 3, 2.5], 2)
    >>> result = gopfast.solve(problem)
    >>> round(result.objective, 6), result.labels.tolist()
    (0.075, [0, 0, 0, 0, 1, 1, 1, 1])
    """

    X: FloatArray
    y: FloatArray
    n_clusters: int
    fit_intercept: bool
    sample_weight: FloatArray
    n_samples: int
    n_features: int

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        n_clusters: int,
        fit_intercept: bool = True,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        self.X = checks.at_least("X", checks.data_matrix("X", X), -LARGEST, LARGEST)
        self.n_samples, self.n_features = self.X.shape
        response = checks.of_shape("y", checks.real_array("y", y), (self.n_samples,))
        self.y = checks.at_least("y", response, -LARGEST, LARGEST)
        self.n_clusters = checks.whole_number("n_clusters", n_clusters, 1, self.n_samples)
        if not isinstance(fit_intercept, (bool, np.bool_)):
            raise InputTypeError(f"fit_intercept must be True or False; got {fit_intercept!r}")
        self.fit_intercept = bool(fit_intercept)
        self.sample_weight = checks.sample_weight(sample_weight, self.n_samples, LARGEST)
        X, q = self.X[self.sample_weight > 0.0], self.n_features + self.fit_intercept
        if least_squares(X, np.zeros(len(X)), np.ones(len(X)), self.fit_intercept)[2] < q:
            most = "" if len(X) >= q else f": {len(X)} samples of positive weight, {q} coefficients"
            raise InputError(f"X: regressors depend on each other{' or on the intercept' * self.fit_intercept}{most}")

    def __repr__(self) -> str:
        """Return the sizes on one line."""
        return (
            f"ClusterwiseRegression(n_samples={self.n_samples}, n_features={self.n_features}, "
            f"n_clusters={self.n_clusters}, fit_intercept={self.fit_intercept})"
        )

    def _record_of_proof(self):
        """Return the problem as `gopfast.checker` reads it."""
        return {"n_clusters": self.n_clusters, "fit_intercept": self.fit_intercept}

    def _data_of_proof(self):
        """Return the regressors, then the response."""
        return np.column_stack([self.X, self.y])

    def predict(self, X: ArrayLike, coefficients: ArrayLike, intercepts: ArrayLike | None = None) -> FloatArray:
        """
        Compute the regression of every class.

        Parameters
        ----------
        X : array_like, shape (m, p)
        coefficients : array_like, shape (K, p)
        intercepts : array_like of shape (K,), optional

        Returns
        -------
        ndarray, shape (m, K)
        """
        fitted = checks.data_matrix("X", X) @ checks.data_matrix("coefficients", coefficients).T
        return fitted if intercepts is None else fitted + checks.real_array("intercepts", intercepts)

    def assign(self, coefficients: ArrayLike, intercepts: ArrayLike | None = None) -> IntArray:
        """
        Return the class of every sample: that of its least residual.

        Parameters
        ----------
        coefficients : array_like, shape (K, p)
        intercepts : array_like of shape (K,), optional

        Returns
        -------
        ndarray of int, shape (n,)
        """
        return np.abs(self.y[:, np.newaxis] - self.predict(self.X, coefficients, intercepts)).argmin(axis=1)

    def fit(self, labels: ArrayLike) -> tuple[FloatArray, FloatArray, float]:
        """
        Fit the classes of given labels, exactly: in rational numbers, which are rounded once.

        Where a class has too few samples, slopes that they do not tell are 0.

        Parameters
        ----------
        labels : array_like of int, shape (n,)
            0 to K - 1.

        Returns
        -------
        coefficients : ndarray, shape (K, p)
        intercepts : ndarray, shape (K,)
            0 without an intercept.
        objective : float
            The sum of squared residuals of these classes, rounded up: an upper bound of the least one.
        """
        labels = self.check_labels(labels)
        solution, total = np.zeros((self.n_clusters, self.n_features + 1)), Fraction(0)
        for k in np.unique(labels):
            own = (labels == k) & (self.sample_weight > 0.0)
            found, squares, _ = least_squares(self.X[own], self.y[own], self.sample_weight[own], self.fit_intercept)
            try:
                solution[k, 1 - self.fit_intercept :] = [float(x) for x in found]
            except OverflowError:
                raise InputError("X and y: a coefficient is too large for a number; scale X") from None
            total += squares
        objective = float(total)
        return solution[:, 1:], solution[:, 0], objective if objective >= total else math.nextafter(objective, math.inf)

    def objective(self, labels: ArrayLike) -> float:
        """
        Return the sum of squared residuals of given classes about their fits, rounded up.

        Parameters
        ----------
        labels : array_like of int, shape (n,)
            0 to K - 1.

        Returns
        -------
        float
        """
        return self.fit(labels)[2]

    def check_labels(self, labels: ArrayLike, name: str = "labels") -> IntArray:
        """Return labels as an array (n,); `InputError` if they are none, which names them `name`."""
        array = checks.of_shape(name, np.asarray(labels), (self.n_samples,))
        if array.dtype.kind not in "iu":
            raise InputError(f"{name} must be integers; got dtype {array.dtype}")
        return checks.at_least(name, array, 0, self.n_clusters - 1)
