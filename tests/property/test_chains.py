"""Chains of regressions: no cell below what a component saves, no sum of blocks above what a mixture costs."""

import math

import numpy as np
import pytest
from gopfast.mixtures.families.chain import ChainFamily
from gopfast.mixtures.pricing.chain_pricing import ChainPricing

import gopfast
from gopfast.mixtures import chains, engine
from gopfast.mixtures.chains import ChainsBound
from gopfast.mixtures.pricing import chain_blocks
from gopfast.mixtures.pricing.chain_blocks import ChainBlock, Chains, divided
from gopfast.mixtures.pricing.tuning import CHAIN_PARTS
from tests.support.problems import objectives_on_the_way


@pytest.fixture(autouse=True)
def few_steps(monkeypatch):
    """Whatever there is time for bounds the objective."""
    monkeypatch.setattr(chain_blocks, "MOST_OPEN", 1_000)
    monkeypatch.setattr(chains, "N_TURNS", 3)
    


def samples(rng, m, n):
    """Columns (m, n) with correlations, of one of three sizes, and weights (n,)."""
    columns = (rng.standard_normal((m, m)) @ rng.standard_normal((m, n))) * rng.choice([1.0, 4.0, 15.0])
    return columns + 100.0 * rng.standard_normal((m, 1)), rng.uniform(0.5, 2.0, n)


def saved(pricing, point, prices, mass, weights):
    """What a component saves with the column mass / w."""
    tau, S = mass / weights, mass.sum()
    costs = pricing.costs_at(point)[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = np.where(tau > 0.0, mass * np.log(tau), 0.0).sum()
    return float(mass @ (prices - costs) - entropy + S * math.log(S / weights.sum()))


def box_around(rng, pricing, point):
    """A cell of a random size that holds a component."""
    low, high = pricing.root()
    width = 10.0 ** rng.uniform(-3, 0.5) * np.maximum(0.05, np.abs(point)) * rng.uniform(0, 1, len(point))
    return np.maximum(low, point - width * rng.uniform(0, 2)), np.minimum(high, point + width)


def on_border(family, point):
    """Whether a component has the least variance that its slopes allow in some response."""
    return (1.0 - np.array(family.norms_of(point)) < 1e-6).any()


@pytest.mark.parametrize("seed", range(4))
def test_no_component_saves_more_than_its_cell(seed):
    """Of columns with their best regressions, by the definition of what is saved."""
    rng, tight, n_on_border = np.random.default_rng(seed), [], 0
    for _ in range(60):
        m = int(rng.integers(1, 5))
        given, copies = int(rng.integers(m)), float(rng.choice([1.0, 2.5, 7.0]))
        columns, weights = samples(rng, m, int(rng.integers(m + 4, 26)))
        family = ChainFamily(columns, weights, given, 1, copies)
        pricing = ChainPricing(family)
        prices = rng.uniform(0, 6) * copies + rng.standard_normal(len(weights))
        pricing.set_prices(prices)
        _, points = pricing.climb(family.seeded(rng)[None], int(rng.integers(8)))
        mass = pricing.columns(prices, points)[0][0]
        if mass.sum() < 1e-6:
            mass = weights * rng.uniform(0, 1, len(weights))
        point = family.fitted(mass[None])
        n_on_border += on_border(family, point)
        low, high = box_around(rng, pricing, point)
        bound = pricing.bound_cell(low, high)
        value = saved(pricing, point, prices, mass, weights)
        assert bound >= value - 1e-7 * max(1.0, abs(value))
        if np.ptp(np.concatenate([low - point, high - point])) < 0.01:
            tight.append(bound - value)
    assert 0 < n_on_border < 55
    assert min(tight) < 1.0  # nothing is given away in narrow cells


@pytest.mark.parametrize("seed", range(3))
def test_regressions_of_floored_matrices_lie_in_the_domain(seed):
    """Of any samples' weights, with a matrix that is raised to the floor."""
    rng = np.random.default_rng(seed)
    for _ in range(30):
        m = int(rng.integers(2, 5))
        columns, weights = samples(rng, m, 12)
        mass = weights * (rng.uniform(0, 1, 12) ** rng.choice([1, 8]))
        mean = columns @ mass / mass.sum()
        C = ((columns - mean[:, None]) * mass) @ (columns - mean[:, None]).T / mass.sum()
        values, axes = np.linalg.eigh(C)
        matrix = (axes * np.maximum(values, 1.0)) @ axes.T
        for given in range(m):
            family = ChainFamily(columns[: given + 1], weights, given, 1)
            pricing = ChainPricing(family)
            slopes = np.linalg.solve(matrix[:given, :given], matrix[:given, given]) if given else np.zeros(0)
            variance = matrix[given, given] - slopes @ matrix[:given, given]
            point = in_core(columns[: given + 1], weights, mean, slopes, variance)
            low, high = pricing.root()
            assert (low <= point).all()
            assert (point <= high).all()
            # boxes around it keep it when they are cut to the domain
            for _ in range(5):
                width = 10.0 ** rng.uniform(-6, 2) * rng.uniform(0, 1, len(point))
                least, most = np.maximum(low, point - width), np.minimum(high, point + width)
                cut = pricing.bounds_of(np.zeros(12), least[None], most[None], [np.inf], np.zeros((1, pricing.n_warm)))
                assert cut[2][0] > -np.inf
                assert (cut[0][0] <= point + 1e-12).all()
                assert (point - 1e-12 <= cut[1][0]).all()


def in_core(columns, weights, mean, slopes, variance):
    """Parameters of the last column's regression on the others, by the definition of the coordinates."""
    g = len(columns) - 1
    middle = columns @ weights / weights.sum()
    shift = 0.5 * (columns.min(axis=1) + columns.max(axis=1))
    z = columns[:g] - middle[:g, None]
    root = np.linalg.cholesky((z * weights) @ z.T / weights.sum() + 0.0) if g else np.zeros((0, 0))
    intercept = mean[g] - shift[g] - slopes @ (mean[:g] - middle[:g])
    return np.concatenate([[1.0, intercept], root.T @ slopes]) / math.sqrt(variance)


@pytest.mark.parametrize("seed", range(3))
def test_a_chain_of_all_columns_is_the_normal_density(seed):
    rng = np.random.default_rng(seed)
    m, n = 2 + seed, 30
    columns, weights = samples(rng, m, n)
    columns *= 20.0  # far from the floor
    family = ChainFamily(columns, weights, 0, 1, 2.5)
    mass = weights * rng.uniform(0, 1, n)
    costs = ChainPricing(family).costs_at(family.fitted(mass[None]))[0]
    mean = columns @ mass / mass.sum()
    C = ((columns - mean[:, None]) * mass) @ (columns - mean[:, None]).T / mass.sum()
    away = np.einsum("an,an->n", columns - mean[:, None], np.linalg.solve(C, columns - mean[:, None]))
    expected = 0.5 * (m * math.log(2 * math.pi) + np.linalg.slogdet(C)[1] + away)
    assert costs / 2.5 == pytest.approx(expected, rel=1e-6, abs=1e-5)


def incumbent(problem):
    """The core's family, and the best solution of some local searches."""
    result = gopfast.solve(problem, 0.01, max_nodes=1, log=False)
    family, found = engine.family(problem), result.solution
    point = family.pack(means=found.means, covariances=found.covariances)
    return family, np.concatenate([found.weights, point, [0.0]]), result.objective


@pytest.mark.parametrize("seed", range(4))
def test_no_mixture_costs_less_than_its_chain(seed):
    """Also told that better solutions are sought than there are."""
    rng, d = np.random.default_rng(seed), 3 + seed % 3
    X = rng.standard_normal((24, d)) @ rng.standard_normal((d, d)) + 5.0 * rng.integers(2, size=(24, 1)) + 100.0
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], 24)
    floor = 10.0 ** rng.uniform(-1, 1, d)
    problem = gopfast.GaussianMixture(X, 2, covariance="full", variance_floor=floor, sample_weight=weights)
    family, vector, objective = incumbent(problem)
    bound = ChainsBound(problem, family, vector, objective + (50.0 if seed % 2 else 0.0))
    while bound.step(np.inf):
        pass
    assert len(bound.blocks) >= 2
    assert np.isfinite(bound.lower)
    assert bound.lower > -1e3
    assert bound.lower <= min(objectives_on_the_way(problem, np.random.default_rng(seed), 20, 40))
    assert bound.lower <= objective


