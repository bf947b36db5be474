"""The bound of many-column matrices by the marginal in two directions."""

import numpy as np
import pytest
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.closed_form import ceiling
from gopfast.mixtures.marginal import MarginalBound, constant_beside
from gopfast.mixtures.pricing import pricing_root
from tests.support import definitions
from tests.support.problems import objectives_on_the_way


@pytest.fixture(autouse=True)
def few_cells(monkeypatch):
    """Whatever there is time for bounds the objective."""
    monkeypatch.setattr(pricing_root, "MOST_OPEN_BYTES", 5_000_000)


def problem_of(seed, d, K, n=30, floor=None, flat=0):
    """Components apart in some directions; the last `flat` columns are constant."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 5.0 * rng.integers(K, size=(n, 1)) + 100.0
    if flat:
        X[:, d - flat :] = 7.0
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], n)
    floor = 10.0 ** rng.uniform(-2, 1, d) if floor is None else floor
    return gopfast.GaussianMixture(X, K, covariance="full", variance_floor=floor, sample_weight=weights)


def incumbent(problem):
    """The core's family, a solution, its objective."""
    family = engine.family(problem)
    search = Search(EntropicRelaxation(family), MixturePrimal(family, n_starts=20, seed=1), 0.01, max_nodes=1)
    search.run()
    fields, vector = search.summary()
    return family, vector, fields["objective"]


def learnt(problem, family, vector, limit):
    bound = MarginalBound(problem, family, vector, limit)
    while bound.step(np.inf):
        pass
    return bound


@pytest.mark.parametrize("seed", range(6))
def test_no_mixture_costs_less(seed):
    d, K = 3 + seed % 3, 2 + seed % 2
    problem = problem_of(seed, d, K, n=12 + 6 * (seed % 2))
    family, vector, objective = incumbent(problem)
    bound = learnt(problem, family, vector, objective)
    assert bound.lower > ceiling.least_objective(problem)
    assert np.isfinite(bound.lower)
    assert bound.lower <= min(objectives_on_the_way(problem, np.random.default_rng(seed), 20, 40))
    assert bound.lower <= objective


@pytest.mark.parametrize("seed", range(4))
def test_what_a_mixture_costs_more_than_its_marginal_is_at_least_the_constant(seed):
    """At any parameters at or above the floor, by definition in extended precision."""
    d, K = 3 + seed % 2, 2
    problem = problem_of(seed, d, K, n=8)
    rng, scale = np.random.default_rng(seed), np.sqrt(problem.variance_floor)
    rows = (problem.X / scale)[problem.sample_weight > 0]
    constant = constant_beside(problem, rows)
    B = np.linalg.qr(rng.standard_normal((d, 2)))[0]
    other = gopfast.GaussianMixture(
        rows @ B, K, covariance="full", variance_floor=1 - 1e-9,
        sample_weight=problem.sample_weight[problem.sample_weight > 0],
    )  # fmt: skip
    for trial in range(10):
        roots = rng.standard_normal((K, d, d)) * (0.0 if trial == 0 else 1.0)
        matrices = np.eye(d) + roots @ np.swapaxes(roots, 1, 2)
        means, share = rows[rng.choice(len(rows), K)], rng.dirichlet(np.ones(K))
        whole = definitions.objective(
            problem, share, means=means * scale, covariances=matrices * np.outer(scale, scale)
        )
        part = definitions.objective(other, share, means=means @ B, covariances=B.T @ matrices @ B)
        assert whole - part >= constant
    # nothing is given away: at matrices and means where the rest of every sample is at the mode, both are equal
    assert constant == pytest.approx(
        problem.total_weight * (0.5 * np.log(problem.variance_floor).sum() + 0.5 * (d - 2) * np.log(2 * np.pi)),
        abs=1e-6,
    )


def test_it_is_all_but_exact_where_the_other_columns_are_constant():
    """Then both mixtures have the same solutions, the rest of every matrix being on the floor."""
    problem = problem_of(3, 4, 2, n=24, floor=0.5, flat=2)
    family, vector, objective = incumbent(problem)
    bound = learnt(problem, family, vector, objective)
    flat = gopfast.GaussianMixture(
        problem.X[:, :2], 2, covariance="full", variance_floor=0.5, sample_weight=problem.sample_weight
    )
    best = gopfast.solve(flat, 0.05, time_limit=60).objective
    rest = problem.total_weight * np.log(2 * np.pi * 0.5)  # two columns of half that each
    assert bound.lower <= best + rest + 1e-6
    assert bound.lower >= best + rest - 0.1  # what prices and suprema lose at first


def test_a_search_has_it_as_its_bound():
    problem = problem_of(1, 3, 2, n=40, floor=0.01)
    known = gopfast.solve(problem, 0.01, max_nodes=100)
    result = gopfast.solve(problem, 0.01, max_nodes=700)
    assert result.lower_bound > known.lower_bound + 1.0
    assert result.lower_bound <= result.objective
    assert result.relaxation == known.relaxation


def test_where_the_marginal_cannot_be_built_there_is_no_bound(monkeypatch):
    problem = problem_of(2, 3, 2)
    family, vector, objective = incumbent(problem)
    monkeypatch.setattr(MarginalBound, "_marginal", lambda *_: None)
    bound = learnt(problem, family, vector, objective)
    assert bound.lower == -np.inf
    assert bound.n_passes == 0
