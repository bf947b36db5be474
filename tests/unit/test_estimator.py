"""The estimator: scikit-learn's conventions, and its numbers against scikit-learn's own mixture."""

import dataclasses
import pickle
import sys
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.mixture import GaussianMixture as SklearnMixture
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import gopfast
from gopfast import GlobalGaussianMixture, GlobalKMeans
from gopfast.estimators.telling import EVERY, advice, log_of
from gopfast.report import Heartbeat

MINIMAL = np.array([[-10.0], [-10.0], [5.0], [25.0]])
KINDS = ["known", "diag", "spherical", "tied", "tied_spherical"]
# A wide epsilon ends the searches at the root, so that the checks end and repeat.
BAYES = {"covariance": "known", "prior": "empirical", "epsilon": 1e5}


def two_clusters(d=2, n=60):
    rng = np.random.default_rng(3)
    centres = np.array([[-4.0] * d, [4.0] * d])
    return centres[np.arange(n) % 2] + rng.standard_normal((n, d)) * rng.uniform(0.5, 1.5, d)


def expected_failures(estimator):
    if estimator.covariance is None and estimator.n_components > 1:
        return {
            "check_sample_weight_equivalence_on_dense_data": "ten columns: stopped long before a proof, a fit depends "
            "on the order of the samples through its starts; proved fits are tested below"
        }
    return {}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        GlobalGaussianMixture(time_limit=0.05),
        GlobalGaussianMixture(2, epsilon=1e5),
        GlobalGaussianMixture(2, **BAYES),
        GlobalGaussianMixture(2, posterior="gaussian", **BAYES),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("covariance", ["known", "diag", "spherical", "tied"])
def test_numbers_are_those_of_scikit_learn_for_the_same_parameters(covariance):
    X, other = two_clusters(), two_clusters(n=11) + 0.3
    ours = GlobalGaussianMixture(2, covariance=covariance, epsilon=1.0).fit(X)
    theirs = SklearnMixture(2, covariance_type="diag" if covariance == "known" else covariance).fit(X)
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        assert getattr(ours, name).shape == getattr(theirs, name).shape
        setattr(theirs, name, getattr(ours, name))
    for data in (X, other):
        np.testing.assert_allclose(ours.score_samples(data), theirs.score_samples(data), rtol=1e-10)
        np.testing.assert_allclose(ours.predict_proba(data), theirs.predict_proba(data), rtol=1e-8, atol=1e-12)
        np.testing.assert_array_equal(ours.predict(data), theirs.predict(data))
        assert ours.score(data) == pytest.approx(theirs.score(data), rel=1e-12)
    assert ours.lower_bound_ == pytest.approx(theirs.score(X), rel=1e-10)
    if covariance != "known":  # there scikit-learn counts other parameters
        assert ours.aic(other) == pytest.approx(theirs.aic(other), rel=1e-12)
        assert ours.bic(other) == pytest.approx(theirs.bic(other), rel=1e-12)


@pytest.mark.parametrize("covariance", KINDS)
def test_samples_have_the_moments_of_the_components(covariance):
    model = GlobalGaussianMixture(2, covariance=covariance, epsilon=10.0, random_state=0).fit(two_clusters())
    X, y = model.sample(40_000)
    assert X.shape == (40_000, 2)
    np.testing.assert_allclose(np.bincount(y) / len(y), model.weights_, atol=0.02)
    d = X.shape[1]
    wanted = {
        "spherical": lambda C: C[:, None, None] * np.eye(d),
        "diag": lambda C: C[:, None] * np.eye(d),
        "known": lambda C: C[:, None] * np.eye(d),
    }.get(covariance, lambda C: np.broadcast_to(C, (2, d, d)))(model.covariances_)
    for k in range(2):
        np.testing.assert_allclose(X[y == k].mean(axis=0), model.means_[k], atol=0.06)
        np.testing.assert_allclose(np.cov(X[y == k].T), wanted[k], atol=0.08)
    with pytest.raises(ValueError, match="n_samples"):
        model.sample(0)


