"""Proofs in the hull of means: the checker's bounds against components by definition, files accepted and refused."""

import math
import os
import signal
import time
from types import SimpleNamespace

import numpy as np
import pytest
from support.hulls import best_saved, incumbent, problem, shaped

import gopfast
from gopfast.checker import ProofError, check, file, hull, hull_bounds, hull_cells
from gopfast.checker.problem import Problem
from gopfast.mixtures import engine, hull_record
from gopfast.mixtures.hull_record import ShownHull
from gopfast.mixtures.pricing.hull import HullBound
from gopfast.mixtures.pricing.hull_atoms import saved
from gopfast.mixtures.statement import statement_of

SHAPES = ["normal", "heavy", "skewed", "ties", "constant", "dependent", "offset"]


def stage_of(rng, shape, n, d, K, free):
    """A stage with prices near those of searches, and by how much prices are less than the stage's."""
    columns, means, label = shaped(shape, rng, n, d, K)
    x, means = columns.T - columns.T[0], means - columns.T[0]
    weights = rng.choice([0.5, 1.0, 30.0], n)
    s = rng.uniform(0.5, 1.0, K) if free else np.ones(K)
    own = s[label] * np.square(x - means[label]).sum(axis=1) - free * d * np.log(s[label])
    prices = rng.uniform(0.5, 3.0) + 0.5 * own * rng.choice([1.0, 0.95, 0.5])
    prices += rng.choice([0.0, 0.5]) * rng.random(n)
    means = means + rng.choice([0.0, 0.1]) * rng.standard_normal((K, d))
    return hull.Stage(x, weights, prices, means, s, bool(free)), prices


def saved_at(stage, prices, m, s):
    """What a component saves, by definition: at the column that is the best for it."""
    gains = prices - 0.5 * s * np.square(stage.x - m).sum(axis=1) + 0.5 * stage.n_columns * stage.free * math.log(s)
    return best_saved(stage.weights, gains)[0]


def some_component(rng, stage):
    """Near one of the means, between two, or anywhere."""
    j, k = rng.integers(len(stage.means), size=2)
    m = stage.means[j] + rng.choice([0.0, 0.5, rng.random()]) * (stage.means[k] - stage.means[j])
    m = m + rng.choice([0.0, 1e-6, 0.01, 0.3, 2.0]) * rng.standard_normal(stage.n_columns)
    return m, math.exp(rng.uniform(max(stage.least, -3.0), 0.0)) if stage.free else 1.0


