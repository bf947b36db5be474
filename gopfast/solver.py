"""The global solve: validate, build, start the compiled search, report."""

import os
from typing import TYPE_CHECKING, overload

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
from gopfast.biconvex.polynomial import PolynomialProblem
from gopfast.biconvex.problem import BiconvexProblem
from gopfast.biconvex.result import BiconvexResult
from gopfast.clustering.problem import KMeans
from gopfast.clustering.result import ClusteringResult
from gopfast.clusterwise.problem import ClusterwiseRegression
from gopfast.clusterwise.result import ClusterwiseResult
from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.result import Result
from gopfast.mixtures.searches import solve as solve_mixture
from gopfast.options import Options
from gopfast.search import interrupts

if TYPE_CHECKING:
    from typing_extensions import Unpack


@overload
def solve(
    problem: MixtureProblem, epsilon: float | None = None, **options: "Unpack[SolveOptions]"
) -> Result: ...


@overload
def solve(problem: KMeans, epsilon: float | None = None, **options: "Unpack[SolveOptions]") -> ClusteringResult: ...


@overload
def solve(
    problem: ClusterwiseRegression, epsilon: float | None = None, **options: "Unpack[SolveOptions]"
) -> ClusterwiseResult: ...


@overload
def solve(
    problem: BiconvexProblem | PolynomialProblem | CvxpyProblem,
    epsilon: float | None = None,
    **options: "Unpack[SolveOptions]",
) -> BiconvexResult: ...


