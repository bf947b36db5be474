"""Choice of the number of components, with proof."""

import enum
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gopfast import _checks
from gopfast.errors import InputError, InputTypeError
from gopfast.models import GaussianMixture
from gopfast.models._base import MixtureProblem
from gopfast.result import Result, Status
from gopfast.solver import solve

# Nodes of each first search, and how much more each further one of the same K may take: repeated work stays a
# third of the whole.
FIRST_NODES = 64
GROWTH = 4


class SelectionStatus(enum.Enum):
    """What is proved of a choice."""

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
        The last search's result.
    n_nodes : int
        Nodes of all its searches.
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
    criterion: str
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

    def __repr__(self):
        """Return the choice on one line."""
        return f"Selection({self.status.name}, n_components={self.n_components}, criterion={self.criterion!r})"

    def __str__(self):
        """Return a table of the proved intervals."""
        name = self.criterion.upper()
        lines = [
            f"{self.status.name}: {self.n_components} components by {name}; {self.status.value}",
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
    data,
    range,
    criterion="bic",
    model=GaussianMixture,
    *,
    epsilon=1e-4,
    time_limit=None,
    n_threads=None,
    random_state=0,
    log=False,
    **model_args,
) -> Selection:
    """
    Choose the number of components by BIC or AIC, with proof.

    With L(K) the greatest log-likelihood of K components, p(K) the number of free parameters and W the sum of the
    sample weights::

        BIC(K) = -2 L(K) + p(K) log W        AIC(K) = -2 L(K) + 2 p(K)

    A K is proved to lose as soon as the lower bound of its criterion reaches the least value attained by another.
    So the winner needs no proof of its own fit, and the searches stop long before they would end.

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
        Least tolerance of a search, in nats: criteria nearer than about twice this cannot be told apart.
    time_limit : float, optional
        Seconds.
    n_threads : int, optional
    random_state : None, int, Generator or RandomState
        As of `gopfast.solve`.
    log : bool or stream, default False
        Print the searches' tables.
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
    criterion = _checks.choice("criterion", criterion, ("bic", "aic"))
    epsilon = _checks.positive_number("epsilon", epsilon)
    if time_limit is not None:
        time_limit = _checks.nonnegative_number("time_limit", time_limit, infinite=True)
    problems = [_problem(data, K, model, model_args) for K in _sizes(range)]
    options = {"n_threads": n_threads, "random_state": random_state, "log": log}

    finish = math.inf if time_limit is None else started + time_limit

    def searched(one, tolerance, max_nodes, target):
        """Search until the criterion's lower bound reaches the target or its upper bound falls below."""
        decided = False

        def answered(state):
            nonlocal decided
            lower, upper = (_value(one.problem, bound, criterion) for bound in (state.lower, state.upper))
            decided = lower >= target or upper < target
            return decided

        result = solve(
            one.problem,
            tolerance,
            max_nodes=max_nodes,
            time_limit=max(0.0, finish - time.perf_counter()),
            start=one.result,
            callback=answered,
            **options,
        )
        lower, upper = (_value(one.problem, bound, criterion) for bound in (result.lower_bound, result.objective))
        found = replace(
            one,
            lower=max(one.lower, lower),
            upper=min(one.upper, upper),
            result=result if upper <= one.upper else one.result,
            n_nodes=one.n_nodes + result.n_nodes,
        )
        return found, Status.OPTIMAL if decided else result.status

    found, stopped, target = {}, None, math.inf
    for problem in problems:
        K = problem.n_components
        found[K], status = searched(_unsearched(problem), epsilon, FIRST_NODES, target)
        target = min(target, found[K].upper)
        stopped = stopped or (status if status in _STOPPED else None)
    exhausted, budget = set(), dict.fromkeys(found, FIRST_NODES)
    while stopped is None:
        best = min(found.values(), key=lambda one: (one.upper, one.n_components))
        left = [K for K in _open(found, best) if K not in exhausted]
        if not left:
            break
        K = min(left, key=lambda K: (budget[K], K))
        budget[K] *= GROWTH
        # The log-likelihood is half the criterion. A little less than the distance: bounds are rounded down.
        tolerance = max(epsilon, 0.45 * (found[K].upper - best.upper))
        found[K], status = searched(found[K], tolerance, budget[K], best.upper)
        stopped = status if status in _STOPPED else None
        if status is Status.NUMERICAL or (status is Status.OPTIMAL and tolerance == epsilon):
            exhausted.add(K)
    best = min(found.values(), key=lambda one: (one.upper, one.n_components))
    return Selection(
        status=SelectionStatus.UNDECIDED if _open(found, best) else SelectionStatus.PROVED,
        n_components=best.n_components,
        criterion=criterion,
        candidates=tuple(found.values()),
        time=time.perf_counter() - started,
        interrupted=stopped is Status.INTERRUPTED,
    )


_STOPPED = (Status.TIME_LIMIT, Status.INTERRUPTED)


def _open(found, best):
    """Numbers of components that may still beat the best."""
    return [K for K, one in found.items() if one is not best and one.lower < best.upper]


def _value(problem, objective, criterion):
    """Criterion of an objective."""
    price = 2.0 if criterion == "aic" else math.log(problem.total_weight)
    return 2.0 * (objective - problem.elbo_constant) + price * problem.n_parameters


def _unsearched(problem):
    return Candidate(
        n_components=problem.n_components,
        n_parameters=problem.n_parameters,
        lower=-math.inf,
        upper=math.inf,
        problem=problem,
        result=None,
        n_nodes=0,
    )


def _sizes(range):
    """Numbers of components, in increasing order."""
    try:
        sizes = [_checks.whole_number("range", K, 1) for K in range]
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
