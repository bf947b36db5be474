"""Rows that say that one of two terms vanishes: optima against all combinations, each a linear program."""

import itertools

import numpy as np
import pytest
from gopfast.biconvex.alternating import AlternatingPrimal
from gopfast.biconvex.bilinear import BilinearRelaxation
from gopfast.search.search import Search
from scipy.optimize import linprog

import gopfast
from gopfast import BiconvexProblem
from gopfast.biconvex.lifting import Lifting

INF = np.inf
KINDS = ("factors", "sum", "negative sum", "bounded", "mixed signs")


def draw(seed, kind):
    """A problem, and the pairs of terms (row of coefficients, constant) of which one vanishes."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    n, m = 6, 3
    A, r = rng.integers(-3, 5, (m, n)).astype(float), rng.integers(2, 12, m).astype(float)
    c = rng.integers(-6, 7, n).astype(float)
    lower, upper = np.zeros(n), np.where(np.arange(n) < 2, 8.0, INF)
    if kind == "bounded":
        upper = np.full(n, 9.0)
    if kind == "mixed signs":
        lower = np.where(np.arange(n) < 2, -8.0, -INF)
    quadratic, pairs, eye = [], [], np.eye(n)
    if kind in ("sum", "negative sum"):
        Q, sign = np.zeros((n, n)), 1.0 if kind == "sum" else -1.0
        Q[2, 3], Q[4, 5] = sign, 3 * sign
        quadratic.append((Q, None, *((-INF, 0.0) if sign > 0 else (0.0, INF))))
        pairs += [((eye[2], 0.0), (eye[3], 0.0)), ((eye[4], 0.0), (eye[5], 0.0))]
    else:
        for k in range(m):
            # z_{2 + k} (r - A z) = 0
            Q = np.zeros((n, n))
            Q[2 + k] = -A[k]
            quadratic.append((Q, r[k] * eye[2 + k], 0.0, 0.0))
            pairs.append(((eye[2 + k], 0.0), (-A[k], r[k])))
    arguments = {"A": A, "row_lower": np.full(m, -INF), "row_upper": r}
    return BiconvexProblem(c, quadratic_rows=quadratic, lower=lower, upper=upper, **arguments), pairs


def optimum(problem, pairs):
    """Least objective and its point over all choices of what vanishes; -inf where a choice is unbounded."""
    best, at = INF, None
    for choice in itertools.product((0, 1), repeat=len(pairs)):
        sides = [pair[side] for pair, side in zip(pairs, choice, strict=True)]
        found = linprog(
            problem.c, A_ub=problem.A.toarray(), b_ub=problem.row_upper, A_eq=np.array([a for a, _ in sides]),
            b_eq=[-constant for _, constant in sides], bounds=list(zip(problem.lower, problem.upper, strict=True)),
            options={"presolve": False},  # which does not tell infeasible from unbounded
        )  # fmt: skip
        if found.status == 3:
            return -INF, None
        if found.status == 0 and found.fun < best:
            best, at = found.fun, found.x
    return best, at


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_optima_are_those_of_the_best_combination(kind, seed):
    problem, pairs = draw(seed, kind)
    assert len(Lifting(problem).switches) == len(pairs)
    value, _ = optimum(problem, pairs)
    result = gopfast.solve(problem, n_threads=1, max_nodes=500)
    if value == -INF:
        assert result.status in ("UNBOUNDED", "NUMERICAL", "NODE_LIMIT") and result.bound == -INF
    elif value == INF:
        assert result.status == "INFEASIBLE"
    else:
        assert result.status == "OPTIMAL" and result.bound <= value + 1e-9 * max(1, abs(value))
        assert result.objective == pytest.approx(value, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_no_node_is_bounded_above_the_optimum_and_the_tree_keeps_it(kind, seed):
    problem, pairs = draw(seed, kind)
    value, point = optimum(problem, pairs)
    if point is None:
        pytest.skip("no optimum")
    point = np.where(abs(point) < 1e-12, 0.0, point)
    lifting = Lifting(problem)
    data, scale, unit = lifting.data(lifting.low, lifting.high)
    core = lifting.to_core(point, scale)
    assert data.n_switches == len(pairs) and abs(core[: len(pairs)]).min() == 1
    limit = value / unit + 1e-9 * (1 + abs(value / unit))
    search = Search(
        BilinearRelaxation(data), AlternatingPrimal(data, [core], core), -0.1 * (1 + abs(limit)), rel_tol=-1e9,
        max_nodes=100, known=(core, limit),
    )  # fmt: skip
    search.run()
    assert search.n_audit_failures == 0 and search.least_bound <= limit


def test_rows_that_leave_a_choice_are_no_complementarity():
    Q = np.zeros((3, 3))
    Q[0, 1] = 1.0
    for row in ((Q, None, 0.0, 1.0), (Q, [0.0, 0, 1], 0.0, 0.0), (Q, None, 1.0, 1.0), (Q, None, 0.0, INF)):
        problem = BiconvexProblem(np.ones(3), quadratic_rows=[row], lower=0, upper=4)
        assert Lifting(problem).switches == []
    # a sum of products of unlike signs, and one of a variable of either sign
    Q[1, 2] = -1.0
    assert Lifting(BiconvexProblem(np.ones(3), quadratic_rows=[(Q, [0.0, 0, 1], 0, 0)], lower=0)).switches == []
    assert Lifting(BiconvexProblem(np.ones(3), quadratic_rows=[(abs(Q), None, -INF, 0)], lower=-1)).switches == []


def test_a_variable_that_cannot_vanish_decides_the_switch():
    Q = np.array([[0.0, 1, 0], [0, 0, 1], [0, 0, 0]])  # z1 (z0 + z2) = 0
    problem = BiconvexProblem([1.0, 1, -1], quadratic_rows=[(Q, None, 0.0, 0.0)], lower=[-3, 1, -9], upper=[5, INF, 2])
    result = gopfast.solve(problem, n_threads=1)
    # z0 = -z2, z1 = 1: the least of 1 - 2 z2
    assert result.status == "OPTIMAL" and result.objective == pytest.approx(-3, abs=1e-6) and result.n_nodes <= 3


def test_orthants_branch_on_no_switch():
    problem, pairs = draw(0, "bounded")
    value, _ = optimum(problem, pairs)
    for options in ({"branching": "orthant"}, {"partition": "paper", "relaxation": "linear"}):
        result = gopfast.solve(problem, n_threads=1, time_limit=5, **options)
        assert result.bound <= value + 1e-7 and result.objective == pytest.approx(value, abs=1e-4)


@pytest.mark.parametrize("upper", [5.0, INF])
def test_products_that_no_switch_decides_are_searched_beside_them(upper):
    # z0 z1 >= 1 costs 2 at (1, 1); z2 z3 = 0 and z2 + z3 >= 1 cost 2 or 3
    bilinear, switch = np.zeros((2, 4, 4))
    bilinear[0, 1] = switch[2, 3] = 1.0
    problem = BiconvexProblem(
        [1, 1, 3, 2], A=[[0, 0, 1, 1]], row_lower=1, lower=0, upper=upper,
        quadratic_rows=[(bilinear, None, 1.0, INF), (switch, None, 0.0, 0.0)],
    )  # fmt: skip
    lifting = Lifting(problem)
    assert len(lifting.switches) == 1 and lifting.essential == {0, 1}
    result = gopfast.solve(problem, n_threads=1, max_nodes=2000)
    assert result.status == "OPTIMAL" and result.bound <= 4 and result.objective == pytest.approx(4, abs=1e-5)
