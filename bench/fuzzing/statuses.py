"""Random biconvex problems whose status is known exactly, within wide, infinite and badly scaled bounds.

- contradiction: multipliers make the sum of rows (with products and squares among their terms) 0 <= -delta;
- square: a sum of squares that is to be less than 0 by delta;
- ray: a feasible point and a ray from it along which the objective falls for ever;
- far: the sum of a multilinear function of a small box, whose optimum is at a vertex, squares within wide bounds,
  which can be 0, and differences of far variables that rows keep equal;
- linear: any linear program, solved in rationals;
- bilinear: products of two groups in the objective, each in a polytope of its own: the optimum is at vertices of a
  linear program for each vertex of the other;
- solver: any of these rows and an objective with products, of which SCIP has an opinion.
"""

import itertools
from fractions import Fraction

import numpy as np

from fuzzing import simplex

KINDS = ("contradiction", "square", "ray", "far", "linear", "bilinear", "solver")
TOLERANCE = Fraction(1, 10**8)  # documented, of violations


class Known:
    """
    A problem as arrays and what is known of it.

    Parameters
    ----------
    kind : str
    c, Q, rows, lower, upper, constant
        Minimised; rows (Q, a, low, high), Q upper triangular.
    truth : str
        "infeasible", "unbounded", "optimal" or "unknown".
    optimum : Fraction or None
    """

    def __init__(self, kind, c, Q, rows, lower, upper, truth, optimum=None, constant=0.0):
        self.kind, self.c, self.Q, self.rows, self.constant = kind, np.asarray(c, float), Q, rows, float(constant)
        self.lower, self.upper = np.asarray(lower, float), np.asarray(upper, float)
        self.truth, self.optimum, self.n = truth, optimum, len(c)


def draw(rng):
    """Draw a problem of a random kind."""
    kind = str(rng.choice(KINDS, p=[0.25, 0.1, 0.15, 0.15, 0.2, 0.05, 0.1]))
    known = DRAW[kind](rng)
    return known if rng.random() < 0.6 or kind == "far" else scaled(rng, known)


def ends(rng, n, around=None):
    """Bounds of all kinds and magnitudes, with a point inside."""
    around = np.zeros(n) if around is None else around
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    for i in range(n):
        reach = float(10.0 ** rng.integers(0, 13)) if rng.random() < 0.7 else float(rng.integers(1, 9))
        what = rng.random()
        if what < 0.25:
            lower[i] = around[i] - float(rng.choice([0.0, reach]))
        elif what < 0.35:
            upper[i] = around[i] + float(rng.choice([0.0, reach]))
        elif what < 0.7:
            lower[i], upper[i] = around[i] - float(rng.choice([0.0, reach])), around[i] + reach
    return lower, upper


def form(rng, n, square=False, share=0.5):
    """Upper triangular integers."""
    return np.triu(rng.integers(-3, 4, (n, n)) * (rng.random((n, n)) < share), 0 if square else 1).astype(float)


def gap(rng):
    """By how much something is infeasible."""
    return Fraction(float(10.0 ** rng.uniform(-6, 0)))


def contradiction(rng):
    """Rows g_k <= b_k whose sum with multipliers y >= 0 is 0 <= a negative number."""
    n, m = int(rng.integers(2, 7)), int(rng.integers(2, 5))
    y = [int(v) for v in rng.integers(1, 4, m - 1)] + [1]
    products = rng.random() < 0.5
    square = rng.random() < 0.3
    parts = [(form(rng, n, square) if products else np.zeros((n, n)), rng.integers(-4, 5, n).astype(float))
             for _ in range(m - 1)]
    parts.append(tuple(-sum(k * part[side] for k, part in zip(y, parts, strict=False)) for side in range(2)))
    b = [Fraction(int(v)) for v in rng.integers(-4, 5, m - 1)]
    delta = gap(rng)
    b.append(Fraction(float(-sum((k * v for k, v in zip(y, b, strict=False)), Fraction(0)) - delta)))
    total = sum((k * v for k, v in zip(y, b, strict=True)), Fraction(0))
    # what the documented tolerance allows each row
    allowed = sum((k * TOLERANCE * max(Fraction(1), abs(v), Fraction(float(max(abs(Q).max(), abs(a).max()))))
                   for k, v, (Q, a) in zip(y, b, parts, strict=True)), Fraction(0))
    lower, upper = ends(rng, n)
    truth = "infeasible" if total < -2 * allowed else "unknown"
    rows = []
    for v, (Q, a) in zip(b, parts, strict=True):
        rows.append((Q, a, -np.inf, float(v)) if rng.random() < 0.7 else (-Q, -a, -float(v), np.inf))
    rows += more_rows(rng, n, int(rng.integers(0, 2)))
    order = rng.permutation(len(rows))
    Q = form(rng, n) if rng.random() < 0.5 else np.zeros((n, n))
    return Known("contradiction", rng.integers(-3, 4, n), Q, [rows[k] for k in order], lower, upper, truth)


