"""Progress of a search: what callbacks receive, the table of ``log=True`` and the sign of life of ``log=None``."""

import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol, TypeVar

from gopfast.tuning import LEAST_WAIT

_T = TypeVar("_T")


class Stream(Protocol):
    """What text can be printed on; `flush` is called where there is one."""

    def write(self, text: str, /) -> object:
        """Print a text."""


class Progress(NamedTuple):
    """
    State of a search between two batches of nodes.

    Attributes
    ----------
    time : float
        Seconds since the start.
    n_nodes : int
        Nodes bounded so far.
    n_open : int
        Nodes still open.
    lower, upper : float
        Proved bounds of the global minimum: LBD and UBD.
    gap : float
        ``upper - lower``.
    new_incumbent : bool
        Whether `upper` has improved since the last report.
    """

    time: float
    n_nodes: int
    n_open: int
    lower: float
    upper: float
    gap: float
    new_incumbent: bool


class ProgressLog:
    """
    Prints the progress of a search as a table, in the way of global solvers.

    A ``*`` marks a new incumbent. Such rows are always printed, others whenever the number of nodes has doubled
    or an interval has passed that grows with the time spent: some ten rows for each factor of ten in time.

    Parameters
    ----------
    stream : file object, optional
        Where to print; standard output by default.
    """

    HEADER = f" {'nodes':>10} {'open':>9} {'lower':>15} {'upper':>15} {'gap':>10} {'time':>9}"
    SHORTEST_INTERVAL = 0.2  # seconds
    GROWTH = 0.25  # share of the time spent so far

    def __init__(self, stream: Stream | None = None) -> None:
        self._stream = sys.stdout if stream is None else stream
        self._last = None
        self._next_time = 0.0
        self._next_nodes = 0

    def update(self, state: Progress, final: bool = False) -> None:
        """
        Print a row if one is due.

        Parameters
        ----------
        state : Progress
            The state of the search.
        final : bool
            Whether the search has ended: the row is printed unless it just was, and a summary line follows.
        """
        if self._last is None:
            self._print(self.HEADER)
        due = state.time >= self._next_time or state.n_nodes >= self._next_nodes
        if state.new_incumbent or (not final and due) or (final and not self._repeats(state)):
            self._print(format_row(state))
            self._last = state
            self._next_nodes = 2 * state.n_nodes
            self._next_time = state.time + max(self.SHORTEST_INTERVAL, self.GROWTH * state.time)
        if final:
            self._print(
                f"{state.n_nodes} nodes in {state.time:.2f} s: "
                f"{state.lower:.8g} <= global optimum <= {state.upper:.8g}, gap {state.gap:.3g}"
            )
        self._flush()

    def note(self, text: str) -> None:
        """Print a line between the rows."""
        self._print(f" {text}")
        self._flush()

    def _repeats(self, state):
        """Whether the last row shows this state already, but for the time."""
        return self._last is not None and self._last[1:6] == state[1:6]

    def _print(self, line):
        self._stream.write(line + "\n")

    def _flush(self):
        # A stream needs only `write`.
        flush = getattr(self._stream, "flush", None)
        if flush is not None:
            flush()


class LoggerStream:
    """
    Passes lines on to a logger, at level INFO.

    Parameters
    ----------
    logger : logging.Logger
    """

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger

    def write(self, text: str) -> None:
        """Log a line."""
        self._logger.info("%s", text.rstrip("\n"))


class ProgressBar:
    """
    Shows the bounds, the gap and the open nodes on a bar of tqdm, in notebooks and terminals: ``log="bar"``.

    How far a search is nobody knows: the bar counts nodes, and has no end.

    Raises
    ------
    ImportError
        If tqdm is not installed.
    """

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError("log='bar' needs tqdm: pip install 'gopfast[progress]'") from error
        self._bar = tqdm(unit=" nodes", desc="gopfast")

    def update(self, state: Progress, final: bool = False) -> None:
        """
        Show a state.

        Parameters
        ----------
        state : Progress
        final : bool
            Whether the search has ended.
        """
        self._bar.set_postfix_str(
            f"{state.lower:.7g} .. {state.upper:.7g}, gap {state.gap:.3g}, {state.n_open:,} open", refresh=final
        )
        self._bar.update(state.n_nodes - self._bar.n)
        if final:
            self._bar.close()


