"""The default floor of free variances: spread, resolution, constant columns; and what a result says of spikes."""

import math
import pickle
from functools import partial

import numpy as np
import pytest
from support.problems import COVARIANCES

import gopfast
from gopfast.errors import InputError
from gopfast.mixtures import floor_components
from gopfast.mixtures.problems.covariance import Diagonal
from gopfast.mixtures.problems.floors import CONSTANT_FLOOR, FLOOR_SHARE, default_floors, resolution
from gopfast.models import GaussianMixture

RNG = np.random.default_rng(5)
CONTINUOUS = RNG.standard_normal(300)
ONES = np.ones(300)
every_covariance = pytest.mark.parametrize("covariance", COVARIANCES)


def floor(values, weight=None):
    """The default floor of one component, whose local fit is as wide as the column."""
    values = np.asarray(values, dtype=float)
    weight = np.ones(len(values)) if weight is None else weight
    return float(default_floors(values[:, None], weight, partial(Diagonal.of_columns, 1))[0])


def spread(values):
    return FLOOR_SHARE**2 * np.var(values)


# Resolution


@pytest.mark.parametrize("step", [1.0, 0.1, 0.25, 1e-3, 1 / 3, 2.54, 1e6, 1e-9])
@pytest.mark.parametrize("offset", [0.0, 17.3, -4e4])
def test_rounded_data_show_their_step(step, offset):
    values = step * (np.round(3.0 * CONTINUOUS) + offset)
    assert resolution(values) == pytest.approx(step, rel=1e-4)
    assert floor(values) == pytest.approx(0.25 * step**2, rel=1e-4)
    assert 0.25 * step**2 > spread(values)


def test_a_step_far_below_the_spread_leaves_the_floor_to_the_spread():
    values = np.round(CONTINUOUS, 2)
    assert resolution(values) == pytest.approx(0.01)
    assert floor(values) == pytest.approx(spread(values), rel=1e-12)
    assert resolution(values, least=0.02) == 0.0


@pytest.mark.parametrize("n", [4, 5, 8, 20, 300])
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("magnitude", [1e-8, 1.0, 1e8])
def test_continuous_data_have_no_step(n, seed, magnitude):
    rng = np.random.default_rng([n, seed])
    for values in (rng.standard_normal(n), rng.uniform(size=n), rng.exponential(size=n)):
        values = magnitude * (values + rng.integers(3))
        assert resolution(values) == 0.0
        assert floor(values) == pytest.approx(spread(values), rel=1e-9)


def test_noise_of_floats_hides_no_step():
    tenths = np.round(CONTINUOUS, 1)
    noisy = [
        np.array([sum([0.1] * abs(k)) * np.sign(k) for k in np.rint(10 * tenths).astype(int)]),  # 0.1 + 0.1 + ...
        tenths * 25.4 / 25.4,
        tenths.astype(np.float32).astype(float),
        tenths + 1e-16 * RNG.standard_normal(300),
    ]
    assert any(np.diff(np.unique(values)).min() < 1e-12 for values in noisy)
    for values in noisy:
        assert resolution(values) == pytest.approx(0.1, rel=1e-5)


@pytest.mark.parametrize("values", [[0, 10], [0, 5, 10], [1, 2, 9], [-10, 5, 25], [0.0, 1.5, 3.7, 8.1]])
def test_a_few_places_show_no_step(values):
    """Two or three places are equally apart too easily: they are clusters as likely as steps."""
    values = np.repeat(np.array(values, dtype=float), 20)
    assert resolution(values) == 0.0
    assert floor(values) == pytest.approx(spread(values), rel=1e-9)


def test_samples_without_weight_do_not_count():
    values, weight = np.append(np.round(CONTINUOUS), 0.123), np.append(ONES, 0.0)
    assert resolution(values) == 0.0
    assert floor(values, weight) == pytest.approx(0.25)


def test_a_step_is_the_same_in_any_unit_and_order():
    values = np.round(CONTINUOUS, 1) + 3.0
    order = RNG.permutation(300)
    for factor in (1e-6, 0.3, 1e7):
        assert floor(factor * values[order]) == pytest.approx(factor**2 * floor(values), rel=1e-6)


def test_many_samples_are_judged_as_all_of_them():
    values = np.round(RNG.standard_normal(20_000) * 3.0)
    assert floor(values) == 0.25
    continuous = RNG.standard_normal(20_000)
    assert floor(continuous) == pytest.approx(spread(continuous))
    # the finer part comes late
    late = np.append(np.round(CONTINUOUS.repeat(10)), np.round(CONTINUOUS, 1))
    assert resolution(late) == pytest.approx(0.1)


# The floor of each kind of covariance