def test_bounds_are_those_of_the_result_per_sample():
    model = GlobalGaussianMixture(2, covariance="known", prior="empirical").fit(MINIMAL)
    assert model.converged_
    assert model.lower_bound_ == model.result_.elbo / 4
    assert model.elbo_bound_ == model.result_.elbo_bound / 4
    assert model.gap_ == pytest.approx(model.elbo_bound_ - model.lower_bound_, abs=1e-12)
    assert 0.0 <= 4 * model.gap_ <= model.epsilon
    assert model.n_iter_ == model.result_.n_nodes


@pytest.mark.parametrize("covariance", ["known", "diag"])
def test_a_weight_is_a_repetition(covariance):
    X, weight = two_clusters(d=1, n=20), np.arange(20) % 3
    make = GlobalGaussianMixture(2, covariance=covariance, variance_floor=None if covariance == "known" else 0.2)
    weighted, repeated = make.fit(X, sample_weight=weight), clone(make).fit(np.repeat(X, weight, axis=0))
    assert weighted.converged_ and repeated.converged_
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-4)
    assert weighted.lower_bound_ == pytest.approx(repeated.lower_bound_, abs=1e-8)


def test_a_fit_stopped_by_its_limit_warns_and_keeps_its_bounds():
    X = np.random.default_rng(0).standard_normal((60, 4))
    model = GlobalGaussianMixture(4, time_limit=0.0)
    with pytest.warns(ConvergenceWarning, match="Time limit"):
        model.fit(X)
    assert not model.converged_
    assert model.score(X) == pytest.approx(model.lower_bound_, rel=1e-9)
    assert model.elbo_bound_ > model.lower_bound_


def test_a_fit_is_limited_by_default_and_the_warning_says_what_to_do(monkeypatch):
    asked = []

    def stopped(problem, epsilon, *, time_limit, **options):
        asked.append(time_limit)
        return gopfast.solve(problem, epsilon, time_limit=0.0, **options)

    monkeypatch.setattr("gopfast.estimators.base.solve", stopped)
    X = np.random.default_rng(0).standard_normal((60, 4))
    with pytest.warns(ConvergenceWarning) as caught:
        GlobalGaussianMixture(4, variance_floor=0.2, random_state=0).fit(X)
        GlobalGaussianMixture(4, time_limit=None).fit(X)
        GlobalGaussianMixture(4, covariance="known", prior=9.0, verbose=1).fit(X)
    assert asked == [60.0, None, 60.0]
    assert all(warning.category.__mro__[1] is gopfast.NotProvedWarning for warning in caught)
    first, unlimited, bayes = (str(warning.message) for warning in caught)
    assert first.startswith("GlobalGaussianMixture is not proved optimal, and not bounded to any use, by ")
    assert all("nats of the total log-likelihood" in text and ". Time limit reached; " in text
               for text in (first, unlimited))  # fmt: skip
    assert "nats of the total ELBO" in bayes


STOPPED = "Time limit reached"


@pytest.mark.parametrize("per_sample, limit, case, advised", [
    (5e-5, 60.0, ", but bounded to 0.003 nats of the total log-likelihood (5e-05 a sample). " + STOPPED,
     "An epsilon of 0.003 counts that as proved."),
    (0.05, 60.0, ", but bounded to 3 nats of the total log-likelihood (0.05 a sample); evidence, no proof: {evidence}. "
     + STOPPED,
     "To close the gap raise time_limit (60 s; None lifts it) or epsilon (0.01), or take fewer components."),
    (0.05, None, ", but bounded to 3 nats",
     "To close the gap raise time_limit (None) or epsilon (0.01), or take fewer components."),
    (2.0, 60.0, ", and not bounded to any use, by 120 nats of the total log-likelihood (2 a sample); evidence, no "
     "proof: {evidence}. " + STOPPED,
     "Fewer components, columns or free variances are easier to bound; more than a minute seldom helps."),
])  # fmt: skip
def test_the_first_sentence_of_the_warning_says_which_of_three_cases_it_is(per_sample, limit, case, advised):
    X = np.random.default_rng(0).standard_normal((60, 1))
    result = gopfast.solve(gopfast.GaussianMixture(X, 2, covariance="diag"), time_limit=0.0)
    result = dataclasses.replace(result, lower_bound=result.objective - 60 * per_sample, message="")
    text = advice("GlobalGaussianMixture", result, limit, 0.01)
    assert text.startswith("GlobalGaussianMixture is not proved optimal" + case.format(evidence=result.evidence))
    assert text.endswith(advised)
    assert "local search" in result.evidence


