"""Proofs where the floor of the variances is about that of all samples, or above: one component does as well as K."""

import functools

import numpy as np
import pytest
from gopfast.mixtures.pricing.pricing import ComponentPricing

import gopfast
from gopfast.checker import ProofError, check, prices
from gopfast.checker.problem import Problem
from gopfast.checker.verify import Bounds
from gopfast.mixtures import engine
from gopfast.mixtures.pricing.pricing_root import PricingBound
from gopfast.mixtures.recording import Recorder
from tests.support import proofs
from tests.support.settings import EVERY

# Of each family problems whose proofs were refused before equal samples had one price, and others.
SEEDS = {"known": (1, 2, 8, 11), "diag": (23, 24, 27, 65), "spherical": (6, 32, 63, 81), "line": (17, 27, 40, 44),
         "matrices": (0, 1, 2, 3)}  # fmt: skip
CASES = [(kind, seed) for kind, seeds in SEEDS.items() for seed in seeds]


@functools.cache
def drawn(kind, seed):
    """A problem, and what a search that writes a proof finds of it."""
    rng = np.random.default_rng([seed, len(kind), 17])
    problem, epsilon = proofs.about_the_floor(rng, kind), 10.0 ** rng.uniform(-4, -1)
    return problem, gopfast.solve(
        problem, epsilon, proof=True, n_threads=1, max_nodes=300, log=False, relaxation="pricing"
    )  # fmt: skip


def best_of(problem):
    """The least objective that EM attains."""
    return min(gopfast.local.em(problem, random_state=seed).objective for seed in range(3))


@pytest.mark.parametrize(("kind", "number"), CASES)
def test_proofs_of_floors_about_the_variance_are_accepted(kind, number):
    problem, result = drawn(kind, number)
    found = check(result.proof, *proofs.arguments(problem), problem)
    assert found.lower_bound >= result.lower_bound - 1e-9 * (1 + abs(result.lower_bound))
    assert found.lower_bound <= best_of(problem) + 1e-9 * (1 + abs(found.lower_bound))


def other_floor(rng, header, arrays, X, weights):
    """Lower the floor a little, or to below the variance, or raise it: costs are others."""
    name = "noise_variance" if "noise_variance" in header["problem"] else "variance_floor"
    factor = rng.choice([0.3, 0.9, 1 - 1e-6, 1 + 1e-6, 1.1, 3.0])
    header["problem"][name] = [value * factor for value in header["problem"][name]]
    return X, weights


def slopes_of_the_floor(rng, header, arrays, X, weights):
    """Have squares cost more than below the floor any does, or less."""
    for name in ("slopes", "cell_slopes"):
        half = arrays[name].shape[-1] // 2
        arrays[name][..., half:] *= rng.choice([0.5, 1 + 1e-4, 1.01, 2.0])
    return X, weights


def uneven_prices(rng, header, arrays, X, weights):
    """Pay more for one sample and less for another, which adds up to the same."""
    own, size = arrays["prices"], rng.choice([1e-4, 0.01, 1.0])
    if len(own) > 1:
        own[[0, -1]] += size, -size
    return X, weights


CHANGES = {**proofs.CHANGES, **{change.__name__: change for change in (other_floor, slopes_of_the_floor,
                                                                       uneven_prices)}}  # fmt: skip


def other_problem(problem, header):
    """The problem of a header whose floor or noise variance is another."""
    name = "noise_variance" if problem.covariance == "known" else "variance_floor"
    value = np.array(header["problem"][name])
    value = float(value[0]) if problem.covariance == "spherical" else value
    given = {name: value} | ({} if name == "noise_variance" else {"covariance": problem.covariance})
    return gopfast.GaussianMixture(problem.X, problem.n_components, sample_weight=problem.sample_weight, **given)


