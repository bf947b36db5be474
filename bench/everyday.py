"""Everyday data: thousands of samples, several columns, clusters that are more or less apart.

Usage: python bench/everyday.py [--seconds 20] [--rows TEXT ...] [--seed 0]
       python bench/everyday.py --compare groups --rows "5000 2 3 8 diag" "60000 3 3 5 known"
"""

import argparse
import time
import warnings

import machine
import numpy as np
from sklearn.mixture import GaussianMixture

import gopfast

# Samples, columns, components, standard deviations between the nearest clusters, kind of covariance.
CASES = [
    (2_000, 2, 3, 3.5, "diag"), (2_000, 2, 3, 4.0, "full"), (5_000, 3, 4, 6.0, "diag"), (5_000, 5, 4, 6.0, "diag"),
    (20_000, 2, 3, 6.0, "diag"), (20_000, 2, 3, 3.5, "diag"), (20_000, 2, 4, 4.0, "spherical"),
    (20_000, 5, 5, 6.0, "spherical"), (20_000, 8, 3, 6.0, "diag"), (100_000, 2, 4, 4.0, "diag"),
    (100_000, 3, 3, 6.0, "spherical"), (1_000_000, 2, 3, 6.0, "diag"),
]  # fmt: skip
HEADER = [
    "data", "status", "nats open", "per sample", "seconds", "scikit-learn, 1 start: seconds, nats above",
    "10 starts: seconds, nats above",
]  # fmt: skip


def clusters(n, d, K, apart, kind, seed):
    """Return samples (n, d) of clusters whose nearest means are about so many standard deviations apart."""
    rng = np.random.default_rng(seed)
    while True:
        means = rng.standard_normal((K, d))
        distance = np.linalg.norm(means[:, None] - means, axis=2)[np.triu_indices(K, 1)]
        if distance.min() > 0.3 * np.median(distance):
            break
    share = rng.uniform(0.5, 1.5, K)
    label = rng.choice(K, n, p=share / share.sum())
    widths = rng.uniform(0.7, 1.3, (K, 1 if kind == "spherical" else d))
    X = means[label] * apart / distance.min() + rng.standard_normal((n, d)) * widths[label]
    return X @ np.linalg.qr(rng.standard_normal((d, d)))[0] if kind in ("full", "tied") else X


def peer(X, K, kind, n_init):
    """Return the seconds and the objective of scikit-learn."""
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = GaussianMixture(K, covariance_type=kind, n_init=n_init, random_state=0).fit(X)
    return time.perf_counter() - begun, -fit.score(X) * len(X)


def row(case, seconds, seed):
    """Return a line of the table."""
    n, d, K, apart, kind = case
    X = clusters(n, d, K, apart, kind, seed)
    begun = time.perf_counter()
    found = gopfast.solve(gopfast.GaussianMixture(X, K, covariance=kind), time_limit=seconds, n_threads=1)
    took = time.perf_counter() - begun
    peers = [peer(X, K, kind, n_init) for n_init in (1, 10)]
    name = f"{n:,} x {d}, K={K}, {kind}, {apart:g} apart"
    told = [f"{spent:.1f}, {max(0.0, value - found.objective):.3g}" for spent, value in peers]
    return [name, str(found.status), f"{found.gap:.3g}", f"{found.gap / n:.2g}", f"{took:.1f}", *told]


def compared(case, seconds, seed, mechanism):
    """Return a line of what one mechanism changes: statuses, gaps and processor seconds without it and with it."""
    n, d, K, apart, kind = case
    X = clusters(n, d, K, apart, "spherical" if kind == "known" else kind, seed)
    told = []
    for switched in (False, True):
        begun = time.process_time()
        with gopfast.settings(**{mechanism: switched}):
            found = gopfast.solve(gopfast.GaussianMixture(X, K, covariance=kind), time_limit=seconds, n_threads=1)
        told.append(f"{found.status}, {found.gap:.3g}, {time.process_time() - begun:.2f}")
    return [f"{n:,} x {d}, K={K}, {kind}, {apart:g} apart", *told]


def main():
    """Run the cases and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", nargs="*", help="only cases whose name has one of these texts; nothing is written")
    parser.add_argument("--compare", metavar="MECHANISM", help="nothing but rows given as numbers, without it and with")
    arguments = parser.parse_args()
    if arguments.compare:
        rows = [row.split() for row in arguments.rows]
        cases = [(*map(int, row[:3]), float(row[3]), row[4]) for row in rows]
        found = []
        for case in cases:
            found.append(compared(case, arguments.seconds, arguments.seed, arguments.compare))
            print(" | ".join(found[-1]), flush=True)
        return
    cases = CASES
    if arguments.rows:
        cases = [case for case in CASES if any(text in f"{case[0]} x {case[1]} {case[4]}" for text in arguments.rows)]
    found = []
    for case in cases:
        found.append(row(case, arguments.seconds, arguments.seed))
        print(" | ".join(found[-1]), flush=True)
    note = f"Proof to 0.01 nats wanted, at most {arguments.seconds:g} s, one thread, seed {arguments.seed}.\n"
    text = "\n".join([machine.heading("Everyday data"), note, machine.table(HEADER, found)])
    machine.write(None if arguments.rows else "everyday.md", text)


if __name__ == "__main__":
    main()
