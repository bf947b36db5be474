"""A start is the first incumbent: no result is worse than what it was started from, whatever the limits."""

import math

import numpy as np
import pytest

import gopfast
from gopfast.data import LargeGaussianMixture
from gopfast.mixtures import engine, local
from gopfast.mixtures.problems.covariance import KINDS

RNG = np.random.default_rng(5)
X = np.concatenate([RNG.normal(size=(60, 2)) * s + m for s, m in ((1.0, 0.0), (0.4, 3.0), (2.0, [1.0, 5.0]))])
TABLE = [[("a", "b", None)[i % 3], ("u", "v")[i * i % 2], ("x", None, "y", "x")[i % 4]] for i in range(40)]
LARGE = 45_000  # samples from which on starts run on some of them

PROBLEMS = {
    "known": lambda: gopfast.GaussianMixture(X, 5, covariance="known"),
    "prior": lambda: gopfast.GaussianMixture(X, 5, prior=4.0),
    "empirical": lambda: gopfast.GaussianMixture(X, 5, prior="empirical"),
    "posterior": lambda: gopfast.GaussianMixture(X, 5, prior="empirical", posterior="gaussian"),
    **{
        kind: lambda kind=kind: gopfast.GaussianMixture(X, 5, covariance=kind)
        for kind in KINDS if kind != "known"
    },
    "Poisson": lambda: gopfast.PoissonMixture(RNG.poisson(np.repeat([1.0, 4.0, 20.0], 20)), 3),
    "Bernoulli": lambda: gopfast.BernoulliMixture(RNG.random((60, 4)) < 0.4, 3),
    "exponential": lambda: gopfast.ExponentialMixture(RNG.exponential(np.repeat([1.0, 9.0], 30)), 3),
    "classes": lambda: gopfast.LatentClass(TABLE, 3),
    "classes, prior": lambda: gopfast.LatentClass(TABLE, 3, prior=2.0),
}  # fmt: skip


def objective(problem, fit):
    solution = getattr(fit, "solution", fit)
    return problem.objective(solution.weights, **solution.parameters)


def forms(fit):
    yield fit
    yield fit.solution
    yield fit.solution.to_dict()
    yield {"weights": fit.solution.weights, **fit.solution.parameters}


def best_of_many(problem, n=12):
    return min((local.em(problem, random_state=seed) for seed in range(n)), key=lambda fit: fit.objective)


def solve(problem, start, **limits):
    found = gopfast.solve(problem, start=start, log=False, n_threads=1, **limits)
    assert found.lower_bound <= found.objective
    return found


def is_kept(problem, start, target, **limits):
    found = solve(problem, start, **limits)
    margin = found.rounding_margin + 1e-12 * (1.0 + abs(target))
    assert found.objective <= target + margin
    assert objective(problem, found) <= target + margin


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_best_fit_of_many_is_kept_in_every_form(name):
    problem = PROBLEMS[name]()
    fit = best_of_many(problem)
    for start in forms(fit):
        for limits in ({"time_limit": 0}, {"time_limit": 1e-3}, {"max_nodes": 1}):
            is_kept(problem, start, objective(problem, fit), **limits)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_fit_with_weights_of_zero_and_far_from_equal_is_kept(name):
    problem = PROBLEMS[name]()
    state = local.em(problem, max_iter=3).solution
    weights = np.zeros(problem.n_components)
    weights[:2] = 0.999, 0.001
    start = {"weights": weights, **state.parameters}
    is_kept(problem, start, problem.objective(**start), time_limit=0)


def test_the_first_local_search_begins_from_the_weights_that_are_given(monkeypatch):
    problem = PROBLEMS["known"]()
    fit = best_of_many(problem)
    point, weights = engine.start_solution(problem, fit)
    assert np.array_equal(weights, fit.solution.weights)
    assert engine.start_solution(problem, fit.solution.means)[1] is None
    from gopfast.mixtures.primal.em import MixturePrimal
    from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
    from gopfast.search.search import Search

    family = engine.family(problem)
    primal = MixturePrimal(family, n_starts=0, start=point, start_weights=weights)
    search = Search(EntropicRelaxation(family), primal, 0.01, time_limit=0.0)
    search.run()
    assert search.summary()[0]["objective"] <= fit.objective + 1e-9


