"""
The search of a mixture of regressions whose components share coefficients.

With the coefficient fixed it is a mixture of regressions on the other columns, of which a search finds the optimum or a
lower bound. The range of the coefficient is divided: between two values of it what is proved of both bounds all
mixtures (`shared.coefficients`). The interval of the least bound is divided, or one of the searches at its ends goes
on, until all are proved.

Where several are shared the mixture in which the first is fixed shares the others: its search is of the same kind.

Theory: (JS3), (JS5) and (JS6) of docs/theory/shared_coefficients.md.
"""

import heapq
import math
import time
from dataclasses import replace

import numpy as np

from gopfast.errors import InputError
from gopfast.mixtures import engine
from gopfast.mixtures.closed_form import ceiling
from gopfast.mixtures.fits import start_values
from gopfast.mixtures.margins import RESIDUAL
from gopfast.mixtures.mechanisms import NAMES, LocalSearch
from gopfast.mixtures.notes import notes_of
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.problems import regression_starts, shared_coefficients as sharing
from gopfast.mixtures.representation import by_definition
from gopfast.mixtures.result import Result
from gopfast.mixtures.shared.coefficients import Loss, least_and_most, rounding_loss
from gopfast.mixtures.shared.far_coefficients import FarBound
from gopfast.mixtures.solution import MixtureSolution
from gopfast.mixtures.solve import MixtureSearch
from gopfast.mixtures.tuning import (
    COEFFICIENT_DOUBLINGS as N_DOUBLINGS,
    COEFFICIENT_EDGE as EDGE,
    COEFFICIENT_EXACT as EXACT,
    COEFFICIENT_FIRST_NODES as FIRST_NODES,
    COEFFICIENT_PATIENCE as PATIENCE,
    COEFFICIENT_POLISHED as POLISHED,
    COEFFICIENT_RESERVE as RESERVE,
    COEFFICIENT_SPARE as SPARE,
    COEFFICIENT_STARTS as N_STARTS,
    COEFFICIENT_STEPS as STEPS,
    COEFFICIENT_WANTED as WANTED,
    SPACINGS,
)
from gopfast.profile import Profile
from gopfast.result import Status
from gopfast.search import interrupts
from gopfast.search.session import Session
from gopfast.tuning import EPSILON

METHOD = "fixed coefficient"


