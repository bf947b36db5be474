"""Reads labels, alone or beside numbers, from CSV files: answers, codes and categories, some of them missing."""

import numpy as np

from gopfast.errors import InputError
from gopfast.reading.header import header
from gopfast.reading.numbers import is_missing, numbers
from gopfast.reading.rows import rows
from gopfast.reading.table import Table, details_of, places_of
from gopfast.reading.text import naming, read_lines


def read_labels(path, columns=None, *, separator=None, decimal=".", header=None, na="keep", whole=True) -> Table:
    """
    Read columns of labels from a CSV file.

    Parameters
    ----------
    path, columns, separator, decimal, header
        As of `gopfast.reading.table.read`.
    na : {"keep", "drop"}
        What is done with rows where an entry of these columns is missing: it is None, or they are left out.
    whole : bool
        Whether numbers are codes, that is, whole: one that is not makes its column text. False: they may be any.

    Returns
    -------
    Table
        Its data are objects: None where an entry is missing; floats in columns that have nothing but (whole) numbers;
        else text.

    Raises
    ------
    InputError
        If the file cannot be read, can be read in two ways, or has no data; the message names file and line.
    """
    lines = read_lines(path)
    with naming(path):
        return _read(lines, columns, separator, decimal, header, na, whole)


def _read(lines, columns, separator, decimal, given, na, whole):
    found = rows(lines, separator, decimal)
    top = header(found, lines, given, decimal, told=separator is not None)
    places, shift = places_of(top, columns), int(top.has_row_names)
    fields = found.fields[top.is_first_row :]
    data = np.empty((len(fields), len(places)), dtype=object)
    for j, place in enumerate(places):
        data[:, j] = _labels([row[place + shift].strip() for row in fields], decimal, whole)
    missing = np.equal(data, None).any(axis=1)
    kept = data[~missing] if na == "drop" else data
    if not len(kept):
        raise InputError("no row has all its values")
    names = tuple(top.names[place] for place in places)
    n_dropped = len(data) - len(kept)
    return Table(kept, names, n_dropped, details_of(found, top, decimal, n_dropped))


def _labels(fields, decimal, whole):
    """Return the entries of a column: (whole) numbers if all are, else text; None where one is missing."""
    known = [field for field in fields if not is_missing(field)]
    values = numbers(known, decimal) if known else None
    if values is None or whole and not (values == np.rint(values)).all():
        return [None if is_missing(field) else field for field in fields]
    entries = iter(values.tolist())
    return [None if is_missing(field) else next(entries) for field in fields]
