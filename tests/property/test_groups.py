"""Groups of samples by moments: no bound of theirs may be below what the samples themselves save."""

import numpy as np
import pytest
from gopfast.mixtures.pricing.group_pricing import GroupedPricing
from gopfast.mixtures.pricing.pricing import ComponentPricing
from gopfast.mixtures.pricing.sample_groups import SampleGroups
from gopfast.mixtures.shared.shared_cuts import SharedReduction

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.closed_form import ceiling
from gopfast.mixtures.pricing import grouped
from gopfast.mixtures.pricing.grouped import GroupedBound
from tests.support.savings import any_component, best_known, best_of

KINDS = ["known", "spherical", "diag"]


def clusters(seed, n, d, gap=4.0):
    """Samples (n, d) with weights, of three clusters of different widths."""
    rng = np.random.default_rng(seed)
    label = rng.integers(3, size=n)
    centers = gap * np.array([[0, 0, 0], [1, 0, 0.3], [0.2, 1, 0]])[:, :d]
    X = centers[label] + rng.standard_normal((n, d)) * np.array([1.0, 1.4, 0.8])[label, None]
    return X, rng.choice([0.5, 1, 2], n)


def awkward(shape, rng, n, d):
    """Samples (d, n) that are not normal."""
    if shape == "heavy":
        return rng.standard_t(1.5, (d, n))
    if shape == "ties":
        return rng.integers(0, 4, (d, n)).astype(float)
    if shape == "constant":
        columns = rng.standard_normal((d, n))
        columns[-1] = 3.25
        return columns
    if shape == "offset":
        return 2.0**40 + rng.standard_normal((d, n))
    return np.exp(rng.standard_normal((d, n)))


def hold(moments, weights, y, size):
    """Groups' moments are no better than those of what samples save, y (n,), of terms of this size (n,)."""
    parts, mass, mean, variance, low, high, most = moments
    assert sum(len(part) for part in parts) == len(y) and len(parts) == len(mass)
    for g, part in enumerate(parts):
        w, error = weights[part] / weights[part].sum(), 1e-13 * size[part].max()
        own = w @ y[part]
        assert mass[g] == pytest.approx(weights[part].sum(), rel=1e-12)
        assert mean[g] >= own - error
        assert low[g] <= y[part].min() + error and high[g] >= y[part].max() - error
        assert variance[g] >= w @ np.square(y[part] - own) * (1 - 1e-9) - error**2
        assert most[g] >= w @ np.exp(np.minimum(y[part], 600.0)) * (1 - 1e-9 - error)


@pytest.mark.parametrize("shape", ["heavy", "ties", "constant", "offset", "skewed"])
@pytest.mark.parametrize(("n", "d"), [(40, 1), (700, 2), (1_500, 3), (1_100, 7)])
def test_moments_and_ranges_hold_every_sample(shape, n, d):
    rng = np.random.default_rng([n, d, len(shape)])
    columns, weights = awkward(shape, rng, n, d), rng.choice([0.3, 1.0, 7.0], n)
    groups, middle = SampleGroups(columns, weights, np.ones(d)), columns.mean(axis=1)
    assert sorted(groups.ordered()) == list(range(n))
    for turn in range(4):
        z = columns - middle[:, None]
        prices = rng.normal(size=n) * rng.choice([0.0, 1.0]) + rng.normal(size=d) @ z + 0.3 * np.square(z).sum(axis=0)
        groups.set_prices(prices)
        costs = np.zeros((4, d))
        costs[0] = middle + rng.normal(size=d) * rng.choice([0.0, 2.0])
        costs[1], costs[2] = rng.normal(size=d), rng.exponential(size=d) * rng.choice([0.1, 1.0, 30.0])
        costs[3, 0] = rng.normal()
        from_center = columns - costs[0][:, None]
        y = prices + costs[3, 0] - costs[1] @ from_center - costs[2] @ np.square(from_center)
        size = np.abs(prices) + np.abs(costs[1]) @ np.abs(from_center) + costs[2] @ np.square(from_center) + 1.0
        for level in range(groups.n_levels):
            found = groups.moments(level, costs)
            parts, _, mean, variance, low, high, _ = found
            hold(found, weights, y, size)
            for g, part in enumerate(parts):
                w, error = weights[part] / weights[part].sum(), 1e-13 * size[part].max()
                # and the bound of what it saves
                exact = w @ np.maximum(0.0, y[part])
                bound = 0.5 * (mean[g] + np.sqrt(mean[g] ** 2 + variance[g]))
                assert bound >= exact - error
                if low[g] < 0.0 < high[g]:
                    assert (mean[g] - low[g]) * high[g] / (high[g] - low[g]) >= exact - 2 * error
            if turn == 0 and len(parts) == n:  # of one sample nothing is lost but rounding
                assert np.max(np.sqrt(variance) / size[np.concatenate(parts)]) < 1e-5


