"""A search goes on from its checkpoint as if it had not been stopped, whatever stopped it."""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile

import numpy as np
import pytest
from support.settings import fewer

import gopfast
from gopfast import CheckpointError, InputError
from gopfast.mixtures.solve import MixtureSearch
from gopfast.options import Options
from gopfast.search import files, learning_log
from gopfast.search.checkpoint import Checkpoint, Stored

GALAXIES = gopfast.datasets.load("galaxies")
FAITHFUL = gopfast.datasets.load("faithful")
COUNTS = ("n_nodes", "n_subproblems", "n_passes", "objective", "lower_bound", "status", "relaxation")


def outcome(result, but=()):
    """What must not depend on a stop."""
    return [getattr(result, name) for name in COUNTS if name not in but] + result.solution.weights.tolist()


def problems():
    rng = np.random.default_rng(0)
    return {
        "known variance": gopfast.GaussianMixture(GALAXIES, 5, covariance="known"),
        "empirical prior": gopfast.GaussianMixture(GALAXIES, 4, prior="empirical"),
        "summaries": gopfast.GaussianMixture(3.0 * rng.normal(size=(3000, 1)), 3, covariance="known"),
        "free variances": gopfast.GaussianMixture(GALAXIES, 3, covariance="diag"),
        "two columns": gopfast.GaussianMixture(FAITHFUL, 2, covariance="diag"),
        "matrices": gopfast.GaussianMixture(FAITHFUL[:40], 2, covariance="full"),
        "counts": gopfast.PoissonMixture(rng.poisson([2, 9], (60, 2)), 2),
        "binary": gopfast.BernoulliMixture(rng.integers(0, 2, (30, 3)), 2, prior=(1.1, 1.1)),
        "labels": gopfast.CategoricalMixture(rng.integers(0, 3, (28, 4)), 2),
    }


@pytest.mark.parametrize("name", problems())
def test_a_resumed_search_is_the_same_search(name, tmp_path):
    problem, path = problems()[name], tmp_path / "search.checkpoint"
    options = {"epsilon": 0.1, "log": False, "n_threads": 1, "max_nodes": 1500}
    whole = gopfast.solve(problem, **options)
    for part in (0.1, 0.5, 0.9):
        stopped = gopfast.solve(
            problem, **options, checkpoint=path, callback=lambda state, n=part * whole.n_nodes: state.n_nodes >= n
        )
        assert stopped.status == "INTERRUPTED"
        data = problem if name == "labels" else problem.X
        resumed = gopfast.resume(path, data, n_threads=1, max_nodes=1500, log=False)
        assert outcome(resumed) == outcome(whole)


def test_prices_in_the_making_are_made_again(tmp_path):
    problem, path = gopfast.GaussianMixture(FAITHFUL[::4], 2, covariance="full"), str(tmp_path / "p")

    def search(**more):
        options = Options.from_arguments(0.05, relaxation="pricing", n_threads=1, log=False, **more)
        return MixtureSearch(problem, options)

    whole = search().run(max_nodes=600)
    assert whole.n_nodes > 200
    learning = 0
    for n in range(10, 150, 20):
        search(checkpoint=path, callback=lambda state, n=n: state.n_nodes >= n).run()
        state = Stored(path).reader.part("state.")
        learning += "reduction.learning_log" in state
        resumed = gopfast.resume(path, problem.X, max_nodes=600, n_threads=1, log=False)
        assert outcome(resumed) == outcome(whole)
    assert learning


def test_a_checkpoint_of_what_is_proved_says_so(tmp_path):
    problem, path = gopfast.GaussianMixture(GALAXIES, 3, covariance="known"), tmp_path / "search.checkpoint"
    result = gopfast.solve(problem, checkpoint=path, log=False)
    resumed = gopfast.resume(path, GALAXIES, log=False)
    assert (resumed.status, resumed.objective, resumed.lower_bound, resumed.n_nodes) == (
        "OPTIMAL", result.objective, result.lower_bound, result.n_nodes,
    )  # fmt: skip