CASES = [(60, 2, 2, 0), (300, 5, 3, 0), (300, 5, 3, 1), (200, 9, 4, 1), (200, 3, 5, 0), (4, 4, 2, 1), (300, 12, 2, 0)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n", "d", "K", "free"), CASES)
def test_no_component_saves_more_than_balls_cells_and_tables_say(shape, n, d, K, free):
    rng = np.random.default_rng([n, d, K, free, len(shape)])
    for _ in range(2 - free):
        stage, prices = stage_of(rng, shape, n, d, K, free)
        balls = [hull.Ball(stage, k) for k in range(K)]
        axes = np.linalg.svd(stage.means - stage.means.mean(axis=0))[2]
        q = K - 1 if d - K + 1 >= 2 else d
        turned = stage.x @ axes.T
        places = hull_cells.Places(stage, turned[:, :q], turned[:, q:])
        around = [hull_cells.Reach(stage, k, 0.0, -1.0, 0.0, hull_cells.Terms(stage)) for k in range(K)]
        tables = hull_cells.Tables(stage, around)
        assert (tables.saved[:, :, :-1] >= tables.saved[:, :, 1:]).all(), "of components that are no nearer"
        assert (tables.masses[:, :, :-1] >= tables.masses[:, :, 1:]).all()
        ranges = np.array(hull_cells.ranges_of(stage))
        spare = 1e-12 * stage.diameter
        for _ in range(12):
            m, s = some_component(rng, stage)
            value, slack = saved_at(stage, prices, m, s), 1e-9 * (1.0 + np.abs(prices).max())
            k, width = int(rng.integers(K)), rng.choice([0.0, 1e-3, 0.1, 1.0])
            away = float(np.linalg.norm(m - stage.means[k]))
            radius = hull_bounds.radius_around(away, s, s, stage.precisions[k], d, stage.free)
            if radius < 8.0:
                inner = max(0.0, radius * (1.0 - width * rng.random()) - 1e-9)
                found = balls[k].bound(inner, radius + width * rng.random() + 1e-9, rng.choice([-math.inf, value]))
                assert found >= value - slack, (shape, "ball", found, value)
            logs = np.array([math.log(s)] * 2) + free * width * rng.random() * np.array([-1.0, 1.0])
            point = axes @ m
            at = np.append(point[:q], np.linalg.norm(point[q:])) if q < d else np.append(point, 0.0)
            low, high = at - width * rng.random(q + 1) - spare, at + width + spare
            low, high = np.append(low, logs[0]), np.append(high, logs[1])
            low[q] = max(low[q], 0.0)
            found = places.bound(low, high, rng.uniform(-3.0, 0.0), rng.choice([-math.inf, value]))
            assert found >= value - slack, (shape, "cell", found, value)
            low, high = np.array([max(0.0, away - width - spare), logs[0]]), np.array([away + width + spare, logs[1]])
            found = around[k].places.bound(low, high, rng.uniform(-3.0, 0.0), -math.inf)
            assert found >= value - slack, (shape, "shell", found, value)
            distances = np.linalg.norm(stage.means - m, axis=1)
            own = np.flatnonzero((ranges[:, 0] <= math.log(s)) & (ranges[:, 1] >= math.log(s)))[:1]
            found = tables.bound(own, distances[np.newaxis] * rng.choice([1.0, 0.9]) * (1 - 1e-12))
            assert found[0] >= value - slack, (shape, "tables", found, value)


@pytest.mark.parametrize("seed", range(6))
def test_few_samples_save_no_more_than_their_shell_says(seed):
    """No sample is one of many: what a single term is too low by is seen."""
    rng = np.random.default_rng([seed, 29])
    told = 0
    for _ in range(200):
        n, p = int(rng.integers(1, 6)), int(rng.integers(1, 6))
        z = rng.choice([0.1, 1.0, 4.0]) * rng.standard_normal((n, p)) + rng.choice([0.0, 3.0])
        weights, high = rng.choice([0.5, 1.0, 30.0], n), rng.choice([1e-6, 0.01, 0.3, 1.0, 4.0])
        low = high * rng.choice([0.0, 0.5, 0.99, 1.0])
        prices = 0.5 * np.square(z).sum(axis=1) + rng.choice([-3.0, -0.5, 0.0, 0.5, 2.0]) + rng.random(n)
        lengths, W = np.linalg.norm(z, axis=1) * (1 + 1e-14), math.fsum(weights)
        raised, scale, found = prices + 1e-13 * (1.0 + np.abs(prices)), rng.uniform(-3.0, 0.0), math.inf
        for _ in range(4):
            value, scale = hull_bounds.in_a_shell(z, lengths, weights, raised, W, low, high, scale)
            found = min(found, value)
        told += found < math.inf
        for _ in range(10):
            m = rng.standard_normal(p)
            m *= rng.choice([low, high, rng.uniform(low, high)]) / np.linalg.norm(m)
            value, _ = best_saved(weights, prices - 0.5 * np.square(z - m).sum(axis=1))
            assert found >= value - 1e-9 * (1.0 + value), (n, p, low, high, found, value)
    assert told > 20


@pytest.mark.parametrize("seed", range(20))
def test_sums_and_eigenvalues_are_from_above_for_every_direction(seed):
    rng = np.random.default_rng([seed, 31])
    n, p = int(rng.integers(1, 40)), int(rng.integers(1, 9))
    units = rng.standard_normal((n, p)) + rng.choice([0.0, 3.0])
    units /= np.linalg.norm(units, axis=1)[:, np.newaxis] * (1 + 1e-15)
    tops, slopes = 3.0 * rng.standard_normal(n), rng.choice([0.0, 0.1, 1.0, 10.0]) * rng.random(n)
    weights, found = rng.random(n) + 0.1, None
    found = hull_bounds.gains(tops, slopes, units, weights)
    near = [units.T @ (weights * np.maximum(tops, 0.0)), *rng.standard_normal((60, p)), *units]
    for u in near:
        u = u / max(np.linalg.norm(u), 1e-300)
        value = weights @ np.maximum(0.0, tops - slopes * (1.0 - units @ u))
        assert found >= value * (1 - 1e-12), (found, value)
    matrix = (units * weights[:, np.newaxis]).T @ units
    top = np.linalg.eigvalsh(matrix)[-1]
    largest = hull_bounds.largest_eigenvalue(matrix, np.trace(matrix) * (1 + 1e-14))
    assert top * (1 - 1e-12) <= largest <= 1.01 * top


@pytest.mark.parametrize("seed", range(4))
def test_what_is_attained_is_never_shown_to_be_out_of_reach(seed, monkeypatch):
    """A limit just below what some component saves is refused, whatever is in the file beside it."""
    monkeypatch.setattr(hull_cells, "MOST_HULL_CELLS", 1_000)
    rng = np.random.default_rng([seed, 37])
    for free in (0, 1):
        stage, prices = stage_of(rng, "normal", 80, 4, 2, free)
        best = 0.0
        for k in range(2):  # ascents from the means
            m, s = stage.means[k], stage.precisions[k]
            for _ in range(60):
                gains = prices - 0.5 * s * np.square(stage.x - m).sum(axis=1) + 2.0 * free * math.log(s)
                best, (_, mass) = max(best, best_saved(stage.weights, gains)[0]), saved(stage.weights, gains)
                if not mass.sum() > 0.0:
                    break
                m = mass @ stage.x / mass.sum()
                if free:
                    s = min(1.0, 4 / (mass @ np.square(stage.x - m).sum(axis=1) / mass.sum()))
        for cut in (best * (1 - 1e-6), 0.9 * best) if best > 0.0 else ():
            radii = [hull.Ball(stage, k).radii(cut, cut)[1] for k in range(2)]
            with pytest.raises(ProofError):
                hull_cells.saves_at_most(stage, radii, cut)


def made(n, d, K, gap, kind, shape="normal", seed=0, steps=4_000, weighted=False):
    """A search in the hull with its record, and the objective of an incumbent."""
    own, label = problem(n, d, K, gap, seed, kind, shape)
    if weighted:
        weights = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], n)
        own = gopfast.GaussianMixture(own.X, K, covariance=kind, sample_weight=weights)
    family = engine.family(own)
    vector, value = incumbent(family, label, K)
    stated = Problem(own._record_of_proof(), own._data_of_proof(), own._weights_of_proof())
    record = hull_record.HullRecord(statement_of(family, family.one_component(own), stated))
    bound = HullBound(family, vector, value - 1e-4, record=record)
    for _ in range(steps):
        if not bound.step(np.inf):
            break
    return record, bound, value


