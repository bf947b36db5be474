"""Engines that are no dependency: loky, Dask and MPI run a search as a pool of processes does."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.killing import LosesWorker

import gopfast
from gopfast.search import distributed

PROBLEM = gopfast.BernoulliMixture(np.random.default_rng(5).integers(0, 2, (25, 6)), 2)
PACKAGE = str(Path(gopfast.__file__).resolve().parents[1])


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(distributed, "ALONE", 0.0)
    monkeypatch.setattr(distributed, "PART", 0.1)
    monkeypatch.setenv("PYTHONPATH", PACKAGE)


def check(executor):
    alone = gopfast.solve(PROBLEM, 0.05, log=False, n_threads=1)
    found = gopfast.solve(PROBLEM, 0.05, log=False, n_threads=1, executor=executor)
    assert (found.status, found.notes) == ("OPTIMAL", ())
    assert found.objective == pytest.approx(alone.objective, abs=1e-6)
    assert found.lower_bound >= alone.objective - 0.05 - 1e-6


def test_loky():
    loky = pytest.importorskip("loky")
    with loky.ProcessPoolExecutor(2) as executor:
        assert distributed.n_workers(executor) == 2
        check(executor)


def test_a_killed_worker_of_loky_loses_nothing():
    loky = pytest.importorskip("loky")

    class Killed(LosesWorker, loky.ProcessPoolExecutor):
        pass

    with Killed(2) as executor:
        found = gopfast.solve(PROBLEM, 0.05, log=False, n_threads=1, executor=executor, relaxation="entropic")
    assert executor.n_parts >= 5
    assert found.status == "OPTIMAL"
    assert found.lower_bound >= found.objective - 0.05 - 1e-6
    assert "the search went on in its own process" in found.notes[0]


def test_workers_of_dask_die_and_join_late(monkeypatch):
    """One is killed at work, and another joins; Dask hands out again what the first one had."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(distributed, "RECOUNT", 0.0)
    counts = []
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        executor = client.get_executor()
        submit = executor.submit

        def changing(function, /, *arguments, **named):
            counts.append(distributed.n_workers(executor))
            if len(counts) == 3:
                cluster.scale(2)
            if len(counts) == 8:
                os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
            return submit(function, *arguments, **named)

        executor.submit = changing
        check(executor)
    assert len(counts) > 8


@pytest.mark.parametrize("processes", [True, False])
def test_dask(processes):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=processes, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        executor = client.get_executor()
        assert distributed.n_workers(executor) == 2
        check(executor)


MPI = """
from mpi4py.futures import MPIPoolExecutor
import numpy as np
import gopfast
from gopfast.search import distributed

if __name__ == "__main__":
    distributed.ALONE = 0.0
    problem = gopfast.BernoulliMixture(np.random.default_rng(5).integers(0, 2, (25, 6)), 2)
    with MPIPoolExecutor() as executor:
        result = gopfast.solve(problem, 0.05, log=False, n_threads=1, executor=executor)
    print(result.status, distributed.n_workers(executor), result.objective, *result.notes)
"""


def test_mpi(tmp_path):
    pytest.importorskip("mpi4py")
    mpiexec = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if mpiexec is None:
        pytest.skip("there is no mpiexec")
    script = tmp_path / "run.py"
    script.write_text(MPI)
    command = [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=PACKAGE)
    assert done.returncode == 0, done.stderr
    status, count, objective = done.stdout.split()
    alone = gopfast.solve(PROBLEM, 0.05, log=False)
    assert (status, count) == ("OPTIMAL", "2")
    assert float(objective) == pytest.approx(alone.objective, abs=1e-6)


TERMINATED = """
import signal, sys
from mpi4py.futures import MPIPoolExecutor
import numpy as np
import gopfast

if __name__ == "__main__":
    def tell(state):
        print(state.n_nodes, flush=True)

    problem = gopfast.BernoulliMixture(np.random.default_rng(2).integers(0, 2, (22, 8)), 2)
    with MPIPoolExecutor(initializer=signal.signal, initargs=(signal.SIGTERM, signal.SIG_IGN)) as executor:
        result = gopfast.solve(problem, log=False, executor=executor, checkpoint=sys.argv[1], callback=tell)
    print(result.status, result.n_nodes, flush=True)
"""


def test_mpi_ends_at_sigterm_with_a_checkpoint(tmp_path):
    """Where workers ignore the signal, as docs/scale.md says: MPI ends all processes once one has died of it."""
    pytest.importorskip("mpi4py")
    mpiexec = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if mpiexec is None:
        pytest.skip("there is no mpiexec")
    script, path = tmp_path / "run.py", tmp_path / "search.checkpoint"
    script.write_text(TERMINATED)
    command = [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(script), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=PACKAGE) as child:
        for line in child.stdout:
            if int(line) > 20_000:
                break
        child.terminate()
        status, n_nodes = child.communicate(timeout=300)[0].splitlines()[-1].split()
    assert (child.returncode, status) == (0, "INTERRUPTED")
    X = np.random.default_rng(2).integers(0, 2, (22, 8))
    resumed = gopfast.resume(path, X, log=False, max_nodes=1)
    assert (resumed.status, str(resumed.n_nodes)) == ("NODE_LIMIT", n_nodes)
