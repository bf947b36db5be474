"""Groups in which forms are convex: found where there are some, kept where they are given."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.settings import examples

import gopfast
from gopfast import BiconvexProblem, InputError
from gopfast.biconvex import forms, grouping
from gopfast.biconvex.lifting import Lifting


def hidden_groups(seed, n):
    """A form, not convex, whose blocks are convex in two groups unknown to the solver."""
    rng = np.random.default_rng(seed)
    side = rng.permutation(np.arange(n) % 2)
    Q = rng.integers(-4, 5, (n, n)).astype(float)
    Q = Q + Q.T
    for s in (0, 1):
        G = rng.integers(-2, 3, (n, n)).astype(float)[np.ix_(side == s, side == s)]
        Q[np.ix_(side == s, side == s)] = G @ G.T + 0.1 * np.eye(len(G))
    return Q, side


def form_of(Q):
    n = len(Q)
    return {(i, j): Q[i, j] * (1 if i == j else 2) for i in range(n) for j in range(i, n) if Q[i, j]}


@examples(60)
@given(st.integers(0, 10**6), st.integers(2, 8))
def test_every_block_is_convex_where_there_are_such_groups(seed, n):
    Q, _ = hidden_groups(seed, n)
    colour = grouping.find([form_of(Q)], [], {})
    sides = np.array([colour[i] for i in range(n)])
    for s in (0, 1):
        block = Q[np.ix_(sides == s, sides == s)]
        assert not block.size or np.linalg.eigvalsh(block)[0] >= -1e-10


def test_products_of_other_rows_and_given_groups_are_kept():
    Q = np.array([[2.0, 0.1, 3.0], [0.1, 2.0, 0.1], [3.0, 0.1, 2.0]])
    colour = grouping.find([form_of(Q)], [(0, 1)], {2: 0})
    assert (colour[0], colour[1], colour[2]) == (1, 0, 0)


def test_convex_blocks_of_given_groups_need_no_copies():
    # convex in (z0, z1) and in (z2, z3), with products across
    Q = np.array([[2.0, 1, 1, -3], [1, 2, 2, 0], [1, 2, 1, 0.5], [-3, 0, 0.5, 1]])
    problem = BiconvexProblem(np.zeros(4), Q=Q, lower=-1, upper=1, x=[0, 1], y=[2, 3])
    lifting = Lifting(problem)
    assert not lifting.copies and len(lifting.objective.forms) == 2
    assert lifting.products == [(0, 2), (0, 3), (1, 2)]
    with pytest.raises(InputError, match="x must not hold both"):
        Lifting(BiconvexProblem(np.zeros(4), Q=Q, lower=-1, upper=1, x=[0, 3], y=[1, 2]))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("sense", ["min", "max"])
def test_bounds_bracket_a_search_from_many_starts(seed, sense):
    Q, side = hidden_groups(seed, 4)
    c = np.random.default_rng(seed).integers(-5, 6, 4).astype(float)
    sign = 1 if sense == "min" else -1
    problem = BiconvexProblem(
        sign * c, Q=sign * Q, lower=-2, upper=2, sense=sense, A=[[1, 1, 1, 1]], row_upper=2,
        quadratic_rows=[(np.eye(4), None, None, 8.0)],
    )  # fmt: skip
    result = gopfast.solve(problem, n_threads=1, time_limit=30)
    assert result.success and not result.notes
    grid = np.stack(np.meshgrid(*[np.linspace(-2, 2, 25)] * 4, indexing="ij"), axis=-1).reshape(-1, 4)
    grid = grid[(grid.sum(axis=1) <= 2) & ((grid**2).sum(axis=1) <= 8)]
    best = ((grid @ Q) * grid).sum(axis=1) + grid @ c
    assert sign * result.bound <= best.min() + 1e-9
    assert sign * result.objective <= best.min() + 1e-6 * abs(best.min())
    assert problem.objective(result.solution.z) == pytest.approx(result.objective, rel=1e-6)


@examples(60)
@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from([-1.0, -1e-9, 0.0, 1e-9, 1.0]))
def test_elimination_says_of_a_matrix_what_its_eigenvalues_say(seed, n, shift):
    root = np.random.default_rng(seed).integers(-3, 4, (n, n)).astype(float)
    matrix = root.T @ root
    size = max(1.0, abs(matrix).max())
    matrix = matrix + (shift * size - np.linalg.eigvalsh(matrix)[0]) * np.eye(n)  # the least one is `shift`
    assert forms.is_nearly_semidefinite(0.5 * (matrix + matrix.T)) == (shift >= 0)
