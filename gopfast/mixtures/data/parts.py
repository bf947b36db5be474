"""
Passes over data in chunks, in parts: on the workers of an executor, where they can open the data, and here.

Parts are of so many rows, whoever works on them, and their outcomes are added in order: what a pass finds does not
depend on how many workers there are, nor on whether there are any.

Theory: (I2) of docs/theory/many.md.
"""

import io
import pickle
import sys
from functools import partial
from itertools import chain, islice

import numpy as np

from gopfast.errors import InputError
from gopfast.mixtures.data.chunks import AS_MANY, Chunks, weighted
from gopfast.mixtures.data.tuning import BLOCKS, MOST_SENT, ROWS
from gopfast.search.distributed import n_workers
from gopfast.search.task_pool import TaskPool


class Parts:
    """
    Data in chunks, and who works on them.

    Parameters
    ----------
    source, weights : Chunks, Chunks or None
    executor : concurrent.futures.Executor or None
    note : callable
        Takes a line of text.

    Attributes
    ----------
    notes : list of str
        What a reader of the result should know.
    """

    def __init__(self, source, weights, executor=None, note=None):
        self.source, self.weights, self.tell, self.notes = source, weights, note, []
        self.pool = TaskPool(executor, self.note)
        for one in (source, weights):
            if one is not None:
                one.forget()

    def __repr__(self):
        """Return the same for the same data: it is part of what tells a problem."""
        return f"Parts({self.source!r}, {self.weights!r})"

    def note(self, text):
        """Tell a line of text, and keep it for the result."""
        self.notes.append(text)
        if self.tell is not None:
            self.tell(text)

    def outcomes(self, function, arguments, most=None):
        """
        Yield what a function makes of each part of the data, in order.

        Parameters
        ----------
        function : callable
            Of a module; called with an iterable of rows (m, d) and weights (m,), and `arguments`.
        arguments : tuple
        most : int, optional
            Parts, where an outcome is large.
        """
        size, n_rows = BLOCKS * ROWS, self.n_rows
        if most is not None:
            size *= max(1, -(-n_rows // (size * most)))
        readers = self._readers() if self.pool.executor is not None and n_rows else None
        if readers is None:
            yield from self._here(function, arguments, size // ROWS)
            return
        ranges = [(first, min(first + size, n_rows)) for first in range(0, n_rows, size)]
        # what can only be read from the first row on is read once by each worker
        in_order = any(rows.in_order for rows, _ in readers)
        n_tasks = min(len(ranges), n_workers(self.pool.executor)) if in_order else len(ranges)
        own = np.array_split(np.arange(len(ranges)), max(1, n_tasks))
        data = readers if self.pool.shares_memory else _pickled(readers)
        tasks = (_task(function, arguments, readers, data, [ranges[i] for i in some]) for some in own)
        for found in self.pool.outcomes(work, tasks):
            yield from found

    @property
    def n_rows(self):
        """Rows of the data; None: a pass over them has to tell."""
        reader = self.source.reader()
        return self.source.n_rows if reader is None or reader.n_rows is None else reader.n_rows

    def _readers(self):
        """Return by what workers open the data, with the numbers of columns; None, and a note, where they cannot."""
        sources = {"X": self.source} if self.weights is None else {"X": self.source, "sample_weight": self.weights}
        readers = []
        for name, source in sources.items():
            rows = source.reader()
            if rows is None:
                return None  # of unknown length, before the first pass
            if rows.apart is not None and not (self.pool.shares_memory and rows.n_rows is not None):
                return self._cannot(f"{name} is {rows.apart}")
            readers.append((rows, source.n_columns))
        if len({rows.n_rows for rows, _ in readers}) > 1:
            return None  # which the pass here says
        if self.pool.shares_memory:
            return readers
        try:
            _pickled(readers)
        except OverflowError:
            return self._cannot("what opens the data holds data itself")
        except Exception as error:  # whatever a user's factory raises
            return self._cannot(f"what opens the data cannot be pickled ({str(error).splitlines()[0]})")
        return readers

    def _cannot(self, text):
        """Do without the workers, and say why."""
        self.note(f"executor: {text}; the data were read in the search's own process")
        self.pool.executor = None

    def _here(self, function, arguments, n_blocks):
        """Yield the outcomes of parts of so many blocks, in one way through the data."""
        own = iter(self.source)
        other = None if self.weights is None else iter(self.weights)
        for block in own:
            part = chain([block], islice(own, n_blocks - 1))
            yield function(weighted(part, None if other is None else islice(other, n_blocks)), *arguments)
        if other is not None and next(other, None) is not None:
            raise InputError(AS_MANY)


def _task(function, arguments, readers, data, ranges):
    """Return a task as `TaskPool` takes it: for a worker, with what tells that its data are the same, and for here."""
    marks = [rows.mark(ranges[0][0], ranges[-1][1]) for rows, _ in readers]
    return (function, arguments, data, ranges, marks), (function, arguments, readers, ranges, None)


def work(function, arguments, data, ranges, marks):
    """
    Work on some parts of the data, in a worker's process.

    Parameters
    ----------
    function : callable
    arguments : tuple
        As of `Parts.outcomes`.
    data : bytes or list of (reader, int)
        What opens the samples, and their weights if there are any, and the numbers of columns; bytes: pickled.
    ranges : list of (int, int)
        First row and the one behind the last of each part.
    marks : list of bytes, or None
        What these data have for marks of all the ranges together; None: they are the same for sure.

    Returns
    -------
    list
        Of what the function returns of each part.

    Raises
    ------
    OSError
        If other data are here than those that were meant, or none.
    """
    readers = pickle.loads(data) if isinstance(data, bytes) else data
    if marks is not None and [rows.mark(ranges[0][0], ranges[-1][1]) for rows, _ in readers] != marks:
        raise OSError("X is not the same for the workers: a file of that name holds other data there")
    return [
        function(weighted(*(Chunks(partial(rows.read, *own), d) for rows, d in readers)), *arguments) for own in ranges
    ]


class _Limited(io.RawIOBase):
    """Bytes, as long as they are few."""

    def __init__(self):
        self.parts, self.size = [], 0

    def write(self, data):
        """Keep some more."""
        size = memoryview(data).nbytes
        self.size += size
        if self.size > MOST_SENT:
            raise OverflowError
        self.parts.append(bytes(data))
        return size


def _pickled(data):
    """Pickle what is small; also what only cloudpickle takes, where an engine has loaded it."""
    out, cloudpickle = _Limited(), sys.modules.get("cloudpickle")
    try:
        pickle.dump(data, out, pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError):
        if cloudpickle is None:
            raise
        out = _Limited()
        cloudpickle.dump(data, out)
    return b"".join(out.parts)
