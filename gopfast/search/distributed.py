"""
A search spread over the workers of an executor: any with the interface of `concurrent.futures.Executor`.

Parts of the tree of about a second's work are handed out with all that is known, and what they leave unfinished comes
back and is divided anew. A part that a worker does not bring back, whatever became of the worker, is handed out again:
its nodes are kept here until then, and count for LBD.
"""

import concurrent.futures
import os
import pickle
import threading
import time

import numpy as np

from gopfast.result import Status
from gopfast.search import interrupts, snapshot
from gopfast.search.tuning import (
    ALONE,
    BUSY,
    FEWEST_OPEN,
    FIRST,
    MOST_FAILURES,
    MOST_OPEN,
    NODES,
    PART,
    PARTS,
    POLL,
    RECOUNT,
    SHORT_PART,
    SMALL,
)


class _Here(threading.local):
    """What a worker, a thread of its own or of a process, was sent last: the data travel once."""

    key = search = version = learnt = None


_here = _Here()


def work(key, setup, version, learnt, incumbent, nodes, most_open, seconds, max_nodes):
    """
    Work on a part of a tree, in a worker's process.

    Parameters
    ----------
    key : str
        Of the problem and its options.
    setup : bytes or None
        Pickled: function, arguments, coordinates; the function makes the search, and what tells its coordinates. None:
        the worker should have them.
    version : str
        Of what was learnt.
    learnt : bytes or None
        Pickled arrays; as `setup`.
    incumbent : dict
    nodes : dict
    most_open : int
        Open nodes that may come back.
    seconds : float
    max_nodes : int

    Returns
    -------
    dict or str
        As `snapshot.end_part`, with the seconds taken; or what was missing, or why this worker is of no use.
    """
    started = time.monotonic()
    if _here.key != key:
        if setup is None:
            return "setup"
        function, arguments, coordinates = pickle.loads(setup)
        search, own = function(*arguments)
        if own != coordinates:
            return "coordinates"
        _here.key, _here.search, _here.version = key, search, None
    if _here.version != version:
        if learnt is None:
            return "learnt"
        _here.version, _here.learnt = version, pickle.loads(learnt)
    search = _here.search
    snapshot.begin_part(search, nodes, {**_here.learnt, **incumbent}, most_open)
    search.resume(seconds, max_nodes)
    return {**snapshot.end_part(search), "seconds": time.monotonic() - started}


def n_workers(executor):
    """Return how many workers an executor has now, as far as it tells."""
    client = getattr(executor, "_client", None)  # of dask.distributed
    if client is not None and hasattr(client, "nthreads"):
        return max(1, sum(client.nthreads().values()))
    for name in ("num_workers", "_max_workers"):
        found = getattr(executor, name, None)
        if isinstance(found, int) and found > 0:
            return found
    return os.cpu_count() or 1


def part_seconds(count, service):
    """Return the seconds of work in a part for so many workers, where handing out one takes `service` seconds."""
    return max(PART, count * service / BUSY)


