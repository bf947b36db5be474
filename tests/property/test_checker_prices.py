"""Prices in the checker: no component saves more than is said of its cell, and no good mixture is cut off."""

import numpy as np
import pytest

import gopfast
from gopfast.checker import check, file, objective, prices, priors, tree
from gopfast.checker.problem import Part, Problem
from gopfast.checker.verify import Bounds
from gopfast.mixtures import mechanisms
from gopfast.mixtures.leaf_weights import best_weights
from gopfast.mixtures.pricing.pricing_root import PricingBound
from tests.support import proofs

FAMILIES = [family for family in proofs.FAMILIES if proofs.options(family, proofs.OF_PRICES[0])]
# whose best parameters `fitted` knows; others have tests of their own
OTHERS = ("matrices", "regression", "gamma", "counts")
OF_COLUMNS = [family for family in FAMILIES if family.partition(" ")[0] not in OTHERS]


def random_bounds(seed, family):
    rng = np.random.default_rng([seed, len(family), 11])
    problem = proofs.random_problem(rng, family)
    return rng, problem, proofs.bounds_of(problem, rng)[0]


def fitted(bounds, tau):
    """The best parameters (means, variances, cell) for the responsibilities (N,) of a component."""
    problem, w = bounds.problem, bounds.weights * tau
    if problem.family == "mixed":
        return fitted_parts(bounds, w)
    if problem.family == "known":
        e = 0.0 if problem.prior is None else 1.0 / problem.prior[0]
        means = (w @ bounds.columns) / (w.sum() + e * problem.noise_variance)
        return means, None, means
    nu, chi = (part.low for part in priors.pseudo_observations(problem))
    mass = np.full(len(nu), w.sum())
    for group in problem.partial:  # of labels, of which a sample may have none or many
        mass[group] = (w @ bounds.columns[:, group]).sum()
    means = (w @ bounds.columns + chi) / (mass + nu)
    if problem.family not in ("diag", "spherical"):
        return means, None, means
    variances = (w @ np.square(bounds.columns - means)) / w.sum()
    if problem.family == "spherical":
        variances = np.array([variances.mean()])
    cell = np.concatenate([means, variances])
    return means, np.maximum(np.broadcast_to(variances, means.shape), problem.floor), cell


def fitted_parts(bounds, w):
    """The same of columns of different families: of the samples that have an entry."""
    means, variances, cell = np.zeros(bounds.columns.shape[1]), [], []
    for part in bounds.problem.parts:
        y, own = bounds.columns[:, part.columns], part.problem
        seen = np.ones(y.shape)
        if part.presence is not None:
            seen *= bounds.columns[:, [part.presence]]
        for group in own.partial:  # labels, of which a sample may have none
            seen[:, group] = y[:, group].sum(axis=1, keepdims=True)
        mass = w @ seen
        m = means[part.columns] = (w @ (y * seen)) / mass
        cell.append(m)
        if own.family == "diag":
            v = (w @ (np.square(y - m) * seen)) / mass
            cell.append(v)
            variances.append(np.maximum(v, own.floor))
    return means, np.concatenate(variances) if variances else None, np.concatenate(cell)


def of_three_components(missing):
    """A mixture of three kinds of columns, some of whose entries are missing."""
    rng, n = np.random.default_rng(0), 60
    which = rng.integers(0, 3, n)
    table = np.empty((n, 3), dtype=object)
    table[:, 0] = rng.normal(size=n) + 4.0 * which
    table[:, 1] = rng.exponential(np.array([1.0, 4.0, 0.3])[which])
    table[:, 2] = np.where(rng.random(n) < np.array([0.2, 0.8, 0.5])[which], "yes", "no")
    table[rng.random(table.shape) < missing] = None
    return gopfast.MixedMixture(["normal", "exponential", "binary"], table, 3)


def test_drawing_components_forgets_no_cells_of_a_proof(monkeypatch, tmp_path):
    """The master problem's atoms are of other prices than the cells at hand, which stay those of the proof."""
    rounds, problem = [], of_three_components(0.1)
    inner = PricingBound._round

    def watched(self):
        rounds.append((self.pricing.n_open, inner(self), self.pricing.n_open))

    monkeypatch.setattr(PricingBound, "_round", watched)
    monkeypatch.setattr(mechanisms, "batches_of", lambda plan, terms: 0)  # at once
    result = gopfast.solve(problem, proof=tmp_path / "p", n_threads=1, log=False, max_nodes=3_000,
                           relaxation="pricing")  # fmt: skip
    assert rounds and all(before == after > 0 for before, _, after in rounds)
    found = check(tmp_path / "p", *proofs.arguments(problem), problem)
    assert found.lower_bound == pytest.approx(result.lower_bound, abs=1e-9)