@every_covariance
def test_the_floor_is_per_column_or_the_least_of_them(covariance):
    X = np.column_stack([np.round(CONTINUOUS), CONTINUOUS[::-1] * 30.0])
    found = GaussianMixture(X, 2, covariance=covariance).variance_floor
    columns = [0.25, spread(X[:, 1])]
    wanted = min(columns) if "spherical" in covariance else columns
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@every_covariance
def test_a_given_floor_is_kept(covariance):
    assert np.all(GaussianMixture(np.round(CONTINUOUS), 2, covariance=covariance, variance_floor=1e-4).variance_floor
                  == 1e-4)


# Constant columns


def with_constant(value=0.1, n=24, at=2):
    X = np.random.default_rng(0).normal(size=(n, 2)) * [1.0, 3.0] + 6.0 * (np.arange(n)[:, None] % 2)
    return np.insert(X, at, value, axis=1)


@every_covariance
@pytest.mark.parametrize("value", [0.0, 0.1, -2024.0, 1e9])
def test_a_constant_column_takes_the_least_floor_of_the_others(covariance, value):
    X, weight = with_constant(value), np.r_[0.0, np.ones(23)]
    X[0, 2] += 5.0  # a sample without weight has no say
    problem = GaussianMixture(X, 2, covariance=covariance, sample_weight=weight)
    others = GaussianMixture(X[:, :2], 2, covariance=covariance, sample_weight=weight)
    np.testing.assert_allclose(problem.variance_floor, np.min(others.variance_floor) if "spherical" in covariance
                               else [*others.variance_floor, others.variance_floor.min()], rtol=1e-12)


@every_covariance
def test_nothing_but_constant_columns_has_a_floor_too(covariance):
    problem = GaussianMixture(np.full((5, 2), 3.0), 1, covariance=covariance)
    assert np.all(problem.variance_floor == CONSTANT_FLOOR)
    result = gopfast.solve(problem)
    assert result.success
    np.testing.assert_allclose(result.solution.means, 3.0)


def test_a_column_that_only_rounding_moves_is_constant():
    X = np.column_stack([CONTINUOUS, 0.1 + 2.0**-56 * RNG.integers(0, 3, 300)])
    assert np.ptp(X[:, 1]) > 0.0
    np.testing.assert_allclose(GaussianMixture(X, 2, covariance="diag").variance_floor, spread(CONTINUOUS))
    far = np.column_stack([1e-12 * CONTINUOUS, 1e8 + 2.0**-26 * RNG.integers(0, 3, 300)])
    assert GaussianMixture(far, 2, covariance="diag").variance_floor[1] == np.square(np.ptp(far[:, 1]))


def test_a_variance_that_underflows_is_still_refused():
    with pytest.raises(InputError, match="^variance_floor must be given: the variance of a column of X underflows"):
        GaussianMixture(np.column_stack([1e-200 * CONTINUOUS, ONES]), 2, covariance="diag")


@pytest.mark.parametrize("covariance", ["known", "diag"])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_constant_column_changes_the_likelihood_by_a_constant_and_is_noted(covariance, at):
    X = with_constant(7.5, at=at)
    with_, without = (
        gopfast.solve(GaussianMixture(data, 2, covariance=covariance), epsilon=1e-5)
        for data in (X, np.delete(X, at, axis=1))
    )
    assert with_.success and without.success
    v = 1.0 if covariance == "known" else with_.solution.problem.variance_floor[at]
    constant = 0.5 * len(X) * math.log(2.0 * math.pi * v)
    assert with_.elbo == pytest.approx(without.elbo - constant, abs=2e-5)
    np.testing.assert_allclose(np.delete(with_.solution.means, at, axis=1)[:, 0].sum(),
                               without.solution.means[:, 0].sum(), rtol=1e-3)
    np.testing.assert_allclose(with_.solution.means[:, at], 7.5)
    (note,) = [note for note in with_.notes if note.startswith("constant in X")]
    assert f"column {at};" in note
    assert ("variance_floor" in note) is (covariance == "diag")
    assert not any("constant in X" in note for note in without.notes)


@every_covariance
@pytest.mark.parametrize("K", [1, 2])
def test_every_kind_is_solved_with_a_constant_column(covariance, K):
    """The bounds of matrices with such columns are tested with the families; here that they are taken at all."""
    problem = GaussianMixture(with_constant(), K, covariance=covariance)
    result = gopfast.solve(problem, max_nodes=50, n_threads=1)
    attained = problem.objective(result.solution.weights, **result.solution.parameters)
    assert result.lower_bound <= result.objective
    assert attained <= result.objective + 1e-9 * abs(result.objective)
    assert any("constant in X: column 2" in note for note in result.notes)
    assert not any("variances of components 0, 1" in note for note in result.notes)
    assert result.caution == ""


