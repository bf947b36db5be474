"""Start strategies: each takes a problem and a NumPy generator and returns a state, a dict by name."""

from typing import Literal

import numpy as np

from gopfast import checks
from gopfast.annotations import Seed, StartLike, State
from gopfast.mixtures.local._embedding import embedding, hard_assignment, scattered, squared_distances
from gopfast.mixtures.local._kmeans import kmeans as cluster
from gopfast.mixtures.local._state import check_problem, given_state
from gopfast.mixtures.local.tuning import NEAREST_SHARE
from gopfast.mixtures.problems import GaussianMixture, MixtureProblem
from gopfast.mixtures.solution import MixtureSolution
from gopfast.options import seed_from


def start(problem: MixtureProblem, strategy: str = "samples", random_state: Seed = 0) -> MixtureSolution:
    """
    Make a start for any local method.

    Parameters
    ----------
    problem : MixtureProblem
    strategy : str
        "samples": parameters around K samples, drawn without replacement; "kmeans_plus_plus": around K samples that lie
        apart; "kmeans": those of the clusters of k-means (needs scikit-learn); "dirichlet", "gamma" or "uniform":
        those that random responsibilities lead to, see `gopfast.local.starts.random_responsibilities`.
    random_state : None, int, Generator or RandomState

    Returns
    -------
    MixtureSolution
        Its components are ordered as in every solution.

    Raises
    ------
    InputError
        If an argument is invalid; the message names it.
    ImportError
        If "kmeans" is asked for without scikit-learn.

    Examples
    --------
    >>> import gopfast
    >>> problem = gopfast.GaussianMixture([-10, -10, 5, 25], 2)
    >>> start = gopfast.local.start(problem, "kmeans_plus_plus", random_state=1)
    >>> gopfast.local.em(problem, start).converged
    True
    """
    check_problem(problem)
    make = STRATEGIES[checks.choice("strategy", strategy, tuple(STRATEGIES))]
    rng = np.random.default_rng(seed_from(random_state))
    return MixtureSolution.canonical(problem, **make(problem, rng))


def random_responsibilities(
    problem: MixtureProblem,
    rng: np.random.Generator,
    kind: Literal["dirichlet", "gamma", "uniform"] = "dirichlet",
    concentration: float = 1.0,
) -> State:
    """
    Draw responsibilities at random, then do one M step, as in the paper's experiments.

    Parameters
    ----------
    problem, rng
        As of `samples`.
    kind : {"dirichlet", "gamma", "uniform"}
        Rows from a symmetric Dirichlet distribution; or entries from a Gamma distribution, or uniform on [0, 1],
        with the rows then divided by their sums. Gamma entries of one scale give Dirichlet rows: the two differ
        in the numbers drawn only.
    concentration : float, default 1
        Parameter of the Dirichlet distribution, shape of the Gamma distribution; 1 is uniform on the simplex.

    Returns
    -------
    dict
        The state, as of `samples`.

    Raises
    ------
    InputError
        If `kind` or `concentration` is none of these.

    References
    ----------
    Saddiki, Trapp & Flaherty, section 3.2.
    """
    checks.choice("kind", kind, ("dirichlet", "gamma", "uniform"))
    concentration = checks.positive_number("concentration", concentration)
    shape = (check_problem(problem).n_samples, problem.n_weights)
    if kind == "dirichlet":
        return problem.maximize(rng.dirichlet(np.full(shape[1], concentration), shape[0]))
    draws = rng.gamma(concentration, size=shape) if kind == "gamma" else rng.random(shape)
    # A row of zeros, from underflow, could not be divided by its sum.
    draws = np.maximum(draws, np.finfo(float).tiny)
    return problem.maximize(draws / draws.sum(axis=1, keepdims=True))


def samples(problem: MixtureProblem, rng: np.random.Generator) -> State:
    """
    Draw K samples and put the components around them.

    The means of a Gaussian mixture are the samples. In other families each sample gives the nearest drawn one
    nine tenths of itself, and the rest to all, for one M step.

    Parameters
    ----------
    problem : MixtureProblem
    rng : numpy.random.Generator

    Returns
    -------
    dict
        "weights" and one value for each of ``problem.parameter_names``.
    """
    rows, K = np.flatnonzero(check_problem(problem).sample_weight > 0.0), problem.n_components
    return _around(problem, rng.choice(rows, K, replace=len(rows) < K))


def kmeans_plus_plus(problem: MixtureProblem, rng: np.random.Generator) -> State:
    """
    Draw K samples that lie apart, each next one by its squared distance to the nearest; else as `samples`.

    References
    ----------
    Arthur & Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.
    """
    points = embedding(check_problem(problem))
    return _around(problem, scattered(points, problem.sample_weight, problem.n_components, rng))


def kmeans(problem: MixtureProblem, rng: np.random.Generator) -> State:
    """
    Take the parameters of the clusters that k-means finds; see `gopfast.local.kmeans`. Else as `samples`.

    Raises
    ------
    ImportError
        If scikit-learn is not installed.
    """
    solution = cluster(problem, random_state=rng).solution
    return {"weights": solution.weights, **solution.parameters}


def initial_state(problem: MixtureProblem, start: StartLike, random_state: Seed) -> State:
    """Return the state that a method's `start` stands for; None draws one by `samples`."""
    check_problem(problem)
    if start is None:
        return samples(problem, np.random.default_rng(seed_from(random_state)))
    return given_state(problem, start)


def _around(problem, rows):
    """Return the state with the components around samples of the given numbers."""
    if isinstance(problem, GaussianMixture):
        return given_state(problem, problem.X[rows])
    points, K = embedding(problem), problem.n_components
    nearest = hard_assignment(squared_distances(points, points[rows]).argmin(axis=1), K)
    return problem.maximize(NEAREST_SHARE * nearest + (1.0 - NEAREST_SHARE) / K)


STRATEGIES = {
    "samples": samples,
    "kmeans_plus_plus": kmeans_plus_plus,
    "kmeans": kmeans,
    **{
        kind: lambda problem, rng, kind=kind: random_responsibilities(problem, rng, kind)
        for kind in ("dirichlet", "gamma", "uniform")
    },
}
