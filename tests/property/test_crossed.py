"""Classes crossed with the levels of one variable: tables of two variables, whose boxes are divided in one alone."""

import math

import numpy as np
import pytest
from gopfast.mixtures.bounds.crossed import CrossedRelaxation, is_crossed
from gopfast.mixtures.bounds.em import MixturePrimal
from gopfast.search.probe import probe
from gopfast.search.search import Search

import gopfast
from gopfast.mixtures import engine
from gopfast.result import Status


def table(counts, K):
    """The problem of a table of counts."""
    rows, columns = np.nonzero(counts)
    return gopfast.CategoricalMixture(
        np.column_stack([rows, columns]), K, sample_weight=counts[rows, columns],
        categories=[list(range(size)) for size in counts.shape],
    )  # fmt: skip


def random_table(rng, K=2):
    return table(rng.integers(1, 9, (rng.integers(3, 6), rng.integers(3, 5))).astype(float), K)


def crossed_objective(problem, tau, free):
    """F of responsibilities tau (n, K), free the index of the variable that has a weight per class and level."""
    w, other = problem.sample_weight[:, None], 1 - free
    value = (w * np.where(tau > 0, tau * np.log(np.where(tau > 0, tau, 1)), 0)).sum()
    for k in range(tau.shape[1]):
        mass = problem.sample_weight * tau[:, k]
        joint = np.bincount(problem.X[:, free], mass)
        share = np.bincount(problem.X[:, other], mass) / mass.sum()
        joint, used = joint[joint > 0], mass > 0
        value -= joint @ np.log(joint / problem.sample_weight.sum())
        value -= mass[used] @ np.log(share[problem.X[used, other]])
    return value


@pytest.mark.parametrize("seed", range(12))
def test_no_responsibilities_whose_shares_lie_in_a_box_have_a_lower_objective_than_its_bound(seed):
    rng = np.random.default_rng(seed)
    K = 2 + seed % 2
    problem = random_table(rng, K)
    family = engine.family(problem)
    relaxation = CrossedRelaxation(family)
    chosen, _ = family.free_variable()
    free = 0 if chosen[0] else 1
    n_bounded = 0
    for _ in range(30):
        tau = rng.dirichlet(np.full(K, rng.choice([0.1, 1.0, 5.0])), len(problem.X))
        for k, label in enumerate(rng.permutation(problem.n_categories[1 - free])[:K]):
            tau[problem.X[:, 1 - free] == label, k] = 0.0  # this class never has that label
        tau /= tau.sum(axis=1, keepdims=True)
        state = problem.maximize(tau)
        core = family.pack(probabilities=state["probabilities"]).reshape(K, -1)
        core = core[np.argsort(core[:, 0])]
        size = 10.0 ** rng.uniform(-3, 0)
        low = np.maximum(core - size * rng.random(core.shape), 0)
        high = np.minimum(core + size * rng.random(core.shape), 1)
        # the free variable's probabilities do not matter
        low[:, chosen] = np.minimum(rng.random(), core[:, chosen])
        high[:, chosen] = np.maximum(core[:, chosen], 0.9)
        value = crossed_objective(problem, tau, free)
        assert problem.objective(**state) <= value + 1e-9
        found = probe(relaxation, low.ravel(), high.ravel(), 1e3)
        if found is None or not ((found[0] <= core.ravel() + 1e-9) & (core.ravel() - 1e-9 <= found[1])).all():
            continue  # no class has a probability of 0 here, or another one
        n_bounded += 1
        assert found[2] <= value + 1e-9 * (1 + abs(value))
    assert n_bounded > 5


@pytest.mark.parametrize("seed", range(3))
def test_the_least_bound_does_not_exceed_the_optimum(seed):
    """Nodes are kept up to a tenth of a nat above the incumbent, so that the bound is not cut off at it."""
    rng = np.random.default_rng(seed)
    problem = random_table(rng)
    family = engine.family(problem)
    search = Search(CrossedRelaxation(family), MixturePrimal(family, seed=0), -0.1, max_nodes=4_000)
    search.run()
    best = search.summary()[0]["objective"]
    for _ in range(20):  # EM from anywhere
        state = problem.maximize(rng.dirichlet(np.ones(2), len(problem.X)))
        for _ in range(300):
            state = problem.maximize(problem.responsibilities(**state), **state)
        best = min(best, problem.objective(**state))
    assert search.least_bound <= best + 1e-9


@pytest.mark.parametrize("seed", range(2))
def test_the_optimum_is_that_of_the_tree_that_divides_all_variables(seed):
    counts = np.random.default_rng(seed).integers(1, 12, (3, 3)).astype(float)
    problem = table(counts, 2)
    found = gopfast.solve(problem, 0.05, max_nodes=30_000, n_threads=1)
    assert found.status is Status.OPTIMAL
    plain = gopfast.solve(problem, 0.05, max_nodes=3_000, n_threads=1, branching="orthant")
    assert plain.lower_bound <= found.objective + 1e-9
    assert found.lower_bound <= plain.objective + 1e-9


def test_one_hundred_swiss_francs():
    """The conjecture of Sturmfels: no mixture of two independent 4 x 4 tables is more likely than this one."""
    counts = np.full((4, 4), 2.0) + 2.0 * np.eye(4)
    results = [gopfast.solve(table(counts, 2), 0.01, n_threads=n, max_nodes=60_000) for n in (1, 2)]
    for found in results:
        assert found.status is Status.OPTIMAL
        assert -found.objective == pytest.approx(24 * math.log(3 / 40) + 16 * math.log(1 / 20), abs=1e-6)
    assert results[0].n_nodes == results[1].n_nodes and results[0].lower_bound == results[1].lower_bound


def test_what_is_crossed():
    counts = np.random.default_rng(0).integers(1, 5, (3, 4)).astype(float)
    assert is_crossed(engine.family(table(counts, 2)))
    assert not is_crossed(engine.family(table(counts, 1)))
    assert not is_crossed(engine.family(table(counts[:, :2], 2)))  # a column of zeros and ones is left
    three = np.array([[i, j, k] for i in range(3) for j in range(3) for k in range(3)])
    assert not is_crossed(engine.family(gopfast.CategoricalMixture(three, 2)))
    assert not is_crossed(engine.family(gopfast.CategoricalMixture(three[:, :2], 2, prior=1.5)))
    assert not is_crossed(engine.family(gopfast.GaussianMixture([[0.0], [1.0]], 2)))
