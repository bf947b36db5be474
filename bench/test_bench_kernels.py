"""One data pass and one linear program: the two things that nodes are made of."""

import time

import numpy as np
import pytest

from gopfast.mixtures.data import passes

N_COMPONENTS = 3


def mixture(n):
    rng = np.random.default_rng(0)
    centers = 4.0 * np.arange(N_COMPONENTS, dtype=float)[:, None]
    columns = (rng.standard_normal(n) + centers[rng.integers(0, N_COMPONENTS, n), 0])[None]
    return columns, np.ones(n), centers, np.zeros(N_COMPONENTS), np.full(N_COMPONENTS, 1.0 / N_COMPONENTS)


def best_time(function, *arguments, repeats=20):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.mark.parametrize("level", [0, 1, 2], ids=["value", "moments", "hessian"])
@pytest.mark.parametrize("n", [1_000, 100_000])
def test_data_pass(benchmark, n, level):
    arguments = mixture(n)
    sums = benchmark(passes.sums, *arguments, level=level)
    assert np.isfinite(sums["value"])
    pairs = n * N_COMPONENTS
    argument = -np.random.default_rng(0).exponential(5.0, pairs)
    out = np.empty(pairs)
    info = benchmark.extra_info
    info["n"], info["n_components"] = n, N_COMPONENTS
    info["instruction_set"] = passes.instruction_set()
    info["ns_per_sample_component"] = 1e9 * benchmark.stats["min"] / pairs
    info["ns_per_numpy_exp"] = 1e9 * best_time(np.exp, argument, out) / pairs


@pytest.mark.parametrize("n", [1_000, 100_000])
@pytest.mark.parametrize("function", ["exp", "log"])
def test_primitive(benchmark, function, n):
    argument = np.random.default_rng(0).exponential(5.0, n)
    argument = -argument if function == "exp" else argument + 0.1
    result = benchmark(getattr(passes, function), argument)
    np.testing.assert_allclose(result, getattr(np, function)(argument), rtol=1e-14, atol=1e-15)
    benchmark.extra_info["ns_per_value"] = 1e9 * benchmark.stats["min"] / n
    benchmark.extra_info["ns_per_numpy_value"] = 1e9 * best_time(getattr(np, function), argument) / n


def subproblem(n_samples=4, n_cuts=20, seed=0):
    """An LP of the shape of a relaxed dual: responsibilities, an epigraph variable, cuts, qualifying rows."""
    rng = np.random.default_rng(seed)
    n_cols = 2 * n_samples + 1
    simplex = np.zeros((n_samples, n_cols))
    for i in range(n_samples):
        simplex[i, 2 * i : 2 * i + 2] = 1.0
    cuts = np.column_stack([-rng.standard_normal((n_cuts, n_cols - 1)), np.ones(n_cuts)])
    qualifying = np.column_stack([rng.standard_normal((4, n_cols - 1)), np.zeros(4)])
    rows = np.vstack([cuts, simplex, qualifying])
    inside = np.full(n_cols - 1, 0.5)
    row_lower = np.concatenate(
        [rng.standard_normal(n_cuts), np.ones(n_samples), qualifying[:, :-1] @ inside - 0.1]
    )
    row_upper = np.concatenate([np.full(n_cuts, np.inf), np.ones(n_samples), np.full(4, np.inf)])
    cost = np.append(np.zeros(n_cols - 1), 1.0)
    start = np.arange(len(rows)) * n_cols
    index = np.tile(np.arange(n_cols), len(rows))
    col_lower = np.append(np.zeros(n_cols - 1), -1e3)
    col_upper = np.append(np.ones(n_cols - 1), 1e3)
    return cost, start, index, rows.ravel(), row_lower, row_upper, col_lower, col_upper


@pytest.mark.parametrize("cold", [True, False], ids=["cold", "warm"])
def test_linear_program(benchmark, cold):
    from gopfast.lp.lp import Lp, time_solves

    n_solves = 10
    with Lp(*subproblem()) as lp:
        assert lp.solve() == "optimal"
        assert np.isfinite(lp.safe_bound)
        benchmark(time_solves, lp, n_solves, cold)
    benchmark.extra_info["n_lps"] = n_solves
    benchmark.extra_info["us_per_lp"] = 1e6 * benchmark.stats["min"] / n_solves
