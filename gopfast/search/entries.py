"""Entries of a state that was read from a file, each checked before anything relies on it: kind, shape and range."""

import contextlib
import math

import numpy as np

LARGEST = 2**62  # of a count
KINDS = {"b": "booleans", "i": "integers", "u": "unsigned integers", "f": "floats"}


class EntryError(ValueError):
    """An entry that no search has written; the message begins with its name."""


def array(state, name, shape=None, kinds="f", least=-math.inf, most=math.inf, nan=False):
    """
    Return an entry as an array.

    Parameters
    ----------
    state : mapping from names to arrays
    name : str
    shape : tuple, optional
        None in it stands for any length; by default any shape.
    kinds : str
        Kinds of dtype that pass: of "biuf".
    least, most : float
        Of each number.
    nan : bool
        Whether NaN passes, whatever the range.

    Raises
    ------
    EntryError
        If it is missing, or another one; the message names it.
    """
    if name not in state:
        raise EntryError(f"{name} is missing")
    value = np.asarray(state[name])
    if value.dtype.kind not in kinds:
        wanted = " or ".join(KINDS[kind] for kind in kinds)
        raise EntryError(f"{name} must be {wanted}; it has dtype {value.dtype}")
    if shape is not None and (
        value.ndim != len(shape) or any(m not in (None, n) for m, n in zip(shape, value.shape, strict=True))
    ):
        raise EntryError(f"{name} must have shape {shape}; it has {value.shape}")
    within = (value >= least) & (value <= most)
    if not (within | np.isnan(value) if nan and value.dtype.kind == "f" else within).all():
        raise EntryError(f"{name} must lie between {least:g} and {most:g}")
    return value


def number(state, name, least=-math.inf, most=math.inf):
    """Return an entry that is one number, as a float; errors as of `array`."""
    return float(array(state, name, (), "iuf", least, most).item())


def count(state, name, least=0, most=LARGEST):
    """Return an entry that is one whole number, as an int; errors as of `array`."""
    return int(array(state, name, (), "iu", least, most).item())


def flag(state, name):
    """Return an entry that is one boolean; errors as of `array`."""
    return bool(array(state, name, (), "bi", 0, 1).item())


def ordered(name, low, high):
    """Check that these are the ends of boxes: `EntryError` naming `name`."""
    if not (low <= high).all():
        raise EntryError(f"{name} must have low <= high")


@contextlib.contextmanager
def owner(name):
    """While this context lasts a ValueError is of this owner's entries, which are named without it."""
    try:
        yield
    except EntryError as error:
        raise EntryError(f"{name}.{error}") from None
    except ValueError as error:
        raise EntryError(f"{name}: {error}") from None
