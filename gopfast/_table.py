"""Reads numbers from CSV files, with errors that name file and line."""

import csv
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gopfast.errors import InputError

DELIMITERS = ",;\t"
MISSING = ("", "na", "n/a", "nan", "null", "none", "?")


class Table(NamedTuple):
    """Columns of a file: data (n, d) and the names of the columns."""

    data: np.ndarray
    columns: tuple[str, ...]


def read(path, columns=None) -> Table:
    """
    Read columns of numbers from a CSV file.

    Parameters
    ----------
    path : str or path-like
        UTF-8 text; commas, semicolons or tabs, whichever the first line has most of. The first line is a header
        if it has a field that is not a number.
    columns : sequence of str, optional
        Names of columns, or their places counted from 1; all by default.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        If the file cannot be read, has no data, or has something else than finite numbers in these columns; the
        message names file and line.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file in UTF-8") from None
    # No other kind of line end, unlike str.splitlines: a form feed is no end of a line of CSV.
    lines = text.rstrip().replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not lines[0].strip():
        raise InputError(f"{path}: " + ("line 1 is empty" if len(lines) > 1 else "the file is empty"))
    delimiter = max(DELIMITERS, key=lines[0].count)
    first = [field.strip() for field in next(csv.reader(lines[:1], delimiter=delimiter))]
    header = any(_number(field) is None and field.lower() not in MISSING for field in first)
    names = first if header else [str(place) for place in range(1, len(first) + 1)]
    places = _places(path, names, columns, header)
    rows = lines[1:] if header else lines
    if not rows:
        raise InputError(f"{path}: there is a header and no data")
    data = _parsed(rows, delimiter, places)
    if data is None:
        data = _parsed_slowly(path, rows, delimiter, places, names, 1 + header)
    return Table(data, tuple(names[place] for place in places))


def _places(path, names, columns, header):
    """Places of the columns asked for, from 0."""
    if columns is None:
        return list(range(len(names)))
    places = []
    for column in columns:
        if header and names.count(column) > 1:
            raise InputError(f"{path}: several columns are called {column!r}; give its place, counted from 1")
        if header and column in names:
            places.append(names.index(column))
        elif column.isdecimal() and 1 <= int(column) <= len(names):
            places.append(int(column) - 1)
        else:
            known = ", ".join(names) if header else f"1 to {len(names)} (it has no header)"
            raise InputError(f"{path}: there is no column {column!r}; its columns are {known}")
    if len(set(places)) < len(places):
        raise InputError(f"{path}: a column is asked for twice in {', '.join(columns)}")
    return places


def _parsed(rows, delimiter, places):
    """Parse by NumPy, fast; None if anything is amiss."""
    # It would skip empty lines and take rows that are too long.
    width = rows[0].count(delimiter)
    if '"' in rows[0] or any(row.count(delimiter) != width or not row for row in rows):
        return None
    try:
        data = np.loadtxt(rows, delimiter=delimiter, comments=None, usecols=places, ndmin=2)
    except ValueError:
        return None
    return data if np.isfinite(data).all() else None


def _parsed_slowly(path, rows, delimiter, places, names, first_line):
    """Parse row by row and say where it fails."""
    data = np.empty((len(rows), len(places)))
    # With its line ends, as a quoted field may run over several lines.
    n_rows, reader = 0, csv.reader((f"{row}\n" for row in rows), delimiter=delimiter)
    try:
        for row in reader:
            line = f"{path}, line {reader.line_num + first_line - 1}"
            if not row or (len(row) == 1 and not row[0].strip()):
                raise InputError(f"{line}: empty line, so that a value is missing")
            if len(row) != len(names):
                raise InputError(f"{line}: {len(row)} fields where the first line has {len(names)}")
            for j, place in enumerate(places):
                data[n_rows, j] = _value(row[place].strip(), f"{line}, column {names[place]!r}")
            n_rows += 1
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num + first_line - 1}: {error}") from None
    return data[:n_rows]


def _value(field, where):
    value = _number(field)
    if field.lower() in MISSING:
        raise InputError(f"{where}: the value is missing; remove the line or fill it in")
    if value is None:
        advice = "choose columns of numbers with --columns"
        if _number(field.replace(",", ".")) is not None:
            advice = "decimals are marked by a point, not by a comma"
        raise InputError(f"{where}: {field!r} is not a number; {advice}")
    if not math.isfinite(value):
        raise InputError(f"{where}: {field!r} is not finite")
    return value


def _number(field):
    """Return the float that a field stands for, or None."""
    # float() takes digits apart by underscores too, which no other reader of CSV does.
    try:
        return None if "_" in field else float(field)
    except ValueError:
        return None
