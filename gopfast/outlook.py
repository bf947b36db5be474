"""Whether more time is of use: the pace at which a gap closes, against the time limit."""

import math
from collections import deque

from gopfast.tuning import FEWEST, FIRST, FIRST_BOUND, LEARNT_SHARE, PATIENCE, SHARE, TRIAL, WIDER

DECADE = math.log(10.0)


class Outlook:
    """
    Ends a search when the next factor of ten of its gap is to take more than ten times its time limit.

    That is so when two paces say so: from half of the limit on that of the gap, in the later half of the time since
    the first bound; and that of what is being learnt beside the tree, in the later three quarters of the time since
    its own first bound. Each learner has three quarters of the limit to come to one that is no worse than that of the
    tree, and from its first one on a tenth to show a pace. A clock decides nothing but the end.

    Parameters
    ----------
    limit : float
        The time limit, in seconds.

    Attributes
    ----------
    verdict : str
        Why the search was ended; empty as long as it goes on.
    """

    def __init__(self, limit):
        self.limit, self.verdict = limit, ""
        self._pace, self._learner = Pace(), None

    @classmethod
    def of(cls, limit):
        """Return one for a time limit; None where there is none, or a short one."""
        return None if limit is None or not FIRST / SHARE <= limit < math.inf else cls(limit)

    def update(self, seconds, gap, learnt=None):
        """
        Take a state of the search.

        Parameters
        ----------
        seconds : float
            Since its start.
        gap : float
            Infinite as long as there is no bound.
        learnt : float or None
            The gap of what is being learnt beside the tree, infinite as long as that has no bound; None: nothing is.

        Returns
        -------
        bool
            Whether the search is to end.
        """
        self._take_learnt(seconds, learnt)
        if not 0.0 < gap < math.inf:
            return False
        self._pace.take(seconds, gap)
        if seconds < SHARE * self.limit or not self._pace.is_known or self._is_promising(seconds):
            return False
        needed = self._pace.needed()
        if needed <= PATIENCE * self.limit:
            return False
        pace = "the bound does not move" if math.isinf(needed) else f"a tenth of the gap would take {needed:,.0f} s"
        self.verdict = f"ended after {seconds:.0f} of {self.limit:g} s, as {pace}"
        return True

    def _take_learnt(self, seconds, gap):
        """Take the gap of what is being learnt; of the next one it is wider."""
        if gap is None:
            self._learner = None
        elif self._learner is None or gap > self._learner.last:
            self._learner = Pace(seconds, LEARNT_SHARE)
        if gap is not None and 0.0 < gap < math.inf:
            self._learner.take(seconds, gap)

    def _is_promising(self, seconds):
        """Whether what is being learnt may yet close the gap."""
        pace = self._learner
        if pace is None:
            return False
        if pace.last > self._pace.last * (1.0 + WIDER) and seconds - pace.begun < FIRST_BOUND * self.limit:
            return True
        if pace.started is None:
            return False
        is_shown = pace.is_known and seconds - pace.started >= TRIAL * self.limit
        return not is_shown or pace.needed() <= PATIENCE * self.limit


class Pace:
    """
    How fast a gap closes, in the later part of the time since it is finite.

    Parameters
    ----------
    begun : float
        When it began to be looked at, in seconds.
    share : float
        Part of the time that is the earlier one.

    Attributes
    ----------
    started : float or None
        When it was finite first.
    last : float
        The last gap, infinite before that.
    """

    def __init__(self, begun=0.0, share=SHARE):
        self.begun, self.share, self.started, self.last, self._passed = begun, share, None, math.inf, deque()

    def take(self, seconds, gap):
        """Take a gap above 0, after so many seconds."""
        if self.started is None:
            self.started = seconds
        self.last = gap
        self._passed.append((seconds, gap))
        begin = self.started + self.share * (seconds - self.started)
        while len(self._passed) > 1 and self._passed[1][0] <= begin:
            self._passed.popleft()

    @property
    def is_known(self):
        """Whether there are reports enough to tell."""
        return len(self._passed) >= FEWEST

    def needed(self):
        """Return the seconds that the next factor of ten takes at this pace; infinite where the gap does not move."""
        (earlier, wider), (now, gap) = self._passed[0], self._passed[-1]
        closed = math.log(wider / gap)
        return math.inf if closed <= 0.0 else (now - earlier) * DECADE / closed
