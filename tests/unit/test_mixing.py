"""Mixing distributions on part of the line, and the sets that they prove a mean of every good mixture to lie in."""

import numpy as np
import pytest
from gopfast.mixtures.data.samples import Samples
from gopfast.mixtures.mixing.mixing import MixingDistribution, compressed
from support.datasets import galaxies

import gopfast
from gopfast.mixtures.data import summary

ROUNDING = 1e-11


def samples(x, w):
    return Samples(np.reshape(x, (-1, 1)), np.asarray(w, dtype=float), np.ones(1))


def core(data):
    columns, weights = data.arrays()
    return columns[0], weights


def log_kernel(x, points):
    return -0.5 * np.square(x[:, None] - points)


def excess(x, w, distribution, points):
    """Value of a distribution (atoms, weights), and log(D / W) at the points, by long double arithmetic."""
    atoms, share = (np.asarray(part, dtype=np.longdouble) for part in distribution)
    x, w, points = (np.asarray(part, dtype=np.longdouble) for part in (x, w, points))
    exponent = log_kernel(x, atoms)
    largest = exponent.max(axis=1)
    log_p = largest + np.log(np.exp(exponent - largest[:, None]) @ share)
    exponent = log_kernel(x, points) - log_p[:, None]
    largest = exponent.max(axis=0)
    return -(w @ log_p), largest + np.log(w @ np.exp(exponent - largest)) - np.log(w.sum())


def best_on(x, w, points, n_steps=4000):
    """Least value found of a distribution on the points, by EM: no proof, but close."""
    kernel = np.exp(log_kernel(x, points))
    share = np.full(len(points), 1 / len(points))
    for step in range(n_steps):
        share = share * (kernel.T @ (w / (kernel @ share))) / w.sum()
        if step % 100 == 99:  # what has all but gone: the rest is a distribution on the points, too
            held = share > 1e-9 * share.max()
            kernel, share = kernel[:, held], share[held] / share[held].sum()
    return -float(w @ np.log(kernel @ share))


def inside(points, parts):
    held = np.zeros(len(points), dtype=bool)
    for low, high in parts:
        held |= (low <= points) & (points <= high)
    return held


