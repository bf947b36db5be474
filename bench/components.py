"""What a proof costs against the number of components, beside ten restarts; writes bench/results/components.md.

Run: OMP_NUM_THREADS=1 python bench/components.py [--seconds 60] [--fewer]     (up to two hours; 6 minutes with
`--fewer --seconds 10`, which takes every third number of components up to 12)

Known variance 1. One column: clusters of means 0, gap, 2 gap ...; two columns: on the squares of a spiral, `gap` apart.
Times are those of the process on one thread, so that other work on the machine hardly matters.
"""

import argparse
import time
import warnings

import machine
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as SklearnMixture
from speed_table import line

import gopfast

LINES = [(1, n, gap) for n in (1000, 10_000) for gap in (4, 6)]
PLANES = [(2, 1000, 4), (2, 1000, 6)]
RESTARTS = 10
CUBE = 3  # of K: what the project's issue on prices asks for
HEADER = ("K", "status", "objective", "gap", "nodes", "passes", "CPU s", "scikit-learn, CPU s", "ratio")


def spiral(n):
    """The first n squares of the spiral (0, 0), (1, 0), (1, 1), (0, 1), (-1, 1) ..., as (n, 2)."""
    at, step, found, length = np.zeros(2), np.array([1, 0]), [], 1
    while len(found) < n:
        for _side in range(2):
            for _ in range(length):
                found.append(at)
                at = at + step
            step = np.array([-step[1], step[0]])
        length += 1
    return np.array(found[:n], dtype=float)


def plane(n_samples, n_components, gap):
    """Samples (n, 2) about the squares of a spiral."""
    rng = np.random.default_rng(1)
    centers = gap * spiral(n_components)
    return centers[rng.integers(n_components, size=n_samples)] + rng.standard_normal((n_samples, 2))


def restarts(data, n_components):
    """CPU seconds of scikit-learn's spherical mixture: another model, since its variances are free."""
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = SklearnMixture(n_components, covariance_type="spherical", n_init=RESTARTS, random_state=0)
        fit.fit(data.reshape(len(data), -1))
    return time.process_time() - began


def row(columns, n_samples, gap, n_components, seconds):
    """One line of a table, and the CPU seconds of the proof, None where there is none."""
    data = (line if columns == 1 else plane)(n_samples, n_components, gap)
    began = time.process_time()
    result = gopfast.solve(
        gopfast.GaussianMixture(data, n_components, covariance="known"), n_threads=1, time_limit=seconds, log=False
    )
    spent, other = time.process_time() - began, restarts(data, n_components)
    cells = [
        n_components, "proved" if result.success else result.status.name, f"{result.objective:.4f}",
        f"{result.gap:.2g}", f"{result.n_nodes:,}", f"{result.n_passes:,}", f"{spent:.3g}", f"{other:.3g}",
        f"{other / spent:.2g}",
    ]  # fmt: skip
    print(columns, n_samples, gap, *cells, sep=" | ", flush=True)
    return cells, spent if result.success else None


def section(columns, n_samples, gap, numbers, seconds):
    """A table of all numbers of components, and how time grows with them."""
    rows = [row(columns, n_samples, gap, n_components, seconds) for n_components in numbers]
    proved = [(n_components, spent) for n_components, (_, spent) in zip(numbers, rows, strict=True) if spent]
    text = f"## {'One column' if columns == 1 else 'Two columns'}, N = {n_samples:,}, gap {gap}\n\n"
    text += machine.table(HEADER, [cells for cells, _ in rows])
    if len(proved) > 2:
        order = np.polyfit(*np.log(np.array(proved).T), 1)[0]
        text += f"\nWhere it is proved, time grows as K to the power {order:.1f} (aim: at most {CUBE}).\n"
    return text


def main():
    """Run the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--fewer", action="store_true")
    arguments = parser.parse_args()
    head = machine.heading("Cost against the number of components", "scikit-learn")
    numbers = {1: range(2, 31), 2: range(2, 21)}
    if arguments.fewer:
        numbers = dict.fromkeys(numbers, range(3, 13, 3))
    note = (
        f"Proof to an absolute gap of 0.01, at most {arguments.seconds:g} s. scikit-learn: {RESTARTS} restarts of its "
        "spherical mixture, without proof; *ratio*: its time over that of the proof.\n"
    )
    parts = [section(*case, numbers[case[0]], arguments.seconds) for case in LINES + PLANES]
    machine.write("components.md", "\n".join([head, note, *parts]))


if __name__ == "__main__":
    main()
