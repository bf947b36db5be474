"""Real data with free variances, and the exponential families, beside their goals; writes bench/results/real_data.md.

Run: OMP_NUM_THREADS=1 python bench/real_table.py [row ...]     (about 4 minutes; rows as in ROWS)

Rows that are named are printed and not written.
"""

import sys
from typing import NamedTuple

import datasets
import machine
import numpy as np
from speed_table import best_of_three

import gopfast

EPSILON = 0.01


class Row(NamedTuple):
    """A problem, its goal in seconds (None: the gap after 60 s), the published optimum if any, and the threads."""

    data: object
    n_components: int
    goal: float | None
    reference: float | None = None
    threads: int = 1
    model: type = gopfast.GaussianMixture
    options: dict = {}

    def problem(self):
        """The problem, made anew."""
        return self.model(self.data(), self.n_components, **self.options)


def faithful():
    """Old Faithful on the scale of the goals: eruptions times 2, waiting times over 7."""
    return datasets.faithful() * np.array([2.0, 1.0 / 7.0])


def petals():
    """Petals of iris, each column over its standard deviation, times 2."""
    # Here and not above: rows without it run without scikit-learn.
    from sklearn.datasets import load_iris

    columns = load_iris().data[:, 2:]
    return 2.0 * columns / columns.std(axis=0)


def counts():
    """200 counts of two Poisson components, means 2 and 10."""
    rng = np.random.default_rng(1)
    return rng.poisson(np.array([2.0, 10.0])[rng.integers(2, size=200)])


def answers():
    """100 rows of 4 binary columns; the columns of a row share a probability, uniform on (0, 1)."""
    rng = np.random.default_rng(1)
    return rng.random((100, 4)) < rng.random((100, 1))


def free(floor, covariance="diag"):
    return {"covariance": covariance, "variance_floor": floor}


ROWS = {
    "galaxies/1000, floor 0.09, K=2": Row(datasets.galaxies, 2, 0.01, 220.0580, options=free(0.09)),
    "galaxies/1000, floor 0.09, K=3": Row(datasets.galaxies, 3, 0.1, 203.1792, options=free(0.09)),
    "galaxies/1000, floor 0.09, K=4": Row(datasets.galaxies, 4, 2.0, options=free(0.09)),
    "enzyme, floor 0.0025, K=2": Row(datasets.enzyme, 2, 0.01, 54.6400, options=free(0.0025)),
    "enzyme, floor 0.0025, K=3": Row(datasets.enzyme, 3, 0.5, 47.8268, options=free(0.0025)),
    "acidity, floor 0.01, K=2": Row(datasets.acidity, 2, 0.01, 184.6446, options=free(0.01)),
    "acidity, floor 0.01, K=3": Row(datasets.acidity, 3, 1.0, 178.7543, options=free(0.01)),
    "Old Faithful, diag, floor 0.04, K=2": Row(faithful, 2, 0.2, 807.0538, options=free(0.04)),
    "Old Faithful, diag, floor 0.04, K=3": Row(faithful, 3, 60.0, threads=2, options=free(0.04)),
    "Old Faithful, full, floor 0.04, K=2": Row(faithful, 2, None, options=free(0.04, "full")),
    "iris petals, diag, floor 0.04, K=3": Row(petals, 3, 60.0, threads=2, options=free(0.04)),
    "Poisson, N=200, K=2": Row(counts, 2, 0.02, model=gopfast.PoissonMixture),
    "Bernoulli, N=100, d=4, K=2": Row(answers, 2, None, model=gopfast.BernoulliMixture),
}


def cells(name, row):
    """One line of the table."""
    seconds, result = best_of_three(row.problem, row.threads, EPSILON)
    goal = "-" if row.goal is None else f"{row.goal:g}"
    reference = above = "-"
    if row.reference is not None:
        reference, above = f"{row.reference:.4f}", f"{result.objective - row.reference:+.4f}"
    counted = (f"{result.n_nodes:,}", f"{result.n_passes:,}")
    bounds = (f"{result.objective:.4f}", f"{result.lower_bound:.4f}", f"{result.gap:.2g}")
    return [name, row.threads, goal, f"{seconds:.3g}", result.status.name, *bounds, reference, above, *counted]


HEADER = (
    "problem", "threads", "goal s", "time s", "status", "objective", "lower bound", "gap", "reference",
    "objective less reference", "nodes", "passes",
)  # fmt: skip


def main(names):
    head = machine.heading("Real data", "scikit-learn")
    rows = []
    for name in names or ROWS:
        rows.append(cells(name, ROWS[name]))
        print(rows[-1], flush=True)
    text = head + f"""
Whole calls (problem and solve) to an absolute gap of {EPSILON}, limit 60 s; best of three, one where it takes over 2 s.
Objectives are negative log-likelihoods with all constants, in nats; goals and references are those of the project's
issue on real data ("-": none given). Old Faithful is eruptions * 2 and waiting / 7, iris petals are divided by their
standard deviations and doubled; data of the last two rows are simulated, see `bench/real_table.py`.

{machine.table(HEADER, rows)}"""
    if names:
        print(text)
    else:
        machine.write("real_data.md", text)


if __name__ == "__main__":
    main(sys.argv[1:])
