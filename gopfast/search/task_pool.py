"""Tasks on the workers of an executor, their outcomes in order; what a worker does not bring back is done here."""

import collections
import concurrent.futures
import itertools

from gopfast.search.distributed import n_workers
from gopfast.search.tuning import AHEAD, MOST_FAILURES, POLL


class TaskPool:
    """
    Workers that do tasks.

    Parameters
    ----------
    executor : concurrent.futures.Executor or None
        None: all is done here.
    note : callable
        Takes a line of text, where the workers turn out to be of no use.
    """

    def __init__(self, executor, note):
        self.executor, self.note = executor, note
        self.failures = 0

    @property
    def shares_memory(self):
        """Whether the workers are threads of this process."""
        return isinstance(self.executor, concurrent.futures.ThreadPoolExecutor)

    def outcomes(self, function, tasks):
        """
        Yield what a function returns for each of some tasks, in order.

        Parameters
        ----------
        function : callable
            Of a module.
        tasks : iterable of (tuple, tuple)
            Arguments for a worker, and those with which the task is done here.
        """
        tasks, waiting = iter(tasks), collections.deque()
        try:
            while True:
                most = 1 if self.executor is None else AHEAD * n_workers(self.executor)
                for away, here in itertools.islice(tasks, max(0, most - len(waiting))):
                    waiting.append((self._submit(function, away), here))
                if not waiting:
                    return
                future, here = waiting.popleft()
                yield future.result() if future is not None and self._is_done(future) else function(*here)
        finally:  # also at Ctrl-C, and where the caller wants no more
            for future, _ in waiting:
                if future is not None:
                    future.cancel()

    def _submit(self, function, arguments):
        """Hand out a task; None: there are no workers."""
        if self.executor is None:
            return None
        try:
            return self.executor.submit(function, *arguments)
        except Exception as error:  # each engine has errors of its own
            self._give_up(error)
            return None

    def _is_done(self, future):
        """Wait for a task; whether the worker did it."""
        while not concurrent.futures.wait([future], POLL).done:
            pass  # between two looks Python takes notice of Ctrl-C
        try:
            error = future.exception()
        except concurrent.futures.CancelledError as cancelled:
            error = cancelled
        if error is None:
            self.failures = 0
            return True
        self.failures += 1
        broken = isinstance(error, concurrent.futures.BrokenExecutor)
        if self.executor is not None and (broken or self.failures > MOST_FAILURES * n_workers(self.executor)):
            self._give_up(error)
        return False

    def _give_up(self, error):
        """Do without the workers from here on, and say so."""
        text = str(error) or type(error).__name__
        self.note(f"executor: {text.splitlines()[0]}; the data were read in the search's own process")
        self.executor = None
