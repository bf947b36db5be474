"""Choice of the number of components, with proof."""

import enum
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gopfast import checks
from gopfast.annotations import Log, Seed
from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures import engine
from gopfast.mixtures.bounds.nonparametric import free_variance_bound
from gopfast.mixtures.problems import GaussianMixture
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.representation import Representation
from gopfast.mixtures.result import Result
from gopfast.options import Options
from gopfast.report import Heartbeat
from gopfast.result import Status
from gopfast.solver import MixtureSearch
from gopfast.words import Word

# Nodes of each K's first turn, and how many times as many it has had after each further one.
FIRST_NODES = 64
GROWTH = 2
# The bound of all numbers of components at once takes about as long as this many nodes.
OUTER_BOUND_FROM = 4096
ROUNDING = 2.0**-50


class SelectionStatus(Word, enum.Enum):
    """What is proved of a choice; prints as its name and equals it, ``choice.status == "PROVED"``."""

    PROVED = "no other number of components has a lower criterion"
    UNDECIDED = "the limit came before the proof: another number of components may have a lower criterion"


@dataclass(frozen=True, eq=False, kw_only=True)
class Candidate:
    """
    One number of components; ``lower <= criterion of its global optimum <= upper`` is proved.

    Attributes
    ----------
    n_components, n_parameters : int
    lower, upper : float
        Bounds of the criterion.
    problem : MixtureProblem
    result : Result
        The search's result; CUTOFF is the status of one that has proved that it loses.
    n_nodes : int
        Nodes of its search.
    """

    n_components: int
    n_parameters: int
    lower: float
    upper: float
    problem: MixtureProblem
    result: Result
    n_nodes: int


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Selection:
    """
    A chosen number of components.

    Attributes
    ----------
    status : SelectionStatus
        PROVED or UNDECIDED.
    n_components : int
        The number with the least criterion known.
    criterion : {"bic", "aic"}
    candidates : tuple of Candidate
        In increasing number of components.
    time : float
        Seconds.
    interrupted : bool
        Whether Ctrl-C ended the searches.
    """

    status: SelectionStatus
    n_components: int
    criterion: Literal["bic", "aic"]
    candidates: Sequence[Candidate]
    time: float
    interrupted: bool = False

    @property
    def best(self) -> Candidate:
        """The chosen candidate."""
        return next(one for one in self.candidates if one.n_components == self.n_components)

    @property
    def result(self) -> Result:
        """The chosen candidate's result. Its gap may be wide: the choice needs only the others' lower bounds."""
        return self.best.result

    def __repr__(self) -> str:
        """Return the choice on one line."""
        return f"Selection({self.status.name}, n_components={self.n_components}, criterion={self.criterion!r})"

    def __str__(self) -> str:
        """Return a table of the proved intervals."""
        name = self.criterion.upper()
        caution = f"; but {self.result.caution}" if self.result.caution else ""
        lines = [
            f"{self.status.name}: {self.n_components} components by {name}; {self.status.value}{caution}",
            f"  {'K':>3} {'parameters':>10} {name + ' at least':>15} {'at most':>15} {'nodes':>9}",
        ]
        for one in self.candidates:
            if one is self.best:
                mark = "chosen"
            else:
                mark = "loses" if one.lower >= self.best.upper else "open"
            lines.append(
                f"  {one.n_components:>3} {one.n_parameters:>10} {one.lower:>15.6f} {one.upper:>15.6f} "
                f"{one.n_nodes:>9,}  {mark}"
            )
        lines.append(f"  in {self.time:.3g} s")
        return "\n".join(lines)


