"""A search with a cutoff, and one that stops and goes on, prove no more than is true and no less than was asked."""

import math

import numpy as np
import pytest
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search
from support import problems
from support.exhaustive import brute_force_optimum

import gopfast
from gopfast import Status
from gopfast.mixtures import engine
from gopfast.mixtures.solve import MixtureSearch
from gopfast.options import Options

EPSILON = 0.01
# Brute force of rows of counts takes long; the search is that of labels with missing entries.
KINDS = [kind for kind in problems.KINDS if not kind.startswith("multinomial")]
CASES = [(kind, seed) for kind in KINDS for seed in (0, 1)]


def tiny(kind, seed):
    """One column for seed 0, two for seed 1; matrices take thousands of nodes for each sample."""
    return problems.make(kind, seed, n=4 if kind == "full" else 5, K=2, d=1 + seed)


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def case(request):
    problem = tiny(*request.param)
    return problem, brute_force_optimum(problem)


@pytest.fixture(scope="module")
def plain(case):
    """The search without a cutoff: why it stopped, its fields and its solution."""
    run = search(case[0])
    return run.run(), *run.summary()


def search(problem, **options):
    family = engine.family(problem)
    return Search(EntropicRelaxation(family), MixturePrimal(family, seed=1), EPSILON, **options)


@pytest.mark.parametrize("below", [5.0, 1.0, 0.1])
def test_a_cutoff_below_the_optimum_is_proved_and_no_more_than_the_optimum(case, plain, below):
    problem, optimum = case
    run = search(problem)
    reason = run.resume(cutoff=optimum - below)
    fields, _ = run.summary()
    rounding = 1e-9 * (1 + abs(optimum))
    assert reason in (Status.CUTOFF, Status.OPTIMAL)
    assert optimum - below <= fields["lower_bound"] <= optimum + rounding
    assert fields["objective"] >= optimum - rounding
    assert fields["n_nodes"] <= plain[1]["n_nodes"]
    if reason == Status.CUTOFF:
        assert fields["objective"] - fields["lower_bound"] > EPSILON


def test_a_cutoff_above_the_optimum_changes_nothing(case, plain):
    problem, optimum = case
    run, (reason, others, other) = search(problem), plain
    assert run.resume(cutoff=optimum + 1.0) == reason == Status.OPTIMAL
    fields, solution = run.summary()
    for name in ("objective", "lower_bound", "n_nodes", "n_passes"):
        assert fields[name] == others[name]
    np.testing.assert_array_equal(solution, other)


def test_a_cutoff_within_the_tolerance_is_no_cutoff(case):
    problem, optimum = case
    run = search(problem)
    assert run.resume(cutoff=optimum - 0.1 * EPSILON) in (Status.OPTIMAL, Status.CUTOFF)
    fields, _ = run.summary()
    assert fields["lower_bound"] <= optimum + 1e-9 * (1 + abs(optimum))
    assert fields["objective"] - fields["lower_bound"] <= EPSILON


def test_a_search_that_stops_and_goes_on_proves_the_same(case):
    problem, optimum = case
    trace = []
    run, n_before, lower_before, time_before, limit = search(problem, trace=trace), 0, -math.inf, 0.0, 1
    while (reason := run.resume(max_nodes=limit)) == Status.NODE_LIMIT:
        fields, _ = run.summary()
        assert limit <= fields["n_nodes"] <= limit + 1  # two children at a time
        assert fields["lower_bound"] >= lower_before and fields["time"] >= time_before
        assert fields["lower_bound"] <= optimum + 1e-9 * (1 + abs(optimum))
        lower_before, time_before = fields["lower_bound"], fields["time"]
        n_before, limit = fields["n_nodes"], limit + 2 + limit // 2
    fields, _ = run.summary()
    assert reason == Status.OPTIMAL
    assert fields["n_nodes"] >= n_before
    assert fields["n_nodes"] == len(trace) == len({serial for serial, *_ in trace})
    assert fields["lower_bound"] <= optimum + 1e-9 * (1 + abs(optimum))
    assert optimum - 1e-9 * (1 + abs(optimum)) <= fields["objective"] <= fields["lower_bound"] + EPSILON


def test_a_falling_cutoff_is_kept_to(case):
    problem, optimum = case
    run = search(problem)
    for cutoff, most in ((optimum + 2.0, 3), (optimum - 0.5, 9), (optimum - 2.0, 1 << 40)):
        reason = run.resume(cutoff=cutoff, max_nodes=most)
        assert run.summary()[0]["lower_bound"] <= optimum + 1e-9 * (1 + abs(optimum))
    assert reason in (Status.CUTOFF, Status.OPTIMAL)
    assert run.summary()[0]["lower_bound"] >= optimum - 2.0


def test_a_rising_cutoff_is_not_taken():
    """What was fathomed at the lower one stays so."""
    problem = tiny("diag", 0)
    optimum = gopfast.solve(problem, 1e-4).objective
    run = search(problem)
    assert run.resume(cutoff=optimum - 3.0) == Status.CUTOFF
    n_nodes = run.summary()[0]["n_nodes"]
    assert run.resume(cutoff=optimum - 1.0) == Status.CUTOFF
    assert run.summary()[0]["n_nodes"] == n_nodes


@pytest.mark.parametrize("threads", [2, 8])
def test_the_number_of_threads_changes_nothing(threads):
    problem = problems.make("diag", 3, n=30, K=2, d=2)
    optimum = gopfast.solve(problem).objective
    counts = []
    for n_threads in (1, threads):
        family = engine.family(problem)
        run = Search(EntropicRelaxation(family), MixturePrimal(family), EPSILON, n_threads=n_threads)
        assert run.resume(max_nodes=100, cutoff=optimum) == Status.NODE_LIMIT
        assert run.resume(cutoff=optimum - 1.0) == Status.CUTOFF
        fields, _ = run.summary()
        counts.append((fields["n_nodes"], fields["n_passes"], fields["lower_bound"], fields["objective"]))
    assert counts[0] == counts[1]


def test_a_mixture_search_says_why_it_stopped():
    problem = problems.make("diag", 3, n=30, K=2, d=2)
    optimum = gopfast.solve(problem).objective
    turns = MixtureSearch(problem, Options.from_arguments(EPSILON))
    first = turns.run(max_nodes=50)
    assert first.status is Status.NODE_LIMIT
    assert turns.run(time_limit=0.0).status is Status.TIME_LIMIT
    last = turns.run(cutoff=optimum - 1.0)
    assert last.status is Status.CUTOFF and not last.success
    assert optimum - 1.0 <= last.lower_bound <= optimum < last.lower_bound + 1.0 + 1e-9
    assert last.n_nodes > first.n_nodes
    assert (np.diff(last.history[:, 0]) >= 0).all() and (np.diff(last.history[:, 2]) >= 0).all()
