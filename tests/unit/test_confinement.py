"""Where the components of all better solutions lie: no claim contradicts solutions that are known."""

import math
import time
from types import SimpleNamespace

import numpy as np
import pytest
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.mechanisms import box_around
from gopfast.mixtures.pricing import confinement
from gopfast.mixtures.pricing.confinement import Confinement, home, touching, within, without
from gopfast.mixtures.pricing.pricing_root import PricingBound
from tests.unit.test_neighbourhood import counts, gaussian, known


def plane(seed, n):
    """Six clusters of variance 1 on a grid, four apart."""
    rng = np.random.default_rng(seed)
    at = 4.0 * np.array([[0, 0], [1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0]])
    return gopfast.GaussianMixture(at[rng.integers(6, size=n)] + rng.standard_normal((n, 2)), 6, covariance="known")


PROBLEMS = {
    "known": lambda: known(0, 200, 4, 1),
    "known, near": lambda: known(1, 200, 3, 1, gap=3.0),
    "known, plane": lambda: known(2, 250, 5, 2),
    "known, prior": lambda: known(4, 150, 3, 1, prior=4.0),
    "spherical": lambda: gaussian(3, 150, 3, 1, "spherical", 0.05),
    "diag, plane": lambda: gaussian(2, 150, 2, 2, "diag", 0.05),
    "counts": lambda: gopfast.PoissonMixture(counts(0, 300, [2.0, 16.0, 45.0]), 3),
}


def optimum(problem):
    """The family, the best solution found, and its objective."""
    family = engine.family(problem)
    search = Search(EntropicRelaxation(family), MixturePrimal(family), 0.01, max_nodes=2000)
    search.run()
    vector = search.summary()[1]
    K = family.n_components
    vector, trace, _ = MixturePrimal(family).em(vector[:K], vector[K:-1], 1e-12, 20_000)
    return family, vector, trace[-1]


def learnt(problem, family, solution, limit):
    """The bound by prices with all questions asked, and the confinement."""
    bound = PricingBound(
        family, family.one_component(problem), solution, limit, rounds=False,
        confine=lambda bound, at: Confinement(bound, at, box_around(family, at, limit)),
    )  # fmt: skip
    while bound.step(time.monotonic() + 60):
        pass
    return bound


def holds(cells, points):
    """Whether every component (K, n) lies in one of the cells, up to rounding."""
    slack = 1e-9 * (1 + np.abs(points))
    low, high, _ = cells
    return all(
        ((low <= point + at) & (point - at <= high)).all(axis=1).any() for point, at in zip(points, slack, strict=True)
    )


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("above", [-0.01, 0.02, 0.3, 2.0])
def test_nothing_is_claimed_of_solutions_that_lie_below_the_limit(name, above):
    """With a limit above the optimum the optimum and all that is near it are such solutions.

    A cell's bound is of components that are the best for their samples: after a step of EM they are.
    """
    problem = PROBLEMS[name]()
    family, vector, value = optimum(problem)
    K = family.n_components
    bound = learnt(problem, family, vector, value + above)
    assert bound.lower <= value + 1e-9
    if above < 0:
        return
    rng, tried = np.random.default_rng(0), 0
    primal, points = MixturePrimal(family), vector[K:-1]
    for _ in range(300):
        scale = 10.0 ** rng.uniform(-3, 0)
        moved = points + scale * rng.standard_normal(len(points)) * (rng.random(len(points)) < rng.uniform(0.1, 1))
        weights = vector[:K] * np.exp(0.1 * scale * rng.standard_normal(K))
        after, trace, _ = primal.em(weights / weights.sum(), moved, 0.0, 1)
        if trace[0] < value + above:
            tried += 1
            assert holds(bound.cells, after[K:-1].reshape(K, -1))
    assert tried > 20


