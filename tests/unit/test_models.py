"""What holds for every mixture problem."""

import copy
import dataclasses
import inspect
import math
import pickle
import weakref

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp
from support import problems
from support.problems import KINDS, rows
from support.reference_em import em

from gopfast.errors import InputError
from gopfast.models import GaussianMixture

every_kind = pytest.mark.parametrize("kind", KINDS)
pytestmark = pytest.mark.filterwarnings("error")


def matrices(problem, covariances):
    """Covariance matrices (K, d, d) from any of the four shapes."""
    d, K = problem.n_features, problem.n_components
    return {
        "spherical": lambda: [v * np.eye(d) for v in covariances],
        "diag": lambda: [np.diag(v) for v in covariances],
        "tied": lambda: [covariances] * K,
        "tied_diag": lambda: [covariances] * K,
        "tied_spherical": lambda: [covariances] * K,
        "full": lambda: list(covariances),
    }[problem.covariance]()


def reference_log_densities(problem, **parameters):
    """Log densities (n, K) by SciPy."""
    X, columns = problem.X, []
    for k in range(problem.n_components):
        if "covariances" in parameters:
            C = matrices(problem, parameters["covariances"])[k]
            columns.append(np.atleast_1d(stats.multivariate_normal(parameters["means"][k], C).logpdf(X)))
            continue
        if "means" in parameters:
            noise = stats.norm(parameters["means"][k], np.sqrt(problem.noise_variance))
            terms = noise.logpdf(X) - parameters.get("posterior_variances", np.zeros_like(parameters["means"]))[
                k
            ] / (2.0 * problem.noise_variance)
        elif "rates" in parameters:
            r = parameters["rates"][k]
            poisson = type(problem).__name__ == "PoissonMixture"
            terms = stats.poisson(r).logpmf(X) if poisson else stats.expon(scale=1.0 / r).logpdf(X)
        elif isinstance(parameters["probabilities"], tuple):
            with np.errstate(divide="ignore"):
                terms = np.stack(
                    [
                        np.where(codes < 0, 0.0, np.log(p[k])[codes])  # a missing entry has no density
                        for p, codes in zip(parameters["probabilities"], X.T, strict=True)
                    ],
                    axis=1,
                )
        elif type(problem).__name__ == "MultinomialMixture":
            p = parameters["probabilities"][k]
            terms = stats.multinomial(X.sum(axis=1).astype(int), p / p.sum()).logpmf(X)[:, np.newaxis]
        else:
            terms = stats.bernoulli(parameters["probabilities"][k]).logpmf(X.astype(int))
        columns.append(terms.sum(axis=1))
    return np.stack(columns, axis=1)


def reference_log_prior(problem, **parameters):
    """Log prior density by SciPy; with a Gaussian posterior its expectation plus the entropy."""
    if problem.prior is None:
        return 0.0
    if "means" in parameters:
        means, gamma = parameters["means"], parameters["prior_variance"]
        value = stats.norm(scale=math.sqrt(gamma)).logpdf(means).sum()
        if problem.posterior == "gaussian":
            s = parameters["posterior_variances"]
            value += stats.norm(scale=np.sqrt(s)).entropy().sum() - (s / (2.0 * gamma)).sum()
        return value
    if "rates" in parameters:
        shape, rate = problem.prior
        return stats.gamma(shape, scale=1.0 / rate).logpdf(parameters["rates"]).sum()
    tables = parameters["probabilities"]
    if isinstance(tables, tuple) or type(problem).__name__ == "MultinomialMixture":
        return sum(
            stats.dirichlet(np.full(array.shape[1], problem.prior)).logpdf(row)
            for array in (tables if isinstance(tables, tuple) else (tables,))
            for row in array
        )
    return stats.beta(*problem.prior).logpdf(parameters["probabilities"]).sum()


def is_flat(problem):
    """Whether nothing but the data speaks about the parameters."""
    return problem.prior in (None, (1.0, 1.0))


# Values


