"""Semidefinite cuts of quadratic programs over boxes: tighter, never above the optimum, which faces give exactly."""

import itertools

import numpy as np
import pytest
from gopfast.biconvex.alternating import AlternatingPrimal
from gopfast.biconvex.bilinear import BilinearRelaxation
from gopfast.search.search import Search

import gopfast
from gopfast import BiconvexProblem
from gopfast.biconvex import moments
from gopfast.biconvex.lifting import Lifting
from gopfast.profile import Activity


def draw(seed, n=5):
    """An indefinite Q, a linear term and bounds off 0, some of them of other magnitudes."""
    rng = np.random.default_rng(seed)
    Q = np.triu(rng.integers(-9, 10, (n, n))).astype(float)
    Q[0, 0] = -5.0
    lower = rng.integers(-3, 2, n).astype(float)
    unit = 2.0 ** rng.integers(-8, 9, n) if seed % 2 else np.ones(n)
    upper = lower + rng.integers(1, 4, n)
    return Q / np.outer(unit, unit), rng.integers(-9, 10, n) / unit, lower * unit, upper * unit


def sparse(seed, n=6):
    """The same with the products of a ring, one chord and all squares, of the wrong sign for the most part."""
    Q, c, lower, upper = draw(seed, n)
    edges = np.eye(n, dtype=bool)
    for i, j in [(i, (i + 1) % n) for i in range(n)] + [(0, 2)]:
        edges[min(i, j), max(i, j)] = True
    np.fill_diagonal(Q, -np.abs(Q.diagonal()))
    return np.where(edges, Q, 0.0), c, lower, upper


def optimum(Q, c, lower, upper):
    """The least stationary point of all faces of the box: value and point."""
    n, best = len(c), (np.inf, None)
    for sides in itertools.product((0, 1, 2), repeat=n):
        z = np.where(np.array(sides) == 0, lower, upper)
        free = [i for i in range(n) if sides[i] == 2]
        if free:
            z[free] = 0.0
            H = Q + Q.T
            step = np.linalg.lstsq(H[np.ix_(free, free)], -(c + H @ z)[free], rcond=None)[0]
            z[free] = np.clip(step, lower[free], upper[free])
        best = min(best, (c @ z + z @ Q @ z, z), key=lambda entry: entry[0])
    return best


def core(problem):
    lifting = Lifting(problem)
    return lifting, *lifting.data(lifting.low, lifting.high)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", [draw, sparse])
def test_the_root_bound_rises_and_stays_below_the_optimum(seed, kind):
    Q, c, lower, upper = kind(seed)
    value, _ = optimum(Q, c, lower, upper)
    _, data, _, unit = core(BiconvexProblem(c, Q=Q, lower=lower, upper=upper))
    # all variables, or of few products cliques and pairs
    assert data.n_moments > (4 if kind is sparse else 0)
    # the first of these has no cuts; no cutoff, so that neither is clipped
    without, cut = (BilinearRelaxation(data).bound_box(*data.box, root_sweeps=sweeps)[0] * unit for sweeps in (0, 1))
    assert without <= cut <= value + 1e-12 * abs(value)


def test_cuts_close_most_of_the_gap_of_a_dense_program():
    rng = np.random.default_rng(0)
    Q = np.triu(rng.integers(-50, 51, (12, 12))).astype(float)
    problem = BiconvexProblem(rng.integers(-50, 51, 12), Q=Q, lower=0, upper=1)
    _, data, _, unit = core(problem)
    without, cut = (BilinearRelaxation(data).bound_box(*data.box, root_sweeps=sweeps)[0] * unit for sweeps in (0, 1))
    value = gopfast.solve(problem, n_threads=1).objective
    assert value - cut < 0.25 * (value - without)


def assert_no_node_is_bounded_above(data, best, limit):
    """Search for more than there is, with an audit of the nodes that hold a known solution."""
    search = Search(
        BilinearRelaxation(data), AlternatingPrimal(data, [best], best), -0.01 * (1 + abs(limit)), rel_tol=-1e9,
        max_nodes=200, known=(best, limit),
    )  # fmt: skip
    search.run()
    assert search.n_nodes > 20 and search.n_audit_failures == 0 and search.least_bound <= limit


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", [draw, sparse])
def test_no_node_with_the_roots_cuts_is_bounded_above_the_optimum(seed, kind):
    Q, c, lower, upper = kind(seed)
    value, point = optimum(Q, c, lower, upper)
    lifting, data, scale, unit = core(BiconvexProblem(c, Q=Q, lower=lower, upper=upper))
    best = (point / scale)[lifting.order]
    limit = value / unit + 1e-12 * abs(value / unit)
    assert_no_node_is_bounded_above(data, best, limit)


