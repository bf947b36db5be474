"""
A bound of mixtures of one covariance matrix by the labels of a solution and samples with noise, in closed form.

With L the label of a sample, k its component and y the sample with noise,

    R / W >= H(L) - H(L | y) + h(y | L) - log det (2 pi e (S / W + V)) / 2,

V the noise's covariance. In units in which the covariance within labels is I, h(y | L) is nearly that of a normal
distribution where samples are many and labels are clusters, whatever V is between two multiples of I: so V may be
small where S is narrow and large where it is wide. What remains is a function of the eigenvalues of S, and that R is
at most W log K says which of them there may be. There are no cells, and no searches.

Theory: (TL1), (TL2), (TL3) and (TL4) of docs/theory/labels.md.
"""

import math
import time
from typing import NamedTuple

import numpy as np

from gopfast.mixtures.families.axes import log_abs_det
from gopfast.mixtures.families.scatter import least_within
from gopfast.mixtures.learning.learner import Learner, end_of_step
from gopfast.mixtures.shared.margins import SLICES_SLACK as SLACK, SUM
from gopfast.mixtures.shared.noise_grids import NoiseGrid, places_off, step_of
from gopfast.mixtures.shared.slices import LOG_2_PI
from gopfast.mixtures.shared.spectra import Spectra
from gopfast.mixtures.shared.tuning import (
    LABELLED_CHUNK as CHUNK,
    LABELLED_FEWEST as FEWEST,
    LABELLED_FLATTEST as FLATTEST,
    LABELLED_IN_VAIN as IN_VAIN,
    LABELLED_LARGEST as LARGEST,
    LABELLED_LOOKED_FROM as LOOKED_FROM,
    LABELLED_MOST_COLUMNS as MOST_COLUMNS,
    LABELLED_MOST_DIRECTIONS as MOST_DIRECTIONS,
    LABELLED_MOST_GROUPS as MOST_GROUPS,
    LABELLED_MOST_NODES as MOST_NODES,
    LABELLED_MOST_TERMS as MOST_TERMS,
    LABELLED_NARROW as NARROW,
    LABELLED_NODES_A_SAMPLE as NODES_A_SAMPLE,
    LABELLED_PAIRS_FROM as PAIRS_FROM,
    LABELLED_SAMPLE as SAMPLE,
    LABELLED_SLOPES as SLOPES,
    LABELLED_SMOOTHER as SMOOTHER,
    LABELLED_VARIANCES as VARIANCES,
    LABELLED_WIDE as WIDE,
    LABELLED_WORTH as WORTH,
    SPECTRA_FROM,
    SPECTRA_MOST_BOXES as MOST_BOXES,
)
from gopfast.roundoff import ROUND


def has_labels(family):
    """Return whether a `TiedFamily` has such a bound: of many samples in a few columns."""
    n, d = family.data.n_samples, family.n_columns
    if family.n_components == 2 and (d < 3 or n < PAIRS_FROM):
        return False
    return FEWEST <= n <= LARGEST and d <= MOST_COLUMNS


class Noisy(NamedTuple):
    """Samples with noise: of variance `least` at most, in any direction, what their entropies within labels lack.

    `proxy` is such that moments of exponentials of the noise are at most those of normal noise of that variance.
    """

    least: float
    lack: float
    proxy: float