def costs_at(bounds, means, variances):
    """Costs (N,) of a component."""
    if bounds.problem.family == "mixed":
        given = {} if variances is None else {"variances": [variances.tolist()]}
        with np.errstate(all="ignore"):
            return objective._of_parts(bounds.problem, bounds.columns, means[np.newaxis], given)[0][:, 0]
    variances = None if variances is None else variances[np.newaxis]
    return objective.costs(bounds.problem, bounds.columns, means[np.newaxis], variances)[0][:, 0]


def saved(bounds, lam, tau, means, variances):
    """G at these responsibilities and parameters, without a prior."""
    costs, w = costs_at(bounds, means, variances), bounds.weights * tau
    with np.errstate(all="ignore"):
        terms = np.where(w > 0, w * (lam - costs - np.log(tau)), 0.0)
    return terms.sum() + w.sum() * np.log(w.sum() / bounds.weights.sum())


@pytest.mark.parametrize("family", [family for family in OF_COLUMNS if "prior" not in family and family != "endless"])
@pytest.mark.parametrize("seed", range(6))
def test_no_component_saves_more_than_its_cell(seed, family):
    """Any prices, slopes and scales; of cells around parameters that are the best ones for some responsibilities."""
    rng, _, bounds = random_bounds(seed, family)
    rules, n = bounds.rules, bounds.rules.n_columns
    reference = np.median(bounds.columns, axis=0)
    reference[bounds.problem.centered_at_zero()] = 0.0
    for _ in range(60):
        tau = rng.random(len(bounds.columns)) ** rng.choice([0.2, 1.0, 6.0])
        lam = rng.normal(size=len(tau)) * rng.choice([1.0, 5.0])
        means, variances, cell = fitted(bounds, tau)
        width = rng.choice([0.0, 0.1, 1.0]) * (np.minimum(rules.high, rules.low + 50) - rules.low)
        low, high = np.maximum(cell - width * rng.random(len(cell)), rules.low), np.minimum(
            cell + width * rng.random(len(cell)), rules.high)  # fmt: skip
        slopes = rng.normal(size=(1, bounds.n_slopes)) * rng.choice([0.03, 0.3, 2.0])
        if rules.has_squares:
            slopes[:, n:] = np.abs(slopes[:, [n]])
        with np.errstate(all="ignore"):
            most = prices.savings(bounds, lam, np.minimum(low, cell)[np.newaxis], np.maximum(high, cell)[np.newaxis],
                                  slopes, rng.normal(size=1) * rng.choice([0.1, 3.0]), reference)[0]  # fmt: skip
            value = saved(bounds, lam, tau, means, variances)
        assert most >= value - 1e-9 * (1 + abs(value))


@pytest.mark.parametrize("seed", range(4))
def test_a_cell_of_one_point_saves_what_the_best_responsibilities_do(seed):
    """With the slopes of the cost itself and the best scale U is what is attained: nothing is given away."""
    rng, _, bounds = random_bounds(seed, "known")
    reference, s = np.median(bounds.columns, axis=0), bounds.problem.noise_variance
    lam = rng.normal(size=len(bounds.columns)) + 3.0
    m = bounds.columns[:1] + 0.1
    scales = np.linspace(-6.0, 0.0, 601)
    cells = np.repeat(m, len(scales), axis=0)
    slopes = -(cells - reference) / s
    most = prices.savings(bounds, lam, cells, cells, slopes, scales, reference)
    best = scales[most.argmin()]
    u = np.exp(lam - objective.costs(bounds.problem, bounds.columns, m)[0][:, 0])
    attained = saved(bounds, lam, np.minimum(1.0, np.exp(best) * u), m[0], None)
    assert most.min() >= max(0.0, attained) - 1e-9
    assert most.min() <= max(0.0, attained) + 1e-2 * bounds.weights.sum()


