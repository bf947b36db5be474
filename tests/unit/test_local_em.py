"""The local method: what its result says must be true of its parameters."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from support.settings import examples

import gopfast
from gopfast import local

MINIMAL = [-10.0, -10.0, 5.0, 25.0]
PRIORS = [None, "empirical", 4.0]
many = examples(40)


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 3))
    X = rng.standard_normal((n, d)) * draw(st.sampled_from([0.1, 1.0, 20.0]))
    X += draw(st.sampled_from([0.0, 1e4]))
    weight = rng.choice([0.0, 1.0, 2.5], n) if draw(st.booleans()) else None
    if weight is not None:
        weight[0] = 1.0
    return gopfast.GaussianMixture(
        X, draw(st.integers(1, min(n, 4))), prior=draw(st.sampled_from(PRIORS)), sample_weight=weight,
        noise_variance=rng.uniform(0.2, 3.0, d), covariance="known",
    )  # fmt: skip


@many
@given(problem=problems(), seed=st.integers(0, 1000))
def test_the_objective_is_that_of_the_parameters(problem, seed):
    fit = local.em(problem, random_state=seed)
    solution = fit.solution
    attained = problem.objective(solution.weights, solution.means, solution.prior_variance)
    assert fit.objective == pytest.approx(attained, rel=1e-11, abs=1e-10)
    assert fit.elbo == problem.elbo_constant - fit.objective
    assert fit.elbo == fit.trace[-1]


@many
@given(problem=problems(), seed=st.integers(0, 1000))
def test_the_elbo_never_decreases(problem, seed):
    fit = local.em(problem, random_state=seed)
    steps = np.diff(fit.trace)
    assert len(fit.trace) == fit.n_iter + 1
    assert steps.min() >= -1e-9 * (1.0 + np.abs(fit.trace - problem.elbo_constant).max())


@many
@given(problem=problems(), seed=st.integers(0, 1000))
def test_one_more_step_by_hand_changes_little_after_convergence(problem, seed):
    """The fixed point of equations (24) and (28), in NumPy."""
    fit = local.em(problem, random_state=seed, tol=1e-12, max_iter=20_000)
    assume(fit.converged)
    solution, v, X = fit.solution, problem.noise_variance, problem.X
    mass = problem.sample_weight[:, None] * solution.responsibilities
    count = mass.sum(axis=0)
    pull = np.zeros_like(v) if problem.prior is None else v / solution.prior_variance
    means = solution.means + (
        np.einsum("ik,ikj->kj", mass, X[:, None, :] - solution.means) - pull * solution.means
    ) / np.maximum(count[:, None] + pull, 1e-300)
    gain = problem.objective(solution.weights, solution.means) - problem.objective(count / count.sum(), means)
    assert gain <= 1e-8 * (1.0 + abs(fit.objective))


@pytest.mark.parametrize("prior", PRIORS)
def test_the_first_entry_of_the_trace_belongs_to_the_start(prior):
    problem = gopfast.GaussianMixture(MINIMAL, 2, prior=prior, covariance="known")
    fit = local.em(problem, start=[-1.0, 2.0])
    assert fit.trace[0] == pytest.approx(problem.elbo([0.5, 0.5], [-1.0, 2.0]), abs=1e-10)


def test_a_loose_tolerance_stops_earlier_and_says_converged():
    problem = gopfast.GaussianMixture(MINIMAL, 2, covariance="known")
    loose, tight = (local.em(problem, start=[-1.0, 2.0], tol=tol) for tol in (1.0, 1e-10))
    assert loose.converged and tight.converged
    assert loose.n_iter < tight.n_iter
    assert loose.trace[-1] - loose.trace[-2] <= 1.0
    assert (np.diff(loose.trace[:-1]) > 1.0).all()


@pytest.mark.parametrize("max_iter", [1, 2, 5])
def test_max_iter_stops_before_convergence_and_says_so(max_iter):
    X = np.linspace(0.0, 3.0, 50)
    fit = local.em(gopfast.GaussianMixture(X, 3, covariance="known"), tol=0.0, max_iter=max_iter)
    assert not fit.converged
    assert fit.n_iter == max_iter
    assert len(fit.trace) == max_iter + 1


def test_means_lists_and_arrays_start_alike():
    problem = gopfast.GaussianMixture(MINIMAL, 2, covariance="known")
    flat, column = local.em(problem, start=[-1, 2]), local.em(problem, start=np.array([[-1.0], [2.0]]))
    np.testing.assert_array_equal(flat.trace, column.trace)


@pytest.mark.parametrize("kind", ["local result", "solution", "global result"])
def test_a_result_as_start_is_continued(kind):
    problem = gopfast.GaussianMixture(MINIMAL, 2, prior="empirical")
    first = gopfast.solve(problem) if kind == "global result" else local.em(problem, start=[-5.0, 25.0])
    again = local.em(problem, start=first.solution if kind == "solution" else first)
    # The weights of a solution are taken too: the very first objective is already the optimum.
    assert again.trace[0] == pytest.approx(first.elbo, abs=1e-9)
    assert again.objective == pytest.approx(first.objective, abs=1e-7)


def test_a_start_from_an_empty_component_far_from_its_data_is_valued_honestly():
    """The sample at 100 belongs to the component at 0: the other has no weight."""
    problem = gopfast.GaussianMixture([0.0, 100.0], 2, covariance="known")
    empty = gopfast.MixtureSolution(
        problem=problem, weights=np.array([1.0, 0.0]), means=np.array([[0.0], [100.0]])
    )
    fit = local.em(problem, start=empty, max_iter=1)
    assert problem.elbo_constant - fit.trace[0] == pytest.approx(5000.0, rel=1e-12)


def test_the_default_start_repeats_with_the_seed():
    problem = gopfast.GaussianMixture(np.linspace(-3.0, 9.0, 40) ** 2, 4, covariance="known")
    traces = [local.em(problem, random_state=seed).trace for seed in (1, 1, 2)]
    np.testing.assert_array_equal(traces[0], traces[1])
    assert traces[0][0] != traces[2][0]


@pytest.mark.parametrize("d", [1, 3])
def test_one_component_without_prior_is_the_weighted_mean(d):
    rng = np.random.default_rng(1)
    X, weight = rng.standard_normal((30, d)) + 5.0, rng.uniform(0.0, 2.0, 30)
    fit = local.em(gopfast.GaussianMixture(X, 1, sample_weight=weight, covariance="known"))
    np.testing.assert_allclose(fit.solution.means[0], np.average(X, axis=0, weights=weight), rtol=1e-12)
    assert fit.solution.weights.item() == pytest.approx(1.0, rel=1e-14)
    assert fit.converged


def test_one_component_with_a_fixed_prior_is_the_shrunk_mean():
    X, gamma, v = np.array([3.0, 4.0, 8.0]), 2.0, 0.5
    fit = local.em(gopfast.GaussianMixture(X, 1, prior=gamma, noise_variance=v, covariance="known"))
    assert fit.solution.means.item() == pytest.approx(X.sum() / (3 + v / gamma), rel=1e-12)


def test_the_log_likelihood_agrees_with_scipy_where_the_model_is_the_same():
    from scipy.stats import norm

    X = np.array([-10.0, -10.0, 5.0, 25.0])
    problem = gopfast.GaussianMixture(X, 2, noise_variance=9.0)
    fit = local.em(problem, start=[-5.0, 25.0])
    density = norm.pdf(X[:, None], fit.solution.means[:, 0], 3.0) @ fit.solution.weights
    assert fit.elbo == pytest.approx(np.log(density).sum(), rel=1e-12)


def test_em_of_scikit_learn_with_its_variance_held_stays_at_the_optimum():
    """With hard clusters of variance 1 per component scikit-learn's model nearly agrees with ours."""
    mixture = pytest.importorskip("sklearn.mixture")
    base = np.array([-1.0, 1.0])  # mean 0, variance 1
    X = np.concatenate([base - 50.0, base, np.tile(base, 2) + 80.0])
    ours = local.em(gopfast.GaussianMixture(X, 3, covariance="known"), start=[-50.0, 0.0, 80.0]).solution
    theirs = mixture.GaussianMixture(
        3, covariance_type="tied", reg_covar=0.0, means_init=[[-50.0], [0.0], [80.0]], tol=1e-10
    ).fit(X[:, None])
    assert theirs.covariances_.item() == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(ours.means, theirs.means_, atol=1e-9)
    np.testing.assert_allclose(ours.weights, theirs.weights_, atol=1e-9)


def test_the_papers_local_optimum_traps_em():
    problem = gopfast.GaussianMixture(MINIMAL, 2, prior="empirical")
    fit = local.em(problem, start=[-10.0, 15.0])
    assert fit.objective == pytest.approx(108.86, abs=0.005)
