"""The bound of mixtures of one covariance matrix by cells of its Cholesky factor, against definitions."""

import itertools
import math
import time

import numpy as np
import pytest
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.shared.factor_cells import FactorCells
from gopfast.search.meter import Meter
from scipy.optimize import linprog
from support.exhaustive import brute_force_optimum
from support.plans import plan_of
from support.tied_bounds import bound_of, problem_of, told

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.families.scatter import least_along, least_within
from gopfast.mixtures.mechanisms import RoughPrices
from gopfast.mixtures.shared import (
    factors as factors_module,
    rough_covariances as rough_module,
    slices as slices_module,
)
from gopfast.mixtures.shared.factors import FactorBound
from gopfast.mixtures.shared.rough_search import PriceMaker, RoughSearch


def cells_of(rng, d):
    """Random cuts; the cells, the cuts, and the least eigenvalue."""
    least = 10.0 ** rng.uniform(-3, -0.5)
    cells, cuts = FactorCells(d, least, 1.0), [(np.zeros((d, d)), 0.0)]
    for _ in range(rng.integers(0, 12)):
        root = rng.standard_normal((d, d))
        A = root @ root.T * 10.0 ** rng.uniform(-1, 1.5)
        b = rng.uniform(0, 1) * np.trace(A)
        cells.add(A, b)
        cuts.append((A, b))
    return cells, cuts, least


def box_of(rng, d, least):
    """A box of factors, small or large."""
    center, width = rng.uniform(-0.8, 0.8, (d, d)), 10.0 ** rng.uniform(-3, 0)
    low, high = np.tril(center - width), np.tril(center + width)
    for i in range(d):
        low[i, i] = max(math.sqrt(least), low[i, i])
        high[i, i] = max(low[i, i] + 0.1 * width, high[i, i])
    return low, high


def matrix_of(rng, d, least):
    """A random matrix with eigenvalues between the least one and 1."""
    U, _ = np.linalg.qr(rng.standard_normal((d, d)))
    return (U * np.exp(rng.uniform(math.log(least), 0.0, d))) @ U.T


def function(C, cuts):
    """The function that cells bound, at a factor."""
    return 0.5 * np.linalg.slogdet(C @ C.T)[1] + max(b - 0.5 * (A * (C @ C.T)).sum() for A, b in cuts)


def assert_covers(cells, boxes, C, limit):
    """A factor with a value below the limit lies in an open cell; the bound is below its value."""
    value, packed = cells.value(C), np.concatenate([C[j:, j] for j in range(len(C))])
    assert cells.lower <= value + 1e-9
    if value < limit - 1e-9:
        assert ((boxes[0] <= packed + 1e-9) & (packed - 1e-9 <= boxes[1])).all(axis=1).any()


def covariance_within(slices, labels):
    """Of the groups that the labels (n,) make, in the coordinates z."""
    S = np.zeros((len(slices.columns),) * 2)
    for k in range(3):
        w = slices.weights * (labels == k)
        if w.sum() > 0.0:
            z = slices.columns - (slices.columns @ w / w.sum())[:, None]
            S += (w * z) @ z.T
    return S / slices.total


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(25))
def test_a_cell_is_below_the_function_at_every_matrix_in_it(seed, d):
    rng = np.random.default_rng(100 * d + seed)
    cells, cuts, least = cells_of(rng, d)
    for _ in range(8):
        low, high = box_of(rng, d, least)
        bound = cells.bound_of(low, high)
        for turn in range(300):
            C = np.tril(rng.uniform(low, high))
            if turn % 2:  # at faces and corners
                C = np.where(rng.random((d, d)) < 0.5, np.where(rng.random((d, d)) < 0.5, low, high), C)
            values = np.linalg.eigvalsh(C @ C.T)
            if least <= values[0] and values[-1] <= 1.0:
                exact = function(C, cuts)
                assert bound <= exact + 1e-9 * (1.0 + abs(exact))
                assert cells.value(C) == pytest.approx(exact, abs=1e-9 * (1.0 + abs(exact)))


