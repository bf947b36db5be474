"""The global fit as a scikit-learn estimator; needs scikit-learn, which ``pip install gopfast[sklearn]`` brings."""

import numpy as np
from numpy.typing import ArrayLike

from gopfast.annotations import Covariance, FloatArray, GaussianPrior, Posterior
from gopfast.errors import InputError
from gopfast.estimators.base import GlobalMixture
from gopfast.estimators.drop_in import OF_EM, check_reg_covar, check_without_effect, start_of
from gopfast.mixtures.problems import GaussianMixture

# How messages of scikit-learn and NumPy begin where entries are missing, and where they are no numbers.
OF_NAN, OF_STRINGS = "Input X contains NaN", "could not convert string to float"


class GlobalGaussianMixture(GlobalMixture):
    """
    Gaussian mixture whose fit is proved globally optimal, with the interface of scikit-learn.

    Like `sklearn.mixture.GaussianMixture`, but `fit` does not stop at a local optimum: it ends with the best
    parameters there are, within `epsilon`, or at `time_limit` with a bound of what any fit could reach.

    Parameters
    ----------
    n_components : int, default 1
        Number of components K.
    covariance : {"diag", "spherical", "tied", "tied_diag", "tied_spherical", "full", "known"}, optional
        Which variances are estimated: "diag" by default, "known" with a prior, a Gaussian posterior or a
        `noise_variance`. See `gopfast.GaussianMixture`.
    variance_floor : float or array_like of shape (d,), optional
        Lower bound of the estimated variances, in squared units of X; by default the square of 0.05 standard
        deviations, less where local fits are narrow, or of half the step of rounded data; see
        `gopfast.GaussianMixture`.
    prior : None, "empirical" or float, optional
        Prior of the means; with ``covariance="known"`` only.
    posterior : {"point", "gaussian"}, default "point"
        Form of the posterior of the means; "gaussian" needs a prior.
    noise_variance : float or array_like of shape (d,), optional
        The variance of every component with ``covariance="known"``; 1 by default.
    noise : bool or float, optional
        Whether there is one more component of constant density, for outliers: True or that density, as of
        `gopfast.GaussianMixture`. It is component K of `predict` and the last of `weights_`.
    epsilon : float, default 0.01
        Absolute tolerance of the total log-likelihood (or ELBO) of the training data, in nats.
    time_limit : float or None, default 60
        Seconds; None for no limit. A fit that it stops warns with `ConvergenceWarning`.
    n_threads : int, optional
        Threads; one per processor by default. The fit does not depend on it.
    random_state : None, int or RandomState
        For the starts of the local search and for `sample`. The proved optimum does not depend on it.
    verbose : {0, 1, 2, "bar"}, optional
        0: silence; 1: a line every 5 seconds; 2: a table; "bar": a bar of tqdm. By default a long fit says so
        on one line of standard error after 5 seconds, and each time that the time has doubled.
    covariance_type : str, optional
        Scikit-learn's name of `covariance`; give one of the two.
    means_init, weights_init, precisions_init : array_like, optional
        A start of the first local search, in scikit-learn's shapes; the fit is at least as good. The last two need the
        first.
    warm_start : bool, default False
        Whether the next `fit` starts from the last one's solution, where it has as many components and features.
    n_init, max_iter, tol, init_params, verbose_interval : optional
        Scikit-learn's, of EM and its restarts: checked, and without effect. The search makes its own starts, and ends
        with `epsilon` or `time_limit`.
    reg_covar : float, optional
        Scikit-learn's: without effect up to the floor of the variances, and refused above it: give `variance_floor`.

    Attributes
    ----------
    weights_ : ndarray, shape (K,), or with noise (K + 1,)
        Mixture weights.
    means_ : ndarray, shape (K, d)
        Component means, in canonical order: by first coordinate.
    covariances_, precisions_, precisions_cholesky_ : ndarray
        Covariances, their inverses and the Cholesky factors of these, in scikit-learn's shapes: (K,) for
        "spherical", (K, d) for "diag" and "known", (d, d) for "tied", "tied_diag" and "tied_spherical",
        (K, d, d) for "full".
    converged_ : bool
        Whether the fit is proved globally optimal within `epsilon`.
    n_iter_ : int
        Nodes of the search, at least 1 as scikit-learn has it.
    lower_bound_ : float
        Log-likelihood (with a prior the ELBO) that the fit reaches, per unit of sample weight, in nats: scikit-learn's
        name. It is no bound of the objective: that is ``result_.lower_bound``.
    elbo_bound_ : float
        Proved upper bound of what any fit can reach, on the same scale.
    gap_ : float
        ``elbo_bound_ - lower_bound_``.
    result_ : gopfast.Result
        The search's result; holds the training data.
    n_features_in_ : int
        Number of features d.
    feature_names_in_ : ndarray of str
        Names of the features, where X has names.

    Raises
    ------
    ValueError
        By `fit`, if a parameter or the data are invalid; the message names the argument.

    Notes
    -----
    A fit that its limit stops is usable: it warns with `ConvergenceWarning`, `converged_` is False, and the bounds
    are proved. Ctrl-C sets the attributes in the same way, and then raises `KeyboardInterrupt`.

    With a Gaussian posterior the log density of a sample is its expectation over the means, as in
    `sklearn.mixture.BayesianGaussianMixture`.

    Examples
    --------
    >>> from gopfast import GlobalGaussianMixture
    >>> X = [[-10.0], [-10.0], [5.0], [25.0]]
    >>> model = GlobalGaussianMixture(2, covariance="known", prior="empirical").fit(X)
    >>> model.means_.ravel().round(2).tolist(), model.converged_
    ([-4.99, 24.92], True)
    >>> model.predict([[0.0], [20.0]]).tolist()
    [0, 1]
    """

    means_: FloatArray
    covariances_: FloatArray
    precisions_: FloatArray
    precisions_cholesky_: FloatArray

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance: Covariance | None = None,
        variance_floor: ArrayLike | None = None,
        prior: GaussianPrior = None,
        posterior: Posterior = "point",
        noise_variance: ArrayLike | None = None,
        epsilon: float = 0.01,
        time_limit: float | None = 60.0,
        n_threads: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool | int | str | None = None,
        covariance_type: Covariance | None = None,
        means_init: ArrayLike | None = None,
        weights_init: ArrayLike | None = None,
        precisions_init: ArrayLike | None = None,
        warm_start: bool = False,
        n_init: int | None = None,
        max_iter: int | None = None,
        tol: float | None = None,
        init_params: str | None = None,
        reg_covar: float | None = None,
        noise: bool | float | None = None,
        verbose_interval: int | None = None,
    ) -> None:
        super().__init__(n_components, epsilon, time_limit, n_threads, random_state, verbose)
        self.covariance = covariance
        self.variance_floor = variance_floor
        self.prior = prior
        self.posterior = posterior
        self.noise_variance = noise_variance
        self.covariance_type = covariance_type
        self.means_init = means_init
        self.weights_init = weights_init
        self.precisions_init = precisions_init
        self.warm_start = warm_start
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.init_params = init_params
        self.reg_covar = reg_covar
        self.noise = noise
        self.verbose_interval = verbose_interval

    def _make(self, X, sample_weight):
        check_without_effect(self, OF_EM)
        problem = GaussianMixture(
            X,
            self.n_components,
            prior=self.prior,
            posterior=self.posterior,
            covariance=self.covariance,
            covariance_type=self.covariance_type,
            noise_variance=self.noise_variance,
            variance_floor=self.variance_floor,
            sample_weight=sample_weight,
            noise=self.noise,
        )
        check_reg_covar(self.reg_covar, problem)
        return problem

    def _validated(self, X, **options):
        try:
            return super()._validated(X, **options)
        except ValueError as error:
            message = str(error)
            if message.startswith(OF_NAN):
                raise InputError("X contains NaN: missing entries are for gopfast.GlobalMixedMixture") from None
            if message.startswith(OF_STRINGS):
                raise InputError(
                    f"X must have columns of numbers only ({message}): labels are for gopfast.GlobalMixedMixture"
                ) from None
            raise

    def _start(self, problem):
        if self.warm_start and hasattr(self, "result_"):
            last = self.result_.solution
            if last.means.shape == (problem.n_components, problem.n_features):
                return last
        return start_of(problem, self.weights_init, self.means_init, self.precisions_init)

    def _set_fitted(self, problem, solution):
        self.means_ = solution.means
        covariances, matrices = problem.kind.as_fitted(solution.covariances), problem.kind.matrix_shaped
        factor = _precisions_cholesky(covariances, matrices)
        self.covariances_, self.precisions_cholesky_ = covariances, factor
        self.precisions_ = factor @ np.swapaxes(factor, -1, -2) if matrices else np.square(factor)


def _precisions_cholesky(covariances, matrices):
    """Upper triangular U with ``U U' = C^-1`` for matrices, ``1 / sqrt(v)`` for variances."""
    if not matrices:
        return 1.0 / np.sqrt(covariances)
    return np.swapaxes(np.linalg.inv(np.linalg.cholesky(covariances)), -1, -2)
