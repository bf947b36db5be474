"""The estimator of mixtures of regressions does what scikit-learn asks, and what the problem says."""

import numpy as np
import pytest
from scipy import stats

pytest.importorskip("sklearn")
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import gopfast
from gopfast import datasets
from gopfast.errors import InputError
from gopfast.report import Heartbeat

EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": "it has more regressors than samples",
    "check_regressors_no_decision_function": "predict_proba is of components, as of every mixture",
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [gopfast.GlobalRegressionMixture()], expected_failed_checks=lambda estimator: EXPECTED
)  # fmt: skip
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_the_fit_is_that_of_the_problem():
    x, y = datasets.load_co2data().T
    model = gopfast.GlobalRegressionMixture(2, noise_variance=4.0).fit(x[:, np.newaxis], y)
    problem = gopfast.RegressionMixture(x, y, 2, noise_variance=4.0)
    solution = gopfast.solve(problem).solution
    assert model.converged_ and model.gap_ <= 0.011 / 28
    np.testing.assert_allclose(model.coefficients_, solution.coefficients, rtol=1e-4)
    by_component = model.predict_component(x[:, np.newaxis])
    expected = problem.predict(x[:, np.newaxis], model.coefficients_, model.intercepts_)
    np.testing.assert_array_equal(by_component, expected)
    np.testing.assert_allclose(model.predict(x[:, np.newaxis]), expected @ model.weights_)
    np.testing.assert_allclose(
        model.predict_proba(x[:, np.newaxis], y), model.result_.solution.responsibilities, atol=1e-12
    )
    np.testing.assert_array_equal(
        model.classify(x[:, np.newaxis], y), model.result_.solution.responsibilities.argmax(axis=1)
    )
    np.testing.assert_array_equal(model.predict_proba(x[:3, np.newaxis]), np.tile(model.weights_, (3, 1)))


def test_components_may_share_a_variance():
    x, y = datasets.load_co2data().T
    model = gopfast.GlobalRegressionMixture(2, variance="shared", epsilon=1.0).fit(x[:, np.newaxis], y)
    assert model.variance_ == model.result_.solution.variance
    assert model.predict_proba(x[:, np.newaxis], y).shape == (28, 2)


def test_one_component_is_a_linear_regression():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(30, 3)), rng.uniform(0.5, 2.0, 30)
    y = X @ [1.0, 2.0, -1.0] + rng.normal(size=30)
    model = gopfast.GlobalRegressionMixture().fit(X, y, sample_weight=w)
    peer = LinearRegression().fit(X, y, sample_weight=w)
    np.testing.assert_allclose(model.predict(X), peer.predict(X), rtol=1e-8)
    assert model.score(X, y) == pytest.approx(peer.score(X, y))


def test_a_fit_that_is_not_proved_warns_its_caller_what_to_do():
    data = datasets.load_tonedata()
    with pytest.warns(ConvergenceWarning, match="GlobalRegressionMixture is not proved") as caught:
        gopfast.GlobalRegressionMixture(2, time_limit=0.0).fit(data[:, :1], data[:, 1])
    (warning,) = caught
    assert issubclass(warning.category, gopfast.NotProvedWarning)
    assert warning.filename == __file__


def test_ctrl_c_sets_the_attributes_and_is_raised(monkeypatch):
    def interrupted(problem, *arguments, **options):
        return gopfast.solve(problem, callback=lambda state: True)

    monkeypatch.setattr("gopfast.estimators.base.solve", interrupted)
    model, data = gopfast.GlobalRegressionMixture(2), datasets.load_tonedata()
    with pytest.raises(KeyboardInterrupt):
        model.fit(data[:, :1], data[:, 1])
    assert model.coefficients_.shape == (2, 1)
    assert not model.converged_


@pytest.mark.parametrize("verbose, kind", [(None, Heartbeat), (0, bool), (1, Heartbeat), (2, bool), ("bar", str)])
def test_verbose_is_that_of_all_estimators(monkeypatch, verbose, kind):
    asked = []

    def told(problem, epsilon, *, log, **options):
        asked.append(log)
        return gopfast.solve(problem, epsilon, log=False, **options)

    monkeypatch.setattr("gopfast.estimators.base.solve", told)
    x, y = datasets.load_co2data().T
    gopfast.GlobalRegressionMixture(verbose=verbose).fit(x[:, np.newaxis], y)
    assert isinstance(asked[0], kind)
    with pytest.raises(InputError, match="verbose"):
        gopfast.GlobalRegressionMixture(verbose=-1).fit(x[:, np.newaxis], y)


def patients(seed=4):
    """Rows of eight patients on two lines: regressors (18, 1), responses, labels of patients."""
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(8), [1, 2, 3, 4, 2, 2, 1, 3])
    x = rng.normal(size=18)
    return x[:, np.newaxis], np.where(of % 2, 1 - x, 1 + x) + 0.3 * rng.normal(size=18), np.array(list("hgfedcba"))[of]


def shares(logs, weights):
    """Return the probabilities of components by their log densities (m, K)."""
    found = np.exp(logs - logs.max(axis=1, keepdims=True)) * weights
    return found / found.sum(axis=1, keepdims=True)