@pytest.mark.parametrize("verbose, n_lines, table", [(None, 0, False), (0, 0, False), (False, 0, False), (2, 0, True)])
def test_verbose_says_how_much_is_told(verbose, n_lines, table, capsys):
    GlobalGaussianMixture(2, verbose=verbose).fit([[0.0], [1.0], [5.0], [6.0]])
    told = capsys.readouterr()
    assert (bool(told.out), len(told.err.splitlines())) == (table, n_lines)
    assert not table or "lower" in told.out.splitlines()[0]


def test_a_line_every_few_seconds_and_a_bar_are_told_by_verbose():
    every, once = log_of(1), log_of(None)
    assert (every.left(), once.left()) == (pytest.approx(EVERY, abs=1.0), pytest.approx(Heartbeat.FIRST, abs=1.0))
    assert log_of("bar") == "bar"


@pytest.mark.parametrize("verbose", ["all", -1, 0.5])
def test_a_verbose_that_cannot_be_is_named(verbose):
    with pytest.raises(gopfast.InputError, match="verbose must be None, 0, 1, 2 or 'bar'"):
        GlobalGaussianMixture(2, verbose=verbose).fit([[0.0], [1.0], [5.0]])


def test_spikes_are_warned_of():
    X = np.append(np.random.default_rng(7).normal(3.0, 0.4, 100).round(1), np.full(20, 3.1)).reshape(-1, 1)
    with pytest.warns(UserWarning, match=r"component 1 sits on variance_floor, on 1 distinct value \(3.1\)"):
        assert GlobalGaussianMixture(2, variance_floor=1e-4).fit(X).converged_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert GlobalGaussianMixture(1).fit(X).converged_


@pytest.mark.parametrize("kind", KINDS)
def test_covariance_type_is_another_name_of_covariance(kind):
    X = two_clusters()
    one, other = (
        GlobalGaussianMixture(2, epsilon=10.0, random_state=0, **{name: kind})
        for name in ("covariance", "covariance_type")
    )
    np.testing.assert_array_equal(one.fit(X).covariances_, other.fit(X).covariances_)
    assert other.get_params()["covariance_type"] == clone(other).covariance_type == kind
    with pytest.raises(ValueError, match="covariance and covariance_type are two names of one argument: give one"):
        GlobalGaussianMixture(2, covariance="diag", covariance_type=kind).fit(X)
    with pytest.raises(ValueError, match="^covariance_type must be one of"):
        GlobalGaussianMixture(2, covariance_type="round").fit(X)


def test_ctrl_c_sets_the_attributes_and_is_raised(monkeypatch):
    def interrupted(problem, *arguments, **options):
        return gopfast.solve(problem, callback=lambda state: True)

    monkeypatch.setattr("gopfast.estimators.base.solve", interrupted)
    model = GlobalGaussianMixture(2, covariance="known")
    with pytest.raises(KeyboardInterrupt):
        model.fit(two_clusters())
    assert model.weights_.shape == (2,)


def test_it_works_in_a_pipeline_and_a_grid_search():
    X = two_clusters()
    pipeline = make_pipeline(StandardScaler(), GlobalGaussianMixture(covariance="tied", epsilon=0.5))
    search = GridSearchCV(pipeline, {"globalgaussianmixture__n_components": [1, 2]}, cv=3).fit(X)
    assert search.best_params_ == {"globalgaussianmixture__n_components": 2}
    assert len(np.unique(search.predict(X))) == 2
    pipeline.fit(X, globalgaussianmixture__sample_weight=np.ones(len(X)))


