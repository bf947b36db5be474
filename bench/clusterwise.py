"""Clusterwise least squares, on data of the literature and drawn lines; writes bench/results/clusterwise.md.

Run: python bench/clusterwise.py [--limit 60]     (some five minutes)
     python bench/clusterwise.py --json data.json --classes 3     (one problem, "X" and "y" of a file: printed alone)

Drawn: regressors uniform on [-1, 1], slopes normal with deviation 3, intercepts standard normal, labels uniform; noise
is the residuals' standard deviation. Starts: how many of the descents that began with lines through random samples
ended at the best sum of squares known.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

import gopfast
from gopfast import datasets

RESULT = Path(__file__).parent / "results" / "clusterwise.md"
# samples, regressors, classes, noise
DRAWN = (
    (50, 1, 3, 0.3), (100, 1, 3, 0.3), (100, 1, 4, 0.3), (200, 1, 2, 0.3), (200, 1, 3, 0.5), (300, 1, 2, 1.0),
    (50, 2, 2, 0.3), (100, 2, 2, 0.3), (100, 2, 3, 0.3), (60, 2, 2, 1.0), (50, 3, 2, 0.3), (100, 3, 2, 0.3),
)  # fmt: skip


def cases():
    """Yield a name, regressors, responses and the number of classes."""
    tone, co2, npreg = datasets.load_tonedata(), datasets.load_co2data(), datasets.load_npreg()
    for K in (2, 3):
        yield "tonedata", tone[:, 0], tone[:, 1], K
    for K in (2, 3):
        yield "co2data", co2[:, 0], co2[:, 1], K
    yield "npreg on x", npreg[:, 0], npreg[:, 1], 2
    yield "npreg on x and its square", np.column_stack([npreg[:, 0], npreg[:, 0] ** 2]), npreg[:, 1], 2
    for n, p, K, noise in DRAWN:
        rng = np.random.default_rng(n + 10 * p + K)
        X = rng.uniform(-1, 1, (n, p))
        slopes, intercepts = 3 * rng.normal(size=(K, p)), rng.normal(size=K)
        labels = rng.integers(K, size=n)
        y = (X * slopes[labels]).sum(axis=1) + intercepts[labels] + noise * rng.normal(size=n)
        yield f"drawn, noise {noise}", X, y, K


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=60.0, help="seconds each")
    parser.add_argument("--json", type=Path, help="a file with X and y")
    parser.add_argument("--classes", type=int, default=2, help="of the file")
    arguments = parser.parse_args()
    if arguments.json is not None:
        data = json.loads(arguments.json.read_text())
        problem = gopfast.ClusterwiseRegression(np.array(data["X"]), np.array(data["y"]), arguments.classes)
        result, n = gopfast.solve(problem, time_limit=arguments.limit, log=False), len(data["y"])
        print(f"{result.status}: mean square {result.objective / n:.9g}, at least {result.lower_bound / n:.9g}, "
              f"{result.n_nodes} nodes")
        return
    lines = [
        "# Clusterwise least squares", "",
        f"`python bench/clusterwise.py --limit {arguments.limit:g}`, one thread; tolerance 1e-4 of the sum of squares.",
        "Limits are of the wall; seconds in the table are of the processor, on a machine that others loaded.", "",
        "| data | n | p | K | status | sum of squares | open, relative | nodes | boxes | programs | seconds "
        "| starts at the best |", "|" + " --- |" * 12,
    ]  # fmt: skip
    for name, X, y, K in cases():
        began = time.process_time()
        problem = gopfast.ClusterwiseRegression(X, y, K)
        result = gopfast.solve(problem, time_limit=arguments.limit, log=False)
        seconds = time.process_time() - began
        lines.append(
            f"| {name} | {problem.n_samples} | {problem.n_features} | {K} | {result.status} | {result.objective:.6g} | "
            f"{result.rel_gap:.1e} | {result.n_nodes} | {result.n_subproblems:,} | {result.n_lps} | {seconds:.1f} | "
            f"{result.starts.n_best} of {result.starts.n_independent} |"
        )
        print(lines[-1], flush=True)
    RESULT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
