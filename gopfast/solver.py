"""The global solve: validate, build, start the compiled search, report."""

import contextlib
import hashlib
import json
import math
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, overload

import numpy as np

from gopfast import checks
from gopfast.annotations import (
    Branching,
    Callback,
    CvxpyProblem,
    Executor,
    Log,
    MemorySize,
    Partition,
    Path,
    Relaxation,
    Seed,
    SolveOptions,
    StartLike,
    Subproblem,
)
from gopfast.biconvex.problem import BiconvexProblem
from gopfast.biconvex.result import BiconvexResult
from gopfast.clustering.problem import KMeans
from gopfast.clustering.result import ClusteringResult
from gopfast.errors import CheckpointError, InputError, InputTypeError
from gopfast.mixtures import bounds, engine, large
from gopfast.mixtures.bounds import ceiling, single
from gopfast.mixtures.bounds.em import MixturePrimal
from gopfast.mixtures.bounds.entropic import EntropicRelaxation
from gopfast.mixtures.bounds.pricing_cuts import PricingReduction
from gopfast.mixtures.bounds.pricing_root import PricingBound
from gopfast.mixtures.bounds.pricing_root import single as single_component
from gopfast.mixtures.bounds.shared import SharedBound
from gopfast.mixtures.bounds.shared_cuts import SharedReduction
from gopfast.mixtures.data.ties import groups
from gopfast.mixtures.marginal import MarginalBound
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.problems.large import LargeGaussianMixture
from gopfast.mixtures.proof import Recorder, tolerance_kept
from gopfast.mixtures.record import digest, record
from gopfast.mixtures.representation import COUNTED, Representation
from gopfast.mixtures.result import Result
from gopfast.mixtures.solution import MixtureSolution
from gopfast.options import Options
from gopfast.proof import keep
from gopfast.report import Heartbeat, Progress, ProgressLog
from gopfast.result import CLOSED_FORM, Status
from gopfast.search.checkpoint import Checkpoint
from gopfast.search.files import Spill
from gopfast.search.memory import Memory
from gopfast.search.search import Search
from gopfast.search.spread import Spread
from gopfast.search.threads import n_threads

if TYPE_CHECKING:
    from typing_extensions import Unpack

EPSILON = 0.01  # default for mixtures, nats
UNUSED = 1e-9  # components of less weight
SPACINGS = 2  # of floats, by which a gap may exceed the tolerance
SAME = 1e-6  # components whose parameters differ by less, relative to the largest
# Samples times columns times components from which the first local search, and a batch, may take seconds.
WATCHED_FROM = 1_000_000
MOST_PRICED = 20_000  # samples; prices are one for each
# Nodes from which on something is learnt beside the tree, so that small problems are done before it would pay: hitting
# sets, and prices that were asked for. Otherwise prices begin once the tree has cost so many terms of its sums for each
# sample, about what prices cost, but at least and at most so many (0.08 and 0.3 s). A node has one for each sample,
# component and statistic (more where statistics are many, for their second moments), and so many more.
REDUCED_FROM = 256
ASKED_FROM = 1
TERMS_OF_A_PRICE = 20_000
LEAST_BEFORE_PRICES, MOST_BEFORE_PRICES = 5_000_000, 20_000_000
TERMS_OF_A_NODE = 350
WITHOUT = (
    "the search did without what has no entry in proofs: summaries of the samples, boxes around the incumbent, divided "
    "cells, what is learnt beside the tree, closed forms"
)
# Options that a search's state depends on.
KEPT = ("epsilon", "rel_tol", "relaxation", "partition", "branching", "subproblem")
# What a worker does without.
ALONE = {
    "executor": None, "checkpoint": None, "spill": None, "callback": None, "log": False, "n_threads": 1,
    "time_limit": None, "max_nodes": None, "memory_limit": None,
}  # fmt: skip
N_CLOSED_FORM_PASSES = 2  # the mean, and the sums about it


@overload
def solve(
    problem: MixtureProblem, epsilon: float | None = None, **options: "Unpack[SolveOptions]"
) -> Result: ...