def select_components(
    data: object,
    range: Sequence[int],
    criterion: Literal["bic", "aic"] = "bic",
    model: Callable[..., MixtureProblem] = GaussianMixture,
    *,
    epsilon: float = 1e-4,
    time_limit: float | None = None,
    n_threads: int | None = None,
    random_state: Seed = 0,
    log: Log = None,
    **model_args: object,
) -> Selection:
    """
    Choose the number of components by BIC or AIC, with proof.

    With L(K) the greatest log-likelihood of K components, p(K) the number of free parameters and W the sum of the
    sample weights::

        BIC(K) = -2 L(K) + p(K) log W        AIC(K) = -2 L(K) + 2 p(K)

    A K is proved to lose as soon as the lower bound of its criterion reaches the least value attained by another.
    So the winner needs no proof of its own fit, and the searches of the others leave aside what cannot reach that
    value, whatever their own optimum. With one column and free variances, the best mixture of any number of
    components bounds all K at once, and often ends those that are far too large.

    Parameters
    ----------
    data : array_like
        What `model` takes as its data.
    range : sequence of int
        The numbers of components to choose from, such as ``range(1, 6)``.
    criterion : {"bic", "aic"}, default "bic"
    model : callable, default `gopfast.GaussianMixture`
        ``model(data, n_components, **model_args)`` makes the problem of one K; it must be maximum likelihood.
    epsilon : float, default 1e-4
        Tolerance of a search, in nats: criteria nearer than about twice this cannot be told apart.
    time_limit : float, optional
        Seconds.
    n_threads : int, optional
    random_state : None, int, Generator or RandomState
        As of `gopfast.solve`.
    log : None, bool or stream
        Whether to print the searches' tables. None, the default: only a line on standard error after 10 seconds, and
        each time that the time has doubled; False: nothing at all.
    **model_args
        Arguments of the model.

    Returns
    -------
    Selection

    Raises
    ------
    InputError
        If an argument is invalid, or the model has a prior: the criteria are for maximum likelihood.

    References
    ----------
    Schwarz, "Estimating the dimension of a model", Annals of Statistics 6 (1978); Akaike, "A new look at the
    statistical model identification", IEEE Transactions on Automatic Control 19 (1974).

    Examples
    --------
    >>> import gopfast
    >>> X = [-6.1, -5.2, -4.4, -5.0, 4.2, 5.1, 5.9, 6.3]
    >>> gopfast.select_components(X, [1, 2, 3], covariance="known").n_components
    2
    """
    started = time.perf_counter()
    criterion = checks.choice("criterion", criterion, ("bic", "aic"))
    epsilon = checks.positive_number("epsilon", epsilon)
    if time_limit is not None:
        time_limit = checks.nonnegative_number("time_limit", time_limit, infinite=True)
    problems = [_problem(data, K, model, model_args) for K in _sizes(range)]
    options = Options.from_arguments(epsilon, n_threads=n_threads, random_state=random_state, log=log)
    if options.log is None:
        options = replace(options, log=Heartbeat(what=f"one of {len(problems)} searches: "))
    finish = math.inf if time_limit is None else started + time_limit

    runs = {problem.n_components: _Run(problem, criterion, options, finish) for problem in problems}
    found, stopped, target = {}, None, math.inf
    for K, run in runs.items():
        found[K], status = run.search(FIRST_NODES, target)
        target = min(target, found[K].upper)
        stopped = stopped or (status if status in _STOPPED else None)
    exhausted, budget, bounded = set(), dict.fromkeys(found, FIRST_NODES), False
    while stopped is None:
        best = _best(found)
        left = [K for K in _open(found, best) if K not in exhausted]
        if not left:
            break
        K = min(left, key=lambda K: (budget[K], K))
        if budget[K] >= OUTER_BOUND_FROM and not bounded:
            bounded = True
            try:
                outer = _outer_bound(best)
            except KeyboardInterrupt:
                stopped = Status.INTERRUPTED
                break
            found = {K: run.bounded(outer) for K, run in runs.items()}
            continue
        budget[K] *= GROWTH
        found[K], status = runs[K].search(budget[K], best.upper)
        stopped = status if status in _STOPPED else None
        # Nothing is left to do below a cutoff, which never rises.
        if status in (Status.NUMERICAL, Status.OPTIMAL, Status.CUTOFF):
            exhausted.add(K)
    best = _best(found)
    return Selection(
        status=SelectionStatus.UNDECIDED if _open(found, best) else SelectionStatus.PROVED,
        n_components=best.n_components,
        criterion=criterion,
        candidates=tuple(found.values()),
        time=time.perf_counter() - started,
        interrupted=stopped is Status.INTERRUPTED,
    )