@pytest.fixture(scope="module", params=[(1_200, 4, 2, 14.0, "known"), (1_200, 4, 2, 14.0, "spherical")], ids=str)
def proved(request):
    record, bound, value = made(*request.param)
    record.show()
    arrays, lower = record.shown
    assert len(arrays["hull_limits"]) == 2, "both stages are in the file"
    return record, arrays, lower, bound, value


def again(record, arrays, **changed):
    return hull.bound(*record._data(), arrays | changed, record.statement.reference)[0]


def test_what_the_hull_proves_is_accepted(proved):
    record, arrays, lower, bound, value = proved
    assert lower == again(record, arrays)
    assert bound.lower - 1e-2 < lower <= value


@pytest.mark.parametrize(("n", "d", "K", "gap", "kind", "shape", "weighted"), [
    (600, 5, 2, 16.0, "known", "ties", True), (600, 5, 3, 16.0, "known", "constant", False),
    (900, 8, 3, 16.0, "known", "normal", True), (600, 4, 2, 16.0, "spherical", "ties", True),
    (700, 4, 2, 12.0, "known", "offset", False),
])  # fmt: skip
def test_proofs_of_all_shapes_are_below_the_objective(n, d, K, gap, kind, shape, weighted):
    record, bound, value = made(n, d, K, gap, kind, shape, weighted=weighted)
    record.show()
    arrays, lower = record.shown
    assert lower <= value + 1e-6 * (1 + abs(value))
    assert lower > bound.lower - 1e-2, "and prove as much as the search"