@every_kind
@pytest.mark.parametrize("d", [1, 3])
def test_elbo_is_made_of_the_densities_of_scipy(kind, d):
    rng = np.random.default_rng(d)
    problem = problems.make(kind, seed=d, K=3, d=d, sample_weight=rng.integers(0, 4, 12))
    parameters = problems.random_state(problem, rng)
    weights = parameters.pop("weights")
    densities = reference_log_densities(problem, **parameters)
    np.testing.assert_allclose(problem.log_densities(**parameters), densities, rtol=1e-10, atol=1e-10)
    prior = reference_log_prior(problem, **parameters)
    each = logsumexp(densities + np.log(weights), axis=1)
    optimal = problem.sample_weight @ np.where(problem.sample_weight > 0, each, 0.0) + prior  # 0 * -inf is none
    assert problem.elbo(weights, **parameters) == pytest.approx(optimal, rel=1e-10)
    assert problem.elbo_constant - problem.objective(weights, **parameters) == pytest.approx(optimal, rel=1e-10)
    tau = rng.dirichlet(np.ones(3), 12)
    each = (tau * (densities + np.log(weights) - np.log(tau))).sum(axis=1)
    value = problem.sample_weight @ np.where(problem.sample_weight > 0, each, 0.0) + prior
    assert problem.elbo(weights, responsibilities=tau, **parameters) == pytest.approx(value, rel=1e-10)
    if type(problem).__name__ != "GaussianMixture" or problem.covariance != "known":
        assert problem.elbo_constant == 0.0


@every_kind
def test_optimal_responsibilities_minimise_the_objective(kind):
    rng = np.random.default_rng(2)
    problem = problems.make(kind, K=3)
    state = problems.random_state(problem, rng)
    best, tau = problem.objective(**state), problem.responsibilities(**state)
    np.testing.assert_allclose(tau.sum(axis=1), 1.0, rtol=1e-14)
    assert problem.objective(**state, responsibilities=tau) == pytest.approx(best, rel=1e-12)
    for _ in range(20):
        other = rng.dirichlet(np.ones(3), problem.n_samples)
        assert problem.objective(**state, responsibilities=other) > best


@every_kind
@pytest.mark.parametrize("seed", range(3))
def test_no_other_parameters_are_better_than_those_of_the_m_step(kind, seed):
    rng = np.random.default_rng(seed)
    problem = problems.make(kind, seed, K=3, sample_weight=rng.integers(0, 4, 12))
    former = problems.random_state(problem, rng)
    tau = rng.dirichlet(0.3 * np.ones(3), 12)
    state = problem.maximize(tau, **former)
    if problem.prior == "empirical":
        # A step in the means at the former Gamma, then one in Gamma.
        best = problem.objective(**state, responsibilities=tau)
        for factor in (0.5, 0.99, 1.01, 2.0):
            other = {**state, "prior_variance": factor * state["prior_variance"]}
            assert problem.objective(**other, responsibilities=tau) > best
        state["prior_variance"] = former["prior_variance"]
    best = problem.objective(**state, responsibilities=tau)
    values = [
        problem.objective(**problems.nudged(problem, state, rng, size), responsibilities=tau)
        for size in (1e-4, 1e-2, 0.3, 1.0)
        for _ in range(100)
    ]
    assert min(values) >= best - 1e-12 * (1.0 + abs(best))
    assert min(values) < math.inf
    # The test would also pass if every nudge went far off.
    assert min(values) < best + 1e-3


@every_kind
@pytest.mark.parametrize("seed", range(4))
def test_em_never_decreases_the_elbo(kind, seed):
    rng = np.random.default_rng(seed)
    problem = problems.make(kind, seed, n=15, K=3, sample_weight=rng.integers(0, 4, 15))
    state, trace = em(problem, rng.dirichlet(0.3 * np.ones(3), 15), max_iter=200)
    assert len(trace) > 1
    assert np.diff(trace).max() <= 1e-11 * (1.0 + np.abs(trace).max())
    assert trace[-1] == problem.objective(**state)


