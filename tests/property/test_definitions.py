"""
Results against the definition of the objective in mpmath: what is reported is attained, what is proved holds.

Data as real ones may be: huge counts, priors at and around 1 and far from it, weights from 1e-6 to 1e6 and 1e15.
"""

import numpy as np
import pytest
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.probe import box_bound

import gopfast
from gopfast.mixtures import engine
from gopfast.result import Status
from tests.support import definitions
from tests.support.audit import root_of
from tests.support.problems import KINDS, make, random_state

pytestmark = pytest.mark.filterwarnings("error")

NODES = 400
DIGITS_LOST = 1e-28  # by a sum in mpmath: an optimum of 0 comes out as 1e-45
PRIORS = [1.0, 1.0 + 2.0**-52, 1.0 + 1e-9, 1.01, 3.0, 1e8, 1e15]
WEIGHTS = [(1.0, 1.0), (1e-6, 1e6), (1e15, 1e15)]


def counts(magnitude, apart, seed=0, n=60):
    """Two groups of counts, of rates that differ by some deviations or by a factor of 2."""
    rng = np.random.default_rng(seed)
    other = magnitude + 10.0 * np.sqrt(magnitude) if apart == "near" else 2.0 * magnitude
    rate = np.where(rng.random(n) < 0.5, magnitude, other)
    return np.round(rate + np.sqrt(rate) * rng.normal(size=n))


def weights_of(name, rng, n):
    low, high = name
    return np.exp(rng.uniform(np.log(low), np.log(high), n))


def exponential_family(kind, prior, weights, K, seed):
    """A problem of any exponential family; `prior` is its shape or concentration, the rate is drawn."""
    rng = np.random.default_rng(seed)
    n = 12
    w, rate = weights_of(weights, rng, n), float(rng.choice([1e-8, 0.4, 1.0, 1e8]))
    if kind == "categorical":
        return gopfast.CategoricalMixture(rng.integers(0, 3, (n, 2)), K, prior=prior, sample_weight=w)
    if kind == "Bernoulli":
        given = None if prior is None else (prior, float(rng.choice(PRIORS)))
        return gopfast.BernoulliMixture(rng.integers(0, 2, (n, 2)), K, prior=given, sample_weight=w)
    given = None if prior is None else (prior, rate)
    if kind == "Poisson":
        return gopfast.PoissonMixture(rng.poisson([1.0, 9.0], (n, 2)), K, prior=given, sample_weight=w)
    unit = float(rng.choice([1e-290, 1.0, 1e290]))
    given = None if prior is None else (prior, rate * unit)
    return gopfast.ExponentialMixture(unit * rng.exponential([1.0, 9.0], (n, 2)), K, prior=given, sample_weight=w)


def assert_honest(result, epsilon=0.01):
    """The objective is attained by the solution; OPTIMAL is a gap; the plain objective agrees with the definition."""
    problem, solution = result.solution.problem, result.solution
    attained = definitions.of_solution(result)
    assert result.lower_bound <= DIGITS_LOST + attained <= result.objective
    if result.status is Status.OPTIMAL:
        assert result.objective - result.lower_bound <= epsilon * (1 + 1e-12)
        assert result.objective - attained <= epsilon
    plain = problem.objective(solution.weights, **solution.parameters)
    size = magnitude(problem, solution)
    assert abs(plain - attained) <= 1e-13 * size
    # what is reported is the value but for the rounding margin; costs of counts are relative to their average
    if isinstance(problem, gopfast.PoissonMixture):
        size += 1e-2 * float(problem.sample_weight @ problem.X.sum(axis=1))
    assert result.objective - attained <= 1e-11 * size


def magnitude(problem, solution):
    """Sum of the magnitudes of an objective's terms: its rounding is in units of this."""
    densities = np.abs(problem.log_densities(**solution.parameters))
    finite = np.where(np.isfinite(densities), densities, 0.0)
    size = problem.total_weight + float(problem.sample_weight @ (solution.responsibilities * finite).sum(axis=1))
    if problem.prior is None or problem.prior == "empirical":
        return size
    prior = np.ravel(problem.prior).max()
    return size + 100.0 * problem.n_components * problem.n_features * prior * (1.0 + np.log(prior))


def assert_bound_holds(result, rng, n_states=3):
    """No state that EM reaches from random responsibilities lies below the bound."""
    problem = result.solution.problem
    for _ in range(n_states):
        state = random_state(problem, rng)
        for _ in range(8):
            state = problem.maximize(problem.responsibilities(**state), **state)
        assert result.lower_bound <= definitions.objective(problem, **state) + DIGITS_LOST


