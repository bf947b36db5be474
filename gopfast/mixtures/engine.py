"""Builds what the compiled core runs on from a problem object."""

import weakref

import numpy as np

from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures.fits import start_values
from gopfast.mixtures.problems import MixtureProblem
from gopfast.mixtures.tuning import ENGINE_SAME as SAME

# The columns as the kernel wants them, once per problem; an entry goes with its problem.
_families = weakref.WeakKeyDictionary()


def family(problem, start=None):
    """
    Return the core's copy of a mixture problem (a Family with its samples), made on first use.

    Parameters
    ----------
    problem : MixtureProblem
    start : dict, optional
        Of a mixture of regressions: weights and parameters to start from, in place of local fits.
    """
    if not isinstance(problem, MixtureProblem):
        raise InputTypeError(f"problem must be a mixture of gopfast.models; got {type(problem).__name__}")
    if problem not in _families:
        _families[problem] = problem._family() if start is None else problem._family(start)
    return _families[problem]


def start_solution(problem, start):
    """
    Read a start of a search as the core's.

    Parameters
    ----------
    problem : MixtureProblem
    start : array_like, or anything with a solution, or None
        First parameters, or what `gopfast.mixtures.fits.start_values` reads.

    Returns
    -------
    parameters : ndarray, shape (n_connected,), or None
        None: there is no start.
    weights : ndarray, shape (K,), or None
        None: the start has none.

    Raises
    ------
    InputError
        If it is no start of this problem; the message begins with "start".
    """
    if start is None:
        return None, None
    given = start_values(problem, start)
    try:
        weights = problem._check_weights(given["weights"]) if "weights" in given else None
        parameters = problem._checked_start(**{name: given[name] for name in given if name != "weights"})
        point = np.ravel(family(problem).pack(**parameters))
        if weights is None or not _is_complete(problem, parameters) or holds(problem, weights, point, parameters):
            return point, weights
        # a step of EM, after which the objective is no higher, leads to what the core has variables for
        state = {"weights": weights, **parameters}
        state = problem.maximize(problem.responsibilities(**state), **state)
        weights = state.pop("weights")
        return np.ravel(family(problem).pack(**state)), weights
    except InputError as error:
        raise type(error)(f"start must hold {' and '.join(given)}; {error}") from None


def holds(problem, weights, point, parameters):
    """
    Tell whether the core's variables stand for a state but for rounding.

    They do not for posterior variances that differ between columns, for instance, where the core has one for all.

    Parameters
    ----------
    problem : MixtureProblem
    weights : ndarray, shape (K,)
    point : ndarray, shape (n_connected,)
        The core's variables.
    parameters : dict
        What they are to stand for; a prior variance does not count, as it is always the best one.
    """
    held = family(problem).parameters(np.concatenate([weights, point, [1.0]]))
    return all(_equal(held[name], parameters[name]) for name in held if name != "prior_variance")


def _is_complete(problem, parameters):
    return all(name in parameters for name in problem.parameter_names if name != "prior_variance")


def _equal(first, second):
    """Whether two values of a parameter, arrays or tuples of arrays, agree but for rounding."""
    if isinstance(first, tuple):
        return all(map(_equal, first, second))
    return np.allclose(first, second, rtol=SAME, atol=SAME * np.abs(second).max(initial=0.0))
