"""What a checkpoint says of a mixture: enough to make the problem again from its data, and a digest of all of it."""

import hashlib
import inspect
import json

import numpy as np

from gopfast.errors import InputError
from gopfast.mixtures import problems
from gopfast.mixtures.problems import large

DATA = ("X", "sample_weight")
READ_FROM = "_read_from"  # where the command has read the data, and how
BESIDE = (READ_FROM, "columns")  # nothing that a search depends on


def record(problem):
    """
    Return the class and the arguments of a problem, in JSON types.

    Parameters
    ----------
    problem : MixtureProblem
    """
    names = inspect.signature(type(problem)).parameters.keys() - set(DATA)
    given = {name: getattr(problem, name) for name in names if hasattr(problem, name)}
    if "n_classes" in names:
        given["n_classes"] = problem.n_components
    private = {name: value for name, value in vars(problem).items() if name.startswith("_")}
    told = {"columns": list(problem.columns)}
    return {"class": type(problem).__name__, "arguments": _plain(given), "private": _plain(private), **told}


def _plain(values):
    """Return values by name as JSON has them; what it cannot express is left out."""
    plain = {}
    for name, value in values.items():
        value = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
        try:
            plain[name] = json.loads(json.dumps(value))
        except (TypeError, ValueError):
            continue
    return plain


def rebuild(recorded, X, sample_weight=None):
    """
    Make the problem that was recorded.

    Parameters
    ----------
    recorded : dict
        From `record`.
    X, sample_weight
        The data.

    Raises
    ------
    InputError
        If the data do not fit, or the class is none of `gopfast.models`.
    """
    kind = getattr(problems, recorded["class"], None) or getattr(large, recorded["class"], None)
    if kind is None:
        raise InputError(f"X must be the problem itself: its class, {recorded['class']}, is none of gopfast.models")
    given = {name: value for name, value in recorded["arguments"].items() if value is not None}
    made = kind._rebuilt(X, sample_weight, recorded.get("columns", ()), given)
    made.__setstate__({**recorded["private"], "columns": made.columns or tuple(recorded.get("columns", ()))})
    return made


def digest(problem):
    """Return a digest of the data and of all that a problem says of the model, as text."""
    found = hashlib.sha256(type(problem).__name__.encode())
    for name, value in sorted(vars(problem).items()):
        if name in BESIDE:
            continue
        for part in value if isinstance(value, tuple) else (value,):
            found.update(name.encode())
            if isinstance(part, np.ndarray):
                found.update(f"{part.dtype.str}{part.shape}".encode())
                found.update(np.ascontiguousarray(part).data if part.size else b"")
            else:
                found.update(repr(part).encode())
    return found.hexdigest()
