"""Generated biconvex problems without upper bounds beside SCIP; writes bench/results/biconvex_unbounded.md.

Run: python bench/biconvex_unbounded.py [--seconds 10] [--seeds 3] [--only FAMILY ...] [--no-file]

Needs pip install '.[bench]'; one thread each, gap 1e-6. Integer data, drawn by NumPy's default_rng(seed); variables are
at least 0, or free, and nothing but rows bounds them from above:

- ratio: the least (p'z + p0) / (q'z + q0) over rows of z, as a variable times the denominator; its optimum is known
  from a linear program (Charnes and Cooper 1962), and mostly reached nowhere but at infinity;
- factors: x_k (a_k'z + b_k) = c_k with positive data, least cost of x and z;
- shares: products of amounts and shares that add up to 1 or more, limited in sum; the amounts at their greatest;
- geometric: the least c'x over x_i x_j >= k_ij along a ring, and its chords;
- quotients: x_k = p_k / q_k along a chain, p and q affine in z, least deviation;
- squares: the least bilinear function over a convex row and a row of nonnegative products;
- ray: a feasible point and a ray from it along which the objective falls without end, which is to be found; its number
  stands for no size.

Times are of the processor, limits of the clock. Status and optimum that are known are compared: what differs by more
than 1e-5 relative is wrong.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import biconvex_table
import machine
import numpy as np
from biconvex_networks import record, row
from biconvex_table import run_scip, shifted_mean
from fuzzing import statuses
from scipy.optimize import linprog

import gopfast
from gopfast import BiconvexProblem, Status

AGREE = 1e-5


def names(letter, n):
    return [f"{letter}{i}" for i in range(n)]


def terms(variables, coefficients):
    return {name: float(a) for name, a in zip(variables, coefficients, strict=True) if a}


def ratio(rng, n):
    z = names("z", n)
    p, q, m = rng.integers(-4, 9, n), rng.integers(1, 9, n), n // 2 + 1
    p0, q0 = int(rng.integers(-5, 6)), int(rng.integers(1, 9))
    G, h = rng.integers(-3, 7, (m, n)), rng.integers(1, 20, m)
    rows = [row(">=", right, terms(z, left)) for left, right in zip(G, h, strict=True)]
    # t (q'z + q0) = p'z + p0
    products = [["t", name, a] for name, a in terms(z, q).items()]
    rows.append(row("==", p0, {"t": float(q0), **terms(z, -p)}, products))
    one = record("ratio", {name: [0.0, None] for name in z} | {"t": [None, None]}, {"t": 1.0}, [], rows)
    # y = z s, s = 1 / (q'z + q0)
    if linprog(np.zeros(n), A_ub=-G, b_ub=-h, bounds=(0, None)).status != 0:
        return one, None
    found = linprog(
        [*p, p0], A_ub=np.column_stack([-G, h]), b_ub=np.zeros(m), A_eq=[[*q, q0]], b_eq=[1.0], bounds=(0, None)
    )
    return one, found.fun if found.status == 0 else None


def factors(rng, n):
    z, x = names("z", n), names("x", n)
    rows = []
    for name in x:
        a = rng.integers(0, 5, n) * (rng.random(n) < 0.6)
        rows.append(row("==", rng.integers(5, 60), {name: float(rng.integers(1, 5))},
                        [[name, other, value] for other, value in terms(z, a).items()]))  # fmt: skip
    rows.append(row("<=", rng.integers(-4, 5), terms(z + x, rng.integers(-3, 3, 2 * n))))
    linear = terms(z + x, rng.integers(-1, 9, 2 * n))
    return record("factors", {name: [0.0, None] for name in z + x}, linear, [], rows), None


def shares(rng, n):
    x, y = names("x", n), names("y", n)
    rows = [row(">=", 1, dict.fromkeys(y, 1.0))]
    for _ in range(2):
        a = rng.integers(1, 9, (n, n))
        rows.append(row("<=", rng.integers(20, 80), {},
                        [[x[i], y[j], float(a[i, j])] for i in range(n) for j in range(n)]))  # fmt: skip
    variables = {name: [0.0, None] for name in x + y}
    return record("shares", variables, terms(x + y, [*-rng.integers(1, 9, n), *rng.integers(0, 4, n)]), [], rows), None


def geometric(rng, n):
    x = names("x", n)
    pairs = {tuple(sorted((i, (i + 1) % n))) for i in range(n)}
    pairs |= {tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(n // 2)}
    rows = [row(">=", rng.integers(1, 30), {}, [[x[i], x[j], 1.0]]) for i, j in sorted(pairs)]
    return record("geometric", {name: [0.0, None] for name in x}, terms(x, rng.integers(1, 9, n)), [], rows), None


def quotients(rng, n):
    z, x, e = names("z", n + 1), names("x", n), names("e", n)
    rows = []
    for k in range(n):
        q = rng.integers(1, 5, 2)
        # x q(z) = p(z), q at least 1
        rows.append(row("==", rng.integers(1, 9), {x[k]: 1.0, z[k]: -float(rng.integers(1, 5)), z[k + 1]: 1.0},
                        [[x[k], z[k], float(q[0])], [x[k], z[k + 1], float(q[1])]]))  # fmt: skip
        target = float(rng.integers(1, 9))
        rows += [row(">=", -target, {e[k]: 1.0, x[k]: -1.0}), row(">=", target, {e[k]: 1.0, x[k]: 1.0})]
    linear = dict.fromkeys(e, 1.0) | terms(z, rng.integers(1, 4, n + 1))
    return record("quotients", {name: [0.0, None] for name in z + x + e}, linear, [], rows), None


def squares(rng, n):
    x = names("x", n)
    root = rng.integers(-2, 3, (n, n))
    Q = root.T @ root + np.eye(n, dtype=int)
    form = [[x[i], x[j], float(Q[i, j]) * (2 - (i == j))] for i in range(n) for j in range(i, n) if Q[i, j]]
    rows = [row("<=", rng.integers(5, 60), terms(x, rng.integers(-9, 10, n)), form)]
    rows.append(row("<=", rng.integers(5, 40), {}, [[x[i], x[i + 1], float(rng.integers(1, 9))] for i in range(n - 1)]))
    products = [[x[i], x[j], float(rng.integers(-9, 10))] for i in range(n) for j in range(i)]
    variables = {name: [0.0, None] for name in x} | {x[0]: [None, None]}
    return record("squares", variables, terms(x, rng.integers(-9, 10, n)), products, rows), None


def ray(rng, n):
    """A problem of `fuzzing.statuses`, whose ray is along products too: two factors may move together."""
    while True:
        known = statuses.ray(rng)
        if known.truth == "unbounded":
            break
    x = names("x", known.n)

    def quad(Q):
        return [[x[i], x[j], float(Q[i, j])] for i, j in zip(*np.nonzero(Q), strict=True)]

    rows = []
    for Q, a, low, high in known.rows:
        rows += [row(">=", low, terms(x, a), quad(Q))] if low > -np.inf else []
        rows += [row("<=", high, terms(x, a), quad(Q))] if high < np.inf else []
    ends = {name: [low if np.isfinite(low) else None, high if np.isfinite(high) else None]
            for name, low, high in zip(x, known.lower.tolist(), known.upper.tolist(), strict=True)}  # fmt: skip
    return record("ray", ends, terms(x, known.c), quad(known.Q), rows), -np.inf


FAMILIES = {"ratio": (ratio, (3, 8, 20)), "factors": (factors, (2, 3, 5)), "shares": (shares, (2, 3, 5)),
            "geometric": (geometric, (4, 6, 10)), "quotients": (quotients, (2, 4, 8)), "squares": (squares, (3, 5, 8)),
            "ray": (ray, (1, 2, 3))}  # fmt: skip


def run_gopfast(path):
    """Seconds, whether it is proved (unbounded ones, too), value, bound and nodes."""
    problem = BiconvexProblem.from_json(path)
    started = time.process_time()
    result = gopfast.solve(problem, epsilon=1e-6, rel_tol=1e-6, n_threads=1, log=False,
                           time_limit=biconvex_table.TIME_LIMIT)  # fmt: skip
    done = result.status in (Status.OPTIMAL, Status.UNBOUNDED, Status.INFEASIBLE)
    return time.process_time() - started, done, result.objective, result.n_nodes, result.status.name


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="limit of a solve, and the charge for a failure")
    parser.add_argument("--seeds", type=int, default=3, help="problems of each size")
    parser.add_argument("--only", nargs="+", choices=FAMILIES, default=list(FAMILIES), help="these families alone")
    parser.add_argument("--gopfast", action="store_true", help="without SCIP")
    parser.add_argument("--no-file", action="store_true", help="print, but write no file")
    arguments = parser.parse_args()
    limit = biconvex_table.TIME_LIMIT = arguments.seconds
    lines, means = [], []
    for family in arguments.only:
        make, sizes = FAMILIES[family]
        seconds, proved, n_wrong = ([], []), [0, 0], 0
        for size in sizes:
            for seed in range(arguments.seeds):
                one, known = make(np.random.default_rng([seed, size]), size)
                name = f"{family} {size}, seed {seed}"
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder) / "problem.json"
                    path.write_text(json.dumps(one))
                    own, done, value, n_nodes, status = run_gopfast(path)
                    started = time.process_time()
                    theirs = (0.0, False, np.nan, 0) if arguments.gopfast else run_scip(path)
                    theirs = (time.process_time() - started, *theirs[1:])
                optimum = known if known is not None else theirs[2] if theirs[1] else value
                wrong = done and abs(value - optimum) > AGREE * max(1.0, abs(optimum))
                n_wrong += wrong
                for which, (used, is_done) in enumerate(((own, done and not wrong), theirs[:2])):
                    seconds[which].append(used if is_done else limit)
                    proved[which] += is_done
                how = ("" if done else f" ({status})") + (" WRONG" if wrong else "")
                cells = [f"{value:.8g}", f"{own:.3f}{how}", n_nodes,
                         f"{theirs[2]:.8g}", f"{theirs[0]:.3f}{'' if theirs[1] else ' (not proved)'}", theirs[3]]
                lines.append(f"| {name} | " + " | ".join(map(str, cells)) + " |")
                print(lines[-1], flush=True)
        means.append(f"| {family} | {len(seconds[0])} | {proved[0]} | {shifted_mean(seconds[0]):.3f} | {proved[1]} | "
                     f"{shifted_mean(seconds[1]):.3f} | {n_wrong} |")  # fmt: skip
        print(means[-1], flush=True)
    if arguments.no_file or arguments.only != list(FAMILIES) or arguments.gopfast:
        return
    text = "\n".join([
        machine.heading("Biconvex problems without upper bounds"), "\n\n".join(__doc__.split("\n\n")[2:]).strip(), "",
        f"Limit {limit:g} s. SCIP's way of saying that a problem is unbounded is not counted as proved.", "",
        "| family | problems | gopfast: proved | shifted mean, s | SCIP: proved | shifted mean, s | gopfast: wrong |",
        "| --- " * 7 + "|", *means, "",
        "| problem | gopfast: value | s | nodes | SCIP: value | s | nodes |", "| --- " * 7 + "|", *lines, "",
    ])  # fmt: skip
    machine.write("biconvex_unbounded.md", text)


if __name__ == "__main__":
    main()
