"""Reads numbers from CSV files, with errors that name file and line."""

from typing import NamedTuple

import numpy as np

from gopfast.errors import InputError
from gopfast.reading.header import header
from gopfast.reading.numbers import is_numeric, is_text, numbers as parsed, value as parsed_value
from gopfast.reading.rows import NAMES, SEPARATORS, rows
from gopfast.reading.text import naming, read_lines
from gopfast.reading.tuning import LEAST_COUNTED, MAX_NAMES_SHOWN

ON_MISSING = "fill it in, or leave such lines out with --na drop"


class Table(NamedTuple):
    """
    Columns of a file.

    Attributes
    ----------
    data : ndarray, shape (n, d), or Chunks
    columns : tuple of str
        Their names.
    n_dropped : int
        Lines left out because a value was missing.
    details : tuple of str
        How the file was read, where that is not plain.
    counters : tuple of str
        Columns that only count the rows.
    n_rows : int or None
        Of `Chunks`; None: the data are in memory.
    """

    data: np.ndarray
    columns: tuple[str, ...]
    n_dropped: int = 0
    details: tuple[str, ...] = ()
    counters: tuple[str, ...] = ()
    n_rows: int | None = None

    @property
    def n_samples(self):
        """Number of rows."""
        return len(self.data) if self.n_rows is None else self.n_rows


def read(path, columns=None, *, separator=None, decimal=".", header=None, na="refuse") -> Table:
    """
    Read columns of numbers from a CSV file as pandas or R would, or refuse it where they may differ.

    Parameters
    ----------
    path : str or path-like
        A text file in UTF-8, in UTF-16 or UTF-32 with a byte-order mark, or in Latin-1; ``-`` for the standard
        input. Blank lines at the end and lines that begin with ``#`` are left out. A first field without a name in
        the header, or one more field than the header has, is the name of a row and no column.
    columns : sequence of str, optional
        Names of columns, or their places counted from 1; all by default.
    separator : str, optional
        A character; a blank stands for any run of blanks and tabs. By default the one of comma, semicolon, tab,
        ``|`` and blanks that fits every line.
    decimal : {".", ","}
        What marks decimals.
    header : bool, optional
        Whether the first row has names; by default, if none of its fields is a number.
    na : {"refuse", "drop"}
        What is done with rows where a value of these columns is missing.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        If the file cannot be read, can be read in two ways, has no data, or has something else than finite numbers
        in these columns; the message names file and line.
    """
    lines = read_lines(path)
    with naming(path):
        return _read(lines, columns, separator, decimal, header, na)


def _read(lines, columns, separator, decimal, given, na):
    found = rows(lines, separator, decimal)
    top = header(found, lines, given, decimal, told=separator is not None)
    places = places_of(top, columns)
    if found.width == 1 and found.blank and na == "refuse":
        raise InputError(f"line {found.blank[0]}: empty, so that a value is missing; {ON_MISSING}")
    fields, numbers = found.fields[top.is_first_row :], found.lines[top.is_first_row :]
    shift = int(top.has_row_names)
    data = np.empty((len(fields), len(places)))
    for j, place in enumerate(places):
        column = [row[place + shift] for row in fields]
        values = parsed(column, decimal)
        data[:, j] = _checked(column, numbers, top, place, fields, decimal) if values is None else values
    missing = np.isnan(data)
    if na == "refuse" and missing.any():
        i, j = np.argwhere(missing)[0]
        raise InputError(f"line {numbers[i]}, column {top.names[places[j]]!r}: the value is missing; {ON_MISSING}")
    kept = data[~missing.any(axis=1)]
    if not len(kept):
        raise InputError("no row has all its values")
    n_blank = len(found.blank) if found.width == 1 else 0
    names = tuple(top.names[place] for place in places)
    n_dropped = len(data) - len(kept) + n_blank
    details = details_of(found, top, decimal, n_dropped)
    return Table(kept, names, n_dropped, details, _counters(data, names))


def places_of(top, columns):
    """Places of the columns asked for, from 0."""
    names = top.names
    if columns is None:
        return list(range(len(names)))
    places = []
    for column in columns:
        if top.is_first_row and names.count(column) > 1:
            raise InputError(f"several columns are called {column!r}; give its place, counted from 1")
        if top.is_first_row and column in names:
            places.append(names.index(column))
        elif column.isascii() and column.isdecimal() and 1 <= int(column[:9]) <= len(names):
            if top.has_row_names:
                raise InputError(
                    f"lines begin with names of rows, so that place {column} is not clear; choose columns by name"
                )
            places.append(int(column) - 1)
        else:
            known = _listed(names) if top.is_first_row else f"1 to {len(names)} (it has no header)"
            raise InputError(f"there is no column {column!r}; its columns are {known}")
    if len(set(places)) < len(places):
        raise InputError(f"a column is asked for twice in {', '.join(columns)}")
    return places


def _checked(column, numbers, top, place, fields, decimal):
    """Return the values of a column, NaN where they are missing; refuse what is no number."""
    shift = int(top.has_row_names)
    advice, values = None, np.empty(len(column))
    for i, (field, line) in enumerate(zip(column, numbers, strict=True)):
        if advice is None and is_text(field, decimal):
            good = [
                _argument(top, other)
                for other in range(len(top.names))
                if is_numeric([row[other + shift] for row in fields], decimal)
            ]
            advice = "correct it"
            if good:
                known = _quoted(",".join(good)) if len(good) <= MAX_NAMES_SHOWN else "..."
                advice = f"correct it, or choose columns of numbers: --columns {known}"
        values[i] = parsed_value(field, f"line {line}, column {top.names[place]!r}", decimal, advice)
    return values


def _argument(top, place):
    """Return what --columns calls a column."""
    name = top.names[place]
    if top.names.count(name) > 1 and not top.has_row_names:
        return str(place + 1)
    return f'"{name}"' if "," in name else name


def _quoted(text):
    """Quote an argument for a shell, if it needs that."""
    return text if all(c.isalnum() or c in ",._-+" for c in text) else "'" + text.replace("'", "'\\''") + "'"


def _listed(names):
    more = len(names) - MAX_NAMES_SHOWN
    return ", ".join(names[:MAX_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def details_of(found, top, decimal, n_dropped):
    """Say how a file was read, where it is not a plain one with commas and a header."""
    details = []
    if found.separator in SEPARATORS[1:]:
        details.append(f"separated by {NAMES[found.separator]}")
    if decimal == ",":
        details.append("decimal commas")
    if not top.is_first_row:
        details.append("no header")
    if top.has_row_names:
        details.append("names of rows left out")
    if n_dropped:
        details.append(f"{n_dropped} line{'s' if n_dropped > 1 else ''} with missing values left out")
    return tuple(details)


def _counters(data, names):
    """Names of columns that only count the rows, where there are others."""
    if len(data) < LEAST_COUNTED or len(names) < 2:
        return ()
    count = np.arange(len(data))
    return tuple(
        name for name, column in zip(names, data.T, strict=True)
        if column[0] in (0.0, 1.0) and np.array_equal(column - column[0], count)
    )  # fmt: skip
