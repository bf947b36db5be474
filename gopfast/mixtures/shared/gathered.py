"""
Samples of a mixture of known covariance, gathered into groups: points that bound it from below, far fewer than samples.

Within a group a component's part of the samples is chosen at a cost, and what the choice can save is what an
exponential moment of the group says. Where these are at most those of a normal distribution of variance q along every
direction, in units in which the known covariance is I, a group costs at least

    |y_g - m|^2 / 2 - q |m - c_g|^2 / 2 + v_g / 2

in a component of mean m: y_g its mean, v_g the trace of its covariance, c_g any point, as differences between
components alone count. That is (1 - q) |m - x_g|^2 / 2 and a constant of the group, so that points x_g with the groups'
weights are a mixture of known variance again, whose optimum is a lower bound of that of the samples. Nothing is lost of
groups that are of one component, whose mean is c_g.

Theory: (TF4) of docs/theory/factors.md.
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from gopfast.mixtures.shared.estimates import family_of, posterior, refit
from gopfast.mixtures.shared.margins import SLICES_SLACK as SLACK, SUM
from gopfast.mixtures.shared.rough_search import RoughSearch, allowed
from gopfast.mixtures.shared.sample_cells import cells_of, moments_of
from gopfast.mixtures.shared.slices import root
from gopfast.mixtures.shared.tuning import (
    AS_PASSES,
    GATHERED_EXPONENTS as EXPONENTS,
    GATHERED_FEWEST as FEWEST,
    GATHERED_LARGEST as LARGEST,
    GATHERED_LEVELS as LEVELS,
    GATHERED_MOST as MOST,
    GATHERED_N_EXPONENTS as N_EXPONENTS,
    GATHERED_N_RATIOS as N_RATIOS,
    GATHERED_ONCE_FROM as ONCE_FROM,
    GATHERED_ONCE_PART as ONCE_PART,
    GATHERED_ONCE_VARIANCE as ONCE_VARIANCE,
    GATHERED_RATIO as LARGEST_RATIO,
    GATHERED_SHARE as SHARE,
    GATHERED_SHRINK as SHRINK,
    GATHERED_START as START,
    GATHERED_STEPS as STEPS,
    GATHERED_VARIANCES as VARIANCES,
    SPARED,
)
from gopfast.roundoff import ROUND


class Groups(NamedTuple):
    """Groups of samples: weights (m,), means (d, m), traces of their covariance (m,).

    Besides how far off a mean may be (d,), the relative rounding of their sums, the sum over groups of the weight
    times the covariance (d, d), and the group of each sample (n,).
    """

    weights: np.ndarray
    means: np.ndarray
    traces: np.ndarray
    off: np.ndarray
    rounding: float
    within: np.ndarray
    labels: np.ndarray


def are_gathered(data):
    """Return whether there are samples enough for groups of them to be of use, and not too many to be gathered."""
    return FEWEST <= data.n_samples <= LARGEST


@cache
def _factors():
    """Return ratios r, and at least sup over t > 0 of 2 log(1 + (e^t - 1 - t) / r) / t^2 for each of them."""
    ratios, exponents = np.geomspace(1.0, LARGEST_RATIO, N_RATIOS), np.geomspace(*EXPONENTS, N_EXPONENTS)
    low, high = exponents[:-1], exponents[1:]
    rise = (np.expm1(high) - high) * (1.0 + SLACK)
    between = 2.0 / low**2 * np.log1p(rise[None, :] / ratios[:, None])
    first = 1.0 / (ratios * (1.0 - low[0] / 3.0))
    return ratios, np.maximum(np.maximum(between.max(axis=1), first), 2.0 / high[-1]) * (1.0 + SLACK)


def proxies(variances, squares):
    """
    Return variances of normal distributions whose exponential moments groups do not exceed, in any direction.

    Parameters
    ----------
    variances : ndarray
        The largest of each group along any direction.
    squares : ndarray
        Of the largest distance of a sample from its group's mean.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(variances > 0.0, squares / variances, math.inf)
    ratios, factors = _factors()
    place = np.searchsorted(ratios, ratio, side="right") - 1  # the factor falls with the ratio
    known = np.where(place < 0, 1.0, factors[np.maximum(place, 0)])
    return np.where(squares > 0.0, squares * np.minimum(1.0, known), 0.0)


