"""The tests must see the package as installed, and importing it must stay light."""

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
    def modules(folder):
        return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.py")}

    source, installed = modules(SOURCE), modules(INSTALLED)
    paths = source.keys() | installed.keys()
    stale = sorted(str(path) for path in paths if source.get(path) != installed.get(path))
    assert not stale, "run `make test`: the installed package is out of date"


@pytest.mark.parametrize("heavy", ["sklearn", "matplotlib", "highspy"])
def test_import_leaves_out(heavy, tmp_path):
    # Run elsewhere: `python -c` puts the current folder first on sys.path.
    code = f"import gopfast, sys; sys.exit({heavy!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr or f"`import gopfast` imports {heavy}"
