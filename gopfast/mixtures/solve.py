"""The search of a mixture: built from the problem and the options, run, and told in the user's units."""

import contextlib
import hashlib
import math
import time

import numpy as np

from gopfast.errors import CheckpointError, InputError
from gopfast.mixtures import engine
from gopfast.mixtures.data.ties import groups
from gopfast.mixtures.learning.handover import HandoverReduction
from gopfast.mixtures.margins import COUNTED
from gopfast.mixtures.mechanisms import NAMES, REDUCED_FROM, ClosedForm
from gopfast.mixtures.notes import notes_of
from gopfast.mixtures.plan import MixturePlan
from gopfast.mixtures.pricing.pricing_cuts import PricingReduction
from gopfast.mixtures.primal.start_kinds import KINDS
from gopfast.mixtures.problems.large import LargeGaussianMixture
from gopfast.mixtures.record import digest, record
from gopfast.mixtures.recording import Recorder, of_one_component
from gopfast.mixtures.representation import Representation
from gopfast.mixtures.result import Result
from gopfast.mixtures.solution import MixtureSolution
from gopfast.mixtures.tuning import RECORDING_RESERVE as RESERVE, SOLVE_SAME as SAME, SPACINGS
from gopfast.monitor import Monitor
from gopfast.profile import Profile
from gopfast.proof import Proof
from gopfast.result import CLOSED_FORM, Status
from gopfast.search import interrupts, snapshot
from gopfast.search.checkpoint import header
from gopfast.search.endings import ENDINGS
from gopfast.search.search import Search
from gopfast.search.session import UNLIMITED, Session, memory_notes
from gopfast.search.threads import n_threads
from gopfast.starts import Starts
from gopfast.tuning import EPSILON

WITHOUT = (
    "the search did without what has no entry in proofs: summaries of the samples, boxes around the incumbent, divided "
    "cells, hitting sets, closed forms"
)
N_CLOSED_FORM_PASSES = 2  # the mean, and the sums about it


def solve(problem, options, start=None, proof=None):
    """
    Solve a mixture: in closed form, where there is one and no method is named, or by search.

    Parameters
    ----------
    problem : MixtureProblem
    options : Options
    start : array_like, Result, MixtureSolution, LocalResult or None
    proof : str, True or None
        File for a proof; True: it is kept in memory.

    Returns
    -------
    Result
    """
    if isinstance(problem, LargeGaussianMixture):
        return _solve_large(problem, options, start, proof)
    if proof is not None:
        _check_provable(options)
        options.refuse(("checkpoint", "executor", "spill"), "with a proof, whose nodes are kept in memory")
    started = time.perf_counter()
    if problem.n_components == 1:
        plan = MixturePlan(problem, None, options)
        if plan.has(ClosedForm):
            if start is not None:
                engine.start_solution(problem, start)
            found = ClosedForm.make(plan)
            proved = None if found is None or proof is None else _proved(problem, found, options, proof)
            if found is not None and (proof is None or proved is not None):
                return _closed_form(problem, found, options, started, plan, proved)
    search = MixtureSearch(problem, options, start, proof)
    return run_once(search, options, started)


def run_once(search, options, started):
    """Run a search that is not to go on in this process, within what is left of the time limit."""
    left = math.inf if options.time_limit is None else options.time_limit - (time.perf_counter() - started)
    with contextlib.closing(search):
        return search.run(max(left, 0.0), options.max_nodes)


