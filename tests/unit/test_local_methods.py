"""What holds for every local method: its result, its start, its end, its arguments."""

import functools
import pickle

import numpy as np
import pytest
from support import datasets, problems
from support.exhaustive import brute_force_optimum

import gopfast
from gopfast import local
from gopfast.mixtures.local import _em

ASCENDING = {"em": local.em, "quasi_newton": local.quasi_newton, "conjugate_gradient": local.conjugate_gradient}
METHODS = {**ASCENDING, "anneal": local.anneal, "kmeans": local.kmeans, "cavi": local.cavi}
every_kind = pytest.mark.parametrize("kind", problems.KINDS)
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
ascending = pytest.mark.parametrize("method", ASCENDING.values(), ids=ASCENDING)
MINIMAL = [-10.0, -10.0, 5.0, 25.0]
# A value is a sum of about a hundred rounded logarithms and squares.
ROUNDING = 1e-11


def bayesian(X=MINIMAL, K=2, **options):
    """A problem that every method takes."""
    return gopfast.GaussianMixture(X, K, prior=100.0, posterior="gaussian", **options)


def packed_alike(problem, state):
    """Whether the gradient methods' coordinates hold a state as it is."""
    return getattr(problem, "covariance", None) not in ("tied", "full") and all(
        (np.min(problems.rows(state[name])) > 1e-6) for name in state if name in ("weights", "rates", "probabilities")
    )


# The result


@ascending
@every_kind
def test_the_elbo_never_decreases_and_belongs_to_the_solution(kind, method):
    for seed in range(3):
        problem = problems.make(kind, seed=seed, n=20, K=3, d=2)
        start = problems.random_state(problem, np.random.default_rng(seed))
        fit = method(problem, start, max_iter=60)
        scale = 1.0 + abs(fit.objective)
        assert np.diff(fit.trace).min() >= -ROUNDING * scale
        solution = fit.solution
        attained = problem.objective(solution.weights, **solution.parameters)
        assert fit.objective == pytest.approx(attained, abs=ROUNDING * scale)
        assert fit.elbo == problem.elbo_constant - fit.objective == fit.trace[-1]
        assert len(fit.trace) == fit.n_iter + 1 <= 61
        if method is local.em or packed_alike(problem, start):
            first = problem.elbo(**start)
            # The start's prior variance is not used: at the best one the ELBO is at least as high.
            assert fit.trace[0] >= first - ROUNDING * scale
            if getattr(problem, "prior", None) != "empirical":
                assert fit.trace[0] == pytest.approx(first, abs=ROUNDING * scale)


@every_method
def test_a_result_pickles_and_is_ordered(method):
    fit = method(bayesian(), start=[25.0, -5.0])
    again = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(again.trace, fit.trace)
    assert fit.solution.means[0, 0] < fit.solution.means[1, 0]


@every_method
def test_equal_seeds_give_equal_results(method):
    problem = bayesian(np.linspace(-3.0, 9.0, 40) ** 2, 4)
    traces = [method(problem, random_state=seed, max_iter=5).trace for seed in (1, 1, 2)]
    np.testing.assert_array_equal(traces[0], traces[1])
    assert traces[0][0] != traces[2][0]
    given = [method(problem, random_state=np.random.default_rng(3), max_iter=5).trace for _ in range(2)]
    np.testing.assert_array_equal(*given)


@every_method
def test_the_problem_and_the_start_are_left_alone(method):
    problem, start = bayesian(), np.array([[-1.0], [2.0]])
    method(problem, start)
    np.testing.assert_array_equal(start, [[-1.0], [2.0]])
    np.testing.assert_array_equal(problem.X.ravel(), MINIMAL)


# The global optimum, from a start next to it


@functools.cache
def proved(kind):
    """A small problem and its proved optimum."""
    problem = problems.make(kind, seed=5, n=14, K=2, d=1)
    result = gopfast.solve(problem, 1e-3, time_limit=20.0)
    assert result.success
    return problem, result


@functools.cache
def searched(kind):
    """A tiny problem, the best objective by search from everywhere, and a state that attains it."""
    problem = problems.make(kind, seed=5, n=6, K=2, d=1)
    fits = []
    for number in range(32):
        labels = number >> np.arange(6) & 1
        state = problem.maximize(0.96 * np.eye(2)[labels] + 0.02)
        fits.append(local.em(problem, state, tol=1e-11, max_iter=400))
    best = min(fits, key=lambda fit: fit.objective).solution
    state = {"weights": best.weights, **best.parameters}
    return problem, brute_force_optimum(problem, n_kept=2, n_random=2), state


SOLVED = [
    "known", "known, fixed prior", "known, empirical prior", "known, Gaussian posterior",
    "known, Gaussian posterior, empirical prior", "spherical", "diag", "tied_spherical", "tied",
]  # fmt: skip