@pytest.mark.parametrize("model", [GlobalGaussianMixture(time_limit=0.0), GlobalKMeans(time_limit=0.0)])
def test_a_search_over_parameters_warns_once_each_time_it_is_fitted(model):
    X = np.random.default_rng(0).standard_normal((60, 3))
    name = "n_components" if hasattr(model, "n_components") else "n_clusters"
    search = GridSearchCV(model, {name: [3, 4]}, cv=2)
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            search.fit(X)
        told = [one for one in caught if issubclass(one.category, gopfast.NotProvedWarning)]
        assert len(told) == 1 and "Within this GridSearchCV only its first such fit" in str(told[0].message)
    with pytest.warns(gopfast.NotProvedWarning) as alone:  # outside of it every fit warns
        clone(search.best_estimator_).fit(X)
    assert len(alone) == 1 and "GridSearchCV" not in str(alone[0].message)


def test_a_search_over_parameters_tells_once_of_components_on_the_floor():
    X = np.repeat([0.0, 1.0, 7.0, 9.0], 12)[:, np.newaxis]
    with pytest.warns(UserWarning, match="sits on variance_floor.* only its first such fit is told") as told:
        GridSearchCV(GlobalGaussianMixture(epsilon=1.0), {"n_components": [2, 3]}, cv=2).fit(X)
    assert len(told) == 1


def test_pickle_and_clone():
    model = GlobalGaussianMixture(2, epsilon=1.0).fit(two_clusters())
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(two_clusters()), model.predict_proba(two_clusters()))
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        fresh.predict(MINIMAL)


@pytest.mark.parametrize(
    ("changed", "named"),
    [({"n_components": 0}, "n_components"), ({"covariance": "round"}, "covariance"), ({"epsilon": -1}, "epsilon"),
     ({"prior": -3.0}, "prior"), ({"prior": 3.0, "covariance": "diag"}, "prior"), ({"random_state": "seed"}, "seed")],
)  # fmt: skip
def test_a_bad_parameter_is_named_by_fit(changed, named):
    with pytest.raises(ValueError, match=named):
        GlobalGaussianMixture(**changed).fit(MINIMAL)


def test_the_proved_fit_beats_or_equals_a_hundred_fits_of_scikit_learn():
    from support.datasets import galaxies

    X = galaxies()
    model = GlobalGaussianMixture(3, variance_floor=0.09).fit(X)
    assert model.converged_
    scores = []
    for seed in range(100):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fit = SklearnMixture(3, covariance_type="diag", init_params="random_from_data", random_state=seed).fit(X)
        if fit.covariances_.min() >= 0.09:  # of the same model
            scores.append(fit.score(X))
    assert len(scores) > 50
    assert max(scores) <= model.elbo_bound_
    assert model.lower_bound_ >= max(scores) - 1e-9


def test_advice_without_scikit_learn(monkeypatch):
    for module in ("gopfast.estimators.gaussian", "gopfast.estimators.base"):
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    with pytest.raises(ImportError, match=r"pip install 'gopfast\[sklearn\]'"):
        _ = gopfast.GlobalGaussianMixture


def everyday_calls(mixture, k_means, X):
    """What a user of scikit-learn calls on most days; the classes alone are another's."""
    pandas = pytest.importorskip("pandas")
    fitted = mixture(n_components=2, random_state=0).fit(X)
    drawn, components = fitted.sample(5)
    frame = pandas.DataFrame(X, columns=["length", "width"])
    search = GridSearchCV(mixture(covariance_type="diag", random_state=0), {"n_components": [1, 2]}, cv=3).fit(X)
    clusters = k_means(n_clusters=2, n_init=10, random_state=0).fit(X)
    return [
        fitted.predict(X),
        fitted.predict_proba(X).argmax(axis=1),
        mixture(2, covariance_type="full", tol=1e-4, max_iter=200, n_init=5, random_state=0).fit_predict(X),
        [np.shape(part) for part in (fitted.score_samples(X), fitted.score(X), fitted.bic(X), fitted.aic(X))],
        [drawn.shape, components.shape],
        [np.shape(fitted.weights_), np.shape(fitted.means_), bool(fitted.converged_)],
        make_pipeline(StandardScaler(), mixture(2, random_state=0)).fit(X).predict(X),
        [search.best_params_["n_components"], type(search.best_estimator_) is mixture],
        [*mixture(2, random_state=0).fit(frame).feature_names_in_, type(pickle.loads(pickle.dumps(clone(fitted))))
         is mixture],
        [clusters.labels_, clusters.predict(X), clusters.transform(X).shape, clusters.cluster_centers_.shape,
         clusters.get_feature_names_out().shape],
    ]  # fmt: skip


