"""Latent class models with published optima, and the "100 Swiss francs"; writes bench/results/latent_classes.md.

Run: python bench/latent_classes.py [--seconds 60] [--starts 500] [--stepmix PYTHON] [row ...]

PYTHON is an interpreter that has StepMix (`pip install stepmix`), by default this one; where it has none, the package's
own EM runs the starts. Rows are "table K", or part of one; rows that are named are printed and not written.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import machine
import numpy as np

import gopfast

# Table and number of classes: log-likelihood as poLCA's manual and help pages have it.
PUBLISHED = {
    ("carcinoma", 1): -524.4648, ("carcinoma", 2): -317.2568, ("carcinoma", 3): -293.705, ("carcinoma", 4): -289.2858,
    ("values", 1): -543.6498, ("values", 2): -504.4677, ("values", 3): -503.3011,
    ("cheating", 2): -440.0271,
    ("gss82", 2): -2783.268, ("gss82", 3): -2754.545, ("gss82", 4): -2746.621,
    ("Swiss francs", 2): 24 * np.log(3 / 40) + 16 * np.log(1 / 20),
}  # fmt: skip
RELAXATIONS = (None, "pricing")
TOLERANCE = 0.01  # nats
HEADER = (
    "table", "K", "published", "found", "status", "log-likelihood at most", "gap", "time s", "processor s", "nodes",
    "pricing: status", "gap", "time s", "starts that reach it", "one start, s",
)  # fmt: skip


def table(name):
    """Rows (n, d) of labels."""
    if name != "Swiss francs":
        return gopfast.datasets.load_labels(name)[0]
    counts = np.full((4, 4), 2) + 2 * np.eye(4, dtype=int)
    return np.array([[str(i), str(j)] for i in range(4) for j in range(4) for _ in range(counts[i, j])])


def em_starts(problem, n_starts):
    """Log-likelihoods that the package's own EM reaches from random starts, and its time."""
    began = time.perf_counter()
    runs = [gopfast.local.em(problem, random_state=seed) for seed in range(n_starts)]
    return np.array([-run.objective for run in runs]), time.perf_counter() - began


def stepmix_starts(python, X, K, n_starts):
    """The same of StepMix; None where it is not installed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        with path.open("w", encoding="utf-8", newline="") as lines:
            csv.writer(lines).writerows([[f"item {j}" for j in range(X.shape[1])], *X.tolist()])
        script = Path(__file__).with_name("stepmix_starts.py")
        run = subprocess.run([python, str(script), str(path), str(K), str(n_starts)], capture_output=True, text=True)
    if "No module named 'stepmix'" in run.stderr:
        return None
    run.check_returncode()
    answer = json.loads(run.stdout.splitlines()[-1])
    return np.array(answer["reached"]), answer["seconds"]


def row(name, K, published, arguments):
    """One line of the table."""
    X = table(name)
    results, processor = [], []
    for relaxation in RELAXATIONS:
        problem, began = gopfast.LatentClass(X, K), time.process_time()
        results.append(
            gopfast.solve(
                problem, TOLERANCE, relaxation=relaxation if K > 1 else None, n_threads=1,
                time_limit=arguments.seconds, log=False,
            )
        )  # fmt: skip
        processor.append(time.process_time() - began)
    starts = stepmix_starts(arguments.stepmix, X, K, arguments.starts) or em_starts(problem, arguments.starts)
    reached, seconds = starts
    best = max(-min(result.objective for result in results), reached.max())
    default, pricing = results
    return [
        name, K, f"{published:.4f}", f"{-default.objective:.4f}", _status(default), f"{-default.lower_bound:.4f}",
        f"{default.gap:.3g}", f"{default.time:.2f}", f"{processor[0]:.2f}",
        f"{default.n_nodes:,}",
        _status(pricing), f"{pricing.gap:.3g}", f"{pricing.time:.2f}",
        f"{int((reached > best - TOLERANCE).sum())} of {len(reached)}", f"{seconds / len(reached):.2g}",
    ]  # fmt: skip


def _status(result):
    return "proved" if result.success else result.status.name


def main():
    """Run the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--starts", type=int, default=500)
    parser.add_argument("--stepmix", default=sys.executable)
    parser.add_argument("rows", nargs="*")
    arguments = parser.parse_args()
    rows = []
    for (name, K), published in PUBLISHED.items():
        if arguments.rows and not any(wanted in f"{name} {K}" for wanted in arguments.rows):
            continue
        rows.append(row(name, K, published, arguments))
        print(*rows[-1], sep=" | ", flush=True)
    has_stepmix = stepmix_starts(arguments.stepmix, table("values"), 2, 1) is not None
    tool = "StepMix (its defaults, equal rows merged)" if has_stepmix else "the package's own EM"
    note = (
        f"One thread, {arguments.seconds:g} s for each of the two relaxations, proved to {TOLERANCE} nats; beside "
        f"{arguments.starts} random starts of {tool}. A start reaches the optimum where it ends within {TOLERANCE} "
        "nats of the best log-likelihood known. The published figure of the Swiss francs (a 4 x 4 table of two items, "
        "4 on the diagonal and 2 elsewhere) is the conjecture of Sturmfels, 24 log(3/40) + 16 log(1/20).\n"
    )
    text = "\n".join([machine.heading("Latent classes", "scipy"), note, machine.table(HEADER, rows)])
    machine.write(None if arguments.rows else "latent_classes.md", text)


if __name__ == "__main__":
    main()
