"""Whole solves, with the counts that a regression shows in on any machine."""

import sys
from pathlib import Path

import pytest

import gopfast

sys.path.insert(0, str(Path(__file__).resolve().parent))
import compare_counts


@pytest.mark.parametrize("name", compare_counts.CASES)
def test_solve(benchmark, name):
    problem, options = compare_counts.build(name)
    gopfast.solve(problem, **options)  # warm: columns laid out, threads started
    result = benchmark(gopfast.solve, problem, **options)
    assert result.success
    benchmark.extra_info.update(compare_counts.counts(result))
    benchmark.extra_info["gap"] = result.gap
