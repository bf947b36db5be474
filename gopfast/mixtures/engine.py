"""Builds what the compiled core runs on from a problem object."""

import weakref

from gopfast import checks
from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures import core
from gopfast.mixtures.problems import GaussianMixture, MixtureProblem

# The columns as the kernel wants them, once per problem; an entry goes with its problem.
_families = weakref.WeakKeyDictionary()


def family(problem):
    """Return the core's copy of a mixture problem (a Family with its samples), made on first use."""
    if not isinstance(problem, MixtureProblem):
        raise InputTypeError(f"problem must be a mixture of gopfast.models; got {type(problem).__name__}")
    if problem not in _families:
        _families[problem] = problem._family(core)
    return _families[problem]


def start_parameters(problem, start):
    """Validate a start (first parameters, or anything with a solution); return the core's parameters, or None."""
    if start is None:
        return None
    start = getattr(start, "solution", start)
    names = problem.parameter_names
    if hasattr(start, "parameters"):
        given = {name: getattr(start, name, None) for name in names}
        given = {name: value for name, value in given.items() if value is not None}
        if names[0] not in given:
            raise InputError(f"start must be a solution with {names[0]}; this one has none")
    else:
        given = {names[0]: start}
    if not isinstance(problem, GaussianMixture):
        try:
            return family(problem).pack(**problem.check_parameters(given[names[0]]))
        except InputError as error:
            raise type(error)(f"start must hold {names[0]}; {error}") from None
    first = checks.real_array("start", given[names[0]])
    if problem.n_features == 1 and first.ndim == 1:
        first = first[:, None]
    shape = (problem.n_components, problem.n_features)
    if first.shape != shape:
        raise InputError(f"start must hold {names[0]} of shape {shape}; got {first.shape}")
    return family(problem).pack(**{**given, names[0]: first})
