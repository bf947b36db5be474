"""Linear programs for bounds of variables in nodes: smaller trees with the same optima, and bounds that hold."""

import numpy as np
import pytest

import gopfast
from gopfast import BiconvexProblem
from gopfast.profile import Activity

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


def solve(problem, **options):
    """Without lifted inequalities, so that there is a tree."""
    with gopfast.settings(lifted_inequalities=False, **options):
        return gopfast.solve(problem, **OPTIONS)


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
