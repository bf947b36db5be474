"""Mixtures of counts, times, binary data and labels as scikit-learn estimators: ``pip install gopfast[sklearn]``."""

import numpy as np
from numpy.typing import NDArray

from gopfast.annotations import FloatArray, PairPrior
from gopfast.errors import InputError
from gopfast.estimators.base import CheckedMixture, validate_data
from gopfast.mixtures.problems import (
    BernoulliMixture,
    CategoricalMixture,
    ExponentialMixture,
    GammaMixture,
    LatentClass,
    LatentClassFit,
    MultinomialMixture,
    PoissonMixture,
)


class GlobalFamilyMixture(CheckedMixture):
    """
    What the estimators of counts, times, binary data and labels share.

    Parameters
    ----------
    n_components : int, default 1
        Number of components K.
    prior : optional
        Conjugate prior, as of the problem that the estimator solves; None for maximum likelihood.
    epsilon : float, default 0.01
        Absolute tolerance of the total log-likelihood (with a prior the log posterior density), in nats.
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
    converged_ : bool
        Whether the fit is proved globally optimal within `epsilon`.
    n_iter_ : int
        Nodes of the search, at least 1 as scikit-learn has it.
    lower_bound_, elbo_bound_, gap_ : float
        Log-likelihood (with a prior log posterior density) that the fit reaches per unit of sample weight, what no fit
        exceeds, and the difference.
    result_ : gopfast.Result
        The search's result; holds the training data.
    n_features_in_ : int
        Number of features d.
    feature_names_in_ : ndarray of str
        Names of the features, where X has names.
    """

    _problem_class: type

    def __init__(
        self,
        n_components: int = 1,
        *,
        prior: PairPrior | float = None,
        epsilon: float = 0.01,
        time_limit: float | None = 60.0,
        n_threads: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool | int | str | None = None,
    ) -> None:
        super().__init__(n_components, epsilon, time_limit, n_threads, random_state, verbose)
        self.prior = prior

    def _make(self, X, sample_weight):
        return self._problem_class(X, self.n_components, prior=self.prior, sample_weight=sample_weight)


class GlobalBernoulliMixture(GlobalFamilyMixture):
    """
    Mixture of products of Bernoulli distributions whose fit is proved globally optimal, as a scikit-learn estimator.

    See `gopfast.BernoulliMixture` for the model.

    Parameters
    ----------
    n_components, prior, epsilon, time_limit, n_threads, random_state, verbose
        As of `GlobalFamilyMixture`; the prior is (a, b) of a Beta density.
    binarize : float or None, default 0.0
        Values above it count as 1, others as 0, as in `sklearn.naive_bayes.BernoulliNB`; None: X must be binary.

    Attributes
    ----------
    probabilities_ : ndarray, shape (K, d)
    weights_, converged_, n_iter_, lower_bound_, elbo_bound_, gap_, result_, n_features_in_, feature_names_in_
        As of `GlobalFamilyMixture`.

    Examples
    --------
    >>> from gopfast import GlobalBernoulliMixture
    >>> model = GlobalBernoulliMixture(2).fit([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> model.predict([[0, 0], [1, 1]]).tolist(), model.converged_
    ([0, 1], True)
    """

    probabilities_: FloatArray
    _problem_class = BernoulliMixture

    def __init__(
        self,
        n_components: int = 1,
        *,
        prior: PairPrior = None,
        binarize: float | None = 0.0,
        epsilon: float = 0.01,
        time_limit: float | None = 60.0,
        n_threads: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool | int | str | None = None,
    ) -> None:
        super().__init__(
            n_components, prior=prior, epsilon=epsilon, time_limit=time_limit, n_threads=n_threads,
            random_state=random_state, verbose=verbose,
        )  # fmt: skip
        self.binarize = binarize

    def _validated(self, X, **options):
        X = super()._validated(X, **options)
        return X if self.binarize is None else (X > self.binarize).astype(float)


