"""The source's experiments run on few seeds, and GOP never ends where variational EM is trapped."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from support.histories import first_incumbent

import gopfast

BENCH = Path(__file__).resolve().parents[2] / "bench"
N_RUNS = 6
LOCAL_OPTIMUM = 108.86


@pytest.fixture
def runs(monkeypatch):
    if not (BENCH / "paper_runs.py").exists():
        pytest.skip("bench is not part of this tree")
    monkeypatch.syspath_prepend(str(BENCH))
    # Its names are common ones: other tests must not find them.
    before = set(sys.modules)
    yield importlib.import_module("paper_runs")
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(BENCH)):
            del sys.modules[name]


@pytest.fixture
def optimum(runs):
    return gopfast.solve(runs.minimal(), 1e-6).objective


@pytest.mark.parametrize("kind", ["dirichlet", "gamma", "uniform"])
def test_variational_em_is_trapped_from_random_responsibilities(runs, optimum, kind):
    ends = runs.variational_em(runs.minimal(), kind, N_RUNS)
    assert len(ends) == N_RUNS
    assert runs.missed(ends, optimum) > 0
    for end in ends:
        assert end.converged
        assert min(abs(end.objective - optimum), abs(end.objective - LOCAL_OPTIMUM)) < 0.005


@pytest.mark.parametrize("variant", range(7))
def test_gop_never_ends_in_a_local_optimum(runs, optimum, variant):
    results = runs.solves(runs.minimal(), 3, **list(runs.GOP.values())[variant])
    assert all(result.success for result in results)
    assert runs.missed(results, optimum) == 0
    assert max(result.lower_bound for result in results) <= optimum


@pytest.mark.parametrize("linear", [False, True])
def test_gop_leaves_the_local_optimum_that_it_starts_from(runs, optimum, linear):
    ends = [end for end in runs.variational_em(runs.minimal(), "dirichlet", N_RUNS) if end.objective > optimum + 1]
    found = runs.solves_from(runs.minimal(), ends[:2], linear)
    assert found
    for run in found:
        assert first_incumbent(run.history)[3] == pytest.approx(LOCAL_OPTIMUM, abs=0.005)
        assert run.success
        assert run.lower_bound <= optimum
        assert run.objective == pytest.approx(optimum, abs=1e-6)


@pytest.mark.parametrize("linear", [False, True])
def test_the_bounds_close_in_while_the_work_grows(runs, linear):
    (_, trapped), (_, lucky) = runs.two_starts(runs.minimal())
    assert trapped.objective > lucky.objective + 20
    run, curve = runs.bounds_by_work(runs.minimal(), trapped, linear, repeats=2)
    _, work, lower, upper = curve.T
    assert (np.diff(work) >= 0).all()
    assert (np.diff(lower) >= 0).all()
    assert (np.diff(upper) <= 0).all()
    assert (lower <= upper).all()
    assert work[-1] == (run.n_lps if linear else run.n_passes) > 0


def test_every_row_of_the_table_proves_the_same_optimum(runs, optimum):
    for _, _, _, result in runs.table_1(runs.minimal(), repeats=1):
        assert result.success
        assert result.lower_bound <= optimum <= result.objective + 1e-9
        assert result.gap <= runs.EPSILON


def test_both_variational_families_are_proved(runs):
    published = {"point": 84.03016, "gaussian": 82.74365}  # the source, on the minimal data set
    for name, K, posterior, result, ends in runs.families(n_starts=3):
        assert result.success
        assert min(end.objective for end in ends) >= result.lower_bound
        if (name, K) == ("minimal", 2):
            assert result.objective == pytest.approx(published[posterior], abs=5e-6)


def test_a_second_thread_changes_no_bound(runs):
    measured = runs.threads((60, 2, 4), {}, repeats=1)
    one, two = (measured[n_threads].result for n_threads in (1, 2))
    assert (one.objective, one.lower_bound, one.n_nodes) == (two.objective, two.lower_bound, two.n_nodes)


def test_the_figures_are_drawn(runs, tmp_path):
    pytest.importorskip("matplotlib")
    figures = importlib.import_module("paper_figures")
    problem = runs.minimal()
    ends = [run.objective for run in runs.variational_em(problem, "dirichlet", N_RUNS)]
    figures.restarts(tmp_path / "restarts.png", {"dirichlet": ends}, gopfast.solve(problem))
    curves = [("trapped", runs.bounds_by_work(problem, end, False)[1]) for _, end in runs.two_starts(problem)]
    figures.bounds(tmp_path / "bounds.png", {"entropic": ("passes", curves), "again": ("passes", curves)})
    assert (tmp_path / "restarts.png").stat().st_size > 5000
    assert (tmp_path / "bounds.png").stat().st_size > 5000


def test_help_and_wrong_sections_run_nothing(runs, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    paper = importlib.import_module("paper")
    monkeypatch.setattr(paper, "OUT", tmp_path / "paper")
    for arguments, code in ((["--help"], 0), (["no section"], 2)):
        with pytest.raises(SystemExit) as stopped:
            paper.main(arguments)
        assert stopped.value.code == code
    assert "restarts, bounds, table" in capsys.readouterr().out
    assert not (tmp_path / "paper").exists()
