"""Groups of samples in place of samples, of mixtures of known covariance: against definitions, and attacked."""

import math
import time

import numpy as np
import pytest
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.shared.sample_cells import cells_of, moments_of
from gopfast.search.meter import Meter
from support.plans import plan_of
from support.tied_bounds import bound_of, problem_of, told

import gopfast
from gopfast.mixtures import engine, plan as plan_module
from gopfast.mixtures.mechanisms import Gathered, GatheredKnown, RoughPrices
from gopfast.mixtures.shared import (
    estimates as estimates_module,
    gathered,
    gathered_known,
    rough_covariances as rough_module,
)
from gopfast.mixtures.shared.estimates import Estimates, posterior, refit
from gopfast.mixtures.shared.gathered import Gathering, groups_of, points_of, proxies
from gopfast.mixtures.shared.gathered_known import GatheredBound
from gopfast.mixtures.shared.rough_search import PriceMaker, allowed


def samples_of(rng, n=None, d=None):
    """Columns (d, n) and weights: clusters, ties, constant and dependent columns, far from 0."""
    d = int(rng.integers(1, 5)) if d is None else d
    n = int(rng.integers(2, 400)) if n is None else n
    x = rng.standard_normal((d, n)) * 10.0 ** rng.uniform(-1.5, 1.0, (d, 1))
    x += rng.choice([0.0, 5.0, 30.0]) * rng.standard_normal((d, 3))[:, rng.integers(0, 3, n)]
    kind = rng.integers(5)
    if kind == 0:
        x = np.round(x)
    elif kind == 1:
        x[-1] = x[0, 0]
    elif kind == 2:
        x[-1] = -2.0 * x[0]
    elif kind == 3:
        x += 100.0
    return np.ascontiguousarray(x), rng.choice([1e-3, 0.5, 1.0, 1e3], n) if rng.random() < 0.5 else np.ones(n)


@pytest.mark.parametrize("seed", range(40))
def test_cells_of_samples_are_those_of_a_grid_and_their_moments_by_definition(seed):
    rng = np.random.default_rng(seed)
    x, w = samples_of(rng)
    low, width = x.min(axis=1), 10.0 ** rng.uniform(-3, 2)
    cells, n_cells = cells_of(x, low, width)
    places = np.floor((x - low[:, None]) / width)
    known, of = np.unique(places, axis=1, return_inverse=True)
    assert n_cells == known.shape[1] == len(set(zip(cells, of.ravel(), strict=True)))
    mass, means, squares, second = moments_of(x, w, cells, n_cells)
    for cell in range(n_cells):
        inside = cells == cell
        z = x[:, inside]
        center = z @ w[inside] / w[inside].sum()
        z = z - center[:, None]
        assert mass[cell] == pytest.approx(w[inside].sum(), rel=1e-13)
        assert means[:, cell] == pytest.approx(center, rel=1e-12, abs=1e-12 * np.abs(x).max())
        assert squares[cell] == pytest.approx(np.square(z).sum(axis=0).max(), rel=1e-9, abs=1e-20 * np.square(x).max())
        exact = (w[inside] * z) @ z.T / w[inside].sum()
        assert second[cell] == pytest.approx(exact, rel=1e-9, abs=1e-14 * np.square(x).max())
        assert np.array_equal(second[cell], second[cell].T)


def test_grids_that_are_too_fine_have_no_cells():
    x = np.ascontiguousarray(np.random.default_rng(1).standard_normal((3, 50)))
    assert cells_of(x, x.min(axis=1), 1e-8) == (None, 0)
    assert cells_of(x[:1], x[:1].min(axis=1), 1e-8)[1] == 50


def cost(columns, weights, shares, means):
    """The objective of components of variance one, less the constant of their densities."""
    logs = np.log(shares)[:, None] - 0.5 * np.square(columns[None] - means[:, :, None]).sum(axis=1)
    top = logs.max(axis=0)
    return -math.fsum(weights * (top + np.log(np.exp(logs - top).sum(axis=0))))


@pytest.mark.parametrize("seed", range(60))
def test_moments_of_groups_are_within_their_proxies(seed):
    """Two points of unlike weights, and all others, in random directions and in those of samples."""
    rng = np.random.default_rng(seed)
    x, w = samples_of(rng, 2 if seed % 3 == 0 else int(rng.integers(2, 40)))
    x -= (x @ w / w.sum())[:, None]
    second = (w * x) @ x.T / w.sum()
    q = float(proxies(np.linalg.eigvalsh(second)[-1:], np.square(x).sum(axis=0).max(keepdims=True))[0])
    assert q <= np.square(x).sum(axis=0).max()
    for turn in range(400):
        t = rng.standard_normal(len(x)) if turn % 2 else x[:, rng.integers(x.shape[1])] * rng.choice([-1.0, 1.0])
        t = t / max(np.linalg.norm(t), 1e-300) * 10.0 ** rng.uniform(-1, 2) / math.sqrt(max(q, 1e-12))
        logs = t @ x
        moment = logs.max() + math.log(w @ np.exp(logs - logs.max()) / w.sum())
        assert moment <= 0.5 * q * (t @ t) + 1e-9 * (1.0 + abs(moment))


