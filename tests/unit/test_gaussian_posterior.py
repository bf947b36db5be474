"""The Gaussian variational posterior of the means, section 4 of the source."""

import math

import numpy as np
import pytest
from scipy import stats
from support import datasets
from support.exhaustive import brute_force_optimum
from support.reference_em import em

from gopfast.models import GaussianMixture


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([0, 0, 0, 1], 82.74365),  # {-10, -10, 5} and {25}: the global optimum
        ([0, 0, 1, 1], 107.71854),  # {-10, -10} and {5, 25}: the usual local optimum
    ],
)
def test_references_on_the_minimal_data_set(groups, expected):
    """Coordinate ascent, appendix C.2."""
    problem = GaussianMixture(datasets.minimal(), 2, prior="empirical", posterior="gaussian")
    state, trace = em(problem, np.eye(2)[groups])
    assert trace[-1] == pytest.approx(expected, abs=6e-6)
    assert np.diff(trace).max() <= 1e-12
    assert problem.elbo(**state) == problem.elbo_constant - trace[-1]
    assert problem.n_parameters == 4


def test_no_other_start_beats_the_global_optimum_of_the_minimal_data_set():
    problem = GaussianMixture(datasets.minimal(), 2, prior="empirical", posterior="gaussian")
    assert brute_force_optimum(problem) == pytest.approx(82.74365, abs=6e-6)


def test_one_component_reaches_the_evidence():
    """With K = 1 the family holds the exact posterior: the ELBO is the log of the marginal likelihood."""
    X, v, gamma = np.array([[1.0, -2.0], [2.5, 0.0], [-1.0, 4.0]]), np.array([0.5, 2.0]), 3.0
    problem = GaussianMixture(X, 1, prior=gamma, posterior="gaussian", noise_variance=v)
    state = problem.maximize(np.ones((3, 1)))
    evidence = sum(
        stats.multivariate_normal(np.zeros(3), v[j] * np.eye(3) + gamma).logpdf(X[:, j]) for j in range(2)
    )
    assert problem.elbo(**state) == pytest.approx(evidence, rel=1e-12)
    np.testing.assert_allclose(state["posterior_variances"][0], 1.0 / (3.0 / v + 1.0 / gamma))


def test_elbo_is_the_integral_that_defines_it():
    """E_q[log p(x, z, m) - log q(z) - log q(m)], the expectation over m by Gauss-Hermite quadrature."""
    rng = np.random.default_rng(0)
    X, v, gamma, w = rng.normal(size=(5, 1)), 0.6, 1.7, np.array([1.0, 2.0, 0.5, 0.0, 1.0])
    problem = GaussianMixture(X, 2, prior=gamma, posterior="gaussian", noise_variance=v, sample_weight=w)
    weights, m, s = np.array([0.3, 0.7]), np.array([-0.4, 1.1]), np.array([0.2, 0.5])
    tau = rng.dirichlet(np.ones(2), 5)
    nodes, shares = np.polynomial.hermite_e.hermegauss(20)
    shares = shares / shares.sum()
    value = 0.0
    for k in range(2):
        draws = m[k] + math.sqrt(s[k]) * nodes
        fit = stats.norm(draws, math.sqrt(v)).logpdf(X) @ shares
        value += w @ (tau[:, k] * (fit + math.log(weights[k]) - np.log(tau[:, k])))
        log_ratio = stats.norm(0.0, math.sqrt(gamma)).logpdf(draws) - stats.norm(m[k], math.sqrt(s[k])).logpdf(draws)
        value += shares @ log_ratio
    elbo = problem.elbo(weights, m, s, gamma, responsibilities=tau)
    assert elbo == pytest.approx(value, rel=1e-12)


def test_objective_exceeds_that_of_the_point_mass_by_the_terms_of_section_4():
    rng = np.random.default_rng(1)
    X, v = rng.normal(size=(6, 2)), np.array([0.5, 2.0])
    point, gaussian = (
        GaussianMixture(X, 2, prior=2.0, posterior=posterior, noise_variance=v) for posterior in ("point", "gaussian")
    )
    weights, means, s = [0.4, 0.6], rng.normal(size=(2, 2)), rng.random((2, 2))
    tau = rng.dirichlet(np.ones(2), 6)
    extra = 0.5 * ((tau.sum(axis=0)[:, None] / v + 0.5) * s).sum() - 0.5 * np.log(2.0 * math.pi * math.e * s).sum()
    assert gaussian.objective(weights, means, s, 2.0, responsibilities=tau) == pytest.approx(
        point.objective(weights, means, 2.0, responsibilities=tau) + extra, rel=1e-12
    )
    assert gaussian.elbo_constant == point.elbo_constant


def test_prior_variance_left_out_is_the_best_within_its_bounds():
    problem = GaussianMixture([0.0, 1.0], 2, prior="empirical", posterior="gaussian", prior_variance_bounds=(0.5, 10.0))
    point = [0.5, 0.5], [1.0, 3.0], [0.25, 0.75]
    assert problem.best_prior_variance(*point[1:]) == pytest.approx(5.5)
    best = problem.objective(*point)
    for prior_variance in (0.5, 5.4, 5.6, 10.0):
        assert problem.objective(*point, prior_variance) > best
    assert problem.best_prior_variance([0.0, 0.0], [0.1, 0.1]) == 0.5


def test_a_component_without_samples_has_the_prior_as_its_posterior():
    problem = GaussianMixture([1.0, 2.0], 2, prior=3.0, posterior="gaussian")
    found = problem.maximize([[1.0, 0.0]] * 2)
    assert (found["means"][1, 0], found["posterior_variances"][1, 0]) == (0.0, 3.0)
