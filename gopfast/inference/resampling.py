"""The bootstrap of a mixture, with a proved optimum of every resample."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from gopfast import checks
from gopfast.annotations import FloatArray, Log, Seed
from gopfast.errors import InputError, InputTypeError
from gopfast.inference.tuning import EPSILON, MOST_RESAMPLES, TIME_LIMIT
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.result import Result
from gopfast.mixtures.solution import MixtureSolution
from gopfast.options import seed_from
from gopfast.parallel import outcomes
from gopfast.report import Tally
from gopfast.solver import solve

if TYPE_CHECKING:
    from gopfast.annotations import DataFrame


@dataclass(frozen=True, eq=False, kw_only=True)
class Bootstrap:
    """
    Fits of resampled data, each with its proof, components matched with those of the fit.

    Attributes
    ----------
    kind : {"nonparametric", "parametric"}
    fit : Result
        That of the data.
    objectives, lower_bounds : ndarray, shape (B,)
        Of the resamples: the optimum of each lies between them.
    proved : ndarray of bool, shape (B,)
        Whether the fit of a resample is globally optimal within the tolerance.
    weights : ndarray, shape (B, K)
    parameters : dict of ndarray
        By name, with the resamples as the first axis; of labels a tuple of arrays.
    """

    kind: Literal["nonparametric", "parametric"]
    fit: Result
    objectives: FloatArray = field(repr=False)
    lower_bounds: FloatArray = field(repr=False)
    proved: FloatArray = field(repr=False)
    weights: FloatArray = field(repr=False)
    parameters: dict[str, FloatArray | tuple[FloatArray, ...]] = field(repr=False)

    @property
    def n_proved(self) -> int:
        """Number of resamples whose optimum is proved."""
        return int(self.proved.sum())

    @property
    def standard_errors(self) -> dict[str, FloatArray | tuple[FloatArray, ...]]:
        """Standard deviations over the resamples, of "weights" and each parameter, by name."""
        return self._reduced(lambda values: values.std(axis=0, ddof=1) if len(values) > 1 else values[0] * np.nan)

    def interval(self, level: float = 0.95) -> dict[str, FloatArray | tuple[FloatArray, ...]]:
        """
        Compute percentile intervals.

        Parameters
        ----------
        level : float
            Share of the resamples within, between 0 and 1.

        Returns
        -------
        dict of ndarray
            By name; the first axis has the lower and the upper ends.
        """
        level = checks.positive_number("level", level)
        if level >= 1.0:
            raise InputError(f"level must be below 1; got {level:g}")
        ends = 0.5 * (1.0 - level), 0.5 * (1.0 + level)
        return self._reduced(lambda values: np.quantile(values, ends, axis=0))

    def _reduced(self, function):
        found = {"weights": function(self.weights)}
        for name, values in self.parameters.items():
            found[name] = tuple(map(function, values)) if isinstance(values, tuple) else function(values)
        return found

    def to_frame(self) -> "DataFrame":
        """
        Tabulate the resamples; needs pandas.

        Returns
        -------
        pandas.DataFrame
            One row for each: objective, lower_bound, proved, and every number of the fit.
        """
        import pandas

        columns = {"objective": self.objectives, "lower_bound": self.lower_bounds, "proved": self.proved}
        for name, values in {"weights": self.weights, **self.parameters}.items():
            for j, array in enumerate(values if isinstance(values, tuple) else (values,)):
                which = f"[{j}]" * isinstance(values, tuple)
                for place in np.ndindex(array.shape[1:]):
                    columns[f"{name}{which}[{', '.join(map(str, place))}]"] = array[(slice(None), *place)]
        return pandas.DataFrame(columns)

    def __str__(self) -> str:
        """Return estimates with standard errors and 95 % intervals."""
        B, errors, ends = len(self.objectives), self.standard_errors, self.interval()
        lines = [
            f"{self.kind} bootstrap: {B:,} resamples, the optimum proved of {self.n_proved:,}",
            f"  {'':<28} {'estimate':>12} {'std. error':>12} {'95 % from':>12} {'to':>12}",
        ]
        given = {"weights": self.fit.solution.weights, **self.fit.solution.parameters}
        for name, error in errors.items():
            arrays = (given[name], error, ends[name])
            for j, (value, sd, end) in enumerate(zip(*arrays) if isinstance(error, tuple) else [arrays]):  # noqa: B905
                which = f"[{j}]" * isinstance(error, tuple)
                for place in np.ndindex(np.shape(sd)):
                    label = f"{name}{which}[{', '.join(map(str, place))}]"
                    numbers = np.asarray(value)[place], np.asarray(sd)[place], *(part[place] for part in end)
                    lines.append(f"  {label:<28} " + " ".join(f"{number:>12.6g}" for number in numbers))
        if self.n_proved < B:
            left = B - self.n_proved
            lines.append(f"  note: {left:,} resamples reached a limit first; their fits are the best known")
        return "\n".join(lines)


def bootstrap(
    fit: Result | MixtureProblem,
    n_resamples: int = 200,
    *,
    kind: Literal["nonparametric", "parametric"] = "nonparametric",
    epsilon: float = EPSILON,
    time_limit: float | None = TIME_LIMIT,
    n_jobs: int | None = None,
    random_state: Seed = 0,
    log: Log = None,
) -> Bootstrap:
    """
    Bootstrap a mixture: solve resamples to the proved optimum, for standard errors that no missed optimum distorts.

    Parameters
    ----------
    fit : Result or MixtureProblem
        The fit of the data, or the problem, which is solved first. Floors and known variances of the problem are kept
        for all resamples.
    n_resamples : int, default 200
    kind : {"nonparametric", "parametric"}
        Samples drawn with replacement, or from the fitted mixture.
    epsilon : float, default 0.01
        Tolerance of each search, in nats.
    time_limit : float or None, default 60
        Seconds of each search. What it ends is marked in `proved`.
    n_jobs : int, optional
        Processes, 1 by default; -1: one per processor. More than one need joblib. The outcome does not depend on it.
    random_state : None, int, Generator or RandomState
        Seed of resamples and starts.
    log : None, bool or stream
        Whether to count the resamples that are done: None only what takes longer than 5 seconds, on standard error.

    Returns
    -------
    Bootstrap
        Components matched with those of the fit: by how the fits divide the samples of the data.

    Raises
    ------
    InputError
        If an argument is invalid.

    References
    ----------
    O'Hagan, Murphy, Scrucca & Gormley, "Investigation of parameter uncertainty in clustering using a Gaussian mixture
    model via jackknife, bootstrap and weighted likelihood bootstrap", Computational Statistics 34 (2019).

    Examples
    --------
    >>> import gopfast
    >>> X = gopfast.datasets.load("galaxies") / 1000
    >>> problem = gopfast.GaussianMixture(X, 2, covariance="known", noise_variance=4.0)
    >>> found = gopfast.bootstrap(problem, 20)
    >>> found.n_proved, found.standard_errors["means"].shape
    (20, (2, 1))
    """
    fit, problem = _fit_of(fit, epsilon, time_limit)
    n_resamples = checks.whole_number("n_resamples", n_resamples, 1, MOST_RESAMPLES)
    kind = checks.choice("kind", kind, ("nonparametric", "parametric"))
    search = search_options(epsilon, time_limit)
    draw = _Resample(problem, None if kind == "nonparametric" else fit.solution, search)
    seeds = np.random.SeedSequence(seed_from(random_state)).spawn(n_resamples)
    with Tally(n_resamples, "resamples", log) as tally:
        found = [tally.count(one) for one in outcomes(draw, seeds, n_jobs)]
    aligned = [_aligned(fit.solution, one.state) for one in found]
    return Bootstrap(
        kind=kind,
        fit=fit,
        objectives=np.array([one.objective for one in found]),
        lower_bounds=np.array([one.lower_bound for one in found]),
        proved=np.array([one.proved for one in found]),
        weights=np.stack([state["weights"] for state in aligned]),
        parameters=_stacked(problem, aligned),
    )


class _Outcome(NamedTuple):
    """What comes back from a resample."""

    state: dict
    objective: float
    lower_bound: float
    proved: bool


class _Resample:
    """Draws data and solves their problem: a task for another process; `solution` None draws from the data."""

    def __init__(self, problem, solution, search):
        self.problem, self.solution, self.search = problem, solution, search

    def __call__(self, seed):
        rng = np.random.default_rng(seed)
        problem = resampled(self.problem, rng) if self.solution is None else simulated(self.solution, rng)
        return _outcome(problem, rng, self.search)


def _outcome(problem, rng, search):
    result = solve(problem, **search, random_state=rng)
    state = {"weights": result.solution.weights, **result.solution.parameters}
    return _Outcome(state, result.objective, result.lower_bound, result.success)


def resampled(problem: MixtureProblem, rng: np.random.Generator) -> MixtureProblem:
    """Return a problem of as many samples drawn from those of a problem with replacement."""
    share = problem.sample_weight / problem.total_weight
    counts = rng.multinomial(max(1, round(problem.total_weight)), share).astype(float)
    kept = np.flatnonzero(counts)
    if len(kept) < problem.n_components:  # a problem has as many samples as components, some of them without weight
        kept = np.union1d(kept, np.arange(problem.n_components))
    return problem._with(X=problem.X[kept], sample_weight=counts[kept])


def simulated(solution: MixtureSolution, rng: np.random.Generator) -> MixtureProblem:
    """Return a problem of as many samples drawn from a fitted mixture."""
    problem = solution.problem
    size = max(problem.n_components, round(problem.total_weight))
    X, _ = solution.sample(size, rng)
    return problem._with(X=problem._drawn_rows(X, rng), sample_weight=np.ones(size))


def _aligned(solution, state):
    """Return a state with the components in the order of those of a solution that share most samples with them."""
    problem, weights, parameters = solution.problem, state["weights"], {**state}
    parameters.pop("weights")
    other = problem.responsibilities(weights, **parameters)
    shared = (problem.sample_weight[:, np.newaxis] * solution.responsibilities).T @ other
    shared = shared[: problem.n_components, : problem.n_components]  # noise stays the last
    # Here and not above: SciPy's optimisers take 40 ms to load.
    from scipy.optimize import linear_sum_assignment

    order = linear_sum_assignment(-shared)[1]
    return problem.reordered(order, weights, **parameters)


def _stacked(problem, states):
    """Return the parameters of all states by name, resamples first; what the model does not have is left out."""
    found = {}
    for name in problem.parameter_names:
        values = [state[name] for state in states]
        if values[0] is None:
            continue
        if isinstance(values[0], tuple):
            found[name] = tuple(map(np.stack, zip(*values, strict=True)))
        else:
            found[name] = np.stack(values)
    return found


def _fit_of(fit, epsilon, time_limit):
    """Return the result to start from and its problem."""
    if isinstance(fit, MixtureProblem):
        fit = solve(fit, **search_options(epsilon, time_limit))
    if not isinstance(fit, Result) or not isinstance(fit.solution, MixtureSolution):
        raise InputTypeError(f"fit must be a Result or a mixture of gopfast.models; got {type(fit).__name__}")
    return fit, fit.solution.problem


def search_options(epsilon: float, time_limit: float | None) -> dict[str, float | None]:
    """Return the options of each search: one thread, as there are many of them."""
    epsilon = checks.positive_number("epsilon", epsilon)
    if time_limit is not None:
        time_limit = checks.nonnegative_number("time_limit", time_limit, infinite=True)
    return {"epsilon": epsilon, "time_limit": time_limit, "n_threads": 1, "log": False}
