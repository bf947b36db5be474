"""Checkpoints of badly scaled problems pass the checks that forged ones do not: incumbents are evaluated anew."""

import numpy as np
import pytest

import gopfast

RNG = np.random.default_rng(0)
LINE = np.concatenate([RNG.normal(center, 1.0, (15, 1)) for center in (0.0, 4.0, 8.0)])
PLANE = np.concatenate([RNG.normal(center, 1.0, (15, 2)) for center in (0.0, 4.0)])
COUNTS = RNG.poisson([0, 5], (30, 2))
WEIGHTS = RNG.uniform(0.5, 1.5, 45)
UNITS = [(1e12, 0.0), (1e-12, 0.0), (1.0, 1e9), (1e6, 1e9), (1e12, 1e15)]
KINDS = {"known": (LINE, 3), "diag": (LINE, 2), "full": (PLANE, 2), "tied": (PLANE, 2), "spherical": (PLANE, 2)}


def goes_on(problem, path, n_nodes=30):
    """Whether a search that is stopped goes on, with an incumbent and bounds no worse than it had."""
    stopped = gopfast.solve(problem, checkpoint=path, max_nodes=n_nodes, log=False, n_threads=1)
    resumed = gopfast.resume(path, problem, max_nodes=2 * n_nodes, log=False, n_threads=1)
    assert stopped.n_nodes <= resumed.n_nodes
    assert stopped.lower_bound <= resumed.lower_bound <= resumed.objective <= stopped.objective
    return True


@pytest.mark.parametrize(("scale", "offset"), UNITS)
@pytest.mark.parametrize("kind", KINDS)
def test_mixtures_of_data_in_any_unit_go_on(kind, scale, offset, tmp_path):
    X, K = KINDS[kind]
    assert goes_on(gopfast.GaussianMixture(X * scale + offset, K, covariance=kind), tmp_path / "c")


@pytest.mark.parametrize("weight", [1e8, 1e-8, 1e15])
def test_mixtures_of_any_weights_go_on(weight, tmp_path):
    for kind in ("known", "diag"):
        problem = gopfast.GaussianMixture(LINE, 2, covariance=kind, sample_weight=weight * WEIGHTS)
        assert goes_on(problem, tmp_path / kind)
    assert goes_on(gopfast.PoissonMixture(COUNTS, 2, sample_weight=weight * WEIGHTS[:30]), tmp_path / "counts")


def test_counts_of_billions_go_on(tmp_path):
    assert goes_on(gopfast.PoissonMixture(RNG.poisson([1e6, 2e9], (30, 2)).astype(float), 2), tmp_path / "c")


@pytest.mark.parametrize(("scale", "offset"), UNITS)
def test_clusterings_of_data_in_any_unit_go_on(scale, offset, tmp_path):
    grid = np.stack(np.meshgrid(np.arange(5.0), np.arange(7.0)), -1).reshape(-1, 2)
    assert goes_on(gopfast.KMeans(scale * grid + offset, 5), tmp_path / "c", 2)
    assert goes_on(gopfast.KMeans(grid, 5, np.full(35, scale)), tmp_path / "weighted", 2)
