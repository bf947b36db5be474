"""What a field of a CSV file stands for: a number, a missing value or text."""

import math
import re

import numpy as np

from gopfast.errors import InputError
from gopfast.reading.tuning import LONGEST_SHOWN

# Without case; "." is SAS's and Stata's, "?" the UCI repository's, the others are those of R and pandas.
MISSING = frozenset(
    ("", ".", "?", "na", "n/a", "#na", "#n/a", "#n/a n/a", "<na>", "nan", "-nan", "null", "none", "nil",
     "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan")
)  # fmt: skip
# float() takes more than R and pandas do: 1_000, inf, digits of other scripts.
CHARACTERS = {mark: re.compile(rf"[0-9eE+\-{mark} ]*") for mark in ".,"}
INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
GROUPED = re.compile(r"[+-]?[0-9]{1,3}(([,.' \u00a0\u202f])[0-9]{3})(\2[0-9]{3})*([.,][0-9]+)?")
INTEGER = re.compile(r"[0-9]+")


def number(field, decimal="."):
    """Return the float that a field stands for, or None; ``inf`` is none, but 1e400 is infinite."""
    if CHARACTERS[decimal].fullmatch(field) is None:
        return None
    try:
        return float(field.replace(",", "."))
    except ValueError:
        return None


def numbers(fields, decimal="."):
    """Return the numbers (n,) that n fields stand for, or None if one of them is no finite number."""
    if CHARACTERS[decimal].fullmatch(" ".join(fields)) is None:
        return None
    try:
        pointed = fields if decimal == "." else [field.replace(",", ".") for field in fields]
        values = np.fromiter(map(float, pointed), float, len(fields))
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def has_text(fields, decimal=".") -> bool:
    """Whether a field is neither a number nor missing; what has only characters of numbers, as 1-2, is no text."""
    if " " not in (joint := "".join(fields)) and CHARACTERS[decimal].fullmatch(joint):
        return False
    return any(is_text(field, decimal) for field in fields)


def is_missing(field) -> bool:
    """Whether a field is empty or says that there is no value."""
    return field.strip().lower() in MISSING


def is_text(field, decimal=".") -> bool:
    """Whether a field is neither a number nor a missing value."""
    return not (is_missing(field) or INFINITE.fullmatch(field.strip()) or number(field, decimal) is not None)


def is_numeric(fields, decimals=".") -> bool:
    """Whether fields are numbers or missing values, with one of these decimal marks, and one is a number."""
    for decimal in decimals:
        if numbers(fields, decimal) is not None:
            return bool(fields)
        known = [field for field in fields if not is_missing(field)]
        if known and numbers(known, decimal) is not None:
            return True
    return False


def value(field, where, decimal, advice):
    """
    Return the number that a field stands for, NaN if it is missing.

    Parameters
    ----------
    field : str
    where : str
        File, line and column, for the message.
    decimal : {".", ","}
    advice : str
        What to do about text.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If it is neither a finite number nor missing.
    """
    if is_missing(field):
        return math.nan
    found = number(field, decimal)
    quoted = repr(field if len(field) <= LONGEST_SHOWN else field[: LONGEST_SHOWN - 3] + "...")
    if found is not None and math.isfinite(found):
        return found
    if found is not None:
        raise InputError(f"{where}: {quoted} is too large for double precision")
    if INFINITE.fullmatch(field.strip()):
        raise InputError(f"{where}: {quoted} is not finite")
    other = "." if decimal == "," else ","
    if number(field, other) is not None:
        advice = "for decimal commas: --decimal ," if other == "," else "it has a point where --decimal says comma"
    if GROUPED.fullmatch(field.strip()):
        advice += "; thousands must not be separated"
    raise InputError(f"{where}: {quoted} is not a number; {advice}")
