"""k-means clustering, and the model of its clusters."""

import warnings

import numpy as np

from gopfast import checks
from gopfast.annotations import Seed, StartLike
from gopfast.mixtures.local._embedding import embedding, hard_assignment, scattered, squared_distances
from gopfast.mixtures.local._result import LocalResult
from gopfast.mixtures.local._state import check_problem, given_state
from gopfast.mixtures.problems import MixtureProblem
from gopfast.options import seed_from


def kmeans(
    problem: MixtureProblem,
    start: StartLike = None,
    *,
    n_init: int = 1,
    tol: float = 0.0,
    max_iter: int = 300,
    random_state: Seed = 0,
) -> LocalResult:
    """
    Cluster the samples by k-means, by scikit-learn, and return the model of the clusters.

    Minimises the inertia ``sum_i w_i min_k |z_i - c_k|^2``, where z are the columns of X in units of the noise's
    standard deviation where it is known, else of the column's own; labels become indicator columns. The result
    has the weights and parameters of one M step at the hard assignment. The inertia never increases; the ELBO,
    which k-means does not know, may fall.

    Parameters
    ----------
    problem : MixtureProblem
        Any mixture of `gopfast.models`.
    start : array_like, dict, or anything with a solution, optional
        As `gopfast.local.em`: its most likely components are the first clusters. By default k-means++ draws.
    n_init : int, default 1
        Number of k-means++ draws to run from; the least inertia is kept. Not used with a `start`.
    tol : float, default 0
        Stop when the centres' squared moves sum to at most this share of the mean variance of z; 0 goes on until
        no sample changes its cluster.
    max_iter : int, default 300
        Most steps of Lloyd's algorithm, for each draw.
    random_state : None, int, Generator or RandomState
        For the draws.

    Returns
    -------
    LocalResult
        `trace` has two entries, the ELBO of the assignment to the first centres and that of the last.

    Raises
    ------
    InputError
        If an argument is invalid; the message names it.
    ImportError
        If scikit-learn is not installed.

    References
    ----------
    Lloyd, "Least squares quantization in PCM" (1982); Arthur & Vassilvitskii, "k-means++: the advantages of careful
    seeding", SODA 2007.

    Examples
    --------
    >>> import gopfast
    >>> problem = gopfast.GaussianMixture([-10, -10, 5, 25], 2)
    >>> gopfast.local.kmeans(problem, start=[-5.0, 25.0]).solution.means.ravel()
    array([-5., 25.])
    """
    check_problem(problem)
    n_init = checks.whole_number("n_init", n_init, 1)
    tol = checks.nonnegative_number("tol", tol)
    max_iter = checks.whole_number("max_iter", max_iter, 1)
    KMeans = _scikit_learn()
    used = problem.sample_weight > 0.0
    points, weight = embedding(problem), problem.sample_weight
    # Fewer samples than components leave components without any.
    n_clusters = min(problem.n_components, int(used.sum()))
    rng = np.random.default_rng(seed_from(random_state))
    if start is None:
        draws = [points[scattered(points, weight, n_clusters, rng)] for _ in range(n_init)]
    else:
        draws = [_centers(points, weight, problem.responsibilities(**given_state(problem, start)), n_clusters)]
    best = None
    for centers in draws:
        method = KMeans(n_clusters, init=centers, n_init=1, max_iter=max_iter, tol=tol, random_state=0)
        with warnings.catch_warnings():
            # Of fewer distinct points than clusters: no error here, a cluster stays empty.
            warnings.simplefilter("ignore", category=_convergence_warning())
            method.fit(points[used], sample_weight=weight[used])
        if best is None or method.inertia_ < best[0].inertia_:
            best = method, centers
    method, centers = best
    states = [_state(problem, points, found) for found in (centers, method.cluster_centers_)]
    objectives = [problem.objective(**state) for state in states]
    return LocalResult.from_state(problem, states[-1], objectives, method.n_iter_ < max_iter, int(method.n_iter_))


def _state(problem, points, centers):
    """Return the model of the clusters around the centres."""
    labels = squared_distances(points, centers).argmin(axis=1)
    return problem.maximize(hard_assignment(labels, problem.n_weights))


def _centers(points, weight, responsibilities, n_clusters):
    """Centres of the samples that each component is most likely to have produced; of an empty one, its mean."""
    soft = weight[:, np.newaxis] * responsibilities
    hard = weight[:, np.newaxis] * hard_assignment(responsibilities.argmax(axis=1), soft.shape[1])
    mass = np.where(hard.sum(axis=0) > 0.0, hard, soft)
    mass = np.where(mass.sum(axis=0) > 0.0, mass, weight[:, np.newaxis])[:, :n_clusters]
    return (mass.T @ points) / mass.sum(axis=0)[:, np.newaxis]


def _scikit_learn():
    """Return scikit-learn's KMeans, or raise an ImportError that says how to get it."""
    try:
        from sklearn.cluster import KMeans
    except ImportError as error:
        raise ImportError(
            "gopfast.local.kmeans needs scikit-learn: install it, for instance by pip install 'gopfast[sklearn]'"
        ) from error
    return KMeans


def _convergence_warning():
    from sklearn.exceptions import ConvergenceWarning

    return ConvergenceWarning
