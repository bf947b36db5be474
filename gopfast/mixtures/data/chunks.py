"""Data that need not fit into memory: chunks of rows, one after another, as often as they are asked for."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from gopfast.annotations import FloatArray
from gopfast.errors import InputError, InputTypeError

ROWS = 1_000_000  # of a chunk of an array


class Chunks:
    """
    Rows of a table, chunk by chunk; made by `gopfast.data.chunks`.

    Parameters
    ----------
    factory : callable
        Returns an iterable of arrays of shape (m, n_columns), or (m,) where there is one column: the same rows in the
        same order each time.
    n_columns : int
    """

    def __init__(self, factory: Callable[[], Iterable[ArrayLike]], n_columns: int) -> None:
        self.factory, self.n_columns = factory, n_columns

    def __iter__(self) -> Iterator[FloatArray]:
        """Yield arrays of float64, shape (m, n_columns)."""
        for chunk in self.factory():
            array = np.asarray(chunk)
            if array.dtype.kind not in "iuf":
                raise InputTypeError(f"X must hold real numbers; a chunk has dtype {array.dtype}")
            array = array.astype(np.float64)
            if array.ndim == 1 and self.n_columns == 1:
                array = array[:, np.newaxis]
            if array.ndim != 2 or array.shape[1] != self.n_columns:
                raise InputError(f"X must have chunks of shape (m, {self.n_columns}); got {array.shape}")
            if len(array):
                yield array


def of_array(array):
    """
    Make chunks of an array or a memory map, which is not copied as a whole.

    Parameters
    ----------
    array : ndarray, shape (n,) or (n, d)
    """
    if array.ndim not in (1, 2):
        raise InputError(f"X must have shape (n,) or (n, d); got {array.ndim} dimensions")
    columns = 1 if array.ndim == 1 else array.shape[1]

    def rows():
        for first in range(0, len(array), ROWS):
            yield array[first : first + ROWS]

    return Chunks(rows, columns)


def of_dask(array):
    """Make chunks of a ``dask.array``: its blocks of rows, computed one after another."""
    if array.ndim == 2:
        array = array.rechunk({1: -1})
    columns = 1 if array.ndim == 1 else array.shape[1]

    def blocks():
        for block in array.blocks.ravel() if array.ndim == 1 else array.blocks[:, 0].ravel():
            yield block.compute()

    return Chunks(blocks, columns)


def of(X):
    """Make chunks of whatever holds rows: `Chunks`, a ``dask.array``, or an array that may be memory-mapped."""
    if isinstance(X, Chunks):
        return X
    if hasattr(X, "dask") and hasattr(X, "blocks"):
        return of_dask(X)
    array = np.asanyarray(X)
    if array.dtype.kind not in "iuf":
        raise InputTypeError(f"X must be an array of real numbers, or gopfast.data.chunks; got {type(X).__name__}")
    return of_array(array)