def cells_of(bounds, solution):
    """What cells (K, p) a solution's components have; None where a variance at the floor may stand for any below it."""
    means, problem = np.array(solution["means"]), bounds.problem
    if problem.family != "mixed":
        return None if bounds.rules.has_squares else means
    variances, first, found = np.array(solution.get("variances", np.zeros((len(means), 0)))), 0, []
    for part in problem.parts:
        found.append(means[:, part.columns])
        if part.problem.family == "diag":
            own = variances[:, first : first + len(part.columns)]
            first += len(part.columns)
            if (own <= part.problem.floor * (1 + 1e-9)).any():
                return None
            found.append(own)
    return np.hstack(found)


@pytest.mark.parametrize("family", OF_COLUMNS)
@pytest.mark.parametrize("seed", range(4))
def test_no_mixture_below_the_bound_is_cut_off(tmp_path, seed, family):
    """The prices and cells of a proof, asked for more than is true: the box that is left holds the best solution."""
    rng, problem, bounds = random_bounds(seed, family)
    result = gopfast.solve(problem, 0.1, proof=tmp_path / "p", n_threads=1, max_nodes=2000, log=False,
                           relaxation="pricing")  # fmt: skip
    header, arrays = file.read(tmp_path / "p")
    if not arrays["prices"].size:
        return
    order, reference, solution = header["order"], np.array(header["reference"]), header["claim"]["solution"]
    cells = cells_of(bounds, solution)
    if cells is None:
        return
    cells = cells[np.argsort(cells[:, order], kind="stable")]
    if not (np.isfinite(cells).all() and (np.array(solution["weights"]) > 1e-6).all()):
        return
    above = result.objective + 1e-6 * (1 + abs(result.objective)) + rng.choice([0.0, 0.3])
    rules, K = bounds.rules, problem.n_components
    low, high = np.tile(rules.low, (1, K, 1)), np.tile(rules.high, (1, K, 1))
    low, high, closed = prices.Prices(bounds, arrays, reference, order, above).cut(low, high)
    slack = 1e-6 * (1 + np.abs(cells))
    assert not closed[0]
    assert (low[0] <= cells + slack).all() and (cells - slack <= high[0]).all()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(3))
def test_proofs_with_prices_are_accepted(tmp_path, seed, family):
    rng, problem, _ = random_bounds(seed + 50, family)
    epsilon = rng.choice([0.1, 0.001])
    result = gopfast.solve(problem, epsilon, proof=tmp_path / "p", n_threads=1, max_nodes=2000, log=False,
                           relaxation="pricing")  # fmt: skip
    found = check(tmp_path / "p", *proofs.arguments(problem), problem)
    assert found.lower_bound >= result.lower_bound - 1e-9 * (1 + abs(result.lower_bound))
    assert result.status.name in ("OPTIMAL", "NODE_LIMIT")


def galaxies_proved(path):
    galaxies = gopfast.datasets.load("galaxies") / 1000
    problem = gopfast.GaussianMixture(galaxies, 3, covariance="diag", variance_floor=0.09)
    result = gopfast.solve(problem, proof=path, log=False, n_threads=1, relaxation="pricing")
    return galaxies, problem, result


def test_prices_close_leaves_that_have_no_entry(tmp_path):
    galaxies, problem, result = galaxies_proved(tmp_path / "p")
    header, arrays = file.read(tmp_path / "p")
    bounds = Bounds(Problem(header["problem"], galaxies, None))
    labels, *_, empty = tree.leaves(arrays["splits"], arrays["points"], bounds.rules, 3, header["order"])
    assert result.success and (tree.entries(arrays["leaves"], labels[~empty], "leaf") == tree.NONE).any()
    assert check(tmp_path / "p", galaxies, problem=problem).gap <= 0.01


def test_cuts_by_prices_are_repeated_until_nothing_changes(tmp_path):
    """What one component loses raises what the others must save, although no box has changed yet."""
    galaxies, _, result = galaxies_proved(tmp_path / "p")
    header, arrays = file.read(tmp_path / "p")
    bounds = Bounds(Problem(header["problem"], galaxies, None))
    # more than is true, so that something is left
    priced = prices.Prices(bounds, arrays, np.array(header["reference"]), header["order"], result.objective + 2.0)
    _, low, high, empty = tree.leaves(arrays["splits"], arrays["points"], bounds.rules, 3, header["order"])
    low, high, closed = priced.cut(low[~empty], high[~empty])
    low, high = low[~closed], high[~closed]
    again = priced.cut(low, high)
    assert len(low) and not again[2].any()
    assert np.array_equal(again[0], low) and np.array_equal(again[1], high)


