"""The box around an incumbent: its Hessian bounds, its lower bound, and what it does to a search."""

import itertools

import numpy as np
import pytest
from gopfast.mixtures.data.samples import Samples
from gopfast.mixtures.families.gaussian import GaussianFamily
from gopfast.mixtures.incumbent.basin import MixtureBasin
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.data import summary
from tests.support.settings import fewer

LEAST = 0.02  # mean curvature that a basin proves on rays, relative to that of separate components
# On a ray, parts of the way and their weights: the mean of a function f is that of 2 (1 - s) f(s).
PARTS, WEIGHTS = np.polynomial.legendre.leggauss(12)
PARTS, WEIGHTS = 0.5 + 0.5 * PARTS, WEIGHTS * (0.5 - 0.5 * PARTS)


def samples(seed, n, K, d, gap=4.0):
    rng = np.random.default_rng(seed)
    centers = gap * np.stack([np.arange(K), *rng.uniform(-1, 1, (d - 1, K))], axis=1)
    return centers[rng.integers(K, size=n)] + rng.standard_normal((n, d)), rng.uniform(0.5, 2.0, n)


def known(X, w, K, prior=None):
    """The family of unit variance."""
    return GaussianFamily(Samples(X, w, np.ones(X.shape[1])), K, prior)


def settle(X, w, K, prior=None, summaries=False, tolerance=0.01):
    """The core's samples, an optimum (weights, means), its objective, and the basin's report or None."""
    data = Samples(X, w, np.ones(X.shape[1]))
    if summaries:
        for level in summary.levels(*data.arrays()):
            data.add_level(*level)
    family = GaussianFamily(data, K, prior)
    primal = MixturePrimal(family)
    search = Search(EntropicRelaxation(family), primal, 0.01, max_nodes=1)
    search.run()
    fields, vector = search.summary()
    basin = MixtureBasin(family, MixturePrimal(family))  # one that no search has stopped
    found = basin.find(vector, tolerance)
    means = vector[K:-1].reshape(K, -1)
    order = np.argsort(means[:, 0])
    columns, weights = data.arrays()
    point = vector[:K][order], means[order]
    return columns.T, weights, point, fields["objective"], basin.report() if found else None


def responsibilities(X, log_weights, means):
    score = log_weights - 0.5 * ((X[:, None] - means) ** 2).sum(axis=2)
    largest = score.max(axis=1, keepdims=True)
    p = np.exp(score - largest)
    return p / p.sum(axis=1, keepdims=True), largest[:, 0] + np.log(p.sum(axis=1))


def hessian(X, w, log_weights, means):
    """Of -sum w log sum_k exp(b_k - |x - nu_k|^2 / 2) + W sum_k exp(b_k), component by component."""
    (K, d), n = means.shape, len(X)
    r, _ = responsibilities(X, log_weights, means)
    u = np.concatenate([np.ones((n, K, 1)), X[:, None] - means], axis=2)
    rows = (r[:, :, None] * u).reshape(n, -1)
    H = (rows * w[:, None]).T @ rows
    f = 1 + d
    for k in range(K):
        block = slice(k * f, (k + 1) * f)
        H[block, block] -= (u[:, k] * (w * r[:, k])[:, None]).T @ u[:, k]
        H[block, block] += np.diag([w.sum() * np.exp(log_weights[k])] + [w @ r[:, k]] * d)
    return H


def best_objective(X, w, weights, means, prior, n_steps=2000):
    """Least objective for given means: the weights by EM, from everywhere above."""
    for _ in range(n_steps):
        r, log_p = responsibilities(X, np.log(weights), means)
        new = w @ r / w.sum()
        if np.abs(new - weights).max() < 1e-14:
            break
        weights = new
    cost = 0.0
    if prior is not None:
        half, C = 0.5 * means.size, 0.5 * (means**2).sum()
        e = min(prior[1], max(prior[0], half / C))
        cost = e * C - half * np.log(e)
    return -w @ log_p + cost, weights


