"""Checkpoints: the state of a search in a file, from which it goes on as if it had not been stopped."""

import contextlib
import hashlib
import itertools
import json
import math
import os
import signal
import threading
import time

import numpy as np

from gopfast import version
from gopfast.errors import CheckpointError
from gopfast.search import files, interrupts, snapshot

KIND = "gopfast checkpoint"
VERSION = 9
HEADER = {"gopfast": str, "problem": dict, "options": dict, "digest": str, "begun": bool, "blocks": list}


def header(options, problem, contents, **others):
    """
    Return what a checkpoint says of a problem and its options, in JSON types.

    Parameters
    ----------
    options : Options
    problem : dict
        What the problem is made from again, beside its data; its `class` at least.
    contents : JSON
        All that the state of the search depends on beside the options, or a digest of it.
    **others
        Other entries.
    """
    kept, without = options.of_state(), sorted(options.without)
    text = json.dumps([contents, kept, *without], sort_keys=True)
    return {
        "gopfast": version.VERSION, "problem": problem, "options": kept, "without": without,
        "digest": hashlib.sha256(text.encode()).hexdigest(), **others,
    }  # fmt: skip


class Checkpoint:
    """
    Writes a search's state now and then; the `keeper` of a `Search`.

    Parameters
    ----------
    path : str
    every : float
        Seconds between two of them.
    header : dict
        JSON types: what tells the problem, the options and the start.
    note : callable
        Takes a line of text where one could not be written: the search goes on.
    spill : Spill or None
        Where the search keeps nodes on disk.
    arrays : module or object
        `state`, `slabs` and `blocks` of the search.
    """

    def __init__(self, path, every, header, note, spill=None, arrays=snapshot):
        self.arrays = arrays
        self.path, self.every, self.header, self.note, self.spill = path, every, header, note, spill
        self.begun = self.stopping = False
        self.elsewhere = list  # gives the nodes that others work on
        self.n_written, self.failure = 0, None
        self.next = time.monotonic() + every

    def __call__(self, search):
        """Write if it is time; whether the process was asked to end."""
        self.begun = True
        if not self.stopping and time.monotonic() >= self.next:
            self.write(search)
        return self.stopping

    def write(self, search, finished=False):
        """
        Write the state of a search.

        Parameters
        ----------
        search : Search
            Between two batches.
        finished : bool
            Whether nothing is left to do: the open nodes then count as one bound.
        """
        blocks = [] if finished else self.arrays.blocks(search)
        header = {"kind": KIND, "version": VERSION, **self.header, "begun": True, "blocks": blocks}
        if self.spill is not None:
            header |= {"spill": os.path.abspath(self.spill.folder), "spilled_by": self.spill.prefix}
            self.spill.sync([name for _, _, _, name in blocks])
        if self._put(header, self._parts(search, finished)) and self.spill is not None:
            self.spill.hold([name for _, _, _, name in blocks])
        self.next = time.monotonic() + self.every

    def write_unbegun(self):
        """Write that the search was stopped before it began, so that it is to begin; not over what a file holds."""
        if os.path.exists(self.path):
            return
        header = {"kind": KIND, "version": VERSION, **self.header, "begun": False, "blocks": []}
        self._put(header, ())

    def _put(self, header, parts):
        """Write a file; whether it could be written."""
        try:
            files.write(self.path, header, parts)
        except OSError as error:
            if self.failure is None:
                self.note(f"checkpoint: {self.path}: {error.strerror}; the search goes on without")
            self.failure = error.strerror
            return False
        self.n_written, self.failure = self.n_written + 1, None
        return True

    def _parts(self, search, finished):
        yield "state.", self.arrays.state(search, finished)
        if not finished:
            # nodes elsewhere first: those of a dive must come last
            for number, nodes in enumerate(itertools.chain(self.elsewhere(), self.arrays.slabs(search))):
                yield f"nodes{number}.", nodes

    @contextlib.contextmanager
    def on_termination(self):
        """While this context lasts SIGTERM ends the search after its batch; what was set before is set again."""
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread may set handlers
            return
        self.process, before = os.getpid(), signal.signal(signal.SIGTERM, self._end)
        self.before = before if before is not None else signal.SIG_DFL
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, self.before)

    def _end(self, *_):
        if os.getpid() != self.process:  # a worker that was forked meanwhile: its pool must be able to end it
            signal.signal(signal.SIGTERM, self.before)
            os.kill(os.getpid(), signal.SIGTERM)
            return
        self.stopping = True
        if not self.begun:
            interrupts.ask()  # in what comes before the nodes, which has no state to keep


