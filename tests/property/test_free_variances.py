"""Bounds of Gaussian mixtures with free variances or a Gaussian posterior, against an independent brute force."""

import numpy as np
import pytest
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search
from hypothesis import given, strategies as st
from support import datasets
from support.audit import assert_some_leaf_holds, in_label_order
from support.exhaustive import brute_force_optimum
from support.problems import make
from support.settings import examples

import gopfast
from gopfast.mixtures import engine

EPSILON = 1e-3
POSTERIORS = ["known, Gaussian posterior", "known, Gaussian posterior, empirical prior"]
KINDS = [*POSTERIORS, "diag", "spherical", "tied_diag", "tied_spherical", "tied"]
ROUNDING = 1e-9
few = examples(6)


@st.composite
def problems(draw, kind):
    d, seed = draw(st.integers(1, 2)), draw(st.integers(0, 10**6))
    weights = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], 6) if draw(st.booleans()) else None
    return make(kind, seed, 6, 2, d, sample_weight=weights)


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_enclose_the_brute_force_optimum(kind):
    @few
    @given(problem=problems(kind))
    def check(problem):
        reference = brute_force_optimum(problem)
        result = gopfast.solve(problem, EPSILON, max_nodes=20_000)
        tiny = 1.0 + abs(reference)
        assert result.lower_bound <= reference + ROUNDING * tiny
        assert result.objective >= reference - 1e-6 * tiny
        assert result.lower_bound <= result.objective
        if result.success:
            assert result.gap <= EPSILON
        assert result.objective == pytest.approx(
            problem.objective(result.solution.weights, **result.solution.parameters), rel=1e-11, abs=1e-9
        )

    check()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_no_node_around_the_optimum_has_a_bound_above_it(kind, seed):
    problem = make(kind, seed, 30, 2 + seed % 2, 1 + seed // 2)
    family = engine.family(problem)
    first = Search(EntropicRelaxation(family), MixturePrimal(family, n_starts=40, seed=3), 0.01, max_nodes=4000)
    first.run()
    fields, vector = first.summary()
    known = in_label_order(family, vector), fields["objective"] + ROUNDING * (1 + abs(fields["objective"]))
    second = Search(EntropicRelaxation(family), MixturePrimal(family), 1e-4, known=known, max_nodes=4000)
    second.run()
    assert second.n_audit_failures == 0
    assert second.n_nodes > 3


@pytest.mark.parametrize("kind", KINDS)
def test_children_cover_their_parent_where_the_model_allows_it(kind):
    """What tightening cuts off holds no solution: the optimum stays in some leaf."""
    problem = make(kind, 5, 25, 2, 1)
    family = engine.family(problem)
    trace = []
    search = Search(EntropicRelaxation(family), MixturePrimal(family, n_starts=40), 1e-3, trace=trace, max_nodes=3000)
    search.run()
    point = in_label_order(family, search.summary()[1])
    children = assert_some_leaf_holds(point, trace)
    for node in trace:
        for child in children.get(node[0], ()):
            assert child[2] >= node[2]


@pytest.mark.parametrize("kind", KINDS)
def test_the_number_of_threads_changes_nothing(kind):
    problem = make(kind, 1, 60, 2, 1)
    results = [gopfast.solve(problem, n_threads=n, max_nodes=3000) for n in (1, 2, 4)]
    for result in results[1:]:
        assert (result.n_nodes, result.n_passes, result.objective, result.lower_bound) == (
            results[0].n_nodes, results[0].n_passes, results[0].objective, results[0].lower_bound
        )  # fmt: skip


@pytest.mark.parametrize("covariance", ["diag", "spherical", "tied_spherical", "tied"])
@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_scaling_data_and_floor_moves_the_bounds_by_the_jacobian(covariance, scale):
    X = make(covariance, 3, 40, 2, 2).X
    plain, scaled = (
        gopfast.solve(gopfast.GaussianMixture(s * X, 2, covariance=covariance, variance_floor=s * s * 0.2))
        for s in (1.0, scale)
    )
    shift = X.size * np.log(scale)
    assert plain.success
    assert scaled.success
    assert scaled.objective - shift == pytest.approx(plain.objective, abs=1e-6)
    assert scaled.n_nodes == pytest.approx(plain.n_nodes, rel=0.1)


def test_all_free_kinds_agree_in_one_dimension():
    X = make("diag", 2, 50, 2, 1).X
    values = [
        gopfast.solve(gopfast.GaussianMixture(X, 2, covariance=covariance, variance_floor=0.1)).objective
        for covariance in ("diag", "spherical")
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-8)


@pytest.mark.parametrize("floor", [1e-4, 1.0, 1e4])
def test_bounds_hold_on_both_sides_of_the_floor(floor):
    """A floor far below the spread, near it, and above it, where the model is that of known variance."""
    X = make("diag", 4, 20, 2, 1).X
    problem = gopfast.GaussianMixture(X, 2, covariance="diag", variance_floor=floor)
    result = gopfast.solve(problem, 0.01, max_nodes=50_000)
    assert result.success
    if floor == 1e4:
        known = gopfast.solve(gopfast.GaussianMixture(X, 2, noise_variance=floor, covariance="known"), 0.001)
        assert result.objective == pytest.approx(-known.elbo, abs=0.01)
        assert result.lower_bound <= -known.elbo + 1e-9


def test_many_samples_are_proved_on_summaries():
    rng = np.random.default_rng(1)
    x = 6 * rng.integers(2, size=20_000) + rng.choice([1.0, 2.0], 20_000) * rng.standard_normal(20_000)
    problem = gopfast.GaussianMixture(x, 2, covariance="diag", variance_floor=0.25)
    assert engine.family(problem).data.levels
    result = gopfast.solve(problem, epsilon=0.1)
    assert result.success
    assert result.objective == pytest.approx(problem.objective(result.solution.weights, **result.solution.parameters))


@pytest.mark.parametrize(
    "name, K, floor, reference",
    [
        ("galaxies", 2, 0.09, 220.0580), ("galaxies", 3, 0.09, 203.1792), ("enzyme", 2, 0.0025, 54.6400),
        ("acidity", 2, 0.01, 184.6446), ("faithful", 2, 0.04, 807.0548),
    ],
)  # fmt: skip
def test_reference_optima_of_free_variances(name, K, floor, reference):
    X = getattr(datasets, name)()
    if name == "faithful":
        X = X * np.array([2.0, 1.0 / 7.0])
    result = gopfast.solve(gopfast.GaussianMixture(X, K, covariance="diag", variance_floor=floor))
    assert result.success
    assert result.objective == pytest.approx(reference, abs=1e-4)


def test_reference_optima_of_the_gaussian_posterior():
    problem = gopfast.GaussianMixture(datasets.minimal(), 2, prior="empirical", posterior="gaussian")
    result = gopfast.solve(problem)
    assert result.success
    assert result.objective == pytest.approx(82.74365, abs=1e-5)
