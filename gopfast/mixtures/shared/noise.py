"""
What samples with noise say of the covariance within components, whatever the components are.

A component tells no more of a sample with noise than of the sample itself, and a component's samples with noise have no
more entropy than the normal distribution of their covariance. So with y the samples with noise of covariance V, whose
entropy is h(y),

    R / W >= h(y) - log det (2 pi e (S / W + V)) / 2

for all responsibilities: of one entropy there are cuts at any precision, the tangents of that in S. The noise is made
such that the entropy is a finite sum: a sample goes to the corners of its cell of a grid, such that these have it as
their mean, from there to neighbours, and is spread evenly over a cell around the corner.

Theory: (TF5) of docs/theory/factors.md.
"""

import math
from typing import NamedTuple

import numpy as np

from gopfast.mixtures.families.axes import log_abs_det
from gopfast.mixtures.shared.margins import SLICES_SLACK as SLACK, SUM
from gopfast.mixtures.shared.sample_cells import smooth, spread_of
from gopfast.mixtures.shared.tuning import (
    NOISE_FROM as FROM,
    NOISE_LEAST as LEAST,
    NOISE_MOST_NODES as MOST_NODES,
    NOISE_ONCE_VARIANCE as ONCE_VARIANCE,
    NOISE_SMOOTHINGS as SMOOTHINGS,
)
from gopfast.roundoff import ROUND


def is_noisy(data):
    """Return whether there are samples enough for noise to be worth more than searches."""
    return data.n_samples >= FROM


class Noise(NamedTuple):
    """Noise: at least its covariance (d, d); at most h(y) - d log (2 pi e) / 2; how far off samples are in it."""

    covariance: np.ndarray
    height: float
    off: float

    def says(self, P):
        """Return what is said at a matrix, per unit of weight, not rounded down."""
        return self.height - 0.5 * float(np.linalg.slogdet(P + self.covariance)[1])


class Noises:
    """
    Noises of one set of samples.

    Parameters
    ----------
    slices : MatrixSlices
    covariance : ndarray, shape (d, d), optional
        About the incumbent's: in its axes samples are taken to the corners of a fine grid first.

    Attributes
    ----------
    n_made : int
        Passes over the samples.
    """

    def __init__(self, slices, covariance=None):
        self.slices, self.known, self.n_made = slices, [], 0
        self.places = places_of(slices) if covariance is None else corners_of(slices, covariance)
        self.covariances, self.heights = np.empty((0, *2 * slices.added.shape)), np.empty(0)

    def add(self, covariance):
        """Make noise of about a covariance (d, d); whether there is such."""
        self.n_made += 1
        made = noise_of(self.slices, self.places, covariance)
        if made is None:
            return False
        self.known.append(made)
        self.covariances = np.array([noise.covariance for noise in self.known])
        self.heights = np.array([noise.height for noise in self.known])
        return True

    def best(self, P):
        """Return the noise that says most at a matrix, and what it says; None, -inf where there is none."""
        if not self.known:
            return None, -math.inf
        said = self.heights - 0.5 * np.linalg.slogdet(P + self.covariances)[1]
        at = int(np.argmax(said))
        return self.known[at], float(said[at])

    def cut(self, noise, P):
        """Return the precision A of the tangent at a matrix, and beta, rounded down."""
        slices, d = self.slices, len(P)
        A = np.linalg.inv(P + noise.covariance)
        A = 0.5 * (A + A.T)
        if not np.linalg.eigvalsh(A)[0] > SLACK * np.trace(A):
            return A, -math.inf
        inner = float((A * noise.covariance).sum())
        terms = [noise.height, 0.5 * log_abs_det(A), 0.5 * d, -0.5 * inner]
        size = math.fsum(map(abs, terms)) + float((np.abs(A) * np.abs(noise.covariance)).sum())
        # by Cauchy and Schwarz, as in `Scaled.loss`
        loss = float(np.trace(A)) * noise.off * (slices.size + 0.5 * noise.off) * (1.0 + SLACK)
        return A, slices.total * (math.fsum(terms) - SUM * size) - loss


class Places(NamedTuple):
    """Where samples are taken for: columns (d, m), weights (m,); their noise there, at least, and how far off."""

    columns: np.ndarray
    weights: np.ndarray
    covariance: np.ndarray
    off: float


