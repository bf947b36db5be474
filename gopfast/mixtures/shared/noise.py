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
from gopfast.mixtures.shared.sample_cells import spread_of
from gopfast.mixtures.shared.tuning import (
    NOISE_FROM as FROM,
    NOISE_MOST_NODES as MOST_NODES,
    NOISE_SMOOTHINGS as SMOOTHINGS,
)
from gopfast.roundoff import ROUND

LOG_2_PI_E = math.log(2.0 * math.pi) + 1.0


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

    Attributes
    ----------
    n_made : int
        Passes over the samples.
    """

    def __init__(self, slices):
        self.slices, self.known, self.n_made = slices, [], 0
        self.covariances, self.heights = np.empty((0, *2 * slices.added.shape)), np.empty(0)

    def add(self, covariance):
        """Make noise of about a covariance (d, d); whether there is such."""
        self.n_made += 1
        made = noise_of(self.slices, covariance)
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


def noise_of(slices, covariance):
    """Return noise of about a covariance (d, d), or None where its grid is too large."""
    columns, weights = slices.columns, slices.weights
    d, n = columns.shape
    values, vectors = np.linalg.eigh(covariance)
    if not values[0] > SLACK * values[-1]:
        return None
    step = np.sqrt(values / (0.25 + 0.5 * SMOOTHINGS))  # of the grid along the axes, about
    T, back = (vectors / step).T, vectors * step
    y = T @ columns
    low = y.min(axis=1) - 1.0
    sizes = (y.max(axis=1) - low).astype(np.intp) + 3
    if not np.prod(sizes.astype(float)) <= MOST_NODES:
        return None
    mass, squares = spread_of(y, weights, low, sizes)
    mass = mass.reshape(sizes)
    for _ in range(SMOOTHINGS):
        mass = smoothed(mass)
    summed = 4.0 * (n + 64) * ROUND  # relative error of a sum of positive terms
    mass = mass[mass > 0.0] / float(weights.sum())
    logs = np.log(mass)
    entropy = -float(mass @ logs) - 4.0 * summed * (1.0 + float(mass @ np.abs(logs)))
    variances = squares / slices.total * (1.0 + summed) + 1.0 / 12.0 + 0.5 * SMOOTHINGS
    made = (back * variances) @ back.T
    # what T makes of it, beside the variances: it may be too small by that
    apart = np.abs(T @ made @ T.T - np.diag(variances)) + 8 * d * ROUND * (np.abs(T) @ np.abs(made) @ np.abs(T).T)
    apart = float((apart / np.sqrt(np.outer(variances, variances))).sum(axis=1).max())
    if not apart < 0.5:
        return None
    made = 0.5 * (made + made.T) / (1.0 - apart) * (1.0 + SLACK)
    # the samples' places in the grid are rounded
    inverse = np.abs(back) * (1.0 + SLACK)
    reach = float(np.linalg.norm(inverse @ np.abs(T))) * slices.size
    ends = float(np.linalg.norm(inverse @ (np.abs(low) + sizes))) * math.sqrt(slices.total)
    off = slices.distance + (d + 16) * ROUND * (reach + ends) * (1.0 + SLACK)
    terms = [entropy, -log_abs_det(T), -0.5 * d * LOG_2_PI_E]
    return Noise(made, math.fsum(terms) - SUM * math.fsum(map(abs, terms)), off)


def smoothed(mass):
    """Return masses of corners, of which each line's neighbours have a quarter each; none are at the ends."""
    for axis in range(mass.ndim):
        padded = np.zeros([size + 2 * (axis == j) for j, size in enumerate(mass.shape)])
        inner = np.moveaxis(padded, axis, 0)
        own = np.moveaxis(mass, axis, 0)
        inner[1:-1] = 0.5 * own
        inner[2:] += 0.25 * own
        inner[:-2] += 0.25 * own
        mass = padded
    return mass
