"""Summaries of many samples: a lower bound for all centers and weights, and the same proved optimum."""

import tracemalloc

import numpy as np
import pytest
from gopfast.mixtures.data.samples import Samples
from gopfast.mixtures.families.gaussian import GaussianFamily
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search

import gopfast
from gopfast.mixtures.data import passes, summary


def padded(columns, weights):
    extra = -len(weights) % 8
    return np.pad(columns, ((0, 0), (0, extra))), np.pad(weights, (0, extra))


def integral(columns, weights, mixture, costs):
    return passes.sums(*padded(columns, weights), *mixture, 0, **costs)["value"]


def samples(rng, n_samples, n_features):
    centers = 4 * rng.standard_normal((3, n_features))
    return (centers[rng.integers(3, size=n_samples)] + rng.standard_normal((n_samples, n_features))).T.copy()


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_no_level_exceeds_the_samples_for_any_centers_and_weights(n_features):
    rng = np.random.default_rng(n_features)
    columns, weights = samples(rng, 40_000, n_features), rng.uniform(0.1, 3, 40_000)
    levels = summary.levels(columns, weights)
    assert levels
    for attempt in range(20):
        shape = (4, n_features)
        mixture = rng.uniform(columns.min(), columns.max(), shape), rng.uniform(0, 20, 4), rng.dirichlet(np.ones(4))
        # component variances may differ, and costs be concave
        curvature = np.full(shape, 0.5) if attempt % 2 else rng.uniform(-0.1, 1.0, shape)
        costs = {"quadratic": curvature, "linear": rng.standard_normal(shape) * (attempt % 3)}
        full = integral(columns, weights, mixture, costs)
        most = np.maximum(curvature.max(axis=0), 0.0)
        values = [integral(*level[:2], mixture, costs) - most @ level.curvature_loss for level in levels]
        assert max(values) <= full + 1e-12 * abs(full)
        assert np.diff(values).min(initial=np.inf) >= -1e-12 * abs(full)  # finer is tighter


def test_weight_and_mean_are_kept():
    rng = np.random.default_rng(5)
    columns, weights = samples(rng, 5000, 2), rng.uniform(0.1, 3, 5000)
    for level in summary.levels(columns, weights):
        assert level.weights.min() > 0
        assert level.weights.sum() == pytest.approx(weights.sum(), rel=1e-12)
        assert level.columns @ level.weights == pytest.approx(columns @ weights, rel=1e-10, abs=1e-8)


def test_an_axis_without_width_is_summarised():
    rng = np.random.default_rng(6)
    columns = np.vstack([rng.standard_normal(5000), np.full(5000, 2.0)])
    levels = summary.levels(columns, np.ones(5000))
    assert levels
    assert all((level.columns[1] == 2.0).all() for level in levels)


def test_few_samples_are_not_summarised():
    assert summary.levels(np.random.default_rng(0).standard_normal((1, 100)), np.ones(100)) == []


def many_wide(n_features, width, n_samples=300):
    return width * np.random.default_rng(2).random((n_features, n_samples))


WIDTHS = {1: [1e5, 1.9e6, 3e6, 1e9, 1e300], 2: [900.0, 1500.0, 3e4], 3: [70.0, 120.0, 1e6]}


@pytest.mark.parametrize("n_features, width", [(d, width) for d, widths in WIDTHS.items() for width in widths])
def test_memory_does_not_grow_with_the_range_of_the_data(n_features, width):
    columns = many_wide(n_features, width)
    tracemalloc.start()
    levels = summary.levels(columns, np.ones(300))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= 16 * summary.MOST_CELLS + 2**20
    # no point stands for more than its cell
    for level in levels:
        assert (level.reach <= 1.6 * summary.WIDEST_STEP).all()


@pytest.mark.parametrize("n_features, width", [(1, 1e9), (2, 3e4)])
@pytest.mark.parametrize("covariance", ["known", "diag", "tied", "full"])
def test_wide_data_are_bounded_in_little_memory(covariance, n_features, width):
    given = {} if covariance == "known" else {"variance_floor": max(1.0, (width / 9e5) ** 2)}
    problem = gopfast.GaussianMixture(many_wide(n_features, width).T, 2, covariance=covariance, **given)
    tracemalloc.start()
    result = gopfast.solve(problem, max_nodes=30, n_threads=1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= 20 * summary.MOST_CELLS
    assert result.lower_bound <= result.objective < np.inf


def test_data_a_little_too_wide_get_a_wider_step():
    rng = np.random.default_rng(4)
    columns = rng.choice([0.0, 1500.0], (2, 5000)) + rng.standard_normal((2, 5000))
    levels = summary.levels(columns, np.ones(5000))
    assert levels
    assert (levels[0].reach > summary.COARSEST).all()


@pytest.mark.parametrize("prior", [None, (1e-3, 1e-3), (1e-6, 1e3)])
def test_levels_change_neither_the_optimum_nor_the_validity_of_the_bound(prior):
    rng = np.random.default_rng(7)
    x, weights = 3.0 * rng.integers(3, size=1500)[:, None] + rng.standard_normal((1500, 1)), np.ones(1500)

    def run(with_levels, known=None):
        data = Samples(x, weights, np.ones(1))
        if with_levels:
            for level in summary.levels(*data.arrays()):
                data.add_level(*level)
            assert len(data.levels) >= 2
        family = GaussianFamily(data, 3, prior)
        search = Search(EntropicRelaxation(family), MixturePrimal(family), 0.01, known=known)
        search.run()
        assert search.n_audit_failures == 0
        return search.summary()

    plain, vector = run(False)
    means = np.sort(vector[3:6])
    coarse, _ = run(True, known=(means, plain["objective"]))
    assert coarse["objective"] == pytest.approx(plain["objective"], abs=1e-6)
    for fields in (plain, coarse):
        assert plain["objective"] - 0.01 <= fields["lower_bound"] <= plain["objective"]


@pytest.mark.parametrize("n_samples", [100_000, 150_001])
def test_many_samples_are_proved_and_their_objective_counts_every_one(n_samples):
    rng = np.random.default_rng(1)
    x = 4 * rng.integers(3, size=n_samples) + rng.standard_normal(n_samples)
    problem = gopfast.GaussianMixture(x, 3, covariance="known")
    results = [gopfast.solve(problem, epsilon=0.01, n_threads=threads) for threads in (1, 2, 3)]
    for result in results:
        assert result.success
        assert 0 < result.gap <= 0.01
        recomputed = problem.objective(result.solution.weights, result.solution.means)
        assert result.objective == pytest.approx(recomputed, rel=1e-12)
        assert (result.objective, result.lower_bound, result.n_nodes, result.n_passes) == (
            results[0].objective, results[0].lower_bound, results[0].n_nodes, results[0].n_passes
        )  # fmt: skip
