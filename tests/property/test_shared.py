"""Bounds of mixtures that share a parameter, by mixtures in which it is fixed, against the models' own definitions."""

import math
import time

import mpmath
import numpy as np
import pytest
from gopfast.clustering.line import best_stretches
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_iris, load_wine
from support.exhaustive import brute_force_optimum
from support.plans import plan_of
from support.problems import make

import gopfast
from gopfast.errors import InputError
from gopfast.mixtures import engine
from gopfast.mixtures.families.scatter import least_within
from gopfast.mixtures.shared.shared import Line, SharedBound, beside, cross, envelope
from gopfast.mixtures.shared.simplices import SimplexBound

SHARED = ["tied", "tied_spherical", "known, empirical prior"]


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def information(tau, w):
    """Weight times mutual information of samples and components, for the best weights of the components."""
    mass = w @ tau
    logs = np.log(np.where(tau > 0, tau, 1)) - np.log(np.where(mass > 0, mass / w.sum(), 1))
    return w @ (tau * logs).sum(axis=1)


def statistic(kind, problem, slices, tau, state):
    """s and R at responsibilities with their best parameters, by definition."""
    w, X, K = problem.sample_weight, problem.X, problem.n_components
    used = w > 0
    squares = np.array([np.square(X - m) for m in state["means"]])
    if kind == "known, empirical prior":
        within = 0.5 * sum(w @ (tau[:, [k]] * squares[k] / problem.noise_variance) for k in range(K)).sum()
        return 0.5 * np.square(state["means"]).sum(), information(tau, w) + within
    if kind == "tied_spherical":
        s = 0.5 * sum(w @ (tau[:, [k]] * squares[k]) for k in range(K)).sum()
        return s / float(np.ravel(problem.variance_floor)[0]), information(tau, w)
    # of a covariance matrix in the coordinates of the slices, which are those of its columns
    z, weights = slices.columns, slices.weights
    tau = tau[used]
    mass = np.maximum(weights @ tau, 1e-300)
    means = (z * weights) @ tau / mass
    s = 0.5 * sum(weights * tau[:, k] @ np.square(z - means[:, [k]]).T for k in range(K)).sum()
    return s, information(tau, weights)


def responsibilities(rng, n, K):
    tau = rng.dirichlet(np.full(K, rng.choice([0.05, 0.5, 3.0])), n)
    return np.eye(K)[np.argmax(tau, axis=1)] if rng.random() < 0.3 else tau


def degenerate(problem, rng):
    """The same kind of problem with constant, collinear or tied columns, and samples without weight."""
    X, options = problem.X.copy(), {}
    if X.shape[1] > 1 and rng.random() < 0.5:
        X[:, -1] = X[0, -1] if rng.random() < 0.5 else 2.0 * X[:, 0]
    if rng.random() < 0.3:
        X = np.round(X)
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], len(X))
    weight[:3] = 1.0
    if problem.covariance == "known":
        options = {"prior": problem.prior, "noise_variance": problem.noise_variance}
    elif rng.random() < 0.7:
        options = {"variance_floor": 10.0 ** rng.uniform(-3, 1)}
    options = {**options, "covariance": problem.covariance, "sample_weight": weight}
    return gopfast.GaussianMixture(X, problem.n_components, **options)


