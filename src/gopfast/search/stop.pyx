"""When to stop: time limit, Ctrl-C, and who asked."""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY

from gopfast.search import interrupts

from gopfast.search.tuning cimport POLL_INTERVAL
from gopfast.search.types cimport STOP_INTERRUPTED, STOP_NONE, STOP_TIME_LIMIT, real


cdef extern from *:
    """
    #ifdef _WIN32
    #include <windows.h>
    static double monotonic_seconds(void)
    {
        LARGE_INTEGER ticks, per_second;
        QueryPerformanceCounter(&ticks);
        QueryPerformanceFrequency(&per_second);
        return (double) ticks.QuadPart / (double) per_second.QuadPart;
    }
    #else
    #include <time.h>
    static double monotonic_seconds(void)
    {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
    }
    #endif
    """
    double monotonic_seconds() noexcept nogil


cdef real clock() noexcept nogil:
    return <real> monotonic_seconds()


cdef class StopSignal:
    """Shared by all workers of one search; only worker 0, on the caller's thread, takes the GIL.

    Parameters
    ----------
    time_limit : float
        In seconds.
    spent : float
        Seconds of the time limit that are gone already.
    """

    def __cinit__(self, real time_limit=INFINITY, real spent=0.0):
        self.reason = STOP_NONE
        self.started = clock() - spent
        self.deadline = self.started + time_limit
        self.last_poll = clock()
        self.exception = None
        self.look()

    cdef void request(self, int reason) noexcept nogil:
        if self.reason == STOP_NONE:
            self.reason = reason

    cdef bint poll(self, int worker) noexcept nogil:
        cdef real now
        if self.reason != STOP_NONE:
            return True
        now = clock()
        if now >= self.deadline:
            self.request(STOP_TIME_LIMIT)
        elif worker == 0 and now - self.last_poll > POLL_INTERVAL:
            self.last_poll = now
            with gil:
                self.check_signals()
        return self.reason != STOP_NONE

    @property
    def stopped(self):
        """Whether to stop, asked on the caller's thread: the reason as a number, 0 for none."""
        self.poll(0)
        self.look()
        return self.reason

    @property
    def seconds_left(self):
        """Up to the time limit; 0 once something stopped it."""
        return 0.0 if self.stopped else self.deadline - clock()

    def caught(self, error):
        """Stop for what was raised where nothing can be: Ctrl-C, or an error, which `reraise` raises."""
        if not isinstance(error, KeyboardInterrupt):
            self.exception = error
        self.request(STOP_INTERRUPTED)

    def reraise(self):
        """Raise what `caught` was told, if it was not KeyboardInterrupt."""
        if self.exception is not None:
            raise self.exception

    cdef void check_signals(self) noexcept:
        try:
            PyErr_CheckSignals()
        except BaseException as error:
            self.caught(error)
        self.look()

    cdef void look(self) noexcept:
        """Whether Ctrl-C was noted."""
        try:
            if self.reason == STOP_NONE and interrupts.asked():
                self.request(STOP_INTERRUPTED)
        except BaseException as error:
            self.caught(error)
