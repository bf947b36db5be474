"""
Ctrl-C within a solve: noted, so that what is at hand is finished and the search ends with its bounds.

Raised as an exception it could come between any two lines, and would be lost in a callback of a weak reference.
"""

import contextlib
import math
import os
import signal
import threading
import time

from gopfast.search.tuning import AGAIN


class _Noted:
    """What was heard since a solve began."""

    def __init__(self):
        self.process = os.getpid()
        self.asked = False  # by Ctrl-C or SIGTERM: to end
        self.raises = False  # what is at hand is left at once
        self.again = False  # who asked wants no result
        self.over = False


_noted = _Noted()
last = -math.inf


@contextlib.contextmanager
def noted():
    """
    Note the first Ctrl-C while this context lasts; stop signals made within it look.

    Another one is raised as `KeyboardInterrupt`, and again at the end if it was lost; so is one that comes soon after
    that of the solve before: whoever has many solves to end presses twice. Not in other threads than the main one,
    which alone hears signals, nor where the program has a handler of its own.
    """
    global _noted
    within = _current()
    if within is not None:
        with _set(within, within.asked, False):
            yield
        return
    if not _is_main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    own = _noted = _Noted()
    try:
        signal.signal(signal.SIGINT, _hear)
        yield
    finally:
        own.over = True  # from here on nothing is raised before the handler is what it was
        if signal.getsignal(signal.SIGINT) is _hear:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    if own.again:
        raise KeyboardInterrupt


@contextlib.contextmanager
def raised():
    """Raise Ctrl-C while this context lasts, whatever was noted before: what is at hand may be left at any line."""
    here = _current()
    if here is None:
        yield
        return
    with _set(here, False, True):
        try:
            yield
        except Exception as error:
            if here.asked:  # what was left in the middle was not fit to be closed
                raise KeyboardInterrupt from error
            raise


def asked():
    """Whether Ctrl-C was noted."""
    return _noted.asked and _current() is not None


def check():
    """Raise `KeyboardInterrupt` if Ctrl-C was noted: there is no result yet, or whoever called ends with one."""
    if asked():
        raise KeyboardInterrupt


def ask():
    """Do as Ctrl-C does, from the handler of another signal, but however often."""
    here = _current()
    if here is None or here.raises:
        raise KeyboardInterrupt
    here.asked = True


@contextlib.contextmanager
def _set(here, is_asked, raises):
    before = here.asked, here.raises
    here.asked, here.raises = is_asked, raises
    try:
        yield
    finally:
        here.asked, here.raises = here.asked or before[0], before[1]


def _current():
    """Return what the solve under way in this thread has heard; None: there is none, or signals are not noted."""
    here = _noted.process == os.getpid() and _is_main_thread() and signal.getsignal(signal.SIGINT) is _hear
    return _noted if here else None


def _is_main_thread():
    return threading.get_ident() == threading.main_thread().ident


def _hear(number, frame):
    global last
    if os.getpid() != _noted.process:  # a worker that was forked meanwhile
        signal.default_int_handler(number, frame)
    now = time.monotonic()
    again, last = _noted.asked or now - last < AGAIN, now
    if _noted.over:
        _noted.again = True
        return
    _noted.asked, _noted.again = True, _noted.again or again
    if again or _noted.raises:
        raise KeyboardInterrupt