@pytest.mark.parametrize("given", [0, 1, 2])
def test_nothing_above_the_optimum_is_proved_of_a_block(given, monkeypatch):
    """A block that is told to prove too much ends with its cells, at most at what EM attains."""
    rng = np.random.default_rng(given)
    rows = np.concatenate([rng.standard_normal((9, 3)), rng.standard_normal((9, 3)) @ np.diag([2, 0.5, 3]) + [6, 2, 0]])
    K, weights = 2, np.ones(18)
    monkeypatch.setattr(chain_blocks, "COARSE", 0.02)
    monkeypatch.setattr(chain_blocks, "MOST_OPEN", 20_000)
    of = Chains(rows, weights, K, np.full(K, 0.5), np.array([[0.0, 0, 0], [6, 2, 0]]), np.stack([4.0 * np.eye(3)] * 2))
    of.sizes, of.first = [1, 1, 1], np.arange(4)
    block = ChainBlock(of, np.eye(3), given, 0.5, 1)
    attained = of.best(of.family(np.eye(3), given, 0.5), 1e-9, 40)[1]
    block.bound.limit = attained + 20.0
    while block.more:
        block.step(np.inf)
    assert block.lower <= attained + 1e-9
    if given < 2:  # of two and three parameters nearly all of it
        assert block.lower >= attained - 5.0


def test_parts_of_the_information_add_up_to_no_more_than_all():
    rng = np.random.default_rng(0)
    for n_blocks in (2, 3, 4):
        slopes = rng.uniform(0, 100, n_blocks)
        table = slopes[:, None] * np.sqrt(CHAIN_PARTS)
        parts, total = divided(table)
        assert math.fsum(parts) <= 1.0
        assert math.fsum(parts) >= 0.98
        # concave, so that no other parts of the same grid are better
        for _ in range(50):
            other = rng.dirichlet(np.ones(n_blocks))
            if other.min() >= CHAIN_PARTS[0]:
                value = sum(np.interp(part, CHAIN_PARTS, row) for part, row in zip(other, table, strict=True))
                assert value <= total + 1.0
    rows, matrices = rng.standard_normal((9, 3)), np.stack([np.eye(3)] * 2)
    of = Chains(rows, np.ones(9), 2, np.full(2, 0.5), np.zeros((2, 3)), matrices)
    for part in rng.uniform(0.01, 1.0, 50):
        assert of.family(np.eye(3), 1, part).copies * part <= 1.0


def test_a_constant_column_has_no_slope():
    columns, weights = samples(np.random.default_rng(0), 3, 12)
    columns[1] = 2.5
    point = ChainFamily(columns, weights, 2, 1).fitted(weights[None])
    other = ChainFamily(columns[[0, 2]], weights, 1, 1).fitted(weights[None])
    assert np.isfinite(point).all()
    assert point[0] == pytest.approx(other[0], rel=1e-9)