class LabelBound(Learner):
    """
    Lower bound of a mixture of one covariance matrix; it has a step for each noise.

    Parameters
    ----------
    slices : MatrixSlices
    solution : ndarray
        An incumbent: components are labels.
    limit : float
        What is to be proved.
    """

    def __init__(self, slices, solution, limit):
        self.slices, self.limit = slices, limit
        self.has_spectra = False  # what noises say together is known
        self.solution, self.units = solution, None
        self.tried = [(variance, 1) for variance in VARIANCES]
        self.known = []  # noises
        self.looked = None  # in how many labels directions were looked for
        self.at, self.in_vain = None, 0  # the best of them, and how many were no better since
        self.clearest = None  # that of which entropies lack least, which counts where all of them say something

    def step(self, deadline):
        """Take the next noise, or at last look at what all say together; whether there are more."""
        if self._step(deadline):
            return True
        missing = self.limit - self.lower
        if self.has_spectra or not self.known or not 0.0 < missing < SPECTRA_FROM * self.slices.total:
            return False
        self.has_spectra = True
        found, terms = self.units.together(self.known, self.limit)
        self.lower = max(self.lower, found)
        self.n_terms += terms
        self.n_passes += terms // (len(self.slices.weights) * self.slices.n_components)
        return False

    def _step(self, deadline):
        """Take the next noise; whether there are more."""
        if self.units is None:
            self.units = Units.of(self.slices, self.solution)
            self._count(1 << len(self.slices.columns))
            return self.units is not None
        if not self.tried:
            return self._look(deadline)
        variance, n_smoothed = self.tried.pop(0)
        made = self.units.noise(variance, n_smoothed, deadline)
        self._count(1 << len(self.slices.columns))
        if made is not None:
            self.known.append(made)
            if n_smoothed == 1 and made.lack == min(noise.lack for noise in self.known):
                self.clearest = variance
            # the narrowest noise limits eigenvalues for all
            value = self.units.bound(self.known)
            self.in_vain += 1
            if value > self.lower:
                self.lower, self.at, self.in_vain = value, variance, 0
        if n_smoothed == 1 and (made is None or self.in_vain >= IN_VAIN or not self.tried):
            self.tried = self._finer()
        return self.lower < self.limit and (bool(self.tried) or self._is_worth_looking())

    def _finer(self):
        """Return noises in finer grids, of the variances that are best and of which entropies lack least."""
        if self.at is None:
            return []
        variances = sorted({self.clearest, self.at}, reverse=True)
        return [(variance, times) for variance in variances for times in SMOOTHER]

    def _look(self, deadline):
        """Look for the least variance within components in all directions, at last within a label; whether to go on."""
        units = self.units
        if self.looked is None:
            self.slices.refine(deadline)
            self.looked = 0
        else:
            units.look(self.looked, end_of_step(deadline))
            self.looked += 1
        self._count(MOST_TERMS // len(self.slices.weights) + 1)
        self.lower = max(self.lower, units.bound(self.known))
        is_few = self.slices.n_components <= MOST_GROUPS and self.looked < len(units.places)
        return is_few and self.lower < self.limit

    def _is_worth_looking(self):
        """Whether a good part of what is missing is due to eigenvalues that may be narrow, and no cells follow."""
        if self.slices.has_factors or len(self.slices.weights) < LOOKED_FROM or not self.known:
            return False
        return self.units.bound(self.known, NARROW) - self.lower > WORTH * (self.limit - self.lower)

    def _count(self, n_each):
        """Count work on the samples, as if it were passes."""
        n, K = len(self.slices.weights), self.slices.n_components
        self.n_terms += n * n_each
        self.n_passes += n_each // K


class Units:
    """
    Samples by labels, in units in which the covariance within labels is about I.

    Parameters
    ----------
    slices : MatrixSlices
    labels : ndarray, shape (n,)
    means : ndarray, shape (L, d)
        Of the labels, about, in the coordinates z.
    B : ndarray, shape (d, d)
        To these units.
    """

    def __init__(self, slices, labels, means, B):
        self.slices, self.weights, self.total = slices, slices.weights, slices.total
        z, d = slices.columns, len(slices.columns)
        self.x, self.means = B @ z, means @ B.T
        off = np.abs(B) @ slices.off + (d + 4) * ROUND * (np.abs(B) @ np.abs(z))
        self.off = math.sqrt(float((self.weights * np.square(off)).sum()) / self.total) * (1.0 + SLACK)
        self.places = [np.flatnonzero(labels == label) for label in range(len(means))]
        self.shares = np.array([math.fsum(self.weights[own]) for own in self.places]) / self.total
        self.labels, self.d = labels, d
        self.entropy = -math.fsum(self.shares * np.log(self.shares)) - SUM * len(means)  # of the labels
        self.log_K = math.log(slices.n_components) * (1.0 + SUM)
        within = np.zeros((d, d))
        for own, mean in zip(self.places, self.means, strict=True):
            apart = self.x[:, own] - mean[:, None]
            within += (self.weights[own] * apart) @ apart.T
        within /= self.total
        # second moments about any means are at least the covariance
        self.within = within + (2 * len(labels) + 64) * ROUND * float(np.trace(within)) * np.eye(d)
        self.height = math.fsum([math.fsum(slices.fixed) / self.total, 0.5 * d, -log_abs_det(B), self.entropy])
        self.magnitude = math.fsum(map(abs, slices.fixed)) / self.total + abs(log_abs_det(B)) + d + self.entropy
        product = B @ B.T
        rounding = 64 * d * ROUND * float(np.abs(product).sum())
        values = np.linalg.eigvalsh(product) - rounding
        self.widest = values + 2.0 * rounding
        self.flattest = max(0.0, float(values[0]))
        # what lies between components has no more directions than this; in others all is as wide as the samples
        self.rank = min(slices.n_components - 1, d)
        self.others = np.maximum((1.0 - slices.eta) * values * (1.0 - SLACK), 0.0)[: d - self.rank]
        self.within_labels = np.zeros(len(means))  # least variances within components, in any direction
        self.moved = 4 * d * ROUND * float(np.abs(self.x).max() + np.abs(self.means).max())  # about means
        self.unclear = {}  # by variance of noise: at least H(L | y)
        self.chosen = {}  # the same of some of the samples, about, and the best slope
        self.few = slice(None, None, max(1, len(labels) // SAMPLE))

    @staticmethod
    def of(slices, solution):
        """Return those of a solution's labels; None where samples of a label lie in a plane."""
        z, weights, K = slices.columns, slices.weights, slices.n_components
        means, A = slices.means_of(solution), slices.precision_of(solution)
        own, far = np.zeros(z.shape[1], dtype=np.intp), np.full(z.shape[1], math.inf)
        for k in range(K):
            slope = A @ means[k]
            if not solution[k] > 0.0:
                continue
            cost = 0.5 * float(means[k] @ slope) - math.log(solution[k]) - slope @ z
            nearer = cost < far
            own[nearer], far[nearer] = k, cost[nearer]
        used, labels = np.unique(own, return_inverse=True)
        mass = np.bincount(labels, weights)
        means = np.array([np.bincount(labels, weights * column) for column in z]).T / mass[:, None]
        within = np.zeros((len(z), len(z)))
        for label in range(len(used)):
            apart = z[:, labels == label] - means[label][:, None]
            within += (weights[labels == label] * apart) @ apart.T
        values, vectors = np.linalg.eigh(within / slices.total)
        if not values[0] > FLATTEST * values[-1]:
            return None
        return Units(slices, labels, means, (vectors / np.sqrt(values)).T)

    def noise(self, variance, n_smoothed, deadline=math.inf):
        """Return noise of about a variance, by grids around each label; None where they are too large, or too late."""
        d, step = self.d, step_of(variance, n_smoothed)
        grids = [NoiseGrid.of(self.x[:, own], step, n_smoothed) for own in self.places]
        if math.fsum(grid.n_nodes for grid in grids) > min(MOST_NODES, NODES_A_SAMPLE * len(self.labels)):
            return None
        spread, entropy, size = np.zeros(d), [], 0.0
        for grid, own, share in zip(grids, self.places, self.shares, strict=True):
            if time.monotonic() > deadline:
                return None
            found, magnitude, squares, _, _ = grid.entropy(self.weights[own], share * self.total)
            spread += squares
            entropy.append(share * found)
            size += share * magnitude
        added = spread / self.total * (1.0 + 4.0 * (len(self.labels) + 64) * ROUND) + 0.5 * n_smoothed + 1.0 / 12.0
        whole = self.within + np.diag(step * step * added * (1.0 + SUM))
        beside = np.abs(whole - np.diag(whole.diagonal())).sum(axis=1)
        least = max(float((whole.diagonal() + beside).max()) - 1.0, float(added.max()) * step * step)
        # samples are where the grids and the units have them
        moved = places_off(np.max([grid.far for grid in grids], axis=0), step)
        least = least * (1.0 + SUM) + SUM + moved * (2.0 * math.sqrt(float(np.trace(whole))) + moved)
        normal = 0.5 * d * (1.0 + LOG_2_PI + math.log1p(least))
        lack = normal - math.fsum(entropy) - d * math.log(step) + SUM * (normal + size + d * abs(math.log(step)))
        off = self.off + moved
        if not off < math.sqrt(least):
            return None
        lack += d * off / math.sqrt(least) * (1.0 + SLACK)
        return Noisy(least, lack, step * step * (1.0 / 3.0 + 0.5 * n_smoothed) * (1.0 + SUM))

    def narrowest(self):
        """Return what no eigenvalue is below, as far as is known of all samples."""
        of_all = self.slices.within_range()[0] * self.flattest * (1.0 - SLACK)
        # of x, which are off; squares within all are at least those within labels
        root = math.sqrt(math.fsum(self.shares * self.within_labels)) * (1.0 - SLACK) - self.off - self.moved
        return max(of_all, max(0.0, root) ** 2 * (1.0 - SLACK))

    def narrowest_of(self, noises):
        """Return what no eigenvalue is below, by some noises as well."""
        return max(self.narrowest(), *(narrow(noise, self.log_K) for noise in noises))

    @staticmethod
    def variances(noise):
        """Return what the variance of a noise may be at most where S is wide."""
        return [one for one in (noise.proxy, *WIDE) if one >= noise.proxy]

    def look(self, label, deadline):
        """Look for the least variance within components of a label's samples, in any direction."""
        own = self.places[label]
        columns = np.ascontiguousarray(self.x[:, own] - self.means[label][:, None])
        self.within_labels[label] = least_within(
            columns, self.weights[own], self.slices.n_components, 1.0, MOST_DIRECTIONS, deadline, MOST_TERMS
        )

    def bound(self, noises, least=0.0):
        """Return the best bound of several noises, in nats, rounded down; `least`: if no eigenvalue were below that."""
        narrowest = max(least, self.narrowest_of(noises))
        best, found = -math.inf, None
        for noise in noises:
            for variance in self.variances(noise):
                value = self._value(noise, variance, narrowest, self._about(variance))
                if value > best:
                    best, found = value, (noise, variance)
        if found is None:
            return -math.inf
        noise, variance = found
        value = self._value(noise, variance, narrowest, self.unclear_by(variance))
        return self._in_nats(value)

    def together(self, noises, limit):
        """
        Return a bound by boxes of eigenvalues, for each of which the best noise counts.

        Returns
        -------
        bound : float
            In nats, rounded down.
        n_terms : int
            What noises say of boxes, and what they hide of samples.
        """
        low = np.full(self.d, self.narrowest_of(noises))
        low[self.rank :] = np.maximum(low[self.rank :], self.others)
        low = np.maximum.accumulate(low)
        if not low[0] > 0.0:
            return -math.inf, 0
        before = len(self.unclear)
        spectra = Spectra(low, np.maximum((1.0 + self.slices.eta) * self.widest * (1.0 + SLACK), low))
        for noise in noises:
            told = [self._terms(noise, one, self.unclear_by(one)) for one in self.variances(noise)]
            for lost, wide, _, _ in told:
                spectra.add_noise(noise.least, wide, self.height - lost)
            spectra.add_sums(noise.least, -min(spare for _, _, spare, _ in told), -told[0][-1])
        # a little above the limit, so that what is proved is no less once it is rounded down
        asked = limit / self.total + 4.0 * SUM * (abs(limit) / self.total + self.magnitude)
        least, n_boxes = spectra.least(asked, MOST_BOXES)
        n_hidden = (len(self.unclear) - before) * len(self.labels) * len(self.means)
        return self._in_nats(least), n_boxes * len(spectra.noises) + n_hidden

    def _in_nats(self, value):
        """Return a bound per unit of weight in nats, rounded down."""
        return self.total * value - SUM * self.total * (abs(value) + 4.0 * self.magnitude)

    def _value(self, noise, variance, narrowest, unclear):
        """Return the bound per unit of weight by noise of this variance at most where S is wide."""
        lost, wide, spare, most = self._terms(noise, variance, unclear)
        return self.height - lost + least_sum(noise.least, wide, narrowest, spare, most, self.rank, self.others)

    def _terms(self, noise, variance, unclear):
        """Return what such noise loses, v where S is wide, and minus what sums of all a, and of any, are at least."""
        lost = noise.lack + unclear
        wide = noise.least + max(0.0, variance - noise.proxy)
        return lost, wide, 2.0 * max(0.0, self.log_K - self.entropy + lost), 2.0 * (self.log_K + noise.lack)

    def _slopes(self, variance):
        return [slope / (1.0 + variance) for slope in SLOPES]

    def _about(self, variance):
        """Return about what `unclear_by` does, by some of the samples, and keep the best slope."""
        if variance not in self.chosen:
            x, labels, weights = self.x[:, self.few], self.labels[self.few], self.weights[self.few]
            found = [self._cross(x, labels, weights, variance, slope) for slope in self._slopes(variance)]
            at = int(np.argmin(found))
            self.chosen[variance] = found[at], self._slopes(variance)[at]
        return self.chosen[variance][0]

    def unclear_by(self, variance):
        """Return at least H(L | y) where moments of exponentials of the noise are those of a variance, at most."""
        if variance not in self.unclear:
            self._about(variance)
            slope = self.chosen[variance][1]
            self.unclear[variance] = self._cross(self.x, self.labels, self.weights, variance, slope)
        return self.unclear[variance]

    def _cross(self, x, labels, weights, variance, slope):
        """Return the mean over samples of the log of the mean, over noise, of one over a label's share of the whole."""
        means = self.means
        apart = np.square(means[:, None] - means).sum(axis=2)
        constants = np.log(self.shares) - 0.5 * slope * np.square(means).sum(axis=1)
        beside = 0.5 * variance * slope * slope * (1.0 + SUM) * apart
        sums, largest, tilted = [], 0.0, float(np.abs(constants).max())
        for first in range(0, len(labels), CHUNK):
            part = slice(first, first + CHUNK)
            tilts, own = slope * (means @ x[:, part]) + constants[:, None], labels[part]
            ways = tilts - tilts[own, np.arange(len(own))] + beside[:, own]
            most = ways.max(axis=0)
            logs = most + np.log(np.exp(ways - most).sum(axis=0))
            sums.append(float(weights[part] @ logs))
            largest, tilted = max(largest, float(np.abs(logs).max())), max(tilted, float(np.abs(tilts).max()))
        rounding = 64 * len(means) * ROUND * (2.0 * tilted + largest + 1.0) + 4.0 * len(labels) * ROUND * largest
        rounding += SUM * slope * float(np.abs(means).sum(axis=1).max() * np.abs(x).max())
        return math.fsum(sums) / math.fsum(weights) + rounding


def narrow(noise, log_K):
    """Return what no eigenvalue is below, as components tell no more than log K nats of samples of a label."""
    return (1.0 + noise.least) * math.exp(-2.0 * (log_K + noise.lack)) * (1.0 - SLACK) - noise.least * (1.0 + SLACK)


def least_sum(least, wide, narrowest, spare, most, rank, others):
    """
    Return the least of the sum of log (s (1 + v) / (s + v)) / 2 over eigenvalues, rounded down.

    Parameters
    ----------
    least, wide : float
        v where s is below one, and above.
    narrowest : float
        No s is below it.
    spare, most : float
        The sum of a = log ((s + least) / (1 + least)) is at least minus `spare`, that of any of them minus `most`.
    rank : int
        So many s may be below one,
    others : ndarray
        and the others are at least these.
    """
    part = least / (1.0 + least)

    def lost(a):
        """Return what an eigenvalue of minus a loses, convex in a."""
        inner = part * math.exp(min(a, 700.0)) * (1.0 + SUM)
        return -0.5 * (math.log1p(-inner) + math.log1p(least)) if inner < 1.0 else math.inf

    def gained(a):
        """Return what an eigenvalue of a gains, concave in a."""
        s = (1.0 + least) * math.exp(min(a, 700.0)) - least
        return 0.5 * (math.log1p(wide) - math.log1p(wide / s))

    farthest = max(0.0, math.log((1.0 + least) / (max(narrowest, 0.0) + least)) * (1.0 + SUM))
    end = min(rank * farthest, most)
    found = 0.0
    # between these what is gained less what is lost is concave
    for b in {min(b, end) for b in (spare, end, *(j * farthest for j in range(1, rank + 1)))}:
        full = min(rank, int(b / farthest * (1.0 + SLACK))) if farthest > 0.0 else 0
        rest = max(0.0, b - full * farthest)
        of_rest = lost(rest) if full < rank else 0.0
        found = min(found, gained(max(0.0, b - spare)) - full * (lost(farthest) if full else 0.0) - of_rest)
    beyond = [lost(math.log((1.0 + least) / (s + least))) for s in others if s < 1.0]
    return found - math.fsum(beyond) - SUM * (1.0 - found + math.fsum(beyond))
