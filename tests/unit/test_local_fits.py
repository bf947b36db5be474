"""Local fits below which default floors stay, and the sample of rows that they are made of."""

from functools import partial

import numpy as np
import pytest
from support.problems import COVARIANCES

import gopfast
from gopfast.mixtures.problems import local_fits
from gopfast.mixtures.problems.covariance import KINDS, Diagonal, Full
from gopfast.mixtures.problems.floors import FLOOR_SHARE, default_floors
from gopfast.mixtures.problems.row_sample import MOST_ROWS, RowSample, row_numbers
from gopfast.models import GaussianMixture

every_covariance = pytest.mark.parametrize("covariance", COVARIANCES)


def clusters(n=600, distance=300.0, d=2, K=3, seed=0):
    """Normal clusters of standard deviation 1 along the first column."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 0] += distance * rng.integers(K, size=n)
    return X


def floors(X, covariance, K, weight=None):
    weight = np.ones(len(X)) if weight is None else weight
    return default_floors(X, weight, partial(KINDS[covariance].of_columns, K))


# The floor


@every_covariance
@pytest.mark.parametrize("distance", [10.0, 300.0, 1e5])
def test_the_floor_stays_below_clusters_at_any_distance(covariance, distance):
    """Of a column it was a share of the standard deviation, which grows with the distance of the clusters."""
    X = clusters(distance=distance)
    floor = np.broadcast_to(GaussianMixture(X, 3, covariance=covariance).variance_floor, 2)
    assert (floor < 0.3).all()
    share = FLOOR_SHARE**2 * X.var(axis=0).min()
    assert (floor > min(0.99 * share, 0.02)).all()  # a quarter to an eighth of the least variance, at most the share


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_the_floor_of_matrices_stays_below_directions_in_which_correlated_columns_are_narrow(covariance):
    rng = np.random.default_rng(1)
    x, width = rng.standard_normal(400), 0.01
    X = np.column_stack([x, x + width * rng.standard_normal(400)]) + 8.0 * rng.integers(2, size=(400, 1))
    floor = GaussianMixture(X, 2, covariance=covariance).variance_floor
    narrow = np.array([1.0, -1.0]) / np.sqrt(2.0)
    assert narrow**2 @ floor < 0.3 * width**2 / 2.0
    # columns by themselves are not narrow
    np.testing.assert_allclose(floors(X, "diag", 2), floors(X, "diag", 1))


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("covariance", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("name", ["load_iris", "load_wine", "load_breast_cancer"])
def test_no_fit_of_scikit_learns_falls_below_the_default_floor_unless_it_is_a_spike(name, covariance, K):
    datasets, mixture = pytest.importorskip("sklearn.datasets"), pytest.importorskip("sklearn.mixture")
    X = getattr(datasets, name)().data[:, :4]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    fit = mixture.GaussianMixture(K, covariance_type=covariance, n_init=5, random_state=0).fit(X)
    problem = GaussianMixture(X, K, covariance=covariance)
    tau = fit.predict_proba(X)
    n_rows = np.square(tau.sum(axis=0)) / np.square(tau).sum(axis=0)
    sound = np.array([True]) if covariance == "tied" else n_rows >= 2 * (X.shape[1] + 1)
    least = np.broadcast_to(problem.kind.floors(fit.covariances_), len(sound))
    assert (least[sound] > 1.0).all()


def test_a_few_close_samples_do_not_lower_the_floor():
    rng = np.random.default_rng(2)
    X, weight = rng.standard_normal((300, 1)), np.ones(303)
    spike = np.concatenate([X, 9.0 + 1e-5 * rng.standard_normal((3, 1))])
    assert floors(spike, "diag", 2) == pytest.approx(FLOOR_SHARE**2 * spike.var(axis=0))
    weight[-3:] = 50.0  # nor do samples that count often
    mean = weight @ spike / weight.sum()
    variance = weight @ (spike - mean) ** 2 / weight.sum()
    assert floors(spike, "diag", 2, weight) == pytest.approx(FLOOR_SHARE**2 * variance)
    some = np.concatenate([X, 9.0 + 1e-2 * rng.standard_normal((30, 1))])
    assert floors(some, "diag", 2) < 0.3 * 1e-4


def test_repeated_values_of_a_column_do_not_lower_the_floor():
    """Rows that differ in other columns share a value: a spike in this one alone."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 2))
    X[:200, 1] = 0.0  # and are a component of their own
    X[:200, 0] += 10.0
    diagonal, full = floors(X, "diag", 2), floors(X, "full", 2)
    share = FLOOR_SHARE**2 * X.var(axis=0)
    np.testing.assert_allclose(diagonal, share)
    np.testing.assert_allclose(full, share)