class MixtureSearch:
    """
    Search of a mixture, which can go on where it stopped.

    Parameters
    ----------
    problem : MixtureProblem
    options : Options
        Its limits are those of `run`.
    start : array_like, Result, MixtureSolution, LocalResult or None
    proof : str, True or None
        File for a proof of what is reached; True: it is kept in memory.
    packed : tuple of ndarray (n_connected,) and of ndarray (K,) or None, or None
        The start in the core's units and its weights, as a checkpoint has them.
    """

    def __init__(self, problem, options, start=None, proof=None, packed=None):
        self.problem, self.family, self.proof, self.options = problem, engine.family(problem), proof, options
        start, weights = engine.start_solution(problem, start) if packed is None else packed
        if proof is not None:
            self.family = self.family.provable()
            tolerance = EPSILON if options.epsilon is None else options.epsilon
            self.recorder = Recorder(problem, self.family, proof, tolerance)
        self.epsilon = EPSILON if options.epsilon is None else options.epsilon
        self.session = session = Session(options, ends_early=True)
        self.plan = plan = MixturePlan(
            problem, self.family, options, None if proof is None else self.recorder.cells, self._priced, self.epsilon,
            n_threads(options.n_threads), blocks=None if proof is None else self.recorder.blocks,
        )  # fmt: skip
        self.relaxed = plan.relaxed()
        options.check_orthants(self.relaxed.n_connected)
        self.names = {
            "relaxation": options.relaxation or "entropic", "partition": options.partition,
            "branching": options.branching or "bisect", "subproblem": options.subproblem,
        }  # fmt: skip
        if proof is not None:
            self.recorder.relaxation = self.relaxed
        self.primal = primal = plan.take_primal(
            lambda **others: problem._primal(self.family, session.monitor.note, **others),
            seed=options.seed, start=start, start_weights=weights, ties=_ties_to_try(problem),
        )  # fmt: skip
        self.rel_tol = options.rel_tol or 0.0
        self.representation = Representation(problem, self.family)
        session.keep(lambda: {
            **checkpoint_header(problem, options), "names": self.names,
            "start": None if start is None else np.asarray(start).tolist(),
            "start_weights": None if weights is None else np.asarray(weights).tolist(),
        })  # fmt: skip
        kept = self.representation.tolerance_kept(self.epsilon)
        if proof is not None:
            kept *= 1.0 - RESERVE
        self.search = Search(
            self.relaxed,
            primal,
            kept * self.epsilon,
            rel_tol=kept * self.rel_tol,
            orthant=self.names["branching"] == "orthant",
            **session.surroundings(self.coordinates),
            **self._beside_the_tree(),
            meters=plan.meters,
            proof=None if proof is None else self.recorder,
        )

    def _beside_the_tree(self):
        """Return what else the search knows and learns: for a proof nothing that has no entry there."""
        plan, self.reduction, reduce_from = self.plan, None, REDUCED_FROM
        if self.names["relaxation"] != "linear" and not plan.is_summary:
            self.reduction, reduce_from = plan.reduction()
            if self.reduction is None and self.options.relaxation == "pricing":
                self.names["relaxation"] = "entropic"  # prices are switched off
        self.session.monitor.learning = self.reduction
        learnt = {"reduction": self.reduction, "reduce_from": reduce_from}
        return learnt if plan.provable else {**learnt, "basin": plan.box(), "least": plan.least()}

    def _priced(self, what):
        """Pricing begins: the result and the log say so."""
        self.names["relaxation"] = "pricing"
        self.session.monitor.note(f"{what} beside the tree from here on (relaxation='pricing')")

    def restore(self, stored):
        """
        Take the state of a checkpoint of the same problem and options, and the methods that it had come to.

        Parameters
        ----------
        stored : Stored
        """
        names = stored.header.get("names")
        if not isinstance(names, dict) or set(names) != set(self.names) or (
            not all(isinstance(name, str) for name in names.values())
        ):
            raise CheckpointError(f"{stored.path}: damaged, or no checkpoint of gopfast (header: names)")
        self.names.update(names)
        self.session.restore(self.search, stored, self._attains)

    def _attains(self, vector, upper):
        """Whether a solution vector has an objective, in the core's units."""
        try:
            with np.errstate(all="ignore"):
                _, attained = self.representation.attained(unpack(self.problem, self.family, vector), self.primal)
        except InputError:  # a mixture that is none
            return False
        return attained - upper <= self.representation.loss(upper) + SAME * (self.problem.total_weight + abs(upper))

    def state(self):
        """Return what another `MixtureSearch` of the same problem and options goes on from: arrays, for `set_state`."""
        return dict(self.names), snapshot.state(self.search), list(snapshot.slabs(self.search))

    def set_state(self, state):
        """Go on from what `state` returned."""
        names, arrays, nodes = state
        self.names.update(names)
        snapshot.restore(self.search, arrays, nodes)

    def run(self, time_limit=None, max_nodes=None, cutoff=np.inf):
        """
        Start the search, or go on with it.

        Parameters
        ----------
        time_limit : float or None
            Seconds of this run.
        max_nodes : int or None
            Most nodes of all runs together.
        cutoff : float
            Stop also once no point is proved to have an objective below this, with status CUTOFF. At most that of
            the run before.

        Returns
        -------
        Result
            Counts and time are those of all runs.
        """
        cutoff += 2.0 * self.representation.loss(cutoff)
        time_limit = np.inf if time_limit is None else time_limit
        max_nodes = UNLIMITED if max_nodes is None else max_nodes
        with self.session.monitor.watching(self.problem), self.session.on_termination():
            with self._no_rest_of_a_proof():
                status = self.session.run(self.search, self._of_worker, time_limit, max_nodes, cutoff=cutoff)
            self.session.end(self.search, status)  # what ends the process waits for it
        fields, vector = self.search.summary()
        solution, attained = self.representation.attained(unpack(self.problem, self.family, vector), self.primal)
        return self._in_users_units(status, solution, attained, fields)

    @contextlib.contextmanager
    def _no_rest_of_a_proof(self):
        """Remove what was written of a proof where the search fails."""
        try:
            yield
        except BaseException:
            if self.proof is not None:
                self.recorder.discard()
            raise

    def coordinates(self):
        """Return a digest of what boxes of nodes refer to, as text: arithmetic that differs may give other axes."""
        columns, weights = self.family.data.arrays()
        arrays = (columns, weights) if self.family.frame is None else (columns, weights, self.family.frame)
        return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()

    def _of_worker(self):
        """Return what makes the search of a worker, as `Session.run` wants it."""
        plain = self.options.of_worker()
        key = f"{checkpoint_header(self.problem, plain)['digest']}-{self.options.seed}"
        return key, worker_search, (self.problem, plain)

    def close(self):
        """Remove the nodes on disk that no checkpoint needs: the search is not to go on."""
        self.session.close()

    def _finish_proof(self, solution, lower):
        """Write the end of the proof: the lower bound that it claims, and the proof; None where there is none."""
        with self._no_rest_of_a_proof():
            self.search.tell_open()
            return self.recorder.finish(lower, solution, _priced_by(self.reduction))

    def _in_users_units(self, status, solution, attained, fields):
        """Make the result of what the core found, less what rounding between its units and the user's costs."""
        upper, lower = fields["objective"], fields["lower_bound"]
        if math.isnan(attained):  # Ctrl-C in the last pass over the data
            attained = upper + self.representation.loss(upper) if upper < math.inf else upper
        # Two evaluations of the same sum differ by less than their margin.
        same = abs(attained - upper) <= COUNTED * (self.problem.total_weight + abs(upper))
        objective = upper if same else attained
        raised, lost = max(0.0, objective - upper), self.representation.loss(lower)
        fields.update(objective=objective, lower_bound=min(objective, lower - lost))
        notes = [*self.session.notes, *memory_notes(self.search)]
        if self.proof is not None:
            notes.append(WITHOUT)
            proved, reason = None, "its arithmetic is not accurate enough for these data"
            try:
                with interrupts.raised(), np.errstate(all="ignore"):
                    proved = self._finish_proof(solution, fields["lower_bound"])
            except KeyboardInterrupt:  # what the search has found is kept
                reason = "Ctrl-C ended it"
            if proved is None:
                notes.append(f"no proof was written: {reason}")
            else:
                lower, proof = proved
                proof = Proof(proof) if self.proof is True else proof
                fields.update(lower_bound=min(fields["lower_bound"], lower), proof=proof)
        history = fields["history"]
        history[:, 2] = np.minimum(history[:, 2] - lost, objective)
        history[:, 3] = np.where(history[:, 3] == upper, objective, history[:, 3] + raised)
        tolerance = max(self.epsilon, self.rel_tol * abs(objective))
        # as the search sees it: a bound may be exactly that much below, and their difference is rounded
        closed = fields["lower_bound"] >= objective - tolerance - SPACINGS * np.spacing(abs(objective))
        if self.proof is not None and status is Status.OPTIMAL and not closed:
            notes.append(f"the proof's own rounding leaves a gap of {objective - fields['lower_bound']:.3g} nats")
        elif raised + lost > 0.5 * tolerance or (status is Status.OPTIMAL and not closed):
            notes.append(
                f"rounding in the units of X costs {raised + lost:.3g} nats: subtract an offset from X, so that its "
                "values are not much larger than their differences"
            )
        if status is Status.OPTIMAL and not closed:
            status = Status.NUMERICAL
            fields["rounding_margin"] = max(fields["rounding_margin"], objective - fields["lower_bound"])
        elif closed and status is not Status.CUTOFF:
            status = Status.OPTIMAL  # whatever stopped it: the objective had been rounded up by more than what was left
        stopped = self.session.monitor.verdict if status is Status.TIME_LIMIT else ""
        return _report(
            self.problem, solution, self.session.monitor, notes, status=status, stopped=stopped,
            profile=profile_of(self.plan), starts=starts_of(self.primal, upper, tolerance), **fields, **self.names,
        )  # fmt: skip