@pytest.mark.parametrize("kind", SEEDS)
@pytest.mark.parametrize("change", list(CHANGES))
def test_changed_proofs_of_such_floors_are_refused_or_true(tmp_path, kind, change):
    """Of the claim as it stands, and of all of the gap and more."""
    for turn, number in enumerate(SEEDS[kind][:: 1 if EVERY == 1 else 2]):
        problem, result = drawn(kind, number)
        rng = np.random.default_rng([turn, len(kind), len(change), 5])
        for more in (None, 0.5 * result.gap, result.gap + 1e-3):
            header, arrays = proofs.parts(result.proof.data)
            X, weights = (part.copy() for part in proofs.arguments(problem))
            if change in ("other_slopes", "other_log_weights") and not len(arrays["slopes"]):  # prices prove all
                continue
            X, weights = CHANGES[change](rng, header, arrays, X, weights)
            if more is not None:
                header["claim"]["lower_bound"] = result.lower_bound + more
                header["claim"]["objective"] = max(header["claim"]["objective"], result.objective + 1.0)
            proofs.put(tmp_path / "p", header, arrays)
            best = best_of(problem) if more is not None else result.objective
            assert proofs.verdict(tmp_path / "p", problem, X, weights, best) in ("refused", "true")
            if change in ("other_floor", "other_parameter"):
                try:
                    found = check(tmp_path / "p", X, weights)
                except ProofError:
                    continue
                assert found.lower_bound <= best_of(other_problem(problem, header)) + 1e-9 * (1 + abs(result.objective))


def best_parameters(problem, rng, K):
    """Responsibilities (N, K), and means, variances at the floor or above, and the variances that samples have."""
    X, w = problem.columns, problem.weights
    tau = rng.dirichlet(np.full(K, rng.choice([0.1, 1.0, 30.0])), len(X))
    mass = w @ tau
    means = (w[:, None] * tau).T @ X / mass[:, None]
    own = np.stack([(w * tau[:, k]) @ np.square(X - means[k]) / mass[k] for k in range(K)])
    if problem.family == "known":
        return tau, means, np.broadcast_to(problem.noise_variance, own.shape), None
    if problem.family == "spherical":
        own = np.broadcast_to(own.mean(axis=1, keepdims=True), own.shape)
    return tau, means, np.maximum(own, problem.floor), own


@pytest.mark.parametrize("kind", ["known", "diag", "spherical"])
@pytest.mark.parametrize("seed", range(6))
def test_no_cell_or_leaf_of_such_floors_is_bounded_above_a_mixture(kind, seed):
    """Cells around what samples have: variances below the floor, across it or above; slopes about the costs'."""
    rng = np.random.default_rng([seed, len(kind), 18])
    case = proofs.about_the_floor(rng, kind)
    stated = Problem(case._record_of_proof(), *proofs.arguments(case))
    bounds, reference = Bounds(stated), np.median(stated.columns, axis=0)
    rules, K, d, (X, w) = bounds.rules, case.n_components, stated.columns.shape[1], (bounds.columns, bounds.weights)
    stated.columns, stated.weights = X, w  # equal samples are one
    for _ in range(60):
        tau, means, variances, own = best_parameters(stated, rng, K)
        costs = 0.5 * (np.square(X[:, None] - means) / variances).sum(axis=2)
        if own is not None:
            costs += 0.5 * np.log(2 * np.pi * variances).sum(axis=1)
        cells = means if own is None else np.hstack([means, own if kind == "diag" else own[:, :1]])
        width = rng.choice([0.0, 1e-3, 0.1, 1.0]) * (rules.high - rules.low)
        low = np.clip(cells - width * rng.random(cells.shape), rules.low, cells)
        high = np.clip(cells + width * rng.random(cells.shape), cells, np.maximum(rules.high, cells))
        squares = 0.5 / variances * rng.choice([0.5, 0.99, 1.0, 1.0 + 1e-6, 1.1, 2.0])
        squares = squares if kind == "diag" else np.broadcast_to(squares[:, :1], squares.shape)
        linear = (reference - means) / variances + rng.normal(size=(K, d)) * rng.choice([0.0, 1e-3, 0.3])
        slopes = linear if own is None else np.hstack([linear, squares])
        # leaf: in any order of components
        logs = rng.normal(size=(1, K)) * rng.choice([0.0, 1.0])
        found = bounds.of(low[None], high[None], slopes[None], logs, reference)[0]
        mass = w @ tau
        value = (w[:, None] * tau * (costs + np.log(np.where(tau > 0, tau, 1.0)) - np.log(mass / w.sum()))).sum()
        value += float(bounds.constant.high)
        assert found <= value + 1e-9 * (1 + abs(value))
        lam = costs.min(axis=1) + rng.normal(size=len(X)) * rng.choice([0.0, 1e-3, 1.0])
        most = prices.savings(bounds, lam, low, high, slopes, rng.normal(size=K) * rng.choice([0.0, 1.0]), reference)
        gains = lam[:, None] - costs - np.log(np.where(tau > 0, tau, 1.0)) + np.log(mass / w.sum())
        saved = (w[:, None] * tau * gains).sum(axis=0)
        assert (most >= saved - 1e-9 * (1 + np.abs(saved))).all()