def test_changed_proofs_are_refused_or_prove_no_more(proved, monkeypatch):
    monkeypatch.setattr(hull_cells, "MOST_HULL_CELLS", 2_000)
    monkeypatch.setattr(hull_cells, "MOST_HULL_TERMS", 10_000_000)
    record, arrays, lower, _, value = proved
    rng = np.random.default_rng(7)
    raised = arrays["hull_prices"].copy()
    raised[1] += 1e-3
    limits, means, one = arrays["hull_limits"], arrays["hull_means"], arrays["hull_prices"].copy()
    one[0, rng.integers(one.shape[1])] += 30.0
    for change in (
        {"hull_prices": raised}, {"hull_prices": raised[::-1]}, {"hull_prices": one},
        {"hull_limits": limits * np.array([1.0, 1 - 1e-4])}, {"hull_limits": limits * np.array([1 - 1e-3, 1.0])},
        {"hull_limits": limits * np.array([2.0, 1.0])}, {"hull_limits": limits[::-1]}, {"hull_limits": -limits},
        {"hull_means": means + np.array([0.0, 0.2])[:, np.newaxis, np.newaxis]}, {"hull_means": means[:, ::-1]},
        {"hull_precisions": 2.0 * arrays["hull_precisions"]}, {"hull_means": means[:, :1]},
        {"hull_limits": limits[:1]}, {name: arrays[name][1:] for name in hull.ARRAYS},
    ):  # fmt: skip
        try:
            found = again(record, arrays, **change)
        except ProofError:
            continue
        assert found <= value, change.keys()
    with pytest.raises(ProofError):
        again(record, arrays, hull_prices=raised)
    with pytest.raises(ProofError):
        again(record, arrays, hull_limits=limits * np.array([1.0, 1 - 1e-4]))
    monkeypatch.undo()
    # means that are not those at which most is saved, but near, cost nothing but room
    assert again(record, arrays, hull_means=means + 1e-7) == pytest.approx(lower)


def test_no_proof_of_searches_that_are_asked_for_too_much_is_above_the_objective(monkeypatch):
    """A limit above the objective: whatever is proved stays below it."""
    monkeypatch.setattr(hull_cells, "MOST_HULL_TERMS", 10_000_000)
    for seed in range(3):
        own, label = problem(500, 4, 2, 14.0, seed)
        family = engine.family(own)
        vector, value = incumbent(family, label, 2)
        stated = Problem(own._record_of_proof(), own._data_of_proof(), own._weights_of_proof())
        record = hull_record.HullRecord(statement_of(family, family.one_component(own), stated))
        bound = HullBound(family, vector, value + 5.0, record=record)
        for _ in range(60):
            if not bound.step(np.inf):
                break
        assert record.show() <= value + 1e-9 * abs(value)


FILES = [("known", 5_000, 5, 3, 16.0), ("spherical", 2_400, 5, 2, 16.0)]


@pytest.mark.parametrize(("kind", "n", "d", "K", "gap"), FILES)
def test_files_of_searches_are_accepted_and_forged_ones_refused(kind, n, d, K, gap, tmp_path):
    own, _ = problem(n, d, K, gap, 3, kind)
    result = gopfast.solve(own, proof=str(tmp_path / "proof.npz"), time_limit=60)
    found = check(str(tmp_path / "proof.npz"), own.X, problem=own)
    assert found.lower_bound == result.lower_bound <= result.objective <= found.objective + 1e-6
    assert found.lower_bound > result.objective - 0.02
    header, arrays = file.read(str(tmp_path / "proof.npz"))
    assert len(arrays["hull_limits"]) > 0 and not len(arrays["blocks"])
    with pytest.raises(ProofError, match="other data"):
        check(str(tmp_path / "proof.npz"), own.X + 1e-9)
    rest = {key: value for key, value in header.items() if key not in ("format", "version", "kind")}
    rest["claim"]["lower_bound"] = header["claim"]["objective"] - 1e-6
    with pytest.raises(ProofError):
        check(file.pack("mixture", rest, arrays), own.X)
    rest["problem"] = {**rest["problem"], "n_components": K - 1}
    with pytest.raises(ProofError):
        check(file.pack("mixture", rest, arrays), own.X)


