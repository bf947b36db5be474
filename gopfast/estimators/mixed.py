"""Mixtures of columns of different kinds as a scikit-learn estimator: ``pip install gopfast[sklearn]``."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gopfast.annotations import FloatArray
from gopfast.errors import InputError
from gopfast.estimators.base import CheckedMixture, validate_data
from gopfast.mixtures.problems import MixedMixture


class GlobalMixedMixture(CheckedMixture):
    """
    Mixture of columns of different kinds whose fit is proved globally optimal, as a scikit-learn estimator.

    See `gopfast.MixedMixture` for the model. Missing entries are None, NaN or pandas' NA.

    Parameters
    ----------
    n_components : int, default 1
        Number of components K.
    kinds : str, sequence of str, mapping of str to str, or None
        Of all columns, of each, or by name of each column of a data frame; None: by the types of their entries, which
        ``result_.notes`` tells.
    variance_floor : float or array_like, optional
        Least variance of the normal columns, as of `gopfast.MixedMixture`.
    epsilon : float, default 0.01
        Absolute tolerance of the total log-likelihood, in nats.
    time_limit : float or None, default 60
        Seconds; None for no limit. A fit that it stops warns with `ConvergenceWarning`.
    n_threads : int, optional
        Threads; one per processor by default. The fit does not depend on it.
    random_state : None, int or RandomState
        For the starts of the local search and for `sample`. The proved optimum does not depend on it.
    verbose : {0, 1, 2, "bar"}, optional
        0: silence; 1: a line every 5 seconds; 2: a table; "bar": a bar of tqdm. By default a long fit says so
        on one line of standard error after 5 seconds, and each time that the time has doubled.

    Attributes
    ----------
    weights_ : ndarray, shape (K,)
        Mixture weights.
    means_, covariances_, rates_, probabilities_
        As of `gopfast.MixedMixture`, those that there are.
    kinds_ : tuple of str
        Of each column.
    categories_ : tuple of ndarray
        The labels of each column of labels.
    converged_ : bool
        Whether the fit is proved globally optimal within `epsilon`.
    n_iter_ : int
        Nodes of the search, at least 1 as scikit-learn has it.
    lower_bound_, elbo_bound_, gap_ : float
        Log-likelihood that the fit reaches per unit of sample weight, what no fit exceeds, and the difference.
    result_ : gopfast.Result
        The search's result; holds the training data.
    n_features_in_ : int
        Number of features d.
    feature_names_in_ : ndarray of str
        Names of the features, where X has names.

    Examples
    --------
    >>> from gopfast import GlobalMixedMixture
    >>> X = [[31.0, "no"], [33.5, "no"], [None, "no"], [61.0, "yes"], [60.0, "yes"]]
    >>> model = GlobalMixedMixture(2, variance_floor=1.0).fit(X)
    >>> model.predict(X).tolist(), model.kinds_
    ([0, 0, 0, 1, 1], ('normal', 'binary'))
    """

    kinds_: tuple[str, ...]
    categories_: tuple[NDArray[np.int64 | np.str_], ...]
    means_: FloatArray
    covariances_: FloatArray
    rates_: FloatArray
    probabilities_: tuple[FloatArray, ...]
    _input_tags = ("allow_nan", "categorical", "string")

    def __init__(
        self,
        n_components: int = 1,
        *,
        kinds: str | Sequence[str] | Mapping[str, str] | None = None,
        variance_floor: ArrayLike | None = None,
        epsilon: float = 0.01,
        time_limit: float | None = 60.0,
        n_threads: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool | int | str | None = None,
    ) -> None:
        super().__init__(n_components, epsilon, time_limit, n_threads, random_state, verbose)
        self.kinds = kinds
        self.variance_floor = variance_floor

    def _make(self, X, sample_weight):
        kinds, names = self.kinds, self._names()
        if isinstance(kinds, Mapping):
            if sorted(names) != sorted(kinds):
                shown = ", ".join(map(repr, names)) or "unnamed"
                raise InputError(f"kinds must name the columns of X, which are {shown}")
            kinds = [kinds[name] for name in names]
        of_one = kinds is None or isinstance(kinds, str)
        if names and (of_one or isinstance(kinds, Sequence) and len(kinds) == len(names)):
            kinds = dict.fromkeys(names, kinds) if of_one else dict(zip(names, kinds, strict=True))
            X = dict(zip(names, X.T, strict=True))  # so that a column at fault is named
        return MixedMixture(
            kinds, X, self.n_components, variance_floor=self.variance_floor, sample_weight=sample_weight
        )

    def _names(self):
        """Return the names of the columns, if there are any and they tell them apart."""
        names = list(getattr(self, "feature_names_in_", ()))
        return names if len(set(names)) == len(names) else []

    def _rows(self, X):
        X, names = self._validated(X, reset=False), self._names()
        return self._problem._rows_like(dict(zip(names, X.T, strict=True)) if names else X)

    def _validated(self, X, **options):
        X = validate_data(self, X, dtype=None, ensure_all_finite=False, **options)
        if X.dtype.kind == "c":
            raise InputError("Complex data not supported: entries are real numbers or labels")
        return X

    def _set_fitted(self, problem, solution):
        super()._set_fitted(problem, solution)
        self.kinds_, self.categories_ = problem.kinds, problem.categories
