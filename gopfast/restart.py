"""Restarts of a local method, until a fit lies in the proved interval."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from gopfast import checks
from gopfast.annotations import FloatArray, Seed, StartLike
from gopfast.errors import InputTypeError
from gopfast.mixtures import local
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.result import Result
from gopfast.options import seed_from
from gopfast.parallel import n_processes, outcomes
from gopfast.solver import solve
from gopfast.tuning import RESTARTS_AT_ONCE as ROUND, SEARCH_SHARE


@dataclass(frozen=True, eq=False, kw_only=True)
class RestartResult:
    """
    Result of `gopfast.local.restart_until_certified`.

    Attributes
    ----------
    fit : LocalResult
        The best fit of all restarts.
    certified : bool
        Whether `fit` is proved globally optimal within epsilon.
    gap : float
        ``fit.objective - result.lower_bound``, in nats: the fit is at most this far from the global optimum.
    objectives : ndarray, shape (n_restarts,)
        The objective that each restart ended at; see `gopfast.plot.local_optima`.
    n_restarts : int
        Restarts made, the last one included.
    result : Result
        The global search that gave the bound.
    """

    fit: local.LocalResult
    certified: bool
    gap: float
    objectives: FloatArray
    n_restarts: int
    result: Result


def restart_until_certified(
    problem: MixtureProblem,
    method: Callable[..., local.LocalResult] | None = None,
    *,
    start: str | Callable[..., StartLike] | None = None,
    epsilon: float = 0.01,
    max_restarts: int = 1000,
    time_limit: float | None = None,
    n_threads: int | None = None,
    n_jobs: int | None = None,
    random_state: Seed = 0,
    **options: object,
) -> RestartResult:
    """
    Restart a local method until its fit lies in the proved interval.

    The interval is ``[LBD, LBD + epsilon]``, with LBD from `gopfast.solve`: a fit in it is globally optimal within
    epsilon.

    Parameters
    ----------
    problem : MixtureProblem
    method : callable, optional
        A local method, ``method(problem, start, random_state=seed, ...) -> LocalResult``; `gopfast.local.em` by
        default.
    start : str or callable, optional
        What makes the start of each restart: a strategy of `gopfast.local.start`, or
        ``start(problem, random_state=seed)``; by default the method's own.
    epsilon : float, default 0.01
        Absolute tolerance, in nats.
    max_restarts : int, default 1000
        Most restarts.
    time_limit : float, optional
        Seconds, for search and restarts together. At least one restart is made.
    n_threads : int, optional
        Threads of the global search.
    n_jobs : int, optional
        Restarts at a time, by joblib: -1 for one per processor, None for what `joblib.parallel_config` says. The result
        does not depend on it.
    random_state : None, int, Generator or RandomState
        Seeds of the restarts.
    **options
        Options of the method.

    Returns
    -------
    RestartResult

    Raises
    ------
    InputError
        If an argument is invalid; the message names it.

    See Also
    --------
    gopfast.certify : proves or beats a fit, and cites the idea's source.

    Examples
    --------
    >>> import gopfast
    >>> problem = gopfast.GaussianMixture([-10, -10, 5, 25], 2, prior="empirical")
    >>> found = gopfast.local.restart_until_certified(problem)
    >>> found.certified
    True
    """
    started = time.perf_counter()
    epsilon = checks.positive_number("epsilon", epsilon)
    max_restarts = checks.whole_number("max_restarts", max_restarts, 1)
    method = local.em if method is None else method
    if isinstance(start, str):
        checks.choice("start", start, tuple(local.starts.STRATEGIES))
        start = partial(local.start, strategy=start)
    for name, value in (("method", method), ("start", start)):
        if value is not None and not callable(value):
            raise InputTypeError(f"{name} must be callable or None; got {type(value).__name__}")
    seed = seed_from(random_state)
    result = solve(problem, SEARCH_SHARE * epsilon, time_limit=time_limit, n_threads=n_threads, random_state=seed)
    target = result.lower_bound + epsilon
    best, objectives = None, []
    for fit in restarts(problem, method, start, max_restarts, seed, n_jobs, **options):
        objectives.append(fit.objective)
        if best is None or fit.objective < best.objective:
            best = fit
        if best.objective <= target or (time_limit is not None and time.perf_counter() - started >= time_limit):
            break
    return RestartResult(
        fit=best,
        certified=best.objective <= target,
        gap=best.objective - result.lower_bound,
        objectives=np.array(objectives),
        n_restarts=len(objectives),
        result=result,
    )


def restarts(
    problem: MixtureProblem,
    method: Callable[..., local.LocalResult],
    start: Callable[..., StartLike] | None,
    n_restarts: int,
    seed: int,
    n_jobs: int | None = None,
    **options: object,
) -> Iterator[local.LocalResult]:
    """Yield the fits of a local method from `n_restarts` starts; arguments as `restart_until_certified`."""
    seeds = np.random.SeedSequence(seed).generate_state(n_restarts, np.uint64).tolist()
    run, processes = _Restart(problem, method, start, options), n_processes(n_jobs)
    size = 1 if processes == 1 else ROUND * processes
    for first in range(0, n_restarts, size):
        yield from outcomes(run, seeds[first : first + size], n_jobs)


class _Restart:
    """A run of a local method from a seed: a task for another process."""

    def __init__(self, problem, method, start, options):
        self.problem, self.method, self.start, self.options = problem, method, start, options

    def __call__(self, seed):
        """Return the fit."""
        first = None if self.start is None else self.start(self.problem, random_state=seed)
        return self.method(self.problem, first, random_state=seed, **self.options)
