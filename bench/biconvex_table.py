"""Time and nodes of the biconvex instances beside SCIP and MAiNGO; writes bench/results/biconvex.md.

Run: python bench/biconvex_table.py [name ...]     (needs pip install '.[bench]'; one thread each)

All solvers get relative and absolute gap 1e-6 and 30 s. Times are of the solve alone, best of two where it took less
than 2 s; gopfast's includes the building of its core. A failure is a missing proof or an optimum off by more than 1e-5
relative; it is charged 30 s. MAiNGO needs finite bounds: where the instance has none it gets +-1e4.
"""

import json
import math
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import gopfast

TIME_LIMIT = 30.0
CLOCK = time.perf_counter  # what seconds are; with time.process_time SCIP's limit is of the processor, too
GAP = 1e-6
SHIFT = 0.01  # seconds, of the shifted geometric mean
HERE = Path(__file__).parent
OUT = HERE / "results" / "biconvex.md"
FOLDER = Path(gopfast.datasets.__file__).parent / "biconvex"


def run_gopfast(path):
    problem = gopfast.BiconvexProblem.from_json(path)
    started = CLOCK()
    result = gopfast.solve(problem, epsilon=GAP, rel_tol=GAP, n_threads=1, time_limit=TIME_LIMIT)
    return CLOCK() - started, result.success, result.objective, result.n_nodes


def expression(record, variables):
    total = record["const"] + sum(a * variables[name] for name, a in record["lin"].items())
    return total + sum(a * variables[first] * variables[second] for first, second, a in record["quad"])


def run_scip(path):
    from pyscipopt import Model

    record = json.loads(path.read_text())
    model = Model()
    model.hideOutput()
    variables = {name: model.addVar(name, lb=low, ub=high) for name, (low, high) in record["variables"].items()}
    value = model.addVar("objective", lb=None)
    model.addCons(expression(record["objective"], variables) <= value)
    model.setObjective(value)
    for row in record["constraints"]:
        left, right = expression(row, variables), row["rhs"]
        senses = {"<=": left <= right, ">=": left >= right, "==": left == right}
        model.addCons(senses[row["sense"]])
    for name, setting in (("limits/gap", GAP), ("limits/absgap", GAP), ("limits/time", TIME_LIMIT),
                          ("timing/clocktype", 1 if CLOCK is time.process_time else 2)):  # fmt: skip
        model.setParam(name, setting)
    started = CLOCK()
    model.optimize()
    seconds = CLOCK() - started
    done = model.getStatus() in ("optimal", "gaplimit")
    return seconds, done, model.getObjVal() if model.getNSols() else math.inf, model.getNNodes()


def run_gurobi(path):
    """Run the trial that comes with gurobipy, up to 200 variables; its licence forbids publishing what it comes to."""
    import gurobipy

    record = json.loads(path.read_text())
    with gurobipy.Env(params={"OutputFlag": 0}) as environment, gurobipy.Model(env=environment) as model:
        ends = {name: [(-math.inf if low is None else low), (math.inf if high is None else high)]
                for name, (low, high) in record["variables"].items()}  # fmt: skip
        variables = {name: model.addVar(lb=low, ub=high) for name, (low, high) in ends.items()}
        model.setObjective(expression(record["objective"], variables))
        for row in record["constraints"]:
            left, right = expression(row, variables), row["rhs"]
            senses = {"<=": left <= right, ">=": left >= right, "==": left == right}
            model.addConstr(senses[row["sense"]])
        for name, setting in (("NonConvex", 2), ("MIPGap", GAP), ("MIPGapAbs", GAP), ("TimeLimit", TIME_LIMIT),
                              ("Threads", 1)):  # fmt: skip
            model.setParam(name, setting)
        started = time.perf_counter()
        try:
            model.optimize()
        except gurobipy.GurobiError:  # larger than the trial takes
            return 0.0, False, math.nan, 0
        seconds, done = time.perf_counter() - started, model.Status == gurobipy.GRB.OPTIMAL
        return seconds, done, model.ObjVal if model.SolCount else math.inf, int(model.NodeCount)


