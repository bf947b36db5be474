"""Mixtures of regressions as a scikit-learn regressor: ``pip install gopfast[sklearn]``."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from gopfast.annotations import FloatArray, IntArray
from gopfast.errors import InputError
from gopfast.estimators.base import BaseEstimator, ProvedFit, check_is_fitted, validate_data
from gopfast.estimators.tuning import FLOOR_OF_EXACT_FITS
from gopfast.mixtures.problems import RegressionMixture


class GlobalRegressionMixture(ProvedFit, RegressorMixin, BaseEstimator):
    """
    Mixture of regressions whose fit is proved globally optimal, as a scikit-learn regressor.

    See `gopfast.RegressionMixture` for the model, and `gopfast.models.CountRegressionMixture` for that of counts.

    Parameters
    ----------
    n_components : int, default 1
        Number of components K.
    variance : {"free", "shared"}, default "free"
        Whether each component has a variance of its own, or all have one.
    noise_variance : float, optional
        Known variance of every component; none is estimated then.
    variance_floor : float, optional
        Least variance; by default the square of 0.05 residual standard deviations of one regression, or where one
        regression fits all samples 1e-12 of the mean square of y (1 if y is 0).
    fit_intercept : bool, default True
        Whether regressions have an intercept.
    family : {"normal", "poisson", "binomial"}, default "normal"
        Distribution of the response given the regressors.
    least_count : float, optional
        What a count of 0 is taken to be; by default 1e-6.
    shared_coefficients : str, int, or sequence of these, optional
        The coefficients that all components share: regressors' names or numbers from 0, or "intercept".
    epsilon : float, default 0.01
        Absolute tolerance of the total log-likelihood, in nats.
    time_limit : float or None, default 60
        Seconds; None for no limit. A fit that it stops warns with `ConvergenceWarning`.
    n_threads : int, optional
        Threads; one per processor by default. The fit does not depend on it.
    random_state : None, int or RandomState
        For the local search. The proved optimum does not depend on it.
    verbose : {0, 1, 2, "bar"}, optional
        0: silence; 1: a line every 5 seconds; 2: a table; "bar": a bar of tqdm. By default a long fit says so
        on one line of standard error after 5 seconds, and each time that the time has doubled.

    Attributes
    ----------
    weights_ : ndarray, shape (K,)
        Mixture weights.
    coefficients_ : ndarray, shape (K, p)
    intercepts_, variances_ : ndarray, shape (K,)
    variance_ : float
        With ``variance="shared"`` in place of `variances_`.
    converged_ : bool
        Whether the fit is proved globally optimal within `epsilon`.
    n_iter_ : int
        Nodes of the search, at least 1 as scikit-learn has it.
    gap_ : float
        What is not proved of the log-likelihood, per unit of sample weight; with groups per group of weight 1.
    result_ : gopfast.Result
        The search's result; holds the training data.
    n_features_in_ : int
        Number of regressors p.
    feature_names_in_ : ndarray of str
        Names of the regressors, where X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from gopfast import GlobalRegressionMixture
    >>> x = np.arange(12.0)[:, np.newaxis]
    >>> y = np.where(np.arange(12) % 2, x[:, 0], 10 - x[:, 0]) + 0.1 * np.cos(np.arange(12))
    >>> model = GlobalRegressionMixture(2, variance_floor=0.01).fit(x, y)
    >>> model.coefficients_.ravel().round(1).tolist(), model.converged_
    ([-1.0, 1.0], True)
    """

    coefficients_: FloatArray
    intercepts_: FloatArray
    variances_: FloatArray
    variance_: float

    def __init__(
        self,
        n_components: int = 1,
        *,
        variance: str = "free",
        noise_variance: float | None = None,
        variance_floor: float | None = None,
        fit_intercept: bool = True,
        family: str = "normal",
        least_count: float | None = None,
        shared_coefficients: str | int | Sequence[str | int] | None = None,
        epsilon: float = 0.01,
        time_limit: float | None = 60.0,
        n_threads: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool | int | str | None = None,
    ) -> None:
        super().__init__(n_components, epsilon, time_limit, n_threads, random_state, verbose)
        self.variance = variance
        self.noise_variance = noise_variance
        self.variance_floor = variance_floor
        self.fit_intercept = fit_intercept
        self.family = family
        self.least_count = least_count
        self.shared_coefficients = shared_coefficients

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        n_trials: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> "GlobalRegressionMixture":
        """
        Find the proved best mixture.

        Where scikit-learn's metadata routing is on, ``set_fit_request(groups=True)`` asks for the groups that a cross
        validation is given.

        Parameters
        ----------
        X : array_like, shape (n, p)
        y : array_like, shape (n,)
        sample_weight : array_like of shape (n,), optional
            Weights, at least 0 and not all 0; with groups one number for each group.
        offset : array_like of shape (n,), optional
            Of counts: what is added to linear predictors.
        n_trials : int or array_like of shape (n,), optional
            With "binomial" alone, which needs it.
        groups : array_like of shape (n,), optional
            Labels of rows that belong together, such as those of a patient or a centre: all rows of a group are of one
            component. By default each row is a group.

        Returns
        -------
        GlobalRegressionMixture
            The estimator itself.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        more = _arrays(offset=offset, n_trials=n_trials, groups=groups)
        self._solve(self._make(X, np.asarray(y, dtype=np.float64), sample_weight, **more))
        return self

    def _make(self, X, y, sample_weight, **of_rows):
        """Return the problem, with a floor also where one regression leaves no residuals."""
        given = {
            "noise_variance": self.noise_variance, "fit_intercept": self.fit_intercept, "sample_weight": sample_weight,
            "family": self.family, "least_count": self.least_count, **of_rows,
        }  # fmt: skip
        shared = {"variance": self.variance, "shared_coefficients": self.shared_coefficients}
        floor = self.variance_floor
        if floor is None and self.noise_variance is None and self.family == "normal":
            one = RegressionMixture(X, y, 1, **{**given, "noise_variance": 1.0})
            if one.fits_all:
                floor = FLOOR_OF_EXACT_FITS * float(np.square(y).mean()) or 1.0
        return RegressionMixture(X, y, self.n_components, variance_floor=floor, **shared, **given)

    def predict_component(
        self, X: ArrayLike, offset: ArrayLike | None = None, n_trials: ArrayLike | None = None
    ) -> FloatArray:
        """
        Return each component's mean of the response, shape (m, K); X of shape (m, p).

        Of counts at offsets, 0 by default, and numbers of trials, 1 by default, so that proportions are probabilities.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        given = _arrays(offset=offset, n_trials=n_trials)
        return self._problem.predict_mean(
            X, self.coefficients_, getattr(self, "intercepts_", None),
            **{name: value for name, value in given.items() if value is not None},
        )  # fmt: skip

    def predict(
        self, X: ArrayLike, offset: ArrayLike | None = None, n_trials: ArrayLike | None = None
    ) -> FloatArray:
        """Return the mean of the response, shape (m,): that of the components, weighted; X of shape (m, p)."""
        return self.predict_component(X, offset, n_trials) @ self.weights_

    def predict_proba(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        n_trials: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> FloatArray:
        """
        Return the probability of each component for samples, (m, K); the weights where no responses are known.

        Of counts with offsets and numbers of trials, as `fit` takes them. Where the fit had groups, rows of equal
        `groups` are of one component, and each row stands for itself without them.
        """
        check_is_fitted(self)
        if y is None:
            X = validate_data(self, X, dtype=np.float64, reset=False)
            return np.tile(self.weights_, (len(X), 1))
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, reset=False)
        rows = self._problem._rows_of(X, y, **_arrays(offset=offset, n_trials=n_trials, groups=groups))
        found = self._problem._log_densities_of(rows, **self.result_.solution.parameters)
        with np.errstate(divide="ignore"):
            scores = found + np.log(self.weights_)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    def classify(
        self,
        X: ArrayLike,
        y: ArrayLike,
        offset: ArrayLike | None = None,
        n_trials: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> IntArray:
        """Return the most probable component of samples with known responses, shape (m,); see `predict_proba`."""
        return self.predict_proba(X, y, offset, n_trials, groups).argmax(axis=1)


def _arrays(**given):
    """Refuse names of columns, which problems take: an estimator's X has regressors alone."""
    for name, value in given.items():
        if isinstance(value, str):
            raise InputError(f"{name} must be an array, one entry for each row of X; got {value!r}")
    return given
