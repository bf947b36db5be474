"""Whole solves. What fails is a count that grew by more than a tenth: counts show a regression on any machine."""

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
    counts = compare_counts.counts(result)
    benchmark.extra_info.update(counts, gap=result.gap)
    assert compare_counts.regressions({name: counts}, compare_counts.read()) == []
