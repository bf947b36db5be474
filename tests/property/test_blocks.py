"""The bound of many columns by blocks of them."""

import math

import numpy as np
import pytest
from gopfast.mixtures.data.samples import Samples
from gopfast.mixtures.families.normal import NormalFamily
from gopfast.mixtures.families.replicated import ReplicatedFamily
from gopfast.mixtures.pricing.pricing import ComponentPricing
from gopfast.mixtures.primal.em import MixturePrimal

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.pricing import pricing_root
from gopfast.mixtures.pricing.blocks import BlocksBound, is_divided, parts
from tests.support.problems import objectives_on_the_way
from tests.support.savings import best_known


@pytest.fixture(autouse=True)
def few_cells(monkeypatch):
    """Whatever there is time for bounds the objective."""
    monkeypatch.setattr(pricing_root, "MOST_OPEN_BYTES", 5_000_000)


def problem_of(seed, d, K, covariance, n=14, apart=3.0):
    """Components apart in some columns, weights of 0 among others."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-1, 1, d)
    X += X.std(axis=0) * apart * (rng.random(d) < 0.6) * rng.integers(K, size=(n, 1)) + 100.0
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], n)
    floor = 0.01 * X.var(axis=0) if covariance == "diag" else 0.01 * X.var()
    return gopfast.GaussianMixture(X, K, covariance=covariance, variance_floor=floor, sample_weight=weights)


def least_known(problem, seed=0, starts=60):
    """The family, the best mixture that EM finds from many starts, and its objective."""
    family = engine.family(problem)
    return family, *best_known(family, seed, starts, 1e-10, 2000)


def learnt(problem, family, solution, limit, threads=1):
    bound = BlocksBound(family, family.one_component(problem), solution, limit, threads)
    while bound.step(math.inf):
        pass
    return bound


def columns_of(rng, d, n=9):
    X, weights = 4.0 * rng.standard_normal((n, d)), rng.choice([0.5, 1.0, 2.0], n)
    return Samples(X, weights, np.ones(d), np.zeros(d), squares=True)


def core_cost(tau, columns, weights, per_column):
    """Cost of a component's columns at the best means and variances, by definition: nats, and these parameters."""
    mass = weights * tau
    S = mass.sum()
    means = columns @ mass / S
    variances = np.square(columns - means[:, None]) @ mass / S
    if not per_column:
        variances = np.array([variances.mean()])
    g = 0.5 * np.log(2 * np.pi * np.maximum(variances, 1)) + variances / (2 * np.maximum(variances, 1))
    return S * g.sum() * (1 if per_column else len(columns)), means, variances


@pytest.mark.parametrize("seed", range(12))
def test_no_column_of_a_cell_saves_more_than_its_bound(seed):
    """Of random responsibilities whose best parameters lie in the cell, each column counting several times."""
    rng = np.random.default_rng(seed)
    d, per_column, copies = 1 + seed % 3, bool(seed % 2), 2 ** (seed % 4)
    data = columns_of(rng, d)
    family = ReplicatedFamily(data, 1, per_column, copies)
    pricing = ComponentPricing(family)
    columns, weights = data.arrays()
    W = weights.sum()
    for _ in range(30):
        tau = rng.random(len(weights)) ** rng.choice([0.2, 1.0, 5.0])
        cost, means, variances = core_cost(tau, columns, weights, per_column)
        point = np.concatenate([means, variances])
        width = 10.0 ** rng.uniform(-3, 0.5)
        low, high = point - width * rng.random(len(point)), point + width * rng.random(len(point))
        low[d:] = np.maximum(low[d:], 0.0)
        prices = rng.normal(copies * cost / (weights @ tau), copies * 2.0, len(weights))
        S = weights @ tau
        saved = weights @ (tau * (prices - np.log(tau))) + S * math.log(S / W) - copies * cost
        pricing.set_prices(prices)
        assert saved <= pricing.bound_cell(low, high) + 1e-9 * abs(cost)