@pytest.mark.parametrize("seed", range(120))
def test_points_of_groups_cost_less_than_samples_at_every_mixture(seed):
    """(TF4), for any centers: components between groups and far from all, of little weight, and many alike."""
    rng = np.random.default_rng(seed)
    x, w = samples_of(rng)
    q = float(rng.choice([1e-3, 0.03, 0.2, 0.7, 0.95]))
    groups = groups_of(x, w, q, math.inf)
    assert groups.weights.sum() == pytest.approx(w.sum())
    assert groups.weights @ groups.means.T == pytest.approx(x @ w, abs=1e-9 * (np.abs(x) @ w).max() + 1e-9)
    assert np.bincount(groups.labels, w) == pytest.approx(groups.weights, rel=1e-12)
    for row, means in zip(x, groups.means, strict=True):
        inside = np.bincount(groups.labels, w * row) / groups.weights
        assert inside == pytest.approx(means, abs=1e-9 * np.abs(row).max())
    size = 0.5 * float(w @ np.square(x).sum(axis=0)) + w.sum()
    for _ in range(12):
        K = int(rng.integers(1, 6))
        means = x[:, rng.integers(0, x.shape[1], K)].T + rng.choice([0.0, 0.3, 3.0]) * rng.standard_normal((K, len(x)))
        shares = rng.dirichlet(np.full(K, rng.choice([0.1, 5.0]))) + 1e-12
        shares /= shares.sum()
        centers = posterior(groups.means, means, shares)
        if rng.random() < 0.3:
            centers = centers + rng.standard_normal(centers.shape) * rng.choice([0.1, 10.0])
        points, shift = points_of(groups, q, centers)
        of_groups = cost(points, groups.weights, shares, math.sqrt(1.0 - q) * means) + shift
        assert of_groups <= cost(x, w, shares, means) + 1e-12 * (size + abs(shift))


def test_little_is_lost_of_clusters_that_are_apart():
    rng = np.random.default_rng(1)
    means = np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 2.0], [0.0, 9.0, -2.0]])
    x = (means[rng.integers(0, 3, 20_000)] + rng.standard_normal((20_000, 3))).T
    w, shares = np.ones(20_000), np.ones(3) / 3
    before = math.inf
    for q in (0.3, 0.1, 0.03):
        groups = groups_of(np.ascontiguousarray(x), w, q, math.inf)
        points, shift = points_of(groups, q, posterior(groups.means, means, shares))
        lost = cost(x, w, shares, means) - shift - cost(points, groups.weights, shares, math.sqrt(1.0 - q) * means)
        assert 0.0 <= lost < min(before, 0.01 * 20_000)
        assert len(groups.weights) < 9_000
        before = lost


