"""What a search tells of its progress, passed on."""

import contextlib

from gopfast.report import Heartbeat, Progress, ProgressLog
from gopfast.tuning import WATCHED_FROM


class Monitor:
    """Passes the search's progress on to the log and the user's callback."""

    def __init__(self, options):
        self.log = options.progress_log()
        self.callback = options.callback
        self.wanted = self.log is not None or self.callback is not None

    def __call__(self, time, n_nodes, n_open, lower, upper, new_incumbent):
        """Tell the state after a batch of nodes; return whether the search is to stop."""
        state = Progress(time, n_nodes, n_open, lower, upper, upper - lower, new_incumbent)
        if self.log is not None:
            self.log.update(state)
        return self.callback is not None and self.callback(state) is True

    def note(self, text):
        """Add a line to the table of the progress, if there is one."""
        if isinstance(self.log, ProgressLog):
            self.log.note(text)

    def watching(self, problem=None):
        """While this context lasts a sign of life needs no report; a small mixture reports soon enough."""
        small = problem is not None and problem.X.size * problem.n_components < WATCHED_FROM
        return contextlib.nullcontext() if small or not isinstance(self.log, Heartbeat) else self.log.watching()

    def finish(self, result):
        """End the log with what the search came to."""
        if self.log is not None:
            n_open = int(result.history[-1, 4])
            self.log.update(
                Progress(
                    result.time, result.n_nodes, n_open, result.lower_bound, result.objective, result.gap, False
                ),
                final=True,
            )
