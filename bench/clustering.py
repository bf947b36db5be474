"""k-means with a proof, beside what is published: writes bench/results/clustering.md.

Run: python bench/clustering.py FOLDER     (FOLDER holds ruspini.csv and the other data sets named below; minutes)
"""

import sys
import time
from pathlib import Path

import machine
import numpy as np
from sklearn.datasets import load_iris

import gopfast

REL_TOL = 1e-6
TIME_LIMIT = 300.0
# Data set, numbers of clusters, and what is published of it.
CASES = (
    ("iris", range(2, 11), ""),
    ("ruspini", (2, 3, 4, 5, 6, 7), ""),
    ("ruspini", (8,), "CG+DCA: 3 nodes, 1.04 s"),
    ("ruspini", (9, 10), ""),
    ("bavaria1", range(2, 11), ""),
    ("gr202", (3, 6), ""),
    ("gr202", (10,), "best of 300 k-means runs: 3801.6017"),
    ("glass", (6,), "SOS-SDP: 5 nodes, 199 s, 16 threads"),
    ("u1060", (10,), "best of 300 k-means runs: 1.7548735e9"),
)
PLANAR = (
    (10_000, "AVOC: gaps below 3 % in most cases"),
    (210_000, "Hua, Shi & Cao (2021): 1 % on 100 cores"),
    (1_000_000, ""),
)


def planar(n):
    """Three overlapping planar clusters."""
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [3.0, 0.0], [1.5, 2.6]])
    return centers[rng.integers(3, size=n)] + rng.standard_normal((n, 2))


def row(name, X, K, rel_tol, published):
    started = time.process_time()
    result = gopfast.solve(gopfast.KMeans(X, K), rel_tol=rel_tol, time_limit=TIME_LIMIT, n_threads=1, log=False)
    seconds = time.process_time() - started
    print(name, K, result.status.name, result.time, flush=True)
    return (
        f"| {name} | {len(X)} x {X.shape[1]} | {K} | {result.inertia:.9g} | {result.rel_gap:.1e} "
        f"| {result.status.name} | {result.n_nodes} | {result.n_lps} | {result.n_subproblems:,} "
        f"| {result.time:.2f} | {seconds:.2f} "
        f"| {published} |"
    )


def main():
    folder = Path(sys.argv[1])
    lines = [
        machine.heading("k-means with a proof", "highspy"),
        f"`gopfast.solve(gopfast.KMeans(X, K), rel_tol={REL_TOL:g}, time_limit={TIME_LIMIT:g})` on one thread; the "
        "planar clusters to 1e-4. Boxes are those of one center, over all proofs. CPU is what the process itself used.",
        "",
        "| data | size | K | inertia | relative gap | status | nodes | programs | boxes | seconds | CPU | published |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, numbers, published in CASES:
        X = load_iris().data if name == "iris" else np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1)
        lines += [row(name, X, K, REL_TOL, published) for K in numbers]
    for n, published in PLANAR:
        lines.append(row("three planar clusters", planar(n), 3, 1e-4, published))
    machine.write("clustering.md", "\n".join(lines))


if __name__ == "__main__":
    main()
