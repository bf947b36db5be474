"""Forms over balls and products in chains, for biconvex_heldin.py."""

import numpy as np
from biconvex_random import record, row


def ball(seed, n, n_balls):
    """min x'Qx + c'x over balls |x - p|^2 <= 25 of integer centers p, the first of which is 0; Q indefinite, dense."""
    rng = np.random.default_rng(seed)
    x = [f"x{i}" for i in range(n)]
    U = np.triu(rng.integers(-50, 51, (n, n))).astype(float)
    linear = dict(zip(x, rng.integers(-50, 51, n).astype(float), strict=True))
    products = [[x[i], x[j], float(U[i, j])] for i in range(n) for j in range(i, n) if U[i, j]]
    rows = []
    for k in range(n_balls):
        center = rng.integers(-1, 2, n) * (k > 0) * (rng.random(n) < 8.0 / n)
        terms = {name: -2.0 * float(p) for name, p in zip(x, center, strict=True) if p}
        rows.append({
            "name": f"ball{k}", "sense": "<=", "rhs": 25.0 - float(center @ center), "const": 0.0, "lin": terms,
            "quad": [[name, name, 1.0] for name in x],
        })  # fmt: skip
    name = f"ball {n}, {n_balls} of them, seed {seed}"
    return record(name, {z: [-5.0, 5.0] for z in x}, linear, products, rows)


def chain(seed, n, m):
    """min sum c_i x_i x_{i+1} + d'x over m rows, n products in a chain, in [-5, 10]^(n + 1)."""
    rng = np.random.default_rng(seed)
    x = [f"x{i}" for i in range(n + 1)]
    rows = [row("<=", rng.integers(5, 20), dict(zip(x, rng.integers(-3, 8, n + 1).astype(float), strict=True)))
            for _ in range(m)]  # fmt: skip
    linear = dict(zip(x, rng.integers(-9, 10, n + 1).astype(float), strict=True))
    signs = rng.integers(1, 10, n) * rng.choice([-1, 1], n)
    products = [[x[i], x[i + 1], float(signs[i])] for i in range(n)]
    return record(f"chain {n}, {m} rows, seed {seed}", {z: [-5.0, 10.0] for z in x}, linear, products, rows)


def monomial(seed, n):
    """min d'x with the product of n variables at least 2, each in [0.1, 10]: n - 1 products, one after the other."""
    rng = np.random.default_rng(seed)
    x, y = [f"x{i}" for i in range(n)], [f"y{i}" for i in range(1, n)]
    variables = {name: [0.1, 10.0] for name in x} | {name: [0.001, 1000.0] for name in y}
    rows = [
        {"name": f"product{i}", "sense": "==", "rhs": 0.0, "const": 0.0, "lin": {name: -1.0},
         "quad": [[before, x[i], 1.0]]}
        for i, (before, name) in enumerate(zip([x[0], *y[:-1]], y, strict=True), start=1)
    ]  # fmt: skip
    linear = dict(zip(x, rng.integers(1, 6, n).astype(float), strict=True))
    return record(f"monomial {n}, seed {seed}", variables, linear, [], [*rows, row(">=", 2.0, {y[-1]: 1.0})])