class FixedCoefficient:
    """
    The mixture in which the shared coefficient has a value: what is proved and what is attained there.

    Parameters
    ----------
    problem : RegressionMixture
        Of components that share a coefficient.
    value : float
    options : Options
        Of the search.
    state : dict
        Weights and parameters to start from, without the shared coefficient.
    lower : float
        A lower bound that is known.

    Attributes
    ----------
    lower : float
        Lower bound of the optimum.
    upper : float
        An objective that is attained; infinite where none is known yet.
    state : dict
        What attains it, without the shared coefficient.
    done : bool
        Whether no more can be proved.
    """

    def __init__(self, problem, value, options, state, lower=-math.inf):
        self.problem, self.value, self.options = problem, value, options
        self.fixed = sharing.fixed(problem, value)
        self.lower, self.upper, self.state = lower, math.inf, state
        self.search, self.result, self.cutoff, self.done = None, None, math.inf, False
        self.n_nodes = self.total_nodes = 0
        self.before = []  # what mechanisms have done beside the search at hand
        self._climb(state)

    @property
    def activity(self):
        """Names of mechanisms and what they have done, as rows of a profile."""
        return [*self.before, *(() if self.result is None else self.result.profile.items())]

    def _climb(self, state):
        """Take steps of EM."""
        fixed = self.fixed
        if fixed._shared_at is not None:
            self._climb_by_definition(state)
            return
        try:
            family = engine.family(fixed, state)
        except InputError:  # so far away that its data have no digits left: what is known is all that will be
            self.upper, self.done = self.lower, True
            return
        parameters = {name: state[name] for name in fixed.parameter_names}
        primal = MixturePrimal(family)
        vector, trace, _ = primal.em(state["weights"], np.ravel(family.pack(**parameters)), 0.0, STEPS)
        self.before.append((LocalSearch.name, primal.meter.row()))
        upper = float(trace[-1])
        if upper < self.upper:
            weights = vector[: fixed.n_weights]
            self.upper, self.state = upper, {"weights": weights / weights.sum(), **family.parameters(vector)}

    def _climb_by_definition(self, state):
        """Do so where others are shared; afresh where the value is too far from the state's for numbers."""
        fixed = self.fixed
        with np.errstate(all="ignore"):
            tau = fixed.responsibilities(**state)
            if np.isfinite(tau).all():
                self.upper, self.state = regression_starts.run(fixed, tau, STEPS)
            if not np.isfinite(self.upper):
                self.state = regression_starts.best_fit(fixed, N_STARTS, N_STARTS, 1)
                self.upper = fixed.objective(**self.state)
        if not np.isfinite(self.upper):  # no digits left, as below
            self.upper, self.state, self.done = self.lower, state, True

    def go_on(self, seconds, needed, wanted):
        """
        Go on with the search, twice as far as before.

        Parameters
        ----------
        seconds : float
        needed, wanted : float
            The search may stop once the optimum is proved to be at least `needed`, and does once at least `wanted`.

        Returns
        -------
        tuple of int
            Nodes and passes that this took.
        """
        if self.search is None or self.cutoff < needed:
            self.before = self.activity
            self.search, self.result = self._search(), None
            self.n_nodes, self.cutoff = 0, wanted
        before = (0, 0) if self.result is None else (self.result.n_nodes, self.result.n_passes)
        self.n_nodes = max(FIRST_NODES, 2 * self.n_nodes)
        self.result = result = self.search.run(seconds, self.n_nodes, self.cutoff)
        former = self.lower
        self.lower = max(self.lower, result.lower_bound - rounding_loss(self.problem, self.value, result.lower_bound))
        if result.objective < self.upper:
            self.upper = result.objective
            self.state = {"weights": result.solution.weights, **result.solution.parameters}
        # at its cutoff, less what rounding takes off: it would say the same for ever
        idle = result.status is Status.CUTOFF and result.n_nodes == before[0] and self.lower <= former
        if result.status in (Status.OPTIMAL, Status.NUMERICAL) or idle:
            self.done, self.search = True, None  # its memory goes
        self.total_nodes += result.n_nodes - before[0]
        return result.n_nodes - before[0], result.n_passes - before[1]


    def _search(self):
        """Return a search of the mixture, which begins with the best one known."""
        if self.fixed._shared_at is not None:
            return SharedCoefficientSearch(self.fixed, self.options, state=self.state)
        engine.family(self.fixed).suggest(**self.state)
        return MixtureSearch(self.fixed, self.options)


