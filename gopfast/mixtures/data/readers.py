"""Rows from the first to the last of a range: how workers open data for themselves, and which they cannot."""

import hashlib
import mmap
import os
from collections.abc import Sequence

import numpy as np

from gopfast.errors import InputError
from gopfast.mixtures.data.tuning import EDGE


class ArrayRows:
    """Rows of an array in memory: for workers that are threads."""

    apart = "in memory; a file of NumPy's that is memory-mapped is read by each worker for itself"
    in_order = False

    def __init__(self, array):
        self.array, self.n_rows = array, len(array)

    def read(self, first, last):
        """Yield the rows of a range."""
        yield self.array[first:last]

    def mark(self, first, last):
        """Return what tells the rows of a range from others, as bytes."""
        ends = self.array[first : min(first + EDGE, last)], self.array[max(first, last - EDGE) : last]
        return hashlib.sha256(b"".join(np.ascontiguousarray(end).tobytes() for end in ends)).digest()


class MappedRows(ArrayRows):
    """Rows of a memory-mapped file: what travels is its name, and where in it the array lies."""

    apart = None

    def __init__(self, array, offset):
        super().__init__(array)
        self.path, self.offset = os.fspath(array.filename), offset
        if array.mode != "r":
            array.flush()

    def __getstate__(self):
        """Return where the array is, without it."""
        array = self.array
        return self.path, self.offset, array.dtype, array.shape, array.strides

    def __setstate__(self, state):
        """Open the file."""
        self.path, self.offset, dtype, shape, strides = state
        self.array = np.ndarray(shape, dtype, np.memmap(self.path, np.uint8, "r"), self.offset, strides)
        self.n_rows = len(self.array)


class DaskRows:
    """Rows of a ``dask.array``, computed where they are wanted."""

    apart, in_order = None, False

    def __init__(self, array):
        self.array, self.n_rows = array, int(array.shape[0])

    def read(self, first, last):
        """Yield the rows of a range, by blocks."""
        for block in blocks_of(self.array[first:last]):
            yield block.compute(scheduler="synchronous")  # a worker of Dask that waits for others could wait for itself

    def mark(self, first, last):
        """Return nothing: the array says by itself what it is of."""
        return b""


class FactoryRows:
    """
    Rows of what a user's factory makes, called once for each range.

    Parameters
    ----------
    factory : callable
        As of `Chunks`.
    n_rows : int
    lengths : sequence of int, or None
        Of the chunks, where they come as a sequence, of which those of a range are taken; None: they come one after
        another, and those before a range are made for nothing.
    """

    apart = None

    def __init__(self, factory, n_rows, lengths):
        self.factory, self.n_rows, self.in_order = factory, n_rows, lengths is None
        self.ends = None if lengths is None else np.cumsum(lengths)

    def read(self, first, last):
        """Yield the rows of a range, by chunks."""
        made = chosen = self.factory()
        skipped = 0
        if self.ends is not None:
            skipped = int(np.searchsorted(self.ends, first, side="right"))
            chosen = (made[i] for i in range(skipped, len(self.ends)))
        begin = int(self.ends[skipped - 1]) if skipped else 0
        for number, chunk in enumerate(chosen, skipped):
            array = np.asanyarray(chunk)
            end = begin + len(array)
            if self.ends is not None and end != self.ends[number]:
                raise InputError("X must have the same rows each time; its chunks have other lengths than before")
            if end > first:
                yield array[max(0, first - begin) : last - begin]
            if end >= last:
                return
            begin = end

    def mark(self, first, last):
        """Return nothing: that rows are the same each time is the factory's to see to."""
        return b""


class InOrder:
    """Rows that are read from the first on alone, by nobody but this process."""

    n_rows, in_order = None, True

    def __init__(self, apart):
        self.apart = apart


def of_array(array):
    """Return the reader of an array, or of the file that it is a map of."""
    offset = _offset_in_file(array)
    return ArrayRows(array) if offset is None else MappedRows(array, offset)


def _offset_in_file(array):
    """Return where in its file a memory-mapped array begins; None where others would not see the same there."""
    if not isinstance(array, np.memmap) or array.filename is None or array.mode == "c":
        return None
    base = array
    while not isinstance(base, mmap.mmap):
        base = getattr(base, "base", None)
        if base is None:
            return None
    # `offset` is that of the whole map, also of a part of it
    begin = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY
    return begin + array.ctypes.data - np.frombuffer(base, np.uint8).ctypes.data


def blocks_of(array):
    """Return the blocks of rows of a ``dask.array`` that is not divided by columns."""
    return array.blocks.ravel() if array.ndim == 1 else array.blocks[:, 0].ravel()


def is_sequence(made):
    """Whether what a factory made can be asked for one chunk, so that nobody need make the others."""
    return isinstance(made, Sequence) and not isinstance(made, (str, bytes))
