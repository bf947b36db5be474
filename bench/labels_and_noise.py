"""What labels and noise say of all mixtures at once, where clusters are apart, without prices and without cells.

Usage: python bench/labels_and_noise.py [--rows "2000 3 3 7" ...] (samples, columns, components, standard deviations
           apart; clusters of unit covariance and unequal weights)

The two inequalities of docs/notebook/shared_parameters.md, "Labels and noise". Prints for three variances of the noise
what is taken off the first (by chi squares in batches of 2,000, and labels' entropy by one draw), the factor of the
second (over 2,000 directions), and of 60 mixtures, of a few steps of EM from odd starts, by how much they exceed what
the inequalities say, at the least: never below 0.
"""

import argparse
import math

import numpy as np
from scipy.special import logsumexp

NOISE, BETA = (0.25, 1.0, 3.0), (0.25, 0.5, 1.0, 2.0, 4.0)
BATCH, N_MIXTURES, N_DIRECTIONS = 2_000, 60, 2_000


def clusters(n, d, K, apart, rng):
    """Return samples, in units of the pooled deviations within labels, and labels."""
    means = rng.standard_normal((K, d))
    means *= apart / np.linalg.norm(means[:, None] - means, axis=2)[np.triu_indices(K, 1)].min()
    labels = rng.choice(K, n, p=rng.dirichlet(np.full(K, 5.0)))
    X = rng.standard_normal((n, d)) + means[labels]
    rest = X - np.array([X[labels == k].mean(axis=0) for k in range(K)])[labels]
    return X @ np.linalg.inv(np.linalg.cholesky(rest.T @ rest / n)).T, labels


def entropy(p):
    """Return minus the sum of p log p, in nats."""
    return -np.sum(p * np.log(np.maximum(p, 1e-300)))


def divergence(z, noise):
    """Bound what z (n, d) with noise is from a normal density, in nats, by its chi square, the mean over batches."""
    r, found = 1.0 / math.sqrt(1.0 + noise), []
    for part in np.array_split(z, max(1, len(z) // BATCH)):
        square, q = np.square(part).sum(axis=1), 1.0 - r * r
        exponents = (2.0 * r * part @ part.T - r * r * (square[:, None] + square)) / (2.0 * q)
        found.append(logsumexp(exponents) - 2.0 * math.log(len(part)) - 0.5 * part.shape[1] * math.log(q))
    return np.mean(found)


def factor(z, rng):
    """Return what exponential moments of z (n, d) exceed those of a normal by, as its variance: 1 + kappa."""
    along = rng.standard_normal((z.shape[1], N_DIRECTIONS))
    along = z @ (along / np.linalg.norm(along, axis=0))
    logs = [(2.0 / t**2) * (logsumexp(t * along, axis=0).max() - math.log(len(z))) for t in (0.5, 1.0, 1.5, 2.0, 3.0)]
    return max(logs)


def mixture(X, K, rng, known):
    """Return responsibilities (n, K) of a mixture of one matrix, the unit matrix if it is known, and its value."""
    n, d = X.shape
    centers, weights = X[rng.integers(n, size=K)] * rng.uniform(0.2, 1.2), np.full(K, 1.0 / K)
    axes = np.linalg.qr(rng.standard_normal((d, d)))[0]
    precision = np.eye(d) if known else axes @ np.diag(np.exp(rng.uniform(-3.0, 2.5, d))) @ axes.T
    for _ in range(rng.integers(1, 8)):
        off = X[:, None] - centers
        scores = np.log(weights) - 0.5 * np.einsum("nki,ij,nkj->nk", off, precision, off)
        r = np.exp(scores - logsumexp(scores, axis=1)[:, None])
        weights = r.mean(axis=0) + 1e-300
        centers = r.T @ X / (n * weights[:, None])
        off = X[:, None] - centers
        S = np.einsum("nk,nki,nkj->ij", r, off, off) / n
        precision = np.eye(d) if known else np.linalg.inv(S)
    shared = entropy(weights) - entropy(r) / n
    return r, shared + (0.5 * (np.trace(S) - d) if known else 0.5 * np.linalg.slogdet(S)[1]), np.linalg.eigvalsh(S)


def coupling(r, labels, mu, counts):
    """Return scatter of labels' means within components, entropies of labels in these, and of these in labels."""
    p = np.array([r[labels == k].sum(axis=0) for k in range(len(mu))]).T / len(r)
    mass = p.sum(axis=1)
    middle = (p / mass[:, None]) @ mu
    scatter = np.sum(p * np.square(mu - middle[:, None]).sum(axis=2))
    return scatter, entropy(p) - entropy(mass), entropy(p) - entropy(counts)


def row(n, d, K, apart):
    """Print the lines of a row."""
    rng = np.random.default_rng([n, d, K])
    X, labels = clusters(n, d, K, apart, rng)
    counts, mu = np.bincount(labels, minlength=K) / n, np.array([X[labels == k].mean(axis=0) for k in range(K)])
    z, taken = X - mu[labels], []
    for noise in NOISE:
        y = X + math.sqrt(noise) * rng.standard_normal(X.shape)
        scores = np.log(counts) - np.square(y[:, None] - mu).sum(axis=2) / (2.0 * (1.0 + noise))
        off = sum(counts[k] * divergence(z[labels == k], noise) for k in range(K))
        taken.append((off, np.mean(logsumexp(scores, axis=1) - scores[np.arange(n), labels])))
    own = max(factor(z[labels == k], rng) for k in range(K))
    first, second = [], []
    for _ in range(N_MIXTURES):
        _, value, s = mixture(X, K, rng, known=False)
        first += [value - entropy(counts) - (0.5 * np.log(s * (1.0 + v) / (s + v)).sum() - sum(off))
                  for v, off in zip(NOISE, taken, strict=True)]  # fmt: skip
        r, value, _ = mixture(X, K, rng, known=True)
        scatter, merged, cut = coupling(r, labels, mu, counts)
        said = max(0.5 * (1.0 - own / (1.0 + beta)) * scatter - merged - beta * cut for beta in BETA)
        second.append(value - entropy(counts) - said)
    told = ", ".join(f"{v:g}: {off:.2g} + {unclear:.2g}" for v, (off, unclear) in zip(NOISE, taken, strict=True))
    name = f"{n:,} x {d}, K={K}, {apart:g} apart"
    print(f"{name} | {told} | {min(first):.3f} | {own:.2f} | {min(second):.3f}", flush=True)


def main():
    """Print a line for each row."""
    parser = argparse.ArgumentParser(description=__doc__)
    usual = ["2000 3 3 7", "20000 3 4 6", "2000 5 3 7", "20000 5 8 8", "5000 8 5 6"]
    parser.add_argument("--rows", nargs="*", default=usual)
    for text in parser.parse_args().rows:
        n, d, K, apart = text.split()
        row(int(n), int(d), int(K), float(apart))


if __name__ == "__main__":
    main()