def groups_of(columns, weights, q, most, moved=None):
    """
    Return groups of samples that have no larger exponential moments than variance q, or None of more than `most`.

    Parameters
    ----------
    columns : ndarray, shape (d, n)
    weights : ndarray, shape (n,)
        Positive.
    moved : ndarray, shape (d,), optional
        How far off the columns may be.
    """
    d, n = columns.shape
    moved = np.zeros(d) if moved is None else moved
    apart = float(np.sqrt(np.square(moved).sum()))
    low, size = columns.min(axis=1), np.abs(columns).max(axis=1)
    off = 2.0 * (n + 64) * ROUND * size + moved  # of a mean: its sums, and centring
    slip, summed = float(np.sqrt(np.square(off).sum())), 4.0 * (n + 64) * ROUND
    found, count, within = [], 0, np.zeros((d, d))
    width = START * math.sqrt(q)
    y, w = columns, weights
    labels, places = np.empty(n, dtype=np.intp), np.arange(n)  # of samples that are in no group yet
    for _ in range(LEVELS):
        cells, n_cells = cells_of(y, low, width)
        if cells is None:
            break
        mass, means, squares, second = moments_of(y, w, cells, n_cells)
        # the second moment about any point is at least that about the mean
        largest = np.maximum(0.0, np.linalg.eigvalsh(second)[:, -1]) + summed * squares
        largest = np.square(np.sqrt(largest) + apart) * (1.0 + SLACK) if apart else largest
        far = np.square(np.sqrt(squares) * (1.0 + SLACK) + slip + apart)
        alone = squares <= 0.0  # of equal samples
        small = alone | (proxies(largest, far) <= q)
        traces = np.trace(second, axis1=1, axis2=2)
        traces = traces * (1.0 - summed) - slip * slip - 2.0 * apart * np.sqrt(traces)
        within += np.tensordot(mass[small], second[small], axes=1)
        found.append((mass[small], means[:, small], np.where(alone, 0.0, np.maximum(0.0, traces))[small]))
        left = ~small[cells]
        labels[places] = (count + np.cumsum(small) - 1)[cells]  # those that are left have another one later
        count += int(small.sum())
        if count > most:
            return None
        if not left.any():
            w = w[:0]
            break
        y, w, places = np.ascontiguousarray(y[:, left]), w[left], places[left]
        width *= SHRINK
    if count + len(w) > most:
        return None
    if len(w):
        found.append((w, y, np.zeros(len(w))))
        labels[places] = count + np.arange(len(w))
    mass, means, traces = (np.concatenate(parts, axis=-1) for parts in zip(*found, strict=True))
    return Groups(mass, means, traces, off, summed, within, labels)


def points_of(groups, q, centers):
    """
    Return the points (d, m) of groups, for centers (d, m), and what to add to the optimum of theirs, rounded down.

    The sum is at most the optimum of the samples; what rounding adds to that of the points is taken off.
    """
    w, y = groups.weights, groups.means
    shrink = math.sqrt(1.0 - q)
    points = (y - q * centers) / shrink
    distance = np.sqrt(np.square(y - centers).sum(axis=0))
    slip = math.sqrt(float(np.square(groups.off).sum()))
    lost = q / (2.0 * (1.0 - q)) * np.square(distance + slip) * (1.0 + SLACK)
    inner, lost = 0.5 * float(w @ groups.traces), float(w @ lost)
    kept = inner - lost - 2.0 * groups.rounding * (inner + lost)
    # by Cauchy and Schwarz, as for the user's units (R3)
    rounding = 8.0 * ROUND * (np.abs(y) + q * np.abs(centers)) + groups.off[:, None]
    apart = math.sqrt(float((w * np.square(rounding)).sum())) / shrink * (1.0 + SLACK)
    size = math.sqrt(float((w * np.square(points)).sum())) * (1.0 + SLACK) + apart
    # the groups' weights are sums, too: no optimum exceeds half the squares
    moved = apart * size + 0.5 * apart * apart + groups.rounding * 0.5 * size * size
    return points, kept - moved * (1.0 + SLACK) - SUM * abs(kept)


