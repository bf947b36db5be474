"""What the default variance floor costs against scikit-learn's fits, which have none; writes bench/results/floors.md.

Run: OMP_NUM_THREADS=1 python bench/floors.py [--jobs 2] [set ...]     (about an hour on a busy processor)

Thirty sets, real and simulated, four kinds of covariance, 2 to 6 components: the log-likelihood that `gopfast.solve`
has at its defaults after its first local search, less that of the best of ten starts of scikit-learn at its own. Where
that fit rests on spikes it is said: components of fewer distinct rows than a covariance takes, or held by so few values
of a column, whose likelihood is that of `reg_covar`. Sets that are named are printed and not written.
"""

import argparse
import warnings

import machine
import numpy as np
from datasets import acidity, enzyme, faithful, galaxies
from sklearn import datasets
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as SklearnMixture

import gopfast
from gopfast.parallel import outcomes

KINDS = ("spherical", "diag", "tied", "full")
COMPONENTS = (2, 3, 4, 5, 6)
N_INIT = 10
LIMIT = 60.0  # seconds, as estimators have it; of a fit that is prepared and started it is a third at most
FEWEST_ROWS, MOST_VALUES, HELD = 2, 3, 0.99  # of a spike: times d + 1 distinct rows; values of a column, their share
# Samples, columns, clusters, distance of the nearest two in standard deviations, form of their covariances.
SIMULATED = (
    (300, 1, 3, 4, "diag"), (1_000, 1, 4, 6, "diag"), (2_000, 2, 3, 4, "full"), (2_000, 2, 3, 8, "full"),
    (2_000, 2, 4, 4, "diag"), (5_000, 5, 4, 6, "full"), (5_000, 5, 4, 15, "diag"), (2_000, 3, 5, 4, "full"),
    (10_000, 10, 4, 8, "full"), (100_000, 2, 4, 12, "diag"), (500, 8, 3, 7, "full"), (500, 4, 3, 40, "full"),
    (800, 3, 3, 3, "spherical"), (3_000, 6, 4, 100, "full"), (1_500, 2, 6, 6, "full"), (400, 2, 2, 5, "full"),
    (2_000, 2, 3, 1_000, "diag"),
)  # fmt: skip


def clusters(seed, n, d, K, distance, form):
    """Normal clusters of unequal weights and covariances."""
    rng = np.random.default_rng(seed)
    labels, means = rng.choice(K, n, p=rng.dirichlet(4.0 * np.ones(K))), rng.standard_normal((K, d))
    means *= distance / min(np.linalg.norm(one - other) for i, one in enumerate(means) for other in means[:i])
    X = np.empty((n, d))
    for k in range(K):
        if form == "full":
            root = np.linalg.qr(rng.standard_normal((d, d)))[0] * np.exp(rng.uniform(-1.2, 0.3, d))
        else:
            root = np.diag(np.exp(rng.uniform(-1.0, 0.3, d if form == "diag" else 1) * np.ones(d)))
        X[labels == k] = means[k] + rng.standard_normal((np.count_nonzero(labels == k), d)) @ root.T
    return X


def customers():
    """1,500 customers, simulated: rounded ages, skewed amounts, counts, incomes in hundreds."""
    rng = np.random.default_rng(3)
    n = 1_500
    segment = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    own = np.arange(n), segment
    age = np.round(np.clip(rng.normal([30, 45, 65], [6, 8, 7], (n, 3))[own], 18, 90))
    spent = np.round(np.exp(rng.normal([3, 4, 3.5], [0.8, 0.6, 0.9], (n, 3))[own]), 2)
    income = np.round(np.exp(rng.normal([10, 10.6, 10.2], 0.35, (n, 3))[own]), -2)
    return np.column_stack([age, spent, rng.poisson(np.array([2, 6, 4])[segment]), income])


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def sets():
    """The tables by name."""
    cancer, wine = datasets.load_breast_cancer().data, datasets.load_wine().data
    found = {
        "iris": datasets.load_iris().data, "wine, 5 columns": wine[:, :5], "wine, standardised": standardised(wine),
        "breast cancer, 4 columns, standardised": standardised(cancer[:, :4]),
        "breast cancer, 10 columns": cancer[:, :10],
        "digits, 8 principal components": PCA(8, random_state=0).fit_transform(datasets.load_digits().data),
        "diabetes": datasets.load_diabetes().data, "diabetes, unscaled": datasets.load_diabetes(scaled=False).data,
        "Old Faithful": faithful(), "galaxies": galaxies(), "acidity": acidity(), "enzyme": enzyme(),
        "customers": customers(),
    }  # fmt: skip
    for seed, (n, d, K, distance, form) in enumerate(SIMULATED):
        name = f"simulated, {n:,} x {d}, {K} clusters {distance} apart, {form}"
        found[name] = clusters(100 + seed, n, d, K, distance, form)
    return found


