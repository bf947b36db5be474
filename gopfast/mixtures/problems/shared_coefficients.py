"""Coefficients that all components of a mixture of regressions share: names, fits, the mixture where one is fixed.

Theory: (JS1) and (JS6) of docs/theory/shared_coefficients.md.
"""

import operator
from typing import NamedTuple

import numpy as np

from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures.problems.tuning import JOINT_CYCLES, REGRESSION_RIDGE as RIDGE

INTERCEPT = "intercept"


class Stacked(NamedTuple):
    """
    Rows of all components, one component's below the other's: each row of the data once for every component.

    Attributes
    ----------
    design : ndarray, shape (K n, m + K (q - m))
        The m shared regressors, then each component's own ones beside zeros; every column in units of its largest
        entry.
    size : ndarray, shape (m + K (q - m),)
        These units.
    """

    design: np.ndarray
    size: np.ndarray

    @classmethod
    def of(cls, problem):
        """Make those of a problem whose components share coefficients."""
        Z, K, at = problem._design(), problem.n_components, problem._all_shared
        own = np.delete(Z, at, axis=1)
        design = np.column_stack([np.tile(Z[:, at], (K, 1)), np.kron(np.eye(K), own)])
        size = np.abs(design).max(axis=0)
        return cls(design / size, size)

    def in_rows(self, problem, found):
        """Return coefficients (K, q) in the order of the design, of those (m + K (q - m),) of the stacked columns."""
        found, m = found / self.size, len(problem._all_shared)
        return together(problem, found[:m], found[m:].reshape(problem.n_components, -1))


def together(problem, shared, own):
    """Return coefficients (K, q) in the order of the design, of the shared ones (m,) and the others (K, q - m)."""
    at = problem._all_shared
    rows = np.empty((len(own), own.shape[1] + len(at)))
    rows[:, at], rows[:, np.delete(np.arange(rows.shape[1]), at)] = shared, own
    return rows


def places_of(given, problem):
    """
    Return which columns of the design have the coefficients that are to be shared, the intercept's last.

    Parameters
    ----------
    given : None, str, int, or sequence of these
        Names of regressors, their numbers from 0, or "intercept".
    problem : RegressionMixture
        With all else that it has.
    """
    if given is None:
        return []
    regressors = problem.column_names[: problem._n_regressors]
    every = [*regressors, *[INTERCEPT] * problem.fit_intercept]
    given = [given] if isinstance(given, (str, int, np.integer)) else given
    try:
        names = [_name_of(one, regressors, every) for one in given]
    except TypeError:
        raise InputTypeError(
            f"shared_coefficients must be names or numbers of regressors; got {type(given).__name__}"
        ) from None
    if len(set(names)) < len(names):
        raise InputError(f"shared_coefficients must be different; got {', '.join(names)}")
    if names and problem._n_coefficients <= len(names):
        raise InputError("shared_coefficients must leave each component a coefficient of its own")
    places = [every.index(name) for name in names]
    if names and problem.family == "poisson" and (len(regressors) in places or not problem.fit_intercept):
        raise InputError(
            "shared_coefficients must leave each component an intercept of its own with family='poisson', whose bounds "
            "need it"
        )
    return places


def _name_of(one, regressors, every):
    """Return the name of a coefficient."""
    if isinstance(one, str):
        if one in every:
            return one
    elif not isinstance(one, (bool, np.bool_)) and 0 <= operator.index(one) < len(regressors):
        return regressors[one]
    raise InputError(f"shared_coefficients must be of {', '.join(every)}, by name or number from 0; got {one!r}")


def fixed(problem, value):
    """
    Return the mixture in which the shared coefficient, the first of several, has a value: its part is known.

    Parameters
    ----------
    problem : RegressionMixture
    value : float

    Returns
    -------
    RegressionMixture
        Without the regressor, and with normal errors of responses, or with offsets, that are rounded once or twice. It
        is not checked: it may have no regressor at all.
    """
    at, p = problem._shared_at, problem._n_regressors
    X, part = problem.X, value * problem._design()[:, problem._shared_at]
    changed = {"columns": (), "fit_intercept": problem.fit_intercept and at < p}
    changed["_shared_places"] = [other - (other > at) for other in problem._shared_places[1:]]
    columns = [*(X[:, j] for j in range(p) if j != at), *X[:, p:].T]
    places = {name: int(getattr(problem, name)) - (at < p)
              for name in ("n_trials", "offset", "groups") if getattr(problem, name, None) is not None}  # fmt: skip
    if problem.family == "normal":
        columns[-1] = problem.response - part
    elif "offset" in places:
        columns[places["offset"] - 1] = problem.offsets + part
    else:
        columns.insert(len(columns) - 1, part)
        places["offset"] = len(columns) - 1
    rows = np.column_stack(columns)
    changed |= {name: str(place) for name, place in places.items()}
    other = object.__new__(type(problem))
    other.__setstate__({**problem.__dict__, **changed, "X": rows, "n_features": rows.shape[1]})
    return other