def test_rows_of_a_group_are_of_one_component():
    X, y, of = patients()
    model = gopfast.GlobalRegressionMixture(2).fit(X, y, groups=of)
    problem = gopfast.RegressionMixture(X, y, 2, groups=of)
    assert model.converged_ and model.gap_ <= 0.011 / 8
    assert model.result_.objective == pytest.approx(gopfast.solve(problem).objective, abs=0.01)
    assert model.result_.objective < gopfast.solve(gopfast.RegressionMixture(X, y, 2)).objective - 1.0
    # of other rows, in groups of other names, from the definition
    rng = np.random.default_rng(1)
    Z, z, others = rng.normal(size=(7, 1)), rng.normal(size=7), np.array([30, 20, 30, 10, 20, 30, 10])
    logs = stats.norm(Z @ model.coefficients_.T + model.intercepts_, np.sqrt(model.variances_)).logpdf(z[:, np.newaxis])
    summed = np.array([logs[others == g].sum(axis=0) for g in others])
    np.testing.assert_allclose(model.predict_proba(Z, z, groups=others), shares(summed, model.weights_), atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(Z, z), shares(logs, model.weights_), atol=1e-12)
    np.testing.assert_array_equal(model.classify(Z, z, groups=others), (summed + np.log(model.weights_)).argmax(axis=1))
    np.testing.assert_allclose(
        model.predict_proba(X, y, groups=of), model.result_.solution.responsibilities, atol=1e-12
    )
    np.testing.assert_array_equal(model.predict_proba(Z, groups=others), np.tile(model.weights_, (7, 1)))


def test_counts_have_groups_and_trials_side_by_side():
    deaths, total, center, treated = datasets.load_betablocker().T
    X = treated[:, np.newaxis]
    model = gopfast.GlobalRegressionMixture(3, family="binomial").fit(X, deaths, n_trials=total, groups=center)
    assert model.converged_ and model.result_.objective == pytest.approx(158.30948, abs=0.01)
    order = np.random.default_rng(0).permutation(44)
    np.testing.assert_allclose(
        model.predict_proba(X[order], deaths[order], n_trials=total[order], groups=center[order]),
        model.result_.solution.responsibilities[order], atol=1e-12,
    )  # fmt: skip
    alone = model.predict_proba(X, deaths, n_trials=total)
    logs = stats.binom(total[:, np.newaxis], model.predict_component(X)).logpmf(deaths[:, np.newaxis])
    np.testing.assert_allclose(alone, shares(logs, model.weights_), atol=1e-6)  # least_count is part of the model


def test_groups_go_through_cross_validation_and_pipelines_as_scikit_learn_routes_them():
    X, y, of = patients()
    pipeline = make_pipeline(StandardScaler(), gopfast.GlobalRegressionMixture(2, epsilon=0.5))
    pipeline.fit(X, y, globalregressionmixture__groups=of)
    assert pipeline[-1].result_.solution.problem.total_weight == pytest.approx(8.0)
    with config_context(enable_metadata_routing=True):
        model = gopfast.GlobalRegressionMixture(2, variance_floor=0.01, epsilon=0.5)
        asked = {"cv": GroupKFold(4), "params": {"groups": of}, "return_estimator": True}
        found = cross_validate(model.set_fit_request(groups=True), X, y, **asked)
        weights = [fit.result_.solution.problem.total_weight for fit in found["estimator"]]
        np.testing.assert_allclose(weights, 6.0)  # two of eight patients are left out
        found = cross_validate(model.set_fit_request(groups=False), X, y, **asked)
        assert all(fit.result_.solution.problem.groups is None for fit in found["estimator"])


def test_groups_that_cannot_be_are_refused_by_name():
    X, y, of = patients()
    model = gopfast.GlobalRegressionMixture(2, epsilon=1.0)
    for groups, message in (
        (of[:5], r"groups must have shape \(18,\); got \(5,\)"),
        ("patient", "groups must be an array, one entry for each"),
        ([None, *of[1:]], "groups must be labels, none of them missing; that of sample 0 is"),
        ([*of[1:], np.nan], "groups must be labels, none of them missing; that of sample 17 is"),
        ([[1], [1, 2], *of[2:]], "groups must be labels of shape"),
        (np.ones(18), "n_components must be at most the number of groups, 1"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            model.fit(X, y, groups=groups)
    with pytest.raises(InputError, match="sample_weight must be one number for all rows of a group"):
        model.fit(X, y, sample_weight=np.arange(1.0, 19.0), groups=of)
    with pytest.raises(InputError, match="groups must not be given: the fit had none"):
        model.fit(X, y).predict_proba(X, y, groups=of)
    with pytest.raises(InputError, match="offset must be an array"):
        gopfast.GlobalRegressionMixture(family="poisson").fit(np.column_stack([X, X]), np.arange(18), offset="2")


def test_labels_of_groups_may_be_of_several_types():
    X, y, of = patients()
    mixed = [label if label < "d" else ord(label) for label in of]
    expected = gopfast.RegressionMixture(X, y, 2, groups=of)
    problem = gopfast.RegressionMixture(X, y, 2, groups=mixed)
    state = expected.maximize(np.random.default_rng(0).dirichlet(np.ones(2), 18))
    assert problem.objective(**state) == pytest.approx(expected.objective(**state), rel=1e-12)
