"""Linear programs solved in rationals: what optimum and status they have."""

from fractions import Fraction


def solve(c, rows, lower, upper):
    """
    Minimise c'z subject to a'z <= b for every row (a, b) and bounds, None where there is none; all of Fractions.

    Returns
    -------
    str, Fraction or None
        "optimal" and the optimum, "infeasible" or "unbounded". By the two-phase simplex method with Bland's rule.
    """
    n = len(c)
    # z = shift + sum of parts >= 0
    parts, shift, extra = [], [Fraction(0)] * n, []
    for i, (low, high) in enumerate(zip(lower, upper, strict=True)):
        if low is not None:
            shift[i] = low
            parts.append((i, 1))
            if high is not None:
                extra.append(([Fraction(int(j == i)) for j in range(n)], high))
        elif high is not None:
            shift[i] = high
            parts.append((i, -1))
        else:
            parts += [(i, 1), (i, -1)]
    rows = [*rows, *extra]
    k, m = len(parts), len(rows)
    table = []
    for r, (a, b) in enumerate(rows):
        rest = b - sum((x * s for x, s in zip(a, shift, strict=True)), Fraction(0))
        line = [sign * a[i] for i, sign in parts] + [Fraction(int(r == t)) for t in range(m)] + [rest]
        table.append(line)
    basis = [k + r for r in range(m)]
    # one artificial variable for the rows that the origin violates
    if any(line[-1] < 0 for line in table):
        for line in table:
            line.insert(k + m, Fraction(-1))
        worst = min(range(m), key=lambda r: table[r][-1])
        phase = [Fraction(0)] * (k + m) + [Fraction(1), Fraction(0)]
        _pivot(table, phase, basis, worst, k + m)
        _run(table, phase, basis, k + m + 1)
        if -phase[-1] > 0:
            return "infeasible", None
        if k + m in basis:
            r = basis.index(k + m)
            column = next((j for j in range(k + m) if table[r][j]), None)
            if column is not None:
                _pivot(table, phase, basis, r, column)
        for line in table:
            line[k + m] = Fraction(0)
            del line[k + m]
    cost = [sign * c[i] for i, sign in parts] + [Fraction(0)] * (m + 1)
    for r, j in enumerate(basis):
        if j < k and cost[j]:
            factor = cost[j]
            cost = [x - factor * y for x, y in zip(cost, table[r], strict=True)]
    if not _run(table, cost, basis, k + m):
        return "unbounded", None
    return "optimal", sum((x * s for x, s in zip(c, shift, strict=True)), Fraction(0)) - cost[-1]


def _run(table, cost, basis, n_columns):
    """Pivot until the costs are not negative; False: unbounded."""
    while True:
        column = next((j for j in range(n_columns) if cost[j] < 0), None)
        if column is None:
            return True
        candidates = [r for r, line in enumerate(table) if line[column] > 0]
        if not candidates:
            return False
        row = min(candidates, key=lambda r: (table[r][-1] / table[r][column], basis[r]))
        _pivot(table, cost, basis, row, column)


def _pivot(table, cost, basis, row, column):
    size = table[row][column]
    table[row] = [x / size for x in table[row]]
    for r, line in enumerate(table):
        if r != row and line[column]:
            factor = line[column]
            table[r] = [x - factor * y for x, y in zip(line, table[row], strict=True)]
    factor = cost[column]
    if factor:
        cost[:] = [x - factor * y for x, y in zip(cost, table[row], strict=True)]
    basis[row] = column