class GlobalPoissonMixture(GlobalFamilyMixture):
    """
    Mixture of products of Poisson distributions whose fit is proved globally optimal, as a scikit-learn estimator.

    See `gopfast.PoissonMixture` for the model.

    Parameters
    ----------
    n_components, prior, epsilon, time_limit, n_threads, random_state, verbose
        As of `GlobalFamilyMixture`; the prior is (shape, rate) of a Gamma density.

    Attributes
    ----------
    rates_ : ndarray, shape (K, d)
    weights_, converged_, n_iter_, lower_bound_, elbo_bound_, gap_, result_, n_features_in_, feature_names_in_
        As of `GlobalFamilyMixture`.

    Examples
    --------
    >>> from gopfast import GlobalPoissonMixture
    >>> GlobalPoissonMixture(2).fit([[0], [1], [2], [10], [12]]).rates_.round(1).ravel().tolist()
    [1.0, 11.0]
    """

    rates_: FloatArray
    _problem_class = PoissonMixture
    _input_tags = ("categorical", "positive_only")


class GlobalGammaMixture(CheckedMixture):
    """
    Mixture of products of Gamma distributions whose fit is proved globally optimal, as a scikit-learn estimator.

    See `gopfast.GammaMixture` for the model.

    Parameters
    ----------
    n_components, epsilon, time_limit, n_threads, random_state, verbose
        As of `GlobalFamilyMixture`.
    cv_floor : float, default 0.05
        Least coefficient of variation of a component in a column.

    Attributes
    ----------
    rates_, shapes_ : ndarray, shape (K, d)
    weights_, converged_, n_iter_, lower_bound_, elbo_bound_, gap_, result_, n_features_in_, feature_names_in_
        As of `GlobalFamilyMixture`.

    Examples
    --------
    >>> from gopfast import GlobalGammaMixture
    >>> model = GlobalGammaMixture(2).fit([[0.9], [1.0], [1.2], [20.0], [24.0], [29.0]])
    >>> model.weights_.round(2).tolist()
    [0.5, 0.5]
    """

    rates_: FloatArray
    shapes_: FloatArray
    _input_tags = ("positive_only",)

    def __init__(
        self,
        n_components: int = 1,
        *,
        cv_floor: float = 0.05,
        epsilon: float = 0.01,
        time_limit: float | None = 60.0,
        n_threads: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool | int | str | None = None,
    ) -> None:
        super().__init__(n_components, epsilon, time_limit, n_threads, random_state, verbose)
        self.cv_floor = cv_floor

    def _make(self, X, sample_weight):
        return GammaMixture(X, self.n_components, cv_floor=self.cv_floor, sample_weight=sample_weight)


class GlobalMultinomialMixture(GlobalFamilyMixture):
    """
    Mixture of multinomial distributions whose fit is proved globally optimal, as a scikit-learn estimator.

    See `gopfast.MultinomialMixture` for the model: rows of counts, such as `CountVectorizer` makes of texts.

    Parameters
    ----------
    n_components, prior, epsilon, time_limit, n_threads, random_state, verbose
        As of `GlobalFamilyMixture`; the prior is alpha of a Dirichlet density.

    Attributes
    ----------
    probabilities_ : ndarray, shape (K, d)
    weights_, converged_, n_iter_, lower_bound_, elbo_bound_, gap_, result_, n_features_in_, feature_names_in_
        As of `GlobalFamilyMixture`.

    Examples
    --------
    >>> from gopfast import GlobalMultinomialMixture
    >>> X = [[5, 0, 1], [9, 1, 0], [0, 4, 3], [1, 7, 9]]
    >>> GlobalMultinomialMixture(2).fit(X).predict([[8, 0, 0], [0, 2, 2]]).tolist()
    [1, 0]
    """

    probabilities_: FloatArray
    _problem_class = MultinomialMixture
    _input_tags = ("categorical", "positive_only", "sparse")

    def _validated(self, X, **options):
        least = 1 if options.get("reset") is False else 2  # of other data the number of columns is compared
        return super()._validated(X, accept_sparse=True, ensure_min_features=least, **options)


