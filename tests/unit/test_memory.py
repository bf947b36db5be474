"""Open nodes are compact: a million fit in 1 GB, by the size that the tree states and by what a search really takes."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.mixtures.relaxations.linear import LinearRelaxation
from gopfast.search.tree import Tree

import gopfast
from gopfast.mixtures import engine

MEMORY = Path(__file__).resolve().parents[2] / "bench" / "memory.py"
MILLION_NODES = 2**30 / 10**6  # bytes that each may take


@pytest.mark.parametrize("n_connected", range(1, 31))
def test_a_million_nodes_fit_in_a_gigabyte(n_connected):
    # warm starts: the weights of up to 10 components, and a multiplier for each of the two facets of a variable
    size = Tree(n_connected, 10 + 2 * n_connected).node_bytes
    assert size <= MILLION_NODES
    # a box and a split point at least
    assert size >= 3 * 8 * n_connected


@pytest.mark.parametrize("relaxation", [EntropicRelaxation, LinearRelaxation])
def test_a_node_holds_nothing_per_sample(relaxation):
    def size(n_samples):
        X = np.linspace(0.0, 30.0, n_samples)[:, None] * np.ones(3)
        relaxed = relaxation(engine.family(gopfast.GaussianMixture(X, 10, covariance="known")))
        assert relaxed.n_connected == 30
        return Tree(relaxed.n_connected, relaxed.n_warm).node_bytes

    assert size(20) == size(2000) <= MILLION_NODES


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="resident memory is read from /proc")
def test_open_nodes_take_the_memory_that_the_tree_states(tmp_path):
    # In a process of its own: memory freed by other tests would hide the growth.
    command = [sys.executable, str(MEMORY), "open-nodes", "4", "2", "450000"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["n_connected"] == 8
    assert found["n_open"] >= 200_000
    assert found["growth"] / found["n_open"] == pytest.approx(found["node_bytes"], rel=0.2)
