"""Classes crossed with the levels of one variable, so that boxes are divided in the others alone."""

import math

import numpy as np
import pytest
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.crossed import CrossedRelaxation, is_crossed, is_spanned
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


def random_items(rng, K=2):
    """The problem of a table of two to five items, of which all but one may have missing entries; some are rare."""
    d, n = rng.integers(2, 6), rng.integers(8, 40)
    sizes = rng.integers(2, 5, d)
    X = np.array([rng.choice(size, n, p=rng.dirichlet(np.full(size, rng.choice([0.3, 2.0])))) for size in sizes]).T
    X[:2, 0] = 0, 1
    if rng.random() < 0.4:
        X[rng.random((n, d)) < 0.15] = -1
        whole = rng.integers(d)
        X[:, whole] = rng.integers(0, sizes[whole], n)
    weights = rng.choice([0.5, 1.0, 7.0, 1e4], n) if rng.random() < 0.5 else rng.integers(0, 5, n) + (np.arange(n) < 2)
    return gopfast.LatentClass(
        np.ascontiguousarray(X), K, missing=[-1], sample_weight=weights.astype(float),
        categories=[list(range(size)) for size in sizes],
    )  # fmt: skip


def free_item(problem, family):
    """The item whose probabilities are in the free variable's columns."""
    chosen, _ = family.free_variable()
    K, sizes = problem.n_components, problem.n_categories
    before = family.pack(probabilities=tuple(np.full((K, n), 1.0 / n) for n in sizes)).reshape(K, -1)[0]
    for j in range(len(sizes)):
        changed = [np.full((K, n), 1.0 / n) for n in sizes]
        changed[j] = np.tile(np.random.default_rng(0).dirichlet(np.ones(sizes[j])), (K, 1))
        moved = family.pack(probabilities=tuple(changed)).reshape(K, -1)[0] != before
        if moved.any() and (moved <= chosen).all():
            return j
    raise AssertionError


def crossed_objective(problem, tau, free):
    """F of responsibilities tau (n, K), free the index of the variable that has a weight per class and level."""
    w = problem.sample_weight[:, None]
    value = (w * np.where(tau > 0, tau * np.log(np.where(tau > 0, tau, 1)), 0)).sum()
    for k in range(tau.shape[1]):
        mass = problem.sample_weight * tau[:, k]
        joint = np.bincount(problem.X[:, free], mass)
        joint = joint[joint > 0]
        value -= joint @ np.log(joint / problem.sample_weight.sum())
        for j in range(problem.X.shape[1]):
            if j != free:
                seen = problem.X[:, j] >= 0
                counts = np.bincount(problem.X[seen, j], mass[seen])
                value -= counts[counts > 0] @ np.log(counts[counts > 0] / counts.sum())
    return value


@pytest.mark.parametrize("items", ["two", "several"])
@pytest.mark.parametrize("seed", range(12))
def test_no_responsibilities_whose_shares_lie_in_a_box_have_a_lower_objective_than_its_bound(items, seed):
    rng = np.random.default_rng(seed)
    K, two = 2 + seed % 2, items == "two"
    problem = random_table(rng, K) if two else random_items(rng, K)
    family = engine.family(problem)
    if not is_crossed(family):
        pytest.skip("an item is left that tells nothing")
    relaxation = CrossedRelaxation(family)
    chosen, _ = family.free_variable()
    free = free_item(problem, family)
    n_bounded = 0
    for _ in range(30):
        tau = rng.dirichlet(np.full(K, rng.choice([0.1, 1.0, 5.0])), len(problem.X))
        if two:
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
        assert problem.objective(**state) <= value + 1e-9 * (1 + abs(value))
        found = probe(relaxation, low.ravel(), high.ravel(), value + rng.choice([1.0, 1e3]))
        if found is None or not ((found[0] <= core.ravel() + 1e-9) & (core.ravel() - 1e-9 <= found[1])).all():
            continue  # no class has a probability of 0 here, or another one
        n_bounded += 1
        assert found[2] <= value + 1e-9 * (1 + abs(value))
    assert n_bounded > 5


def best_of_em(problem, rng, n_starts=20):
    """The least objective, by its definition, that the core's EM attains from random responsibilities."""
    best = math.inf
    for _ in range(n_starts):
        tau = rng.dirichlet(np.ones(problem.n_components), len(problem.X))
        found = gopfast.local.em(problem, problem.maximize(tau), tol=1e-13, max_iter=300).solution
        best = min(best, problem.objective(found.weights, **found.parameters))
    return best


@pytest.mark.parametrize("seed", range(12))
def test_a_search_that_must_prove_more_than_is_true_does_not(seed):
    rng = np.random.default_rng(100 + seed)
    problem = random_items(rng, 2 + seed % 2)
    family = engine.family(problem)
    if not is_crossed(family):
        pytest.skip("an item is left that tells nothing")
    search = Search(CrossedRelaxation(family), MixturePrimal(family, seed=0), -0.1, max_nodes=1_000)
    reason = Status(search.run())
    best = best_of_em(problem, rng)
    assert reason is not Status.OPTIMAL
    assert search.least_bound <= best + 1e-9 * (1 + abs(best))