@pytest.mark.parametrize("kind", SHARED)
@pytest.mark.parametrize("seed", range(12))
def test_the_objective_is_at_least_phi_of_the_statistic_and_the_rest(kind, seed):
    """With two components, and where nothing is below the floor, it is just that."""
    rng = np.random.default_rng(seed)
    problem = degenerate(make(kind, seed, 20, 2 + seed % 3, 1 + seed // 3), rng)
    family = engine.family(problem)
    slices = family.slices()
    matrices = kind == "tied" and problem.n_features > 1
    name = kind if matrices or kind != "tied" else "tied_spherical"
    n_tight = 0
    for _ in range(40):
        tau = responsibilities(rng, 20, problem.n_components)
        state = problem.maximize(tau)
        for _ in range(20 if kind not in ("tied", "tied_spherical") else 0):  # means and prior in turns
            state = problem.maximize(tau, **state)
        s, R = statistic(name, problem, slices, tau, state)
        value = problem.objective(responsibilities=tau, **state)
        tiny = 1e-9 * (1 + abs(value))
        assert slices.phi(s) + R <= value + tiny
        assert s >= slices.least - 1e-9 * s
        assert s <= slices.most * (1 + 1e-9)
        assert R <= slices.largest_rest + 1e-9
        n_tight += slices.phi(s) + R >= value - 1e-6 * (1 + abs(value))
    # a matrix on its floor costs more than is counted
    assert n_tight == 40 or matrices


@pytest.mark.parametrize("seed", range(20))
def test_the_least_crossing_is_the_least_value(seed):
    rng = np.random.default_rng(seed)
    problem = make(SHARED[seed % 3], seed, 15, 2 + seed % 3, 2)
    slices = engine.family(problem).slices()
    bound = SharedBound(slices, 1.0, math.inf, 0.01, None)
    top = min(slices.most, 200.0)
    alphas = 10.0 ** rng.uniform(-2, 2, 6)
    found = [Line(0.0, 0.0)] + [Line(a, a * rng.uniform(0, top / 3) + rng.uniform(0, 3)) for a in sorted(alphas)]
    bound.lines = lambda: found
    least = bound.least()
    largest = slices.largest_rest
    low = max([slices.least, *((line.beta - largest) / line.alpha for line in found[1:])])
    grid = np.concatenate([np.linspace(low, top, 4000), low * np.linspace(1, 1.01, 50), [least.s]])
    grid = grid[(grid >= low) & (grid <= top)]
    values = [slices.phi(s) + max(line.at(s) for line in found) for s in grid]
    assert least.bound <= min(values, default=math.inf) + 1e-9
    if len(values) and least.s <= top:
        assert least.bound >= min(values) - 1e-6 * (1 + abs(min(values)))


def test_lines_of_the_envelope_are_the_largest():
    rng = np.random.default_rng(0)
    for _ in range(50):
        lines = [Line(0.0, 0.0), *sorted(Line(*rng.uniform(0, 5, 2)) for _ in range(8))]
        kept = envelope(lines)
        knots = [cross(*pair) for pair in zip(kept, kept[1:], strict=False)]
        assert (np.diff(knots) <= 0).all()
        for s in rng.uniform(0, 5, 30):
            assert max(line.at(s) for line in kept) == pytest.approx(max(line.at(s) for line in lines))


def shared_bound(problem, limit, epsilon=0.01):
    family = engine.family(problem)
    primal = MixturePrimal(family, n_starts=20)
    search = Search(EntropicRelaxation(family), primal, epsilon, max_nodes=1)
    search.run()
    fields, vector = search.summary()
    slices = family.slices()
    return SharedBound(slices, slices.first(vector), limit, epsilon, plan_of(problem).of_fixed()), fields["objective"]


@pytest.mark.parametrize("kind", SHARED)
@pytest.mark.parametrize("seed", range(4))
def test_what_is_proved_lies_below_a_brute_force_optimum(kind, seed):
    """It is told to prove more than is true."""
    problem = degenerate(make(kind, seed, 8, 2 + seed % 2, 1 + seed // 2), np.random.default_rng(seed))
    reference = brute_force_optimum(problem)
    bound, _ = shared_bound(problem, reference + 0.1)
    for _ in range(10):
        if not bound.step(math.inf):
            break
    assert bound.lower <= reference + 1e-9 * (1 + abs(reference))
    # with one number for all components nothing is lost but by lines that are too few
    exact = kind != "tied" or problem.n_features == 1
    assert not exact or bound.lower >= reference - 0.05


@pytest.mark.parametrize("kind", SHARED)
def test_lines_lie_below_the_optimum_of_the_fixed_parameter(kind):
    """H at samples far from zero, in extended precision: what scaling the samples rounds is subtracted."""
    problem = make(kind, 3, 12, 2, 2)
    problem = gopfast.GaussianMixture(
        problem.X + 1e5, 2, covariance=problem.covariance,
        **({"prior": "empirical"} if kind.startswith("known") else {"variance_floor": 0.01}),
    )  # fmt: skip
    bound, _ = shared_bound(problem, math.inf)
    slices = bound.slices
    bound.next = alpha = 1.7 if hasattr(slices, "columns") else 1e-9
    bound.step(math.inf)
    line = bound.searches[0].line(slices.loss(alpha))
    rng = np.random.default_rng(0)
    if not hasattr(slices, "columns"):
        return
    with mpmath.workdps(40):
        z = [[mpmath.mpf(float(x)) for x in column] for column in slices.columns]
        for _ in range(30):
            tau = responsibilities(rng, 12, 2)
            s = mpmath.mpf(0)
            for k in range(2):
                t = [mpmath.mpf(float(x)) for x in tau[:, k]]
                if sum(t) > 0:
                    for column in z:
                        m = sum(a * x for a, x in zip(t, column, strict=True)) / sum(t)
                        s += sum(a * (x - m) ** 2 for a, x in zip(t, column, strict=True)) / 2
            assert line.beta <= float(information(tau, slices.weights) + alpha * s) + 1e-10


def test_small_within_components_is_ruled_out_and_precisions_end_at_the_floor():
    problem = make("tied", 1, 30, 2, 3)
    slices = engine.family(problem).slices()
    values = [slices.phi(s) for s in np.linspace(slices.least, slices.most, 50)]
    assert (np.diff(values) > 0).all()
    for s in np.linspace(slices.least, slices.most, 20)[1:-1]:
        step = 1e-5 * s
        assert slices.slope(s) == pytest.approx((slices.phi(s + step) - slices.phi(s - step)) / (2 * step), rel=1e-3)


@pytest.mark.parametrize("kind", SHARED)
@pytest.mark.parametrize("n_components", [2, 3])
def test_searches_with_and_without_agree(kind, n_components):
    problem = make(kind, 4, 25, n_components, 2)
    family, found = engine.family(problem), []
    for forced in (False, True):
        reduction = plan_of(problem, relaxation="pricing").reduction()[0] if forced else None
        search = Search(EntropicRelaxation(family), MixturePrimal(family, n_starts=20), 1e-3, reduction=reduction,
                        reduce_from=1, max_nodes=20_000)  # fmt: skip
        search.run()
        found.append(search.summary()[0])
    plain, shared = found
    assert shared["lower_bound"] <= plain["objective"] + 1e-9
    assert plain["lower_bound"] <= shared["objective"] + 1e-9
    assert shared["objective"] == pytest.approx(plain["objective"], abs=2e-3)
    assert shared["objective"] - shared["lower_bound"] <= max(plain["objective"] - plain["lower_bound"], 1e-3) + 1e-9


@pytest.mark.parametrize("kind", SHARED)
def test_a_search_that_must_prove_too_much_does_not_end_by_proof(kind):
    problem = make(kind, 5, 12, 2, 2)
    family = engine.family(problem)
    reduction, _ = plan_of(problem, relaxation="pricing").reduction()
    search = Search(EntropicRelaxation(family), MixturePrimal(family, n_starts=20), -1e-3, reduction=reduction,
                    reduce_from=1, max_nodes=1_000)  # fmt: skip
    reason = search.run()
    assert reason == gopfast.Status.NODE_LIMIT or search.least_bound <= search.summary()[0]["objective"] + 1e-9


def test_two_components_with_one_matrix_are_proved_in_four_columns():
    """The tree of boxes of both means and all entries of the matrix leaves hundreds of nats open here."""
    problem = gopfast.GaussianMixture(standardised(load_iris().data), 2, covariance="tied")
    result = gopfast.solve(problem, n_threads=1)
    assert result.success and result.relaxation == "pricing"
    assert result.objective == pytest.approx(406.7932, abs=1e-3)
    unproved = gopfast.solve(problem, relaxation="entropic", n_threads=1, max_nodes=2_000)
    assert unproved.gap > 100


def test_one_variance_for_all_is_proved_by_few_fixed_ones():
    problem = gopfast.GaussianMixture(standardised(load_iris().data), 2, covariance="tied_spherical")
    result = gopfast.solve(problem, relaxation="pricing", n_threads=1)
    plain = gopfast.solve(problem, relaxation="entropic", n_threads=1)
    assert result.success and result.n_nodes < 0.7 * plain.n_nodes
    assert result.objective == pytest.approx(648.98, abs=1e-3)


@pytest.mark.parametrize("kind", SHARED)
def test_the_result_is_the_same_for_every_thread_count(kind):
    problem = make(kind, 6, 30, 3, 2)
    one, two = (gopfast.solve(problem, relaxation="pricing", n_threads=n, max_nodes=1000) for n in (1, 2))
    assert (one.n_nodes, one.n_passes, one.lower_bound) == (two.n_nodes, two.n_passes, two.lower_bound)


def test_a_gaussian_posterior_is_refused():
    problem = gopfast.GaussianMixture(np.arange(9.0), 2, prior="empirical", posterior="gaussian")
    with pytest.raises(InputError, match="posterior='point'"):
        gopfast.solve(problem, relaxation="pricing")


def test_the_table_says_what_begins(capsys):
    problem = gopfast.GaussianMixture(standardised(load_wine().data[:, :3]), 2, covariance="tied_spherical")
    gopfast.solve(problem, relaxation="pricing", n_threads=1, log=True, max_nodes=50)
    assert "shared parameter is fixed" in capsys.readouterr().out


def test_slopes_beside_one_are_halfway_to_its_neighbours_or_beyond_them():
    assert beside(2.0, [1.0, 2.0, 8.0]) == [4.0, math.sqrt(2.0)]
    assert beside(2.0, [2.0]) == [4.0, 1.0]


@pytest.mark.parametrize("seed", range(4))
def test_looking_longer_for_the_least_variance_within_finds_no_more_than_there_is(seed):
    """Against k-means along random directions, and along the directions of random pairs of samples."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((40, 3)), 1) + rng.integers(0, 3, (40, 1)) * [2.0, 1.0, 0.0]
    w, K = rng.choice([1.0, 2.0], 40), 4
    z = np.linalg.solve(np.linalg.cholesky(np.cov(X.T, bias=True)), (X - X.mean(axis=0)).T)
    directions = rng.standard_normal((400, 3))
    directions[200:] = np.cross(z.T[rng.integers(40, size=200)], z.T[rng.integers(40, size=200)])
    directions = directions[np.linalg.norm(directions, axis=1) > 1e-9]
    most = np.inf
    for u in directions / np.linalg.norm(directions, axis=1)[:, None]:
        x = u @ z
        order = np.argsort(x)
        begins = best_stretches(x[order], w[order], K)
        groups = zip(np.split(x[order], begins[1:]), np.split(w[order], begins[1:]), strict=True)
        most = min(most, sum(v @ np.square(y - np.average(y, weights=v)) for y, v in groups) / w.sum())
    found = [least_within(z, w, K, *effort) for effort in ((0.8, 400, 0.0), (0.8, 50), (0.8, 400), (0.95, 1000))]
    assert found == sorted(found) and found[-1] <= most
    assert found[-1] >= 0.5 * most > found[0]


def test_phi_of_many_columns_is_raised_by_what_is_least_within():
    problem = make("tied", 1, 60, 4, 4)
    family = engine.family(problem)
    slices = family.slices()
    slices.begin()
    before = slices.phi(slices.least), slices.cap
    slices.refine(math.inf)
    assert slices.cap < before[1] and slices.phi(slices.least) > before[0]


def test_least_within_of_a_part_of_the_samples_is_below_any_covariance_within(monkeypatch):
    monkeypatch.setattr("gopfast.mixtures.shared.slices.MOST_REFINED", 20)
    problem = make("tied", 1, 130, 3, 3)
    slices = engine.family(problem).slices()
    slices.refine(math.inf)
    within = 1.0 + slices.eta - slices.cap
    assert 0.0 < within
    rng, z, w = np.random.default_rng(0), slices.columns, slices.weights
    for turn in range(200):
        direction = rng.standard_normal(len(z))
        values = direction @ z
        # intervals along the direction, the least there is within three classes, and others
        ends = np.quantile(values, np.sort(rng.random(2))) if turn % 2 else np.quantile(values, [1 / 3, 2 / 3])
        codes = np.digitize(values, ends) if turn % 5 else rng.integers(0, 3, len(w))
        squares = sum(
            w[codes == k] @ np.square(values[codes == k] - np.average(values[codes == k], weights=w[codes == k]))
            for k in np.unique(codes)
        )
        assert within * (direction @ direction) <= squares / w.sum()


@pytest.mark.parametrize(("covariance", "d", "K"), [("tied", 2, 3), ("tied_spherical", 2, 2)])
def test_bounds_of_more_samples_than_have_prices(covariance, d, K):
    """Summaries bound mixtures of fixed parameter; of what is sought more than the best, nothing is proved."""
    rng = np.random.default_rng(d)
    X = rng.standard_normal((21_000, d)) + 6.0 * rng.integers(0, K, (21_000, 1)) * np.eye(d)[0]
    problem = gopfast.GaussianMixture(X, K, covariance=covariance)
    primal = MixturePrimal(engine.family(problem), 5)
    search = Search(EntropicRelaxation(engine.family(problem)), primal, 1e-9, max_nodes=1)
    search.run()
    fields, vector = search.summary()
    slices, limit = engine.family(problem).slices(), fields["objective"] + 0.01 * len(X)
    plan = plan_of(problem).of_fixed(hasty=True)
    if slices.has_simplices:
        bound = SimplexBound(slices, vector, limit, -1.0, plan)
    else:
        bound = SharedBound(slices, slices.first(vector), limit, -1.0, plan)
    for _ in range(8):
        if not bound.step(time.monotonic() + 600):
            break
    searches = [vertex.search for vertex in bound.vertices] if slices.has_simplices else bound.searches
    assert any(search is not None and search.plan.family.data.levels for search in searches)
    assert -math.inf < bound.lower <= fields["objective"]


def test_a_time_limit_in_the_past_proves_nothing_wrong():
    bound, upper = shared_bound(make("tied", 2, 20, 2, 2), math.inf)
    bound.step(0.0)
    assert bound.lower <= upper


@pytest.mark.parametrize("alpha", [0.3, 2.0, 40.0])
def test_a_best_precision_is_that_of_its_eigenvalue(alpha):
    problem = make("tied", 1, 30, 2, 2)
    slices = engine.family(problem).slices()
    if alpha > slices.largest:
        alpha = slices.largest
    delta = 1.0 - slices.eta - 1.0 / max(alpha, 1.0)
    left = 1.0 - slices.eta - delta
    found = minimize_scalar(lambda b: 0.5 * (b * left - math.log(b)), bounds=(1e-6, slices.largest), method="bounded",
                            options={"xatol": 1e-12})  # fmt: skip
    assert slices._cost(delta) == pytest.approx(found.fun, abs=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("seed", range(4))
def test_the_coordinates_of_a_matrix_are_as_exact_as_is_stated(offset, seed):
    rng = np.random.default_rng(seed)
    problem = degenerate(make("tied", seed, 12, 2, 2 + seed % 2), rng)
    X = problem.X + offset
    problem = gopfast.GaussianMixture(X, 2, covariance="tied", variance_floor=0.05, sample_weight=problem.sample_weight)
    family = engine.family(problem)
    slices = family.slices()
    core, weights = family.data.arrays()
    d, n = core.shape
    with mpmath.workdps(50):
        W = mpmath.fsum(map(mpmath.mpf, weights.tolist()))
        L, Z = mpmath.matrix(slices.axes.tolist()), mpmath.matrix(core.tolist())
        average = [mpmath.fsum(w * Z[a, i] for i, w in enumerate(weights.tolist())) / W for a in range(d)]
        Q = mpmath.matrix(d, d)
        for a in range(d):
            for b in range(d):
                terms = (w * (Z[a, i] - average[a]) * (Z[b, i] - average[b]) for i, w in enumerate(weights.tolist()))
                Q[a, b] = mpmath.fsum(terms) / W
        pooled = L * Q * L.T
        trace = sum(pooled[a, a] for a in range(d))
        assert slices.trace <= trace <= slices.within_one
        # what the floor adds is diagonal, and as large as is missing
        away = max(sum(abs(pooled[a, b]) for b in range(d) if b != a) for a in range(d))
        most = max(pooled[a, a] - 1 for a in range(d))
        assert away <= slices.eta and most <= slices.eta
        # the coordinates of the samples
        exact = L * Z
        squares = mpmath.fsum(
            w * (exact[a, i] - mpmath.mpf(float(slices.columns[a, i]))) ** 2
            for a in range(d) for i, w in enumerate(weights.tolist())
        )  # fmt: skip
        assert mpmath.sqrt(squares) <= slices.distance


def test_what_overflows_proves_nothing():
    slices = engine.family(make("known, empirical prior", 1, 10, 2, 1)).slices()
    bound = SharedBound(slices, 1.0, 0.0, 0.01, None)
    bound.lines = lambda: [Line(0.0, 0.0), Line(1.0, 5.0)]
    assert np.isfinite(bound.least().bound)
    slices.phi = lambda s: math.nan if s > 1.0 else 100.0
    assert bound.least().bound == -math.inf


def squares_within(columns, tau):
    """Half the squares within components, in extended precision, of columns of numbers."""
    total = mpmath.mpf(0)
    for k in range(tau.shape[1]):
        t = [mpmath.mpf(float(x)) for x in tau[:, k]]
        for column in columns:
            m = mpmath.fsum(a * x for a, x in zip(t, column, strict=True)) / mpmath.fsum(t)
            total += mpmath.fsum(a * (x - m) ** 2 for a, x in zip(t, column, strict=True)) / 2
    return total


@pytest.mark.parametrize("kind", ["tied", "tied_spherical"])
def test_what_the_scaling_rounds_is_within_the_loss(kind):
    rng = np.random.default_rng(0)
    problem = make(kind, 3, 12, 2, 2)
    slices, lost = engine.family(problem).slices(), 0
    for _ in range(20):
        alpha, tau = 10.0 ** rng.uniform(-3, 3), rng.dirichlet([1.0, 1.0], 12)
        scaled, _ = slices.family(alpha).data.arrays()
        with mpmath.workdps(40):
            exact = alpha * squares_within([list(map(mpmath.mpf, row)) for row in slices.columns.tolist()], tau)
            found = squares_within([list(map(mpmath.mpf, row)) for row in scaled.tolist()], tau)
            assert found - slices.loss(alpha) <= exact
            lost += found > exact
    assert lost > 0  # rounding does raise it
