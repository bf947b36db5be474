"""The box around an incumbent of any family: its derivatives' bounds, its lower bound, and what it does to a search."""

import functools

import numpy as np
import pytest
from gopfast.mixtures.families.affine import AffineFamily
from gopfast.mixtures.families.gaussian import GaussianFamily
from gopfast.mixtures.incumbent.neighbourhood import Neighbourhood
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search
from scipy.optimize import minimize

import gopfast
from gopfast.mixtures import engine
from tests.support import definitions
from tests.support.audit import root_of
from tests.support.settings import fewer


def gaussian(seed, n, K, d, covariance, floor, gap=5.0, spread=1.0):
    rng = np.random.default_rng(seed)
    centers = gap * np.stack([np.arange(K), *rng.uniform(-1, 1, (d - 1, K))], axis=1)
    X = centers[rng.integers(K, size=n)] + rng.uniform(0.5, 1.5, (n, 1)) * spread * rng.standard_normal((n, d))
    return gopfast.GaussianMixture(
        X, K, covariance=covariance, variance_floor=floor, sample_weight=rng.uniform(0.5, 2, n)
    )


def items(seed, n, K, d, levels=2, zeros=True):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(levels, 0.7), (K, d))
    if zeros:
        p[0, :, 0] = 1.0
        p[0, :, 1:] = 0.0
    of = rng.integers(K, size=n)
    return np.array([[rng.choice(levels, p=p[k, j]) for j in range(d)] for k in of])


def counts(seed, n, rates):
    rng = np.random.default_rng(seed)
    rates = np.reshape(rates, (len(rates), -1))
    return rng.poisson(rates[rng.integers(len(rates), size=n)])


def waits(seed, n, means):
    rng = np.random.default_rng(seed)
    return rng.exponential(np.array(means)[rng.integers(len(means), size=n)])[:, np.newaxis]


def known(seed, n, K, d, gap=4.0, prior=None):
    """Samples of weights 0.5 to 2 about centers `gap` apart, variance 1."""
    problem = gaussian(seed, n, K, d, "diag", 0.01, gap)
    return gopfast.GaussianMixture(
        problem.X, K, covariance="known", sample_weight=problem.sample_weight, prior=prior
    )


# Problem, and the radius of the locations or of what there is that the box is known to reach.
PROBLEMS = {
    "diag": (lambda: gaussian(0, 120, 3, 1, "diag", 0.01), 0.05),
    "diag, overlapping": (lambda: gaussian(5, 200, 2, 1, "diag", 0.01, gap=2.5), 0.02),
    "diag, on the floor": (lambda: gaussian(1, 100, 3, 1, "diag", 1.5), 0.05),
    "diag, plane": (lambda: gaussian(2, 150, 2, 2, "diag", 0.01), 0.05),
    "spherical": (lambda: gaussian(3, 150, 3, 2, "spherical", 0.01), 0.05),
    "known": (lambda: known(0, 120, 3, 1), 0.15),
    "known, overlapping": (lambda: known(5, 200, 2, 1, gap=2.5), 0.05),
    "known, plane": (lambda: known(2, 200, 4, 2), 0.1),
    "known, prior": (lambda: known(4, 120, 3, 2, prior=4.0), 0.1),
    "full, one column": (lambda: gaussian(4, 100, 2, 1, "full", 0.01), 0.05),
    "full, plane": (lambda: gaussian(6, 150, 2, 2, "full", 0.01), 0.02),
    "full, overlapping": (lambda: gaussian(7, 300, 2, 2, "full", 0.01, gap=3.0), 0.01),
    "full, three columns": (lambda: gaussian(8, 200, 2, 3, "full", 0.01), 0.01),
    "counts": (lambda: gopfast.PoissonMixture(counts(0, 200, [2.0, 12.0]), 2), 0.05),
    "counts of zero": (lambda: gopfast.PoissonMixture(counts(1, 200, [[0.0, 5.0], [6.0, 1.0]]), 2), 0.05),
    "counts, prior": (lambda: gopfast.PoissonMixture(counts(2, 150, [2.0, 15.0]), 2, prior=(2.0, 0.5)), 0.05),
    "large counts": (lambda: gopfast.PoissonMixture(counts(3, 100, [2e6, 2.02e6]), 2), 0.05),
    "waits": (lambda: gopfast.ExponentialMixture(waits(0, 300, [1.0, 30.0]), 2), 0.02),
    "waits, prior": (lambda: gopfast.ExponentialMixture(waits(1, 200, [1.0, 40.0]), 2, prior=(2.0, 1.0)), 0.02),
    "items": (lambda: gopfast.BernoulliMixture(items(0, 200, 2, 5, zeros=False), 2), 0.02),
    "items, faces": (lambda: gopfast.BernoulliMixture(items(1, 150, 2, 6), 2), 0.02),
    "items, prior": (lambda: gopfast.BernoulliMixture(items(2, 150, 2, 5), 2, prior=(2.0, 1.5)), 0.02),
    "labels": (lambda: gopfast.CategoricalMixture(items(3, 300, 2, 4, 3, zeros=False), 2), 0.005),
    "labels, faces": (lambda: gopfast.CategoricalMixture(items(4, 200, 2, 4, 3), 2), 0.01),
    "labels, prior": (lambda: gopfast.CategoricalMixture(items(5, 200, 2, 4, 3), 2, prior=1.5), 0.02),
}


@functools.cache
def solved_by_name(name):
    """The problem of a name, and what `solved` returns of it."""
    problem = PROBLEMS[name][0]()
    return problem, *solved(problem)


def solved(problem, tolerance=0.01, max_nodes=300):
    """The core's family, a local optimum that is well iterated, its objective."""
    family = engine.family(problem)
    search = Search(EntropicRelaxation(family), MixturePrimal(family), 0.01, max_nodes=max_nodes)
    search.run()
    fields, vector = search.summary()
    K = family.n_components
    vector, _, _ = MixturePrimal(family).em(vector[:K], vector[K:-1], 1e-11, 20_000)
    return family, vector, fields["objective"]


def best(problem, family, point, weights, n_steps=200):
    """Objective at the core's parameters, weights by EM; and the parameters."""
    K = family.n_components
    e = family.precision_range[0] if isinstance(family, GaussianFamily) and family.has_prior else 0.0
    found = family.parameters(np.concatenate([weights, point, [e]]))
    scores = problem.log_densities(**found)
    densities = np.exp(scores - np.maximum(scores.max(axis=1, keepdims=True), -1e300))  # up to a factor of each sample
    for _ in range(n_steps):
        tau = problem.responsibilities(weights, **found) if not (total := densities @ weights).all() else (
            densities * weights / total[:, np.newaxis]
        )
        new = problem.sample_weight @ tau / problem.total_weight
        if np.abs(new - weights).max() < 1e-13:
            break
        weights = new
    assert len(weights) == K
    return problem.objective(weights, **found), weights, found


