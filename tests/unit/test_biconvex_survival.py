"""Checkpoints, workers and memory of the search of a biconvex problem."""

import functools
import os
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from support.executors import Inline

import gopfast
from gopfast import BiconvexProblem, CheckpointError, InputError, cli
from gopfast.biconvex import recession, solve
from gopfast.biconvex.core import Core
from gopfast.search import distributed, files
from gopfast.search.checkpoint import Stored

FOLDER = Path(gopfast.datasets.__file__).parent / "biconvex"
# lifted rows and cuts that the root chooses, and tangents of forms, are part of what nodes rely on
NAMES = ("ex3_1_1", "pooling_adhya1pq", "ex5_2_2_case2")


def problem(name):
    return BiconvexProblem.from_json(FOLDER / f"{name}.json")


def with_cycle(n=6, seed=0):
    """A random problem whose products make one cycle, and a convex form."""
    rng = np.random.default_rng(seed)
    Q = np.zeros((2 * n, 2 * n))
    Q[np.arange(n), np.arange(n) + n] = 3.0 * rng.normal(size=n)
    Q[np.arange(n - 1), np.arange(n - 1) + n + 1] = 3.0 * rng.normal(size=n - 1)
    Q[n - 1, n] = 3.0
    Q[np.arange(2 * n), np.arange(2 * n)] = 0.3
    A, c = rng.uniform(-1.0, 1.0, (4, 2 * n)), rng.normal(size=2 * n)
    return BiconvexProblem(
        c=c, Q=Q, A=A, row_lower=np.zeros(4), row_upper=np.ones(4), lower=-np.ones(2 * n), upper=np.ones(2 * n)
    )


PROBLEMS = {**{name: problem(name) for name in NAMES}, "cycle": with_cycle(seed=1)}
OPTIONS = {"log": False, "n_threads": 1}


@functools.cache
def whole_of(name):
    """The result of a search that nothing stops."""
    return gopfast.solve(PROBLEMS[name], **OPTIONS)


def same(found, whole, most=2.0):
    """Programs that start from another basis end at another vertex of as good a face: counts may differ a little."""
    assert found.status == whole.status == "OPTIMAL"
    assert found.objective == pytest.approx(whole.objective, rel=2e-6)
    assert abs(found.bound - whole.bound) <= 2e-6 * abs(whole.objective)
    assert max(found.bound, whole.bound) <= min(found.objective, whole.objective) + 1e-9 * abs(whole.objective)
    assert found.n_nodes <= most * whole.n_nodes + 100
    assert found.solution.max_violation <= 1e-6
    return True


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("share", [0.2, 0.7])
def test_a_stopped_search_goes_on_to_the_same(name, share, tmp_path):
    path = tmp_path / "search.checkpoint"
    whole = whole_of(name)
    assert whole.n_nodes > 30
    stopped = gopfast.solve(PROBLEMS[name], checkpoint=path, max_nodes=int(share * whole.n_nodes), **OPTIONS)
    assert stopped.status == "NODE_LIMIT"
    assert stopped.n_nodes < whole.n_nodes
    resumed = gopfast.resume(path, PROBLEMS[name], **OPTIONS)
    assert same(resumed, whole)
    # rounds at the root are of the run that bounded it
    assert all(resumed.profile[of].calls == stopped.profile[of].calls for of in ("lifted_inequalities",
                                                                                 "semidefinite_cuts"))
    assert resumed.profile["local_budget"].calls >= stopped.profile["local_budget"].calls
    again = gopfast.resume(path, PROBLEMS[name], **OPTIONS)  # what is finished stays so
    assert (again.status, again.bound, again.n_nodes) == (resumed.status, resumed.bound, resumed.n_nodes)


def test_the_start_is_kept(tmp_path):
    path, start = tmp_path / "search.checkpoint", np.full(8, 2000.0)
    whole = gopfast.solve(PROBLEMS["ex3_1_1"], start=start, **OPTIONS)
    gopfast.solve(PROBLEMS["ex3_1_1"], start=start, checkpoint=path, max_nodes=100, **OPTIONS)
    assert same(gopfast.resume(path, PROBLEMS["ex3_1_1"], **OPTIONS), whole)


def test_other_problems_and_data_are_refused(tmp_path):
    path = tmp_path / "search.checkpoint"
    gopfast.solve(PROBLEMS["ex3_1_1"], checkpoint=path, max_nodes=50, **OPTIONS)
    with pytest.raises(CheckpointError, match="a search of other data, or of another problem"):
        gopfast.resume(path, PROBLEMS["cycle"], **OPTIONS)
    with pytest.raises(CheckpointError, match=r"a search of a gopfast.BiconvexProblem; give the problem"):
        gopfast.resume(path, [1.0, 2.0], **OPTIONS)
    with pytest.raises(CheckpointError, match="other data"):
        gopfast.solve(gopfast.GaussianMixture([0.0, 1.0, 5.0], 2, covariance="known"), checkpoint=path, **OPTIONS)
        gopfast.resume(path, PROBLEMS["cycle"], **OPTIONS)
    with pytest.raises(InputError, match="checkpoint must be None with a proof"):
        gopfast.solve(PROBLEMS["cycle"], checkpoint=path, proof=True)