class DistributedSearch:
    """
    Runs a search on an executor.

    Parameters
    ----------
    search : Search
    executor : concurrent.futures.Executor
    key : str
        Tells the problem and its options.
    setup : tuple
        Picklable: function, arguments, coordinates; see `work`.
    keeper : callable or None
        That of the search: called with it, and with `outstanding` set.
    note : callable
        Takes a line of text.
    """

    def __init__(self, search, executor, key, setup, keeper, note):
        self.search, self.executor, self.key, self.keeper, self.note = search, executor, key, keeper, note
        self.setup = pickle.dumps(setup)
        self.away = {}  # number of a part -> (nodes, their least bound): until what became of it is in the tree
        self.futures = {}  # future -> number
        self.n_sent = self.n_learnt_sent = self.failures = 0
        self.version, self.learnt, self.counted = None, None, -np.inf
        self.missing, self.alone = set(), False
        self.records = []  # (seconds, nodes bounded, handed out, brought back) of the parts that came back
        self.busy = 0.0  # processor seconds spent on handing out and taking back

    def run(self, time_limit, max_nodes):
        """
        Search; return the reason why it stopped, as `Search.resume`.

        Parameters
        ----------
        time_limit : float
        max_nodes : int
        """
        deadline = time.monotonic() + time_limit
        begun = self._alone(time_limit, max_nodes)
        if begun is not None:
            return begun
        reason = 0
        snapshot.begin_run(self.search, deadline - time.monotonic())
        try:
            while True:
                reason = self._limit(deadline, max_nodes)
                began = time.process_time()
                if reason or not self._hand_out(max_nodes):
                    break
                self.busy += time.process_time() - began
                reason = self._collect()
                if reason:
                    break
        except KeyboardInterrupt:
            reason = Status.INTERRUPTED
        except MemoryError:  # for what travels
            reason = Status.MEMORY_LIMIT
        finally:
            self._take_all_back()
        # alone again: to prove what is left, to stop, or to go on without workers
        return self.search.resume(max(0.0, deadline - time.monotonic()), max_nodes, reason=int(reason))

    def outstanding(self):
        """Nodes that workers have, as arrays."""
        return [nodes for nodes, _ in self.away.values()]

    def _alone(self, time_limit, max_nodes):
        """Search here until there is enough to hand out; return the reason if it stopped for another one."""
        self.count = n_workers(self.executor)
        started, ready = time.monotonic(), []

        def enough(search):
            if self.keeper is not None and self.keeper(search):
                return True
            if time.monotonic() - started > ALONE and snapshot.n_open(search) >= min(PARTS * self.count, FIRST):
                ready.append(True)
            return bool(ready)

        snapshot.set_keeper(self.search, enough)
        try:
            reason = self.search.resume(time_limit, max_nodes)
        finally:
            snapshot.set_keeper(self.search, self.keeper)
        return None if ready and reason == Status.INTERRUPTED else reason

    def _limit(self, deadline, max_nodes):
        """Return why to stop, or 0."""
        if time.monotonic() >= deadline:
            return Status.TIME_LIMIT
        if self.search.n_nodes >= max_nodes:
            return Status.NODE_LIMIT
        if interrupts.asked() or (self.keeper is not None and self.keeper(self.search)):
            return Status.INTERRUPTED
        return 0 if snapshot.make_room(self.search) else Status.MEMORY_LIMIT

    def _hand_out(self, max_nodes):
        """Hand out parts while workers want some; whether any are out, and workers are of use."""
        now = time.monotonic()
        if now - self.counted > RECOUNT:
            self.count, self.counted = n_workers(self.executor), now
        wanted = PARTS * self.count
        if len(self.futures) < wanted:
            self._renew()
        while len(self.futures) < wanted and not self.alone:
            left = snapshot.n_open(self.search)
            most_open = int(np.clip(snapshot.spare_nodes(self.search) // wanted, FEWEST_OPEN, MOST_OPEN))
            size = int(np.clip(left // wanted, 1, min(NODES, most_open // 4)))
            if not snapshot.hand_out(self.search, size, self.away, self.n_sent):
                break
            nodes, _ = self.away[self.n_sent]
            share = max(1, (max_nodes - self.search.n_nodes) // wanted)
            seconds = part_seconds(self.count, self.busy / max(1, self.n_sent)) if left >= wanted else SHORT_PART
            setup = self.setup if self.n_sent < self.count or "setup" in self.missing else None
            with_learnt = len(self.learnt) <= SMALL or self.n_learnt_sent < self.count or "learnt" in self.missing
            try:
                future = self.executor.submit(
                    work, self.key, setup, self.version, self.learnt if with_learnt else None, self.incumbent, nodes,
                    most_open, seconds, share,
                )  # fmt: skip
            except (RuntimeError, concurrent.futures.BrokenExecutor) as error:
                self._take_back(self.n_sent)
                self._go_on_alone(error)
                break
            self.futures[future] = self.n_sent
            self.missing -= {"setup"} if setup else set()
            self.missing -= {"learnt"} if with_learnt else set()
            self.n_sent, self.n_learnt_sent = self.n_sent + 1, self.n_learnt_sent + with_learnt
        self._tell()
        return bool(self.futures)

    def _renew(self):
        """Take up what was learnt since; the incumbent goes with every part."""
        known = snapshot.knowledge(self.search, False)
        self.incumbent = {name: value for name, value in known.items() if name.startswith("incumbent.")}
        learnt = pickle.dumps({name: value for name, value in known.items() if name not in self.incumbent})
        if learnt != self.learnt:
            self.learnt, self.n_learnt_sent = learnt, 0
            self.version = f"{self.key}-{self.n_sent}"

    def _collect(self):
        """Take what came back; return why to stop, or 0."""
        done, _ = concurrent.futures.wait(self.futures, POLL, return_when=concurrent.futures.FIRST_COMPLETED)
        began = time.process_time()
        for future in done:
            self._receive(future)
        self._tell()
        self.busy += time.process_time() - began
        if done:
            before = snapshot.n_restarts(self.search)
            stop = snapshot.learn_and_report(self.search)
            if snapshot.n_restarts(self.search) > before:
                self._forget()
            return stop
        return 0

    def _receive(self, future):
        """Take the outcome of a part; where there is none its nodes are open again."""
        number = self.futures.pop(future)
        try:
            error = future.exception()
        except concurrent.futures.CancelledError as cancelled:
            error = cancelled
        found = None if error is not None else future.result()
        if error is not None or isinstance(found, str):
            self._take_back(number)
        if error is not None:
            self._failed(error)
        elif isinstance(found, str):
            self.missing.add(found)
            if found == "coordinates":
                self._failed("the workers' arithmetic gives other coordinates")
        else:
            self.failures = 0
            given, left = len(self.away[number][0]["lower"]), sum(len(nodes["lower"]) for nodes in found["nodes"])
            self.records.append((found.pop("seconds"), found["n_nodes"], given, left))
            snapshot.take_part(self.search, found)
            del self.away[number]

    def _take_back(self, number):
        """Open the nodes of a part again. Ctrl-C between the lines leaves them twice, never lost."""
        snapshot.take_back(self.search, self.away[number][0])
        del self.away[number]

    def _tell(self):
        """Bounds of what workers have count for LBD."""
        lowers = [lower for _, lower in self.away.values()]
        snapshot.away(
            self.search, sum(len(nodes["lower"]) for nodes, _ in self.away.values()), min(lowers, default=np.inf)
        )

    def _forget(self):
        """Let go of what workers have: the tree has begun again, and covers it."""
        for future in self.futures:
            future.cancel()
        self.futures, self.away = {}, {}
        self._tell()

    def _take_all_back(self):
        """Nodes that workers have are open again; nobody waits for what they would bring."""
        for future in self.futures:
            future.cancel()
        for number in list(self.away):
            self._take_back(number)
        self.futures = {}
        self._tell()

    def _failed(self, error):
        """Count a part without an outcome; after too many the workers are given up."""
        self.failures += 1
        if self.failures > MOST_FAILURES * self.count:
            self._go_on_alone(error)

    def _go_on_alone(self, error):
        """Give the workers up, and say so."""
        if not self.alone:
            text = str(error) or type(error).__name__
            self.note(f"executor: {text.splitlines()[0]}; the search went on in its own process")
        self.alone = True
