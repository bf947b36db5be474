"""What is asked of a fit, for every family: classes, densities, samples, the summary, the way through JSON."""

import json
import math

import numpy as np
import pytest

import gopfast

RNG = np.random.default_rng(5)
HALF = np.arange(60) < 25
NUMBERS = np.where(HALF, -3.0, 3.0) + RNG.normal(size=60)
PAIRS = np.column_stack([NUMBERS, NUMBERS + RNG.normal(size=60)])
BITS = (RNG.random((60, 3)) < np.where(HALF, 0.9, 0.2)[:, np.newaxis]).astype(int)
LABELS = np.where(BITS, "yes", "no").astype(object)
MISSING = np.where(RNG.random(LABELS.shape) < 0.1, None, LABELS)

PROBLEMS = {
    "known": gopfast.GaussianMixture(NUMBERS, 2, covariance="known"),
    "prior": gopfast.GaussianMixture(NUMBERS, 2, prior="empirical"),
    "posterior": gopfast.GaussianMixture(NUMBERS, 2, prior=9.0, posterior="gaussian"),
    "spherical": gopfast.GaussianMixture(PAIRS, 2, covariance="spherical"),
    "diag": gopfast.GaussianMixture(PAIRS, 2, covariance="diag"),
    "tied": gopfast.GaussianMixture(PAIRS, 2, covariance="tied"),
    "tied_spherical": gopfast.GaussianMixture(PAIRS, 2, covariance="tied_spherical"),
    "full": gopfast.GaussianMixture(PAIRS, 2, covariance="full"),
    "bernoulli": gopfast.BernoulliMixture(BITS, 2, prior=(2.0, 2.0)),
    "poisson": gopfast.PoissonMixture(np.rint(NUMBERS + 8).clip(0), 2),
    "exponential": gopfast.ExponentialMixture(np.exp(NUMBERS), 2),
    "categorical": gopfast.CategoricalMixture(LABELS, 2, prior=2.0),
    "latent class": gopfast.LatentClass(MISSING, 2, prior=1.5),
}
DATA = {
    "known": NUMBERS, "prior": NUMBERS, "posterior": NUMBERS, "bernoulli": BITS, "categorical": LABELS,
    "latent class": MISSING, "poisson": np.rint(NUMBERS + 8).clip(0), "exponential": np.exp(NUMBERS),
}  # fmt: skip


@pytest.fixture(scope="module")
def results():
    return {name: gopfast.solve(problem, 0.1, time_limit=5.0, n_threads=1) for name, problem in PROBLEMS.items()}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_fit_predicts_the_data_and_others_like_them(results, name):
    result, data = results[name], DATA.get(name, PAIRS)
    tau = result.predict_proba()
    np.testing.assert_allclose(tau, result.solution.responsibilities, atol=1e-12)
    np.testing.assert_allclose(result.predict_proba(data), tau, atol=1e-12)
    np.testing.assert_allclose(result.solution.predict_proba(data[:7]), tau[:7], atol=1e-12)
    np.testing.assert_array_equal(result.predict(data), tau.argmax(axis=1))
    if result.solution.problem.posterior == "point":
        problem = result.solution.problem
        total = result.score() * problem.total_weight - problem._penalty(
            problem.check_parameters(**result.solution.parameters)
        )
        constant = problem.elbo_constant - problem.total_weight * problem._log_constant
        assert total + constant == pytest.approx(result.elbo, abs=1e-8)
    assert result.score(data) == pytest.approx(result.score())


@pytest.mark.parametrize("name", PROBLEMS)
def test_samples_come_from_the_fit(results, name):
    """Their average log density is what is expected of the fit: of samples of another seed; and components' shares."""
    result = results[name]
    X, components = result.sample(4000, random_state=1)
    other, _ = result.solution.sample(4000, random_state=np.random.default_rng(2))
    assert X.shape == (4000, result.solution.problem.n_features) and components.shape == (4000,)
    scores = result.score_samples(X), result.score_samples(other)
    spread = math.hypot(*(score.std() for score in scores)) / math.sqrt(4000)
    assert abs(scores[0].mean() - scores[1].mean()) <= 5.0 * spread + 1e-12
    shares = np.bincount(components, minlength=2) / 4000
    np.testing.assert_allclose(shares, result.solution.weights, atol=0.04)
    again, _ = result.sample(4000, random_state=1)
    np.testing.assert_array_equal(X, again)


