"""Random games, bilinear programs and factorisations beside SCIP; writes bench/results/biconvex_random.md.

Run: python bench/biconvex_random.py     (about five minutes; needs pip install '.[bench]'; one thread each)

Integer data drawn by NumPy's default_rng(seed). Games: payoffs from -9 to 9; the optimum is 0. Programs: n variables in
[0, 10] and n rows on each side, all products (sparse: 30 % of them). Factorisations: the least squared distance of a
4 x 3 matrix from u v' with u and v in [-2, 2], which neither solver proved within the limit when they were added. As in
bench/biconvex_table.py: relative and absolute gap 1e-6, times of the solve alone, gopfast's with the building of its
core. Limit 15 s, charged where it is reached. Value: gopfast's.
"""

import json
import tempfile
from pathlib import Path

import biconvex_table
import machine
import numpy as np
from biconvex_table import run_gopfast, run_scip, shifted_mean

TIME_LIMIT = 15.0


def row(sense, rhs, terms):
    return {"name": "row", "sense": sense, "rhs": float(rhs), "const": 0.0, "lin": terms, "quad": []}


def record(name, variables, linear, products, rows):
    objective = {"const": 0.0, "lin": linear, "quad": products}
    return {
        "name": name, "sense": "min", "variables": variables, "partition": None, "objective": objective,
        "constraints": rows,
    }  # fmt: skip


def bimatrix(seed, n):
    """Equilibria of a game: the least p + q - x'(A + B) y with A y <= p, B'x <= q over mixed strategies, which is 0."""
    rng = np.random.default_rng(seed)
    A, B = rng.integers(-9, 10, (2, n, n)).astype(float)
    x, y = [f"x{i}" for i in range(n)], [f"y{j}" for j in range(n)]
    variables = {name: [0.0, 1.0] for name in x + y} | {"p": [-10.0, 10.0], "q": [-10.0, 10.0]}
    rows = [row("==", 1, dict.fromkeys(side, 1.0)) for side in (x, y)]
    rows += [row("<=", 0, {**dict(zip(y, A[i], strict=True)), "p": -1.0}) for i in range(n)]
    rows += [row("<=", 0, {**dict(zip(x, B[:, j], strict=True)), "q": -1.0}) for j in range(n)]
    products = [[x[i], y[j], -(A + B)[i, j]] for i in range(n) for j in range(n)]
    return record(f"bimatrix {n} x {n}, seed {seed}", variables, {"p": 1.0, "q": 1.0}, products, rows)


def disjoint(seed, n, density=1.0):
    rng = np.random.default_rng(seed)
    x, y = [f"x{i}" for i in range(n)], [f"y{j}" for j in range(n)]
    rows = [
        row("<=", rng.integers(10, 30), dict(zip(side, rng.integers(-3, 8, n).astype(float), strict=True)))
        for side in (x, y)
        for _ in range(n)
    ]
    products = [[a, b, float(rng.integers(-9, 10))] for a in x for b in y if rng.random() < density]
    linear = {name: float(rng.integers(-9, 10)) for name in x + y}
    kind = "disjoint" if density == 1.0 else "sparse disjoint"
    return record(f"{kind} {n} x {n}, seed {seed}", {name: [0.0, 10.0] for name in x + y}, linear, products, rows)


def factorisation(seed, n, m):
    """Least sum of (M_ij - w_ij)^2 with w_ij = u_i v_j; scaling u and dividing v by it leaves the value."""
    M = np.random.default_rng(seed).integers(-9, 10, (n, m)) / 4.0
    u, v = [f"u{i}" for i in range(n)], [f"v{j}" for j in range(m)]
    w = [[f"w{i}_{j}" for j in range(m)] for i in range(n)]
    variables = {name: [-2.0, 2.0] for name in u + v} | {name: [-4.0, 4.0] for name in sum(w, [])}
    rows = [{**row("==", 0, {w[i][j]: 1.0}), "quad": [[u[i], v[j], -1.0]]} for i in range(n) for j in range(m)]
    squares = [[name, name, 1.0] for name in sum(w, [])]
    linear = {w[i][j]: -2.0 * M[i, j] for i in range(n) for j in range(m)}
    found = record(f"rank one {n} x {m}, seed {seed}", variables, linear, squares, rows)
    found["objective"]["const"] = float(np.square(M).sum())
    return found


def main():
    biconvex_table.TIME_LIMIT = TIME_LIMIT
    groups = {
        "bimatrix": [bimatrix(seed, n) for n in (3, 4, 5, 6) for seed in range(4)],
        "disjoint": [disjoint(seed, n) for n in (5, 10, 15, 20) for seed in range(3)],
        "sparse disjoint": [disjoint(seed, 20, 0.3) for seed in range(3)],
        "rank-one factorisation": [factorisation(seed, 4, 3) for seed in range(2)],
    }
    lines, means = [], []
    for group, records in groups.items():
        times, failures = {run_gopfast: [], run_scip: []}, {run_gopfast: 0, run_scip: 0}
        for one in records:
            cells, values = [], []
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "problem.json"
                path.write_text(json.dumps(one))
                for run in times:
                    seconds, done, value, n_nodes = run(path)
                    times[run].append(seconds if done else TIME_LIMIT)
                    failures[run] += not done
                    cells.append(f"{1e3 * seconds:.0f}{'' if done else ' (not proved)'} | {n_nodes}")
                    values.append(value)
            lines.append(f"| {one['name']} | {values[0]:.6g} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
        means.append(
            f"| {group} | {len(records)} | "
            + " | ".join(f"{1e3 * shifted_mean(times[run]):.0f} | {failures[run]}" for run in times) + " |"
        )  # fmt: skip
        print(means[-1], flush=True)
    text = "\n".join([
        machine.heading("Random bimatrix games, disjoint bilinear programs and factorisations"),
        __doc__.split("\n\n")[2].strip(), "",
        "| family | problems | gopfast, shifted geometric mean ms | not proved | SCIP ms | not proved |",
        "| --- " * 6 + "|", *means, "",
        "| problem | value | gopfast ms | nodes | SCIP ms | nodes |", "| --- " * 6 + "|", *lines, "",
    ])  # fmt: skip
    machine.write("biconvex_random.md", text)


if __name__ == "__main__":
    main()
