"""Open nodes beyond the memory: depth first, or on disk; the bounds count them all."""

import errno
import gc
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search
from gopfast.search.tree import Tree

import gopfast
from gopfast import CheckpointError, InputError, checks
from gopfast.mixtures import engine
from gopfast.result import Status
from gopfast.search import distributed, files, memory
from gopfast.search.checkpoint import Stored
from gopfast.search.files import Spill

EPSILON = 0.05
PROBLEM = gopfast.BernoulliMixture(np.random.default_rng(5).integers(0, 2, (40, 5)), 2)
# With a prior nothing but the relaxed dual bounds its nodes, and there are many.
SOLVED = gopfast.BernoulliMixture(PROBLEM.X, 2, prior=(1.1, 1.1))
LARGER = gopfast.BernoulliMixture(np.random.default_rng(5).integers(0, 2, (40, 6)), 2)


class Fixed:
    """Room for so many open nodes."""

    unasked = 0

    def __init__(self, n_nodes):
        self.n_nodes, self.most = n_nodes, 0

    def room(self, taken):
        self.most = max(self.most, taken)
        return self.n_nodes * node_bytes()


def node_bytes():
    relaxation = EntropicRelaxation(engine.family(PROBLEM))
    return Tree(relaxation.n_connected, relaxation.n_warm).node_bytes


def search(**options):
    family = engine.family(PROBLEM)
    return Search(EntropicRelaxation(family), MixturePrimal(family), EPSILON, **options)


@pytest.fixture(scope="module")
def whole():
    """The search without a limit, and the most nodes that it had open."""
    run = search()
    assert run.run() == Status.OPTIMAL
    fields, _ = run.summary()
    most = int(fields["history"][:, 4].max())
    assert fields["n_nodes"] > 5 * most > 15_000
    return run, fields, most


@pytest.mark.parametrize("part", [0.12, 0.3, 0.8])
def test_nodes_on_disk_change_no_count(part, tmp_path, whole):
    _, fields, most = whole
    spill = Spill(str(tmp_path))
    run = search(memory=Fixed(int(part * most)), spill=spill)
    assert run.run() == Status.OPTIMAL
    found, _ = run.summary()
    for name in ("n_nodes", "n_passes", "objective", "lower_bound"):
        assert found[name] == fields[name]
    assert run.n_blocks >= 8
    assert run.n_dives == 0
    spill.close()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("part", [0.12, 0.25, 0.5])
def test_a_dive_ends_with_the_proof_within_the_memory(part, whole):
    _, fields, most = whole
    limit = Fixed(int(part * most))
    rows = []

    def watch(time, n_nodes, n_open, lower, upper, new):
        rows.append((n_open, lower, upper))

    run = search(memory=limit, monitor=watch)
    assert run.run() == Status.OPTIMAL
    found, _ = run.summary()
    assert run.n_dives >= 1
    rows = np.array(rows)
    assert rows[:, 0].max() <= part * most
    assert (np.diff(rows[:, 1]) >= 0.0).all()  # LBD counts the nodes that wait
    assert found["objective"] == pytest.approx(fields["objective"], abs=1e-9)
    assert found["lower_bound"] >= found["objective"] - EPSILON
    assert found["n_nodes"] < 2 * fields["n_nodes"]


def test_a_limit_that_leaves_no_room_leaves_bounds(whole):
    _, fields, _ = whole
    run = search(memory=Fixed(4))
    assert run.run() == Status.MEMORY_LIMIT
    found, _ = run.summary()
    assert found["lower_bound"] <= fields["objective"] <= found["objective"] + 1e-9
    assert found["lower_bound"] > -np.inf


