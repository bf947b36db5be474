"""
Tables of what clusters of samples can save at most, by a component's distance from each and its precision.

Cells of a component know distances from the clusters; so their bounds are look-ups, whatever the number of samples is.

Theory: (YD1) of docs/theory/distances.md.
"""

import math

import numpy as np

from gopfast.mixtures.pricing.hull_distances import DistanceTable
from gopfast.mixtures.pricing.margins import HULL_MARGIN as MARGIN
from gopfast.mixtures.pricing.tuning import (
    HULL_NEAR as NEAR,
    LEAST_OF_A_BIN,
    MOST_TABLES,
    N_BINS,
    N_FAR,
    N_NEAR,
    PRICE_STEP,
    SCALES as LOG_SCALES,
    SHIFTS as FOURTH_SHIFTS,
)
from gopfast.roundoff import ROUND

SCALES, SHIFTS = np.array(LOG_SCALES), np.array(FOURTH_SHIFTS)


class Tables:
    """
    Bounds of cells by distances.

    Parameters
    ----------
    samples : ndarray, shape (d, n)
        In a frame.
    weights, prices : ndarray, shape (n,)
        Prices raised by the rounding of coordinates.
    labels : ndarray of int, shape (n,)
        From 0 to K - 1 of samples that are clearly of a cluster, K of all others.
    nearest : ndarray of int, shape (n,)
        The most likely cluster of each sample.
    means : ndarray, shape (K, d)
        Of the components.
    precisions : ndarray, shape (K,)
    places : ndarray, shape (K, q + 1)
        Their coordinates along the hull, and distances from it.
    free : bool
        Whether precisions may be others.
    diameter : float
        No component of interest is further away from a mean.
    threads : int

    Attributes
    ----------
    n_terms : int
    """

    def __init__(self, samples, weights, prices, labels, nearest, means, precisions, places, free, diameter, threads=1):
        self.places, self.free, self.n_columns = places, free, len(samples)
        self.total_weight = math.fsum(weights)
        self.clusters, self.found, made = [], {}, []
        K = len(means)
        for clear in (True, False):  # the clear ones first: of those cells know by cluster
            for k in range(K):
                own = (labels == k) if clear else (labels == K) & (nearest == k)
                if clear or own.any():
                    z = samples[:, own] - means[k][:, None]
                    made.append(table_of(z, weights[own], prices[own], precisions[k], self.n_columns * free, threads))
                    self.clusters.append(k)
        self.n_clear, self.tables = K, made
        sizes = 1.0 / np.sqrt(precisions[self.clusters])
        near = np.linspace(0.0, NEAR, N_NEAR + 1)
        self.radii = []
        for size in sizes:
            far = np.geomspace(NEAR * size, max(diameter, 2.0 * NEAR * size), N_FAR + 1)[1:]
            self.radii.append(np.append(near * size, far))
        shape = (0, len(made), N_NEAR + N_FAR, len(SCALES))
        self.saved, self.mass = np.zeros(shape), np.zeros(shape)

    @property
    def n_terms(self):
        """Bins that were looked at so far."""
        return sum(table.n_terms for table in self.tables)

    def of_range(self, low, high, wider=None):
        """
        Return the place of the table for a range of the precision's logarithm.

        Parameters
        ----------
        low, high : float
        wider : int, optional
            The place of that for a range around it, which will do where there are many; without one a table is made.
        """
        place = self.found.get((low, high))
        if place is not None:
            return place
        if wider is not None and len(self.found) >= MOST_TABLES:
            return wider
        place = len(self.found)
        if place == len(self.saved):
            more = np.zeros((max(8, place), *self.saved.shape[1:]))
            self.saved, self.mass = np.concatenate([self.saved, more]), np.concatenate([self.mass, more])
        s_low, s_high = math.exp(low) * (1 - 4 * ROUND), math.exp(high) * (1 + 4 * ROUND)
        half = 0.5 * self.n_columns * self.free
        for i, (table, radii) in enumerate(zip(self.tables, self.radii, strict=True)):
            saved, mass = table.bound(s_low, s_high, half * low, half * high, radii, SCALES)
            # of components that are not nearer
            self.saved[place, i] = np.maximum.accumulate(saved[::-1])[::-1]
            self.mass[place, i] = np.maximum.accumulate(mass[::-1])[::-1]
        self.found[low, high] = place
        return place

    def bound(self, low, high, which, least=0.0):
        """
        Bounds of what a component saves in cells.

        Parameters
        ----------
        low, high : ndarray, shape (m, q + 1)
        which : ndarray of int, shape (m,)
            Places of tables.
        least : ndarray, shape (m, K)
            Distances from the components of what is asked for in a cell, at least.

        Returns
        -------
        values : ndarray, shape (m,)
        saved, mass : ndarray, shape (m, K, L)
            Of the clear samples of each cluster, at the scales.
        """
        W = self.total_weight
        saved, mass = np.zeros((len(low), self.n_clear, len(SCALES))), np.zeros((len(low), self.n_clear, len(SCALES)))
        all_saved, all_mass = np.zeros((len(low), len(SCALES))), np.zeros((len(low), len(SCALES)))
        least = np.broadcast_to(least, (len(low), self.n_clear))
        for i, k in enumerate(self.clusters):
            away = np.maximum(0.0, np.maximum(low - self.places[k], self.places[k] - high))
            away = np.sqrt(np.square(away).sum(axis=1)) * (1 - 16 * ROUND * (low.shape[1] + 4))
            away = np.maximum(away, least[:, k])
            # of components beyond the last shell no samples are near enough, so that its bound is theirs
            shell = np.minimum(np.searchsorted(self.radii[i], away, side="right"), N_NEAR + N_FAR) - 1
            own, own_mass = self.saved[which, i, shell], self.mass[which, i, shell]
            all_saved += own
            all_mass += own_mass
            if i < self.n_clear:
                saved[:, i], mass[:, i] = own, own_mass
        logs = np.log(all_mass / W + 1e-300) + 1024 * ROUND
        values = (all_saved + W * np.maximum(0.0, logs - SCALES) * (1 + 16 * ROUND)).min(axis=1)
        # between two scales what is saved is convex; at log(mass / W) of the larger one nothing else is added
        low_scale, high_scale = SCALES[:-1], SCALES[1:]
        part = np.maximum(0.0, logs[:, 1:] - low_scale) / (high_scale - low_scale)
        between = all_saved[:, :-1] + np.minimum(1.0, part * (1 + 16 * ROUND)) * np.diff(all_saved, axis=1)
        values = np.minimum(values, np.where(part <= 1.0, between, math.inf).min(axis=1))
        return values * (1 + 64 * ROUND), saved, mass