@pytest.mark.parametrize(
    "options",
    [{"covariance": "known"}, {"covariance": "diag"}, {"covariance": "full"}, {"covariance": "tied"},
     {"prior": "empirical", "posterior": "gaussian"}],
    ids=str,
)  # fmt: skip
def test_a_fit_of_many_samples_is_kept_though_starts_run_on_some_of_them(options):
    rng = np.random.default_rng(1)
    many = rng.normal(size=(LARGE, 2)) + 1.5 * rng.integers(0, 3, LARGE)[:, None]
    problem = gopfast.GaussianMixture(many, 4, **options)
    fit = local.em(problem, random_state=3, max_iter=60)
    # EM on all samples stands a little below what a few steps from an optimum of some of them reach
    is_kept(problem, fit, objective(problem, fit), time_limit=0)
    is_kept(problem, fit, objective(problem, fit), time_limit=1e-3)


def test_a_fit_of_data_in_chunks_is_kept():
    rng = np.random.default_rng(2)
    rows = np.concatenate([rng.normal(m, 1.0, 20_000) for m in (0.0, 2.0, 3.5)])
    plain = gopfast.GaussianMixture(rows, 4, covariance="known")
    fit = local.em(plain, random_state=1, max_iter=2000, tol=1e-10)
    problem = LargeGaussianMixture(rows, 4, covariance="known")
    is_kept(problem, fit, objective(plain, fit), time_limit=0)


@pytest.mark.parametrize("kind", ["spherical", "diag", "tied", "tied_diag", "tied_spherical", "full"])
def test_a_start_below_the_floor_is_raised_to_it(kind):
    problem = gopfast.GaussianMixture(X, 3, covariance=kind, variance_floor=1.0)
    below = local.em(gopfast.GaussianMixture(X, 3, covariance=kind, variance_floor=1e-3), random_state=1).solution
    raised = problem.kind.raised(below.covariances)
    assert (problem.kind.floors(raised) >= 1.0 - 1e-12).all()
    assert np.array_equal(problem.kind.raised(raised), raised) or np.allclose(problem.kind.raised(raised), raised)
    start = {"weights": below.weights, "means": below.means, "covariances": raised}
    is_kept(problem, below, problem.objective(**start), time_limit=0)
    above = below.covariances + 2.0 * (np.eye(2) if problem.kind.matrix_shaped else 1.0)
    assert np.array_equal(problem.kind.raised(above), above)


def test_matrices_that_are_no_covariances_are_named():
    problem = gopfast.GaussianMixture(X, 2, covariance="full")
    start = {"weights": [0.5, 0.5], "means": X[:2], "covariances": np.tile([[1.0, 0.5], [0.0, 1.0]], (2, 1, 1))}
    with pytest.raises(gopfast.InputError, match="^start must hold .*; covariances must be symmetric"):
        gopfast.solve(problem, start=start)
    with pytest.raises(gopfast.InputError, match="^start must hold .*; weights"):
        gopfast.solve(problem, start={"weights": [0.5, 0.9], "means": X[:2]})


def test_posterior_variances_that_differ_between_columns_are_kept():
    problem = PROBLEMS["posterior"]()
    fit = best_of_many(problem).solution
    variances = fit.posterior_variances * np.array([0.3, 1.0])
    start = {"weights": fit.weights, "means": fit.means, "posterior_variances": variances}
    point, weights = engine.start_solution(problem, start)
    held = engine.family(problem).parameters(np.concatenate([weights, point, [1.0]]))
    held.pop("prior_variance")
    assert problem.objective(weights, **held) <= problem.objective(**start)
    is_kept(problem, start, problem.objective(**start), time_limit=0)


def test_a_fit_of_scikit_learn_is_kept():
    mixture = pytest.importorskip("sklearn.mixture")
    for kind in ("spherical", "diag", "tied", "full"):
        fit = mixture.GaussianMixture(4, covariance_type=kind, n_init=5, random_state=0, reg_covar=1e-3).fit(X)
        problem = gopfast.GaussianMixture(X, 4, covariance=kind, variance_floor=1e-4)
        target = problem.objective(fit.weights_, fit.means_, fit.covariances_)
        is_kept(problem, fit, target, time_limit=0)


