"""Tied, rounded and lattice problems of every family; writes bench/results/lattice.md.

Which of them end NUMERICAL, and whether a solution solved again from itself has the same status.

    python bench/lattice.py [problems per family, 200 by default] [most nodes, 3000] [problems at a time, by joblib, 1]
"""

import sys
from collections import Counter
from pathlib import Path

import machine
import numpy as np

import gopfast
from gopfast.parallel import outcomes

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support.histories import first_incumbent
from support.tied import tied

MISSED = 0.01  # nats by which the first incumbent lies above the best found


def gaussian(covariance):
    """Return what makes a Gaussian mixture of this covariance."""
    return lambda X, K, weight: gopfast.GaussianMixture(X, K, covariance=covariance, sample_weight=weight)


FAMILIES = {
    "known": gaussian("known"),
    "known, empirical prior": lambda X, K, w: gopfast.GaussianMixture(X, K, prior="empirical", sample_weight=w),
    "diag": gaussian("diag"),
    "spherical": gaussian("spherical"),
    "tied": gaussian("tied"),
    "tied_spherical": gaussian("tied_spherical"),
    "full": gaussian("full"),
    "Bernoulli": lambda X, K, w: gopfast.BernoulliMixture((X > np.median(X)).astype(float), K, sample_weight=w),
    "Poisson": lambda X, K, w: gopfast.PoissonMixture(np.abs(np.round(X)), K, sample_weight=w),
    "exponential": lambda X, K, w: gopfast.ExponentialMixture(np.abs(np.round(X)) + 1.0, K, sample_weight=w),
    "categorical": lambda X, K, w: gopfast.CategoricalMixture(np.abs(np.round(X)).astype(int), K, sample_weight=w),
    "categorical, prior 1": lambda X, K, w: gopfast.CategoricalMixture(
        np.abs(np.round(X)).astype(int), K, prior=1.0, sample_weight=w
    ),
}  # fmt: skip


def samples(rng):
    """Draw samples (n, d) with many ties."""
    n, d = int(rng.integers(4, 80)), int(rng.integers(1, 3))
    kind = rng.integers(5)
    if kind == 3:
        return np.round(np.where(rng.random((n, 1)) < 0.4, rng.normal(0, 1, (n, d)), rng.normal(4, 2, (n, d))))
    return tied(rng, kind, (n, d), least_values=2)


def solve_twice(make, seed, max_nodes):
    """Solve a random problem, then again from its own solution; returns both results, or None if it is refused."""
    rng = np.random.default_rng(seed)
    X = samples(rng)
    K = int(rng.integers(2, 4)) if X.shape[1] == 1 else 2
    weight = None if rng.random() < 0.6 else rng.integers(1, 6, len(X)).astype(float)
    try:
        problem = make(X, K, weight)
    except gopfast.InputError:
        return None
    first = gopfast.solve(problem, n_threads=1, max_nodes=max_nodes)
    return first, gopfast.solve(problem, n_threads=1, max_nodes=max_nodes, start=first)


def happened(task):
    """Solve one problem; returns a Counter of what happened, and lines to print."""
    name, seed, max_nodes = task
    found, lines = Counter(), []
    results = solve_twice(FAMILIES[name], [seed, list(FAMILIES).index(name)], max_nodes)
    if results is None:
        found["refused"] += 1
        return found, lines
    first, again = results
    found[first.status.name] += 1
    found["first incumbent missed"] += first_incumbent(first.history)[3] > first.objective + MISSED
    if first.status.name == "NUMERICAL":
        found["NUMERICAL unearned"] += first.rounding_margin < 0.1 * (first.gap - 0.01)
        lines.append(f"{name} {seed}: {first.message}, gap {first.gap:.3g}")
    if first.status != again.status:
        found["other status from its own solution"] += 1
        lines.append(f"{name} {seed}: {first.status.name}, from its solution {again.status.name}")
    return found, lines


def count(name, n_problems, max_nodes, n_jobs):
    """Solve the problems of one family; returns a Counter of what happened."""
    found = Counter()
    for one, lines in outcomes(happened, [(name, seed, max_nodes) for seed in range(n_problems)], n_jobs):
        found += one
        for line in lines:
            print(line, flush=True)
    return found


def main():
    """Run all families and write the table."""
    given = [int(number) for number in sys.argv[1:]]
    n_problems, max_nodes, n_jobs = [*given, *(200, 3000, None)[len(given) :]]
    columns = (
        "OPTIMAL", "NODE_LIMIT", "NUMERICAL", "NUMERICAL unearned", "other status from its own solution",
        "first incumbent missed", "refused",
    )  # fmt: skip
    rows = []
    for name in FAMILIES:
        found = count(name, n_problems, max_nodes, n_jobs)
        rows.append([name, *(found[column] for column in columns)])
        print(*rows[-1], flush=True)
    text = (
        f"{n_problems} random problems of each family, at most {max_nodes} nodes each, one thread, solved a second "
        "time from their own solution.\n"
    )
    heading = machine.heading("Tied, rounded and lattice problems")
    machine.write("lattice.md", "\n".join([heading, text, machine.table(["family", *columns], rows)]))


if __name__ == "__main__":
    main()
