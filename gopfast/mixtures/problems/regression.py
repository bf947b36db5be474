"""Mixtures of regressions; here with normal errors, of known or free variances.

Theory: (J7) of docs/theory/regression.md.
"""

import inspect
import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from gopfast import checks
from gopfast.annotations import FloatArray, ParameterLike, State
from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures.problems import regression_closed_form, regression_starts, shared_coefficients as sharing
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.problems.covariance import LOG_2_PI
from gopfast.mixtures.problems.regression_table import table_with
from gopfast.mixtures.problems.tuning import (
    DEPENDENT,
    ON_FLOOR,
    REGRESSION_EXACT as EXACT,
    REGRESSION_FLOOR_SHARE as FLOOR_SHARE,
    REGRESSION_RIDGE as RIDGE,
    SAME_COEFFICIENT,
)


def signed_by_init(cls):
    """Let a class whose `__new__` takes anything show the arguments of its `__init__`."""
    own, *others = inspect.signature(cls.__init__).parameters.values()
    cls.__signature__ = inspect.Signature(others)
    return cls


@signed_by_init
class RegressionMixture(MixtureProblem):
    """
    Mixture of linear regressions with normal errors (clusterwise regression, switching regressions).

    Component k says ``y ~ N(x'beta_k + a_k, v_k)``. The objective is the negative log-likelihood of the responses
    given the regressors, with all constants::

        f = - sum_i w_i log sum_k pi_k N(y_i; x_i'beta_k + a_k, v_k)

    Variances are estimated, one for each component, unless `noise_variance` says what they are.
    `gopfast.models.MixtureProblem` has the attributes that are not listed here. With `family` "poisson" or "binomial"
    responses are counts: a `gopfast.models.CountRegressionMixture` is made, which says what then differs.

    Parameters
    ----------
    X : array_like, shape (n,) or (n, p)
        Regressors, finite real numbers.
    y : array_like of shape (n,), optional
        Responses. By default the last column of X, as the attribute `X` has them.
    n_components : int
        Number of components K, from 1 to n.
    variance : {"free", "shared"}
        "free": a variance for each component; "shared": one for all.
    noise_variance : float, optional
        Known variance of every component, in squared units of y; no variance is estimated then.
    fit_intercept : bool
        Whether regressions have an intercept.
    sample_weight : array_like of shape (n,), optional
        Weights w_i of the samples, at least 0 and not all 0; 1 by default. With `groups` one number for each group.
    variance_floor : float, optional
        Lower bound of the free variances, in squared units of y. By default the square of 0.05 times the residual
        standard deviation of one regression. It is part of the model: without it a component through as many samples
        as it has coefficients has an unbounded likelihood, and a small one may make such a component the optimum.
    family : {"normal", "poisson", "binomial"}
        Distribution of the response given the regressors.
    groups : array_like of shape (n,), or str, optional
        Rows that belong together, such as those of a patient, or the column of X that says so: all rows of a group are
        of one component, so that groups are what the mixture is of. By default each row is a group.
    shared_coefficients : str, int, or sequence of these, optional
        The coefficients that all components share (`fixed` of flexmix's ``FLXMRglmfix``): names of regressors or their
        numbers from 0, or "intercept". Each component has all others for itself, one at least. The time grows by
        about the same factor, of ten to a hundred, with each.
    offset, n_trials, least_count
        Of counts, see `gopfast.models.CountRegressionMixture`; None with normal errors.

    Attributes
    ----------
    X : ndarray, shape (n, p + 1), or with groups (n, p + 2)
        Read-only: the regressors, the groups where they are given, the responses.
    sample_weight : ndarray, shape (n,)
        With groups the weight of each divided among its rows, so that `total_weight` is that of the groups.
    group_weight : ndarray of shape (n,), or None
        With groups the weight of each row's group; None without.
    regressors, response : ndarray, shape (n, p) and (n,)
        Its first and its last part.
    groups : str or None
        The column of the attribute `X` that holds the groups, as an argument; None where there is none.
    shared_coefficients : tuple of str
        Names of the coefficients that all components share.
    variance : str
    noise_variance, variance_floor : float or None
    fit_intercept : bool
    fits_all : bool
        Whether one regression fits all samples, but for rounding.
    family : str
    parameter_names : tuple of str
        "coefficients" (K, p), with an intercept "intercepts" (K,), with free variances "variances" (K,), with a shared
        one "variance".

    Raises
    ------
    InputError
        A `ValueError` naming the argument with a bad value, such as regressors that depend on each other;
        `InputTypeError` if it is of a wrong kind.

    References
    ----------
    De Veaux, "Mixtures of linear regressions", Computational Statistics & Data Analysis 8 (1989).

    Examples
    --------
    >>> from gopfast.models import RegressionMixture
    >>> RegressionMixture([0, 1, 2, 0, 1, 2], [0, 1, 2, 5, 4.1, 3], n_components=2, variance_floor=0.01)
    RegressionMixture(n_samples=6, n_features=2, n_components=2, fit_intercept=True, variance_floor=0.01)
    """

    variance: str
    noise_variance: float | None
    variance_floor: float | None
    fit_intercept: bool
    fits_all: bool
    family: str
    groups: str | None
    group_weight: FloatArray | None = None

    _shared_places: Sequence[int] = ()
    _draws_lines = True
    # Models of other families than the normal one.
    _of_families: ClassVar[dict[str, type["RegressionMixture"]]] = {}

    def __new__(cls, *args: object, **given: object) -> "RegressionMixture":
        """Make the model of counts where `family` says so."""
        families = ("normal", *RegressionMixture._of_families)
        family = checks.choice("family", given.get("family", "normal"), families)
        return object.__new__(RegressionMixture._of_families.get(family, cls) if cls is RegressionMixture else cls)

    def __init_subclass__(cls, families: tuple[str, ...] = (), **others: object) -> None:
        """Note the families that a class is of."""
        super().__init_subclass__(**others)
        RegressionMixture._of_families.update(dict.fromkeys(families, cls))

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        n_components: int = 2,
        *,
        variance: str = "free",
        noise_variance: float | None = None,
        fit_intercept: bool = True,
        sample_weight: ArrayLike | None = None,
        variance_floor: float | None = None,
        family: str = "normal",
        offset: ArrayLike | None = None,
        n_trials: ArrayLike | None = None,
        least_count: float | None = None,
        groups: ArrayLike | str | None = None,
        shared_coefficients: str | int | Sequence[str | int] | None = None,
    ) -> None:
        _refuse(family, offset=offset, n_trials=n_trials, least_count=least_count)
        rows, columns, places = table_with(X, y, {"groups": groups})
        self._store(
            rows,
            n_components,
            sample_weight,
            columns=columns,
            prior=None,
            variance=checks.choice("variance", variance, ("free", "shared")),
            fit_intercept=flag(fit_intercept),
            family=family,
            groups=places.get("groups"),
            noise_variance=None if noise_variance is None else checks.positive_number("noise_variance", noise_variance),
        )
        if noise_variance is not None and variance_floor is not None:
            raise InputError("variance_floor must be None with a noise_variance: no variance is estimated")
        if noise_variance is not None and variance != "free":
            raise InputError("variance must be 'free' with a noise_variance: no variance is estimated")
        self._divide_weights()
        self.__setstate__({"_shared_places": sharing.places_of(shared_coefficients, self)})
        square = float(self._row_weight @ np.square(self._residuals_of_one())) / float(self._row_weight.sum())
        self.__setstate__({"fits_all": not square > np.square(EXACT * np.abs(self.response).max())})
        floor = None
        if noise_variance is None and variance_floor is None:
            if self.fits_all:
                raise InputError("variance_floor must be given: one regression fits all samples")
            floor = FLOOR_SHARE**2 * square
        elif noise_variance is None:
            floor = checks.positive_number("variance_floor", variance_floor)
        self.__setstate__({"variance_floor": floor})

    def _divide_weights(self):
        """Divide the weight of each group among its rows, where rows belong together."""
        if self.groups is None:
            return
        of, number = self._group_of, self._rows_of_group
        if (self.sample_weight != self.sample_weight[np.unique(of, return_index=True)[1]][of]).any():
            raise InputError("sample_weight must be one number for all rows of a group")
        weight = self.sample_weight / number
        if self.n_components > len(np.unique(of)):
            raise InputError(f"n_components must be at most the number of groups, {len(np.unique(of))}")
        self.__setstate__({
            "sample_weight": weight, "total_weight": float(weight.sum()), "group_weight": self.sample_weight,
        })  # fmt: skip

    @property
    def _group_of(self):
        """The number of each row's group (n,), from 0."""
        if self.groups is None:
            return np.arange(self.n_samples)
        return np.unique(self.X[:, int(self.groups) - 1], return_inverse=True)[1].ravel()

    @property
    def _rows_of_group(self):
        """How many rows (n,) each row's group has."""
        of = self._group_of
        return np.bincount(of)[of]

    def _with(self, **changed):
        if "X" in changed:
            self._refuse_draws()
        return super()._with(**changed)

    def _refuse_draws(self):
        """Refuse samples that are drawn from the rows."""
        if self.groups is not None:
            raise InputError("groups must be None: samples are drawn row by row, and rows of a group belong together")

    @property
    def _row_weight(self):
        """Weights (n,) of the rows: each has that of its group."""
        return self.sample_weight if self.groups is None else self.sample_weight * self._rows_of_group

    def _weights_of_proof(self):
        """Return the weights of the rows as the user gave them, those of their groups."""
        return self.sample_weight if self.groups is None else self.group_weight

    def _sums_of_groups(self, logs):
        """Return numbers (n, K) of rows, summed over the rows of each group."""
        if self.groups is None:
            return logs
        of = self._group_of
        total = np.zeros((of.max() + 1, logs.shape[1]))
        np.add.at(total, of, logs)
        return total[of]

    def _rows_by_group(self):
        """Return the rows (m,) of positive weight, group by group, their weights and their groups from 0."""
        order = np.argsort(self._group_of, kind="stable")
        used = order[self.sample_weight[order] > 0.0]
        return used, self._row_weight[used], np.unique(self._group_of[used], return_inverse=True)[1].ravel()

    @property
    def regressors(self) -> FloatArray:
        """The regressors (n, p)."""
        return self.X[:, : self._n_regressors]

    @property
    def response(self) -> FloatArray:
        """The responses (n,)."""
        return self.X[:, -1]

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters beside the weights."""
        estimated = [] if self.noise_variance is not None else ["variance" if self._is_shared else "variances"]
        return ("coefficients", *["intercepts"] * self.fit_intercept, *estimated)

    @property
    def shared_names(self) -> tuple[str, ...]:
        """Names of the parameters that are one value for all components."""
        return ("variance",) * self._is_shared

    @property
    def _is_shared(self):
        return self.variance == "shared"

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 weights, coefficients, intercepts, variances; what is shared counts once."""
        own = self.noise_variance is None and not self._is_shared
        repeated = (self.n_components - 1) * len(self._shared_places)
        return self.n_components * (self._n_coefficients + 1 + own) - 1 + self._is_shared - repeated

    @property
    def shared_coefficients(self) -> tuple[str, ...]:
        """Names of the coefficients that all components share."""
        names = *self.column_names[: self._n_regressors], sharing.INTERCEPT
        return tuple(names[place] for place in self._shared_places)

    @property
    def _all_shared(self):
        """Which columns of `_design` have coefficients that several components share."""
        return [] if self.n_components == 1 else list(self._shared_places)

    @property
    def _shared_at(self):
        """The first of them; None: there is none."""
        return next(iter(self._all_shared), None)

    @property
    def column_names(self) -> list[str]:
        """Names of the columns for tables and figures, the response's last; "x0", "x1", ... and "y" by default."""
        if self.columns:
            return list(self.columns)
        p = self._n_regressors
        return [*(["x"] if p == 1 else [f"x{j}" for j in range(p)]), *["groups"] * (self.groups is not None), "y"]

    @property
    def _n_regressors(self):
        return self.n_features - 1 - (self.groups is not None)

    @property
    def _n_coefficients(self):
        """Coefficients of a component, the intercept among them."""
        return self._n_regressors + self.fit_intercept

    @property
    def _response_spread(self):
        """About a standard deviation of what regressions are of."""
        return np.ptp(self.response) / 4.0

    @property
    def _linear_response(self):
        """What lines through samples are fitted to at a start."""
        return self.response

    def _model_names(self):
        level = "variance_floor" if self.noise_variance is None else "noise_variance"
        return (*["variance"] * self._is_shared, "fit_intercept", level, *self._sharing_names())

    def _sharing_names(self):
        """Names of the attributes that tell what components share."""
        return ["shared_coefficients"] * bool(self._shared_places)

    def predict(self, X: ArrayLike, coefficients: FloatArray, intercepts: FloatArray | None = None) -> FloatArray:
        """
        Compute each component's regression.

        Parameters
        ----------
        X : array_like, shape (m, p)
        coefficients : ndarray, shape (K, p)
        intercepts : ndarray of shape (K,), optional

        Returns
        -------
        ndarray, shape (m, K)
        """
        fitted = np.asarray(X, dtype=np.float64) @ np.asarray(coefficients).T
        return fitted if intercepts is None else fitted + intercepts

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
        Compute each component's mean of the response: here its regression.

        Parameters
        ----------
        X : array_like, shape (m, p)
        coefficients : ndarray, shape (K, p)
        intercepts : ndarray of shape (K,), optional
        offset, n_trials : float or array_like of shape (m,), optional
            Of counts alone: 0 and 1 by default.

        Returns
        -------
        ndarray, shape (m, K)
        """
        _refuse("normal", offset=offset, n_trials=n_trials)
        return self.predict(X, coefficients, intercepts)

    def _rows_of(self, X, y, offset=None, n_trials=None, groups=None):
        """Return other samples in the form of `X`; without `groups` each row is one."""
        _refuse("normal", offset=offset, n_trials=n_trials)
        return table_with(X, y, {"groups": self._groups_of(groups, y)})[0]

    def _groups_of(self, groups, y):
        """Return what groups rows of other samples are of, None where the fit had none."""
        if self.groups is None and groups is not None:
            raise InputError("groups must not be given: the fit had none")
        return np.arange(len(np.asarray(y))) if self.groups is not None and groups is None else groups

    def _design(self):
        """Return the regressors with a constant last if there is an intercept, (n, q)."""
        return np.column_stack([self.regressors, np.ones(self.n_samples)]) if self.fit_intercept else self.regressors

    def _scaled_design(self):
        """Return `_design` of used samples, centred and scaled; InputError where coefficients are not determined."""
        Z = self._design()[self.sample_weight > 0.0]
        centred = Z - np.where(np.ptp(Z, axis=0) > 0.0, Z.mean(axis=0), 0.0) if self.fit_intercept else Z
        size = np.abs(centred).max(axis=0)
        rank = 0
        if size.min() > 0.0:
            rank = int((np.linalg.svd(centred / size, compute_uv=False) > DEPENDENT * math.sqrt(len(Z))).sum())
        if rank < self._n_coefficients:
            raise InputError(
                f"X must determine {self._n_coefficients} coefficients, but a column is constant or depends on the "
                "others" + (", the intercept among them" if self.fit_intercept else "")
            )
        return centred / size

    def _residuals_of_one(self):
        """Return the residuals of one regression."""
        used = self.sample_weight > 0.0
        Z, root = self._scaled_design(), np.sqrt(self._row_weight[used])
        fitted = np.linalg.lstsq(root[:, np.newaxis] * Z, root * self.response[used], rcond=None)[0]
        residuals = np.zeros(self.n_samples)
        residuals[used] = self.response[used] - Z @ fitted
        return residuals

    # What the solver asks

    def _family(self, start=None):
        """Make a RegressionFamily, with the best of the local fits as a start, or a state that is given."""
        self._refuse_sharing()
        from gopfast.mixtures.families.design import design_of  # compiled is what it calls, as problems are not
        from gopfast.mixtures.families.regression import RegressionFamily

        used, w, owner = self._rows_by_group()
        unit = math.sqrt(self.variance_floor if self.noise_variance is None else self.noise_variance)
        design = design_of(self.regressors[used], self.response[used], w, unit, self.fit_intercept)
        family = RegressionFamily(
            design, self.n_components, self.noise_variance is None, self._is_shared,
            owner=None if self.groups is None else owner,
        )  # fmt: skip
        return family.suggest(**(regression_starts.best_fit(self, family=family) if start is None else start))

    def _refuse_sharing(self):
        """Refuse what is of components that share no coefficient."""
        if self._shared_at is not None:
            raise InputTypeError(
                "problem must have no shared_coefficients: its search fixes the shared one, and what is of boxes of "
                "all parameters does not apply"
            )

    def _record_of_proof(self):
        known = self.noise_variance is not None
        name, level = ("noise_variance", self.noise_variance) if known else ("variance_floor", self.variance_floor)
        is_shared = self._is_shared and self.n_components > 1
        family = "known_regression" if known else "shared_regression" if is_shared else "regression"
        found = {
            "family": family, "n_components": self.n_components,
            name: [float(level)], "fit_intercept": self.fit_intercept,
        }  # fmt: skip
        if len(self._all_shared) > 1:
            return None
        if self.groups is not None:
            found["groups"] = int(self.groups) - 1
        return found if self._shared_at is None else {**found, "shared_coefficient": self._shared_at}

    def _closed_form(self, X, w):
        """Take weighted least squares."""
        return regression_closed_form.one_regression(self, X, self._row_weight[self.sample_weight > 0.0])

    def _ceiling(self):
        """Take the density at the regression of a component on the floor."""
        least = self.variance_floor if self.noise_variance is None else self.noise_variance
        total = float(self._row_weight.sum())
        return [0.5 * total * LOG_2_PI, 0.5 * total * math.log(least)], 0.0

    def _notes(self, solution, proved):
        """Tell what is shared, the floor, and which components sit on it."""
        shared = self._note_of_sharing()
        if self.noise_variance is not None:
            return shared
        low = np.flatnonzero(self._variances_of(solution.parameters) <= (1.0 + ON_FLOOR) * self.variance_floor)
        text = f"the variances are at least {self.variance_floor:.3g} (variance_floor), which is part of the model"
        if low.size and self._is_shared:
            text = f"the variance is at least {self.variance_floor:.3g} (variance_floor), and on it"
        elif low.size:
            names = ", ".join(map(str, low))
            text += f"; that of component {names} is on it, and a smaller floor would give another optimum"
        return [*shared, text]

    def _note_of_sharing(self):
        """Return a line on what all components share, if there is anything."""
        if self._shared_at is None:
            return []
        return [
            f"the {'intercept' if place == self._n_regressors else f'coefficient of {name}'} is one number for all "
            "components (shared_coefficients)"
            for place, name in zip(self._shared_places, self.shared_coefficients, strict=True)
        ]

    def _rows_like(self, X):
        """Check other samples: regressors, then the response."""
        return checks.of_columns("X", checks.data_matrix("X", X), self.n_features)

    def _draw(self, rng, components, parameters):
        """Draw responses at regressors that are drawn from the samples."""
        self._refuse_draws()
        share = self.sample_weight / self.total_weight
        x = self.regressors[rng.choice(self.n_samples, len(components), p=share)]
        fitted = self.predict(x, parameters["coefficients"], parameters.get("intercepts"))
        variances = self._variances_of(parameters)
        y = rng.normal(fitted[np.arange(len(x)), components], np.sqrt(variances[components]))
        return np.column_stack([x, y])

    # What a model defines

    def _check_values(self, coefficients, *others):
        p = self._n_regressors
        array = checks.real_array("coefficients", coefficients)
        if p == 1 and array.ndim == 1:
            array = array[:, np.newaxis]
        checked = [checks.of_shape("coefficients", array, (self.n_components, p))]
        for name, value in zip(self.parameter_names[1:], others, strict=True):
            shape = () if name == "variance" else (self.n_components,)
            array = checks.of_shape(name, checks.real_array(name, value), shape)
            if name in ("variance", "variances"):
                checks.at_least(name, array, self.variance_floor * (1.0 - 1e-9))
            checked.append(float(array) if name == "variance" else array)
        if self._shared_at is not None:
            self._check_shared(*checked[:2])
        return tuple(checked)

    def _check_shared(self, coefficients, intercepts=None):
        """Check that components have the same coefficient where it is shared."""
        for at in self._all_shared:
            own = coefficients[:, at] if at < self._n_regressors else intercepts
            if not (np.abs(own - own[0]) <= SAME_COEFFICIENT * np.abs(own[0])).all():
                name = "coefficients" if at < self._n_regressors else "intercepts"
                raise InputError(f"{name} must be equal in all components where they are shared; got {own}")

    def maximize(self, responsibilities: ArrayLike, **state: ParameterLike) -> State:
        """Compute the weights and parameters that are best for given responsibilities; as of `MixtureProblem`."""
        found = super().maximize(responsibilities, **state)
        if self._shared_at is not None:  # a component without responsibility may have kept another value
            rows, p = self._rows_of_design(found).copy(), self._n_regressors
            rows[:, self._all_shared] = rows[found["weights"].argmax(), self._all_shared]
            found = {**found, "coefficients": rows[:, :p], **({"intercepts": rows[:, p]} if self.fit_intercept else {})}
        return found

    def _order(self, weights, parameters):
        """Order components by the coefficients of their own."""
        if self._shared_at is None:
            return super()._order(weights, parameters)
        rows = self._rows_of_design(parameters)
        return np.lexsort((weights, *np.delete(rows, self._all_shared, axis=1).T[::-1]))

    def _rows_of_design(self, parameters):
        """Return coefficients (K, q) in the order of `_design`."""
        if not self.fit_intercept:
            return parameters["coefficients"]
        return np.column_stack([parameters["coefficients"], parameters["intercepts"]])

    def _log_kernel(self, parameters):
        fitted = self.predict(self.regressors, parameters["coefficients"], parameters.get("intercepts"))
        variances = self._variances_of(parameters)
        squares = np.square(self.response[:, np.newaxis] - fitted)
        return self._sums_of_groups(-0.5 * (LOG_2_PI + np.log(variances) + squares / variances))

    def _m_step(self, mass, weights, former):
        """Fit each component by weighted least squares, with a little weight of all samples."""
        Z, y, of_groups = self._design(), self.response, mass
        mass = mass if self.groups is None else mass * self._rows_of_group[:, np.newaxis]
        if self._shared_at is not None:
            return self._joint_step(mass * (weights / of_groups.sum(axis=0)), former)
        center = Z[:, :-1].mean(axis=0) if self.fit_intercept else np.zeros(Z.shape[1])
        moved = Z.copy()
        moved[:, : len(center)] -= center
        size = np.abs(moved).max(axis=0)
        moved /= size
        rows = []
        for column in mass.T:
            root = np.sqrt(column + RIDGE * column.sum() * self.sample_weight / self.total_weight)
            rows.append(np.linalg.lstsq(root[:, np.newaxis] * moved, root * y, rcond=1e-15)[0] / size)
        fitted = np.array(rows)
        found = {"coefficients": fitted[:, : self._n_regressors]}
        if self.fit_intercept:
            found["intercepts"] = fitted[:, -1] - found["coefficients"] @ center
        if self.noise_variance is None:
            residuals = y[:, np.newaxis] - moved @ (fitted * size).T
            variances = (mass * np.square(residuals)).sum(axis=0) / mass.sum(axis=0)
            if self._is_shared:
                shares = weights * (mass.sum(axis=0) / of_groups.sum(axis=0))
                variances = float(variances @ shares / shares.sum())
            found[self.parameter_names[-1]] = np.maximum(variances, self.variance_floor)
        return found

    def _joint_step(self, mass, former):
        """Fit all components at once; `mass` is of sum 1 over groups and components."""
        rows, variances = sharing.normal_fits(self, mass, None if former is None else self._variances_of(former))
        found = {"coefficients": rows[:, : self._n_regressors]}
        if self.fit_intercept:
            found["intercepts"] = rows[:, -1]
        if self.noise_variance is None:
            found[self.parameter_names[-1]] = float(variances[0]) if self._is_shared else variances
        return found

    def _variances_of(self, parameters):
        """Return the variances of the components (K,)."""
        if self.noise_variance is not None:
            return np.full(self.n_components, self.noise_variance)
        return np.broadcast_to(parameters[self.parameter_names[-1]], (self.n_components,))


def flag(value):
    """Check whether there is an intercept."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputTypeError(f"fit_intercept must be True or False; got {value!r}")
    return bool(value)


def _refuse(family, **given):
    """Refuse arguments that are of counts."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name} must be None with family={family!r}: it is of counts")
