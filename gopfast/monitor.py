"""What a search tells of its progress, passed on."""

import contextlib

from gopfast.outlook import Outlook
from gopfast.report import Heartbeat, Progress, ProgressLog
from gopfast.tuning import WATCHED_FROM


class Monitor:
    """
    Passes the search's progress on to the log and the user's callback.

    Parameters
    ----------
    options : Options
    ends_early : bool
        Whether it ends a search for which more time is of no use, see `gopfast.outlook`.

    Attributes
    ----------
    learning : Reduction or None
        What is learnt beside the search's tree, whose bound is looked at as well then.
    """

    def __init__(self, options, ends_early=False):
        self.log = options.progress_log()
        self.callback = options.callback
        self.outlook = Outlook.of(options.time_limit) if ends_early else None
        self.learning = None
        self.wanted = any(one is not None for one in (self.log, self.callback, self.outlook))

    def __call__(self, time, n_nodes, n_open, lower, upper, new_incumbent):
        """Tell the state after a batch of nodes; return whether the search is to stop."""
        state = Progress(time, n_nodes, n_open, lower, upper, upper - lower, new_incumbent)
        if self.log is not None:
            self.log.update(state)
        learnt = None if self.learning is None else self.learning.learnt
        hopeless = self.outlook is not None and self.outlook.update(
            time, state.gap, None if learnt is None else upper - learnt
        )
        return (self.callback is not None and self.callback(state) is True) or hopeless

    @property
    def verdict(self):
        """Why it has ended the search; empty where it has not."""
        return "" if self.outlook is None else self.outlook.verdict

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
