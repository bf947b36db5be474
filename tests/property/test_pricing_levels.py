"""Prices of many samples on their summaries: every bound holds for the samples."""

import itertools

import numpy as np
import pytest
from gopfast.mixtures.pricing.pricing import ComponentPricing
from gopfast.mixtures.pricing.pricing_cuts import PricingReduction
from gopfast.mixtures.primal.em import MixturePrimal

import gopfast
from gopfast.mixtures import engine, mechanisms
from gopfast.mixtures.pricing import pricing_levels
from gopfast.mixtures.pricing.pricing_levels import LevelledBound, levels_of, refined

KINDS = ["known", "known, fixed prior", "spherical", "diag"]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Few samples count as many."""
    monkeypatch.setattr(pricing_levels, "FEWEST", 20)


def clusters(seed, n, d, gap=3.0):
    """Samples (n, d) with weights, of three clusters of different widths."""
    rng = np.random.default_rng(seed)
    label = rng.integers(3, size=n)
    X = gap * label[:, None] * np.eye(d)[0] + rng.standard_normal((n, d)) * np.array([1.0, 1.4, 0.8])[label, None]
    return X, rng.choice([0.5, 1.0, 2.0], n)


def problem_of(kind, seed, n, d, K):
    X, weights = clusters(seed, n, d)
    if kind.startswith("known"):
        prior = {"prior": 4.0} if "prior" in kind else {}
        return gopfast.GaussianMixture(X, K, covariance="known", sample_weight=weights, **prior)
    return gopfast.GaussianMixture(X, K, covariance=kind, variance_floor=0.3 * d, sample_weight=weights)


def shares(corners, points):
    """Shares (m, n) of corners (d, m) in points (d, n) of the grid's cells: by definition."""
    total = np.zeros((corners.shape[1], points.shape[1]))
    axes = [np.unique(line) for line in corners]
    where = {tuple(corner): i for i, corner in enumerate(corners.T)}
    for n, x in enumerate(points.T):
        ends = []
        for axis, value in zip(axes, x, strict=True):
            i = np.clip(np.searchsorted(axis, value, side="right") - 1, 0, len(axis) - 2)
            share = (value - axis[i]) / (axis[i + 1] - axis[i])
            ends.append([(axis[i], 1 - share), (axis[i + 1], share)])
        for corner in itertools.product(*ends):
            share = np.prod([part for _, part in corner])
            key = tuple(value for value, _ in corner)
            if share > 1e-12 and key in where:
                total[where[key], n] += share
    return total


def best_of(kind, columns, mass):
    """Mean and variances of a column, in the core's coordinates."""
    mean = columns @ mass / mass.sum()
    if kind == "known":
        return mean
    variances = np.square(columns - mean[:, None]) @ mass / mass.sum()
    return np.concatenate([mean, variances if kind == "diag" else [variances.mean()]])


@pytest.mark.parametrize("kind", ["known", "spherical", "diag"])
@pytest.mark.parametrize("d", [1, 2])
def test_no_component_saves_more_of_the_samples_than_its_cell_of_the_summary_says(kind, d):
    """With the prices that a summary's stand for, and the best component of any column of the samples."""
    problem = problem_of(kind, 3, 2000, d, 2)
    family = engine.family(problem)
    columns, weights = family.data.arrays()
    whole = ComponentPricing(family.one_component(problem))
    rng = np.random.default_rng(5)
    tight = []
    for level in family.data.levels:
        one = ComponentPricing(family.one_component(problem, level))
        corners, masses = level.arrays()
        part = shares(corners, columns)
        assert part @ weights == pytest.approx(masses, abs=1e-6)
        lost = part.T @ np.square(corners).T - np.square(columns).T
        for _ in range(12):
            prices = rng.uniform(-1, 3) + 0.3 * np.abs(corners[0] - rng.uniform(-5, 5)) ** rng.uniform(0, 2)
            # so large that a component takes all of every sample, too: then nothing but the curvature is lost
            prices += rng.normal(size=len(prices)) * rng.choice([0.0, 0.3]) + rng.choice([0.0, 300.0])
            one.set_prices(prices)
            own = part.T @ prices - 0.5 * lost.sum(axis=1)
            assert weights @ own >= masses @ prices - 0.5 * level.loss.sum() - 1e-6
            # a column of the samples, and the component that is the best for it
            whole.set_prices(own)
            mass = whole.columns(own, whole.climb(whole.seeded(rng, 1), 1)[1])[0][0]
            if not mass.sum() > 0:
                continue
            tau, S = mass / weights, mass.sum()
            best = best_of(kind, columns, mass)
            costs, prior = whole.costs_at(best)
            value = mass @ (own - costs - np.log(np.where(tau > 0, tau, 1.0))) + S * np.log(S / weights.sum()) - prior
            root = np.array(whole.root())
            size = (root[1] - root[0]) * 10.0 ** rng.uniform(-5, -0.5, len(best))
            # on a face of the cell, too: there its multipliers cost nothing
            face = rng.choice([0.0, 0.5, 1.0], len(size))
            low = np.maximum(best - face * size, root[0])
            high = np.maximum(low, np.minimum(best + (1 - face) * size, root[1]))
            found = one.bound_cell(low, high, n_passes=int(rng.integers(1, 30)))
            assert found >= value - 1e-9 * (1 + abs(value))
            # multiplier by multiplier, also where costs are more curved than any component's
            size = rng.exponential(size=one.family.n_facets) * 10.0 ** rng.uniform(-3, 0.5)
            own_bound = whole.bound_cell(low, high, multipliers=size)
            assert one.bound_cell(low, high, multipliers=size) >= own_bound - 1e-9 * (1 + abs(own_bound))
            tight.append((found - value) / (1.0 + level.loss.sum()))
    assert min(tight) < 1.0


