"""How much memory a search may take, and how much the process takes already."""

import os
import resource
import sys
from pathlib import Path

SHARE = 0.8  # of what is free at the start, by default
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
USED = ("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes")


class Memory:
    """
    What the open nodes of a search may take.

    Parameters
    ----------
    limit : float or None
        Bytes that the whole process may take; None: SHARE of what is free now, and what it takes already.
    """

    def __init__(self, limit=None):
        self.limit = resident() + SHARE * available() if limit is None else limit
        self.rest = 0

    def room(self, taken):
        """
        Bytes that the open nodes may take beside all else.

        Parameters
        ----------
        taken : int
            Most that they have taken so far: what was freed since may still count as resident.
        """
        self.rest = max(self.rest, resident() - taken)
        return max(0, min(int(self.limit) - self.rest, sys.maxsize))


def resident():
    """Resident memory of this process in bytes; where the system does not tell, the most that it was."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else 1024 * most


def available():
    """Memory in bytes that this process could still take: of the machine, and within the limits of its container."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    for limit, used in zip(LIMITS, USED, strict=True):
        try:
            free = min(free, max(0, int(Path(limit).read_text()) - int(Path(used).read_text())))
        except (OSError, ValueError):  # no container, or one without a limit ("max")
            continue
    return free
