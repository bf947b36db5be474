"""The estimator of clusterwise least squares does what scikit-learn asks, and what the problem says."""

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import gopfast
from gopfast import GlobalClusterwiseRegression, datasets
from gopfast.errors import InputError

EXPECTED = {"check_sample_weight_equivalence_on_dense_data": "it has more regressors than samples"}
TONE = datasets.load_tonedata()
X, Y = TONE[:, :1], TONE[:, 1]


@parametrize_with_checks([GlobalClusterwiseRegression()], expected_failed_checks=lambda estimator: EXPECTED)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_the_fit_is_that_of_the_problem():
    model = GlobalClusterwiseRegression(2).fit(X, Y)
    result = gopfast.solve(gopfast.ClusterwiseRegression(X, Y, 2))
    assert model.converged_ and model.sum_of_squares_ == pytest.approx(0.902889, abs=1e-6)
    assert model.sum_of_squares_ * (1 - 1.1e-4) <= model.sum_of_squares_bound_ <= model.sum_of_squares_
    np.testing.assert_allclose(model.coefficients_, result.coefficients, rtol=1e-9)
    np.testing.assert_array_equal(model.labels_, result.labels)
    np.testing.assert_allclose(model.weights_, np.bincount(result.labels) / 150)
    by_class = model.predict_component(X)
    np.testing.assert_allclose(by_class, X * model.coefficients_[:, 0] + model.intercepts_, rtol=1e-12)
    assert np.square(Y[:, np.newaxis] - by_class).min(axis=1).sum() == pytest.approx(model.sum_of_squares_)
    np.testing.assert_allclose(model.predict(X), by_class @ model.weights_)
    np.testing.assert_array_equal(model.classify(X, Y), model.labels_)
    x, y = np.array([[1.4], [2.8], [2.0]]), np.array([2.1, 2.7, 2.6])
    away = np.abs(y[:, np.newaxis] - model.predict_component(x))
    np.testing.assert_array_equal(model.classify(x, y), away.argmin(axis=1))


def test_one_class_is_a_linear_regression():
    rng = np.random.default_rng(0)
    Z, w = rng.normal(size=(30, 3)), rng.uniform(0.5, 2.0, 30)
    y = Z @ [1.0, 2.0, -1.0] + rng.normal(size=30)
    for fit_intercept in (True, False):
        model = GlobalClusterwiseRegression(fit_intercept=fit_intercept).fit(Z, y, sample_weight=w)
        peer = LinearRegression(fit_intercept=fit_intercept).fit(Z, y, sample_weight=w)
        np.testing.assert_allclose(model.predict(Z), peer.predict(Z), rtol=1e-8)
        assert model.score(Z, y) == pytest.approx(peer.score(Z, y))
        assert model.intercepts_[0] == pytest.approx(peer.intercept_, rel=1e-8)


def test_weights_count_as_equal_rows():
    weights = np.arange(28) % 3
    gnp, co2 = datasets.load_co2data().T
    one = GlobalClusterwiseRegression(2).fit(gnp[:, np.newaxis], co2, sample_weight=weights)
    many = GlobalClusterwiseRegression(2).fit(np.repeat(gnp, weights)[:, np.newaxis], np.repeat(co2, weights))
    assert one.sum_of_squares_ == pytest.approx(many.sum_of_squares_, rel=1e-9)
    np.testing.assert_allclose(one.weights_, many.weights_)
    np.testing.assert_array_equal(np.repeat(one.labels_, weights), many.labels_)


def test_new_samples_are_of_classes_that_have_a_regression():
    model = GlobalClusterwiseRegression(3).fit([[0.0], [1.0], [2.0], [3.0]], [5.0, 6.0, 7.0, 8.0])
    assert model.sum_of_squares_ == 0.0 and sorted(model.weights_) == [0.0, 0.0, 1.0]
    own = int(model.weights_.argmax())
    assert model.classify([[1.0], [2.0]], [0.0, 7.1]).tolist() == [own, own]


def test_pipelines_and_searches_over_parameters_take_it():
    pipeline = make_pipeline(StandardScaler(), GlobalClusterwiseRegression(2)).fit(X, Y)
    assert pipeline[-1].sum_of_squares_ == pytest.approx(0.902889, abs=1e-6)
    search = GridSearchCV(GlobalClusterwiseRegression(rel_tol=0.1), {"n_clusters": [1, 2]}, cv=2).fit(X, Y)
    assert search.best_estimator_.converged_
    assert clone(GlobalClusterwiseRegression(3, rel_tol=0.5)).get_params()["rel_tol"] == 0.5


def test_a_fit_that_is_not_proved_warns_its_caller_what_to_do():
    with pytest.warns(ConvergenceWarning, match="GlobalClusterwiseRegression is not proved optimal: time") as caught:
        model = GlobalClusterwiseRegression(3, time_limit=0.0).fit(X, Y)
    (warning,) = caught
    assert issubclass(warning.category, gopfast.NotProvedWarning) and warning.filename == __file__
    assert "The sum of squares is at most" in str(warning.message) and "rel_tol" in str(warning.message)
    assert not model.converged_ and model.sum_of_squares_bound_ <= 0.377854 <= model.sum_of_squares_ + 1e-6


@pytest.mark.parametrize(
    "model, data", [(GlobalClusterwiseRegression(3), X), (gopfast.GlobalKMeans(12), TONE)], ids=["classes", "clusters"]
)
def test_ctrl_c_sets_the_attributes_and_is_raised(monkeypatch, model, data):
    def interrupted(problem, **options):
        return gopfast.solve(problem, callback=lambda state: True)

    monkeypatch.setattr("gopfast.estimators.partition.solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(data, Y)
    assert model.labels_.shape == (150,) and not model.converged_


@pytest.mark.parametrize(
    "given, data, message",
    [
        ({"n_clusters": 0}, (X, Y), "n_clusters must be"), ({"n_clusters": 151}, (X, Y), "n_clusters must be"),
        ({"fit_intercept": "yes"}, (X, Y), "fit_intercept must be True or False"),
        ({"rel_tol": -1.0}, (X, Y), "rel_tol"), ({"verbose": 7.5}, (X, Y), "verbose"),
        ({}, (np.column_stack([X, 2 * X]), Y), "X: regressors depend on each other"),
        ({}, (X, Y, np.zeros(150)), "sample_weight must not be all zero"),
        ({}, (X, Y, np.ones(3)), "sample_weight must have shape"), ({}, (X, Y[:5]), "inconsistent numbers of samples"),
        ({"n_clusters": 2}, (np.random.default_rng(0).normal(size=(80, 9)), Y[:80]), "leave out columns"),
    ],
)  # fmt: skip
def test_one_error_says_what_cannot_be(given, data, message):
    with pytest.raises(ValueError, match=message) as caught:
        GlobalClusterwiseRegression(**given).fit(*data)
    assert isinstance(caught.value, InputError) or "inconsistent" in message
