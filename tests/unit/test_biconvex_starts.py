"""Local searches of a biconvex problem are counted as they were made, and kept."""

from pathlib import Path

import numpy as np
import pytest
from gopfast.search.endings import Endings
from gopfast.search.stop import StopSignal

import gopfast
from gopfast import BiconvexProblem
from gopfast.biconvex import preparation
from gopfast.biconvex.nonlinear import NonlinearProgram
from gopfast.biconvex.preparation import Preparation
from gopfast.biconvex.start_kinds import KINDS
from gopfast.profile import Activity
from gopfast.starts import Starts

FOLDER = Path(gopfast.datasets.__file__).parent / "biconvex"
OPTIONS = {"log": False, "n_threads": 1}


def problem(name):
    return BiconvexProblem.from_json(FOLDER / f"{name}.json")


def test_ends_are_those_of_the_local_searches():
    result = gopfast.solve(problem("ex3_1_1"), **OPTIONS)
    starts = result.starts
    assert {"relaxed", "middle", "draws", "nodes"} <= starts.keys() <= set(KINDS)
    assert starts["relaxed"]["converged"] == starts["middle"]["converged"] == 1
    assert starts.n_independent == sum(starts["draws"].values()) > 2
    assert starts.above.min() <= starts.tolerance and starts.n_optima > 1
    assert starts.above[starts.kinds.index("middle")] > 1000.0  # alternation from there misses the optimum
    assert starts.evidence in str(starts) and result.evidence == ""


def test_a_start_that_is_handed_in_is_counted_as_such():
    given = gopfast.solve(problem("ex3_1_1"), **OPTIONS).solution.z
    starts = gopfast.solve(problem("ex3_1_1"), start=given, **OPTIONS).starts
    assert starts["given"]["converged"] == 1 and starts.above[starts.kinds.index("given")] <= starts.tolerance


def test_what_is_not_proved_has_evidence():
    result = gopfast.solve(problem("ex3_1_1"), max_nodes=5, **OPTIONS)
    assert result.status == "NODE_LIMIT" and "local searches" in result.evidence
    assert result.evidence in str(result)


def test_searches_that_find_no_point_are_no_evidence():
    found = Starts({"middle": {"failed": 1}, "draws": {"failed": 2, "out of time": 1}}, [], [], [], 1e-6)
    assert found.evidence == "none of 4 local searches ended at a solution" and found.n_independent == 0


