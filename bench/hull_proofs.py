"""Proofs of what the search in the hull of the means has found: gaps, sizes, times to search, write and check.

Usage: python bench/hull_proofs.py --seconds 20 --rows "20000 5 5 6 known" "5000 5 8 7 spherical" ...
(samples, columns, components, deviations apart, variances; --unequal: data as of everyday.py)
"""

import argparse
import os
import tempfile
import time

from everyday import clusters
from everyday_cases import unequal

import gopfast

ROWS = [
    "5000 5 3 7 known", "20000 5 5 6 known", "20000 5 7 5 known", "20000 8 5 6.5 known", "100000 8 4 8 known",
    "5000 4 3 8 spherical", "5000 5 8 7 spherical", "20000 10 4 8 spherical", "2000 5 3 3.5 spherical",
]  # fmt: skip


def row(n, d, K, apart, kind, seconds, is_unequal):
    """Return a line: gap in nats, seconds to search, to write and to check, balls and cells, size, and the verdict."""
    X = unequal(n, d, K, apart, kind, 20) if is_unequal else clusters(n, d, K, apart, "spherical", 0)
    problem = gopfast.GaussianMixture(X, K, covariance=kind)
    with tempfile.TemporaryDirectory() as folder:
        path, begun = os.path.join(folder, "proof.npz"), time.perf_counter()
        result = gopfast.solve(problem, time_limit=seconds, n_threads=1, proof=path, log=False)
        took, begun = time.perf_counter() - begun, time.perf_counter()
        name = f"{n:,} x {d}, K={K}, {kind}, {apart:g} apart | {result.status.name}"
        if not os.path.exists(path):
            return f"{name} | {result.objective - result.lower_bound:.3g} | {result.time:.1f} | | | | | none written"
        found = gopfast.check(path, X, problem=problem)
        checked, size = time.perf_counter() - begun, os.path.getsize(path) / 1000
    return (f"{name} | {found.gap:.3g} | {result.time:.1f} | {took - result.time:.1f} | {checked:.1f} | "
            f"{found.n_leaves:,} | {size:.0f} kB | accepted")  # fmt: skip


def main():
    """Print a line for each row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rows", nargs="*", default=ROWS)
    parser.add_argument("--unequal", action="store_true")
    arguments = parser.parse_args()
    print("problem | status | gap | search s | writing s | check s | cells | size | verdict")
    for text in arguments.rows:
        n, d, K, apart, kind = text.split()
        print(row(int(n), int(d), int(K), float(apart), kind, arguments.seconds, arguments.unequal), flush=True)


if __name__ == "__main__":
    main()