class Heartbeat:
    """
    Says on one line that a long search is alive: after 5 seconds, and each time that the time has doubled.

    Parameters
    ----------
    stream : file object, optional
        Where to print; standard error, as it is then, by default.
    what : str
        What runs, where one search is not all.
    clock : callable
        Returns seconds.
    hint : str, optional
        What the first line ends with: how to have more or less of it.
    every : float, optional
        Seconds from one line to the next, in place of doubling.
    """

    FIRST = 5.0  # seconds
    HINT = "time_limit= or Ctrl-C ends it with its bounds, log=True prints a table, log=False nothing"

    def __init__(
        self,
        stream: Stream | None = None,
        what: str = "",
        clock: Callable[[], float] = time.monotonic,
        hint: str = HINT,
        every: float | None = None,
    ) -> None:
        self._stream, self._what, self._clock, self._every = stream, what, clock, every
        self._started, self._next = clock(), self.FIRST if every is None else every
        self._hint, self._state, self._lock = hint, None, threading.Lock()

    def update(self, state: Progress, final: bool = False) -> None:
        """
        Take the state of the search, and print a line if one is due.

        Parameters
        ----------
        state : Progress
        final : bool
            Whether the search has ended: then there is nothing to say.
        """
        self._state = state
        if not final:
            self.show()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Print also while the search has no state to report, in its first local search and in long batches."""
        _WATCH.add(self)
        try:
            yield
        finally:
            _WATCH.remove(self)

    def left(self) -> float:
        """Seconds until a line is due."""
        return self._next - self._seconds()

    def _seconds(self):
        return self._clock() - self._started

    def show(self) -> None:
        """Print a line if one is due."""
        if self._seconds() < self._next:
            return
        with self._lock:
            seconds = self._seconds()
            if seconds < self._next:
                return
            while self._next <= seconds:
                self._next += self._next if self._every is None else self._every
            stream = sys.stderr if self._stream is None else self._stream
            # A search goes on whoever reads: standard error may be absent or closed.
            with contextlib.suppress(AttributeError, OSError, ValueError):
                stream.write(f"gopfast: {seconds:.0f} s, {self._what}{self._progress()}{self._hint}\n")
                stream.flush()
            self._hint = ""

    def _progress(self):
        state = self._state
        hint = "; " if self._hint else ""
        if state is None:
            return f"local search, no bound yet{hint}"
        return (
            f"{state.n_nodes:,} nodes, {state.lower:.7g} <= global optimum <= {state.upper:.7g}, gap {state.gap:.3g}"
            f"{hint}"
        )


class _Watch:
    """
    One thread that prints what is due of all heartbeats; it ends when it finds none.

    A thread for each search would cost one that takes a millisecond a tenth of it, and on a machine with other work
    the time until a thread gets its turn.
    """

    def __init__(self):
        self.reset()

    def reset(self):
        self._lock, self._sooner = threading.Lock(), threading.Event()
        self._watched, self._thread, self._wakes = [], None, 0.0

    def add(self, heartbeat):
        with self._lock:
            self._watched.append(heartbeat)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="gopfast heartbeat", daemon=True)
                self._thread.start()
            elif time.monotonic() + heartbeat.left() < self._wakes:
                self._sooner.set()

    def remove(self, heartbeat):
        with self._lock:
            self._watched.remove(heartbeat)

    def _run(self):
        while True:
            with self._lock:
                if not self._watched:
                    self._thread = None
                    return
                wait = max(min(heartbeat.left() for heartbeat in self._watched), LEAST_WAIT)
                self._wakes = time.monotonic() + wait
                self._sooner.clear()
            self._sooner.wait(wait)
            with self._lock:
                watched = list(self._watched)
            for heartbeat in watched:
                heartbeat.show()


_WATCH = _Watch()
if hasattr(os, "register_at_fork"):
    # a child has none of its parent's threads, but locks as they were
    os.register_at_fork(after_in_child=_WATCH.reset)


class Tally:
    """
    Counts tasks that are done, while a ``with`` block lasts: on a bar of tqdm, where that is installed, or on lines.

    Parameters
    ----------
    total : int
        Number of tasks.
    what : str
        What they are.
    log : None, bool or stream
        None: from 5 seconds on, on standard error; True: from the first one on; a stream: lines there; False: never.
    """

    FIRST = 5.0  # seconds
    GROWTH = 1.25

    def __init__(self, total: int, what: str, log: "bool | Stream | Heartbeat | None" = None) -> None:
        self._total, self._what, self._done = total, what, 0
        self._stream = log if log not in (None, True, False) and not isinstance(log, Heartbeat) else None
        self._silent, self._started = log is False, time.monotonic()
        self._next = 0.0 if log is True or self._stream is not None else self.FIRST
        self._bar = None

    def count(self, outcome: _T) -> _T:
        """Count a task, and return its outcome."""
        self._done += 1
        seconds = time.monotonic() - self._started
        if self._bar is not None:
            self._bar.update(1)
        elif not self._silent and seconds >= self._next:
            self._bar = self._make_bar() if self._stream is None else None
            if self._bar is None:
                self._line(seconds)
                self._next = max(seconds, 0.2) * self.GROWTH
        return outcome

    def _make_bar(self):
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
        return tqdm(total=self._total, initial=self._done, desc=self._what)

    def _line(self, seconds):
        stream = sys.stderr if self._stream is None else self._stream
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.write(f"gopfast: {seconds:.0f} s, {self._done:,} of {self._total:,} {self._what}\n")

    def __enter__(self) -> "Tally":
        """Begin to count."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the bar."""
        if self._bar is not None:
            self._bar.close()


def format_row(state: Progress) -> str:
    """Format one row of the table, aligned with `ProgressLog.HEADER`."""
    mark = "*" if state.new_incumbent else " "
    return (
        f"{mark}{state.n_nodes:>10d} {state.n_open:>9d} {state.lower:>15.8g} {state.upper:>15.8g} "
        f"{state.gap:>10.3g} {state.time:>8.2f}s"
    )