@pytest.mark.parametrize("summaries", [False, True])
@pytest.mark.parametrize(("K", "d"), [(2, 1), (4, 1), (3, 2), (2, 3)])
def test_the_hessian_stays_within_its_bounds_and_positive(K, d, summaries):
    X, w = samples(K + d, 30_000 if summaries and d == 1 else 2000, K, d)
    X, w, (weights, means), _, box = settle(X, w, K, summaries=summaries)
    assert box is not None
    rng = np.random.default_rng(0)
    scale = np.repeat(np.sqrt(w.sum() * weights), 1 + d)
    radius = 0.5 * (box["high"] - box["low"]).reshape(K, d)
    np.testing.assert_allclose(means, 0.5 * (box["high"] + box["low"]).reshape(K, d), atol=1e-12)
    spent = 0.0
    for trial in range(fewer(60)):
        pick = rng.uniform(-1, 1, (K, 1 + d)) if trial % 2 else rng.choice([-1.0, 1.0], (K, 1 + d))
        ray = [
            hessian(X, w, np.log(weights) + s * pick[:, 0] * box["log_radius"], means + s * pick[:, 1:] * radius)
            for s in (*PARTS, 1.0)
        ]
        change = np.abs(ray[-1] - box["hessian"])
        assert (change <= box["variation"] + 1e-9 * w.sum()).all()
        spent = max(spent, (change / np.maximum(box["variation"], 1e-3 * w.sum())).max())
        H = np.tensordot(WEIGHTS, ray[:-1], 1)
        assert (np.abs(H - box["hessian"]) <= box["mean"] + 1e-9 * w.sum()).all()
        assert np.linalg.eigvalsh(H / np.outer(scale, scale)).min() >= LEAST
    assert spent > 0.2  # the bounds are not vacuous


@pytest.mark.parametrize("prior", [None, (1e-2, 1e-2), (1e-6, 1e3)])
@pytest.mark.parametrize(("K", "d", "summaries"), [(2, 1, False), (3, 1, True), (3, 2, False)])
def test_no_solution_in_the_box_lies_below_its_bound(K, d, summaries, prior):
    X, w = samples(7 * K + d, 20_000 if summaries else 500, K, d)
    X = X - 0.5 * (X.min(axis=0) + X.max(axis=0))  # the prior's center is then the core's origin
    X, w, (weights, means), objective, box = settle(X, w, K, prior, summaries)
    assert box is not None
    assert objective - 1e-3 <= box["lower"] <= objective
    rng = np.random.default_rng(1)
    low, high = box["low"].reshape(K, d), box["high"].reshape(K, d)
    corners = itertools.islice(itertools.product([0.0, 1.0], repeat=K * d), 64)
    points = [low + np.reshape(c, (K, d)) * (high - low) for c in corners]
    points += [means + 0.01 * rng.uniform(-1, 1) * (high - low) for _ in range(10)]
    if prior is not None and summaries:
        points = points[:4]
    for nu in points:
        value, best = best_objective(X, w, weights, nu, prior)
        assert value >= box["lower"]
        assert (np.abs(np.log(best / weights)) <= box["log_radius"]).all()


@pytest.mark.parametrize(("K", "d", "prior"), [(2, 1, None), (3, 1, (1e-2, 1e-2)), (3, 2, None)])
def test_a_box_that_is_given_is_held_with_its_bound(K, d, prior):
    """Boxes of any shape that hold the solution, from narrow ones to those that are too wide."""
    X, w = samples(5 * K + d, 500, K, d)
    X = X - 0.5 * (X.min(axis=0) + X.max(axis=0))
    data = Samples(X, w, np.ones(d))
    family = GaussianFamily(data, K, prior)
    search = Search(EntropicRelaxation(family), MixturePrimal(family), 0.01, max_nodes=1)
    search.run()
    fields, vector = search.summary()
    columns, weights = data.arrays()
    means = vector[K:-1].reshape(K, d)
    order = np.argsort(means[:, 0])
    means, shares = means[order], vector[:K][order]
    rng = np.random.default_rng(2)
    held = []
    for size in [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 2.0] * 3:
        low, high = (means + sign * size * rng.uniform(0.2, 1, (K, d)) for sign in (-1, 1))
        basin = MixtureBasin(family, MixturePrimal(family))
        found = basin.finds_box_over(vector, 0.01, low.ravel(), high.ravel())
        held.append((size, found))
        if not found:
            continue
        box = basin.report()
        assert (box["low"] <= low.ravel()).all() and (high.ravel() <= box["high"]).all()
        assert fields["objective"] - 1e-3 <= box["lower"] <= fields["objective"]
        sides = np.stack([box["low"], box["high"]]).reshape(2, K, d)
        for _ in range(6):
            nu = np.where(rng.random((K, d)) < 0.5, *sides)
            value, best = best_objective(columns.T, weights, shares, nu, prior)
            assert value >= box["lower"]
            assert (np.abs(np.log(best / shares)) <= box["log_radius"]).all()
    assert all(found for size, found in held if size < 0.04)
    assert not any(found for size, found in held if size > 1)


