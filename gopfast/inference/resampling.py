"""The bootstrap of a mixture, with a proved optimum of every resample; and the likelihood-ratio test by it."""

from collections.abc import Sequence
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
    search = _search(epsilon, time_limit)
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
        fit = solve(fit, **_search(epsilon, time_limit))
    if not isinstance(fit, Result) or not isinstance(fit.solution, MixtureSolution):
        raise InputTypeError(f"fit must be a Result or a mixture of gopfast.models; got {type(fit).__name__}")
    return fit, fit.solution.problem


def _search(epsilon, time_limit):
    """Return the options of each search: one thread, as there are many of them."""
    epsilon = checks.positive_number("epsilon", epsilon)
    if time_limit is not None:
        time_limit = checks.nonnegative_number("time_limit", time_limit, infinite=True)
    return {"epsilon": epsilon, "time_limit": time_limit, "n_threads": 1, "log": False}


@dataclass(frozen=True, eq=False, kw_only=True)
class LikelihoodRatio:
    """
    A bootstrap likelihood-ratio test of K components against K + 1.

    Attributes
    ----------
    n_components : int
        K.
    statistic : float
        Twice the difference of the log-likelihoods of the fits.
    statistic_bounds : (float, float)
        Where that of the global optima is proved to lie.
    p_value : float
        (1 + number of resamples whose statistic is no smaller) / (1 + number of resamples).
    p_value_bounds : (float, float)
        Between which it lies whatever the optima within their proved bounds.
    resampled : ndarray, shape (B,)
        Statistics of data drawn from the fit of K components.
    proved : ndarray of bool, shape (B,)
        Whether both optima of a resample are proved.
    null, alternative : Result
        The fits of K and of K + 1 components.
    """

    n_components: int
    statistic: float
    statistic_bounds: tuple[float, float]
    p_value: float
    p_value_bounds: tuple[float, float]
    resampled: FloatArray = field(repr=False)
    proved: FloatArray = field(repr=False)
    null: Result = field(repr=False)
    alternative: Result = field(repr=False)

    def __str__(self) -> str:
        """Return the statistic and the p-value with what is proved of them."""
        K, B = self.n_components, len(self.resampled)
        low, high = self.statistic_bounds
        p_low, p_high = self.p_value_bounds
        return (
            f"bootstrap likelihood-ratio test of {K} against {K + 1} components, {B:,} resamples\n"
            f"  2 log likelihood ratio {self.statistic:.4f}  (proved: {low:.4f} to {high:.4f})\n"
            f"  p-value                {self.p_value:.4g}  (within the proved bounds: {p_low:.4g} to {p_high:.4g})\n"
            f"  optima proved of       {int(self.proved.sum()):,} resamples, both of each"
        )


def lrt(
    problem: MixtureProblem,
    n_resamples: int = 99,
    *,
    epsilon: float = EPSILON,
    time_limit: float | None = TIME_LIMIT,
    n_jobs: int | None = None,
    random_state: Seed = 0,
    log: Log = None,
) -> LikelihoodRatio:
    """
    Test K components against K + 1 by the bootstrap likelihood ratio, with proved optima of both in every resample.

    The statistic's distribution under K components is no chi-square; data are drawn from the fit of K. A local optimum
    on either side, of the data or of a resample, would move the p-value; here both are proved, and the bounds of the
    p-value say what the tolerance leaves open.

    Parameters
    ----------
    problem : MixtureProblem
        Of K components, without a prior. Floors and known variances are kept for all resamples and for K + 1; a default
        floor is one that suits K + 1.
    n_resamples : int, default 99
    epsilon, time_limit, n_jobs, random_state, log
        As of `gopfast.bootstrap`.

    Returns
    -------
    LikelihoodRatio

    Raises
    ------
    InputError
        If an argument is invalid, or the problem has a prior.

    References
    ----------
    McLachlan, "On bootstrapping the likelihood ratio test statistic for the number of components in a normal mixture",
    Applied Statistics 36 (1987).

    Examples
    --------
    >>> import gopfast
    >>> X = [-6.1, -5.2, -4.4, -5.0, 4.2, 5.1, 5.9, 6.3]
    >>> test = gopfast.lrt(gopfast.GaussianMixture(X, 1, covariance="known"), 19)
    >>> test.p_value, test.p_value_bounds
    (0.05, (0.05, 0.05))
    """
    if not isinstance(problem, MixtureProblem):
        raise InputTypeError(f"problem must be a mixture of gopfast.models; got {type(problem).__name__}")
    if problem.prior is not None:
        raise InputError("prior must be None: a likelihood ratio is of maximum likelihood")
    if problem.n_samples <= problem.n_components:
        raise InputError(f"problem must have more samples than its {problem.n_components} components")
    n_resamples = checks.whole_number("n_resamples", n_resamples, 1, MOST_RESAMPLES)
    search = _search(epsilon, time_limit)
    larger = problem._enlarged(problem.n_components + 1)
    null, alternative = (solve(one, **search) for one in (larger._with(n_components=problem.n_components), larger))
    draw = _Ratio(null.solution, search)
    seeds = np.random.SeedSequence(seed_from(random_state)).spawn(n_resamples)
    with Tally(n_resamples, "resamples", log) as tally:
        found = [tally.count(one) for one in outcomes(draw, seeds, n_jobs)]
    observed = _ratio(null, alternative)
    values, lows, highs = (np.array([one[i] for one in found]) for i in range(3))
    return LikelihoodRatio(
        n_components=problem.n_components,
        statistic=observed[0],
        statistic_bounds=observed[1:3],
        p_value=_share(values, observed[0]),
        p_value_bounds=(_share(lows, observed[2]), _share(highs, observed[1])),
        resampled=values,
        proved=np.array([one[3] for one in found]),
        null=null,
        alternative=alternative,
    )


class _Ratio:
    """Draws data from a fit and solves both problems: a task for another process."""

    def __init__(self, solution, search):
        self.solution, self.search = solution, search

    def __call__(self, seed):
        rng = np.random.default_rng(seed)
        problem = simulated(self.solution, rng)
        return _ratio(*(solve(_of_size(problem, more), **self.search, random_state=rng) for more in (0, 1)))


def _of_size(problem, more):
    return problem._with(n_components=problem.n_components + more)


def _ratio(null, alternative):
    """Return the statistic, its proved bounds, and whether both optima are proved."""
    value = 2.0 * (null.objective - alternative.objective)
    low = 2.0 * (null.lower_bound - alternative.objective)
    high = 2.0 * (null.objective - alternative.lower_bound)
    return value, max(0.0, low), high, null.success and alternative.success


def _share(values: Sequence[float], least: float) -> float:
    """Return the p-value: the share of statistics that are no smaller, the observed one among them."""
    return float((1 + np.count_nonzero(np.asarray(values) >= least)) / (1 + len(values)))
