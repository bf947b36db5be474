"""Searches for classes of regressions that are stopped: what their checkpoints hold, and how they go on."""

import numpy as np
import pytest
from support.killing import kept_states

import gopfast
from gopfast import CheckpointError
from gopfast.search import files

_rng = np.random.default_rng(1)
PROBLEM = gopfast.ClusterwiseRegression(_rng.uniform(0, 10, 18).round(2), _rng.normal(size=18).round(3), 2)
REL_TOL = 1e-7


def solved(**options):
    return gopfast.solve(PROBLEM, rel_tol=REL_TOL, log=False, **options)


@pytest.fixture(scope="module")
def whole():
    found = solved()
    assert found.success and found.n_nodes > 3
    return found


def is_as_good(found, whole):
    return found.success and found.objective == whole.objective and found.rel_gap <= REL_TOL


@pytest.mark.parametrize("n_nodes", [1, 2, 3])
def test_a_stopped_search_goes_on_to_the_optimum(n_nodes, tmp_path, whole):
    path = tmp_path / "search.checkpoint"
    stopped = solved(checkpoint=path, max_nodes=n_nodes)
    assert (stopped.status, stopped.n_nodes) == ("NODE_LIMIT", n_nodes)
    resumed = gopfast.resume(path, PROBLEM, log=False)
    assert is_as_good(resumed, whole) and resumed.n_nodes > n_nodes and resumed.time >= stopped.time
    assert len(resumed.history) > len(stopped.history)
    again = gopfast.resume(path, PROBLEM, log=False)  # nothing is left to do
    assert is_as_good(again, whole) and again.n_nodes == resumed.n_nodes


def test_every_state_that_is_written_leads_to_the_optimum(tmp_path, monkeypatch, whole):
    """Also those in the midst of a node, between two linear programs."""
    n = kept_states(monkeypatch, tmp_path / "search.checkpoint",
                    lambda path: solved(checkpoint=path, checkpoint_every=1e-9))  # fmt: skip
    assert any(n) and not all(n)
    for i in np.linspace(1, len(n), 6).astype(int).tolist():
        assert is_as_good(gopfast.resume(tmp_path / str(i), PROBLEM, log=False), whole)


def test_other_problems_and_damaged_files_are_refused(tmp_path):
    path = tmp_path / "search.checkpoint"
    solved(checkpoint=path, max_nodes=2)
    X, y = PROBLEM.X, PROBLEM.y
    for arguments in ((X, y, 3), (X, y + 1.0, 2), (X, y, 2, False)):
        other = gopfast.ClusterwiseRegression(*arguments)
        with pytest.raises(CheckpointError, match="other data"):
            gopfast.resume(path, other, log=False)
    for other in (PROBLEM._data_of_proof(), gopfast.KMeans(PROBLEM.X, 2)):
        with pytest.raises(CheckpointError, match="give the problem in place of data"):
            gopfast.resume(path, other, log=False)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(CheckpointError, match="damaged"):
        gopfast.resume(path, PROBLEM, log=False)


CHANGES = {
    "node.lower": lambda a: a[:-1], "node.boxes": lambda a: a + 1, "box.classes": lambda a: a + 1,
    "box.low": lambda a: a - 1e6, "box.high": lambda a: a[:, :1], "labels": lambda a: 1 - a * 0,
    "bounds": lambda a: a * 0.5, "pool.fits": lambda a: a[:1], "pool.random": lambda a: a[::-1],
    "pool.ends": lambda a: a[1:], "counts": lambda a: -a - 1,
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_states_that_no_search_has_written_are_refused(name, tmp_path):
    path = tmp_path / "search.checkpoint"
    solved(checkpoint=path, max_nodes=2)
    reader = files.Reader(path)
    arrays = reader.part("state.")
    for change in (CHANGES[name], None):
        arrays[name] = change(arrays[name]) if change else arrays.pop(name)
        if change is None:
            del arrays[name]
        files.write(path, reader.header, [("state.", arrays)])
        with pytest.raises(CheckpointError, match="damaged"):
            gopfast.resume(path, PROBLEM, log=False)