@pytest.mark.parametrize("shape", ["normal", "heavy", "ties", "constant", "offset", "skewed"])
@pytest.mark.parametrize("n", [40, 700, 2_600])
def test_moments_and_ranges_of_products_hold_every_sample(shape, n):
    """Costs are linear in the product of two columns, which groups know as the product about their centers."""
    rng = np.random.default_rng([n, len(shape)])
    pair = rng.standard_normal((2, n)) if shape == "normal" else awkward(shape, rng, n, 2)
    columns, weights = np.vstack([pair, pair[:1] * pair[1:]]), rng.choice([0.3, 1.0, 7.0], n)
    groups = SampleGroups(columns, weights, np.array([1.0, 1.0, np.inf]), product=True)
    assert sorted(groups.ordered()) == list(range(n))
    middle, narrow = columns.mean(axis=1), 0
    for _ in range(4):
        z = pair - middle[:2, None]
        prices = rng.normal(size=n) * rng.choice([0.0, 1.0]) + rng.normal() * z[0] * z[1]
        prices += rng.normal(size=2) @ z + 0.3 * np.square(z).sum(axis=0)
        groups.set_prices(prices)
        costs = np.zeros((4, 3))
        costs[0, :2] = middle[:2] + rng.normal(size=2) * rng.choice([0.0, 2.0])
        costs[0, 2] = costs[0, 0] * costs[0, 1]
        slope, curved = rng.normal(), rng.exponential(size=2) * rng.choice([0.1, 1.0, 30.0])
        # a quadratic about its center, whose linear terms in the columns cancel those of the product
        costs[1], costs[2, :2] = [-slope * costs[0, 1], -slope * costs[0, 0], slope], curved
        costs[3, 0] = rng.normal()
        from_center = columns - costs[0][:, None]
        y = prices + costs[3, 0] - costs[1] @ from_center - costs[2] @ np.square(from_center)
        size = np.abs(prices) + np.abs(costs[1]) @ (np.abs(columns) + np.abs(costs[0][:, None])) + 1.0
        size += costs[2] @ np.square(from_center)
        for level in range(groups.n_levels):
            found = groups.moments(level, costs)
            parts, *_, low, high, _ = found
            hold(found, weights, y, size)
            for g, part in enumerate(parts):
                error = 1e-13 * size[part].max()
                narrow += high[g] - low[g] < 3.0 * (y[part].max() - y[part].min()) + error
    assert narrow  # about the groups' centers ranges are short
    with pytest.raises(ValueError, match="third of three"):
        SampleGroups(pair, weights, np.ones(2), product=True)


def problem_of(kind, seed, n, d, K, gap=4.0, offset=0.0):
    X, weights = clusters(seed, n, d, gap)
    extra = {} if kind == "known" else {"variance_floor": 0.05 * d}
    return gopfast.GaussianMixture(X + offset, K, covariance=kind, sample_weight=weights, **extra)


def pricings(problem):
    family = engine.family(problem)
    one = family.one_component(problem)
    columns, weights = family.data.arrays()
    by_groups = GroupedPricing(one)
    by_groups.take_groups(SampleGroups(columns, weights, columns.std(axis=1) + 1e-9))
    return family, ComponentPricing(one), by_groups


@pytest.mark.parametrize("kind", KINDS)
def test_cells_over_groups_begin_without_their_parents_multipliers(kind):
    """Whatever multipliers are handed on, bounds are those of none; over the samples they are others."""
    _, exact, by_groups = pricings(problem_of(kind, 5, 900, 2, 3))
    rng = np.random.default_rng(5)
    columns, _ = exact.family.data.arrays()
    prices = 3.0 + np.square((columns - columns[:, :1]) / columns.std(axis=1)[:, None]).sum(axis=0)
    low, high = exact.root()
    at = low + rng.uniform(0.1, 0.5, (20, len(low))) * (high - low)
    cells, below = (at, at + 0.3 * (high - low)), np.full(20, -np.inf)
    changed = []
    for pricing in (exact, by_groups):
        begins = [np.zeros((20, pricing.n_warm), dtype=np.float32) for _ in range(2)]
        begins[1][:, : exact.family.n_facets] = rng.exponential(size=(20, exact.family.n_facets))
        none, some = (pricing.bounds_of(prices, *cells, below, begin)[2] for begin in begins)
        changed.append(np.any(none != some))
    assert changed == [True, False]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "d"), [(300, 2), (6_000, 2), (2_500, 3)])
