"""The tests must see the package as installed, and importing it must stay light."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gopfast

SOURCE = Path(__file__).resolve().parents[2] / "gopfast"
INSTALLED = Path(gopfast.__file__).resolve().parent

needs_source = pytest.mark.skipif(not SOURCE.is_dir(), reason="no source tree beside the tests")


@needs_source
def test_the_tests_import_the_installed_package_and_not_the_source_tree():
    assert INSTALLED != SOURCE, "run `make test`: it installs the package and tests that"


@needs_source
def test_the_installed_package_is_the_one_of_this_source_tree():
    def files(folder):
        kinds = (".py", ".typed", ".csv", ".json", ".md")
        found = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.suffix in kinds}
        # of the READMEs only that of the data is for users
        return {path: text for path, text in found.items() if path.name != "README.md" or path.parts[0] == "datasets"}

    source, installed = files(SOURCE), files(INSTALLED)
    paths = source.keys() | installed.keys()
    stale = sorted(str(path) for path in paths if source.get(path) != installed.get(path))
    assert not stale, "run `make test`: the installed package is out of date"


@pytest.mark.parametrize("heavy", ["sklearn", "matplotlib", "highspy"])
def test_import_leaves_out(heavy, tmp_path):
    # Run elsewhere: `python -c` puts the current folder first on sys.path.
    code = f"import gopfast, sys; sys.exit({heavy!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr or f"`import gopfast` imports {heavy}"


@pytest.fixture
def sources(tmp_path):
    """A source folder as git makes it: the package without its compiled core."""
    shutil.copytree(INSTALLED, tmp_path / "gopfast", ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    return tmp_path


def run_in(folder, code, *flags, **environment):
    return subprocess.run(
        [sys.executable, *flags, "-c", code], cwd=folder, env=os.environ | environment, capture_output=True, text=True
    )


SOLVE = (
    "import gopfast, gopfast.solver; print(gopfast.solve(gopfast.GaussianMixture([0, 1, 9], 2)).success);"
    "print(gopfast.__file__); print(gopfast.solver.__file__)"
)


@pytest.mark.parametrize("installed", [True, False])
def test_in_a_source_folder_without_its_core_the_error_says_what_to_do(sources, installed):
    # -S: without what is installed; on the path for the case that the package under test is built in place
    flags, path = ((), str(INSTALLED.parent)) if installed else (("-S",), "")
    done = run_in(sources, "import gopfast", *flags, PYTHONPATH=path)
    error = done.stderr.rstrip().splitlines()[-1]
    assert done.returncode == 1
    assert error.startswith(f"ImportError: gopfast's compiled core cannot be loaded from {sources / 'gopfast'}")
    assert "run `pip install -e .`" in error and "imported in any other folder" in error


def test_with_the_core_beside_the_sources_they_are_imported_in_their_folder_and_elsewhere(sources, tmp_path):
    """As `pip install -e .` builds it; that it is found elsewhere too is what its entry on the path does."""
    for core in INSTALLED.rglob("*.so"):
        os.symlink(core, sources / "gopfast" / core.relative_to(INSTALLED))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for folder in (sources, elsewhere):
        done = run_in(folder, SOLVE, PYTHONPATH=str(sources))
        assert done.returncode == 0, done.stderr
        package = sources / "gopfast"
        assert done.stdout.split() == ["True", str(package / "__init__.py"), str(package / "solver.py")]


def test_dir_lists_the_names_that_are_loaded_on_first_use():
    assert set(gopfast.__all__) <= set(dir(gopfast))
    assert "GlobalGaussianMixture" in dir(gopfast)


def test_a_first_biconvex_solve_does_without_what_few_need(tmp_path):
    code = (
        "import sys, gopfast\n"
        "problem = gopfast.BiconvexProblem([0, 0], Q=[[0, 1], [0, 0]], lower=-1, upper=2)\n"
        "assert gopfast.solve(problem, n_threads=1, log=False).success\n"
        # with a local search: a hyperbola, whose tangents are best at the optimum
        "problem = gopfast.PolynomialProblem('x + y', ['x*y >= 1', 'x + 2*y <= 9'], {'x': (0, 4), 'y': (0, 4)})\n"
        "assert gopfast.solve(problem, n_threads=1, log=False).success\n"
        "problem = gopfast.PolynomialProblem('exp(x) + x*y', ['log(y) >= x'], {'x': (-1, 1), 'y': (0.1, 4)})\n"
        "assert gopfast.solve(problem, n_threads=1, log=False).success\n"
        "sys.exit('scipy.linalg' in sys.modules or 'scipy.optimize' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path).returncode == 0
