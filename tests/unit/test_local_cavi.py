"""Coordinate ascent variational inference for the mixture with equal weights."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import xlogy

import gopfast
from gopfast import local

X = np.array([-3.0, -2.5, -2.0, 0.5, 2.0, 3.5])


def problem(X=X, K=2, **options):
    return gopfast.GaussianMixture(X, K, **{"prior": 4.0, "posterior": "gaussian", **options})


def reference_elbo(X, phi, m, s2, sigma2):
    """
    The ELBO of Blei, Kucukelbir & McAuliffe (2017) term by term, for unit variance and d coordinates.

    E log p(mu) + sum_i [E log p(c_i) + E log p(x_i | c_i, mu)] - E log q(c) - E log q(mu); s2 has shape (K,).
    """
    n, d = X.shape
    K = len(m)
    log_prior = (-0.5 * d * np.log(2.0 * np.pi * sigma2) - (np.square(m).sum(axis=1) + d * s2) / (2.0 * sigma2)).sum()
    distance = np.square(X[:, None, :] - m).sum(axis=2) + d * s2
    log_likelihood = (phi * (-0.5 * d * np.log(2.0 * np.pi) - 0.5 * distance)).sum()
    entropy = -xlogy(phi, phi).sum() + (0.5 * d * np.log(2.0 * np.pi * np.e * s2)).sum()
    return log_prior - n * np.log(K) + log_likelihood + entropy


def reference_step(X, m, s2, sigma2):
    """Algorithm 2 of the source, one sweep."""
    d = X.shape[1]
    score = X @ m.T - 0.5 * (np.square(m).sum(axis=1) + d * s2)
    phi = np.exp(score - score.max(axis=1, keepdims=True))
    phi /= phi.sum(axis=1, keepdims=True)
    size = phi.sum(axis=0)
    return phi, phi.T @ X / (1.0 / sigma2 + size)[:, None], 1.0 / (1.0 / sigma2 + size)


@pytest.mark.parametrize("d", [1, 3])
def test_every_step_is_that_of_the_source(d):
    rng = np.random.default_rng(d)
    data, m, s2 = rng.normal(size=(12, d)) * 3.0, rng.normal(size=(3, d)), np.array([0.3, 0.5, 1.0])
    start = {"means": m, "posterior_variances": np.tile(s2[:, None], d)}
    fit = local.cavi(problem(data, 3), start, tol=0.0, max_iter=6)
    for elbo in fit.trace:
        phi, new_m, new_s2 = reference_step(data, m, s2, 4.0)
        assert elbo == pytest.approx(reference_elbo(data, phi, m, s2, 4.0), abs=1e-10)
        last = m, s2
        m, s2 = new_m, new_s2
    order = np.argsort(last[0][:, 0])
    np.testing.assert_allclose(fit.solution.means, last[0][order], atol=1e-12)
    np.testing.assert_allclose(fit.solution.posterior_variances, np.tile(last[1][order][:, None], d), rtol=1e-12)
    np.testing.assert_array_equal(fit.solution.weights, np.full(3, 1.0 / 3.0))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("options", [{}, {"noise_variance": [0.3, 2.0]}, {"sample_weight": np.arange(20.0)}])
def test_the_elbo_never_decreases(seed, options):
    rng = np.random.default_rng(seed)
    mixture = problem(rng.normal(size=(20, 2)) * 3.0, 4, **options)
    fit = local.cavi(mixture, random_state=seed, tol=1e-10)
    assert fit.converged
    # Sums of some forty rounded terms.
    assert np.diff(fit.trace).min() >= -1e-11 * (1.0 + abs(fit.elbo))
    solution = fit.solution
    assert fit.objective == pytest.approx(mixture.objective(solution.weights, **solution.parameters), abs=1e-10)


def optimum(mixture):
    """Least objective with weights 1/K over means and variances, by SciPy from all hard assignments."""
    n, K = mixture.n_samples, mixture.n_components

    def value(theta):
        return mixture.objective(np.full(K, 1.0 / K), theta[:K], np.exp(theta[K:]), 4.0)

    ends = []
    for number in range(K**n):
        labels = number // K ** np.arange(n) % K
        means = [mixture.X[labels == k].mean() if (labels == k).any() else 0.0 for k in range(K)]
        theta = np.concatenate([means, np.full(K, np.log(0.3))])
        ends.append((value(theta), number, theta))
    return min((minimize(value, theta) for _, _, theta in sorted(ends)[:6]), key=lambda end: end.fun)


def test_a_start_next_to_the_optimum_of_a_search_from_everywhere_leads_to_it():
    mixture = problem()
    best = optimum(mixture)
    fit = local.cavi(mixture, start=best.x[:2, None] + 0.2, tol=1e-12)
    assert fit.trace[0] < fit.elbo
    assert fit.objective == pytest.approx(best.fun, abs=1e-7)


def test_free_weights_reach_at_least_as_much():
    """The optimum with estimated weights, as `solve` proves it, bounds this method's from above."""
    mixture = problem()
    assert local.cavi(mixture, start=[-2.0, 2.0]).elbo <= gopfast.solve(mixture, 1e-4).elbo_bound


def test_an_estimated_prior_variance_is_held_where_it_is_asked_for():
    start = {"means": [-2.0, 2.0], "posterior_variances": [0.5, 0.8]}
    held = local.cavi(problem(prior="empirical"), start, prior_variance=4.0)
    fixed = local.cavi(problem(), start)
    np.testing.assert_allclose(held.trace, fixed.trace, rtol=1e-12)
    assert held.solution.prior_variance == 4.0


@pytest.mark.parametrize(
    ("mixture", "options", "words"),
    [
        (problem(posterior="point"), {}, "^problem must have posterior='gaussian'"),
        (gopfast.GaussianMixture(X, 2, covariance="known"), {}, "^problem must have posterior='gaussian'"),
        (gopfast.PoissonMixture([0, 3, 9], 2), {}, "^problem must be a GaussianMixture"),
        (problem(prior="empirical"), {}, "^prior_variance must be given"),
        (problem(prior="empirical"), {"prior_variance": -1.0}, "^prior_variance must be a positive"),
        (problem(prior="empirical"), {"prior_variance": "big"}, "^prior_variance must be a positive"),
        (problem(), {"prior_variance": 5.0}, "^prior_variance must be None or agree"),
    ],
)
def test_a_model_of_another_kind_is_refused(mixture, options, words):
    with pytest.raises(gopfast.InputError, match=words):
        local.cavi(mixture, **options)