def more_rows(rng, n, count):
    return [(np.zeros((n, n)), rng.integers(-4, 5, n).astype(float), -np.inf, float(rng.integers(-5, 9)))
            for _ in range(count)]


def square(rng):
    """|G z - g|^2 <= -delta."""
    n = int(rng.integers(2, 5))
    G = rng.integers(-2, 3, (int(rng.integers(1, 3)), n)).astype(float)
    g = rng.integers(-3, 4, len(G)).astype(float)
    P, a = G.T @ G, -2.0 * G.T @ g
    high = float(-Fraction(float(g @ g)) - gap(rng))
    lower, upper = ends(rng, n)
    allowed = TOLERANCE * Fraction(float(max(1.0, abs(high), abs(P).max() * 2, abs(a).max())))
    truth = "infeasible" if Fraction(float(g @ g)) + Fraction(high) < -2 * allowed else "unknown"
    rows = [(np.triu(P) + np.triu(P, 1), a, -np.inf, high), *more_rows(rng, n, int(rng.integers(0, 3)))]
    Q = form(rng, n) if rng.random() < 0.5 else np.zeros((n, n))
    return Known("square", rng.integers(-3, 4, n), Q, rows, lower, upper, truth)


def ray(rng):
    """From a point along d no row rises and the objective falls; products are of variables that stand still."""
    n = int(rng.integers(2, 7))
    d = rng.integers(-2, 3, n).astype(float) * (rng.random(n) < 0.7)
    d[int(rng.integers(n))] = float(rng.choice([-1, 1]))
    still = d == 0
    z = rng.integers(-3, 4, n).astype(float)
    lower, upper = ends(rng, n, z)
    lower[d < 0], upper[d > 0] = -np.inf, np.inf
    rows = []
    for _ in range(int(rng.integers(0, 4))):
        a = rng.integers(-4, 5, n).astype(float)
        Q = form(rng, n, True) * np.outer(still, still)
        slope = a @ d
        value = a @ z + z @ Q @ z
        slack = float(rng.choice([0.0, 1e-6, 1.0, 3.0]))
        if slope == 0 and rng.random() < 0.3:
            rows.append((Q, a, value, value))
        elif slope <= 0:
            rows.append((Q, a, -np.inf, value + slack))
        else:
            rows.append((Q, a, value - slack, np.inf))
    c = rng.integers(-4, 5, n).astype(float)
    Q = form(rng, n) * np.outer(still, still)
    if c @ d >= 0:
        i = int(np.flatnonzero(d)[0])
        c[i] -= (c @ d + float(rng.integers(1, 3))) / d[i]
    # |d_i| is 1 or 2, so that this is exact
    exact = all(abs(x) <= 1e6 and x * 4 == int(x * 4) for x in c)
    feasible = exact and (lower <= z).all() and (z <= upper).all() and all(
        low <= value_of(P, a, z) <= high for P, a, low, high in rows
    )
    return Known("ray", c, Q, rows, lower, upper, "unbounded" if feasible and c @ d < 0 else "unknown")


def value_of(Q, a, z):
    """Exact value of a'z + z'Qz."""
    z = [Fraction(float(x)) for x in z]
    total = sum((Fraction(float(x)) * v for x, v in zip(a, z, strict=True)), Fraction(0))
    for i, j in np.argwhere(Q).tolist():
        total += Fraction(float(Q[i, j])) * z[i] * z[j]
    return total