@every_covariance
def test_order_and_repetition_of_the_samples_do_not_change_the_floor(covariance):
    X = clusters(n=90)
    floor = floors(X, covariance, 3)
    order = np.random.default_rng(4).permutation(90)
    np.testing.assert_allclose(floors(X[order], covariance, 3), floor, rtol=1e-12)
    np.testing.assert_allclose(floors(np.repeat(X, 2, axis=0), covariance, 3), floor, rtol=1e-12)
    np.testing.assert_allclose(floors(X, covariance, 3, np.full(90, 2.0)), floor, rtol=1e-12)
    unused = np.vstack([X, X + 7e4])
    np.testing.assert_allclose(floors(unused, covariance, 3, np.repeat([1.0, 0.0], 90)), floor, rtol=1e-12)


@every_covariance
def test_the_floor_is_in_the_datas_units(covariance):
    X = clusters(n=120)
    np.testing.assert_allclose(floors(X * 2.0**20, covariance, 3), 2.0**40 * floors(X, covariance, 3), rtol=1e-12)
    np.testing.assert_allclose(floors(X + 2.0**20, covariance, 3), floors(X, covariance, 3), rtol=1e-6)


def test_the_floor_divides_the_share_by_a_power_of_2():
    X = clusters()
    ratio = FLOOR_SHARE**2 * X.var(axis=0) / floors(X, "diag", 3)
    np.testing.assert_allclose(np.log2(ratio), np.rint(np.log2(ratio)), atol=1e-9)
    least = X[X[:, 0] < 150.0].var(axis=0)[0]
    assert 3.0 < least / floors(X, "diag", 3)[0] < 11.0


def test_all_models_that_are_compared_have_one_floor():
    X = clusters(n=150, distance=9.0, K=4)
    own = {K: GaussianMixture(X, K, covariance="diag").variance_floor for K in (1, 2, 3, 4)}
    choice = gopfast.select(X, range(1, 5), covariance="diag", time_limit=2.0)
    for candidate in choice.candidates:
        np.testing.assert_array_equal(candidate.problem.variance_floor, np.min(list(own.values()), axis=0))
    far = clusters(n=60, distance=300.0, K=2)[:, :1]
    larger = GaussianMixture(far, 1)._enlarged(2)
    np.testing.assert_array_equal(larger.variance_floor, GaussianMixture(far, 2).variance_floor)
    assert larger.variance_floor < GaussianMixture(far, 1).variance_floor
    given = GaussianMixture(far, 1, variance_floor=0.7)._enlarged(2)
    assert given.variance_floor == 0.7
    test = gopfast.lrt(GaussianMixture(far, 1), 1, time_limit=1.0)
    assert test.null.solution.problem.variance_floor == test.alternative.solution.problem.variance_floor


def test_a_sound_component_on_the_default_floor_is_told_first_with_what_a_smaller_one_gives():
    """A cluster so rare that the sample of rows has hardly any of it."""
    rng = np.random.default_rng(5)
    X = np.concatenate([rng.standard_normal(20_000), 50.0 + 1e-3 * rng.standard_normal(30)])[:, np.newaxis]
    problem = GaussianMixture(X, 2)
    result = gopfast.solve(problem, time_limit=2.0, n_threads=1)
    assert "sits on the default variance_floor: one 16 times smaller gives" in result.message
    told = float(result.caution.split("gives ")[1].split()[0])
    lower = GaussianMixture(X, 2, variance_floor=problem.variance_floor / 16)
    smaller = gopfast.solve(lower, time_limit=2.0, n_threads=1)
    assert told == pytest.approx(smaller.elbo - result.elbo, rel=0.05)
    given = gopfast.solve(GaussianMixture(X, 2, variance_floor=problem.variance_floor), time_limit=2.0, n_threads=1)
    assert given.caution == ""
    assert any("one 16 times smaller gives" in note for note in given.notes)