class Gathering:
    """
    What makes searches of groups in place of samples, for a bound of one covariance matrix.

    Parameters
    ----------
    slices : MatrixSlices
    epsilon : float
    plan : callable (family) -> MixturePlan
        As of `FixedSearch`.
    prices : PriceMaker
        As of `RoughSearch`.
    center : ndarray, shape (d, d), optional
        A precision, about the incumbent's, in whose coordinates smaller groups of many samples are made.
    """

    def __init__(self, slices, epsilon, plan, prices, center=None):
        self.slices, self.epsilon, self.plan, self.prices = slices, epsilon, plan, prices
        self.root, self.small = None if center is None else root(center), None  # groups that others are made of

    def search(self, found, rough, alpha=1.0, asked=math.inf, spared=SPARED, lift=None):
        """
        Return the search of groups at a precision, which may lose `rough` nats, and the matrix to its coordinates.

        Parameters
        ----------
        found : Estimate
            Of the optimum at the precision.
        rough : float
        alpha, asked, spared : float
            As of `RoughSearch`.
        lift : ndarray, shape (n,), optional
            The same, of the samples.

        Returns
        -------
        RoughSearch or None
            None where groups are too many to be of use.
        B : ndarray, shape (d, d)
        """
        meter, n = self.prices.gathered, len(self.slices.weights)
        with meter:
            q, lost = self._variance(found, rough, asked, spared)
            groups, kept = self._groups(found.B, q, MOST * n) if q > 0.0 else (None, 0.0)
        meter.count(terms=AS_PASSES * n * self.slices.n_components, calls=1)
        if groups is None:
            return None, found.B
        points, shift = points_of(groups, q, posterior(groups.means, found.means, found.shares))
        shift += kept
        scale = math.sqrt(1.0 - q)
        if lift is not None:
            labels, weights = groups.labels, self.slices.weights
            lift = np.bincount(labels, weights * lift) / np.bincount(labels, weights)
        family = family_of(points, groups.weights, self.slices.n_components)
        search = RoughSearch(
            alpha, family, shift, self.epsilon, self.plan, rough, self.prices, asked=asked, spared=spared, lost=lost,
            part=len(groups.weights) / n, lift=lift, labels=groups.labels,
            n_starts=0, start=(scale * found.means)[:, family.data.order], thorough=False,
        )  # fmt: skip
        return search, scale * found.B[family.data.order]

    def _groups(self, B, q, most):
        """
        Return groups for a q in the coordinates of B, or None; and what they cost within smaller ones, rounded down.

        Of many samples they are made of smaller groups, which are made once, where those take a small part of q.
        """
        slices = self.slices
        n = len(slices.weights)
        if n >= ONCE_FROM and self.root is not None:
            if self.small is None:
                self.small = groups_of(self.root @ slices.columns, slices.weights, ONCE_VARIANCE, n) or ()
            T = B @ np.linalg.inv(self.root)
            size = float(np.square(T).sum()) * (1.0 + SLACK)
            taken = ONCE_VARIANCE * float(np.linalg.eigvalsh(T.T @ T)[-1]) * (1.0 + SLACK) + SLACK * size
            if self.small and taken <= ONCE_PART * q:
                return self._groups_of_small(B, T, size, q - taken, most)
        return groups_of(B @ slices.columns, slices.weights, q, most), 0.0

    def _groups_of_small(self, B, T, size, q, most):
        """Return the same of the smaller groups, T from their coordinates; `size` is at least its squares' sum."""
        slices, small, d = self.slices, self.small, len(B)
        columns = T @ small.means
        moved = np.abs(T) @ small.off + (d + 4) * ROUND * (np.abs(T) @ np.abs(small.means).max(axis=1))
        if not float(np.square(moved).sum()) < SLACK * q:
            return None, 0.0
        groups = groups_of(columns, small.weights, q * (1.0 - 8.0 * SLACK), most, moved)
        if groups is None:
            return None, 0.0
        groups = groups._replace(rounding=groups.rounding + small.rounding, labels=groups.labels[small.labels])
        inner = float((T.T @ T * small.within).sum())
        slip = float(np.square(small.off).sum())
        inner -= size * (2.0 * small.rounding * float(np.trace(small.within)) + slices.total * slip) + SUM * inner
        # samples are where T has them, not B: by Cauchy and Schwarz
        off = np.abs(T @ self.root - B) + (d + 8) * ROUND * (np.abs(T) @ np.abs(self.root))
        off = math.sqrt(float(np.square(off).sum())) * slices.size * (1.0 + SLACK)
        reach = math.sqrt(float(np.square(B).sum())) * slices.size * (1.0 + SLACK)
        return groups, 0.5 * inner - off * (reach + 0.5 * off) * (1.0 + SLACK)

    def _variance(self, found, rough, asked, spared):
        """Return the largest q of some that loses no more than it may, about, and what it loses; 0 if none is."""
        columns, weights, means, shares = found.columns, found.weights, found.means, found.shares
        most = SHARE * allowed(rough, found.value, asked, spared, self.slices.total)
        centers = posterior(columns, means, shares)
        off = float(weights @ np.square(columns - centers).sum(axis=0))
        for q in VARIANCES:
            scale = math.sqrt(1.0 - q)
            points = (columns - q * centers) / scale
            value, _, _ = refit(points, weights, scale * means, shares, STEPS)
            lost = found.value - value + q / (2.0 * (1.0 - q)) * off
            if lost <= most:
                return q, max(0.0, lost)
        return 0.0, 0.0