@pytest.mark.parametrize("d", [1, 2])
def test_prices_of_a_finer_summary_stand_for_the_same(d):
    X, weights = clusters(1, 20_000, d)
    data = engine.family(gopfast.GaussianMixture(X, 2, covariance="known", sample_weight=weights)).data
    rng = np.random.default_rng(0)
    assert len(data.levels) > 1
    for coarse, fine in itertools.pairwise(data.levels):
        (corners, masses), (points, finer) = coarse.arrays(), fine.arrays()
        prices = rng.normal(size=coarse.n_samples)
        found = refined(corners, prices, points)
        part = shares(corners, points)
        lost = (part.T @ np.square(corners).T - np.square(points).T).sum(axis=1)
        assert found == pytest.approx(part.T @ prices - 0.5 * lost, abs=1e-7)
        total = masses @ prices - 0.5 * coarse.loss.sum()
        assert finer @ found - 0.5 * fine.loss.sum() == pytest.approx(total, abs=1e-5 * weights.sum())


def best_fit(problem, family):
    """Solution vector of the best of a few EM runs, its value, and its components (K, n_cell)."""
    K = problem.n_components
    runs = [MixturePrimal(family).em(np.full(K, 1 / K), family.seeded(np.random.default_rng(s)), 1e-12, 3000)
            for s in range(12)]  # fmt: skip
    vector = min(runs, key=lambda run: run[1][-1])[0]
    state = {"weights": vector[:K] / vector[:K].sum(), **family.parameters(vector)}
    return vector, problem.objective(**state), vector[K:-1].reshape(K, -1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("excess", [0.01, 30.0])
def test_summaries_leave_every_solution_below_the_limit(kind, d, excess):
    """The limit lies above the optimum: it must survive, and no bound may exceed its value."""
    problem = problem_of(kind, 7 + d, 3000 if d == 1 else 20_000, d, 2)
    family = engine.family(problem)
    vector, value, known = best_fit(problem, family)
    ones = [family.one_component(problem, level) for level in levels_of(family.data, 100, 10_000)]
    assert len(ones) > 1
    reduction = PricingReduction(family, lambda s, limit: LevelledBound(family, ones, s, limit))
    reduction.learn_all(vector, value + excess)
    slack = 1e-9 * (1 + abs(value))
    assert -np.inf < reduction.floor <= value + slack
    known = known[np.argsort(known[:, 0])].ravel()
    low, high = (np.tile(side, 2) for side in ComponentPricing(ones[0]).root())
    rng, n_cut = np.random.default_rng(3), 0
    for _ in range(60):
        size, part = 10.0 ** rng.uniform(-3, 0.3, known.size) * (high - low), rng.random(known.size)
        box, top = np.maximum(low, known - part * size), np.minimum(high, known + (1 - part) * size)
        left = reduction.cut(box, top)
        assert left is not None
        room = 1e-9 * (1 + np.abs(known))
        assert (left[0] <= known + room).all() and (left[1] >= known - room).all()
        assert left[2] <= value + slack
        n_cut += (left[0] > box + room).any() or (left[1] < top - room).any()
    assert n_cut > 0  # it does cut


@pytest.mark.parametrize(("kind", "d"), [("known", 2), ("diag", 1), ("spherical", 2)])
def test_searches_with_prices_of_summaries_agree_with_those_without(kind, d, monkeypatch):
    problem = problem_of(kind, 2, 3000, d, 2)
    plain = gopfast.solve(problem, 0.05, relaxation="entropic", max_nodes=20_000)
    monkeypatch.setattr(mechanisms, "MOST_PRICED", 100)
    cut = gopfast.solve(problem, 0.05, relaxation="pricing", max_nodes=20_000)
    assert cut.lower_bound <= plain.objective + 1e-9 and plain.lower_bound <= cut.objective + 1e-9
    assert cut.gap <= max(plain.gap, 0.05) + 1e-9


def test_the_number_of_threads_changes_nothing(monkeypatch):
    monkeypatch.setattr(mechanisms, "MOST_PRICED", 100)
    problem = problem_of("diag", 4, 3000, 1, 3)
    found = [gopfast.solve(problem, 0.05, relaxation="pricing", max_nodes=200, n_threads=n) for n in (1, 2, 4)]
    assert len({(one.lower_bound, one.objective, one.n_nodes, one.n_passes) for one in found}) == 1
