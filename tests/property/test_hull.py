"""The search in the hull of the means: no bound of a cell or ball may be below what a component in it saves."""

import math

import mpmath
import numpy as np
import pytest
from gopfast.mixtures.pricing.hull_cells import HullCells
from gopfast.mixtures.pricing.hull_shells import Shells
from support.hulls import best_saved, incumbent, priced, problem, shaped

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.pricing import hull, hull_atoms, hull_corners, hull_drafts, hull_tables
from gopfast.mixtures.pricing.hull import HullBound
from gopfast.mixtures.pricing.hull_atoms import saved
from gopfast.mixtures.pricing.hull_balls import Ball, bends
from gopfast.mixtures.pricing.hull_frame import Frame, moments_of


@pytest.mark.parametrize("shape", ["normal", "heavy", "skewed", "ties", "constant", "dependent", "offset"])
@pytest.mark.parametrize(("n", "d", "K", "free"), [(37, 2, 2, 0), (450, 5, 3, 0), (450, 5, 3, 1), (700, 9, 4, 0),
                                                  (300, 4, 4, 1), (200, 3, 5, 0), (500, 12, 2, 0)])  # fmt: skip
def test_no_component_saves_more_than_its_cell_says(shape, n, d, K, free):
    rng = np.random.default_rng([n, d, K, free, len(shape)])
    ratios = []
    for _ in range(6):
        columns, means, label = shaped(shape, rng, n, d, K)
        weights = rng.choice([0.5, 1.0, 3.0], n)
        frame = Frame(columns, means)
        z, m, q = frame.samples, frame.means, frame.n_along
        assert q == d or q <= min(K - 1, d - 2)
        prices, labels = priced(rng, z, m, weights, label)
        s_most = 1.5 if free else 1.0
        raised = prices + frame.rounding(np.abs(prices).max(), s_most)
        own_precision = 0.8 if free else 1.0
        parts = [labels == k for k in range(K)]
        made = [moments_of(z[:, own], weights[own], raised[own], own_precision, frame.diameter) for own in parts]
        centers, rows = np.array([one[0] for one in made]), np.array([one[1] for one in made])
        place = np.column_stack([centers[:, :q], np.linalg.norm(centers[:, q:], axis=1)])
        order = frame.order(labels)
        assert sorted(order) == list(range(n))
        cells = HullCells(z[:q][:, order], z[q:][:, order], weights[order], labels[order], place, d * free)
        cells.set_prices(raised[order], rows)
        k = int(rng.integers(K))
        atom = m[k] + rng.choice([0.0, 0.1]) * rng.standard_normal(d)
        shells = Shells(z - atom[:, None], weights, raised)
        for _ in range(12):
            # a component, and a cell and a shell that it lies in
            point = m[rng.integers(K)] + rng.choice([0.0, 0.01, 0.3, 1.5]) * rng.standard_normal(d)
            s = math.exp(rng.uniform(-1.0, math.log(s_most))) if free else 1.0
            mean = frame.means_of(point)
            point = frame.axes @ (mean - frame.origin)  # of what rounding has left of it
            gains = prices - 0.5 * s * np.square(columns - mean[:, None]).sum(axis=0)
            gains += 0.5 * d * free * math.log(s)
            value, _ = best_saved(weights, gains)
            logs = np.array([[math.log(s)] * 2])
            if free:
                logs += [[-rng.choice([0.0, 0.1]), rng.choice([0.0, 0.2])]]
            for at in (np.append(point[:q], np.linalg.norm(point[q:])), np.array([np.linalg.norm(point - atom)])):
                width = rng.choice([0.0, 1e-3, 0.1, 1.0]) * rng.random((2, len(at)))
                low, high = at - width[0] - 1e-12 * (1 + np.abs(at)), at + width[1] + 1e-12 * (1 + np.abs(at))
                low[-1] = max(low[-1], 0.0)
                scale = np.array([rng.uniform(-3.0, 0.0)])
                if len(at) == q + 1:
                    if q == d:
                        low[-1] = high[-1] = 0.0
                    found, _ = cells.bound(low[None], high[None], logs, scale)
                elif free:
                    continue
                else:
                    found, _ = shells.bound(low, high, scale, np.zeros(1))
                assert found[0] >= value - 1e-9 * (1.0 + value), (shape, found[0], value)
                if shape not in ("offset", "heavy") and width.max() < 2e-3:
                    ratios.append(found[0] / max(value, 1.0))
    # and it is of use
    assert not ratios or min(ratios) < 3.0


