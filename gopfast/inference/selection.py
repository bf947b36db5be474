"""Choice of the number of components and of the kind of covariance, with proof."""

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from gopfast import checks
from gopfast.annotations import Covariance, Criterion, Log, Seed
from gopfast.errors import InputError, InputTypeError
from gopfast.inference.candidates import Candidate, Selection, SelectionStatus
from gopfast.inference.margins import ROUNDING
from gopfast.inference.tuning import (
    FIRST_FIT_SHARE,
    FIRST_NODES,
    FITS_SHARE,
    GROWTH,
    LEAST_TURN_SHARE,
    OUTER_BOUND_FROM,
    TIME_LIMIT,
)
from gopfast.mixtures import engine
from gopfast.mixtures.mixing.nonparametric import free_variance_bound
from gopfast.mixtures.problems import GaussianMixture
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.problems.covariance import KINDS, Known, compared
from gopfast.mixtures.problems.covariance_names import named
from gopfast.mixtures.problems.gaussian import with_least_floor
from gopfast.mixtures.representation import Representation
from gopfast.mixtures.searches import search_of, solve
from gopfast.options import Options
from gopfast.parallel import n_processes, outcomes, shares_memory
from gopfast.report import Heartbeat
from gopfast.result import Status

# After these a search can do no more: nothing is left to do below a cutoff, which never rises, nor in a full memory.
_EXHAUSTED = (Status.NUMERICAL, Status.OPTIMAL, Status.CUTOFF, Status.MEMORY_LIMIT)