def test_ten_everyday_calls_of_scikit_learn_run_unchanged_but_for_the_names_of_the_classes():
    X = two_clusters()
    theirs, ours = (everyday_calls(*classes, X) for classes in
                    ((SklearnMixture, KMeans), (GlobalGaussianMixture, GlobalKMeans)))  # fmt: skip
    assert len(ours) == len(theirs) == 10
    for mine, other in zip(ours, theirs, strict=True):
        flat = [np.concatenate([np.ravel(np.asarray(part, dtype=object)) for part in call]) for call in (mine, other)]
        if set(flat[1]) == {0, 1}:  # components have no order of their own in scikit-learn
            flat = [labels.astype(int) ^ int(labels[0]) for labels in flat]
        np.testing.assert_array_equal(*flat)


def test_the_everyday_calls_of_scikit_learn_are_taken_as_they_are():
    X = two_clusters()
    peers = {
        "n_init": 10, "max_iter": 200, "tol": 1e-4, "init_params": "k-means++", "reg_covar": 1e-6,
        "verbose_interval": 5,
    }  # fmt: skip
    theirs = SklearnMixture(2, covariance_type="diag", random_state=0, **peers).fit(X)
    ours = GlobalGaussianMixture(2, covariance_type="diag", random_state=0, **peers).fit(X)
    assert ours.score(X) >= theirs.score(X) - 1e-9


@pytest.mark.parametrize("peer, ours", [
    (SklearnMixture, GlobalGaussianMixture), (KMeans, GlobalKMeans),
])  # fmt: skip
def test_every_argument_of_scikit_learns_class_is_there(peer, ours):
    assert set(peer().get_params()) <= set(ours().get_params())


@pytest.mark.parametrize("given, wanted", [
    ({"n_init": 0}, "an integer of at least 1"), ({"max_iter": 1.5}, "an integer"), ({"tol": -1.0}, "a number of at"),
    ({"init_params": "zeros"}, "'kmeans' or"), ({"init_params": np.zeros(2)}, "'kmeans' or"),
])  # fmt: skip
def test_what_scikit_learn_does_not_take_is_refused(given, wanted):
    with pytest.raises(gopfast.InputError, match=f"^{next(iter(given))} must be {wanted}.*as in scikit-learn"):
        GlobalGaussianMixture(2, **given).fit(two_clusters())


def test_k_means_takes_the_everyday_arguments_of_scikit_learn():
    X = two_clusters()
    peers = {"n_init": "auto", "max_iter": 200, "tol": 1e-5, "algorithm": "elkan", "copy_x": True, "random_state": 0}
    for init in ["k-means++", "random", X[:2]]:
        theirs, ours = KMeans(2, init=init, **peers).fit(X), GlobalKMeans(2, init=init, **peers).fit(X)
        assert ours.inertia_ <= theirs.inertia_ * (1.0 + 1e-9)
    assert "given" in ours.result_.starts


@pytest.mark.parametrize("given, wanted", [
    ({"n_init": "warm"}, "'auto' or at least 1"), ({"algorithm": "full"}, "'lloyd' or"),
    ({"copy_x": 2}, "True or False"),
    ({"init": "zeros"}, "'k-means"), ({"init": np.zeros((3, 2))}, r"have shape \(2, 2\)"),
])  # fmt: skip
def test_what_k_means_of_scikit_learn_does_not_take_is_refused(given, wanted):
    with pytest.raises(gopfast.InputError, match=f"^{next(iter(given))} must (be )?{wanted}"):
        GlobalKMeans(2, **given).fit(two_clusters())


