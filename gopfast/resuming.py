"""Going on with a search that was stopped, from its checkpoint."""

import contextlib
import os

import numpy as np
from numpy.typing import ArrayLike

from gopfast.annotations import Callback, Executor, Log, MemorySize, Path
from gopfast.biconvex.polynomial import PolynomialProblem
from gopfast.biconvex.problem import BiconvexProblem
from gopfast.biconvex.result import BiconvexResult
from gopfast.clustering.problem import KMeans
from gopfast.clustering.result import ClusteringResult
from gopfast.clusterwise.problem import ClusterwiseRegression
from gopfast.clusterwise.result import ClusterwiseResult
from gopfast.errors import CheckpointError, InputError
from gopfast.mixtures.data.chunks import Chunks
from gopfast.mixtures.engine import family
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.problems.large import LargeGaussianMixture
from gopfast.mixtures.record import rebuild
from gopfast.mixtures.result import Result
from gopfast.mixtures.solve import MixtureSearch, checkpoint_header, summarised
from gopfast.options import ARGUMENTS, OF_STATE, Options
from gopfast.search import interrupts
from gopfast.search.checkpoint import Stored
from gopfast.solver import solve_biconvex, solve_clustering, solve_clusterwise
from gopfast.switches import only_off

BICONVEX = (BiconvexProblem, PolynomialProblem)
AS_THEY_ARE = (ClusterwiseRegression, *BICONVEX)  # problems that are not made again from data
CONTRADICTION = "gopfast: a lower bound exceeds the incumbent"  # as a search says it


def resume(
    path: Path,
    X: ArrayLike | Chunks | MixtureProblem | KMeans | ClusterwiseRegression | BiconvexProblem | PolynomialProblem,
    sample_weight: ArrayLike | None = None,
    *,
    n_threads: int | None = None,
    time_limit: float | None = None,
    max_nodes: int | None = None,
    callback: Callback | None = None,
    log: Log = None,
    memory_limit: MemorySize = None,
    spill: Path | None = None,
    checkpoint_every: float = 60.0,
    executor: Executor | None = None,
) -> Result | ClusteringResult | ClusterwiseResult | BiconvexResult:
    """
    Go on with a search from a checkpoint that ``gopfast.solve(..., checkpoint=path)`` has written.

    On one process the search of a mixture that was killed, or stopped by SIGTERM or a callback, goes on as if it had
    not been: same nodes, same solution, same final bounds. A time limit or Ctrl-C may have come in the midst of a batch
    of nodes, and `max_nodes` makes the last batch smaller: then, and of other problems, bounds and solution are as good
    to within the tolerance, while counts may differ. A search that was stopped before it had bounded its first nodes
    begins again. Checkpoints go to the same file. Mechanisms that were switched off then (`gopfast.settings`) are
    again.

    Parameters
    ----------
    path : str or path-like
        The checkpoint.
    X : array_like of shape (n, d), gopfast.data.Chunks, or the problem
        The data of the problem, which the file does not hold; a problem of `gopfast.LatentClass`,
        `gopfast.ClusterwiseRegression` or `gopfast.BiconvexProblem`, as it is.
    sample_weight : array_like of shape (n,), optional
        Weights of the samples, if the problem had any.
    n_threads, time_limit, max_nodes, callback, log, memory_limit, checkpoint_every, executor
        As in `gopfast.solve`. Limits are those of this run, except that `max_nodes` counts all nodes.
    spill : str or path-like, optional
        By default the folder that the search had, if any.

    Returns
    -------
    Result
        Counts are those of all runs, and but for biconvex problems the time too; a `ClusteringResult` of k-means, a
        `ClusterwiseResult` of clusterwise regressions, of a biconvex problem a `BiconvexResult`.

    Raises
    ------
    CheckpointError
        If the file is damaged, none, of another version, or of other data; of an entry that no search has written the
        message has its name.
    InputError
        If an argument is invalid; the message names it.

    Examples
    --------
    >>> import gopfast, os, tempfile
    >>> X = gopfast.datasets.load("galaxies")
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "galaxies.checkpoint")
    >>> problem = gopfast.GaussianMixture(X, 3, covariance="known")
    >>> gopfast.solve(problem, 0.01, max_nodes=20, checkpoint=path).status.name
    'NODE_LIMIT'
    >>> gopfast.resume(path, X).status.name
    'OPTIMAL'
    >>> folder.cleanup()
    """
    limits = {name: value for name, value in locals().items() if name in ARGUMENTS}
    with interrupts.noted():
        stored = Stored(os.fspath(path))
        limits |= {"checkpoint": stored.path, "spill": stored.header.get("spill") if spill is None else spill}
        return _contradicted(stored, X, sample_weight, limits)