def test_proofs_in_the_hull_are_of_equal_variances_alone():
    record, *_ = made(300, 4, 2, 9.0, "known", steps=0)
    arrays = dict(zip(hull.ARRAYS, (np.zeros((1, 300)), np.zeros((1, 1, 4)), np.ones((1, 1)), np.ones(1)), strict=True))
    other = gopfast.GaussianMixture(np.eye(4), 2, covariance="diag")
    stated = Problem(other._record_of_proof(), other._data_of_proof(), None)
    with pytest.raises(ProofError, match="known and spherical"):
        hull.bound(stated, np.eye(4), np.ones(4), arrays, np.zeros(4))
    with pytest.raises(ProofError, match="must be at most 1"):
        again(record, arrays, hull_precisions=np.full((1, 1), 0.5))
    assert hull.bound(*record._data(), record.nothing(), record.statement.reference) == (-math.inf, 0)


@pytest.mark.parametrize("seed", range(10))
def test_a_ball_holds_what_its_radius_says_and_its_bend_is_the_largest_there(seed):
    """In coordinates (s m / root s_0, x root (d / 2)), x the precision's relative change."""
    rng = np.random.default_rng([seed, 41])
    d, s0 = int(rng.integers(1, 12)), rng.uniform(0.01, 1.0)
    for _ in range(200):
        low, high = np.sort(s0 * np.exp(rng.choice([0.0, 0.1, 1.0]) * rng.standard_normal(2)))
        away = rng.choice([0.0, 1e-3, 1.0, 5.0]) * rng.random()
        radius = hull_bounds.radius_around(away, low, high, s0, d, True)
        s, m = rng.choice([low, high, rng.uniform(low, high)]), away * rng.choice([1.0, rng.random()])
        v, x = s * m / math.sqrt(s0), s / s0 - 1.0
        assert radius >= math.hypot(v, x * math.sqrt(0.5 * d))
        radius = math.hypot(v, x * math.sqrt(0.5 * d)) * rng.choice([1.0, 1.1])
        bend = 0.5 * (v * v + 0.5 * d * x * x) - 0.5 * v * v / (1.0 + x) - 0.5 * d * (x - math.log1p(x))
        assert hull_bounds.bend_of_precisions(radius, d) >= bend - 1e-12 * (1.0 + radius * radius)
    assert hull_bounds.radius_around(2.0, 1.0, 1.0, 1.0, d, False) == pytest.approx(2.0)


def test_the_first_stage_is_asked_for_what_every_component_of_a_better_mixture_saves(proved, monkeypatch):
    record, arrays, lower, *_ = proved
    asked = []
    monkeypatch.setattr(hull, "saves_at_most", lambda stage, radii, cut: asked.append(cut) or 0)
    again(record, arrays)
    problem, _, weights = record._data()
    total = math.fsum(weights * arrays["hull_prices"][0])
    wanted = total - (problem.n_components - 1) * arrays["hull_limits"][0] - lower
    assert asked == [pytest.approx(wanted, abs=1e-6)] and asked[0] <= wanted < arrays["hull_limits"][0]
    assert lower <= math.fsum(weights * arrays["hull_prices"][1]) - problem.n_components * arrays["hull_limits"][1]


