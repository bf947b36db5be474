"""How the time to a bound grows with samples, columns and components; writes bench/results/everyday_scaling.md.

Usage: OMP_NUM_THREADS=1 python bench/everyday_scaling.py [--seconds 12] [--jobs 2] [--most 10000000]

Clusters 6 standard deviations apart, one number changed at a time. Told is the time from the call to a bound of 0.01
nats a sample or, where the limit came first, the gap a sample then. An exponent is the slope of a line through the
logarithms of all times before the first that leaves it: that is more than twice what the line through those before it
foresees, at least three of them. About eight minutes with two jobs on two idle processors.
"""

import argparse
import time

import machine
import numpy as np
from everyday_cases import unequal

import gopfast
from gopfast.parallel import outcomes

ENOUGH = 0.01  # nats a sample
LEAVES = 2.0
FEWEST = 3  # times that a line goes through
APART, SEED = 6.0, 3
SAMPLES = (2_000, 5_000, 20_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
COLUMNS = (2, 3, 4, 5, 8, 10)
COMPONENTS = (2, 3, 4, 6, 8, 12, 16)
# What changes, and the cases: samples, columns, components, kind.
SERIES = (
    ("samples", [(n, 2, 3, "diag") for n in SAMPLES]), ("samples", [(n, 4, 3, "known") for n in SAMPLES[:-2]]),
    ("columns", [(20_000, d, 3, "known") for d in COLUMNS]),
    ("columns", [(20_000, d, 3, "spherical") for d in COLUMNS]),
    ("columns", [(20_000, d, 3, "diag") for d in COLUMNS[:4]]),
    ("components", [(20_000, 2, K, "known") for K in COMPONENTS]),
    ("components", [(20_000, 2, K, "diag") for K in COMPONENTS[:5]]),
)  # fmt: skip
PLACE = {"samples": 0, "columns": 1, "components": 2}


def measured(task):
    """Return the seconds to the bound, infinite where the limit came first, and the gap a sample then."""
    n, d, K, kind, limit = task
    X = unequal(n, d, K, APART, kind, SEED)
    begun = time.perf_counter()
    problem = gopfast.GaussianMixture(X, K, covariance=kind)
    found = gopfast.solve(
        problem, ENOUGH * n, time_limit=limit, n_threads=1, log=False, callback=lambda state: state.gap <= ENOUGH * n
    )
    took, gap = time.perf_counter() - begun, found.gap / n
    return (took if gap <= ENOUGH * (1 + 1e-9) else np.inf), gap


def fitted(sizes, times):
    """Return the exponent, and the first size whose time leaves the line, or None."""
    x, y = np.log(sizes), np.log(times)
    for last in range(FEWEST, len(x) + 1):
        slope, offset = np.polyfit(x[:last], y[:last], 1)
        if last < len(x) and not y[last] <= slope * x[last] + offset + np.log(LEAVES):
            return slope, sizes[last]
    return slope, None


def main():
    """Run all series and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=12.0, help="time limit of each search")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--most", type=int, default=SAMPLES[-1], help="samples, as memory allows: 1 GB for a million")
    parser.add_argument("--dry", action="store_true", help="nothing is written")
    arguments = parser.parse_args()
    heading = machine.heading("Everyday data: scaling")
    series = [(what, [case for case in cases if case[0] <= arguments.most]) for what, cases in SERIES]
    tasks = [(*case, arguments.seconds) for _, cases in series for case in cases]
    found = dict(zip(tasks, outcomes(measured, tasks, arguments.jobs), strict=True))
    lines = []
    for what, cases in series:
        sizes = [case[PLACE[what]] for case in cases]
        outcome = [found[(*case, arguments.seconds)] for case in cases]
        cells = [
            f"{size:,}: {seconds:.2g} s" if np.isfinite(seconds) else f"{size:,}: ({gap:.2g})"
            for size, (seconds, gap) in zip(sizes, outcome, strict=True)
        ]
        reached = [i for i, (seconds, _) in enumerate(outcome) if np.isfinite(seconds)]
        run = len(reached) if reached == list(range(len(reached))) else next(
            i for i, (seconds, _) in enumerate(outcome) if not np.isfinite(seconds)
        )  # fmt: skip
        slope = leaves = None
        if run >= FEWEST:
            slope, leaves = fitted(sizes[:run], [seconds for seconds, _ in outcome[:run]])
        if leaves is None and run < len(sizes):
            leaves = sizes[run]
        fixed = ", ".join(
            f"{case:,} {name}" for name, case in zip(PLACE, cases[0][:3], strict=True) if name != what
        )  # fmt: skip
        lines.append([
            f"{what}: {cases[0][3]}, {fixed}", ", ".join(cells), "" if slope is None else f"{slope:.2f}",
            "" if leaves is None else f"{leaves:,}",
        ])  # fmt: skip
        print(" | ".join(lines[-1]), flush=True)
    note = (
        f"Clusters {APART:g} standard deviations apart, one thread, at most {arguments.seconds:g} s each. Seconds to "
        f"{ENOUGH:g} nats a sample; in brackets the nats a sample open at the limit.\n"
    )
    text = machine.table(["series", "seconds", "exponent", "leaves its line at"], lines)
    machine.write(None if arguments.dry else "everyday_scaling.md", f"{heading}\n{note}\n{text}")


if __name__ == "__main__":
    main()
