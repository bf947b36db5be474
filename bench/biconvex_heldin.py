"""Generated families of biconvex problems beside SCIP; writes bench/results/biconvex_heldin.md.

Run: python bench/biconvex_heldin.py [--seconds 20] [--only FAMILY ...] [--solver NAME ...] [--no-file] [--proofs]

Needs pip install '.[bench]'; one thread each. Data are integers, or rounded, drawn by NumPy's default_rng(seed), so
that every run has the same problems, none of which comes with the package:

- box: as the spar family, min x'Qx/2 + c'x over [0, 1]^n, integer entries from -50 to 50, of the share given;
- concave: separable concave quadratic programs over dense rows, large numbers (as st_m1, st_m2);
- haverly: two sources and one direct stream, pooled, for two products: prices, qualities and demands drawn;
- pooling: sources, pools and products, in proportions (the pq formulation without its redundant rows);
- bimatrix, disjoint, sparse disjoint: as in bench/biconvex_random.py, larger;
- rank one, rank two: least squared distance of a matrix from u v' or u v' + s t', factors in [-2, 2];
- packing: points in the unit square, the least squared distance between two of them at its greatest;
- circles: circles of given radii in a rectangle of the least area (as kall_circles);
- mpec: bilevel linear programs by the conditions of their lower level, with x y = 0, no bound on the multipliers;
- few products: min c'x + sum p_k q_k with p_k = a_k'x and q_k = b_k'x over a dense polytope, a_k and b_k of other
  variables or of the same ("joint");
- few concave: min x'Qx + c'x over dense rows, Q dense with n nonzero eigenvalues of which k are negative, or of rank r;
- indefinite: the same with entries of Q as of the family box, half of whose eigenvalues are negative;
- ball, chain, monomial: see bench/biconvex_forms.py;
- wastewater, power flow, unit box, free: see bench/biconvex_networks.py.

As in bench/biconvex_table.py: relative and absolute gap 1e-6, times of the solve alone, gopfast's with the building
of its core. Seconds and limits are the processor's. Each solver has a new process for each problem, which has imported
it: its first solve is the cold one; what took less than two seconds is solved once more, and that is the warm one,
elsewhere the same. What is not proved within the limit is charged the limit, and so is what the others show to be wrong
by more than 1e-5 relative; refusals count as not proved, and so does a process that aborts. The worst ratios are those
of warm seconds so charged, of one problem of the family, each way. Gurobi's trial (`--solver gopfast Gurobi`, pip
install gurobipy) may be run beside for what the two prove and whether they agree; nothing of that is written, as its
licence demands.
"""

import argparse
import json
import multiprocessing
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path

import biconvex_table
import machine
import numpy as np
from biconvex_forms import ball, chain, monomial
from biconvex_networks import free, power_flow, unit_box, wastewater
from biconvex_random import bimatrix, disjoint, record, row
from biconvex_table import run_gopfast, run_gurobi, run_scip, shifted_mean

import gopfast

AGREE = 1e-5  # relative, of two proved optima
AGAIN = 2.0  # seconds of a solve below which it is repeated
WALL = 6.0  # seconds of the clock, for each of the processor, after which a solve ends in any case
SOLVERS = {"gopfast": run_gopfast, "SCIP": run_scip, "Gurobi": run_gurobi}
SHOWN = ("gopfast", "SCIP")  # whose results may be published


def box(seed, n, share):
    rng = np.random.default_rng(seed)
    x = [f"x{i}" for i in range(n)]
    Q = np.triu(rng.integers(-50, 51, (n, n)) * (rng.random((n, n)) < share))
    products = [[x[i], x[j], float(Q[i, j]) * (0.5 if i == j else 1.0)] for i, j in zip(*np.nonzero(Q), strict=True)]
    linear = {name: float(rng.integers(-50, 51)) for name in x}
    return record(f"box {n}, {share:.0%}, seed {seed}", {name: [0.0, 1.0] for name in x}, linear, products, [])


