"""Engines that are no dependency: loky, Dask and MPI run a search as a pool of processes does."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gopfast
from gopfast.search import spread

PROBLEM = gopfast.BernoulliMixture(np.random.default_rng(5).integers(0, 2, (40, 5)), 2)
PACKAGE = str(Path(gopfast.__file__).resolve().parents[1])


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(spread, "ALONE", 0.0)
    monkeypatch.setattr(spread, "PART", 0.1)
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
        assert spread.n_workers(executor) == 2
        check(executor)


@pytest.mark.parametrize("processes", [True, False])
def test_dask(processes):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=processes, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        executor = client.get_executor()
        assert spread.n_workers(executor) == 2
        check(executor)


MPI = """
from mpi4py.futures import MPIPoolExecutor
import numpy as np
import gopfast
from gopfast.search import spread

if __name__ == "__main__":
    spread.ALONE = 0.0
    problem = gopfast.BernoulliMixture(np.random.default_rng(5).integers(0, 2, (40, 5)), 2)
    with MPIPoolExecutor() as executor:
        result = gopfast.solve(problem, 0.05, log=False, n_threads=1, executor=executor)
    print(result.status, spread.n_workers(executor), result.objective, *result.notes)
"""


def test_mpi(tmp_path):
    pytest.importorskip("mpi4py")
    mpiexec = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if mpiexec is None:
        pytest.skip("there is no mpiexec")
    script = tmp_path / "run.py"
    script.write_text(MPI)
    command = [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    status, count, objective = done.stdout.split()
    alone = gopfast.solve(PROBLEM, 0.05, log=False)
    assert (status, count) == ("OPTIMAL", "2")
    assert float(objective) == pytest.approx(alone.objective, abs=1e-6)
