"""The checker's rules of covariance matrices, shared variances and posteriors, against definitions in mpmath."""

import math

import mpmath
import numpy as np
import pytest

import gopfast
from gopfast.checker import ProofError, covariance, matrices, objective
from gopfast.checker.covariance import Floor
from gopfast.checker.families import FAMILIES
from gopfast.checker.problem import Problem
from gopfast.checker.within import least_within

ROUNDING = 1e-9


def problem_of(rng, family, d, K=2, n=9):
    X = rng.normal(size=(n, d)) * rng.choice([0.5, 3.0], d) + rng.choice([0.0, 40.0])
    record = {"family": family, "n_components": K}
    if family == "posterior":
        variances = [0.7] * d if rng.random() < 0.5 else list(0.5 + rng.random(d))
        record |= {"noise_variance": variances, "prior": [0.5, 4.0]}
    else:
        record["variance_floor"] = [0.2] * d if family == "tied_spherical" else list(0.05 + rng.random(d))
    return Problem(record, X, 0.2 + rng.random(n))


def rules_of(rng, problem):
    columns, weights = problem.merged()
    d = columns.shape[1]
    if problem.family not in matrices.FAMILIES:
        return FAMILIES[problem.family](problem, columns.T, weights), np.eye(d), np.zeros(d)
    axes, reference = np.eye(d) + 0.6 * rng.normal(size=(d, d)), columns.mean(axis=0) + rng.normal(size=d)
    return matrices.rules(problem, columns.T, weights, axes, reference), axes, reference


def exact_cost(C, axes, floor):
    """G of the head of `checker.covariance`, by the eigenvalues of C in units of the floor."""
    mpmath.mp.dps = 40
    A, d = mpmath.matrix(axes.tolist()), len(axes)
    F = A * mpmath.diag([mpmath.mpf(x) for x in floor]) * A.T
    L = mpmath.inverse(mpmath.cholesky(F))
    values = mpmath.eigsy(L * mpmath.matrix(C.tolist()) * L.T, eigvals_only=True)
    total = mpmath.log(mpmath.det(F)) / 2
    for v in values:
        top = max(v, mpmath.mpf(1))
        total += mpmath.log(2 * mpmath.pi * top) / 2 + v / (2 * top)
    assert len(values) == d
    return total


def symmetric(rng, d, definite):
    C = rng.normal(size=(d, d)) * rng.choice([0.1, 1.0, 5.0])
    return C @ C.T if definite else C + C.T


@pytest.mark.parametrize("d", [2, 3, 5])
@pytest.mark.parametrize("seed", range(6))
def test_a_matrix_costs_at_least_what_the_floor_says(d, seed):
    rng = np.random.default_rng([seed, d])
    axes, variances = np.eye(d) + rng.normal(size=(d, d)), 0.01 + rng.random(d)
    floor = Floor(axes, variances)
    for definite in (True, False):
        C = symmetric(rng, d, definite)
        exact = exact_cost(C, axes, variances)
        found = float(floor.cost(C))
        assert found <= exact
        assert found >= float(exact) - 1e-7 * (1 + np.abs(C).max() / variances.min())
    det = mpmath.log(abs(mpmath.det(mpmath.matrix(axes.tolist()))))
    assert floor.log_axes.low <= det <= floor.log_axes.high
    assert floor.log_axes.high - floor.log_axes.low < 1e-12


@pytest.mark.parametrize("d", [2, 3, 6])
@pytest.mark.parametrize("seed", range(4))
def test_eigenvalues_are_off_by_no_more_than_is_said(d, seed):
    rng = np.random.default_rng([seed, d])
    V = np.linalg.qr(rng.normal(size=(d, d)))[0]
    M = V @ np.diag(rng.choice([1e-8, 1.0, 1.0, -3.0, 1e6], d)) @ V.T
    M = 0.5 * (M + M.T)
    values, error = covariance.eigenvalues(M)
    mpmath.mp.dps = 40
    exact = sorted(mpmath.eigsy(mpmath.matrix(M.tolist()), eigvals_only=True))
    assert sum(abs(x - y) for x, y in zip(exact, sorted(values.tolist()), strict=True)) <= error
    assert error <= 1e-12 * d**3 * np.abs(M).max() + 1e-300


