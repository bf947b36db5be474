"""The first local search beside ten restarts from k-means++ draws: writes bench/results/primal.md.

Run: python bench/primal.py     (two minutes)
"""

import sys
import time
from pathlib import Path

import gopfast
from gopfast import local

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "system"))
import test_primal

RESULT = Path(__file__).parent / "results" / "primal.md"
N_RESTARTS = 10
NUMBERS = (2, 3, 5, 8, 12, 20, 30)


def row(model, K):
    problem = test_primal.MODELS[model](K)
    started = time.perf_counter()
    ours = gopfast.solve(problem, n_threads=1, max_nodes=1, log=False)
    seconds = time.perf_counter() - started
    started = time.perf_counter()
    runs = (
        local.em(problem, local.start(problem, "kmeans_plus_plus", seed), tol=1e-3, max_iter=300)
        for seed in range(N_RESTARTS)
    )
    best = min(run.objective for run in runs)
    theirs = time.perf_counter() - started
    print(model, K, ours.objective - best, flush=True)
    return (
        f"| {model} | {K} | {problem.n_samples} | {ours.objective:.2f} | {best:.2f} | {ours.objective - best:+.2f} "
        f"| {ours.n_passes:,} | {seconds:.2f} | {theirs:.2f} |"
    )


def main():
    lines = [
        "# The first local search",
        "",
        f"Objectives (nats) that a search reaches before its second node, and the best of {N_RESTARTS} runs of EM "
        "(NumPy) from k-means++ draws.",
        "Simulated data of tests/system/test_primal.py; differences below 0 are nats that the restarts miss. Made by "
        "`bench/primal.py`.",
        "",
        "| model | K | samples | ours | restarts | difference | passes | seconds | restarts' seconds |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [row(model, K) for model in test_primal.MODELS for K in NUMBERS]
    RESULT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
