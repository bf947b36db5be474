"""A table whose columns are of different kinds: numbers, counts, waiting times and labels, with missing entries."""

import numbers
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gopfast import checks
from gopfast.annotations import FloatArray
from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures.problems.categorical import MISSING, coded
from gopfast.mixtures.problems.exponential import LEAST

# What a column may hold, and the distribution that it has within a component.
KINDS = {
    "normal": "normal, of free variance",
    "poisson": "counts, Poisson",
    "exponential": "positive waiting times, exponential",
    "binary": "two labels",
    "categorical": "labels",
}
LABELS = ("binary", "categorical")


class Table(NamedTuple):
    """
    Columns as numbers.

    Attributes
    ----------
    X : ndarray, shape (n, d)
        Numbers, and of labels their codes; NaN where an entry is missing.
    kinds : tuple of str
        Of each column, of `KINDS`.
    categories : tuple of ndarray
        The labels of each column of labels, in the order of their codes.
    columns : tuple of str
        Names; empty where there are none.
    """

    X: FloatArray
    kinds: tuple[str, ...]
    categories: tuple[NDArray, ...]
    columns: tuple[str, ...]


def read(kinds, data, categories=None, whole=True) -> Table:
    """
    Read a table.

    Parameters
    ----------
    kinds : str, sequence of str, mapping of str to str, or None
        Of all columns, of each, or of those of a data frame that are taken, by name; None: `kind_of` each.
    data : array_like, shape (n,) or (n, d), or data frame
        None, NaN and pandas' NA are missing entries.
    categories : sequence of sequences, optional
        Labels of each column of labels; by default those found, sorted.
    whole : bool
        Whether every column needs an entry.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        If a column is not of its kind, or has no entry; the message names it.
    """
    table, kinds, names = _columns(kinds, data)
    kinds = tuple(checks.choice(_named("kinds", j, names), kind, tuple(KINDS)) for j, kind in enumerate(kinds))
    found, given = [], iter(_given(categories, kinds))
    out = np.empty(table.shape)
    for j, kind in enumerate(kinds):
        seen = ~np.array([checks.says_missing(entry) for entry in table[:, j]])
        name = _named("data", j, names)
        if whole and not seen.any():
            raise InputError(f"{name} must have an entry that is not missing")
        if kind in LABELS:
            labels, codes = coded(name, table[:, j], seen, next(given))
            if kind == "binary" and len(labels) > 2:
                raise InputError(f"{name} must hold two labels to be 'binary'; got {len(labels)}: use 'categorical'")
            found.append(labels)
            out[:, j] = np.where(codes == MISSING, np.nan, codes)
        else:
            out[:, j] = np.nan
            out[seen, j] = _of_kind(name, table[seen, j].tolist(), kind) if seen.any() else []
    return Table(out, kinds, tuple(found), names)


def kind_of(column) -> str:
    """
    Choose the kind of a column of objects (n,) by the types of its entries.

    Of truth values "binary", of other numbers "normal", of all else "categorical", or "binary" of at most two labels.
    """
    entries = [entry for entry in column.tolist() if not checks.says_missing(entry)]
    if all(isinstance(entry, (bool, np.bool_)) for entry in entries):
        return "binary"
    if all(isinstance(entry, numbers.Real) for entry in entries):
        return "normal"
    return "binary" if len(set(map(str, entries))) <= 2 else "categorical"


def _of_kind(name, entries, kind):
    """Check the entries of a column of numbers."""
    values = checks.real_array(name, entries, booleans=True)
    if kind == "poisson":
        broken = values[(values < 0.0) | (values != np.rint(values))]
        if len(broken):
            raise InputError(f"{name} must hold counts to be 'poisson', whole numbers of at least 0; got {broken[0]:g}")
    if kind == "exponential" and values.min() < LEAST:
        raise InputError(
            f"{name} must be at least {LEAST:g} to be 'exponential'; got {values.min():g}: a component on entries at 0 "
            "has an unbounded likelihood"
        )
    return values


def _columns(kinds, data):
    """Return a table of objects (n, d), a kind for each column, and names or ()."""
    if hasattr(kinds, "columns") or isinstance(kinds, np.ndarray):
        raise InputTypeError("kinds must come first and the data second: MixedMixture(kinds, data, n_components)")
    if kinds is None and isinstance(data, Mapping):
        kinds = dict.fromkeys(data)
    if isinstance(kinds, Mapping):
        if not kinds:
            raise InputError("kinds must name a column")
        if not hasattr(data, "columns") and not isinstance(data, Mapping):
            raise InputTypeError("kinds must be a sequence, one for each column, unless the data have names of columns")
        known = list(getattr(data, "columns", data))
        missing = [name for name in kinds if name not in known]
        if missing:
            raise InputError(f"kinds must name columns of the data; there is no {missing[0]!r}")
        parts = [np.asarray(data[name], dtype=object) for name in kinds]
        if len({part.shape for part in parts}) > 1 or parts[0].ndim != 1:
            raise InputError("data must have columns of one length")
        found = [kind or kind_of(part) for kind, part in zip(kinds.values(), parts, strict=True)]
        return np.stack(parts, axis=1), found, tuple(map(str, kinds))
    names = checks.column_names(data)
    try:
        table = checks.as_columns("data", np.asarray(data, dtype=object))
    except ValueError as error:
        raise InputTypeError(f"data must be a table; {error}") from None
    if kinds is None:
        kinds = [kind_of(column) for column in table.T]
    if isinstance(kinds, str):
        kinds = [kinds] * table.shape[1]
    if not isinstance(kinds, Sequence) or len(kinds) != table.shape[1]:
        raise InputTypeError(f"kinds must have one entry for each of the {table.shape[1]} columns of the data")
    return table, list(kinds), names


def _given(categories, kinds):
    """Return the labels that are given for each column of labels, or None."""
    n_labels = sum(kind in LABELS for kind in kinds)
    if categories is None:
        return [None] * n_labels
    if not isinstance(categories, (list, tuple)) or len(categories) != n_labels:
        raise InputTypeError(f"categories must be a list with one entry for each of the {n_labels} columns of labels")
    return categories


def _named(argument, j, names):
    """Return how a message names column j of an argument."""
    return f"{argument}[{names[j]!r}]" if names else f"{argument}[:, {j}]" if argument == "data" else f"{argument}[{j}]"