def select(
    X: object,
    n_components: Sequence[int] = range(1, 7),
    criterion: Criterion = "bic",
    model: Callable[..., MixtureProblem] = GaussianMixture,
    *,
    covariances: Covariance | Sequence[Covariance] | None = None,
    epsilon: float = 1e-4,
    time_limit: float | None = TIME_LIMIT,
    n_jobs: int | None = None,
    n_threads: int | None = None,
    random_state: Seed = 0,
    log: Log = None,
    **model_args: object,
) -> Selection:
    """
    Choose the number of components and the kind of covariance by BIC, AIC or ICL, with proof.

    With L the greatest log-likelihood of a model, p the number of its free parameters, W the sum of the sample weights
    and tau the responsibilities of its best fit, the least of these is best::

        BIC = -2 L + p log W      AIC = -2 L + 2 p      ICL = BIC - 2 sum_i w_i sum_k tau_ik log tau_ik

    (mclust reports the negatives of BIC and ICL.) A model is proved to lose as soon as the lower bound of its criterion
    reaches the least value attained by another. So the winner needs no proof of its own fit, and the searches of the
    others leave aside what cannot reach that value, whatever their own optimum. With one column and free variances, the
    best mixture of any number of components bounds all of them at once, and often ends those that are far too large.
    By ICL a model loses once its BIC does, as entropies are at least 0; others are compared at fits that are proved
    optimal.

    Parameters
    ----------
    X : array_like
        What `model` takes as its data.
    n_components : sequence of int, default ``range(1, 7)``
        The numbers of components to choose from.
    criterion : {"bic", "aic", "icl"}, default "bic"
    model : callable, default `gopfast.GaussianMixture`
        ``model(X, K, **model_args)`` makes the problem of one K; it must be maximum likelihood.
    covariances : str or sequence of str, optional
        Kinds of covariance to choose from, see `gopfast.GaussianMixture`, which alone has them. By default
        "tied_spherical", "spherical", "tied_diag", "diag", "tied" and "full", without those that coincide with another
        in one column, and without matrices where columns are too many for them; "known" where there is a
        `noise_variance`.
    epsilon : float, default 1e-4
        Tolerance of a search, in nats: criteria nearer than about twice this cannot be told apart.
    time_limit : float or None, default 60
        Seconds of all searches together; None: no limit. Every model gets its default floor, the same whatever the
        clock, and a few steps of EM, which so many passes over the data may exceed; bounds begin once all models have
        a good fit, or after half of the time.
    n_jobs : int, optional
        Searches at a time; -1: one per processor; None: what `joblib.parallel_config` says, or 1. They run in threads,
        unless that has set a backend: then in its processes, or on its cluster. What is proved does not depend on it,
        but for how far a search went whose outcome does not matter.
    n_threads : int, optional
        Threads of all searches together.
    random_state : None, int, Generator or RandomState
        As of `gopfast.solve`.
    log : None, bool or stream
        Whether to print the searches' tables. None, the default: only a line on standard error after 5 seconds, and
        each time that the time has doubled; False: nothing at all.
    **model_args
        Arguments of the model. A `variance_floor` is for the kinds that estimate variances, a `noise_variance` for
        "known".

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
    statistical model identification", IEEE Transactions on Automatic Control 19 (1974); Biernacki, Celeux & Govaert,
    "Assessing a mixture model for clustering with the integrated completed likelihood", IEEE Transactions on Pattern
    Analysis and Machine Intelligence 22 (2000).

    Examples
    --------
    >>> import gopfast
    >>> X = [-6.1, -5.2, -4.4, -5.0, 4.2, 5.1, 5.9, 6.3]
    >>> choice = gopfast.select(X, [1, 2, 3])
    >>> choice.n_components, choice.covariance, choice.status == "PROVED"
    (2, 'tied', True)
    """
    started = time.perf_counter()
    criterion = checks.choice("criterion", criterion, tuple(PRICES))
    epsilon = checks.positive_number("epsilon", epsilon)
    if time_limit is not None:
        time_limit = checks.nonnegative_number("time_limit", time_limit, infinite=True)
    n_jobs = n_processes(n_jobs)
    sizes = _sizes(n_components)
    problems = {
        (kind, problem.n_components): problem
        for kind, arguments in _kinds(X, model, covariances, model_args).items()
        for problem in _problems(X, sizes, model, arguments)
    }
    options = Options.from_arguments(epsilon, n_threads=n_threads, random_state=random_state, log=log)
    if options.log is None:
        options = replace(options, log=Heartbeat(what=f"one of {len(problems)} searches: "))
    if n_jobs > 1:
        options = replace(options, n_threads=max(1, (n_threads or n_jobs) // n_jobs))
    finish = math.inf if time_limit is None else started + time_limit
    runs = {key: _Run(problem, key[0], criterion, options, finish) for key, problem in problems.items()}
    in_threads = n_jobs > 1 and shares_memory()
    with ThreadPoolExecutor(n_jobs) if in_threads else nullcontext() as pool:
        turns = _Turns(runs, criterion, pool, n_jobs, finish)
        turns.run()
    best, is_open = turns.best(), turns.open()
    return Selection(
        status=_status(turns, is_open),
        n_components=best.n_components,
        covariance=best.covariance,
        criterion=criterion,
        candidates=tuple(turns.found[key] for key in runs),
        time=time.perf_counter() - started,
        interrupted=turns.stopped is Status.INTERRUPTED,
        notes=_notes(best, sizes),
    )


class _Turns:
    """
    The searches of all models, in turns: those that may still win go on, the ones with the fewest nodes first.

    Bounds prove a model to lose against another's fit: all models are fitted before any is bounded.

    Attributes
    ----------
    found : dict
        What is proved, a Candidate for each key (kind, K).
    stopped : Status or None
        What ended all searches.
    """

    def __init__(self, runs, criterion, pool, n_jobs, finish):
        self.runs, self.by_fit, self.pool, self.n_jobs = runs, criterion == "icl", pool, n_jobs
        self.found, self.stopped, self.finish = {}, None, finish
        self.least_turn = LEAST_TURN_SHARE * self.left()
        self.exhausted, self.budget, self.bounded = set(), dict.fromkeys(runs, FIRST_NODES), set()

    def run(self):
        """Take turns until nothing more can be shown, or time is up."""
        self.fit_all()
        while self.stopped is None:
            wanted = [key for key in self.wanted() if key not in self.exhausted]
            if not wanted:
                break
            keys = sorted(wanted, key=lambda key: (self.budget[key], key[1]))[: self.n_jobs]
            kind = keys[0][0]
            if self.budget[keys[0]] > OUTER_BOUND_FROM and kind not in self.bounded:
                self.bound_all(kind)
                continue
            self.search(keys, max(self.left() * self.n_jobs / len(wanted), self.least_turn))
            for key in keys:
                self.budget[key] *= GROWTH
            if self.left() == 0.0 and self.stopped is None:
                self.stopped = Status.TIME_LIMIT
        if self.stopped is Status.TIME_LIMIT:
            self.end_by_time()

    def fit_all(self):
        """Make the first fit of every model; few components first, which leave of their time for the others."""
        keys = sorted(self.runs, key=lambda key: key[1])
        until = self.left() * (1.0 - FITS_SHARE)
        for first in range(0, len(keys), self.n_jobs):
            share = max(0.0, self.left() - until) * self.n_jobs / max(len(keys) - first, self.n_jobs)
            interrupted = self.stopped is Status.INTERRUPTED
            self.search(keys[first : first + self.n_jobs], 0.0 if interrupted else share / FIRST_FIT_SHARE, fits=True)

    def left(self):
        """Seconds left for all searches."""
        return max(0.0, self.finish - time.perf_counter())

    def end_by_time(self):
        """Say of the searches that were to go on that time was up."""
        for key, one in self.found.items():
            if one.result.status is Status.NODE_LIMIT:
                self.runs[key].result = _with_status(one.result, Status.TIME_LIMIT)
                self.found[key] = self.runs[key].candidate()

    def search(self, keys, seconds, fits=False):
        """Let some searches go on for at most so many seconds, at the same time; only as far as a first fit."""
        target = min((one.upper for one in self.found.values()), default=math.inf)
        most = {key: 0 if fits else self.budget[key] for key in keys}
        run = [(lambda key=key: self.runs[key].search(most[key], target, seconds)) for key in keys]
        if self.pool is not None:
            reasons = self.together(run)
        elif self.n_jobs > 1:
            reasons = self.elsewhere(keys, most, target, seconds)
        else:
            reasons = [one() for one in run]
        for key, status in zip(keys, reasons, strict=True):
            self.found[key] = self.runs[key].candidate()
            if status is Status.INTERRUPTED:
                self.stopped = status
            if status in _EXHAUSTED:
                self.exhausted.add(key)

    def together(self, run):
        """Run searches in threads; Ctrl-C, which only this one hears, ends them all with their bounds."""
        futures = [self.pool.submit(one) for one in run]
        try:
            return [future.result() for future in futures]
        except KeyboardInterrupt:
            for one in self.runs.values():
                one.goal.over = True
            return [Status.INTERRUPTED for future in futures if future.result() or True]

    def elsewhere(self, keys, most, target, seconds):
        """Run searches in processes of joblib; Ctrl-C ends them all with the bounds of the turns before."""
        tasks = [self.runs[key].turn(most[key], target, seconds) for key in keys]
        try:
            found = list(outcomes(take_turn, tasks, self.n_jobs))
        except KeyboardInterrupt:
            for key in keys:
                self.runs[key].goal.over = True
                if self.runs[key].result is None:
                    self.runs[key].search(0, target, 0.0)
            return [Status.INTERRUPTED] * len(keys)
        for key, (_, result, state) in zip(keys, found, strict=True):
            self.runs[key].result, self.runs[key].state = result, state
        return [status for status, _, _ in found]

    def bound_all(self, kind):
        """Bound all numbers of components of one kind at once."""
        self.bounded.add(kind)
        mine = [key for key in self.runs if key[0] == kind]
        try:
            outer = _outer_bound(self.runs[mine[0]].problem)
        except KeyboardInterrupt:
            self.stopped = Status.INTERRUPTED
            return
        for key in mine:
            self.runs[key].outer = outer
            self.found[key] = self.runs[key].candidate()

    def best(self):
        """Return the candidate with the least criterion known, of equals the first with the fewest parameters."""
        return min(self.found.values(), key=lambda one: (one.upper, one.n_parameters, one.n_components))

    def open(self):
        """Return the keys of those that may still beat the best."""
        best = self.best()
        return [key for key, one in self.found.items() if not one.coincides(best) and one.lower < best.upper]

    def wanted(self):
        """Return the keys of those that must go on; a criterion of the best fit needs that fit of the chosen too."""
        is_open, best = self.open(), self.best()
        mine = next(key for key, one in self.found.items() if one is best)
        return [*is_open, mine] if self.by_fit and is_open else is_open


class _Goal:
    """What a search is to show: a criterion that reaches the target, or one below it; stops in the latter case."""

    def __init__(self, problem, criterion):
        self.problem, self.criterion = problem, criterion
        self.target, self.beaten, self.over = math.inf, False, False

    def __call__(self, state):
        self.beaten = _value(self.problem, state.upper, self.criterion) < self.target
        return self.beaten or self.over


class _Run:
    """The search of one model, turn by turn, and what it has proved."""

    def __init__(self, problem, covariance, criterion, options, finish):
        self.problem, self.covariance, self.criterion, self.finish = problem, covariance, criterion, finish
        # Not a method of this object: the open nodes would live on in a cycle.
        self.goal = _Goal(problem, criterion)
        self.options, self.turns, self.state = options, None, None
        self.result, self.outer = None, -math.inf

    def turn(self, max_nodes, target, seconds):
        """Return a turn as a task for `take_turn`."""
        left = max(0.0, self.finish - time.perf_counter())
        options = replace(self.options, log=False)
        return _Turn(self.problem, self.criterion, options, max_nodes, target, left, seconds, self.state)

    def search(self, max_nodes, target, seconds):
        """Go on until the criterion's lower bound reaches the target or its upper bound falls below; by ICL to the end.

        At most for so many seconds, and nodes of all turns; 0 nodes: only as far as the first fit.

        Returns
        -------
        Status or None
            Why the search stopped; None if it is as good as the target, and so may go on.
        """
        if self.problem.n_components == 1:  # in closed form, as there is no prior
            if self.result is None:
                self.result = solve(self.problem, replace(self.options, time_limit=seconds))
            return self.result.status
        if self.turns is None:
            self.turns = search_of(self.problem, replace(self.options, callback=self.goal))
            if self.state is not None:
                self.turns.set_state(self.state)
        by_fit = self.criterion == "icl"
        self.goal.target, self.goal.beaten = -math.inf if by_fit else target, False
        # Of a fit that is compared by its entropy too, no bound of the likelihood alone ends the search.
        cutoff = math.inf if by_fit else _objective(self.problem, target, self.criterion)
        left = max(0.0, self.finish - time.perf_counter())
        if max_nodes > 0:  # the share of a first fit is one of more time than there may be
            seconds = min(seconds, left)
        self.result = self.turns.run(seconds, max_nodes, cutoff)
        if self.goal.beaten and not self.goal.over and self.result.status is Status.INTERRUPTED:
            self.result = _with_status(self.result, Status.NODE_LIMIT)  # its turn is over: nobody interrupted it
        return None if self.goal.beaten else self.result.status

    def candidate(self):
        """Return what is proved so far."""
        lower = float(min(max(self.outer, self.result.lower_bound), self.result.objective))
        entropy = 2.0 * _entropy(self.problem, self.result.solution) if self.criterion == "icl" else 0.0
        return Candidate(
            n_components=self.problem.n_components,
            covariance=self.covariance,
            n_parameters=self.problem.n_parameters,
            lower=_value(self.problem, lower, self.criterion),
            upper=_value(self.problem, self.result.objective, self.criterion) + entropy,
            problem=self.problem,
            result=self.result,
            n_nodes=self.result.n_nodes,
        )


class _Turn(NamedTuple):
    """A turn of a search, for another process: what it needs, and the state after the turn before."""

    problem: MixtureProblem
    criterion: str
    options: Options
    max_nodes: int
    target: float
    left: float
    seconds: float
    state: tuple | None


def take_turn(turn):
    """Take a turn; return why it ended, the result and the search's state."""
    run = _Run(turn.problem, None, turn.criterion, turn.options, time.perf_counter() + turn.left)
    run.state = turn.state
    status = run.search(turn.max_nodes, turn.target, turn.seconds)
    return status, run.result, None if run.turns is None else run.turns.state()


def _with_status(result, status):
    """Return a result with another status, and what that says."""
    return replace(result, status=status, message="")


# The price of a parameter, in units of the criterion.
PRICES = {"bic": lambda W: math.log(W), "aic": lambda W: 2.0, "icl": lambda W: math.log(W)}


def _value(problem, objective, criterion):
    """Criterion of an objective; of ICL without the entropy."""
    return 2.0 * (objective - problem.elbo_constant) + PRICES[criterion](problem.total_weight) * problem.n_parameters


def _objective(problem, value, criterion):
    """Least objective, but for rounding, whose criterion is at least `value`."""
    price = _value(problem, problem.elbo_constant, criterion)
    size = abs(value) + abs(price) + abs(problem.elbo_constant)
    return 0.5 * (value - price) + problem.elbo_constant + ROUNDING * size


def _entropy(problem, solution):
    """Entropy of the responsibilities, in nats, of weighted samples."""
    tau = solution.responsibilities
    return float(problem.sample_weight @ -xlogy(tau, tau).sum(axis=1))


def _outer_bound(problem):
    """Lower bound of the objective of any number of components."""
    family = engine.family(problem)
    bound = free_variance_bound(family)
    return bound - Representation(problem, family).loss(bound)


def _status(turns, is_open):
    """Return what is proved."""
    if not is_open:
        return SelectionStatus.PROVED
    fits = [turns.found[key].result.success for key in is_open] + [turns.best().result.success]
    return SelectionStatus.OPTIMA if turns.by_fit and all(fits) else SelectionStatus.UNDECIDED


def _notes(best, sizes):
    """Return what a reader of the choice should mind."""
    found, K = [], best.n_components
    if len(sizes) > 1 and K == sizes[-1]:
        found.append(f"the choice sits on the upper edge of the range: more than {K} components were not tried")
    elif len(sizes) > 1 and K == sizes[0] > 1:
        found.append(f"the choice sits on the lower edge of the range: fewer than {K} components were not tried")
    return (*found, *best.result.notes)


def _sizes(n_components):
    """Numbers of components, in increasing order."""
    try:
        sizes = [checks.whole_number("n_components", K, 1) for K in n_components]
    except TypeError:
        raise InputTypeError(
            f"n_components must be a sequence of integers; got {type(n_components).__name__}"
        ) from None
    if not sizes or len(set(sizes)) < len(sizes):
        raise InputError(f"n_components must hold different numbers of components, at least one; got {sizes}")
    return sorted(sizes)


def _kinds(X, model, covariances, model_args):
    """Return the arguments of the model for each kind of covariance; of models without any for None."""
    given = [name for name in ("covariance", "covariance_type") if model_args.get(name) is not None]
    if len(given) + (covariances is not None) > 1:
        names = [*["covariances"] * (covariances is not None), *given]
        raise InputError(f"{' and '.join(names)} are two names of one argument: give one")
    others = {name: value for name, value in model_args.items() if name not in given}
    columns = np.shape(X)[1] if np.ndim(X) > 1 else 1
    if not (isinstance(model, type) and issubclass(model, GaussianMixture)):
        if covariances is not None:
            raise InputError("covariances must be None: only a GaussianMixture has kinds of covariance")
        return {None: model_args}
    if given:
        covariances = [named(given[0], model_args[given[0]], columns)]
    if covariances is None:
        covariances = (Known.name,) if others.get("noise_variance") is not None else compared(columns)
        if others.get("noise") not in (None, False):  # offered where components share nothing
            covariances = [name for name in covariances if not (KINDS[name].shared or KINDS[name].free_form)]
    covariances = [covariances] if isinstance(covariances, str) else list(covariances)
    names = [named("covariances", kind, columns) for kind in covariances]
    if not names or len(set(names)) < len(names):
        raise InputError(f"covariances must hold different kinds, at least one; got {names}")
    return {name: {"covariance": name, **_of_kind(KINDS[name], others, len(names) > 1)} for name in names}


def _of_kind(kind, arguments, several):
    """Leave out what is not for a kind, where others are asked for too; of a floor per column take the least."""
    if not several:
        return arguments
    unused = "noise_variance" if kind.estimated else "variance_floor"
    found = {name: value for name, value in arguments.items() if name != unused}
    floor = found.get("variance_floor")
    if floor is not None and not kind.floor_per_column:
        found["variance_floor"] = float(np.min(floor))
    return found


def _problems(X, sizes, model, model_args):
    """Return the problems of one kind of covariance, of each number of components, all with one floor."""
    problems = [_problem(X, K, model, model_args) for K in sizes]
    return with_least_floor(problems) if isinstance(problems[0], GaussianMixture) else problems


def _problem(X, n_components, model, model_args):
    problem = model(X, n_components, **model_args)
    if not isinstance(problem, MixtureProblem):
        raise InputTypeError(f"model must make a mixture of gopfast.models; got {type(problem).__name__}")
    if problem.prior is not None:
        raise InputError("prior must be None: the criteria are for maximum likelihood")
    return problem
