"""
What a part of a label's samples can be, by how much of the label it is.

In units in which the samples of a label have covariance I: how narrow its covariance can be (by entropies of samples
with noise, by slabs, by what is left out), and where its mean and second moment along a direction can be.

Theory: (OL2), (OL3) and (OL4) of docs/theory/shares.md.
"""

import math
import time
from typing import NamedTuple

import numpy as np

from gopfast.mixtures.families.axes import log_abs_det
from gopfast.mixtures.shared.noise_grids import NoiseGrid, places_off, step_of
from gopfast.mixtures.shared.slices import LOG_2_PI
from gopfast.mixtures.shares.margins import SLACK, SUM
from gopfast.mixtures.shares.slabs import most_in_slabs
from gopfast.mixtures.shares.tuning import (
    CELLS,
    FLATTEST,
    LARGE_PARTS,
    LAST_PARTS,
    LEAST_EXCESS,
    MIDDLE_PARTS,
    MOST_EACH,
    N_BINS,
    N_BUDGETS,
    N_EACH_NAT,
    N_PLACES,
    SHELLS,
    SLAB_COLUMNS,
    SLAB_HALVES,
    SLAB_TERMS,
    SLAB_WIDTH,
    SLOPES,
    SMALL_PARTS,
    TERMS_A_SECOND,
)
from gopfast.roundoff import ROUND


def parts_of_a_table():
    """Return the parts of a label of which tables are made, (P,), from 0 to 1: finer where more is lost."""
    small, middle = np.geomspace(*SMALL_PARTS), np.geomspace(*MIDDLE_PARTS)
    large, last = np.linspace(*LARGE_PARTS), 1.0 - np.geomspace(*LAST_PARTS)
    return np.unique(np.concatenate([[0.0], small, middle, large, last, [1.0]]))


PARTS = parts_of_a_table()


class Noise(NamedTuple):
    """Samples of a label with noise: `variance` at most in any direction, what their entropy lacks of a normal one.

    `told` (P,): of parts of the label, at most the divergence of such a part's samples with noise from that normal one.
    """

    variance: float
    lack: float
    told: np.ndarray