def test_no_component_saves_more_than_its_cell_says(kind, n, d):
    """Multiplier by multiplier it is no less than the pass over the samples; and no less than G anywhere in a cell."""
    _, exact, by_groups = pricings(problem_of(kind, 3, n, d, 3))
    columns, weights = exact.family.data.arrays()
    rng, excess = np.random.default_rng(n + d), []
    for _ in range(12):
        z = (columns - columns[:, rng.integers(n)][:, None]) / columns.std(axis=1)[:, None]
        prices = rng.uniform(0, 6) + rng.uniform(0, 1) * np.square(z).sum(axis=0)
        prices += rng.choice([0, 1.0]) * rng.normal(size=n)
        exact.set_prices(prices)
        by_groups.set_prices(prices)
        root = np.array(exact.root())
        for _ in range(8):
            drawn = any_component(exact, prices, weights, rng, lambda mass: best_of(kind, columns, mass))
            if drawn is None:
                continue
            point, value = drawn
            size = (root[1] - root[0]) * 10.0 ** rng.uniform(-6, -0.3, len(point))
            part = rng.choice([0.0, 0.5, 1.0], len(point))
            low, high = np.maximum(root[0], point - part * size), np.minimum(root[1], point + (1 - part) * size)
            low = np.minimum(low, high)
            q = rng.exponential(size=exact.family.n_facets) * 10.0 ** rng.uniform(-3, 0.5) * rng.integers(0, 2)
            own = exact.bound_cell(low, high, multipliers=q)
            assert by_groups.bound_cell(low, high, multipliers=q) >= own - 1e-9 * (1 + abs(own))
            found = by_groups.bound_cell(low, high, cutoff=value * rng.uniform(0.0, 1.0))
            assert found >= value - 1e-9 * (1 + abs(value))
            excess.append((found - own) / (1.0 + own))
    assert min(excess) < 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_a_proved_supremum_exceeds_what_ascents_reach(kind):
    """From many starts, at prices of a mixture and at others."""
    family, exact, by_groups = pricings(problem_of(kind, 5, 3_000, 2, 3))
    vector = best_known(family, starts=8, tolerance=1e-12, most=3000)[0]
    bound = GroupedBound(family, problem_of(kind, 5, 3_000, 2, 3), vector, np.inf)
    while bound.phase != "search":
        assert bound.step(np.inf)
    rng = np.random.default_rng(0)
    for prices in (bound.prices, bound.prices + 0.4, bound.prices * 0.9):
        exact.set_prices(prices)
        by_groups.set_prices(prices)
        by_groups.open_boxes(*[side[None] for side in by_groups.root()])
        by_groups.search(0.0, 1e300, 3, 1.0, max_cells=400)
        values, _ = exact.climb(np.concatenate([exact.seeded(rng, 60), by_groups.cells()[3][:60]]), 60)
        assert by_groups.supremum >= values.max() - 1e-9 * (1 + values.max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("d", "n", "gap"), [(2, 3_000, 6.0), (2, 2_500, 3.0), (3, 2_200, 6.0)])
@pytest.mark.parametrize("excess", [0.01, 30.0])
def test_a_solution_below_the_limit_is_never_ruled_out(kind, d, n, gap, excess):
    """The limit lies above a known value, so that no search may end by proof, and no bound may exceed that value."""
    problem = problem_of(kind, 7 + d, n, d, 3, gap)
    family = engine.family(problem)
    vector, value = best_known(family, starts=8, tolerance=1e-12, most=3000)
    bounds = []

    def make(solution, limit):
        bounds.append(GroupedBound(family, problem, solution, limit))
        bounds[0].tolerances = bounds[0].tolerances[:3]
        return bounds[0]

    reduction = SharedReduction(family, make)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouped, "MOST_CELLS", 3_000)
        reduction.learn_all(vector, value + excess)
    assert not reduction.closed
    assert -np.inf < reduction.floor <= value + 1e-9 * (1 + abs(value))
    if gap == 6.0 and d == 2:
        assert reduction.floor >= value - 1e-3 * n  # it does say something


@pytest.mark.parametrize("kind", KINDS)
def test_prices_of_a_part_of_the_samples_are_carried_over_to_all(kind, monkeypatch):
    monkeypatch.setattr(grouped, "PARTS", (1_000, 4_000))
    problem = problem_of(kind, 4, 12_000, 2, 3, 7.0)
    family = engine.family(problem)
    vector, value = best_known(family, starts=8, tolerance=1e-12, most=3000)
    bound = GroupedBound(family, problem, vector, value)
    while bound.level < 1 and bound.step(np.inf):
        pass
    assert value - 0.02 * 12_000 <= bound.lower <= value + 1e-6