@pytest.mark.parametrize("method", [*ASCENDING.values(), local.anneal], ids=[*ASCENDING, "anneal"])
@pytest.mark.parametrize("kind", SOLVED)
def test_a_start_next_to_the_proved_optimum_leads_to_it(kind, method):
    problem, result = proved(kind)
    state = {"weights": result.solution.weights, **result.solution.parameters}
    start = problems.nudged(problem, state, np.random.default_rng(1), 0.05)
    # Flat responsibilities may leave the neighbourhood, as they are meant to; nearly the model's own do not.
    options = {"schedule": (0.9, 1.1, 1.0)} if method is local.anneal else {}
    fit = method(problem, start, tol=1e-10, max_iter=5000, **options)
    assert fit.trace[0] < fit.elbo
    assert result.lower_bound <= fit.objective <= result.objective + 1e-6
    assert fit.converged


@pytest.mark.parametrize("method", [*ASCENDING.values(), local.anneal], ids=[*ASCENDING, "anneal"])
@pytest.mark.parametrize("kind", ["full", "Bernoulli", "Poisson, prior", "exponential, prior", "categorical, prior"])
def test_a_start_next_to_the_optimum_of_a_search_from_everywhere_leads_to_it(kind, method):
    problem, optimum, state = searched(kind)
    start = problems.nudged(problem, state, np.random.default_rng(1), 0.02)
    options = {"schedule": (0.95, 1.05, 1.0)} if method is local.anneal else {}
    fit = method(problem, start, tol=1e-11, max_iter=5000, **options)
    # A saddle or a valley may hold the search from everywhere up: it attains its value, no less.
    assert fit.objective == pytest.approx(optimum, abs=2e-5)


@ascending
def test_galaxies_next_to_the_optimum(method):
    problem = gopfast.GaussianMixture(datasets.galaxies(), 3, covariance="known")
    result = gopfast.solve(problem, epsilon=0.01)
    fit = method(problem, start=result.solution.means + 0.3)
    assert result.lower_bound <= fit.objective <= result.objective + 1e-6


# Starts


@every_method
@pytest.mark.parametrize("kind", ["dict", "solution", "local result", "global result"])
def test_every_kind_of_start_is_the_same_start(method, kind):
    problem = bayesian()
    result = gopfast.solve(problem)
    solution = result.solution
    start = {
        "dict": {"weights": solution.weights, **solution.parameters},
        "solution": solution,
        "local result": local.em(problem, solution, max_iter=1, tol=1e3),
        "global result": result,
    }[kind]
    trace = method(problem, start, max_iter=1).trace
    assert trace[0] == pytest.approx(method(problem, solution, max_iter=1).trace[0], abs=1e-5)


def test_means_alone_start_with_equal_weights_and_wide_components():
    problem = problems.make("diag", n=30, K=3)
    fit = local.em(problem, problem.X[:3], max_iter=1)
    pooled = problem.X.var(axis=0)
    expected = problem.variance_floor + (pooled - problem.variance_floor) / 9.0
    first = problem.elbo(np.full(3, 1 / 3), problem.X[:3], np.tile(expected, (3, 1)))
    assert fit.trace[0] == pytest.approx(first, abs=1e-9)


@every_kind
def test_the_first_parameter_alone_starts_every_family(kind):
    problem = problems.make(kind, n=15, K=2)
    name = problem.parameter_names[0]
    state = problems.random_state(problem, np.random.default_rng(0))
    by_value = local.em(problem, state[name], max_iter=2)
    by_name = local.em(problem, {name: state[name]}, max_iter=2)
    np.testing.assert_array_equal(by_value.trace, by_name.trace)


@pytest.mark.parametrize("method", [*ASCENDING.values(), local.anneal], ids=[*ASCENDING, "anneal"])
@pytest.mark.parametrize("kind", ["known, empirical prior", "known, Gaussian posterior, empirical prior"])
def test_the_prior_variance_of_a_start_is_not_used(kind, method):
    problem = problems.make(kind, n=15, K=2)
    state = problems.random_state(problem, np.random.default_rng(0))
    traces = [method(problem, {**state, "prior_variance": gamma}, max_iter=3).trace for gamma in (None, 1e-2, 1e3)]
    np.testing.assert_array_equal(traces[0], traces[1])
    np.testing.assert_array_equal(traces[0], traces[2])


# The end


