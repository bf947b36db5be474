"""Prices as high as merging two components allows: no bound of theirs may be above the cost of any mixture."""

import math

import numpy as np
import pytest
from gopfast.mixtures.pricing.group_pricing import GroupedPricing
from gopfast.mixtures.pricing.pricing import ComponentPricing
from gopfast.mixtures.pricing.sample_groups import SampleGroups
from gopfast.mixtures.primal.em import MixturePrimal

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.pricing import raised
from gopfast.mixtures.pricing.raised import RaisedBound, has_raised_prices
from gopfast.mixtures.pricing.raised_prices import RaisedPrices
from tests.support.savings import any_component, saved_at

SHAPES = ["normal", "overlapping", "heavy", "ties", "constant", "dependent", "offset"]


def problem_of(shape, n, K=3, seed=0, covariance="full"):
    """Weighted samples of K clusters with matrices of their own, and their labels; of variances in three columns."""
    rng = np.random.default_rng([seed, n, K])
    label = rng.integers(K, size=n)
    gap = 1.5 if shape == "overlapping" else 7.0
    centers = gap * np.array([[0.0, 0.0], [1.0, 0.2], [0.3, 1.0], [1.2, 1.3]])[label]
    noise = rng.standard_t(1.5, (n, 2)) if shape == "heavy" else rng.standard_normal((n, 2))
    shears = np.array([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.8], [0.0, 0.5]], [[0.7, 0.0], [0.6, 1.1]],
                       [[1.1, 0.3], [0.0, 0.8]]])[label]  # fmt: skip
    X = centers + np.einsum("nij,nj->ni", shears, noise)
    if shape == "ties":
        X = np.round(X)
    elif shape == "constant":
        X[:, 1] = 3.25
    elif shape == "dependent":
        X[:, 1] = 2.0 * X[:, 0]
    weights = rng.choice([0.5, 1.0, 2.0], n)
    if covariance != "full":
        X = np.column_stack([X, rng.standard_normal(n) + 4.0 * (label % 2)])
    X += 2.0**40 if shape == "offset" else 0.0
    known = {} if covariance == "known" else {"variance_floor": 0.05}
    return gopfast.GaussianMixture(X, K, covariance=covariance, sample_weight=weights, **known), label


