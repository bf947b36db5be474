"""A component of constant density beside Gaussian ones."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy import stats

import gopfast
from gopfast.checker.families import cost_of_noise
from gopfast.checker.problem import Problem
from gopfast.checker.verify import Bounds
from gopfast.errors import InputError
from gopfast.mixtures.record import rebuild, record
from tests.support import proofs

LINE = np.array([-0.7, -0.2, 0.1, 0.4, 0.9, 5.2, 5.8, 6.1, 6.4, 20.0, -15.0])


def plane(seed=0, n=12):
    rng = np.random.default_rng(seed)
    clusters = [rng.normal(center, 1.0, (n, 2)) for center in (0.0, 6.0)]
    return np.concatenate([*clusters, rng.uniform(-15.0, 20.0, (5, 2))])


@pytest.mark.parametrize("covariance", ["known", "diag", "spherical"])
def test_densities_are_those_of_scipy_and_of_the_box(covariance):
    X, rng = plane(), np.random.default_rng(1)
    least = {"noise_variance": [1.5, 0.5]} if covariance == "known" else {"variance_floor": 0.4}
    problem = gopfast.GaussianMixture(X, 2, covariance=covariance, noise=True, **least)
    assert problem.noise == pytest.approx(1.0 / np.prod(np.ptp(X, axis=0)))
    state = problem.maximize(rng.dirichlet(np.ones(3), len(X)))
    found = problem.log_densities(**{name: state[name] for name in problem.parameter_names})
    variances = problem.kind.variances(state.get("covariances"))
    for k in range(2):
        expected = stats.norm.logpdf(X, state["means"][k], np.sqrt(variances[k])).sum(axis=1)
        assert found[:, k] == pytest.approx(expected, rel=1e-12)
    assert found[:, 2] == pytest.approx(math.log(problem.noise))
    density = np.exp(found) @ state["weights"]
    assert problem.elbo(**state) == pytest.approx(np.log(density).sum(), rel=1e-12)
    assert problem.n_parameters == {"known": 6, "diag": 10, "spherical": 8}[covariance]


def test_em_never_rises_and_its_m_step_is_best():
    problem, rng = gopfast.GaussianMixture(plane(), 2, noise=0.01), np.random.default_rng(2)
    tau = rng.dirichlet(np.ones(3), problem.n_samples)
    values = []
    for _ in range(15):
        state = problem.maximize(tau)
        other = problem.maximize(0.95 * tau + 0.05 * rng.dirichlet(np.ones(3), problem.n_samples))
        best = problem.objective(**state, responsibilities=tau)
        assert best <= problem.objective(**other, responsibilities=tau) + 1e-9
        values.append(problem.objective(**state))
        tau = problem.responsibilities(**state)
    assert (np.diff(values) <= 1e-9).all()


@pytest.mark.parametrize("noise", [True, 1e-4, 0.3])
def test_no_grid_of_parameters_is_below_the_bound(noise):
    problem = gopfast.GaussianMixture(LINE, 1, variance_floor=0.2, noise=noise)
    result = gopfast.solve(problem, 1e-3)
    assert result.success
    grid = itertools.product(np.linspace(-15, 20, 36), np.geomspace(0.2, 120.0, 10), np.linspace(0.0, 1.0, 6))
    values = [problem.objective([1.0 - w, w], [[m]], [[v]]) for m, v, w in grid]
    assert result.lower_bound <= min(values) and result.objective <= min(values) + 1e-3
    found = result.solution
    assert problem.objective(found.weights, **found.parameters) == pytest.approx(result.objective, abs=1e-8)


def test_noise_of_no_density_is_none():
    plain, noisy = (gopfast.GaussianMixture(LINE, 2, variance_floor=0.2, noise=noise) for noise in (None, 1e-200))
    ours, theirs = gopfast.solve(noisy), gopfast.solve(plain)
    assert ours.objective == pytest.approx(theirs.objective, abs=0.01)
    assert ours.solution.weights[2] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("covariance", ["known", "diag", "spherical"])
def test_no_start_ends_below_what_is_proved(covariance):
    problem = gopfast.GaussianMixture(plane(3), 2, covariance=covariance, noise=True)
    result = gopfast.solve(problem, 0.1)
    least = min(gopfast.local.em(problem, random_state=seed).objective for seed in range(8))
    assert result.success and result.lower_bound <= least + 1e-9
    assert np.count_nonzero(result.predict()[-5:] == 2) >= 3


def test_scaling_the_data_moves_the_bounds_by_the_jacobian():
    plain, scaled = (gopfast.solve(gopfast.GaussianMixture(s * plane(4), 1, noise=True, variance_floor=0.5 * s * s))
                     for s in (1.0, 1e3))  # fmt: skip
    assert scaled.objective - plane(4).size * math.log(1e3) == pytest.approx(plain.objective, abs=1e-6)


def test_what_is_asked_of_a_fit():
    X = plane(5, 8)
    problem = gopfast.GaussianMixture(X, 2, noise=True, variance_floor=0.5)
    result = gopfast.solve(problem, 0.1)
    solution = result.solution
    assert solution.weights.shape == (3,) and solution.responsibilities.shape == (len(X), 3)
    assert "noise" in str(result) and "2 components and noise" in str(result.summary())
    assert gopfast.certify(problem, solution, 0.2).verdict.name == "PROVED"
    drawn, components = result.sample(400, 0)
    lost = drawn[components == 2]
    assert (lost >= X.min(axis=0)).all() and (lost <= X.max(axis=0)).all() and len(lost) > 10
    again = rebuild(record(problem), X)
    assert again.noise == problem.noise
    assert again.objective(solution.weights, **solution.parameters) == problem.objective(
        solution.weights, **solution.parameters
    )
    assert gopfast.bootstrap(result, 1).standard_errors["means"].shape == (2, 2)
    assert problem.canonical_order(solution.weights, **solution.parameters).tolist() == [0, 1]
    assert gopfast.select(X, [1, 2], covariances="spherical", noise=True, variance_floor=0.5).n_components == 2
    choice = gopfast.select(X, [1], noise=True, variance_floor=0.5, time_limit=0.0)
    assert {one.covariance for one in choice.candidates} == {"spherical", "diag"}  # those that take noise


@pytest.mark.parametrize("covariance", ["known", "diag", "spherical"])
def test_the_checker_costs_noise_as_the_model_does(covariance):
    least = {"noise_variance": 1.5} if covariance == "known" else {"variance_floor": 0.4}
    problem = gopfast.GaussianMixture(plane(6, 5), 1, covariance=covariance, noise=0.02, **least)
    stated = Problem(problem._record_of_proof(), problem.X, None)
    cost, exact = cost_of_noise(stated), -mpmath.log(mpmath.mpf(0.02))
    for v in stated.noise_variance if covariance == "known" else []:
        exact -= mpmath.log(2 * mpmath.pi * mpmath.mpf(v)) / 2
    assert cost.low <= exact <= cost.high <= cost.low + 1e-12
    # one component beside noise may have any part of the samples
    rules = Bounds(stated).rules
    assert rules.low[0] == problem.X[:, 0].min() and rules.high[0] == problem.X[:, 0].max()


def test_a_proof_with_noise_is_of_that_density_and_has_no_prices(tmp_path):
    path = tmp_path / "noise.npz"
    problem = gopfast.GaussianMixture(LINE, 1, noise=True, variance_floor=0.2)
    result = gopfast.solve(problem, 1e-3, proof=path)
    found = gopfast.check(path, LINE, problem=problem)
    assert result.success and found.gap <= 1e-3 and found.problem["noise"] == problem.noise
    other = gopfast.GaussianMixture(LINE, 1, noise=0.03, variance_floor=0.2)
    for wrong in (other, gopfast.GaussianMixture(LINE, 1, variance_floor=0.2)):
        with pytest.raises(gopfast.ProofError, match="problem: noise is"):
            gopfast.check(path, LINE, problem=wrong)
    for name in ("prices", "blocks"):  # whose rules are of components with parameters
        header, arrays = proofs.parts(path)
        if name == "prices":
            arrays["prices"], arrays["leaves"] = np.full(len(LINE), 1e3), np.zeros(0, dtype="int32")
            arrays["slopes"], arrays["log_weights"] = arrays["slopes"][:0], arrays["log_weights"][:0]
        else:
            arrays["blocks"], arrays["block_weights"] = np.ones((1, 1), dtype="int32"), np.ones(1)
        proofs.put(tmp_path / "bad.npz", header, arrays)
        with pytest.raises(gopfast.ProofError, match=f"{name}: are of .* noise"):
            gopfast.check(tmp_path / "bad.npz", LINE)
    for more in ({"noise": 0.0}, {"noise": -1.0}, {"noise": True}, {"noise": 0.1, "prior": [1.0, 1.0]}):
        header = {"family": "known", "n_components": 1, "noise_variance": [1.0], "prior": None, **more}
        with pytest.raises(gopfast.ProofError, match="problem"):
            Problem(header, LINE, None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": -1.0}, "noise must"),
        ({"noise": "yes"}, "noise must"),
        ({"noise": True, "covariance": "tied"}, "noise must be None with a prior or covariance='tied'"),
        ({"noise": True, "covariance": "full"}, "noise must be None"),
        ({"noise": True, "prior": 2.0}, "noise must be None with a prior"),
    ],
)
def test_bad_noise_is_named(options, message):
    with pytest.raises(InputError, match=f"^{message}"):
        gopfast.GaussianMixture(plane(), 2, **options)


def test_what_noise_is_not_offered_for_is_refused():
    with pytest.raises(InputError, match="^noise must be a density"):
        gopfast.GaussianMixture([[1.0, 2.0], [1.0, 5.0]], 1, noise=True)
    problem = gopfast.GaussianMixture(LINE, 1, noise=True)
    with pytest.raises(InputError, match="^problem must have noise=None"):
        gopfast.optima(problem)
    with pytest.raises(InputError, match="^relaxation='pricing' needs"):
        gopfast.solve(gopfast.GaussianMixture(LINE, 2, noise=True), relaxation="pricing")
