"""Executors without processes."""

from concurrent.futures import Executor, Future


class Inline(Executor):
    """Runs a part of a tree where it is asked for; those whose numbers are given are lost, as with their worker."""

    _max_workers = 2

    def __init__(self, fails=()):
        self.n_parts, self.fails = 0, fails
        self.found = []  # what parts came back with

    def submit(self, function, /, *arguments, **named):
        self.n_parts += 1
        future = Future()
        if self.n_parts in self.fails:
            future.set_exception(OSError("the worker is gone"))
        else:
            self.found.append(function(*arguments, **named))
            future.set_result(self.found[-1])
        return future
