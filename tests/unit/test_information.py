"""Standard errors are those of textbooks for one component, and of the objective's own second differences for more."""

import math

import numpy as np
import pytest

import gopfast
from gopfast.mixtures.information import information


def errors(solution):
    """Standard error of every number by what it is."""
    return {(one.component, one.parameter, one.place): one.error for one in information(solution).estimates}


def one_component(problem):
    return gopfast.solve(problem, 1e-6).solution


def test_one_component_has_the_errors_of_textbooks():
    rng = np.random.default_rng(0)
    x = rng.normal(3.0, 2.0, 50)
    n, v = len(x), x.var()
    found = errors(one_component(gopfast.GaussianMixture(x, 1, covariance="diag")))
    assert found[0, "mean", "x"] == pytest.approx(math.sqrt(v / n), rel=1e-5)
    assert found[0, "variance", "x"] == pytest.approx(v * math.sqrt(2.0 / n), rel=1e-4)
    found = errors(one_component(gopfast.GaussianMixture(x, 1, covariance="known", noise_variance=4.0)))
    assert found[0, "mean", "x"] == pytest.approx(2.0 / math.sqrt(n), rel=1e-6)
    y = rng.random((60, 1)) < 0.3
    p = y.mean()
    found = errors(one_component(gopfast.BernoulliMixture(y, 1)))
    assert found[0, "probability", "x"] == pytest.approx(math.sqrt(p * (1.0 - p) / 60), rel=1e-5)
    counts = rng.poisson(4.0, 40)
    found = errors(one_component(gopfast.PoissonMixture(counts, 1)))
    assert found[0, "rate", "x"] == pytest.approx(math.sqrt(counts.mean() / 40), rel=1e-5)
    times = rng.exponential(2.0, 40)
    found = errors(one_component(gopfast.ExponentialMixture(times, 1)))
    assert found[0, "rate", "x"] == pytest.approx(1.0 / times.mean() / math.sqrt(40), rel=1e-5)
    labels = rng.integers(3, size=90)
    shares = np.bincount(labels) / 90
    found = errors(one_component(gopfast.CategoricalMixture(labels, 1)))
    for c, share in enumerate(shares):  # the largest, which is the rest, among them
        assert found[0, "probability", f"x = {c}"] == pytest.approx(math.sqrt(share * (1.0 - share) / 90), rel=1e-5)


def test_a_covariance_matrix_has_the_errors_of_the_normal_distribution():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2)) @ np.array([[1.0, 0.6], [0.0, 0.5]])
    solution = one_component(gopfast.GaussianMixture(X, 1, covariance="full"))
    C, n, found = solution.covariances[0], 80, errors(solution)
    assert found[0, "variance", "x0"] == pytest.approx(C[0, 0] * math.sqrt(2.0 / n), rel=1e-4)
    expected = math.sqrt((C[0, 0] * C[1, 1] + C[0, 1] ** 2) / n)
    assert found[0, "covariance", "x0, x1"] == pytest.approx(expected, rel=1e-4)


CASES = {
    "diag": (lambda: gopfast.GaussianMixture(two_clusters(), 2, covariance="diag"), ("means", "covariances")),
    "spherical": (lambda: gopfast.GaussianMixture(two_clusters(), 2, covariance="spherical"), ("means", "covariances")),
    "known": (lambda: gopfast.GaussianMixture(two_clusters(), 2, covariance="known"), ("means",)),
    "prior": (lambda: gopfast.GaussianMixture(two_clusters(), 2, covariance="known", prior=9.0), ("means",)),
    "poisson": (lambda: gopfast.PoissonMixture(counts(), 2), ("rates",)),
    "gamma prior": (lambda: gopfast.PoissonMixture(counts(), 2, prior=(3.0, 0.5)), ("rates",)),
    "beta prior": (lambda: gopfast.BernoulliMixture(two_clusters() > 0.3, 2, prior=(2.0, 3.0)), ("probabilities",)),
}


def two_clusters():
    rng = np.random.default_rng(3)
    return np.concatenate([rng.normal(-2.0, 1.0, (25, 2)), rng.normal(2.0, 1.4, (35, 2))])