class SharedCoefficientSearch:
    """
    Search of a mixture of regressions whose components share coefficients, which can go on where it stopped.

    Parameters
    ----------
    problem : RegressionMixture
    options : Options
        Its limits are those of `run`.
    start : anything with all parameters, or None
    state : dict, optional
        Weights and parameters that are known to be good, so that no others are looked for.
    """

    def __init__(self, problem, options, start=None, state=None):
        _check_options(options)
        self.problem, self.options = problem, options
        self.epsilon = EPSILON if options.epsilon is None else options.epsilon
        self.rel_tol = options.rel_tol or 0.0
        self.start, self.known = state if start is None else _state_of(problem, start), state is not None
        self.session = Session(options)
        self.inner = replace(
            options.of_fixed(), epsilon=EXACT * self.epsilon, rel_tol=None, time_limit=None, max_nodes=None,
            callback=None, log=False,
        )  # fmt: skip
        self.loss, self.least = Loss.of(problem), ceiling.least_objective(problem)
        self.far = FarBound(problem, self.least)
        self.values, self.heap, self.ends = {}, [], None
        self.upper, self.solution, self.lower = math.inf, None, self.least
        self.n_nodes = self.n_passes = 0
        self.history, self.before = [], 0.0
        self.kept = 1.0  # the part of the tolerance that is not kept back for a proof

    # What is known

    @property
    def tolerance(self):
        """Gap at which the search ends."""
        return self.kept * max(self.epsilon, self.rel_tol * abs(self.upper))

    def _offer(self, state):
        """Take a mixture, improved by EM, if it is the best; whether it was."""
        problem, last = self.problem, math.inf
        kept = state
        with np.errstate(all="ignore"):
            for step in range(POLISHED):
                if step % STEPS == 0:
                    value = problem.objective(**state)
                    if not last - value > EXACT * EXACT * self.epsilon:
                        break
                    last, kept = value, state
                state = problem.maximize(problem.responsibilities(**state), **state)
        solution = MixtureSolution.canonical(problem, **kept)
        value = by_definition(problem, solution, _away(problem, solution.parameters))
        if not value < self.upper:
            return False
        self.upper, self.solution = value, solution
        return True

    def _offer_fixed(self, at):
        """Take what a mixture of fixed coefficient attains, where it is better than the best; whether it was."""
        if at.result is None and at.done or not at.upper < self.upper - EXACT * self.epsilon:
            return False
        own = {name: value for name, value in at.state.items() if name != "weights"}
        return self._offer({"weights": at.state["weights"], **sharing.widened(self.problem, at.value, own)})

    def _add(self, value):
        """Look at a value of the coefficient; whether it has a better mixture."""
        near = min(self.values, key=lambda other: abs(other - value), default=None)
        if near is None:
            own = sharing.narrowed(self.problem, dict(self.solution.parameters))[1]
            state = {"weights": self.solution.weights, **own}
        else:
            state = self.values[near].state
        known = self.far.least(value, value)
        self.values[value] = at = FixedCoefficient(self.problem, value, self.inner, state, known)
        if not at.upper < math.inf:
            self._go_on(at, -math.inf, -math.inf)
        return self._offer_fixed(at)

    def _between(self, a, b):
        """Return what is proved of an interval."""
        return max(self.far.least(a, b), self.loss.between(a, b, self.values[a].lower, self.values[b].lower).bound)

    # The search

    def run(self, time_limit=None, max_nodes=None, cutoff=np.inf):
        """
        Start the search, or go on with it.

        Parameters
        ----------
        time_limit : float or None
            Seconds of this run.
        max_nodes : int or None
            Most nodes of all runs together, those of all mixtures in which the coefficient is fixed.
        cutoff : float
            Stop also once no point is proved to have an objective below this, with status CUTOFF.

        Returns
        -------
        Result
            Counts and time are those of all runs.
        """
        self.started = time.perf_counter()
        self.finish = math.inf if time_limit is None else self.started + time_limit
        self.asked = self.stuck = False
        limited = math.inf if max_nodes is None else max_nodes
        with self.session.monitor.watching(self.problem):
            try:
                if self.solution is None:
                    self._begin()
                while not self._is_over(cutoff, limited):
                    self._work(min(self.upper - self.tolerance, cutoff))
            except KeyboardInterrupt:
                self.asked = True
            if self.solution is None:  # there was no time for any
                self._offer(self.problem.maximize(np.full((self.problem.n_samples, self.problem.n_components),
                                                          1.0 / self.problem.n_components)))  # fmt: skip
        self._raise_lower()
        result = self._result(self._status(cutoff, limited))
        self.before = result.time
        self.session.monitor.finish(result)
        return result

    def _begin(self):
        """Find a mixture."""
        if self.start is not None:
            self._offer(self.start)
        if not self.known:
            self._offer(regression_starts.best_fit(self.problem, N_STARTS, N_STARTS, 1))
        self._report(True)

    def _is_over(self, cutoff, most_nodes):
        """Whether all is proved, or a limit has come."""
        proved = bool(self.heap) and self.heap[0][0] >= min(self.upper - self.tolerance, cutoff)
        late = time.perf_counter() >= self.finish or self.n_nodes >= most_nodes
        self.asked |= interrupts.asked()
        return proved or late or self.asked or self.stuck

    def _work(self, limit):
        """Do one thing more: open the range, or divide the interval of the least bound, or go on at one of its ends."""
        if not self.heap:
            self._open()
            return
        bound, a, b = self.heap[0]
        now = self._between(a, b)
        if now > bound:  # one of its ends has told more since
            heapq.heapreplace(self.heap, (now, a, b))
            return
        ends = self.values[a], self.values[b]
        hoped = [self._hoped(at, limit) for at in ends]
        # all that is of use, where a start so far away that it says nothing has attained more than numbers can tell
        most = min(hoped) + self.loss.steepest(b - a) * (b - a) ** 2
        best = self.loss.between(a, b, *(min(value, most) for value in hoped))
        spare = best.bound - limit
        if spare < max(RESERVE * self.tolerance, SPARE * (min(hoped) - limit)):
            self._divide(a, b, best.share)
            return
        going = [at for at in ends if not at.done]
        if not going:  # what rounding leaves open at the ends
            self.stuck = True
            return
        at = max(going, key=lambda at: min(at.upper, most) - at.lower)
        aim = min(at.upper, most)
        self._go_on(at, aim - spare, aim - WANTED * spare)

    def _hoped(self, at, limit):
        """Return what is to be proved of a fixed coefficient: no more, where its search takes longer than others."""
        others = (self.n_nodes - at.total_nodes) / max(1, len(self.values) - 1)
        if at.total_nodes > PATIENCE * max(FIRST_NODES, others) and at.lower > limit:
            return at.lower
        return at.upper

    def _open(self):
        """Open the range of the coefficient: about the best mixture's, and what is ruled out on both sides."""
        value, limit = sharing.narrowed(self.problem, dict(self.solution.parameters))[0], self.upper - self.tolerance
        inner, outer = [], []
        for side in (-1.0, 1.0):
            end, far = self._end(value, side, limit)
            inner.append(end)
            outer += far
        value = min(max(float(value), inner[0]), inner[1])
        edge = EDGE * (inner[1] - inner[0])
        points = [inner[0], *[value] * bool(inner[0] + edge < value < inner[1] - edge), inner[1]]
        new = [self._add(point) for point in points]
        self.heap = [*((self.far.least(a, b), a, b) for a, b in zip(points, points[1:], strict=False)), *outer]
        heapq.heapify(self.heap)
        self._report(any(new))

    def _end(self, value, side, limit):
        """Return where the range ends on a side of a value, and what lies beyond that is ruled out: bounds and ends."""
        reach = self.far.unit * 2.0**-N_DOUBLINGS
        for _ in range(2 * N_DOUBLINGS):
            end = value + side * reach
            ends = (end, math.inf) if side > 0.0 else (-math.inf, end)
            bound = self.far.least(*ends)
            if bound >= limit and end != value:
                return end, [(bound, *ends)]
            reach *= 2.0
        if len(self.problem._all_shared) > 1:
            raise InputError(
                "shared_coefficients must be one for these data: nothing rules out values far away of several"
            )
        if self.ends is None:
            self.ends = least_and_most(self.problem)
        return self.ends[side > 0.0], []

    def _divide(self, a, b, share):
        """Divide an interval, the first of the heap."""
        middle = a + (b - a) * min(max(share, EDGE), 1.0 - EDGE)
        if not a < middle < b:
            self.stuck = True
            return
        new = self._add(middle)
        bound = self.heap[0][0]
        parts = [(max(bound, self._between(*ends)), *ends) for ends in ((a, middle), (middle, b))]
        # all at once: Ctrl-C comes before or after
        self.heap = [*self.heap[1:], *parts]
        heapq.heapify(self.heap)
        self._report(new)

    def _go_on(self, at, needed, wanted):
        """Go on with the search of a fixed coefficient."""
        nodes, passes = at.go_on(max(0.0, self.finish - time.perf_counter()), needed, wanted)
        self.n_nodes, self.n_passes = self.n_nodes + nodes, self.n_passes + passes
        self.asked |= at.result.status is Status.INTERRUPTED
        self._report(self._offer_fixed(at) if self.heap else False)

    def _raise_lower(self):
        """Take the bound of all intervals."""
        if self.heap:
            self.lower = max(self.lower, self.heap[0][0])

    def _report(self, new):
        """Tell the monitor, which may stop the search."""
        self._raise_lower()
        elapsed, lower = self.before + time.perf_counter() - self.started, min(self.lower, self.upper)
        self.history.append((elapsed, self.n_nodes, lower, self.upper, len(self.heap)))
        monitor = self.session.monitor
        if monitor.wanted and monitor(elapsed, self.n_nodes, len(self.heap), lower, self.upper, new):
            self.asked = True

    # What it came to

    def _status(self, cutoff, most_nodes):
        """Return why the search stopped."""
        if self.lower >= self.upper - self.tolerance - SPACINGS * np.spacing(abs(self.upper)):
            return Status.OPTIMAL
        if self.lower >= cutoff:
            return Status.CUTOFF
        if self.asked:
            return Status.INTERRUPTED
        if self.stuck:
            return Status.NUMERICAL
        return Status.NODE_LIMIT if self.n_nodes >= most_nodes else Status.TIME_LIMIT

    def _result(self, status):
        """Make the result."""
        problem, lower = self.problem, min(self.lower, self.upper)
        elapsed = self.before + time.perf_counter() - self.started
        rows = self.history or [(elapsed, 0, lower, self.upper, 0)]
        return Result(
            status=status, objective=self.upper, lower_bound=lower, solution=self.solution,
            elbo_constant=problem.elbo_constant, n_nodes=self.n_nodes, n_passes=self.n_passes, time=elapsed,
            rounding_margin=self.upper - lower if status is Status.NUMERICAL else 0.0, history=rows,
            profile=Profile(NAMES, [row for at in self.values.values() for row in at.activity]),
            relaxation=METHOD, partition="joint", branching="bisect", subproblem="enumerate",
            notes=[*self.session.notes, *notes_of(problem, self.solution, status)],
            caution=problem._caution(self.solution),
        )  # fmt: skip

    def state(self):
        """Return what another search of the same problem and options goes on from, for `set_state`."""
        known = {value: (at.lower, at.upper, at.state, at.activity) for value, at in self.values.items()}
        return known, self.heap, self.upper, self.solution, self.lower, self.n_nodes, self.n_passes, self.before

    def set_state(self, state):
        """Go on from what `state` returned; searches of fixed coefficients begin anew."""
        known, self.heap, self.upper, self.solution, self.lower, self.n_nodes, self.n_passes, self.before = state
        for value, (lower, upper, own, activity) in known.items():
            self.values[value] = at = FixedCoefficient(self.problem, value, self.inner, own)
            at.lower, at.upper, at.state, at.before = lower, upper, own, activity

    def close(self):
        """Do nothing: there are no files."""