def test_eigenvectors_that_are_none_are_noticed(monkeypatch):
    M = np.diag([1.0, 2.0, 3.0]) + 0.5
    monkeypatch.setattr(np.linalg, "eigh", lambda M: (np.ones(3), np.ones((3, 3))))
    assert covariance.eigenvalues(M)[1] == np.inf


def test_axes_without_an_inverse_are_refused():
    with pytest.raises(ProofError, match="axes: have no inverse"):
        Floor(np.ones((2, 2)), np.ones(2))
    with pytest.raises(ProofError, match="axes: are too ill-conditioned"):
        Floor(np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-50]]), np.ones(2))


@pytest.mark.parametrize("d", [1, 2, 3, 7])
@pytest.mark.parametrize("seed", range(30))
def test_the_means_part_is_bounded_and_for_few_columns_touched(d, seed):
    rng = np.random.default_rng([seed, d])
    low = rng.normal(size=d) * 3
    high = low + rng.random(d) * rng.choice([0.0, 0.1, 4.0], d)
    P, b = symmetric(rng, d, rng.random() < 0.3), rng.normal(size=d) * 3
    if rng.random() < 0.3:
        P = -P @ P  # all parabolas
    found = float(covariance.least_bend(low, high, b, P))
    share = rng.random((4000, d))
    m = low + np.where(rng.random(share.shape) < 0.5, np.round(share), share) * (high - low)
    values = -m @ b - np.einsum("ni,ij,nj->n", m, P, m)
    for _ in range(60):  # coordinate by coordinate, from the best
        best = m[np.argmin(values)]
        tries = np.tile(best, (40, 1))
        j = rng.integers(d)
        tries[:, j] = np.linspace(low[j], high[j], 40)
        m = np.concatenate([m, tries])
        values = np.append(values, -tries @ b - np.einsum("ni,ij,nj->n", tries, P, tries))
    size = np.abs(P).max() * max(np.abs(low).max(), np.abs(high).max()) ** 2 + np.abs(b).sum() * 9
    assert found <= values.min() + 1e-12 * size
    if d <= 2 or (d == 3 and (np.diagonal(P) < 0).sum() <= 1):
        assert found >= values.min() - 0.02 * np.square(high - low).sum() * np.abs(P).max() - 1e-9 * size


def statistics_of(rng, rules, problem, K):
    """Means (K, d) and covariances (K, n) of z for random responsibilities; of a shared one W C; masses."""
    _, weights = problem.merged()
    d, tau = rules.n_columns, rng.dirichlet(np.full(K, rng.choice([0.2, 1.0])), len(weights))
    if rng.random() < 0.4:
        tau = np.round(tau)
        tau[tau.sum(axis=1) != 1] = np.eye(K)[0]
        tau[:K] = np.eye(K)  # none is empty
    mass = weights @ tau
    first, second = (weights[:, np.newaxis] * tau).T @ rules.y[:, :d], (weights[:, np.newaxis] * tau).T @ rules.y[:, d:]
    means = first / mass[:, np.newaxis]
    products = means[:, rules.rows] * means[:, rules.others]
    if rules.shared:
        shared = second.sum(axis=0) - mass @ products
        return means, np.tile(shared / weights.sum(), (K, 1)), mass
    return means, second / mass[:, np.newaxis] - products, mass


def variables_of(rules, means, C):
    """The cell's variables of means and covariances."""
    if not isinstance(rules, matrices.Factors):
        return np.concatenate([means, C], axis=1)
    v, r = C[:, 0], rules.ridge
    s = C[:, 1] / (v + r)
    return np.concatenate([means, np.stack([v, s, C[:, 2] - s * s * (v + r)], axis=1)], axis=1)


CASES = [("tied", 2, 2), ("tied", 2, 3), ("tied", 3, 2), ("full", 2, 2), ("full", 3, 2), ("full", 4, 2)]