def best_fit(problem, label):
    """The family, the vector of the best of some runs of EM, and its value."""
    family = engine.family(problem)
    K, rng = family.n_components, np.random.default_rng(0)
    means = [problem.X[label == k].mean(axis=0) for k in range(K)]
    d = len(means[0])
    one = {"full": np.eye(d), "diag": np.ones(d), "spherical": 1.0, "known": None}[problem.covariance]
    first = family.pack(np.array(means), None if one is None else np.array([one] * K))
    starts = [first] + [family.seeded(rng) for _ in range(4)]
    runs = [MixturePrimal(family).em(np.full(K, 1 / K), start, 1e-12, 1000) for start in starts]
    vector, trace, _ = min(runs, key=lambda run: run[1][-1])
    return family, vector, trace[-1]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("height", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("n", [60, 1_100])
@pytest.mark.parametrize("covariance", ["full", "diag", "spherical", "known"])
def test_no_bound_exceeds_the_cost_of_a_solution_whatever_the_prices(shape, height, n, covariance, monkeypatch):
    """The limit lies above a known value: no search may end by proof, however poor prices are."""
    for name, value in {"HEIGHTS": (height,), "MERGED": math.inf, "MERGED_KNOWN": math.inf, "SLACK": 1e9,
                        "LOSS": math.inf, "BETTER": math.inf,
                        "MOST_CELLS": (400, 1_500), "GROUPED": 1_000, "GROUPED_FULL": 1_000, "N_CLIMBS": 5,
                        "DRAWN": 500}.items():  # fmt: skip
        monkeypatch.setattr(raised, name, value)
    for K in (2, 3):
        problem, label = problem_of(shape, n, K, covariance=covariance)
        family, vector, value = best_fit(problem, label)
        bound = RaisedBound(family, problem, vector, value + 30.0)
        while bound.step(math.inf):
            pass
        assert bound.pricing.n_cells > 0
        assert -math.inf < bound.lower <= value + 1e-9 * (1 + abs(value))
        # and what it says is proved exceeds what ascents reach
        points = bound.pricing.climb(bound.pricing.seeded(np.random.default_rng(1), 20), 40)[1]
        reached = max(saved_at(bound.pricing, point, bound.prices, bound.weights) for point in points)
        assert bound.pricing.supremum >= reached - 1e-9 * (1 + reached)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("covariance", ["diag", "spherical"])
def test_passes_of_few_samples_are_over_eight_groups_or_all_samples(shape, covariance, monkeypatch):
    """The same holds of them as of many groups: nothing may be proved above a known value."""
    for name, value in {"HEIGHTS": (1.0,), "MERGED": math.inf, "SLACK": 1e9, "LOSS": math.inf, "BETTER": math.inf,
                        "MOST_CELLS": (400, 1_500), "GROUPED": 1_000, "N_CLIMBS": 5, "DRAWN": 500}.items():  # fmt: skip
        monkeypatch.setattr(raised, name, value)
    problem, label = problem_of(shape, 1_100, 2, covariance=covariance)
    family, vector, value = best_fit(problem, label)
    groups = []
    for below in (0, 2_000):
        monkeypatch.setattr(raised, "EXACT_BELOW", (below, below))
        bound = RaisedBound(family, problem, vector, value + 30.0)
        while bound.phase != "search" and bound.step(math.inf):
            pass
        before = bound.pricing.n_groups, bound.pricing.n_cells
        bound.pricing.ascend_every = 1 << 40  # of which groups are others
        while bound.step(math.inf):
            pass
        assert -math.inf < bound.lower <= value + 1e-9 * (1 + abs(value))
        points = bound.pricing.climb(bound.pricing.seeded(np.random.default_rng(1), 20), 40)[1]
        reached = max(saved_at(bound.pricing, point, bound.prices, bound.weights) for point in points)
        assert bound.pricing.supremum >= reached - 1e-9 * (1 + reached)
        groups.append((bound.pricing.n_groups - before[0]) / (bound.pricing.n_cells - before[1]))
    assert groups[1] < 0.5 * groups[0] or groups[0] == 0.0


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [300, 1_100])
@pytest.mark.parametrize("covariance", ["full", "diag", "spherical", "known"])
def test_cells_that_are_handed_over_hold_the_components_of_all_better_solutions(shape, n, covariance, monkeypatch):
    """The limit lies above known values: none of their components may lie in a cell that the next prices do not see."""
    most = 60_000 if covariance in ("full", "diag") and shape in ("normal", "offset") else 20_000
    for name, value in {"HEIGHTS": (0.5,), "MERGED": math.inf, "MERGED_KNOWN": math.inf, "SLACK": 1e9,
                        "LOSS": math.inf, "BETTER": math.inf, "TOLD": 10.0, "GROUPED": 1_000, "EXACT_BELOW": (0, 0),
                        "N_CLIMBS": 5, "MOST_CELLS": (most, most), "CELLS": 400, "DRAWN": 500}.items():  # fmt: skip
        monkeypatch.setattr(raised, name, value)
    K = 2
    problem, label = problem_of(shape, n, K, covariance=covariance)
    family, vector, value = best_fit(problem, label)
    bound, kept = RaisedBound(family, problem, vector, value + 1.0), []
    starts = [vector[K:-1]] + [family.seeded(np.random.default_rng(seed)) for seed in range(4)]
    runs = [MixturePrimal(family).em(np.full(K, 1 / K), start, 1e-12, 1000) for start in starts]
    points = [run[0][K:-1].reshape(K, -1) for run in runs if run[1][-1] < bound.limit and (run[0][:K] > 0).all()]
    assert points

    def keep(self):
        hand_over(self)
        low, high, warm = self.boxes
        assert len(low) == len(high) == len(warm)
        kept.append((len(low), self.pricing.n_open))
        for point in np.clip(np.concatenate(points), *self.pricing.root()):  # a constant column has no variance there
            size = 1e-9 * (1 + np.abs(point))
            assert ((low <= point + size) & (point - size <= high)).all(axis=1).any()

    hand_over = RaisedBound._keep_boxes
    monkeypatch.setattr(RaisedBound, "_keep_boxes", keep)
    while bound.step(math.inf):
        pass
    assert bound.lower <= value + 1e-9 * (1 + abs(value))
    if shape == "normal":
        assert kept[0][0] < 0.8 * kept[0][1]  # and many are left out