@pytest.mark.parametrize(("shape", "d", "free"), [("normal", 4, 0), ("ties", 3, 1), ("normal", 5, 1), ("skewed", 4, 1)])
def test_components_within_reach_save_no_more_than_the_cut(shape, d, free):
    rng = np.random.default_rng([d, free, 43])
    stage, prices = stage_of(rng, shape, 200, d, 2, free)
    near = 0
    for k in range(2):
        cut = max(1.3 * saved_at(stage, prices, stage.means[k], float(stage.precisions[k])), 1.0)
        radius = hull.Ball(stage, k).radii(cut, cut)[1]
        reach = hull_cells.Reach(stage, k, radius, cut, 6.0, hull_cells.Terms(stage))
        assert np.append(reach.low, reach.high).min() <= stage.least and reach.high.max() == 0.0
        for _ in range(400):
            s = math.exp(rng.uniform(stage.least, 0.0)) if free else 1.0
            within = reach.within(np.array([math.log(s)] * 2)[:1], np.array([math.log(s)]))[0] if not free else float(
                reach.within(np.array([math.log(s) - 1e-9]), np.array([math.log(s) + 1e-9]))[0]
            )
            u = rng.standard_normal(d)
            m = stage.means[k] + u / np.linalg.norm(u) * within * rng.choice([1.0, rng.random()])
            near += within > 0.0
            assert within == 0.0 or saved_at(stage, prices, m, s) <= cut * (1 + 1e-9)
        # cells around a component are done if they lie within reach on all sides
        for away, s in ((0.9, 0.5), (1.1, 0.9)):
            holds = reach.holds(np.array([away]), np.array([math.log(s) * free]), np.array([0.0]))[0]
            assert not holds or radius >= away * math.sqrt(stage.precisions[k]) * s
    assert near > 100


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n", "d", "K", "free"), [(60, 2, 2, 0), (200, 5, 3, 0), (200, 5, 3, 1), (150, 9, 4, 1)])
def test_corners_never_deny_what_a_component_of_their_cell_saves(shape, n, d, K, free):
    """A cell with a component that saves a little more than is asked is never done."""
    rng = np.random.default_rng([n, d, K, free, len(shape), 59])
    told = []
    for _ in range(3):
        stage, prices = stage_of(rng, shape, n, d, K, free)
        axes = np.linalg.svd(stage.means - stage.means.mean(axis=0))[2]
        for q in (0, K - 1):
            turned = stage.x @ axes.T
            places = hull_cells.Places(stage, turned[:, :q], turned[:, q:])
            for _ in range(10):
                m, s = some_component(rng, stage)
                value, slack = saved_at(stage, prices, m, s), 1e-9 * (1.0 + np.abs(prices).max())
                point, width = axes @ m, rng.choice([1e-3, 0.1, 0.5, 1.0])
                at = np.append(np.append(point[:q], np.linalg.norm(point[q:])), math.log(s))
                sides = width * rng.random((2, q + 2)) * np.append(np.ones(q + 1), 0.5 * free)
                low, high = at - sides[0], at + sides[1]
                low[q], high[-1] = max(low[q], 0.0), min(high[-1], 0.0)
                assert min(hull_cells.Corners(places, 1.0, len).raises(low, high)) >= 0.0
                for enough in (value - slack, 0.9 * value):
                    corners = hull_cells.Corners(places, enough, lambda n: None)
                    if enough > slack:
                        for part in (0.01, 0.5):  # of cells that share a corner with it
                            corners.say(low, low + part * (high - low), -1.0)
                        assert not corners.say(low, high, rng.uniform(-3.0, 0.0)), (shape, q, width)
                if width < 0.01:
                    enough = 1.05 * places.bound(at, at, -1.0, -math.inf) + 0.02 * stage.total_weight
                    told.append(hull_cells.Corners(places, enough, lambda n: None).say(low, high, -1.0))
    assert all(told) and told, "small cells are done by little more than a component of theirs"


@pytest.mark.parametrize("free", [0, 1])
def test_corners_lose_what_is_of_second_order(free):
    """And no less than that: the raise is the tangent's distance from the concave term, at any corner."""
    rng = np.random.default_rng([free, 61])
    stage, _ = stage_of(rng, "normal", 60, 5, 3, free)
    corners = hull_cells.Corners(hull_cells.Places(stage, stage.x[:, :2], stage.x[:, 2:]), 1.0, len)
    for _ in range(100):
        low = np.append(rng.uniform(0.0, 3.0, 3), -free * rng.uniform(1.0, 2.0))
        high = low + rng.choice([1e-4, 0.01, 0.5, 1.0]) * rng.random(4) * np.array([1.0, 1.0, 1.0, free])
        center = 0.5 * (low[:3] + high[:3])
        width = high[3] - low[3]
        s0 = math.exp(low[3]) * (math.expm1(width) / width if width else 1.0)
        for log, found in zip((low[3], high[3]), corners.raises(low, high), strict=True):
            s = math.exp(log)
            # tangent at (s0 center, s0) less the term, in (s g, s)
            more = 0.5 * s * np.square(low[:3] - center).sum() + 2.5 * (s / s0 - 1.0 - math.log(s / s0))
            assert more - 1e-13 <= found <= more * (1 + 1e-8) + 1e-10