@overload
def solve(problem: KMeans, epsilon: float | None = None, **options: "Unpack[SolveOptions]") -> ClusteringResult: ...


@overload
def solve(
    problem: BiconvexProblem | CvxpyProblem, epsilon: float | None = None, **options: "Unpack[SolveOptions]"
) -> BiconvexResult: ...


def solve(
    problem: MixtureProblem | KMeans | BiconvexProblem | CvxpyProblem,
    epsilon: float | None = None,
    *,
    rel_tol: float | None = None,
    relaxation: Relaxation = None,
    partition: Partition = "joint",
    branching: Branching = None,
    subproblem: Subproblem = "enumerate",
    n_threads: int | None = None,
    time_limit: float | None = None,
    max_nodes: int | None = None,
    start: StartLike = None,
    callback: Callback | None = None,
    log: Log = None,
    random_state: Seed = 0,
    proof: Path | bool | None = None,
    memory_limit: MemorySize = None,
    spill: Path | None = None,
    checkpoint: Path | None = None,
    checkpoint_every: float = 60.0,
    executor: Executor | None = None,
) -> Result | ClusteringResult | BiconvexResult:
    """
    Find a proved global optimum with the GOP method.

    The search stops when ``UBD - LBD <= max(epsilon, rel_tol * |UBD|)``. Whatever stops it, the result carries
    bounds that are proved: no point has an objective below ``result.lower_bound``.

    Parameters
    ----------
    problem : GaussianMixture or another mixture of `gopfast.models`, KMeans, BiconvexProblem or cvxpy.Problem
        What to solve. A CVXPY problem must be bilinear and convex quadratic; its variables get their values.
    epsilon : float, optional
        Absolute tolerance, in the objective's unit. Mixtures: 0.01 by default (nats: a likelihood ratio of 1.01).
        Biconvex problems: 1e-8 times what the objective's terms can amount to within the bounds. k-means: none.
    rel_tol : float, optional
        Relative tolerance; 0 for mixtures, 1e-6 for biconvex problems by default, 1e-4 for k-means unless
        there is an `epsilon`.
    relaxation : {None, "entropic", "linear", "pricing"}
        The relaxed dual. "entropic" keeps the entropy exact and needs no LP; "linear" is the paper's, with HiGHS.
        "pricing": "entropic", and the parameters of a single component are searched beside the tree for those that no
        component of a better mixture can have; a parameter that components share is fixed at a few values there,
        and the mixtures with these values bound all others. By default mixtures begin with "entropic" and go on with
        "pricing", where it applies, once so many nodes were not enough that it pays; the result says which was used.
        Unless it or `branching` is given, one component is solved in closed form, where there is one: all models but
        a prior variance that is estimated with unequal noise variances.
    partition : {"joint", "paper"}
        Connected variables: the means ("joint"), or the means and the weights ("paper", linear only). For biconvex
        problems what may be split: all bilinear variables, or the side with fewer of them ("paper", linear only).
    branching : {None, "bisect", "orthant"}
        Partition of a node: one variable in two (the default), or all 2^|I_c| bound combinations (the paper's).
    subproblem : {"enumerate", "milp"}
        What "orthant" does with the bound combinations: one linear program for each ("enumerate", at most 2^12), or
        one mixed-integer program in HiGHS that selects the best of them ("milp", linear only; `branching` is then
        "orthant"). The combination selected is split off, and the rest of the node divided into one box per connected
        variable; every box is bounded by a linear program, so that what is proved does not depend on the tolerances
        of mixed-integer programs.
    n_threads : int, optional
        Threads; one per processor by default. The result does not depend on it.
    time_limit : float, optional
        Seconds; local search before the first bound takes at most a third of it. At least a few passes over the
        data are made whatever the limit.
    max_nodes : int, optional
        Most nodes to bound.
    start : array_like of shape (K, d), Result, MixtureSolution, LocalResult, dict or estimator, optional
        Means, or what the model has in their place, to start the first local search from, beside the solver's
        own starts; for a biconvex problem a point of shape (n,) or a result; for k-means centers, labels or a fitted
        estimator.
    callback : callable, optional
        Called with a `gopfast.report.Progress` after every batch of nodes; returning True stops the search.
    log : None, bool, "bar", logging.Logger or stream
        Whether to print a table of the progress, to a stream or as lines of a logger at level INFO; "bar" shows bounds,
        gap and open nodes on a bar of tqdm (``pip install 'gopfast[progress]'``). None, the default: only a line on
        standard error after 10 seconds, and each time that the time has doubled; False: nothing at all.
    random_state : None, int, Generator or RandomState
        Seed of the local search's starts. The proved optimum does not depend on it, node counts may.
    proof : str, path-like or bool, optional
        File to write a proof of the bounds to, which `gopfast.check` checks without any of the code that made it; True:
        the proof is `Result.proof`, a `gopfast.Proof`. Also where a limit stopped the search. For mixtures, except
        Gaussian ones with covariance matrices, a variance that components share or a Gaussian posterior, and for
        biconvex problems. A search of a mixture then takes more nodes, and all of them are kept in memory (about 1 kB
        each): it does without what has no entry in proofs, which `notes` names. The proof of a biconvex problem is
        found by a search of its own, once the bound is known. Where there is none, `notes` says why.
    memory_limit : float or str, optional
        Memory that the process may take, in bytes or as text such as "4GB"; by default what it takes at the start and
        80 % of what is free then. Before that the search goes depth first, which needs no more memory but more nodes;
        where that does not help it ends with status MEMORY_LIMIT. Not for k-means.
    spill : str or path-like, optional
        A folder for open nodes that do not fit, on a fast disk: the search then visits the same nodes as without a
        limit. Not for k-means.
    checkpoint : str or path-like, optional
        File to write the state of the search to, for `gopfast.resume`; of mixtures. SIGTERM then ends the search with
        its bounds, and writes one.
    checkpoint_every : float
        Seconds between two checkpoints: what a process that is killed loses at most.
    executor : concurrent.futures.Executor, optional
        Runs parts of the search: a `ProcessPoolExecutor`, or that of loky, ``dask.distributed`` (`Client.get_executor`)
        or ``mpi4py.futures``. For mixtures. Bounds and solution are as in one process, node counts vary.

    Returns
    -------
    Result
        For biconvex problems a `BiconvexResult`: bounds in the user's sense and units, also when maximising. For
        k-means a `ClusteringResult`.

    Raises
    ------
    InputError
        If an argument is invalid; the message names it. No work has been done then. Also for a CVXPY expression
        outside the class.

    Notes
    -----
    Ctrl-C ends the search with status INTERRUPTED and the bounds reached.

    References
    ----------
    Saddiki, Trapp & Flaherty, "A Deterministic Global Optimization Method for Variational Inference", section 2.3.

    Visweswaran & Floudas, "New formulations and branching strategies for the GOP algorithm", in Grossmann (ed.),
    Global Optimization in Engineering Design, 1996 (`branching`, `subproblem`).

    Examples
    --------
    >>> import gopfast
    >>> problem = gopfast.GaussianMixture([-10, -10, 5, 25], 2, prior="empirical")
    >>> result = gopfast.solve(problem)
    >>> round(result.objective, 4)
    84.0302
    """
    if not isinstance(problem, (MixtureProblem, BiconvexProblem, KMeans)):
        # Here and not above: CVXPY is an optional extra.
        from gopfast.biconvex.cvxpy import is_problem

        if not is_problem(problem):
            raise InputTypeError(
                "problem must be a mixture such as gopfast.GaussianMixture, a gopfast.KMeans, a "
                f"gopfast.BiconvexProblem or a cvxpy.Problem; got {type(problem).__name__}"
            )
    options = Options.from_arguments(
        epsilon,
        rel_tol=rel_tol,
        relaxation=relaxation,
        partition=partition,
        branching=branching,
        subproblem=subproblem,
        n_threads=n_threads,
        time_limit=time_limit,
        max_nodes=max_nodes,
        callback=callback,
        log=log,
        random_state=random_state,
        memory_limit=memory_limit,
        spill=spill,
        checkpoint=checkpoint,
        checkpoint_every=checkpoint_every,
        executor=executor,
    )
    proof = _check_proof(proof)
    if not isinstance(problem, MixtureProblem):
        _refuse(options, ("checkpoint", "executor"), "for biconvex problems and k-means")
        if isinstance(problem, BiconvexProblem):
            return _solve_biconvex(problem, options, start, proof)
        if isinstance(problem, KMeans):
            _refuse(options, ("memory_limit", "spill"), "for k-means")
            return _solve_clustering(problem, options, start, proof)
        if proof is not None:
            raise InputError("proof must be None with a CVXPY problem: write it as a gopfast.BiconvexProblem")
        return _solve_biconvex(problem, options, start)
    if isinstance(problem, LargeGaussianMixture):
        return _solve_large(problem, options, start, proof)
    if proof is not None:
        _check_provable(options)
        _refuse(options, ("checkpoint", "executor", "spill"), "with a proof, whose nodes are kept in memory")
    started = time.perf_counter()
    # Who names a method wants it run.
    if problem.n_components == 1 and options.relaxation is None and options.branching is None and proof is None:
        if start is not None:
            engine.start_parameters(problem, start)
        found = single.optimum(problem)
        if found is not None:
            return _closed_form(problem, found, options, started)
    search = MixtureSearch(problem, options, start, proof)
    left = math.inf if options.time_limit is None else options.time_limit - (time.perf_counter() - started)
    return search.run(max(left, 0.0), options.max_nodes)