def test_what_is_proved_is_not_polished_again(tmp_path):
    """A wide tolerance leaves EM far from its end: resumed at its end a search moved its optimum by 5e-5 nats."""
    path, X = tmp_path / "search.checkpoint", 2.0 * np.random.default_rng(0).normal(size=20)
    problem = gopfast.GaussianMixture(X, 3, covariance="known")
    whole = gopfast.solve(problem, 0.5, checkpoint=path, log=False, n_threads=1)
    assert whole.success
    for _ in range(2):
        resumed = gopfast.resume(path, problem, log=False, n_threads=1)
        assert outcome(resumed) == outcome(whole) and resumed.n_passes == whole.n_passes


def test_weights_are_data(tmp_path):
    path, weights = tmp_path / "search.checkpoint", np.linspace(1.0, 2.0, len(GALAXIES))
    problem = gopfast.GaussianMixture(GALAXIES, 4, covariance="known", sample_weight=weights)
    whole = gopfast.solve(problem, log=False)
    gopfast.solve(problem, log=False, checkpoint=path, callback=lambda state: state.n_nodes >= 50)
    with pytest.raises(CheckpointError, match="of other data"):
        gopfast.resume(path, GALAXIES, log=False)
    assert outcome(gopfast.resume(path, GALAXIES, weights, log=False)) == outcome(whole)
    assert gopfast.resume(path, problem, log=False).success
    with pytest.raises(InputError, match="sample_weight must be None with a problem"):
        gopfast.resume(path, problem, weights)


# Files

@pytest.fixture
def stopped(tmp_path):
    """A checkpoint of a search of galaxies."""
    path = tmp_path / "search.checkpoint"
    gopfast.solve(
        gopfast.GaussianMixture(GALAXIES, 5, covariance="known"), log=False, checkpoint=path,
        callback=lambda state: state.n_nodes >= 300,
    )
    return path


def test_other_data_are_refused(stopped):
    for other in (GALAXIES + 1e-9, GALAXIES[1:], GALAXIES[::-1]):
        with pytest.raises(CheckpointError, match="of other data"):
            gopfast.resume(stopped, other)


def test_a_file_of_another_version_is_refused(stopped, monkeypatch):
    monkeypatch.setattr("gopfast.version.VERSION", "99.0")
    with pytest.raises(CheckpointError, match=r"written by gopfast .*; this is 99\.0"):
        gopfast.resume(stopped, GALAXIES)


def test_a_file_of_another_format_is_refused(stopped):
    with zipfile.ZipFile(stopped) as archive:
        header = json.loads(archive.read("header.json"))
    for changed, wanted in (({"version": 99}, "a checkpoint of version 99"), ({"kind": "proof"}, "no checkpoint")):
        files.write(str(stopped), {**header, **changed}, [])
        with pytest.raises(CheckpointError, match=wanted):
            gopfast.resume(stopped, GALAXIES)


def test_files_that_are_none_are_refused(tmp_path, stopped):
    np.savez(tmp_path / "foreign.npz", a=np.arange(3))
    (tmp_path / "text").write_text("a,b\n1,2\n")
    (tmp_path / "empty").write_bytes(b"")
    for name in ("foreign.npz", "text", "empty", "absent"):
        with pytest.raises(CheckpointError, match=name):
            gopfast.resume(tmp_path / name, GALAXIES)


