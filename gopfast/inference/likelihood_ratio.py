"""The bootstrap likelihood-ratio test of the number of components, each resample proved as far as it decides."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from gopfast import checks
from gopfast.annotations import FloatArray, Log, Seed
from gopfast.errors import InputError, InputTypeError
from gopfast.inference.margins import ROUNDING
from gopfast.inference.resampling import search_options, simulated
from gopfast.inference.tuning import EPSILON, MOST_RESAMPLES, TIME_LIMIT
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.result import Result
from gopfast.mixtures.searches import search_of
from gopfast.options import Options, seed_from
from gopfast.parallel import n_processes, outcomes
from gopfast.report import Tally
from gopfast.result import Status
from gopfast.solver import solve


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
        Statistics of data drawn from the fit of K components, of the best fits found.
    resampled_bounds : ndarray, shape (B, 2)
        Where those of the global optima are proved to lie: as narrow as the comparison with the observed one needs.
    proved : ndarray of bool, shape (B,)
        Whether it is proved of a resample that its statistic is smaller than the observed one, or that it is not.
    null, alternative : Result
        The fits of K and of K + 1 components.
    """

    n_components: int
    statistic: float
    statistic_bounds: tuple[float, float]
    p_value: float
    p_value_bounds: tuple[float, float]
    resampled: FloatArray = field(repr=False)
    resampled_bounds: FloatArray = field(repr=False)
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
            f"  comparison proved of   {int(self.proved.sum()):,} resamples"
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
    Test K components against K + 1 by the bootstrap likelihood ratio, with every comparison proved.

    The statistic's distribution under K components is no chi-square; data are drawn from the fit of K. A local optimum
    on either side, of the data or of a resample, would move the p-value. Here the optima of the data are proved, and of
    a resample as much of both as it takes to prove that its statistic is smaller than the observed one, or that it is
    not: that K + 1 components have no fit as good as that would need, or K none. The bounds of the p-value say what is
    left open.

    Parameters
    ----------
    problem : MixtureProblem
        Of K components, without a prior. Floors and known variances are kept for all resamples and for K + 1; a default
        floor is one that suits K + 1.
    n_resamples : int, default 99
    epsilon : float, default 0.01
        Tolerance of each search, in nats.
    time_limit : float or None, default 60
        Seconds of each search. Comparisons that it leaves open are not marked in `proved`.
    n_jobs, random_state, log
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
    # Searches are hard and few: where they come one after the other, each has all threads, which change no result.
    n_threads = None if n_processes(n_jobs) == 1 else 1
    search = {**search_options(epsilon, time_limit), "n_threads": None}
    larger = problem._enlarged(problem.n_components + 1)
    null, alternative = (solve(one, **search) for one in (larger._with(n_components=problem.n_components), larger))
    observed = _Statistic.of(null, alternative)
    draw = _Resample(null.solution, epsilon, time_limit, observed, n_threads)
    seeds = np.random.SeedSequence(seed_from(random_state)).spawn(n_resamples)
    with Tally(n_resamples, "resamples", log) as tally:
        found = [tally.count(one) for one in outcomes(draw, seeds, n_jobs)]
    values, lows, highs = (np.array(column) for column in zip(*found, strict=True))
    return LikelihoodRatio(
        n_components=problem.n_components,
        statistic=observed.value,
        statistic_bounds=(observed.low, observed.high),
        p_value=_share(values, observed.value),
        p_value_bounds=(_share(lows, observed.high), _share(highs, observed.low)),
        resampled=values,
        resampled_bounds=np.stack([lows, highs], axis=1),
        proved=np.array([one.is_settled(observed) for one in found]),
        null=null,
        alternative=alternative,
    )


class _Statistic(NamedTuple):
    """Twice a log ratio of likelihoods: of the best fits known, and what is proved of that of the optima."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, null, alternative):
        """Return that of two results."""
        return cls(
            2.0 * (null.objective - alternative.objective),
            max(0.0, 2.0 * (null.lower_bound - alternative.objective)),
            2.0 * (null.objective - alternative.lower_bound),
        )

    def is_settled(self, observed):
        """Whether it is proved to be smaller than another, or proved not to be."""
        return self.high < observed.low or self.low >= observed.high


class _Resample:
    """Draws data from a fit and compares their statistic with the observed one: a task for another process."""

    def __init__(self, solution, epsilon, time_limit, observed, n_threads=1):
        self.solution, self.epsilon, self.time_limit = solution, epsilon, time_limit
        self.n_threads, self.observed = n_threads, observed

    def __call__(self, seed):
        rng = np.random.default_rng(seed)
        problem = simulated(self.solution, rng)
        null, alternative = (
            _Side(
                problem._with(n_components=problem.n_components + more), self.epsilon, self.time_limit, rng,
                self.n_threads,
            )
            for more in (0, 1)
        )  # fmt: skip
        statistic = _Statistic.of(null.result, alternative.result)
        while not statistic.is_settled(self.observed):
            if statistic.value < self.observed.low:
                # smaller, if K + 1 components have no fit as good as this
                went_on = alternative.bound(null.result.objective - 0.5 * self.observed.low)
            elif statistic.value >= self.observed.high:
                # not smaller, if K components have none
                went_on = null.bound(alternative.result.objective + 0.5 * self.observed.high)
            else:
                went_on = [side.bound() for side in (null, alternative)] != [False, False]
            statistic = _Statistic.of(null.result, alternative.result)
            if not went_on:
                break
        return statistic


class _Side:
    """The search of one number of components, which goes on as far as it is asked to."""

    def __init__(self, problem, epsilon, time_limit, rng, n_threads=1):
        options = Options.from_arguments(epsilon, n_threads=n_threads, random_state=rng, log=False)
        self.least, self.is_over = -math.inf, False
        if problem.n_components == 1:  # mostly in closed form
            self.result = solve(problem, epsilon, time_limit=time_limit, n_threads=1, log=False, random_state=rng)
            self.search = None
            return
        self.left = math.inf if time_limit is None else time_limit
        self.search = search_of(problem, replace(options, callback=self.is_below))
        self.result = self.search.run(self.left, 0)

    def is_below(self, state):
        """Whether the search has found a fit that shows that it is not what it is asked to prove."""
        return state.upper < self.least

    def bound(self, cutoff=math.inf):
        """Go on until no fit is proved to be better than the cutoff, or one is found; whether that was of any use."""
        if self.search is None or self.is_over:
            return False
        cutoff += ROUNDING * abs(cutoff) if cutoff < math.inf else 0.0
        self.least, before = -math.inf if cutoff == math.inf else cutoff, self.result
        self.result = self.search.run(max(0.0, self.left - before.time), None, cutoff)
        found = self.result.objective < self.least and self.result.status is Status.INTERRUPTED
        self.is_over = not found
        return (self.result.lower_bound, self.result.objective) != (before.lower_bound, before.objective)


def _share(values: Sequence[float], least: float) -> float:
    """Return the p-value: the share of statistics that are no smaller, the observed one among them."""
    return float((1 + np.count_nonzero(np.asarray(values) >= least)) / (1 + len(values)))
