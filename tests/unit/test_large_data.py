"""Data in chunks: the bounds are those of the samples, whatever chunks they come in."""

import importlib.util

import numpy as np
import pytest

import gopfast
from gopfast import InputError, InputTypeError
from gopfast.data import LargeGaussianMixture, chunks
from gopfast.mixtures import large
from gopfast.mixtures.data import chunks as sources

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(4.0 * k, 1.0, 20_000) for k in range(3)]).astype(np.float32)
RNG.shuffle(X)


@pytest.fixture(scope="module")
def reference():
    return gopfast.solve(gopfast.GaussianMixture(X, 3, covariance="known"), 0.01, log=False)


def kinds(folder):
    np.save(folder / "x.npy", X)
    yield X
    yield np.load(folder / "x.npy", mmap_mode="r")
    yield X.astype(np.float64)[:, None]
    yield chunks(lambda: np.array_split(X, 7))
    yield chunks(lambda: (part[:, None] for part in np.array_split(X, 13)), 1)
    if importlib.util.find_spec("dask"):
        import dask.array

        yield dask.array.from_array(X, chunks=7000)


def test_all_sources_give_the_proved_optimum(tmp_path, reference):
    for source in kinds(tmp_path):
        problem = LargeGaussianMixture(source, 3)
        found = gopfast.solve(problem, 0.01, log=False)
        assert found.status == "OPTIMAL"
        assert found.gap <= 0.01
        # bounds of the same number, each by its own way
        assert found.lower_bound <= reference.objective and reference.lower_bound <= found.objective
        assert found.objective == pytest.approx(reference.objective, abs=0.01)
        np.testing.assert_allclose(found.solution.means, reference.solution.means, atol=1e-3)
        assert found.log_likelihood == pytest.approx(reference.log_likelihood, abs=0.01)
        assert problem.objective(found.solution.weights, found.solution.means) <= found.objective
        assert problem.n_samples == len(X)
        assert "weighted points" in str(found)


@pytest.mark.parametrize("variance", [0.25, 1.0, 9.0])
@pytest.mark.parametrize("cells", [3, 30, 1000])
def test_a_summary_less_its_loss_bounds_any_mixture_from_below(variance, cells, monkeypatch):
    monkeypatch.setattr(large, "MOST_CELLS", cells)
    monkeypatch.setattr(large, "FEWEST_CELLS", 1)
    rng = np.random.default_rng(cells)
    problem = LargeGaussianMixture(chunks(lambda: np.array_split(X, 5)), 3, noise_variance=variance)
    summary = large.Summary(problem, 1e-9, lambda text: None)
    assert summary.weights.sum() == pytest.approx(len(X), rel=1e-12)
    assert summary.points @ summary.weights == pytest.approx(X.astype(float).sum(), rel=1e-10)
    whole = gopfast.GaussianMixture(X, 3, noise_variance=variance)
    points = gopfast.GaussianMixture(summary.points, 3, noise_variance=variance, sample_weight=summary.weights)
    for _ in range(10):
        weights, means = rng.dirichlet(np.ones(3)), rng.uniform(X.min(), X.max(), (3, 1))
        exact, value = whole.objective(weights, means), points.objective(weights, means)
        assert value * (1.0 - summary.rounding) - summary.loss <= exact
        streamed, error = problem.evaluated(weights, means)
        assert abs(streamed - exact) <= error < 1e-6 * exact
    assert cells < 1000 or summary.loss < 0.1 * len(X) / variance


def test_a_coarse_summary_leaves_a_gap_and_says_so(monkeypatch, reference):
    monkeypatch.setattr(large, "MOST_CELLS", 2000)
    found = gopfast.solve(LargeGaussianMixture(X, 3), 0.01, log=False)
    assert found.status == "NUMERICAL"
    assert found.gap > 0.01
    assert found.lower_bound <= reference.objective <= found.objective + 0.01


def test_limits_leave_bounds(reference):
    found = gopfast.solve(LargeGaussianMixture(X, 3), 0.01, log=False, max_nodes=5)
    assert found.status == "NODE_LIMIT"
    assert found.lower_bound <= reference.objective <= found.objective + 1e-6


def test_nothing_is_read_before_the_solve_and_then_three_times():
    read = []

    def factory():
        read.append(1)
        yield X

    problem = LargeGaussianMixture(chunks(factory), 2)
    assert (len(read), problem.X.shape) == (0, (0, 1))
    gopfast.solve(problem, 1.0, log=False)
    assert len(read) == 3


def test_an_array_is_read_in_parts(monkeypatch):
    monkeypatch.setattr(sources, "ROWS", 1000)
    parts = [len(part) for part in sources.of(X)]
    assert set(parts) == {1000} and sum(parts) == len(X)


def test_equal_samples_and_few_samples_are_solved():
    found = gopfast.solve(LargeGaussianMixture(np.full(1000, 3.5), 2), 0.01, log=False)
    assert found.objective == pytest.approx(0.0, abs=0.01)
    found = gopfast.solve(LargeGaussianMixture([0.0, 1.0, 9.0], 2), 0.01, log=False)
    exact = gopfast.solve(gopfast.GaussianMixture([0.0, 1.0, 9.0], 2, covariance="known"), 0.01, log=False)
    assert found.lower_bound <= exact.objective <= found.objective + 0.01


@pytest.mark.parametrize(
    ("make", "error", "wanted"),
    [
        (lambda: LargeGaussianMixture(np.zeros((5, 2)), 2), InputError, "X must have one column; got 2"),
        (lambda: LargeGaussianMixture(np.zeros((5, 2, 2)), 2), InputError, "X must have shape"),
        (lambda: LargeGaussianMixture(["a", "b"], 2), InputTypeError, "X must be an array of real numbers"),
        (lambda: LargeGaussianMixture(X, 0), InputError, "n_components must be"),
        (lambda: LargeGaussianMixture(X, 2, noise_variance=-1.0), InputError, "noise_variance must be"),
        (lambda: chunks([X]), InputTypeError, "factory must be callable; got list"),
        (lambda: chunks(lambda: [X], 0), InputError, "n_columns must be"),
        (lambda: solved([np.array([1.0, np.nan])]), InputError, "X must be finite"),
        (lambda: solved([np.array([1.0, np.inf])]), InputError, "X must be finite"),
        (lambda: solved([np.array(["a"])]), InputTypeError, "a chunk has dtype"),
        (lambda: solved([np.zeros((3, 2))]), InputError, r"X must have chunks of shape \(m, 1\)"),
        (lambda: solved([np.zeros(2)]), InputError, "n_components must be at most the number of samples, 2"),
        (lambda: solved([X], checkpoint="x"), InputError, "checkpoint must be None for data in chunks"),
        (lambda: solved([X], proof="x"), InputError, "proof must be None for data in chunks"),
    ],
)
def test_bad_input_is_named(make, error, wanted):
    with pytest.raises(error, match=wanted):
        make()


def solved(parts, **options):
    return gopfast.solve(LargeGaussianMixture(chunks(lambda: parts), 3), log=False, **options)
