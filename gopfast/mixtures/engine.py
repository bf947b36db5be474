"""Builds what the compiled core runs on from a problem object."""

import weakref

from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures import core
from gopfast.mixtures.fits import start_values
from gopfast.mixtures.problems import MixtureProblem

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
    given = start_values(problem, start)
    given.pop("weights", None)
    try:
        return family(problem).pack(**problem._checked_start(**given))
    except InputError as error:
        raise type(error)(f"start must hold {' and '.join(given)}; {error}") from None
