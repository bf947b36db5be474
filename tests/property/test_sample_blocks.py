"""Blocks of samples that a component takes nothing of: what passes leave out changes no bound beyond its margin."""

import numpy as np
import pytest
from gopfast.mixtures.pricing.pricing import ComponentPricing
from gopfast.mixtures.pricing.sample_blocks import SampleBlocks

import gopfast
from gopfast.mixtures import engine
from tests.support.savings import any_component, best_of

SHAPES = ["apart", "overlapping", "heavy", "ties", "constant", "dependent", "offset", "outlier", "huge"]
KINDS = ["known", "spherical", "diag", "full", "exponential"]


def samples_of(shape, n, d, rng):
    """Draw clusters (n, d) of a shape, and weights of which some are huge."""
    label = rng.integers(5, size=n)
    centers = rng.normal(scale=2.0 if shape == "overlapping" else 12.0, size=(5, d))
    noise = rng.standard_t(1.5, (n, d)) if shape == "heavy" else rng.standard_normal((n, d))
    X = centers[label] + noise * rng.uniform(0.3, 2.0, d)
    if shape == "ties":
        X = np.round(X)
    elif shape == "constant":
        X[:, 0] = 7.5
    elif shape == "dependent":
        X[:, -1] = -3.0 * X[:, 0]
    elif shape == "outlier":
        X[0] = 1e3
    elif shape == "huge":
        X[0, 0] = 1e120 if d > 1 else 1e160
    X += 2.0**40 if shape == "offset" else 0.0
    return X, rng.choice([0.5, 1.0, 2.0, 1e6], n, p=[0.3, 0.4, 0.299, 0.001])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n", "d"), [(1_003, 1), (2_500, 2), (1_400, 6), (64, 3), (5, 2)])
def test_blocks_that_are_left_out_save_nothing(shape, n, d):
    rng, n_left = np.random.default_rng([n, d, SHAPES.index(shape)]), 0
    X, weights = samples_of(shape, n, d, rng)
    columns = np.ascontiguousarray((X - 0.5 * (X.min(axis=0) + X.max(axis=0))).T)
    blocks = SampleBlocks(columns, weights)
    assert np.array_equal(np.sort(blocks.order), np.arange(n))
    exact = columns.astype(np.longdouble)
    for _ in range(40):
        prices = rng.normal(scale=3.0, size=n) + rng.choice([0.0, 30.0, -30.0])
        blocks.set_prices(prices)
        center = columns[:, rng.integers(n)] + rng.normal(size=d) * rng.choice([0.0, 1.0, 30.0])
        quadratic = rng.choice([0.0, 0.5, 5.0, -0.01]) * rng.uniform(0.1, 1.0, d)
        linear, constant = rng.normal(size=d) * rng.choice([0.0, 1.0, 10.0]), rng.normal()
        taken = blocks.gathered(center, linear, quadratic, constant)
        z = exact - center[:, None]
        saved = prices - (constant + (z * (linear[:, None] + quadratic[:, None] * z)).sum(axis=0))
        left = np.setdiff1d(np.arange(n), taken)
        n_left += len(left)
        assert len(left) == 0 or saved[left].max() <= blocks.far + 1e-6
        # which is what the sum over all of them is bounded by
        assert weights[left] @ np.exp(saved[left].astype(float)) <= blocks.loss
    assert n_left or n < 1_000 or shape in ("overlapping", "heavy", "outlier", "huge")


def problem_of(kind, X, weights):
    """The problem of three components, of positive data where durations are asked for."""
    if kind == "exponential":
        return gopfast.ExponentialMixture(np.abs(X - X.min(axis=0)) + 0.1, 3, sample_weight=weights)
    known = {} if kind == "known" else {"variance_floor": 0.05}
    return gopfast.GaussianMixture(X, 3, covariance=kind, sample_weight=weights, **known)