class Stored:
    """
    A checkpoint that was read: what it says of the problem, and the state.

    Parameters
    ----------
    path : str

    Raises
    ------
    CheckpointError
        If it is none.
    """

    def __init__(self, path):
        self.path = path
        try:
            self.reader = files.Reader(path)
        except (OSError, ValueError) as error:
            raise self._error(error) from None
        self.header = self.reader.header
        if not isinstance(self.header, dict) or self.header.get("kind") != KIND:
            raise CheckpointError(f"{path}: no checkpoint of gopfast")
        if self.header.get("version") != VERSION:
            raise CheckpointError(f"{path}: a checkpoint of version {self.header.get('version')}; this is {VERSION}")
        try:
            self._check_header()
        except ValueError as error:
            raise self._error(error) from None

    def _check_header(self):
        """Check the kind of every entry of the header: whether they are of the problem is told by the digest."""
        for name, kind in HEADER.items():
            if not isinstance(self.header.get(name), kind):
                raise ValueError(f"header: {name} is missing, or no {kind.__name__}")
        if not isinstance(self.header["problem"].get("class"), str):
            raise ValueError("header: problem has no class")
        for block in self.header["blocks"]:
            if not isinstance(block, list) or [type(value) for value in block] != [float, int, int, str]:
                raise ValueError("header: blocks must be bounds, numbers and names of files")
            lower, _, n, name = block
            if math.isnan(lower) or n < 1 or not files.NAME.fullmatch(name):
                raise ValueError("header: blocks must be of nodes, in files that gopfast has named")
        for name in ("spill", "spilled_by"):
            if not isinstance(self.header.get(name), (str, type(None))):
                raise ValueError(f"header: {name} is no text")
        without = self.header.get("without", [])
        if not isinstance(without, list) or not all(isinstance(name, str) for name in without):
            raise ValueError("header: without must be names of mechanisms")
        for name in ("start", "start_weights"):
            start = self.header.get(name)
            try:
                good = start is None or np.isfinite(np.array(start, dtype=np.float64)).all()
            except (TypeError, ValueError, OverflowError):
                good = False
            if not good:
                raise ValueError(f"header: {name} must be numbers")

    @property
    def begun(self):
        """Whether there is a state: else the search was stopped before it began."""
        return self.header["begun"]

    def restore(self, search, spill=None, arrays=snapshot):
        """
        Give a search of the same problem and options the state.

        Parameters
        ----------
        search : Search
        spill : Spill or None
            Where it has nodes on disk.
        arrays : module or object
            `restore` of the search.

        Raises
        ------
        CheckpointError
            If the file is damaged, or nodes on disk are missing.
        """
        with self._read():
            if spill is not None:
                spill.adopt([name for _, _, _, name in self.header["blocks"]], self.header.get("spilled_by"))
            nodes = self.reader.parts("nodes")
            arrays.restore(search, self.reader.part("state."), nodes, self.header["blocks"])

    @contextlib.contextmanager
    def _read(self):
        """While the file is read for the last time: what its entries are not is the file's fault, no other error is."""
        try:
            yield
        except (OSError, ValueError) as error:
            raise self._error(error) from error
        finally:
            self.reader.close()

    def _error(self, error):
        if isinstance(error, OSError):
            return CheckpointError(f"{self.path}: {error.strerror}")
        return CheckpointError(f"{self.path}: damaged, or no checkpoint of gopfast ({error})")