def test_boxes_take_what_cells_have_handed_on_and_nothing_else():
    problem, label = problem_of("normal", 1_100, 2)
    family, vector, value = best_fit(problem, label)
    bound = RaisedBound(family, problem, vector, value - 1e-3)
    while bound.phase != "search" or bound.pricing.n_cells < 2_000:
        assert bound.step(math.inf)
    pricing = bound.pricing
    low, high, upper, _ = pricing.cells()
    warm = pricing.handed_on()
    assert warm.shape == (len(upper), pricing.n_warm) and warm.any()
    assert pricing.floor(bound.total, bound.limit, 2) <= pricing.supremum
    before = pricing.n_cells
    pricing.set_prices(bound.prices)
    pricing.open_boxes(low[:100], high[:100], False, warm[:100])
    assert pricing.supremum == math.inf  # there are more
    pricing.open_boxes(low[100:], high[100:], True, warm[100:])
    assert pricing.n_cells == before + len(upper) and pricing.n_open == len(upper)
    assert max(bound.attained, np.median(upper)) <= pricing.supremum < math.inf
    with pytest.raises(ValueError, match="not theirs"):
        pricing.open_boxes(low, high, True, warm[:, :-1])


def test_a_height_between_those_of_the_list_is_what_merging_allows(monkeypatch):
    problem, label = problem_of("normal", 3_000)
    family, vector, value = best_fit(problem, label)
    tried, attempt = [], RaisedBound._try
    monkeypatch.setattr(RaisedBound, "_try", lambda self, *at: tried.append(at[0]) or attempt(self, *at))
    bound = RaisedBound(family, problem, vector, value - 1e-3)
    while bound.phase != "search":
        assert bound.step(math.inf)
    assert tried == sorted(tried, reverse=True) and tried[-1] == bound.height
    assert bound.height not in raised.HEIGHTS
    # merged components save less than the others, but not by much
    saved = bound.some.values(bound.prices, bound.merged_costs).max() / bound.attained
    assert 0.85 < saved <= raised.MERGED + 1e-9


def best_of(one, columns, mass):
    """The parameters that are the best for a column."""
    share = mass / mass.sum()
    x, y = columns[:2] - (columns[:2] @ share)[:, None]
    v, xy = share @ np.square(x), share @ (x * y)
    b = xy / (v + one.ridge)
    return np.array([*(columns[:2] @ share), v, b, max(0.0, share @ np.square(y) - b * xy)])


@pytest.mark.parametrize("n", [300, 2_500, 12_000])
def test_no_component_saves_more_of_groups_than_its_cell_says(n):
    """Multiplier by multiplier groups say no less than the samples: products are a column of their own."""
    problem, _ = problem_of("normal", n)
    family = engine.family(problem)
    one = family.one_component(problem)
    columns, weights = family.data.arrays()
    exact, by_groups = ComponentPricing(one), GroupedPricing(one)
    scale = np.append(columns[:2].std(axis=1), np.inf)
    by_groups.take_groups(SampleGroups(columns, weights, scale, product=True))
    rng, excess = np.random.default_rng(n), []
    for _ in range(10):
        z = (columns[:2] - columns[:2, rng.integers(n)][:, None]) / columns[:2].std(axis=1)[:, None]
        prices = rng.uniform(1, 6) + rng.uniform(0, 1) * np.square(z).sum(axis=0)
        prices += rng.choice([0, 1.0]) * rng.normal(size=n)
        exact.set_prices(prices)
        by_groups.set_prices(prices)
        root = np.array(exact.root())
        for _ in range(8):
            drawn = any_component(exact, prices, weights, rng, lambda mass: best_of(one, columns, mass))
            if drawn is None:
                continue
            point, value = drawn
            size = (root[1] - root[0]) * 10.0 ** rng.uniform(-5, -0.5, len(root[0]))
            low, high = np.maximum(root[0], point - size), np.minimum(root[1], point + size)
            q = rng.exponential(size=one.n_facets) * 10.0 ** rng.uniform(-3, 0.5) * rng.integers(0, 2)
            own = exact.bound_cell(low, high, multipliers=q)
            assert by_groups.bound_cell(low, high, multipliers=q) >= own - 1e-9 * (1 + abs(own))
            found = by_groups.bound_cell(low, high, cutoff=value * rng.uniform(0.0, 1.0))
            assert found >= value - 1e-9 * (1 + abs(value))
            excess.append((found - value) / (1.0 + abs(value)))
            # nor where passes of many groups end early, as a minorant is said to lose as much
            warm = np.zeros((1, one.n_facets + 1), dtype=np.float32)
            warm[0, -1] = 10.0 ** rng.uniform(-3, 5)
            *_, upper, _, _, _ = by_groups.bounds_of(prices, low[None], high[None], np.array([0.5 * value]), warm)
            assert upper[0] >= value - 1e-9 * (1 + abs(value))
            # choosing where to divide a cell reads no variance that is none
            by_groups.open_boxes(low[None], high[None])
            by_groups.search(0.0, 1e300, 3, 1e-6, max_cells=3)
            assert by_groups.supremum >= value - 1e-9 * (1 + abs(value))
    assert min(excess) < 0.1