def test_a_cell_without_an_entry_is_refused(tmp_path):
    galaxies, _, _ = galaxies_proved(tmp_path / "p")
    header, arrays = file.read(tmp_path / "p")
    for name in ("cell_leaves", "cell_slopes", "cell_scales"):
        arrays[name] = arrays[name][1:]
    proofs.put(tmp_path / "p", header, arrays)
    with pytest.raises(gopfast.ProofError, match="cell .*: nothing bounds what it saves"):
        check(tmp_path / "p", galaxies)


def touching(bounds, means, variances, reference):
    """Slopes (n_slopes,) of a component's own cost, which touch it in a cell of this one point."""
    n, slopes, first = bounds.rules.n_columns, np.zeros(bounds.n_slopes), 0
    for part in bounds.problem.parts or [Part(bounds.problem, np.arange(n), None)]:
        own, columns = part.problem, part.columns
        m = means[columns]
        if own.family == "diag":
            v = variances[first : first + len(columns)]
            first += len(columns)
            slopes[columns], slopes[n + columns] = -(m - reference[columns]) / v, 0.5 / v
            continue
        of_kind = {
            "poisson": lambda m: -np.log(m), "exponential": lambda m: 1 / m, "label": lambda m: -np.log(m),
            "bernoulli": lambda m: np.log1p(-m) - np.log(m),
        }  # fmt: skip
        with np.errstate(all="ignore"):
            found = [float(of_kind[kind](x)) for kind, x in zip(own.kinds, m, strict=True)]
        slopes[columns] = np.clip(np.nan_to_num(found, nan=0.0), -30.0, 30.0)
    return slopes


def local_search(bounds, lam, tau):
    """Responsibilities and parameters of which one component saves no less, step by step."""
    W, w = bounds.weights.sum(), bounds.weights
    for _ in range(60):
        means, variances, cell = fitted(bounds, tau)
        t = np.exp(np.minimum(lam - costs_at(bounds, means, variances), 300.0))
        s = max((w @ tau) / W, 1e-12)
        for _ in range(200):  # the best responsibilities have the mass that their scale says
            former, s = s, max(min((w @ np.minimum(1.0, s * t)) / W, 1.0), 1e-12)
            if abs(s - former) <= 1e-15 * s:
                break
        tau = np.maximum(np.minimum(1.0, s * t), 1e-12)
    means, variances, cell = fitted(bounds, tau)
    return saved(bounds, lam, tau, means, variances), tau, means, variances, cell


@pytest.mark.parametrize("family", ["mixed", "mixed missing", "missing", "multinomial"])
@pytest.mark.parametrize("seed", range(12))
def test_the_most_that_local_searches_save_is_below_the_bound_of_its_cell(seed, family):
    """Of columns of different families: cells of any width around it, slopes that touch there, and others."""
    rng, _, bounds = random_bounds(seed + 100, family)
    rules, n = bounds.rules, bounds.rules.n_columns
    reference = np.median(bounds.columns, axis=0)
    reference[bounds.problem.centered_at_zero()] = 0.0
    lam = costs_at(bounds, *fitted(bounds, np.ones(len(bounds.weights)))[:2]) + rng.normal(size=len(bounds.weights))
    ends = [local_search(bounds, lam, rng.random(len(lam)) ** rng.choice([0.2, 1.0, 6.0])) for _ in range(12)]
    most, tau, means, variances, cell = max(ends, key=lambda end: end[0])
    log_s = float(np.log(np.clip(bounds.weights @ tau / bounds.weights.sum(), 1e-12, 1.0)))
    slopes = touching(bounds, means, variances, reference)
    reach = np.minimum(rules.high, rules.low + 50) - rules.low
    for width in (0.0, 1e-3, 0.03, 0.3, 1.0):
        low, high = np.maximum(cell - width * reach, rules.low), np.minimum(cell + width * reach, rules.high)
        for change in (0.0, 0.0, 0.01, 0.3):
            for scale in (log_s, log_s + rng.normal()):
                own = slopes * (1 + change * rng.normal(size=len(slopes)))
                own[n:] = np.maximum(own[n:], 0.0)
                found = prices.savings(
                    bounds, lam, np.minimum(low, cell)[np.newaxis], np.maximum(high, cell)[np.newaxis],
                    own[np.newaxis], np.array([scale]), reference,
                )[0]  # fmt: skip
                assert found >= max(0.0, most) - 1e-9 * (1 + abs(most))
    # of the root's whole cell that of all ends is below it
    root = prices.savings(bounds, lam, rules.low[np.newaxis], rules.high[np.newaxis], slopes[np.newaxis],
                          np.array([log_s]), reference)[0]  # fmt: skip
    assert all(root >= end[0] - 1e-9 * (1 + abs(end[0])) for end in ends)