def far(rng):
    """A multilinear part in a small box, squares and differences in wide ones."""
    k, s, pairs = int(rng.integers(1, 4)), int(rng.integers(0, 3)), int(rng.integers(0, 2))
    n = k + s + 2 * pairs
    unit = float(10.0 ** rng.integers(-6, 7)) if rng.random() < 0.3 else 1.0
    lower, upper = np.zeros(n), np.zeros(n)
    lower[:k] = -rng.integers(0, 3, k)
    upper[:k] = lower[:k] + rng.integers(1, 3, k)
    c, Q = np.zeros(n), np.zeros((n, n))
    c[:k] = rng.integers(-3, 4, k)
    Q[:k, :k] = form(rng, k)
    vertices = itertools.product(*zip(lower[:k], upper[:k], strict=True))
    best = min(value_of(Q, c, np.append(v, np.zeros(n - k))) for v in vertices)
    constant = Fraction(0)
    for i in range(k, k + s):
        target, weight = float(rng.integers(-3, 4)), float(2.0 ** rng.integers(-10, 4))
        lower[i] = target - float(rng.choice([0.0, 1.0, 10.0 ** rng.integers(0, 9)]))
        upper[i] = target + float(10.0 ** rng.integers(0, 10))
        if rng.random() < 0.2:
            lower[i], upper[i] = -np.inf, np.inf
        Q[i, i], c[i] = weight, -2 * weight * target
        constant += Fraction(weight) * Fraction(target) ** 2
    rows = []
    for i in range(k + s, n, 2):
        upper[i : i + 2] = float(10.0 ** rng.integers(1, 11))
        size = float(rng.integers(1, 4))
        c[i], c[i + 1] = size, -size
        a = np.zeros(n)
        a[i], a[i + 1] = 1.0, -1.0
        rows.append((np.zeros((n, n)), a, 0.0, 0.0 if rng.random() < 0.5 else float(rng.integers(1, 3))))
    constant = float(constant) if rng.random() < 0.7 else 0.0
    exact = best + Fraction(constant) - sum(
        (Fraction(float(c[i])) ** 2 / (4 * Fraction(float(Q[i, i]))) for i in range(k, k + s)), Fraction(0)
    )
    # a power of two near the unit, so that all stays exact
    unit = 2.0 ** round(np.log2(unit))
    return Known("far", c * unit, Q * unit, rows, lower, upper, "optimal", exact * Fraction(unit), constant * unit)


def as_program(c, rows, lower, upper):
    """Return rows and bounds as `simplex.solve` takes them."""
    own = []
    for _, a, low, high in rows:
        terms = [Fraction(float(x)) for x in a]
        if np.isfinite(high):
            own.append((terms, Fraction(float(high))))
        if np.isfinite(low):
            own.append(([-x for x in terms], -Fraction(float(low))))
    low, high = ([Fraction(float(x)) if np.isfinite(x) else None for x in own] for own in (lower, upper))
    return [Fraction(float(x)) for x in c], own, low, high


def linear(rng):
    """Any linear program."""
    n = int(rng.integers(2, 6))
    lower, upper = ends(rng, n)
    rows = []
    for _ in range(int(rng.integers(1, 6))):
        a = rng.integers(-4, 5, n).astype(float) * (rng.random(n) < 0.8)
        b = float(rng.integers(-6, 7))
        low, high = [(-np.inf, b), (b, np.inf), (b, b), (b - 1.0, b + 2.0)][int(rng.integers(4))]
        rows.append((np.zeros((n, n)), a, low, high))
    c = rng.integers(-4, 5, n).astype(float)
    truth, optimum = simplex.solve(*as_program(c, rows, lower, upper))
    return Known("linear", c, np.zeros((n, n)), rows, lower, upper, truth, optimum)


def bilinear(rng):
    """x'Q y + c'x + d'y: x in a box, so that some vertex of it is best; y in a polyhedron or wide bounds."""
    k, r = int(rng.integers(1, 3)), int(rng.integers(1, 4))
    n = k + r
    lower, upper = ends(rng, n)
    lower[:k] = -rng.integers(0, 4, k)
    upper[:k] = lower[:k] + rng.integers(1, 5, k)
    rows = []
    for _ in range(int(rng.integers(1, 4))):
        a = np.append(np.zeros(k), rng.integers(-4, 5, r).astype(float))
        b = float(rng.integers(-6, 7))
        low, high = [(-np.inf, b), (b, np.inf), (b - 1.0, b + 2.0)][int(rng.integers(3))]
        rows.append((np.zeros((n, n)), a, low, high))
    c, Q = rng.integers(-4, 5, n).astype(float), np.zeros((n, n))
    Q[:k, k:] = rng.integers(-3, 4, (k, r))
    found = []
    for x in itertools.product(*zip(lower[:k], upper[:k], strict=True)):
        cost = c[k:] + np.array(x) @ Q[:k, k:]
        own = [(None, row[1][k:], *row[2:]) for row in rows]
        status, value = simplex.solve(*as_program(cost, own, lower[k:], upper[k:]))
        found.append((status, value if value is None else value + Fraction(float(c[:k] @ np.array(x)))))
    statuses = {status for status, _ in found}
    # a ray for some x may have a value at a vertex of the other costs only, but then it is unbounded all the same
    truth = "infeasible" if "infeasible" in statuses else "unbounded" if "unbounded" in statuses else "optimal"
    optimum = min(value for _, value in found) if truth == "optimal" else None
    return Known("bilinear", c, Q, rows, lower, upper, truth, optimum)


