"""The chosen number of components is the one that full solves choose, and the intervals hold."""

import math

import numpy as np
import pytest
from support.datasets import acidity, galaxies

import gopfast
from gopfast import select_components
from gopfast.options import Options
from gopfast.result import Status
from gopfast.selection import FIRST_NODES, OUTER_BOUND_FROM, SelectionStatus
from gopfast.solver import MixtureSearch


def criteria(X, sizes, criterion, model=gopfast.GaussianMixture, **arguments):
    """Criterion of each K by a solve to a tight tolerance."""
    found = {}
    for K in sizes:
        problem = model(X, K, **arguments)
        result = gopfast.solve(problem, 1e-4)
        assert result.success
        price = 2.0 if criterion == "aic" else math.log(problem.total_weight)
        found[K] = -2.0 * result.elbo + price * problem.n_parameters
    return found


@pytest.mark.parametrize("criterion", ["bic", "aic"])
@pytest.mark.parametrize("covariance", ["known", "tied", "tied_spherical", "diag"])
def test_the_choice_is_that_of_full_solves(criterion, covariance):
    X, sizes = galaxies()[::2], [1, 2, 3]
    found = select_components(X, sizes, criterion, covariance=covariance)
    full = criteria(X, sizes, criterion, covariance=covariance)
    assert found.status is SelectionStatus.PROVED
    assert found.n_components == min(full, key=full.get)
    for one in found.candidates:
        assert one.lower <= full[one.n_components] + 1e-6
        assert one.upper >= full[one.n_components] - 3e-4
        if one is not found.best:
            assert one.lower >= found.best.upper
    assert found.result.solution.problem.n_components == found.n_components


def test_counts_choose_their_number_of_components():
    rng = np.random.default_rng(1)
    X = rng.poisson(np.array([2.0, 10.0])[rng.integers(2, size=60)])
    found = select_components(X, [1, 2, 3], model=gopfast.PoissonMixture)
    full = criteria(X, [1, 2, 3], "bic", gopfast.PoissonMixture)
    assert found.status is SelectionStatus.PROVED
    assert found.n_components == min(full, key=full.get) == 2


def test_losers_are_not_solved_to_the_end():
    X = acidity()
    found = select_components(X, [1, 2, 3], covariance="diag", variance_floor=0.01)
    assert found.status is SelectionStatus.PROVED
    full = gopfast.solve(gopfast.GaussianMixture(X, 3, covariance="diag", variance_floor=0.01), 1e-2)
    three = found.candidates[2]
    assert found.n_components == 2
    assert three.n_nodes < full.n_nodes
    assert three.upper - three.lower > 0.1


def test_a_bound_of_all_numbers_of_components_ends_those_far_too_large():
    found = select_components(galaxies(), [3, 8, 12], covariance="diag", variance_floor=0.09)
    assert found.status is SelectionStatus.PROVED
    assert found.n_components == 3
    assert max(one.n_nodes for one in found.candidates) < 2 * OUTER_BOUND_FROM
    for one in found.candidates[1:]:
        assert one.result.status is not Status.CUTOFF
        assert found.best.upper <= one.lower <= one.upper


def test_a_search_goes_on_where_it_stopped():
    """The nodes of all turns together are those of one search with the cutoff."""
    X, arguments = galaxies(), {"covariance": "diag", "variance_floor": 0.09}
    found = select_components(X, [2, 3], **arguments)
    two, three = found.candidates
    assert two.result.status is Status.CUTOFF and two.n_nodes > FIRST_NODES
    problem = gopfast.GaussianMixture(X, 2, **arguments)
    cutoff = 0.5 * (three.upper - math.log(len(X)) * problem.n_parameters)
    once = MixtureSearch(problem, Options.from_arguments(1e-4)).run(cutoff=cutoff)
    assert once.status is Status.CUTOFF
    assert once.n_nodes <= two.n_nodes <= 1.5 * once.n_nodes + FIRST_NODES


def test_the_order_of_the_sizes_does_not_matter():
    X = galaxies()
    one, other = (select_components(X, sizes, covariance="tied") for sizes in (range(1, 5), [3, 1, 4, 2]))
    assert str(one).splitlines()[:-1] == str(other).splitlines()[:-1]
    assert [candidate.n_components for candidate in other.candidates] == [1, 2, 3, 4]


def test_without_time_the_choice_is_undecided_and_the_intervals_hold():
    X = galaxies()
    found = select_components(X, [2, 3], covariance="diag", variance_floor=0.09, time_limit=0.0)
    assert found.status is SelectionStatus.UNDECIDED
    assert "open" in str(found)
    full = criteria(X, [2], "bic", covariance="diag", variance_floor=0.09)
    assert found.candidates[0].lower <= full[2] <= found.candidates[0].upper + 1e-6


def test_models_that_cannot_be_told_apart_are_undecided():
    """Two K's, one price: the model ignores the number of components asked for."""

    def model(X, n_components):
        return Same(X, n_components)

    class Same(gopfast.GaussianMixture):
        n_parameters = 4

    # One cluster: more components than one change nothing.
    found = select_components([3.0, 3.1, 3.3], [1, 2], model=model)
    assert found.status is SelectionStatus.UNDECIDED
    assert found.n_components == 1


def test_weights_count_as_repetitions():
    X = np.array([-6.0, -5.0, -4.5, 4.0, 5.0, 6.0])
    weight = np.array([3.0, 1.0, 2.0, 2.0, 4.0, 1.0])
    weighted = select_components(X, [1, 2], covariance="known", sample_weight=weight)
    repeated = select_components(np.repeat(X, weight.astype(int)), [1, 2], covariance="known")
    for one, other in zip(weighted.candidates, repeated.candidates, strict=True):
        assert one.upper == pytest.approx(other.upper, abs=1e-6)


def test_the_report_shows_every_interval():
    found = select_components(galaxies(), [1, 2, 3], covariance="known")
    text = str(found)
    assert text.startswith("PROVED: 3 components by BIC")
    for one in found.candidates:
        assert f"{one.lower:.6f}" in text and f"{one.upper:.6f}" in text
    assert text.count("loses") == 2 and text.count("chosen") == 1
    assert "n_components=3" in repr(found)


def test_a_single_size_is_proved_at_once():
    assert select_components([1.0, 2.0], [1]).status is SelectionStatus.PROVED


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"range": []}, "range"),
        ({"range": [2, 2]}, "range"),
        ({"range": [0]}, "range"),
        ({"range": 3}, "range"),
        ({"range": [99]}, "n_components"),
        ({"criterion": "icl"}, "criterion"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"time_limit": -1.0}, "time_limit"),
        pytest.param({"model": lambda X, K: 5}, "model", id="a model that is no problem"),
        ({"prior": "empirical"}, "prior"),
    ],
    ids=str,
)
def test_a_bad_argument_is_named(changed, named):
    with pytest.raises(gopfast.InputError, match=named):
        select_components([1.0, 2.0, 3.0], **{"range": [1, 2], **changed})