def test_no_box_is_given_around_what_is_no_solution():
    X, w = samples(5, 4000, 2, 1)
    family = known(X, w, 2)
    columns = family.data.arrays()[0][0]
    off = np.array([0.5, 0.5, np.quantile(columns, 0.25) + 0.2, np.quantile(columns, 0.75), 0.0])
    basin = MixtureBasin(family, MixturePrimal(family))
    assert not basin.finds_box_over(off, 0.01, off[2:4] - 0.01, off[2:4] + 0.01)
    assert basin.lower == -np.inf


def test_where_the_objective_is_not_convex_there_is_no_box():
    X, w = samples(3, 400, 2, 1)
    family = known(X, w, 2)
    primal = MixturePrimal(family)
    middle = np.average(family.data.arrays()[0][0], weights=w)
    saddle = np.array([0.5, 0.5, middle, middle, 0.0])
    assert not MixtureBasin(family, primal).find(saddle, 0.01)


def test_a_component_without_weight_has_no_box():
    X, w = samples(4, 400, 2, 1)
    family, fewer = known(X, w, 3), known(X, w, 2)
    primal = MixturePrimal(family)
    two = Search(EntropicRelaxation(fewer), MixturePrimal(fewer), 0.01)
    two.run()
    vector = two.summary()[1]
    solution = np.array([*vector[:2], 0.0, *vector[2:4], 0.0, 0.0])
    assert not MixtureBasin(family, primal).find(solution, 0.01)


def test_where_the_solution_is_not_stationary_there_is_no_box():
    X, w = samples(5, 4000, 2, 1)
    family = known(X, w, 2)
    columns = family.data.arrays()[0][0]
    off = np.array([0.5, 0.5, np.quantile(columns, 0.25) + 0.2, np.quantile(columns, 0.75), 0.0])
    assert not MixtureBasin(family, MixturePrimal(family)).find(off, 0.01)


@pytest.mark.parametrize(("n", "K", "d", "prior"), [(3000, 3, 1, None), (800, 3, 2, None), (600, 3, 1, (1e-6, 1e3))])
def test_a_search_with_the_box_ends_at_the_same_optimum_in_fewer_nodes(n, K, d, prior):
    X, w = samples(11, n, K, d)
    family = known(X, w, K, prior)

    def run(with_box, n_threads=1, reference=None):
        primal = MixturePrimal(family)
        basin = MixtureBasin(family, primal) if with_box else None
        search = Search(EntropicRelaxation(family), primal, 1e-4, n_threads=n_threads, basin=basin, known=reference)
        search.run()
        assert search.n_audit_failures == 0
        return search.summary()

    plain, vector = run(False)
    means = vector[K:-1].reshape(K, d)
    reference = means[np.argsort(means[:, 0])], plain["objective"]
    ends = [run(True, n_threads, reference)[0] for n_threads in (1, 2, 4)]
    for end in ends:
        assert end["objective"] == pytest.approx(plain["objective"], abs=1e-6)
        assert plain["objective"] - 1e-4 <= end["lower_bound"] <= plain["objective"] + 1e-9
        assert end["n_nodes"] < 0.9 * plain["n_nodes"]
        assert (end["n_nodes"], end["n_passes"], end["lower_bound"]) == (
            ends[0]["n_nodes"], ends[0]["n_passes"], ends[0]["lower_bound"]
        )  # fmt: skip


def test_many_samples_in_the_plane_are_bounded_on_their_summaries_alone():
    """Without the box, the nodes at the optimum need the samples themselves."""
    rng = np.random.default_rng(1)
    centers = 5 * rng.standard_normal((3, 2))
    X = centers[rng.integers(3, size=40_000)] + rng.standard_normal((40_000, 2))
    problem = gopfast.GaussianMixture(X, 3, covariance="known")
    family = engine.family(problem)
    without = Search(EntropicRelaxation(family), MixturePrimal(family), 0.01)
    without.run()
    result = gopfast.solve(problem, epsilon=0.01)
    assert result.success
    assert result.n_nodes < 0.8 * without.summary()[0]["n_nodes"]
    assert result.objective == pytest.approx(without.summary()[0]["objective"], abs=1e-3)


# What `examine` claims of any box around any point, term by term.


def examine(X, w, weights, means, radius, log_radius, prior=None, summaries=False):
    """Claims for a center that need not be a solution; means in the order of the first coordinate, core's units."""
    K, d = means.shape
    data = Samples(X, w, np.ones(d), center=np.zeros(d))
    np.testing.assert_array_equal(data.order, np.arange(d))
    if summaries:
        for level in summary.levels(*data.arrays()):
            data.add_level(*level)
    family = GaussianFamily(data, K, prior)
    basin = MixtureBasin(family, MixturePrimal(family), fine=np.inf)
    solution = np.concatenate([weights, means.ravel(), [0.0]])
    return basin.examine(solution, np.full(K * d, float(radius)), np.full(K, float(log_radius)))


