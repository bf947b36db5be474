"""Diagonal components in many columns: what blocks of columns lose, and what a component's own cluster certifies.

The first table has what bounds by blocks lose at EM's mixtures, per sample: blocks without a common column, sets of
two, three and four columns that overlap (I6). Nothing is proved by it: it is what there is to be had.

The second is of the certificate of docs/notebook/groups.md, "Diagonal components in many columns": for component k, at
prices that are PART of what merging two clusters allows, the sum of mu (per mass of the cluster) by which samples of
other clusters gain next to nothing, whatever theta is, and the rest that they do; and what they gain on {D_k <= delta}.

Usage: python bench/columns.py [--rows "5000 5 4 6 0" ...]   (samples, columns, components, deviations apart, seed)
"""

import argparse

import machine
import numpy as np
from everyday import clusters
from gopfast.mixtures.primal.em import MixturePrimal
from sklearn.mixture import GaussianMixture

import gopfast
from gopfast.mixtures import engine
from gopfast.mixtures.pricing.blocks import Partitions, fewest_blocks, parts
from gopfast.mixtures.pricing.cover import best_weights, members_of, subsets

ROWS = ["5000 5 4 6 0", "5000 5 4 8 1", "5000 4 3 7 1", "20000 4 3 6 0", "20000 6 4 8 0", "20000 8 3 6 0"]
PART = 0.5  # of the price at which two clusters merged cost as much
DELTAS = (0.1, 0.5, 1.0, 2.0)
TRADED = 0.2  # nats that a sample may gain for a smaller mu, for each unit of it
MULTIPLIERS = np.geomspace(1e-3, 2e4, 200)


def fitted(X, K):
    """Return the core's family, and EM's mixture and objective in it, from scikit-learn's best of five starts."""
    family = engine.family(gopfast.GaussianMixture(X, K, covariance="diag"))
    r = GaussianMixture(K, covariance_type="diag", n_init=5, random_state=0).fit(X).predict_proba(X)
    columns, _ = family.data.arrays()
    S = r.sum(axis=0)[:, None]
    means = r.T @ columns.T / S
    variances = r.T @ np.square(columns.T) / S - np.square(means)
    start = np.concatenate([means, np.maximum(variances, 1.0)], axis=1)
    solution, trace, _ = MixturePrimal(family).em(S[:, 0] / S.sum(), start.ravel(), 1e-8, 1000)
    return family, solution, trace[-1] - family.constant


def lost(family, solution, objective):
    """Return what blocks lose per sample: without a common column, and sets of 2, 3 and 4 columns."""
    found, d, n = Partitions(family, solution), family.n_columns, family.data.n_samples

    def value(columns, copies):
        block = found.family_of(list(columns), copies)
        return min(one for _, one in found.mixtures(*block, found.starts))

    n_blocks = max(2, fewest_blocks(family, 6))
    disjoint = zip(found.best(n_blocks), parts(n_blocks), strict=True)
    losses = [objective - sum(value(columns, copies) / copies for columns, copies in disjoint)]
    for size in (2, 3, 4):
        if size < d:
            tried = [(one, c) for one in subsets(d, size, found.order, found.rng) for c in (1, 2, 4)]
            values = np.array([value(*one) for one in tried])
            losses.append(objective - best_weights(values, members_of(tried, d)) @ values)
    return [f"{loss / n:.2g}" for loss in losses] + [""] * (4 - len(losses))


def certificates(family, solution):
    """Return t, the eigenvalue kappa, the sum of mu, the rest, and gains at each delta: of every component."""
    K, d = family.n_components, family.n_columns
    columns, _ = family.data.arrays()
    cells = np.asarray(solution[K:-1]).reshape(K, -1)
    means, variances = cells[:, :d], np.maximum(cells[:, d:], 1.0)
    squares = np.square(columns.T[:, None] - means) / variances
    logs = np.log(solution[:K]) - 0.5 * (squares + np.log(2 * np.pi * variances)).sum(axis=2)
    top = logs.max(axis=1)
    r = np.exp(logs - top[:, None])
    own = -(top + np.log(r.sum(axis=1)))
    label, S = r.argmax(axis=1), (r / r.sum(axis=1, keepdims=True)).sum(axis=0)
    price = np.inf
    for j in range(K):
        for k in range(j):
            share = S[[j, k]] / (S[j] + S[k])
            mean = share @ means[[j, k]]
            merged = share @ (variances[[j, k]] + np.square(means[[j, k]] - mean))
            cost = 0.5 * (np.log(merged) - share @ np.log(variances[[j, k]])).sum() + share @ np.log(share)
            price = min(price, cost * (S[j] + S[k]))
    t = PART * price / S
    gained = own + t[label]
    told = []
    for k in range(K):
        z2 = squares[label != k, k]
        z = np.sqrt(squares[label == k, k]) * np.sign(columns.T[label == k] - means[k])
        features = np.concatenate([z, (np.square(z) - 1.0) / np.sqrt(2.0)], axis=1)
        kappa = np.linalg.eigvalsh(np.cov(features.T))[-1]
        scale = np.log(solution[k]) - 0.5 * np.log(2 * np.pi * variances[k]).sum()
        gains = np.array([gained[label != k] + scale - _least(mu, z2) for mu in MULTIPLIERS])
        chosen = (np.maximum(0.0, gains) + TRADED * MULTIPLIERS[:, None]).argmin(axis=0)
        rest = np.maximum(0.0, gains[chosen, np.arange(len(chosen))]).sum() / S[k]
        at = [np.maximum(0.0, (gains + MULTIPLIERS[:, None] * delta).min(axis=0)).sum() / S[k] for delta in DELTAS]
        told.append([t[k], kappa, MULTIPLIERS[chosen].sum() / S[k], rest, *at])
    return np.array(told).T


def _least(mu, z2):
    """Return the least of c_i + mu D_k over all theta, less a constant; z2 (n, d) squares in the cluster's units."""
    d = z2.shape[1]
    logs = d * np.log(mu / (1 + mu)) + np.log1p(z2 / (1 + mu)).sum(axis=1)
    return 0.5 * (1 + mu) * (logs + d) - 0.5 * mu * d


def main():
    """Run the rows and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="*", default=ROWS)
    losses, certified = [], []
    rows = parser.parse_args().rows
    for row in rows:
        n, d, K, apart, seed = (float(one) if "." in one else int(one) for one in row.split())
        family, solution, objective = fitted(clusters(n, d, K, apart, "diag", seed), K)
        name = f"{n:,} x {d}, K={K}, {apart:g} apart"
        losses.append([name, *lost(family, solution, objective)])
        of_each = certificates(family, solution)
        certified.append([name, *[", ".join(f"{one:.2g}" for one in values) for values in of_each]])
        print(" | ".join(losses[-1]), "||", " | ".join(certified[-1][1:]), flush=True)
    header = ["data", "t", "kappa", "sum of mu", "rest", *[f"others at {delta:g}" for delta in DELTAS]]
    text = "\n".join(
        [
            machine.heading("Diagonal components in many columns"),
            "Nats a sample that bounds by blocks of columns lose at EM's mixtures; nothing is proved by it.\n",
            machine.table(["data", "blocks apart", "sets of 2", "of 3", "of 4"], losses),
            "\nThe certificate of docs/notebook/groups.md, by component; floating point.\n",
            machine.table(header, certified),
        ]
    )
    machine.write("columns.md" if rows == ROWS else None, text)


if __name__ == "__main__":
    main()
