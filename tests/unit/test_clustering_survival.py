"""Searches of k-means that are stopped, killed, or out of memory: what they have proved, and how they go on."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from support.killing import kept_states

import gopfast
from gopfast import CheckpointError, InputError
from gopfast.clustering.node import Node
from gopfast.search import files
from gopfast.search.checkpoint import Checkpoint, Stored

GRID = np.stack(np.meshgrid(np.arange(5.0), np.arange(7.0)), -1).reshape(-1, 2)
PROBLEM = gopfast.KMeans(GRID, 5)
SLOW = gopfast.KMeans(np.random.default_rng(0).normal(size=(40, 8)), 3)


@pytest.fixture(scope="module")
def whole():
    found = gopfast.solve(PROBLEM, log=False)
    assert found.success and found.n_nodes == 7
    return found


def outcome(found):
    ends = found.starts.kinds, found.starts.above.tolist()
    return found.status, found.objective, found.lower_bound, found.n_nodes, found.n_lps, found.centers.tolist(), ends


@pytest.mark.parametrize("n_nodes", range(1, 7))
def test_a_stopped_search_goes_on_to_the_same(n_nodes, tmp_path, whole):
    path = tmp_path / "search.checkpoint"
    stopped = gopfast.solve(PROBLEM, log=False, checkpoint=path, max_nodes=n_nodes)
    assert (stopped.status, stopped.n_nodes) == ("NODE_LIMIT", n_nodes)
    resumed = gopfast.resume(path, GRID if n_nodes % 2 else PROBLEM, log=False)
    assert outcome(resumed) == outcome(whole)
    assert len(resumed.history) == len(whole.history) and resumed.time >= stopped.time
    assert outcome(gopfast.resume(path, GRID, log=False)) == outcome(whole)  # nothing is left to do


def test_every_state_that_is_written_leads_to_the_optimum(tmp_path, monkeypatch, whole):
    """Also those in the midst of a node, between two linear programs."""
    n = kept_states(monkeypatch, tmp_path / "search.checkpoint",
                    lambda path: gopfast.solve(PROBLEM, log=False, checkpoint=path, checkpoint_every=1e-9))  # fmt: skip
    assert len(n) > 20 and set(n) == {True, False}
    for number in range(1, len(n) + 1):
        found = gopfast.resume(tmp_path / str(number), GRID, log=False)
        assert found.success
        assert found.objective == pytest.approx(whole.objective, rel=1e-12)
        assert found.objective * (1.0 - 1e-4) <= found.lower_bound <= whole.objective


@pytest.mark.parametrize("at", range(1, 4))
def test_ctrl_c_while_a_node_is_divided_loses_none(at, tmp_path, monkeypatch, whole):
    path, children, n = tmp_path / "search.checkpoint", Node.children, []

    def interrupted(self, *arguments):
        n.append(1)
        if len(n) == at:
            raise KeyboardInterrupt
        return children(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Node, "children", interrupted)
        found = gopfast.solve(PROBLEM, log=False, checkpoint=path)
    assert found.status == "INTERRUPTED"
    assert 0.0 < found.lower_bound <= whole.objective <= found.objective
    resumed = gopfast.resume(path, GRID, log=False)
    assert resumed.success and resumed.objective == whole.objective
    assert resumed.lower_bound <= whole.objective


def test_sigterm_writes_a_checkpoint_and_ends_with_the_bounds(tmp_path, whole):
    path = tmp_path / "search.checkpoint"

    def end(state):
        if state.n_nodes == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    found = gopfast.solve(PROBLEM, log=False, checkpoint=path, callback=end)
    assert (found.status, found.n_nodes) == ("INTERRUPTED", 3)
    assert outcome(gopfast.resume(path, GRID, log=False)) == outcome(whole)


def test_a_full_memory_ends_the_search_with_its_bounds(tmp_path):
    path = tmp_path / "search.checkpoint"
    found = gopfast.solve(SLOW, log=False, checkpoint=path, memory_limit=1000)
    whole = gopfast.solve(SLOW, log=False, memory_limit="4GB")
    assert found.status == "MEMORY_LIMIT" and whole.success
    assert found.lower_bound <= whole.objective <= found.objective
    resumed = gopfast.resume(path, SLOW, log=False)
    assert resumed.success and resumed.objective == pytest.approx(whole.objective, rel=1e-12)


CHILD = """
import sys
import numpy as np
import gopfast
problem = gopfast.KMeans(np.random.default_rng(0).normal(size=(40, 8)), 3)
print("begun", flush=True)
if sys.argv[2] == "resume":
    gopfast.resume(sys.argv[1], problem, log=False, checkpoint_every=0.05)
else:
    gopfast.solve(problem, log=False, checkpoint=sys.argv[1], checkpoint_every=0.05)
