"""Checkpoints are input: whatever is in one, there is a result or one `CheckpointError`, and no crash."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.settings import fewer

import gopfast

BENCH = Path(__file__).resolve().parents[2] / "bench"
# In a process of its own, which says what it tries next: a crash would take the tests with it.
CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from fuzzing import forging
print("done", *forging.run(sys.argv[2], 0, float(sys.argv[3]), lambda what: print(what, flush=True)))
"""


@pytest.mark.skipif(not BENCH.exists(), reason="no bench/ beside the tests")
@pytest.mark.parametrize("kind", ["known", "diag", "pricing", "categorical", "biconvex", "k-means"])
def test_no_forged_entry_crashes_a_resume(kind, tmp_path):
    part = fewer(3 if kind == "biconvex" else 8) / 100  # of its entries
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(BENCH), kind, str(part)], capture_output=True, text=True, timeout=300,
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(Path(gopfast.__file__).parents[1]), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (lines[-1:], done.stderr[-2000:])
    said, tried, refused = lines[-1].split()
    assert said == "done" and 0 < int(refused) < int(tried) + 2
