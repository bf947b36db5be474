"""What prices as high as merging allows prove of matrices of two columns, and what bounds say of their cells.

Usage: python bench/raised.py [--seconds 20] [--heights 0.35 ...] [--kind full] [--merged 0.9] --rows "2000 2 3 6" ...
           (samples, columns, components, standard deviations apart): from scikit-learn's fit, with nothing else.
           Clusters have unequal weights where the kind is not full. Prints prices above -log p of the largest
           component, nats open a sample, of these what prices lose, cells, million terms, processor seconds, whether it
           ended
       python bench/raised.py --pointwise --rows "2000 2 3 4": cells of one half width in the components' own units
           around points near the components; medians of four numbers, each over what a component saves at its best:
           G at 40 points of the cell, the bound by minorant and facets (P5), that by each sample's least cost in the
           cell, and that by tangents of the costs, which are convex in (T, a) if c = |T x - a|^2 / 2 - log det T, at
           the cell's 32 corners, of each sample the better of the last two
"""

import argparse
import math
import time

import numpy as np
from everyday import clusters, unequal
from gopfast.mixtures.primal.em import MixturePrimal
from sklearn.mixture import GaussianMixture

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.pricing import raised
from gopfast.mixtures.pricing.hull_atoms import saved

LOG_2_PI = math.log(2 * math.pi)


def begun(n, d, K, apart, kind="full"):
    """Return the bound before its first step, and the value of its solution."""
    X = clusters(n, d, K, apart, kind, 0) if kind == "full" else unequal(n, d, K, apart, kind, 20)
    problem = gopfast.GaussianMixture(X, K, covariance=kind)
    family = engine.family(problem)
    fit = GaussianMixture(K, covariance_type="spherical" if kind == "known" else kind, n_init=3, random_state=0).fit(X)
    start = family.pack(fit.means_, None if kind == "known" else fit.covariances_)
    vector, values, _ = MixturePrimal(family).em(fit.weights_, start, 0.0, 2000)[:3]
    return raised.RaisedBound(family, problem, vector, values[-1] - 1e-3), values[-1]


def row(n, d, K, apart, kind, seconds):
    """Return a line, as the usage says."""
    since = time.process_time()
    bound, value = begun(n, d, K, apart, kind)
    more = True
    while more and time.process_time() - since < seconds:
        more = bound.step(math.inf)
    name = f"{n:,} x {d}, K={K}, {kind}, {apart:g} apart"
    if not math.isfinite(bound.lower):
        return f"{name} | no prices are of use"
    lost, took = value - bound.total + K * bound.attained, time.process_time() - since
    told = f"{bound.height:.3g} | {(value - bound.lower) / n:.2g} | {lost / n:.2g}"
    return f"{name} | {told} | {bound.pricing.n_cells:,} | {bound.n_terms / 1e6:,.0f} | {took:.1f} | {not more}"


def pointwise(n, d, K, apart):
    """Print a line for each width."""
    bound, _ = begun(n, d, K, apart)
    while bound.phase != "search":
        bound.step(math.inf)
    pricing, target, rng = bound.pricing, bound.attained, np.random.default_rng(0)
    x, y = bound.family.data.arrays()[0][:2]
    weights, prices = bound.weights, np.array(bound.prices)
    for half in (0.05, 0.1, 0.2, 0.3, 0.5, 0.8):
        found = []
        for _ in range(30):
            m, my, v, b, u = bound.atoms[rng.integers(len(bound.atoms))]
            away = rng.random() * rng.standard_normal(5)
            m, b, my = m + away[0] * math.sqrt(v), b + away[1] * math.sqrt(u / v), my + away[2] * math.sqrt(u)
            s, r = math.exp(away[3] / 1.4) / math.sqrt(v), math.exp(away[4] / 1.4) / math.sqrt(u)
            low = np.array([m - half / s, my - half / r, b - half * s / r, s * math.exp(-half / 1.4),
                            r * math.exp(-half / 1.4)])  # fmt: skip
            high = np.array([m + half / s, my + half / r, b + half * s / r, s * math.exp(half / 1.4),
                             r * math.exp(half / 1.4)])  # fmt: skip
            at = low + rng.random((40, 5)) * (high - low)
            truth = max(saved(weights, prices - _costs(x, y, m, *point))[0] for point in at)
            cell = [np.array([side[0], side[1], 1 / other[3] ** 2, side[2], 1 / other[4] ** 2])
                    for side, other in ((low, high), (high, low))]  # fmt: skip
            minorant = pricing.bound_cell(*cell)
            found.append([truth, minorant, *_by_samples(weights, prices, x, y, m, low, high)])
        print(f"{half:g} | " + " | ".join(f"{one:.2f}" for one in np.median(found, axis=0) / target), flush=True)