def _closed_form(problem, found, options, started):
    """Return the result of one component, whose best fit is known; a callback is asked once, as of a search."""
    lower, upper = found.lower_bound, found.objective
    tolerance = max(EPSILON if options.epsilon is None else options.epsilon, (options.rel_tol or 0.0) * abs(upper))
    seconds = time.perf_counter() - started
    monitor = _Monitor(options)
    if monitor.wanted:
        monitor(seconds, 0, 0, lower, upper, True)
    return _report(
        problem,
        MixtureSolution.canonical(problem, [1.0], **found.parameters),
        monitor,
        status=Status.OPTIMAL if upper - lower <= tolerance else Status.NUMERICAL,
        objective=upper,
        lower_bound=lower,
        n_passes=N_CLOSED_FORM_PASSES,
        time=seconds,
        rounding_margin=upper - lower,
        history=[(seconds, 0, lower, upper, 0)],
        relaxation=CLOSED_FORM,
    )


def _report(problem, solution, monitor, notes=(), **fields):
    """Make the result and end the log."""
    notes = [*notes, *_notes(problem, solution, fields["status"])]
    result = Result(
        solution=solution, elbo_constant=problem.elbo_constant, notes=notes,
        caution=problem._caution(solution), **fields,
    )  # fmt: skip
    monitor.finish(result)
    return result


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
    """

    def __init__(self, problem, options, start=None, proof=None):
        self.problem, self.family, self.proof, self.options = problem, engine.family(problem), proof, options
        start = engine.start_parameters(problem, start)
        if proof is not None:
            self.family = self.family.provable()
            self.recorder = Recorder(problem, self.family)
        self.relaxed, self.names = _relaxation(self.family, options, proof is not None)
        self.monitor, self.n_threads = _Monitor(options), n_threads(options.n_threads)
        ties = _ties_to_try(problem)
        self.primal = primal = MixturePrimal(self.family, seed=options.seed, start=start, ties=ties)
        entropic = self.names["relaxation"] != "linear"
        self.epsilon = EPSILON if options.epsilon is None else options.epsilon
        self.rel_tol = options.rel_tol or 0.0
        self.representation = Representation(problem, self.family)
        self.notes = []
        self.spill = None if options.spill is None else Spill(options.spill, self.note)
        self.keeper = None
        if options.checkpoint is not None:
            header = {
                **checkpoint_header(problem, options), "names": self.names, "coordinates": self.coordinates(),
            }  # fmt: skip
            self.keeper = Checkpoint(options.checkpoint, options.checkpoint_every, header, self.note, self.spill)
        kept = self.representation.tolerance_kept(self.epsilon)
        if proof is not None:
            kept *= tolerance_kept(problem, self.epsilon)
        self.search = Search(
            self.relaxed,
            primal,
            kept * self.epsilon,
            rel_tol=kept * self.rel_tol,
            orthant=self.names["branching"] == "orthant",
            n_threads=self.n_threads,
            monitor=self.monitor if self.monitor.wanted else None,
            memory=Memory(options.memory_limit),
            spill=self.spill,
            keeper=self.keeper,
            **self._beside_the_tree(entropic, options.relaxation),
        )

    def _beside_the_tree(self, entropic, relaxation):
        """Return what else the search knows and learns: for a proof nothing that has no entry there."""
        if self.proof is not None:
            return {"proof": self.recorder.nodes}
        problem, family = self.problem, self.family
        reduction, reduce_from = None, REDUCED_FROM
        if entropic:
            reduction, reduce_from = _reduction(problem, family, relaxation, self._priced, self.epsilon, self.n_threads)
        return {
            "basin": family.basin(bounds, self.primal) if entropic else None,
            "reduction": reduction,
            "reduce_from": reduce_from,
            "least": max(ceiling.least_objective(problem), ceiling.saturated_bound(problem, family)),
        }

    def _priced(self, what):
        """Pricing begins: the result and the log say so."""
        self.names["relaxation"] = "pricing"
        self.monitor.note(f"{what} beside the tree from here on (relaxation='pricing')")

    def note(self, text):
        """Add a line to the table of the progress, and to the result's notes."""
        self.notes.append(text)
        self.monitor.note(text)

    def restore(self, stored, names):
        """
        Take the state of a checkpoint of the same problem and options.

        Parameters
        ----------
        stored : Stored
        names : dict
            The methods that it had come to.
        """
        if stored.header["coordinates"] != self.coordinates():
            raise CheckpointError(
                f"{stored.path}: written on a machine whose arithmetic gives other coordinates of the boxes"
            )
        self.names.update(names)
        stored.restore(self.search)
        if self.spill is not None:
            self.spill.hold([name for _, _, _, name in stored.header["blocks"]])

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
        watched = contextlib.nullcontext() if self.keeper is None else self.keeper.on_termination()
        time_limit, max_nodes = np.inf if time_limit is None else time_limit, 2**62 if max_nodes is None else max_nodes
        with self.monitor.watching(self.problem), watched:
            if self.options.executor is None:
                reason = self.search.resume(time_limit, max_nodes, cutoff)
            else:
                reason = self._spread().run(time_limit, max_nodes)
        self._keep(Status(reason))
        fields, vector = self.search.summary()
        solution, attained = self.representation.attained(unpack(self.problem, self.family, vector), self.primal)
        return self._in_users_units(Status(reason), solution, attained, fields)

    def coordinates(self):
        """Return a digest of what boxes of nodes refer to, as text: arithmetic that differs may give other axes."""
        columns, weights = self.family.data.arrays()
        arrays = (columns, weights, getattr(self.family, "axes", np.empty(0)))
        return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()

    def _spread(self):
        """Return what runs the search on the executor."""
        plain = replace(self.options, **ALONE)
        key = f"{checkpoint_header(self.problem, plain)['digest']}-{self.options.seed}"
        setup = worker_search, (self.problem, plain), self.coordinates()
        spread = Spread(self.search, self.options.executor, key, setup, self.keeper, self.note)
        if self.keeper is not None:
            self.keeper.elsewhere = spread.outstanding
        return spread

    def _keep(self, status):
        """Write the last checkpoint, and remove nodes on disk that nobody needs."""
        finished = status in (Status.OPTIMAL, Status.NUMERICAL)
        if self.keeper is not None and self.keeper.begun:
            self.keeper.write(self.search, finished)
        if self.spill is not None and (finished or self.keeper is not None):
            self.spill.close()

    def _memory_notes(self):
        """Tell what became of open nodes that did not fit."""
        if self.search.n_dives:
            yield "the open nodes filled the memory: the search went depth first, which takes more nodes"
        if self.search.n_blocks:
            yield f"open nodes were kept on disk at times, in {self.search.n_blocks} blocks"

    def _in_users_units(self, status, solution, attained, fields):
        """Make the result of what the core found, less what rounding between its units and the user's costs."""
        upper, lower = fields["objective"], fields["lower_bound"]
        # Two evaluations of the same sum differ by less than their margin.
        same = abs(attained - upper) <= COUNTED * (self.problem.total_weight + abs(upper))
        objective = upper if same else attained
        raised, lost = max(0.0, objective - upper), self.representation.loss(lower)
        fields.update(objective=objective, lower_bound=min(objective, lower - lost))
        notes = [*self.notes, *self._memory_notes()]
        if self.proof is not None:
            notes.append(WITHOUT)
            with np.errstate(all="ignore"):
                proved = self.recorder.pack(self.relaxed, solution, fields["lower_bound"])
            if proved is None:
                notes.append("no proof was written: its arithmetic is not accurate enough for these data")
            else:
                lower, data = proved
                fields.update(lower_bound=min(fields["lower_bound"], lower), proof=keep(data, self.proof))
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
        elif closed and status is not Status.CUTOFF:
            status = Status.OPTIMAL  # whatever stopped it: the objective had been rounded up by more than what was left
        return _report(self.problem, solution, self.monitor, notes, status=status, **fields, **self.names)


