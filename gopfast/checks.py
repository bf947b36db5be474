"""Checks of arguments: each returns the value in the form the package uses, or raises naming the argument."""

import math
import numbers
import os
import re

import numpy as np

from gopfast.errors import InputError, InputTypeError
from gopfast.tuning import SIMPLEX_TOL

MEMORY_UNITS = {None: 1.0, **{f"{prefix}{i}": (1024.0 if i else 1000.0) ** power
                              for power, prefix in enumerate("kMGT", 1) for i in ("", "i")}}  # fmt: skip


def real_number(name, value, *, wanted="a real number"):
    """
    Turn a Python or NumPy real number into a float.

    Parameters
    ----------
    name : str
        Name of the argument, for the message.
    value : object
        A real number; booleans do not count as numbers. Infinities pass, NaN does not.
    wanted : str
        What the message says was wanted.

    Returns
    -------
    float

    Raises
    ------
    InputTypeError
        If `value` is not a number.
    InputError
        If `value` is NaN or too large for a float.
    """
    value = _scalar(value)
    if not isinstance(value, numbers.Real) or isinstance(value, (bool, np.bool_)):
        raise InputTypeError(f"{name} must be {wanted}; got {_shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.nan
    if math.isnan(number):
        raise InputError(f"{name} must be {wanted}; got {_shown(value)}")
    return number


def positive_number(name, value):
    """Turn `value` into a float greater than zero and finite; errors as `real_number`."""
    wanted = "a positive finite number"
    number = real_number(name, value, wanted=wanted)
    if not 0.0 < number < math.inf:
        raise InputError(f"{name} must be {wanted}; got {_shown(value)}")
    return number


def nonnegative_number(name, value, *, infinite=False):
    """Turn `value` into a float of at least zero, finite unless `infinite`; errors as `real_number`."""
    wanted = "a number of at least 0" if infinite else "a finite number of at least 0"
    number = real_number(name, value, wanted=wanted)
    if number < 0.0 or (number == math.inf and not infinite):
        raise InputError(f"{name} must be {wanted}; got {_shown(value)}")
    return number


def number_of_at_least_one(name, value):
    """Turn `value` into a finite float of at least 1; errors as `real_number`."""
    wanted = "a finite number of at least 1"
    number = real_number(name, value, wanted=wanted)
    if not 1.0 <= number < math.inf:
        raise InputError(f"{name} must be {wanted}; got {_shown(value)}")
    return number


def whole_number(name, value, low, high=None):
    """
    Turn a Python or NumPy integer into an int within ``low <= value <= high``.

    Raises
    ------
    InputTypeError
        If `value` is not an integer (booleans and floats such as 2.0 are not).
    InputError
        If `value` is out of range.
    """
    wanted = f"an integer of at least {low}" if high is None else f"an integer from {low} to {high}"
    value = _scalar(value)
    if not isinstance(value, numbers.Integral) or isinstance(value, (bool, np.bool_)):
        raise InputTypeError(f"{name} must be {wanted}; got {_shown(value)}")
    number = int(value)
    if number < low or (high is not None and number > high):
        raise InputError(f"{name} must be {wanted}; got {number}")
    return number


def memory_size(name, value):
    """Turn bytes, or text such as "4GB" or "512 MiB", into a float of at least 1; errors as `real_number`."""
    if not isinstance(value, str):
        return number_of_at_least_one(name, value)
    found = re.fullmatch(r"\s*([0-9.]+)\s*([kMGT]i?)?B?\s*", value)
    try:
        size = float(found[1]) * MEMORY_UNITS[found[2]]
    except (TypeError, ValueError):
        raise InputError(f"{name} must be bytes or text such as '4GB'; got {_shown(value)}") from None
    return number_of_at_least_one(name, size)


def path(name, value):
    """Return a path as text; `InputTypeError` if it is none."""
    try:
        return os.fsdecode(os.fspath(value))
    except TypeError:
        raise InputTypeError(f"{name} must be a path or None; got {type(value).__name__}") from None


def writable(name, value):
    """Return the path of a file that can be written, as text; `InputError` otherwise."""
    file = path(name, value)
    folder = os.path.dirname(os.path.abspath(file))
    if os.path.isdir(file) or not os.access(file if os.path.exists(file) else folder, os.W_OK):
        raise InputError(f"{name}: {file!r} cannot be written")
    return file


def choice(name, value, allowed):
    """Return `value` if it is one of the strings (or None) in `allowed`; raise `InputError` otherwise."""
    # A comparison with an array would give an array, so only these two kinds are compared.
    if (value is None or isinstance(value, str)) and value in allowed:
        return allowed[allowed.index(value)]  # not a subclass of str, such as an entry of an array
    wanted = ", ".join(repr(item) for item in allowed)
    raise InputError(f"{name} must be one of {wanted}; got {_shown(value)}")


def real_array(name, value, *, booleans=False, if_missing=""):
    """
    Turn an array-like of real numbers into a new C-contiguous float64 array of the same shape.

    Parameters
    ----------
    name : str
        Name of the argument, for the message.
    value : array_like
        Integers or floats: lists, arrays, data frames, whatever `numpy.asarray` takes; of objects those of pandas that
        are all numbers, as nullable columns are.
    booleans : bool
        Whether booleans pass, as 0 and 1.
    if_missing : str
        What the message adds where an entry is NaN.

    Returns
    -------
    ndarray of float64
        A copy that shares no memory with `value`.

    Raises
    ------
    InputTypeError
        If the entries are strings, objects, booleans or complex numbers, or the rows differ in length.
    InputError
        If an entry is masked, NaN or infinite.
    """
    if type(value) is np.ndarray and value.dtype == np.float64:
        array = np.array(value, order="C")
        if np.isfinite(array).all():
            return array
    # np.asarray would drop the mask and use whatever lies beneath it.
    if np.ma.isMaskedArray(value) and np.ma.getmaskarray(value).any():
        raise InputError(f"{name} must not have masked entries")
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise InputTypeError(f"{name} must be an array of real numbers; {error}") from None
    if array.dtype.kind == "O":
        array = _numbers_among(array, hasattr(value, "dtypes"))
    if array.dtype.kind not in ("biuf" if booleans else "iuf"):
        raise InputTypeError(f"{name} must be an array of real numbers; got {_kind_of(array, value)}")
    with np.errstate(over="ignore"):  # a long double may overflow: reported below
        array = np.array(array, dtype=np.float64, order="C", copy=True)
    if not np.isfinite(array).all():
        more = if_missing if np.isnan(array).any() else ""
        raise InputError(f"{name} must be finite; it has {_count_not_finite(array)}{more}")
    return array


def says_missing(entry):
    """Return whether an entry is None, NaN or pandas' NA or NaT."""
    if entry is None:
        return True
    try:
        return bool(entry != entry)
    except TypeError:  # pandas' NA has no truth value
        return True
    except ValueError:  # an array is no label; others say so
        return False


def of_columns(name, array, n_columns):
    """Return an array (m, d) if d is `n_columns`; raise `InputError` otherwise."""
    if array.shape[1] != n_columns:
        raise InputError(f"{name} must have {n_columns} column{'s' * (n_columns != 1)}; got {array.shape[1]}")
    return array


def column_names(value):
    """Return the names of a data frame's columns or of a series, a tuple of str; empty where there are none."""
    names = getattr(value, "columns", None)
    if names is None:
        name = getattr(value, "name", None)
        names = [name] if isinstance(name, str) else []
    try:
        return tuple(map(str, names))
    except TypeError:  # some other attribute of that name
        return ()


def positive_bounds(name, value):
    """Turn a pair ``(lower, upper)`` of positive finite numbers, lower <= upper, into a tuple of floats."""
    lower, upper = pair(name, value)
    lower = positive_number(f"{name}[0]", lower)
    upper = positive_number(f"{name}[1]", upper)
    if lower > upper:
        raise InputError(f"{name} must have lower <= upper; got ({lower:g}, {upper:g})")
    return lower, upper


def of_shape(name, array, shape):
    """Return `array` if it has this shape; raise `InputError` otherwise."""
    if array.shape != shape:
        raise InputError(f"{name} must have shape {shape}; got {array.shape}")
    return array


def at_least(name, array, low, high=math.inf):
    """Return `array` if its entries lie within ``low <= entry <= high``; raise `InputError` otherwise."""
    if array.min() < low:
        raise InputError(f"{name} must be at least {low:g}; its least entry is {array.min():g}")
    if high < math.inf and array.max() > high:
        raise InputError(f"{name} must be at most {high:g}; its greatest entry is {array.max():g}")
    return array


def sample_weight(value, n_samples, high):
    """Return weights of samples, shape (n,), from 0 to a number and not all 0; None: all are 1."""
    if value is None:
        return np.ones(n_samples)
    weight = of_shape("sample_weight", real_array("sample_weight", value), (n_samples,))
    weight = at_least("sample_weight", weight, 0.0, high)
    if not weight.any():
        raise InputError("sample_weight must not be all zero")
    return weight


def positive_array(name, array):
    """Return `array` if its entries are greater than 0; raise `InputError` otherwise."""
    if array.min() <= 0.0:
        raise InputError(f"{name} must be positive; its least entry is {array.min():g}")
    return array


def simplex(name, array):
    """Return `array` if its last axis holds probabilities that sum to 1; raise `InputError` otherwise."""
    error = np.abs(at_least(name, array, 0.0).sum(axis=-1) - 1.0).max()
    if error > SIMPLEX_TOL:
        raise InputError(f"{name} must sum to 1; off by {error:.3g}")
    return array


def data_matrix(name, value, *, booleans=False, if_missing=""):
    """Turn an array-like of shape (n,) or (n, d) into a float64 array of shape (n, d); errors as `real_array`."""
    return as_columns(name, real_array(name, value, booleans=booleans, if_missing=if_missing))


def as_columns(name, array):
    """Return an array of shape (n,) or (n, d) as (n, d), with n and d at least 1; `InputError` otherwise."""
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:
        raise InputError(f"{name} must have shape (n,) or (n, d); got {array.ndim} dimensions")
    if 0 in array.shape:
        raise InputError(f"{name} must have at least one row and one column; got shape {array.shape}")
    return array


def pair(name, value, wanted="(lower, upper)"):
    """Unpack a pair; `InputTypeError` if `value` is none."""
    try:
        first, second = value
    except (TypeError, ValueError):
        raise InputTypeError(f"{name} must be a pair {wanted}; got {_shown(value)}") from None
    return first, second


def _scalar(value):
    """Unpack a 0-d array."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _numbers_among(array, of_pandas=True):
    """
    Return objects as floats, the missing ones NaN, if they are numbers and no booleans; else as they are.

    Objects that are all numbers are of some other kind than they seem, unless they come from pandas.
    """
    entries = array.ravel().tolist()
    missing = [says_missing(entry) for entry in entries]
    known = [entry for entry, is_missing in zip(entries, missing, strict=True) if not is_missing]
    if not (of_pandas or any(missing)):
        return array
    if not known or not all(isinstance(entry, numbers.Real) and not isinstance(entry, bool) for entry in known):
        return array
    found = np.full(len(entries), np.nan)
    try:
        found[~np.array(missing)] = known
    except OverflowError:
        return array
    return found.reshape(array.shape)


def _kind_of(array, value):
    """Say what an array holds that are no numbers, of a data frame in which column."""
    if hasattr(value, "dtypes") and hasattr(value, "items"):
        for column, entries in value.items():
            if _numbers_among(np.asarray(entries, dtype=object)).dtype.kind == "O":
                return f"{entries.dtype} in column {column!r}"
    return f"dtype {array.dtype} from {type(value).__name__}"


def _count_not_finite(array):
    n_nan = int(np.isnan(array).sum())
    n_infinite = int(np.isinf(array).sum())
    return " and ".join(
        f"{count} {what}" for count, what in ((n_nan, "NaN"), (n_infinite, "infinite")) if count
    ) + " entries"


def _shown(value):
    """Return a short text for an arbitrary bad value."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