def run_maingo(path):
    import maingopy

    record = json.loads(path.read_text())
    names = list(record["variables"])

    class Model(maingopy.MAiNGOmodel):
        def get_variables(self):
            return [
                maingopy.OptimizationVariable(
                    maingopy.Bounds(-1e4 if low is None else low, 1e4 if high is None else high),
                    maingopy.VT_CONTINUOUS, name,
                )
                for name, (low, high) in record["variables"].items()
            ]  # fmt: skip

        def evaluate(self, z):
            variables = dict(zip(names, z, strict=True))
            out = maingopy.EvaluationContainer()
            # a constant alone is no expression of theirs
            zero = 0.0 * z[0]
            out.objective = zero + expression(record["objective"], variables)
            below, equal = [], []
            for row in record["constraints"]:
                rest = zero + expression(row, variables) - row["rhs"]
                if row["sense"] == "==":
                    equal.append(rest)
                else:
                    below.append(rest if row["sense"] == "<=" else -rest)
            out.ineq, out.eq = below, equal
            return out

    model = Model()
    solver = maingopy.MAiNGO(model)
    for name, setting in (("epsilonR", GAP), ("epsilonA", GAP), ("maxTime", TIME_LIMIT), ("maxwTime", TIME_LIMIT)):
        solver.set_option(name, setting)
    solver.set_log_file_name(str(Path(tempfile.gettempdir(), "maingo.log")))
    solver.set_option("loggingDestination", 0)
    solver.set_option("writeResultFile", 0)
    started = time.perf_counter()
    status = solver.solve()
    seconds = time.perf_counter() - started
    done = status == maingopy.GLOBALLY_OPTIMAL
    return seconds, done, solver.get_objective_value() if done else math.inf, solver.get_iterations()


SOLVERS = {"gopfast": run_gopfast, "SCIP": run_scip, "MAiNGO": run_maingo}


def measure(run, path, published):
    """Seconds, nodes and whether the published optimum was proved; best of two short runs."""
    best = None
    for _ in range(2):
        try:
            seconds, done, value, n_nodes = run(path)
        except ImportError:
            return None
        done = done and abs(value - published) <= 1e-5 * max(1.0, abs(published))
        if best is None or seconds < best[0]:
            best = seconds, n_nodes, done
        if seconds > 2.0:
            break
    return best


def shifted_mean(seconds):
    return math.exp(sum(math.log(s + SHIFT) for s in seconds) / len(seconds)) - SHIFT


def main(names):
    paths = [path for path in sorted(FOLDER.glob("*.json")) if not names or path.stem in names]
    rows, times, failures = [], {name: [] for name in SOLVERS}, dict.fromkeys(SOLVERS, 0)
    for path in paths:
        published = json.loads(path.read_text())["optimum"]
        cells = []
        for name, run in SOLVERS.items():
            found = measure(run, path, published)
            if found is None:
                cells.append("not installed | - ")
                continue
            seconds, n_nodes, done = found
            times[name].append(seconds if done else TIME_LIMIT)
            failures[name] += not done
            cells.append(f"{1e3 * seconds:.1f}{'' if done else ' (failed)'} | {n_nodes}")
        rows.append(f"| {path.stem} | {published:g} | " + " | ".join(cells) + " |")
        print(rows[-1], flush=True)
    means = [f"{1e3 * shifted_mean(times[name]):.1f}" if times[name] else "-" for name in SOLVERS]
    rows.append("| **shifted geometric mean, ms** | | " + " | ".join(f"**{mean}** | " for mean in means) + " |")
    rows.append("| **failures** | | " + " | ".join(f"**{failures[name]}** | " for name in SOLVERS) + " |")
    print("\n".join(rows[-2:]))
    if names:
        return
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    head = "| instance | optimum | " + " | ".join(f"{name} ms | nodes" for name in SOLVERS) + " |"
    OUT.write_text(
        f"# Biconvex instances\n\nMade by `python bench/biconvex_table.py` at commit {commit}, {platform.machine()}, "
        f"Python {platform.python_version()}.\n{__doc__.split(chr(10) * 2)[2].strip()}\n"
        f"Mean shifted by {1e3 * SHIFT:.0f} ms.\n\n{head}\n" + "| --- " * (2 + 2 * len(SOLVERS)) + "|\n"
        + "\n".join(rows) + "\n"
    )  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