@pytest.mark.parametrize("seed", range(24))
def test_groups_of_groups_cost_less_than_samples_at_every_mixture(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(gathered, "ONCE_FROM", 1)
    slices = engine.family(problem_of(seed, 400, 2 + seed % 2)).slices()
    z, weights, W, (d, n) = slices.columns, slices.weights, slices.total, slices.columns.shape
    center = np.linalg.inv(rng.uniform(0.05, 0.5) * np.cov(z) + 1e-6 * np.eye(d))
    gathering, n_small = Gathering(slices, 1e-4, None, None, center), 0
    for _ in range(8):
        turn, _ = np.linalg.qr(rng.standard_normal((d, d)))
        B = (turn * np.exp(rng.uniform(-2.0, 0.3, d))) @ turn.T @ gathering.root
        q = float(rng.choice([0.05, 0.1, 0.25, 0.5]))
        groups, kept = gathering._groups(B, q, n)
        n_small += kept != 0.0
        assert np.bincount(groups.labels, weights) == pytest.approx(groups.weights, rel=1e-12)
        for _ in range(4):
            means = (B @ z[:, rng.choice(n, 3)] + rng.choice([0.1, 1.0]) * rng.standard_normal((d, 3))).T
            shares = rng.dirichlet([2.0] * 3)
            centers = posterior(groups.means, means, shares)
            centers = centers + rng.choice([0.0, 0.3]) * rng.standard_normal(centers.shape)
            points, shift = points_of(groups, q, centers)
            full = refit(B @ z, weights, means, shares, 1)[0]
            low = refit(points, groups.weights, math.sqrt(1.0 - q) * means, shares, 1)[0]
            assert low + shift + kept <= full + 1e-10 * (W + abs(full))
    assert n_small


def test_groups_are_given_up_where_they_are_too_many():
    x, w = samples_of(np.random.default_rng(3), 300, 3)
    assert groups_of(x, w, 1e-8, 20) is None
    assert len(groups_of(x, w, 1e-8, 300).weights) <= 300


@pytest.mark.parametrize("seed", range(12))
def test_searches_of_groups_prove_less_than_is_attained_of_samples(seed, monkeypatch):
    """
    Told to prove more than they have found, by 0.001 to 0.5 nats a sample; precisions cut clusters into slices.

    Prices that are carried over are those of another precision, which may be good enough, or nonsense.
    """
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(gathered, "MOST", 1.0)
    monkeypatch.setattr(estimates_module, "ESTIMATED_BY", 60)
    problem = problem_of(seed, 300, 2 + seed % 2)
    slices, meter = engine.family(problem).slices(), Meter()
    W, d, raised = slices.total, len(slices.columns), (1e-3, 0.1, 0.5)[seed % 3]

    def misled(plan, solution, limit, rough, lift=None):
        return RoughPrices.learner(plan, solution, limit + raised * W, rough, lift)

    plan = plan_of(problem).of_fixed(hasty=True)
    gathering = Gathering(slices, 1e-4, plan, PriceMaker(misled, Meter(), meter))
    estimates = Estimates(slices, 1e-4, plan)
    n_found, lift = 0, None
    for rough in (0.01, 0.1, 0.5, 0.1, 0.5):
        root = rng.standard_normal((d, d)) * rng.choice([0.5, 2.0])
        A = root @ root.T + 0.2 * np.eye(d)
        asked = {"asked": 0.0} if rng.random() < 0.5 else {}
        search, _ = gathering.search(estimates.at(A, rng.standard_normal((3, d))), rough * W, lift=lift, **asked)
        if search is None:
            continue
        n_found += 1
        while not (search.is_over or search.done):
            search.go_on(time.monotonic() + 100.0)
        if search.is_over and search.lift is not None:
            assert search.lift.shape == slices.weights.shape
            lift = search.lift
        if rng.random() < 0.3:
            lift = rng.choice([0.1, 3.0, 30.0]) * rng.standard_normal(len(slices.weights))
        known, _ = slices.known(A)
        local, attained = MixturePrimal(known, 1), []
        for _ in range(8):
            means = known.data.arrays()[0][:d, rng.integers(known.data.n_samples, size=3)].T
            attained.append(local.em(np.full(3, 1 / 3), means, 0.0, 200)[1].min())
        assert -math.inf < search.lower
        assert search.lower + search.shift <= min(attained) + slices.known_loss(A, W) + 1e-9 * W
    assert n_found and meter.terms > 0


@pytest.mark.parametrize("raised", [1e-3, 0.05, 0.5])
@pytest.mark.parametrize("seed", range(12))
def test_no_bound_by_groups_exceeds_an_objective_attained(seed, raised, monkeypatch):
    """It is told to prove more than is true; cells that hold a known solution's matrix stay open."""
    monkeypatch.setattr(rough_module, "LEAST_ROUGH", 0.0)
    monkeypatch.setattr(gathered, "MOST", 1.0)
    monkeypatch.setattr(estimates_module, "ESTIMATED_BY", 50)
    problem = problem_of(seed, 30 + 20 * (seed % 4))
    bound, best = bound_of(problem, raised * problem.total_weight, is_rough=True)
    bound.prices = bound.prices._replace(gathered=Meter())
    bound.gathering = Gathering(bound.slices, bound.epsilon, bound.plan, bound.prices)
    found = told(bound, 60)
    assert -math.inf < max(found) <= best + 1e-12 * abs(best)
    assert bound.prices.gathered.terms > 0


def test_what_is_far_above_what_is_asked_for_may_lose_more():
    assert allowed(1.0, 50.0, math.inf, 0.2, 1.0) == 1.0
    assert allowed(1.0, 50.0, 48.0, 0.2, 1.0) == 1.0
    assert allowed(1.0, 50.0, 10.0, 0.2, 0.0) == 8.0
    assert 1.0 < allowed(1.0, 50.0, 10.0, 0.2, 1.0) < 8.0
    assert allowed(1.0, 50.0, 10.0, 0.2, 1e4) == 1.0


@pytest.mark.parametrize("K", [3, 4])
def test_many_samples_of_clusters_apart_come_near_their_objective(K):
    """Groups are at work, and prove most of what there is by few steps."""
    rng = np.random.default_rng(K)
    means = 9.0 * np.array([[0, 0, 0], [1, 0, 0.2], [0, 1, -0.2], [1, 1, 0]])[:K]
    x = means[rng.integers(0, K, 6000)] + rng.standard_normal((6000, 3))
    result = gopfast.solve(gopfast.GaussianMixture(x, K, covariance="tied"), max_nodes=600, n_threads=1, log=False)
    assert result.profile["gathered"].calls > 0
    assert result.lower_bound <= result.objective


def test_parameters_that_many_samples_share_are_fixed_where_groups_are_in_their_place(monkeypatch):
    monkeypatch.setattr(plan_module, "MOST_SLICED", 5_000)
    x = np.random.default_rng(1).standard_normal((6_000, 2))
    three, two = (gopfast.GaussianMixture(x, K, covariance="tied") for K in (3, 2))
    assert plan_of(three).slices is not None
    assert plan_of(two).slices is not None  # lines lose nothing: a few of them are enough
    monkeypatch.setattr(plan_module, "MOST_SLICED_EXACTLY", 5_000)
    assert plan_of(three).slices is not None
    assert plan_of(two).slices is None
    assert plan_of(gopfast.GaussianMixture(x[:5_000], 2, covariance="tied")).slices is not None
    with gopfast.settings(gathered=False):
        assert plan_of(three).slices is None
    assert plan_of(three).has(Gathered) and not plan_of(two).has(Gathered)


@pytest.mark.parametrize("raised", [1e-3, 0.05, 0.5])
@pytest.mark.parametrize("seed", range(24))
def test_no_bound_of_known_variance_by_groups_exceeds_an_objective_attained(seed, raised, monkeypatch):
    """It is told to prove more than is true, of groups from coarse to fine, and with any solution for their centers."""
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(gathered_known, "MOST", 1.0)
    x, w = samples_of(rng, 150, 1 + seed % 4)
    K = int(rng.integers(2, 4))
    known = {"covariance": "known", "noise_variance": rng.choice([0.3, 1.0, 4.0])}
    problem = gopfast.GaussianMixture(x.T, K, sample_weight=w, **known)
    family, W = engine.family(problem), problem.total_weight
    local, columns = MixturePrimal(family, 1), family.data.arrays()[0]
    ends = [local.em(np.full(K, 1 / K), rng.choice(columns.T, K), 0.0, 300) for _ in range(12)]
    best = min(trace.min() for _, trace, _ in ends)
    solution = ends[0][0]
    if seed % 2:  # no solution: any points are valid centers
        solution = np.concatenate([rng.dirichlet(np.ones(K)), rng.choice(columns.T, K).ravel(), [0.0]])
    bound = GatheredBound(family, solution, best + raised * W, 1e-4, plan_of(problem).of_fixed())
    found = told(bound, 60, time.monotonic() + 2.0)
    assert -math.inf < max(found) <= best + 1e-12 * abs(best)
    assert bound.n_terms > 0 and bound.n_passes > 0


def test_known_variances_of_many_samples_are_searched_by_groups(monkeypatch):
    """The search says so, its bound is below the optimum, and comes near it of clusters that are apart."""
    monkeypatch.setattr(gathered_known, "FROM", 6_000)
    rng = np.random.default_rng(3)
    means = 8.0 * np.array([[0, 0, 0, 0], [1, 0, 0.2, 0], [0, 1, -0.2, 0.5]])
    x = means[rng.integers(0, 3, 6_000)] + rng.standard_normal((6_000, 4))
    monkeypatch.setattr(gathered_known, "MOST", 0.9)
    problem = gopfast.GaussianMixture(x, 3, covariance="known")
    result = gopfast.solve(problem, time_limit=3.0, n_threads=1, log=False)
    assert result.profile["gathered_known"].calls > 0
    assert result.objective - 0.5 * len(x) <= result.lower_bound <= result.objective
    for other in (
        gopfast.GaussianMixture(x[:5_999], 3, covariance="known"),
        gopfast.GaussianMixture(x[:, :3], 3, covariance="known"),
        gopfast.GaussianMixture(x, 3, covariance="spherical"),
    ):
        assert not gathered_known.is_gathered(engine.family(other))
    with gopfast.settings(gathered_known=False):
        assert not plan_of(problem).has(GatheredKnown)