@pytest.mark.parametrize("seed", range(6))
def test_a_narrow_box_around_a_stationary_point_is_bounded_by_about_its_objective(seed):
    """Whatever the free variable's interval is: that is not looked at."""
    rng = np.random.default_rng(seed)
    problem = random_items(rng, 2 + seed % 2)
    family = engine.family(problem)
    K, W = problem.n_components, problem.sample_weight.sum()
    state = problem.maximize(rng.dirichlet(np.ones(K), len(problem.X)))
    for _ in range(2_000):
        state = problem.maximize(problem.responsibilities(**state), **state)
    value = problem.objective(**state)
    chosen, _ = family.free_variable()
    core = family.pack(probabilities=state["probabilities"]).reshape(K, -1)
    core = core[np.argsort(core[:, 0])]
    low, high = (np.where(chosen, core, np.clip(core + step, 0, 1)) for step in (-1e-6, 1e-6))
    found = probe(CrossedRelaxation(family, patience=1e-7, max_passes=400), low.ravel(), high.ravel(), value + 1e-6 * W)
    assert found is None or found[2] <= value + 1e-9 * (1 + abs(value))
    assert found is None or found[2] >= value - 1e-3 * W


@pytest.mark.parametrize("seed", range(3))
def test_the_least_bound_does_not_exceed_the_optimum(seed):
    """Nodes are kept up to a tenth of a nat above the incumbent, so that the bound is not cut off at it."""
    rng = np.random.default_rng(seed)
    problem = random_table(rng)
    family = engine.family(problem)
    search = Search(CrossedRelaxation(family), MixturePrimal(family, seed=0), -0.1, max_nodes=1_500)
    search.run()
    best = search.summary()[0]["objective"]
    assert search.least_bound <= min(best, best_of_em(problem, rng)) + 1e-9


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


@pytest.mark.parametrize("seed", range(3))
def test_results_do_not_depend_on_threads(seed):
    rng = np.random.default_rng(200 + seed)
    X = rng.integers(0, [3, 2, 2], (60, 3))
    X[rng.random(60) < 0.2, 1] = -1
    problem = gopfast.LatentClass(X, 2, missing=[-1])
    assert is_crossed(engine.family(problem))
    results = [gopfast.solve(problem, 0.01, n_threads=n, max_nodes=2_000) for n in (1, 2, 4)]
    assert len({(found.n_nodes, found.lower_bound, found.objective) for found in results}) == 1


def test_what_is_crossed():
    counts = np.random.default_rng(0).integers(1, 5, (3, 4)).astype(float)
    assert is_crossed(engine.family(table(counts, 2)))
    assert not is_crossed(engine.family(table(counts, 1)))
    assert is_crossed(engine.family(table(counts[:, :2], 2)))
    three = np.array([[i, j, k] for i in range(3) for j in range(3) for k in range(3)])
    assert is_crossed(engine.family(gopfast.CategoricalMixture(three, 2)))
    assert is_spanned(engine.family(table(counts, 2)))
    assert not is_spanned(engine.family(gopfast.CategoricalMixture(three, 2)))
    assert is_crossed(engine.family(gopfast.BernoulliMixture(three % 2, 2)))
    assert not is_crossed(engine.family(gopfast.CategoricalMixture(three, 17)))  # too many statistics
    seven = np.random.default_rng(0).integers(0, 2, (50, 7))
    assert is_crossed(engine.family(gopfast.LatentClass(seven, 2)))
    assert not is_crossed(engine.family(gopfast.LatentClass(seven, 3)))  # one of seven parameters
    seven[:, 0] += seven[:, 1]
    assert is_crossed(engine.family(gopfast.LatentClass(seven, 3)))  # two of eight
    seven[0, 0] = 9
    assert not is_crossed(engine.family(gopfast.LatentClass(seven, 3, missing=9)))  # the samples may lack it
    assert not is_crossed(engine.family(gopfast.CategoricalMixture(three[:, :2], 2, prior=1.5)))
    assert not is_crossed(engine.family(gopfast.GaussianMixture([[0.0], [1.0]], 2)))


def test_label_copies_are_told_apart_where_the_free_variable_is_the_users_first():
    """Boxes are not divided in it, and components are ordered by the first column: it is made the last."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.integers(0, n, 60) for n in (4, 2, 2, 2)])
    found = [
        gopfast.solve(gopfast.LatentClass(table, 2), 0.05, log=False, n_threads=1, relaxation="entropic")
        for table in (X, X[:, ::-1])
    ]
    assert all(result.status == "OPTIMAL" for result in found)
    assert found[0].objective == pytest.approx(found[1].objective, abs=1e-4)
    assert found[0].n_nodes < 1.3 * found[1].n_nodes  # twice as many otherwise
    chosen, _ = engine.family(gopfast.LatentClass(X, 2)).free_variable()
    assert not chosen[0]