CHILD = """
import sys
import gopfast
problem = gopfast.BiconvexProblem.from_json(sys.argv[2])
result = gopfast.solve(problem, checkpoint=sys.argv[1], checkpoint_every=0.01, log=False, n_threads=1,
                       callback=lambda state: print(state.n_nodes, flush=True))
print(result.status, result.n_nodes)
"""


@pytest.mark.parametrize("end", ["kill", "terminate"])
def test_a_search_that_is_ended_goes_on(end, tmp_path):
    path, whole = tmp_path / "search.checkpoint", whole_of("ex3_1_1")
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path), str(FOLDER / "ex3_1_1.json")], stdout=subprocess.PIPE, text=True,
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(gopfast.__file__))},
    )  # fmt: skip
    for line in child.stdout:
        if int(line) > 100:
            break
    getattr(child, end)()
    last = child.communicate(timeout=60)[0].splitlines()
    if end == "terminate":
        assert last[-1].startswith("INTERRUPTED")
        assert Stored(str(path)).reader.part("state.")["search.n_nodes"] == int(last[-1].split()[1])
    assert same(gopfast.resume(path, PROBLEMS["ex3_1_1"], **OPTIONS), whole)


@pytest.mark.parametrize("share", [0.1, 0.4, 0.8])
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_bounds_that_hold(sent, share, tmp_path):
    """Wherever it comes, the status is that of an interrupted search, and what goes on from it is as good."""
    path, whole = tmp_path / "search.checkpoint", whole_of("ex3_1_1")
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path), str(FOLDER / "ex3_1_1.json")], stdout=subprocess.PIPE, text=True,
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(gopfast.__file__))},
    )  # fmt: skip
    for line in child.stdout:
        if int(line) > share * whole.n_nodes:
            break
    child.send_signal(sent)
    last = child.communicate(timeout=60)[0].splitlines()[-1]
    assert child.returncode == 0 and last.startswith("INTERRUPTED")
    late = gopfast.resume(path, PROBLEMS["ex3_1_1"], time_limit=0.0, **OPTIONS)  # what the file says
    assert late.status == "TIME_LIMIT" and late.bound <= whole.objective * (1 + 1e-9)
    assert late.objective >= whole.bound * (1 - 1e-9)
    assert same(gopfast.resume(path, PROBLEMS["ex3_1_1"], **OPTIONS), whole)


def scaled(cost=1.0, size=1.0, constant=0.0):
    """The cycle in other units of its objective and variables."""
    whole = with_cycle()
    return BiconvexProblem(
        c=whole.c * cost / size, Q=whole.Q * cost / size**2, A=whole.A / size, row_lower=whole.row_lower,
        row_upper=whole.row_upper, lower=size * whole.lower, upper=size * whole.upper, constant=constant,
    )  # fmt: skip


@pytest.mark.parametrize(
    "units", [(1e7,), (1e-7,), (1e12,), (1.0, 1e6), (1.0, 1e-5), (1e7, 1e4), (1e7, 1.0, 1e9), (1e-3, 1e5, -1e3)]
)
def test_badly_scaled_problems_go_on(units, tmp_path):
    """The incumbent of a file is evaluated anew: within its rounding, whatever the units."""
    path, one = tmp_path / "search.checkpoint", scaled(*units)
    stopped = gopfast.solve(one, checkpoint=path, max_nodes=8, rel_tol=1e-6, **OPTIONS)
    assert stopped.status == "NODE_LIMIT"
    resumed = gopfast.resume(path, one, max_nodes=16, **OPTIONS)
    assert resumed.n_nodes > stopped.n_nodes
    assert stopped.bound <= resumed.bound <= resumed.objective <= stopped.objective


# Workers

@pytest.fixture
def at_once(monkeypatch):
    """Hand out short parts, and at once."""
    monkeypatch.setattr(distributed, "ALONE", 0.0)
    monkeypatch.setattr(distributed, "PART", 0.2)


@pytest.mark.parametrize("name", PROBLEMS)
def test_workers_prove_the_same(name, at_once):
    whole, executor = whole_of(name), Inline(fails=(2, 5))
    # with them the tree of pooling_adhya1pq is too small to be divided: test_node_bounds.py has one that is not
    with gopfast.settings(node_bounds=False):
        found = gopfast.solve(PROBLEMS[name], executor=executor, **OPTIONS)
    assert same(found, whole, 6.0)
    assert executor.n_parts > 1
    assert not [note for note in found.notes if "executor" in note]


