"""How many threads a search may run on."""

import os

# After a fork the OpenMP pool of the parent is gone, and waking it would hang the child.
_state = {"forked": False}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _state.update(forked=True))


def n_threads(requested):
    """Return the number of threads to use: as requested, or one per processor this process may run on."""
    if _state["forked"]:
        return 1
    if requested is not None:
        return requested
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
