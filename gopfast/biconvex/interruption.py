"""The end of a solve in the middle of its preparation: time limit or Ctrl-C."""


class Stopped(Exception):
    """The time limit or Ctrl-C came before the search began."""


def check(stop):
    """
    Raise `Stopped` if it is time; to be called every few milliseconds of work.

    Parameters
    ----------
    stop : StopSignal or None
        None never stops.

    Raises
    ------
    Stopped
    """
    if stop is not None and stop.stopped:
        raise Stopped