def _solve_large(problem, options, start, proof):
    """Solve a mixture of data in chunks, on a summary."""
    if proof is not None:
        raise InputError("proof must be None for data in chunks")
    _refuse(options, ("checkpoint",), "for data in chunks: their summary is what is searched")
    epsilon = EPSILON if options.epsilon is None else options.epsilon
    monitor = _Monitor(options)

    def search(points, tolerance):
        inner = MixtureSearch(points, replace(options, epsilon=tolerance, rel_tol=None), start)
        return inner.run(options.time_limit, options.max_nodes)

    found, fields = large.solve(problem, epsilon, monitor.note, search)
    closed = fields["objective"] - fields["lower_bound"] <= max(epsilon, (options.rel_tol or 0.0) * fields["objective"])
    status = Status.OPTIMAL if closed else Status.NUMERICAL if found.success else found.status
    return replace(found, **fields, status=status, elbo_constant=problem.elbo_constant, message="")


def _solve_biconvex(problem, options, start, proof=None):
    """Solve what is no mixture: same search, other relaxation and primal."""
    # Here and not above: they need HiGHS.
    from gopfast.biconvex.solve import solve as solve_biconvex

    if options.relaxation not in (None, "linear"):
        raise InputError(f"relaxation={options.relaxation!r} is for mixtures; biconvex problems take 'linear'")
    monitor = _Monitor(options)
    if isinstance(problem, BiconvexProblem):
        with monitor.watching():
            return solve_biconvex(problem, options, monitor, start, proof)
    # Here and not above: CVXPY is an optional extra.
    from gopfast.biconvex.cvxpy import solve as solve_cvxpy

    with monitor.watching():
        return solve_cvxpy(problem, options, monitor, start)


