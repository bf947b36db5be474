"""Comparison of the local methods with the proved optimum."""

import numpy as np
import pytest

import gopfast
from gopfast import comparison

MINIMAL = [-10.0, -10.0, 5.0, 25.0]


def problem():
    return gopfast.GaussianMixture(MINIMAL, 2, prior="empirical")


def test_every_row_counts_its_misses():
    pytest.importorskip("sklearn")
    found = comparison.compare(problem(), 30)
    methods = {"em", "anneal", "quasi_newton", "conjugate_gradient", "kmeans"}
    pairs = {(row.method, row.start) for row in found.rows}
    assert pairs == {(method, start) for method in methods for start in gopfast.local.starts.STRATEGIES}
    assert {name.split(",")[0] for name in found.skipped} == {"cavi"}
    for row in found.rows:
        assert len(row.objectives) == 30
        assert row.objectives.min() >= found.result.lower_bound
        np.testing.assert_allclose(row.excess, row.objectives - found.result.objective)
        assert row.n_missed == (row.objectives > found.result.objective + 0.01).sum()
        assert f"{row.n_missed / 30:.0%}" in str(found)


def test_runs_repeat_with_the_seed():
    one, other, third = (comparison.compare(problem(), 10, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.rows[0].objectives, other.rows[0].objectives)
    assert (one.rows[0].objectives != third.rows[0].objectives).any()


def test_methods_that_the_problem_cannot_have_are_named(monkeypatch):
    def picky(problem, start, random_state):
        raise gopfast.InputError("only for flat data")

    monkeypatch.setattr(comparison.local, "picky", picky, raising=False)
    found = comparison.compare(problem(), 2)
    assert "picky" not in {row.method for row in found.rows}
    assert any(name.startswith("picky") for name in found.skipped)
    assert "only for flat data" in str(found)


def test_every_function_of_a_problem_and_a_start_is_a_method():
    found = comparison.methods()
    assert found["em"] is gopfast.local.em
    assert "restart_until_certified" not in found


def test_ctrl_c_keeps_the_runs_made(monkeypatch):
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
