"""Gaussian components of free variance: the envelope of the cost over a cell, and bounds with divided cells."""

import numpy as np
import pytest
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.probe import box_bound, probe
from gopfast.search.search import Search
from hypothesis import given, strategies as st
from support.problems import make
from support.settings import examples

from gopfast.mixtures import engine
from gopfast.mixtures.data import passes

many = examples(150)
some = examples(40)


def core_statistics(family, problem, tau):
    """Masses (K,), means (K, d) and mean squares (K, d) of responsibilities in the core's coordinates."""
    columns = family.data.from_user(problem.X)
    S = problem.sample_weight @ tau
    weighted = problem.sample_weight[:, None] * tau
    return S, weighted.T @ columns / S[:, None], weighted.T @ columns**2 / S[:, None]


def random_cell(family, problem, tau, rng):
    """A box that holds the means and variances of the responsibilities."""
    _, mean, square = core_statistics(family, problem, tau)
    variance = square - mean**2
    S = problem.sample_weight @ tau
    if not family.per_column and not family.n_shared:
        variance = variance.mean(axis=1, keepdims=True)
    if family.n_shared:
        pooled = variance if family.per_column else variance.mean(axis=1, keepdims=True)
        at = np.append(mean.ravel(), S @ pooled / S.sum())
        positive = np.arange(len(at)) >= mean.size
    else:
        at = np.hstack([mean, variance]).ravel()
        positive = np.arange(len(at)) % family.n_cell >= problem.n_features
    low = at - 10.0 ** rng.uniform(-6, 1, at.shape) * rng.integers(0, 2, at.shape)
    high = at + 10.0 ** rng.uniform(-6, 1, at.shape) * rng.integers(0, 2, at.shape)
    return np.where(positive, np.maximum(low, 0.0), low), high


@pytest.mark.parametrize("kind", ["diag", "spherical", "tied_diag", "tied_spherical"])
def test_both_minorants_and_the_facets_hold_for_all_statistics_of_a_cell(kind):
    @many
    @given(seed=st.integers(0, 2**32 - 1))
    def check(seed):
        rng = np.random.default_rng(seed)
        problem = make(kind, seed % 1000, int(rng.integers(4, 12)), int(rng.integers(1, 4)), int(rng.integers(1, 3)))
        family = engine.family(problem)
        tau = rng.dirichlet(np.full(problem.n_components, 10.0 ** rng.uniform(-1, 1)), problem.n_samples) + 1e-9
        tau /= tau.sum(axis=1, keepdims=True)
        low, high = random_cell(family, problem, tau, rng)
        sub = family.subproblem(low, high)
        S, mean, square = core_statistics(family, problem, tau)
        centers = sub["centers"]
        moments = np.hstack([mean - centers, square - 2 * centers * mean + centers**2])
        both = np.hstack([S[:, None], S[:, None] * moments])
        values = sub["facets"] @ both.ravel() + sub["facet_rest"][:, 1]
        size = np.abs(sub["facets"]) @ np.abs(both).ravel() + np.abs(sub["facet_rest"][:, 1])
        size += np.abs(sub["facets"]).max(axis=1, initial=0.0) * (S @ (1 + mean**2 + square)).sum()
        capped = np.isfinite(sub["caps"])
        assert (values[~capped] >= -1e-12 * size[~capped]).all()

        best = problem.maximize(tau)
        entropy = problem.sample_weight @ (tau * np.log(tau / best["weights"])).sum(axis=1)
        cost = problem.objective(**best, responsibilities=tau) - entropy
        minorant = (sub["minorant"] * both).sum() + family.constant
        tiny = 1e-11 * (1 + abs(cost) + abs(family.constant) + np.abs(sub["minorant"] * both).sum())
        for share in (0.0, 1.0, rng.uniform()):
            q = np.where(capped, share * np.where(capped, sub["caps"], 0.0), rng.exponential(size=len(values)))
            assert minorant - q @ values <= cost + tiny + 1e-11 * (q @ size)

    check()


@pytest.mark.parametrize("kind", ["diag", "spherical", "tied_spherical"])
def test_the_second_minorant_is_the_better_one_in_a_wide_cell(kind):
    """Otherwise the test above could not tell whether there is one: at the least variance it is exact."""
    problem = make(kind, 3, 40, 1, 1)
    family = engine.family(problem)
    S, mean, square = core_statistics(family, problem, np.ones((40, 1)))
    variance = square - mean**2
    at = np.array([mean[0, 0], variance[0, 0]])
    sub = family.subproblem(at - [9.0, 0.0], at + [9.0, 9.0])
    both = S[0] * np.array(
        [1.0, *(mean - sub["centers"])[0], *(square - 2 * sub["centers"] * mean + sub["centers"] ** 2)[0]]
    )
    cost = problem.objective(**problem.maximize(np.ones((40, 1))))
    first = sub["minorant"].ravel() @ both + family.constant
    capped = np.isfinite(sub["caps"])
    second = first - sub["caps"][capped] @ (sub["facets"][capped] @ both + sub["facet_rest"][capped, 1])
    assert first < cost - 1.0
    assert second == pytest.approx(cost, abs=1e-6)


