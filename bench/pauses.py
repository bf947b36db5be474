"""How soon a search of many samples has a bound, how long it is silent, and by how much it overruns its time limit.

Usage: python bench/pauses.py [--limits 2 5 20] [--rows "1000000 2 3 6 diag" ...]

Of each row (samples, columns, components, standard deviations apart, kind) and each limit: status, nats open a sample,
seconds in all and until the first bound that is no longer the ceiling, which needs no search, seconds in all less the
limit, and the longest time between two reports of progress, before the first one and after it. Searches run on one
thread; what else the machine does counts, so that only more than a few tenths of a second tell anything. Nothing is
written.
"""

import argparse
import time

import numpy as np
from everyday_cases import clusters

import gopfast
from gopfast.mixtures.closed_form.ceiling import least_objective

ROWS = (
    "2000 2 3 4 full", "5000 5 3 6 full", "5000 3 3 5 tied", "5000 3 4 6 diag", "20000 3 4 6 diag", "20000 8 3 6 diag",
    "20000 8 5 6 known", "20000 4 3 6 full", "100000 2 4 4 diag", "100000 3 3 6 spherical", "100000 8 5 6 diag",
    "100000 3 3 6 full", "100000 3 3 6 tied", "1000000 2 3 6 diag", "1000000 4 3 6 known", "1000000 8 4 6 diag",
)  # fmt: skip


def row(n, d, K, apart, kind, limit):
    """Return the result, seconds until the first bound, overrun, silence before the first report and after it."""
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
    ceiling = least_objective(problem)
    raised = found.history[found.history[:, 2] > ceiling + 1e-6 * abs(ceiling), 0]
    return found, raised[0] if len(raised) else np.inf, over, silences[0], max(silences[1], ended - last)


def main():
    """Print a line for each row and limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limits", type=float, nargs="+", default=[2.0, 5.0, 20.0])
    parser.add_argument("--rows", nargs="+", default=ROWS)
    arguments = parser.parse_args()
    for text in arguments.rows:
        n, d, K, apart, kind = text.split()
        for limit in arguments.limits:
            found, bounded, over, first, later = row(int(n), int(d), int(K), float(apart), kind, limit)
            told = f"{text}, {limit:g} s: {found.status}, {found.gap / int(n):.2g} nats a sample in {found.time:.1f} s"
            told += f", a bound after {bounded:.1f} s, over by {over:.2f} s"
            print(f"{told}, silent {first:.2f} s before the first report, {later:.2f} s after it", flush=True)


if __name__ == "__main__":
    main()