@pytest.mark.parametrize(("d", "K", "first", "open_part"), [(2, 3, 15, 0.1), (3, 4, 20, 0.6)])
def test_any_prices_give_a_bound_within_few_steps(d, K, first, open_part):
    """Of one cloud, whose prices a part of the samples and its atoms know badly; counted are steps, not seconds."""
    X = np.random.default_rng(5).normal(size=(12_000, d)) * np.linspace(1.0, 2.0, d)
    problem = gopfast.GaussianMixture(X, K, covariance="diag", variance_floor=0.1)
    family = engine.family(problem)
    vector, value = best_known(family, starts=2, tolerance=1e-12, most=60)
    bound, lower = GroupedBound(family, problem, vector, value), []
    for _ in range(36):
        assert bound.step(np.inf)
        lower.append(bound.lower)
    assert (np.diff(lower[first:]) >= 0.0).all() and lower[-1] <= value + 1e-6
    least = ceiling.least_objective(problem)
    assert np.isfinite(lower[first]) and lower[-1] >= value - open_part * (value - least)


def test_without_a_time_limit_it_ends_and_the_search_has_its_turn():
    """The atoms all save the same: had only one of them been looked at, no cell would ever be as good as it seems."""
    problem = problem_of("known", 3, 3_000, 2, 3)
    family = engine.family(problem)
    vector, value = best_known(family, starts=8, tolerance=1e-12, most=3000)
    bound = GroupedBound(family, problem, vector, value - 1e-3)
    n_steps = 0
    while bound.step(np.inf):
        n_steps += 1
    assert n_steps < 200 and bound.pricing.n_spent < 30_000_000
    assert value - 0.5 <= bound.lower <= value + 1e-6


def test_passes_that_would_take_more_groups_than_a_pass_over_the_samples_costs_are_of_these():
    """So that of few samples, and around the atoms, nothing is lost."""
    _, exact, by_groups = pricings(problem_of("diag", 3, 2_000, 2, 3))
    columns, _ = exact.family.data.arrays()
    prices = 3.0 + 0.3 * np.square((columns - columns.mean(axis=1)[:, None]) / columns.std(axis=1)[:, None]).sum(axis=0)
    exact.set_prices(prices)
    by_groups.set_prices(prices)
    values, points = exact.climb(exact.seeded(np.random.default_rng(0), 5), 20)
    for value, point in zip(values, points, strict=True):
        found = by_groups.bound_cell(point, point, cutoff=value * (1 - 1e-9))
        assert value * (1 - 1e-9) <= found <= value * (1 + 1e-9)


@pytest.mark.parametrize("kind", [*KINDS, "full"])
def test_samples_in_the_place_of_groups_lose_nothing(kind):
    """Around a component groups alone would lose too much: some of the samples take their place, and not all."""
    problem = problem_of(kind, 3, 9_000, 2, 3, 9.0)
    family = engine.family(problem)
    one, (columns, weights) = family.one_component(problem), family.data.arrays()
    exact, by_groups = ComponentPricing(one), GroupedPricing(one)
    scale = np.where(np.arange(len(columns)) < 2, columns.std(axis=1), np.inf)
    by_groups.take_groups(SampleGroups(columns, weights, scale, product=kind == "full"))
    vector = best_known(family, starts=4, tolerance=1e-12, most=500)[0]
    points = vector[3:-1].reshape(3, -1)
    costs = np.array([exact.costs_at(point)[0] for point in points])
    prices = 1.0 - np.log(vector[:3] @ np.exp(-costs))
    exact.set_prices(prices)
    by_groups.set_prices(prices)
    values, points = exact.climb(points, 300)
    few = 0
    for value, point in zip(values, points, strict=True):
        for cutoff in (value * (1 - 1e-6), value * (1 - 1e-3), 0.5 * value):
            passes, terms = by_groups.n_passes, by_groups.n_terms - by_groups.n_groups
            assert value * (1 - 1e-9) <= by_groups.bound_cell(point, point, cutoff=cutoff) <= value + (value - cutoff)
            taken = by_groups.n_terms - by_groups.n_groups - terms
            few += 0 < taken < 0.5 * len(weights) * (by_groups.n_passes - passes)
    assert few


@pytest.mark.parametrize("offset", [0.0, 2.0**30])
def test_searches_with_groups_agree_with_those_without(offset, monkeypatch):
    monkeypatch.setattr(grouped, "FEWEST", 2_000)
    problem = problem_of("diag", 2, 2_400, 2, 3, 7.0, offset)
    plain = gopfast.solve(problem, 0.05, relaxation="entropic", max_nodes=50)
    found = gopfast.solve(problem, 0.05, max_nodes=50)
    assert found.lower_bound <= min(plain.objective, found.objective) + 1e-9
    assert found.gap <= plain.gap


def test_the_number_of_threads_changes_nothing(monkeypatch):
    monkeypatch.setattr(grouped, "FEWEST", 2_000)
    problem = problem_of("diag", 4, 3_000, 2, 3, 7.0)
    found = [gopfast.solve(problem, 0.5, max_nodes=20, n_threads=n) for n in (1, 2)]
    assert len({(one.lower_bound, one.objective, one.n_nodes) for one in found}) == 1
