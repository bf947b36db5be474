"""What is in reach, by rows, columns, components and covariances; writes bench/results/in_reach.md.

Usage: OMP_NUM_THREADS=1 python bench/in_reach.py [--seconds 10] [--nats 0.0001] [--apart 6] [--rows 100 1000 ...]
       [--columns 1 2 4 8] [--components 2 3 5] [--seed 0] [--output in_reach.md]

Clusters so many standard deviations apart, with unequal weights and covariances (`everyday_cases.py`), one thread. A
case is in reach if it is proved to so many nats a sample within the limit. Of each covariance, number of rows and
columns the components are raised until one is not. At most ten minutes on an idle processor as it stands.
"""

import argparse

import machine
from everyday_cases import unequal

import gopfast

KINDS = ("known", "spherical", "diag", "tied", "full")
MATRICES = ("tied", "full")  # in one column these are other kinds
ROWS, COLUMNS, COMPONENTS = (100, 1_000, 10_000, 100_000), (1, 2, 4, 8), (2, 3, 5)


def gap_per_sample(n, d, K, kind, asked):
    """Return the nats a sample that a search leaves open."""
    X = unequal(n, d, K, asked.apart, kind, asked.seed)
    problem = gopfast.GaussianMixture(X, K, covariance=kind)
    return gopfast.solve(problem, time_limit=asked.seconds, n_threads=1, log=False).gap / n


def cell(n, d, kind, asked):
    """Return the numbers of components in reach, and what the first that is not leaves open."""
    proved = []
    for K in asked.components:
        gap = gap_per_sample(n, d, K, kind, asked)
        if gap > asked.nats:
            return " ".join([", ".join(proved), f"({K}: {gap:.1g})"]).strip()
        proved.append(str(K))
    return ", ".join(proved)


def main():
    """Run the cases and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="time limit of each search")
    parser.add_argument("--nats", type=float, default=1e-4, help="nats a sample that may be left open")
    parser.add_argument("--apart", type=float, default=6.0, help="standard deviations between the nearest clusters")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--columns", type=int, nargs="+", default=COLUMNS)
    parser.add_argument("--components", type=int, nargs="+", default=COMPONENTS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", default="in_reach.md")
    asked = parser.parse_args()
    heading = machine.heading("In reach")
    rows = []
    for kind in KINDS:
        for n in asked.rows:
            cells = [cell(n, d, kind, asked) if d > 1 or kind not in MATRICES else "" for d in asked.columns]
            rows.append([kind, f"{n:,}", *cells])
            print(" | ".join(rows[-1]), flush=True)
    note = (
        f"Components, of {', '.join(map(str, asked.components))}, of which the optimum is proved to {asked.nats:g} "
        f"nats a sample within {asked.seconds:g} s of one thread. In brackets the first that is not, and the nats a "
        f"sample that it leaves open; more were not tried. Simulated clusters {asked.apart:g} standard deviations "
        "apart; of clusters that overlap less is in reach, see everyday.md.\n"
    )
    header = ["covariance", "rows", *(f"{d} column{'s' if d > 1 else ''}" for d in asked.columns)]
    machine.write(asked.output, "\n".join([heading, note, machine.table(header, rows)]))


if __name__ == "__main__":
    main()
