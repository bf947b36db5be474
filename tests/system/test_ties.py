"""Tied, rounded and lattice data: better incumbents turn up in the tree, and components sit on single values."""

import numpy as np
import pytest
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search
from support.histories import first_incumbent
from support.tied import tied

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.data import ties
from gopfast.result import Status

# Below the step of these data, where components can sit on single values; the default knows better.
NARROW = {"covariance": "diag", "variance_floor": 0.005}


def lattice(seed, n_features=1):
    rng = np.random.default_rng(seed)
    n_samples = int(rng.integers(4, 60))
    return tied(rng, seed % 4, (n_samples, n_features), least_values=3)


def problems():
    for seed in range(24):
        X = lattice(seed)
        yield pytest.param(gopfast.GaussianMixture(X, 2, **NARROW), id=f"diag-{seed}")
        yield pytest.param(gopfast.PoissonMixture(np.abs(np.round(X)), 2), id=f"poisson-{seed}")
    for seed in range(8):
        X = lattice(seed, 2)
        yield pytest.param(gopfast.GaussianMixture(X, 2, covariance="spherical"), id=f"spherical-{seed}")
        yield pytest.param(gopfast.GaussianMixture(X, 2, covariance="full"), id=f"full-{seed}")
        yield pytest.param(gopfast.GaussianMixture(X, 2, covariance="known"), id=f"known-{seed}")


@pytest.mark.parametrize("problem", list(problems()))
def test_a_solution_solved_again_from_itself_has_the_same_status(problem):
    first = gopfast.solve(problem, max_nodes=2000, n_threads=1)
    again = gopfast.solve(problem, max_nodes=2000, n_threads=1, start=first)
    assert first.status is not Status.NUMERICAL
    assert again.status is Status.OPTIMAL or first.status is not Status.OPTIMAL
    assert again.objective <= first.objective + 1e-5  # EM stops short of its limit


def without_ties(problem, **options):
    """Search whose starts know nothing of ties, so that the tree must find the incumbent."""
    family = engine.family(problem)
    search = Search(EntropicRelaxation(family), MixturePrimal(family, seed=1), 0.01, **options)
    search.run()
    return search, search.summary()[0]


@pytest.mark.parametrize("seed", range(40))
def test_an_incumbent_found_in_the_tree_closes_it(seed):
    """Nodes bounded against the limit of the first incumbent used to keep their unfinished bounds for good."""
    X = np.random.default_rng(seed).integers(1, 6, 50).astype(float)
    search, fields = without_ties(gopfast.GaussianMixture(X, 2, **NARROW), max_nodes=5000)
    assert search.reason == Status.OPTIMAL
    assert fields["objective"] - fields["lower_bound"] <= 0.01


def test_some_of_these_incumbents_are_found_in_the_tree():
    """Otherwise the test above would test nothing."""
    later = 0
    for seed in range(40):
        X = np.random.default_rng(seed).integers(1, 6, 50).astype(float)
        _, fields = without_ties(gopfast.GaussianMixture(X, 2, **NARROW), max_nodes=5000)
        later += first_incumbent(fields["history"])[3] > fields["objective"] + 0.01
    assert later >= 10


def test_losses_of_summaries_follow_the_incumbent():
    """Counts as Gaussian data: the first incumbent is wide, the best on one value, where coarse grids are blind."""
    X = np.random.default_rng(1).poisson(3, 1000).astype(float)
    problem = gopfast.GaussianMixture(X, 2, covariance="diag", variance_floor=0.0025 * X.var())
    search, fields = without_ties(problem, max_nodes=2000)
    assert search.reason == Status.OPTIMAL
    assert fields["objective"] == pytest.approx(1757.82276, abs=1e-4)


def test_starts_look_at_ties():
    for seed in range(20):
        X = np.random.default_rng(seed).integers(1, 6, 50).astype(float)
        result = gopfast.solve(gopfast.GaussianMixture(X, 2, **NARROW), n_threads=1)
        assert first_incumbent(result.history)[3] <= result.objective + 1e-3


def test_numerical_is_earned():
    """Rounding is what keeps the gap open: the result says by how much, and that is more than the tolerance."""
    X = np.random.default_rng(0).standard_normal(30)
    problem = gopfast.GaussianMixture(X, 2, covariance="diag", variance_floor=0.05**2 * X.var())
    result = gopfast.solve(problem, epsilon=1e-14, n_threads=1, max_nodes=50_000)
    # how many nodes it takes until none can be split depends on the kernel's instruction set
    assert result.status in (Status.NUMERICAL, Status.NODE_LIMIT)
    assert 1e-14 < result.rounding_margin < 1e-9
    assert result.gap <= 8.0 * result.rounding_margin
    assert ("rounding margin" in result.message) is (result.status is Status.NUMERICAL)


class TestGroups:
    def test_finds_the_heaviest_values_of_each_column(self):
        X = np.array([[1.0, 5.0], [1.0, 6.0], [1.0, 7.0], [2.0, 7.0], [3.0, 8.0]])
        found = [set(group) for group in ties.groups(X, np.ones(5))]
        assert found == [{0, 1, 2}, {2, 3}]

    def test_counts_weights_and_leaves_out_samples_without(self):
        X = np.array([[9.0], [1.0], [1.0], [2.0], [2.0]])
        found = [set(group) for group in ties.groups(X, np.array([0.0, 1.0, 1.0, 5.0, 5.0]))]
        assert found == [{2, 3}]

    def test_rows_that_are_equal_in_all_columns_are_a_group(self):
        X = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0], [4.0, 5.0]])
        assert [0, 1] in [list(group) for group in ties.groups(X, np.ones(4))]

    def test_no_ties(self):
        assert ties.groups(np.arange(10.0)[:, np.newaxis], np.ones(10)) == []

    def test_constant_columns_and_equal_samples_are_no_group(self):
        assert ties.groups(np.ones((5, 1)), np.ones(5)) == []