def bound_around(result, width=1e-3):
    """The core's bound of a small box around the solution's parameters: no clipping hides an excess."""
    problem, solution = result.solution.problem, result.solution
    family = engine.family(problem)
    point, own = family.pack(**solution.parameters), family.n_components * family.n_cell
    cells = point[:own].reshape(family.n_components, -1)
    # in the core's order, which need not be the user's
    point[:own] = cells[np.argsort(cells[:, 0], kind="stable")].ravel()
    low, high = root_of(family)
    point = np.clip(point, low, high)  # a cell that reaches an endless root's end has no end
    reach = width * (high - low)
    return box_bound(EntropicRelaxation(family), np.maximum(low, point - reach), np.minimum(high, point + reach))


@pytest.mark.parametrize("kind", KINDS)
def test_objectives_are_those_of_the_definition(kind):
    for seed, K in ((0, 1), (1, 2), (2, 3)):
        result = gopfast.solve(make(kind, seed, n=12, K=K, d=2), max_nodes=60, n_threads=1)
        assert_honest(result)
        assert_bound_holds(result, np.random.default_rng(seed))


@pytest.mark.parametrize("K", [1, 2])
@pytest.mark.parametrize("apart", ["near", "far"])
@pytest.mark.parametrize("magnitude", [1e3, 1e6, 1e9, 1e12, 1e14, 1e15])
def test_huge_counts(magnitude, apart, K):
    result = gopfast.solve(gopfast.PoissonMixture(counts(magnitude, apart), K), max_nodes=NODES, n_threads=1)
    assert_honest(result)
    assert_bound_holds(result, np.random.default_rng(0))
    attained = definitions.of_solution(result)
    if K > 1:
        assert -np.inf < bound_around(result) <= attained
    # near one another, even the largest counts have all digits that a proof needs
    if apart == "near" or magnitude <= 1e9:
        assert result.status is Status.OPTIMAL
    if result.objective - attained > 0.01:
        assert result.status is not Status.OPTIMAL


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("prior", [None, *PRIORS])
@pytest.mark.parametrize("kind", ["Bernoulli", "categorical", "Poisson", "exponential"])
def test_priors_and_weights_of_all_magnitudes(kind, prior, weights):
    for seed, K in ((0, 1), (1, 2), (2, 2)):
        problem = exponential_family(kind, prior, weights, K, seed)
        result = gopfast.solve(problem, max_nodes=60, n_threads=1)
        assert_honest(result)
        assert_bound_holds(result, np.random.default_rng(seed), n_states=2)
        if K > 1 and (prior is None or prior <= 3.0):
            assert bound_around(result) <= definitions.of_solution(result)


GAUSSIANS = {
    "known": {},
    "fixed prior": {"prior": 2.5},
    "empirical prior": {"prior": "empirical"},
    "Gaussian posterior": {"prior": 2.5, "posterior": "gaussian"},
    "diag": {"covariance": "diag"},
    "spherical": {"covariance": "spherical"},
    "tied_spherical": {"covariance": "tied_spherical"},
}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", GAUSSIANS)
def test_gaussians_with_offsets_units_and_ties(kind, seed):
    """Data of few digits, near one another beside their size, weights from 1e-6 to 1e6."""
    rng = np.random.default_rng(seed)
    K, d = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    n = int(rng.integers(max(2, K), 12))
    offset, spread = float(rng.choice([0.0, 1.0, 1e4, -1e8, 1e12])), float(rng.choice([1e-8, 1e-3, 1.0, 1e5]))
    X = offset + spread * np.round(rng.normal(size=(n, d)), int(rng.integers(0, 6)))
    name = "variance_floor" if "covariance" in GAUSSIANS[kind] else "noise_variance"
    given = {**GAUSSIANS[kind], name: spread**2 * float(rng.choice([0.01, 0.1, 1.0]))}
    weight = np.exp(rng.uniform(np.log(1e-6), np.log(1e6), n)) if seed % 3 else None
    result = gopfast.solve(gopfast.GaussianMixture(X, K, sample_weight=weight, **given), max_nodes=100, n_threads=1)
    assert result.lower_bound <= DIGITS_LOST + definitions.of_solution(result) <= result.objective
    if result.status is Status.OPTIMAL:
        assert result.gap <= 0.01
    assert_bound_holds(result, rng, n_states=2)


@pytest.mark.parametrize("kind", ["Bernoulli", "categorical", "Poisson", "exponential"])
@pytest.mark.parametrize("prior", [None, *PRIORS])
def test_the_cores_objective_is_that_of_the_definition_at_any_state(kind, prior):
    """Rounded up, by its margin; with the constants of priors that cancel against the rest."""
    for seed in range(4):
        problem = exponential_family(kind, prior, (1e-6, 1e6), 2, seed)
        state = random_state(problem, np.random.default_rng(seed))
        weights = state.pop("weights")
        family = engine.family(problem)
        solution, trace, _ = MixturePrimal(family).em(weights, family.pack(**state), 0.0, 0)
        exact = definitions.objective(problem, weights, **family.parameters(solution))
        scale = abs(float(exact)) + problem.total_weight
        if prior is not None:
            scale += 100.0 * prior * (1.0 + np.log(prior))
        assert 0 <= trace[0] - exact <= 1e-10 * scale
