"""What users call a fit or a start, read as weights and parameters of a problem by name."""

from collections.abc import Mapping

import numpy as np

from gopfast import checks
from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures.problems import GaussianMixture
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.problems.covariance import KINDS
from gopfast.mixtures.solution import MixtureSolution
from gopfast.mixtures.tuning import SAME_TOL


def solution_of(problem, fit) -> MixtureSolution:
    """
    Read a fit as a solution of a problem.

    Parameters
    ----------
    problem : MixtureProblem
    fit : MixtureSolution, Result, LocalResult, dict, sequence or estimator
        Anything with a solution; a dict with "weights" and the problem's parameters, or with such a dict as
        "solution" (what `Result.to_dict` returns); the weights and one value for each of
        ``problem.parameter_names``; a fitted mixture of scikit-learn.

    Returns
    -------
    MixtureSolution
        In canonical order.

    Raises
    ------
    InputError
        If it is no fit of this problem; the message begins with "fit". If the problem is no mixture.
    """
    if not isinstance(problem, MixtureProblem):
        raise InputTypeError(f"problem must be a mixture of gopfast.models; got {type(problem).__name__}")
    try:
        return MixtureSolution.canonical(problem, **_state(problem, fit))
    except InputError as error:
        raise type(error)(f"fit: {error}") from None


def _state(problem, fit):
    names = ("weights", *problem.parameter_names)
    given = named_values(problem, fit)
    if given is None:
        if not (isinstance(fit, (tuple, list)) and 1 < len(fit) <= len(names)):
            raise InputTypeError(
                f"it must be a solution, a result, a dict or a sequence of {', '.join(names)}, or a fitted mixture of "
                f"scikit-learn; got {type(fit).__name__}"
            )
        given = dict(zip(names, fit, strict=False))
    _refuse_unknown(problem, given)
    # The prior variance has a best value given the means.
    missing = [name for name in names if name not in given and name != "prior_variance"]
    if missing:
        raise InputError(f"{missing[0]} must be given; there is none")
    return given


def start_values(problem, start) -> dict:
    """
    Read a start of a search or of a local method.

    Parameters
    ----------
    problem : MixtureProblem
    start : array_like, or what `solution_of` takes
        An array is the first parameter. A fit of another model counts with the parameters that this problem has.

    Returns
    -------
    dict
        The first parameter and what else is given, by name, not checked; a prior variance is left out, as it is always
        the best one.

    Raises
    ------
    InputError
        If it is no start of this problem; the message begins with "start".
    """
    first = problem.parameter_names[0]
    try:
        given = named_values(problem, start)
        if given is None:
            given = {first: start}
        elif not isinstance(start, Mapping):
            given = {name: given[name] for name in ("weights", *problem.parameter_names) if name in given}
        _refuse_unknown(problem, given)
    except InputError as error:
        raise type(error)(f"start: {error}") from None
    if first not in given:
        raise InputError(f"start must have {first}; this one has none")
    return {name: value for name, value in given.items() if name != "prior_variance"}


def named_values(problem, given):
    """Return the weights and parameters of anything that has them by name, a dict; None of anything else."""
    given = getattr(getattr(given, "result_", given), "solution", given)
    if isinstance(given, Mapping):
        found = given.get("solution", given)
        if not isinstance(found, Mapping):
            raise InputTypeError(f"the solution must be a dict; got {type(found).__name__}")
    elif hasattr(given, "weights_"):
        found = _from_estimator(problem, given)
    elif hasattr(given, "parameters") and hasattr(given, "weights"):
        found = {**given.parameters, "weights": given.weights}
    else:
        return None
    return {name: value for name, value in found.items() if name != "responsibilities" and value is not None}


def _refuse_unknown(problem, given):
    names = ("weights", *problem.parameter_names)
    unknown = sorted(map(str, given.keys() - set(names)))
    if unknown:
        raise InputError(f"{unknown[0]!r} is not among this problem's {', '.join(names)}")


def _from_estimator(problem, fit):
    """Weights, means and covariances of a fitted mixture of scikit-learn, the latter in the problem's shape."""
    if not isinstance(problem, GaussianMixture):
        raise InputError(f"an estimator is a fit of a GaussianMixture; the problem is a {type(problem).__name__}")
    state = {"weights": fit.weights_, "means": fit.means_}
    if not hasattr(fit, "covariances_"):
        return state
    matrices, kind = _as_matrices(problem, fit), problem.kind
    if not kind.estimated:
        if not _same(matrices, np.diag(problem.noise_variance)):
            raise InputError("its covariances differ from the problem's noise_variance")
        return state
    covariances = kind.from_matrices(matrices)
    if not _same(matrices, kind.matrices(covariances)):
        raise InputError(f"its covariances are not of the problem's kind, covariance={kind.name!r}")
    return {**state, "covariances": covariances}


def _as_matrices(problem, fit):
    """Covariances of an estimator as matrices, (K, d, d)."""
    name = getattr(fit, "covariance_type", None)
    kinds = {name: kind for name, kind in KINDS.items() if kind.estimated}
    if name not in kinds:
        raise InputError(f"covariance_type must be one of {', '.join(kinds)}; got {name!r}")
    kind = kinds[name](problem.n_components, problem.n_features, None)
    array = checks.real_array("covariances", fit.covariances_)
    return kind.matrices(checks.of_shape("covariances", array, kind.shape))


def _same(matrices, others):
    return np.allclose(matrices, others, rtol=SAME_TOL, atol=SAME_TOL * np.abs(matrices).max())