def test_no_damage_passes(stopped):
    """Every changed or missing byte is refused in one error, or is none of the search's state."""
    whole, rng = stopped.read_bytes(), np.random.default_rng(0)
    expected = gopfast.resume(stopped, GALAXIES, log=False)
    stopped.write_bytes(whole)
    for i in range(300):
        damaged = bytearray(whole)
        if i % 3 == 0:
            damaged = damaged[: rng.integers(len(whole))]
        else:
            damaged[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        stopped.write_bytes(damaged)
        try:
            result = gopfast.resume(stopped, GALAXIES, log=False, n_threads=1)
        except CheckpointError as error:
            assert str(stopped) in str(error)
        else:
            assert outcome(result) == outcome(expected)


def test_a_file_runs_no_code(stopped):
    """Objects, which would have to be unpickled, are refused."""
    with zipfile.ZipFile(stopped) as archive:
        header = json.loads(archive.read("header.json"))
        names = [name for name in archive.namelist() if name != "header.json"]
    with zipfile.ZipFile(stopped, "w") as archive:
        archive.writestr("header.json", json.dumps(header))
        for name in names:
            with archive.open(name, "w") as entry:
                np.lib.format.write_array(entry, np.array([print], dtype=object), allow_pickle=True)
    with pytest.raises(CheckpointError, match="damaged"):
        gopfast.resume(stopped, GALAXIES)


def test_an_error_of_a_callback_is_no_error_of_the_file(stopped):
    def fails(_):
        raise RuntimeError("the callback's own")

    with pytest.raises(RuntimeError, match="the callback's own"):
        gopfast.resume(stopped, GALAXIES, log=False, callback=fails)


@pytest.mark.parametrize("error", [MemoryError("full"), TypeError("a bug"), AttributeError("a bug")])
@pytest.mark.parametrize("where", ["gopfast.search.snapshot.restore", "gopfast.search.entries.count"])
def test_an_error_of_restoring_is_no_error_of_the_file(where, error, stopped, monkeypatch):
    def fails(*_):
        raise error

    monkeypatch.setattr(where, fails)
    with pytest.raises(type(error)) as raised:
        gopfast.resume(stopped, GALAXIES, log=False)
    assert raised.value is error


def test_a_full_memory_while_a_file_is_read_is_no_damage(stopped, monkeypatch):
    def full(*_):
        raise MemoryError("full")

    monkeypatch.setattr(zipfile.ZipExtFile, "read", full)
    with pytest.raises(MemoryError, match="full"):
        gopfast.resume(stopped, GALAXIES, log=False)


def test_a_header_of_an_array_that_no_parser_takes_is_damage(stopped):
    """However the parser of Python says so: of a deep nest that its memory is full."""
    with zipfile.ZipFile(stopped) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    for text in ("-" * 8000 + "1", "(" * 8000, "{'descr': '<f8'", "{}", "[]", "'", "\x00", "1e999"):
        header = text.encode()
        with zipfile.ZipFile(stopped, "w") as archive:
            for name, value in entries.items():
                if name == "state.search.n_nodes.npy":
                    value = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(8)
                archive.writestr(name, value)
        with pytest.raises(CheckpointError, match="damaged"):
            gopfast.resume(stopped, GALAXIES, log=False)


def test_a_bound_above_the_incumbent_is_said_with_both_causes(tmp_path):
    """A little above it, so that only the end of the search shows it."""
    path = str(tmp_path / "search.checkpoint")
    gopfast.solve(gopfast.GaussianMixture(GALAXIES, 3, covariance="known"), checkpoint=path, log=False)
    reader = files.Reader(path)
    header, state = reader.header, reader.part("state.")
    reader.close()
    state["search.closed"] = state["incumbent.upper"] * (1.0 + 1e-5)
    files.write(path, header, [("state.", state)])
    with pytest.raises(CheckpointError, match="the file was changed .* or a bound .* is wrong.*report") as raised:
        gopfast.resume(path, GALAXIES, log=False)
    assert isinstance(raised.value.__cause__, RuntimeError)


# Writing

def full_disk(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_stops_no_search_and_spoils_no_file(tmp_path, monkeypatch):
    path, problem = tmp_path / "search.checkpoint", gopfast.GaussianMixture(GALAXIES, 5, covariance="known")
    options = {"log": False, "checkpoint": path, "checkpoint_every": 0.0}
    gopfast.solve(problem, **options, callback=lambda state: state.n_nodes >= 300)
    before = path.read_bytes()
    monkeypatch.setattr(files.os, "fsync", full_disk)
    result = gopfast.solve(problem, **options)
    assert result.success
    assert [note for note in result.notes if note.startswith("checkpoint:")] == [
        f"checkpoint: {path}: No space left on device; the search goes on without"
    ]
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["search.checkpoint"]
    monkeypatch.undo()
    assert gopfast.resume(path, GALAXIES, log=False).success


def test_bad_paths_are_named_before_the_search(tmp_path):
    problem = gopfast.GaussianMixture(GALAXIES, 3, covariance="known")
    for bad in (tmp_path, tmp_path / "absent" / "file"):
        with pytest.raises(InputError, match="^checkpoint: .* cannot be written"):
            gopfast.solve(problem, checkpoint=bad)
    with pytest.raises(InputError, match="^checkpoint must be a path"):
        gopfast.solve(problem, checkpoint=3)
    with pytest.raises(InputError, match="^checkpoint must be None with a proof"):
        gopfast.solve(problem, checkpoint=tmp_path / "c", proof=tmp_path / "p")


def test_the_handler_of_sigterm_is_set_in_the_main_thread_and_put_back(tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    keeper = Checkpoint(str(tmp_path / "c"), 60.0, {}, print)
    with keeper.on_termination():
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before
    problem, results = gopfast.GaussianMixture(GALAXIES, 3, covariance="known"), []
    other = threading.Thread(
        target=lambda: results.append(gopfast.solve(problem, checkpoint=tmp_path / "c", log=False, n_threads=1))
    )
    other.start()
    other.join()
    assert results[0].success


# A process that is killed

CHILD = """
import sys
import gopfast
problem = gopfast.GaussianMixture(gopfast.datasets.load("faithful")[:40], 2, covariance="full")
result = gopfast.solve(problem, 0.01, checkpoint=sys.argv[1], checkpoint_every=0.02, log=False, n_threads=1,
                       callback=lambda state: print(state.n_nodes, flush=True))
print(result.status, result.n_nodes)
"""


@pytest.fixture(scope="module")
def long_problem():
    problem = gopfast.GaussianMixture(FAITHFUL[:40], 2, covariance="full")
    return problem, gopfast.solve(problem, 0.01, log=False, n_threads=1)


def start(path, wanted):
    """Start a search in a process of its own; return it once it has bounded so many nodes."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE, text=True, cwd=os.path.dirname(path),
        env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(gopfast.__file__))},
    )  # fmt: skip
    for line in child.stdout:
        if int(line) >= wanted:
            break
    return child


@pytest.mark.parametrize("turn", range(2))
def test_a_killed_search_goes_on(turn, tmp_path, long_problem):
    problem, whole = long_problem
    rng, path = np.random.default_rng(turn), tmp_path / "search.checkpoint"
    child = start(path, 0.1 * whole.n_nodes)
    time.sleep(0.1 * rng.random())  # also while it writes, which it does all the time
    child.kill()
    child.communicate()
    resumed = gopfast.resume(path, problem.X, log=False, n_threads=1)
    assert outcome(resumed) == outcome(whole)


def test_a_terminated_search_ends_with_its_bounds_and_goes_on(tmp_path, long_problem):
    problem, whole = long_problem
    path = tmp_path / "search.checkpoint"
    child = start(path, 0.3 * whole.n_nodes)
    child.terminate()
    last = child.communicate(timeout=60)[0].splitlines()[-1]
    assert child.returncode == 0
    assert last.startswith("INTERRUPTED")
    assert Stored(str(path)).reader.part("state.")["search.n_nodes"] == int(last.split()[1])
    assert outcome(gopfast.resume(path, problem.X, log=False, n_threads=1)) == outcome(whole)


PRICING = """
import sys
import gopfast
problem = gopfast.GaussianMixture(gopfast.datasets.load("faithful")[::3], 2, covariance="full")

def tell(state):
    if state.n_nodes <= 1:
        print("begun", flush=True)

result = gopfast.solve(problem, 0.02, relaxation="pricing", checkpoint=sys.argv[1], log=False, n_threads=1,
                       callback=tell)
print(result.status, result.n_nodes)
"""


def test_a_search_that_is_terminated_while_prices_are_learnt_is_the_same_search(tmp_path):
    """At times from its first node to its end: some while prices are in the making, some when they are there."""
    problem = gopfast.GaussianMixture(FAITHFUL[::3], 2, covariance="full")
    whole = gopfast.solve(problem, 0.02, relaxation="pricing", log=False, n_threads=1)
    n_stopped = n_learning = 0
    for turn, part in enumerate(np.linspace(0.0, 0.7, 1 + fewer(8))):
        path = tmp_path / f"{turn}.checkpoint"
        child = subprocess.Popen(
            [sys.executable, "-c", PRICING, str(path)], stdout=subprocess.PIPE, text=True, cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(gopfast.__file__))},
        )  # fmt: skip
        assert child.stdout.readline() == "begun\n"
        time.sleep(part * whole.time)
        child.terminate()
        said = child.communicate(timeout=60)[0].split()
        if said[:1] == ["INTERRUPTED"]:  # else it had ended, and may have been terminated before it said so
            assert child.returncode == 0
            state = Stored(str(path)).reader.part("state.")
            assert state["search.n_nodes"] == int(said[1]) <= whole.n_nodes
            n_stopped, n_learning = n_stopped + 1, n_learning + ("reduction.learning_log" in state)
        # passes of the local search that the signal cut short are counted, and it begins again
        resumed = gopfast.resume(path, problem.X, log=False, n_threads=1)
        assert resumed.n_passes >= whole.n_passes
        assert outcome(resumed, but=("n_passes",)) == outcome(whole, but=("n_passes",))
    assert n_stopped >= n_learning > 0


@pytest.mark.parametrize("resumes", [False, True])
def test_sigterm_in_the_first_batch_of_a_run_cuts_no_learning_short(resumes, tmp_path, monkeypatch):
    problem, path, sent = gopfast.GaussianMixture(FAITHFUL[::3], 2, covariance="full"), tmp_path / "c", []
    options, kept = {"relaxation": "pricing", "log": False, "n_threads": 1}, learning_log.LearningLog.count
    whole, usual = gopfast.solve(problem, 0.02, **options), signal.getsignal(signal.SIGTERM)

    def ended(self, limit):
        kept(self, limit)
        if not sent and signal.getsignal(signal.SIGTERM) != usual:
            sent.append(limit)
            signal.raise_signal(signal.SIGTERM)

    if resumes:
        gopfast.solve(problem, 0.02, checkpoint=path, callback=lambda state: state.n_nodes >= 300, **options)
    with monkeypatch.context() as patch:
        patch.setattr(learning_log.LearningLog, "count", ended)
        stopped = gopfast.resume(path, problem.X, log=False, n_threads=1) if resumes else (
            gopfast.solve(problem, 0.02, checkpoint=path, **options))  # fmt: skip
    assert sent and stopped.status == "INTERRUPTED"
    assert outcome(gopfast.resume(path, problem.X, log=False, n_threads=1)) == outcome(whole)


TWICE = """
import os, signal, sys
import gopfast
from gopfast.search import files

problem, n = gopfast.GaussianMixture(gopfast.datasets.load("galaxies"), 5, covariance="known"), []

def again(*paths, replace=os.replace):
    n.append(paths)
    signal.raise_signal(signal.SIGTERM)
    replace(*paths)

files.os.replace = again
result = gopfast.solve(problem, checkpoint=sys.argv[1], log=False, n_threads=1,
                       callback=lambda state: state.n_nodes >= 100 and signal.raise_signal(signal.SIGTERM))
print(len(n), result.status, result.n_nodes)
"""


def test_sigterm_again_waits_for_the_last_checkpoint(tmp_path):
    path = tmp_path / "search.checkpoint"
    done = subprocess.run(
        [sys.executable, "-c", TWICE, str(path)], capture_output=True, text=True, timeout=60, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(gopfast.__file__))},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    n_written, status, _ = done.stdout.split()
    assert (n_written, status) == ("1", "INTERRUPTED")
    assert gopfast.resume(path, GALAXIES, log=False).success


def test_ctrl_c_while_a_checkpoint_is_written_ends_with_the_bounds(tmp_path, monkeypatch):
    path, problem = tmp_path / "search.checkpoint", gopfast.GaussianMixture(GALAXIES, 5, covariance="known")
    whole, n, replace = gopfast.solve(problem, log=False, n_threads=1), [], os.replace

    def interrupted(*paths):
        n.append(paths)
        if len(n) == 3:
            raise KeyboardInterrupt
        replace(*paths)

    monkeypatch.setattr(files.os, "replace", interrupted)
    result = gopfast.solve(problem, log=False, n_threads=1, checkpoint=path, checkpoint_every=0.0)
    assert result.status == "INTERRUPTED"
    assert result.lower_bound <= whole.objective <= result.objective
    assert len(n) == 4  # the last one is written
    assert os.listdir(tmp_path) == ["search.checkpoint"]
    assert outcome(gopfast.resume(path, GALAXIES, log=False, n_threads=1)) == outcome(whole)


@pytest.fixture(scope="module")
def two_columns():
    problem = gopfast.GaussianMixture(FAITHFUL, 2, covariance="diag")
    return problem, gopfast.solve(problem, 0.1, log=False, n_threads=1)


def test_other_threads_and_limits_change_nothing(tmp_path, two_columns):
    """Resumed with two threads, without time, and once more when all is proved."""
    kept = ("n_nodes", "objective", "lower_bound", "status")
    path, (problem, whole) = tmp_path / "search.checkpoint", two_columns
    gopfast.solve(problem, 0.1, log=False, n_threads=2, checkpoint=path, callback=lambda state: state.n_nodes >= 100)
    half = whole.n_nodes // 2
    stopped = gopfast.resume(path, FAITHFUL, log=False, n_threads=1, callback=lambda state: state.n_nodes >= half)
    assert stopped.status == "INTERRUPTED"
    late = gopfast.resume(path, FAITHFUL, log=False, n_threads=2, time_limit=1e-6)
    assert (late.status, late.n_nodes, late.lower_bound) == ("TIME_LIMIT", stopped.n_nodes, stopped.lower_bound)
    for _ in range(2):
        resumed = gopfast.resume(path, FAITHFUL, log=False, n_threads=2)
        assert [getattr(resumed, name) for name in kept] == [getattr(whole, name) for name in kept]


@pytest.mark.parametrize("share", [0.15, 0.5, 0.9])
def test_after_a_node_limit_bounds_are_as_good(share, tmp_path, two_columns):
    """The last batch was smaller than it would have been: counts may differ."""
    path, (problem, whole) = tmp_path / "search.checkpoint", two_columns
    limited = gopfast.solve(
        problem, 0.1, log=False, n_threads=1, checkpoint=path, max_nodes=int(share * whole.n_nodes)
    )
    assert limited.status == "NODE_LIMIT" and limited.lower_bound <= whole.objective
    resumed = gopfast.resume(path, FAITHFUL, log=False, n_threads=1)
    assert resumed.success and resumed.objective - resumed.lower_bound <= 0.1
    assert max(resumed.lower_bound, whole.lower_bound) <= min(resumed.objective, whole.objective)
    assert abs(resumed.objective - whole.objective) <= 0.1
