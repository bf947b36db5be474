"""Mixtures of regressions of counts (Poisson) and proportions (binomial).

Theory: (JC1) of docs/theory/counts.md.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from gopfast import checks
from gopfast.annotations import FloatArray
from gopfast.errors import InputError
from gopfast.mixtures.problems import regression_starts, shared_coefficients as sharing
from gopfast.mixtures.problems.count_fits import CountRows
from gopfast.mixtures.problems.margins import COUNT_CONSTANT
from gopfast.mixtures.problems.regression import RegressionMixture, flag, signed_by_init
from gopfast.mixtures.problems.regression_table import table_with
from gopfast.mixtures.problems.tuning import HELD_BELOW, LEAST_COUNT


@signed_by_init
class CountRegressionMixture(RegressionMixture, families=("poisson", "binomial")):
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
    offset : array_like of shape (n,), or str, optional
        What is added to the linear predictor, such as the logarithm of the exposure; 0 by default. Text is the column
        of X that holds it: its name, or its place from "1" on.
    n_trials : int, array_like of shape (n,), or str
        Trials of every sample, whole and at least y, or the column of X that holds them; with "binomial" alone, which
        needs it.
    least_count : float, optional
        What a count of 0 is taken to be in the likelihood, and n_i less this a count of all trials: positive, below
        0.5, 1e-6 by default. It is part of the model: without it a component on counts of 0 alone has coefficients that
        run to infinity, and no optimum. It changes the objective by less than `least_count` times the size of the
        linear predictors of such samples.
    fit_intercept : bool
        Whether regressions have an intercept.
    sample_weight : array_like of shape (n,), optional
        Weights w_i of the samples, at least 0 and not all 0; 1 by default. With `groups` one number for each group.
    groups : array_like of shape (n,), or str, optional
        Rows that belong together, such as those of a patient or a centre, or the column of X that says so: all rows of
        a group are of one component, so that groups are what the mixture is of. By default each row is a group.
    shared_coefficients : str, int, or sequence of these, optional
        The coefficients that all components share (`fixed` of flexmix's ``FLXMRglmfix``): names of regressors or their
        numbers from 0, or "intercept"; with "poisson" regressors, beside intercepts.

    Attributes
    ----------
    X : ndarray, shape (n, p + 1 or more)
        Read-only: the regressors, the trials of a binomial response, offset and groups where they are given, the
        responses.
    sample_weight : ndarray, shape (n,)
        With groups the weight of each divided among its rows, so that `total_weight` is that of the groups.
    group_weight : ndarray of shape (n,), or None
        With groups the weight of each row's group; None without.
    regressors, response : ndarray, shape (n, p) and (n,)
    trials, offsets : ndarray, shape (n,)
        Trials (1 of Poisson counts) and offsets (0 where none are given).
    n_trials, offset, groups : str or None
        The columns of the attribute `X` that hold them, as arguments; None where there is none.
    shared_coefficients : tuple of str
        Names of the coefficients that all components share.
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
    n_trials: str | None
    offset: str | None

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
        offset: ArrayLike | str | None = None,
        n_trials: ArrayLike | str | None = None,
        least_count: float | None = None,
        fit_intercept: bool = True,
        sample_weight: ArrayLike | None = None,
        variance: str = "free",
        noise_variance: float | None = None,
        variance_floor: float | None = None,
        groups: ArrayLike | str | None = None,
        shared_coefficients: str | int | Sequence[str | int] | None = None,
    ) -> None:
        checks.choice("family", family, ("poisson", "binomial"))
        for name, value, usual in (
            ("variance", variance, "free"), ("noise_variance", noise_variance, None),
            ("variance_floor", variance_floor, None),
        ):  # fmt: skip
            if value != usual:
                raise InputError(f"{name} must be {usual!r} with family={family!r}: it is of normal errors")
        if family == "poisson" and n_trials is not None:
            raise InputError("n_trials must be None with family='poisson'")
        if family == "binomial" and n_trials is None:
            raise InputError("n_trials must be given with family='binomial': 1 where responses are 0 or 1")
        rows, columns, places = table_with(X, y, {"n_trials": n_trials, "offset": offset, "groups": groups})
        least = LEAST_COUNT if least_count is None else checks.positive_number("least_count", least_count)
        if not least < 0.5:
            raise InputError(f"least_count must be below 0.5; got {least:g}")
        self._store(
            rows, n_components, sample_weight, columns=columns, prior=None, fit_intercept=flag(fit_intercept),
            family=family, least_count=least, n_trials=places.get("n_trials"), offset=places.get("offset"),
            groups=places.get("groups"),
        )  # fmt: skip
        self._check_counts()
        self._divide_weights()
        self.__setstate__({"_shared_places": sharing.places_of(shared_coefficients, self)})
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
        return np.ones(self.n_samples) if self.n_trials is None else self.X[:, int(self.n_trials) - 1]

    @property
    def offsets(self) -> FloatArray:
        """Offsets of the linear predictor (n,)."""
        return np.zeros(self.n_samples) if self.offset is None else self.X[:, int(self.offset) - 1]

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
        """Number of free parameters: K - 1 weights, coefficients and intercepts; a shared one counts once."""
        repeated = (self.n_components - 1) * len(self._shared_places)
        return self.n_components * (self._n_coefficients + 1) - 1 - repeated

    @property
    def _n_regressors(self):
        return self.n_features - 1 - sum(value is not None for value in (self.n_trials, self.offset, self.groups))

    @property
    def _response_spread(self):
        return max(np.ptp(self._linear_response), 1.0) / 4.0

    @property
    def _linear_response(self):
        return self._rows.working_response()

    @property
    def _rows(self):
        """The samples as `CountRows`."""
        return CountRows(self.family, self._design(), self.response, self.trials, self.offsets, self.least_count)

    @property
    def column_names(self) -> list[str]:
        """Names of the columns for tables and figures; "x0", "x1", ..., "n_trials", "offset" and "y" by default."""
        if self.columns:
            return list(self.columns)
        p = self._n_regressors
        more = [name for name in ("n_trials", "offset", "groups") if getattr(self, name) is not None]
        return [*(["x"] if p == 1 else [f"x{j}" for j in range(p)]), *more, "y"]

    def _model_names(self):
        return ("fit_intercept", "family", *self._sharing_names())

    def predict_mean(
        self,
        X: ArrayLike,
        coefficients: FloatArray,
        intercepts: FloatArray | None = None,
        *,
        offset: ArrayLike | None = None,
        n_trials: ArrayLike | None = None,
    ) -> FloatArray:
        """
        Compute each component's mean count.

        Parameters
        ----------
        X : array_like, shape (m, p)
        coefficients : ndarray, shape (K, p)
        intercepts : ndarray of shape (K,), optional
        offset, n_trials : float or array_like of shape (m,), optional
            0 and 1 by default.

        Returns
        -------
        ndarray, shape (m, K)
        """
        eta = self.predict(X, coefficients, intercepts) + np.reshape(0.0 if offset is None else offset, (-1, 1))
        if self.family == "poisson":
            return np.exp(eta)
        return np.reshape(1.0 if n_trials is None else n_trials, (-1, 1)) * expit(eta)

    def _rows_of(self, X, y, offset=None, n_trials=None, groups=None):
        given = {"n_trials": n_trials, "offset": offset}
        for name, value in given.items():
            if (value is None) != (getattr(self, name) is None):
                raise InputError(f"{name} must {'not be' if value is not None else 'be'} given: the fit had "
                                 f"{'none' if value is not None else 'some'}")  # fmt: skip
        return table_with(X, y, {**given, "groups": self._groups_of(groups, y)})[0]

    # What the solver asks

    def _family(self, start=None):
        """Make a CountFamily, with the best of the local fits as a start, or a state that is given."""
        self._refuse_sharing()
        from gopfast.mixtures.families.counts import CountFamily  # compiled, as problems are not
        from gopfast.mixtures.families.design import design_of

        used, w, owner = self._rows_by_group()
        rows = self._rows.of(used)
        best = rows.saturated()
        design = design_of(
            self.regressors[used], best - rows.offset, w, 1.0, self.fit_intercept, away=rows.error_of_saturated()
        )
        constant, size = rows.constants()
        family = CountFamily(
            design, self.family, rows.counts, rows.trials, rows.offset, owner, math.fsum(w * constant),
            COUNT_CONSTANT * math.fsum(w * size), self.n_components,
        )  # fmt: skip
        return family.suggest(**(regression_starts.best_fit(self, family=family) if start is None else start))

    def _record_of_proof(self):
        if len(self._all_shared) > 1:
            return None
        names = "n_trials", "offset", "groups"
        places = {name: None if getattr(self, name) is None else int(getattr(self, name)) - 1 for name in names}
        found = {
            "family": f"{self.family}_regression", "n_components": self.n_components,
            "fit_intercept": self.fit_intercept, "least_count": float(self.least_count), **places,
        }  # fmt: skip
        return found if self._shared_at is None else {**found, "shared_coefficient": self._shared_at}

    def _closed_form(self, X, w):
        """None: a fit takes Newton's method."""
        return None

    def _ceiling(self):
        """Take the probabilities of the counts themselves."""
        used = self.sample_weight > 0.0
        constant, size = self._rows.of(used).constants()
        w = self._row_weight[used]
        return [math.fsum(w * constant)], math.fsum(w * size)

    def _notes(self, solution, proved):
        """Tell what is shared, what counts of 0 are, and which components have nothing else that holds them."""
        shared = self._note_of_sharing()
        at_end = self._rows.is_at_end() & (self.sample_weight > 0.0)
        if not at_end.any():
            return shared
        text = f"counts of 0 are taken to be {self.least_count:.3g} (least_count), which is part of the model"
        if self.family == "binomial":
            text = f"counts of no trial and of all are taken to be {self.least_count:.3g} from there (least_count)"
        eta = self.predict(self.regressors, **solution.parameters) + self.offsets[:, np.newaxis]
        best = self._rows.saturated()[:, np.newaxis]
        beyond = np.where(best < 0.0, eta < best + HELD_BELOW, eta > best - HELD_BELOW)
        own = solution.responsibilities > 0.5
        held = np.flatnonzero((beyond & own & at_end[:, np.newaxis]).any(axis=0))
        if held.size:
            text += f"; nothing else holds the coefficients of component {', '.join(map(str, held))}"
        return [*shared, text]

    def _draw(self, rng, components, parameters):
        """Draw responses at rows of regressors, trials and offsets that are drawn from the samples."""
        self._refuse_draws()
        share = self.sample_weight / self.total_weight
        at = rng.choice(self.n_samples, len(components), p=share)
        means = self.predict_mean(
            self.regressors[at], **parameters, offset=self.offsets[at], n_trials=self.trials[at]
        )[np.arange(len(at)), components]  # fmt: skip
        rows = self.X[at].copy()
        if self.family == "poisson":
            rows[:, -1] = rng.poisson(means)
        else:
            rows[:, -1] = rng.binomial(self.trials[at].astype(np.int64), np.minimum(means / self.trials[at], 1.0))
        return rows

    # What a model defines

    def _log_kernel(self, parameters):
        eta = self.predict(self.regressors, **parameters) + self.offsets[:, np.newaxis]
        return self._sums_of_groups(self._rows.log_densities(eta))

    def _m_step(self, mass, weights, former):
        """Fit each component by Newton's method, with a little weight of all samples."""
        rows, found, p = self._rows, [], self._n_regressors
        of_rows = mass * self._rows_of_group[:, np.newaxis]
        if self._shared_at is not None:
            start = None if former is None else self._rows_of_design(former)
            fitted = sharing.count_fits(self, of_rows * (weights / mass.sum(axis=0)), start)
            return {"coefficients": fitted[:, :p], **({"intercepts": fitted[:, p]} if self.fit_intercept else {})}
        for k, column in enumerate(of_rows.T):
            start = None
            if former is not None:
                start = np.concatenate([former[name][k].ravel() for name in self.parameter_names])
            found.append(rows.fit(column, self.sample_weight / self.total_weight, start))
        fitted = np.array(found)
        return {"coefficients": fitted[:, :p], **({"intercepts": fitted[:, p]} if self.fit_intercept else {})}