@pytest.mark.parametrize("seed", range(6))
def test_a_cell_of_one_point_of_a_product_saves_what_the_best_responsibilities_do(seed):
    """Nothing is given away: of columns without ends, with the slopes of the cost itself."""
    rng = np.random.default_rng([seed, 12])
    table = np.empty((9, 2), dtype=object)
    table[:, 0], table[:, 1] = rng.normal(size=9), rng.poisson(4.0, 9) + 1
    table[rng.permutation(9)[:2], seed % 2] = None
    problem = gopfast.MixedMixture(["normal", "poisson"], table, 2, variance_floor=0.01)
    bounds, reference = proofs.bounds_of(problem, rng)
    means, variances, cell = fitted(bounds, rng.random(len(bounds.weights)))
    if (variances <= 0.01).any():
        return
    lam = costs_at(bounds, means, variances) + rng.normal(size=len(bounds.weights)) + 0.5
    t, W = np.exp(lam - costs_at(bounds, means, variances)), bounds.weights.sum()
    scales = np.linspace(-8.0, 0.0, 801)
    slopes = np.tile(touching(bounds, means, variances, reference), (len(scales), 1))
    cells = np.tile(cell, (len(scales), 1))
    found = prices.savings(bounds, lam, cells, cells, slopes, scales, reference)
    best = max(saved(bounds, lam, np.minimum(1.0, s * t), means, variances) for s in np.exp(scales))
    assert max(0.0, best) - 1e-9 <= found.min() <= max(0.0, best) + 1e-2 * W


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_prices_that_are_too_high_prove_no_more(tmp_path, missing):
    """What they pay more the checker finds that components save more, also where the claim stays true."""
    rng = np.random.default_rng(5)
    half = rng.permutation(40) % 2
    table = np.empty((40, 2), dtype=object)
    table[:, 0], table[:, 1] = rng.normal(size=40) + 3.0 * half, rng.poisson(np.where(half == 0, 2, 9))
    table[rng.random(table.shape) < missing] = None
    problem = gopfast.MixedMixture(["normal", "poisson"], table, 2)
    result = gopfast.solve(problem, proof=tmp_path / "p", n_threads=1, log=False, relaxation="pricing")
    header, arrays = file.read(tmp_path / "p")
    found = check(tmp_path / "p", *proofs.arguments(problem), problem)
    assert result.success and found.gap <= 0.01 and arrays["prices"].size
    lower, gap, right = header["claim"]["lower_bound"], found.gap, arrays["prices"].copy()
    for more in (1e-6, 1e-4, 1e-2, 1.0):
        for change in (more, more * rng.random(len(right)), more * (rng.random(len(right)) < 0.1), -more):
            arrays["prices"] = right + change
            header["claim"]["lower_bound"] = lower + 0.9 * gap
            proofs.put(tmp_path / "q", header, arrays)
            with pytest.raises(gopfast.ProofError):
                check(tmp_path / "q", *proofs.arguments(problem))
    arrays["prices"], header["claim"]["lower_bound"] = right + 1.0, lower
    proofs.put(tmp_path / "q", header, arrays)
    with pytest.raises(gopfast.ProofError, match="leaf"):
        check(tmp_path / "q", *proofs.arguments(problem))


