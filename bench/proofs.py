"""Size of proofs, time to write and to check them, random problems and changed proofs; writes bench/results/proofs.md.

Run: python bench/proofs.py [--quick] [--time-limit S]     (about an hour; --quick: 300 random problems, 280 changes)

Rows are those of speed.md and real_data.md that proofs cover and that keep all samples in one pass of the checker.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import machine
import numpy as np
import real_table
import speed_table

import gopfast

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.support import proofs

EPSILON, RANDOM_EPSILON = 0.01, 0.1
MOST_SAMPLES = 100_000
HEADER = (
    "problem", "N", "nodes", "status", "gap", "solve s", "write s", "check s", "write / solve", "check / solve", "kB",
    "verdict",
)  # fmt: skip


def problems():
    """Problems of the tables, by name."""
    for name, (data, K, prior, _, _) in speed_table.ROWS.items():
        yield name, lambda data=data, K=K, prior=prior: gopfast.GaussianMixture(data(), K, prior=prior)
    for name, row in real_table.ROWS.items():
        yield name, row.problem


def timed(function, *arguments, **options):
    """Seconds and what is returned."""
    started = time.perf_counter()
    found = function(*arguments, **options)
    return time.perf_counter() - started, found


def cells(name, problem, path, limit):
    """One line of the table."""
    seconds, result = timed(
        gopfast.solve, problem, EPSILON, proof=path, time_limit=limit, n_threads=1, log=False
    )  # fmt: skip
    check, found = timed(verdict, path, problem)
    solve, write = result.time, seconds - result.time
    return [
        name, f"{problem.n_samples:,}", f"{result.n_nodes:,}", result.status.name, f"{result.gap:.2g}", f"{solve:.3g}",
        f"{write:.3g}", f"{check:.3g}", f"{write / solve:.2g}", f"{check / solve:.2g}",
        f"{os.path.getsize(path) / 1000:.0f}", found,
    ]  # fmt: skip


def verdict(path, problem):
    """Accepted, or what the checker says."""
    try:
        gopfast.check(path, *proofs.arguments(problem), problem)
    except gopfast.ProofError as error:
        return str(error)
    return "accepted"


def random_problems(number, path):
    """Verdicts on proofs of random problems, by family."""
    counts = Counter()
    for seed in range(number):
        family = proofs.FAMILIES[seed % len(proofs.FAMILIES)]
        problem = proofs.random_problem(np.random.default_rng([seed, 1]), family)
        gopfast.solve(problem, RANDOM_EPSILON, proof=path, n_threads=1, max_nodes=1000, log=False)
        counts[family, verdict(path, problem)] += 1
    return [[family, found, f"{n:,}"] for (family, found), n in sorted(counts.items())]


def changes(number, path):
    """Verdicts on changed proofs, by kind of change."""
    counts = Counter()
    for seed in range(number):
        name = list(proofs.CHANGES)[seed % len(proofs.CHANGES)]
        rng = np.random.default_rng([seed, 2])
        problem = proofs.random_problem(rng, proofs.FAMILIES[rng.integers(len(proofs.FAMILIES))])
        result = gopfast.solve(problem, RANDOM_EPSILON, proof=path, n_threads=1, max_nodes=1000, log=False)
        header, arrays = proofs.parts(path)
        X, weights = proofs.CHANGES[name](rng, header, arrays, *proofs.arguments(problem))
        proofs.put(path, header, arrays)
        counts[name, proofs.verdict(path, problem, X, weights, result.objective)] += 1
    return [[name, found, f"{n:,}"] for (name, found), n in sorted(counts.items())]


def main():
    """Write the report."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--time-limit", type=float, default=60.0)
    options = arguments.parse_args()
    n_random, n_changes = (300, 280) if options.quick else (10_000, 1_000)
    head = machine.heading("Proofs", "scikit-learn")
    with tempfile.TemporaryDirectory() as folder:
        path, rows, left_out = os.path.join(folder, "proof.npz"), [], []
        for name, make in problems():
            problem = make()
            if problem._record_of_proof() is None or problem.n_samples > MOST_SAMPLES:
                left_out.append(name)
                continue
            rows.append(cells(name, problem, path, options.time_limit))
            print(rows[-1], flush=True)
        random, changed = random_problems(n_random, path), changes(n_changes, path)
    text = f"""{head}
`gopfast.solve(problem, {EPSILON}, proof=path, n_threads=1)`, limit {options.time_limit:g} s, then `gopfast.check` with
the problem. "write" is all that the call takes beside the search. Searches for proofs do without what has no entry, see
docs/theory.md; where a limit came first the proof is of the bound reached. Left out: {", ".join(left_out)} (no entry,
or more than {MOST_SAMPLES:,} samples, which a search for a proof passes over at every node).

{machine.table(HEADER, rows)}
## {n_random:,} random problems of a few samples

{machine.table(("family", "verdict", "number"), random)}
## {n_changes:,} changed proofs

"true": accepted, and what it claims is true of the problem that it names all the same.

{machine.table(("change", "verdict", "number"), changed)}"""
    machine.write("proofs.md", text)


if __name__ == "__main__":
    main()
