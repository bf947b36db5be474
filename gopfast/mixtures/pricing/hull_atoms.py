"""
Components of an incumbent in a frame, and prices of the samples at which all of them save the same.

Theory: (Y5) of docs/theory/hull.md.
"""

import itertools
import math

import numpy as np

from gopfast.mixtures.pricing.grouped import scale_of
from gopfast.mixtures.pricing.tuning import (
    CLEAR,
    FOLLOW,
    HULL_AMBIGUOUS as AMBIGUOUS,
    HULL_DRAWN as DRAWN,
    HULL_HEIGHTS as HEIGHTS,
    HULL_LOSS as LOSS,
    HULL_MERGED as MERGED,
    HULL_MOST_TRIED as MOST_TRIED,
    HULL_N_CLIMBS as N_CLIMBS,
    HULL_N_EQUAL as N_EQUAL,
    HULL_N_LAST as N_LAST,
    HULL_REACHED as REACHED,
    HULL_SAME as SAME,
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
    own, rest : ndarray, shape (n,)
        -log p of the samples in the mixture, and what other components than the most likely one have of each.
    needed : ndarray, shape (K,)
        Prices at which a component's samples save most at its own parameters, in nats each.
    prices : ndarray, shape (n,)
    lost : float
        What the bound at them is below the solution, if nothing saves more than the components.
    is_tight : bool
        Whether that is about the least that can be.
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
        return self._costs_at(self.means[k], self.precisions[k])

    def _costs_at(self, m, s):
        """Return the same of a component of mean m (d,) and precision s."""
        self.n_terms += len(self.weights)
        return 0.5 * s * (self.squares - 2.0 * (m @ self.samples) + m @ m) - 0.5 * len(m) * math.log(s)

    def drawn(self, most):
        """Return the same of some samples, at most so many, whose weights stand for all."""
        n = len(self.weights)
        if n <= most:
            return self
        some = np.sort(np.random.default_rng(0).permutation(n)[:most])
        weights = self.weights[some] * (math.fsum(self.weights) / math.fsum(self.weights[some]))
        return Atoms(self.samples[:, some], weights, self.shares, self.means, self.precisions, self.free)

    def share(self):
        """Share the samples out among the components as they are before any moves, and yield after every few passes."""
        K, w = len(self.shares), self.weights
        logs = np.log(self.shares)[:, None] - np.array([self.costs(k) for k in range(K)])
        top = logs.max(axis=0)
        parts = np.exp(logs - top)
        total = parts.sum(axis=0)
        self.own, shares = -(top + np.log(total)), parts / total
        self.nearest, rest = shares.argmax(axis=0), 1.0 - shares.max(axis=0)
        self.labels, self.rest = np.where(rest < CLEAR, self.nearest, K), np.maximum(rest, 1e-300)
        self.masses = shares @ w
        yield
        self.needed = np.zeros(K)
        for k in range(K):
            self.needed[k] = self._needed(k, w * shares[k] / self.masses[k])
            yield

    def price_well(self, part):
        """
        Find the highest prices that lose little, and yield as `price` does.

        Parameters
        ----------
        part : float
            Of what a component saves, that prices may lose; 0 for no more than the least that any lose.
        """
        W, means, precisions, some = math.fsum(self.weights), self.means, self.precisions, self.drawn(DRAWN)
        tried, first = [], None  # how many until one loses little
        yield from self.share()
        if some is not self:
            yield from some.share()
        for height, ambiguous, reached in zip(HEIGHTS, AMBIGUOUS, REACHED, strict=True):
            some.means, some.precisions = means.copy(), precisions.copy()
            found = yield from some.price(height, ambiguous, reached)
            tried.append((some.lost, height, ambiguous, reached, found, some.means, some.precisions))
            if some.lost <= part * some.values.max():
                first = first or len(tried)
                if self.free or (yield from some.merged()) <= MERGED * some.values.max():
                    break
        else:
            tried = tried[:first]
        if some is not self:
            self.n_terms += some.n_terms
        # some samples have a better solution of their own, which all prices lose alike
        if part == 0.0 or first is None:
            enough = min(lost for lost, *_ in tried) + LOSS * W
            best = next(one for one in tried if one[0] <= enough)
            tried = [best, *sorted((one for one in tried if one is not best), key=lambda one: one[0])]
        else:
            tried = tried[::-1]
        for lost, height, ambiguous, reached, found, self.means, self.precisions in tried[:MOST_TRIED]:
            yield from self.price(height, ambiguous, reached, found)
            if self.lost <= max(lost + LOSS * W, part * self.values.max()):
                break
        self.is_tight = self.lost <= LOSS * W or part == 0.0

    def price(self, height, ambiguous, reached, found=None):
        """
        Find prices of samples that are shared out, and yield after every few passes over them.

        Parameters
        ----------
        height : float
            Price above -log p over what a component's samples need to save most at its own parameters.
        ambiguous : float
            What a sample of several components may lose by its price, in nats.
        reached : float
            Part of a cluster's price, at least, with all its samples; else these may lose more.
        found : tuple of ndarrays (K,), optional
            To begin with: what prices are above -log p by, at most, and what samples of each cluster may lose.

        Returns
        -------
        tuple of ndarrays (K,)
            The same at last.
        """
        K, w, own, label, rest, masses = len(self.shares), self.weights, self.own, self.nearest, self.rest, self.masses
        if found is None:
            each = height * max(masses * self.needed) / masses
            found = each, self._allowed(label, rest, each, masses, ambiguous, reached)
        each, allowed = found
        most = np.log1p(allowed[label] / rest)
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
        self.values, self.lost = values, w @ (own - self.prices) + K * values.max()
        return each, allowed

    def merged(self):
        """Return about the most that one of precision 1 saves in place of two, and yield after every pass."""
        most = 0.0
        for pair in map(list, itertools.combinations(range(len(self.shares)), 2)):
            mean = self.masses[pair] @ self.means[pair] / self.masses[pair].sum()
            most = max(most, saved(self.weights, self.prices - self._costs_at(mean, 1.0))[0])
            yield
        return most

    def _allowed(self, label, rest, each, masses, ambiguous, reached):
        """Return what samples of each cluster (K,) may lose, so that it has most of its price."""
        allowed = np.full(len(masses), ambiguous)
        for k in range(len(masses)):
            own = label == k
            weights, others = self.weights[own], rest[own]
            while allowed[k] < 1.0 and (
                weights @ np.minimum(each[k], np.log1p(allowed[k] / others)) < reached * each[k] * masses[k]
            ):
                allowed[k] *= 2.0
        return allowed

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
