"""The bound of many samples in many columns by blocks that overlap."""

import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import gopfast
from gopfast.mixtures import engine, mechanisms
from gopfast.mixtures.plan import MixturePlan
from gopfast.mixtures.pricing import cover, raised
from gopfast.mixtures.pricing.cover import (
    CoverBound,
    best_weights,
    copies_of,
    hulls,
    is_covered,
    members_of,
    subsets,
    together,
)
from gopfast.mixtures.pricing.grouped import GroupedBound
from gopfast.mixtures.pricing.raised import RaisedBound
from gopfast.mixtures.solve import MixtureSearch
from gopfast.options import Options
from tests.support.problems import objectives_on_the_way
from tests.support.savings import best_known

SHAPES = ["normal", "heavy", "ties", "constant", "offset", "skewed"]


def samples(shape, rng, n, d, apart):
    """Two or three clusters (n, d), of which some columns are not normal."""
    label = rng.integers(3, size=n)
    X = apart * rng.standard_normal((3, d))[label]
    if shape == "heavy":
        X += rng.standard_t(1.5, (n, d))
    elif shape == "ties":
        X = np.round(X + rng.standard_normal((n, d)))
    elif shape == "skewed":
        X += np.exp(rng.standard_normal((n, d)))
    else:
        X += rng.standard_normal((n, d)) * rng.uniform(0.5, 2.0, d)
    if shape == "constant":
        X[:, 1] = 3.25
        X[:, 2] = 3.25 + 1e-9 * X[:, 2]
    return X + 2.0**40 if shape == "offset" else X


def problem_of(seed, shape, n, d, K, apart=4.0, covariance="diag"):
    rng = np.random.default_rng(seed)
    X = samples(shape, rng, n, d, apart)
    floor = np.maximum(0.02 * X.var(axis=0), 1e-3)
    floor = floor if covariance == "diag" else floor.mean()
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], n)
    return gopfast.GaussianMixture(X, K, covariance=covariance, variance_floor=floor, sample_weight=weights)


def least_known(problem, seed=0, starts=20):
    """The family, the best mixture that EM finds from many starts, and its objective."""
    family = engine.family(problem)
    return family, *best_known(family, seed, starts)


def learnt(bound, most, limits=None, enough=math.inf):
    """Take steps; `limits`, if given, takes the place of those of the blocks, which would hide bounds too high."""
    for _ in range(most):
        if not bound.step(math.inf) or bound.lower >= enough:
            break
        for block in bound.blocks:
            if limits is not None:
                block.bound.limit = limits
    return bound


def g(variances):
    """Cost of a column per unit of mass, at a component's variance, in units of the floor."""
    return 0.5 * np.log(2 * np.pi * np.maximum(variances, 1)) + variances / (2 * np.maximum(variances, 1))


def costs(r, columns, weights):
    """I(r), variances (K, d) and masses (K,) of responsibilities (K, n), by definition."""
    mass = r * weights
    S = mass.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.nansum(mass * np.log(r * weights.sum() / S[:, None]))
    means = mass @ columns.T / S[:, None]
    spread = np.square(columns - means[:, :, None])
    return information, np.einsum("kn,kdn->kd", mass, spread) / S[:, None], S


@pytest.mark.parametrize("seed", range(20))
def test_no_sum_of_weights_exceeds_one(seed):
    """In exact arithmetic, of blocks of any values."""
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(3, 9)), int(rng.integers(1, 40))
    blocks = [(rng.choice(d, rng.integers(1, d), replace=False), 2 ** int(rng.integers(3))) for _ in range(n)]
    values = rng.normal(size=n) * 10.0 ** rng.uniform(-6, 9)
    weights = best_weights(values, members_of(blocks, d))
    exact = [Fraction(float(weight)) for weight in weights]
    assert min(exact) >= 0 and sum(exact) <= 1
    for a in range(d):
        counted = (weight * copies for weight, (columns, copies) in zip(exact, blocks, strict=True) if a in columns)
        assert sum(counted) <= 1
    assert all(weight == 0 for weight, value in zip(exact, values, strict=True) if value < 0)


