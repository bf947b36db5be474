"""What the first local search misses against scikit-learn's ten starts; writes bench/results/starts.md.

Run: OMP_NUM_THREADS=1 python bench/starts_table.py [--limit 5] [--only text] [--quick]     (about a quarter of an hour)

Simulated clusters and tables that scikit-learn ships, at the same floor: scikit-learn's is `reg_covar`, and its best
fit is taken to the end by EM before it is compared, so that what is lost is another local optimum and no early stop.
Rows that are selected with --only are printed and not written.
"""

import argparse
import time
import warnings

import machine
import numpy as np
from sklearn import datasets
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as SklearnMixture
from sklearn_misses import raised

import gopfast

FLOOR = 1e-3  # of the variances, of columns of variance 1
KINDS = ("diag", "full", "tied", "spherical")
LOST = 0.05  # nats worth a word
POLISH = {"tol": 1e-7, "max_iter": 20_000}
HEADER = ("data", "K", "kind", "lost", "lost, unpolished", "passes", "seconds", "scikit-learn's")
# (samples, columns, components, nearest centers in standard deviations); kinds take turns, each with its own data
SIMULATED = [
    (N, d, K, gap)
    for N in (2_000, 20_000, 100_000)
    for d, K, gap in ((2, 3, 4.0), (2, 8, 3.0), (5, 4, 6.0), (5, 5, 3.0), (8, 5, 4.0), (10, 4, 5.0), (10, 8, 3.0))
]


def simulate(n, d, K, gap, kind, seed):
    """Clusters of unequal weights and covariances whose nearest centers are `gap` average deviations apart."""
    rng = np.random.default_rng(seed)
    centers = rng.standard_normal((K, d))
    apart = np.linalg.norm(centers[:, None] - centers, axis=2)[np.triu_indices(K, 1)].min()
    centers *= gap / apart
    roots = np.stack([_root(kind, d, rng) for _ in range(K)])
    if kind == "tied":
        roots[:] = roots[0]
    label = rng.choice(K, n, p=rng.dirichlet(np.full(K, 5.0)))
    return centers[label] + np.einsum("nij,nj->ni", roots[label], rng.standard_normal((n, d)))


def _root(kind, d, rng):
    """A root of a covariance: deviations from 0.5 to 1.5, in directions of the kind."""
    size = rng.uniform(0.5, 1.5, 1 if kind == "spherical" else d) * np.ones(d)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0] if kind in ("full", "tied") else np.eye(d)
    return turn * size


def tables():
    """Tables that scikit-learn ships, (name, X, numbers of components)."""
    cancer = datasets.load_breast_cancer().data
    yield "iris", datasets.load_iris().data, (2, 3, 5)
    yield "wine", datasets.load_wine().data, (2, 3)
    yield "breast cancer, 4 columns", cancer[:, :4], (2, 3, 5)
    yield "breast cancer, 10 columns", cancer[:, :10], (2, 4)
    yield "digits, 8 components", PCA(8).fit_transform(datasets.load_digits().data), (5, 10)
    yield "diabetes", datasets.load_diabetes().data, (2, 4)


def cases():
    """Yield name, X, number of components and kind."""
    for seed, (n, d, K, gap) in enumerate(SIMULATED):
        for kind in KINDS:
            yield f"{n:,} x {d}, {gap:g} apart", simulate(n, d, K, gap, kind, 100 + seed), K, kind
    for name, X, sizes in tables():
        for K in sizes:
            for kind in KINDS:
                yield name, X, K, kind


def sklearn_fit(problem, seed=0):
    """Objective of the best of ten starts as it is, after EM to the end, and the seconds of the starts."""
    began = time.perf_counter()
    fit = SklearnMixture(
        problem.n_components, covariance_type=problem.covariance, n_init=10, random_state=seed, reg_covar=FLOOR
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit.fit(problem.X)
    seconds = time.perf_counter() - began
    floor = np.full(problem.n_features, FLOOR)
    covariances = fit.covariances_
    if problem.covariance == "tied":
        covariances = raised(covariances[None], floor)[0]
    elif problem.covariance == "full":
        covariances = raised(covariances, floor)
    start = {"weights": fit.weights_, "means": fit.means_, "covariances": covariances}
    return problem.objective(**start), gopfast.local.em(problem, start, **POLISH).objective, seconds


def row(name, X, K, kind, limit):
    """One line of the table, and what is lost against the polished fit."""
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    problem = gopfast.GaussianMixture(X, K, covariance=kind, variance_floor=FLOOR)
    began = time.perf_counter()
    # a third of the limit is for the first local search, the rest for bounds
    found = gopfast.solve(problem, time_limit=limit, max_nodes=1, n_threads=1, log=False)
    seconds = time.perf_counter() - began
    raw, polished, sklearn_seconds = sklearn_fit(problem)
    lost, lost_raw = found.objective - polished, found.objective - raw
    cells = (name, K, kind, f"{lost:+.2f}", f"{lost_raw:+.2f}", f"{found.n_passes:,}", f"{seconds:.2f}")
    return (*cells, f"{sklearn_seconds:.2f}"), lost


def main():
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=5.0, help="seconds of each search")
    parser.add_argument("--only", default="", help="rows whose name has this text")
    parser.add_argument("--quick", action="store_true", help="at most 20,000 samples, not written")
    arguments = parser.parse_args()
    rows, losses = [], []
    for name, X, K, kind in cases():
        if arguments.only not in f"{name}, {K}, {kind}" or (arguments.quick and len(X) > 20_000):
            continue
        cells, lost = row(name, X, K, kind, arguments.limit)
        print(" | ".join(map(str, cells)), flush=True)
        rows.append(cells)
        losses.append(lost)
    worse = [lost for lost in losses if lost > LOST]
    summary = (
        f"{len(worse)} of {len(losses)} rows are worse by more than {LOST} nats, by at most "
        f"{max(worse, default=0.0):.2f}; {sum(lost < -LOST for lost in losses)} are better."
    )
    print(summary)
    if not arguments.only and not arguments.quick:
        machine.write(
            "starts.md",
            machine.heading("First local search against scikit-learn's ten starts", "scikit-learn", "scipy")
            + f"\n`solve` with a time limit of {arguments.limit:g} s, of which the first local search takes a third at "
            "most, and one node; scikit-learn's `n_init=10`. Both at a floor of "
            f"{FLOOR:g} times the columns' variance. *lost*: nats above scikit-learn's best fit, taken to the end by "
            "EM (*unpolished*: as it is); negative where gopfast's is better. *passes*: of EM, most of them over some "
            f"of the samples where there are many.\n\n{summary}\n\n"
            + machine.table(HEADER, rows),
        )


if __name__ == "__main__":
    main()
