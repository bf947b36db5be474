"""Every local method from every kind of start, against the proved optimum."""

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gopfast import checks
from gopfast.annotations import CompareOptions, FloatArray, Json, Seed
from gopfast.errors import InputError
from gopfast.mixtures import local
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.result import Result
from gopfast.mixtures.solution import MixtureSolution
from gopfast.options import seed_from
from gopfast.parallel import n_processes
from gopfast.restart import restarts
from gopfast.result import Status, to_json_types
from gopfast.solver import solve

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True, eq=False, kw_only=True)
class Row:
    """
    The runs of one local method from one kind of start.

    Attributes
    ----------
    method, start : str
    objectives : ndarray, shape (n_runs,)
        Where each run ended.
    excess : ndarray, shape (n_runs,)
        How far above the best objective known, in nats.
    n_missed : int
        Runs that ended more than epsilon above it.
    time : float
        Seconds for all runs.
    """

    method: str
    start: str
    objectives: FloatArray
    excess: FloatArray
    n_missed: int
    time: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison:
    """
    Local methods against the proved optimum.

    Attributes
    ----------
    result : Result
        The global search.
    epsilon : float
        Runs that end at most this far above the best objective known count as hits.
    rows : sequence of Row
    skipped : dict of str to str
        Methods and starts that this problem cannot have, and why.
    interrupted : bool
        Whether Ctrl-C ended the runs early.
    """

    result: Result
    epsilon: float
    rows: Sequence[Row]
    skipped: Mapping[str, str] = field(default_factory=dict)
    interrupted: bool = False

    @property
    def objectives(self) -> dict[str, FloatArray]:
        """Where the runs of each method ended, from all kinds of start; for `gopfast.plot.local_optima`."""
        names = dict.fromkeys(row.method for row in self.rows)
        return {name: np.concatenate([row.objectives for row in self.rows if row.method == name]) for name in names}

    def to_dict(self) -> dict[str, Json]:
        """Convert to JSON types; `result` as `Result.to_dict`."""
        rows = [{name: to_json_types(value) for name, value in vars(row).items()} for row in self.rows]
        return {"result": self.result.to_dict(), "epsilon": self.epsilon, "rows": rows, "skipped": dict(self.skipped)}

    def __str__(self) -> str:
        """Return the bounds and a table of the runs."""
        result = self.result
        proved = "proved optimum" if result.success else "best known (not proved)"
        lines = [
            f"{proved} {result.objective:.8g}, lower bound {result.lower_bound:.8g}; {result.n_nodes:,} nodes in "
            f"{result.time:.3g} s",
            *([f"but {result.caution}"] if result.caution else []),
            f"a run misses if it ends more than {self.epsilon:g} above; excess of all runs, in nats",
            f"  {'method':<20} {'start':<12} {'runs':>5} {'missed':>7} {'median':>10} {'mean':>10} {'worst':>10} "
            f"{'time':>8}",
        ]
        for row in self.rows:
            shown = (np.median(row.excess), row.excess.mean(), row.excess.max())
            numbers = " ".join(f"{max(0.0, value):>10.4g}" for value in shown)
            lines.append(
                f"  {row.method:<20} {row.start:<12} {len(row.excess):>5} {row.n_missed / len(row.excess):>7.0%} "
                f"{numbers} {row.time:>7.2g}s"
            )
        lines += [f"  not run: {name}: {reason}" for name, reason in self.skipped.items()]
        return "\n".join(lines)


def compare(
    problem: MixtureProblem,
    n_starts: int = 100,
    epsilon: float = 0.01,
    *,
    random_state: Seed = 0,
    n_jobs: int | None = None,
    **options: "Unpack[CompareOptions]",
) -> Comparison:
    """
    Run every local method from every kind of start, and compare with the proved optimum.

    Parameters
    ----------
    problem : MixtureProblem
    n_starts : int, default 100
        Runs of each method from each kind of start. All methods run from the same starts.
    epsilon : float, default 0.01
        Tolerance of the global search, and of a hit, in nats.
    random_state : None, int, Generator or RandomState
        Seeds of the starts.
    n_jobs : int, optional
        Local runs at a time, by joblib: -1 for one per processor, None for what `joblib.parallel_config` says. Where
        they end does not depend on it.
    **options
        Other options of `gopfast.solve`, such as `time_limit`: they concern the global search, not the local runs.

    Returns
    -------
    Comparison
        Ctrl-C ends it with the runs made so far.

    Raises
    ------
    InputError
        If an argument is invalid; the message names it.
    """
    n_starts = checks.whole_number("n_starts", n_starts, 1)
    seed = seed_from(random_state)
    n_processes(n_jobs)  # a bad one is named before the search
    result = solve(problem, epsilon, random_state=seed, **options)
    found, skipped = [], {}
    interrupted = result.status is Status.INTERRUPTED
    try:
        kinds = {} if interrupted else _possible(starts(), problem, seed, skipped)
        for name, method in methods().items():
            for kind, start in kinds.items():
                begun, objectives = time.perf_counter(), []
                try:
                    for fit in restarts(problem, method, start, n_starts, seed, n_jobs):
                        objectives.append(fit.objective)
                except (InputError, ImportError) as error:
                    skipped[name] = str(error)
                    break
                finally:
                    if objectives:
                        found.append((name, kind, np.array(objectives), time.perf_counter() - begun))
    except KeyboardInterrupt:
        interrupted = True
    return Comparison(
        result=result,
        epsilon=epsilon,
        rows=[_row(*one, result.objective, epsilon) for one in found],
        skipped=skipped,
        interrupted=interrupted,
    )


def methods() -> dict[str, Callable[..., local.LocalResult]]:
    """Return the local methods of `gopfast.local` by name: all functions called as ``method(problem, start, ...)``."""
    return {
        name: function
        for name, function in sorted(vars(local).items())
        if inspect.isfunction(function) and list(inspect.signature(function).parameters)[:2] == ["problem", "start"]
    }


def starts() -> dict[str, Callable[..., MixtureSolution]]:
    """Return the kinds of start by name, each called as ``start(problem, random_state=seed)``."""
    return {name: partial(local.start, strategy=name) for name in local.starts.STRATEGIES}


def _possible(starts, problem, seed, skipped):
    """Return those kinds of start that this problem and this installation can have."""
    possible = {}
    for kind, start in starts.items():
        try:
            start(problem, random_state=seed)
        except (InputError, ImportError) as error:
            skipped[f"start {kind}"] = str(error)
        else:
            possible[kind] = start
    return possible


def _row(method, start, objectives, seconds, best, epsilon):
    excess = objectives - best
    return Row(
        method=method,
        start=start,
        objectives=objectives,
        excess=excess,
        n_missed=int((excess > epsilon).sum()),
        time=seconds,
    )
