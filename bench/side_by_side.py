"""gopfast beside scikit-learn, EM with known variance, SCIP and MAiNGO; writes bench/results/side_by_side.md.

Run: OMP_NUM_THREADS=1 python bench/side_by_side.py [--seconds 60] [row ...]     (about 25 minutes; rows as in ROWS)

Rows that are named are printed and not written.
"""

import argparse
import time

import datasets
import global_solvers
import machine
import numpy as np
from machine import table
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.mixture import GaussianMixture as SklearnMixture
from speed_table import ROWS as SPEED_ROWS, measure

import gopfast

EPSILON = 0.01
# Besides the goals: the largest galaxy problem that a general solver closes.
ROWS = {"minimal, empirical prior": SPEED_ROWS["minimal, empirical prior"]}
ROWS["galaxies K=2"] = (datasets.galaxies, 2, None, None, 1)
ROWS |= SPEED_ROWS

MOST_GLOBAL = 1000  # samples: the models of general solvers have a term for each sample and component
BOTH_FORMULATIONS = ("minimal, empirical prior", "galaxies K=2", "galaxies K=3", "galaxies K=4")
RESTARTS = 10
MISS = 0.01  # nats above the proved optimum


def kmeans(X, K, rng):
    return KMeans(K, n_init=1, random_state=int(rng.integers(2**31))).fit(X).cluster_centers_


def plus_plus(X, K, rng):
    return kmeans_plusplus(X, K, random_state=int(rng.integers(2**31)))[0]


def random(X, K, rng):
    tau = rng.uniform(size=(len(X), K))
    tau /= tau.sum(axis=1, keepdims=True)
    return (tau.T @ X) / tau.sum(axis=0)[:, None]


def random_from_data(X, K, rng):
    return X[rng.choice(len(X), K, replace=False)]


# The four values of scikit-learn's init_params, as means to start from.
STARTS = {"kmeans": kmeans, "k-means++": plus_plus, "random": random, "random_from_data": random_from_data}


def n_groups(n_samples):
    """How many times ten restarts are drawn: as many as take about a minute."""
    return 50 if n_samples <= 1000 else 4 if n_samples <= 10**5 else 1 if n_samples <= 10**6 else 0


def local_search(problem, strategy, groups, lowest, rng):
    """Seconds per ten restarts, single runs that miss, groups of ten that miss, and runs that did not converge."""
    ends, converged = [], []
    started = time.perf_counter()
    for _ in range(groups * RESTARTS):
        fit = gopfast.local.em(problem, start=STARTS[strategy](problem.X, problem.n_components, rng), tol=1e-6)
        ends.append(fit.objective)
        converged.append(fit.converged)
    seconds = (time.perf_counter() - started) / groups
    missed = np.array(ends) > lowest + MISS
    return seconds, missed.sum(), missed.reshape(groups, RESTARTS).all(axis=1).sum(), len(ends) - np.sum(converged)


def scikit_learn(problem, lowest):
    """Seconds of n_init=10; how far above the proved optimum its means lead EM with the variance known."""
    started = time.perf_counter()
    fit = SklearnMixture(problem.n_components, covariance_type="spherical", n_init=RESTARTS, random_state=0)
    fit.fit(problem.X)
    seconds = time.perf_counter() - started
    polished = gopfast.local.em(problem, start=fit.means_, tol=1e-6)
    return seconds, polished.objective - lowest


