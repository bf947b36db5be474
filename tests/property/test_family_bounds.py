"""Bounds of mixtures of binary data, counts, waiting times and labels against an independent brute force."""

import numpy as np
import pytest
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search
from hypothesis import given, strategies as st
from support import problems
from support.columns import KINDS, coordinates, masses_and_moments, statistics
from support.exhaustive import brute_force_optimum
from support.settings import examples

import gopfast
from gopfast.mixtures import engine

EPSILON = 0.01
# References are attained, so that only their rounding errors may lie below a proved bound.
ROUNDING = 1e-12
# How far a polished reference may lie above the true optimum.
POLISH = 1e-6


@st.composite
def small_problems(draw, max_samples=6, sizes=((1, 1), (1, 2), (2, 1), (2, 2), (3, 1))):
    """Random problems with sample weights (also 0), equal rows and constant columns; sizes (K, d)."""
    kind, seed = draw(st.sampled_from(KINDS)), draw(st.integers(0, 2**16))
    n, (K, d) = draw(st.integers(3, max_samples)), draw(st.sampled_from(sizes))
    weights = draw(st.none() | st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n))
    if weights is not None and max(weights) == 0.0:
        weights[0] = 1.0
    problem = problems.make(kind, seed, n=n, K=K, d=d, sample_weight=weights)
    X = problem.X.copy()
    copies = draw(st.integers(0, n - 1))
    X[:copies] = X[copies]
    constant = draw(st.sampled_from([None, None, 0, 1]))
    if constant is not None and d > 1:
        X[:, 1] = constant if kind != "exponential" else 2.0 + constant
    if kind.startswith("multinomial"):
        X[X.sum(axis=1) == 0.0, 0] = draw(st.sampled_from([1.0, 0.0]))
        X[np.argmax(weights or [1.0]), 1] += 1.0
    given = dict(prior=problem.prior, sample_weight=weights)
    if kind.startswith("categorical"):
        given["categories"] = problem.categories
    if isinstance(problem, gopfast.LatentClass):
        given["missing"] = -1
    return type(problem)(X, K, **given)


def traced_search(problem, epsilon=EPSILON, max_nodes=2000):
    family, trace = engine.family(problem), []
    search = Search(
        EntropicRelaxation(family), MixturePrimal(family, seed=1), epsilon, max_nodes=max_nodes, trace=trace
    )
    search.run()
    return family, trace


def random_responsibilities(problem, rng):
    """From nearly hard to nearly equal ones; no component without mass, whose means would be anything."""
    K = problem.n_components
    return (1 - 1e-6) * rng.dirichlet(np.full(K, 10.0 ** rng.uniform(-2, 1)), problem.n_samples) + 1e-6 / K


def attained(problem, tau):
    """Objective of responsibilities, the best parameters for them."""
    return problem.objective(**problem.maximize(tau), responsibilities=tau)


def least_cost(problem, tau):
    """The components' costs at the best parameters, without the entropy, by the problem's own objective."""
    best = problem.maximize(tau)
    share = np.broadcast_to(best["weights"], tau.shape)
    entropy = tau * np.log(np.divide(tau, share, out=np.ones_like(tau), where=tau > 0.0))
    return attained(problem, tau) - problem.sample_weight @ entropy.sum(axis=1)


@examples(45)
@given(problem=small_problems())
def test_the_bounds_enclose_the_brute_force_optimum(problem):
    reference = brute_force_optimum(problem, n_kept=3, n_random=4)
    result = gopfast.solve(problem, EPSILON, max_nodes=30_000)
    tiny = 1.0 + abs(reference)
    assert result.lower_bound <= reference + ROUNDING * tiny
    assert result.objective >= reference - POLISH * tiny
    assert result.success, result
    assert result.gap <= EPSILON
    solution = result.solution
    assert problem.objective(solution.weights, **solution.parameters) == pytest.approx(result.objective, abs=1e-9)


@examples(200)
@given(problem=small_problems(max_samples=8), seed=st.integers(0, 2**32 - 1))
def test_minorant_and_facets_hold_for_all_means_of_a_cell(problem, seed):
    rng = np.random.default_rng(seed)
    family = engine.family(problem)
    tau = random_responsibilities(problem, rng)
    S, T, means = masses_and_moments(problem, tau)
    at = coordinates(problem, family, means)
    reach = 10.0 ** rng.uniform(-8, 1, at.shape)
    low, high = at - reach * rng.integers(0, 2, at.shape), at + reach * rng.integers(0, 2, at.shape)
    if not isinstance(problem, gopfast.ExponentialMixture):
        low = np.maximum(low, 0.0)
    if isinstance(problem, (gopfast.BernoulliMixture, gopfast.CategoricalMixture)):
        high = np.minimum(high, 1.0)
    sub = family.subproblem(low, high)

    # the statistics about the cell's centres, in the core's columns
    columns = family.data.from_user(statistics(problem)[0])
    moments = np.einsum("i,ik,ikj->kj", problem.sample_weight, tau, columns[:, None] - sub["centers"])
    both = np.hstack([S[:, None], moments])
    prior = np.array([1.0, 1.0]) if family.has_prior else np.array([0.0, 1.0])
    facets = sub["facets"] @ both.ravel() + sub["facet_rest"] @ prior
    terms = np.hstack([S[:, None], np.abs(moments) + np.abs(sub["centers"]) * S[:, None] + T.max()])
    size = np.abs(sub["facets"]) @ terms.ravel() + np.abs(sub["facet_rest"]).sum(axis=1)
    assert (facets >= -1e-12 * size).all()

    cost = least_cost(problem, tau)
    minorant = (sub["minorant"] * both).sum() + sub["minorant_rest"] @ prior + family.constant
    tiny = 1e-12 * (1.0 + abs(cost) + abs(family.constant) + np.abs(sub["minorant"] * both).sum())
    assert minorant <= cost + tiny
    multipliers = rng.exponential(size=len(facets)) * 10.0 ** rng.uniform(-2, 2)
    assert minorant - multipliers @ facets <= cost + tiny + 1e-12 * (multipliers @ size)