def test_weights_are_the_best():
    """Three pairs of three columns, each counted twice, by a half, and so a quarter of each pair is too little."""
    members = members_of([((0, 1), 2), ((0, 2), 2), ((1, 2), 2)], 3)
    np.testing.assert_allclose(best_weights(np.ones(3), members), 0.25, rtol=1e-9)
    np.testing.assert_allclose(best_weights(np.array([3.0, 1.0, 1.0]), members), [0.5, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(best_weights(np.zeros(3), members), 0.0)


@pytest.mark.parametrize("covariance", ["diag", "spherical"])
@pytest.mark.parametrize("seed", range(10))
def test_no_responsibilities_cost_less_than_the_blocks_together(seed, covariance):
    """The inequality itself, of random responsibilities and blocks."""
    rng = np.random.default_rng(seed)
    n, d, K = 40, int(rng.integers(4, 8)), int(rng.integers(2, 5))
    columns = rng.uniform(0.2, 9.0, d)[:, None] * rng.standard_normal((d, n))
    weights = rng.choice([0.5, 1.0, 2.0], n)
    tried = [(block, copies) for block in subsets(d, 2 + seed % 2, np.arange(d), rng) for copies in (1, 2, 4)]
    for _ in range(10):
        r = rng.dirichlet(np.full(K, 10.0 ** rng.uniform(-2, 1)), n).T
        information, variances, S = costs(r, columns, weights)
        assert information >= -1e-9

        def cost(block, variances=variances, S=S):
            own = variances[:, list(block)]
            return S @ (g(own).sum(axis=1) if covariance == "diag" else len(block) * g(own.mean(axis=1)))

        values = np.array([information + copies * cost(block) for block, copies in tried])
        total = information + cost(range(d))
        found = best_weights(values * rng.uniform(0.5, 1.0, len(tried)), members_of(tried, d)) @ values
        assert 0.5 * total < found <= total * (1 + 1e-9)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("seed", "d", "K", "covariance"), [(0, 4, 2, "diag"), (1, 5, 3, "diag"), (2, 5, 2, "spherical")]
)  # fmt: skip
def test_no_mixture_costs_less(seed, d, K, covariance, shape):
    """Limits are far above the optima, the blocks' too, so that they do not hide bounds that are too high."""
    problem = problem_of(seed, shape, 240, d, K, covariance=covariance)
    family, solution, objective = least_known(problem, seed)
    bound = learnt(CoverBound(family, solution, objective + 1e4), 60, limits=1e7)
    assert np.isfinite(bound.lower)
    assert bound.lower <= objective
    assert bound.lower <= min(objectives_on_the_way(problem, np.random.default_rng(seed), 5, 20))
    best = {(tuple(block.columns), block.copies): block.lower for block in [*bound.done, *bound.blocks]}
    for (columns, copies), lower in best.items():
        blocks_family, order = bound.all.family_of(list(columns), copies)
        _, value = min(bound.all.mixtures(blocks_family, order, bound.all.starts), key=lambda one: one[1])
        assert lower <= value


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("seed", "height"), [(0, 0.3), (1, 1.0), (2, 3.0)])
def test_no_mixture_costs_less_where_blocks_have_raised_prices(seed, height, shape, monkeypatch):
    """Of three columns, at prices of any height; limits are far above the optima."""
    for name, value in (("GROUPED", 100), ("HEIGHTS", (height,)), ("LOSS", 1e9), ("MERGED", 1e9), ("SLACK", 1e9)):
        monkeypatch.setattr(raised, name, value)
    monkeypatch.setattr(cover, "MOST_WHOLE", 0)
    problem = problem_of(seed, shape, 240, 5, 3, apart=6.0)
    family, solution, objective = least_known(problem, seed)
    bound = CoverBound(family, solution, objective + 1e4)
    bound.sizes = [3]
    learnt(bound, 60, limits=1e7)
    assert bound.lower == bound.at_work > -math.inf
    assert bound.lower <= objective
    assert bound.lower <= min(objectives_on_the_way(problem, np.random.default_rng(seed), 5, 20))
    assert all(isinstance(block.bound, RaisedBound) for block in bound.blocks)
    for block in bound.blocks:
        blocks_family, order = bound.all.family_of(list(block.columns), block.copies)
        _, value = min(bound.all.mixtures(blocks_family, order, bound.all.starts), key=lambda one: one[1])
        assert block.lower <= value