def test_prices_of_equal_samples_are_one_in_a_proof(monkeypatch):
    """What the checker's cells save is what the search's did, at the same total."""
    kept, finish = [], Recorder.finish

    def finished(self, wanted, solution, pricing):
        kept.append((self.statement, pricing))
        return finish(self, wanted, solution, pricing)

    monkeypatch.setattr(Recorder, "finish", finished)
    drawn.__wrapped__("diag", SEEDS["diag"][0])
    (statement, bound), = kept
    index = np.unique(bound.one.data.arrays()[0].T, axis=0, return_inverse=True)[1].reshape(-1)
    assert index.max() + 1 < len(index)
    assert all(np.ptp(bound.prices[index == i]) == 0 for i in range(index.max() + 1))
    total = statement.bounds.weights @ statement.prices(bound.prices) + statement.bounds.of_leaves.low
    assert total == pytest.approx(bound.table_total, rel=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_averages_of_equal_samples_prove_no_less(seed):
    """Of prices that come apart: the total is the same, and no component saves more."""
    rng = np.random.default_rng([seed, 19])
    drawn = proofs.about_the_floor(rng, "diag")
    problem = gopfast.GaussianMixture(
        np.vstack([drawn.X, drawn.X[::2]]), drawn.n_components, covariance="diag", variance_floor=drawn.variance_floor,
        sample_weight=np.concatenate([drawn.sample_weight, drawn.sample_weight[::2]]),
    )  # fmt: skip
    family = engine.family(problem)
    one = family.one_component(problem)
    result = gopfast.local.em(problem, random_state=0)
    solution = result.solution
    point = family.pack(means=solution.means, covariances=solution.covariances)
    packed = np.concatenate([solution.weights, point, [0.0]])
    bound = PricingBound(family, one, packed, result.objective)
    uneven = bound.prices + rng.normal(size=len(bound.prices)) * rng.choice([1e-4, 0.1])
    even, weights = bound._even(uneven), one.data.arrays()[1]
    assert weights @ even == pytest.approx(weights @ uneven, rel=1e-12)
    index = np.unique(one.data.arrays()[0].T, axis=0, return_inverse=True)[1].reshape(-1)
    assert index.max() + 1 < len(index) and all(np.ptp(even[index == i]) == 0 for i in range(index.max() + 1))
    pricing = ComponentPricing(one)
    cells = np.array(one.pack(means=problem.X[rng.integers(len(problem.X), size=1)]))[None]
    points = np.concatenate([cells, bound.points])
    # at any parameters, so that it holds of the largest too
    assert (pricing.values(even, points) <= pricing.values(uneven, points) + 1e-9 * (1 + abs(result.objective))).all()
