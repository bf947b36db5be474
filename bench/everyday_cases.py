"""Everyday data for `everyday.py`: a seeded design of simulated clusters, and tables that scikit-learn ships."""

from typing import NamedTuple

import numpy as np
from floors import customers, standardised
from sklearn import datasets
from sklearn.decomposition import PCA

SAMPLES = (2_000,) * 17 + (5_000,) * 16 + (20_000,) * 13 + (100_000,) * 9 + (1_000_000,) * 5
COLUMNS, COMPONENTS = (2, 3, 5, 8, 10), (3, 4, 5, 8)
APART = (2.0, 3.5, 4.0, 5.0, 6.0, 6.0, 7.0, 8.0)
KINDS = ("known", "spherical", "diag", "tied", "full")
MOST_NUMBERS = 20_000_000  # samples times columns times components
SEED = 20


class Case(NamedTuple):
    """Data (n, d) by name, number of components and kind of covariance; of a table `apart` is None."""

    table: str
    n: int
    d: int
    K: int
    apart: float | None
    kind: str

    @property
    def name(self):
        """What the case is called."""
        data = f"{self.table}, {self.n:,} x {self.d}" if self.apart is None else f"{self.n:,} x {self.d}"
        return f"{data}, K={self.K}, {self.kind}" + ("" if self.apart is None else f", {self.apart:g} apart")

    def samples(self, seed):
        """Return X (n, d)."""
        if self.apart is None:
            return tables()[self.table]
        return unequal(self.n, self.d, self.K, self.apart, self.kind, seed)


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


def unequal(n, d, K, apart, kind, seed):
    """Return the same with unequal weights and, as the kind has them, unequal covariances, with axes of their own."""
    rng = np.random.default_rng([seed, n, d, K, int(10 * apart), KINDS.index(kind)])
    means = rng.standard_normal((K, d))
    means *= apart / np.linalg.norm(means[:, None] - means, axis=2)[np.triu_indices(K, 1)].min()
    share = rng.dirichlet(np.full(K, 5.0))
    label = rng.choice(K, n, p=share)
    X = rng.standard_normal((n, d))
    if kind in ("spherical", "diag"):
        X *= rng.uniform(0.6, 1.4, (K, 1 if kind == "spherical" else d))[label]
    elif kind in ("tied", "full"):
        for k in range(1 if kind == "tied" else K):
            root = np.linalg.qr(rng.standard_normal((d, d)))[0] * rng.uniform(0.6, 1.4, d)
            own = label == k if kind == "full" else slice(None)
            X[own] = X[own] @ root.T
    return X + means[label]


def tables():
    """Return the real tables, and the simulated customers, by name."""
    cancer = datasets.load_breast_cancer().data
    return {
        "iris": datasets.load_iris().data, "wine, standardised": standardised(datasets.load_wine().data),
        "breast cancer, 4 columns": standardised(cancer[:, :4]),
        "breast cancer, 10 columns": standardised(cancer[:, :10]),
        "digits, principal components": PCA(8, random_state=0).fit_transform(datasets.load_digits().data),
        "diabetes": standardised(datasets.load_diabetes().data), "customers": customers(),
    }  # fmt: skip


TABLE_COMPONENTS = {"iris": 3, "wine, standardised": 3, "digits, principal components": 5, "customers": 3}


def design():
    """Return the cases: sixty of simulated clusters, every factor shuffled on its own, and two kinds of each table."""
    rng = np.random.default_rng(SEED)
    n_cases = len(SAMPLES)
    factors = [rng.permutation(np.resize(levels, n_cases)) for levels in (COLUMNS, COMPONENTS, APART, KINDS)]
    cases = []
    for n, d, K, apart, kind in zip(SAMPLES, *factors, strict=True):
        columns, components = int(d), int(K)
        while n * columns * components > MOST_NUMBERS:
            columns, components = max(2, columns // 2), max(3, components - 1)
        cases.append(Case("", n, columns, components, float(apart), str(kind)))
    for name, X in tables().items():
        for kind in ("diag", "full") if name != "iris" else ("spherical", "diag", "tied", "full"):
            cases.append(Case(name, *X.shape, TABLE_COMPONENTS.get(name, 2), None, kind))
    return cases