@pytest.mark.parametrize("seed", range(8))
def test_a_local_optimum_is_never_taken_for_the_best(seed):
    """Around it there is a box, and its components have groups: but better solutions lie elsewhere."""
    problem = known(seed, 150, 4, 1 + seed % 2, gap=3.5)
    family, best, value = optimum(problem)
    K, rng, others = family.n_components, np.random.default_rng(seed), []
    primal = MixturePrimal(family)
    columns, _ = family.data.arrays()
    for _ in range(60):
        start = columns[:, rng.choice(columns.shape[1], K)].T.ravel()
        vector, trace, _ = primal.em(np.full(K, 1 / K), start, 1e-12, 5000)
        if trace[-1] > value + 0.05 and vector[:K].min() > 1e-3:
            others.append((trace[-1], vector))
    for found, vector in sorted(others, key=lambda one: one[0])[:2]:
        bound = learnt(problem, family, vector, found - 0.01)
        assert bound.lower <= value + 1e-9
        assert holds(bound.cells, best[K:-1].reshape(K, -1))


def line():
    """Six clusters, their best solution, the bound by prices and its questions at a limit just above."""
    problem = known(0, 540, 6, 1)
    family, vector, value = optimum(problem)
    bound = PricingBound(family, family.one_component(problem), vector, value + 0.02, rounds=False)
    while bound.step(time.monotonic() + 60):
        pass
    return family, vector, value, bound


@pytest.mark.parametrize("k", range(6))
@pytest.mark.parametrize("side", [-1, 1])
def test_a_box_beside_the_best_component_confines_nothing(k, side):
    """However high its bound is said to be."""
    family, vector, value, bound = line()
    means = np.sort(vector[6:-1])
    low, high = means - 0.2, means + 0.2
    low[k], high[k] = np.sort(means[k] + side * np.array([0.01, 0.3]))
    asked = Confinement(bound, vector, lambda meter: SimpleNamespace(low=low, high=high, lower=value + 5.0))
    assert asked.groups is not None
    while asked.step(time.monotonic() + 60):
        pass
    assert asked.lower == -math.inf
    assert holds(bound.cells, vector[6:-1, np.newaxis])


def test_a_group_that_a_solution_below_the_limit_does_without_is_not_needed():
    """Mixtures with no component near one of the clusters, neither before nor after a step of EM, and limits above."""
    family, vector, value, bound = line()
    means, tried = np.sort(vector[6:-1]), 0
    asked = Confinement(bound, vector, lambda meter: None)
    ends = np.concatenate([[-60.0], np.stack([means - 0.5, means + 0.5], axis=1).ravel(), [60.0]])[:, np.newaxis]
    asked.groups = [(ends[2 * k + 1 : 2 * k + 2], ends[2 * k + 2 : 2 * k + 3], np.zeros(1)) for k in range(6)]
    asked.others = ends[::2], ends[1::2], np.zeros(7)
    assert all(asked._needs(k, math.inf) for k in range(6))
    primal = MixturePrimal(family)
    for k in range(6):
        start = means.copy()
        start[k] = means[k - 1 if k else 1] + 0.5
        after, trace, _ = primal.em(np.full(6, 1 / 6), start, 0.0, 1)
        if (np.abs(after[6:-1] - means[k]) > 0.5).all():
            tried += 1
            bound.limit = trace[0] + 0.05
            assert not asked._needs(k, math.inf)
    assert tried > 3


@pytest.mark.parametrize("make", [lambda: known(0, 540, 6, 1), lambda: known(6, 810, 9, 1), lambda: plane(1, 1000)])
def test_components_are_confined_to_the_box_of_the_best(make):
    problem = make()
    family, vector, value = optimum(problem)
    bound = learnt(problem, family, vector, value - 0.01)
    assert bound.lower == pytest.approx(value - 0.01, abs=1e-12)
    plain = PricingBound(family, family.one_component(problem), vector, value - 0.01, rounds=False)
    while plain.step(time.monotonic() + 60):
        pass
    assert plain.lower < bound.lower


def test_components_that_share_a_group_are_left_alone():
    problem = known(3, 400, 4, 1, gap=2.5)
    family, vector, value = optimum(problem)
    bound = learnt(problem, family, vector, value + 1.0)
    assert bound.lower < value
    assert bound.confinement.groups is None