@every_kind
def test_sample_weights_act_as_repetitions(kind):
    rng = np.random.default_rng(5)
    count = np.array([1, 0, 3, 2, 1, 1, 0, 2, 1, 1, 1, 1])
    problem = problems.make(kind, sample_weight=count)
    X = np.repeat(problem.X, count, axis=0)
    names = inspect.signature(type(problem)).parameters.keys()
    coded = {"missing": -1} if "missing" in names else {}  # X has the codes
    names -= {"X", "n_components", "n_classes", "columns", "missing", "sample_weight", "covariance_type"}
    repeated = type(problem)(X, 2, **{name: getattr(problem, name) for name in names}, **coded)
    state = problems.random_state(problem, rng)
    assert problem.objective(**state) == pytest.approx(repeated.objective(**state), rel=1e-12)
    assert problem.elbo_constant == pytest.approx(repeated.elbo_constant, rel=1e-12)
    tau = problem.responsibilities(**state)
    again, other = problem.maximize(tau, **state), repeated.maximize(np.repeat(tau, count, axis=0), **state)
    for name, value in again.items():
        if value is not None:
            np.testing.assert_allclose(rows(value), rows(other[name]), rtol=1e-10, atol=1e-14)


# Components without weight, impossible samples


@every_kind
def test_a_component_without_responsibility_stays_finite(kind):
    problem, single = problems.make(kind, K=2), problems.make(kind, K=1)
    tau, first = np.tile([1.0, 0.0], (12, 1)), problem.parameter_names[0]
    former = problems.random_state(problem, np.random.default_rng(6))
    pooled = rows(single.maximize(np.ones((12, 1)))[first])[0]
    for state, expected in (({}, pooled), (former, rows(former[first])[1])):
        found = problem.maximize(tau, **state)
        np.testing.assert_array_equal(found["weights"], [1.0, 0.0])
        assert math.isfinite(problem.objective(**found))
        unused = rows(found[first])[1]
        assert np.isfinite(unused).all()
        if is_flat(problem):
            np.testing.assert_allclose(unused, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if is_flat(problems.make(kind))])
def test_minute_responsibilities_keep_their_digits(kind):
    problem, share = problems.make(kind, K=2), np.random.default_rng(7).random(12)
    first = problem.parameter_names[0]
    minute, half = (
        rows(problem.maximize(np.column_stack([1.0 - c * share, c * share]))[first])[1] for c in (1e-305, 0.5)
    )
    np.testing.assert_allclose(minute, half, rtol=1e-10)


def test_minute_responsibilities_of_small_data_do_not_underflow():
    problem = GaussianMixture(1e-30 * np.array([1.0, 2.0, 4.0]), 2, noise_variance=1e-60)
    found = problem.maximize([[1.0, 1e-300], [1.0, 1e-300], [1.0, 2e-300]])
    assert found["means"][1, 0] == pytest.approx(2.75e-30, rel=1e-12, abs=0.0)


# The object


@every_kind
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda problem: pickle.loads(pickle.dumps(problem))])
def test_copies_are_alike_and_read_only(kind, duplicate):
    problem = problems.make(kind)
    twin = duplicate(problem)
    assert repr(twin) == repr(problem)
    state = problems.random_state(problem, np.random.default_rng(8))
    assert twin.objective(**state) == problem.objective(**state)
    for one in (problem, twin):
        arrays = [value for value in vars(one).values() if isinstance(value, np.ndarray)]
        arrays += getattr(one, "categories", ())
        assert len(arrays) >= 2
        for array in arrays:
            assert not array.flags.writeable


@every_kind
def test_problems_are_frozen_hashable_and_equal_to_themselves_only(kind):
    problem = problems.make(kind)
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.prior = "empirical"
    with pytest.raises(dataclasses.FrozenInstanceError):
        del problem.X
    assert problem == problem and problem != problems.make(kind)
    assert weakref.WeakKeyDictionary({problem: 1})[problem] == 1
    assert repr(problem).startswith(f"{type(problem).__name__}(n_samples=12, n_features=2, n_components=2, ")
    assert len(repr(problem)) < 200