@pytest.mark.parametrize(("family", "d", "K"), CASES)
@pytest.mark.parametrize("seed", range(12))
def test_cells_lose_no_components_and_slopes_lie_below_their_costs(family, d, K, seed):
    rng = np.random.default_rng([seed, d, K, len(family)])
    problem = problem_of(rng, family, d, K)
    rules, axes, _ = rules_of(rng, problem)
    means, C, _ = statistics_of(rng, rules, problem, K)
    order = np.argsort(means[:, 0])
    means, C = means[order], C[order]
    at = variables_of(rules, means, C)
    slack = ROUNDING * (1 + np.abs(at))
    assert (at >= rules.low - slack).all() and (at <= rules.high + slack).all()
    width = (rules.high - rules.low) * rng.choice([0.01, 0.3, 1.0])
    low = np.maximum(rules.low, at - rng.random(at.shape) * width)[np.newaxis]
    high = np.minimum(rules.high, at + rng.random(at.shape) * width)[np.newaxis]
    if rules.shared:
        low[..., d:], high[..., d:] = low[:, :1, d:], high[:, :1, d:]
    low, high = rules.tightened(low, high)
    assert (at >= low[0] - slack).all() and (at <= high[0] + slack).all()
    costs = [exact_cost(rules.symmetric(c), axes, problem.floor) for c in C]
    for _ in range(6):
        slopes = rng.normal(size=(1, K, rules.n_slopes)) * rng.choice([0.1, 1.0, 10.0])
        if rng.random() < 0.5:  # about the costs' gradients
            P = 0.5 * np.linalg.inv(rules.symmetric(C[0]) + 0.1 * np.eye(d)) * rng.choice([1.0, -0.3])
            slopes[..., d:] = P[rules.rows, rules.others] * np.where(rules.on_diagonal, 1.0, 2.0)
            slopes[..., :d] = -2 * means @ P
        if rules.shared:
            slopes[..., d:] = slopes[:, :1, d:]
        a = rules.intercepts(low, high, slopes, None)[0, :, 0]
        products = means[:, rules.rows] * means[:, rules.others] + C
        found = a + (slopes[0, :, :d] * means).sum(axis=1) + (slopes[0, :, d:] * products).sum(axis=1)
        left = [float(cost) - x for cost, x in zip(costs, found, strict=True)]
        assert min(left) >= -1e-9 * (1 + np.abs(slopes).max() * (1 + np.abs(products).max()))


@pytest.mark.parametrize(("family", "d", "K"), CASES)
def test_slopes_touch_the_costs_of_narrow_cells(family, d, K):
    rng = np.random.default_rng([d, K, len(family)])
    problem = problem_of(rng, family, d, K)
    rules, axes, _ = rules_of(rng, problem)
    means, C, _ = statistics_of(rng, rules, problem, K)
    C[:] = C[0]
    cells = np.concatenate([means, C], axis=1) if family == "tied" or d > 2 else variables_of(rules, means, C)
    P = 0.5 * np.linalg.inv(rules.symmetric(C[0]))
    products = np.tile(P[rules.rows, rules.others] * np.where(rules.on_diagonal, 1, 2), (K, 1))
    slopes = np.concatenate([-2 * means @ P, products], axis=1)[np.newaxis]
    a = rules.intercepts(cells[np.newaxis] - 1e-9, cells[np.newaxis] + 1e-9, slopes, None)[0, :, 0]
    products = means[:, rules.rows] * means[:, rules.others] + C
    value = a + (slopes[0, :, :d] * means).sum(axis=1) + (slopes[0, :, d:] * products).sum(axis=1)
    exact = float(exact_cost(rules.symmetric(C[0]), axes, problem.floor))
    assert (value <= exact + 1e-9 * (1 + abs(exact))).all()
    assert (value >= exact - 1e-4 * (1 + abs(exact))).all()


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_no_groups_have_less_covariance_than_is_said(d, seed):
    rng = np.random.default_rng([seed, d])
    K, n = int(rng.integers(1, 4)), 40
    z = rng.normal(size=(n, d)) * [1.0, 4.0, 0.3][:d] + 8 * rng.integers(0, 2, (n, 1))
    w = 0.1 + rng.random(n)
    moments = np.abs((w[:, np.newaxis] * z).T @ z / w.sum()) * (1 + 1e-12)
    r = least_within(z, np.abs(z).max(axis=0), moments, w, K)
    least = np.inf
    for _ in range(60):
        u = rng.normal(size=d)
        u /= np.linalg.norm(u)
        x = z @ u
        order = np.argsort(x)
        for _ in range(20):  # intervals of the line, as of the best groups
            cuts = np.sort(rng.choice(np.arange(1, n), K - 1, replace=False)) if K > 1 else []
            total = 0.0
            for part in np.split(order, cuts):
                total += w[part] @ np.square(x[part] - np.average(x[part], weights=w[part]))
            least = min(least, total / w.sum())
    assert 0 <= r <= least
    assert r > 0 or K > 1