@pytest.mark.parametrize("kind", ["known", "diag", "Bernoulli, prior", "full"])
@ascending
def test_a_loose_tolerance_stops_earlier(kind, method):
    problem = problems.make(kind, seed=1, n=30, K=3)
    start = local.start(problem, "dirichlet", 4)
    loose, tight = (method(problem, start, tol=tol, max_iter=3000) for tol in (0.1, 1e-6))
    assert loose.converged and tight.converged
    assert loose.n_iter < tight.n_iter
    assert loose.trace[-1] - loose.trace[-2] <= 0.1
    assert tight.trace[-1] >= loose.trace[-1]


@every_method
def test_max_iter_stops_before_convergence_and_says_so(method):
    problem = bayesian(np.linspace(0.0, 30.0, 400), 8)
    options = {"schedule": [1.0]} if method is local.anneal else {}
    fit = method(problem, random_state=1, tol=0.0, max_iter=2, **options)
    assert not fit.converged
    assert fit.n_iter == 2


@ascending
def test_a_start_at_the_optimum_ends_there_at_once(method):
    problem = gopfast.GaussianMixture(MINIMAL, 2, covariance="known")
    best = local.em(problem, [-5.0, 25.0], tol=0.0, max_iter=500)
    fit = method(problem, best, tol=1e-8)
    assert fit.converged and fit.n_iter <= 1
    assert fit.objective == pytest.approx(best.objective, abs=1e-10)


# Arguments


@every_method
@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"start": [1.0]}, "^start"),
        ({"start": [[1.0, 2.0], [3.0, 4.0]]}, "^start"),
        ({"start": [1.0, np.nan]}, "^start"),
        ({"start": "random"}, "^start"),
        ({"start": {}}, "^start"),
        ({"start": {"weights": [0.5, 0.5]}}, "^start must have means"),
        ({"start": {"means": [1.0, 2.0], "weights": [0.5, 0.6]}}, "^start: weights"),
        ({"start": {"means": [1.0, 2.0], "rates": [1.0, 2.0]}}, "^start.*rates"),
        ({"start": {"means": [1.0, 2.0], "posterior_variances": [1.0, -2.0]}}, "^start: posterior_variances"),
        ({"tol": -1e-3}, "^tol"),
        ({"tol": np.nan}, "^tol"),
        ({"tol": np.inf}, "^tol"),
        ({"tol": "small"}, "^tol"),
        ({"max_iter": 0}, "^max_iter"),
        ({"max_iter": 2.5}, "^max_iter"),
        ({"max_iter": True}, "^max_iter"),
        ({"random_state": "seed"}, "^random_state"),
        ({"random_state": -1}, "^random_state"),
    ],
    ids=str,
)
def test_a_bad_argument_is_named(method, changed, named):
    with pytest.raises(gopfast.InputError, match=named):
        method(bayesian(), **changed)


@every_method
@pytest.mark.parametrize("problem", [None, MINIMAL, "problem"], ids=str)
def test_only_a_problem_is_taken(method, problem):
    with pytest.raises(gopfast.InputTypeError, match="^problem"):
        method(problem)


@every_method
def test_the_solution_of_another_problem_is_no_start(method):
    other = local.em(gopfast.PoissonMixture([0, 3, 9], 2)).solution
    with pytest.raises(gopfast.InputError, match="^start must have means"):
        method(bayesian(), other)


@every_method
def test_options_are_given_by_name(method):
    with pytest.raises(TypeError, match="positional"):
        method(bayesian(), None, 1e-3)


# EM: compiled and in NumPy, and as others have it


@every_kind
def test_em_is_the_same_in_the_compiled_core_and_in_numpy(kind):
    problem = problems.make(kind, seed=2, n=25, K=3, d=2)
    for seed in range(3):
        state = local.starts.initial_state(problem, None, seed)
        ours = _em.run_numpy(problem, state, 0.0, 15)
        fast = _em.run_compiled(problem, state, 0.0, 15)
        if fast is None:
            assert kind not in SOLVED, "the compiled core has this family"
            return
        shared = min(len(ours[1]), len(fast[1]))
        assert shared >= 3
        np.testing.assert_allclose(fast[1][:shared], ours[1][:shared], rtol=1e-11, atol=1e-10)
        for name, value in ours[0].items():
            if value is not None and len(ours[1]) == len(fast[1]):
                np.testing.assert_allclose(
                    problems.rows(fast[0][name]), problems.rows(value), rtol=1e-7, atol=1e-9
                )


def test_unequal_posterior_variances_are_started_from_as_given():
    """The core holds one for all coordinates of equal noise: such a start takes the other way."""
    problem = problems.make("known, Gaussian posterior", n=10, K=2, d=2)
    state = problems.random_state(problem, np.random.default_rng(0))
    state["posterior_variances"] = state["posterior_variances"] * [1.0, 3.0]
    assert local.em(problem, state, max_iter=3).trace[0] == pytest.approx(problem.elbo(**state), abs=1e-10)