class Label:
    """
    The samples of a label.

    Parameters
    ----------
    z : ndarray, shape (d, n)
        In units of the floor.
    weights : ndarray, shape (n,)
    off : float
        At most how far z is off, in any direction, relative to its norm.

    Attributes
    ----------
    B : ndarray, shape (d, d)
        To the label's own units, in which its floor is at least `floor`.
    thin : ndarray, shape (P,)
        Of parts, the least variance in any direction, by slabs and by what is left out.
    """

    def __init__(self, z, weights, off, deadline=math.inf):
        self.z, self.weights, (self.d, self.n) = z, weights, z.shape
        self.total = math.fsum(weights)
        self.mean = (z @ weights) / self.total
        apart = z - self.mean[:, None]
        values, vectors = np.linalg.eigh((weights * apart) @ apart.T / self.total)
        self.is_flat = not values[0] > FLATTEST * values[-1]
        if self.is_flat:
            return
        self.B = (vectors / np.sqrt(values)).T
        self.x = np.ascontiguousarray(self.B @ apart)
        self.log_det, self.extent = log_abs_det(self.B), np.ptp(self.x, axis=1)
        sizes = np.abs(self.B) @ (np.abs(z) + np.abs(self.mean)[:, None])
        norms = np.sqrt(np.square(sizes).sum(axis=0))
        # samples as they are, from where they are taken to be, in the label's units
        self.off = float(((off + (self.d + 6) * ROUND) * norms).max()) * (1.0 + SLACK)
        self.floor = float(np.linalg.svd(self.B, compute_uv=False)[-1]) ** 2 * (1.0 - SLACK)
        self.norms = np.sqrt(np.square(self.x).sum(axis=0)) * (1.0 + SLACK)
        self.n_terms = 0
        self.thin = np.maximum.accumulate(np.maximum(self._left(), self._slabs(deadline)))

    def _left(self):
        """Return the least variance of what is left of the label, by the norms of what may be left out."""
        order = np.argsort(-self.norms)
        squares, masses = np.square(self.norms[order]), self.weights[order]
        filled, sums = np.cumsum(np.append(0.0, masses)), np.cumsum(np.append(0.0, masses * squares))
        left_out = np.interp((1.0 - PARTS) * self.total, filled, sums) / self.total * (1.0 + SLACK) + SLACK
        moments = np.linalg.eigvalsh((self.weights * self.x) @ self.x.T / self.total)[0] - SLACK
        shift = (1.0 - PARTS) * left_out + SLACK  # the squared mean, times the part
        parts = np.maximum(PARTS, PARTS[1])
        return self._exact(np.where(PARTS > 0.0, (moments - left_out) / parts - shift / parts**2, 0.0))

    def _slabs(self, deadline):
        """Return the least variance of parts, by the most that slabs of several thicknesses weigh."""
        d, n = self.d, self.n
        if not 2 <= d <= SLAB_COLUMNS:
            return np.zeros(len(PARTS))
        windows = 2.0 * len(SHELLS) * len(SLAB_HALVES) * float(self.norms.max()) / SLAB_WIDTH
        left, n_each = max(0.0, deadline - time.monotonic()), MOST_EACH
        while n_each > 2 and self._terms(n_each, windows) > min(SLAB_TERMS, TERMS_A_SECOND * left):
            n_each -= 1
        if n_each < 3:
            return np.zeros(len(PARTS))
        order = np.argsort(self.norms)
        ends = [int(share * n) for share in SHELLS]
        shells = np.array([0, *ends], dtype=np.intp)
        radii = np.array([self.norms[order[end - 1]] if end else 0.0 for end in ends])
        x, halves = np.ascontiguousarray(self.x[:, order]), np.array(SLAB_HALVES)
        room = 8 * d * ROUND * float(self.norms.max())
        most = most_in_slabs(
            x, np.ascontiguousarray(self.weights[order]), shells, radii, halves, n_each, SLAB_WIDTH, room
        )
        self.n_terms += int(self._terms(n_each, windows))
        most = most / self.total * (1.0 + SLACK) + SLACK
        squares = np.diff(np.append(0.0, np.square(halves)))
        parts = np.maximum(PARTS, PARTS[1])
        beyond = np.maximum(PARTS[:, None] - most, 0.0) @ squares / parts
        return self._exact(np.where(PARTS > 0.0, beyond, 0.0))

    def _terms(self, n_each, windows):
        """Return the terms of slabs in so many directions."""
        return self.d * n_each ** (self.d - 1) * (self.n * self.d + windows)

    def _exact(self, variances):
        """Return what is left of variances of samples that are off."""
        return np.square(np.maximum(np.sqrt(np.maximum(variances, 0.0)) * (1.0 - SLACK) - self.off, 0.0))

    def n_nodes(self, variance, n_smoothed):
        """Return about the corners of the grid of such noise."""
        return float(np.prod(self.extent / step_of(variance, n_smoothed) + 5.0 + 2.0 * n_smoothed))

    def noise(self, variance, n_smoothed):
        """Return `Noise` of about a variance, by a grid; None where samples are too far off for it."""
        d, step = self.d, step_of(variance, n_smoothed)
        grid = NoiseGrid.of(self.x, step, n_smoothed)
        # a half of a step's square at a corner, a half for each time, and evenly over a step
        largest = step * step * (0.25 + 0.5 * n_smoothed + 1.0 / 12.0) * (1.0 + SLACK)
        at = [step * (low + np.arange(size)) for low, size in zip(grid.low, grid.sizes, strict=True)]
        squares = [(np.square(one) + step * step / 12.0) / (2.0 * (1.0 + largest)) for one in at]
        others = np.zeros(1)
        for one in squares[1:]:
            others = (others[:, None] + one).ravel()
        # a corner's log density, less that of the normal distribution
        constant = 0.5 * d * (LOG_2_PI + math.log1p(largest)) - d * math.log(step)
        found_at = np.zeros(N_BINS)
        entropy, size, _, highest, slip = grid.entropy(
            self.weights, self.total, others, squares[0] + constant, found_at, LEAST_EXCESS, N_EACH_NAT
        )
        self.n_terms += int(grid.n_nodes) * n_smoothed
        # places in the grid, and samples, are off by so much
        moved = self.off + places_off(grid.far, step)
        if not moved < math.sqrt(variance):
            return None
        normal = 0.5 * d * (1.0 + LOG_2_PI + math.log1p(largest))
        beside = SUM * (abs(normal) + size + abs(constant)) + d * moved / math.sqrt(variance) * (1.0 + SLACK)
        lack = normal - entropy - d * math.log(step) + beside
        # the most of a part: of the bins whose excess is largest
        edges = LEAST_EXCESS + np.arange(N_BINS) / N_EACH_NAT
        edges[-1] = max(highest, edges[-1])
        masses, values = np.append(0.0, found_at[::-1]), edges[::-1]
        sums = np.append(0.0, np.cumsum(found_at[::-1] * values))
        filled = np.cumsum(masses)
        parts = np.maximum(PARTS, PARTS[1])
        excess = np.interp(parts, filled / filled[-1], sums / filled[-1]) / parts
        excess += (slip + SUM) * (1.0 + np.abs(edges).max()) / parts
        told = np.where(PARTS > 0.0, excess - np.log(parts), math.inf) + beside
        return Noise(largest, lack, np.maximum(told, 0.0))

    def thinnest(self, noise):
        """Return the least variance of parts in any direction (P,), by all that is known."""
        of_one = self._exact(variance_at(noise.told, noise.variance))
        return np.maximum.accumulate(np.maximum(self.thin, of_one))

    def lost(self, noise, added):
        """
        Return what parts lose by noise at most (Q, P), in nats per unit of their weight.

        Parameters
        ----------
        noise : Noise
        added : sequence of Q floats
            These parts of the floor are added to their covariance.
        """
        thin, h = self.thinnest(noise), noise.variance
        told = np.minimum(noise.told, self.d * _divergence(h / (1.0 + h)))
        # numbers of equal shares of what a part may diverge by: of each direction's the whole ones
        grid = np.arange(1, N_BUDGETS + 2) / N_BUDGETS * told[:, None]
        least = np.maximum(self._exact(variance_at(grid, h)), thin[:, None])
        found = np.full((len(added), len(thin)), math.inf)
        for part, lost in zip(added, found, strict=True):
            used = (thin > 0.0) | (part > 0.0)
            ways = np.log((least[used] + h) / (least[used] + part * self.floor)) - math.log1p(h)
            each = 0.5 * np.maximum.accumulate(np.maximum(ways, 0.0), axis=1)
            best = each
            for _ in range(self.d - 1):
                best = _most_together(best, each)
            lost[used] = best[:, -1] * (1.0 + SLACK) + SUM + 0.5 * self.d * part
        return np.maximum.accumulate(found[:, ::-1], axis=1)[:, ::-1]

    def along(self, ways):
        """
        Return where parts can be along directions of z.

        Parameters
        ----------
        ways : ndarray, shape (D, d)

        Returns
        -------
        places : ndarray, shape (D,)
            From which what follows is told.
        tilted : ndarray, shape (D, 2, len(SLOPES), P)
            At most the mean of a part of y^2 + s t y, y the distance up, then down, s the slope, t the root mean square
            of y in the label.
        displaced : ndarray, shape (D, 2, P)
            At most the mean of y, and of -y.
        roots : ndarray, shape (D,)
            The t.
        """
        D = len(ways)
        places, roots = np.zeros(D), np.zeros(D)
        tilted, displaced = np.zeros((D, 2, len(SLOPES), len(PARTS))), np.zeros((D, 2, len(PARTS)))
        for i, way in enumerate(ways):
            y, places[i] = way @ self.z, float(way @ self.mean)
            y = y - places[i]
            far = float(np.abs(y).max())
            wide = 2.0 * far / N_PLACES
            mass = np.bincount(np.minimum(((y + far) / wide).astype(np.intp), N_PLACES - 1), self.weights, N_PLACES)
            # samples are off, and so are the ends of intervals
            room = far * SLACK + (abs(places[i]) + far) * 64 * self.d * ROUND
            room += self.off * float(np.linalg.norm(np.linalg.solve(self.B.T, way)))
            low = -far + wide * np.arange(N_PLACES) - room
            high = low + wide + 2.0 * room
            roots[i] = math.sqrt(float(self.weights @ np.square(y)) / self.total)
            for side, sign in enumerate((1.0, -1.0)):
                displaced[i, side] = np.maximum(_most(np.maximum(sign * low, sign * high), mass), 0.0)
                for k, slope in enumerate(SLOPES):
                    tilt = sign * slope * roots[i]
                    values = np.maximum(low * low + tilt * low, high * high + tilt * high)
                    tilted[i, side, k] = _most(values, mass)
        return places, tilted, displaced, roots