def cell(found, seconds):
    """One general solver's result: proved in time, or its gap, or its failure. Time-outs are charged in full."""
    if found["lower"] is None:
        return f"failed: {found['status']}; {max(found['seconds'], seconds):.0f} s charged", False
    if found["status"] == "infeasible":
        return f"failed: calls it infeasible; {seconds:g} s charged", False
    if found["upper"] is None or not np.isfinite(found["upper"]):
        return f"no solution in {seconds:g} s", False
    if found["lower"] < -1e15:
        return f"no bound in {seconds:g} s", False
    gap = found["upper"] - found["lower"]
    if gap <= EPSILON * (1 + 1e-6):
        return f"{found['seconds']:.3g} s, {found['nodes']:,} nodes", True
    return f"gap {gap:.3g} after {max(found['seconds'], seconds):.0f} s, {found['nodes']:,} nodes", False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of one run of a general solver")
    parser.add_argument("rows", nargs="*")
    arguments = parser.parse_args()
    seconds = arguments.seconds
    first, second, third = [], [], []
    solved, tried, charged = {}, {}, {}
    unsound = []
    head = machine.heading("Side by side", "scikit-learn", "pyscipopt", "maingopy")
    for name in arguments.rows or ROWS:
        make, n_components, prior, _, threads = ROWS[name]
        data = np.asarray(make(), dtype=float)
        time_proved, result = measure(data, n_components, prior, threads)
        problem = gopfast.GaussianMixture(data, n_components, prior=prior, covariance="known")
        lowest, groups = result.objective, n_groups(len(data))
        ten, other = "-", ("-", "-")
        if result.success and groups:
            rng = np.random.default_rng(0)
            row = [name, groups * RESTARTS]
            for strategy in STARTS:
                spent, singles, all_ten, unfinished = local_search(problem, strategy, groups, lowest, rng)
                late = f", {unfinished} unfinished" if unfinished else ""
                row.append(f"{singles / (groups * RESTARTS):.0%} / {all_ten} of {groups}{late}")
                if strategy == "k-means++":
                    ten = f"{spent:.3g}"
            above = "-"
            if prior is None:
                spent, above = scikit_learn(problem, lowest)
                other = (f"{spent:.3g}", "yes" if above > MISS else "no")
                above = f"{above:.2g}"
            second.append([*row, above])
        proof = [f"{time_proved:.3g}", result.status.name, f"{result.gap:.2g}", f"{result.n_nodes:,}"]
        first.append([name, threads, *proof, ten, *other])
        print(first[-1], second[-1:], flush=True)
        if len(data) > MOST_GLOBAL:
            third.append([name, *["not tried: N > 1000"] * 4])
            continue
        row = [name]
        for solver, formulation in global_solvers.SOLVERS:
            if formulation == "biconvex" and name not in BOTH_FORMULATIONS:
                row.append("not tried")
                continue
            found = global_solvers.run(solver, formulation, data, n_components, prior, seconds)
            text, proved = cell(found, seconds)
            row.append(text)
            key = f"{solver}, {formulation}"
            tried[key], solved[key] = tried.get(key, 0) + 1, solved.get(key, 0) + proved
            charged[key] = charged.get(key, 0.0) + (found["seconds"] if proved else max(seconds, found["seconds"]))
            if found["lower"] is not None and found["status"] != "infeasible" and found["lower"] > lowest + 1e-6:
                unsound.append(f"{key} on {name}: lower bound {found['lower']:.6f} above {lowest:.6f}")
        third.append(row)
        print(row, flush=True)
    text = head + f"""
Absolute gap {EPSILON}. gopfast: whole call, best of three (one where it takes over 2 s); everything else once, on one
thread.

## A proof beside ten restarts

*EM x 10*: gopfast's own EM with the variance known, that is the same objective, from k-means++ starts, drawing
included. *scikit-learn*: `GaussianMixture(covariance_type="spherical", n_init=10)`, the nearest model it has: its
variances are estimated, one for each component, and cannot be held at 1, so its likelihood is of another model and only
its time is comparable. *Missed*: whether EM with known variance, started from its means, ends more than {MISS} above
the proved optimum.

{table(["problem", "threads", "gopfast s", "status", "gap", "nodes", "EM x 10, s", "scikit-learn s", "missed"], first)}
## How often local methods miss the proved optimum

Single runs that end more than {MISS} above it / groups of ten restarts whose best does, for the start strategies of
scikit-learn, each feeding EM with known variance (`gopfast.local.em`, tol 1e-6, at most 1000 steps; *unfinished* if
that was not enough). Last column: the end of EM from scikit-learn's own fit (`n_init=10`), above the optimum.

{table(["problem", "runs", *STARTS, "from scikit-learn's fit"], second)}
## General global solvers

Formulations in `bench/global_solvers.py`; limit {seconds:g} s a run, in a process of its own, one thread, absolute gap
{EPSILON}; their bounds are as they report them. A time-out or a failure is charged in full.

{table(["problem", *(f"{s}, {f}" for s, f in global_solvers.SOLVERS)], third)}
"""
    totals = [f"- {key}: {solved[key]} of {tried[key]} proved, {charged[key]:.0f} s charged" for key in tried]
    text += "\n".join(totals) + "\n"
    text += "\nReported lower bounds above the optimum: " + ("; ".join(unsound) if unsound else "none") + ".\n"
    machine.write(None if arguments.rows else "side_by_side.md", text)


if __name__ == "__main__":
    main()