class Grid:
    """
    Samples at the corners of a grid, so that each is the mean of those of its cell.

    Parameters
    ----------
    places : Places
    covariance : ndarray, shape (d, d)
        Whose axes are the grid's, and root its steps.

    Attributes
    ----------
    mass : ndarray or None
        Of the corners, summing to about `total`; None where they are too many.
    """

    def __init__(self, slices, places, covariance):
        self.slices, self.places, self.mass = slices, places, None
        d, n = places.columns.shape
        self.summed = 4.0 * (len(slices.weights) + n + 64) * ROUND  # relative error of a sum of positive terms
        values, vectors = np.linalg.eigh(covariance)
        if not values[0] > SLACK * values[-1]:
            return
        step = np.sqrt(values)
        self.T, self.back = (vectors / step).T, vectors * step
        y = self.T @ places.columns
        self.low = y.min(axis=1) - 1.0
        self.sizes = (y.max(axis=1) - self.low).astype(np.intp) + 3
        if not np.prod(self.sizes.astype(float)) <= MOST_NODES:
            return
        mass, squares = spread_of(y, places.weights, self.low, self.sizes)
        self.mass = mass.reshape(self.sizes)
        self.variances = squares / slices.total * (1.0 + self.summed)

    def covariance(self, more):
        """Return at least the noise's covariance, with so much more of each coordinate; None where it is not known."""
        T, back, variances = self.T, self.back, np.maximum(self.variances + more, LEAST)
        made = (back * variances) @ back.T
        # what T makes of it, beside the variances: it may be too small by that
        apart = np.abs(T @ made @ T.T - np.diag(variances))
        apart += 8 * len(T) * ROUND * (np.abs(T) @ np.abs(made) @ np.abs(T).T)
        apart = float((apart / np.sqrt(np.outer(variances, variances))).sum(axis=1).max())
        if not apart < 0.5:
            return None
        return (0.5 * (made + made.T) / (1.0 - apart) + self.places.covariance) * (1.0 + SLACK)

    def off(self):
        """Return how far off places are: those of samples, and as they and the corners are rounded."""
        places, d = self.places, len(self.T)
        T, back, size = np.abs(self.T), np.abs(self.back), np.abs(self.low) + self.sizes
        # the way back is not quite the inverse
        slip = np.abs(self.T @ self.back - np.eye(d)) + (d + 2) * ROUND * (T @ back)
        inverse = back @ (np.eye(d) + slip) * (1.0 + SLACK)
        far = math.sqrt(float((places.weights * np.square(places.columns)).sum()))
        rounded = (d + 16) * ROUND * (inverse @ T)
        turned = inverse @ ((d + 16) * ROUND * size + slip @ size)
        off = float(np.linalg.norm(rounded)) * far + float(np.linalg.norm(turned)) * math.sqrt(self.slices.total)
        return places.off + off * (1.0 + SLACK)


def places_of(slices):
    """Return those of the samples themselves."""
    d = len(slices.columns)
    return Places(slices.columns, slices.weights, np.zeros((d, d)), slices.distance)


def corners_of(slices, covariance):
    """Return the places of a fine grid, which are fewer than the samples, or of the samples themselves."""
    own = places_of(slices)
    grid = Grid(slices, own, ONCE_VARIANCE * covariance)
    known = None if grid.mass is None else grid.covariance(0.0)
    if known is None:
        return own
    used = np.nonzero(grid.mass)
    columns = grid.back @ (np.array(used) + grid.low[:, None])
    return Places(np.ascontiguousarray(columns), grid.mass[used], known, grid.off())


def noise_of(slices, places, covariance):
    """Return noise of about a covariance (d, d), or None where its grid is too large."""
    more = 0.5 * SMOOTHINGS
    grid = Grid(slices, places, covariance / (0.25 + more))
    made = None if grid.mass is None else grid.covariance(more + 1.0 / 12.0)
    if made is None:
        return None
    mass = grid.mass
    for _ in range(SMOOTHINGS):
        mass = smoothed(mass)
    mass = mass[mass > 0.0] / slices.total
    logs = np.log(mass)
    entropy = -float(mass @ logs) - 4.0 * grid.summed * (1.0 + float(mass @ np.abs(logs)))
    terms = [entropy, -log_abs_det(grid.T), -0.5 * len(covariance) * (math.log(2.0 * math.pi) + 1.0)]
    return Noise(made, math.fsum(terms) - SUM * math.fsum(map(abs, terms)), grid.off())


def smoothed(mass):
    """Return masses of corners, of which each line's neighbours have a quarter each, with one more at every end."""
    mass = np.pad(mass, 1)
    smooth(mass.reshape(-1), np.array(mass.shape, dtype=np.intp))
    return mass
