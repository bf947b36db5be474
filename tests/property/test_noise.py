"""Entropies of samples with noise, of mixtures of one covariance matrix: against definitions, and attacked."""

import math

import numpy as np
import pytest
from gopfast.mixtures.shared.sample_cells import spread_of
from gopfast.search.meter import Meter
from support.tied_bounds import bound_of, problem_of, told

from gopfast.mixtures import engine
from gopfast.mixtures.shared import noise as noise_module, rough_covariances as rough_module
from gopfast.mixtures.shared.noise import Noises, smoothed


def covariance_of(rng, d):
    """A covariance, thin in some directions and wide in others."""
    turn, _ = np.linalg.qr(rng.standard_normal((d, d)))
    made = (turn * np.exp(rng.uniform(-6.0, 1.5, d))) @ turn.T
    return 0.5 * (made + made.T)


def responsibilities_of(rng, z, K, kind):
    """Responsibilities (K, n): of a mixture near the samples, of one component each, or random."""
    n = z.shape[1]
    if kind == 0:
        return rng.dirichlet(np.ones(K) * rng.choice([0.01, 1.0]), n).T
    means = z[:, rng.choice(n, K)] + 0.1 * rng.standard_normal((len(z), K))
    costs = np.square(z[:, None] - means[:, :, None]).sum(axis=0) / rng.choice([0.01, 0.2, 1.0])
    r = np.exp(costs.min(axis=0) - costs)
    r = (costs == costs.min(axis=0)).astype(float) if kind == 1 else r
    return r / r.sum(axis=0)


def parts_of(r, z, weights):
    """The mutual information of samples and components, and the scatter within components, of all weight."""
    scatter, rest, total = np.zeros((len(z), len(z))), 0.0, weights.sum()
    for one in r:
        mass = one @ weights
        if mass > 0.0:
            off = z - (z @ (one * weights) / mass)[:, None]
            scatter += (one * weights * off) @ off.T
            some = one > 0.0
            rest += (weights * one)[some] @ np.log(one[some] / (mass / total))
    return rest, scatter


@pytest.mark.parametrize("seed", range(36))
def test_no_cut_exceeds_what_responsibilities_attain(seed):
    rng = np.random.default_rng(seed)
    slices = engine.family(problem_of(seed, int(rng.choice([20, 300, 2000])), 2 + seed % 2)).slices()
    z, weights, W, d = slices.columns, slices.weights, slices.total, len(slices.columns)
    noises = Noises(slices, covariance_of(rng, d) if seed % 4 else None)
    made = [noises.add(covariance_of(rng, d)) for _ in range(4)]
    assert any(made) and len(noises.known) == sum(made)
    for kind in (0, 1, 2, 2, 2):
        rest, scatter = parts_of(responsibilities_of(rng, z, 3, kind), z, weights)
        for noise in noises.known:
            for P in (scatter / W + 1e-6 * np.eye(d), covariance_of(rng, d), np.eye(d)):
                A, beta = noises.cut(noise, P)
                assert -math.inf < beta <= rest + 0.5 * (A * scatter).sum() + 1e-10 * W


def test_a_cut_says_as_much_at_its_matrix_as_its_noise():
    rng = np.random.default_rng(1)
    slices = engine.family(problem_of(9, 300, 3)).slices()
    noises = Noises(slices)
    assert noises.best(np.eye(3)) == (None, -math.inf)
    noises.add(0.3 * np.eye(3))
    noises.add(covariance_of(rng, 3))
    for _ in range(5):
        P = covariance_of(rng, 3)
        noise, said = noises.best(P)
        assert said == pytest.approx(max(one.says(P) for one in noises.known), rel=1e-12)
        A, beta = noises.cut(noise, P)
        assert beta / slices.total - 0.5 * (A * P).sum() == pytest.approx(said, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_corners_have_the_samples_as_their_means(seed):
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(1, 4)), int(rng.integers(1, 60))
    y, w = 3.0 * rng.standard_normal((d, n)), rng.uniform(0.1, 2.0, n)
    if seed % 3 == 0:
        y = np.round(y)
    low = y.min(axis=1) - 1.0
    sizes = (y.max(axis=1) - low).astype(np.intp) + 3
    mass, variances = spread_of(y, w, low, sizes)
    mass = mass.reshape(sizes)
    assert mass.min() >= 0.0 and mass.sum() == pytest.approx(w.sum())
    for turn in range(2):
        places = np.stack(np.meshgrid(*map(np.arange, mass.shape), indexing="ij")) + (low - turn).reshape(-1, *[1] * d)
        mean, square = (np.array([(mass * place**power).sum() for place in places]) for power in (1, 2))
        assert mean == pytest.approx(y @ w, abs=1e-9)
        assert square == pytest.approx(np.square(y) @ w + variances + 0.5 * turn * w.sum(), rel=1e-9)
        mass = smoothed(mass)


def test_a_grid_of_too_many_corners_is_not_made(monkeypatch):
    monkeypatch.setattr(noise_module, "MOST_NODES", 100)
    noises = Noises(engine.family(problem_of(9, 300, 3)).slices())
    assert not noises.add(1e-4 * np.eye(3)) and not noises.add(np.zeros((3, 3)))
    assert noises.add(50.0 * np.eye(3)) and noises.n_made == 3


@pytest.mark.parametrize("raised", [1e-3, 0.05, 0.5])
@pytest.mark.parametrize("seed", range(12))
def test_no_bound_by_noise_exceeds_an_objective_attained(seed, raised, monkeypatch):
    """It is told to prove more than is true; cells that hold a known solution's matrix stay open."""
    monkeypatch.setattr(rough_module, "LEAST_ROUGH", 0.0)
    problem = problem_of(seed, 30 + 20 * (seed % 4))
    bound, best = bound_of(problem, raised * problem.total_weight, is_rough=True)
    bound.noise_meter = Meter()
    found = told(bound, 60)
    assert -math.inf < max(found) <= best + 1e-12 * abs(best)
    assert bound.noise_meter.terms > 0
