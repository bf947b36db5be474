"""The samples of a mixture as the kernels see them: scaled, centred, padded columns, and their summaries.

Theory: (I1) of docs/theory/many.md.
"""

import math

import numpy as np

from libc.math cimport fabs, sqrt

from gopfast.mixtures.data.passes cimport (
    PASS_HESSIAN, PASS_MOMENTS, PASS_PAD, PASS_WEIGHTS, pass_n_statistics, pass_scratch_size
)
from gopfast.search.arena cimport Arena


cdef real summary_shift(const SampleSet *data, int n_components, const pass_costs *costs) noexcept nogil:
    """Every cost is concave plus at most the largest curvature of its coordinate (I1)."""
    cdef int j, k, d = data.samples.n_columns
    cdef real shift = 0, most
    for j in range(d):
        most = 0
        for k in range(n_components):
            most = max(most, costs.quadratic[k * d + j])
        shift -= most * data.curvature_loss[j]
    return shift


cdef real cost_size(const SampleSet *data, int k, const pass_costs *costs, const pass_sums *sums,
                    real mass) noexcept nogil:
    cdef int j, d = data.samples.n_columns, F = pass_n_statistics(&data.samples)
    cdef real size = fabs(costs.offsets[k]), square
    if not mass > 0:
        return size
    for j in range(d):
        square = sums.second[(k * F + j) * F + j] / mass
        size += fabs(costs.quadratic[k * d + j]) * square + fabs(costs.linear[k * d + j]) * sqrt(square)
    return size