@pytest.mark.parametrize("seed", range(40))
def test_a_cell_has_the_value_of_its_linear_program(seed):
    """Or more, by rows of what eigenvalues there are."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    cells, cuts, least = cells_of(rng, d)
    low, high = box_of(rng, d, least)
    corners = []
    for j in range(d):
        for sides in itertools.product([low, high], repeat=d - j):
            corners.append((j, np.array([0.0] * j + [side[j + i, j] for i, side in enumerate(sides)])))
    rows = [[-0.5 * c @ A @ c for _, c in corners] + [-1.0] for A, _ in cuts]
    sums = [[float(j == column) for column, _ in corners] + [0.0] for j in range(d)]
    cost = [math.log(c[j]) for j, c in corners] + [1.0]
    limits = [(0.0, None)] * len(corners) + [(None, None)]
    found = linprog(cost, rows, [-b for _, b in cuts], sums, [1.0] * d, limits)
    assert cells.bound_of(low, high) >= found.fun - 1e-7 * (1.0 + abs(found.fun))


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.parametrize("seed", range(20))
def test_a_cell_is_below_the_function_at_every_matrix_that_directions_allow(seed, d):
    rng = np.random.default_rng(100 * d + seed)
    n_inside = n_raised = 0
    for _ in range(6):
        cells, cuts, least = cells_of(rng, d)
        middle = np.linalg.cholesky(matrix_of(rng, d, least))
        width = 10.0 ** rng.uniform(-3, 0)
        low, high = np.tril(middle - width * rng.random((d, d))), np.tril(middle + width * rng.random((d, d)))
        low[range(d), range(d)] = np.maximum(math.sqrt(least), low.diagonal())
        C = [middle, *(np.tril(rng.uniform(low, high)) for _ in range(200))]
        C += [np.where(rng.random((d, d)) < 0.5, low, high) for _ in range(200)]
        values = [np.linalg.eigvalsh(c @ c.T) for c in C]
        inside = [c for c, v in zip(C, values, strict=True) if least <= v[0] and v[-1] <= 1.0]
        before = cells.bound_of(low, high)
        # along some directions only the widest of these matrices are wide enough
        for _ in range(4):
            u = rng.standard_normal(d)
            u /= np.linalg.norm(u)
            widths = [np.square(c.T @ u).sum() for c in inside]
            if widths:
                narrowest = np.quantile(widths, rng.uniform(0.1, 1.0))
                cells.widen(u, narrowest)
                inside = [c for c, width in zip(inside, widths, strict=True) if width >= narrowest]
        bound = cells.bound_of(low, high)
        n_raised += bound > before + 1e-6
        for c in inside:
            exact = function(c, cuts)
            assert bound <= exact + 1e-9 * (1.0 + abs(exact))
        n_inside += len(inside)
    assert n_inside > 0
    assert n_raised > 0


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_cells_cover_all_factors_that_directions_allow(seed, d):
    """Of random directions told one after the other; cuts are asked for where these are all respected, about."""
    rng = np.random.default_rng(seed)
    cells, _, least = cells_of(rng, d)
    known = []
    for _ in range(8):
        cells.search(math.inf, 60, 1.0, True)
        u = rng.standard_normal(d)
        u, width = u / np.linalg.norm(u), least * 10.0 ** rng.uniform(0, -0.7 * math.log10(least))
        cells.widen(u, width)
        known.append((u, width))
    assert cells.n_directions == 8
    cells.search(-0.3, 300, 1.0, True)
    boxes, n_allowed = cells.boxes(), 0
    if cells.point is not None:
        assert min(u @ cells.point @ u / width for u, width in known) > 0.5
    for _ in range(600):
        P = matrix_of(rng, d, least)
        if all(u @ P @ u >= width for u, width in known):
            n_allowed += 1
            assert_covers(cells, boxes, np.linalg.cholesky(P), -0.3)
    assert n_allowed > 5


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_cells_cover_all_factors(seed, d):
    """A matrix with a value below the limit lies in an open cell; the bound is below all values."""
    rng = np.random.default_rng(seed)
    cells, _, least = cells_of(rng, d)
    for limit in (math.inf, 0.0, -0.5):
        before = cells.lower
        cells.search(limit, 400, 1.0, True)
        assert cells.lower >= min(before, limit)
    boxes = cells.boxes()
    for _ in range(300):
        assert_covers(cells, boxes, np.linalg.cholesky(matrix_of(rng, d, least)), -0.5)


@pytest.mark.parametrize("seed", range(12))
def test_precisions_are_the_flattest_of_some_that_are_estimated_to_say_enough(seed, monkeypatch):
    """Whatever was asked for before, none steeper is taken than the first that would do."""
    monkeypatch.setattr(rough_module, "LEAST_ROUGH", 0.0)
    problem = problem_of(seed, 60)
    bound, _ = bound_of(problem, 0.5 * problem.total_weight, is_rough=True)
    while bound.cells is None:
        bound.step(math.inf)
    bound.lower, rng = bound.limit - 2.0 * bound.slices.total, np.random.default_rng(seed)
    for vertex in bound.vertices:  # lines have no means
        vertex.means = bound.means
    d, ladder = len(bound.center), factors_module.STEEPEST
    aimed = bound.slices.total * max(factors_module.LEAST_AIMED, 2.0 * factors_module.AIMED)
    for _ in range(6):
        root = rng.standard_normal((d, d)) * 10.0 ** rng.uniform(-1, 1.5)
        A = bound._clipped(root @ root.T, math.inf, 0.9)
        bound.asked = np.linalg.inv(A), rng.uniform(-2.0, 3.0)
        bound.steep = int(rng.integers(len(ladder)))
        flat, estimate = bound._precision(A)
        tops = [bound._clipped(A, part * bound.steepest, factors_module.FLATTER) for part in ladder]
        place = min(i for i, top in enumerate(tops) if np.array_equal(top, flat))
        more = estimate.value - bound._asked(flat)
        assert more >= aimed or np.array_equal(flat, tops[-1])
        assert estimate.value == bound.estimates.at(flat, bound.means).value
        if place and more >= factors_module.MOST_AIMED * aimed:
            below = bound.estimates.at(tops[place - 1], bound.means).value - bound._asked(tops[place - 1])
            assert below < aimed


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("is_rough", [False, True])
@pytest.mark.parametrize("seed", range(24))
def test_no_bound_exceeds_an_objective_attained(seed, is_rough, K, monkeypatch):
    """It is told to prove more than is true."""
    monkeypatch.setattr(rough_module, "LEAST_ROUGH", 0.0)
    problem = problem_of(seed, K=K)
    bound, best = bound_of(problem, 1e-3 * problem.total_weight, -1.0 if seed % 2 else 1e-4, is_rough=is_rough)
    found = told(bound, 60)
    assert -math.inf < max(found) <= best + 1e-12 * abs(best)


@pytest.mark.parametrize("n", [40, 400, 21_000])
@pytest.mark.parametrize("seed", range(4))
def test_rough_searches_prove_less_than_is_attained(seed, n):
    """Of known covariances, some of which cut clusters into slices; each is told to prove more than it has found."""
    rng = np.random.default_rng([seed, n])
    problem = problem_of(4 * seed + 3, n, 2 + seed % 2)
    slices, plan, meter = engine.family(problem).slices(), plan_of(problem).of_fixed(hasty=True), Meter()
    W, d = slices.total, len(slices.columns)

    def misled(plan, solution, limit, rough, lift=None):
        return RoughPrices.learner(plan, solution, limit + 0.1 * W, rough, lift)

    for turn, rough in enumerate((1e-3, 0.02)):
        root = rng.standard_normal((d, d)) * rng.choice([0.5, 2.0])
        known, _ = slices.known(root @ root.T + 0.2 * np.eye(d))
        found = RoughSearch(1.0, known, 0.0, 1e-4, plan, rough * W, PriceMaker(misled, meter), n_starts=4)
        while not (found.is_over or found.done):
            found.go_on(time.monotonic() + 100.0)
        attained, local = [found.upper], MixturePrimal(known, 1)
        for _ in range(6):
            means = known.data.arrays()[0][:d, rng.integers(known.data.n_samples, size=3)].T
            attained.append(local.em(np.full(3, 1 / 3), means, 0.0, 200)[1].min())
        assert -math.inf < found.lower <= min(attained) + 1e-9 * (abs(found.upper) + W), turn
    assert meter.terms > 0


@pytest.mark.parametrize("seed", range(6))
def test_prices_carried_over_prove_less_than_is_attained(seed):
    """Whatever they were above -log p elsewhere: nonsense, or what a similar mixture had, which is good enough."""
    rng = np.random.default_rng([45, seed])
    problem = problem_of(4 * seed + 3, 600, 2 + seed % 2)
    slices, plan, meter = engine.family(problem).slices(), plan_of(problem).of_fixed(hasty=True), Meter()
    W, d = slices.total, len(slices.columns)

    def misled(plan, solution, limit, rough, lift=None):
        return RoughPrices.learner(plan, solution, limit + 0.1 * W, rough, lift)

    root = rng.standard_normal((d, d))
    A, lift = root @ root.T + 0.2 * np.eye(d), None
    for turn in range(4):
        known, _ = slices.known((1.0 + 0.02 * turn) * A)
        n = known.data.n_samples
        given = (lift, lift, rng.standard_normal(n), np.full(n, rng.choice([-3.0, 0.0, 30.0])))[turn]
        made_of = known, 0.0, 1e-4, plan, 1e-2 * W, PriceMaker(misled, meter)
        found = RoughSearch(1.0, *made_of, n_starts=4, lift=given)
        while not (found.is_over or found.done):
            found.go_on(time.monotonic() + 100.0)
        attained, local = [found.upper], MixturePrimal(known, 1)
        for _ in range(6):
            means = known.data.arrays()[0][:d, rng.integers(n, size=3)].T
            attained.append(local.em(np.full(3, 1 / 3), means, 0.0, 200)[1].min())
        assert -math.inf < found.lower <= min(attained) + 1e-9 * (abs(found.upper) + W), turn
        lift = found.lift if turn == 0 else lift


def test_no_prices_are_looked_for_where_those_of_a_similar_mixture_do():
    """The same clusters at a precision that differs by a twentieth: no master problem is solved."""
    rng = np.random.default_rng(46)
    x = np.concatenate([rng.standard_normal((300, 3)) + 8.0 * np.eye(3)[k] for k in range(3)])
    problem = gopfast.GaussianMixture(x, 3, covariance="tied")
    slices, plan = engine.family(problem).slices(), plan_of(problem).of_fixed(hasty=True)
    A, bounds, lift = np.linalg.inv(np.cov(slices.columns) / 9.0), [], None

    def learner(*made_of):
        bounds.append(RoughPrices.learner(*made_of))
        return bounds[-1]

    for factor in (1.0, 1.05):
        made_of = slices.known(factor * A)[0], 0.0, 1e-4, plan, 3e-3 * slices.total, PriceMaker(learner, Meter())
        found = RoughSearch(1.0, *made_of, n_starts=4, lift=lift)
        while not found.is_over:
            found.go_on(time.monotonic() + 100.0)
        assert found.missing <= found.rough
        lift = found.lift
    assert bounds[0].master.n_steps > 0 == bounds[1].master.n_steps


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_what_is_proved_lies_below_a_brute_force_optimum(seed, d):
    problem = problem_of(20 + seed, 6, d)
    reference = brute_force_optimum(problem)
    bound, _ = bound_of(problem, 0.1)
    assert max(told(bound, 60)) <= reference + 1e-9 * (1.0 + abs(reference))


@pytest.mark.parametrize("seed", range(8))
def test_the_objective_is_at_least_what_cuts_say_of_its_matrix(seed):
    """(TF1) at random responsibilities, with covariances below the floor too."""
    rng = np.random.default_rng(seed)
    problem = problem_of(seed)
    bound, _ = bound_of(problem, 1e-3 * problem.total_weight)
    told(bound, 25)
    slices, used = bound.slices, problem.sample_weight > 0.0
    w, z, W = slices.weights, slices.columns, slices.total
    least, top = slices.within_range()
    n, K, d = len(problem.X), problem.n_components, len(slices.columns)
    for turn in range(40):
        tau = rng.dirichlet(np.full(K, rng.choice([0.02, 0.3, 3.0])), n)
        if turn % 3 == 0:
            tau = np.eye(K)[tau.argmax(axis=1)]
        value = problem.objective(responsibilities=tau, **problem.maximize(tau))
        own = tau[used]
        mass = np.maximum(w @ own, 1e-300)
        apart = z[:, :, None] - ((z * w) @ own / mass)[:, None, :]
        S = np.einsum("n,nk,ink,jnk->ij", w, own, apart, apart) / W + np.diag(slices.added)
        values, vectors = np.linalg.eigh(S)
        assert values[-1] <= top + 1e-9
        P = (vectors * np.clip(values, least, top)) @ vectors.T
        cuts = [v.beta / W - 0.5 * (v.A * (P - np.diag(slices.added))).sum() for v in bound.vertices]
        below = math.fsum(slices.fixed) + W * (0.5 * d + 0.5 * np.linalg.slogdet(P)[1] + max(0.0, *cuts))
        assert below <= value + 1e-7 * (abs(value) + W)


def test_parts_of_the_samples_bound_the_least_variance_within(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((90, 3)) + 5.0 * rng.integers(0, 3, (90, 1))
    monkeypatch.setattr(slices_module, "MOST_REFINED", 25)
    slices = engine.family(gopfast.GaussianMixture(X, 3, covariance="tied")).slices()
    slices.refine(math.inf)
    within = 1.0 + slices.eta - slices.cap
    assert 0.0 < within
    for turn in range(200):
        along = rng.standard_normal(3) @ slices.columns
        labels = rng.integers(0, 3, 90) if turn % 2 else np.digitize(along, [-0.5, 0.5])
        assert within <= np.linalg.eigvalsh(covariance_within(slices, labels))[0]
    assert within <= least_within(slices.columns, slices.weights, 3, 1.0, 3000) * 1.2


@pytest.mark.parametrize("seed", range(12))
def test_no_mixture_is_narrower_than_directions_say(seed):
    """Along random directions, against groups of samples in order along them, and random ones."""
    problem = problem_of(seed, 60)
    bound, _ = bound_of(problem, 0.2 * problem.total_weight)
    slices, rng, found = bound.slices, np.random.default_rng(seed), []
    for direction in rng.standard_normal((40, len(slices.columns))):
        u = direction / np.linalg.norm(direction)
        found.append((u, least_along(u, slices.columns, bound.share, 3, bound.largest, bound.off)))
    assert max(least for _, least in found) > 0.0
    n = len(slices.weights)  # those without weight are left out
    for turn in range(60):
        labels = rng.integers(0, 3, n)
        if turn % 2:  # in order along a direction
            labels = np.empty(n, dtype=int)
            labels[np.argsort(found[turn % 40][0] @ slices.columns)] = np.sort(rng.integers(0, 3, n))
        S = covariance_within(slices, labels)
        for u, least in found:
            assert least <= u @ S @ u * (1.0 + 1e-12)


@pytest.mark.parametrize("rough", [1e-3, 0.02])
def test_rough_searches_lose_about_what_they_may(rough):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((300, 3)) + 7.0 * rng.integers(0, 3, (300, 1))
    problem = gopfast.GaussianMixture(X, 3, covariance="tied")
    slices, prices = engine.family(problem).slices(), PriceMaker(RoughPrices.learner, Meter())
    for A in (np.eye(3), np.diag([8.0, 1.0, 1.0])):
        made_of = slices.known(A)[0], 0.0, 1e-4, plan_of(problem).of_fixed(hasty=True), rough * slices.total, prices
        found = RoughSearch(1.0, *made_of, n_starts=4)
        while not found.is_over:
            found.go_on(time.monotonic() + 100.0)
        # prices themselves lose some of few samples
        assert 0.0 < found.missing <= (2.0 * rough + 0.01) * slices.total


def test_three_components_in_three_columns_are_proved():
    rng = np.random.default_rng(2)
    means = np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 2.0], [0.0, 9.0, -2.0]])
    X = means[rng.integers(0, 3, 150)] + rng.standard_normal((150, 3))
    problem = gopfast.GaussianMixture(X, 3, covariance="tied")
    bound, best = bound_of(problem, -0.015, 0.015)
    told(bound, 3000)
    assert best - 0.015 <= bound.lower <= best


@pytest.mark.parametrize("after", [0.0, 0.05, 0.3])
def test_a_time_limit_leaves_a_valid_bound(after):
    bound, best = bound_of(problem_of(5, 60, 3), 1e-3)
    deadline = time.monotonic() + after
    while bound.step(deadline) and time.monotonic() < deadline:
        pass
    assert bound.lower <= best


def test_ctrl_c_in_a_step_ends_the_search(monkeypatch):
    steps = []
    step = FactorBound.step

    def interrupted(self, deadline):
        steps.append(self.lower)
        if len(steps) == 8:
            raise KeyboardInterrupt
        return step(self, deadline)

    monkeypatch.setattr(FactorBound, "step", interrupted)
    X = problem_of(5, 80, 3).X
    result = gopfast.solve(gopfast.GaussianMixture(X, 3, covariance="tied"), n_threads=1, log=False)
    assert result.status == gopfast.Status.INTERRUPTED
    assert -math.inf < result.lower_bound <= result.objective


@pytest.mark.parametrize("K", [2, 3])
def test_bounds_are_equal_for_every_number_of_threads(K):
    problem = problem_of(7, 70, 3, K=K)
    found = []
    for threads in (1, 2, 4):
        bound, _ = bound_of(problem, 1.0, threads=threads)
        found.append((told(bound, 30), bound.cells.n_cells, bound.cells.n_pivots, len(bound.vertices)))
    assert found[0] == found[1] == found[2]
    assert found[0][1] > 0


@pytest.mark.parametrize(("d", "least", "top"), [(0, 0.1, 1.0), (5, 0.1, 1.0), (2, 0.0, 1.0), (2, 2.0, 1.0)])
def test_what_cells_cannot_be_of_is_refused(d, least, top):
    with pytest.raises(ValueError, match="d must be|least must be"):
        FactorCells(d, least, top)