@pytest.mark.parametrize("seed", range(12))
def test_few_samples_save_no_more_than_their_shell_says(seed):
    """No sample is one of many: what a single term is too low by is seen."""
    rng = np.random.default_rng([seed, 5])
    for _ in range(150):
        n, p = int(rng.integers(1, 6)), int(rng.integers(2, 6))
        z = rng.choice([0.1, 1.0, 4.0]) * rng.standard_normal((p, n)) + rng.choice([0.0, 3.0])
        weights, high = rng.choice([0.5, 1.0, 30.0], n), rng.choice([1e-6, 0.01, 0.3, 1.0, 4.0])
        low = high * rng.choice([0.0, 0.5, 0.99, 1.0])
        prices = 0.5 * np.square(z).sum(axis=0) + rng.choice([-3.0, -0.5, 0.0, 0.5, 2.0])
        prices += rng.choice([0.0, 1.0]) * rng.random(n)
        shells = Shells(z, weights, prices + 1e-13 * (1.0 + np.abs(prices)))
        found, scale = shells.bound([low], [high], [rng.uniform(-3.0, 0.0)], [0.0])
        again, _ = shells.bound([low], [high], scale, [0.0])
        for _ in range(10):
            m = rng.standard_normal(p)
            m *= rng.choice([low, high, rng.uniform(low, high)]) / np.linalg.norm(m)
            value, _ = best_saved(weights, prices - 0.5 * np.square(z - m[:, None]).sum(axis=0))
            assert min(found[0], again[0]) >= value - 1e-9 * (1.0 + value), (n, p, low, high, found, value)


