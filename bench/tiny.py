"""A thousand tiny biconvex problems, one after another: what a solve costs beside its search; beside SCIP.

Run: python bench/tiny.py [--count 1000] [--no-file]     (half a minute; SCIP needs pip install '.[bench]')

Problems drawn by NumPy's default_rng(seed): two to five variables in [0, 2] or [-2, 2], integer coefficients, one to
three linear rows, some bilinear rows. Building is that of the `BiconvexProblem` from arrays and of the model through
PySCIPOpt; solving is `gopfast.solve` with default tolerances (1e-6 relative), one thread, and `optimize` with gap 1e-6.
Milliseconds of processor time, the best of three rounds over all problems; values are equal within 1e-5 relative.
"""

import argparse
import time

import machine
import numpy as np

import gopfast

ROUNDS = 3
GAP = 1e-6
AGREE = 1e-5


def draw(seed):
    """Arguments of a `BiconvexProblem` with a feasible point, as arrays."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    lower, upper = (0.0, 2.0) if rng.random() < 0.5 else (-2.0, 2.0)
    Q = np.triu(rng.integers(-5, 6, (n, n)), 1) * (rng.random((n, n)) < 0.6)
    A, inside = rng.integers(-4, 6, (m, n)).astype(float), lower + (upper - lower) * rng.random(n)
    rows = []
    if rng.random() < 0.4:
        form, a = np.zeros((n, n)), rng.integers(-3, 4, n).astype(float)
        form[0, 1] = float(rng.integers(1, 4))
        rows.append((form, a, None, float(np.ceil(a @ inside + inside @ form @ inside))))
    return {
        "c": rng.integers(-5, 6, n).astype(float), "Q": Q.astype(float), "A": A, "row_upper": np.ceil(A @ inside),
        "quadratic_rows": rows, "lower": lower, "upper": upper,
    }  # fmt: skip


def build_gopfast(arguments):
    return gopfast.BiconvexProblem(**arguments)


def solve_gopfast(problem):
    result = gopfast.solve(problem, n_threads=1)
    return result.objective if result.success else float("nan")


def build_scip(arguments):
    from pyscipopt import Model, quicksum

    c, Q, A = arguments["c"], arguments["Q"], arguments["A"]
    model = Model()
    model.hideOutput()
    z = [model.addVar(lb=arguments["lower"], ub=arguments["upper"]) for _ in c]
    value = model.addVar(lb=None)
    products = quicksum(float(Q[i, j]) * z[i] * z[j] for i, j in zip(*np.nonzero(Q), strict=True))
    model.addCons(quicksum(float(a) * x for a, x in zip(c, z, strict=True)) + products <= value)
    for a, limit in zip(A, arguments["row_upper"], strict=True):
        model.addCons(quicksum(float(b) * x for b, x in zip(a, z, strict=True)) <= float(limit))
    for form, a, _, limit in arguments["quadratic_rows"]:
        linear = quicksum(float(b) * x for b, x in zip(a, z, strict=True))
        model.addCons(linear + float(form[0, 1]) * z[0] * z[1] <= limit)
    model.setObjective(value)
    model.setParam("limits/gap", GAP)
    return model


def solve_scip(model):
    model.optimize()
    return model.getObjVal() if model.getStatus() in ("optimal", "gaplimit") else float("nan")


def measure(build, solve, problems):
    """Milliseconds of building and of solving a problem, on average and at the median, and the values found."""
    best, values = np.full(4, np.inf), None
    for _ in range(ROUNDS):
        spent, values = [], []
        for arguments in problems:
            started = time.process_time()
            model = build(arguments)
            built = time.process_time()
            values.append(solve(model))
            spent.append((built - started, time.process_time() - built))
        best = np.minimum(best, 1e3 * np.concatenate([np.mean(spent, axis=0), np.median(spent, axis=0)]))
    return best, np.array(values)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="number of problems")
    parser.add_argument("--no-file", action="store_true", help="print, but write no file")
    arguments = parser.parse_args()
    problems = [draw(seed) for seed in range(arguments.count)]
    lines, reference = [], None
    for name, *calls in (("gopfast", build_gopfast, solve_gopfast), ("SCIP", build_scip, solve_scip)):
        try:
            times, values = measure(*calls, problems)
        except ImportError:
            print(f"{name} is not installed")
            continue
        reference = values if reference is None else reference
        agree = int((np.abs(values - reference) <= AGREE * np.maximum(1.0, np.abs(reference))).sum())
        cells = " | ".join(f"{milliseconds:.2f}" for milliseconds in times)
        lines.append(f"| {name} | {cells} | {int(np.isfinite(values).sum())} | {agree} |")
        print(lines[-1], flush=True)
    if not arguments.no_file:
        head = "| solver | building, mean | solving, mean | building, median | solving, median | proved | equal |"
        machine.write("tiny.md", "\n".join([
            machine.heading("A thousand tiny problems"), __doc__.split("\n\n")[2].strip(), "",
            f"{arguments.count} problems.", "", head, "| --- " * 7 + "|", *lines, "",
        ]))  # fmt: skip


if __name__ == "__main__":
    main()