@pytest.mark.parametrize("shape", ["normal", "overlapping", "ties"])
def test_merged_components_save_what_merging_says(shape, monkeypatch):
    """At least the savings of both less what the mixture with one in their place costs more (U6)."""
    problem, label = problem_of(shape, 900)
    family, vector, value = best_fit(problem, label)
    pair = engine.family(gopfast.GaussianMixture(problem.X, 2, covariance="full", sample_weight=problem.sample_weight,
                                                 variance_floor=0.05))  # fmt: skip
    monkeypatch.setattr(raised, "HEIGHTS", (0.3, 1.0, 2.0))
    monkeypatch.setattr(RaisedBound, "_begin_search", lambda self: iter(()))
    bound = RaisedBound(family, problem, vector, value)
    for name in ("MERGED", "SLACK", "LOSS"):
        monkeypatch.setattr(raised, name, math.inf)
    assert bound.step(math.inf)
    for _ in range(3):
        assert bound.step(math.inf)
        saved = bound.pricing.climb(bound.atoms, 0)[0]
        both = bound.pricing.climb(bound.merged, 0)[0]
        lost = value - (bound.total - saved.sum())
        for (j, k), found in zip(((0, 1), (0, 2), (1, 2)), both[:3], strict=True):
            other = ({0, 1, 2} - {j, k}).pop()
            weights = np.array([vector[j] + vector[k], vector[other]])
            points = np.concatenate([bound.merged[{(0, 1): 0, (0, 2): 1, (1, 2): 2}[j, k]], bound.atoms[other]])
            # no step of EM: the value of the merged mixture itself, from its costs
            costs = np.array([bound.pricing.costs_at(point)[0] for point in points.reshape(2, -1)])
            logs = np.log(weights)[:, None] - costs
            merged = -bound.weights @ np.logaddexp(*logs) + pair.constant
            assert found >= saved[j] + saved[k] - (merged - value) - lost - 1e-6 * (1 + abs(value))


@pytest.mark.parametrize("shape", ["normal", "overlapping", "ties", "heavy"])
def test_what_prices_lose_is_what_they_are_below_the_solution(shape):
    """By any prices of the solution's own components; no sample loses more than it may."""
    rng = np.random.default_rng(0)
    K, n = 3, 400
    problem, label = problem_of(shape, n, K, covariance="spherical")
    family, vector, value = best_fit(problem, label)
    one = ComponentPricing(family.one_component(problem))
    costs = np.array([one.costs_at(point)[0] for point in vector[K:-1].reshape(K, -1)])
    _, weights = family.data.arrays()
    prices = RaisedPrices(costs, np.log(vector[:K]), weights)
    assert weights @ prices.own + family.constant == pytest.approx(value)
    assert prices.masses.sum() == pytest.approx(weights.sum())
    for ambiguous in (1e-2, 1e-4):
        each = rng.uniform(0.0, 2.0, K)
        found = prices.at(each, ambiguous)
        above = found - prices.own
        assert (above >= 0.0).all() and (above <= each[prices.labels] + 1e-12).all()
        assert (0.5 * prices.rest * above**2 <= ambiguous * (1 + 1e-9)).all()
        one.set_prices(found)
        values = prices.values(found)
        exact = [saved_at(one, point, found, weights) for point in vector[K:-1].reshape(K, -1)]
        assert values == pytest.approx(exact, rel=1e-6, abs=1e-6)
        total = weights @ found + family.constant
        assert prices.lost(found, values) == pytest.approx(value - (total - K * values.max()), abs=1e-6 * value)
        assert prices.lost(found, values) >= -1e-6 * value
        spread = [last.max() - last.min() for _, _, last in prices.equal(each, ambiguous)]
        assert spread[-1] <= spread[0]
    some = prices.drawn(np.arange(0, n, 4))
    assert some.weights.sum() == pytest.approx(weights.sum())