@pytest.mark.parametrize("name", ["known", "diag", "full", "tied", "poisson", "exponential", "bernoulli"])
def test_the_means_of_samples_are_those_of_the_components(results, name):
    result = results[name]
    X, components = result.sample(20_000, random_state=3)
    first = next(iter(result.solution.parameters.values()))
    expected = 1.0 / first if name == "exponential" else first
    for k in range(2):
        mine = X[components == k]
        error = mine.std(axis=0) / math.sqrt(len(mine))
        assert (np.abs(mine.mean(axis=0) - expected[k]) <= 5.0 * error + 1e-12).all()
    if name == "full":
        for k in range(2):
            mine = np.cov(X[components == k].T, bias=True)
            np.testing.assert_allclose(mine, result.solution.covariances[k], atol=0.1)


def test_labels_are_drawn_as_often_as_their_probabilities(results):
    X, components = results["categorical"].sample(20_000, random_state=4)
    tables = results["categorical"].solution.probabilities
    for j, table in enumerate(tables):
        for k in range(2):
            shares = [np.mean(X[components == k, j] == label) for label in ("no", "yes")]
            np.testing.assert_allclose(shares, table[k], atol=0.03)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_summary_has_the_criteria(results, name):
    result = results[name]
    summary, problem = result.summary(), result.solution.problem
    text = str(summary)
    assert type(problem).__name__ in text and "class sizes" in text and "std. error" in text
    assert summary.class_sizes.sum() == pytest.approx(60.0) and summary.class_counts.sum() == 60.0
    if problem.prior is None:
        value = result.log_likelihood
        assert summary.log_likelihood == value and summary.bound == result.log_likelihood_bound
        assert summary.aic == pytest.approx(-2.0 * value + 2.0 * problem.n_parameters)
        assert summary.bic == pytest.approx(-2.0 * value + math.log(60.0) * problem.n_parameters)
        assert summary.icl >= summary.bic and "log-likelihood" in text
    else:
        assert summary.aic is None and summary.log_likelihood is None and "ELBO" in text
    json.dumps(summary.to_dict(), allow_nan=False)
    assert "<table>" in result._repr_html_()


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_result_comes_back_from_json(results, name, tmp_path):
    result = results[name]
    path = tmp_path / "result.json"
    text = result.to_json(path)
    for source in path, str(path), text, result.to_dict():
        again = gopfast.Result.from_json(source, result.solution.problem)
        assert again.to_dict() == result.to_dict()
        np.testing.assert_array_equal(again.history, result.history)


def test_what_is_no_result_of_the_problem_is_refused(results, tmp_path):
    result, problem = results["diag"], PROBLEMS["diag"]
    other = gopfast.GaussianMixture(PAIRS + 1.0, 2, covariance="diag")
    for source, asked in [
        (result.to_dict(), other), (result.to_dict(), PROBLEMS["poisson"]), ({}, problem), ("{", problem),
        (tmp_path / "absent.json", problem), ({**result.to_dict(), "status": "FINE"}, problem), ("[1]", problem),
    ]:  # fmt: skip
        with pytest.raises(gopfast.InputError):
            gopfast.Result.from_json(source, asked)


def test_the_samples_are_a_table_with_their_components(results):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(PAIRS, columns=["length", "width"])
    problem = gopfast.GaussianMixture(frame, 2, covariance="diag")
    assert problem.columns == ("length", "width")
    result = gopfast.solve(problem)
    table = result.to_frame()
    assert list(table.columns) == ["length", "width", "component", "p0", "p1"]
    np.testing.assert_array_equal(table["component"], result.predict())
    assert "length" in str(result.summary()) and list(result.summary().to_frame()["place"])[2:4] == ["length", "width"]
    assert gopfast.PoissonMixture(pandas.Series([1, 2, 9], name="visits"), 1).column_names == ["visits"]
    assert gopfast.PoissonMixture([1, 2, 9], 1).column_names == ["x"]
    labels = results["latent class"].to_frame()
    assert labels["item 1"].isna().sum() == sum(entry is None for entry in MISSING[:, 0])


@pytest.mark.parametrize(
    ("name", "X"),
    [("diag", [1.0, 2.0]), ("bernoulli", [[0, 1]]), ("bernoulli", [[0, 1, 2]]), ("poisson", [-1.0]),
     ("categorical", [["yes", "no", "perhaps"]]), ("categorical", [["yes"]]), ("latent class", [["yes", "no"]]),
     ("diag", [[np.nan, 1.0]]), ("known", [[1.0, 2.0]])],
)  # fmt: skip
def test_other_samples_that_cannot_be_are_refused(results, name, X):
    with pytest.raises(gopfast.InputError, match="X"):
        results[name].predict(X)


@pytest.mark.parametrize("arguments", [(0,), (1.5,), (3, "seed")])
def test_samples_that_cannot_be_drawn_are_refused(results, arguments):
    with pytest.raises(gopfast.InputError):
        results["diag"].sample(*arguments)
