"""Tables by distance: no entry may be below what a cluster's samples save, or have of a component, in any direction."""

import math

import numpy as np
import pytest
from gopfast.mixtures.pricing.hull_cells import HullCells

from gopfast.mixtures.pricing.hull_frame import moments_of
from gopfast.mixtures.pricing.hull_tables import SCALES, SHIFTS, Tables, largest_fourth, table_of

SHAPES = ["normal", "heavy", "skewed", "ties", "constant", "line"]


def drawn(shape, rng, d, n):
    """Samples (d, n) of one cluster about 0."""
    noise = rng.standard_normal((d, n))
    if shape == "heavy":
        noise = rng.standard_t(2.5, (d, n))
    elif shape == "skewed":
        noise = rng.exponential(size=(d, n)) - 1.0
    elif shape == "ties":
        noise = np.round(noise)
    elif shape == "constant":
        noise[-1] = 0.0
    elif shape == "line":
        noise = np.outer(np.eye(d)[0], noise[0]) + 1e-3 * noise
    return noise


def priced(rng, z, precision):
    """Prices like those of a search, with some of others among them."""
    price = rng.uniform(0.3, 4.0) + 0.5 * precision * np.square(z).sum(axis=0)
    return np.where(rng.random(z.shape[1]) < 0.1, rng.random(z.shape[1]), 1.0) * price


def component(rng, z, precision):
    """A mean, often beyond a sample or on it, and a precision from the cluster's to that of a spike."""
    d, n = z.shape
    point = rng.standard_normal(d) * rng.choice([0.0, 0.1, 1.0, 3.0]) / math.sqrt(precision)
    if rng.random() < 0.5:
        point = z[:, rng.integers(n)] * rng.choice([0.5, 1.0, 1.0 + 1e-9, 2.0])
    return point, precision * math.exp(rng.choice([rng.uniform(-1.5, 1.0), rng.uniform(0.0, 6.0)]))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("d", [2, 6])
def test_no_direction_has_a_larger_fourth_power(shape, d):
    rng = np.random.default_rng([d, len(shape)])
    for n in (1, 7, 400):
        z, w = drawn(shape, rng, d, n), rng.choice([0.5, 1.0, 3.0], n)
        units = z / np.maximum(np.linalg.norm(z, axis=0) * (1 + 1e-15), 1e-300)
        for shift in SHIFTS:
            found = largest_fourth(units, w, shift)
            u = np.vstack([rng.standard_normal((60, d)), units.T[:30], -units.T[:5]])
            u /= np.maximum(np.linalg.norm(u, axis=1), 1e-300)[:, None]
            for _ in range(8):  # ascents: the sum is convex in u
                c = u @ units + shift
                u = (w * c**3) @ units.T
                u /= np.maximum(np.linalg.norm(u, axis=1), 1e-300)[:, None]
            best = (w * (u @ units + shift) ** 4).sum(axis=1).max()
            assert found >= best * (1 - 1e-13)
            assert found <= w.sum() * 4.0 * (1 + shift) ** 4
            if shape == "normal" and n == 400:
                assert found < 2.5 * best


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("d", "n", "free"), [(2, 40, 1), (5, 300, 1), (5, 300, 0), (9, 500, 1)])
def test_no_component_has_more_of_a_cluster_than_its_table_says(shape, d, n, free):
    rng = np.random.default_rng([d, n, free, len(shape)])
    z, w = drawn(shape, rng, d, n), rng.choice([0.5, 1.0, 3.0], n)
    precision = rng.uniform(0.05, 0.9) if free else 1.0
    z /= math.sqrt(precision)
    prices = priced(rng, z, precision)
    table = table_of(z, w, prices, precision, d * free, 1)
    ratios = []
    for _ in range(60):
        point, s = component(rng, z, precision)
        s = s if free else 1.0
        r, width = np.linalg.norm(point), rng.choice([0.0, 0.0, 0.3])
        shell = np.array([r * (1 - width) * (1 - 1e-14), r * (1 + width) * (1 + 1e-14) + 1e-300])
        logs = math.log(s) + free * np.array([-1e-15 - rng.choice([0.0, 0.2]), 1e-15 + rng.choice([0.0, 0.3])])
        scales = np.array([rng.uniform(-6.0, 0.0)])
        ends = np.exp(logs) * [1 - 1e-15, 1 + 1e-15]
        saved, mass = table.bound(*ends, *(0.5 * d * free * logs), shell, scales)
        y = scales + prices + 0.5 * d * free * math.log(s) - 0.5 * s * np.square(z - point[:, None]).sum(axis=0)
        assert saved[0, 0] >= w @ np.maximum(0.0, y) * (1 - 1e-12)
        assert mass[0, 0] >= w @ np.exp(np.minimum(0.0, y)) * (1 - 1e-12)
        if width == 0.0 and logs[1] - logs[0] < 1e-12 and w @ np.maximum(0.0, y) > 0.3 * w.sum():
            ratios.append(saved[0, 0] / (w @ np.maximum(0.0, y)))
    if shape == "normal" and ratios:
        assert min(ratios) < 1.5  # and it is of use


