"""Lifted rows of the root are taken as solutions violate them: the bound is that of the program with all of them."""

import numpy as np
import pytest
from gopfast.biconvex.bilinear import BilinearRelaxation
from scipy.optimize import linprog

import gopfast
from gopfast import BiconvexProblem
from gopfast.biconvex import lifting
from gopfast.biconvex.lifting import Lifting
from gopfast.profile import Activity


def draw(seed, n=4, m=3):
    """min x'C y + c'(x, y) over A x <= a, B y <= b in [0, 2]^n each."""
    rng = np.random.default_rng(seed)
    C = rng.integers(-9, 10, (n, n)).astype(float)
    C[C == 0] = 1.0  # every product is there, so that lifted rows add none
    A, B = rng.integers(-3, 6, (2, m, n)).astype(float)
    a, b = rng.integers(2, 9, (2, m)).astype(float)
    return C, rng.integers(-5, 6, 2 * n).astype(float), A, a, B, b


def with_all_rows(C, c, A, a, B, b, reach=2.0):
    """The linear program with McCormick's rows and every row times every distance from a bound."""
    n, m = len(C), len(a)
    N = 2 * n + n * n
    rows, limits = [], []

    def w(i, j):
        return 2 * n + n * i + j

    def add(row, limit):
        rows.append(row)
        limits.append(limit)

    for i in range(n):
        for j in range(n):
            # -w <= 0, -w + u x + u y <= u^2, w <= u x, w <= u y
            for sign, of_x, of_y, limit in ((-1, 0, 0, 0), (-1, reach, reach, reach**2), (1, -reach, 0, 0),
                                            (1, 0, -reach, 0)):  # fmt: skip
                row = np.zeros(N)
                row[w(i, j)], row[i], row[n + j] = sign, of_x, of_y
                add(row, limit)
    for M, limit, own, other in ((A, a, 0, n), (B, b, n, 0)):
        for k in range(m):
            row = np.zeros(N)
            row[own : own + n] = M[k]
            add(row, limit[k])
            for j in range(n):
                # (limit - M z) t >= 0 and (limit - M z) (u - t) >= 0
                lower = np.zeros(N)
                for i in range(n):
                    lower[w(i, j) if own == 0 else w(j, i)] = M[k, i]
                lower[other + j] = -limit[k]
                add(lower, 0.0)
                add(reach * row - lower, reach * limit[k])
    return linprog(np.concatenate([c, C.ravel()]), A_ub=np.array(rows), b_ub=limits,
                   bounds=[(0, reach)] * 2 * n + [(None, None)] * n * n)  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_is_that_of_all_lifted_rows(seed):
    C, c, A, a, B, b = draw(seed)
    n = len(C)
    Q, rows = np.zeros((2 * n, 2 * n)), np.block([[A, 0 * A], [0 * B, B]])
    Q[:n, n:] = C
    limits = np.concatenate([a, b])
    none = np.full(len(limits), -np.inf)
    problem = BiconvexProblem(c, Q=Q, A=rows, row_lower=none, row_upper=limits, lower=0, upper=2)
    lifting = Lifting(problem)
    data, _, unit = lifting.data(lifting.low, lifting.high)
    assert data.n_lifted == 4 * len(a) * n
    expected = with_all_rows(C, c, A, a, B, b)
    assert expected.status == 0
    rng = np.random.default_rng(seed)
    cloud = 2 * rng.random((2000, 1)) * rng.random((2000, 2 * n))  # towards 0, which is feasible
    least = min(problem.objective(z) for z in cloud if (rows @ z <= limits).all())
    without, _, _ = lifting.data(lifting.low, lifting.high, lifted=False)
    assert BilinearRelaxation(without).bound_box(*without.box)[0] * unit <= least
    relaxation = BilinearRelaxation(data)
    for _ in range(2):  # the second time as well
        bound = relaxation.bound_box(*data.box)[0] * unit
        # propagation tightens the box, so that it may be better
        assert expected.fun - 1e-5 * (1 + abs(expected.fun)) <= bound <= least


def low_rank(seed, n=30, rank=3, m=15):
    """min c'x + sum p_k q_k with p_k = a_k'x and q_k = b_k'x over a polytope: few products, and x in none of them."""
    rng = np.random.default_rng(seed)
    rows, most = rng.integers(-3, 8, (m, n)).astype(float), rng.integers(10, 30, m) * n / 10.0
    factors = rng.integers(-5, 6, (2 * rank, n)).astype(float)
    size = n + 2 * rank
    Q = np.zeros((size, size))
    Q[np.arange(n, n + rank), np.arange(n + rank, size)] = 1.0
    A = np.vstack([np.hstack([rows, np.zeros((m, 2 * rank))]), np.hstack([factors, -np.eye(2 * rank)])])
    ends = 10 * np.minimum(factors, 0).sum(axis=1), 10 * np.maximum(factors, 0).sum(axis=1)
    return BiconvexProblem(
        np.append(rng.integers(-9, 10, n), np.zeros(2 * rank)), Q=Q, A=A,
        row_lower=np.append(np.full(m, -np.inf), np.zeros(2 * rank)), row_upper=np.append(most, np.zeros(2 * rank)),
        lower=np.append(np.zeros(n), ends[0]), upper=np.append(np.full(n, 10.0), ends[1]),
    )  # fmt: skip


def test_rows_with_several_variables_in_no_product_are_not_lifted():
    problem = low_rank(0)
    data, _, _ = Lifting(problem).data(problem.lower, problem.upper)
    assert data.n_products == 3


@pytest.mark.parametrize("most_alone", [lifting.MOST_ALONE, 1000], ids=["few rows lifted", "all rows lifted"])
def test_what_lifted_rows_have_in_place_of_a_product_does_not_hide_where_to_divide(most_alone, monkeypatch):
    # while a product's weight was that of the Lagrangian with such rows it was about 0: 1,101 nodes for 149 and 111
    monkeypatch.setattr(lifting, "MOST_ALONE", most_alone)
    result = gopfast.solve(low_rank(1), epsilon=1e-6, rel_tol=1e-6, n_threads=1, time_limit=120)
    assert result.success
    assert result.n_nodes < 300


def test_lifted_inequalities_are_counted_and_can_be_switched_off():
    C, c, A, a, B, b = draw(0)
    n, limits = len(C), np.concatenate([a, b])
    Q, rows = np.zeros((2 * n, 2 * n)), np.block([[A, 0 * A], [0 * B, B]])
    Q[:n, n:] = C
    problem = BiconvexProblem(c, Q=Q, A=rows, row_upper=limits, lower=0, upper=2)
    usual = gopfast.solve(problem, n_threads=1, log=False)
    with gopfast.settings(lifted_inequalities=False):
        plain = gopfast.solve(problem, n_threads=1, log=False)
    assert usual.success and plain.success and usual.objective == pytest.approx(plain.objective, rel=3e-6)
    assert usual.profile["lifted_inequalities"].calls > 0 and usual.profile["lifted_inequalities"].seconds > 0
    assert plain.profile["lifted_inequalities"] == Activity() and plain.n_nodes >= usual.n_nodes