cdef class Samples:
    """Scaled and centred samples.

    Coordinates are divided by `scale`, shifted and ordered by falling width, so that components are ordered by the
    coordinate that separates them most.

    Parameters
    ----------
    X : ndarray, shape (n, d)
    sample_weight : ndarray, shape (n,)
    scale : ndarray, shape (d,)
    center : ndarray, shape (d,), optional
        By default the middle of the range.
    squares : bool
        Whether squares of the coordinates are statistics too.
    late : ndarray of bool, shape (d,), optional
        Coordinates that come after all others, whatever their width.
    """

    def __init__(self, X, sample_weight, scale, center=None, bint squares=False, late=None):
        used = sample_weight > 0
        if not used.all():
            X, sample_weight = X[used], sample_weight[used]
        scaled = np.array(X.T, dtype=np.float64, order="C")  # numpy is slow along an axis of a few
        low, high = scaled.min(axis=1), scaled.max(axis=1)
        self.scale = np.asarray(scale, dtype=np.float64)
        self.center = 0.5 * low + 0.5 * high if center is None else np.asarray(center, dtype=np.float64)
        narrowness = low / self.scale - high / self.scale
        self.order = np.lexsort((narrowness, np.zeros(len(narrowness)) if late is None else late))
        scaled -= self.center[:, np.newaxis]
        scaled /= self.scale[:, np.newaxis]
        scaled = scaled if len(scaled) == 1 else scaled[self.order]
        self.fill(scaled, sample_weight, squares, np.zeros(len(scaled)), 0.0)

    cdef int fill(self, columns, weights, bint squares, curvature_loss, real rounding) except -1:
        d, n = columns.shape
        n_padded = -(-n // PASS_PAD) * PASS_PAD
        padded, mass = np.empty((d, n_padded)), np.zeros(n_padded)
        padded[:, :n] = columns
        padded[:, n:] = columns[:, -1:]
        mass[:n] = weights
        self.columns, self.weights, self.curvature_loss = padded, mass, np.ascontiguousarray(curvature_loss)
        self.core.samples = pass_data(n_padded, d, squares, &self.columns[0, 0], &self.weights[0])
        self.core.curvature_loss, self.core.rounding = &self.curvature_loss[0], rounding
        self.core.n_samples = n
        # exact, or rounded once, but for the sums of a few
        self.core.total_weight = n if (mass[:n] == 1).all() else math.fsum(mass.reshape(-1, PASS_PAD).sum(axis=1))
        self.reach = np.zeros(d)
        self.levels = []
        return 0

    @staticmethod
    def summarised(level, scale, center, order, bint squares, real total_weight):
        """The samples by a summary alone, whose loss all bounds bear.

        Parameters
        ----------
        level : gopfast.mixtures.data.summary.Level
            In the core's units and order of columns.
        scale, center : ndarray, shape (d,)
        order : ndarray of int, shape (d,)
        squares : bool
        total_weight : float
            Of the samples.
        """
        cdef Samples self = Samples.__new__(Samples)
        self.scale, self.center, self.order = scale, center, order
        self.fill(level.columns, level.weights, squares, level.curvature_loss, level.rounding)
        self.core.total_weight = total_weight
        self.reach = np.ascontiguousarray(level.reach, dtype=np.float64)
        return self

    def add_level(self, columns, weights, curvature_loss, rounding, reach):
        """Attach a summary (see gopfast.mixtures.data.summary), finer than those before."""
        cdef Samples level = Samples.__new__(Samples)
        level.fill(columns, weights, self.core.samples.squares, curvature_loss, rounding)
        level.core.total_weight = self.core.total_weight
        level.center, level.scale, level.order = self.center, self.scale, self.order
        level.reach = np.ascontiguousarray(reach, dtype=np.float64)
        self.levels.append(level)

    @property
    def n_columns(self):
        """Number of coordinates."""
        return self.core.samples.n_columns

    @property
    def total_weight(self):
        """Sum of the weights."""
        return self.core.total_weight

    @property
    def n_samples(self):
        """Number of samples, or of a summary's points."""
        return self.core.n_samples

    @property
    def is_summary(self):
        """Whether the samples themselves are not at hand, so that bounds of this lose something too."""
        return bool(np.any(self.reach))

    @property
    def rounding(self):
        """Relative rounding error of a summary's weights; 0 for samples."""
        return self.core.rounding

    @property
    def loss(self):
        """What a summary loses per unit of curvature, by coordinate (d,); 0 for samples."""
        return np.asarray(self.curvature_loss)

    def arrays(self):
        """Samples (d, n) and weights (n,) as the core sees them, without padding."""
        return np.asarray(self.columns)[:, :self.core.n_samples], np.asarray(self.weights)[:self.core.n_samples]

    def to_user(self, means):
        """Means (K, d) of the core in the user's coordinates."""
        out = np.empty_like(means)
        out[:, self.order] = means
        return out * self.scale + self.center

    def from_user(self, means):
        """Means (K, d) of the user in the core's coordinates."""
        return np.ascontiguousarray(((np.asarray(means) - self.center) / self.scale)[:, self.order])


cdef int take_costs(Arena arena, pass_costs *costs, size_t n_components, size_t n_columns,
                    size_t n_padded=0) except -1:
    costs.centers = arena.take(n_components * n_columns)
    costs.linear = arena.take(n_components * n_columns)
    costs.quadratic = arena.take(n_components * n_columns)
    costs.offsets = arena.take(n_components)
    costs.each = arena.take(n_components * n_padded) if n_padded else NULL
    return 0


cdef int take_sums(Arena arena, pass_sums *sums, size_t n_components, size_t n_statistics, pass_level level) except -1:
    """Arrays that the level does not put out stay NULL."""
    cdef size_t K = n_components, F = n_statistics, m = K * (1 + F)
    sums.first = sums.second = sums.gram = NULL
    sums.density = arena.take(K)
    if level == PASS_MOMENTS or level == PASS_HESSIAN:
        sums.first, sums.second = arena.take(K * F), arena.take(K * F * F)
    if level == PASS_HESSIAN:
        sums.gram = arena.take(m * m)
    elif level == PASS_WEIGHTS:
        sums.gram = arena.take(K * K)
    return 0


cdef class PassBuffer:
    def __cinit__(self, int n_components, int n_columns, int n_statistics, size_t n_each=0):
        self.arena = Arena()
        while self.arena.again():
            take_costs(self.arena, &self.costs, n_components, n_columns, n_each)
            take_sums(self.arena, &self.sums, n_components, n_statistics, PASS_HESSIAN)
            self.scratch = self.arena.take(pass_scratch_size(n_components, n_statistics))