@pytest.mark.parametrize("family", ["mixed", "mixed missing", "missing", "multinomial"])
@pytest.mark.parametrize("seed", range(9))
def test_smaller_cells_save_no_more(seed, family):
    """Of any slopes, scale and prices: also where labels have missing entries, whose constants are in their slopes."""
    rng, _, bounds = random_bounds(seed + 200, family)
    rules = bounds.rules
    reference = np.median(bounds.columns, axis=0)
    reference[bounds.problem.centered_at_zero()] = 0.0
    top = np.minimum(rules.high, rules.low + 50)
    for _ in range(40):
        low, high = rules.low.copy(), top.copy()
        slopes = rng.normal(size=(1, bounds.n_slopes)) * rng.choice([0.03, 0.3, 2.0])
        lam, scale = rng.normal(size=len(bounds.weights)) * rng.choice([1.0, 5.0]), -rng.exponential(size=1)
        before = np.inf
        for _ in range(4):
            found = prices.savings(bounds, lam, low[np.newaxis], high[np.newaxis], slopes, scale, reference)[0]
            assert found <= before + 1e-9 * (1 + abs(before))
            before = found
            ends = np.sort(low + rng.random((2, len(low))) * (high - low), axis=0)
            low, high = ends


@pytest.mark.parametrize("beside", [False, True])
def test_a_proof_of_columns_of_many_magnitudes_claims_what_the_checker_finds(tmp_path, beside):
    """Slopes of tiny waiting times lose digits at large ones: what prices close by a hair stays open in the checker."""
    x = [0.0917608308334048, 13.65450915, 1.468146555e-06, 3.324762744, 379024.224, 1.45286832e-06, 4061109.39,
         1.68173848e-06]  # fmt: skip
    problem = gopfast.ExponentialMixture(x, 2)
    if beside:
        problem = gopfast.MixedMixture(["exponential", "binary"], np.array([x, [0, 1] * 4]).T, 2)
    result = gopfast.solve(problem, 0.00128, proof=tmp_path / "p", n_threads=1, log=False, relaxation="pricing")
    found = check(tmp_path / "p", *proofs.arguments(problem), problem)
    assert found.lower_bound == pytest.approx(result.lower_bound, abs=1e-9)
    assert found.gap <= 0.2  # which is what rounding costs, not what a leaf without an entry says


def counted_rows(rng, n, K):
    """Rows of counts of different totals, of K components."""
    shares = rng.dirichlet(np.ones(4), K)
    return gopfast.MultinomialMixture([rng.multinomial(rng.integers(1, 9), shares[k % K]) for k in range(n)], K)


@pytest.mark.parametrize("seed", range(6))
def test_in_smaller_boxes_the_best_weights_prove_no_less(tmp_path, seed):
    """Those that are stored may: of rows of counts one component may lose as the costs of another rise."""
    rng = np.random.default_rng(seed)
    problem = counted_rows(rng, 12, K := 2 + seed % 2)
    gopfast.solve(problem, 0.1, proof=tmp_path / "p", n_threads=1, log=False, relaxation="entropic", max_nodes=20_000)
    header, arrays = file.read(tmp_path / "p")
    bounds, reference = Bounds(Problem(header["problem"], *proofs.arguments(problem))), np.array(header["reference"])
    labels, low, high, empty = tree.leaves(arrays["splits"], arrays["points"], bounds.rules, K, header["order"])
    entry = tree.entries(arrays["leaves"], labels, "leaf")
    own = rng.permutation(np.flatnonzero(~empty & (entry != tree.NONE)))[:200]
    low, high, slopes, stored = low[own], high[own], arrays["slopes"][entry[own]], arrays["log_weights"][entry[own]]

    def proved(low, logs):
        return bounds.of(low, high, slopes, logs, reference)

    best = best_weights(bounds, low, high, slopes, stored, reference)
    at_best = proved(low, best)
    assert (at_best >= proved(low, stored) - 1e-6).all()
    for size in (0.01, 0.3, 2.0):
        assert (proved(low, best + size * rng.normal(size=best.shape)) <= at_best + 1e-6).all()
    smaller = low + 0.5 * (high - low) * rng.random(low.shape)
    logs = best_weights(bounds, smaller, high, slopes, stored, reference)
    assert (proved(smaller, logs) >= at_best - 1e-6).all()


def test_prices_close_what_the_checker_finds_by_weights_of_its_own_boxes():
    """Rows of counts, whose leaves lacked up to 18 nats with the weights of the search's boxes."""
    problem = counted_rows(np.random.default_rng(0), 30, 3)
    result = gopfast.solve(problem, 0.1, proof=True, n_threads=1, log=False, max_nodes=20_000)
    header, arrays = file.read(result.proof.data)
    found = check(result.proof, *proofs.arguments(problem), problem)
    assert arrays["prices"].size and len(arrays["leaves"])
    assert found.gap == pytest.approx(result.gap)