def _costs(x, y, middle, m, my, b, s, r):
    """Costs (n,) of mean m and precision s^2 of x, and of y, of precision r^2, about a line of slope b."""
    z, rest = s * (x - m), r * (y - my - b * (x - middle))
    return LOG_2_PI - math.log(s) - math.log(r) + 0.5 * (z * z + rest * rest)


def _by_samples(weights, prices, x, y, middle, low, high):
    """Return bounds by intervals, and by the better of these and tangents at all corners."""
    parts = []
    for coordinate, line, scale in (((x - middle), None, 3), (y, x - middle, 4)):
        centre, half = 0.5 * (low + high), 0.5 * (high - low)
        j = 0 if line is None else 1
        off = coordinate - (centre[j] - (middle if line is None else 0.0))
        ends = [half[j] * e for e in (-1, 1)]
        if line is not None:
            off = off - centre[2] * line
            ends = [e + f * half[2] * line for e in ends for f in (-1, 1)]
        far = np.maximum(0.0, np.abs(off) - (half[j] if line is None else half[1] + half[2] * np.abs(line)))
        best = np.clip(1.0 / np.maximum(far, 1e-300), low[scale], high[scale])
        most = np.log(best) - 0.5 * np.square(best * far)
        z = centre[scale] * off
        corners = np.array([math.log(centre[scale]) + p / centre[scale] - 1 + 0.5 * z * z - z * p * (off - e)
                            for p in (low[scale], high[scale]) for e in ends])  # fmt: skip
        parts.append((most, corners))
    (most, corners), (other, more) = parts
    base = prices - LOG_2_PI

    def size(mean, variance):
        return 0.5 * (mean + np.sqrt(mean * mean + variance))

    sizes = [np.maximum(0.0, base + most + other), size(base + corners.mean(0) + other, corners.var(0)),
             size(base + most + more.mean(0), more.var(0)),
             size(base + corners.mean(0) + more.mean(0), corners.var(0) + more.var(0))]  # fmt: skip
    chosen = np.argmin(sizes, axis=0)
    first = np.where((chosen == 1) | (chosen == 3), corners, most)
    second = np.where(chosen >= 2, more, other)
    interval = saved(weights, base + most + other)[0]
    return interval, min(interval, max(saved(weights, base + a + b)[0] for a in first for b in second))


def main():
    """Print a line for each row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--heights", type=float, nargs="*", help="only these prices above -log p are tried")
    parser.add_argument("--kind", default="full", choices=["full", "diag", "spherical", "known"])
    parser.add_argument("--merged", type=float, help="part of v that a component on two clusters may save")
    parser.add_argument("--pointwise", action="store_true")
    parser.add_argument("--rows", nargs="*", default=["2000 2 3 8", "2000 2 3 6", "2000 2 3 4"])
    arguments = parser.parse_args()
    if arguments.heights:
        raised.HEIGHTS = tuple(arguments.heights)
    if arguments.merged:
        raised.MERGED = raised.MERGED_KNOWN = arguments.merged
    for text in arguments.rows:
        n, d, K, apart = text.split()
        case = int(n), int(d), int(K), float(apart)
        if arguments.pointwise:
            pointwise(*case)
        else:
            print(row(*case, arguments.kind, arguments.seconds), flush=True)


if __name__ == "__main__":
    main()
