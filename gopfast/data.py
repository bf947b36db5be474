"""
Data larger than memory.

>>> import numpy as np, gopfast
>>> X = np.concatenate([np.random.default_rng(0).normal(m, 1.0, 20_000) for m in (0.0, 4.0)]).astype(np.float32)
>>> rows = gopfast.data.chunks(lambda: np.array_split(X, 7), 1)
>>> problem = gopfast.data.LargeGaussianMixture(rows, 2, covariance="known")
>>> gopfast.solve(problem, log=False).success
True
"""

import hashlib
import importlib
import os
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from gopfast import checks
from gopfast.annotations import Path
from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures.data import readers
from gopfast.mixtures.data.chunks import Chunks
from gopfast.mixtures.data.tuning import ROWS
from gopfast.mixtures.problems.large import LargeGaussianMixture
from gopfast.tuning import EDGE

__all__ = ["Chunks", "LargeGaussianMixture", "chunks", "csv", "parquet"]


def chunks(factory: Callable[[], Iterable[ArrayLike]], n_columns: int = 1) -> Chunks:
    """
    Tell where rows come from that need not fit into memory.

    Parameters
    ----------
    factory : callable
        Returns an iterable of arrays of shape (m, n_columns), or (m,) where there is one column. It is called for each
        pass over the data, of which a solve makes about six, and must give the same rows in the same order.
        With an `executor` the workers of `gopfast.solve` call it too, if it can be pickled: a function of a module, or
        `functools.partial` of one. Where it returns a sequence (``len`` and ``[i]``, as of a list) each worker asks
        for its own chunks alone; otherwise for all that come before them, too.
    n_columns : int

    Returns
    -------
    Chunks

    Raises
    ------
    InputTypeError
        If `factory` is not callable.

    See Also
    --------
    parquet, csv : chunks of files.
    """
    if not callable(factory):
        raise InputTypeError(f"factory must be callable; got {type(factory).__name__}")
    return Chunks(factory, checks.whole_number("n_columns", n_columns, 1))


def parquet(path: Path, columns: Sequence[str] | None = None) -> Chunks:
    """
    Take rows from a Parquet file, some at a time; needs pyarrow (``pip install 'gopfast[arrow]'``).

    Parameters
    ----------
    path : str or path-like
    columns : sequence of str, optional
        Names of columns; all by default.

    Returns
    -------
    Chunks

    Raises
    ------
    InputError
        If the file cannot be read, lacks a column, or one holds no numbers.
    """
    path, types = checks.path("path", path), _pyarrow("pyarrow.types")
    schema = _parquet_file(path).schema_arrow
    names = _chosen(path, schema.names, columns)
    for name in names:
        kind = schema.field(name).type
        if not (types.is_integer(kind) or types.is_floating(kind)):
            raise InputError(f"{path}: column {name!r} holds no numbers but {kind}; see `columns`")

    rows = ParquetRows(path, names)
    return Chunks(rows.all, len(names), names, rows)


def csv(path: Path, columns: Sequence[str] | None = None, separator: str = ",") -> Chunks:
    """
    Take rows from a CSV file with a header, some at a time; needs pyarrow (``pip install 'gopfast[arrow]'``).

    Parameters
    ----------
    path : str or path-like
        Also compressed, as far as pyarrow reads it.
    columns : sequence of str, optional
        Names of columns; all by default.
    separator : str

    Returns
    -------
    Chunks

    Raises
    ------
    InputError
        If the file cannot be read, lacks a column, or has what is no number; the latter when it is read.
    """
    path, arrow, module = checks.path("path", path), _pyarrow("pyarrow"), _pyarrow("pyarrow.csv")
    parsing = module.ParseOptions(delimiter=separator)
    names = _chosen(path, _opened(path, lambda: module.open_csv(path, parse_options=parsing).schema.names), columns)
    wanted = module.ConvertOptions(
        include_columns=names, column_types=dict.fromkeys(names, arrow.float64()), strings_can_be_null=True
    )

    def batches():
        try:
            for batch in module.open_csv(path, parse_options=parsing, convert_options=wanted):
                yield _matrix(batch, names)
        except arrow.ArrowInvalid as error:
            raise InputError(f"{path}: {error}") from None

    rows = readers.InOrder("a CSV file, which is read from its first line on; a Parquet file has parts")
    return Chunks(batches, len(names), names, rows)


class ParquetRows:
    """
    Rows of a Parquet file, which are read by groups: what workers open for themselves.

    Parameters
    ----------
    path : str
    names : list of str
        Of the columns.
    """

    apart, in_order = None, False

    def __init__(self, path, names):
        self.path, self.names = path, names

    @property
    def n_rows(self):
        """Rows of the file as it is now."""
        return parquet_rows(self.path)

    def all(self):
        """Yield all rows."""
        return self.read(0, self.n_rows)

    def read(self, first, last):
        """Yield the rows of a range."""
        if first >= last:
            return
        file = _parquet_file(self.path)
        ends = np.cumsum([file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)])
        groups = range(*np.searchsorted(ends, [first, last - 1], side="right") + [0, 1])
        begin = int(ends[groups.start - 1]) if groups.start else 0
        for batch in file.iter_batches(ROWS, row_groups=list(groups), columns=self.names):
            end = begin + batch.num_rows
            if end > first and begin < last:
                yield _matrix(batch, self.names)[max(0, first - begin) : last - begin]
            begin = end

    def mark(self, first, last):
        """Return what tells the file from others: its size and its end, which has the range of each group."""
        with open(self.path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - EDGE))
            return hashlib.sha256(str(size).encode() + file.read()).digest()


def parquet_names(path: Path) -> list[str]:
    """Return the names of a Parquet file's columns; raises as `parquet`."""
    return list(_parquet_file(checks.path("path", path)).schema_arrow.names)


def parquet_rows(path: Path) -> int:
    """Return the number of a Parquet file's rows; raises as `parquet`."""
    return int(_parquet_file(checks.path("path", path)).metadata.num_rows)


def _parquet_file(path):
    module = _pyarrow("pyarrow.parquet")
    return _opened(path, lambda: module.ParquetFile(path))


def _pyarrow(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"gopfast.data needs {name}: pip install 'gopfast[arrow]'") from error


def _opened(path, make):
    """Return what opening a file gives."""
    try:
        return make()
    except (OSError, ValueError) as error:  # an ArrowInvalid is a ValueError
        raise InputError(f"{path}: {str(error).splitlines()[0]}") from None


def _chosen(path, names, columns):
    """Return the columns asked for, once they are known to be there."""
    if columns is None:
        return list(names)
    columns = [columns] if isinstance(columns, str) else list(columns)
    missing = [name for name in columns if name not in names]
    if missing or not columns:
        raise InputError(f"columns must be of {', '.join(map(repr, names))}; got {', '.join(map(repr, missing))}")
    return columns


def _matrix(batch, names):
    """Return the rows of a batch as an array (m, d); NaN where a value is missing."""
    return np.column_stack([batch.column(name).to_numpy(zero_copy_only=False) for name in names])
