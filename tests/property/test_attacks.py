"""The fuzzer of bench/fuzz.py in short: no family may lose a known solution, bound it from above, or prove too much.

Problems have ties, lattices, constant and dependent columns, offsets, other units, weights and counts of all sizes and
priors at 1; references are the models' definitions in extended precision. `make fuzz` runs millions of these.
"""

import numpy as np
import pytest
from fuzzing import boxes, classes, clusters, definitions, generator, searches
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.probe import root_box
from support import problems
from support.settings import EVERY

import gopfast
from gopfast.errors import InputError
from gopfast.mixtures import engine

N_BOX_CASES, N_NEGATIVE_CASES = (25, 5) if EVERY == 1 else (5, 1)
MOST_REFUSED = 20  # problems beyond these
# A search's nodes; full matrices take long over one.
NODES = 150
# What long runs found: kind, family, seed.
FOUND = [
    ("searches", "full_2", 9700000034),  # OPTIMAL, then NUMERICAL from its own solution: rounded matrices
    ("negative", "regression_known", 9),  # places of a column far from 0 were no places
    ("searches", "regression", 40),  # rounded coefficients: OPTIMAL, then NUMERICAL from its own solution
    ("searches", "regression_known", 61),  # two samples of weight, fitted exactly: a margin was 0 / 0
    ("searches", "full_1", 9700000121),  # one component far from 0: its objective stood above that of its solution
]


def attack(run, name, seed):
    """A case of the fuzzer; what it found is the test's failure."""
    try:
        return run(name, seed)
    except InputError:
        return None


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", generator.NAMES)
def test_boxes_keep_known_parameters_and_bound_their_objective_from_below(name):
    tried = 0
    for seed in range(N_BOX_CASES + MOST_REFUSED):
        if seed >= N_BOX_CASES and tried > 4 * N_BOX_CASES:
            break
        found = attack(boxes.run, name, seed)
        tried += found[0] if found else 0
    assert tried > 4 * N_BOX_CASES


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", generator.NAMES)
def test_a_search_told_to_prove_one_nat_more_than_is_true_does_not(name):
    tried = 0
    for seed in range(N_NEGATIVE_CASES + MOST_REFUSED):
        if seed >= N_NEGATIVE_CASES and tried:
            break
        try:
            searches.run("negative", name, seed, max_nodes=NODES)
            tried += 1
        except InputError:
            pass
    assert tried


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind, name, seed", FOUND)
def test_what_long_runs_found_stays_mended(kind, name, seed):
    searches.run(kind, name, seed)


@pytest.mark.parametrize("kind", problems.KINDS)
def test_the_definitions_agree_with_the_problems(kind):
    """Two formulas of each model, written apart; otherwise the fuzzer's reference could be wrong."""
    rng = np.random.default_rng(0)
    for seed in range(5):
        problem = problems.make(kind, seed, sample_weight=rng.uniform(0.5, 2.0, 12))
        definition = definitions.define(problem)
        tau = rng.dirichlet(np.ones(problem.n_components), problem.n_samples)
        state = definition.best(tau)
        values = problem.maximize(tau)
        if problem.prior != "empirical":
            expected = problem.objective(**values, responsibilities=tau)
            assert float(definition.value(state, tau)[0]) == pytest.approx(expected, rel=1e-12)
            assert float(definition.value(state)[0]) == pytest.approx(problem.objective(**values), rel=1e-12)
        result = gopfast.solve(problem, max_nodes=20, n_threads=1)
        own = definition.value(definition.read(result.solution))[0]
        assert float(own) == pytest.approx(result.objective, rel=1e-9)


def test_an_attack_finds_a_bound_that_is_too_high():
    """A bound just above what a box holds, and a box that has lost its point, are failures."""
    problem = problems.make("diag", 0)
    definition, rng = definitions.define(problem), np.random.default_rng(0)
    family = engine.family(problem)
    relaxed = EntropicRelaxation(family)
    # at a fixed point of EM the relaxed dual of a box of no width is exact
    tau = definitions.define(problem, float).em(rng.dirichlet(np.ones(2), problem.n_samples), 5000, 1e-15)
    target = boxes.Target(definition, family, tau, rng)
    point, error = target.point.astype(float), target.error
    low, high = root_box(relaxed)
    boxes.attack_box(relaxed, target, point, error, point - error, point + error, 12.0, rng)
    target.value -= 1e-3
    with pytest.raises(boxes.Failure, match="bound"):
        for _ in range(20):
            boxes.attack_box(relaxed, target, point, error, point - error, point + error, 12.0, rng)
    with pytest.raises(boxes.Failure, match="empty|cut off"):
        boxes.attack_box(relaxed, target, high + 1.0, error, low, high, 12.0, rng)


@pytest.mark.parametrize(("attacks", "search_of_one", "saves_more"), [
    (classes, "FitSearch", "a class saves more"), (clusters, "CenterSearch", "a cluster saves more"),
])  # fmt: skip
def test_attacks_find_classes_that_save_more_and_objectives_below_a_bound(
    attacks, search_of_one, saves_more, monkeypatch
):
    """A supremum, a node's bound and a result's that are too good by 2 % are failures."""
    rng = np.random.default_rng(0)
    if attacks is classes:
        problem = gopfast.ClusterwiseRegression(rng.normal(size=12), rng.normal(size=12), 2)
    else:
        problem = gopfast.KMeans(rng.normal(size=(12, 2)), 3)
    assert attacks.attack_boxes(problem, rng) > 20
    assert attacks.attack_solve(problem, rng)[0] == 2
    with monkeypatch.context() as patch:
        bound = attacks.Node.bound
        patch.setattr(attacks.Node, "bound", lambda node, *others: [bound(node, *others), raised(node)][0])
        with pytest.raises(boxes.Failure, match="a node's bound"):
            for _ in range(20):
                attacks.attack_boxes(problem, rng)

    class Search(getattr(attacks, search_of_one)):
        def search(self, *arguments):
            sup, *others = super().search(*arguments)
            return 0.98 * sup, *others

    with monkeypatch.context() as patch:
        patch.setattr(attacks, search_of_one, Search)
        with pytest.raises(boxes.Failure, match=saves_more):
            for _ in range(50):
                attacks.attack_boxes(problem, rng)
    units = attacks.Search.in_users_units
    monkeypatch.setattr(attacks.Search, "in_users_units", lambda search, value: 1.02 * units(search, value))
    with pytest.raises(boxes.Failure, match="lower bound above"):
        for _ in range(20):
            attacks.attack_negative(problem, rng, max_nodes=200)


def raised(node):
    """Let a node claim more than is proved."""
    node.lower *= 1.02


@pytest.mark.parametrize("x", [1e-8, 0.5, 1.0, 1.0 + 1e-9, 31.7, 1e8, 1e14])
def test_log_gamma_is_exact_to_extended_precision(x):
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(40):
        own, exact = mpmath.mpf(str(definitions.log_gamma(x))), mpmath.loggamma(x)
        assert abs(own - exact) <= 100 * float(definitions.ROUND) * (1 + abs(exact) + x)


def test_masses_beside_huge_pseudo_counts_keep_their_rounding():
    """Found by the fuzzer: with a prior of 1e8 the masses' own digits are lost in sums, and a box was emptied."""
    tried, _ = boxes.run("categorical_prior", 9_400_000_047)
    assert tried > 100


def test_prices_that_did_not_settle_prove_nothing_false():
    """Found by the fuzzer: prices of the next turn were put beside the cells of the last one."""
    (tried, _), _ = searches.run("negative", "poisson_prior", 9_400_000_008)
    assert tried > 2  # and nothing was raised