def prior_hessian(means, prior):
    """Of min over e in the range of e |nu|^2 / 2 - K d / 2 log e, over (log weight, mean) of each component."""
    (K, d), nu = means.shape, means.ravel()
    half, cost = 0.5 * nu.size, 0.5 * nu @ nu
    e = min(prior[1], max(prior[0], half / cost))
    P = e * np.eye(nu.size)
    if prior[0] < half / cost < prior[1]:
        P -= half / cost**2 * np.outer(nu, nu)
    at = (np.arange(K)[:, None] * (1 + d) + np.arange(1, 1 + d)).ravel()
    H = np.zeros((K * (1 + d), K * (1 + d)))
    H[np.ix_(at, at)] = P
    return H


def assert_bounds_hold(X, w, weights, means, radius, log_radius, prior=None, summaries=False, n_trials=40):
    found = examine(X, w, weights, means, radius, log_radius, prior, summaries)
    rng = np.random.default_rng(5)
    least = found["hessian"] - np.diag(found["domination"] * found["scale"] ** 2)
    size = w.sum() * (1 + np.abs(X).max() ** 2)
    for trial in range(n_trials):
        pick = rng.uniform(-1, 1, (len(means), 1 + X.shape[1]))
        pick = np.sign(pick) if trial % 2 else pick
        mean = np.zeros_like(least)
        for s, weight in zip((*PARTS, 1.0), (*WEIGHTS, 0.0), strict=True):
            moved = means + s * radius * pick[:, 1:]
            H = hessian(X, w, np.log(weights) + s * log_radius * pick[:, 0], moved)
            if s == 1.0:
                assert (np.abs(H - found["hessian"]) <= found["variation"] + 1e-12 * size).all()
            if prior is not None:
                H = H + prior_hessian(moved, prior)
            mean += weight * H
        # the rule of integration is exact up to its own error, and that of a prior at the ends of its range
        assert np.linalg.eigvalsh(mean - least).min() >= -1e-9 * size
    return found


@pytest.mark.parametrize("seed", range(40))
def test_bounds_hold_around_any_center(seed):
    rng = np.random.default_rng(seed)
    K, d, n = rng.integers(1, 5), rng.integers(1, 4), 60
    X = rng.standard_normal((n, d)) * rng.choice([0.5, 2.0, 8.0]) * 2.0 ** -np.arange(d)
    w = rng.uniform(0, 2, n)
    means = X[rng.choice(n, K, replace=False)] + 0.1 * rng.standard_normal((K, d))
    means = means[np.argsort(means[:, 0])]
    weights = rng.dirichlet(np.ones(K)) * 0.99 + 0.01 / K
    assert_bounds_hold(X, w, weights, means, 10.0 ** rng.uniform(-4, 0), 10.0 ** rng.uniform(-4, 0))


def test_the_mass_of_a_component_changes_with_the_weights_alone():
    """All samples at a mean, where the terms with x - mean vanish: only the change of N_k is left."""
    weights = np.array([np.exp(-4.5), 1.0]) / (1 + np.exp(-4.5))
    X, w, means = np.zeros((50, 1)), np.ones(50), np.array([[0.0], [3.0]])
    found = assert_bounds_hold(X, w, weights, means, 1e-9, 0.3)
    moved = hessian(X, w, np.log(weights) + [0.3, -0.3], means)
    assert abs(moved - found["hessian"])[1, 1] > 0.9 * found["variation"][1, 1] > 1


def test_the_prior_takes_curvature_away():
    """Hardly any data: what is left of the Hessian is the prior's, and negative."""
    X, w = np.array([[-1.0, 0.1], [1.0, 0.0], [0.4, 0.2]]), np.full(3, 1e-3)
    means, prior = np.array([[-1.0, 0.5], [1.0, 0.2]]), (1e-3, 1e3)
    found = assert_bounds_hold(X, w, np.array([0.4, 0.6]), means, 0.1, 0.1, prior)
    least = np.linalg.eigvalsh(prior_hessian(means, prior)).min()
    assert -found["prior_curvature"] < least < -0.2 * found["prior_curvature"]
    assert not found["rises"]
    assert examine(X, w, np.array([0.4, 0.6]), means, 0.1, 0.1, (2.0, 2.0))["prior_curvature"] == 0


def test_a_prior_at_its_center_has_no_bound():
    X, w, means = np.array([[-1.0], [1.0]]), np.ones(2), np.array([[-0.05], [0.05]])
    found = examine(X, w, np.array([0.5, 0.5]), means, 0.1, 0.1, (1e-3, 1e3))
    assert found["prior_curvature"] == np.inf
    assert not found["rises"]


