"""What surrounds a search, whatever its model: progress, notes, memory, nodes on disk, checkpoints, workers."""

import contextlib
import math

import numpy as np

from gopfast.errors import CheckpointError
from gopfast.monitor import Monitor
from gopfast.result import Status
from gopfast.search import snapshot
from gopfast.search.checkpoint import Checkpoint
from gopfast.search.distributed import DistributedSearch
from gopfast.search.files import Spill
from gopfast.search.memory import Memory
from gopfast.search.threads import n_threads

UNFINISHED = (Status.TIME_LIMIT, Status.NODE_LIMIT, Status.INTERRUPTED, Status.MEMORY_LIMIT, Status.CUTOFF)
UNLIMITED = 2**62  # nodes


class Session:
    """
    One solve, from its options to its end; the kind of problem makes the search, and reads what it came to.

    In this order: `keep`; `surroundings` are what a `Search` is made with; `restore`, to go on from a checkpoint; and
    within `on_termination` `run` and `end`; `close`.

    Parameters
    ----------
    options : Options
    arrays : module or object
        `state`, `slabs`, `blocks`, `restore` and `best` of a search, as `gopfast.search.snapshot` has them.
    ends_early : bool
        Whether a search for which more time is of no use ends before its limit.

    Attributes
    ----------
    monitor : Monitor
    notes : list of str
        On what became of checkpoints, nodes on disk and workers, and what else was noted.
    keeper : Checkpoint or None
    spill : Spill or None
    """

    def __init__(self, options, arrays=snapshot, ends_early=False):
        self.options, self.arrays, self.notes = options, arrays, []
        self.monitor = Monitor(options, ends_early)
        self.keeper = self.spill = None

    def within(self, options):
        """Return a session for a search that is part of this solve, with options of its own, and no checkpoint."""
        inner = Session(options)
        inner.monitor, inner.notes = self.monitor, self.notes
        return inner

    def note(self, text):
        """Add a line to the table of the progress, and to the result's notes."""
        self.notes.append(text)
        self.monitor.note(text)

    @property
    def report(self):
        """The monitor, None where nobody watches."""
        return self.monitor if self.monitor.wanted else None

    def keep(self, header):
        """Write checkpoints, if there are to be any; `header` returns one of `gopfast.search.checkpoint.header`."""
        if self.options.checkpoint is not None:
            path, every = self.options.checkpoint, self.options.checkpoint_every
            self.keeper = Checkpoint(path, every, header(), self.note, arrays=self.arrays)

    def on_termination(self):
        """While this context lasts SIGTERM ends a search that has a checkpoint with its bounds."""
        return contextlib.nullcontext() if self.keeper is None else self.keeper.on_termination()

    def surroundings(self, coordinates):
        """
        Return the arguments of `Search` that no model needs to know of.

        `coordinates` returns a text that tells what boxes of nodes refer to: arithmetic that differs may give others.
        """
        self.coordinates = coordinates
        if self.options.spill is not None:
            self.spill = Spill(self.options.spill, self.note, self.keeper is not None)
        if self.keeper is not None:
            self.keeper.header["coordinates"], self.keeper.spill = coordinates(), self.spill
        return {
            "n_threads": n_threads(self.options.n_threads), "monitor": self.report, "spill": self.spill,
            "memory": Memory(self.options.memory_limit), "keeper": self.keeper,
        }  # fmt: skip

    def restore(self, search, stored, attains):
        """
        Give a search the state of a checkpoint of the same problem and options; `CheckpointError` if it cannot be.

        `attains` takes the incumbent's solution and objective, in the core's units: whether it has that, valued anew.
        """
        if stored.header.get("coordinates") != self.coordinates():
            raise CheckpointError(
                f"{stored.path}: written on a machine whose arithmetic gives other coordinates of the boxes, or, of a "
                "biconvex problem, the time limit came while these were made"
            )
        stored.restore(search, self.spill, self.arrays)
        upper, solution = self.arrays.best(search)
        if np.isfinite(upper) and not attains(solution, upper):
            raise CheckpointError(f"{stored.path}: damaged (incumbent.upper: incumbent.solution does not attain it)")

    def run(self, search, spread, time_limit=math.inf, max_nodes=UNLIMITED, **others):
        """
        Start a search, or go on with it, here or on the executor.

        Parameters
        ----------
        search : Search
        spread : callable
            Returns what workers need, to be pickled: a text that tells the problem and its options; a function, which
            returns a worker's search and its coordinates; its arguments.
        time_limit, max_nodes, **others
            As of `Search.resume`, which has the others in one process only.

        Returns
        -------
        Status
        """
        if self.options.executor is None:
            return self._reason(Status(search.resume(time_limit, max_nodes, **others)))
        key, function, arguments = spread()
        setup = function, arguments, self.coordinates()
        spread = DistributedSearch(search, self.options.executor, key, setup, self.keeper, self.note)
        if self.keeper is not None:
            self.keeper.elsewhere = spread.outstanding
        return self._reason(Status(spread.run(time_limit, max_nodes)))

    def _reason(self, status):
        """Return the status of a search that may have ended early: it is its time limit that it has not used."""
        return Status.TIME_LIMIT if status is Status.INTERRUPTED and self.monitor.verdict else status

    def end(self, search, status):
        """Write the last checkpoint, and remove nodes on disk that nobody needs; `search` None: there was none."""
        finished = status not in UNFINISHED
        if self.keeper is not None and self.keeper.begun:
            if search is not None:
                self.keeper.write(search, finished)
        elif self.keeper is not None and not finished:
            self.keeper.write_unbegun()
        if finished or self.keeper is not None:
            self.close()

    def close(self):
        """Remove the nodes on disk that no checkpoint needs: the search is not to go on."""
        if self.spill is not None:
            self.spill.close()


def memory_notes(search):
    """Tell what became of open nodes that did not fit."""
    if search.n_dives:
        yield "the open nodes filled the memory: the search went depth first, which takes more nodes"
    if search.n_blocks:
        yield f"open nodes were kept on disk at times, in {search.n_blocks} blocks"
