"""Start strategies."""

import numpy as np
import pytest
from support import problems
from support.problems import KINDS

import gopfast
from gopfast import local
from gopfast.mixtures.local import starts
from gopfast.mixtures.local._embedding import embedding, squared_distances

STRATEGIES = ["samples", "kmeans_plus_plus", "kmeans", "dirichlet", "gamma", "uniform"]
every_kind = pytest.mark.parametrize("kind", KINDS)
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)
MINIMAL = [-10.0, -10.0, 5.0, 25.0]


@every_strategy
@every_kind
def test_every_strategy_starts_every_family(kind, strategy):
    if strategy == "kmeans":
        pytest.importorskip("sklearn")
    problem = problems.make(kind, seed=1, n=20, K=3)
    first = local.start(problem, strategy, random_state=1)
    assert np.isfinite(problem.objective(first.weights, **first.parameters))
    fit = local.em(problem, first, max_iter=5)
    assert fit.trace[0] == pytest.approx(problem.elbo(first.weights, **first.parameters), abs=1e-9)
    again = local.start(problem, strategy, random_state=1)
    for name in ("weights", *problem.parameter_names):
        assert str(getattr(first, name)) == str(getattr(again, name))


@pytest.mark.parametrize("strategy", ["samples", "kmeans_plus_plus", "dirichlet", "gamma", "uniform"])
def test_other_seeds_give_other_starts(strategy):
    problem = problems.make("known", n=30, K=3)
    means = [local.start(problem, strategy, random_state=seed).means for seed in range(3)]
    assert not np.allclose(means[0], means[1]) or not np.allclose(means[0], means[2])


@pytest.mark.parametrize("draw", [starts.samples, starts.kmeans_plus_plus])
def test_means_are_distinct_samples_of_positive_weight(draw):
    X, weight = np.arange(8.0), np.array([1, 0, 2, 0, 1, 1, 0, 3.0])
    problem = gopfast.GaussianMixture(X, 5, sample_weight=weight, covariance="known")
    for seed in range(10):
        means = draw(problem, np.random.default_rng(seed))["means"].ravel()
        np.testing.assert_array_equal(np.sort(means), X[weight > 0.0])


def test_the_default_start_is_the_strategy_samples():
    problem = problems.make("diag", n=30, K=3)
    np.testing.assert_array_equal(
        local.em(problem, random_state=5).trace, local.em(problem, starts.initial_state(problem, None, 5)).trace
    )
    drawn = local.start(problem, "samples", 5)
    assert local.em(problem, random_state=5).trace[0] == pytest.approx(local.em(problem, drawn).trace[0], abs=1e-10)


def test_more_components_than_samples_of_positive_weight_repeat_some():
    problem = gopfast.GaussianMixture([1.0, 2.0, 3.0], 3, sample_weight=[1.0, 0.0, 1.0], covariance="known")
    for strategy in ("samples", "kmeans_plus_plus"):
        means = local.start(problem, strategy).means.ravel()
        assert set(means) <= {1.0, 3.0}


def test_kmeans_plus_plus_prefers_samples_that_lie_apart():
    """Two tight clusters: with two draws both are hit, where plain draws hit one of them half the time."""
    X = np.concatenate([np.zeros(10), np.full(10, 100.0)]) + np.linspace(0.0, 0.01, 20)
    problem = gopfast.GaussianMixture(X, 2, covariance="known")
    for seed in range(20):
        assert np.ptp(local.start(problem, "kmeans_plus_plus", seed).means) > 99.0
    plain = [np.ptp(local.start(problem, "samples", seed).means) > 99.0 for seed in range(20)]
    assert 2 <= sum(plain) <= 18


@pytest.mark.parametrize("kind", ["dirichlet", "gamma", "uniform"])
def test_random_responsibilities_are_followed_by_an_m_step(kind):
    """The weights of an M step are the responsibilities' means, its means their weighted averages."""
    problem = gopfast.GaussianMixture(np.arange(6.0), 2, covariance="known")
    rng, again = np.random.default_rng(3), np.random.default_rng(3)
    draws = {
        "dirichlet": lambda: again.dirichlet([1.0, 1.0], 6),
        "gamma": lambda: again.gamma(1.0, size=(6, 2)),
        "uniform": lambda: again.random((6, 2)),
    }[kind]()
    tau = draws / draws.sum(axis=1, keepdims=True)
    state = starts.random_responsibilities(problem, rng, kind)
    np.testing.assert_allclose(state["weights"], tau.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(state["means"].ravel(), np.arange(6.0) @ tau / tau.sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize("kind", ["dirichlet", "gamma"])
def test_a_small_concentration_gives_nearly_hard_assignments(kind):
    problem = gopfast.GaussianMixture(np.concatenate([np.zeros(30), np.full(30, 50.0)]), 2, covariance="known")
    spread = [
        np.ptp(starts.random_responsibilities(problem, np.random.default_rng(0), kind, concentration=c)["weights"])
        for c in (1e-3, 1e3)
    ]
    assert spread[1] < 0.01 < spread[0]


def test_labels_differ_by_their_count():
    problem = gopfast.CategoricalMixture([["a", 1], ["b", 1], ["b", 3]], 2)
    points = embedding(problem)
    np.testing.assert_allclose(squared_distances(points, points), [[0, 1, 2], [1, 0, 1], [2, 1, 0]], atol=1e-15)


@pytest.mark.parametrize("kind", ["diag", "full", "exponential"])
def test_distances_do_not_depend_on_the_columns_units(kind):
    problem = problems.make(kind, n=10, K=2, d=2)
    X = problem.X * [1e-3, 50.0]
    options = {"covariance": problem.covariance} if hasattr(problem, "covariance") else {}
    other = type(problem)(X, 2, **options)
    np.testing.assert_allclose(embedding(other), embedding(problem), rtol=1e-9, atol=1e-12)


def test_columns_of_one_value_do_no_harm():
    problem = gopfast.PoissonMixture([[3, 1], [3, 9], [3, 8]], 2)
    assert np.isfinite(embedding(problem)).all()
    assert np.isfinite(local.em(problem, local.start(problem, "kmeans_plus_plus")).objective)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"strategy": "best"}, "^strategy must be one of"),
        ({"strategy": None}, "^strategy must be one of"),
        ({"random_state": "seed"}, "^random_state"),
        ({"problem": MINIMAL}, "^problem"),
    ],
)
def test_a_bad_argument_is_named(arguments, named):
    with pytest.raises(gopfast.InputError, match=named):
        local.start(**{"problem": gopfast.GaussianMixture(MINIMAL, 2, covariance="known"), **arguments})


@pytest.mark.parametrize(
    ("options", "named"), [({"kind": "normal"}, "^kind"), ({"concentration": 0.0}, "^concentration")]
)
def test_a_bad_option_of_random_responsibilities_is_named(options, named):
    problem = gopfast.GaussianMixture(MINIMAL, 2, covariance="known")
    with pytest.raises(gopfast.InputError, match=named):
        starts.random_responsibilities(problem, np.random.default_rng(0), **options)
