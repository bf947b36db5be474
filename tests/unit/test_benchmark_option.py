"""`pytest --benchmark` from the root: the benches alone, beside the saved run, gated by counts."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gopfast
from gopfast.mixtures.data import passes

ROOT = Path(__file__).resolve().parents[2]
BENCHES = ["test_bench_solve.py", "compare_counts.py", "datasets.py", "results"]
# As short as pytest-benchmark measures: what is tested is what runs and what is printed.
QUICK = ["-k", "minimal]", "--benchmark-max-time=0.01", "--benchmark-min-rounds=1"]

pytestmark = pytest.mark.skipif(not (ROOT / "conftest.py").exists(), reason="no source tree beside the tests")


@pytest.fixture
def project(tmp_path):
    """The project's root with its settings and benches, and a test that fails if it is collected."""
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "bench").mkdir()
    for name in BENCHES:
        copy = shutil.copytree if (ROOT / "bench" / name).is_dir() else shutil.copy
        copy(ROOT / "bench" / name, tmp_path / "bench" / name)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_minimal].py").write_text("raise RuntimeError('collected')\n")
    return tmp_path


def pytest_in(folder, *arguments):
    # PYTHONPATH for the case that the package is built in place; no options of the run that this test is part of
    # without what a parallel run of these tests says of itself
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    environment |= {"PYTHONPATH": str(Path(gopfast.__file__).parents[1]), "PYTEST_ADDOPTS": ""}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def line_of(bench, output):
    return next(line for line in output.splitlines() if line.startswith(f"{bench} "))


@pytest.mark.parametrize("switch", ["--benchmark", "--benchmark-only"])
def test_it_runs_the_benches_only_and_compares_with_the_saved_run(project, switch):
    first = pytest_in(project, switch, *QUICK)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "1 passed" in first.stdout and "n_nodes 9" in line_of("solve[minimal]", first.stdout)
    assert "%" not in line_of("solve[minimal]", first.stdout)
    saved = list(project.glob(".benchmarks/*/0001_*.json"))
    assert len(saved) == 1

    # A run that took a thousandth of the time: slower is shown, and fails nothing.
    record = json.loads(saved[0].read_text())
    record["benchmarks"][0]["stats"]["min"] /= 1000
    saved[0].write_text(json.dumps(record))
    second = pytest_in(project, switch, *QUICK)
    assert second.returncode == 0, second.stdout + second.stderr
    assert "% slower" in line_of("solve[minimal]", second.stdout)
    assert len(list(project.glob(".benchmarks/*/*.json"))) == 2


def test_grown_counts_fail(project):
    counts = project / "bench" / "results" / f"counts-{passes.instruction_set()}.json"
    committed = json.loads(counts.read_text())
    committed["minimal"]["n_nodes"] = 1
    counts.write_text(json.dumps(committed))
    done = pytest_in(project, "--benchmark", *QUICK)
    assert done.returncode == 1
    assert "minimal: n_nodes grew from 1 to 9" in done.stdout


def test_without_the_switch_the_tests_run_and_no_bench(project):
    done = pytest_in(project)
    assert done.returncode == 2 and "collected" in done.stdout  # the tests' folder alone, whose file raises
    assert "bench" not in done.stdout.partition("short test summary")[0].replace("benchmark", "")


def test_what_the_command_line_names_is_run(project):
    (project / "bench" / "test_other.py").write_text("def test_other(benchmark):\n    benchmark(int)\n")
    done = pytest_in(project, "--benchmark", "bench/test_other.py", "--benchmark-max-time=0.01")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout and line_of("other", done.stdout)