def clusters(rng):
    n, k = int(rng.integers(3, 60)), int(rng.integers(1, 5))
    x = rng.uniform(1, 6) * rng.integers(k, size=n) + rng.normal(size=n) * rng.uniform(0.3, 1.5)
    x[: n // 4] = np.round(x[: n // 4])  # ties
    w = np.ones(n) if rng.random() < 0.5 else rng.uniform(0.1, 5, n)
    return samples(x, w)


def division(rng, low, high):
    """The line in alternating parts: what is kept, and what is taken."""
    ends = np.sort(np.concatenate([[low, high], rng.uniform(low, high, 2 * rng.integers(0, 3) + 1)]))
    parts = list(zip(ends[:-1], ends[1:], strict=True))
    return parts[::2], parts[1::2]


def test_no_distribution_outside_the_set_lies_below_the_limit():
    """The certificate itself, everywhere on a fine grid, and the best distribution there that EM finds."""
    rng = np.random.default_rng(0)
    found = tight = 0
    for _ in range(150):
        data = clusters(rng)
        x, w = core(data)
        support, spared = division(rng, x.min(), x.max())
        grid = np.concatenate([np.linspace(*part, 400) for part in support + spared])
        kept = np.concatenate([np.linspace(*part, 200) for part in support])
        limit = best_on(x, w, kept, 500) + rng.choice([-3.0, -0.3, -0.03, 0.01])
        mixing = MixingDistribution(data)
        proved = mixing.find(support, spared, limit)
        if proved is None:
            continue
        found += 1
        outside = grid[~inside(grid, proved)]
        value, logs = excess(x, w, mixing.distribution(), outside)
        assert mixing.value <= value + ROUNDING * (1 + abs(value))
        assert value - w.sum() * logs.max() >= limit - ROUNDING * (1 + abs(limit))
        reference = best_on(x, w, outside)
        assert reference >= limit - ROUNDING * (1 + abs(limit))
        tight += reference < limit + 1
        assert inside(proved.mean(axis=1), spared).all()
    assert found > 80
    assert tight > 20


def test_what_can_be_proved_is_proved():
    """A limit well below the best distribution on the support, and one above it."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        data = clusters(rng)
        x, w = core(data)
        support, spared = division(rng, x.min(), x.max())
        best = best_on(x, w, np.concatenate([np.linspace(*part, 200) for part in support]))
        assert MixingDistribution(data).find(support, spared, best - 0.2 - 1e-3 * abs(best)) is not None
        assert MixingDistribution(data).find(support, spared, best + 1e-6 * (1 + abs(best))) is None


def test_all_of_the_line_is_the_nonparametric_bound():
    """Nothing is taken: the set is empty once the limit is below the best distribution, which has seven atoms here."""
    data = samples(galaxies().ravel(), np.ones(82))
    x, w = core(data)
    mixing = MixingDistribution(data)
    whole = [(x.min(), x.max())]
    assert mixing.find(whole, [], 100.0).shape == (0, 2)
    low, high = 100.0, 130.0
    while high - low > 1e-7:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if mixing.find(whole, [], middle) is not None else (low, middle)
    attained = gopfast.solve(gopfast.GaussianMixture(galaxies(), 7, covariance="known"), 1e-3).objective
    assert attained - 1e-5 <= low <= attained + ROUNDING


@pytest.mark.parametrize("shift", [0.0, 1e3])
@pytest.mark.parametrize("weight", [1e-6, 1.0, 1e9])
def test_weights_and_places_of_any_size(shift, weight):
    rng = np.random.default_rng(2)
    x = 4 * rng.integers(3, size=50) + rng.normal(size=50) + shift
    data = samples(x, np.full(50, weight))
    x, w = core(data)
    support, spared = [(x.min(), 0.0)], [(0.0, x.max())]
    best = best_on(x, w, np.linspace(x.min(), 0.0, 200))
    mixing = MixingDistribution(data)
    proved = mixing.find(support, spared, best - 0.05 * abs(best))
    assert proved is not None
    outside = np.linspace(x.min(), x.max(), 2000)
    value, logs = excess(x, w, mixing.distribution(), outside[~inside(outside, proved)])
    assert value - w.sum() * logs.max() >= (best - 0.05 * abs(best)) * (1 - ROUNDING)


def test_a_summary_proves_for_its_samples():
    rng = np.random.default_rng(3)
    x = 5 * rng.integers(3, size=3000) + rng.normal(size=3000)
    data = samples(x, np.ones(3000))
    for level in summary.levels(*data.arrays()):
        data.add_level(*level)
    assert data.levels
    x, w = core(data)
    support, spared = [(x.min(), -1.5), (1.5, x.max())], [(-1.5, 1.5)]
    for level in data.levels:
        mixing = MixingDistribution(level)
        assert mixing.shift < 0
        points, mass = core(level)
        kept = np.concatenate([np.linspace(*part, 60) for part in support])
        limit = best_on(points, mass, kept, 500) - 20 + mixing.shift
        proved = mixing.find(support, spared, limit)
        assert proved is not None
        outside = np.concatenate([np.linspace(*part, 200) for part in support + spared])
        outside = outside[~inside(outside, proved)]
        value, logs = excess(points, mass, mixing.distribution(), outside)
        assert value + mixing.shift - w.sum() * logs.max() >= limit - ROUNDING * abs(limit)
        assert best_on(x, w, outside, 300) >= limit


def test_compressed_data_have_the_moments_of_the_samples():
    rng = np.random.default_rng(4)
    data = samples(np.concatenate([rng.normal(size=3000), np.full(50, 7.0)]), rng.uniform(0.5, 2, 3050))
    few = compressed(data)
    assert few.n_samples < data.n_samples / 4
    x, w = core(data)
    y, v = core(few)
    assert (v >= 0).all()
    for power in range(4):
        assert v @ y**power == pytest.approx(w @ x**power, rel=1e-9, abs=1e-6)
    points = np.linspace(-3, 3, 50)
    exact, near = np.exp(log_kernel(x, points)).T @ w, np.exp(log_kernel(y, points)).T @ v
    np.testing.assert_allclose(near, exact, rtol=1e-4)
    small = samples(rng.normal(size=20), np.ones(20))
    assert compressed(small) is small


def test_nothing_is_proved_where_all_of_the_line_is_taken():
    data = samples(galaxies().ravel(), np.ones(82))
    x, _ = core(data)
    mixing = MixingDistribution(data)
    whole = [(x.min(), x.max())]
    assert mixing.find(np.zeros((0, 2)), whole, 100.0) is None
    assert mixing.find(whole, [], 100.0) is not None
    assert mixing.find(np.zeros((0, 2)), whole, 100.0) is None


def test_data_of_other_kinds_are_refused():
    with pytest.raises(ValueError, match="one-dimensional"):
        MixingDistribution(Samples(np.zeros((3, 2)) + np.arange(3)[:, None], np.ones(3), np.ones(2)))
    with pytest.raises(ValueError, match="one-dimensional"):
        MixingDistribution(Samples(np.arange(3.0)[:, None], np.ones(3), np.ones(1), squares=True))