def solve(
    problem: MixtureProblem | KMeans | ClusterwiseRegression | BiconvexProblem | PolynomialProblem | CvxpyProblem,
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
) -> Result | ClusteringResult | ClusterwiseResult | BiconvexResult:
    """
    Find a proved global optimum with the GOP method.

    The search stops when ``UBD - LBD <= max(epsilon, rel_tol * |UBD|)``. Whatever stops it, the result carries
    bounds that are proved: no point has an objective below ``result.lower_bound``.

    Parameters
    ----------
    problem : MixtureProblem, KMeans, ClusterwiseRegression, BiconvexProblem, PolynomialProblem or cvxpy.Problem
        What to solve; mixtures are those of `gopfast.models`. A CVXPY problem must be bilinear and
        convex quadratic; its variables get their values.
    epsilon : float, optional
        Absolute tolerance, in the objective's unit. Mixtures: 0.01 by default (nats: a likelihood ratio of 1.01).
        Biconvex problems: for optima near 0, and by default no more than `rel_tol` of the greater magnitude of the
        objective and the bound that are known before the search. With u the sum of the magnitudes of the objective's
        terms where variables are 1, or as near to it as their bounds let them be, it is at most 1e-8 u, at least
        1e-12 u, and at least 1e-14 of the terms at the best point, which is their rounding. However wide bounds are,
        they do not loosen it. k-means: none.
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
        estimator. What has weights and all parameters is the first incumbent, whatever the limits: the result is no
        worse than it, but for `rounding_margin`. Covariances below the floor are raised to it first; what is missing
        is filled in, weights by equal ones. A point of a biconvex problem counts if it meets the constraints.
    callback : callable, optional
        Called with a `gopfast.report.Progress` after every batch of nodes; returning True stops the search.
    log : None, bool, "bar", logging.Logger or stream
        Whether to print a table of the progress, to a stream or as lines of a logger at level INFO; "bar" shows bounds,
        gap and open nodes on a bar of tqdm (``pip install 'gopfast[progress]'``). None, the default: only a line on
        standard error after 5 seconds, and each time that the time has doubled; False: nothing at all.
    random_state : None, int, Generator or RandomState
        Seed of the local search's starts. The proved optimum does not depend on it, node counts may.
    proof : str, path-like or bool, optional
        File to write a proof of the bounds to, which `gopfast.check` checks without any of the code that made it; True:
        the proof is `Result.proof`, a `gopfast.Proof`. Also where a limit stopped the search. For mixtures, k-means,
        clusterwise regressions and biconvex problems. A search of a mixture then takes more nodes: it does without what
        has no entry in proofs, which `notes` names. Of covariance matrices and Gaussian posteriors leaves are kept in
        memory to the end. The proof of a biconvex problem, or of regressions that share a coefficient, is found by
        searches of its own, once the bound is known.
        Where there is none, `notes` says why.
    memory_limit : float or str, optional
        Memory that the process may take, in bytes or as text such as "4GB"; by default what it takes at the start and
        80 % of what is free then. Before that the search goes depth first, which needs no more memory but more nodes;
        where that does not help it ends with status MEMORY_LIMIT. That of k-means looks between two linear programs,
        and ends.
    spill : str or path-like, optional
        A folder for open nodes that do not fit, on a fast disk: the search then visits the same nodes as without a
        limit. They are removed when nobody needs them any more. Not for k-means.
    checkpoint : str or path-like, optional
        File to write the state of the search to, for `gopfast.resume`, which says what is the same then. SIGTERM ends
        the search with its bounds, and writes one.
    checkpoint_every : float
        Seconds between two checkpoints: what a process that is killed loses at most.
    executor : concurrent.futures.Executor, optional
        Runs parts of the search: a `ProcessPoolExecutor`, or that of loky, ``dask.distributed`` (`Client.get_executor`)
        or ``mpi4py.futures``. Bounds and solution are as in one process, node counts vary. Not for k-means.

    Returns
    -------
    Result
        For biconvex problems a `BiconvexResult`: bounds in the user's sense and units, also when maximising. For
        k-means a `ClusteringResult`, for clusterwise regressions a `ClusterwiseResult`. What is said of k-means
        holds for these, but that `start` has labels.

    Raises
    ------
    InputError
        If an argument is invalid; the message names it. No work has been done then. Also for a CVXPY expression
        outside the class.

    Notes
    -----
    Ctrl-C ends the search with status INTERRUPTED and the bounds reached, also in what comes before the search; a
    second one raises `KeyboardInterrupt`. So does the first one while the summary of data in chunks is made. Where the
    program has a handler of SIGINT of its own, that is called.

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
    with interrupts.noted():
        if not isinstance(problem, (MixtureProblem, BiconvexProblem, PolynomialProblem, KMeans, ClusterwiseRegression)):
            # Here and not above: CVXPY is an optional extra.
            from gopfast.biconvex.cvxpy import is_problem

            if not is_problem(problem):
                raise InputTypeError(
                    "problem must be a mixture such as gopfast.GaussianMixture, a gopfast.KMeans, a "
                    "gopfast.ClusterwiseRegression, a gopfast.BiconvexProblem, a gopfast.PolynomialProblem or a "
                    f"cvxpy.Problem; got {type(problem).__name__}"
                )
        options = Options.from_call(locals())
        return _dispatch(problem, options, start, _check_proof(proof))


def _dispatch(problem, options, start, proof):
    """Solve a problem by what is for its kind."""
    if not isinstance(problem, MixtureProblem):
        if isinstance(problem, (BiconvexProblem, PolynomialProblem)):
            return solve_biconvex(problem, options, start, proof)
        if isinstance(problem, KMeans):
            return solve_clustering(problem, options, start, proof)
        if isinstance(problem, ClusterwiseRegression):
            return solve_clusterwise(problem, options, start, proof)
        options.refuse(("checkpoint",), "with a CVXPY problem: write it as a gopfast.BiconvexProblem")
        if proof is not None:
            raise InputError("proof must be None with a CVXPY problem: write it as a gopfast.BiconvexProblem")
        return solve_biconvex(problem, options, start)
    return solve_mixture(problem, options, start, proof)


def solve_biconvex(problem, options, start, proof=None, stored=None):
    """Solve what is no mixture: same search, other relaxation and primal; `stored` is a checkpoint to go on from."""
    # Here and not above: they need HiGHS.
    from gopfast.biconvex import solve as biconvex

    if options.relaxation not in (None, "linear"):
        raise InputError(f"relaxation={options.relaxation!r} is for mixtures; biconvex problems take 'linear'")
    if proof is not None:
        options.refuse(("checkpoint",), "with a proof, which is found by a search of its own")
    if isinstance(problem, (BiconvexProblem, PolynomialProblem)):
        return biconvex.solve(problem, options, start, proof, stored)
    # Here and not above: CVXPY is an optional extra.
    from gopfast.biconvex.cvxpy import solve as solve_cvxpy

    return solve_cvxpy(problem, options, start)


def solve_clustering(problem, options, start=None, proof=None, stored=None):
    """Solve a k-means problem, which has a search of its own; `stored` is a checkpoint to go on from."""
    # Here and not above: it needs HiGHS.
    from gopfast.clustering.solve import solve as search

    options.refuse(
        ("executor", "spill"),
        "for k-means: its time goes into linear programs, one after another, of which each needs the prices of the one "
        "before, and its nodes are few",
    )
    return search(problem, options, start, proof, stored)


def solve_clusterwise(problem, options, start=None, proof=None, stored=None):
    """Solve a problem of clusterwise least squares, by the search of k-means; `stored` is a checkpoint."""
    # Here and not above: it needs HiGHS.
    from gopfast.clusterwise.solve import solve as search

    options.refuse(("executor", "spill"), "for clusterwise regressions, whose nodes are few")
    return search(problem, options, start, proof, stored)


def _check_proof(proof):
    """Check where a proof is to go: the path as text, True for memory, None where there is to be none."""
    if proof is None or isinstance(proof, bool):
        return proof or None
    if not isinstance(proof, (str, bytes, os.PathLike)):
        raise InputTypeError(f"proof must be a path, True or None; got {type(proof).__name__}")
    return checks.writable("proof", proof)
