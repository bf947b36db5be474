"""Many independent tasks, one after the other or in processes of joblib, with their outcomes in order."""

import sys

from gopfast import checks
from gopfast.tuning import MOST_JOBS


def n_processes(n_jobs) -> int:
    """Return how many to run at a time: of None what `joblib.parallel_config` says, or 1; of -1 one per processor."""
    joblib = sys.modules.get("joblib")  # who has set something has loaded it
    if n_jobs is None:
        return 1 if joblib is None else max(1, joblib.effective_n_jobs(None))
    if isinstance(n_jobs, int) and n_jobs == -1:
        from gopfast.search.threads import n_threads

        return n_threads(None) if joblib is None else max(1, joblib.effective_n_jobs(-1))
    return checks.whole_number("n_jobs", n_jobs, 1, MOST_JOBS)


def shares_memory() -> bool:
    """Whether tasks that would do as well in threads are to be run in threads: unless a joblib backend was set."""
    joblib = sys.modules.get("joblib")
    if joblib is None:
        return True
    return getattr(joblib.parallel.get_active_backend(prefer="threads")[0], "uses_threads", False)


def outcomes(function, tasks, n_jobs=None):
    """
    Yield what a function of a module returns for each of some tasks, in order; more than one process needs joblib.

    Parameters
    ----------
    function : callable
        Can be pickled.
    tasks : sequence
    n_jobs : int or None
        As of `joblib.Parallel`, whose backend `joblib.parallel_config` sets: processes of this machine, or a cluster of
        Dask.

    Raises
    ------
    ImportError
        If there should be several processes, and joblib is not installed.
    """
    if n_processes(n_jobs) == 1 or len(tasks) < 2:
        yield from map(function, tasks)
        return
    try:
        from joblib import Parallel, delayed
    except ImportError as error:
        raise ImportError("n_jobs above 1 needs joblib: pip install 'gopfast[parallel]'") from error
    yield from Parallel(n_jobs=n_jobs, return_as="generator")(delayed(function)(task) for task in tasks)
