"""How long a search of many samples is silent, and by how much it overruns its time limit; writes nothing.

Usage: python bench/pauses.py [--limits 2 5 20] [--rows "1000000 2 3 6 diag" ...]

Of each row (samples, columns, components, standard deviations apart, kind) and each limit: status, nats open a sample,
seconds in all less the limit, and the longest time between two reports of progress, the first bound's apart. Searches
run on one thread; what else the machine does counts, so that only more than a few tenths of a second tell anything.
"""

import argparse
import time

from everyday import clusters

import gopfast

ROWS = (
    "2000 2 3 4 full", "5000 5 3 6 full", "5000 3 3 5 tied", "5000 3 4 6 diag", "20000 3 4 6 diag", "20000 8 3 6 diag",
    "20000 8 5 6 known", "20000 4 3 6 full", "100000 2 4 4 diag", "100000 3 3 6 spherical", "100000 8 5 6 diag",
    "100000 3 3 6 full", "100000 3 3 6 tied", "1000000 2 3 6 diag", "1000000 4 3 6 known", "1000000 8 4 6 diag",
)  # fmt: skip


def row(n, d, K, apart, kind, limit):
    """Return status, nats open a sample, overrun, silence before the first bound and after it, in seconds."""
    X = clusters(n, d, K, apart, "spherical" if kind == "known" else kind, 0)
    silences, bounded = [0.0, 0.0], False
    begun = last = time.perf_counter()

    def hear(progress):
        nonlocal last, bounded
        now = time.perf_counter()
        silences[bounded] = max(silences[bounded], now - last)
        last, bounded = now, True

    problem = gopfast.GaussianMixture(X, K, covariance=kind)
    found = gopfast.solve(problem, time_limit=limit, n_threads=1, log=False, callback=hear)
    ended = time.perf_counter()
    over = ended - begun - limit if str(found.status) == "TIME_LIMIT" else 0.0
    return found.status, found.gap / n, over, silences[0], max(silences[1], ended - last)


def main():
    """Print a line for each row and limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limits", type=float, nargs="+", default=[2.0, 5.0, 20.0])
    parser.add_argument("--rows", nargs="+", default=ROWS)
    arguments = parser.parse_args()
    for text in arguments.rows:
        n, d, K, apart, kind = text.split()
        for limit in arguments.limits:
            status, gap, over, first, later = row(int(n), int(d), int(K), float(apart), kind, limit)
            told = f"{text}, {limit:g} s: {status}, {gap:.2g} nats a sample, over by {over:.2f} s"
            print(f"{told}, silent {first:.2f} s before the first bound, {later:.2f} s after it", flush=True)


if __name__ == "__main__":
    main()