def apart(seed, shape, n, d, K, far=14.0):
    """Weighted clusters (n, d), neighbours so far apart in every column, of which some are not normal."""
    rng = np.random.default_rng([seed, d, K])
    label = rng.integers(K, size=n)
    X = rng.standard_normal((n, d)) * rng.uniform(0.7, 1.4, (K, d))[label]
    X += far * np.array([rng.permutation(K) for _ in range(d)]).T[label]
    if shape == "ties":
        X = np.round(X, 1)
    elif shape == "constant":
        X[:, 1] = 3.25
    elif shape == "skewed":
        X[:, 2] += np.exp(0.5 * rng.standard_normal(n))
    X += 2.0**30 if shape == "offset" else 0.0
    weights = rng.choice([0.5, 1.0, 2.0], n)
    return gopfast.GaussianMixture(X, K, covariance="diag", variance_floor=0.05, sample_weight=weights)


def responsibilities(solution, columns, K):
    """Of the components (K, n) of a mixture of diagonal ones, in the core's units."""
    d = len(columns)
    points = solution[K:-1].reshape(K, -1)
    variances = np.maximum(points[:, d:], 1.0)
    away = np.square(columns - points[:, :d, None]) / (2 * variances[:, :, None]) + 0.5 * np.log(variances)[:, :, None]
    parts = np.log(solution[:K])[:, None] - away.sum(axis=1)
    r = np.exp(parts - parts.max(axis=0))
    return r / r.sum(axis=0)


@pytest.mark.parametrize("shape", ["normal", "ties", "constant", "skewed", "offset"])
@pytest.mark.parametrize(("seed", "d", "K", "above"), [(0, 4, 2, 1.0), (1, 4, 3, 30.0), (2, 5, 2, 5.0)])
def test_boxes_that_blocks_leave_hold_the_components_of_all_better_mixtures(seed, d, K, above, shape, monkeypatch):
    """The limit lies above known values: responsibilities below it have components in the boxes."""
    monkeypatch.setattr(raised, "GROUPED", 1_000)
    monkeypatch.setattr(raised, "DRAWN", 500)
    monkeypatch.setattr(raised, "CONFINED_LOSS", 0.5)
    problem = apart(seed, shape, 1_200, d, K)
    family, solution, objective = least_known(problem, seed)
    bound = CoverBound(family, solution, objective + above, problem=problem)
    bound.sizes = [3]
    for _ in range(400):
        if not bound.step(math.inf) or bound.whole is not None:
            break
    assert bound.whole is not None
    low, high = bound.whole.boxes[:2]
    columns, weights = family.data.arrays()
    rng, n_near = np.random.default_rng(seed), 0
    best = responsibilities(solution, columns, K)
    for turn in range(300):
        # some of what a component has of one side of it goes to another one
        side = rng.standard_normal(d) @ columns > 0.0
        share = 10.0 ** rng.uniform(-6, -1) * (turn > 0) * side
        r = (1.0 - share) * best + share * np.roll(best, rng.integers(K), axis=0)
        information, variances, S = costs(r, columns, weights)
        if information + S @ g(variances).sum(axis=1) + family.constant >= bound.limit:
            continue
        n_near += 1
        for mean, variance in zip((r * weights) @ columns.T / S[:, None], variances, strict=True):
            point = np.concatenate([mean, variance])
            # a column may be narrower than the floor
            size = 1e-9 * (1 + np.abs(point)) + np.concatenate([np.zeros(d), variance <= 1.0])
            assert ((low <= point + size) & (point - size <= high)).all(axis=1).any()
    assert n_near > 10
    learnt(bound, 100)
    assert -math.inf < bound.lower <= objective + 1e-9 * (1 + abs(objective))
    assert bound.whole.lower <= objective + 1e-9 * (1 + abs(objective))


def test_prices_of_all_columns_prove_what_blocks_lose(monkeypatch):
    """Of clusters that are apart, where blocks lose what columns outside of them tell."""
    monkeypatch.setattr(raised, "GROUPED", 1_000)
    problem = apart(4, "normal", 2_000, 5, 3, far=3.0)
    family, solution, objective = least_known(problem)
    bound = CoverBound(family, solution, objective - 1e-3, problem=problem)
    bound.sizes = [3]
    for _ in range(600):
        if bound.whole is not None or not bound.step(math.inf):
            break
    before = bound.lower
    assert bound.whole is not None and before < objective - 0.1
    learnt(bound, 400)
    assert objective - bound.lower < 0.01 * (objective - before)
    assert bound.lower <= objective