def _solve_clustering(problem, options, start, proof):
    """Solve a k-means problem, which has a search of its own."""
    # Here and not above: it needs HiGHS.
    from gopfast.clustering.solve import solve as solve_clustering

    monitor = _Monitor(options)
    with monitor.watching():
        result = solve_clustering(problem, options, monitor if monitor.wanted else None, start, proof)
    monitor.finish(result)
    return result


def worker_search(problem, options):
    """Return the search of a worker, and what tells the coordinates of its boxes."""
    made = MixtureSearch(problem, options)
    return made.search, made.coordinates()


def unpack(problem, family, vector):
    """Make a MixtureSolution in the user's units from the core's solution vector."""
    weights = vector[: problem.n_components]
    return MixtureSolution.canonical(problem, weights / weights.sum(), **family.parameters(vector))


def checkpoint_header(problem, options):
    """Return what a checkpoint says of a problem and its options, in JSON types."""
    # Here and not above: the package imports this module.
    from gopfast import __version__

    kept = {name: getattr(options, name) for name in KEPT} | {"random_state": options.seed}
    text = json.dumps([digest(problem), kept], sort_keys=True)
    return {
        "gopfast": __version__, "problem": record(problem), "options": kept,
        "digest": hashlib.sha256(text.encode()).hexdigest(),
    }  # fmt: skip