def solutions_near(problem, family, rng):
    """The best objective of responsibilities around an optimum, and their connected variables, labels ordered."""
    K = problem.n_components
    search = Search(EntropicRelaxation(family), MixturePrimal(family), 1e9)
    search.run()
    vector = search.summary()[1]
    best = problem.responsibilities(vector[:K], **family.parameters(vector))
    objectives, points = [], []
    for _ in range(6):
        share = 10.0 ** rng.uniform(-6, -0.2)
        tau = (1 - share) * best + share * rng.dirichlet(np.full(K, 0.5), problem.n_samples)
        state = problem.maximize(tau)
        objectives.append(problem.objective(**state, responsibilities=tau))
        _, mean, square = core_statistics(family, problem, tau)
        variance = square - mean**2
        if not family.per_column and not family.n_shared:
            variance = variance.mean(axis=1, keepdims=True)
        cells = np.hstack([mean, variance])
        points.append(cells[np.argsort(cells[:, 0])].ravel())
    return min(objectives), np.array(points)


@pytest.mark.parametrize("kind", ["diag", "spherical"])
def test_bounds_with_divided_cells_hold_for_the_solutions_in_random_boxes(kind):
    gained, gained_again = [], []

    @some
    @given(seed=st.integers(0, 2**32 - 1))
    def check(seed):
        rng = np.random.default_rng(seed)
        weights = rng.choice([0.5, 1.0, 2.0], 30) if seed % 2 else None
        problem = make(kind, seed % 1000, 30, int(rng.integers(1, 4)), int(rng.integers(1, 3)), sample_weight=weights)
        family = engine.family(problem)
        least, points = solutions_near(problem, family, rng)
        wider = 10.0 ** rng.uniform(-3, 0.5) * rng.uniform(size=points.shape[1])
        low, high = points.min(axis=0) - wider, points.max(axis=0) + wider
        variances = np.arange(len(low)) % family.n_cell >= problem.n_features
        low[variances] = np.maximum(low[variances], 0.0)
        cutoff = least + 0.5
        plain = box_bound(EntropicRelaxation(family, n_split=0), low, high, cutoff)
        for n_split in (1, 2, 3):
            found = []
            for n_again in (0, 1, 4):
                relaxation = EntropicRelaxation(
                    family, n_split=n_split, n_again=n_again, refine_from=1e9, again_below=1e9, patience=0.5
                )
                found.append(box_bound(relaxation, low, high, cutoff))
            assert plain <= found[0] <= found[1] <= found[2] <= least + 1e-9 * (1 + abs(least))
            gained.append(found[0] - plain)
            gained_again.append(found[2] - found[0])

    check()
    assert max(gained) > 0.1
    assert max(gained_again) > 0.1


def assert_partition(cell, parts):
    """That boxes (n, 2, m) are in a box (2, m), share no inner point, and have its volume in all."""
    wide = cell[1] > cell[0]
    width = (cell[1] - cell[0])[wide]
    parts = (parts[:, :, wide] - cell[0][wide]) / width
    assert (parts >= 0).all() and (parts <= 1).all()
    overlap = np.minimum(parts[:, None, 1], parts[None, :, 1]) - np.maximum(parts[:, None, 0], parts[None, :, 0])
    shared = np.maximum(overlap, 0).prod(axis=2)
    np.testing.assert_allclose(shared, np.diag(np.diag(shared)), atol=1e-14)
    assert np.trace(shared) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("kind", ["diag", "spherical"])
def test_parts_cover_the_cells_that_they_divide(kind):
    rng = np.random.default_rng(0)
    most = 0
    for seed in range(20):
        problem = make(kind, seed, 30, int(rng.integers(1, 4)), int(rng.integers(1, 3)))
        family = engine.family(problem)
        least, points = solutions_near(problem, family, rng)
        low, high = points.min(axis=0) - 0.3, points.max(axis=0) + 0.3
        variances = np.arange(len(low)) % family.n_cell >= problem.n_features
        low[variances] = np.maximum(low[variances], 0.0)
        relaxation = EntropicRelaxation(family, refine_from=1e9, again_below=1e9)
        low, high, _ = probe(relaxation, low, high, least + 0.5)
        boxes = np.array([low, high]).reshape(2, problem.n_components, -1)
        for k, parts in enumerate(relaxation.parts()):
            if len(parts):
                assert_partition(boxes[:, k], parts)
                most = max(most, len(parts))
    assert most > 8


def test_divided_cells_save_nodes():
    family = engine.family(make("diag", 1, 60, 3, 1))
    counts = []
    for n_split, n_again in ((0, 0), (1, 0), (2, 0), (2, 3)):
        relaxation = EntropicRelaxation(family, n_split=n_split, n_again=n_again)
        search = Search(relaxation, MixturePrimal(family), 0.01)
        search.run()
        fields, _ = search.summary()
        assert fields["objective"] - fields["lower_bound"] <= 0.01
        counts.append(fields["n_nodes"])
    assert counts[0] > 1.2 * counts[1] > 1.2 * counts[2]
    assert counts[2] > counts[3]


def test_weights_of_many_costs_have_the_gram_matrix_of_their_densities():
    """The Hessian that the division's Newton steps take, against NumPy."""
    rng = np.random.default_rng(4)
    columns, w = rng.standard_normal((2, 264)), rng.uniform(size=264)
    centers, offsets, pi = rng.standard_normal((7, 2)), rng.uniform(size=7), rng.dirichlet(np.ones(7))
    found = passes.sums(columns, w, centers, offsets, pi, level=3)
    plain = passes.sums(columns, w, centers, offsets, pi, level=0)
    density = np.exp(offsets - 0.5 * np.square(columns.T[:, None] - centers).sum(axis=2))
    ratio = density / (density @ pi)[:, None]
    np.testing.assert_allclose(
        np.triu(found["gram"].ravel()[:49].reshape(7, 7)), np.triu(ratio.T @ (w[:, None] * ratio)), rtol=1e-12
    )
    assert found["value"] == plain["value"]
    np.testing.assert_allclose(found["density"], plain["density"], rtol=1e-14)
