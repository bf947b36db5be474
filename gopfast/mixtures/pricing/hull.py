"""
The pricing bound of spherical components in many columns: a search in the affine hull of the incumbent's means.

Whatever the number of columns is, the distance of a sample from a component follows from K - 1 coordinates along the
hull, the distances of both from it, and one angle, which `hull_cells` bounds over all angles at once. Around every
component of the incumbent there is a ball, in one coordinate, the distance from it; cells in a ball have its bound.

Theory: (Y4) and (Y5) of docs/theory/hull.md.
"""

import heapq
import math
import time

import numpy as np

from gopfast.mixtures.families.gaussian import GaussianFamily
from gopfast.mixtures.learning.learner import Learner
from gopfast.mixtures.pricing.grouped import scale_of
from gopfast.mixtures.pricing.hull_cells import HullCells
from gopfast.mixtures.pricing.hull_frame import Frame, moments_of
from gopfast.mixtures.pricing.pricing_root import less, total_of
from gopfast.mixtures.pricing.tuning import (
    ABOVE,
    AMBIGUOUS,
    CLEAR,
    FEWEST_COLUMNS,
    HULL_BATCH as BATCH,
    HULL_BATCHES as BATCHES,
    HULL_FEWEST as FEWEST,
    HULL_MOST_CELLS as MOST_CELLS,
    HULL_MOST_COLUMNS as MOST_COLUMNS,
    HULL_N_CLIMBS as N_CLIMBS,
    HULL_N_EQUAL as N_EQUAL,
    HULL_N_LAST as N_LAST,
    HULL_PATIENCE as PATIENCE,
    HULL_SLOW as SLOW,
    HULL_TOLERANCE as TOLERANCE,
    HULL_WORTH as WORTH,
    LEAST_RADIUS,
    MOST_COMPONENTS,
    MOST_RADIUS,
    N_RADII,
    SHELLS,
    SKIP_BALLS,
    SKIP_CELLS,
)

RADII = np.concatenate([[0.0], np.geomspace(LEAST_RADIUS, MOST_RADIUS, N_RADII)])


