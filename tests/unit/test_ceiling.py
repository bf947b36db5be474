"""Bounds that need no search, and what a result says when the limit comes before the first node."""

import numpy as np
import pytest
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search
from gopfast.search.stop import StopSignal

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.closed_form.ceiling import least_objective, saturated_bound
from gopfast.result import Status
from tests.support import definitions
from tests.support.problems import KINDS, make, nudged, random_state


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_no_state_lies_below_the_least_objective(kind, d, weighted):
    weight = np.random.default_rng(4).choice([0.0, 0.01, 1.0, 7.5], 12) if weighted else None
    problem = make(kind, seed=1, K=2, d=d, sample_weight=weight)
    least = least_objective(problem)
    assert np.isfinite(least)
    rng = np.random.default_rng(2)
    for size in np.repeat([0.0, 0.1, 3.0], 40):
        state = nudged(problem, random_state(problem, rng), rng, size)
        assert problem.objective(**state) >= least


@pytest.mark.parametrize("covariance", ["spherical", "diag", "tied", "full"])
def test_samples_on_components_at_the_floor_attain_it(covariance):
    problem = gopfast.GaussianMixture([[0.0, 1.0]] * 5, 2, covariance=covariance, variance_floor=0.3)
    result = gopfast.solve(problem)
    assert least_objective(problem) <= result.objective
    assert np.isclose(least_objective(problem), result.objective, rtol=1e-9)


def test_impossible_rates_of_a_prior_are_bounded():
    problem = gopfast.ExponentialMixture([0.0, 0.0, 0.0], 2, prior=(1.0, 1e-3))
    result = gopfast.solve(problem)
    assert least_objective(problem) <= result.objective
    assert least_objective(problem) > -100.0


def many(d, covariance="diag"):
    X = np.random.default_rng(5).normal(size=(60_000, d)) * np.linspace(1.0, 2.0, d)
    return gopfast.GaussianMixture(X, 3, covariance=covariance, variance_floor=0.1)


@pytest.mark.parametrize("limit", [0.0, 1e-6, 0.2])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_out_of_time_before_the_root_the_bounds_are_valid(d, limit):
    problem = many(d)
    result = gopfast.solve(problem, time_limit=limit)
    assert result.status is Status.TIME_LIMIT
    assert least_objective(problem) <= result.lower_bound < result.objective
    value = problem.objective(result.solution.weights, **result.solution.parameters)
    assert np.isclose(value, result.objective, rtol=1e-9)
    assert (result.history[:, 2] >= least_objective(problem)).all()


def test_starts_leave_the_root_its_time():
    """Once half of a time limit is gone no more than one of them is run, however much is left."""

    def passes(spent):
        family = engine.family(many(2))
        stop = StopSignal(1e6, spent)
        search = Search(EntropicRelaxation(family), MixturePrimal(family), 0.01, max_nodes=0, stop=stop)
        search.run()
        report = search.summary()[0]
        assert np.isfinite(report["objective"])
        return report["n_passes"]

    assert passes(spent=5e5) < 0.1 * passes(spent=0.0)


def test_starts_on_some_of_the_samples_are_polished_on_all():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(50_000, 4)) + 30.0 * rng.integers(3, size=(50_000, 1))
    problem = gopfast.GaussianMixture(X[np.argsort(X[:, 0])], 3, covariance="known")
    assert not engine.family(problem).data.levels
    results = [gopfast.solve(problem, n_threads=n, max_nodes=1) for n in (1, 2)]
    assert [result.objective for result in results] == [results[0].objective] * 2
    reference = gopfast.local.em(problem, start=[[m] * 4 for m in (0.0, 30.0, 60.0)])
    assert np.isclose(results[0].objective, reference.objective, rtol=1e-9)


ONES = [1.0, 1.0 + 2.0**-52, 1.0 + 1e-12, 1.0 + 1e-9, 1.01, 2.0, 7.0, 300.0, 1e8, 1e15]
"""Parameters of priors: one, and near it; as large as a user may think of."""


def discrete(kind, prior, seed):
    """Small data with ties and weights from 1e-6 to 1e6, and a prior; the second of a pair is drawn."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    weight = np.exp(rng.uniform(np.log(1e-6), np.log(1e6), n)) if seed % 2 else None
    other = float(rng.choice(ONES))
    if kind == "categorical":
        X = rng.integers(0, 4, (n, d))
        return gopfast.CategoricalMixture(
            X, 2, prior=prior, sample_weight=weight, categories=[range(4), [0, 1, 2, 3, 9], range(4)][:d]
        )
    if kind == "Bernoulli":
        return gopfast.BernoulliMixture(rng.integers(0, 2, (n, d)), 2, prior=(prior, other), sample_weight=weight)
    rate = float(rng.choice([1e-8, 0.3, 1.0, 1e8]))
    if kind == "Poisson":
        return gopfast.PoissonMixture(rng.poisson(3.0, (n, d)), 2, prior=(prior, rate), sample_weight=weight)
    return gopfast.ExponentialMixture(rng.exponential(3.0, (n, d)), 2, prior=(prior, rate), sample_weight=weight)


@pytest.mark.parametrize("prior", ONES)
@pytest.mark.parametrize("kind", ["categorical", "Bernoulli", "Poisson", "exponential"])
def test_no_ceiling_lies_above_a_state_with_a_prior(kind, prior):
    """Of states from random responsibilities, the objective from its definition; flat priors have constants too."""
    for seed in range(6):
        problem = discrete(kind, prior, seed)
        ceiling = max(least_objective(problem), saturated_bound(problem, engine.family(problem)))
        rng = np.random.default_rng(seed)
        states = [random_state(problem, rng) for _ in range(4)]
        # one component with all of the weight and the others on the prior's mode
        tau = np.zeros((problem.n_samples, 2))
        tau[:, 0] = 1.0
        states.append(problem.maximize(tau))
        for state in states:
            assert ceiling <= definitions.objective(problem, **state)


def test_the_prior_of_three_labels_counts_in_the_saturated_bound():
    """A flat Dirichlet density of C labels is Gamma(C): the objective of this example lies below its rows' entropy."""
    X = [[0, 2, 0], [0, 1, 2], [1, 1, 2], [0, 1, 2], [1, 0, 2], [0, 0, 1], [1, 2, 2]]
    weight = [
        3.4672458337904598e-06, 570.8402810702371, 0.0005164580451227712, 10.10814774281506, 0.00546735319242206,
        6.715439005173807e-05, 0.06895042670957102,
    ]  # fmt: skip
    problem = gopfast.CategoricalMixture(X, 2, prior=1.0, sample_weight=weight)
    for seed in range(3):
        result = gopfast.solve(problem, random_state=seed)
        assert result.success
        assert result.objective < -2.0
        assert result.lower_bound <= definitions.of_solution(result) <= result.objective


@pytest.mark.parametrize("kind", ["categorical", "Bernoulli"])
def test_the_saturated_bound_is_attained_with_a_flat_prior(kind):
    """Where the rows identify nothing, two components have any probabilities of the rows."""
    if kind == "categorical":
        problem = gopfast.CategoricalMixture([0, 1, 1, 2, 2, 2], 2, prior=1.0)
    else:
        problem = gopfast.BernoulliMixture([0, 1, 1, 1], 2, prior=(1.0, 1.0))
    result = gopfast.solve(problem)
    assert saturated_bound(problem, engine.family(problem)) == pytest.approx(result.objective, abs=1e-10)