@pytest.mark.parametrize("shape", SHAPES[:-1])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_left_out_changes_no_bound_by_more_than_it_may(kind, shape):
    """Multiplier by multiplier by blocks and by all samples, and what components within save by their definition."""
    rng = np.random.default_rng([KINDS.index(kind), SHAPES.index(shape)])
    problem = problem_of(kind, *samples_of(shape, 1_500, 2, rng))
    family = engine.family(problem)
    one = family.one_component(problem)
    columns, weights = family.data.arrays()
    by_blocks, plain = ComponentPricing(one), ComponentPricing(one)
    assert by_blocks.leaves_out or len(weights) < 1_000  # equal samples are one
    plain.leaves_out = False
    n, root, terms, total, n_drawn = len(weights), np.array(plain.root()), np.zeros(2), weights.sum(), 0
    for _ in range(6):
        near = plain.seeded(rng, 1)[0]
        prices = plain.costs_at(near)[0] * rng.uniform(0.0, 1.1) + rng.uniform(-1.0, 6.0) + rng.normal(size=n)
        for pricing in (by_blocks, plain):
            pricing.set_prices(prices)
        for _ in range(8):
            point, value = near, 0.0
            if kind in ("known", "spherical", "diag"):
                drawn = any_component(plain, prices, weights, rng, lambda mass: best_of(kind, columns, mass))
                if drawn is None:
                    continue
                (point, value), n_drawn = drawn, n_drawn + 1
                if (point[2:] == 1.0).any():  # at the floor its own variance may be in another cell
                    point, value = near, 0.0
            size = (root[1] - root[0]) * 10.0 ** rng.uniform(-5, -0.3, len(point))
            low, high = np.maximum(root[0], point - size), np.minimum(root[1], point + size)
            q = rng.exponential(size=one.n_facets) * 10.0 ** rng.uniform(-3, 0.5) * rng.integers(0, 2)
            before = np.array([by_blocks.n_terms, plain.n_terms])
            told, other = (pricing.bound_cell(low, high, multipliers=q) for pricing in (by_blocks, plain))
            terms += np.array([by_blocks.n_terms, plain.n_terms]) - before
            assert told >= other - 1e-12 * (total + abs(other))
            assert told <= other + 1e-7 + 1e-12 * (total + abs(other))
            assert by_blocks.bound_cell(low, high) >= value - 1e-9 * (1 + abs(value))
    assert n_drawn or kind in ("full", "exponential")
    assert terms[0] < terms[1] or kind in ("full", "exponential") or shape != "apart"


@pytest.mark.parametrize("kind", ["diag", "full"])
def test_suprema_by_blocks_are_no_less_than_what_ascents_reach(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    problem = problem_of(kind, *samples_of("apart", 1_200, 2, rng))
    family = engine.family(problem)
    pricing = ComponentPricing(family.one_component(problem))
    _, weights = family.data.arrays()
    for _ in range(3):
        prices = pricing.costs_at(pricing.seeded(rng, 1)[0])[0] + rng.uniform(0.0, 2.0)
        pricing.set_prices(prices)
        reached = pricing.climb(pricing.seeded(rng, 20), 50)[0].max()
        pricing.open_boxes(*[side[None] for side in pricing.root()])
        pricing.search(weights @ prices, 1e300, 3, 1e-6, max_cells=500)
        assert pricing.supremum >= reached - 1e-9 * (1 + abs(reached))


@pytest.mark.parametrize("kind", ["known", "diag"])
def test_searches_take_samples_whose_squares_are_no_floats(kind):
    X, _ = samples_of("huge", 1_200, 2, np.random.default_rng(0))
    known = {} if kind == "known" else {"variance_floor": 0.05}
    problem = gopfast.GaussianMixture(X, 2, covariance=kind, **known)
    found = gopfast.solve(problem, max_nodes=20, time_limit=3, log=False)
    assert found.lower_bound <= found.objective
