"""Lifted rows of the root are taken as solutions violate them: the bound is that of the program with all of them."""

import numpy as np
import pytest
from gopfast.biconvex.bilinear import BilinearRelaxation
from scipy.optimize import linprog

from gopfast import BiconvexProblem
from gopfast.biconvex.lifting import Lifting


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