def reference_em(problem, means, s, n_steps):
    """The three models of the paper (appendices A.2, B.3, C.2) for unit variance, in its own words."""
    X, K, d = problem.X, problem.n_components, problem.n_features
    gaussian, prior = problem.posterior == "gaussian", problem.prior is not None
    pi, trace = np.full(K, 1.0 / K), []
    s = s if gaussian else np.zeros(K)
    for _ in range(n_steps + 1):
        e = K * d / (np.square(means).sum() + d * s.sum()) if prior else 0.0
        score = np.log(pi) - 0.5 * np.square(X[:, None] - means).sum(axis=2) - 0.5 * d * s
        p = np.exp(score)
        value = -np.log(p.sum(axis=1)).sum()
        if prior:
            value += 0.5 * e * np.square(means).sum() - 0.5 * K * d * np.log(e)
        if gaussian:
            value += 0.5 * e * d * s.sum() - 0.5 * d * np.log(2.0 * np.pi * np.e * s).sum()
        trace.append(value)
        tau = p / p.sum(axis=1, keepdims=True)
        size = tau.sum(axis=0)
        pi, means = size / len(X), tau.T @ X / (size + e)[:, None]
        s = 1.0 / (size + e) if gaussian else s
    return np.array(trace)


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize(
    "options",
    [{"covariance": "known"}, {"prior": "empirical"}, {"prior": "empirical", "posterior": "gaussian"}],
    ids=str,
)
def test_em_steps_as_the_papers_equations(options, d):
    rng = np.random.default_rng(d)
    problem = gopfast.GaussianMixture(rng.normal(size=(15, d)) * 3.0, 3, **options)
    means, s = rng.normal(size=(3, d)) * 2.0, np.array([0.2, 0.4, 0.7])
    start = {"means": means}
    if "posterior" in options:
        start["posterior_variances"] = np.tile(s[:, None], d)
    trace = problem.elbo_constant - local.em(problem, start, tol=0.0, max_iter=8).trace
    np.testing.assert_allclose(trace, reference_em(problem, means, s, 8), rtol=1e-11)


@pytest.mark.parametrize("method", [*ASCENDING.values(), local.anneal], ids=[*ASCENDING, "anneal"])
@pytest.mark.parametrize(
    ("options", "best"),
    [
        ({"covariance": "known"}, 77.24934),
        ({"prior": "empirical"}, 84.03016),
        ({"prior": "empirical", "posterior": "gaussian"}, 82.74365),
    ],
    ids=str,
)
def test_the_minimal_data_set_next_to_the_optimum(options, best, method):
    """The reference optima of the three models of the paper."""
    fit = method(gopfast.GaussianMixture(MINIMAL, 2, **options), start=[-4.5, 24.0])
    assert fit.objective == pytest.approx(best, abs=1e-5)


@ascending
@pytest.mark.parametrize(("posterior", "trapped"), [("point", 108.86), ("gaussian", 107.71854)])
def test_the_papers_local_optimum_traps_the_local_methods(posterior, trapped, method):
    problem = gopfast.GaussianMixture(MINIMAL, 2, prior="empirical", posterior=posterior)
    assert method(problem, start=[-10.0, 15.0]).objective == pytest.approx(trapped, abs=5e-3)


@pytest.mark.parametrize("covariance", ["spherical", "diag", "full"])
@pytest.mark.parametrize("n_steps", [1, 2, 5, 20])
@pytest.mark.filterwarnings("ignore:Best performing initialization")
def test_free_variances_step_as_scikit_learn_does(covariance, n_steps):
    mixture = pytest.importorskip("sklearn.mixture")
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 2)) * [1.0, 4.0] + 3.0 * rng.integers(3, size=(80, 1))
    floor = 1e-8 if covariance == "spherical" else [1e-8, 1e-8]
    problem = gopfast.GaussianMixture(X, 3, covariance=covariance, variance_floor=floor)
    start = local.start(problem, "dirichlet", 7)
    fit = local.em(problem, start, tol=0.0, max_iter=n_steps)
    precisions = np.linalg.inv(start.covariances) if covariance == "full" else 1.0 / start.covariances
    theirs = mixture.GaussianMixture(
        3, covariance_type=covariance, reg_covar=0.0, tol=0.0, max_iter=n_steps, weights_init=start.weights,
        means_init=start.means, precisions_init=precisions,
    ).fit(X)  # fmt: skip
    assert fit.elbo == pytest.approx(theirs.score(X) * 80, abs=1e-8)
    order = np.argsort(theirs.means_[:, 0])
    np.testing.assert_allclose(fit.solution.means, theirs.means_[order], atol=1e-8)
    np.testing.assert_allclose(fit.solution.covariances, theirs.covariances_[order], rtol=1e-7)