def test_boxes_are_put_together_where_they_meet():
    """Hulls of cells that touch, then what is left where boxes of other sides meet these."""
    cells = np.array([[0.0, 1.0], [1.0, 1.0], [5.0, 1.0]]), np.array([[1.0, 2.0], [2.0, 3.0], [6.0, 2.0]])
    least, most = hulls(*cells)
    np.testing.assert_array_equal(least, [[0.0, 1.0], [5.0, 1.0]])
    np.testing.assert_array_equal(most, [[2.0, 3.0], [6.0, 2.0]])
    everything = np.full((1, 4), -np.inf), np.full((1, 4), np.inf)
    one = together(*everything, [0, 2], least, most)
    low, high = together(*one, [0, 1], np.array([[1.5, 7.0], [2.5, 8.0]]), np.array([[5.5, 7.5], [4.5, 9.0]]))
    np.testing.assert_array_equal(low, [[1.5, 7.0, 1.0, -np.inf], [5.0, 7.0, 1.0, -np.inf]])
    np.testing.assert_array_equal(high, [[2.0, 7.5, 3.0, np.inf], [5.5, 7.5, 2.0, np.inf]])
    assert len(together(low, high, [3], np.zeros((0, 1)), np.zeros((0, 1)))[0]) == 0
    assert hulls(cells[0][:0], cells[1][:0])[0].shape == (0, 2)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("seed", "height"), [(3, 0.3), (4, 2.0)])
def test_no_mixture_costs_less_where_all_columns_follow(seed, height, shape, monkeypatch):
    """Of five columns, from all components, at prices of any height; limits are far above the optima."""
    for name, value in (("GROUPED", 100), ("HEIGHTS", (height,)), ("LOSS", 1e9), ("MERGED", 1e9), ("SLACK", 1e9),
                        ("TOLD", -1.0)):  # fmt: skip
        monkeypatch.setattr(raised, name, value)
    problem = problem_of(seed, shape, 200, 5, 3, apart=6.0)
    family, solution, objective = least_known(problem, seed)
    bound = CoverBound(family, solution, objective + 1e4, problem=problem)
    bound.sizes = []
    assert bound._end_last()
    assert bound.whole.boxes is None
    steps = 0
    while bound.step(math.inf) and steps < 25:
        steps += 1
    assert -math.inf < bound.at_work <= bound.lower <= objective
    assert bound.lower <= min(objectives_on_the_way(problem, np.random.default_rng(seed), 5, 20))


def test_all_columns_follow_where_blocks_do_not_say_where_components_lie(monkeypatch):
    monkeypatch.setattr(raised, "GROUPED", 100)
    problem = problem_of(0, "normal", 240, 6, 2)
    family, solution, objective = least_known(problem, 0)
    for most, follow in ((6, True), (5, False)):
        monkeypatch.setattr(cover, "MOST_WHOLE", most)
        bound = CoverBound(family, solution, objective, problem=problem)
        bound.sizes = []
        assert bound._end_last() == follow == (bound.whole is not None)
        bound = CoverBound(family, solution, objective, problem=problem, first_look=True)
        bound.sizes = []
        assert not bound._end_last()


def test_columns_count_as_often_as_they_have_to_on_average():
    assert [copies_of(*sizes) for sizes in ((5, 3), (8, 3), (8, 2), (4, 3), (6, 3), (5, 2))] == [
        [1, 2], [2, 4], [4], [1, 2], [2], [2, 4]]  # fmt: skip


def test_larger_blocks_come_at_once_where_they_lose_far_less(monkeypatch):
    monkeypatch.setattr(raised, "GROUPED", 1_000)
    monkeypatch.setattr(cover, "FEW", 0)
    problem = apart(4, "normal", 1_200, 5, 3, far=3.0)
    family, solution, objective = least_known(problem, starts=5)
    for part, first in ((1.0, 3), (0.0, 2)):
        monkeypatch.setattr(cover, "AT_ONCE", part)
        bound = CoverBound(family, solution, objective, problem=problem)
        bound.step(math.inf)
        assert {len(block.columns) for block in bound.blocks} == {first}
        assert bound.sizes == ([] if first == 3 else [3])