def draw(rng, report, labels):
    """Parameters in the box: anywhere, in a corner, or near the center; labels' adding up to 1."""
    low, high = report["low"], report["high"]
    center = report["center"][-1 - len(low) : -1]
    style = rng.integers(3)
    if style == 0:
        point = low + rng.random(len(low)) * (high - low)
    elif style == 1:
        point = np.where(rng.random(len(low)) < 0.5, low, high)
    else:
        at = low + rng.random(len(low)) * (high - low)
        point = center + 10.0 ** rng.uniform(-3, 0) * (at - center)
    for own in labels:
        for _ in range(60):  # alternating projections, then whatever is left is not in the box
            point[own] = np.clip(point[own], low[own], high[own])
            point[own] /= point[own].sum()
        if (point[own] < low[own] - 1e-15).any() or (point[own] > high[own] + 1e-15).any():
            return None
    return point


def label_groups(problem):
    """Indices of the core's coordinates that add up to 1."""
    if not isinstance(problem, gopfast.CategoricalMixture) or max(problem.n_categories) <= 2:
        return []
    sizes = problem.n_categories
    assert min(sizes) > 2
    order = np.argsort(engine.family(problem).data.order)
    ends = np.cumsum([0, *sizes])
    d = ends[-1]
    return [k * d + order[a:b] for k in range(problem.n_components) for a, b in zip(ends, ends[1:], strict=False)]


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_solution_in_the_box_lies_below_its_bound(name):
    radius = PROBLEMS[name][1]
    problem, family, vector, _ = solved_by_name(name)
    basin = Neighbourhood(MixturePrimal(family), family.chart())
    assert basin.find(vector, 0.01)
    report = basin.report()
    reaches = np.minimum(report["down"], report["up"])
    assert np.median(reaches[reaches > 0]) > radius
    weights = report["center"][: family.n_components]
    value, _, found = best(problem, family, report["center"][family.n_components : -1], weights)
    assert report["lower"] <= value <= report["lower"] + 0.01
    rng = np.random.default_rng(0)
    labels, tried = label_groups(problem), 0
    for trial in range(fewer(120)):
        point = draw(rng, report, labels)
        if point is None:
            continue
        tried += 1
        value, share, found = best(problem, family, point, weights)
        assert value >= report["lower"]
        if trial < 3:
            assert definitions.objective(problem, share, **found) >= report["lower"]
    assert tried > fewer(30)


@pytest.mark.parametrize("name", [name for name in PROBLEMS if "label" not in name])
def test_no_descent_in_the_box_ends_below_its_bound(name):
    problem, family, vector, _ = solved_by_name(name)
    basin = Neighbourhood(MixturePrimal(family), family.chart())
    assert basin.find(vector, 0.01)
    report = basin.report()
    weights = report["center"][: family.n_components]
    width = np.where(report["high"] > report["low"], report["high"] - report["low"], 1.0)
    rng = np.random.default_rng(1)
    for _ in range(fewer(2)):
        start = rng.random(len(width))
        found = minimize(
            lambda part: best(problem, family, report["low"] + part * width, weights, 60)[0], start,
            bounds=[(0, part) for part in (report["high"] - report["low"]) / width],
            method="L-BFGS-B", options={"maxiter": 15},
        )  # fmt: skip
        assert found.fun >= report["lower"]


# What `examine` claims of any box around any center, in the chart's coordinates, against densities by definition.


class Chart:
    """A center of a family without faces: parameters, log densities and D at coordinates y (K, p)."""

    def __init__(self, problem, family, center):
        self.problem, self.family = problem, family
        K = family.n_components
        self.weights, cells = center[:K], center[K:-1].reshape(K, -1)
        columns, self.w = family.data.arrays()
        self.X, d = columns.T, family.n_columns
        self.kind = type(problem).__name__
        self.full = isinstance(family, AffineFamily)
        if self.full:
            self.d, self.mean = family.d, cells[:, : family.d]
            self.X, self.root = self.X[:, : self.d], np.linalg.cholesky(family.covariances(center))
        elif self.kind == "GaussianMixture" and problem.covariance == "known":
            self.kind, self.mean = "known", cells
        elif self.kind == "GaussianMixture":
            self.mean, self.variance = cells[:, :d], np.maximum(1.0, cells[:, d:])
            self.size = d // self.variance.shape[1]
        else:
            self.mean = np.exp(cells) if self.kind == "ExponentialMixture" else cells

    def at(self, y):
        """Log densities (n, K), up to terms of the sample alone, and D (K,)."""
        X, m, d = self.X[:, np.newaxis], self.mean, self.X.shape[1]
        if self.full:
            P, mean = self.precision(y)
            t = np.einsum("kab,nkb->nka", np.linalg.inv(self.root), X - m) - mean
            logs = -0.5 * np.einsum("nka,kab,nkb->nk", t, P, t)
            logs += 0.5 * np.linalg.slogdet(P)[1] - np.linalg.slogdet(self.root)[1]
            D = 0.5 * np.einsum("ka,kab,kb->k", mean, P, mean)
            D += 0.5 * (np.trace(P, axis1=1, axis2=2) - d - np.linalg.slogdet(P)[1])
        elif self.kind == "known":
            logs, D = -0.5 * ((X - m - y) ** 2).sum(axis=2), 0.5 * (y**2).sum(axis=1)
        elif self.kind == "GaussianMixture":
            grown = 1 + y[:, d:] / np.sqrt(self.size / 2)  # of the precision
            t, v = (np.repeat(a, self.size, axis=1) for a in (grown, self.variance))
            mean = m + y[:, :d] * np.sqrt(v) / t
            logs = -0.5 * (np.log(v / t) + (X - mean) ** 2 * t / v).sum(axis=2)
            D = 0.5 * self.size * (grown - 1 - np.log(grown)).sum(axis=1) + (0.5 * y[:, :d] ** 2 / t).sum(axis=1)
        elif self.kind == "PoissonMixture":
            step = y / np.sqrt(m)
            rate = m * np.exp(step)
            logs, D = (X * np.log(rate) - rate).sum(axis=2), (m * (np.expm1(step) - step)).sum(axis=1)
        elif self.kind == "BernoulliMixture":
            step = y / np.sqrt(m * (1 - m))
            p = m / (m + (1 - m) * np.exp(-step))
            logs = (X * np.log(p) + (1 - X) * np.log1p(-p)).sum(axis=2)
            D = (np.log1p(m * np.expm1(step)) - m * step).sum(axis=1)
        else:
            rate = (1 + y) / m
            logs, D = (np.log(rate) - X * rate).sum(axis=2), (y - np.log1p(y)).sum(axis=1)
        return logs, D

    def precision(self, y):
        """Precisions (K, d, d) and means (K, d) in standard deviations of the center."""
        d, (rows, columns) = self.d, np.triu_indices(self.d)
        P = np.tile(np.eye(d), (len(y), 1, 1))
        part = y[:, d:] * np.where(rows == columns, np.sqrt(2), 1.0)
        P[:, rows, columns] += part
        P[:, columns, rows] += np.where(rows == columns, 0.0, part)
        return P, np.linalg.solve(P, y[:, :d, np.newaxis])[:, :, 0]

    def objective(self, z):
        """f at z (K, 1 + p), of free total weight, without a prior."""
        logs, D = self.at(z[:, 1:])
        b = z[:, 0] + D  # change of the log weights
        scores = np.log(self.weights) + b + logs
        top = scores.max(axis=1)
        total = self.w.sum() * (self.weights * np.expm1(b)).sum()
        return total - self.w @ (top + np.log(np.exp(scores - top[:, np.newaxis]).sum(axis=1)))

    def masses(self, z):
        """Sums of the responsibilities (K,) at z."""
        logs, D = self.at(z[:, 1:])
        scores = np.log(self.weights) + z[:, 0] + D + logs
        r = np.exp(scores - scores.max(axis=1, keepdims=True))
        return self.w @ (r / r.sum(axis=1, keepdims=True))