@pytest.mark.parametrize("family", ["tied", "full", "tied_spherical", "posterior"])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_cell_of_one_component_is_where_it_is(family, d):
    rng = np.random.default_rng([d, len(family)])
    if d == 1 and family in matrices.FAMILIES:
        pytest.skip("one column has variances")
    problem = problem_of(rng, family, d, K=1, n=30)
    columns, weights = problem.merged()
    rules, axes, reference = rules_of(rng, problem)
    z = (columns - reference) @ axes.T
    mean = weights @ z / weights.sum()
    C = (weights[:, np.newaxis] * (z - mean)).T @ (z - mean) / weights.sum()
    if family == "posterior":
        v, W = problem.noise_variance, weights.sum()
        for e in (0.25, 2.0):  # the ends of the prior's range
            at = np.concatenate([mean * W / (W + e * v), (W + e * v)[: len(rules.own)]])
            assert (rules.low <= at).all() and (at <= rules.high).all()
        assert (rules.high[d:] - rules.low[d:] <= 2 * v.max()).all()
        return
    variables = np.diagonal(C).mean(keepdims=True) if family == "tied_spherical" else C[np.triu_indices(d)]
    at = np.concatenate([mean, variables])
    assert (rules.low <= at + 1e-11 * (1 + np.abs(at))).all() and (rules.high >= at - 1e-11 * (1 + np.abs(at))).all()
    assert (rules.high - rules.low <= 1e-9 * (1 + np.abs(at).max()) ** 2).all()


@pytest.mark.parametrize("family", ["tied", "full"])
@pytest.mark.parametrize("seed", range(4))
def test_the_objective_of_matrices_is_not_rounded_down(family, seed):
    rng = np.random.default_rng([seed, len(family)])
    d, K = 2 + seed % 2, 2
    problem = problem_of(rng, family, d, K)
    columns, weights = problem.merged()
    floor = np.diag(problem.floor)
    S = [symmetric(rng, d, True) + floor for _ in range(K)]
    S = [S[0]] * K if family == "tied" else S
    means, given = rng.normal(size=(K, d)).tolist(), [s.tolist() for s in S]
    solution = {"weights": [0.3, 0.7], "means": means, "covariances": given}
    found = objective.attained(problem, columns, weights, solution)
    mpmath.mp.dps = 40
    total = mpmath.mpf(0)
    for x, w in zip(columns, weights, strict=True):
        inner = mpmath.mpf(0)
        for p, m, s in zip(solution["weights"], solution["means"], S, strict=True):
            y = mpmath.matrix((np.array(x) - 0).tolist()) - mpmath.matrix(m)
            s = mpmath.matrix(s.tolist())
            quad = (y.T * mpmath.inverse(s) * y)[0]
            inner += mpmath.mpf(p) * mpmath.exp(-quad / 2) / mpmath.sqrt((2 * mpmath.pi) ** d * mpmath.det(s))
        total -= mpmath.mpf(w) * mpmath.log(inner)
    assert found >= total - mpmath.mpf("1e-13") * abs(total)  # the matrix evaluated is another one, by rounding
    assert found <= float(total) + 1e-9 * (1 + abs(float(total)))


def test_matrices_that_are_none_or_below_the_floor_are_refused():
    rng = np.random.default_rng(0)
    problem = problem_of(rng, "full", 2)
    columns, weights = problem.merged()
    solution = {"weights": [0.3, 0.7], "means": [[0.0, 0.0], [1.0, 1.0]]}
    good, small = (2 * np.diag(problem.floor)).tolist(), (0.9 * np.diag(problem.floor)).tolist()
    none = [[1.0, 2.0], [2.0, 1.0]]
    for other, reason in ((small, "covariances lie below the floor"), (none, "covariance that is none")):
        with pytest.raises(ProofError, match=f"solution: .*{reason}"):
            objective.attained(problem, columns, weights, {**solution, "covariances": [good, other]})
    shared = problem_of(rng, "tied", 2)
    with pytest.raises(ProofError, match="components have one covariance"):
        more = (3 * np.diag(shared.floor)).tolist()
        given = {**solution, "covariances": [(2 * np.diag(shared.floor)).tolist(), more]}
        objective.attained(shared, *shared.merged(), given)