def test_it_is_for_components_of_few_parameters_and_many_samples():
    rng = np.random.default_rng(0)

    def applies(n, d, K, covariance):
        problem = gopfast.GaussianMixture(rng.normal(size=(n, d)), K, covariance=covariance)
        return has_raised_prices(engine.family(problem))

    assert applies(10_000, 6, 2, "spherical") and applies(10_000, 4, 2, "diag") and applies(10_000, 4, 6, "known")
    assert not applies(10_000, 7, 2, "spherical") and not applies(10_000, 5, 2, "diag")
    assert not applies(10_000, 4, 5, "known") and not applies(10_000, 6, 8, "known")
    assert not applies(10_000, 3, 8, "known")
    assert not applies(2_999, 3, 2, "diag") and not applies(10_000, 2, 2, "tied_spherical")
    assert applies(3_000, 3, 2, "diag") and applies(3_000, 5, 2, "spherical") and not applies(9_999, 4, 6, "known")
    assert applies(1_000, 4, 2, "diag") and not applies(999, 4, 2, "diag") and not applies(9_999, 6, 2, "spherical")
    family = engine.family(gopfast.GaussianMixture(rng.normal(size=(5_000, 6)), 2, covariance="diag"))
    assert has_raised_prices(family, 3) and not has_raised_prices(family, 2)  # blocks of so many columns
    assert not has_raised_prices(family, most=5) and has_raised_prices(family, most=6)


def test_no_height_is_tried_at_which_a_merged_component_would_save_all():
    """Far below the others' value no height is left, and none below 0."""
    problem, label = problem_of("normal", 1_200)
    bound = RaisedBound(engine.family(problem), problem, best_fit(problem, label)[1], 0.0)
    bound.heights, bound.height = [], 1.0
    for height in (-0.3, 0.0):
        bound._insert(height)
        assert bound.heights == []
    bound._insert(0.5)
    assert len(bound.heights) == 1 and 0.0 < bound.heights[0] < 0.5


@pytest.mark.parametrize("covariance", ["diag", "spherical"])
def test_variances_of_clusters_that_are_apart_are_nearly_proved(covariance):
    problem, label = problem_of("normal", 10_000, 2, seed=1, covariance=covariance)
    family, vector, value = best_fit(problem, label)
    assert has_raised_prices(family)
    bound = RaisedBound(family, problem, vector, value - 1e-3)
    while bound.step(math.inf):
        pass
    assert value - 1e-4 * 10_000 <= bound.lower <= value


@pytest.mark.parametrize(("n", "K"), [(1_200, 2), (5_000, 2)])
def test_clusters_that_are_apart_are_nearly_proved(n, K):
    problem, label = problem_of("normal", n, K, seed=1)
    family, vector, value = best_fit(problem, label)
    assert has_raised_prices(family)
    bound = RaisedBound(family, problem, vector, value - 1e-3)
    while bound.step(math.inf) and bound.level < 1:
        pass
    assert value - 0.005 * n <= bound.lower <= value


def test_a_light_cluster_that_is_cheaply_merged_has_low_prices():
    # what merging the lightest costs is little beside what the heaviest would save at prices of 0.35
    problem, label = problem_of("normal", 3_000, K=3, seed=3)
    weights = np.where(label == 2, 0.02, 1.0)
    problem = gopfast.GaussianMixture(problem.X, 3, sample_weight=weights, variance_floor=0.05)
    family, vector, value = best_fit(problem, label)
    bound = RaisedBound(family, problem, vector, value - 1e-3)
    while bound.step(math.inf) and bound.phase != "search":
        pass
    assert bound.phase == "search" and bound.height < 0.35
    while bound.step(math.inf) and bound.pricing.n_cells < 4_000:
        pass
    assert -math.inf < bound.lower <= value


def test_the_search_takes_it_and_agrees_with_the_one_without():
    problem, _ = problem_of("normal", 1_100, K=2, seed=2)
    told = gopfast.solve(problem, epsilon=2.0, time_limit=60, log=False)
    with gopfast.settings(raised=False):
        other = gopfast.solve(problem, epsilon=2.0, time_limit=60, log=False)
    assert told.lower_bound <= other.objective + 1e-6
    assert other.lower_bound <= told.objective + 1e-6
    assert told.profile["raised"].calls > 0
    assert told.gap <= 2.0


def test_it_is_the_same_on_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(raised, "MOST_CELLS", (500, 1_500))
    problem, label = problem_of("normal", 1_100)
    family, vector, value = best_fit(problem, label)
    told = []
    for threads in (1, 2):
        bound = RaisedBound(family, problem, vector, value - 1e-3, threads)
        while bound.step(math.inf):
            pass
        told.append((bound.lower, bound.n_terms, bound.pricing.n_cells))
    assert told[0] == told[1]