KNOWN = 1000  # seeds from here on are of known variance


def centers(seed):
    """A problem, and a center and a box that need not be those of a solution."""
    rng = np.random.default_rng(seed)
    kind, K, d, n = 6 if seed >= KNOWN else seed % 6, int(rng.integers(2, 5)), int(rng.integers(1, 4)), 40
    w, log_size = rng.uniform(0, 2, n), rng.uniform(-3, -0.5)
    if kind == 5:
        return full_center(rng, min(K, 3), max(d, 2), n, w, 10.0**log_size)
    if kind == 6:
        X = rng.standard_normal((n, d)) * rng.choice([1.0, 3.0, 10.0])
        problem = gopfast.GaussianMixture(X, K, covariance="known", sample_weight=w)
        cells = X[rng.choice(n, K)] + rng.standard_normal((K, d))
    elif kind < 2:
        X = rng.standard_normal((n, d)) * rng.choice([1.0, 3.0, 10.0])
        problem = gopfast.GaussianMixture(
            X, K, covariance=["diag", "spherical"][kind], variance_floor=0.01, sample_weight=w
        )
        cells = np.hstack([X[rng.choice(n, K)], 10.0 ** rng.uniform(-1, 1, (K, d if kind == 0 else 1))])
        cells = np.hstack([cells[:, :d], cells[:, d:] / 0.01])
    elif kind == 2:
        problem = gopfast.PoissonMixture(rng.poisson(10.0 ** rng.uniform(0, 2, (n, d))), K, sample_weight=w)
        cells = 10.0 ** rng.uniform(-1, 2, (K, d))
    elif kind == 3:
        problem = gopfast.BernoulliMixture(rng.integers(2, size=(n, d)), K, sample_weight=w)
        cells = rng.uniform(0.03, 0.97, (K, d))
    else:
        problem = gopfast.ExponentialMixture(10.0 ** rng.uniform(-1, 1, (n, d)), K, sample_weight=w)
        cells = rng.uniform(-2, 2, (K, d))
    family = engine.family(problem)
    if kind in (0, 1, 6):
        cells[:, :d] = family.data.from_user(cells[:, :d])
    cells = cells[np.argsort(cells[:, 0])]
    size = 10.0 ** (log_size + rng.uniform(-0.5, 0.0, cells.shape))
    if kind < 2:
        width = np.hstack([np.sqrt(np.broadcast_to(cells[:, d:], (K, d))), cells[:, d:]])
    else:
        width = np.ones_like(cells) if kind in (4, 6) else np.sqrt(cells) if kind == 2 else cells * (1 - cells)
    low, high = cells - size * width, cells + size * width * rng.choice([1.0, 0.3])
    if kind == 2:
        low = np.maximum(low, 0.2 * cells)
    weights = 0.98 * rng.dirichlet(np.ones(K)) + 0.02 / K
    return problem, family, np.concatenate([weights, cells.ravel(), [0.0]]), low.ravel(), high.ravel()


