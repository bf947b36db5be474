"""Mixtures of regressions of counts (Poisson) and proportions (binomial)."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from gopfast import checks
from gopfast.annotations import FloatArray
from gopfast.errors import InputError
from gopfast.mixtures.problems import regression_starts
from gopfast.mixtures.problems.count_fits import CountRows
from gopfast.mixtures.problems.margins import COUNT_CONSTANT
from gopfast.mixtures.problems.regression import RegressionMixture, flag, table_of
from gopfast.mixtures.problems.tuning import HELD_BELOW, LEAST_COUNT


class CountRegressionMixture(RegressionMixture):
    """
    Mixture of regressions of counts: generalised linear models with a class of their own for every sample.

    With ``eta_ik = x_i'beta_k + a_k + offset_i`` component k says that y_i is Poisson of mean ``exp(eta_ik)``, or
    binomial of n_i trials with the probability ``1 / (1 + exp(-eta_ik))``. The objective is the negative log-likelihood
    of the responses given the regressors, with all constants. `gopfast.RegressionMixture` makes one where its `family`
    says so, and `gopfast.models.MixtureProblem` has the attributes that are not listed here.

    Parameters
    ----------
    X : array_like, shape (n,) or (n, p)
        Regressors, finite real numbers.
    y : array_like of shape (n,), optional
        Counts: whole numbers of at least 0; of successes with "binomial". By default the last column of X.
    n_components : int
        Number of components K.
    family : {"poisson", "binomial"}
    offset : array_like of shape (n,), optional
        What is added to the linear predictor, such as the logarithm of the exposure; 0 by default.
    n_trials : int or array_like of shape (n,)
        Trials of every sample, whole and at least y; with "binomial" alone, which needs it.
    least_count : float, optional
        What a count of 0 is taken to be in the likelihood, and n_i less this a count of all trials: positive, below
        0.5, 1e-6 by default. It is part of the model: without it a component on counts of 0 alone has coefficients that
        run to infinity, and no optimum. It changes the objective by less than `least_count` times the size of the
        linear predictors of such samples.
    fit_intercept : bool
        Whether regressions have an intercept.
    sample_weight : array_like of shape (n,), optional
        Weights w_i of the samples, at least 0 and not all 0; 1 by default.

    Attributes
    ----------
    X : ndarray, shape (n, p + 1 or more)
        Read-only: the regressors, the trials of a binomial response, the offset where one is given, the responses.
    regressors, response : ndarray, shape (n, p) and (n,)
    trials, offset : ndarray, shape (n,)
        Trials (1 of Poisson counts) and offsets (0 where none are given).
    family : str
    least_count : float
    fit_intercept : bool
    parameter_names : tuple of str
        "coefficients" (K, p), of the linear predictor, and with an intercept "intercepts" (K,).

    Raises
    ------
    InputError
        A `ValueError` naming the argument with a bad value, such as counts that are not whole; `InputTypeError` if it
        is of a wrong kind.

    References
    ----------
    Wang, Puterman, Cockburn & Le, "Mixed Poisson regression models with covariate dependent rates", Biometrics 52
    (1996).

    Examples
    --------
    >>> from gopfast.models import RegressionMixture
    >>> RegressionMixture([0, 1, 2, 0, 1, 2], [1, 3, 7, 9, 3, 2], n_components=2, family="poisson")
    CountRegressionMixture(n_samples=6, n_features=2, n_components=2, fit_intercept=True, family='poisson')
    """

    least_count: float
    has_offset: bool

    variance = "free"
    noise_variance = None
    variance_floor = None
    fits_all = False
    _draws_lines = False

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        n_components: int = 2,
        *,
        family: str = "poisson",
        offset: ArrayLike | None = None,
        n_trials: ArrayLike | None = None,
        least_count: float | None = None,
        fit_intercept: bool = True,
        sample_weight: ArrayLike | None = None,
        variance: str = "free",
        noise_variance: float | None = None,
        variance_floor: float | None = None,
    ) -> None:
        checks.choice("family", family, ("poisson", "binomial"))
        for name, value, usual in (
            ("variance", variance, "free"), ("noise_variance", noise_variance, None),
            ("variance_floor", variance_floor, None),
        ):  # fmt: skip
            if value != usual:
                raise InputError(f"{name} must be {usual!r} with family={family!r}: counts have no variance of their own")
        if family == "poisson" and n_trials is not None:
            raise InputError("n_trials must be None with family='poisson'")
        if family == "binomial" and n_trials is None:
            raise InputError("n_trials must be given with family='binomial': 1 where responses are 0 or 1")
        n, others = len(checks.data_matrix("X", X)), []
        if family == "binomial":
            others.append(("n_trials", _column("n_trials", n_trials, n)))
        if offset is not None:
            others.append(("offset", _column("offset", offset, n)))
        rows, columns = table_of(X, y, *others)
        least = LEAST_COUNT if least_count is None else checks.positive_number("least_count", least_count)
        if not least < 0.5:
            raise InputError(f"least_count must be below 0.5; got {least:g}")
        self._store(
            rows, n_components, sample_weight, columns=columns, prior=None, fit_intercept=flag(fit_intercept),
            family=family, has_offset=offset is not None, least_count=least,
        )  # fmt: skip
        self._check_counts()
        self._scaled_design()

    def _check_counts(self):
        """Refuse responses and trials that are no counts."""
        name = "X must hold counts in its last column" if self.n_features < 2 else "y must hold counts"
        broken = self.response[(self.response != np.floor(self.response)) | (self.response < 0.0)]
        if broken.size:
            raise InputError(f"{name}, whole numbers of at least 0; got {broken[0]:g}")
        checks.at_least("y", self.response, 0.0, 2.0**53)
        if self.family != "binomial":
            return
        trials = self.trials
        broken = trials[(trials != np.floor(trials)) | (trials < 1.0)]
        if broken.size:
            raise InputError(f"n_trials must hold whole numbers of at least 1; got {broken[0]:g}")
        above = np.flatnonzero(self.response > trials)
        if above.size:
            i = above[0]
            raise InputError(f"y must be at most n_trials; sample {i} has {self.response[i]:g} of {trials[i]:g}")

    @property
    def trials(self) -> FloatArray:
        """Trials of each sample (n,), 1 of Poisson counts."""
        return self.X[:, self._n_regressors] if self.family == "binomial" else np.ones(self.n_samples)

    @property
    def offset(self) -> FloatArray:
        """Offsets of the linear predictor (n,)."""
        return self.X[:, -2] if self.has_offset else np.zeros(self.n_samples)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters beside the weights."""
        return ("coefficients", *["intercepts"] * self.fit_intercept)

    @property
    def shared_names(self) -> tuple[str, ...]:
        """None: no parameter is shared."""
        return ()

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 weights, coefficients and intercepts."""
        return self.n_components * (self._n_coefficients + 1) - 1

    @property
    def _n_regressors(self):
        return self.n_features - 1 - self.has_offset - (self.family == "binomial")

    @property
    def _linear_response(self):
        return self._rows.working_response()

    @property
    def _rows(self):
        """The samples as `CountRows`."""
        return CountRows(self.family, self._design(), self.response, self.trials, self.offset, self.least_count)

    def _model_names(self):
        return ("fit_intercept", "family")

    def predict_mean(
        self, X: ArrayLike, coefficients: FloatArray, intercepts: FloatArray | None = None, *,
        offset: ArrayLike = 0.0, n_trials: ArrayLike = 1.0,
    ) -> FloatArray:  # fmt: skip
        """
        Compute each component's mean count.

        Parameters
        ----------
        X : array_like, shape (m, p)
        coefficients : ndarray, shape (K, p)
        intercepts : ndarray of shape (K,), optional
        offset, n_trials : float or array_like of shape (m,)

        Returns
        -------
        ndarray, shape (m, K)
        """
        eta = self.predict(X, coefficients, intercepts) + np.reshape(offset, (-1, 1))
        if self.family == "poisson":
            return np.exp(eta)
        return np.reshape(n_trials, (-1, 1)) * expit(eta)

    # What the solver asks

    def _family(self):
        """Make a CountFamily, with the best of the local fits as a start."""
        from gopfast.mixtures.families.counts import CountFamily  # compiled, as problems are not
        from gopfast.mixtures.families.design import design_of

        used = self.sample_weight > 0.0
        rows, w = self._rows.of(used), self.sample_weight[used]
        best = rows.saturated()
        design = design_of(
            self.regressors[used], best - rows.offset, w, 1.0, self.fit_intercept, away=rows.error_of_saturated()
        )
        constant, size = rows.constants()
        family = CountFamily(
            design, self.family, rows.counts, rows.trials, rows.offset, np.arange(len(w)), math.fsum(w * constant),
            COUNT_CONSTANT * math.fsum(w * size), self.n_components,
        )  # fmt: skip
        return family.suggest(**regression_starts.best_fit(self))

    def _record_of_proof(self):
        return None

    def _closed_form(self, X, w):
        """None: a fit takes Newton's method."""
        return None

    def _ceiling(self):
        """Take the probabilities of the counts themselves."""
        used = self.sample_weight > 0.0
        constant, size = self._rows.of(used).constants()
        w = self.sample_weight[used]
        return [math.fsum(w * constant)], math.fsum(w * size)

    def _notes(self, solution, proved):
        """Tell what counts of 0 are taken to be, and which components have nothing else that holds them."""
        at_end = self._rows.is_at_end() & (self.sample_weight > 0.0)
        if not at_end.any():
            return []
        what = "counts of 0" if self.family == "poisson" else "counts of no or of all trials"
        text = f"{what} are taken to be {self.least_count:.3g} from there (least_count), which is part of the model"
        eta = self.predict(self.regressors, **solution.parameters) + self.offset[:, np.newaxis]
        away = np.abs(eta - self._rows.saturated()[:, np.newaxis])
        held = np.flatnonzero(((away < HELD_BELOW) & at_end[:, np.newaxis]).any(axis=0) & (solution.weights > 0.0))
        if held.size:
            text += f"; nothing else holds the coefficients of component {', '.join(map(str, held))}"
        return [text]

    def _draw(self, rng, components, parameters):
        """Draw responses at rows of regressors, trials and offsets that are drawn from the samples."""
        share = self.sample_weight / self.total_weight
        at = rng.choice(self.n_samples, len(components), p=share)
        means = self.predict_mean(
            self.regressors[at], **parameters, offset=self.offset[at], n_trials=self.trials[at]
        )[np.arange(len(at)), components]  # fmt: skip
        rows = self.X[at].copy()
        if self.family == "poisson":
            rows[:, -1] = rng.poisson(means)
        else:
            rows[:, -1] = rng.binomial(self.trials[at].astype(np.int64), np.minimum(means / self.trials[at], 1.0))
        return rows

    # What a model defines

    def _log_kernel(self, parameters):
        eta = self.predict(self.regressors, **parameters) + self.offset[:, np.newaxis]
        return self._rows.log_densities(eta)

    def _m_step(self, mass, weights, former):
        """Fit each component by Newton's method, with a little weight of all samples."""
        rows, found = self._rows, []
        for k, column in enumerate(mass.T):
            start = None
            if former is not None:
                start = np.append(former["coefficients"][k], former["intercepts"][k : k + 1] if self.fit_intercept else [])
            found.append(rows.fit(column, self.sample_weight / self.total_weight, start))
        fitted, p = np.array(found), self._n_regressors
        return {"coefficients": fitted[:, :p], **({"intercepts": fitted[:, p]} if self.fit_intercept else {})}


def _column(name, value, n):
    """Check a number or one for each sample."""
    array = checks.real_array(name, value)
    return checks.of_shape(name, np.full(n, float(array)) if array.ndim == 0 else array, (n,))
