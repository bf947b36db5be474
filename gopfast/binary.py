"""Binary files of numbers as the command reads them: arrays of NumPy, Parquet files."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from gopfast import data
from gopfast.errors import InputError
from gopfast.mixtures.data.chunks import Chunks, of_array
from gopfast.mixtures.data.tuning import ROWS
from gopfast.reading.table import Table
from gopfast.tuning import MOST_IN_MEMORY

SUFFIXES = (".npy", ".parquet")


def read_binary(path: str, columns: Sequence[str] | None = None, in_chunks: bool = False) -> Table:
    """
    Read columns of a .npy or a .parquet file.

    Parameters
    ----------
    path : str
    columns : sequence of str, optional
        Names of columns, of an array x0, x1 and so on, or their places counted from 1; all by default.
    in_chunks : bool
        Whether more than MOST_IN_MEMORY rows may stay where they are: the table's data are then `Chunks`.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        If the file cannot be read, or has something else than finite numbers in these columns.
    """
    reading = _parquet if Path(path).suffix.lower() == ".parquet" else _array
    rows, names, n = reading(path, columns)
    if in_chunks and n > MOST_IN_MEMORY:
        return Table(rows, tuple(names), n_rows=n)
    whole = np.concatenate([np.empty((0, rows.n_columns)), *(block.copy() for block in rows)])
    if not len(whole):
        raise InputError(f"{path}: there are no rows")
    if not np.isfinite(whole).all():
        raise InputError(f"{path}: column {names[np.isfinite(whole).all(axis=0).argmin()]!r} has what is no number")
    return Table(whole, tuple(names))


def _array(path, columns):
    """Return rows, names and number of rows of an array."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except (ValueError, EOFError) as error:
        raise InputError(f"{path}: no array of NumPy; {error}") from None
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuf" or array.ndim not in (1, 2):
        raise InputError(f"{path}: must be an array of real numbers of shape (n,) or (n, d)")
    array = array[:, np.newaxis] if array.ndim == 1 else array
    names = [f"x{j}" for j in range(array.shape[1])] if array.shape[1] > 1 else ["x"]
    places = _places(path, names, columns)
    names, steps = [names[j] for j in places], set(np.diff(places))
    if len(steps) > 1 or 0 in steps:
        return Chunks(partial(_blocks, path, places), len(places), names), names, len(array)
    # a view of the file: workers open it for themselves
    step = steps.pop() if steps else 1
    end = places[-1] + step
    rows = of_array(array[:, places[0] : end if end >= 0 else None : step])
    return Chunks(rows.factory, len(places), names, rows.rows), names, len(array)


def _blocks(path, places):
    """Yield some columns of an array, some rows at a time."""
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    for first in range(0, len(array), ROWS):
        yield array[first : first + ROWS][:, places]


def _parquet(path, columns):
    """Return the same of a Parquet file."""
    known = data.parquet_names(path)
    rows = data.parquet(path, [known[j] for j in _places(path, known, columns)])
    return rows, list(rows.names), data.parquet_rows(path)


def _places(path, names, columns):
    """Return the places of columns, given by name or by place from 1."""
    places = []
    for column in names if columns is None else columns:
        if column in names:
            places.append(names.index(column))
        elif column.isdigit() and 1 <= int(column) <= len(names):
            places.append(int(column) - 1)
        else:
            raise InputError(f"{path}: there is no column {column!r}; there are {', '.join(names)}")
    return places
