"""The estimator of mixtures of regressions does what scikit-learn asks, and what the problem says."""

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import gopfast
from gopfast import datasets
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
    with pytest.raises(gopfast.errors.InputError, match="verbose"):
        gopfast.GlobalRegressionMixture(verbose=-1).fit(x[:, np.newaxis], y)