def _refuse(options, names, where):
    """Raise for options that are not offered there."""
    for name in names:
        if getattr(options, name) is not None:
            raise InputError(f"{name} must be None {where}")


def _check_proof(proof):
    """Check where a proof is to go: the path as text, True for memory, None where there is to be none."""
    if proof is None or isinstance(proof, bool):
        return proof or None
    if not isinstance(proof, (str, bytes, os.PathLike)):
        raise InputTypeError(f"proof must be a path, True or None; got {type(proof).__name__}")
    return checks.writable("proof", proof)


def _check_provable(options):
    """Check that a proof can be written of such a search of a mixture."""
    if options.relaxation not in (None, "entropic") or options.branching == "orthant":
        name = "branching" if options.relaxation in (None, "entropic") else "relaxation"
        value = getattr(options, name)
        raise InputError(f"proof must be None with {name}={value!r}: proofs are of relaxation='entropic' by bisection")


def _relaxation(family, options, provable=False):
    """Return the relaxation that the options ask for and the names of the methods used."""
    kind = options.relaxation or "entropic"
    branching = options.branching or "bisect"
    if kind == "linear":
        relaxed = family.linear_dual(bounds, options.partition == "paper", options.subproblem == "milp")
        if relaxed is None:
            raise InputError("relaxation='linear' needs a GaussianMixture of known variance with posterior='point'")
    else:
        relaxed = EntropicRelaxation(family, provable=provable)
    options.check_orthants(relaxed.n_connected)
    return relaxed, {
        "relaxation": kind, "partition": options.partition, "branching": branching, "subproblem": options.subproblem,
    }  # fmt: skip


