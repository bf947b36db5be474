"""Mixtures as general global solvers take them: SCIP by PySCIPOpt, MAiNGO by maingopy. Used by side_by_side.py.

Two formulations of the same problem, with bounds and ordered labels:

- "density": min - sum_i log sum_k pi_k exp(-|x_i - mu_k|^2 / 2) over pi and mu: few variables, deep expressions;
- "biconvex": min over tau and mu of sum_k (N_k |mu_k|^2 / 2 - mu_k' T_k) + sum_ik tau_ik log tau_ik
  - sum_k N_k log(N_k / N) + sum_i |x_i|^2 / 2, with N_k = sum_i tau_ik, T_k = sum_i tau_ik x_i: the paper's problem
  with pi at its best and all that is not convex in the 2 K aggregates.

Both with the prior term e/2 sum |mu|^2 - (K d / 2) log e where the prior is "empirical".

Run by itself: python bench/global_solvers.py SOLVER FORMULATION SECONDS < problem.json   (prints one line of JSON)
"""

import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

GAP = 0.01
GRACE = 30.0  # seconds that a solver may overrun its limit before it is killed
SOLVERS = (("SCIP", "density"), ("SCIP", "biconvex"), ("MAiNGO", "density"), ("MAiNGO", "biconvex"))


def run(solver, formulation, data, n_components, prior, seconds):
    """Solve in a process of its own; returns status, lower, upper, seconds and nodes. Never raises."""
    problem = {"data": np.reshape(data, (len(data), -1)).tolist(), "n_components": n_components, "prior": prior}
    started = time.perf_counter()
    script = str(Path(__file__).resolve())
    try:
        with tempfile.TemporaryDirectory() as folder:  # MAiNGO leaves files where it runs
            done = subprocess.run(
                [sys.executable, script, solver, formulation, str(seconds)],
                input=json.dumps(problem),
                capture_output=True,
                text=True,
                timeout=seconds + GRACE,
                cwd=folder,
            )
        lines = done.stdout.strip().splitlines()
        found = json.loads(lines[-1]) if done.returncode == 0 and lines else None
        reason = f"crashed ({done.returncode})" if found is None else None
        if found is None and "ModuleNotFoundError" in done.stderr:
            reason = "not installed"
    except subprocess.TimeoutExpired:
        found, reason = None, "killed"
    elapsed = time.perf_counter() - started
    return found or {"status": reason, "lower": None, "upper": None, "seconds": max(elapsed, seconds), "nodes": None}


def bounds(data, prior):
    """Least and largest mean per coordinate; with a prior, means are shrunk towards 0."""
    low, high = data.min(axis=0), data.max(axis=0)
    return (np.minimum(low, 0), np.maximum(high, 0)) if prior else (low, high)


def scip(formulation, data, n_components, prior, seconds):
    from pyscipopt import Model, exp, log, quicksum

    n, d = data.shape
    low, high = bounds(data, prior)
    components, samples, coordinates = range(n_components), range(n), range(d)
    model = Model()
    model.hideOutput()
    model.setParam("limits/time", seconds)
    model.setParam("limits/absgap", GAP)
    model.setParam("parallel/maxnthreads", 1)
    mu = [[model.addVar(f"mu{k},{j}", lb=low[j], ub=high[j]) for j in coordinates] for k in components]
    for k in components[1:]:
        model.addCons(mu[k - 1][0] <= mu[k][0])
    terms = []
    if formulation == "density":
        pi = [model.addVar(f"pi{k}", lb=0, ub=1) for k in components]
        model.addCons(quicksum(pi) == 1)
        for i in samples:
            t = model.addVar(f"t{i}", lb=None)
            density = quicksum(
                pi[k] * exp(-0.5 * quicksum((data[i, j] - mu[k][j]) * (data[i, j] - mu[k][j]) for j in coordinates))
                for k in components
            )
            model.addCons(t >= -log(density))
            terms.append(t)
    else:
        tau = [[model.addVar(f"tau{i},{k}", lb=0, ub=1) for k in components] for i in samples]
        for i in samples:
            model.addCons(quicksum(tau[i]) == 1)
        for k in components:
            count = model.addVar(f"N{k}", lb=0, ub=n)
            model.addCons(count == quicksum(tau[i][k] for i in samples))
            cost = model.addVar(f"V{k}", lb=None)
            nonconvex = -count * log(count) + math.log(n) * count
            for j in coordinates:
                total = model.addVar(f"T{k},{j}", lb=None)
                model.addCons(total == quicksum(float(data[i, j]) * tau[i][k] for i in samples))
                nonconvex += 0.5 * count * mu[k][j] * mu[k][j] - mu[k][j] * total
            model.addCons(cost >= nonconvex)
            terms.append(cost)
            for i in samples:
                entropy = model.addVar(f"h{i},{k}", lb=-1)
                model.addCons(entropy >= tau[i][k] * log(tau[i][k]))
                terms.append(entropy)
    offset = 0.5 * float((data**2).sum()) if formulation == "biconvex" else 0.0
    if prior:
        e = model.addVar("e", lb=1e-6, ub=1e3)
        cost = model.addVar("prior", lb=None)
        half = 0.5 * n_components * d
        model.addCons(cost >= 0.5 * e * quicksum(m * m for row in mu for m in row) - half * log(e))
        terms.append(cost)
    model.setObjective(quicksum(terms) + offset, "minimize")
    model.optimize()
    upper = model.getObjVal() if model.getNSols() else None
    return {
        "status": model.getStatus(),
        "lower": model.getDualbound(),
        "upper": upper,
        "nodes": model.getNTotalNodes(),
    }


