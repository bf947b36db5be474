"""Whether more time is of use: the pace at which a gap closes, against the time limit."""

import math
from collections import deque

from gopfast.tuning import FEWEST, FIRST, PATIENCE, SHARE

DECADE = math.log(10.0)


class Outlook:
    """
    Ends a search when the next factor of ten of its gap is to take more than ten times its time limit.

    The pace is that of the later half of the time since the first bound. A clock decides nothing but the end.

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
        self._started, self._passed = None, deque()

    @classmethod
    def of(cls, limit):
        """Return one for a time limit; None where there is none, or a short one."""
        return None if limit is None or not FIRST / SHARE <= limit < math.inf else cls(limit)

    def update(self, seconds, gap):
        """
        Take a state of the search.

        Parameters
        ----------
        seconds : float
            Since its start.
        gap : float
            Infinite as long as there is no bound.

        Returns
        -------
        bool
            Whether the search is to end.
        """
        if not 0.0 < gap < math.inf:
            return False
        if self._started is None:
            self._started = seconds
        self._passed.append((seconds, gap))
        begin = self._started + SHARE * (seconds - self._started)
        while len(self._passed) > 1 and self._passed[1][0] <= begin:
            self._passed.popleft()
        if seconds < SHARE * self.limit or len(self._passed) < FEWEST:
            return False
        earlier, wider = self._passed[0]
        closed = math.log(wider / gap)
        needed = math.inf if closed <= 0.0 else (seconds - earlier) * DECADE / closed
        if needed <= PATIENCE * self.limit:
            return False
        pace = "the bound does not move" if math.isinf(needed) else f"a tenth of the gap would take {needed:,.0f} s"
        self.verdict = f"ended after {seconds:.0f} of {self.limit:g} s, as {pace}"
        return True
