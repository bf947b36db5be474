"""What is in reach, by rows, columns, components and covariances; writes bench/results/in_reach.md.

Usage: OMP_NUM_THREADS=1 python bench/in_reach.py [--seconds 10] [--seed 0]

Clusters six standard deviations apart, with unequal weights and covariances (`everyday_cases.py`), one thread. A case
is in reach if it is proved to 0.0001 nats a sample within the limit. Of each covariance, number of rows and number of
columns the components are raised until one is not. At most ten minutes on an idle processor.
"""

import argparse

import machine
from everyday_cases import unequal

import gopfast

TIGHT = 1e-4  # nats a sample
APART = 6.0
KINDS = ("known", "spherical", "diag", "tied", "full")
MATRICES = ("tied", "full")  # in one column these are other kinds
ROWS, COLUMNS, COMPONENTS = (100, 1_000, 10_000, 100_000), (1, 2, 4, 8), (2, 3, 5)


def gap_per_sample(n, d, K, kind, seconds, seed):
    """Return the nats a sample that a search leaves open."""
    X = unequal(n, d, K, APART, kind, seed)
    problem = gopfast.GaussianMixture(X, K, covariance=kind)
    return gopfast.solve(problem, time_limit=seconds, n_threads=1, log=False).gap / n


def cell(n, d, kind, seconds, seed):
    """Return the numbers of components in reach, and what the first that is not leaves open."""
    proved = []
    for K in COMPONENTS:
        gap = gap_per_sample(n, d, K, kind, seconds, seed)
        if gap > TIGHT:
            return " ".join([", ".join(proved), f"({K}: {gap:.1g})"]).strip()
        proved.append(str(K))
    return ", ".join(proved)


def main():
    """Run the cases and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="time limit of each search")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    heading = machine.heading("In reach")
    rows = []
    for kind in KINDS:
        for n in ROWS:
            cells = [
                cell(n, d, kind, arguments.seconds, arguments.seed) if d > 1 or kind not in MATRICES else ""
                for d in COLUMNS
            ]
            rows.append([kind, f"{n:,}", *cells])
            print(" | ".join(rows[-1]), flush=True)
    note = (
        f"Components, of {', '.join(map(str, COMPONENTS))}, of which the optimum is proved to {TIGHT:g} nats a sample "
        f"within {arguments.seconds:g} s of one thread. In brackets the first that is not, and the nats a sample that "
        f"it leaves open; more were not tried. Simulated clusters {APART:g} standard deviations apart; of "
        "clusters that overlap less is in reach, see everyday.md.\n"
    )
    header = ["covariance", "rows", *(f"{d} column{'s' if d > 1 else ''}" for d in COLUMNS)]
    machine.write("in_reach.md", "\n".join([heading, note, machine.table(header, rows)]))


if __name__ == "__main__":
    main()