def test_copies_count_as_columns_of_the_same_parameters():
    """A spherical component of two equal columns is one of a single column that counts twice."""
    rng = np.random.default_rng(0)
    x, weights = 4.0 * rng.standard_normal((12, 1)), rng.choice([0.5, 1.0], 12)
    one = Samples(x, weights, np.ones(1), np.zeros(1), squares=True)
    two = Samples(np.hstack([x, x]), weights, np.ones(2), np.zeros(2), squares=True)
    copied, plain = ReplicatedFamily(one, 2, False, 2), NormalFamily(two, 2)
    start = np.array([-3.0, 2.0, 3.0, 2.0])
    even = np.full(2, 0.5)
    left, left_trace, _ = MixturePrimal(copied).em(even, start, 1e-12, 500)
    right, right_trace, _ = MixturePrimal(plain).em(even, np.array([-3.0, -3.0, 2.0, 3.0, 3.0, 2.0]), 1e-12, 500)
    assert left_trace[-1] == pytest.approx(right_trace[-1], rel=1e-12)
    np.testing.assert_allclose(left[:2], right[:2], rtol=1e-9)
    with pytest.raises(ValueError, match="power of 2"):
        ReplicatedFamily(one, 2, False, 3)


@pytest.mark.parametrize("n_blocks", range(1, 20))
def test_parts_of_the_information_add_up_to_one(n_blocks):
    copies = parts(n_blocks)
    assert len(copies) == n_blocks
    assert sum(1.0 / copy for copy in copies) == 1.0
    assert all(copy & (copy - 1) == 0 for copy in copies)


@pytest.mark.parametrize(("seed", "covariance"), [(seed, kind) for seed in range(3) for kind in ("diag", "spherical")])
def test_no_mixture_costs_less(seed, covariance):
    """The limit is far above the optimum, so that it does not hide a bound that is too high."""
    d = (5 + seed) if covariance == "diag" else (8 + seed)
    problem = problem_of(seed, d, 2, covariance, apart=6.0)
    family, solution, objective = least_known(problem, seed)
    assert is_divided(family)
    bound = learnt(problem, family, solution, objective + 500.0)
    assert np.isfinite(bound.lower)
    assert bound.lower <= objective
    assert bound.lower <= min(objectives_on_the_way(problem, np.random.default_rng(seed), 10, 30))


def test_equal_blocks_lose_nothing():
    """Where all columns are alike, blocks choose the same responsibilities, and the bound is the optimum."""
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal(-5, 1, 7), rng.normal(5, 1, 7)])
    problem = gopfast.GaussianMixture(np.tile(x[:, None], (1, 8)), 2, covariance="spherical", variance_floor=0.2)
    family, solution, objective = least_known(problem, starts=20)
    bound = learnt(problem, family, solution, objective + 100.0)
    assert objective - 0.5 <= bound.lower <= objective


@pytest.mark.parametrize("covariance", ["diag", "spherical"])
def test_it_is_the_same_for_every_thread_count(covariance):
    problem = problem_of(1, 9, 2, covariance, apart=6.0)
    family, solution, objective = least_known(problem, starts=10)
    found = [learnt(problem, family, solution, objective, threads) for threads in (1, 2)]
    assert found[0].lower == found[1].lower
    assert found[0].n_passes == found[1].n_passes


def test_a_search_has_it_as_its_bound(capsys):
    problem = problem_of(5, 13, 2, "diag", n=40, apart=6.0)
    tree = gopfast.solve(problem, max_nodes=500, n_threads=1, relaxation="entropic", log=False)
    result = gopfast.solve(
        problem, n_threads=1, log=True, callback=lambda state: state.lower > tree.lower_bound + 10.0
    )
    assert "blocks of columns are priced" in capsys.readouterr().out
    assert tree.lower_bound + 10.0 < result.lower_bound <= result.objective


def test_few_columns_are_priced_as_a_whole():
    for d, covariance in ((4, "diag"), (7, "spherical")):
        assert not is_divided(engine.family(problem_of(0, d, 2, covariance)))
    shared = gopfast.GaussianMixture(np.random.default_rng(0).random((20, 13)), 2, covariance="tied_spherical")
    assert not is_divided(engine.family(shared))


def test_weights_count_as_samples():
    problem = problem_of(2, 8, 2, "spherical", apart=6.0)
    family, solution, objective = least_known(problem, starts=10)
    once = learnt(problem, family, solution, objective).lower
    doubled = gopfast.GaussianMixture(
        problem.X, 2, covariance="spherical", variance_floor=problem.variance_floor,
        sample_weight=2.0 * problem.sample_weight,
    )  # fmt: skip
    family, solution, objective = least_known(doubled, starts=10)
    assert learnt(doubled, family, solution, objective).lower == pytest.approx(2.0 * once, abs=1.0)