def table_of(z, weights, prices, precision, n_columns, threads):
    """
    Return the table of a cluster's samples.

    Parameters
    ----------
    z : ndarray, shape (d, n)
        Samples less the mean of their component.
    weights, prices : ndarray, shape (n,)
    precision : float
        The component's.
    n_columns : int
        d where the precision is free, 0 otherwise.
    threads : int
    """
    d, n = z.shape
    lengths = np.sqrt(np.square(z).sum(axis=0))
    low, high = lengths * (1 - (d + 8) * ROUND), lengths * (1 + (d + 8) * ROUND)
    half = 0.5 * precision * np.square(lengths)
    rest = prices - half + 8 * (d + 8) * ROUND * (np.abs(prices) + half)
    units = z / np.maximum(high, 1e-300)
    rows, columns = np.tril_indices(d)
    n_blocks = max(1, min(N_BINS // 8, n // (d * (d + 1) // 2)))
    bins, starts, fourths = [], [0], []
    for block in np.array_split(np.argsort(lengths, kind="stable"), n_blocks):
        for part in np.array_split(block, max(1, min(N_BINS // n_blocks, len(block) // LEAST_OF_A_BIN))):
            # those of a lower price apart
            step = np.floor((rest[part].max(initial=-math.inf) - rest[part]) / PRICE_STEP)
            bins += [part[step == value] for value in np.unique(np.minimum(step, 3.0))[:3]]
            bins.append(part[step >= 3.0])
        bins = [part for part in bins if len(part)]
        starts.append(len(bins))
        fourths.append([largest_fourth(units[:, block], weights[block], shift) for shift in SHIFTS])
    B = len(bins)
    linear, square = np.zeros((B, d)), np.zeros((B, len(rows)))
    for b, part in enumerate(bins):
        weighted = units[:, part] * weights[part]
        linear[b], square[b] = weighted.sum(axis=1), (weighted @ units[:, part].T)[rows, columns]
    pairs = ((np.min, low), (np.max, high), (np.max, rest))
    ends = [np.array([end(values[part]) for part in bins]) for end, values in pairs]
    mass = np.array([weights[part].sum() for part in bins])
    return DistanceTable(*ends, mass, linear, square, starts, SHIFTS, np.array(fourths).reshape(n_blocks, len(SHIFTS)),
                         precision, n_columns, n, threads)  # fmt: skip


def largest_fourth(units, weights, shift):
    """
    Return at least the sum of w (c + g)^4 for every direction, c its product with each sample's.

    Parameters
    ----------
    units : ndarray, shape (p, n)
        Directions, none longer than 1 and all within rounding of that.
    weights : ndarray, shape (n,)
    shift : float
        g.
    """
    p = len(units)
    if p == 1 or not len(weights):
        return math.fsum(weights) * (1.0 + shift) ** 4
    rows, columns = np.tril_indices(p)
    same = rows == columns
    # (c + g)^2 is g^2 + 1 / p and 2 g u'P + <u u' - 1 / p, P P' - 1 / p>: linear in two vectors, one of u's length
    products = (units[rows] * units[columns] - same[:, None] / p) * np.where(same, 1.0, math.sqrt(2.0))[:, None]
    features = np.vstack([2.0 * shift * units, math.sqrt(1.0 - 1.0 / p) * products])
    mean = shift * shift + 1.0 / p
    linear = features @ weights
    # shares of the two, as directions without a preference have them
    first, second = 4.0 * shift * shift / p, 2.0 / (p * (p + 2.0)) * (1.0 - 1.0 / p)
    share = first / (first + second)
    features[:p] /= math.sqrt(share)
    features[p:] /= math.sqrt(1.0 - share)
    top = np.linalg.eigvalsh((features * weights) @ features.T)[-1]
    mass = math.fsum(weights)
    found = mean * mean * mass + 2.0 * mean * (np.linalg.norm(linear[:p]) + np.linalg.norm(linear[p:])) + top
    return found + (MARGIN + 64 * ROUND * (len(weights) + 64)) * mass * (1.0 + shift) ** 4 / min(share, 1.0 - share)