@pytest.mark.parametrize("make", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_threads_and_processes_prove_the_same(make, at_once):
    whole = whole_of("ex3_1_1")
    with make(2) as executor:
        assert same(gopfast.solve(PROBLEMS["ex3_1_1"], executor=executor, **OPTIONS), whole, 6.0)


def with_ray(seed=0, n=6):
    """Return complementary variables (2n), unbounded along a ray for one choice of them only, with point and ray."""
    rng = np.random.default_rng(seed)
    on = rng.random(n) < 0.5
    on = np.concatenate([on, ~on])
    first, d, z = np.flatnonzero(on)[0], np.zeros(2 * n), np.zeros(2 * n)
    d[on], z[on] = 1.0, rng.integers(1, 6, n)
    A, c = rng.integers(-5, 6, (n, 2 * n)).astype(float), rng.integers(1, 6, 2 * n).astype(float)
    A[:, first] -= A @ d
    c[first] -= c @ d + 1.0
    rows = []
    for i in range(n):
        Q = np.zeros((2 * n, 2 * n))
        Q[i, n + i] = Q[n + i, i] = 0.5
        rows.append((Q, None, -np.inf, 0.0))
    bounds = {"row_lower": A @ z, "row_upper": A @ z, "lower": np.zeros(2 * n), "upper": np.full(2 * n, np.inf)}
    return BiconvexProblem(c, A=A, quadratic_rows=rows, **bounds), z, d


def test_the_ray_that_a_worker_finds_comes_back_with_its_point(monkeypatch, at_once):
    """It stayed in the worker: what it had proved UNBOUNDED ended NUMERICAL, with a note on a ray that was none."""
    problem, z, d = with_ray()
    primals, prepared, make = [], [], Core.search

    def search(core, *arguments, **options):
        made, primal = make(core, *arguments, **options)
        primals.append(primal)
        return made, primal

    class Prepared(solve.Preparation):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            prepared.append(self)

    class Finding(Inline):
        """Whose workers find the ray as soon as they look for a better point."""

        def submit(self, function, /, *arguments, **named):
            future = super().submit(function, *arguments, **named)
            if len(primals) > 1:
                primals[1].restore({**primals[1].state(), "unbounded": True, "ray": prepared[0].to_core(d)})
            if future.result()["upper"] == -np.inf:
                future.result()["solution"] = prepared[0].to_core(z)
            return future

    monkeypatch.setattr(recession, "find", lambda *arguments: None)
    monkeypatch.setattr(Core, "search", search)
    monkeypatch.setattr(solve, "Preparation", Prepared)
    found = gopfast.solve(problem, executor=Finding(), **OPTIONS)
    assert found.status == "UNBOUNDED", found.notes
    np.testing.assert_allclose(found.solution.z, z)
    assert found.bound == -np.inf and len(primals) == 2


def test_a_checkpoint_holds_what_workers_have(tmp_path, at_once):
    path, whole = tmp_path / "search.checkpoint", whole_of("ex3_1_1")
    stopped = gopfast.solve(
        PROBLEMS["ex3_1_1"], executor=Inline(), checkpoint=path,
        callback=lambda state: state.n_nodes > 100, **OPTIONS
    )  # fmt: skip
    assert stopped.status == "INTERRUPTED"
    assert same(gopfast.resume(path, PROBLEMS["ex3_1_1"], **OPTIONS), whole)


def test_maximising_workers_and_checkpoints_keep_the_sense(tmp_path, at_once):
    least = with_cycle(seed=1)
    largest = BiconvexProblem(
        c=-least.c, Q=-least.Q, A=least.A, row_lower=least.row_lower, row_upper=least.row_upper, lower=least.lower,
        upper=least.upper, sense="max",
    )  # fmt: skip
    whole, path = gopfast.solve(largest, **OPTIONS), tmp_path / "search.checkpoint"
    gopfast.solve(largest, checkpoint=path, max_nodes=whole.n_nodes // 2, **OPTIONS)
    found = gopfast.solve(largest, executor=Inline(), **OPTIONS), gopfast.resume(path, largest, **OPTIONS)
    for one in found:
        assert one.objective == pytest.approx(whole.objective, rel=2e-6)
        assert one.objective <= one.bound + 1e-12 and whole.objective <= one.bound + 1e-9


# The command

def test_the_command_stops_and_goes_on(tmp_path, capsys):
    path, data = str(tmp_path / "search.checkpoint"), str(FOLDER / "ex3_1_1.json")
    assert cli.main(["solve", data, "-q", "--checkpoint", path, "--max-nodes", "60"]) == 1
    assert cli.main(["resume", path, data, "-q"]) == 0
    assert "7049.2" in capsys.readouterr().out


@pytest.mark.parametrize("value", [2.0**24 - 1, 1e30, np.nan])
def test_a_basis_that_is_none_is_passed_over(value, tmp_path):
    """Statuses of a node's warm start that HiGHS does not have: its program starts cold, and its bounds hold."""
    path, whole = tmp_path / "search.checkpoint", whole_of("cycle")
    gopfast.solve(PROBLEMS["cycle"], checkpoint=path, max_nodes=20, **OPTIONS)
    reader = files.Reader(path)
    header, state, nodes = reader.header, reader.part("state."), reader.part("nodes0.")
    reader.close()
    assert (nodes["warm"][:, 0] > 0).any()  # so many statuses as the basis has
    nodes["warm"][:, 1:] = value
    files.write(str(path), header, [("state.", state), ("nodes0.", nodes)])
    assert same(gopfast.resume(path, PROBLEMS["cycle"], **OPTIONS), whole)
