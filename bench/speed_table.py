"""Time, nodes and passes of the speed goals beside ten restarts of scikit-learn; writes bench/results/speed.md.

Run: python bench/speed_table.py [name ...]     (OMP_NUM_THREADS=1 for one core in scikit-learn)

scikit-learn cannot hold the variance at 1: covariance_type="spherical" is the nearest model that it fits. Its time
is what ten of its starts cost on the same data; its likelihood is of another model and not compared here.
"""

import platform
import subprocess
import sys
import time
from pathlib import Path

import datasets
import numpy as np

import gopfast
from gopfast.mixtures.data import passes

TIME_LIMIT = 60.0
OUT = Path(__file__).parent / "results" / "speed.md"


def line(n_samples, n_components, gap):
    rng = np.random.default_rng(1)
    return gap * rng.integers(n_components, size=n_samples) + rng.standard_normal(n_samples)


def cloud(n_samples, n_components, n_features, spread):
    rng = np.random.default_rng(1)
    centers = spread * rng.standard_normal((n_components, n_features))
    return centers[rng.integers(n_components, size=n_samples)] + rng.standard_normal((n_samples, n_features))


def iris():
    from sklearn.datasets import load_iris

    data = load_iris().data
    return (data - data.mean(axis=0)) / data.std(axis=0) * 2


# name: (data, K, prior, goal in seconds, threads)
ROWS = {
    "minimal, empirical prior": (datasets.minimal, 2, "empirical", 0.001, 1),
    "galaxies K=3": (datasets.galaxies, 3, None, 0.001, 1),
    "galaxies K=4": (datasets.galaxies, 4, None, 0.003, 1),
    "galaxies K=6": (datasets.galaxies, 6, None, 0.05, 1),
    "galaxies K=7": (datasets.galaxies, 7, None, 0.05, 1),
    "galaxies K=8": (datasets.galaxies, 8, None, 0.05, 1),
    "N=1e3, K=5, gap 4": (lambda: line(10**3, 5, 4), 5, None, 0.1, 1),
    "N=1e5, K=3, gap 4": (lambda: line(10**5, 3, 4), 3, None, 0.1, 1),
    "N=1e6, K=3, gap 4": (lambda: line(10**6, 3, 4), 3, None, 0.5, 2),
    "N=1e7, K=3, gap 4": (lambda: line(10**7, 3, 4), 3, None, 4.0, 2),
    "N=1e3, K=8, gap 5": (lambda: line(10**3, 8, 5), 8, None, 2.0, 2),
    "N=500, K=10, gap 6": (lambda: line(500, 10, 6), 10, None, 10.0, 2),
    "N=1e3, d=2, K=4, spread 5": (lambda: cloud(10**3, 4, 2, 5), 4, None, 3.0, 2),
    "iris, d=4, K=3": (iris, 3, None, 5.0, 2),
    "N=1e6, d=2, K=3, spread 5": (lambda: cloud(10**6, 3, 2, 5), 3, None, 5.0, 2),
}


def measure(data, n_components, prior, threads):
    """Time and result of a row."""
    return best_of_three(lambda: gopfast.GaussianMixture(data, n_components, prior=prior, covariance="known"), threads)


def best_of_three(make, threads, epsilon=None):
    """Best of three whole calls (problem and solve) where they are short, one where they are long."""
    best = np.inf
    for _ in range(3):
        started = time.perf_counter()
        result = gopfast.solve(make(), epsilon, n_threads=threads, time_limit=TIME_LIMIT)
        elapsed = time.perf_counter() - started
        best = min(best, elapsed)
        if elapsed > 2.0:
            break
    return best, result


def scikit_learn(data, n_components):
    from sklearn.mixture import GaussianMixture

    started = time.perf_counter()
    model = GaussianMixture(n_components, covariance_type="spherical", n_init=10, random_state=0)
    model.fit(data.reshape(len(data), -1))
    return time.perf_counter() - started


def main(names):
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    head = (
        f"# Speed\n\nAbsolute gap 0.01, whole calls, best of three (one where it takes over 2 s). Commit {commit}, "
        f"{platform.machine()}, kernel {passes.instruction_set()}, Python {platform.python_version()}.\n"
        "Made by `python bench/speed_table.py`. Goals are those of the project's issue on speed; the last column is\n"
        "what ten starts of scikit-learn's spherical mixture cost on the same data (no proof, variance not held).\n\n"
        "| problem | threads | goal s | time s | status | gap | nodes | passes | passes per node "
        "| scikit-learn, n_init=10, s |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    )
    rows = []
    for name in names or ROWS:
        make, n_components, prior, goal, threads = ROWS[name]
        data = np.asarray(make(), dtype=float)
        seconds, result = measure(data, n_components, prior, threads)
        other = f"{scikit_learn(data, n_components):.3g}" if len(data) <= 10**6 and len(data) > 10 else "-"
        rows.append(
            f"| {name} | {threads} | {goal:g} | {seconds:.3g} | {result.status.name} | {result.gap:.2g} "
            f"| {result.n_nodes} | {result.n_passes} | {result.n_passes / result.n_nodes:.1f} | {other} |"
        )
        print(rows[-1], flush=True)
    if not names:
        OUT.write_text(head + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
