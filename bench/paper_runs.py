"""The experiments of Saddiki, Trapp & Flaherty, sections 3.2 and 4.2, as functions that return plain numbers."""

import math
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

import datasets
import numpy as np
import speed_table
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search

import gopfast
from gopfast.mixtures import engine

EPSILON = 0.01
TIME_LIMIT = 60.0
KINDS = ("dirichlet", "gamma", "uniform")
# How the paper branches: all bound combinations of means and weights.
PAPER = {"relaxation": "linear", "partition": "paper", "branching": "orthant"}
GOP = {
    "GOP linear, the paper's partition and branching": PAPER,
    "GOP linear, the paper's partition, combinations selected by MILP": {
        "relaxation": "linear", "partition": "paper", "subproblem": "milp"
    },
    "GOP linear, the paper's partition, bisection": {"relaxation": "linear", "partition": "paper"},
    "GOP linear, joint partition, orthants": {"relaxation": "linear", "branching": "orthant"},
    "GOP linear, joint partition, combinations selected by MILP": {"relaxation": "linear", "subproblem": "milp"},
    "GOP linear, joint partition, bisection": {"relaxation": "linear"},
    "GOP entropic (default)": {},
}


def minimal(posterior="point"):
    """The paper's problem: four samples, two components, prior variance estimated."""
    return gopfast.GaussianMixture(datasets.minimal(), 2, prior="empirical", posterior=posterior)


def variational_em(problem, kind, n_runs):
    """Results of variational EM from random responsibilities, seeds 0 to n_runs - 1."""
    starts = [gopfast.local.start(problem, kind, random_state=seed) for seed in range(n_runs)]
    return [gopfast.local.em(problem, start) for start in starts]


def solves(problem, n_runs, **options):
    """Results of the public solver, seeds 0 to n_runs - 1."""
    return [gopfast.solve(problem, EPSILON, random_state=seed, time_limit=TIME_LIMIT, **options)
            for seed in range(n_runs)]  # fmt: skip


@dataclass(frozen=True)
class Run:
    """A search that had no starts of its own: bounds, counts and history as in `gopfast.Result`."""

    success: bool
    objective: float
    lower_bound: float
    n_nodes: int
    n_lps: int
    n_passes: int
    history: np.ndarray

    @property
    def gap(self):
        return self.objective - self.lower_bound


def solve_from(problem, start, linear, max_nodes=2**62):
    """
    GOP from one given point, as the paper runs it: without the solver's own multi-start.

    Only those of its starts remain that leave a component without weight, which EM never does by itself.
    """
    family = engine.family(problem)
    if linear:
        from gopfast.mixtures.relaxations.linear import LinearRelaxation

        relaxation = LinearRelaxation(family, True)
    else:
        relaxation = EntropicRelaxation(family)
    primal = MixturePrimal(family, n_starts=0, start=engine.start_solution(problem, start)[0])
    search = Search(relaxation, primal, EPSILON, orthant=linear, time_limit=TIME_LIMIT, max_nodes=max_nodes)
    success = search.run() == gopfast.Status.OPTIMAL
    fields, _ = search.summary()
    return Run(success, *(fields[name] for name in list(Run.__annotations__)[1:]))


def solves_from(problem, starts, linear):
    return [solve_from(problem, start, linear) for start in starts]


def missed(results, optimum):
    """How many runs ended more than EPSILON above the optimum."""
    return sum(result.objective > optimum + EPSILON for result in results)


def two_starts(problem, n_runs=100):
    """Seed and end of the first run of variational EM that is trapped and of the first that is not."""
    runs = variational_em(problem, "dirichlet", n_runs)
    middle = 0.5 * (min(run.objective for run in runs) + max(run.objective for run in runs))
    trapped = [run.objective > middle for run in runs]
    return [(seed, runs[seed]) for seed in (trapped.index(True), trapped.index(False))]


def bounds_by_work(problem, start, linear, repeats=9):
    """
    Time, linear programs (or data passes), LBD and UBD at each report of a search, the fastest of several.

    The history has no such counts. Searches repeat exactly, so they are read off searches stopped at its nodes.
    """
    run = min((solve_from(problem, start, linear) for _ in range(repeats)), key=lambda run: run.history[-1, 0])
    counts = [solve_from(problem, start, linear, max_nodes=int(row[1])) for row in run.history]
    work = [count.n_lps if linear else count.n_passes for count in counts]
    if any(count.lower_bound != row[2] for count, row in zip(counts, run.history, strict=True)):
        raise RuntimeError("a search did not repeat exactly")
    return run, np.column_stack([run.history[:, 0], work, run.history[:, 2:4]])


def timed(function, repeats):
    """Seconds of each of several whole calls, and the last result."""
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - started)
    return seconds, result


def table_1(problem, repeats=5):
    """Name, options, least seconds of a whole call, and result of each variant of GOP; one thread."""
    for name, options in GOP.items():
        seconds, result = timed(
            lambda options=options: gopfast.solve(problem, EPSILON, n_threads=1, time_limit=TIME_LIMIT, **options),
            repeats,
        )
        yield name, options, min(seconds), result


def families(n_starts=100):
    """Data, K, posterior, proved result and the runs of variational EM, for both variational families."""
    for name, data, K in [("minimal", datasets.minimal, 2), *(("galaxies", datasets.galaxies, K) for K in (2, 3, 4))]:
        for posterior in ("point", "gaussian"):
            problem = gopfast.GaussianMixture(data(), K, prior="empirical", posterior=posterior)
            result = gopfast.solve(problem, EPSILON, n_threads=1, time_limit=TIME_LIMIT)
            yield name, K, posterior, result, variational_em(problem, "dirichlet", n_starts)


# (N, K, distance of the means), options
THREADED = [((1000, 6, 5), {}), ((20, 2, 6), PAPER)]


@dataclass(frozen=True)
class Threaded:
    """Wall seconds (least and median), median processor seconds of the busiest thread, and a result."""

    least: float
    median: float
    busiest: float
    result: gopfast.Result


def thread_seconds():
    """Processor time of every thread of this process by now; empty where the system does not tell."""
    tasks = Path("/proc/self/task").glob("*/schedstat")
    return {task.parent.name: 1e-9 * int(task.read_text().split()[0]) for task in tasks}


def threads(shape, options, repeats):
    """Measure 1 and 2 threads in turn, so that other load hits both alike; a `Threaded` by number of threads."""
    problem = gopfast.GaussianMixture(speed_table.line(*shape), shape[1], covariance="known")
    walls, busiest, results = {1: [], 2: []}, {1: [], 2: []}, {}
    for _ in range(repeats):
        for n in walls:
            before = thread_seconds()
            used, results[n] = timed(
                lambda n=n: gopfast.solve(problem, EPSILON, n_threads=n, time_limit=TIME_LIMIT, **options), 1
            )
            walls[n] += used
            after = thread_seconds()
            busiest[n].append(max((after[name] - before.get(name, 0.0) for name in after), default=math.nan))
    median = statistics.median
    return {n: Threaded(min(walls[n]), median(walls[n]), median(busiest[n]), results[n]) for n in walls}
