"""Prices in the checker: no component saves more than is said of its cell, and no good mixture is cut off."""

import numpy as np
import pytest

import gopfast
from gopfast.checker import check, file, objective, prices, priors, tree
from gopfast.checker.problem import Problem
from gopfast.checker.verify import Bounds
from tests.support import proofs

FAMILIES = [family for family in proofs.FAMILIES if proofs.options(family, proofs.OF_PRICES[0])]
# whose best parameters `fitted` knows
OF_COLUMNS = [family for family in FAMILIES if family.partition(" ")[0] not in ("matrices", "regression")]


def random_bounds(seed, family):
    rng = np.random.default_rng([seed, len(family), 11])
    problem = proofs.random_problem(rng, family)
    return rng, problem, proofs.bounds_of(problem, rng)[0]


def fitted(bounds, tau):
    """The best parameters (means, variances, cell) for the responsibilities (N,) of a component."""
    problem, w = bounds.problem, bounds.weights * tau
    if problem.family == "known":
        e = 0.0 if problem.prior is None else 1.0 / problem.prior[0]
        means = (w @ bounds.columns) / (w.sum() + e * problem.noise_variance)
        return means, None, means
    nu, chi = (part.low for part in priors.pseudo_observations(problem))
    means = (w @ bounds.columns + chi) / (w.sum() + nu)
    if problem.family not in ("diag", "spherical"):
        return means, None, means
    variances = (w @ np.square(bounds.columns - means)) / w.sum()
    if problem.family == "spherical":
        variances = np.array([variances.mean()])
    cell = np.concatenate([means, variances])
    return means, np.maximum(np.broadcast_to(variances, means.shape), problem.floor), cell


def saved(bounds, lam, tau, means, variances):
    """G at these responsibilities and parameters, without a prior."""
    costs, _ = objective.costs(bounds.problem, bounds.columns, means[np.newaxis],
                               None if variances is None else variances[np.newaxis])  # fmt: skip
    w = bounds.weights * tau
    with np.errstate(all="ignore"):
        terms = np.where(w > 0, w * (lam - costs[:, 0] - np.log(tau)), 0.0)
    return terms.sum() + w.sum() * np.log(w.sum() / bounds.weights.sum())


@pytest.mark.parametrize("family", [family for family in OF_COLUMNS if "prior" not in family and family != "endless"])
@pytest.mark.parametrize("seed", range(6))
def test_no_component_saves_more_than_its_cell(seed, family):
    """Any prices, slopes and scales; of cells around parameters that are the best ones for some responsibilities."""
    rng, _, bounds = random_bounds(seed, family)
    rules, n = bounds.rules, bounds.rules.n_columns
    reference = np.median(bounds.columns, axis=0)
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
    cells = np.array(solution["means"])
    if bounds.rules.has_squares:  # a variance at the floor stands for any below it, whose cells are others
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