@pytest.mark.parametrize("seed", range(8))
def test_dense_programs_are_solved_to_the_optimum_of_their_faces(seed):
    Q, c, lower, upper = draw(seed, 4)
    value, _ = optimum(Q, c, lower, upper)
    for options in ({}, {"branching": "orthant"}, {"relaxation": "linear", "subproblem": "milp"}):
        result = gopfast.solve(BiconvexProblem(c, Q=Q, lower=lower, upper=upper), n_threads=1, **options)
        assert result.success and result.objective == pytest.approx(value, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("seed", range(12))
def test_sets_are_the_cliques_of_a_chordal_graph(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 15))
    pairs = {(int(min(i, j)), int(max(i, j))) for i, j in rng.integers(0, n, (n, 2)) if i != j}
    members = sorted({i for pair in pairs for i in pair})
    sets, found = moments.sets_of(members, [*pairs, *((i, i) for i in members)])
    if sets == [members]:
        assert len(pairs) >= 0.7 * len(members) * (len(members) - 1) / 2
        return
    # pairs that are cliques of their own are not told twice
    assert sorted(map(tuple, [*found, *(own for own in sets if len(own) == 2)])) == sorted(pairs)
    cliques = [set(own) for own in sets] + [set(own) for own in found]
    edges = {frozenset(pair) for own in cliques for pair in itertools.combinations(own, 2)}
    # a variable whose neighbours are all neighbours of each other can be taken out, again and again
    left = set(members)
    while left:
        around = {i: {j for j in left if frozenset((i, j)) in edges} for i in left}
        simplicial = [i for i in left if all(frozenset(e) in edges for e in itertools.combinations(around[i], 2))]
        assert simplicial
        left.remove(simplicial[0])


def test_large_cliques_are_left_to_pairs():
    n = 40
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if (i + j) % 3 == 0]
    sets, found = moments.sets_of(list(range(n)), pairs)
    assert sets == [] and len(found) == len(pairs)


def rotors(seed, n):
    """Unit vectors (x_i, y_i) in a ring, each with its neighbours and a field."""
    rng = np.random.default_rng(seed)
    Q, rows = np.zeros((2 * n, 2 * n)), []
    for i in range(n):
        j, coupling = (i + 1) % n, float(rng.integers(1, 10))
        circle = np.zeros((2 * n, 2 * n))
        for k in (0, n):
            Q[min(i, j) + k, max(i, j) + k] = coupling
            circle[i + k, i + k] = 1.0
        rows.append((circle, np.zeros(2 * n), 1.0, 1.0))
    return BiconvexProblem(rng.integers(-2, 3, 2 * n).astype(float), Q=Q, quadratic_rows=rows, lower=-1, upper=1)


@pytest.mark.parametrize("seed", range(12))
def test_cuts_of_cliques_close_the_gap_of_rotors_and_no_more(seed):
    n, rng = 4 + seed % 3, np.random.default_rng(seed)
    problem = rotors(seed, n)
    _, data, _, unit = core(problem)
    assert data.n_moments >= 3 * n
    without, cut = (BilinearRelaxation(data).bound_box(*data.box, root_sweeps=sweeps)[0] * unit for sweeps in (0, 1))
    # descents over the angles, by other means
    angles, best = rng.uniform(0.0, 2 * np.pi, (300, n)), np.inf
    Q, c = problem.Q.toarray() + problem.Q.toarray().T, problem.c
    for _ in range(2000):
        z = np.hstack([np.cos(angles), np.sin(angles)])
        best = min(best, (z @ c + 0.5 * np.einsum("si,ij,sj->s", z, Q, z)).min())
        slope = z @ Q + c
        angles -= 0.01 * (slope[:, n:] * z[:, :n] - slope[:, :n] * z[:, n:])
    assert without <= cut <= best + 1e-9 * abs(best)
    assert best - cut < 0.02 * (best - without)


@pytest.mark.parametrize("seed", range(6))
def test_no_node_of_rotors_is_bounded_above_the_optimum(seed):
    problem = rotors(seed, 4)
    point = gopfast.solve(problem, n_threads=1, log=False).solution.z
    lifting, data, scale, unit = core(problem)
    best = (point / scale)[lifting.order]
    limit = problem.objective(point) / unit
    limit += 1e-9 * abs(limit)
    assert_no_node_is_bounded_above(data, best, limit)


def test_cuts_are_counted_and_can_be_switched_off():
    problem = rotors(0, 4)
    usual = gopfast.solve(problem, n_threads=1, log=False)
    with gopfast.settings(semidefinite_cuts=False):
        plain = gopfast.solve(problem, n_threads=1, log=False)
    assert usual.success and plain.success and usual.objective == pytest.approx(plain.objective, abs=1e-4)
    assert usual.profile["semidefinite_cuts"].calls > 0 and usual.profile["semidefinite_cuts"].seconds > 0
    assert plain.profile["semidefinite_cuts"] == Activity() and plain.n_nodes > usual.n_nodes


def test_variables_in_two_groups_have_no_moments():
    Q = np.zeros((6, 6))
    Q[:3, 3:] = 1.0
    assert core(BiconvexProblem(np.ones(6), Q=Q, lower=0, upper=1))[1].n_moments == 0