def test_shared_slopes_must_be_shared():
    rng = np.random.default_rng(0)
    for family in ("tied", "tied_spherical"):
        rules, _, reference = rules_of(rng, problem_of(rng, family, 2))
        low, high = (np.tile(side, (1, 2, 1)) for side in (rules.low, rules.high))
        slopes = np.ones((1, 2, rules.n_slopes))
        assert np.isfinite(rules.intercepts(low, high, slopes, reference)).all()
        slopes[0, 1, -1] = 2.0
        with pytest.raises(ProofError, match="slopes: components of one"):
            rules.intercepts(low, high, slopes, reference)


@pytest.mark.parametrize("seed", range(12))
def test_precisions_of_posteriors_are_not_lost(seed):
    """Of a solution of EM at any masses: t = S + e v, with e the best for means and posterior variances."""
    rng = np.random.default_rng(seed)
    d, K = int(rng.integers(1, 3)), 3
    problem = problem_of(rng, "posterior", d, K)
    rules, _, _ = rules_of(rng, problem)
    columns, weights = problem.merged()
    v, tau, e = problem.noise_variance, rng.dirichlet(np.full(K, 0.5), len(columns)), 1.0
    mass, total = weights @ tau, (weights[:, np.newaxis] * tau).T @ columns
    for _ in range(300):
        t = mass[:, np.newaxis] + e * v
        means = total / t
        e = min(max(K * d / (np.square(means) + v / t).sum(), 1 / problem.prior[1]), 1 / problem.prior[0])
    t = (mass[:, np.newaxis] + e * v)[:, : len(rules.own)]
    order = np.argsort(means[:, 0])
    at = np.concatenate([means, t], axis=1)[order]
    width = (rules.high - rules.low) * rng.choice([0.01, 0.3, 1.0])
    low = np.maximum(rules.low, at - rng.random(at.shape) * width)[np.newaxis]
    high = np.minimum(rules.high, at + rng.random(at.shape) * width)[np.newaxis]
    low, high = rules.tightened(low, high)
    slack = 1e-9 * (1 + np.abs(at))
    assert (low[0] <= at + slack).all() and (high[0] >= at - slack).all()
    slopes = rng.normal(size=(1, K, 2 * d))
    found, (first, last) = rules.posterior_terms(low, high, slopes)
    assert first[0] <= e * (1 + 1e-9) and last[0] >= e * (1 - 1e-9)
    r, all_t = slopes[0, :, d:], (mass[:, np.newaxis] + e * v)[order]
    exact = sum(0.5 * math.log(x / y) - z * x - 0.5 * math.log(2 * math.pi) for x, y, z in zip(
        all_t.ravel(), np.tile(v, K), r.ravel(), strict=True))  # fmt: skip
    assert found[0] <= exact + 1e-9 * (1 + abs(exact))


@pytest.mark.parametrize("covariance_kind", ["tied", "full"])
def test_another_origin_or_other_axes_prove_no_more(covariance_kind, tmp_path):
    """The proof's axes are its own affair: singular ones are refused, others bound the same leaves, or worse."""
    from tests.support import proofs

    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(size=(12, 2)), rng.normal(size=(12, 2)) + 5])
    problem, path = gopfast.GaussianMixture(X, 2, covariance=covariance_kind, variance_floor=0.3), tmp_path / "p.npz"
    result = gopfast.solve(problem, 0.5, proof=path, log=False, n_threads=1, max_nodes=3000)
    header, arrays = proofs.parts(path)
    gopfast.check(path, X, problem=problem)
    for change, match in (
        (lambda axes: (np.array(axes) * [[1.0], [0.0]]).tolist(), "axes: have no inverse"),
        (lambda axes: None, "axes: must be given"),
        (lambda axes: (np.array(axes) @ np.array([[1.0, 0.3], [0.0, 1.0]])).tolist(), "leaf|leaves"),
        (lambda axes: (2.0 * np.array(axes)).tolist(), "leaf|leaves"),
    ):
        proofs.put(path, {**header, "axes": change(header["axes"])}, arrays)
        with pytest.raises(ProofError, match=match):
            gopfast.check(path, X)
    moved = (np.array(header["reference"]) + 0.5).tolist()
    proofs.put(path, {**header, "reference": moved}, arrays)
    with pytest.raises(ProofError, match="leaf|leaves"):
        gopfast.check(path, X)
    assert result.objective >= result.lower_bound
