"""The nonparametric bound: below every mixture, and attained where the best mixture is the nonparametric one."""

import numpy as np
import pytest
from support.datasets import galaxies

import gopfast
from gopfast._nonparametric import NonparametricBound


def log_likelihood_cost(x, w, means, proportions):
    density = np.exp(-0.5 * np.square(x[:, None] - means)) @ proportions
    return -float(w @ np.log(density))


def test_the_bound_lies_below_every_mixture():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = int(rng.integers(2, 40))
        x, w = rng.uniform(-6, 6, n), rng.uniform(0.1, 3, n)
        start = np.array([x.mean(), x.max()])
        bound = NonparametricBound(x, w).solve(start, np.array([0.5, 0.5]), 1e-3)
        assert np.isfinite(bound)
        for _ in range(30):
            k = int(rng.integers(1, 8))
            means, share = rng.uniform(-7, 7, k), rng.dirichlet(np.ones(k))
            for _ in range(200):  # EM: mixtures close to the optimum test the bound hardest
                r = share * np.exp(-0.5 * np.square(x[:, None] - means))
                r *= (w / r.sum(axis=1))[:, None]
                share = r.sum(axis=0) / w.sum()
                means = (r.T @ x) / np.maximum(r.sum(axis=0), 1e-300)
            assert bound <= log_likelihood_cost(x, w, means, share) + 1e-9


def test_any_inverse_density_gives_a_valid_supremum():
    rng = np.random.default_rng(1)
    x, w = rng.uniform(-5, 5, 30), np.ones(30)
    bound = NonparametricBound(x, w)
    for _ in range(10):
        log_inverse = rng.uniform(-3, 3, 30)
        grid = np.linspace(x.min(), x.max(), 101)
        top = bound.supremum(grid, bound.excess(grid, log_inverse), log_inverse, 0.0)
        fine = bound.excess(np.linspace(x.min(), x.max(), 200_001), log_inverse).max()
        assert fine <= top <= fine * (1 + 1e-2)


@pytest.mark.parametrize("n_components", [6, 7, 8])
def test_galaxies_beyond_six_components_close(n_components):
    result = gopfast.solve(gopfast.GaussianMixture(galaxies(), n_components), max_nodes=2000)
    assert result.success
    assert result.objective == pytest.approx(123.9894, abs=2e-3)


def test_a_hopeless_bound_is_given_up():
    x = galaxies().ravel()
    bound = NonparametricBound(x, np.ones(len(x))).solve(np.array([10.0, 21.0, 31.0]), np.full(3, 1 / 3), 1e-3, 200.0)
    assert bound < 200.0