"""


def test_a_search_that_is_killed_again_and_again_goes_on(tmp_path):
    path, rng = tmp_path / "search.checkpoint", np.random.default_rng(0)
    environment = {**os.environ, "PYTHONPATH": str(Path(gopfast.__file__).parents[1])}
    for _ in range(6):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path), "resume" if path.exists() else "solve"],
            stdout=subprocess.PIPE, text=True, env=environment, cwd=tmp_path,
        )  # fmt: skip
        child.stdout.readline()
        while not path.exists() and child.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.4))
        child.kill()
        child.communicate()
        Stored(str(path))  # whole, whenever it was killed
    whole, resumed = gopfast.solve(SLOW, log=False), gopfast.resume(path, SLOW, log=False)
    assert resumed.success
    assert resumed.objective == pytest.approx(whole.objective, rel=1e-12)
    assert resumed.lower_bound <= whole.objective


def test_a_full_disk_does_not_end_the_search(tmp_path, monkeypatch, whole):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gopfast.search.files.os.replace", full)
    found = gopfast.solve(PROBLEM, log=False, checkpoint=tmp_path / "x", checkpoint_every=1e-9)
    assert outcome(found) == outcome(whole)
    assert len(found.notes) == 1 and "No space left on device; the search goes on without" in found.notes[0]


def test_other_files_and_other_data_are_refused(tmp_path):
    path = tmp_path / "search.checkpoint"
    gopfast.solve(PROBLEM, log=False, checkpoint=path, max_nodes=3)
    for other in (GRID + 1.0, gopfast.KMeans(GRID, 6), GRID[:-1]):
        with pytest.raises(CheckpointError, match="other data"):
            gopfast.resume(path, other, log=False)
    with pytest.raises(CheckpointError):
        gopfast.resume(path, gopfast.GaussianMixture(GRID, 5), log=False)
    whole = path.read_bytes()
    for at in np.random.default_rng(0).integers(len(whole), size=40):
        content = bytearray(whole)
        content[at] ^= 1
        path.write_bytes(content)
        try:
            found = gopfast.resume(path, GRID, log=False)
        except CheckpointError:
            continue
        assert found.success  # of a bit that says nothing, such as a time
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CheckpointError, match="damaged"):
        gopfast.resume(path, GRID, log=False)


@pytest.mark.parametrize("change", ["pairs", "columns", "lengths", "missing", "shape", "labels"])
def test_states_that_no_search_has_written_are_refused(change, tmp_path):
    path = tmp_path / "search.checkpoint"
    gopfast.solve(PROBLEM, log=False, checkpoint=path, max_nodes=3)
    reader = files.Reader(path)
    arrays = reader.part("state.")
    name = {"pairs": "together", "columns": "columns", "lengths": "apart.lengths", "labels": "pool.labels",
            "missing": "node.lower", "shape": "centers"}[change]  # fmt: skip
    arrays[name] = {"shape": arrays[name][:-1]}.get(change, arrays[name] + 10**6)
    if change == "missing":
        del arrays[name]
    files.write(path, reader.header, [("state.", arrays)])
    with pytest.raises(CheckpointError, match="damaged"):
        gopfast.resume(path, GRID, log=False)


def test_what_k_means_cannot_have_is_refused_by_name(tmp_path):
    for options in ({"executor": ThreadPoolExecutor(1)}, {"spill": tmp_path}):
        with pytest.raises(InputError, match=f"{next(iter(options))} must be None for k-means: its time goes into"):
            gopfast.solve(PROBLEM, **options)
    with pytest.raises(InputError, match="checkpoint must be None with a proof"):
        gopfast.solve(PROBLEM, checkpoint=tmp_path / "x", proof=True)


WIDE = gopfast.KMeans(np.random.default_rng(0).normal(size=(30, 12)) + np.arange(3).repeat(10)[:, None], 3)


def test_nothing_is_written_before_the_root_is_open(tmp_path, monkeypatch):
    """Of many columns, whose blocks are bounded first: every state that is written has what is left to do."""
    path, write, n = tmp_path / "search.checkpoint", Checkpoint.write, []

    def kept(self, search, finished=False):
        assert search.heap or search.closed < np.inf
        write(self, search, finished)
        n.append(1)

    monkeypatch.setattr(Checkpoint, "write", kept)
    whole = gopfast.solve(WIDE, log=False, checkpoint=path, checkpoint_every=1e-9)
    assert whole.success and n


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_a_search_that_is_ended_before_its_root_begins_again(end, tmp_path, monkeypatch):
    path = tmp_path / "search.checkpoint"

    def ended(*given, **named):
        signal.raise_signal(end)
        return Node(*given, **named)

    start = GRID[:5]
    with monkeypatch.context() as patch:
        patch.setattr("gopfast.clustering.solve.Node", ended)
        found = gopfast.solve(PROBLEM, log=False, checkpoint=path, start=start)
    assert found.status == "INTERRUPTED" and found.lower_bound == 0.0
    stored = Stored(str(path))
    assert not stored.begun and stored.header["start"] == start.tolist()
    assert outcome(gopfast.resume(path, GRID, log=False)) == outcome(gopfast.solve(PROBLEM, log=False, start=start))


def test_ctrl_c_while_a_state_is_taken_proves_nothing_false(tmp_path, monkeypatch, whole):
    path, n = tmp_path / "search.checkpoint", []
    gopfast.solve(PROBLEM, log=False, checkpoint=path, max_nodes=3)
    before = path.read_bytes()

    def interrupted(*arguments):
        n.append(1)
        if len(n) == 2:
            raise KeyboardInterrupt
        return Node(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr("gopfast.clustering.checkpoint.Node", interrupted)
        found = gopfast.resume(path, GRID, log=False)
    assert len(n) == 2 and found.status == "INTERRUPTED" and found.lower_bound <= whole.objective
    assert path.read_bytes() == before
    assert gopfast.resume(path, GRID, log=False).success
