"""Resamples are solved to their proved optimum, components matched; the likelihood-ratio test and its bounds."""

import io
import math

import numpy as np
import pytest
from support.datasets import galaxies

import gopfast
from gopfast.inference.likelihood_ratio import _share
from gopfast.inference.resampling import _aligned, resampled, simulated
from gopfast.report import Tally


def problem(K=2, **arguments):
    return gopfast.GaussianMixture(galaxies(), K, **{"covariance": "diag", "variance_floor": 0.09, **arguments})


@pytest.fixture(scope="module")
def found():
    return gopfast.bootstrap(problem(), 30, random_state=4)


def test_every_resample_is_solved_to_its_optimum(found):
    assert found.n_proved == 30 and found.kind == "nonparametric"
    assert (found.lower_bounds <= found.objectives).all() and np.ptp(found.objectives) > 1.0
    seed = np.random.SeedSequence(4).spawn(30)[7]
    again = gopfast.solve(resampled(problem(), np.random.default_rng(seed)), 1e-3)
    assert found.lower_bounds[7] - 1e-3 <= again.objective <= found.objectives[7] + 1e-6


def test_a_resample_repeats_samples_and_keeps_the_floor():
    default = gopfast.GaussianMixture(galaxies(), 3, covariance="diag")
    rng = np.random.default_rng(0)
    for _ in range(5):
        one = resampled(default, rng)
        assert one.total_weight == 82.0 and set(one.X[:, 0]) <= set(galaxies().ravel())
        assert one.variance_floor == default.variance_floor
        assert one.n_samples == len(one.X) == len(one.sample_weight)
    few = gopfast.GaussianMixture([1.0, 2.0, 9.0], 3, covariance="known")
    assert all(resampled(few, rng).n_samples == 3 for _ in range(20))


def test_errors_do_not_depend_on_the_number_of_processes(found):
    pytest.importorskip("joblib")
    other = gopfast.bootstrap(found.fit, 30, random_state=4, n_jobs=2)
    np.testing.assert_array_equal(other.objectives, found.objectives)
    np.testing.assert_array_equal(other.parameters["means"], found.parameters["means"])


def test_components_keep_their_names(found):
    """Whatever the order in which a resample's fit has them."""
    fit = found.fit.solution
    state = {"weights": fit.weights, **fit.parameters}
    turned = {name: value[::-1].copy() for name, value in state.items()}
    for name, value in _aligned(fit, turned).items():
        np.testing.assert_array_equal(value, state[name])
    assert np.abs(found.parameters["means"][:, 1, 0] - fit.means[1, 0]).max() < 5.0


def test_standard_errors_are_near_those_of_the_observed_information():
    """Of well separated components and many samples."""
    rng = np.random.default_rng(2)
    X = np.concatenate([rng.normal(-5.0, 1.0, 150), rng.normal(5.0, 2.0, 150)])
    for kind in "nonparametric", "parametric":
        fit = gopfast.solve(gopfast.GaussianMixture(X, 2, covariance="diag"))
        one = gopfast.bootstrap(fit, 100, kind=kind, random_state=1)
        expected = {(e.component, e.parameter): e.error for e in fit.summary().estimates}
        for k in range(2):
            assert one.standard_errors["means"][k, 0] == pytest.approx(expected[k, "mean"], rel=0.35)
            assert one.standard_errors["covariances"][k, 0] == pytest.approx(expected[k, "variance"], rel=0.5)
        low, high = one.interval(0.9)["means"]
        assert (low < fit.solution.means).all() and (fit.solution.means < high).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda: gopfast.PoissonMixture(np.random.default_rng(0).poisson([[2], [9]], (2, 20)).ravel(), 2),
        lambda: gopfast.ExponentialMixture(np.random.default_rng(0).exponential([[1], [20]], (2, 20)).ravel(), 2),
        lambda: gopfast.BernoulliMixture(np.random.default_rng(0).random((20, 3)) < 0.4, 2, prior=(2.0, 2.0)),
        lambda: gopfast.CategoricalMixture(np.random.default_rng(0).integers(3, size=(20, 2)), 2, prior=2.0),
        lambda: gopfast.LatentClass([["a", "b"], ["a", None], ["b", "b"], [None, "c"]] * 5, 2, prior=2.0),
        lambda: gopfast.GaussianMixture([-10, -10, 5, 25], 2, prior="empirical", posterior="gaussian"),
    ],
)
@pytest.mark.parametrize("kind", ["nonparametric", "parametric"])
def test_all_families_are_resampled(make, kind):
    one = gopfast.bootstrap(make(), 3, kind=kind, epsilon=0.5, time_limit=5.0)
    assert one.weights.shape == (3, 2) and str(one).startswith(f"{kind} bootstrap: 3 resamples")
    for name, error in one.standard_errors.items():
        for array in error if isinstance(error, tuple) else (error,):
            assert np.isfinite(array).all(), name