_STOPPED = (Status.TIME_LIMIT, Status.INTERRUPTED)


class _Goal:
    """What a search is to show: a criterion that reaches the target, or one below it; stops in the latter case."""

    def __init__(self, problem, criterion):
        self.problem, self.criterion = problem, criterion
        self.target, self.beaten = math.inf, False

    def __call__(self, state):
        self.beaten = _value(self.problem, state.upper, self.criterion) < self.target
        return self.beaten


class _Run:
    """The search of one number of components, turn by turn, and what it has proved."""

    def __init__(self, problem, criterion, options, finish):
        self.problem, self.criterion, self.finish = problem, criterion, finish
        # Not a method of this object: the open nodes would live on in a cycle.
        self.goal = _Goal(problem, criterion)
        self.turns = MixtureSearch(problem, replace(options, callback=self.goal))
        self.result, self.outer = None, -math.inf

    def search(self, max_nodes, target):
        """Go on until the criterion's lower bound reaches the target or its upper bound falls below."""
        self.goal.target, self.goal.beaten = target, False
        left = max(0.0, self.finish - time.perf_counter())
        self.result = self.turns.run(left, max_nodes, _objective(self.problem, target, self.criterion))
        return self.candidate(), None if self.goal.beaten else self.result.status

    def bounded(self, outer):
        """Take a bound of the objective from elsewhere."""
        self.outer = outer
        return self.candidate()

    def candidate(self):
        """Return what is proved so far."""
        lower = float(min(max(self.outer, self.result.lower_bound), self.result.objective))
        return Candidate(
            n_components=self.problem.n_components,
            n_parameters=self.problem.n_parameters,
            lower=_value(self.problem, lower, self.criterion),
            upper=_value(self.problem, self.result.objective, self.criterion),
            problem=self.problem,
            result=self.result,
            n_nodes=self.result.n_nodes,
        )


def _best(found):
    """Return the candidate with the least criterion known."""
    return min(found.values(), key=lambda one: (one.upper, one.n_components))


def _open(found, best):
    """Numbers of components that may still beat the best."""
    return [K for K, one in found.items() if one is not best and one.lower < best.upper]


def _value(problem, objective, criterion):
    """Criterion of an objective."""
    price = 2.0 if criterion == "aic" else math.log(problem.total_weight)
    return 2.0 * (objective - problem.elbo_constant) + price * problem.n_parameters


def _objective(problem, value, criterion):
    """Least objective, but for rounding, whose criterion is at least `value`."""
    price = _value(problem, problem.elbo_constant, criterion)
    size = abs(value) + abs(price) + abs(problem.elbo_constant)
    return 0.5 * (value - price) + problem.elbo_constant + ROUNDING * size


def _outer_bound(candidate):
    """Lower bound of the objective of any number of components."""
    family = engine.family(candidate.problem)
    bound = free_variance_bound(family)
    return bound - Representation(candidate.problem, family).loss(bound)


def _sizes(range):
    """Numbers of components, in increasing order."""
    try:
        sizes = [checks.whole_number("range", K, 1) for K in range]
    except TypeError:
        raise InputTypeError(f"range must be a sequence of integers; got {type(range).__name__}") from None
    if not sizes or len(set(sizes)) < len(sizes):
        raise InputError(f"range must hold different numbers of components, at least one; got {sizes}")
    return sorted(sizes)


def _problem(data, n_components, model, model_args):
    problem = model(data, n_components, **model_args)
    if not isinstance(problem, MixtureProblem):
        raise InputTypeError(f"model must make a mixture of gopfast.models; got {type(problem).__name__}")
    if problem.prior is not None:
        raise InputError("prior must be None: BIC and AIC are for maximum likelihood")
    return problem