def _priced_by(reduction):
    """Return the PricingBound whose cells cut nodes; None: there is none."""
    if isinstance(reduction, HandoverReduction):
        return _priced_by(reduction.first) or _priced_by(reduction.second)
    return reduction.bound if isinstance(reduction, PricingReduction) else None


def profile_of(plan):
    """Return what every mechanism of a search has done so far."""
    return Profile(NAMES, [(meter.name, meter.row()) for meter in plan.meters])


def starts_of(primal, upper, tolerance):
    """Return the local searches of a primal; ends that differ by less than the tolerance are one optimum."""
    counts, kinds, endings, above = primal.searches(upper)
    return Starts(
        {kind: dict(zip(ENDINGS, row, strict=True)) for kind, row in zip(KINDS, counts.tolist(), strict=True)},
        [KINDS[kind] for kind in kinds], [ENDINGS[ending] for ending in endings], above, tolerance,
    )  # fmt: skip


def _tolerance(options, upper):
    """Return the gap that is asked for at an objective."""
    return max(EPSILON if options.epsilon is None else options.epsilon, (options.rel_tol or 0.0) * abs(upper))


def _proved(problem, found, options, proof):
    """Return a lower bound of one component and its proof; None where it takes a search: of an estimated prior."""
    solution = MixtureSolution.canonical(problem, [1.0], **found.parameters)
    tolerance, family = _tolerance(options, found.objective), engine.family(problem).provable()
    with np.errstate(all="ignore"):
        return of_one_component(problem, family, solution, found.lower_bound, proof, tolerance)