def test_where_there_is_no_box_nothing_but_the_groups_is_learnt():
    problem = known(0, 540, 6, 1)
    family, vector, value = optimum(problem)
    bound = PricingBound(
        family, family.one_component(problem), vector, value - 0.01, rounds=False,
        confine=lambda bound, at: Confinement(bound, at, lambda meter: None),
    )  # fmt: skip
    while bound.step(time.monotonic() + 60):
        pass
    assert bound.lower < value - 0.01
    K = family.n_components
    assert holds(bound.cells, vector[K:-1].reshape(K, -1))
    assert len(set(touching(*bound.cells[:2]))) == K


def test_the_search_ends_sooner_and_alike_on_any_number_of_threads():
    problem = plane(1, 1000)
    ends = []
    for n_threads in (1, 2):
        result = gopfast.solve(problem, n_threads=n_threads, relaxation="pricing", time_limit=60, log=False)
        assert result.success
        ends.append((result.n_nodes, result.n_passes, result.lower_bound, result.objective))
    assert ends[0] == ends[1]
    assert ends[0][0] < 4000  # 47,794 without


@pytest.mark.parametrize("n", [1, 2, 3])
def test_what_is_cut_off_a_cell_and_what_is_left_make_up_the_cell(n):
    rng = np.random.default_rng(n)
    for _ in range(50):
        low = rng.integers(0, 4, (6, n)).astype(float)
        high = low + rng.integers(0, 3, (6, n))
        least = rng.integers(0, 4, n).astype(float)
        most = least + rng.integers(0, 3, n)
        inside, outside = (part(low, high, np.arange(6.0), least, most) for part in (within, without))
        for i in range(6):
            for _ in range(20):
                point = low[i] + rng.random(n) * (high[i] - low[i])
                assert any(
                    ((parts[0] <= point) & (point <= parts[1])).all(axis=1)[parts[2] == i].any()
                    for parts in (inside, outside)
                )
        assert ((inside[0] >= least) & (inside[1] <= most)).all()
        middles = 0.5 * (outside[0] + outside[1])
        assert not ((middles > least) & (middles < most)).all(axis=1).any()


def test_groups_are_of_cells_that_touch():
    low = np.array([[0.0, 0.0], [1.0, 1.0], [5.0, 0.0], [2.0, 0.0], [5.5, 3.0]])
    high = low + [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.5, 0.9], [1.0, 1.0]]
    of = touching(low, high)
    assert of[0] == of[1]
    assert len(set(of)) == 4
    assert home(np.array([0.5, 0.5]), of, low, high) == of[0]
    assert home(np.array([9.0, 9.0]), of, low, high) is None
    assert math.isfinite(of.sum())


def test_groups_are_those_of_cells_one_after_the_other(monkeypatch):
    """Also where few pairs of cells are compared at a time."""
    rng = np.random.default_rng(0)
    for pairs in (1, 7, 1_000_000):
        monkeypatch.setattr(confinement, "PAIRS", pairs)
        for _ in range(60):
            m, n = rng.integers(0, 40), rng.integers(1, 4)
            low = rng.integers(0, 12, (m, n)).astype(float)
            high = low + rng.integers(0, 3, (m, n))
            of = np.full(m, -1)
            for first in range(m):
                todo = [first] if of[first] < 0 else []
                number = of.max() + 1
                while todo:
                    at = todo.pop()
                    of[at] = number
                    near = (of < 0) & ((low <= high[at]) & (high >= low[at])).all(axis=1)
                    of[near] = number
                    todo.extend(np.flatnonzero(near))
            np.testing.assert_array_equal(touching(low, high), of)


def test_a_bound_that_is_asked_beyond_its_last_step_has_no_more_to_tell():
    """It was an error where nothing is confined."""
    problem = known(3, 100, 3, 1)
    family, vector, value = optimum(problem)
    bound = PricingBound(family, family.one_component(problem), vector, value + 0.5, rounds=False)
    while bound.step(time.monotonic() + 60):
        pass
    cells = bound.cells
    assert not any(bound.step(time.monotonic() + 60) for _ in range(2))
    assert bound.cells is cells
