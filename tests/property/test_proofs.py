"""Proofs of random small problems: all are accepted, and none that says something false."""

import functools

import numpy as np
import pytest

import gopfast
from gopfast.checker import ProofError, check, tree
from tests.support import proofs
from tests.support.settings import EVERY, some

EPSILON = 0.1
SEEDS = range(4)


def changes():
    """Every family with every change, or with a third of them so that each is made."""
    return [
        (family, change) for i, family in enumerate(proofs.FAMILIES) for j, change in enumerate(proofs.CHANGES)
        if (i + j) % EVERY == 0
    ]  # fmt: skip


def proved(tmp_path, problem, **options):
    path = tmp_path / "proof.npz"
    result = gopfast.solve(problem, EPSILON, proof=path, n_threads=1, max_nodes=4000, log=False, **options)
    return path, result


@pytest.mark.parametrize("family", proofs.FAMILIES)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_proof_is_accepted_and_no_solution_is_below_its_bound(tmp_path, family, seed):
    problem = proofs.random_problem(np.random.default_rng([seed, len(family)]), family)
    path, result = proved(tmp_path, problem)
    found = check(path, *proofs.arguments(problem), problem)
    assert found.lower_bound >= result.lower_bound - 1e-9 * (1 + abs(result.lower_bound))
    assert found.objective == pytest.approx(result.objective, rel=1e-9, abs=1e-9)
    if result.success:
        assert found.gap <= EPSILON * (1 + 1e-9)
    # what is attained is not below what is proved, by the model's own formula at parameters that EM finds
    state = result.solution.parameters
    for _ in range(30):
        tau = problem.responsibilities(result.solution.weights, **state)
        state = problem.maximize(tau, weights=result.solution.weights, **state)
        weights = state.pop("weights")
        assert problem.objective(weights, **state) >= found.lower_bound - 1e-9


@pytest.mark.parametrize("family", proofs.FAMILIES)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_slopes_bound_a_leaf_above_a_mixture_in_it(family, seed):
    """Any slopes and weights: of the whole, and of leaves of a random tree, one of which holds each mixture."""
    rng = np.random.default_rng([seed, len(family), 3])
    problem = proofs.random_problem(rng, family)
    bounds, reference = proofs.bounds_of(problem, rng)
    K, n = problem.n_components, bounds.rules.n_features
    splits, points, last = np.zeros((0, 4), int), [], 0
    cells = np.where(np.isinf(bounds.rules.high), bounds.rules.low + 5.0, bounds.rules.high), bounds.rules.low
    for _ in range(int(rng.integers(0, 4))):  # the last leaf in two
        j = int(rng.integers(len(cells[0])))
        own = bounds.rules.n_cell
        variable = int(rng.integers(K)) * own + j if j < own else (K - 1) * own + j
        splits = np.concatenate([splits, [[last, variable, 2 * len(splits) + 1, 2 * len(splits) + 2]]])
        points.append(cells[1][j] + rng.random() * (cells[0][j] - cells[1][j]))
        last = splits[-1, 3]
    _, low, high, empty = tree.leaves(splits, np.array(points), bounds.rules, K, 0)
    low, high = low[~empty], high[~empty]
    found = np.full(len(low), -np.inf)
    for _ in range(40):
        # where a cell is endless most slopes prove nothing
        slopes = rng.normal(size=(len(low), K, bounds.rules.n_slopes)) * rng.choice([0.03, 0.3, 2.0])
        if bounds.rules.has_squares:
            squares = slopes[..., n:] if bounds.problem.family in ("tied_diag", "mixed") else slopes[..., [n]]
            slopes[..., n:] = np.abs(squares[:, :1] if bounds.rules.tied else squares)
        elif bounds.rules.tied:  # one variance for all
            slopes[..., 0] = slopes[:, :1, 0]
        elif bounds.problem.family == "tied":  # one matrix for all
            slopes[..., bounds.rules.n_columns:] = slopes[:, :1, bounds.rules.n_columns:]
        logs = rng.normal(size=(len(low), problem.n_weights)) * rng.choice([0.0, 1.0])
        with np.errstate(all="ignore"):
            found = np.fmax(found, bounds.of(low, high, slopes, logs, reference))
    least = min(gopfast.local.em(problem, random_state=s).objective for s in range(4))
    assert np.isfinite(found).all() or family == "endless"
    assert found.min() <= least + 1e-9 * (1 + abs(least))


@functools.cache
def drawn(family, seed, **options):
    """A problem, and what a search that writes a proof finds of it."""
    problem = proofs.random_problem(np.random.default_rng([seed, len(family)]), family)
    return problem, gopfast.solve(problem, EPSILON, proof=True, n_threads=1, max_nodes=4000, log=False, **options)


