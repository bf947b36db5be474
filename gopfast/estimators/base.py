"""What the estimators of all mixtures share; needs scikit-learn, which ``pip install gopfast[sklearn]`` brings."""

from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gopfast.annotations import FloatArray, IntArray
from gopfast.mixtures.problems.base import log_sum_exp, log_zero
from gopfast.mixtures.result import Result
from gopfast.result import Status
from gopfast.solver import solve

try:
    from sklearn.base import BaseEstimator, DensityMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data

    from gopfast.estimators.telling import NotProvedWarning, advice, log_of, warn_once
except ImportError as error:
    raise ImportError("gopfast's estimators need scikit-learn 1.6 or later: pip install 'gopfast[sklearn]'") from error


_Self = TypeVar("_Self", bound="GlobalMixture")


class ProvedFit:
    """
    How an estimator solves its problem and what it tells of the fit.

    A subclass stores arguments of its own, and sets attributes of its own by ``_set_fitted``.
    """

    weights_: FloatArray
    converged_: bool
    n_iter_: int
    gap_: float
    result_: Result
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    def __init__(
        self,
        n_components: int,
        epsilon: float,
        time_limit: float | None,
        n_threads: int | None,
        random_state: int | np.random.RandomState | None,
        verbose: bool | int | str | None,
    ) -> None:
        """Store the arguments of all estimators of mixtures; scikit-learn reads the signature of the subclass."""
        self.n_components = n_components
        self.epsilon = epsilon
        self.time_limit = time_limit
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose

    def _solve(self, problem):
        """Solve the problem and set the fitted attributes; to be called by `fit` itself, whose caller is warned."""
        result = solve(
            problem,
            self.epsilon,
            start=self._start(problem),
            time_limit=self.time_limit,
            n_threads=self.n_threads,
            log=log_of(self.verbose),
            random_state=check_random_state(self.random_state),
        )
        self._take_all(problem, result)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        self._warn(result)

    def _start(self, problem):
        """Return a start of the search, or None."""

    def _set_fitted(self, problem, solution):
        """Set the attributes that the model has beside the weights."""
        for name in problem.parameter_names:
            setattr(self, f"{name}_", getattr(solution, name))

    def _take_all(self, problem, result):
        """Set the fitted attributes."""
        self.result_, self.weights_ = result, result.solution.weights
        self._set_fitted(problem, result.solution)
        self.converged_ = bool(result.success)
        self.n_iter_ = max(1, result.n_nodes)
        self.gap_ = result.gap / problem.total_weight

    def _warn(self, result):
        """Warn the caller of `fit` of a fit that is not proved, or of no use."""
        name = type(self).__name__
        if not result.success:
            warn_once(advice(name, result, self.time_limit, self.epsilon), NotProvedWarning, stacklevel=4)
        elif result.caution:
            warn_once(f"{name}: {result.caution}.", UserWarning, stacklevel=4)

    @property
    def _problem(self):
        return self.result_.solution.problem


class GlobalMixture(ProvedFit, DensityMixin, BaseEstimator):
    """
    Base of the estimators of mixtures whose fit is proved globally optimal.

    A subclass stores arguments of its own, makes the problem of checked data by ``_make`` and sets its own attributes
    by ``_set_fitted``.
    """

    lower_bound_: float
    elbo_bound_: float

    def fit(
        self: _Self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> _Self:
        """
        Find the proved best mixture.

        Parameters
        ----------
        X : array_like, shape (n, d)
            Data, n at least 2.
        y : None
            Not used.
        sample_weight : array_like of shape (n,), optional
            Weights, at least 0 and not all 0.

        Returns
        -------
        GlobalMixture
            The estimator itself.
        """
        X = self._validated(X, ensure_min_samples=2)
        self._solve(self._make(X, sample_weight))
        return self

    def _make(self, X, sample_weight):
        """Return the problem of checked data."""
        raise NotImplementedError

    def _take_all(self, problem, result):
        super()._take_all(problem, result)
        self.lower_bound_ = result.elbo / problem.total_weight
        self.elbo_bound_ = result.elbo_bound / problem.total_weight

    def _validated(self, X, **options):
        """Check data as scikit-learn does."""
        return validate_data(self, X, dtype=np.float64, **options)

    def _rows(self, X):
        """Return checked data of `predict` in the form of the problem's."""
        return self._validated(X, reset=False)

    def fit_predict(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> IntArray:
        """Fit, and return the most probable component of each sample; arguments as `fit`."""
        return self.fit(X, y, sample_weight=sample_weight).predict(X)

    def predict(self, X: ArrayLike) -> IntArray:
        """Return the most probable component of each sample, shape (m,); X of shape (m, d)."""
        return self._scores(X).argmax(axis=1)

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return the probability of each component for each sample, shape (m, K); X of shape (m, d)."""
        scores = self._scores(X)
        total = log_sum_exp(scores)
        impossible = np.isneginf(total)
        scores[impossible], total[impossible] = log_zero(self.weights_), 0.0
        return np.exp(scores - total[:, np.newaxis])

    def score_samples(self, X: ArrayLike) -> FloatArray:
        """Return the log density of each sample, shape (m,), in nats; X of shape (m, d)."""
        return log_sum_exp(self._scores(X))

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Return the mean log density of the samples, in nats; X of shape (m, d), y is not used."""
        return float(self.score_samples(X).mean())

    def aic(self, X: ArrayLike) -> float:
        """Return Akaike's information criterion of the samples; lower is better."""
        scores = self.score_samples(X)
        return float(-2.0 * scores.sum() + 2.0 * self._problem.n_parameters)

    def bic(self, X: ArrayLike) -> float:
        """Return the Bayesian information criterion of the samples; lower is better."""
        scores = self.score_samples(X)
        return float(-2.0 * scores.sum() + self._problem.n_parameters * np.log(len(scores)))

    def sample(self, n_samples: int = 1) -> tuple[FloatArray, IntArray]:
        """
        Draw samples from the fitted mixture.

        Parameters
        ----------
        n_samples : int, default 1
            How many.

        Returns
        -------
        X : ndarray, shape (n_samples, d)
            Samples, ordered by component.
        y : ndarray of int, shape (n_samples,)
            Their components.

        Raises
        ------
        ValueError
            If `n_samples` is less than 1.
        """
        check_is_fitted(self)
        X, y = self.result_.sample(n_samples, check_random_state(self.random_state))
        order = np.argsort(y, kind="stable")
        return X[order], y[order]

    def _scores(self, X):
        """Log of weight times density, (m, K)."""
        check_is_fitted(self)
        solution = self.result_.solution
        return self._problem._log_densities_of(self._rows(X), **solution.parameters) + log_zero(solution.weights)


class CheckedMixture(GlobalMixture):
    """A mixture of counts, times, binary data or labels: what scikit-learn is told of data and how they are checked."""

    _input_tags: tuple[str, ...] = ()  # of scikit-learn, that hold of the data

    def _validated(self, X, **options):
        return super()._validated(X, ensure_non_negative="positive_only" in self._input_tags, **options)

    def __sklearn_tags__(self):
        """Say what data are."""
        tags = super().__sklearn_tags__()
        for name in self._input_tags:
            setattr(tags.input_tags, name, True)
        return tags

    def _rows(self, X):
        return self._problem._rows_like(super()._rows(X))