def _away(problem, parameters):
    """Bound what rounding of predictions changes the kernel (n, K) by."""
    rows = problem._rows_of_design(parameters)
    reach = np.abs(problem._design()) @ np.abs(rows).T
    if problem.family == "normal":
        off = RESIDUAL * (reach + np.abs(problem.response)[:, np.newaxis])
        residuals = np.abs(problem.response[:, np.newaxis] - problem._design() @ rows.T)
        each = off * (residuals + off) / problem._variances_of(parameters)
    else:
        offsets = problem.offsets[:, np.newaxis]
        off = RESIDUAL * (reach + np.abs(offsets))
        means = problem._rows.cumulant(problem._design() @ rows.T + offsets)  # at least as large for trials
        slope = means if problem.family == "poisson" else problem.trials[:, np.newaxis]
        each = off * (np.exp(off) * slope + problem._rows.counts[:, np.newaxis])
    return problem._sums_of_groups(each)


def _state_of(problem, start):
    """Read a start with all parameters; equal weights where there are none."""
    given = start_values(problem, start)
    weights = given.pop("weights", np.full(problem.n_components, 1.0 / problem.n_components))
    try:
        return {"weights": problem._check_weights(weights), **problem.check_parameters(**given)}
    except InputError as error:
        raise type(error)(f"start must hold {' and '.join(problem.parameter_names)}; {error}") from None


def _check_options(options):
    """`InputError` for options that are not offered where components share a coefficient."""
    options.refuse(
        ("checkpoint", "executor", "spill", "relaxation", "branching"),
        "with shared_coefficients: the search is one of many small ones, each of which takes its own way",
    )
    if options.partition != "joint":
        raise InputError("partition must be 'joint' with shared_coefficients")