def test_a_resumed_search_has_those_of_the_whole(tmp_path):
    path, name = tmp_path / "search.checkpoint", "pooling_adhya1pq"
    whole = gopfast.solve(problem(name), **OPTIONS)
    stopped = gopfast.solve(problem(name), checkpoint=path, max_nodes=whole.n_nodes // 2, **OPTIONS)
    resumed = gopfast.resume(path, problem(name), **OPTIONS)
    before, after = stopped.starts, resumed.starts
    assert after.n_searches >= before.n_searches > 10
    for kind, row in before.items():
        assert all(after[kind].get(how, 0) >= times for how, times in row.items())
    assert after["nodes"]["converged"] == whole.starts["nodes"]["converged"]


def test_it_survives_json():
    result = gopfast.solve(problem("ex3_1_1"), max_nodes=5, **OPTIONS)
    record = result.to_dict()
    assert Starts.from_dict(record["starts"]).evidence == result.evidence == record["evidence"]


def test_ends_of_others_are_added_in_their_unit():
    one, other = Endings(len(KINDS)), Endings(len(KINDS))
    state = other.state()
    counted = state["ends_counted"]
    counted[3, 0] = 2
    other.restore({
        "ends_counted": counted, "ends_of": np.full(2, 3, np.int8), "ends_by": np.zeros(2, np.int8),
        "ends_at": np.array([1.0, 3.0]),
    })  # fmt: skip
    one.take(other, 2.0)
    one.take(other)
    assert one.rows()[2].tolist() == [2.0, 6.0, 1.0, 3.0] and one.table()[3, 0] == 4
    with pytest.raises(ValueError, match="ends_of"):
        other.restore({**other.state(), "ends_of": np.array([len(KINDS), 0], np.int8)})


def test_the_budget_of_local_searches_is_counted_and_can_be_switched_off():
    usual = gopfast.solve(problem("ex3_1_1"), **OPTIONS)
    with gopfast.settings(local_budget=False):
        plain = gopfast.solve(problem("ex3_1_1"), **OPTIONS)
    assert usual.success and plain.success and usual.objective == pytest.approx(plain.objective, rel=3e-6)
    assert usual.profile["local_budget"].calls > 0 and plain.profile["local_budget"] == Activity()
    assert plain.starts.n_searches > usual.starts.n_searches


def quadratic_rows(n, m, seed):
    """A problem over [0, 1]^n whose objective and m rows are dense quadratic forms with integers."""
    rng = np.random.default_rng(seed)

    def form():
        return np.triu(rng.integers(-10, 11, (n, n))).astype(float)

    rows = [(form(), rng.integers(-10, 11, n).astype(float), None, float(rng.integers(1, 20))) for _ in range(m)]
    return BiconvexProblem(rng.integers(-10, 11, n).astype(float), Q=form(), quadratic_rows=rows, lower=0.0, upper=1.0)


@pytest.fixture
def calls(monkeypatch):
    """Whether each nonlinear program was to end near where it began."""
    found, inner = [], Preparation.nonlinear

    def nonlinear(self, point, near=True):
        found.append(near)
        return inner(self, point, near)

    monkeypatch.setattr(Preparation, "nonlinear", nonlinear)
    return found


def test_nonlinear_programs_begin_at_drawn_points_where_the_root_takes_long(calls, monkeypatch):
    given = quadratic_rows(6, 3, 1)
    before = gopfast.solve(given, **OPTIONS)
    assert before.success and all(calls)
    monkeypatch.setattr(preparation, "MANY_PRODUCTS", 1)
    after = gopfast.solve(given, **OPTIONS)
    assert calls.count(False) == preparation.FIRST_DRAWN and after.success
    assert after.objective == pytest.approx(before.objective, rel=2e-6)
    assert given.violations(after.solution.z).max() <= 1e-8
    assert after.starts.n_independent <= preparation.N_RANDOM_STARTS  # they are no further draws


def test_nonlinear_programs_begin_at_drawn_points_where_the_tree_takes_long(calls):
    result = gopfast.solve(quadratic_rows(13, 13, 0), max_nodes=60, **OPTIONS)
    assert result.n_iterations > 5000 and calls.count(False) > 0
    assert result.bound <= result.objective


def monomial(n):
    """Least sum of x with a product of n variables of at least 2, one product after the other."""
    Q = np.zeros((2 * n - 1, 2 * n - 1))
    rows, before = [], 0
    for k in range(1, n):
        form, linear = Q.copy(), np.zeros(2 * n - 1)
        form[min(before, k), max(before, k)], linear[n - 1 + k] = 1.0, -1.0
        rows.append((form, linear, 0.0, 0.0))
        before = n - 1 + k
    low, high = np.full(2 * n - 1, 0.1), np.full(2 * n - 1, 10.0)
    low[n:], high[n:] = 1e-3, 1e3
    low[-1] = 2.0
    return BiconvexProblem(np.append(np.ones(n), np.zeros(n - 1)), quadratic_rows=rows, lower=low, upper=high)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_a_root_does_not_end_where_one_side_alone_cannot_be_better(n):
    """Alternation ends at a point that is no local solution: all x but two are where they began."""
    found = gopfast.solve(monomial(n), max_nodes=1, **OPTIONS)
    assert found.objective == pytest.approx(n * 2.0 ** (1 / n), rel=1e-6)


def test_a_search_does_not_end_in_a_saddle():
    """Of x y from the middle of a box an interior point alone does not move."""
    given = BiconvexProblem([0.0, 0.0], Q=[[0, 1], [0, 0]], lower=-1, upper=1)
    program = NonlinearProgram(given, given.lower, given.upper, np.ones(2), StopSignal())
    x = program.search(np.zeros(2), near=False)
    assert x[0] * x[1] == pytest.approx(-1.0, abs=1e-6)
