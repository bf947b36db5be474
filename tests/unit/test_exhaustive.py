"""The brute force that the tests of the compiled bounds rely on."""

import numpy as np
import pytest
from scipy.special import logsumexp
from support import brute_force, problems
from support.exhaustive import brute_force_optimum
from support.problems import KINDS
from support.reference_em import em


@pytest.mark.parametrize("kind", ["known", "known, fixed prior", "known, empirical prior"])
@pytest.mark.parametrize("seed", range(2))
def test_agrees_with_the_search_written_apart(kind, seed):
    problem = problems.make(kind, seed, n=7, d=1)
    assert brute_force_optimum(problem) == pytest.approx(brute_force.global_optimum(problem).value, abs=1e-8)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith("multinomial")])  # slow, as missing
def test_no_run_of_em_ends_lower(kind):
    problem, rng = problems.make(kind, seed=3, n=6), np.random.default_rng(3)
    ends = [em(problem, rng.dirichlet(0.3 * np.ones(2), 6), tol=1e-10)[1][-1] for _ in range(20)]
    assert brute_force_optimum(problem) <= min(ends) + 1e-8


@pytest.mark.parametrize("kind", ["Poisson", "exponential"])
def test_no_point_of_a_fine_grid_is_lower_and_one_is_near(kind):
    problem = problems.make(kind, seed=5, n=8, d=1)
    best = brute_force_optimum(problem)
    T = problem.X[:, 0]
    ends = [1.0 / T.max(), 1.0 / T.min()] if kind == "exponential" else [max(T.min(), 1e-3), T.max()]
    rates = np.geomspace(*ends, 120)
    single = problems.make(kind, seed=5, n=8, d=1, K=1)
    densities = np.stack([single.log_densities(rates=[r])[:, 0] for r in rates])
    pi = np.linspace(0.01, 0.99, 50)[:, None]
    grid = min(
        (-logsumexp([np.log(pi) + densities[a], np.log1p(-pi) + densities[b]], axis=0).sum(axis=1)).min()
        for a in range(120)
        for b in range(a)
    )
    assert best - 1e-9 <= grid <= best + 0.02
