"""What proof files of many samples show with raised prices, groups of samples and blocks of columns, and without.

python bench/proof_blocks.py N COLUMNS COVARIANCE SECONDS
"""

import sys
import time

import numpy as np

import gopfast


def main(n, d, covariance, seconds):
    """Solve once with and once without, and check both proofs."""
    rng = np.random.default_rng(1)
    centers = rng.normal(size=(3, d)) * 6
    X = centers[rng.integers(0, 3, n)] + rng.normal(size=(n, d))
    problem = gopfast.GaussianMixture(X, 3, covariance=covariance, variance_floor=0.1)
    for name, switches in (("with", {}), ("without", {"groups": False, "cover": False, "raised": False})):
        with gopfast.settings(**switches):
            result = gopfast.solve(problem, proof=True, log=False, time_limit=seconds, n_threads=1)
        begun = time.process_time()
        found = gopfast.check(result.proof, X, problem=problem)
        taken = time.process_time() - begun
        print(
            f"{name:8} {result.status.name:12} gap {found.gap:.4g}, {len(result.proof.data):,} bytes, "
            f"{found.n_leaves:,} leaves or cells, checked in {taken:.1f} s"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4]))