@pytest.mark.parametrize("seed", range(12))
def test_summaries_bound_the_samples_they_stand_for(seed):
    """With next to no box, what is left of the variation is the way from the samples to the summary's points."""
    rng = np.random.default_rng(seed)
    d = 1 + seed % 2
    X, w = samples(seed, 4000 if d == 1 else 6000, 3, d, gap=rng.uniform(1, 4))
    X -= 0.5 * (X.min(axis=0) + X.max(axis=0))
    X = X[:, np.argsort(X.min(axis=0) - X.max(axis=0))]
    means = X[rng.choice(len(X), 3, replace=False)]
    means = means[np.argsort(means[:, 0])]
    weights = rng.dirichlet(np.full(3, 3.0)) * 0.97 + 0.01
    found = assert_bounds_hold(X, w, weights, means, 1e-9, 1e-9, summaries=True, n_trials=2)
    change = np.abs(hessian(X, w, np.log(weights), means) - found["hessian"])
    assert change.max() > 1e-6 * w.sum()  # the summary is coarse enough to be told from the samples


@pytest.mark.parametrize("seed", range(24))
def test_the_best_weights_stay_as_near_as_claimed(seed):
    rng = np.random.default_rng(seed)
    K, d = 2 + seed % 2, 1 + seed % 3
    X, w = samples(seed, 300, K, d, gap=rng.uniform(3, 4))
    X -= 0.5 * (X.min(axis=0) + X.max(axis=0))
    X = X[:, np.argsort(X.min(axis=0) - X.max(axis=0))]
    means = X[np.argsort(X[:, 0])[(np.arange(K) * 2 + 1) * len(X) // (2 * K)]]
    for _ in range(30):
        r, _ = responsibilities(X, np.zeros(K), means)
        means = ((w[:, None] * r).T @ X) / (w @ r)[:, None]
    means = means[np.argsort(means[:, 0])] + 0.1 * rng.standard_normal((K, d)) / np.arange(1, 1 + d)
    weights = best_objective(X, w, np.full(K, 1.0 / K), means, None)[1]
    off = weights * np.exp(rng.uniform(-0.03, 0.03, K) * (seed % 2))  # not the best ones for the center's means
    radius = 10.0 ** rng.uniform(-3, -1.5)
    log_radius, found = 0.0, None
    for _ in range(60):
        found = examine(X, w, off, means, radius, log_radius)
        if found["enclosed"]:
            break
        log_radius = max(1.05 * log_radius, 1.02 * found["needed"].max())
    assert found["enclosed"] and found["rises"]
    assert not examine(X, w, off, means, radius, 0.2 * log_radius)["enclosed"]
    spent = 0.0
    for pick in itertools.product([-1.0, 1.0], repeat=K * d):
        best = best_objective(X, w, weights, means + radius * np.reshape(pick, (K, d)), None)[1]
        moved = np.abs(np.log(best / off))
        assert (moved <= found["needed"] * (1 + 1e-9)).all()
        spent = max(spent, (moved / found["needed"]).max())
    assert spent > 0.3


def test_coordinates_of_samples_differ_from_their_summary():
    """Equal means: responsibilities do not depend on the samples, so that only x - mean is left to change."""
    rng = np.random.default_rng(2)
    X, w, means = rng.uniform(-3, 3, (4000, 1)), np.ones(4000), np.zeros((2, 1))
    X[:2, 0] = -3, 3
    found = assert_bounds_hold(X, w, np.full(2, 0.5), means, 1e-9, 1e-9, summaries=True, n_trials=2)
    change = np.abs(hessian(X, w, np.log(np.full(2, 0.5)), means) - found["hessian"])
    assert change.max() > 1e-6 * w.sum()


def test_what_the_gradient_allows_is_taken_off():
    """Around a point next to the optimum, the optimum is in the box and below the point's objective."""
    X, w = samples(12, 3000, 2, 1)
    family = known(X, w, 2)
    search = Search(EntropicRelaxation(family), MixturePrimal(family), 1e-4)
    search.run()
    fields, vector = search.summary()
    basin = MixtureBasin(family, MixturePrimal(family))
    off = vector.copy()
    off[2:4] += 0.002
    assert basin.find(off, 5.0)
    box = basin.report()
    assert ((box["low"] < np.sort(vector[2:4])) & (np.sort(vector[2:4]) < box["high"])).all()
    assert box["lower"] < fields["lower_bound"] <= fields["objective"]
