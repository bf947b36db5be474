"""Data that need not fit into memory: chunks of rows, one after another, as often as they are asked for."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from gopfast.annotations import FloatArray
from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures.data import readers
from gopfast.mixtures.data.tuning import MOST_LENGTHS, ROWS

AS_MANY = "sample_weight must have one entry for each row of X"


class Chunks:
    """
    Rows of a table, chunk by chunk; made by `gopfast.data.chunks`.

    Parameters
    ----------
    factory : callable
        Returns an iterable of arrays of shape (m, n_columns), or (m,) where there is one column: the same rows in the
        same order each time.
    n_columns : int
    names : sequence of str
        Of the columns, where they have names.
    rows : reader of `gopfast.mixtures.data.readers`, optional
        How workers read a part; by default they call the factory.
    """

    n_rows = lengths = None  # of all rows, and of chunks that come as a sequence: known after the first pass

    def __init__(
        self,
        factory: Callable[[], Iterable[ArrayLike]],
        n_columns: int,
        names: Iterable[str] = (),
        rows: object = None,
    ) -> None:
        self.factory, self.n_columns, self.names, self.rows = factory, n_columns, tuple(names), rows

    def __repr__(self) -> str:
        """Return the number of columns: nothing has been read."""
        return f"Chunks(n_columns={self.n_columns})"

    def __iter__(self) -> Iterator[FloatArray]:
        """Yield arrays of float64, shape (m, n_columns), m at most ROWS; the next one takes the place of the last."""
        block, size, made, lengths, n_rows = np.empty((ROWS, self.n_columns)), 0, self.factory(), [], 0
        for chunk in made:
            array = self._checked(np.asanyarray(chunk))
            first, n_rows = 0, n_rows + len(array)
            if len(lengths) <= MOST_LENGTHS:
                lengths.append(len(array))
            while first < len(array):
                part = array[first : first + ROWS - size]
                block[size : size + len(part)] = part
                first, size = first + len(part), size + len(part)
                if size == ROWS:
                    yield block
                    size = 0
        if size:
            yield block[:size]
        is_sequence = readers.is_sequence(made) and len(made) == len(lengths) <= MOST_LENGTHS
        self.n_rows, self.lengths = n_rows, lengths if is_sequence else None

    def forget(self) -> None:
        """Count the rows anew: since the last solve there may be more."""
        self.n_rows = self.lengths = None

    def reader(self) -> object:
        """Return how workers read a part of the rows; None before the first pass over what a factory makes."""
        if self.rows is None and self.n_rows is not None:
            return readers.FactoryRows(self.factory, self.n_rows, self.lengths)
        return self.rows

    def _checked(self, array):
        """Return a chunk as (m, n_columns), of any type of real numbers."""
        if array.dtype.kind not in "iuf":
            raise InputTypeError(f"X must hold real numbers; a chunk has dtype {array.dtype}")
        if np.ma.isMaskedArray(array) and np.ma.getmaskarray(array).any():
            raise InputError("X must not have masked entries")
        if array.ndim == 1 and self.n_columns == 1:
            array = array[:, np.newaxis]
        if array.ndim != 2 or array.shape[1] != self.n_columns:
            raise InputError(f"X must have chunks of shape (m, {self.n_columns}); got {array.shape}")
        return array


def weighted(rows, weights=None):
    """
    Yield blocks of rows (m, d) and their weights (m,), without rows of weight 0.

    Parameters
    ----------
    rows : Chunks
    weights : Chunks or None
        One column, as many rows; in chunks of any size. None: 1 each.
    """
    if weights is None:
        ones = np.ones(ROWS)
        for block in rows:
            yield block, ones[: len(block)]
        return
    own, other = iter(rows), iter(weights)
    while True:
        block, weight = next(own, None), next(other, None)
        if block is None and weight is None:
            return
        if block is None or weight is None or len(block) != len(weight):
            raise InputError(AS_MANY)
        weight = weight[:, 0]
        if not (weight >= 0.0).all() or np.isinf(weight).any():
            raise InputError("sample_weight must be finite and at least 0")
        used = weight > 0.0
        if used.all():
            yield block, weight
        elif used.any():
            yield block[used], weight[used]


def of_array(array, name="X"):
    """
    Make chunks of an array or a memory map, which is not copied as a whole.

    Parameters
    ----------
    array : ndarray, shape (n,) or (n, d)
    name : str
        Of the argument.
    """
    if array.ndim not in (1, 2):
        raise InputError(f"{name} must have shape (n,) or (n, d); got {array.ndim} dimensions")
    return Chunks(lambda: (array,), 1 if array.ndim == 1 else array.shape[1], rows=readers.of_array(array))


def of_dask(array, name="X"):
    """Make chunks of a ``dask.array``: its blocks of rows, computed one after another."""
    if array.ndim not in (1, 2):
        raise InputError(f"{name} must have shape (n,) or (n, d); got {array.ndim} dimensions")
    if array.ndim == 2:
        array = array.rechunk({1: -1})
    columns = 1 if array.ndim == 1 else array.shape[1]

    def blocks():
        for block in readers.blocks_of(array):
            yield block.compute()

    # of a length that nobody knows parts cannot be told
    rows = readers.DaskRows(array) if isinstance(array.shape[0], int) else readers.InOrder("of unknown length")
    return Chunks(blocks, columns, rows=rows)


def of(X, name="X"):
    """Make chunks of whatever holds rows: `Chunks`, a ``dask.array``, or an array that may be memory-mapped."""
    if isinstance(X, Chunks):
        return X
    if hasattr(X, "dask") and hasattr(X, "blocks"):
        return of_dask(X, name)
    array = np.asanyarray(X)
    if array.dtype.kind not in "iuf":
        raise InputTypeError(f"{name} must be an array of real numbers, or gopfast.data.chunks; got {type(X).__name__}")
    return of_array(array, name)