@pytest.mark.parametrize(("d", "q", "free"), [(6, 2, True), (4, 4, True), (7, 1, False)])
def test_no_component_saves_more_than_tables_say_of_its_cell(d, q, free):
    rng = np.random.default_rng([d, q])
    n, K = 600, 3
    means = np.zeros((K, d))
    means[:, :q] = 4.0 * rng.standard_normal((K, q))
    label = rng.integers(K, size=n)
    precisions = rng.uniform(0.2, 0.9, K) if free else np.ones(K)
    z = means[label].T + rng.standard_normal((d, n)) / np.sqrt(precisions[label])
    w = rng.choice([0.5, 1.0, 3.0], n)
    own = np.square(z - means[label].T).sum(axis=0)
    prices = rng.uniform(0.5, 3.0, K)[label] + 0.5 * precisions[label] * own
    labels = np.where(rng.random(n) < 0.05, K, label)
    places = np.column_stack([means[:, :q], np.linalg.norm(means[:, q:], axis=1)])
    tables = Tables(z, w, prices, labels, label, means, precisions, places, free, 100.0)
    order = np.argsort(labels, kind="stable")
    made = [moments_of(z[:, labels == k], w[labels == k], prices[labels == k], precisions[k], 100.0) for k in range(K)]
    centers = np.array([one[0] for one in made])
    cells = HullCells(z[:q][:, order], z[q:][:, order], w[order], labels[order],
                      np.column_stack([centers[:, :q], np.linalg.norm(centers[:, q:], axis=1)]), d * free)  # fmt: skip
    cells.set_prices(prices[order], np.array([one[1] for one in made]))
    for _ in range(60):
        k = int(rng.integers(K))
        point, s = component(rng, z - means[k][:, None], precisions[k])
        point, s = point + means[k], s if free else 1.0
        at = np.append(point[:q], np.linalg.norm(point[q:]))
        width = rng.choice([0.0, 0.1, 1.0]) * rng.random((2, q + 1)) + 1e-12
        low, high = np.maximum(at - width[0], np.append(np.full(q, -np.inf), 0.0))[None], (at + width[1])[None]
        ends = math.log(s) + free * np.array([-rng.choice([0.0, 0.2]), rng.choice([0.0, 0.3])])
        which = np.array([tables.of_range(*ends)])
        value, saved, mass = tables.bound(low, high, which)
        both, _ = cells.bound(low, high, ends[None], np.array([-1.0]), tables=(SCALES, saved, mass))
        gains = prices + 0.5 * d * free * math.log(s) - 0.5 * s * np.square(z - point[:, None]).sum(axis=0)
        for log_scale in np.linspace(-8.0, 0.0, 100):
            y = gains + log_scale
            tau = np.exp(np.minimum(0.0, y))
            S = max(w @ tau, 1e-300)
            saving = w @ (tau * (gains - np.minimum(0.0, y))) + S * math.log(S / w.sum())  # (P1): of this column
            for bound in (value, both):
                assert bound[0] >= saving - 1e-9 * (1 + abs(saving))


def test_ranges_without_a_table_take_that_of_a_longer_one(monkeypatch):
    rng = np.random.default_rng(0)
    z = rng.standard_normal((3, 50))
    tables = Tables(z, np.ones(50), priced(rng, z, 0.5), np.zeros(50, int), np.zeros(50, int), np.zeros((1, 3)),
                    np.array([0.5]), np.zeros((1, 4)), True, 10.0)  # fmt: skip
    monkeypatch.setattr("gopfast.mixtures.pricing.hull_tables.MOST_TABLES", 2)
    root = tables.of_range(-4.0, 0.0)
    half = tables.of_range(-2.0, 0.0, root)
    assert half != root
    assert tables.of_range(-1.0, 0.0, half) == half
    assert tables.of_range(-4.0, 0.0, half) == root