class HullBound(Learner):
    """
    Prices of the samples, suprema of one component over balls and cells of the hull.

    Parameters
    ----------
    family : Family
        Of K components of known variance.
    solution : ndarray
        An incumbent, as the primal keeps it: weights (K,), parameters, prior weight.
    limit : float
        Solutions below it are sought.
    threads : int

    Attributes
    ----------
    lower : float
        Proved, in nats.
    """

    def __init__(self, family, solution, limit, threads=1):
        self.family, self.limit, self.threads, self.lower = family, limit, threads, -math.inf
        K = family.n_components
        self.n_components, self.solution = K, np.array(solution)
        self.columns, self.weights = family.data.arrays()
        self.total_weight = math.fsum(self.weights)
        self.phase, self.terms, self.balls = "prices", 0, []

    @property
    def n_terms(self):
        """Samples that were looked at so far, each in one component."""
        return self.terms

    @property
    def n_passes(self):
        """Passes over all samples and components that would have cost as much."""
        return self.n_terms // (len(self.weights) * self.n_components)

    def step(self, deadline):
        """Next thing to learn; whether there is more."""
        if self.lower >= self.limit:
            return False
        return getattr(self, f"_step_{self.phase}")(deadline)

    def _step_prices(self, _deadline):
        """Find the frame, and prices at which all of the incumbent's components save the same."""
        K, w = self.n_components, self.weights
        used = self.solution[:K] > 0.0
        means = self.solution[K:-1].reshape(K, -1)[used]
        self.frame = Frame(self.columns, means)
        z, m = self.frame.samples, self.frame.means
        costs = np.array([0.5 * np.square(z - center[:, None]).sum(axis=0) for center in m])
        logs = np.log(self.solution[:K][used])[:, None] - costs
        top = logs.max(axis=0)
        parts = np.exp(logs - top)
        shares = parts / parts.sum(axis=0)
        own = -(top + np.log(parts.sum(axis=0)))
        label, rest = shares.argmax(axis=0), 1.0 - shares.max(axis=0)
        masses = shares @ w
        needed = []
        for k in range(len(m)):
            y = (z - m[k][:, None]) * np.sqrt(w * shares[k] / masses[k])
            needed.append(0.5 * np.linalg.eigvalsh(y @ y.T)[-1])
        most = np.sqrt(2.0 * AMBIGUOUS / np.maximum(rest, 1e-300))
        each = ABOVE * max(masses * needed) / masses
        for _turn in range(N_EQUAL):
            prices = own + np.minimum(each[label], most)
            values = np.zeros(len(m))
            for k in range(len(m)):
                values[k], m[k] = self._climb(prices, m[k], N_CLIMBS)
            each = each + (values.max() - values) / masses
        self.prices = prices = own + np.minimum(each[label], most)
        for k in range(len(m)):
            values[k], m[k] = self._climb(prices, m[k], N_LAST)
        self.terms += costs.size
        self.labels = np.where(rest < CLEAR, label, len(m))
        self.n_clusters = len(m)
        self.total = total_of(w, prices, self.family.constant) - self.family.constant_error
        self.raised = prices + self.frame.rounding(np.abs(prices).max(), 1.0)
        parts = [self.labels == k for k in range(len(m))]
        reach = self.frame.diameter
        made = [moments_of(z[:, own], w[own], self.raised[own], 1.0, reach) for own in parts]
        self.centers, self.moments = np.array([one[0] for one in made]), np.array([one[1] for one in made])
        self.slopes = [one[2] for one in made]
        self.atoms, self.attained = m, values.max()
        self.log_scales = np.log(masses / self.total_weight)
        self.phase = "ball"
        return True

    def _climb(self, prices, m, steps):
        """Return what a component saves after so many steps of ascent, and its mean (d,)."""
        z, value = self.frame.samples, 0.0
        for _ in range(steps):
            value, mass = saved(self.weights, prices - 0.5 * np.square(z - m[:, None]).sum(axis=0))
            self.terms += len(mass)
            if not mass.sum() > 0.0:
                break
            m = z @ mass / mass.sum()
        return value, m

    def _step_ball(self, deadline):
        """Bound the shells around one component."""
        k = len(self.balls)
        z = self.frame.samples - self.atoms[k][:, None]
        order = np.argsort(np.square(z).sum(axis=0))
        place = np.linalg.norm(self.centers - self.atoms[k], axis=1)[:, None]
        cells = HullCells(np.zeros((0, z.shape[1])), z[:, order], self.weights[order], self.labels[order], place,
                          n_threads=self.threads, skip=SKIP_BALLS, own=k,
                          offset=self.centers[k] - self.atoms[k])  # fmt: skip
        cells.set_prices(self.raised[order], self.moments, self.slopes[k])
        bounds, most = [], -math.inf
        scale = self.log_scales[k]
        for i in range(0, len(RADII) - 1, SHELLS):
            high = RADII[i + 1 : i + 1 + SHELLS][:, None]
            low = RADII[i : i + len(high)][:, None]
            values, scales = cells.bound(low, high, np.zeros((len(high), 2)), np.full(len(high), scale))
            scale = scales[-1]
            bounds.extend(np.maximum(most, np.maximum.accumulate(values)))
            most = bounds[-1]
            if most > WORTH * bounds[0] or time.monotonic() > deadline:
                break
        self.terms += cells.n_terms
        self.balls.append(np.array(bounds))
        if len(self.balls) == self.n_clusters:
            self._begin_cells()
        return True

    def _begin_cells(self):
        """Begin with the box of all samples."""
        frame = self.frame
        order = frame.order(self.labels)
        along, across = frame.samples[: frame.n_along][:, order], frame.samples[frame.n_along :][:, order]
        place = np.column_stack([self.centers[:, : frame.n_along],
                                 np.linalg.norm(self.centers[:, frame.n_along :], axis=1)])  # fmt: skip
        self.cells_at = HullCells(along, across, self.weights[order], self.labels[order], place,
                                  n_threads=self.threads, skip=SKIP_CELLS)  # fmt: skip
        self.cells_at.set_prices(self.raised[order], self.moments)
        self.place = np.column_stack([self.atoms[:, : frame.n_along],
                                      np.linalg.norm(self.atoms[:, frame.n_along :], axis=1)])  # fmt: skip
        far = np.sqrt(np.square(across).sum(axis=0)).max() * (1 + 1e-12) if len(across) else 0.0
        low, high = np.append(along.min(axis=1), 0.0), np.append(along.max(axis=1), far)
        self.heap, self.n_cells, self.closed = [], 0, -math.inf
        self.target, self.mark = max(ball[0] for ball in self.balls), (PATIENCE, math.inf)
        self._take(low[None], high[None], np.zeros(1))
        self.phase = "cells"

    def _ball_bounds(self, low, high):
        """Return what balls say of cells."""
        found = np.full(len(low), math.inf)
        for k, ball in enumerate(self.balls):
            q = low.shape[1] - 1
            away = np.maximum(np.abs(low - self.place[k]), np.abs(high - self.place[k]))
            away[:, q] = high[:, q] + self.place[k, q]
            radius = np.sqrt(np.square(away).sum(axis=1)) * (1 + 1e-12)
            at = np.searchsorted(RADII[1 : len(ball) + 1], radius)
            found = np.minimum(found, np.append(ball, math.inf)[at])
        return found

    def _take(self, low, high, scales):
        """Bound cells, and keep them."""
        bounds = self._ball_bounds(low, high)
        asked = np.flatnonzero(bounds > self.target)
        before = self.cells_at.n_terms
        if len(asked):
            values, found = self.cells_at.bound(low[asked], high[asked], np.zeros((len(asked), 2)), scales[asked],
                                                enough=self.target)  # fmt: skip
            bounds[asked], scales[asked] = np.minimum(bounds[asked], values), found
        self.terms += self.cells_at.n_terms - before
        for i in range(len(low)):
            heapq.heappush(self.heap, (-bounds[i], self.n_cells, low[i], high[i], scales[i]))
            self.n_cells += 1

    def _step_cells(self, deadline):
        """Divide the cells of the largest bounds."""
        for _ in range(BATCHES):
            tolerance = TOLERANCE * self.total_weight
            low, high, scales = [], [], []
            while self.heap and len(low) < BATCH and -self.heap[0][0] > self.target + tolerance:
                bound, _, a, b, scale = heapq.heappop(self.heap)
                j = np.argmax(b - a)
                middle = 0.5 * (a[j] + b[j])
                if not a[j] < middle < b[j]:
                    self.closed = max(self.closed, -bound)
                    continue
                left, right = b.copy(), a.copy()
                left[j] = right[j] = middle
                low += [a, right]
                high += [left, b]
                scales += [scale, scale]
            if low:
                # children of a cell are in it
                self._take(np.array(low), np.array(high), np.array(scales))
            self._count()
            if not low or self.n_cells > MOST_CELLS or self.lower >= self.limit:
                return False
            if self.n_cells > self.mark[0]:
                missing = self.supremum - self.target
                if missing > SLOW * self.mark[1]:
                    return False
                self.mark = 2 * self.n_cells, missing
            if time.monotonic() > deadline:
                break
        return True

    def _count(self):
        """Raise the lower bound to what the suprema prove."""
        self.supremum = max(self.closed, -self.heap[0][0] if self.heap else -math.inf)
        savings = self.n_components * max(0.0, self.supremum)
        self.lower = max(self.lower, min(less(self.total, savings), self.limit))


def saved(weights, gains):
    """Return about what a component saves whose samples gain so much each, and its column."""
    scale = scale_of(weights, gains)
    if not scale > 0.0:
        return 0.0, np.zeros(len(weights))
    gains = gains + math.log(scale)
    return weights @ np.maximum(0.0, gains), weights * np.exp(np.minimum(0.0, gains))


def has_hull(family):
    """Whether the bound is for this family: of known variance, without a prior."""
    known = isinstance(family, GaussianFamily) and not family.n_ranges and not family.has_prior
    if not known or family.data.is_summary or not 2 <= family.n_components <= MOST_COMPONENTS:
        return False
    return family.data.n_samples >= FEWEST and FEWEST_COLUMNS <= family.n_columns <= MOST_COLUMNS