def test_digits_are_fitted():
    datasets = pytest.importorskip("sklearn.datasets")
    problem = GaussianMixture(datasets.load_digits().data, 10, covariance="diag")
    assert (problem.variance_floor > 0).all()
    result = gopfast.solve(problem, time_limit=0)
    assert math.isfinite(result.lower_bound) and math.isfinite(result.objective)
    (note,) = [note for note in result.notes if note.startswith("constant in X")]
    assert note.startswith("constant in X: columns 0, 32, 39;")


# Spikes


def tied(n=200, seed=7):
    """One cluster, rounded to tenths, and one value repeated too often."""
    values = np.round(np.random.default_rng(seed).normal(3.0, 0.4, n), 1)
    return np.append(values, np.full(n // 6, 3.1))


def first_line(something):
    return str(something).splitlines()[0]


@pytest.mark.parametrize("covariance", ["diag", "spherical", "full"])
def test_the_first_line_names_a_component_on_the_floor_on_few_values(covariance):
    result = gopfast.solve(GaussianMixture(tied(), 2, covariance=covariance, variance_floor=1e-4))
    assert result.status == "OPTIMAL"
    assert result.caution.startswith("component 1 sits on variance_floor, on 1 distinct value (3.1): a spike on ")
    assert first_line(result) == f"OPTIMAL: {result.status.meaning}; but {result.caution}"
    assert result.to_dict()["caution"] == pickle.loads(pickle.dumps(result)).caution == result.caution


def test_a_component_on_the_floor_that_has_many_values_is_no_spike():
    result = gopfast.solve(GaussianMixture(tied(), 2, covariance="diag", variance_floor=0.1))
    assert any("on variance_floor" in note for note in result.notes)
    assert result.caution == "" and first_line(result) == f"OPTIMAL: {result.status.meaning}"


def test_a_component_on_few_values_that_is_wider_than_the_floor_is_no_spike():
    X = np.append(np.random.default_rng(0).normal(size=60), [9.0, 10.0, 11.0])
    result = gopfast.solve(GaussianMixture(X, 2, covariance="diag", variance_floor=0.04))
    assert result.success and result.caution == ""


def test_of_several_columns_the_one_with_few_values_is_named():
    X = np.column_stack([np.random.default_rng(1).normal(size=len(tied())), tied()])
    problem = GaussianMixture(X, 2, covariance="diag", variance_floor=1e-4)
    state = {"weights": [0.8, 0.2], "means": [[0.0, 3.0], [0.0, 3.1]], "covariances": [[1.0, 0.16], [1.0, 1e-4]]}
    solution = gopfast.MixtureSolution.canonical(problem, **state)
    assert floor_components.caution(problem, solution).startswith(
        "component 1 sits on variance_floor, on 1 distinct value of column 1 (3.1): a spike on"
    )


@pytest.mark.parametrize("covariance", ["spherical", "tied_spherical", "full", "tied"])
def test_few_distinct_samples_are_named_where_variances_are_shared(covariance):
    X = np.repeat([[0.0, 0.0], [5.0, 1.0], [9.0, 7.0]], 4, axis=0)
    result = gopfast.solve(GaussianMixture(X, 3, covariance=covariance, variance_floor=0.01), max_nodes=200)
    assert result.caution.count("sits on variance_floor, on 1 distinct") == 3
    assert result.caution.endswith(
        "spikes on repeated, rounded or close values, which a larger variance_floor rules out"
    )


def test_more_spikes_than_fit_on_a_line_are_counted():
    X = np.repeat(np.arange(6.0) ** 2, 5)
    result = gopfast.solve(GaussianMixture(X, 6, covariance="diag", variance_floor=0.01), max_nodes=50)
    assert "; so do 3 more: spikes on" in result.caution


def test_known_variances_and_other_families_have_no_spikes():
    assert gopfast.solve(GaussianMixture(tied(), 2, covariance="known")).caution == ""
    assert gopfast.solve(gopfast.PoissonMixture(np.repeat([0, 9], 9), 2)).caution == ""


def test_iris_sepal_widths_are_one_cluster_by_default_and_a_spike_below_the_resolution():
    X = pytest.importorskip("sklearn.datasets").load_iris().data[:, 1]
    assert GaussianMixture(X, 2, covariance="diag").variance_floor == pytest.approx(0.05**2)
    choice = gopfast.select(X, range(1, 4), covariance="diag")
    assert (choice.status, choice.n_components) == ("PROVED", 1)
    assert "variance_floor" not in first_line(choice)
    spiked = gopfast.select(X, range(1, 3), covariance="diag", variance_floor=0.0005)
    assert (spiked.status, spiked.n_components) == ("PROVED", 2)
    assert "component 0 sits on variance_floor, on 1 distinct value (3)" in first_line(spiked)
    assert "on 1 distinct value (3)" in first_line(
        gopfast.certify(spiked.best.problem, spiked.result.solution, epsilon=0.5)
    )
