"""What prices of summaries add to the tree: many samples, overlapping components; writes results/many_samples.md.

Run: OMP_NUM_THREADS=1 python bench/many_samples.py [--seconds 60] [row ...]     (up to 22 minutes)

Rows are "columns kind K gap N", or part of one; rows that are named are printed and not written.
"""

import argparse
import time

import machine
import numpy as np
from components import spiral

import gopfast

ROWS = (
    "1 known 4 4 1e6", "1 diag 3 3 5e4", "1 diag 6 4 2e5", "1 diag 4 4 1e6", "2 known 3 3 5e4", "2 known 4 3 2e5",
    "2 known 6 4 2e5", "2 known 4 4 1e6", "2 diag 3 3 5e4", "2 diag 3 4 1e6",
)  # fmt: skip
WIDTHS = np.array([1.0, 1.5, 1.2, 0.8, 1.3, 1.1])  # standard deviations of components where they are free
FLOOR = 0.25
HEADER = ("columns kind K gap N", "status", "gap", "nodes", "CPU s", "tree alone", "gap", "nodes", "CPU s")


def problem_of(row):
    """The mixture of a row: clusters on a line or a spiral, `gap` apart."""
    d, kind, K, gap, N = row.split()
    d, K, n = int(d), int(K), int(float(N))
    rng = np.random.default_rng(1)
    centers = float(gap) * (np.arange(K)[:, None] if d == 1 else spiral(K)).astype(float)
    label = rng.integers(K, size=n)
    width = 1.0 if kind == "known" else WIDTHS[label][:, None]
    X = centers[label] + width * rng.standard_normal((n, d))
    floor = {} if kind == "known" else {"variance_floor": FLOOR}
    return gopfast.GaussianMixture(X, K, covariance=kind, **floor)


def cells(problem, relaxation, seconds):
    """Status, gap, nodes, and CPU seconds of a solve."""
    began = time.process_time()
    result = gopfast.solve(problem, relaxation=relaxation, n_threads=1, time_limit=seconds, log=False)
    status = "proved" if result.success else result.status.name
    return status, f"{result.gap:.3g}", f"{result.n_nodes:,}", f"{time.process_time() - began:.3g}"


def main():
    """Run the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("rows", nargs="*")
    arguments = parser.parse_args()
    found = []
    for row in ROWS:
        if arguments.rows and not any(wanted in row for wanted in arguments.rows):
            continue
        problem = problem_of(row)
        found.append((row, *(cell for kind in (None, "entropic") for cell in cells(problem, kind, arguments.seconds))))
        print(*found[-1], sep=" | ", flush=True)
    head = machine.heading("Many samples, overlapping components")
    note = f"Proof to an absolute gap of 0.01 nats, at most {arguments.seconds:g} s of the clock, one thread.\n"
    machine.write(None if arguments.rows else "many_samples.md", "\n".join([head, note, machine.table(HEADER, found)]))


if __name__ == "__main__":
    main()
