"""The bound of mixtures of one covariance matrix over simplices of its inverse, against definitions and brute force."""

import math
import time

import numpy as np
import pytest
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search
from support.plans import plan_of
from support.tied_bounds import in_lines

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.shared.barycentric import combined, least_shares
from gopfast.mixtures.shared.simplices import Cell, SimplexBound


def problem_of(seed):
    """A few samples of two columns in lines, clusters, constant or tied columns, with weights and offsets."""
    rng = np.random.default_rng(seed)
    n, K = int(rng.integers(6, 24)), int(rng.integers(3, 5))
    return in_lines(rng, n, 2, K, seed % 6)


def best_of(problem):
    """The best solution of many runs of EM, and of a short search."""
    found = []
    for seed in range(2):
        search = Search(
            EntropicRelaxation(engine.family(problem)), MixturePrimal(engine.family(problem), 40, seed=seed), 1e-9,
            max_nodes=200,
        )  # fmt: skip
        search.run()
        fields, vector = search.summary()
        found.append((fields["objective"], vector))
    return min(found, key=lambda pair: pair[0])


def bound_of(problem, raised=0.0, epsilon=1e-4):
    """A bound that seeks to prove `raised` more than the best objective known; that objective."""
    best, vector = best_of(problem)
    slices = engine.family(problem).slices()
    return SimplexBound(slices, vector, best + raised, epsilon, plan_of(problem).of_fixed(hasty=True)), best


@pytest.mark.parametrize("seed", range(18))
def test_no_bound_exceeds_an_objective_attained(seed):
    problem = problem_of(seed)
    bound, best = bound_of(problem, 1e-3 * problem.total_weight, -1.0 if seed % 2 else 1e-4)
    for _ in range(60):
        if not bound.step(time.monotonic() + 600):
            break
    assert -math.inf < bound.lower <= best


def random_within(bound, rng):
    """A matrix of the domain, often near its border or of very different eigenvalues."""
    low, high = math.log(bound.low), math.log(bound.high)
    values = np.exp(low + (high - low) * rng.choice([0.0, 1.0, rng.random(), rng.random()], 2))
    U, _ = np.linalg.qr(rng.standard_normal((2, 2)))
    return (U * values) @ U.T


@pytest.mark.parametrize("seed", range(6))
def test_numbers_at_vertices_are_below_every_mixture_of_known_covariance(seed):
    """R + <A, S> / 2 by definition, at random responsibilities and those of one sample each, A indefinite too."""
    rng = np.random.default_rng(seed)
    bound, _ = bound_of(problem_of(seed), 1.0)
    for _ in range(25):
        bound.step(time.monotonic() + 600)
    z, w = bound.slices.columns, bound.slices.weights
    n, K = len(w), bound.slices.n_components
    for turn in range(60):
        tau = rng.dirichlet(np.full(K, rng.choice([0.02, 0.3, 3.0])), n)
        if turn == 0:  # all in one component: S is largest
            tau = np.zeros((n, K))
            tau[:, 0] = 1.0
        mass = w @ tau
        used = mass > 0.0
        tau, mass = tau[:, used], mass[used]
        logs = np.log(np.maximum(tau, 1e-300)) - np.log(mass / w.sum())
        means = (z * w) @ tau / mass
        apart = z[:, :, None] - means[:, None, :]
        S = np.einsum("n,nk,ink,jnk->ij", w, tau, apart, apart)
        rest = w @ (tau * np.where(tau > 0.0, logs, 0.0)).sum(axis=1)
        for vertex in bound.vertices:
            value = rest + 0.5 * (vertex.A * S).sum()
            assert vertex.beta <= value + 1e-9 * (abs(value) + 0.5 * (np.abs(vertex.A) * np.abs(S)).sum())


