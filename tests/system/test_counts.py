"""A gate on work rather than on time: node, pass and LP counts against bench/results/counts-*.json."""

import importlib.util
from pathlib import Path

import pytest

from gopfast.mixtures.data import passes

SCRIPT = Path(__file__).resolve().parents[2] / "bench" / "compare_counts.py"


@pytest.fixture(scope="module", params=passes.instruction_sets())
def compare_counts(request):
    if not SCRIPT.exists():
        pytest.skip("bench is not part of this tree")
    spec = importlib.util.spec_from_file_location("compare_counts", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    passes.use_instruction_set(request.param)
    if not module.file().exists():
        pytest.skip(f"no counts are committed for this instruction set: {module.file().name}")
    yield module
    passes.use_instruction_set()


def test_no_count_grew_by_more_than_a_tenth(compare_counts):
    assert compare_counts.regressions(compare_counts.measure(), compare_counts.read()) == []


def test_every_case_that_this_build_can_run_has_committed_counts(compare_counts):
    assert set(compare_counts.CASES) <= set(compare_counts.read())


def test_growth_and_failure_are_noticed(compare_counts):
    committed = {"a": {"n_nodes": 100}, "b": {"n_nodes": 100}, "c": {"n_nodes": 100}}
    measured = {"a": {"n_nodes": 110}, "b": {"n_nodes": 120}, "c": None}
    assert compare_counts.regressions(measured, committed) == [
        "b: n_nodes grew from 100 to 120", "c: not proved"
    ]  # fmt: skip