def test_known_solutions_survive_disk_and_dives(tmp_path, whole):
    """Audited: no node that holds the optimum is lost on its way."""
    reference, fields, most = whole
    vector = reference.summary()[1]
    K, point = PROBLEM.n_components, vector[PROBLEM.n_components : -1].reshape(PROBLEM.n_components, -1)
    point = point[np.argsort(point[:, 0])].ravel()
    assert K == 2
    for options in ({}, {"spill": Spill(str(tmp_path))}):
        run = search(memory=Fixed(most // 8), known=(point, fields["objective"] + 1e-6), **options)
        assert run.run() == Status.OPTIMAL
        assert run.n_audit_failures == 0
        assert run.least_bound <= fields["objective"]


def test_a_full_disk_makes_the_search_dive(tmp_path, monkeypatch, whole):
    _, _, most = whole

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "replace", full)
    notes = []
    run = search(memory=Fixed(most // 8), spill=Spill(str(tmp_path), notes.append))
    assert run.run() == Status.OPTIMAL
    assert (run.n_blocks, run.n_dives > 0) == (0, True)
    assert set(notes) == {"spill: No space left on device; the search dives instead"}
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("damage", ["bit", "gone", "folder", "other"])
def test_damaged_nodes_on_disk_end_the_search_with_its_bounds(damage, tmp_path, whole):
    """What cannot be read counts with the bound that it was written with; what comes back later goes on."""
    reference, fields, most = whole
    vector = reference.summary()[1]
    point = vector[PROBLEM.n_components : -1].reshape(PROBLEM.n_components, -1)
    known = point[np.argsort(point[:, 0])].ravel(), fields["objective"] + 1e-6
    spoilt, notes = [], []

    class Damaged(Spill):
        def read(self, name):
            path = Path(self.folder, name)
            if self.n_written > 20 and not spoilt:
                spoilt.append((path, path.read_bytes()))
                content = bytearray(spoilt[0][1])
                content[len(content) // 2] ^= 1
                path.unlink()
                if damage == "bit":
                    path.write_bytes(content)
                elif damage == "folder":
                    path.mkdir()
                elif damage == "other":
                    files.write(str(path), {}, [("", {"lower": np.zeros(3)})], sync=False)
            return super().read(name)

    run = search(memory=Fixed(most // 8), spill=Damaged(str(tmp_path), notes.append), known=known)
    for _ in range(2):  # also where it is asked to go on
        assert run.resume() == Status.MEMORY_LIMIT
        found, _ = run.summary()
        assert 0.0 < found["lower_bound"] <= fields["lower_bound"] <= found["objective"]
        assert run.least_bound <= fields["objective"]
    assert len(notes) == 2
    assert all(note.startswith("spill: ") and "its bounds count the nodes that are on disk" in note for note in notes)
    path, content = spoilt[0]
    if damage == "folder":
        path.rmdir()
    path.write_bytes(content)
    assert run.resume() == Status.OPTIMAL  # the disk is there again
    assert run.n_audit_failures == 0
    found, _ = run.summary()
    assert found["objective"] == pytest.approx(fields["objective"], abs=1e-9)


def test_a_result_says_that_nodes_on_disk_are_lost(tmp_path, monkeypatch, whole):
    _, _, most = whole
    limited(monkeypatch, most // 8)
    folder, path = tmp_path / "nodes", tmp_path / "search.checkpoint"

    def spoil(state):
        for path in folder.glob("*"):
            path.write_bytes(b"")

    options = {"relaxation": "entropic", "spill": folder, "checkpoint": path, "log": False}
    found = gopfast.solve(LARGER, EPSILON, callback=spoil, **options)
    assert found.status == "MEMORY_LIMIT"
    assert found.objective - 50.0 < found.lower_bound < found.objective - EPSILON
    assert any("nodes on disk are damaged" in note for note in found.notes)
    again = gopfast.resume(path, LARGER.X, log=False)
    assert (again.status, again.lower_bound) == (found.status, found.lower_bound)


def limited(monkeypatch, n_nodes):
    """Let solves have room for so many nodes."""
    monkeypatch.setattr(memory, "UNASKED", 0)
    monkeypatch.setattr(memory.Memory, "room", lambda self, taken: n_nodes * node_bytes())


def test_a_stopped_search_finds_its_nodes_on_disk_again(tmp_path, monkeypatch, whole):
    _, _, most = whole
    folder, path = tmp_path / "nodes", tmp_path / "search.checkpoint"
    unlimited = gopfast.solve(SOLVED, EPSILON, log=False)
    limited(monkeypatch, most // 8)
    options = {"spill": folder, "checkpoint": path, "log": False}
    half = 0.5 * unlimited.n_nodes
    stopped = gopfast.solve(
        SOLVED, EPSILON, **options, checkpoint_every=0.1, callback=lambda state: state.n_nodes >= half
    )
    assert stopped.status == "INTERRUPTED"
    assert len(os.listdir(folder)) > 0
    resumed = gopfast.resume(path, SOLVED.X, log=False)
    assert (resumed.n_nodes, resumed.lower_bound) == (unlimited.n_nodes, unlimited.lower_bound)
    assert any("kept on disk" in note for note in resumed.notes)
    assert os.listdir(folder) == []
    gopfast.solve(SOLVED, EPSILON, **options, callback=lambda state: state.n_nodes >= half)
    os.unlink(folder / os.listdir(folder)[0])
    with pytest.raises(CheckpointError, match="nodes on disk are missing"):
        gopfast.resume(path, SOLVED.X, log=False)


@pytest.mark.parametrize("method", ["write", "read", "remove"])
def test_ctrl_c_while_nodes_travel_to_disk_or_back_loses_none(tmp_path, method, whole):
    """Audited, and the search goes on from there."""
    reference, fields, most = whole
    vector = reference.summary()[1]
    point = vector[PROBLEM.n_components : -1].reshape(PROBLEM.n_components, -1)
    known = point[np.argsort(point[:, 0])].ravel(), fields["objective"] + 1e-6

    class Interrupted(Spill):
        n_calls = 0

    def interrupted(self, *arguments):
        self.n_calls += 1
        if self.n_calls == 2:
            raise KeyboardInterrupt
        found = getattr(Spill, method)(self, *arguments)
        if self.n_calls == 5:
            raise KeyboardInterrupt
        return found

    setattr(Interrupted, method, interrupted)
    spill = Interrupted(str(tmp_path))
    run = search(memory=Fixed(most // 8), spill=spill, known=known)
    for _ in range(2):
        assert run.resume() == Status.INTERRUPTED
        assert run.least_bound <= fields["objective"]
    assert run.resume() == Status.OPTIMAL
    assert run.n_audit_failures == 0
    found, _ = run.summary()
    assert found["objective"] == pytest.approx(fields["objective"], abs=1e-9)
    assert found["n_nodes"] == pytest.approx(fields["n_nodes"], rel=0.1)  # in another order
    spill.close()
    assert os.listdir(tmp_path) == []


KILLED = """
import sys
import numpy as np
import gopfast
from gopfast.search import memory

memory.UNASKED = 0
memory.Memory.room = lambda self, taken: int(sys.argv[1])
problem = gopfast.BernoulliMixture(np.random.default_rng(5).integers(0, 2, (40, 5)), 2, prior=(1.1, 1.1))
gopfast.solve(problem, 0.05, log=False, n_threads=1, checkpoint=sys.argv[2], spill=sys.argv[3], checkpoint_every=0.05,
              callback=lambda state: print(state.n_nodes, flush=True))
"""


def test_a_search_killed_while_its_nodes_are_on_disk_goes_on_and_tidies_up(tmp_path, monkeypatch, whole):
    _, fields, most = whole
    path, folder = tmp_path / "search.checkpoint", tmp_path / "nodes"
    limited(monkeypatch, most // 8)
    unlimited = gopfast.solve(SOLVED, EPSILON, log=False, n_threads=1)
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(most // 8 * node_bytes()), str(path), str(folder)],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(Path(gopfast.__file__).parents[1])},
        cwd=tmp_path,
    )  # fmt: skip
    for line in child.stdout:
        if int(line) > 0.4 * fields["n_nodes"] and path.exists() and folder.exists() and os.listdir(folder):
            break
    child.kill()
    child.communicate()
    prefix = Stored(str(path)).header["spilled_by"]
    (folder / f"{prefix}-999.nodes.new").write_text("in the making")
    (folder / "gopfast-elsewhere-1-0123456789ab-3.nodes").write_text("of another machine")
    resumed = gopfast.resume(path, SOLVED.X, log=False, n_threads=1)
    assert resumed.status == "OPTIMAL"
    assert resumed.lower_bound >= unlimited.objective - EPSILON - 1e-9
    assert os.listdir(folder) == ["gopfast-elsewhere-1-0123456789ab-3.nodes"]


CHILD = """
import sys
import numpy as np
import gopfast
from gopfast.search.memory import resident
from gopfast.mixtures import engine
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.memory import Memory
from gopfast.search.search import Search
X = 20.0 * np.random.default_rng(0).standard_normal((8, 2))
family = engine.family(gopfast.GaussianMixture(X, 4, covariance="known"))
def search(limit, memory=None, monitor=None):
    relaxation = EntropicRelaxation(family, max_passes=1)  # bounds that close hardly any node
    return Search(relaxation, MixturePrimal(family), 1e-9, max_nodes=limit, memory=memory, monitor=monitor)
search(1000).run()
limit, peak = resident() + 20e6, 0
def watch(time, n_nodes, *_):
    global peak
    if n_nodes % 64 == 1:
        peak = max(peak, resident())
run = search(200_001, Memory(limit), watch)
run.run()
print(run.reason, run.n_nodes, peak - limit, run.n_dives)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="resident memory is read from /proc")
def test_the_process_stays_within_its_limit(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(gopfast.__file__))}
    done = subprocess.run(
        [sys.executable, "-c", CHILD], capture_output=True, text=True, env=environment, timeout=300, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    reason, n_nodes, beyond, n_dives = done.stdout.split()
    assert (int(reason), int(n_nodes)) == (Status.NODE_LIMIT, 200_001)  # of which so many would take 50 MB
    assert int(n_dives) >= 1
    assert -10e6 <= float(beyond) <= 1e6


def test_biconvex_searches_keep_to_the_limit():
    problem = gopfast.datasets.load_problem(gopfast.datasets.problem_names()[0])
    assert gopfast.solve(problem, memory_limit="4GB", log=False).status in ("OPTIMAL", "INFEASIBLE")


def test_what_is_free_is_the_default():
    found = memory.Memory()
    assert found.room(0) == pytest.approx(0.8 * memory.available(), rel=0.05)
    assert found.limit == pytest.approx(memory.resident() + 0.8 * memory.available(), rel=0.05)


def test_the_default_is_looked_for_once_there_are_many_nodes(monkeypatch, whole):
    """Small searches do not wait for it; a given limit holds from the start."""
    _, fields, most = whole
    asked = []
    monkeypatch.setattr(memory.Memory, "room", lambda self, taken: asked.append(taken) or 2**40)
    assert search(memory=memory.Memory(), max_nodes=500).run() == Status.NODE_LIMIT
    assert asked == []
    search(memory=memory.Memory(1e9), max_nodes=500).run()
    assert asked == [node_bytes()]
    monkeypatch.setattr(memory, "UNASKED", most * node_bytes() // 2)
    asked.clear()
    run = search(memory=memory.Memory())
    assert run.run() == Status.OPTIMAL
    assert 0.9 * memory.UNASKED < asked[0] <= memory.UNASKED
    assert len(asked) > 1
    assert run.summary()[0]["n_nodes"] == fields["n_nodes"]


@pytest.mark.parametrize("version", [1, 2])
def test_limits_of_groups_within_groups_hold(tmp_path, monkeypatch, version):
    """As of a batch job: the tightest counts, and copies of files that the system may let go of are free."""
    names = {1: ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
             2: ("", "memory.max", "memory.current", "inactive_file")}  # fmt: skip
    controller, limit, used, files_ = names[version]
    groups = [(".", "9223372036854771712" if version == 1 else "max", 900, 0), ("job", "5000", 1400, 400)]
    groups += [("job/step", "7000", 10, 0)]
    for folder, most, taken, kept in groups:
        path = tmp_path / "mount" / folder
        path.mkdir(parents=True, exist_ok=True)
        (path / limit).write_text(f"{most}\n")
        (path / used).write_text(f"{taken}\n")
        (path / "memory.stat").write_text(f"cache 1\n{files_} {kept}\n")
    listed = tmp_path / "cgroup"
    monkeypatch.setattr(memory, "CGROUPS", str(listed))
    monkeypatch.setattr(memory, "MOUNTS", ((controller, str(tmp_path / "mount"), limit, used, files_),))
    own = "4:cpu,memory:/job/step" if version == 1 else "0::/job/step"
    listed.write_text(f"9:name=systemd:/\n{own}\n")
    assert memory.available() == 5000 - (1400 - 400)
    listed.write_text("9:name=systemd:/\n")  # only the root can be seen
    unlimited = memory.available()
    assert unlimited > 5000
    (tmp_path / "mount" / limit).write_text("2000\n")
    assert memory.available() == 2000 - 900
    (tmp_path / "mount" / used).write_text("2900\n")
    assert memory.available() == 0


@pytest.mark.parametrize(
    ("given", "size"),
    [("4GB", 4e9), ("300 MB", 3e8), ("2 GiB", 2.0**31), ("1.5k", 1500), (10**6, 1e6), ("1T", 1e12), ("64", 64)],
)
def test_sizes_are_read(given, size):
    assert checks.memory_size("memory_limit", given) == size


@pytest.mark.parametrize("bad", ["", "GB", "4 PB", "-1GB", "0", 0, -5, float("nan"), True, [1], "1.2.3GB", "inf"])
def test_bad_sizes_are_named(bad):
    with pytest.raises(InputError, match="^memory_limit must "):
        gopfast.solve(PROBLEM, memory_limit=bad)


def test_bad_folders_are_named(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(InputError, match="^spill: .* is no folder"):
        gopfast.solve(PROBLEM, spill=file)


def test_nodes_on_disk_that_are_lost_while_workers_search_end_it_with_its_bounds(tmp_path, monkeypatch, whole):
    _, _, most = whole
    limited(monkeypatch, most // 16)
    monkeypatch.setattr(distributed, "ALONE", 0.0)
    monkeypatch.setattr(distributed, "PART", 0.005)

    def lost(self, name):
        raise OSError(errno.EIO, os.strerror(errno.EIO), name)

    monkeypatch.setattr(Spill, "read", lost)
    options = {"relaxation": "entropic", "spill": tmp_path, "log": False, "n_threads": 1}
    with ThreadPoolExecutor(2) as executor:
        found = gopfast.solve(SOLVED, EPSILON, executor=executor, **options)
    assert found.status == "MEMORY_LIMIT"
    assert -np.inf < found.lower_bound < found.objective - EPSILON
    assert any("Input/output error" in note for note in found.notes)


ALONE = """
import sys
import gopfast
from gopfast.search import files
spill = files.Spill(sys.argv[1])
assert spill.write({"a": gopfast.datasets.load("galaxies")[:3]})
print(*__import__("os").listdir(sys.argv[1]), flush=True)
if sys.argv[2] == "wait":
    sys.stdin.read()
"""


@pytest.mark.parametrize("end", ["ends", "wait"])
def test_nodes_on_disk_go_with_the_process_or_are_removed_after_it(end, tmp_path):
    """Of a search without a checkpoint: when the process ends, or, where it was killed, by the next one."""
    child = subprocess.Popen(
        [sys.executable, "-c", ALONE, str(tmp_path), end], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True,
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(Path(gopfast.__file__).parents[1])},
    )  # fmt: skip
    written = child.stdout.readline().split()
    assert len(written) == 1
    if end == "wait":
        kept = files.Spill(str(tmp_path), kept=True)
        theirs = kept.write({"a": np.zeros(3)})
        assert {*written, theirs} == set(os.listdir(tmp_path))  # it is alive
        child.kill()
    child.communicate()
    assert os.listdir(tmp_path) == [] if end == "ends" else set(os.listdir(tmp_path)) == {*written, theirs}
    if end == "wait":
        kept.hold([theirs])
        other = files.Spill(str(tmp_path))
        own = other.write({"a": np.zeros(3)})
        assert set(os.listdir(tmp_path)) == {theirs, own}
        del other
        gc.collect()
        assert os.listdir(tmp_path) == [theirs]


def test_nodes_on_disk_go_with_a_search_that_a_limit_ends(tmp_path, monkeypatch, whole):
    _, _, most = whole
    limited(monkeypatch, most // 8)
    there = []
    found = gopfast.solve(
        SOLVED, EPSILON, log=False, n_threads=1, spill=tmp_path,
        callback=lambda _: there.append(len(os.listdir(tmp_path))) or len(there) > 1 and there[-1] > 0,
    )  # fmt: skip
    assert found.status == "INTERRUPTED" and there[-1] > 0
    assert os.listdir(tmp_path) == []