def test_far_outliers_do_not_hide_the_clusters():
    X = np.vstack([clusters(n=500, distance=1e4, K=2), [[1e9, 0.0]]])
    for covariance in ("diag", "full"):
        assert (floors(X, covariance, 3) < 1.0).all()


# The sample


@pytest.mark.parametrize("n", [10, MOST_ROWS, 5 * MOST_ROWS])
def test_parts_and_order_do_not_change_the_sample(n):
    rng = np.random.default_rng(n)
    X, weight = np.round(rng.standard_normal((n, 2)), 2), rng.uniform(size=n)
    whole = RowSample(2).add(X, weight)
    assert len(whole.rows) == min(MOST_ROWS, len(np.unique(X, axis=0)))
    order, parts = rng.permutation(n), RowSample(2)
    for part in np.array_split(order, 7):
        own = RowSample(2).add(X[part], weight[part])
        parts.add(own.rows, own.weight)
    np.testing.assert_array_equal(parts.rows, whole.rows)
    np.testing.assert_allclose(parts.weight, whole.weight)
    for row, total in zip(whole.rows[:5], whole.weight, strict=False):
        assert total == pytest.approx(weight[(X == row).all(axis=1)].sum())


def test_the_sample_is_spread_over_the_data():
    X = np.random.default_rng(6).standard_normal((50_000, 1))
    sample = RowSample(1).add(X, np.ones(len(X))).rows
    assert abs(sample.mean()) < 0.1 and abs(sample.std() - 1.0) < 0.1
    assert len(np.unique(row_numbers(X))) == len(X)
    np.testing.assert_array_equal(row_numbers(np.array([[0.0, 1.0]])), row_numbers(np.array([[-0.0, 1.0]])))


# The fits


def test_em_climbs_and_ends_where_the_problem_says():
    X = clusters(n=200, distance=4.0)
    problem = GaussianMixture(X, 3, covariance="full", variance_floor=1e-6)
    kind = Full.of_columns(3, np.full(2, 1e-6))
    mass = local_fits.nearest(X, np.ones(200), 3, np.random.default_rng(0))
    assert (mass.sum(axis=1) == 1.0).all()
    value, covariances, tau = local_fits.climb(kind, X, np.ones(200), mass)
    more, *_ = local_fits.climb(kind, X, np.ones(200), tau)
    assert more >= value
    weights, means = tau.mean(axis=0), tau.T @ X / tau.sum(axis=0)[:, np.newaxis]
    attained = -problem.objective(weights, means, kind.best(X, tau, weights, means))
    assert attained >= value - 1e-9 * abs(value)


def test_fewer_distinct_rows_than_components_are_taken():
    X = np.repeat([[0.0], [1.0], [5.0]], 4, axis=0)
    for covariance in ("diag", "full", "tied"):
        np.testing.assert_allclose(floors(X, covariance, 5), FLOOR_SHARE**2 * X.var(axis=0))
    assert Diagonal.of_columns(2, np.ones(3)).n_features == 3


@every_covariance
@pytest.mark.parametrize("weight", [[1.8e-311, 1.0], [1.6e128, 2.4e-187, 2e-323], [1e150, 1e-150, 1.0, 1e150] * 3])
def test_weights_of_extreme_ratios_have_a_floor_or_one_error(covariance, weight):
    """Draws of the trial fits had probabilities that were none."""
    X = np.random.default_rng(7).normal(size=(len(weight), 2))
    try:
        floor = GaussianMixture(X, 2, covariance=covariance, sample_weight=weight).variance_floor
    except gopfast.InputError as error:
        assert "variance_floor must be at least" in str(error) or "underflows" in str(error)
    else:
        assert np.isfinite(floor).all() and np.min(floor) > 0.0
