"""How much memory a search may take, and how much the process takes already."""

import os
import sys

from gopfast.search.tuning import SHARE, UNASKED, UNTOLD

try:
    import resource
except ImportError:  # Windows
    resource = None

CGROUPS = "/proc/self/cgroup"
# Of a group of processes with a limit, such as a container or a batch job: controller and folder, and in its folder
# the limit, what is taken, and what of the latter are copies of files, of which the system may let go.
MOUNTS = (
    ("", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    ("memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


class Memory:
    """
    What the open nodes of a search may take.

    Parameters
    ----------
    limit : float or None
        Bytes that the whole process may take; None: what it takes when it is first asked, and SHARE of what is free
        then.

    Attributes
    ----------
    unasked : int
        Bytes that the open nodes may take before `room` is to be asked.
    """

    def __init__(self, limit=None):
        self.limit, self.unasked = limit, UNASKED if limit is None else 0
        self.rest = 0

    def room(self, taken):
        """
        Bytes that the open nodes may take beside all else.

        Parameters
        ----------
        taken : int
            Most that they have taken so far: what was freed since may still count as resident.
        """
        if self.limit is None:
            self.limit = resident() + SHARE * available()
        self.rest = max(self.rest, resident() - taken)
        return max(0, min(int(self.limit) - self.rest, sys.maxsize))


def resident():
    """Resident memory of this process in bytes; where the system does not tell, the most that it was, or 0."""
    if resource is None:
        return 0
    told = _read("/proc/self/statm")
    if told is not None:
        return int(told.split()[1]) * resource.getpagesize()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def available():
    """Memory in bytes that this process could still take: of the machine, and within the limits of its groups."""
    free = _number(_read("/proc/meminfo"), "MemAvailable:")
    if free is None and not hasattr(os, "sysconf"):
        return UNTOLD
    if free is None:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    return min([1024 * free, *_left_in_groups()])


def _left_in_groups():
    """Yield what each limit leaves of the groups that hold this process, and of those that hold them."""
    for controller, mount, limit, used, files in MOUNTS:
        for folder in _folders(controller, mount):
            limited, taken = _read(f"{folder}/{limit}"), _read(f"{folder}/{used}")
            if limited is None or taken is None or not limited.strip().isdigit():  # "max": none
                continue
            kept = _number(_read(f"{folder}/memory.stat"), files) or 0
            yield max(0, int(limited) - max(0, int(taken) - kept))


def _folders(controller, mount):
    """Return the folders of this process's groups of a controller, the outermost first."""
    folders = [mount]
    for line in (_read(CGROUPS) or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            for name in filter(None, path.split("/")):
                folders.append(f"{folders[-1]}/{name}")
            break
    return folders


def _number(text, name):
    """Return the number that follows a name in lines of names and numbers; None: there is none."""
    for line in (text or "").splitlines():
        words = line.split()
        if words[:1] == [name]:
            return int(words[1])
    return None


def _read(path):
    """Return the text of a file of the system's; None: there is none."""
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except OSError:
        return None
