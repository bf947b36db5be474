"""k-means with a proof, beside what is published: writes bench/results/clustering.md.

Run: python bench/clustering.py FOLDER     (FOLDER holds ruspini.csv and the other data sets named below; minutes)
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

import gopfast

RESULT = Path(__file__).parent / "results" / "clustering.md"
REL_TOL = 1e-6
TIME_LIMIT = 60.0
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


def planar(n):
    """Three overlapping planar clusters."""
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [3.0, 0.0], [1.5, 2.6]])
    return centers[rng.integers(3, size=n)] + rng.standard_normal((n, 2))


def row(name, X, K, rel_tol, published):
    result = gopfast.solve(gopfast.KMeans(X, K), rel_tol=rel_tol, time_limit=TIME_LIMIT, n_threads=1, log=False)
    print(name, K, result.status.name, result.time, flush=True)
    return (
        f"| {name} | {len(X)} x {X.shape[1]} | {K} | {result.inertia:.9g} | {result.rel_gap:.1e} "
        f"| {result.status.name} | {result.n_nodes} | {result.n_lps} | {result.n_subproblems:,} | {result.time:.2f} "
        f"| {published} |"
    )


def main():
    folder = Path(sys.argv[1])
    lines = [
        "# k-means with a proof",
        "",
        f"`gopfast.solve(gopfast.KMeans(X, K), rel_tol={REL_TOL:g}, time_limit={TIME_LIMIT:g})` on one thread; the "
        "last row to 1e-4. Boxes are those of one center, over all proofs. Made by `bench/clustering.py`.",
        "",
        "| data | size | K | inertia | relative gap | status | nodes | programs | boxes | seconds | published |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, numbers, published in CASES:
        X = load_iris().data if name == "iris" else np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1)
        lines += [row(name, X, K, REL_TOL, published) for K in numbers]
    lines.append(row("three planar clusters", planar(10_000), 3, 1e-4, "AVOC: gaps below 3 % in most cases"))
    RESULT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
