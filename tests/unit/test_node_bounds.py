"""Linear programs for bounds of variables in nodes: smaller trees with the same optima, and bounds that hold."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from support.executors import Inline

import gopfast
from gopfast import BiconvexProblem
from gopfast.biconvex.core import METERED
from gopfast.biconvex.node_bounds import NodeBounds
from gopfast.profile import Activity
from gopfast.search import distributed, files

OPTIONS = {"log": False, "n_threads": 1}


def draw(seed, n=8, m=6, share=0.9):
    """min x'C y + c'(x, y) over A x <= a, B y <= b in [0, 2]^n each, C sparse."""
    rng = np.random.default_rng(seed)
    Q, A = np.zeros((2 * n, 2 * n)), np.zeros((2 * m, 2 * n))
    Q[:n, n:] = rng.integers(-9, 10, (n, n)) * (rng.random((n, n)) < share)
    A[:m, :n], A[m:, n:] = rng.integers(-3, 6, (2, m, n))
    return BiconvexProblem(
        rng.integers(-5, 6, 2 * n).astype(float), Q=Q, A=A, row_upper=rng.integers(2, 9, 2 * m).astype(float), lower=0,
        upper=2,
    )  # fmt: skip


def solve(problem, executor=None, **options):
    """Without lifted inequalities, so that there is a tree."""
    with gopfast.settings(**{"lifted_inequalities": False, **options}):
        return gopfast.solve(problem, executor=executor, **OPTIONS)


def same(found, whole):
    """Whether status and optimum are the same, the bounds within tolerance and never above a point of the other."""
    assert found.status == whole.status == "OPTIMAL" and not found.notes
    assert found.objective == pytest.approx(whole.objective, rel=1e-9)
    assert abs(found.bound - whole.bound) <= 2e-6 * abs(whole.objective)
    assert max(found.bound, whole.bound) <= min(found.objective, whole.objective) + 1e-9 * abs(whole.objective)
    assert found.solution.max_violation <= 1e-8
    return True


@pytest.mark.parametrize("seed", range(12))
def test_optima_are_those_of_a_tree_without_them(seed):
    problem = draw(seed)
    found, plain = solve(problem), solve(problem, node_bounds=False)
    assert found.success and plain.success
    assert found.objective == pytest.approx(plain.objective, rel=3e-6)
    # neither bound lies above a point of the other's
    assert max(found.bound, plain.bound) <= min(found.objective, plain.objective) + 1e-9 * abs(plain.objective)


def test_they_are_counted_and_can_be_switched_off():
    problem = draw(1)
    found, plain = solve(problem), solve(problem, node_bounds=False)
    assert found.profile["node_bounds"].calls > 0 and plain.profile["node_bounds"] == Activity()
    assert found.profile["node_bounds"].seconds > 0
    assert found.n_nodes < plain.n_nodes


def test_forms_and_few_variables_have_none():
    few = draw(0, n=4)
    rounded = draw(0)
    rounded = BiconvexProblem(
        rounded.c, Q=rounded.Q + np.eye(16), A=rounded.A, row_upper=rounded.row_upper, lower=0, upper=2
    )
    for problem in (few, rounded):
        assert solve(problem).profile["node_bounds"] == Activity()


def test_threads_make_the_same_tree():
    problem = draw(1)
    with gopfast.settings(lifted_inequalities=False):
        one, two = (gopfast.solve(problem, log=False, n_threads=n) for n in (1, 2))
    assert one.n_nodes == two.n_nodes and one.bound == two.bound


@pytest.mark.parametrize("value", [np.nan, np.inf, -5.0, 1e30, 2.0])
def test_any_programs_may_be_put_off(value, tmp_path):
    """What a file says of programs that are put off may be anything: they come later, or not, and bounds hold."""
    problem, path = draw(1), tmp_path / "search.checkpoint"
    whole = solve(problem)
    with gopfast.settings(lifted_inequalities=False):
        gopfast.solve(problem, checkpoint=path, max_nodes=40, **OPTIONS)
        reader = files.Reader(path)
        header, state, nodes = reader.header, reader.part("state."), reader.part("nodes0.")
        reader.close()
        waits = nodes["warm"][:, -2 * problem.n_variables :]
        assert np.isin(waits, [0, 1, 2]).all() and 0 < (waits > 0).mean() < 1
        waits[:] = value
        files.write(str(path), header, [("state.", state), ("nodes0.", nodes)])
        found = gopfast.resume(path, problem, **OPTIONS)
    assert same(found, whole) and found.profile["node_bounds"].calls > 40


# Workers


@pytest.fixture
def by_work_alone(monkeypatch):
    """Parts are handed out at once and end with their work, whatever the clock says: counts are exact."""
    monkeypatch.setattr(distributed, "ALONE", 0.0)
    monkeypatch.setattr(distributed, "PART", 600.0)
    monkeypatch.setattr(distributed, "SHORT_PART", 600.0)


# with lifted inequalities workers have those that the root has chosen: few trees are left to be divided then
DIVIDED = {
    "plain": (draw(1), False),
    "closed": (draw(0, n=10, m=8), False),
    "lifted": (draw(0, n=14, m=8, share=0.5), True),
}


@pytest.mark.parametrize("name", DIVIDED)
@pytest.mark.parametrize("fails", [(), (2, 5)])
def test_workers_prove_the_same(name, fails, by_work_alone):
    """Whose programs are counted, those of parts that are lost once they are done again."""
    problem, lifted = DIVIDED[name]
    whole, executor = solve(problem, lifted_inequalities=lifted), Inline(fails)
    found = solve(problem, executor, lifted_inequalities=lifted)
    assert same(found, whole) and executor.n_parts >= 4 + len(fails)
    of_parts = sum(part["work"][METERED.index(NodeBounds)][0] for part in executor.found)
    # most of the tree, and of the programs, is theirs
    assert sum(part["n_nodes"] for part in executor.found) > whole.n_nodes / 2
    assert found.profile["node_bounds"].calls / 2 < of_parts < found.profile["node_bounds"].calls
    # parts hear of no better point of another's, and there is none: the nodes are those of one tree
    assert found.n_nodes == whole.n_nodes
    for of in ("calls", "nodes_closed"):
        assert getattr(found.profile["node_bounds"], of) == getattr(whole.profile["node_bounds"], of)


@pytest.mark.parametrize("make", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_workers_at_once_prove_the_same(make, monkeypatch):
    monkeypatch.setattr(distributed, "ALONE", 0.0)
    problem, _ = DIVIDED["plain"]
    with make(2) as executor:
        found = solve(problem, executor)
    assert same(found, solve(problem)) and found.profile["node_bounds"].calls > 50
    # one tree less than 200 nodes large; what several bound at once depends on who comes first
    assert found.n_nodes <= 1000


def test_workers_without_them_have_none(by_work_alone):
    problem, _ = DIVIDED["plain"]
    executor = Inline()
    found = solve(problem, executor, node_bounds=False)
    assert same(found, solve(problem)) and executor.n_parts > 1
    assert found.profile["node_bounds"] == Activity()