def test_certify_and_resume_are_no_worse_than_what_they_begin_with(tmp_path):
    problem = PROBLEMS["diag"]()
    fit = best_of_many(problem)
    found = gopfast.certify(problem, fit, time_limit=0)
    assert found.result.objective <= fit.objective + found.result.rounding_margin + 1e-9
    assert found.upper_bound <= found.objective
    path = tmp_path / "state"
    first = gopfast.solve(problem, start=fit, max_nodes=3, checkpoint=path, log=False, n_threads=1)
    again = gopfast.resume(path, problem, time_limit=0)
    assert again.objective <= first.objective


def test_a_clustering_is_kept():
    problem = gopfast.KMeans(X, 6)
    best = gopfast.solve(problem, time_limit=2, log=False)
    labels = best.labels.copy()
    moved = best.centers + 1e-3
    for start in (best, best.centers, labels, moved):
        target = problem.objective(getattr(start, "centers", start)) if start is not labels else best.objective
        for limits in ({"time_limit": 0}, {"time_limit": 1e-3}, {"max_nodes": 1}):
            assert gopfast.solve(problem, start=start, log=False, **limits).objective <= target * (1 + 1e-12)


def test_the_centers_given_count_as_they_are(monkeypatch):
    from gopfast.clustering.search import Pool

    problem = gopfast.KMeans(X, 6)
    start = gopfast.solve(problem, time_limit=2, log=False).centers

    def fill(self, late, start=None):
        """Find something that is far from good."""
        self.offer(self.X[:6])

    monkeypatch.setattr(Pool, "fill", fill)
    found = gopfast.solve(problem, start=start, time_limit=0, log=False)
    assert found.objective <= problem.objective(start)


def test_a_feasible_point_of_a_biconvex_problem_is_kept():
    rng = np.random.default_rng(3)
    n = 8
    Q = rng.integers(-5, 6, (n, n)).astype(float)
    A = rng.integers(-3, 4, (3, n)).astype(float)
    for sense in ("min", "max"):
        problem = gopfast.BiconvexProblem(
            rng.integers(-5, 6, n), Q=Q + Q.T, A=A, row_upper=np.abs(A).sum(axis=1), lower=0, upper=2, sense=sense
        )
        best = gopfast.solve(problem, time_limit=2, log=False)
        sign = 1.0 if sense == "min" else -1.0
        for start in (best, best.solution.z, 0.999 * best.solution.z):
            point = np.asarray(getattr(getattr(start, "solution", start), "z", start))
            feasible = problem.violations(point).max(initial=0.0) == 0.0
            for limits in ({"time_limit": 0}, {"time_limit": 1e-3}, {"max_nodes": 1}):
                found = gopfast.solve(problem, start=start, log=False, **limits)
                if feasible:
                    assert sign * found.objective <= sign * problem.objective(point) + 1e-12 * abs(found.objective)


def test_a_feasible_start_counts_where_local_searches_end_elsewhere(monkeypatch):
    from gopfast.biconvex import preparation

    problem = gopfast.BiconvexProblem([0.0, 0.0], Q=[[0.0, 1.0], [1.0, 0.0]], lower=-1, upper=[1, 2])
    value = problem.objective(np.array([1.0, -1.0]))
    monkeypatch.setattr(
        preparation.Preparation, "_local_search",
        lambda self, data, scale, starts, *_: (math.inf, starts[0], len(starts)),
    )  # fmt: skip
    found = gopfast.solve(problem, start=[1.0, -1.0], max_nodes=1, log=False)
    assert found.objective <= value


def test_annealing_returns_to_a_start_that_is_better():
    problem = PROBLEMS["diag"]()
    fit = best_of_many(problem)
    found = local.anneal(problem, fit, schedule=[0.05, 1.0])
    assert found.objective <= fit.objective + 1e-8
    assert found.trace.shape == (found.n_iter + 1,) and found.trace[-1] == pytest.approx(found.elbo)