def _most_together(first, second):
    """Return the most of sums of one of each (m, n), the places of which add up to no more than that of the sum."""
    found, n = first.copy(), first.shape[1]
    for at in range(n):
        np.maximum(found[:, at:], first[:, at, None] + second[:, : n - at], out=found[:, at:])
    return found


def _most(values, masses):
    """Return the largest means of values (m,) over parts of the masses (m,), (P,), rounded up."""
    order = np.argsort(-values)
    sums, filled = np.cumsum(np.append(0.0, (masses * values)[order])), np.cumsum(np.append(0.0, masses[order]))
    total, size = filled[-1], float(np.abs(values).max())
    parts = np.maximum(PARTS, PARTS[1])
    found = np.interp(parts, filled / total, sums / total) / parts
    found = np.where(PARTS > 0.0, found, values[order[0]])
    return np.minimum(found + SLACK * size * (1.0 + SLACK / parts), size * (1.0 + SLACK))


def _divergence(p):
    """Return what a normal distribution of variance p diverges by from that of variance 1."""
    return 0.5 * (p - 1.0 - math.log(p))


def variance_at(told, h):
    """Return the least variance of samples whose noise of variance h leaves so much divergence; rounded down."""
    grid = np.geomspace(1.0, h / (1.0 + h), CELLS)
    divergence = 0.5 * (grid - 1.0 - np.log(grid)) * (1.0 - SLACK) - SUM
    at = np.searchsorted(divergence, told)
    p = np.append(grid, 0.0)[np.minimum(at, CELLS)]
    return np.maximum(p * (1.0 + h) * (1.0 - SLACK) - h * (1.0 + SLACK), 0.0)