def widened(problem, value, parameters):
    """Return parameters of a problem of those of the mixture where the shared coefficient is fixed at a value."""
    at, K = problem._shared_at, problem.n_components
    if at < problem._n_regressors:
        return {**parameters, "coefficients": np.insert(parameters["coefficients"], at, value, axis=1)}
    own = {name: value for name, value in parameters.items() if name != "coefficients"}
    return {"coefficients": parameters["coefficients"], "intercepts": np.full(K, value), **own}


def narrowed(problem, parameters):
    """Return the value of the shared coefficient, and the parameters of the mixture where it is fixed."""
    at = problem._shared_at
    if at < problem._n_regressors:
        rows = parameters["coefficients"]
        return float(rows[0, at]), {**parameters, "coefficients": np.delete(rows, at, axis=1)}
    return float(parameters["intercepts"][0]), {
        name: value for name, value in parameters.items() if name != "intercepts"
    }


def normal_fits(problem, mass, former):
    """
    Return the best coefficients (K, q) and variances (K,) of given responsibilities, one after the other.

    Coefficients are weighted least squares of all components at once, for their variances.

    Parameters
    ----------
    problem : RegressionMixture
    mass : ndarray, shape (n, K)
        Weights of the rows in each component, of one scale.
    former : ndarray, shape (K,), or None
        Variances before.
    """
    Z, y, at = problem._design(), problem.response, problem._all_shared
    x, own, m = Z[:, at], np.delete(Z, at, axis=1), len(at)
    scale, unit = np.abs(own).max(axis=0), np.abs(x).max(axis=0)
    known = np.column_stack([x / unit, y])
    size, share = mass.sum(axis=0), problem._row_weight / problem._row_weight.sum()
    weights = mass + RIDGE * np.outer(share, np.maximum(size, RIDGE * size.sum()))
    variances = former
    for _ in range(1 if _is_one(problem) else JOINT_CYCLES):
        fits, above, below = [], 0.0, 0.0
        for k, column in enumerate(weights.T):
            root = np.sqrt(column if variances is None else column / variances[k])[:, np.newaxis]
            found = np.linalg.lstsq(root * (own / scale), root * known, rcond=1e-15)[0]
            left = root * (known - (own / scale) @ found)  # what own columns leave
            above, below = above + left[:, :m].T @ left[:, m], below + left[:, :m].T @ left[:, :m]
            fits.append(found)
        value = np.linalg.lstsq(below, above, rcond=1e-15)[0]
        rows = np.array([(found[:, m] - found[:, :m] @ value) / scale for found in fits])
        rows = together(problem, value / unit, rows)
        squares = (mass * np.square(y[:, np.newaxis] - Z @ rows.T)).sum(axis=0)
        if problem.noise_variance is None:
            pooled = np.full(len(size), squares.sum() / size.sum())
            variances = pooled if problem._is_shared else squares / np.maximum(size, RIDGE * size.sum())
            variances = np.maximum(variances, problem.variance_floor)
    return rows, variances


def _is_one(problem):
    """Whether variances are the same for all components, so that they do not matter for the fits."""
    return problem.noise_variance is not None or problem._is_shared


def count_fits(problem, mass, former):
    """
    Return the best coefficients (K, q) of given responsibilities, by Newton's method for all components at once.

    Parameters
    ----------
    problem : CountRegressionMixture
    mass : ndarray, shape (n, K)
    former : ndarray, shape (K, q), or None
        Coefficients to begin with.
    """
    stacked, K, rows = Stacked.of(problem), problem.n_components, problem._rows
    size, share = mass.sum(axis=0), problem._row_weight / problem._row_weight.sum()
    size, start = np.maximum(size, RIDGE * size.sum()), None
    if former is not None:
        own = np.delete(former, problem._all_shared, axis=1)
        start = np.concatenate([former[0, problem._all_shared], own.ravel()]) * stacked.size
    repeated = rows.repeated(K, stacked.design)
    found = repeated.fit(mass.T.ravel(), np.outer(size / size.sum(), share).ravel(), start)
    return stacked.in_rows(problem, found)