def _contradicted(stored, X, sample_weight, limits):
    """Search on; `CheckpointError` where the search finds that a bound of the file is none."""
    try:
        with only_off(stored.header.get("without", ())):
            return _go_on(stored, X, sample_weight, limits)
    except RuntimeError as error:  # the only way in which a bound that is none can show; a callback's is its own
        if not str(error).startswith(CONTRADICTION):
            raise
        raise CheckpointError(
            f"{stored.path}: a lower bound exceeds the incumbent: the file was changed since it was written, or a "
            "bound of gopfast is wrong; please report this problem if nothing but gopfast has written to the file"
        ) from error


def _go_on(stored, X, sample_weight, limits):
    """Make the problem again, and search on."""
    path, header = stored.path, stored.header
    kept = _options_of(stored)
    options = Options.from_arguments(**kept, **limits)
    is_whole = isinstance(X, (MixtureProblem, KMeans, *AS_THEY_ARE))
    own = next((kind for kind in AS_THEY_ARE if header["problem"]["class"] == kind.__name__), None)
    if own is not None and not isinstance(X, own):
        raise CheckpointError(f"{path}: a search of a gopfast.{own.__name__}; give the problem in place of data")
    problem = X if is_whole else _rebuilt(path, header["problem"], X, sample_weight)
    if is_whole and sample_weight is not None:
        raise InputError("sample_weight must be None with a problem, which has its own")
    start = header.get("start")
    if isinstance(problem, BICONVEX):
        from gopfast.biconvex.core import checkpoint_header as biconvex_header  # needs HiGHS

        _check_same(path, header, biconvex_header(problem, options, start))
        return solve_biconvex(problem, options, start, stored=stored if stored.begun else None)
    if isinstance(problem, KMeans):
        from gopfast.clustering.checkpoint import header as clustering_header  # needs HiGHS

        _check_same(path, header, clustering_header(problem, options))
        _check_start(stored, (problem.n_clusters, problem.n_features))
        return solve_clustering(problem, options, **({"stored": stored} if stored.begun else {"start": start}))
    if isinstance(problem, ClusterwiseRegression):
        from gopfast.clusterwise.checkpoint import header as clusterwise_header  # needs HiGHS

        _check_same(path, header, clusterwise_header(problem, options))
        _check_start(stored, (problem.n_samples,))
        start = None if start is None else np.array(start)
        return solve_clusterwise(problem, options, **({"stored": stored} if stored.begun else {"start": start}))
    if isinstance(problem, LargeGaussianMixture):
        problem = summarised(problem, options)
    _check_same(path, header, checkpoint_header(problem, options))
    _check_start(stored, (family(problem).n_connected,))
    _check_start(stored, (problem.n_components,), "start_weights")
    packed = [None if header.get(name) is None else np.array(header[name], dtype=np.float64)
              for name in ("start", "start_weights")]  # fmt: skip
    search = MixtureSearch(problem, options, packed=packed)
    if stored.begun:
        search.restore(stored)
    with contextlib.closing(search):
        return search.run(options.time_limit, options.max_nodes)


def _check_start(stored, shape, name="start"):
    """Check that a start, if the search had one, is of the problem."""
    found = np.shape(stored.header[name]) if stored.header.get(name) is not None else shape
    if found != shape:
        raise CheckpointError(
            f"{stored.path}: damaged, or no checkpoint of gopfast (header: {name} must have shape {shape}; got {found})"
        )


def _options_of(stored):
    """Return the options that a search's state depends on, as its checkpoint has them."""
    kept = stored.header["options"]
    try:
        Options.from_arguments(**kept)
        if set(kept) != set(OF_STATE):
            raise InputError(f"header: options must be {', '.join(OF_STATE)}")
    except (InputError, TypeError) as error:
        raise CheckpointError(f"{stored.path}: damaged, or no checkpoint of gopfast ({error})") from None
    return kept


def _check_same(path, header, found):
    """Check that a checkpoint is of this version, problem and options."""
    if found["gopfast"] != header["gopfast"]:
        raise CheckpointError(
            f"{path}: written by gopfast {header['gopfast']}; this is {found['gopfast']}, whose bounds may differ"
        )
    if found["digest"] != header["digest"]:
        raise CheckpointError(f"{path}: a search of other data, or of another problem, than the one given")


def _rebuilt(path, recorded, X, sample_weight):
    """Make the problem from its data."""
    try:
        if recorded["class"] == KMeans.__name__:
            return KMeans(X, recorded["n_clusters"], sample_weight)
        return rebuild(recorded, X, sample_weight)
    except InputError as error:
        raise CheckpointError(f"{path}: a search of other data than those given: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise CheckpointError(f"{path}: damaged, or no checkpoint of gopfast (header: problem: {error!r})") from error