@pytest.mark.parametrize("seed", range(4))
def test_shells_of_any_precision_hold_what_ascents_reach(seed):
    """Samples on lattices, in a plane, at one place, and prices of all heights; directions that ascents find."""
    rng = np.random.default_rng([seed, 11])
    near = 0
    for _ in range(60):
        n, p = int(rng.choice([20, 100, 400])), int(rng.integers(2, 7))
        z = rng.choice([0.3, 1.0, 2.0]) * rng.standard_normal((p, n))
        weights = np.exp(rng.choice([0.0, 2.0]) * rng.random(n))
        kind = rng.integers(4)
        if kind == 1:
            z = np.round(z)
        elif kind == 2:
            z[0], z[:, ::2] = 0.0, z[:, :1]
        elif kind == 3:
            z[:, : n // 2] += 2.0 * rng.standard_normal(p)[:, None]
        height = rng.uniform(0.2, 4.0)
        prices = np.minimum(height, rng.exponential(height, n) * rng.choice([0.3, 5.0]))
        prices += 0.5 * np.square(z).sum(axis=0)
        high, precision = np.exp(rng.uniform(math.log(1e-3), math.log(3.0))), np.exp(rng.uniform(-1.0, 1.0))
        low, raised = high * rng.choice([0.0, 0.7, 0.98, 1.0]), rng.choice([0.0, 0.1])
        bound, _ = Shells(z, weights, prices).bound([low], [high], [rng.uniform(-4.0, 0.0)], [raised],
                                                    precision=[precision])  # fmt: skip
        best = 0.0
        for _ in range(4):
            u, radius = rng.standard_normal(p), rng.choice([low, high])
            for _ in range(20):
                m = radius * u / np.linalg.norm(u)
                gains = prices + raised - 0.5 * precision * np.square(z - m[:, None]).sum(axis=0)
                best, u = max(best, best_saved(weights, gains)[0]), z @ saved(weights, gains)[1] + 1e-100
        assert bound[0] >= best - 1e-12 * weights.sum() * (1.0 + best)
        near += best > 0.9 * bound[0]
    assert near > 10


@pytest.mark.parametrize("seed", range(6))
def test_shells_hold_at_scales_far_too_large_and_with_most_samples_left_out(seed):
    """Masses far below what the scale asks for, and nearly all weight in blocks that are counted as a whole."""
    rng = np.random.default_rng([seed, 9])
    for _ in range(40):
        n, p = 96, int(rng.integers(2, 5))
        z = rng.standard_normal((p, n))
        z[0, 32:] += rng.choice([0.0, 7.0, 12.0])  # blocks of their own
        weights = np.where(np.arange(n) < 32, 1.0, rng.choice([1.0, 1e4, 1e6]))
        prices = rng.uniform(0.3, 3.0) + 0.5 * np.square(z).sum(axis=0)
        prices[32:] -= rng.choice([0.0, 12.0, 20.0])
        high = rng.choice([0.01, 0.3, 1.0])
        low = high * rng.choice([0.3, 0.9])
        shells = Shells(z, weights, prices + 1e-13 * (1.0 + np.abs(prices)))
        scale = math.log(32.0 / weights.sum()) + rng.choice([0.0, 1.0, 5.0])
        found, _ = shells.bound([low], [high], [scale], [0.0], enough=1e300)  # at this scale alone
        for _ in range(6):
            m = rng.standard_normal(p)
            m *= rng.uniform(low, high) / np.linalg.norm(m)
            value, _ = best_saved(weights, prices - 0.5 * np.square(z - m[:, None]).sum(axis=0))
            assert found[0] >= value - 1e-9 * (1.0 + value), (low, high, scale, found, value)


@pytest.mark.parametrize("p", [2, 3, 5, 9])
def test_forms_of_a_sample_hold_all_over_a_shell(p):
    """Gains, masses and what is in of one sample, in all directions and at all distances, of tiny and wide shells."""
    rng, told = np.random.default_rng(p), 0
    for _ in range(3_000):
        high = np.exp(rng.uniform(math.log(1e-5), math.log(3.0)))
        low, length = high * rng.choice([0.0, 0.5, 0.99, 1.0]), np.exp(rng.uniform(math.log(1e-3), math.log(6.0)))
        s, shift, log_scale = high * length, rng.choice([0.0, 0.25, 0.01]), rng.uniform(-2.0, 0.0)
        A = rng.choice([rng.uniform(-1.2, 1.2) * s, rng.uniform(-1.0, 1.0), rng.uniform(-6.0, 6.0)])
        price = A - log_scale + 0.5 * (low**2 + length**2)
        z = np.zeros((p, 1))
        z[0] = length
        sums, forms = Shells(z, np.ones(1), np.array([price])).forms_of_first(low, high, log_scale, shift)
        t = rng.choice([low / high, 1.0, rng.uniform(low / high, 1.0)], 60)  # |m| over the outer radius
        c = t * np.append(rng.uniform(-1.0, 1.0, 56), [-1.0, 1.0, 0.0, -0.5])
        delta = 0.5 * ((t * high) ** 2 - low**2)
        y, error = A + s * c - delta, 1e-12 * (1.0 + abs(A) + s)
        gains = np.where(sums["surely"] > 0.0, y + 0.0, np.maximum(0.0, y) + np.minimum(1.0, np.exp(y)))
        told_gains = sums["value"] + forms["linear"] * c + forms["square"] * c * c
        told_gains -= (sums["surely"] + sums["bent"]) * delta
        assert (told_gains >= gains - error).all()
        assert not sums["surely"] or (y >= -error).all()
        if not sums["surely"]:
            mass = np.minimum(1.0, np.exp(y))
            assert (sums["mass"] + sums["more"] + forms["rise"] * c + forms["bend"] * c * c >= mass - error).all()
            assert (sums["mass"] - sums["less"] + forms["fall"] * c - forms["sag"] * c * c <= mass + error).all()
        if sums["well"] or sums["often"]:
            told += sums["often"]
            missed = sums["seldom"] - forms["missed"] * c + forms["missed_square"] * c * c
            assert (missed >= np.where((y < shift - error) & (sums["often"] > 0.0), 1.0, 0.0) - 1e-9).all()
            assert not sums["well"] or (y >= shift - error).all()
    assert told > 50


@pytest.mark.parametrize("p", [2, 9])
def test_masses_hold_where_exponentials_are_not_told_from_the_least(p):
    """Samples of 8 to 80 nats below the kink in the middle of wide shells: 2e-16 is not less than what is nothing."""
    rng, asked = np.random.default_rng(p), 0
    for _ in range(2_000):
        high, length = math.exp(rng.uniform(-2.0, 1.4)), math.exp(rng.uniform(0.0, 2.5))
        s, log_scale, A = high * length, rng.uniform(-2.0, 0.0), rng.choice([rng.uniform(-80.0, -30.0), -36.0, -9.0])
        z = np.zeros((p, 1))
        z[0] = length
        price = A - log_scale + 0.5 * (high**2 + length**2)
        sums, forms = Shells(z, np.ones(1), np.array([price])).forms_of_first(high, high, log_scale, 0.25)
        if sums["surely"]:
            continue
        asked += 1
        c = np.append(rng.uniform(-1.0, 1.0, 20), [-1.0, 1.0])
        mass, error = np.exp(np.minimum(0.0, A + s * c)), 1e-12 * sums["amount"]
        above = sums["mass"] + sums["more"] + forms["rise"] * c + forms["bend"] * c * c
        below = sums["mass"] - sums["less"] + forms["fall"] * c - forms["sag"] * c * c
        assert (above >= mass * (1 - 1e-11) - error).all()
        assert (below <= mass * (1 + 1e-11) + error).all()
    assert asked > 1_000


def test_shells_say_something_where_no_sample_is_in_all_over_them():
    """Prices of one nat: most samples are in for most directions, few for all."""
    rng = np.random.default_rng(4)
    n, p, radius = 4_000, 5, 0.6
    z = rng.standard_normal((p, n))
    z *= np.maximum(1.0, 1.9 / np.linalg.norm(z, axis=0))
    prices, weights = 1.0 + 0.5 * np.square(z).sum(axis=0), np.ones(n)
    assert (1.0 - 0.5 * radius**2 - radius * np.linalg.norm(z, axis=0) < 0.0).mean() > 0.99
    found, _ = Shells(z, weights, prices).bound([radius], [radius], [0.0], [0.0])
    ends = [best_saved(weights, prices - 0.5 * np.square(z - radius * u[:, None] / np.linalg.norm(u)).sum(axis=0))[0]
            for u in rng.standard_normal((50, p))]  # fmt: skip
    assert max(ends) <= found[0] < 0.95 * n


@pytest.mark.parametrize("seed", range(4))
def test_shells_at_places_hold_what_ascents_reach(seed):
    """Components at a place in some coordinates, in all directions of the others, of any precision."""
    rng, near = np.random.default_rng([seed, 13]), 0
    for _ in range(60):
        n, p, q = int(rng.choice([5, 100, 400])), int(rng.integers(2, 6)), int(rng.integers(1, 4))
        x = rng.choice([0.3, 1.0, 2.0]) * rng.standard_normal((q + p, n))
        x[:, : n // 2] += rng.choice([0.0, 3.0]) * rng.standard_normal(q + p)[:, None]
        if rng.random() < 0.3:
            x = np.round(x)
        weights = rng.choice([0.5, 1.0, 30.0], n)
        along, z = x[:q], x[q:]
        place, precision = along[:, 0] + rng.choice([0.0, 0.5]) * rng.standard_normal(q), np.exp(rng.uniform(-1.0, 1.0))
        away = np.square(along - place[:, None]).sum(axis=0)
        height = rng.uniform(0.2, 4.0)
        prices = np.minimum(height, rng.exponential(height, n) * rng.choice([0.3, 5.0]))
        prices += 0.5 * precision * (away + np.square(z).sum(axis=0))
        high, raised = np.exp(rng.uniform(math.log(1e-3), math.log(2.0))), rng.choice([0.0, 0.1])
        low = high * rng.choice([0.0, 0.7, 1.0])
        shells = Shells(z, weights, prices + 1e-13 * (1.0 + np.abs(prices)), along=along)
        found, _ = shells.bound([low], [high], [rng.uniform(-4.0, 0.0)], [raised], precision=np.array([precision]),
                                places=place[None])  # fmt: skip
        best = 0.0
        for _ in range(6):
            radius, u = rng.choice([low, high, rng.uniform(low, high)]), rng.standard_normal(p)
            for _ in range(8):
                m = radius * u / np.linalg.norm(u)
                gains = prices + raised - 0.5 * precision * (away + np.square(z - m[:, None]).sum(axis=0))
                best, u = max(best, best_saved(weights, gains)[0]), z @ saved(weights, gains)[1] + 1e-100
        assert found[0] >= best - 1e-12 * weights.sum() * (1.0 + best)
        near += best > 0.9 * found[0]
    assert near > 10
    with pytest.raises(ValueError, match="places"):
        shells.bound([low], [high], [0.0], [raised])


def test_a_shell_loses_what_is_of_second_order():
    """Around a component that saves most near it, in a cluster beside another."""
    rng = np.random.default_rng(3)
    n, p = 4_000, 3
    label = rng.integers(2, size=n)
    noise = rng.standard_normal((p, n))
    z = noise + 4.0 * label * np.eye(p)[0][:, None]
    prices = 1.5 + 0.5 * np.square(noise).sum(axis=0)
    weights, m = np.ones(n), np.zeros(p)
    for _ in range(200):
        _, mass = saved(weights, prices - 0.5 * np.square(z - m[:, None]).sum(axis=0))
        m = z @ mass / mass.sum()
    value, mass = saved(weights, prices - 0.5 * np.square(z - m[:, None]).sum(axis=0))
    shells, radii = Shells(z - m[:, None], weights, prices), np.array([1e-3, 1e-2, 1e-1])
    found, _ = shells.bound(0.7 * radii, radii, np.full(3, math.log(mass.sum() / n)), np.zeros(3))
    assert (found - value <= n * np.square(radii) + 1e-6).all()
    assert found[1] < value  # and a ball of a tenth of a standard deviation is flat
    assert (found >= value - 0.5 * n * np.square(radii)).all()


@pytest.mark.parametrize("shape", ["normal", "heavy", "skewed"])
def test_a_cluster_saves_no_more_than_its_moments_say(shape):
    rng = np.random.default_rng(len(shape))
    for d in (2, 6):
        columns, means, _ = shaped(shape, rng, 300, d, 1)
        weights, precision = rng.choice([0.5, 2.0], 300), rng.uniform(0.3, 1.0)
        prices = 1.0 + 0.5 * precision * np.square(columns - means.T).sum(axis=0) + 0.1 * rng.random(300)
        center, row = moments_of(columns, weights, prices, precision, 10.0)
        z = columns - center[:, None]
        cells = HullCells(np.zeros((0, 300)), z, weights, np.zeros(300, int), np.zeros((1, 1)), d)
        cells.set_prices(prices, row[None])
        for _ in range(60):
            v = rng.standard_normal(d) * rng.choice([0.01, 0.3, 3.0])
            s, log_scale = math.exp(rng.uniform(-2, 1)), rng.uniform(-2, 0)
            y = prices + log_scale + 0.5 * d * math.log(s) - 0.5 * s * np.square(z - v[:, None]).sum(axis=0)
            r = np.array([np.linalg.norm(v)])
            logs = np.array([math.log(s) - rng.choice([0.0, 0.1]), math.log(s) + 1e-15])
            found = cells.by_moments(0, r * (1 - 1e-12), r, logs, log_scale)
            assert found >= weights @ np.maximum(0.0, y) * (1 - 1e-12)


@pytest.mark.parametrize("d", [2, 5, 12])
def test_bends_are_what_the_convex_term_lacks(d):
    """Of (Y7): |V|^2 / 2 less |v|^2 / (2 (1 + x)) + (d / 2) (x - log(1 + x)) in a ball, at most and about so."""
    rng = np.random.default_rng(d)
    radii = np.array([1e-5, 1e-3, 0.05, 0.3, 1.0, 3.0])
    for radius, found in zip(radii, bends(radii, d), strict=True):
        points = rng.standard_normal((20_000, 2))
        points *= radius / np.linalg.norm(points, axis=1)[:, None]
        points[:2_000] *= rng.random((2_000, 1))
        v, x = points[:, 0], points[:, 1] * math.sqrt(2.0 / d)
        v, x = v[x > -1.0], x[x > -1.0]
        convex = [float(mpmath.mpf(a) ** 2 / (2 * (1 + mpmath.mpf(b))) + mpmath.mpf(d) / 2 * (b - mpmath.log1p(b)))
                  for a, b in zip(v[:500], x[:500], strict=True)]  # fmt: skip
        true = 0.5 * (v**2 + 0.5 * d * x**2)[:500] - convex
        assert found >= true.max() - 1e-17
        every = 0.5 * (v**2 + 0.5 * d * x**2) - 0.5 * v**2 / (1 + x) - 0.5 * d * (x - np.log1p(x))
        assert radius < 0.01 or found <= 1.1 * every.max()


@pytest.mark.parametrize("shape", ["normal", "heavy", "skewed", "ties", "constant", "dependent", "collapsed", "offset"])
@pytest.mark.parametrize(("n", "d", "K"), [(60, 2, 2), (500, 5, 3), (300, 8, 4)])
def test_no_component_saves_more_than_its_ball_says(shape, n, d, K):
    """Means and precisions around an atom, at prices near those of searches and others."""
    rng = np.random.default_rng([n, d, K, len(shape), 7])
    for _ in range(4):
        columns, means, label = shaped("normal" if shape == "collapsed" else shape, rng, n, d, K)
        if shape == "collapsed":  # one cluster is nearly a point
            columns = np.where(label == 0, means[0][:, None] + 1e-3 * (columns - means[0][:, None]), columns)
        weights = rng.choice([0.5, 1.0, 3.0], n)
        frame = Frame(columns, means)
        z, m = frame.samples, frame.means
        prices, labels = priced(rng, z, m, weights, label)
        k = int(rng.integers(K))
        precision = math.exp(rng.uniform(-2.0, -0.2))
        mean = m[k] + rng.choice([0.0, 0.1]) * rng.standard_normal(d)
        prices = prices - 0.5 * d * rng.choice([0.0, 1.0]) * math.log(precision)
        raised = frame.raised(prices)
        ball = Ball(z, weights, raised, labels, K, mean, precision, True, *[1e-3 * weights.sum()] * 2,
                    rng.uniform(-2, 0))  # fmt: skip
        while ball.grow():
            pass
        assert (np.diff(ball.radii) > 0).all()
        assert (np.diff(ball.bounds) >= 0).all()
        for _ in range(40):
            u = rng.standard_normal(d + 1)
            u *= rng.choice(ball.radii) * rng.choice([1.0, rng.random()]) / np.linalg.norm(u)
            x = u[d] * math.sqrt(2.0 / d)
            s = precision * (1.0 + x)
            if not 0.0 < s <= 1.0:
                continue
            point = mean + math.sqrt(precision) * u[:d] / s
            point = frame.axes @ (frame.means_of(point) - frame.origin)
            at = frame.means_of(point)
            gains = prices + 0.5 * d * math.log(s) - 0.5 * s * np.square(columns - at[:, None]).sum(axis=0)
            value, _ = best_saved(weights, gains)
            away = np.array([np.linalg.norm(point - mean)])
            found = ball.said_of(away, np.array([s]), np.array([s]))[0]
            assert found >= value - 1e-9 * (1.0 + value), (shape, found, value)


def exceeds_what_ascents_reach(bound, kind):
    """Ascents from samples and from the incumbent's means, at the prices that there are."""
    z, w = bound.frame.samples, bound.weights
    d, n = z.shape
    rng = np.random.default_rng(0)
    starts = [z[:, i] for i in rng.integers(n, size=20)] + list(bound.frame.means)
    floored = np.log(rng.uniform(size=len(starts))) * (kind == "spherical")
    for m, log_s in zip(starts, floored, strict=True):
        s = math.exp(log_s)
        for _ in range(30):
            away = np.square(z - m[:, None]).sum(axis=0)
            reached, mass = saved(w, bound.prices + 0.5 * d * math.log(s) - 0.5 * s * away)
            total = max(mass.sum(), 1e-300)
            m = z @ mass / total
            if kind == "spherical":
                s = 1.0 / max(1.0, mass @ np.square(z - m[:, None]).sum(axis=0) / (d * total))
        assert bound.supremum >= reached * (1 - 1e-9) - 1e-9


@pytest.mark.parametrize(("n", "d", "K", "gap", "kind", "shape"), [
    (2_000, 4, 2, 8.0, "known", "normal"), (2_500, 6, 3, 7.0, "known", "normal"), (2_000, 5, 3, 3.0, "known", "normal"),
    (2_000, 4, 2, 9.0, "spherical", "normal"), (1_500, 6, 3, 8.0, "spherical", "normal"),
    (1_500, 5, 3, 4.0, "spherical", "heavy"), (1_500, 4, 2, 7.0, "spherical", "ties"),
    (1_500, 4, 3, 7.0, "spherical", "offset"),
])  # fmt: skip
def test_it_is_below_the_optimum_and_exceeds_what_ascents_reach(n, d, K, gap, kind, shape, monkeypatch):
    """Even where solutions below a limit above the optimum are sought: nothing may end by proof."""
    monkeypatch.setattr(hull, "MOST_CELLS", 1_500)
    monkeypatch.setattr(hull, "ROOMY_FROM", 0)
    found, label = problem(n, d, K, gap, n + d, kind, shape)
    family = engine.family(found)
    vector, value = incumbent(family, label, K)
    bound = HullBound(family, vector, math.inf)
    while bound.step(math.inf):
        pass
    assert -math.inf < bound.lower <= value
    exceeds_what_ascents_reach(bound, kind)
    if K == 2 and kind == "known":
        assert value - bound.lower < 0.02 * n


@pytest.mark.parametrize(("n", "d", "K", "kind", "shape"), [
    (1_500, 5, 3, "known", "normal"), (1_500, 5, 3, "spherical", "normal"), (1_200, 4, 5, "spherical", "ties"),
    (1_200, 7, 3, "spherical", "heavy"),
])  # fmt: skip
def test_some_samples_that_say_which_cells_are_of_use_prove_nothing(n, d, K, kind, shape, monkeypatch):
    """With a draft of a fifth of the samples, which say that most cells are too large: those are infinite, or right."""
    monkeypatch.setattr(hull, "MOST_CELLS", 1_500)
    monkeypatch.setattr(hull, "ROOMY_FROM", 0)
    found, label = problem(n, d, K, 6.0, n + d, kind, shape)
    family = engine.family(found)
    vector, value = incumbent(family, label, K)
    told = []
    for step in (math.inf, 3):
        monkeypatch.setattr(hull_drafts, "DRAFT", n / (5 * d * (K + 1)))
        monkeypatch.setattr(hull_drafts, "DRAFTED", step)
        bound = HullBound(family, vector, value)
        while bound.step(math.inf):
            pass
        exceeds_what_ascents_reach(bound, kind)
        told.append(bound)
    assert told[0].cells_at.draft is None
    assert told[1].cells_at.draft.n_terms > 0
    assert -math.inf < told[1].lower <= value


def test_where_there_are_few_tables_a_cell_has_none_of_another_range(monkeypatch):
    """Of more ranges of the precision than tables, each has its own table or that of a range around it."""
    monkeypatch.setattr(hull, "MOST_CELLS", 1_500)
    monkeypatch.setattr(hull_tables, "MOST_TABLES", 1)
    monkeypatch.setattr(hull, "ROOT_RANGE", 0.25)
    found, label = problem(1_500, 5, 3, 7.0, 6, "spherical", "normal")
    family = engine.family(found)
    vector, _ = incumbent(family, label, 3)
    bound = HullBound(family, vector, math.inf)
    while bound.step(math.inf):
        pass
    ranges = {place: ends for ends, place in bound.tables.found.items()}
    assert len(ranges) > 8
    for _, _, low, high, _, place in bound.heap:
        if place >= 0:
            assert ranges[place][0] <= low[-1] < high[-1] <= ranges[place][1]
    exceeds_what_ascents_reach(bound, "spherical")


@pytest.mark.parametrize("kind", ["known", "spherical"])
def test_it_is_the_same_on_any_number_of_threads(kind, monkeypatch):
    monkeypatch.setattr(hull, "MOST_CELLS", 600)
    monkeypatch.setattr(hull, "ROOMY_FROM", 0)
    found, label = problem(2_000, 5, 3, 6.0, kind=kind)
    family = engine.family(found)
    vector, value = incumbent(family, label, 3)
    told = []
    for threads in (1, 2):
        bound = HullBound(family, vector, value, threads)
        while bound.step(math.inf):
            pass
        told.append((bound.lower, bound.n_terms, bound.n_cells))
    assert told[0] == told[1]


def test_cells_end_where_prices_leave_what_is_open(monkeypatch):
    monkeypatch.setattr(hull, "CONFINING", 0.0)  # else cells say where a better solution's components are
    monkeypatch.setattr(hull, "LOST", 0.0)
    for name, value in (("HEIGHTS", 2.5), ("AMBIGUOUS", 0.02), ("REACHED", 0.85)):  # prices that lose more than others
        monkeypatch.setattr(hull_atoms, name, (value,))
    monkeypatch.setattr(hull_corners, "ACROSS", 0.0)  # cells that are left until then
    found, label = problem(2_000, 4, 3, 6.0)
    family = engine.family(found)
    vector, value = incumbent(family, label, 3)

    def told(share):
        monkeypatch.setattr(hull, "OF_PRICES", share)
        bound = HullBound(family, vector, value + 10.0)  # more than any prices can prove
        while bound.step(math.inf) and (bound.phase == "begin" or bound.n_cells < 12_000):
            pass
        return bound

    short, long = told(hull.OF_PRICES), told(0.0)
    assert short.n_cells < long.n_cells / 2
    assert long.lower - short.lower <= 0.1 * (short.limit - long.lower)


@pytest.mark.parametrize("kind", ["known", "spherical"])
def test_the_search_takes_it_and_agrees_with_the_one_without(kind):
    found, _ = problem(5_000, 7, 2, 9.0, kind=kind)
    told = gopfast.solve(found, epsilon=2.0, max_nodes=20, log=False)
    with gopfast.settings(hull=False):
        other = gopfast.solve(found, epsilon=2.0, max_nodes=20, log=False)
    assert told.lower_bound <= other.objective + 1e-6
    assert other.lower_bound <= told.objective + 1e-6
    assert told.profile["hull"].calls > 0