def full_center(rng, K, d, n, w, size):
    """The same of covariance matrices, the box in variances, slopes and residuals or in entries."""
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) * rng.choice([1.0, 3.0])
    problem = gopfast.GaussianMixture(X, K, covariance="full", variance_floor=1e-3, sample_weight=w)
    family = engine.family(problem)
    roots = np.linalg.qr(rng.standard_normal((K, d, d)))[0] * 10.0 ** rng.uniform(-0.5, 0.5, (K, 1, d))
    means = X[rng.choice(n, K)]
    cells = family.pack(means=means, covariances=roots @ np.swapaxes(roots, 1, 2)).reshape(K, -1)
    cells = cells[np.argsort(cells[:, 0])]
    C = family.covariances(np.concatenate([np.ones(K), cells.ravel(), [0.0]]))
    spread = np.sqrt(np.linalg.eigvalsh(C)[:, :1])  # of the narrowest direction
    entries = np.ones((K, d * (d + 1) // 2)) * spread**2
    if d == 2:
        entries = np.stack([C[:, 0, 0], spread[:, 0] / np.sqrt(C[:, 0, 0]), cells[:, 4]], axis=1)
    size = size * 10.0 ** rng.uniform(-0.5, 0.0, cells.shape) * np.hstack([np.tile(spread, d), entries])
    low, high = cells - size, cells + size * rng.choice([1.0, 0.3])
    weights = 0.98 * rng.dirichlet(np.ones(K)) + 0.02 / K
    return problem, family, np.concatenate([weights, cells.ravel(), [0.0]]), low.ravel(), high.ravel()


@pytest.mark.parametrize("seed", [*range(72), *range(KNOWN, KNOWN + 24)])
def test_derivatives_and_remainders_bound_the_objective_around_any_center(seed):
    problem, family, center, low, high = centers(seed)
    basin = Neighbourhood(MixturePrimal(family), family.chart())
    found = basin.examine(center, low, high)
    if found is None:
        pytest.skip("the chart does not reach so far")
    chart = Chart(problem, family, found["center"])
    K, p = found["down"].shape
    gradient, hessian, third = found["derivatives"]
    masses = chart.w.sum() * chart.weights
    q = np.zeros((K, 1 + p))
    q[:, 1:] = masses[:, np.newaxis] * (found["quartic"] + found["log_radius"][:, np.newaxis] * found["bend"])
    rng = np.random.default_rng(seed)
    start = chart.objective(np.zeros((K, 1 + p)))
    least = np.hstack([-found["log_radius"][:, np.newaxis], -found["down"]])
    most = np.hstack([found["log_radius"][:, np.newaxis], found["up"]])
    if (found["log_radius"] > 1).any():
        least[:, 0], most[:, 0] = 0, 0  # more than is claimed anything of
    for trial in range(40):
        z = np.where(rng.random(least.shape) < 0.5, least, most)
        if trial % 2:
            z = z * rng.random(z.shape)
        flat = z.ravel()
        model = gradient @ flat + 0.5 * flat @ hessian @ flat
        cubic = np.einsum("abc,a,b,c->", third, flat, flat, flat) / 6
        lost = 0.5 * flat @ found["rest"] @ flat + 0.5 * flat @ (q.ravel() * flat)
        value = chart.objective(z) - start
        size = 1e-11 * (np.abs(chart.at(z[:, 1:])[0]).sum() + abs(start))
        assert value >= model + cubic - lost - size
        # masses beyond their second order, from which the best weights are enclosed
        change = chart.masses(z) - chart.masses(0 * z) - masses * (z[:, 0] + 0.5 * (z**2).sum(axis=1))
        second = (hessian @ flat).reshape(K, -1)[:, 0] + 0.5 * (third @ flat @ flat).reshape(K, -1)[:, 0]
        assert (np.abs(change + second) <= found["beyond_second"] + 1e-10 * masses.sum()).all()
        # the derivatives themselves: near the center the cubic is all but exact
        near = 1e-3 * z
        flat = near.ravel()
        exact = chart.objective(near) - start
        series = gradient @ flat + 0.5 * flat @ hessian @ flat + np.einsum("abc,a,b,c->", third, flat, flat, flat) / 6
        assert abs(exact - series) <= 1e-6 * abs(lost) + 1e-8 * abs(0.5 * flat @ hessian @ flat) + size


def beyond_second(chart, found, n_shells=4):
    """What responsibilities may become beyond the second order, summed over the samples (K,): by matrices in NumPy."""
    K, p = found["down"].shape
    at_center, _ = chart.at(np.zeros((K, p)))
    u = np.ones((len(chart.w), K, 1 + p))
    for a in range(p):
        step = np.zeros((K, p))
        step[:, a] = 0.1
        logs, D = chart.at(step)
        u[:, :, 1 + a] = (logs - at_center + D) / 0.1
    scores = np.log(chart.weights) + at_center
    scores -= scores.max(axis=1, keepdims=True)
    up, down = (np.hstack([found["log_radius"][:, np.newaxis], found[side]]) for side in ("up", "down"))
    rise, fall = np.maximum(u * up, -u * down).sum(axis=2), np.maximum(u * down, -u * up).sum(axis=2)
    best = scores.argmax(axis=1)[:, np.newaxis]
    counts = scores + rise + np.take_along_axis(fall, best, 1) > -45
    np.put_along_axis(counts, best, True, 1)
    apart = np.maximum(rise[:, :, None] + fall[:, None, :], fall[:, :, None] + rise[:, None, :])
    apart[:, np.arange(K), np.arange(K)] = 0
    total, forms = np.zeros(K), np.zeros((K, K, 2 * (1 + p), 2 * (1 + p)))
    pairs, without = list(zip(*np.tril_indices(K, -1), strict=True)), 1 - np.eye(K)
    for shell in range(n_shells):
        s = (shell + 1) / n_shells
        most, least = np.exp(scores + s * rise), np.where(counts, np.exp(scores - s * fall), 0)
        highest, lowest = most / (most + least @ without), least / np.maximum(least + most @ without, 1e-300)
        away = np.minimum((highest[:, None, :] * apart).sum(axis=2), apart.max(axis=2))
        own = away * np.maximum(1 - lowest, 3 * highest)
        part = chart.w / 6 * ((1 - shell / n_shells) ** 3 - (1 - s) ** 3)
        for a, b in pairs:
            rest = np.setdiff1d(np.arange(K), [a, b])
            both = (away * (1 - lowest))[:, [a, b]].sum(axis=1)
            seen, others = counts[:, a] & counts[:, b], least[:, rest].sum(axis=1)
            one, two = most[:, a].copy(), most[:, b].copy()
            larger, smaller = most[:, a] > most[:, b] + others, most[:, b] > most[:, a] + others
            one[larger] = np.maximum(least[:, a], most[:, b] + others)[larger]
            two[smaller] = np.maximum(least[:, b], most[:, a] + others)[smaller]
            product = np.where(seen, one * two / (one + two + others) ** 2, np.minimum(highest[:, a], highest[:, b]))
            each = [own[:, k] + both * highest[:, k] for k in (a, b)]
            size = part * product * apart[:, a, b] ** 2
            for k in rest:
                total[k] += (size * highest[:, k] * (3 * away[:, k] + both)).sum()
            for k, share in zip((a, b), each, strict=True):
                total[k] += (size * share)[~seen].sum()
            delta = np.hstack([u[:, a], -u[:, b]])[seen]
            forms[a, b] += np.einsum("i,ia,ib->ab", (part * product * np.maximum(*each))[seen], delta, delta)
    reach = np.maximum(up, down)
    for a, b in pairs:
        far = np.concatenate([reach[a], reach[b]])
        total[[a, b]] += far @ np.abs(forms[a, b]) @ far
    return total


@pytest.mark.parametrize("seed", range(36))
def test_responsibilities_beyond_the_second_order_are_what_pairs_of_scores_allow(seed):
    problem, family, center, low, high = centers(seed)
    found = Neighbourhood(MixturePrimal(family), family.chart()).examine(center, low, high)
    if found is None:
        pytest.skip("the chart does not reach so far")
    chart = Chart(problem, family, found["center"])
    expected = beyond_second(chart, found)
    assert (found["beyond_second"] >= expected).all()
    # rounding of a matrix's statistics is allowed for, where it is ill-conditioned
    assert found["beyond_second"] == pytest.approx(expected, rel=1e-3 if chart.full else 1e-8)


def test_far_components_turn_each_other_by_their_least_responsibility():
    """Pairs whose responsibilities are not worth a look count for themselves, too."""
    problem = gaussian(9, 40, 2, 1, "diag", 0.01, gap=30.0)
    family = engine.family(problem)
    cells = np.hstack([family.data.from_user(np.array([[0.0], [30.0]])), [[100.0], [100.0]]])
    width = 0.02 * np.hstack([np.sqrt(cells[:, 1:]), cells[:, 1:]])
    center = np.concatenate([[0.5, 0.5], cells.ravel(), [0.0]])
    basin = Neighbourhood(MixturePrimal(family), family.chart())
    found = basin.examine(center, (cells - width).ravel(), (cells + width).ravel())
    expected = beyond_second(Chart(problem, family, found["center"]), found)
    assert (0 < expected).all() and (expected < 1e-20).all()
    assert (found["beyond_second"] >= expected).all()
    assert found["beyond_second"] == pytest.approx(expected, rel=1e-6, abs=0)


def test_third_derivatives_of_responsibilities_are_bounded_by_pairs():
    rng = np.random.default_rng(0)
    for _ in range(2000):
        K = rng.integers(2, 6)
        r, z = rng.dirichlet(np.full(K, rng.choice([0.2, 1.0, 5.0]))), rng.standard_normal(K)
        x, pairs = z - r @ z, np.outer(r, r) * np.subtract.outer(z, z) ** 2
        V, C, X = r @ x**2, r @ x**3, np.abs(x)
        both = np.add.outer(X * (1 - r), X * (1 - r))
        for k in range(K):
            own = (pairs[k] * (X[k] * max(1 - r[k], 3 * r[k]) + r[k] * both[k])).sum()
            others = (pairs * (3 * X[k] + both))[np.ix_(np.arange(K) != k, np.arange(K) != k)]
            most = own + 0.5 * r[k] * others.sum()
            assert abs(r[k] * (x[k] ** 3 - 3 * V * x[k] - C)) <= most * (1 + 1e-12) + 1e-15


def coordinates(chart, cells):
    """The chart's coordinates (K, p) of the core's parameters: what `parameters` undoes."""
    d, K = chart.X.shape[1], len(chart.mean)
    if chart.full:
        C = chart.family.covariances(np.concatenate([np.ones(K), cells.ravel(), [0.0]]))
        inverse = np.linalg.inv(chart.root)
        P = np.linalg.inv(inverse @ C @ np.swapaxes(inverse, 1, 2))
        a = np.einsum("kab,kbc,kc->ka", P, inverse, cells[:, :d] - chart.mean)
        rows, columns = np.triu_indices(d)
        return np.hstack([a, (P - np.eye(d))[:, rows, columns] / np.where(rows == columns, np.sqrt(2), 1.0)])
    if chart.kind == "GaussianMixture":
        grown = chart.variance / np.maximum(1.0, cells[:, d:])
        step = (cells[:, :d] - chart.mean) / np.sqrt(np.repeat(chart.variance, chart.size, axis=1))
        return np.hstack([step * np.repeat(grown, chart.size, axis=1), (grown - 1) * np.sqrt(chart.size / 2)])
    if chart.kind == "known":
        return cells - chart.mean
    if chart.kind == "PoissonMixture":
        return np.log(cells / chart.mean) * np.sqrt(chart.mean)
    if chart.kind == "BernoulliMixture":
        logits = [np.log(p / (1 - p)) for p in (cells, chart.mean)]
        return (logits[0] - logits[1]) * np.sqrt(chart.mean * (1 - chart.mean))
    return chart.mean * np.exp(-cells) - 1


@pytest.mark.parametrize("seed", [*range(48), *range(KNOWN, KNOWN + 12)])
def test_coordinates_reach_as_far_as_the_cell(seed):
    problem, family, center, low, high = centers(seed)
    found = Neighbourhood(MixturePrimal(family), family.chart()).examine(center, low, high)
    if found is None:
        pytest.skip("the chart does not reach so far")
    chart, rng, K = Chart(problem, family, found["center"]), np.random.default_rng(seed), family.n_components
    middle = found["center"][K:-1].reshape(K, -1)
    assert coordinates(chart, middle) == pytest.approx(np.zeros_like(found["down"]), abs=1e-6)
    farthest = np.zeros((2, *found["down"].shape))
    for trial in range(200):
        part = rng.random(len(low)) if trial % 2 else rng.integers(0, 2, len(low))
        y = coordinates(chart, (low + part * (high - low)).reshape(K, -1))
        assert (-found["down"] - 1e-9 <= y).all()
        assert (y <= found["up"] + 1e-9).all()
        if trial == 0:
            assert coordinates(chart, parameters(chart, y).reshape(K, -1)) == pytest.approx(y, abs=1e-7)
        farthest = np.maximum(farthest, [-y, y])
        beyond = chart.at(y)[1] - 0.5 * (y**2).sum(axis=1)
        assert (np.abs(beyond) <= 0.5 * (found["bend"] * y**2).sum(axis=1) + 1e-12).all()
    assert np.median(np.maximum(*farthest) / np.maximum(found["down"], found["up"])) > 0.2  # not much too far


@pytest.mark.parametrize(
    "name",
    [
        "diag",
        "diag, overlapping",
        "diag, plane",
        "known",
        "known, plane",
        "spherical",
        "full, plane",
        "full, three columns",
        "counts",
        "waits",
        "items",
    ],
)
@pytest.mark.parametrize("grown", [1.0, 0.5])
def test_the_mean_hessian_of_the_widest_box_that_fits_is_positive(name, grown):
    problem = PROBLEMS[name][0]()
    family, vector, _ = solved(problem)
    basin = Neighbourhood(MixturePrimal(family), family.chart())
    assert basin.find(vector, 0.01)
    report = basin.report()
    middle = report["center"][family.n_components : -1]
    for scale in grown * 0.95 ** np.arange(-20, 40):
        low, high = (middle + scale * (report[side] - middle) for side in ("low", "high"))
        found = basin.examine(report["center"], low, high, 1e-5)  # so little that hardly any curvature is lent
        if found is not None and found["fits"]:
            break
    assert scale > 0.3
    K, p = found["down"].shape
    gradient, hessian, third = found["derivatives"]
    chart = Chart(problem, family, found["center"])
    masses = np.repeat(chart.w.sum() * chart.weights, 1 + p)
    q = np.zeros((K, 1 + p))
    q[:, 1:] = found["quartic"] + found["log_radius"][:, np.newaxis] * found["bend"]
    base = hessian - found["rest"] - np.diag(masses * q.ravel())
    weak = np.linalg.eigh(base / np.sqrt(np.outer(masses, masses)))[1][:, 0] / np.sqrt(masses)
    pull = np.einsum("abc,b,c->a", third, weak, weak)
    along = (pull - pull[:: 1 + p] @ found["slopes"]).reshape(K, -1)[:, 1:]
    rng = np.random.default_rng(2)
    for trial in range(60):
        sign = np.where(rng.random((K, p)) < 0.5, 1, -1) if trial > 1 else np.sign(along) * (-1) ** trial
        y = np.where(sign < 0, -found["down"], found["up"])
        z = np.hstack([np.zeros((K, 1)), y])
        off = rng.uniform(-1, 1, K) if trial > 1 else np.sign(pull[:: 1 + p]) * (-1) ** trial
        z[:, 0] = off * found["loose"] - found["slopes"] @ z.ravel()
        assert (np.abs(z[:, 0]) <= found["log_radius"]).all()
        matrix = base + np.tensordot(z.ravel(), third, 1) / 3
        least = np.linalg.eigvalsh(matrix / np.sqrt(np.outer(masses, masses))).min()
        assert least >= found["least"] - 1e-3  # what is lent
        _, share, _ = best(problem, family, parameters(chart, y), chart.weights, 5000)
        z[:, 0] = 0
        b = np.log(share / chart.weights) - chart.at(y)[1]
        assert (np.abs(b + found["slopes"] @ z.ravel()) <= found["loose"] + 1e-9).all()


def parameters(chart, y):
    """The core's parameters at the chart's coordinates."""
    m, d = chart.mean, chart.X.shape[1]
    if chart.full:
        P, mean = chart.precision(y)
        C = chart.root @ np.linalg.inv(P) @ np.swapaxes(chart.root, 1, 2)
        inverse = np.linalg.inv(chart.family.axes)
        means = (m + np.einsum("kab,kb->ka", chart.root, mean)) @ inverse.T + chart.family.center
        return chart.family.pack(means=means, covariances=inverse @ C @ inverse.T)
    if chart.kind == "known":
        return (m + y).ravel()
    if chart.kind == "GaussianMixture":
        grown = 1 + y[:, d:] / np.sqrt(chart.size / 2)
        t, v = (np.repeat(a, chart.size, axis=1) for a in (grown, chart.variance))
        return np.hstack([m + y[:, :d] * np.sqrt(v) / t, chart.variance / grown]).ravel()
    if chart.kind == "PoissonMixture":
        return (m * np.exp(y / np.sqrt(m))).ravel()
    if chart.kind == "BernoulliMixture":
        return (m / (m + (1 - m) * np.exp(-y / np.sqrt(m * (1 - m))))).ravel()
    return np.log(m / (1 + y)).ravel()


def test_where_the_solution_is_not_stationary_there_is_no_box():
    problem = PROBLEMS["diag"][0]()
    family, vector, _ = solved(problem)
    basin = Neighbourhood(MixturePrimal(family), family.chart())
    K = family.n_components
    low, high = vector[K:-1] * 0.999, vector[K:-1] * 1.001
    moved = vector.copy()
    moved[K] += 0.3
    assert not basin.finds_box_over(moved, 1e-9, np.minimum(low, high), np.maximum(low, high))
    assert basin.lower == -np.inf


def test_a_component_without_weight_and_equal_components_have_no_box():
    problem = PROBLEMS["diag, overlapping"][0]()
    family, vector, _ = solved(problem)
    empty = vector.copy()
    empty[:2] = 1.0, 0.0
    assert not Neighbourhood(MixturePrimal(family), family.chart()).find(empty, 0.01)
    equal = vector.copy()
    equal[:2], equal[2:4], equal[4:6] = 0.5, vector[2:4], vector[2:4]
    assert not Neighbourhood(MixturePrimal(family), family.chart()).find(equal, 0.01)


STUCK = {
    "items": lambda: gopfast.BernoulliMixture(items(0, 200, 2, 5, zeros=False), 2),
    "counts": lambda: gopfast.PoissonMixture(counts(4, 200, [[2.0, 5.0], [6.0, 1.0]]), 2),
    "labels": lambda: gopfast.CategoricalMixture(items(3, 300, 2, 4, 3, zeros=False), 2),
}


def with_value(point, a, value, labels):
    """The parameters with one of them changed; labels' add up to 1 again."""
    point = point.copy()
    point[a] = value
    for own in labels:
        point[own] /= point[own].sum()
    return point


@pytest.mark.parametrize("name", STUCK)
def test_no_box_is_claimed_around_a_zero_that_the_objective_falls_away_from(name):
    """EM stays at such a zero for ever; the box around it holds better solutions."""
    problem, tried = STUCK[name](), 0
    family, vector, _ = solved(problem)
    K, labels = family.n_components, label_groups(problem)
    for a in range(len(vector) - 1 - K):
        at = with_value(vector[K:-1], a, 0.0, labels)
        stuck, _, _ = MixturePrimal(family).em(vector[:K], at, 1e-12, 20_000)
        if stuck[K + a] > 1e-20 or stuck[:K].min() < 0.05:
            continue
        stuck[K + a] = 0.0
        weights, away = stuck[:K], with_value(stuck[K:-1], a, 1e-3, labels)
        if best(problem, family, away, weights)[0] > best(problem, family, stuck[K:-1], weights)[0] - 1e-3:
            continue
        assert not Neighbourhood(MixturePrimal(family), family.chart()).find(stuck, 1e-6)
        point = vector_in_order(family, stuck)
        for width in (1e-3, 0.1):
            other = Neighbourhood(MixturePrimal(family), family.chart())
            assert not other.finds_box_over(stuck, 1e-6, point, point + width * (point == 0))
        tried += 1
        if tried == 4:
            break
    assert tried


@pytest.mark.parametrize("name", ["counts of zero", "items, faces", "labels, faces"])
def test_a_box_beyond_faces_is_as_wide_as_their_gradient_allows(name):
    """Where several columns of a face move together, what lies beyond it is charged to them by their odds."""
    problem = PROBLEMS[name][0]()
    family, vector, _ = solved(problem)
    low, high = root_of(family)
    point, (K, d) = vector_in_order(family, vector), (family.n_components, family.n_columns)
    on = (point <= 1e-12) | ((point >= 1 - 1e-12) & (high == 1))
    assert on.any()
    held = []
    for width in (1e-3, 0.03, 0.1, 0.2, 0.3, 0.5, 0.9):
        basin = Neighbourhood(MixturePrimal(family), family.chart())
        to = np.where(point <= 1e-12, point + width, np.where(on, point - width, point))
        if not basin.finds_box_over(vector, 0.01, np.minimum(point, to), np.maximum(point, to)):
            break
        held.append(width)
        report = basin.report()
        rng = np.random.default_rng(0)
        for _ in range(40):
            at = np.where(rng.random(K * d) < 0.5, report["low"], report["high"])
            at = at if rng.random() < 0.5 else report["low"] + rng.random(K * d) * (report["high"] - report["low"])
            for own in label_groups(problem):
                at[own] /= at[own].sum()
            if (at >= report["low"] - 1e-12).all() and (at <= report["high"] + 1e-12).all():
                assert best(problem, family, at, report["center"][:K])[0] >= report["lower"]
    assert held
    assert name == "counts of zero" or len(held) < 7


def test_a_given_box_is_held_or_refused():
    problem = PROBLEMS["diag"][0]()
    family, vector, _ = solved(problem)
    basin = Neighbourhood(MixturePrimal(family), family.chart())
    assert basin.find(vector, 0.01)
    report = basin.report()
    middle = 0.5 * (report["low"] + report["high"])
    for part, held in ((0.3, True), (0.9, True), (3.0, False)):
        other = Neighbourhood(MixturePrimal(family), family.chart())
        low, high = (middle + part * (report[side] - middle) for side in ("low", "high"))
        assert other.finds_box_over(vector, 0.01, low, high) == held
        if held:
            box = other.report()
            assert (box["low"] <= low).all() and (high <= box["high"]).all()


@pytest.mark.parametrize("name", ["diag, plane", "full, plane", "counts", "items, faces", "labels", "waits"])
def test_a_search_with_the_box_ends_at_the_same_optimum(name):
    problem = PROBLEMS[name][0]()
    family, vector, objective = solved(problem)
    ends = []
    for n_threads in (1, 2):
        primal = MixturePrimal(family)
        search = Search(
            EntropicRelaxation(family), primal, 0.01, max_nodes=3000, n_threads=n_threads,
            basin=Neighbourhood(primal, family.chart()),
            known=(vector_in_order(family, vector), objective + 1e-9),
        )  # fmt: skip
        search.run()
        assert search.n_audit_failures == 0
        ends.append(search.summary()[0])
        assert ends[-1]["lower_bound"] <= objective + 1e-9
    assert ends[0]["n_nodes"] == ends[1]["n_nodes"] and ends[0]["lower_bound"] == ends[1]["lower_bound"]


def vector_in_order(family, vector):
    cells = vector[family.n_components : -1].reshape(family.n_components, -1)
    return cells[np.argsort(cells[:, 0], kind="stable")].ravel()


def test_radii_found_on_some_samples_hold_on_all():
    """Of more samples than a guess needs."""
    rng = np.random.default_rng(8)
    X = np.array([0.0, 5.0])[rng.integers(2, size=5000)] + rng.standard_normal(5000)
    problem = gopfast.GaussianMixture(X[:, np.newaxis], 2, covariance="diag", variance_floor=0.1)
    family, vector, _ = solved(problem)
    basin = Neighbourhood(MixturePrimal(family), family.chart())
    assert basin.find(vector, 0.01)
    report = basin.report()
    assert np.median(report["down"]) > 0.1
    again = Neighbourhood(MixturePrimal(family), family.chart())
    middle = report["center"][2:-1]
    low, high = (middle + 0.999 * (report[side] - middle) for side in ("low", "high"))
    assert again.finds_box_over(vector, 0.01, low, high)
    for _ in range(40):
        point = draw(rng, report, [])
        assert best(problem, family, point, report["center"][:2])[0] >= report["lower"]


def test_no_box_is_claimed_where_entries_are_missing():
    """The chart's D is of all items, whatever a row lacks: only the complete table has a box."""
    X = items(3, 300, 2, 4, 3, zeros=False)
    for lacking, found in (0, True), (1, False):
        table = X.astype(float)
        table[:lacking, 0] = np.nan
        family, vector, _ = solved(gopfast.LatentClass(table, 2))
        assert bool(Neighbourhood(MixturePrimal(family), family.chart()).find(vector, 0.005)) == found


# The last two steps, by matrices in NumPy: where a box just fits, there is nothing left of either.


def just_fits(basin, report, tolerance):
    """What `examine` says of the largest multiple of a box that fits, to 1e-3."""
    middle, best_found = report["center"][basin_size(report) :][: len(report["low"])], None
    least, most = 0.05, 20.0
    for _ in range(14):
        scale = np.sqrt(least * most)
        low, high = (middle + scale * (report[side] - middle) for side in ("low", "high"))
        found = basin.examine(report["center"], low, high, tolerance)
        if found is not None and found["fits"]:
            least, best_found = scale, found
        else:
            most = scale
    return best_found


def basin_size(report):
    return len(report["log_radius"])


def needed_by_weights(found, masses):
    """How far the best log weights may go from what they are to first order (K,)."""
    gradient, hessian, third = found["derivatives"]
    K, p = found["down"].shape
    f, widest = 1 + p, np.maximum(found["down"], found["up"])
    at = np.arange(K) * f
    Y, slopes = np.linalg.inv(hessian[np.ix_(at, at)]), found["slopes"]
    bent = 0.5 * (found["bend"] * widest**2).sum(axis=1)
    reach, log_radius = bent + 0.5 * (widest**2).sum(axis=1), found["log_radius"]
    most = log_radius + reach
    rest = most**3 / 6 * np.exp(most) + log_radius * reach + 0.5 * reach**2 + bent
    total = masses * rest + np.abs(gradient[at]) + found["beyond_second"]
    other = np.hstack([found["loose"][:, np.newaxis], widest]).ravel()
    follow = np.eye(K * f)  # log weights by what is left of them, and the coordinates
    follow[at] -= slopes
    square = np.einsum("kl,lab,ac,bd->kcd", Y, third[at], follow, follow, optimize=True)
    return np.abs(Y) @ total + 0.5 * np.einsum("kab,a,b->k", np.abs(square), other, other)


def least_of_bracket(found, masses):
    """Least eigenvalue of what is left of the bracket, in the scale of the components and the eigenbasis."""
    _, hessian, third = found["derivatives"]
    K, p = found["down"].shape
    f, widest, log_radius = 1 + p, np.maximum(found["down"], found["up"]), found["log_radius"]
    at, root = np.arange(K) * f, np.sqrt(np.repeat(masses, f))
    Z = found["basis"]
    assert pytest.approx(np.eye(K * f), abs=1e-9) == Z @ Z.T
    q = np.zeros((K, f))
    q[:, 1:] = found["quartic"] + log_radius[:, np.newaxis] * found["bend"]
    A = Z @ ((hessian - found["rest"]) / np.outer(root, root) - np.diag(q.ravel() + found["least"])) @ Z.T
    other = np.hstack([found["loose"][:, np.newaxis], widest]).ravel()
    follow = np.eye(K * f)
    follow[at] -= found["slopes"]
    bent = np.einsum("abc,ad->dbc", third, follow)
    bent = np.einsum("dbc,xb,yc->dxy", bent, Z / root, Z / root, optimize=True)
    V = np.einsum("d,dxy->xy", other / 3, np.abs(bent))
    weak = np.argmin(np.diag(A))
    far = np.abs((Z[weak] * root) @ follow) @ other
    A[weak, weak] += min(10.0, 2 * found["lent"] / far**2)
    share = 1 / np.sqrt(np.diag(A))
    for _ in range(100):
        share = V @ share / np.diag(A)
        share = np.maximum(share / share.max(), 1e-6)
    return np.linalg.eigvalsh(A - np.diag(V @ share / share)).min()


@pytest.mark.parametrize("tolerance", [1e-5, 0.3])
@pytest.mark.parametrize(
    "name", ["diag", "diag, overlapping", "known", "spherical", "full, plane", "counts", "waits", "items"]
)
def test_where_a_box_just_fits_nothing_is_left_over(name, tolerance):
    problem = PROBLEMS[name][0]()
    family, vector, _ = solved(problem)
    basin = Neighbourhood(MixturePrimal(family), family.chart())
    assert basin.find(vector, 0.01)
    report = basin.report()
    found = just_fits(basin, report, tolerance)
    masses = problem.total_weight * report["center"][: family.n_components]
    needed = needed_by_weights(found, masses)
    assert (needed <= found["loose"]).all()
    assert least_of_bracket(found, masses) > -2e-4


def test_the_bound_is_what_the_box_may_fall_below_the_center():
    """A part of the tolerance is lent to the weakest direction: the bound gives it away."""
    family, vector, _ = solved(PROBLEMS["diag, overlapping"][0]())
    basin = Neighbourhood(MixturePrimal(family), family.chart())
    assert basin.find(vector, 0.01)
    report = basin.report()
    found = basin.examine(report["center"], report["low"], report["high"], 0.01)
    assert found["fits"]
    assert found["lent"] > 1e-3
    assert report["lower"] <= found["value"] - found["lent"]


@pytest.mark.parametrize("p", [0.02, 0.1, 0.5, 0.7, 0.99])
def test_a_logit_rises_by_its_cubic_less_the_quartic(p):
    """D of one item by its definition; from about p = 0.21 to 0.79 its fourth derivative is negative."""
    X = np.array([[0], [1]] * 10)
    family = engine.family(gopfast.BernoulliMixture(X, 2))
    center = np.array([0.5, 0.5, p, p, 0.0])
    for size in (0.01, 0.1):
        found = Neighbourhood(MixturePrimal(family), family.chart()).examine(
            center, np.full(2, p - size * p * (1 - p)), np.full(2, p + size * p * (1 - p))
        )
        unit, quartic, bend = np.sqrt(p * (1 - p)), found["quartic"][0, 0], found["bend"][0, 0]
        for y in np.linspace(-found["down"][0, 0], found["up"][0, 0], 21):
            D = np.log1p(p * np.expm1(y / unit)) - p * y / unit
            cubic = y**2 / 2 + (1 - 2 * p) / unit * y**3 / 6
            assert D >= cubic - quartic * y**2 / 2 - 1e-15
            assert abs(D - y**2 / 2) <= bend * y**2 / 2 + 1e-15
        assert (quartic > 0) == (0.2 < p < 0.8)


def test_labels_beside_faces_reach_as_far_as_they_do_among_themselves():
    """Their chart is that of the labels left, conditional on these: faces' probabilities raise theirs."""
    problem = PROBLEMS["labels, faces"][0]()
    family, vector, _ = solved(problem)
    basin = Neighbourhood(MixturePrimal(family), family.chart())
    assert basin.find(vector, 0.01)
    report, rng = basin.report(), np.random.default_rng(0)
    middle, d, n = report["center"][2:-1], family.n_columns, 0
    face = middle <= 1e-3
    for _ in range(400):
        point = draw(rng, report, label_groups(problem))
        if point is None:
            continue
        for own in label_groups(problem):
            left = own[~face[own]]
            at, base = point[left] / point[left].sum(), middle[left] / middle[left].sum()
            y = np.sqrt(base) * np.log(at / base)
            for column, value in zip(left, y, strict=True):
                assert -report["down"][column // d, column % d] - 1e-9 <= value
                assert value <= report["up"][column // d, column % d] + 1e-9
            n += face[own].any()
    assert n > 100


@pytest.mark.parametrize("seed", [*range(24), *range(KNOWN, KNOWN + 8)])
def test_third_derivatives_are_those_of_the_curves_less_the_samples_cumulants(seed):
    problem, family, center, low, high = centers(seed)
    middle = center[family.n_components : -1]
    found = Neighbourhood(MixturePrimal(family), family.chart()).examine(center, middle, middle)
    chart, rng = Chart(problem, family, found["center"]), np.random.default_rng(seed)
    masses = chart.w.sum() * chart.weights
    K, p = found["down"].shape
    for _ in range(5):
        z = rng.standard_normal((K, 1 + p)) * (rng.random((K, 1 + p)) < 0.7)
        b, y, h = z[:, 0], z[:, 1:], 1e-3
        scale = chart.mean.min() ** 0.5 if chart.kind in ("PoissonMixture", "BernoulliMixture") else 1.0
        y *= min(1.0, scale)
        D = [chart.at(step * h * y)[1] for step in (-2, -1, 1, 2)]
        D3 = (D[3] - 2 * D[2] + 2 * D[1] - D[0]) / (2 * h**3)
        curves = masses @ (D3 + 3 * b * (y**2).sum(axis=1) + b**3)
        logs = chart.at(0 * y)[0]
        scores = np.log(chart.weights) + logs
        r = np.exp(scores - scores.max(axis=1, keepdims=True))
        r /= r.sum(axis=1, keepdims=True)
        # a score is linear: what one step changes, D apart
        zeta = b + (chart.at(h * y)[0] + chart.at(h * y)[1] - chart.at(-h * y)[0] - chart.at(-h * y)[1]) / (2 * h)
        away = zeta - (r * zeta).sum(axis=1, keepdims=True)
        cumulants = chart.w @ (r * away**3).sum(axis=1)
        size = masses @ (np.abs(D3) + np.abs(b) ** 3 + (y**2).sum(axis=1)) + chart.w @ (r * np.abs(away) ** 3).sum(
            axis=1
        )
        third = np.einsum("abc,a,b,c->", found["derivatives"][2], *[np.hstack([b[:, np.newaxis], y]).ravel()] * 3)
        assert third == pytest.approx(curves - cumulants, abs=2e-5 * size)


def covariances_in(family, report, rng):
    """Covariances (K, 2, 2) of two columns in the box, in units of the floor, whatever their floor."""
    part = rng.integers(0, 2, len(report["low"])) if rng.random() < 0.5 else rng.random(len(report["low"]))
    cells = (report["low"] + part * (report["high"] - report["low"])).reshape(family.n_components, -1)
    v, b, u = cells.T[2:]
    C = np.array([[v, b * (v + family.ridge)], [b * (v + family.ridge), u + b * b * (v + family.ridge)]])
    return np.moveaxis(C, 2, 0)


def test_a_box_around_matrices_ends_where_the_floor_begins():
    spread = gaussian(6, 150, 2, 2, "full", 0.01)
    _, vector, _ = solved(spread)
    family = engine.family(spread)
    least = min(np.linalg.eigvalsh(C)[0] for C in family.parameters(vector)["covariances"])
    problem = gopfast.GaussianMixture(
        spread.X, 2, covariance="full", variance_floor=least / 1.05, sample_weight=spread.sample_weight
    )
    family, vector, _ = solved(problem)
    inverse = np.linalg.inv(np.linalg.cholesky(family.axes @ family.axes.T * least / 1.05))
    basin, rng, held = Neighbourhood(MixturePrimal(family), family.chart()), np.random.default_rng(0), 0
    assert basin.find(vector, 1.0)
    first = basin.report()
    middle = first["center"][2:-1]
    for scale in 1.3 ** np.arange(-3, 12):
        low, high = (middle + scale * (first[side] - middle) for side in ("low", "high"))
        other = Neighbourhood(MixturePrimal(family), family.chart())
        if not other.finds_box_over(vector, 1.0, low, high):
            continue
        held, report = held + 1, other.report()
        for _ in range(300):
            C = inverse @ covariances_in(family, report, rng) @ inverse.T
            assert np.linalg.eigvalsh(C).min() >= 1 - 1e-9
    assert held


@pytest.mark.parametrize("d", [2, 3])
def test_matrices_on_the_floor_have_no_box(d):
    family, vector, _ = solved(gaussian(6, 100, 2, d, "full", 4.0))
    assert not Neighbourhood(MixturePrimal(family), family.chart()).find(vector, 1.0)


@pytest.mark.parametrize("name", ["counts", "waits", "items"])
def test_a_prior_adds_its_own_derivatives(name):
    """What it costs, by the models' formulas, against derivatives with it less those without."""
    problem = PROBLEMS[name][0]()
    prior = type(problem)(problem.X, problem.n_components, prior=(3.0, 2.0))
    families = [engine.family(one) for one in (problem, prior)]
    rng, K, p = np.random.default_rng(0), problem.n_components, families[0].n_columns
    center = np.concatenate([np.full(K, 1 / K), np.sort(rng.uniform(0.2, 0.8, (K, p)), axis=0).ravel(), [0.0]])
    found = [
        Neighbourhood(MixturePrimal(family), family.chart()).examine(center, center[K:-1], center[K:-1])
        for family in families
    ]
    chart = Chart(problem, families[0], found[0]["center"])
    first, second, third = (b - a for a, b in zip(*(one["derivatives"] for one in found), strict=True))

    def cost(y):
        vector = np.concatenate([chart.weights, parameters(chart, y), [0.0]])
        return prior.objective(chart.weights, **families[1].parameters(vector)) - problem.objective(
            chart.weights, **families[0].parameters(vector)
        )

    for _ in range(10):
        y = 0.02 * rng.standard_normal((K, p))
        z = np.hstack([np.zeros((K, 1)), y]).ravel()
        odd, even = 0.5 * (cost(y) - cost(-y)), 0.5 * (cost(y) + cost(-y)) - cost(0 * y)
        cubic = np.einsum("abc,a,b,c->", third, z, z, z) / 6
        size = np.einsum("abc,a,b,c->", np.abs(third), *[np.abs(z)] * 3) / 6
        assert odd == pytest.approx(first @ z + cubic, abs=0.05 * size)
        assert even == pytest.approx(0.5 * z @ second @ z, rel=2e-2)