def concave(seed, n, m):
    rng = np.random.default_rng(seed)
    x = [f"x{i}" for i in range(n)]
    rows = [row("<=", rng.integers(1000, 5000), dict(zip(x, rng.integers(-20, 90, n).astype(float), strict=True)))
            for _ in range(m)]  # fmt: skip
    rows.append(row("<=", 200 * n // 4, dict.fromkeys(x, 1.0)))
    squares = [[name, name, -float(rng.integers(1, 100)) / 2] for name in x]
    linear = {name: float(rng.integers(-90, 91)) * 20 for name in x}
    return record(f"concave {n} x {m}, seed {seed}", {name: [0.0, 200.0] for name in x}, linear, squares, rows)


def pooling(seed, n_sources, n_pools, n_products, n_qualities=1, direct=0, kind="pooling"):
    """Shares q of the pools' inflow, flows y from pools to products; the last `direct` sources bypass the pools."""
    rng = np.random.default_rng(seed)
    pooled, bypass = range(n_sources - direct), range(n_sources - direct, n_sources)
    pools, products = range(n_pools), range(n_products)
    cost, price = rng.integers(3, 17, n_sources), rng.integers(8, 19, n_products)
    quality = rng.integers(5, 31, (n_sources, n_qualities)) / 10
    most, demand = rng.integers(12, 26, (n_products, n_qualities)) / 10, rng.integers(10, 31, n_products) * 10.0
    total = float(demand.sum())
    variables = {f"q{i}_{p}": [0.0, 1.0] for i in pooled for p in pools}
    variables |= {f"y{p}_{j}": [0.0, float(demand[j])] for p in pools for j in products}
    variables |= {f"z{i}_{j}": [0.0, float(demand[j])] for i in bypass for j in products}
    rows = [row("==", 1, {f"q{i}_{p}": 1.0 for i in pooled}) for p in pools]
    rows += [row("<=", total / n_pools, {f"y{p}_{j}": 1.0 for j in products}) for p in pools]
    linear, quad = {}, []
    for j in products:
        flows = {f"y{p}_{j}": 1.0 for p in pools} | {f"z{i}_{j}": 1.0 for i in bypass}
        rows.append(row("<=", demand[j], flows))
        for name in flows:
            linear[name] = linear.get(name, 0.0) - float(price[j])
        for i in bypass:
            linear[f"z{i}_{j}"] += float(cost[i])
        quad += [[f"q{i}_{p}", f"y{p}_{j}", float(cost[i])] for i in pooled for p in pools]
        for k in range(n_qualities):
            spec = row("<=", 0, {f"z{i}_{j}": float(quality[i, k] - most[j, k]) for i in bypass})
            spec["lin"] |= {f"y{p}_{j}": -float(most[j, k]) for p in pools}
            spec["quad"] = [[f"q{i}_{p}", f"y{p}_{j}", float(quality[i, k])] for i in pooled for p in pools]
            rows.append(spec)
    name = f"{kind} {n_sources}-{n_pools}-{n_products}, seed {seed}"
    return record(name, variables, linear, quad, rows)


def factorisation(seed, n, m, rank):
    """Least sum of (M_ij - w_ij)^2 over w = u v' (+ s t'), each w a variable."""
    M = np.random.default_rng(seed).integers(-9, 10, (n, m)) / 4.0
    u = [[f"u{r}_{i}" for i in range(n)] for r in range(rank)]
    v = [[f"v{r}_{j}" for j in range(m)] for r in range(rank)]
    w = [[f"w{i}_{j}" for j in range(m)] for i in range(n)]
    reach = 4.0 * rank
    variables = {name: [-2.0, 2.0] for name in sum(u + v, [])} | {name: [-reach, reach] for name in sum(w, [])}
    rows = [
        {**row("==", 0, {w[i][j]: 1.0}), "quad": [[u[r][i], v[r][j], -1.0] for r in range(rank)]}
        for i in range(n)
        for j in range(m)
    ]
    linear = {w[i][j]: -2.0 * M[i, j] for i in range(n) for j in range(m)}
    found = record(
        f"rank {rank}, {n} x {m}, seed {seed}", variables, linear, [[x, x, 1.0] for x in sum(w, [])], rows
    )
    found["objective"]["const"] = float(np.square(M).sum())
    return found


def packing(n):
    """The least squared distance between n points of the unit square, maximised; x in order."""
    x, y = [f"x{i}" for i in range(n)], [f"y{i}" for i in range(n)]
    variables = {name: [0.0, 1.0] for name in x + y} | {"d": [0.0, 2.0]}
    rows = [row("<=", 0, {x[i]: 1.0, x[i + 1]: -1.0}) for i in range(n - 1)]
    for i in range(n):
        for j in range(i):
            quad = []
            for z in (x, y):
                quad += [[z[i], z[i], -1.0], [z[j], z[j], -1.0], [z[i], z[j], 2.0]]
            rows.append({**row("<=", 0, {"d": 1.0}), "quad": quad})
    return record(f"packing {n}", variables, {"d": -1.0}, [], rows)


def circles(seed, n):
    """The least area of a rectangle with n circles of given radii in it, as kall_circles: min w h."""
    radii = np.random.default_rng(seed).integers(4, 13, n) / 10
    x, y = [f"x{i}" for i in range(n)], [f"y{i}" for i in range(n)]
    reach = float(2 * radii.sum())
    variables = {f"{z}{i}": [float(radii[i]), reach - float(radii[i])] for z in "xy" for i in range(n)}
    variables |= {"w": [float(2 * radii.max()), reach], "h": [float(2 * radii.max()), reach]}
    rows = [row("<=", -radii[i], {z: 1.0, side: -1.0}) for group, side in ((x, "w"), (y, "h"))
            for i, z in enumerate(group)]  # fmt: skip
    for i in range(n):
        for j in range(i):
            quad = []
            for z in (x, y):
                quad += [[z[i], z[i], 1.0], [z[j], z[j], 1.0], [z[i], z[j], -2.0]]
            rows.append({**row(">=", (radii[i] + radii[j]) ** 2, {}), "quad": quad})
    return record(f"circles {n}, seed {seed}", variables, {}, [["w", "h", 1.0]], rows)


def mpec(seed, n, m):
    """min c'x + d'y over x and the y that are least for b'y over A x + B y <= r, y >= 0: multipliers without bounds."""
    rng = np.random.default_rng(seed)
    x, y = [f"x{i}" for i in range(n)], [f"y{j}" for j in range(n)]
    mu, nu = [f"mu{k}" for k in range(m)], [f"nu{j}" for j in range(n)]
    A, B = rng.integers(-5, 6, (m, n)).astype(float), rng.integers(1, 7, (m, n)).astype(float)
    r, b = rng.integers(20, 60, m).astype(float), rng.integers(-6, 3, n).astype(float)
    variables = {name: [0.0, 10.0] for name in x} | {name: [0.0, None] for name in y + mu + nu}
    rows, quad = [], []
    for k in range(m):
        left = dict(zip(x + y, [*A[k], *B[k]], strict=True))
        rows.append(row("<=", r[k], left))
        # mu (r - A x - B y) = 0
        quad += [{**row("==", 0, {mu[k]: float(r[k])}), "quad": [[mu[k], name, -a] for name, a in left.items() if a]}]
    for j in range(n):
        rows.append(row("==", -b[j], {**dict(zip(mu, B[:, j], strict=True)), nu[j]: -1.0}))
        quad.append({**row("==", 0, {}), "quad": [[nu[j], y[j], 1.0]]})
    linear = {name: float(rng.integers(-8, 9)) for name in x + y}
    return record(f"mpec {n} x {m}, seed {seed}", variables, linear, [], rows + quad)


def few_products(seed, n, rank, joint):
    rng = np.random.default_rng(seed)
    x = [f"x{i}" for i in range(n)]
    A, most = rng.integers(-3, 8, (n // 2, n)).astype(float), rng.integers(10, 30, n // 2) * n / 10
    factors = rng.integers(-5, 6, (2, rank, n)).astype(float)
    if not joint:
        factors[0, :, n // 2 :] = factors[1, :, : n // 2] = 0
    linear = dict(zip(x, rng.integers(-9, 10, n).astype(float), strict=True))
    variables = {name: [0.0, 10.0] for name in x}
    rows = [row("<=", most[k], dict(zip(x, A[k], strict=True))) for k in range(n // 2)]
    for k in range(rank):
        for name, a in zip("pq", factors[:, k], strict=True):
            variables[f"{name}{k}"] = [10 * float(np.minimum(a, 0).sum()), 10 * float(np.maximum(a, 0).sum())]
            terms = {z: float(value) for z, value in zip(x, a, strict=True) if value}
            rows.append(row("==", 0, terms | {f"{name}{k}": -1.0}))
    name = f"few products {n}, rank {rank}{', joint' if joint else ''}, seed {seed}"
    return record(name, variables, linear, [[f"p{k}", f"q{k}", 1.0] for k in range(rank)], rows)


def over_rows(name, rng, n, m, Q):
    """min x'Qx + c'x over [0, 1]^n and m dense rows that about half of the box meets."""
    x = [f"x{i}" for i in range(n)]
    A, most = rng.integers(-3, 8, (m, n)).astype(float), rng.integers(2, 6, m) * n / 4
    linear = dict(zip(x, rng.integers(-50, 51, n).astype(float), strict=True))
    rows = [row("<=", most[k], dict(zip(x, A[k], strict=True))) for k in range(m)]
    products = [[x[i], x[j], float(Q[i, j]) * (1.0 if i == j else 2.0)]
                for i, j in zip(*np.nonzero(np.triu(Q)), strict=True)]  # fmt: skip
    return record(name, {z: [0.0, 1.0] for z in x}, linear, products, rows)


def few_concave(seed, n, m, k, rank):
    """With quarters as entries of Q; where the rank is not n, with integers."""
    rng = np.random.default_rng(seed)
    if rank < n:
        negative, positive = rng.integers(-5, 6, (k, n)), rng.integers(-5, 6, (rank - k, n))
        Q = (positive.T @ positive - negative.T @ negative).astype(float)
    else:
        V, _ = np.linalg.qr(rng.standard_normal((n, n)))
        values = np.concatenate([-rng.uniform(20, 100, k), rng.uniform(0, 100, n - k)])
        Q = np.round(4 * (V * values) @ V.T) / 4
        Q = np.triu(Q) + np.triu(Q, 1).T
    return over_rows(f"few concave {n} x {m}, {k} of {rank}, seed {seed}", rng, n, m, Q)


def indefinite(seed, n, m, share):
    rng = np.random.default_rng(seed)
    U = np.triu(rng.integers(-50, 51, (n, n)) * (rng.random((n, n)) < share)).astype(float)
    return over_rows(f"indefinite {n} x {m}, {share:.0%}, seed {seed}", rng, n, m, (U + U.T) / 2)


FAMILIES = {
    "box": lambda: [box(seed, *size) for size in ((20, 1.0), (30, 0.6), (40, 0.3), (50, 0.3)) for seed in range(2)],
    "concave": lambda: [concave(seed, n, m) for n, m in ((10, 10), (20, 20), (30, 21)) for seed in range(2)],
    "haverly": lambda: [pooling(seed, 3, 1, 2, direct=1, kind="haverly") for seed in range(6)],
    "pooling": lambda: [pooling(seed, *size) for size in ((5, 2, 4, 2), (6, 3, 5, 2), (8, 3, 8, 3))
                        for seed in range(2)],
    "bimatrix": lambda: [bimatrix(seed, n) for n in (5, 8, 10) for seed in range(2)],
    "disjoint": lambda: [disjoint(seed, n) for n in (10, 20) for seed in range(2)],
    "sparse disjoint": lambda: [disjoint(seed, n, share) for n, share in ((20, 0.3), (30, 0.15), (50, 0.05))
                                for seed in range(2)],
    "few products": lambda: [few_products(seed, n, rank, joint) for n, rank in ((20, 2), (30, 3), (50, 4), (100, 3))
                             for joint in (False, True) for seed in range(2)],
    "rank one": lambda: [factorisation(seed, n, n, 1) for n in (3, 4, 6) for seed in range(2)],
    "rank two": lambda: [factorisation(seed, n, n, 2) for n in (3, 6) for seed in range(1)],
    "few concave": lambda: [few_concave(seed, *size) for size in ((20, 10, 3, 20), (30, 15, 5, 30), (40, 10, 2, 40),
                                                                  (50, 25, 3, 50), (60, 30, 4, 8))
                            for seed in range(2)],
    "indefinite": lambda: [indefinite(seed, *size) for size in ((15, 8, 0.6), (20, 10, 1.0), (30, 10, 0.3),
                                                                (50, 25, 0.2)) for seed in range(2)],
    "ball": lambda: [ball(seed, *size) for size in ((10, 1), (20, 1), (40, 1), (10, 2), (20, 2)) for seed in range(2)],
    "chain": lambda: [chain(seed, *size) for size in ((10, 5), (20, 5), (40, 10)) for seed in range(2)],
    "monomial": lambda: [monomial(seed, n) for n in (3, 4, 5) for seed in range(2)],
    "packing": lambda: [packing(n) for n in (3, 4, 5, 6)],
    "circles": lambda: [circles(seed, n) for n in (2, 3, 4) for seed in range(2)],
    "mpec": lambda: [mpec(seed, n, m) for n, m in ((2, 3), (4, 4), (6, 6)) for seed in range(3)],
    "wastewater": lambda: [wastewater(seed, *size) for seed, size in enumerate(((2, 2, 1), (3, 3, 2), (4, 3, 3),
                                                                                (5, 5, 3), (6, 6, 4)))],
    "power flow": lambda: [power_flow(seed, n) for seed, n in enumerate((3, 5, 9, 14))],
    "unit box": lambda: [unit_box(seed, n, m) for seed, (n, m) in enumerate(((8, 4), (10, 5), (20, 20), (30, 30)))],
    "free": lambda: [free(seed, n, m, k) for seed, (n, m, k) in enumerate(((10, 2, 0), (30, 3, 5), (60, 5, 0),
                                                                           (100, 2, 10)))],
}  # fmt: skip


def measure(name, one, limit):
    """Cold and warm seconds of the processor, whether it was proved, the optimum and nodes."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=answer, args=(there, name, one, limit))
    child.start()
    there.close()
    try:
        found = here.recv()
    except EOFError:
        print(f"  {one['name']}: the process of {name} aborts", flush=True)
        found = 0.0, 0.0, False, float("nan"), 0
    child.join()
    return found


def answer(pipe, name, one, limit):
    """Send what `measure` returns; a refusal has neither seconds nor an optimum."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.json"
        path.write_text(json.dumps(one))
        try:
            cold, *found = limited(name, path, limit)
            warm = limited(name, path, limit)[0] if found[0] and cold < AGAIN else cold
        except gopfast.InputError as error:
            print(f"  {one['name']}: {error}", flush=True)
            cold, warm, found = 0.0, 0.0, (False, float("nan"), 0)
    pipe.send((cold, warm, *found))


def limited(name, path, limit):
    """Solve; gopfast, whose limits are of the clock, is interrupted after so many seconds of the processor."""
    biconvex_table.CLOCK = time.process_time
    biconvex_table.TIME_LIMIT = WALL * limit if name == "gopfast" else limit
    if name == "gopfast":
        signal.signal(signal.SIGPROF, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        return SOLVERS[name](path)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def judged(found, limit):
    """Take away proofs that contradict another's: the greater of two proved minima is wrong; charge the limit."""
    proved = [value for *_, done, value, _ in found.values() if done]
    least = min(proved, default=0.0)
    every = {}
    for name, (cold, warm, done, value, n_nodes) in found.items():
        done = done and value - least <= AGREE * max(1.0, abs(least))
        every[name] = (cold, warm, done, value, n_nodes) if done else (limit, limit, False, value, n_nodes)
    return every


def prove(families, limit):
    """Print which problems' proofs are written and accepted by the checker."""
    counts = Counter()
    for family in families:
        for one in FAMILIES[family]():
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "problem.json"
                path.write_text(json.dumps(one))
                problem = gopfast.BiconvexProblem.from_json(path)
            result = gopfast.solve(problem, proof=True, time_limit=limit, n_threads=1, log=False)
            said = f"{result.status.name}, {result.notes[-1] if result.notes else 'no proof'}"
            if result.proof is not None:
                try:
                    checked = gopfast.check(result.proof, problem)
                    said = f"{result.status.name}, accepted: gap {checked.gap:.3g} of {abs(checked.objective):.6g}"
                    counts[family, "accepted"] += 1
                except gopfast.ProofError as error:
                    said = f"REFUSED: {error}"
                    counts[family, "refused"] += 1
            counts[family, "proved"] += result.success
            print(f"{one['name']}: {said}", flush=True)
        row = [f"{counts[family, key]} {key}" for key in ("proved", "accepted", "refused")]
        print(f"| {family} | " + " | ".join(row), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="limit of a solve, and the charge for a failure")
    parser.add_argument("--only", nargs="+", choices=FAMILIES, default=list(FAMILIES), help="these families alone")
    parser.add_argument("--solver", nargs="+", choices=SOLVERS, default=SHOWN, help="these solvers alone")
    parser.add_argument("--no-file", action="store_true", help="print, but write no file")
    parser.add_argument("--proofs", action="store_true", help="print whether proofs are accepted, and nothing else")
    arguments = parser.parse_args()
    if arguments.proofs:
        prove(arguments.only, arguments.seconds)
        return
    limit = arguments.seconds
    lines, means, every = [], [], []
    for family in arguments.only:
        found_all = []
        for one in FAMILIES[family]():
            found = judged({name: measure(name, one, limit) for name in arguments.solver}, limit)
            cells = [f"{value:.8g} | {'not proved' if not done else f'{cold:.3f}, {warm:.3f}'} | {n_nodes}"
                     for cold, warm, done, value, n_nodes in found.values()]  # fmt: skip
            lines.append(f"| {one['name']} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
            found_all.append(found)
        every += found_all
        means.append(summary(family, found_all))
        print(means[-1], flush=True)
    means.append(summary("**all**", every))
    print(means[-1])
    if arguments.no_file or not {*arguments.solver} <= {*SHOWN}:
        return
    heads = " | ".join(f"{name}: proved | cold mean, s | warm mean, s" for name in arguments.solver)
    columns = " | ".join(f"{name}: value | s | nodes" for name in arguments.solver)
    if len(arguments.solver) == 2:
        first, second = arguments.solver
        heads += f" | worst {first} : {second} | worst {second} : {first}"
    text = "\n".join([
        machine.heading("Generated biconvex problems"), "\n\n".join(__doc__.split("\n\n")[2:]).strip(),
        f"Limit {limit:g} s. "
        f"Means are geometric, shifted by {biconvex_table.SHIFT:g} s. Seconds of a problem are cold, warm.",
        "", f"| family | problems | {heads} |", "| --- " * (heads.count("|") + 3) + "|", *means,
        "",
        f"| problem | {columns} |", "| --- " * (1 + 3 * len(arguments.solver)) + "|", *lines, "",
    ])  # fmt: skip
    machine.write("biconvex_heldin.md", text)


def summary(family, every):
    """Return the row of a family: counts of proofs and means of each solver, worst ratios where there are two."""
    cells = [family, len(every)]
    for name in every[0]:
        cold, warm, done = zip(*(found[name][:3] for found in every), strict=True)
        cells += [sum(done), f"{shifted_mean(cold):.3f}", f"{shifted_mean(warm):.3f}"]
    if len(every[0]) == 2:
        ratios = [first[1] / second[1] for first, second in (found.values() for found in every)]
        cells += [f"{max(ratios):.2g}", f"{1 / min(ratios):.2g}"]
    return "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    main()
