"""Reference optima of small bilinear programs by SciPy's linear programs; shares no code with the solver.

With the x variables fixed a bilinear program is linear in the rest. Its value is looked for on a grid of the x's box,
refined around the best points: every value found is attained, so the global minimum is at most that.
"""

import itertools

import numpy as np
from scipy.optimize import linprog


def attained(problem, n_x, n_grid=9, n_refinements=8, n_kept=3):
    """Least objective found (inf: no grid point has a feasible rest) of a minimised problem; x is z[:n_x], in a box."""
    low, high = problem.lower[:n_x], problem.upper[:n_x]
    cells, best = [(low, high)], np.inf
    for _ in range(n_refinements):
        values = []
        for a, b in cells:
            for x in itertools.product(*(np.linspace(p, q, n_grid) for p, q in zip(a, b, strict=True))):
                values.append((fixed_value(problem, np.array(x)), x, (b - a) / (n_grid - 1)))
        values.sort(key=lambda entry: entry[0])
        best = min(best, values[0][0])
        cells = [(np.maximum(low, x - step), np.minimum(high, x + step)) for _, x, step in values[:n_kept]]
    return best


def fixed_value(problem, x):
    """Least objective with the first variables fixed; inf: infeasible, -inf: unbounded."""
    k, n = len(x), problem.n_variables
    rows = [(problem.A.toarray()[i], None, problem.row_lower[i], problem.row_upper[i])
            for i in range(problem.A.shape[0])]
    rows += [(row.a, row.Q.toarray(), row.lower, row.upper) for row in problem.quadratic_rows]
    upper, upper_rhs, equal, equal_rhs = [], [], [], []
    for a, Q, lo, hi in rows:
        rest, constant = reduce(a, Q, x)
        if lo == hi:
            equal.append(rest)
            equal_rhs.append(lo - constant)
            continue
        if np.isfinite(hi):
            upper.append(rest)
            upper_rhs.append(hi - constant)
        if np.isfinite(lo):
            upper.append(-rest)
            upper_rhs.append(constant - lo)
    cost, constant = reduce(problem.c, problem.Q.toarray(), x)
    if n == k:
        feasible = all(b >= -1e-12 for b in upper_rhs) and all(abs(b) <= 1e-12 for b in equal_rhs)
        return constant + problem.constant if feasible else np.inf
    answer = linprog(
        cost, upper or None, upper_rhs or None, equal or None, equal_rhs or None,
        bounds=np.column_stack([problem.lower[k:], problem.upper[k:]]),
    )  # fmt: skip
    if answer.status == 3:
        return -np.inf
    return answer.fun + constant + problem.constant if answer.status == 0 else np.inf


def reduce(a, Q, x):
    """Coefficients of the rest and constant of a'z + z'Qz with the first variables at x; no products in the rest."""
    k = len(x)
    rest, constant = np.array(a[k:], dtype=float), float(a[:k] @ x)
    if Q is not None:
        assert not Q[k:, k:].any()
        rest += 2.0 * Q[k:, :k] @ x
        constant += float(x @ Q[:k, :k] @ x)
    return rest, constant
