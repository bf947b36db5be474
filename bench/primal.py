"""The first local search beside ten restarts from k-means++ draws: writes bench/results/primal.md.

Run: python bench/primal.py     (two minutes)
"""

import sys
import time
from pathlib import Path

import machine

import gopfast
from gopfast import local

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "system"))
import test_primal

N_RESTARTS = 10
NUMBERS = (2, 3, 5, 8, 12, 20, 30)


def near(covariance, d):
    """Clusters of which neighbours are two standard deviations apart."""
    return lambda K: test_primal.overlapping(covariance, d, K, K, 2.0)


MODELS = test_primal.MODELS | {
    f"{covariance}, overlapping": near(covariance, 2)
    for covariance in ("known", "diag", "spherical", "tied", "tied_spherical", "full")
}


def row(model, K):
    problem = MODELS[model](K)
    started = time.process_time()
    ours = gopfast.solve(problem, n_threads=1, max_nodes=1, log=False)
    seconds = time.process_time() - started
    started = time.process_time()
    runs = (
        local.em(problem, local.start(problem, "kmeans_plus_plus", seed), tol=1e-3, max_iter=300)
        for seed in range(N_RESTARTS)
    )
    best = min(run.objective for run in runs)
    theirs = time.process_time() - started
    print(model, K, ours.objective - best, flush=True)
    return (
        f"| {model} | {K} | {problem.n_samples} | {ours.objective:.2f} | {best:.2f} | {ours.objective - best:+.2f} "
        f"| {ours.n_passes:,} | {seconds:.2f} | {theirs:.2f} |"
    )


def main():
    lines = [
        machine.heading("The first local search"),
        f"Objectives (nats) that a search reaches before its second node, and the best of {N_RESTARTS} runs of EM "
        "(NumPy) from k-means++ draws.",
        "Simulated data of tests/system/test_primal.py, neighbours 5 standard deviations apart or 2; differences below "
        "0 are nats that the restarts miss.",
        "",
        "| model | K | samples | ours | restarts | difference | passes | CPU seconds | restarts' |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [row(model, K) for model in MODELS for K in NUMBERS]
    machine.write("primal.md", "\n".join(lines))


if __name__ == "__main__":
    main()