def test_no_component_of_responsibilities_is_wider_than_the_root():
    rng = np.random.default_rng(47)
    for _ in range(50):
        n, d = int(rng.integers(2, 6)), int(rng.integers(1, 5))
        x = rng.choice([-3.0, 0.0, 5.0], (n, d)) * rng.choice([1.0, 30.0])
        stage = hull.Stage(x, np.ones(n), np.zeros(n), x[:1], np.ones(1), True)
        share = rng.random(n) ** rng.choice([0.1, 1.0, 8.0])
        share /= share.sum()
        variance = (share @ np.square(x - share @ x)).mean()
        assert math.exp(stage.least) * max(1.0, variance) <= 1 + 1e-12


def test_halves_cover_their_cell():
    rng = np.random.default_rng(53)
    low = rng.standard_normal((9, 4))
    high, own = low + rng.random((9, 4)), np.arange(9)
    a, b, which = hull_cells._halved(low, high, own, 5)
    points = low[:, np.newaxis] + rng.random((9, 50, 4)) * (high - low)[:, np.newaxis]
    inside = (a[:, np.newaxis, np.newaxis] <= points) & (points <= b[:, np.newaxis, np.newaxis])
    assert (inside.all(axis=3) & (which[:, np.newaxis, np.newaxis] == own[:, np.newaxis])).any(axis=0).all()


@pytest.mark.parametrize(("shown", "lower"), [(-math.inf, -math.inf), (4.0, 4.0), (6.0, 5.0)])
def test_the_hull_counts_for_a_proof_once_the_checker_has_shown_it(shown, lower):
    steps, asked = iter([True, True, False]), []
    bound = SimpleNamespace(limit=9.0, lower=5.0, n_terms=7, n_passes=1, step=lambda deadline: next(steps))
    learner = ShownHull(bound, SimpleNamespace(show=lambda until: asked.append(until) or shown))
    learner.limit, deadline = 8.0, time.monotonic() + 1e6
    assert [learner.step(deadline), learner.lower, learner.step(deadline), learner.lower] == [True, -math.inf] * 2
    assert not learner.step(deadline) and learner.lower == lower and bound.limit == 8.0
    assert deadline - 0.5e6 < asked[0] < deadline  # others have a part of the time


def test_what_nothing_else_proves_or_needs_has_all_time_to_be_shown_and_a_quarter_more():
    asked = []
    bound = SimpleNamespace(limit=9.0, lower=9.0, n_terms=7, n_passes=1, step=lambda deadline: False)
    learner = ShownHull(bound, SimpleNamespace(show=lambda until: asked.append(until) or 8.9))
    learner.limit, deadline = 9.0, time.monotonic() + 1e6
    assert not learner.step(deadline) and asked == [pytest.approx(deadline + 0.25e6)] and learner.lower == 8.9
    bound.lower = 1.0
    learner = ShownHull(bound, SimpleNamespace(show=lambda until: asked.append(until) or 0.5), is_alone=True)
    assert not learner.step(deadline) and asked[1] == pytest.approx(asked[0]) and learner.lower == 0.5


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize(("place", "name", "is_written"), [
    (hull, "in_a_shell", True), (hull_cells, "gains", True), (file.Writer, "finish", False),
])  # fmt: skip
def test_ctrl_c_while_it_is_shown_or_written_leaves_what_is_known(place, name, is_written, tmp_path, monkeypatch):
    """In the checker's arithmetic within the search, and at the end of the file."""
    own, _ = problem(5_000, 5, 3, 16.0, 3)
    inner, calls = getattr(place, name), []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 1:
            signal.raise_signal(signal.SIGINT)
        return inner(*arguments)

    monkeypatch.setattr(place, name, interrupted)
    result = gopfast.solve(own, proof=str(tmp_path / "proof.npz"), time_limit=60)
    monkeypatch.undo()
    assert calls and result.lower_bound <= result.objective
    assert [entry.name for entry in tmp_path.iterdir()] == (["proof.npz"] if is_written else [])
    if is_written:
        assert result.status == "INTERRUPTED"
        assert check(str(tmp_path / "proof.npz"), own.X, problem=own).lower_bound == result.lower_bound
    else:
        assert any("no proof was written: Ctrl-C" in note for note in result.notes) and result.proof is None


def test_what_there_is_no_time_to_show_is_not_in_the_proof():
    record = made(600, 5, 2, 16.0, "known")[0]
    assert record.show(-math.inf) == -math.inf and not record.shown[0]["hull_prices"].size
    assert record.show() > -math.inf and record.shown[0]["hull_prices"].size
