"""What the search in the hull of the means proves of spherical components alone, of the solution found within 4 s.

Usage: python bench/hull.py --seconds 10 --rows "20000 8 5 6.5 known" "20000 4 3 8 spherical" ...
(samples, columns, components, deviations apart, variances; --merged: what a component in place of two may save, as
a part of what the incumbent's do; inf for prices as high as they lose little; --unequal: data as of everyday.py,
of the seed of --seed)
"""

import argparse
import time

import numpy as np
from everyday import clusters
from everyday_cases import unequal
from gopfast.mixtures.primal.em import MixturePrimal

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.pricing import hull, hull_atoms

ROWS = [
    "20000 8 5 6.5 known", "100000 4 3 7 known", "20000 5 5 6 known", "20000 8 3 6 known", "20000 8 8 7 known",
    "5000 4 3 7 spherical", "20000 4 3 8 spherical", "5000 5 3 7 spherical", "20000 5 5 6 spherical",
    "20000 8 5 6.5 spherical",
]  # fmt: skip


def row(n, d, K, apart, kind, seconds, is_unequal, seed):
    """Return a line: nats open per sample, of these what prices lose, cells, processor seconds, whether it ended."""
    X = unequal(n, d, K, apart, kind, seed) if is_unequal else clusters(n, d, K, apart, "spherical", 0)
    family = engine.family(gopfast.GaussianMixture(X, K, covariance=kind))
    with gopfast.settings(hull=False, cover=False):
        found = gopfast.solve(gopfast.GaussianMixture(X, K, covariance=kind), time_limit=4, n_threads=1)
    r = found.solution.responsibilities
    columns, _ = family.data.arrays()
    means = (columns @ r / r.sum(axis=0)).T
    parameters = means
    if kind == "spherical":
        away = np.square(columns[:, None] - means.T[:, :, None]).sum(axis=0)
        each = (away * r.T).sum(axis=1) / r.sum(axis=0) / d
        parameters = np.column_stack([means, each])
    vector, (value, *_), _ = MixturePrimal(family).em(r.mean(axis=0), parameters.ravel(), 0.0, 500)[:3]
    bound, begun, more = hull.HullBound(family, vector, value - 1e-3), time.process_time(), True
    while more and time.process_time() - begun < seconds:
        more = bound.step(np.inf)
    lost = value - bound.total + K * bound.attained
    took = time.process_time() - begun
    name = f"{n:,} x {d}, K={K}, {kind}, {apart:g} apart"
    return f"{name} | {(value - bound.lower) / n:.2g} | {lost / n:.2g} | {bound.n_cells:,} | {took:.1f} | {not more}"


def main():
    """Print a line for each row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rows", nargs="*", default=ROWS)
    parser.add_argument("--merged", type=float, default=hull_atoms.MERGED)
    parser.add_argument("--unequal", action="store_true")
    parser.add_argument("--seed", type=int, default=20)
    arguments = parser.parse_args()
    hull_atoms.MERGED = arguments.merged
    for text in arguments.rows:
        n, d, K, apart, kind = text.split()
        case = int(n), int(d), int(K), float(apart), kind
        print(row(*case, arguments.seconds, arguments.unequal, arguments.seed), flush=True)


if __name__ == "__main__":
    main()
