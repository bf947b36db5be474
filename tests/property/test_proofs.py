"""Proofs of random small problems: all are accepted, and none that says something false."""

import numpy as np
import pytest

import gopfast
from gopfast.checker import ProofError, check
from tests.support import proofs

EPSILON = 0.1
SEEDS = range(4)


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


@pytest.mark.parametrize("change", proofs.CHANGES)
@pytest.mark.parametrize("family", proofs.FAMILIES)
def test_a_changed_proof_is_refused_or_still_true(tmp_path, family, change):
    rng = np.random.default_rng([len(change), len(family)])
    problem = proofs.random_problem(rng, family)
    path, result = proved(tmp_path, problem)
    header, arrays = proofs.parts(path)
    X, weights = proofs.CHANGES[change](rng, header, arrays, *proofs.arguments(problem))
    proofs.put(path, header, arrays)
    assert proofs.verdict(path, problem, X, weights, result.objective) in ("refused", "true")


@pytest.mark.parametrize("family", ["known", "diag", "bernoulli", "poisson"])
def test_a_search_with_a_wrong_bound_has_no_proof_of_it(tmp_path, family):
    """As if a bound of the core were too high: open nodes are dropped, and the rest is said to be all."""
    for seed in range(6):
        problem = proofs.random_problem(np.random.default_rng([seed, 77]), family)
        path, result = proved(tmp_path, problem)
        header, arrays = proofs.parts(path)
        inner = np.flatnonzero(arrays["splits"] >= 0)
        if len(inner) < 2:
            continue
        # the tree cut off at its root, whose two halves are leaves with the slopes of the first leaves below them
        arrays["splits"], arrays["points"] = np.int32([arrays["splits"][0], -1, -1]), arrays["points"][[0, 0, 0]]
        arrays["slopes"], arrays["log_weights"] = arrays["slopes"][:2], arrays["log_weights"][:2]
        proofs.put(path, header, arrays)
        with pytest.raises(ProofError, match="leaf|leaves"):
            check(path, *proofs.arguments(problem))
