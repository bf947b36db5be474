"""What must not change the answer: threads, seeds, starts, and the units and the order of the data."""

import functools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.settings import examples

import gopfast

MINIMAL = np.array([-10.0, -10.0, 5.0, 25.0])
OPTIMUM = {None: 77.24934, "empirical": 84.03016}


def clusters(n, K, separation, d=1, seed=0):
    rng = np.random.default_rng(seed)
    centers = separation * np.arange(K)
    X = rng.standard_normal((n, d))
    X[:, 0] += centers[rng.integers(0, K, n)]
    return X


def fingerprint(result):
    """Everything but the times."""
    return (
        result.status, result.objective, result.lower_bound,
        result.n_nodes, result.n_subproblems, result.n_lps, result.n_milps, result.n_passes,
        result.solution.means.tolist(), result.solution.weights.tolist(),
        result.history[:, 1:].tolist(),
    )  # fmt: skip


THREADED = {
    "1-D": lambda: gopfast.GaussianMixture(clusters(200, 3, 2.5), 3, covariance="known"),
    "1-D empirical prior": lambda: gopfast.GaussianMixture(clusters(60, 3, 4.0), 3, prior="empirical"),
    "2-D": lambda: gopfast.GaussianMixture(clusters(40, 2, 3.0, d=2), 2, prior=10.0),
}


@pytest.mark.parametrize("name", THREADED)
def test_the_result_does_not_depend_on_the_number_of_threads(name):
    problem = THREADED[name]()
    one, *others = [gopfast.solve(problem, n_threads=n, max_nodes=3000) for n in (1, 2, 4, 2)]
    assert one.n_nodes > 50  # enough for the threads to be woken
    for other in others:
        assert fingerprint(other) == fingerprint(one)


@pytest.mark.parametrize("subproblem", ["enumerate", "milp"])
@pytest.mark.parametrize("partition", ["joint", "paper"])
def test_the_linear_result_does_not_depend_on_the_number_of_threads(partition, subproblem):
    pytest.importorskip("gopfast.mixtures.relaxations.linear")
    problem = gopfast.GaussianMixture(MINIMAL, 2, prior="empirical")
    solve = functools.partial(
        gopfast.solve, problem, 0.1, relaxation="linear", partition=partition, subproblem=subproblem
    )
    one = fingerprint(solve(n_threads=1))
    assert fingerprint(solve(n_threads=2)) == one
    assert fingerprint(solve(n_threads=4)) == one


def test_a_second_solve_repeats_the_first():
    problem = gopfast.GaussianMixture(clusters(100, 3, 2.5), 3, covariance="known")
    assert fingerprint(gopfast.solve(problem)) == fingerprint(gopfast.solve(problem))


@pytest.mark.parametrize("prior", OPTIMUM)
def test_the_optimum_is_the_same_from_100_seeds(prior):
    problem = gopfast.GaussianMixture(MINIMAL, 2, prior=prior, covariance="known")
    for seed in range(100):
        result = gopfast.solve(problem, random_state=seed)
        assert result.success
        assert result.objective == pytest.approx(OPTIMUM[prior], abs=5e-5)


@pytest.mark.parametrize("prior", OPTIMUM)
@pytest.mark.parametrize(
    "start", [[-10.0, 15.0], [0.0, 0.0], [25.0, -10.0], [-1e3, 1e3], [1e8, 1e8]], ids=str
)
def test_the_optimum_is_the_same_from_every_start(prior, start):
    result = gopfast.solve(gopfast.GaussianMixture(MINIMAL, 2, prior=prior, covariance="known"), start=start)
    assert result.success
    assert result.objective == pytest.approx(OPTIMUM[prior], abs=5e-5)


def test_the_proof_is_the_same_from_every_seed_where_em_has_many_optima():
    problem = gopfast.GaussianMixture(clusters(40, 4, 3.0, seed=3), 4, covariance="known")
    results = [gopfast.solve(problem, random_state=seed) for seed in range(8)]
    for result in results:
        assert result.success
        for other in results:
            assert result.lower_bound <= other.objective + 1e-9