@pytest.mark.parametrize("kind", KINDS)
def test_the_minorant_of_a_small_cell_is_the_cost(kind):
    """Otherwise the test above could not fail; the error falls with the square of the width."""
    problem, rng = problems.make(kind, 1, n=100), np.random.default_rng(1)  # of 30 a label may be too rare
    family = engine.family(problem)
    tau = rng.dirichlet(np.ones(2), problem.n_samples)
    S, _, means = masses_and_moments(problem, tau)
    at = coordinates(problem, family, means)
    columns = family.data.from_user(statistics(problem)[0])
    cost = least_cost(problem, tau)
    errors = []
    for width in (1e-2, 1e-3):
        sub = family.subproblem(at - width, at + width)
        moments = np.einsum("i,ik,ikj->kj", problem.sample_weight, tau, columns[:, None] - sub["centers"])
        both = np.hstack([S[:, None], moments])
        rest = sub["minorant_rest"].sum() if family.has_prior else sub["minorant_rest"][1]
        errors.append(cost - (sub["minorant"] * both).sum() - rest - family.constant)
    assert 0.0 < errors[1] < 0.011 * errors[0] < 1.0


@examples(60)
@given(problem=small_problems(8, [(2, 1), (2, 2), (3, 1), (3, 2), (3, 3)]), seed=st.integers(0, 2**32 - 1))
def test_every_responsibility_lies_in_a_leaf_whose_bound_holds_for_it(problem, seed):
    """Children cover their parent, and no leaf's bound exceeds what a point of it attains."""
    rng = np.random.default_rng(seed)
    family, trace = traced_search(problem, 1e-3, max_nodes=400)
    children = {}
    for node in trace:
        children.setdefault(node[1], []).append(node)
    for _ in range(12):
        tau = random_responsibilities(problem, rng)
        for _ in range(rng.integers(0, 6)):
            tau = problem.responsibilities(**problem.maximize(tau))
        if tau.max(axis=0).min() < 1e-9:
            continue
        *_, means = masses_and_moments(problem, tau)
        at = coordinates(problem, family, means)
        at = at[np.argsort(at[:, 0], kind="stable")].ravel()
        tiny = 1e-11 * (1.0 + np.abs(at))
        brood = children[-1]
        while brood:
            holding = [node for node in brood if (node[3] - tiny <= at).all() and (at <= node[4] + tiny).all()]
            assert holding
            value = attained(problem, tau)
            assert min(node[2] for node in holding) <= value + 1e-9 * (1.0 + abs(value))
            brood = children.get(holding[0][0])


@examples(25)
@given(problem=small_problems())
def test_children_never_fall_below_their_parent(problem):
    _, trace = traced_search(problem, 1e-3, max_nodes=400)
    bounds = {node[0]: node[2] for node in trace}
    for _, parent, bound, low, high in trace:
        assert parent < 0 or bound >= bounds[parent]
        assert (low <= high).all()


@pytest.mark.parametrize("kind", ["Bernoulli", "Poisson, prior", "exponential", "categorical"])
def test_the_result_does_not_depend_on_the_number_of_threads(kind):
    problem = problems.make(kind, 2, n=30, K=2, d=4 if kind == "Bernoulli" else 3)
    results = [gopfast.solve(problem, 1e-4, n_threads=n, max_nodes=2000) for n in (1, 2, 4)]
    assert results[0].n_nodes > 50  # enough for the threads to be woken
    for other in results[1:]:
        assert (other.objective, other.lower_bound) == (results[0].objective, results[0].lower_bound)
        assert (other.n_nodes, other.n_passes) == (results[0].n_nodes, results[0].n_passes)
        assert other.solution.to_dict() == results[0].solution.to_dict()


@pytest.mark.parametrize("kind", KINDS)
def test_equal_rows_and_weighted_rows_are_the_same_problem(kind):
    single = problems.make(kind, 4, n=5, d=2)
    given = {"categories": single.categories} if kind.startswith("categorical") else {}
    if isinstance(single, gopfast.LatentClass):
        given["missing"] = -1
    times = np.array([1, 3, 2, 1, 2])
    repeated = type(single)(np.repeat(single.X, times, axis=0), 2, prior=single.prior, **given)
    weighted = type(single)(single.X, 2, prior=single.prior, sample_weight=times, **given)
    one, other = gopfast.solve(repeated, 1e-3), gopfast.solve(weighted, 1e-3)
    assert one.success and other.success
    assert one.objective == pytest.approx(other.objective, abs=1e-3)
    assert max(one.lower_bound, other.lower_bound) <= min(one.objective, other.objective) + 1e-9