class GlobalExponentialMixture(GlobalFamilyMixture):
    """
    Mixture of products of exponential distributions whose fit is proved globally optimal, as a scikit-learn estimator.

    See `gopfast.ExponentialMixture` for the model.

    Parameters
    ----------
    n_components, prior, epsilon, time_limit, n_threads, random_state, verbose
        As of `GlobalFamilyMixture`; the prior is (shape, rate) of a Gamma density, without
        which times must be positive.

    Attributes
    ----------
    rates_ : ndarray, shape (K, d)
    weights_, converged_, n_iter_, lower_bound_, elbo_bound_, gap_, result_, n_features_in_, feature_names_in_
        As of `GlobalFamilyMixture`.

    Examples
    --------
    >>> from gopfast import GlobalExponentialMixture
    >>> model = GlobalExponentialMixture(2).fit([[0.1], [0.2], [0.1], [50.0], [70.0]])
    >>> model.weights_.round(1).tolist()
    [0.4, 0.6]
    """

    rates_: FloatArray
    _problem_class = ExponentialMixture
    _input_tags = ("positive_only",)


class GlobalCategoricalMixture(GlobalFamilyMixture):
    """
    Mixture of products of categorical distributions whose fit is proved globally optimal, as a scikit-learn estimator.

    See `gopfast.CategoricalMixture` for the model; `GlobalLatentClass` takes missing entries.

    Parameters
    ----------
    n_components, prior, epsilon, time_limit, n_threads, random_state, verbose
        As of `GlobalFamilyMixture`; the prior is alpha of a Dirichlet density.

    Attributes
    ----------
    probabilities_ : tuple of d ndarrays, shape (K, C_j)
    categories_ : tuple of d ndarrays, shape (C_j,)
        The labels of each column. Those that `fit` has not seen are refused by `predict`.
    weights_, converged_, n_iter_, lower_bound_, elbo_bound_, gap_, result_, n_features_in_, feature_names_in_
        As of `GlobalFamilyMixture`.

    Examples
    --------
    >>> from gopfast import GlobalCategoricalMixture
    >>> X = [["red", "yes"], ["red", "yes"], ["blue", "no"], ["blue", "no"]]
    >>> GlobalCategoricalMixture(2).fit(X).predict(X).tolist()
    [0, 0, 1, 1]
    """

    probabilities_: tuple[FloatArray, ...]
    categories_: tuple[NDArray[np.int64 | np.str_], ...]
    _problem_class = CategoricalMixture
    _input_tags = ("categorical", "string")
    _missing: bool | str = True  # scikit-learn's ensure_all_finite

    def _validated(self, X, **options):
        X = validate_data(self, X, dtype=None, ensure_all_finite=self._missing, **options)
        if X.dtype.kind == "c":
            raise InputError("Complex data not supported: labels are strings or whole numbers")
        return X

    def _set_fitted(self, problem, solution):
        super()._set_fitted(problem, solution)
        self.categories_ = problem.categories


class GlobalLatentClass(GlobalCategoricalMixture):
    """
    Latent class model with a fit that is proved globally optimal, as a scikit-learn estimator.

    See `gopfast.LatentClass` for the model. Missing entries are None, NaN or pandas' NA.

    Parameters
    ----------
    n_components, prior, epsilon, time_limit, n_threads, random_state, verbose
        As of `GlobalFamilyMixture`; the prior is alpha of a Dirichlet density.

    Attributes
    ----------
    probabilities_, categories_
        As of `GlobalCategoricalMixture`.
    fit_statistics_ : LatentClassFit
        G^2, X^2, relative entropy, bivariate residuals, tables.
    weights_, converged_, n_iter_, lower_bound_, elbo_bound_, gap_, result_, n_features_in_, feature_names_in_
        As of `GlobalFamilyMixture`.

    Examples
    --------
    >>> from gopfast import GlobalLatentClass
    >>> X = [["red", "yes"], ["red", None], ["blue", "no"], ["blue", "no"]]
    >>> model = GlobalLatentClass(2).fit(X)
    >>> model.predict(X).tolist(), model.fit_statistics_.n_complete
    ([0, 0, 1, 1], 3.0)
    """

    fit_statistics_: LatentClassFit
    _problem_class = LatentClass
    _input_tags = (*GlobalCategoricalMixture._input_tags, "allow_nan")
    _missing = False

    def _set_fitted(self, problem, solution):
        super()._set_fitted(problem, solution)
        self.fit_statistics_ = problem.fit_statistics(self.result_)