def counts():
    return np.rint(4 + two_clusters()).clip(0)


@pytest.mark.parametrize("case", CASES)
def test_errors_are_those_of_the_objectives_second_differences(case):
    """In all numbers at once, the weights by that of component 0, by the public objective."""
    make, names = CASES[case]
    problem = make()
    solution = gopfast.solve(problem, 1e-3, time_limit=20.0).solution
    shapes = [np.shape(solution.parameters[name]) for name in names]
    at = np.concatenate([[solution.weights[0]], *(np.ravel(solution.parameters[name]) for name in names)])

    def objective(vector):
        parts = np.split(vector[1:], np.cumsum([math.prod(shape) for shape in shapes])[:-1])
        values = {name: part.reshape(shape) for name, part, shape in zip(names, parts, shapes, strict=True)}
        return problem.objective([vector[0], 1.0 - vector[0]], **values)

    size, steps = len(at), 1e-3 * np.maximum(np.abs(at), 0.05)
    hessian = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            a, b = steps[i] * np.eye(size)[i], steps[j] * np.eye(size)[j]
            hessian[i, j] = (
                objective(at + a + b) - objective(at + a - b) - objective(at - a + b) + objective(at - a - b)
            ) / (4.0 * steps[i] * steps[j])
    expected = np.sqrt(np.diagonal(np.linalg.inv(hessian)))
    found = [one.error for one in information(solution).estimates]
    weights, rest = found[:2], np.reshape(found[2:], (2, -1))
    assert weights == pytest.approx([expected[0]] * 2, rel=2e-3)
    parts = np.split(expected[1:], np.cumsum([math.prod(shape) for shape in shapes])[:-1])
    ordered = np.hstack([part.reshape(2, -1) for part in parts])
    np.testing.assert_allclose(rest, ordered, rtol=2e-3)


def test_what_sits_on_a_bound_has_no_error_and_is_marked():
    X = [0.0, 0.0, 0.0, 0.0, 5.0, 6.0, 7.5, 9.0]
    problem = gopfast.GaussianMixture(X, 2, covariance="diag", variance_floor=0.3)
    summary = gopfast.solve(problem).summary()
    narrow = [one for one in summary.estimates if one.parameter == "variance" and one.component == 0][0]
    assert narrow.on_bound and math.isnan(narrow.error) and narrow.value == pytest.approx(0.3)
    wide = [one for one in summary.estimates if one.parameter == "variance" and one.component == 1][0]
    assert not wide.on_bound and wide.error > 0.0
    assert "on a bound" in str(summary)


def test_weights_of_frequencies_count_as_repetitions():
    rng = np.random.default_rng(4)
    X = np.concatenate([rng.normal(0.0, 1.0, 20), rng.normal(6.0, 1.0, 20)])
    weight = rng.integers(1, 4, 40)
    weighted = gopfast.solve(gopfast.GaussianMixture(X, 2, covariance="diag", sample_weight=weight), 1e-4)
    problem = gopfast.GaussianMixture(np.repeat(X, weight), 2, covariance="diag", variance_floor=0.01)
    again = gopfast.GaussianMixture(X, 2, covariance="diag", variance_floor=0.01, sample_weight=weight)
    one, other = (gopfast.solve(each, 1e-4).solution for each in (problem, again))
    for name, error in errors(one).items():
        assert error == pytest.approx(errors(other)[name], rel=1e-3)
    assert weighted.summary().n_samples == weight.sum()


def test_what_the_data_do_not_determine_has_no_errors():
    table = [["red"], ["red"], ["blue"], ["green"], ["red"], ["blue"]] * 3
    found = information(gopfast.solve(gopfast.CategoricalMixture(table, 2)).solution)
    assert any("not positive definite" in note or "no weight" in note for note in found.notes)
    posterior = gopfast.GaussianMixture([-10, -10, 5, 25], 2, prior="empirical", posterior="gaussian")
    assert any("posterior" in note for note in information(gopfast.solve(posterior).solution).notes)