@every_kind
def test_canonical_order_keeps_the_objective(kind):
    rng = np.random.default_rng(9)
    problem = problems.make(kind, K=4)
    state = problems.random_state(problem, rng)
    order = problem.canonical_order(**state)
    assert sorted(order) == [0, 1, 2, 3]
    sorted_state = problem.reordered(order, **state)
    assert problem.objective(**sorted_state) == pytest.approx(problem.objective(**state), rel=1e-13)
    first = rows(sorted_state[problem.parameter_names[0]])
    assert first.tolist() == sorted(first.tolist())
    np.testing.assert_array_equal(problem.canonical_order(**sorted_state), range(4))
    tau = problem.responsibilities(**state)
    np.testing.assert_allclose(problem.responsibilities(**sorted_state), tau[:, order], rtol=1e-12)


@every_kind
def test_free_parameters_are_counted(kind):
    """As many as the directions in which a state can move."""
    rng = np.random.default_rng(10)
    problem = problems.make(kind, K=2, d=2)
    state = problem.maximize(0.5 * rng.dirichlet(np.ones(2), 12) + 0.25)
    moved = [problems.nudged(problem, state, rng, 1e-3) for _ in range(60)]
    names = [name for name in state if name not in ("posterior_variances", "prior_variance")]
    flat = np.array([np.concatenate([rows(one[name]).ravel() for name in names]) for one in moved])
    scale = np.abs(flat - flat.mean(axis=0)).max(axis=0) + 1e-300
    singular = np.linalg.svd((flat - flat.mean(axis=0)) / scale, compute_uv=False)
    assert problem.n_parameters == (singular > 1e-3 * singular[0]).sum() + (problem.prior == "empirical")


# Bad arguments


@every_kind
@pytest.mark.parametrize(
    ("name", "bad"),
    [
        *(("n_components", bad) for bad in (0, 13, 2.0, True, None)),
        *(("sample_weight", bad) for bad in ([1.0], [-1] * 12, [0] * 12, [math.nan] * 12, [1e308] * 12, "w")),
    ],
)
def test_bad_common_arguments_are_named(kind, name, bad):
    arguments = {"K": bad} if name == "n_components" else {name: bad}
    with pytest.raises(InputError, match=f"^{name} (must|is too large)"):
        problems.make(kind, **arguments)


@every_kind
def test_bad_parameters_are_named(kind):
    problem = problems.make(kind)
    state = problems.random_state(problem, np.random.default_rng(11))
    weights = state.pop("weights")
    first = problem.parameter_names[0]
    with pytest.raises(InputError, match="^parameters must be .*; unknown or repeated: spread"):
        problem.objective(weights, **state, spread=1.0)
    with pytest.raises(InputError, match="^parameters must be .*; unknown or repeated"):
        problem.objective(weights, state[first], **state)
    with pytest.raises(InputError, match="^parameters must be .*; got 9 values"):
        problem.objective(weights, *[state[first]] * 9)
    with pytest.raises(InputError, match=f"^{first} must"):
        problem.objective(weights)
    for bad in ("text", np.zeros((5, 7)), None, [[math.nan] * 2] * 2):
        with pytest.raises(InputError, match=rf"^{first}(\[0\])? must"):
            problem.log_densities(**{**state, first: bad})
    for bad in ([1.0], [0.5, 0.6], [1.5, -0.5]):
        with pytest.raises(InputError, match="^weights must"):
            problem.responsibilities(bad, **state)
    for bad in (np.ones((12, 2)), np.ones((3, 2)) / 2, "tau"):
        with pytest.raises(InputError, match="^responsibilities must"):
            problem.maximize(bad)


def test_responsibilities_sum_to_one_far_from_every_component():
    """Two components are equally far, by 1e7 standard deviations: log densities of 14 digits before the point."""
    problem = GaussianMixture([0.0, 1.0, 1e7], 2, covariance="known")
    tau = problem.responsibilities([0.3, 0.7], [0.0, 0.0])
    np.testing.assert_allclose(tau.sum(axis=1), 1.0, rtol=1e-15)
    problem.maximize(tau)