@pytest.mark.parametrize("seed", range(6))
def test_simplices_cover_the_domain_however_they_were_split(seed):
    """Every matrix of it lies in one of them, with the margin that rounding needs."""
    rng = np.random.default_rng(seed)
    bound, _ = bound_of(problem_of(seed), 1.0)
    bound.waiting = []
    for _ in range(40):
        bound._least()
        bound._split(list(bound.cells.values())[rng.integers(len(bound.cells))])
        bound.waiting = []
    corners = np.array([[bound.vertices[v].A[np.triu_indices(2)] for v in c.corners] for c in bound.cells.values()])
    systems = np.concatenate([corners.transpose(0, 2, 1), np.ones((len(corners), 1, 4))], axis=1)
    for _ in range(300):
        A = random_within(bound, rng)
        right = np.broadcast_to(np.append(A[np.triu_indices(2)], 1.0)[:, None], (len(systems), 4, 1))
        sound = np.abs(np.linalg.det(systems)) > 0.0
        inside = np.linalg.solve(systems[sound], right[sound])[..., 0].min(axis=1)
        assert inside.max() > -1e-6


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_of_a_simplex_is_below_the_function_and_near_its_minimum(seed):
    """With any numbers at the vertices, those outside the cone of matrices too."""
    rng = np.random.default_rng(seed)
    bound, _ = bound_of(problem_of(6 + seed), 1.0)
    slices, W = bound.slices, bound.slices.total
    constant = math.fsum(slices.fixed)
    for turn in range(8):
        spread = rng.choice([0.01, 0.3, 3.0])
        center = random_within(bound, rng)
        stack = np.array([center + spread * np.abs(center).max() * (E + E.T) for E in rng.standard_normal((4, 2, 2))])
        betas = W * rng.standard_normal(4)
        indices = tuple(bound._add(A, 0.0) for A in stack)
        for index, beta in zip(indices, betas, strict=True):
            bound.vertices[index].beta = beta
        (found,), _ = bound._bounds([Cell(indices).corners])
        shares = rng.dirichlet(np.full(4, rng.choice([0.2, 1.0])), 4000)
        A = np.einsum("sv,vij->sij", shares, stack)
        values = np.linalg.eigvalsh(A)
        inside = (values[:, 0] >= bound.low) & (values[:, 1] <= bound.high)
        f = 0.5 * W * (-np.log(values[inside]).sum(axis=1) + np.einsum("sii,i->s", A[inside], slices.added))
        f += shares[inside] @ betas + constant
        if len(f):
            assert found <= f.min()
        if turn % 2 and len(f) == 4000 and np.isfinite(found):  # nothing of it outside: no duality gap
            assert found >= f.min() - 0.1 * W - 0.05 * np.ptp(f)


def test_least_shares_are_those_of_a_fine_grid():
    rng = np.random.default_rng(1)
    stack = np.stack([np.eye(2) + 0.3 * (E @ E.T) for E in rng.standard_normal((4, 2, 2))])[None]
    linear = rng.standard_normal((1, 4))
    shares, usable = least_shares(stack, linear)
    grid = rng.dirichlet(np.full(4, 0.5), 200_000)

    def value(x):
        return -0.5 * np.linalg.slogdet(combined(x, np.broadcast_to(stack, (len(x), 4, 2, 2))))[1] + x @ linear[0]

    assert usable.all() and abs(shares.sum() - 1.0) < 1e-12 and shares.min() > 0.0
    assert value(shares)[0] <= value(grid).min() + 1e-6


def test_three_components_of_one_matrix_are_proved():
    """By the simplices: a tree alone leaves nats open after as many nodes."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((90, 2)) @ [[1.0, 0.6], [0.0, 0.5]] + 4.0 * rng.integers(0, 3, (90, 1)) * [1.0, -0.4]
    problem = gopfast.GaussianMixture(X, 3, covariance="tied")
    options = {"n_threads": 1, "log": False, "max_nodes": 20_000}
    result = gopfast.solve(problem, relaxation="pricing", **options)
    alone = gopfast.solve(problem, relaxation="entropic", **options)
    assert result.success and result.gap <= 0.01
    assert alone.lower_bound <= result.objective
    assert result.n_nodes < alone.n_nodes