@pytest.mark.parametrize(("family", "change"), changes())
def test_a_changed_proof_is_refused_or_still_true(tmp_path, family, change):
    """Changes of one problem each, or three problems of each family that the changes share."""
    turn, path = list(proofs.CHANGES).index(change), tmp_path / "proof.npz"
    rng = np.random.default_rng([turn, len(family), 1])
    problem, result = drawn(family, turn if EVERY == 1 else turn // EVERY % 3, **proofs.options(family, change))
    header, arrays = proofs.parts(result.proof.data)
    X, weights = (part.copy() for part in proofs.arguments(problem))
    X, weights = proofs.CHANGES[change](rng, header, arrays, X, weights)
    proofs.put(path, header, arrays)
    assert proofs.verdict(path, problem, X, weights, result.objective) in ("refused", "true")


@pytest.mark.parametrize("family", ["known", "diag", "bernoulli", "poisson"])
def test_a_search_with_a_wrong_bound_has_no_proof_of_it(tmp_path, family):
    """As if a bound of the core were too high: open nodes are dropped, and the rest is said to be all."""
    for seed in some(range(6)):
        problem = proofs.random_problem(np.random.default_rng([seed, 77]), family)
        path, result = proved(tmp_path, problem)
        header, arrays = proofs.parts(path)
        if len(arrays["splits"]) < 2:
            continue
        # the tree cut off at its root, whose two halves are leaves with the slopes of the first leaves
        arrays["splits"], arrays["points"] = arrays["splits"][:1], arrays["points"][:1]
        arrays["leaves"] = arrays["splits"][0, 2:]
        arrays["slopes"], arrays["log_weights"] = arrays["slopes"][:2], arrays["log_weights"][:2]
        proofs.put(path, header, arrays)
        with pytest.raises(ProofError, match="leaf|leaves"):
            check(path, *proofs.arguments(problem))


def far_from_the_origin():
    """Two variances of a column whose floats are an eighth of the floor's deviation apart."""
    steps = np.array([3, 0, 0, -3, -6, 0, 0, 0, -3, 6, 0, 0])
    X = -268435455.99995822 + steps * 4.65e-6
    return gopfast.GaussianMixture(X, 2, covariance="diag", variance_floor=6.3e-14)


def with_prices_of_many_magnitudes():
    """Columns of 10^10 deviations of the floor, of which prices prove nothing in floats."""
    rng = np.random.default_rng(4)
    X = np.stack([1e-3 * rng.normal(size=12), 88636.77 * rng.integers(0, 6, 12), rng.normal(size=12)], axis=1)
    return gopfast.GaussianMixture(X, 2, covariance="spherical", variance_floor=8.6e-10)


def with_a_heavy_prior():
    """Pseudo-observations that count for 10^8 samples."""
    return gopfast.BernoulliMixture([[1, 0]] * 4 + [[0, 1]], 2, prior=(1e8, 1.5),
                                    sample_weight=[10.0, 0.698, 0.678, 0.515, 1.27])  # fmt: skip


@pytest.mark.parametrize(("make", "gap"), [
    (far_from_the_origin, 0.02), (with_prices_of_many_magnitudes, np.inf), (with_a_heavy_prior, 0.005)
])  # fmt: skip
@pytest.mark.parametrize("epsilon", [0.1, 0.0015])
def test_a_proof_claims_what_the_checker_finds_in_its_own_boxes(make, gap, epsilon):
    """Rounding the ends of boxes in the user's units moves what a component costs by more than the tolerance."""
    problem = make()
    result = gopfast.solve(problem, epsilon, proof=True, n_threads=1, max_nodes=1000, log=False)
    found = check(result.proof, *proofs.arguments(problem), problem)
    assert found.lower_bound == pytest.approx(result.lower_bound, abs=1e-12)
    assert found.gap <= max(epsilon, gap)


@pytest.mark.parametrize("epsilon", [8.6e-4, 0.00104, 0.0012381656851153762, 0.0016])
def test_a_proof_of_large_counts_and_weights_has_the_margins_of_the_checker(epsilon):
    """Those of leaves are nearly as much as the tolerance keeps back: others than the writer reckoned with."""
    X = [[1007.0, 90.0, 0.0], [3036.0, 95.0, 0.0], [5.0, 97.0, 0.0], [992.0, 30.0, 0.0]]
    weights = [1.5802482214152884, 1000.0, 1.137778948638799, 1.5145120474302414]
    problem = gopfast.PoissonMixture(X, 2, sample_weight=weights)
    result = gopfast.solve(problem, epsilon, proof=True, n_threads=1, log=False)
    assert check(result.proof, *proofs.arguments(problem), problem).gap <= epsilon + 1e-5
