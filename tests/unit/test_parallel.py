"""Many tasks through joblib: the backend and the number of processes that its users set."""

import math

import numpy as np
import pytest

import gopfast
from gopfast import comparison
from gopfast.comparison import compare
from gopfast.local import restart_until_certified
from gopfast.parallel import n_processes, outcomes, shares_memory

joblib = pytest.importorskip("joblib")
GALAXIES = gopfast.datasets.load("galaxies") / 1000


def test_none_is_what_joblib_says_and_one_otherwise():
    assert (n_processes(None), n_processes(3)) == (1, 3)
    assert shares_memory()
    with joblib.parallel_config("loky", n_jobs=2):
        assert n_processes(None) == 2
        assert not shares_memory()
        assert list(outcomes(math.factorial, [1, 2, 3])) == [1, 2, 6]
    with joblib.parallel_config("threading", n_jobs=3):
        assert n_processes(None) == 3
        assert shares_memory()


@pytest.mark.parametrize("criterion", ["bic", "icl"])
def test_a_choice_made_elsewhere_is_the_same(criterion):
    options = {"covariances": ["diag", "tied"], "variance_floor": 0.3, "n_threads": 1, "log": False}
    alone = gopfast.select(GALAXIES, [1, 2, 3], criterion, **options)
    with joblib.parallel_config("loky", n_jobs=2):
        found = gopfast.select(GALAXIES, [1, 2, 3], criterion, **options)
    assert (found.status, found.covariance, found.n_components) == (alone.status, alone.covariance, alone.n_components)
    assert found.best.upper == pytest.approx(alone.best.upper, abs=1e-3)
    for one, other in zip(alone.candidates, found.candidates, strict=True):
        assert one.key == other.key and other.lower <= one.upper + 1e-6 and one.lower <= other.upper + 1e-6


def test_turns_elsewhere_go_on_where_they_stopped(monkeypatch):
    """Each of a few nodes: the state travels; counts are those of one search."""
    from gopfast.inference import selection

    monkeypatch.setattr(selection, "FIRST_NODES", 20)
    turns = []

    def here(function, tasks, n_jobs):
        turns.extend(task.state is not None for task in tasks)
        return [function(task) for task in tasks]

    monkeypatch.setattr(selection, "outcomes", here)
    monkeypatch.setattr(selection, "shares_memory", lambda: False)
    options = {"covariances": "known", "n_threads": 1, "log": False, "noise_variance": 4.0}
    found = gopfast.select(GALAXIES, [3, 4, 5], n_jobs=2, **options)
    alone = gopfast.select(GALAXIES, [3, 4, 5], **options)
    assert sum(turns) > 1
    assert (found.status, found.n_components) == (alone.status, alone.n_components)
    for one, other in zip(alone.candidates, found.candidates, strict=True):
        assert other.lower <= one.upper + 1e-6 and one.lower <= other.upper + 1e-6


def test_ctrl_c_leaves_a_choice_with_bounds(monkeypatch):
    from gopfast.inference import selection

    def interrupted(function, tasks, n_jobs):
        raise KeyboardInterrupt

    monkeypatch.setattr(selection, "outcomes", interrupted)
    monkeypatch.setattr(selection, "shares_memory", lambda: False)
    found = gopfast.select(GALAXIES, [1, 2], covariances="diag", n_jobs=2, log=False)
    assert found.interrupted
    assert all(one.lower <= one.upper for one in found.candidates)


def test_restarts_at_a_time_are_those_one_after_another():
    problem = gopfast.GaussianMixture([-10.0, -10.0, 5.0, 25.0], 2, prior="empirical")
    alone = restart_until_certified(problem, random_state=3)
    with joblib.parallel_config("threading", n_jobs=2):
        found = restart_until_certified(problem, random_state=3)
    assert (found.certified, found.fit.objective) == (True, alone.fit.objective)
    np.testing.assert_array_equal(found.objectives[: len(alone.objectives)], alone.objectives)


def test_a_comparison_made_elsewhere_is_the_same(monkeypatch):
    problem = gopfast.GaussianMixture([-10.0, -10.0, 5.0, 25.0], 2, prior="empirical")
    alone, found = compare(problem, 4, random_state=3), compare(problem, 4, random_state=3, n_jobs=2)
    monkeypatch.setattr(comparison, "methods", lambda: {"em": gopfast.local.em})
    few = compare(problem, 4, random_state=3)
    with joblib.parallel_config("loky", n_jobs=2):
        told = compare(problem, 4, random_state=3)
    for one, other in ((alone, found), (few, told)):
        assert [(row.method, row.start) for row in other.rows] == [(row.method, row.start) for row in one.rows]
        assert other.skipped == one.skipped
        for mine, its in zip(other.rows, one.rows, strict=True):
            np.testing.assert_array_equal(mine.objectives, its.objectives)
    with pytest.raises(gopfast.InputError, match="n_jobs must be"):
        compare(problem, 2, n_jobs=0)


def test_dask_spreads_them():
    distributed = pytest.importorskip("distributed")
    problems = [gopfast.GaussianMixture(GALAXIES, K, covariance="known", noise_variance=4.0) for K in (1, 2, 3)]
    fits = [gopfast.local.em(problem, random_state=0) for problem in problems]
    alone = gopfast.certify_all(problems, fits)
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None):
        with joblib.parallel_config("dask"):
            found = gopfast.certify_all(problems, fits)
            choice = gopfast.select(GALAXIES, [1, 2, 3], covariances="diag", variance_floor=0.3, log=False)
    assert [one.verdict for one in found] == [one.verdict for one in alone]
    assert choice.status == "PROVED"