def test_blocks_without_raised_prices_of_use_have_those_of_groups(monkeypatch):
    monkeypatch.setattr(raised, "GROUPED", 100)
    monkeypatch.setattr(raised, "HEIGHTS", ())
    problem = problem_of(0, "normal", 240, 4, 2)
    family, solution, objective = least_known(problem, 0)
    bound = CoverBound(family, solution, objective)
    bound.sizes = [3]
    learnt(bound, 80)
    assert all(isinstance(block.bound, GroupedBound) for block in bound.blocks)
    assert -math.inf < bound.lower <= objective


def test_a_block_whose_steps_gain_nothing_lets_others_pass():
    """The block of which most is missing stands still: all others have their turns."""
    problem = problem_of(0, "normal", 240, 4, 2)
    family, solution, objective = least_known(problem, 0)
    bound = CoverBound(family, solution, objective)
    bound.sizes = [3]
    bound.step(math.inf)
    while any(not math.isfinite(block.missing) for block in bound.blocks):
        bound.step(math.inf)
    stuck = max(bound.blocks, key=lambda block: block.weight * block.missing)
    others = [block for block in bound.blocks if block is not stuck and block.more and block.weight > 0.0]
    stuck.bound = SimpleNamespace(limit=stuck.bound.limit, lower=stuck.lower, n_terms=0, step=lambda _: True)
    before = [block.n_terms for block in others]
    for _ in range(40):
        bound.step(math.inf)
    assert others and all(block.n_terms > terms for block, terms in zip(others, before, strict=True))


def test_sets_that_stand_still_end_where_others_follow(monkeypatch):
    problem = problem_of(0, "normal", 240, 4, 2)
    family, solution, objective = least_known(problem, 0)
    bound = CoverBound(family, solution, objective)
    block = SimpleNamespace(n_terms=100, work=2)
    bound.blocks, bound.mark = [block], (0, math.inf)
    found = []
    for terms, missing in ((100, math.inf), (200, 50.0), (250, 48.0), (261, 47.0), (262, 44.0), (300, 43.0)):
        block.n_terms = terms
        found.append(bound._stands_still(missing))
    assert found == [False, False, False, True, False, False]
    monkeypatch.setattr(cover, "STILL_FOR", 0.0)  # then all but the last end at once
    bound = CoverBound(family, solution, objective)
    n_first = 0
    while len(bound.sizes) == 2 or not bound.done:
        bound.step(math.inf)
        n_first += 1
    learnt(bound, 30)
    assert n_first <= 3
    assert sum(block.n_terms for block in bound.blocks) > 0  # which the last ones do not


def test_a_search_looks_at_what_the_sets_at_hand_prove():
    """Larger sets have a bound of their own, far below what is proved, so that the search waits for it."""
    problem = problem_of(1, "normal", 300, 4, 2)
    family, solution, objective = least_known(problem, starts=5)
    bound = CoverBound(family, solution, objective)
    while len(bound.sizes) == 2 or not bound.done:
        assert bound.at_work == bound.lower
        bound.step(math.inf)
    before = bound.lower
    bound.step(math.inf)
    assert bound.blocks and bound.at_work == -math.inf < before == bound.lower


@pytest.mark.parametrize(
    ("n_columns", "covariance", "first"), [(4, "diag", True), (5, "diag", False), (5, "spherical", False)]
)  # fmt: skip
def test_small_blocks_come_first(n_columns, covariance, first, monkeypatch):
    """Of diagonal components, before prices of all columns that say nothing before they are nearly done."""
    for module, name in ((cover, "MANY"), (raised, "GROUPED")):
        monkeypatch.setattr(module, name, 200)
    monkeypatch.setattr(mechanisms, "BEFORE_COVER", 0)
    rng = np.random.default_rng(0)
    X = 9.0 * rng.integers(2, size=400)[:, None] + rng.standard_normal((400, n_columns))
    problem = gopfast.GaussianMixture(X, 2, covariance=covariance)
    plan = MixturePlan(problem, engine.family(problem), Options.from_arguments(0.01))
    assert plan.has(mechanisms.Cover)
    assert mechanisms.Cover.comes_first(plan) == first
    made = mechanisms.Cover.learner(plan, *known(problem))
    assert made.first_look == first and (made.sizes == [2]) == first


def known(problem):
    """A solution and its objective."""
    return least_known(problem, starts=3)[1:]


