"""The bound of matrices of each component's own by parts of labels: against definitions, and attacked."""

import math

import numpy as np
import pytest
from gopfast.mixtures.shared.sample_cells import smooth, spread_of
from gopfast.mixtures.shares.slabs import most_in_slabs

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.shares.box_search import BoxSearch, best_prices, take_price
from gopfast.mixtures.shares.parts import PARTS, Label, variance_at
from gopfast.mixtures.shares.shares import ShareBound, Shares, trees

LAST = len(PARTS) - 1


def samples_of(rng, n, d, K):
    """Samples of some kind, and their labels, of which some are wrong."""
    labels = rng.integers(0, K, n)
    kind = rng.choice(["normal", "heavy", "skewed", "even", "rounded", "doubled"])
    X = {
        "heavy": lambda: rng.standard_t(3, (n, d)), "skewed": lambda: rng.exponential(1.0, (n, d)),
        "even": lambda: rng.uniform(-1.5, 1.5, (n, d)),
    }.get(kind, lambda: rng.standard_normal((n, d)))()  # fmt: skip
    for k in range(K):
        X[labels == k] = X[labels == k] @ (rng.standard_normal((d, d)) * rng.uniform(0.2, 1.0) + np.eye(d))
    X += (rng.standard_normal((K, d)) * rng.choice([1.0, 4.0, 10.0]))[labels]
    if kind == "rounded":
        X = np.round(X, 1)
    if kind == "doubled":
        X[: n // 2] = X[n // 2 : n // 2 * 2]
    some = rng.random(n) < rng.choice([0.0, 0.05, 1.0], p=[0.6, 0.3, 0.1])
    labels[some] = rng.integers(0, K, some.sum())
    return X, labels


class ByLabels:
    """A family whose only parameters are those of samples with these labels."""

    def __init__(self, X, labels, weights, K):
        own = [(X[labels == k], weights[labels == k]) for k in range(K)]
        self.means = np.array([np.average(x, axis=0, weights=w) for x, w in own])
        self.covariances = np.array([np.cov(x.T, aweights=w, ddof=0) for x, w in own])
        self.n_statistics = X.shape[1]

    def parameters(self, _):
        return {"means": self.means, "covariances": self.covariances}


def shares_of(rng, n, d, K, weight=1.0, shift=0.0):
    """Shares of labels that are those of clusters, mostly, or None."""
    X, labels = samples_of(rng, n, d, K)
    weights = weight * rng.choice([0.25, 1.0, 2.0], n)
    floor = float(rng.choice([1e-3, 0.05, 0.3])) * X.var(axis=0)
    problem = gopfast.GaussianMixture(X + shift, K, covariance="full", variance_floor=floor, sample_weight=weights)
    found = Shares(problem, ByLabels(X + shift, labels, weights, K), np.full(K, 1.0 / K))
    if found.K < K or not all(found.take_label() for _ in range(2 * K)):
        return None
    return found


def cost(C):
    """What a component of covariance C costs, per unit of its weight, where the floor is I."""
    values = np.linalg.eigvalsh(C)
    return 0.5 * float(np.where(values > 1.0, np.log(np.maximum(values, 1.0)) + 1.0, values).sum() - len(values))


def taken(rng, shares):
    """What a component takes of the samples (n,): of some labels all, slabs, tails, balls, or of a density."""
    r, d = np.zeros(shares.n), shares.d
    way, place, width = rng.standard_normal(d), rng.standard_normal(), rng.choice([0.01, 0.1, 0.3, 1.0])
    if rng.random() < 0.3:  # one slab through all labels, as thin as it may be
        y = way @ shares.z
        return (np.abs(y - np.quantile(y, rng.random())) < width * y.std()).astype(float)
    for label, own in zip(shares.labels, shares.places, strict=True):
        y = way @ label.x / np.linalg.norm(way)
        ball = np.square(label.x - rng.standard_normal((d, 1))).sum(axis=0)
        r[own] = [
            0.0, 1.0, rng.random(), np.abs(y - place) < width, y > np.quantile(y, rng.random()), ball < 3.0 * width,
            np.exp(-0.5 * ball / width),
        ][rng.integers(7)]  # fmt: skip
    return r


def moments(x, weights):
    mean = x @ weights / weights.sum()
    apart = x - mean[:, None]
    return mean, (weights * apart) @ apart.T / weights.sum()


def saved(shares, noises, r):
    """What a component saves without prices, by the definition of (OL1), and its parts of labels."""
    q, total = np.zeros(shares.K), 0.0
    for k, (label, own, noise) in enumerate(zip(shares.labels, shares.places, noises, strict=True)):
        weights = shares.weights[own] * r[own]
        q[k] = weights.sum() / shares.total
        if q[k] > 0.0:
            C = moments(label.x, weights)[1] + noise.variance * np.eye(shares.d)
            each = 0.5 * np.linalg.slogdet(C)[1] - 0.5 * shares.d * math.log1p(noise.variance) - label.log_det
            total += q[k] * each
    T = q.sum()
    w = q[q > 0.0] / T
    C = moments(shares.z, shares.weights * r)[1]
    return total - T * float(w @ np.log(w)) - T * cost(C), np.minimum(q / shares.shares, 1.0)


def around(parts):
    """The boxes of neighbours in the table."""
    low = np.maximum(np.searchsorted(PARTS, parts, side="right") - 1, 0)
    return low, np.maximum(np.minimum(np.searchsorted(PARTS, parts), LAST), low)


@pytest.mark.parametrize("seed", range(20))
def test_no_component_saves_more_than_is_said_of_its_parts(seed):
    rng = np.random.default_rng(seed)
    d, K = 3 + seed % 2, 2 + seed % 3
    shares = shares_of(rng, int(rng.choice([300, 2000])), d, K, rng.choice([1e-3, 1.0, 1e6]), rng.choice([0.0, 1e5]))
    if shares is None:
        return
    noises = list(shares.each_noise(float(rng.choice([0.03, 0.2]))))
    boxes = shares.boxes(noises)
    price = float(shares.shares.min() * rng.uniform(0.2, 2.0))
    take_price(boxes, price)
    n_looked_at = 0
    for _ in range(60):
        r = taken(rng, shares)
        if not shares.weights @ r > 0.0:
            continue
        value, parts = saved(shares, noises, r)
        low, high = around(parts)
        for wider in (0, 5, 200):
            below = np.maximum(low - rng.integers(0, wider + 1, K), 0)
            above = np.minimum(high + rng.integers(0, wider + 1, K), LAST)
            tree = rng.integers(0, len(shares.trees), 1)
            most = boxes.most(below[None], above[None], -math.inf, tree, int(rng.integers(2, 20)))[0]
            assert value + price * (parts.sum() - 1.0) <= most + 1e-9 * (1.0 + abs(most))
            n_looked_at += 1
    assert n_looked_at > 60


@pytest.mark.parametrize("seed", range(12))
def test_parts_are_no_thinner_and_no_further_than_is_said(seed):
    rng = np.random.default_rng(100 + seed)
    shares = shares_of(rng, int(rng.choice([500, 5000])), 3, 2, shift=rng.choice([0.0, 1e5]))
    if shares is None:
        return
    noises = list(shares.each_noise(float(rng.choice([0.02, 0.1]))))
    boxes = shares.boxes(noises)
    for k, (label, own, noise) in enumerate(zip(shares.labels, shares.places, noises, strict=True)):
        thin, weights, norms = label.thinnest(noise), shares.weights[own], np.square(label.x).sum(axis=0)
        for _ in range(40):
            y = rng.standard_normal(3) @ label.x
            inside = np.abs(y - np.quantile(y, rng.random())) < y.std() * rng.choice([0.02, 0.1, 0.4, 1.0, 2.5])
            r = inside if rng.random() < 0.6 else norms < np.quantile(norms, rng.random())
            mass = weights @ r
            if not mass > 0.0:
                continue
            at = around(np.array([min(1.0, mass / label.total)]))[0][0]
            values = np.linalg.eigvalsh(moments(label.x, weights * r)[1])
            assert values[0] >= thin[at] - 1e-9
            for added, lost in zip(boxes.tables.added, boxes.tables.lost[:, k, at], strict=True):
                floored = np.maximum(values, 0.0) + added * label.floor
                with np.errstate(divide="ignore"):
                    told = np.log((values + noise.variance) / (floored * (1.0 + noise.variance)))
                assert 0.5 * told.sum() + 1.5 * added <= lost + 1e-9 or not np.isfinite(told.sum())
            for u, way in enumerate(shares.ways):
                y = way @ shares.z[:, own] - shares.along[0][k, u]
                mean, square = (y @ (weights * r)) / mass, (y * y) @ (weights * r) / mass
                assert -shares.along[2][k, u, at] - 1e-9 <= mean <= shares.along[1][k, u, at] + 1e-9
                assert square <= shares.along[3][k, u, at] * (1.0 + 1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_slabs_weigh_no_more_than_is_said(seed):
    rng = np.random.default_rng(seed)
    d, n = 2 + seed % 3, 400
    x = rng.standard_normal((d, n)) if seed % 2 else np.round(rng.standard_normal((d, n)), 1)
    x = np.ascontiguousarray(x[:, np.argsort(np.square(x).sum(axis=0))])
    norms, weights = np.sqrt(np.square(x).sum(axis=0)), rng.uniform(0.5, 2.0, n)
    halves = np.array([0.01, 0.05, 0.2, 1.0])
    shells = np.array([0, 150, n], dtype=np.intp)
    most = most_in_slabs(x, weights, shells, norms[shells[1:] - 1], halves, 7, 0.01, 1e-12)
    for _ in range(400):
        way = rng.standard_normal(d)
        if rng.random() < 0.5:  # one of the columns, nearly
            way = np.eye(d)[rng.integers(d)] + 1e-3 * way
        y = way @ x / np.linalg.norm(way)
        for half, told in zip(halves, most, strict=True):
            place = y[rng.integers(n)] + rng.uniform(-half, half)
            assert weights[np.abs(y - place) <= half].sum() <= told * (1.0 + 1e-12)
    # and hardly more than there is
    assert most[-1] <= weights.sum() * (1.0 + 1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_parts_diverge_by_no_more_than_is_said(seed):
    """By the masses of the grid that samples with noise are on, of the label and of a part of it."""
    rng = np.random.default_rng(seed)
    n, d, variance, n_smoothed = 400, 2 + seed % 2, 0.2, 1 + seed % 3
    z, weights = rng.standard_normal((d, n)), rng.uniform(0.5, 2.0, n)
    if seed % 2:
        z[:, :20] *= 6.0
    label = Label(np.ascontiguousarray(z), weights, 0.0)
    noise = label.noise(variance, n_smoothed)
    step = math.sqrt(variance / (0.25 + 0.5 * n_smoothed))
    y = np.ascontiguousarray(label.x / step)
    low = y.min(axis=1) - (1.0 + n_smoothed)
    sizes = (y.max(axis=1) - low).astype(np.intp) + 3 + n_smoothed

    def density(weights):
        mass = spread_of(y, weights, low, sizes)[0]
        for _ in range(n_smoothed):
            smooth(mass, sizes)
        return mass / weights.sum()

    places = np.stack(np.meshgrid(*(low[j] + np.arange(sizes[j]) for j in range(d)), indexing="ij")).reshape(d, -1)
    squares = (np.square(places).sum(axis=0) + d / 12.0) * step * step / (1.0 + noise.variance)
    normal = -0.5 * (d * math.log(2.0 * math.pi * (1.0 + noise.variance)) + squares)  # its mean log over a step
    whole = density(weights)
    some = whole > 0.0
    entropy = -(whole[some] @ np.log(whole[some])) + d * math.log(step)
    assert noise.lack == pytest.approx(0.5 * d * math.log(2.0 * math.pi * math.e * (1.0 + noise.variance)) - entropy)
    for _ in range(60):
        r = rng.random(n) if rng.random() < 0.3 else (np.square(label.x).sum(axis=0) > rng.uniform(0.0, 8.0)) * 1.0
        if rng.random() < 0.3:
            r = (np.abs(rng.standard_normal(d) @ label.x) < rng.uniform(0.1, 1.0)) * 1.0
        part = weights @ r / label.total
        if not part > 1e-3:
            continue
        own = density(weights * r + 1e-300)
        own_some = own > 0.0
        told = own[own_some] @ (np.log(own[own_some]) - d * math.log(step) - normal[own_some])
        assert told <= noise.told[around(np.array([min(part, 1.0)]))[0][0]] + 1e-9


def test_divergence_tells_the_variance():
    for h in (0.004, 0.1, 0.4):
        for c in (1e-4, 0.01, 0.3, 0.9):
            p = (c + h) / (1.0 + h)
            found = variance_at(np.array([0.5 * (p - 1.0 - math.log(p))]), h)[0]
            assert found <= c
            assert found == pytest.approx(c, abs=0.004)
        assert variance_at(np.array([math.inf]), h)[0] == 0.0


@pytest.mark.parametrize("seed", range(6))
def test_boxes_leave_out_no_parts(seed):
    rng = np.random.default_rng(seed)
    K = 2 + seed % 2
    shares = None
    while shares is None:
        shares = shares_of(rng, 2000, 3, K)
    boxes = shares.boxes(list(shares.each_noise(0.05)))
    *_, (price, excess, _) = best_prices(boxes)
    search = BoxSearch(boxes, price, 0.01)
    assert not search.run(math.inf)
    points = rng.integers(0, LAST + 1, (20_000, K))
    assert search.most >= boxes.most(points, points).max()
    assert search.most >= max(excess, search.attained)
    # interrupted after each round it is as well a bound, and comes to the same
    other = BoxSearch(boxes, price, 0.01)
    while other.run(-math.inf):
        assert other.most >= search.attained
    assert other.most == search.most


@pytest.mark.parametrize("K", (2, 3, 4, 5))
def test_a_box_says_no_less_than_lists_of_parts_in_it(K):
    rng, shares = np.random.default_rng(50 + K), None
    while shares is None:
        shares = shares_of(rng, 2000, 3, K)
    boxes = shares.boxes(list(shares.each_noise(0.1)))
    take_price(boxes, 0.2)
    ends = np.sort(rng.integers(0, LAST + 1, (2, 300, K)), axis=0)
    ends[1] = np.where(rng.random((300, K)) < 0.5, np.minimum(ends[0] + 5, LAST), ends[1])
    said = boxes.most(ends[0], ends[1])
    for _ in range(20):
        inside = ends[0] + (rng.random((300, K)) * (ends[1] - ends[0] + 1)).astype(np.intp)
        assert (said >= boxes.most(inside, inside) - 1e-9).all()


def test_all_trees_are_tried_wherever_a_list_is_among_others():
    rng, shares = np.random.default_rng(7), None
    while shares is None:
        shares = shares_of(rng, 2000, 3, 4)
    boxes = shares.boxes(list(shares.each_noise(0.1)))
    take_price(boxes, 0.2)
    points, m = rng.integers(0, LAST + 1, (40, 4)), len(trees(4))
    each = [boxes.most(points, points, -np.inf, np.full(40, tree), 1) for tree in range(m)]
    for n_tried in (m, m + 1, 10 * m - 1):
        assert (boxes.most(points, points, n_tried=n_tried) == np.min(each, axis=0)).all()


def test_trees_of_labels():
    assert [len(trees(n)) for n in (2, 3, 4, 5)] == [1, 3, 15, 105]
    for tree in trees(4):
        assert tree[-1][0] | tree[-1][1] == 15
        assert all(not a & b for a, b in tree)


@pytest.mark.parametrize("seed", range(12))
def test_no_bound_by_shares_exceeds_an_objective_attained(seed):
    """Nothing is clipped: what it proves by itself, where it says most, and told labels that are wrong."""
    rng = np.random.default_rng(200 + seed)
    n, d, K = int(rng.choice([1500, 6000])), 3 + seed % 2, 2 + seed % 2
    means = 8.0 * rng.standard_normal((K, d))
    labels = rng.integers(0, K, n)
    X = rng.standard_normal((n, d)) @ (np.eye(d) + 0.3 * rng.standard_normal((d, d))) + means[labels]
    problem = gopfast.GaussianMixture(X, K, covariance="full")
    with gopfast.settings(shares=False):
        result = gopfast.solve(problem, max_nodes=1)
    family = engine.family(problem)
    told = labels if seed % 3 else rng.integers(0, K, n)
    own = ByLabels(X, told, np.ones(n), K)
    own.n_statistics = family.n_statistics
    bound = ShareBound(problem, own, np.full(K, 1.0 / K), result.objective)
    while bound.step(math.inf):
        pass
    assert np.isfinite(bound.lower) or seed % 3 == 0
    assert bound.lower <= result.objective
    if seed % 3 and d == 3:
        assert result.objective - bound.lower < 2.0 * n