def scikit_learns(X, kind, K):
    """Return the log-likelihood of scikit-learn's best fit, and whether components of it are spikes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = SklearnMixture(K, covariance_type=kind, n_init=N_INIT, random_state=0).fit(X)
    return fit.score(X) * len(X), has_spikes(X, kind, fit.predict_proba(X))


def has_spikes(X, kind, tau):
    rows, which = np.unique(X, axis=0, return_index=True)
    tau, least = tau[which], FEWEST_ROWS * (X.shape[1] + 1 if kind == "full" else 2)
    sizes = np.square(tau.sum(axis=0)) / np.square(tau).sum(axis=0)
    if kind != "tied" and sizes.min() < least:
        return True
    for column in rows.T:
        values = np.unique(column, return_inverse=True)[1]
        held = np.stack([np.bincount(values, weights=one) for one in tau.T])
        few = min(MOST_VALUES, max(1, held.shape[1] - 1))
        most, total = np.sort(held, axis=1)[:, -few:].sum(axis=1), held.sum(axis=1)
        if kind in ("diag", "full") and (most >= HELD * total).any():
            return True
        if kind == "tied" and most.sum() >= HELD * total.sum():
            return True
    return False


def compared(task):
    """Return the difference in nats as text, and as a number where scikit-learn's fit has no spikes."""
    X, kind, K = task
    theirs, spiked = scikit_learns(X, kind, K)
    problem = gopfast.GaussianMixture(X, K, covariance=kind)
    result = gopfast.solve(problem, max_nodes=1, time_limit=LIMIT, n_threads=1, log=False)
    more = problem.elbo_constant - result.objective - theirs
    bound = "f" if "default variance_floor" in result.caution else ""
    return f"{more:+,.1f}{' s' if spiked else ''}{bound}", None if spiked else more


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    lines, sound = [], []
    for name, X in sets().items():
        if arguments.names and name not in arguments.names:
            continue
        for kind in KINDS:
            cells = list(outcomes(compared, [(X, kind, K) for K in COMPONENTS], arguments.jobs))
            sound += [(more, name, kind, K) for (_, more), K in zip(cells, COMPONENTS, strict=True) if more is not None]
            lines.append(f"| {name} | {kind} | " + " | ".join(text for text, _ in cells) + " |")
            print(lines[-1], flush=True)
    worse = sorted(one for one in sound if one[0] < -0.1)
    summary = (
        f"{len(sound)} fits of scikit-learn's without spikes; {len(worse)} of gopfast's are more than 0.1 nats below"
        + "".join(f"\n- {more:,.1f}: {name}, {kind}, K = {K}" for more, name, kind, K in worse)
    )
    print(summary)
    text = [
        machine.heading("The default variance floor", "numpy", "scikit-learn"),
        f"Log-likelihood (nats) at defaults, after the first local search, less that of scikit-learn's best of "
        f"{N_INIT} starts, which has no floor. s: that fit has spikes, whose likelihood is that of `reg_covar`. f: the "
        "default floor binds a component of gopfast's, and the result says so first.", "",
        summary, "",
        f"| set | covariance | {' | '.join(f'K = {K}' for K in COMPONENTS)} |",
        "| --- | --- " + "| ---: " * len(COMPONENTS) + "|", *lines, "",
    ]  # fmt: skip
    if not arguments.names:
        machine.write("floors.md", "\n".join(text))


if __name__ == "__main__":
    main()
