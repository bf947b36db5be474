"""Going on with a search that was stopped, from its checkpoint."""

import os

from numpy.typing import ArrayLike

from gopfast.annotations import Callback, Executor, Log, MemorySize, Path
from gopfast.biconvex.problem import BiconvexProblem
from gopfast.biconvex.result import BiconvexResult
from gopfast.clustering.problem import KMeans
from gopfast.clustering.result import ClusteringResult
from gopfast.errors import CheckpointError, InputError
from gopfast.mixtures.data.chunks import Chunks
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.problems.large import LargeGaussianMixture
from gopfast.mixtures.record import rebuild
from gopfast.mixtures.result import Result
from gopfast.mixtures.solve import MixtureSearch, checkpoint_header, summarised
from gopfast.options import Options
from gopfast.search.checkpoint import Stored
from gopfast.solver import solve_biconvex, solve_clustering


def resume(
    path: Path,
    X: ArrayLike | Chunks | MixtureProblem | KMeans | BiconvexProblem,
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
) -> Result | ClusteringResult | BiconvexResult:
    """
    Go on with a search from a checkpoint that ``gopfast.solve(..., checkpoint=path)`` has written.

    On one process the search goes on as if it had not been stopped: same nodes, same solution, same final bounds. It
    writes its checkpoints to the same file.

    Parameters
    ----------
    path : str or path-like
        The checkpoint.
    X : array_like of shape (n, d), gopfast.data.Chunks, or the problem
        The data of the problem, which the file does not hold; a problem of `gopfast.LatentClass`, or a
        `gopfast.BiconvexProblem`, as it is.
    sample_weight : array_like of shape (n,), optional
        Weights of the samples, if the problem had any.
    n_threads, time_limit, max_nodes, callback, log, memory_limit, checkpoint_every, executor
        As in `gopfast.solve`. Limits are those of this run, except that `max_nodes` counts all nodes.
    spill : str or path-like, optional
        By default the folder that the search had, if any.

    Returns
    -------
    Result
        Counts are those of all runs, and but for biconvex problems the time too; a `ClusteringResult` of k-means, of a
        biconvex problem a `BiconvexResult`.

    Raises
    ------
    CheckpointError
        If the file is damaged, none, of another version, or of other data.
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
    path = os.fspath(path)
    stored = Stored(path)
    header = stored.header
    try:
        options = Options.from_arguments(
            **header["options"], n_threads=n_threads, time_limit=time_limit, max_nodes=max_nodes, callback=callback,
            log=log, memory_limit=memory_limit, spill=header.get("spill") if spill is None else spill,
            checkpoint=path, checkpoint_every=checkpoint_every, executor=executor,
        )  # fmt: skip
        is_whole = isinstance(X, (MixtureProblem, KMeans, BiconvexProblem))
        if header["problem"]["class"] == BiconvexProblem.__name__ and not isinstance(X, BiconvexProblem):
            raise CheckpointError(f"{path}: a search of a gopfast.BiconvexProblem; give the problem in place of data")
        problem = X if is_whole else _rebuilt(path, header["problem"], X, sample_weight)
        if is_whole and sample_weight is not None:
            raise InputError("sample_weight must be None with a problem, which has its own")
        if isinstance(problem, BiconvexProblem):
            from gopfast.biconvex.core import checkpoint_header as biconvex_header  # needs HiGHS

            start = header.get("start")
            _check_same(path, header, biconvex_header(problem, options, start))
            return solve_biconvex(problem, options, start, stored=stored)
        if isinstance(problem, KMeans):
            from gopfast.clustering.checkpoint import header as clustering_header  # needs HiGHS

            _check_same(path, header, clustering_header(problem, options))
            return solve_clustering(problem, options, stored=stored)
        if isinstance(problem, LargeGaussianMixture):
            problem = summarised(problem, options)
        _check_same(path, header, checkpoint_header(problem, options))
        names = header["names"]
    except KeyError as error:
        raise CheckpointError(f"{path}: damaged, or no checkpoint of gopfast ({error})") from None
    search = MixtureSearch(problem, options)
    search.restore(stored, names)
    return search.run(options.time_limit, options.max_nodes)


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
