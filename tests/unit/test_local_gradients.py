"""Coordinates of the gradient methods, and the methods against SciPy's."""

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der
from scipy.special import logsumexp, softmax
from support import problems
from support.problems import KINDS

import gopfast
from gopfast import local
from gopfast.mixtures.local._conjugate_gradient import minimize as conjugate_gradients
from gopfast.mixtures.local._coordinates import LEAST, LEAST_EXCESS, Coordinates

every_kind = pytest.mark.parametrize("kind", KINDS)


def point(kind, seed, **sizes):
    """Coordinates of a problem and a point in the box, away from its faces."""
    problem = problems.make(kind, seed=seed, **{"n": 15, "K": 3, "d": 2, **sizes})
    rng = np.random.default_rng(seed)
    coordinates = Coordinates(problem)
    vector = coordinates.pack(problems.random_state(problem, rng)) + 0.1 * rng.normal(size=coordinates.low.size)
    return problem, coordinates, np.clip(vector, coordinates.low + 1e-3, coordinates.high - 1e-3)


@every_kind
@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_that_of_central_differences(kind, seed):
    problem, coordinates, vector = point(kind, seed)
    value, gradient = coordinates.evaluate(vector)
    assert value == pytest.approx(problem.objective(**coordinates.unpack(vector)), rel=1e-12)
    steps = 1e-5 * np.eye(len(vector))
    numeric = [(coordinates.evaluate(vector + s)[0] - coordinates.evaluate(vector - s)[0]) / 2e-5 for s in steps]
    np.testing.assert_allclose(gradient, numeric, atol=2e-6 * (1.0 + np.abs(gradient).max()))
    assert np.abs(gradient).max() > 1e-3


@every_kind
def test_unpacking_gives_the_state_that_was_packed(kind):
    problem, coordinates, vector = point(kind, 1)
    state = coordinates.unpack(vector)
    again = coordinates.unpack(coordinates.pack(state))
    for name, value in state.items():
        if value is not None:
            np.testing.assert_allclose(problems.rows(again[name]), problems.rows(value), rtol=1e-9, atol=1e-12)
    problem.objective(**state)


@pytest.mark.parametrize("kind", ["spherical", "diag", "tied_diag", "tied_spherical"])
def test_variances_on_the_floor_are_packed_as_they_are(kind):
    problem = problems.make(kind, K=2)
    floor = problem.variance_floor
    at_floor = dict.fromkeys(("tied_diag", "tied_spherical"), lambda: floor * np.eye(2)).get(kind, lambda: [floor] * 2)
    coordinates = Coordinates(problem)
    state = {"weights": np.array([0.5, 0.5]), "means": problem.X[:2], "covariances": np.array(at_floor())}
    vector = coordinates.pack(state)
    np.testing.assert_allclose(coordinates.unpack(vector)["covariances"], state["covariances"], rtol=1e-14)
    assert (vector >= coordinates.low).all()


def test_what_the_map_cannot_reach_is_moved_a_little():
    bernoulli = gopfast.BernoulliMixture([0, 1, 1], 2)
    coordinates = Coordinates(bernoulli)
    state = {"weights": np.array([1.0, 0.0]), "probabilities": np.array([[0.0], [1.0]])}
    found = coordinates.unpack(coordinates.pack(state))
    np.testing.assert_allclose(found["weights"], [1.0, LEAST], rtol=1e-9)
    np.testing.assert_allclose(found["probabilities"].ravel(), [LEAST, 1.0 - LEAST], rtol=1e-4)
    full = problems.make("full", K=1)
    floor = np.diag(full.variance_floor)
    state = {"weights": np.ones(1), "means": full.X[:1], "covariances": floor[np.newaxis]}
    coordinates = Coordinates(full)
    found = coordinates.unpack(coordinates.pack(state))["covariances"][0]
    np.testing.assert_allclose(found, (1.0 + LEAST_EXCESS) * floor, rtol=1e-10)