def test_clusters_that_every_block_tells_apart_lose_little():
    """Less than 0.01 nats a sample, of clusters that are apart in every column."""
    rng = np.random.default_rng(3)
    label = rng.integers(2, size=3_000)
    X = 12.0 * label[:, None] + rng.standard_normal((3_000, 5)) * rng.uniform(0.5, 1.5, 5)
    problem = gopfast.GaussianMixture(X, 2, covariance="diag", variance_floor=0.1)
    family, solution, objective = least_known(problem, starts=5)
    bound = learnt(CoverBound(family, solution, objective + 500.0), 100, enough=objective - 30.0)
    assert objective - 30.0 <= bound.lower <= objective


def test_it_is_the_same_for_every_thread_count():
    problem = problem_of(1, "normal", 300, 4, 2)
    family, solution, objective = least_known(problem, starts=5)
    found = [learnt(CoverBound(family, solution, objective, threads), 40) for threads in (1, 2)]
    assert found[0].lower == found[1].lower
    assert found[0].n_terms == found[1].n_terms > 0


def test_a_search_has_it_as_its_bound(monkeypatch, capsys):
    monkeypatch.setattr(cover, "MANY", 200)
    problem = problem_of(5, "normal", 400, 6, 2, apart=8.0)
    with gopfast.settings(cover=False, pricing=False):
        without = gopfast.solve(problem, max_nodes=500, n_threads=1, log=False)
    result = gopfast.solve(
        problem, n_threads=1, log=True, callback=lambda state: state.lower > without.lower_bound + 100.0
    )
    assert "blocks of columns are priced by groups" in capsys.readouterr().out
    assert without.lower_bound + 100.0 < result.lower_bound <= result.objective


@pytest.mark.parametrize("covariance", ["diag", "spherical"])
def test_a_search_that_wants_more_than_there_is_proves_nothing_false(monkeypatch, covariance):
    """With a tolerance below 0 nothing is cut off at the incumbent."""
    made = []
    monkeypatch.setattr(cover, "MANY", 200)
    monkeypatch.setattr(mechanisms, "BEFORE_COVER", 0)
    monkeypatch.setattr(mechanisms, "CoverBound", lambda *given: made.append(CoverBound(*given)) or made[0])
    problem = problem_of(7, "normal", 300, 4, 2, apart=9.0, covariance=covariance)
    _, _, objective = least_known(problem)
    options = Options.from_arguments(0.01, log=False, n_threads=1)
    search = MixtureSearch(problem, replace(options, epsilon=-1e3, rel_tol=-1.0))
    result = search.run(max_nodes=40)
    assert result.status == "NODE_LIMIT"
    assert made[0].limit > objective + 900.0
    assert objective - 60.0 < made[0].lower <= objective
    assert search.search.least_bound <= objective


def test_it_is_for_many_samples_of_free_variances():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((cover.MANY, 5))
    assert is_covered(engine.family(gopfast.GaussianMixture(X, 2, covariance="diag")), True)
    assert not is_covered(engine.family(gopfast.GaussianMixture(X[1:], 2, covariance="diag")), True)
    for K, fewest in ((2, cover.FEWEST), (4, 4 * cover.FEWEST_EACH), (12, cover.MANY)):
        for n in (fewest, fewest - 1):
            family = engine.family(gopfast.GaussianMixture(X[:n], K, covariance="diag"))
            assert is_covered(family) == (n == fewest)
    assert not is_covered(engine.family(gopfast.GaussianMixture(X[:, :3], 2, covariance="diag")))
    assert is_covered(engine.family(gopfast.GaussianMixture(X, 2, covariance="spherical")))
    assert not is_covered(engine.family(gopfast.GaussianMixture(X, 2, covariance="tied_spherical")))
    assert not is_covered(engine.family(gopfast.GaussianMixture(X, 2, covariance="full")))
    assert not is_covered(engine.family(gopfast.GaussianMixture(X, 2, noise_variance=1.0)))


@pytest.mark.parametrize(("d", "size"), [(4, 2), (5, 3), (13, 2), (30, 3)])
def test_subsets_have_every_column(d, size):
    found = subsets(d, size, np.arange(d)[::-1], np.random.default_rng(0))
    assert len(found) == len(set(found)) == math.comb(d, size) if d < 6 else len(found) >= cover.MOST_BLOCKS
    assert all(1 <= len(set(block)) == len(block) <= size for block in found)
    assert {j for block in found for j in block} == set(range(d))
