"""Comparison of the local methods with the proved optimum."""

import numpy as np
import pytest

import gopfast
from gopfast import comparison

MINIMAL = [-10.0, -10.0, 5.0, 25.0]


def problem():
    return gopfast.GaussianMixture(MINIMAL, 2, prior="empirical")


def picky_start(problem, random_state):
    raise ImportError("needs a library")


@pytest.fixture
def em_only(monkeypatch):
    monkeypatch.setattr(comparison, "methods", lambda: {"em": gopfast.local.em})
    monkeypatch.setattr(comparison, "starts", lambda: {"samples": gopfast.local.start})


def test_every_row_counts_its_misses():
    pytest.importorskip("sklearn")
    found = comparison.compare(problem(), 4)
    methods = {"em", "anneal", "quasi_newton", "conjugate_gradient", "kmeans"}
    pairs = {(row.method, row.start) for row in found.rows}
    assert pairs == {(method, start) for method in methods for start in gopfast.local.starts.STRATEGIES}
    assert found.skipped.keys() == {"cavi"}
    assert {name: len(values) for name, values in found.objectives.items()} == dict.fromkeys(methods, 24)
    for row in found.rows:
        assert len(row.objectives) == 4
        assert row.objectives.min() >= found.result.lower_bound
        np.testing.assert_allclose(row.excess, row.objectives - found.result.objective)
        assert row.n_missed == (row.objectives > found.result.objective + 0.01).sum()
        assert f"{row.n_missed / 4:.0%}" in str(found)


def test_runs_repeat_with_the_seed(em_only):
    one, other, third = (comparison.compare(problem(), 10, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.rows[0].objectives, other.rows[0].objectives)
    assert (one.rows[0].objectives != third.rows[0].objectives).any()


def test_methods_and_starts_that_the_problem_cannot_have_are_named(monkeypatch, em_only):
    pick = {"far": gopfast.local.start, "near": picky_start}
    monkeypatch.setattr(comparison, "starts", lambda: pick)
    def picky(problem, start, random_state):
        raise gopfast.InputError("only for flat data")

    monkeypatch.setattr(comparison, "methods", lambda: {"picky": picky, "em": gopfast.local.em})
    found = comparison.compare(problem(), 2)
    assert [(row.method, row.start) for row in found.rows] == [("em", "far")]
    assert found.skipped == {"picky": "only for flat data", "start near": "needs a library"}
    assert "not run: picky: only for flat data" in str(found)


def test_every_function_of_a_problem_and_a_start_is_a_method():
    found = comparison.methods()
    assert found["em"] is gopfast.local.em
    assert "restart_until_certified" not in found


def test_ctrl_c_keeps_the_runs_made(monkeypatch, em_only):
    n_runs = 0

    def slow(problem, start, random_state):
        nonlocal n_runs
        n_runs += 1
        if n_runs > 3:
            raise KeyboardInterrupt
        return gopfast.local.em(problem)

    monkeypatch.setattr(comparison, "methods", lambda: {"slow": slow})
    found = comparison.compare(problem(), 10)
    assert found.interrupted
    assert len(found.rows[0].objectives) == 3


@pytest.mark.parametrize("changed", [{"n_starts": 0}, {"epsilon": 0}, {"time_limit": -1}], ids=str)
def test_a_bad_argument_is_named(changed):
    with pytest.raises(gopfast.InputError, match=next(iter(changed))):
        comparison.compare(problem(), **{"n_starts": 2, **changed})