def test_a_regularisation_above_the_floor_is_refused_with_what_to_give_instead():
    with pytest.raises(gopfast.InputError, match=r"reg_covar must be at most .* give variance_floor=0.5"):
        GlobalGaussianMixture(2, reg_covar=0.5).fit(two_clusters())
    GlobalGaussianMixture(2, reg_covar=0.5, variance_floor=0.5).fit(two_clusters())


@pytest.mark.parametrize("kind", ["diag", "spherical", "tied", "tied_spherical", "full"])
def test_a_start_in_scikit_learns_shapes_is_kept(kind, monkeypatch):
    X, asked = two_clusters(), []

    def kept(problem, epsilon, *, start, **options):
        asked.append(start)
        return gopfast.solve(problem, epsilon, start=start, **options)

    monkeypatch.setattr("gopfast.estimators.base.solve", kept)
    first = GlobalGaussianMixture(2, covariance=kind, time_limit=2.0, epsilon=1.0).fit(X)
    again = GlobalGaussianMixture(
        2, covariance=kind, time_limit=2.0, epsilon=1.0, means_init=first.means_, weights_init=first.weights_,
        precisions_init=first.precisions_,
    ).fit(X)  # fmt: skip
    assert asked[0] is None
    np.testing.assert_allclose(asked[1]["covariances"], first.result_.solution.covariances, rtol=1e-9)
    assert again.lower_bound_ >= first.lower_bound_ - 1e-9


@pytest.mark.parametrize("given, wrong", [
    ({"weights_init": [0.5, 0.5]}, "weights_init must be None without means_init"),
    ({"precisions_init": np.ones((2, 2))}, "precisions_init must be None without means_init"),
    ({"means_init": np.zeros((3, 2))}, r"^means_init must have shape \(2, 2\)"),
    ({"means_init": np.zeros((2, 2)), "weights_init": [0.5, 0.4]}, "^weights_init must sum to 1"),
    ({"means_init": np.zeros((2, 2)), "precisions_init": np.zeros((2, 2))}, "precisions_init must be positive"),
    ({"means_init": np.zeros((2, 2)), "precisions_init": np.ones((2, 3))}, "precisions_init must have shape"),
    ({"means_init": np.zeros((2, 2)), "precisions_init": np.ones((2, 2)), "covariance": "known"}, "are known"),
    ({"means_init": np.zeros((2, 2)), "precisions_init": np.zeros((2, 2, 2)), "covariance": "full"}, "have an inverse"),
])  # fmt: skip
def test_a_start_that_cannot_be_is_named(given, wrong):
    with pytest.raises(gopfast.InputError, match=wrong):
        GlobalGaussianMixture(2, **given).fit(two_clusters())


def test_a_warm_start_begins_at_the_last_fit(monkeypatch):
    asked = []

    def kept(problem, epsilon, *, start, **options):
        asked.append(start)
        return gopfast.solve(problem, epsilon, start=start, **options)

    monkeypatch.setattr("gopfast.estimators.base.solve", kept)
    model = GlobalGaussianMixture(2, covariance="known", warm_start=True)
    last = model.fit(two_clusters()).result_.solution
    model.fit(two_clusters()).set_params(n_components=1).fit(two_clusters())
    assert asked[0] is None and asked[1] is last and asked[2] is None


def test_noise_is_a_component_of_its_own():
    X = [[-0.7], [-0.2], [0.1], [0.4], [0.9], [5.2], [5.8], [6.1], [6.4], [40.0], [-35.0]]
    model = GlobalGaussianMixture(2, variance_floor=0.1, noise=True).fit(X)
    assert model.predict(X).tolist() == [0] * 5 + [1] * 4 + [2] * 2
    assert model.weights_.shape == (3,) and model.converged_


@pytest.mark.parametrize("entry", [np.nan, "a"])
def test_missing_entries_and_labels_are_for_mixed_columns(entry):
    with pytest.raises(gopfast.InputError, match="are for gopfast.GlobalMixedMixture"):
        GlobalGaussianMixture(1).fit([[0.0, 1.0], [entry, 2.0]])
