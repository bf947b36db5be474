"""What surrounds a search is the same for every kind of problem."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gopfast
from gopfast import BiconvexProblem, CheckpointError, Status
from gopfast.options import OF_STATE, Options
from gopfast.search.checkpoint import Stored
from gopfast.search.session import UNFINISHED, Session

FOLDER = Path(gopfast.__file__).parent / "datasets/biconvex"
GRID = np.stack(np.meshgrid(np.arange(5.0), np.arange(7.0)), -1).reshape(-1, 2)
KINDS = {
    "mixture": gopfast.GaussianMixture(gopfast.datasets.load("galaxies"), 4, covariance="known"),
    "clustering": gopfast.KMeans(GRID, 5),
    "biconvex": BiconvexProblem.from_json(FOLDER / "ex3_1_1.json"),
}


class Numbers:
    """A search of another kind: its state is a list of numbers."""

    @staticmethod
    def state(search, finished=False):
        return {"numbers": np.array(search), "finished": np.array([finished])}

    @staticmethod
    def blocks(search):
        return []

    @staticmethod
    def slabs(search):
        return [{"half": np.array(search) / 2.0}]

    @staticmethod
    def restore(search, arrays, nodes, blocks):
        search[:] = arrays["numbers"].tolist() + [x for one in nodes for x in one["half"].tolist()]

    @staticmethod
    def best(search):
        return search[0], np.array(search)


def session_at(path, coordinates="these"):
    session = Session(Options.from_arguments(checkpoint=path), arrays=Numbers)
    session.keep(lambda: {"gopfast": "1", "problem": {"class": "Numbers"}, "options": {}, "digest": ""})
    session.surroundings(lambda: coordinates)
    return session


@pytest.mark.parametrize("status", Status)
def test_a_search_that_did_not_begin_is_to_begin_unless_it_is_done(status, tmp_path):
    session_at(tmp_path / "kept").end(None, status)
    assert (tmp_path / "kept").exists() == (status in UNFINISHED)
    if status in UNFINISHED:
        assert not Stored(str(tmp_path / "kept")).begun


@pytest.mark.parametrize("status", Status)
def test_the_last_state_is_kept_and_given_back(status, tmp_path):
    session = session_at(tmp_path / "kept")
    session.keeper.begun = True
    session.end([3.0, 5.0], status)
    again, stored = session_at(tmp_path / "other"), Stored(str(tmp_path / "kept"))
    assert stored.begun
    search, asked = [], []
    again.restore(search, stored, lambda solution, upper: asked.append((solution.tolist(), upper)) or True)
    assert search == ([3.0, 5.0, 1.5, 2.5] if status in UNFINISHED else [3.0, 5.0])  # else no open nodes
    assert asked == [(search, 3.0)]


@pytest.mark.parametrize(("coordinates", "attains", "message"), [
    ("others", True, "other coordinates"), ("these", False, "incumbent.solution does not attain it"),
])  # fmt: skip
def test_a_state_of_other_coordinates_or_another_incumbent_is_refused(coordinates, attains, message, tmp_path):
    session = session_at(tmp_path / "kept")
    session.keeper.begun = True
    session.end([3.0], Status.NODE_LIMIT)
    with pytest.raises(CheckpointError, match=message):
        session_at(tmp_path / "other", coordinates).restore(
            [], Stored(str(tmp_path / "kept")), lambda solution, upper: attains
        )


def test_a_search_within_the_solve_notes_beside_it_and_keeps_nothing(tmp_path):
    session = session_at(tmp_path / "kept")
    inner = session.within(Options.from_arguments(max_nodes=3))
    inner.note("a line")
    inner.end(SimpleNamespace(), Status.NODE_LIMIT)
    assert session.notes == ["a line"] and inner.options.max_nodes == 3 and not (tmp_path / "kept").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_checkpoints_of_all_kinds_say_the_same_of_their_search(kind, tmp_path):
    path, problem = tmp_path / "kept", KINDS[kind]
    options = {"rel_tol": 1e-4, "n_threads": 1, "log": False}
    stopped = gopfast.solve(problem, checkpoint=path, max_nodes=2, **options)
    assert stopped.status == "NODE_LIMIT"
    header = Stored(str(path)).header
    assert header["options"].keys() == set(OF_STATE) and header["options"]["rel_tol"] == 1e-4
    assert header["problem"]["class"] == type(problem).__name__ and header["without"] == []
    whole = gopfast.solve(problem, **options)
    gone_on = gopfast.resume(path, problem, n_threads=1, log=False)
    assert gone_on.status == whole.status == "OPTIMAL" and gone_on.n_nodes > stopped.n_nodes
    assert gone_on.objective == pytest.approx(whole.objective, rel=1e-4)


def test_history_begins_with_the_first_solution_where_a_bound_is_known():
    """What is learnt in the first batch may take long: a row of no nodes says when the solution was there."""
    first = gopfast.solve(KINDS["mixture"], max_nodes=1).history[0]
    assert first[1] == first[4] == 0 and np.isfinite(first[2:4]).all() and first[2] <= first[3]