def _closed_form(problem, found, options, started, plan, proved=None):
    """Return the result of one component, whose best fit is known; a callback is asked once, as of a search."""
    lower, upper, fields = found.lower_bound, found.objective, {}
    if proved is not None:
        lower, fields["proof"] = min(lower, proved[0]), Proof(proved[1]) if isinstance(proved[1], bytes) else proved[1]
    tolerance = _tolerance(options, upper)
    seconds = time.perf_counter() - started
    monitor = Monitor(options)
    if monitor.wanted:
        monitor(seconds, 0, 0, lower, upper, True)
    return _report(
        problem,
        MixtureSolution.canonical(problem, [1.0], **found.parameters),
        monitor,
        **fields,
        status=Status.OPTIMAL if upper - lower <= tolerance else Status.NUMERICAL,
        objective=upper,
        lower_bound=lower,
        n_passes=N_CLOSED_FORM_PASSES,
        time=seconds,
        rounding_margin=upper - lower,
        history=[(seconds, 0, lower, upper, 0)],
        relaxation=CLOSED_FORM,
        profile=profile_of(plan),
    )


def _solve_large(problem, options, start, proof):
    """Solve a mixture of data in chunks, on a summary."""
    if proof is not None:
        raise InputError("proof must be None for data in chunks")
    started = time.perf_counter()
    search = MixtureSearch(summarised(problem, options), options, start)
    return run_once(search, options, started)


def summarised(problem, options):
    """Return a problem of data in chunks with a summary of them, as fine as the options need."""
    if options.relaxation not in (None, "entropic"):
        raise InputError(f"relaxation must be None or 'entropic' for data in chunks; got {options.relaxation!r}")
    tolerance = EPSILON if options.epsilon is None else options.epsilon
    interrupts.check()
    with interrupts.raised():  # without a summary there is nothing to return
        return problem.summarised(tolerance, Monitor(options).note, options.executor)


def _report(problem, solution, monitor, notes=(), **fields):
    """Make the result and end the log."""
    notes = [*notes, *notes_of(problem, solution, fields["status"])]
    result = Result(
        solution=solution, elbo_constant=problem.elbo_constant, notes=notes,
        caution=problem._caution(solution), **fields,
    )  # fmt: skip
    monitor.finish(result)
    return result


def worker_search(problem, options):
    """Return the search of a worker, and what tells the coordinates of its boxes."""
    made = MixtureSearch(problem, options)
    return made.search, made.coordinates()


def unpack(problem, family, vector):
    """Make a MixtureSolution in the user's units from the core's solution vector."""
    weights = vector[: problem.n_weights]
    return MixtureSolution.canonical(problem, weights / weights.sum(), **family.parameters(vector))


def checkpoint_header(problem, options):
    """Return what a checkpoint says of a problem and its options, in JSON types."""
    return header(options, record(problem), digest(problem))


def _ties_to_try(problem):
    """Return groups of tied samples where a component can be narrow enough to sit on one."""
    if problem._can_sit_on_ties and problem.n_components > 1:
        return groups(problem.X, problem.sample_weight)
    return []


def _check_provable(options):
    """Check that a proof can be written of such a search of a mixture."""
    if options.relaxation == "linear" or options.branching == "orthant":
        name = "relaxation" if options.relaxation == "linear" else "branching"
        value = getattr(options, name)
        raise InputError(f"proof must be None with {name}={value!r}: proofs are of relaxation='entropic' by bisection")