def _ties_to_try(problem):
    """Return groups of tied samples where a component can be narrow enough to sit on one."""
    if problem._can_sit_on_ties and problem.n_components > 1:
        return groups(problem.X, problem.sample_weight)
    return []


def _reduction(problem, family, relaxation, begun=lambda what: None, epsilon=EPSILON, threads=1):
    """Return what is learnt beside the tree, where the model has it, and the nodes from which on."""
    learnt = family.reduction(bounds)
    if learnt is not None and relaxation != "pricing":
        return learnt, REDUCED_FROM
    one = slices = None
    wanted = relaxation == "pricing" or (relaxation is None and problem.n_components > 1)
    if wanted and family.data.n_samples <= MOST_PRICED:
        one = single_component(problem, family)
        slices = family.slices(bounds) if one is None else None
    if one is None and slices is None:
        if relaxation == "pricing":
            raise InputError(
                f"relaxation='pricing' needs at most {MOST_PRICED:,} samples, posterior='point' and, with "
                "covariance='full', at most two columns"
            )
        return (_marginal_reduction(problem, family) if wanted else None), ASKED_FROM

    def price(solution, limit):
        begun("single components are priced")
        return PricingBound(family, one, solution, limit, threads=threads)

    def cut(solution, limit):
        begun("mixtures in which the shared parameter is fixed are bounded")
        return SharedBound(slices, slices.first(solution), limit, epsilon, *_of_fixed(problem))

    F = family.n_statistics
    terms = TERMS_OF_A_NODE + family.data.n_samples * family.n_components * F * (8 + F) // 8
    before = min(MOST_BEFORE_PRICES, max(LEAST_BEFORE_PRICES, TERMS_OF_A_PRICE * family.data.n_samples))
    begin = max(REDUCED_FROM, before // terms)
    if relaxation == "pricing" or (slices is not None and slices.at_once):
        begin = ASKED_FROM
    return SharedReduction(family, cut) if one is None else PricingReduction(family, price), begin


def _of_fixed(problem):
    """Return what is learnt beside the tree of a mixture whose shared parameter is fixed, and around its incumbent."""

    def beside(family):
        return _reduction(problem, family, None)[0], REDUCED_FROM

    return beside, lambda family, primal: family.basin(bounds, primal)


def _marginal_reduction(problem, family):
    """Return what is learnt of the marginal of a mixture whose components have too many parameters; None: nothing."""
    if not family.has_marginals or family.data.n_samples > MOST_PRICED:
        return None
    return PricingReduction(family, lambda solution, limit: MarginalBound(problem, family, solution, limit))


def _notes(problem, solution, status):
    """Return what a reader of the result should know."""
    notes = problem._notes(solution, status == Status.OPTIMAL)
    flat = problem.prior in problem._flat_priors
    used = np.flatnonzero(solution.weights >= UNUSED)
    if len(used) < problem.n_components:
        what = "mean is" if problem.parameter_names[0] == "means" else f"{problem.parameter_names[0]} are"
        which = "arbitrary" if flat or problem.prior == "empirical" else "the prior's alone"
        notes.append(f"a component has no weight: its {what} {which}, and fewer components fit as well")
    if _equal_components(solution, used):
        notes.append("components are equal: how their weight is divided is arbitrary, and fewer components fit as well")
    needed = problem._n_columns_to_identify
    if flat and problem.n_components > 1 and np.count_nonzero(np.ptp(problem.X, axis=0)) < needed:
        notes.append(
            f"fewer than {needed} columns that vary: the {problem.parameter_names[0]} need not be unique, even up to "
            "the components' order; the value is proved nevertheless"
        )
    return notes


def _equal_components(solution, used):
    """Whether two of the components `used` have equal parameters."""
    values = [solution.parameters[name] for name in solution.problem._own_names()]
    arrays = [array for value in values for array in (value if isinstance(value, tuple) else (value,))]
    arrays = [np.reshape(array, (len(array), -1))[used] for array in arrays if array is not None]
    scaled = np.hstack([array / np.maximum(np.abs(array).max(axis=0), 1e-300) for array in arrays])
    apart = np.abs(scaled[:, np.newaxis] - scaled).max(axis=2)
    return bool((apart[np.triu_indices(len(used), 1)] <= SAME).any())


class _Monitor:
    """Passes the search's progress on to the log and the user's callback."""

    def __init__(self, options):
        self.log = options.progress_log()
        self.callback = options.callback
        self.wanted = self.log is not None or self.callback is not None

    def __call__(self, time, n_nodes, n_open, lower, upper, new_incumbent):
        state = Progress(time, n_nodes, n_open, lower, upper, upper - lower, new_incumbent)
        if self.log is not None:
            self.log.update(state)
        return self.callback is not None and self.callback(state) is True

    def note(self, text):
        """Add a line to the table of the progress, if there is one."""
        if isinstance(self.log, ProgressLog):
            self.log.note(text)

    def watching(self, problem=None):
        """While this context lasts a sign of life needs no report; a small mixture reports soon enough."""
        small = problem is not None and problem.X.size * problem.n_components < WATCHED_FROM
        return contextlib.nullcontext() if small or not isinstance(self.log, Heartbeat) else self.log.watching()

    def finish(self, result):
        if self.log is not None:
            n_open = int(result.history[-1, 4])
            self.log.update(
                Progress(
                    result.time, result.n_nodes, n_open, result.lower_bound, result.objective, result.gap, False
                ),
                final=True,
            )
