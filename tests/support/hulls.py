"""Samples, prices and incumbents for tests of the hull of the means."""

import math

import numpy as np
from gopfast.mixtures.primal.em import MixturePrimal

import gopfast
from gopfast.mixtures.pricing.hull_atoms import saved


def shaped(shape, rng, n, d, K, gap=5.0):
    """Samples (d, n) of clusters, their means (K, d) and labels."""
    means, label = gap * rng.standard_normal((K, d)) / math.sqrt(2 * d), rng.integers(K, size=n)
    noise = rng.standard_normal((d, n))
    if shape == "heavy":
        noise = rng.standard_t(3, (d, n))
    elif shape == "skewed":
        noise = rng.exponential(size=(d, n)) - 1.0
    elif shape == "ties":
        noise = np.round(noise)
    elif shape == "constant":
        noise[-1], means[:, -1] = 0.0, 1.5
    elif shape == "dependent":
        noise[-1], means[:, -1] = noise[0], means[:, 0]
    columns = means[label].T + noise
    return (columns + 2.0**40, means + 2.0**40, label) if shape == "offset" else (columns, means, label)


def best_saved(weights, gains):
    """What a component saves whose samples gain so much, (P2), from below."""
    value, mass = saved(weights, gains)
    tau, S = mass / weights, mass.sum()
    if not S > 0.0:
        return 0.0, value
    return max(0.0, mass @ (gains - np.log(np.where(tau > 0, tau, 1.0))) + S * np.log(S / weights.sum())), value


def priced(rng, z, means, weights, label):
    """Prices near those that a search has, labels with some samples of no cluster, and moments."""
    K = len(means)
    own = np.square(z - means[label].T).sum(axis=0)
    prices = rng.uniform(0.2, 3.0) + 0.5 * own * rng.choice([1.0, 0.9, 0.3])
    prices += rng.choice([0.0, 0.5]) * rng.random(len(own))
    labels = np.where(rng.random(len(label)) < rng.choice([0.02, 0.3, 1.0]), K, label)
    return prices, labels


def problem(n, d, K, gap, seed=0, kind="known", shape="normal"):
    rng = np.random.default_rng(seed)
    columns, means, label = shaped(shape, rng, n, d, K, gap)
    if kind == "spherical":
        columns = means[label].T + (columns - means[label].T) * rng.uniform(0.6, 1.4, K)[label]
    return gopfast.GaussianMixture(columns.T, K, covariance=kind), label


def incumbent(family, label, K):
    """EM from the labels: the vector and its value."""
    columns, _ = family.data.arrays()
    means = np.array([columns[:, label == k].mean(axis=1) for k in range(K)])
    if family.n_cell > len(columns):
        each = [columns[:, label == k].var(axis=1).mean() for k in range(K)]
        means = np.column_stack([means, each])
    vector, (value, *_), _ = MixturePrimal(family).em(np.bincount(label) / len(label), means.ravel(), 0.0, 300)[:3]
    return vector, value