def test_what_was_missing_is_missing_in_data_drawn_from_a_fit():
    table = [["a", "b"], ["a", None], ["b", "b"], [None, "c"]] * 25
    fit = gopfast.solve(gopfast.LatentClass(table, 1))
    drawn = simulated(fit.solution, np.random.default_rng(0))
    assert 0.1 < (drawn.X == -1).mean() < 0.4 and not ((drawn.X == -1).all(axis=1)).any()


def test_a_limit_is_told():
    X = np.random.default_rng(0).standard_normal((80, 3))
    hard = gopfast.GaussianMixture(X, 4, covariance="diag")
    one = gopfast.bootstrap(hard, 2, time_limit=0.0)
    assert one.n_proved == 0 and "2 resamples reached a limit first" in str(one)


def test_resamples_are_a_table(found):
    pytest.importorskip("pandas")
    frame = found.to_frame()
    assert len(frame) == 30 and frame["proved"].all()
    np.testing.assert_array_equal(frame["means[1, 0]"], found.parameters["means"][:, 1, 0])


def test_the_likelihood_ratio_of_one_against_two():
    test = gopfast.lrt(problem(1), 19, random_state=1)
    one, two = (gopfast.solve(problem(K), 1e-3).objective for K in (1, 2))
    low, high = test.statistic_bounds
    assert low <= 2.0 * (one - two) <= high + 1e-9 and test.statistic == pytest.approx(2.0 * (one - two), abs=0.05)
    assert test.n_components == 1 and test.proved.all() and (test.resampled >= -0.05).all()
    assert test.p_value == 0.05 == test.p_value_bounds[0] == test.p_value_bounds[1]
    assert "1 against 2 components" in str(test)


def test_under_the_null_the_p_value_is_not_small():
    X = np.random.default_rng(8).normal(size=40)
    test = gopfast.lrt(gopfast.GaussianMixture(X, 1, covariance="diag", variance_floor=0.04), 19)
    low, high = test.p_value_bounds
    assert 0.05 <= low <= test.p_value <= high <= 1.0 and test.p_value > 0.1


def test_bounds_of_the_p_value_hold_what_the_tolerance_leaves_open():
    """With a tolerance of a nat and more, the statistics overlap."""
    wide = gopfast.lrt(problem(2), 9, epsilon=20.0)
    low, high = wide.p_value_bounds
    assert low <= wide.p_value <= high and low < high
    exact = gopfast.lrt(problem(2), 9, epsilon=0.01)
    assert low <= exact.p_value <= high
    assert wide.proved.sum() < 9 and exact.proved.all()
    assert _share([1.0, 2.0, 3.0], 2.0) == 0.75


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: gopfast.bootstrap([1.0, 2.0]), "fit"),
        (lambda: gopfast.bootstrap(problem(), 0), "n_resamples"),
        (lambda: gopfast.bootstrap(problem(), 2, kind="block"), "kind"),
        (lambda: gopfast.bootstrap(problem(), 2, epsilon=0.0), "epsilon"),
        (lambda: gopfast.bootstrap(problem(), 2, n_jobs=0), "n_jobs"),
        (lambda: gopfast.bootstrap(problem(), 2).interval(1.0), "level"),
        (lambda: gopfast.lrt(gopfast.KMeans([[1.0], [2.0]], 1)), "problem"),
        (lambda: gopfast.lrt(problem(covariance="known", variance_floor=None, prior=4.0)), "prior"),
        (lambda: gopfast.lrt(gopfast.GaussianMixture([1.0, 2.0], 2, covariance="known")), "samples"),
    ],
)
def test_a_bad_argument_is_named(call, named):
    with pytest.raises(gopfast.InputError, match=named):
        call()


def test_tasks_are_counted_on_a_stream():
    stream = io.StringIO()
    with Tally(3, "resamples", stream) as tally:
        assert [tally.count(one) for one in "abc"] == ["a", "b", "c"]
    assert "1 of 3 resamples" in stream.getvalue()
    assert math.isinf(Tally(3, "resamples", False).count(math.inf))
