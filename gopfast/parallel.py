"""Many independent tasks, one after the other or in processes of joblib, with their outcomes in order."""

from gopfast import checks

MOST_JOBS = 1024


def n_processes(n_jobs) -> int:
    """Return how many to run at a time: 1 of None, the number of processors of -1."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, int) and n_jobs == -1:
        from gopfast.search.threads import n_threads

        return n_threads(None)
    return checks.whole_number("n_jobs", n_jobs, 1, MOST_JOBS)


def outcomes(function, tasks, n_jobs=None):
    """
    Yield what a function of a module returns for each of some tasks, in order; more than one process needs joblib.

    Raises
    ------
    ImportError
        If there should be several processes, and joblib is not installed.
    """
    n_jobs = n_processes(n_jobs)
    if n_jobs == 1 or len(tasks) < 2:
        yield from map(function, tasks)
        return
    try:
        from joblib import Parallel, delayed
    except ImportError as error:
        raise ImportError("n_jobs above 1 needs joblib: pip install 'gopfast[parallel]'") from error
    yield from Parallel(n_jobs=n_jobs, return_as="generator")(delayed(function)(task) for task in tasks)