def both(problem, other):
    """Two proofs of one optimum: their intervals must intersect, and here the upper ends agree."""
    first, second = gopfast.solve(problem, 1e-3), gopfast.solve(other, 1e-3)
    assert first.success and second.success
    return first, second


many = examples(25)
seeds = st.integers(0, 2**32 - 1)


def agree(first, second, rel=1e-9):
    tiny = 1e-7 + rel * abs(first.objective)
    assert first.lower_bound <= second.objective + tiny
    assert second.lower_bound <= first.objective + tiny
    assert first.objective == pytest.approx(second.objective, abs=1e-3)


@many
@given(seed=seeds, shift=st.sampled_from([-7.5, 100.0, 1e4, -1e6]), d=st.integers(1, 2))
def test_translation_moves_the_means_only(seed, shift, d):
    X = np.round(clusters(10, 2, 4.0, d=d, seed=seed), 3)
    first, second = both(
        gopfast.GaussianMixture(X, 2, covariance="known"), gopfast.GaussianMixture(X + shift, 2, covariance="known")
    )
    agree(first, second)
    assert first.objective == pytest.approx(second.objective, abs=1e-7 * (1.0 + abs(shift)))


@many
@given(seed=seeds, prior=st.sampled_from([None, "empirical", 5.0]), d=st.integers(1, 2))
def test_the_order_of_the_samples_does_not_matter(seed, prior, d):
    X = clusters(12, 2, 4.0, d=d, seed=seed)
    weight = np.random.default_rng(seed).integers(0, 3, 12) + 0.5
    order = np.random.default_rng(seed + 1).permutation(12)
    agree(*both(
        gopfast.GaussianMixture(X, 2, prior=prior, sample_weight=weight, covariance="known"),
        gopfast.GaussianMixture(X[order], 2, prior=prior, sample_weight=weight[order], covariance="known"),
    ))  # fmt: skip


@many
@given(seed=seeds, prior=st.sampled_from([None, "empirical", 5.0]), d=st.integers(1, 2))
def test_a_whole_weight_is_a_repeated_sample(seed, prior, d):
    X = clusters(8, 2, 4.0, d=d, seed=seed)
    weight = np.random.default_rng(seed).integers(0, 4, 8)
    weight[0] = 2
    agree(*both(
        gopfast.GaussianMixture(X, 2, prior=prior, sample_weight=weight, covariance="known"),
        gopfast.GaussianMixture(np.repeat(X, weight, axis=0), 2, prior=prior, covariance="known"),
    ))  # fmt: skip


@many
@given(seed=seeds, scale=st.sampled_from([1e-6, 0.3, 7.0, 1e5]), d=st.integers(1, 2))
def test_the_unit_of_the_data_does_not_matter_to_a_mixture_without_prior(seed, scale, d):
    X = clusters(10, 2, 4.0, d=d, seed=seed)
    first, second = both(
        gopfast.GaussianMixture(X, 2, covariance="known"),
        gopfast.GaussianMixture(scale * X, 2, noise_variance=scale**2, covariance="known"),
    )
    agree(first, second)
    assert second.solution.means == pytest.approx(scale * first.solution.means, abs=0.05 * scale)


@many
@given(seed=seeds, scale=st.sampled_from([1e-3, 0.3, 7.0, 1e3]), d=st.integers(1, 2))
def test_the_unit_of_the_data_adds_a_constant_where_there_is_a_prior(seed, scale, d):
    """``-(K d / 2) log e`` with e divided by the square of the scale."""
    X = clusters(10, 2, 4.0, d=d, seed=seed)
    first, second = both(
        gopfast.GaussianMixture(X, 2, prior=9.0),
        gopfast.GaussianMixture(scale * X, 2, prior=9.0 * scale**2, noise_variance=scale**2, covariance="known"),
    )
    constant = 2 * d * np.log(scale)
    assert second.objective - constant == pytest.approx(first.objective, abs=1e-3)
    assert second.lower_bound - constant <= first.objective + 1e-7
    assert first.lower_bound <= second.objective - constant + 1e-7