def maingo(formulation, data, n_components, prior, seconds):
    import maingopy
    from maingopy import Bounds, EvaluationContainer, MAiNGO, OptimizationVariable, exp, log, sqr, xlogx

    n, d = data.shape
    low, high = bounds(data, prior)
    components, samples, coordinates = range(n_components), range(n), range(d)

    class Mixture(maingopy.MAiNGOmodel):
        def get_variables(self):
            box = [(low[j], high[j]) for _ in components for j in coordinates]
            rest = n_components - 1  # the last weight, and the last responsibility of a sample, follow from the others
            box += [(0.0, 1.0)] * (rest if formulation == "density" else n * rest)
            box += [(1e-6, 1e3)] if prior else []
            return [OptimizationVariable(Bounds(float(a), float(b))) for a, b in box]

        def get_initial_point(self):
            return []

        def evaluate(self, variables):
            out = EvaluationContainer()
            mu = [variables[k * d : (k + 1) * d] for k in components]
            free = variables[n_components * d :]
            value = 0.0
            inequalities = [mu[k - 1][0] - mu[k][0] for k in components[1:]]
            if formulation == "density":
                pi = list(free[: n_components - 1])
                pi.append(1.0 - sum(pi, start=0.0))
                inequalities.append(-1.0 * pi[-1])
                for i in samples:
                    density = 0.0
                    for k in components:
                        density += pi[k] * exp(-0.5 * sum((sqr(mu[k][j] - data[i, j]) for j in coordinates), start=0.0))
                    value -= log(maingopy.max(density, 1e-300))
            else:
                tau = []
                for i in samples:
                    row = list(free[i * (n_components - 1) : (i + 1) * (n_components - 1)])
                    row.append(1.0 - sum(row, start=0.0))
                    inequalities.append(-1.0 * row[-1])
                    tau.append(row)
                value += 0.5 * float((data**2).sum())
                for k in components:
                    count = sum((tau[i][k] for i in samples), start=0.0)
                    value += math.log(n) * count - xlogx(maingopy.max(count, 1e-12))
                    value += sum((xlogx(maingopy.max(tau[i][k], 1e-12)) for i in samples), start=0.0)
                    for j in coordinates:
                        total = sum((float(data[i, j]) * tau[i][k] for i in samples), start=0.0)
                        value += 0.5 * count * sqr(mu[k][j]) - mu[k][j] * total
            if prior:
                e = variables[-1]
                value += 0.5 * e * sum((sqr(m) for row in mu for m in row), start=0.0)
                value -= 0.5 * n_components * d * log(e)
            out.objective = value
            out.ineq = inequalities
            return out

    model = Mixture()  # MAiNGO keeps no reference
    solver = MAiNGO(model)
    solver.set_option("maxTime", seconds)
    solver.set_option("epsilonA", GAP)
    solver.set_option("epsilonR", 1e-9)
    solver.set_option("loggingDestination", maingopy.LOGGING_NONE)
    for stage in ("BAB", "LBP", "UBP"):
        solver.set_option(f"{stage}_verbosity", maingopy.VERB_NONE)
    status = solver.solve()
    try:
        upper = solver.get_objective_value()
    except maingopy.MAiNGOException:
        upper = None
    return {
        "status": str(status).split(".")[-1],
        "lower": solver.get_final_LBD(),
        "upper": upper,
        "nodes": int(solver.get_iterations()),
    }


def main(solver, formulation, seconds):
    problem = json.load(sys.stdin)
    solve = {"SCIP": scip, "MAiNGO": maingo}[solver]
    started = time.perf_counter()
    found = solve(formulation, np.array(problem["data"]), problem["n_components"], problem["prior"], float(seconds))
    print()
    print(json.dumps(found | {"seconds": time.perf_counter() - started}))


if __name__ == "__main__":
    main(*sys.argv[1:])
