"""The states that local methods start from and step through: dicts of the weights and the parameters."""

import numpy as np

from gopfast import checks
from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures.fits import start_values
from gopfast.mixtures.problems import MixtureProblem


def check_problem(problem):
    """Return `problem` if it is a mixture problem; raise `InputTypeError` otherwise."""
    if not isinstance(problem, MixtureProblem):
        raise InputTypeError(f"problem must be a mixture of gopfast.models; got {type(problem).__name__}")
    return problem


def check_stopping(tol, max_iter):
    """Return `tol` and `max_iter` as a float of at least 0 and an int of at least 1."""
    return checks.nonnegative_number("tol", tol), checks.whole_number("max_iter", max_iter, 1)


def given_state(problem, start):
    """
    Return the state that a user's start stands for.

    Parameters
    ----------
    problem : MixtureProblem
    start : array_like, dict, or anything with a solution or with `parameters`
        The first parameter, or a state by name. Weights that are not given are equal, and parameters that are
        not given those of `completed`. A given prior variance is not used: it is always the best one.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        If it is no start of this problem; the message begins with "start".
    """
    given = start_values(problem, start)
    weights = given.pop("weights", np.full(problem.n_weights, 1.0 / problem.n_weights))
    try:
        # The order of a solution is not asked for here, only its checks.
        return problem.reordered(np.arange(problem.n_components), weights, **completed(problem, given))
    except InputError as error:
        raise type(error)(f"start: {error}") from None


def completed(problem, given):
    """
    Add the parameters that are missing beside the first one.

    Covariances become those of all samples, drawn towards the floor by 1 - 1/K^2, as clusters are narrower than all;
    posterior variances those of a component with the share 1/K of the samples.
    """
    missing = [name for name in problem.parameter_names if name not in given and name != "prior_variance"]
    if not missing:
        return given
    K, m = problem.n_components, problem.n_weights
    pooled = problem.maximize(np.full((problem.n_samples, m), 1.0 / m))
    found = {name: pooled[name] for name in missing}
    if "covariances" in found:
        floor = problem.variance_floor
        if problem.kind.matrix_shaped:
            floor = floor * np.eye(problem.n_features)
        found["covariances"] = floor + (found["covariances"] - floor) / K**2
    return {**given, **found}


def climb(problem, step, state, tol, max_iter, value=None):
    """
    Repeat a step until one gains at most `tol`.

    Parameters
    ----------
    problem : MixtureProblem
    step : callable
        From a state to the next one.
    state : dict
    tol : float
        In nats.
    max_iter : int
    value : callable, optional
        What the steps lower, from a state; the objective by default.

    Returns
    -------
    state : dict
        The last one.
    values : list of float
        Before the first step and after each step.
    converged : bool
    """
    value = value or (lambda state: problem.objective(**state))
    values, converged = [value(state)], False
    while not converged and len(values) <= max_iter:
        state = step(state)
        values.append(value(state))
        converged = values[-2] - values[-1] <= tol
    return state, values, converged
