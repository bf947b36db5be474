"""
Generators of biconvex problems in which feasible points are hard to come by; for bench/biconvex_heldin.py.

- wastewater: treatment networks. Flows s (source to unit), t (unit to unit or discharge) and concentrations c; what
  a unit lets pass of a pollutant is a bilinear balance, so are the limits of the discharge; least cost of treatment;
- power flow: voltages e + i f of a ring with chords, generators in one bus of three; quadratic equations;
- unit box: dense quadratic functions with integer entries from -10 to 10 over [0, 1]^n, as unitbox of Bao et al., 2011;
- free: convex quadratic programs with convex rows and equations, no variable bounded.
"""

import numpy as np


def row(sense, rhs, terms, quad=()):
    return {"name": "row", "sense": sense, "rhs": float(rhs), "const": 0.0, "lin": terms, "quad": list(quad)}


def record(name, variables, linear, products, rows):
    return {
        "name": name, "sense": "min", "variables": variables, "partition": None,
        "objective": {"const": 0.0, "lin": linear, "quad": products}, "constraints": rows,
    }  # fmt: skip


def wastewater(seed, n_sources, n_units, n_pollutants):
    rng = np.random.default_rng(seed)
    sources, units, pollutants = range(n_sources), range(n_units), range(n_pollutants)
    flow = rng.integers(10, 61, n_sources).astype(float)
    inflow = rng.integers(0, 401, (n_sources, n_pollutants)).astype(float)
    passed = np.where(rng.random((n_units, n_pollutants)) < 0.4, rng.integers(1, 20, (n_units, n_pollutants)) / 100, 1)
    for k in pollutants:
        passed[k % n_units, k] = 0.05
    cost, total = rng.integers(1, 5, n_units).astype(float), float(flow.sum())
    limit = np.maximum(np.round(0.3 * (flow @ inflow) / total), 1.0)
    variables, rows, linear = {}, [], {}
    for s in sources:
        variables |= {f"s{s}_{u}": [0.0, flow[s]] for u in [*units, "d"]}
        rows.append(row("==", flow[s], {f"s{s}_{u}": 1.0 for u in [*units, "d"]}))
    for u in units:
        variables |= {f"t{u}_{v}": [0.0, 2 * total] for v in units if v != u} | {f"t{u}_d": [0.0, total]}
        variables |= {f"c{u}_{k}": [0.0, max(1.0, float(inflow[:, k].max()))] for k in pollutants}
    for u in units:
        incoming = {f"s{s}_{u}": 1.0 for s in sources} | {f"t{v}_{u}": 1.0 for v in units if v != u}
        outgoing = [f"t{u}_{v}" for v in [*units, "d"] if v != u]
        linear |= dict.fromkeys(incoming, cost[u])
        rows.append(row("==", 0, incoming | dict.fromkeys(outgoing, -1.0)))
        for k in pollutants:
            share = float(passed[u, k])
            quad = [[f"c{u}_{k}", name, 1.0] for name in outgoing]
            quad += [[f"c{v}_{k}", f"t{v}_{u}", -share] for v in units if v != u]
            rows.append(row("==", 0, {f"s{s}_{u}": -share * float(inflow[s, k]) for s in sources}, quad))
    for k in pollutants:
        rows.append(row("<=", limit[k] * total, {f"s{s}_d": float(inflow[s, k]) for s in sources},
                        [[f"c{u}_{k}", f"t{u}_d", 1.0] for u in units]))  # fmt: skip
    return record(f"wastewater {n_sources}-{n_units}-{n_pollutants}, seed {seed}", variables, linear, [], rows)


def power_flow(seed, n):
    rng = np.random.default_rng(seed)
    edges = {tuple(sorted((i, (i + 1) % n))) for i in range(n)}
    edges |= {tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(n // 3)}
    G, B = np.zeros((n, n)), np.zeros((n, n))
    for i, j in sorted(edges):
        for matrix, value in ((G, round(1 + 3 * rng.random(), 3)), (B, -round(5 + 10 * rng.random(), 3))):
            matrix[[i, j], [i, j]] += value
            matrix[[i, j], [j, i]] -= value
    generators = range(0, n, 3)
    load, reactive = np.round(0.3 + 0.7 * rng.random(n), 3), np.round(0.1 + 0.2 * rng.random(n), 3)
    variables = {f"{part}{i}": [-1.1, 1.1] for i in range(n) for part in "ef"}
    variables |= {"e0": [0.0, 1.1], "f0": [0.0, 0.0]}
    most = round(2.2 * load.sum() / len(generators), 3)
    variables |= {f"p{g}": [0.0, float(most)] for g in generators} | {f"q{g}": [-3.0, 3.0] for g in generators}
    rows = []
    for i in range(n):
        active, other = [], []
        for j in np.flatnonzero(B[i]).tolist():
            g, b = float(G[i, j]), float(B[i, j])
            active += [[f"e{i}", f"e{j}", g], [f"f{i}", f"f{j}", g]]
            other += [[f"e{i}", f"e{j}", -b], [f"f{i}", f"f{j}", -b]]
            if i != j:
                active += [[f"e{i}", f"f{j}", -b], [f"f{i}", f"e{j}", b]]
                other += [[f"f{i}", f"e{j}", g], [f"e{i}", f"f{j}", -g]]
        size = [[f"e{i}", f"e{i}", 1.0], [f"f{i}", f"f{i}", 1.0]]
        rows.append(row("==", -load[i], {f"p{i}": -1.0} if i in generators else {}, active))
        rows.append(row("==", -reactive[i], {f"q{i}": -1.0} if i in generators else {}, other))
        rows += [row("<=", 1.21, {}, size), row(">=", 0.81, {}, size)]
    linear = {f"p{g}": float(rng.integers(1, 6)) for g in generators}
    squares = [[f"p{g}", f"p{g}", round(float(rng.random()), 3)] for g in generators]
    return record(f"power flow {n}, seed {seed}", variables, linear, squares, rows)


def unit_box(seed, n, m):
    rng = np.random.default_rng(seed)
    x = [f"x{i}" for i in range(n)]

    def form():
        return [[x[i], x[j], float(rng.integers(-10, 11))] for i in range(n) for j in range(i, n)]

    def linear():
        return {name: float(rng.integers(-10, 11)) for name in x}

    rows = [row("<=", rng.integers(1, 20), linear(), form()) for _ in range(m)]
    return record(f"unit box {n} x {m}, seed {seed}", {name: [0.0, 1.0] for name in x}, linear(), form(), rows)


def free(seed, n, m, n_equations):
    rng = np.random.default_rng(seed)
    x = [f"x{i}" for i in range(n)]

    def form():
        root = rng.integers(-2, 3, (n, n)) * (rng.random((n, n)) < 0.3)
        Q = root.T @ root + np.eye(n)
        return [[x[i], x[j], float(Q[i, j]) * (2 - (i == j))] for i in range(n) for j in range(i, n) if Q[i, j]]

    def linear():
        return {name: float(rng.integers(-9, 10)) for name in x}

    rows = [row("<=", rng.integers(5, 50), linear(), form()) for _ in range(m)]
    rows += [row("==", 0, linear()) for _ in range(n_equations)]
    return record(f"free {n} x {m}, seed {seed}", dict.fromkeys(x, [None, None]), linear(), form(), rows)