def test_a_variance_ends_on_its_floor():
    problem = gopfast.GaussianMixture([0.0, 0.0, 0.1, 9.0, 9.5, 14.0], 2, covariance="diag", variance_floor=0.5)
    start = {"means": [0.0, 10.0], "covariances": [[2.0], [4.0]]}
    best = local.em(problem, start, tol=1e-12, max_iter=5000)
    assert best.solution.covariances[0, 0] == pytest.approx(0.5, rel=1e-12)
    for method in (local.quasi_newton, local.conjugate_gradient):
        fit = method(problem, start, tol=1e-12)
        assert fit.solution.covariances[0, 0] == pytest.approx(0.5, rel=1e-12)
        assert fit.objective == pytest.approx(best.objective, abs=1e-8)


# Against SciPy, from the model written down again


def known_variance_likelihood(theta, x):
    """Negative log-likelihood without its constant, of softmax weights and means."""
    eta, means = np.split(theta, 2)
    return -logsumexp(np.log(softmax(eta)) - 0.5 * np.square(x[:, None] - means), axis=1).sum()


def free_variance_likelihood(theta, x):
    eta, means, log_variances = np.split(theta, 3)
    scores = np.log(softmax(eta)) - 0.5 * (
        np.square(x[:, None] - means) / np.exp(log_variances) + log_variances + np.log(2.0 * np.pi)
    )
    return -logsumexp(scores, axis=1).sum()


@pytest.mark.parametrize(("method", "theirs"), [(local.quasi_newton, "L-BFGS-B"), (local.conjugate_gradient, "CG")])
def test_known_variance_ends_where_scipy_does(method, theirs):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(-2.0, 1.0, 30), rng.normal(1.5, 1.0, 50)])
    fit = method(gopfast.GaussianMixture(x, 2, covariance="known"), start=[-1.0, 1.0], tol=1e-12)
    other = minimize(known_variance_likelihood, [0.0, 0.0, -1.0, 1.0], args=(x,), method=theirs)
    assert fit.objective == pytest.approx(other.fun, abs=1e-6)
    np.testing.assert_allclose(fit.solution.means.ravel(), other.x[2:], atol=2e-3)


@pytest.mark.parametrize(("method", "theirs"), [(local.quasi_newton, "L-BFGS-B"), (local.conjugate_gradient, "CG")])
def test_free_variances_end_where_scipy_does(method, theirs):
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(-4.0, 1.0, 40), rng.normal(3.0, 2.0, 60)])
    problem = gopfast.GaussianMixture(x, 2, covariance="diag", variance_floor=1e-4)
    fit = method(problem, start={"means": [-3.0, 2.0], "covariances": [[1.0], [1.0]]}, tol=1e-12)
    other = minimize(free_variance_likelihood, [0.0, 0.0, -3.0, 2.0, 0.0, 0.0], args=(x,), method=theirs)
    assert fit.objective == pytest.approx(other.fun, abs=1e-6)
    np.testing.assert_allclose(fit.solution.covariances.ravel(), np.exp(other.x[4:]), rtol=5e-3)


def test_the_trace_of_quasi_newton_is_that_of_scipy_itself():
    """The same function and box by hand give the same iterates."""
    problem = gopfast.GaussianMixture([-10.0, -10.0, 5.0, 25.0, 26.0], 2, covariance="known")
    coordinates = Coordinates(problem)
    vector = coordinates.pack(local.starts.initial_state(problem, [-1.0, 20.0], 0))
    values = [coordinates.evaluate(vector)[0]]
    minimize(
        coordinates.evaluate, vector, jac=True, method="L-BFGS-B", options={"ftol": 0, "gtol": 0},
        bounds=np.stack([coordinates.low, coordinates.high], axis=1),
        callback=lambda intermediate_result: values.append(intermediate_result.fun),
    )  # fmt: skip
    fit = local.quasi_newton(problem, [-1.0, 20.0], tol=1e-6)
    assert fit.n_iter >= 3
    np.testing.assert_allclose(problem.elbo_constant - fit.trace, values[: fit.n_iter + 1], rtol=1e-10)


