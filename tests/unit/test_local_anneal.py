"""Deterministic anti-annealing EM."""

import numpy as np
import pytest
from scipy.special import logsumexp
from support import problems
from support.problems import KINDS

import gopfast
from gopfast import local
from gopfast.mixtures.local._anneal import SCHEDULE, stage, tempered_responsibilities

every_kind = pytest.mark.parametrize("kind", KINDS)
MINIMAL = [-10.0, -10.0, 5.0, 25.0]


@every_kind
@pytest.mark.parametrize("beta", [0.2, 0.7, 1.2])
def test_a_stage_never_raises_its_own_objective(kind, beta):
    problem = problems.make(kind, seed=4, n=20, K=3, d=2)
    state = problems.random_state(problem, np.random.default_rng(1))
    _, _, _, values = stage(problem, state, beta, 1e-9, 50)
    assert len(values) >= 2
    # Sums of some hundred rounded logarithms.
    assert np.diff(values).max() <= 1e-11 * (1.0 + np.abs(values).max())


def test_the_objective_of_a_stage_is_the_tempered_free_energy():
    """Up to one constant it is -1/beta sum_i w_i log sum_k (pi_k p_ik)^beta, with SciPy's log-sum-exp."""
    problem = problems.make("known", n=12, K=3, sample_weight=np.arange(12.0))
    beta, shifts = 0.4, []
    for seed in range(4):
        state = problems.random_state(problem, np.random.default_rng(seed))
        values = stage(problem, state, beta, 0.0, 1)[3]
        scores = np.log(state["weights"]) + problem.log_densities(state["means"])
        shifts.append(values[0] + problem.sample_weight @ logsumexp(beta * scores, axis=1) / beta)
    assert np.ptp(shifts) <= 1e-10


@every_kind
def test_tempered_responsibilities_are_powers(kind):
    problem = problems.make(kind, n=15, K=3)
    state = problems.random_state(problem, np.random.default_rng(2))
    tau = problem.responsibilities(**state)
    for beta in (0.3, 1.0, 1.7):
        powers = tau**beta
        expected = powers / powers.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(tempered_responsibilities(problem, state, beta), expected, rtol=1e-9, atol=1e-12)


def test_a_sample_that_no_component_can_produce_gets_the_weights():
    problem = gopfast.BernoulliMixture([0, 1, 1], 2)
    state = {"weights": np.array([0.3, 0.7]), "probabilities": np.array([[1.0], [1.0]])}
    np.testing.assert_allclose(tempered_responsibilities(problem, state, 0.5)[0], [0.3, 0.7])


def test_samples_far_from_every_component_do_no_harm():
    problem = gopfast.GaussianMixture([0.0, 1.0, 1e7], 2, covariance="known")
    assert np.isfinite(local.anneal(problem, [0.0, 0.0]).objective)


@pytest.mark.parametrize("kind", ["known, empirical prior", "diag", "full", "categorical, prior"])
def test_a_schedule_of_one_is_em(kind):
    problem = problems.make(kind, n=20, K=3)
    ours, em = (method(problem, random_state=3, max_iter=30, **options) for method, options in
                ((local.anneal, {"schedule": [1]}), (local.em, {})))  # fmt: skip
    np.testing.assert_allclose(ours.trace, em.trace, rtol=1e-12, atol=1e-10)
    assert ours.converged == em.converged


@every_kind
def test_the_end_is_a_fixed_point_of_em(kind):
    problem = problems.make(kind, seed=2, n=20, K=2)
    fit = local.anneal(problem, random_state=1, tol=1e-9, max_iter=3000)
    assert fit.converged
    assert local.em(problem, fit, tol=0.0, max_iter=1).elbo - fit.elbo <= 2e-9
    assert len(fit.trace) == fit.n_iter + 1


def test_the_last_stage_never_lowers_the_elbo():
    problem = problems.make("known", seed=1, n=40, K=4)
    before = local.anneal(problem, random_state=2, schedule=[*SCHEDULE[:4], 1.0])
    fit = local.anneal(problem, random_state=2)
    # The stages before 1.2 are the first steps of the longer schedule.
    np.testing.assert_array_equal(fit.trace[: len(before.trace)], before.trace)
    last = fit.trace[-5:]
    assert np.diff(last).min() >= -1e-11 * (1.0 + abs(fit.elbo))


@pytest.mark.parametrize("start", [[-5.0, 25.0], [-4.0, 24.0], [-6.0, 23.0]])
def test_the_papers_global_optimum_is_found_from_next_to_it(start):
    problem = gopfast.GaussianMixture(MINIMAL, 2, prior="empirical")
    assert local.anneal(problem, start).objective == pytest.approx(84.03016, abs=1e-5)


@pytest.mark.parametrize("schedule", [[], [0.5], [0.0, 1.0], [-1.0, 1.0], [np.nan, 1.0], "hot", [[1.0]], None])
def test_a_bad_schedule_is_named(schedule):
    with pytest.raises(gopfast.InputError, match="^schedule"):
        local.anneal(gopfast.GaussianMixture(MINIMAL, 2, covariance="known"), schedule=schedule)
