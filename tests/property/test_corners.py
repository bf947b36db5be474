"""Bounds of latent classes by mixtures of their boxes' corners."""

import itertools
import math

import numpy as np
import pytest
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.corners import CornerRelaxation, has_corners
from gopfast.mixtures.relaxations.crossed import CrossedRelaxation
from gopfast.search.search import Search

import gopfast
from gopfast.mixtures import engine
from gopfast.result import Status
from tests.property.test_crossed import best_of_em, random_items
from tests.support.audit import assert_some_leaf_holds, known_best
from tests.support.plans import plan_of


def objective(problem, weights, probabilities):
    """- sum_i w_i log sum_k pi_k prod_j p_kj(x_ij), in the model's plain words."""
    joint = np.tile(weights, (len(problem.X), 1))
    for j, table in enumerate(probabilities):
        seen = problem.X[:, j] >= 0
        joint[seen] *= table[:, problem.X[seen, j]].T
    used = problem.sample_weight > 0
    return -(problem.sample_weight[used] @ np.log(joint[used].sum(axis=1)))


def drawn_box(problem, family, rng, width):
    """Parameters, and the core's box around them, of about this width."""
    K = problem.n_components
    sharp = rng.choice([0.2, 1.0, 5.0])
    tables = tuple(rng.dirichlet(np.full(size, sharp), K) for size in problem.n_categories)
    core = family.pack(probabilities=tables)
    low, high = core - width * rng.random(core.size), core + width * rng.random(core.size)
    return tables, np.clip(low, 0, 1), np.clip(high, 0, 1)


@pytest.mark.parametrize("seed", range(30))
def test_no_parameters_of_a_box_have_a_lower_objective_than_its_corners(seed):
    """Any parameters, not those that are best for some responsibilities alone."""
    rng = np.random.default_rng(seed)
    problem = random_items(rng, 2 + seed % 3)
    family = engine.family(problem)
    if not has_corners(family):
        pytest.skip("too many combinations")
    relaxation, n_bounded = CornerRelaxation(family), 0
    for _ in range(20):
        tables, low, high = drawn_box(problem, family, rng, 10.0 ** rng.uniform(-6, 0))
        value = min(
            objective(problem, rng.dirichlet(np.full(problem.n_components, 0.7)), tables) for _ in range(20)
        )  # fmt: skip
        if value == math.inf:
            continue
        found = relaxation.corner_bound(low, high, value + rng.choice([1e-3, 1.0, 1e3]))
        assert found <= value + 1e-9 * (1 + abs(value))
        n_bounded += found > -math.inf
    assert n_bounded > 0


def mixture_of_corners(problem, family, low, high):
    """The least objective over all mixtures of a box's corners, by a multiplicative method, of 0s and 1s."""
    K, d = problem.n_components, problem.X.shape[1]
    low, high = low.reshape(K, d), high.reshape(K, d)
    columns, masses = family.data.arrays()
    corners = np.array([
        np.prod([np.where(columns[j] > 0, ends[j], 1 - ends[j]) for j in range(d)], axis=0)
        for k in range(K) for ends in itertools.product(*zip(low[k], high[k], strict=True))
    ])  # fmt: skip
    weights = np.full(len(corners), 1 / len(corners))
    for _ in range(20_000):
        weights *= corners @ (masses / (weights @ corners)) / masses.sum()
    return -(masses @ np.log(weights @ corners))


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_is_the_least_objective_of_all_mixtures_of_the_corners(seed):
    rng = np.random.default_rng(seed)
    problem = gopfast.BernoulliMixture(rng.integers(0, 2, (60, 4)), 2)
    family = engine.family(problem)
    core = rng.uniform(0.2, 0.8, family.n_connected)
    width = 0.2 * rng.random(core.size)
    expected = mixture_of_corners(problem, family, core - width, core + width)
    found = CornerRelaxation(family).corner_bound(core - width, core + width, expected + 1e-3)
    assert found == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("seed", range(16))
def test_a_search_that_must_prove_more_than_is_true_does_not(seed):
    rng = np.random.default_rng(100 + seed)
    problem = random_items(rng, 2 + seed % 2)
    family = engine.family(problem)
    if not has_corners(family):
        pytest.skip("too many combinations")
    search = Search(CornerRelaxation(family), MixturePrimal(family, seed=0), -0.1, max_nodes=700)
    reason = Status(search.run())
    best = best_of_em(problem, rng)
    assert reason is not Status.OPTIMAL
    assert search.least_bound <= best + 1e-9 * (1 + abs(best))


@pytest.mark.parametrize("seed", range(8))
def test_the_best_solution_known_is_audited(seed):
    rng = np.random.default_rng(300 + seed)
    problem = random_items(rng, 2 + seed % 2)
    family = engine.family(problem)
    if not has_corners(family):
        pytest.skip("too many combinations")
    known, trace = known_best(family, 200), []
    search = Search(CornerRelaxation(family), MixturePrimal(family), 1e-4, known=known, trace=trace, max_nodes=700)
    search.run()
    assert search.n_audit_failures == 0
    assert_some_leaf_holds(known[0], trace)


@pytest.mark.parametrize("seed", range(3))
def test_results_do_not_depend_on_threads(seed):
    rng = np.random.default_rng(200 + seed)
    X = rng.integers(0, [3, 2, 2, 2], (80, 4))
    X[rng.random(80) < 0.2, 1] = -1
    problem = gopfast.LatentClass(X, 2, missing=[-1])
    assert has_corners(engine.family(problem))
    results = [gopfast.solve(problem, 0.01, n_threads=n, max_nodes=700) for n in (1, 2, 4)]
    assert len({(found.n_nodes, found.lower_bound, found.objective) for found in results}) == 1


def test_three_classes_of_the_values_have_a_continuum_of_optima_and_are_proved():
    X, _ = gopfast.datasets.load_labels("values")
    found = gopfast.solve(gopfast.LatentClass(X, 3), 0.01, n_threads=1, max_nodes=30_000)
    assert found.status is Status.OPTIMAL
    assert -found.objective == pytest.approx(-503.3011, abs=2e-3)


def test_what_has_corners():
    rng = np.random.default_rng(0)
    assert has_corners(engine.family(gopfast.BernoulliMixture(rng.integers(0, 2, (50, 6)), 2)))
    assert not has_corners(engine.family(gopfast.BernoulliMixture(rng.integers(0, 2, (50, 6)), 1)))
    assert not has_corners(engine.family(gopfast.BernoulliMixture(rng.integers(0, 2, (50, 6)), 2, prior=(2.0, 2.0))))
    assert not has_corners(engine.family(gopfast.BernoulliMixture(rng.integers(0, 2, (50, 20)), 2)))
    assert not has_corners(engine.family(gopfast.PoissonMixture(rng.integers(0, 2, (50, 2)), 2)))
    items = rng.integers(0, 3, (50, 4))
    assert isinstance(plan_of(gopfast.LatentClass(items, 2)).relaxed(), CornerRelaxation)
    assert isinstance(plan_of(gopfast.LatentClass(items[:, :2], 2)).relaxed(), CrossedRelaxation)