# The conjugate gradients by themselves


def test_conjugate_gradients_end_a_quadratic_in_about_its_dimension():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(6, 6))
    A, b = factor @ factor.T + np.eye(6), rng.normal(size=6)
    free = np.full(6, 1e6)
    found, values, converged = conjugate_gradients(
        lambda x: (0.5 * x @ A @ x - b @ x, A @ x - b), np.zeros(6), -free, free, 1e-13, 100
    )
    np.testing.assert_allclose(found, np.linalg.solve(A, b), atol=1e-5)
    assert converged and len(values) < 30


def test_conjugate_gradients_pass_the_valley_of_rosenbrock():
    start = np.array([-1.2, 1.0, -0.5])
    free = np.full(3, 10.0)
    found, values, converged = conjugate_gradients(lambda x: (rosen(x), rosen_der(x)), start, -free, free, 1e-14, 2000)
    np.testing.assert_allclose(found, 1.0, atol=1e-4)
    assert converged and np.diff(values).max() < 0.0


def test_a_step_to_a_higher_minimum_is_taken_back():
    """The first trial moves by 1, from 0.1 to the flat bottom of a higher valley at -0.9."""
    free, tried = np.full(1, 10.0), []

    def evaluate(x):
        tried.append(float(x[0] ** 4 / 4.0 + 1.7 * x[0] ** 3 / 3.0 + 0.36 * x[0] ** 2))
        return tried[-1], x * (x + 0.9) * (x + 0.8)

    found, values, converged = conjugate_gradients(evaluate, np.array([0.1]), -free, free, 1e-14, 50)
    assert tried[1] > tried[0]
    assert np.diff(values).max() < 0.0
    assert converged and abs(found[0]) < 1e-5


def test_a_gradient_that_underflows_is_none():
    free = np.full(2, 10.0)
    found, values, converged = conjugate_gradients(
        lambda x: (1.0, np.full(2, 1e-200)), np.zeros(2), -free, free, 0.0, 5
    )
    assert converged and values == [1.0] and not found.any()


def test_a_line_search_that_fails_away_from_an_optimum_is_no_convergence(monkeypatch):
    """Slopes of the wrong sign: no trial lies lower, which SciPy reports by its status 2."""
    problem = gopfast.GaussianMixture([-10.0, -10.0, 5.0, 25.0], 2, covariance="known")
    evaluate = Coordinates.evaluate

    def wrong(self, vector):
        value, slope = evaluate(self, vector)
        return value, -slope

    monkeypatch.setattr(Coordinates, "evaluate", wrong)
    fit = local.quasi_newton(problem, [-1.0, 2.0])
    assert not fit.converged and np.diff(fit.trace).min(initial=0.0) >= 0.0


@pytest.mark.parametrize("low", [-3.0, 0.5])
def test_conjugate_gradients_stay_in_the_box(low):
    """Least squares from (2, 2, 2) in a box: SciPy's bounded method ends at the same point."""
    A, target = np.array([[3.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]]), np.array([-1.0, 1.0, 4.0])

    def evaluate(x):
        assert (x >= low).all() and (x <= 2.5).all()
        return 0.5 * (x - target) @ A @ (x - target), A @ (x - target)

    found, _, converged = conjugate_gradients(
        evaluate, np.full(3, 2.0), np.full(3, low), np.full(3, 2.5), 1e-14, 500
    )
    theirs = minimize(evaluate, np.full(3, 2.0), jac=True, method="L-BFGS-B", bounds=[(low, 2.5)] * 3)
    np.testing.assert_allclose(found, theirs.x, atol=1e-5)
    assert converged