def solver(rng):
    """Products anywhere; SCIP decides."""
    n = int(rng.integers(2, 6))
    lower, upper = ends(rng, n)
    rows = []
    for _ in range(int(rng.integers(1, 4))):
        b = float(rng.integers(-6, 7))
        low, high = [(-np.inf, b), (b, np.inf), (b, b)][int(rng.integers(3))]
        rows.append((form(rng, n, rng.random() < 0.3, 0.4), rng.integers(-4, 5, n).astype(float), low, high))
    return Known("solver", rng.integers(-4, 5, n), form(rng, n, share=0.3), rows, lower, upper, "unknown")


def scaled(rng, known):
    """The same problem in other units: powers of two, so that nothing is rounded."""
    unit = np.ones(known.n)
    if known.truth != "infeasible" and rng.random() < 0.5:
        unit = 2.0 ** rng.integers(-10, 11, known.n)
    factor = 2.0 ** rng.integers(-20, 21)
    rows = []
    for Q, a, low, high in known.rows:
        size = 2.0 ** rng.integers(-10, 11)
        rows.append((Q / np.outer(unit, unit) * size, a / unit * size, low * size, high * size))
    optimum = None if known.optimum is None else known.optimum * Fraction(float(factor))
    return Known(known.kind, known.c / unit * factor, known.Q / np.outer(unit, unit) * factor, rows, known.lower * unit,
                 known.upper * unit, known.truth, optimum, known.constant * factor)  # fmt: skip


DRAW = {"contradiction": contradiction, "square": square, "ray": ray, "far": far, "linear": linear,
        "bilinear": bilinear, "solver": solver}  # fmt: skip


def wrong_status(known, result, rel_tol):
    """Return what is wrong with the status, the bound and the objective of a result, as texts."""
    value, bound, status = result.objective, result.bound, result.status.name
    if known.truth == "infeasible":
        claimed = result.solution is not None or status in ("OPTIMAL", "UNBOUNDED")
        return [f"{status}, with the objective {value}, of an infeasible problem"] if claimed else []
    if known.truth == "unbounded":
        wrong = [status] if status in ("OPTIMAL", "INFEASIBLE") else []
        wrong += [f"bound {bound}"] if bound > -np.inf else []
        return [f"{text} of an unbounded problem" for text in wrong]
    if known.truth != "optimal":
        return []
    optimum, wrong = known.optimum, []
    if status in ("INFEASIBLE", "UNBOUNDED"):
        return [f"{status} where {float(optimum)} is optimal"]
    if bound > optimum:
        wrong.append(f"bound {bound} above the optimum {float(optimum)}")
    if status == "OPTIMAL":
        unit = unit_of(known)
        allowed = max(rel_tol * abs(value), 1e-8 * unit, 1e-14 * terms_at(known, result.solution.z)) * 1.01
        # below by what multipliers make of the feasibility tolerance
        less = max(allowed, 1e-4 * max(abs(float(optimum)), unit))
        if not -less <= value - float(optimum) <= allowed:
            wrong.append(f"OPTIMAL {value} where {float(optimum)} is optimal (allowed {allowed:.2g})")
    return wrong


def unit_of(known):
    """The documented unit of the objective: its terms where variables are 1, or as near to it as they can be."""
    most = np.maximum(abs(known.lower), abs(known.upper))
    near = np.maximum(0.0, np.maximum(known.lower, -known.upper))
    return terms_at(known, np.maximum(np.minimum(most, 1.0), near)) - abs(known.constant)


def terms_at(known, z):
    """The magnitudes of the objective's terms at a point."""
    z = np.abs(np.asarray(z, float))
    return float(abs(known.c) @ z + z @ abs(known.Q) @ z) + abs(known.constant)
