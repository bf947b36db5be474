"""
The preparation of a biconvex solve ends when its signal says so, whatever it is at.

So do the starts of a mixture, some of which are found in Python.
"""

import numpy as np
import pytest
from gopfast.search.stop import StopSignal

import gopfast
from gopfast import BiconvexProblem
from gopfast.biconvex import ellipsoid, grouping, recession, tightening
from gopfast.biconvex.interruption import Stopped
from gopfast.biconvex.lifting import Lifting
from gopfast.mixtures.primal import em
from gopfast.options import Options
from gopfast.result import Status

INF = np.inf


def convex(n, n_rows=1, n_equations=0):
    """A convex problem of unbounded variables: dense forms, equations."""
    rng = np.random.default_rng(n)
    forms = [G.T @ G / n for G in rng.normal(size=(n_rows + 1, n, n))]
    A = rng.normal(size=(n_equations, n)) if n_equations else None
    return BiconvexProblem(
        rng.normal(size=n), Q=forms[0], quadratic_rows=[(Q, rng.normal(size=n), -INF, 4.0) for Q in forms[1:]],
        A=A, row_lower=0.0 if n_equations else None, row_upper=0.0 if n_equations else None,
    )  # fmt: skip


class Countdown:
    """A signal that stops at the n-th look."""

    def __init__(self, n):
        self.left, self.looks = n, 0

    @property
    def stopped(self):
        self.looks += 1
        return self.looks > self.left


def untouched(low, high):
    return low, high


def test_each_part_looks_at_the_signal():
    problem, over = convex(12, 2, 3), StopSignal(0.0)
    with pytest.raises(Stopped):
        Lifting(problem, True, over)
    lifting = Lifting(problem)
    lifting.stop = over
    with pytest.raises(Stopped):
        lifting.data(lifting.low, lifting.high)
    with pytest.raises(Stopped):
        ellipsoid.tighten(lifting, lifting.low, lifting.high, untouched)
    with pytest.raises(Stopped):
        tightening.tighten(lifting, over)
    with pytest.raises(Stopped):
        grouping.find([{(0, 0): 1.0, (0, 1): 4.0, (1, 1): 1.0}], [], {}, over)
    with pytest.raises(Stopped):
        recession.find(problem, None, Options.from_arguments(), over)
    with pytest.raises(Stopped):
        recession.is_proof(problem, np.zeros(12), [1] * 12, over)


@pytest.mark.parametrize("n", [10, 20])
def test_the_signal_is_looked_at_as_often_as_work_grows(n):
    """Rationals of n^2 terms, with a look for each: not only between rows."""
    never = Countdown(INF)
    lifting = Lifting(convex(n), True, None)
    lifting.stop = never
    ellipsoid.tighten(lifting, lifting.low, lifting.high, untouched)
    assert never.looks > n**2 / 2
    for n_looks in (0, 1, never.looks // 2, never.looks - 1):
        lifting.stop = Countdown(n_looks)
        with pytest.raises(Stopped):
            ellipsoid.tighten(lifting, lifting.low, lifting.high, untouched)
        assert lifting.stop.looks == n_looks + 1


def test_a_ray_is_looked_for_no_longer_than_there_is_time():
    asked = []

    class Nothing:
        status, objective, solution = gopfast.Status.TIME_LIMIT, INF, None

    def solve(problem, options):
        asked.append(options.time_limit)
        return Nothing()

    problem = BiconvexProblem([0, 0], Q=[[0, 1], [0, 0]])
    assert recession.find(problem, solve, Options.from_arguments(time_limit=1000.0), StopSignal(0.5)) is None
    assert len(asked) == 2 and asked[0] <= 0.25 and asked[1] <= 0.5
    assert recession.find(problem, solve, Options.from_arguments()) is None
    assert asked[2] <= recession.MOST_SECONDS / 2


def test_what_is_known_is_kept_where_time_is_over_before_the_search():
    problem = convex(10)
    result = gopfast.solve(problem, time_limit=0.0, n_threads=1, start=np.zeros(10))
    assert result.status == "TIME_LIMIT" and result.bound == -INF
    # the origin is feasible
    assert result.objective == 0.0 and result.solution.max_violation == 0.0


def test_equations_are_not_lifted_without_end():
    n = 120
    rng = np.random.default_rng(0)
    Q = np.zeros((n, n))
    Q[0, 1:] = 1.0
    problem = BiconvexProblem(np.zeros(n), Q=Q, A=rng.normal(size=(40, n)), row_lower=0, row_upper=0, lower=-1, upper=1)
    data, _, _ = Lifting(problem).data(problem.lower, problem.upper)
    n_lifted = data.n_rows - data.n_own_rows - 1
    assert 0 < n_lifted <= 30_000 / n


def of_starts(kind, K, d):
    """Data without clusters, of which starts do not agree."""
    return gopfast.GaussianMixture(np.random.default_rng(0).standard_normal((500, d)), K, covariance=kind)


STARTS = [("diag", 2, 2, "Clusterings"), ("tied", 2, 2, "Clusterings"), ("tied", 3, 2, "Clusterings"),
          ("full", 2, 2, "Clusterings"), ("full", 3, 2, "Clusterings"), ("diag", 3, 1, "best_stretches")]  # fmt: skip


@pytest.mark.parametrize(("kind", "K", "d", "step"), STARTS)
def test_ctrl_c_within_the_starts_of_a_mixture_leaves_bounds(kind, K, d, step, monkeypatch):
    """What k-means had not found was read all the same: the process crashed, or Ctrl-C was lost."""
    calls = []

    def interrupted(*given):
        calls.append(given)
        raise KeyboardInterrupt

    monkeypatch.setattr(em, step, interrupted)
    problem = of_starts(kind, K, d)
    result = gopfast.solve(problem, n_threads=1, log=False)
    assert len(calls) == 1
    assert result.status is Status.INTERRUPTED
    plain = problem.objective(result.solution.weights, **result.solution.parameters)
    assert result.lower_bound <= plain
    assert result.objective == pytest.approx(plain, rel=1e-9)


@pytest.mark.parametrize(("kind", "K", "d", "step"), STARTS)
def test_errors_within_the_starts_of_a_mixture_are_raised(kind, K, d, step, monkeypatch):
    def broken(*given):
        raise ValueError("of k-means")

    monkeypatch.setattr(em, step, broken)
    with pytest.raises(ValueError, match="of k-means"):
        gopfast.solve(of_starts(kind, K, d), n_threads=1, log=False)
