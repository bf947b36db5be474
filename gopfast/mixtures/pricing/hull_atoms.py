"""
Components of an incumbent in a frame, and prices of the samples at which all of them save the same.

Theory: (Y5) of docs/theory/hull.md.
"""

import math

import numpy as np

from gopfast.mixtures.pricing.grouped import scale_of
from gopfast.mixtures.pricing.tuning import (
    ABOVE,
    AMBIGUOUS,
    CLEAR,
    FOLLOW,
    HULL_N_CLIMBS as N_CLIMBS,
    HULL_N_EQUAL as N_EQUAL,
    HULL_N_LAST as N_LAST,
    HULL_SAME as SAME,
    REACHED,
)


class Atoms:
    """
    Components of equal variances in all columns.

    Parameters
    ----------
    samples : ndarray, shape (d, n)
        In a frame.
    weights : ndarray, shape (n,)
    shares : ndarray, shape (K,)
        Weights of the components, above 0.
    means : ndarray, shape (K, d)
    precisions : ndarray, shape (K,)
    free : bool
        Whether precisions may be others; they are at most 1.

    Attributes
    ----------
    means, precisions : ndarray
        Where each saves most at `prices`.
    values : ndarray, shape (K,)
        About what it saves there.
    masses : ndarray, shape (K,)
        Of its samples.
    prices : ndarray, shape (n,)
    labels : ndarray of int, shape (n,)
        Of samples that are clearly of one component; K of all others.
    nearest : ndarray of int, shape (n,)
        The component that each is most likely of.
    n_terms : int
    """

    def __init__(self, samples, weights, shares, means, precisions, free):
        self.samples, self.weights, self.free = samples, weights, free
        self.means, self.precisions = means.copy(), precisions.copy()
        self.shares, self.n_terms = shares, 0
        self.squares = np.square(samples).sum(axis=0)

    def costs(self, k):
        """Return about what samples cost (n,) in component k, but for (d / 2) log (2 pi)."""
        m, s = self.means[k], self.precisions[k]
        self.n_terms += len(self.weights)
        return 0.5 * s * (self.squares - 2.0 * (m @ self.samples) + m @ m) - 0.5 * len(m) * math.log(s)

    def price(self):
        """Find prices, and yield after every few passes over the samples."""
        K, w = len(self.shares), self.weights
        logs = np.log(self.shares)[:, None] - np.array([self.costs(k) for k in range(K)])
        top = logs.max(axis=0)
        parts = np.exp(logs - top)
        total = parts.sum(axis=0)
        own = -(top + np.log(total))
        shares = parts / total
        label, rest = shares.argmax(axis=0), 1.0 - shares.max(axis=0)
        self.labels, self.nearest = np.where(rest < CLEAR, label, K), label
        self.masses = masses = shares @ w
        yield
        needed = np.zeros(K)
        for k in range(K):
            needed[k] = self._needed(k, w * shares[k] / masses[k])
            yield
        each = ABOVE * max(masses * needed) / masses
        most = self._most(w, label, np.maximum(rest, 1e-300), each, masses)
        values = np.zeros(K)
        for turn in range(N_EQUAL + 1):
            self.prices = own + np.minimum(each[label], most)
            for k in range(K):
                values[k] = yield from self._climb(k, N_CLIMBS)
            if turn == N_EQUAL or np.ptp(values) <= SAME * w.sum():
                break
            follow = np.bincount(label, w * (each[label] < most), K)  # samples whose prices are not the most
            each = each + (values.max() - values) / np.maximum(follow, FOLLOW * masses)
        for k in range(K):
            values[k] = yield from self._climb(k, N_LAST)
        self.values = values

    def _most(self, weights, label, rest, each, masses):
        """Return the most (n,) a price may exceed that of the incumbent by, so that clusters have most of theirs."""
        most = np.empty(len(label))
        for k in range(len(masses)):
            own = label == k
            allowed = AMBIGUOUS
            most[own] = np.log1p(allowed / rest[own])
            while weights[own] @ np.minimum(each[k], most[own]) < REACHED * each[k] * masses[k] and allowed < 1.0:
                allowed *= 2.0
                most[own] = np.log1p(allowed / rest[own])
        return most

    def _needed(self, k, share):
        """Return the price at which component k's samples save most at its own parameters: half the top eigenvalue."""
        y = features(self.samples - self.means[k][:, None], self.precisions[k], self.free)
        y -= (y @ share)[:, None]
        return 0.5 * np.linalg.eigvalsh((y * share) @ y.T)[-1]

    def _climb(self, k, steps):
        """Move component k to where it saves more, so many steps; return what it saves."""
        value = before = 0.0
        for _ in range(steps):
            value, mass = saved(self.weights, self.prices - self.costs(k))
            yield
            total = mass.sum()
            if not total > 0.0 or value - before <= 1e-12 * value:
                break
            before = value
            self.means[k] = m = self.samples @ mass / total
            if self.free:
                self.precisions[k] = 1.0 / max(1.0, (self.squares @ mass / total - m @ m) / len(m))
        return value


def features(z, precision, free):
    """
    Return what costs are linear in, (d,) or (d + 1,) of each sample, of mean 0 and variance 1 in a normal cluster.

    Parameters
    ----------
    z : ndarray, shape (d, n)
        Samples less a component's mean.
    precision : float
        The component's.
    free : bool
        Whether other precisions are of interest.
    """
    scaled = math.sqrt(precision) * z
    if not free:
        return scaled
    d = len(z)
    return np.vstack([scaled, (d - np.square(scaled).sum(axis=0)) / math.sqrt(2 * d)])


def saved(weights, gains):
    """Return about what a component saves whose samples gain so much each, and its column."""
    scale = scale_of(weights, gains)
    if not scale > 0.0:
        return 0.0, np.zeros(len(weights))
    gains = gains + math.log(scale)
    return weights @ np.maximum(0.0, gains), weights * np.exp(np.minimum(0.0, gains))
